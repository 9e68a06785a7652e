/* A result for people: applications first, where their warps' time went if that was asked for, then a summary or
 * every metric, and kernels if they were asked for. */
#include "exp/format/result.h"
#include "exp/format/scope_table.h"
#include "exp/format/table.h"
#include "sim/types.h"

#include <stdio.h>
#include <string.h>

bool pw_result_has_l2_tlb(const struct pw_result *r)
{
    for (size_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].name, "l2_tlb.enabled") == 0)
            return strcmp(r->options[i].value, "off") != 0;
    return true;
}

static void app_row(const struct pw_app_result *app, bool alone, int decimals, struct pw_table *t)
{
    char number[PW_NUMBER_CAPACITY];
    pw_table_cell_printable(t, app->name);
    pw_format_integer(number, app->sms);
    pw_table_cell(t, number);
    pw_format_integer(number, app->warp_instructions);
    pw_table_cell(t, number);
    pw_format_integer(number, app->cycles);
    pw_table_cell(t, number);
    pw_format_fixed(number, app->ipc, decimals);
    pw_table_cell(t, number);
    if (alone) {
        pw_format_fixed(number, app->ipc_alone, decimals);
        pw_table_cell(t, number);
    }
}

static void app_section(const struct pw_result *r, struct pw_text *out)
{
    bool alone = r->weighted_speedup > 0;
    struct pw_table t = {.columns = alone ? 6 : 5, .align = "lr", .indent = "  "};
    pw_table_heading(&t, "Applications");
    pw_table_cell(&t, "");
    pw_table_cell(&t, "SMs");
    pw_table_cell(&t, "warp instructions");
    pw_table_cell(&t, "cycles");
    pw_table_cell(&t, "IPC");
    if (alone)
        pw_table_cell(&t, "IPC alone");
    double ipc[2 * PW_MAX_APPS];
    size_t count = 0;
    for (size_t i = 0; i < r->app_count && i < PW_MAX_APPS; i++) {
        ipc[count++] = r->apps[i].ipc;
        ipc[count++] = r->apps[i].ipc_alone;
    }
    for (size_t i = 0; i < r->app_count; i++)
        app_row(&r->apps[i], alone, pw_decimals(ipc, count), &t);
    pw_table_finish(&t, out);
    if (alone)
        pw_text_print(out, "  weighted speedup %.3f, IPC throughput %.2f, unfairness %.3f\n", r->weighted_speedup,
                      r->ipc_throughput, r->unfairness);
}

/* How the run was asked for, where a number cannot be understood without it. */
static void header(const struct pw_result *r, bool all, struct pw_text *out)
{
    const struct pw_made *m = &r->made;
    char number[PW_NUMBER_CAPACITY];
    pw_text_add(out, "machine ");
    pw_text_printable(out, r->machine);
    pw_text_add(out, ", design ");
    pw_text_printable(out, r->design);
    pw_text_print(out, ", seed %llu", (unsigned long long)r->seed);
    if (m->core_version)
        pw_text_print(out, ", pagewalk %s", m->core_version);
    pw_text_add(out, "\n");
    if (all && m->command) {
        pw_text_add(out, "command: ");
        pw_text_printable(out, m->command);
        pw_text_add(out, "\n");
    }
    if (m->note) {
        pw_text_add(out, "note: ");
        pw_text_printable(out, m->note);
        pw_text_add(out, "\n");
    }
    if (m->warmup) {
        pw_format_integer(number, m->warmup);
        pw_text_print(out, "metrics leave out the first %s cycles (--warmup)\n", number);
    }
    if (m->kernels) {
        pw_text_add(out, "metrics count only launches ");
        pw_text_printable(out, m->kernels);
        pw_text_add(out, " (--kernels)\n");
    }
}

/* What was checked: identities between counters, of which one that does not hold fails the run, and results. */
static void add_checks(const struct pw_result *r, unsigned checks, bool all, struct pw_text *out)
{
    size_t holding = 0;
    for (size_t i = 0; i < r->identity_count; i++)
        holding += r->identities[i].holds;
    bool identities = all || holding < r->identity_count;
    if (identities)
        pw_text_print(out, "%zu of %zu identities hold", holding, r->identity_count);
    if (checks)
        pw_text_print(out, "%s%u check%s of the workload's result %s", identities ? ", " : "", checks,
                      pw_plural(checks), pw_counted(checks, "holds", "hold"));
    if (identities || checks)
        pw_text_add(out, "\n");
}

static void summary(const struct pw_result *r, bool all, struct pw_text *out)
{
    char cycles[PW_NUMBER_CAPACITY], speed[PW_NUMBER_CAPACITY], memory[PW_NUMBER_CAPACITY];
    uint64_t instructions = 0;
    unsigned checks = 0;
    for (size_t i = 0; i < r->app_count; i++) {
        instructions += r->apps[i].warp_instructions;
        checks += r->apps[i].checks;
    }
    header(r, all, out);
    pw_format_integer(cycles, r->cycles);
    pw_format_short(speed, r->wall_seconds > 0 ? (double)instructions / r->wall_seconds : 0);
    pw_format_bytes(memory, (double)r->peak_rss_bytes);
    pw_text_print(out, "%s cycles (%.1f us) simulated in %.2f s: %s warp instructions/s, %s of memory\n", cycles,
                  r->nanoseconds / 1000, r->wall_seconds, speed, memory);
    add_checks(r, checks, all, out);
    pw_result_memory_line(r, out);
    pw_text_add(out, "\n");
}

/* The flags that show more than this table does. */
static void add_hints(const struct pw_result *r, const struct pw_result_view *view, struct pw_text *out)
{
    pw_text_print(out, "\nEvery metric: --all.%s%s\n", view->kernels ? "" : " Kernels: --by-kernel.",
                  r->breakdown_count ? "" : " Where warps wait: --breakdown.");
}

void pw_result_table(const struct pw_result *r, const struct pw_result_view *view, struct pw_text *out)
{
    struct pw_text header = {0};
    summary(r, view->all, &header);
    pw_text_prose(out, 0, 2, header.bytes ? header.bytes : "");
    out->failed |= header.failed;
    pw_text_free(&header);
    app_section(r, out);
    pw_breakdown_table(r, out);
    pw_text_add(out, "\n");
    if (view->all)
        pw_result_units(r, out);
    else {
        pw_result_brief(r, out);
        add_hints(r, view, out);
    }
    if (view->all && r->allocation_count) {
        pw_text_add(out, "\n");
        pw_allocation_table(r->allocations, r->allocation_count, "Allocations (pages of 4 KiB)", out);
    }
    if (view->kernels) {
        pw_text_add(out, "\n");
        pw_kernel_table(r, view->kernels, view->full_names, out);
    }
}
