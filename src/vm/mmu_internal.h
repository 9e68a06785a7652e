/* The insides of the MMU, common to mmu.c (requests and misses) and mmu_setup.c (creation and statistics). */
#ifndef PW_VM_MMU_INTERNAL_H
#define PW_VM_MMU_INTERNAL_H

#include "mem/crossbar.h"
#include "mem/mshr.h"
#include "vm/far_faults.h"
#include "vm/mmu.h"

struct pw_mmu {
    struct pw_mmu_config config;
    struct pw_mmu_wiring wiring;
    struct pw_l2_tlb tlb;
    struct pw_walker *walker;
    struct pw_router *router; /* or NULL: all misses are the walker's */
    struct pw_port ports[16];
    uint8_t merge_order; /* misses merge at the smallest page size in use */
    struct pw_mshr mshr;
    struct pw_tlb_requests *misses; /* by miss register, whose place is also the id of the walk */
    struct pw_far_faults far_faults;
    struct pw_record_pool requests; /* struct pw_tlb_request */
    struct pw_tlb_request *reserve;
    struct pw_tlb_request *first_waiting, *last_waiting; /* that found no free miss register */
    uint32_t waiting;
    uint32_t kept; /* registers of misses that have been answered, while a second walk is under way */
    const struct pw_tlb_request *absent; /* the first of them, once its page is known not to be in the TLB */
    uint32_t shootdowns;                 /* wraps around, long after whatever was under way */
    pw_walked_fn *walked;                /* or NULL */
    void *walk_listener;
    struct pw_tlb_counters *counters;
    uint64_t answers_under_way, requests_under_way;
    struct pw_lanes wait_lanes; /* with a timeline: for those that wait for a miss register */
};

/* Without a router: a walk has ended. */
void pw_mmu_walk_done(void *mmu, uint32_t id, struct pw_translation translation, pw_cycle now);
/* With one: a miss has its answer; and nothing of it is under way any more. */
void pw_mmu_route_found(void *mmu, uint32_t id, struct pw_translation translation, pw_cycle now);
void pw_mmu_route_ended(void *mmu, uint32_t id, pw_cycle now);

#endif
