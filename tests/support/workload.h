/* For tests of workloads: a workload written in the test, and runs without time. */
#ifndef PW_TESTS_WORKLOAD_H
#define PW_TESTS_WORKLOAD_H

#include "workload/functional.h"

static const struct pw_option test_no_options[] = {{0}};

/* A program whose main is `body`. */
#define TEST_PROGRAM(variable, body)                                                                                   \
    const struct pw_workload variable##_workload = {                                                                   \
        .name = "test", .suite = "test", .summary = "", .parameters = test_no_options, .main = (body)};                \
    struct pw_program variable = {.workload = &variable##_workload, .values = true, .scale = 1, .text = "test:x=1"}

#endif
