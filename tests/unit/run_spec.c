/* Specifications with NULL where a text should be: a message for the program that gave it, not a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pagewalk/pagewalk.h"
#include "pagewalk/stream.h"

#include <string.h>

static void ignore_notice(void *context, const char *message)
{
    (void)context, (void)message;
}

static void ignore_cost(void *context, const struct pw_cost_listing *cost)
{
    (void)context, (void)cost;
}

static void an_option_that_is_null_is_a_mistake(void **state)
{
    (void)state;
    static const char *const second[] = {"sm.count=2", NULL, "sm.warps=4"};
    static const struct {
        const char *const *sets;
        size_t count;
        const char *message;
    } cases[] = {{second, 3, "option 2 of 3 to set is NULL; give a text KEY=VALUE"},
                 {NULL, 1, "option 1 of 1 to set is NULL; give a text KEY=VALUE"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_error err;
        struct pw_result *result;
        struct pw_stream *stream;
        const struct pw_run_spec run = {.workload = "vecadd", .sets = cases[i].sets, .set_count = cases[i].count};
        assert_int_equal(pw_run(&run, &result, &err), PW_USER_ERROR);
        assert_null(result);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(pw_run_notices(&run, ignore_notice, NULL, &err), PW_USER_ERROR);
        assert_string_equal(err.message, cases[i].message);
        const struct pw_stream_spec open = {.sets = cases[i].sets, .set_count = cases[i].count};
        assert_int_equal(pw_stream_open(&open, &stream, &err), PW_USER_ERROR);
        assert_null(stream);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void a_workload_that_is_null_is_a_mistake(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_result *result;
    struct pw_profile *profile;
    assert_int_equal(pw_run(&(struct pw_run_spec){0}, &result, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "no workload is given"));
    assert_int_equal(pw_workload_profile(&(struct pw_profile_spec){0}, &profile, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "no workload is given"));
}

/* Everything else that is NULL means the default. */
static void what_may_be_left_out_may_be_null(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_result *result;
    const struct pw_run_spec run = {.workload = "vecadd:ctas=1:iterations=1"};
    assert_int_equal(pw_run(&run, &result, &err), PW_OK);
    pw_result_free(result);
    assert_int_equal(pw_run_notices(&run, ignore_notice, NULL, &err), PW_OK);
    assert_int_equal(pw_list_costs(NULL, ignore_cost, NULL, &err), PW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_that_is_null_is_a_mistake),
        cmocka_unit_test(a_workload_that_is_null_is_a_mistake),
        cmocka_unit_test(what_may_be_left_out_may_be_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
