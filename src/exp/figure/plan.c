/* Plans the runs of figures.
 *
 * Options are resolved here before anything runs (plan_options.h), so a figure that names an option, design or machine
 * that does not exist costs no hour of runs. Jobs are found again in a tree by options, seed and workload; the texts of
 * options are kept once each and compared by their address. */
#include "exp/figure/plan.h"

#include "sim/grow.h"
#include "sim/types.h"
#include "system/app_sms.h"
#include "system/inputs.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job in the tree. Its texts are the job's and the plan's. */
struct key {
    const char *options, *workload;
    size_t programs; /* bytes of the workload without the SMs that it gives, which are among the options */
    uint64_t seed;
    int job;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->options != y->options)
        return (uintptr_t)x->options < (uintptr_t)y->options ? -1 : 1;
    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    if (x->programs != y->programs)
        return x->programs < y->programs ? -1 : 1;
    return memcmp(x->workload, y->workload, x->programs);
}

enum run_kind { TOGETHER, BASELINE, ALONE, RUN_KIND_COUNT };

struct planner {
    struct pw_plan *plan;
    struct pw_plan_figure *target;
    const struct pw_figure *figure;
    bool *wanted[RUN_KIND_COUNT]; /* [variant * workload_count + workload] */
    const size_t *stand_in;       /* of the claim being looked at; NULL: every variant stands for itself */
    bool for_null;
    unsigned seed; /* from 0 */
    /* Of the variant being planned: */
    const struct pw_figure_variant *variant;
    unsigned sms_apps; /* how many applications `sms` was found for */
    unsigned sms[PW_MAX_APPS];
    struct pw_error *err;
};

static enum pw_status no_memory(const struct planner *p)
{
    return pw_fail_memory(p->err, "a plan of runs");
}

/* What a run of the variant is given; the two last options are in the caller's hands. */
struct job_spec {
    struct pw_run_spec spec;
    const char *sets[PW_FIGURE_MAX_NAMES + 2];
    char sms[32];
};

/* `workload` matters for the SMs that it gives; NULL: those of a workload that gives none. */
static void describe(const struct planner *p, enum run_kind kind, unsigned sms, const char *workload,
                     struct job_spec *out)
{
    const struct pw_figure_variant *v = p->variant;
    size_t count = kind == BASELINE ? v->common_sets : v->set_count;
    for (size_t i = 0; i < count; i++)
        out->sets[i] = v->sets[i];
    if (kind != TOGETHER) {
        snprintf(out->sms, sizeof out->sms, "sm.count=%u", sms);
        out->sets[count++] = out->sms;
        out->sets[count++] = "apps.sms=even";
    }
    out->spec = (struct pw_run_spec){.machine = v->machine,
                                     .design = kind == BASELINE ? "gpu-mmu" : v->design,
                                     .workload = workload,
                                     .sets = out->sets,
                                     .set_count = count,
                                     .seed = p->figure->seed + p->seed};
}

static enum pw_status blame(const struct planner *p, enum pw_status status)
{
    if (status == PW_USER_ERROR)
        pw_error_prefix(p->err, "%s: variant '%s'", p->figure->name, p->variant->name);
    return status;
}

static enum pw_status resolve(struct planner *p, const struct job_spec *job, const char **out)
{
    return blame(p, pw_plan_options(&p->plan->options, &job->spec, out, p->err));
}

static void release_job(struct pw_job *job)
{
    for (size_t i = 0; i < job->set_count; i++)
        free(job->sets[i]);
    free(job->sets);
    free(job->machine);
    free(job->design);
    free(job->workload);
}

static bool copy_job(struct pw_job *out, const struct job_spec *job, const char *options, const char *workload)
{
    const struct pw_run_spec *s = &job->spec;
    *out = (struct pw_job){.machine = strdup(s->machine),
                           .design = strdup(s->design),
                           .workload = strdup(workload),
                           .sets = calloc(s->set_count + 1, sizeof *out->sets),
                           .seed = s->seed,
                           .options = options};
    bool copied = out->machine && out->design && out->workload && out->sets;
    for (size_t i = 0; copied && i < s->set_count; i++) {
        out->sets[i] = strdup(s->sets[i]);
        copied = out->sets[i];
        out->set_count += copied;
    }
    return copied;
}

