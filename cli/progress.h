/* Progress bars: on standard error, that of a single run only after two seconds; and lines now and then where standard
 * error is no terminal. */
#ifndef PW_CLI_PROGRESS_H
#define PW_CLI_PROGRESS_H

#include "exp/store/pool.h"

struct pw_cli_progress {
    bool enabled, shown;
    double line_distance, next_line; /* in seconds; a distance of 0: a bar is drawn */
};

void pw_cli_progress_start(struct pw_cli_progress *bar, bool wanted);
/* A pw_run_spec's progress; the context is the bar. */
void pw_cli_progress_update(void *context, const struct pw_progress *p);
/* Draws it: a bar where the fraction is known (not negative) and there is room, then the text. */
void pw_cli_progress_draw(struct pw_cli_progress *bar, double fraction, const char *text);
/* A pw_pool's progress; the context is the bar. */
void pw_cli_progress_runs(void *context, const struct pw_pool_progress *p);
/* Removes it. */
void pw_cli_progress_clear(struct pw_cli_progress *bar);

#endif
