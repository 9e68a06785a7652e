/* pagewalk: the library's public interface.
 *
 * One call simulates one run: a machine, a design laid over it, a workload. The library never prints and never exits;
 * whatever goes wrong comes back as a status and a message. */
#ifndef PAGEWALK_H
#define PAGEWALK_H

#include "pagewalk/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *pw_version(void);

/* "0.1.0+1a2b3c4d5e6f": the release and a digest of the sources that decide results (all but experiments and command
 * line; comments and layout do not count). Two programs with the same core version give the same bits for the same
 * options, workload and seed. */
const char *pw_core_version(void);

/* What a run has done so far; handed to the progress callback about ten times a second. */
struct pw_progress {
    double fraction; /* of the planned launches, 0 to 1; negative when unknown */
    uint64_t cycles, warp_instructions;
    double wall_seconds;
    const char *kernel;
    const char *phase; /* what goes before the run itself, such as "first pass"; NULL: the run */
};

/* Numbers that are 0 and pointers that are NULL mean the default. */
struct pw_run_spec {
    const char *machine;     /* names or files, joined by '+': later ones change earlier ones */
    const char *design;      /* names or files, joined by '+' */
    const char *workload;    /* "HS", "HS:side=512:iterations=3"; several applications, perhaps with the SMs of each:
                              * "HS,MM:scale=2@20+10" */
    const char *const *sets; /* "key=value" */
    size_t set_count;
    uint64_t seed;           /* default 1 */
    bool alone;              /* also run each application alone, for weighted speedup and unfairness */
    bool verify;             /* also check the workload's result against a sequential implementation */
    bool breakdown;          /* also keep where the time of warps goes (docs/breakdown.md) */
    uint64_t interval;       /* cycles between interval rows; 0: none */
    uint64_t warmup;         /* cycles that do not count in the metrics */
    uint64_t limit_cycles;   /* a run that takes more ends with PW_STOPPED and without a result; 0: none */
    const char *kernels;     /* launches that count, "3" or "2-5", from 1; NULL: all */
    const char *timeline;    /* a file for what happened when, in Chrome's trace event format; NULL: none */
    uint64_t timeline_limit; /* events in it; default a million */
    const char *pages;       /* a file for which pages were accessed when (docs/pages.md); NULL: none */
    uint64_t pages_interval; /* cycles in which a page is recorded once; default 10,000 */
    uint64_t pages_limit;    /* accesses in it, and fault batches; default a million of each */
    void (*progress)(void *context, const struct pw_progress *p);
    void *progress_context;
    const volatile bool *interrupted; /* polled; when it becomes true the run ends with PW_INTERRUPTED */
    const char *command;              /* how the run was asked for; kept in the result and not looked at */
};

/* The scope of a metric is the part of its name before the first point: one GPU ("gpu0"), one application on all
 * GPUs ("app0"), or, where there are several, all GPUs together ("gpus"): the sum, of a ratio the ratio of sums.
 * What belongs to no GPU, such as memory allocated, is with all of them. One GPU is all of them: it has everything
 * and there is no "gpus". */
struct pw_metric {
    const char *name; /* "gpu0.l1_tlb.hits", "app0.l1_tlb.hits" */
    const char *unit;
    bool is_integer;
    uint64_t integer;
    double real; /* set for both kinds */
};

struct pw_identity_result {
    const char *name;
    bool holds;
};

struct pw_option_value {
    const char *name, *value, *origin;
};

struct pw_app_result {
    const char *name; /* as given, with parameters */
    uint64_t warp_instructions, cycles;
    double ipc;
    double ipc_alone; /* on as many SMs, with design gpu-mmu and no neighbour; 0 unless asked for */
    unsigned sms;
    unsigned checks; /* that held, with verify */
};

/* A managed allocation, or several of the same name: what demand paging did to it. The counters are those of the
 * metrics uvm.NAME, and of all allocations of an application add up to them, over the whole run. Pages are of 4 KiB. */
struct pw_allocation_result {
    const char *name;
    unsigned app;
    uint64_t count; /* how often it was allocated */
    uint64_t bytes; /* of the largest of them */
    uint64_t pages; /* of that one, with what the prefetcher rounds up to */
    uint64_t far_faults, pages_in, pages_prefetched;
    uint64_t prefetched_used, prefetched_evicted, prefetched_resident; /* the last two were no use so far */
    uint64_t pages_evicted, pages_written, pages_thrashed;
};

