/* A pause of all SMs, to the cycle: nothing issues in it, what was issued before goes on, and time still adds up.
 *
 * Without a pause, a warp with a run of n instructions exits at n - 1 + DEPENDENCY. An instruction of the cycle in
 * which a pause begins is through, so a pause from a to b costs a run b - a - 1 cycles. */
#include "timed.h"

enum { DEPENDENCY = 9, RUN = 100, TWO_RUNS = 2 * RUN - 1 + DEPENDENCY /* of two warps of an SM */ };

struct pause {
    pw_cycle at, until;
};

static void begin_pause(void *object, uint64_t until, pw_cycle now)
{
    struct timed *t = object;
    (void)now;
    pw_gpu_pause(t->system->nodes[0].gpu, until);
}

/* Posts the pauses in t->data, t->n[7] of them; a program that is started over has had them. */
static void post_pauses(struct timed *t)
{
    const struct pause *p = t->data;
    for (uint64_t i = 0; i < t->n[7]; i++)
        if (p[i].at >= t->system->events->now)
            pw_events_post(t->system->events, p[i].at, begin_pause, t, p[i].until);
}

static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

static void load(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static struct timed paused(struct timed t, const struct pause *pauses, uint64_t count)
{
    t.prepare = post_pauses;
    t.data = (void *)pauses;
    t.n[7] = count;
    t.spec.breakdown = true;
    return t;
}

#define PAUSED(t, ...)                                                                                                 \
    paused(t, (const struct pause[]){__VA_ARGS__}, sizeof((const struct pause[]){__VA_ARGS__}) / sizeof(struct pause))

static void no_sm_issues_before_the_end_of_a_pause(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .ctas = 60, .n = {RUN}};
    assert_int_equal(timed_cycles(t), TWO_RUNS);
    struct timed from_start = PAUSED(t, {0, 5000});
    assert_int_equal(timed_run(&from_start), 5000 + TWO_RUNS);
    assert_int_equal(timed_count(&from_start, "sm.stall_cycles") + timed_count(&from_start, "sm.issued"),
                     timed_count(&from_start, "sm.resident_cycles"));
    timed_end(&from_start);
}

enum { CTAS = 60 };

/* When the arithmetic of each CTA, a warp, was over; of a program's first run. */
static pw_cycle ends[2][CTAS];

static void compute_and_note(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, RUN);
    pw_barrier(w);
    pw_cycle *end = &ends[t->app][w->cta_index];
    *end = *end ? *end : t->system->events->now;
}

/* mosaic-sec5-cac-worst-case: each of the 30 SMs, with each of its schedulers and whosever program it runs, loses the
 * whole pause; CTAs go round the SMs, and the warps of an SM to its schedulers in turn. */
static void each_scheduler_of_each_sm_loses_the_whole_pause(void **state)
{
    (void)state;
    for (unsigned programs = 1; programs <= 2; programs++) {
        struct timed other = {.kernel = compute_and_note, .ctas = CTAS / 2};
        struct timed t = {.kernel = compute_and_note, .ctas = CTAS / programs, .sets = {"sm.schedulers=2"}};
        if (programs == 2)
            t.neighbours[0] = &other;
        memset(ends, 0, sizeof ends);
        struct timed one = PAUSED(t, {10, 510});
        timed_run(&one);
        assert_int_equal(one.config.gpu.sm.count, 30);
        for (unsigned i = 0; i < CTAS; i++)
            assert_int_equal(ends[i / (CTAS / programs)][i % (CTAS / programs)], RUN + 499);
        timed_end(&one);
    }
}

static void a_run_of_arithmetic_goes_on_where_a_pause_has_interrupted_it(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    assert_int_equal(timed_cycles(t), RUN - 1 + DEPENDENCY);
    for (pw_cycle at = 1; at < RUN; at += 7) /* the result of the last instruction is there when the pause is over */
        assert_int_equal(timed_cycles(PAUSED(t, {at, at + 500})), RUN + 499);
    /* All instructions have been issued: their results come during the pause. */
    assert_int_equal(timed_cycles(PAUSED(t, {RUN, RUN + 3})), RUN - 1 + DEPENDENCY);
    assert_int_equal(timed_cycles(PAUSED(t, {RUN, RUN + 500})), RUN + 500);
    assert_int_equal(timed_cycles(PAUSED(t, {RUN - 2 + DEPENDENCY, 700})), 700);
}

static void pauses_that_overlap_are_one_and_those_that_have_ended_are_over(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    assert_int_equal(timed_cycles(PAUSED(t, {10, 300}, {200, 400})), RUN + 389);
    assert_int_equal(timed_cycles(PAUSED(t, {10, 400}, {200, 300})), RUN + 389);
    assert_int_equal(timed_cycles(PAUSED(t, {10, 300}, {10, 400}, {300, 400})), RUN + 389);
    assert_int_equal(timed_cycles(PAUSED(t, {10, 60}, {80, 90})), RUN + 49 + 9);
    assert_int_equal(timed_cycles(PAUSED(t, {10, 60}, {60, 90})), RUN + 49 + 29);
    assert_int_equal(timed_cycles(PAUSED(t, {90, 80})), RUN - 1 + DEPENDENCY);
}

