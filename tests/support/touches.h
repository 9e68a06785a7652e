/* Counts which 4 bytes of which array a program touches, by kind of operation.
 *
 * The functional executor puts array k of a program (if none exceeds 2 MiB) k * 2 MiB behind the first. An element of
 * 8 bytes counts at twice its number, one of a byte at a quarter. */
#ifndef PW_TESTS_TOUCHES_H
#define PW_TESTS_TOUCHES_H

#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TOUCHED_ARRAYS = 56, TOUCHED_WORDS = 1 << 15, TOUCHED_SLOT_SHIFT = 21 };
#define TOUCHED_FIRST_ADDRESS UINT64_C(0x7f4000000000)

static uint32_t touches[PW_OP_KIND_COUNT][TOUCHED_ARRAYS][TOUCHED_WORDS];
static uint64_t arrays_touched; /* the first so many, at most, since the last run began */

static inline void count_touch(unsigned kind, uint64_t address)
{
    uint64_t offset = address - TOUCHED_FIRST_ADDRESS, array = offset >> TOUCHED_SLOT_SHIFT;
    uint64_t word = (offset & ((1 << TOUCHED_SLOT_SHIFT) - 1)) / 4;
    if (address < TOUCHED_FIRST_ADDRESS || array >= TOUCHED_ARRAYS || word >= TOUCHED_WORDS)
        fail_msg("address %#llx lies in no array", (unsigned long long)address);
    touches[kind][array][word]++;
    arrays_touched = array < arrays_touched ? arrays_touched : array + 1;
}

static inline void visit_touches(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)context;
    if (op->kind < PW_OP_LOAD || op->kind > PW_OP_ATOMIC_RETURN)
        return;
    assert_int_equal(op->count_or_mask & ~w->lanes, 0);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        if (op->count_or_mask >> lane & 1)
            count_touch(op->kind, op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1]);
}

/* Runs a program, checks its result, and leaves its touches in `touches`. */
static inline struct pw_functional_counts run_and_count(const char *text, uint64_t seed)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts = {0};
    for (unsigned kind = 0; kind < PW_OP_KIND_COUNT; kind++)
        memset(touches[kind], 0, arrays_touched * sizeof touches[kind][0]);
    arrays_touched = 0;
    if (pw_program_parse(text, &p, &err) || pw_functional_run(&p, seed, true, visit_touches, NULL, &counts, &err))
        fail_msg("%s: %s", text, err.message);
    pw_program_release(&p);
    return counts;
}

/* How often each word of an array must have been touched. */
typedef uint32_t expected_touches(uint64_t word);

static inline void expect_touches(unsigned kind, unsigned array, uint64_t words, expected_touches *expected)
{
    for (uint64_t i = 0; i < TOUCHED_WORDS; i++) {
        uint32_t times = i < words ? expected(i) : 0;
        if (touches[kind][array][i] != times)
            fail_msg("kind %u, array %u, word %llu: %u touches instead of %u", kind, array, (unsigned long long)i,
                     touches[kind][array][i], times);
    }
}

#endif
