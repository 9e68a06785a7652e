/* A kernel that is read from Accel-Sim's trace, as text (import_traceg.c) or as .tracez (import_tracez.c): its head, the
 * thread blocks that have come, and the warp under way. */
#ifndef PW_TRACE_IMPORT_KERNEL_H
#define PW_TRACE_IMPORT_KERNEL_H

#include "trace/traceg_instruction.h"

struct pw_import_kernel {
    struct pw_import *import;
    struct pw_traceg_header head;
    struct pw_traceg_reader reader;
    uint64_t *seen; /* a bit for each thread block of the grid */
    uint32_t seen_count;
    uint32_t cta, warp;
    char problem[128]; /* of the block that cannot be placed */
};

/* After the head was read; its members else are zero. */
enum pw_status pw_import_kernel_begin(struct pw_import_kernel *k, struct pw_error *err);
void pw_import_kernel_release(struct pw_import_kernel *k);

static inline uint32_t pw_import_kernel_warps(const struct pw_import_kernel *k)
{
    return (k->head.threads + PW_WARP_LANES - 1) / PW_WARP_LANES;
}

/* The next block is the one at this place. False: it cannot be, and `problem` says why. */
bool pw_import_kernel_place(struct pw_import_kernel *k, const uint32_t place[3]);

/* The instructions that follow are those of k->warp in the block. */
void pw_import_kernel_begin_warp(struct pw_import_kernel *k);
enum pw_status pw_import_kernel_end_warp(struct pw_import_kernel *k, struct pw_error *err);

/* After an instruction: whether the writer has failed, or the watch wants an end. */
enum pw_status pw_import_kernel_check(struct pw_import_kernel *k, const char *path, struct pw_error *err);
static inline bool pw_import_kernel_is_due(const struct pw_import_kernel *k)
{
    return __builtin_expect(k->reader.ops.failed || k->reader.copied, 0);
}

/* Whether the file is a .tracez: lines that can be a head, and a zero byte behind them. */
bool pw_import_is_tracez(const char *path);
enum pw_status pw_import_tracez(struct pw_import *i, const char *path, struct pw_error *err);

#endif
