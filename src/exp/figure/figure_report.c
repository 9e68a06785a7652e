/* A figure for people: its table, its claims and its notes. */
#include "exp/figure/figure_report.h"

#include "exp/claim/claim_format.h"
#include "exp/figure/figure_scatter.h"
#include "exp/format/table.h"
#include "system/app_sms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pw_scope_names[] = {[PW_QUICK] = "quick", [PW_FULL] = "full"};

enum { ANY = PW_FIGURE_ANY };

static bool per_app(const struct pw_figure_outcome *o)
{
    for (size_t c = 0; c < o->figure->column_count; c++)
        for (size_t i = 0; i < o->columns[c].count; i++)
            if (o->columns[c].items[i].app >= 0)
                return true;
    return false;
}

/* "CONS" of "HS,CONS" or "HS,CONS@20+10" for app 1. */
static void app_name(const char *label, int app, struct pw_text *out)
{
    const char *outer = label + pw_workload_cut(label).programs;
    while (app-- > 0)
        label = strchr(label, ',') ? strchr(label, ',') + 1 : label;
    size_t length = strcspn(label, ","), left = (size_t)(outer - label);
    pw_text_append(out, label, length < left ? length : left);
}

/* A row of the table is a workload, one of its applications, a group, or all. */
static void row_label(const struct pw_figure *f, const struct pw_figure_cell *r, struct pw_table *t)
{
    struct pw_text label = {0};
    if (r->workload == ANY) {
        pw_table_cell_printable(t, r->group == ANY ? "all" : f->groups[r->group]);
        return;
    }
    const struct pw_figure_workload *w = &f->workloads[r->workload];
    pw_text_add(&label, w->label);
    if (r->app != ANY && w->app_count > 1) {
        pw_text_add(&label, ": ");
        app_name(w->label, r->app, &label);
    }
    pw_table_cell_printable(t, label.bytes ? label.bytes : "");
    pw_text_free(&label);
}

/* Fills in the rows, when there is room for them; how many there are. */
static size_t list_rows(const struct pw_figure_outcome *o, bool each, struct pw_figure_cell *out)
{
    const struct pw_figure *f = o->figure;
    bool apps = per_app(o);
    size_t count = 0;
    for (size_t w = 0; each && w < f->workload_count; w++)
        for (int app = 0; app < (apps ? (int)f->workloads[w].app_count : 1); app++, count++)
            if (out)
                out[count] = (struct pw_figure_cell){ANY, (int)w, apps ? app : ANY};
    for (size_t g = 0; g < f->group_count; g++, count++)
        if (out)
            out[count] = (struct pw_figure_cell){(int)g, ANY, ANY};
    if (f->group_count > 1) {
        if (out)
            out[count] = (struct pw_figure_cell){ANY, ANY, ANY};
        count++;
    }
    return count;
}

/* "1.30", or with several seeds "1.30 ±0.04". */
static void number_cell(const struct pw_confidence *value, int decimals, struct pw_table *t)
{
    char mean[PW_NUMBER_CAPACITY], half[PW_NUMBER_CAPACITY];
    pw_format_fixed(mean, value->mean, decimals);
    pw_format_fixed(half, pw_confidence_half(value), decimals);
    if (isnan(value->mean))
        pw_table_cell(t, "-");
    else if (value->low < value->high)
        pw_table_print(t, "%s ±%s", mean, half);
    else
        pw_table_cell(t, mean);
}

/* Says what stands behind ±, or that nothing depends on the seed. */
static void say_scatter(const struct pw_figure_outcome *o, const struct pw_confidence *cells, size_t count,
                        struct pw_text *out)
{
    bool known = false, any = false;
    for (size_t i = 0; i < count; i++) {
        known |= cells[i].low <= cells[i].high;
        any |= cells[i].low < cells[i].high;
    }
    if (o->seeds < o->seeds_asked_for)
        pw_text_print(out, "  of %u seeds, every run is there of the first %u\n", o->seeds_asked_for, o->seeds);
    if (any)
        pw_text_add(out, "  ±: 95% confidence interval of the mean over seeds (Student's t)\n");
    else if (known)
        pw_text_add(out, "  all numbers are the same for all seeds\n");
}

