/* Evaluates a figure: measures over its runs, expressions over the measures, claims over those.
 *
 * Weighted speedup, unfairness and app.speedup compare with each application alone under the baseline design, on as
 * many SMs (docs/decisions.md); these runs are the plan's. A run that is missing makes a value unknown; a run that is
 * there and lacks a metric is a mistake in the figure, since the file says which design runs there. Where another one
 * runs in its place, as a null design does, what it does not have (large pages, prefetched pages) it has none of: 0.
 *
 * Claims are evaluated for each seed, and again with their null designs. */
#include "exp/figure/evaluate.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct evaluation {
    const struct pw_plan_figure *plan;
    struct pw_stored_run *const *runs;
    unsigned seed;          /* from 0 */
    const size_t *stand_in; /* by variant, for a claim's null design; NULL: none */
    bool missing;           /* a run that was asked for */
};

/* Where a measure takes its values from. */
struct place {
    const struct pw_stored_run *run;
    unsigned app;                                /* within the run */
    bool in_place;                               /* of another design: what it lacks it has none of */
    const struct pw_stored_run *const *baseline; /* by application of the run; NULL where missing */
    char lacking[160];                           /* the metric that the run does not have, "" when it has all */
};

static const struct pw_stored_run *run_of(const struct evaluation *e, int job)
{
    return job < 0 ? NULL : e->runs[job];
}

static double stored(struct place *p, const char *name)
{
    double value;
    if (pw_stored_run_metric(p->run, name, &value))
        return value;
    if (p->in_place && strncmp(name, "option.", 7) != 0)
        return 0;
    snprintf(p->lacking, sizeof p->lacking, "%s", name);
    return NAN;
}

/* IPC of an application over its IPC alone. */
static double speedup(const struct place *p, unsigned app)
{
    const struct pw_stored_run *alone = p->baseline[app];
    return alone && alone->app_count > 0 ? p->run->apps[app].ipc / alone->apps[0].ipc : NAN;
}

static double weighted_speedup(const struct place *p)
{
    double sum = 0;
    for (unsigned i = 0; i < p->run->app_count; i++)
        sum += speedup(p, i);
    return sum;
}

static double unfairness(const struct place *p)
{
    double most = 0;
    for (unsigned i = 0; i < p->run->app_count; i++) {
        double slowdown = 1 / speedup(p, i);
        most = isnan(slowdown) || slowdown > most ? slowdown : most;
        if (isnan(most))
            break;
    }
    return most;
}

static double metric_of_app(struct place *p, unsigned number, const char *name)
{
    const struct pw_stored_app *app = &p->run->apps[number];
    if (!strcmp(name, "ipc"))
        return app->ipc;
    if (!strcmp(name, "cycles"))
        return (double)app->cycles;
    if (!strcmp(name, "sms"))
        return app->sms;
    if (!strcmp(name, "speedup"))
        return speedup(p, number);
    char full[160];
    snprintf(full, sizeof full, "app%u.%s", number, name);
    return stored(p, full);
}

/* "app1.ipc": of the application with that number, which the run may not have. */
static double metric_of_numbered_app(struct place *p, const char *name, size_t prefix)
{
    unsigned long number = strtoul(name + 3, NULL, 10);
    if (number < p->run->app_count)
        return metric_of_app(p, (unsigned)number, name + prefix);
    snprintf(p->lacking, sizeof p->lacking, "%s", name);
    return NAN;
}

