/* pagewalk workload: what a program allocates, launches and touches, without a machine. */
#include "command.h"

#include "exp/tools/profile.h"
#include "progress.h"

struct arguments {
    const char *json;
    uint64_t seed;
    bool quiet, full;
};

static const struct pw_cli_flag flags[] = {
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write it as one JSON object"},
    {0, "long", PW_CLI_SWITCH, offsetof(struct arguments, full), NULL,
     "full names of kernels, and in a pipe lines of any length"},
    {0, "seed", PW_CLI_NUMBER, offsetof(struct arguments, seed), "N", "seed of all random numbers (default 1)"},
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "no progress bar"},
    {.name = NULL},
};

struct view {
    const struct pw_profile *profile;
    bool full;
};

static enum pw_status fill(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    const struct view *v = context;
    if (!json && !v->full)
        pw_cli_wrap(out);
    if (json)
        pw_profile_json(v->profile, out);
    else
        pw_profile_table(v->profile, v->full, out);
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
    int code = pw_cli_show(a->json, fill, &(struct view){p, a->full});
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
    .usage = "NAME[:k=v]… [--json FILE|-] [--long] [--seed N]",
    .summary = "show what a workload allocates, launches and touches",
    .details = "The program runs without a machine and without time. Pages are of 4 KB, lines of 128 bytes; a page is\n"
               "touched once by each memory instruction that has lanes in it.\n\n"
               "Example: pagewalk workload HS:side=1024",
    .flags = flags,
    .run = workload,
};
