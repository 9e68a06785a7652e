/* Floating point and conversions. */
#include "arithmetic.h"
#include "operands.h"

#include <math.h>
#include <string.h>

static float as_float(uint64_t bits_)
{
    uint32_t word = (uint32_t)bits_;
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

static uint32_t float_bits(float f)
{
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return word;
}

static double as_double(uint64_t word)
{
    double d;
    memcpy(&d, &word, sizeof d);
    return d;
}

static uint64_t double_bits(double d)
{
    uint64_t word;
    memcpy(&word, &d, sizeof word);
    return word;
}

static float float_operand(uint64_t value, bool negated, bool absolute)
{
    float f = as_float(value);
    f = absolute ? fabsf(f) : f;
    return negated ? -f : f;
}

static double double_operand(uint64_t value, bool negated, bool absolute)
{
    double d = as_double(value);
    d = absolute ? fabs(d) : d;
    return negated ? -d : d;
}

static bool compare_floats(uint32_t operation, double a, double b)
{
    bool unordered = a != a || b != b;
    if (unordered)
        return operation >= 8;
    return (operation & 1 && a < b) || (operation & 2 && a == b) || (operation & 4 && a > b);
}

/* Directed rounding of what was computed in double precision, which rounds first; the difference is rare. */
static float float_rounded(double value, uint32_t mode)
{
    enum { NEAREST, DOWN, UP, ZERO };
    float f = (float)value;
    if (mode == UP && f < value)
        f = nextafterf(f, INFINITY);
    if (mode == DOWN && f > value)
        f = nextafterf(f, -INFINITY);
    if (mode == ZERO && fabs((double)f) > fabs(value))
        f = nextafterf(f, 0);
    return f;
}

static float float_result(const struct state *s, const struct operands *o)
{
    enum { MULTIPLY = 0x20, ADD = 0x21 };
    uint32_t op = opcode_of(s->i), rounding = bits(s->i, 78, 2);
    bool fused = op != MULTIPLY && op != ADD;
    if (fused && (o->abs_b || o->abs_c))
        unknown(s, "FFMA with an absolute value other than the first");
    float a = float_operand(o->a, o->negate_a, o->abs_a), b = float_operand(o->b, o->negate_b, o->abs_b);
    float c = float_operand(o->c, o->negate_c, o->abs_c), added = middle_is_third(s->i) ? c : b;
    if (rounding)
        return float_rounded(op == MULTIPLY ? (double)a * b
                             : op == ADD    ? (double)a + added
                                            : fma((double)a, (double)b, (double)c),
                             rounding);
    return op == MULTIPLY ? a * b : op == ADD ? a + added : fmaf(a, b, c);
}

static void float_arithmetic(struct state *s)
{
    bool saturates = bit(s->i, 77);
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        float result = float_result(s, &o);
        if (saturates)
            result = result > 1 ? 1 : result > 0 ? result : 0;
        set(s, destination(s), lane, float_bits(result));
    }
}

static float float_in_middle(const struct state *s, uint32_t lane)
{
    bool plain = middle_is_immediate(s->i);
    return float_operand(middle(s, lane, 1), !plain && bit(s->i, 63), !plain && bit(s->i, 62));
}

static double double_in_middle(const struct state *s, uint32_t lane)
{
    bool plain = middle_is_immediate(s->i);
    return double_operand(middle(s, lane, 2), !plain && bit(s->i, 63), !plain && bit(s->i, 62));
}

static float float_first(const struct state *s, uint32_t lane)
{
    return float_operand(get(s, bits(s->i, 24, 8), lane), bit(s->i, 72), bit(s->i, 73));
}

static void set_by_floats(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    set_comparison(s, lane, compare_floats(bits(s->i, 76, 4), float_first(s, lane), float_in_middle(s, lane)));
}

static void select_float(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        float value = predicate(s, 87, 90, lane) ? float_first(s, lane) : float_in_middle(s, lane);
        set(s, destination(s), lane, float_bits(value));
    }
}

static void minimum_float(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        float a = float_first(s, lane), b = float_in_middle(s, lane);
        set(s, destination(s), lane, float_bits(predicate(s, 87, 90, lane) ? fminf(a, b) : fmaxf(a, b)));
    }
}

static void double_arithmetic(struct state *s)
{
    enum { MULTIPLY = 0x28, ADD = 0x29 };
    if (bits(s->i, 78, 2))
        unknown(s, "directed rounding of doubles");
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 2, 2, 2);
        double a = double_operand(o.a, o.negate_a, o.abs_a), b = double_operand(o.b, o.negate_b, o.abs_b);
        double c = double_operand(o.c, o.negate_c, o.abs_c);
        uint32_t op = opcode_of(s->i);
        double result = op == MULTIPLY ? a * b : op == ADD ? a + c : fma(a, b, c);
        set64(s, destination(s), lane, double_bits(result));
    }
}

