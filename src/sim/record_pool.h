/* A pool of equal records: handed out and taken back, so that the hot path allocates nothing.
 *
 * Records come from chunks, which are returned only when the pool is destroyed. The first word of a record that is
 * free links it to the next one; otherwise all of it is its user's. Records are linked a few at a time, so that memory
 * that nobody needs is never touched.
 *
 * Nobody has to deal with a lack of memory: when there is none, the present event is the last one to run, and gets
 * by on a reserve that the owner of the pool provides. */
#ifndef PW_SIM_RECORD_POOL_H
#define PW_SIM_RECORD_POOL_H

#include "sim/event.h"

struct pw_record_chunk;

struct pw_record_pool {
    void *free;
    struct pw_record_chunk *chunks;
    unsigned char *fresh; /* of the newest chunk, those that were never handed out */
    size_t fresh_count;
    uint64_t in_use;
    struct pw_events *events; /* told when memory is out; NULL: nobody is */
    size_t bytes;             /* of a record, a multiple of a pointer's */
    size_t chunk_bytes;
    unsigned char *reserve; /* more records than one event puts into lists */
    size_t reserved;
    bool reserve_taken;
};

/* The pool must not be moved afterwards, nor its reserve. */
void pw_record_pool_init(struct pw_record_pool *p, struct pw_events *events, size_t bytes, size_t chunk_bytes,
                         void *reserve, size_t reserved);
void pw_record_pool_destroy(struct pw_record_pool *p);
void *pw_record_pool_grow(struct pw_record_pool *p);

/* Never NULL. */
static inline void *pw_record_take(struct pw_record_pool *p)
{
    void *record = p->free;
    if (__builtin_expect(!record, 0))
        record = pw_record_pool_grow(p);
    p->free = *(void **)record;
    p->in_use++;
    return record;
}

static inline void pw_record_give(struct pw_record_pool *p, void *record)
{
    *(void **)record = p->free;
    p->free = record;
    p->in_use--;
}

#endif