static double metric(void *context, const char *name)
{
    struct place *p = context;
    if (!p->run)
        return NAN;
    if (!strncmp(name, "app.", 4))
        return metric_of_app(p, p->app, name + 4);
    size_t numbered = pw_expression_numbered_app(name);
    if (numbered)
        return metric_of_numbered_app(p, name, numbered);
    if (!strncmp(name, "option.", 7))
        return stored(p, name);
    if (!strcmp(name, "cycles"))
        return (double)p->run->cycles;
    if (!strcmp(name, "nanoseconds"))
        return p->run->nanoseconds;
    if (!strcmp(name, "ipc"))
        return p->run->ipc_throughput;
    if (!strcmp(name, "apps"))
        return (double)p->run->app_count;
    if (!strcmp(name, "weighted_speedup"))
        return weighted_speedup(p);
    if (!strcmp(name, "unfairness"))
        return unfairness(p);
    char full[PW_STORED_NAME_CAPACITY];
    pw_stored_run_measure_name(p->run, name, full);
    return stored(p, full);
}

/* The value of a measure in one place. */
static enum pw_status measure(const struct evaluation *e, const struct pw_figure_measure *m, struct place *p,
                              unsigned apps, double *out, struct pw_error *err)
{
    if (p->run && p->run->app_count != apps)
        return pw_fail(err, PW_FAILED, "%s: the run of '%s' has %zu applications in the store, not %u",
                       e->plan->figure->name, p->run->workload, p->run->app_count, apps);
    struct pw_expression_source source = {.metric = metric, .context = p};
    struct pw_vector value;
    enum pw_status status = pw_expression_evaluate(m->expression, &source, &value, err);
    if (status != PW_OK)
        return status;
    *out = value.items[0].value;
    pw_vector_free(&value);
    if (p->lacking[0])
        return pw_fail(err, PW_USER_ERROR, "%s: measure '%s': the run of '%s' on %s with %s has no metric '%s'",
                       e->plan->figure->name, m->name, p->run->workload, p->run->machine, p->run->design, p->lacking);
    return PW_OK;
}

/* The values of a measure for one workload: one, or one per application. Appends to `out`, which has room. */
static enum pw_status measure_workload(struct evaluation *e, size_t measure_index, size_t variant, size_t w, bool alone,
                                       struct pw_vector *out, struct pw_error *err)
{
    const struct pw_plan_figure *plan = e->plan;
    const struct pw_figure_measure *m = &plan->figure->measures[measure_index];
    size_t cell = pw_plan_cell(plan, e->seed, variant, w);
    unsigned apps = plan->figure->workloads[w].app_count;
    const struct pw_stored_run **baseline = calloc(apps, sizeof(struct pw_stored_run *));
    if (!baseline)
        return pw_fail_memory(err, "a figure's values");
    for (unsigned app = 0; app < apps; app++)
        baseline[app] = run_of(e, plan->baseline[cell * plan->apps + app]);
    enum pw_status status = PW_OK;
    bool each = m->per_app || alone;
    for (unsigned app = 0; app < (each ? apps : 1) && status == PW_OK; app++) {
        struct place p = {.run = run_of(e, plan->together[cell]), .app = app, .baseline = baseline};
        if (alone)
            p = (struct place){.run = run_of(e, plan->alone[cell * plan->apps + app]), .baseline = &baseline[app]};
        p.in_place = e->stand_in || plan->figure->variants[variant].replaced;
        e->missing |= !p.run;
        typeof(out->items) item = &out->items[out->count++];
        item->workload = (int)w;
        item->app = each ? (int)app : -1;
        status = measure(e, m, &p, alone ? 1 : apps, &item->value, err);
    }
    free(baseline);
    return status;
}

static enum pw_status reference(void *context, size_t measure_index, size_t variant, bool alone, int group,
                                struct pw_vector *out, struct pw_error *err)
{
    struct evaluation *e = context;
    const struct pw_figure *f = e->plan->figure;
    variant = e->stand_in ? e->stand_in[variant] : variant;
    *out = (struct pw_vector){.items = calloc(f->workload_count * e->plan->apps, sizeof *out->items)};
    if (!out->items)
        return pw_fail_memory(err, "a figure's values");
    enum pw_status status = PW_OK;
    for (size_t w = 0; w < f->workload_count && status == PW_OK; w++)
        if (group < 0 || f->workloads[w].group == (unsigned)group)
            status = measure_workload(e, measure_index, variant, w, alone, out, err);
    if (status != PW_OK)
        pw_vector_free(out);
    return status;
}

