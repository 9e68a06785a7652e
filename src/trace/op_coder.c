/* Tags, the choice among recent accesses, and the two ways to tell lanes. What it is for is said in op_coder.h. */
#include "trace/op_coder.h"

#include "trace/bytes.h"

#include <string.h>

/* The first byte of an operation. */
enum {
    KIND_BITS = 3,
    KIND_MASK = (1 << KIND_BITS) - 1,
    TAG_IN_FLIGHT = 1 << 3, /* given; else any, or of an access, as the recent one's */
    /* Of a computation: its count, 0 when it follows. */
    COUNT_SHIFT = 4,
    MOST_COUNT = 15,
    /* Of a barrier or exit: its count_or_mask follows. */
    TAG_COUNT = 1 << 4,
    /* Of an access. */
    TAG_LANES = 1 << 4,  /* its form */
    TAG_MASK = 1 << 5,   /* given; else as the recent one's */
    TAG_BYTES = 1 << 6,  /* the same */
    TAG_STRIDE = 1 << 7, /* affine: the same */
    TAG_PACKED = 1 << 7, /* lanes: offsets from the lowest, not differences */
};

/* The byte that says which recent access: how many accesses ago, and the difference where it is small. */
enum { AGO_BITS = 3, AGO_MASK = (1 << AGO_BITS) - 1, FAR = 31 };

enum { MOST_WIDTH = 56 /* of a packed offset: with the bits before it in its first byte it is in eight bytes */ };

void pw_op_coder_start(struct pw_op_coder *c, uint64_t origin)
{
    struct pw_op_recent first = {
        .address = origin, .stride = 4, .mask = PW_ALL_LANES, .bytes = 4, .loads_in_flight = PW_ANY_IN_FLIGHT};
    for (unsigned i = 0; i < PW_TRACE_RECENT; i++)
        c->recent[i] = first;
    c->newest = c->guess = 0;
}

bool pw_op_is_sound(const struct pw_op *op)
{
    if (!pw_op_is_access(*op))
        return op->kind < PW_OP_KIND_COUNT && !op->form && !op->bytes;
    return op->form <= PW_FORM_LANES && op->count_or_mask && op->bytes <= 16 && __builtin_popcount(op->bytes) == 1;
}

static inline const struct pw_op_recent *recent_of(const struct pw_op_coder *c, unsigned ago)
{
    return &c->recent[(c->newest - ago) % PW_TRACE_RECENT];
}

static inline int32_t fitting(uint64_t difference)
{
    int64_t d = (int64_t)difference;
    return d == (int32_t)d ? (int32_t)d : 0;
}

/* Puts an access in place of the oldest one. */
static inline void remember(struct pw_op_coder *c, const struct pw_op_recent *from, const struct pw_op *op,
                            uint64_t address, uint64_t stride)
{
    struct pw_op_recent now = {.address = address,
                               .step = fitting(address - from->address),
                               .stride = fitting(stride),
                               .mask = op->count_or_mask,
                               .bytes = op->bytes,
                               .loads_in_flight = op->loads_in_flight};
    c->newest = (c->newest + 1) % PW_TRACE_RECENT;
    c->recent[c->newest] = now;
}

static inline uint64_t predicted(const struct pw_op_recent *r)
{
    return r->address + (uint64_t)(int64_t)r->step;
}

/* What lanes take, each way. */
struct lanes {
    uint64_t lowest;
    unsigned count, shift, width;
    bool packed;
};

static struct lanes measure_lanes(const uint64_t *words, unsigned count)
{
    struct lanes l = {.lowest = words[0], .count = count};
    uint64_t bits = 0, largest = 0;
    for (unsigned i = 1; i < count; i++) {
        bits |= words[i] - words[0];
        l.lowest = words[i] < l.lowest ? words[i] : l.lowest;
    }
    l.shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
    unsigned told = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = (words[i] - l.lowest) >> l.shift;
        largest = offset > largest ? offset : largest;
        if (i)
            told += pw_varint_bytes(pw_zigzag((uint64_t)((int64_t)(words[i] - words[i - 1]) >> l.shift)));
    }
    l.width = largest ? 64 - (unsigned)__builtin_clzll(largest) : 0;
    l.packed = l.width <= MOST_WIDTH && 1 + (count * l.width + 7) / 8 < told;
    return l;
}

static uint8_t *put_packed(uint8_t *at, const struct lanes *l, const uint64_t *words)
{
    uint64_t pending = 0;
    unsigned bits = 0;
    for (unsigned i = 0; i < l->count; i++) {
        pending |= (words[i] - l->lowest) >> l->shift << bits;
        for (bits += l->width; bits >= 8; bits -= 8, pending >>= 8)
            *at++ = (uint8_t)pending;
    }
    if (bits)
        *at++ = (uint8_t)pending;
    return at;
}

