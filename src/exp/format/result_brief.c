/* A result for a first look: what translation did, where data came from, and where there is demand paging or another
 * GPU, what moved. Each row has a label in plain words and says something no other row says; one in which nothing
 * happened is left out, and so is a unit that is not there. Several GPUs are one column, their sum. result_units.c has
 * every metric under its own name. */
#include "exp/format/scope_table.h"
#include "sim/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum kind {
    HEADING,
    COUNT,    /* a number of things */
    MEAN,     /* of a metric that is no count */
    BYTES,    /* of a metric */
    TIME,     /* a metric in cycles, shown in microseconds */
    SHARE,    /* a quotient in percent */
    PER_1000, /* a quotient by warp instructions */
};

/* As struct pw_quotient has them. */
struct line {
    enum kind kind;
    const char *label, *unit, *numerator, *subtrahend, *denominator, *addend;
};

static const struct line lines[] = {
    {HEADING, "Cost of translation (`pagewalk compare` sets it against an ideal TLB)", "", "", NULL, NULL, NULL},
    {SHARE, "L1 TLB hit rate", "%", "l1_tlb.hits", NULL, "l1_tlb.lookups", NULL},
    {PER_1000, "L1 TLB misses per 1,000 instructions", "", "l1_tlb.misses", NULL, "sm.issued", NULL},
    {SHARE, "L2 TLB hit rate", "%", "l2_tlb.hits", NULL, "l2_tlb.lookups", NULL},
    {PER_1000, "L2 TLB misses per 1,000 instructions", "", "l2_tlb.misses", NULL, "sm.issued", NULL},
    {SHARE, "L2 TLB misses that joined a walk", "%", "l2_tlb.mshr_merges", NULL, "l2_tlb.misses", NULL},
    {SHARE, "L2 TLB hits in the bypass cache", "%", "bypass_tlb.hits", NULL, "l2_tlb.hits", NULL},
    {SHARE, "L2 TLB hits in ranges", "%", "l2_tlb.organisation.range_hits", NULL, "l2_tlb.hits", NULL},
    {SHARE, "L2 TLB fills that were compressed", "%", "l2_tlb.organisation.compressed_fills", NULL,
     "l2_tlb.organisation.compressed_fills", "l2_tlb.organisation.uncompressible"},
    {COUNT, "page walks", "", "walk.count", NULL, NULL, NULL},
    {MEAN, "time of a page walk", "cycles", "walk.latency_mean", NULL, NULL, NULL},
    {MEAN, "of which waiting for a walker", "cycles", "walk.queue_mean", NULL, NULL, NULL},
    {SHARE, "page walk cache hit rate", "%", "pwc.hits", NULL, "pwc.lookups", NULL},
    {SHARE, "page tables' share of DRAM traffic", "%", "dram.translation.bytes", NULL, "dram.bytes", NULL},
    {COUNT, "large pages made of small ones", "", "page.coalesced", NULL, NULL, NULL},
    {COUNT, "large pages made small again", "", "page.splintered", NULL, NULL, NULL},
    {COUNT, "small pages moved to another frame", "", "page.migrated", NULL, NULL, NULL},
    {BYTES, "storage that the design adds", "", "cost.added", NULL, NULL, NULL},
    {HEADING, "Execution and memory", "", "", NULL, NULL, NULL},
    {SHARE, "cycles in which no warp could issue", "%", "sm.stall_cycles", NULL, "sm.resident_cycles", NULL},
    {SHARE, "L1 data cache hit rate", "%", "l1d.hits", NULL, "l1d.accesses", NULL},
    {MEAN, "L2 cache hit rate of data", "%", "l2.data_hit_rate", NULL, NULL, NULL},
    {BYTES, "DRAM traffic", "", "dram.bytes", NULL, NULL, NULL},
    {BYTES, "memory touched", "", "mem.touched_bytes", NULL, NULL, NULL},
    {HEADING, "Demand paging (pages of 4 KB)", "", "", NULL, NULL, NULL},
    {COUNT, "far faults", "", "uvm.far_faults", NULL, NULL, NULL},
    {TIME, "time of a far fault", "us", "uvm.fault_latency_mean", NULL, NULL, NULL},
    {COUNT, "pages moved to the GPU", "", "uvm.pages_in", NULL, NULL, NULL},
    {SHARE, "of which prefetched", "%", "uvm.pages_prefetched", NULL, "uvm.pages_in", NULL},
    {SHARE, "prefetched pages evicted unused", "%", "uvm.prefetched_evicted", NULL, "uvm.pages_prefetched", NULL},
    {COUNT, "pages evicted", "", "uvm.pages_evicted", NULL, NULL, NULL},
    {COUNT, "evicted pages that came back", "", "uvm.pages_thrashed", NULL, NULL, NULL},
    {BYTES, "from the host over the link", "", "uvm.bytes_h2d", NULL, NULL, NULL},
    {BYTES, "to the host over the link", "", "uvm.bytes_d2h", NULL, NULL, NULL},
    {BYTES, "accessed in host memory, over the link", "", "uvm.remote_bytes", NULL, NULL, NULL},
    {HEADING, "Several GPUs", "", "", NULL, NULL, NULL},
    {SHARE, "translations of pages of another GPU", "%", "route.remote", NULL, "route.remote", "route.local"},
    {MEAN, "time of a translation after an L2 TLB miss", "cycles", "route.latency_mean", NULL, NULL, NULL},
    {COUNT, "page walks at the host's IOMMU", "", "route.iommu_walks", NULL, NULL, NULL},
    {COUNT, "lines read from another GPU's memory", "", "peer.reads", NULL, NULL, NULL},
    {COUNT, "pages moved between GPUs", "", "move.pages", NULL, NULL, NULL},
    {BYTES, "sent between GPUs, and to the host", "", "fabric.bytes", NULL, NULL, NULL},
};

