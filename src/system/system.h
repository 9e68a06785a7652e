/* One machine at work: its nodes, the address spaces and host programs of its applications, and the run loop.
 *
 * A host program runs until it launches a kernel, is suspended while the nodes work, and goes on when the launch has
 * finished on all of them, at that moment of simulated time. The run ends when every program has ended once. */
#ifndef PW_SYSTEM_SYSTEM_H
#define PW_SYSTEM_SYSTEM_H

#include "pagewalk/pagewalk.h"
#include "system/config.h"
#include "system/cost.h"
#include "system/footprint.h"
#include "system/moves.h"
#include "system/node.h"
#include "system/pages.h"

struct pw_system;

enum { PW_SYSTEM_METRIC_CAPACITY = PW_SCOPE_CAPACITY + PW_METRIC_NAME_CAPACITY };

/* Memory that pw_filled has named and no launch has followed yet (contents.c). */
struct pw_contents_part {
    pw_vaddr from;
    uint64_t bytes;
    enum pw_contents how;
};

struct pw_contents_list {
    struct pw_contents_part *parts;
    size_t count, capacity;
};

/* An application. When others have not finished yet, it starts over each time its program ends, so that the GPU stays
 * as full as it was; what counts is its first complete run. */
struct pw_app {
    struct pw_system *system;
    unsigned index;
    unsigned instance; /* how many before it run the same program; names its stream of random numbers */
    struct pw_program program;
    struct pw_host *host;
    struct pw_address_space *space;  /* the system's, by its index */
    const struct pw_launch *held;    /* a launch that waits: the first for the other applications, any for its data */
    uint32_t launches;               /* started so far */
    const struct pw_launch *present; /* the one under way, or NULL */
    unsigned nodes_at_work;          /* on it */
    pw_cycle launched;               /* when it began */
    size_t span;                     /* of the last one of the first run, among the system's kernels */
    bool finished;                   /* once */
    pw_cycle end;                    /* of the first run */
    uint64_t instructions;           /* issued until then */
    unsigned checks;                 /* that held in the first run */
    struct pw_contents_list contents;
};

/* The counters at the borders of a kernel launch or an interval. */
struct pw_span {
    char *name; /* of the kernel, owned; NULL for an interval */
    unsigned app, index;
    pw_cycle first, outer;
    uint64_t *from, *to; /* snapshots, owned */
};

struct pw_spans {
    struct pw_span *rows;
    size_t count, capacity;
};

/* What stands in for kernels where operations are pushed from outside (stream.c). */
struct pw_open {
    struct pw_listener listener;
    /* All GPUs have opened the launch of an application: warps may be started. */
    void (*opened)(void *listener, unsigned app, pw_cycle now);
};

struct pw_system {
    struct pw_config config;
    const struct pw_run_spec *spec;
    const struct pw_open *open; /* NULL: the kernels of programs are run */
    uint64_t seed;
    struct pw_events *events;
    unsigned node_count;
    struct pw_node *nodes;
    unsigned app_count, apps_left;
    struct pw_app *apps;
    /* By application, as address spaces are numbered. What is counted is all that an application has, on whatever
     * nodes. */
    struct pw_address_space *spaces;
    struct pw_page_counters page_counters[PW_MAX_APPS];
    struct pw_touched touched[PW_MAX_APPS];
    struct pw_uvm *uvm;  /* NULL when paging is free */
    uint64_t data_pages; /* of 4 KiB, that uvm.oversubscription is a share of, where a first pass has found them */
    /* Of a system with an IOMMU, which those of several GPUs have: */
    struct pw_fabric *fabric;
    struct pw_iommu *iommu;
    struct pw_peers peers;                /* of several GPUs */
    struct pw_physical_memory **memories; /* of all nodes */
    struct pw_placement placement;
    struct pw_policy_use place_use;
    struct pw_moves *moves;      /* NULL: pages stay where they are */
    struct pw_policies policies; /* the host's: those of the driver */
    struct pw_cost cost;         /* of each node's hardware */
    struct pw_stats *stats;
    struct pw_timeline *timeline; /* or NULL; tracks 0 to app_count - 1 have the launches */
    struct pw_page_log *page_log; /* or NULL */
    bool starting;                /* programs run up to their first launch; nothing has been backed or launched yet */
    bool stop;                    /* the event loop returns */
    struct pw_error failure;
    pw_cycle end;
    struct pw_spans kernels, intervals;
    /* Rows of the result, one for each name, as they were at the end of the run: what is still under way then comes to
     * rest afterwards and would change them. Owned, with their names. */
    size_t allocation_count;
    struct pw_allocation_result *allocations;
    uint32_t first_kernel, last_kernel; /* region of interest; 0: everything */
    uint64_t *region_from, *region_to;  /* snapshots; NULL: the whole run */
    pw_cycle region_first, region_outer;
};