static uint8_t *put_lanes(uint8_t *at, const struct lanes *l, const uint64_t *words)
{
    if (l->count == 1)
        return at;
    *at++ = (uint8_t)l->shift;
    if (l->packed) {
        *at++ = (uint8_t)l->width;
        return put_packed(at, l, words);
    }
    for (unsigned i = 1; i < l->count; i++)
        at = pw_put_varint(at, pw_zigzag((uint64_t)((int64_t)(words[i] - words[i - 1]) >> l->shift)));
    return at;
}

/* The flags of what differs from a recent access, and the bytes that it takes to tell all of it. */
static inline unsigned compare(const struct pw_op_recent *r, const struct pw_op *op, uint64_t address, uint64_t stride,
                               unsigned *out_cost)
{
    uint64_t difference = pw_zigzag(address - predicted(r));
    unsigned flags = 0, cost = difference < FAR ? difference != 0 : 1 + pw_varint_bytes(difference);
    if (r->loads_in_flight != op->loads_in_flight) {
        flags |= TAG_IN_FLIGHT;
        cost++;
    }
    if (r->mask != op->count_or_mask) {
        flags |= TAG_MASK;
        cost += 4;
    }
    if (r->bytes != op->bytes) {
        flags |= TAG_BYTES;
        cost++;
    }
    if (op->form == PW_FORM_AFFINE && (uint64_t)(int64_t)r->stride != stride) {
        flags |= TAG_STRIDE;
        cost += pw_varint_bytes(pw_zigzag(stride));
    }
    *out_cost = cost;
    return flags;
}

/* The access from which to tell this one: of those that take the fewest bytes, the one that is as long ago as it was
 * for the last access, or else the latest. */
static unsigned choose(struct pw_op_coder *c, const struct pw_op *op, uint64_t address, uint64_t stride,
                       unsigned *out_flags)
{
    unsigned best = c->guess, best_cost;
    *out_flags = compare(recent_of(c, best), op, address, stride, &best_cost);
    for (unsigned ago = 0; ago < PW_TRACE_RECENT && best_cost; ago++) {
        unsigned cost, flags = compare(recent_of(c, ago), op, address, stride, &cost);
        if (cost < best_cost) {
            best = ago;
            best_cost = cost;
            *out_flags = flags;
        }
    }
    c->guess = best;
    return best;
}

static size_t encode_access(struct pw_op_coder *c, const struct pw_op *op, const uint64_t *words, uint8_t *out)
{
    bool affine = op->form == PW_FORM_AFFINE;
    uint64_t address = words[0], stride = affine ? words[1] : 0;
    struct lanes lanes;
    unsigned tag = op->kind, flags;
    if (!affine) {
        lanes = measure_lanes(words, pw_lane_count(op->count_or_mask));
        tag |= TAG_LANES | (lanes.packed ? TAG_PACKED : 0);
        address = lanes.packed ? lanes.lowest : address;
    }
    unsigned ago = choose(c, op, address, stride, &flags);
    const struct pw_op_recent *from = recent_of(c, ago);
    uint8_t *at = out;
    *at++ = (uint8_t)(tag | flags);
    if (flags & TAG_IN_FLIGHT)
        *at++ = op->loads_in_flight;
    uint64_t difference = pw_zigzag(address - predicted(from));
    *at++ = (uint8_t)(ago | (difference < FAR ? difference : FAR) << AGO_BITS);
    if (difference >= FAR)
        at = pw_put_varint(at, difference);
    if (flags & TAG_MASK) {
        pw_store_bytes(at, op->count_or_mask, 4);
        at += 4;
    }
    if (flags & TAG_BYTES)
        *at++ = op->bytes;
    if (flags & TAG_STRIDE)
        at = pw_put_varint(at, pw_zigzag(stride));
    if (!affine)
        at = put_lanes(at, &lanes, words);
    remember(c, from, op, address, stride);
    return (size_t)(at - out);
}

size_t pw_op_encode(struct pw_op_coder *c, const struct pw_op *op, const uint64_t *words, uint8_t *out)
{
    if (pw_op_is_access(*op))
        return encode_access(c, op, words, out);
    uint8_t *at = out + 1;
    unsigned tag = op->kind;
    if (op->loads_in_flight != PW_ANY_IN_FLIGHT) {
        tag |= TAG_IN_FLIGHT;
        *at++ = op->loads_in_flight;
    }
    uint32_t count = op->count_or_mask;
    if (op->kind == PW_OP_COMPUTE && count && count <= MOST_COUNT) {
        tag |= count << COUNT_SHIFT;
    } else if (op->kind == PW_OP_COMPUTE || count) {
        tag |= op->kind == PW_OP_COMPUTE ? 0 : TAG_COUNT;
        at = pw_put_varint(at, count);
    }
    out[0] = (uint8_t)tag;
    return (size_t)(at - out);
}

