/* Seeded random numbers, one independent stream per component.
 *
 * A stream is named, and its state follows from the seed and the name alone; so a component that draws one number
 * more does not shift the numbers of any other. The generator is xoshiro256**, seeded through splitmix64. */
#ifndef PW_SIM_RANDOM_H
#define PW_SIM_RANDOM_H

#include <stdint.h>

struct pw_random {
    uint64_t s[4];
};

void pw_random_init(struct pw_random *r, uint64_t seed, const char *stream);
uint64_t pw_random_next(struct pw_random *r);

/* Uniform in [0, bound), without bias; bound must not be 0. */
uint64_t pw_random_below(struct pw_random *r, uint64_t bound);

/* Uniform in [0, 1). Never decides an address or a time. */
double pw_random_unit(struct pw_random *r);

#endif
