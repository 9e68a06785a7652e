/* One run from its specification: machine, design, options and programs in; a result out. */
#include "system/inputs.h"
#include "system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec);
}

/* Files that a run has written and that have no name yet. */
struct logs {
    struct pw_timeline *timeline;
    struct pw_page_log *pages;
};

static enum pw_status finish_logs(struct logs *logs, struct pw_error *err)
{
    enum pw_status status = logs->timeline ? pw_timeline_finish(logs->timeline, err) : PW_OK;
    return status == PW_OK && logs->pages ? pw_page_log_finish(logs->pages, err) : status;
}

/* A system that is ready to run, and what it was built from. */
struct bench {
    struct pw_config config;
    struct pw_options *options;
    struct pw_program programs[PW_MAX_APPS];
    struct pw_system *system;
    char design[256];
};

static enum pw_status build(const struct pw_run_spec *spec, struct bench *b, struct pw_error *err)
{
    unsigned count = 0;
    *b = (struct bench){0};
    enum pw_status status = pw_run_configure(spec, &b->config, &b->options, b->design, sizeof b->design, err);
    if (status == PW_OK)
        status = pw_run_programs(spec->workload, b->programs, &count, err);
    if (status == PW_OK)
        status = pw_system_create(&b->config, spec, b->programs, count, &b->system, err);
    return status;
}

/* Also after a failure. */
static void release(struct bench *b)
{
    pw_system_destroy(b->system);
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        pw_program_release(&b->programs[i]);
    pw_options_destroy(b->options);
}

enum pw_status pw_run_check(const struct pw_run_spec *spec, struct pw_error *err)
{
    struct bench b;
    enum pw_status status = build(spec, &b, err);
    release(&b);
    return status;
}

/* Simulates without regard to spec->alone. The logs, if there are any, are the caller's to finish. */
static enum pw_status run_once(const struct pw_run_spec *spec, struct pw_result **out, struct logs *out_logs,
                               struct pw_error *err)
{
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    struct bench b;
    enum pw_status status = build(spec, &b, err);
    if (status == PW_OK)
        status = pw_system_run(b.system, err);
    if (status == PW_OK)
        status = pw_system_result(b.system, b.options, spec->machine ? spec->machine : "mosaic", b.design,
                                  seconds_since(&begun), out, err);
    if (status == PW_OK) {
        *out_logs = (struct logs){b.system->timeline, b.system->page_log};
        b.system->timeline = NULL;
        b.system->page_log = NULL;
    }
    release(&b);
    return status;
}

/* Runs an application of a result alone: the same program on as many SMs, with the baseline design, the settings that
 * it takes, and no neighbour (docs/decisions.md). */
static enum pw_status run_alone(const struct pw_run_spec *spec, const struct pw_app_result *app, double *out_ipc,
                                struct pw_error *err)
{
    const char **sets = malloc((spec->set_count + 2) * sizeof *sets);
    if (!sets)
        return pw_fail_memory(err, "options of a run alone");
    char sms[32];
    snprintf(sms, sizeof sms, "sm.count=%u", app->sms);
    struct pw_run_spec alone = *spec;
    alone.design = "gpu-mmu";
    alone.workload = app->name;
    enum pw_status status = pw_run_takes(&alone, sets, &alone.set_count, err);
    sets[alone.set_count++] = sms;
    sets[alone.set_count++] = "apps.sms=even";
    alone.sets = sets;
    alone.interval = 0;
    alone.verify = alone.breakdown = false;
    alone.timeline = alone.pages = NULL;
    struct pw_result *result = NULL;
    struct logs none = {0};
    if (status == PW_OK)
        status = run_once(&alone, &result, &none, err);
    if (status == PW_OK)
        *out_ipc = result->apps[0].ipc;
    pw_result_free(result);
    free(sets);
    return status;
}

enum pw_status pw_run(const struct pw_run_spec *spec, struct pw_result **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_result *r = NULL;
    if (spec->alone && (spec->warmup || spec->kernels))
        return pw_fail(err, PW_USER_ERROR, "--alone compares whole runs; leave out --warmup and --kernels");
    struct logs logs = {0};
    enum pw_status status = run_once(spec, &r, &logs, err);
    for (unsigned i = 0; status == PW_OK && spec->alone && i < r->app_count; i++) {
        struct pw_app_result *app = &r->apps[i];
        status = run_alone(spec, app, &app->ipc_alone, err);
        if (status != PW_OK || app->ipc_alone <= 0 || app->ipc <= 0)
            continue;
        double slowdown = app->ipc_alone / app->ipc;
        r->weighted_speedup += app->ipc / app->ipc_alone;
        r->unfairness = slowdown > r->unfairness ? slowdown : r->unfairness;
    }
    if (status == PW_OK)
        status = finish_logs(&logs, err);
    pw_timeline_destroy(logs.timeline);
    pw_page_log_destroy(logs.pages);
    if (status != PW_OK) {
        pw_result_free(r);
        return status;
    }
    *out = r;
    return PW_OK;
}
