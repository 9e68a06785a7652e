/* A comparison for programs: CSV with a line per row, JSON with the same numbers, and the means (docs/compare.md).
 *
 * Both have every number of the table, unrounded, and every setting, also one that does not vary. What is not known is
 * empty in CSV and null in JSON. */
#include "exp/tools/compare.h"

#include "system/inputs.h"

#include <math.h>
#include <string.h>

static bool is_share(struct pw_compare_column column)
{
    return column.kind == PW_COMPARE_SHARE || column.kind == PW_COMPARE_WAIT;
}

static void csv_real(struct pw_text *out, double value)
{
    pw_text_add(out, ",");
    if (isfinite(value))
        pw_text_real(out, value);
}

static void csv_field(struct pw_text *out, const char *text)
{
    pw_text_add(out, ",");
    pw_text_csv_field(out, text);
}

/* "slowdown.ideal-tlb", "share.walk", "cycles" */
static void csv_name(const struct pw_compare *c, struct pw_compare_column column, struct pw_text *out)
{
    struct pw_text name = {0};
    if (is_share(column))
        pw_text_add(&name, "share.");
    pw_text_add(&name, pw_compare_column_name(column));
    if (column.kind == PW_COMPARE_SLOWDOWN)
        pw_text_print(&name, ".%s", c->spec.references[column.number]);
    csv_field(out, name.bytes ? name.bytes : "");
    pw_text_free(&name);
}

static void csv_header(const struct pw_compare *c, struct pw_text *out)
{
    pw_text_add(out, "machine,design,workload,seed");
    for (size_t k = 0; k < c->setting_count; k++)
        csv_field(out, c->settings[k].key);
    for (size_t i = 0; i < c->column_count; i++)
        csv_name(c, c->columns[i], out);
    pw_text_add(out, "\n");
}

static const char *value_of(const struct pw_compare *c, const struct pw_compare_place *p, size_t setting)
{
    return pw_compare_lacks(c, p, setting) ? "any" : pw_compare_value(c, p->values, setting);
}

static void csv_row(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    pw_text_csv_field(out, c->spec.machines[p.machine]);
    csv_field(out, c->designs[p.design]);
    csv_field(out, c->spec.workloads[p.workload]);
    pw_text_print(out, ",%llu", (unsigned long long)c->spec.seeds[p.seed]);
    for (size_t k = 0; k < c->setting_count; k++)
        csv_field(out, value_of(c, &p, k));
    for (size_t i = 0; i < c->column_count; i++)
        csv_real(out, pw_compare_number(c, row, c->columns[i]));
    pw_text_add(out, "\n");
}

void pw_compare_csv(const struct pw_compare *c, struct pw_text *out)
{
    csv_header(c, out);
    for (size_t row = 0; row < c->row_count; row++)
        if (!pw_compare_repeats(c, row))
            csv_row(c, row, out);
}

static void member(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, ", \"%s\": ", name);
    pw_text_json_string(out, value);
}

/* Machine, design, settings and seed of a row. */
static void json_place(const struct pw_compare *c, const struct pw_compare_place *p, struct pw_text *out)
{
    pw_text_add(out, "{\"machine\": ");
    pw_text_json_string(out, c->spec.machines[p->machine]);
    member(out, "design", c->designs[p->design]);
    pw_text_print(out, ", \"seed\": %llu, \"settings\": {", (unsigned long long)c->spec.seeds[p->seed]);
    for (size_t k = 0; k < c->setting_count; k++) {
        pw_text_add(out, k ? ", " : "");
        pw_text_json_string(out, c->settings[k].key);
        pw_text_add(out, ": ");
        pw_text_json_string(out, value_of(c, p, k));
    }
    pw_text_add(out, "}");
}

typedef double number(const struct pw_compare *c, size_t row, struct pw_compare_column column);

/* A member for each column, or each that has a mean; slowdowns and shares are objects. */
static void json_numbers(const struct pw_compare *c, size_t row, number *of, bool means, struct pw_text *out)
{
    static const char slowdowns[] = "slowdown", shares[] = "share";
    const char *open = NULL;
    if (!c->spec.reference_count)
        pw_text_add(out, ", \"slowdown\": {}");
    for (size_t i = 0; i < c->column_count; i++) {
        struct pw_compare_column column = c->columns[i];
        if (means && !pw_compare_has_mean(column))
            continue;
        const char *object = column.kind == PW_COMPARE_SLOWDOWN ? slowdowns : is_share(column) ? shares : NULL;
        if (open && open != object)
            pw_text_add(out, "}");
        pw_text_add(out, ", ");
        if (object && open != object)
            pw_text_print(out, "\"%s\": {", object);
        pw_text_json_string(out, column.kind == PW_COMPARE_SLOWDOWN ? c->spec.references[column.number]
                                                                    : pw_compare_column_name(column));
        pw_text_add(out, ": ");
        pw_text_real(out, of(c, row, column));
        open = object;
    }
    pw_text_add(out, open ? "}" : "");
}

static void json_row(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    size_t job = pw_compare_job(c, row);
    json_place(c, &p, out);
    member(out, "workload", c->spec.workloads[p.workload]);
    if (!c->runs[job])
        member(out, "failure", c->jobs[job].message);
    json_numbers(c, row, pw_compare_number, false, out);
    pw_text_add(out, "}");
}

void pw_compare_json(const struct pw_compare *c, struct pw_text *out)
{
    pw_text_add(out, "{\n  \"version\": ");
    pw_text_json_string(out, pw_core_version());
    pw_text_add(out, ",\n  \"against\": [");
    for (size_t i = 0; i < c->spec.reference_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_json_string(out, c->spec.references[i]);
    }
    pw_text_add(out, "],\n  \"rows\": [");
    for (size_t row = 0; row < c->row_count; row++) {
        if (pw_compare_repeats(c, row))
            continue;
        pw_text_add(out, row ? ",\n    " : "\n    ");
        json_row(c, row, out);
    }
    pw_text_add(out, "\n  ],\n  \"means\": [");
    size_t places = pw_compare_has_means(c) ? c->row_count / c->spec.workload_count : 0;
    for (size_t row = 0; row < places; row++) {
        if (pw_compare_repeats(c, row))
            continue;
        struct pw_compare_place p = pw_compare_place(c, row);
        pw_text_add(out, row ? ",\n    " : "\n    ");
        json_place(c, &p, out);
        json_numbers(c, row, pw_compare_mean, true, out);
        pw_text_add(out, "}");
    }
    pw_text_add(out, places ? "\n  ]\n}\n" : "]\n}\n");
}
