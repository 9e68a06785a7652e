/* The numbers of a window, to the cycle, wherever its borders fall: into a run of arithmetic, a stall, a pause, a walk,
 * or onto an exit.
 *
 * A warp with a run of RUN instructions issues them in the cycles 0 to RUN - 1, waits DEPENDENCY - 1 cycles for the
 * last result and exits at END. Borders lie before their cycle, that of a launch or of the run behind the exit that
 * ends it. */
#include "timed.h"

enum { RUN = 100, DEPENDENCY = 9, END = RUN - 1 + DEPENDENCY };

struct row {
    uint64_t first, outer, issued, stalled, resident;
};

static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

static uint64_t in_window(const struct timed *t, const struct pw_span *span, const char *metric)
{
    return pw_stats_exact(t->system->stats, timed_index(t, metric), -1, span->from, span->to);
}

static void assert_row(const struct timed *t, const struct pw_span *span, struct row expected)
{
    assert_int_equal(span->first, expected.first);
    assert_int_equal(span->outer, expected.outer);
    assert_int_equal(in_window(t, span, "sm.issued"), expected.issued);
    assert_int_equal(in_window(t, span, "sm.stall_cycles"), expected.stalled);
    assert_int_equal(in_window(t, span, "sm.resident_cycles"), expected.resident);
}

/* Runs with intervals of this length and compares them. */
static void assert_intervals(struct timed t, uint64_t interval, const struct row *rows, size_t count)
{
    t.spec.interval = interval;
    timed_run(&t);
    assert_int_equal(t.system->intervals.count, count);
    for (size_t i = 0; i < count; i++)
        assert_row(&t, &t.system->intervals.rows[i], rows[i]);
    timed_end(&t);
}

#define INTERVALS(t, interval, ...)                                                                                    \
    assert_intervals(t, interval, (const struct row[]){__VA_ARGS__},                                                   \
                     sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

static void a_run_of_arithmetic_is_divided_at_borders(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    INTERVALS(t, 30, {0, 30, 30, 0, 30}, {30, 60, 30, 0, 30}, {60, 90, 30, 0, 30}, {90, END, 11, 8, 19});
}

static void a_stall_is_divided_at_borders(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    INTERVALS(t, RUN + 4, {0, RUN + 4, RUN, 4, RUN + 4}, {RUN + 4, END, 1, 4, 5});
}

static void a_run_that_ends_on_a_border_has_no_empty_row(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    INTERVALS(t, END, {0, END, RUN + 1, 8, END + 1});
    INTERVALS(t, END / 2, {0, END / 2, END / 2, 0, END / 2}, {END / 2, END, RUN + 1 - END / 2, 8, END / 2 + 1});
}

/* The second launch finds its scheduler busy with the exit of the first. */
static void an_exit_on_a_border_belongs_to_the_next_interval_and_to_its_launch(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}, .launches = 2};
    INTERVALS(t, END, {0, END, RUN, 8, END}, {END, 2 * END, 1 + RUN, 7, END}, {2 * END, 2 * END + 1, 1, 1, 2});
    timed_run(&t);
    assert_row(&t, timed_span(&t, 0, 1), (struct row){0, END, RUN + 1, 8, END + 1});
    assert_row(&t, timed_span(&t, 0, 2), (struct row){END, 2 * END + 1, RUN + 1, 8, END + 1});
    timed_end(&t);
}

static void every_scheduler_is_cut(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}, .threads = 4 * 32, .sets = {"sm.schedulers=4"}};
    INTERVALS(t, 40, {0, 40, 160, 0, 160}, {40, 80, 160, 0, 160}, {80, END, 4 * 21, 4 * 8, 4 * 29});
}

static void begin_pause(void *object, uint64_t until, pw_cycle now)
{
    struct timed *t = object;
    (void)now;
    pw_gpu_pause(t->system->nodes[0].gpu, until);
}

static void post_pause(struct timed *t)
{
    pw_events_post(t->system->events, t->n[1], begin_pause, t, t->n[2]);
    if (t->n[3])
        pw_events_post(t->system->events, t->n[1] + 1, begin_pause, t, t->n[3]);
}

/* The instruction of the cycle in which a pause begins is through; the rest of its run comes behind it. */
static void a_pause_is_divided_at_borders(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN, 10, 60}, .prepare = post_pause};
    INTERVALS(t, 30, {0, 30, 11, 19, 30}, {30, 60, 0, 30, 30}, {60, 90, 30, 0, 30}, {90, 120, 30, 0, 30},
              {120, 149, 30, 0, 30});
    t.n[1] = 30; /* on a border */
    INTERVALS(t, 30, {0, 30, 30, 0, 30}, {30, 60, 1, 29, 30}, {60, 90, 30, 0, 30}, {90, 120, 30, 0, 30},
              {120, 129, 10, 0, 10});
    t.n[1] = 20, t.n[2] = 50, t.n[3] = 75; /* two that are one */
    INTERVALS(t, 40, {0, 40, 21, 19, 40}, {40, 80, 5, 35, 40}, {80, 120, 40, 0, 40}, {120, 154, 35, 0, 35});
}

static void what_comes_before_the_end_of_a_warmup_does_not_count(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    for (uint64_t warmup = 1; warmup < END; warmup++) {
        t.spec.warmup = warmup;
        timed_run(&t);
        uint64_t issued = warmup < RUN ? RUN - warmup : 0, stalled = warmup < RUN ? 8 : END - warmup;
        struct pw_span region = {.first = t.system->region_first,
                                 .outer = t.system->region_outer,
                                 .from = t.system->region_from,
                                 .to = t.system->region_to};
        assert_row(&t, &region, (struct row){warmup, END, issued + 1, stalled, issued + 1 + stalled});
        timed_end(&t);
    }
}

