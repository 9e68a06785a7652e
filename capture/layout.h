/* What passes between the GPU and the host while a kernel is recorded: records in a ring of pinned host memory.
 *
 * A record is one operation of one warp: a head and, if its addresses are not base + lane * stride, one address per
 * active lane behind it. The ring consists of cells the size of a head. A warp takes as many cells as it needs by one
 * atomic addition to `taken`, waits until the host has given them back from the time before, writes its addresses and,
 * last, the first word of the head, whose `valid` byte is never 0. The host reads a record when that byte is there,
 * clears its cells and moves `given` on. So a ring that is full makes warps wait, and nothing is lost.
 *
 * Included by the recorder's host side, which is C, and by its device code, which is CUDA. */
#ifndef PW_CAPTURE_LAYOUT_H
#define PW_CAPTURE_LAYOUT_H

#include <stdint.h>

enum pw_capture_kind {
    PW_CAPTURE_LOAD = 1,
    PW_CAPTURE_STORE,
    PW_CAPTURE_ATOMIC,
    PW_CAPTURE_COPY,     /* a load whose data go to shared memory asynchronously (LDGSTS) */
    PW_CAPTURE_BULK,     /* `stride` times 16 bytes from `base` to shared memory, for the whole warp */
    PW_CAPTURE_WAIT,     /* for all groups of copies but the youngest `stride` */
    PW_CAPTURE_COMMIT,   /* the copies so far become a group */
    PW_CAPTURE_WAYPOINT, /* an instruction that is no access to global memory: shared or local memory */
    PW_CAPTURE_BARRIER,
    PW_CAPTURE_EXIT, /* of the lanes in `mask` */
    PW_CAPTURE_KIND_COUNT
};

enum pw_capture_form { PW_CAPTURE_AFFINE, PW_CAPTURE_LANES };

struct pw_capture_cell {
    uint8_t valid; /* 1; written last, with the rest of the first word */
    uint8_t kind;
    uint8_t form;
    uint8_t bytes; /* per lane */
    uint32_t mask; /* active lanes */
    uint32_t cta;  /* its number among the recorded ones */
    int32_t stride;
    uint64_t place; /* program counter below PW_CAPTURE_WARP_SHIFT, above it the warp's number in its CTA */
    uint64_t base;
};

#ifndef __cplusplus
_Static_assert(sizeof(struct pw_capture_cell) == 32, "four addresses fill a cell");
#endif

enum {
    PW_CAPTURE_ADDRESSES_PER_CELL = 4,
    PW_CAPTURE_MAX_CELLS = 1 + 32 / PW_CAPTURE_ADDRESSES_PER_CELL,
    PW_CAPTURE_WARP_SHIFT = 56
};
#define PW_CAPTURE_PC_MASK 0xffffffffffffffULL

/* In device memory; its address is what every patch is called with. 0 there: the launch is not recorded. */
struct pw_capture_gpu {
    unsigned long long taken;      /* cells, ever */
    unsigned long long given_seen; /* a copy of *given, which lies behind the PCIe link */
    uint64_t cells;                /* address of the ring, as the GPU sees it */
    uint64_t given;                /* address of the host's counter of cells given back, ever */
    uint64_t count;                /* of the ring, a power of two */
    uint32_t sample;               /* CTAs whose number is a multiple of it are recorded */
    uint32_t unused;
};

#endif
