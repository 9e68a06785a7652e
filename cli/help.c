/* Help: written from the tables that also parse, so that it cannot fall behind. */
#include "command.h"

#include "exp/table.h"

#include <ctype.h>

int pw_cli_overview(void)
{
    struct pw_text text = {0};
    struct pw_table table = {.columns = 2, .align = "l", .indent = "  "};
    pw_text_add(&text, "pagewalk simulates the virtual memory of a GPU: TLBs, page walks, caches and DRAM.\n\n"
                       "Usage: pagewalk COMMAND [flags]\n\n");
    for (size_t i = 0; pw_cli_commands[i]; i++) {
        pw_table_cell(&table, pw_cli_commands[i]->name);
        pw_table_cell(&table, pw_cli_commands[i]->summary);
    }
    pw_table_cell(&table, "--version");
    pw_table_cell(&table, "print the version");
    pw_table_finish(&table, &text);
    pw_text_add(&text, "\n`pagewalk help COMMAND` or `pagewalk COMMAND --help` says more. A first run:\n"
                       "  pagewalk run -m mosaic -d gpu-mmu -w HS\n");
    return pw_cli_print(&text);
}

int pw_cli_command_help(const struct pw_cli_command *command)
{
    struct pw_text text = {0};
    struct pw_table table = {.columns = 2, .align = "l", .indent = "  "};
    pw_text_print(&text, "Usage: pagewalk %s %s\n\n%c%s.\n\n", command->name, command->usage,
                  toupper((unsigned char)command->summary[0]), command->summary + 1);
    for (const struct pw_cli_flag *f = command->flags; f->name; f++) {
        struct pw_text flag = {0};
        if (f->letter)
            pw_text_print(&flag, "-%c, ", f->letter);
        else
            pw_text_add(&flag, "    ");
        pw_text_print(&flag, "--%s%s%s", f->name, f->argument ? " " : "", f->argument ? f->argument : "");
        pw_table_cell(&table, flag.bytes ? flag.bytes : "");
        pw_table_cell(&table, f->help);
        pw_text_free(&flag);
    }
    pw_table_cell(&table, "-h, --help");
    pw_table_cell(&table, "this text");
    pw_table_finish(&table, &text);
    if (command->details[0])
        pw_text_print(&text, "\n%s\n", command->details);
    return pw_cli_print(&text);
}

static int help(const struct pw_cli_command *self, int argc, char **argv)
{
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, NULL, &rest, &status))
        return status;
    if (rest == 0)
        return pw_cli_overview();
    if (rest > 1)
        return pw_cli_fail(PW_USER_ERROR, "help takes one command, not %d", rest);
    const struct pw_cli_command *command = pw_cli_find(argv[0]);
    if (command)
        return pw_cli_command_help(command);
    const char *names[16];
    size_t count = 0;
    for (size_t i = 0; pw_cli_commands[i] && count + 1 < sizeof names / sizeof *names; i++)
        names[count++] = pw_cli_commands[i]->name;
    names[count] = NULL;
    return pw_cli_unknown("command", argv[0], names, "pagewalk help");
}

static const struct pw_cli_flag no_flags[] = {{.name = NULL}};

const struct pw_cli_command pw_cli_help_command = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "say what a command does and takes",
    .details = "",
    .flags = no_flags,
    .run = help,
};
