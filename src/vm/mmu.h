/* The shared half of address translation: the L2 TLB (l2_tlb.h), its miss registers, and the page walker behind it.
 *
 * An SM whose L1 TLB misses sends the page's number; the answer comes back as a call (tlb_request.h). On its way the
 * request takes a port of the L2 TLB and is looked up; a hit answers after the latency. A miss takes a miss register,
 * or merges into the one that the page already has, and starts a walk. When there is no L2 TLB (design pwcache)
 * requests go to the miss registers directly.
 *
 * The L2 TLB sits beside the L2 cache (MASK, Section 3, footnote 2), so a request and its answer each cross the
 * distance between SM and L2; they are small and are not charged for bandwidth. The SM says with its request whether
 * the translation may be put into the L2 TLB (policy/fill); of several that merge, one that may is enough.
 *
 * The answer carries the translation that the TLB or the walk has returned, and that is the one which is used. The
 * page table is asked once for a miss:
 * - by the walk, when it ends; by the arrival of a page that had to come;
 * - for a hit in the L2 TLB or the bypass cache when the answer arrives, and there it is the judge: the TLB's frame is
 *   compared with its own.
 *
 * Until an answer arrives its page may have left or moved, or become part of a large page. So an answer is taken as it
 * is only if the page table has not changed since it was sent; otherwise the table is asked again. No machine could
 * move a page without a shootdown, which finds the answer under way and puts it right, or takes it back. Where there
 * was none, a difference is a defect and the run fails. What an L1 TLB returns is judged at each hit (gpu/lsu.c).
 *
 * Where there is an IOMMU, the router (router.h) takes a miss to the GPU's own walkers, to the IOMMU or to both, and
 * the miss register is not free before all its walks have ended. A request that merges into one whose answer has come
 * is answered at once. One that waits for a register until its page is in the TLB counts as a merge there: others' walk
 * was its own. So primary misses are those that were routed.
 *
 * Left out: the miss registers are looked up when a request arrives, with the tags, not when its lookup ends; a
 * request that merges into a walk in its last `latency` cycles is answered with it, up to that much too early. */
#ifndef PW_VM_MMU_H
#define PW_VM_MMU_H

#include "vm/l2_tlb.h"
#include "vm/router.h"
#include "vm/walker.h"

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
    unsigned apps;
    bool far_faults; /* SMs may wait for pages that are not mapped */
    uint64_t seed;   /* of the run */
    struct pw_bypass_config bypass;
    struct pw_route_config route;
    unsigned gpu; /* of several, which it is */
};

struct pw_mmu_wiring {
    struct pw_events *events;
    struct pw_policies *policies; /* of the machine */
    struct pw_request_pool *pool;
    struct pw_memory *memory;
    const struct pw_page_table *const *tables; /* by address space */
    struct pw_timeline *timeline;              /* or NULL */
    struct pw_walk_pressure *pressure;         /* by application, kept by the walker */
    struct pw_iommu *iommu;                    /* or NULL; with it: */
    const struct pw_physical_memory *physical; /* of this GPU, and what the router is wired to */
    void *host;
    void (*touch)(void *host, unsigned gpu, pw_asid asid, pw_vpn vpn);
    bool (*moving)(void *host, pw_asid asid, pw_vpn vpn);
    void *sms;
    /* The translation that was asked for is at its SM; not present: the page has left meanwhile, and the SM has to ask
     * again. Returns the number of warps that waited. */
    unsigned (*translated)(void *sms, struct pw_tlb_miss miss, struct pw_translation translation, pw_cycle now);
    /* With far faults: the SM hears that the walk for its miss found no mapping and that the page will come. Its
     * request waits in the far-fault registers and is answered when it has. */
    void (*faulted)(void *sms, struct pw_tlb_miss miss, pw_cycle now);
    /* NULL, or called when the stage of an SM's miss is known to change, or to have changed, at `from`; before
     * `translated`. */
    void (*stage)(void *sms, uint32_t sm, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from);
    /* A walk found no mapping. True: the page will come, and pw_mmu_page_arrived says when. False: the run fails. */
    bool (*unmapped)(void *sms, pw_asid asid, pw_vpn vpn, pw_cycle now);
    /* A translation is wrong; the run must stop. */
    void (*failed)(void *sms, const struct pw_error *err);
};

enum pw_status pw_mmu_create(const struct pw_mmu_config *config, const struct pw_mmu_wiring *wiring,
                             struct pw_mmu **out, struct pw_error *err);
void pw_mmu_destroy(struct pw_mmu *m);
void pw_mmu_register(struct pw_mmu *m, struct pw_stats *stats);

/* An L1 TLB has missed at time `at` (not before now). Its SM must not ask again for the same page before it has been
 * answered. */
void pw_mmu_request(struct pw_mmu *m, struct pw_tlb_miss miss, pw_cycle at);

/* The SM waits for a page without a walk, as for one that a walk did not find. The same holds. */
void pw_mmu_await_page(struct pw_mmu *m, struct pw_tlb_miss miss);

/* A page that a walk did not find is mapped now: whoever waits for it is answered. */
void pw_mmu_page_arrived(struct pw_mmu *m, pw_asid asid, pw_vpn vpn, pw_cycle now);

/* Calls the listener whenever a walk has found a mapping, from now on. */
typedef void pw_walked_fn(void *listener, pw_asid asid, pw_vpn vpn);
void pw_mmu_on_walk(struct pw_mmu *m, pw_walked_fn *walked, void *listener);

/* Lookups in the L2 TLB and those that hit, of an application since the beginning of the run. */
void pw_mmu_l2_tlb_use(const void *mmu, unsigned app, uint64_t *out_lookups, uint64_t *out_hits);

/* The L2 TLB, which is told of launches and of which snapshots are taken, and the bypass cache. */
struct pw_tlb *pw_mmu_tlb(struct pw_mmu *m);
struct pw_bypass_tlb *pw_mmu_bypass_tlb(struct pw_mmu *m);

/* Its walker, to which the memory system answers. */
struct pw_walker *pw_mmu_walker(struct pw_mmu *m);

/* Shootdown in the L2 TLB, the bypass cache and the page walk cache, after the page table has changed. */
unsigned pw_mmu_invalidate(struct pw_mmu *m, pw_asid asid, pw_vpn first, pw_vpn outer);

enum pw_status pw_mmu_check(const struct pw_mmu *m, struct pw_error *err);
/* Requests that somebody waits for. A walk whose miss has its answer already may go on when programs have ended. */
uint64_t pw_mmu_pending(const struct pw_mmu *m);
size_t pw_mmu_describe(const struct pw_mmu *m, char *out, size_t capacity);

#endif
