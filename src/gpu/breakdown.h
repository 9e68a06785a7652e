/* The breakdown of warp time (docs/breakdown.md): every warp is in exactly one state in every cycle from its start to
 * its exit, and the cycles of the states add up to those that warps were resident.
 *
 * A warp that waits for loads waits in the end for the one that completes last, and a load waits for the translation of
 * its lines until the last of them has gone on to the L1 cache. So the cycles in which a warp waits are divided along
 * the way of that line of that load: the load-store unit until its turn comes, L1 TLB, L2 TLB, the queue for a walker,
 * the walk, a far fault, the load-store unit again when it is replayed; from the L1 cache on, it is data. A miss that
 * others have caused is charged from when the line joins it. What a load did before its warp began to wait costs
 * nothing, so nothing is kept of it: parts are cut out of a miss's history when its translation comes, for warps that
 * wait by then.
 *
 * The queue of the load-store unit is not a cause. It goes on only when its head does, so an instruction in it, or one
 * that it has no room for, waits for whatever the head waits for: from the first time that the head is tried and has to
 * wait for its translation until it goes on or has been given it, they wait behind a translation (LSU_TLB,
 * LSU_FULL_TLB). These have states of their own and are not added to L1 TLB, walk and so on. The head waits as a rule
 * for a miss register of the L1 TLB, so all would be L1 TLB, and a reader would look for the cause there instead of in
 * the latency of the misses that hold the registers. Lines that are replayed meanwhile do not interrupt such a wait.
 *
 * Time counts when a state ends, so a wait that spans the border of a window counts in the later one; issue slots count
 * in their own cycles (snapshot.c). The breakdown has no influence on the simulation; without it, the simulation has
 * one branch per issue and per line. */
#ifndef PW_GPU_BREAKDOWN_H
#define PW_GPU_BREAKDOWN_H

#include "mem/mshr.h"
#include "sim/stats.h"
#include "vm/mmu.h"

#include <stdlib.h>

/* X(constant, name, help) */
#define PW_WARP_TIMES(X)                                                                                               \
    X(ISSUE, "issue", "Warp cycles in which the warp's instruction takes an issue slot.")                              \
    X(NOT_CHOSEN, "not_chosen", "Those in which it is ready but its scheduler issues from another warp.")              \
    X(PAUSED, "paused", "Those in which it is ready but all SMs stand still for the page manager.")                    \
    X(DEPENDENCY, "dependency", "Those in which it waits for the result of its arithmetic.")                           \
    X(BARRIER, "barrier", "Those in which it waits at a barrier.")                                                     \
    X(LSU_FULL, "lsu_full", "Those in which the load-store unit has no room for its instruction.")                     \
    X(LSU_FULL_TLB, "lsu_full_tlb", "Those in which it has none because the head of its queue waits for translation.") \
    X(LSU, "lsu", "Those in which a load that it waits for queues up in the load-store unit.")                         \
    X(LSU_TLB, "lsu_tlb", "Those in which the load queues up there behind a line that waits for its translation.")     \
    X(L1_TLB, "l1_tlb", "Those in which the load is looked up in the L1 TLB or waits for a miss register there.")      \
    X(L2_TLB, "l2_tlb", "Those to, in and from the L2 TLB, waits for its ports and miss registers included.")          \
    X(WALK_QUEUE, "walk_queue", "Those in which a page walk for the load waits for a walker.")                         \
    X(WALK_MEMORY, "walk_memory", "Those in which a page walk for the load is under way.")                             \
    X(FAR_FAULT, "far_fault", "Those in which the load's page is not on the GPU, or not to be written yet.")           \
    X(DATA, "data", "Those from the load's L1 cache access to its data.")

enum pw_warp_time {
#define MEMBER(constant, name, help) PW_TIME_##constant,
    PW_WARP_TIMES(MEMBER)
#undef MEMBER
        PW_WARP_TIME_COUNT
};

