/* Makes the runs of a figure and evaluates it: plan, pool, store and expressions put together (experiment.h). */
#include "exp/figure/experiment.h"

#include "sim/fnv.h"
#include "system/inputs.h"

#include <stdlib.h>
#include <string.h>

/* Whether `figure` ("mosaic/fig03") is asked for by `name` ("mosaic", "mosaic/fig03"). */
static bool asked_for(const char *figure, const char *name)
{
    size_t length = strlen(name);
    return strncmp(figure, name, length) == 0 && (figure[length] == 0 || figure[length] == '/');
}

static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return name[0] == '/' || name[0] == '.' || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

static enum pw_status unknown_figure(const char *name, struct pw_error *err)
{
    size_t count = 0, papers = 0;
    while (pw_figure_files[count].name)
        count++;
    const char **names = calloc(2 * count + 1, sizeof *names);
    char **folders = calloc(count + 1, sizeof *folders);
    const char *nearest = NULL;
    if (names && folders) {
        for (size_t i = 0; i < count; i++) {
            names[i] = pw_figure_files[i].name;
            folders[i] = strdup(names[i]);
            if (folders[i] && strchr(folders[i], '/'))
                *strchr(folders[i], '/') = 0;
            names[count + papers] = folders[i];
            papers += folders[i] != NULL;
        }
        nearest = pw_suggest(name, names);
    }
    enum pw_status status =
        pw_fail(err, PW_USER_ERROR, "there is no paper or figure \"%.80s\"%s%s; `pagewalk list figures` shows them",
                name, nearest ? "; did you mean " : "", nearest ? nearest : "");
    for (size_t i = 0; folders && i < count; i++)
        free(folders[i]);
    free(folders);
    free(names);
    return status;
}

/* How a figure came to be asked for: with all others, with those of its paper, by its own name. */
enum asked { AMONG_ALL, BY_PAPER, BY_NAME };

/* Adds a figure. Among all, only those count that decide a claim: the others are studies, for who wants them. One that
 * --quick leaves out is an error where it was asked for by its own name. */
static enum pw_status load_figure(struct pw_experiment *e, const char *name, enum asked asked, struct pw_error *err)
{
    for (size_t i = 0; i < e->figure_count; i++)
        if (strcmp(e->figures[i]->name, name) == 0)
            return PW_OK;
    struct pw_figure **grown = realloc(e->figures, (e->figure_count + 1) * sizeof(struct pw_figure *));
    if (!grown)
        return pw_fail_memory(err, "figures");
    e->figures = grown;
    struct pw_figure *f;
    enum pw_status status = pw_figure_load(name, e->scope, &f, err);
    if (status != PW_OK)
        return status;
    bool too_small = f->full_only && e->scope == PW_QUICK, study = !f->claim_count && asked == AMONG_ALL;
    if (too_small || study) {
        pw_figure_free(f);
        return asked == BY_NAME ? pw_fail(err, PW_USER_ERROR, "%s makes no sense at small sizes; add --full", name)
                                : PW_OK;
    }
    e->figures[e->figure_count++] = f;
    return PW_OK;
}

/* The embedded figures that a name stands for; NULL: all that decide claims. */
static enum pw_status load_embedded(struct pw_experiment *e, const char *name, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    bool found = false;
    for (const struct pw_figure_file *f = pw_figure_files; status == PW_OK && f->name; f++)
        if (!name || asked_for(f->name, name)) {
            found = true;
            enum asked asked = !name ? AMONG_ALL : strcmp(name, f->name) == 0 ? BY_NAME : BY_PAPER;
            status = load_figure(e, f->name, asked, err);
        }
    return found ? status : unknown_figure(name, err);
}

static enum pw_status load_figures(struct pw_experiment *e, const struct pw_experiment_spec *spec, struct pw_error *err)
{
    if (!spec->name_count)
        return load_embedded(e, NULL, err);
    enum pw_status status = PW_OK;
    for (size_t n = 0; status == PW_OK && n < spec->name_count; n++)
        status = is_file(spec->names[n]) ? load_figure(e, spec->names[n], BY_NAME, err)
                                         : load_embedded(e, spec->names[n], err);
    return status;
}

static enum pw_status replace_designs(struct pw_experiment *e, const struct pw_experiment_spec *spec,
                                      struct pw_error *err)
{
    for (size_t r = 0; r < spec->replacement_count; r++) {
        const char *text = spec->replacements[r], *equals = strchr(text, '=');
        bool used = false;
        if (!equals || equals == text || !equals[1])
            return pw_fail(err, PW_USER_ERROR, "\"%.80s\": say DESIGN=OTHER to run OTHER in its place", text);
        for (size_t i = 0; i < e->figure_count; i++)
            for (size_t v = 0; v < e->figures[i]->variant_count + e->figures[i]->null_count; v++) {
                char **design = &e->figures[i]->variants[v].design;
                if (strlen(*design) != (size_t)(equals - text) || strncmp(*design, text, (size_t)(equals - text)) != 0)
                    continue;
                char *other = strdup(equals + 1);
                if (!other)
                    return pw_fail_memory(err, "designs");
                free(*design);
                *design = other;
                e->figures[i]->variants[v].replaced = true;
                used |= v < e->figures[i]->variant_count;
            }
        if (!used)
            return pw_fail(err, PW_USER_ERROR, "none of these figures has a design \"%.*s\" to replace",
                           (int)(equals - text), text);
    }
    return PW_OK;
}

