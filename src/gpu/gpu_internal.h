/* The insides of an SM and of the GPU, common to the files of this folder. */
#ifndef PW_GPU_GPU_INTERNAL_H
#define PW_GPU_GPU_INTERNAL_H

#include "gpu/access_coalescing.h"
#include "gpu/breakdown.h"
#include "gpu/fault_wait.h"
#include "gpu/gpu.h"
#include "mem/cache.h"
#include "mem/mshr.h"
#include "vm/tlb_deltas.h"

enum { PW_MAX_WARPS = 64, PW_MAX_SCHEDULERS = 8 };

/* What a warp waits for; a warp that waits for nothing has its bit in its scheduler's ready mask. */
enum pw_warp_state {
    PW_WARP_EMPTY, /* the slot is free */
    PW_WARP_READY,
    PW_WARP_DEPENDENCY, /* the result of its last arithmetic */
    PW_WARP_LOADS,      /* loads that its next instruction uses */
    PW_WARP_BARRIER,    /* the other warps of its CTA */
    PW_WARP_ASLEEP,     /* an operation: its kernel has none now (open.c) */
    PW_WARP_STATE_COUNT
};

/* A load in flight. */
struct pw_load {
    pw_cycle done;  /* the latest completion known so far */
    uint32_t lines; /* still to come */
};

struct pw_sm_warp {
    struct pw_warp *warp;
    uint16_t next, end; /* of the operations in its buffer, kept here so that its header need not be read for each */
    uint64_t pending;   /* bit i: the i-th youngest load is outstanding */
    uint32_t loads;     /* issued so far: the youngest has the number loads - 1 */
    uint8_t state;      /* enum pw_warp_state */
    uint8_t in_flight;  /* in state LOADS: how many may stay outstanding */
    uint8_t scheduler;
    uint8_t cta;
    struct pw_load *load; /* loads_per_warp places, by number */
};

struct pw_cta {
    uint64_t warps;   /* slots */
    uint32_t left;    /* warps that have not exited */
    uint32_t arrived; /* at the barrier */
    void *shared;
    size_t shared_capacity;
    bool in_use;
};

struct pw_scheduler {
    uint64_t ready;
    pw_cycle free;           /* when it can issue next */
    uint32_t last, last_age; /* slot that issued last, and the age of the warp that was there */
    uint32_t resident;       /* warps */
    bool posted;             /* an event is under way */
    pw_cycle resident_since; /* when the first of them came */
    /* What a snapshot in the middle of things needs (snapshot.c): */
    pw_cycle left;        /* the end of the cycle in which the last one of a stay exited */
    pw_cycle accessed;    /* that of the last one in which it issued an access to memory */
    pw_cycle pause_begin; /* from when it has stood still, in a pause */
};

/* A memory instruction in the load-store unit. */
struct pw_lsu_entry {
    uint8_t kind; /* enum pw_request_kind */
    uint8_t count, next;
    uint8_t warp;
    bool counted;    /* the TLB lookup of the present page has been counted */
    bool translated; /* frame is that of the present page */
    bool absent;     /* the present page is known to be neither in the TLB nor outstanding */
    bool missing;    /* on_miss = hit_under_miss: misses under way, if there are any, are its own */
    bool holding;    /* it holds that frame until its next line has gone on to the L1 cache */
    uint32_t owner;
    uint64_t page; /* the present page: line >> page_lines_shift */
    pw_pfn frame;  /* at which it begins */
    struct pw_line_access lines[PW_MAX_LINES];
};

enum pw_lsu_wait {
    PW_LSU_NOT_WAITING,
    PW_LSU_TLB_MSHR,    /* the head's page misses and no miss register of the L1 TLB is free, or none is for it */
    PW_LSU_TRANSLATION, /* on_miss = stall_lsu, or serial: the head's translation */
    PW_LSU_L1_MSHR,     /* a load misses and no miss register of the L1 cache is free */
    PW_LSU_STORES,      /* the store buffer is full */
};

