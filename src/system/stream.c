/* A stream (pagewalk/stream.h) from its specification to its result: building, time, metrics. */
#include "system/stream_internal.h"

#include "mem/dram_clock.h"
#include "system/inputs.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_DEFAULT = 16, QUEUE_MOST = 4096 };

/* What its program is made from. */
struct parameters {
    struct pw_stream *stream;
};

static const struct pw_option no_parameters[] = {{0}};

/* The program of an application: one launch, which ends with the stream. */
static void stream_main(struct pw_host *h, const void *parameters)
{
    struct pw_stream *s = ((const struct parameters *)parameters)->stream;
    pw_launch(h, &(struct pw_launch){.name = "stream",
                                     .grid = {s->feed_count, 1, 1},
                                     .block = {PW_WARP_LANES, 1, 1},
                                     .kernel = pw_feed_kernel,
                                     .arguments = s});
}

static enum pw_status create_programs(struct pw_stream *s, struct pw_error *err)
{
    s->workload = (struct pw_workload){.name = "stream",
                                       .suite = "stream",
                                       .summary = "",
                                       .parameters = no_parameters,
                                       .parameters_bytes = sizeof(struct parameters),
                                       .main = stream_main};
    for (unsigned i = 0; i < s->apps; i++) {
        struct parameters *parameters = malloc(sizeof *parameters);
        if (!parameters)
            return pw_fail_memory(err, "a stream");
        parameters->stream = s;
        s->programs[i] =
            (struct pw_program){.workload = &s->workload, .parameters = parameters, .scale = 1, .text = "stream"};
    }
    return PW_OK;
}

static enum pw_status check_spec(const struct pw_stream_spec *spec, struct pw_error *err)
{
    if (spec->apps > PW_MAX_APPS)
        return pw_fail(err, PW_USER_ERROR, "a stream of %u applications: at most %d can share a GPU", spec->apps,
                       PW_MAX_APPS);
    if (spec->queue > QUEUE_MOST)
        return pw_fail(err, PW_USER_ERROR, "a queue of %u operations: at most %d", spec->queue, QUEUE_MOST);
    return PW_OK;
}

static enum pw_status build(struct pw_stream *s, struct pw_error *err)
{
    enum pw_status status = pw_run_configure(&s->spec, &s->config, &s->options, s->design, sizeof s->design, err);
    if (status != PW_OK)
        return status;
    if (s->config.sim.reuse)
        return pw_fail(err, PW_USER_ERROR,
                       "sim.reuse=on looks at the page accesses of programs; leave it out of a stream");
    const struct pw_uvm_config *uvm = &s->config.uvm;
    if (uvm->oversubscription > 0 && uvm->oversubscription_of != PW_DATA_AT_LAUNCH)
        return pw_fail(err, PW_USER_ERROR,
                       "uvm.oversubscription: what a stream will touch or allocate is not known beforehand; set "
                       "uvm.oversubscription_of=first-launch, which takes what is mapped when time first goes on, or "
                       "uvm.memory");
    s->feed_count = s->config.gpus * s->config.gpu.sm.count * s->config.gpu.sm.warps;
    s->feeds = calloc(s->feed_count, sizeof(void *));
    s->spaces = calloc(s->apps, sizeof *s->spaces);
    if (!s->feeds || !s->spaces)
        return pw_fail_memory(err, "a stream");
    for (unsigned i = 0; status == PW_OK && i < s->apps; i++)
        status = pw_stream_space_init(&s->spaces[i], err);
    if (status == PW_OK)
        status = create_programs(s, err);
    s->hooks = pw_feed_hooks(s);
    s->busy = s->apps;
    if (status == PW_OK)
        status = pw_system_create_open(&s->config, &s->spec, s->programs, s->apps, &s->hooks, &s->system, err);
    return status;
}

