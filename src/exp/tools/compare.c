/* The grid of a comparison and the runs behind it.
 *
 * There are as many runs as different options (compare_options.c) times workloads times seeds. The SMs that a workload
 * gives its applications are an option too, but one that differs only with the workload: it is added at the end, run by
 * run. */
#include "exp/tools/compare_internal.h"

#include "system/app_sms.h"
#include "system/inputs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pw_compare_place pw_compare_place(const struct pw_compare *c, size_t row)
{
    struct pw_compare_place p;
    p.seed = row % c->spec.seed_count;
    row /= c->spec.seed_count;
    p.values = row % c->values_count;
    row /= c->values_count;
    p.design = row % c->design_count;
    row /= c->design_count;
    p.machine = row % c->spec.machine_count;
    p.workload = row / c->spec.machine_count;
    return p;
}

size_t pw_compare_options_place(const struct pw_compare *c, const struct pw_compare_place *p)
{
    return (p->machine * c->design_count + p->design) * c->values_count + p->values;
}

size_t pw_compare_row(const struct pw_compare *c, const struct pw_compare_place *p)
{
    size_t per_workload = c->private->place_count;
    return (p->workload * per_workload + pw_compare_options_place(c, p)) * c->spec.seed_count + p->seed;
}

/* A setting that was read has a value at least. */
static size_t value_count(const struct pw_compare *c, size_t setting)
{
    size_t count = c->settings[setting].value_count;
    assert(count > 0);
    return count;
}

size_t pw_compare_value_number(const struct pw_compare *c, size_t values, size_t setting)
{
    for (size_t i = c->setting_count; i-- > setting + 1;)
        values /= value_count(c, i);
    return values % value_count(c, setting);
}

const char *pw_compare_value(const struct pw_compare *c, size_t values, size_t setting)
{
    return c->settings[setting].values[pw_compare_value_number(c, values, setting)];
}

size_t pw_compare_job(const struct pw_compare *c, size_t row)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    size_t number = c->private->number[pw_compare_options_place(c, &p)];
    return (p.workload * c->private->different + number) * c->spec.seed_count + p.seed;
}

/* The same name twice in a list would only repeat rows. */
static enum pw_status check_once(const char *what, const char *const *names, size_t count, struct pw_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[i], names[k]))
                return pw_fail(err, PW_USER_ERROR, "%s %.200s is given twice", what, names[i]);
    return PW_OK;
}

static enum pw_status check_lists(const struct pw_compare_spec *s, struct pw_error *err)
{
    enum pw_status status = check_once("machine", s->machines, s->machine_count, err);
    if (status == PW_OK)
        status = check_once("design", s->designs, s->design_count, err);
    if (status == PW_OK)
        status = check_once("--against:", s->references, s->reference_count, err);
    if (status == PW_OK)
        status = check_once("workload", s->workloads, s->workload_count, err);
    if (status == PW_OK && s->seed_count > PW_COMPARE_MAX_SEEDS)
        return pw_fail(err, PW_USER_ERROR, "--seed: at most %d seeds", PW_COMPARE_MAX_SEEDS);
    for (size_t i = 0; status == PW_OK && i < s->seed_count; i++)
        for (size_t k = 0; k < i; k++)
            if (s->seeds[i] == s->seeds[k])
                return pw_fail(err, PW_USER_ERROR, "seed %llu is given twice", (unsigned long long)s->seeds[i]);
    return status;
}

static size_t find_design(const struct pw_compare *c, const char *name)
{
    size_t i = 0;
    while (i < c->design_count && strcmp(c->designs[i], name) != 0)
        i++;
    return i;
}

static enum pw_status list_designs(struct pw_compare *c, struct pw_error *err)
{
    const struct pw_compare_spec *s = &c->spec;
    c->designs = calloc(s->design_count + s->reference_count + 1, sizeof *c->designs);
    c->references = calloc(s->reference_count + 1, sizeof *c->references);
    if (!c->designs || !c->references)
        return pw_compare_no_memory(err);
    for (size_t i = 0; i < s->reference_count; i++) {
        bool asked_for = false;
        for (size_t k = 0; k < s->design_count; k++)
            asked_for |= !strcmp(s->references[i], s->designs[k]);
        if (!asked_for)
            c->designs[c->design_count++] = s->references[i];
    }
    for (size_t i = 0; i < s->design_count; i++)
        c->designs[c->design_count++] = s->designs[i];
    for (size_t i = 0; i < s->reference_count; i++)
        c->references[i] = find_design(c, s->references[i]);
    return PW_OK;
}

