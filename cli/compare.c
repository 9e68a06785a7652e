/* pagewalk compare: what translation costs, and what changes if …, in one table.
 *
 * Runs that the store has are not repeated, as with reproduce; all combinations are checked before the first run. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/tools/compare.h"
#include "notices.h"
#include "open_store.h"
#include "progress.h"
#include "recorded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct pw_cli_list machines, designs, workloads, sets;
    const char *against, *seeds, *db, *json, *csv;
    uint64_t workers;
    bool quiet, strict, alone, each_seed;
};

static const struct pw_cli_flag flags[] = {
    {'w', "workload", PW_CLI_LIST, offsetof(struct arguments, workloads), "NAME[:k=v]…[,…][@N+…]",
     "a workload; may be repeated; several joined by commas share the GPU, each on N of its SMs (required)"},
    {'m', "machine", PW_CLI_LIST, offsetof(struct arguments, machines), "NAME|FILE.yaml",
     "sizes and latencies; may be repeated (default: a recording's, or mosaic)"},
    {'d', "design", PW_CLI_LIST, offsetof(struct arguments, designs), "NAME|FILE.yaml[+…]",
     "policy choices; may be repeated (default: gpu-mmu-2m for a recording, or gpu-mmu)"},
    {0, "set", PW_CLI_LIST, offsetof(struct arguments, sets), "KEY=V1[,V2…]",
     "set one option to each of these values in turn; may be repeated"},
    {0, "strict", PW_CLI_SWITCH, offsetof(struct arguments, strict), NULL, PW_CLI_STRICT_HELP},
    {0, "against", PW_CLI_TEXT, offsetof(struct arguments, against), "DESIGN[,…]",
     "designs that slowdowns are against, or none (default ideal-tlb)"},
    {0, "seed", PW_CLI_TEXT, offsetof(struct arguments, seeds), "N[,N…]",
     "seeds of all random numbers (default 1); of several, means and 95% intervals are shown"},
    {0, "each-seed", PW_CLI_SWITCH, offsetof(struct arguments, each_seed), NULL, "a row for each seed instead"},
    {0, "alone", PW_CLI_SWITCH, offsetof(struct arguments, alone), NULL,
     "run each application alone too: weighted speedup and unfairness"},
    {'j', "jobs", PW_CLI_NUMBER, offsetof(struct arguments, workers), "N", "runs at a time (default: one per core)"},
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE", "the result store (default pagewalk.db)"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write all numbers as JSON"},
    {0, "csv", PW_CLI_TEXT, offsetof(struct arguments, csv), "FILE|-", "write all numbers as CSV, a line per row"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no table and no progress bar"},
    {.name = NULL},
};

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static enum pw_status run_all(const struct arguments *a, struct pw_compare *c, struct pw_error *err)
{
    struct pw_cli_progress bar;
    struct pw_pool pool = {
        .store_path = a->db,
        .workers = (unsigned)a->workers,
        .progress = pw_cli_progress_runs,
        .context = &bar,
        .interrupted = pw_cli_catch_interrupts(),
    };
    enum pw_status status = pw_cli_open_store(a->db, PW_STORE_USE, &pool.store, err);
    if (status != PW_OK)
        return status;
    pw_cli_progress_start(&bar, !a->quiet);
    status = pw_compare_run(c, &pool, err);
    pw_cli_progress_clear(&bar);
    pw_store_close(pool.store);
    return status;
}

typedef void format(const struct pw_compare *c, struct pw_text *out);

static int write_as(format *to_text, const struct pw_compare *c, const char *path)
{
    struct pw_error err = {0};
    struct pw_text text = {0};
    to_text(c, &text);
    enum pw_status status = pw_output_write(path, &text, &err);
    pw_text_free(&text);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

/* Files come first: when standard output is a closed pipe they are there all the same. */
static int write_all(const struct arguments *a, const struct pw_compare *c)
{
    int status = PW_OK;
    for (int to_stdout = 0; to_stdout < 2; to_stdout++) {
        if (status == PW_OK && a->json && is_dash(a->json) == to_stdout)
            status = write_as(pw_compare_json, c, a->json);
        if (status == PW_OK && a->csv && is_dash(a->csv) == to_stdout)
            status = write_as(pw_compare_csv, c, a->csv);
    }
    if (status == PW_OK && !a->quiet && !is_dash(a->json) && !is_dash(a->csv)) {
        struct pw_text text = pw_cli_text();
        pw_compare_table(c, &text);
        status = pw_cli_print(&text);
    }
    return status;
}

