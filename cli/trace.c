/* pagewalk trace: recording workloads, converting what other tools have recorded or read, and looking into traces.
 * Replaying one is a run: -w trace:FILE. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/tools/trace_record.h"
#include "exp/tools/trace_show.h"
#include "progress.h"
#include "trace/import.h"

#include <string.h>

struct arguments {
    const char *workload, *output;
    uint64_t seed, launch, cta, warp;
    const char *cta_text, *warp_text, *json;
    bool quiet, check, full, xz;
};

/* Writes `spec.file` by work that may take long. */
static int with_progress(enum pw_status (*work)(const struct pw_trace_record_spec *spec, struct pw_error *err),
                         struct pw_trace_record_spec spec, bool quiet)
{
    struct pw_cli_progress bar;
    struct pw_error err = {0};
    pw_cli_progress_start(&bar, !quiet);
    spec.progress = bar.enabled ? pw_cli_progress_update : NULL;
    spec.progress_context = &bar;
    spec.interrupted = pw_cli_catch_interrupts();
    enum pw_status status = work(&spec, &err);
    pw_cli_progress_clear(&bar);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

/* The exit code. */
static int check_output(const char *file)
{
    struct pw_error err = {0};
    if (!strcmp(file, "-"))
        return pw_cli_fail(PW_USER_ERROR, "a trace cannot be written to standard output; use -o FILE.pwt");
    return pw_output_check(file, &err) == PW_OK ? PW_OK : pw_cli_report(&err);
}

static int record(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {.seed = 1};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest > 0)
        return pw_cli_fail(PW_USER_ERROR, "trace record takes no \"%s\"; a workload is given with -w", argv[0]);
    if (!a.workload)
        return pw_cli_fail(PW_USER_ERROR, "no workload given; use -w NAME (`pagewalk list workloads` shows them)");
    if (!a.output)
        return pw_cli_fail(PW_USER_ERROR, "no file given; use -o FILE.pwt");
    if (strchr(a.workload, ','))
        return pw_cli_fail(PW_USER_ERROR, "a trace holds one program; record each and run -w trace:A,trace:B");
    status = check_output(a.output);
    if (status != PW_OK)
        return status;
    return with_progress(pw_trace_record,
                         (struct pw_trace_record_spec){.workload = a.workload, .file = a.output, .seed = a.seed},
                         a.quiet);
}

static int convert(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "trace convert takes one FILE to read");
    if (!a.output)
        return pw_cli_fail(PW_USER_ERROR, "no file to write given; use -o FILE.pwt");
    status = check_output(a.output);
    if (status != PW_OK)
        return status;
    return with_progress(pw_trace_convert, (struct pw_trace_record_spec){.workload = argv[0], .file = a.output},
                         a.quiet);
}

static int export(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "trace export takes one FILE to read");
    if (!a.output || !*a.output || !strcmp(a.output, "-"))
        return pw_cli_fail(PW_USER_ERROR, "no folder to write given; use -o FOLDER");
    if (a.launch > UINT32_MAX)
        return pw_cli_fail(PW_USER_ERROR, "--launch: %llu is no launch of a trace", (unsigned long long)a.launch);
    return with_progress(
        pw_trace_export_folder,
        (struct pw_trace_record_spec){.workload = argv[0], .file = a.output, .launch = (uint32_t)a.launch, .xz = a.xz},
        a.quiet);
}

static bool stop(void *context, uint64_t bytes_read, uint64_t bytes_in_all)
{
    (void)bytes_read;
    (void)bytes_in_all;
    const volatile bool *const *interrupted = context;
    return **interrupted;
}

/* Opens the one file that is given. What is returned is an exit code; *out is NULL unless it is PW_OK. */
static int open_file(const char *command, int rest, char **argv, const volatile bool **interrupted,
                     struct pw_trace **out)
{
    struct pw_error err = {0};
    *out = NULL;
    if (rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "%s takes one FILE", command);
    *interrupted = pw_cli_catch_interrupts();
    const struct pw_import_watch watch = {stop, interrupted};
    return pw_trace_open_any(argv[0], &watch, out, &err) == PW_OK ? PW_OK : pw_cli_report(&err);
}

