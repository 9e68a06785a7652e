/* The emulator: single instructions with operands in each place, lanes that part and join, and a compiled kernel. That
 * it counts what an H200 counts is shown by scripts/machine-code, which needs nvcc. */
#include "capture/emulator/launch.h"
#include "emulator_code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REGISTER = 1, MIDDLE_THIRD = 2, IMMEDIATE = 4, CONSTANT = 5, UNIFORM = 6 };
#define PT 7ULL
#define ALWAYS (PT << 12)
#define FALSE_AT_87 (15ULL << 23)
#define TRUE_AT_87 (7ULL << 23)
#define NO_PREDICATES (PT << 17 | PT << 20)
#define NEGATE_MIDDLE (1ULL << 63)

static struct instruction make(uint64_t opcode, uint64_t form, uint64_t to, uint64_t a, uint64_t middle, uint64_t last,
                               uint64_t modifiers)
{
    uint64_t sign = middle & NEGATE_MIDDLE;
    return (struct instruction){opcode | form << 9 | ALWAYS | to << 16 | a << 24 | (middle & UINT32_MAX) << 32 | sign,
                                last | modifiers};
}

static uint8_t bank0[4096];

/* Executes one instruction for lane 3 of a warp whose registers 0 to 5 are given; what register 8 then is. */
static struct warp warp;
static uint32_t execute_one(struct instruction i, const uint32_t registers[6])
{
    static uint8_t shared[SHARED_BYTES];
    struct kernel kernel = {.name = "one", .code = &i, .instructions = 1};
    struct machine m = {.kernel = &kernel, .shared = shared, .constants = {bank0}};
    struct group g = {1 << 3, 0, GROUP_RUNS, 0};
    for (uint32_t r = 0; r < 6; r++)
        warp.registers[r][3] = registers[r];
    warp.registers[8][3] = warp.registers[9][3] = 0xdead;
    warp.registers[8][4] = 77;
    assert_int_equal(execute(&m, &warp, &g), OUTCOME_NEXT);
    assert_int_equal(warp.registers[8][4], 77); /* a lane that does not take part */
    return warp.registers[8][3];
}

static void operands_stand_in_each_place(void **state)
{
    (void)state;
    const uint32_t r[6] = {100, 20, 3, 0, 0, 0};
    const uint64_t add = FALSE_AT_87 | NO_PREDICATES | 15ULL << 13;
    memcpy(bank0 + 0x210, &(uint32_t){5000}, 4);
    warp.uniform[4] = 900;
    assert_int_equal(execute_one(make(0x010, REGISTER, 8, 0, 1, 2, add), r), 123);
    assert_int_equal(execute_one(make(0x010, IMMEDIATE, 8, 0, 0xffffffff, 2, add), r), 102);
    assert_int_equal(execute_one(make(0x010, CONSTANT, 8, 0, 0x210 << 6, 2, add), r), 5103);
    assert_int_equal(execute_one(make(0x010, UNIFORM, 8, 0, 4, 2, add), r), 1003);
    assert_int_equal(execute_one(make(0x010, REGISTER, 8, 0, 1 | NEGATE_MIDDLE, 2, add), r), 83);
    assert_int_equal(execute_one(make(0x024, MIDDLE_THIRD, 8, 0, 7, 1, NO_PREDICATES), r), 2007);
    assert_int_equal(execute_one(make(0x024, REGISTER, 8, 0, 1, 2, NO_PREDICATES | 1 << 11), r), 1997);
    assert_int_equal(execute_one(make(0x024, REGISTER, 8, 255, 1, 2, NO_PREDICATES), r), 3);
}