struct pw_lsu {
    struct pw_lsu_entry *queue; /* a ring */
    uint32_t first, count;
    struct pw_parked_list replay; /* lines whose translation has come; they go before the queue */
    bool wanted;                  /* a scheduler found the queue full */
    pw_cycle free;                /* when the next line can be processed */
    uint8_t wait;                 /* enum pw_lsu_wait */
    bool stalled;                 /* the head waits for its translation, whatever is replayed meanwhile */
    bool posted;
};

struct pw_sm {
    struct pw_gpu *gpu;
    struct pw_events *events;        /* the GPU's, */
    struct pw_sm_counters *counters; /* and those of its application, for each instruction; NULL without one */
    uint32_t id;
    pw_asid app;
    uint32_t issue_gap; /* between two instructions of a run, beyond the cycle in which one issues; in 1/256 of it */
    bool watched;       /* the GPU has a breakdown */
    bool observed;      /* it has one, or a listener */
    uint64_t free_slots;
    uint64_t memory_next; /* slots whose next operation, if it is known, needs the load-store unit */
    uint32_t next_age;
    uint32_t ctas, threads_used, registers_used;
    uint64_t shared_used;
    struct pw_scheduler schedulers[PW_MAX_SCHEDULERS];
    void *schedule;               /* the warp schedule's state */
    uint32_t age[PW_MAX_WARPS];   /* tells a warp from those that had its slot before */
    uint64_t older[PW_MAX_WARPS]; /* slots whose warps came before the one in this slot */
    struct pw_sm_warp warps[PW_MAX_WARPS];
    struct pw_cta cta[PW_MAX_WARPS];
    struct pw_lsu lsu;
    struct pw_tlb tlb;
    struct pw_mshr tlb_mshr;            /* mask: warps that wait */
    struct pw_tlb_waiting *tlb_waiting; /* by miss register */
    struct pw_key_map fault_waits;      /* struct pw_fault_wait; with demand paging */
    struct pw_cache l1;
    struct pw_mshr l1_mshr;    /* mask: sectors asked for (low 4 bits) and arrived (next 4) */
    uint32_t stores_in_flight; /* between the L1 cache and the L2: the store buffer */
    uint64_t active_slots;     /* that have had a warp since the fill policy asked last */
    /* With a timeline: its first tracks of each kind, and when each miss of the TLB began. */
    uint32_t stall_track, miss_track;
    pw_cycle *miss_since;
};

static inline struct pw_tlb_waiting *pw_tlb_waiting(const struct pw_sm *sm, const struct pw_mshr_entry *miss)
{
    return &sm->tlb_waiting[pw_mshr_place(&sm->tlb_mshr, miss)];
}

/* app of an SM that no application has. */
#define PW_NO_APP UINT8_MAX

/* A launch under way. */
struct pw_app_launch {
    const struct pw_launch *launch;     /* NULL: none */
    uint32_t next_cta, done_ctas, ctas; /* of its share */
    struct pw_cta_share share;
    uint64_t stores_left; /* stored lines issued and not yet in the L2, wherever they wait */
    bool dispatching;     /* the launch latency has passed */
    bool starting;        /* with an interval between CTAs: the start of the next one is under way */
};

/* Where pages may leave, by frame. */
struct pw_frame_use {
    uint32_t in_flight;     /* accesses between translation and their end */
    uint32_t cached_by;     /* bit sm % 32: that SM's L1 may hold lines of it */
    uint32_t translated_by; /* bit sm % 32: that SM may hold the translation of the page that begins here */
};

struct pw_fill {
    unsigned (*may_fill)(void *state, pw_asid app, uint32_t sm, uint32_t warp); /* the policy's */
    void *state;
    struct pw_fill_environment environment;
    struct pw_policy_use use;
};

struct pw_ready {
    uint64_t warps[PW_MAX_APPS]; /* that were ready, summed over looks */
    uint64_t looks;
    struct pw_epochs epochs;
};

