/* The family "TLB fill": which translations are put into the TLBs when they come.
 *
 * An SM asks once for each miss of its L1 TLB, when it sends for the translation; `warp` is the slot of the warp
 * that missed first. The answer is a set: whether the translation may be put into the SM's L1 TLB, and into the
 * shared L2 TLB. It travels with the miss. Of several SMs whose misses merge, one that may fill the L2 TLB is
 * enough (MASK, Section 5.2). A translation that is kept out of a TLB serves those that wait for it all the same.
 *
 * What is kept out of the L2 TLB goes into the bypass cache beside it (vm/bypass_tlb.h), which is there only if the
 * policy asks for it. One file per policy, one line in fill.def. */
#ifndef PW_POLICY_FILL_H
#define PW_POLICY_FILL_H

#include "sim/policy.h"

enum { PW_FILL_L1 = 1, PW_FILL_L2 = 2, PW_FILL_BOTH = PW_FILL_L1 | PW_FILL_L2 };

/* What an instance, one for a GPU, is made from. */
struct pw_fill_environment {
    uint32_t sms, warps;     /* SMs, and warps that can be resident on each */
    const uint32_t *app_sms; /* how many SMs each application has; those of the first one have the lowest numbers */
    const void *l2_tlb;
    /* Lookups in the L2 TLB and those that hit, there or in the bypass cache, of an application since the beginning of
     * the run: for epochs. */
    void (*l2_tlb_use)(const void *l2_tlb, unsigned app, uint64_t *out_lookups, uint64_t *out_hits);
    void *gpu;
    /* The slots of an SM that have had a warp since the last time this was asked: a bit vector that is cleared then,
     * but for the warps that are resident. */
    uint64_t (*take_active_warps)(void *gpu, uint32_t sm);
};

struct pw_fill_policy {
    struct pw_policy head;
    /* The set of TLBs; NULL: always PW_FILL_BOTH. */
    unsigned (*may_fill)(void *state, pw_asid app, uint32_t sm, uint32_t warp);
    /* The entries of the bypass cache, by the policy's own options; NULL: there is none. */
    uint32_t (*bypass_entries)(const void *options);
};

extern const struct pw_policy_family pw_fill_family;

static inline const struct pw_fill_policy *pw_fill_policy_of(const struct pw_policy *head)
{
    return (const struct pw_fill_policy *)head;
}

#endif
