/* The times at which something was blocked: for any span of the past, how many of its cycles were such.
 *
 * Spans are asked about long after they began, so the times are kept, in order, each with the sum of those before it; a
 * span is two binary searches. Times that no span can reach any more are dropped when there is no room for another. */
#ifndef PW_GPU_BLOCKED_H
#define PW_GPU_BLOCKED_H

#include "sim/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_blocked_time {
    pw_cycle from, to; /* to = PW_NEVER: still blocked */
    uint64_t before;   /* cycles of all times before */
};

struct pw_blocked {
    struct pw_blocked_time *times;
    size_t count, capacity;
    uint64_t dropped; /* cycles of the times that are no longer kept */
};

void pw_blocked_free(struct pw_blocked *b);

/* It is blocked from now on; again is nothing new. There must be room. */
void pw_blocked_begin(struct pw_blocked *b, pw_cycle now);
/* It is no longer. */
void pw_blocked_end(struct pw_blocked *b, pw_cycle now);

static inline bool pw_blocked_has_room(const struct pw_blocked *b)
{
    return b->count < b->capacity;
}
/* Makes room, knowing that no span will be asked about that begins before `oldest`. False: out of memory. */
bool pw_blocked_make_room(struct pw_blocked *b, pw_cycle oldest);

/* The blocked cycles of [from, to), as far as is known by now. */
uint64_t pw_blocked_within(const struct pw_blocked *b, pw_cycle from, pw_cycle to);

#endif
