/* For tests of workloads: a workload written in the test, and runs without time. */
#ifndef PW_TESTS_WORKLOAD_H
#define PW_TESTS_WORKLOAD_H

#include "workload/runtime/functional.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct pw_option test_no_options[] = {{0}};

/* A program whose main is `body`. */
#define TEST_PROGRAM(variable, body)                                                                                   \
    const struct pw_workload variable##_workload = {                                                                   \
        .name = "test", .suite = "test", .summary = "", .parameters = test_no_options, .main = (body)};                \
    struct pw_program variable = {.workload = &variable##_workload, .values = true, .scale = 1, .text = "test:x=1"}

/* Each of these programs parses, and ends with a user error that names it. */
static inline void expect_user_errors(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_program p;
        struct pw_error err;
        struct pw_functional_counts counts;
        assert_int_equal(pw_program_parse(texts[i], &p, &err), PW_OK);
        assert_int_equal(pw_functional_run(&p, 1, false, NULL, NULL, &counts, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, texts[i]));
        pw_program_release(&p);
    }
}

#endif
