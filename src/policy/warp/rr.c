/* Loose round-robin: after each instruction the next ready slot in turn. */
#include "policy/warp/warp_policy.h"

static uint32_t pick(void *state, uint64_t ready, uint32_t last, const uint64_t *older)
{
    (void)state;
    (void)older;
    uint64_t after = last == PW_NO_WARP || last == 63 ? 0 : ready & (~0ULL << (last + 1));
    return (uint32_t)__builtin_ctzll(after ? after : ready);
}

extern const struct pw_warp_policy pw_warp_policy_rr;
const struct pw_warp_policy pw_warp_policy_rr = {
    .head = {.name = "rr", .summary = "round-robin: after each instruction the next ready warp in turn"},
    .greedy = false,
    .pick = pick,
};
