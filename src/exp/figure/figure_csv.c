/* A figure's numbers as CSV, one per row: every value of the table, the means of its groups, and every claim with the
 * paper's value beside it. Where several seeds were asked for, a value is that of the first, and the mean over all with
 * its 95% interval stands at the end of the row. */
#include "exp/figure/figure_report.h"
#include "exp/figure/figure_scatter.h"

#include <math.h>

static const char *const kinds[] = {"value", "mean", "claim"};

/* The first six fields; `app` is negative where the row has none. */
static void begin_row(const struct pw_figure *f, unsigned kind, const char *group, const char *workload, int app,
                      struct pw_text *out)
{
    pw_text_csv_field(out, f->name);
    pw_text_print(out, ",%s,%s,", pw_scope_names[f->scope], kinds[kind]);
    pw_text_csv_field(out, group);
    pw_text_add(out, ",");
    pw_text_csv_field(out, workload);
    if (app >= 0)
        pw_text_print(out, ",%d,", app);
    else
        pw_text_add(out, ",,");
}

/* A value that is not known is empty. */
static void add_value(double value, struct pw_text *out)
{
    pw_text_add(out, ",");
    if (isfinite(value))
        pw_text_real(out, value);
}

/* The end of a row: of several seeds the mean, its interval, and of how many. */
static void end_row(const struct pw_figure_outcome *o, struct pw_confidence i, struct pw_text *out)
{
    if (o->seeds_asked_for > 1) {
        add_value(i.mean, out);
        add_value(i.low, out);
        add_value(i.high, out);
        pw_text_print(out, ",%zu", i.count);
    }
    pw_text_add(out, "\n");
}

static void column_rows(const struct pw_figure_outcome *o, size_t column, struct pw_text *out)
{
    const struct pw_figure *f = o->figure;
    for (size_t i = 0; i < o->columns[column].count; i++) {
        int w = o->columns[column].items[i].workload;
        begin_row(f, 0, w >= 0 ? f->groups[f->workloads[w].group] : "", w >= 0 ? f->workloads[w].text : "",
                  o->columns[column].items[i].app, out);
        pw_text_csv_field(out, f->columns[column].heading);
        add_value(o->columns[column].items[i].value, out);
        pw_text_add(out, ",,,");
        end_row(o, pw_figure_item_scatter(o, column, i), out);
    }
    for (size_t g = 0; g < f->group_count; g++) {
        const struct pw_figure_cell cell = {(int)g, PW_FIGURE_ANY, PW_FIGURE_ANY};
        begin_row(f, 1, f->groups[g], "", -1, out);
        pw_text_csv_field(out, f->columns[column].heading);
        add_value(pw_figure_mean(o, column, &cell), out);
        pw_text_add(out, ",,,");
        end_row(o, pw_figure_scatter(o, column, &cell), out);
    }
}

void pw_figure_report_csv(const struct pw_figure_outcome *o, bool header, struct pw_text *out)
{
    if (header)
        pw_text_print(out, "figure,scope,kind,group,workload,app,column,value,paper,unit,verdict%s\n",
                      o->seeds_asked_for > 1 ? ",mean,low,high,n" : "");
    for (size_t c = 0; c < o->figure->column_count; c++)
        column_rows(o, c, out);
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        for (size_t part = 0; part < c->count; part++) {
            begin_row(o->figure, 2, "", "", -1, out);
            pw_text_csv_field(out, c->claim->id);
            add_value(c->values[part], out);
            pw_text_add(out, ",");
            pw_text_csv_field(out, c->claim->value);
            pw_text_add(out, ",");
            pw_text_csv_field(out, c->claim->unit);
            pw_text_print(out, ",%s", pw_verdict_names[c->verdict]);
            end_row(o, pw_figure_claim_scatter(c, part), out);
        }
    }
}