/* The name of a workload's next program, "HS" of "HS:side=512,CONS"; returns where the one after it begins, or NULL. */
static const char *next_program(const char *at, char name[64])
{
    size_t length = strcspn(at, ":,@");
    snprintf(name, 64, "%.*s", length < 64 ? (int)length : 63, at);
    const char *comma = strchr(at, ',');
    return comma ? comma + 1 : NULL;
}

/* The SMs that are given to a workload's next program, 1 where none are; goes on to the next one's. */
static double next_sms(const char **sms)
{
    char *end;
    double count = (double)strtoul(*sms, &end, 10);
    *sms = end + (*end == '+');
    return count > 0 ? count : 1;
}

/* Of a program's first run; 0 when it is not known. */
static double length_of(const struct planner *p, const char *name, bool unpaged)
{
    return unpaged ? pw_sizes_again_milliseconds(&p->plan->sizes, name, p->figure->scope)
                   : pw_sizes_milliseconds(&p->plan->sizes, name, p->figure->scope);
}

/* Seconds of "HS" or "HS:side=512,CONS@20+10". A program takes the longer the fewer SMs it has. All start over until
 * the longest has ended, and find their pages then; without paging they find them from the beginning. */
static double cost_of(const struct planner *p, const char *options, const char *workload)
{
    enum pw_scope scope = p->figure->scope;
    bool unpaged = strstr(options, "paging.mode=free");
    double seconds = 0, longest = 0;
    char name[64];
    const char *sms = pw_plan_given_sms(workload);
    for (const char *at = workload; at;) {
        at = next_program(at, name);
        double length = length_of(p, name, unpaged) / next_sms(&sms);
        longest = length > longest ? length : longest;
    }
    sms = pw_plan_given_sms(workload);
    for (const char *at = workload; at;) {
        at = next_program(at, name);
        double count = next_sms(&sms), left = longest - length_of(p, name, unpaged) / count;
        double again = pw_sizes_again_milliseconds(&p->plan->sizes, name, scope) / count;
        seconds += pw_sizes_seconds(&p->plan->sizes, name, scope) * (1 + (again > 0 ? left / again : 0));
    }
    return seconds;
}

/* The number of a job with these inputs, which may be one that is already planned. */
static enum pw_status add_job(struct planner *p, enum run_kind kind, unsigned sms, const char *workload, int *out)
{
    struct pw_plan *plan = p->plan;
    struct job_spec spec;
    struct key wanted = {
        .workload = workload, .programs = pw_workload_cut(workload).programs, .seed = p->figure->seed + p->seed};
    describe(p, kind, sms, workload, &spec);
    enum pw_status status = resolve(p, &spec, &wanted.options);
    if (status != PW_OK)
        return status;
    struct key *const *known = tfind(&wanted, &plan->index, compare_keys);
    if (known) {
        *out = (*known)->job;
        plan->jobs[*out].for_null &= p->for_null;
        return PW_OK;
    }
    struct pw_job job = {0};
    struct key *key = malloc(sizeof *key);
    struct pw_job *grown = pw_grow(plan->jobs, plan->job_count, &plan->job_capacity, sizeof *grown);
    plan->jobs = grown ? grown : plan->jobs;
    bool copied = key && grown && copy_job(&job, &spec, wanted.options, workload);
    if (copied) {
        *key = (struct key){job.options, job.workload, wanted.programs, job.seed, (int)plan->job_count};
        copied = tsearch(key, &plan->index, compare_keys);
    }
    if (!copied) {
        free(key);
        release_job(&job);
        return no_memory(p);
    }
    job.cost = cost_of(p, job.options, workload);
    job.for_null = p->for_null;
    *out = key->job;
    plan->jobs[plan->job_count++] = job;
    return PW_OK;
}

/* How many SMs each application of a workload has beside the others. */
static enum pw_status find_sms(struct planner *p, const struct pw_figure_workload *w)
{
    bool given = *pw_plan_given_sms(w->text);
    if (p->sms_apps == w->app_count && !given)
        return PW_OK;
    struct job_spec spec;
    describe(p, TOGETHER, 0, w->text, &spec);
    enum pw_status status = pw_plan_sms(&p->plan->options, &spec.spec, w->app_count, p->sms, p->err);
    p->sms_apps = status == PW_OK && !given ? w->app_count : 0;
    return blame(p, status);
}

