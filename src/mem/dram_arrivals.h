/* Requests that were sent to a DRAM channel and are not in their queue yet, in the order of their arrival: a ring that
 * grows.
 *
 * A channel has one for each queue. A slice sends reads when it has looked them up and writes when it replaces a line,
 * each so many cycles before they arrive; so of one kind a request joins nearly always at the end. Those that arrive in
 * the same cycle keep the order in which they were sent. */
#ifndef PW_MEM_DRAM_ARRIVALS_H
#define PW_MEM_DRAM_ARRIVALS_H

#include "mem/request.h"

#include <stdlib.h>

struct pw_dram_arrival {
    uint64_t clock; /* the first that does not begin before `cycle` */
    pw_cycle cycle;
    struct pw_request *r;
    uint32_t line; /* its number within the channel */
    pw_asid app;
};

struct pw_dram_arrivals {
    struct pw_dram_arrival *ring;
    uint32_t first, count, places; /* which are a power of two */
};

enum { PW_DRAM_FIRST_PLACES = 64 };

static inline void pw_dram_arrivals_release(struct pw_dram_arrivals *a)
{
    free(a->ring);
}

/* False when memory is out. */
__attribute__((noinline)) static bool pw_dram_arrivals_grow(struct pw_dram_arrivals *a)
{
    uint32_t places = a->places ? 2 * a->places : PW_DRAM_FIRST_PLACES;
    struct pw_dram_arrival *ring = places ? malloc(places * sizeof *ring) : NULL; /* not after 2^31 */
    if (!ring)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        ring[i] = a->ring[(a->first + i) & (a->places - 1)];
    free(a->ring);
    a->ring = ring;
    a->first = 0;
    a->places = places;
    return true;
}

/* False when memory is out; it is left out then. */
static inline bool pw_dram_arrivals_add(struct pw_dram_arrivals *a, const struct pw_dram_arrival *what)
{
    if (__builtin_expect(a->count == a->places, 0) && !pw_dram_arrivals_grow(a))
        return false;
    uint32_t mask = a->places - 1, at = a->first + a->count++;
    for (; at != a->first && __builtin_expect(a->ring[(at - 1) & mask].cycle > what->cycle, 0); at--)
        a->ring[at & mask] = a->ring[(at - 1) & mask];
    a->ring[at & mask] = *what;
    return true;
}

/* The clock of the first, or PW_NEVER. */
static inline uint64_t pw_dram_arrivals_next(const struct pw_dram_arrivals *a)
{
    return a->count ? a->ring[a->first].clock : PW_NEVER;
}

/* Takes the first, which must be there; it stays as it is until another is added. */
static inline const struct pw_dram_arrival *pw_dram_arrivals_take(struct pw_dram_arrivals *a)
{
    const struct pw_dram_arrival *first = &a->ring[a->first];
    a->first = (a->first + 1) & (a->places - 1);
    a->count--;
    return first;
}

#endif
