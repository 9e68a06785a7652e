/* Whose turn it is in the Silver queue of the address-space-aware DRAM schedule, and for how many reads. */
#include "policies.h"
#include "policy/dram/dram_policy.h"

#include <stdlib.h>

enum { GOLDEN, SILVER, NORMAL };

struct fixture {
    const struct pw_dram_policy *policy;
    struct pw_policy_use use;
    struct pw_walk_pressure pressure[PW_MAX_APPS];
    void *state;
};

/* Without pressure there is no record of it. */
static struct fixture *create(unsigned apps, const char *silver_max, bool without_pressure)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    struct pw_error err;
    struct pw_policy_choice choice = policy_choice(&pw_dram_family, "address-space");
    struct pw_dram_environment environment = {.pressure = without_pressure ? NULL : f->pressure};
    if (silver_max)
        policy_set(&pw_dram_family, &choice, "silver_max", silver_max);
    f->policy = pw_dram_policy_of(pw_policy_chosen(&pw_dram_family, &choice));
    assert_int_equal(pw_policy_use_init(&f->use, NULL, "dram.schedule", &f->policy->head, &choice, apps, &err), PW_OK);
    assert_int_equal(pw_policy_use_add(&f->use, &environment, &f->state, &err), PW_OK);
    return f;
}

static void destroy(struct fixture *f)
{
    pw_policy_use_release(&f->use);
    free(f);
}

static unsigned data(struct fixture *f, unsigned app)
{
    return f->policy->rank(f->state, (pw_asid)app, 0);
}

static void press(struct fixture *f, unsigned app, uint32_t walks, uint32_t stalled)
{
    f->pressure[app] = (struct pw_walk_pressure){walks, stalled};
}

static uint64_t count(const struct fixture *f, unsigned app, const char *metric)
{
    const struct pw_policy *p = f->use.policy;
    const struct pw_policy_metric *m = p->metrics;
    while (strcmp(m->name, metric) != 0)
        m++;
    return *(const uint64_t *)((const char *)f->use.counters + app * p->counters_bytes + m->offset);
}

/* Uses up what is left of the turn of `app`, and checks that it is so many reads: the last is Silver, the next is
 * not. */
static void use_up(struct fixture *f, unsigned app, unsigned other, uint64_t reads)
{
    for (uint64_t i = 0; i < reads; i++) {
        assert_int_equal(data(f, other), NORMAL);
        if (data(f, app) != SILVER)
            fail_msg("app%u had %llu reads, not %llu", app, (unsigned long long)i, (unsigned long long)reads);
    }
    assert_int_equal(data(f, app), NORMAL);
}

/* mask-sec54-quota, mask-sec54-quota-metrics, mask-sec54-conptw-counter, mask-sec54-warps-counter, mask-sec54-turns */
static void a_quota_is_a_share_of_walks_times_stalled_warps(void **state)
{
    (void)state;
    static const struct {
        const char *silver_max;
        uint32_t walks[2], stalled[2];
        uint64_t quota[2];
    } cases[] = {
        {"500", {1, 1}, {1, 1}, {250, 250}}, {"500", {3, 1}, {1, 1}, {375, 125}},
        {"500", {1, 1}, {1, 3}, {125, 375}}, {"500", {2, 3}, {3, 2}, {250, 250}},
        {"500", {1, 2}, {1, 1}, {166, 333}}, /* rounded down, */
        {"500", {1, 60}, {1, 60}, {1, 499}}, /* but at least 1 */
        {"10", {62, 63}, {1, 1}, {4, 5}},    {"10", {63, 21}, {1, 1}, {7, 2}},
        {"10", {64, 21}, {1, 1}, {7, 2}}, /* counters of 6 bits */
        {"10", {1000, 21}, {1, 1}, {7, 2}},  {"10", {1, 1}, {21, 1000}, {2, 7}},
        {"500", {0, 0}, {5, 5}, {250, 250}}, /* the denominator is 0 */
        {"500", {5, 5}, {0, 0}, {250, 250}}, {"1", {0, 0}, {0, 0}, {1, 1}},
        {"7", {0, 0}, {0, 0}, {3, 3}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = create(2, cases[i].silver_max, false);
        for (unsigned app = 0; app < 2; app++)
            press(f, app, cases[i].walks[app], cases[i].stalled[app]);
        for (unsigned turn = 0; turn < 4; turn++) {
            unsigned app = turn % 2;
            use_up(f, app, !app, cases[i].quota[app]);
            assert_int_equal(count(f, app, "silver_quota"), cases[i].quota[app] * (turn / 2 + 1));
            assert_int_equal(count(f, app, "silver_turns"), turn / 2 + 1);
        }
        destroy(f);
    }
}

/* mask-sec54-golden: whatever the turn, and without using it up. */
static void page_table_reads_are_golden_and_nothing_else_is(void **state)
{
    (void)state;
    struct fixture *f = create(2, "4", false);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(f->policy->rank(f->state, (pw_asid)(i % 2), 1 + i % 4), GOLDEN);
    use_up(f, 0, 1, 2);
    assert_int_equal(count(f, 0, "golden_arrivals"), 50);
    assert_int_equal(count(f, 0, "silver_arrivals"), 2);
    assert_int_equal(count(f, 0, "normal_arrivals"), 1);
    assert_int_equal(count(f, 1, "normal_arrivals"), 2);
    destroy(f);
}

/* mask-sec54-silver, mask-sec54-normal, mask-sec54-turns */
static void turns_go_round_and_pass_over_whoever_has_no_walks(void **state)
{
    (void)state;
    struct fixture *f = create(4, "300", false);
    press(f, 1, 1, 1);
    press(f, 3, 2, 1);
    for (unsigned turn = 0; turn < 4; turn++) {
        unsigned app = turn % 2 ? 3 : 1;
        assert_int_equal(data(f, 0), NORMAL);
        assert_int_equal(data(f, 2), NORMAL);
        use_up(f, app, 4 - app, turn % 2 ? 200 : 100);
    }
    press(f, 1, 0, 1);
    use_up(f, 1, 0, 100); /* it has its turn already */
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < (turn ? 300 : 200); i++) /* one turn that began before, then all of it */
            assert_int_equal(data(f, 3), SILVER);
    assert_int_equal(data(f, 1), NORMAL);
    destroy(f);
}

