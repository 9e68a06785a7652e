/* A result for people: applications first, where their warps' time went if that was asked for, then the cost of
 * translation, then unit by unit along the way of an access.
 *
 * Rows carry the metrics' own names, so that what is read here can be looked up, set beside another run or found in
 * the JSON. Hit rates and the cost of translation are derived here and stand in no file: they follow from the metrics.
 * With one application its own column would repeat the machine's and is left out, as is a unit in which nothing
 * happened. Without an L2 TLB what its miss registers merge is shown with the page walks. */
#include "exp/format/result.h"
#include "exp/format/table.h"
#include "sim/scope.h"
#include "sim/types.h"

#include <stdio.h>
#include <string.h>

enum { SCOPE_CAPACITY = 24, MAX_SCOPES = PW_TABLE_MAX_COLUMNS - 2, NAME_CAPACITY = 128 };

struct view {
    const struct pw_result *result;
    size_t scope_count;
    char scopes[MAX_SCOPES][SCOPE_CAPACITY]; /* "gpu0", "app1" */
    struct pw_table table;
    bool l2_tlb; /* there is one */
};

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

static void find_scopes(struct view *v)
{
    const struct pw_result *r = v->result;
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *name = r->metrics[i].name;
        size_t length = strcspn(name, ".");
        if (!name[length] || length >= SCOPE_CAPACITY || (r->app_count == 1 && pw_scope_is_app(name)))
            continue;
        size_t k = 0;
        while (k < v->scope_count && (strncmp(v->scopes[k], name, length) != 0 || v->scopes[k][length]))
            k++;
        if (k == v->scope_count && k < MAX_SCOPES)
            snprintf(v->scopes[v->scope_count++], SCOPE_CAPACITY, "%.*s", (int)length, name);
    }
}

/* The metric `name` (without scope) in scope `scope`, or NULL. */
static const struct pw_metric *find(const struct view *v, size_t scope, const char *name)
{
    size_t length = strlen(v->scopes[scope]);
    for (size_t i = 0; i < v->result->metric_count; i++) {
        const struct pw_metric *m = &v->result->metrics[i];
        if (strncmp(m->name, v->scopes[scope], length) == 0 && m->name[length] == '.' &&
            strcmp(m->name + length + 1, name) == 0)
            return m;
    }
    return NULL;
}

static double value(const struct view *v, size_t scope, const char *name)
{
    const struct pw_metric *m = find(v, scope, name);
    return m ? m->real : 0;
}

static bool exists(const struct view *v, const char *name)
{
    for (size_t scope = 0; scope < v->scope_count; scope++)
        if (find(v, scope, name))
            return true;
    return false;
}

static bool is_bytes(const struct pw_metric *m)
{
    return m->unit && strcmp(m->unit, "bytes") == 0;
}

static void metric_row(struct view *v, const char *name)
{
    const char *unit = "";
    pw_table_cell(&v->table, name);
    for (size_t scope = 0; scope < v->scope_count; scope++) {
        const struct pw_metric *m = find(v, scope, name);
        char number[PW_NUMBER_CAPACITY] = "";
        if (m && is_bytes(m))
            pw_format_bytes(number, m->real);
        else if (m && m->is_integer)
            pw_format_integer(number, m->integer);
        else if (m)
            pw_format_real(number, m->real);
        pw_table_cell(&v->table, number);
        if (m && m->unit && !is_bytes(m))
            unit = m->unit;
    }
    pw_table_cell(&v->table, unit);
}

/* scale * (numerator - subtrahend) / (denominator + addend); subtrahend and addend may be NULL. */
struct quotient {
    const char *label, *unit;
    double scale;
    const char *numerator, *subtrahend, *denominator, *addend;
};

static void quotient_row(struct view *v, const struct quotient *q)
{
    if (!exists(v, q->numerator) || !exists(v, q->denominator))
        return;
    pw_table_cell(&v->table, q->label);
    for (size_t scope = 0; scope < v->scope_count; scope++) {
        double above = value(v, scope, q->numerator) - (q->subtrahend ? value(v, scope, q->subtrahend) : 0);
        double below = value(v, scope, q->denominator) + (q->addend ? value(v, scope, q->addend) : 0);
        char number[PW_NUMBER_CAPACITY] = "-";
        if (below > 0)
            pw_format_real(number, q->scale * above / below);
        pw_table_cell(&v->table, number);
    }
    pw_table_cell(&v->table, q->unit);
}

