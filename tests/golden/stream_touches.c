/* Which element of which array relu, maxpool, fir and aes touch, how often, in which order and with how many loads in
 * flight, against the definition of the algorithm and the code that MGPUSim runs. */
#include "tally.h"
#include "touches.h"

static uint32_t once(uint64_t word)
{
    (void)word;
    return 1;
}

/* Accesses of the first warp's lane 0 to an array, in order. */
struct sequence {
    uint32_t lane, array, count;
    unsigned kind;
    uint64_t offset[512];
};

static void visit_sequence(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    struct sequence *s = context;
    if (w->cta_index || w->index || op->kind != s->kind || !(op->count_or_mask >> s->lane & 1))
        return;
    uint32_t rank = (uint32_t)__builtin_popcount(op->count_or_mask & ((1U << s->lane) - 1));
    uint64_t address = op->form == PW_FORM_LANES ? words[rank] : words[0] + s->lane * words[1];
    uint64_t offset = address - TOUCHED_FIRST_ADDRESS;
    if (offset >> TOUCHED_SLOT_SHIFT != s->array)
        return;
    assert_true(s->count < sizeof s->offset / sizeof s->offset[0]);
    s->offset[s->count++] = offset & ((1 << TOUCHED_SLOT_SHIFT) - 1);
}

static struct sequence sequence_of(const char *text, uint64_t seed, uint32_t lane, unsigned kind, uint32_t array)
{
    struct sequence s = {.lane = lane, .array = array, .kind = kind};
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts;
    assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, seed, true, visit_sequence, &s, &counts, &err), PW_OK);
    pw_program_release(&p);
    return s;
}

static void relu_touches_each_element_once_in_ctas_of_64(void **state)
{
    (void)state;
    struct pw_functional_counts c = run_and_count("relu:length=12345", 1);
    assert_int_equal(c.ctas, 193);
    assert_int_equal(c.warps, 2 * 193);
    expect_touches(PW_OP_LOAD, 0, 12345, once);
    expect_touches(PW_OP_STORE, 0, 0, once);
    expect_touches(PW_OP_LOAD, 1, 0, once);
    expect_touches(PW_OP_STORE, 1, 12345, once);
    struct tally t = {0};
    assert_int_equal(run("relu:length=64", 1, &t).warp_instructions, 2 * 24);
    assert_int_equal(t.waits_for_all_but[0], 2);
}

enum { IMAGES = 6, HEIGHT = 13, WIDTH = 20 };
static int64_t window, stride, pad;

/* Positions of the window along a side, of which the last may be cut off. */
static int64_t positions(int64_t side)
{
    int64_t count = 1;
    while ((count - 1) * stride + window < side + 2 * pad)
        count++;
    return count;
}

static uint32_t windows_over(int64_t at, int64_t side)
{
    uint32_t over = 0;
    for (int64_t i = 0; i < positions(side); i++)
        over += at >= i * stride - pad && at < i * stride - pad + window;
    return over;
}

static uint32_t pool_loads(uint64_t word)
{
    return windows_over((int64_t)word / WIDTH % HEIGHT, HEIGHT) * windows_over((int64_t)word % WIDTH, WIDTH);
}

static void maxpool_loads_every_element_for_each_window_over_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t window, stride, pad;
    } table[] = {
        {"maxpool:batch=2:channels=3:height=13:width=20", 2, 2, 0},
        {"maxpool:batch=3:channels=2:height=13:width=20:window=3:stride=1", 3, 1, 0},
        {"maxpool:batch=1:channels=6:height=13:width=20:window=3:stride=2:pad=1", 3, 2, 1},
        {"maxpool:batch=6:channels=1:height=13:width=20:window=1:stride=5", 1, 5, 0},
        {"maxpool:batch=6:channels=1:height=13:width=20:window=4:stride=3:pad=5", 4, 3, 5},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        window = table[i].window, stride = table[i].stride, pad = table[i].pad;
        struct pw_functional_counts c = run_and_count(table[i].text, 1);
        uint64_t outputs = (uint64_t)(IMAGES * positions(HEIGHT) * positions(WIDTH));
        assert_int_equal(c.launches, 1);
        assert_int_equal(c.ctas, (outputs + 63) / 64);
        expect_touches(PW_OP_LOAD, 0, IMAGES * HEIGHT * WIDTH, pool_loads);
        expect_touches(PW_OP_STORE, 1, outputs, once);
        expect_touches(PW_OP_STORE, 0, 0, once);
        expect_touches(PW_OP_LOAD, 1, 0, once);
    }
}

