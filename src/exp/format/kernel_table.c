/* The kernels of a run by the time they took: which one to look at. All launches of one name and application are a row;
 * what is beyond the rows wanted is one more.
 *
 * Launches of one application follow one another, so their times add up to that of the run. Where something is left,
 * such as the copies of pages between launches, or what an application does that was started again while others still
 * run, it has a row of its own. Columns in which nothing happened are left out. */
#include "exp/format/kernel_name.h"
#include "exp/format/result.h"
#include "exp/format/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_METRICS = 4 };

static const struct column {
    const char *title, *metrics[MOST_METRICS];
    bool bytes;
} columns[] = {
    {"L1 TLB misses", {"l1_tlb.misses"}, false},
    {"L2 TLB misses", {"l2_tlb.misses"}, false},
    {"page walks", {"walk.count"}, false},
    {"far faults", {"uvm.far_faults"}, false},
    {"DRAM", {"dram.bytes"}, true},
    {"host link", {"link.h2d.bytes", "link.d2h.bytes", "link.h2d.small_bytes", "link.d2h.small_bytes"}, true},
    {"fabric", {"fabric.bytes"}, true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct kernel {
    const char *name;
    unsigned app, copy; /* copy: from 1, where different kernels have the same short name; else 0 */
    uint64_t launches, cycles;
    double values[COLUMNS];
};

struct kernels {
    const struct pw_result *result;
    struct kernel *rows;
    size_t count;
    struct kernel all; /* launches together */
    double run[COLUMNS];
    bool used[COLUMNS];
    bool full_names;
};

static double window_value(const struct pw_result *r, const struct pw_window *w, const char *metric)
{
    for (size_t i = 0; metric && i < r->window_metric_count; i++)
        if (strcmp(r->window_metrics[i], metric) == 0)
            return w->values[i];
    return 0;
}

/* Over all GPUs. */
static double run_value(const struct pw_result *r, const char *metric)
{
    static const char *const scopes[] = {"gpus.", "gpu0."};
    for (size_t s = 0; metric && s < sizeof scopes / sizeof *scopes; s++)
        for (size_t i = 0; i < r->metric_count; i++)
            if (strncmp(r->metrics[i].name, scopes[s], strlen(scopes[s])) == 0 &&
                strcmp(r->metrics[i].name + strlen(scopes[s]), metric) == 0)
                return r->metrics[i].real;
    return 0;
}

static void add_launch(const struct pw_result *r, const struct pw_window *w, struct kernel *to)
{
    to->launches++;
    to->cycles += w->outer_cycle - w->first_cycle;
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t k = 0; k < MOST_METRICS; k++)
            to->values[i] += window_value(r, w, columns[i].metrics[k]);
}

static void add_kernel(const struct kernel *k, struct kernel *to)
{
    to->launches += k->launches;
    to->cycles += k->cycles;
    for (size_t i = 0; i < COLUMNS; i++)
        to->values[i] += k->values[i];
}

static int by_name(const void *a, const void *b)
{
    const struct pw_window *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->app > (*y)->app) - ((*x)->app < (*y)->app);
}

static int by_time(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->app > y->app) - (x->app < y->app);
}

/* Whether --kernels, "3" or "2-5", lets a launch count. */
static bool counts(const struct pw_result *r, unsigned launch)
{
    char *end;
    unsigned long first = r->made.kernels ? strtoul(r->made.kernels, &end, 10) : 0;
    if (!first)
        return true;
    return launch >= first && launch <= (*end == '-' ? strtoul(end + 1, NULL, 10) : first);
}

static bool gather(struct kernels *k)
{
    const struct pw_result *r = k->result;
    const struct pw_window **launches = calloc(r->kernel_count + 1, sizeof *launches);
    k->rows = calloc(r->kernel_count + 1, sizeof *k->rows);
    size_t count = 0;
    for (size_t i = 0; launches && i < r->kernel_count; i++)
        if (counts(r, r->kernels[i].index))
            launches[count++] = &r->kernels[i];
    if (launches && k->rows) {
        qsort(launches, count, sizeof *launches, by_name);
        for (size_t i = 0; i < count; i++) {
            if (!i || by_name(&launches[i - 1], &launches[i]) != 0)
                k->rows[k->count++] = (struct kernel){.name = launches[i]->name, .app = launches[i]->app};
            add_launch(r, launches[i], &k->rows[k->count - 1]);
            add_launch(r, launches[i], &k->all);
        }
        qsort(k->rows, k->count, sizeof *k->rows, by_time);
    }
    free(launches);
    return launches && k->rows;
}

/* Numbers those of the rows shown that would look alike. */
static void tell_apart(struct kernels *k, size_t shown)
{
    for (size_t i = 0; !k->full_names && i < shown; i++) {
        char name[PW_KERNEL_NAME_SHORT], other[PW_KERNEL_NAME_SHORT];
        pw_kernel_name_short(k->rows[i].name, name, sizeof name);
        unsigned copies = 1;
        for (size_t j = i + 1; !k->rows[i].copy && j < shown; j++) {
            pw_kernel_name_short(k->rows[j].name, other, sizeof other);
            if (strcmp(name, other) == 0 && strcmp(k->rows[i].name, k->rows[j].name) != 0)
                k->rows[j].copy = ++copies;
        }
        if (copies > 1)
            k->rows[i].copy = 1;
    }
}

