/* Messages: formatting, prefixes, truncation, and that a user error stays one line. */
#include "sim/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void failing_formats_the_message_and_returns_the_status(void **state)
{
    (void)state;
    struct pw_error err;
    assert_int_equal(pw_fail(&err, PW_USER_ERROR, "%s = %d", "a", 3), PW_USER_ERROR);
    assert_int_equal(err.status, PW_USER_ERROR);
    assert_string_equal(err.message, "a = 3");
    assert_int_equal(pw_fail_memory(&err, "page tables"), PW_FAILED);
    assert_int_equal(err.status, PW_FAILED);
    assert_string_equal(err.message, "out of memory for page tables");
}

static void failing_without_an_error_object_still_returns_the_status(void **state)
{
    (void)state;
    assert_int_equal(pw_fail(NULL, PW_FAILED, "x"), PW_FAILED);
    assert_int_equal(pw_fail_memory(NULL, "x"), PW_FAILED);
    pw_error_prefix(NULL, "x");
}

static void prefixes_come_before_what_is_there(void **state)
{
    (void)state;
    struct pw_error err;
    pw_fail(&err, PW_USER_ERROR, "what is wrong");
    pw_error_prefix(&err, "%s:%d", "file.yaml", 12);
    assert_string_equal(err.message, "file.yaml:12: what is wrong");
    pw_error_prefix(&err, "pagewalk");
    assert_string_equal(err.message, "pagewalk: file.yaml:12: what is wrong");
}

static void messages_that_are_too_long_are_cut_not_overrun(void **state)
{
    (void)state;
    static char text[2 * PW_ERROR_CAPACITY];
    memset(text, 'x', sizeof(text) - 1);
    struct pw_error err;
    pw_fail(&err, PW_FAILED, "%s", text);
    assert_int_equal(strlen(err.message), PW_ERROR_CAPACITY - 1);
    pw_error_prefix(&err, "ab");
    assert_int_equal(strlen(err.message), PW_ERROR_CAPACITY - 1);
    assert_memory_equal(err.message, "ab: xx", 6);
    pw_error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), PW_ERROR_CAPACITY - 1);
    assert_string_equal(err.message + PW_ERROR_CAPACITY - 3, ": ");
}

static void user_errors_are_one_line_whatever_they_quote(void **state)
{
    (void)state;
    struct pw_error err;
    pw_fail(&err, PW_USER_ERROR, "[%s]", "a\nb\x1b\x7f\t");
    assert_string_equal(err.message, "[a?b???]");
    pw_error_prefix(&err, "x\ny");
    assert_string_equal(err.message, "x?y: [a?b???]");
    pw_fail(&err, PW_USER_ERROR, "%s", "\xff\xc3\xa9\xc2\x9b\xed\xa0\x80\xc3");
    assert_string_equal(err.message, "?\xc3\xa9??????");
    pw_fail(&err, PW_FAILED, "no progress\x1b\nwho waits");
    assert_string_equal(err.message, "no progress?\nwho waits");
    pw_fail(&err, PW_FAILED, "no progress\nwho waits");
    assert_string_equal(err.message, "no progress\nwho waits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_formats_the_message_and_returns_the_status),
        cmocka_unit_test(failing_without_an_error_object_still_returns_the_status),
        cmocka_unit_test(prefixes_come_before_what_is_there),
        cmocka_unit_test(messages_that_are_too_long_are_cut_not_overrun),
        cmocka_unit_test(user_errors_are_one_line_whatever_they_quote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
