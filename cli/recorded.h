/* The default machine and design of commands that run workloads: those of the device that a recording names. */
#ifndef PW_CLI_RECORDED_H
#define PW_CLI_RECORDED_H

#include "command.h"

/* Fills in what was not asked for: the recording's, or else the fallbacks. A list that is NULL is left alone. Prints
 * what is to be known of it. Returns the exit code. */
int pw_cli_choose_defaults(const struct pw_cli_list *workloads, struct pw_cli_list *machines, const char *machine,
                           struct pw_cli_list *designs, const char *design);

/* The same for one of each; NULL is what was not asked for. */
int pw_cli_choose_default(const char *workload, const char **machine, const char *other_machine, const char **design,
                          const char *other_design);

#endif