struct pw_gpu {
    struct pw_gpu_config config;
    struct pw_gpu_wiring wiring;
    struct pw_request_pool pool;
    struct pw_parked_pool parked;
    struct pw_fault_wait_pool fault_waits;
    struct pw_memory *memory;
    struct pw_mmu *mmu;
    struct pw_walk_pressure *pressure; /* by application: from the MMU to the DRAM schedule */
    struct pw_warp_pool *warp_pool;
    const struct pw_warp_policy *schedule;
    struct pw_policy_use schedule_use;
    struct pw_fill fill;
    struct pw_sm *sms;
    struct pw_load *loads;
    struct pw_lsu_entry *lsu_entries;
    struct pw_tlb_waiting *tlb_waiting;
    struct pw_app_launch *launches;
    struct pw_frame_use *frame_use; /* NULL where no page leaves */
    uint64_t frame_count;           /* of frame_use */
    uint8_t page_order;             /* the smallest page size in use: lookups and misses merge at it */
    uint8_t page_lines_shift;       /* lines in such a page, as a power of two */
    uint64_t lines_outstanding;     /* for serial mode */
    struct pw_gpu_manager manager;
    uint64_t cta_free;              /* when the next CTA may start, in 1/256 of a cycle */
    uint64_t cta_interval;          /* gpu.cta_interval, likewise */
    uint32_t next_sm;               /* with an interval: where the next CTA looks for room first */
    pw_cycle paused_until;          /* no SM issues before */
    bool stopped;                   /* no further CTAs */
    uint64_t cycles;                /* of the run, kept by the run loop */
    struct pw_breakdown *breakdown; /* or NULL */
    struct pw_ready ready;
    struct pw_tlb_deltas *deltas; /* of the L2 TLB, or NULL */
    bool pages_watched;           /* page accesses go to a log or are looked at */
    struct pw_sm_counters *counters;
    struct pw_sm_open *open;
    struct pw_tlb_level tlb_level;
    struct pw_tlb_counters *tlb_counters;
    struct pw_l1d_counters *l1d_counters;
};

/* The warp slots that an SM has. */
static inline uint64_t pw_sm_slots(const struct pw_sm *sm)
{
    uint32_t warps = sm->gpu->config.sm.warps;
    return warps == 64 ? ~0ULL : (1ULL << warps) - 1;
}

/* owner of a line of a load: which warp, which of its loads. */
static inline uint32_t pw_load_owner(uint32_t slot, uint32_t number)
{
    return slot << 16 | (number & 0xffff);
}

/* The operation of a warp that issues next. */
static inline const struct pw_op *pw_next_op(const struct pw_sm_warp *w)
{
    return (const struct pw_op *)&w->warp->words[w->next];
}

/* issue.c */
void pw_sm_prepare_warp(struct pw_sm *sm, uint32_t slot, pw_cycle now);
void pw_sm_lsu_has_room(struct pw_sm *sm, pw_cycle now);
void pw_sm_load_complete(struct pw_sm *sm, uint32_t owner, pw_cycle now);

/* lsu.c */
bool pw_lsu_has_room(const struct pw_sm *sm);
void pw_lsu_push(struct pw_sm *sm, uint32_t slot, const struct pw_op *op, const uint64_t *words, pw_cycle now);
void pw_lsu_resume(struct pw_sm *sm, enum pw_lsu_wait reason, pw_cycle now);
/* An event: the unit takes its next line. */
void pw_lsu_step(void *object, uint64_t argument, pw_cycle now);
/* It does so as soon as it can. */
static inline void pw_lsu_post_step(struct pw_sm *sm, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (l->posted)
        return;
    l->posted = true;
    pw_events_post(sm->events, now > l->free ? now : l->free, pw_lsu_step, sm, 0);
}
/* Takes the head out of the queue once all its lines have gone on, or are parked. */
static inline void pw_lsu_pop_if_done(struct pw_sm *sm, const struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (e->next < e->count)
        return;
    if (++l->first == sm->gpu->config.sm.lsu_queue)
        l->first = 0;
    l->count--;
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_room(sm, now);
    if (l->wanted && pw_lsu_has_room(sm))
        pw_sm_lsu_has_room(sm, now);
}

