#include "arithmetic.h"

uint32_t sum3(uint64_t a, bool na, uint64_t b, bool nb, uint64_t c, bool nc, bool extended, uint32_t carries,
              uint32_t *carry_out)
{
    uint64_t values[3] = {a, b, c}, total = extended ? carries : 0;
    bool negated[3] = {na, nb, nc};
    for (int i = 0; i < 3; i++) {
        uint64_t v = (uint32_t)values[i];
        total += negated[i] ? (uint64_t)(uint32_t)~v + !extended : v;
    }
    *carry_out = (uint32_t)(total >> 32);
    return (uint32_t)total;
}

uint64_t wide_product(uint64_t a, uint64_t b, bool is_signed)
{
    return is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)(uint32_t)a * (uint32_t)b;
}

uint32_t lea(struct instruction i, uint64_t a, uint64_t b, bool negate_b, uint64_t high, bool carry_in, bool *carry)
{
    uint32_t shift = bits(i, 75, 5);
    bool extended = bit(i, 74), upper = bit(i, 80), negate_a = bit(i, 72);
    if (bit(i, 73)) /* .SX32 */
        high = (uint32_t)((int32_t)(uint32_t)a >> 31);
    uint64_t shifted = (high << 32 | (uint32_t)a) << shift;
    uint32_t out;
    uint32_t sum = sum3(upper ? shifted >> 32 : shifted, negate_a, b, negate_b, 0, false, extended, carry_in, &out);
    *carry = out;
    return sum;
}

uint32_t lookup(uint32_t table, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

uint32_t funnel(struct instruction i, uint32_t low, uint32_t shift, uint32_t high)
{
    enum { SIGNED_64, UNSIGNED_64, SIGNED_32, UNSIGNED_32 };
    uint32_t type = bits(i, 73, 2), most = type <= UNSIGNED_64 ? 63 : 32;
    bool is_signed = type == SIGNED_64 || type == SIGNED_32, right = bit(i, 76), upper = bit(i, 80);
    if (bit(i, 75))
        shift &= type <= UNSIGNED_64 ? 63 : 31;
    else if (shift > most)
        shift = most;
    uint64_t value = (uint64_t)high << 32 | low;
    uint64_t shifted = !right ? value << shift : is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
    return (uint32_t)(upper ? shifted >> 32 : shifted);
}

static bool compare_integers(uint32_t operation, int64_t a, int64_t b)
{
    return (operation & 1 && a < b) || (operation & 2 && a == b) || (operation & 4 && a > b);
}

bool combine(uint32_t operation, bool a, bool b)
{
    return operation == 0 ? a && b : operation == 1 ? a || b : a != b;
}

int64_t extended_word(uint64_t word, bool is_signed)
{
    return is_signed ? (int32_t)(uint32_t)word : (int64_t)(uint32_t)word;
}

bool compare_words(struct instruction i, uint64_t a, uint64_t b, bool low)
{
    int64_t x = extended_word(a, bit(i, 73)), y = extended_word(b, bit(i, 73));
    return bit(i, 72) && x == y ? low : compare_integers(bits(i, 76, 3), x, y);
}
