/* Blocked times against a naive model that keeps a flag for each cycle. */
#include "gpu/blocked.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CYCLES = 4000 };

static uint64_t naive(const bool *blocked, pw_cycle from, pw_cycle to)
{
    uint64_t sum = 0;
    for (pw_cycle t = from; t < to; t++)
        sum += blocked[t];
    return sum;
}

static void begin(struct pw_blocked *b, pw_cycle now, pw_cycle oldest)
{
    if (!pw_blocked_has_room(b))
        assert_true(pw_blocked_make_room(b, oldest));
    pw_blocked_begin(b, now);
}

static void a_span_has_the_cycles_in_which_it_was_blocked(void **state)
{
    (void)state;
    struct pw_blocked b = {0};
    assert_int_equal(pw_blocked_within(&b, 0, 100), 0);
    begin(&b, 10, 0);
    assert_int_equal(pw_blocked_within(&b, 0, 10), 0);
    assert_int_equal(pw_blocked_within(&b, 0, 15), 5);
    begin(&b, 12, 0); /* it is already */
    pw_blocked_end(&b, 20);
    pw_blocked_end(&b, 25); /* it is not */
    assert_int_equal(pw_blocked_within(&b, 0, 100), 10);
    assert_int_equal(pw_blocked_within(&b, 12, 13), 1);
    assert_int_equal(pw_blocked_within(&b, 19, 100), 1);
    assert_int_equal(pw_blocked_within(&b, 13, 12), 0);
    begin(&b, 30, 0);
    pw_blocked_end(&b, 30); /* for no time */
    assert_int_equal(b.count, 1);
    begin(&b, 20, 0); /* once more at once: it is one time */
    assert_int_equal(b.count, 1);
    pw_blocked_end(&b, 20);
    begin(&b, 40, 0);
    pw_blocked_end(&b, 41);
    assert_int_equal(pw_blocked_within(&b, 15, 41), 6);
    pw_blocked_free(&b);
}

static void spans_are_those_of_a_naive_model(void **state)
{
    (void)state;
    bool blocked[CYCLES] = {0};
    struct pw_random random;
    struct pw_blocked b = {0};
    pw_random_init(&random, 7, "blocked");
    bool now_blocked = false;
    for (pw_cycle now = 0; now < CYCLES; now++) {
        pw_cycle oldest = now > 200 ? now - 200 : 0;
        if (pw_random_below(&random, 4) == 0) {
            now_blocked = !now_blocked;
            if (now_blocked)
                begin(&b, now, oldest);
            else
                pw_blocked_end(&b, now);
        }
        blocked[now] = now_blocked;
        pw_cycle from = oldest + pw_random_below(&random, now - oldest + 1);
        pw_cycle to = from + pw_random_below(&random, now + 1 - from + 1);
        assert_int_equal(pw_blocked_within(&b, from, to), naive(blocked, from, to));
        assert_int_equal(pw_blocked_within(&b, oldest, now + 1), naive(blocked, oldest, now + 1));
    }
    assert_in_range(b.capacity, 16, 128); /* what cannot be asked about any more has been dropped */
    pw_blocked_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_has_the_cycles_in_which_it_was_blocked),
        cmocka_unit_test(spans_are_those_of_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
