/* Breakdowns of warp time add up for every program, on machines and designs that make warps wait in different places,
 * and looking at it changes nothing: cycles and all other metrics are those of a run without. */
#include "pagewalk/pagewalk.h"
#include "workload/runtime/host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const programs[] = {
    "vecadd:n=12345:ctas=3:warps=5",
    "gather:n=3000:ctas=3:warps=5:table=1MB",
    "alu:n=12345:ctas=3:warps=5",
    "pointer_chase:bytes=1MB:stride=4096:hops=300",
    "HS:side=37:iterations=5:pyramid=3",
    "hotspot:side=50:iterations=4",
    "MM:m=128:n=16:k=8",
    "BFS2:nodes=1000",
    "GUP:table=12344:ctas=3:updates=7",
    "TRD:bytes=12340:sizes=4:passes=2:threads=96",
    "RED:bytes=4KB:iterations=1",
    "CFD:cells=193:iterations=2",
    "NN:images=1",
    "RAY:width=33:height=9:objects=3",
    "MUM:reference=2000:queries=333",
    "LPS:nx=33:ny=5:nz=3:iterations=3",
    "SCP:vectors=3:elements=1025",
    "BP:inputs=304",
    "backprop:inputs=304",
    "FWT:log2=11",
    "SCAN:bytes=16KB:iterations=1",
    "FFT:ffts=14:passes=2",
    "BLK:options=2345:iterations=2",
    "NW:length=48:penalty=3",
    "nw:length=80",
    "3DS:nx=32:ny=8:nz=17",
    "CONS:width=64:height=32:iterations=1",
    "LUD:side=80",
    "HISTO:width=37:height=29:rows=600:iterations=2",
    "SC:points=600:dimensions=3:centers=5:gains=12",
    "SAD:width=48:height=16",
    "SRAD:rows=31:columns=33:iterations=2",
    "QTC:points=77:seeds=0:rounds=1",
    "LUH:edge=6:cycles=2",
    "bfs:nodes=300",
    "fdtd:nx=9:ny=33:steps=4",
    "pathfinder:columns=300:rows=7:pyramid=127",
    "srad:rows=48:columns=112:iterations=2",
    "2dconv:rows=37:columns=101",
    "stencil:nx=70:ny=13:nz=9:steps=2",
    "kmeans:points=1025:features=7",
    "kmeans:variant=heteromark:points=333:features=7",
    "spmv:elements=9",
    "dwt:width=133:height=41:levels=2",
    "heartwall:points=2:template=4:search=9",
    "page_rank:nodes=600:iterations=2",
    "page_rank:variant=heteromark:nodes=300:degree=70:kind=random:iterations=2",
    "color:nodes=600:iterations=3",
    "mis:nodes=600",
    "fw:nodes=40:iterations=6",
    "bc:nodes=70:degree=4:sources=3",
    "mst:nodes=600:iterations=2",
    "atax:nx=70:ny=45",
    "mvt:n=289:terms=21",
    "bicg:nx=45:ny=70",
    "bh:bodies=150:sms=2",
    "relu:length=12345",
    "maxpool:channels=3:height=33:width=17",
    "fir:length=1000",
    "aes:bytes=3000",
    "transpose:width=128",
    "stencil2d:rows=32:columns=128",
    "vecadd:n=12345:ctas=3:warps=5:code=sm_90",
    "gather:n=3000:ctas=3:warps=5:table=1MB:code=sm_90",
    "RED:bytes=12340:iterations=1:code=sm_90",
    "BLK:options=2345:iterations=2:code=sm_90",
    "LUD:side=80:code=sm_90",
    "srad:rows=48:columns=112:iterations=2:code=sm_90",
    "2dconv:rows=37:columns=101:code=sm_90",
    "relu:length=12345:code=sm_90",
    "maxpool:channels=3:height=33:width=17:window=7:code=sm_90",
    "fir:length=1000:taps=7:code=sm_90",
    "transpose:width=128:code=sm_90",
    "stencil2d:rows=32:columns=128:code=sm_90",
    "gather:ctas=3:warps=2:iterations=2:table=1MB,HS:side=40:iterations=3",
    "BFS2:nodes=600,vecadd:ctas=2,pointer_chase:bytes=256KB:hops=50",
};

static const struct {
    const char *machine, *design, *sets[3];
} machines[] = {
    {"mosaic", "gpu-mmu", {NULL}},
    {"volta", "gpu-mmu-2m", {"sm.schedule=rr"}},
    {"mask", "pwcache", {"walk.walkers=1", "l1_tlb.mshrs=2"}},
    {"kepler", "gpu-mmu", {"l1_tlb.on_miss=stall_lsu", "sm.lsu_queue=1"}},
    {"fermi", "ideal-tlb", {"l1d.mshrs=1"}},
    {"pascal", "uvm-tbn-tbn", {"uvm.oversubscription=150"}},
    {"mosaic", "static", {"sm.serial=on"}},
};

enum { MACHINES = sizeof machines / sizeof machines[0], PROGRAMS = sizeof programs / sizeof programs[0] };

static struct pw_result *run(size_t program, size_t machine, bool breakdown)
{
    struct pw_run_spec spec = {.machine = machines[machine].machine,
                               .design = machines[machine].design,
                               .workload = programs[program],
                               .sets = machines[machine].sets,
                               .breakdown = breakdown};
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    while (spec.set_count < 3 && spec.sets[spec.set_count])
        spec.set_count++;
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s on %s, %s: %s", spec.workload, spec.machine, spec.design, err.message);
    return result;
}

