/* The progress bar of a run: on standard error, only when that is a terminal, only after two seconds. */
#ifndef PW_CLI_PROGRESS_H
#define PW_CLI_PROGRESS_H

#include "pagewalk/pagewalk.h"

struct pw_cli_progress {
    bool enabled, shown;
};

void pw_cli_progress_start(struct pw_cli_progress *bar, bool wanted);
/* A pw_run_spec's progress; the context is the bar. */
void pw_cli_progress_update(void *context, const struct pw_progress *p);
/* Removes it. */
void pw_cli_progress_clear(struct pw_cli_progress *bar);

#endif
