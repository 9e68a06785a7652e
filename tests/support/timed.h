/* Runs of the whole machine for tests: a kernel written in the test on any machine, design and options.
 *
 * A kernel can only emit operations, so a test reads total cycles and counters. The clock starts with the host program;
 * a launch at cycle t dispatches its first CTAs at t + gpu.launch_latency, where their first instructions issue, and a
 * launch ends in the cycle in which its last exit issues and its last store has reached the L2. A run of one launch
 * with one warp therefore takes launch_latency plus the time until that warp's exit can issue. */
#ifndef PW_TESTS_TIMED_H
#define PW_TESTS_TIMED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/memory_map.h"
#include "system/catalog.h"
#include "system/system.h"

#include <stdlib.h>
#include <string.h>

enum { TIMED_SETS = 24, TIMED_NEIGHBOURS = 7 };

struct timed {
    /* What to run. Names that are NULL mean mosaic and gpu-mmu; numbers that are 0 one CTA of one warp, one launch. */
    const char *machine, *design;
    const char *sets[TIMED_SETS]; /* "key=value" */
    pw_page_orders orders;        /* 0: only the page size that is mapped */
    uint64_t bytes;               /* of the array a; 0: 1 MiB */
    uint32_t ctas, threads, launches, shared_bytes, registers, pace;
    void (*kernel)(struct pw_warp *w, struct timed *t);
    void (*prepare)(struct timed *t);                 /* or NULL: after the allocation, before the first launch */
    void (*body)(struct pw_host *h, struct timed *t); /* or NULL: allocate a, launch the kernel */
    const char *program;                              /* or NULL: a built-in workload instead, "NAME:key=value" */
    struct timed *neighbours[TIMED_NEIGHBOURS];       /* programs that share the GPU; of each only the program counts */
    uint64_t n[8];                                    /* the test's own */
    void *data;

    /* What came out. */
    unsigned app;
    uint32_t launch; /* the present one, from 0 */
    struct pw_array a;
    struct pw_config config;
    struct pw_system *system;
    pw_cycle cycles;
    struct pw_error err;

    struct pw_options *options;
    struct pw_workload workload;
    struct pw_run_spec spec;
};

static const struct pw_option timed_no_options[] = {{0}};

static inline void timed_kernel(struct pw_warp *w, const void *arguments)
{
    struct timed *t = *(struct timed *const *)arguments;
    t->kernel(w, t);
}

static inline void timed_launch(struct pw_host *h, struct timed *t)
{
    struct timed **box = pw_host_keep(h, sizeof *box);
    *box = t;
    pw_launch(h, &(struct pw_launch){.name = "test",
                                     .grid = {t->ctas ? t->ctas : 1, 1, 1},
                                     .block = {t->threads ? t->threads : PW_WARP_LANES, 1, 1},
                                     .shared_bytes = t->shared_bytes,
                                     .registers = t->registers,
                                     .pace = t->pace,
                                     .kernel = timed_kernel,
                                     .arguments = box});
}

/* Gives the pages of everything allocated so far their frames, as the next launch would. */
static inline void timed_back(struct timed *t)
{
    unsigned failed;
    assert_int_equal(pw_address_spaces_back(&t->system->spaces[t->app], 1, &failed, &t->err), PW_OK);
}

static inline void timed_main(struct pw_host *h, const void *parameters)
{
    struct timed *t = *(struct timed *const *)parameters;
    if (t->body) {
        t->body(h, t);
        return;
    }
    t->a = pw_alloc(h, "a", t->bytes ? t->bytes : 1 << 20, 1);
    if (t->prepare) {
        timed_back(t);
        t->prepare(t);
    }
    for (t->launch = 0; t->launch < (t->launches ? t->launches : 1); t->launch++)
        timed_launch(h, t);
}

