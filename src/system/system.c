/* Builds a system of nodes and host programs, and runs the event loop. */
#include "system/system.h"

#include "sim/plural.h"
#include "system/app_sms.h"
#include "system/watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How far the loop runs between looks at the clock, at the caller's flag and at the progress of the GPU. */
enum { SLICE_CYCLES = 8192 };

void pw_system_fail(struct pw_system *s, const struct pw_error *err)
{
    if (!s->failure.status)
        s->failure = *err;
    s->stop = true;
}

static void fail_memory(struct pw_system *s, const char *what)
{
    struct pw_error err;
    pw_fail_memory(&err, what);
    pw_system_fail(s, &err);
}

unsigned pw_system_shootdown(struct pw_system *s, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    unsigned dropped = 0;
    for (unsigned i = 0; i < s->node_count; i++)
        dropped += pw_gpu_shootdown(s->nodes[i].gpu, asid, first, outer);
    return dropped;
}

uint64_t pw_system_app_issued(const struct pw_system *s, unsigned app)
{
    uint64_t issued = 0;
    for (unsigned i = 0; i < s->node_count; i++)
        issued += pw_gpu_app_issued(s->nodes[i].gpu, app);
    return issued;
}

uint64_t pw_system_issued(const struct pw_system *s)
{
    uint64_t issued = 0;
    for (unsigned i = 0; i < s->node_count; i++)
        issued += pw_gpu_issued(s->nodes[i].gpu);
    return issued;
}

static void interval_over(void *object, uint64_t index, pw_cycle now)
{
    struct pw_system *s = object;
    if (!s->apps_left)
        return;
    bool ended = !index || pw_spans_end(s, &s->intervals.rows[index - 1], now, PW_BEFORE_CYCLE);
    if (!ended || !pw_spans_begin(s, &s->intervals, NULL, 0, (unsigned)index + 1, now))
        fail_memory(s, "statistics of an interval");
    pw_events_post(s->events, now + s->spec->interval, interval_over, s, index + 1);
}

static void warmup_over(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_system *s = object;
    s->region_from = pw_system_snapshot(s, now, PW_BEFORE_CYCLE);
    s->region_first = now;
    if (!s->region_from)
        fail_memory(s, "statistics");
}

static enum pw_status check_frames(void *system, struct pw_error *err)
{
    const struct pw_system *s = system;
    return pw_address_spaces_check(s->spaces, s->app_count, err);
}

static void register_nodes(struct pw_system *s, void (*register_part)(struct pw_node *n, struct pw_stats *stats))
{
    for (unsigned i = 0; i < s->node_count; i++) {
        pw_stats_scope(s->stats, s->nodes[i].name);
        register_part(&s->nodes[i], s->stats);
    }
    pw_stats_scope(s->stats, NULL);
}

static enum pw_status register_policies(struct pw_system *s, struct pw_error *err)
{
    enum pw_status status = pw_policies_register(&s->policies, s->stats, err);
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++) {
        pw_stats_scope(s->stats, s->nodes[i].name);
        status = pw_policies_register(&s->nodes[i].policies, s->stats, err);
    }
    pw_stats_scope(s->stats, NULL);
    return status;
}

static enum pw_status register_statistics(struct pw_system *s, struct pw_error *err)
{
    s->stats = pw_stats_create(s->app_count, err);
    if (!s->stats)
        return PW_FAILED;
    register_nodes(s, pw_node_register_gpu);
#define COUNTER(name, field, help)                                                                                     \
    pw_stats_counter(s->stats, name, "bytes", help, s->page_counters, sizeof s->page_counters[0],                      \
                     offsetof(struct pw_page_counters, field))
    COUNTER("mem.allocated_bytes", allocated_peak, "Most bytes that the program had allocated at once.");
    COUNTER("mem.mapped_bytes", mapped_peak, "Most bytes of the pages behind them.");
    COUNTER("mem.table_bytes", tables, "Bytes of page tables.");
    if (pw_system_home(s)->physical.policy->blocks)
        COUNTER("mem.held_bytes", held_peak, "Most bytes of the 2 MiB frames it had, what was free in them included.");
#undef COUNTER
    register_nodes(s, pw_node_register_memory);
    pw_stats_counter(s->stats, "mem.touched_bytes", "bytes", "Bytes of the 4 KiB pages that the program has accessed.",
                     s->touched, sizeof s->touched[0], offsetof(struct pw_touched, bytes));
    pw_stats_ratio(s->stats, "mem.bloat", "", "Bytes mapped for each byte of touched pages.", "mem.mapped_bytes",
                   "mem.touched_bytes", 1);
    register_nodes(s, pw_node_register_manager);
    if (s->uvm)
        pw_uvm_register(s->uvm, s->stats);
    if (s->iommu)
        pw_several_register(s);
    register_nodes(s, pw_node_register_link);
    enum pw_status status = pw_cost_of(&s->config, &s->cost, err);
    if (status != PW_OK)
        return status;
    register_nodes(s, pw_node_register_cost);
    pw_stats_identity_check(s->stats, "every frame is owned once", check_frames, s);
    status = register_policies(s, err);
    return status == PW_OK ? pw_stats_seal(s->stats, err) : status;
}

