/* A recorded program, run again, is the program: every metric, every launch and every cycle of every workload, alone,
 * with demand paging, beside others, and when it starts over. */
#include "exp/tools/trace_record.h"
#include "workload/runtime/host.h"
#include "workload_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "same_result.h"

static char path[] = "/tmp/pagewalk-trace-XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void record(const char *workload)
{
    struct pw_error err = {0};
    const struct pw_trace_record_spec spec = {.workload = workload, .file = path};
    if (pw_trace_record(&spec, &err) != PW_OK)
        fail_msg("%s: %s", workload, err.message);
}

static struct pw_result *run(const char *machine, const char *design, const char *workload, const char *set)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    const struct pw_run_spec spec = {
        .machine = machine, .design = design, .workload = workload, .sets = &set, .set_count = set != NULL};
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s on %s: %s", workload, machine, err.message);
    return result;
}

/* The program, and the same text with trace:FILE in its place. `text` has one %s. */
static void expect_the_same(const char *machine, const char *design, const char *text, const char *program,
                            const char *set)
{
    char original[1024], replay[1024], trace[64];
    snprintf(trace, sizeof trace, "trace:%s", path);
    snprintf(original, sizeof original, text, program);
    snprintf(replay, sizeof replay, text, trace);
    struct pw_result *a = run(machine, design, original, set), *b = run(machine, design, replay, set);
    expect_same_result(a, b, original);
    pw_result_free(a);
    pw_result_free(b);
}

static void every_workload_is_replayed_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof workload_cases / sizeof *workload_cases; i++) {
        record(workload_cases[i]);
        expect_the_same("volta", "gpu-mmu", "%s", workload_cases[i], NULL);
    }
}

static void so_it_is_with_demand_paging_prefetching_and_eviction(void **state)
{
    (void)state;
    static const char *const programs[] = {"nw:length=256", "backprop:inputs=4112:managed=on", "bfs:nodes=3000"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        record(programs[i]);
        expect_the_same("pascal", "uvm-nvidia", "%s", programs[i], "uvm.oversubscription=130");
        expect_the_same("h200", "uvm-nvidia", "%s", programs[i], NULL);
    }
}

static void so_it_is_under_other_designs(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *design;
    } table[] = {
        {"mosaic", "mosaic"}, {"mask", "mask"}, {"kepler", "compress"}, {"mgpu4", "bypass"}, {"h200", "gpu-mmu-2m"}};
    record("BFS2:nodes=3001:degree=20");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        expect_the_same(table[i].machine, table[i].design, "%s", "BFS2:nodes=3001:degree=20", NULL);
}

static void so_it_is_beside_others_and_when_it_starts_over(void **state)
{
    (void)state;
    record("HS:side=100:iterations=3:pyramid=7");
    expect_the_same("mosaic", "gpu-mmu", "%s,GUP:table=64KB:ctas=5", "HS:side=100:iterations=3:pyramid=7", NULL);
    expect_the_same("mosaic", "mosaic", "LPS:nx=70:ny=13:nz=9:iterations=2,%s", "HS:side=100:iterations=3:pyramid=7",
                    "apps.restart=fresh");
}

static void two_of_one_trace_share_a_gpu(void **state)
{
    (void)state;
    char both[256];
    record("vecadd:n=12345:ctas=3:warps=5");
    snprintf(both, sizeof both, "trace:%s,trace:%s", path, path);
    struct pw_result *a = run("mosaic", "gpu-mmu", "vecadd:n=12345:ctas=3:warps=5,vecadd:n=12345:ctas=3:warps=5", NULL);
    struct pw_result *b = run("mosaic", "gpu-mmu", both, NULL);
    expect_same_result(a, b, both);
    pw_result_free(a);
    pw_result_free(b);
}

/* Launches 2 and 3 alone: their instructions are those of the whole program's rows. */
static void a_replay_may_begin_at_any_launch(void **state)
{
    (void)state;
    char text[256];
    record("BFS2:nodes=2000:kind=grid");
    snprintf(text, sizeof text, "trace:%s", path);
    struct pw_result *whole = run("mosaic", "gpu-mmu", text, NULL);
    snprintf(text, sizeof text, "trace:%s:skip=1:count=2", path);
    struct pw_result *part = run("mosaic", "gpu-mmu", text, NULL);
    assert_true(whole->kernel_count > 3);
    assert_int_equal(part->kernel_count, 2);
    size_t issued = 0;
    while (strcmp(whole->window_metrics[issued], "sm.issued") != 0)
        issued++;
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(part->kernels[i].name, whole->kernels[i + 1].name);
        assert_true(part->kernels[i].values[issued] == whole->kernels[i + 1].values[issued]);
    }
    pw_result_free(whole);
    pw_result_free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_is_replayed_exactly),
        cmocka_unit_test(so_it_is_with_demand_paging_prefetching_and_eviction),
        cmocka_unit_test(so_it_is_under_other_designs),
        cmocka_unit_test(so_it_is_beside_others_and_when_it_starts_over),
        cmocka_unit_test(two_of_one_trace_share_a_gpu),
        cmocka_unit_test(a_replay_may_begin_at_any_launch),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
