/* Machine code of GPUs as a test writes it, field by field (capture/code.h names them). */
#ifndef PW_TEST_MACHINE_CODE_H
#define PW_TEST_MACHINE_CODE_H

#include <stdint.h>
#include <string.h>

enum { OTHER = 0x210, BRANCH = 0x947, EXIT_CODE = 0x94d, JOIN_CODE = 0x941, ALWAYS = 7 };
enum { TENSOR_LOAD_CODE = 0x5b4, BULK_COPY_CODE = 0x3ba, GENERIC_LOAD_CODE = 0x980 };

struct instruction {
    uint32_t opcode, predicate;
    int64_t target;                 /* of a branch: number of an instruction */
    uint32_t scoreboard, waits_for; /* scoreboard 0: none, else its number + 1 */
};

static inline void encode_one(uint8_t *out, uint32_t at, struct instruction i, int split)
{
    uint64_t low = i.opcode | (uint64_t)i.predicate << 12;
    uint64_t high = (uint64_t)i.waits_for << 52 | (uint64_t)(i.scoreboard ? i.scoreboard - 1 : 7) << 46 | 7ULL << 49;
    if (i.opcode == BRANCH) {
        int64_t words = (i.target - (int64_t)at - 1) * 4;
        uint64_t field = (uint64_t)(split ? words >> 8 : words);
        low |= field << 34 | (split ? (uint64_t)(words & 0xff) << 16 : 0);
        high |= field >> 30 & 0x3ffff;
    }
    memcpy(out + 16 * (size_t)at, &low, 8);
    memcpy(out + 16 * (size_t)at + 8, &high, 8);
}

/* Gives an instruction its stall count, and a scoreboard for its operands: 0: none, else its number + 1. */
static inline void encode_times(uint8_t *out, uint32_t at, uint32_t stall, uint32_t operands)
{
    uint64_t high;
    memcpy(&high, out + 16 * (size_t)at + 8, 8);
    high = (high & ~(15ULL << 41 | 7ULL << 49)) | (uint64_t)stall << 41 | (uint64_t)(operands ? operands - 1 : 7) << 49;
    memcpy(out + 16 * (size_t)at + 8, &high, 8);
}

/* With the branch to itself at the end that every kernel has: count + 1 instructions. */
static inline void encode(uint8_t *out, const struct instruction *code, uint32_t count, int split)
{
    for (uint32_t i = 0; i < count; i++)
        encode_one(out, i, code[i], split);
    encode_one(out, count, (struct instruction){BRANCH, ALWAYS, count, 0, 0}, split);
}

#endif
