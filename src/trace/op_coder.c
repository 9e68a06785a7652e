/* Encodes: the choice among recent accesses, and between the two ways to tell lanes. What it is for is said in
 * op_coder.h; tags and decoding are in op_decode.h. */
#include "trace/op_decode.h"

void pw_op_coder_start(struct pw_op_coder *c, uint64_t origin)
{
    struct pw_op_recent first = {
        .address = origin, .stride = 4, .mask = PW_ALL_LANES, .bytes = 4, .loads_in_flight = PW_ANY_IN_FLIGHT};
    for (unsigned i = 0; i < PW_TRACE_RECENT; i++)
        c->recent[i] = first;
    c->newest = c->guess = 0;
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
    l.packed = l.width <= PW_PACKED_WIDTH_MOST && 1 + (count * l.width + 7) / 8 < told;
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
    unsigned flags = 0, cost = difference < PW_AGO_FAR ? difference != 0 : 1 + pw_varint_bytes(difference);
    if (r->loads_in_flight != op->loads_in_flight) {
        flags |= PW_TAG_IN_FLIGHT;
        cost++;
    }
    if (r->mask != op->count_or_mask) {
        flags |= PW_TAG_MASK;
        cost += 4;
    }
    if (r->bytes != op->bytes) {
        flags |= PW_TAG_BYTES;
        cost++;
    }
    if (op->form == PW_FORM_AFFINE && (uint64_t)(int64_t)r->stride != stride) {
        flags |= PW_TAG_STRIDE;
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
    *out_flags = compare(pw_op_recent_of(c, best), op, address, stride, &best_cost);
    for (unsigned ago = 0; ago < PW_TRACE_RECENT && best_cost; ago++) {
        unsigned cost, flags = compare(pw_op_recent_of(c, ago), op, address, stride, &cost);
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
        tag |= PW_TAG_LANES | (lanes.packed ? PW_TAG_PACKED : 0);
        address = lanes.packed ? lanes.lowest : address;
    }
    unsigned ago = choose(c, op, address, stride, &flags);
    const struct pw_op_recent *from = pw_op_recent_of(c, ago);
    uint8_t *at = out;
    *at++ = (uint8_t)(tag | flags);
    if (flags & PW_TAG_IN_FLIGHT)
        *at++ = op->loads_in_flight;
    uint64_t difference = pw_zigzag(address - predicted(from));
    *at++ = (uint8_t)(ago | (difference < PW_AGO_FAR ? difference : PW_AGO_FAR) << PW_AGO_BITS);
    if (difference >= PW_AGO_FAR)
        at = pw_put_varint(at, difference);
    if (flags & PW_TAG_MASK) {
        pw_store_bytes(at, op->count_or_mask, 4);
        at += 4;
    }
    if (flags & PW_TAG_BYTES)
        *at++ = op->bytes;
    if (flags & PW_TAG_STRIDE)
        at = pw_put_varint(at, pw_zigzag(stride));
    if (!affine)
        at = put_lanes(at, &lanes, words);
    *pw_op_remember(c) = (struct pw_op_recent){.address = address,
                                               .step = pw_op_fitting(address - from->address),
                                               .stride = pw_op_fitting(stride),
                                               .mask = op->count_or_mask,
                                               .bytes = op->bytes,
                                               .loads_in_flight = op->loads_in_flight};
    return (size_t)(at - out);
}

size_t pw_op_encode(struct pw_op_coder *c, const struct pw_op *op, const uint64_t *words, uint8_t *out)
{
    if (pw_op_is_access(*op))
        return encode_access(c, op, words, out);
    uint8_t *at = out + 1;
    unsigned tag = op->kind;
    if (op->loads_in_flight != PW_ANY_IN_FLIGHT) {
        tag |= PW_TAG_IN_FLIGHT;
        *at++ = op->loads_in_flight;
    }
    uint32_t count = op->count_or_mask;
    if (op->kind == PW_OP_COMPUTE && count && count <= PW_TAG_MOST_COUNT) {
        tag |= count << PW_TAG_COUNT_SHIFT;
    } else if (op->kind == PW_OP_COMPUTE || count) {
        tag |= op->kind == PW_OP_COMPUTE ? 0 : PW_TAG_COUNT;
        at = pw_put_varint(at, count);
    }
    out[0] = (uint8_t)tag;
    return (size_t)(at - out);
}
