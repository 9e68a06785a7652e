/* Windows of runs on machines that nobody would build (random_machine.h): borders fall anywhere, into runs of
 * arithmetic, stalls, pauses, walks, faults. Whatever is under way there, the rows add up to the run, none has more
 * than its cycles could hold, what a warmup leaves is what it has not taken, and looking on changes nothing. */
#include "pagewalk/pagewalk.h"
#include "random_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MACHINES = 120, MOST_ROWS = 200 };

static size_t window_metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->window_metric_count; i++)
        if (!strcmp(r->window_metrics[i], name))
            return i;
    fail_msg("there is no metric %s", name);
    return 0;
}

/* Levels are what they are at the end of a row; they do not add up. */
static bool is_level(const char *name)
{
    static const char *const levels[] = {"walk.under_way",          "walk.concurrent_max", "walk.warps_stalled_max",
                                         "sm.lines_waiting",        "uvm.faults_waiting",  "uvm.prefetched_resident",
                                         "l1_tlb.unanswered",       "l2_tlb.unanswered",   "mem.foreign_bytes",
                                         "mem.foreign_frame_bytes", "uvm.memory_bytes",    "uvm.data_bytes"};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (!strcmp(name, levels[i]))
            return true;
    return strncmp(name, "cost.", 5) == 0;
}

static uint64_t option(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (!strcmp(r->options[i].name, name))
            return strtoull(r->options[i].value, NULL, 10);
    fail_msg("there is no option %s", name);
    return 0;
}

/* Metrics of all applications together come first, in the order of those of windows. */
static void assert_rows_add_up(const struct pw_result *r, unsigned machine)
{
    for (size_t k = 0; k < r->window_metric_count; k++) {
        double sum = 0;
        for (size_t i = 0; i < r->interval_count; i++)
            sum += r->intervals[i].values[k];
        const struct pw_metric *whole = &r->metrics[k];
        assert_string_equal(whole->name + strlen("gpu0."), r->window_metrics[k]);
        if (whole->is_integer && !is_level(r->window_metrics[k]) && sum != whole->real)
            fail_msg("machine %u: %s is %.0f, but its rows add up to %.0f", machine, whole->name, whole->real, sum);
    }
}

/* The run ends behind an exit of its last cycle, which may be one more for every scheduler. */
static void assert_rows_hold_no_more_than_their_cycles(const struct pw_result *r, unsigned machine)
{
    uint64_t schedulers = option(r, "sm.count") * option(r, "sm.schedulers");
    size_t issued = window_metric(r, "sm.issued"), stalled = window_metric(r, "sm.stall_cycles");
    size_t resident = window_metric(r, "sm.resident_cycles"), memory = window_metric(r, "sm.memory_instructions");
    for (size_t i = 0; i < r->interval_count; i++) {
        const double *v = r->intervals[i].values;
        uint64_t cycles = r->intervals[i].outer_cycle - r->intervals[i].first_cycle + (i + 1 == r->interval_count);
        if (v[resident] > (double)(cycles * schedulers) || v[resident] != v[issued] + v[stalled] ||
            v[memory] > v[issued])
            fail_msg(
                "machine %u: interval %zu of %llu cycles and %llu schedulers has %.0f issued, %.0f of memory, %.0f "
                "stalled, %.0f resident",
                machine, i + 1, (unsigned long long)cycles, (unsigned long long)schedulers, v[issued], v[memory],
                v[stalled], v[resident]);
    }
}

static void assert_same_metrics(const struct pw_result *a, const struct pw_result *b)
{
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->metric_count, b->metric_count);
    for (size_t i = 0; i < a->metric_count; i++)
        if (a->metrics[i].real != b->metrics[i].real)
            fail_msg("%s differs: %g and %g", a->metrics[i].name, a->metrics[i].real, b->metrics[i].real);
}

/* The first row of `rows` and the warmup of `warm` are the same cycles. */
static void assert_a_warmup_takes_the_first_row(const struct pw_result *rows, const struct pw_result *warm)
{
    assert_int_equal(rows->cycles, warm->cycles + rows->intervals[0].outer_cycle);
    for (size_t k = 0; k < rows->window_metric_count; k++)
        if (rows->metrics[k].is_integer && !is_level(rows->window_metrics[k]))
            assert_true(warm->metrics[k].real == rows->metrics[k].real - rows->intervals[0].values[k]);
}

static struct pw_result *run(const struct pw_run_spec *spec, unsigned machine)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    enum pw_status status = pw_run(spec, &result, &err);
    if (status != PW_OK && status != PW_USER_ERROR)
        fail_msg("machine %u (%s, %s, %s): %s", machine, spec->machine, spec->design, spec->workload, err.message);
    return result;
}

/* False: the machine is refused. */
static bool try_machine(struct pw_run_spec spec, struct pw_random *random, unsigned machine)
{
    struct pw_result *whole = run(&spec, machine);
    if (!whole)
        return false;
    uint64_t least = whole->cycles / MOST_ROWS + 1;
    spec.interval = machine_between(random, least, 3 * least);
    struct pw_result *rows = run(&spec, machine);
    assert_non_null(rows);
    assert_same_metrics(whole, rows);
    assert_rows_add_up(rows, machine);
    assert_rows_hold_no_more_than_their_cycles(rows, machine);
    if (rows->interval_count > 1) {
        spec.warmup = rows->intervals[0].outer_cycle;
        spec.interval = 0;
        struct pw_result *warm = run(&spec, machine);
        assert_non_null(warm);
        assert_a_warmup_takes_the_first_row(rows, warm);
        pw_result_free(warm);
    }
    pw_result_free(whole);
    pw_result_free(rows);
    return true;
}

static void rows_of_any_machine_add_up_and_hold_no_more_than_their_cycles(void **state)
{
    (void)state;
    static const char *const workloads[] = {
        "alu:ctas=7:warps=4:iterations=9", "gather:ctas=3:warps=2:iterations=2:table=4MB",
        "HS:side=40:iterations=3",         "BFS2:nodes=600",
        "HS:side=20,vecadd:ctas=2",        "gather:ctas=1:warps=2:iterations=2:table=2MB,HS:side=20,alu:ctas=3"};
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "pwcache", "ideal-tlb", "mosaic"};
    struct pw_random random;
    pw_random_init(&random, 11, "windows");
    unsigned completed = 0;
    for (unsigned i = 0; i < MACHINES; i++) {
        struct random_machine m;
        machine_choose(&m, &random);
        struct pw_run_spec spec = {.machine = machine_one_of(&random, "mosaic", "volta"),
                                   .design = designs[pw_random_below(&random, 5)],
                                   .workload = workloads[pw_random_below(&random, 6)],
                                   .sets = m.sets,
                                   .set_count = m.count,
                                   .seed = i + 1,
                                   .breakdown = i % 2};
        completed += try_machine(spec, &random, i);
    }
    /* Some machines are refused; most must run, or this test would say nothing. */
    assert_true(completed > MACHINES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_any_machine_add_up_and_hold_no_more_than_their_cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