static int report_failures(const struct pw_compare *c)
{
    size_t failed = 0, first = 0;
    for (size_t j = 0; j < c->job_count; j++)
        if (c->jobs[j].failed && failed++ == 0)
            first = j;
    const struct pw_run_spec *spec = &c->jobs[first].spec;
    return failed ? pw_cli_fail(PW_FAILED, "%zu run%s failed; the first: -m %s -d %s -w %s: %s", failed,
                                failed == 1 ? "" : "s", spec->machine, spec->design, spec->workload,
                                c->jobs[first].message)
                  : PW_OK;
}

/* What a run says of each setting that does nothing in it; NULL where it does something, or the run has not got it. */
struct idle {
    const struct pw_compare *comparison;
    char **messages; /* by setting */
};

/* Whether a text begins with "KEY=". */
static bool is_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(text, key, length) && text[length] == '=';
}

static void note_idle(void *context, const char *message)
{
    struct idle *idle = context;
    static const char prefix[] = "--set ";
    size_t length = sizeof prefix - 1;
    for (size_t k = 0; k < idle->comparison->setting_count; k++)
        if (!strncmp(message, prefix, length) && is_of(message + length, idle->comparison->settings[k].key) &&
            !idle->messages[k])
            idle->messages[k] = strdup(message);
}

static bool has_setting(const struct pw_run_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->set_count; i++)
        if (is_of(spec->sets[i], key))
            return true;
    return false;
}

/* Finds the settings that do nothing in any run that has them, with what the last such run says. In some runs, such as
 * those of an ideal TLB, most do nothing. */
static enum pw_status find_idle(const struct pw_compare *c, struct idle *one, char **out, bool *effective,
                                struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t j = c->grid_jobs; status == PW_OK && j-- > 0;) { /* references are first: their reasons matter least */
        status = pw_run_notices(&c->jobs[j].spec, note_idle, one, err);
        for (size_t k = 0; k < c->setting_count; k++) {
            effective[k] |= !one->messages[k] && has_setting(&c->jobs[j].spec, c->settings[k].key);
            if (out[k])
                free(one->messages[k]);
            else
                out[k] = one->messages[k];
            one->messages[k] = NULL;
        }
    }
    return status;
}

static int check_effects(const struct arguments *a, const struct pw_compare *c)
{
    struct pw_cli_notices notices = {0};
    struct pw_error err = {0};
    size_t count = c->setting_count;
    struct idle one = {c, calloc(count + 1, sizeof(char *))};
    char **idle = calloc(count + 1, sizeof(char *));
    bool *effective = calloc(count + 1, sizeof *effective);
    enum pw_status status = one.messages && idle && effective ? find_idle(c, &one, idle, effective, &err)
                                                              : pw_fail_memory(&err, "settings");
    for (size_t k = 0; idle && k < count; k++) {
        if (status == PW_OK && idle[k] && !effective[k])
            pw_cli_notices_add(&notices, "%s", idle[k]);
        free(idle[k]);
    }
    free(effective);
    free(idle);
    free(one.messages);
    int code = pw_cli_notices_finish(&notices, NULL, 0, a->strict);
    err.status = status;
    return status == PW_OK ? code : pw_cli_report(&err);
}

static int compare(const struct arguments *a, const struct pw_compare_spec *spec)
{
    struct pw_error err = {0};
    struct pw_compare *c = NULL;
    enum pw_status status = a->json ? pw_output_check(a->json, &err) : PW_OK;
    if (status == PW_OK && a->csv)
        status = pw_output_check(a->csv, &err);
    if (status == PW_OK)
        status = pw_compare_create(spec, &c, &err);
    int code = status == PW_OK ? check_effects(a, c) : PW_OK;
    if (code != PW_OK) {
        pw_compare_destroy(c);
        return code;
    }
    if (status == PW_OK)
        status = run_all(a, c, &err);
    if (status == PW_OK) {
        code = write_all(a, c);
        if (code == PW_OK)
            code = report_failures(c);
    } else {
        err.status = status;
        code = pw_cli_report(&err);
    }
    pw_compare_destroy(c);
    return code;
}

/* Splits "a,b" in place; the pieces are appended to the list, which has room for `room`. False when one is empty. */
static bool split(char *text, const char **items, size_t *count)
{
    while (text) {
        const char *item = strsep(&text, ",");
        if (!*item)
            return false;
        items[(*count)++] = item;
    }
    return true;
}

