/* Reads instructions (traceg_instruction.h). Nearly all of a trace is read here: a line is read once, from left to
 * right. */
#include "trace/traceg_instruction.h"

enum { MODE_LIST, MODE_STRIDE, MODE_DIFFERENCES };

void pw_traceg_reader_init(struct pw_traceg_reader *r, const struct pw_traceg_header *h, struct pw_trace_writer *out)
{
    *r = (struct pw_traceg_reader){.block_lanes = (h->threads + PW_WARP_LANES - 1) / PW_WARP_LANES * PW_WARP_LANES,
                                   .line_numbers = h->line_numbers,
                                   .six = h->version >= 6,
                                   .has_operations = h->has_operations,
                                   .shared_base = h->shared_base,
                                   .local_base = h->local_base,
                                   .last = {.upper = pw_scan_word("00000000"), .lower = pw_scan_word("00000000")}};
    pw_warp_ops_init(&r->ops, out);
    r->ops.whole_warps = h->binary_version && h->binary_version < 70;
}

/* A small number that is nearly always one digit. */
static inline const char *read_small(const char *at, uint32_t *out)
{
    if (__builtin_expect(at[0] >= '0' && at[0] <= '9' && at[1] == ' ', 1)) {
        *out = (uint32_t)(at[0] - '0');
        return at + 1;
    }
    return pw_scan_number(at, out);
}

/* Behind the letters of a register that is no vector register. */
static const char *skip_kind(const char *at)
{
    at += *at == 'U';
    return *at == 'R' || *at == 'P' ? at + 1 : NULL;
}