static void columns_table(const struct pw_figure_outcome *o, bool each, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    struct pw_table t = {.columns = 1 + f->column_count, .align = "lr", .indent = "  "};
    size_t count = list_rows(o, each, NULL);
    struct pw_figure_cell *rows = calloc(count + 1, sizeof *rows);
    struct pw_confidence *cells = calloc(count * f->column_count + 1, sizeof *cells);
    double *values = calloc(count * f->column_count + 1, sizeof *values);
    if (!rows || !cells || !values) {
        out->failed = true;
        goto out;
    }
    list_rows(o, each, rows);
    pw_table_cell(&t, f->geometric ? "geometric mean" : "mean");
    for (size_t c = 0; c < f->column_count; c++) {
        pw_table_cell_printable(&t, f->columns[c].heading);
        for (size_t r = 0; r < count; r++) {
            cells[c * count + r] = pw_figure_scatter(o, c, &rows[r]);
            values[c * count + r] = cells[c * count + r].mean;
        }
    }
    for (size_t r = 0; r < count; r++) {
        row_label(f, &rows[r], &t);
        for (size_t c = 0; c < f->column_count; c++)
            number_cell(&cells[c * count + r], pw_decimals(values + c * count, count), &t);
    }
    pw_table_finish(&t, out);
    say_scatter(o, cells, count * f->column_count, out);
out:
    free(rows);
    free(cells);
    free(values);
}

static void claims_table(const struct pw_figure_outcome *o, struct pw_text *out)
{
    struct pw_table t = {.columns = 6, .align = "lrrrll", .indent = "  "};
    const char *headings[] = {"claim", "paper", "ours", "null", "unit", "verdict"};
    for (size_t i = 0; i < t.columns; i++)
        pw_table_cell(&t, headings[i]);
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        struct pw_text ours = {0}, null = {0};
        pw_claim_format_values(c, &ours);
        pw_claim_format_null(c, &null);
        pw_table_cell(&t, c->claim->id);
        pw_table_cell(&t, *c->claim->value ? c->claim->value : "true");
        pw_table_cell(&t, ours.bytes ? ours.bytes : "-");
        pw_table_cell(&t, null.bytes ? null.bytes : "");
        pw_table_cell(&t, c->claim->unit);
        pw_table_cell(&t, pw_verdict_shown(c->verdict, out->colour));
        pw_text_free(&ours);
        pw_text_free(&null);
    }
    pw_table_finish(&t, out);
}

/* Why claims are weak, or not run although their own runs are there. */
static void say_reasons(const struct pw_figure_outcome *o, struct pw_text *out)
{
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        struct pw_text line = {0};
        if (c->verdict != PW_WEAK && !c->awaits_null)
            continue;
        pw_text_print(&line, "%s: ", c->claim->id);
        pw_claim_format_reason(c, &line);
        pw_text_prose(out, 2, 4, line.bytes ? line.bytes : "");
        pw_text_free(&line);
    }
}

size_t pw_figure_report_count(const struct pw_figure_outcome *o, enum pw_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < o->figure->claim_count; i++)
        count += o->claims[i].verdict == verdict;
    return count;
}

static void say_unused_variants(const struct pw_figure *f, struct pw_text *out)
{
    struct pw_text text = {0};
    size_t count = 0;
    for (size_t v = 0; v < f->variant_count; v++)
        if (!pw_figure_uses_variant(f, v))
            pw_text_print(&text, "%s%s", count++ ? ", " : "", f->variants[v].name);
    if (count) {
        struct pw_text line = {0};
        pw_text_print(&line, "Not run, since no column and no claim names %s: %s", pw_counted(count, "it", "them"),
                      text.bytes ? text.bytes : "");
        pw_text_prose(out, 2, 4, line.bytes ? line.bytes : "");
        pw_text_free(&line);
    }
    pw_text_free(&text);
}

void pw_figure_report_table(const struct pw_figure_outcome *o, bool each, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    struct pw_text title = {0}, note = {0};
    pw_text_printable(&title, f->name);
    pw_text_add(&title, "  ");
    pw_text_printable(&title, f->where);
    pw_text_add(&title, *f->where ? ": " : "");
    pw_text_printable(&title, f->title);
    pw_text_print(&title, "  (%s, %zu workload%s", pw_scope_names[f->scope], f->workload_count,
                  pw_plural(f->workload_count));
    if (f->percent < 100)
        pw_text_print(&title, ", a sample of %u%%", f->percent);
    if (o->seeds_asked_for > 1)
        pw_text_print(&title, ", %u seed%s", o->seeds, pw_plural(o->seeds));
    pw_text_add(&title, ")");
    pw_text_prose(out, 0, 2, title.bytes ? title.bytes : "");
    pw_text_free(&title);
    size_t missing = o->runs_needed - o->runs_there;
    if (missing)
        pw_text_print(out, "  %zu of %zu run%s %s missing\n", missing, o->runs_needed, pw_plural(o->runs_needed),
                      pw_counted(missing, "is", "are"));
    if (o->refused) {
        pw_text_add(&note, "Not run: ");
        pw_text_printable(&note, o->refused);
        pw_text_prose(out, 2, 4, note.bytes ? note.bytes : "");
        pw_text_free(&note);
    }
    if (f->column_count)
        columns_table(o, each, out);
    if (f->claim_count) {
        pw_text_add(out, "\n");
        claims_table(o, out);
        say_reasons(o, out);
    }
    say_unused_variants(f, out);
    if (*f->notes) {
        pw_text_add(&note, "Note: ");
        pw_text_printable(&note, f->notes);
        pw_text_prose(out, 2, 4, note.bytes ? note.bytes : "");
        pw_text_free(&note);
    }
}