static void number_cells(const struct kernels *k, const double *values, struct pw_table *t)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (k->used[i] && columns[i].bytes)
            pw_table_bytes(t, (uint64_t)values[i]);
        else if (k->used[i])
            pw_table_integer(t, (uint64_t)values[i]);
}

/* Time: cycles, microseconds, and their share of `whole`; no cells but blank ones without it. */
static void time_cells(const struct kernels *k, uint64_t cycles, uint64_t whole, struct pw_table *t)
{
    const struct pw_result *r = k->result;
    if (!whole) {
        for (int i = 0; i < 3; i++)
            pw_table_cell(t, "");
        return;
    }
    pw_table_integer(t, cycles);
    pw_table_print(t, "%.1f", r->cycles ? (double)cycles * r->nanoseconds / (double)r->cycles / 1000 : 0);
    pw_table_print(t, "%.1f%%", 100 * (double)cycles / (double)whole);
}

/* What the times of an application's launches are shares of. Warm-up cuts through launches, but their rows are
 * whole. */
static uint64_t whole(const struct kernels *k, unsigned app)
{
    const struct pw_result *r = k->result;
    if (r->made.warmup && r->app_count == 1)
        return k->all.cycles;
    return app < r->app_count ? r->apps[app].cycles : 0;
}

static void kernel_row(const struct kernels *k, const struct kernel *row, struct pw_table *t)
{
    const struct pw_result *r = k->result;
    char name[PW_KERNEL_NAME_SHORT];
    pw_kernel_name_short(row->name, name, sizeof name);
    if (row->copy)
        pw_table_print(t, "%s #%u", name, row->copy);
    else
        pw_table_kernel(t, row->name, k->full_names);
    if (r->app_count > 1)
        pw_table_print(t, "app%u", row->app);
    pw_table_integer(t, row->launches);
    time_cells(k, row->cycles, whole(k, row->app), t);
    number_cells(k, row->values, t);
}

static void sum_row(const struct kernels *k, const char *label, uint64_t launches, uint64_t cycles,
                    const double *values, struct pw_table *t)
{
    const struct pw_result *r = k->result;
    pw_table_cell(t, label);
    if (r->app_count > 1)
        pw_table_cell(t, "");
    if (launches)
        pw_table_integer(t, launches);
    else
        pw_table_cell(t, "");
    /* Applications run at the same time: their cycles have no sum. */
    time_cells(k, cycles, r->app_count == 1 ? whole(k, 0) : 0, t);
    number_cells(k, values, t);
}

/* What launches leave of the run, and the run; with --warmup, which cuts launches apart, only all launches. */
static void sums(const struct kernels *k, struct pw_table *t)
{
    const struct pw_result *r = k->result;
    double rest[COLUMNS];
    uint64_t cycles = r->cycles > k->all.cycles ? r->cycles - k->all.cycles : 0;
    bool left = r->app_count == 1 && cycles;
    if (r->made.warmup) {
        sum_row(k, "all launches", k->all.launches, k->all.cycles, k->all.values, t);
        return;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        rest[i] = k->run[i] > k->all.values[i] ? k->run[i] - k->all.values[i] : 0;
        left |= k->used[i] && rest[i] > 0;
    }
    if (left)
        sum_row(k, r->app_count > 1 ? "runs started again" : "between launches", 0, cycles, rest, t);
    sum_row(k, "run", k->all.launches, r->cycles, k->run, t);
}

static void title_cells(const struct kernels *k, struct pw_table *t)
{
    pw_table_cell(t, "kernel");
    if (k->result->app_count > 1)
        pw_table_cell(t, "app");
    pw_table_cell(t, "launches");
    pw_table_cell(t, "cycles");
    pw_table_cell(t, "us");
    pw_table_cell(t, "time");
    for (size_t i = 0; i < COLUMNS; i++)
        if (k->used[i])
            pw_table_cell(t, columns[i].title);
}

void pw_kernel_table(const struct pw_result *r, size_t rows, bool full_names, struct pw_text *out)
{
    struct kernels k = {.result = r, .full_names = full_names};
    struct pw_table t = {.columns = 5U + (r->app_count > 1), .align = r->app_count > 1 ? "llr" : "lr", .indent = "  "};
    if (!gather(&k)) {
        free(k.rows);
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        for (size_t m = 0; m < MOST_METRICS; m++)
            k.run[i] += run_value(r, columns[i].metrics[m]);
        k.used[i] = k.run[i] > 0 || k.all.values[i] > 0;
        t.columns += k.used[i];
    }
    size_t shown = k.count < rows ? k.count : rows;
    tell_apart(&k, shown);
    pw_table_heading(&t, r->made.warmup     ? "Kernels by time (whole launches, --warmup included)"
                         : r->app_count > 1 ? "Kernels by time (shares: of the application's)"
                                            : "Kernels by time");
    title_cells(&k, &t);
    for (size_t i = 0; i < shown; i++)
        kernel_row(&k, &k.rows[i], &t);
    struct kernel others = {0};
    for (size_t i = shown; i < k.count; i++)
        add_kernel(&k.rows[i], &others);
    char label[64];
    snprintf(label, sizeof label, "%zu other%s", k.count - shown, pw_plural(k.count - shown));
    if (others.launches)
        sum_row(&k, label, others.launches, others.cycles, others.values, &t);
    sums(&k, &t);
    pw_table_finish(&t, out);
    free(k.rows);
}
