/* Wide sets: more than 16 ways, found through a hash, with true LRU in linked lists.
 *
 * One hash over all sets leads to the entry in one step, whether there are 17 entries or 8192. A bucket is one host
 * cache line with room for 12 entries, three to six times what lies in one on average, and keeps a signature byte of
 * each: all are compared at once, so a page that is not there costs one line of the host's cache and no branch that
 * depends on chance. An entry that finds its bucket full is in none; the bucket counts it, and whoever looks for it
 * there searches all entries.
 *
 * Each set is a ring of its entries from the most to the least recently used, linked by index in both directions;
 * `last` is where it ends. Entries that are empty are always last. So the victim is `last`, and making it the most
 * recently used only turns the ring: an insert changes no link of the ring at all.
 *
 * Links are counted in units of 8 bytes from the first entry, which saves a multiplication on the way to an entry. An
 * entry has one tag and `subpages` frames, each stored as frame + 1 with 0 for "not here". A tag is never 0. */
#ifndef PW_POLICY_TLB_WIDE_H
#define PW_POLICY_TLB_WIDE_H

#include <stdint.h>
#include <string.h>

#define WIDE_NONE UINT32_MAX

enum { WIDE_BUCKET_ROOM = 12, WIDE_BUCKET_LOAD = 4, WIDE_PLACE_BITS = 4 };

typedef uint8_t wide_signatures __attribute__((vector_size(16)));

struct wide_bucket {
    _Alignas(64) uint8_t signatures[WIDE_BUCKET_ROOM]; /* 0 where no entry is */
    uint32_t away;                                     /* entries that found it full */
    uint32_t entries[WIDE_BUCKET_ROOM];
};
_Static_assert(sizeof(struct wide_bucket) == 64, "a bucket is one host cache line");

struct wide_entry {
    uint64_t tag;
    uint32_t slot; /* bucket << WIDE_PLACE_BITS | place, or WIDE_NONE */
    uint32_t newer, older;
    uint32_t frames[];
};

struct wide {
    unsigned char *entries;
    struct wide_bucket *buckets; /* they follow the entries; what lies between is zero */
    uint32_t *last;              /* by set */
    uint32_t hash_shift;
    uint32_t step; /* from entry to entry, in units of 8 bytes */
    uint32_t subpages;
};

static inline struct wide_entry *wide_at(const struct wide *w, uint32_t at)
{
    return (struct wide_entry *)(void *)(w->entries + (size_t)at * 8);
}

static inline uint64_t wide_hash(uint64_t tag)
{
    return tag * 0x9e3779b97f4a7c15;
}

static inline uint32_t wide_bucket_of(const struct wide *w, uint64_t hash)
{
    return (uint32_t)(hash >> w->hash_shift);
}

/* Never 0. */
static inline uint8_t wide_signature(const struct wide *w, uint64_t hash)
{
    uint8_t byte = (uint8_t)(hash >> (w->hash_shift - 8));
    return (uint8_t)(byte + !byte);
}

/* Places 0 to 7 and places 8 to 11 of a bucket, a byte for each, which is 0 where the signature is another one. */
struct wide_matches {
    uint64_t low, high;
};

static inline struct wide_matches wide_match(const struct wide_bucket *b, uint8_t signature)
{
    typedef uint64_t two_words __attribute__((vector_size(16)));
    uint64_t eight = signature * 0x0101010101010101ULL;
    wide_signatures wanted = (wide_signatures)(two_words){eight, eight};
    two_words equal = (two_words)(*(const wide_signatures *)(const void *)b == wanted);
    return (struct wide_matches){equal[0], (uint32_t)equal[1]};
}

/* The first place that matches; one must. */
static inline uint32_t wide_first(struct wide_matches m)
{
    return (uint32_t)(m.low ? __builtin_ctzll(m.low) : 64 + __builtin_ctzll(m.high)) / 8;
}

