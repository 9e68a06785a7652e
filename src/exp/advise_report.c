/* Advice for people and for programs: tables, sentences that are computed from the numbers, JSON. */
#include "exp/advise.h"
#include "exp/result.h"
#include "exp/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMED = 4, TEXT_CAPACITY = 160 };

/* Another policy is recommended when it makes at least so much of a difference, and an allocation is blamed for thrashing
 * when it has most of it and so much of all traffic is thrashing. */
static const double worth_saying = 1.05, much_thrashing = 0.1, most = 0.6;

/* "4.00 MiB (50%)" */
static const char *size_text(const struct pw_advice *a, size_t memory, char out[TEXT_CAPACITY])
{
    char bytes[PW_NUMBER_CAPACITY];
    pw_format_bytes(bytes, (double)a->memories[memory].bytes);
    snprintf(out, TEXT_CAPACITY, "%s (%.0f%%)", bytes, 100 * a->memories[memory].share);
    return out;
}

static const char *times_text(double times, char out[PW_NUMBER_CAPACITY])
{
    snprintf(out, PW_NUMBER_CAPACITY, times < 10 ? "%.2f" : times < 100 ? "%.1f" : "%.0f", times);
    return out;
}

static void count_cell(struct pw_table *t, double value)
{
    char number[PW_NUMBER_CAPACITY];
    pw_format_integer(number, (uint64_t)value);
    pw_table_cell(t, number);
}

static void slowdown_cell(struct pw_table *t, const struct pw_advice_point *p)
{
    char number[PW_NUMBER_CAPACITY];
    pw_table_cell(t, p->run ? times_text(p->slowdown, number) : "fails");
}

static void curve(const struct pw_advice *a, struct pw_text *out)
{
    size_t designs = a->spec.design_count;
    struct pw_table t = {.columns = designs + 3, .align = "lr", .indent = "  "};
    char text[TEXT_CAPACITY];
    pw_table_heading(&t, "Time, as a multiple of the fastest with all memory");
    pw_table_cell(&t, "device memory");
    pw_table_cell(&t, "footprint");
    for (size_t d = 0; d < designs; d++)
        pw_table_cell_printable(&t, a->spec.designs[d]);
    pw_table_cell(&t, "fastest");
    pw_table_cell(&t, "all there is");
    pw_table_cell(&t, "");
    size_t best = 0;
    for (size_t d = 0; d < designs; d++) {
        slowdown_cell(&t, &a->references[d]);
        best = a->references[d].cycles < a->references[best].cycles ? d : best;
    }
    pw_table_cell_printable(&t, a->spec.designs[best]);
    for (size_t m = 0; m < a->memory_count; m++) {
        pw_format_bytes(text, (double)a->memories[m].bytes);
        pw_table_cell(&t, text);
        pw_table_print(&t, "%.0f%%", 100 * a->memories[m].share);
        for (size_t d = 0; d < designs; d++)
            slowdown_cell(&t, pw_advice_at(a, m, d));
        best = pw_advice_fastest(a, m);
        pw_table_cell_printable(&t, best < designs ? a->spec.designs[best] : "-");
    }
    pw_table_finish(&t, out);
}

static void paging_row(struct pw_table *t, const char *label, const struct pw_advice_point *p)
{
    pw_table_cell(t, label);
    if (!p->run) {
        for (size_t i = 0; i < 6; i++)
            pw_table_cell(t, "-");
        return;
    }
    count_cell(t, p->far_faults);
    count_cell(t, p->pages_in);
    count_cell(t, p->prefetched);
    count_cell(t, p->never_used);
    count_cell(t, p->evicted);
    count_cell(t, p->thrashed);
}

/* What the policy in use does at each size. */
static void paging(const struct pw_advice *a, struct pw_text *out)
{
    static const char *const columns[] = {"device memory", "far faults", "pages in", "prefetched",
                                          "never used",    "evicted",    "thrashed"};
    struct pw_table t = {.columns = sizeof columns / sizeof *columns, .align = "lr", .indent = "  "};
    struct pw_text heading = {0};
    char text[TEXT_CAPACITY];
    pw_text_print(&heading, "Demand paging under %s (pages of 4 KiB)", a->spec.designs[0]);
    pw_table_heading(&t, heading.bytes ? heading.bytes : "");
    pw_text_free(&heading);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        pw_table_cell(&t, columns[i]);
    paging_row(&t, "all there is", &a->references[0]);
    for (size_t m = 0; m < a->memory_count; m++)
        paging_row(&t, size_text(a, m, text), pw_advice_at(a, m, 0));
    pw_table_finish(&t, out);
}