enum pw_status pw_stream_open(const struct pw_stream_spec *spec, struct pw_stream **out, struct pw_error *err)
{
    *out = NULL;
    enum pw_status status = check_spec(spec, err);
    if (status != PW_OK)
        return status;
    struct pw_stream *s = calloc(1, sizeof *s);
    char *machine = strdup(spec->machine ? spec->machine : "mosaic");
    if (!s || !machine) {
        free(s);
        free(machine);
        return pw_fail_memory(err, "a stream");
    }
    s->machine = machine;
    s->queue = spec->queue ? spec->queue : QUEUE_DEFAULT;
    s->map_on_touch = spec->map_on_touch;
    s->apps = spec->apps ? spec->apps : 1;
    s->spec = (struct pw_run_spec){.machine = machine,
                                   .design = spec->design,
                                   .sets = spec->sets,
                                   .set_count = spec->set_count,
                                   .seed = spec->seed,
                                   .interrupted = spec->interrupted};
    status = build(s, err);
    s->spec.design = NULL;
    s->spec.sets = NULL;
    s->spec.set_count = 0;
    if (status != PW_OK) {
        pw_stream_close(s);
        return status;
    }
    *out = s;
    return PW_OK;
}

void pw_stream_close(struct pw_stream *s)
{
    if (!s)
        return;
    for (unsigned i = 0; s->spaces && i < s->apps; i++)
        pw_stream_space_release(&s->spaces[i]);
    pw_system_destroy(s->system);
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        pw_program_release(&s->programs[i]);
    pw_feeds_release(s);
    free(s->spaces);
    free(s->completions);
    pw_options_destroy(s->options);
    free(s->machine);
    free(s);
}

enum pw_status pw_stream_check(const struct pw_stream *s, struct pw_error *err)
{
    if (s->failure.status)
        return pw_fail(err, s->failure.status, "%s", s->failure.message);
    return s->finished ? pw_fail(err, PW_USER_ERROR, "the stream is finished: it can only be closed") : PW_OK;
}

enum pw_status pw_stream_keep(struct pw_stream *s, enum pw_status status, const struct pw_error *err)
{
    if (status != PW_OK && status != PW_USER_ERROR)
        s->failure = *err;
    return status;
}

/* A failure ends the stream, whatever it is. */
static enum pw_status end_with(struct pw_stream *s, enum pw_status status, const struct pw_error *err)
{
    if (status != PW_OK)
        s->failure = *err;
    return status;
}

enum pw_status pw_stream_shape(const struct pw_stream *s, unsigned app, struct pw_stream_shape *out,
                               struct pw_error *err)
{
    const struct pw_system *system = s->system;
    const struct pw_gpu_config *c = &system->config.gpu;
    if (app >= system->app_count)
        return pw_fail(err, PW_USER_ERROR, "application %u: the stream has %u, numbered from 0", app,
                       system->app_count);
    *out = (struct pw_stream_shape){.apps = system->app_count,
                                    .gpus = system->node_count,
                                    .sms = c->app_sms[app],
                                    .warps = c->sm.warps,
                                    .page = (uint64_t)PW_PAGE_BYTES << system->spaces[app].order,
                                    .clock_mhz = c->clock_mhz,
                                    .managed = system->uvm != NULL,
                                    .in_flight = c->sm.loads_per_warp};
    return PW_OK;
}

/* Memory that has been mapped since time last went on gets its frames; the first time, programs launch. */
static enum pw_status settle(struct pw_stream *s, struct pw_error *err)
{
    struct pw_system *system = s->system;
    unsigned failed;
    enum pw_status status = PW_OK;
    if (!s->begun)
        pw_system_begin(system);
    else if (s->unbacked)
        status = pw_pages_back(system, 0, system->app_count, &failed, err);
    for (unsigned i = 0; status == PW_OK && s->begun && s->unbacked && i < system->app_count; i++)
        pw_paging_before_launch(&system->apps[i], NULL);
    s->begun = true;
    s->unbacked = false;
    if (status == PW_OK && system->failure.status)
        status = pw_fail(err, system->failure.status, "%s", system->failure.message);
    return status;
}

/* Runs until the goal is reached or everything before `limit` has happened. */
static enum pw_status go_on(struct pw_stream *s, enum pw_stream_goal goal, pw_cycle limit, struct pw_error *err)
{
    s->goal = goal;
    s->system->stop = false;
    enum pw_status status = settle(s, err);
    if (status == PW_OK)
        status = pw_system_go_on(s->system, limit, err);
    if (status == PW_OK && !s->system->stop && limit != PW_NEVER)
        pw_events_advance(s->system->events, limit);
    s->goal = PW_GOAL_TIME;
    return end_with(s, status, err);
}

