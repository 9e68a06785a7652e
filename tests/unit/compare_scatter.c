/* The scatter of comparisons over seeds: intervals of ratios, marks, rows. */
#include "comparison.h"

#include <math.h>

static void expect_interval(struct pw_confidence i, size_t count, double mean, double half)
{
    if (i.count != count || fabs(i.mean - mean) > 1e-6 || fabs(pw_confidence_half(&i) - half) > 1e-6)
        fail_msg("%zu numbers, %g +- %g", i.count, i.mean, pw_confidence_half(&i));
}

/* All designs take longer with each seed; what they take relative to each other is another matter. */
static void ratios_are_made_for_each_seed_before_their_interval(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {1, 2, 3};
    struct pw_compare_spec spec = simple();
    spec.seeds = seeds;
    spec.seed_count = 3;
    spec.designs = LIST("gpu-mmu", "gpu-mmu-2m", "gpu-mmu-64k");
    spec.design_count = 3;
    struct pw_compare *c = create(&spec);
    static const uint64_t cycles[] = {100, 200, 300, 110, 220, 330, 111, 219, 330, 0, 200, 330};
    struct pw_stored_run *runs = give_cycles(c, cycles, sizeof cycles / sizeof *cycles);
    const struct pw_compare_column all = {PW_COMPARE_CYCLES, 0}, slowdowns = {PW_COMPARE_SLOWDOWN, 0};
    const struct pw_compare_column due = {PW_COMPARE_DUE, 0};
    const double t = 4.30265273;
    expect_interval(pw_compare_interval(c, 0, all), 3, 200, t * 100 / sqrt(3));
    expect_interval(pw_compare_interval(c, 3, slowdowns), 3, 1.1, 0);
    expect_interval(pw_compare_interval(c, 3, due), 3, 1 - 1 / 1.1, 0);
    expect_interval(pw_compare_interval(c, 6, slowdowns), 3, (1.11 + 1.095 + 1.1) / 3, t * 0.0076376261583 / sqrt(3));
    expect_interval(pw_compare_interval(c, 9, slowdowns), 2, 1.05, 12.7062047 * 0.05 * sqrt(2) / sqrt(2));
    expect_interval(pw_compare_step(c, 3), 3, 1.1, 0);
    expect_interval(pw_compare_step(c, 6), 3, (111 / 110.0 + 219 / 220.0 + 1) / 3, t * 0.006943295 / sqrt(3));
    assert_int_equal(pw_compare_step(c, 0).count, 0);
    assert_string_equal(pw_compare_mark(c, 3, slowdowns), "");
    assert_string_equal(pw_compare_mark(c, 6, slowdowns), "");
    assert_string_equal(pw_compare_mark(c, 9, slowdowns), "~");
    assert_string_equal(pw_compare_mark(c, 9, due), "~");
    assert_string_equal(pw_compare_mark(c, 0, slowdowns), "");
    assert_string_equal(pw_compare_mark(c, 3, all), "");
    assert_string_equal(pw_compare_mark(c, 6, all), "=");
    assert_false(pw_compare_same_for_all_seeds(c, 0));
    struct pw_text csv = {0}, table = {0};
    pw_compare_csv(c, &csv);
    assert_non_null(strstr(csv.bytes, "\nmosaic,gpu-mmu,vecadd:n=1k,3,220,"));
    assert_non_null(strstr(csv.bytes, "\nmosaic,gpu-mmu-64k,vecadd:n=1k,2,265,"));
    pw_compare_table(c, &table);
    assert_non_null(strstr(table.bytes, "~1.05 ±0.64"));
    assert_non_null(strstr(table.bytes, "=220 ±"));
    assert_non_null(strstr(table.bytes, "\n~ the difference from the reference lies within"));
    assert_non_null(strstr(table.bytes, "\n= the difference from the design before it lies within"));
    pw_text_free(&csv);
    pw_text_free(&table);
    let_go(c, runs);
}

static void numbers_that_no_seed_changes_have_no_interval_to_show(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {1, 2, 3};
    struct pw_compare_spec spec = simple();
    spec.seeds = seeds;
    spec.seed_count = 3;
    struct pw_compare *c = create(&spec);
    static const uint64_t cycles[] = {100, 100, 100, 1234, 1234, 1234};
    struct pw_stored_run *runs = give_cycles(c, cycles, sizeof cycles / sizeof *cycles);
    struct pw_text table = {0};
    assert_true(pw_compare_same_for_all_seeds(c, 0));
    pw_compare_table(c, &table);
    assert_non_null(strstr(table.bytes, "\nvecadd:n=1k  (the same for all seeds)\n"));
    assert_non_null(strstr(table.bytes, " 1,234 "));
    assert_null(strstr(table.bytes, "1,234 ±"));
    pw_text_free(&table);
    c->spec.each_seed = true;
    pw_compare_table(c, &table);
    assert_null(strstr(table.bytes, "all seeds"));
    assert_non_null(strstr(table.bytes, "\n  gpu-mmu       3 "));
    pw_text_free(&table);
    let_go(c, runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_are_made_for_each_seed_before_their_interval),
        cmocka_unit_test(numbers_that_no_seed_changes_have_no_interval_to_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
