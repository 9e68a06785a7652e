/* Batches of runs: jobs for the pool from a policy, a size and advice; progress over all batches.
 *
 * How many runs are to come is known for the sizes and guessed for the tries of calls, so the bar may jump ahead. */
#include "exp/tools/advise_internal.h"

#include "system/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 3 }; /* beside the user's: oversubscription, memory, advice */

static enum pw_status no_memory(struct pw_error *err)
{
    return pw_fail_memory(err, "advice");
}

char *pw_advice_keep(struct pw_advice_private *p, char *text)
{
    char **grown = text ? realloc(p->texts, (p->text_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        return NULL;
    }
    p->texts = grown;
    return p->texts[p->text_count++] = text;
}

static char *keep_text(struct pw_advice_private *p, const char *name, const char *value)
{
    char *text = malloc(strlen(name) + strlen(value) + 1);
    if (text)
        strcat(strcpy(text, name), value);
    return pw_advice_keep(p, text);
}

/* The options of a run: what the user has set, the memory, the advice. */
static const char **make_sets(struct pw_advice *a, uint64_t bytes, const char *advice, size_t *out_count)
{
    struct pw_advice_private *p = a->private;
    char memory[64];
    snprintf(memory, sizeof memory, "%lluB", (unsigned long long)bytes);
    const char ***grown = realloc(p->set_lists, (p->set_list_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    p->set_lists = grown;
    size_t count = a->spec.set_count;
    const char **sets = calloc(count + SETS, sizeof *sets);
    if (!sets)
        return NULL;
    p->set_lists[p->set_list_count++] = sets;
    for (size_t i = 0; i < count; i++)
        sets[i] = a->spec.sets[i];
    sets[count++] = "uvm.oversubscription=0";
    if (!(sets[count++] = keep_text(p, "uvm.memory=", memory)))
        return NULL;
    if (advice && !(sets[count++] = keep_text(p, "uvm.advice=", advice)))
        return NULL;
    *out_count = count;
    return sets;
}

struct pw_advice_batch *pw_advice_batch_create(struct pw_advice *a, size_t capacity, struct pw_error *err)
{
    struct pw_advice_batch *b = calloc(1, sizeof *b);
    if (b) {
        b->jobs = calloc(capacity + 1, sizeof *b->jobs);
        b->runs = calloc(capacity + 1, sizeof(struct pw_stored_run *));
        b->whole = calloc(capacity + 1, sizeof *b->whole);
        b->bytes = calloc(capacity + 1, sizeof *b->bytes);
        b->capacity = capacity;
        b->next = a->private->batches;
        a->private->batches = b;
    }
    if (b && b->jobs && b->runs && b->whole && b->bytes)
        return b;
    no_memory(err);
    return NULL;
}

/* The inputs of a run with so much memory and advice. */
static enum pw_status make_inputs(struct pw_advice *a, struct pw_run_spec *spec, uint64_t bytes, const char *advice,
                                  struct pw_run_inputs *out, struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    char *options = NULL;
    spec->sets = make_sets(a, bytes, advice, &spec->set_count);
    if (!spec->sets)
        return no_memory(err);
    enum pw_status status = pw_run_options(spec, &options, err);
    if (status != PW_OK)
        return status;
    options = pw_advice_keep(p, options);
    return options ? pw_run_inputs(options, p->workload, a->spec.seed, out, err) : no_memory(err);
}

enum pw_status pw_advice_batch_add(struct pw_advice *a, struct pw_advice_batch *b, size_t design, uint64_t bytes,
                                   const char *advice, struct pw_error *err)
{
    struct pw_run_spec spec = {.machine = a->spec.machine,
                               .design = a->spec.designs[design],
                               .workload = a->spec.workload,
                               .seed = a->spec.seed};
    struct pw_pool_job job = {.cost = a->private->cost};
    enum pw_status status = bytes ? make_inputs(a, &spec, 0, advice, &b->whole[b->count], err) : PW_OK;
    if (status == PW_OK)
        status = make_inputs(a, &spec, bytes, advice, &job.inputs, err);
    if (status != PW_OK)
        return status;
    if (!strstr(job.inputs.options, "\npaging.mode=demand\n"))
        return pw_fail(err, PW_USER_ERROR,
                       "design %s does not page on demand; `pagewalk list designs` shows those that do, uvm-…",
                       a->spec.designs[design]);
    job.spec = spec;
    b->bytes[b->count] = bytes;
    b->jobs[b->count++] = job;
    return PW_OK;
}

static void forward_progress(void *context, const struct pw_pool_progress *p)
{
    const struct pw_advice_private *q = context;
    struct pw_pool_progress all = *p;
    size_t total = q->done + q->batch_count + q->ahead;
    double here = p->fraction * (double)p->total, left = (double)p->total - here;
    all.total = total;
    all.done += q->done;
    all.fraction = ((double)q->done + here) / (double)total;
    if (left > 0)
        all.seconds_left *= (left + (double)q->ahead) / left;
    q->pool->progress(q->pool->context, &all);
}

/* A run, or one with all memory that would be the same (pw_advice_is_enough). */
static enum pw_status look_up(struct pw_store *store, struct pw_advice_batch *b, size_t j, struct pw_error *err)
{
    struct pw_pool_job *job = &b->jobs[j];
    struct pw_stored_run *whole = NULL;
    int64_t run = 0;
    enum pw_status status = pw_pool_look_up(store, job, err);
    if (status != PW_OK || job->run || job->stopped || !b->bytes[j])
        return status;
    status = pw_store_find(store, &b->whole[j], &run, err);
    if (status == PW_OK && run)
        status = pw_store_load(store, run, &whole, err);
    if (whole && pw_advice_is_enough(whole, b->bytes[j])) {
        b->runs[j] = whole;
        job->run = run;
    } else {
        pw_stored_run_free(whole);
    }
    return status;
}

enum pw_status pw_advice_batch_run(struct pw_advice *a, const struct pw_pool *pool, struct pw_advice_batch *b,
                                   struct pw_error *err)
{
    struct pw_advice_private *p = a->private;
    struct pw_pool phase = *pool;
    phase.jobs = b->jobs;
    phase.count = b->count;
    phase.finished = NULL;
    phase.progress = pool->progress ? forward_progress : NULL;
    phase.context = p;
    p->pool = pool;
    p->batch_count = b->count;
    enum pw_status status = PW_OK, loaded = PW_OK;
    bool missing = false;
    for (size_t j = 0; status == PW_OK && j < b->count; j++) {
        status = look_up(pool->store, b, j, err);
        missing |= !b->jobs[j].run && !b->jobs[j].stopped;
    }
    if (status == PW_OK && missing)
        status = pw_pool_run(&phase, err);
    struct pw_error trouble;
    for (size_t j = 0; (status == PW_OK || status == PW_INTERRUPTED) && loaded == PW_OK && j < b->count; j++)
        if (b->jobs[j].run && !b->runs[j])
            loaded = pw_store_load(pool->store, b->jobs[j].run, &b->runs[j], &trouble);
    if (loaded != PW_OK && status == PW_OK)
        *err = trouble;
    p->done += b->count;
    a->interrupted |= status == PW_INTERRUPTED;
    return status == PW_OK ? loaded : status;
}

void pw_advice_release_runs(struct pw_advice_private *p)
{
    for (struct pw_advice_batch *b = p->batches, *next; b; b = next) {
        next = b->next;
        for (size_t i = 0; b->runs && i < b->count; i++)
            pw_stored_run_free(b->runs[i]);
        free(b->runs);
        free(b->whole);
        free(b->bytes);
        free(b->jobs);
        free(b);
    }
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    for (size_t i = 0; i < p->set_list_count; i++)
        free(p->set_lists[i]);
    free(p->texts);
    free(p->set_lists);
}