/* Options and configuration of a run, for tests that only want to look at them. */
static inline void timed_configure(struct timed *t)
{
    char names[64];
    assert_int_equal(pw_config_create(&t->config, &t->options, &t->err), PW_OK);
    assert_int_equal(pw_catalog_apply_machine(t->options, t->machine ? t->machine : "mosaic", &t->err), PW_OK);
    assert_int_equal(
        pw_catalog_apply_designs(t->options, t->design ? t->design : "gpu-mmu", names, sizeof names, &t->err), PW_OK);
    for (size_t i = 0; i < TIMED_SETS && t->sets[i]; i++)
        if (pw_options_set_pair(t->options, t->sets[i], "test", &t->err) != PW_OK)
            fail_msg("%s", t->err.message);
    assert_int_equal(pw_config_finish(&t->config, t->options, &t->err), PW_OK);
    if (t->orders)
        t->config.gpu.orders = t->orders;
}

/* A program whose main is timed_main. */
static inline struct pw_program timed_program(struct timed *t)
{
    struct timed **box = malloc(sizeof *box);
    assert_non_null(box);
    *box = t;
    t->workload = (struct pw_workload){.name = "test",
                                       .suite = "test",
                                       .summary = "",
                                       .parameters = timed_no_options,
                                       .parameters_bytes = sizeof *box,
                                       .main = timed_main};
    return (struct pw_program){.workload = &t->workload, .parameters = box, .scale = 1, .text = "test"};
}

/* The program and those of its neighbours; returns how many. */
static inline unsigned timed_programs(struct timed *t, struct pw_program *out)
{
    unsigned count = 0;
    for (struct timed *app = t; app; app = count <= TIMED_NEIGHBOURS ? t->neighbours[count - 1] : NULL) {
        app->app = count;
        if (!app->program)
            out[count] = timed_program(app);
        else if (pw_program_parse(app->program, &out[count], &t->err) != PW_OK)
            fail_msg("%s", t->err.message);
        count++;
    }
    return count;
}

/* Runs; the caller looks at the status and at t->err, and calls timed_end. */
static inline enum pw_status timed_try(struct timed *t)
{
    struct pw_program programs[1 + TIMED_NEIGHBOURS];
    timed_configure(t);
    unsigned count = timed_programs(t, programs);
    if (pw_system_create(&t->config, &t->spec, programs, count, &t->system, &t->err) != PW_OK)
        fail_msg("%s", t->err.message);
    for (unsigned i = 1; i < count; i++)
        t->neighbours[i - 1]->system = t->system;
    enum pw_status status = pw_system_run(t->system, &t->err);
    t->cycles = t->system->end;
    return status;
}

static inline void timed_end(struct timed *t)
{
    pw_system_destroy(t->system);
    pw_options_destroy(t->options);
    t->system = NULL;
    t->options = NULL;
}

/* Runs to a good end and checks every identity; the system stays for its counters until timed_end. */
static inline pw_cycle timed_run(struct timed *t)
{
    if (timed_try(t) != PW_OK)
        fail_msg("%s", t->err.message);
    for (size_t i = 0; i < pw_stats_identity_count(t->system->stats); i++)
        if (pw_stats_identity_run(t->system->stats, i, &t->err) != PW_OK)
            fail_msg("%s", t->err.message);
    return t->cycles;
}

/* Runs a copy and gives its cycles. */
static inline pw_cycle timed_cycles(struct timed t)
{
    pw_cycle cycles = timed_run(&t);
    timed_end(&t);
    return cycles;
}

static inline size_t timed_index(const struct timed *t, const char *metric)
{
    int index = pw_stats_find(t->system->stats, metric);
    if (index < 0)
        fail_msg("there is no metric %s", metric);
    return (size_t)index;
}

/* A counter of the registry's, from the beginning until now. */
static inline uint64_t count_until_now(const struct pw_stats *stats, const char *metric)
{
    uint64_t *now = calloc(pw_stats_raw_count(stats), sizeof *now);
    assert_non_null(now);
    pw_stats_snapshot(stats, now);
    uint64_t value = pw_stats_exact(stats, (size_t)pw_stats_find(stats, metric), -1, NULL, now);
    free(now);
    return value;
}

static inline uint64_t timed_count(const struct timed *t, const char *metric)
{
    return pw_stats_exact(t->system->stats, timed_index(t, metric), -1, NULL, t->system->region_to);
}

static inline double timed_value(const struct timed *t, const char *metric)
{
    return pw_stats_value(t->system->stats, timed_index(t, metric), -1, NULL, t->system->region_to);
}

