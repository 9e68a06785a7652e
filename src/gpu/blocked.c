/* Keeps the times at which something was blocked; blocked.h says what for. */
#include "gpu/blocked.h"

#include "sim/grow.h"

#include <assert.h>
#include <string.h>

void pw_blocked_free(struct pw_blocked *b)
{
    free(b->times);
}

static struct pw_blocked_time *last_of(const struct pw_blocked *b)
{
    return b->count ? &b->times[b->count - 1] : NULL;
}

/* The blocked cycles before t of this time and of all that came earlier. */
static uint64_t sum_at(const struct pw_blocked_time *time, pw_cycle t)
{
    return time->before + ((t < time->to ? t : time->to) - time->from);
}

void pw_blocked_begin(struct pw_blocked *b, pw_cycle now)
{
    struct pw_blocked_time *last = last_of(b);
    if (last && last->to >= now) {
        last->to = PW_NEVER;
        return;
    }
    assert(b->times && pw_blocked_has_room(b));
    b->times[b->count++] = (struct pw_blocked_time){now, PW_NEVER, last ? sum_at(last, now) : b->dropped};
}

void pw_blocked_end(struct pw_blocked *b, pw_cycle now)
{
    struct pw_blocked_time *last = last_of(b);
    if (!last || last->to != PW_NEVER)
        return;
    last->to = now;
    b->count -= last->from == now;
}

static void forget(struct pw_blocked *b, pw_cycle oldest)
{
    size_t first = 0;
    while (first < b->count && b->times[first].to <= oldest)
        first++;
    if (!first)
        return;
    b->dropped = sum_at(&b->times[first - 1], oldest);
    b->count -= first;
    memmove(b->times, b->times + first, b->count * sizeof *b->times);
}

bool pw_blocked_make_room(struct pw_blocked *b, pw_cycle oldest)
{
    forget(b, oldest);
    if (b->capacity && b->count <= b->capacity / 2) /* else it would have to forget again soon */
        return true;
    struct pw_blocked_time *times = pw_grow(b->times, b->capacity, &b->capacity, sizeof *times);
    if (times)
        b->times = times;
    return times || pw_blocked_has_room(b);
}

/* The blocked cycles before t. */
static uint64_t before(const struct pw_blocked *b, pw_cycle t)
{
    size_t low = 0, high = b->count; /* times that begin before t: at least low, at most high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->times[middle].from < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? sum_at(&b->times[low - 1], t) : b->dropped;
}

uint64_t pw_blocked_within(const struct pw_blocked *b, pw_cycle from, pw_cycle to)
{
    return to > from ? before(b, to) - before(b, from) : 0;
}
