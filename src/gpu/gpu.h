/* One GPU: SMs with their L1s, the shared MMU, and the memory system behind them.
 *
 * The host hands it kernel launches; CTAs go to SMs round-robin as slots become free, and a callback says when a
 * launch has finished: its CTAs have ended and its stores have reached the L2. */
#ifndef PW_GPU_GPU_H
#define PW_GPU_GPU_H

#include "log/page_log.h"
#include "log/page_looks.h"
#include "mem/memory.h"
#include "policy/fill/fill_policy.h"
#include "policy/warp/warp_policy.h"
#include "sim/timeline.h"
#include "uvm/driver.h"
#include "vm/mmu.h"
#include "vm/touched.h"
#include "workload/runtime/host.h"

struct pw_sm_config {
    uint32_t count;
    uint32_t schedulers;              /* per SM, each with its own warps; each issues one instruction per cycle */
    struct pw_policy_choice schedule; /* of pw_warp_family */
    uint32_t warps, ctas, threads;
    uint64_t shared_bytes, shared_reserved; /* of an SM; of each CTA for the system */
    uint32_t registers, register_unit;
    uint32_t dependency_latency;
    double issue_interval;    /* between two instructions of a warp in a run of arithmetic, at least */
    bool recorded_pace;       /* or what a launch says of itself */
    uint32_t barrier_latency; /* from a barrier's last arrival until its warps go on */
    uint32_t loads_per_warp;
    uint32_t lsu_queue; /* memory instructions */
    uint32_t stores;    /* lines on their way to the L2 */
    bool serial;
};

extern const struct pw_option pw_sm_options[];

enum pw_l1_write { PW_L1_EVICT, PW_L1_UPDATE };

struct pw_l1d_config {
    uint64_t bytes;
    uint32_t ways, latency, mshrs;
    bool sectored;
    uint32_t write;      /* enum pw_l1_write: what a store does to a line that is present */
    bool launch_empties; /* it is empty at the start of every launch */
    bool hashed_sets;
    bool carved; /* what shared memory does not get of one memory for both */
};

extern const struct pw_option pw_l1d_options[];

enum pw_l1_tlb_miss { PW_TLB_NONBLOCKING, PW_TLB_HIT_UNDER_MISS, PW_TLB_STALL_LSU };

struct pw_l1_tlb_config {
    struct pw_tlb_config tlb;
    uint32_t on_miss; /* enum pw_l1_tlb_miss */
};

extern const struct pw_option pw_l1_tlb_options[];

struct pw_fill_config {
    struct pw_policy_choice policy; /* of pw_fill_family */
};

extern const struct pw_option pw_fill_options[];

struct pw_gpu_config {
    uint32_t clock_mhz;
    uint32_t launch_latency; /* from pw_launch to the first CTA */
    uint32_t launch_work;    /* and these follow: the GPU's own part of a launch */
    double cta_interval;     /* cycles between the starts of two CTAs, of all SMs together; 0: they start at once */
    struct pw_sm_config sm;
    struct pw_l1d_config l1d;
    struct pw_l1_tlb_config l1_tlb;
    struct pw_l2_tlb_config l2_tlb;
    struct pw_fill_config fill;
    struct pw_walk_config walk;
    struct pw_walk_cache_config walk_cache;
    struct pw_crossbar_config crossbar;
    struct pw_l2_config l2;
    struct pw_dram_config dram;
    struct pw_remote_config remote;
    struct pw_route_config route;
    pw_page_orders orders;
    uint32_t app_sms[PW_MAX_APPS]; /* SMs of each application, which get consecutive numbers */
};

/* Per application. */
struct pw_sm_counters {
    uint64_t issued, memory_instructions, lines, stall_cycles, resident_cycles;
    uint64_t launches, ctas, warps;
};

/* What a snapshot adds to the counters of an application for what is under way; wraps around where they are ahead. */
struct pw_sm_open {
    uint64_t issued, memory_instructions, stall_cycles, resident_cycles;
    uint64_t lines_waiting;
};

struct pw_l1d_counters {
    uint64_t accesses, hits, misses, merges, stores;
    uint64_t load_sectors, load_sector_hits, store_sectors;
};

struct pw_gpu;

/* An access that is not allowed: its first sector; what it wants of the page and what is denied (PW_MAY_READ,
 * PW_MAY_WRITE). */
struct pw_denied_access {
    pw_vaddr address;
    uint8_t wanted, denied;
};

