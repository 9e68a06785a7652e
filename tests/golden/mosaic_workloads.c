/* The workloads of Mosaic's figures at full size, against Section 5: one to five copies of each of 27 programs, and 25
 * random mixes each of two to five different ones, 235 in all, the same in every figure that shows them all. */
#include "exp/figure/figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "full_figure.h"

/* Programs of a workload that are not the one before them: 1 where all are copies. */
static unsigned different(const char *programs)
{
    char text[256], *rest = NULL, *last = NULL;
    unsigned count = 0;
    assert_true(strlen(programs) < sizeof(text));
    strcpy(text, programs);
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        count += !last || strcmp(last, at) != 0;
        last = at;
    }
    return count;
}

struct census {
    unsigned homogeneous[8], mixed[8], applications; /* by number of applications; applications of mixes */
};

static struct census census_of(const struct pw_figure *f)
{
    struct census c = {0};
    for (size_t i = 0; i < f->workload_count; i++) {
        const struct pw_figure_workload *w = &f->workloads[i];
        assert_in_range(w->app_count, 1, 5);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(w->programs, f->workloads[j].programs);
        if (different(w->programs) == 1) {
            c.homogeneous[w->app_count]++;
            continue;
        }
        c.mixed[w->app_count]++;
        c.applications += w->app_count;
    }
    return c;
}

/* mosaic-sec5-homog-range, mosaic-sec5-homog-per-cat, mosaic-sec5-homog-total, mosaic-sec5-apps. */
static void copies_are_of_all_27_programs(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mosaic/fig08");
    struct census c = census_of(f);
    assert_int_equal(f->workload_count, 135);
    for (unsigned n = 1; n <= 5; n++)
        assert_int_equal(c.homogeneous[n], 27);
    pw_figure_free(f);
}

/* mosaic-sec5-heter-range, mosaic-sec5-heter-per-cat, mosaic-sec5-heter-total; mosaic-fig11-apps, mosaic-fig11-graphs:
 * one for each number of applications. */
static void mixes_are_25_for_each_number_of_applications(void **state)
{
    (void)state;
    static const char *const figures[] = {"mosaic/fig09", "mosaic/fig11"};
    for (size_t i = 0; i < 2; i++) {
        struct pw_figure *f = load_full(figures[i]);
        struct census c = census_of(f);
        assert_true(f->workload_count == 100 && f->group_count == 4 && c.applications == 350);
        for (unsigned n = 2; n <= 5; n++)
            assert_int_equal(c.mixed[n], 25);
        for (size_t w = 0; w < f->workload_count; w++)
            assert_int_equal(f->workloads[w].app_count, f->workloads[w].group + 2);
        pw_figure_free(f);
    }
}

/* mosaic-sec5-total. */
static void figures_of_everything_have_the_same_235(void **state)
{
    (void)state;
    static const char *const figures[] = {"mosaic/fig13", "mosaic/sec9", "mosaic/sec5"};
    struct pw_figure *copies = load_full("mosaic/fig08"), *mixes = load_full("mosaic/fig09");
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        struct pw_figure *f = load_full(figures[i]);
        assert_int_equal(f->workload_count, 235);
        for (size_t w = 0; w < 235; w++)
            assert_string_equal(f->workloads[w].text,
                                w < 135 ? copies->workloads[w].text : mixes->workloads[w - 135].text);
        pw_figure_free(f);
    }
    pw_figure_free(copies);
    pw_figure_free(mixes);
}

/* Hits of 1,000 lookups in the L2 TLB. */
static double l2_tlb_value(void *context, const char *name)
{
    return !strcmp(name, "l2_tlb.primary_misses") ? *(const double *)context : 1000;
}

/* mosaic-fig13-criterion. */
static void reach_is_limited_below_98_percent(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mosaic/fig13");
    bool found = false;
    for (size_t i = 0; i < f->measure_count; i++) {
        if (strcmp(f->measures[i].name, "limited") != 0)
            continue;
        found = true;
        for (double misses = 18; misses <= 22; misses++) {
            struct pw_expression_source source = {.metric = l2_tlb_value, .context = &misses};
            struct pw_vector v = {0};
            struct pw_error err;
            assert_int_equal(pw_expression_evaluate(f->measures[i].expression, &source, &v, &err), PW_OK);
            assert_true(v.count == 1 && v.items[0].value == (misses > 20));
            pw_vector_free(&v);
        }
    }
    assert_true(found);
    pw_figure_free(f);
}

static bool has(const struct pw_figure *f, const char *text)
{
    for (size_t i = 0; i < f->workload_count; i++)
        if (!strcmp(f->workloads[i].text, text))
            return true;
    return false;
}

/* mosaic-fig10-count: with the two that the paper names. */
static void fifteen_pairs_are_looked_at_closely(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mosaic/fig10");
    struct census c = census_of(f);
    assert_true(f->workload_count == 15 && c.mixed[2] == 15);
    assert_true(has(f, "HS,CONS") && has(f, "NW,HISTO"));
    pw_figure_free(f);
}

static void sensitivity_studies_share_ten_of_all_workloads(void **state)
{
    (void)state;
    static const char *const figures[] = {"mosaic/fig14", "mosaic/fig15", "mosaic/fig16a", "mosaic/fig16b",
                                          "mosaic/table2"};
    struct pw_figure *all = load_full("mosaic/sec9");
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        struct pw_figure *f = load_full(figures[i]);
        assert_int_equal(f->workload_count, 10);
        for (size_t w = 0; w < 10; w++)
            if (!has(all, f->workloads[w].text))
                fail_msg("%s: %s is none of the 235", figures[i], f->workloads[w].text);
        pw_figure_free(f);
    }
    pw_figure_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_of_all_27_programs),
        cmocka_unit_test(mixes_are_25_for_each_number_of_applications),
        cmocka_unit_test(figures_of_everything_have_the_same_235),
        cmocka_unit_test(reach_is_limited_below_98_percent),
        cmocka_unit_test(fifteen_pairs_are_looked_at_closely),
        cmocka_unit_test(sensitivity_studies_share_ten_of_all_workloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
