/* GMMU Bypass by itself: where requests go after epochs with exact numbers of local and remote pages. */
#include "policies.h"

#include "policy/route/route_policy.h"
#include "sim/cost.h"

#include <math.h>

enum { EPOCH = 10000, APPS = 2, OFF = PW_ROUTE_GMMU, ON = PW_ROUTE_IOMMU, BOTH = PW_ROUTE_BOTH };

struct world {
    const struct pw_route_policy *policy;
    struct pw_policies list;
    struct pw_policy_use use;
    struct pw_stats *stats;
    void *state;
    pw_cycle now;
};

/* `sets` is name, value, …, NULL. */
static enum pw_status try_to_make(struct world *w, const char *const *sets, struct pw_error *err)
{
    struct pw_policy_choice choice = policy_choice(&pw_route_family, "bypass");
    *w = (struct world){.policy = pw_route_policy_of(policy_named(&pw_route_family, "bypass"))};
    for (; *sets; sets += 2)
        policy_set(&pw_route_family, &choice, sets[0], sets[1]);
    assert_int_equal(pw_policy_use_init(&w->use, &w->list, "route.policy", &w->policy->head, &choice, APPS, err),
                     PW_OK);
    return pw_policy_use_add(&w->use, NULL, &w->state, err);
}

static void make(struct world *w, const char *const *sets)
{
    struct pw_error err;
    if (try_to_make(w, sets, &err) != PW_OK)
        fail_msg("%s", err.message);
    w->stats = pw_stats_create(APPS, &err);
    assert_int_equal(pw_policies_register(&w->list, w->stats, &err), PW_OK);
    assert_int_equal(pw_stats_seal(w->stats, &err), PW_OK);
    assert_int_equal(w->policy->head.epoch(w->state, 0), EPOCH);
}

static void end(struct world *w)
{
    pw_stats_destroy(w->stats);
    pw_policy_use_release(&w->use);
}

/* Where a request goes now, whosever it is. */
static unsigned route(const struct world *w)
{
    unsigned set = w->policy->choose(w->state, 0, (pw_vpn){1});
    assert_int_equal(w->policy->choose(w->state, 1, (pw_vpn){77}), set);
    return set;
}

static void answer(struct world *w, unsigned app, unsigned local, unsigned remote)
{
    for (unsigned i = 0; i < local + remote; i++)
        w->policy->answered(w->state, (pw_asid)app, i < local);
}

static void end_epoch(struct world *w)
{
    w->now += EPOCH;
    assert_int_equal(w->policy->head.epoch(w->state, w->now), w->now + EPOCH);
}

/* The route after an epoch with so many answers. */
static unsigned after(struct world *w, unsigned local, unsigned remote)
{
    answer(w, 0, local, remote);
    end_epoch(w);
    return route(w);
}

/* app -1: of all. */
static double metric(const struct world *w, const char *name, int app)
{
    uint64_t raw[APPS * 64];
    assert_true(pw_stats_raw_count(w->stats) <= APPS * 64 && pw_stats_find(w->stats, name) >= 0);
    pw_stats_snapshot(w->stats, raw);
    return pw_stats_value(w->stats, (size_t)pw_stats_find(w->stats, name), app, NULL, raw);
}

static void expect(const struct world *w, const char *name, int app, double value)
{
    double is = metric(w, name, app);
    if (fabs(is - value) > 1e-9)
        fail_msg("%s of app %d is %.10g, not %.10g", name, app, is, value);
}

static const char *const defaults[] = {NULL};

/* gmmu-sec4-ratio, gmmu-sec4-disable, gmmu-sec4-enable, gmmu-sec4-both, gmmu-sec4-strict, gmmu-sec61-t1, gmmu-sec61-t2:
 * at either threshold, one request beyond it, and at the ends. */