/* Half of the time until which DRAM clocks (mem/dram_clock.h) and the 256ths of a cycle in which CTAs start (gpu/cta.c)
 * are exact, so that what is under way then can end. */
static uint64_t last_cycle(const struct pw_stream *s)
{
    enum { PARTS_SHIFT = 8 };
    const struct pw_gpu_config *c = &s->system->config.gpu;
    struct pw_dram_clock clock = pw_dram_clock_of(c->clock_mhz, c->dram.clock_mhz);
    uint64_t exact = UINT64_MAX / (clock.core * clock.dram), parts = UINT64_MAX >> PARTS_SHIFT;
    return (exact < parts ? exact : parts) / 2;
}

static enum pw_status check_time(const struct pw_stream *s, uint64_t until, struct pw_error *err)
{
    enum pw_status status = pw_stream_check(s, err);
    if (status == PW_OK && until < pw_stream_now(s))
        return pw_fail(err, PW_USER_ERROR, "cycle %llu has passed: the stream is at cycle %llu",
                       (unsigned long long)until, (unsigned long long)pw_stream_now(s));
    uint64_t last = last_cycle(s);
    if (status == PW_OK && until != PW_NEVER && until > last)
        return pw_fail(err, PW_USER_ERROR,
                       "cycle %llu lies too far ahead: the clocks of this machine are exact until %llu",
                       (unsigned long long)until, (unsigned long long)last);
    return status;
}

uint64_t pw_stream_now(const struct pw_stream *s)
{
    return s->system->events->now;
}

uint64_t pw_stream_outstanding(const struct pw_stream *s)
{
    return s->outstanding;
}

enum pw_status pw_stream_advance(struct pw_stream *s, uint64_t until, struct pw_error *err)
{
    enum pw_status status = check_time(s, until, err);
    if (status == PW_OK && until == PW_NEVER)
        return pw_fail(err, PW_USER_ERROR, "time cannot go on to the end of all time; drain the stream instead");
    return status == PW_OK ? go_on(s, PW_GOAL_TIME, until, err) : status;
}

enum pw_status pw_stream_wait(struct pw_stream *s, uint64_t until, struct pw_error *err)
{
    enum pw_status status = check_time(s, until, err);
    bool rests = until == PW_NEVER && !s->outstanding;
    if (status != PW_OK || s->taken < s->completion_count || rests)
        return status;
    return go_on(s, until == PW_NEVER ? PW_GOAL_LAST_COMPLETION : PW_GOAL_COMPLETION, until, err);
}

static uint64_t stores_left(const struct pw_system *s)
{
    uint64_t stores = 0;
    for (unsigned i = 0; i < s->node_count; i++)
        for (unsigned app = 0; app < s->app_count; app++)
            stores += pw_gpu_stores_left(s->nodes[i].gpu, app);
    return stores;
}

/* Nobody says when the last store has reached the L2, so time goes on from one cycle to the next, and stops in the last
 * one. */
static enum pw_status await_stores(struct pw_stream *s, struct pw_error *err)
{
    struct pw_system *system = s->system;
    enum pw_status status = PW_OK;
    system->stop = false;
    while (status == PW_OK && stores_left(system)) {
        bool idle = pw_events_idle(system->events);
        status = pw_system_go_on(system, idle ? PW_NEVER : pw_events_next_time(system->events) + 1, err);
    }
    return end_with(s, status, err);
}

static enum pw_status come_to_rest(struct pw_stream *s, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    if (s->outstanding || s->busy)
        status = go_on(s, PW_GOAL_REST, PW_NEVER, err);
    return status == PW_OK ? await_stores(s, err) : status;
}

enum pw_status pw_stream_drain(struct pw_stream *s, struct pw_error *err)
{
    enum pw_status status = pw_stream_check(s, err);
    return status == PW_OK ? come_to_rest(s, err) : status;
}

bool pw_stream_next(struct pw_stream *s, struct pw_stream_completion *out)
{
    if (s->taken == s->completion_count)
        return false;
    *out = s->completions[s->taken++];
    if (s->taken * 2 >= s->completion_count) {
        s->completion_count -= s->taken;
        memmove(s->completions, s->completions + s->taken, s->completion_count * sizeof *s->completions);
        s->taken = 0;
    }
    return true;
}

