/* The coder of operations: every kind, form and corner comes out as it went in, loops become the same few bytes, lanes
 * at random take what they must, and bytes that are no operation are refused. */
#include "trace_fixture.h"

#include "trace/bytes.h"

enum { CAPACITY = 1 << 20 };

struct coded {
    uint8_t bytes[CAPACITY + PW_OP_CODE_SLACK];
    size_t used;
    struct pw_op_coder coder;
};

static struct coded *begin(uint64_t origin)
{
    struct coded *c = calloc(1, sizeof *c);
    assert_non_null(c);
    pw_op_coder_start(&c->coder, origin);
    return c;
}

static size_t add(struct coded *c, const struct traced_op *t)
{
    assert_true(pw_op_is_sound(&t->op));
    size_t bytes = pw_op_encode(&c->coder, &t->op, t->words, c->bytes + c->used);
    assert_in_range(bytes, 1, PW_OP_CODE_MOST);
    c->used += bytes;
    assert_true(c->used + PW_OP_CODE_MOST <= CAPACITY);
    return bytes;
}

/* Decodes everything; the encoder's state must be what the decoder ends with. */
static void assert_decodes(struct coded *c, uint64_t origin, const struct traced_op *ops, size_t count)
{
    struct pw_op_coder coder;
    const uint8_t *at = c->bytes, *end = at + c->used;
    pw_op_coder_start(&coder, origin);
    for (size_t i = 0; i < count; i++) {
        struct pw_op op;
        uint64_t words[PW_WARP_LANES];
        at = pw_op_decode(&coder, at, end, &op, words);
        assert_non_null(at);
        assert_same_op(&ops[i], &op, words);
    }
    assert_ptr_equal(at, end);
    assert_int_equal(coder.newest, c->coder.newest);
    for (unsigned i = 0; i < PW_TRACE_RECENT; i++)
        assert_int_equal(coder.recent[i].address, c->coder.recent[i].address);
}

static void round_trip(const struct traced_op *ops, size_t count, uint64_t origin)
{
    struct coded *c = begin(origin);
    for (size_t i = 0; i < count; i++)
        add(c, &ops[i]);
    assert_decodes(c, origin, ops, count);
    free(c);
}

static struct traced_op affine(uint8_t kind, uint8_t bytes, uint32_t mask, uint64_t base, uint64_t stride)
{
    return (struct traced_op){.op = {.kind = kind,
                                     .form = PW_FORM_AFFINE,
                                     .bytes = bytes,
                                     .loads_in_flight = PW_ANY_IN_FLIGHT,
                                     .count_or_mask = mask},
                              .words = {base, stride}};
}

static struct traced_op other(uint8_t kind, uint32_t count, uint8_t in_flight)
{
    return (struct traced_op){.op = {.kind = kind, .loads_in_flight = in_flight, .count_or_mask = count}};
}

static void every_corner_comes_out_as_it_went_in(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {
        0,           1,          14,         15,         16,         30,         31,
        62,          63,         64,         127,        128,        1ULL << 31, 1ULL << 32,
        1ULL << 56,  1ULL << 57, 1ULL << 63, UINT64_MAX, 0x7fffffff, 0x80000000, UINT64_MAX - 30,
        -2147483648, -2147483649};
    static const uint32_t masks[] = {PW_ALL_LANES, 1, 0x80000000, 0x55555555, 0x7fffffff};
    enum { NUMBERS = sizeof numbers / sizeof *numbers, MASKS = sizeof masks / sizeof *masks };
    for (unsigned i = 0; i < NUMBERS; i++)
        for (unsigned k = 0; k < NUMBERS; k++) {
            struct traced_op ops[8 + MASKS];
            size_t count = 0;
            for (uint8_t kind = PW_OP_LOAD; kind <= PW_OP_ATOMIC_RETURN; kind++)
                ops[count++] = affine(kind, (uint8_t)(1 << i % 5), masks[k % MASKS], numbers[i], numbers[k]);
            ops[count++] = other(PW_OP_COMPUTE, (uint32_t)numbers[i], (uint8_t)numbers[k]);
            ops[count++] = other(PW_OP_BARRIER, (uint32_t)numbers[i], (uint8_t)numbers[k]);
            ops[count++] = other(PW_OP_EXIT, (uint32_t)numbers[i], (uint8_t)numbers[k]);
            for (unsigned m = 0; m < MASKS; m++) {
                struct traced_op *t = &ops[count++];
                *t = affine(PW_OP_LOAD, 16, masks[m], 0, 0);
                t->op.form = PW_FORM_LANES;
                for (unsigned w = 0; w < traced_words(&t->op); w++)
                    t->words[w] = w % 3 ? numbers[(i + w) % NUMBERS] : numbers[k];
            }
            round_trip(ops, count, numbers[k]);
        }
}

