/* pagewalk reproduce: figures of the papers from their runs, with the paper's numbers beside ours.
 *
 * Runs that the store has are not repeated, and what is finished is in the store at once; so the command may be
 * interrupted, killed and started again, several times at once too, and goes on where it was. */
#include "command.h"

#include "exp/figure/experiment.h"
#include "exp/figure/figure_report.h"
#include "exp/format/output.h"
#include "open_store.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PW_PROFILE_GUIDED
enum { WORTH_A_FAST_BUILD = 3600 }; /* seconds, of which 6% are more than the three minutes that the build takes */
#endif

struct arguments {
    const char *db, *json, *csv;
    struct pw_cli_list replacements;
    uint64_t workers, seeds, percent;
    bool quick, full, each, plan, quiet;
};

static const struct pw_cli_flag flags[] = {
    {0, "quick", PW_CLI_SWITCH, offsetof(struct arguments, quick), NULL,
     "small sizes and a sample of the workloads, minutes (the default)"},
    {0, "full", PW_CLI_SWITCH, offsetof(struct arguments, full), NULL, "the papers' workloads at full size, hours"},
    {0, "sample", PW_CLI_NUMBER, offsetof(struct arguments, percent), "PERCENT",
     "only so many percent of each group of workloads, drawn by seed; a smaller sample is part of a larger one"},
    {0, "seeds", PW_CLI_NUMBER, offsetof(struct arguments, seeds), "N",
     "do every run with N seeds (default 1): means with 95% intervals, and trends have to be larger than the scatter"},
    {'j', "jobs", PW_CLI_NUMBER, offsetof(struct arguments, workers), "N", "runs at a time (default: one per core)"},
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE", "the result store (default pagewalk.db)"},
    {0, "each", PW_CLI_SWITCH, offsetof(struct arguments, each), NULL, "a line per workload, not only means"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write all numbers and verdicts as JSON"},
    {0, "csv", PW_CLI_TEXT, offsetof(struct arguments, csv), "FILE|-",
     "write them as CSV, one number per row with the paper's beside it"},
    {0, "replace", PW_CLI_LIST, offsetof(struct arguments, replacements), "DESIGN=OTHER",
     "run OTHER, a design or a file, wherever a figure has DESIGN; may be repeated"},
    {0, "plan", PW_CLI_SWITCH, offsetof(struct arguments, plan), NULL,
     "say what would be run (--json: of which version), and run nothing"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL,
     "no estimate, no line per finished figure and no progress bar; the tables are shown"},
    {.name = NULL},
};

struct session {
    const struct arguments *arguments;
    struct pw_experiment *experiment;
    struct pw_store *store;
    struct pw_figure_outcome *outcomes; /* as the experiment's figures */
    bool *reported;
    struct pw_cli_progress bar;
    struct pw_error failure; /* of loading or evaluating; the first one */
    size_t failed_runs, first_failed;
    bool lines; /* one per finished figure, on standard output */
};

static void evaluate(struct session *s, size_t figure)
{
    struct pw_experiment *e = s->experiment;
    struct pw_figure_outcome *o = &s->outcomes[figure];
    s->reported[figure] = true;
    struct pw_error err = {0};
    if (pw_figure_evaluate(&e->plan.figures[figure], e->runs, o, &err) != PW_OK) {
        if (s->failure.status == PW_OK)
            s->failure = err;
        return;
    }
    if (!s->lines)
        return;
    pw_cli_progress_clear(&s->bar);
    printf("%-25s %4zu run%s", o->figure->name, o->runs_there, pw_plural(o->runs_there));
    if (o->figure->claim_count)
        printf("%s  %3zu of %zu claim%s", pw_counted(o->runs_there, " ", ""), pw_figure_report_count(o, PW_HOLDS),
               o->figure->claim_count, pw_counted(o->figure->claim_count, " holds", "s hold"));
    putchar('\n');
    fflush(stdout);
}

static void report_settled_figures(struct session *s)
{
    for (size_t i = 0; i < s->experiment->figure_count; i++)
        if (!s->reported[i] && pw_experiment_figure_settled(s->experiment, i))
            evaluate(s, i);
}

static void job_finished(void *context, size_t job)
{
    struct session *s = context;
    struct pw_error err = {0};
    if (pw_experiment_load(s->experiment, s->store, job, &err) != PW_OK && s->failure.status == PW_OK)
        s->failure = err;
    if (s->experiment->jobs[job].failed && s->failed_runs++ == 0)
        s->first_failed = job;
    report_settled_figures(s);
}

static void show_progress(void *context, const struct pw_pool_progress *p)
{
    struct session *s = context;
    pw_cli_progress_runs(&s->bar, p);
}

/* "about 1 h 20 min" */
static void format_estimate(char *out, size_t capacity, double seconds)
{
    if (seconds < 90)
        snprintf(out, capacity, "%.0f s", seconds < 1 ? 1 : seconds);
    else if (seconds < 90 * 60)
        snprintf(out, capacity, "%.0f min", seconds / 60);
    else
        snprintf(out, capacity, "%.0f h %.0f min", (double)(unsigned)(seconds / 3600),
                 (double)((unsigned)(seconds / 60) % 60));
}

static void print_estimate(const struct session *s)
{
    double seconds;
    char time[48];
    const struct pw_experiment *e = s->experiment;
    size_t missing = pw_experiment_missing(e, &seconds), total = e->plan.job_count;
    unsigned workers = (unsigned)s->arguments->workers;
    format_estimate(time, sizeof time, seconds / workers);
    printf("%zu figure%s, %zu run%s, %zu of them in the store", e->figure_count, pw_plural(e->figure_count), total,
           pw_plural(total), total - missing);
    if (missing)
        printf("; the rest takes about %s on %u core%s", time, workers, pw_plural(workers));
    putchar('\n');
    size_t nulls = pw_experiment_null_jobs(e);
    if (nulls)
        printf("%zu of the runs put a baseline in a design's place, to find claims that hold without the design\n",
               nulls);
#ifndef PW_PROFILE_GUIDED
    if (seconds / workers > WORTH_A_FAST_BUILD)
        puts("scripts/build-fast builds a program that takes about 6% less time for this, with the same results");
#endif
    fflush(stdout);
}

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* Writes the text and frees it. */
static int write_file(const char *path, struct pw_text *text)
{
    struct pw_error err = {0};
    enum pw_status status = pw_output_write(path, text, &err);
    pw_text_free(text);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

typedef void figure_json(const struct pw_figure_outcome *o, struct pw_text *out);

static int write_json(const struct session *s, figure_json *write)
{
    struct pw_text text = {0};
    pw_text_add(&text, "[");
    for (size_t i = 0; i < s->experiment->figure_count; i++) {
        pw_text_add(&text, i ? ",\n " : "\n ");
        write(&s->outcomes[i], &text);
    }
    pw_text_add(&text, "\n]\n");
    return write_file(s->arguments->json, &text);
}

static int write_csv(const struct session *s)
{
    struct pw_text text = {0};
    for (size_t i = 0; i < s->experiment->figure_count; i++)
        pw_figure_report_csv(&s->outcomes[i], i == 0, &text);
    return write_file(s->arguments->csv, &text);
}

static int print_tables(const struct session *s)
{
    struct pw_text text = pw_cli_text();
    size_t holds = 0, weak = 0, differs = 0, claims = 0;
    for (size_t i = 0; i < s->experiment->figure_count; i++) {
        pw_text_add(&text, s->lines || i ? "\n" : "");
        pw_figure_report_table(&s->outcomes[i], s->arguments->each, &text);
        holds += pw_figure_report_count(&s->outcomes[i], PW_HOLDS);
        weak += pw_figure_report_count(&s->outcomes[i], PW_WEAK);
        differs += pw_figure_report_count(&s->outcomes[i], PW_DIFFERS);
        claims += s->experiment->figures[i]->claim_count;
    }
    pw_text_add(&text, "\n");
    if (claims)
        pw_text_print(&text, "%zu claim%s: %zu %s, %zu %s weak, %zu %s, %zu not run. ", claims, pw_plural(claims),
                      holds, pw_counted(holds, "holds", "hold"), weak, pw_counted(weak, "is", "are"), differs,
                      pw_counted(differs, "differs", "differ"), claims - holds - weak - differs);
    pw_text_print(&text, "Results: %s\n", s->arguments->db);
    if (weak)
        pw_text_add(&text, "weak: holds with a design that does nothing, too.\n");
    if (differs)
        pw_text_print(&text, "Why results differ: pagewalk claims --why --db %s\n", s->arguments->db);
    return pw_cli_print(&text);
}

static int report_failed_runs(const struct session *s)
{
    const struct pw_pool_job *job = &s->experiment->jobs[s->first_failed];
    return pw_cli_fail(PW_FAILED, "%zu run%s failed; the first: -m %s -d %s -w %s: %s", s->failed_runs,
                       pw_plural(s->failed_runs), job->spec.machine, job->spec.design, job->spec.workload,
                       job->message);
}

static enum pw_status run_missing(struct session *s, struct pw_error *err)
{
    struct pw_experiment *e = s->experiment;
    struct pw_pool pool = {
        .store_path = s->arguments->db,
        .store = s->store,
        .workers = (unsigned)s->arguments->workers,
        .jobs = e->jobs,
        .count = e->plan.job_count,
        .finished = job_finished,
        .progress = show_progress,
        .context = s,
        .interrupted = pw_cli_catch_interrupts(),
    };
    pw_cli_progress_start(&s->bar, !s->arguments->quiet);
    report_settled_figures(s);
    enum pw_status status = pw_pool_run(&pool, err);
    pw_cli_progress_clear(&s->bar);
    return status;
}

static int write_plan(struct session *s)
{
    for (size_t i = 0; i < s->experiment->figure_count; i++)
        evaluate(s, i);
    return s->failure.status == PW_OK ? write_json(s, pw_figure_report_plan_json) : pw_cli_report(&s->failure);
}

static int reproduce(struct session *s)
{
    struct pw_error err = {0};
    const struct arguments *a = s->arguments;
    bool to_stdout = is_dash(a->json) || is_dash(a->csv);
    if (pw_experiment_look_up(s->experiment, s->store, &err) != PW_OK)
        return pw_cli_report(&err);
    if (a->plan ? !is_dash(a->json) : !a->quiet && !to_stdout)
        print_estimate(s);
    if (a->plan)
        return a->json ? write_plan(s) : PW_OK;
    s->lines = !a->quiet && !to_stdout;
    enum pw_status status = run_missing(s, &err);
    if (status != PW_OK) {
        err.status = status;
        return pw_cli_report(&err);
    }
    if (s->failure.status != PW_OK)
        return pw_cli_report(&s->failure);
    int code = a->json ? write_json(s, pw_figure_report_json) : PW_OK;
    if (code == PW_OK && a->csv)
        code = write_csv(s);
    if (code == PW_OK && !to_stdout)
        code = print_tables(s);
    if (code == PW_OK && s->failed_runs)
        code = report_failed_runs(s);
    return code;
}

static int prepare_and_reproduce(const struct arguments *a, int rest, char **names)
{
    struct pw_error err = {0};
    struct session s = {.arguments = a};
    const struct pw_experiment_spec spec = {
        .names = (const char *const *)names,
        .name_count = (size_t)rest,
        .scope = a->full ? PW_FULL : PW_QUICK,
        .replacements = a->replacements.items,
        .replacement_count = a->replacements.count,
        .percent = (unsigned)a->percent,
        .seeds = (unsigned)a->seeds,
    };
    enum pw_status status = a->json ? pw_output_check(a->json, &err) : PW_OK;
    if (status == PW_OK && a->csv)
        status = pw_output_check(a->csv, &err);
    if (status == PW_OK)
        status = pw_experiment_create(&spec, &s.experiment, &err);
    if (status == PW_OK)
        status = pw_cli_open_store(a->db, PW_STORE_USE, &s.store, &err);
    int code;
    if (status != PW_OK) {
        code = pw_cli_report(&err);
    } else {
        s.outcomes = calloc(s.experiment->figure_count + 1, sizeof *s.outcomes);
        s.reported = calloc(s.experiment->figure_count + 1, sizeof *s.reported);
        code = s.outcomes && s.reported ? reproduce(&s) : pw_cli_fail(PW_FAILED, "out of memory");
    }
    for (size_t i = 0; s.outcomes && i < s.experiment->figure_count; i++)
        pw_figure_outcome_release(&s.outcomes[i]);
    free(s.outcomes);
    free(s.reported);
    pw_store_close(s.store);
    pw_experiment_destroy(s.experiment);
    return code;
}

static int run(const struct pw_cli_command *self, int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct arguments a = {.db = "pagewalk.db", .workers = cores > 0 ? (uint64_t)cores : 1, .seeds = 1, .percent = 100};
    int rest, status;
    a.replacements.items = calloc((size_t)argc + 1, sizeof *a.replacements.items);
    if (!a.replacements.items)
        return pw_cli_fail(PW_FAILED, "out of memory");
    if (pw_cli_parse(self, argc, argv, &a, &rest, &status)) {
        if (a.quick && a.full)
            status = pw_cli_fail(PW_USER_ERROR, "--quick and --full exclude each other");
        else if (a.json && a.csv && strcmp(a.json, a.csv) == 0)
            status =
                pw_cli_fail(PW_USER_ERROR, "--json and --csv both go to \"%s\"; name another file for one", a.json);
        else if (a.workers > 1024)
            status = pw_cli_fail(PW_USER_ERROR, "-j: at most 1024 runs at a time");
        else if (a.seeds > PW_MAX_SEEDS)
            status = pw_cli_fail(PW_USER_ERROR, "--seeds: at most %d", PW_MAX_SEEDS);
        else if (a.percent > 100)
            status = pw_cli_fail(PW_USER_ERROR, "--sample: at most 100 percent");
        else
            status = prepare_and_reproduce(&a, rest, argv);
    }
    free(a.replacements.items);
    return status;
}

const struct pw_cli_command pw_cli_reproduce_command = {
    .name = "reproduce",
    .usage = "[PAPER[/FIGURE]|FILE.yaml]… [--quick|--full] [flags]",
    .summary = "regenerate figures of the papers, with the paper's numbers beside ours",
    .details =
        "Without names, all figures that decide a claim; those that decide none (calibration) run when named.\n"
        "`pagewalk list figures` shows both. How many runs are missing, and how long they take, is said first;\n"
        "--plan says only that. Runs that the store has are not repeated; Ctrl-C keeps what is\n"
        "finished, and the same command goes on. Several may work on one store at the same time.\n"
        "Claims about a design are evaluated with its baseline in its place too: what holds there as well is weak.\n"
        "Exit code 0: done, whatever the verdicts; 1: runs failed; 2: a mistake; 130: interrupted.\n\n"
        "Example: pagewalk reproduce mosaic/fig03 mask\n"
        "         pagewalk reproduce mosaic --replace mosaic=my-design.yaml",
    .flags = flags,
    .run = run,
};
