/* Integers, predicates and moves, also from lane to lane. */
#include "arithmetic.h"
#include "operands.h"

enum { MULTIPLY_HIGH = 0x027, VECTOR_MINIMUM = 0x048 };

static void add3(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint32_t out, in = (uint32_t)predicate(s, 87, 90, lane) + predicate(s, 77, 80, lane);
        uint32_t sum = sum3(o.a, o.negate_a, o.b, o.negate_b, o.c, o.negate_c, bit(s->i, 74), in, &out);
        set(s, destination(s), lane, sum);
        set_predicate(s, 81, lane, out >= 1);
        set_predicate(s, 84, lane, out >= 2);
    }
}

static void add2(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint32_t a = (uint32_t)(o.negate_a ? -o.a : o.a), b = (uint32_t)(o.negate_b ? -o.b : o.b);
        set(s, destination(s), lane, a + b);
    }
}

static void multiply_add(struct state *s)
{
    bool extended = bit(s->i, 74);
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint32_t product = (uint32_t)o.a * (uint32_t)o.b, carry;
        product = o.negate_a != o.negate_b ? -product : product;
        uint32_t in = extended && predicate(s, 87, 90, lane);
        set(s, destination(s), lane, sum3(product, false, o.c, o.negate_c, 0, false, extended, in, &carry));
    }
}

static void multiply_add_wide(struct state *s)
{
    bool high = opcode_of(s->i) == MULTIPLY_HIGH;
    bool is_signed = bit(s->i, 73);
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 2);
        uint64_t product = wide_product(o.a, o.b, is_signed);
        if (bit(s->i, 72) || (bit(s->i, 74)))
            unknown(s, "IMAD.WIDE.X");
        uint64_t c = o.negate_c ? -o.c : o.c, sum = product + c;
        if (high)
            set(s, destination(s), lane, (uint32_t)(sum >> 32));
        else
            set64(s, destination(s), lane, sum);
        set_predicate(s, 81, lane, sum < product);
    }
}

static void load_effective_address(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        bool carry, extended = bit(s->i, 74), middle_third = middle_is_third(s->i);
        bool negate_b = !middle_third && !middle_is_immediate(s->i) && bit(s->i, 63);
        uint64_t high = bit(s->i, 80) ? o.c : 0;
        uint32_t sum = lea(s->i, o.a, o.b, negate_b, high, extended && predicate(s, 87, 90, lane), &carry);
        set(s, destination(s), lane, sum);
        set_predicate(s, 81, lane, carry);
    }
}

static void logic(struct state *s)
{
    bool both = bit(s->i, 80);
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint32_t result = lookup(bits(s->i, 72, 8), (uint32_t)o.a, (uint32_t)o.b, (uint32_t)o.c);
        set(s, destination(s), lane, result);
        bool in = predicate(s, 87, 90, lane);
        set_predicate(s, 81, lane, both ? result && in : result || in);
    }
}

static void predicate_logic(struct state *s)
{
    uint32_t first = bits(s->i, 64, 3) | bits(s->i, 72, 5) << 3, second = bits(s->i, 16, 8);
    FOR_LANES(lane, s->lanes)
    {
        uint32_t a = predicate(s, 87, 90, lane) ? 1 : 0, b = predicate(s, 77, 80, lane) ? 1 : 0;
        uint32_t c = predicate(s, 68, 71, lane) ? 1 : 0, index = a << 2 | b << 1 | c;
        set_predicate(s, 81, lane, first >> index & 1);
        set_predicate(s, 84, lane, second >> index & 1);
    }
}

static void shift(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        set(s, destination(s), lane, funnel(s->i, (uint32_t)o.a, (uint32_t)o.b, (uint32_t)o.c));
    }
}

static void set_by_integers(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        uint64_t a = get(s, bits(s->i, 24, 8), lane), b = middle(s, lane, 1);
        set_comparison(s, lane, compare_words(s->i, a, b, predicate(s, 68, 71, lane)));
    }
}

static int64_t smaller(int64_t a, int64_t b, bool smallest)
{
    return (a < b) == smallest ? a : b;
}

/* IMNMX has its sign in bit 73, the newer VIMNMX and its like in bit 72. */
static void minimum(struct state *s)
{
    bool is_signed = bit(s->i, opcode_of(s->i) == VECTOR_MINIMUM ? 72 : 73);
    FOR_LANES(lane, s->lanes)
    {
        int64_t a = extended_word(get(s, bits(s->i, 24, 8), lane), is_signed);
        int64_t b = extended_word(middle(s, lane, 1), is_signed);
        set(s, destination(s), lane, (uint32_t)smaller(a, b, predicate(s, 87, 90, lane)));
    }
}

static void minimum_of_sum(struct state *s)
{
    bool is_signed = bit(s->i, 72);
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint32_t sum = (uint32_t)(o.a + (!middle_is_third(s->i) && o.negate_b ? -o.b : o.b));
        int64_t first = extended_word(sum, is_signed), second = extended_word((uint32_t)o.c, is_signed);
        set(s, destination(s), lane, (uint32_t)smaller(first, second, predicate(s, 87, 90, lane)));
    }
}

static void minimum_of_three(struct state *s)
{
    bool is_signed = bit(s->i, 72);
    FOR_LANES(lane, s->lanes)
    {
        bool smallest = predicate(s, 87, 90, lane);
        int64_t a = extended_word(get(s, bits(s->i, 24, 8), lane), is_signed);
        int64_t b = extended_word(middle(s, lane, 1), is_signed), c = extended_word(last(s, lane, 1), is_signed);
        set(s, destination(s), lane, (uint32_t)smaller(smaller(a, b, smallest), c, smallest));
    }
}

