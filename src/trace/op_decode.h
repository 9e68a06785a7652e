/* Decodes what op_coder.h says (docs/trace-format.md, "Operations").
 *
 * A replay does nothing else for most of its operations, so the usual ones are decoded in line, where they are needed:
 * computations of a few instructions, and accesses told by small numbers. Lanes and what is rare are functions.
 *
 * The bytes are untrusted. Up to PW_OP_CODE_SLACK bytes behind the end may be read, so that a number of fixed size is
 * taken first and whether there was room for it is asked once, when the operation ends. */
#ifndef PW_TRACE_OP_DECODE_H
#define PW_TRACE_OP_DECODE_H

#include "trace/bytes.h"
#include "trace/op_coder.h"

/* The first byte of an operation. */
enum {
    PW_TAG_KIND = 7,
    PW_TAG_IN_FLIGHT = 1 << 3, /* given; else any, or of an access, as the recent one's */
    /* Of a computation: its count, 0 when it follows. */
    PW_TAG_COUNT_SHIFT = 4,
    PW_TAG_MOST_COUNT = 15,
    /* Of a barrier or exit: its count_or_mask follows. */
    PW_TAG_COUNT = 1 << 4,
    /* Of an access. */
    PW_TAG_LANES = 1 << 4,  /* its form */
    PW_TAG_MASK = 1 << 5,   /* given; else as the recent one's */
    PW_TAG_BYTES = 1 << 6,  /* the same */
    PW_TAG_STRIDE = 1 << 7, /* affine: the same */
    PW_TAG_PACKED = 1 << 7, /* lanes: offsets from the lowest, not differences */
};

/* The byte that says which recent access: how many accesses ago, and the difference where it is small. */
enum { PW_AGO_BITS = 3, PW_AGO_MASK = (1 << PW_AGO_BITS) - 1, PW_AGO_FAR = 31 };

enum { PW_PACKED_WIDTH_MOST = 56 /* with the bits before it in its first byte an offset is in eight bytes */ };

static inline const struct pw_op_recent *pw_op_recent_of(const struct pw_op_coder *c, unsigned ago)
{
    return &c->recent[(c->newest - ago) % PW_TRACE_RECENT];
}

/* The place of the oldest access, for the one that comes now. */
static inline struct pw_op_recent *pw_op_remember(struct pw_op_coder *c)
{
    c->newest = (c->newest + 1) % PW_TRACE_RECENT;
    return &c->recent[c->newest];
}

/* The number, or 0 where it does not fit. */
static inline int32_t pw_op_fitting(uint64_t difference)
{
    int64_t d = (int64_t)difference;
    return d == (int32_t)d ? (int32_t)d : 0;
}

/* The addresses of `count` lanes, two or more; words[0] is the first one's, or the lowest. Where they end, or NULL. */
const uint8_t *pw_op_decode_lanes(const uint8_t *at, const uint8_t *end, bool packed, unsigned count, uint64_t *words);

/* An operation that is no access. It is the slow way: the usual ones are decoded below. */
const uint8_t *pw_op_decode_other(const uint8_t *at, const uint8_t *end, struct pw_op *out_op);

static inline const uint8_t *pw_op_decode_access(struct pw_op_coder *c, const uint8_t *at, const uint8_t *end,
                                                 struct pw_op *out_op, uint64_t out_words[PW_WARP_LANES])
{
    unsigned tag = at[0], given = tag & PW_TAG_IN_FLIGHT ? 1 : 0, in_flight = at[1], which = at[1 + given];
    const struct pw_op_recent *from = pw_op_recent_of(c, which & PW_AGO_MASK);
    at += 2 + given;
    uint64_t difference = which >> PW_AGO_BITS;
    if (__builtin_expect(difference == PW_AGO_FAR, 0) && !(at = pw_get_varint(at, end, &difference)))
        return NULL;
    uint64_t step = (uint64_t)(int64_t)from->step + pw_unzigzag(difference), address = from->address + step;
    struct pw_op op = {.kind = tag & PW_TAG_KIND,
                       .form = tag & PW_TAG_LANES ? PW_FORM_LANES : PW_FORM_AFFINE,
                       .bytes = from->bytes,
                       .loads_in_flight = given ? (uint8_t)in_flight : from->loads_in_flight,
                       .count_or_mask = from->mask};
    if (__builtin_expect(tag & (PW_TAG_MASK | PW_TAG_BYTES), 0)) {
        if (tag & PW_TAG_MASK) {
            op.count_or_mask = (uint32_t)pw_load_bytes(at, 4);
            at += 4;
        }
        if (tag & PW_TAG_BYTES)
            op.bytes = *at++;
        if (!pw_op_is_sound(&op))
            return NULL;
    }
    int32_t stride = 0;
    out_words[0] = address;
    if (tag & PW_TAG_LANES) {
        unsigned count = pw_lane_count(op.count_or_mask);
        if (count > 1 && !(at = pw_op_decode_lanes(at, end, tag & PW_TAG_PACKED, count, out_words)))
            return NULL;
    } else if (tag & PW_TAG_STRIDE) {
        uint64_t code;
        if (!(at = pw_get_varint(at, end, &code)))
            return NULL;
        out_words[1] = pw_unzigzag(code);
        stride = pw_op_fitting(out_words[1]);
    } else {
        stride = from->stride;
        out_words[1] = (uint64_t)(int64_t)stride;
    }
    *pw_op_remember(c) = (struct pw_op_recent){.address = address,
                                               .step = pw_op_fitting(step),
                                               .stride = stride,
                                               .mask = op.count_or_mask,
                                               .bytes = op.bytes,
                                               .loads_in_flight = op.loads_in_flight};
    *out_op = op;
    return at <= end ? at : NULL;
}

/* Where the operation ends that begins at `at`; NULL when it is none, or does not end by `end`. */
static inline const uint8_t *pw_op_decode(struct pw_op_coder *c, const uint8_t *at, const uint8_t *end,
                                          struct pw_op *out_op, uint64_t out_words[PW_WARP_LANES])
{
    if (at == end)
        return NULL;
    unsigned tag = *at, kind = tag & PW_TAG_KIND, count = tag >> PW_TAG_COUNT_SHIFT;
    if (kind >= PW_OP_LOAD && kind <= PW_OP_ATOMIC_RETURN)
        return pw_op_decode_access(c, at, end, out_op, out_words);
    if (kind == PW_OP_COMPUTE && count && !(tag & PW_TAG_IN_FLIGHT)) {
        *out_op = (struct pw_op){.loads_in_flight = PW_ANY_IN_FLIGHT, .count_or_mask = count};
        return at + 1;
    }
    struct pw_op other = {0}; /* so that *out_op can be in registers */
    at = pw_op_decode_other(at, end, &other);
    *out_op = other;
    return at;
}

#endif
