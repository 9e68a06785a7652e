/* What an SM asks when its L1 TLB misses, and what it is answered: one record from the beginning to the end.
 *
 * It goes from the SM to the L2 TLB; there it waits in a miss register for a walk, or in a far-fault register for
 * a page that is not on the GPU; and it comes back with the translation. */
#ifndef PW_VM_TLB_REQUEST_H
#define PW_VM_TLB_REQUEST_H

#include "policy/fill/fill_policy.h"
#include "vm/page_table.h"

/* A miss of an L1 TLB: who wants which page. */
struct pw_tlb_miss {
    pw_vpn vpn;
    uint16_t sm;
    uint8_t gpu;  /* 0, while a system has one */
    uint8_t warp; /* slot of the warp that missed first */
    pw_asid asid;
    uint8_t fill;   /* PW_FILL_L1, PW_FILL_L2: which TLBs the translation may be put into */
    uint16_t place; /* of the SM's miss register, as long as it has one: until it is answered or hears of a far fault */
};
_Static_assert(sizeof(struct pw_tlb_miss) == 16, "a miss is passed in two registers of the host");

/* Where a translation comes from. */
enum pw_translation_source { PW_FROM_L2_TLB, PW_FROM_BYPASS_TLB, PW_FROM_WALK, PW_FROM_ARRIVAL };

struct pw_tlb_request {
    _Alignas(64) struct pw_tlb_request *next; /* in the one list it is in */
    struct pw_tlb_miss miss;
    pw_cycle since;               /* it has waited for a miss register */
    struct pw_translation answer; /* once it is on its way back */
    uint32_t changes, shootdowns; /* of the page table and of TLBs, that there had been when it was sent back */
    uint8_t source;               /* enum pw_translation_source */
};

_Static_assert(sizeof(struct pw_tlb_request) == 64, "a request is one host cache line");

/* Those that wait for one page, in the order of SMs, in which they are answered. */
struct pw_tlb_requests {
    struct pw_tlb_request *first, *last;
};

static inline void pw_tlb_requests_add(struct pw_tlb_requests *l, struct pw_tlb_request *r)
{
    struct pw_tlb_request **at = l->first && l->last->miss.sm < r->miss.sm ? &l->last->next : &l->first;
    while (*at && (*at)->miss.sm < r->miss.sm)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    if (!r->next)
        l->last = r;
}

#endif
