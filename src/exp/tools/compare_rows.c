/* One table of a comparison: workload by workload, a row for each combination of what varies, then means.
 *
 * A reference that no setting has changed, such as ideal-tlb under all sizes of the L2 TLB, is one row and not one for
 * each value; so is a design without the option that is swept. Several seeds are one row too, unless each is asked for:
 * every number is a mean then, with half its 95% interval behind it where it depends on the seed. */
#include "exp/tools/compare_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct view {
    const struct pw_compare *c;
    const struct pw_compare_column *columns; /* of numbers */
    size_t column_count;
    bool means;
    struct pw_table table;
};

static bool varies(const struct pw_compare *c, size_t setting)
{
    return c->settings[setting].value_count > 1;
}

static bool has_seed_column(const struct pw_compare *c)
{
    return c->spec.seed_count > 1 && c->spec.each_seed;
}

static size_t count_columns(const struct view *v)
{
    const struct pw_compare *c = v->c;
    size_t columns = 1 + (c->spec.machine_count > 1) + has_seed_column(c) + v->column_count;
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
    if (has_seed_column(c))
        pw_table_cell(t, above ? "" : "seed");
    for (size_t i = 0; i < v->column_count; i++)
        pw_table_cell_printable(t, above ? pw_compare_column_above(v->columns[i])
                                         : pw_compare_column_below(c, v->columns[i]));
}

/* A number of its column; "-": not known. */
static void format_number(char out[PW_NUMBER_CAPACITY], struct pw_compare_column column, double value)
{
    bool fraction = pw_compare_is_share(column) || column.kind == PW_COMPARE_L1_HITS ||
                    column.kind == PW_COMPARE_L2_HITS || column.kind == PW_COMPARE_DUE;
    bool alone = column.kind == PW_COMPARE_WEIGHTED_SPEEDUP || column.kind == PW_COMPARE_UNFAIRNESS;
    if (!isfinite(value))
        snprintf(out, PW_NUMBER_CAPACITY, "-");
    else if (column.kind == PW_COMPARE_CYCLES || column.kind == PW_COMPARE_EVICTED)
        pw_format_fixed(out, value, 0);
    else if (column.kind == PW_COMPARE_MEMORY || column.kind == PW_COMPARE_TOUCHED)
        pw_format_fixed(out, value / (1 << 20), 2);
    else
        pw_format_fixed(out, fraction ? 100 * value : value, fraction ? 1 : alone ? 3 : 2);
}

/* "~1.30 ±0.40": a mean, half its interval, and in front of it a mark or "". */
static void interval_cell(struct view *v, struct pw_compare_column column, const struct pw_confidence *i,
                          const char *mark)
{
    char mean[PW_NUMBER_CAPACITY], half[PW_NUMBER_CAPACITY];
    format_number(mean, column, i->mean);
    format_number(half, column, pw_confidence_half(i));
    if (i->low < i->high)
        pw_table_print(&v->table, "%s%s ±%s", mark, mean, half);
    else
        pw_table_print(&v->table, "%s%s", mark, mean);
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
            pw_table_cell_printable(t, merged ? "any" : pw_compare_shown_value(c, p, k));
    if (has_seed_column(c))
        pw_table_print(t, "%llu", (unsigned long long)c->spec.seeds[p->seed]);
}

/* The mark of a slowdown that may be 1, or of what is made of it. */
static const char *like_reference(const struct pw_compare *c, size_t row, struct pw_compare_column column,
                                  const struct pw_confidence *i)
{
    bool slowdown = column.kind == PW_COMPARE_SLOWDOWN;
    if ((!slowdown && column.kind != PW_COMPARE_DUE) || pw_compare_is_reference(c, row, column.number))
        return "";
    return pw_confidence_has(i, slowdown ? 1 : 0) ? PW_COMPARE_LIKE_REFERENCE : "";
}

const char *pw_compare_mark(const struct pw_compare *c, size_t row, struct pw_compare_column column)
{
    struct pw_confidence i =
        column.kind == PW_COMPARE_CYCLES ? pw_compare_step(c, row) : pw_compare_interval(c, row, column);
    if (column.kind == PW_COMPARE_CYCLES)
        return pw_confidence_has(&i, 1) ? PW_COMPARE_LIKE_LAST : "";
    return like_reference(c, row, column, &i);
}

static bool has_failed(const struct pw_compare *c, size_t row)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    size_t end = pw_compare_scatters(c) ? c->spec.seed_count : p.seed + 1;
    for (; p.seed < end; p.seed++)
        if (c->runs[pw_compare_job(c, pw_compare_row(c, &p))])
            return false;
    return true;
}

