/* Sequential-local pre-eviction: the 64 KiB basic block of the candidate leaves as one unit, its unused and its clean
 * pages included (UVM, Sec. 5.1). */
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    unsigned first = view->candidate / PW_LEAF_PAGES * PW_LEAF_PAGES;
    struct pw_page_mask leaf = pw_mask_range(first, first + PW_LEAF_PAGES);
    leaf = pw_mask_and(leaf, &view->resident);
    *out = pw_mask_or(*out, &leaf);
}

extern const struct pw_evict_policy pw_evict_policy_sl;
const struct pw_evict_policy pw_evict_policy_sl = {
    .head = {.name = "sl", .summary = "the oldest 64 KiB basic block of the oldest 2 MiB block"},
    .order = PW_ORDER_BLOCKS,
    .writes_clean = true,
    .choose = choose,
};
