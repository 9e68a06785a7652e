/* The frame of all subcommands: their table, the parser of their flags, messages, output. */
#ifndef PW_CLI_COMMAND_H
#define PW_CLI_COMMAND_H

#include "exp/format/text.h"
#include "pagewalk/pagewalk.h"

#include <stdbool.h>
#include <stddef.h>

enum pw_cli_flag_kind {
    PW_CLI_SWITCH, /* bool */
    PW_CLI_TEXT,   /* const char *, given once */
    PW_CLI_NUMBER, /* uint64_t, at least 1, given once */
    PW_CLI_ROWS,   /* uint64_t, as a number, or without a value PW_CLI_SOME_ROWS */
    PW_CLI_LIST,   /* struct pw_cli_list: may be given many times */
};

enum { PW_CLI_SOME_ROWS = 10 };

struct pw_cli_list {
    const char **items; /* room for as many as there are arguments */
    size_t count;
};

struct pw_cli_flag {
    char letter;      /* 0: none */
    const char *name; /* without the dashes; NULL ends a table */
    enum pw_cli_flag_kind kind;
    size_t offset;        /* of the target in the command's arguments */
    const char *argument; /* as help shows it, NULL for a switch */
    const char *help;
};

struct pw_cli_command {
    const char *name;
    const char *usage; /* after "pagewalk NAME" */
    const char *summary;
    const char *details; /* paragraphs under the flags in help, or "" */
    const struct pw_cli_flag *flags;
    int (*run)(const struct pw_cli_command *self, int argc, char **argv);
};

/* In the order of the help text; ends with NULL. */
extern const struct pw_cli_command *const pw_cli_commands[];
const struct pw_cli_command *pw_cli_find(const char *name);

extern const struct pw_cli_command pw_cli_run_command, pw_cli_compare_command, pw_cli_advise_command,
    pw_cli_touch_command, pw_cli_list_command, pw_cli_workload_command, pw_cli_claims_command, pw_cli_diff_command,
    pw_cli_export_command, pw_cli_reproduce_command, pw_cli_show_command, pw_cli_trace_command, pw_cli_help_command;

/* Puts the flags of argv[1..argc) into `arguments` and moves what is no flag to argv[0..*out_rest). Returns false when
 * there is nothing more to do (help was asked for, or a mistake reported); *out_status is then the exit code. */
bool pw_cli_parse(const struct pw_cli_command *command, int argc, char **argv, void *arguments, int *out_rest,
                  int *out_status);

/* Empty lists with room for so many items each; false when memory is out. Release them in any case. */
bool pw_cli_lists_create(struct pw_cli_list *const *lists, size_t count, size_t room);
void pw_cli_lists_release(struct pw_cli_list *const *lists, size_t count);

/* Decimal digits only, 1 to 2^63 - 1, so that every JSON reader can hold it. */
bool pw_cli_parse_number(const char *text, uint64_t *out);

/* Prints "pagewalk: …" on standard error and returns the exit code. */
int pw_cli_fail(enum pw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int pw_cli_report(const struct pw_error *err);

/* Says that `wrong` is no KIND, suggests the nearest of `names`, and returns the exit code. */
int pw_cli_unknown(const char *kind, const char *wrong, const char *const *names, const char *see);

/* Catches SIGINT, SIGTERM and SIGHUP from now on; what is returned becomes true at the first one, and a second one
 * kills. */
const volatile bool *pw_cli_catch_interrupts(void);

/* The command as a shell would take it again, "pagewalk run -w 'a b'"; the caller's to free, NULL without memory.
 * argv[0] is the subcommand; to be called before pw_cli_parse, which moves what is there. */
char *pw_cli_command_line(int argc, char **argv);

/* Help texts on standard output; the exit code. */
int pw_cli_overview(void);
int pw_cli_command_help(const struct pw_cli_command *command);

/* An empty text for people, as wide as standard output is (0 where it is no terminal: tables are not wrapped) and in
 * colour where that is wanted. */
struct pw_text pw_cli_text(void);
/* Tables of texts and long names are wrapped in a pipe too. */
void pw_cli_wrap(struct pw_text *text);
/* Whether what goes there may have colours. */
bool pw_cli_has_colour(int fd);

/* Writes the text to standard output and frees it; the exit code. */
int pw_cli_print(struct pw_text *text);

/* --json FILE|- of the commands that look something up: the JSON goes to the file and the table to standard output, or
 * with "-" only the JSON; with NULL only the table. */
typedef enum pw_status pw_cli_fill(void *context, bool json, struct pw_text *out, struct pw_error *err);
/* Whether the file can be written, asked before the work; the exit code. */
int pw_cli_check_json(const char *path);
/* Calls `fill` for the JSON, for the table or for each; the exit code. */
int pw_cli_show(const char *path, pw_cli_fill *fill, void *context);

#endif
