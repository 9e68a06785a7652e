/* The numbers of a row, from the metrics of its run.
 *
 * The states of warps (gpu/breakdown.h) are gathered into causes: what a warp does by itself, its data, the queue of
 * the load-store unit, and the places where a load waits for a translation, its own or one that the queue waits for. */
#include "exp/tools/compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 4 };

/* Each in two lines over its column. */
static const struct {
    const char *name, *above, *below;
} headings[] = {
    [PW_COMPARE_CYCLES] = {"cycles", "", "cycles"},
    [PW_COMPARE_NANOSECONDS] = {"nanoseconds", "", "nanoseconds"},
    [PW_COMPARE_SLOWDOWN] = {"slowdown", "slowdown", ""},
    [PW_COMPARE_DUE] = {"due_to_translation", "% due to", "translation"},
    [PW_COMPARE_WEIGHTED_SPEEDUP] = {"weighted_speedup", "weighted", "speedup"},
    [PW_COMPARE_UNFAIRNESS] = {"unfairness", "", "unfairness"},
    [PW_COMPARE_L1_HITS] = {"l1_tlb_hit_rate", "L1 TLB", "hits %"},
    [PW_COMPARE_L2_HITS] = {"l2_tlb_hit_rate", "L2 TLB", "hits %"},
    [PW_COMPARE_WALKS] = {"walks_per_1000_instructions", "walks/1k", "instr."},
    [PW_COMPARE_MEMORY] = {"device_memory_bytes", "memory", "MiB"},
    [PW_COMPARE_TOUCHED] = {"touched_bytes", "touched", "MiB"},
    [PW_COMPARE_EVICTED] = {"pages_evicted", "pages", "evicted"},
};

static const struct {
    const char *name, *above, *below;
    bool translation;
    const char *states[MAX_STATES];
} shares[] = {
    {"compute", "", "compute", false, {"warp.issue", "warp.not_chosen", "warp.dependency", "warp.barrier"}},
    {"paused", "SMs", "paused", false, {"warp.paused"}},
    {"data", "", "data", false, {"warp.data"}},
    {"lsu", "", "LSU", false, {"warp.lsu_full", "warp.lsu"}},
    {"lsu_tlb", "behind", "TLB", true, {"warp.lsu_full_tlb", "warp.lsu_tlb"}},
    {"l1_tlb", "L1", "TLB", true, {"warp.l1_tlb"}},
    {"l2_tlb", "L2", "TLB", true, {"warp.l2_tlb"}},
    {"walk_queue", "walk", "queue", true, {"warp.walk_queue"}},
    {"walk", "page", "walk", true, {"warp.walk_memory"}},
    {"far_fault", "far", "fault", true, {"warp.far_fault"}},
};

enum { SHARES = sizeof shares / sizeof *shares };

static void add_column(struct pw_compare *c, enum pw_compare_kind kind, size_t number)
{
    c->columns[c->column_count++] = (struct pw_compare_column){kind, number};
}

static size_t ideal_reference(const struct pw_compare *c)
{
    size_t i = 0;
    while (i < c->spec.reference_count && strcmp(c->spec.references[i], "ideal-tlb") != 0)
        i++;
    return i;
}

bool pw_compare_list_columns(struct pw_compare *c)
{
    c->columns = calloc(PW_COMPARE_KIND_COUNT + c->spec.reference_count + SHARES, sizeof *c->columns);
    if (!c->columns)
        return false;
    add_column(c, PW_COMPARE_CYCLES, 0);
    add_column(c, PW_COMPARE_NANOSECONDS, 0);
    for (size_t i = 0; i < c->spec.reference_count; i++)
        add_column(c, PW_COMPARE_SLOWDOWN, i);
    if (ideal_reference(c) < c->spec.reference_count)
        add_column(c, PW_COMPARE_DUE, ideal_reference(c));
    for (unsigned kind = PW_COMPARE_WEIGHTED_SPEEDUP; c->spec.alone && kind <= PW_COMPARE_UNFAIRNESS; kind++)
        add_column(c, kind, 0);
    for (unsigned kind = PW_COMPARE_L1_HITS; kind <= PW_COMPARE_EVICTED; kind++)
        add_column(c, kind, 0);
    for (size_t i = 0; i < SHARES; i++)
        add_column(c, shares[i].translation ? PW_COMPARE_WAIT : PW_COMPARE_SHARE, i);
    return true;
}

