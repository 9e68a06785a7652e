/* The family "warp schedule": which of the ready warps issues next.
 *
 * A scheduler asks once per issue; if the schedule is greedy, only when the warp that issued last cannot go on. `ready`
 * has one bit per warp slot of the SM and is never 0; `last` is the slot that issued last, or PW_NO_WARP; older[slot]
 * has the bits of all warps that came to the SM before the one in that slot (and perhaps of some that have left). The
 * answer is a slot whose bit is set in `ready`. There is an instance for each SM, common to its schedulers. One file
 * per policy, one line in warp.def. */
#ifndef PW_POLICY_WARP_H
#define PW_POLICY_WARP_H

#include "sim/policy.h"

#define PW_NO_WARP UINT32_MAX

/* What an instance is made from. */
struct pw_warp_environment {
    uint32_t sm;
    pw_asid app; /* that has the SM; not below the number of applications where nobody has */
};

struct pw_warp_policy {
    struct pw_policy head;
    /* Whether a warp that can go on always does. Then a run of arithmetic is taken in one step, which is exact, since
     * nobody else would have been chosen in between; otherwise it is issued one instruction at a time. */
    bool greedy;
    uint32_t (*pick)(void *state, uint64_t ready, uint32_t last, const uint64_t *older);
};

extern const struct pw_policy_family pw_warp_family;

static inline const struct pw_warp_policy *pw_warp_policy_of(const struct pw_policy *head)
{
    return (const struct pw_warp_policy *)head;
}

#endif
