/* Tensor and bulk copies in a trace by version 6 of Accel-Sim's tracer. Behind its registers such a line has
 *
 *     width mbarrier multicast [mask of CTAs] bytes bytes-out-of-bounds mode addresses
 *
 * with addresses in global memory: their count and each of them (mode 3), or base, count and differences (mode 4).
 *
 * A copy becomes loads, stores or atomics of the warp that issues it. Each address stands for an equal share of the
 * bytes within bounds, whether the tracer lists rows, lines or elements; shares side by side become one range, and each
 * lane accesses 16 bytes of it (less where a range is not aligned to as much), so that a copy of 4 KiB is 8 accesses of
 * 32 lanes. What is lost: the copy engine. The real one makes addresses by itself, beside the warp, which here spends
 * an instruction on each 512 bytes; loads go through the L1 cache here, not past it; a copy to several CTAs is read
 * once, as it is in hardware; and no wait on an mbarrier is known, so that no instruction waits for the data, unless it
 * waits for a younger load of the same warp, as loads of a warp complete in order here. A prefetch into the L2 is such a
 * load, too. */
#include "trace/traceg_instruction.h"

enum {
    MODE_TENSOR_LIST = 3,
    MODE_TENSOR_DIFFERENCES = 4,
    MOST_BYTES = 1 << 20, /* four times the shared memory that the largest copy could fill */
    UNIT = 16,
};

/* Accesses that are being made out of ranges. */
struct copy {
    struct pw_traceg_reader *r;
    struct pw_sass sass; /* as what they are given to the warp */
    uint64_t begin, end; /* the range that grows */
    uint64_t accesses;
    uint32_t lanes, most_lanes;
    uint64_t addresses[PW_WARP_LANES];
};

static void emit(struct copy *c)
{
    if (!c->lanes)
        return;
    uint32_t mask = c->lanes == PW_WARP_LANES ? PW_ALL_LANES : (1U << c->lanes) - 1;
    pw_warp_ops_access(&c->r->ops, &c->sass, false, mask, c->addresses);
    c->r->copied += (uint64_t)c->lanes * c->sass.bytes + sizeof c->addresses;
    c->accesses++;
    c->lanes = 0;
}

static void emit_range(struct copy *c)
{
    uint64_t bits = c->begin | (c->end - c->begin) | UNIT;
    uint8_t unit = (uint8_t)(bits & -bits);
    if (unit != c->sass.bytes)
        emit(c);
    c->sass.bytes = unit;
    for (; c->begin < c->end; c->begin += unit) {
        c->addresses[c->lanes++] = c->begin;
        if (c->lanes == c->most_lanes)
            emit(c);
    }
}

/* Whether the bytes have addresses of a GPU. */
static bool add(struct copy *c, uint64_t address, uint64_t bytes)
{
    if (address >= PW_TRACE_ADDRESS_END || bytes > PW_TRACE_ADDRESS_END - address)
        return false;
    if (address != c->end) {
        emit_range(c);
        c->begin = address;
    }
    c->end = address + bytes;
    return true;
}

static const char *const not_an_address = "an address of the copy is not a hexadecimal number of 57 bits, or there are "
                                          "less of them than it says";

/* `bytes` of each address; 0: they are read and dropped. */
static const char *read_addresses(struct copy *c, const char *at, bool list, uint64_t count, uint64_t address,
                                  uint64_t bytes)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t difference = 0;
        if (list)
            at = pw_traceg_next_field(pw_scan_hex(at, &address));
        else if (i)
            at = pw_traceg_next_field(pw_scan_signed(at, &difference));
        address += (uint64_t)difference;
        if (!at || (bytes && !add(c, address, bytes)))
            return pw_traceg_refuse(c->r, not_an_address);
    }
    emit_range(c);
    emit(c);
    return at;
}

struct fields {
    uint64_t bytes, beyond, base, count;
    uint32_t mode;
};

static const char *read_fields(const char *at, struct fields *out)
{
    uint64_t skipped;
    uint32_t multicast;
    at = pw_traceg_next_field(pw_scan_decimal(at, &skipped)); /* the width */
    at = at ? pw_traceg_next_field(pw_scan_hex(at, &skipped)) : NULL;
    at = at ? pw_traceg_next_field(pw_scan_number(at, &multicast)) : NULL;
    if (at && multicast)
        at = multicast == 1 ? pw_traceg_next_field(pw_scan_hex(at, &skipped)) : NULL;
    at = at ? pw_traceg_next_field(pw_scan_decimal(at, &out->bytes)) : NULL;
    at = at ? pw_traceg_next_field(pw_scan_decimal(at, &out->beyond)) : NULL;
    at = at ? pw_traceg_next_field(pw_scan_number(at, &out->mode)) : NULL;
    if (at && out->mode == MODE_TENSOR_DIFFERENCES)
        at = pw_traceg_next_field(pw_scan_hex(at, &out->base));
    return at ? pw_traceg_next_field(pw_scan_decimal(at, &out->count)) : NULL;
}

/* What each address stands for. */
static uint64_t share(const struct fields *f)
{
    uint64_t within = f->beyond < f->bytes ? f->bytes - f->beyond : f->bytes;
    return f->count ? (within + f->count - 1) / f->count : 0;
}

const char *pw_traceg_read_tensor(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in)
{
    struct fields f = {0};
    at = read_fields(at, &f);
    if (!at)
        return pw_traceg_refuse(r, "the copy does not have width, mbarrier, multicast, bytes, mode and count");
    if (f.mode != MODE_TENSOR_LIST && f.mode != MODE_TENSOR_DIFFERENCES)
        return pw_traceg_refuse(r, "the mode of a copy's addresses is not 3 or 4");
    if (f.bytes > MOST_BYTES)
        return pw_traceg_refuse(r, "a copy has at most 1 MiB");
    struct copy c = {.r = r, .sass = {.kind = PW_SASS_LOAD}, .most_lanes = pw_lane_count(r->lanes)};
    c.sass.kind = in->sass.moves == PW_OP_STORE    ? PW_SASS_STORE
                  : in->sass.moves == PW_OP_ATOMIC ? PW_SASS_ATOMIC
                                                   : PW_SASS_LOAD;
    bool moves = in->mask && in->sass.moves != PW_OP_COMPUTE;
    at = read_addresses(&c, at, f.mode == MODE_TENSOR_LIST, f.count, f.base, moves ? share(&f) : 0);
    struct pw_traceg_tail tail;
    if (!at || !(at = pw_traceg_read_tail(r, at, in, &tail)))
        return NULL;
    if (!c.accesses)
        pw_warp_ops_count(&r->ops);
    return at;
}
