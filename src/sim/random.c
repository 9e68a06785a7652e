/* xoshiro256** 1.0 of Blackman and Vigna ("Scrambled linear pseudorandom number generators", ACM TOMS 2021), seeded
 * through splitmix64 as its authors advise; bounded numbers by Lemire's method ("Fast random integer generation in an
 * interval", ACM TOMACS 2019).
 *
 * The name of a stream is folded into the seed, one round of splitmix64 before each character; so neighbouring seeds
 * and names that differ in one letter give unrelated states. The stream "" is the plain generator of that seed. */
#include "sim/random.h"

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static inline uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void pw_random_init(struct pw_random *r, uint64_t seed, const char *stream)
{
    uint64_t x = seed;
    for (; *stream; stream++)
        x = splitmix64(&x) ^ (unsigned char)*stream;
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&x);
}

uint64_t pw_random_next(struct pw_random *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t pw_random_below(struct pw_random *r, uint64_t bound)
{
    unsigned __int128 product = (unsigned __int128)pw_random_next(r) * bound;
    if ((uint64_t)product < bound) {
        uint64_t rejected = -bound % bound; /* 2^64 mod bound: the products that would make some results likelier */
        while ((uint64_t)product < rejected)
            product = (unsigned __int128)pw_random_next(r) * bound;
    }
    return (uint64_t)(product >> 64);
}

double pw_random_unit(struct pw_random *r)
{
    return (double)(pw_random_next(r) >> 11) * 0x1p-53;
}