static void wide_sums_carry(void **state)
{
    (void)state;
    const uint32_t r[6] = {0xffffffff, 0xfffffffe, 0xffffffff, 0, 5, 0};
    const uint64_t plain = FALSE_AT_87 | 15ULL << 13, to_p1_p2 = 1ULL << 17 | 2ULL << 20;
    assert_int_equal(execute_one(make(0x010, REGISTER, 8, 0, 1, 2, plain | to_p1_p2), r), 0xfffffffc);
    assert_int_equal(warp.predicates[1] >> 3 & 1, 1);
    assert_int_equal(warp.predicates[2] >> 3 & 1, 1);
    /* The upper half: 5 + 0 + 0 and both carries (P1 at 87, P2 at 77), extended by bit 74. */
    const uint64_t with = 1ULL << 10 | 1ULL << 23 | 2ULL << 13;
    assert_int_equal(execute_one(make(0x010, REGISTER, 8, 4, 255, 255, with | NO_PREDICATES), r), 7);
    assert_int_equal(execute_one(make(0x025, REGISTER, 8, 0, 1, 4, NO_PREDICATES | 1 << 9), r),
                     2 + 5); /* -1 * -2 + 5 */
    assert_int_equal(warp.registers[9][3], 0);
    assert_int_equal(execute_one(make(0x025, REGISTER, 8, 0, 1, 255, NO_PREDICATES), r), 2); /* unsigned */
    assert_int_equal(warp.registers[9][3], 0xfffffffd);
    assert_int_equal(execute_one(make(0x027, REGISTER, 8, 0, 1, 255, NO_PREDICATES), r), 0xfffffffd);
}

static void words_are_shifted_and_combined(void **state)
{
    (void)state;
    const uint32_t r[6] = {0x80000001, 0x0000ff00, 4, 0xf0000000, 0x12345678, 0x7531};
    const uint64_t left32 = 3ULL << 9, right_upper = 1ULL << 12 | 1ULL << 16;
    assert_int_equal(execute_one(make(0x019, REGISTER, 8, 0, 2, 255, left32), r), 0x10);
    assert_int_equal(execute_one(make(0x019, REGISTER, 8, 255, 2, 0, right_upper | 2ULL << 9), r), 0xf8000000);
    assert_int_equal(execute_one(make(0x019, REGISTER, 8, 255, 2, 0, right_upper | 3ULL << 9), r), 0x08000000);
    assert_int_equal(execute_one(make(0x019, IMMEDIATE, 8, 0, 40, 255, left32), r), 0); /* clamped to 32 */
    assert_int_equal(execute_one(make(0x012, REGISTER, 8, 0, 1, 3, 0xe8ULL << 8 | NO_PREDICATES | FALSE_AT_87), r),
                     (0x80000001 & 0xff00) | (0x80000001 & 0xf0000000) | (0xff00 & 0xf0000000)); /* most of three */
    assert_int_equal(execute_one(make(0x011, REGISTER, 8, 0, 1, 255, 2ULL << 11 | NO_PREDICATES | FALSE_AT_87), r),
                     0xff04); /* (R0 << 2) + R1 */
    assert_int_equal(
        execute_one(make(0x011, REGISTER, 8, 0, 1, 2, 2ULL << 11 | 1 << 16 | NO_PREDICATES | FALSE_AT_87), r),
        0xff00 + 0x12); /* upper half of (R2:R0 << 2), + R1 */
    assert_int_equal(execute_one(make(0x016, REGISTER, 8, 4, 5, 1, 0), r), 0x00ff1256); /* bytes 1, 3, 5, 7 of R1:R4 */
}

static void comparisons_set_both_predicates(void **state)
{
    (void)state;
    const uint32_t r[6] = {0xffffffff, 1, 7, 7, 0, 0};
    const uint64_t less_p0_p1 = 1ULL << 12 | 0ULL << 17 | 1ULL << 20 | TRUE_AT_87;
    execute_one(make(0x00c, REGISTER, 0, 0, 1, 0x70, less_p0_p1 | 1 << 9), r);
    assert_int_equal(warp.predicates[0] >> 3 & 1, 1); /* -1 < 1 */
    assert_int_equal(warp.predicates[1] >> 3 & 1, 0);
    execute_one(make(0x00c, REGISTER, 0, 0, 1, 0x70, less_p0_p1), r);
    assert_int_equal(warp.predicates[0] >> 3 & 1, 0); /* unsigned */
    assert_int_equal(warp.predicates[1] >> 3 & 1, 1);
    /* The upper words of a comparison of 64 bits, equal: what the lower ones say (P1 at 68). */
    execute_one(make(0x00c, REGISTER, 0, 2, 3, 0x10, less_p0_p1 | 1 << 8), r);
    assert_int_equal(warp.predicates[0] >> 3 & 1, 1);
    assert_int_equal(execute_one(make(0x007, REGISTER, 8, 0, 1, 0, 0ULL << 23), r), 0xffffffff);
    assert_int_equal(execute_one(make(0x007, REGISTER, 8, 0, 1, 0, 8ULL << 23), r), 1);
    assert_int_equal(execute_one(make(0x017, REGISTER, 8, 0, 1, 0, TRUE_AT_87 | 1 << 9), r), 0xffffffff);
    assert_int_equal(execute_one(make(0x017, REGISTER, 8, 0, 1, 0, FALSE_AT_87 | 1 << 9), r), 1);
}

