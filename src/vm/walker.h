/* The page walker, shared by all SMs: walks up to N page tables at a time, first come, first served.
 *
 * Two models. `memory`: a walk reads one entry per level, each from the L2 cache or DRAM like any other request, and
 * the next level's read starts when the previous one has been answered (MASK, Section 4.1: a chain of dependent
 * requests). A read pays the way to the slice and back, none by default. With a page walk cache each read probes that
 * first, beside the walker; a hit there goes nowhere. `fixed`: a walk takes a set number of cycles and no
 * memory traffic (TLB compression, Table 3). */
#ifndef PW_VM_WALKER_H
#define PW_VM_WALKER_H

#include "mem/memory.h"
#include "sim/option.h"
#include "sim/timeline.h"
#include "vm/page_table.h"

enum pw_walk_model { PW_WALK_MEMORY, PW_WALK_FIXED };

struct pw_walk_config {
    uint32_t model;    /* enum pw_walk_model */
    uint32_t latency;  /* of a walk in the fixed model */
    uint32_t walkers;  /* walks at a time */
    uint32_t distance; /* cycles between the walker and an L2 slice, each way, in the memory model */
};

extern const struct pw_option pw_walk_options[];

/* The page walk cache, probed by each read of a walk before the L2 cache (MASK, Section 3). It is a small cache of
 * page-table lines by physical address; all levels share it. */
struct pw_walk_cache_config {
    bool enabled;
    uint64_t bytes;
    uint32_t ways, latency, ports;
    uint64_t line_bytes;
};

extern const struct pw_option pw_walk_cache_options[];

/* Per application. */
struct pw_walk_counters {
    uint64_t count, finished, reads;
    uint64_t latency;       /* sum over walks: from the miss in the L2 TLB to the translation */
    uint64_t queued;        /* the part of it spent waiting for a walker */
    uint64_t active;        /* the part of it spent walking */
    uint64_t warps_stalled; /* sum over walks: warps that wait for it when it ends, in all SMs */
    uint64_t sms_stalled;   /* sum over walks: SMs whose warps those are */
    uint64_t cache_lookups, cache_hits, cache_misses;
};

struct pw_walker;

struct pw_walker_config {
    struct pw_walk_config walk;
    struct pw_walk_cache_config cache;
    uint32_t walks; /* that can exist at once, walking or waiting: the caller's miss registers */
    unsigned apps;
    unsigned gpu; /* whose copy of the page tables it reads */
};

struct pw_walker_wiring {
    struct pw_events *events;
    struct pw_request_pool *pool;
    struct pw_memory *memory;
    const struct pw_page_table *const *tables;
    struct pw_timeline *timeline;      /* or NULL */
    struct pw_walk_pressure *pressure; /* by application, to be kept */
    void *client;
    /* Walk `id` has ended at `now`; its id may be used again at once. */
    void (*done)(void *client, uint32_t id, struct pw_translation translation, pw_cycle now);
};

enum pw_status pw_walker_create(const struct pw_walker_config *config, const struct pw_walker_wiring *wiring,
                                struct pw_walker **out, struct pw_error *err);
void pw_walker_destroy(struct pw_walker *w);
void pw_walker_register(struct pw_walker *w, struct pw_stats *stats);

/* Asks for a walk at time `now`; `id` is below config.walks and not in use. */
void pw_walker_start(struct pw_walker *w, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now);

/* An answer from memory, at its slice. */
void pw_walker_read_done(void *walker, struct pw_request *r, pw_cycle now);

/* Counts the walks that are under way, and for how long they have been. */
void pw_walker_bring_up_to_date(struct pw_walker *w, pw_cycle now);

/* Adds an SM and those of its warps that waited for a walk of this address space. */
void pw_walker_count_stalled(struct pw_walker *w, pw_asid asid, unsigned warps);

/* Forgets everything in the page walk cache. */
void pw_walker_flush_cache(struct pw_walker *w);

/* A line of memory was written: the page walk cache does not know it afterwards. */
void pw_walker_line_written(struct pw_walker *w, uint32_t line);

/* When a walk that is under way left the queue. */
pw_cycle pw_walker_begun(const struct pw_walker *w, uint32_t id);

uint32_t pw_walker_active(const struct pw_walker *w);
uint32_t pw_walker_queued(const struct pw_walker *w);

#endif
