/* Numbers of figures from runs made by hand: every metric, alone runs, means, verdicts, and what happens where a run or
 * a metric is missing. */
#include "exp/figure/evaluate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RUNS = 16, METRICS = 5 };

/* Runs by their jobs. Values of job j: see make_runs. */
struct fixture {
    struct pw_figure *figure;
    struct pw_plan plan;
    struct pw_stored_run made[MAX_RUNS], *runs[MAX_RUNS];
    struct pw_stored_app apps[MAX_RUNS][4];
    struct pw_stored_metric metrics[MAX_RUNS][METRICS];
};

/* A workload of two, "alu:scale=1,alu:scale=2", and one of one. IPC of application a in job j is (a + 1) / (j + 2). */
static double ipc(int job, unsigned app)
{
    return (app + 1.0) / (job + 2.0);
}

static void make_runs(struct fixture *f)
{
    static char hits[] = "gpu0.l1_tlb.hits", option[] = "option.sm.count";
    static char app_hits[2][32] = {"app0.l1_tlb.hits", "app1.l1_tlb.hits"};
    for (size_t j = 0; j < f->plan.job_count; j++) {
        const struct pw_job *job = &f->plan.jobs[j];
        unsigned count = strchr(job->workload, ',') ? 2 : 1;
        double sum = 0;
        size_t metrics = 0;
        for (unsigned a = 0; a < count; a++) {
            f->apps[j][a] = (struct pw_stored_app){.ipc = ipc((int)j, a), .cycles = 1000 * j + a, .sms = 10 + a};
            sum += ipc((int)j, a);
            f->metrics[j][metrics++] = (struct pw_stored_metric){app_hits[a], 100.0 * (double)j + a + 1};
        }
        f->metrics[j][metrics++] = (struct pw_stored_metric){hits, (double)j + 1};
        f->metrics[j][metrics++] = (struct pw_stored_metric){option, 30};
        f->made[j] = (struct pw_stored_run){.machine = job->machine,
                                            .design = job->design,
                                            .workload = job->workload,
                                            .cycles = 5000 + j,
                                            .nanoseconds = 0.5 * (double)j,
                                            .ipc_throughput = sum,
                                            .app_count = count,
                                            .apps = f->apps[j],
                                            .metric_count = metrics,
                                            .metrics = f->metrics[j]};
        f->runs[j] = &f->made[j];
    }
}

static void set_up(struct fixture *f, const char *expressions)
{
    char text[2048];
    struct pw_error err = {0};
    *f = (struct fixture){0};
    snprintf(text, sizeof text,
             "title: T\nmachine: mosaic\n"
             "variants: {a: {design: gpu-mmu}, b: {design: ideal-tlb}}\n"
             "workloads:\n  pair: {list: \"alu:scale=1,alu:scale=2\"}\n  one: {list: \"alu:scale=3\"}\n%s",
             expressions);
    if (pw_figure_read(text, strlen(text), "f", "n", PW_FULL, &f->figure, &err) != PW_OK ||
        pw_plan_add(&f->plan, f->figure, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_true(f->plan.job_count <= MAX_RUNS);
    make_runs(f);
}

static void tear_down(struct fixture *f)
{
    pw_plan_release(&f->plan);
    pw_figure_free(f->figure);
}

static struct pw_figure_outcome evaluate(const struct fixture *f)
{
    struct pw_figure_outcome o;
    struct pw_error err = {0};
    if (pw_figure_evaluate(&f->plan.figures[0], f->runs, &o, &err) != PW_OK)
        fail_msg("%s", err.message);
    return o;
}

/* A column's values, one for each item; NAN matches NAN. */
static void check_column(const struct pw_figure_outcome *o, size_t column, size_t count, const double *expected)
{
    const struct pw_vector *v = &o->columns[column];
    assert_int_equal(v->count, count);
    for (size_t i = 0; i < count; i++)
        if (isnan(expected[i]) ? !isnan(v->items[i].value)
                               : !(fabs(v->items[i].value - expected[i]) <= 1e-12 * fabs(expected[i])))
            fail_msg("%s [%zu]: %.17g, not %.17g", o->figure->columns[column].heading, i, v->items[i].value,
                     expected[i]);
}

static void a_numbered_application_is_a_value_of_the_run(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "measures: {first: app0.ipc, second: app1.l1_tlb.hits, fast: app1.speedup, all: app.ipc}\n"
               "table:\n  1: first@a\n  2: second@a[pair]\n  3: all@a / first@a\n  4: fast@a[pair]\n");
    struct pw_figure_outcome o = evaluate(&f);
    int pair = f.plan.figures[0].together[0], one = f.plan.figures[0].together[1];
    check_column(&o, 0, 2, (double[]){ipc(pair, 0), ipc(one, 0)});
    check_column(&o, 1, 1, (double[]){100.0 * pair + 2});
    check_column(&o, 2, 3, (double[]){1, 2, 1});
    check_column(&o, 3, 1, (double[]){ipc(pair, 1) / ipc(f.plan.figures[0].baseline[1], 0)});
    pw_figure_outcome_release(&o);
    tear_down(&f);
}

static void an_application_that_a_workload_lacks_is_a_mistake(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_figure_outcome o;
    struct pw_error err = {0};
    set_up(&f, "measures: {second: app1.ipc}\ntable: {1: second@a}\n");
    assert_int_equal(pw_figure_evaluate(&f.plan.figures[0], f.runs, &o, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "has no metric 'app1.ipc'"));
    tear_down(&f);
}

static void metrics_are_those_of_the_run_and_the_application(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f,
           "measures:\n  c: cycles\n  ns: nanoseconds\n  i: ipc\n  n: apps\n  h: l1_tlb.hits\n  o: option.sm.count\n"
           "  ah: app.l1_tlb.hits\n  ai: app.ipc\n  ac: app.cycles\n  as: app.sms\n  mixed: app.ipc / ipc\n"
           "table:\n  1: c@a\n  2: ns@a\n  3: i@a\n  4: n@a\n  5: h@a\n  6: o@a\n"
           "  7: ah@a\n  8: ai@a\n  9: ac@a\n  10: as@a\n  11: mixed@a\n  12: 2 * h@a[one]\n");
    assert_int_equal(f.plan.job_count, 2); /* 0: the pair, 1: the one */
    struct pw_figure_outcome o = evaluate(&f);
    assert_true(o.runs_needed == 2 && o.runs_there == 2 && o.figure == f.figure);
    check_column(&o, 0, 2, (double[]){5000, 5001});
    check_column(&o, 1, 2, (double[]){0, 0.5});
    check_column(&o, 2, 2, (double[]){1.5, 1.0 / 3});
    check_column(&o, 3, 2, (double[]){2, 1});
    check_column(&o, 4, 2, (double[]){1, 2});
    check_column(&o, 5, 2, (double[]){30, 30});
    check_column(&o, 6, 3, (double[]){1, 2, 101});
    check_column(&o, 7, 3, (double[]){0.5, 1, 1.0 / 3});
    check_column(&o, 8, 3, (double[]){0, 1, 1000});
    check_column(&o, 9, 3, (double[]){10, 11, 10});
    check_column(&o, 10, 3, (double[]){1.0 / 3, 2.0 / 3, 1});
    check_column(&o, 11, 1, (double[]){4});
    assert_true(o.columns[6].items[1].workload == 0 && o.columns[6].items[1].app == 1);
    assert_true(o.columns[11].items[0].workload == 1 && o.columns[11].items[0].app == -1);
    pw_figure_outcome_release(&o);
    tear_down(&f);
}

