/* Random: any resident page, whenever it was accessed last (UVM, Sec. 4.2). */
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    pw_mask_add(out, view->candidate);
}

extern const struct pw_evict_policy pw_evict_policy_random;
const struct pw_evict_policy pw_evict_policy_random = {
    .head = {.name = "random", .summary = "a random resident page"},
    .order = PW_ORDER_RANDOM,
    .writes_clean = false,
    .choose = choose,
};
