/* The parser of flags, driven by a command's table, which also writes its help.
 *
 * As getopt_long does: "--name value", "--name=value", "-n value", "-nvalue", "--" ends the flags, flags and other
 * arguments may be mixed. The value of a flag that needs none is the next argument if that begins with a digit.
 * getopt_long itself prints its own messages and cannot suggest. */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 32 };

static int unknown_flag(const struct pw_cli_command *command, const char *given)
{
    char names[MAX_NAMES][40], wrong[64];
    const char *pointers[MAX_NAMES + 1];
    size_t count = 0;
    for (const struct pw_cli_flag *f = command->flags; f->name && count + 1 < MAX_NAMES; f++) {
        snprintf(names[count], sizeof names[count], "--%s", f->name);
        pointers[count] = names[count];
        count++;
    }
    pointers[count++] = "--help";
    pointers[count] = NULL;
    snprintf(wrong, sizeof wrong, "%.*s", (int)strcspn(given, "="), given);
    char see[64];
    snprintf(see, sizeof see, "pagewalk help %s", command->name);
    return pw_cli_unknown("flag", wrong, pointers, see);
}

static const struct pw_cli_flag *find_flag(const struct pw_cli_command *command, const char *argument,
                                           const char **out_value)
{
    *out_value = NULL;
    for (const struct pw_cli_flag *f = command->flags; f->name; f++) {
        size_t length = strlen(f->name);
        if (argument[1] == '-' && strncmp(argument + 2, f->name, length) == 0) {
            if (argument[2 + length] == '=')
                *out_value = argument + 3 + length;
            if (argument[2 + length] == '=' || !argument[2 + length])
                return f;
        }
        if (f->letter && argument[1] == f->letter) {
            *out_value = argument[2] ? argument + 2 : NULL;
            return f;
        }
    }
    return NULL;
}

bool pw_cli_lists_create(struct pw_cli_list *const *lists, size_t count, size_t room)
{
    bool enough = true;
    for (size_t i = 0; i < count; i++) {
        lists[i]->items = calloc(room + 1, sizeof *lists[i]->items);
        enough &= lists[i]->items != NULL;
    }
    return enough;
}

void pw_cli_lists_release(struct pw_cli_list *const *lists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lists[i]->items);
}

bool pw_cli_parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno || value == 0 || value > INT64_MAX)
        return false;
    *out = value;
    return true;
}

static int store(const struct pw_cli_flag *f, const char *value, void *arguments)
{
    void *target = (char *)arguments + f->offset;
    switch (f->kind) {
    case PW_CLI_SWITCH:
        *(bool *)target = true;
        break;
    case PW_CLI_TEXT:
        *(const char **)target = value;
        break;
    case PW_CLI_ROWS:
        if (!value) {
            *(uint64_t *)target = PW_CLI_SOME_ROWS;
            break;
        }
        /* fall through */
    case PW_CLI_NUMBER:
        if (!pw_cli_parse_number(value, target))
            return pw_cli_fail(PW_USER_ERROR, "--%s: \"%s\" is no whole number from 1 to %lld", f->name, value,
                               (long long)INT64_MAX);
        break;
    case PW_CLI_LIST: {
        struct pw_cli_list *list = target;
        list->items[list->count++] = value;
        break;
    }
    }
    return PW_OK;
}

/* A flag that takes one value and is given again: the last one would win in silence. */
static int given_twice(const struct pw_cli_flag *f)
{
    char shown[48], hint[80] = "give it once";
    if (f->letter)
        snprintf(shown, sizeof shown, "-%c", f->letter);
    else
        snprintf(shown, sizeof shown, "--%s", f->name);
    char joint = strstr(f->argument, ",…") ? ',' : strstr(f->argument, "+…") ? '+' : 0;
    if (joint)
        snprintf(hint, sizeof hint, "for several write %s A%cB", shown, joint);
    return pw_cli_fail(PW_USER_ERROR, "%s is given twice; %s", shown, hint);
}

bool pw_cli_parse(const struct pw_cli_command *command, int argc, char **argv, void *arguments, int *out_rest,
                  int *out_status)
{
    int rest = 0;
    bool only_operands = false;
    uint64_t seen = 0; /* flags, by their place in the table */
    for (int i = 1; i < argc; i++) {
        char *argument = argv[i];
        if (only_operands || argument[0] != '-' || !argument[1]) {
            argv[rest++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            *out_status = pw_cli_command_help(command);
            return false;
        }
        const char *value;
        const struct pw_cli_flag *f = find_flag(command, argument, &value);
        if (!f) {
            *out_status = unknown_flag(command, argument);
            return false;
        }
        if (f->kind == PW_CLI_SWITCH && value) {
            *out_status = pw_cli_fail(PW_USER_ERROR, "--%s takes no value", f->name);
            return false;
        }
        bool follows = i + 1 < argc && (f->kind != PW_CLI_ROWS || isdigit((unsigned char)argv[i + 1][0]));
        if (f->kind != PW_CLI_SWITCH && !value && (follows || f->kind != PW_CLI_ROWS)) {
            if (!follows) {
                *out_status = pw_cli_fail(PW_USER_ERROR, "--%s needs a value: %s", f->name, f->argument);
                return false;
            }
            value = argv[++i];
        }
        uint64_t bit = 1ULL << (f - command->flags);
        bool again = f->kind != PW_CLI_SWITCH && f->kind != PW_CLI_LIST && seen & bit;
        seen |= bit;
        *out_status = again ? given_twice(f) : store(f, value, arguments);
        if (*out_status != PW_OK)
            return false;
    }
    *out_rest = rest;
    return true;
}
