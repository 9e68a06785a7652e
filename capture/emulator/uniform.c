/* Instructions on uniform registers, of which a warp has one set for all lanes. */
#include "arithmetic.h"
#include "operands.h"

enum { MULTIPLY_WIDE = 0x0a5 };

struct uniform_operands {
    uint64_t a, b, c;
    bool negate_a, negate_b, negate_c;
};

static struct uniform_operands uniform_operands(const struct state *s, uint32_t words_c)
{
    struct instruction i = s->i;
    uint32_t form = form_of(i);
    bool third = form == MIDDLE_IS_THIRD_IMMEDIATE, immediate = third || form == MIDDLE_IMMEDIATE;
    uint64_t in_middle = immediate ? bits(i, 32, 32) : get_uniform(s, bits(i, 32, 8));
    uint32_t r = bits(i, 64, 8);
    uint64_t at_last = words_c == 2 && !third ? get_uniform64(s, r) : get_uniform(s, r);
    struct uniform_operands o = {.a = get_uniform(s, bits(i, 24, 8)), .negate_a = bit(i, 72)};
    o.b = third ? at_last : in_middle;
    o.c = third ? in_middle : at_last;
    o.negate_b = third ? bit(i, 75) : !immediate && bit(i, 63);
    o.negate_c = third ? false : bit(i, 75);
    return o;
}

static void uniform_add3(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    uint32_t out, in = (uint32_t)uniform_predicate(s, 87, 90) + uniform_predicate(s, 77, 80);
    uint32_t sum = sum3(o.a, o.negate_a, o.b, o.negate_b, o.c, o.negate_c, bit(s->i, 74), in, &out);
    set_uniform(s, destination(s), sum);
    set_uniform_predicate(s, 81, out >= 1);
    set_uniform_predicate(s, 84, out >= 2);
}

static void uniform_multiply_add(struct state *s)
{
    bool wide = opcode_of(s->i) == MULTIPLY_WIDE;
    struct uniform_operands o = uniform_operands(s, wide ? 2 : 1);
    uint64_t product = wide ? wide_product(o.a, o.b, bit(s->i, 73)) : (uint32_t)o.a * (uint32_t)o.b;
    if (bit(s->i, 72) || bit(s->i, 74))
        unknown(s, "UIMAD");
    uint64_t sum = product + (o.negate_c ? -o.c : o.c);
    set_uniform(s, destination(s), (uint32_t)sum);
    if (wide)
        set_uniform(s, destination(s) + 1, (uint32_t)(sum >> 32));
}

static void uniform_lea(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    bool carry, extended = bit(s->i, 74);
    uint64_t high = bit(s->i, 80) ? o.c : 0;
    uint32_t sum = lea(s->i, o.a, o.b, o.negate_b, high, extended && uniform_predicate(s, 87, 90), &carry);
    set_uniform(s, destination(s), sum);
    set_uniform_predicate(s, 81, carry);
}

static void uniform_logic(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    uint32_t result = lookup(bits(s->i, 72, 8), (uint32_t)o.a, (uint32_t)o.b, (uint32_t)o.c);
    bool in = uniform_predicate(s, 87, 90);
    set_uniform(s, destination(s), result);
    set_uniform_predicate(s, 81, bit(s->i, 80) ? result && in : result || in);
}

static void uniform_shift(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    set_uniform(s, destination(s), funnel(s->i, (uint32_t)o.a, (uint32_t)o.b, (uint32_t)o.c));
}

static void uniform_set(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    bool result = compare_words(s->i, o.a, o.b, uniform_predicate(s, 68, 71));
    uint32_t operation = bits(s->i, 74, 2);
    bool with = uniform_predicate(s, 87, 90);
    set_uniform_predicate(s, 81, combine(operation, result, with));
    set_uniform_predicate(s, 84, combine(operation, !result, with));
}

static void uniform_select(struct state *s)
{
    struct uniform_operands o = uniform_operands(s, 1);
    set_uniform(s, destination(s), (uint32_t)(uniform_predicate(s, 87, 90) ? o.a : o.b));
}

static void uniform_move(struct state *s)
{
    bool immediate = form_of(s->i) == MIDDLE_IMMEDIATE;
    set_uniform(s, destination(s), immediate ? bits(s->i, 32, 32) : get_uniform(s, bits(s->i, 32, 8)));
}

static void uniform_constant(struct state *s)
{
    uint32_t bytes = bytes_of_type(bits(s->i, 73, 3));
    uint64_t value = constant(s, bits(s->i, 54, 5), bits(s->i, 38, 16), bytes);
    set_uniform(s, destination(s), (uint32_t)value);
    if (bytes == 8)
        set_uniform(s, destination(s) + 1, (uint32_t)(value >> 32));
}

static void uniform_special(struct state *s)
{
    set_uniform(s, destination(s), special_register(s, bits(s->i, 72, 8), 0));
}

const struct operation uniform_operations[] = {
    {0x082, uniform_move},     {0x087, uniform_select},       {0x08c, uniform_set},
    {0x090, uniform_add3},     {0x091, uniform_lea},          {0x092, uniform_logic},
    {0x099, uniform_shift},    {0x0a4, uniform_multiply_add}, {MULTIPLY_WIDE, uniform_multiply_add},
    {0x0b9, uniform_constant}, {0x1c3, uniform_special},      {0, NULL},
};
