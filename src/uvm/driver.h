/* The driver: far faults in, pages moved, accesses replayed. Everything here takes time; what comes and what leaves is
 * decided by uvm/residency.h.
 *
 * A page walk that finds no mapping becomes a far fault (UVM, Figure 1). How faults are served is an option:
 *   serial    one fault group after the other, each for fault_latency (the UVM paper's accounting);
 *   parallel  the latency of different faults overlaps (Mosaic: "load-to-use latency");
 *   batch     as the real driver does it: up to batch_faults faults are taken at a time, sorted by 2 MiB block, and
 *             served block by block; accesses are replayed when the whole batch is done.
 * Serial and parallel decide what to bring in when the fault is registered, as the GMMU of the paper does, so later
 * faults on pages that are coming merge; batch decides when it takes the fault.
 *
 * A fetch that needs room evicts first: pages are unmapped and shot down at once, those to be written cross the link,
 * and only then may their room be used; the transfers of the fetch (the faulted pages, then each run of prefetched
 * ones) are queued on the link at once and start when there is room for all of them. If nothing may leave, prefetched
 * pages are given up and faulted ones wait until a page has been replayed or an access has ended. With a free-page
 * buffer, room is made ahead of need. */
#ifndef PW_UVM_DRIVER_H
#define PW_UVM_DRIVER_H

#include "mem/link.h"
#include "sim/timeline.h"
#include "uvm/residency.h"

/* The data of which uvm.oversubscription is a share. */
enum pw_data_base {
    PW_DATA_TOUCHED,   /* pages that kernels touch: the working set */
    PW_DATA_ALLOCATED, /* the most that is allocated at one time */
    PW_DATA_AT_LAUNCH  /* what is allocated at the first launch */
};

enum pw_fault_service { PW_SERVICE_SERIAL, PW_SERVICE_PARALLEL, PW_SERVICE_BATCH };

struct pw_uvm_config {
    uint32_t service;       /* enum pw_fault_service */
    uint32_t fault_latency; /* cycles; serial and parallel */
    uint32_t batch_faults;  /* at most, in a batch */
    /* Cycles of the driver's own work in batch service: per batch, per 2 MiB block in it, per fault in it. */
    uint32_t batch_latency, block_latency, batch_fault_latency;
    struct pw_policy_choice prefetch, prefetch_full; /* of pw_prefetch_family; full: or "same", go on with `prefetch` */
    struct pw_policy_choice evict;                   /* of pw_evict_family */
    double reserve, free_buffer;                     /* percent */
    uint32_t reserve_from;                           /* enum pw_reserve_from */
    uint64_t memory;                                 /* bytes of device memory for managed data; 0: all there is */
    double oversubscription;                         /* percent: memory = data * 100 / this; 0: not used */
    uint32_t oversubscription_of;                    /* enum pw_data_base */
    char advice[PW_OPTION_TEXT_CAPACITY];            /* by the names of allocations: uvm/advice.h */
};

extern const struct pw_option pw_uvm_options[];

struct pw_uvm_wiring {
    struct pw_events *events;
    struct pw_policies *policies; /* of the machine, or NULL */
    struct pw_link *link;
    struct pw_timeline *timeline; /* or NULL */
    unsigned apps;
    uint64_t frames; /* there are, for managed pages */
    enum pw_page_order order;
    uint64_t seed;
    void *machine;
    /* Gives a page of 2^order its frame and maps it. False: no frame (the run fails). */
    bool (*map)(void *machine, pw_asid asid, pw_vpn vpn);
    /* Page tables lie in the same memory and grow with what is mapped. The most frames that they may take when a page
     * is mapped at vpn; and how many 4 KiB pages could be mapped now, in whole pages of 2^order, if tables took so
     * many. Both NULL: memory is never short of what `frames` says. */
    unsigned (*table_growth)(void *machine, pw_asid asid, pw_vpn vpn);
    uint64_t (*mappable)(void *machine, uint64_t table_frames);
    /* Maps a page where it is, in host memory. Page numbers are below host_pages, 0 when there is no such memory.
     * False: no memory for the page table. */
    bool (*map_remote)(void *machine, pw_asid asid, pw_vpn vpn, pw_page_id page);
    uint64_t host_pages;
    /* Takes the mapping away: no TLB and no cache knows the page afterwards. Its frame is free at once: frames are
     * alike, and how many may be used is the driver's account. `freed`: its allocation is being freed; otherwise it
     * may come back. */
    void (*unmap)(void *machine, pw_asid asid, pw_vpn vpn, bool freed);
    /* Whether accesses to a mapped page are in flight. */
    bool (*busy)(void *machine, pw_asid asid, pw_vpn vpn);
    /* The page is there: accesses that wait for it may go on. */
    void (*replay)(void *machine, pw_asid asid, pw_vpn vpn, pw_cycle now);
    /* No memory on the host, or no frame for a page that has room: the run fails. */
    void (*failed)(void *machine, const struct pw_error *err);
};

