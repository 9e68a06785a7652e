/* The generator against published vectors, the independence of its streams, and that bounded numbers have no bias. */
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* First outputs of the authors' xoshiro256starstar.c from the state {1, 2, 3, 4}. */
static void generator_is_xoshiro256_starstar(void **state)
{
    (void)state;
    static const uint64_t expected[] = {11520,
                                        0,
                                        1509978240,
                                        1215971899390074240,
                                        1216172134540287360,
                                        607988272756665600,
                                        16172922978634559625U,
                                        8476171486693032832,
                                        10595114339597558777U,
                                        2904607092377533576};
    struct pw_random r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_int_equal(pw_random_next(&r), expected[i]);
}

/* splitmix64 from 1234567, and xoshiro256** after splitmix64 from 0: both published in several places. */
static void seeding_is_splitmix64(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 1234567, "");
    static const uint64_t words[] = {6457827717110365317, 3203168211198807973, 9817491932198370423U,
                                     4593380528125082431};
    assert_memory_equal(r.s, words, sizeof(words));
    pw_random_init(&r, 0, "");
    static const uint64_t outputs[] = {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pw_random_next(&r), outputs[i]);
}

/* Computed by an independent implementation of the rule in random.c's essay. */
static void named_stream_is_the_same_for_ever(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 1, "tlb");
    static const uint64_t outputs[] = {0xe5db99bcc49eb8ff, 0x3ffd66ff4f58e7fa, 0xcf62e751c6750b7d, 0x0745d1da6f33a844};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pw_random_next(&r), outputs[i]);
}

/* Any two streams of near seeds and near names agree in about half their bits: 64 * 64 bits, standard deviation 32. */
static void near_seeds_and_names_give_unrelated_streams(void **state)
{
    (void)state;
    static const char *const names[] = {"", "a", "b", "ab", "ba", "aa", "sm0", "sm1", "sm10", "frame", "frames"};
    enum { NAMES = sizeof(names) / sizeof(*names), SEEDS = 5, STREAMS = NAMES * SEEDS, DRAWS = 64 };
    static uint64_t drawn[STREAMS][DRAWS];
    for (int i = 0; i < STREAMS; i++) {
        struct pw_random r;
        pw_random_init(&r, (uint64_t)(i % SEEDS), names[i / SEEDS]);
        for (int j = 0; j < DRAWS; j++)
            drawn[i][j] = pw_random_next(&r);
    }
    for (int a = 0; a < STREAMS; a++)
        for (int b = 0; b < a; b++) {
            int agree = 0;
            for (int j = 0; j < DRAWS; j++)
                agree += __builtin_popcountll(~(drawn[a][j] ^ drawn[b][j]));
            assert_in_range(agree, 2048 - 6 * 32, 2048 + 6 * 32);
        }
}

static void drawing_from_one_stream_does_not_shift_another(void **state)
{
    (void)state;
    struct pw_random a, b, again;
    pw_random_init(&a, 7, "a");
    pw_random_init(&b, 7, "b");
    pw_random_next(&a);
    pw_random_init(&again, 7, "b");
    assert_int_equal(pw_random_next(&b), pw_random_next(&again));
}

static void bounded_numbers_stay_below_the_bound_and_reach_its_ends(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 3, "below");
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 64, 100};
    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        uint64_t least = UINT64_MAX, most = 0;
        for (int j = 0; j < 5000; j++) {
            uint64_t x = pw_random_below(&r, bounds[i]);
            assert_true(x < bounds[i]);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        assert_int_equal(least, 0);
        assert_int_equal(most, bounds[i] - 1);
    }
    for (int j = 0; j < 1000; j++)
        assert_true(pw_random_below(&r, UINT64_MAX) < UINT64_MAX);
}

/* With a bound of 3 * 2^62, a generator that only scales or only takes the remainder gives some thirds of the range
 * twice the share of others; of 30,000 draws each third must get 10,000 (standard deviation 82). */
static void bounded_numbers_have_no_bias(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 4, "bias");
    int thirds[3] = {0}, residues[3] = {0};
    for (int i = 0; i < 30000; i++) {
        uint64_t x = pw_random_below(&r, 3ULL << 62);
        thirds[x >> 62]++;
        residues[x % 3]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(thirds[i], 10000 - 5 * 82, 10000 + 5 * 82);
        assert_in_range(residues[i], 10000 - 5 * 82, 10000 + 5 * 82);
    }
}

static void unit_numbers_are_in_the_half_open_interval(void **state)
{
    (void)state;
    /* The next output of this state is 0. */
    struct pw_random zero = {{1, 0, 0, 0}};
    assert_true(pw_random_unit(&zero) == 0.0);
    struct pw_random r;
    pw_random_init(&r, 5, "unit");
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double x = pw_random_unit(&r);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4850 && sum < 5150);
}

/* s1 is chosen so that the next output is 2^64 - 1: rotate back and multiply by the inverses of 9 and 5 mod 2^64. */
static void unit_number_of_the_largest_output_is_below_one(void **state)
{
    (void)state;
    uint64_t before = UINT64_MAX * 0x8e38e38e38e38e39U;
    before = (before >> 7) | (before << 57);
    struct pw_random r = {{1, before * 0xcccccccccccccccdU, 0, 0}};
    struct pw_random copy = r;
    assert_int_equal(pw_random_next(&copy), UINT64_MAX);
    assert_true(pw_random_unit(&r) == 1 - 0x1p-53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_is_xoshiro256_starstar),
        cmocka_unit_test(seeding_is_splitmix64),
        cmocka_unit_test(named_stream_is_the_same_for_ever),
        cmocka_unit_test(near_seeds_and_names_give_unrelated_streams),
        cmocka_unit_test(drawing_from_one_stream_does_not_shift_another),
        cmocka_unit_test(bounded_numbers_stay_below_the_bound_and_reach_its_ends),
        cmocka_unit_test(bounded_numbers_have_no_bias),
        cmocka_unit_test(unit_numbers_are_in_the_half_open_interval),
        cmocka_unit_test(unit_number_of_the_largest_output_is_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