/* VIADDMNMX: min(R0 + 20, R2), and with the immediate in third place max(R0 + R1, 7). */
static void the_smaller_of_a_sum_and_a_word_in_each_place(void **state)
{
    (void)state;
    const uint32_t r[6] = {0xfffffff0, 5, 9, 0, 0, 0};
    const uint64_t is_signed = 1 << 8;
    assert_int_equal(execute_one(make(0x046, IMMEDIATE, 8, 0, 20, 2, is_signed | TRUE_AT_87), r), 4);
    assert_int_equal(execute_one(make(0x046, IMMEDIATE, 8, 0, 40, 2, is_signed | TRUE_AT_87), r), 9);
    assert_int_equal(execute_one(make(0x046, MIDDLE_THIRD, 8, 0, 7, 1, is_signed | FALSE_AT_87), r), 7);
    assert_int_equal(execute_one(make(0x046, MIDDLE_THIRD, 8, 0, (uint32_t)-20, 1, is_signed | FALSE_AT_87), r),
                     (uint32_t)-11);
}

/* SHFL for all lanes, of which lane i has 100 + i; register 1 has `by`, register 2 `range`. */
static void shuffle(struct instruction i, uint32_t by, uint32_t range)
{
    struct kernel kernel = {.name = "shuffle", .code = &i, .instructions = 1};
    struct machine m = {.kernel = &kernel, .constants = {bank0}};
    struct group g = {UINT32_MAX, 0, GROUP_RUNS, 0};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        warp.registers[0][lane] = 100 + lane;
        warp.registers[1][lane] = by;
        warp.registers[2][lane] = range;
    }
    assert_int_equal(execute(&m, &warp, &g), OUTCOME_NEXT);
}

static void expect_shuffled(const int from[LANES], uint32_t inside)
{
    for (int lane = 0; lane < LANES; lane++)
        assert_int_equal(warp.registers[0][lane], 100 + from[lane]);
    assert_int_equal(warp.predicates[2], inside);
}

static void values_go_from_lane_to_lane(void **state)
{
    (void)state;
    enum { INDEX, UP, DOWN, BUTTERFLY, BOTH_IMMEDIATE = 7 };
    const uint64_t mode_at = 58 - 32, lane_at = 53 - 32, range_at = 40 - 32, to_p2 = 2ULL << 17;
    int from[LANES];
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = lane ^ 16;
    shuffle(make(0x189, BOTH_IMMEDIATE, 0, 0, BUTTERFLY << mode_at | 16ULL << lane_at | 31 << range_at, 0, to_p2), 0,
            0);
    expect_shuffled(from, UINT32_MAX);
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = lane < 29 ? lane + 3 : lane;
    shuffle(make(0x189, IMMEDIATE, 0, 0, (uint64_t)DOWN << mode_at | 3ULL << lane_at, 2, to_p2), 0, 31);
    expect_shuffled(from, UINT32_MAX >> 3);
    /* Within segments of eight lanes: the last counts in its lowest bits, the upper bits say which segment. */
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = lane % 8 < 3 ? lane : lane - 3;
    shuffle(make(0x189, MIDDLE_THIRD, 0, 0, 1 | UP << mode_at | 0x1800ULL << range_at, 0, to_p2), 3, 0);
    expect_shuffled(from, 0xf8f8f8f8);
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = lane % 8 < 5 ? lane + 3 : lane;
    shuffle(make(0x189, REGISTER, 0, 0, 1 | DOWN << mode_at, 2, to_p2), 3, 0x181f);
    expect_shuffled(from, 0x1f1f1f1f);
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = lane / 8 * 8 + 5;
    shuffle(make(0x189, REGISTER, 0, 0, 1 | INDEX << mode_at, 2, to_p2), 5, 0x181f);
    expect_shuffled(from, UINT32_MAX);
}

