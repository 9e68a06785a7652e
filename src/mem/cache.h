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
#define PW_OTHER_LINE (UINT32_MAX - 1) /* what nobody asks for, though it takes a place */

/* Bits of a mask of sectors. */
static inline uint32_t pw_sector_count(uint32_t sectors)
{
    return (uint32_t)(0x4332322132212110U >> 4 * (sectors & PW_ALL_SECTORS)) & 0xf;
}

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

/* Where the set that `index` chooses (any number; often the line itself) begins among the slots of the cache. */
static inline uint32_t pw_cache_set(const struct pw_cache *c, uint32_t index)
{
    return pw_remainder(index, c->sets) * c->stride;
}

typedef uint32_t pw_four_lines __attribute__((vector_size(16), may_alias));
typedef uint64_t pw_two_pairs __attribute__((vector_size(16)));

/* Which of `count` line numbers, a multiple of four, is `line`; -1: none. Of each four compared, those that differ
 * leave 0 and the one that is it leaves its number, so that there is one branch for all. */
static inline __attribute__((always_inline)) int32_t pw_find_among(const uint32_t *lines, const uint32_t count,
                                                                   uint32_t line)
{
    const pw_four_lines *four = (const pw_four_lines *)(const void *)lines, wanted = {line, line, line, line};
    pw_four_lines number = {1, 2, 3, 4}, found = {0};
    for (uint32_t i = 0; i < count / 4; i++, number += 4)
        found |= (pw_four_lines)(four[i] == wanted) & number;
    const pw_two_pairs pairs = (pw_two_pairs)found;
    const uint64_t pair = pairs[0] | pairs[1];
    return (int32_t)(pair | pair >> 32) - 1;
}

/* The way that holds `line`, in the set that begins at `set`. */
static inline struct pw_way pw_cache_find_in(const struct pw_cache *c, uint32_t line, uint32_t set)
{
    struct pw_way w = {c->lines + set, c->states + set, 0};
    if (w.lines[0] == line) /* as for most page-table reads */
        return w;
    if (c->stride == 16) /* what most caches have is compared in a row, without a loop */
        w.at = pw_find_among(w.lines, 16, line);
    else if (c->stride == 24)
        w.at = pw_find_among(w.lines, 24, line);
    else
        w.at = pw_find_among(w.lines, c->stride, line);
    return w;
}

/* The same for a line that is known not to be in the cache. */
static inline struct pw_way pw_cache_absent_in(const struct pw_cache *c, uint32_t set)
{
    return (struct pw_way){c->lines + set, c->states + set, -1};
}

static inline struct pw_way pw_cache_find(const struct pw_cache *c, uint32_t line, uint32_t index)
{
    return pw_cache_find_in(c, line, pw_cache_set(c, index));
}

/* Asks the host to have a set, or the first 32 ways of it, at hand for a lookup that is soon to come. */
static inline void pw_cache_prefetch(const struct pw_cache *c, uint32_t set)
{
    __builtin_prefetch(c->lines + set, 1);
    if (c->stride > 16)
        __builtin_prefetch(c->lines + set + 16, 1);
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

typedef uint32_t pw_lines_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t pw_eight_states __attribute__((aligned(1), may_alias));
typedef uint32_t pw_four_states __attribute__((aligned(1), may_alias));

/* Moves the first `count` ways of a set one place up, over the one behind them. From the top down, in pieces; the
 * lowest piece, which may overlap those above it, is read first and written last. */
static inline __attribute__((always_inline)) void pw_ways_move_up(struct pw_way w, const uint32_t count)
{
    if (count < 4) {
        for (uint32_t i = count; i > 0; i--) {
            w.lines[i] = w.lines[i - 1];
            w.states[i] = w.states[i - 1];
        }
        return;
    }
    const pw_lines_anywhere lowest = *(const pw_lines_anywhere *)(const void *)w.lines;
    for (int64_t i = (int64_t)count - 4; i > 0; i -= 4)
        *(pw_lines_anywhere *)(void *)(w.lines + i + 1) = *(const pw_lines_anywhere *)(const void *)(w.lines + i);
    *(pw_lines_anywhere *)(void *)(w.lines + 1) = lowest;
    if (count < 8) {
        const uint32_t low = *(const pw_four_states *)(const void *)w.states;
        *(pw_four_states *)(void *)(w.states + count - 3) =
            *(const pw_four_states *)(const void *)(w.states + count - 4);
        *(pw_four_states *)(void *)(w.states + 1) = low;
        return;
    }
    const uint64_t low = *(const pw_eight_states *)(const void *)w.states;
    for (int64_t i = (int64_t)count - 8; i > 0; i -= 8)
        *(pw_eight_states *)(void *)(w.states + i + 1) = *(const pw_eight_states *)(const void *)(w.states + i);
    *(pw_eight_states *)(void *)(w.states + 1) = low;
}

/* Moves a way to the front of its set, where the others make room. */
static inline __attribute__((always_inline)) struct pw_way pw_way_use(struct pw_way w)
{
    uint32_t line = w.lines[w.at];
    uint8_t state = w.states[w.at];
    if (w.at) {
        pw_ways_move_up(w, (uint32_t)w.at);
        w.lines[0] = line;
        w.states[0] = state;
        w.at = 0;
    }
    return w;
}

/* Gives `line`, which was not found at w, the least recently used way of that set; no sector valid or dirty. */
static inline __attribute__((always_inline)) struct pw_way pw_cache_replace(struct pw_cache *c, struct pw_way w,
                                                                            uint32_t line, struct pw_victim *out_victim)
{
    uint32_t last = c->ways - 1;
    *out_victim = (struct pw_victim){w.lines[last], (uint8_t)(w.states[last] >> PW_CACHE_DIRTY_SHIFT)};
    if (last == 15) /* as in the search */
        pw_ways_move_up(w, 15);
    else if (last == 23)
        pw_ways_move_up(w, 23);
    else
        pw_ways_move_up(w, last);
    w.lines[0] = line;
    w.states[0] = 0;
    w.at = 0;
    return w;
}

/* Gives a line that is not there the first empty way of a set, or else the least recently used one. It counts as used
 * least recently itself; no sector is valid or dirty. */
struct pw_way pw_cache_insert_last(struct pw_cache *c, uint32_t line, uint32_t set, struct pw_victim *out_victim);

/* Empties a way; it is replaced next. */
void pw_cache_drop(struct pw_cache *c, struct pw_way w);

/* Empties the cache, whatever is dirty. */
void pw_cache_clear(struct pw_cache *c);
/* Likewise, and gives it another number of sets, of at most what it was made with. */
void pw_cache_resize(struct pw_cache *c, uint32_t sets);

#endif
