/* Confidence intervals: Student's t against published tables, and the interval against one done by hand. */
#include "exp/format/confidence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Two-sided 95%, one-sided 97.5%: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2. */
static void t_is_that_of_published_tables(void **state)
{
    (void)state;
    static const struct {
        size_t freedom;
        double t;
    } rows[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},   {6, 2.447},
                {7, 2.365},  {8, 2.306},  {9, 2.262},  {10, 2.228}, {11, 2.201},  {12, 2.179},
                {15, 2.131}, {20, 2.086}, {21, 2.080}, {25, 2.060}, {29, 2.045},  {30, 2.042},
                {40, 2.021}, {60, 2.000}, {80, 1.990}, {99, 1.984}, {100, 1.984}, {1000000, 1.960}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fabs(pw_student_t(rows[i].freedom) - rows[i].t) > 0.00051)
            fail_msg("t of %zu is %g, not %g", rows[i].freedom, pw_student_t(rows[i].freedom), rows[i].t);
}

static void expect(struct pw_confidence i, double mean, double half)
{
    if (!(fabs(i.mean - mean) < 1e-6) || !(fabs(pw_confidence_half(&i) - half) < 1e-6) ||
        !(fabs(i.low + i.high - 2 * mean) < 1e-6))
        fail_msg("%g, %g to %g, is not %g +- %g", i.mean, i.low, i.high, mean, half);
}

static void an_interval_is_t_standard_errors_wide(void **state)
{
    (void)state;
    /* Deviations -2, 0, 2: s = 2, standard error 2 / √3, t of 2 degrees 4.302653. */
    expect(pw_confidence_of((const double[]){8, 10, 12}, 3), 10, 4.302653 * 2 / sqrt(3));
    /* Deviations ± 1: s = √2, standard error 1, t of 1 degree 12.706205. */
    expect(pw_confidence_of((const double[]){4, 6}, 2), 5, 12.706205);
    expect(pw_confidence_of((const double[]){0.1, 0.1, 0.1}, 3), 0.1, 0);
    struct pw_confidence equal = pw_confidence_of((const double[]){0.1, 0.1, 0.1}, 3);
    assert_true(equal.low == 0.1 && equal.mean == 0.1 && equal.high == 0.1 && pw_confidence_has(&equal, 0.1));
    assert_false(pw_confidence_has(&equal, 0.1000001));
    struct pw_confidence wide = pw_confidence_of((const double[]){4, 6}, 2);
    assert_true(pw_confidence_has(&wide, 17.7) && pw_confidence_has(&wide, -7.7));
    assert_false(pw_confidence_has(&wide, 17.8) || pw_confidence_has(&wide, -7.8));
}

static void what_is_not_known_has_no_interval(void **state)
{
    (void)state;
    struct pw_confidence one = pw_confidence_of((const double[]){3}, 1), none = pw_confidence_of(NULL, 0);
    struct pw_confidence some = pw_confidence_of((const double[]){3, NAN, 4}, 3);
    assert_true(one.mean == 3 && isnan(one.low) && isnan(one.high) && isnan(pw_confidence_half(&one)));
    assert_true(isnan(none.mean) && isnan(none.low) && none.count == 0);
    assert_true(isnan(some.mean) && isnan(some.low) && isnan(some.high));
    assert_false(pw_confidence_has(&one, 3));
    assert_false(pw_confidence_has(&some, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_is_that_of_published_tables),
        cmocka_unit_test(an_interval_is_t_standard_errors_wide),
        cmocka_unit_test(what_is_not_known_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