/* Decimal digits, and what follows them; NULL where there are none or the number does not fit. */
static const char *read_launch(const char *text, unsigned *out)
{
    *out = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(*out, 10U, out) || __builtin_add_overflow(*out, (unsigned)(*at - '0'), out))
            return NULL;
    return at == text ? NULL : at;
}

static enum pw_status parse_region(struct pw_system *s, struct pw_error *err)
{
    const char *text = s->spec->kernels;
    if (!text)
        return PW_OK;
    unsigned first, last;
    const char *end = read_launch(text, &first);
    last = first;
    if (end && *end == '-')
        end = read_launch(end + 1, &last);
    if (!end || *end || !first || last < first)
        return pw_fail(err, PW_USER_ERROR, "--kernels: '%s' is not a launch number or a range such as 2-5", text);
    if (s->app_count > 1)
        return pw_fail(err, PW_USER_ERROR, "--kernels needs a run of one application");
    if (s->spec->warmup)
        return pw_fail(err, PW_USER_ERROR, "--warmup and --kernels exclude each other");
    s->first_kernel = first;
    s->last_kernel = last;
    return PW_OK;
}

static enum pw_status create_timeline(struct pw_system *s, struct pw_error *err)
{
    if (!s->spec->timeline)
        return PW_OK;
    enum pw_status status =
        pw_timeline_create(s->spec->timeline, s->spec->timeline_limit, s->config.gpu.clock_mhz, &s->timeline, err);
    if (status != PW_OK)
        return status;
    uint32_t group = pw_timeline_group(s->timeline, "Applications");
    for (unsigned i = 0; i < s->app_count; i++)
        pw_timeline_tracks(s->timeline, group, s->apps[i].program.text, 1);
    return PW_OK;
}

static enum pw_status create_page_log(struct pw_system *s, struct pw_error *err)
{
    const struct pw_run_spec *spec = s->spec;
    if (!spec->pages)
        return PW_OK;
    return pw_page_log_create(spec->pages, spec->pages_interval, spec->pages_limit, &s->page_log, err);
}

/* Ends the timeline with the run, before what is left over comes to rest. */
static void end_timeline(struct pw_system *s)
{
    for (unsigned i = 0; i < s->app_count; i++)
        if (s->apps[i].present)
            pw_app_record_launch(&s->apps[i], s->end);
    pw_timeline_end(s->timeline, s->end);
}

static enum pw_status build(struct pw_system *s, struct pw_program *programs, struct pw_error *err)
{
    if (!(s->events = pw_events_create(err)))
        return PW_FAILED;
    enum pw_status status = parse_region(s, err);
    if (status == PW_OK)
        status = pw_config_divide_sms(&s->config, s->app_count, err);
    if (status == PW_OK && s->config.iommu.walkers)
        status = pw_several_create(s, err);
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++)
        status = pw_node_init(&s->nodes[i], s, i, err);
    for (unsigned i = 0; status == PW_OK && i < s->app_count; i++) {
        status = pw_app_create(s, i, programs[i], err);
        programs[i] = (struct pw_program){0};
    }
    if (status != PW_OK)
        return status;
    status = create_timeline(s, err);
    if (status == PW_OK)
        status = create_page_log(s, err);
    if (status == PW_OK)
        status = pw_paging_create(s, err);
    if (status != PW_OK)
        return status;
    if (s->page_log && s->uvm)
        pw_uvm_keep_batches(s->uvm);
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++)
        status = pw_node_connect(&s->nodes[i], err);
    return status == PW_OK ? register_statistics(s, err) : status;
}

enum pw_status pw_system_create(const struct pw_config *config, const struct pw_run_spec *spec,
                                struct pw_program *programs, unsigned count, struct pw_system **out,
                                struct pw_error *err)
{
    return pw_system_create_open(config, spec, programs, count, NULL, out, err);
}

