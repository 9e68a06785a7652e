/* What the warps of a launch do, written down before it begins.
 *
 * Whoever plays a kernel through appends operations for the warps, in any order among them; pw_bh_replay, as the
 * launch's kernel, repeats them. Array numbers are those of enum pw_bh_array; elements are words of four bytes. */
#ifndef PW_WORKLOAD_BH_LOG_H
#define PW_WORKLOAD_BH_LOG_H

#include "workload/runtime/host.h"

struct pw_bh_chunk;

struct pw_bh_log {
    struct pw_host *host;
    struct pw_bh_warp_log *warps;
    uint32_t warp_count, capacity;
    struct pw_bh_chunk *spare;
};

/* Forgets what was there. */
void pw_bh_log_begin(struct pw_bh_log *log, uint32_t warps);

void pw_bh_log_compute(struct pw_bh_log *log, uint32_t warp, uint32_t count);

/* The warp's next operation needs all loads so far. */
void pw_bh_log_use(struct pw_bh_log *log, uint32_t warp);

/* Lane i accesses element index[i]; an empty mask accesses nothing. */
void pw_bh_log_access(struct pw_bh_log *log, uint32_t warp, enum pw_op_kind kind, uint32_t array, uint32_t mask,
                      const int32_t index[PW_WARP_LANES]);

/* All lanes access the same element. */
void pw_bh_log_one(struct pw_bh_log *log, uint32_t warp, enum pw_op_kind kind, uint32_t array, uint32_t mask,
                   int32_t element);

void pw_bh_log_barrier(struct pw_bh_log *log, uint32_t warp);

/* The kernel; its arguments are a struct pw_bh. */
void pw_bh_replay(struct pw_warp *w, const void *arguments);

#endif
