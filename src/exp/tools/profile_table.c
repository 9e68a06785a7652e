/* A workload's profile for people: what the program is, what it allocates and launches, what its memory instructions
 * touch, how soon a page is touched again and how many pages are in use as time goes by.
 *
 * Beside each reuse distance stands the share of touches that a fully associative LRU TLB of that many 4 KiB entries
 * would miss, first touches included. Long lists of launches are cut; the JSON has them all. */
#include "exp/format/table.h"
#include "exp/tools/profile.h"

#include <stdio.h>

enum { BAR_COLUMNS = 32, MAX_LAUNCH_ROWS = 24, MAX_ALLOCATION_ROWS = 40 };

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* A bar of `value` against the longest, `most`; nothing at all only for nothing. */
static void bar_cell(struct pw_table *t, uint64_t value, uint64_t most)
{
    char bar[BAR_COLUMNS + 1];
    int filled = (int)(share(value, most) * BAR_COLUMNS + 0.5);
    if (value && !filled)
        filled = 1;
    for (int i = 0; i < filled; i++)
        bar[i] = '#';
    bar[filled] = 0;
    pw_table_cell(t, bar);
}

/* Ends with NULL. */
static void cells(struct pw_table *t, const char *const *texts)
{
    for (; *texts; texts++)
        pw_table_cell(t, *texts);
}

static void cut(struct pw_text *out, size_t shown, size_t count)
{
    if (shown < count)
        pw_text_print(out, "  … and %zu more row%s; --json has all\n", count - shown, pw_plural(count - shown));
}

static void add_description(const struct pw_profile *p, struct pw_text *out)
{
    struct pw_text head = {0};
    pw_text_print(&head, "%s: %s\n  suite %s%s%s, seed %llu\n", p->workload, p->summary, p->suite,
                  *p->papers ? ", used by " : "", p->papers, (unsigned long long)p->seed);
    pw_text_prose(out, 0, 2, head.bytes ? head.bytes : "");
    out->failed |= head.failed;
    pw_text_free(&head);
    struct pw_table t = {.columns = 5, .align = "lrrl", .indent = "  "};
    pw_text_add(out, "\nParameters\n");
    cells(&t, (const char *const[]){"name", "value", "default", "range", "summary", NULL});
    for (size_t i = 0; i < p->parameter_count; i++) {
        const struct pw_workload_parameter *q = &p->parameters[i];
        cells(&t, (const char *const[]){q->name, q->value, q->fallback, q->range, q->summary, NULL});
    }
    pw_table_finish(&t, out);
    if (!p->size_count)
        return;
    struct pw_table sizes = {.columns = 2, .align = "l", .indent = "  "};
    pw_text_add(out, "\nSizes (size=NAME)\n");
    for (size_t i = 0; i < p->size_count; i++)
        cells(&sizes, (const char *const[]){p->sizes[i].name, p->sizes[i].parameters, NULL});
    pw_table_finish(&sizes, out);
}

/* The first and the last launch that access it, and how many do where it is not all of them in between. */
static void launches_cell(struct pw_table *t, const struct pw_profile_allocation *a)
{
    unsigned long long first = a->first_launch, last = a->last_launch;
    if (!a->launches)
        pw_table_cell(t, "-");
    else if (a->launches == 1)
        pw_table_print(t, "%llu", first);
    else if (a->launches == last - first + 1)
        pw_table_print(t, "%llu-%llu", first, last);
    else
        pw_table_print(t, "%llu of %llu-%llu", (unsigned long long)a->launches, first, last);
}

static void add_allocations(const struct pw_profile *p, struct pw_text *out)
{
    char total[PW_NUMBER_CAPACITY], peak[PW_NUMBER_CAPACITY];
    pw_format_bytes(total, (double)p->allocated_bytes);
    pw_format_bytes(peak, (double)p->peak_bytes);
    pw_text_print(out, "\nAllocations: %zu, %s in all, %s at one time\n", p->allocation_count, total, peak);
    struct pw_table t = {.columns = 7, .align = "lrlrlll", .indent = "  "};
    if (p->allocation_count)
        cells(&t,
              (const char *const[]){"name", "size", "memory", "pages touched", "launches", "access", "lifetime", NULL});
    size_t shown = p->allocation_count < MAX_ALLOCATION_ROWS ? p->allocation_count : MAX_ALLOCATION_ROWS;
    for (size_t i = 0; i < shown; i++) {
        const struct pw_profile_allocation *a = &p->allocations[i];
        pw_table_cell_printable(&t, a->name);
        pw_table_bytes(&t, a->bytes);
        pw_table_cell(&t, a->memory);
        pw_table_integer(&t, a->pages_touched);
        launches_cell(&t, a);
        pw_table_cell(&t, a->written ? "write" : a->launches ? "read" : "-");
        char from[64] = "", to[64] = "";
        if (a->launches_before)
            snprintf(from, sizeof from, "allocated after launch %llu", (unsigned long long)a->launches_before);
        if (a->launches_until_free != UINT64_MAX)
            snprintf(to, sizeof to, "freed after launch %llu", (unsigned long long)a->launches_until_free);
        pw_table_print(&t, "%s%s%s", from, *from && *to ? ", " : "", to);
    }
    pw_table_finish(&t, out);
    cut(out, shown, p->allocation_count);
}

