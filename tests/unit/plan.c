/* Plans of runs: each run once, only those that somebody asks for, and applications alone on the SMs they have beside
 * the others. */
#include "exp/figure/plan.h"
#include "exp/figure/sizes.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "title: T\nmachine: mosaic\n" /* 30 SMs */

static struct pw_figure *read_text(const char *text)
{
    struct pw_figure *f;
    struct pw_error err = {0};
    if (pw_figure_read(text, strlen(text), "f", "test/figure", PW_QUICK, &f, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f;
}

static void add(struct pw_plan *plan, const struct pw_figure *f)
{
    struct pw_error err = {0};
    if (pw_plan_add(plan, f, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
}

/* "design machine sets… workload" of a job. */
static void check_job(const struct pw_plan *plan, int job, const char *expected)
{
    assert_true(job >= 0 && (size_t)job < plan->job_count);
    const struct pw_job *j = &plan->jobs[job];
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%s %s ", j->design, j->machine);
    for (size_t i = 0; i < j->set_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ", j->sets[i]);
    snprintf(text + length, sizeof text - length, "%s", j->workload);
    assert_string_equal(text, expected);
}

static void only_what_is_asked_for_is_run(void **state)
{
    (void)state;
    struct pw_figure *f =
        read_text(HEAD "variants: {a: {design: gpu-mmu}, b: {design: ideal-tlb}, c: {design: pwcache}}\n"
                       "workloads:\n  one: {list: \"vecadd:scale=1\"}\n  two: {list: \"alu:scale=1\"}\n"
                       "measures: {speed: ipc, unused: weighted_speedup}\n"
                       "table: {x: speed@a}\n"
                       "claims:\n  mosaic-fig03-4k-loss: mean(speed@b[two])\n");
    struct pw_plan plan = {0};
    add(&plan, f);
    assert_int_equal(plan.job_count, 3);
    assert_int_equal(plan.figure_count, 1);
    const struct pw_plan_figure *p = &plan.figures[0];
    assert_true(p->figure == f && p->apps == 1);
    check_job(&plan, p->together[0], "gpu-mmu mosaic vecadd:scale=1");
    check_job(&plan, p->together[1], "gpu-mmu mosaic alu:scale=1");
    assert_int_equal(p->together[2], -1);
    check_job(&plan, p->together[3], "ideal-tlb mosaic alu:scale=1");
    assert_true(p->together[4] == -1 && p->together[5] == -1);
    for (size_t i = 0; i < 6; i++)
        assert_true(p->baseline[i] == -1 && p->alone[i] == -1);
    pw_plan_release(&plan);
    pw_figure_free(f);
}

static void applications_alone_have_the_sms_they_have_together(void **state)
{
    (void)state;
    struct pw_figure *f =
        read_text(HEAD "set: dram.channels=4\n"
                       "variants: {a: {design: ideal-tlb, set: l2_tlb.ports=1}}\n"
                       "workloads: {w: {list: \"vecadd:scale=1,alu:scale=1,alu:scale=1,alu:scale=2 alu:scale=2\"}}\n"
                       "measures: {ws: weighted_speedup, miss: l1_tlb.hits}\n"
                       "table: {x: ws@a, y: miss@a:alone}\n");
    struct pw_plan plan = {0};
    add(&plan, f);
    const struct pw_plan_figure *p = &plan.figures[0];
    assert_int_equal(p->apps, 4);
    /* 30 over 4: 8, 8, 7, 7. */
    check_job(&plan, p->baseline[0], "gpu-mmu mosaic dram.channels=4 sm.count=8 apps.sms=even vecadd:scale=1");
    check_job(&plan, p->baseline[1], "gpu-mmu mosaic dram.channels=4 sm.count=8 apps.sms=even alu:scale=1");
    check_job(&plan, p->baseline[2], "gpu-mmu mosaic dram.channels=4 sm.count=7 apps.sms=even alu:scale=1");
    check_job(&plan, p->baseline[3], "gpu-mmu mosaic dram.channels=4 sm.count=7 apps.sms=even alu:scale=2");
    check_job(&plan, p->alone[2],
              "ideal-tlb mosaic dram.channels=4 l2_tlb.ports=1 sm.count=7 apps.sms=even alu:scale=1");
    /* The second workload: its run together is its run alone; the places of applications it lacks stay empty. */
    assert_int_equal(p->alone[4], p->together[1]);
    check_job(&plan, p->together[1], "ideal-tlb mosaic dram.channels=4 l2_tlb.ports=1 alu:scale=2");
    assert_true(p->alone[5] == -1 && p->baseline[5] == -1);
    assert_int_equal(plan.job_count, 4 + 4 + 2 + 1);
    pw_plan_release(&plan);
    pw_figure_free(f);
}

/* mask-sec6-alone-def: as many SMs as the workload gives it. The SMs are an option, so the same ones given by an option
 * are the same run. */
static void applications_alone_have_the_sms_that_are_given(void **state)
{
    (void)state;
    struct pw_figure *f =
        read_text(HEAD "variants: {a: {design: ideal-tlb}}\n"
                       "workloads: {w: {list: \"vecadd:scale=1,alu:scale=1@20+9 vecadd:scale=1,alu:scale=1 "
                       "alu:scale=1,vecadd:scale=1@9+20 alu:scale=1@9\"}}\n"
                       "measures: {ws: weighted_speedup, miss: l1_tlb.hits}\n"
                       "table: {x: ws@a, y: miss@a:alone}\n");
    struct pw_figure *set = read_text(HEAD "variants: {a: {design: ideal-tlb, set: apps.sms=20+9}}\n"
                                           "workloads: {w: {list: \"vecadd:scale=1,alu:scale=1\"}}\n"
                                           "measures: {ws: weighted_speedup}\ntable: {x: ws@a}\n");
    struct pw_plan plan = {0};
    add(&plan, f);
    const struct pw_plan_figure *p = &plan.figures[0];
    check_job(&plan, p->together[0], "ideal-tlb mosaic vecadd:scale=1,alu:scale=1@20+9");
    check_job(&plan, p->baseline[0], "gpu-mmu mosaic sm.count=20 apps.sms=even vecadd:scale=1");
    check_job(&plan, p->baseline[1], "gpu-mmu mosaic sm.count=9 apps.sms=even alu:scale=1");
    check_job(&plan, p->alone[0], "ideal-tlb mosaic sm.count=20 apps.sms=even vecadd:scale=1");
    check_job(&plan, p->alone[1], "ideal-tlb mosaic sm.count=9 apps.sms=even alu:scale=1");
    assert_non_null(strstr(plan.jobs[p->together[0]].options, "\napps.sms=20+9\n"));
    /* Without them, after one with them: evenly. */
    assert_non_null(strstr(plan.jobs[p->together[1]].options, "\napps.sms=even\n"));
    check_job(&plan, p->baseline[2], "gpu-mmu mosaic sm.count=15 apps.sms=even vecadd:scale=1");
    check_job(&plan, p->baseline[3], "gpu-mmu mosaic sm.count=15 apps.sms=even alu:scale=1");
    /* The other way round: other runs together, the same ones alone. */
    assert_int_not_equal(p->together[2], p->together[0]);
    assert_true(p->baseline[4] == p->baseline[1] && p->baseline[5] == p->baseline[0] && p->alone[4] == p->alone[1]);
    check_job(&plan, p->together[3], "ideal-tlb mosaic alu:scale=1@9");
    assert_true(p->baseline[6] == p->baseline[1] && p->alone[6] == p->alone[1]);
    assert_int_equal(plan.job_count, 4 + 8);
    size_t before = plan.job_count;
    add(&plan, set);
    assert_int_equal(plan.job_count, before);
    assert_int_equal(plan.figures[1].together[0], plan.figures[0].together[0]);
    pw_plan_release(&plan);
    pw_figure_free(f);
    pw_figure_free(set);
}

static void runs_with_the_same_inputs_are_one(void **state)
{
    (void)state;
    /* sharedtlb is gpu-mmu by another name, 30 SMs are the machine's own, and vecadd is the only one on the GPU. */
    struct pw_figure *f =
        read_text(HEAD "variants:\n  a: {design: gpu-mmu}\n  b: {design: sharedtlb}\n"
                       "  c: {design: gpu-mmu, set: sm.count=30}\n  d: {design: gpu-mmu, set: sm.count=29}\n"
                       "workloads: {w: {list: \"vecadd:scale=1\"}}\n"
                       "measures: {ws: weighted_speedup}\n"
                       "table: {x: ws@a, y: ws@b, z: ws@c:alone, u: ws@d}\n");
    struct pw_figure *other = read_text(HEAD "seed: 1\nvariants: {z: {design: baseline}}\n"
                                             "workloads: {w: {list: \"vecadd:scale=1\"}}\n"
                                             "measures: {speed: ipc}\ntable: {x: speed@z}\n");
    struct pw_figure *seeded = read_text(HEAD "seed: 2\nvariants: {z: {design: baseline}}\n"
                                              "workloads: {w: {list: \"vecadd:scale=1\"}}\n"
                                              "measures: {speed: ipc}\ntable: {x: speed@z}\n");
    struct pw_plan plan = {0};
    add(&plan, f);
    assert_int_equal(plan.job_count, 2);
    const struct pw_plan_figure *p = &plan.figures[0];
    assert_true(p->together[0] == 0 && p->together[1] == 0 && p->alone[2] == 0 && p->baseline[0] == 0);
    assert_true(p->together[2] == -1 && p->together[3] == 1 && p->baseline[3] == 1);
    add(&plan, other);
    assert_int_equal(plan.job_count, 2);
    assert_int_equal(plan.figures[1].together[0], 0);
    add(&plan, seeded);
    assert_int_equal(plan.job_count, 3);
    assert_int_equal(plan.jobs[2].seed, 2);
    assert_ptr_equal(plan.jobs[2].options, plan.jobs[0].options);
    struct pw_run_spec spec = {.machine = "mosaic", .design = "gpu-mmu"};
    char *options;
    assert_int_equal(pw_run_options(&spec, &options, NULL), PW_OK);
    assert_string_equal(plan.jobs[0].options, options);
    free(options);
    pw_plan_release(&plan);
    pw_figure_free(f);
    pw_figure_free(other);
    pw_figure_free(seeded);
}

/* Copies end together; beside a longer program a shorter one starts over, with its pages, until that has ended. */
static void programs_that_start_over_cost_as_often(void **state)
{
    (void)state;
    struct pw_figure *f =
        read_text(HEAD "variants: {a: {design: gpu-mmu, set: paging.mode=demand}, b: {design: gpu-mmu}}\n"
                       "workloads: {w: {list: \"HS HS,HS NN,RED HS,HS@20+10\"}}\n"
                       "measures: {speed: ipc}\ntable: {x: speed@a / speed@b}\n");
    struct pw_plan plan = {0};
    struct pw_sizes sizes;
    struct pw_error err;
    add(&plan, f);
    assert_int_equal(pw_sizes_load(&sizes, &err), PW_OK);
    double nn = pw_sizes_seconds(&sizes, "NN", PW_QUICK), red = pw_sizes_seconds(&sizes, "RED", PW_QUICK);
    double left = pw_sizes_milliseconds(&sizes, "RED", PW_QUICK) - pw_sizes_milliseconds(&sizes, "NN", PW_QUICK);
    double times = 1 + left / pw_sizes_again_milliseconds(&sizes, "NN", PW_QUICK);
    assert_true(times > 2);
    assert_true(plan.jobs[1].cost == 2 * plan.jobs[0].cost);
    assert_true(plan.jobs[2].cost > (red + times * nn) * 0.999 && plan.jobs[2].cost < (red + times * nn) * 1.001);
    /* With half of the SMs it takes twice the time. */
    double first = pw_sizes_milliseconds(&sizes, "HS", PW_QUICK) / pw_sizes_again_milliseconds(&sizes, "HS", PW_QUICK);
    double expected = (2 + first) * plan.jobs[0].cost;
    assert_true(plan.jobs[3].cost > expected * 0.999 && plan.jobs[3].cost < expected * 1.001);
    /* Without paging the first run takes no longer than the others. */
    double often =
        pw_sizes_again_milliseconds(&sizes, "RED", PW_QUICK) / pw_sizes_again_milliseconds(&sizes, "NN", PW_QUICK);
    assert_true(plan.jobs[6].cost > (red + often * nn) * 0.999 && plan.jobs[6].cost < (red + often * nn) * 1.001);
    pw_sizes_release(&sizes);
    pw_plan_release(&plan);
    pw_figure_free(f);
}

static void what_cannot_run_is_found_before_anything_runs(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *message;
    } table[] = {
        {"{design: gpu-mmmu}", "test/figure: variant 'a': unknown design 'gpu-mmmu'; did you mean"},
        {"{design: gpu-mmu, machine: mosaik}", "test/figure: variant 'a': unknown machine 'mosaik'; did you mean"},
        {"{design: gpu-mmu, set: sm.cont=3}", "test/figure: variant 'a': unknown option 'sm.cont'; did you mean"},
        {"{design: gpu-mmu, set: apps.sms=10+20+1}", "test/figure: variant 'a': "},
        {"{design: gpu-mmu, machine: fermi}",
         "test/figure: variant 'a': workload 'alu:scale=0.1,alu:scale=0.1@20+10': more than the 15 SMs"},
        {"{design: gpu-mmu, set: apps.sms=10+20}", "test/figure: variant 'a': the workload gives the applications"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD "variants: {a: %s}\nworkloads: {w: {list: \"alu,alu%s\"}}\nmeasures: {ws: weighted_speedup}\n"
                      "table: {x: ws@a}\n",
                 table[i].variant, i > 3 ? "@20+10" : "");
        struct pw_figure *f = read_text(text);
        struct pw_plan plan = {0};
        struct pw_error err = {0};
        assert_int_equal(pw_plan_add(&plan, f, 1, &err), PW_USER_ERROR);
        if (strncmp(err.message, table[i].message, strlen(table[i].message)) != 0)
            fail_msg("%s", err.message);
        pw_plan_release(&plan);
        pw_figure_free(f);
    }
}

static void embedded_figures_can_all_be_planned(void **state)
{
    (void)state;
    enum { CAPACITY = 512 };
    for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
        struct pw_figure *figures[CAPACITY];
        struct pw_plan plan = {0};
        struct pw_error err = {0};
        size_t count = 0;
        for (const struct pw_figure_file *file = pw_figure_files; file->name && count < CAPACITY; file++) {
            if (pw_figure_load(file->name, scope, &figures[count], &err) != PW_OK)
                fail_msg("%s", err.message);
            add(&plan, figures[count++]);
        }
        double cost = 0;
        for (size_t i = 0; i < plan.job_count; i++) {
            assert_true(plan.jobs[i].cost > 0);
            cost += plan.jobs[i].cost;
        }
        print_message("%s: %zu figures, %zu runs, %.0f CPU seconds\n", scope == PW_QUICK ? "quick" : "full", count,
                      plan.job_count, cost);
        pw_plan_release(&plan);
        while (count > 0)
            pw_figure_free(figures[--count]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_asked_for_is_run),
        cmocka_unit_test(applications_alone_have_the_sms_they_have_together),
        cmocka_unit_test(applications_alone_have_the_sms_that_are_given),
        cmocka_unit_test(runs_with_the_same_inputs_are_one),
        cmocka_unit_test(programs_that_start_over_cost_as_often),
        cmocka_unit_test(what_cannot_run_is_found_before_anything_runs),
        cmocka_unit_test(embedded_figures_can_all_be_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