/* *out_listed grows by the registers of all kinds; only vector registers are kept. */
static const char *read_registers(const char *at, bool six, uint32_t *out_listed, uint32_t *out_count,
                                  uint8_t out[PW_TRACEG_REGISTERS])
{
    uint32_t listed;
    at = pw_traceg_next_field(read_small(at, &listed));
    if (!at || listed > PW_TRACEG_REGISTERS)
        return NULL;
    *out_count = 0;
    *out_listed += listed;
    for (uint32_t i = 0; i < listed; i++) {
        uint32_t number = 0, digits = 0;
        bool vector = *at == 'R';
        if (!vector && (!six || !(at = skip_kind(at))))
            return NULL;
        at += vector;
        for (; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
            number = number * 10 + (uint32_t)(*at - '0');
        if (!digits || number > PW_SASS_RZ || !(at = pw_traceg_next_field(at)))
            return NULL;
        if (vector)
            out[(*out_count)++] = (uint8_t)number;
    }
    return at;
}

static const char *read_head(struct pw_traceg_reader *r, const char *at, struct pw_traceg_instruction *in)
{
    uint64_t mask, line;
    at = pw_scan_blanks(at);
    if (r->line_numbers && !(at = pw_traceg_next_field(pw_scan_decimal(at, &line))))
        return pw_traceg_refuse(r, "the line number that an instruction begins with is not a decimal number");
    at = pw_traceg_next_field(pw_scan_hex_plain(at, &in->pc));
    if (!at)
        return pw_traceg_refuse(r, "the PC is not a hexadecimal number");
    at = pw_traceg_next_field(pw_scan_hex_plain(at, &mask));
    if (!at || mask > UINT32_MAX)
        return pw_traceg_refuse(r, "the mask is not a hexadecimal number of 32 bits");
    in->mask = (uint32_t)mask;
    in->listed = 0;
    at = read_registers(at, r->six, &in->listed, &in->result_count, in->results);
    if (!at)
        return pw_traceg_refuse(r, "the destination registers are not a count and R0 to R255");
    in->listed_results = in->listed;
    const struct pw_sass *sass = pw_sass_find(&r->names, at, &at);
    in->sass = sass ? *sass : (struct pw_sass){0};
    if (in->sass.kind == PW_SASS_MARKER)
        return at;
    if (!sass || !(at = pw_traceg_next_field(at)))
        return pw_traceg_refuse(r, "the instruction has no name");
    if (in->sass.kind == PW_SASS_TENSOR && !r->six)
        in->sass.kind = PW_SASS_OTHER;
    at = read_registers(at, r->six, &in->listed, &in->source_count, in->sources);
    return at ? at : pw_traceg_refuse(r, "the source registers are not a count and R0 to R255");
}

static void use_registers(struct pw_traceg_reader *r, const struct pw_traceg_instruction *in)
{
    const struct pw_sass *s = &in->sass;
    if (!pw_warp_ops_in_flight(&r->ops))
        return;
    for (uint32_t i = 0; i < in->source_count; i++) {
        uint32_t count = i < PW_SASS_SOURCES ? s->sources[i] : 1;
        if (s->wide && i == 2)
            count = 2;
        pw_warp_ops_use(&r->ops, in->sources[i], count);
    }
    for (uint32_t i = 0; i < in->result_count; i++)
        pw_warp_ops_use(&r->ops, in->results[i], s->results);
}

/* Hexadecimal digits, each with bit 4 set. */
static const uint8_t digits[256] = {['0'] = 16, 17, 18, 19, 20, 21,         22, 23, 24, 25, ['A'] = 26,
                                    27,         28, 29, 30, 31, ['a'] = 26, 27, 28, 29, 30, 31};

enum { PREFIX = 2, HALF = 8, ALL = PREFIX + 2 * HALF, LAST_TWO = 16 /* bits of text */ };

/* An address. Those of 16 digits, which the tracer writes in lists, mostly have the upper half of the one before. */
static const char *read_address(struct pw_traceg_address *last, const char *at, uint64_t *out)
{
    uint64_t upper = pw_scan_word(at + PREFIX), lower = pw_scan_word(at + PREFIX + HALF);
    const char *end = at + ALL;
    if (at[0] == '0' && at[1] == 'x' && upper == last->upper && pw_scan_hex_digits(lower) == HALF)
        *out = (last->value & ~(uint64_t)UINT32_MAX) | pw_scan_hex_value(lower, HALF);
    else
        end = pw_scan_hex(at, out);
    if (end == at + ALL && at[1] == 'x')
        *last = (struct pw_traceg_address){upper, lower, *out};
    return end;
}

/* Whether the address has all digits but the last two of the one before, as those of neighbouring lanes mostly do. */
static inline bool read_near(const struct pw_traceg_address *last, const char *at, uint64_t *out)
{
    uint64_t upper = pw_scan_word(at + PREFIX), lower = pw_scan_word(at + PREFIX + HALF);
    unsigned high = digits[(uint8_t)at[ALL - 2]], low = digits[(uint8_t)at[ALL - 1]];
    *out = (last->value & ~(uint64_t)0xff) | (uint8_t)(high << 4) | (low & 15);
    return ((upper ^ last->upper) | (lower ^ last->lower) << LAST_TWO) == 0 && high & low & 16 && at[0] == '0' &&
           at[1] == 'x';
}

static const char *read_list(struct pw_traceg_reader *r, const char *at, uint32_t count)
{
    struct pw_traceg_address last = r->last;
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        at = pw_traceg_next_field(read_near(&last, at, &r->addresses[i]) ? at + ALL
                                                                         : read_address(&last, at, &r->addresses[i]));
        if (!at)
            return pw_traceg_refuse(r, "there is not one hexadecimal address for each active lane");
        all |= r->addresses[i];
    }
    r->last = last;
    return all >> PW_TRACE_ADDRESS_BITS ? pw_traceg_refuse(r, "an address has more than 57 bits") : at;
}

static const char *read_differences(struct pw_traceg_reader *r, const char *at, uint32_t count)
{
    uint64_t address;
    at = pw_traceg_next_field(pw_scan_hex(at, &address));
    if (!at)
        return pw_traceg_refuse(r, "the base is not a hexadecimal address");
    uint64_t all = address;
    r->addresses[0] = address;
    for (uint32_t i = 1; i < count; i++) {
        int64_t difference;
        at = pw_traceg_next_field(pw_scan_signed(at, &difference));
        if (!at)
            return pw_traceg_refuse(r, "there is not one difference for each active lane after the first");
        address += (uint64_t)difference;
        all |= address;
        r->addresses[i] = address;
    }
    return all >> PW_TRACE_ADDRESS_BITS ? pw_traceg_refuse(r, "an address has more than 57 bits") : at;
}

