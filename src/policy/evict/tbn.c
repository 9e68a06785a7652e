/* Tree-based neighbourhood pre-eviction: the mirror image of the prefetcher of that name (UVM, Sec. 5.2).
 *
 * The candidate's 64 KiB leaf goes. Then every node above the leaves that is strictly less than half valid is emptied,
 * from the bottom up: emptying a node lowers only its ancestors, which come later, so one pass ends where the paper's
 * repetition ends, with every node either empty or at least half valid. */
#include "page/page_tree.h"
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    unsigned tree = view->tree_pages, leaf_first = view->candidate / PW_LEAF_PAGES * PW_LEAF_PAGES;
    struct pw_page_mask leaf = pw_mask_range(leaf_first, leaf_first + PW_LEAF_PAGES);
    struct pw_page_mask valid = pw_mask_without(view->resident, &leaf);
    for (unsigned size = 2 * PW_LEAF_PAGES; size < 2 * tree; size *= 2)
        for (unsigned first = 0; first < tree; first += size) {
            unsigned outer = pw_tree_outer(first, size, tree);
            if (2 * pw_mask_count_range(&valid, first, outer) >= outer - first)
                continue;
            struct pw_page_mask node = pw_mask_range(first, outer);
            valid = pw_mask_without(valid, &node);
        }
    struct pw_page_mask leaving = pw_mask_without(view->resident, &valid);
    *out = pw_mask_or(*out, &leaving);
}

extern const struct pw_evict_policy pw_evict_policy_tbn;
const struct pw_evict_policy pw_evict_policy_tbn = {
    .head = {.name = "tbn",
             .summary = "tree-based neighbourhood: the oldest 64 KiB, and every node of its tree less than half valid"},
    .order = PW_ORDER_BLOCKS,
    .writes_clean = true,
    .choose = choose,
};
