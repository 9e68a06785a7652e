/* The head of a kernel's trace by Accel-Sim: lines `-key = value`, up to the first that is none. */
#ifndef PW_TRACE_TRACEG_HEADER_H
#define PW_TRACE_TRACEG_HEADER_H

#include "trace/import_private.h"

struct pw_traceg_header {
    char name[PW_IMPORT_NAME_BYTES], nvbit[32];
    struct pw_dim3 grid, block;
    uint32_t threads, ctas; /* of a CTA, of the grid */
    uint32_t shared_bytes, registers, binary_version, version;
    bool line_numbers; /* an instruction begins with one */
    uint64_t shared_base, local_base;
    /* Of a trace that pagewalk has exported: as in struct pw_trace_event, and whether an IADD3 begins an operation. */
    uint32_t pace;
    uint64_t sampled_of;
    bool has_operations;
};

/* Leaves the text at the first line behind the head. */
enum pw_status pw_traceg_read_header(struct pw_lines *t, struct pw_traceg_header *out, struct pw_error *err);

#endif
