/* pagewalk run: one simulation, its result as a table, as JSON, as CSV.
 *
 * Whether the output files can be written is asked before the simulation starts, since it may take hours. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/format/result.h"
#include "exp/tools/setting.h"
#include "notices.h"
#include "progress.h"
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *machine, *design, *workload, *kernels, *json, *csv, *timeline, *pages, *command;
    struct pw_cli_list sets;
    uint64_t seed, interval, warmup, timeline_limit, pages_interval, pages_limit, by_kernel;
    bool quiet, verify, alone, breakdown, strict, all, full;
};

static const struct pw_cli_flag flags[] = {
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, machine), "NAME|FILE.yaml[+…]",
     "sizes and latencies, later ones changing earlier ones (default: a recording's, or mosaic)"},
    {'d', "design", PW_CLI_TEXT, offsetof(struct arguments, design), "NAME|FILE.yaml[+…]",
     "policy choices, several laid over one another (default: gpu-mmu-2m for a recording, or gpu-mmu)"},
    {'w', "workload", PW_CLI_TEXT, offsetof(struct arguments, workload), "NAME[:k=v]…[,…][@N+…]",
     "the program to run, with its parameters; several share the GPU, each on N of its SMs (required)"},
    {0, "set", PW_CLI_LIST, offsetof(struct arguments, sets), "KEY=VALUE", "set one option; may be repeated"},
    {0, "strict", PW_CLI_SWITCH, offsetof(struct arguments, strict), NULL, PW_CLI_STRICT_HELP},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write the result as JSON"},
    {0, "csv", PW_CLI_TEXT, offsetof(struct arguments, csv), "FILE|-", "write the result as CSV, one value per row"},
    {0, "timeline", PW_CLI_TEXT, offsetof(struct arguments, timeline), "FILE",
     "write walks, misses, stalls and launches as a trace for ui.perfetto.dev"},
    {0, "timeline-limit", PW_CLI_NUMBER, offsetof(struct arguments, timeline_limit), "N",
     "keep so many events in it (default 1000000)"},
    {0, "pages", PW_CLI_TEXT, offsetof(struct arguments, pages), "FILE",
     "write which pages were accessed when, fault batches and allocations as CSV"},
    {0, "pages-interval", PW_CLI_NUMBER, offsetof(struct arguments, pages_interval), "CYCLES",
     "record a page once in so many cycles of a launch (default 10000)"},
    {0, "pages-limit", PW_CLI_NUMBER, offsetof(struct arguments, pages_limit), "N",
     "keep so many accesses, and so many batches, in it (default 1000000)"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no table and no progress bar"},
    {0, "verify", PW_CLI_SWITCH, offsetof(struct arguments, verify), NULL,
     "check the workload's result against a sequential implementation"},
    {0, "alone", PW_CLI_SWITCH, offsetof(struct arguments, alone), NULL,
     "run each application alone too: weighted speedup and unfairness"},
    {0, "breakdown", PW_CLI_SWITCH, offsetof(struct arguments, breakdown), NULL,
     "also show where the time of warps goes, from issue to page walks"},
    {0, "all", PW_CLI_SWITCH, offsetof(struct arguments, all), NULL, "every metric, not just the summary"},
    {0, "by-kernel", PW_CLI_ROWS, offsetof(struct arguments, by_kernel), "[N]",
     "also show the N kernels that take the longest (default 10)"},
    {0, "long", PW_CLI_SWITCH, offsetof(struct arguments, full), NULL, "--by-kernel: full names of kernels"},
    {0, "interval", PW_CLI_NUMBER, offsetof(struct arguments, interval), "CYCLES",
     "also keep the metrics of every so many cycles"},
    {0, "warmup", PW_CLI_NUMBER, offsetof(struct arguments, warmup), "CYCLES",
     "let this many cycles go by before metrics count"},
    {0, "kernels", PW_CLI_TEXT, offsetof(struct arguments, kernels), "A[-B]",
     "count only these launches in the metrics, from 1"},
    {.name = NULL},
};

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* Files that take long to come have to be files of their own that can be written. */
static int check_outputs(const struct arguments *a)
{
    const struct {
        const char *flag, *path;
        bool is_log; /* written as the run goes on, and put into place when it is complete */
    } outputs[] = {{"--json", a->json, false},
                   {"--csv", a->csv, false},
                   {"--timeline", a->timeline, true},
                   {"--pages", a->pages, true}};
    enum { COUNT = sizeof outputs / sizeof *outputs };
    for (size_t i = 0; i < COUNT; i++) {
        struct pw_error err = {0};
        const char *path = outputs[i].path;
        if (!path)
            continue;
        if (outputs[i].is_log && is_dash(path))
            return pw_cli_fail(PW_USER_ERROR, "%s cannot go to standard output; name a file", outputs[i].flag);
        for (size_t k = 0; k < i; k++)
            if (!is_dash(path) && outputs[k].path && !strcmp(path, outputs[k].path))
                return pw_cli_fail(PW_USER_ERROR, "%s and %s name the same file \"%s\"", outputs[k].flag,
                                   outputs[i].flag, path);
        if (pw_output_check(path, &err) != PW_OK)
            return pw_cli_report(&err);
    }
    return PW_OK;
}

static int check_settings(const struct pw_cli_list *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        if (pw_setting_has_several(sets->items[i]))
            return pw_cli_fail(PW_USER_ERROR,
                               "--set %s: a run has one value; use `pagewalk compare` for several values",
                               sets->items[i]);
    return PW_OK;
}