/* A claim's values with one seed. */
static enum pw_status claim_values(struct evaluation *e, unsigned seed, const struct pw_figure_claim *c, double *out,
                                   struct pw_error *err)
{
    struct pw_expression_source source = {.reference = reference, .context = e};
    enum pw_status status = PW_OK;
    e->seed = seed;
    for (size_t part = 0; part < c->part_count && status == PW_OK; part++) {
        struct pw_vector value;
        status = pw_expression_evaluate(c->parts[part], &source, &value, err);
        if (status != PW_OK)
            break;
        out[part] = value.items[0].value;
        pw_vector_free(&value);
    }
    e->seed = 0;
    return status;
}

/* A claim's values with each seed, and how far those of a part lie from each other. */
static enum pw_status all_seeds(struct evaluation *e, unsigned seeds, const struct pw_figure_claim *c,
                                double by_seed[PW_MAX_SEEDS][PW_CLAIM_MAX_PARTS], double *scatter, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    assert(seeds > 0);
    for (unsigned s = 0; s < seeds && status == PW_OK; s++)
        status = claim_values(e, s, c, by_seed[s], err);
    for (size_t part = 0; part < c->part_count && status == PW_OK; part++) {
        double least = by_seed[0][part], most = least;
        for (unsigned s = 1; s < seeds; s++) {
            least = fmin(least, by_seed[s][part]);
            most = fmax(most, by_seed[s][part]);
        }
        scatter[part] = most - least;
    }
    return status;
}

/* What comes out with the claim's null design. */
static enum pw_status evaluate_null(struct evaluation *e, const struct pw_figure_claim *c, struct pw_claim_outcome *out,
                                    struct pw_error *err)
{
    double by_seed[PW_MAX_SEEDS][PW_CLAIM_MAX_PARTS], scatter[PW_CLAIM_MAX_PARTS];
    struct evaluation null = *e;
    null.stand_in = c->stand_in;
    null.missing = false;
    enum pw_status status = all_seeds(&null, out->seeds, c, by_seed, scatter, err);
    if (status != PW_OK)
        return status;
    snprintf(out->null_design, sizeof out->null_design, "%s", c->null_design);
    memcpy(out->null_values, by_seed[0], sizeof out->null_values);
    out->awaits_null = null.missing;
    out->null_verdict = pw_claim_judge_values(c->claim, out->null_values, out->count, out->seeds > 1 ? scatter : NULL);
    return PW_OK;
}

const double *pw_claim_scatter(const struct pw_claim_outcome *o)
{
    return o->seeds > 1 ? o->scatter : NULL;
}

static enum pw_status evaluate_claim(struct evaluation *e, unsigned seeds, const struct pw_figure_claim *c,
                                     struct pw_claim_outcome *out, struct pw_error *err)
{
    *out = (struct pw_claim_outcome){.claim = c->claim, .count = c->part_count, .seeds = seeds};
    enum pw_status status = all_seeds(e, seeds, c, out->by_seed, out->scatter, err);
    if (status == PW_OK && c->stand_in)
        status = evaluate_null(e, c, out, err);
    if (status != PW_OK)
        return status;
    memcpy(out->values, out->by_seed[0], sizeof out->values);
    out->verdict = pw_claim_judge_values(c->claim, out->values, out->count, pw_claim_scatter(out));
    out->awaits_null &= out->verdict == PW_HOLDS;
    if (out->verdict != PW_HOLDS)
        return PW_OK;
    if (out->awaits_null)
        out->verdict = PW_NOT_RUN;
    else if (c->claim->weak[0] || (out->null_design[0] && out->null_verdict == PW_HOLDS))
        out->verdict = PW_WEAK;
    return PW_OK;
}