static enum pw_status read_settings(struct pw_compare *c, struct pw_error *err)
{
    c->settings = calloc(c->spec.set_count + 1, sizeof *c->settings);
    if (!c->settings)
        return pw_compare_no_memory(err);
    c->values_count = 1;
    for (size_t i = 0; i < c->spec.set_count; i++) {
        struct pw_setting *s = &c->settings[c->setting_count++];
        enum pw_status status = pw_setting_read(c->spec.sets[i], s, err);
        if (status != PW_OK)
            return status;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(c->settings[k].key, s->key))
                return pw_fail(err, PW_USER_ERROR, "--set %s is given twice; several values are written %s=%s,%s",
                               s->key, s->key, c->settings[k].values[0], s->values[0]);
        if (s->value_count > PW_COMPARE_MAX_RUNS)
            return pw_fail(err, PW_USER_ERROR, "--set %s: more than %d values", s->key, PW_COMPARE_MAX_RUNS);
        if (c->values_count <= PW_COMPARE_MAX_RUNS)
            c->values_count *= s->value_count;
    }
    return PW_OK;
}

/* Sizes of the grid, in floating point first: lists may be long. */
static enum pw_status size_up(struct pw_compare *c, struct pw_error *err)
{
    const struct pw_compare_spec *s = &c->spec;
    double rows = (double)s->workload_count * (double)s->machine_count * (double)c->design_count *
                  (double)c->values_count * (double)s->seed_count;
    if (rows > PW_COMPARE_MAX_RUNS)
        return pw_fail(err, PW_USER_ERROR, "these are more than %d runs; compare less at a time", PW_COMPARE_MAX_RUNS);
    c->row_count = (size_t)rows;
    if (!pw_compare_list_columns(c))
        return pw_compare_no_memory(err);
    struct pw_compare_private *p = c->private;
    p->place_count = s->machine_count * c->design_count * c->values_count;
    p->pairs = calloc(c->values_count * c->setting_count + 1, sizeof *p->pairs);
    p->options = calloc(p->place_count + 1, sizeof *p->options);
    p->sets = calloc(p->place_count * c->setting_count + 1, sizeof *p->sets);
    p->set_counts = calloc(p->place_count + 1, sizeof *p->set_counts);
    p->lacks = calloc(p->place_count * c->setting_count + 1, sizeof *p->lacks);
    p->number = calloc(p->place_count + 1, sizeof *p->number);
    p->workloads = calloc(s->workload_count + 1, sizeof *p->workloads);
    bool all = p->pairs && p->options && p->sets && p->set_counts && p->lacks && p->number && p->workloads;
    return all ? PW_OK : pw_compare_no_memory(err);
}

static enum pw_status describe_jobs(struct pw_compare *c, struct pw_error *err)
{
    struct pw_compare_private *p = c->private;
    c->job_count = c->grid_jobs = c->spec.workload_count * p->different * c->spec.seed_count;
    c->jobs = calloc(c->job_count + 1, sizeof *c->jobs);
    p->job_options = calloc(c->job_count + 1, sizeof *p->job_options);
    if (!c->jobs || !p->job_options)
        return pw_compare_no_memory(err);
    for (size_t row = 0; row < c->row_count; row++) {
        size_t number = pw_compare_job(c, row);
        struct pw_pool_job *job = &c->jobs[number];
        struct pw_compare_place at = pw_compare_place(c, row);
        if (job->inputs.options)
            continue;
        job->spec = pw_compare_spec_at(c, &at);
        enum pw_status status = PW_OK;
        if (pw_workload_cut(job->spec.workload).sms)
            status = pw_compare_blame(&job->spec, true, pw_run_options(&job->spec, &p->job_options[number], err), err);
        const char *options =
            p->job_options[number] ? p->job_options[number] : p->options[pw_compare_options_place(c, &at)];
        if (status == PW_OK)
            status = pw_run_inputs(options, p->workloads[at.workload], c->spec.seeds[at.seed], &job->inputs, err);
        if (status != PW_OK)
            return status;
        job->cost = 1;
    }
    return PW_OK;
}

