/* A design that does nothing earns no claim. All figures of Mosaic, of MASK, of TLB compression and of GMMU Bypass
 * really run, with small programs in the place of theirs (as many as a workload has), twice: with the paper's designs,
 * and with the baseline in the place of all of them. Then no claim about them may hold, and those about other designs
 * hold as before. tests/cli/do_nothing.sh does the same for Mosaic with the figures' own programs. */
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

/* A paper's designs, and what does nothing in their place. */
struct paper {
    const char *folder, *name;
    const char *const (*designs)[2];
};

static const char *const mosaic_designs[][2] = {{"mosaic", "gpu-mmu"},
                                                {"mosaic-no-cac", "gpu-mmu"},
                                                {"mosaic-cac-bc", "gpu-mmu"},
                                                {"mosaic-ideal-cac", "gpu-mmu"},
                                                {NULL, NULL}};
static const char *const mask_designs[][2] = {{"mask", "gpu-mmu"},
                                              {"mask-tlb", "gpu-mmu"},
                                              {"mask-cache", "gpu-mmu"},
                                              {"mask-dram", "gpu-mmu"},
                                              {"gpu-mmu-2m+mask", "gpu-mmu-2m"},
                                              {"mask+mosaic", "gpu-mmu"},
                                              {NULL, NULL}};
static const char *const compression_designs[][2] = {{"compress", "gpu-mmu"},
                                                     {"compress-naive", "gpu-mmu"},
                                                     {"compress-l1", "gpu-mmu"},
                                                     {"gpu-mmu-2m+compress", "gpu-mmu-2m"},
                                                     {NULL, NULL}};
static const char *const bypass_designs[][2] = {{"bypass", "distributed"}, {NULL, NULL}};
static const struct paper mosaic = {"mosaic/", "mosaic", mosaic_designs}, mask = {"mask/", "mask", mask_designs},
                          compression = {"compression/", "compress", compression_designs},
                          bypass = {"gmmu-bypass/", "bypass", bypass_designs};

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

static void replace_design(const struct paper *paper, struct pw_figure_variant *v)
{
    for (const char *const(*design)[2] = paper->designs; (*design)[0]; design++)
        if (strcmp(v->design, (*design)[0]) == 0) {
            free(v->design);
            v->design = strdup((*design)[1]);
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
    unsigned about, hold, weak; /* all about the paper's designs, and those that hold and are weak */
    unsigned of_others;         /* that have nothing to do with these designs, and hold */
};

static void count_claims(const struct paper *paper, const struct pw_figure_outcome *o, bool without,
                         struct counts *counts)
{
    for (size_t i = 0; i < o->figure->claim_count; i++) {
        const struct pw_claim_outcome *c = &o->claims[i];
        const struct pw_claim *claim = c->claim;
        bool about = strstr(claim->design, paper->name);
        bool apart = !about && !strstr(claim->baseline, paper->name) && strncmp(claim->design, "all", 3) != 0;
        counts->about += about;
        counts->hold += about && c->verdict == PW_HOLDS;
        counts->weak += about && c->verdict == PW_WEAK;
        counts->of_others += apart && c->verdict == PW_HOLDS;
        if (without && about && c->verdict == PW_HOLDS)
            print_error("%s holds: %g; with %s in its place: %g\n", claim->id, c->values[0], c->null_design,
                        c->null_values[0]);
    }
}

static void check_figure(const struct paper *paper, const char *name, bool without, struct counts *counts)
{
    struct pw_error err = {0};
    struct pw_figure *figure;
    struct pw_plan plan = {0};
    struct pw_figure_outcome outcome;
    if (pw_figure_load(name, PW_QUICK, &figure, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t w = 0; w < figure->workload_count; w++)
        make_small(&figure->workloads[w]);
    for (size_t v = 0; v < figure->variant_count + figure->null_count; v++)
        if (without)
            replace_design(paper, &figure->variants[v]);
    if (pw_plan_add(&plan, figure, 1, &err) != PW_OK)
        fail_msg("%s", err.message);
    struct pw_stored_run **runs = calloc(plan.job_count + 1, sizeof(struct pw_stored_run *));
    assert_non_null(runs);
    for (size_t j = 0; j < plan.job_count; j++)
        run_job(&plan.jobs[j], &runs[j]);
    if (pw_figure_evaluate(&plan.figures[0], runs, &outcome, &err) != PW_OK)
        fail_msg("%s", err.message);
    count_claims(paper, &outcome, without, counts);
    pw_figure_outcome_release(&outcome);
    for (size_t j = 0; j < plan.job_count; j++)
        pw_stored_run_free(runs[j]);
    free(runs);
    pw_plan_release(&plan);
    pw_figure_free(figure);
}

static struct counts check_figures(const struct paper *paper, bool without)
{
    struct counts counts = {0};
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++)
        if (strncmp(f->name, paper->folder, strlen(paper->folder)) == 0)
            check_figure(paper, f->name, without, &counts);
    print_message("%u of %u claims about %s hold, %u are weak; %u about other designs hold\n", counts.hold,
                  counts.about, paper->name, counts.weak, counts.of_others);
    return counts;
}

static void with_the_baseline_in_mosaics_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(&mosaic, false), none = check_figures(&mosaic, true);
    assert_true(real.about >= 60 && real.hold >= 5);
    assert_true(none.about == real.about && none.hold == 0 && none.weak > 0);
    assert_int_equal(none.of_others, real.of_others);
}

static void with_the_baseline_in_masks_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(&mask, false), none = check_figures(&mask, true);
    assert_true(none.about >= 60 && none.about == real.about && none.hold == 0 && none.weak > 0);
    assert_int_equal(none.of_others, real.of_others);
}

static void with_the_baseline_in_compressions_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(&compression, false), none = check_figures(&compression, true);
    assert_true(none.about >= 50 && none.about == real.about && none.hold == 0 && none.weak > 0);
    assert_int_equal(none.of_others, real.of_others);
}

static void with_the_distributed_design_in_bypasss_place_none_of_its_claims_holds(void **state)
{
    (void)state;
    struct counts real = check_figures(&bypass, false), none = check_figures(&bypass, true);
    assert_true(none.about >= 40 && none.about == real.about && none.hold == 0 && none.weak > 0);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_baseline_in_mosaics_place_none_of_its_claims_holds),
        cmocka_unit_test(with_the_baseline_in_masks_place_none_of_its_claims_holds),
        cmocka_unit_test(with_the_baseline_in_compressions_place_none_of_its_claims_holds),
        cmocka_unit_test(with_the_distributed_design_in_bypasss_place_none_of_its_claims_holds),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
