/* Lines that wait for their translation, in a miss register of an L1 TLB or for a far fault, and are replayed when it
 * has come.
 *
 * A line is parked with what it takes to access it later. Once its translation is known it joins the list of lines that
 * the load-store unit replays (lsu.c). */
#ifndef PW_GPU_PARKED_H
#define PW_GPU_PARKED_H

#include "gpu/access_coalescing.h"
#include "sim/record_pool.h"

struct pw_parked_line {
    struct pw_parked_line *next;
    uint32_t within; /* number of the line in its page */
    uint32_t line;   /* physical, once its translation is known */
    uint32_t owner;  /* the load that waits, or PW_NO_OWNER */
    uint32_t since;  /* low bits of the time at which it was parked */
    uint32_t waited; /* how long it had waited for the miss register until then; kept for the breakdown only */
    uint8_t kind;    /* enum pw_request_kind */
    uint8_t sectors, full;
};
_Static_assert(sizeof(struct pw_parked_line) == 32, "a parked line is half a host cache line");

/* First in, first out. */
struct pw_parked_list {
    struct pw_parked_line *first, *last;
    uint32_t count;
};

/* An event parks the lines of at most one memory instruction. */
struct pw_parked_pool {
    struct pw_record_pool records;
    struct pw_parked_line reserve[PW_MAX_LINES];
};

static inline void pw_parked_pool_init(struct pw_parked_pool *p, struct pw_events *events)
{
    enum { CHUNK_BYTES = 128 << 10 };
    pw_record_pool_init(&p->records, events, sizeof p->reserve[0], CHUNK_BYTES, p->reserve, PW_MAX_LINES);
}

static inline void pw_parked_push(struct pw_parked_list *l, struct pw_parked_line *line)
{
    line->next = NULL;
    if (l->first)
        l->last->next = line;
    else
        l->first = line;
    l->last = line;
    l->count++;
}

/* Moves all lines of a list to the end of another one. */
static inline void pw_parked_move(struct pw_parked_list *from, struct pw_parked_list *to)
{
    if (!from->first)
        return;
    if (to->first)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (struct pw_parked_list){0};
}

/* Takes the first line out; there must be one. */
static inline struct pw_parked_line *pw_parked_pop(struct pw_parked_list *l)
{
    struct pw_parked_line *line = l->first;
    l->first = line->next;
    l->count--;
    __builtin_prefetch(l->first);
    return line;
}

#endif