__attribute__((noinline, cold)) static uint32_t wide_search(const struct wide *w, uint64_t tag)
{
    uint32_t outer = (uint32_t)(((const unsigned char *)w->buckets - w->entries) / 8);
    for (uint32_t at = 0; at < outer; at += w->step)
        if (wide_at(w, at)->tag == tag)
            return at;
    return WIDE_NONE;
}

static inline uint32_t wide_find(const struct wide *w, uint64_t tag)
{
    uint64_t hash = wide_hash(tag);
    const struct wide_bucket *b = &w->buckets[wide_bucket_of(w, hash)];
    struct wide_matches m = wide_match(b, wide_signature(w, hash));
    while (m.low | m.high) {
        uint32_t place = wide_first(m), at = b->entries[place];
        if (__builtin_expect(wide_at(w, at)->tag == tag, 1))
            return at;
        if (place < 8)
            m.low &= ~(0xffULL << place * 8);
        else
            m.high &= ~(0xffULL << (place - 8) * 8);
    }
    return __builtin_expect(b->away != 0, 0) ? wide_search(w, tag) : WIDE_NONE;
}

static inline void wide_unlink(const struct wide *w, struct wide_entry *e)
{
    wide_at(w, e->newer)->older = e->older;
    wide_at(w, e->older)->newer = e->newer;
}

/* Puts the entry into the ring between the least and the most recently used of the set. */
static inline void wide_link(const struct wide *w, uint32_t set, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at), *last = wide_at(w, w->last[set]);
    e->newer = w->last[set];
    e->older = last->older;
    wide_at(w, e->older)->newer = at;
    last->older = at;
}

static inline void wide_promote(struct wide *w, uint32_t set, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at);
    if (w->last[set] == at) {
        w->last[set] = e->newer;
    } else if (e->newer != w->last[set]) { /* not the most recently used already */
        wide_unlink(w, e);
        wide_link(w, set, at);
    }
}

/* The least recently used entry; an empty one, where there is one. */
static inline uint32_t wide_last(const struct wide *w, uint32_t set)
{
    return w->last[set];
}

static inline void wide_unhash(struct wide *w, struct wide_entry *e)
{
    if (__builtin_expect(e->slot != WIDE_NONE, 1))
        w->buckets[e->slot >> WIDE_PLACE_BITS].signatures[e->slot % (1U << WIDE_PLACE_BITS)] = 0;
    else
        w->buckets[wide_bucket_of(w, wide_hash(e->tag))].away--;
    e->tag = 0;
}

static inline void wide_enter(struct wide *w, struct wide_entry *e, uint32_t at, uint64_t tag)
{
    uint64_t hash = wide_hash(tag);
    uint32_t bucket = wide_bucket_of(w, hash);
    struct wide_bucket *b = &w->buckets[bucket];
    struct wide_matches empty = wide_match(b, 0);
    e->tag = tag;
    if (__builtin_expect(!(empty.low | empty.high), 0)) {
        e->slot = WIDE_NONE;
        b->away++;
        return;
    }
    uint32_t place = wide_first(empty);
    b->signatures[place] = wide_signature(w, hash);
    b->entries[place] = at;
    e->slot = bucket << WIDE_PLACE_BITS | place;
}

/* Gives an entry to a new tag and makes it the most recently used. The frames are cleared, but for a single one, which
 * the caller is about to set. */
static inline void wide_replace(struct wide *w, uint32_t set, uint32_t at, uint64_t tag)
{
    wide_promote(w, set, at);
    struct wide_entry *e = wide_at(w, at);
    if (e->tag)
        wide_unhash(w, e);
    wide_enter(w, e, at, tag);
    if (w->subpages > 1)
        memset(e->frames, 0, w->subpages * sizeof e->frames[0]);
}

/* Empties an entry and makes it the least recently used. */
static inline void wide_drop(struct wide *w, uint32_t set, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at);
    wide_unhash(w, e);
    if (w->last[set] == at)
        return;
    if (e->newer != w->last[set]) {
        wide_unlink(w, e);
        wide_link(w, set, at);
    }
    w->last[set] = at;
}

#endif
