/* The inside of the driver, for its own files: far-fault registers, fetches, the account of room.
 *
 *   driver.c           the calls from outside; serial and parallel service
 *   driver_faults.c    the far-fault registers and the replays
 *   driver_room.c      what leaves, and when its room can be used
 *   driver_fetch.c     fetches: room, transfers, arrival, waiting for room
 *   driver_batch.c     batch service
 *   driver_prefetch.c  the explicit prefetch call
 *   driver_advice.c    memory advice
 *   driver_stats.c     metrics, identities, the log of batches, descriptions
 *   driver_options.c   the options */
#ifndef PW_UVM_DRIVER_INTERNAL_H
#define PW_UVM_DRIVER_INTERNAL_H

#include "uvm/driver.h"

/* A far-fault register: a page that accesses wait for. Further accesses to the page merge into it. */
struct fault {
    pw_page_id page; /* the first of its unit; PW_NO_PAGE: the place is free */
    uint32_t merges; /* accesses that came after the first and not reported to residency yet */
    pw_cycle since;
    uint64_t ticket; /* tells registrations of the same page apart */
    bool writes;     /* an access that waits will write (of read-mostly pages) */
    bool reported;   /* residency knows that an access waits for the page */
};

/* Open addressing by page number; the table is at most half full. */
struct fault_table {
    struct fault *places;
    size_t count, capacity; /* capacity: 0 or a power of two */
    uint64_t tickets;
};

struct ticket {
    pw_page_id page;
    uint64_t ticket;
};

struct ticket_list {
    struct ticket *items;
    size_t first, count, capacity; /* [first, count) are in use */
};

/* Room that is promised for later: pages whose write-back ends then. Sorted by time. */
struct room_queue {
    struct promise {
        pw_cycle time;
        uint64_t pages;
    } * items;
    size_t first, count, capacity;
    uint64_t pages;
};

enum fetch_owner { OWNER_FAULT, OWNER_BATCH, OWNER_PREFETCH };

/* Pages of one block on their way in. */
struct fetch {
    struct pw_uvm *uvm;
    struct fetch *previous, *next; /* all there are */
    struct fetch *behind;          /* in the one queue it is in: for serial service, or for room */
    uint32_t block;
    pw_asid asid;
    pw_vpn first;                            /* of the block */
    struct pw_page_mask faulted, prefetched; /* that have no room yet */
    uint64_t under_way;                      /* pages that have room and have not arrived */
    uint32_t transfers;                      /* under way */
    uint32_t table_frames;                   /* kept for the page table of what is under way */
    uint32_t faults, pages_in, pages_out;
    pw_cycle taken;
    uint32_t track;
    enum fetch_owner owner;
    bool served;         /* room has been asked for once */
    bool waits;          /* in the queue for room */
    bool freed;          /* the allocation is gone */
    bool brings_no_page; /* `fault` is replayed when it has been handled */
    struct ticket fault;
    struct prefetch_call *call;
};

struct fetch_queue {
    struct fetch *first, **last;
    size_t count;
};

struct prefetch_call {
    struct pw_uvm *uvm;
    struct prefetch_call *next; /* all there are */
    pw_asid asid;
    pw_vpn at, outer;
    pw_event_fn *done;
    void *object;
    uint64_t argument;
};

struct batch {
    bool active;        /* the driver is awake */
    bool holds_replays; /* from when it is taken to its end */
    pw_cycle begun, taken;
    struct batch_item {
        pw_asid asid;
        pw_vpn vpn;
        struct ticket ticket;
    } * items;
    size_t count, next, group_outer;
    struct ticket_list ready; /* to be replayed at its end */
    uint32_t faults, blocks, pages_in, pages_out, track;
};

/* Per application, beside those of residency. */
struct driver_counters {
    uint64_t registered, replayed, forgotten; /* far-fault registers taken; replayed; given back because of a free */
    uint64_t waiting;                         /* of them, when the last snapshot was taken */
    uint64_t latency;                         /* sum over replays, from registration */
    uint64_t bytes_h2d, bytes_d2h;
    uint64_t pages_lost; /* arrived after their allocation had been freed */
};

struct pw_uvm {
    struct pw_uvm_config config;
    struct pw_uvm_wiring wiring;
    struct pw_residency *residency;
    unsigned unit; /* pages in a page of the machine */
    uint64_t capacity;
    uint64_t memory_bytes, data_bytes; /* of the metrics: the capacity, and what oversubscription was taken of */
    struct pw_advice_list advice;

