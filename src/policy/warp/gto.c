/* Greedy then oldest (Mosaic and MASK, Table 1): the warp that issued last goes on as long as it can; when it cannot,
 * the ready warp that has been on the SM longest is next. */
#include "policy/warp/warp_policy.h"

static uint32_t pick(void *state, uint64_t ready, uint32_t last, const uint64_t *older)
{
    (void)state;
    if (last != PW_NO_WARP && ready >> last & 1)
        return last;
    uint32_t oldest = (uint32_t)__builtin_ctzll(ready);
    for (uint64_t left; (left = ready & older[oldest]);)
        oldest = (uint32_t)__builtin_ctzll(left);
    return oldest;
}

extern const struct pw_warp_policy pw_warp_policy_gto;
const struct pw_warp_policy pw_warp_policy_gto = {
    .head = {.name = "gto",
             .summary = "greedy then oldest: stay with a warp until it stalls, then take the oldest ready one"},
    .greedy = true,
    .pick = pick,
};
