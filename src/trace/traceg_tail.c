/* The end of an instruction's line (traceg_instruction.h): immediates, and in version 6 of the tracer the registers'
 * values, of which a barrier's number is all that is of use here. */
#include "trace/traceg_instruction.h"

/* An immediate: 64 bits, written in decimal with or without a sign. One of 20 digits is larger than anything that is
 * asked for. */
static const char *read_immediate(const char *at, uint64_t *out)
{
    enum { MOST_DIGITS = 20 };
    bool negative = *at == '-';
    at += negative;
    const char *end = pw_scan_decimal(at, out);
    if (!end) {
        size_t digits = strspn(at, "0123456789");
        *out = UINT64_MAX;
        end = digits == MOST_DIGITS ? at + digits : NULL;
    }
    if (negative)
        *out = -*out;
    return end;
}

/* A register's values: how many differ, 1 or one for each lane, and these. */
static const char *read_values(const char *at, uint64_t *out_first)
{
    uint64_t count, value;
    at = pw_traceg_next_field(pw_scan_decimal(at, &count));
    if (!at || (count != 1 && count != PW_WARP_LANES))
        return NULL;
    for (uint64_t i = 0; i < count; i++) {
        if (!(at = pw_traceg_next_field(pw_scan_hex(at, i ? &value : out_first))))
            return NULL;
    }
    return at;
}

static const char *read_six(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in,
                            struct pw_traceg_tail *out)
{
    if ((*at >= '0' && *at <= '9') || *at == '-') {
        if (!(at = pw_traceg_next_field(read_immediate(at, &out->second))))
            return pw_traceg_refuse(r, "the second immediate is not a decimal number");
    }
    if (*at == '\n')
        return at;
    const char *values = pw_scan_text(at, "Val");
    out->has_values = values;
    at = pw_traceg_next_field(values ? values : pw_scan_text(at, "NoVal"));
    if (!at)
        return pw_traceg_refuse(r, "what follows the immediates is neither `Val` nor `NoVal`");
    for (uint32_t i = 0; out->has_values && i < in->listed; i++) {
        uint64_t first;
        if (!(at = read_values(at, i ? &first : &out->value)))
            return pw_traceg_refuse(r, "the values of a register are not 1 or 32 hexadecimal numbers");
    }
    return *at == '\n' ? at : pw_traceg_refuse(r, "there are more values than registers");
}

const char *pw_traceg_read_tail(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in,
                                struct pw_traceg_tail *out)
{
    *out = (struct pw_traceg_tail){0};
    if (*at != '\n') /* versions before 5 write no immediate */
        at = pw_traceg_next_field(read_immediate(at, &out->first));
    if (at && r->six && *at != '\n')
        return read_six(r, at, in, out);
    if (!at || *at != '\n')
        return pw_traceg_refuse(r,
                                "what follows the addresses is not one immediate; are there more than active lanes?");
    return at;
}