static int compare_jobs(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Counts the different runs of the figure. */
static enum pw_status count_runs(const struct evaluation *e, struct pw_figure_outcome *out, struct pw_error *err)
{
    const struct pw_plan_figure *p = e->plan;
    size_t cells = p->seed_count * pw_plan_cells(p), singles = cells * p->apps;
    int *jobs = malloc((cells + 2 * singles + 1) * sizeof *jobs);
    if (!jobs)
        return pw_fail_memory(err, "a figure's values");
    memcpy(jobs, p->together, cells * sizeof *jobs);
    memcpy(jobs + cells, p->baseline, singles * sizeof *jobs);
    memcpy(jobs + cells + singles, p->alone, singles * sizeof *jobs);
    qsort(jobs, cells + 2 * singles, sizeof *jobs, compare_jobs);
    for (size_t i = 0; i < cells + 2 * singles; i++) {
        if (jobs[i] < 0 || (i > 0 && jobs[i] == jobs[i - 1]))
            continue;
        out->runs_needed++;
        out->runs_there += e->runs[jobs[i]] != NULL;
    }
    free(jobs);
    return PW_OK;
}

static bool are_there(const struct evaluation *e, const int *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i] >= 0 && !e->runs[jobs[i]])
            return false;
    return true;
}

/* The seeds of which every run is there, up to the first that is not so; the first one in any case. */
static unsigned complete_seeds(const struct evaluation *e)
{
    const struct pw_plan_figure *p = e->plan;
    size_t cells = pw_plan_cells(p), singles = cells * p->apps;
    unsigned seeds = 0;
    while (seeds < p->seed_count && are_there(e, p->together + seeds * cells, cells) &&
           are_there(e, p->baseline + seeds * singles, singles) && are_there(e, p->alone + seeds * singles, singles))
        seeds++;
    return seeds ? seeds : 1;
}

/* The table's columns with each seed. */
static enum pw_status evaluate_columns(struct evaluation *e, struct pw_figure_outcome *out, struct pw_error *err)
{
    const struct pw_figure *f = out->figure;
    const struct pw_expression_source source = {.reference = reference, .context = e};
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < out->seeds * f->column_count && status == PW_OK; i++) {
        e->seed = (unsigned)(i / f->column_count);
        status = pw_expression_evaluate(f->columns[i % f->column_count].expression, &source, &out->columns[i], err);
    }
    e->seed = 0;
    return status;
}

enum pw_status pw_figure_evaluate(const struct pw_plan_figure *plan, struct pw_stored_run *const *runs,
                                  struct pw_figure_outcome *out, struct pw_error *err)
{
    const struct pw_figure *f = plan->figure;
    struct evaluation e = {.plan = plan, .runs = runs};
    unsigned seeds = complete_seeds(&e);
    *out = (struct pw_figure_outcome){.figure = f,
                                      .refused = plan->refused,
                                      .runs_digest = plan->runs_digest,
                                      .seeds = seeds,
                                      .seeds_asked_for = plan->seed_count,
                                      .columns = calloc(seeds * f->column_count + 1, sizeof *out->columns),
                                      .claims = calloc(f->claim_count + 1, sizeof *out->claims)};
    enum pw_status status = PW_OK;
    if (!out->columns || !out->claims)
        status = pw_fail_memory(err, "a figure's values");
    if (status == PW_OK)
        status = count_runs(&e, out, err);
    if (status == PW_OK)
        status = evaluate_columns(&e, out, err);
    for (size_t i = 0; i < f->claim_count && status == PW_OK; i++)
        status = evaluate_claim(&e, seeds, &f->claims[i], &out->claims[i], err);
    if (status != PW_OK)
        pw_figure_outcome_release(out);
    return status;
}

void pw_figure_outcome_release(struct pw_figure_outcome *o)
{
    for (size_t i = 0; o->columns && i < o->seeds * o->figure->column_count; i++)
        pw_vector_free(&o->columns[i]);
    free(o->columns);
    free(o->claims);
    *o = (struct pw_figure_outcome){0};
}
