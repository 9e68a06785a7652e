/* Tries of CUDA calls: at which sizes, on which allocations, and their runs.
 *
 * Calls are tried by uvm.advice, which goes by names: allocations of one name, be they freed and allocated again or in
 * several applications, are advised together. Allocations that hardly move any pages are left out, as no call could
 * gain what it has to. What the options say already stays.
 *
 * read-mostly is not tried on what a kernel writes. On an H200 (data/hw/h200-managed.csv) a kernel that writes one
 * array of three with that advice took 7 to 78 times as long, more the larger the arrays; what a simulated write to a
 * copy costs grows with the pages alone (uvm/driver_advice.c).
 *
 * Tries with all memory come first: those in which all pages fit stand for tries with less. */
#include "exp/tools/advise_internal.h"

#include "sim/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An allocation is tried when it has at least so much of all far faults or of all pages that came. */
static const double worth_trying = 0.01;

/* A trial, and what its runs need. */
struct trying {
    struct pw_advice *advice;
    const struct pw_pool *pool;
    struct pw_advice_trial *trial;
    char given[PW_OPTION_TEXT_CAPACITY]; /* uvm.advice as it is */
    size_t after;                        /* runs to come after this trial */
};

static const struct pw_advice_point *point_at(const struct pw_advice *a, size_t memory)
{
    return memory == a->memory_count ? &a->references[0] : pw_advice_at(a, memory, 0);
}

uint64_t pw_advice_baseline(const struct pw_advice *a, const struct pw_advice_trial *t)
{
    return point_at(a, t->memory)->cycles;
}

const struct pw_advice_trial *pw_advice_trial_of(const struct pw_advice *a, size_t memory)
{
    for (size_t i = 0; i < a->trial_count; i++)
        if (a->trials[i].memory == memory)
            return &a->trials[i];
    return NULL;
}

void pw_advice_option(const char *options, const char *name, char *out, size_t capacity)
{
    size_t length = strlen(name), copied = 0;
    while (options && *options && (strncmp(options, name, length) != 0 || options[length] != '=')) {
        options = strchr(options, '\n');
        options = options ? options + 1 : NULL;
    }
    if (options && *options)
        for (options += length + 1; *options && *options != '\n' && copied + 1 < capacity; options++)
            out[copied++] = *options;
    out[copied] = '\0';
}

void pw_advice_plan(const struct pw_advice_trial *t, const struct pw_plan *p, const char *given, struct pw_text *out)
{
    const char *between = given && *given ? "+" : "";
    pw_text_add(out, given ? given : "");
    for (size_t i = 0; i < t->search.allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++)
            if (p->calls[i] & pw_call_kinds[k]) {
                pw_text_print(out, "%s%s:%s", between, t->allocations[i].name, pw_advice_word(pw_call_kinds[k]));
                between = "+";
            }
}

/* Adds what happened to one allocation to its name's. */
static void count(struct pw_advised *list, size_t *known, const struct pw_allocation_result *r)
{
    size_t i = 0;
    while (i < *known && strncmp(list[i].name, r->name, PW_ADVISED_NAME_CAPACITY - 1) != 0)
        i++;
    if (i == *known) {
        list[(*known)++] = (struct pw_advised){0};
        strncpy(list[i].name, r->name, PW_ADVISED_NAME_CAPACITY - 1);
    }
    list[i].apps++;
    list[i].count += r->count;
    list[i].thrashed += r->pages_thrashed;
    list[i].far_faults += r->far_faults;
    list[i].pages_in += r->pages_in;
}

