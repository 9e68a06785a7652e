/* A recorded program: what its host did, in order, and what each warp of each launch did.
 *
 * All traces are read from pagewalk's own format (docs/trace-format.md); what other tools write is turned into it on
 * the way in (trace/import.h). A file is untrusted: every length is checked, every byte is under a checksum, and what
 * does not fit ends in one line that names the file. Reading streams: a launch's table of blocks and a bounded cache of
 * blocks are all that is in memory, whatever the size of the file, and a launch can be read without those before it.
 *
 * Addresses are the recorded program's own. Every address that a warp accesses lies in an allocation that is alive
 * then: the writer infers those that were not recorded from the ranges that are touched. */
#ifndef PW_TRACE_TRACE_H
#define PW_TRACE_TRACE_H

#include "sim/status.h"
#include "trace/op_decode.h"

#include <stddef.h>

enum pw_trace_memory {
    PW_TRACE_DEVICE,   /* cudaMalloc */
    PW_TRACE_MANAGED,  /* cudaMallocManaged */
    PW_TRACE_HOST,     /* pinned host memory that kernels access */
    PW_TRACE_INFERRED, /* nobody recorded it; kernels touch it */
    PW_TRACE_MEMORY_COUNT
};

enum pw_trace_copy { PW_TRACE_TO_DEVICE, PW_TRACE_FROM_DEVICE, PW_TRACE_ON_DEVICE, PW_TRACE_COPY_COUNT };

enum { PW_TRACE_MOST_PACE = 1000000 };

enum pw_trace_event_kind {
    PW_TRACE_ALLOC,
    PW_TRACE_FREE,
    PW_TRACE_COPY, /* `flags` is an enum pw_trace_copy; a memset is a copy on the device */
    PW_TRACE_PREFETCH,
    PW_TRACE_ADVISE,  /* `flags` of enum pw_memory_advice, in place of what was said before */
    PW_TRACE_PROTECT, /* `flags` are the permissions of sim/types.h */
    PW_TRACE_LAUNCH,
    PW_TRACE_EVENT_KIND_COUNT
};

/* What the host did. Fields that an event has no use for are 0. */
struct pw_trace_event {
    uint8_t kind, memory, flags;
    uint32_t allocation; /* its number, from 0 in the order of allocation; of a launch: the launch's, from 0 */
    uint64_t address;    /* of an allocation (its free has it, too), or the part of it that the event is about */
    uint64_t bytes;
    const char *name; /* of an allocation or a kernel, never NULL; "" for the rest */
    struct pw_dim3 grid, block;
    uint32_t shared_bytes, registers; /* of a CTA; per thread, 0: not known */
    /* CTAs of the original launch where only a sample was recorded; `grid` counts those that were. Else 0. */
    uint64_t sampled_of;
    /* Of a launch: cycles from one instruction of a warp to its next, in thousandths, as far as the machine code tells
     * them (capture/pace.h), at most PW_TRACE_MOST_PACE; 0: not known. */
    uint32_t pace;
    uint64_t warp_instructions, memory_instructions; /* of a launch, all its warps together */
};

/* Where a trace comes from. Texts are never NULL. */
struct pw_trace_origin {
    const char *recorder; /* "pagewalk 0.1.0", "Accel-Sim tracer 5" */
    const char *program;  /* the workload or command that was recorded */
    const char *device;   /* "NVIDIA H200"; "" where there was none */
    uint32_t cta_sample;  /* one CTA in so many was recorded; 1: all */
    uint64_t seed;        /* of a recorded workload */
};

struct pw_trace;

enum pw_status pw_trace_open(const char *path, struct pw_trace **out, struct pw_error *err);
void pw_trace_close(struct pw_trace *t); /* NULL is fine; no launch may be open */

/* For messages. */
const char *pw_trace_path(const struct pw_trace *t);
const struct pw_trace_origin *pw_trace_get_origin(const struct pw_trace *t);
const struct pw_trace_event *pw_trace_events(const struct pw_trace *t, size_t *out_count);
uint32_t pw_trace_launches(const struct pw_trace *t);
/* Of the whole file: its index holds a checksum of every block. */
uint64_t pw_trace_digest(const struct pw_trace *t);
/* Of an imported one, those that it takes as a trace of pagewalk's own. */
uint64_t pw_trace_file_bytes(const struct pw_trace *t);
bool pw_trace_is_imported(const struct pw_trace *t);

/* Reads every table and block. Opening a trace reads its index alone, and what is damaged elsewhere is found when it is
 * read. */
enum pw_status pw_trace_verify(struct pw_trace *t, struct pw_error *err);

/* The warps of one launch. Several may be open at once. */
struct pw_trace_launch;
enum pw_status pw_trace_launch_open(struct pw_trace *t, uint32_t launch, struct pw_trace_launch **out,
                                    struct pw_error *err);
void pw_trace_launch_close(struct pw_trace_launch *l); /* NULL is fine */

enum { PW_TRACE_SEGMENT_BYTES = 2048 /* of a warp's encoded operations that are at hand at one time */ };

/* A place in a warp's operations. It owns nothing: it may be dropped at any time. It points to its own bytes: it must
 * not be moved. */
struct pw_trace_cursor {
    struct pw_trace_launch *launch;
    size_t piece; /* of its CTA, where the next segment is (trace/table.h) */
    uint32_t cta, warp;
    uint32_t segment; /* the next one, in the block's directory */
    bool ended;
    const uint8_t *at, *end; /* of what has not been decoded, in `bytes` */
    struct pw_op_coder coder;
    uint8_t bytes[PW_TRACE_SEGMENT_BYTES];
};

enum pw_trace_step { PW_TRACE_STEP_OP, PW_TRACE_STEP_END, PW_TRACE_STEP_FAILED };

/* At the first operation of a warp; one that was not recorded has none. */
void pw_trace_cursor_start(struct pw_trace_cursor *c, struct pw_trace_launch *l, uint32_t cta, uint32_t warp);

/* Where the bytes at hand are used up: takes the next ones, if there are any. */
enum pw_trace_step pw_trace_cursor_go_on(struct pw_trace_cursor *c, struct pw_error *err);
/* The bytes at hand are no operation: says so, and ends. */
void pw_trace_cursor_refuse(struct pw_trace_cursor *c, struct pw_error *err);

/* The next operation, with its addresses in words (those behind the first). An exit, if one was recorded, is the last.
 * On PW_TRACE_STEP_FAILED, err says why. It runs on a small stack, but for struct pw_error, which has 4 KiB. */
static inline enum pw_trace_step pw_trace_cursor_next(struct pw_trace_cursor *c, struct pw_op *out_op,
                                                      uint64_t out_words[PW_WARP_LANES], struct pw_error *err)
{
    if (__builtin_expect(c->at == c->end, 0)) {
        enum pw_trace_step step = pw_trace_cursor_go_on(c, err);
        if (step != PW_TRACE_STEP_OP)
            return step;
    }
    const uint8_t *at = pw_op_decode(&c->coder, c->at, c->end, out_op, out_words);
    if (__builtin_expect(!at || (out_op->kind == PW_OP_EXIT && at != c->end), 0)) {
        pw_trace_cursor_refuse(c, err);
        return PW_TRACE_STEP_FAILED;
    }
    c->at = at;
    c->ended = out_op->kind == PW_OP_EXIT;
    return PW_TRACE_STEP_OP;
}

#endif