static void failures(const struct pw_advice *a, struct pw_text *out)
{
    char text[TEXT_CAPACITY];
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = 0; d < a->spec.design_count; d++) {
            const struct pw_advice_point *p = pw_advice_at(a, m, d);
            if (!p->run)
                pw_text_print(out, "%s fails with %s: %.*s\n", a->spec.designs[d], size_text(a, m, text),
                              (int)strcspn(p->failure, "\n"), p->failure);
        }
}

void pw_advice_table(const struct pw_advice *a, struct pw_text *out)
{
    size_t q = pw_advice_size_in_question(a);
    const struct pw_advice_point *p = pw_advice_at(a, q, 0);
    pw_text_add(out, "workload ");
    pw_text_printable(out, a->spec.workload);
    pw_text_add(out, ", machine ");
    pw_text_printable(out, a->spec.machine);
    pw_text_print(out, ", seed %llu\n\n", (unsigned long long)a->spec.seed);
    curve(a, out);
    pw_text_add(out, "\n");
    paging(a, out);
    if (p->run) {
        char text[TEXT_CAPACITY];
        struct pw_text heading = {0};
        pw_text_print(&heading, "Allocations under %s with %s", a->spec.designs[0], size_text(a, q, text));
        pw_text_add(out, "\n");
        pw_allocation_table(p->run->allocations, p->run->allocation_count, heading.bytes ? heading.bytes : "", out);
        pw_text_free(&heading);
    }
    pw_text_add(out, "\n");
    failures(a, out);
    pw_advice_sentences(a, out);
}

static void say_footprint(const struct pw_advice *a, struct pw_text *out)
{
    char allocated[PW_NUMBER_CAPACITY], touched[PW_NUMBER_CAPACITY];
    pw_format_bytes(allocated, a->footprint);
    pw_format_bytes(touched, a->touched);
    pw_text_print(out, "It allocates %s; its working set, the pages that it accesses, is %s.\n", allocated, touched);
}

/* Rounded up to what two decimals show, so that less, as it is shown, is less. */
static void format_need(char out[PW_NUMBER_CAPACITY], double need)
{
    double unit = 1;
    while (need >= 1024 * unit)
        unit *= 1024;
    pw_format_bytes(out, ceil(100 * need / unit) / 100 * unit);
}

/* How much memory the policy in use needs. */
static void say_need(const struct pw_advice *a, struct pw_text *out)
{
    double need = pw_advice_need(a, 0);
    size_t too_little = 0;
    char text[TEXT_CAPACITY], bytes[PW_NUMBER_CAPACITY];
    if (need == 0) {
        pw_text_print(out, "Even all the memory of machine %s is too little for it.\n", a->spec.machine);
        return;
    }
    format_need(bytes, need);
    while (too_little < a->memory_count && (double)a->memories[too_little].bytes >= need)
        too_little++;
    pw_text_print(out, "Under %s it needs %s to run at full speed", a->spec.designs[0], bytes);
    if (too_little < a->memory_count)
        pw_text_print(out, "; %s is too little.\n", size_text(a, too_little, text));
    else
        pw_text_print(out, " at most; no less was tried.\n");
}

static void say_slowdown(const struct pw_advice *a, size_t memory, struct pw_text *out)
{
    const struct pw_advice_point *p = pw_advice_at(a, memory, 0);
    size_t best = pw_advice_fastest(a, memory);
    char text[TEXT_CAPACITY], times[PW_NUMBER_CAPACITY];
    pw_text_print(out, "With %s ", size_text(a, memory, text));
    if (p->run)
        pw_text_print(out, "it takes %s times as long under %s", times_text(p->slowdown, times), a->spec.designs[0]);
    else
        pw_text_print(out, "it does not run under %s", a->spec.designs[0]);
    if (best < a->spec.design_count && best != 0)
        pw_text_print(out, ", and %s times under %s, the fastest of these policies",
                      times_text(pw_advice_at(a, memory, best)->slowdown, times), a->spec.designs[best]);
    else if (best == 0 && a->spec.design_count > 1)
        pw_text_add(out, ", the fastest of these policies");
    pw_text_add(out, ".\n");
}

