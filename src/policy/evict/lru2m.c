/* LRU 2 MiB: all of the least recently accessed block, a whole tree at once (UVM, Sec. 7.5). */
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    *out = pw_mask_or(*out, &view->resident);
}

extern const struct pw_evict_policy pw_evict_policy_lru2m;
const struct pw_evict_policy pw_evict_policy_lru2m = {
    .head = {.name = "lru2m", .summary = "the least recently accessed 2 MiB block"},
    .order = PW_ORDER_BLOCKS,
    .writes_clean = true,
    .choose = choose,
};