static uint32_t word_of(float f)
{
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return word;
}

static void floats_are_rounded_as_asked(void **state)
{
    (void)state;
    const uint32_t r[6] = {word_of(1.0F), word_of(0x1p-30F), word_of(-3.0F), 0, 0, 0};
    assert_int_equal(execute_one(make(0x021, REGISTER, 8, 0, 1, 255, 0), r), word_of(1.0F));
    assert_int_equal(execute_one(make(0x021, REGISTER, 8, 0, 1, 255, 2 << 14), r), word_of(0x1.000002p0F)); /* up */
    assert_int_equal(execute_one(make(0x021, REGISTER, 8, 2, 0, 255, 1 << 9), r), word_of(4.0F)); /* |R2| + R0 */
    assert_int_equal(execute_one(make(0x023, REGISTER, 8, 2, 2, 0, 1 << 11), r), word_of(8.0F));  /* R2 * R2 - R0 */
    assert_int_equal(execute_one(make(0x023, MIDDLE_THIRD, 8, 2, word_of(1.0F), 2, 1 << 9), r),
                     word_of(-8.0F)); /* |R2| * R2 + 1 */
    assert_int_equal(execute_one(make(0x105, REGISTER, 8, 0, 2, 255, 2ULL << 11 | 2ULL << 20 | 1 << 8), r),
                     (uint32_t)-3);
}

/* Lanes below 5 jump over an instruction: both groups wait at the BSYNC, and leave together. */
static void lanes_part_and_join(void **state)
{
    (void)state;
    const uint64_t p0 = 0, to_p0 = 0ULL << 17 | PT << 20, distance = 16;
    struct instruction code[] = {
        make(0x119, IMMEDIATE, 0, 0, 0, 0, 0x21 << 8),                                   /* R0 = threadIdx.x */
        make(0x00c, IMMEDIATE, 0, 0, 5, 0x70, 1ULL << 12 | 1 << 9 | to_p0 | TRUE_AT_87), /* P0 = R0 < 5 */
        {0x945 | ALWAYS | 2 * distance << 32, TRUE_AT_87},                               /* BSSY B0 */
        {0x947 | p0 << 12 | (distance / 4) << 16, TRUE_AT_87},                           /* @P0 BRA */
        make(0x002, IMMEDIATE, 0, 0, 9, 0, 0),                                           /* R0 = 9 */
        {0x941 | ALWAYS, TRUE_AT_87},                                                    /* BSYNC B0 */
        make(0x188, REGISTER, 0, 1, 0, 0, 4 << 9),                                       /* [R1] = R0 */
        {0x94d | ALWAYS, TRUE_AT_87},
    };
    struct kernel kernel = {.name = "parting", .code = code, .instructions = 8, .parameter_base = 0x210};
    struct launch launch = {.kernel = &kernel, .grid = {2, 1, 1}, .block = {40, 1, 1}};
    struct counts counts = launch_run(&launch, NULL);
    /* Four before they part, one or two and the BSYNC of each group, two after; the second warp does not part. */
    assert_int_equal(counts.warp_instructions, 2 * ((4 + 1 + 2 + 2) + (4 + 2 + 2)));
    assert_int_equal(counts.loads + counts.stores, 0);
}

/* BRA.DIV on the lanes of UR6: not taken by a warp whose lanes are together, those of a half-full one too; by lanes
 * that are apart it is. WARPSYNC of all lanes goes on. */