    struct fault_table faults;
    struct fetch *fetches;
    size_t fetch_count;
    struct fetch_queue handling; /* serial service: the first is being handled */
    struct fetch_queue waiting;  /* for room */
    bool retry_posted, has_failed, started;
    struct room_queue room;
    uint64_t table_frames;    /* of all fetches */
    struct ticket_list queue; /* batch service: registered, not taken */
    struct batch batch;
    struct prefetch_call *calls;

    struct driver_counters counters[PW_MAX_APPS];
    uint64_t batches, batch_faults;
    bool keeps_batches;
    struct pw_fault_batch *log;
    size_t log_count, log_capacity;
    struct pw_lanes lanes; /* with a timeline */
    uint32_t link_tracks[PW_LINK_DIRECTIONS];
};

/* Fails the run; the first message stays. */
void pw_uvm_fail(struct pw_uvm *u, enum pw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes place behind the items [*first, *count) of a list; returns the list, or NULL when memory is out (the run has
 * failed then). */
void *pw_uvm_make_place(struct pw_uvm *u, void *items, size_t *first, size_t *count, size_t *capacity, size_t size);

struct fault *pw_faults_find(struct pw_uvm *u, pw_page_id page);
struct fault *pw_faults_find_ticket(struct pw_uvm *u, struct ticket ticket);  /* NULL when it was replayed since */
struct fault *pw_faults_add(struct pw_uvm *u, pw_page_id page, pw_cycle now); /* NULL when memory is out */
void pw_faults_replay(struct pw_uvm *u, pw_page_id page, pw_cycle now);
void pw_faults_forget(struct pw_uvm *u, pw_page_id first, pw_page_id outer);
/* Residency learns of accesses that wait for a page that is coming. */
void pw_faults_report(struct pw_uvm *u, struct fault *f);
void pw_ticket_add(struct pw_uvm *u, struct ticket_list *list, const struct fault *f);

/* Pages that a fetch could have room for now. Keeps frames for the page table that they need, until they are mapped. */
uint64_t pw_uvm_room(struct fetch *f);
void pw_uvm_tables_grown(struct fetch *f);
/* Evicts once; false when nothing may leave. `out_pages` grows by what left. */
bool pw_uvm_evict(struct pw_uvm *u, pw_cycle now, uint32_t *out_pages);
/* Takes room for pages of a block: when it can be used, which is not before now. */
pw_cycle pw_uvm_claim(struct pw_uvm *u, uint32_t block, const struct pw_page_mask *pages, pw_cycle now);

void pw_fetch_queue_add(struct fetch_queue *q, struct fetch *f);
struct fetch *pw_fetch_queue_take(struct fetch_queue *q);
/* NULL when memory is out. */
struct fetch *pw_fetch_begin(struct pw_uvm *u, const struct pw_fetch *decided, enum fetch_owner owner, pw_cycle now);
/* Gives a fetch room and queues its transfers; its owner is notified when all of it has arrived. True when a part of it
 * has to wait for room. */
bool pw_fetch_serve(struct fetch *f, pw_cycle now);
/* All of a fetch has come: its owner goes on. */
void pw_fetch_finish(struct fetch *f, pw_cycle now);
void pw_fetch_forget_block_range(struct pw_uvm *u, uint32_t first, uint32_t outer, pw_cycle now);
void pw_uvm_ask_retry(struct pw_uvm *u, pw_cycle now);

/* A page that a register waits for, and that is absent, is asked for. */
void pw_uvm_ask(struct pw_uvm *u, struct fault *f, pw_cycle now);

/* Whether a fault that is taken up now brings no page. */
bool pw_advice_brings_no_page(const struct pw_uvm *u, const struct fault *f);
/* Does what such a fault needs; false when its page has to come after all, or is coming. */
bool pw_advice_serve_in_place(struct pw_uvm *u, struct fault *f);
/* Pages that come, before they are mapped; a register whose page has come; pages that have left. */
void pw_advice_arriving(struct pw_uvm *u, pw_page_id first, pw_page_id outer);
void pw_advice_arrived(struct pw_uvm *u, struct fault *f);
void pw_advice_evicted(struct pw_uvm *u, const struct pw_eviction *e);

void pw_batch_enqueue(struct pw_uvm *u, struct fault *f, pw_cycle now);
void pw_batch_fetched(struct pw_uvm *u, struct fetch *f, pw_cycle now);
/* The batch has to wait for room: so that some is made, what has come is replayed. */
void pw_batch_stall(struct pw_uvm *u, pw_cycle now);

void pw_prefetch_continue(struct prefetch_call *call, pw_cycle now);

void pw_uvm_log(struct pw_uvm *u, const struct pw_fault_batch *row);
void pw_uvm_record(struct pw_uvm *u, uint32_t track, const char *name, pw_asid asid, pw_vpn page, pw_cycle from,
                   pw_cycle to);

#endif
