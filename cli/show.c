/* pagewalk show: a machine or design as the file that it is, or the options that a run would have. */
#include "command.h"

#include "exp/tools/show.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *machine, *design, *json;
    struct pw_cli_list sets;
};

static const struct pw_cli_flag flags[] = {
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, machine), "NAME|FILE.yaml[+…]",
     "options: of a run on this machine (default mosaic)"},
    {'d', "design", PW_CLI_TEXT, offsetof(struct arguments, design), "NAME|FILE.yaml[+…]",
     "options: with this design (default gpu-mmu)"},
    {0, "set", PW_CLI_LIST, offsetof(struct arguments, sets), "KEY=VALUE",
     "options: with this one set; may be repeated"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "options: write them as one JSON array"},
    {.name = NULL},
};

static enum pw_status fill_options(void *context, bool json, struct pw_text *text, struct pw_error *err)
{
    const struct arguments *a = context;
    const struct pw_run_spec spec = {
        .machine = a->machine, .design = a->design, .sets = a->sets.items, .set_count = a->sets.count};
    return pw_show_options(&spec, json, text, err);
}

static int show_kind(struct arguments *a, int rest, char **operands)
{
    static const char *const kinds[] = {"machine", "design", "options", NULL};
    struct pw_text text = {0};
    struct pw_error err = {0};
    enum pw_status status;
    if (rest == 0)
        return pw_cli_fail(PW_USER_ERROR, "show takes machine NAME, design NAME or options; see `pagewalk help show`");
    const char *kind = operands[0];
    bool options = !strcmp(kind, "options"), machine = !strcmp(kind, "machine");
    if (!options && !machine && strcmp(kind, "design") != 0)
        return pw_cli_unknown("kind", kind, kinds, "pagewalk help show");
    if (options && rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "show options takes no \"%s\"; a machine is given with -m, a design with -d",
                           operands[1]);
    if (!options && rest != 2)
        return pw_cli_fail(PW_USER_ERROR, "show %s takes one name, not %d; several are joined with '+'", kind,
                           rest - 1);
    if (!options && (a->machine || a->design || a->sets.count || a->json))
        return pw_cli_fail(PW_USER_ERROR, "show %s takes no flags; they belong to `show options`", kind);
    int code = pw_cli_check_json(a->json);
    if (code != PW_OK || options)
        return code == PW_OK ? pw_cli_show(a->json, fill_options, a) : code;
    status = machine ? pw_show_machine(operands[1], &text, &err) : pw_show_design(operands[1], &text, &err);
    if (status == PW_OK)
        return pw_cli_print(&text);
    pw_text_free(&text);
    return pw_cli_report(&err);
}

static int show(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    int rest, status;
    a.sets.items = calloc((size_t)argc + 1, sizeof *a.sets.items);
    if (!a.sets.items)
        return pw_cli_fail(PW_FAILED, "out of memory");
    if (pw_cli_parse(self, argc, argv, &a, &rest, &status))
        status = show_kind(&a, rest, argv);
    free(a.sets.items);
    return status;
}

const struct pw_cli_command pw_cli_show_command = {
    .name = "show",
    .usage = "machine NAME | design NAME | options [-m MACHINE] [-d DESIGN] [--set KEY=VALUE]… [--json FILE|-]",
    .summary = "print a machine or design as a file, or the options that a run would have",
    .details =
        "One machine or design comes as it is, comments and all; several joined with '+', or one with a base, come\n"
        "merged, with the place that each value comes from.\n\n"
        "Example: pagewalk show machine volta >mine.yaml\n"
        "         pagewalk show options -m volta+mine.yaml -d gpu-mmu-2m",
    .flags = flags,
    .run = show,
};