static void set_by_doubles(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        double a = double_operand(get64(s, bits(s->i, 24, 8), lane), bit(s->i, 72), bit(s->i, 73));
        set_comparison(s, lane, compare_floats(bits(s->i, 76, 4), a, double_in_middle(s, lane)));
    }
}

static uint32_t special_function(const struct state *s, uint32_t lane)
{
    enum { COS, SIN, EXP2, LOG2, RCP, RSQ, RCP64H, RSQ64H, SQRT, TANH };
    float a = float_in_middle(s, lane);
    switch (bits(s->i, 74, 6)) {
    case EXP2:
        return float_bits(exp2f(a));
    case LOG2:
        return float_bits(log2f(a));
    case RCP:
        return float_bits(1 / a);
    case RSQ:
        return float_bits(1 / sqrtf(a));
    case SQRT:
        return float_bits(sqrtf(a));
    case RCP64H:
        return (uint32_t)(double_bits(1 / double_operand((uint64_t)float_bits(a) << 32, false, false)) >> 32);
    case RSQ64H:
        return (uint32_t)(double_bits(1 / sqrt(as_double((uint64_t)float_bits(a) << 32))) >> 32);
    default:
        unknown(s, "MUFU");
    }
}

static void special_functions(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    set(s, destination(s), lane, special_function(s, lane));
}

/* Whether a division needs the slow path: the fast one is exact unless an operand, the result or a step on the way is
 * zero, denormal, infinite or no number. Which cases those are in detail is a guess. */
static void check_division(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        uint32_t a = float_bits(float_first(s, lane)) >> 23 & 0xff,
                 b = float_bits(float_in_middle(s, lane)) >> 23 & 0xff;
        int quotient = (int)a - (int)b;
        bool slow = a == 255 || b == 255 || b == 0 || b >= 253 || (a && (a < 24 || quotient > 126 || quotient < -125));
        set_predicate(s, 81, lane, slow);
    }
}

static double rounded(double value, uint32_t mode)
{
    enum { NEAREST, DOWN, UP, ZERO };
    return mode == NEAREST ? nearbyint(value) : mode == DOWN ? floor(value) : mode == UP ? ceil(value) : trunc(value);
}

static void float_to_integer(struct state *s)
{
    enum { WORD = 2 };
    if (bits(s->i, 75, 2) != WORD)
        unknown(s, "F2I of another size");
    bool is_signed = bit(s->i, 72), from_double = opcode_of(s->i) == 0x111;
    FOR_LANES(lane, s->lanes)
    {
        bool plain = middle_is_immediate(s->i);
        double value = from_double
                           ? double_in_middle(s, lane)
                           : float_operand(middle(s, lane, 1), !plain && bit(s->i, 63), !plain && bit(s->i, 62));
        value = value != value ? 0 : rounded(value, bits(s->i, 78, 2));
        double least = is_signed ? -0x1p31 : 0, most = is_signed ? 0x1p31 - 1 : 0x1p32 - 1;
        value = value < least ? least : value > most ? most : value;
        set(s, destination(s), lane, (uint32_t)(int64_t)value);
    }
}

static void integer_to_float(struct state *s)
{
    enum { WORD = 2 };
    if (bits(s->i, 84, 2) != WORD)
        unknown(s, "I2F of another size");
    bool is_signed = bit(s->i, 74), to_double = opcode_of(s->i) == 0x112;
    FOR_LANES(lane, s->lanes)
    {
        double value = (double)extended_word(middle(s, lane, 1), is_signed);
        if (to_double)
            set64(s, destination(s), lane, double_bits(value));
        else
            set(s, destination(s), lane, float_bits(float_rounded(value, bits(s->i, 78, 2))));
    }
}

static void float_to_float(struct state *s)
{
    enum { SINGLE = 2, DOUBLE = 3 };
    uint32_t to = bits(s->i, 75, 2), from = bits(s->i, 84, 2);
    FOR_LANES(lane, s->lanes)
    {
        if (from == SINGLE && to == DOUBLE)
            set64(s, destination(s), lane, double_bits(float_in_middle(s, lane)));
        else if (from == DOUBLE && to == SINGLE)
            set(s, destination(s), lane, float_bits((float)double_in_middle(s, lane)));
        else
            unknown(s, "F2F");
    }
}

const struct operation float_operations[] = {
    {0x008, select_float},
    {0x009, minimum_float},
    {0x00b, set_by_floats},
    {0x020, float_arithmetic},
    {0x021, float_arithmetic},
    {0x023, float_arithmetic},
    {0x028, double_arithmetic},
    {0x029, double_arithmetic},
    {0x02a, set_by_doubles},
    {0x02b, double_arithmetic},
    {0x045, integer_to_float},
    {0x102, check_division},
    {0x105, float_to_integer},
    {0x106, integer_to_float},
    {0x108, special_functions},
    {0x110, float_to_float},
    {0x111, float_to_integer},
    {0x112, integer_to_float},
    {0, NULL},
};