struct view {
    const struct pw_trace *trace;
    bool full;
};

static enum pw_status fill(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    const struct view *v = context;
    if (!json && !v->full)
        pw_cli_wrap(out);
    if (json)
        pw_trace_info_json(v->trace, out);
    else
        pw_trace_info_table(v->trace, v->full, out);
    return pw_text_finish(out, err);
}

static int info(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    const volatile bool *interrupted;
    struct pw_trace *trace;
    struct pw_error err = {0};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    status = pw_cli_check_json(a.json);
    if (status != PW_OK)
        return status;
    status = open_file(self->name, rest, argv, &interrupted, &trace);
    if (!trace)
        return status;
    if (a.check && pw_trace_verify(trace, &err) != PW_OK) {
        pw_trace_close(trace);
        return pw_cli_report(&err);
    }
    status = pw_cli_show(a.json, fill, &(struct view){trace, a.full});
    pw_trace_close(trace);
    return status;
}

/* A number from 0; the exit code. */
static int parse_from_zero(const char *flag, const char *text, uint64_t *out)
{
    *out = PW_TRACE_EVERY;
    if (!text)
        return PW_OK;
    *out = 0;
    if (strcmp(text, "0") == 0 || pw_cli_parse_number(text, out))
        return PW_OK;
    return pw_cli_fail(PW_USER_ERROR, "%s: \"%s\" is no whole number", flag, text);
}

static int cat(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {.launch = PW_TRACE_EVERY};
    struct pw_trace_choice choice;
    struct pw_trace *trace = NULL;
    struct pw_error err = {0};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    choice.launch = a.launch;
    status = parse_from_zero("--cta", a.cta_text, &choice.cta);
    if (status == PW_OK)
        status = parse_from_zero("--warp", a.warp_text, &choice.warp);
    if (status == PW_OK)
        status = open_file(self->name, rest, argv, &choice.interrupted, &trace);
    if (!trace)
        return status;
    enum pw_status outcome = pw_trace_cat(trace, &choice, stdout, &err);
    pw_trace_close(trace);
    return outcome == PW_OK ? PW_OK : pw_cli_report(&err);
}

static const struct pw_cli_flag record_flags[] = {
    {'w', "workload", PW_CLI_TEXT, offsetof(struct arguments, workload), "NAME[:k=v]…", "the program to record"},
    {'o', "output", PW_CLI_TEXT, offsetof(struct arguments, output), "FILE.pwt", "the trace to write"},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no progress bar"},
    {.name = NULL},
};

