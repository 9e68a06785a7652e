/* The life of an application: its host program, its launches, and its starting over.
 *
 * Programs that start together have their memory backed together, one page of each in turn, as a driver sees their
 * requests, or, with apps.backing = one-by-one, each in its turn altogether (docs/decisions.md). A program that ends
 * while others have not finished starts over from the beginning (MASK, Section 6: the application that finishes first
 * is relaunched). What becomes of its memory then is in app_memory.c. */
#include "system/system.h"

#include <stdlib.h>
#include <string.h>

/* Ends the run with an error of this application's; among several it is named. */
static void fail(const struct pw_app *a, const struct pw_error *cause)
{
    struct pw_error err = *cause;
    if (a->system->app_count > 1)
        pw_error_prefix(&err, "app%u (%s)", a->index, a->program.text);
    pw_system_fail(a->system, &err);
}

static bool in_region(const struct pw_system *s, uint32_t kernel)
{
    return s->first_kernel && kernel >= s->first_kernel && kernel <= s->last_kernel;
}

static enum pw_status launch(struct pw_app *a, const struct pw_launch *l, struct pw_error *err);

static void data_is_there(void *app, uint64_t argument, pw_cycle now)
{
    (void)argument;
    (void)now;
    struct pw_app *a = app;
    struct pw_error err;
    if (launch(a, a->held, &err) != PW_OK)
        fail(a, &err);
}

/* Every node gets its share of the CTAs; one that gets none has nothing to do with the launch. */
static enum pw_status launch_on_nodes(struct pw_app *a, const struct pw_launch *l, struct pw_error *err)
{
    const struct pw_system *s = a->system;
    enum pw_status status = PW_OK;
    a->nodes_at_work = 0;
    for (unsigned i = 0; s->open && i < s->node_count; i++, a->nodes_at_work++)
        pw_gpu_open(s->nodes[i].gpu, a->index, l);
    if (s->open)
        return PW_OK;
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++) {
        struct pw_cta_share share =
            pw_place_ctas(s->config.place.ctas, pw_launch_ctas(l), s->node_count, s->config.gpu.app_sms[a->index], i);
        if (!share.count && i)
            continue;
        a->nodes_at_work++;
        status = pw_gpu_launch(s->nodes[i].gpu, a->index, l, share, s->events->now, err);
    }
    return status;
}

static enum pw_status launch(struct pw_app *a, const struct pw_launch *l, struct pw_error *err)
{
    struct pw_system *s = a->system;
    pw_cycle now = s->events->now;
    a->held = l;
    if (!pw_paging_before_launch(a, data_is_there))
        return PW_OK;
    unsigned failed;
    enum pw_status status = pw_pages_back(s, a->index, 1, &failed, err);
    if (status == PW_OK)
        pw_contents_carry_out(a);
    if (status == PW_OK)
        status = launch_on_nodes(a, l, err);
    if (status != PW_OK)
        return status;
    a->launches++;
    if (s->page_log)
        pw_page_log_launched(s->page_log, a->space->asid, a->launches);
    for (unsigned i = 0; i < s->node_count; i++)
        pw_node_launched(&s->nodes[i], a->space->asid);
    a->present = l;
    a->launched = now;
    if (s->open)
        s->open->opened(s->open->listener.listener, a->index, now);
    if (a->finished)
        return PW_OK;
    if (!pw_spans_begin(s, &s->kernels, l->name, a->index, a->launches, now))
        return pw_fail_memory(err, "statistics of a kernel");
    a->span = s->kernels.count - 1;
    if (in_region(s, a->launches) && !s->region_from) {
        s->region_from = pw_system_snapshot(s, now, PW_AFTER_EXIT);
        s->region_first = now;
        if (!s->region_from)
            return pw_fail_memory(err, "statistics of a kernel");
    }
    return PW_OK;
}

static enum pw_status backend_launch(void *backend, const struct pw_launch *l, struct pw_error *err)
{
    struct pw_app *a = backend;
    enum pw_status status = pw_app_free_leaving(a, err);
    if (a->system->starting)
        a->held = l;
    else if (status == PW_OK)
        status = launch(a, l, err);
    if (status == PW_OK)
        pw_host_suspend(a->host);
    return status;
}

static uint64_t backend_issued(void *backend)
{
    const struct pw_app *a = backend;
    return pw_system_app_issued(a->system, a->index);
}

static bool backend_interrupted(void *backend)
{
    const struct pw_app *a = backend;
    return a->system->spec->interrupted && *a->system->spec->interrupted;
}

static const struct pw_backend timed_backend = {pw_app_alloc,    pw_app_free,   backend_launch, backend_issued,
                                                pw_app_prefetch, pw_app_advise, pw_app_protect, backend_interrupted,
                                                pw_app_filled,   NULL};

static enum pw_status create_host(struct pw_app *a, struct pw_error *err)
{
    struct pw_system *s = a->system;
    return pw_host_create(&a->program, s->seed, a->instance, s->spec->verify, &timed_backend, a, &a->host, err);
}

