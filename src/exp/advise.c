/* The runs behind advice on device memory: what is asked for, which runs that needs, and what they say. */
#include "exp/advise.h"

#include "sim/option.h"
#include "system/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pw_advice_designs[] = {"uvm-nvidia", "uvm-tbn-tbn", "uvm-sl-sl", "uvm-none-lru4k", NULL};
const char *const pw_advice_shares[] = {"150%", "125%", "110%", "100%", "90%", "80%", "70%", "50%", NULL};

enum { MAX_SIZES = 1000, PAGE_BYTES = 4096 };

/* A size as it was asked for. */
struct wish {
    bool is_share;
    double share;
    uint64_t bytes;
};

struct pw_advice_private {
    char *workload; /* as it identifies a run */
    struct wish *wishes;
    struct pw_pool_job *jobs; /* of a phase: first those with all memory, then those with less */
    struct pw_stored_run **runs;
    size_t job_count;
    char **texts; /* that jobs point to */
    size_t text_count;
    const char ***set_lists;
    size_t set_list_count;
    /* For the progress over both phases: */
    const struct pw_pool *pool;
    size_t total, done_before;
};

static enum pw_status no_memory(struct pw_error *err)
{
    return pw_fail_memory(err, "advice");
}

static enum pw_status read_wish(const char *text, struct wish *out, struct pw_error *err)
{
    char *end;
    *out = (struct wish){.share = strtod(text, &end)};
    out->is_share = end != text && strcmp(end, "%") == 0;
    if (out->is_share) {
        if (!(out->share >= 1 && out->share <= 10000))
            return pw_fail(err, PW_USER_ERROR, "--memory: %s is no share from 1%% to 10000%%", text);
        return PW_OK;
    }
    static const struct pw_option row = {"memory", PW_OPTION_BYTES, 0,    PAGE_BYTES,       0,
                                         "",       "bytes",         NULL, "Device memory.", false};
    enum pw_status status = pw_option_parse(&row, text, 0, &out->bytes, err);
    if (status != PW_OK)
        pw_fail(err, PW_USER_ERROR,
                "--memory: \"%.40s\" is no size such as 8GB (4KB or more), and no share such as 80%%", text);
    return status;
}

static enum pw_status read_wishes(struct pw_advice *a, struct pw_error *err)
{
    struct pw_advice_spec *spec = &a->spec;
    if (!spec->memory_count) {
        a->default_sizes = true;
        spec->memories = pw_advice_shares;
        while (pw_advice_shares[spec->memory_count])
            spec->memory_count++;
    }
    if (spec->memory_count > MAX_SIZES)
        return pw_fail(err, PW_USER_ERROR, "--memory: at most %d sizes", MAX_SIZES);
    a->private->wishes = calloc(spec->memory_count, sizeof *a->private->wishes);
    if (!a->private->wishes)
        return no_memory(err);
    enum pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < spec->memory_count; i++)
        status = read_wish(spec->memories[i], &a->private->wishes[i], err);
    return status;
}