/* The first address is the base of the first active lane, and *out_stride is between lanes. */
static const char *read_stride(struct pw_traceg_reader *r, const char *at, uint32_t mask, int64_t *out_stride)
{
    const int64_t end = PW_TRACE_ADDRESS_END;
    int64_t stride;
    at = pw_traceg_next_field(pw_scan_hex(at, &r->addresses[0]));
    if (at)
        at = pw_traceg_next_field(pw_scan_signed(at, &stride));
    if (!at)
        return pw_traceg_refuse(r, "base and stride are not a hexadecimal address and a decimal number");
    *out_stride = stride;
    if (!mask)
        return at;
    uint32_t run = mask >> __builtin_ctz(mask), count = pw_lane_count(mask);
    if (run & (run + 1))
        return pw_traceg_refuse(r, "base and stride are given for active lanes that are not one run");
    if (count == 1)
        *out_stride = stride = 0;
    if (r->addresses[0] >= (uint64_t)end || stride >= end || stride <= -end)
        return pw_traceg_refuse(r, "an address has more than 57 bits");
    int64_t last = (int64_t)r->addresses[0] + (count - 1) * stride;
    return last < 0 || last >= end ? pw_traceg_refuse(r, "an address has more than 57 bits") : at;
}

/* Shared or local memory, by the window that a generic address lies in. */
static bool is_outside(const struct pw_traceg_reader *r, const struct pw_sass *s)
{
    uint64_t address = r->addresses[0];
    if (s->kind == PW_SASS_COPY && address < PW_SASS_WINDOW_BYTES)
        return true;
    if (!s->generic && s->kind != PW_SASS_COPY)
        return false;
    return (r->shared_base && address - r->shared_base < PW_SASS_WINDOW_BYTES) ||
           (r->local_base && address - r->local_base < PW_SASS_WINDOW_BYTES);
}

static void write_access(struct pw_traceg_reader *r, const struct pw_traceg_instruction *in, bool stride_known,
                         int64_t stride)
{
    const struct pw_sass *s = &in->sass;
    bool result = in->result_count && in->results[0] != PW_SASS_RZ;
    if (!in->mask || is_outside(r, s)) {
        r->copy_begun = s->kind == PW_SASS_COPY;
        r->copy_pc = in->pc;
        r->copy_mask = in->mask;
        pw_warp_ops_count(&r->ops);
        return;
    }
    if (stride_known) {
        uint64_t base = r->addresses[0] - (uint64_t)__builtin_ctz(in->mask) * (uint64_t)stride;
        pw_warp_ops_affine(&r->ops, s, result, in->mask, base, stride);
    } else {
        pw_warp_ops_access(&r->ops, s, result, in->mask, r->addresses);
    }
    if (result && s->kind != PW_SASS_STORE)
        pw_warp_ops_fill(&r->ops, in->results[0], s->results);
}

static const char *read_access(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in)
{
    uint32_t width, mode, count = pw_lane_count(in->mask);
    int64_t stride = 0;
    struct pw_traceg_tail tail;
    if (!in->sass.bytes)
        return pw_traceg_refuse(r, "a lane accesses at most 16 bytes");
    at = pw_traceg_next_field(read_small(at, &width));
    if (!at || !width)
        return pw_traceg_refuse(r, "an access has no width and addresses");
    at = pw_traceg_next_field(read_small(at, &mode));
    if (!at || mode > MODE_DIFFERENCES)
        return pw_traceg_refuse(r, "the mode of the addresses is not 0, 1 or 2");
    at = mode == MODE_STRIDE ? read_stride(r, at, in->mask, &stride)
         : mode == MODE_LIST ? read_list(r, at, count)
                             : read_differences(r, at, count);
    if (!at || !(at = pw_traceg_read_tail(r, at, in, &tail)))
        return NULL;
    bool second = r->copy_begun && in->pc == r->copy_pc && in->mask == r->copy_mask;
    r->copy_begun = false;
    if (second)
        pw_warp_ops_uncount(&r->ops);
    use_registers(r, in);
    write_access(r, in, mode == MODE_STRIDE, stride);
    return at;
}

/* Whether it is the barrier 0 of all warps. Version 6 says how many threads come, and where the barrier's number is in
 * a register, the number is its value and the immediate is the threads; before, any other immediate than 0 may be either.
 */
