/* A comparison for people: workload by workload, a row for each combination of what varies, then means.
 *
 * What is the same in all rows is said once, above. Where everything does not fit beside one another, the shares of
 * warps' time become a table of their own. A reference that no setting has changed, such as ideal-tlb under all sizes
 * of the L2 TLB, is one row and not one for each value. */
#include "exp/format/table.h"
#include "exp/tools/compare.h"
#include "sim/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum part { NUMBERS = 1, SHARES = 2 };

struct view {
    const struct pw_compare *c;
    unsigned parts; /* enum part */
    bool shown[PW_COMPARE_MEASURE_COUNT];
    struct pw_table table;
};

static bool varies(const struct pw_compare *c, size_t setting)
{
    return c->settings[setting].value_count > 1;
}

/* A share that is 0 everywhere needs no column. */
static void choose_measures(struct view *v)
{
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++) {
        bool share = m >= PW_COMPARE_FIRST_SHARE;
        v->shown[m] = !share && v->parts & NUMBERS;
        for (size_t row = 0; share && v->parts & SHARES && row < v->c->row_count; row++)
            v->shown[m] |= pw_compare_measure(v->c, row, m) > 0;
    }
}

static size_t count_columns(const struct view *v)
{
    const struct pw_compare *c = v->c;
    size_t columns = 1 + (c->spec.machine_count > 1) + (c->spec.seed_count > 1);
    for (size_t k = 0; k < c->setting_count; k++)
        columns += varies(c, k);
    if (v->parts & NUMBERS)
        columns += 1 + c->spec.reference_count;
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++)
        columns += v->shown[m];
    return columns;
}

/* The two lines above the columns. */
static void headings(struct view *v, bool above)
{
    const struct pw_compare *c = v->c;
    struct pw_table *t = &v->table;
    pw_table_cell(t, above ? "" : "design");
    if (c->spec.machine_count > 1)
        pw_table_cell(t, above ? "" : "machine");
    for (size_t k = 0; k < c->setting_count; k++)
        if (varies(c, k)) {
            const char *key = c->settings[k].key, *point = strchr(key, '.');
            if (above)
                pw_table_print(t, "%.*s", point ? (int)(point - key) : 0, key);
            else
                pw_table_cell(t, point ? point + 1 : key);
        }
    if (c->spec.seed_count > 1)
        pw_table_cell(t, above ? "" : "seed");
    if (v->parts & NUMBERS) {
        pw_table_cell(t, above ? "" : "cycles");
        for (size_t i = 0; i < c->spec.reference_count; i++)
            pw_table_cell_printable(t, above ? "slowdown" : c->spec.references[i]);
    }
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++)
        if (v->shown[m])
            pw_table_cell(t, above ? pw_compare_measures[m].above : pw_compare_measures[m].below);
}

static void number_cell(struct pw_table *t, double value, const char *format)
{
    char number[PW_NUMBER_CAPACITY] = "-";
    if (isfinite(value) && value >= 1000)
        pw_format_real(number, value);
    else if (isfinite(value))
        pw_c_snprintf(number, sizeof number, format, value);
    pw_table_cell(t, number);
}

/* `merged`: the row stands for all values of the settings. */
static void name_cells(struct view *v, const struct pw_compare_place *p, bool merged)
{
    const struct pw_compare *c = v->c;
    struct pw_table *t = &v->table;
    pw_table_cell_printable(t, c->designs[p->design]);
    if (c->spec.machine_count > 1)
        pw_table_cell_printable(t, c->spec.machines[p->machine]);
    for (size_t k = 0; k < c->setting_count; k++)
        if (varies(c, k))
            pw_table_cell_printable(t, merged ? "any" : pw_compare_value(c, p->values, k));
    if (c->spec.seed_count > 1)
        pw_table_print(t, "%llu", (unsigned long long)c->spec.seeds[p->seed]);
}

static void number_cells(struct view *v, size_t row)
{
    const struct pw_compare *c = v->c;
    const struct pw_stored_run *run = c->runs[pw_compare_job(c, row)];
    if (v->parts & NUMBERS) {
        char cycles[PW_NUMBER_CAPACITY] = "failed";
        if (run)
            pw_format_integer(cycles, run->cycles);
        pw_table_cell(&v->table, cycles);
        for (size_t i = 0; i < c->spec.reference_count; i++)
            number_cell(&v->table, pw_compare_slowdown(c, row, i), "%.2f");
    }
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++) {
        double value = pw_compare_measure(c, row, m);
        if (v->shown[m] && m == PW_COMPARE_WALKS)
            number_cell(&v->table, value, "%.2f");
        else if (v->shown[m])
            number_cell(&v->table, 100 * value, "%.1f");
    }
}

