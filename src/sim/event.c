/* The slow paths of the event queue, and its loop. The design is described in event.h. */
#include "sim/event.h"

#include "sim/host_memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_PER_CHUNK = PW_HUGE_BYTES / sizeof(struct pw_event_block) - 1,
    WORDS = PW_WHEEL_CYCLES / 64,
    LOOK_AHEAD = 2
};

struct pw_event_chunk {
    struct pw_event_block blocks[BLOCKS_PER_CHUNK];
    struct pw_event_chunk *next;
};

struct pw_events *pw_events_create(struct pw_error *err)
{
    struct pw_events *q = calloc(1, sizeof *q);
    if (!q)
        pw_fail_memory(err, "event queue");
    return q;
}

void pw_events_destroy(struct pw_events *q)
{
    if (!q)
        return;
    for (struct pw_event_chunk *c = q->chunks, *next; c; c = next) {
        next = c->next;
        pw_host_memory_free(c);
    }
    free(q->heap);
    free(q);
}

void pw_events_out_of_memory(struct pw_events *q)
{
    q->out_of_memory = true;
    if (q->stop)
        *q->stop = true;
}

static bool grow(struct pw_events *q)
{
    struct pw_event_chunk *c = pw_host_memory(1, sizeof *c);
    if (!c) {
        pw_events_out_of_memory(q);
        return false;
    }
    c->next = q->chunks;
    q->chunks = c;
    for (size_t i = 0; i < BLOCKS_PER_CHUNK; i++)
        c->blocks[i].next = i + 1 < BLOCKS_PER_CHUNK ? &c->blocks[i + 1] : NULL;
    q->free = c->blocks;
    return true;
}

/* Puts an event into a new block at the end of its bucket. */
static void begin_block(struct pw_events *q, size_t slot, struct pw_event event)
{
    if (!q->free && !grow(q))
        return;
    struct pw_event_block *block = q->free;
    struct pw_bucket *b = &q->wheel[slot];
    q->free = block->next;
    block->next = NULL;
    block->events[0] = event;
    block->end = block->events + 1;
    if (b->last)
        b->last->next = block;
    else
        b->first = block;
    b->last = block;
    q->occupied[slot / 64] |= 1ULL << (slot % 64);
    q->pending++;
}

static bool earlier(const struct pw_late_event *a, const struct pw_late_event *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static void post_late(struct pw_events *q, pw_cycle time, struct pw_event event)
{
    if (q->heap_count == q->heap_capacity) {
        size_t capacity = q->heap_capacity ? 2 * q->heap_capacity : 256;
        struct pw_late_event *grown = realloc(q->heap, capacity * sizeof *grown);
        if (!grown) {
            pw_events_out_of_memory(q);
            return;
        }
        q->heap = grown;
        q->heap_capacity = capacity;
    }
    struct pw_late_event late = {time, q->sequence++, event};
    q->pending++;
    size_t i = q->heap_count++;
    while (i > 0 && earlier(&late, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = late;
}

void pw_events_post_slowly(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object, uint64_t argument)
{
    struct pw_event event = {run, object, argument};
    if (time - q->now >= PW_WHEEL_CYCLES)
        post_late(q, time, event);
    else
        begin_block(q, time & (PW_WHEEL_CYCLES - 1), event);
}

static struct pw_late_event pop_late(struct pw_events *q)
{
    struct pw_late_event top = q->heap[0];
    struct pw_late_event last = q->heap[--q->heap_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < q->heap_count; i = child) {
        if (child + 1 < q->heap_count && earlier(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!earlier(&q->heap[child], &last))
            break;
        q->heap[i] = q->heap[child];
    }
    if (q->heap_count)
        q->heap[i] = last;
    return top;
}

/* Advances time to `now` and moves every late event that the window now reaches into its bucket. Called before any
 * event at `now` runs, so that those posted from then on queue up behind the older ones. */
static void advance(struct pw_events *q, pw_cycle now)
{
    q->now = now;
    while (q->heap_count && q->heap[0].time - now < PW_WHEEL_CYCLES) {
        struct pw_late_event late = pop_late(q);
        q->pending--;
        pw_events_post(q, late.time, late.event.run, late.event.object, late.event.argument);
    }
}

/* The time of the first event in the wheel, searching from `now` onwards round the bitmap. */
static pw_cycle next_in_wheel(const struct pw_events *q)
{
    size_t start = q->now & (PW_WHEEL_CYCLES - 1);
    uint64_t bits = q->occupied[start / 64] & (~0ULL << (start % 64));
    for (size_t i = 0, word = start / 64; i <= WORDS; i++) {
        if (bits) {
            size_t slot = word * 64 + (size_t)__builtin_ctzll(bits);
            return q->now + ((slot - start) & (PW_WHEEL_CYCLES - 1));
        }
        word = (word + 1) % WORDS;
        bits = q->occupied[word];
    }
    return PW_NEVER;
}

pw_cycle pw_events_next_time(const struct pw_events *q)
{
    pw_cycle wheel = next_in_wheel(q);
    if (wheel != PW_NEVER)
        return wheel;
    return q->heap_count ? q->heap[0].time : PW_NEVER;
}

/* Runs the events of one block, to which more may be added meanwhile; returns how far it came. */
static struct pw_event *run_block(struct pw_event_block *block, pw_cycle time, const volatile bool *stop)
{
    struct pw_event *event = block->events;
    for (; event < block->end && !*stop; event++) {
        /* An argument is mostly a request, and has left the host's caches by now. */
        if (event + LOOK_AHEAD < block->end)
            __builtin_prefetch((const void *)(uintptr_t)event[LOOK_AHEAD].argument);
        event->run(event->object, event->argument, time);
    }
    return event;
}

/* Runs the bucket of `time`; returns how many events ran. What is left after a stop stays. */
static uint64_t run_bucket(struct pw_events *q, pw_cycle time, const volatile bool *stop)
{
    size_t slot = time & (PW_WHEEL_CYCLES - 1);
    struct pw_bucket *b = &q->wheel[slot];
    uint64_t executed = 0;
    while (b->first) {
        struct pw_event_block *block = b->first;
        struct pw_event *left = run_block(block, time, stop);
        executed += (uint64_t)(left - block->events);
        if (left < block->end) {
            size_t count = (size_t)(block->end - left);
            memmove(block->events, left, count * sizeof *left);
            block->end = block->events + count;
            break;
        }
        b->first = block->next;
        if (!b->first)
            b->last = NULL;
        block->next = q->free;
        q->free = block;
    }
    if (!b->first)
        q->occupied[slot / 64] &= ~(1ULL << (slot % 64));
    q->pending -= executed;
    return executed;
}

uint64_t pw_events_run(struct pw_events *q, pw_cycle limit, volatile bool *stop)
{
    uint64_t executed = 0;
    q->stop = stop;
    while (q->pending && !*stop) {
        pw_cycle time = pw_events_next_time(q);
        if (time >= limit)
            break;
        if (time != q->now || q->heap_count)
            advance(q, time);
        executed += run_bucket(q, time, stop);
    }
    q->stop = NULL;
    q->executed += executed;
    return executed;
}
