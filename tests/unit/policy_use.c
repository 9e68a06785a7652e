/* Policies at work: counters and options that the instances of a choice share, metrics in the registry, epochs. */
#include "sim/policy_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct counters {
    uint64_t calls, height;
};

struct own_options {
    uint32_t period;
};

struct instance {
    struct counters *counters;
    const struct own_options *options;
    uint32_t app;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct instance *i = state;
    i->counters = setup->counters;
    i->options = setup->options;
    i->app = *(const uint32_t *)setup->environment;
    return i->app < setup->apps ? PW_OK : pw_fail(err, PW_USER_ERROR, "no application %u", i->app);
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct instance *i = state;
    i->counters[i->app].calls++;
    i->counters[i->app].height = now;
    return pw_epoch_end(now, i->options->period);
}

static const struct pw_policy_metric metrics[] = {
    {"calls", "calls", "Calls at epochs.", offsetof(struct counters, calls), false},
    {"height", "cycles", "The last of them.", offsetof(struct counters, height), true},
    {0}};

static const struct pw_option rows[] = {{.name = "period",
                                         .type = PW_OPTION_CYCLES,
                                         .offset = offsetof(struct own_options, period),
                                         .fallback = "100",
                                         .unit = "cycles",
                                         .help = "Between two."},
                                        {0}};

static const struct pw_policy plain = {.name = "plain", .summary = "nothing of its own"};
static const struct pw_policy counting = {.name = "counting",
                                          .summary = "everything",
                                          .options = rows,
                                          .options_bytes = sizeof(struct own_options),
                                          .metrics = metrics,
                                          .counters_bytes = sizeof(struct counters),
                                          .state_bytes = sizeof(struct instance),
                                          .init = init,
                                          .epoch = epoch};
static const struct pw_policy *const policies[] = {&plain, &counting, NULL};
static const struct pw_policy_family family = {"toy", "toy choice", policies};

static void use(struct pw_policy_use *u, struct pw_policies *all, const char *option, const char *name, uint32_t apps)
{
    struct pw_policy_choice choice;
    struct pw_error err;
    assert_int_equal(pw_policy_choose(&family, name, 1000, &choice, &err), PW_OK);
    assert_int_equal(pw_policy_use_init(u, all, option, pw_policy_chosen(&family, &choice), &choice, apps, &err),
                     PW_OK);
    for (uint32_t app = 0; app < apps; app++) {
        void *state;
        assert_int_equal(pw_policy_use_add(u, &app, &state, &err), PW_OK);
        assert_non_null(state);
    }
}

static double value(const struct pw_stats *s, const char *name, int app)
{
    uint64_t raw[64];
    assert_true(pw_stats_raw_count(s) <= 64 && pw_stats_find(s, name) >= 0);
    pw_stats_snapshot(s, raw);
    return pw_stats_value(s, (size_t)pw_stats_find(s, name), app, NULL, raw);
}

static void a_machine_counts_and_calls_at_epochs(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_policies all = {0};
    struct pw_policy_use uses[3];
    use(&uses[0], &all, "a.policy", "counting", 2);
    use(&uses[1], &all, "b.schedule", "plain", 2);
    use(&uses[2], &all, "c.schedule", "counting", 2);
    struct pw_stats *stats = pw_stats_create(2, &err);
    assert_int_equal(pw_policies_register(&all, stats, &err), PW_OK);
    assert_int_equal(pw_stats_seal(stats, &err), PW_OK);
    assert_int_equal(pw_stats_count(stats), 4);
    struct pw_events *events = pw_events_create(&err);
    bool stop = false;
    pw_policies_begin(&all, events);
    assert_true(pw_events_idle(events)); /* nothing waits for them */
    pw_events_run(events, 201, &stop);
    assert_int_equal(value(stats, "a.calls", 1), 3); /* at 0, 100 and 200 */
    assert_int_equal(value(stats, "a.height", 1), 200);
    assert_int_equal(value(stats, "c.calls", -1), 6);
    /* Of a window, a counter is what it has grown by, a level what it is. */
    uint64_t from[64], to[64];
    pw_stats_snapshot(stats, from);
    pw_events_run(events, 301, &stop);
    pw_stats_snapshot(stats, to);
    assert_int_equal(pw_stats_exact(stats, (size_t)pw_stats_find(stats, "a.calls"), 0, from, to), 1);
    assert_int_equal(pw_stats_exact(stats, (size_t)pw_stats_find(stats, "a.height"), 0, from, to), 300);
    pw_policies_end(&all);
    pw_events_run(events, PW_NEVER, &stop);
    assert_int_equal(pw_events_pending(events), 0);
    assert_int_equal(value(stats, "a.calls", 0), 4);
    /* A use leaves the list when it is released, from wherever in it. */
    pw_policy_use_release(&uses[1]);
    assert_ptr_equal(uses[0].next, &uses[2]);
    pw_policy_use_release(&uses[0]);
    assert_ptr_equal(all.first, &uses[2]);
    pw_policy_use_release(&uses[2]);
    assert_null(all.first);
    assert_null(all.last);
    pw_events_destroy(events);
    pw_stats_destroy(stats);
}