/* By application. */
struct pw_warp_times {
    uint64_t cycles[PW_WARP_TIME_COUNT];
    uint64_t resident; /* grows together with the states */
    uint64_t stays;    /* of warps that have exited, from start to exit */
};

/* The stages of a miss, each with its first cycle. */
struct pw_miss_step {
    pw_cycle from;
    uint8_t time; /* enum pw_warp_time */
};

struct pw_miss_history {
    struct pw_miss_step *steps;
    uint32_t count, capacity;
};

static inline void pw_miss_history_free(struct pw_miss_history *h)
{
    free(h->steps);
}

struct pw_breakdown;
struct pw_fault_wait;
struct pw_gpu_config;
struct pw_sm;

enum pw_status pw_breakdown_create(const struct pw_gpu_config *config, unsigned apps, struct pw_breakdown **out,
                                   struct pw_error *err);
void pw_breakdown_destroy(struct pw_breakdown *b);
void pw_breakdown_register(struct pw_breakdown *b, struct pw_stats *stats);

/* The calls below come from the hot path, which is to be laid out as if they did not. */
#define PW_COLD __attribute__((cold))

/* A warp comes to this slot. */
PW_COLD void pw_breakdown_start(struct pw_sm *sm, uint32_t slot, pw_cycle now);
/* The warp is about to issue its next operation. */
PW_COLD void pw_breakdown_issue(struct pw_sm *sm, uint32_t slot, pw_cycle now);
/* The barrier that it waits at opens. */
PW_COLD void pw_breakdown_released(struct pw_sm *sm, uint32_t slot, pw_cycle now);
/* The last load that it waits for is complete. */
PW_COLD void pw_breakdown_loaded(struct pw_sm *sm, uint32_t owner, pw_cycle now);
/* Room in the load-store unit may have come or gone. */
PW_COLD void pw_breakdown_room(struct pw_sm *sm, pw_cycle now);

/* No warp issues for so many cycles more. */
PW_COLD void pw_breakdown_pause(struct pw_breakdown *b, uint64_t cycles);

/* The load-store unit has tried its next line, of the queue or replayed, and waits as sm->lsu.wait says. */
PW_COLD void pw_breakdown_lsu_waits(struct pw_sm *sm, bool replay, pw_cycle now);
/* A line from the queue is looked up and goes on to the L1 cache, or one that is replayed goes there. */
PW_COLD void pw_breakdown_entered(struct pw_sm *sm, uint32_t owner, pw_cycle now);
PW_COLD void pw_breakdown_replayed(struct pw_sm *sm, uint32_t owner, pw_cycle now);
/* Lines from the queue join a miss, or wait for a page, from *joined on; if the head has waited for its translation,
 * that is when it began to. Returns for how many cycles they had waited for its register by then. */
PW_COLD uint32_t pw_breakdown_parked(struct pw_sm *sm, pw_cycle *joined);

/* A miss of the L1 TLB begins. */
PW_COLD void pw_breakdown_miss(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now);
/* It has become a wait for its page. */
PW_COLD void pw_breakdown_faulted(struct pw_sm *sm, const struct pw_mshr_entry *miss, struct pw_fault_wait *wait);
/* A write begins to wait for a page that the TLB has. */
PW_COLD void pw_breakdown_write_waits(struct pw_sm *sm, struct pw_fault_wait *wait, pw_cycle now);
/* From `from` on the miss, or the wait for its page, is in this stage. */
PW_COLD void pw_breakdown_stage(void *gpu, uint32_t sm, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from);
/* Its translation has come, for what waits; `head`: also for the line at the head of the queue. To be called before
 * anything is replayed. */
struct pw_tlb_waiting;
PW_COLD void pw_breakdown_translated(struct pw_sm *sm, uint64_t page, const struct pw_tlb_waiting *waiting, bool head,
                                     pw_cycle now);

#endif
