/* Runs a patch function for the lanes of a warp that are active, one after the other. */
#ifndef PW_TEST_LANES_H
#define PW_TEST_LANES_H

#include "sanitizer.h"

#include <stdbool.h>

/* One instruction of a warp, before which its patch is called. */
struct lanes_call {
    void *data; /* what the launch's patches are called with */
    uint64_t pc;
    uint32_t bytes, flags; /* of an access */
    const uint64_t *addresses;
};

struct lanes_geometry {
    unsigned grid[3], block[3], cta, warp;
};

/* A function of capture/patch.cu; NULL: there is none of that name. */
typedef const struct lanes_patch lanes_patch;
lanes_patch *lanes_find(const char *name);
void lanes_run(lanes_patch *p, const struct lanes_geometry *g, unsigned active, const struct lanes_call *call);

#endif