/* Of several seeds: the mean, its interval, and of how many. */
static void json_scatter(const struct pw_figure_outcome *o, struct pw_confidence i, struct pw_text *out)
{
    if (o->seeds_asked_for == 1)
        return;
    pw_text_add(out, ", \"mean\": ");
    pw_text_real(out, i.mean);
    pw_text_add(out, ", \"low\": ");
    pw_text_real(out, i.low);
    pw_text_add(out, ", \"high\": ");
    pw_text_real(out, i.high);
    pw_text_print(out, ", \"n\": %zu", i.count);
}

static void json_items(const struct pw_figure_outcome *o, size_t column, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    for (size_t i = 0; i < o->columns[column].count; i++) {
        int w = o->columns[column].items[i].workload;
        pw_text_add(out, i ? ", {\"workload\": " : "{\"workload\": ");
        pw_text_json_string(out, w >= 0 ? f->workloads[w].text : "");
        pw_text_add(out, ", \"group\": ");
        pw_text_json_string(out, w >= 0 ? f->groups[f->workloads[w].group] : "");
        pw_text_print(out, ", \"app\": %d, \"value\": ", o->columns[column].items[i].app);
        pw_text_real(out, o->columns[column].items[i].value);
        json_scatter(o, pw_figure_item_scatter(o, column, i), out);
        pw_text_add(out, "}");
    }
}

/* The means of groups over several seeds, which cannot be made from those of the items. */
static void json_groups(const struct pw_figure_outcome *o, size_t column, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    pw_text_add(out, ", \"groups\": [");
    for (size_t g = 0; g < f->group_count; g++) {
        const struct pw_figure_cell cell = {(int)g, ANY, ANY};
        pw_text_add(out, g ? ", {\"group\": " : "{\"group\": ");
        pw_text_json_string(out, f->groups[g]);
        json_scatter(o, pw_figure_scatter(o, column, &cell), out);
        pw_text_add(out, "}");
    }
    pw_text_add(out, "]");
}

static void json_columns(const struct pw_figure_outcome *o, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    for (size_t c = 0; c < f->column_count; c++) {
        pw_text_add(out, c ? ", {\"heading\": " : "{\"heading\": ");
        pw_text_json_string(out, f->columns[c].heading);
        pw_text_add(out, ", \"items\": [");
        json_items(o, c, out);
        pw_text_add(out, "]");
        if (o->seeds_asked_for > 1)
            json_groups(o, c, out);
        pw_text_add(out, "}");
    }
}

static void json_claims(const struct pw_figure_outcome *o, struct pw_text *out)
{
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        pw_text_add(out, i ? ", {\"id\": " : "{\"id\": ");
        pw_text_json_string(out, c->claim->id);
        pw_text_add(out, ", \"paper\": ");
        pw_text_json_string(out, c->claim->value);
        pw_text_add(out, ", \"unit\": ");
        pw_text_json_string(out, c->claim->unit);
        pw_text_add(out, ", \"ours\": [");
        for (size_t k = 0; k < c->count; k++) {
            pw_text_add(out, k ? ", " : "");
            pw_text_real(out, c->values[k]);
        }
        pw_text_print(out, "], \"verdict\": \"%s\"", pw_verdict_names[c->verdict]);
        pw_claim_outcome_json(c, out);
        pw_text_add(out, "}");
    }
}

/* The members that a figure has whether it was run or not, in an object that is left open. */
static void json_figure(const struct pw_figure_outcome *o, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    pw_text_add(out, "{\"figure\": ");
    pw_text_json_string(out, f->name);
    pw_text_add(out, ", \"title\": ");
    pw_text_json_string(out, f->title);
    pw_text_add(out, ", \"where\": ");
    pw_text_json_string(out, f->where);
    pw_text_print(out, ", \"scope\": \"%s\", \"sample\": %u, \"workloads\": %zu, \"runs\": %zu, \"missing\": %zu",
                  pw_scope_names[f->scope], f->percent, f->workload_count, o->runs_there,
                  o->runs_needed - o->runs_there);
    pw_text_print(out, ", \"version\": {\"mechanisms\": \"%s\", \"runs\": \"%016llx\"}", pw_mechanisms_version(),
                  (unsigned long long)o->runs_digest);
}

void pw_figure_report_plan_json(const struct pw_figure_outcome *o, struct pw_text *out)
{
    json_figure(o, out);
    pw_text_add(out, "}");
}

void pw_figure_report_json(const struct pw_figure_outcome *o, struct pw_text *out)
{
    json_figure(o, out);
    pw_text_add(out, ", \"columns\": [");
    json_columns(o, out);
    pw_text_add(out, "], \"claims\": [");
    json_claims(o, out);
    pw_text_add(out, "]}");
}
