/* Operands of instructions, and what several kinds of them do alike. The field in bits 32 to 63 is a register, an immediate, a constant or a
 * uniform register; whether the second or the third operand stands there, and the other one in bits 64 to 71, the form
 * says. */
#ifndef PW_EMULATOR_OPERANDS_H
#define PW_EMULATOR_OPERANDS_H

#include "state.h"

enum operand_form {
    MIDDLE_REGISTER = 1,
    MIDDLE_IS_THIRD_IMMEDIATE,
    MIDDLE_IS_THIRD_CONSTANT,
    MIDDLE_IMMEDIATE,
    MIDDLE_CONSTANT,
    MIDDLE_UNIFORM,
    MIDDLE_IS_THIRD_UNIFORM,
};

struct operands {
    uint64_t a, b, c;
    bool negate_a, negate_b, negate_c, abs_a, abs_b, abs_c;
};

/* With so many words each, 1 or 2. Modifiers are told, not applied. */
struct operands operands(const struct state *s, uint32_t lane, uint32_t words_a, uint32_t words_b, uint32_t words_c);

uint64_t middle(const struct state *s, uint32_t lane, uint32_t words); /* bits 32 to 63 */
uint64_t last(const struct state *s, uint32_t lane, uint32_t words);   /* bits 64 to 71 */
bool middle_is_third(struct instruction i);
bool middle_is_immediate(struct instruction i);

uint64_t constant(const struct state *s, uint32_t bank, uint32_t offset, uint32_t bytes);

uint32_t bytes_of_type(uint32_t type); /* as memory instructions name it */

uint32_t special_register(const struct state *s, uint32_t index, uint32_t lane);

/* Both predicates of a comparison: its result, and the opposite, each combined with a third predicate. */
void set_comparison(struct state *s, uint32_t lane, bool result);

#endif