static bool is_asked_for(const struct pw_compare *c, size_t design)
{
    return design >= c->design_count - c->spec.design_count;
}

/* Whether a reference that nobody asked for as a design takes the same time under all values. */
static bool is_merged(const struct pw_compare *c, struct pw_compare_place p)
{
    if (is_asked_for(c, p.design) || c->values_count == 1)
        return false;
    const struct pw_stored_run *first = NULL;
    for (p.values = 0; p.values < c->values_count; p.values++) {
        const struct pw_stored_run *run = c->runs[pw_compare_job(c, pw_compare_row(c, &p))];
        if (!run || (first && run->cycles != first->cycles))
            return false;
        first = run;
    }
    return true;
}

static void workload_rows(struct view *v, size_t workload)
{
    const struct pw_compare *c = v->c;
    size_t each = c->row_count / c->spec.workload_count;
    struct pw_text title = {0};
    pw_text_printable(&title, c->spec.workloads[workload]);
    pw_table_heading(&v->table, title.bytes ? title.bytes : "");
    pw_text_free(&title);
    for (size_t row = workload * each; row < (workload + 1) * each; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        bool merged = is_merged(c, p);
        if (merged && p.values > 0)
            continue;
        name_cells(v, &p, merged);
        number_cells(v, row);
    }
}

static void mean_rows(struct view *v)
{
    const struct pw_compare *c = v->c;
    struct pw_table *t = &v->table;
    char title[64];
    snprintf(title, sizeof title, "geometric mean of %zu workloads", c->spec.workload_count);
    pw_table_heading(t, title);
    for (size_t row = 0; row < c->row_count / c->spec.workload_count; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        if (!is_asked_for(c, p.design))
            continue;
        name_cells(v, &p, false);
        pw_table_cell(t, "");
        for (size_t i = 0; i < c->spec.reference_count; i++)
            number_cell(t, pw_compare_mean_slowdown(c, row, i), "%.2f");
        for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++)
            if (v->shown[m])
                pw_table_cell(t, "");
    }
}

static void write_parts(const struct pw_compare *c, unsigned parts, struct pw_text *out)
{
    struct view v = {.c = c, .parts = parts, .table = {.align = "lr", .indent = "  "}};
    choose_measures(&v);
    v.table.columns = count_columns(&v);
    if (v.table.columns > PW_TABLE_MAX_COLUMNS)
        return;
    headings(&v, true);
    headings(&v, false);
    for (size_t w = 0; w < c->spec.workload_count; w++)
        workload_rows(&v, w);
    if (c->spec.workload_count > 1 && c->spec.reference_count && parts & NUMBERS)
        mean_rows(&v);
    pw_table_finish(&v.table, out);
}

static void title(const struct pw_compare *c, struct pw_text *out)
{
    struct pw_text same = {0};
    if (c->spec.machine_count == 1)
        pw_text_print(&same, "machine %s", c->spec.machines[0]);
    if (c->spec.seed_count == 1)
        pw_text_print(&same, "%sseed %llu", same.length ? ", " : "", (unsigned long long)c->spec.seeds[0]);
    for (size_t k = 0; k < c->setting_count; k++)
        if (!varies(c, k))
            pw_text_print(&same, "%s%s=%s", same.length ? ", " : "", c->settings[k].key, c->settings[k].values[0]);
    if (same.length) {
        pw_text_printable(out, same.bytes);
        pw_text_add(out, "\n");
    }
    pw_text_free(&same);
    if (c->spec.reference_count)
        pw_text_add(out, "slowdown: cycles divided by the cycles of that design with all else the same\n");
    pw_text_add(out, "\n");
}

static bool fits(const struct pw_text *t, size_t columns)
{
    const char *at = t->bytes ? t->bytes : "";
    while (*at) {
        char line[512];
        size_t length = strcspn(at, "\n");
        if (length >= sizeof line)
            return false;
        memcpy(line, at, length);
        line[length] = '\0';
        if (pw_text_columns(line) > columns)
            return false;
        at += length + (at[length] == '\n');
    }
    return true;
}

void pw_compare_table(const struct pw_compare *c, struct pw_text *out)
{
    static const char shares[] = "Where the time of warps goes, %\n";
    struct pw_text together = {0};
    title(c, out);
    write_parts(c, NUMBERS | SHARES, &together);
    out->failed |= together.failed;
    if (fits(&together, out->width ? out->width : PW_PROSE_COLUMNS)) {
        pw_text_add(out, together.bytes ? together.bytes : "");
    } else {
        write_parts(c, NUMBERS, out);
        pw_text_print(out, "\n%s", shares);
        write_parts(c, SHARES, out);
    }
    pw_text_free(&together);
    pw_compare_notes(c, out);
}
