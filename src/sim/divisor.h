/* Exact division by a number that is known only at run time, without a divide instruction.
 *
 * The number of DRAM channels need not be a power of two (Mosaic has 6), and every line that leaves an SM is mapped to
 * one. For 32-bit dividends, q = (n * ceil(2^64 / d)) >> 64 is exact for every d >= 2. */
#ifndef PW_SIM_DIVISOR_H
#define PW_SIM_DIVISOR_H

#include <stdint.h>

struct pw_divisor {
    uint64_t reciprocal; /* ceil(2^64 / by), or 0 for by == 1 */
    uint32_t by;
};

static inline struct pw_divisor pw_divisor_of(uint32_t by)
{
    return (struct pw_divisor){by == 1 ? 0 : UINT64_MAX / by + 1, by};
}

static inline uint32_t pw_quotient(uint32_t n, struct pw_divisor d)
{
    return d.reciprocal ? (uint32_t)((unsigned __int128)n * d.reciprocal >> 64) : n;
}

static inline uint32_t pw_remainder(uint32_t n, struct pw_divisor d)
{
    return n - pw_quotient(n, d) * d.by;
}

#endif
