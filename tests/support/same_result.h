/* Two results are the same, but for the names of programs and what is of the host. Include it after <cmocka.h>. */
#ifndef PW_TESTS_SAME_RESULT_H
#define PW_TESTS_SAME_RESULT_H

#include "pagewalk/pagewalk.h"

#include <string.h>

static inline void expect_same_windows(const struct pw_window *a, const struct pw_window *b, size_t count,
                                       size_t metrics, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i].name && strcmp(a[i].name, b[i].name) != 0)
            fail_msg("%s: kernel %zu is called %s and %s", what, i, a[i].name, b[i].name);
        if (a[i].first_cycle != b[i].first_cycle || a[i].outer_cycle != b[i].outer_cycle)
            fail_msg("%s: launch %zu was at another time", what, i);
        for (size_t k = 0; k < metrics; k++)
            if (a[i].values[k] != b[i].values[k] && a[i].values[k] == a[i].values[k])
                fail_msg("%s: launch %zu differs in metric %zu", what, i, k);
    }
}

static inline void expect_same_result(const struct pw_result *a, const struct pw_result *b, const char *what)
{
    if (a->cycles != b->cycles)
        fail_msg("%s: %llu cycles and %llu", what, (unsigned long long)a->cycles, (unsigned long long)b->cycles);
    assert_int_equal(a->metric_count, b->metric_count);
    for (size_t i = 0; i < a->metric_count; i++) {
        const struct pw_metric *x = &a->metrics[i], *y = &b->metrics[i];
        assert_string_equal(x->name, y->name);
        if (x->integer != y->integer || (x->real != y->real && x->real == x->real))
            fail_msg("%s: %s is %g and %g", what, x->name, x->real, y->real);
    }
    assert_int_equal(a->app_count, b->app_count);
    for (size_t i = 0; i < a->app_count; i++) {
        assert_int_equal(a->apps[i].warp_instructions, b->apps[i].warp_instructions);
        assert_int_equal(a->apps[i].cycles, b->apps[i].cycles);
    }
    assert_int_equal(a->allocation_count, b->allocation_count);
    for (size_t i = 0; i < a->allocation_count; i++) {
        assert_string_equal(a->allocations[i].name, b->allocations[i].name);
        assert_int_equal(a->allocations[i].far_faults, b->allocations[i].far_faults);
        assert_int_equal(a->allocations[i].pages_evicted, b->allocations[i].pages_evicted);
    }
    assert_int_equal(a->kernel_count, b->kernel_count);
    expect_same_windows(a->kernels, b->kernels, a->kernel_count, a->window_metric_count, what);
}

#endif
