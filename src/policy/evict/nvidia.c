/* NVIDIA's driver: the 2 MiB block that was allocated on the GPU first, not the one used least recently: the driver
 * sees faults, not accesses. A page that came to the GPU is no longer valid on the host, so all of the block is copied
 * back. */
#include "policy/evict/evict_policy.h"

static void choose(void *state, const struct pw_evict_view *view, struct pw_page_mask *out)
{
    (void)state;
    *out = pw_mask_or(*out, &view->resident);
}

extern const struct pw_evict_policy pw_evict_policy_nvidia;
const struct pw_evict_policy pw_evict_policy_nvidia = {
    .head = {.name = "nvidia", .summary = "the 2 MiB block that was allocated on the GPU first"},
    .order = PW_ORDER_ARRIVAL,
    .writes_clean = true,
    .choose = choose,
};
