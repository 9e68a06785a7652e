/* The runs of each application alone, for weighted speedup and unfairness (docs/decisions.md).
 *
 * As with `run --alone`: the same program on as many SMs as it has beside the others, with the baseline design, no
 * neighbour, and the settings of the row, as far as the baseline takes them. Rows that come to the same run share it,
 * with a row of the comparison too: an application that has the GPU to itself is alone. */
#include "exp/tools/compare_internal.h"

#include "sim/grow.h"
#include "system/app_sms.h"
#include "system/inputs.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the run of one application alone is made from, as the comparison's jobs refer to it. */
struct alone {
    char *program, *workload, *options;
    const char **sets;
    char sms[32];
};

struct pw_compare_alone {
    size_t *jobs; /* [row * PW_MAX_APPS + application] */
    unsigned *apps;
    struct alone **runs; /* each its own, so that jobs can refer to it */
    size_t count, capacity;
};

/* A job by what identifies it, in a tree. */
struct key {
    struct pw_run_inputs inputs;
    size_t job;
};

static int by_inputs(const void *a, const void *b)
{
    const struct pw_run_inputs *x = &((const struct key *)a)->inputs, *y = &((const struct key *)b)->inputs;
    int order = strcmp(x->options, y->options);
    if (!order)
        order = strcmp(x->workload, y->workload);
    return order ? order : (x->seed > y->seed) - (x->seed < y->seed);
}

static void free_alone(struct alone *a)
{
    if (!a)
        return;
    free(a->program);
    free(a->workload);
    free(a->options);
    free(a->sets);
    free(a);
}

void pw_compare_alone_destroy(struct pw_compare_alone *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->count; i++)
        free_alone(a->runs[i]);
    free(a->runs);
    free(a->jobs);
    free(a->apps);
    free(a);
}

/* The number of the job with these inputs: `number`, unless there is one. */
static enum pw_status find(void **tree, const struct pw_run_inputs *inputs, size_t number, size_t *out,
                           struct pw_error *err)
{
    struct key *key = malloc(sizeof *key);
    if (!key)
        return pw_compare_no_memory(err);
    *key = (struct key){*inputs, number};
    struct key **node = tsearch(key, tree, by_inputs);
    if (!node || *node != key)
        free(key);
    if (!node)
        return pw_compare_no_memory(err);
    *out = (*node)->job;
    return PW_OK;
}

/* Adds a job unless there is one with the same inputs; which it is. */
static enum pw_status find_or_add(struct pw_compare *c, void **tree, const struct pw_pool_job *job, size_t *out,
                                  bool *out_new, struct pw_error *err)
{
    if (find(tree, &job->inputs, c->job_count, out, err) != PW_OK)
        return err->status;
    *out_new = *out == c->job_count;
    if (!*out_new)
        return PW_OK;
    struct pw_pool_job *jobs = realloc(c->jobs, (c->job_count + 2) * sizeof *jobs);
    if (!jobs)
        return pw_compare_no_memory(err);
    c->jobs = jobs;
    c->jobs[c->job_count++] = *job;
    return PW_OK;
}

/* Describes the run alone of a program of a row's workload, on so many SMs. */
static enum pw_status describe(const struct pw_compare *c, const struct pw_compare_place *p, unsigned sms,
                               struct alone *out, struct pw_pool_job *job, struct pw_error *err)
{
    struct pw_run_spec spec = {
        .machine = c->spec.machines[p->machine], .design = "gpu-mmu", .seed = c->spec.seeds[p->seed]};
    bool *lacks = calloc(c->setting_count + 1, sizeof *lacks);
    out->sets = calloc(c->setting_count + 2, sizeof *out->sets);
    enum pw_status status = lacks && out->sets ? PW_OK : pw_compare_no_memory(err);
    if (status == PW_OK)
        status = pw_compare_take(c, &spec, p->values, out->sets, lacks, &out->options, err);
    free(lacks);
    if (status != PW_OK)
        return status;
    snprintf(out->sms, sizeof out->sms, "sm.count=%u", sms);
    out->sets[spec.set_count++] = out->sms;
    out->sets[spec.set_count++] = "apps.sms=even";
    free(out->options);
    out->options = NULL;
    status = pw_run_options(&spec, &out->options, err);
    if (status == PW_OK)
        status = pw_run_workload(out->program, &out->workload, err);
    spec.workload = out->program;
    *job = (struct pw_pool_job){.spec = spec, .cost = 1};
    return status == PW_OK ? pw_run_inputs(out->options, out->workload, spec.seed, &job->inputs, err) : status;
}

