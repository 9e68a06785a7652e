/* The pace of a launch: cycles of ways by hand, with each kind of scoreboard; what one record leaves to the next; what
 * does not count; and that neither the order of CTAs nor how code is cut into ways matters. */
#include "capture/pace.h"
#include "capture/warps.h"
#include "machine_code.h"
#include "sim/random.h"
#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    GLOBAL_LOAD = 0x981,
    LOCAL_LOAD = 0x983,
    SHARED_LOAD = 0x984,
    SHARED_STORE = 0x388,
    SHARED_ATOMIC = 0x38c,
    CONSTANT_LOAD = 0xb82,
    FUNCTION = 0x308,
    CONVERSION = 0x305,
    SPECIAL = 0x919,
    BARRIER_CODE = 0xb1d,
    MOST = 64,
    BASE = 0x7f0000
};

/* An instruction that is always executed. Scoreboards are their numbers + 1, 0: none; `waits_for` has bits. */
struct timed_instruction {
    uint32_t opcode, stall, scoreboard, operands, waits_for;
};

/* The code, then an exit and the branch to itself. */
static struct pw_code_function decode(const struct timed_instruction *code, uint32_t count)
{
    static uint8_t bytes[MOST * PW_CODE_INSTRUCTION_BYTES];
    static struct pw_code_instruction instructions[MOST];
    struct instruction plain[MOST];
    for (uint32_t i = 0; i < count; i++)
        plain[i] = (struct instruction){code[i].opcode, ALWAYS, 0, code[i].scoreboard, code[i].waits_for};
    plain[count] = (struct instruction){EXIT_CODE, ALWAYS, 0, 0, 0};
    encode(bytes, plain, count + 1, 1);
    for (uint32_t i = 0; i < count; i++)
        encode_times(bytes, i, code[i].stall, code[i].operands);
    pw_code_decode(bytes, count + 2, instructions);
    return (struct pw_code_function){.instructions = instructions, .count = count + 2};
}

/* What the way from the entry to the exit takes a warp. */
static struct pw_pace pace_of(const struct timed_instruction *code, uint32_t count)
{
    struct pw_code_function f = decode(code, count);
    uint32_t scratch[2 * MOST];
    struct pw_code_run run;
    struct pw_pace_way way;
    struct pw_pace p = {0};
    struct pw_pace_warp w = {0};
    assert_true(pw_code_way(&f, PW_CODE_ENTRY, count, scratch, &run, 1, &way) >= 0);
    pw_pace_go(&p, &w, &way);
    assert_int_equal(p.instructions, count);
    return p;
}

