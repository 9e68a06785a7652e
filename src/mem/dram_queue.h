/* The lists of requests that wait for the banks of a DRAM channel: those for a bank's open row apart from the others,
 * both in order of age. Only the channel (dram.c) moves requests between them; policies look. */
#ifndef PW_MEM_DRAM_QUEUE_H
#define PW_MEM_DRAM_QUEUE_H

#include "policy/dram/dram_policy.h"

/* Puts r into a list ordered by age; whether it has become the first. */
static inline bool pw_dram_insert_ordered(struct pw_request **first, struct pw_request **last, struct pw_request *r)
{
    if (!*first || (*last)->age < r->age) {
        bool empty = !*first;
        r->next = NULL;
        *(empty ? first : &(*last)->next) = r;
        *last = r;
        return empty;
    }
    struct pw_request **at = first;
    while ((*at)->age < r->age)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    return at == first;
}

static inline void pw_dram_refresh_bank(struct pw_dram_side *side, uint32_t bank)
{
    struct pw_dram_bank_queue *q = &side->queue[bank];
    uint64_t bit = 1ULL << bank;
    side->hits = q->hit ? side->hits | bit : side->hits & ~bit;
    side->others = q->other ? side->others | bit : side->others & ~bit;
    if (q->hit)
        side->hit_age[bank] = q->hit->age;
    if (q->other)
        side->other_age[bank] = q->other->age;
}

/* After an activation: what waits for the row is now a hit. */
static inline void pw_dram_split_hits(struct pw_dram_side *side, uint32_t bank, uint32_t row)
{
    if (!(side->others >> bank & 1))
        return;
    struct pw_dram_bank_queue *q = &side->queue[bank];
    struct pw_request **at = &q->other, *last = NULL;
    for (struct pw_request *r = q->other; r; r = *at) {
        if (r->row == row) {
            *at = r->next;
            pw_dram_insert_ordered(&q->hit, &q->hit_last, r);
        } else {
            at = &r->next;
            last = r;
        }
    }
    q->other_last = last;
    pw_dram_refresh_bank(side, bank);
}

/* Before a precharge: hits that are left wait for their row again. */
static inline void pw_dram_merge_hits(struct pw_dram_side *side, uint32_t bank)
{
    struct pw_dram_bank_queue *q = &side->queue[bank];
    if (!(side->hits >> bank & 1))
        return;
    for (struct pw_request *r = q->hit, *next; r; r = next) {
        next = r->next;
        pw_dram_insert_ordered(&q->other, &q->other_last, r);
    }
    q->hit = NULL;
    pw_dram_refresh_bank(side, bank);
}

static inline struct pw_request *pw_dram_take_hit(struct pw_dram_side *side, uint32_t bank)
{
    struct pw_dram_bank_queue *q = &side->queue[bank];
    struct pw_request *r = q->hit;
    q->hit = r->next;
    if (q->hit)
        side->hit_age[bank] = q->hit->age;
    else
        side->hits &= ~(1ULL << bank);
    return r;
}

#endif