static int by_what_they_cost(const void *x, const void *y)
{
    const struct pw_advised *a = x, *b = y;
    if (a->thrashed != b->thrashed)
        return a->thrashed > b->thrashed ? -1 : 1;
    if (a->far_faults != b->far_faults)
        return a->far_faults > b->far_faults ? -1 : 1;
    if (a->pages_in != b->pages_in)
        return a->pages_in > b->pages_in ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Whether uvm.advice can have the name: some with colons it cannot. */
static bool can_be_named(const char *name)
{
    char text[PW_ADVISED_NAME_CAPACITY + 8];
    struct pw_advice_list list;
    struct pw_error err;
    snprintf(text, sizeof text, "%s:host", name);
    return pw_advice_parse(text, &list, &err) == PW_OK && list.count == 1 && !strcmp(list.items[0].name, name);
}

/* Pinned memory of the host is mapped, and takes no calls. */
static bool is_worth_trying(const struct pw_advice *a, const struct pw_advised *one, double far_faults, double pages_in)
{
    const char *memory = pw_advice_use_of(a, one->name).memory;
    return (one->far_faults || one->pages_in) && can_be_named(one->name) && !(memory && !strcmp(memory, "host")) &&
           ((double)one->far_faults >= worth_trying * far_faults || (double)one->pages_in >= worth_trying * pages_in);
}

/* The allocations that matter, the worst first. */
static enum pw_status find_allocations(const struct pw_advice *a, struct pw_advice_trial *t,
                                       const struct pw_stored_run *r, struct pw_error *err)
{
    size_t known = 0, kept = 0;
    double far_faults = 0, pages_in = 0;
    struct pw_advised *list = t->allocations = calloc(r->allocation_count + 1, sizeof *list);
    if (!list)
        return pw_fail_memory(err, "advice");
    for (size_t i = 0; i < r->allocation_count; i++) {
        count(list, &known, &r->allocations[i]);
        far_faults += (double)r->allocations[i].far_faults;
        pages_in += (double)r->allocations[i].pages_in;
    }
    for (size_t i = 0; i < known; i++)
        if (is_worth_trying(a, &list[i], far_faults, pages_in))
            list[kept++] = list[i];
    qsort(list, kept, sizeof *list, by_what_they_cost);
    t->search.allocation_count = kept < PW_MOST_ADVISED ? kept : PW_MOST_ADVISED;
    t->left_out = known - t->search.allocation_count;
    for (size_t i = 0; i < t->search.allocation_count; i++)
        if (pw_advice_use_of(a, list[i].name).written)
            t->search.refused.calls[i] = PW_ADVICE_READ_MOSTLY;
    return PW_OK;
}

/* What the options say already about the allocations of a trial. */
static enum pw_status find_given(struct trying *c, struct pw_error *err)
{
    struct pw_advice_list list;
    pw_advice_option(c->advice->options, "uvm.advice", c->given, sizeof c->given);
    enum pw_status status = pw_advice_parse(c->given, &list, err);
    for (size_t i = 0; status == PW_OK && i < c->trial->search.allocation_count; i++)
        c->trial->search.given.calls[i] = (uint8_t)pw_advice_take(&list, c->trial->allocations[i].name);
    return status;
}

/* Adds the run of a plan; one whose text would be too long counts as failed. */
static enum pw_status add_plan(struct trying *c, struct pw_advice_batch *b, uint64_t bytes, struct pw_try *t,
                               bool *out_added, struct pw_error *err)
{
    struct pw_text text = {0};
    pw_advice_plan(c->trial, &t->plan, c->given, &text);
    enum pw_status status = pw_text_finish(&text, err);
    *out_added = status == PW_OK && strlen(text.bytes) < PW_OPTION_TEXT_CAPACITY;
    if (*out_added) {
        status = pw_advice_batch_add(c->advice, b, 0, bytes, text.bytes, err);
        if (status == PW_OK)
            b->jobs[b->count - 1].spec.limit_cycles = t->limit;
    } else
        t->failure = "too many names for uvm.advice";
    pw_text_free(&text);
    return status;
}

static uint64_t bytes_at(const struct pw_advice *a, size_t memory)
{
    return memory == a->memory_count ? 0 : a->memories[memory].bytes;
}

/* The search's: runs plans. */
static enum pw_status run_tries(void *context, struct pw_try *tries, size_t tried, struct pw_error *err)
{
    struct trying *c = context;
    size_t next = 0;
    struct pw_advice_batch *b = pw_advice_batch_create(c->advice, tried, err);
    enum pw_status status = b ? PW_OK : PW_FAILED;
    bool added;
    for (size_t i = 0; status == PW_OK && i < tried; i++)
        status = add_plan(c, b, bytes_at(c->advice, c->trial->memory), &tries[i], &added, err);
    c->advice->private->ahead = tried / 2 + c->after;
    if (status == PW_OK)
        status = pw_advice_batch_run(c->advice, c->pool, b, err);
    if (status != PW_OK && status != PW_INTERRUPTED)
        return status;
    for (size_t i = 0; i < tried; i++) {
        if (tries[i].failure)
            continue;
        tries[i].cycles = b->runs[next] ? b->runs[next]->cycles : 0;
        tries[i].stopped = b->jobs[next].stopped;
        tries[i].failure = b->jobs[next].failed ? b->jobs[next].message : NULL;
        next++;
    }
    return status;
}

static enum pw_status try_at(struct trying *c, size_t memory, struct pw_error *err)
{
    struct pw_advice *a = c->advice;
    const struct pw_advice_point *p = point_at(a, memory);
    const struct pw_stored_run *r = p->run ? p->run : a->references[0].run;
    if (!r) /* the policy fails with any memory, so nothing says which allocations matter */
        return PW_OK;
    c->trial = &a->trials[a->trial_count++];
    *c->trial = (struct pw_advice_trial){
        .memory = memory, .search = {.baseline = p->cycles, .most = a->spec.tries, .run = run_tries, .context = c}};
    enum pw_status status = find_allocations(a, c->trial, r, err);
    if (status == PW_OK)
        status = find_given(c, err);
    if (status == PW_OK)
        status = pw_search_run(&c->trial->search, err);
    c->trial->search.context = NULL;
    a->with_calls[memory] = c->trial->search.best_cycles;
    return status;
}

static bool has_all_it_needs(const struct pw_advice *a, size_t memory)
{
    return pw_advice_at(a, memory, 0)->run == a->references[0].run;
}

/* Where to try: with all memory, and at each size that was asked for, or at the one in question. */
static size_t choose_sizes(const struct pw_advice *a, size_t *out)
{
    size_t found = 0, q = pw_advice_size_in_question(a);
    bool all = a->default_sizes;
    for (size_t m = 0; m < a->memory_count; m++)
        all |= has_all_it_needs(a, m);
    if (all)
        out[found++] = a->memory_count;
    for (size_t m = 0; m < a->memory_count; m++) {
        if (has_all_it_needs(a, m))
            continue;
        if (!a->default_sizes || (m == q && !pw_advice_at_full_speed(a, m, 0)))
            out[found++] = m;
    }
    return found;
}

/* The trial with all memory came first and is reported last. */
static void put_last(struct pw_advice *a)
{
    if (a->trial_count < 2 || a->trials[0].memory != a->memory_count)
        return;
    struct pw_advice_trial all = a->trials[0];
    memmove(a->trials, a->trials + 1, (a->trial_count - 1) * sizeof *a->trials);
    a->trials[a->trial_count - 1] = all;
}

/* What the calls for the size in question do at the other sizes that hurt. */
static enum pw_status try_elsewhere(struct trying *c, struct pw_error *err)
{
    struct pw_advice *a = c->advice;
    c->trial = &a->trials[0];
    size_t *places = calloc(a->memory_count + 1, sizeof *places), found = 0, next = 0;
    struct pw_advice_batch *b = places ? pw_advice_batch_create(a, a->memory_count, err) : NULL;
    enum pw_status status = !places ? pw_fail_memory(err, "advice") : b ? PW_OK : PW_FAILED;
    for (size_t m = 0; status == PW_OK && m < a->memory_count; m++) {
        struct pw_try t = {.plan = c->trial->search.best};
        bool added = false;
        if (m != c->trial->memory && !pw_advice_at_full_speed(a, m, 0))
            status = add_plan(c, b, a->memories[m].bytes, &t, &added, err);
        if (added)
            places[found++] = m;
    }
    a->private->ahead = c->after;
    if (status == PW_OK && found)
        status = pw_advice_batch_run(a, c->pool, b, err);
    for (; next < found && b; next++)
        a->with_calls[places[next]] = b->runs[next] ? b->runs[next]->cycles : 0;
    free(places);
    return status;
}

enum pw_status pw_advice_try_calls(struct pw_advice *a, const struct pw_pool *pool, size_t ahead, struct pw_error *err)
{
    struct trying c = {.advice = a, .pool = pool};
    size_t *sizes = calloc(a->memory_count + 1, sizeof *sizes);
    if (!sizes)
        return pw_fail_memory(err, "advice");
    size_t places = choose_sizes(a, sizes);
    enum pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < places; i++) {
        size_t alike = i ? a->trials[0].search.try_count : 2 * PW_CALL_KINDS;
        c.after = (places - i - 1) * alike + ahead;
        status = try_at(&c, sizes[i], err);
    }
    put_last(a);
    for (size_t m = 0; m < a->memory_count; m++)
        if (has_all_it_needs(a, m))
            a->with_calls[m] = a->with_calls[a->memory_count];
    c.after = ahead;
    if (status == PW_OK && a->default_sizes && a->trials[0].memory < a->memory_count &&
        pw_plan_calls(&a->trials[0].search.best))
        status = try_elsewhere(&c, err);
    free(sizes);
    return status;
}

void pw_advice_release_trials(struct pw_advice *a)
{
    for (size_t i = 0; i < a->trial_count; i++) {
        free(a->trials[i].allocations);
        pw_search_free(&a->trials[i].search);
    }
    free(a->trials);
}
