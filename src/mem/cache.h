/* The tag store of a set-associative cache with sectors and true LRU: what is in it, not how long it takes.
 *
 * A line of 128 bytes has four 32-byte sectors, each valid or not and dirty or not. A cache without sectors simply
 * fetches all four. A sector can be dirty without being valid: a store has written part of it and nothing has been
 * fetched (write-validate, as in GPU L2 caches); a later read fetches it and merges.
 *
 * Tags, recency and states lie in separate arrays, so that a 16-way lookup reads one host cache line. Any number of
 * sets and ways works; the set number is a remainder by a precomputed reciprocal. */
#ifndef PW_MEM_CACHE_H
#define PW_MEM_CACHE_H

#include "sim/divisor.h"
#include "sim/status.h"
#include "sim/types.h"

enum { PW_SECTOR_BYTES = 32, PW_SECTORS_PER_LINE = 4, PW_ALL_SECTORS = 0xf };
#define PW_NO_LINE UINT32_MAX
#define PW_CACHE_CLOCK_LIMIT 0xf0000000U

struct pw_cache {
    struct pw_divisor sets;
    uint32_t ways;
    uint32_t clock;
    uint32_t *tags; /* line number, PW_NO_LINE when empty */
    uint32_t *used; /* value of clock at the last use */
    uint8_t *valid; /* sector masks */
    uint8_t *dirty;
};

struct pw_victim {
    uint32_t line; /* PW_NO_LINE when the slot was empty */
    uint8_t dirty;
};

/* Capacity is rounded down to whole sets; less than one set is a user error. `name` is for messages. */
enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err);
void pw_cache_release(struct pw_cache *c);

/* Makes room in the recency numbers when they have run out; the order stays. */
void pw_cache_renumber(struct pw_cache *c);

/* The slot that holds `line`, whose set is chosen by `index` (any number; often the line itself), or -1. */
static inline int64_t pw_cache_find(const struct pw_cache *c, uint32_t line, uint32_t index)
{
    uint32_t first = pw_remainder(index, c->sets) * c->ways;
    for (uint32_t way = 0; way < c->ways; way++)
        if (c->tags[first + way] == line)
            return first + way;
    return -1;
}

static inline void pw_cache_touch(struct pw_cache *c, int64_t slot)
{
    if (__builtin_expect(c->clock == PW_CACHE_CLOCK_LIMIT, 0))
        pw_cache_renumber(c);
    c->used[slot] = ++c->clock;
}

/* Gives `line`, which is not present, the least recently used slot of its set; no sector valid or dirty. */
int64_t pw_cache_allocate(struct pw_cache *c, uint32_t line, uint32_t index, struct pw_victim *out_victim);

static inline void pw_cache_drop(struct pw_cache *c, int64_t slot)
{
    c->tags[slot] = PW_NO_LINE;
    c->used[slot] = 0;
    c->valid[slot] = c->dirty[slot] = 0;
}

#endif
