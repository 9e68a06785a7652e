/* The event queue under random posts, from inside and outside handlers, against a list sorted by (time, order of
 * posting). The list can be sorted afterwards, since an event is never posted for the past: what is posted later for
 * the same or a later time belongs behind. */
#include "sim/event.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { POSTS = 300000, ROOTS = 3000 };

struct posted {
    pw_cycle time;
    uint64_t sequence;
};

struct scene {
    struct pw_events *q;
    struct pw_random random;
    size_t posts, runs;
    struct posted *posted;
    struct posted *ran;
    bool *done;
    bool stop;
};

static void handle(void *object, uint64_t sequence, pw_cycle now);

/* Mostly near; on and beside the wheel's edge; far; and often onto the same few cycles from all distances. */
static pw_cycle random_time(struct scene *s)
{
    uint64_t what = pw_random_below(&s->random, 100);
    pw_cycle now = s->q->now;
    if (what < 15)
        return now;
    if (what < 45)
        return now + pw_random_below(&s->random, 64);
    if (what < 60)
        return now + PW_WHEEL_CYCLES - 2 + pw_random_below(&s->random, 4);
    if (what < 75)
        return (now + pw_random_below(&s->random, 3 * PW_WHEEL_CYCLES)) / 128 * 128 + 128;
    if (what < 99)
        return now + pw_random_below(&s->random, 2 * PW_WHEEL_CYCLES);
    return now + pw_random_below(&s->random, 1U << 20);
}

static void post_one(struct scene *s)
{
    if (s->posts == POSTS)
        return;
    struct posted p = {random_time(s), s->posts};
    s->posted[s->posts++] = p;
    pw_events_post(s->q, p.time, handle, s, p.sequence);
}

static void handle(void *object, uint64_t sequence, pw_cycle now)
{
    struct scene *s = object;
    assert_true(s->runs < POSTS);
    assert_false(s->stop);
    assert_false(s->done[sequence]);
    s->done[sequence] = true;
    s->ran[s->runs++] = (struct posted){now, sequence};
    for (uint64_t children = pw_random_below(&s->random, 3); children; children--)
        post_one(s);
    if (pw_random_below(&s->random, 2000) == 0)
        s->stop = true;
}

static pw_cycle earliest_pending(const struct scene *s)
{
    pw_cycle earliest = PW_NEVER;
    for (size_t i = 0; i < s->posts; i++)
        if (!s->done[i] && s->posted[i].time < earliest)
            earliest = s->posted[i].time;
    return earliest;
}

static int by_time_then_sequence(const void *left, const void *right)
{
    const struct posted *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void drive(struct scene *s)
{
    for (unsigned i = 0; i < ROOTS; i++)
        post_one(s);
    for (unsigned turn = 0; s->runs < s->posts || s->posts < POSTS; turn++) {
        pw_cycle limit = pw_random_below(&s->random, 4) ? PW_NEVER : s->q->now + pw_random_below(&s->random, 5000);
        size_t before = s->runs;
        s->stop = false;
        uint64_t count = pw_events_run(s->q, limit, &s->stop);
        assert_int_equal(count, s->runs - before);
        if (s->runs > before) {
            assert_int_equal(s->q->now, s->ran[s->runs - 1].time);
            assert_true(s->q->now < limit);
        }
        if (turn % 4 == 0 || s->runs == s->posts) {
            pw_cycle earliest = earliest_pending(s);
            assert_int_equal(pw_events_next_time(s->q), earliest);
            assert_true(s->stop || earliest >= limit);
        }
        for (uint64_t more = pw_random_below(&s->random, 20) + (s->runs == s->posts ? ROOTS : 0); more; more--)
            post_one(s);
    }
}

static void events_run_as_if_sorted_by_time_and_order_of_posting(void **state)
{
    (void)state;
    struct pw_error err;
    struct scene *s = calloc(1, sizeof(*s));
    s->q = pw_events_create(&err);
    s->posted = calloc(POSTS, sizeof(*s->posted));
    s->ran = calloc(POSTS, sizeof(*s->ran));
    s->done = calloc(POSTS, sizeof(*s->done));
    pw_random_init(&s->random, 1, "event");
    drive(s);
    assert_int_equal(s->posts, POSTS);
    assert_int_equal(s->runs, POSTS);
    assert_int_equal(s->q->executed, POSTS);
    qsort(s->posted, POSTS, sizeof(*s->posted), by_time_then_sequence);
    for (size_t i = 0; i < POSTS; i++) {
        assert_int_equal(s->ran[i].time, s->posted[i].time);
        assert_int_equal(s->ran[i].sequence, s->posted[i].sequence);
    }
    pw_events_destroy(s->q);
    free(s->posted);
    free(s->ran);
    free(s->done);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_run_as_if_sorted_by_time_and_order_of_posting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