static const uint8_t *decode_other(unsigned tag, const uint8_t *at, const uint8_t *end, struct pw_op *out_op)
{
    unsigned kind = tag & KIND_MASK;
    struct pw_op op = {.kind = (uint8_t)kind, .loads_in_flight = PW_ANY_IN_FLIGHT};
    if (kind >= PW_OP_KIND_COUNT || (kind != PW_OP_COMPUTE && tag >> COUNT_SHIFT > 1))
        return NULL;
    if (tag & TAG_IN_FLIGHT) {
        if (at == end)
            return NULL;
        op.loads_in_flight = *at++;
    }
    uint64_t count = kind == PW_OP_COMPUTE ? tag >> COUNT_SHIFT : 0;
    if (kind == PW_OP_COMPUTE ? !count : tag & TAG_COUNT)
        at = pw_get_varint(at, end, &count);
    op.count_or_mask = (uint32_t)count;
    *out_op = op;
    return count > UINT32_MAX ? NULL : at;
}

static const uint8_t *get_packed(const uint8_t *at, const uint8_t *end, unsigned shift, unsigned count, uint64_t *words)
{
    if (at == end || *at > MOST_WIDTH)
        return NULL;
    unsigned width = *at++, bytes = (count * width + 7) / 8;
    if (bytes > (size_t)(end - at))
        return NULL;
    uint64_t lowest = words[0], mask = (UINT64_C(1) << width) - 1;
    for (unsigned i = 0, bit = 0; i < count; i++, bit += width) {
        uint64_t offset = pw_load_bytes(at + bit / 8, 8) >> bit % 8 & mask;
        words[i] = lowest + (offset << shift);
    }
    return at + bytes;
}

/* The lanes' addresses; words[0] is the first one's, or the lowest. */
static const uint8_t *get_lanes(const uint8_t *at, const uint8_t *end, bool packed, unsigned count, uint64_t *words)
{
    if (count == 1)
        return at;
    if (at == end || *at > 63)
        return NULL;
    unsigned shift = *at++;
    if (packed)
        return get_packed(at, end, shift, count, words);
    for (unsigned i = 1; i < count; i++) {
        uint64_t difference;
        at = pw_get_varint(at, end, &difference);
        if (!at)
            return NULL;
        words[i] = words[i - 1] + (pw_unzigzag(difference) << shift);
    }
    return at;
}

static const uint8_t *get_given(unsigned tag, const uint8_t *at, const uint8_t *end, struct pw_op *op)
{
    if (tag & TAG_MASK) {
        if (end - at < 4)
            return NULL;
        op->count_or_mask = (uint32_t)pw_load_bytes(at, 4);
        at += 4;
    }
    if (tag & TAG_BYTES) {
        if (at == end)
            return NULL;
        op->bytes = *at++;
    }
    return pw_op_is_sound(op) ? at : NULL;
}

const uint8_t *pw_op_decode(struct pw_op_coder *c, const uint8_t *at, const uint8_t *end, struct pw_op *out_op,
                            uint64_t out_words[PW_WARP_LANES])
{
    if (at == end)
        return NULL;
    unsigned tag = *at++, kind = tag & KIND_MASK;
    if (kind < PW_OP_LOAD || kind > PW_OP_ATOMIC_RETURN)
        return decode_other(tag, at, end, out_op);
    if (end - at < 1 + (tag & TAG_IN_FLIGHT ? 1 : 0))
        return NULL;
    unsigned in_flight = tag & TAG_IN_FLIGHT ? *at++ : 0, which = *at++;
    const struct pw_op_recent *from = recent_of(c, which & AGO_MASK);
    uint64_t difference = which >> AGO_BITS, stride = 0;
    if (difference == FAR && !(at = pw_get_varint(at, end, &difference)))
        return NULL;
    uint64_t address = predicted(from) + pw_unzigzag(difference);
    struct pw_op op = {.kind = (uint8_t)kind,
                       .form = tag & TAG_LANES ? PW_FORM_LANES : PW_FORM_AFFINE,
                       .bytes = from->bytes,
                       .loads_in_flight = tag & TAG_IN_FLIGHT ? (uint8_t)in_flight : from->loads_in_flight,
                       .count_or_mask = from->mask};
    if (tag & (TAG_MASK | TAG_BYTES) && !(at = get_given(tag, at, end, &op)))
        return NULL;
    out_words[0] = address;
    if (tag & TAG_LANES) {
        at = get_lanes(at, end, tag & TAG_PACKED, pw_lane_count(op.count_or_mask), out_words);
    } else {
        stride = (uint64_t)(int64_t)from->stride;
        if (tag & TAG_STRIDE) {
            at = pw_get_varint(at, end, &stride);
            stride = pw_unzigzag(stride);
        }
        out_words[1] = stride;
    }
    remember(c, from, &op, address, stride);
    *out_op = op;
    return at;
}
