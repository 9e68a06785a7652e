/* Writes a trace (trace/trace.h): events of the host in program order, and between a launch and the next event the
 * operations of its warps, in any order among warps, in program order within one.
 *
 * Operations are coded as they come and put into blocks CTA by CTA. What is in memory is bounded: the CTAs under way,
 * of which long ones are written piece by piece, and all when they take more than 96 MiB; the events; the ranges that
 * were touched outside of any allocation; and a few bytes for each block and each part of a CTA in one. A failure (disk
 * full, say) is remembered: further calls do nothing and finishing reports it. The file gets its name when it is
 * finished, and nothing of it is left otherwise. */
#ifndef PW_TRACE_TRACE_WRITER_H
#define PW_TRACE_TRACE_WRITER_H

#include "trace/trace.h"

struct pw_trace_writer;

/* path NULL: a file without a name, for pw_trace_writer_finish to open; it is gone when it is closed. It lies in
 * $TMPDIR, or /var/tmp. */
enum pw_status pw_trace_writer_open(const char *path, struct pw_trace_writer **out, struct pw_error *err);

/* What is wrong with events and operations is said of this file instead of the trace; it must stay. */
void pw_trace_writer_name(struct pw_trace_writer *w, const char *name);

/* May be called at any time before the end; texts are copied. */
void pw_trace_writer_set_origin(struct pw_trace_writer *w, const struct pw_trace_origin *origin);

/* An event other than a launch's; name is copied. `allocation` is ignored: an allocation gets the next number, the
 * others mean the live allocation that their address lies in (one outside of any is an allocation that was not
 * recorded, and the event is dropped; so is an allocation of 0 bytes). An allocation that overlaps a live one frees
 * that first: its free was not recorded. */
void pw_trace_write_event(struct pw_trace_writer *w, const struct pw_trace_event *event);

/* Begins a launch; of the event, name, geometry, shared bytes, registers, sampled_of and pace count. */
void pw_trace_write_launch(struct pw_trace_writer *w, const struct pw_trace_event *launch);

/* The pace of the launch begun last, for those who know it only in the end. */
void pw_trace_write_pace(struct pw_trace_writer *w, uint32_t pace);

/* An operation of a warp of the launch begun last; words are its addresses, below 2^57. What is no access has `form`
 * and `bytes` 0, and an exit is a warp's last. False: the writer has failed, by this operation where it is not as it
 * should be; going on is useless. */
bool pw_trace_write_op(struct pw_trace_writer *w, uint32_t cta, uint32_t warp, const struct pw_op *op,
                       const uint64_t *words);

/* No operation of this CTA follows. Those that are not ended end with their launch. */
void pw_trace_write_cta_end(struct pw_trace_writer *w, uint32_t cta);

/* The first failure so far, PW_OK: none. */
enum pw_status pw_trace_writer_status(const struct pw_trace_writer *w, struct pw_error *err);

/* Completes the file, destroys the writer whatever comes of it, and with out_trace not NULL opens what was written. */
enum pw_status pw_trace_writer_finish(struct pw_trace_writer *w, struct pw_trace **out_trace, struct pw_error *err);

/* Leaves nothing. NULL is fine. */
void pw_trace_writer_drop(struct pw_trace_writer *w);

#endif
