/* A result in long form: one value per row, so that results of different machines and versions can be laid under one
 * another and a spreadsheet or a shell loop can pick what it wants.
 *
 * Columns: run (machine/design/applications/seed, then what was set by hand and what was left out of the metrics, so
 * that the rows of several runs in one file can be told apart), app ("app0", or empty for the whole machine),
 * component, metric, unit, value, and in rows of a launch its kernel's short name. A metric named "app0.l1_tlb.hits"
 * has app "app0", component "l1_tlb" and metric "hits"; the whole machine's "gpu0.l1_tlb.hits" has component
 * "gpu0.l1_tlb", since there may be several GPUs. Rows of a kernel launch or an interval have it in front of the
 * component: "kernel3.l1_tlb"; those of an allocation have component "allocation.NAME"; "breakdown" is in percent, its
 * cycles are the metrics of "warp". Component "host" depends on the host. */
#include "exp/format/kernel_name.h"
#include "exp/format/result.h"
#include "sim/scope.h"
#include "uvm/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct pw_text *out;
    struct pw_text run; /* the first field of every row, quoted and with its comma */
    const char *kernel; /* the last one */
};

enum { LABEL_CAPACITY = 160 };

static void start_row(struct writer *w, const char *app, const char *component, const char *metric, const char *unit)
{
    pw_text_append(w->out, w->run.bytes, w->run.length);
    const char *fields[] = {app, component, metric, unit};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        pw_text_csv_field(w->out, fields[i] ? fields[i] : "");
        pw_text_add(w->out, ",");
    }
}

static void end_row(struct writer *w)
{
    pw_text_add(w->out, ",");
    pw_text_csv_field(w->out, w->kernel ? w->kernel : "");
    pw_text_add(w->out, "\n");
}

static void integer_row(struct writer *w, const char *app, const char *component, const char *metric, const char *unit,
                        uint64_t value)
{
    start_row(w, app, component, metric, unit);
    pw_text_print(w->out, "%llu", (unsigned long long)value);
    end_row(w);
}

static void real_row(struct writer *w, const char *app, const char *component, const char *metric, const char *unit,
                     double value)
{
    start_row(w, app, component, metric, unit);
    pw_text_real(w->out, value);
    end_row(w);
}

/* Splits "l1_tlb.hits" at its first point into component (after `prefix`) and metric. */
static const char *split_component(const char *name, const char *prefix, char component[LABEL_CAPACITY])
{
    size_t length = strcspn(name, ".");
    snprintf(component, LABEL_CAPACITY, "%s%.*s", prefix, (int)length, name);
    return name[length] ? name + length + 1 : name;
}

static void metric_row(struct writer *w, const struct pw_metric *m)
{
    char app[LABEL_CAPACITY] = "", prefix[LABEL_CAPACITY] = "", component[LABEL_CAPACITY];
    size_t scope = strcspn(m->name, ".");
    const char *rest = m->name[scope] ? m->name + scope + 1 : m->name;
    if (pw_scope_is_app(m->name))
        snprintf(app, sizeof app, "%.*s", (int)scope, m->name);
    else if (rest != m->name)
        snprintf(prefix, sizeof prefix, "%.*s.", (int)scope, m->name);
    const char *metric = split_component(rest, prefix, component);
    if (m->is_integer)
        integer_row(w, app, component, metric, m->unit, m->integer);
    else
        real_row(w, app, component, metric, m->unit, m->real);
}

static void allocation_rows(struct writer *w, const struct pw_allocation_result *a)
{
    char app[32], component[LABEL_CAPACITY];
    snprintf(app, sizeof app, "app%u", a->app);
    snprintf(component, sizeof component, "allocation.%s", a->name);
    integer_row(w, app, component, "count", "", a->count);
    integer_row(w, app, component, "bytes", "bytes", a->bytes);
    integer_row(w, app, component, "pages", "pages", a->pages);
#define ROW(member, unit) integer_row(w, app, component, #member, unit, a->member);
    PW_ALLOCATION_COUNTERS(ROW)
#undef ROW
}

static void breakdown_row(struct writer *w, const struct pw_breakdown_row *row)
{
    char app[32];
    snprintf(app, sizeof app, "app%u", row->app);
    real_row(w, app, "breakdown", row->state, "%", row->percent);
}

static const char *unit_of(const struct pw_result *r, const char *window_metric)
{
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *point = strchr(r->metrics[i].name, '.');
        if (point && strcmp(point + 1, window_metric) == 0)
            return r->metrics[i].unit;
    }
    return "";
}