static enum pw_status add_single(struct planner *p, size_t wanted, size_t cell, const struct pw_figure_workload *w)
{
    struct pw_plan_figure *t = p->target;
    enum pw_status status = find_sms(p, w);
    char *copy = strndup(w->text, pw_workload_cut(w->text).programs), *rest = copy;
    if (!copy)
        return no_memory(p);
    for (unsigned app = 0; app < w->app_count && rest && status == PW_OK; app++) {
        const char *text = strsep(&rest, ",");
        if (p->wanted[BASELINE][wanted])
            status = add_job(p, BASELINE, p->sms[app], text, &t->baseline[cell * t->apps + app]);
        if (status == PW_OK && p->wanted[ALONE][wanted])
            status = add_job(p, ALONE, p->sms[app], text, &t->alone[cell * t->apps + app]);
    }
    free(copy);
    return status;
}

/* Machine, design and options of a variant are looked at even where no column and no claim names it. */
static enum pw_status check_variant(struct planner *p)
{
    struct job_spec spec;
    const char *options;
    describe(p, TOGETHER, 0, NULL, &spec);
    return resolve(p, &spec, &options);
}

/* Whether the variant's machine and design can run, and only its options are not for them. */
static bool options_do_not_fit(const struct planner *p)
{
    struct pw_error ignored;
    char *options;
    struct job_spec spec;
    describe(p, TOGETHER, 0, NULL, &spec);
    spec.spec.set_count = 0;
    if (pw_run_options(&spec.spec, &options, &ignored) != PW_OK)
        return false;
    free(options);
    return true;
}

/* A design in another's place may not take the options that were meant for that: its runs are left out, and what needs
 * them is not known. Everything else that cannot run is a mistake. */
static enum pw_status leave_out(struct planner *p, size_t variant, enum pw_status status)
{
    bool in_place = variant >= p->figure->variant_count || p->variant->replaced;
    if (status != PW_USER_ERROR || !in_place || !options_do_not_fit(p))
        return status;
    if (!p->target->refused)
        p->target->refused = strdup(p->err->message);
    *p->err = (struct pw_error){0};
    return p->target->refused ? PW_OK : no_memory(p);
}

static enum pw_status plan_variant(struct planner *p, size_t variant)
{
    const struct pw_figure *f = p->figure;
    p->variant = &f->variants[variant];
    p->sms_apps = 0;
    enum pw_status status = check_variant(p);
    if (status != PW_OK)
        return leave_out(p, variant, status);
    for (size_t i = 0; i < f->workload_count * p->target->seed_count && status == PW_OK; i++) {
        size_t w = i % f->workload_count, wanted = variant * f->workload_count + w;
        p->seed = (unsigned)(i / f->workload_count);
        size_t cell = pw_plan_cell(p->target, p->seed, variant, w);
        if (p->wanted[TOGETHER][wanted])
            status = add_job(p, TOGETHER, 0, f->workloads[w].text, &p->target->together[cell]);
        if (status == PW_OK && (p->wanted[BASELINE][wanted] || p->wanted[ALONE][wanted]))
            status = add_single(p, wanted, cell, &f->workloads[w]);
    }
    p->seed = 0;
    return status;
}

static void want(void *context, size_t measure, size_t variant, bool alone, int group)
{
    struct planner *p = context;
    const struct pw_figure *f = p->figure;
    variant = p->stand_in ? p->stand_in[variant] : variant;
    for (size_t w = 0; w < f->workload_count; w++) {
        size_t cell = variant * f->workload_count + w;
        if (group >= 0 && f->workloads[w].group != (unsigned)group)
            continue;
        p->wanted[alone ? ALONE : TOGETHER][cell] = true;
        p->wanted[BASELINE][cell] |= f->measures[measure].needs_alone;
    }
}