/* Builds everything for the programs given (their ownership passes to the system). */
enum pw_status pw_system_create(const struct pw_config *config, const struct pw_run_spec *spec,
                                struct pw_program *programs, unsigned count, struct pw_system **out,
                                struct pw_error *err);
/* The same for programs each of which launches once, and whose launches are open ones. */
enum pw_status pw_system_create_open(const struct pw_config *config, const struct pw_run_spec *spec,
                                     struct pw_program *programs, unsigned count, const struct pw_open *open,
                                     struct pw_system **out, struct pw_error *err);
void pw_system_destroy(struct pw_system *s);

/* Runs to the end. PW_FAILED: no progress, something outstanding at the end, a check of the workload's that failed;
 * PW_INTERRUPTED: the caller's flag. */
enum pw_status pw_system_run(struct pw_system *s, struct pw_error *err);

/* The same in parts: programs begin; events run until they are stopped (s->stop) or, with a limit other than
 * PW_NEVER, everything before that has happened; all programs have ended. Without a limit no progress is PW_FAILED. */
void pw_system_begin(struct pw_system *s);
enum pw_status pw_system_go_on(struct pw_system *s, pw_cycle limit, struct pw_error *err);
enum pw_status pw_system_end(struct pw_system *s, struct pw_error *err);

/* Ends the run with an error; the first one counts. */
void pw_system_fail(struct pw_system *s, const struct pw_error *err);

/* The first node, from which an application's memory is reached, and which has all of it where paging is not free. */
static inline struct pw_node *pw_system_home(const struct pw_system *s)
{
    return &s->nodes[0];
}

/* No TLB of any node has a translation of these pages afterwards. Returns the number of entries dropped. */
unsigned pw_system_shootdown(struct pw_system *s, pw_asid asid, pw_vpn first, pw_vpn outer);
/* Warp instructions that all nodes have issued, of an application or of all. */
uint64_t pw_system_app_issued(const struct pw_system *s, unsigned app);
uint64_t pw_system_issued(const struct pw_system *s);

/* several.c: what a system with an IOMMU has beside its nodes. Made before the nodes; connected after them and before
 * what uses them. */
enum pw_status pw_several_create(struct pw_system *s, struct pw_error *err);
void pw_several_destroy(struct pw_system *s);
void pw_several_register(struct pw_system *s);
/* Connects a node with the others: its memory, and what its GPU is to know. */
void pw_several_join(struct pw_node *n);
void pw_several_wire(struct pw_node *n, struct pw_gpu_wiring *wiring);

/* app.c */
enum pw_status pw_app_create(struct pw_system *s, unsigned index, struct pw_program program, struct pw_error *err);
void pw_app_destroy(struct pw_app *a);
/* Runs all programs up to their first launch, backs their memory page by page in turn, and launches. */
void pw_apps_start(struct pw_system *s);
void pw_app_launch_done(void *node, unsigned app, pw_cycle now);
/* Puts the launch under way on the timeline. */
void pw_app_record_launch(const struct pw_app *a, pw_cycle outer);