static size_t pieces(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

static int read_seeds(char *text, uint64_t *seeds, size_t *out_count)
{
    size_t count = 0;
    while (text) {
        const char *item = strsep(&text, ",");
        if (!pw_cli_parse_number(item, &seeds[count++]))
            return pw_cli_fail(PW_USER_ERROR, "--seed: \"%s\" is no whole number from 1 to %lld", item,
                               (long long)INT64_MAX);
    }
    *out_count = count;
    return PW_OK;
}

static int read_lists_and_compare(struct arguments *a)
{
    const char *against_text = a->against && strcmp(a->against, "none") != 0 ? a->against : "";
    char *against = strdup(a->against ? against_text : "ideal-tlb"), *seed_text = strdup(a->seeds);
    const char **references = calloc(pieces(against_text) + 1, sizeof *references);
    uint64_t *seeds = calloc(pieces(a->seeds), sizeof *seeds);
    struct pw_compare_spec spec = {
        .machines = a->machines.items,
        .machine_count = a->machines.count,
        .designs = a->designs.items,
        .design_count = a->designs.count,
        .workloads = a->workloads.items,
        .workload_count = a->workloads.count,
        .sets = a->sets.items,
        .set_count = a->sets.count,
        .references = references,
        .seeds = seeds,
        .alone = a->alone,
        .each_seed = a->each_seed,
    };
    int code;
    if (!against || !seed_text || !references || !seeds)
        code = pw_cli_fail(PW_FAILED, "out of memory");
    else if (*against && !split(against, references, &spec.reference_count))
        code = pw_cli_fail(PW_USER_ERROR, "--against %s: a design is missing beside a comma", a->against);
    else
        code = read_seeds(seed_text, seeds, &spec.seed_count);
    if (code == PW_OK)
        code = compare(a, &spec);
    free(seeds);
    free(references);
    free(seed_text);
    free(against);
    return code;
}

static int check_and_compare(struct arguments *a, int rest, char **operands)
{
    if (rest > 0)
        return pw_cli_fail(PW_USER_ERROR, "compare takes no \"%s\"; a workload is given with -w", operands[0]);
    if (!a->workloads.count)
        return pw_cli_fail(PW_USER_ERROR, "no workload given; use -w NAME (`pagewalk list workloads` shows them)");
    if (a->workers > 1024)
        return pw_cli_fail(PW_USER_ERROR, "-j: at most 1024 runs at a time");
    if (is_dash(a->json) && is_dash(a->csv))
        return pw_cli_fail(PW_USER_ERROR, "--json and --csv cannot both go to standard output; name a file for one");
    if (a->json && a->csv && strcmp(a->json, a->csv) == 0)
        return pw_cli_fail(PW_USER_ERROR, "--json and --csv name the same file \"%s\"", a->json);
    int code = pw_cli_choose_defaults(&a->workloads, &a->machines, "mosaic", &a->designs, "gpu-mmu");
    return code == PW_OK ? read_lists_and_compare(a) : code;
}

static int run(const struct pw_cli_command *self, int argc, char **argv)
{
    enum { LISTS = 4 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct arguments a = {.db = "pagewalk.db", .seeds = "1", .workers = cores > 0 ? (uint64_t)cores : 1};
    struct pw_cli_list *lists[LISTS] = {&a.machines, &a.designs, &a.workloads, &a.sets};
    int rest, status = PW_FAILED;
    if (!pw_cli_lists_create(lists, LISTS, (size_t)argc))
        status = pw_cli_fail(PW_FAILED, "out of memory");
    else if (pw_cli_parse(self, argc, argv, &a, &rest, &status))
        status = check_and_compare(&a, rest, argv);
    pw_cli_lists_release(lists, LISTS);
    return status;
}

const struct pw_cli_command pw_cli_compare_command = {
    .name = "compare",
    .usage = "-w WORKLOAD… [-m MACHINE]… [-d DESIGN]… [--set KEY=V1,V2…]… [--against DESIGN,…] [flags]",
    .summary = "say what translation costs, and what other designs, machines or options would change",
    .details =
        "Every combination of workloads, machines, designs, values and seeds is a run and a row: the part of the\n"
        "cycles that is due to translation, cycles, slowdown against each reference design, TLB hit rates, page\n"
        "walks, and where the time of warps goes. A design without an option that is swept runs once. Options that\n"
        "are texts (uvm.advice, link.points, apps.sms) take one value and keep their commas. Several seeds are one\n"
        "row, of means with 95% intervals, unless --each-seed is given. All combinations are checked before the\n"
        "first run. Runs that the store has are not repeated; Ctrl-C keeps what is finished, and the same command\n"
        "goes on.\n"
        "Exit code 0: done; 1: runs failed; 2: a mistake; 130: interrupted.\n\n"
        "Example: pagewalk compare -w gather:table=256MB -m volta -d gpu-mmu -d gpu-mmu-64k -d gpu-mmu-2m\n"
        "         pagewalk compare -w HS -w MUM -w HS,MUM --set l2_tlb.base_entries=256,512,1024 --set "
        "walk.walkers=8,64\n"
        "                          --csv sweep.csv",
    .flags = flags,
    .run = run,
};
