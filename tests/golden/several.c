/* Whole runs of several GPUs: what each route must and must not do on real programs, every placement with every number
 * of GPUs, and what one GPU of such a machine is. Runs check every identity themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metric.h"

#include <stdio.h>

enum { SETS = 8 };

static const char *const programs[] = {"vecadd:n=20000", "gather:n=4000:ctas=40:table=1MB",
                                       "GUP:table=65536:ctas=20:updates=7", "RED:bytes=64KB:iterations=1",
                                       "FFT:ffts=14:passes=2"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static struct pw_result *run(const char *design, const char *workload, const char *const *sets)
{
    struct pw_run_spec spec = {.machine = "mgpu4", .design = design, .workload = workload, .sets = sets};
    struct pw_result *result = NULL;
    struct pw_error err;
    while (sets && sets[spec.set_count])
        spec.set_count++;
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s, %s: %s", design, workload, err.message);
    return result;
}

static uint64_t count(const struct pw_result *r, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, "gpus.%s", name);
    return (uint64_t)metric(r, whole);
}

/* gmmu-fig1-nogmmu: there is no GMMU to walk in. */
static void centralized_never_walks_on_a_gpu(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct pw_result *r = run("centralized", programs[i], NULL);
        assert_int_equal(count(r, "route.gmmu_walks"), 0);
        assert_int_equal(count(r, "walk.count"), 0);
        assert_true(count(r, "route.local") && count(r, "route.remote"));
        assert_int_equal(count(r, "route.iommu_walks"), count(r, "route.local") + count(r, "route.remote"));
        pw_result_free(r);
    }
}

/* gmmu-fig03-ideal-def */
static void ideal_walks_once_where_the_page_is(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct pw_result *r = run("route-ideal", programs[i], NULL);
        assert_int_equal(count(r, "route.duplicate_walks"), 0);
        assert_int_equal(count(r, "route.gmmu_walks"), count(r, "route.local"));
        assert_int_equal(count(r, "route.iommu_walks"), count(r, "route.remote"));
        pw_result_free(r);
    }
}

static void check_same(const char *program, const char *design, const char *mode)
{
    struct pw_result *a = run(design, program, NULL), *b = run("bypass", program, (const char *const[]){mode, NULL});
    assert_int_equal(a->cycles, b->cycles);
    for (size_t i = 0; i < a->metric_count; i++)
        if (!strstr(a->metrics[i].name, "cost.")) /* the unit is there, though its mode is fixed */
            if (metric(b, a->metrics[i].name) != a->metrics[i].real)
                fail_msg("%s, %s: %s differs", program, mode, a->metrics[i].name);
    pw_result_free(a);
    pw_result_free(b);
}

static void bypass_of_a_fixed_mode_is_the_design_it_stands_for(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        check_same(programs[i], "distributed", "route.mode=off");
        check_same(programs[i], "centralized", "route.mode=on");
    }
}

/* gmmu-sec62-one-effective */
static void both_walks_twice_for_each_request(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct pw_result *r = run("bypass", programs[i], (const char *const[]){"route.mode=both", NULL});
        uint64_t requests = count(r, "route.local") + count(r, "route.remote");
        assert_int_equal(count(r, "route.gmmu_walks"), requests);
        assert_int_equal(count(r, "route.iommu_walks"), requests);
        assert_int_equal(count(r, "l2_tlb.primary_misses"), requests);
        pw_result_free(r);
    }
}

/* gmmu-sec4-side: each GPU decides by its own requests. All pages are on the first, which stops asking the IOMMU, while
 * the others bypass their GMMUs; only where nothing was asked is the mode of the first epoch left. */
static void each_gpu_has_a_mode_of_its_own(void **state)
{
    (void)state;
    static const char *const sets[] = {"place.policy=single", "route.epoch=1000", NULL};
    struct pw_result *r = run("bypass", "gather:n=36864:ctas=144:table=4MB", sets);
    for (unsigned gpu = 0; gpu < 4; gpu++) {
        char on[64], off[64], bits[64];
        snprintf(on, sizeof on, "gpu%u.route.epochs_on", gpu);
        snprintf(off, sizeof off, "gpu%u.route.epochs_off", gpu);
        snprintf(bits, sizeof bits, "gpu%u.cost.route.local_counter", gpu);
        assert_true(metric(r, bits) == 8);
        assert_true(gpu ? metric(r, on) > 2 * metric(r, off) : metric(r, on) == 0);
        assert_true(gpu ? metric(r, off) <= 2 : metric(r, off) > 2);
    }
    pw_result_free(r);
}