static void speedups_are_over_each_application_alone_with_the_baseline(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "measures: {ws: weighted_speedup, u: unfairness, s: app.speedup, h: l1_tlb.hits, i: ipc}\n"
               "table: {1: ws@b, 2: u@b, 3: s@b, 4: h@b / h@b:alone, 5: ws@b:alone, 6: i@b:alone}\n");
    const struct pw_plan_figure *p = &f.plan.figures[0];
    unsigned apps = p->apps; /* 2 workloads, variant b */
    const int *together = &p->together[2], *baseline = &p->baseline[2 * apps], *alone = &p->alone[2 * apps];
    double s0 = ipc(together[0], 0) / ipc(baseline[0], 0), s1 = ipc(together[0], 1) / ipc(baseline[1], 0);
    double s2 = ipc(together[1], 0) / ipc(baseline[2], 0);
    assert_true(s0 != s1 && baseline[0] != alone[0] && alone[2] == together[1]);
    struct pw_figure_outcome o = evaluate(&f);
    check_column(&o, 0, 2, (double[]){s0 + s1, s2});
    check_column(&o, 1, 2, (double[]){fmax(1 / s0, 1 / s1), 1 / s2});
    check_column(&o, 2, 3, (double[]){s0, s1, s2});
    double h = together[0] + 1;
    check_column(&o, 3, 3, (double[]){h / (alone[0] + 1), h / (alone[1] + 1), 1});
    check_column(&o, 4, 3,
                 (double[]){ipc(alone[0], 0) / ipc(baseline[0], 0), ipc(alone[1], 0) / ipc(baseline[1], 0), s2});
    check_column(&o, 5, 3, (double[]){ipc(alone[0], 0), ipc(alone[1], 0), ipc(alone[2], 0)});
    assert_int_equal(o.runs_needed, f.plan.job_count);
    pw_figure_outcome_release(&o);

    /* Without one application alone, what is computed from it is unknown, and nothing else. */
    f.runs[baseline[1]] = NULL;
    o = evaluate(&f);
    check_column(&o, 0, 2, (double[]){NAN, s2});
    check_column(&o, 1, 2, (double[]){NAN, 1 / s2});
    check_column(&o, 2, 3, (double[]){s0, NAN, s2});
    assert_int_equal(o.runs_there + 1, o.runs_needed);
    pw_figure_outcome_release(&o);
    tear_down(&f);
}