/* app_memory.c: the calls of a program (struct pw_backend), and the rest of its memory's life. */
enum pw_status pw_app_alloc(void *app, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                            struct pw_error *err);
enum pw_status pw_app_free(void *app, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err);
enum pw_status pw_app_prefetch(void *app, uint32_t id, pw_vaddr base, struct pw_error *err);
enum pw_status pw_app_advise(void *app, uint32_t id, pw_vaddr base, unsigned advice, struct pw_error *err);
/* An allocation at an address of the caller's choice (vm/address_space.h). */
enum pw_status pw_app_alloc_at(struct pw_app *a, const char *name, pw_vaddr at, uint64_t bytes, struct pw_error *err);
/* Its pages and translations go at once. */
enum pw_status pw_app_free_now(struct pw_app *a, pw_vaddr base, struct pw_error *err);
/* Carries out what the program has freed since it last allocated or launched. */
enum pw_status pw_app_free_leaving(struct pw_app *a, struct pw_error *err);
/* The program is about to start over. */
enum pw_status pw_app_renew_memory(struct pw_app *a, struct pw_error *err);
/* Frees what programs that have started over have not taken up so far; false where there is nothing of the kind. */
bool pw_apps_give_up(struct pw_system *s);

/* contents.c: what pw_filled says is kept until the next launch, and carried out then, its pages having their
 * frames. */
enum pw_status pw_app_filled(void *app, uint32_t id, pw_vaddr base, uint64_t first, uint64_t bytes,
                             enum pw_contents how, struct pw_error *err);
void pw_contents_carry_out(struct pw_app *a);
void pw_contents_pass(struct pw_system *s, const struct pw_address_space *space, pw_vaddr from, uint64_t bytes,
                      enum pw_contents how);

/* protection.c */
enum pw_status pw_app_protect(void *app, uint32_t id, pw_vaddr base, unsigned permissions, struct pw_error *err);
/* Ends the run, since a kernel of this application did what it may not. */
void pw_app_denied(void *node, unsigned app, struct pw_denied_access access);

/* spans.c */
/* Brings every counter up to date, with what the window that ends at this border has. */
void pw_system_bring_up_to_date(struct pw_system *s, pw_cycle now, enum pw_border border);
/* The counters then; NULL: out of memory. */
uint64_t *pw_system_snapshot(struct pw_system *s, pw_cycle now, enum pw_border border);
bool pw_spans_begin(struct pw_system *s, struct pw_spans *spans, const char *name, unsigned app, unsigned index,
                    pw_cycle now);
/* False: out of memory. */
bool pw_spans_end(struct pw_system *s, struct pw_span *span, pw_cycle now, enum pw_border border);
/* Ends the last row with the run. */
bool pw_spans_end_last(struct pw_system *s, struct pw_spans *spans, pw_cycle now);
void pw_spans_release(struct pw_spans *spans);

/* allocations.c: at the end of a run, before what is left over comes to rest. Keeps what the result has to say of
 * allocations, and puts launches, batches and allocations into the log of page accesses. What the log says of an
 * application's allocations is as it was when the application first started over, or else at the end. */
enum pw_status pw_system_keep_allocations(struct pw_system *s, struct pw_error *err);
void pw_system_log_pages(struct pw_system *s);
void pw_system_log_counters(struct pw_system *s, unsigned app);
void pw_system_release_allocations(struct pw_system *s);

/* result.c: one metric in one view (sim/stats.h) between two snapshots, its name written to `name`. */
struct pw_metric pw_system_metric(const struct pw_system *s, const struct pw_stats_view *view, size_t index,
                                  const uint64_t *from, const uint64_t *to, char name[PW_SYSTEM_METRIC_CAPACITY]);
/* Checks the identities; a broken one is PW_FAILED. */
enum pw_status pw_system_result(struct pw_system *s, struct pw_options *options, const char *machine,
                                const char *design, double wall_seconds, struct pw_result **out, struct pw_error *err);

#endif