/* Keeps a text until the advice is destroyed; NULL stays NULL. */
static char *keep(struct pw_advice_private *p, char *text)
{
    char **grown = text ? realloc(p->texts, (p->text_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        return NULL;
    }
    p->texts = grown;
    return p->texts[p->text_count++] = text;
}

/* The options of a run: what the user has set, and the memory (0: all there is). */
static const char **make_sets(struct pw_advice *a, uint64_t bytes)
{
    struct pw_advice_private *p = a->private;
    char memory[64];
    snprintf(memory, sizeof memory, "uvm.memory=%lluB", (unsigned long long)bytes);
    const char ***grown = realloc(p->set_lists, (p->set_list_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    p->set_lists = grown;
    const char **sets = calloc(a->spec.set_count + 2, sizeof *sets);
    if (!sets)
        return NULL;
    p->set_lists[p->set_list_count++] = sets;
    for (size_t i = 0; i < a->spec.set_count; i++)
        sets[i] = a->spec.sets[i];
    sets[a->spec.set_count] = "uvm.oversubscription=0";
    sets[a->spec.set_count + 1] = keep(p, strdup(memory));
    return sets[a->spec.set_count + 1] ? sets : NULL;
}

static enum pw_status describe_job(struct pw_advice *a, size_t design, uint64_t bytes, struct pw_pool_job *out,
                                   struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    const char **sets = make_sets(a, bytes);
    if (!sets)
        return no_memory(err);
    char *options = NULL;
    *out = (struct pw_pool_job){.spec = {.machine = a->spec.machine,
                                         .design = a->spec.designs[design],
                                         .workload = a->spec.workload,
                                         .sets = sets,
                                         .set_count = a->spec.set_count + 2,
                                         .seed = a->spec.seed},
                                .cost = 1};
    enum pw_status status = pw_run_options(&out->spec, &options, err);
    if (status != PW_OK)
        return status;
    if (!strstr(options, "\npaging.mode=demand\n")) {
        free(options);
        return pw_fail(err, PW_USER_ERROR,
                       "design %s does not page on demand; `pagewalk list designs` shows those that do, uvm-…",
                       a->spec.designs[design]);
    }
    options = keep(p, options);
    out->inputs = (struct pw_run_inputs){pw_core_version(), options, p->workload, a->spec.seed};
    return options ? PW_OK : no_memory(err);
}

static enum pw_status prepare(struct pw_advice *a, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    size_t designs = a->spec.design_count;
    enum pw_status status = read_wishes(a, err);
    if (status == PW_OK)
        status = pw_run_workload(a->spec.workload, &p->workload, err);
    if (status != PW_OK)
        return status;
    size_t most = designs * (a->spec.memory_count + 1);
    p->jobs = calloc(most, sizeof *p->jobs);
    p->runs = calloc(most, sizeof(struct pw_stored_run *));
    a->memories = calloc(a->spec.memory_count, sizeof *a->memories);
    a->references = calloc(designs, sizeof *a->references);
    a->points = calloc(most, sizeof *a->points);
    if (!p->jobs || !p->runs || !a->memories || !a->references || !a->points)
        return no_memory(err);
    for (size_t d = 0; status == PW_OK && d < designs; d++)
        status = describe_job(a, d, 0, &p->jobs[d], err);
    p->job_count = designs;
    return status;
}

enum pw_status pw_advice_create(const struct pw_advice_spec *spec, struct pw_advice **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_advice *a = calloc(1, sizeof *a);
    if (!a || !(a->private = calloc(1, sizeof *a->private))) {
        free(a);
        return no_memory(err);
    }
    a->spec = *spec;
    enum pw_status status = prepare(a, err);
    if (status != PW_OK) {
        pw_advice_destroy(a);
        return status;
    }
    *out = a;
    return PW_OK;
}

void pw_advice_destroy(struct pw_advice *a)
{
    if (!a)
        return;
    struct pw_advice_private *p = a->private;
    for (size_t i = 0; p->runs && i < p->job_count; i++)
        pw_stored_run_free(p->runs[i]);
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    for (size_t i = 0; i < p->set_list_count; i++)
        free(p->set_lists[i]);
    free(p->texts);
    free(p->set_lists);
    free(p->runs);
    free(p->jobs);
    free(p->wishes);
    free(p->workload);
    free(p);
    free(a->memories);
    free(a->references);
    free(a->points);
    free(a);
}

static void forward_progress(void *context, const struct pw_pool_progress *p)
{
    const struct pw_advice_private *q = context;
    struct pw_pool_progress all = *p;
    all.total = q->total;
    all.done += q->done_before;
    all.fraction = ((double)q->done_before + p->fraction * (double)p->total) / (double)q->total;
    q->pool->progress(q->pool->context, &all);
}

/* Looks up, runs and loads the jobs [first, job_count). */
static enum pw_status run_jobs(struct pw_advice *a, const struct pw_pool *pool, size_t first, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    struct pw_pool phase = *pool;
    phase.jobs = p->jobs + first;
    phase.count = p->job_count - first;
    phase.finished = NULL;
    phase.progress = pool->progress ? forward_progress : NULL;
    phase.context = p;
    p->pool = pool;
    p->done_before = first;
    enum pw_status status = PW_OK;
    bool missing = false;
    for (size_t j = 0; status == PW_OK && j < phase.count; j++) {
        status = pw_store_find(pool->store, &phase.jobs[j].inputs, &phase.jobs[j].run, err);
        missing |= !phase.jobs[j].run;
    }
    if (status == PW_OK && missing)
        status = pw_pool_run(&phase, err);
    for (size_t j = first; status == PW_OK && j < p->job_count; j++)
        if (p->jobs[j].run)
            status = pw_store_load(pool->store, p->jobs[j].run, &p->runs[j], err);
    return status;
}

static double metric(const struct pw_stored_run *r, const char *name)
{
    double value = 0;
    return pw_stored_run_metric(r, name, &value) ? value : 0;
}

static struct pw_advice_point point_of(const struct pw_stored_run *r, const struct pw_pool_job *job)
{
    if (!r)
        return (struct pw_advice_point){.failure = job->message, .slowdown = NAN};
    return (struct pw_advice_point){
        .run = r,
        .cycles = r->cycles,
        .far_faults = metric(r, "gpu0.uvm.far_faults"),
        .pages_in = metric(r, "gpu0.uvm.pages_in"),
        .prefetched = metric(r, "gpu0.uvm.pages_prefetched"),
        .never_used = metric(r, "gpu0.uvm.prefetched_evicted") + metric(r, "gpu0.uvm.prefetched_resident"),
        .evicted = metric(r, "gpu0.uvm.pages_evicted"),
        .thrashed = metric(r, "gpu0.uvm.pages_thrashed"),
    };
}

static enum pw_status read_references(struct pw_advice *a, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    for (size_t d = 0; d < a->spec.design_count; d++) {
        a->references[d] = point_of(p->runs[d], &p->jobs[d]);
        if (!p->runs[d])
            return pw_fail(err, PW_FAILED, "design %s: %s", a->spec.designs[d], p->jobs[d].message);
    }
    a->footprint = metric(p->runs[0], "gpu0.mem.allocated_bytes");
    a->touched = metric(p->runs[0], "gpu0.mem.touched_bytes");
    if (!(a->footprint > 0))
        return pw_fail(err, PW_USER_ERROR, "%s allocates no memory", a->spec.workload);
    return PW_OK;
}

static int by_falling_size(const void *x, const void *y)
{
    uint64_t a = ((const struct pw_advice_memory *)x)->bytes, b = ((const struct pw_advice_memory *)y)->bytes;
    return (a < b) - (a > b);
}

/* Sizes in bytes, whole pages, each once. */
static void place_sizes(struct pw_advice *a)
{
    size_t count = a->spec.memory_count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wish *w = &a->private->wishes[i];
        double pages = w->is_share ? ceil(a->footprint * w->share / 100 / PAGE_BYTES) : 0;
        uint64_t bytes = w->is_share ? (uint64_t)pages * PAGE_BYTES : w->bytes / PAGE_BYTES * PAGE_BYTES;
        a->memories[i] = (struct pw_advice_memory){bytes, (double)bytes / a->footprint};
    }
    qsort(a->memories, count, sizeof *a->memories, by_falling_size);
    for (size_t i = 0; i < count; i++)
        if (!kept || a->memories[i].bytes != a->memories[kept - 1].bytes)
            a->memories[kept++] = a->memories[i];
    a->memory_count = kept;
}

/* Whether the run with all memory is what a run with so much would be: nothing had to leave, and all that came fits. */
static bool is_enough(const struct pw_advice_point *reference, uint64_t bytes)
{
    return reference->evicted == 0 && metric(reference->run, "option.uvm.free_buffer") == 0 &&
           reference->pages_in * PAGE_BYTES <= (double)bytes;
}

enum { NO_JOB = 0 };

static enum pw_status add_jobs(struct pw_advice *a, size_t *job_of, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    enum pw_status status = PW_OK;
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = 0; status == PW_OK && d < a->spec.design_count; d++) {
            if (is_enough(&a->references[d], a->memories[m].bytes))
                continue;
            status = describe_job(a, d, a->memories[m].bytes, &p->jobs[p->job_count], err);
            if (status == PW_OK)
                job_of[m * a->spec.design_count + d] = p->job_count++;
        }
    return status;
}

/* Jobs take about as long as runs of this workload did before. */
static void estimate(struct pw_advice *a, const struct pw_pool *pool)
{
    double seconds = -1;
    struct pw_error ignored;
    if (pw_store_seconds(pool->store, a->private->workload, &seconds, &ignored) != PW_OK || seconds <= 0)
        return;
    for (size_t j = 0; j < a->private->job_count; j++)
        a->private->jobs[j].cost = seconds;
}

static void compare(struct pw_advice *a)
{
    size_t designs = a->spec.design_count;
    double fastest = INFINITY;
    for (size_t d = 0; d < designs; d++)
        fastest = fmin(fastest, (double)a->references[d].cycles);
    for (size_t d = 0; d < designs; d++)
        a->references[d].slowdown = (double)a->references[d].cycles / fastest;
    for (size_t i = 0; i < a->memory_count * designs; i++)
        if (a->points[i].run)
            a->points[i].slowdown = (double)a->points[i].cycles / fastest;
}

enum pw_status pw_advice_run(struct pw_advice *a, const struct pw_pool *pool, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    size_t designs = a->spec.design_count, cells = designs * a->spec.memory_count;
    size_t *job_of = calloc(cells + 1, sizeof *job_of);
    if (!job_of)
        return no_memory(err);
    p->total = designs + cells;
    estimate(a, pool);
    enum pw_status status = run_jobs(a, pool, 0, err);
    if (status == PW_OK)
        status = read_references(a, err);
    if (status == PW_OK) {
        place_sizes(a);
        status = add_jobs(a, job_of, err);
    }
    p->total = p->job_count;
    estimate(a, pool);
    if (status == PW_OK)
        status = run_jobs(a, pool, designs, err);
    for (size_t i = 0; status == PW_OK && i < a->memory_count * designs; i++)
        a->points[i] =
            job_of[i] == NO_JOB ? a->references[i % designs] : point_of(p->runs[job_of[i]], &p->jobs[job_of[i]]);
    if (status == PW_OK)
        compare(a);
    free(job_of);
    return status;
}

const struct pw_advice_point *pw_advice_at(const struct pw_advice *a, size_t memory, size_t design)
{
    return &a->points[memory * a->spec.design_count + design];
}

size_t pw_advice_fastest(const struct pw_advice *a, size_t memory)
{
    size_t best = a->spec.design_count;
    for (size_t d = 0; d < a->spec.design_count; d++)
        if (pw_advice_at(a, memory, d)->run &&
            (best == a->spec.design_count ||
             pw_advice_at(a, memory, d)->cycles < pw_advice_at(a, memory, best)->cycles))
            best = d;
    return best;
}

static bool at_full_speed(const struct pw_advice *a, size_t memory, size_t design)
{
    const struct pw_advice_point *p = pw_advice_at(a, memory, design);
    return p->run && (double)p->cycles <= PW_FULL_SPEED * (double)a->references[design].cycles;
}

size_t pw_advice_full_speed(const struct pw_advice *a, size_t design)
{
    size_t m = 0;
    while (m < a->memory_count && at_full_speed(a, m, design))
        m++;
    return m ? m - 1 : a->memory_count;
}

double pw_advice_need(const struct pw_advice *a, size_t design)
{
    const struct pw_advice_point *all = &a->references[design];
    size_t enough = pw_advice_full_speed(a, design);
    if (all->evicted > 0)
        return 0;
    double everything = all->pages_in * PAGE_BYTES;
    return enough < a->memory_count ? fmin(everything, (double)a->memories[enough].bytes) : everything;
}

size_t pw_advice_size_in_question(const struct pw_advice *a)
{
    size_t last = a->memory_count - 1;
    for (size_t m = 0; a->default_sizes && m < last; m++)
        if (!at_full_speed(a, m, 0))
            return m;
    return last;
}