static void maxpool_walks_a_window_row_by_row_and_waits_for_each_load(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    struct sequence s = sequence_of("maxpool:channels=1:height=16:width=16", 1, 9, PW_OP_LOAD, 0);
    uint64_t first = (2 * SIDE + 2) * sizeof(float); /* the second position of the second row */
    const uint64_t expected[] = {first, first + 4, first + 4 * SIDE, first + 4 * SIDE + 4};
    assert_int_equal(s.count, 4);
    assert_memory_equal(s.offset, expected, sizeof expected);
    struct tally t = {0};
    struct pw_functional_counts c = run("maxpool:channels=1:height=16:width=16", 1, &t);
    assert_int_equal(t.operations[PW_OP_LOAD], c.warps * 4);
    assert_int_equal(t.waits_for_all_but[0], c.warps * 4);
    assert_int_equal(c.warp_instructions,
                     c.warps * (10 + 46 + 48 + 18 + 2 * (2 + 6 + 2 * 10 + 1 + 7) + 1 + 9 + 1 + 2 + 1));
}

enum { SAMPLES = 700, TAPS = 16 };

/* By the threads from its own on, as far as the filter reaches. */
static uint32_t sample_loads(uint64_t word)
{
    return word + TAPS <= SAMPLES ? TAPS : (uint32_t)(SAMPLES - word);
}

/* Thread 0 takes all of it but the first, which is a tap too far, thread 1 all but the first two, and so on. */
static uint32_t history_loads(uint64_t word)
{
    return (uint32_t)word;
}

static uint32_t all_samples(uint64_t word)
{
    (void)word;
    return SAMPLES;
}

static void fir_takes_samples_before_the_first_from_the_history(void **state)
{
    (void)state;
    enum { HISTORY, INPUT, OUTPUT, COEFF };
    struct pw_functional_counts c = run_and_count("fir:length=700", 1);
    assert_int_equal(c.ctas, 3); /* of 256 threads */
    expect_touches(PW_OP_LOAD, HISTORY, TAPS, history_loads);
    expect_touches(PW_OP_LOAD, INPUT, SAMPLES, sample_loads);
    expect_touches(PW_OP_LOAD, COEFF, TAPS, all_samples);
    expect_touches(PW_OP_LOAD, OUTPUT, 0, once);
    expect_touches(PW_OP_STORE, OUTPUT, SAMPLES, once);
}

static void fir_goes_back_in_time_with_a_sample_and_a_coefficient_in_flight(void **state)
{
    (void)state;
    struct sequence input = sequence_of("fir:length=256", 1, 20, PW_OP_LOAD, 1);
    struct sequence coeff = sequence_of("fir:length=256", 1, 20, PW_OP_LOAD, 3);
    assert_true(input.count == TAPS && coeff.count == TAPS);
    for (uint32_t i = 0; i < TAPS; i++) {
        assert_int_equal(input.offset[i], (20 - i) * sizeof(float));
        assert_int_equal(coeff.offset[i], i * sizeof(float));
    }
    struct tally t = {0};
    struct pw_functional_counts c = run("fir:length=256", 1, &t);
    assert_int_equal(t.operations[PW_OP_LOAD], 8 * 2 * TAPS + TAPS - 1);
    assert_int_equal(t.waits, 8 * TAPS);
    assert_int_equal(t.waits_for_all_but[0], t.waits);
    assert_int_equal(c.warp_instructions, 8 * (17 + TAPS * (14 + 2 + 4 + 2) + 4 + 1 + 1) + TAPS - 1);
}

enum { TEXT, KEYS, SBOX, BLOCKS = 65, ROUNDS = 14 };

static uint32_t every_fourth_word(uint64_t word)
{
    return word % 4 == 0;
}

static uint32_t keys_of_all_blocks(uint64_t word)
{
    return word % 4 == 0 ? BLOCKS : 0;
}

static void aes_accesses_blocks_and_round_keys_16_bytes_at_a_time(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run_and_count("aes:bytes=1040", 1);
    uint64_t lookups = 0;
    assert_int_equal(c.ctas, 2);
    expect_touches(PW_OP_LOAD, TEXT, 4 * BLOCKS, every_fourth_word);
    expect_touches(PW_OP_STORE, TEXT, 4 * BLOCKS, every_fourth_word);
    expect_touches(PW_OP_LOAD, KEYS, 4 * (ROUNDS + 1), keys_of_all_blocks);
    for (uint32_t word = 0; word < TOUCHED_WORDS; word++) {
        assert_true(word < 64 || !touches[PW_OP_LOAD][SBOX][word]);
        lookups += touches[PW_OP_LOAD][SBOX][word];
    }
    assert_int_equal(lookups, BLOCKS * ROUNDS * 16);
    run("aes:bytes=512", 1, &t); /* 32 blocks: one warp of two, of which the other has no thread */
    assert_int_equal(t.waits_for_all_but[0], 1 + 2 * (ROUNDS - 1) + 1);
    assert_int_equal(t.waits_for_all_but[1], 1);
    assert_int_equal(t.waits_for_all_but[5], ROUNDS - 1);
    assert_int_equal(t.waits, 1 + 2 * ROUNDS + 3 * (ROUNDS - 1)); /* also for all but 10 and all but 15 */
}