static enum pw_status plan_app(struct pw_compare *c, void **tree, size_t row, unsigned app, const char *program,
                               unsigned sms, struct pw_error *err)
{
    struct pw_compare_alone *a = c->private->alone;
    struct pw_compare_place p = pw_compare_place(c, row);
    struct pw_pool_job job;
    struct alone **grown = pw_grow(a->runs, a->count, &a->capacity, sizeof(struct alone *));
    a->runs = grown ? grown : a->runs;
    struct alone *one = grown ? calloc(1, sizeof *one) : NULL;
    if (!one || !(one->program = strdup(program))) {
        free(one);
        return pw_compare_no_memory(err);
    }
    bool new = false;
    enum pw_status status = describe(c, &p, sms, one, &job, err);
    if (status == PW_OK)
        status = find_or_add(c, tree, &job, &a->jobs[row * PW_MAX_APPS + app], &new, err);
    if (new)
        a->runs[a->count++] = one;
    else
        free_alone(one);
    return status;
}

static enum pw_status plan_row(struct pw_compare *c, void **tree, size_t row, struct pw_error *err)
{
    struct pw_run_spec spec = c->jobs[pw_compare_job(c, row)].spec;
    struct pw_workload_text text = pw_workload_cut(spec.workload);
    char *copy = strndup(spec.workload, text.programs), *rest = copy;
    unsigned sms[PW_MAX_APPS] = {0};
    enum pw_status status = copy ? pw_run_sms(&spec, text.apps, sms, err) : pw_compare_no_memory(err);
    c->private->alone->apps[row] = text.apps;
    for (unsigned app = 0; app < text.apps && status == PW_OK; app++)
        status = plan_app(c, tree, row, app, strsep(&rest, ","), sms[app], err);
    free(copy);
    return pw_compare_blame(&spec, true, status, err);
}

enum pw_status pw_compare_plan_alone(struct pw_compare *c, struct pw_error *err)
{
    struct pw_compare_alone *a = c->private->alone = calloc(1, sizeof *a);
    void *tree = NULL;
    if (!a)
        return pw_compare_no_memory(err);
    a->jobs = calloc(c->row_count * PW_MAX_APPS + 1, sizeof *a->jobs);
    a->apps = calloc(c->row_count + 1, sizeof *a->apps);
    enum pw_status status = a->jobs && a->apps ? PW_OK : pw_compare_no_memory(err);
    for (size_t job = 0, ignored; status == PW_OK && job < c->grid_jobs; job++)
        status = find(&tree, &c->jobs[job].inputs, job, &ignored, err);
    for (size_t row = 0; status == PW_OK && row < c->row_count; row++)
        status = plan_row(c, &tree, row, err);
    tdestroy(tree, free);
    return status;
}

/* IPC of an application over its IPC alone. */
static double speedup(const struct pw_compare *c, size_t row, unsigned app)
{
    const struct pw_stored_run *together = c->runs[pw_compare_job(c, row)];
    const struct pw_stored_run *alone = c->runs[c->private->alone->jobs[row * PW_MAX_APPS + app]];
    return together && alone && app < together->app_count && alone->app_count > 0
               ? together->apps[app].ipc / alone->apps[0].ipc
               : NAN;
}

double pw_compare_weighted_speedup(const struct pw_compare *c, size_t row)
{
    double sum = 0;
    for (unsigned app = 0; app < c->private->alone->apps[row]; app++)
        sum += speedup(c, row, app);
    return sum;
}

double pw_compare_unfairness(const struct pw_compare *c, size_t row)
{
    double most = 0;
    for (unsigned app = 0; app < c->private->alone->apps[row]; app++) {
        double slowdown = 1 / speedup(c, row, app);
        if (isnan(slowdown))
            return NAN;
        most = slowdown > most ? slowdown : most;
    }
    return most;
}