/* A state of warps, and the cycles that an application's warps spent in it. Those of all states add up to the cycles
 * that its warps were resident. */
struct pw_breakdown_row {
    unsigned app;
    const char *state; /* "issue", "walk_queue"; also the metric warp.STATE */
    uint64_t cycles;
    double percent; /* of the application's */
};

/* One row per kernel launch or per interval. */
struct pw_window {
    const char *name; /* of the kernel; NULL for an interval */
    unsigned app, index;
    uint64_t first_cycle, outer_cycle;
    const double *values; /* as metric_names */
};

/* How a result was made, beside machine, design, options, workload and seed. */
struct pw_made {
    const char *core_version;
    const char *command; /* as the specification has it; NULL: none */
    const char *note;    /* what one should know of the machine: what is assumed; NULL: nothing */
    const char *kernels; /* launches that count; NULL: all */
    uint64_t warmup;     /* cycles that do not */
    uint64_t interval;   /* cycles between interval rows; 0: none */
    bool alone, breakdown;
};

struct pw_result {
    uint64_t seed, cycles;
    double nanoseconds;
    const char *machine, *design;
    /* Over all applications: the sum of their IPC; and, where they were run alone too, the sum of IPC / IPC alone and
     * the largest IPC alone / IPC (0 otherwise). */
    double ipc_throughput, weighted_speedup, unfairness;
    size_t app_count;
    struct pw_app_result *apps;
    size_t allocation_count; /* 0 where memory is not managed */
    struct pw_allocation_result *allocations;
    size_t breakdown_count; /* 0 unless asked for; application by application, the states in the same order */
    struct pw_breakdown_row *breakdown;
    size_t option_count;
    struct pw_option_value *options;
    size_t metric_count;
    struct pw_metric *metrics;
    size_t identity_count;
    struct pw_identity_result *identities;
    size_t window_metric_count;
    const char **window_metrics; /* names of the values in a window, "l1_tlb.hits" */
    size_t kernel_count, interval_count;
    struct pw_window *kernels, *intervals;
    struct pw_made made;
    /* Of the host; everything above is the same for the same inputs. */
    double wall_seconds;
    uint64_t peak_rss_bytes, events, memory_operations;
};

/* Visits one line for each option that the specification sets and that cannot have an effect on its run, such as "--set
 * walk.latency=300 has no effect because walk.model is memory". Simulates nothing. */
typedef void pw_notice_visit(void *context, const char *message);
enum pw_status pw_run_notices(const struct pw_run_spec *spec, pw_notice_visit *visit, void *context,
                              struct pw_error *err);

/* Simulates. On PW_OK *out is the caller's to free. */
enum pw_status pw_run(const struct pw_run_spec *spec, struct pw_result **out, struct pw_error *err);
void pw_result_free(struct pw_result *r);

/* A workload's parameter and its present value. */
struct pw_workload_parameter {
    const char *name, *value;
    const char *fallback, *range, *unit, *summary; /* default, range and unit as texts, "" where there is none */
};

/* A named size, chosen with NAME:size=…, and what it stands for. */
struct pw_workload_size {
    const char *name, *parameters;
};

/* What a program does, found by running it without time: CTA after CTA, warp by warp up to each barrier. Pages are of
 * 4 KiB, lines of 128 bytes. */
struct pw_profile_spec {
    const char *workload; /* "HS", "HS:side=512:iterations=3"; several applications: "HS,MM:scale=2" */
    uint64_t seed;        /* 0: the default, 1 */
    void (*progress)(void *context, const struct pw_progress *p);
    void *progress_context;
    const volatile bool *interrupted; /* polled; when it becomes true the call ends with PW_INTERRUPTED */
};

/* A kernel that accesses an allocation. */
struct pw_profile_use {
    const char *kernel;
    uint64_t launches, accesses; /* of its launches those that do; memory instructions */
};

