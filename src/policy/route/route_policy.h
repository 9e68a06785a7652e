/* The family "translation route": where a translation request goes that misses the L2 TLB of a GPU.
 *
 * In a system of several GPUs a page lies in the memory of one of them. The MMU of a GPU (GMMU) walks a page table that
 * has only the pages of its own memory; the host's IOMMU walks one that has all of them, but lies behind the fabric.
 *
 * Decision. The MMU asks `choose` once for each primary miss of the L2 TLB. The answer is a set:
 * PW_ROUTE_GMMU   the GMMU walks first; if it does not find the page, the request goes on to the IOMMU.
 * PW_ROUTE_IOMMU  the IOMMU walks, and the GMMU does not.
 * PW_ROUTE_BOTH   both walk at once, and the first useful answer counts.
 *
 * Observation. `answered` is called once for each of these requests, when its translation comes: only then is it known
 * whether the page is local, in this GPU's memory, or remote, in another's.
 *
 * There is one instance for each GPU. One file per policy, one line in route.def. */
#ifndef PW_POLICY_ROUTE_H
#define PW_POLICY_ROUTE_H

#include "sim/policy.h"

enum { PW_ROUTE_GMMU = 1, PW_ROUTE_IOMMU = 2, PW_ROUTE_BOTH = PW_ROUTE_GMMU | PW_ROUTE_IOMMU };

/* What an instance is made from. It copies what it needs of it; the MMU itself must outlive it. */
struct pw_route_environment {
    const void *mmu;
    /* Whether the page lies in this GPU's memory: for the ideal policy only. */
    bool (*is_local)(const void *mmu, pw_asid asid, pw_vpn vpn);
};

struct pw_route_policy {
    struct pw_policy head;
    unsigned (*choose)(void *state, pw_asid asid, pw_vpn vpn); /* NULL: always PW_ROUTE_GMMU */
    void (*answered)(void *state, pw_asid asid, bool local);   /* may be NULL */
};

extern const struct pw_policy_family pw_route_family;

static inline const struct pw_route_policy *pw_route_policy_of(const struct pw_policy *head)
{
    return (const struct pw_route_policy *)head;
}

#endif
