/* A comparison as JSON: every row with every number of the table, unrounded, and every setting, also one that does not
 * vary; the means over workloads; and of several seeds the intervals of both (docs/compare.md). What is not known is
 * null. */
#include "exp/tools/compare.h"

#include "system/inputs.h"

#include <math.h>
#include <string.h>

static void member(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, ", \"%s\": ", name);
    pw_text_json_string(out, value);
}

/* Machine, design and settings of a row, and where it is that of one seed this too. */
static void place(const struct pw_compare *c, const struct pw_compare_place *p, bool seed, struct pw_text *out)
{
    pw_text_add(out, "{\"machine\": ");
    pw_text_json_string(out, c->spec.machines[p->machine]);
    member(out, "design", c->designs[p->design]);
    if (seed)
        pw_text_print(out, ", \"seed\": %llu", (unsigned long long)c->spec.seeds[p->seed]);
    pw_text_add(out, ", \"settings\": {");
    for (size_t k = 0; k < c->setting_count; k++) {
        pw_text_add(out, k ? ", " : "");
        pw_text_json_string(out, c->settings[k].key);
        pw_text_add(out, ": ");
        pw_text_json_string(out, pw_compare_shown_value(c, p, k));
    }
    pw_text_add(out, "}");
}

typedef void write_number(const struct pw_compare *c, size_t row, struct pw_compare_column column, struct pw_text *out);

static void number(const struct pw_compare *c, size_t row, struct pw_compare_column column, struct pw_text *out)
{
    pw_text_real(out, pw_compare_number(c, row, column));
}

static void mean(const struct pw_compare *c, size_t row, struct pw_compare_column column, struct pw_text *out)
{
    pw_text_real(out, pw_compare_mean(c, row, column));
}

/* The members of an interval, without the object's end. */
static void begin_interval(const struct pw_confidence *i, struct pw_text *out)
{
    pw_text_print(out, "\"n\": %zu, \"mean\": ", i->count);
    pw_text_real(out, i->mean);
    pw_text_add(out, ", \"low\": ");
    pw_text_real(out, i->low);
    pw_text_add(out, ", \"high\": ");
    pw_text_real(out, i->high);
}

static void within(const struct pw_confidence *i, struct pw_text *out)
{
    if (!isnan(i->low))
        pw_text_print(out, ", \"within\": %s", pw_confidence_has(i, 1) ? "true" : "false");
}

static void write_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column,
                           const struct pw_confidence *i, struct pw_text *out)
{
    pw_text_add(out, "{");
    begin_interval(i, out);
    if (column.kind == PW_COMPARE_SLOWDOWN && !pw_compare_is_reference(c, row, column.number))
        within(i, out);
    pw_text_add(out, "}");
}

static void interval(const struct pw_compare *c, size_t row, struct pw_compare_column column, struct pw_text *out)
{
    struct pw_confidence i = pw_compare_interval(c, row, column);
    write_interval(c, row, column, &i, out);
}

static void mean_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column, struct pw_text *out)
{
    struct pw_confidence i = pw_compare_mean_interval(c, row, column);
    write_interval(c, row, column, &i, out);
}

/* A member for each column, or each that has a mean; slowdowns and shares are objects. */
static void numbers(const struct pw_compare *c, size_t row, write_number *write, bool means, struct pw_text *out)
{
    static const char slowdowns[] = "slowdown", shares[] = "share";
    const char *open = NULL;
    if (!c->spec.reference_count)
        pw_text_add(out, ", \"slowdown\": {}");
    for (size_t i = 0; i < c->column_count; i++) {
        struct pw_compare_column column = c->columns[i];
        bool slowdown = column.kind == PW_COMPARE_SLOWDOWN;
        if (means && !pw_compare_has_mean(column))
            continue;
        const char *object = slowdown ? slowdowns : pw_compare_is_share(column) ? shares : NULL;
        if (open && open != object)
            pw_text_add(out, "}");
        pw_text_add(out, ", ");
        if (object && open != object)
            pw_text_print(out, "\"%s\": {", object);
        pw_text_json_string(out, slowdown ? c->spec.references[column.number] : pw_compare_column_name(column));
        pw_text_add(out, ": ");
        write(c, row, column, out);
        open = object;
    }
    pw_text_add(out, open ? "}" : "");
}

static void failure(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    size_t job = pw_compare_job(c, row);
    if (!c->runs[job])
        member(out, "failure", c->jobs[job].message);
}

static void step(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    struct pw_confidence i = pw_compare_step(c, row);
    if (!p.design)
        return;
    pw_text_add(out, ", \"previous\": {\"design\": ");
    pw_text_json_string(out, c->designs[p.design - 1]);
    pw_text_add(out, ", ");
    begin_interval(&i, out);
    within(&i, out);
    pw_text_add(out, "}");
}

/* The kinds of lists of rows. */
struct list {
    const char *name;
    write_number *write;
    bool means, seeds; /* of means over workloads; a row for each seed */
};

static void write_row(const struct pw_compare *c, size_t row, const struct list *list, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    place(c, &p, list->seeds, out);
    if (!list->means)
        member(out, "workload", c->spec.workloads[p.workload]);
    if (!list->means && list->seeds)
        failure(c, row, out);
    numbers(c, row, list->write, list->means, out);
    if (!list->means && !list->seeds)
        step(c, row, out);
    pw_text_add(out, "}");
}

static void write_list(const struct pw_compare *c, const struct list *list, struct pw_text *out)
{
    size_t rows = !list->means ? c->row_count : pw_compare_has_means(c) ? c->row_count / c->spec.workload_count : 0;
    pw_text_print(out, ",\n  \"%s\": [", list->name);
    for (size_t row = 0; row < rows; row++) {
        if (pw_compare_repeats(c, row) || (!list->seeds && pw_compare_place(c, row).seed))
            continue;
        pw_text_add(out, row ? ",\n    " : "\n    ");
        write_row(c, row, list, out);
    }
    pw_text_add(out, rows ? "\n  ]" : "]");
}

void pw_compare_json(const struct pw_compare *c, struct pw_text *out)
{
    static const struct list lists[] = {{"rows", number, false, true},
                                        {"means", mean, true, true},
                                        {"intervals", interval, false, false},
                                        {"mean_intervals", mean_interval, true, false}};
    pw_text_add(out, "{\n  \"version\": ");
    pw_text_json_string(out, pw_core_version());
    pw_text_add(out, ",\n  \"against\": [");
    for (size_t i = 0; i < c->spec.reference_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_json_string(out, c->spec.references[i]);
    }
    pw_text_add(out, "]");
    for (size_t i = 0; i < (c->spec.seed_count > 1 ? 4 : 2); i++)
        write_list(c, &lists[i], out);
    pw_text_add(out, "\n}\n");
}
