/* Where managed allocations lie in the address space, as the CUDA runtime places them.
 *
 * An allocation of 2 MiB or more begins at a multiple of 2 MiB and has its blocks to itself. Smaller ones share blocks:
 * a 2 MiB block is cut into pieces that are multiples of 512 bytes. Which piece is found by watching the runtime of an
 * H200's driver 580 (data/hw/README.md): the smallest free one that is large enough; among equals, the one that has
 * been free for longest; none: a new block. Neighbours that are free become one piece, and a block that is free as a
 * whole is given back. All operations take a few steps, however many allocations there are. */
#ifndef PW_EXP_MANAGED_HEAP_H
#define PW_EXP_MANAGED_HEAP_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_SHARED_BYTES (2ULL << 20) /* of a block */

struct pw_managed_heap;
struct pw_managed_place {
    uint64_t address, bytes;
    bool shared;    /* it lies in a block with others */
    bool new_block; /* the first one there */
    uint32_t piece; /* the heap's own number for it */
};

/* `shares`: whether small allocations share blocks; else each has its own. */
enum pw_status pw_managed_heap_create(bool shares, struct pw_managed_heap **out, struct pw_error *err);
void pw_managed_heap_destroy(struct pw_managed_heap *h);

/* `bytes` is not 0. */
enum pw_status pw_managed_heap_allocate(struct pw_managed_heap *h, uint64_t bytes, struct pw_managed_place *out,
                                        struct pw_error *err);
/* Returns whether its blocks are free now: always, for what does not share. */
bool pw_managed_heap_free(struct pw_managed_heap *h, const struct pw_managed_place *place);

#endif
