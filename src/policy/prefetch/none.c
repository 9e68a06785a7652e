/* On demand: a fault brings in what faulted, 4 KiB at a time (UVM, Sec. 2.2). */
#include "page/page_tree.h"
#include "policy/prefetch/prefetch_policy.h"

static void choose(const struct pw_prefetch_view *view, struct pw_random *random, struct pw_page_mask *out)
{
    (void)view;
    (void)random;
    (void)out;
}

extern const struct pw_prefetch_policy pw_prefetch_policy_none;
const struct pw_prefetch_policy pw_prefetch_policy_none = {
    .name = "none",
    .summary = "nothing but the pages that faulted",
    .extent = pw_tree_extent_plain,
    .choose = choose,
};
