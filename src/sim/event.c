/* The slow paths of the event queue, and its loop. The design is described in event.h. */
#include "sim/event.h"

#include "sim/host_memory.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#define COLD __attribute__((cold, noinline))

enum { WORDS = PW_WHEEL_CYCLES / 64 };
_Static_assert(WORDS == 64, "one word says which words of the bitmap are in use");

/* Puts the end of a full block at a multiple of its size. */
enum { BEFORE_BLOCKS = PW_EVENTS_AHEAD * sizeof(struct pw_event) };
enum { BLOCKS_PER_CHUNK = (PW_HUGE_BYTES - BEFORE_BLOCKS) / sizeof(struct pw_event_block) };

/* Aligned to PW_HUGE_BYTES. */
struct pw_event_chunk {
    union {
        struct pw_event_chunk *next;
        unsigned char before[BEFORE_BLOCKS];
    };
    struct pw_event_block blocks[BLOCKS_PER_CHUNK];
};
_Static_assert((offsetof(struct pw_event_chunk, blocks) +
                offsetof(struct pw_event_block, events[PW_EVENTS_PER_BLOCK])) %
                       PW_EVENT_BLOCK_BYTES ==
                   0,
               "the end of a full block is a multiple of its size");

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

static bool earlier(const struct pw_late_event *a, const struct pw_late_event *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static COLD void post_late(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object, uint64_t argument)
{
    assert(time >= q->now);
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
    struct pw_late_event late = {time, q->sequence++, {run, object, argument}};
    size_t i = q->heap_count++;
    while (i > 0 && earlier(&late, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = late;
}

static COLD void post_with_more_blocks(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object,
                                       uint64_t argument)
{
    if (grow(q))
        pw_events_post_slowly(q, time, run, object, argument);
}

/* The block that is full with the event before `end`. */
static struct pw_event_block *full_block(struct pw_event *end)
{
    return (struct pw_event_block *)(void *)((unsigned char *)end -
                                             offsetof(struct pw_event_block, events[PW_EVENTS_PER_BLOCK]));
}

/* Puts an event into a new block at the end of its bucket. What is rare is called last, so that no registers are saved
 * for it. */
void pw_events_post_slowly(struct pw_events *q, pw_cycle time, pw_event_fn *run, void *object, uint64_t argument)
{
    struct pw_event_block *block = q->free;
    if (time - q->now >= PW_WHEEL_CYCLES) {
        post_late(q, time, run, object, argument);
        return;
    }
    if (!block) {
        post_with_more_blocks(q, time, run, object, argument);
        return;
    }
    size_t slot = time & (PW_WHEEL_CYCLES - 1);
    struct pw_bucket *b = &q->wheel[slot];
    q->free = block->next;
    block->next = NULL;
    block->events[0] = (struct pw_event){run, object, argument};
    if (b->end) {
        full_block(b->end)->next = block;
    } else {
        b->first = block;
        q->occupied[slot / 64] |= 1ULL << (slot % 64);
        q->words |= 1ULL << (slot / 64);
    }
    b->end = block->events + 1;
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
static inline void advance(struct pw_events *q, pw_cycle now)
{
    q->now = now;
    while (q->heap_count && q->heap[0].time - now < PW_WHEEL_CYCLES) {
        struct pw_late_event late = pop_late(q);
        pw_events_post(q, late.time, late.event.run, late.event.object, late.event.argument);
    }
}

void pw_events_advance(struct pw_events *q, pw_cycle time)
{
    assert(time >= q->now && pw_events_next_time(q) >= time);
    advance(q, time);
}

/* The time of the first event in the wheel, searching from `now` onwards round the bitmap. */
static pw_cycle next_in_wheel(const struct pw_events *q)
{
    size_t start = q->now & (PW_WHEEL_CYCLES - 1), word = start / 64;
    uint64_t bits = q->occupied[word] & (~0ULL << (start % 64));
    if (!bits) {
        if (!q->words)
            return PW_NEVER;
        size_t from = (word + 1) % WORDS; /* round to `word` itself, whose later bits are 0 */
        uint64_t words = q->words >> from | q->words << (-from % WORDS);
        word = (from + (size_t)__builtin_ctzll(words)) % WORDS;
        bits = q->occupied[word];
    }
    size_t slot = word * 64 + (size_t)__builtin_ctzll(bits);
    return q->now + ((slot - start) & (PW_WHEEL_CYCLES - 1));
}

pw_cycle pw_events_next_time(const struct pw_events *q)
{
    pw_cycle wheel = next_in_wheel(q);
    if (wheel != PW_NEVER)
        return wheel;
    return q->heap_count ? q->heap[0].time : PW_NEVER;
}

static void clear_bucket(struct pw_events *q, size_t slot)
{
    q->wheel[slot].end = NULL;
    q->occupied[slot / 64] &= ~(1ULL << (slot % 64));
    if (!q->occupied[slot / 64])
        q->words &= ~(1ULL << (slot / 64));
}

/* Runs events up to `end` or a stop; returns how far it came. */
static struct pw_event *run_row(struct pw_event *event, const struct pw_event *end, pw_cycle time,
                                const volatile bool *stop)
{
    /* An argument is mostly a request, and has left the host's caches by now. Whether there is something to look ahead
     * to is not asked for each event, which would often be predicted wrongly: behind the last ones an old event is
     * read, which does no harm. */
    size_t ahead = end - event > PW_EVENTS_AHEAD ? PW_EVENTS_AHEAD : 0;
    for (; event < end && !*stop; event++) {
        __builtin_prefetch((const void *)(uintptr_t)event[ahead].argument);
        event->run(event->object, event->argument, time);
    }
    return event;
}

/* Runs the bucket of `time`, to which more may be added meanwhile; returns how many bytes of events ran. What is left
 * after a stop stays. */
static size_t run_bucket(struct pw_events *q, pw_cycle time, const volatile bool *stop)
{
    size_t slot = time & (PW_WHEEL_CYCLES - 1), ran = 0;
    struct pw_bucket *b = &q->wheel[slot];
    struct pw_event_block *block = b->first;
    struct pw_event *event = q->left ? q->left : block->events;
    q->left = NULL;
    for (;;) {
        struct pw_event *begin = event, *full = block->events + PW_EVENTS_PER_BLOCK;
        event = run_row(event, block->next ? full : b->end, time, stop);
        ran += (size_t)((char *)event - (char *)begin);
        bool empty = event == b->end;
        if (!empty && *stop) {
            q->left = event;
            b->first = block;
            return ran;
        }
        if (!empty && event != full)
            continue;
        struct pw_event_block *next = block->next;
        block->next = q->free;
        q->free = block;
        if (!next) /* the bucket is empty */
            break;
        block = next;
        event = block->events;
    }
    clear_bucket(q, slot);
    return ran;
}

/* Runs the bucket of `time`, which has one event: how most are where little happens at once. What that posts for the
 * same cycle is left for the next look at the bucket. */
static void run_single(struct pw_events *q, struct pw_bucket *b, pw_cycle time)
{
    struct pw_event_block *block = b->first;
    struct pw_event *event = block->events;
    event->run(event->object, event->argument, time);
    if (b->end != event + 1) {
        q->left = event + 1;
        return;
    }
    block->next = q->free;
    q->free = block;
    clear_bucket(q, time & (PW_WHEEL_CYCLES - 1));
}

uint64_t pw_events_run(struct pw_events *q, pw_cycle limit, volatile bool *stop)
{
    uint64_t ran = 0;
    q->stop = stop;
    while (!*stop) {
        pw_cycle time = pw_events_next_time(q);
        if (time >= limit)
            break;
        if (time != q->now || q->heap_count)
            advance(q, time);
        struct pw_bucket *b = &q->wheel[time & (PW_WHEEL_CYCLES - 1)];
        if (b->end == b->first->events + 1 && !q->left) {
            run_single(q, b, time);
            ran += sizeof(struct pw_event);
        } else {
            ran += run_bucket(q, time, stop);
        }
    }
    q->stop = NULL;
    q->executed += ran / sizeof(struct pw_event);
    return ran / sizeof(struct pw_event);
}

void pw_events_leap(struct pw_events *q, pw_cycle limit, volatile bool *stop)
{
    assert(pw_events_asleep(q));
    q->rests = limit;
    pw_events_run(q, limit, stop);
    q->rests = 0;
}

static size_t pending_in(const struct pw_bucket *b)
{
    const struct pw_event_block *block = b->first;
    size_t count = 0;
    for (; block->next; block = block->next)
        count += PW_EVENTS_PER_BLOCK;
    return count + (size_t)(b->end - block->events);
}

size_t pw_events_pending(const struct pw_events *q)
{
    size_t count = q->heap_count;
    for (size_t word = 0; word < WORDS; word++)
        for (uint64_t bits = q->occupied[word]; bits; bits &= bits - 1)
            count += pending_in(&q->wheel[word * 64 + (size_t)__builtin_ctzll(bits)]);
    const struct pw_bucket *present = &q->wheel[q->now & (PW_WHEEL_CYCLES - 1)];
    return q->left ? count - (size_t)(q->left - present->first->events) : count;
}
