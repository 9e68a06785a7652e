/* A result as one JSON object (docs/results.md).
 *
 * Members come in a fixed order, one metric per line, numbers as the shortest decimals that read back the same: two
 * runs of the same inputs give the same bytes up to "host", which stands last, and a text diff of two files is
 * readable. The command stands in "host", since it names files that need not be the same. Rows of launches name their
 * metrics. Those of intervals are arrays parallel to "window_metrics", since repeating a hundred names in each of a
 * million rows would make most of the file. */
#include "exp/format/kernel_name.h"
#include "exp/format/result.h"
#include "uvm/allocation.h"

#include <string.h>

static const char *between(size_t index)
{
    return index ? ",\n" : "\n";
}

static void add_integer(struct pw_text *out, const char *name, uint64_t value)
{
    pw_text_print(out, "\"%s\": %llu", name, (unsigned long long)value);
}

static void add_real(struct pw_text *out, const char *name, double value)
{
    pw_text_print(out, "\"%s\": ", name);
    pw_text_real(out, value);
}

static void add_string(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, "\"%s\": ", name);
    pw_text_json_string(out, value ? value : "");
}

static void add_options(const struct pw_result *r, struct pw_text *out)
{
    pw_text_add(out, "  \"options\": {");
    for (size_t i = 0; i < r->option_count; i++) {
        pw_text_print(out, "%s    ", between(i));
        pw_text_json_string(out, r->options[i].name);
        pw_text_add(out, ": ");
        pw_text_json_string(out, r->options[i].value);
    }
    /* Who set what; what is not here has its default. */
    pw_text_add(out, "\n  },\n  \"option_origins\": {");
    size_t listed = 0;
    for (size_t i = 0; i < r->option_count; i++) {
        const char *origin = r->options[i].origin;
        if (!origin || strcmp(origin, "default") == 0)
            continue;
        pw_text_print(out, "%s    ", between(listed++));
        pw_text_json_string(out, r->options[i].name);
        pw_text_add(out, ": ");
        pw_text_json_string(out, origin);
    }
    pw_text_add(out, "\n  },\n");
}

static void add_apps(const struct pw_result *r, struct pw_text *out)
{
    pw_text_add(out, "  \"apps\": [");
    for (size_t i = 0; i < r->app_count; i++) {
        const struct pw_app_result *app = &r->apps[i];
        pw_text_print(out, "%s    {", between(i));
        add_string(out, "name", app->name);
        pw_text_add(out, ", ");
        add_integer(out, "warp_instructions", app->warp_instructions);
        pw_text_add(out, ", ");
        add_integer(out, "cycles", app->cycles);
        pw_text_add(out, ", ");
        add_real(out, "ipc", app->ipc);
        pw_text_add(out, ", ");
        if (app->ipc_alone > 0) {
            add_real(out, "ipc_alone", app->ipc_alone);
            pw_text_add(out, ", ");
        }
        add_integer(out, "sms", app->sms);
        pw_text_add(out, ", ");
        add_integer(out, "checks", app->checks);
        pw_text_add(out, "}");
    }
    pw_text_add(out, "\n  ],\n");
}

