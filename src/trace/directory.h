/* The directory of a block: which warps' segments are in it, and where.
 *
 * A segment is a piece of one warp's operations. Segments are in order of CTA, warp and program. One that is fresh
 * begins with a new coder and has the origin to start it from; any other goes on where the warp's segment before it,
 * here or in an earlier block, has ended. */
#ifndef PW_TRACE_DIRECTORY_H
#define PW_TRACE_DIRECTORY_H

#include "trace/bytes.h"
#include "trace/format.h"

struct pw_segment {
    uint64_t origin;
    uint32_t cta;
    uint16_t at, bytes; /* in the block */
    uint8_t warp;
    bool fresh;
};

enum { PW_SEGMENT_ENTRY_MOST = 5 + 1 + 2 + PW_VARINT_MOST, PW_DIRECTORY_COUNT_MOST = 3 };

/* A block that is being written. */
struct pw_block_out {
    struct pw_bytes_out entries, operations, raw;
    struct pw_segment last;
    uint32_t segments;
};

/* Adds a segment, which is to come in order; its `at` does not count. */
void pw_block_add(struct pw_block_out *b, const struct pw_segment *s, const uint8_t *operations);
/* Whether so many bytes of operations in so many segments fit in as well. */
bool pw_block_fits(const struct pw_block_out *b, size_t bytes, size_t segments);
/* The block, in `raw`, until the next call; it is empty then. Failed: memory is out. */
const struct pw_bytes_out *pw_block_finish(struct pw_block_out *b);
void pw_block_release(struct pw_block_out *b);

/* Segments of a block of a launch of so many CTAs and warps a CTA: how many there may be, 0 when it is broken. */
uint32_t pw_directory_count(const uint8_t *raw, size_t bytes);
/* Reads that many; false when the block is broken. */
bool pw_directory_read(const uint8_t *raw, size_t bytes, uint32_t ctas, uint32_t warps, uint32_t count,
                       struct pw_segment *out_segments);

/* The first segment of (cta, warp) or of one behind it; `count` when there is none. */
uint32_t pw_directory_find(const struct pw_segment *segments, uint32_t count, uint32_t cta, uint32_t warp);

#endif
