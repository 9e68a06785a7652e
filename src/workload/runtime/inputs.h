/* What input data are made of: closed forms of a seed and an element's number, so that a value can be had without
 * storing it. */
#ifndef PW_WORKLOAD_INPUTS_H
#define PW_WORKLOAD_INPUTS_H

#include <stdint.h>

/* splitmix64's finaliser over both arguments. */
static inline uint64_t pw_hash(uint64_t seed, uint64_t x)
{
    uint64_t z = seed + (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A hash spread over [0, bound). */
static inline uint64_t pw_hash_below(uint64_t hash, uint64_t bound)
{
    return (uint64_t)((unsigned __int128)hash * bound >> 64);
}

/* A hash as a float in [0, 1), exactly representable. */
static inline float pw_hash_unit(uint64_t hash)
{
    return (float)(hash >> 40) * 0x1p-24F;
}

/* A seeded permutation of [0, n) in closed form: a Feistel network over the next even number of bits, walked until the
 * value falls into the range (fewer than four steps on average). */
static inline uint64_t pw_permuted(uint64_t seed, uint64_t x, uint64_t n)
{
    unsigned half = 1;
    while (half < 32 && n > UINT64_C(1) << (2 * half))
        half++;
    uint64_t low = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = x >> half, right = x & low;
        for (unsigned round = 0; round < 4; round++) {
            uint64_t next = left ^ (pw_hash(seed + round, right) & low);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return x;
}

#endif
