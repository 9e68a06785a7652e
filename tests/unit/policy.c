/* The head of policies: choosing one by name, the memory of an instance, and the calls at epochs. */
#include "sim/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct pw_policy first = {.name = "first", .summary = "the default"};
static const struct pw_policy second = {.name = "second", .summary = "the other"};
static const struct pw_policy *const policies[] = {&first, &second, NULL};
static const struct pw_policy_family family = {"toy", "toy choice", policies};

struct config {
    struct pw_policy_choice policy, other;
};

static const struct pw_option rows[] = {{.name = "policy",
                                         .type = PW_OPTION_POLICY,
                                         .offset = offsetof(struct config, policy),
                                         .fallback = "first",
                                         .unit = "",
                                         .choices = &family,
                                         .help = "A choice."},
                                        {.name = "other",
                                         .type = PW_OPTION_POLICY_OR_SAME,
                                         .offset = offsetof(struct config, other),
                                         .fallback = "same",
                                         .unit = "",
                                         .choices = &family,
                                         .help = "Another."},
                                        {0}};

static const struct pw_option_group groups[] = {{"toy", rows, 0}, {0}};

static void choosing_by_name(void **unused)
{
    (void)unused;
    struct config config;
    struct pw_options *o;
    struct pw_error err;
    char range[64];
    assert_int_equal(pw_options_create(groups, &config, NULL, &o, &err), PW_OK);
    assert_ptr_equal(pw_policy_chosen(&family, &config.policy), &first);
    assert_null(pw_policy_chosen_or_same(&family, &config.other));
    assert_int_equal(pw_options_set(o, "toy.policy", "second", "test", &err), PW_OK);
    assert_int_equal(pw_options_set(o, "toy.other", "second", "test", &err), PW_OK);
    assert_ptr_equal(pw_policy_chosen(&family, &config.policy), &second);
    assert_ptr_equal(pw_policy_chosen_or_same(&family, &config.other), &second);
    assert_int_equal(pw_options_set(o, "toy.policy", "secnd", "test", &err), PW_USER_ERROR);
    assert_string_equal(err.message, "toy.policy = secnd is not one of first, second; did you mean 'second'?");
    assert_int_equal(pw_options_set(o, "toy.policy", "same", "test", &err), PW_USER_ERROR);
    pw_option_describe_range(&rows[1], range, sizeof range);
    assert_string_equal(range, "same, first, second");
    pw_options_destroy(o);
}

static size_t some_more(const struct pw_policy_setup *setup)
{
    return *(const size_t *)setup->environment;
}

static enum pw_status refuse_large(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    const unsigned char *bytes = state;
    size_t more = *(const size_t *)setup->environment;
    for (size_t i = 0; i < 3 + more; i++)
        assert_int_equal(bytes[i], 0);
    memset(state, 0xff, 3 + more);
    return more > 1000 ? pw_fail(err, PW_USER_ERROR, "too large") : PW_OK;
}

static void state_is_zeroed_and_as_large_as_asked(void **unused)
{
    (void)unused;
    const struct pw_policy sized = {.name = "sized", .state_bytes = 3, .more_bytes = some_more, .init = refuse_large};
    struct pw_error err;
    for (size_t more = 0; more < 1100; more += 61) {
        void *state;
        struct pw_policy_setup setup = {.environment = &more};
        enum pw_status status = pw_policy_create(&sized, &setup, &state, &err);
        assert_int_equal(status, more > 1000 ? PW_USER_ERROR : PW_OK);
        assert_true((state == NULL) == (more > 1000));
        assert_int_equal((uintptr_t)state % 64, 0);
        pw_policy_destroy(state);
    }
}

struct caller {
    unsigned calls;
    pw_cycle at[8];
};

static pw_cycle every_ten(void *object, pw_cycle now)
{
    struct caller *c = object;
    c->at[c->calls++] = now;
    return c->calls < 3 ? pw_epoch_end(now, 10) : PW_NEVER;
}

static void epochs_until_no_more_are_wanted(void **unused)
{
    (void)unused;
    struct pw_error err;
    struct caller caller = {0};
    bool stop = false;
    struct pw_events *events = pw_events_create(&err);
    struct pw_epochs epochs = {events, &caller, every_ten, NULL};
    pw_epochs_begin(&epochs, 13);
    pw_events_run(events, 1000, &stop);
    assert_int_equal(caller.calls, 3);
    assert_int_equal(caller.at[0], 13);
    assert_int_equal(caller.at[1], 20);
    assert_int_equal(caller.at[2], 30);
    pw_epochs_begin(&epochs, 2000);
    pw_epochs_end(&epochs);
    pw_events_run(events, 3000, &stop);
    assert_int_equal(caller.calls, 3);
    pw_events_destroy(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choosing_by_name),
        cmocka_unit_test(state_is_zeroed_and_as_large_as_asked),
        cmocka_unit_test(epochs_until_no_more_are_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