/* After "X.hits": its share of "X.lookups" or "X.accesses"; after "dram.row_hits": of all reads and writes. */
static void hit_rate_row(struct view *v, const char *name)
{
    if (strcmp(name, "dram.row_hits") == 0) {
        quotient_row(v, &(struct quotient){"dram row hit rate", "%", 100, name, NULL, "dram.reads", "dram.writes"});
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
        quotient_row(v, &(struct quotient){label, "%", 100, name, NULL, base, NULL});
    }
}

static void cost_section(struct view *v)
{
    static const struct quotient rows[] = {
        {"L1 TLB misses per 1,000 warp instructions", "", 1000, "l1_tlb.lookups", "l1_tlb.hits", "sm.issued", NULL},
        {"L2 TLB misses per 1,000 warp instructions", "", 1000, "l2_tlb.lookups", "l2_tlb.hits", "sm.issued", NULL},
        {"page walks per 1,000 warp instructions", "", 1000, "walk.count", NULL, "sm.issued", NULL},
        {"page tables' share of DRAM traffic", "%", 100, "dram.translation.bytes", NULL, "dram.bytes", NULL},
    };
    pw_table_heading(&v->table, "Cost of translation (`pagewalk compare` sets it against an ideal TLB)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (v->l2_tlb || strcmp(rows[i].numerator, "l2_tlb.lookups") != 0)
            quotient_row(v, &rows[i]);
}

static bool in_section(const struct view *v, const char *name, size_t section)
{
    if (!v->l2_tlb && strncmp(name, "l2_tlb.", 7) == 0)
        name = strcmp(name, "l2_tlb.mshr_merges") == 0 ? "walk" : "warp"; /* the others count nothing */
    size_t length = strcspn(name, ".");
    for (size_t i = 0; sections[i].component; i++)
        if (strncmp(sections[i].component, name, length) == 0 && !sections[i].component[length])
            return i == section;
    return !sections[section].component;
}

/* Metrics in the order of the first scope that has them, each once. */
static void unit_section(struct view *v, size_t section)
{
    const struct pw_result *r = v->result;
    bool happened = false;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !happened)
            return;
        if (pass)
            pw_table_heading(&v->table, sections[section].title);
        for (size_t i = 0; i < r->metric_count; i++) {
            const char *point = strchr(r->metrics[i].name, '.');
            if (!point || !in_section(v, point + 1, section))
                continue;
            happened |= r->metrics[i].real != 0;
            size_t first = 0;
            while (first < v->scope_count && !find(v, first, point + 1))
                first++;
            if (pass && first < v->scope_count && find(v, first, point + 1) == &r->metrics[i]) {
                metric_row(v, point + 1);
                hit_rate_row(v, point + 1);
            }
        }
    }
}

bool pw_result_has_l2_tlb(const struct pw_result *r)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].name, "l2_tlb.enabled") == 0)
            return strcmp(r->options[i].value, "off") != 0;
    return true;
}

static void app_row(const struct pw_app_result *app, bool alone, int decimals, struct pw_table *t)
{
    char number[PW_NUMBER_CAPACITY];
    pw_table_cell_printable(t, app->name);
    pw_format_integer(number, app->sms);
    pw_table_cell(t, number);
    pw_format_integer(number, app->warp_instructions);
    pw_table_cell(t, number);
    pw_format_integer(number, app->cycles);
    pw_table_cell(t, number);
    pw_format_fixed(number, app->ipc, decimals);
    pw_table_cell(t, number);
    if (alone) {
        pw_format_fixed(number, app->ipc_alone, decimals);
        pw_table_cell(t, number);
    }
}

static void app_section(const struct pw_result *r, struct pw_text *out)
{
    bool alone = r->weighted_speedup > 0;
    struct pw_table t = {.columns = alone ? 6 : 5, .align = "lr", .indent = "  "};
    pw_table_heading(&t, "Applications");
    pw_table_cell(&t, "");
    pw_table_cell(&t, "SMs");
    pw_table_cell(&t, "warp instructions");
    pw_table_cell(&t, "cycles");
    pw_table_cell(&t, "IPC");
    if (alone)
        pw_table_cell(&t, "IPC alone");
    double ipc[2 * PW_MAX_APPS];
    size_t count = 0;
    for (size_t i = 0; i < r->app_count && i < PW_MAX_APPS; i++) {
        ipc[count++] = r->apps[i].ipc;
        ipc[count++] = r->apps[i].ipc_alone;
    }
    for (size_t i = 0; i < r->app_count; i++)
        app_row(&r->apps[i], alone, pw_decimals(ipc, count), &t);
    pw_table_finish(&t, out);
    if (alone)
        pw_text_print(out, "  weighted speedup %.3f, IPC throughput %.2f, unfairness %.3f\n\n", r->weighted_speedup,
                      r->ipc_throughput, r->unfairness);
}

