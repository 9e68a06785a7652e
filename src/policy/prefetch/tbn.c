/* Tree-based neighbourhood: the paper's reading of the driver (UVM, Sec. 3.3).
 *
 * The faulted 64 KiB leaves count as valid. Then every node above the leaves whose valid size is strictly more than
 * half of its capacity is filled, from the bottom up: filling a node raises only its ancestors, which come later, so
 * one pass ends where the paper's repeated balancing ends, with every node either full or at most half full. What an
 * allocation has beyond whole 2 MiB pieces is rounded up to a full tree of its own. */
#include "policy/prefetch/prefetch_policy.h"

static void extent(void *state, unsigned pages, bool alone, unsigned *out_exists, unsigned *out_tree)
{
    (void)state;
    (void)alone;
    *out_exists = *out_tree = pw_tree_round(pages);
}

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    (void)state;
    struct pw_page_mask valid = pw_mask_widen(&view->faulted, PW_LEAF_ORDER);
    valid = pw_mask_or(valid, &view->resident);
    valid = pw_mask_and(valid, &view->exists);
    unsigned tree = view->tree_pages;
    for (unsigned size = 2 * PW_LEAF_PAGES; size < 2 * tree; size *= 2)
        for (unsigned first = 0; first < tree; first += size) {
            unsigned outer = pw_tree_outer(first, size, tree);
            if (2 * pw_mask_count_range(&valid, first, outer) <= outer - first)
                continue;
            struct pw_page_mask node = pw_mask_range(first, outer);
            node = pw_mask_and(node, &view->exists);
            valid = pw_mask_or(valid, &node);
        }
    valid = pw_mask_without(valid, &view->resident);
    valid = pw_mask_without(valid, &view->faulted);
    *out = pw_mask_or(*out, &valid);
}

extern const struct pw_prefetch_policy pw_prefetch_policy_tbn;
const struct pw_prefetch_policy pw_prefetch_policy_tbn = {
    .head = {.name = "tbn",
             .summary = "tree-based neighbourhood: every node of the block's tree that is more than half valid"},
    .extent = extent,
    .choose = choose,
};
