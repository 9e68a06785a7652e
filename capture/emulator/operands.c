#include "operands.h"

#include "arithmetic.h"

#include <string.h>

uint64_t constant(const struct state *s, uint32_t bank, uint32_t offset, uint32_t bytes)
{
    if (bank >= CONSTANT_BANKS || !s->m->constants[bank])
        unknown(s, "constant bank");
    uint64_t value = 0;
    memcpy(&value, s->m->constants[bank] + offset, bytes);
    return value;
}

uint64_t middle(const struct state *s, uint32_t lane, uint32_t words)
{
    switch (form_of(s->i)) {
    case MIDDLE_REGISTER:
        return words == 2 ? get64(s, bits(s->i, 32, 8), lane) : get(s, bits(s->i, 32, 8), lane);
    case MIDDLE_IS_THIRD_IMMEDIATE:
    case MIDDLE_IMMEDIATE: /* of a double: its upper half */
        return words == 2 ? (uint64_t)bits(s->i, 32, 32) << 32 : bits(s->i, 32, 32);
    case MIDDLE_IS_THIRD_CONSTANT:
    case MIDDLE_CONSTANT:
        return constant(s, bits(s->i, 54, 5), bits(s->i, 38, 16), words * 4);
    case MIDDLE_UNIFORM:
    case MIDDLE_IS_THIRD_UNIFORM:
        return words == 2 ? get_uniform64(s, bits(s->i, 32, 8)) : get_uniform(s, bits(s->i, 32, 8));
    default:
        unknown(s, "form");
    }
}

uint64_t last(const struct state *s, uint32_t lane, uint32_t words)
{
    return words == 2 ? get64(s, bits(s->i, 64, 8), lane) : get(s, bits(s->i, 64, 8), lane);
}

bool middle_is_third(struct instruction i)
{
    uint32_t form = form_of(i);
    return form == MIDDLE_IS_THIRD_IMMEDIATE || form == MIDDLE_IS_THIRD_CONSTANT || form == MIDDLE_IS_THIRD_UNIFORM;
}

bool middle_is_immediate(struct instruction i)
{
    return form_of(i) == MIDDLE_IMMEDIATE || form_of(i) == MIDDLE_IS_THIRD_IMMEDIATE;
}

struct operands operands(const struct state *s, uint32_t lane, uint32_t words_a, uint32_t words_b, uint32_t words_c)
{
    struct instruction i = s->i;
    bool third = middle_is_third(i), plain = middle_is_immediate(i);
    struct operands o = {.negate_a = bit(i, 72), .abs_a = bit(i, 73)};
    uint32_t a = bits(i, 24, 8);
    o.a = words_a == 2 ? get64(s, a, lane) : get(s, a, lane);
    uint64_t in_middle = middle(s, lane, third ? words_c : words_b), at_last = last(s, lane, third ? words_b : words_c);
    bool middle_negated = !plain && bit(i, 63), middle_abs = !plain && bit(i, 62);
    o.b = third ? at_last : in_middle;
    o.c = third ? in_middle : at_last;
    o.negate_b = third ? bit(i, 75) : middle_negated;
    o.abs_b = third ? bit(i, 74) : middle_abs;
    o.negate_c = third ? middle_negated : bit(i, 75);
    o.abs_c = third ? middle_abs : bit(i, 74);
    return o;
}

uint32_t bytes_of_type(uint32_t type)
{
    static const uint32_t bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
    return bytes[type];
}

uint32_t special_register(const struct state *s, uint32_t index, uint32_t lane)
{
    enum { LANE = 0x00, THREAD = 0x21, CTA = 0x25, WINDOW_HIGH = 0x2f, CTA_OF_CLUSTER = 0x88, ZERO = 0xff };
    if (index == LANE)
        return lane;
    if (index >= THREAD && index < THREAD + 3)
        return s->w->thread[lane][index - THREAD];
    if (index >= CTA && index < CTA + 3)
        return s->w->cta[index - CTA];
    if (index == WINDOW_HIGH)
        return SHARED_WINDOW_HIGH;
    if (index == CTA_OF_CLUSTER || index == ZERO)
        return 0;
    unknown(s, "special register");
}

void set_comparison(struct state *s, uint32_t lane, bool result)
{
    uint32_t operation = bits(s->i, 74, 2);
    bool with = predicate(s, 87, 90, lane);
    set_predicate(s, 81, lane, combine(operation, result, with));
    set_predicate(s, 84, lane, combine(operation, !result, with));
}
