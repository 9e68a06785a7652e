/* Sequential-local: the aligned 64 KiB basic block of each page that faulted (UVM, Sec. 3.2), wherever in it the page
 * lies. It never reaches beyond, so it needs to know nothing of other basic blocks. */
#include "policy/prefetch/prefetch_policy.h"

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    (void)state;
    struct pw_page_mask leaves = pw_mask_widen(&view->faulted, PW_LEAF_ORDER);
    leaves = pw_mask_and(leaves, &view->exists);
    leaves = pw_mask_without(leaves, &view->resident);
    leaves = pw_mask_without(leaves, &view->faulted);
    *out = pw_mask_or(*out, &leaves);
}

extern const struct pw_prefetch_policy pw_prefetch_policy_sl;
const struct pw_prefetch_policy pw_prefetch_policy_sl = {
    .head = {.name = "sl", .summary = "the rest of the 64 KiB basic block"},
    .extent = pw_prefetch_extent_plain,
    .choose = choose,
};
