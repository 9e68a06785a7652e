/* A warp's registers, and its lanes in groups that run together. Lanes part at a branch that they take differently; each
 * group goes on by itself until it waits at the convergence barrier (BSYNC) for the rest of the lanes that set it
 * (BSSY). Nothing else joins groups, as on the GPU. */
#ifndef PW_EMULATOR_WARP_H
#define PW_EMULATOR_WARP_H

#include <stdint.h>

enum { LANES = 32, REGISTERS = 256, UNIFORM_REGISTERS = 64, PREDICATES = 8, CONVERGENCE_BARRIERS = 16 };
enum { ZERO_REGISTER = 255, ZERO_UNIFORM = 63, TRUE_PREDICATE = 7 };

enum group_state { GROUP_RUNS, GROUP_AT_CONVERGENCE, GROUP_AT_CTA_BARRIER };

struct group {
    uint32_t lanes, pc; /* pc in instructions */
    enum group_state state;
    uint32_t barrier; /* the convergence barrier waited at */
};

struct warp {
    uint32_t registers[REGISTERS][LANES];
    uint32_t uniform[UNIFORM_REGISTERS];
    uint32_t predicates[PREDICATES];                /* a bit per lane */
    uint32_t uniform_predicates;                    /* a bit per predicate */
    uint32_t barriers[CONVERGENCE_BARRIERS][LANES]; /* the lanes that a lane came with */
    struct group groups[LANES];
    uint32_t group_count;
    uint32_t thread[LANES][3]; /* threadIdx */
    uint32_t cta[3];
};

/* All groups that wait for nothing but lanes that have ended, or that all have come, go on as one. */
void warp_converge(struct warp *w);

uint32_t warp_live_lanes(const struct warp *w);

#endif
