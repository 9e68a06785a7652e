/* Advice in tables: time and paging by size, and the allocations at the size in question. */
#include "exp/format/result.h"
#include "exp/format/table.h"
#include "exp/tools/advise_internal.h"

#include <stdlib.h>
#include <string.h>

static void count_cell(struct pw_table *t, double value)
{
    char number[PW_NUMBER_CAPACITY];
    pw_format_integer(number, (uint64_t)value);
    pw_table_cell(t, number);
}

static void slowdown_cell(struct pw_table *t, const struct pw_advice_point *p)
{
    char number[PW_NUMBER_CAPACITY];
    pw_table_cell(t, p->run ? pw_advice_times_text(p->slowdown, number) : p->failure ? "fails" : "-");
}

/* With the calls that help, on the scale of the other columns. */
static void calls_cell(struct pw_table *t, const struct pw_advice *a, size_t memory)
{
    char number[PW_NUMBER_CAPACITY];
    const struct pw_advice_point *all = &a->references[0];
    double times = (double)a->with_calls[memory] / (double)all->cycles * all->slowdown;
    pw_table_cell(t, a->with_calls[memory] ? pw_advice_times_text(times, number) : "-");
}

static void curve(const struct pw_advice *a, struct pw_text *out)
{
    size_t designs = a->spec.design_count;
    struct pw_table t = {.columns = designs + 3 + (a->trial_count > 0), .align = "lr", .indent = "  "};
    char text[PW_ADVICE_TEXT_CAPACITY];
    pw_table_heading(&t, "Time, as a multiple of the fastest with all memory");
    pw_table_cell(&t, "device memory");
    pw_table_cell(&t, "working set");
    for (size_t d = 0; d < designs; d++) {
        pw_table_cell_printable(&t, a->spec.designs[d]);
        if (d == 0 && a->trial_count)
            pw_table_cell(&t, "with calls");
    }
    pw_table_cell(&t, "fastest");
    pw_table_cell(&t, "all there is");
    pw_table_cell(&t, "");
    size_t best = 0;
    for (size_t d = 0; d < designs; d++) {
        slowdown_cell(&t, &a->references[d]);
        if (d == 0 && a->trial_count)
            calls_cell(&t, a, a->memory_count);
        if (a->references[d].run && a->references[d].cycles < a->references[best].cycles)
            best = d;
    }
    pw_table_cell_printable(&t, a->spec.designs[best]);
    for (size_t m = 0; m < a->memory_count; m++) {
        pw_format_bytes(text, (double)a->memories[m].bytes);
        pw_table_cell(&t, text);
        pw_table_print(&t, "%.0f%%", 100 * a->memories[m].share);
        for (size_t d = 0; d < designs; d++) {
            slowdown_cell(&t, pw_advice_at(a, m, d));
            if (d == 0 && a->trial_count)
                calls_cell(&t, a, m);
        }
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
    char text[PW_ADVICE_TEXT_CAPACITY];
    pw_text_print(&heading, "Demand paging under %s (pages of 4 KiB)", a->spec.designs[0]);
    pw_table_heading(&t, heading.bytes ? heading.bytes : "");
    pw_text_free(&heading);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        pw_table_cell(&t, columns[i]);
    paging_row(&t, "all there is", &a->references[0]);
    for (size_t m = 0; m < a->memory_count; m++)
        paging_row(&t, pw_advice_size_text(a, m, text), pw_advice_at(a, m, 0));
    pw_table_finish(&t, out);
}

static void failures(const struct pw_advice *a, struct pw_text *out)
{
    char text[PW_ADVICE_TEXT_CAPACITY];
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = 0; d < a->spec.design_count; d++) {
            const struct pw_advice_point *p = pw_advice_at(a, m, d);
            if (p->failure)
                pw_text_print(out, "%s fails with %s: %.*s\n", a->spec.designs[d], pw_advice_size_text(a, m, text),
                              (int)strcspn(p->failure, "\n"), p->failure);
        }
}

/* What the allocations are, and which launches access them: in lines, since names of kernels are long. */
static void uses(const struct pw_advice *a, const struct pw_stored_run *r, struct pw_text *out)
{
    struct pw_text lines = {0};
    char name[PW_ADVICE_NAME_CAPACITY];
    pw_text_add(out, "\nWhat they are, and which launches access them\n");
    for (size_t i = 0; i < r->allocation_count; i++) {
        const struct pw_advice_use use = pw_advice_use_of(a, r->allocations[i].name);
        pw_text_printable(&lines, pw_advice_name(a, r->allocations[i].name, name));
        pw_text_add(&lines, ": ");
        pw_advice_say_use(&use, &lines);
        pw_text_add(&lines, "\n");
    }
    pw_text_prose(out, 2, 4, lines.bytes ? lines.bytes : "");
    out->failed |= lines.failed;
    pw_text_free(&lines);
}

/* What demand paging did to the allocations, under the names that the sentences have for them. */
static void allocations(const struct pw_advice *a, const struct pw_stored_run *r, const char *heading,
                        struct pw_text *out)
{
    struct pw_allocation_result *rows = calloc(r->allocation_count + 1, sizeof *rows);
    char(*names)[PW_ADVICE_NAME_CAPACITY] = calloc(r->allocation_count + 1, sizeof *names);
    for (size_t i = 0; rows && names && i < r->allocation_count; i++) {
        rows[i] = r->allocations[i];
        rows[i].name = pw_advice_name(a, r->allocations[i].name, names[i]);
    }
    if (rows && names)
        pw_allocation_table(rows, r->allocation_count, heading, out);
    else
        out->failed = true;
    free(rows);
    free(names);
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
    pw_advice_sentences(a, out);
    failures(a, out);
    pw_text_add(out, "\n");
    curve(a, out);
    pw_text_add(out, "\n");
    paging(a, out);
    if (p->run) {
        char text[PW_ADVICE_TEXT_CAPACITY];
        struct pw_text heading = {0};
        pw_text_print(&heading, "Allocations under %s with %s", a->spec.designs[0], pw_advice_size_text(a, q, text));
        pw_text_add(out, "\n");
        allocations(a, p->run, heading.bytes ? heading.bytes : "", out);
        if (a->profile_count)
            uses(a, p->run, out);
        pw_text_free(&heading);
    }
}
