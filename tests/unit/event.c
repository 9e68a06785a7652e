/* The event queue in small cases: order within a cycle, the edges of the wheel, the limit and the stop flag. */
#include "sim/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_LOG = 16384, STEP = 100 };

/* What has run, in order, and one event that the handler of `trigger` posts. */
struct log {
    struct pw_events *q;
    size_t count;
    uint64_t ids[MAX_LOG];
    pw_cycle times[MAX_LOG];
    uint64_t trigger, child;
    pw_cycle child_time;
    uint64_t stopper;
    bool stop;
};

static void note(void *object, uint64_t id, pw_cycle now)
{
    struct log *log = object;
    assert_true(log->count < MAX_LOG);
    assert_int_equal(log->q->now, now);
    log->ids[log->count] = id;
    log->times[log->count++] = now;
    if (id == log->trigger)
        pw_events_post(log->q, log->child_time, note, log, log->child);
    if (id == log->stopper)
        log->stop = true;
}

static struct log *start(void)
{
    struct pw_error err;
    struct log *log = calloc(1, sizeof(*log));
    log->q = pw_events_create(&err);
    assert_non_null(log->q);
    log->trigger = log->stopper = UINT64_MAX;
    return log;
}

static void end(struct log *log)
{
    pw_events_destroy(log->q);
    free(log);
}

static void post(struct log *log, pw_cycle time, uint64_t id)
{
    pw_events_post(log->q, time, note, log, id);
}

static void run_all(struct log *log)
{
    pw_events_run(log->q, PW_NEVER, &log->stop);
}

static void assert_ran(const struct log *log, size_t count, const uint64_t *ids, const pw_cycle *times)
{
    assert_int_equal(log->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(log->ids[i], ids[i]);
        assert_int_equal(log->times[i], times[i]);
    }
}

static void events_of_one_cycle_run_in_the_order_of_posting(void **state)
{
    (void)state;
    struct log *log = start();
    post(log, 7, 0);
    post(log, 5, 1);
    post(log, 7, 2);
    post(log, 5, 3);
    post(log, 0, 4);
    run_all(log);
    assert_ran(log, 5, (uint64_t[]){4, 1, 3, 0, 2}, (pw_cycle[]){0, 5, 5, 7, 7});
    assert_int_equal(log->q->executed, 5);
    assert_int_equal(pw_events_next_time(log->q), PW_NEVER);
    end(log);
}

static void an_event_posted_for_the_running_cycle_runs_last_in_it(void **state)
{
    (void)state;
    struct log *log = start();
    log->trigger = 1;
    log->child = 9;
    log->child_time = 5;
    post(log, 5, 1);
    post(log, 5, 2);
    post(log, 6, 3);
    run_all(log);
    assert_ran(log, 4, (uint64_t[]){1, 2, 9, 3}, (pw_cycle[]){5, 5, 5, 6});
    /* The same when it is alone in its bucket. */
    log->count = 0;
    log->child_time = 10;
    post(log, 10, 1);
    run_all(log);
    assert_ran(log, 2, (uint64_t[]){1, 9}, (pw_cycle[]){10, 10});
    end(log);
}

/* An event waits beyond the wheel for `target`; from `time` on, posts to the target go elsewhere: into the heap behind
 * it, or straight into the bucket. */
static void later_posts_stay_behind_what_waited_beyond_the_wheel(void **state)
{
    (void)state;
    const pw_cycle targets[] = {PW_WHEEL_CYCLES, PW_WHEEL_CYCLES + 1, PW_WHEEL_CYCLES + 10, 3 * PW_WHEEL_CYCLES - 1};
    for (unsigned i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        pw_cycle target = targets[i], edge = target - PW_WHEEL_CYCLES;
        for (pw_cycle time = edge > 2 ? edge - 2 : 0; time <= edge + 3; time++) {
            struct log *log = start();
            log->trigger = 2;
            log->child = 3;
            log->child_time = target;
            post(log, target, 1);
            post(log, time, 2);
            run_all(log);
            assert_ran(log, 3, (uint64_t[]){2, 1, 3}, (pw_cycle[]){time, target, target});
            end(log);
        }
    }
}

