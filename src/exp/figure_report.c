#include "exp/figure_report.h"

#include "exp/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pw_scope_names[] = {[PW_QUICK] = "quick", [PW_FULL] = "full"};

enum { WHOLE_RUN = -1, ANY = -2 };

static bool per_app(const struct pw_figure_outcome *o)
{
    for (size_t c = 0; c < o->figure->column_count; c++)
        for (size_t i = 0; i < o->columns[c].count; i++)
            if (o->columns[c].items[i].app >= 0)
                return true;
    return false;
}

/* The mean of a column over a group (ANY: all), a workload (ANY: all) and an application (ANY: all; a value of the whole
 * run is every application's). NAN where there is nothing or something is missing. */
static double column_mean(const struct pw_figure_outcome *o, size_t column, int group, int workload, int app)
{
    const struct pw_figure *f = o->figure;
    const struct pw_vector *v = &o->columns[column];
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++) {
        int w = v->items[i].workload, a = v->items[i].app;
        bool in_group = group == ANY || (w >= 0 && (int)f->workloads[w].group == group);
        if (!in_group || (workload != ANY && w != workload) || (app != ANY && a != app && a != WHOLE_RUN))
            continue;
        sum += f->geometric ? log(v->items[i].value) : v->items[i].value;
        count++;
    }
    if (!count)
        return NAN;
    return f->geometric ? exp(sum / (double)count) : sum / (double)count;
}

static void number_cell(struct pw_table *t, double value)
{
    char number[PW_NUMBER_CAPACITY];
    if (isnan(value)) {
        pw_table_cell(t, "-");
        return;
    }
    pw_format_real(number, value);
    pw_table_cell(t, number);
}

static void row(const struct pw_figure_outcome *o, struct pw_table *t, int group, int workload, int app)
{
    for (size_t c = 0; c < o->figure->column_count; c++)
        number_cell(t, column_mean(o, c, group, workload, app));
}

/* "CONS" of "HS,CONS" for app 1. */
static void app_name(const char *programs, int app, struct pw_text *out)
{
    while (app-- > 0)
        programs = strchr(programs, ',') ? strchr(programs, ',') + 1 : programs;
    pw_text_append(out, programs, strcspn(programs, ","));
}

static void workload_rows(const struct pw_figure_outcome *o, struct pw_table *t)
{
    const struct pw_figure *f = o->figure;
    bool apps = per_app(o);
    for (size_t w = 0; w < f->workload_count; w++)
        for (int app = 0; app < (apps ? (int)f->workloads[w].app_count : 1); app++) {
            struct pw_text label = {0};
            pw_text_add(&label, f->workloads[w].programs);
            if (apps && f->workloads[w].app_count > 1) {
                pw_text_add(&label, ": ");
                app_name(f->workloads[w].programs, app, &label);
            }
            pw_table_cell_printable(t, label.bytes ? label.bytes : "");
            pw_text_free(&label);
            row(o, t, ANY, (int)w, apps ? app : ANY);
        }
}

static void columns_table(const struct pw_figure_outcome *o, bool each, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    struct pw_table t = {.columns = 1 + f->column_count, .align = "lr", .indent = "  "};
    pw_table_cell(&t, f->geometric ? "geometric mean" : "mean");
    for (size_t c = 0; c < f->column_count; c++)
        pw_table_cell_printable(&t, f->columns[c].heading);
    if (each)
        workload_rows(o, &t);
    for (size_t g = 0; g < f->group_count; g++) {
        pw_table_cell_printable(&t, f->groups[g]);
        row(o, &t, (int)g, ANY, ANY);
    }
    if (f->group_count > 1) {
        pw_table_cell(&t, "all");
        row(o, &t, ANY, ANY, ANY);
    }
    pw_table_finish(&t, out);
}

static void join_values(const struct pw_claim_outcome *c, struct pw_text *out)
{
    for (size_t i = 0; i < c->count; i++) {
        char number[PW_NUMBER_CAPACITY];
        pw_format_real(number, c->values[i]);
        pw_text_print(out, "%s%s", i ? "; " : "", isnan(c->values[i]) ? "-" : number);
    }
}

