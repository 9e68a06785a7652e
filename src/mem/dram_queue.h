/* The requests that wait in a DRAM channel: reads apart from writes, a list per bank in order of age.
 *
 * A request waits for hundreds of cycles among thousands of others, and the host has long dropped it from its caches
 * when it is looked at again. So it gets a place in a pool as long as the queues, and lists are chains of places: a
 * search for a row reads eight bytes per request. The request itself is touched when it comes and when it is served; it
 * is called back into the host's caches when it becomes the next of its row.
 *
 * Each list knows its first request for the bank's open row (a hit) and its first for another. While a row is open the
 * search for its next hit goes on from the last, so it passes every request once. The side that is not being served
 * learns of rows only when its turn comes: writes are searched once per turn and not with every row that reads open.
 *
 * Only the channel (dram.c) changes lists; a policy sees struct pw_dram_side, which this file keeps. */
#ifndef PW_MEM_DRAM_QUEUE_H
#define PW_MEM_DRAM_QUEUE_H

#include "policy/dram/dram_policy.h"

#include <stdlib.h>

/* What is kept of a request, and its link in a list. Place 0 is none and ends every list. */
struct pw_dram_entry {
    uint64_t age;
    pw_cycle queued; /* when it came */
    struct pw_request *r;
};

struct pw_dram_link {
    uint32_t row;
    uint16_t next, before;
};

struct pw_dram_list {
    uint16_t first, last;
    uint16_t hit, other; /* the first for the open row and the first for another */
};

struct pw_dram_lists {
    struct pw_dram_side seen;
    uint64_t outdated; /* banks whose row was opened or closed while the other side was served */
    struct pw_dram_list list[PW_DRAM_MAX_BANKS];
};

struct pw_dram_queue {
    struct pw_dram_entry *entries;
    struct pw_dram_link *links;
    uint16_t free;
    struct pw_dram_lists side[2]; /* 0 reads, 1 writes */
};

/* False when memory is out. All members of the queue must be zero; what was allocated is released by the other. */
static inline bool pw_dram_queue_init(struct pw_dram_queue *q, uint32_t count)
{
    q->entries = calloc(count + 1, sizeof(*q->entries));
    q->links = calloc(count + 1, sizeof(*q->links));
    for (uint32_t i = 1; q->links && i <= count; i++) {
        q->links[i].next = q->free;
        q->free = (uint16_t)i;
    }
    return q->entries && q->links;
}

static inline void pw_dram_queue_release(struct pw_dram_queue *q)
{
    free(q->entries);
    free(q->links);
}

static inline void pw_dram_set_hit(struct pw_dram_queue *q, struct pw_dram_lists *side, uint32_t bank, uint16_t i)
{
    side->list[bank].hit = i;
    if (i) {
        side->seen.hits |= 1ULL << bank;
        side->seen.hit_age[bank] = q->entries[i].age;
        __builtin_prefetch(q->entries[i].r);
    } else {
        side->seen.hits &= ~(1ULL << bank);
    }
}

static inline void pw_dram_set_other(struct pw_dram_queue *q, struct pw_dram_lists *side, uint32_t bank, uint16_t i)
{
    side->list[bank].other = i;
    if (i) {
        side->seen.others |= 1ULL << bank;
        side->seen.other_age[bank] = q->entries[i].age;
    } else {
        side->seen.others &= ~(1ULL << bank);
    }
}

/* Adds a request for a row, which is the bank's open one or not; whether it has become the first of these. */
static inline bool pw_dram_queue_add(struct pw_dram_queue *q, struct pw_dram_lists *side, uint32_t bank, uint32_t row,
                                     bool hit, struct pw_dram_entry what)
{
    struct pw_dram_link *links = q->links;
    struct pw_dram_list *l = &side->list[bank];
    uint16_t i = q->free, before = l->last;
    q->free = links[i].next;
    while (before && q->entries[before].age > what.age)
        before = links[before].before;
    uint16_t *chain = before ? &links[before].next : &l->first;
    uint16_t next = *chain;
    *chain = i;
    *(next ? &links[next].before : &l->last) = i;
    links[i] = (struct pw_dram_link){row, next, before};
    q->entries[i] = what;
    uint16_t first = hit ? l->hit : l->other;
    if (first && q->entries[first].age < what.age)
        return false;
    if (hit)
        pw_dram_set_hit(q, side, bank, i);
    else
        pw_dram_set_other(q, side, bank, i);
    return true;
}

/* A row has been opened: sorts out which requests of the bank wait for it. */
static inline void pw_dram_queue_open(struct pw_dram_queue *q, struct pw_dram_lists *side, uint32_t bank, uint32_t row)
{
    uint16_t hit = side->list[bank].first, other = hit;
    if (!hit)
        return;
    while (hit && q->links[hit].row != row)
        hit = q->links[hit].next;
    while (other && q->links[other].row == row)
        other = q->links[other].next;
    pw_dram_set_hit(q, side, bank, hit);
    pw_dram_set_other(q, side, bank, other);
}

/* The row has been closed: requests for it that are left wait again. */
static inline void pw_dram_queue_close(struct pw_dram_queue *q, struct pw_dram_lists *side, uint32_t bank)
{
    if (!side->list[bank].hit)
        return;
    pw_dram_set_hit(q, side, bank, 0);
    pw_dram_set_other(q, side, bank, side->list[bank].first);
}

/* Removes a bank's first hit. The entry stays as it is until the next request is added. */
static inline const struct pw_dram_entry *pw_dram_take_hit(struct pw_dram_queue *q, struct pw_dram_lists *side,
                                                           uint32_t bank)
{
    struct pw_dram_link *links = q->links;
    struct pw_dram_list *l = &side->list[bank];
    uint16_t taken = l->hit;
    struct pw_dram_link link = links[taken];
    *(link.before ? &links[link.before].next : &l->first) = link.next;
    *(link.next ? &links[link.next].before : &l->last) = link.before;
    links[taken].next = q->free;
    q->free = taken;
    uint16_t hit = link.next;
    while (hit && links[hit].row != link.row)
        hit = links[hit].next;
    pw_dram_set_hit(q, side, bank, hit);
    return &q->entries[taken];
}

#endif