static enum pw_status describe_job(const struct pw_job *job, struct pw_pool_job *out, char **out_workload,
                                   struct pw_error *err)
{
    enum pw_status status = pw_run_workload(job->workload, out_workload, err);
    out->cost = job->cost;
    out->spec = (struct pw_run_spec){.machine = job->machine,
                                     .design = job->design,
                                     .workload = job->workload,
                                     .sets = (const char *const *)job->sets,
                                     .set_count = job->set_count,
                                     .seed = job->seed};
    return status == PW_OK ? pw_run_inputs(job->options, *out_workload, job->seed, &out->inputs, err) : status;
}

static uint64_t digest_jobs(const uint64_t *hashes, const int *jobs, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++)
        hash = pw_fnv_number(hash, jobs[i] < 0 ? 0 : hashes[jobs[i]]);
    return hash;
}

/* Of every figure, a digest of what identifies its runs. */
static enum pw_status digest_figures(struct pw_experiment *e, struct pw_error *err)
{
    uint64_t *hashes = calloc(e->plan.job_count + 1, sizeof *hashes);
    if (!hashes)
        return pw_fail_memory(err, "runs");
    for (size_t j = 0; j < e->plan.job_count; j++)
        hashes[j] = pw_run_inputs_hash(&e->jobs[j].inputs);
    for (size_t i = 0; i < e->plan.figure_count; i++) {
        struct pw_plan_figure *f = &e->plan.figures[i];
        size_t cells = pw_plan_cells(f);
        uint64_t hash = digest_jobs(hashes, f->together, cells, PW_FNV_START);
        hash = digest_jobs(hashes, f->baseline, cells * f->apps, hash);
        f->runs_digest = digest_jobs(hashes, f->alone, cells * f->apps, hash);
    }
    free(hashes);
    return PW_OK;
}

enum pw_status pw_experiment_create(const struct pw_experiment_spec *spec, struct pw_experiment **out,
                                    struct pw_error *err)
{
    *out = NULL;
    struct pw_experiment *e = calloc(1, sizeof *e);
    if (!e)
        return pw_fail_memory(err, "an experiment");
    e->scope = spec->scope;
    enum pw_status status = load_figures(e, spec, err);
    for (size_t i = 0; status == PW_OK && i < e->figure_count; i++)
        status = pw_figure_draw(e->figures[i], spec->percent ? spec->percent : 100, err);
    if (status == PW_OK)
        status = replace_designs(e, spec, err);
    for (size_t i = 0; status == PW_OK && i < e->figure_count; i++)
        status = pw_plan_add(&e->plan, e->figures[i], spec->seeds ? spec->seeds : 1, err);
    if (status == PW_OK) {
        e->jobs = calloc(e->plan.job_count + 1, sizeof *e->jobs);
        e->runs = calloc(e->plan.job_count + 1, sizeof(struct pw_stored_run *));
        e->workloads = calloc(e->plan.job_count + 1, sizeof(char *));
        if (!e->jobs || !e->runs || !e->workloads)
            status = pw_fail_memory(err, "runs");
    }
    for (size_t j = 0; status == PW_OK && j < e->plan.job_count; j++)
        status = describe_job(&e->plan.jobs[j], &e->jobs[j], &e->workloads[j], err);
    if (status == PW_OK)
        status = digest_figures(e, err);
    if (status != PW_OK) {
        pw_experiment_destroy(e);
        return status;
    }
    *out = e;
    return PW_OK;
}

void pw_experiment_destroy(struct pw_experiment *e)
{
    if (!e)
        return;
    for (size_t j = 0; e->runs && j < e->plan.job_count; j++)
        pw_stored_run_free(e->runs[j]);
    for (size_t j = 0; e->workloads && j < e->plan.job_count; j++)
        free(e->workloads[j]);
    free(e->workloads);
    free(e->runs);
    free(e->jobs);
    pw_plan_release(&e->plan);
    for (size_t i = 0; i < e->figure_count; i++)
        pw_figure_free(e->figures[i]);
    free(e->figures);
    free(e);
}

enum pw_status pw_experiment_load(struct pw_experiment *e, struct pw_store *store, size_t job, struct pw_error *err)
{
    return e->jobs[job].run && !e->runs[job] ? pw_store_load(store, e->jobs[job].run, &e->runs[job], err) : PW_OK;
}

enum pw_status pw_experiment_look_up(struct pw_experiment *e, struct pw_store *store, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t j = 0; status == PW_OK && j < e->plan.job_count; j++) {
        if (!e->jobs[j].run)
            status = pw_store_find(store, &e->jobs[j].inputs, &e->jobs[j].run, err);
        if (status == PW_OK)
            status = pw_experiment_load(e, store, j, err);
    }
    return status;
}

size_t pw_experiment_null_jobs(const struct pw_experiment *e)
{
    size_t count = 0;
    for (size_t j = 0; j < e->plan.job_count; j++)
        count += e->plan.jobs[j].for_null;
    return count;
}

size_t pw_experiment_missing(const struct pw_experiment *e, double *out_seconds)
{
    size_t missing = 0;
    *out_seconds = 0;
    for (size_t j = 0; j < e->plan.job_count; j++)
        if (!e->jobs[j].run) {
            missing++;
            *out_seconds += e->jobs[j].cost;
        }
    return missing;
}

static bool settled(const struct pw_experiment *e, const int *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++)
        if (jobs[i] >= 0 && !e->jobs[jobs[i]].run && !e->jobs[jobs[i]].failed)
            return false;
    return true;
}

bool pw_experiment_figure_settled(const struct pw_experiment *e, size_t figure)
{
    const struct pw_plan_figure *f = &e->plan.figures[figure];
    size_t cells = f->seed_count * pw_plan_cells(f);
    return settled(e, f->together, cells) && settled(e, f->baseline, cells * f->apps) &&
           settled(e, f->alone, cells * f->apps);
}
