/* The tag store of a set-associative cache with sectors and true LRU: what is in it, not how long it takes.
 *
 * A line of 128 bytes has four 32-byte sectors, each valid or not and dirty or not. A cache without sectors simply
 * fetches all four. A sector can be dirty without being valid: a store has written part of it and nothing has been
 * fetched (write-validate, as in GPU L2 caches); a later read fetches it and merges.
 *
 * The ways of a set are kept in the order of their last use, so replacement takes the last one, and a use moves a way
 * to the front. Line numbers and states lie in two arrays: the numbers of a 16-way set are one host cache line,
 * compared four at a time. Any number of sets and ways works; the set number is a remainder by a precomputed
 * reciprocal.
 *
 * A way is named by struct pw_way, which is good until the next call that changes the cache. */
#ifndef PW_MEM_CACHE_H
#define PW_MEM_CACHE_H

#include "sim/divisor.h"
#include "sim/status.h"
#include "sim/types.h"

enum { PW_SECTOR_BYTES = 32, PW_SECTORS_PER_LINE = 4, PW_ALL_SECTORS = 0xf, PW_CACHE_DIRTY_SHIFT = 4 };
#define PW_NO_LINE UINT32_MAX

struct pw_cache {
    uint32_t *lines; /* by set, most recently used first; PW_NO_LINE when empty */
    uint8_t *states; /* valid sectors in the low half, dirty ones in the high half */
    uint32_t ways;
    uint32_t stride; /* ways of a set in memory: a multiple of four, the rest stays empty */
    struct pw_divisor sets;
};

struct pw_way {
    uint32_t *lines; /* of the set */
    uint8_t *states;
    int32_t at; /* -1: not found */
};

struct pw_victim {
    uint32_t line; /* PW_NO_LINE when the way was empty */
    uint8_t dirty;
};

/* Capacity is rounded down to whole sets; less than one set is a user error. `name` is for messages. */
enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err);
void pw_cache_release(struct pw_cache *c);

typedef uint32_t pw_four_lines __attribute__((vector_size(16)));

/* The way that holds `line`, whose set is chosen by `index` (any number; often the line itself). */
static inline struct pw_way pw_cache_find(const struct pw_cache *c, uint32_t line, uint32_t index)
{
    size_t set = (size_t)pw_remainder(index, c->sets) * c->stride;
    struct pw_way w = {c->lines + set, c->states + set, -1};
    const pw_four_lines wanted = {line, line, line, line};
    pw_four_lines number = {1, 2, 3, 4}, found = {0};
    for (uint32_t i = 0; i < c->stride; i += 4) {
        const pw_four_lines four = *(const pw_four_lines *)(const void *)(w.lines + i);
        found |= (pw_four_lines)(four == wanted) & number;
        number += 4;
    }
    w.at = (int32_t)(found[0] | found[1] | found[2] | found[3]) - 1;
    return w;
}

/* Asks the host to have a set at hand for a lookup that is soon to come. */
static inline void pw_cache_prefetch(const struct pw_cache *c, uint32_t index)
{
    size_t set = (size_t)pw_remainder(index, c->sets) * c->stride;
    for (uint32_t i = 0; i < c->stride; i += 16)
        __builtin_prefetch(c->lines + set + i, 1);
    __builtin_prefetch(c->states + set, 1);
}

static inline uint8_t pw_way_valid(struct pw_way w)
{
    return w.states[w.at] & PW_ALL_SECTORS;
}

static inline uint8_t pw_way_dirty(struct pw_way w)
{
    return w.states[w.at] >> PW_CACHE_DIRTY_SHIFT;
}

static inline void pw_way_set_valid(struct pw_way w, uint8_t sectors)
{
    w.states[w.at] |= sectors;
}

static inline void pw_way_set_dirty(struct pw_way w, uint8_t sectors)
{
    w.states[w.at] |= (uint8_t)(sectors << PW_CACHE_DIRTY_SHIFT);
}

/* Moves a way to the front of its set, where the others make room. */
static inline struct pw_way pw_way_use(struct pw_way w)
{
    uint32_t line = w.lines[w.at];
    uint8_t state = w.states[w.at];
    for (; w.at > 0; w.at--) {
        w.lines[w.at] = w.lines[w.at - 1];
        w.states[w.at] = w.states[w.at - 1];
    }
    w.lines[0] = line;
    w.states[0] = state;
    return w;
}

/* Gives `line`, which was not found at w, the least recently used way of that set; no sector valid or dirty. */
struct pw_way pw_cache_replace(struct pw_cache *c, struct pw_way w, uint32_t line, struct pw_victim *out_victim);

/* Empties a way; it is replaced next. */
void pw_cache_drop(struct pw_cache *c, struct pw_way w);

/* Empties the cache, whatever is dirty. */
void pw_cache_clear(struct pw_cache *c);

#endif
