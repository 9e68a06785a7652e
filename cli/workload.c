/* pagewalk workload: what a program allocates, launches and touches, without a machine. */
#include "command.h"

#include "exp/tools/profile.h"
#include "progress.h"

struct arguments {
    const char *json;
    uint64_t seed;
    bool quiet;
};

static const struct pw_cli_flag flags[] = {
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write it as one JSON object"},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no progress bar"},
    {.name = NULL},
};

static enum pw_status fill(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    (json ? pw_profile_json : pw_profile_table)(context, out);
    return pw_text_finish(out, err);
}

static int profile(const struct arguments *a, const char *workload)
{
    struct pw_cli_progress bar;
    struct pw_profile *p = NULL;
    struct pw_error err = {0};
    pw_cli_progress_start(&bar, !a->quiet);
    const struct pw_profile_spec spec = {
        .workload = workload,
        .seed = a->seed,
        .progress = bar.enabled ? pw_cli_progress_update : NULL,
        .progress_context = &bar,
        .interrupted = pw_cli_catch_interrupts(),
    };
    enum pw_status status = pw_workload_profile(&spec, &p, &err);
    pw_cli_progress_clear(&bar);
    if (status != PW_OK)
        return pw_cli_report(&err);
    int code = pw_cli_show(a->json, fill, p);
    pw_profile_free(p);
    return code;
}

static int workload(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {.seed = 1};
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "workload takes one NAME[:k=v]… (`pagewalk list workloads` shows them)");
    status = pw_cli_check_json(a.json);
    return status == PW_OK ? profile(&a, argv[0]) : status;
}

const struct pw_cli_command pw_cli_workload_command = {
    .name = "workload",
    .usage = "NAME[:k=v]… [--json FILE|-] [--seed N]",
    .summary = "show what a workload allocates, launches and touches",
    .details = "The program runs without a machine and without time. Pages are of 4 KB, lines of 128 bytes; a page is\n"
               "touched once by each memory instruction that has lanes in it.\n\n"
               "Example: pagewalk workload HS:side=1024",
    .flags = flags,
    .run = workload,
};