struct pw_uvm;
enum pw_status pw_uvm_create(const struct pw_uvm_config *config, const struct pw_uvm_wiring *wiring,
                             struct pw_uvm **out, struct pw_error *err);
void pw_uvm_destroy(struct pw_uvm *u);
void pw_uvm_register(struct pw_uvm *u, struct pw_stats *stats);
/* Counts the faults that wait, before counters are read. */
void pw_uvm_bring_up_to_date(struct pw_uvm *u);
struct pw_residency *pw_uvm_residency(struct pw_uvm *u);

enum pw_status pw_uvm_allocate(struct pw_uvm *u, pw_asid asid, const char *name, pw_vpn first, uint64_t bytes,
                               struct pw_error *err);
enum pw_status pw_uvm_free(struct pw_uvm *u, pw_asid asid, pw_vpn first, struct pw_error *err);
/* Before the first launch: finds the memory that oversubscription leaves. data_pages: what is touched or allocated in
 * the run, as uvm.oversubscription_of asks; what is allocated now is counted here. */
enum pw_status pw_uvm_start(struct pw_uvm *u, uint64_t data_pages, struct pw_error *err);

/* An access found no mapping. It is replayed when the page is there; a page that is coming already is merged into.
 * False when the address is in no allocation. */
bool pw_uvm_fault(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, pw_cycle now);

/* The explicit prefetch call: asynchronous, no fault latency, whole blocks in order of address. `done` (may be NULL)
 * when the last page has arrived. */
void pw_uvm_prefetch(struct pw_uvm *u, pw_asid asid, pw_vpn first, uint64_t pages, pw_cycle now, pw_event_fn *done,
                     void *object, uint64_t argument);

/* Memory advice about the allocation that begins at `first`: flags of enum pw_memory_advice, in place of what was said
 * before. */
enum pw_status pw_uvm_advise(struct pw_uvm *u, pw_asid asid, pw_vpn first, unsigned advice, struct pw_error *err);
/* Whether uvm.advice asks for an explicit prefetch of allocations of this name. */
bool pw_uvm_prefetches(struct pw_uvm *u, const char *name);
/* At the end: advice in uvm.advice about allocations that there were not is a user error. */
enum pw_status pw_uvm_check_advice(const struct pw_uvm *u, struct pw_error *err);
bool pw_uvm_is_read_mostly(const struct pw_uvm *u, pw_asid asid, pw_vpn vpn);

/* An access to a mapped page. False for a write to a copy that the host has too: it must wait, after
 * pw_uvm_write_waits, until it is replayed. */
bool pw_uvm_touch(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, bool write, pw_cycle now);
/* A write waits for a page of a read-mostly allocation, here or on its way: it is replayed when there is no other
 * copy. */
void pw_uvm_write_waits(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, pw_cycle now);
/* The last access in flight to some page has ended: a fetch that waits for room may find it now. Cheap when none
 * does. */
void pw_uvm_access_ended(struct pw_uvm *u, pw_cycle now);

uint64_t pw_uvm_pending(const struct pw_uvm *u); /* faults, fetches and prefetch calls under way */
size_t pw_uvm_describe(const struct pw_uvm *u, char *out, size_t capacity);
/* To be asked when no event is left: PW_FAILED, with the memory size that would do, when faults wait for room that
 * nothing can make any more. */
enum pw_status pw_uvm_stuck(const struct pw_uvm *u, struct pw_error *err);

/* Fault batches (or single faults), for logs: one row each, kept when asked for. */
struct pw_fault_batch {
    pw_cycle taken, done;
    uint32_t faults, blocks, pages_in, pages_out;
};
void pw_uvm_keep_batches(struct pw_uvm *u);
size_t pw_uvm_batches(const struct pw_uvm *u, const struct pw_fault_batch **out);

#endif
