/* Writes a trace as Accel-Sim reads it: a folder with kernelslist.g and a kernel-N.traceg for each launch (text, version
 * 5 of the tracer, perhaps as .xz), so that the same work goes through both simulators and a trace needs no GPU. What is lost on the
 * way there, and what comes back when such a folder is imported, is in docs/traces.md.
 *
 * The folder appears when it is complete, and nothing is left of it otherwise. */
#ifndef PW_TRACE_EXPORT_H
#define PW_TRACE_EXPORT_H

#include "trace/import.h"

struct pw_export_spec {
    const char *folder; /* must not be there, or be empty */
    uint32_t launch;    /* from 1: this one alone, with what the host did before it; 0: all */
    bool xz;            /* compress the kernels */
    /* Of warp instructions instead of bytes; NULL: nobody looks. */
    const struct pw_import_watch *watch;
};

/* How the list names an event of the host; NULL for a launch. */
const char *pw_export_event_name(enum pw_trace_event_kind kind);

enum pw_status pw_trace_export(struct pw_trace *t, const struct pw_export_spec *spec, struct pw_error *err);

#endif