static void lanes_that_are_together_do_not_branch_if_apart(void **state)
{
    (void)state;
    const uint64_t if_apart = TRUE_AT_87 | 1ULL << 27, distance = 16;
    static const struct {
        uint32_t lanes, others, wanted, pc; /* of the group, of another group, of UR6; where the first goes on */
    } cases[] = {{UINT32_MAX, 0, UINT32_MAX, 0},
                 {0xffff, 0, UINT32_MAX, 0},
                 {0xff, 0xff00, 0xff, 0},
                 {0xff, 0xff00, UINT32_MAX, 2}};
    struct instruction code[] = {{0x947 | ALWAYS | 6 << 24 | (distance / 4) << 16, if_apart},
                                 {0x948 | ALWAYS, TRUE_AT_87}};
    struct kernel kernel = {.name = "apart", .code = code, .instructions = 2};
    struct machine m = {.kernel = &kernel, .constants = {bank0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        warp.uniform[6] = cases[i].wanted;
        warp.groups[0] = (struct group){cases[i].lanes, 0, GROUP_RUNS, 0};
        warp.groups[1] = (struct group){cases[i].others, 5, GROUP_RUNS, 0};
        warp.group_count = cases[i].others ? 2 : 1;
        assert_int_equal(execute(&m, &warp, &warp.groups[0]), cases[i].pc ? OUTCOME_MOVED : OUTCOME_NEXT);
        assert_int_equal(warp.groups[0].pc, cases[i].pc);
    }
    warp.groups[0] = (struct group){0xffff, 1, GROUP_RUNS, 0};
    warp.group_count = 1;
    assert_int_equal(execute(&m, &warp, &warp.groups[0]), OUTCOME_NEXT);
}

enum { THREADS = 64, N = 150 };

static float expected(const int *in, int i)
{
    int t = i % THREADS, base = i - t, v = in[i], sum = 0;
    for (int k = 0; k < (t & 7); k++) {
        int at = base + ((t + k) & 63);
        sum += (at < N ? in[at] : 0) / (k + 1);
    }
    return t & 1 ? fmaf((float)sum, 0.25F, (float)-v) : (float)fma((double)sum, 0.1, v);
}

static uint32_t barriers;

static void count_barriers(void *context, uint32_t cta, uint32_t w, uint32_t pc, const struct effect *effect)
{
    (void)context;
    (void)pc;
    assert_true(cta < 3 && w < 2);
    barriers += effect->kind == EFFECT_BARRIER;
}

static void a_compiled_kernel_computes_and_is_counted(void **state)
{
    (void)state;
    int *in = NULL, n = N;
    float *out = NULL;
    assert_int_equal(posix_memalign((void **)&in, 128, N * sizeof *in), 0);
    assert_int_equal(posix_memalign((void **)&out, 128, 192 * sizeof *out), 0);
    for (int i = 0; i < N; i++)
        in[i] = (i * 7919 % 1000 - 500) * (i % 3 + 1);
    out[N] = 1234;
    struct kernel kernel = {.name = "mixture",
                            .code = mixture,
                            .instructions = sizeof mixture / sizeof mixture[0],
                            .parameter_base = 0x210,
                            .parameter_count = 3,
                            .parameters = {{0, 8}, {8, 8}, {16, 4}}};
    const void *arguments[] = {&in, &out, &n};
    struct launch launch = {.kernel = &kernel, .grid = {3, 1, 1}, .block = {THREADS, 1, 1}, .arguments = arguments};
    struct observer observer = {count_barriers, NULL};
    struct counts counts = launch_run(&launch, &observer);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == expected(in, i));
    assert_true(out[N] == 1234);
    assert_int_equal(counts.loads, 5); /* the sixth warp's threads are all behind the array's end */
    assert_int_equal(counts.stores, 5);
    assert_int_equal(counts.load_sectors, (N * 4 + 31) / 32);
    assert_int_equal(counts.store_sectors, (N * 4 + 31) / 32);
    assert_int_equal(barriers, 6);
    free(in);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_stand_in_each_place),
        cmocka_unit_test(wide_sums_carry),
        cmocka_unit_test(words_are_shifted_and_combined),
        cmocka_unit_test(comparisons_set_both_predicates),
        cmocka_unit_test(the_smaller_of_a_sum_and_a_word_in_each_place),
        cmocka_unit_test(values_go_from_lane_to_lane),
        cmocka_unit_test(floats_are_rounded_as_asked),
        cmocka_unit_test(lanes_part_and_join),
        cmocka_unit_test(lanes_that_are_together_do_not_branch_if_apart),
        cmocka_unit_test(a_compiled_kernel_computes_and_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
