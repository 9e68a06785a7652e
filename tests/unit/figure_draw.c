/* A drawn share of a figure's workloads: how many stay, that all groups lose the same places, that a smaller share is
 * part of a larger one, that splits of a pair stay together, and that their order and texts stay. */
#include "exp/figure/figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 27 }; /* of Mosaic */

static struct pw_figure *drawn(unsigned percent)
{
    static const char text[] = "title: T\n"
                               "machine: mosaic\n"
                               "variants: {4k: {design: gpu-mmu}}\n"
                               "workloads:\n"
                               "  one: {each: mosaic}\n"
                               "  two: {each: mosaic, copies: 2}\n"
                               "  pair: {list: \"HS,CONS\"}\n"
                               "measures: {speed: ipc}\n"
                               "table: {Speed: speed@4k}\n";
    struct pw_figure *f;
    struct pw_error err = {0};
    if (pw_figure_read(text, strlen(text), "f", "test/figure", PW_FULL, &f, &err) != PW_OK ||
        pw_figure_draw(f, percent, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(f->percent, percent);
    return f;
}

static size_t count_of(const struct pw_figure *f, unsigned group)
{
    size_t count = 0;
    for (size_t w = 0; w < f->workload_count; w++)
        count += f->workloads[w].group == group;
    return count;
}

static void shares_are_rounded_up_in_each_group(void **state)
{
    (void)state;
    static const struct {
        unsigned percent;
        size_t each;
    } table[] = {{1, 1}, {3, 1}, {4, 2}, {33, 9}, {34, 10}, {67, 19}, {99, 27}, {100, 27}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pw_figure *f = drawn(table[i].percent);
        assert_int_equal(count_of(f, 0), table[i].each);
        assert_int_equal(count_of(f, 1), table[i].each);
        assert_int_equal(count_of(f, 2), 1);
        assert_int_equal(f->workload_count, 2 * table[i].each + 1);
        pw_figure_free(f);
    }
}

static void groups_lose_the_same_places(void **state)
{
    (void)state;
    struct pw_figure *f = drawn(33);
    size_t each = count_of(f, 0);
    for (size_t w = 0; w < each; w++) {
        char twice[64];
        snprintf(twice, sizeof twice, "%s,%s", f->workloads[w].programs, f->workloads[w].programs);
        assert_string_equal(f->workloads[each + w].programs, twice);
    }
    pw_figure_free(f);
}

/* Each smaller share is found in the larger one in the same order; and it is not the first places that stay. */
static void smaller_shares_are_part_of_larger_ones(void **state)
{
    (void)state;
    struct pw_figure *all = drawn(100);
    for (unsigned percent = 1; percent < 100; percent++) {
        struct pw_figure *small = drawn(percent), *large = drawn(percent + 1);
        size_t k = 0;
        for (size_t w = 0; w < small->workload_count; w++, k++) {
            while (k < large->workload_count && strcmp(large->workloads[k].text, small->workloads[w].text) != 0)
                k++;
            assert_true(k < large->workload_count);
        }
        if (percent == 33)
            assert_string_not_equal(small->workloads[8].programs, all->workloads[8].programs);
        pw_figure_free(small);
        pw_figure_free(large);
    }
    assert_int_equal(all->workload_count, 2 * PROGRAMS + 1);
    pw_figure_free(all);
}

/* All splits of a pair stay or go with it, and it is the pairs that a group without splits keeps. */
static void splits_of_a_pair_share_its_place(void **state)
{
    (void)state;
    static const char text[] = "title: T\n"
                               "machine: mask\n"
                               "variants: {4k: {design: gpu-mmu}}\n"
                               "workloads:\n"
                               "  even: {each: mask-0-hmr}\n"
                               "  split: {each: mask-0-hmr, sms: 10+20 15+15 20+10}\n"
                               "measures: {speed: ipc}\n"
                               "table: {Speed: speed@4k}\n";
    struct pw_figure *f;
    struct pw_error err = {0};
    if (pw_figure_read(text, strlen(text), "f", "test/figure", PW_FULL, &f, &err) != PW_OK ||
        pw_figure_draw(f, 33, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(count_of(f, 0), 3); /* of nine */
    assert_int_equal(count_of(f, 1), 9);
    for (size_t w = 0; w < 9; w++)
        assert_string_equal(f->workloads[3 + w].programs, f->workloads[w / 3].programs);
    pw_figure_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_rounded_up_in_each_group),
        cmocka_unit_test(groups_lose_the_same_places),
        cmocka_unit_test(smaller_shares_are_part_of_larger_ones),
        cmocka_unit_test(splits_of_a_pair_share_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
