/* LRU 4 KiB: the least recently accessed page, alone (UVM, Sec. 4.2). Its list knows only pages that were accessed, so
 * prefetched pages that nobody used stay (Sec. 5), as long as there are others. */
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    pw_mask_add(out, view->candidate);
}

extern const struct pw_evict_policy pw_evict_policy_lru4k;
const struct pw_evict_policy pw_evict_policy_lru4k = {
    .head = {.name = "lru4k", .summary = "the least recently accessed page"},
    .order = PW_ORDER_PAGES,
    .writes_clean = false,
    .choose = choose,
};
