/* Machines that nobody would build (random_machine.h), on small programs that compute and check their results. Whatever
 * the combination, a run ends with every identity intact, or is refused as the user's mistake; it never gets stuck and
 * never breaks an identity. */
#include "pagewalk/pagewalk.h"
#include "random_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RUNS = 240 };

static void no_combination_gets_stuck_or_breaks_an_identity(void **state)
{
    (void)state;
    static const char *const workloads[] = {"vecadd:ctas=5:warps=3:iterations=3",
                                            "gather:ctas=3:warps=2:iterations=2:table=4MB",
                                            "pointer_chase:bytes=256KB:hops=200",
                                            "HS:side=40:iterations=3",
                                            "BFS2:nodes=600",
                                            "HS:side=20,vecadd:ctas=2",
                                            "gather:ctas=1:warps=2:iterations=2:table=2MB,HS:side=20"};
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "gpu-mmu-64k", "pwcache", "ideal-tlb", "static"};
    struct pw_random random;
    pw_random_init(&random, 7, "configurations");
    unsigned completed = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct random_machine m;
        machine_choose(&m, &random);
        struct pw_run_spec spec = {.machine = machine_one_of(&random, "mosaic", "volta"),
                                   .design = designs[pw_random_below(&random, 5)],
                                   .workload = workloads[pw_random_below(&random, 7)],
                                   .sets = m.sets,
                                   .set_count = m.count,
                                   .seed = run + 1,
                                   .verify = true,
                                   .breakdown = run % 2};
        struct pw_result *result = NULL;
        struct pw_error err = {0};
        enum pw_status status = pw_run(&spec, &result, &err);
        if (status != PW_OK && status != PW_USER_ERROR)
            fail_msg("run %u (%s, %s, %s): %s", run, spec.machine, spec.design, spec.workload, err.message);
        completed += status == PW_OK;
        pw_result_free(result);
    }
    /* Some combinations are refused; most must run, or this test would say nothing. */
    assert_true(completed > RUNS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_combination_gets_stuck_or_breaks_an_identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
