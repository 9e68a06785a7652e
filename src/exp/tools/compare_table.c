/* A comparison for people: workload by workload, a row for each combination of what varies, then means.
 *
 * What is the same in all rows is said once, above. Where everything does not fit beside one another, the shares of
 * warps' time become a table of their own, and where that is not enough so do hit rates and waits for translation. A reference that no setting has changed, such as ideal-tlb under all sizes
 * of the L2 TLB, is one row and not one for each value. */
#include "exp/format/table.h"
#include "exp/tools/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part { TIMES = 1, RATES = 2, SHARES = 4, WAITS = 8 };

/* A table of some of the parts. */
struct view {
    const struct pw_compare *c;
    unsigned parts;                    /* enum part */
    struct pw_compare_column *columns; /* of numbers, in their order */
    size_t column_count;
    struct pw_table table;
};

static bool varies(const struct pw_compare *c, size_t setting)
{
    return c->settings[setting].value_count > 1;
}

static enum part part_of(struct pw_compare_column column)
{
    switch (column.kind) {
    case PW_COMPARE_SHARE:
        return SHARES;
    case PW_COMPARE_WAIT:
        return WAITS;
    case PW_COMPARE_L1_HITS:
    case PW_COMPARE_L2_HITS:
    case PW_COMPARE_WALKS:
        return RATES;
    default:
        return TIMES;
    }
}

/* A share that is 0 everywhere needs no column. */
static bool is_shown(const struct pw_compare *c, struct pw_compare_column column)
{
    if (column.kind == PW_COMPARE_NANOSECONDS)
        return false;
    if (column.kind != PW_COMPARE_SHARE && column.kind != PW_COMPARE_WAIT)
        return true;
    for (size_t row = 0; row < c->row_count; row++)
        if (pw_compare_number(c, row, column) > 0)
            return true;
    return false;
}

/* What translation costs is the first number. */
static void choose_columns(struct view *v)
{
    const struct pw_compare *c = v->c;
    for (int first = 1; first >= 0; first--)
        for (size_t i = 0; i < c->column_count; i++)
            if ((c->columns[i].kind == PW_COMPARE_DUE) == first && v->parts & part_of(c->columns[i]) &&
                is_shown(c, c->columns[i]))
                v->columns[v->column_count++] = c->columns[i];
}

static size_t count_columns(const struct view *v)
{
    const struct pw_compare *c = v->c;
    size_t columns = 1 + (c->spec.machine_count > 1) + (c->spec.seed_count > 1) + v->column_count;
    for (size_t k = 0; k < c->setting_count; k++)
        columns += varies(c, k);
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
    for (size_t i = 0; i < v->column_count; i++)
        pw_table_cell_printable(t, above ? pw_compare_column_above(v->columns[i])
                                         : pw_compare_column_below(c, v->columns[i]));
}

/* A number in its column; "-": not known. */
static void format_number(char out[PW_NUMBER_CAPACITY], struct pw_compare_column column, double value)
{
    bool fraction = column.kind >= PW_COMPARE_SHARE || column.kind == PW_COMPARE_L1_HITS ||
                    column.kind == PW_COMPARE_L2_HITS || column.kind == PW_COMPARE_DUE;
    bool alone = column.kind == PW_COMPARE_WEIGHTED_SPEEDUP || column.kind == PW_COMPARE_UNFAIRNESS;
    if (!isfinite(value))
        snprintf(out, PW_NUMBER_CAPACITY, "-");
    else if (column.kind == PW_COMPARE_CYCLES)
        pw_format_fixed(out, value, 0);
    else
        pw_format_fixed(out, fraction ? 100 * value : value, fraction ? 1 : alone ? 3 : 2);
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
            pw_table_cell_printable(t, merged || pw_compare_lacks(c, p, k) ? "any" : pw_compare_value(c, p->values, k));
    if (c->spec.seed_count > 1)
        pw_table_print(t, "%llu", (unsigned long long)c->spec.seeds[p->seed]);
}

