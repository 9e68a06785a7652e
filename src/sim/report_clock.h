/* When work that takes long says how far it is: about ten times a second. */
#ifndef PW_SIM_REPORT_CLOCK_H
#define PW_SIM_REPORT_CLOCK_H

#include <stdbool.h>
#include <time.h>

struct pw_report_clock {
    double begun, reported;
};

static inline double pw_report_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline struct pw_report_clock pw_report_clock(void)
{
    double now = pw_report_now();
    return (struct pw_report_clock){now, now};
}

/* Whether a report is due; *out_seconds is how long it has taken so far. */
static inline bool pw_report_due(struct pw_report_clock *c, double *out_seconds)
{
    double now = pw_report_now();
    if (now - c->reported < 0.1)
        return false;
    c->reported = now;
    *out_seconds = now - c->begun;
    return true;
}

#endif
