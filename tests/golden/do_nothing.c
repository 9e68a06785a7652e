/* A design that does nothing earns no claim. All of Mosaic's figures really run, with small programs in the place of
 * theirs (as many as a workload has), three times: with Mosaic; with the baseline in Mosaic's place; and with a Mosaic
 * that coalesces nothing, for its frames are the baseline's and its coalescer finds no region that lies in one. Then no
 * claim may hold but those about other designs. (With coalesce.policy=none Mosaic still does something: its frames
 * alone change which DRAM rows are open, and with them times by some percent.) */
#include "exp/figure/evaluate.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_APPS = 8, MUTANTS = 4 };

static const char small[] = "gather:table=2MB:iterations=8:ctas=4";

static char path[] = "do-nothing-XXXXXX";
static struct pw_store *store;

/* Mosaic's designs, and files of the same with nothing to coalesce. */
static const char *const designs[MUTANTS] = {"mosaic", "mosaic-no-cac", "mosaic-cac-bc", "mosaic-ideal-cac"};
static char files[MUTANTS][64];

enum instead { AS_IT_IS, THE_BASELINE, NO_COALESCING };

static void make_small(struct pw_figure_workload *w)
{
    char text[MAX_APPS * sizeof small] = "";
    assert_in_range(w->app_count, 1, MAX_APPS);
    for (unsigned i = 0; i < w->app_count; i++)
        sprintf(text + strlen(text), "%s%s", i ? "," : "", small);
    free(w->text);
    w->text = strdup(text);
    assert_non_null(w->text);
}

static void replace_design(struct pw_figure_variant *v, enum instead instead)
{
    for (size_t d = 0; d < MUTANTS && instead != AS_IT_IS; d++)
        if (strcmp(v->design, designs[d]) == 0) {
            free(v->design);
            v->design = strdup(instead == THE_BASELINE ? "gpu-mmu" : files[d]);
            v->replaced = true;
            assert_non_null(v->design);
            return;
        }
}

static void run_job(const struct pw_job *job, struct pw_stored_run **out)
{
    struct pw_error err = {0};
    struct pw_run_spec spec = {.machine = job->machine,
                               .design = job->design,
                               .workload = job->workload,
                               .sets = (const char *const *)job->sets,
                               .set_count = job->set_count,
                               .seed = job->seed};
    struct pw_run_inputs inputs;
    int64_t run;
    assert_int_equal(pw_run_inputs(job->options, job->workload, job->seed, &inputs, &err), PW_OK);
    assert_int_equal(pw_store_find(store, &inputs, &run, &err), PW_OK);
    if (!run) {
        struct pw_result *result;
        if (pw_run(&spec, &result, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_int_equal(pw_store_add(store, &inputs, result, &run, &err), PW_OK);
        pw_result_free(result);
    }
    assert_int_equal(pw_store_load(store, run, out, &err), PW_OK);
    double coalesced;
    if (strstr(job->design, ".yaml") && pw_stored_run_measure(*out, "page.coalesced", &coalesced))
        assert_true(coalesced == 0);
}

/* Of claims. */
struct counts {
    unsigned of_mosaic, hold, weak; /* all about Mosaic, and those that hold and are weak */
    unsigned of_others;             /* about other designs, that hold */
};

static void count_claims(const struct pw_figure_outcome *o, enum instead instead, struct counts *counts)
{
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        bool about_mosaic = strstr(c->claim->design, "mosaic");
        counts->of_mosaic += about_mosaic;
        counts->hold += about_mosaic && c->verdict == PW_HOLDS;
        counts->weak += about_mosaic && c->verdict == PW_WEAK;
        counts->of_others += !about_mosaic && c->verdict == PW_HOLDS;
        if (instead != AS_IT_IS && about_mosaic && c->verdict == PW_HOLDS)
            print_error("%s holds: %g; with %s in its place: %g\n", c->claim->id, c->values[0], c->null_design,
                        c->null_values[0]);
    }
}

static void check_figure(const char *name, enum instead instead, struct counts *counts)
{
    struct pw_error err = {0};
    struct pw_figure *figure;
    struct pw_plan plan = {0};
    struct pw_figure_outcome outcome;
    assert_int_equal(pw_figure_load(name, PW_QUICK, &figure, &err), PW_OK);
    for (size_t w = 0; w < figure->workload_count; w++)
        make_small(&figure->workloads[w]);
    for (size_t v = 0; v < figure->variant_count + figure->null_count; v++)
        replace_design(&figure->variants[v], instead);
    if (pw_plan_add(&plan, figure, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
    struct pw_stored_run **runs = calloc(plan.job_count + 1, sizeof(struct pw_stored_run *));
    assert_non_null(runs);
    for (size_t j = 0; j < plan.job_count; j++)
        run_job(&plan.jobs[j], &runs[j]);
    if (pw_figure_evaluate(&plan.figures[0], runs, &outcome, &err) != PW_OK)
        fail_msg("%s", err.message);
    count_claims(&outcome, instead, counts);
    pw_figure_outcome_release(&outcome);
    for (size_t j = 0; j < plan.job_count; j++)
        pw_stored_run_free(runs[j]);
    free(runs);
    pw_plan_release(&plan);
    pw_figure_free(figure);
}

static struct counts check_figures(enum instead instead)
{
    struct counts counts = {0};
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++)
        if (strncmp(f->name, "mosaic/", 7) == 0)
            check_figure(f->name, instead, &counts);
    print_message("%u of %u claims about Mosaic hold, %u are weak; %u about other designs hold\n", counts.hold,
                  counts.of_mosaic, counts.weak, counts.of_others);
    return counts;
}

static void with_the_baseline_in_mosaics_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(AS_IT_IS), none = check_figures(THE_BASELINE);
    assert_true(real.of_mosaic >= 60 && real.hold >= 5);
    assert_true(none.of_mosaic == real.of_mosaic && none.hold == 0 && none.weak > 0);
    assert_int_equal(none.of_others, real.of_others);
}

static void a_mosaic_that_coalesces_nothing_holds_none_of_its_claims(void **state)
{
    (void)state;
    struct counts none = check_figures(NO_COALESCING);
    assert_int_equal(none.hold, 0);
    assert_true(none.of_others > 0);
}

static int open_store(void **state)
{
    (void)state;
    struct pw_error err;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || pw_store_open(path, PW_STORE_CREATE, &store, &err) != PW_OK)
        return -1;
    for (size_t d = 0; d < MUTANTS; d++) {
        snprintf(files[d], sizeof files[d], "%s-%zu.yaml", path, d);
        FILE *file = fopen(files[d], "w");
        if (!file || fprintf(file, "base: %s\npage:\n  frames: first-free\n", designs[d]) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    pw_store_close(store);
    for (size_t d = 0; d < MUTANTS; d++)
        unlink(files[d]);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_baseline_in_mosaics_place_none_of_its_claims_holds),
        cmocka_unit_test(a_mosaic_that_coalesces_nothing_holds_none_of_its_claims),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