static void number_cells(struct view *v, size_t row)
{
    const struct pw_compare *c = v->c;
    for (size_t i = 0; i < v->column_count; i++) {
        char number[PW_NUMBER_CAPACITY];
        format_number(number, v->columns[i], pw_compare_number(c, row, v->columns[i]));
        bool failed = v->columns[i].kind == PW_COMPARE_CYCLES && !c->runs[pw_compare_job(c, row)];
        pw_table_cell(&v->table, failed ? "failed" : number);
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
        if (pw_compare_repeats(c, row) || (merged && p.values > 0))
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
        if (!is_asked_for(c, p.design) || pw_compare_repeats(c, row))
            continue;
        name_cells(v, &p, false);
        for (size_t i = 0; i < v->column_count; i++) {
            char number[PW_NUMBER_CAPACITY];
            format_number(number, v->columns[i], pw_compare_mean(c, row, v->columns[i]));
            pw_table_cell(t, pw_compare_has_mean(v->columns[i]) ? number : "");
        }
    }
}

static void write_parts(const struct pw_compare *c, unsigned parts, struct pw_text *out)
{
    struct view v = {.c = c, .parts = parts, .table = {.align = "lr", .indent = "  "}};
    v.columns = calloc(c->column_count + 1, sizeof *v.columns);
    if (!v.columns) {
        out->failed = true;
        return;
    }
    choose_columns(&v);
    v.table.columns = count_columns(&v);
    if (v.column_count && v.table.columns <= PW_TABLE_MAX_COLUMNS) {
        headings(&v, true);
        headings(&v, false);
        for (size_t w = 0; w < c->spec.workload_count; w++)
            workload_rows(&v, w);
        if (pw_compare_has_means(c) && parts & TIMES)
            mean_rows(&v);
        pw_table_finish(&v.table, out);
    }
    free(v.columns);
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
    for (size_t i = 0; i < c->column_count; i++)
        if (c->columns[i].kind == PW_COMPARE_DUE)
            pw_text_add(out, "due to translation: the part of the cycles that ideal-tlb does not need\n");
    if (c->spec.alone)
        pw_text_add(out, "weighted speedup: sum of IPC / IPC alone; unfairness: largest IPC alone / IPC\n");
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

/* The parts in one table where that fits, or in one each. */
static void write_group(const struct pw_compare *c, unsigned both, const char *const *titles, struct pw_text *out)
{
    struct pw_text together = {0};
    unsigned first = both & -both;
    write_parts(c, both, &together);
    out->failed |= together.failed;
    if (fits(&together, out->width ? out->width : PW_PROSE_COLUMNS)) {
        pw_text_print(out, "%s%s", titles[0], together.bytes ? together.bytes : "");
    } else {
        pw_text_add(out, titles[0]);
        write_parts(c, first, out);
        pw_text_print(out, "\n%s", titles[1]);
        write_parts(c, both & ~first, out);
    }
    pw_text_free(&together);
}

void pw_compare_table(const struct pw_compare *c, struct pw_text *out)
{
    static const char *const rates[] = {"", "TLBs and page walks\n"};
    static const char *const shares[] = {"Where the time of warps goes, %\n", "Of that, waits for translation, %\n"};
    struct pw_text together = {0};
    title(c, out);
    write_parts(c, TIMES | RATES | SHARES | WAITS, &together);
    out->failed |= together.failed;
    if (fits(&together, out->width ? out->width : PW_PROSE_COLUMNS)) {
        pw_text_add(out, together.bytes ? together.bytes : "");
    } else {
        write_group(c, TIMES | RATES, rates, out);
        pw_text_add(out, "\n");
        write_group(c, SHARES | WAITS, shares, out);
    }
    pw_text_free(&together);
    pw_compare_notes(c, out);
}
