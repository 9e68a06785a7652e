/* pagewalk advise: how much device memory a workload needs, what it costs to have less, and which CUDA calls help. */
#include "command.h"

#include "exp/format/output.h"
#include "exp/tools/advise.h"
#include "notices.h"
#include "open_store.h"
#include "progress.h"
#include "recorded.h"
#include "sim/c_locale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *workload, *machine, *db, *json;
    struct pw_cli_list designs, memories, sets;
    uint64_t seed, workers, tries;
    bool quiet, strict, no_calls;
};

static const struct pw_cli_flag flags[] = {
    {'w', "workload", PW_CLI_TEXT, offsetof(struct arguments, workload), "NAME[:k=v]…",
     "the program to be advised on, with its parameters (required)"},
    {0, "memory", PW_CLI_LIST, offsetof(struct arguments, memories), "SIZE|N%",
     "device memory to try, or a share of what is touched; may be repeated (default 50% to 150%)"},
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, machine), "NAME|FILE.yaml",
     "sizes and latencies (default: a recording's, or pascal)"},
    {'d', "design", PW_CLI_LIST, offsetof(struct arguments, designs), "NAME|FILE.yaml[+…]",
     "a policy, the one in use first; may be repeated (default uvm-nvidia and three others)"},
    {0, "tries", PW_CLI_NUMBER, offsetof(struct arguments, tries), "N",
     "at most so many runs to find calls that help at a size (default 64)"},
    {0, "no-calls", PW_CLI_SWITCH, offsetof(struct arguments, no_calls), NULL, "look for no calls"},
    {0, "set", PW_CLI_LIST, offsetof(struct arguments, sets), "KEY=VALUE", "set one option; may be repeated"},
    {0, "strict", PW_CLI_SWITCH, offsetof(struct arguments, strict), NULL, PW_CLI_STRICT_HELP},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {'j', "jobs", PW_CLI_NUMBER, offsetof(struct arguments, workers), "N", "runs at a time (default: one per core)"},
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE", "the result store (default pagewalk.db)"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write all numbers as JSON"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "only the sentences, and no progress bar"},
    {.name = NULL},
};

static int report(const struct arguments *a, const struct pw_advice *advice)
{
    struct pw_error err = {0};
    struct pw_text text = pw_cli_text();
    if (a->json) {
        pw_advice_json(advice, &text);
        enum pw_status status = pw_output_write(a->json, &text, &err);
        pw_text_free(&text);
        text = pw_cli_text();
        if (status != PW_OK)
            return pw_cli_report(&err);
        if (strcmp(a->json, "-") == 0)
            return PW_OK;
    }
    (a->quiet ? pw_advice_sentences : pw_advice_table)(advice, &text);
    return pw_cli_print(&text);
}

/* What is to come, on stderr: a search can take long. Nothing where it does not. */
struct outlook {
    const char *db;
    struct pw_cli_progress bar;
};

static void say_outlook(void *context, const struct pw_advice_outlook *o)
{
    enum { SHORT = 10, MINUTES = 100 };
    struct outlook *q = context;
    char one[PW_NUMBER_CAPACITY];
    double seconds = (double)o->runs * o->seconds_of_one / o->workers;
    if (seconds < SHORT)
        return;
    pw_cli_progress_clear(&q->bar);
    pw_c_snprintf(one, sizeof one, "%.2g", o->seconds_of_one);
    fprintf(stderr,
            "pagewalk: about %zu runs of %s s or less are to come, %.0f %s with -j %u; those in %s are not "
            "repeated\n",
            o->runs, one, seconds < MINUTES ? seconds : seconds / 60, seconds < MINUTES ? "s" : "min", o->workers,
            q->db);
}

static enum pw_status run_all(const struct arguments *a, struct pw_advice *advice, struct pw_store *store,
                              struct pw_cli_progress *bar, struct pw_error *err)
{
    const struct pw_pool pool = {
        .store_path = a->db,
        .store = store,
        .workers = (unsigned)a->workers,
        .progress = pw_cli_progress_runs,
        .context = bar,
        .interrupted = pw_cli_catch_interrupts(),
    };
    pw_cli_progress_start(bar, !a->quiet);
    enum pw_status status = pw_advice_run(advice, &pool, err);
    pw_cli_progress_clear(bar);
    return status;
}