enum pw_status pw_system_create_open(const struct pw_config *config, const struct pw_run_spec *spec,
                                     struct pw_program *programs, unsigned count, const struct pw_open *open,
                                     struct pw_system **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_system *s = calloc(1, sizeof *s);
    if (!s)
        return pw_fail_memory(err, "system");
    s->config = *config;
    s->spec = spec;
    s->open = open;
    s->seed = spec->seed ? spec->seed : 1;
    s->nodes = calloc(config->gpus, sizeof *s->nodes);
    s->apps = calloc(count, sizeof *s->apps);
    s->spaces = calloc(count, sizeof *s->spaces);
    bool allocated = s->nodes && s->apps && s->spaces;
    s->node_count = allocated ? config->gpus : 0;
    s->app_count = s->apps_left = allocated ? count : 0;
    enum pw_status status = allocated ? build(s, programs, err) : pw_fail_memory(err, "system");
    if (status != PW_OK) {
        pw_system_destroy(s);
        return status;
    }
    *out = s;
    return PW_OK;
}

void pw_system_destroy(struct pw_system *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->node_count; i++)
        pw_node_disconnect(&s->nodes[i]);
    for (unsigned i = 0; i < s->app_count; i++)
        pw_app_destroy(&s->apps[i]);
    free(s->apps);
    free(s->spaces);
    pw_uvm_destroy(s->uvm);
    for (unsigned i = 0; i < s->node_count; i++)
        pw_node_release(&s->nodes[i]);
    free(s->nodes);
    pw_several_destroy(s);
    pw_stats_destroy(s->stats);
    pw_timeline_destroy(s->timeline);
    pw_page_log_destroy(s->page_log);
    pw_system_release_allocations(s);
    pw_events_destroy(s->events);
    pw_spans_release(&s->kernels);
    pw_spans_release(&s->intervals);
    free(s->region_from);
    free(s->region_to);
    free(s);
}

static double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the CTAs of an application's present launch, on the node that is least far. */
static double launch_fraction(const struct pw_system *s, unsigned app)
{
    double fraction = 1;
    for (unsigned i = 0; i < s->node_count; i++) {
        double of_node = pw_gpu_launch_fraction(s->nodes[i].gpu, app);
        fraction = of_node < fraction ? of_node : fraction;
    }
    return fraction;
}

static void report_progress(struct pw_system *s, double wall_seconds)
{
    /* As far as the application that is least far in its first run. */
    double fraction = 1;
    for (unsigned i = 0; i < s->app_count; i++) {
        const struct pw_app *a = &s->apps[i];
        uint32_t planned = pw_host_planned(a->host);
        double done = (double)a->launches - 1 + launch_fraction(s, i);
        double of_app = a->finished ? 1 : planned && done >= 0 ? done / planned : -1;
        fraction = of_app < fraction ? of_app : fraction;
    }
    struct pw_progress p = {.fraction = fraction,
                            .cycles = s->events->now,
                            .warp_instructions = pw_system_issued(s),
                            .wall_seconds = wall_seconds,
                            .kernel = s->kernels.count ? s->kernels.rows[s->kernels.count - 1].name : ""};
    s->spec->progress(s->spec->progress_context, &p);
}

/* What has stopped the events, if it was a failure. */
static enum pw_status outcome(const struct pw_system *s, struct pw_error *err)
{
    if (s->failure.status)
        return pw_fail(err, s->failure.status, "%s", s->failure.message);
    return s->events->out_of_memory ? pw_fail_memory(err, "events and requests") : PW_OK;
}

/* What is left until `limit` happens in slices, between which there is time to look around. */
static pw_cycle slice_end(const struct pw_system *s, pw_cycle next, pw_cycle limit)
{
    pw_cycle end = limit - next > SLICE_CYCLES ? next + SLICE_CYCLES : limit;
    uint64_t most = s->spec->limit_cycles;
    return most && end > most ? most + 1 : end;
}

