/* The footprint of a run's programs: how much data their kernels touch, known before time begins. */
#ifndef PW_SYSTEM_FOOTPRINT_H
#define PW_SYSTEM_FOOTPRINT_H

#include "sim/status.h"

#include <stdint.h>

struct pw_system;

/* In pages of 4 KiB, the most at one time. */
struct pw_footprint {
    uint64_t touched, allocated;
};

/* That of all applications together: their sum. The programs may not have begun yet. */
enum pw_status pw_footprint_find(const struct pw_system *s, struct pw_footprint *out, struct pw_error *err);

#endif
