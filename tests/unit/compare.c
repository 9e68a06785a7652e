/* Comparisons: which runs a grid stands for, each once; what rows say; mistakes before anything runs. */
#include "comparison.h"

#include <math.h>
#include <stdio.h>

static void expect_mistake(const struct pw_compare_spec *spec, const char *message)
{
    struct pw_compare *c;
    struct pw_error err = {0};
    assert_int_equal(pw_compare_create(spec, &c, &err), PW_USER_ERROR);
    assert_null(c);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not say \"%s\"", err.message, message);
}

/* "workload machine design k=v… seed" of a row's run. */
static void check_row(const struct pw_compare *c, size_t row, const char *expected)
{
    const struct pw_run_spec *s = &c->jobs[pw_compare_job(c, row)].spec;
    char text[256];
    size_t length = (size_t)snprintf(text, sizeof text, "%s %s %s ", s->workload, s->machine, s->design);
    for (size_t i = 0; i < s->set_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ", s->sets[i]);
    snprintf(text + length, sizeof text - length, "%llu", (unsigned long long)s->seed);
    assert_string_equal(text, expected);
    assert_true(s->breakdown);
}

static void every_combination_is_a_row_in_order(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {7, 9};
    struct pw_compare_spec spec = simple();
    spec.workloads = LIST("vecadd:n=1k", "alu,vecadd:n=1k");
    spec.workload_count = 2;
    spec.machines = LIST("mosaic", "kepler");
    spec.machine_count = 2;
    spec.sets = LIST("l2_tlb.base_entries=256,1024", "walk.walkers=8", "walk.model=memory,fixed");
    spec.set_count = 3;
    spec.seeds = seeds;
    spec.seed_count = 2;
    struct pw_compare *c = create(&spec);
    assert_int_equal(c->design_count, 2);
    assert_int_equal(c->values_count, 4);
    assert_int_equal(c->row_count, 2 * 2 * 2 * 4 * 2);
    assert_int_equal(c->job_count, c->row_count);
    for (size_t row = 0; row < c->row_count; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        assert_int_equal(pw_compare_row(c, &p), row);
    }
#define SETS(entries, model) "l2_tlb.base_entries=" entries " walk.walkers=8 walk.model=" model
    check_row(c, 0, "vecadd:n=1k mosaic ideal-tlb " SETS("256", "memory") " 7");
    check_row(c, 1, "vecadd:n=1k mosaic ideal-tlb " SETS("256", "memory") " 9");
    check_row(c, 2, "vecadd:n=1k mosaic ideal-tlb " SETS("256", "fixed") " 7");
    check_row(c, 4, "vecadd:n=1k mosaic ideal-tlb " SETS("1024", "memory") " 7");
    check_row(c, 8, "vecadd:n=1k mosaic gpu-mmu " SETS("256", "memory") " 7");
    check_row(c, 16, "vecadd:n=1k kepler ideal-tlb " SETS("256", "memory") " 7");
    check_row(c, 63, "alu,vecadd:n=1k kepler gpu-mmu " SETS("1024", "fixed") " 9");
    pw_compare_destroy(c);
}

static void the_same_options_are_one_run(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.designs = LIST("gpu-mmu", "sharedtlb", "ideal-tlb");
    spec.design_count = 3;
    spec.sets = LIST("page.size=4KB,2MB");
    spec.set_count = 1;
    struct pw_compare *c = create(&spec);
    assert_int_equal(c->design_count, 3); /* the reference is among the designs */
    assert_int_equal(c->references[0], 2);
    assert_int_equal(c->row_count, 6);
    assert_int_equal(c->job_count, 4);
    assert_int_equal(pw_compare_job(c, 0), pw_compare_job(c, 2));
    assert_int_equal(pw_compare_job(c, 1), pw_compare_job(c, 3));
    assert_int_not_equal(pw_compare_job(c, 0), pw_compare_job(c, 1));
    assert_int_not_equal(pw_compare_job(c, 0), pw_compare_job(c, 4));
    for (size_t j = 0; j < c->job_count; j++)
        assert_non_null(c->jobs[j].inputs.options);
    pw_compare_destroy(c);
}

static void a_design_that_lacks_an_option_runs_once_without_it(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.designs = LIST("gpu-mmu", "compress");
    spec.design_count = 2;
    spec.sets = LIST("l2_tlb.organisation.ratio=2,4", "walk.walkers=8,16");
    spec.set_count = 2;
    struct pw_compare *c = create(&spec);
    assert_int_equal(c->row_count, 3 * 4);
    assert_int_equal(c->job_count, 2 + 2 + 4);
    for (size_t row = 0; row < c->row_count; row++) {
        struct pw_compare_place p = pw_compare_place(c, row);
        assert_true(pw_compare_lacks(c, &p, 0) == (p.design < 2) && !pw_compare_lacks(c, &p, 1));
        assert_true(pw_compare_repeats(c, row) == (p.design < 2 && p.values >= 2));
    }
    assert_int_equal(pw_compare_job(c, 4), pw_compare_job(c, 6));
    check_row(c, 4, "vecadd:n=1k mosaic gpu-mmu walk.walkers=8 1");
    check_row(c, 11, "vecadd:n=1k mosaic compress l2_tlb.organisation.ratio=4 walk.walkers=16 1");
    struct pw_text csv = {0};
    pw_compare_csv(c, &csv);
    assert_non_null(strstr(csv.bytes, "\nmosaic,gpu-mmu,vecadd:n=1k,1,any,8,"));
    assert_null(strstr(csv.bytes, "\nmosaic,gpu-mmu,vecadd:n=1k,1,2,8,"));
    assert_non_null(strstr(csv.bytes, "\nmosaic,compress,vecadd:n=1k,1,4,16,"));
    pw_text_free(&csv);
    pw_compare_destroy(c);
    /* A value of another setting may have it. */
    spec.designs = LIST("gpu-mmu");
    spec.design_count = 1;
    spec.sets = LIST("l2_tlb.organisation=plain,compressed", "l2_tlb.organisation.ratio=2,4");
    c = create(&spec);
    assert_int_equal(c->job_count, 2 * (1 + 2));
    pw_compare_destroy(c);
    spec.sets = LIST("l2_tlb.organisation.ratio=2,4");
    spec.set_count = 1;
    expect_mistake(&spec, "-d gpu-mmu --set l2_tlb.organisation.ratio=2: --set: l2_tlb.organisation.ratio is an option "
                          "of l2_tlb.organisation=compressed; l2_tlb.organisation is plain");
    spec.designs = LIST("gpu-mmu", "compress");
    spec.design_count = 2;
    spec.sets = LIST("l2_tlb.organisation.ratio=2,7");
    expect_mistake(&spec, "-d compress --set l2_tlb.organisation.ratio=7: --set: l2_tlb.organisation.ratio = 7 is out");
}

static void workloads_have_the_sms_that_they_give(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.workloads = LIST("alu,vecadd:n=1k@20+10", "alu,vecadd:n=1k", "alu,vecadd:n=1k@10+20");
    spec.workload_count = 3;
    spec.designs = LIST("gpu-mmu", "sharedtlb");
    spec.design_count = 2;
    struct pw_compare *c = create(&spec);
    static const char *const sms[] = {"\napps.sms=20+10\n", "\napps.sms=even\n", "\napps.sms=10+20\n"};
    assert_int_equal(c->row_count, 9);
    assert_int_equal(c->job_count, 6); /* sharedtlb is gpu-mmu */
    for (size_t row = 0; row < c->row_count; row++) {
        const struct pw_run_inputs *inputs = &c->jobs[pw_compare_job(c, row)].inputs;
        assert_string_equal(inputs->workload, "alu,vecadd:n=1k");
        assert_non_null(strstr(inputs->options, sms[row / 3]));
    }
    check_row(c, 7, "alu,vecadd:n=1k@10+20 mosaic gpu-mmu 1");
    pw_compare_destroy(c);
    spec.workloads = LIST("alu", "alu,alu@20+11");
    spec.workload_count = 2;
    expect_mistake(&spec, "-m mosaic -d ideal-tlb -w alu,alu@20+11: workload 'alu,alu@20+11': more than the 30 SMs");
    spec.workloads = LIST("alu", "alu,alu@20+10");
    spec.sets = LIST("apps.sms=10");
    spec.set_count = 1;
    expect_mistake(&spec, "(@20+10), and so does --set apps.sms=10");
}

static void an_application_alone_is_a_run_that_rows_share(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.workloads = LIST("alu,vecadd:n=1k@20+10", "alu");
    spec.workload_count = 2;
    spec.designs = LIST("gpu-mmu", "mask");
    spec.design_count = 2;
    spec.sets = LIST("fill.epoch=1000,2000", "walk.walkers=8,16");
    spec.set_count = 2;
    spec.alone = true;
    struct pw_compare *c = create(&spec);
    assert_int_equal(c->grid_jobs, 2 * (2 + 2 + 4));
    /* With 8 and with 16 walkers two programs, and alu by itself, which is a row already. */
    assert_int_equal(c->job_count, c->grid_jobs + 2 * 2);
    static const char *const programs[] = {"alu", "vecadd:n=1k"}, *const sms[] = {"sm.count=20", "sm.count=10"};
    for (size_t i = 0; i < 4; i++) {
        const struct pw_run_spec *s = &c->jobs[c->grid_jobs + i].spec;
        assert_string_equal(s->design, "gpu-mmu");
        assert_string_equal(s->workload, programs[i % 2]);
        assert_int_equal(s->set_count, 3);
        assert_string_equal(s->sets[0], i < 2 ? "walk.walkers=8" : "walk.walkers=16");
        assert_string_equal(s->sets[1], sms[i % 2]);
        assert_false(s->breakdown);
    }
    pw_compare_destroy(c);
}

static double slowdown(const struct pw_compare *c, size_t row, size_t reference)
{
    return pw_compare_number(c, row, (struct pw_compare_column){PW_COMPARE_SLOWDOWN, reference});
}

static double mean_slowdown(const struct pw_compare *c, size_t row)
{
    return pw_compare_mean(c, row, (struct pw_compare_column){PW_COMPARE_SLOWDOWN, 0});
}

static double due(const struct pw_compare *c, size_t row)
{
    return pw_compare_number(c, row, (struct pw_compare_column){PW_COMPARE_DUE, 0});
}

static void slowdowns_are_against_the_row_that_differs_in_the_design_alone(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.references = LIST("ideal-tlb", "gpu-mmu");
    spec.reference_count = 2;
    spec.workloads = LIST("vecadd:n=1k", "alu");
    spec.workload_count = 2;
    spec.sets = LIST("walk.walkers=8,16");
    spec.set_count = 1;
    struct pw_compare *c = create(&spec);
    /* Of each workload: ideal-tlb with 8 and 16 walkers, then gpu-mmu. */
    static const uint64_t cycles[] = {100, 200, 250, 300, 1000, 2000, 40000, 2000};
    struct pw_stored_run *runs = give_cycles(c, cycles, sizeof cycles / sizeof *cycles);
    assert_true(slowdown(c, 0, 0) == 1 && slowdown(c, 1, 0) == 1);
    assert_true(slowdown(c, 2, 0) == 2.5 && slowdown(c, 3, 0) == 1.5);
    assert_true(slowdown(c, 6, 0) == 40 && slowdown(c, 7, 0) == 1);
    assert_true(slowdown(c, 2, 1) == 1 && slowdown(c, 0, 1) == 0.4);
    assert_true(due(c, 0) == 0 && due(c, 2) == 1 - 1 / 2.5 && due(c, 6) == 1 - 1.0 / 40);
    assert_true(fabs(pw_compare_mean(c, 2, (struct pw_compare_column){PW_COMPARE_DUE, 0}) - 0.9) < 1e-12);
    /* The geometric mean of 2.5 and 40. */
    assert_true(fabs(mean_slowdown(c, 2) - 10) < 1e-12);
    assert_true(fabs(mean_slowdown(c, 6) - 10) < 1e-12);
    let_go(c, runs);
}

static void what_has_no_run_has_no_numbers(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    spec.workloads = LIST("vecadd:n=1k", "alu");
    spec.workload_count = 2;
    struct pw_compare *c = create(&spec);
    static const uint64_t cycles[] = {0, 200, 300, 600};
    struct pw_stored_run *runs = give_cycles(c, cycles, sizeof cycles / sizeof *cycles);
    assert_true(isnan(slowdown(c, 0, 0)) && isnan(slowdown(c, 1, 0)));
    assert_true(slowdown(c, 3, 0) == 2);
    assert_true(isnan(mean_slowdown(c, 1)));
    for (size_t i = 0; i < c->column_count; i++)
        assert_true(isnan(pw_compare_number(c, 0, c->columns[i])));
    struct pw_text csv = {0}, json = {0}, table = {0};
    pw_compare_csv(c, &csv);
    pw_compare_json(c, &json);
    pw_compare_table(c, &table);
    assert_non_null(strstr(csv.bytes, "mosaic,ideal-tlb,vecadd:n=1k,1,,,,"));
    assert_non_null(strstr(json.bytes, "\"cycles\": null"));
    assert_non_null(strstr(table.bytes, "failed"));
    pw_text_free(&csv);
    pw_text_free(&json);
    pw_text_free(&table);
    let_go(c, runs);
}

static void a_row_says_what_the_metrics_of_its_run_do(void **state)
{
    (void)state;
    struct pw_compare_spec spec = simple();
    struct pw_compare *c = create(&spec);
    static const uint64_t cycles[] = {100, 250};
    struct pw_stored_run *runs = give_cycles(c, cycles, sizeof cycles / sizeof *cycles);
    /* Sorted by name, as a stored run has them. */
    static const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"gpu0.l1_tlb.hits", 3},       {"gpu0.l1_tlb.lookups", 4},  {"gpu0.l2_tlb.hits", 0},
        {"gpu0.l2_tlb.lookups", 0},    {"gpu0.sm.issued", 4000},    {"gpu0.walk.count", 6},
        {"gpu0.warp.barrier", 5},      {"gpu0.warp.data", 20},      {"gpu0.warp.dependency", 4},
        {"gpu0.warp.far_fault", 0},    {"gpu0.warp.issue", 1},      {"gpu0.warp.l1_tlb", 2},
        {"gpu0.warp.l2_tlb", 8},       {"gpu0.warp.lsu", 10},       {"gpu0.warp.lsu_full", 15},
        {"gpu0.warp.lsu_full_tlb", 7}, {"gpu0.warp.lsu_tlb", 8},    {"gpu0.warp.not_chosen", 2},
        {"gpu0.warp.paused", 0},       {"gpu0.warp.resident", 100}, {"gpu0.warp.walk_memory", 7},
        {"gpu0.warp.walk_queue", 11},
    };
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct pw_stored_metric metrics[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        metrics[i] = (struct pw_stored_metric){(char *)numbers[i].name, numbers[i].value};
    c->runs[1]->metrics = metrics;
    c->runs[1]->metric_count = COUNT;
    static const double expected[] = {250,  0, 2.5, 0.6,  0.75, NAN,  1.5,  NAN,  NAN,  NAN,
                                      0.12, 0, 0.2, 0.25, 0.15, 0.02, 0.08, 0.11, 0.07, 0};
    double sum = 0;
    assert_int_equal(c->column_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < c->column_count; i++) {
        double value = pw_compare_number(c, 1, c->columns[i]);
        if (isnan(expected[i]) ? !isnan(value) : fabs(value - expected[i]) > 1e-12)
            fail_msg("%s is %g", pw_compare_column_name(c->columns[i]), value);
        sum += c->columns[i].kind >= PW_COMPARE_SHARE ? value : 0;
    }
    assert_true(fabs(sum - 1) < 1e-12); /* no state of warps is forgotten */
    let_go(c, runs);
}