static void posts_between_two_runs_stay_behind_what_waited_beyond_the_wheel(void **state)
{
    (void)state;
    struct log *log = start();
    post(log, PW_WHEEL_CYCLES + STEP, 1);
    post(log, STEP + 1, 2);
    assert_int_equal(pw_events_run(log->q, STEP + 2, &log->stop), 1);
    post(log, PW_WHEEL_CYCLES + STEP, 3);
    run_all(log);
    pw_cycle target = PW_WHEEL_CYCLES + STEP;
    assert_ran(log, 3, (uint64_t[]){2, 1, 3}, (pw_cycle[]){STEP + 1, target, target});
    end(log);
}

/* The same distances from starting points at the seams of the wheel and of the words of its bitmap. */
static void every_distance_round_the_wheel_is_found(void **state)
{
    (void)state;
    const pw_cycle starts[] = {0, 1, 63, 64, 65, 4000, PW_WHEEL_CYCLES - 1, PW_WHEEL_CYCLES, 1ULL << 40};
    const pw_cycle distances[] = {0,
                                  1,
                                  63,
                                  64,
                                  PW_WHEEL_CYCLES - 64,
                                  PW_WHEEL_CYCLES - 1,
                                  PW_WHEEL_CYCLES,
                                  PW_WHEEL_CYCLES + 1,
                                  5 * PW_WHEEL_CYCLES,
                                  1ULL << 50};
    for (unsigned i = 0; i < sizeof(starts) / sizeof(*starts); i++)
        for (unsigned k = 0; k < sizeof(distances) / sizeof(*distances); k++) {
            struct log *log = start();
            pw_cycle target = starts[i] + distances[k];
            post(log, starts[i], 1);
            assert_int_equal(pw_events_next_time(log->q), starts[i]);
            run_all(log);
            post(log, target, 2);
            assert_int_equal(pw_events_next_time(log->q), target);
            run_all(log);
            assert_ran(log, 2, (uint64_t[]){1, 2}, (pw_cycle[]){starts[i], target});
            end(log);
        }
}

static void the_next_time_is_the_earliest_of_wheel_and_heap(void **state)
{
    (void)state;
    struct log *log = start();
    assert_int_equal(pw_events_next_time(log->q), PW_NEVER);
    post(log, 9 * PW_WHEEL_CYCLES, 0);
    post(log, 8 * PW_WHEEL_CYCLES, 1);
    assert_int_equal(pw_events_next_time(log->q), 8 * PW_WHEEL_CYCLES);
    post(log, 300, 2);
    assert_int_equal(pw_events_next_time(log->q), 300);
    post(log, 299, 3);
    assert_int_equal(pw_events_next_time(log->q), 299);
    assert_int_equal(log->q->now, 0);
    end(log);
}

static void the_limit_is_exclusive_and_time_stands_at_the_last_event(void **state)
{
    (void)state;
    struct log *log = start();
    assert_int_equal(pw_events_run(log->q, 1000, &log->stop), 0);
    assert_int_equal(log->q->now, 0);
    post(log, 9, 1);
    post(log, 10, 2);
    post(log, 10, 3);
    post(log, 9 + PW_WHEEL_CYCLES, 4);
    assert_int_equal(pw_events_run(log->q, 9, &log->stop), 0);
    assert_int_equal(log->q->now, 0);
    assert_int_equal(pw_events_run(log->q, 10, &log->stop), 1);
    assert_int_equal(log->q->now, 9);
    assert_int_equal(pw_events_next_time(log->q), 10);
    assert_int_equal(pw_events_run(log->q, 10, &log->stop), 0);
    assert_int_equal(log->q->now, 9);
    post(log, 9, 5); /* the present is not the past */
    assert_int_equal(pw_events_run(log->q, 9 + PW_WHEEL_CYCLES, &log->stop), 3);
    assert_int_equal(log->q->now, 10);
    assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), 1);
    pw_cycle far = 9 + PW_WHEEL_CYCLES;
    assert_ran(log, 5, (uint64_t[]){1, 5, 2, 3, 4}, (pw_cycle[]){9, 9, 10, 10, far});
    assert_int_equal(log->q->executed, 5);
    end(log);
}

