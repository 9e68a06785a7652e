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

enum { PW_EVENTS_PER_BLOCK = 10 };

struct pw_event_block {
    _Alignas(64) struct pw_event_block *next;
    struct pw_event *end; /* of those in it */
    struct pw_event events[PW_EVENTS_PER_BLOCK];
};

struct pw_bucket {
    struct pw_event_block *first;
    struct pw_event_block *last;
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
    size_t pending;
    size_t epochs; /* of those, calls at epochs (sim/policy.h), for which nothing waits */
    struct pw_event_block *free;
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
    struct pw_event_block *last = q->wheel[time & (PW_WHEEL_CYCLES - 1)].last;
    if (time - q->now >= PW_WHEEL_CYCLES || !last || last->end == last->events + PW_EVENTS_PER_BLOCK) {
        pw_events_post_slowly(q, time, run, object, argument);
        return;
    }
    *last->end++ = (struct pw_event){run, object, argument};
    q->pending++;
}

/* Runs events in order until none is left before `limit` (exclusive) or `*stop` becomes true. Returns the number run.
 * Time stands at the last event run, never beyond it. */
uint64_t pw_events_run(struct pw_events *q, pw_cycle limit, volatile bool *stop);

/* Memory is out, here or in a unit that lives on this queue: sets out_of_memory and *stop, so that no event runs after
 * the present one. What cannot be had may be left out until then. */
void pw_events_out_of_memory(struct pw_events *q);

/* Whether nothing is left to happen, epochs aside. */
static inline bool pw_events_idle(const struct pw_events *q)
{
    return q->pending == q->epochs;
}

/* The time of the next event, or PW_NEVER. */
pw_cycle pw_events_next_time(const struct pw_events *q);

#endif
