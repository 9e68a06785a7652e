/* The table of kernels: launches of one name in a row, the longest first, and rows that add up to the run. */
#include "exp/format/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNTER(name, unit, value)                                                                                     \
    {                                                                                                                  \
        name, unit, true, value, (double)(value)                                                                       \
    }

enum { LAUNCHES = 6, VALUES = 6 };

static const char *const metrics[VALUES] = {"l1_tlb.misses", "l2_tlb.misses",  "walk.count",
                                            "dram.bytes",    "link.h2d.bytes", "link.d2h.bytes"};
static const double values[LAUNCHES][VALUES] = {
    {10, 5, 2, 1024, 0, 0}, {20, 6, 3, 2048, 0, 0}, {1, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0}, {2, 2, 2, 0, 0, 0}, {0},
};

struct fixture {
    struct pw_result result;
    struct pw_app_result apps[2];
    struct pw_window kernels[LAUNCHES];
    struct pw_metric metrics[VALUES];
};

static void init(struct fixture *f)
{
    *f = (struct fixture){
        .apps = {{.name = "p", .cycles = 1000}},
        .kernels = {{"_ZN1a1fIfEEvv", 0, 1, 0, 100, values[0]},
                    {"_ZN1a1fIfEEvv", 0, 2, 100, 300, values[1]},
                    {"_ZN1a1fIdEEvv", 0, 3, 300, 550, values[2]},
                    {"copy", 0, 4, 550, 650, values[3]},
                    {"_Z4foldPf", 0, 5, 700, 900, values[4]},
                    {"nothing", 0, 6, 900, 901, values[5]}},
        .metrics = {COUNTER("gpu0.l1_tlb.misses", "lookups", 40), COUNTER("gpu0.l2_tlb.misses", "lookups", 14),
                    COUNTER("gpu0.walk.count", "walks", 8), COUNTER("gpu0.dram.bytes", "bytes", 3072),
                    COUNTER("gpu0.link.h2d.bytes", "bytes", 0), COUNTER("gpu0.link.d2h.bytes", "bytes", 0)},
    };
    f->result = (struct pw_result){.cycles = 1000,
                                   .nanoseconds = 2000,
                                   .app_count = 1,
                                   .apps = f->apps,
                                   .window_metric_count = VALUES,
                                   .window_metrics = (const char **)metrics,
                                   .kernel_count = LAUNCHES,
                                   .kernels = f->kernels,
                                   .metric_count = VALUES,
                                   .metrics = f->metrics};
}

static void expect(const struct fixture *f, size_t rows, bool full_names, const char *expected)
{
    struct pw_text out = {0};
    pw_kernel_table(&f->result, rows, full_names, &out);
    assert_false(out.failed);
    assert_string_equal(out.bytes, expected);
    pw_text_free(&out);
}

static void launches_of_one_name_are_a_row_and_all_rows_are_the_run(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    expect(&f, 10, false,
           "Kernels by time\n"
           "  kernel            launches  cycles   us    time  L1 TLB misses  L2 TLB misses  page walks      DRAM\n"
           "  a::f<…> #1               2     300  0.6   30.0%             30             11           5  3.00 KiB\n"
           "  a::f<…> #2               1     250  0.5   25.0%              1              0           0       0 B\n"
           "  fold                     1     200  0.4   20.0%              2              2           2       0 B\n"
           "  copy                     1     100  0.2   10.0%              1              1           1       0 B\n"
           "  nothing                  1       1  0.0    0.1%              0              0           0       0 B\n"
           "  between launches               149  0.3   14.9%              6              0           0       0 B\n"
           "  run                      6   1,000  2.0  100.0%             40             14           8  3.00 KiB\n");
}

static void what_is_beyond_the_rows_is_one_more(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    f.result.cycles = f.apps[0].cycles = 851;
    f.metrics[0].real = 34;
    expect(
        &f, 2, true,
        "Kernels by time\n"
        "  kernel               launches  cycles   us    time  L1 TLB misses  L2 TLB misses  page walks      DRAM\n"
        "  void a::f<float>()          2     300  0.7   35.3%             30             11           5  3.00 KiB\n"
        "  void a::f<double>()         1     250  0.6   29.4%              1              0           0       0 B\n"
        "  3 others                    3     301  0.7   35.4%              3              3           3       0 B\n"
        "  run                         6     851  2.0  100.0%             34             14           8  3.00 KiB\n");
}

static void a_region_has_its_launches_only(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    f.result.made.kernels = "4-5";
    f.result.cycles = f.apps[0].cycles = 350;
    f.metrics[0].real = 3;
    f.metrics[1].real = f.metrics[2].real = 3;
    f.metrics[3].real = 0;
    expect(&f, 10, false,
           "Kernels by time\n"
           "  kernel            launches  cycles   us    time  L1 TLB misses  L2 TLB misses  page walks\n"
           "  fold                     1     200  1.1   57.1%              2              2           2\n"
           "  copy                     1     100  0.6   28.6%              1              1           1\n"
           "  between launches                50  0.3   14.3%              0              0           0\n"
           "  run                      2     350  2.0  100.0%              3              3           3\n");
}

/* Applications run at the same time; kernels of the same name in two of them are two rows. */
static void applications_have_a_column(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    f.apps[1] = (struct pw_app_result){.name = "q", .cycles = 200};
    f.result.app_count = 2;
    f.result.kernel_count = 3;
    f.kernels[1] = (struct pw_window){"_ZN1a1fIfEEvv", 1, 1, 0, 200, values[1]};
    f.kernels[2] = (struct pw_window){"copy", 0, 2, 100, 1000, values[2]};
    f.metrics[0].real = 32;
    f.metrics[1].real = 11;
    f.metrics[2].real = 5;
    expect(&f, 10, false,
           "Kernels by time (shares: of the application's)\n"
           "  kernel              app   launches  cycles   us    time  L1 TLB misses  L2 TLB misses  page walks      "
           "DRAM\n"
           "  copy                app0         1     900  1.8   90.0%              1              0           0       "
           "0 B\n"
           "  a::f<…>             app1         1     200  0.4  100.0%             20              6           3  "
           "2.00 KiB\n"
           "  a::f<…>             app0         1     100  0.2   10.0%             10              5           2  "
           "1.00 KiB\n"
           "  runs started again                                                   1              0           0       "
           "0 B\n"
           "  run                              3                                  32             11           5  "
           "3.00 KiB\n");
}

static void a_run_without_launches_has_only_its_sum(void **state)
{
    (void)state;
    struct fixture f;
    init(&f);
    f.result.kernel_count = f.result.metric_count = 0;
    f.result.cycles = f.apps[0].cycles = 0;
    expect(&f, 10, false, "Kernels by time\n  kernel  launches  cycles  us  time\n  run\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_name_are_a_row_and_all_rows_are_the_run),
        cmocka_unit_test(what_is_beyond_the_rows_is_one_more),
        cmocka_unit_test(a_region_has_its_launches_only),
        cmocka_unit_test(applications_have_a_column),
        cmocka_unit_test(a_run_without_launches_has_only_its_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