static void loads_that_were_issued_complete_during_a_pause(void **state)
{
    (void)state;
    struct timed t = {.kernel = load};
    pw_cycle alone = timed_cycles(t);
    assert_int_equal(timed_cycles(PAUSED(t, {1, alone - 1})), alone);
    assert_int_equal(timed_cycles(PAUSED(t, {1, alone})), alone);
    assert_int_equal(timed_cycles(PAUSED(t, {1, alone + 1})), alone + 1);
    assert_int_equal(timed_cycles(PAUSED(t, {alone - 1, alone + 900})), alone + 900);
}

/* Cycles of one state. */
static uint64_t lost(struct timed t, const char *state)
{
    t.spec.breakdown = true;
    timed_run(&t);
    uint64_t cycles = timed_count(&t, state);
    timed_end(&t);
    return cycles;
}

static void warps_that_could_issue_are_paused_and_others_wait_for_what_they_wait_for(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .n = {RUN}};
    assert_int_equal(lost(t, "warp.paused"), 0);
    assert_int_equal(lost(PAUSED(t, {0, 500}), "warp.paused"), 500);
    /* The warp could not have issued its exit before the result of its run. */
    assert_int_equal(lost(PAUSED(t, {50, 550}), "warp.paused"), 499 - (DEPENDENCY - 1));
    assert_int_equal(lost(PAUSED(t, {50, 550}), "warp.not_chosen"), 0);
    /* Two pauses between two instructions; the cycles between them are the rest of the run. */
    assert_int_equal(lost(PAUSED(t, {50, 550}, {560, 660}), "warp.paused"), 499 + 99 - (DEPENDENCY - 1));
    struct timed loads = {.kernel = load};
    pw_cycle alone = timed_cycles(loads);
    uint64_t data = lost(loads, "warp.data");
    assert_int_equal(lost(PAUSED(loads, {1, alone + 40}), "warp.paused"), 40);
    assert_int_equal(lost(PAUSED(loads, {1, alone + 40}), "warp.data"), data);
    assert_int_equal(lost(PAUSED(loads, {1, alone - 40}), "warp.paused"), 0);
}

static void pause_at_the_end_of_the_launch(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    timed_launch(h, t);
    t->n[1] = t->system->events->now;
    pw_gpu_pause(t->system->nodes[0].gpu, t->n[1] + 1000);
    timed_launch(h, t);
}

/* The host program goes on inside the step of the scheduler whose exit ended the launch. */
static void a_pause_that_begins_with_the_end_of_a_launch_holds_the_next_one_back(void **state)
{
    (void)state;
    for (uint32_t ctas = 1; ctas <= 60; ctas += 59) { /* one SM, or two warps on each of all 30 */
        struct timed t = {.kernel = compute, .body = pause_at_the_end_of_the_launch, .n = {RUN}, .ctas = ctas};
        pw_cycle launch = ctas == 1 ? RUN - 1 + DEPENDENCY : TWO_RUNS;
        t.spec.breakdown = true;
        assert_int_equal(timed_run(&t), launch + 1000 + launch);
        assert_int_equal(t.n[1], launch);
        timed_end(&t);
    }
}

static void schedulers_of_any_kind_stand_still(void **state)
{
    (void)state;
    const char *kinds[][2] = {{"sm.schedule=rr", "sm.schedulers=1"},
                              {"sm.schedule=rr", "sm.schedulers=4"},
                              {"sm.schedule=gto", "sm.schedulers=2"}};
    for (size_t i = 0; i < 3; i++) {
        struct timed t = {
            .kernel = compute, .n = {RUN}, .ctas = 120, .threads = 128, .sets = {kinds[i][0], kinds[i][1]}};
        pw_cycle alone = timed_cycles(t);
        assert_in_range(timed_cycles(PAUSED(t, {40, 4040})), alone + 4000 - DEPENDENCY, alone + 4000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sm_issues_before_the_end_of_a_pause),
        cmocka_unit_test(each_scheduler_of_each_sm_loses_the_whole_pause),
        cmocka_unit_test(a_run_of_arithmetic_goes_on_where_a_pause_has_interrupted_it),
        cmocka_unit_test(pauses_that_overlap_are_one_and_those_that_have_ended_are_over),
        cmocka_unit_test(loads_that_were_issued_complete_during_a_pause),
        cmocka_unit_test(warps_that_could_issue_are_paused_and_others_wait_for_what_they_wait_for),
        cmocka_unit_test(a_pause_that_begins_with_the_end_of_a_launch_holds_the_next_one_back),
        cmocka_unit_test(schedulers_of_any_kind_stand_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