static void claims_are_judged_by_their_rows(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "measures: {h: l1_tlb.hits, i: ipc}\n"
               "claims:\n"
               "  mosaic-fig03-4k-loss: 48.1 * mean(h@a / h@a)\n"
               "  mosaic-fig03-2m-within: 3 * mean(h@a / h@a)\n"
               "  mosaic-fig04-worse-with-apps: 90 * mean(h@a / h@a); 95 * mean(h@a / h@a); 99 * mean(h@b / h@b)\n");
    struct pw_figure_outcome o = evaluate(&f);
    assert_string_equal(o.claims[0].claim->id, "mosaic-fig03-4k-loss");
    assert_true(o.claims[0].count == 1 && o.claims[0].values[0] == 48.1 && o.claims[0].verdict == PW_HOLDS);
    assert_true(o.claims[1].values[0] == 3 && o.claims[1].verdict == PW_DIFFERS);
    assert_true(o.claims[2].count == 3 && o.claims[2].values[1] == 95 && o.claims[2].verdict == PW_HOLDS);
    pw_figure_outcome_release(&o);
    for (size_t j = 0; j < f.plan.job_count; j++)
        if (!strcmp(f.plan.jobs[j].design, "ideal-tlb"))
            f.runs[j] = NULL;
    o = evaluate(&f);
    assert_true(o.claims[0].verdict == PW_HOLDS && o.claims[2].verdict == PW_NOT_RUN && isnan(o.claims[2].values[2]));
    assert_true(o.runs_needed == 4 && o.runs_there == 2);
    pw_figure_outcome_release(&o);
    tear_down(&f);
}

static void runs_that_lack_a_metric_are_named(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_figure_outcome o;
    struct pw_error err = {0};
    set_up(&f, "measures: {h: l2_tlb.hits}\ntable: {1: h@b}\n");
    assert_int_equal(pw_figure_evaluate(&f.plan.figures[0], f.runs, &o, &err), PW_USER_ERROR);
    assert_string_equal(err.message,
                        "n: measure 'h': the run of 'alu:scale=1,alu:scale=2' on mosaic with ideal-tlb has no "
                        "metric 'gpu0.l2_tlb.hits'");
    for (size_t j = 0; j < f.plan.job_count; j++)
        f.runs[j] = NULL;
    o = evaluate(&f);
    check_column(&o, 0, 2, (double[]){NAN, NAN});
    assert_true(o.runs_there == 0 && o.runs_needed == 2);
    pw_figure_outcome_release(&o);
    tear_down(&f);
}

static void a_measure_of_runs_on_two_gpus_is_that_of_both_together(void **state)
{
    (void)state;
    struct pw_stored_metric metrics[] = {{(char[]){"gpu0.l1_tlb.hits"}, 3},
                                         {(char[]){"gpu1.l1_tlb.hits"}, 4},
                                         {(char[]){"gpus.l1_tlb.hits"}, 7},
                                         {(char[]){"option.gpu.count"}, 2}};
    struct fixture f;
    struct pw_error err = {0};
    double value = 0;
    set_up(&f, "measures: {h: l1_tlb.hits}\ntable: {1: h@b}\n");
    for (size_t j = 0; j < f.plan.job_count; j++) {
        f.made[j].metrics = metrics;
        f.made[j].metric_count = sizeof metrics / sizeof *metrics;
    }
    struct pw_figure_outcome o = evaluate(&f);
    check_column(&o, 0, 2, (double[]){7, 7});
    pw_figure_outcome_release(&o);
    assert_true(pw_stored_run_measure(f.runs[0], "gpu1.l1_tlb.hits", &value) && value == 4);
    assert_false(pw_stored_run_measure(f.runs[0], "gpu2.l1_tlb.hits", &value));
    for (size_t j = 0; j < f.plan.job_count; j++) {
        f.made[j].metrics = &metrics[3];
        f.made[j].metric_count = 1;
    }
    assert_int_equal(pw_figure_evaluate(&f.plan.figures[0], f.runs, &o, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "has no metric 'gpus.l1_tlb.hits'"));
    tear_down(&f);
}

static void stored_runs_with_other_applications_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_figure_outcome o;
    struct pw_error err = {0};
    set_up(&f, "measures: {h: app.ipc}\ntable: {1: h@a}\n");
    f.made[0].app_count = 1;
    assert_int_equal(pw_figure_evaluate(&f.plan.figures[0], f.runs, &o, &err), PW_FAILED);
    assert_string_equal(err.message, "n: the run of 'alu:scale=1,alu:scale=2' has 1 applications in the store, not 2");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_those_of_the_run_and_the_application),
        cmocka_unit_test(a_numbered_application_is_a_value_of_the_run),
        cmocka_unit_test(an_application_that_a_workload_lacks_is_a_mistake),
        cmocka_unit_test(speedups_are_over_each_application_alone_with_the_baseline),
        cmocka_unit_test(claims_are_judged_by_their_rows),
        cmocka_unit_test(runs_that_lack_a_metric_are_named),
        cmocka_unit_test(a_measure_of_runs_on_two_gpus_is_that_of_both_together),
        cmocka_unit_test(stored_runs_with_other_applications_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
