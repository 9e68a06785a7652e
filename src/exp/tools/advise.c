/* The course of advice: what is asked for, the policies at every size, and what their runs say. */
#include "exp/tools/advise_internal.h"

#include "sim/c_locale.h"
#include "sim/option.h"
#include "system/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pw_advice_designs[] = {"uvm-nvidia", "uvm-tbn-tbn", "uvm-sl-sl", "uvm-none-lru4k", NULL};
const char *const pw_advice_shares[] = {"150%", "125%", "110%", "100%", "90%", "80%", "70%", "50%", NULL};

enum { MAX_SIZES = 1000 };

static enum pw_status no_memory(struct pw_error *err)
{
    return pw_fail_memory(err, "advice");
}

static enum pw_status read_wish(const char *text, struct pw_advice_wish *out, struct pw_error *err)
{
    char *end;
    *out = (struct pw_advice_wish){.share = pw_c_strtod(text, &end)};
    out->is_share = end != text && strcmp(end, "%") == 0;
    if (out->is_share) {
        if (!(out->share >= 1 && out->share <= 10000))
            return pw_fail(err, PW_USER_ERROR, "--memory: %s is no share from 1%% to 10000%%", text);
        return PW_OK;
    }
    static const struct pw_option row = {"memory", PW_OPTION_BYTES, 0,    PW_ADVICE_PAGE_BYTES, 0,
                                         "",       "bytes",         NULL, "Device memory.",     false};
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

/* The runs of policies [first, outer) with all memory. */
static enum pw_status add_references(struct pw_advice *a, size_t first, size_t outer, struct pw_error *err)
{
    struct pw_advice_batch *b = pw_advice_batch_create(a, outer - first, err);
    enum pw_status status = b ? PW_OK : PW_FAILED;
    for (size_t d = first; status == PW_OK && d < outer; d++)
        status = pw_advice_batch_add(a, b, d, 0, NULL, err);
    return status;
}

static enum pw_status prepare(struct pw_advice *a, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    size_t designs = a->spec.design_count;
    p->cost = 1;
    enum pw_status status = read_wishes(a, err);
    if (status == PW_OK)
        status = pw_run_workload(a->spec.workload, &p->workload, err);
    if (status != PW_OK)
        return status;
    a->memories = calloc(a->spec.memory_count, sizeof *a->memories);
    a->references = calloc(designs, sizeof *a->references);
    a->points = calloc(designs * a->spec.memory_count, sizeof *a->points);
    a->with_calls = calloc(a->spec.memory_count + 1, sizeof *a->with_calls);
    a->trials = calloc(a->spec.memory_count + 1, sizeof *a->trials);
    if (!a->memories || !a->references || !a->points || !a->with_calls || !a->trials)
        return no_memory(err);
    status = add_references(a, 1, designs, err); /* before the first run, so that mistakes are found */
    if (status == PW_OK)
        status = add_references(a, 0, 1, err);
    if (status == PW_OK)
        a->options = p->batches->jobs[0].inputs.options;
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
    pw_advice_release_trials(a);
    pw_advice_release_uses(a);
    pw_advice_release_runs(p);
    free(p->wishes);
    free(p->workload);
    free(p);
    free(a->memories);
    free(a->references);
    free(a->points);
    free(a->with_calls);
    free(a);
}

static double metric(const struct pw_stored_run *r, const char *name)
{
    double value = 0;
    return pw_stored_run_measure(r, name, &value) ? value : 0;
}

static struct pw_advice_point point_of(const struct pw_stored_run *r, const struct pw_pool_job *job)
{
    if (!r)
        return (struct pw_advice_point){.failure = job->failed ? job->message : NULL, .slowdown = NAN};
    return (struct pw_advice_point){
        .run = r,
        .cycles = r->cycles,
        .far_faults = metric(r, "uvm.far_faults"),
        .pages_in = metric(r, "uvm.pages_in"),
        .prefetched = metric(r, "uvm.pages_prefetched"),
        .never_used = metric(r, "uvm.prefetched_evicted") + metric(r, "uvm.prefetched_resident"),
        .evicted = metric(r, "uvm.pages_evicted"),
        .thrashed = metric(r, "uvm.pages_thrashed"),
    };
}

static enum pw_status read_references(struct pw_advice *a, const struct pw_advice_batch *b, size_t first,
                                      struct pw_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        a->references[first + i] = point_of(b->runs[i], &b->jobs[i]);
        if (!b->runs[i])
            return pw_fail(err, PW_FAILED, "design %s: %s", a->spec.designs[first + i], b->jobs[i].message);
    }
    return PW_OK;
}