static const struct pw_cli_flag convert_flags[] = {
    {'o', "output", PW_CLI_TEXT, offsetof(struct arguments, output), "FILE.pwt", "the trace to write"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no progress bar"},
    {.name = NULL},
};

static const struct pw_cli_flag export_flags[] = {
    {'o', "output", PW_CLI_TEXT, offsetof(struct arguments, output), "FOLDER",
     "the folder to write; it must be new or empty"},
    {0, "launch", PW_CLI_NUMBER, offsetof(struct arguments, launch), "N", "only this launch, from 1"},
    {0, "xz", PW_CLI_SWITCH, offsetof(struct arguments, xz), NULL, "compress the kernels, as .traceg.xz"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no progress bar"},
    {.name = NULL},
};

static const struct pw_cli_flag info_flags[] = {
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write it as one JSON object"},
    {0, "long", PW_CLI_SWITCH, offsetof(struct arguments, full), NULL,
     "full names of kernels, and in a pipe lines of any length"},
    {0, "check", PW_CLI_SWITCH, offsetof(struct arguments, check), NULL, "read the whole file and check every byte"},
    {.name = NULL},
};

static const struct pw_cli_flag cat_flags[] = {
    {0, "launch", PW_CLI_NUMBER, offsetof(struct arguments, launch), "N", "only this launch, from 1"},
    {0, "cta", PW_CLI_TEXT, offsetof(struct arguments, cta_text), "N", "only this CTA, from 0"},
    {0, "warp", PW_CLI_TEXT, offsetof(struct arguments, warp_text), "N", "only this warp of a CTA, from 0"},
    {.name = NULL},
};

static const struct pw_cli_command subcommands[] = {
    {.name = "trace record",
     .usage = "-w WORKLOAD -o FILE.pwt [--seed N]",
     .summary = "record a built-in workload; its replay gives the same results",
     .details = "The program runs without a machine and without time.\n\n"
                "Example: pagewalk trace record -w BFS2:scale=0.1 -o bfs2.pwt\n"
                "         pagewalk run -m volta -d gpu-mmu -w trace:bfs2.pwt",
     .flags = record_flags,
     .run = record},
    {.name = "trace convert",
     .usage = "FILE -o FILE.pwt",
     .summary = "write what another tool has recorded as a trace of pagewalk's own",
     .details = "Reads Accel-Sim's kernelslist.g with its kernels, a single .traceg (both also compressed with xz) or\n"
                ".tracez, and the text of NVBit's mem_trace.\n\n"
                "Example: pagewalk trace convert traces/kernelslist.g -o program.pwt",
     .flags = convert_flags,
     .run = convert},
    {.name = "trace export",
     .usage = "FILE -o FOLDER [--launch N] [--xz]",
     .summary = "write a trace as Accel-Sim reads it",
     .details =
         "The folder gets a kernelslist.g and a .traceg for each launch; a GPU is not needed. Runs of the folder have\n"
         "the results of the trace.\n\n"
         "Example: pagewalk trace record -w BFS2:scale=0.1 -o bfs2.pwt\n"
         "         pagewalk trace export bfs2.pwt -o bfs2\n"
         "         accel-sim.out -trace bfs2/kernelslist.g -config …",
     .flags = export_flags,
     .run = export},
    {.name = "trace info",
     .usage = "FILE [--json FILE|-] [--long] [--check]",
     .summary = "show where a trace comes from, its allocations and its launches",
     .details = "Any kind of trace that can be replayed can be looked into.\n\n"
                "Example: pagewalk trace info --check program.pwt",
     .flags = info_flags,
     .run = info},
    {.name = "trace cat",
     .usage = "FILE [--launch N] [--cta N] [--warp N]",
     .summary = "print a trace as text, a line per event and per operation of a warp",
     .details = "\"+4\" behind an address: lane i accesses what stands before it plus 4 i. \"all but 1\": the "
                "operation waits\n"
                "for all loads but the youngest.\n\n"
                "Example: pagewalk trace cat program.pwt --launch 1 --cta 0 --warp 0",
     .flags = cat_flags,
     .run = cat},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int trace(const struct pw_cli_command *self, int argc, char **argv)
{
    const char *names[SUBCOMMANDS + 1] = {NULL};
    if (argc < 2)
        return pw_cli_fail(PW_USER_ERROR,
                           "trace what? record, convert, export, info or cat; see `pagewalk help trace`");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return pw_cli_command_help(self);
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        names[i] = subcommands[i].name + sizeof "trace";
        if (!strcmp(argv[1], names[i]))
            return subcommands[i].run(&subcommands[i], argc - 1, argv + 1);
    }
    return pw_cli_unknown("subcommand", argv[1], names, "pagewalk help trace");
}

static const struct pw_cli_flag no_flags[] = {{.name = NULL}};

const struct pw_cli_command pw_cli_trace_command = {
    .name = "trace",
    .usage = "record|convert|export|info|cat …",
    .summary = "record workloads, convert traces from and for other tools, look into traces",
    .details =
        "trace record -w WORKLOAD -o FILE.pwt [--seed N]: record a built-in workload.\n"
        "trace convert FILE -o FILE.pwt: write what another tool has recorded as a trace of pagewalk's own.\n"
        "trace export FILE -o FOLDER [--launch N] [--xz]: write a trace as Accel-Sim reads it.\n"
        "trace info FILE [--json FILE|-] [--long] [--check]: where it comes from, its allocations and its launches.\n"
        "trace cat FILE [--launch N] [--cta N] [--warp N]: its events and operations as text.\n\n"
        "`pagewalk trace record --help`, and so on, says more. A trace is replayed by a run.\n\n"
        "Example: pagewalk run -m volta -d gpu-mmu -w trace:program.pwt",
    .flags = no_flags,
    .run = trace,
};
