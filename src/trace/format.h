/* The frame of a trace file: a header at its beginning and a trailer at its end, of fixed size, and limits of what is
 * in between (docs/trace-format.md).
 *
 * The header keeps its size and layout in all versions, so that a program can always tell a newer file from a broken
 * one. */
#ifndef PW_TRACE_FORMAT_H
#define PW_TRACE_FORMAT_H

#include "trace/part.h"

enum {
    PW_TRACE_VERSION = 2,
    PW_TRACE_HEADER_BYTES = 24,
    PW_TRACE_TRAILER_BYTES = 40,
    PW_BLOCK_MOST = 64 << 10, /* bytes of an unpacked block */
    PW_SEGMENT_MOST = 2040,   /* bytes of a warp's operations in one piece */
    PW_SEGMENT_LEAST = 4,     /* bytes of a segment with its entry in the directory */
    PW_IDLE_WARPS = 1 << 24,  /* of a launch's CTAs that have no operations */
    PW_CTA_WARPS = 32,
    PW_CTA_THREADS = 1024,
    PW_TRACE_ADDRESS_BITS = 57, /* five levels of page table, the most a GPU has */
};

#define PW_TRACE_ADDRESS_END (UINT64_C(1) << PW_TRACE_ADDRESS_BITS)

void pw_trace_put_header(uint8_t out[PW_TRACE_HEADER_BYTES]);
void pw_trace_put_trailer(uint8_t out[PW_TRACE_TRAILER_BYTES], const struct pw_part *index);

/* Reads both, and checks them against the size of the file. */
enum pw_status pw_trace_read_frame(int fd, const char *path, uint64_t file_bytes, struct pw_part *out_index,
                                   struct pw_error *err);

#endif