static void the_share_of_local_pages_decides(void **state)
{
    (void)state;
    static const struct {
        unsigned local, remote, route;
    } cases[] = {
        {17, 3, BOTH},                                                                             /* 0.85 */
        {85, 15, BOTH},                                                                            /* 0.85 */
        {86, 15, OFF},                                                                             /* 0.8515 */
        {85, 14, OFF},                                                                             /* 0.8586 */
        {84, 15, BOTH},                                                                            /* 0.8485 */
        {85, 16, BOTH},                                                                            /* 0.8416 */
        {3, 17, BOTH},                                                                             /* 0.15 */
        {15, 85, BOTH},                                                                            /* 0.15 */
        {14, 85, ON},                                                                              /* 0.1414 */
        {15, 86, ON},                                                                              /* 0.1485 */
        {16, 85, BOTH},                                                                            /* 0.1584 */
        {15, 84, BOTH},                                                                            /* 0.1515 */
        {1, 1, BOTH},   {1, 0, OFF},     {0, 1, ON}, {200, 0, OFF}, {0, 200, ON}, {238, 42, BOTH}, /* 0.85 */
        {239, 42, OFF}, {42, 238, BOTH},                                                           /* 0.15 */
        {42, 239, ON},
    };
    struct world w;
    make(&w, defaults);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned is = after(&w, cases[i].local, cases[i].remote);
        if (is != cases[i].route)
            fail_msg("%u local and %u remote: %u, not %u", cases[i].local, cases[i].remote, is, cases[i].route);
    }
    end(&w);
}

static void thresholds_are_options(void **state)
{
    (void)state;
    struct world w;
    make(&w, (const char *const[]){"t1", "0.5", "t2", "0.5", NULL});
    assert_int_equal(after(&w, 51, 50), OFF);
    assert_int_equal(after(&w, 50, 51), ON);
    assert_int_equal(after(&w, 50, 50), BOTH);
    end(&w);
    make(&w, (const char *const[]){"t1", "1", "t2", "0", NULL}); /* nothing is beyond them */
    assert_int_equal(after(&w, 100, 0), BOTH);
    assert_int_equal(after(&w, 0, 100), BOTH);
    end(&w);
    make(&w, (const char *const[]){"t1", "0.333333", "t2", "0", NULL});
    assert_int_equal(after(&w, 1, 2), OFF); /* a third is more */
    end(&w);
    make(&w, (const char *const[]){"t1", "0.333334", "t2", "0", NULL});
    assert_int_equal(after(&w, 1, 2), BOTH);
    end(&w);
}

/* gmmu-sec4-next-epoch, gmmu-sec61-epoch: what is answered changes nothing before its epoch of 10 us is over, and
 * everything then; in the first epoch requests go to the GMMU. */
static void the_decision_holds_for_the_next_epoch(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults); /* whose first epoch ends after 10,000 cycles of a nanosecond */
    assert_int_equal(route(&w), OFF);
    answer(&w, 0, 0, 100);
    assert_int_equal(route(&w), OFF);
    end_epoch(&w);
    assert_int_equal(route(&w), ON);
    answer(&w, 0, 100, 0);
    assert_int_equal(route(&w), ON);
    end_epoch(&w);
    assert_int_equal(route(&w), OFF); /* nothing is left of the epoch before */
    answer(&w, 0, 1, 1);
    assert_int_equal(route(&w), OFF);
    end_epoch(&w);
    assert_int_equal(route(&w), BOTH);
    end(&w);
}

static void epochs_without_requests_change_nothing(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(after(&w, 0, 0), OFF);
    assert_int_equal(after(&w, 1, 9), ON);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(after(&w, 0, 0), ON);
    assert_int_equal(after(&w, 5, 5), BOTH);
    assert_int_equal(after(&w, 0, 0), BOTH);
    expect(&w, "route.epochs_off", 0, 0);
    expect(&w, "route.epochs_on", 0, 1);
    expect(&w, "route.epochs_both", 0, 0);
    end(&w);
}

static void an_epoch_is_as_long_as_the_option_says(void **state)
{
    (void)state;
    struct world w;
    struct pw_error err;
    assert_int_equal(try_to_make(&w, (const char *const[]){"epoch", "250", NULL}, &err), PW_OK);
    assert_int_equal(w.policy->head.epoch(w.state, 0), 250);
    assert_int_equal(w.policy->head.epoch(w.state, 250), 500);
    pw_policy_use_release(&w.use);
}