/* What becomes of a memory instruction that its listener hears of. */
enum pw_heard {
    PW_HEARD_ACCESS,          /* what is said in the operation */
    PW_HEARD_TRANSLATE,       /* its pages are translated, and nothing is accessed */
    PW_HEARD_TRANSLATE_WRITE, /* likewise, as for a write */
};

/* Where an instruction is: its GPU, SM and warp slot. */
struct pw_slot {
    uint16_t gpu, sm;
    uint32_t warp;
};

/* Who hears of memory instructions one by one (watch.c). A load, or an atomic that returns, has a number: how many of
 * its warp issued before it, from 0 on in 16 bits. */
struct pw_listener {
    void *listener; /* NULL: there is none */
    /* It enters the load-store unit. A translation must be that of a load. */
    enum pw_heard (*issued)(void *listener, struct pw_slot slot, pw_cycle now);
    /* Some pages of a load have been translated, at this stage at the latest. */
    void (*missed)(void *listener, struct pw_slot slot, uint16_t number, enum pw_miss_stage stage);
    /* A line of a load has its translation at time `at` and goes on to the L1 cache. */
    void (*translated)(void *listener, struct pw_slot slot, uint16_t number, pw_cycle at);
    void (*loaded)(void *listener, struct pw_slot slot, uint16_t number, pw_cycle now);
    /* The warp has left its slot. */
    void (*exited)(void *listener, struct pw_slot slot, pw_cycle now);
};

struct pw_gpu_wiring {
    struct pw_events *events;
    struct pw_policies *policies; /* of the machine */
    const struct pw_page_table *const *tables;
    struct pw_touched *touched;   /* by application */
    struct pw_timeline *timeline; /* or NULL */
    struct pw_page_log *page_log; /* or NULL */
    struct pw_page_looks *looks;  /* or NULL */
    struct pw_listener listener;  /* not with a breakdown */
    pw_cycle snapshots;           /* cycles between two of the L2 TLB; 0: there are none */
    bool breakdown;               /* keep where the time of warps goes */
    struct pw_uvm *uvm;           /* demand paging, or NULL: all memory is mapped before it is accessed */
    struct pw_link *link;         /* to the host, with uvm */
    uint64_t frames;              /* of device memory, of all GPUs; those behind them are host memory */
    bool pages_move;              /* pages may leave while kernels run, as with uvm */
    unsigned gpu;                 /* which of several it is, and what it has with them: */
    struct pw_peers *peers;       /* or NULL */
    struct pw_iommu *iommu;       /* or NULL */
    const struct pw_physical_memory *physical;
    void (*touch)(void *node, unsigned gpu, pw_asid asid, pw_vpn vpn); /* may be NULL (vm/router.h) */
    bool (*moving)(void *node, pw_asid asid, pw_vpn vpn);              /* may be NULL */
    uint64_t seed;                                                     /* of the run */
    unsigned apps;
    void *node; /* of which it is the GPU: for the call-backs */
    void (*launch_done)(void *node, unsigned app, pw_cycle now);
    /* Where pages may leave: no access to this frame is in flight any more. */
    void (*frame_idle)(void *node, pw_pfn frame, pw_cycle now);
    /* The simulated program did something impossible; the run must stop. */
    void (*failed)(void *node, const struct pw_error *err);
    /* Likewise, an access that the permissions of its page deny. */
    void (*denied)(void *node, unsigned app, struct pw_denied_access access);
};

enum pw_status pw_gpu_create(const struct pw_gpu_config *config, const struct pw_gpu_wiring *wiring,
                             struct pw_gpu **out, struct pw_error *err);
void pw_gpu_destroy(struct pw_gpu *g);

/* Registers every metric and identity of the GPU. */
void pw_gpu_register(struct pw_gpu *g, struct pw_stats *stats);

/* The CTAs of a launch that a GPU gets: so many, from `first` on, each `step` after the one before. */
struct pw_cta_share {
    uint32_t first, step, count;
};

/* Starts its share, one CTA at least, of a launch of application `app` at time now; one launch at a time per
 * application. A CTA that can never fit on an SM is a user error. */
enum pw_status pw_gpu_launch(struct pw_gpu *g, unsigned app, const struct pw_launch *launch, struct pw_cta_share share,
                             pw_cycle now, struct pw_error *err);