static void an_instance_that_fails_is_not_there(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_policy_use u;
    uint32_t app = 2;
    void *instance = &app;
    use(&u, NULL, "a.policy", "counting", 2);
    assert_int_equal(pw_policy_use_add(&u, &app, &instance, &err), PW_USER_ERROR);
    assert_null(instance);
    pw_policy_use_release(&u);
}

static void nothing(void *object, uint64_t argument, pw_cycle now)
{
    (void)object, (void)argument, (void)now;
}

static void only_other_events_keep_a_machine_busy(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_policies all = {0};
    struct pw_policy_use u;
    use(&u, &all, "a.policy", "counting", 2);
    struct pw_events *events = pw_events_create(&err);
    struct pw_epochs once = {events, NULL, NULL, NULL};
    bool stop = false;
    pw_policies_begin(&all, events);
    pw_events_post(events, 5000, nothing, NULL, 0);
    assert_false(pw_events_idle(events));
    pw_events_run(events, 5000, &stop);
    assert_false(pw_events_idle(events));
    pw_events_run(events, 5001, &stop);
    assert_true(pw_events_idle(events));
    pw_epochs_begin(&once, 6000);
    assert_true(pw_events_idle(events));
    assert_int_equal(events->epochs, 3);
    pw_policy_use_release(&u);
    pw_events_destroy(events);
}

static const struct pw_policy_metric parts[] = {
    {"calls", "calls", "Calls at epochs.", offsetof(struct counters, calls), false},
    {"sum", "cycles", NULL, offsetof(struct counters, height), false},
    {0}};

/* Only the registry's own names tell "sum" of one option from that of another. */
static void ratios_are_of_the_choices_own_counters(void **state)
{
    (void)state;
    static const struct pw_policy_ratio means[] = {
        {"mean", "cycles", "The mean of them.", "sum", "calls", 1},
        {"percent", "%", "The same in percent of a cycle.", "sum", "calls", 100},
        {0}};
    const struct pw_policy averaging = {
        .name = "averaging", .metrics = parts, .ratios = means, .counters_bytes = sizeof(struct counters)};
    const struct pw_policy_choice choice = {0};
    struct pw_error err;
    struct pw_policies all = {0};
    struct pw_policy_use uses[2];
    assert_int_equal(pw_policy_use_init(&uses[0], &all, "a.policy", &averaging, &choice, 2, &err), PW_OK);
    assert_int_equal(pw_policy_use_init(&uses[1], &all, "b.other", &averaging, &choice, 2, &err), PW_OK);
    struct counters *a = uses[0].counters, *b = uses[1].counters;
    a[0] = (struct counters){2, 7};
    a[1] = (struct counters){8, 3};
    b[1] = (struct counters){1, 5};
    struct pw_stats *stats = pw_stats_create(2, &err);
    assert_int_equal(pw_policies_register(&all, stats, &err), PW_OK);
    assert_int_equal(pw_stats_seal(stats, &err), PW_OK);
    assert_int_equal(pw_stats_count(stats), 6); /* the sums are not shown */
    assert_true(pw_stats_find(stats, "a.sum") < 0);
    assert_true(value(stats, "a.mean", 0) == 3.5);
    assert_true(value(stats, "a.mean", 1) == 0.375);
    assert_true(value(stats, "a.mean", -1) == 1);
    assert_true(value(stats, "a.percent", 0) == 350);
    assert_true(value(stats, "b.other.mean", 0) == 0); /* of nothing */
    assert_true(value(stats, "b.other.mean", 1) == 5);
    pw_policy_use_release(&uses[0]);
    pw_policy_use_release(&uses[1]);
    pw_stats_destroy(stats);
}

static void a_ratio_of_a_counter_that_is_not_there_is_refused(void **state)
{
    (void)state;
    static const struct pw_policy_ratio wrong[] = {{"mean", "cycles", "Of what?", "sums", "calls", 1}, {0}};
    const struct pw_policy averaging = {
        .name = "averaging", .metrics = parts, .ratios = wrong, .counters_bytes = sizeof(struct counters)};
    const struct pw_policy_choice choice = {0};
    struct pw_error err;
    struct pw_policies all = {0};
    struct pw_policy_use u;
    assert_int_equal(pw_policy_use_init(&u, &all, "a.policy", &averaging, &choice, 1, &err), PW_OK);
    struct pw_stats *stats = pw_stats_create(1, &err);
    assert_int_equal(pw_policies_register(&all, stats, &err), PW_OK);
    assert_int_equal(pw_stats_seal(stats, &err), PW_FAILED);
    assert_string_equal(err.message, "metric 'a.mean' needs counter 'sums', which is not registered");
    pw_policy_use_release(&u);
    pw_stats_destroy(stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_counts_and_calls_at_epochs),
        cmocka_unit_test(an_instance_that_fails_is_not_there),
        cmocka_unit_test(only_other_events_keep_a_machine_busy),
        cmocka_unit_test(ratios_are_of_the_choices_own_counters),
        cmocka_unit_test(a_ratio_of_a_counter_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