/* gmmu-sec4-count, gmmu-sec63-bits: 254 is the most that a counter holds; the answer that makes it 255 halves both. */
static void both_counters_are_halved_when_one_reaches_255(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    assert_int_equal(after(&w, 254, 44), OFF); /* 0.8523 */
    answer(&w, 0, 254, 0);
    answer(&w, 0, 0, 45);
    assert_int_equal(after(&w, 0, 0), BOTH); /* 254 and 45: 0.8495 */
    answer(&w, 0, 0, 45);
    assert_int_equal(after(&w, 255, 0), OFF); /* 127 and 22: 0.8523, for 22.5 is rounded down */
    answer(&w, 0, 0, 46);
    assert_int_equal(after(&w, 255, 0), BOTH); /* 127 and 23 */
    /* What came before counts for half, then for a quarter of what comes later. */
    answer(&w, 0, 0, 200);
    answer(&w, 0, 255, 0);                   /* 127 and 100 */
    answer(&w, 0, 128, 0);                   /* 127 and 50 */
    answer(&w, 0, 128, 0);                   /* 127 and 25 */
    assert_int_equal(after(&w, 0, 0), BOTH); /* 0.8355 */
    answer(&w, 0, 0, 200);
    answer(&w, 0, 255 + 128 + 128 + 128, 0); /* 127 and 12: 0.9137; all requests of the epoch: 0.7616 */
    assert_int_equal(after(&w, 0, 0), OFF);
    end(&w);
}

/* The same with remote pages. */
static void a_full_counter_of_remote_pages_halves_both_as_well(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    answer(&w, 0, 200, 0);
    assert_int_equal(after(&w, 0, 255 + 128 + 128 + 128), ON); /* 12 and 127: 0.0863; of all 0.2384 */
    answer(&w, 0, 45, 0);
    assert_int_equal(after(&w, 0, 254), BOTH); /* 0.1505 */
    answer(&w, 0, 45, 0);
    assert_int_equal(after(&w, 0, 255), ON); /* 22 and 127: 0.1477 */
    end(&w);
}

/* The counters are the GPU's, not an application's; another GPU has its own. */
static void all_applications_of_a_gpu_are_counted_together(void **state)
{
    (void)state;
    struct world w, other;
    make(&w, defaults);
    make(&other, defaults);
    answer(&w, 0, 10, 0);
    answer(&w, 1, 0, 10);
    end_epoch(&w);
    end_epoch(&other);
    assert_int_equal(route(&w), BOTH);
    assert_int_equal(route(&other), OFF);
    end(&w);
    end(&other);
}

static void a_fixed_mode_does_not_change(void **state)
{
    (void)state;
    static const char *const names[] = {"off", "on", "both"};
    static const unsigned routes[] = {OFF, ON, BOTH};
    for (unsigned i = 0; i < 3; i++) {
        struct world w;
        make(&w, (const char *const[]){"mode", names[i], NULL});
        assert_int_equal(route(&w), routes[i]);
        assert_int_equal(after(&w, 100, 0), routes[i]);
        assert_int_equal(after(&w, 0, 100), routes[i]);
        assert_int_equal(after(&w, 50, 50), routes[i]);
        assert_int_equal(after(&w, 0, 0), routes[i]);
        expect(&w, "route.requests_off", 0, routes[i] == OFF ? 300 : 0);
        expect(&w, "route.requests_on", 0, routes[i] == ON ? 300 : 0);
        expect(&w, "route.requests_both", 0, routes[i] == BOTH ? 300 : 0);
        end(&w);
    }
}