static void a_stopped_run_goes_on_with_the_rest_of_the_cycle(void **state)
{
    (void)state;
    struct log *log = start();
    log->stopper = 2;
    post(log, 5, 1);
    post(log, 5, 2);
    post(log, 5, 3);
    post(log, 6, 4);
    assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), 2);
    assert_int_equal(log->q->now, 5);
    assert_int_equal(pw_events_next_time(log->q), 5);
    log->stop = false;
    post(log, 5, 5);
    assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), 3);
    assert_ran(log, 5, (uint64_t[]){1, 2, 3, 5, 4}, (pw_cycle[]){5, 5, 5, 5, 6});
    end(log);
}

/* Stops once after each event of a crowded cycle, while the running event and the outside post to the same cycle. */
static void a_crowded_cycle_can_stop_after_any_of_its_events(void **state)
{
    (void)state;
    enum { CROWD = 70 };
    for (uint64_t stopper = 0; stopper < CROWD; stopper++) {
        struct log *log = start();
        log->trigger = log->stopper = stopper;
        log->child = CROWD;
        log->child_time = 5;
        for (uint64_t id = 0; id < CROWD; id++)
            post(log, 5, id);
        post(log, 5 + PW_WHEEL_CYCLES, CROWD + 2);
        assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), stopper + 1);
        assert_int_equal(pw_events_next_time(log->q), 5);
        post(log, 5, CROWD + 1);
        log->stop = false;
        assert_int_equal(pw_events_run(log->q, 6, &log->stop), CROWD + 1 - stopper);
        assert_int_equal(pw_events_next_time(log->q), 5 + PW_WHEEL_CYCLES);
        run_all(log);
        assert_int_equal(log->count, CROWD + 3);
        for (uint64_t i = 0; i < log->count; i++)
            assert_int_equal(log->ids[i], i);
        end(log);
    }
}

static void a_stop_by_the_last_event_of_a_cycle_leaves_the_next_cycle(void **state)
{
    (void)state;
    struct log *log = start();
    log->stopper = 1;
    post(log, 5, 1);
    post(log, 700, 2);
    assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), 1);
    assert_int_equal(log->q->now, 5);
    assert_int_equal(pw_events_next_time(log->q), 700);
    end(log);
}

static void a_stop_before_the_run_leaves_time_where_it_was(void **state)
{
    (void)state;
    struct log *log = start();
    log->stop = true;
    post(log, 700, 1);
    assert_int_equal(pw_events_run(log->q, PW_NEVER, &log->stop), 0);
    assert_int_equal(log->q->now, 0);
    log->stop = false;
    post(log, 300, 2);
    run_all(log);
    assert_ran(log, 2, (uint64_t[]){2, 1}, (pw_cycle[]){300, 700});
    end(log);
}

/* More than one chunk of events, and more than the heap's first capacity, pending at once. */
static void many_pending_events_are_kept(void **state)
{
    (void)state;
    struct log *log = start();
    for (uint64_t i = 0; i < MAX_LOG; i++)
        post(log, (MAX_LOG - 1 - i) * STEP, i);
    run_all(log);
    assert_int_equal(log->count, MAX_LOG);
    for (uint64_t i = 0; i < MAX_LOG; i++) {
        assert_int_equal(log->ids[i], MAX_LOG - 1 - i);
        assert_int_equal(log->times[i], i * STEP);
    }
    assert_false(log->q->out_of_memory);
    end(log);
}

