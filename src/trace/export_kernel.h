/* One launch of a trace as a kernel of Accel-Sim's: kernel-N.traceg. */
#ifndef PW_TRACE_EXPORT_KERNEL_H
#define PW_TRACE_EXPORT_KERNEL_H

#include "trace/export.h"
#include "trace/export_text.h"

struct pw_export_progress {
    const struct pw_import_watch *watch; /* NULL: nobody looks */
    uint64_t done, told, all;            /* warp instructions */
};

/* Writes it all; out has not failed when it returns PW_OK. */
enum pw_status pw_export_kernel(struct pw_trace *t, const struct pw_trace_event *launch, struct pw_export_text *out,
                                struct pw_export_progress *progress, struct pw_error *err);

#endif
