/* A policy with options, metrics and epochs of its own, in a whole machine: it is called at exact times, its counters
 * are metrics of the run, and endless epochs neither keep a run alive nor hide that it has come to a halt.
 *
 * The round-robin schedule is this test's own; a program that defines it does not get the library's. */
#include "policy/warp/warp_policy.h"
#include "timed.h"

#include <stdio.h>

struct rr_options {
    uint32_t period;
};

static const struct pw_option rr_rows[] = {{.name = "period",
                                            .type = PW_OPTION_CYCLES,
                                            .offset = offsetof(struct rr_options, period),
                                            .min = 1,
                                            .max = 1e9,
                                            .fallback = "100",
                                            .unit = "cycles",
                                            .help = "Between two epochs."},
                                           {0}};

struct rr_counters {
    uint64_t epochs, last;
};

static const struct pw_policy_metric rr_metrics[] = {
    {"epochs", "epochs", "Epochs.", offsetof(struct rr_counters, epochs), false},
    {"last", "cycles", "The last of them.", offsetof(struct rr_counters, last), true},
    {0}};

struct rr_state {
    const struct rr_options *options;
    struct rr_counters *counters; /* of the SM's application */
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct rr_state *s = state;
    const struct pw_warp_environment *environment = setup->environment;
    assert_true(environment->app < setup->apps);
    s->options = setup->options;
    s->counters = (struct rr_counters *)setup->counters + environment->app;
    return PW_OK;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct rr_state *s = state;
    s->counters->epochs++;
    s->counters->last = now;
    return pw_epoch_end(now, s->options->period);
}

static uint32_t pick(void *state, uint64_t ready, uint32_t last, const uint64_t *older)
{
    (void)state, (void)last, (void)older;
    return (uint32_t)__builtin_ctzll(ready);
}

extern const struct pw_warp_policy pw_warp_policy_rr;
const struct pw_warp_policy pw_warp_policy_rr = {.head = {.name = "rr",
                                                          .summary = "this test's own",
                                                          .options = rr_rows,
                                                          .options_bytes = sizeof(struct rr_options),
                                                          .metrics = rr_metrics,
                                                          .counters_bytes = sizeof(struct rr_counters),
                                                          .state_bytes = sizeof(struct rr_state),
                                                          .init = init,
                                                          .epoch = epoch},
                                                 .pick = pick};

static void load_once(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

/* Of one warp, so that who issues next does not matter. */
static void a_policy_is_called_at_its_epochs_and_costs_nothing(void **state)
{
    (void)state;
    struct timed plain = {.kernel = load_once};
    timed_run(&plain);
    for (pw_cycle period = 1; period < 4 * plain.cycles; period = 7 * period + 1) {
        char set[64];
        snprintf(set, sizeof set, "sm.period=%llu", (unsigned long long)period);
        struct timed t = {.kernel = load_once, .sets = {"sm.schedule=rr", "sm.count=3", set}};
        timed_run(&t);
        assert_int_equal(t.cycles, plain.cycles);
        /* In each of three SMs; whether one at the very end is called depends on what else happens in that cycle. */
        uint64_t epochs = timed_count(&t, "sm.epochs"), last = timed_count(&t, "sm.last");
        assert_true(last <= t.cycles && last + period >= t.cycles);
        assert_int_equal(epochs, 3 * (last / period + 1));
        timed_end(&t);
    }
    assert_int_equal(pw_stats_find(plain.system->stats, "sm.epochs"), -1);
    timed_end(&plain);
}

static void each_application_has_counters_of_its_own(void **state)
{
    (void)state;
    struct timed neighbour = {.kernel = load_once};
    struct timed t = {.kernel = load_once,
                      .sets = {"sm.schedule=rr", "sm.count=4", "apps.sms=3+1", "sm.period=1000000"},
                      .neighbours = {&neighbour}};
    timed_run(&t);
    size_t epochs = (size_t)pw_stats_find(t.system->stats, "sm.epochs");
    assert_int_equal(pw_stats_exact(t.system->stats, epochs, 0, NULL, t.system->region_to), 3);
    assert_int_equal(pw_stats_exact(t.system->stats, epochs, 1, NULL, t.system->region_to), 1);
    timed_end(&t);
}

static void sleep_at_launch(struct pw_host *h, struct timed *t)
{
    (void)t;
    pw_host_suspend(h); /* nobody will wake it */
}

static void endless_epochs_do_not_hide_that_nothing_happens(void **state)
{
    (void)state;
    struct timed t = {
        .body = sleep_at_launch, .kernel = load_once, .sets = {"sm.schedule=rr", "sim.progress_limit=1000000"}};
    assert_int_equal(timed_try(&t), PW_FAILED);
    if (!strstr(t.err.message, "no progress at cycle 0: nothing is left to happen"))
        fail_msg("%s", t.err.message);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_called_at_its_epochs_and_costs_nothing),
        cmocka_unit_test(each_application_has_counters_of_its_own),
        cmocka_unit_test(endless_epochs_do_not_hide_that_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