static void thresholds_in_the_wrong_order_are_a_user_error(void **state)
{
    (void)state;
    struct world w;
    struct pw_error err;
    assert_int_equal(try_to_make(&w, (const char *const[]){"t2", "0.9", NULL}, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "route.t2 = 0.9 is above route.t1 = 0.85; give at most that");
    pw_policy_use_release(&w.use);
}

/* Requests count at once, epochs and their accuracy when they are over; each application has its own. Until something
 * has been decided there is nothing to be right or wrong. */
static void epochs_and_requests_are_counted_by_mode(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    answer(&w, 0, 1, 9);
    answer(&w, 1, 0, 30);
    expect(&w, "route.requests_off", -1, 40);
    expect(&w, "route.epochs_off", -1, 0);
    end_epoch(&w);
    expect(&w, "route.epochs_off", -1, 0);
    answer(&w, 0, 100, 300);                 /* more than the counters hold */
    assert_int_equal(after(&w, 0, 0), BOTH); /* on: 75% were remote; application 1 had none */
    answer(&w, 1, 4, 4);
    end_epoch(&w); /* both, with remote pages more frequent before: 50% */
    answer(&w, 1, 0, 30);
    assert_int_equal(after(&w, 900, 0), OFF); /* both */
    answer(&w, 0, 1, 9);
    answer(&w, 1, 0, 30);
    end_epoch(&w); /* off: 10% and 0% were local */
    expect(&w, "route.epochs_off", 0, 1);
    expect(&w, "route.epochs_off", 1, 1);
    expect(&w, "route.accuracy_off", 0, 10);
    expect(&w, "route.accuracy_off", 1, 0);
    expect(&w, "route.accuracy_off", -1, 5);
    expect(&w, "route.requests_off", -1, 80);
    expect(&w, "route.epochs_on", 0, 1);
    expect(&w, "route.epochs_on", 1, 0);
    expect(&w, "route.requests_on", 0, 400);
    expect(&w, "route.accuracy_on", 0, 75);
    expect(&w, "route.accuracy_on", 1, 0);
    expect(&w, "route.epochs_both", 1, 2);
    expect(&w, "route.requests_both", 1, 38);
    expect(&w, "route.accuracy_both", 1, (50 + 0) / 2.0); /* local, where neither prevailed: none of 30 was */
    end(&w);
}

/* While requests go to both, the kind that was more frequent in the epoch before is meant, local where neither was;
 * also over an empty epoch. */
static void accuracy_is_a_mean_over_epochs(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    after(&w, 4, 6); /* nothing was predicted */
    after(&w, 0, 0);
    after(&w, 3, 7); /* both, remote predicted: 70% */
    after(&w, 6, 4); /* remote: 40% */
    after(&w, 2, 2); /* local: 50% */
    after(&w, 8, 2); /* local: 80% */
    expect(&w, "route.epochs_both", 0, 4);
    expect(&w, "route.accuracy_both", 0, (70 + 40 + 50 + 80) / 4.0);
    expect(&w, "route.accuracy_off", 0, 0);
    after(&w, 0, 10); /* local: 0% */
    after(&w, 1, 9);  /* on: 90% */
    after(&w, 3, 7);  /* on: 70% */
    expect(&w, "route.accuracy_both", 0, (70 + 40 + 50 + 80 + 0) / 5.0);
    expect(&w, "route.accuracy_on", 0, 80);
    end(&w);
    make(&w, (const char *const[]){"mode", "both", NULL});
    after(&w, 1, 4); /* nothing is known: local, 20% */
    after(&w, 1, 4); /* remote, 80% */
    expect(&w, "route.accuracy_both", 0, 50);
    end(&w);
}

static void few_requests_are_told_from_many_by_the_median_epoch(void **state)
{
    (void)state;
    struct world w;
    make(&w, (const char *const[]){"mode", "off", NULL});
    expect(&w, "route.accuracy_few", 0, 0);
    expect(&w, "route.accuracy_many", 0, 0);
    after(&w, 5, 5); /* 10 requests, 50%: it is the median itself */
    expect(&w, "route.accuracy_few", 0, 0);
    expect(&w, "route.accuracy_many", 0, 50);
    after(&w, 180, 20); /* 200, 90% */
    expect(&w, "route.accuracy_few", 0, 50);
    expect(&w, "route.accuracy_many", 0, 90);
    after(&w, 10, 10); /* 20, 50%: the median */
    expect(&w, "route.accuracy_few", 0, 50);
    expect(&w, "route.accuracy_many", 0, 70);
    after(&w, 8, 2); /* 10, 80%: 10, 10 | 20, 200 */
    expect(&w, "route.accuracy_few", 0, 65);
    expect(&w, "route.accuracy_many", 0, 70);
    answer(&w, 1, 1, 0); /* another application has a median of its own */
    after(&w, 20, 0);    /* 20, 100%: 10, 10 | 20, 20, 200 */
    expect(&w, "route.accuracy_few", 0, 65);
    expect(&w, "route.accuracy_many", 0, 80);
    expect(&w, "route.accuracy_few", 1, 0);
    expect(&w, "route.accuracy_many", 1, 100);
    end(&w);
}

/* 255 requests have a bin of their own; above that all are many. */
static void more_than_255_requests_are_as_many_as_any(void **state)
{
    (void)state;
    struct world w;
    make(&w, (const char *const[]){"mode", "on", NULL});
    after(&w, 51, 204); /* 255: 80% */
    after(&w, 0, 256);
    after(&w, 500, 500);
    expect(&w, "route.accuracy_few", 0, 80);
    expect(&w, "route.accuracy_many", 0, 75);
    after(&w, 0, 254);
    after(&w, 0, 254);
    after(&w, 0, 1); /* 1, 254, 254 | 255, 256, 1000 */
    expect(&w, "route.accuracy_few", 0, 100);
    expect(&w, "route.accuracy_many", 0, (80 + 100 + 50) / 3.0);
    end(&w);
    make(&w, (const char *const[]){"mode", "on", NULL});
    after(&w, 0, 256);
    after(&w, 500, 500);
    after(&w, 500, 500);
    expect(&w, "route.accuracy_few", 0, 0); /* there are none */
    expect(&w, "route.accuracy_many", 0, 200 / 3.0);
    end(&w);
}

/* Epochs whose requests went to both were not predicted. */
static void epochs_sent_to_both_are_neither_few_nor_many(void **state)
{
    (void)state;
    struct world w;
    make(&w, defaults);
    after(&w, 1, 0);  /* nothing was predicted */
    after(&w, 5, 5);  /* off: 10 requests, 50% */
    after(&w, 1, 0);  /* both */
    after(&w, 20, 5); /* off: 25 requests, 80% */
    after(&w, 30, 0); /* both */
    expect(&w, "route.epochs_off", 0, 2);
    expect(&w, "route.accuracy_few", 0, 50);
    expect(&w, "route.accuracy_many", 0, 80);
    end(&w);
}

/* gmmu-sec63-counters, gmmu-sec63-bits: two counters of 8 bits, and nothing else. */
static void it_takes_two_counters_of_8_bits(void **state)
{
    (void)state;
    const struct pw_policy_cost *cost = policy_named(&pw_route_family, "bypass")->cost;
    unsigned counters = 0;
    for (; cost[counters].name; counters++)
        assert_int_equal(pw_policy_cost_size(&cost[counters], NULL, NULL), 8);
    assert_int_equal(counters, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_of_local_pages_decides),
        cmocka_unit_test(thresholds_are_options),
        cmocka_unit_test(the_decision_holds_for_the_next_epoch),
        cmocka_unit_test(epochs_without_requests_change_nothing),
        cmocka_unit_test(an_epoch_is_as_long_as_the_option_says),
        cmocka_unit_test(both_counters_are_halved_when_one_reaches_255),
        cmocka_unit_test(a_full_counter_of_remote_pages_halves_both_as_well),
        cmocka_unit_test(all_applications_of_a_gpu_are_counted_together),
        cmocka_unit_test(a_fixed_mode_does_not_change),
        cmocka_unit_test(thresholds_in_the_wrong_order_are_a_user_error),
        cmocka_unit_test(epochs_and_requests_are_counted_by_mode),
        cmocka_unit_test(accuracy_is_a_mean_over_epochs),
        cmocka_unit_test(few_requests_are_told_from_many_by_the_median_epoch),
        cmocka_unit_test(more_than_255_requests_are_as_many_as_any),
        cmocka_unit_test(epochs_sent_to_both_are_neither_few_nor_many),
        cmocka_unit_test(it_takes_two_counters_of_8_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