static void ways_take_stall_counts_and_waits(void **state)
{
    (void)state;
    static const struct {
        struct timed_instruction code[4];
        uint32_t count;
        uint64_t cycles;
    } cases[] = {
        {{{OTHER, 4, 0, 0, 0}, {OTHER, 2, 0, 0, 0}, {OTHER, 15, 0, 0, 0}}, 3, 21},
        {{{OTHER, 0, 0, 0, 0}, {OTHER, 4, 0, 0, 0}}, 2, 5},                 /* 0 is 1 */
        {{{SHARED_LOAD, 2, 1, 0, 0}, {OTHER, 4, 0, 0, 1}}, 2, 30 + 4},      /* at 0 and 30 */
        {{{SHARED_ATOMIC, 2, 6, 0, 0}, {OTHER, 4, 0, 0, 0x20}}, 2, 30 + 4}, /* the last scoreboard */
        {{{SHARED_LOAD, 2, 1, 0, 0}, {OTHER, 4, 0, 0, 2}}, 2, 2 + 4},       /* another one */
        {{{SHARED_LOAD, 1, 1, 0, 0}, {SHARED_LOAD, 1, 1, 0, 0}, {OTHER, 1, 0, 0, 1}}, 3, 1 + 30 + 1},
        {{{FUNCTION, 1, 2, 0, 0}, {OTHER, 5, 0, 0, 0}, {OTHER, 1, 0, 0, 2}}, 3, 15 + 1},
        {{{CONVERSION, 1, 2, 0, 0}, {OTHER, 15, 0, 0, 0}, {OTHER, 1, 0, 0, 2}}, 3, 16 + 1}, /* released before */
        {{{SPECIAL, 1, 3, 0, 0}, {CONSTANT_LOAD, 1, 4, 0, 0}, {OTHER, 1, 0, 0, 12}}, 3, 20 + 1},
        {{{SPECIAL, 8, 3, 0, 0}, {CONSTANT_LOAD, 1, 4, 0, 0}, {OTHER, 1, 0, 0, 12}}, 3, 8 + 17 + 1},
        {{{SHARED_STORE, 1, 0, 5, 0}, {OTHER, 1, 0, 0, 16}}, 2, 10 + 1}, /* until it has read its operands */
        {{{SHARED_LOAD, 1, 1, 2, 0}, {OTHER, 1, 0, 0, 2}, {OTHER, 1, 0, 0, 1}}, 3, 30 + 1}, /* at 0, 10 and 30 */
        {{{GLOBAL_LOAD, 4, 1, 2, 0}, {OTHER, 1, 0, 0, 3}}, 2, 4 + 1}, /* memory's time is the simulator's */
        {{{LOCAL_LOAD, 4, 1, 0, 0}, {OTHER, 1, 0, 0, 1}}, 2, 4 + 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pace_of(cases[i].code, cases[i].count).cycles, cases[i].cycles);
}

static bool ignore(void *context, uint32_t cta, uint32_t warp, const struct pw_op *op, const uint64_t *words)
{
    (void)context;
    (void)cta;
    (void)warp;
    (void)op;
    (void)words;
    return true;
}

static struct pw_capture_warps *start(const struct pw_code_function *code, uint32_t threads)
{
    const struct pw_capture_kernel kernel = {.threads = threads, .code = code, .address = BASE};
    struct pw_capture_warps *w = pw_capture_warps_new(&kernel, ignore, NULL);
    assert_non_null(w);
    return w;
}

static void record(struct pw_capture_warps *w, uint32_t cta, uint32_t warp, uint32_t at, enum pw_capture_kind kind)
{
    struct pw_error err;
    const struct pw_capture_cell head = {.valid = 1,
                                         .kind = (uint8_t)kind,
                                         .bytes = 4,
                                         .mask = PW_ALL_LANES,
                                         .cta = cta,
                                         .place = (BASE + 16ULL * at) | (uint64_t)warp << PW_CAPTURE_WARP_SHIFT};
    assert_int_equal(pw_capture_warps_take(w, &head, NULL, &err), PW_OK);
}

struct place {
    uint32_t at;
    enum pw_capture_kind kind;
};

/* Of one warp that comes by these places. */
static uint32_t pace_of_records(const struct timed_instruction *code, uint32_t count, const struct place *places,
                                size_t place_count)
{
    struct pw_code_function f = decode(code, count);
    struct pw_capture_warps *w = start(&f, 32);
    for (size_t i = 0; i < place_count; i++)
        record(w, 0, 0, places[i].at, places[i].kind);
    uint32_t pace = pw_capture_warps_get_pace(w);
    pw_capture_warps_free(w);
    return pace;
}

/* Shared memory is read at 0 (cycle 0) and 2 (5), both used at 5. */
static const struct timed_instruction shared[] = {
    {SHARED_LOAD, 2, 1, 0, 0}, {OTHER, 3, 0, 0, 0},  {SHARED_LOAD, 4, 2, 0, 0}, {OTHER, 1, 0, 0, 0},
    {GLOBAL_LOAD, 4, 3, 0, 0}, {OTHER, 5, 0, 0, 3},  {OTHER, 6, 0, 0, 4},       {BARRIER_CODE, 6, 0, 0, 0},
    {OTHER, 2, 0, 0, 0},       {OTHER, 7, 0, 0, 0x3}};
enum { SHARED = sizeof shared / sizeof *shared };

static void what_one_record_leaves_the_next_ones_wait_for(void **state)
{
    (void)state;
    /* At 0, 2, 5, 9, 10 (the access), 35 and 40, then the end at 46: six instructions and an access. */
    static const struct place places[] = {
        {0, PW_CAPTURE_WAYPOINT}, {2, PW_CAPTURE_WAYPOINT}, {4, PW_CAPTURE_LOAD}, {7, PW_CAPTURE_EXIT}};
    assert_int_equal(pace_of_records(shared, SHARED, places, 4), (1000 * (46 - 1) + 3) / 6);
    /* No matter which of them are recorded. */
    assert_int_equal(pace_of_records(shared, SHARED, places + 2, 2), (1000 * (46 - 1) + 3) / 6);
}

static void the_time_of_barriers_and_ends_is_not_counted(void **state)
{
    (void)state;
    /* As above up to the barrier at 46; behind it two instructions that take 2 and 7 cycles. */
    static const struct place places[] = {{4, PW_CAPTURE_LOAD}, {7, PW_CAPTURE_BARRIER}, {SHARED, PW_CAPTURE_EXIT}};
    assert_int_equal(pace_of_records(shared, SHARED, places, 3), (1000 * (46 - 1 + 2 + 7) + 4) / 8);
    /* What is not waited for before a barrier has been released behind it. */
    static const struct timed_instruction across[] = {
        {SHARED_LOAD, 2, 1, 0, 0}, {BARRIER_CODE, 6, 0, 0, 0}, {OTHER, 4, 0, 0, 1}};
    static const struct place crossed[] = {{1, PW_CAPTURE_BARRIER}, {3, PW_CAPTURE_EXIT}};
    assert_int_equal(pace_of_records(across, 3, crossed, 2), 1000 * (2 + 4) / 2);
    /* A barrier waits itself: for the load at 0 until 30. */
    static const struct timed_instruction late[] = {{SHARED_LOAD, 2, 1, 0, 0}, {BARRIER_CODE, 6, 0, 0, 1}};
    static const struct place met[] = {{1, PW_CAPTURE_BARRIER}, {2, PW_CAPTURE_EXIT}};
    assert_int_equal(pace_of_records(late, 2, met, 2), 30000);
}

/* Nor does it count that cycle. */
static void an_access_to_global_memory_takes_one_cycle(void **state)
{
    (void)state;
    static const struct timed_instruction code[] = {{OTHER, 2, 0, 0, 0}, {GLOBAL_LOAD, 5, 0, 0, 0}};
    static const enum pw_capture_kind kinds[] = {PW_CAPTURE_LOAD, PW_CAPTURE_STORE, PW_CAPTURE_ATOMIC, PW_CAPTURE_COPY};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_int_equal(pace_of_records(code, 2, (const struct place[]){{1, kinds[i]}, {2, PW_CAPTURE_EXIT}}, 2),
                         2000);
    /* Others are instructions. */
    assert_int_equal(pace_of_records(code, 2, (const struct place[]){{1, PW_CAPTURE_COMMIT}, {2, PW_CAPTURE_EXIT}}, 2),
                     3500);
}

/* Any code takes as long however it is cut into records and ways. */
static void a_way_is_its_instructions_one_by_one(void **state)
{
    (void)state;
    static const uint32_t opcodes[] = {OTHER, SHARED_LOAD, SHARED_STORE, FUNCTION, SPECIAL, GLOBAL_LOAD};
    struct pw_random random;
    pw_random_init(&random, 42, "pace");
    for (uint32_t round = 0; round < 300; round++) {
        enum { COUNT = MOST - 2 };
        struct timed_instruction code[COUNT];
        for (uint32_t i = 0; i < COUNT; i++)
            code[i] =
                (struct timed_instruction){opcodes[pw_random_below(&random, 6)], (uint32_t)pw_random_below(&random, 16),
                                           (uint32_t)pw_random_below(&random, 7), (uint32_t)pw_random_below(&random, 7),
                                           1U << pw_random_below(&random, 12) & 0x3f};
        uint64_t whole = pace_of(code, COUNT).cycles;
        struct pw_code_function f = decode(code, COUNT);
        struct pw_pace single = {0}, cut = {0};
        struct pw_pace_warp alone = {0}, parted = {0};
        for (uint32_t i = 0; i < COUNT;) {
            struct pw_pace_way way;
            pw_pace_way_begin(&way);
            for (uint32_t end = i + (uint32_t)pw_random_below(&random, 9); i < end && i < COUNT; i++) {
                pw_pace_way_add(&way, &f.instructions[i]);
                pw_pace_record(&single, &alone, PW_CAPTURE_WAYPOINT, &f.instructions[i]);
            }
            pw_pace_go(&cut, &parted, &way);
            assert_int_equal(cut.cycles, single.cycles);
            assert_memory_equal(&alone, &parted, sizeof alone);
        }
        assert_int_equal(cut.cycles, whole);
    }
}

/* Warps that come by other places, in CTAs that are drained in turn, or one record of each at a time. */
static uint32_t pace_of_ctas(bool backwards, bool by_turns)
{
    enum { CTAS = 30, WARPS = 2, STEPS = 4 };
    static const struct place places[2][STEPS] = {
        {{0, PW_CAPTURE_WAYPOINT}, {4, PW_CAPTURE_LOAD}, {7, PW_CAPTURE_BARRIER}, {SHARED, PW_CAPTURE_EXIT}},
        {{2, PW_CAPTURE_WAYPOINT}, {4, PW_CAPTURE_STORE}, {9, PW_CAPTURE_WAYPOINT}, {SHARED, PW_CAPTURE_EXIT}}};
    struct pw_code_function f = decode(shared, SHARED);
    struct pw_capture_warps *w = start(&f, 32 * WARPS);
    for (uint32_t i = 0; i < CTAS * STEPS; i++) {
        uint32_t cta = by_turns ? i % CTAS : i / STEPS, step = by_turns ? i / CTAS : i % STEPS;
        cta = backwards ? CTAS - 1 - cta : cta;
        for (uint32_t warp = 0; warp < WARPS; warp++)
            record(w, cta, warp, places[(cta + warp) % 3 == 0][step].at, places[(cta + warp) % 3 == 0][step].kind);
    }
    uint32_t pace = pw_capture_warps_get_pace(w);
    pw_capture_warps_free(w);
    return pace;
}

static void the_order_of_ctas_does_not_matter(void **state)
{
    (void)state;
    uint32_t pace = pace_of_ctas(false, false);
    assert_true(pace > 1000);
    assert_int_equal(pace_of_ctas(true, false), pace);
    assert_int_equal(pace_of_ctas(false, true), pace);
    assert_int_equal(pace_of_ctas(true, true), pace);
}

static void a_pace_that_is_guessed_is_none(void **state)
{
    (void)state;
    const struct pw_pace most = {.instructions = 10, .cycles = 31, .ways = 100, .guessed = 5};
    assert_int_equal(pw_pace_mean(&most), 3100);
    const struct pw_pace too_many = {.instructions = 10, .cycles = 31, .ways = 100, .guessed = 6};
    assert_int_equal(pw_pace_mean(&too_many), 0);
    const struct pw_pace nothing = {.cycles = 31, .ways = 100};
    assert_int_equal(pw_pace_mean(&nothing), 0);
    const struct pw_pace slow = {.instructions = 1, .cycles = 100000, .ways = 1};
    assert_int_equal(pw_pace_mean(&slow), PW_TRACE_MOST_PACE);

    struct pw_capture_warps *w = start(NULL, 32);
    record(w, 0, 0, 3, PW_CAPTURE_LOAD);
    record(w, 0, 0, 9, PW_CAPTURE_EXIT);
    assert_int_equal(pw_capture_warps_get_pace(w), 0);
    pw_capture_warps_free(w);
    /* Nothing leads from the end to the beginning. */
    static const struct place places[] = {{0, PW_CAPTURE_WAYPOINT}, {3, PW_CAPTURE_WAYPOINT}, {1, PW_CAPTURE_WAYPOINT}};
    assert_int_equal(pace_of_records(shared, SHARED, places, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_take_stall_counts_and_waits),
        cmocka_unit_test(what_one_record_leaves_the_next_ones_wait_for),
        cmocka_unit_test(the_time_of_barriers_and_ends_is_not_counted),
        cmocka_unit_test(an_access_to_global_memory_takes_one_cycle),
        cmocka_unit_test(a_way_is_its_instructions_one_by_one),
        cmocka_unit_test(the_order_of_ctas_does_not_matter),
        cmocka_unit_test(a_pace_that_is_guessed_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