/* Loads a line, in cycle 0, whose page is walked from FROM to FROM + 500. */
enum { FROM = 1 + 10 + 10 };

static void load(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void walks_and_lines_under_way_are_counted_at_every_border(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = load,
        .sets = {"walk.model=fixed", "walk.latency=500", "l1_tlb.latency=1", "l2_tlb.latency=10", "l2_tlb.distance=10"},
        .spec = {.interval = 100}};
    timed_run(&t);
    size_t mean = timed_index(&t, "walk.concurrent_mean");
    for (size_t i = 0; i < 6; i++) {
        const struct pw_span *row = &t.system->intervals.rows[i];
        assert_int_equal(in_window(&t, row, "sm.memory_instructions"), i == 0);
        assert_int_equal(in_window(&t, row, "sm.lines"), i == 0);
        assert_int_equal(in_window(&t, row, "l1d.accesses"), i == 5);
        assert_int_equal(in_window(&t, row, "sm.lines_waiting"), i < 5);
        assert_int_equal(in_window(&t, row, "walk.count"), i == 0);
        assert_int_equal(in_window(&t, row, "walk.finished"), i == 5);
        assert_int_equal(in_window(&t, row, "walk.under_way"), i < 5);
        double expected = i == 0 ? (100.0 - FROM) / 100 : i == 5 ? FROM / 100.0 : 1;
        assert_true(pw_stats_value(t.system->stats, mean, -1, row->from, row->to) == expected);
    }
    timed_end(&t);
}

/* Short intervals, so that what issues in the cycle of a border, or pauses there, has been posted before the border and
 * comes before it. Checks the rows before and behind cycle `at`. */
static void assert_border(struct timed t, uint64_t at, uint64_t memory, struct row before, struct row behind)
{
    enum { SHORT = 10 };
    t.spec.interval = SHORT;
    timed_run(&t);
    const struct pw_span *row = &t.system->intervals.rows[at / SHORT];
    assert_row(&t, row - 1, before);
    assert_row(&t, row, behind);
    assert_int_equal(in_window(&t, row - 1, "sm.memory_instructions"), 0);
    assert_int_equal(in_window(&t, row, "sm.memory_instructions"), memory);
    timed_end(&t);
}

/* The second warp loads when the run of the first has been issued. */
static void compute_or_load(struct pw_warp *w, struct timed *t)
{
    if (w->index)
        timed_load(w, t, 0);
    else
        pw_compute(w, RUN);
}

static void what_comes_before_a_border_in_its_cycle_belongs_to_the_next_interval(void **state)
{
    (void)state;
    struct timed access = {.kernel = compute_or_load, .threads = 64};
    assert_border(access, RUN, 1, (struct row){90, 100, 10, 0, 10}, (struct row){100, 110, 2, 8, 10});
    struct timed exit = {.kernel = compute, .n = {RUN}, .launches = 2, .sets = {"sm.dependency_latency=1"}};
    assert_border(exit, RUN, 0, (struct row){90, 100, 10, 0, 10}, (struct row){100, 110, 10, 0, 10});
    struct timed paused = {.kernel = compute, .n = {RUN, 30, 60}, .prepare = post_pause};
    assert_border(paused, 30, 0, (struct row){20, 30, 10, 0, 10}, (struct row){30, 40, 1, 9, 10});
}

/* The short program starts over until the long one ends, in the middle of something; what is under way then counts. */
static void an_application_that_is_resident_at_the_end_counts_up_to_there(void **state)
{
    (void)state;
    enum { LONG = 5 * END + 20 };
    struct timed other = {.kernel = compute, .n = {LONG - DEPENDENCY + 1}};
    struct timed t = {.kernel = compute, .n = {RUN}, .neighbours = {&other}, .sets = {"sm.count=2", "apps.sms=1+1"}};
    assert_int_equal(timed_run(&t), LONG);
    const struct pw_stats *stats = t.system->stats;
    const uint64_t *end = t.system->region_to;
    size_t issued = timed_index(&t, "sm.issued"), resident = timed_index(&t, "sm.resident_cycles");
    size_t stalled = timed_index(&t, "sm.stall_cycles");
    /* Five runs of END + 1 cycles, since each begins behind the exit of the one before it, and what is left. */
    enum { LEFT = LONG - 5 * (END + 1) };
    assert_int_equal(pw_stats_exact(stats, resident, 0, NULL, end), LONG);
    assert_int_equal(pw_stats_exact(stats, issued, 0, NULL, end), 5 * (RUN + 1) + LEFT);
    assert_int_equal(pw_stats_exact(stats, stalled, 0, NULL, end), 5 * 8);
    assert_int_equal(pw_stats_exact(stats, resident, 1, NULL, end), LONG + 1);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_arithmetic_is_divided_at_borders),
        cmocka_unit_test(a_stall_is_divided_at_borders),
        cmocka_unit_test(a_run_that_ends_on_a_border_has_no_empty_row),
        cmocka_unit_test(an_exit_on_a_border_belongs_to_the_next_interval_and_to_its_launch),
        cmocka_unit_test(every_scheduler_is_cut),
        cmocka_unit_test(a_pause_is_divided_at_borders),
        cmocka_unit_test(what_comes_before_the_end_of_a_warmup_does_not_count),
        cmocka_unit_test(walks_and_lines_under_way_are_counted_at_every_border),
        cmocka_unit_test(what_comes_before_a_border_in_its_cycle_belongs_to_the_next_interval),
        cmocka_unit_test(an_application_that_is_resident_at_the_end_counts_up_to_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
