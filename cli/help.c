/* Help: written from the tables that also parse, so that it cannot fall behind. */
#include "command.h"

#include "exp/format/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HANG = 8 };

/* How much of a command goes on a line of `width` columns; a flag stays with its value. */
static size_t command_line(const char *line, size_t width)
{
    size_t length = pw_text_line(line, width);
    if (!line[length])
        return length;
    length = pw_text_line(line, width - 2);
    size_t word = length;
    while (word > 0 && line[word - 1] != ' ')
        word--;
    if (line[word] != '-' || word == strspn(line, " "))
        return length;
    while (word > 0 && line[word - 1] == ' ')
        word--;
    return word;
}

/* A command to be copied: where it is broken, the line ends with a backslash. */
static void add_command(struct pw_text *text, const char *line)
{
    size_t limit = text->width ? text->width : PW_PROSE_COLUMNS, indent = 0;
    while (*line) {
        size_t length = command_line(line, limit - indent);
        pw_text_fill(text, ' ', indent);
        pw_text_append(text, line, length);
        line += length;
        line += strspn(line, " ");
        pw_text_add(text, *line ? " \\\n" : "\n");
        indent = sizeof "Example: " - 1 + HANG;
    }
}

/* Adds the lines of `paragraph`, which is cut up. */
static void add_paragraph(struct pw_text *text, char *paragraph)
{
    char *rest = paragraph;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (*line == ' ' || strncmp(line, "Example:", 8) == 0)
            add_command(text, line);
        else
            pw_text_prose(text, 0, 0, *line ? line : "\n");
    }
}

/* The texts are broken as the source is: only a break that ends a sentence or comes before an example is meant. */
static void add_details(struct pw_text *text, const char *details)
{
    char *copy = strdup(details);
    if (!copy) {
        text->failed = true;
        return;
    }
    for (char *c = copy + 1; *details && *c; c++) {
        bool end = c[-1] == '.' || c[-1] == ':' || c[-1] == '\n' || c[1] == '\n' || c[1] == ' ';
        if (*c == '\n' && !end)
            *c = ' ';
    }
    add_paragraph(text, copy);
    free(copy);
}

int pw_cli_overview(void)
{
    struct pw_text text = pw_cli_text();
    struct pw_table table = {.columns = 2, .align = "l", .indent = "  "};
    pw_text_prose(&text, 0, 0,
                  "pagewalk simulates the virtual memory of a GPU: TLBs, page walks, caches and DRAM.\n\n"
                  "Usage: pagewalk COMMAND [flags]\n\n");
    for (size_t i = 0; pw_cli_commands[i]; i++) {
        pw_table_cell(&table, pw_cli_commands[i]->name);
        pw_table_cell(&table, pw_cli_commands[i]->summary);
    }
    pw_table_cell(&table, "--version");
    pw_table_cell(&table, "print the version");
    pw_table_finish(&table, &text);
    pw_text_prose(&text, 0, 2,
                  "\n`pagewalk help COMMAND` or `pagewalk COMMAND --help` says more. A first run:\n"
                  "  pagewalk run -m mosaic -d gpu-mmu -w HS\n");
    return pw_cli_print(&text);
}

int pw_cli_command_help(const struct pw_cli_command *command)
{
    struct pw_text text = pw_cli_text(), usage = {0};
    struct pw_table table = {.columns = 2, .align = "l", .indent = "  "};
    pw_text_print(&usage, "Usage: pagewalk %s %s\n\n%c%s.\n\n", command->name, command->usage,
                  toupper((unsigned char)command->summary[0]), command->summary + 1);
    pw_text_prose(&text, 0, HANG, usage.bytes ? usage.bytes : "");
    pw_text_free(&usage);
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
    pw_text_add(&text, command->details[0] ? "\n" : "");
    add_details(&text, command->details);
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
