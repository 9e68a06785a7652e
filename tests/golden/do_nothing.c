/* A design that does nothing gains nothing: in every figure there is, all designs are replaced by copies of the first
 * one, which really run (tiny programs, as many as the workload has), and no row that claims a difference between
 * designs may hold. A figure that computed a claim from anything but a difference between runs would be found here. */
#include "exp/figure/evaluate.h"
#include "system/inputs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_APPS = 8 };

static const char tiny[] = "gather:table=4MB:iterations=1:ctas=4";

static char path[] = "do-nothing-XXXXXX";
static struct pw_store *store;
static struct pw_stored_run *runs_of[MAX_APPS + 1]; /* of the present figure */

/* The variant whose copies all others are: the first, or the first that pages on demand, for only those runs have the
 * metrics of paging. */
static const struct pw_figure_variant *copied(const struct pw_figure *figure)
{
    const struct pw_figure_variant *chosen = NULL;
    for (size_t i = 0; i < figure->variant_count && !chosen; i++) {
        const struct pw_figure_variant *v = &figure->variants[i];
        struct pw_run_spec spec = {.machine = v->machine,
                                   .design = v->design,
                                   .sets = (const char *const *)v->sets,
                                   .set_count = v->set_count};
        struct pw_error err = {0};
        char *options;
        assert_int_equal(pw_run_options(&spec, &options, &err), PW_OK);
        if (strstr(options, "\npaging.mode=demand\n"))
            chosen = v;
        free(options);
    }
    return chosen ? chosen : &figure->variants[0];
}

/* A real run of so many tiny programs with it. */
static struct pw_stored_run *real_run(const struct pw_figure *figure, unsigned apps)
{
    assert_in_range(apps, 1, MAX_APPS);
    if (runs_of[apps])
        return runs_of[apps];
    char workload[MAX_APPS * sizeof tiny] = "";
    for (unsigned i = 0; i < apps; i++)
        sprintf(workload + strlen(workload), "%s%s", i ? "," : "", tiny);
    struct pw_error err = {0};
    const struct pw_figure_variant *v = copied(figure);
    struct pw_run_spec spec = {.machine = v->machine,
                               .design = v->design,
                               .workload = workload,
                               .sets = (const char *const *)v->sets,
                               .set_count = v->set_count,
                               .seed = 1};
    struct pw_result *result;
    char *options;
    int64_t run;
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s: %s", figure->name, err.message);
    assert_int_equal(pw_run_options(&spec, &options, &err), PW_OK);
    struct pw_run_inputs inputs;
    assert_int_equal(pw_run_inputs(options, workload, 1, &inputs, &err), PW_OK);
    assert_int_equal(pw_store_add(store, &inputs, result, &run, &err), PW_OK);
    assert_int_equal(pw_store_load(store, run, &runs_of[apps], &err), PW_OK);
    pw_result_free(result);
    free(options);
    return runs_of[apps];
}

static void give_runs(const struct pw_plan_figure *f, struct pw_stored_run **runs)
{
    const struct pw_figure *figure = f->figure;
    for (size_t v = 0; v < figure->variant_count; v++)
        for (size_t w = 0; w < figure->workload_count; w++) {
            size_t cell = v * figure->workload_count + w;
            if (f->together[cell] >= 0)
                runs[f->together[cell]] = real_run(figure, figure->workloads[w].app_count);
        }
    for (size_t i = 0; i < figure->variant_count * figure->workload_count * f->apps; i++) {
        if (f->baseline && f->baseline[i] >= 0 && !runs[f->baseline[i]])
            runs[f->baseline[i]] = real_run(figure, 1);
        if (f->alone && f->alone[i] >= 0 && !runs[f->alone[i]])
            runs[f->alone[i]] = real_run(figure, 1);
    }
}

/* Whether a row says that one design differs from another. Rows of the same design in company and alone do not. */
static bool claims_a_difference(const struct pw_claim *c)
{
    if (!*c->baseline || strstr(c->baseline, "alone") || strcmp(c->design, c->baseline) == 0)
        return false;
    if (c->judge == PW_JUDGE_GAIN || c->judge == PW_JUDGE_RATIO)
        return true;
    return c->judge == PW_JUDGE_BOUND && (strcmp(c->value, ">1") == 0 || strcmp(c->value, "<1") == 0);
}

static unsigned check_figure(const char *name)
{
    struct pw_error err = {0};
    struct pw_figure *figure;
    struct pw_plan plan = {0};
    unsigned checked = 0;
    assert_int_equal(pw_figure_load(name, PW_QUICK, &figure, &err), PW_OK);
    assert_int_equal(pw_plan_add(&plan, figure, 1, &err), PW_OK);
    struct pw_stored_run **runs = calloc(plan.job_count + 1, sizeof(struct pw_stored_run *));
    assert_non_null(runs);
    give_runs(&plan.figures[0], runs);
    struct pw_figure_outcome outcome;
    if (pw_figure_evaluate(&plan.figures[0], runs, &outcome, &err) != PW_OK)
        fail_msg("%s: %s", name, err.message);
    for (size_t i = 0; i < figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &outcome.claims[i];
        if (!claims_a_difference(c->claim))
            continue;
        checked += !isnan(c->values[0]); /* 0 of 0 is no number, and holds nowhere */
        if (c->verdict == PW_HOLDS)
            fail_msg("%s: %s holds for a design that does nothing: %g", name, c->claim->id, c->values[0]);
    }
    pw_figure_outcome_release(&outcome);
    for (unsigned i = 0; i <= MAX_APPS; i++) {
        pw_stored_run_free(runs_of[i]);
        runs_of[i] = NULL;
    }
    free(runs);
    pw_plan_release(&plan);
    pw_figure_free(figure);
    return checked;
}

static void no_figure_finds_a_gain_in_a_design_that_does_nothing(void **state)
{
    (void)state;
    unsigned checked = 0;
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++)
        checked += check_figure(f->name);
    assert_true(checked >= 10);
}

static int open_store(void **state)
{
    (void)state;
    struct pw_error err;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || pw_store_open(path, PW_STORE_CREATE, &store, &err) != PW_OK)
        return -1;
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    pw_store_close(store);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_figure_finds_a_gain_in_a_design_that_does_nothing)};
    return cmocka_run_group_tests(tests, open_store, close_store);
}
