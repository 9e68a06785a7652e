/* A launch: its CTAs one after another, each warp until it waits. What it did is counted as a GPU's counters do. */
#ifndef PW_EMULATOR_LAUNCH_H
#define PW_EMULATOR_LAUNCH_H

#include "execute.h"

struct counts {
    uint64_t warp_instructions;
    uint64_t loads, stores;               /* warp instructions on global memory with any lane */
    uint64_t load_sectors, store_sectors; /* of 32 bytes, those of one instruction counted once */
};

/* Told of every instruction that did something outside of the registers, its program counter in instructions. */
struct observer {
    void (*executed)(void *context, uint32_t cta, uint32_t warp, uint32_t pc, const struct effect *effect);
    void *context;
};

struct launch {
    const struct kernel *kernel;
    uint32_t grid[3], block[3];
    const void *const *arguments;
    const uint8_t *constant3; /* what variables in constant memory hold; NULL for the image's own */
    uint32_t shared_bytes;    /* dynamic */
};

struct counts launch_run(const struct launch *l, const struct observer *o);

#endif