/* open.c: a launch whose CTAs have one warp each and are not dispatched: they are started one by one, in slots that are
 * chosen, until the launch is closed. A kernel that suspends its warp without an operation lets it sleep. */
void pw_gpu_open(struct pw_gpu *g, unsigned app, const struct pw_launch *launch);
/* Starts CTA `cta` in a free slot of an SM, at time now. */
void pw_gpu_start_warp(struct pw_gpu *g, unsigned app, uint32_t sm, uint32_t slot, uint32_t cta, pw_cycle now);
/* The kernel of a warp that sleeps is asked again; any other is left alone. */
void pw_gpu_wake_warp(struct pw_gpu *g, uint32_t sm, uint32_t slot, pw_cycle now);
/* No more are started. The launch ends when all that were have ended and its stores have reached the L2. */
void pw_gpu_close(struct pw_gpu *g, unsigned app, pw_cycle now);
/* Stored lines that have not reached the L2 yet. */
uint64_t pw_gpu_stores_left(const struct pw_gpu *g, unsigned app);

/* From now on, and no longer, it looks from time to time how many warps are ready, and what the L2 TLB holds. */
void pw_gpu_begin(struct pw_gpu *g);
void pw_gpu_end(struct pw_gpu *g);

/* Starts no further CTAs: what is resident ends, launches do not. */
void pw_gpu_stop(struct pw_gpu *g);

/* The identity that no translation and no access is outstanding, true between launches. */
enum pw_status pw_gpu_check_idle(const struct pw_gpu *g, struct pw_error *err);

/* Shootdown: no TLB holds a translation of these pages afterwards. Returns the number of entries dropped. */
unsigned pw_gpu_shootdown(struct pw_gpu *g, pw_asid asid, pw_vpn first, pw_vpn outer);

/* Where pages may leave. Whether accesses to a page's frames are in flight. */
bool pw_gpu_page_busy(const struct pw_gpu *g, pw_pfn frame, enum pw_page_order order);
/* A page that is not busy was unmapped: no TLB and no cache knows it afterwards. */
void pw_gpu_forget_page(struct pw_gpu *g, pw_asid asid, pw_vpn vpn, pw_pfn frame, enum pw_page_order order);

/* No SM issues an instruction before `until`; what has been issued goes on. */
void pw_gpu_pause(struct pw_gpu *g, pw_cycle until);
/* When the last pause ends or has ended; 0: there was none. */
pw_cycle pw_gpu_paused_until(const struct pw_gpu *g);

/* The page manager, connected after both exist. */
struct pw_gpu_manager {
    void *manager;
    /* A request that it sent has been answered. */
    void (*answered)(void *manager, struct pw_request *r, pw_cycle now);
};
void pw_gpu_connect_manager(struct pw_gpu *g, const struct pw_gpu_manager *manager);

/* What translates, and what requests are sent to and taken from. */
struct pw_mmu *pw_gpu_mmu(struct pw_gpu *g);
struct pw_memory *pw_gpu_memory(struct pw_gpu *g);
struct pw_request_pool *pw_gpu_requests(struct pw_gpu *g);

/* Makes frames below `outer` known, which may lie in host memory, before a page is mapped to them. False: out of
 * memory. */
bool pw_gpu_extend_frames(struct pw_gpu *g, uint64_t outer);

/* Progress: warp instructions issued so far, and CTAs finished of the present launches. */
uint64_t pw_gpu_issued(const struct pw_gpu *g);
uint64_t pw_gpu_app_issued(const struct pw_gpu *g, unsigned app);
uint64_t pw_gpu_memory_instructions(const struct pw_gpu *g);
double pw_gpu_launch_fraction(const struct pw_gpu *g, unsigned app);

/* snapshot.c: where the border of a window lies in its cycle. */
enum pw_border {
    PW_BEFORE_CYCLE, /* what is issued in it belongs to the next window */
    PW_AFTER_EXIT,   /* the exit that has just ended a launch, or the run, belongs to this one */
};
/* Brings counters of time up to date: afterwards they have what happened before `now`, the present cycle. */
void pw_gpu_bring_up_to_date(struct pw_gpu *g, pw_cycle now, enum pw_border border);

/* Lines of memory instructions that have had their data, or have been stored. */
uint64_t pw_gpu_lines_ended(const struct pw_gpu *g);

/* Says who waits for whom. */
void pw_gpu_describe(const struct pw_gpu *g, char *out, size_t capacity);

#endif