static double line_value(const struct pw_scope_table *t, size_t scope, const struct line *l)
{
    const struct pw_result *r = t->result;
    if (l->denominator) {
        const struct pw_quotient q = {.scale = l->kind == SHARE ? 100 : 1000,
                                      .numerator = l->numerator,
                                      .subtrahend = l->subtrahend,
                                      .denominator = l->denominator,
                                      .addend = l->addend};
        return pw_scope_table_quotient(t, scope, &q);
    }
    const struct pw_metric *m = pw_scope_table_find(t, scope, l->numerator);
    if (!m)
        return NAN;
    return l->kind == TIME && r->cycles ? m->real * r->nanoseconds / (double)r->cycles / 1000 : m->real;
}

static void format(char out[PW_NUMBER_CAPACITY], enum kind kind, double value)
{
    if (isnan(value))
        out[0] = '\0';
    else if (kind == COUNT)
        pw_format_integer(out, (uint64_t)value);
    else if (kind == BYTES)
        pw_format_bytes(out, value);
    else
        pw_format_real(out, value);
}

/* Adds the row of a line unless it is empty, after the heading if it is the section's first. */
static void add_line(struct pw_scope_table *t, const struct line *l, const char **heading)
{
    bool happened = false, hidden = !t->l2_tlb && strncmp(l->numerator, "l2_tlb.", 7) == 0;
    for (size_t scope = 0; scope < t->count; scope++) {
        double value = line_value(t, scope, l);
        happened |= !isnan(value) && value != 0;
    }
    if (!happened || hidden)
        return;
    if (*heading)
        pw_table_heading(&t->table, *heading);
    *heading = NULL;
    pw_table_cell(&t->table, l->label);
    for (size_t scope = 0; scope < t->count; scope++) {
        char number[PW_NUMBER_CAPACITY];
        format(number, l->kind, line_value(t, scope, l));
        pw_table_cell(&t->table, number);
    }
    pw_table_cell(&t->table, l->unit);
}

static const char *title(const char *scope)
{
    if (strcmp(scope, PW_SCOPE_GPUS) == 0)
        return "all GPUs";
    return pw_scope_is_gpu(scope) ? "all" : scope;
}

void pw_result_brief(const struct pw_result *r, struct pw_text *out)
{
    struct pw_scope_table t;
    const char *heading = NULL;
    pw_scope_table_init(&t, r, false);
    if (t.count > 1 || (t.count == 1 && strcmp(t.scopes[0], PW_SCOPE_GPUS) == 0)) {
        pw_table_cell(&t.table, "");
        for (size_t i = 0; i < t.count; i++)
            pw_table_cell(&t.table, title(t.scopes[i]));
        pw_table_cell(&t.table, "");
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].kind == HEADING)
            heading = lines[i].label;
        else
            add_line(&t, &lines[i], &heading);
    pw_table_finish(&t.table, out);
}