static void claims_table(const struct pw_figure_outcome *o, struct pw_text *out)
{
    struct pw_table t = {.columns = 5, .align = "lrrll", .indent = "  "};
    const char *headings[] = {"claim", "paper", "ours", "unit", "verdict"};
    for (size_t i = 0; i < 5; i++)
        pw_table_cell(&t, headings[i]);
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        struct pw_text ours = {0};
        join_values(c, &ours);
        pw_table_cell(&t, c->claim->id);
        pw_table_cell(&t, *c->claim->value ? c->claim->value : "true");
        pw_table_cell(&t, ours.bytes ? ours.bytes : "-");
        pw_table_cell(&t, c->claim->unit);
        pw_table_cell(&t, pw_verdict_names[c->verdict]);
        pw_text_free(&ours);
    }
    pw_table_finish(&t, out);
}

size_t pw_figure_report_count(const struct pw_figure_outcome *o, enum pw_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < o->figure->claim_count; i++)
        count += o->claims[i].verdict == verdict;
    return count;
}

void pw_figure_report_table(const struct pw_figure_outcome *o, bool each, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    pw_text_printable(out, f->name);
    pw_text_add(out, "  ");
    pw_text_printable(out, f->where);
    pw_text_add(out, *f->where ? ": " : "");
    pw_text_printable(out, f->title);
    pw_text_print(out, "  (%s, %zu workloads)\n", pw_scope_names[f->scope], f->workload_count);
    if (o->runs_there < o->runs_needed)
        pw_text_print(out, "  %zu of %zu runs are missing\n", o->runs_needed - o->runs_there, o->runs_needed);
    if (f->column_count)
        columns_table(o, each, out);
    if (f->claim_count) {
        pw_text_add(out, "\n");
        claims_table(o, out);
    }
    if (*f->notes) {
        pw_text_add(out, "  Note: ");
        pw_text_printable(out, f->notes);
        pw_text_add(out, "\n");
    }
}

static void json_columns(const struct pw_figure_outcome *o, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    for (size_t c = 0; c < f->column_count; c++) {
        pw_text_add(out, c ? ", {\"heading\": " : "{\"heading\": ");
        pw_text_json_string(out, f->columns[c].heading);
        pw_text_add(out, ", \"items\": [");
        for (size_t i = 0; i < o->columns[c].count; i++) {
            int w = o->columns[c].items[i].workload;
            pw_text_add(out, i ? ", {\"workload\": " : "{\"workload\": ");
            pw_text_json_string(out, w >= 0 ? f->workloads[w].text : "");
            pw_text_add(out, ", \"group\": ");
            pw_text_json_string(out, w >= 0 ? f->groups[f->workloads[w].group] : "");
            pw_text_print(out, ", \"app\": %d, \"value\": ", o->columns[c].items[i].app);
            pw_text_real(out, o->columns[c].items[i].value);
            pw_text_add(out, "}");
        }
        pw_text_add(out, "]}");
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
        pw_text_print(out, "], \"verdict\": \"%s\"}", pw_verdict_names[c->verdict]);
    }
}

void pw_figure_report_json(const struct pw_figure_outcome *o, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    pw_text_add(out, "{\"figure\": ");
    pw_text_json_string(out, f->name);
    pw_text_add(out, ", \"title\": ");
    pw_text_json_string(out, f->title);
    pw_text_add(out, ", \"where\": ");
    pw_text_json_string(out, f->where);
    pw_text_print(out, ", \"scope\": \"%s\", \"workloads\": %zu, \"runs\": %zu, \"missing\": %zu, \"columns\": [",
                  pw_scope_names[f->scope], f->workload_count, o->runs_there, o->runs_needed - o->runs_there);
    json_columns(o, out);
    pw_text_add(out, "], \"claims\": [");
    json_claims(o, out);
    pw_text_add(out, "]}");
}