static void lanes_of_every_width_and_unit_come_back(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 1, "lanes");
    for (unsigned width = 0; width <= 64; width++)
        for (unsigned shift = 0; shift < 64; shift += 7)
            for (unsigned lanes = 1; lanes <= 32; lanes++) {
                struct traced_op ops[3];
                for (unsigned i = 0; i < 3; i++) {
                    ops[i] = affine(PW_OP_STORE, 2, PW_ALL_LANES >> (32 - lanes), 0, 0);
                    ops[i].op.form = PW_FORM_LANES;
                    for (unsigned k = 0; k < lanes; k++) {
                        uint64_t offset = width ? pw_random_next(&r) >> (64 - width) : 0;
                        ops[i].words[k] = (offset << shift) + 12345;
                    }
                }
                round_trip(ops, 3, 0);
            }
}

static void random_operations_come_back(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 2, "operations");
    static struct traced_op ops[3000];
    for (unsigned round = 0; round < 20; round++) {
        size_t count = sizeof ops / sizeof *ops;
        for (size_t i = 0; i < count; i++)
            ops[i] =
                pw_random_below(&r, 3) ? random_access(&r, UINT64_C(1) << 40, UINT64_C(1) << 33) : random_other(&r);
        round_trip(ops, count, pw_random_next(&r));
    }
}

/* A loop of several accesses, each with a stride of its own, and another mask and width: from the third round on every
 * round is the same bytes, two for an access. */
static void a_loop_becomes_the_same_bytes(void **state)
{
    (void)state;
    for (unsigned accesses = 1; accesses <= PW_TRACE_RECENT; accesses++) {
        struct coded *c = begin(0);
        size_t begins[8] = {0}, bytes = 0;
        for (unsigned round = 0; round < 8; round++) {
            begins[round] = c->used;
            for (unsigned i = 0; i < accesses; i++) {
                uint64_t base = (UINT64_C(1) << 40) * (i + 1) + round * (128 + 4 * i);
                struct traced_op t = affine(PW_OP_LOAD, (uint8_t)(1 << i % 4), PW_ALL_LANES >> i, base, 4 + i);
                struct traced_op between = other(PW_OP_COMPUTE, 1 + i, (uint8_t)(i ? 1 : PW_ANY_IN_FLIGHT));
                bytes = add(c, &t);
                add(c, &between);
            }
        }
        assert_int_equal(bytes, 2);
        for (unsigned round = 4; round < 8; round++)
            assert_memory_equal(c->bytes + begins[3], c->bytes + begins[round], begins[4] - begins[3]);
        free(c);
    }
}

static void lanes_at_random_take_little_more_than_their_bits(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 3, "gather");
    for (unsigned bits = 8; bits <= 40; bits += 4) {
        struct coded *c = begin(0);
        enum { OPS = 200 };
        for (unsigned i = 0; i < OPS; i++) {
            struct traced_op t = affine(PW_OP_LOAD, 4, PW_ALL_LANES, 0, 0);
            t.op.form = PW_FORM_LANES;
            for (unsigned k = 0; k < 32; k++)
                t.words[k] = (UINT64_C(1) << 46) + 4 * pw_random_below(&r, UINT64_C(1) << bits);
            add(c, &t);
        }
        assert_in_range(c->used, OPS * 4 * bits, OPS * (4 * bits + 12));
        free(c);
    }
}

static void what_cannot_be_coded_is_known(void **state)
{
    (void)state;
    static const struct pw_op unsound[] = {
        {.kind = PW_OP_LOAD, .bytes = 4, .count_or_mask = 0},
        {.kind = PW_OP_LOAD, .bytes = 3, .count_or_mask = 1},
        {.kind = PW_OP_LOAD, .bytes = 0, .count_or_mask = 1},
        {.kind = PW_OP_LOAD, .bytes = 32, .count_or_mask = 1},
        {.kind = PW_OP_LOAD, .form = 2, .bytes = 4, .count_or_mask = 1},
        {.kind = PW_OP_KIND_COUNT},
        {.kind = PW_OP_COMPUTE, .bytes = 4},
        {.kind = PW_OP_EXIT, .form = PW_FORM_LANES},
    };
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++)
        assert_false(pw_op_is_sound(&unsound[i]));
}