/* l1_tlb.c */
/* Makes the translation of the head's next line known, if it can be, or parks the lines of its page. Returns what to
 * wait for, if anything. */
enum pw_lsu_wait pw_lsu_translate(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now);
unsigned pw_lsu_translated(void *gpu, struct pw_tlb_miss answered, struct pw_translation t, pw_cycle now);
/* A far fault ends the miss: the page has to come, and the SM has been notified. */
void pw_lsu_faulted(void *gpu, struct pw_tlb_miss miss, pw_cycle now);
/* Whether the head stalls for this page. */
static inline bool pw_lsu_head_waits(const struct pw_sm *sm, uint64_t page)
{
    return sm->lsu.stalled && sm->lsu.queue[sm->lsu.first].page == page;
}
/* Whether any access that waits for the translation of this page writes. */
bool pw_lsu_write_waits(const struct pw_sm *sm, uint64_t page);

/* watch.c: to be called for an SM that is observed. */
/* A memory instruction with a listener enters the load-store unit. */
PW_COLD void pw_watch_issued(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now);
/* pw_l1_access of a line that has its translation at `at`; `replayed`: it waited for that. */
struct pw_access;
PW_COLD bool pw_watch_access(struct pw_sm *sm, struct pw_access access, bool replayed, pw_cycle at,
                             enum pw_lsu_wait *out_wait);
/* The translation has come for what waits, before anything is replayed; `faulted`: for a page that had to come. */
PW_COLD void pw_watch_translated(struct pw_sm *sm, uint64_t page, const struct pw_tlb_waiting *waiting, bool faulted,
                                 pw_cycle now);
PW_COLD void pw_watch_loaded(const struct pw_sm *sm, uint32_t owner, pw_cycle now);
PW_COLD void pw_watch_exited(const struct pw_sm *sm, uint32_t slot, pw_cycle now);
/* The listener to the stages of misses (vm/mmu.h), or NULL. */
typedef void pw_stage_fn(void *gpu, uint32_t sm, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from);
pw_stage_fn *pw_watch_stages(const struct pw_gpu *g);

/* protection.c: the run fails when the page's permissions deny what it is wanted for. */
/* The head's translation, which the TLB has returned, denies something; keeps its frame. */
PW_COLD void pw_protect_head(struct pw_sm *sm, struct pw_lsu_entry *e);
/* The translation that has come does; `place` is that of the miss register, where the page has one. */
PW_COLD void pw_protect_waiting(struct pw_sm *sm, uint64_t page, uint32_t place, unsigned denied);

/* One line of a memory instruction, its translation known. */
struct pw_access {
    uint32_t line;  /* physical */
    uint32_t owner; /* the load that waits, or PW_NO_OWNER */
    uint8_t kind;   /* enum pw_request_kind */
    uint8_t sectors, full;
};

/* launch.c: what a CTA of a launch takes, and an SM's preparation for it. */
uint32_t pw_launch_registers(const struct pw_gpu *g, const struct pw_launch *l);
uint64_t pw_launch_shared(const struct pw_gpu *g, const struct pw_launch *l);
void pw_sm_begin_launch(struct pw_sm *sm, const struct pw_launch *l);

/* Where the set of a line begins in the L1 data cache. */
static inline uint32_t pw_l1_set(const struct pw_sm *sm, uint32_t line)
{
    return pw_cache_set(&sm->l1, __builtin_expect(sm->gpu->config.l1d.hashed_sets, 0) ? pw_fold(line) : line);
}

/* l1.c: returns false when the access must wait; *out_wait says for what, and nothing has changed. */
bool pw_l1_access(struct pw_sm *sm, struct pw_access access, pw_cycle at, enum pw_lsu_wait *out_wait);
void pw_l1_expect_reply(void *gpu, const struct pw_request *r);
void pw_l1_reply(void *gpu, struct pw_request *r, pw_cycle now);
void pw_l1_stored(void *gpu, struct pw_request *r, pw_cycle now);
/* One line of a load has its data at time `at`. */
void pw_l1_line_done(struct pw_sm *sm, uint32_t owner, pw_cycle at, pw_cycle now);

