/* What MASK's figures run: the workloads, designs and machines that the paper says, and so many of them. */
#include "exp/figure/figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "full_figure.h"

/* Table 2: programs that often miss in both TLBs, and those that seldom miss in either. */
static const char *const high_high[] = {"3DS", "BLK", "CFD", "CONS", "FWT",  "LUH", "MM",
                                        "MUM", "RED", "SC",  "SCAN", "SRAD", "TRD", NULL};
static const char *const low_low[] = {"LUD", "NN", NULL};

/* How many programs of a workload ("3DS,HISTO", with or without their SMs) a list has. */
static unsigned count_in(const char *const *list, const char *workload)
{
    unsigned count = 0;
    for (const char *at = workload; *at && *at != '@'; at += *at == ',') {
        size_t length = strcspn(at, ",@");
        for (const char *const *p = list; *p; p++)
            count += strlen(*p) == length && strncmp(*p, at, length) == 0;
        at += length;
    }
    return count;
}

static bool is_pair(const struct pw_figure_workload *w, const char *pair)
{
    size_t length = strlen(pair);
    return strncmp(w->programs, pair, length) == 0 && (!w->programs[length] || w->programs[length] == '@');
}

/* mask-sec6-pairs, mask-sec6-hmr-def, mask-sec6-pair-exclusion */
static void thirty_five_pairs_are_grouped_by_how_many_programs_miss_often(void **state)
{
    (void)state;
    static const char *const figures[] = {"mask/fig11", "mask/fig12", "mask/fig15", "mask/sec43"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        struct pw_figure *f = load_full(figures[i]);
        assert_int_equal(f->workload_count, 35);
        assert_int_equal(f->group_count, 3);
        for (size_t w = 0; w < f->workload_count; w++) {
            assert_int_equal(f->workloads[w].app_count, 2);
            assert_int_equal(f->groups[f->workloads[w].group][0] - '0', count_in(high_high, f->workloads[w].programs));
            assert_true(count_in(low_low, f->workloads[w].programs) < 2);
        }
        pw_figure_free(f);
    }
}

/* mask-pair-3ds-histo, mask-pair-mm-cons, mask-pair-red-ray, mask-pair-red-bp, mask-pair-sc-fwt, mask-pair-scan-sad,
 * mask-pair-scan-histo, mask-pair-scan-srad, mask-pair-scan-cons */
static void the_pairs_that_the_paper_names_are_in_their_categories(void **state)
{
    (void)state;
    static const struct {
        const char *pair, *group;
    } named[] = {{"3DS,HISTO", "1-HMR"},  {"MM,CONS", "2-HMR"},   {"RED,RAY", "1-HMR"},
                 {"RED,BP", "1-HMR"},     {"SC,FWT", "2-HMR"},    {"SCAN,SAD", "1-HMR"},
                 {"SCAN,HISTO", "1-HMR"}, {"SCAN,SRAD", "2-HMR"}, {"SCAN,CONS", "2-HMR"}};
    struct pw_figure *f = load_full("mask/fig11");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        size_t found = 0;
        for (size_t w = 0; w < f->workload_count; w++)
            found += is_pair(&f->workloads[w], named[i].pair) &&
                     strcmp(f->groups[f->workloads[w].group], named[i].group) == 0;
        assert_int_equal(found, 1);
    }
    pw_figure_free(f);
}

/* mask-fig07-pairs */
static void four_pairs_are_run_alone_and_together(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mask/fig07");
    size_t named = 0;
    assert_int_equal(f->workload_count, 4);
    for (size_t w = 0; w < 4; w++) {
        assert_int_equal(f->workloads[w].app_count, 2);
        named += is_pair(&f->workloads[w], "3DS,HISTO");
    }
    assert_int_equal(named, 1);
    pw_figure_free(f);
}

static void check_designs(const struct pw_figure *f, const char *machine, const char *const *designs)
{
    for (const char *const *d = designs; *d; d++) {
        size_t found = 0;
        for (size_t v = 0; v < f->variant_count; v++)
            found += strcmp(f->variants[v].design, *d) == 0 && strcmp(f->variants[v].machine, machine) == 0 &&
                     pw_figure_uses_variant(f, v);
        if (found != 1)
            fail_msg("%s has %zu variants of %s on %s", f->name, found, *d, machine);
    }
}

/* mask-sec7-designs */
static void eight_designs_are_compared(void **state)
{
    (void)state;
    static const char *const designs[] = {"static",     "pwcache",   "gpu-mmu", "ideal-tlb", "mask-tlb",
                                          "mask-cache", "mask-dram", "mask",    NULL};
    struct pw_figure *f = load_full("mask/fig11");
    assert_int_equal(f->variant_count, 8);
    check_designs(f, "mask", designs);
    pw_figure_free(f);
}

/* mask-sec73-archs */
static void two_further_architectures_run_baselines_and_mask(void **state)
{
    (void)state;
    static const char *const designs[] = {"pwcache", "gpu-mmu", "mask", "ideal-tlb", NULL};
    struct pw_figure *f = load_full("mask/table4");
    assert_int_equal(f->variant_count, 8);
    check_designs(f, "fermi", designs);
    check_designs(f, "integrated", designs);
    pw_figure_free(f);
}

/* mask-sec73-range */
static void one_to_five_applications_run_at_once(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mask/table3");
    size_t by_count[6] = {0};
    for (size_t w = 0; w < f->workload_count; w++) {
        assert_in_range(f->workloads[w].app_count, 1, 5);
        by_count[f->workloads[w].app_count]++;
    }
    assert_int_equal(by_count[1], 27);
    assert_int_equal(by_count[2], 35);
    for (size_t apps = 3; apps <= 5; apps++)
        assert_true(by_count[apps] >= 3);
    pw_figure_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirty_five_pairs_are_grouped_by_how_many_programs_miss_often),
        cmocka_unit_test(the_pairs_that_the_paper_names_are_in_their_categories),
        cmocka_unit_test(four_pairs_are_run_alone_and_together),
        cmocka_unit_test(eight_designs_are_compared),
        cmocka_unit_test(two_further_architectures_run_baselines_and_mask),
        cmocka_unit_test(one_to_five_applications_run_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
