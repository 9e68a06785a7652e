/* The command line: picks the subcommand. Everything it can do is a call of the library; what stands here is parsing
 * of arguments and output to a terminal.
 *
 * Exit codes: 0 success, 1 the run failed (or, for diff, the results differ), 2 a mistake of the user's, 130
 * interrupted, 141 (without a message) when the reader of standard output has gone. A message is one line on standard
 * error that begins with "pagewalk: ". */
#include "command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct pw_cli_command *const pw_cli_commands[] = {
    &pw_cli_run_command,    &pw_cli_compare_command,
    &pw_cli_advise_command, &pw_cli_reproduce_command,
    &pw_cli_claims_command, &pw_cli_workload_command,
    &pw_cli_trace_command,  &pw_cli_touch_command,
    &pw_cli_list_command,   &pw_cli_show_command,
    &pw_cli_diff_command,   &pw_cli_export_command,
    &pw_cli_help_command,   NULL,
};

const struct pw_cli_command *pw_cli_find(const char *name)
{
    for (size_t i = 0; pw_cli_commands[i]; i++)
        if (strcmp(pw_cli_commands[i]->name, name) == 0)
            return pw_cli_commands[i];
    return NULL;
}

/* A descriptor that is closed would be given to the next file opened, and results would go there. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/full", O_RDWR) < 0)
            _exit(PW_FAILED);
}

static int unknown_command(const char *name)
{
    const char *names[16] = {"--help", "--version"};
    size_t count = 2;
    for (size_t i = 0; pw_cli_commands[i] && count + 1 < sizeof names / sizeof *names; i++)
        names[count++] = pw_cli_commands[i]->name;
    return pw_cli_unknown(name[0] == '-' ? "flag" : "command", name, names, "pagewalk help");
}

int main(int argc, char **argv)
{
    open_standard_streams();
    /* A closed pipe and a limit on the size of files are failed writes, so that what has been begun is cleared away. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2)
        return pw_cli_fail(PW_USER_ERROR, "no command given; `pagewalk help` lists them");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return pw_cli_overview();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        struct pw_text text = {0};
        pw_text_print(&text, "pagewalk %s\n", pw_core_version());
        return pw_cli_print(&text);
    }
    const struct pw_cli_command *command = pw_cli_find(name);
    return command ? command->run(command, argc - 1, argv + 1) : unknown_command(name);
}
