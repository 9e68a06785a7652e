/* The rule of NVIDIA's driver (uvm_perf_prefetch.c of its open kernel modules; H200 with driver 580).
 *
 * A fault grows to its 64 KiB. Then, from each page that faulted up to the root, the largest node qualifies in which
 * resident and grown pages are more than 51% of the node's; it comes whole. All faults of a request are counted before
 * the first one chooses, and what one of them brings in counts for none: there is no second round, unlike tbn.
 *
 * An allocation smaller than 2 MiB shares its block with others, so its tree has all 32 leaves, those of others being
 * absent; the last block of a larger allocation has only the pages that exist, and its nodes are cut off there. On a
 * GPU pages of others, or of nobody, come with a node too and count from then on: the replayer of touches places small
 * allocations as the CUDA runtime does and has that (exp/touch/replay_memory.c), runs give each a block of its own. */
#include "policy/prefetch/prefetch_policy.h"

enum { THRESHOLD_PERCENT = 51 }; /* the driver's uvm_perf_prefetch_threshold, as it comes */

static void extent(void *state, unsigned pages, bool alone, unsigned *out_exists, unsigned *out_tree)
{
    (void)state;
    *out_exists = pages;
    *out_tree = alone ? PW_BLOCK_PAGES : pages;
}

/* The largest node that qualifies around a leaf that faulted. */
static struct pw_page_mask largest_node(const struct pw_page_mask *present, unsigned page, unsigned tree)
{
    unsigned first = 0, outer = 0;
    for (unsigned size = PW_LEAF_PAGES; size < 2 * tree; size *= 2) {
        unsigned node = page / size * size, node_outer = pw_tree_outer(node, size, tree);
        if (100 * pw_mask_count_range(present, node, node_outer) > THRESHOLD_PERCENT * (node_outer - node)) {
            first = node;
            outer = node_outer;
        }
    }
    return pw_mask_range(first, outer);
}

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    (void)state;
    struct pw_page_mask grown = pw_mask_widen(&view->faulted, PW_LEAF_ORDER);
    grown = pw_mask_and(grown, &view->exists);
    struct pw_page_mask present = pw_mask_or(grown, &view->resident), chosen = grown;
    unsigned first, outer;
    for (unsigned at = 0; at < PW_BLOCK_PAGES && pw_mask_next_run(&grown, at, &first, &outer);
         at = (first / PW_LEAF_PAGES + 1) * PW_LEAF_PAGES) {
        struct pw_page_mask node = largest_node(&present, first, view->tree_pages);
        chosen = pw_mask_or(chosen, &node);
    }
    chosen = pw_mask_and(chosen, &view->exists);
    chosen = pw_mask_without(chosen, &view->resident);
    chosen = pw_mask_without(chosen, &view->faulted);
    *out = pw_mask_or(*out, &chosen);
}

extern const struct pw_prefetch_policy pw_prefetch_policy_nvidia;
const struct pw_prefetch_policy pw_prefetch_policy_nvidia = {
    .head = {.name = "nvidia",
             .summary = "the driver's rule: the largest node around the fault that is more than 51% present"},
    .shares_blocks = true,
    .extent = extent,
    .choose = choose,
};
