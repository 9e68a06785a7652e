/* pagewalk diff: what differs between results. */
#include "command.h"

#include "exp/format/result.h"

struct arguments {
    bool quiet;
};

static const struct pw_cli_flag flags[] = {
    {'q', "quiet", PW_CLI_SWITCH, offsetof(struct arguments, quiet), NULL, "print nothing; the exit code says it"},
    {.name = NULL},
};

static int diff(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    struct pw_error err = {0};
    struct pw_text text = pw_cli_text();
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest < 2)
        return pw_cli_fail(PW_USER_ERROR, "diff takes two or more result files, not %d; see `pagewalk help diff`",
                           rest);
    bool differ = false;
    if (pw_result_diff((const char *const *)argv, (size_t)rest, &text, &differ, &err) != PW_OK) {
        pw_text_free(&text);
        return pw_cli_report(&err);
    }
    if (a.quiet)
        pw_text_free(&text);
    else if ((status = pw_cli_print(&text)) != PW_OK)
        return status;
    return differ ? 1 : 0;
}

const struct pw_cli_command pw_cli_diff_command = {
    .name = "diff",
    .usage = "[flags] A.json B.json…",
    .summary = "show what differs between results: how they were made, options, numbers",
    .details =
        "A column for each file; changes are against the first. Exit code 0: the results are the same; 1: they "
        "differ;\n"
        "2: a file is no result. What the host did (\"host\"), the version that ran and the command do not count as a\n"
        "difference.",
    .flags = flags,
    .run = diff,
};
