/* Advice in sentences, computed from the numbers: first what to do, then why. What only an architect could change, the
 * driver's policy, stands apart, and so does what the model assumes. */
#include "exp/tools/advise_internal.h"

#include "sim/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMED = 4 };

/* Another policy is mentioned when it makes at least so much of a difference, and an allocation is blamed for thrashing
 * when it has most of it and so much of all traffic is thrashing. */
static const double worth_saying = 1.05, much_thrashing = 0.1, most = 0.6;
/* From here on the sentence says how often each page came: below, most of an allocation came never or only once. */
static const double worth_counting = 1.05;

const char *pw_advice_size_text(const struct pw_advice *a, size_t memory, char out[PW_ADVICE_TEXT_CAPACITY])
{
    char bytes[PW_NUMBER_CAPACITY];
    if (memory == a->memory_count) {
        snprintf(out, PW_ADVICE_TEXT_CAPACITY, "all the memory it needs");
        return out;
    }
    pw_format_bytes(bytes, (double)a->memories[memory].bytes);
    pw_c_snprintf(out, PW_ADVICE_TEXT_CAPACITY, "%s (%.0f%%)", bytes, 100 * a->memories[memory].share);
    return out;
}

const char *pw_advice_times_text(double times, char out[PW_NUMBER_CAPACITY])
{
    pw_c_snprintf(out, PW_NUMBER_CAPACITY, times < 10 ? "%.2f" : times < 100 ? "%.1f" : "%.0f", times);
    return out;
}

/* "8.02 MiB (2,054 pages of 4 KiB)": device memory is given in whole pages. */
static void say_pages(double bytes, struct pw_text *out)
{
    char size[PW_NUMBER_CAPACITY], pages[PW_NUMBER_CAPACITY];
    pw_format_bytes(size, bytes);
    pw_format_integer(pages, (uint64_t)(bytes / PW_ADVICE_PAGE_BYTES));
    pw_text_print(out, "%s (%s pages of 4 KiB)", size, pages);
}

static void say_footprint(const struct pw_advice *a, struct pw_text *out)
{
    char touched[PW_NUMBER_CAPACITY];
    pw_format_integer(touched, (uint64_t)(a->touched / PW_ADVICE_PAGE_BYTES));
    pw_text_add(out, "It allocates ");
    say_pages(a->footprint, out);
    pw_text_print(out, " and accesses %s of them.\n", a->touched >= a->footprint ? "all" : touched);
}

/* How much memory the policy in use needs, and why that may be more than what is accessed. */
static void say_need(const struct pw_advice *a, struct pw_text *out)
{
    double need = pw_advice_need(a, 0), never_used = a->references[0].never_used;
    size_t too_little = 0;
    char text[PW_ADVICE_TEXT_CAPACITY], unused[PW_NUMBER_CAPACITY];
    if (need == 0) {
        pw_text_print(out, "Even all the memory of machine %s is too little for it.\n", a->spec.machine);
        return;
    }
    while (too_little < a->memory_count && (double)a->memories[too_little].bytes >= need)
        too_little++;
    pw_text_print(out, "Under %s it needs ", a->spec.designs[0]);
    say_pages(need, out);
    pw_format_integer(unused, (uint64_t)never_used);
    if (need > a->touched && never_used > 0)
        pw_text_print(out, ", of which %s %s prefetched and never used,", unused, never_used == 1 ? "is" : "are");
    pw_text_add(out, " to run at full speed");
    if (too_little < a->memory_count)
        pw_text_print(out, "; %s is too little.\n", pw_advice_size_text(a, too_little, text));
    else
        pw_text_print(out, " at most; no less was tried.\n");
}

static void say_slowdown(const struct pw_advice *a, size_t memory, struct pw_text *out)
{
    const struct pw_advice_point *p = pw_advice_at(a, memory, 0);
    char text[PW_ADVICE_TEXT_CAPACITY], times[PW_NUMBER_CAPACITY];
    pw_text_print(out, "With %s ", pw_advice_size_text(a, memory, text));
    if (p->run)
        pw_text_print(out, "it takes %s times as long.\n",
                      pw_advice_times_text((double)p->cycles / (double)a->references[0].cycles, times));
    else
        pw_text_add(out, "it does not run.\n");
}

/* Where sizes were asked for, each that is too small; of the default ones the first and the last of them. */
static void say_slowdowns(const struct pw_advice *a, struct pw_text *out)
{
    size_t said = 0, last = a->memory_count - 1;
    for (size_t m = 0; m < a->memory_count; m++) {
        bool wanted = a->default_sizes ? m == pw_advice_size_in_question(a) || m == last : said < MAX_NAMED;
        if (wanted && !pw_advice_at_full_speed(a, m, 0)) {
            say_slowdown(a, m, out);
            said++;
        }
    }
}

