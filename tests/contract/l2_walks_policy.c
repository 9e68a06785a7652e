/* What every policy for the use of the L2 by page walks must keep: whatever it decides, each request is answered once,
 * no miss register is left over, and the counters add up. */
#include "memory_fixture.h"

#include "sim/random.h"

struct load {
    struct memory_fixture *fixture;
    struct pw_random random;
    unsigned left, walks;
    bool sectored;
};

/* A few requests at a time, to few lines, so that walks and data meet in miss registers. */
static void send_some(void *object, uint64_t argument, pw_cycle now)
{
    struct load *l = object;
    (void)argument;
    for (uint64_t some = pw_random_below(&l->random, 4); some && l->left; some--, l->left--) {
        unsigned level = (unsigned)pw_random_below(&l->random, PW_TABLE_LEVELS + 1);
        l->walks += level > 0;
        memory_fixture_send(l->fixture, level, (uint32_t)pw_random_below(&l->random, 40),
                            (uint8_t)(1U << pw_random_below(&l->random, PW_SECTORS_PER_LINE)));
    }
    if (l->left)
        pw_events_post(l->fixture->events, now + 1 + pw_random_below(&l->random, 60), send_some, l, 0);
}

static void every_request_is_answered_and_counted(void **state)
{
    (void)state;
    for (const struct pw_policy *const *p = pw_l2_walks_family.policies; *p; p++)
        for (unsigned variant = 0; variant < 8; variant++) {
            struct load l = {.left = MEMORY_FIXTURE_REQUESTS, .sectored = variant & 1};
            l.fixture = memory_fixture_create((*p)->name, NULL, 1U << (variant / 2 * 2), l.sectored);
            pw_random_init(&l.random, variant, "l2 walks");
            pw_events_post(l.fixture->events, 0, send_some, &l, 0);
            memory_fixture_run(l.fixture);
            const struct pw_l2_counters *n = l.fixture->memory->counters;
            uint64_t data = MEMORY_FIXTURE_REQUESTS - l.walks, looked_up = memory_fixture_sum(n->accesses) - data;
            assert_true(l.walks > 0 && looked_up <= l.walks);
            assert_true(pw_l2_walks_policy_of(*p)->use || looked_up == l.walks);
            assert_int_equal(n->accesses[0], data);
            assert_int_equal(memory_fixture_sum(n->bypassed), l.walks - looked_up);
            assert_int_equal(n->bypassed[0], 0);
            memory_fixture_destroy(l.fixture);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_answered_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
