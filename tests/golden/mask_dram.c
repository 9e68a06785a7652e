/* What MASK's DRAM schedule does in a whole run of two applications, beside the baseline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metric.h"

#include "pagewalk/pagewalk.h"

#include <string.h>

static struct pw_result *run(const char *design, const char *workload, const char *set)
{
    const char *sets[] = {"page.entry_stride=128", "dram.channels=2", set};
    struct pw_run_spec spec = {.machine = "mask", .design = design, .workload = workload, .seed = 1};
    spec.sets = sets;
    spec.set_count = set ? 3 : 2;
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s", err.message);
    return result;
}

#define TWO "gather:ctas=16:iterations=4,vecadd:ctas=60:iterations=4"

/* mask-sec54-golden, mask-sec54-silver, mask-sec54-normal */
static void page_table_reads_wait_less_and_fill_golden_alone(void **state)
{
    (void)state;
    struct pw_result *before = run("gpu-mmu", TWO, NULL), *after = run("mask-dram", TWO, NULL);
    static const char latency[] = "gpu0.dram.translation.latency_mean";
    assert_true(metric(after, latency) < metric(before, latency));
    /* What was sent has been served, or was still on its way at the end. */
    assert_true(metric(after, "gpu0.dram.golden_arrivals") >= metric(after, "gpu0.dram.translation.reads"));
    assert_true(metric(after, "gpu0.dram.golden_cycles") > 0);
    for (unsigned app = 0; app < 2; app++) {
        assert_true(metric(after, app ? "app1.dram.silver_arrivals" : "app0.dram.silver_arrivals") > 0);
        assert_true(metric(after, app ? "app1.dram.normal_arrivals" : "app0.dram.normal_arrivals") > 0);
    }
    pw_result_free(before);
    pw_result_free(after);
}

static void a_single_application_is_always_silver_and_without_silver_normal(void **state)
{
    (void)state;
    for (unsigned without = 0; without < 2; without++) {
        struct pw_result *r = run("mask-dram", "gather:ctas=16:iterations=4", without ? "dram.silver_max=0" : NULL);
        assert_true(metric(r, "gpu0.dram.silver_arrivals") > 0 || without);
        assert_int_equal((uint64_t)metric(r, without ? "gpu0.dram.silver_arrivals" : "gpu0.dram.normal_arrivals"), 0);
        pw_result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_table_reads_wait_less_and_fill_golden_alone),
        cmocka_unit_test(a_single_application_is_always_silver_and_without_silver_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