static const struct pw_metric *find(const struct pw_result *r, unsigned app, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strncmp(r->metrics[i].name, "app", 3) && r->metrics[i].name[3] == (char)('0' + app) &&
            !strcmp(r->metrics[i].name + 5, name))
            return &r->metrics[i];
    fail_msg("there is no metric %s of app%u", name, app);
    return NULL;
}

static void add_up(const struct pw_result *r, const char *name)
{
    size_t states = r->breakdown_count / r->app_count;
    assert_int_equal(states, 15);
    for (unsigned app = 0; app < r->app_count; app++) {
        uint64_t cycles = 0, issued = 0;
        double percent = 0;
        for (size_t i = 0; i < states; i++) {
            const struct pw_breakdown_row *row = &r->breakdown[app * states + i];
            assert_int_equal(row->app, app);
            cycles += row->cycles;
            percent += row->percent;
            issued += strcmp(row->state, "issue") ? 0 : row->cycles;
        }
        if (cycles != find(r, app, "warp.resident")->integer || fabs(percent - 100) > 1e-9)
            fail_msg("%s: app%u has %llu cycles, %g%%", name, app, (unsigned long long)cycles, percent);
        assert_int_equal(issued, find(r, app, "sm.issued")->integer);
    }
}

static bool is_translation(const char *state)
{
    static const char *const states[] = {"lsu_full_tlb", "lsu_tlb", "l2_tlb", "walk_queue", "walk_memory", "far_fault"};
    for (size_t k = 0; k < sizeof states / sizeof *states; k++)
        if (!strcmp(state, states[k]))
            return true;
    return false;
}

/* A TLB that never misses has its lookup, and nothing waits behind it. */
static void no_translation(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->breakdown_count; i++)
        if (is_translation(r->breakdown[i].state) && r->breakdown[i].cycles)
            fail_msg("%s: %llu cycles of %s with an ideal TLB", name, (unsigned long long)r->breakdown[i].cycles,
                     r->breakdown[i].state);
}

/* Metrics of `with` that are not the breakdown's are those of `without`, in the same order. */
static void same_otherwise(const struct pw_result *with, const struct pw_result *without)
{
    size_t k = 0;
    assert_int_equal(with->cycles, without->cycles);
    assert_int_equal(with->events, without->events);
    for (size_t i = 0; i < with->metric_count; i++) {
        if (!strncmp(strchr(with->metrics[i].name, '.'), ".warp.", 6))
            continue;
        assert_string_equal(with->metrics[i].name, without->metrics[k].name);
        assert_true(with->metrics[i].real == without->metrics[k].real);
        k++;
    }
    assert_int_equal(k, without->metric_count);
    assert_int_equal(without->breakdown_count, 0);
}

static void time_adds_up_for_every_program_and_looking_at_it_changes_nothing(void **state)
{
    (void)state;
    for (size_t program = 0; program < PROGRAMS; program++)
        for (size_t i = 0; i < 3; i++) { /* three machines each, all in turn */
            size_t machine = (program + i * 2) % MACHINES;
            struct pw_result *with = run(program, machine, true), *without = run(program, machine, false);
            add_up(with, programs[program]);
            if (!strcmp(machines[machine].design, "ideal-tlb"))
                no_translation(with, programs[program]);
            same_otherwise(with, without);
            pw_result_free(with);
            pw_result_free(without);
        }
}

static struct pw_result *gather(const char *design)
{
    struct pw_run_spec spec = {
        .machine = "volta", .design = design, .workload = "gather:ctas=80:iterations=8:table=64MB", .breakdown = true};
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s", err.message);
    return result;
}

/* Where warps do nothing but wait for translations, they do so for all of the time that translation costs. */
static void waits_for_translation_are_what_translation_costs(void **state)
{
    (void)state;
    struct pw_result *base = gather("gpu-mmu"), *ideal = gather("ideal-tlb");
    double due = 100 * (1 - (double)ideal->cycles / (double)base->cycles), waits = 0;
    for (size_t i = 0; i < base->breakdown_count; i++)
        waits += is_translation(base->breakdown[i].state) ? base->breakdown[i].percent : 0;
    if (due < 90 || fabs(waits - due) > 3)
        fail_msg("%g%% of the time are waits for translation, and %g%% are due to it", waits, due);
    pw_result_free(base);
    pw_result_free(ideal);
}

static void every_program_is_here(void **state)
{
    (void)state;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        bool covered = (*w)->required;
        for (size_t i = 0; i < PROGRAMS; i++)
            covered |= !strncmp(programs[i], (*w)->name, strlen((*w)->name)) && programs[i][strlen((*w)->name)] == ':';
        if (!covered)
            fail_msg("workload %s has no case here", (*w)->name);
    }
}

/* A window counts what ended in it, so it adds up too. */
static void a_part_of_a_run_adds_up(void **state)
{
    (void)state;
    struct pw_run_spec spec = {.workload = "HS:side=64:iterations=4", .kernels = "2", .breakdown = true};
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    assert_int_equal(pw_run(&spec, &result, &err), PW_OK);
    add_up(result, spec.workload);
    pw_result_free(result);
    spec = (struct pw_run_spec){.workload = "gather:ctas=8:iterations=3:table=4MB", .warmup = 2000, .breakdown = true};
    assert_int_equal(pw_run(&spec, &result, &err), PW_OK);
    add_up(result, spec.workload);
    pw_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_adds_up_for_every_program_and_looking_at_it_changes_nothing),
        cmocka_unit_test(waits_for_translation_are_what_translation_costs),
        cmocka_unit_test(every_program_is_here),
        cmocka_unit_test(a_part_of_a_run_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
