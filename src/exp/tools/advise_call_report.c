/* The calls that help, each with its gain; those that harm, in one line; and how many runs were made.
 *
 * The gain of a call is that of the call alone, and where several are recommended also what leaving it out of all of
 * them would cost: a prefetch, say, may be worth nothing while memory thrashes and much beside the advice that ends
 * it. */
#include "exp/tools/advise_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HARMFUL = 4 };

void pw_advice_call(const char *name, unsigned kind, struct pw_text *out)
{
    pw_text_add(out, kind == PW_ADVICE_PREFETCH ? "cudaMemPrefetchAsync(" : "cudaMemAdvise(");
    pw_text_printable(out, name);
    switch (kind) {
    case PW_ADVICE_PREFETCH:
        pw_text_add(out, ", bytes, device, stream);");
        break;
    case PW_ADVICE_READ_MOSTLY:
        pw_text_add(out, ", bytes, cudaMemAdviseSetReadMostly, device);");
        break;
    case PW_ADVICE_ACCESSED_BY:
        pw_text_add(out, ", bytes, cudaMemAdviseSetAccessedBy, device);");
        break;
    default:
        pw_text_add(out, ", bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);");
        break;
    }
}

/* "17.7 times as fast", "1.20 times as long" */
static void say_times(double before, double after, struct pw_text *out)
{
    char times[PW_NUMBER_CAPACITY];
    bool faster = after <= before;
    pw_text_print(out, "%s times as %s", pw_advice_times_text(faster ? before / after : after / before, times),
                  faster ? "fast" : "long");
}

static void say_gain(uint64_t before, uint64_t after, struct pw_text *out)
{
    char from[PW_NUMBER_CAPACITY], to[PW_NUMBER_CAPACITY];
    pw_format_integer(to, after);
    if (!before) {
        pw_text_print(out, "it runs (%s cycles)", to);
        return;
    }
    pw_format_integer(from, before);
    say_times((double)before, (double)after, out);
    pw_text_print(out, " (%s instead of %s cycles)", to, from);
}

/* What one of the calls gains. */
static void say_call(const struct pw_advice_trial *t, size_t allocation, unsigned kind, struct pw_text *out)
{
    const struct pw_search *s = &t->search;
    const struct pw_advised *one = &t->allocations[allocation];
    const struct pw_try *alone = pw_search_alone(s, allocation, kind);
    struct pw_plan others = s->best;
    others.calls[allocation] &= (uint8_t)~kind;
    const struct pw_try *without = pw_search_find(s, &others);
    bool one_of_many = pw_plan_calls(&s->best) > 1;
    if (alone) {
        say_gain(s->baseline, alone->cycles, out);
        pw_text_add(out, one_of_many ? " alone" : "");
    }
    if (one_of_many && without) {
        char times[PW_NUMBER_CAPACITY];
        pw_text_print(out, "%s%s times beside the others", alone ? "; " : "",
                      pw_advice_times_text((double)without->cycles / (double)s->best_cycles, times));
    }
    if (one->count > one->apps)
        pw_text_print(out, " [each of %llu allocations of this name]", (unsigned long long)one->count);
    else if (one->apps > 1)
        pw_text_print(out, " [in each of %u applications]", one->apps);
}

/* Each call as it stands in a program, and below it what it gains. */
static void call_lines(const struct pw_advice_trial *t, struct pw_text *out)
{
    for (size_t i = 0; i < t->search.allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            if (!(t->search.best.calls[i] & pw_call_kinds[k]))
                continue;
            pw_text_add(out, "  ");
            pw_advice_call(t->allocations[i].name, pw_call_kinds[k], out);
            pw_text_add(out, "\n      ");
            say_call(t, i, pw_call_kinds[k], out);
            pw_text_add(out, "\n");
        }
}

struct harmful {
    size_t allocation;
    unsigned kind;
    uint64_t cycles; /* UINT64_MAX: it fails */
};

static int by_falling_cycles(const void *x, const void *y)
{
    const struct harmful *a = x, *b = y;
    return (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

/* Single calls that cost more than 2%, the worst first. */
static size_t find_harmful(const struct pw_search *s, struct harmful *out)
{
    size_t count = 0;
    for (size_t i = 0; s->baseline && i < s->allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            struct pw_plan p = {0};
            p.calls[i] = (uint8_t)pw_call_kinds[k];
            if (pw_search_harms(s, &p)) {
                const struct pw_try *ran = pw_search_find(s, &p);
                out[count++] = (struct harmful){i, pw_call_kinds[k], ran ? ran->cycles : UINT64_MAX};
            }
        }
    qsort(out, count, sizeof *out, by_falling_cycles);
    return count;
}

static void harmful_line(const struct pw_advice_trial *t, struct pw_text *out)
{
    struct harmful list[PW_MOST_ADVISED * PW_CALL_KINDS];
    size_t count = find_harmful(&t->search, list);
    if (!count)
        return;
    pw_text_add(out, "  Slower: ");
    for (size_t i = 0; i < count && i < MAX_HARMFUL; i++) {
        pw_text_print(out, "%s%s on ", i ? ", " : "", pw_advice_word(list[i].kind));
        pw_text_printable(out, t->allocations[list[i].allocation].name);
        pw_text_add(out, " (");
        if (list[i].cycles == UINT64_MAX)
            pw_text_add(out, "fails");
        else
            say_times((double)t->search.baseline, (double)list[i].cycles, out);
        pw_text_add(out, ")");
    }
    if (count > MAX_HARMFUL)
        pw_text_print(out, " and %zu more", count - MAX_HARMFUL);
    pw_text_add(out, ".\n");
}

static void say_runs(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    size_t done = 0, failed = 0;
    for (size_t i = 0; i < t->search.try_count; i++) {
        done += t->search.tries[i].cycles || t->search.tries[i].failure;
        failed += t->search.tries[i].failure != NULL;
    }
    pw_text_print(out, "  %zu %s tried, on %zu of %zu allocations by name", done,
                  done == 1 ? "combination" : "combinations", t->search.allocation_count,
                  t->search.allocation_count + t->left_out);
    if (failed)
        pw_text_print(out, "; %zu failed", failed);
    if (t->search.cut)
        pw_text_print(out, "; --tries %zu ended the search", a->spec.tries);
    if (done < t->search.try_count)
        pw_text_add(out, "; interrupted");
    pw_text_add(out, ".\n");
}

static void say_trial(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    const struct pw_search *s = &t->search;
    unsigned calls = pw_plan_calls(&s->best);
    char text[PW_ADVICE_TEXT_CAPACITY];
    pw_text_print(out, "\nWith %s, ", pw_advice_size_text(a, t->memory, text));
    if (!calls) {
        pw_text_print(out, "no call makes it %s.\n", s->baseline ? "2% faster" : "run");
    } else {
        pw_text_add(out, calls == 1 ? "this call helps:\n" : "these calls help:\n");
        call_lines(t, out);
    }
    if (calls > 1) {
        pw_text_add(out, "  Together: ");
        say_gain(s->baseline, s->best_cycles, out);
        pw_text_add(out, ".\n");
    }
    harmful_line(t, out);
    say_runs(a, t, out);
}

void pw_advice_say_calls(const struct pw_advice *a, struct pw_text *out)
{
    for (size_t i = 0; i < a->trial_count; i++)
        say_trial(a, &a->trials[i], out);
}