bool pw_compare_is_share(struct pw_compare_column column)
{
    return column.kind == PW_COMPARE_SHARE || column.kind == PW_COMPARE_WAIT;
}

const char *pw_compare_column_name(struct pw_compare_column column)
{
    return pw_compare_is_share(column) ? shares[column.number].name : headings[column.kind].name;
}

const char *pw_compare_column_above(struct pw_compare_column column)
{
    return pw_compare_is_share(column) ? shares[column.number].above : headings[column.kind].above;
}

const char *pw_compare_column_below(const struct pw_compare *c, struct pw_compare_column column)
{
    if (column.kind == PW_COMPARE_SLOWDOWN)
        return c->spec.references[column.number];
    return pw_compare_is_share(column) ? shares[column.number].below : headings[column.kind].below;
}

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

/* Of a run with demand paging, else NAN. */
static double of_paging(const struct pw_stored_run *r, const char *name)
{
    double memory, value;
    bool pages = pw_stored_run_measure(r, "uvm.memory_bytes", &memory) && memory > 0;
    return pages && pw_stored_run_measure(r, name, &value) ? value : NAN;
}

static const struct pw_stored_run *run_of(const struct pw_compare *c, size_t row)
{
    return c->runs[pw_compare_job(c, row)];
}

static double slowdown(const struct pw_compare *c, size_t row, size_t reference)
{
    struct pw_compare_place place = pw_compare_place(c, row);
    place.design = c->references[reference];
    const struct pw_stored_run *mine = run_of(c, row), *other = run_of(c, pw_compare_row(c, &place));
    return mine && other && other->cycles ? (double)mine->cycles / (double)other->cycles : NAN;
}

double pw_compare_number(const struct pw_compare *c, size_t row, struct pw_compare_column column)
{
    const struct pw_stored_run *r = run_of(c, row);
    if (!r)
        return NAN;
    switch (column.kind) {
    case PW_COMPARE_CYCLES:
        return (double)r->cycles;
    case PW_COMPARE_NANOSECONDS:
        return r->nanoseconds;
    case PW_COMPARE_SLOWDOWN:
        return slowdown(c, row, column.number);
    case PW_COMPARE_DUE:
        return 1 - 1 / slowdown(c, row, column.number);
    case PW_COMPARE_WEIGHTED_SPEEDUP:
        return pw_compare_weighted_speedup(c, row);
    case PW_COMPARE_UNFAIRNESS:
        return pw_compare_unfairness(c, row);
    case PW_COMPARE_L1_HITS:
        return quotient(r, (const char *const[]){"l1_tlb.hits"}, 1, "l1_tlb.lookups");
    case PW_COMPARE_L2_HITS:
        return quotient(r, (const char *const[]){"l2_tlb.hits"}, 1, "l2_tlb.lookups");
    case PW_COMPARE_WALKS:
        return 1000 * quotient(r, (const char *const[]){"walk.count"}, 1, "sm.issued");
    case PW_COMPARE_MEMORY:
        return of_paging(r, "uvm.memory_bytes");
    case PW_COMPARE_TOUCHED:
        return of_paging(r, "mem.touched_bytes");
    case PW_COMPARE_EVICTED:
        return of_paging(r, "uvm.pages_evicted");
    default:
        return quotient(r, shares[column.number].states, MAX_STATES, "warp.resident");
    }
}

bool pw_compare_has_mean(struct pw_compare_column column)
{
    return column.kind >= PW_COMPARE_SLOWDOWN && column.kind <= PW_COMPARE_UNFAIRNESS;
}

bool pw_compare_has_means(const struct pw_compare *c)
{
    return c->spec.workload_count > 1 && (c->spec.reference_count || c->spec.alone);
}

double pw_compare_mean(const struct pw_compare *c, size_t row, struct pw_compare_column column)
{
    if (!pw_compare_has_mean(column))
        return NAN;
    if (column.kind == PW_COMPARE_DUE)
        return 1 - 1 / pw_compare_mean(c, row, (struct pw_compare_column){PW_COMPARE_SLOWDOWN, column.number});
    struct pw_compare_place place = pw_compare_place(c, row);
    double logarithms = 0;
    for (place.workload = 0; place.workload < c->spec.workload_count; place.workload++)
        logarithms += log(pw_compare_number(c, pw_compare_row(c, &place), column));
    return exp(logarithms / (double)c->spec.workload_count);
}