/* Bytes that the pages of a run's allocations have beyond what was asked for: at most one page for each name. */
static double rounding(const struct pw_stored_run *r)
{
    uint64_t extra = 0;
    for (size_t i = 0; i < r->allocation_count; i++)
        extra += (PW_ADVICE_PAGE_BYTES - r->allocations[i].bytes % PW_ADVICE_PAGE_BYTES) % PW_ADVICE_PAGE_BYTES;
    return (double)extra;
}

static enum pw_status read_footprint(struct pw_advice *a, struct pw_error *err)
{
    a->allocated = metric(a->references[0].run, "mem.allocated_bytes");
    a->footprint = ceil((a->allocated + rounding(a->references[0].run)) / PW_ADVICE_PAGE_BYTES) * PW_ADVICE_PAGE_BYTES;
    a->touched = metric(a->references[0].run, "mem.touched_bytes");
    a->working_set = fmin(a->touched, a->footprint);
    if (!(a->working_set > 0))
        return pw_fail(err, PW_USER_ERROR, "%s touches no memory", a->spec.workload);
    return PW_OK;
}

static int by_falling_size(const void *x, const void *y)
{
    uint64_t a = ((const struct pw_advice_memory *)x)->bytes, b = ((const struct pw_advice_memory *)y)->bytes;
    return (a < b) - (a > b);
}

/* Sizes in bytes, whole pages as uvm.oversubscription counts them, each once. */
static void place_sizes(struct pw_advice *a)
{
    size_t count = a->spec.memory_count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pw_advice_wish *w = &a->private->wishes[i];
        double bytes = w->is_share ? a->working_set * w->share / 100 : (double)w->bytes;
        double pages = fmax(1, floor(bytes / PW_ADVICE_PAGE_BYTES));
        a->memories[i] = (struct pw_advice_memory){(uint64_t)pages * PW_ADVICE_PAGE_BYTES,
                                                   pages * PW_ADVICE_PAGE_BYTES / a->working_set};
    }
    qsort(a->memories, count, sizeof *a->memories, by_falling_size);
    for (size_t i = 0; i < count; i++)
        if (!kept || a->memories[i].bytes != a->memories[kept - 1].bytes)
            a->memories[kept++] = a->memories[i];
    a->memory_count = kept;
}

bool pw_advice_is_enough(const struct pw_stored_run *r, uint64_t bytes)
{
    return metric(r, "uvm.pages_evicted") == 0 && metric(r, "option.uvm.free_buffer") == 0 &&
           metric(r, "uvm.pages_in") * PW_ADVICE_PAGE_BYTES <= (double)bytes;
}

/* The policies [first, outer) at every size: those that need a run of their own, and then all. */
static enum pw_status run_sizes(struct pw_advice *a, const struct pw_pool *pool, size_t first, size_t outer,
                                struct pw_error *err)
{
    size_t designs = a->spec.design_count, next = 0;
    struct pw_advice_batch *b = pw_advice_batch_create(a, (outer - first) * a->memory_count, err);
    enum pw_status status = b ? PW_OK : PW_FAILED;
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = first; status == PW_OK && d < outer; d++)
            if (!pw_advice_is_enough(a->references[d].run, a->memories[m].bytes))
                status = pw_advice_batch_add(a, b, d, a->memories[m].bytes, NULL, err);
    if (status == PW_OK)
        status = pw_advice_batch_run(a, pool, b, err);
    if (status != PW_OK && status != PW_INTERRUPTED)
        return status;
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = first; d < outer; d++) {
            struct pw_advice_point *p = &a->points[m * designs + d];
            if (pw_advice_is_enough(a->references[d].run, a->memories[m].bytes)) {
                *p = a->references[d];
            } else {
                *p = point_of(b->runs[next], &b->jobs[next]);
                p->failure = status == PW_OK ? p->failure : NULL;
                next++;
            }
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
    a->private->cost = seconds;
    for (struct pw_advice_batch *b = a->private->batches; b; b = b->next)
        for (size_t j = 0; j < b->count; j++)
            b->jobs[j].cost = seconds;
}

static void compare(struct pw_advice *a)
{
    size_t designs = a->spec.design_count;
    double fastest = INFINITY;
    for (size_t d = 0; d < designs; d++)
        if (a->references[d].run)
            fastest = fmin(fastest, (double)a->references[d].cycles);
    for (size_t d = 0; d < designs; d++)
        a->references[d].slowdown = (double)a->references[d].cycles / fastest;
    for (size_t i = 0; i < a->memory_count * designs; i++)
        if (a->points[i].run)
            a->points[i].slowdown = (double)a->points[i].cycles / fastest;
}

