/* One instruction of sm_90 for a group of lanes.
 *
 * What is done is what the programs of capture/programs and capture/layers need, by what Mesa's compiler for these GPUs
 * tells of the encoding. An instruction or modifier that is not known here ends the run with a line that names it:
 * nothing is skipped. Approximate units (reciprocals, exponentials, ...) give the host's results, so that values can
 * differ in their last bits from a GPU's. */
#ifndef PW_EMULATOR_EXECUTE_H
#define PW_EMULATOR_EXECUTE_H

#include "image.h"
#include "warp.h"

/* A generic address of shared memory has the window's own upper half, which no address of the host's has. */
enum { SHARED_WINDOW = 1 << 24, SHARED_BYTES = 256 << 10, SHARED_WINDOW_HIGH = 1 << 20 };

enum effect_kind { EFFECT_NONE, EFFECT_LOAD, EFFECT_STORE, EFFECT_SHARED, EFFECT_BARRIER, EFFECT_EXIT };

/* What an instruction did outside of the registers. */
struct effect {
    enum effect_kind kind; /* load and store: of global memory */
    uint32_t lanes;        /* that did it */
    uint32_t in_shared;    /* further lanes, whose generic addresses are those of shared memory */
    uint32_t bytes;        /* per lane */
    uint64_t addresses[LANES];
};

struct machine {
    const struct kernel *kernel;
    const uint8_t *constants[CONSTANT_BANKS];
    uint8_t *shared;
    struct effect effect; /* of the last instruction */
};

enum outcome { OUTCOME_NEXT, OUTCOME_MOVED }; /* moved: the groups were changed, the counter of no group advances */

enum outcome execute(struct machine *m, struct warp *w, struct group *g);

#endif
