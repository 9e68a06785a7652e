/* Core cycles and DRAM clocks: the exact conversion between the two.
 *
 * DRAM clock d begins at core cycle ceil(d * core / dram), both frequencies reduced to lowest terms. A quotient n / by,
 * by a number known only at run time, is ((n + 1) * floor((2^64 - 1) / by)) >> 64: exact for n + 1 up to 2^64 / by,
 * 1 included, which is enough for 10^13 clocks at 1020 and 1674 MHz. */
#ifndef PW_MEM_DRAM_CLOCK_H
#define PW_MEM_DRAM_CLOCK_H

#include "sim/types.h"

#include <assert.h>

struct pw_dram_clock {
    uint64_t core, dram;                       /* frequencies in lowest terms */
    uint64_t core_reciprocal, dram_reciprocal; /* floor((2^64 - 1) / frequency) */
};

static inline struct pw_dram_clock pw_dram_clock_of(uint32_t core_mhz, uint32_t dram_mhz)
{
    assert(core_mhz && dram_mhz);
    uint32_t a = core_mhz, b = dram_mhz;
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    uint64_t core = core_mhz / a, dram = dram_mhz / a;
    return (struct pw_dram_clock){core, dram, UINT64_MAX / core, UINT64_MAX / dram};
}

static inline uint64_t pw_dram_clock_quotient(uint64_t n_plus_1, uint64_t reciprocal)
{
    return (uint64_t)((unsigned __int128)n_plus_1 * reciprocal >> 64);
}

/* The core cycle at which a DRAM clock begins. */
static inline pw_cycle pw_dram_clock_begin(const struct pw_dram_clock *c, uint64_t clock)
{
    return pw_dram_clock_quotient(clock * c->core + c->dram, c->dram_reciprocal);
}

/* The first DRAM clock that does not begin before a core cycle. */
static inline uint64_t pw_dram_clock_first(const struct pw_dram_clock *c, pw_cycle cycle)
{
    return cycle ? pw_dram_clock_quotient((cycle - 1) * c->dram + 1, c->core_reciprocal) + 1 : 0;
}

#endif