static const char *const placements[] = {"place.policy=interleaved", "place.policy=by-array", "place.policy=split",
                                         "place.policy=first-touch", "place.policy=single"};
static const char *const orders[] = {"place.ctas=blocks", "place.ctas=interleaved"};
static const char *const remotes[] = {"place.remote=direct", "place.remote=migrate", "place.remote=first-touch"};

/* Calls for all of them with these sets behind. */
static void each_placement(void (*check)(const char *const *sets), const char *const *more)
{
    const char *sets[SETS] = {NULL};
    for (unsigned i = 0; more[i]; i++)
        sets[3 + i] = more[i];
    for (unsigned p = 0; p < sizeof placements / sizeof *placements; p++)
        for (unsigned c = 0; c < sizeof orders / sizeof *orders; c++)
            for (unsigned q = 0; q < sizeof remotes / sizeof *remotes; q++) {
                sets[0] = placements[p];
                sets[1] = orders[c];
                sets[2] = remotes[q];
                check(sets);
            }
}

static void check_all_is_local(const char *const *sets)
{
    static const char *const designs[] = {"distributed", "centralized", "bypass", "route-ideal"};
    for (unsigned i = 0; i < 4; i++) {
        struct pw_result *r = run(designs[i], programs[1], sets);
        assert_true(metric(r, "gpu0.route.local") > 0);
        assert_true(metric(r, "gpu0.route.remote") == 0);
        assert_true(metric(r, "gpu0.route.local_share") == 100);
        if (strcmp(designs[i], "centralized") != 0 && strcmp(designs[i], "bypass") != 0)
            assert_true(metric(r, "gpu0.route.iommu_walks") == 0);
        pw_result_free(r);
    }
}

static void one_gpu_has_no_remote_page(void **state)
{
    (void)state;
    each_placement(check_all_is_local, (const char *const[]){"gpu.count=1", "sm.count=4", NULL});
}

static void check_ctas(struct pw_result *r, double ctas)
{
    assert_true(metric(r, "app0.sm.ctas") == ctas);
    pw_result_free(r);
}

static void check_runs(const char *const *sets)
{
    check_ctas(run("bypass", "gather:n=1000:ctas=70:warps=1:table=256KB", sets), 70);
    check_ctas(run("distributed", "vecadd:n=3000:ctas=70:warps=1", sets), 70);
}

static void every_placement_works_with_any_number_of_gpus(void **state)
{
    (void)state;
    static const char *const counts[] = {"gpu.count=1", "gpu.count=2",  "gpu.count=3", "gpu.count=4",
                                         "gpu.count=7", "gpu.count=16", "gpu.count=64"};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        each_placement(check_runs, (const char *const[]){counts[i], "sm.count=1", "dram.bytes=32MB", NULL});
}

/* The last loads are answered by the GMMU, and the program ends long before the IOMMU's answers come. */
static void a_program_may_end_while_a_walk_for_nothing_goes_on(void **state)
{
    (void)state;
    struct pw_result *r =
        run("bypass", "vecadd:n=32:ctas=1",
            (const char *const[]){"route.mode=both", "gpu.count=1", "fabric.switch_latency=9000", NULL});
    assert_true(r->cycles < 9000);
    assert_true(metric(r, "gpu0.route.iommu_walks") == 3 && metric(r, "gpu0.route.discarded_answers") == 0);
    pw_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centralized_never_walks_on_a_gpu),
        cmocka_unit_test(ideal_walks_once_where_the_page_is),
        cmocka_unit_test(bypass_of_a_fixed_mode_is_the_design_it_stands_for),
        cmocka_unit_test(both_walks_twice_for_each_request),
        cmocka_unit_test(each_gpu_has_a_mode_of_its_own),
        cmocka_unit_test(a_program_may_end_while_a_walk_for_nothing_goes_on),
        cmocka_unit_test(one_gpu_has_no_remote_page),
        cmocka_unit_test(every_placement_works_with_any_number_of_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
