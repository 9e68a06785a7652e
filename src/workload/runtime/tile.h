/* Accesses of CTAs that are 16 threads wide: a warp covers two rows of a matrix, lanes 0 to 15 and 16 to 31. */
#ifndef PW_WORKLOAD_TILE_H
#define PW_WORKLOAD_TILE_H

#include "workload/runtime/kernel.h"

enum { PW_TILE_WIDTH = 16 };

/* Lane i accesses element first + i % 16 + (i / 16) * pitch. One row alone is still an affine access. */
static inline void pw_access_tile(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, const struct pw_array *a,
                                  int64_t first, int64_t pitch)
{
    if (!(mask >> PW_TILE_WIDTH)) {
        pw_access_strided(w, kind, mask, a, first, 1);
    } else if (!(mask & 0xffff)) {
        pw_access_strided(w, kind, mask, a, first + pitch - PW_TILE_WIDTH, 1);
    } else {
        uint64_t index[PW_WARP_LANES];
        for (uint32_t lane = 0; lane < PW_TILE_WIDTH; lane++) {
            index[lane] = (uint64_t)(first + lane);
            index[lane + PW_TILE_WIDTH] = (uint64_t)(first + pitch + lane);
        }
        pw_access_lanes(w, kind, mask, a, index);
    }
}

/* Lanes whose column is in [x_first, x_end) and whose row, first_row or the next, is in [y_first, y_end). */
static inline uint32_t pw_tile_mask(int32_t first_row, int32_t x_first, int32_t x_end, int32_t y_first, int32_t y_end)
{
    uint32_t columns = 0, mask = 0;
    if (x_first < x_end)
        columns = ((1U << x_end) - 1) & ~((1U << x_first) - 1);
    if (first_row >= y_first && first_row < y_end)
        mask = columns;
    if (first_row + 1 >= y_first && first_row + 1 < y_end)
        mask |= columns << PW_TILE_WIDTH;
    return mask;
}

#endif