static void window_rows(struct writer *w, const struct pw_result *r, const char *kind, const struct pw_window *windows,
                        size_t count, const char *const *units)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_window *window = &windows[i];
        char app[32] = "", name[64], prefix[80], component[LABEL_CAPACITY], kernel[PW_KERNEL_NAME_SHORT] = "";
        if (window->name) { /* a kernel is one application's; an interval is the whole GPU's */
            snprintf(app, sizeof app, "app%u", window->app);
            pw_kernel_name_short(window->name, kernel, sizeof kernel);
        }
        w->kernel = kernel;
        snprintf(name, sizeof name, "%s%u", kind, window->index);
        snprintf(prefix, sizeof prefix, "%s.", name);
        integer_row(w, app, name, "first_cycle", "cycles", window->first_cycle);
        integer_row(w, app, name, "outer_cycle", "cycles", window->outer_cycle);
        for (size_t k = 0; k < r->window_metric_count; k++) {
            const char *metric = split_component(r->window_metrics[k], prefix, component);
            real_row(w, app, component, metric, units[k], window->values[k]);
        }
        w->kernel = NULL;
    }
}

static void add_windows(struct writer *w, const struct pw_result *r)
{
    if (!r->kernel_count && !r->interval_count)
        return;
    const char **units = calloc(r->window_metric_count + 1, sizeof *units);
    if (!units) {
        w->out->failed = true;
        return;
    }
    for (size_t k = 0; k < r->window_metric_count; k++)
        units[k] = unit_of(r, r->window_metrics[k]);
    window_rows(w, r, "kernel", r->kernels, r->kernel_count, units);
    window_rows(w, r, "interval", r->intervals, r->interval_count, units);
    free(units);
}

/* "/l1_tlb.ports=2/warmup=30000" */
static void name_settings(const struct pw_result *r, struct pw_text *name)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (r->options[i].origin && !strcmp(r->options[i].origin, "--set"))
            pw_text_print(name, "/%s=%s", r->options[i].name, r->options[i].value);
    if (r->made.warmup)
        pw_text_print(name, "/warmup=%llu", (unsigned long long)r->made.warmup);
    if (r->made.kernels)
        pw_text_print(name, "/kernels=%s", r->made.kernels);
}

static void name_run(const struct pw_result *r, struct writer *w)
{
    struct pw_text name = {0};
    pw_text_print(&name, "%s/%s/", r->machine, r->design);
    for (size_t i = 0; i < r->app_count; i++)
        pw_text_print(&name, "%s%s", i ? "," : "", r->apps[i].name);
    pw_text_print(&name, "/%llu", (unsigned long long)r->seed);
    name_settings(r, &name);
    if (name.failed)
        w->out->failed = true;
    else
        pw_text_csv_field(&w->run, name.bytes);
    pw_text_add(&w->run, ",");
    pw_text_free(&name);
}

void pw_result_csv(const struct pw_result *r, struct pw_text *out)
{
    struct writer w = {.out = out};
    name_run(r, &w);
    if (w.run.failed)
        out->failed = true;
    if (out->failed)
        goto out;
    pw_text_add(out, "run,app,component,metric,unit,value,kernel\n");
    integer_row(&w, "", "run", "cycles", "cycles", r->cycles);
    real_row(&w, "", "run", "nanoseconds", "ns", r->nanoseconds);
    real_row(&w, "", "run", "ipc_throughput", "instructions/cycle", r->ipc_throughput);
    if (r->weighted_speedup > 0) {
        real_row(&w, "", "run", "weighted_speedup", "", r->weighted_speedup);
        real_row(&w, "", "run", "unfairness", "", r->unfairness);
    }
    for (size_t i = 0; i < r->app_count; i++) {
        char app[32];
        snprintf(app, sizeof app, "app%zu", i);
        integer_row(&w, app, "run", "warp_instructions", "instructions", r->apps[i].warp_instructions);
        integer_row(&w, app, "run", "cycles", "cycles", r->apps[i].cycles);
        real_row(&w, app, "run", "ipc", "instructions/cycle", r->apps[i].ipc);
        if (r->apps[i].ipc_alone > 0)
            real_row(&w, app, "run", "ipc_alone", "instructions/cycle", r->apps[i].ipc_alone);
        integer_row(&w, app, "run", "sms", "SMs", r->apps[i].sms);
    }
    for (size_t i = 0; i < r->allocation_count; i++)
        allocation_rows(&w, &r->allocations[i]);
    for (size_t i = 0; i < r->breakdown_count; i++)
        breakdown_row(&w, &r->breakdown[i]);
    for (size_t i = 0; i < r->metric_count; i++)
        metric_row(&w, &r->metrics[i]);
    add_windows(&w, r);
    real_row(&w, "", "host", "wall_seconds", "s", r->wall_seconds);
    integer_row(&w, "", "host", "peak_rss_bytes", "bytes", r->peak_rss_bytes);
    integer_row(&w, "", "host", "events", "events", r->events);
    integer_row(&w, "", "host", "memory_operations", "operations", r->memory_operations);
out:
    pw_text_free(&w.run);
}
