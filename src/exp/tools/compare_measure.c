/* The numbers of a row, from the metrics of its run.
 *
 * The states of warps (gpu/breakdown.h) are gathered into causes: what a warp does by itself, its data, and the places
 * where a load waits for its translation. The load-store unit stands between them. It is blocked by translation as well
 * as by data, and only the comparison with a TLB that never misses says by which. */
#include "exp/tools/compare.h"

#include <math.h>

enum { MAX_STATES = 4 };

static const char *const states[PW_COMPARE_MEASURE_COUNT - PW_COMPARE_FIRST_SHARE][MAX_STATES] = {
    {"warp.issue", "warp.not_chosen", "warp.dependency", "warp.barrier"},
    {"warp.paused"},
    {"warp.data"},
    {"warp.lsu_full", "warp.lsu"},
    {"warp.l1_tlb"},
    {"warp.l2_tlb"},
    {"warp.walk_queue"},
    {"warp.walk_memory"},
    {"warp.far_fault"},
};

const struct pw_compare_measure_name pw_compare_measures[PW_COMPARE_MEASURE_COUNT] = {
    {"l1_tlb_hit_rate", "L1 TLB", "hits %"},
    {"l2_tlb_hit_rate", "L2 TLB", "hits %"},
    {"walks_per_1000_instructions", "walks/1k", "instr."},
    {"share.compute", "", "compute"},
    {"share.paused", "SMs", "paused"},
    {"share.data", "", "data"},
    {"share.lsu", "", "LSU"},
    {"share.l1_tlb", "L1", "TLB"},
    {"share.l2_tlb", "L2", "TLB"},
    {"share.walk_queue", "walk", "queue"},
    {"share.walk", "page", "walk"},
    {"share.far_fault", "far", "fault"},
};

/* The sum of some metrics by another; NAN when one is not there or the other is 0. */
static double quotient(const struct pw_stored_run *r, const char *const *names, size_t count, const char *below)
{
    double sum = 0, whole = 0, value;
    for (size_t i = 0; i < count && names[i]; i++) {
        if (!pw_stored_run_measure(r, names[i], &value))
            return NAN;
        sum += value;
    }
    return pw_stored_run_measure(r, below, &whole) && whole > 0 ? sum / whole : NAN;
}

static const struct pw_stored_run *run_of(const struct pw_compare *c, size_t row)
{
    return c->runs[pw_compare_job(c, row)];
}

double pw_compare_measure(const struct pw_compare *c, size_t row, enum pw_compare_measure measure)
{
    const struct pw_stored_run *r = run_of(c, row);
    if (!r)
        return NAN;
    switch (measure) {
    case PW_COMPARE_L1_HITS:
        return quotient(r, (const char *const[]){"l1_tlb.hits"}, 1, "l1_tlb.lookups");
    case PW_COMPARE_L2_HITS:
        return quotient(r, (const char *const[]){"l2_tlb.hits"}, 1, "l2_tlb.lookups");
    case PW_COMPARE_WALKS:
        return 1000 * quotient(r, (const char *const[]){"walk.count"}, 1, "sm.issued");
    default:
        return quotient(r, states[measure - PW_COMPARE_FIRST_SHARE], MAX_STATES, "warp.resident");
    }
}

double pw_compare_slowdown(const struct pw_compare *c, size_t row, size_t reference)
{
    struct pw_compare_place place = pw_compare_place(c, row);
    place.design = c->references[reference];
    const struct pw_stored_run *mine = run_of(c, row), *other = run_of(c, pw_compare_row(c, &place));
    return mine && other && other->cycles ? (double)mine->cycles / (double)other->cycles : NAN;
}

double pw_compare_mean_slowdown(const struct pw_compare *c, size_t row, size_t reference)
{
    struct pw_compare_place place = pw_compare_place(c, row);
    double logarithms = 0;
    for (place.workload = 0; place.workload < c->spec.workload_count; place.workload++)
        logarithms += log(pw_compare_slowdown(c, pw_compare_row(c, &place), reference));
    return exp(logarithms / (double)c->spec.workload_count);
}
