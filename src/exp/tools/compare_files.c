/* A comparison for programs: CSV with a line per row, JSON with the same numbers, and the means (docs/compare.md).
 *
 * Both have every number of the table, unrounded, and every setting, also one that does not vary. What is not known is
 * empty in CSV and null in JSON. */
#include "exp/tools/compare.h"

#include "system/inputs.h"

#include <math.h>
#include <string.h>

static const struct pw_stored_run *run_of(const struct pw_compare *c, size_t row)
{
    return c->runs[pw_compare_job(c, row)];
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

static void csv_header(const struct pw_compare *c, struct pw_text *out)
{
    pw_text_add(out, "machine,design,workload,seed");
    for (size_t k = 0; k < c->setting_count; k++)
        csv_field(out, c->settings[k].key);
    pw_text_add(out, ",cycles,nanoseconds");
    for (size_t i = 0; i < c->spec.reference_count; i++) {
        struct pw_text name = {0};
        pw_text_print(&name, "slowdown.%s", c->spec.references[i]);
        csv_field(out, name.bytes ? name.bytes : "");
        pw_text_free(&name);
    }
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++)
        csv_field(out, pw_compare_measures[m].name);
    pw_text_add(out, "\n");
}

static void csv_row(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    const struct pw_stored_run *r = run_of(c, row);
    pw_text_csv_field(out, c->spec.machines[p.machine]);
    csv_field(out, c->designs[p.design]);
    csv_field(out, c->spec.workloads[p.workload]);
    pw_text_print(out, ",%llu", (unsigned long long)c->spec.seeds[p.seed]);
    for (size_t k = 0; k < c->setting_count; k++)
        csv_field(out, pw_compare_value(c, p.values, k));
    if (r)
        pw_text_print(out, ",%llu", (unsigned long long)r->cycles);
    else
        pw_text_add(out, ",");
    csv_real(out, r ? r->nanoseconds : NAN);
    for (size_t i = 0; i < c->spec.reference_count; i++)
        csv_real(out, pw_compare_slowdown(c, row, i));
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++)
        csv_real(out, pw_compare_measure(c, row, m));
    pw_text_add(out, "\n");
}

void pw_compare_csv(const struct pw_compare *c, struct pw_text *out)
{
    csv_header(c, out);
    for (size_t row = 0; row < c->row_count; row++)
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
        pw_text_json_string(out, pw_compare_value(c, p->values, k));
    }
    pw_text_add(out, "}");
}

typedef double slowdown(const struct pw_compare *c, size_t row, size_t reference);

static void json_slowdowns(const struct pw_compare *c, size_t row, slowdown *of, struct pw_text *out)
{
    pw_text_add(out, ", \"slowdown\": {");
    for (size_t i = 0; i < c->spec.reference_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_json_string(out, c->spec.references[i]);
        pw_text_add(out, ": ");
        pw_text_real(out, of(c, row, i));
    }
    pw_text_add(out, "}");
}

/* "share.walk" of CSV is "walk" in the object "share". */
static const char *member_name(enum pw_compare_measure m)
{
    const char *name = pw_compare_measures[m].name;
    return m < PW_COMPARE_FIRST_SHARE ? name : strchr(name, '.') + 1;
}

static void json_row(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    const struct pw_pool_job *job = &c->jobs[pw_compare_job(c, row)];
    const struct pw_stored_run *r = run_of(c, row);
    json_place(c, &p, out);
    member(out, "workload", c->spec.workloads[p.workload]);
    if (r) {
        pw_text_print(out, ", \"cycles\": %llu, \"nanoseconds\": ", (unsigned long long)r->cycles);
        pw_text_real(out, r->nanoseconds);
    } else {
        pw_text_add(out, ", \"cycles\": null, \"nanoseconds\": null");
        member(out, "failure", job->message);
    }
    json_slowdowns(c, row, pw_compare_slowdown, out);
    for (unsigned m = 0; m < PW_COMPARE_MEASURE_COUNT; m++) {
        if (m == PW_COMPARE_FIRST_SHARE)
            pw_text_add(out, ", \"share\": {");
        pw_text_add(out, m == PW_COMPARE_FIRST_SHARE ? "" : ", ");
        pw_text_json_string(out, member_name(m));
        pw_text_add(out, ": ");
        pw_text_real(out, pw_compare_measure(c, row, m));
    }
    pw_text_add(out, "}}");
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
        pw_text_add(out, row ? ",\n    " : "\n    ");
        json_row(c, row, out);
    }
    pw_text_add(out, "\n  ],\n  \"means\": [");
    size_t places = c->spec.workload_count > 1 && c->spec.reference_count ? c->row_count / c->spec.workload_count : 0;
    for (size_t row = 0; row < places; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        pw_text_add(out, row ? ",\n    " : "\n    ");
        json_place(c, &p, out);
        json_slowdowns(c, row, pw_compare_mean_slowdown, out);
        pw_text_add(out, "}");
    }
    pw_text_add(out, places ? "\n  ]\n}\n" : "]\n}\n");
}
