/* Comparisons for tests: gpu-mmu against ideal-tlb unless the test says otherwise, and runs that have only cycles. */
#ifndef PW_TESTS_COMPARISON_H
#define PW_TESTS_COMPARISON_H

#include "exp/tools/compare_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__})

static const uint64_t one_seed[] = {1};

/* gpu-mmu against ideal-tlb on mosaic, to be changed by the test. */
static inline struct pw_compare_spec simple(void)
{
    static const char *const machines[] = {"mosaic"}, *const designs[] = {"gpu-mmu"},
                             *const references[] = {"ideal-tlb"}, *const workloads[] = {"vecadd:n=1k"};
    return (struct pw_compare_spec){.machines = machines,
                                    .machine_count = 1,
                                    .designs = designs,
                                    .design_count = 1,
                                    .references = references,
                                    .reference_count = 1,
                                    .workloads = workloads,
                                    .workload_count = 1,
                                    .seeds = one_seed,
                                    .seed_count = 1};
}

static inline struct pw_compare *create(const struct pw_compare_spec *spec)
{
    struct pw_compare *c;
    struct pw_error err = {0};
    if (pw_compare_create(spec, &c, &err) != PW_OK)
        fail_msg("%s", err.message);
    return c;
}

/* Runs with these cycles, or none for 0, until let_go. */
static inline struct pw_stored_run *give_cycles(struct pw_compare *c, const uint64_t *cycles, size_t count)
{
    struct pw_stored_run *runs = calloc(c->job_count, sizeof *runs);
    assert_non_null(runs);
    assert_int_equal(c->row_count, count);
    for (size_t row = 0; row < count; row++) {
        size_t job = pw_compare_job(c, row);
        runs[job].cycles = cycles[row];
        c->runs[job] = cycles[row] ? &runs[job] : NULL;
    }
    return runs;
}

static inline void let_go(struct pw_compare *c, struct pw_stored_run *runs)
{
    memset(c->runs, 0, c->job_count * sizeof(struct pw_stored_run *));
    free(runs);
    pw_compare_destroy(c);
}

#endif