static void a_text_keeps_its_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        const char *last;
    } cases[] = {
        {"uvm.advice=a:read-mostly,b:accessed-by", 1, "a:read-mostly,b:accessed-by"},
        {"apps.sms=20+10", 1, "20+10"},
        {"l2_tlb.base_entries=256", 1, "256"},
        {"l2_tlb.base_entries=256,512,1k", 3, "1k"},
        {"walk.model=memory,fixed", 2, "fixed"},
        {"pwc.enabled=on,off", 2, "off"},
        {"dram.bytes=1GB,2GB", 2, "2GB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_setting s;
        struct pw_error err = {0};
        if (pw_setting_read(cases[i].text, &s, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_int_equal(s.value_count, cases[i].count);
        assert_string_equal(s.values[s.value_count - 1], cases[i].last);
        assert_int_equal(pw_setting_has_several(cases[i].text), cases[i].count > 1);
        pw_setting_release(&s);
    }
    assert_false(pw_setting_has_several("no.such_option=1,2"));
    assert_false(pw_setting_has_several("l2_tlb,enabled"));
}

static void mistakes_are_found_before_a_run(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
    } sets[] = {
        {"l2_tlb.base_entires=1", "l2_tlb.base_entries"},
        {"l2_tlb.base_entries=256,banana", "banana"},
        {"l2_tlb.base_entries=256,,512", "a value is missing beside a comma"},
        {"l2_tlb.base_entries=256,512,256", "256 is there twice"},
        {"l2_tlb.base_entries", "KEY=VALUE"},
        {"sm.warps=64,1", "sm.schedulers = 2 is more than sm.warps = 1"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct pw_compare_spec spec = simple();
        spec.machines = LIST("kepler");
        spec.sets = &sets[i].set;
        spec.set_count = 1;
        expect_mistake(&spec, sets[i].message);
    }
    struct pw_compare_spec spec = simple();
    spec.sets = LIST("walk.walkers=8", "walk.walkers=9");
    spec.set_count = 2;
    expect_mistake(&spec, "walk.walkers=8,9");
    spec = simple();
    spec.machines = LIST("mosaic", "kepler");
    spec.machine_count = 2;
    spec.sets = LIST("sm.warps=1");
    spec.set_count = 1;
    expect_mistake(&spec, "-m kepler -d ideal-tlb --set sm.warps=1: sm.schedulers");
    spec = simple();
    spec.references = LIST("idael-tlb");
    expect_mistake(&spec, "unknown design 'idael-tlb'");
    spec = simple();
    spec.workloads = LIST("vecadd", "vecadd");
    spec.workload_count = 2;
    expect_mistake(&spec, "vecadd is given twice");
    spec.workloads = LIST("vecadd", "vecad");
    expect_mistake(&spec, "did you mean");
}

static void too_many_runs_are_refused(void **state)
{
    (void)state;
    struct pw_text set = {0};
    pw_text_add(&set, "walk.walkers=1");
    for (unsigned i = 2; i <= 200; i++)
        pw_text_print(&set, ",%u", i);
    struct pw_compare_spec spec = simple();
    char *second = strdup(set.bytes);
    assert_non_null(second);
    memcpy(second, "l2_tlb.mshrs", sizeof "l2_tlb.mshrs" - 1); /* as long */
    spec.sets = LIST(set.bytes, second);
    spec.set_count = 2;
    expect_mistake(&spec, "more than 20000 runs");
    free(second);
    pw_text_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_a_row_in_order),
        cmocka_unit_test(the_same_options_are_one_run),
        cmocka_unit_test(a_design_that_lacks_an_option_runs_once_without_it),
        cmocka_unit_test(workloads_have_the_sms_that_they_give),
        cmocka_unit_test(an_application_alone_is_a_run_that_rows_share),
        cmocka_unit_test(slowdowns_are_against_the_row_that_differs_in_the_design_alone),
        cmocka_unit_test(what_has_no_run_has_no_numbers),
        cmocka_unit_test(a_row_says_what_the_metrics_of_its_run_do),
        cmocka_unit_test(a_text_keeps_its_commas),
        cmocka_unit_test(mistakes_are_found_before_a_run),
        cmocka_unit_test(too_many_runs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
