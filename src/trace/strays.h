/* What warps access outside of all allocations that are alive, and the allocations that are inferred from it.
 *
 * Noted is the lowest and the highest byte in each block of 2 MiB, and that anew each time after allocations have
 * changed: memory is bounded by the blocks, not by the accesses. In the end touched blocks that lie side by side become
 * an allocation; what looks like more than one is told apart (stray_events.c). */
#ifndef PW_TRACE_STRAYS_H
#define PW_TRACE_STRAYS_H

#include "sim/key_map.h"
#include "trace/op.h"
#include "trace/ranges.h"
#include "trace/trace.h"

enum { PW_STRAY_SHIFT = 21, PW_STRAY_SLOT_BITS = 9 };

/* Of one block, between two changes of what is allocated. */
struct pw_stray_block {
    struct pw_key_link link; /* first; its key is the block's number */
    struct pw_stray_block *before;
    uint64_t first, end;
    uint32_t change; /* allocations and frees before it */
};

/* Addresses of one block that are alike: all in one allocation (`touched` NULL), or in none. */
struct pw_stray_slot {
    uint64_t first, end;
    struct pw_stray_block *touched;
};

struct pw_strays {
    struct pw_ranges live;         /* numbers are those of the recorded allocations */
    struct pw_key_map blocks;      /* since the last change */
    struct pw_stray_block *newest; /* of all */
    size_t count;
    uint32_t changes;
    struct pw_stray_slot slots[1 << PW_STRAY_SLOT_BITS];
};

enum pw_status pw_strays_init(struct pw_strays *t, struct pw_error *err);
void pw_strays_release(struct pw_strays *t);

/* After `live` has changed by one allocation more or less. */
void pw_strays_change(struct pw_strays *t);

enum pw_touch { PW_TOUCH_NOTED, PW_TOUCH_BEYOND /* what a GPU can address */, PW_TOUCH_MEMORY /* is out */ };

/* Notes what an access touches; out_beyond: an address too large. */
enum pw_touch pw_strays_note(struct pw_strays *t, const struct pw_op *op, const uint64_t *words, uint64_t *out_beyond);

/* The events of a trace with the inferred allocations among them, their allocations numbered, in place of those that
 * were recorded; inferred ones have no name. NULL: out of memory. */
struct pw_trace_event *pw_strays_events(const struct pw_strays *t, const struct pw_trace_event *events, size_t count,
                                        size_t *out_count);

#endif
