/* The mean number of ready warps, which is sampled, against the breakdown of warp time, which has every cycle. */
#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metric.h"

static struct pw_result *run(const char *workload, const char *schedule, bool breakdown)
{
    const char *const sets[] = {"sm.count=2", schedule};
    const struct pw_run_spec spec = {.machine = "mask",
                                     .design = "gpu-mmu",
                                     .workload = workload,
                                     .sets = (const char **)sets,
                                     .set_count = 2,
                                     .seed = 1,
                                     .breakdown = breakdown};
    struct pw_result *r = NULL;
    struct pw_error err = {0};
    if (pw_run(&spec, &r, &err) != PW_OK)
        fail_msg("%s", err.message);
    return r;
}

static void the_mean_is_that_of_all_cycles(void **state)
{
    (void)state;
    static const struct {
        const char *workload, *schedule;
    } rows[] = {{"alu:ctas=2:iterations=2000", "sm.schedule=gto"},
                {"alu:ctas=64:iterations=200", "sm.schedule=gto"},
                {"alu:ctas=64:iterations=200", "sm.schedule=rr"},
                {"vecadd:ctas=64:iterations=16", "sm.schedule=gto"},
                {"gather:table=4MB:ctas=32:iterations=16", "sm.schedule=gto"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_result *r = run(rows[i].workload, rows[i].schedule, true);
        double exact = metric(r, "gpu0.warp.issue") + metric(r, "gpu0.warp.not_chosen") +
                       metric(r, "gpu0.warp.lsu_full") + metric(r, "gpu0.warp.lsu_full_tlb") +
                       metric(r, "gpu0.warp.paused");
        exact /= (double)r->cycles;
        double sampled = metric(r, "gpu0.sm.ready_warps_mean");
        if (sampled < 0.95 * exact || sampled > 1.05 * exact)
            fail_msg("%s: %g warps are ready, not %g", rows[i].workload, exact, sampled);
        pw_result_free(r);
        r = run(rows[i].workload, rows[i].schedule, false);
        assert_true(metric(r, "gpu0.sm.ready_warps_mean") == sampled); /* every run has it */
        pw_result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_that_of_all_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