/* Each event posts the next one for the same cycle, at which its bucket would be empty, over several blocks. */
static void a_cycle_that_refills_itself_goes_on(void **state)
{
    (void)state;
    enum { CHAIN = 5 * PW_EVENTS_PER_BLOCK };
    for (uint64_t before = 0; before <= PW_EVENTS_PER_BLOCK; before += PW_EVENTS_PER_BLOCK - 1) {
        struct log *log = start();
        for (uint64_t id = 0; id <= before; id++)
            post(log, 5, id);
        post(log, 6, CHAIN);
        for (uint64_t id = before; id + 1 < CHAIN; id++) {
            log->trigger = id;
            log->child = id + 1;
            log->child_time = 5;
            log->stopper = id;
            log->stop = false;
            pw_events_run(log->q, PW_NEVER, &log->stop);
            assert_int_equal(log->count, id + 1);
            assert_int_equal(pw_events_pending(log->q), 2);
        }
        log->trigger = log->stopper = UINT64_MAX;
        log->stop = false;
        run_all(log);
        assert_int_equal(log->count, CHAIN + 1);
        for (uint64_t i = 0; i < log->count; i++)
            assert_int_equal(log->ids[i], i);
        assert_int_equal(pw_events_pending(log->q), 0);
        end(log);
    }
}

static void refill(void *object, uint64_t left, pw_cycle now)
{
    struct log *log = object;
    note(object, left, now);
    if (left)
        pw_events_post(log->q, now, refill, log, left - 1);
}

static void an_event_alone_in_its_cycle_can_post_the_next_without_end(void **state)
{
    (void)state;
    struct log *log = start();
    pw_events_post(log->q, 5, refill, log, 4 * PW_EVENTS_PER_BLOCK);
    post(log, 6, 0);
    run_all(log);
    assert_int_equal(log->count, 4 * PW_EVENTS_PER_BLOCK + 2);
    for (uint64_t i = 0; i + 1 < log->count; i++)
        assert_int_equal(log->ids[i], 4 * PW_EVENTS_PER_BLOCK - i);
    end(log);
}

/* Around the edges of blocks, beyond the wheel, and after a stop at any of them. */
static void waiting_events_are_counted_wherever_they_are(void **state)
{
    (void)state;
    enum { BLOCK = PW_EVENTS_PER_BLOCK };
    const uint64_t crowds[] = {1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK};
    const uint64_t stoppers[] = {0, BLOCK - 2, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK};
    for (unsigned i = 0; i < sizeof(crowds) / sizeof(*crowds); i++)
        for (unsigned k = 0; k < sizeof(stoppers) / sizeof(*stoppers) && stoppers[k] < crowds[i]; k++) {
            uint64_t crowd = crowds[i], stopper = stoppers[k];
            struct log *log = start();
            assert_int_equal(pw_events_pending(log->q), 0);
            log->stopper = stopper;
            for (uint64_t id = 0; id < crowd; id++)
                post(log, 5, id);
            post(log, 700, crowd);
            post(log, 3 * PW_WHEEL_CYCLES, crowd + 1);
            assert_int_equal(pw_events_pending(log->q), crowd + 2);
            run_all(log);
            assert_int_equal(pw_events_pending(log->q), crowd + 1 - stopper);
            assert_false(pw_events_idle(log->q));
            log->stop = false;
            run_all(log);
            assert_int_equal(log->count, crowd + 2);
            assert_true(pw_events_idle(log->q));
            end(log);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_one_cycle_run_in_the_order_of_posting),
        cmocka_unit_test(an_event_posted_for_the_running_cycle_runs_last_in_it),
        cmocka_unit_test(later_posts_stay_behind_what_waited_beyond_the_wheel),
        cmocka_unit_test(posts_between_two_runs_stay_behind_what_waited_beyond_the_wheel),
        cmocka_unit_test(every_distance_round_the_wheel_is_found),
        cmocka_unit_test(the_next_time_is_the_earliest_of_wheel_and_heap),
        cmocka_unit_test(the_limit_is_exclusive_and_time_stands_at_the_last_event),
        cmocka_unit_test(a_stopped_run_goes_on_with_the_rest_of_the_cycle),
        cmocka_unit_test(a_crowded_cycle_can_stop_after_any_of_its_events),
        cmocka_unit_test(a_stop_by_the_last_event_of_a_cycle_leaves_the_next_cycle),
        cmocka_unit_test(a_stop_before_the_run_leaves_time_where_it_was),
        cmocka_unit_test(many_pending_events_are_kept),
        cmocka_unit_test(a_cycle_that_refills_itself_goes_on),
        cmocka_unit_test(an_event_alone_in_its_cycle_can_post_the_next_without_end),
        cmocka_unit_test(waiting_events_are_counted_wherever_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