static enum pw_status prepare(struct pw_compare *c, struct pw_error *err)
{
    enum pw_status status = check_lists(&c->spec, err);
    if (status == PW_OK)
        status = list_designs(c, err);
    if (status == PW_OK)
        status = read_settings(c, err);
    if (status == PW_OK)
        status = size_up(c, err);
    for (size_t i = 0; status == PW_OK && i < c->spec.workload_count; i++)
        status = pw_run_workload(c->spec.workloads[i], &c->private->workloads[i], err);
    if (status == PW_OK)
        status = pw_compare_resolve(c, err);
    if (status == PW_OK)
        status = describe_jobs(c, err);
    if (status == PW_OK && c->spec.alone)
        status = pw_compare_plan_alone(c, err);
    if (status != PW_OK)
        return status;
    c->runs = calloc(c->job_count + 1, sizeof(struct pw_stored_run *));
    return c->runs ? PW_OK : pw_compare_no_memory(err);
}

enum pw_status pw_compare_create(const struct pw_compare_spec *spec, struct pw_compare **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_compare *c = calloc(1, sizeof *c);
    if (!c || !(c->private = calloc(1, sizeof *c->private))) {
        free(c);
        return pw_compare_no_memory(err);
    }
    c->spec = *spec;
    enum pw_status status = prepare(c, err);
    if (status != PW_OK) {
        pw_compare_destroy(c);
        return status;
    }
    *out = c;
    return PW_OK;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

void pw_compare_destroy(struct pw_compare *c)
{
    if (!c)
        return;
    struct pw_compare_private *p = c->private;
    for (size_t i = 0; c->runs && i < c->job_count; i++)
        pw_stored_run_free(c->runs[i]);
    free_texts(p->pairs, c->values_count * c->setting_count);
    free_texts(p->options, p->place_count);
    free_texts(p->workloads, c->spec.workload_count);
    free_texts(p->job_options, c->grid_jobs);
    for (size_t i = 0; c->settings && i < c->setting_count; i++)
        pw_setting_release(&c->settings[i]);
    free(p->sets);
    free(p->set_counts);
    free(p->lacks);
    free(p->own);
    pw_compare_alone_destroy(p->alone);
    free(p->number);
    free(p);
    free(c->settings);
    free(c->columns);
    free(c->designs);
    free(c->references);
    free(c->jobs);
    free(c->runs);
    free(c);
}

/* Runs take about as long as runs of their workload did before. */
static enum pw_status estimate(struct pw_compare *c, struct pw_store *store, struct pw_error *err)
{
    size_t each = c->grid_jobs / c->spec.workload_count;
    for (size_t w = 0; w < c->spec.workload_count; w++) {
        double seconds;
        if (pw_store_seconds(store, c->private->workloads[w], &seconds, err) != PW_OK)
            return err->status;
        for (size_t i = 0; seconds > 0 && i < each; i++)
            c->jobs[w * each + i].cost = seconds;
    }
    for (size_t j = c->grid_jobs; j < c->job_count; j++) {
        double seconds;
        if (pw_store_seconds(store, c->jobs[j].inputs.workload, &seconds, err) != PW_OK)
            return err->status;
        c->jobs[j].cost = seconds > 0 ? seconds : c->jobs[j].cost;
    }
    return PW_OK;
}

enum pw_status pw_compare_run(struct pw_compare *c, const struct pw_pool *pool, struct pw_error *err)
{
    struct pw_pool all = *pool;
    all.jobs = c->jobs;
    all.count = c->job_count;
    all.finished = NULL;
    enum pw_status status = estimate(c, pool->store, err);
    bool missing = false;
    for (size_t j = 0; status == PW_OK && j < c->job_count; j++) {
        status = pw_pool_look_up(pool->store, &c->jobs[j], err);
        if (status != PW_OK || c->jobs[j].run)
            continue;
        missing = true;
        status = pw_compare_blame(&c->jobs[j].spec, true, pw_run_check(&c->jobs[j].spec, err), err);
    }
    if (status == PW_OK && missing)
        status = pw_pool_run(&all, err);
    for (size_t j = 0; status == PW_OK && j < c->job_count; j++)
        if (c->jobs[j].run)
            status = pw_store_load(pool->store, c->jobs[j].run, &c->runs[j], err);
    return status;
}