/* Where sizes were asked for, each that is too small; of the default ones the first and the last of them. */
static void say_slowdowns(const struct pw_advice *a, struct pw_text *out)
{
    size_t said = 0, last = a->memory_count - 1;
    for (size_t m = 0; m < a->memory_count; m++) {
        bool slow =
            !pw_advice_at(a, m, 0)->run || pw_advice_at(a, m, 0)->slowdown > PW_FULL_SPEED * a->references[0].slowdown;
        bool wanted = a->default_sizes ? m == pw_advice_size_in_question(a) || m == last : said < MAX_NAMED;
        if (slow && wanted) {
            say_slowdown(a, m, out);
            said++;
        }
    }
}

static void say_prefetch(const struct pw_advice *a, struct pw_text *out)
{
    const struct pw_advice_point *all = &a->references[0], *less = pw_advice_at(a, pw_advice_size_in_question(a), 0);
    char text[TEXT_CAPACITY], unused[PW_NUMBER_CAPACITY], prefetched[PW_NUMBER_CAPACITY];
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
        pw_text_print(out, "; with %s %.0f%%, %s of %s", size_text(a, pw_advice_size_in_question(a), text),
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
    char text[TEXT_CAPACITY];
    uint64_t taken = 0;
    if (!p->run)
        return;
    pw_text_print(out, "With %s under %s ", size_text(a, q, text), a->spec.designs[0]);
    if (p->thrashed == 0) {
        pw_text_add(out, p->evicted > 0 ? "nothing thrashes: no page that left was needed again.\n"
                                        : "no page has to leave, and nothing thrashes.\n");
        return;
    }
    const struct pw_allocation_result *n;
    for (size_t named = 0; named < MAX_NAMED && (n = next_thrashing(p->run, &taken)); named++) {
        pw_text_add(out, named ? "; " : "");
        pw_text_printable(out, n->name);
        pw_text_print(out, " thrashes: %.0f%% of the pages that came back, each page came %.1f times",
                      100 * (double)n->pages_thrashed / p->thrashed,
                      n->pages ? (double)n->pages_in / (double)n->pages : 0);
    }
    pw_text_add(out, ".\n");
}

static void say_recommendation(const struct pw_advice *a, struct pw_text *out)
{
    size_t q = pw_advice_size_in_question(a), best = pw_advice_fastest(a, q);
    const struct pw_advice_point *p = pw_advice_at(a, q, 0), *all = &a->references[0];
    char text[TEXT_CAPACITY], bytes[PW_NUMBER_CAPACITY], times[PW_NUMBER_CAPACITY];
    pw_text_add(out, "Recommendation: ");
    if (p->run && p->slowdown <= PW_FULL_SPEED * all->slowdown) {
        pw_text_print(out, "%s is enough.\n", size_text(a, q, text));
        return;
    }
    format_need(bytes, pw_advice_need(a, 0));
    if (pw_advice_need(a, 0) == 0)
        pw_text_add(out, "take a machine with more memory");
    else
        pw_text_print(out, "give it %s", bytes);
    if (best < a->spec.design_count && best != 0 &&
        (!p->run || p->slowdown > worth_saying * pw_advice_at(a, q, best)->slowdown)) {
        const struct pw_advice_point *b = pw_advice_at(a, q, best);
        pw_text_print(out, "; with only %s, %s ", size_text(a, q, text), a->spec.designs[best]);
        if (p->run)
            pw_text_print(out, "would make it %s times as fast", times_text(p->slowdown / b->slowdown, times));
        else
            pw_text_add(out, "would let it run");
    }
    uint64_t taken = 0;
    const struct pw_allocation_result *worst = p->run ? next_thrashing(p->run, &taken) : NULL;
    if (worst && p->thrashed > much_thrashing * p->pages_in && (double)worst->pages_thrashed > most * p->thrashed) {
        pw_text_add(out, "; or use less of ");
        pw_text_printable(out, worst->name);
        pw_text_add(out, " at a time, most of what thrashes");
    }
    pw_text_add(out, ".\n");
}

/* A line each. */
static void say_all(const struct pw_advice *a, struct pw_text *out)
{
    say_footprint(a, out);
    say_need(a, out);
    say_slowdowns(a, out);
    say_prefetch(a, out);
    say_thrashing(a, out);
    say_recommendation(a, out);
}

void pw_advice_sentences(const struct pw_advice *a, struct pw_text *out)
{
    struct pw_text lines = {0};
    say_all(a, &lines);
    pw_text_prose(out, 0, 2, lines.bytes ? lines.bytes : "");
    out->failed |= lines.failed;
    pw_text_free(&lines);
}

static void json_real(struct pw_text *out, const char *member, double value)
{
    pw_text_print(out, ", \"%s\": ", member);
    pw_text_real(out, value);
}

static void json_point(const struct pw_advice *a, size_t design, const struct pw_advice_memory *memory,
                       const struct pw_advice_point *p, struct pw_text *out)
{
    pw_text_add(out, "{\"design\": ");
    pw_text_json_string(out, a->spec.designs[design]);
    if (memory) {
        pw_text_print(out, ", \"memory_bytes\": %llu", (unsigned long long)memory->bytes);
        json_real(out, "share", memory->share);
    } else {
        pw_text_add(out, ", \"memory_bytes\": null, \"share\": null");
    }
    if (!p->run) {
        pw_text_add(out, ", \"failure\": ");
        pw_text_json_string(out, p->failure);
        pw_text_add(out, "}");
        return;
    }
    pw_text_print(out, ", \"cycles\": %llu", (unsigned long long)p->cycles);
    json_real(out, "slowdown", p->slowdown);
    json_real(out, "far_faults", p->far_faults);
    json_real(out, "pages_in", p->pages_in);
    json_real(out, "pages_prefetched", p->prefetched);
    json_real(out, "prefetched_never_used", p->never_used);
    json_real(out, "pages_evicted", p->evicted);
    json_real(out, "pages_thrashed", p->thrashed);
    pw_text_add(out, ", \"allocations\": [");
    for (size_t i = 0; i < p->run->allocation_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_allocation_json(&p->run->allocations[i], out);
    }
    pw_text_add(out, "]}");
}

static void json_need(const struct pw_advice *a, struct pw_text *out)
{
    pw_text_add(out, ",\n  \"full_speed_bytes\": {");
    for (size_t d = 0; d < a->spec.design_count; d++) {
        double need = pw_advice_need(a, d);
        pw_text_add(out, d ? ", " : "");
        pw_text_json_string(out, a->spec.designs[d]);
        if (need > 0)
            pw_text_print(out, ": %.0f", need);
        else
            pw_text_add(out, ": null");
    }
    pw_text_add(out, "}");
}

void pw_advice_json(const struct pw_advice *a, struct pw_text *out)
{
    pw_text_add(out, "{\n  \"schema\": 1,\n  \"workload\": ");
    pw_text_json_string(out, a->spec.workload);
    pw_text_add(out, ",\n  \"machine\": ");
    pw_text_json_string(out, a->spec.machine);
    pw_text_print(out, ",\n  \"seed\": %llu,\n  \"allocated_bytes\": %.0f,\n  \"touched_bytes\": %.0f",
                  (unsigned long long)a->spec.seed, a->footprint, a->touched);
    json_need(a, out);
    pw_text_add(out, ",\n  \"points\": [");
    for (size_t d = 0; d < a->spec.design_count; d++) {
        pw_text_add(out, d ? ",\n    " : "\n    ");
        json_point(a, d, NULL, &a->references[d], out);
    }
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = 0; d < a->spec.design_count; d++) {
            pw_text_add(out, ",\n    ");
            json_point(a, d, &a->memories[m], pw_advice_at(a, m, d), out);
        }
    pw_text_add(out, "\n  ],\n  \"advice\": [");
    struct pw_text sentences = {0};
    say_all(a, &sentences);
    char *rest = sentences.bytes;
    size_t listed = 0;
    for (const char *line; rest && (line = strsep(&rest, "\n")) && *line;) {
        pw_text_add(out, listed++ ? ",\n    " : "\n    ");
        pw_text_json_string(out, line);
    }
    out->failed |= sentences.failed;
    pw_text_free(&sentences);
    pw_text_add(out, "\n  ]\n}\n");
}
