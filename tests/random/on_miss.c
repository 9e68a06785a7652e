/* The three values of l1_tlb.on_miss on machines that nobody would build (random_machine.h), many of them with demand
 * paging in little memory or with a single miss register: whoever waits for whom, every run ends with its identities
 * intact, and a program that runs once makes the same accesses under each of them. */
#include "pagewalk/pagewalk.h"
#include "random_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "metric.h"

enum { MACHINES = 60 };

static const char *const values[] = {"nonblocking", "hit_under_miss", "stall_lsu"};

static const char *const counted[] = {"gpu0.sm.issued",   "gpu0.sm.memory_instructions", "gpu0.sm.lines",
                                      "gpu0.sm.launches", "gpu0.l1d.accesses",           "gpu0.l1d.stores"};

static struct pw_result *run_with(struct pw_run_spec spec, struct random_machine m, const char *value, unsigned machine)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    machine_set_text(&m, "l1_tlb.on_miss", value);
    for (size_t i = 0; i < m.count; i++)
        m.sets[i] = m.text[i];
    spec.sets = m.sets;
    spec.set_count = m.count;
    enum pw_status status = pw_run(&spec, &result, &err);
    if (status != PW_OK && status != PW_USER_ERROR)
        fail_msg("machine %u (%s, %s, %s) with %s: %s", machine, spec.machine, spec.design, spec.workload, value,
                 err.message);
    return result;
}

/* Programs that start over until their neighbours have ended do so as often as there is time for. */
static void assert_same_accesses(const struct pw_run_spec *spec, struct pw_result *const *results, unsigned machine)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted && !strchr(spec->workload, ','); i++)
        for (unsigned k = 1; k < 3; k++)
            if (metric(results[0], counted[i]) != metric(results[k], counted[i]))
                fail_msg("machine %u (%s): %s is %.0f with %s and %.0f with %s", machine, spec->workload, counted[i],
                         metric(results[0], counted[i]), values[0], metric(results[k], counted[i]), values[k]);
}

static void every_value_completes_with_the_same_accesses(void **state)
{
    (void)state;
    static const char *const workloads[] = {"vecadd:ctas=5:warps=3:iterations=3",
                                            "gather:ctas=3:warps=2:iterations=2:table=4MB", "HS:side=40:iterations=3",
                                            "gather:ctas=2:warps=2:table=2MB,HS:side=20"};
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "pwcache", "mosaic", "uvm-tbn-tbn"};
    struct pw_random random;
    pw_random_init(&random, 5, "on_miss");
    unsigned completed = 0;
    for (unsigned i = 0; i < MACHINES; i++) {
        struct random_machine m;
        machine_choose(&m, &random);
        if (pw_random_below(&random, 3) == 0)
            machine_set(&m, "l1_tlb.mshrs", 1);
        if (pw_random_below(&random, 3) == 0) {
            machine_set_text(&m, "paging.mode", "demand");
            machine_set(&m, "uvm.oversubscription", machine_between(&random, 110, 300));
        }
        struct pw_run_spec spec = {.machine = machine_one_of(&random, "mosaic", "volta"),
                                   .design = designs[pw_random_below(&random, 5)],
                                   .workload = workloads[pw_random_below(&random, 4)],
                                   .seed = i + 1,
                                   .breakdown = i % 2};
        struct pw_result *results[3] = {NULL};
        for (unsigned k = 0; k < 3; k++)
            results[k] = run_with(spec, m, values[k], i);
        assert_true(!results[0] == !results[1] && !results[0] == !results[2]);
        if (results[0])
            assert_same_accesses(&spec, results, i);
        completed += results[0] != NULL;
        for (unsigned k = 0; k < 3; k++)
            pw_result_free(results[k]);
    }
    /* Some machines are refused; most must run, or this test would say nothing. */
    assert_true(completed > MACHINES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value_completes_with_the_same_accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