enum pw_status pw_system_go_on(struct pw_system *s, pw_cycle limit, struct pw_error *err)
{
    double begun = wall_clock(), reported = begun;
    struct pw_watchdog watchdog = pw_watchdog_of(s);
    while (!s->stop && !s->events->out_of_memory) {
        pw_cycle next = pw_events_next_time(s->events);
        if (limit != PW_NEVER && next >= limit)
            break;
        bool idle = limit == PW_NEVER && pw_events_idle(s->events);
        if (idle && s->uvm && pw_uvm_stuck(s->uvm, err) != PW_OK)
            return PW_FAILED;
        if (idle)
            return pw_no_progress(s, "nothing is left to happen, but programs have not ended", err);
        if (s->spec->limit_cycles && next > s->spec->limit_cycles)
            return pw_fail(err, PW_STOPPED, "stopped after %llu cycles (limit_cycles)",
                           (unsigned long long)s->spec->limit_cycles);
        pw_cycle slice = slice_end(s, next, limit);
        if (limit != PW_NEVER && slice < limit && pw_events_asleep(s->events))
            pw_events_leap(s->events, limit, &s->stop);
        else
            pw_events_run(s->events, slice, &s->stop);
        if (s->spec->interrupted && *s->spec->interrupted)
            return pw_fail(err, PW_INTERRUPTED, "interrupted at cycle %llu", (unsigned long long)s->events->now);
        if (!pw_watchdog_look(&watchdog, s) && limit == PW_NEVER)
            return pw_watchdog_fail(&watchdog, s, err);
        double now = s->spec->progress ? wall_clock() : 0;
        if (s->spec->progress && now - reported > 0.1) {
            reported = now;
            report_progress(s, now - begun);
        }
    }
    return outcome(s, err);
}

static enum pw_status close_region(struct pw_system *s, struct pw_error *err)
{
    if (s->first_kernel && !s->region_to)
        return pw_fail(err, PW_USER_ERROR, "--kernels: the program has only %zu %s", s->kernels.count,
                       pw_counted(s->kernels.count, "launch", "launches"));
    if (s->spec->warmup && !s->region_from)
        return pw_fail(err, PW_USER_ERROR, "--warmup: the run has only %llu cycles", (unsigned long long)s->end);
    if (!s->region_to) {
        s->region_to = pw_system_snapshot(s, s->end, PW_AFTER_EXIT);
        s->region_outer = s->end;
    }
    if (!s->region_to)
        return pw_fail_memory(err, "statistics");
    if (s->intervals.count && !pw_spans_end_last(s, &s->intervals, s->end))
        return pw_fail_memory(err, "statistics of an interval");
    return PW_OK;
}

static enum pw_status check_idle(const struct pw_system *s, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++)
        status = pw_gpu_check_idle(s->nodes[i].gpu, err);
    return status;
}

static void begin_epochs(struct pw_system *s)
{
    pw_policies_begin(&s->policies, s->events);
    for (unsigned i = 0; i < s->node_count; i++) {
        pw_policies_begin(&s->nodes[i].policies, s->events);
        pw_gpu_begin(s->nodes[i].gpu);
    }
}

static void end_epochs(struct pw_system *s)
{
    pw_policies_end(&s->policies);
    for (unsigned i = 0; i < s->node_count; i++) {
        pw_policies_end(&s->nodes[i].policies);
        pw_gpu_end(s->nodes[i].gpu);
    }
}

void pw_system_begin(struct pw_system *s)
{
    begin_epochs(s);
    if (s->spec->interval)
        interval_over(s, 0, 0);
    if (s->spec->warmup)
        pw_events_post(s->events, s->spec->warmup, warmup_over, s, 0);
    pw_apps_start(s);
}

enum pw_status pw_system_end(struct pw_system *s, struct pw_error *err)
{
    enum pw_status status = s->app_count == 1 ? check_idle(s, err) : PW_OK;
    if (status == PW_OK && s->uvm)
        status = pw_uvm_check_advice(s->uvm, err);
    if (status == PW_OK)
        status = close_region(s, err);
    if (status == PW_OK)
        status = pw_system_keep_allocations(s, err);
    if (status != PW_OK)
        return status;
    if (s->page_log)
        pw_system_log_pages(s);
    /* Applications that were started over and what is still on its way to DRAM come to rest after the end, so that the
     * identities can be checked on an idle machine. */
    if (s->timeline)
        end_timeline(s);
    for (unsigned i = 0; i < s->node_count; i++)
        pw_gpu_stop(s->nodes[i].gpu);
    end_epochs(s);
    s->stop = false;
    pw_events_run(s->events, PW_NEVER, &s->stop);
    pw_system_bring_up_to_date(s, s->events->now, PW_AFTER_EXIT);
    status = outcome(s, err);
    return status == PW_OK ? check_idle(s, err) : status;
}

enum pw_status pw_system_run(struct pw_system *s, struct pw_error *err)
{
    enum pw_status status = pw_paging_measure(s, err);
    if (status != PW_OK)
        return status;
    pw_system_begin(s);
    status = pw_system_go_on(s, PW_NEVER, err);
    return status == PW_OK ? pw_system_end(s, err) : status;
}
