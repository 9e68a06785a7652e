/* Tree-based neighbourhood: the paper's reading of the driver (UVM, Sec. 3.3).
 *
 * The faulted 64 KiB leaves count as valid. Then every node above the leaves whose valid size is strictly more than
 * half of its capacity is filled, from the bottom up: filling a node raises only its ancestors, which come later, so
 * one pass ends where the paper's repeated balancing ends, with every node either full or at most half full. What an
 * allocation has beyond whole 2 MiB pieces is rounded up to a full tree of its own.
 *
 * While 64 KiB blocks come and leave as a whole, a node that is filled is full. Once single pages have left (LRU
 * 4 KiB), blocks are there in part, and the paper says that prefetching needs contiguous absent pages of the size of a
 * block (Sec. 4.2 and 7.5): filling a node brings its blocks that are absent as a whole, and of those that are there in
 * part only the faulted one is completed. `partial` has two other readings: completing all of them, as the words of
 * Sec. 3.3 alone would have it, and completing none, so that a fault in a block that is there in part brings no other
 * page. */
#include "policy/prefetch/prefetch_policy.h"

enum { COMPLETE_FAULTED, COMPLETE_ALL, COMPLETE_NONE };
static const char *const partial_names[] = {"faulted", "all", "none", NULL};

struct tbn_options {
    uint32_t partial;
};

static const struct pw_option options[] = {
    {"partial", PW_OPTION_CHOICE, offsetof(struct tbn_options, partial), 0, 0, "faulted", "", partial_names,
     "Which 64 KiB blocks that are resident in part are completed: the one that the fault is in, every one in a node "
     "that is filled, or none.",
     false},
    {0}};

struct state {
    uint32_t partial;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    ((struct state *)state)->partial = ((const struct tbn_options *)setup->options)->partial;
    return PW_OK;
}

static void extent(void *state, unsigned pages, bool alone, unsigned *out_exists, unsigned *out_tree)
{
    (void)state;
    (void)alone;
    *out_exists = *out_tree = pw_tree_round(pages);
}

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    uint32_t partial = ((const struct state *)state)->partial;
    struct pw_page_mask begun = pw_mask_widen(&view->resident, PW_LEAF_ORDER);
    struct pw_page_mask fillable = partial == COMPLETE_ALL ? view->exists : pw_mask_without(view->exists, &begun);
    struct pw_page_mask valid = pw_mask_widen(&view->faulted, PW_LEAF_ORDER);
    if (partial == COMPLETE_NONE)
        valid = pw_mask_without(valid, &begun);
    valid = pw_mask_or(valid, &view->faulted);
    valid = pw_mask_or(valid, &view->resident);
    valid = pw_mask_and(valid, &view->exists);
    unsigned tree = view->tree_pages;
    for (unsigned size = 2 * PW_LEAF_PAGES; size < 2 * tree; size *= 2)
        for (unsigned first = 0; first < tree; first += size) {
            unsigned outer = pw_tree_outer(first, size, tree);
            if (2 * pw_mask_count_range(&valid, first, outer) <= outer - first)
                continue;
            struct pw_page_mask node = pw_mask_range(first, outer);
            node = pw_mask_and(node, &fillable);
            valid = pw_mask_or(valid, &node);
        }
    valid = pw_mask_without(valid, &view->resident);
    valid = pw_mask_without(valid, &view->faulted);
    *out = pw_mask_or(*out, &valid);
}

extern const struct pw_prefetch_policy pw_prefetch_policy_tbn;
const struct pw_prefetch_policy pw_prefetch_policy_tbn = {
    .head = {.name = "tbn",
             .summary = "tree-based neighbourhood: every node of the block's tree that is more than half valid",
             .options = options,
             .options_bytes = sizeof(struct tbn_options),
             .state_bytes = sizeof(struct state),
             .init = init},
    .extent = extent,
    .choose = choose,
};