static inline uint32_t pw_physical_line(const struct pw_gpu *g, pw_pfn first_frame, uint64_t vaddr_line)
{
    uint64_t within = vaddr_line & ((1ULL << g->page_lines_shift) - 1);
    return (uint32_t)(((uint64_t)first_frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) + within);
}

/* paging.c: accesses that have a translation hold their frame; line is physical. */
static inline void pw_gpu_hold_frame(struct pw_gpu *g, uint32_t line)
{
    if (g->frame_use)
        g->frame_use[line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT)].in_flight++;
}
static inline void pw_gpu_drop_frame(struct pw_gpu *g, uint32_t line, pw_cycle now)
{
    uint32_t frame = line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT);
    if (g->frame_use && --g->frame_use[frame].in_flight == 0)
        g->wiring.frame_idle(g->wiring.node, (pw_pfn){frame}, now);
}
static inline void pw_gpu_mark_cached(struct pw_gpu *g, const struct pw_sm *sm, uint32_t line)
{
    if (g->frame_use)
        g->frame_use[line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT)].cached_by |= 1U << (sm->id % 32);
}

bool pw_gpu_write_waits(const struct pw_gpu *g, pw_asid asid, pw_vpn vpn);

static inline void pw_gpu_mark_translated(struct pw_gpu *g, const struct pw_sm *sm, pw_pfn frame)
{
    if (g->frame_use)
        g->frame_use[frame.v].translated_by |= 1U << (sm->id % 32);
}

/* Cycles that a warp waits after it has issued `count` instructions of a run of arithmetic: for those of the run to
 * come at their distance (in 1/256 of a cycle, beyond the one in which each issues), and after the last for its
 * result. */
static inline uint64_t pw_sm_result_wait(const struct pw_sm *sm, uint32_t count, bool last)
{
    if (!last)
        return sm->issue_gap >> 8;
    return ((uint64_t)(count - 1) * sm->issue_gap >> 8) + sm->gpu->config.sm.dependency_latency - 1;
}

/* timeline.c: to be called when there is one, but for init */
enum pw_status pw_sm_timeline_init(struct pw_sm *sm, struct pw_error *err);
void pw_sm_timeline_miss(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now);
void pw_sm_timeline_miss_ended(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now);
PW_COLD void pw_sm_timeline_stall(struct pw_sm *sm, uint32_t scheduler, pw_cycle from, pw_cycle now);

/* fill.c: whether the policy asks for a bypass cache beside the L2 TLB, and of how many entries. */
bool pw_fill_asks_for_bypass(const struct pw_fill_config *config, uint32_t *out_entries);
/* Makes the instance of a policy of pw_fill_family, which is released with its use. */
enum pw_status pw_fill_create(struct pw_gpu *g, const struct pw_policy *policy, struct pw_error *err);
/* The TLBs that the translation of a page which this warp misses may be put into. */
static inline uint8_t pw_may_fill(const struct pw_sm *sm, uint32_t warp)
{
    const struct pw_fill *f = &sm->gpu->fill;
    return (uint8_t)(f->may_fill ? f->may_fill(f->state, sm->app, sm->id, warp) : PW_FILL_BOTH);
}

/* ready.c */
void pw_ready_register(const struct pw_gpu *g, struct pw_stats *stats);

/* cta.c */
/* Starts a CTA in the lowest of these slots, which are free. False: out of memory. */
bool pw_cta_start(struct pw_sm *sm, uint64_t slots, const struct pw_launch *l, uint32_t cta_index, pw_cycle now);
void pw_gpu_dispatch(struct pw_gpu *g, unsigned app, pw_cycle now);
void pw_cta_warp_exited(struct pw_sm *sm, uint32_t slot, pw_cycle now);
void pw_gpu_launch_maybe_done(struct pw_gpu *g, unsigned app, pw_cycle now);

#endif
