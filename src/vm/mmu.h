/* The shared half of address translation: the L2 TLB, its miss registers, and the page walker behind it.
 *
 * An SM whose L1 TLB misses sends the page's number; the answer comes back as a call. On its way the request takes a
 * port of the L2 TLB and is looked up; a hit answers after the latency. A miss takes a miss register, or merges into
 * the one that the page already has, and starts a walk. When there is no L2 TLB (design pwcache) requests go to the
 * miss registers directly.
 *
 * The L2 TLB sits beside the L2 cache (MASK, Section 3, footnote 2), so a request and its answer each cross the
 * distance between SM and L2; they are small and are not charged for bandwidth. Large entries are probed before base
 * entries where both exist, each probe at the full latency (docs/decisions.md).
 *
 * The answer carries the translation that the TLB or the walk has returned, and that is the one which is used. The page
 * table is the judge: each translation is compared with it when it is returned and again when the answer arrives. Until
 * then its page may have left or moved, which no machine could do without a shootdown; that finds the answer under way
 * and puts it right, or takes it back. Where there was no shootdown, a difference is a defect and the run fails.
 *
 * Left out: the miss registers are looked up when a request arrives, with the tags, not when its lookup ends; a request
 * that merges into a walk in its last `latency` cycles is answered with it, up to that much too early. */
#ifndef PW_VM_MMU_H
#define PW_VM_MMU_H

#include "vm/tlb.h"
#include "vm/walker.h"

struct pw_l2_tlb_config {
    struct pw_tlb_config tlb;
    bool enabled;
    uint32_t distance; /* cycles between an SM and the L2 TLB, each way */
    uint32_t ports;    /* lookups that can start in one cycle */
};

extern const struct pw_option pw_l2_tlb_options[];

/* Where a miss of an L1 TLB is, once it has left the SM. */
enum pw_miss_stage {
    PW_MISS_L2_TLB, /* on its way there, looked up, without a miss register, or on its way back */
    PW_MISS_WALK_QUEUE,
    PW_MISS_WALK,
    PW_MISS_FAR_FAULT,
};

struct pw_mmu;

struct pw_mmu_config {
    struct pw_l2_tlb_config l2_tlb;
    struct pw_walk_config walk;
    struct pw_walk_cache_config walk_cache;
    pw_page_orders orders;
    uint32_t sms;
    unsigned apps;
    uint32_t requests; /* pages that all SMs can wait for at once */
    bool far_faults;   /* they may wait for pages that are not mapped */
    uint64_t seed;     /* of the run */
};

struct pw_mmu_wiring {
    struct pw_events *events;
    struct pw_policies *policies; /* of the machine */
    struct pw_request_pool *pool;
    struct pw_memory *memory;
    const struct pw_page_table *const *tables; /* by address space */
    struct pw_timeline *timeline;              /* or NULL */
    void *sms;
    /* The translation of this page is at SM `sm`; not present: the page has left meanwhile, and the SM has to ask
     * again. Returns the number of warps that waited. */
    unsigned (*translated)(void *sms, uint32_t sm, pw_vpn vpn, struct pw_translation translation, pw_cycle now);
    /* NULL, or called when the stage of an SM's miss is known to change, or to have changed, at `from`; before `translated`. */
    void (*stage)(void *sms, uint32_t sm, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from);
    /* NULL, or told of each walk that has found a mapping. */
    void (*walked)(void *sms, pw_asid asid, pw_vpn vpn);
    /* A walk found no mapping. True: the page will come, and pw_mmu_page_arrived says when. False: the run fails. */
    bool (*unmapped)(void *sms, pw_asid asid, pw_vpn vpn, pw_cycle now);
    /* A translation is wrong; the run must stop. */
    void (*failed)(void *sms, const struct pw_error *err);
};

enum pw_status pw_mmu_create(const struct pw_mmu_config *config, const struct pw_mmu_wiring *wiring,
                             struct pw_mmu **out, struct pw_error *err);
void pw_mmu_destroy(struct pw_mmu *m);
void pw_mmu_register(struct pw_mmu *m, struct pw_stats *stats);

/* SM `sm` misses page vpn of its address space at time `at` (not before now). It must not ask again for the same page
 * before it has been answered. */
void pw_mmu_request(struct pw_mmu *m, uint32_t sm, pw_asid asid, pw_vpn vpn, pw_cycle at);

/* SM `sm` waits for a page without a walk, as for one that a walk did not find. The same holds. */
void pw_mmu_await_page(struct pw_mmu *m, uint32_t sm, pw_asid asid, pw_vpn vpn);

/* A page that a walk did not find is mapped now: whoever waits for it is answered. */
void pw_mmu_page_arrived(struct pw_mmu *m, pw_asid asid, pw_vpn vpn, pw_cycle now);

/* The L2 TLB, for tests that break it. */
struct pw_tlb *pw_mmu_tlb(struct pw_mmu *m);

/* Its walker, to which the memory system answers. */
struct pw_walker *pw_mmu_walker(struct pw_mmu *m);

/* Shootdown in the L2 TLB and the page walk cache. */
unsigned pw_mmu_invalidate(struct pw_mmu *m, pw_asid asid, pw_vpn first, pw_vpn outer);

enum pw_status pw_mmu_check(const struct pw_mmu *m, struct pw_error *err);
uint64_t pw_mmu_pending(const struct pw_mmu *m);
size_t pw_mmu_describe(const struct pw_mmu *m, char *out, size_t capacity);

#endif