static int advise(const struct arguments *a)
{
    struct pw_error err = {0};
    struct pw_advice *advice = NULL;
    struct pw_store *store = NULL;
    struct outlook outlook = {.db = a->db};
    const struct pw_advice_spec spec = {
        .workload = a->workload,
        .machine = a->machine,
        .designs = a->designs.items,
        .design_count = a->designs.count,
        .memories = a->memories.items,
        .memory_count = a->memories.count,
        .sets = a->sets.items,
        .set_count = a->sets.count,
        .tries = a->no_calls ? 0 : a->tries,
        .seed = a->seed,
        .outlook = a->quiet ? NULL : say_outlook,
        .outlook_context = &outlook,
    };
    enum pw_status status = a->json ? pw_output_check(a->json, &err) : PW_OK;
    if (status == PW_OK)
        status = pw_advice_create(&spec, &advice, &err);
    if (status == PW_OK)
        status = pw_cli_open_store(a->db, PW_STORE_USE, &store, &err);
    if (status == PW_OK)
        status = run_all(a, advice, store, &outlook.bar, &err);
    int code = PW_OK;
    if (status == PW_OK || (status == PW_INTERRUPTED && advice && advice->known))
        code = report(a, advice);
    if (status != PW_OK && code == PW_OK) {
        err.status = status;
        code = pw_cli_report(&err);
    }
    pw_store_close(store);
    pw_advice_destroy(advice);
    return code;
}

static void use_default_designs(struct pw_cli_list *designs)
{
    while (pw_advice_designs[designs->count]) {
        designs->items[designs->count] = pw_advice_designs[designs->count];
        designs->count++;
    }
}

/* Options that advise itself varies cannot be set, and what is set should matter under one of the designs at least. */
static int check_sets(const struct arguments *a)
{
    static const char *const varied[] = {"uvm.memory=", "uvm.oversubscription="};
    for (size_t i = 0; i < a->sets.count; i++)
        for (size_t k = 0; k < sizeof varied / sizeof *varied; k++)
            if (!strncmp(a->sets.items[i], varied[k], strlen(varied[k])))
                return pw_cli_fail(PW_USER_ERROR,
                                   "advise tries sizes of device memory itself, so --set %s is not for it; "
                                   "use --memory SIZE|N%%",
                                   a->sets.items[i]);
    struct pw_run_spec *specs = calloc(a->designs.count + 1, sizeof *specs);
    if (!specs)
        return pw_cli_fail(PW_FAILED, "out of memory");
    for (size_t i = 0; i < a->designs.count; i++)
        specs[i] = (struct pw_run_spec){.machine = a->machine,
                                        .design = a->designs.items[i],
                                        .workload = a->workload,
                                        .sets = a->sets.items,
                                        .set_count = a->sets.count};
    struct pw_cli_notices notices = {0};
    int code = pw_cli_notices_finish(&notices, specs, a->designs.count, a->strict);
    free(specs);
    return code;
}

static int check_and_advise(struct arguments *a, int rest, char **operands)
{
    if (rest > 0)
        return pw_cli_fail(PW_USER_ERROR, "advise takes no \"%s\"; a workload is given with -w", operands[0]);
    if (!a->workload)
        return pw_cli_fail(PW_USER_ERROR, "no workload given; use -w NAME (`pagewalk list workloads` shows them)");
    if (a->workers > 1024)
        return pw_cli_fail(PW_USER_ERROR, "-j: at most 1024 runs at a time");
    if (!a->designs.count)
        use_default_designs(&a->designs);
    int code = pw_cli_choose_default(a->workload, &a->machine, "pascal", NULL, NULL);
    if (code == PW_OK)
        code = check_sets(a);
    return code == PW_OK ? advise(a) : code;
}

static int run(const struct pw_cli_command *self, int argc, char **argv)
{
    enum { DEFAULTS = 8, LISTS = 3 }; /* DEFAULTS: room for the default designs */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct arguments a = {.db = "pagewalk.db", .seed = 1, .tries = 64, .workers = cores > 0 ? (uint64_t)cores : 1};
    int rest, status = PW_FAILED;
    struct pw_cli_list *lists[LISTS] = {&a.designs, &a.memories, &a.sets};
    if (!pw_cli_lists_create(lists, LISTS, (size_t)argc + DEFAULTS))
        status = pw_cli_fail(PW_FAILED, "out of memory");
    else if (pw_cli_parse(self, argc, argv, &a, &rest, &status))
        status = check_and_advise(&a, rest, argv);
    pw_cli_lists_release(lists, LISTS);
    return status;
}

const struct pw_cli_command pw_cli_advise_command = {
    .name = "advise",
    .usage = "-w WORKLOAD [--memory SIZE|N%]… [-m MACHINE] [-d DESIGN]… [--tries N] [flags]",
    .summary = "say how much device memory a workload needs, what less costs, and which CUDA calls help",
    .details =
        "Runs the workload with demand paging at each size, and says how much slower it gets, which allocations\n"
        "thrash, what kind of memory they are and which launches access them, and which calls of cudaMemAdvise and\n"
        "cudaMemPrefetchAsync make it faster: they are tried on each allocation, alone and together. A try that\n"
        "cannot win any more is stopped. Runs that the store has are not repeated; Ctrl-C reports what is known so\n"
        "far and keeps what is finished; the same command goes on from there.\n"
        "Exit code 0: done; 1: a policy failed with all memory; 2: a mistake; 130: interrupted.\n\n"
        "Example: pagewalk advise -w pathfinder:size=uvm\n"
        "         pagewalk advise -w nw:size=uvm --memory 4MB --memory 80% -d uvm-nvidia",
    .flags = flags,
    .run = run,
};