static void say_prefetch(const struct pw_advice *a, struct pw_text *out)
{
    const struct pw_advice_point *all = &a->references[0], *less = pw_advice_at(a, pw_advice_size_in_question(a), 0);
    char text[PW_ADVICE_TEXT_CAPACITY], unused[PW_NUMBER_CAPACITY], prefetched[PW_NUMBER_CAPACITY];
    if (all->prefetched == 0) {
        pw_text_print(out, "%s prefetches nothing.\n", a->spec.designs[0]);
        return;
    }
    pw_format_integer(unused, (uint64_t)all->never_used);
    pw_format_integer(prefetched, (uint64_t)all->prefetched);
    if (all->never_used > 0)
        pw_text_print(out, "Prefetch wastes %.0f%% with memory to spare: %s of %s prefetched pages were never used",
                      100 * all->never_used / all->prefetched, unused, prefetched);
    else
        pw_text_print(out, "Prefetch wastes nothing with memory to spare: all %s prefetched pages were used",
                      prefetched);
    if (less->run && less->run != all->run && less->never_used > 0) {
        pw_format_integer(unused, (uint64_t)less->never_used);
        pw_format_integer(prefetched, (uint64_t)less->prefetched);
        pw_text_print(out, "; with %s %.0f%%, %s of %s", pw_advice_size_text(a, pw_advice_size_in_question(a), text),
                      100 * less->never_used / less->prefetched, unused, prefetched);
    }
    pw_text_add(out, ".\n");
}

/* The allocation with the most thrashed pages among those not taken yet (bits of `taken`); NULL when none has any. */
static const struct pw_allocation_result *next_thrashing(const struct pw_stored_run *r, uint64_t *taken)
{
    size_t worst = r->allocation_count;
    for (size_t i = 0; i < r->allocation_count && i < 64; i++)
        if (!(*taken >> i & 1) && r->allocations[i].pages_thrashed &&
            (worst == r->allocation_count || r->allocations[i].pages_thrashed > r->allocations[worst].pages_thrashed))
            worst = i;
    if (worst == r->allocation_count)
        return NULL;
    *taken |= 1ULL << worst;
    return &r->allocations[worst];
}

static void say_thrashing(const struct pw_advice *a, struct pw_text *out)
{
    size_t q = pw_advice_size_in_question(a);
    const struct pw_advice_point *p = pw_advice_at(a, q, 0);
    char text[PW_ADVICE_TEXT_CAPACITY], name[PW_ADVICE_NAME_CAPACITY];
    uint64_t taken = 0;
    if (!p->run)
        return;
    pw_text_print(out, "With %s under %s ", pw_advice_size_text(a, q, text), a->spec.designs[0]);
    if (p->thrashed == 0) {
        pw_text_add(out, p->evicted > 0 ? "nothing thrashes: no page that left was needed again.\n"
                                        : "no page has to leave, and nothing thrashes.\n");
        return;
    }
    const struct pw_allocation_result *n;
    for (size_t named = 0; named < MAX_NAMED && (n = next_thrashing(p->run, &taken)); named++) {
        double times = n->pages ? (double)n->pages_in / (double)n->pages : 0;
        pw_text_add(out, named ? "; " : "");
        pw_text_printable(out, pw_advice_name(a, n->name, name));
        pw_text_print(out, " thrashes: %.0f%% of the pages that came back",
                      100 * (double)n->pages_thrashed / p->thrashed);
        if (times >= worth_counting)
            pw_text_print(out, ", each page came %.1f times", times);
    }
    pw_text_add(out, ".\n");
}

/* The calls of a trial, in the recommendation; false when none help. */
static bool recommend_calls(const struct pw_advice *a, size_t memory, const char *before, struct pw_text *out)
{
    const struct pw_advice_trial *t = pw_advice_trial_of(a, memory);
    char text[PW_ADVICE_TEXT_CAPACITY], times[PW_NUMBER_CAPACITY];
    if (!t || !pw_plan_calls(&t->search.best))
        return false;
    pw_text_print(out, "%s%s, the %s below ", before, pw_advice_size_text(a, memory, text),
                  pw_plan_calls(&t->search.best) == 1 ? "call" : "calls");
    if (t->search.baseline)
        pw_text_print(out, "would make it %s times as fast",
                      pw_advice_times_text((double)t->search.baseline / (double)t->search.best_cycles, times));
    else
        pw_text_add(out, "would let it run");
    return true;
}

