/* The index of a trace: where it comes from, what the host did, and where the table of each launch is.
 *
 * A launch's blocks lie behind those of the launch before it and its table behind its blocks, so that the index has
 * only lengths; places follow, and every byte of the file belongs to one part. */
#ifndef PW_TRACE_INDEX_H
#define PW_TRACE_INDEX_H

#include "trace/part.h"
#include "trace/trace.h"

/* Where a launch is in the file. */
struct pw_launch_place {
    uint64_t blocks; /* from here to its table */
    struct pw_part table;
    uint64_t checksum; /* of the checksums of its blocks, in order, and of its table */
    size_t event;
};

struct pw_index {
    uint8_t *raw; /* of one that was read; texts point into it */
    struct pw_trace_origin origin;
    struct pw_trace_event *events;
    struct pw_launch_place *launches;
    size_t event_count, launch_count;
};

/* Failed: memory is out. */
void pw_index_write(const struct pw_index *index, struct pw_bytes_out *out);

/* Reads and checks an index, which begins at `end`; takes raw over. */
enum pw_status pw_index_read(struct pw_index *index, uint8_t *raw, size_t bytes, uint64_t end, const char *path,
                             struct pw_error *err);
void pw_index_release(struct pw_index *index);

/* CTAs of a launch; 0 when its geometry is impossible. */
uint32_t pw_recorded_ctas(const struct pw_trace_event *launch);
/* Warps of each of its CTAs. */
uint32_t pw_recorded_warps(const struct pw_trace_event *launch);
/* Whether flags of an event say something. */
bool pw_event_flags_are_known(const struct pw_trace_event *event);

#endif