struct pw_profile_allocation {
    const char *name;
    uint64_t address, bytes, pages_touched;
    uint64_t launches_before;     /* it was allocated */
    uint64_t launches_until_free; /* launches before it was freed; UINT64_MAX: not freed */
    /* As the program that was recorded made it; built-in programs have managed memory. */
    const char *memory;      /* "managed", "device", "host", "inferred"; "several": allocations of several kinds */
    uint64_t recorded_bytes; /* without what lies between those that share pages */
    uint32_t order, members; /* place of the first among those of its kind, from 1; how many are one here */
    bool has_name;           /* else its name is an address of the recorded run */
    bool written;            /* by a kernel */
    uint64_t launches, first_launch, last_launch; /* that access it, from 1 */
    size_t kernel_count;
    const struct pw_profile_use *kernels; /* the one with the most accesses first */
};

/* Launches that follow one another with the same kernel and geometry. */
struct pw_profile_launch {
    const char *name;
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t count, warp_instructions, memory_instructions;
};

struct pw_profile_slice {
    uint64_t pages, new_pages; /* distinct; of them never touched before */
};

enum { PW_REUSE_BUCKETS = 40 };

struct pw_profile {
    const char *workload; /* "HS", "HS:side=512:iterations=3"; several applications: "HS,MM:scale=2" */
    const char *name, *suite, *papers, *summary;
    uint64_t seed;
    size_t parameter_count, size_count;
    const struct pw_workload_parameter *parameters;
    const struct pw_workload_size *sizes;
    size_t allocation_count, launch_count;
    struct pw_profile_allocation *allocations;
    struct pw_profile_launch *launches;
    uint64_t allocated_bytes, peak_bytes; /* in all; at one time */
    uint64_t passes;                      /* over the data, as far as the program was not cut */
    const char *passes_parameter;         /* that says how many there are; "": there is one, or none is ever cut */
    uint64_t kernel_launches, ctas, warps, warp_instructions;
    uint64_t memory_instructions, loads, stores, atomics;
    uint64_t lanes, lines, pages; /* that memory instructions touch, summed over them */
    uint64_t distinct_pages;
    /* Touches of a page by the number of other pages touched since its last touch: [0] none, [k] from 2^(k-1) to below
     * 2^k. First touches, distinct_pages many, are in none of them. */
    uint64_t reuse[PW_REUSE_BUCKETS];
    uint64_t slice_instructions; /* warp instructions of a slice; a power of two */
    size_t slice_count;
    struct pw_profile_slice *slices;
};

/* On PW_OK *out is the caller's to free. */
enum pw_status pw_workload_profile(const struct pw_profile_spec *spec, struct pw_profile **out, struct pw_error *err);
void pw_profile_free(struct pw_profile *p);

/* What there is, for listings. Each visit is called once per entry; aliases joined by spaces. */
struct pw_listing {
    const char *name, *summary, *detail; /* detail: aliases, suite, unit, family, … or "" */
    const char *value, *range;           /* options: default and range; machines: what is assumed; else "" */
    const char *effect;                  /* options: what must hold for them to have an effect, or ""; else NULL */
    const char *papers;                  /* workloads: that use it, joined by spaces; else NULL */
    size_t parameter_count, size_count;  /* workloads; else 0 */
    const struct pw_workload_parameter *parameters;
    const struct pw_workload_size *sizes;
};
typedef void pw_list_visit(void *context, const struct pw_listing *entry);
enum pw_list_kind {
    PW_LIST_MACHINES,
    PW_LIST_DESIGNS,
    PW_LIST_WORKLOADS,
    PW_LIST_POLICIES,
    PW_LIST_OPTIONS,
    PW_LIST_METRICS,
    PW_LIST_KIND_COUNT
};
enum pw_status pw_list(enum pw_list_kind kind, pw_list_visit *visit, void *context, struct pw_error *err);

/* What each design costs on a machine (NULL: mosaic) in storage: the metrics cost.* that its runs have. */
struct pw_cost_listing {
    const char *design, *metric, *unit, *summary;
    double value;
    bool is_structure; /* of a policy; the others are sums, and what they are compared with */
};
typedef void pw_cost_visit(void *context, const struct pw_cost_listing *entry);
enum pw_status pw_list_costs(const char *machine, pw_cost_visit *visit, void *context, struct pw_error *err);

#ifdef __cplusplus
}
#endif

#endif