enum pw_status pw_app_create(struct pw_system *s, unsigned index, struct pw_program program, struct pw_error *err)
{
    struct pw_app *a = &s->apps[index];
    a->system = s;
    a->index = index;
    for (unsigned i = 0; i < index; i++)
        a->instance += !strcmp(s->apps[i].program.workload->name, program.workload->name);
    a->program = program;
    a->space = &s->spaces[index];
    enum pw_status status =
        pw_address_space_init(a->space, (pw_asid)index, &s->config.page, &pw_system_home(s)->physical,
                              &s->page_counters[index], &s->touched[index], err);
    a->space->placement = s->node_count > 1 ? &s->placement : NULL;
    return status == PW_OK ? create_host(a, err) : status;
}

void pw_app_destroy(struct pw_app *a)
{
    pw_host_destroy(a->host);
    free(a->contents.parts);
    if (a->space)
        pw_address_space_release(a->space);
    pw_program_release(&a->program);
}

static void resume(struct pw_app *a, pw_cycle now);

static void start_over(struct pw_app *a, pw_cycle now)
{
    struct pw_error err;
    pw_host_destroy(a->host);
    a->host = NULL;
    a->contents.count = 0;
    if (pw_app_renew_memory(a, &err) != PW_OK || create_host(a, &err) != PW_OK)
        fail(a, &err);
    else
        resume(a, now);
}

/* Notes the first end of a program; the last application to come so far ends the run. */
static void finish(struct pw_app *a, pw_cycle now)
{
    struct pw_system *s = a->system;
    if (s->page_log)
        pw_page_log_stop(s->page_log, a->space->asid);
    a->finished = true;
    a->end = now;
    a->instructions = pw_system_app_issued(s, a->index);
    a->checks = pw_host_checks(a->host);
    if (--s->apps_left == 0) {
        s->end = now;
        s->stop = true;
    }
}

/* Runs the host program up to its next launch or its end. */
static void resume(struct pw_app *a, pw_cycle now)
{
    struct pw_system *s = a->system;
    struct pw_error err;
    if (!pw_host_resume(a->host))
        return;
    if (pw_host_outcome(a->host, &err) != PW_OK) {
        fail(a, &err);
        return;
    }
    /* A program without a launch takes no time and could start over for ever. */
    bool again = !s->open && a->launches && s->apps_left > !a->finished;
    if (!again && pw_app_free_leaving(a, &err) != PW_OK) {
        fail(a, &err);
        return;
    }
    if (!a->finished)
        finish(a, now);
    if (again)
        start_over(a, now);
}

void pw_app_record_launch(const struct pw_app *a, pw_cycle outer)
{
    pw_timeline_record(
        a->system->timeline,
        &(struct pw_interval){
            .track = a->index, .name = a->present->name, .from = a->launched, .to = outer, .app = a->index});
}

/* Ends the row of a launch. Starting over adds no rows: there would be no end of them beside a long program. */
static bool end_row(struct pw_app *a, pw_cycle now)
{
    struct pw_system *s = a->system;
    if (a->finished)
        return true;
    if (!pw_spans_end(s, &s->kernels.rows[a->span], now, PW_AFTER_EXIT))
        return false;
    if (!in_region(s, a->launches))
        return true;
    free(s->region_to);
    s->region_to = pw_system_snapshot(s, now, PW_AFTER_EXIT);
    s->region_outer = now;
    return s->region_to;
}

void pw_app_launch_done(void *node, unsigned app, pw_cycle now)
{
    struct pw_system *s = ((struct pw_node *)node)->system;
    struct pw_app *a = &s->apps[app];
    if (--a->nodes_at_work || !s->apps_left)
        return;
    if (s->timeline)
        pw_app_record_launch(a, now);
    a->present = NULL;
    if (!end_row(a, now)) {
        struct pw_error err;
        pw_fail_memory(&err, "statistics of a kernel");
        pw_system_fail(s, &err);
        return;
    }
    resume(a, now);
}

static enum pw_status back_all(struct pw_system *s, unsigned *out_failed, struct pw_error *err)
{
    if (s->config.apps.backing == PW_BACKING_IN_TURN)
        return pw_pages_back(s, 0, s->app_count, out_failed, err);
    enum pw_status status = PW_OK;
    for (unsigned i = 0; status == PW_OK && i < s->app_count; i++)
        status = pw_pages_back(s, i, 1, out_failed, err);
    return status;
}

void pw_apps_start(struct pw_system *s)
{
    struct pw_error err;
    s->starting = true;
    for (unsigned i = 0; i < s->app_count && !s->stop; i++)
        resume(&s->apps[i], 0);
    s->starting = false;
    if (s->stop)
        return;
    unsigned app = 0;
    enum pw_status status = s->uvm ? pw_uvm_start(s->uvm, s->data_pages, &err) : PW_OK;
    for (unsigned i = 0; status == PW_OK && s->uvm && i < s->app_count; i++)
        pw_paging_send_wanted(&s->apps[i]);
    if (status == PW_OK)
        status = back_all(s, &app, &err);
    for (unsigned i = 0; status == PW_OK && i < s->app_count; i++) {
        app = i;
        if (s->apps[i].held)
            status = launch(&s->apps[i], s->apps[i].held, &err);
    }
    if (status != PW_OK)
        fail(&s->apps[app], &err);
}
