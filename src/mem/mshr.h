/* Miss status holding registers: which misses are outstanding, and who waits for each.
 *
 * A fixed number of entries in an index pool, found through a hash of the key; requests that merge into a miss are
 * linked through themselves. Used by the L1 data caches and the L2 slices; the TLBs keep who waits beside the
 * entries. */
#ifndef PW_MEM_MSHR_H
#define PW_MEM_MSHR_H

#include "mem/request.h"

struct pw_mshr_entry {
    _Alignas(32) uint64_t key;
    uint64_t mask;           /* belongs to the user: sectors under way, warps waiting */
    struct pw_request *last; /* of those that wait, in a ring: the last one's next is the first */
    uint32_t chain;          /* next entry in the same bucket, or in the free list */
    bool fill;               /* belongs to the user too: somebody who waits wants the line in the cache */
    bool absent;             /* and this: the line is known not to be there, since only its arrival would bring it */
};

struct pw_mshr {
    struct pw_mshr_entry *entries;
    uint32_t *buckets;
    uint32_t in_use;
    uint32_t bucket_mask;
    uint32_t free;  /* the first of those given back, or UINT32_MAX */
    uint32_t fresh; /* this one and all above were never used, and the host has no memory behind them */
    uint32_t capacity;
};

enum pw_status pw_mshr_init(struct pw_mshr *m, const char *name, uint32_t capacity, struct pw_error *err);
void pw_mshr_release(struct pw_mshr *m);

static inline bool pw_mshr_full(const struct pw_mshr *m)
{
    return m->in_use == m->capacity;
}

static inline uint32_t pw_mshr_bucket(const struct pw_mshr *m, uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 40) & m->bucket_mask;
}

static inline struct pw_mshr_entry *pw_mshr_find(const struct pw_mshr *m, uint64_t key)
{
    for (uint32_t i = m->buckets[pw_mshr_bucket(m, key)]; i != UINT32_MAX; i = m->entries[i].chain)
        if (m->entries[i].key == key)
            return &m->entries[i];
    return NULL;
}

/* Asks the host to have the key's bucket at hand for a search that is soon to come. */
static inline void pw_mshr_prefetch(const struct pw_mshr *m, uint64_t key)
{
    __builtin_prefetch(&m->buckets[pw_mshr_bucket(m, key)]);
}

static inline uint32_t pw_mshr_take(struct pw_mshr *m)
{
    uint32_t i = m->free;
    if (i == UINT32_MAX)
        return m->fresh++;
    m->free = m->entries[i].chain;
    return i;
}

/* Adds an entry for a key that has none; requires that it is not full. */
static inline struct pw_mshr_entry *pw_mshr_add(struct pw_mshr *m, uint64_t key)
{
    uint32_t i = pw_mshr_take(m);
    struct pw_mshr_entry *e = &m->entries[i];
    uint32_t *bucket = &m->buckets[pw_mshr_bucket(m, key)];
    m->in_use++;
    *e = (struct pw_mshr_entry){.key = key, .chain = *bucket};
    *bucket = i;
    return e;
}

/* An entry's place, by which it is found again without a search as long as it lives. */
static inline uint32_t pw_mshr_place(const struct pw_mshr *m, const struct pw_mshr_entry *e)
{
    return (uint32_t)(e - m->entries);
}

/* Lets a request wait for this miss, behind those that wait already. */
static inline void pw_mshr_wait(struct pw_mshr_entry *e, struct pw_request *r)
{
    if (e->last) {
        r->next = e->last->next;
        e->last->next = r;
    } else {
        r->next = r;
    }
    e->last = r;
}

/* Takes all that wait, first come first, as a list that ends with NULL. */
static inline struct pw_request *pw_mshr_take_waiting(struct pw_mshr_entry *e)
{
    if (!e->last)
        return NULL;
    struct pw_request *first = e->last->next;
    e->last->next = NULL;
    e->last = NULL;
    return first;
}

/* A cache keeps in the mask which sectors of a line it has asked for, in the low bits, and which have arrived. */
enum { PW_MSHR_ASKED = 0xf, PW_MSHR_ARRIVED_SHIFT = 4 };

static inline uint32_t pw_mshr_asked(const struct pw_mshr_entry *e)
{
    return e->mask & PW_MSHR_ASKED;
}

static inline uint32_t pw_mshr_arrived(const struct pw_mshr_entry *e)
{
    return (uint32_t)(e->mask >> PW_MSHR_ARRIVED_SHIFT);
}

static inline void pw_mshr_arrive(struct pw_mshr_entry *e, uint8_t sectors)
{
    e->mask |= (uint64_t)sectors << PW_MSHR_ARRIVED_SHIFT;
}

/* Takes those that wait whose sectors have all arrived, as the function above does; the others go on waiting. */
static inline struct pw_request *pw_mshr_take_arrived(struct pw_mshr_entry *e)
{
    if (!e->last)
        return NULL;
    uint32_t arrived = pw_mshr_arrived(e);
    struct pw_request *first = NULL, **end = &first, *r = pw_mshr_take_waiting(e);
    for (struct pw_request *next; r; r = next) {
        next = r->next;
        if ((arrived & r->sectors) == r->sectors) {
            *end = r;
            end = &r->next;
        } else {
            pw_mshr_wait(e, r);
        }
    }
    *end = NULL;
    return first;
}

/* Removes an entry that nobody waits for any more. */
static inline void pw_mshr_remove(struct pw_mshr *m, struct pw_mshr_entry *e)
{
    uint32_t i = pw_mshr_place(m, e);
    uint32_t *link = &m->buckets[pw_mshr_bucket(m, e->key)];
    while (*link != i)
        link = &m->entries[*link].chain;
    *link = e->chain;
    e->chain = m->free;
    m->free = i;
    m->in_use--;
}

#endif