/* Whether bytes are an operation, all of them. */
static bool decodes(const uint8_t *bytes, size_t count)
{
    uint8_t padded[64 + PW_OP_CODE_SLACK] = {0};
    struct pw_op_coder c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    memcpy(padded, bytes, count);
    pw_op_coder_start(&c, 0);
    const uint8_t *at = pw_op_decode(&c, padded, padded + count, &op, words);
    assert_true(!at || at == padded + count);
    return at;
}

static void bytes_that_are_no_operation_are_refused(void **state)
{
    (void)state;
    struct {
        uint8_t bytes[16];
        size_t count;
        bool sound;
    } cases[] = {
        {{0x10}, 1, true},                               /* one instruction */
        {{0x00, 0x80}, 2, false},                        /* a count that does not end */
        {{0x00, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6, true}, /* 2^32 - 1 instructions */
        {{0x00, 0xff, 0xff, 0xff, 0xff, 0x1f}, 6, false},
        {{0x08}, 1, false}, /* loads in flight missing */
        {{0x07}, 1, false}, /* a kind that is none */
        {{0x05}, 1, true},  /* a barrier */
        {{0x25}, 1, false}, /* with a flag that is none */
        {{0x01}, 1, false}, /* a load without an address */
        {{0x01, 0x00}, 2, true},
        {{0x01, 0xf8}, 2, false},             /* an address that is missing */
        {{0x21, 0x00, 1, 0, 0, 0}, 6, true},  /* a mask */
        {{0x21, 0x00, 0, 0, 0, 0}, 6, false}, /* of no lanes */
        {{0x21, 0x00, 1, 0, 0}, 5, false},
        {{0x41, 0x00, 16}, 3, true}, /* a width */
        {{0x41, 0x00, 3}, 3, false},
        {{0x41, 0x00}, 2, false},
        {{0x81, 0x00}, 2, false},                  /* a stride that is missing */
        {{0x91, 0x00, 2, 0}, 4, true},             /* packed lanes, all the same */
        {{0x91, 0x00, 2, 1, 0, 0, 0, 0}, 8, true}, /* a bit each */
        {{0x91, 0x00, 2, 1, 0, 0, 0}, 7, false},
        {{0x91, 0x00, 2, 57}, 4, false},     /* too wide */
        {{0x91, 0x00, 64, 0}, 4, false},     /* a unit of more than 64 bits */
        {{0x11, 0x00, 0}, 3, false},         /* lanes that are missing */
        {{0x31, 0x00, 1, 0, 0, 0}, 6, true}, /* one lane */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (decodes(cases[i].bytes, cases[i].count) != cases[i].sound)
            fail_msg("case %zu", i);
}

static void varints_are_as_long_as_told(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (unsigned k = 0; k < 3; k++) {
            uint64_t number = (UINT64_C(1) << bit) + k - 1, read = 0;
            uint8_t bytes[PW_VARINT_MOST];
            uint8_t *end = pw_put_varint(bytes, number);
            assert_int_equal(end - bytes, pw_varint_bytes(number));
            assert_ptr_equal(pw_get_varint(bytes, end, &read), end);
            assert_int_equal(read, number);
            assert_null(pw_get_varint(bytes, end - 1, &read));
            assert_int_equal(pw_unzigzag(pw_zigzag(number)), number);
        }
    static const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    uint64_t read;
    assert_null(pw_get_varint(too_long, too_long + sizeof too_long, &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_corner_comes_out_as_it_went_in),
        cmocka_unit_test(lanes_of_every_width_and_unit_come_back),
        cmocka_unit_test(random_operations_come_back),
        cmocka_unit_test(a_loop_becomes_the_same_bytes),
        cmocka_unit_test(lanes_at_random_take_little_more_than_their_bits),
        cmocka_unit_test(what_cannot_be_coded_is_known),
        cmocka_unit_test(bytes_that_are_no_operation_are_refused),
        cmocka_unit_test(varints_are_as_long_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
