/* An operation of a warp: what a kernel emits, the timing model consumes and a trace keeps.
 *
 * An operation is one word, struct pw_op, with the addresses behind it: two words for an affine access, one per active
 * lane for any other, none for the rest. Lanes are bits of a 32-bit mask. */
#ifndef PW_TRACE_OP_H
#define PW_TRACE_OP_H

#include <stdbool.h>
#include <stdint.h>

enum { PW_WARP_LANES = 32 };
#define PW_ALL_LANES 0xffffffffU

struct pw_dim3 {
    uint32_t x, y, z;
};

enum pw_op_kind {
    PW_OP_COMPUTE, /* `count` warp instructions of arithmetic (or shared memory) */
    PW_OP_LOAD,
    PW_OP_STORE,
    PW_OP_ATOMIC,        /* read-modify-write at the L2, result not used */
    PW_OP_ATOMIC_RETURN, /* the same, and counts as a load in flight */
    PW_OP_BARRIER,
    PW_OP_EXIT,
    PW_OP_KIND_COUNT
};

enum pw_op_form {
    PW_FORM_AFFINE, /* lane i accesses base + i * stride: two more words, base and stride */
    PW_FORM_LANES,  /* one address per active lane, in lane order, follows */
};

enum { PW_ANY_IN_FLIGHT = 255 };

/* The first word of an operation. */
struct pw_op {
    uint8_t kind;
    uint8_t form;
    uint8_t bytes;           /* accessed per lane: 1, 2, 4, 8 or 16 */
    uint8_t loads_in_flight; /* may issue once at most this many (the youngest) loads are outstanding; 255: any */
    uint32_t count_or_mask;  /* instructions (compute), active lanes (memory; never 0) */
};
_Static_assert(sizeof(struct pw_op) == 8, "an operation starts with one word");

enum { PW_OP_MAX_WORDS = 1 + PW_WARP_LANES /* header and one address per lane */ };

/* Full warps are the common case, and counting bits is a function call on a baseline x86-64. */
static inline uint32_t pw_lane_count(uint32_t mask)
{
    return mask == PW_ALL_LANES ? PW_WARP_LANES : (uint32_t)__builtin_popcount(mask);
}

static inline bool pw_op_is_access(struct pw_op op)
{
    return op.kind >= PW_OP_LOAD && op.kind <= PW_OP_ATOMIC_RETURN;
}

/* Words of an operation, the first included. */
static inline uint32_t pw_op_words(struct pw_op op)
{
    if (!pw_op_is_access(op))
        return 1;
    return op.form == PW_FORM_AFFINE ? 3 : 1 + pw_lane_count(op.count_or_mask);
}

/* Warp instructions that an operation stands for. */
static inline uint64_t pw_op_instructions(struct pw_op op)
{
    return op.kind == PW_OP_COMPUTE ? op.count_or_mask : 1;
}

#endif
