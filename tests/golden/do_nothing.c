/* A design that does nothing earns no claim. All of Mosaic's figures really run, with small programs in the place of
 * theirs (as many as a workload has), twice: with Mosaic, and with the baseline in the place of all its designs. Then
 * no claim about Mosaic may hold, and those about other designs hold as before. tests/cli/do_nothing.sh does the same
 * with the figures' own programs. */
#include "exp/figure/evaluate.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_APPS = 8 };

static const char small[] = "gather:table=2MB:iterations=8:ctas=4";

static char path[] = "do-nothing-XXXXXX";
static struct pw_store *store;

static const char *const designs[] = {"mosaic", "mosaic-no-cac", "mosaic-cac-bc", "mosaic-ideal-cac", NULL};

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

static void replace_design(struct pw_figure_variant *v)
{
    for (const char *const *design = designs; *design; design++)
        if (strcmp(v->design, *design) == 0) {
            free(v->design);
            v->design = strdup("gpu-mmu");
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
}

/* Of claims. */
struct counts {
    unsigned of_mosaic, hold, weak; /* all about Mosaic, and those that hold and are weak */
    unsigned of_others;             /* about other designs, that hold */
};

static void count_claims(const struct pw_figure_outcome *o, bool without, struct counts *counts)
{
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        bool about_mosaic = strstr(c->claim->design, "mosaic");
        counts->of_mosaic += about_mosaic;
        counts->hold += about_mosaic && c->verdict == PW_HOLDS;
        counts->weak += about_mosaic && c->verdict == PW_WEAK;
        counts->of_others += !about_mosaic && c->verdict == PW_HOLDS;
        if (without && about_mosaic && c->verdict == PW_HOLDS)
            print_error("%s holds: %g; with %s in its place: %g\n", c->claim->id, c->values[0], c->null_design,
                        c->null_values[0]);
    }
}

static void check_figure(const char *name, bool without, struct counts *counts)
{
    struct pw_error err = {0};
    struct pw_figure *figure;
    struct pw_plan plan = {0};
    struct pw_figure_outcome outcome;
    assert_int_equal(pw_figure_load(name, PW_QUICK, &figure, &err), PW_OK);
    for (size_t w = 0; w < figure->workload_count; w++)
        make_small(&figure->workloads[w]);
    for (size_t v = 0; v < figure->variant_count + figure->null_count; v++)
        if (without)
            replace_design(&figure->variants[v]);
    if (pw_plan_add(&plan, figure, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
    struct pw_stored_run **runs = calloc(plan.job_count + 1, sizeof(struct pw_stored_run *));
    assert_non_null(runs);
    for (size_t j = 0; j < plan.job_count; j++)
        run_job(&plan.jobs[j], &runs[j]);
    if (pw_figure_evaluate(&plan.figures[0], runs, &outcome, &err) != PW_OK)
        fail_msg("%s", err.message);
    count_claims(&outcome, without, counts);
    pw_figure_outcome_release(&outcome);
    for (size_t j = 0; j < plan.job_count; j++)
        pw_stored_run_free(runs[j]);
    free(runs);
    pw_plan_release(&plan);
    pw_figure_free(figure);
}

static struct counts check_figures(bool without)
{
    struct counts counts = {0};
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++)
        if (strncmp(f->name, "mosaic/", 7) == 0)
            check_figure(f->name, without, &counts);
    print_message("%u of %u claims about Mosaic hold, %u are weak; %u about other designs hold\n", counts.hold,
                  counts.of_mosaic, counts.weak, counts.of_others);
    return counts;
}

static void with_the_baseline_in_mosaics_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(false), none = check_figures(true);
    assert_true(real.of_mosaic >= 60 && real.hold >= 5);
    assert_true(none.of_mosaic == real.of_mosaic && none.hold == 0 && none.weak > 0);
    assert_int_equal(none.of_others, real.of_others);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(with_the_baseline_in_mosaics_place_none_of_its_claims_holds)};
    return cmocka_run_group_tests(tests, open_store, close_store);
}
