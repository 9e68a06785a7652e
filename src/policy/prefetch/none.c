/* On demand: a fault brings in what faulted, 4 KiB at a time (UVM, Sec. 2.2). */
#include "policy/prefetch/prefetch_policy.h"

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    (void)view;
    (void)state;
    (void)out;
}

extern const struct pw_prefetch_policy pw_prefetch_policy_none;
const struct pw_prefetch_policy pw_prefetch_policy_none = {
    .head = {.name = "none", .summary = "nothing but the pages that faulted"},
    .extent = pw_prefetch_extent_plain,
    .choose = choose,
};
