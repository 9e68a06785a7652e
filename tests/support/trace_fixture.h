/* Traces for tests: operations at random, as kernels have them and as nobody has, and files that are gone
 * afterwards. */
#ifndef PW_TESTS_TRACE_FIXTURE_H
#define PW_TESTS_TRACE_FIXTURE_H

#include "sim/random.h"
#include "trace/trace_internal.h"
#include "trace/trace_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct traced_op {
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
};

static inline void assert_ok(enum pw_status status, const struct pw_error *err)
{
    if (status != PW_OK)
        fail_msg("%s", err->message);
}

/* Words behind the first one. */
static inline size_t traced_words(const struct pw_op *op)
{
    return pw_op_words(*op) - 1;
}

/* Lowest first, inclusive. */
static inline uint64_t random_between(struct pw_random *r, uint64_t low, uint64_t high)
{
    return low + pw_random_below(r, high - low + 1);
}

static inline uint32_t random_mask(struct pw_random *r)
{
    uint32_t mask = (uint32_t)pw_random_next(r);
    switch (pw_random_below(r, 4)) {
    case 0:
        return PW_ALL_LANES;
    case 1:
        return 1U << pw_random_below(r, 32);
    case 2:
        return PW_ALL_LANES >> pw_random_below(r, 32);
    default:
        return mask ? mask : 1;
    }
}

/* An access somewhere in [first, first + bytes), which has room for 32 lanes of 16 bytes. */
static inline struct traced_op random_access(struct pw_random *r, uint64_t first, uint64_t bytes)
{
    struct traced_op t = {
        .op = {.kind = (uint8_t)random_between(r, PW_OP_LOAD, PW_OP_ATOMIC_RETURN),
               .form = (uint8_t)pw_random_below(r, 2),
               .bytes = (uint8_t)(1U << pw_random_below(r, 5)),
               .loads_in_flight = pw_random_below(r, 2) ? PW_ANY_IN_FLIGHT : (uint8_t)pw_random_below(r, 9),
               .count_or_mask = random_mask(r)}};
    uint64_t room = bytes - t.op.bytes;
    if (t.op.form == PW_FORM_AFFINE) {
        uint64_t most = pw_random_below(r, 2) ? room / 31 : (uint64_t)t.op.bytes;
        t.words[1] = pw_random_below(r, most + 1);
        t.words[0] = first + pw_random_below(r, room - 31 * t.words[1] + 1);
        if (pw_random_below(r, 2)) { /* downwards */
            t.words[0] += 31 * t.words[1];
            t.words[1] = -t.words[1];
        }
        return t;
    }
    uint64_t unit = UINT64_C(1) << pw_random_below(r, 8), reach = pw_random_below(r, 3) ? room
                                                                  : room < 4096         ? room
                                                                                        : 4096;
    for (size_t i = 0; i < traced_words(&t.op); i++)
        t.words[i] = first + pw_random_below(r, reach + 1) / unit * unit;
    return t;
}

/* Something between accesses; an exit only when asked for. */
static inline struct traced_op random_other(struct pw_random *r)
{
    struct traced_op t = {
        .op = {.kind = pw_random_below(r, 4) ? PW_OP_COMPUTE : PW_OP_BARRIER,
               .loads_in_flight = pw_random_below(r, 2) ? PW_ANY_IN_FLIGHT : (uint8_t)pw_random_next(r)}};
    if (t.op.kind == PW_OP_COMPUTE)
        t.op.count_or_mask = pw_random_below(r, 4) ? (uint32_t)pw_random_below(r, 40) : (uint32_t)pw_random_next(r);
    return t;
}

static inline void assert_same_op(const struct traced_op *t, const struct pw_op *op, const uint64_t *words)
{
    assert_memory_equal(op, &t->op, sizeof *op);
    assert_memory_equal(words, t->words, 8 * traced_words(op));
}

/* Everything of one warp that a trace has is what it should be. */
static inline void assert_warp(struct pw_trace_launch *l, uint32_t cta, uint32_t warp, const struct traced_op *ops,
                               size_t count)
{
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    struct pw_error err;
    pw_trace_cursor_start(&c, l, cta, warp);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pw_trace_cursor_next(&c, &op, words, &err), PW_TRACE_STEP_OP);
        assert_same_op(&ops[i], &op, words);
    }
    assert_int_equal(pw_trace_cursor_next(&c, &op, words, &err), PW_TRACE_STEP_END);
    assert_int_equal(pw_trace_cursor_next(&c, &op, words, &err), PW_TRACE_STEP_END);
}

#endif