static void number_cells(struct view *v, size_t row)
{
    const struct pw_compare *c = v->c;
    for (size_t i = 0; i < v->column_count; i++) {
        struct pw_compare_column column = v->columns[i];
        char number[PW_NUMBER_CAPACITY];
        if (column.kind == PW_COMPARE_CYCLES && has_failed(c, row)) {
            pw_table_cell(&v->table, "failed");
        } else if (pw_compare_scatters(c)) {
            struct pw_confidence interval = pw_compare_interval(c, row, column);
            interval_cell(v, column, &interval, pw_compare_mark(c, row, column));
        } else {
            format_number(number, column, pw_compare_number(c, row, column));
            pw_table_cell(&v->table, number);
        }
    }
}

bool pw_compare_is_asked_for(const struct pw_compare *c, size_t design)
{
    return design >= c->design_count - c->spec.design_count;
}

/* Whether a reference that is not among the designs asked for takes the same time under all values. */
static bool is_merged(const struct pw_compare *c, struct pw_compare_place p)
{
    if (pw_compare_is_asked_for(c, p.design) || c->values_count == 1)
        return false;
    size_t end = pw_compare_scatters(c) ? c->spec.seed_count : p.seed + 1;
    for (; p.seed < end; p.seed++) {
        const struct pw_stored_run *first = NULL;
        for (p.values = 0; p.values < c->values_count; p.values++) {
            const struct pw_stored_run *run = c->runs[pw_compare_job(c, pw_compare_row(c, &p))];
            if (!run || (first && run->cycles != first->cycles))
                return false;
            first = run;
        }
    }
    return true;
}

static void workload_rows(struct view *v, size_t workload)
{
    const struct pw_compare *c = v->c;
    size_t each = c->row_count / c->spec.workload_count;
    struct pw_text title = {0};
    pw_text_printable(&title, c->spec.workloads[workload]);
    if (pw_compare_scatters(c) && pw_compare_same_for_all_seeds(c, workload))
        pw_text_add(&title, "  (the same for all seeds)");
    pw_table_heading(&v->table, title.bytes ? title.bytes : "");
    pw_text_free(&title);
    for (size_t row = workload * each; row < (workload + 1) * each; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        bool merged = is_merged(c, p);
        if (pw_compare_repeats(c, row) || (merged && p.values > 0) || (pw_compare_scatters(c) && p.seed > 0))
            continue;
        name_cells(v, &p, merged);
        number_cells(v, row);
    }
}

static void mean_cells(struct view *v, size_t row)
{
    const struct pw_compare *c = v->c;
    for (size_t i = 0; i < v->column_count; i++) {
        struct pw_compare_column column = v->columns[i];
        char number[PW_NUMBER_CAPACITY];
        if (!pw_compare_has_mean(column)) {
            pw_table_cell(&v->table, "");
        } else if (pw_compare_scatters(c)) {
            struct pw_confidence interval = pw_compare_mean_interval(c, row, column);
            interval_cell(v, column, &interval, like_reference(c, row, column, &interval));
        } else {
            format_number(number, column, pw_compare_mean(c, row, column));
            pw_table_cell(&v->table, number);
        }
    }
}

static void mean_rows(struct view *v)
{
    const struct pw_compare *c = v->c;
    char title[64];
    snprintf(title, sizeof title, "geometric mean of %zu workloads", c->spec.workload_count);
    pw_table_heading(&v->table, title);
    for (size_t row = 0; row < c->row_count / c->spec.workload_count; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        if (!pw_compare_is_asked_for(c, p.design) || pw_compare_repeats(c, row) ||
            (pw_compare_scatters(c) && p.seed > 0))
            continue;
        name_cells(v, &p, false);
        mean_cells(v, row);
    }
}

void pw_compare_rows(const struct pw_compare *c, const struct pw_compare_column *columns, size_t count,
                     struct pw_text *out)
{
    struct view v = {.c = c, .columns = columns, .column_count = count, .table = {.align = "lr", .indent = "  "}};
    v.table.columns = count_columns(&v);
    for (size_t i = 0; i < count; i++)
        v.means |= pw_compare_has_mean(columns[i]);
    if (!count || v.table.columns > PW_TABLE_MAX_COLUMNS)
        return;
    headings(&v, true);
    headings(&v, false);
    for (size_t w = 0; w < c->spec.workload_count; w++)
        workload_rows(&v, w);
    if (pw_compare_has_means(c) && v.means)
        mean_rows(&v);
    pw_table_finish(&v.table, out);
}
