/* What is too long or too rare to be decoded in line (op_decode.h). */
#include "trace/op_decode.h"

const uint8_t *pw_op_decode_other(const uint8_t *at, const uint8_t *end, struct pw_op *out_op)
{
    unsigned tag = *at++, kind = tag & PW_TAG_KIND;
    struct pw_op op = {.kind = (uint8_t)kind, .loads_in_flight = PW_ANY_IN_FLIGHT};
    if (kind >= PW_OP_KIND_COUNT || (kind != PW_OP_COMPUTE && tag >> PW_TAG_COUNT_SHIFT > 1))
        return NULL;
    if (tag & PW_TAG_IN_FLIGHT) {
        if (at == end)
            return NULL;
        op.loads_in_flight = *at++;
    }
    uint64_t count = kind == PW_OP_COMPUTE ? tag >> PW_TAG_COUNT_SHIFT : 0;
    if (kind == PW_OP_COMPUTE ? !count : tag & PW_TAG_COUNT)
        at = pw_get_varint(at, end, &count);
    op.count_or_mask = (uint32_t)count;
    *out_op = op;
    return count > UINT32_MAX ? NULL : at;
}

/* Offsets of `width` bits. So many are taken out of one word as have room there behind the bits before them in its
 * first byte; the last word may give some that are of no lane. */
static inline void unpack(const uint8_t *at, unsigned at_once, unsigned width, unsigned shift, unsigned count,
                          uint64_t *words)
{
    uint64_t lowest = words[0], mask = (UINT64_C(1) << width) - 1;
    for (unsigned i = 0, bit = 0; i < count; i += at_once, bit += at_once * width) {
        uint64_t offsets = pw_load_bytes(at + bit / 8, 8) >> bit % 8;
        for (unsigned k = 0; k < at_once; k++, offsets >>= width)
            words[i + k] = lowest + ((offsets & mask) << shift);
    }
}

static const uint8_t *get_packed(const uint8_t *at, const uint8_t *end, unsigned shift, unsigned count, uint64_t *words)
{
    if (at == end || *at > PW_PACKED_WIDTH_MOST)
        return NULL;
    unsigned width = *at++, bytes = (count * width + 7) / 8;
    if (bytes > (size_t)(end - at))
        return NULL;
    if (width <= 8)
        unpack(at, 8, width, shift, count, words);
    else if (width <= 14)
        unpack(at, 4, width, shift, count, words);
    else if (width <= 28)
        unpack(at, 2, width, shift, count, words);
    else
        unpack(at, 1, width, shift, count, words);
    return at + bytes;
}
_Static_assert(PW_WARP_LANES % 8 == 0, "what is of no lane has room behind the last one");

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight numbers of one byte each, the signs put back. */
static inline uint64_t unzigzag_bytes(uint64_t codes)
{
    return (codes >> 1 & EACH_BYTE(0x7f)) ^ (codes & EACH_BYTE(1)) * 0xff;
}

/* Each lane's difference to the one before it. Neighbours are mostly near: eight of a byte each are taken at once. */
static const uint8_t *get_differences(const uint8_t *at, const uint8_t *end, unsigned shift, unsigned count,
                                      uint64_t *words)
{
    enum { AT_ONCE = 8 };
    uint64_t address = words[0];
    for (unsigned i = 1; i < count;) {
        uint64_t codes = at < end ? pw_load_bytes(at, AT_ONCE) : EACH_BYTE(0x80);
        if (!(codes & EACH_BYTE(0x80)) && count - i >= AT_ONCE) {
            uint64_t differences = unzigzag_bytes(codes);
            for (unsigned k = 0; k < AT_ONCE; k++)
                words[i + k] = address += (uint64_t)(int8_t)(differences >> 8 * k) << shift;
            i += AT_ONCE;
            at += AT_ONCE;
            continue;
        }
        uint64_t difference;
        if (!(at = pw_get_varint(at, end, &difference)))
            return NULL;
        words[i++] = address += pw_unzigzag(difference) << shift;
    }
    return at;
}

const uint8_t *pw_op_decode_lanes(const uint8_t *at, const uint8_t *end, bool packed, unsigned count, uint64_t *words)
{
    if (at >= end || *at > 63)
        return NULL;
    unsigned shift = *at++;
    return packed ? get_packed(at, end, shift, count, words) : get_differences(at, end, shift, count, words);
}