static void add_launches(const struct pw_profile *p, bool full_names, struct pw_text *out)
{
    char launches[PW_NUMBER_CAPACITY], ctas[PW_NUMBER_CAPACITY], warps[PW_NUMBER_CAPACITY];
    pw_format_integer(launches, p->kernel_launches);
    pw_format_integer(ctas, p->ctas);
    pw_format_integer(warps, p->warps);
    pw_text_print(out, "\nLaunches: %s, %s CTA%s, %s warp%s\n", launches, ctas, pw_plural(p->ctas), warps,
                  pw_plural(p->warps));
    if (*p->passes_parameter)
        pw_text_print(out, "  %llu pass%s over the data\n", (unsigned long long)p->passes, p->passes == 1 ? "" : "es");
    struct pw_table t = {.columns = 7, .align = "lr", .indent = "  "};
    if (p->launch_count)
        cells(&t,
              (const char *const[]){"kernel", "times", "grid", "block", "shared", "warp instructions", "memory", NULL});
    size_t shown = p->launch_count < MAX_LAUNCH_ROWS ? p->launch_count : MAX_LAUNCH_ROWS;
    for (size_t i = 0; i < shown; i++) {
        const struct pw_profile_launch *l = &p->launches[i];
        pw_table_kernel(&t, l->name, full_names);
        pw_table_integer(&t, l->count);
        pw_table_dimensions(&t, l->grid[0], l->grid[1], l->grid[2]);
        pw_table_dimensions(&t, l->block[0], l->block[1], l->block[2]);
        pw_table_bytes(&t, l->shared_bytes);
        pw_table_integer(&t, l->warp_instructions);
        pw_table_integer(&t, l->memory_instructions);
    }
    pw_table_finish(&t, out);
    cut(out, shown, p->launch_count);
}

static void add_instructions(const struct pw_profile *p, struct pw_text *out)
{
    struct pw_table t = {.columns = 3, .align = "lrl", .indent = "  "};
    const struct {
        const char *name;
        uint64_t value;
        bool average; /* per memory instruction, instead of a share of them */
    } rows[] = {
        {"loads", p->loads, false}, {"stores", p->stores, false},    {"atomics", p->atomics, false},
        {"lanes", p->lanes, true},  {"128 B lines", p->lines, true}, {"4 KB pages", p->pages, true},
    };
    pw_text_add(out, "\nInstructions\n");
    pw_table_cell(&t, "warp instructions");
    pw_table_integer(&t, p->warp_instructions);
    pw_table_cell(&t, "");
    pw_table_cell(&t, "memory instructions");
    pw_table_integer(&t, p->memory_instructions);
    pw_table_print(&t, "%.2f%% of them", 100 * share(p->memory_instructions, p->warp_instructions));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pw_table_print(&t, "  %s", rows[i].name);
        pw_table_integer(&t, rows[i].value);
        double quotient = share(rows[i].value, p->memory_instructions);
        if (rows[i].average)
            pw_table_print(&t, "%.2f per memory instruction", quotient);
        else
            pw_table_print(&t, "%.2f%%", 100 * quotient);
    }
    char size[PW_NUMBER_CAPACITY];
    pw_format_bytes(size, 4096 * (double)p->distinct_pages);
    pw_table_cell(&t, "distinct 4 KB pages");
    pw_table_integer(&t, p->distinct_pages);
    pw_table_cell(&t, size);
    pw_table_finish(&t, out);
}

static void add_reuse(const struct pw_profile *p, struct pw_text *out)
{
    size_t count = PW_REUSE_BUCKETS;
    uint64_t most = p->distinct_pages, missed = p->pages;
    while (count && !p->reuse[count - 1])
        count--;
    for (size_t i = 0; i < count; i++)
        most = p->reuse[i] > most ? p->reuse[i] : most;
    pw_text_add(out, "\nReuse of 4 KB pages: other pages touched since the last touch\n");
    struct pw_table t = {.columns = 5, .align = "rrrrl", .indent = "  "};
    cells(&t, (const char *const[]){"distance", "touches", "LRU entries", "misses", "", NULL});
    for (size_t i = 0; i < count; i++) {
        missed -= p->reuse[i];
        if (i < 2)
            pw_table_print(&t, "%zu", i);
        else
            pw_table_print(&t, "%llu-%llu", 1ULL << (i - 1), (1ULL << i) - 1);
        pw_table_integer(&t, p->reuse[i]);
        pw_table_integer(&t, UINT64_C(1) << i);
        pw_table_print(&t, "%.2f%%", 100 * share(missed, p->pages));
        bar_cell(&t, p->reuse[i], most);
    }
    pw_table_cell(&t, "first touch");
    pw_table_integer(&t, p->distinct_pages);
    pw_table_cell(&t, "any");
    pw_table_print(&t, "%.2f%%", 100 * share(p->distinct_pages, p->pages));
    bar_cell(&t, p->distinct_pages, most);
    pw_table_finish(&t, out);
}

static void add_slices(const struct pw_profile *p, struct pw_text *out)
{
    char width[PW_NUMBER_CAPACITY];
    uint64_t most = 0;
    pw_format_integer(width, p->slice_instructions);
    for (size_t i = 0; i < p->slice_count; i++)
        most = p->slices[i].pages > most ? p->slices[i].pages : most;
    pw_text_print(out, "\nPages over time, in slices of %s warp instructions\n", width);
    struct pw_table t = {.columns = 4, .align = "rrrl", .indent = "  "};
    cells(&t, (const char *const[]){"slice", "pages", "new pages", "", NULL});
    for (size_t i = 0; i < p->slice_count; i++) {
        pw_table_print(&t, "%zu", i);
        pw_table_integer(&t, p->slices[i].pages);
        pw_table_integer(&t, p->slices[i].new_pages);
        bar_cell(&t, p->slices[i].pages, most);
    }
    pw_table_finish(&t, out);
}

void pw_profile_table(const struct pw_profile *p, bool full_names, struct pw_text *out)
{
    add_description(p, out);
    add_allocations(p, out);
    add_launches(p, full_names, out);
    add_instructions(p, out);
    if (!p->pages)
        return;
    add_reuse(p, out);
    add_slices(p, out);
}