/* How the run was asked for, where a number cannot be understood without it. */
static void header(const struct pw_result *r, struct pw_text *out)
{
    const struct pw_made *m = &r->made;
    char number[PW_NUMBER_CAPACITY];
    pw_text_add(out, "machine ");
    pw_text_printable(out, r->machine);
    pw_text_add(out, ", design ");
    pw_text_printable(out, r->design);
    pw_text_print(out, ", seed %llu", (unsigned long long)r->seed);
    if (m->core_version)
        pw_text_print(out, ", pagewalk %s", m->core_version);
    pw_text_add(out, "\n");
    if (m->command) {
        pw_text_add(out, "command: ");
        pw_text_printable(out, m->command);
        pw_text_add(out, "\n");
    }
    if (m->note) {
        pw_text_add(out, "note: ");
        pw_text_printable(out, m->note);
        pw_text_add(out, "\n");
    }
    if (m->warmup) {
        pw_format_integer(number, m->warmup);
        pw_text_print(out, "metrics leave out the first %s cycles (--warmup)\n", number);
    }
    if (m->kernels) {
        pw_text_add(out, "metrics count only launches ");
        pw_text_printable(out, m->kernels);
        pw_text_add(out, " (--kernels)\n");
    }
}

static void summary(const struct pw_result *r, struct pw_text *out)
{
    char cycles[PW_NUMBER_CAPACITY], speed[PW_NUMBER_CAPACITY], memory[PW_NUMBER_CAPACITY];
    uint64_t instructions = 0;
    unsigned checks = 0;
    for (size_t i = 0; i < r->app_count; i++) {
        instructions += r->apps[i].warp_instructions;
        checks += r->apps[i].checks;
    }
    header(r, out);
    pw_format_integer(cycles, r->cycles);
    pw_format_short(speed, r->wall_seconds > 0 ? (double)instructions / r->wall_seconds : 0);
    pw_format_bytes(memory, (double)r->peak_rss_bytes);
    pw_text_print(out, "%s cycles (%.1f us) simulated in %.2f s: %s warp instructions/s, %s of memory\n", cycles,
                  r->nanoseconds / 1000, r->wall_seconds, speed, memory);
    size_t holding = 0;
    for (size_t i = 0; i < r->identity_count; i++)
        holding += r->identities[i].holds;
    pw_text_print(out, "%zu of %zu identities hold", holding, r->identity_count);
    if (checks)
        pw_text_print(out, ", %u check%s of the workload's result %s", checks, pw_plural(checks),
                      pw_counted(checks, "holds", "hold"));
    pw_text_add(out, "\n\n");
}

void pw_result_table(const struct pw_result *r, struct pw_text *out)
{
    struct view v = {.result = r, .l2_tlb = pw_result_has_l2_tlb(r)};
    struct pw_text header = {0};
    summary(r, &header);
    pw_result_memory_line(r, &header);
    pw_text_prose(out, 0, 2, header.bytes ? header.bytes : "");
    out->failed |= header.failed;
    pw_text_free(&header);
    app_section(r, out);
    pw_breakdown_table(r, out);
    find_scopes(&v);
    v.table = (struct pw_table){.columns = v.scope_count + 2, .align = "lr", .indent = "  "};
    /* The unit stands left, right after its number. */
    char align[PW_TABLE_MAX_COLUMNS + 1];
    memset(align, 'r', sizeof align);
    align[0] = align[v.scope_count + 1] = 'l';
    align[v.scope_count + 2] = '\0';
    v.table.align = align;
    if (v.scope_count > 1) {
        pw_table_cell(&v.table, "");
        for (size_t i = 0; i < v.scope_count; i++)
            pw_table_cell(&v.table, v.scopes[i]);
        pw_table_cell(&v.table, "");
    }
    cost_section(&v);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].title)
            unit_section(&v, i);
    pw_text_add(out, "\n");
    pw_table_finish(&v.table, out);
    if (!r->allocation_count)
        return;
    pw_text_add(out, "\n");
    pw_allocation_table(r->allocations, r->allocation_count, "Allocations (pages of 4 KiB)", out);
}
