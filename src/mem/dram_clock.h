/* Core cycles and DRAM clocks: the exact conversion between the two.
 *
 * DRAM clock d begins at core cycle ceil(d * core / dram), both frequencies reduced to lowest terms. A quotient by a
 * number known only at run time is a multiplication by ceil(2^64 / number), exact for dividends below 2^64 / number:
 * enough for 10^13 clocks at 1020 and 1674 MHz. */
#ifndef PW_MEM_DRAM_CLOCK_H
#define PW_MEM_DRAM_CLOCK_H

#include "sim/types.h"

struct pw_dram_clock {
    uint64_t core, dram;                       /* frequencies in lowest terms */
    uint64_t core_reciprocal, dram_reciprocal; /* 0 for 1 */
};

static inline struct pw_dram_clock pw_dram_clock_of(uint32_t core_mhz, uint32_t dram_mhz)
{
    uint32_t a = core_mhz, b = dram_mhz;
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    uint64_t core = core_mhz / a, dram = dram_mhz / a;
    return (struct pw_dram_clock){core, dram, core == 1 ? 0 : UINT64_MAX / core + 1,
                                  dram == 1 ? 0 : UINT64_MAX / dram + 1};
}

static inline uint64_t pw_dram_clock_quotient(uint64_t n, uint64_t reciprocal)
{
    return reciprocal ? (uint64_t)((unsigned __int128)n * reciprocal >> 64) : n;
}

/* The core cycle at which a DRAM clock begins. */
static inline pw_cycle pw_dram_clock_begin(const struct pw_dram_clock *c, uint64_t clock)
{
    return pw_dram_clock_quotient(clock * c->core + c->dram - 1, c->dram_reciprocal);
}

/* The first DRAM clock that does not begin before a core cycle. */
static inline uint64_t pw_dram_clock_first(const struct pw_dram_clock *c, pw_cycle cycle)
{
    return cycle ? pw_dram_clock_quotient((cycle - 1) * c->dram, c->core_reciprocal) + 1 : 0;
}

#endif
