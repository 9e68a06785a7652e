/* The shared side of the memory system: the crossbar, L2 slices, and the DRAM channels behind them. */
#ifndef PW_MEM_MEMORY_H
#define PW_MEM_MEMORY_H

#include "mem/crossbar.h"
#include "mem/dram.h"
#include "mem/l2.h"
#include "mem/memory_map.h"
#include "mem/peer.h"
#include "mem/remote.h"
#include "mem/request.h"
#include "sim/event.h"
#include "sim/stats.h"

/* Who gets the answers. All are called at the time they name; the callee owns the request then. */
struct pw_memory_clients {
    void *sms;
    /* Data for SM r->source has entered the crossbar: a hint to have at hand what the reply will need. */
    void (*expect_reply)(void *sms, const struct pw_request *r);
    /* Data for SM r->source has passed the crossbar. */
    void (*reply)(void *sms, struct pw_request *r, pw_cycle now);
    /* A store, or an atomic without a result, has been taken by its slice. */
    void (*stored)(void *sms, struct pw_request *r, pw_cycle now);
    void *walker;
    /* A page-table read has been answered. */
    void (*walk_read)(void *walker, struct pw_request *r, pw_cycle now);
    void *manager;
    /* A request of the page manager has been answered: a slice has taken its write, or its data is there. */
    void (*managed)(void *manager, struct pw_request *r, pw_cycle now);
};

struct pw_memory;

struct pw_memory_config {
    struct pw_l2_config l2;
    struct pw_crossbar_config crossbar;
    struct pw_dram_config dram;
    uint32_t core_mhz;
    uint32_t sms;
    unsigned apps;
    struct pw_policies *policies; /* of the machine; NULL: nobody registers them or calls them at epochs */
    struct pw_remote_config remote;
    struct pw_link *link;                   /* to host memory, which lies behind device memory; NULL: there is none */
    struct pw_peers *peers;                 /* of several GPUs; NULL: there is one */
    unsigned gpu;                           /* which of them it is; its lines begin at gpu << peers->line_shift */
    struct pw_walk_pressure *pressure;      /* by application, for the DRAM schedule; or NULL */
    const struct pw_l2_walks_policy *walks; /* instead of the one that l2.walks names; NULL: that one */
};

enum pw_status pw_memory_create(const struct pw_memory_config *config, struct pw_events *events,
                                struct pw_request_pool *pool, struct pw_memory **out, struct pw_error *err);
/* Says who gets the answers; call once, before the first request. */
void pw_memory_connect(struct pw_memory *m, const struct pw_memory_clients *clients);
void pw_memory_destroy(struct pw_memory *m);
void pw_memory_register(struct pw_memory *m, struct pw_stats *stats);

/* Sends a request of an SM that is ready at `ready` (not before now) through the crossbar, to its L2 slice or, if its
 * line is one of host memory, to the link, or, of another GPU, to the fabric. */
void pw_memory_send(struct pw_memory *m, struct pw_request *r, pw_cycle ready);

/* Sends a page-table read, or a request of the page manager, which reaches its slice at `at`: both are joined to the L2
 * without the crossbar. A write that arrives now is taken, and answered, within this call. Requests of the manager
 * count in the L2 and in DRAM as data; they are not walks. */
void pw_memory_send_direct(struct pw_memory *m, struct pw_request *r, pw_cycle at);

/* A part of a frame. */
struct pw_memory_piece {
    pw_pfn frame;
    uint32_t first, bytes;
};

/* The host has copied data there, or they have been set on the device. With l2.copies they are in the L2 now: copies to
 * be replaced first, and written back already; what is set, as if a kernel had written it. */
void pw_memory_fill(struct pw_memory *m, unsigned app, struct pw_memory_piece piece, bool set);

/* Drops the lines of a frame that an application loses. What is dirty is not written: its page leaves the GPU. No
 * request for the frame may be under way. */
void pw_memory_forget_frame(struct pw_memory *m, unsigned app, pw_pfn frame);

/* DRAM channels are simulated a little behind time (dram.c): makes up for it, so that counters stand at `now`. */
void pw_memory_bring_up_to_date(struct pw_memory *m, pw_cycle now);

/* Requests anywhere between the crossbar and DRAM; and a few lines on what waits, for the progress report. */
uint64_t pw_memory_pending(const struct pw_memory *m);
size_t pw_memory_describe(const struct pw_memory *m, char *out, size_t capacity);

#endif