/* Of one application's launch, numbered from 1 over all of its runs. */
static inline const struct pw_span *timed_span(const struct timed *t, unsigned app, unsigned launch)
{
    for (size_t i = 0; i < t->system->kernels.count; i++)
        if (t->system->kernels.rows[i].app == app && t->system->kernels.rows[i].index == launch)
            return &t->system->kernels.rows[i];
    fail_msg("app%u has no launch %u", app, launch);
    return NULL;
}

static inline uint64_t timed_launch_count(const struct timed *t, unsigned app, unsigned launch, const char *metric)
{
    const struct pw_span *span = timed_span(t, app, launch);
    assert_non_null(span->to);
    return pw_stats_exact(t->system->stats, timed_index(t, metric), (int)app, span->from, span->to);
}

/* Cycles that walks took altogether. */
static inline uint64_t timed_walk_cycles(const struct timed *t)
{
    return (uint64_t)(timed_value(t, "walk.latency_mean") * (double)timed_count(t, "walk.finished") + 0.5);
}

/* One lane loads (stores) four bytes of the array. */
static inline void timed_load(struct pw_warp *w, const struct timed *t, uint64_t byte)
{
    pw_access_affine(w, PW_OP_LOAD, 1, t->a.base.v + byte, 0, 4);
}

static inline void timed_store(struct pw_warp *w, const struct timed *t, uint64_t byte)
{
    pw_access_affine(w, PW_OP_STORE, 1, t->a.base.v + byte, 0, 4);
}

/* Loads it and waits for it. */
static inline void timed_fetch(struct pw_warp *w, const struct timed *t, uint64_t byte)
{
    timed_load(w, t, byte);
    pw_use(w);
}

/* Loads of the places listed in t->data, t->n[0] of them, one after the other. */
static inline void timed_chain(struct pw_warp *w, struct timed *t)
{
    const uint64_t *bytes = t->data;
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, bytes[i]);
}

/* What load number `last`, from 0, of a chain adds to the run. */
static inline pw_cycle timed_cost_of_last(struct timed t, uint64_t last)
{
    t.kernel = timed_chain;
    t.n[0] = last;
    pw_cycle before = timed_cycles(t);
    t.n[0] = last + 1;
    return timed_cycles(t) - before;
}

/* `count` lanes, `step` bytes apart. */
static inline void timed_load_lanes(struct pw_warp *w, const struct timed *t, uint64_t byte, uint32_t count,
                                    int64_t step)
{
    pw_access_affine(w, PW_OP_LOAD, (uint32_t)((1ULL << count) - 1), t->a.base.v + byte, step, 4);
}

/* Where a byte of the array lies, once it is allocated. */
static inline uint64_t timed_physical(const struct timed *t, uint64_t byte)
{
    uint64_t address = t->a.base.v + byte;
    struct pw_translation where = pw_page_table_lookup(t->system->spaces[t->app].table, pw_vpn_of((pw_vaddr){address}));
    assert_true(where.present);
    return pw_paddr_in(where.frame, (pw_vaddr){address}).v;
}

static inline uint32_t timed_line(const struct timed *t, uint64_t byte)
{
    return (uint32_t)(timed_physical(t, byte) >> PW_LINE_SHIFT);
}

static inline struct pw_memory_map timed_map(const struct timed *t)
{
    return pw_memory_map_of(t->config.gpu.dram.channels, t->config.gpu.l2.slices, t->config.gpu.dram.interleave);
}

/* The first byte of a line within a 4 KiB page of the array that lies in this L2 slice. */
static inline uint64_t timed_byte_in_slice(const struct timed *t, uint64_t page, uint32_t slice)
{
    struct pw_memory_map map = timed_map(t);
    for (uint64_t byte = page * PW_PAGE_BYTES; byte < (page + 1) * PW_PAGE_BYTES; byte += PW_LINE_BYTES)
        if (pw_place_of(&map, timed_line(t, byte)).slice == slice)
            return byte;
    fail_msg("page %llu has no line in slice %u", (unsigned long long)page, slice);
    return 0;
}

#endif