static void select_word(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        bool first = predicate(s, 87, 90, lane);
        set(s, destination(s), lane, first ? get(s, bits(s->i, 24, 8), lane) : (uint32_t)middle(s, lane, 1));
    }
}

static void permute(struct state *s)
{
    if (bits(s->i, 72, 3))
        unknown(s, "PRMT with a mode");
    FOR_LANES(lane, s->lanes)
    {
        struct operands o = operands(s, lane, 1, 1, 1);
        uint64_t pool = (uint64_t)(uint32_t)o.c << 32 | (uint32_t)o.a;
        uint32_t result = 0;
        for (uint32_t byte = 0; byte < 4; byte++) {
            uint32_t selector = (uint32_t)o.b >> 4 * byte & 15;
            uint32_t value = pool >> 8 * (selector & 7) & 0xff;
            value = selector & 8 ? (value & 0x80 ? 0xff : 0) : value;
            result |= value << 8 * byte;
        }
        set(s, destination(s), lane, result);
    }
}

/* Where a lane of a SHFL gets its value from: the lane that the mode says, or itself if that lies outside of its segment.
 * `range` has the last lane that counts in its lowest five bits, and above them which bits of a lane tell its segment. */
static uint32_t shuffled_from(struct state *s, uint32_t lane, uint32_t by, uint32_t range)
{
    enum { INDEX, UP, DOWN, BUTTERFLY };
    uint32_t mode = bits(s->i, 58, 2), segment = range >> 8 & 31, end = (range & 31 & ~segment) | (lane & segment);
    by &= 31;
    uint32_t from = mode == INDEX  ? (lane & segment) | (by & ~segment)
                    : mode == UP   ? lane - by
                    : mode == DOWN ? lane + by
                                   : lane ^ by;
    bool inside = mode == UP ? (int32_t)from >= (int32_t)end : from <= end;
    set_predicate(s, 81, lane, inside);
    return inside ? from : lane;
}

/* The lane and the range are registers or immediates, each by itself. */
static void shuffle(struct state *s)
{
    uint32_t form = form_of(s->i), given[LANES];
    bool by_register = form == MIDDLE_REGISTER || form == MIDDLE_IS_THIRD_IMMEDIATE;
    bool range_register = form == MIDDLE_REGISTER || form == MIDDLE_IMMEDIATE;
    FOR_LANES(lane, s->lanes)
    given[lane] = get(s, bits(s->i, 24, 8), lane);
    FOR_LANES(lane, s->lanes)
    {
        uint32_t by = by_register ? get(s, bits(s->i, 32, 8), lane) : bits(s->i, 53, 5);
        uint32_t range = range_register ? get(s, bits(s->i, 64, 8), lane) : bits(s->i, 40, 13);
        uint32_t from = shuffled_from(s, lane, by, range);
        if (!(s->lanes >> from & 1))
            unknown(s, "SHFL from a lane that is not there");
        set(s, destination(s), lane, given[from]);
    }
}

static void absolute(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        uint32_t a = (uint32_t)middle(s, lane, 1);
        set(s, destination(s), lane, (int32_t)a < 0 ? -a : a);
    }
}

static void move(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    set(s, destination(s), lane, (uint32_t)middle(s, lane, 1));
}

/* The compiler's other way to load an immediate: 0 x 0 + two halves. */
static void move_halves(struct state *s)
{
    if (bits(s->i, 24, 8) != ZERO_REGISTER || bits(s->i, 64, 8) != ZERO_REGISTER || !middle_is_immediate(s->i))
        unknown(s, "arithmetic of halves");
    move(s);
}

static uint32_t packed_predicates(const struct warp *w, uint32_t lane)
{
    uint32_t packed = 0;
    for (uint32_t p = 0; p < TRUE_PREDICATE; p++)
        packed |= (w->predicates[p] >> lane & 1) << p;
    return packed;
}

static void predicates_to_register(struct state *s)
{
    uint32_t mask = bits(s->i, 32, 32);
    FOR_LANES(lane, s->lanes)
    {
        uint32_t kept = get(s, bits(s->i, 24, 8), lane) & ~mask;
        set(s, destination(s), lane, kept | (packed_predicates(s->w, lane) & mask));
    }
}

static void read_special(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    set(s, destination(s), lane, special_register(s, bits(s->i, 72, 8), lane));
}

static void read_counter(struct state *s)
{
    FOR_LANES(lane, s->lanes)
    {
        uint32_t value = special_register(s, bits(s->i, 72, 8), lane);
        if (bit(s->i, 80))
            set64(s, destination(s), lane, value);
        else
            set(s, destination(s), lane, value);
    }
}

const struct operation integer_operations[] = {
    {0x002, move},
    {0x003, predicates_to_register},
    {0x005, read_counter},
    {0x007, select_word},
    {0x00c, set_by_integers},
    {0x00f, minimum_of_three},
    {0x010, add3},
    {0x011, load_effective_address},
    {0x012, logic},
    {0x013, absolute},
    {0x016, permute},
    {0x017, minimum},
    {0x019, shift},
    {0x01c, predicate_logic},
    {0x024, multiply_add},
    {0x025, multiply_add_wide},
    {MULTIPLY_HIGH, multiply_add_wide},
    {0x035, move_halves},
    {0x036, add2},
    {0x046, minimum_of_sum},
    {VECTOR_MINIMUM, minimum},
    {0x119, read_special},
    {0x189, shuffle},
    {0, NULL},
};
