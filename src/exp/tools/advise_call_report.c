/* The calls that help, each with its gain; those that harm, in one line; and how many runs were made.
 *
 * The gain of a call is that of the call alone, and where several are recommended also what leaving it out of all of
 * them would cost: a prefetch, say, may be worth nothing while memory thrashes and much beside the advice that ends
 * it. */
#include "exp/tools/advise_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HARMFUL = 4 };

void pw_advice_call(const char *name, uint64_t bytes, unsigned kind, struct pw_text *out)
{
    char size[PW_NUMBER_CAPACITY];
    pw_text_add(out, kind == PW_ADVICE_PREFETCH ? "cudaMemPrefetchAsync(" : "cudaMemAdvise(");
    pw_text_printable(out, name);
    pw_format_bytes(size, (double)bytes);
    if (bytes)
        pw_text_print(out, ", %llu /* %s */, ", (unsigned long long)bytes, size);
    else
        pw_text_add(out, ", bytes, ");
    switch (kind) {
    case PW_ADVICE_PREFETCH:
        pw_text_add(out, "device, stream);");
        break;
    case PW_ADVICE_READ_MOSTLY:
        pw_text_add(out, "cudaMemAdviseSetReadMostly, device);");
        break;
    case PW_ADVICE_ACCESSED_BY:
        pw_text_add(out, "cudaMemAdviseSetAccessedBy, device);");
        break;
    default:
        pw_text_add(out, "cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);");
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

/* Of a try that was stopped: "more than 1.02 times as long" */
static void say_stopped(uint64_t before, uint64_t stopped, struct pw_text *out)
{
    char times[PW_NUMBER_CAPACITY];
    pw_text_print(out, "more than %s times as long", pw_advice_times_text((double)stopped / (double)before, times));
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
    if (alone && alone->failure)
        pw_text_add(out, "fails alone");
    else if (alone && alone->stopped)
        say_stopped(s->baseline, alone->stopped, out);
    else if (alone)
        say_gain(s->baseline, alone->cycles, out);
    pw_text_add(out, alone && !alone->failure && one_of_many ? " alone" : "");
    if (one_of_many && without && without->failure) {
        pw_text_print(out, "%swithout it the others fail", alone ? "; " : "");
    } else if (one_of_many && without) {
        char times[PW_NUMBER_CAPACITY];
        uint64_t cycles = without->stopped ? without->stopped : without->cycles;
        pw_text_print(out, "%s%s%s times beside the others", alone ? "; " : "", without->stopped ? "more than " : "",
                      pw_advice_times_text((double)cycles / (double)s->best_cycles, times));
    }
    if (one->count > one->apps)
        pw_text_print(out, " [each of %llu allocations of this name]", (unsigned long long)one->count);
    else if (one->apps > 1)
        pw_text_print(out, " [in each of %u applications]", one->apps);
}

/* Each allocation that is advised on, its calls as they stand in a program, and below each what it gains. */
static void call_lines(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    char name[PW_ADVICE_NAME_CAPACITY];
    for (size_t i = 0; i < t->search.allocation_count; i++) {
        const struct pw_advice_use use = pw_advice_use_of(a, t->allocations[i].name);
        if (!t->search.best.calls[i])
            continue;
        pw_text_add(out, "  ");
        pw_text_printable(out, pw_advice_name(a, t->allocations[i].name, name));
        pw_text_add(out, ": ");
        pw_advice_say_use(&use, out);
        pw_text_add(out, "\n");
        for (size_t k = 0; k < PW_CALL_KINDS; k++) {
            if (!(t->search.best.calls[i] & pw_call_kinds[k]))
                continue;
            pw_text_add(out, "    ");
            pw_advice_call(name, use.bytes, pw_call_kinds[k], out);
            pw_text_add(out, "\n      ");
            say_call(t, i, pw_call_kinds[k], out);
            pw_text_add(out, "\n");
        }
    }
}

struct harmful {
    size_t allocation;
    unsigned kind;
    uint64_t cycles; /* or those after which it was stopped; UINT64_MAX: it fails */
    bool stopped;
};

static int by_falling_cycles(const void *x, const void *y)
{
    const struct harmful *a = x, *b = y;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? 1 : -1;
    return a->allocation != b->allocation ? (a->allocation > b->allocation) - (a->allocation < b->allocation)
                                          : (a->kind > b->kind) - (a->kind < b->kind);
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
                bool stopped = ran && ran->stopped;
                uint64_t cycles = !ran || ran->failure ? UINT64_MAX : stopped ? ran->stopped : ran->cycles;
                out[count++] = (struct harmful){i, pw_call_kinds[k], cycles, stopped};
            }
        }
    qsort(out, count, sizeof *out, by_falling_cycles);
    return count;
}

static void harmful_line(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    char name[PW_ADVICE_NAME_CAPACITY], times[PW_NUMBER_CAPACITY];
    bool stopped = false;
    struct harmful list[PW_MOST_ADVISED * PW_CALL_KINDS];
    size_t count = find_harmful(&t->search, list);
    if (!count)
        return;
    pw_text_add(out, "  Slower: ");
    for (size_t i = 0; i < count && i < MAX_HARMFUL; i++) {
        pw_text_print(out, "%s%s on ", i ? ", " : "", pw_advice_word(list[i].kind));
        pw_text_printable(out, pw_advice_name(a, t->allocations[list[i].allocation].name, name));
        stopped |= list[i].stopped;
        if (list[i].stopped)
            continue;
        pw_text_add(out, " (");
        if (list[i].cycles == UINT64_MAX)
            pw_text_add(out, "fails");
        else
            say_times((double)t->search.baseline, (double)list[i].cycles, out);
        pw_text_add(out, ")");
    }
    if (count > MAX_HARMFUL)
        pw_text_print(out, " and %zu more", count - MAX_HARMFUL);
    if (stopped)
        pw_text_print(out, " (stopped at %s times as long)", pw_advice_times_text(PW_WORTH_A_CALL, times));
    pw_text_add(out, ".\n");
}

static void say_runs(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    size_t done = 0, failed = 0, stopped = 0;
    const char *why = NULL;
    for (size_t i = 0; i < t->search.try_count; i++) {
        done += t->search.tries[i].cycles || t->search.tries[i].stopped || t->search.tries[i].failure;
        stopped += t->search.tries[i].stopped != 0;
        failed += t->search.tries[i].failure != NULL;
        why = why ? why : t->search.tries[i].failure;
    }
    pw_text_print(out, "  %zu %s tried, on %zu of %zu allocations by name", done,
                  done == 1 ? "combination" : "combinations", t->search.allocation_count,
                  t->search.allocation_count + t->left_out);
    if (stopped)
        pw_text_print(out, "; %zu stopped early", stopped);
    if (failed) {
        pw_text_print(out, "; %zu failed (", failed);
        pw_text_printable(out, why);
        pw_text_add(out, ")");
    }
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
        call_lines(a, t, out);
    }
    if (calls > 1) {
        pw_text_add(out, "  Together: ");
        say_gain(s->baseline, s->best_cycles, out);
        pw_text_add(out, ".\n");
    }
    harmful_line(a, t, out);
    say_runs(a, t, out);
}

void pw_advice_say_calls(const struct pw_advice *a, struct pw_text *out)
{
    for (size_t i = 0; i < a->trial_count; i++)
        say_trial(a, &a->trials[i], out);
}
