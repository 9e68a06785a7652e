/* The watchdog: distinguishes a run that is slow from one that gets nowhere.
 *
 * Progress is a warp instruction that issues, or a line of one that has its data. Pages that come make these possible,
 * but are none by themselves: pages can come and leave again forever before an access has used them. They count as long
 * as no more have come since the last progress than all managed memory has four times over, which no sequence of
 * prefetches between two launches should need. A run without progress for sim.progress_limit cycles is given up, and
 * the message says who waits for whom. */
#ifndef PW_SYSTEM_WATCHDOG_H
#define PW_SYSTEM_WATCHDOG_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_system;

struct pw_watchdog {
    uint64_t done;       /* instructions issued and lines that have ended */
    uint64_t pages;      /* that had come by then, or were dealt with where they are */
    uint64_t last_pages; /* at the last look */
    pw_cycle progressed; /* the last look that has seen progress */
};

/* From now on. */
struct pw_watchdog pw_watchdog_of(const struct pw_system *s);
/* False: there has been no progress for too long. */
bool pw_watchdog_look(struct pw_watchdog *w, const struct pw_system *s);
enum pw_status pw_watchdog_fail(const struct pw_watchdog *w, const struct pw_system *s, struct pw_error *err);

/* The run has come to a halt: why, and who waits for whom. */
enum pw_status pw_no_progress(const struct pw_system *s, const char *why, struct pw_error *err);

#endif