/* Of the table and the claims, or of the claims with their null designs. */
static void want_all(struct planner *p)
{
    const struct pw_figure *f = p->figure;
    for (size_t i = 0; i < f->column_count && !p->for_null; i++)
        pw_expression_references(f->columns[i].expression, want, p);
    for (size_t i = 0; i < f->claim_count; i++) {
        p->stand_in = p->for_null ? f->claims[i].stand_in : NULL;
        for (size_t part = 0; part < f->claims[i].part_count && (p->stand_in || !p->for_null); part++)
            pw_expression_references(f->claims[i].parts[part], want, p);
    }
}

static bool has_nulls(const struct pw_figure *f)
{
    for (size_t i = 0; i < f->claim_count; i++)
        if (f->claims[i].stand_in)
            return true;
    return false;
}

static enum pw_status plan_all(struct planner *p)
{
    const struct pw_figure *f = p->figure;
    enum pw_status status = PW_OK;
    want_all(p);
    for (size_t v = 0; v < f->variant_count + f->null_count && status == PW_OK; v++)
        status = plan_variant(p, v);
    return status;
}

size_t pw_plan_cells(const struct pw_plan_figure *f)
{
    return (f->figure->variant_count + f->figure->null_count) * f->figure->workload_count;
}

size_t pw_plan_cell(const struct pw_plan_figure *f, unsigned seed, size_t variant, size_t workload)
{
    return seed * pw_plan_cells(f) + variant * f->figure->workload_count + workload;
}

static int *no_jobs(size_t count)
{
    int *jobs = calloc(count + 1, sizeof *jobs);
    for (size_t i = 0; jobs && i < count; i++)
        jobs[i] = -1;
    return jobs;
}

/* Adds the figure's own entry to the plan, with no jobs yet. */
static enum pw_status prepare(struct planner *p, unsigned seeds)
{
    const struct pw_figure *f = p->figure;
    struct pw_plan_figure *grown = realloc(p->plan->figures, (p->plan->figure_count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(p);
    p->plan->figures = grown;
    p->target = &grown[p->plan->figure_count++];
    *p->target = (struct pw_plan_figure){.figure = f, .seed_count = seeds, .apps = 1};
    for (size_t w = 0; w < f->workload_count; w++)
        if (f->workloads[w].app_count > p->target->apps)
            p->target->apps = f->workloads[w].app_count;
    size_t wanted = pw_plan_cells(p->target), cells = seeds * wanted;
    p->target->together = no_jobs(cells);
    p->target->baseline = no_jobs(cells * p->target->apps);
    p->target->alone = no_jobs(cells * p->target->apps);
    bool made = p->target->together && p->target->baseline && p->target->alone;
    for (unsigned kind = 0; kind < RUN_KIND_COUNT; kind++) {
        p->wanted[kind] = calloc(wanted ? wanted : 1, sizeof(bool));
        made &= p->wanted[kind] != NULL;
    }
    return made ? PW_OK : no_memory(p);
}

enum pw_status pw_plan_add(struct pw_plan *plan, const struct pw_figure *f, unsigned seeds, struct pw_error *err)
{
    struct planner *p = calloc(1, sizeof *p);
    if (!p)
        return pw_fail_memory(err, "a plan of runs");
    p->plan = plan;
    p->figure = f;
    p->err = err;
    enum pw_status status = plan->sizes.count ? PW_OK : pw_sizes_load(&plan->sizes, err);
    if (status == PW_OK)
        status = prepare(p, seeds);
    if (status == PW_OK)
        status = plan_all(p);
    p->for_null = true; /* what is wanted already is planned already, and stays the table's and the claims' own */
    if (status == PW_OK && has_nulls(f))
        status = plan_all(p);
    for (unsigned kind = 0; kind < RUN_KIND_COUNT; kind++)
        free(p->wanted[kind]);
    free(p);
    return status;
}

void pw_plan_release(struct pw_plan *plan)
{
    for (size_t i = 0; i < plan->job_count; i++)
        release_job(&plan->jobs[i]);
    for (size_t i = 0; i < plan->figure_count; i++) {
        free(plan->figures[i].together);
        free(plan->figures[i].baseline);
        free(plan->figures[i].alone);
        free(plan->figures[i].refused);
    }
    tdestroy(plan->index, free);
    pw_plan_options_release(&plan->options);
    pw_sizes_release(&plan->sizes);
    free(plan->jobs);
    free(plan->figures);
    *plan = (struct pw_plan){0};
}