static void a_quota_is_fixed_when_the_turn_begins(void **state)
{
    (void)state;
    struct fixture *f = create(2, "100", false);
    press(f, 0, 1, 1);
    press(f, 1, 1, 1);
    assert_int_equal(data(f, 0), SILVER);
    press(f, 0, 9, 1);
    for (unsigned i = 1; i < 49; i++)
        assert_int_equal(data(f, 0), SILVER);
    press(f, 1, 3, 1); /* before the last read of this turn, with which the next begins */
    assert_int_equal(data(f, 0), SILVER);
    press(f, 1, 1, 1);
    use_up(f, 1, 0, 25);
    use_up(f, 0, 1, 90);
    destroy(f);
}

static void a_single_application_is_always_silver(void **state)
{
    (void)state;
    for (unsigned without = 0; without < 2; without++) {
        struct fixture *f = create(1, "3", without);
        for (unsigned i = 0; i < 100; i++) {
            press(f, 0, i % 3, i % 5);
            assert_int_equal(data(f, 0), SILVER);
            if (i % 7 == 0)
                f->policy->head.epoch(f->state, i);
        }
        destroy(f);
    }
}

static void with_a_maximum_of_0_there_is_no_silver(void **state)
{
    (void)state;
    for (unsigned apps = 1; apps < 3; apps++) {
        struct fixture *f = create(apps, "0", false);
        press(f, 0, 1, 1);
        for (unsigned i = 0; i < 600; i++)
            assert_int_equal(data(f, i % apps), NORMAL);
        f->policy->head.epoch(f->state, 1);
        f->policy->head.epoch(f->state, 2);
        assert_int_equal(data(f, 0), NORMAL);
        assert_int_equal(count(f, 0, "silver_turns"), 0);
        destroy(f);
    }
}

/* mask-sec54-reset, mask-sec6-threshmax */
static void the_stalled_warps_are_counted_anew_every_epoch(void **state)
{
    (void)state;
    struct fixture *f = create(2, NULL, false);
    press(f, 0, 4, 5);
    press(f, 1, 6, 7);
    assert_int_equal(f->policy->head.epoch(f->state, 0), 100000);
    assert_int_equal(f->policy->head.epoch(f->state, 100000), 200000);
    for (unsigned app = 0; app < 2; app++) {
        assert_int_equal(f->pressure[app].walks, app ? 6 : 4); /* these go on */
        assert_int_equal(f->pressure[app].stalled, 0);
    }
    use_up(f, 0, 1, 500 / 2);
    destroy(f);
}

/* One that sends nothing from one epoch to the next would never use it up. */
static void a_turn_ends_when_nothing_comes_for_an_epoch(void **state)
{
    (void)state;
    struct fixture *f = create(3, "300", true);
    pw_cycle (*epoch)(void *, pw_cycle) = f->policy->head.epoch;
    assert_int_equal(data(f, 2), NORMAL); /* the turn of app0 has begun */
    epoch(f->state, 1);
    assert_int_equal(data(f, 0), SILVER);
    epoch(f->state, 2); /* it has sent something in this one, */
    assert_int_equal(data(f, 0), SILVER);
    epoch(f->state, 3);
    epoch(f->state, 4); /* and nothing in this one */
    assert_int_equal(data(f, 0), NORMAL);
    assert_int_equal(data(f, 1), SILVER);
    epoch(f->state, 5);
    epoch(f->state, 6);
    use_up(f, 2, 0, 100);
    use_up(f, 0, 1, 100); /* one that had lost its turn has the next one whole */
    destroy(f);
}

/* mask-sec54-app-limit */
static void there_may_be_64_applications(void **state)
{
    (void)state;
    struct fixture *f = create(64, "640", false);
    for (unsigned app = 0; app < 64; app++)
        press(f, app, 1, 1);
    for (unsigned app = 0; app < 130; app++)
        use_up(f, app % 64, (app + 2) % 64, 10);
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quota_is_a_share_of_walks_times_stalled_warps),
        cmocka_unit_test(page_table_reads_are_golden_and_nothing_else_is),
        cmocka_unit_test(turns_go_round_and_pass_over_whoever_has_no_walks),
        cmocka_unit_test(a_quota_is_fixed_when_the_turn_begins),
        cmocka_unit_test(a_single_application_is_always_silver),
        cmocka_unit_test(with_a_maximum_of_0_there_is_no_silver),
        cmocka_unit_test(the_stalled_warps_are_counted_anew_every_epoch),
        cmocka_unit_test(a_turn_ends_when_nothing_comes_for_an_epoch),
        cmocka_unit_test(there_may_be_64_applications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
