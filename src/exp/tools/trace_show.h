/* The contents of a trace, for people and programs. */
#ifndef PW_EXP_TRACE_SHOW_H
#define PW_EXP_TRACE_SHOW_H

#include "exp/format/text.h"
#include "trace/trace.h"

#include <stdio.h>

/* Of enum pw_trace_memory. */
const char *pw_trace_memory_name(uint8_t memory);

/* Where it comes from, its allocations and its launches; with full names of kernels or short ones. */
void pw_trace_info_table(const struct pw_trace *t, bool full_names, struct pw_text *out);
void pw_trace_info_json(const struct pw_trace *t, struct pw_text *out);

/* Which operations to show: of all launches, CTAs or warps where the field is PW_TRACE_EVERY. Launches count from 1 as
 * elsewhere, CTAs and warps from 0. */
#define PW_TRACE_EVERY UINT64_MAX
struct pw_trace_choice {
    uint64_t launch, cta, warp;
    const volatile bool *interrupted; /* polled; when it becomes true the call ends with PW_INTERRUPTED */
};

/* Writes events, and of what is chosen every operation, one per line, as it is read. A write that fails is an error. */
enum pw_status pw_trace_cat(struct pw_trace *t, const struct pw_trace_choice *choice, FILE *out, struct pw_error *err);

#endif
