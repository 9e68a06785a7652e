/* What the recorder says to its user, on standard error. */
#ifndef PW_CAPTURE_REPORT_H
#define PW_CAPTURE_REPORT_H

#include "session.h"

/* What the session never heard of. */
struct pw_capture_missing {
    uint64_t other_contexts, graph_launches, unpatched_launches; /* launches */
    uint64_t unpatched;                                          /* modules */
};

void pw_capture_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pw_capture_report(const struct pw_capture_summary *s, const struct pw_capture_missing *missing, const char *file,
                       double total_seconds);

/* "NVIDIA H200", as the driver says it; "" if it does not. */
void pw_capture_name_device(char *out, size_t bytes);

#endif
