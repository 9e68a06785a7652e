/* Wide sets: more than 16 ways, found through a hash, with true LRU in linked lists.
 *
 * One hash over all sets leads to the entry in about one step, whether there are 17 entries or 8192. Each set is a ring
 * of its entries from the most to the least recently used, linked by index in both directions; `recent` is where it
 * begins. Entries that are empty are always last. So the victim is the one before `recent`, and making it the most
 * recently used only turns the ring: an insert changes no link of the ring at all.
 *
 * Links are counted in units of 8 bytes from the first entry, which saves a multiplication on the way to an entry. An
 * entry has one tag and `subpages` frames, each stored as frame + 1 with 0 for "not here". A tag is never 0. */
#ifndef PW_POLICY_TLB_WIDE_H
#define PW_POLICY_TLB_WIDE_H

#include <stdint.h>
#include <string.h>

#define WIDE_NONE UINT32_MAX

struct wide_entry {
    uint64_t tag;
    uint32_t chain; /* next entry of the same bucket */
    uint32_t newer, older;
    uint32_t frames[];
};

struct wide {
    unsigned char *entries;
    uint32_t *buckets;
    uint32_t *recent; /* by set */
    uint32_t hash_shift;
    uint32_t step; /* from entry to entry, in units of 8 bytes */
    uint32_t subpages;
};

static inline struct wide_entry *wide_at(const struct wide *w, uint32_t at)
{
    return (struct wide_entry *)(void *)(w->entries + (size_t)at * 8);
}

static inline uint32_t *wide_bucket(const struct wide *w, uint64_t tag)
{
    return &w->buckets[tag * 0x9e3779b97f4a7c15 >> w->hash_shift];
}

static inline uint32_t wide_find(const struct wide *w, uint64_t tag)
{
    uint32_t at = *wide_bucket(w, tag);
    while (at != WIDE_NONE && wide_at(w, at)->tag != tag)
        at = wide_at(w, at)->chain;
    return at;
}

static inline void wide_unlink(const struct wide *w, struct wide_entry *e)
{
    wide_at(w, e->newer)->older = e->older;
    wide_at(w, e->older)->newer = e->newer;
}

/* Puts the entry into the ring between the least and the most recently used of the set. */
static inline void wide_link(const struct wide *w, uint32_t set, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at), *recent = wide_at(w, w->recent[set]);
    e->older = w->recent[set];
    e->newer = recent->newer;
    wide_at(w, e->newer)->older = at;
    recent->newer = at;
}

static inline void wide_promote(struct wide *w, uint32_t set, uint32_t at)
{
    if (w->recent[set] == at)
        return;
    if (wide_at(w, w->recent[set])->newer != at) {
        wide_unlink(w, wide_at(w, at));
        wide_link(w, set, at);
    }
    w->recent[set] = at;
}

static inline void wide_unhash(struct wide *w, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at);
    uint32_t *link = wide_bucket(w, e->tag);
    while (*link != at)
        link = &wide_at(w, *link)->chain;
    *link = e->chain;
    e->tag = 0;
}

/* The least recently used entry; an empty one, where there is one. */
static inline uint32_t wide_last(const struct wide *w, uint32_t set)
{
    return wide_at(w, w->recent[set])->newer;
}

/* Gives an entry to a new tag and makes it the most recently used. The frames are cleared, but for a single one, which
 * the caller is about to set. */
static inline void wide_replace(struct wide *w, uint32_t set, uint32_t at, uint64_t tag)
{
    wide_promote(w, set, at);
    struct wide_entry *e = wide_at(w, at);
    if (e->tag)
        wide_unhash(w, at);
    uint32_t *bucket = wide_bucket(w, tag);
    e->tag = tag;
    e->chain = *bucket;
    *bucket = at;
    if (w->subpages > 1)
        memset(e->frames, 0, w->subpages * sizeof e->frames[0]);
}

/* Empties an entry and makes it the least recently used. */
static inline void wide_drop(struct wide *w, uint32_t set, uint32_t at)
{
    struct wide_entry *e = wide_at(w, at);
    wide_unhash(w, at);
    if (w->recent[set] == at) {
        w->recent[set] = e->older;
    } else {
        wide_unlink(w, e);
        wide_link(w, set, at);
    }
}

#endif
