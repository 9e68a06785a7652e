/* Null designs: which design stands for which, by the columns of a claim's row and what a figure says, and the verdicts
 * that follow, from runs made by hand: a claim holds, is weak, differs, or is not run. */
#include "exp/claim/claim_format.h"
#include "exp/figure/evaluate.h"
#include "exp/figure/figure_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RUNS = 64, SEEDS = 3 };

struct fixture {
    struct pw_figure *figure;
    struct pw_plan plan;
    struct pw_stored_run made[MAX_RUNS], *runs[MAX_RUNS];
    struct pw_stored_app apps[MAX_RUNS];
    struct pw_stored_metric metrics[MAX_RUNS];
    struct pw_figure_outcome outcome;
};

static void read_figure(struct fixture *f, const char *variants, const char *rest, unsigned seeds)
{
    char text[4096];
    struct pw_error err = {0};
    *f = (struct fixture){0};
    snprintf(text, sizeof text,
             "title: T\nmachine: mosaic\nset: paging.mode=demand\nvariants:\n%s"
             "workloads: {one: {list: \"alu:scale=1\"}}\n%s",
             variants, rest);
    if (pw_figure_read(text, strlen(text), "f", "n", PW_FULL, &f->figure, &err) != PW_OK ||
        pw_plan_add(&f->plan, f->figure, seeds, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_true(f->plan.job_count <= MAX_RUNS);
}

/* IPC of a design: of those that are not named, 1. A seed further it is a hundredth more. Only Mosaic coalesces. */
struct speed {
    const char *design;
    double ipc;
};

static void make_runs(struct fixture *f, const struct speed *speeds)
{
    static char coalesced[] = "gpu0.page.coalesced";
    for (size_t j = 0; j < f->plan.job_count; j++) {
        const struct pw_job *job = &f->plan.jobs[j];
        double ipc = 1;
        for (const struct speed *s = speeds; s->design; s++)
            ipc = strcmp(s->design, job->design) == 0 ? s->ipc : ipc;
        ipc += 0.01 * (double)(job->seed - 1);
        f->apps[j] = (struct pw_stored_app){.ipc = ipc, .sms = 30};
        f->metrics[j] = (struct pw_stored_metric){coalesced, 7};
        f->made[j] = (struct pw_stored_run){.machine = job->machine,
                                            .design = job->design,
                                            .workload = job->workload,
                                            .ipc_throughput = ipc,
                                            .app_count = 1,
                                            .apps = &f->apps[j],
                                            .metric_count = strcmp(job->design, "mosaic") == 0,
                                            .metrics = &f->metrics[j]};
        f->runs[j] = &f->made[j];
    }
}

static const struct pw_claim_outcome *evaluate(struct fixture *f)
{
    struct pw_error err = {0};
    pw_figure_outcome_release(&f->outcome);
    if (pw_figure_evaluate(&f->plan.figures[0], f->runs, &f->outcome, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f->outcome.claims;
}

static void tear_down(struct fixture *f)
{
    pw_figure_outcome_release(&f->outcome);
    pw_plan_release(&f->plan);
    pw_figure_free(f->figure);
}

static const char three[] = "  4k: {design: baseline}\n  mosaic: {design: mosaic}\n  ideal: {design: ideal-tlb}\n";

static void a_claim_holds_is_weak_differs_or_is_not_run(void **state)
{
    (void)state;
    struct fixture f;
    read_figure(&f, three,
                "measures: {s: ipc}\nclaims:\n"
                "  mosaic-fig08-avg: 100 * (mean(s@mosaic / s@4k) - 1)\n"          /* 55.5 over gpu-mmu */
                "  mosaic-fig10-friendly-near-ideal: mean(s@mosaic / s@ideal)\n"   /* ~1 of the ideal */
                "  mosaic-fig08-ideal-gap: 100 * (1 - mean(s@mosaic / s@ideal))\n" /* 6.8 */
                "  mosaic-fig03-4k-loss: 100 * (1 - mean(s@4k / s@ideal))\n"       /* 48.1, about the baseline */
                "  mosaic-fig06-shorter: mean(s@4k / s@mosaic)\n",                 /* weak.csv */
                1);
    assert_int_equal(f.plan.job_count, 4); /* conventional-coalescing is the null of the last one alone */
    make_runs(&f, (struct speed[]){{"mosaic", 1.5}, {"ideal-tlb", 1.52}, {NULL, 0}});
    const struct pw_claim_outcome *c = evaluate(&f);
    assert_true(c[0].verdict == PW_HOLDS && c[0].null_values[0] == 0 && c[0].null_verdict == PW_DIFFERS);
    assert_string_equal(c[0].null_design, "gpu-mmu");
    assert_true(c[1].verdict == PW_HOLDS && c[1].null_verdict == PW_DIFFERS);
    assert_int_equal(c[2].verdict, PW_DIFFERS);
    assert_int_equal(c[4].verdict, PW_WEAK);
    assert_true(c[3].null_design[0] == '\0' && c[3].verdict != PW_WEAK);

    /* The baseline is as near to the ideal: nothing that Mosaic does is seen in that. */
    make_runs(&f, (struct speed[]){{"ideal-tlb", 1.04}, {"mosaic", 1.02}, {NULL, 0}});
    c = evaluate(&f);
    assert_int_equal(c[0].verdict, PW_DIFFERS);
    assert_true(c[1].verdict == PW_WEAK && c[1].null_verdict == PW_HOLDS);
    struct pw_text text = {0};
    pw_claim_format_reason(&c[1], &text);
    assert_string_equal(text.bytes, "holds with gpu-mmu in its place too: 0.962");
    pw_text_free(&text);

    /* Without the null design's run nothing holds; what differs does so without it. */
    make_runs(&f, (struct speed[]){{"mosaic", 1.5}, {"ideal-tlb", 1.52}, {NULL, 0}});
    for (size_t j = 0; j < f.plan.job_count; j++)
        if (strcmp(f.plan.jobs[j].design, "conventional-coalescing") == 0)
            f.runs[j] = NULL;
    c = evaluate(&f);
    assert_true(c[0].verdict == PW_HOLDS && c[2].verdict == PW_DIFFERS);
    assert_true(c[4].verdict == PW_NOT_RUN && c[4].awaits_null && isfinite(c[4].values[0]));
    pw_claim_format_reason(&c[4], &text);
    assert_string_equal(text.bytes, "runs with conventional-coalescing in its place are missing");
    pw_text_free(&text);
    tear_down(&f);
}

struct stand_in {
    const char *claim, *variant, *design; /* "" where it stands for itself */
};

/* The variant of a claim's null design that stands for a variant; NULL: none. */
static const struct pw_figure_variant *find_stand_in(const struct pw_figure *f, const char *claim, const char *variant)
{
    for (size_t i = 0; i < f->claim_count; i++)
        for (size_t v = 0; !strcmp(f->claims[i].claim->id, claim) && v < f->variant_count; v++)
            if (!strcmp(f->variants[v].name, variant))
                return f->claims[i].stand_in && f->claims[i].stand_in[v] != v ? &f->variants[f->claims[i].stand_in[v]]
                                                                              : NULL;
    fail_msg("no claim %s or variant %s", claim, variant);
    return NULL;
}

static void check_stand_ins(const char *figure, size_t count, const struct stand_in *expected)
{
    struct pw_figure *f;
    struct pw_error err = {0};
    if (pw_figure_load(figure, PW_FULL, &f, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        const struct pw_figure_variant *v = find_stand_in(f, expected[i].claim, expected[i].variant);
        if (strcmp(v ? v->design : "", expected[i].design) != 0)
            fail_msg("%s: %s of %s: %s", figure, expected[i].variant, expected[i].claim, v ? v->design : "none");
    }
    pw_figure_free(f);
}

#define STAND_INS(figure, ...)                                                                                         \
    check_stand_ins(figure, sizeof((struct stand_in[]){__VA_ARGS__}) / sizeof(struct stand_in),                        \
                    (struct stand_in[]){__VA_ARGS__})

static void the_null_design_is_the_rows_baseline_or_where_the_design_starts(void **state)
{
    (void)state;
    STAND_INS("mosaic/fig08", {"mosaic-fig08-avg", "mosaic", "gpu-mmu"}, {"mosaic-fig08-avg", "4k", ""},
              {"mosaic-fig08-ideal-gap", "mosaic", "gpu-mmu"}, {"mosaic-fig08-ideal-gap", "ideal", ""});
    STAND_INS("mosaic/fig03", {"mosaic-fig03-4k-loss", "4k", ""}, {"mosaic-fig03-2m-within", "2m", "gpu-mmu"});
    STAND_INS("mosaic/fig06", {"mosaic-sec43-reach-similar", "mosaic", "conventional-coalescing"});
    STAND_INS("mosaic/fig14", {"mosaic-fig14a-8-entries", "mosaic-l1-8", "gpu-mmu"},
              {"mosaic-fig14a-gpummu", "4k-l1-8", ""}, {"mosaic-fig14b-both", "4k-l2-64", ""},
              {"mosaic-fig14b-both", "mosaic-l2-64", "gpu-mmu"});
    STAND_INS("mosaic/fig16b", {"mosaic-fig16b-bc-low", "bc-1", "mosaic"}, {"mosaic-fig16b-bc-low", "cac-1", ""},
              {"mosaic-fig16b-beyond35", "cac-50", "mosaic-no-cac"},
              {"mosaic-fig16b-beyond35", "bc-50", "mosaic-no-cac"});
    STAND_INS("uvm/fig03", {"uvm-fig3-sl-vs-none", "sl", "uvm-none-lru4k"}, {"uvm-abs-naive-slow", "none", ""});
    STAND_INS("uvm/fig14", {"uvm-sec53-reserve-why", "reserve-10", "uvm-none-lru4k"},
              {"uvm-sec53-reserve-why", "all", "uvm-none-lru4k"});
    STAND_INS("uvm/fig15", {"uvm-sec75-2m-prefetch-ok", "lru2m", "uvm-tbn-lru4k"},
              {"uvm-sec75-2m-thrash", "lru2m", "uvm-tbn-tbn"}, {"uvm-sec75-2m-thrash", "tbn", ""});
    STAND_INS("mask/fig03", {"mask-fig03-order", "shared", "pwcache"}, {"mask-fig03-pwcache", "pwcache", "gpu-mmu"});
}

/* Whatever a row of MASK compares with, what does nothing is SharedTLB: with the same pages, machine and sizes. */
static void nothing_in_masks_place_is_the_baseline_otherwise_alike(void **state)
{
    (void)state;
    STAND_INS("mask/fig11", {"mask-fig11-avg", "mask", "gpu-mmu"}, {"mask-fig11-ideal-gap", "mask", "gpu-mmu"},
              {"mask-fig11-mask-cache", "cache", "gpu-mmu"}, {"mask-fig11-components-complement", "mask", "gpu-mmu"},
              {"mask-fig11-components-complement", "tlb", ""}, {"mask-sec22-static-limits", "static", "mask"});
    STAND_INS("mask/fig12", {"mask-fig12-14-vs-static", "mask", "gpu-mmu"},
              {"mask-fig12-14-vs-pwcache", "mask", "gpu-mmu"});
    STAND_INS("mask/sec72-dram", {"mask-sec72-silver-srad", "dram", "gpu-mmu"},
              {"mask-sec72-silver-srad", "no-silver", "gpu-mmu"});
    STAND_INS("mask/sec73", {"mask-sec73-2mb-mask", "mask", "gpu-mmu-2m"});
    STAND_INS("mask/table3", {"mask-sec73-away-from-ideal", "mask", "gpu-mmu"},
              {"mask-sec73-away-from-ideal", "shared", ""});
    STAND_INS("mask/table4", {"mask-sec73-fermi-pwcache", "fermi-mask", "gpu-mmu"},
              {"mask-tab4-mask-integrated", "integrated-mask", "gpu-mmu"});
    STAND_INS("mask/tlb-sizes", {"mask-sec73-tlbsize-better", "mask-l2-64", "gpu-mmu"});
    STAND_INS("mask/tokens", {"mask-sec6-initial-tokens-var", "initial-20", "gpu-mmu"});
    STAND_INS("mask/bypass-size", {"mask-sec72-bypass-saturation", "entries-64", "gpu-mmu"});
    STAND_INS("mask/sec81", {"mask-sec81-mosaic-combo", "both", "mask"}, {"mask-sec81-mosaic-combo", "mask", ""});
}

static void a_stand_in_keeps_the_options_of_the_variant(void **state)
{
    (void)state;
    struct pw_figure *f;
    struct pw_error err = {0};
    assert_int_equal(pw_figure_load("mosaic/fig14", PW_QUICK, &f, &err), PW_OK);
    const struct pw_figure_variant *v = find_stand_in(f, "mosaic-fig14a-8-entries", "mosaic-l1-8");
    assert_int_equal(v->set_count, 2);
    assert_string_equal(v->sets[0], "paging.mode=demand");
    assert_string_equal(v->sets[1], "l1_tlb.base_entries=8");
    assert_string_equal(v->machine, "mosaic");
    pw_figure_free(f);
}

static void a_figure_may_name_the_variant_that_stands_for_another(void **state)
{
    (void)state;
    struct fixture f;
    read_figure(&f,
                "  4k: {design: gpu-mmu, set: page.size=4KB}\n"
                "  small: {design: gpu-mmu, sweep: l1_tlb.base_entries 8 16}\n"
                "  mosaic: {design: mosaic, sweep: l1_tlb.base_entries 16 8, null: small}\n",
                "measures: {s: ipc}\ntable: {x: s@small-16}\nclaims:\n"
                "  mosaic-fig14a-mosaic-flat: mean(s@mosaic-8 / s@4k)\n",
                1);
    assert_string_equal(find_stand_in(f.figure, "mosaic-fig14a-mosaic-flat", "mosaic-8")->name, "small-8");
    assert_int_equal(f.figure->null_count, 0);
    tear_down(&f);
    struct pw_error err = {0};
    static const char text[] =
        "title: T\nmachine: mosaic\nvariants:\n  a: {design: mosaic, sweep: sm.count 1 2, null: b}\n"
        "workloads: {one: {list: alu}}\nmeasures: {s: ipc}\ntable: {x: s@a-1}\n";
    assert_int_equal(pw_figure_read(text, strlen(text), "f", "n", PW_FULL, &f.figure, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "f:4: there is no variant 'b' to stand for 'a-1'");
    static const char itself[] = "title: T\nmachine: mosaic\nvariants: {a: {design: mosaic, null: a}}\n"
                                 "workloads: {one: {list: alu}}\nmeasures: {s: ipc}\ntable: {x: s@a}\n";
    assert_int_equal(pw_figure_read(itself, strlen(itself), "f", "n", PW_FULL, &f.figure, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "f:3: 'a' cannot stand for itself");
}

static void a_combination_loses_the_layer_that_the_row_is_about(void **state)
{
    (void)state;
    struct fixture f;
    read_figure(&f,
                "  4k: {design: gpu-mmu}\n  pwc: {design: pwcache}\n  both: {design: pwcache+mosaic}\n"
                "  three: {design: pwcache+mosaic+static}\n  named: {design: static+mosaic, null: 4k}\n"
                "  other: {design: pwcache+static}\n",
                "measures: {s: ipc}\nclaims:\n  mosaic-fig08-avg: mean(s@both / s@4k + s@three / s@4k + s@named / s@4k"
                " + s@other / s@pwc)\n",
                1);
    static const char claim[] = "mosaic-fig08-avg";
    static const char *const expected[][2] = {{"both", "pwcache"}, {"three", "pwcache+static"}, {"named", "gpu-mmu"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct pw_figure_variant *v = find_stand_in(f.figure, claim, expected[i][0]);
        assert_non_null(v);
        assert_string_equal(v->design, expected[i][1]);
    }
    assert_null(find_stand_in(f.figure, claim, "other"));
    assert_string_equal(f.figure->claims[0].null_design, "pwcache, pwcache+static, gpu-mmu");
    tear_down(&f);
}

static void what_a_null_design_lacks_it_has_none_of(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_error err = {0};
    read_figure(&f, three,
                "measures: {large: page.coalesced}\nclaims:\n  mosaic-fig13-mosaic-coalesces: mean(large@mosaic)\n", 1);
    make_runs(&f, (struct speed[]){{NULL, 0}});
    const struct pw_claim_outcome *c = evaluate(&f);
    assert_true(c[0].values[0] == 7 && c[0].null_values[0] == 0);
    for (size_t j = 0; j < f.plan.job_count; j++)
        f.made[j].metric_count = 0;
    struct pw_figure_outcome o;
    assert_int_equal(pw_figure_evaluate(&f.plan.figures[0], f.runs, &o, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "with mosaic has no metric 'gpu0.page.coalesced'"));
    f.figure->variants[1].replaced = true; /* by a design that has no large pages */
    assert_true(evaluate(&f)->values[0] == 0);
    tear_down(&f);
}

static void a_value_scatters_by_the_distance_of_the_seeds_that_are_complete(void **state)
{
    (void)state;
    struct fixture f;
    read_figure(&f, three,
                "measures: {s: ipc}\nclaims:\n  mosaic-fig08-avg: 100 * mean(s@mosaic / s@mosaic + s@mosaic)\n", SEEDS);
    assert_int_equal(f.plan.job_count, 2 * SEEDS);
    make_runs(&f, (struct speed[]){{"mosaic", 0.5}, {NULL, 0}});
    const struct pw_claim_outcome *c = evaluate(&f);
    assert_int_equal(c->seeds, SEEDS);
    assert_true(fabs(c->values[0] - 150) < 1e-9 && fabs(c->by_seed[2][0] - 152) < 1e-9);
    assert_true(fabs(c->scatter[0] - 2) < 1e-9 && pw_claim_scatter(c) == c->scatter);
    assert_true(fabs(c->null_values[0] - 200) < 1e-9);
    struct pw_text text = {0};
    pw_figure_report_json(&f.outcome, &text);
    assert_non_null(strstr(text.bytes, "\"by_seed\": [[150], [151], [152]], \"null\": {\"design\": \"gpu-mmu\", "
                                       "\"ours\": [200], \"verdict\": \"differs\"}"));
    pw_text_free(&text);
    for (size_t j = 0; j < f.plan.job_count; j++)
        if (f.plan.jobs[j].seed == 2 && strcmp(f.plan.jobs[j].design, "gpu-mmu") == 0)
            f.runs[j] = NULL; /* so the third seed does not count either */
    c = evaluate(&f);
    assert_true(c->seeds == 1 && !pw_claim_scatter(c));
    assert_int_equal(f.outcome.runs_there + 1, f.outcome.runs_needed);
    tear_down(&f);
}

static void a_design_in_anothers_place_that_cannot_take_its_options_is_left_out(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_error err = {0};
    static const char text[] = "title: T\nmachine: mosaic\nset: coalesce.policy=in-place\n"
                               "variants: {a: {design: gpu-mmu}, b: {design: mosaic}}\n"
                               "workloads: {one: {list: alu}}\nmeasures: {s: ipc}\ntable: {x: s@a, y: s@b}\n";
    f = (struct fixture){0};
    assert_int_equal(pw_figure_read(text, strlen(text), "f", "n", PW_FULL, &f.figure, &err), PW_OK);
    free(f.figure->variants[0].design);
    f.figure->variants[0].design = strdup("gpu-mmu-2m");
    struct pw_plan refused = {0};
    assert_int_equal(pw_plan_add(&refused, f.figure, 1, &err), PW_USER_ERROR); /* as the file says: a mistake */
    pw_plan_release(&refused);
    f.figure->variants[0].replaced = true;
    assert_int_equal(pw_plan_add(&f.plan, f.figure, 1, &err), PW_OK);
    assert_true(f.plan.job_count == 1 && f.plan.figures[0].together[0] < 0);
    assert_non_null(strstr(f.plan.figures[0].refused, "n: variant 'a': coalesce.policy makes large pages"));
    make_runs(&f, (struct speed[]){{NULL, 0}});
    evaluate(&f);
    assert_true(isnan(f.outcome.columns[0].items[0].value) && f.outcome.columns[1].items[0].value == 1);
    tear_down(&f);
}

static void runs_for_null_designs_only_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_error err = {0};
    read_figure(&f, "  mosaic: {design: mosaic}\n",
                "measures: {s: ipc}\nclaims:\n  mosaic-fig13-l1-miss: mean(s@mosaic)\n", 1);
    assert_true(f.plan.job_count == 2 && !f.plan.jobs[0].for_null && f.plan.jobs[1].for_null);
    struct fixture other;
    read_figure(&other, "  4k: {design: gpu-mmu}\n", "measures: {s: ipc}\ntable: {x: s@4k}\n", 1);
    assert_int_equal(pw_plan_add(&f.plan, other.figure, 1, &err), PW_OK);
    assert_true(f.plan.job_count == 2 && !f.plan.jobs[1].for_null);
    tear_down(&f);
    tear_down(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_holds_is_weak_differs_or_is_not_run),
        cmocka_unit_test(the_null_design_is_the_rows_baseline_or_where_the_design_starts),
        cmocka_unit_test(nothing_in_masks_place_is_the_baseline_otherwise_alike),
        cmocka_unit_test(a_stand_in_keeps_the_options_of_the_variant),
        cmocka_unit_test(a_figure_may_name_the_variant_that_stands_for_another),
        cmocka_unit_test(a_combination_loses_the_layer_that_the_row_is_about),
        cmocka_unit_test(what_a_null_design_lacks_it_has_none_of),
        cmocka_unit_test(a_value_scatters_by_the_distance_of_the_seeds_that_are_complete),
        cmocka_unit_test(a_design_in_anothers_place_that_cannot_take_its_options_is_left_out),
        cmocka_unit_test(runs_for_null_designs_only_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