/* Multiplication in the field of AES, bit by bit. */
static uint8_t product(uint8_t a, uint8_t b)
{
    unsigned sum = 0;
    for (unsigned bit = 0; bit < 8; bit++)
        sum ^= b >> bit & 1 ? (unsigned)a << bit : 0;
    for (unsigned bit = 14; bit >= 8; bit--)
        sum ^= sum >> bit & 1 ? 0x11bU << (bit - 8) : 0;
    return (uint8_t)sum;
}

/* By trying all inverses. */
static uint8_t substitute(uint8_t a)
{
    unsigned inverse = 0, out = 0;
    while (a && product(a, (uint8_t)inverse) != 1)
        inverse++;
    for (unsigned bit = 0; bit < 8; bit++)
        for (unsigned k = 0; k < 5; k++)
            out ^= (inverse >> (bit + (k ? 3 + k : 0)) % 8 & 1) << bit;
    return (uint8_t)(out ^ 0x63);
}

static void expand(uint8_t key[16 * (ROUNDS + 1)])
{
    uint8_t constant = 1;
    for (unsigned i = 0; i < 32; i++)
        key[i] = (uint8_t)i;
    for (unsigned i = 32; i < 16 * (ROUNDS + 1); i++) {
        unsigned in_key = i % 32;
        uint8_t last = in_key < 4 ? key[i - in_key - 4 + (in_key + 1) % 4] : key[i - 4];
        last = in_key < 4 || (in_key >= 16 && in_key < 20) ? substitute(last) : last;
        key[i] = key[i - 32] ^ last ^ (in_key ? 0 : constant);
        constant = in_key ? constant : product(constant, 2);
    }
}

/* The lookups of a round are the bytes that the round before leaves: each row turned, each column times a matrix. */
static void lookups_of_aes_are_the_data_of_each_round(void **state)
{
    (void)state;
    static const uint8_t matrix[4] = {2, 3, 1, 1};
    uint8_t key[16 * (ROUNDS + 1)];
    expand(key);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            struct sequence s = sequence_of("aes:bytes=1024", seed, lane, PW_OP_LOAD, SBOX);
            assert_int_equal(s.count, 16 * ROUNDS);
            for (uint32_t i = 0; i < 16 * (ROUNDS - 1); i++) {
                uint32_t round = i / 16, column = i % 16 / 4, row = i % 4;
                uint8_t sum = key[16 * (round + 1) + i % 16];
                for (uint32_t r = 0; r < 4; r++) {
                    uint64_t from = s.offset[16 * round + (column + r) % 4 * 4 + r];
                    sum ^= product(substitute((uint8_t)from), matrix[(r + 4 - row) % 4]);
                }
                assert_int_equal(s.offset[i + 16], sum);
            }
        }
}

/* Half the rounds: as many fewer lookups and round keys, the same text. */
static void fewer_rounds_of_aes_are_on_the_same_text(void **state)
{
    (void)state;
    struct pw_functional_counts all = run_and_count("aes:bytes=1024", 1);
    struct pw_functional_counts half = run_and_count("aes:bytes=1024:rounds=7", 1);
    assert_int_equal(half.allocated_bytes, all.allocated_bytes);
    assert_int_equal(all.memory_instructions, 2 * (1 + 1 + ROUNDS * 17 + 1));
    assert_int_equal(half.memory_instructions, 2 * (1 + 1 + 7 * 17 + 1));
    assert_int_equal(all.warp_instructions - half.warp_instructions, 2 * 7 * (48 + 16 + 78 + 1 + 9 + 61));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relu_touches_each_element_once_in_ctas_of_64),
        cmocka_unit_test(maxpool_loads_every_element_for_each_window_over_it),
        cmocka_unit_test(maxpool_walks_a_window_row_by_row_and_waits_for_each_load),
        cmocka_unit_test(fir_takes_samples_before_the_first_from_the_history),
        cmocka_unit_test(fir_goes_back_in_time_with_a_sample_and_a_coefficient_in_flight),
        cmocka_unit_test(aes_accesses_blocks_and_round_keys_16_bytes_at_a_time),
        cmocka_unit_test(lookups_of_aes_are_the_data_of_each_round),
        cmocka_unit_test(fewer_rounds_of_aes_are_on_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
