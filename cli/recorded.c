/* Default machines and designs. The library knows what was recorded where (src/system/recorded_machine.c). */
#include "recorded.h"

#include "system/recorded_machine.h"

static void print_note(void *context, const char *message)
{
    (void)context;
    pw_cli_fail(PW_OK, "%s", message);
}

static void fill(struct pw_cli_list *list, const char *recorded, const char *fallback)
{
    if (list && !list->count)
        list->items[list->count++] = recorded ? recorded : fallback;
}

int pw_cli_choose_defaults(const struct pw_cli_list *workloads, struct pw_cli_list *machines, const char *machine,
                           struct pw_cli_list *designs, const char *design)
{
    struct pw_error err = {0};
    struct pw_recorded_choice choice;
    err.status = pw_recorded_choose(workloads->items, workloads->count, machines->items, machines->count, print_note,
                                    NULL, &choice, &err);
    if (err.status != PW_OK)
        return pw_cli_report(&err);
    fill(machines, choice.machine, machine);
    fill(designs, choice.design, design);
    return PW_OK;
}

int pw_cli_choose_default(const char *workload, const char **machine, const char *other_machine, const char **design,
                          const char *other_design)
{
    struct pw_cli_list workloads = {&workload, 1}, machines = {machine, *machine != NULL},
                       designs = {design, design && *design != NULL};
    return pw_cli_choose_defaults(&workloads, &machines, other_machine, design ? &designs : NULL, other_design);
}
