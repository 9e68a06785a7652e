/* The tag store of a set-associative cache with sectors and true LRU: what is in it, not how long it takes.
 *
 * A line of 128 bytes has four 32-byte sectors, each valid or not and dirty or not. A cache without sectors simply
 * fetches all four. A sector can be dirty without being valid: a store has written part of it and nothing has been
 * fetched (write-validate, as in GPU L2 caches); a later read fetches it and merges.
 *
 * One 64-bit word per line holds its number (32 bits), its valid and dirty sectors (4 bits each) and the time of its
 * last use (24 bits of a counter of accesses), so that a 16-way set is two host cache lines. When the counter runs out,
 * the times of each set are replaced by their ranks, which keeps the order. Any number of sets and ways works; the set
 * number is a remainder by a precomputed reciprocal. */
#ifndef PW_MEM_CACHE_H
#define PW_MEM_CACHE_H

#include "sim/divisor.h"
#include "sim/status.h"
#include "sim/types.h"

enum { PW_SECTOR_BYTES = 32, PW_SECTORS_PER_LINE = 4, PW_ALL_SECTORS = 0xf };
#define PW_NO_LINE UINT32_MAX

enum {
    PW_CACHE_VALID_SHIFT = 32,
    PW_CACHE_DIRTY_SHIFT = 36,
    PW_CACHE_USED_SHIFT = 40,
    PW_CACHE_MAX_WAYS = 1 << 16,
    PW_CACHE_CLOCK_LIMIT = (1 << 24) - 2 * PW_CACHE_MAX_WAYS /* leaves room for ranks above it */
};

struct pw_cache {
    uint64_t *slots;
    struct pw_divisor sets;
    uint32_t ways;
    uint32_t clock; /* the time of the last use given out */
};

struct pw_victim {
    uint32_t line; /* PW_NO_LINE when the slot was empty */
    uint8_t dirty;
};

/* Capacity is rounded down to whole sets; less than one set is a user error. `name` is for messages. */
enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err);
void pw_cache_release(struct pw_cache *c);

/* Makes room in the counter when it has run out; the order stays. */
void pw_cache_renumber(struct pw_cache *c);

/* The slot that holds `line`, whose set is chosen by `index` (any number; often the line itself), or -1. */
static inline int64_t pw_cache_find(const struct pw_cache *c, uint32_t line, uint32_t index)
{
    uint32_t first = pw_remainder(index, c->sets) * c->ways;
    const uint64_t *set = c->slots + first;
    for (uint32_t way = 0; way < c->ways; way++)
        if ((uint32_t)set[way] == line)
            return first + way;
    return -1;
}

/* Asks the host to have a set at hand for a lookup that is soon to come. */
static inline void pw_cache_prefetch(const struct pw_cache *c, uint32_t index)
{
    const uint64_t *set = c->slots + pw_remainder(index, c->sets) * c->ways;
    for (uint32_t way = 0; way < c->ways; way += 8)
        __builtin_prefetch(set + way, 1);
}

static inline uint8_t pw_cache_valid(const struct pw_cache *c, int64_t slot)
{
    return c->slots[slot] >> PW_CACHE_VALID_SHIFT & PW_ALL_SECTORS;
}

static inline uint8_t pw_cache_dirty(const struct pw_cache *c, int64_t slot)
{
    return c->slots[slot] >> PW_CACHE_DIRTY_SHIFT & PW_ALL_SECTORS;
}

static inline void pw_cache_set_valid(struct pw_cache *c, int64_t slot, uint8_t sectors)
{
    c->slots[slot] |= (uint64_t)sectors << PW_CACHE_VALID_SHIFT;
}

static inline void pw_cache_set_dirty(struct pw_cache *c, int64_t slot, uint8_t sectors)
{
    c->slots[slot] |= (uint64_t)sectors << PW_CACHE_DIRTY_SHIFT;
}

/* Makes a slot the most recently used. */
static inline void pw_cache_touch(struct pw_cache *c, int64_t slot)
{
    if (__builtin_expect(c->clock == PW_CACHE_CLOCK_LIMIT, 0))
        pw_cache_renumber(c);
    uint64_t rest = c->slots[slot] & ((1ULL << PW_CACHE_USED_SHIFT) - 1);
    c->slots[slot] = rest | (uint64_t)++c->clock << PW_CACHE_USED_SHIFT;
}

/* Gives `line`, which is not present, the least recently used slot of its set; no sector valid or dirty. */
int64_t pw_cache_allocate(struct pw_cache *c, uint32_t line, uint32_t index, struct pw_victim *out_victim);

static inline void pw_cache_drop(struct pw_cache *c, int64_t slot)
{
    c->slots[slot] = PW_NO_LINE;
}

#endif