static enum pw_status snapshot(struct pw_stream *s, uint64_t **out, struct pw_error *err)
{
    enum pw_status status = pw_stream_check(s, err);
    if (status != PW_OK)
        return status;
    *out = pw_system_snapshot(s->system, pw_stream_now(s), PW_AFTER_EXIT);
    return *out ? PW_OK : pw_stream_keep(s, pw_fail_memory(err, "statistics"), err);
}

enum pw_status pw_stream_reset_metrics(struct pw_stream *s, struct pw_error *err)
{
    uint64_t *from = NULL;
    enum pw_status status = snapshot(s, &from, err);
    if (status != PW_OK)
        return status;
    free(s->system->region_from);
    s->system->region_from = from;
    s->system->region_first = pw_stream_now(s);
    return PW_OK;
}

/* The view and the metric that a name stands for. */
static bool find_metric(const struct pw_stats *stats, const char *name, struct pw_stats_view *out_view,
                        size_t *out_index)
{
    for (size_t i = 0; i < pw_stats_view_count(stats); i++) {
        *out_view = pw_stats_view(stats, i);
        size_t length = strlen(out_view->prefix);
        if (strncmp(name, out_view->prefix, length) != 0 || name[length] != '.')
            continue;
        int found = pw_stats_find(stats, name + length + 1);
        *out_index = (size_t)found;
        return found >= 0 && pw_stats_has(stats, *out_index, out_view->scope);
    }
    return false;
}

enum pw_status pw_stream_metric(struct pw_stream *s, const char *name, struct pw_metric *out, struct pw_error *err)
{
    struct pw_stats_view view;
    size_t index;
    uint64_t *to = NULL;
    char ignored[PW_SYSTEM_METRIC_CAPACITY];
    if (!find_metric(s->system->stats, name, &view, &index))
        return pw_fail(err, PW_USER_ERROR,
                       "there is no metric '%.80s' in this stream; one is a scope and a name, such as gpu0.l2_tlb.hits "
                       "(see 'pagewalk list metrics')",
                       name);
    enum pw_status status = snapshot(s, &to, err);
    if (status != PW_OK)
        return status;
    *out = pw_system_metric(s->system, &view, index, s->system->region_from, to, ignored);
    out->name = name;
    free(to);
    return PW_OK;
}

enum pw_status pw_stream_metrics(struct pw_stream *s, pw_stream_visit *visit, void *context, struct pw_error *err)
{
    const struct pw_stats *stats = s->system->stats;
    uint64_t *to = NULL;
    enum pw_status status = snapshot(s, &to, err);
    if (status != PW_OK)
        return status;
    for (size_t k = 0; k < pw_stats_view_count(stats); k++) {
        struct pw_stats_view view = pw_stats_view(stats, k);
        for (size_t i = 0; i < pw_stats_count(stats); i++) {
            char name[PW_SYSTEM_METRIC_CAPACITY];
            if (!pw_stats_has(stats, i, view.scope))
                continue;
            struct pw_metric m = pw_system_metric(s->system, &view, i, s->system->region_from, to, name);
            visit(context, &m);
        }
    }
    free(to);
    return PW_OK;
}

/* The launches end, and the programs with them. */
static void close_launches(struct pw_stream *s)
{
    struct pw_system *system = s->system;
    for (unsigned app = 0; app < system->app_count; app++)
        for (unsigned i = 0; i < system->node_count; i++)
            pw_gpu_close(system->nodes[i].gpu, app, pw_stream_now(s));
}

enum pw_status pw_stream_finish(struct pw_stream *s, struct pw_result **out, struct pw_error *err)
{
    struct pw_result *result = NULL;
    if (out)
        *out = NULL;
    enum pw_status status = pw_stream_check(s, err);
    if (status == PW_OK)
        status = go_on(s, PW_GOAL_TIME, pw_stream_now(s), err);
    if (status == PW_OK)
        status = come_to_rest(s, err);
    if (status != PW_OK)
        return status;
    pw_feeds_close(s);
    status = come_to_rest(s, err);
    if (status == PW_OK) {
        close_launches(s);
        status = end_with(s, pw_system_end(s->system, err), err);
    }
    if (status == PW_OK)
        status = end_with(s, pw_system_result(s->system, s->options, s->machine, s->design, 0, &result, err), err);
    s->finished = true;
    if (status == PW_OK && out)
        *out = result;
    else
        pw_result_free(result);
    return status;
}