/* About how many runs a search takes: each call alone, as many again with others, and those on all allocations. */
static size_t guess_tries(const struct pw_advice *a)
{
    const struct pw_stored_run *r = a->references[0].run;
    size_t candidates = 0;
    for (size_t i = 0; i < r->allocation_count; i++)
        if (r->allocations[i].pages_in) {
            const struct pw_advice_use use = pw_advice_use_of(a, r->allocations[i].name);
            candidates += PW_CALL_KINDS - use.written;
        }
    size_t tries = candidates ? 2 * candidates + PW_CALL_KINDS : 0;
    return tries < a->spec.tries ? tries : a->spec.tries;
}

/* Says what is to come, once it is known what one run takes. */
static void look_ahead(const struct pw_advice *a, const struct pw_pool *pool)
{
    size_t sizes = 0, places = a->default_sizes ? 1 : 0;
    bool all = a->default_sizes;
    for (size_t m = 0; m < a->memory_count; m++) {
        bool enough = pw_advice_is_enough(a->references[0].run, a->memories[m].bytes);
        sizes += !enough;
        places += !enough && !a->default_sizes;
        all |= enough;
    }
    if (!a->spec.outlook)
        return;
    const struct pw_advice_outlook outlook = {.runs =
                                                  a->spec.design_count * (sizes + 1) + (places + all) * guess_tries(a),
                                              .seconds_of_one = a->references[0].run->wall_seconds,
                                              .workers = pool->workers};
    a->spec.outlook(a->spec.outlook_context, &outlook);
}

/* The policy in use: first with all memory, then at every size. */
static enum pw_status run_used(struct pw_advice *a, const struct pw_pool *pool, size_t ahead, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    struct pw_advice_batch *b = p->batches;
    p->ahead = a->spec.memory_count + ahead;
    enum pw_status status = pw_advice_batch_run(a, pool, b, err);
    if (status == PW_OK)
        status = read_references(a, b, 0, err);
    if (status == PW_OK)
        status = read_footprint(a, err);
    if (status != PW_OK)
        return status;
    place_sizes(a);
    look_ahead(a, pool);
    p->ahead = ahead;
    return run_sizes(a, pool, 0, 1, err);
}

static enum pw_status run_others(struct pw_advice *a, const struct pw_pool *pool, struct pw_advice_batch *references,
                                 struct pw_error *err)
{
    size_t designs = a->spec.design_count;
    a->private->ahead = (designs - 1) * a->memory_count;
    enum pw_status status = pw_advice_batch_run(a, pool, references, err);
    if (status == PW_OK)
        status = read_references(a, references, 1, err);
    a->private->ahead = 0;
    return status == PW_OK ? run_sizes(a, pool, 1, designs, err) : status;
}

enum pw_status pw_advice_run(struct pw_advice *a, const struct pw_pool *pool, struct pw_error *err)
{
    enum { GUESSED_TRIES = 40 };
    struct pw_advice_batch *others = a->private->batches->next;
    size_t after = (a->spec.design_count - 1) * (a->spec.memory_count + 1);
    estimate(a, pool);
    enum pw_status status = pw_advice_find_uses(a, pool->interrupted, err);
    if (status == PW_OK)
        status = run_used(a, pool, after + (a->spec.tries ? GUESSED_TRIES : 0), err);
    if (status != PW_OK)
        return status;
    a->known = true;
    estimate(a, pool);
    compare(a);
    if (a->spec.tries)
        status = pw_advice_try_calls(a, pool, after, err);
    if (status == PW_OK && a->spec.design_count > 1)
        status = run_others(a, pool, others, err);
    compare(a);
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

bool pw_advice_at_full_speed(const struct pw_advice *a, size_t memory, size_t design)
{
    const struct pw_advice_point *p = pw_advice_at(a, memory, design);
    return p->run && (double)p->cycles <= PW_FULL_SPEED * (double)a->references[design].cycles;
}

size_t pw_advice_full_speed(const struct pw_advice *a, size_t design)
{
    size_t m = 0;
    while (m < a->memory_count && pw_advice_at_full_speed(a, m, design))
        m++;
    return m ? m - 1 : a->memory_count;
}

double pw_advice_need(const struct pw_advice *a, size_t design)
{
    const struct pw_advice_point *all = &a->references[design];
    size_t enough = pw_advice_full_speed(a, design);
    if (all->evicted > 0)
        return 0;
    double everything = all->pages_in * PW_ADVICE_PAGE_BYTES;
    return enough < a->memory_count ? fmin(everything, (double)a->memories[enough].bytes) : everything;
}

size_t pw_advice_size_in_question(const struct pw_advice *a)
{
    size_t last = a->memory_count - 1;
    for (size_t m = 0; a->default_sizes && m < last; m++)
        if (!pw_advice_at_full_speed(a, m, 0))
            return m;
    return last;
}