static void say_recommendation(const struct pw_advice *a, struct pw_text *out)
{
    size_t q = pw_advice_size_in_question(a);
    const struct pw_advice_point *p = pw_advice_at(a, q, 0);
    char text[PW_ADVICE_TEXT_CAPACITY], name[PW_ADVICE_NAME_CAPACITY];
    uint64_t taken = 0;
    pw_text_add(out, "Recommendation: ");
    if (pw_advice_at_full_speed(a, q, 0)) {
        pw_text_print(out, "%s is enough", pw_advice_size_text(a, q, text));
        if (!recommend_calls(a, q, "; with ", out))
            recommend_calls(a, a->memory_count, "; with ", out);
        pw_text_add(out, ".\n");
        return;
    }
    if (pw_advice_need(a, 0) == 0) {
        pw_text_add(out, "take a machine with more memory");
    } else {
        pw_text_add(out, "give it ");
        say_pages(pw_advice_need(a, 0), out);
    }
    const struct pw_allocation_result *worst = p->run ? next_thrashing(p->run, &taken) : NULL;
    if (!recommend_calls(a, q, "; with only ", out) && worst && p->thrashed > much_thrashing * p->pages_in &&
        (double)worst->pages_thrashed > most * p->thrashed) {
        pw_text_add(out, "; or use less of ");
        pw_text_printable(out, pw_advice_name(a, worst->name, name));
        pw_text_add(out, " at a time, most of what thrashes");
    }
    pw_text_add(out, ".\n");
}

/* Changes that only an architect can make. */
static void say_policy(const struct pw_advice *a, struct pw_text *out)
{
    size_t q = pw_advice_size_in_question(a), best = pw_advice_fastest(a, q);
    const struct pw_advice_point *p = pw_advice_at(a, q, 0);
    char text[PW_ADVICE_TEXT_CAPACITY], times[PW_NUMBER_CAPACITY];
    if (a->spec.design_count < 2 || best == a->spec.design_count)
        return;
    const struct pw_advice_point *b = pw_advice_at(a, q, best);
    pw_text_add(out, "\nIf the driver's policy could be changed: ");
    if (p->run && p->slowdown <= worth_saying * b->slowdown) {
        pw_text_print(out, "none of the others would be much faster than %s with %s.\n", a->spec.designs[0],
                      pw_advice_size_text(a, q, text));
        return;
    }
    pw_text_print(out, "with %s, %s would ", pw_advice_size_text(a, q, text), a->spec.designs[best]);
    if (p->run)
        pw_text_print(out, "make it %s times as fast without calls.\n",
                      pw_advice_times_text(p->slowdown / b->slowdown, times));
    else
        pw_text_add(out, "let it run.\n");
}

/* What the gains of calls rest on. */
static void say_model(const struct pw_advice *a, struct pw_text *out)
{
    enum { NAMES = 3, CAPACITY = 32 };
    static const char *const names[NAMES] = {"link.remote_latency", "link.remote_bytes", "link.remote_reads"};
    char values[NAMES][CAPACITY];
    if (!a->trial_count)
        return;
    for (size_t i = 0; i < NAMES; i++)
        pw_advice_option(a->options, names[i], values[i], CAPACITY);
    pw_text_print(
        out,
        "Model: an access to host memory takes link.remote_latency = %s cycles and its time on the link (link.*) "
        "for link.remote_bytes = %s or more; link.remote_reads = %s at once; a call takes no time itself.\n",
        values[0], values[1], values[2]);
}

/* Where memory does not page at all: what to change before anything else here holds. */
static void say_kinds(const struct pw_advice *a, struct pw_text *out)
{
    size_t count = 0, of_device = 0;
    double bytes = 0;
    char size[PW_NUMBER_CAPACITY];
    for (size_t i = 0; i < a->profile_count; i++)
        for (size_t k = 0; k < a->profiles[i]->allocation_count; k++) {
            const struct pw_profile_allocation *p = &a->profiles[i]->allocations[k];
            bool is_from_malloc = pw_advice_is_from_malloc(&(struct pw_advice_use){.memory = p->memory});
            count++;
            of_device += is_from_malloc;
            bytes += is_from_malloc ? (double)p->recorded_bytes : 0;
        }
    if (!of_device)
        return;
    pw_format_bytes(size, bytes);
    pw_text_print(out,
                  "First: %s of its allocations, %s, are device memory from cudaMalloc, which never pages and takes "
                  "none of these calls. The replay treats all memory as managed, so sizes and calls hold once "
                  "they come from cudaMallocManaged (docs/advise.md says how, in CUDA, PyTorch and CuPy).\n",
                  of_device == count ? "all" : "some", size);
}

void pw_advice_lines(const struct pw_advice *a, struct pw_text *out)
{
    say_kinds(a, out);
    say_recommendation(a, out);
    say_footprint(a, out);
    say_need(a, out);
    say_slowdowns(a, out);
    pw_advice_say_calls(a, out);
    pw_text_add(out, "\n");
    say_thrashing(a, out);
    say_prefetch(a, out);
    say_policy(a, out);
    say_model(a, out);
    if (a->interrupted)
        pw_text_add(
            out, "\nInterrupted: this rests on the runs that are finished. They are kept; the same command goes on.\n");
}

void pw_advice_sentences(const struct pw_advice *a, struct pw_text *out)
{
    struct pw_text lines = {0};
    pw_advice_lines(a, &lines);
    pw_text_prose(out, 0, 2, lines.bytes ? lines.bytes : "");
    out->failed |= lines.failed;
    pw_text_free(&lines);
}