static bool is_block_barrier(const struct pw_traceg_reader *r, const struct pw_traceg_instruction *in,
                             const struct pw_traceg_tail *tail)
{
    bool in_register = in->listed_results && tail->has_values && !tail->second;
    uint64_t number = in_register ? tail->value : tail->first, threads = in_register ? tail->first : tail->second;
    return in->mask && !number && (!threads || threads >= r->block_lanes);
}

static const char *read_control(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in)
{
    uint32_t width;
    struct pw_traceg_tail tail;
    at = pw_traceg_next_field(read_small(at, &width));
    if (!at || width)
        return pw_traceg_refuse(r, "a barrier or wait has addresses");
    if (!(at = pw_traceg_read_tail(r, at, in, &tail)))
        return NULL;
    if (in->sass.kind == PW_SASS_WAIT)
        pw_warp_ops_wait_copies(&r->ops, tail.first);
    else if (is_block_barrier(r, in, &tail))
        pw_warp_ops_barrier(&r->ops, in->mask);
    else
        pw_warp_ops_count(&r->ops);
    return at;
}

/* Whether a line begins with this text, and the text's last word is a whole one there too. */
static bool is_same(const struct pw_traceg_head *h, const char *at)
{
    uint32_t left = h->length;
    const uint64_t *text = h->text;
    for (; left >= sizeof *text; left -= (uint32_t)sizeof *text, at += sizeof *text)
        if (pw_scan_word(at) != *text++)
            return false;
    if (left && (pw_scan_word(at) & ((UINT64_C(1) << 8 * left) - 1)) != *text)
        return false;
    return h->length && (pw_scan_ends(at[left]) || pw_scan_is_blank(at[(int)left - 1]));
}

/* What follows is not looked at. */
static inline bool is_plain(const struct pw_sass *s)
{
    return !pw_sass_is_access(s) && s->kind != PW_SASS_WAIT && s->kind != PW_SASS_BARRIER && s->kind != PW_SASS_TENSOR;
}

static const char *read_new_head(struct pw_traceg_reader *r, const char *at, struct pw_traceg_head *h)
{
    h->length = 0;
    const char *end = read_head(r, at, &h->in);
    if (!end)
        return NULL;
    if (is_plain(&h->in.sass))
        end = strchrnul(end, '\n'); /* before a zero byte, which is skipped with the rest of the line */
    if ((size_t)(end - at) > sizeof h->text)
        return end;
    h->length = (uint32_t)(end - at);
    memset(h->text, 0, sizeof h->text);
    memcpy(h->text, at, h->length);
    for (size_t i = 0; i < PW_TRACEG_HEAD_WORDS; i++)
        h->text[i] = le64toh(h->text[i]);
    return end;
}

const char *pw_traceg_read_instruction(struct pw_traceg_reader *r, const char *at)
{
    uint64_t hash = pw_scan_word(at) * UINT64_C(0x9e3779b97f4a7c15);
    struct pw_traceg_head *h = &r->heads[(hash >> 32) % PW_TRACEG_HEADS];
    at = is_same(h, at) ? at + h->length : read_new_head(r, at, h);
    if (!at)
        return NULL;
    const struct pw_traceg_instruction *in = &h->in;
    if (in->mask & ~r->lanes)
        return pw_traceg_refuse(r, "the mask has lanes that the block has no threads for");
    if (pw_sass_is_access(&in->sass)) {
        if (in->sass.kind != PW_SASS_COPY)
            r->copy_begun = false;
        return read_access(r, at, in);
    }
    if (in->sass.kind == PW_SASS_MARKER)
        return at;
    r->copy_begun = false;
    use_registers(r, in);
    switch (in->sass.kind) {
    case PW_SASS_TENSOR:
        return pw_traceg_read_tensor(r, at, in);
    case PW_SASS_WAIT:
    case PW_SASS_BARRIER:
        return read_control(r, at, in);
    case PW_SASS_COMMIT:
        pw_warp_ops_commit(&r->ops);
        return at;
    case PW_SASS_EXIT:
        pw_warp_ops_exit(&r->ops, in->mask);
        return at;
    default:
        if (__builtin_expect(r->has_operations && in->sass.begins, 0))
            pw_warp_ops_cut(&r->ops);
        pw_warp_ops_count(&r->ops);
        return at;
    }
}
