/* All metrics of a result, for people: first the cost of translation, then unit by unit along the way of an access.
 *
 * Rows carry the metrics' own names, so that what is read here can be looked up, set beside another run or found in
 * the JSON. Hit rates and the cost of translation are derived here and stand in no file: they follow from the metrics.
 * A unit in which nothing happened is left out. Without an L2 TLB what its miss registers merge is shown with the page
 * walks. */
#include "exp/format/scope_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_CAPACITY = 128 };

static const struct {
    const char *component, *title;
} sections[] = {
    {"sm", "SMs"},
    {"l1_tlb", "L1 TLB"},
    {"l2_tlb", "L2 TLB"},
    {"walk", "Page walks"},
    {"pwc", "Page walk cache"},
    {"l1d", "L1 data cache"},
    {"l2", "L2 cache"},
    {"dram", "DRAM"},
    {"page", "Pages"},
    {"mem", "Memory"},
    {"uvm", "Demand paging"},
    {"link", "Links"},
    {"route", "Walk routing"},
    {"warp", NULL}, /* has its own table */
    {NULL, "Other"},
};

static bool is_bytes(const struct pw_metric *m)
{
    return m->unit && strcmp(m->unit, "bytes") == 0;
}

static void metric_row(struct pw_scope_table *t, const char *name)
{
    const char *unit = "";
    pw_table_cell(&t->table, name);
    for (size_t scope = 0; scope < t->count; scope++) {
        const struct pw_metric *m = pw_scope_table_find(t, scope, name);
        char number[PW_NUMBER_CAPACITY] = "";
        if (m && is_bytes(m))
            pw_format_bytes(number, m->real);
        else if (m && m->is_integer)
            pw_format_integer(number, m->integer);
        else if (m)
            pw_format_real(number, m->real);
        pw_table_cell(&t->table, number);
        if (m && m->unit && !is_bytes(m))
            unit = m->unit;
    }
    pw_table_cell(&t->table, unit);
}

static void quotient_row(struct pw_scope_table *t, const struct pw_quotient *q)
{
    if (!pw_scope_table_has(t, q->numerator) || !pw_scope_table_has(t, q->denominator))
        return;
    pw_table_cell(&t->table, q->label);
    for (size_t scope = 0; scope < t->count; scope++) {
        double value = pw_scope_table_quotient(t, scope, q);
        char number[PW_NUMBER_CAPACITY] = "-";
        if (!isnan(value))
            pw_format_real(number, value);
        pw_table_cell(&t->table, number);
    }
    pw_table_cell(&t->table, q->unit);
}

/* After "X.hits": its share of "X.lookups" or "X.accesses"; after "dram.row_hits": of all reads and writes. */
static void hit_rate_row(struct pw_scope_table *t, const char *name)
{
    if (strcmp(name, "dram.row_hits") == 0) {
        quotient_row(t, &(struct pw_quotient){"dram row hit rate", "%", 100, name, NULL, "dram.reads", "dram.writes"});
        return;
    }
    const char *point = strrchr(name, '.');
    if (!point || strcmp(point, ".hits") != 0)
        return;
    static const char *const bases[] = {"lookups", "accesses"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        char base[NAME_CAPACITY], label[NAME_CAPACITY];
        snprintf(base, sizeof base, "%.*s.%s", (int)(point - name), name, bases[i]);
        snprintf(label, sizeof label, "%.*s hit rate", (int)(point - name), name);
        quotient_row(t, &(struct pw_quotient){label, "%", 100, name, NULL, base, NULL});
    }
}

static void cost_section(struct pw_scope_table *t)
{
    static const struct pw_quotient rows[] = {
        {"L1 TLB misses per 1,000 warp instructions", "", 1000, "l1_tlb.lookups", "l1_tlb.hits", "sm.issued", NULL},
        {"L2 TLB misses per 1,000 warp instructions", "", 1000, "l2_tlb.lookups", "l2_tlb.hits", "sm.issued", NULL},
        {"page walks per 1,000 warp instructions", "", 1000, "walk.count", NULL, "sm.issued", NULL},
        {"page tables' share of DRAM traffic", "%", 100, "dram.translation.bytes", NULL, "dram.bytes", NULL},
    };
    pw_table_heading(&t->table, "Cost of translation (`pagewalk compare` sets it against an ideal TLB)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (t->l2_tlb || strcmp(rows[i].numerator, "l2_tlb.lookups") != 0)
            quotient_row(t, &rows[i]);
}

static bool in_section(const struct pw_scope_table *t, const char *name, size_t section)
{
    if (!t->l2_tlb && strncmp(name, "l2_tlb.", 7) == 0)
        name = strcmp(name, "l2_tlb.mshr_merges") == 0 ? "walk" : "warp"; /* the others count nothing */
    size_t length = strcspn(name, ".");
    for (size_t i = 0; sections[i].component; i++)
        if (strncmp(sections[i].component, name, length) == 0 && !sections[i].component[length])
            return i == section;
    return !sections[section].component;
}

/* Metrics in the order of the first scope that has them, each once. */
static void unit_section(struct pw_scope_table *t, size_t section)
{
    const struct pw_result *r = t->result;
    bool happened = false;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !happened)
            return;
        if (pass)
            pw_table_heading(&t->table, sections[section].title);
        for (size_t i = 0; i < r->metric_count; i++) {
            const char *point = strchr(r->metrics[i].name, '.');
            if (!point || !in_section(t, point + 1, section))
                continue;
            happened |= r->metrics[i].real != 0;
            size_t first = 0;
            while (first < t->count && !pw_scope_table_find(t, first, point + 1))
                first++;
            if (pass && first < t->count && pw_scope_table_find(t, first, point + 1) == &r->metrics[i]) {
                metric_row(t, point + 1);
                hit_rate_row(t, point + 1);
            }
        }
    }
}

void pw_result_units(const struct pw_result *r, struct pw_text *out)
{
    struct pw_scope_table t;
    pw_scope_table_init(&t, r, true);
    if (t.count > 1) {
        pw_table_cell(&t.table, "");
        for (size_t i = 0; i < t.count; i++)
            pw_table_cell(&t.table, t.scopes[i]);
        pw_table_cell(&t.table, "");
    }
    cost_section(&t);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].title)
            unit_section(&t, i);
    pw_table_finish(&t.table, out);
}
