/* The event queue: what happens next, in the order (time, sequence number).
 *
 * Nothing in the simulator ticks. A unit that has something to do later posts an event: a function, the object it
 * belongs to and one argument. Most events lie a few hundred cycles ahead, so the queue is a wheel of one-cycle
 * buckets, with a bitmap to find the next bucket in use; what lies beyond the wheel waits in a binary heap. Within one
 * cycle events run in the order in which they were posted, on any host. A bucket is a list of blocks of events that lie
 * side by side, so that the host reads them in a row and can look ahead to what the next ones will need.
 *
 * The order would break if an event were put into a bucket directly while an earlier-posted one for the same cycle
 * still sat in the heap. So the heap is drained into the wheel each time the wheel's window advances, before any
 * event of the new window runs. */
#ifndef PW_SIM_EVENT_H
#define PW_SIM_EVENT_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_events;

/* `now` is the time the event was posted for. */
typedef void pw_event_fn(void *object, uint64_t argument, pw_cycle now);

enum { PW_WHEEL_SHIFT = 12, PW_WHEEL_CYCLES = 1 << PW_WHEEL_SHIFT };

struct pw_event {
    pw_event_fn *run;
    void *object;
    uint64_t argument;
};

/* A block ends with spare places, which the loop reads when it looks ahead from the last events. Blocks lie such that
 * the place after the last event, the end of a full block, is a multiple of their size: a bucket whose end is such a
 * multiple has no room, and neither has one without a block, whose end is NULL. */
enum { PW_EVENT_BLOCK_BYTES = 512, PW_EVENTS_AHEAD = 2, PW_EVENTS_PER_BLOCK = 19 };

struct pw_event_block {
    struct pw_event_block *next; /* NULL: the last of its bucket */
    struct pw_event events[PW_EVENTS_PER_BLOCK + PW_EVENTS_AHEAD];
};
_Static_assert(sizeof(struct pw_event_block) == PW_EVENT_BLOCK_BYTES, "blocks follow one another without gaps");

/* All blocks but the last are full. */
struct pw_bucket {
    struct pw_event_block *first;
    struct pw_event *end; /* of the events in the last block */
};

struct pw_late_event {
    pw_cycle time;
    uint64_t sequence;
    struct pw_event event;
};

struct pw_events {
    pw_cycle now;
    uint64_t executed;
    bool out_of_memory;  /* something that the simulation needs could not be had, perhaps an event */
    volatile bool *stop; /* of the loop under way, or NULL */
    size_t epochs;       /* calls at epochs (sim/policy.h) among the events, for which nothing waits, */
    size_t single;       /* and those of them that cannot be made several at a time */
    pw_cycle rests;      /* nothing but calls at epochs happens before; 0: it is not known */
    struct pw_event_block *free;
    struct pw_event *left; /* where a stop has interrupted the bucket of `now`, or NULL */
    uint64_t words;        /* bit i: occupied[i] is not 0 */
    uint64_t occupied[PW_WHEEL_CYCLES / 64];
    struct pw_bucket wheel[PW_WHEEL_CYCLES];
    struct pw_late_event *heap;
    size_t heap_count, heap_capacity;
    uint64_t sequence;
    struct pw_event_chunk *chunks;
};

struct pw_events *pw_events_create(struct pw_error *err);
void pw_events_destroy(struct pw_events *q);

/* pw_events_post where the bucket has no block with room, or the time lies beyond the wheel. */
void pw_events_post_slowly(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object, uint64_t argument);

/* Posts an event for `time`, which must not lie in the past. The slow half is called last and with the same arguments,
 * so that the fast one saves no registers. */
static inline void pw_events_post(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object, uint64_t argument)
{
    struct pw_bucket *b = &q->wheel[time & (PW_WHEEL_CYCLES - 1)];
    struct pw_event *end = b->end;
    if (time - q->now >= PW_WHEEL_CYCLES || (uintptr_t)end % PW_EVENT_BLOCK_BYTES == 0) {
        pw_events_post_slowly(q, time, run, object, argument);
        return;
    }
    *end = (struct pw_event){run, object, argument};
    b->end = end + 1;
}

/* Runs events in order until none is left before `limit` (exclusive) or `*stop` becomes true. Returns the number run.
 * Time stands at the last event run, never beyond it. */
uint64_t pw_events_run(struct pw_events *q, pw_cycle limit, volatile bool *stop);

/* The same where nothing happens but calls at epochs (pw_events_asleep): they are made all at once, so that this takes
 * no longer for 10^15 cycles than for 10^6. */
void pw_events_leap(struct pw_events *q, pw_cycle limit, volatile bool *stop);

/* Time goes on to `time`, before which no event is left. */
void pw_events_advance(struct pw_events *q, pw_cycle time);

/* Memory is out, here or in a unit that lives on this queue: sets out_of_memory and *stop, so that no event runs after
 * the present one. What cannot be had may be left out until then. */
void pw_events_out_of_memory(struct pw_events *q);

/* How many events wait. Each call counts them, one block after another; not to be asked by an event. */
size_t pw_events_pending(const struct pw_events *q);

/* Whether nothing is left to happen, epochs aside. */
static inline bool pw_events_idle(const struct pw_events *q)
{
    return pw_events_pending(q) == q->epochs;
}

/* Whether it stays so until something is posted from outside, however long that takes. */
static inline bool pw_events_asleep(const struct pw_events *q)
{
    return !q->single && pw_events_idle(q);
}

/* The time of the next event, or PW_NEVER. */
pw_cycle pw_events_next_time(const struct pw_events *q);

#endif
