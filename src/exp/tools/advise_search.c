/* The search for calls that help. Plans are compared by their measured cycles only; one that failed is slower than any
 * that ran. */
#include "exp/tools/advise_search.h"

#include <stdlib.h>
#include <string.h>

const unsigned pw_call_kinds[PW_CALL_KINDS] = {PW_ADVICE_ACCESSED_BY, PW_ADVICE_READ_MOSTLY, PW_ADVICE_PREFER_HOST,
                                               PW_ADVICE_PREFETCH};

static const struct pw_plan no_calls;

static bool same(const struct pw_plan *a, const struct pw_plan *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

unsigned pw_plan_calls(const struct pw_plan *p)
{
    unsigned count = 0;
    for (size_t i = 0; i < PW_MOST_ADVISED; i++)
        count += (unsigned)__builtin_popcount(p->calls[i]);
    return count;
}

static struct pw_try *known(const struct pw_search *s, const struct pw_plan *p)
{
    for (size_t i = 0; i < s->try_count; i++)
        if (same(&s->tries[i].plan, p))
            return &s->tries[i];
    return NULL;
}

const struct pw_try *pw_search_find(const struct pw_search *s, const struct pw_plan *p)
{
    const struct pw_try *t = known(s, p);
    return t && (t->cycles || t->stopped || t->failure) ? t : NULL;
}

const struct pw_try *pw_search_alone(const struct pw_search *s, size_t allocation, unsigned kind)
{
    struct pw_plan p = no_calls;
    p.calls[allocation] = (uint8_t)kind;
    return pw_search_find(s, &p);
}

/* Whether a call can be added: not twice, only one advice for an allocation, and none that is refused. */
static bool can_add(const struct pw_search *s, const struct pw_plan *p, size_t allocation, unsigned kind)
{
    unsigned there = p->calls[allocation] | s->given.calls[allocation];
    unsigned other = kind == PW_ADVICE_PREFETCH ? PW_ADVICE_PREFETCH : ~(unsigned)PW_ADVICE_PREFETCH;
    return !(there & other) && !(s->refused.calls[allocation] & kind);
}

/* Cycles that are 2% more than so many; 0 for 0, as a limit. */
static uint64_t beyond(uint64_t cycles)
{
    return (uint64_t)(PW_WORTH_A_CALL * (double)cycles);
}

/* Adds a try. False when memory is out. */
static bool add(struct pw_search *s, const struct pw_plan *p, uint64_t limit)
{
    struct pw_try *grown = realloc(s->tries, (s->try_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    s->tries = grown;
    s->tries[s->try_count++] = (struct pw_try){.plan = *p, .limit = limit};
    return true;
}

/* Queues a plan unless it is known. False when memory is out. */
static bool propose(struct pw_search *s, const struct pw_plan *p, uint64_t limit)
{
    if (known(s, p))
        return true;
    if (s->try_count >= s->most) {
        s->cut = true;
        return true;
    }
    return add(s, p, limit);
}

/* Each kind of call on everything. */
static bool propose_alike(struct pw_search *s)
{
    for (size_t k = 0; k < PW_CALL_KINDS; k++) {
        struct pw_plan p = no_calls;
        for (size_t i = 0; i < s->allocation_count; i++)
            if (can_add(s, &p, i, pw_call_kinds[k]))
                p.calls[i] = (uint8_t)pw_call_kinds[k];
        if (pw_plan_calls(&p) > 1 && !propose(s, &p, beyond(s->best_cycles)))
            return false;
    }
    return true;
}

struct addition {
    size_t allocation, place; /* place: of the kind and the allocation, for a stable order */
    unsigned kind;
    uint64_t cycles; /* alone; what was not tried alone comes last */
};

static int by_cycles_alone(const void *x, const void *y)
{
    const struct addition *a = x, *b = y;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

bool pw_search_harms(const struct pw_search *s, const struct pw_plan *p)
{
    const struct pw_try *t = known(s, p);
    return t && s->baseline &&
           (t->failure || t->stopped >= beyond(s->baseline) ||
            (double)t->cycles > PW_WORTH_A_CALL * (double)s->baseline);
}

/* Whether a call that can be added is worth trying beside others: alone it did no harm. */
static bool may_help(const struct pw_search *s, const struct pw_plan *from, size_t allocation, unsigned kind)
{
    struct pw_plan alone = no_calls;
    alone.calls[allocation] = (uint8_t)kind;
    return can_add(s, from, allocation, kind) && !pw_search_harms(s, &alone);
}

/* One call more, the most promising first. */
static bool propose_more(struct pw_search *s, const struct pw_plan *from)
{
    struct addition list[PW_MOST_ADVISED * PW_CALL_KINDS];
    size_t count = 0;
    for (size_t i = 0; i < s->allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            unsigned kind = pw_call_kinds[k];
            if (!may_help(s, from, i, kind))
                continue;
            const struct pw_try *alone = pw_search_alone(s, i, kind);
            list[count] = (struct addition){i, count, kind, alone && alone->cycles ? alone->cycles : UINT64_MAX};
            count++;
        }
    qsort(list, count, sizeof *list, by_cycles_alone);
    for (size_t i = 0; i < count; i++) {
        struct pw_plan p = *from;
        p.calls[list[i].allocation] |= (uint8_t)list[i].kind;
        if (!propose(s, &p, beyond(s->best_cycles)))
            return false;
    }
    return true;
}

static bool propose_less(struct pw_search *s, const struct pw_plan *from)
{
    if (pw_plan_calls(from) < 2)
        return true;
    for (size_t i = 0; i < s->allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            struct pw_plan p = *from;
            p.calls[i] &= (uint8_t)~pw_call_kinds[k];
            if (!same(&p, from) && !propose(s, &p, beyond(s->baseline)))
                return false;
        }
    return true;
}

/* Of all plans within 2% of the fastest the one with the fewest calls, of those the fastest. */
static void choose(struct pw_search *s)
{
    uint64_t fastest = s->baseline ? s->baseline : UINT64_MAX;
    for (size_t i = 0; i < s->try_count; i++)
        if (s->tries[i].cycles && s->tries[i].cycles < fastest)
            fastest = s->tries[i].cycles;
    s->best = no_calls;
    s->best_cycles = s->baseline;
    unsigned fewest = s->baseline && (double)s->baseline <= PW_WORTH_A_CALL * (double)fastest ? 0 : ~0U;
    for (size_t i = 0; i < s->try_count; i++) {
        const struct pw_try *t = &s->tries[i];
        unsigned calls = pw_plan_calls(&t->plan);
        if (!t->cycles || (double)t->cycles > PW_WORTH_A_CALL * (double)fastest)
            continue;
        if (calls < fewest || (calls == fewest && t->cycles < s->best_cycles)) {
            fewest = calls;
            s->best = t->plan;
            s->best_cycles = t->cycles;
        }
    }
}

/* Adds a try that the report needs, unless it is known. False when memory is out. */
static bool add_missing(struct pw_search *s, const struct pw_plan *p)
{
    return !pw_plan_calls(p) || known(s, p) || add(s, p, beyond(s->baseline));
}

/* What each call of the best plan does alone and is worth beside the others, where that has not been tried: the search
 * may have been cut, or have come from a plan with several. */
static enum pw_status try_each(struct pw_search *s, struct pw_error *err)
{
    size_t before = s->try_count;
    for (size_t i = 0; i < s->allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            struct pw_plan alone = no_calls, others = s->best;
            alone.calls[i] = s->best.calls[i] & (uint8_t)pw_call_kinds[k];
            others.calls[i] &= (uint8_t)~alone.calls[i];
            if (!add_missing(s, &alone) || !add_missing(s, &others))
                return pw_fail_memory(err, "tries of CUDA calls");
        }
    return s->try_count == before ? PW_OK : s->run(s->context, s->tries + before, s->try_count - before, err);
}

enum pw_status pw_search_run(struct pw_search *s, struct pw_error *err)
{
    struct pw_plan from = no_calls;
    s->best = no_calls;
    s->best_cycles = s->baseline;
    for (bool first = true;; first = false) {
        size_t before = s->try_count;
        bool enough = (!first || propose_alike(s)) && propose_more(s, &from) && propose_less(s, &from);
        if (!enough)
            return pw_fail_memory(err, "tries of CUDA calls");
        if (s->try_count == before)
            return try_each(s, err);
        enum pw_status status = s->run(s->context, s->tries + before, s->try_count - before, err);
        choose(s);
        if (status != PW_OK)
            return status;
        if (same(&s->best, &from))
            return try_each(s, err);
        from = s->best;
    }
}

void pw_search_free(struct pw_search *s)
{
    free(s->tries);
    s->tries = NULL;
    s->try_count = 0;
}