void pw_allocation_json(const struct pw_allocation_result *a, struct pw_text *out)
{
    pw_text_add(out, "{");
    add_string(out, "name", a->name);
    pw_text_add(out, ", ");
    add_integer(out, "app", a->app);
    pw_text_add(out, ", ");
    add_integer(out, "count", a->count);
    pw_text_add(out, ", ");
    add_integer(out, "bytes", a->bytes);
    pw_text_add(out, ", ");
    add_integer(out, "pages", a->pages);
#define MEMBER(member, unit)                                                                                           \
    pw_text_add(out, ", ");                                                                                            \
    add_integer(out, #member, a->member);
    PW_ALLOCATION_COUNTERS(MEMBER)
#undef MEMBER
    pw_text_add(out, "}");
}

static void add_allocations(const struct pw_result *r, struct pw_text *out)
{
    if (!r->allocation_count)
        return;
    pw_text_add(out, "  \"allocations\": [");
    for (size_t i = 0; i < r->allocation_count; i++) {
        pw_text_print(out, "%s    ", between(i));
        pw_allocation_json(&r->allocations[i], out);
    }
    pw_text_add(out, "\n  ],\n");
}

static void add_breakdown(const struct pw_result *r, struct pw_text *out)
{
    if (!r->breakdown_count)
        return;
    pw_text_add(out, "  \"breakdown\": [");
    for (size_t i = 0; i < r->breakdown_count; i++) {
        const struct pw_breakdown_row *row = &r->breakdown[i];
        pw_text_print(out, "%s    {", between(i));
        add_integer(out, "app", row->app);
        pw_text_add(out, ", ");
        add_string(out, "state", row->state);
        pw_text_add(out, ", ");
        add_integer(out, "cycles", row->cycles);
        pw_text_add(out, ", ");
        add_real(out, "percent", row->percent);
        pw_text_add(out, "}");
    }
    pw_text_add(out, "\n  ],\n");
}

static void add_metrics(const struct pw_result *r, struct pw_text *out)
{
    pw_text_add(out, "  \"metrics\": {");
    for (size_t i = 0; i < r->metric_count; i++) {
        const struct pw_metric *m = &r->metrics[i];
        pw_text_print(out, "%s    ", between(i));
        pw_text_json_string(out, m->name);
        pw_text_add(out, ": ");
        if (m->is_integer)
            pw_text_print(out, "%llu", (unsigned long long)m->integer);
        else
            pw_text_real(out, m->real);
    }
    pw_text_add(out, "\n  },\n");
}

static void add_identities(const struct pw_result *r, struct pw_text *out)
{
    pw_text_add(out, "  \"identities\": [");
    for (size_t i = 0; i < r->identity_count; i++) {
        pw_text_print(out, "%s    {", between(i));
        add_string(out, "name", r->identities[i].name);
        pw_text_print(out, ", \"holds\": %s}", r->identities[i].holds ? "true" : "false");
    }
    pw_text_add(out, "\n  ],\n");
}

static void add_span(const struct pw_window *w, struct pw_text *out)
{
    add_integer(out, "first_cycle", w->first_cycle);
    pw_text_add(out, ", ");
    add_integer(out, "outer_cycle", w->outer_cycle);
}

static void add_kernels(const struct pw_result *r, struct pw_text *out)
{
    if (!r->kernel_count)
        return;
    pw_text_add(out, "  \"kernels\": [");
    for (size_t i = 0; i < r->kernel_count; i++) {
        const struct pw_window *w = &r->kernels[i];
        char brief[PW_KERNEL_NAME_SHORT];
        pw_kernel_name_short(w->name, brief, sizeof brief);
        pw_text_print(out, "%s    {", between(i));
        add_string(out, "kernel", w->name);
        pw_text_add(out, ", ");
        add_string(out, "short", brief);
        pw_text_add(out, ", ");
        add_integer(out, "launch", w->index);
        pw_text_add(out, ", ");
        add_integer(out, "app", w->app);
        pw_text_add(out, ", ");
        add_span(w, out);
        pw_text_add(out, ", ");
        add_integer(out, "cycles", w->outer_cycle - w->first_cycle);
        pw_text_add(out, ",\n     \"metrics\": {");
        for (size_t k = 0; k < r->window_metric_count; k++) {
            pw_text_add(out, k ? ", " : "");
            add_real(out, r->window_metrics[k], w->values[k]);
        }
        pw_text_add(out, "}}");
    }
    pw_text_add(out, "\n  ],\n");
}

static void add_intervals(const struct pw_result *r, struct pw_text *out)
{
    if (!r->interval_count)
        return;
    pw_text_add(out, "  \"window_metrics\": [");
    for (size_t i = 0; i < r->window_metric_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_json_string(out, r->window_metrics[i]);
    }
    pw_text_add(out, "],\n  \"intervals\": [");
    for (size_t i = 0; i < r->interval_count; i++) {
        const struct pw_window *w = &r->intervals[i];
        pw_text_print(out, "%s    {", between(i));
        add_integer(out, "index", w->index);
        pw_text_add(out, ", ");
        add_span(w, out);
        pw_text_add(out, ", \"values\": [");
        for (size_t k = 0; k < r->window_metric_count; k++) {
            pw_text_add(out, k ? ", " : "");
            pw_text_real(out, w->values[k]);
        }
        pw_text_add(out, "]}");
    }
    pw_text_add(out, "\n  ],\n");
}

/* How the run was asked for, as far as neither options nor applications say it. */
static void add_made(const struct pw_made *m, struct pw_text *out)
{
    pw_text_add(out, "  \"made\": {\n    ");
    add_string(out, "core_version", m->core_version);
    pw_text_add(out, ",\n    ");
    add_integer(out, "warmup", m->warmup);
    pw_text_add(out, ",\n    ");
    add_string(out, "kernels", m->kernels ? m->kernels : "all");
    pw_text_add(out, ",\n    ");
    add_integer(out, "interval", m->interval);
    pw_text_print(out, ",\n    \"alone\": %s,\n    \"breakdown\": %s", m->alone ? "true" : "false",
                  m->breakdown ? "true" : "false");
    if (m->note) {
        pw_text_add(out, ",\n    ");
        add_string(out, "note", m->note);
    }
    pw_text_add(out, "\n  },\n");
}

void pw_result_json(const struct pw_result *r, struct pw_text *out)
{
    pw_text_print(out, "{\n  \"schema\": %d,\n  ", PW_RESULT_SCHEMA);
    add_string(out, "version", pw_version());
    pw_text_add(out, ",\n  ");
    add_integer(out, "seed", r->seed);
    pw_text_add(out, ",\n  ");
    add_string(out, "machine", r->machine);
    pw_text_add(out, ",\n  ");
    add_string(out, "design", r->design);
    pw_text_add(out, ",\n");
    add_options(r, out);
    pw_text_add(out, "  ");
    add_integer(out, "cycles", r->cycles);
    pw_text_add(out, ",\n  ");
    add_real(out, "nanoseconds", r->nanoseconds);
    pw_text_add(out, ",\n  ");
    add_real(out, "ipc_throughput", r->ipc_throughput);
    if (r->weighted_speedup > 0) {
        pw_text_add(out, ",\n  ");
        add_real(out, "weighted_speedup", r->weighted_speedup);
        pw_text_add(out, ",\n  ");
        add_real(out, "unfairness", r->unfairness);
    }
    pw_text_add(out, ",\n");
    add_apps(r, out);
    add_allocations(r, out);
    add_breakdown(r, out);
    add_metrics(r, out);
    add_identities(r, out);
    add_kernels(r, out);
    add_intervals(r, out);
    add_made(&r->made, out);
    pw_text_add(out, "  \"host\": {\n    ");
    if (r->made.command) {
        add_string(out, "command", r->made.command);
        pw_text_add(out, ",\n    ");
    }
    add_real(out, "wall_seconds", r->wall_seconds);
    pw_text_add(out, ",\n    ");
    add_integer(out, "peak_rss_bytes", r->peak_rss_bytes);
    pw_text_add(out, ",\n    ");
    add_integer(out, "events", r->events);
    pw_text_add(out, ",\n    ");
    add_integer(out, "memory_operations", r->memory_operations);
    pw_text_add(out, "\n  }\n}\n");
}