static int check_arguments(const struct arguments *a, int rest, char **operands)
{
    if (rest > 0)
        return pw_cli_fail(PW_USER_ERROR, "run takes no \"%s\"; a workload is given with -w", operands[0]);
    if (!a->workload)
        return pw_cli_fail(PW_USER_ERROR, "no workload given; use -w NAME (`pagewalk list workloads` shows them)");
    if (is_dash(a->json) && is_dash(a->csv))
        return pw_cli_fail(PW_USER_ERROR, "--json and --csv cannot both go to standard output; name a file for one");
    int status = check_settings(&a->sets);
    return status == PW_OK ? check_outputs(a) : status;
}

/* What is set in vain: flags about files that are not written, and options. */
static int check_effects(const struct arguments *a, const struct pw_run_spec *spec)
{
    const struct {
        const char *flag, *needed, *path;
        uint64_t value;
    } flags_of_files[] = {{"--timeline-limit", "--timeline", a->timeline, a->timeline_limit},
                          {"--pages-interval", "--pages", a->pages, a->pages_interval},
                          {"--pages-limit", "--pages", a->pages, a->pages_limit}};
    struct pw_cli_notices notices = {0};
    for (size_t i = 0; i < sizeof flags_of_files / sizeof *flags_of_files; i++)
        if (flags_of_files[i].value && !flags_of_files[i].path)
            pw_cli_notices_add(&notices, "%s %llu has no effect without %s FILE", flags_of_files[i].flag,
                               (unsigned long long)flags_of_files[i].value, flags_of_files[i].needed);
    if (a->full && !a->by_kernel)
        pw_cli_notices_add(&notices, "--long has no effect without --by-kernel");
    return pw_cli_notices_finish(&notices, spec, 1, a->strict);
}

typedef void format(const struct pw_result *r, struct pw_text *out);

static int write_as(format *to_text, const struct pw_result *r, const char *path)
{
    struct pw_error err = {0};
    struct pw_text text = pw_cli_text();
    to_text(r, &text);
    enum pw_status status = pw_output_write(path, &text, &err);
    pw_text_free(&text);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

static int write_table(const struct pw_result *r, const struct pw_result_view *view)
{
    struct pw_text text = pw_cli_text();
    pw_result_table(r, view, &text);
    return pw_cli_print(&text);
}

/* Files come first: when standard output is a closed pipe they are there all the same. */
static int write_result(const struct arguments *a, const struct pw_result *r)
{
    int status = PW_OK;
    const struct pw_result_view view = {.all = a->all, .kernels = a->by_kernel, .full_names = a->full};
    bool table = !a->quiet && !is_dash(a->json) && !is_dash(a->csv);
    for (int to_stdout = 0; to_stdout < 2; to_stdout++) {
        if (status == PW_OK && a->json && is_dash(a->json) == to_stdout)
            status = write_as(pw_result_json, r, a->json);
        if (status == PW_OK && a->csv && is_dash(a->csv) == to_stdout)
            status = write_as(pw_result_csv, r, a->csv);
    }
    if (status == PW_OK && table)
        status = write_table(r, &view);
    return status;
}

static int simulate(const struct arguments *a)
{
    struct pw_cli_progress bar;
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    struct pw_run_spec spec = {
        .machine = a->machine,
        .design = a->design,
        .workload = a->workload,
        .sets = a->sets.items,
        .set_count = a->sets.count,
        .seed = a->seed,
        .verify = a->verify,
        .alone = a->alone,
        .breakdown = a->breakdown,
        .interval = a->interval,
        .warmup = a->warmup,
        .kernels = a->kernels,
        .timeline = a->timeline,
        .timeline_limit = a->timeline_limit,
        .pages = a->pages,
        .pages_interval = a->pages_interval,
        .pages_limit = a->pages_limit,
        .progress_context = &bar,
        .command = a->command,
    };
    int vain = check_effects(a, &spec);
    if (vain != PW_OK)
        return vain;
    pw_cli_progress_start(&bar, !a->quiet);
    spec.progress = bar.enabled ? pw_cli_progress_update : NULL;
    spec.interrupted = pw_cli_catch_interrupts();
    enum pw_status status = pw_run(&spec, &result, &err);
    pw_cli_progress_clear(&bar);
    if (status != PW_OK) {
        err.status = status;
        return pw_cli_report(&err);
    }
    int code = write_result(a, result);
    pw_result_free(result);
    return code;
}

static int run(const struct pw_cli_command *self, int argc, char **argv)
{
    char *command = pw_cli_command_line(argc, argv);
    struct arguments a = {.seed = 1, .command = command};
    int rest, status = PW_FAILED;
    a.sets.items = calloc((size_t)argc + 1, sizeof *a.sets.items);
    if (!a.sets.items || !command)
        pw_cli_fail(PW_FAILED, "out of memory");
    else if (pw_cli_parse(self, argc, argv, &a, &rest, &status)) {
        status = check_arguments(&a, rest, argv);
        if (status == PW_OK)
            status = pw_cli_choose_default(a.workload, &a.machine, "mosaic", &a.design, "gpu-mmu");
        if (status == PW_OK)
            status = simulate(&a);
    }
    free(a.sets.items);
    free(command);
    return status;
}

const struct pw_cli_command pw_cli_run_command = {
    .name = "run",
    .usage = "-w WORKLOAD [-m MACHINE] [-d DESIGN] [flags]",
    .summary = "simulate one run and show, or write, its result",
    .details =
        "Exit code 0: done; 1: the run failed; 2: a mistake in the arguments or a file; 130: interrupted.\n"
        "Results go to standard output or the named file, whole or not at all.\n\n"
        "Example: pagewalk run -m mosaic -d gpu-mmu -w HS:size=1024 --set l2_tlb.base_entries=1024 --json hs.json\n"
        "         pagewalk run -w NW --set paging.mode=demand --set uvm.memory=4MB --pages nw-pages.csv",
    .flags = flags,
    .run = run,
};
