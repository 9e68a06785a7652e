/* Traces written: of a workload's run without time, of what other tools have recorded, and as what others read. */
#ifndef PW_EXP_TRACE_RECORD_H
#define PW_EXP_TRACE_RECORD_H

#include "pagewalk/pagewalk.h"

/* Writes what a workload does into a trace; its replay gives the workload's results. */
struct pw_trace_record_spec {
    const char *workload; /* one program: "HS:side=512" */
    const char *file;
    uint64_t seed;   /* 0: the default, 1 */
    uint32_t launch; /* of an export: this one alone, from 1; 0: all */
    bool xz;         /* of an export: kernels are compressed */
    void (*progress)(void *context, const struct pw_progress *p);
    void *progress_context;
    const volatile bool *interrupted; /* polled; when it becomes true the call ends with PW_INTERRUPTED */
};
enum pw_status pw_trace_record(const struct pw_trace_record_spec *spec, struct pw_error *err);

/* Writes any kind of trace that can be read as pagewalk's own. Of the specification, `workload` is the file to read. */
enum pw_status pw_trace_convert(const struct pw_trace_record_spec *spec, struct pw_error *err);

/* Writes any kind of trace that can be read as a folder that Accel-Sim reads. Of the specification, `workload` is the
 * file to read and `file` the folder. */
enum pw_status pw_trace_export_folder(const struct pw_trace_record_spec *spec, struct pw_error *err);

#endif
