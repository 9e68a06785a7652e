/* Integer arithmetic that instructions on registers of lanes and on uniform ones share. */
#ifndef PW_EMULATOR_ARITHMETIC_H
#define PW_EMULATOR_ARITHMETIC_H

#include "state.h"

/* The sum of three words, each negated (x + 1 of its complement) or, in the extended form, complemented, and the
 * carries that come in. */
uint32_t sum3(uint64_t a, bool na, uint64_t b, bool nb, uint64_t c, bool nc, bool extended, uint32_t carries,
              uint32_t *carry_out);

uint64_t wide_product(uint64_t a, uint64_t b, bool is_signed);

/* (high:a << shift) + b, its lower word or the upper one. */
uint32_t lea(struct instruction i, uint64_t a, uint64_t b, bool negate_b, uint64_t high, bool carry_in, bool *carry);

/* Of every bit of the three words: that bit of the table whose number they are. */
uint32_t lookup(uint32_t table, uint32_t a, uint32_t b, uint32_t c);

/* high:low, shifted, its lower word or the upper one. */
uint32_t funnel(struct instruction i, uint32_t low, uint32_t shift, uint32_t high);

int64_t extended_word(uint64_t word, bool is_signed);
bool compare_words(struct instruction i, uint64_t a, uint64_t b, bool low); /* low: the result for the lower words */
bool combine(uint32_t operation, bool a, bool b);

#endif
