/* Turns a finished system into a result that stands on its own. */
#include "gpu/breakdown.h"
#include "system/system.h"

#include "sim/c_locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A result and everything it points to. Memory is taken from a list of blocks, so that freeing it is one walk. */
struct block {
    struct block *next;
    max_align_t bytes[];
};

struct box {
    struct pw_result result;
    struct block *blocks;
    bool out_of_memory;
};

static void *take(struct box *b, size_t count, size_t size)
{
    struct block *block = calloc(1, sizeof *block + count * size);
    if (!block) {
        b->out_of_memory = true;
        return NULL;
    }
    block->next = b->blocks;
    b->blocks = block;
    return block->bytes;
}

static const char *text(struct box *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *text(struct box *b, const char *format, ...)
{
    char buffer[PW_OPTION_TEXT_CAPACITY];
    va_list args;
    va_start(args, format);
    pw_c_vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    char *copy = take(b, strlen(buffer) + 1, 1);
    if (copy)
        strcpy(copy, buffer);
    return copy;
}

void pw_result_free(struct pw_result *r)
{
    if (!r)
        return;
    struct box *b = (struct box *)r;
    for (struct block *block = b->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(b);
}

/* A text of any length; NULL stays NULL. */
static const char *copy(struct box *b, const char *string)
{
    char *bytes = string ? take(b, strlen(string) + 1, 1) : NULL;
    return bytes ? strcpy(bytes, string) : NULL;
}

/* What the machine and each program have to say of themselves, joined by "; "; NULL: nothing. */
static const char *notes(struct box *b, const struct pw_system *s)
{
    const char *all = *s->config.machine_note ? copy(b, s->config.machine_note) : NULL;
    for (unsigned i = 0; i < s->app_count; i++) {
        const char *note = s->apps[i].host ? pw_host_get_note(s->apps[i].host) : "";
        size_t length = strlen(note) + (all ? strlen(all) : 0) + sizeof "; ";
        char *joined = *note ? take(b, length, 1) : NULL;
        if (joined)
            snprintf(joined, length, "%s%s%s", all ? all : "", all ? "; " : "", note);
        all = joined ? joined : all;
    }
    return all;
}

static void add_made(struct box *b, const struct pw_system *s)
{
    const struct pw_run_spec *spec = s->spec;
    b->result.made = (struct pw_made){.core_version = copy(b, pw_core_version()),
                                      .command = copy(b, spec->command),
                                      .note = notes(b, s),
                                      .kernels = copy(b, spec->kernels),
                                      .warmup = spec->warmup,
                                      .interval = spec->interval,
                                      .alone = spec->alone,
                                      .breakdown = spec->breakdown};
}

static void add_apps(struct box *b, const struct pw_system *s)
{
    struct pw_result *r = &b->result;
    int issued = pw_stats_find(s->stats, "sm.issued");
    r->apps = take(b, s->app_count, sizeof *r->apps);
    if (!r->apps)
        return;
    r->app_count = s->app_count;
    for (unsigned i = 0; i < s->app_count; i++) {
        const struct pw_app *a = &s->apps[i];
        /* A region of kernels has its own borders; otherwise an application counts until it has finished once. */
        pw_cycle outer = s->first_kernel ? s->region_outer : a->end;
        uint64_t until =
            s->first_kernel ? pw_stats_exact(s->stats, (size_t)issued, (int)i, NULL, s->region_to) : a->instructions;
        uint64_t before = s->region_from ? pw_stats_exact(s->stats, (size_t)issued, (int)i, NULL, s->region_from) : 0;
        struct pw_app_result *app = &r->apps[i];
        *app = (struct pw_app_result){.name = text(b, "%s", a->program.text),
                                      .warp_instructions = until > before ? until - before : 0,
                                      .cycles = outer > s->region_first ? outer - s->region_first : 0,
                                      .sms = s->config.gpu.app_sms[i],
                                      .checks = a->checks};
        app->ipc = app->cycles ? (double)app->warp_instructions / (double)app->cycles : 0;
        r->ipc_throughput += app->ipc;
    }
}

static void add_allocations(struct box *b, const struct pw_system *s)
{
    struct pw_result *r = &b->result;
    r->allocations = take(b, s->allocation_count, sizeof *r->allocations);
    for (size_t i = 0; r->allocations && i < s->allocation_count; i++) {
        r->allocations[i] = s->allocations[i];
        r->allocations[i].name = text(b, "%s", s->allocations[i].name);
        r->allocation_count = i + 1;
    }
}

static void add_breakdown(struct box *b, const struct pw_system *s)
{
    static const char *const states[] = {
#define NAME(constant, name, help) name,
        PW_WARP_TIMES(NAME)
#undef NAME
    };
    struct pw_result *r = &b->result;
    if (!s->spec->breakdown)
        return;
    r->breakdown = take(b, s->app_count * (size_t)PW_WARP_TIME_COUNT, sizeof *r->breakdown);
    int resident = pw_stats_find(s->stats, "warp.resident");
    for (unsigned app = 0; r->breakdown && app < s->app_count; app++) {
        double all = pw_stats_value(s->stats, (size_t)resident, (int)app, s->region_from, s->region_to);
        for (size_t i = 0; i < PW_WARP_TIME_COUNT; i++) {
            size_t metric = (size_t)resident + 1 + i; /* they are registered in this order */
            uint64_t cycles = pw_stats_exact(s->stats, metric, (int)app, s->region_from, s->region_to);
            r->breakdown[r->breakdown_count++] = (struct pw_breakdown_row){app, text(b, "%s", states[i]), cycles,
                                                                           all > 0 ? 100 * (double)cycles / all : 0};
        }
    }
}

static void add_options(struct box *b, const struct pw_options *options)
{
    struct pw_result *r = &b->result;
    size_t count = pw_options_count(options);
    r->options = take(b, count, sizeof *r->options);
    for (size_t i = 0; r->options && i < count; i++) {
        struct pw_option_view view;
        pw_options_view(options, i, &view);
        r->options[i] =
            (struct pw_option_value){text(b, "%s", view.name), text(b, "%s", view.value), text(b, "%s", view.origin)};
        r->option_count = i + 1;
    }
}

struct pw_metric pw_system_metric(const struct pw_system *s, const struct pw_stats_view *view, size_t index,
                                  const uint64_t *from, const uint64_t *to, char name[PW_SYSTEM_METRIC_CAPACITY])
{
    struct pw_metric_info info = pw_stats_info(s->stats, index);
    struct pw_metric m = {.name = name, .unit = info.unit, .is_integer = !info.is_ratio};
    snprintf(name, PW_SYSTEM_METRIC_CAPACITY, "%s.%s", view->prefix, info.name);
    m.real = pw_stats_value_in(s->stats, index, view->scope, view->app, from, to);
    if (m.is_integer)
        m.integer = pw_stats_exact_in(s->stats, index, view->scope, view->app, from, to);
    return m;
}

static void add_metrics(struct box *b, const struct pw_system *s)
{
    struct pw_result *r = &b->result;
    size_t count = pw_stats_count(s->stats), views = pw_stats_view_count(s->stats);
    r->metrics = take(b, views * count, sizeof *r->metrics);
    for (size_t k = 0; r->metrics && k < views; k++) {
        struct pw_stats_view view = pw_stats_view(s->stats, k);
        for (size_t i = 0; i < count; i++) {
            if (!pw_stats_has(s->stats, i, view.scope))
                continue;
            char name[PW_SYSTEM_METRIC_CAPACITY];
            struct pw_metric *m = &r->metrics[r->metric_count++];
            *m = pw_system_metric(s, &view, i, s->region_from, s->region_to, name);
            m->name = text(b, "%s", name);
            m->unit = text(b, "%s", m->unit);
        }
    }
}

static struct pw_window *add_windows(struct box *b, const struct pw_system *s, const struct pw_spans *spans,
                                     size_t *out_count)
{
    size_t metrics = pw_stats_count(s->stats);
    struct pw_window *windows = take(b, spans->count, sizeof *windows);
    for (size_t i = 0; windows && i < spans->count; i++) {
        const struct pw_span *span = &spans->rows[i];
        double *values = take(b, metrics, sizeof *values);
        if (!values || !span->to)
            break;
        for (size_t k = 0; k < metrics; k++)
            values[k] = pw_stats_value(s->stats, k, span->name ? (int)span->app : -1, span->from, span->to);
        windows[i] = (struct pw_window){.name = span->name ? text(b, "%s", span->name) : NULL,
                                        .app = span->app,
                                        .index = span->index,
                                        .first_cycle = span->first,
                                        .outer_cycle = span->outer,
                                        .values = values};
        *out_count = i + 1;
    }
    return windows;
}

static void add_window_names(struct box *b, const struct pw_system *s)
{
    struct pw_result *r = &b->result;
    size_t metrics = pw_stats_count(s->stats);
    r->window_metrics = take(b, metrics, sizeof *r->window_metrics);
    for (size_t i = 0; r->window_metrics && i < metrics; i++)
        r->window_metrics[i] = text(b, "%s", pw_stats_info(s->stats, i).name);
    r->window_metric_count = r->window_metrics ? metrics : 0;
}

/* Checks an identity on one window of a run for one application. */
static enum pw_status check_window(const struct pw_system *s, size_t identity, const struct pw_span *window,
                                   unsigned app, struct pw_error *err)
{
    enum pw_status status = pw_stats_identity_between(s->stats, identity, app, window->from, window->to, err);
    if (status != PW_OK)
        pw_error_prefix(err, "cycles %llu to %llu", (unsigned long long)window->first,
                        (unsigned long long)window->outer);
    return status;
}

/* Checks it on everything that is reported: the region, every launch, every interval; and on the machine at rest. */
static enum pw_status check_identity(struct pw_system *s, size_t identity, struct pw_error *err)
{
    const struct pw_span region = {
        .first = s->region_first, .outer = s->region_outer, .from = s->region_from, .to = s->region_to};
    enum pw_status status = pw_stats_identity_run(s->stats, identity, err);
    for (unsigned app = 0; status == PW_OK && app < s->app_count; app++)
        status = check_window(s, identity, &region, app, err);
    for (size_t i = 0; status == PW_OK && i < s->kernels.count; i++)
        if (s->kernels.rows[i].to)
            status = check_window(s, identity, &s->kernels.rows[i], s->kernels.rows[i].app, err);
    for (size_t i = 0; status == PW_OK && i < s->intervals.count; i++)
        for (unsigned app = 0; status == PW_OK && app < s->app_count; app++)
            status = check_window(s, identity, &s->intervals.rows[i], app, err);
    return status;
}

static enum pw_status add_identities(struct box *b, struct pw_system *s, struct pw_error *err)
{
    struct pw_result *r = &b->result;
    size_t count = pw_stats_identity_count(s->stats);
    r->identities = take(b, count, sizeof *r->identities);
    for (size_t i = 0; r->identities && i < count; i++) {
        enum pw_status status = check_identity(s, i, err);
        if (status != PW_OK)
            return status;
        r->identities[i] = (struct pw_identity_result){text(b, "%s", pw_stats_identity_name(s->stats, i)), true};
        r->identity_count = i + 1;
    }
    return PW_OK;
}

enum pw_status pw_system_result(struct pw_system *s, struct pw_options *options, const char *machine,
                                const char *design, double wall_seconds, struct pw_result **out, struct pw_error *err)
{
    *out = NULL;
    struct box *b = calloc(1, sizeof *b);
    if (!b)
        return pw_fail_memory(err, "result");
    struct pw_result *r = &b->result;
    r->seed = s->seed;
    r->cycles = s->region_outer - s->region_first;
    r->nanoseconds = (double)r->cycles * 1000.0 / (double)s->config.gpu.clock_mhz;
    r->machine = text(b, "%s", machine);
    r->design = text(b, "%s", design);
    add_apps(b, s);
    add_allocations(b, s);
    add_breakdown(b, s);
    add_options(b, options);
    add_metrics(b, s);
    add_window_names(b, s);
    r->kernels = add_windows(b, s, &s->kernels, &r->kernel_count);
    r->intervals = add_windows(b, s, &s->intervals, &r->interval_count);
    add_made(b, s);
    enum pw_status status = add_identities(b, s, err);
    r->wall_seconds = wall_seconds;
    r->events = s->events->executed;
    for (unsigned i = 0; i < s->node_count; i++)
        r->memory_operations += pw_gpu_memory_instructions(s->nodes[i].gpu);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    r->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    if (status == PW_OK && b->out_of_memory)
        status = pw_fail_memory(err, "result");
    if (status != PW_OK) {
        pw_result_free(r);
        return status;
    }
    *out = r;
    return PW_OK;
}
