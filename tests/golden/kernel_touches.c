/* What GUP, FWT, FFT, HISTO and SAD touch, how often and with how many bytes, against the definitions of their
 * algorithms; and that nothing but the seed decides it. */
#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The functional executor puts array k of a program (if none exceeds 2 MiB) k * 2 MiB behind the first. Touches are
 * counted per 2 bytes. */
enum { ARRAYS = 7, SLOT_SHIFT = 21, CELLS = 1 << (SLOT_SHIFT - 1) };
#define FIRST_ADDRESS UINT64_C(0x7f4000000000)

struct touches {
    uint16_t cells[PW_OP_KIND_COUNT][ARRAYS][CELLS];
    uint32_t ranges;      /* of HISTO's main kernel */
    bool strays_off_page; /* a CTA of FFT's transforms left its base page */
};

static void touch(struct touches *t, const struct pw_op *op, uint64_t address)
{
    uint64_t offset = address - FIRST_ADDRESS, array = offset >> SLOT_SHIFT;
    uint64_t at = offset & ((UINT64_C(1) << SLOT_SHIFT) - 1);
    if (address < FIRST_ADDRESS || array >= ARRAYS || address % op->bytes)
        fail_msg("address %#llx of %u bytes lies in no array", (unsigned long long)address, op->bytes);
    for (uint64_t cell = at / 2; cell < (at + op->bytes + 1) / 2; cell++)
        t->cells[op->kind][array][cell]++;
}

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    struct touches *t = context;
    if (op->kind < PW_OP_LOAD || op->kind > PW_OP_ATOMIC_RETURN)
        return;
    assert_int_equal(op->count_or_mask & ~w->lanes, 0);
    if (!strcmp(w->launch->name, "histo_main_kernel"))
        t->ranges = w->launch->grid.y;
    bool transform = strstr(w->launch->name, "FFT512_device");
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        if (op->count_or_mask >> lane & 1) {
            uint64_t address = op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1];
            touch(t, op, address);
            t->strays_off_page |= transform && (address - FIRST_ADDRESS) >> 12 != w->cta_index;
        }
}

static struct pw_functional_counts run(const char *text, uint64_t seed, struct touches *t)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts = {0};
    if (pw_program_parse(text, &p, &err) || pw_functional_run(&p, seed, p.values, t ? visit : NULL, t, &counts, &err))
        fail_msg("%s: %s", text, err.message);
    pw_program_release(&p);
    return counts;
}

static struct touches *fresh(void **state)
{
    free(*state);
    *state = calloc(1, sizeof(struct touches));
    assert_non_null(*state);
    return *state;
}

static int release(void **state)
{
    free(*state);
    return 0;
}

/* Each of the array's first `cells` was touched `times`, and nothing behind them. */
static void expect_each(const struct touches *t, unsigned kind, unsigned array, uint64_t cells, uint32_t times)
{
    for (uint64_t i = 0; i < CELLS; i++)
        if (t->cells[kind][array][i] != (i < cells ? times : 0))
            fail_msg("kind %u, array %u, cell %llu: %u touches", kind, array, (unsigned long long)i,
                     t->cells[kind][array][i]);
}

static uint64_t total(const struct touches *t, unsigned kind, unsigned array)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < CELLS; i++)
        sum += t->cells[kind][array][i];
    return sum;
}

static void gups_stores_where_it_has_loaded(void **state)
{
    struct touches *t = fresh(state);
    enum { TABLE, START, WORDS = 1024, UPDATES = 7 };
    struct pw_functional_counts c = run("GUP:table=8KB:ctas=3:updates=7", 1, t);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.ctas, 2 * 3);
    assert_int_equal(total(t, PW_OP_LOAD, TABLE), 4 * UPDATES * WORDS); /* a word is four cells */
    for (uint32_t i = 0; i < 4 * WORDS; i++) /* and once by the kernel that fills the table */
        assert_int_equal(t->cells[PW_OP_STORE][TABLE][i], t->cells[PW_OP_LOAD][TABLE][i] + 1);
    expect_each(t, PW_OP_LOAD, START, 4 * 3 * 128, 1);
}

/* The low bits of x -> 2x in a field: every word of the table gets about its share. */
static void gups_spreads_over_the_whole_table(void **state)
{
    struct touches *t = fresh(state);
    run("GUP:table=4KB:ctas=2:updates=100", 3, t);
    for (uint32_t word = 0; word < 512; word++) /* mean 100; neighbours in the stream share bits, so it deviates more */
        assert_in_range(t->cells[PW_OP_LOAD][0][4 * word], 20, 220);
}

static void walsh_transforms_pass_over_the_data_once_per_stage(void **state)
{
    static const struct {
        const char *text;
        uint32_t log2, stages; /* in global memory */
    } table[] = {{"FWT:log2=9", 9, 0}, {"FWT:log2=11", 11, 0}, {"FWT:log2=12", 12, 1}, {"FWT:log2=15", 15, 2}};
    enum { KERNEL, DATA };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct touches *t = fresh(state);
        struct pw_functional_counts c = run(table[i].text, 1, t);
        uint32_t passes = table[i].stages + 1;
        uint64_t cells = UINT64_C(2) << table[i].log2;
        assert_int_equal(c.launches, 3 * passes + 1);
        expect_each(t, PW_OP_LOAD, DATA, cells, 2 * passes + 1);
        expect_each(t, PW_OP_STORE, DATA, cells, 2 * passes + 1);
        expect_each(t, PW_OP_LOAD, KERNEL, cells, passes + 1);
        expect_each(t, PW_OP_STORE, KERNEL, cells, passes);
    }
}

static void a_cta_of_the_fft_stays_on_its_page(void **state)
{
    struct touches *t = fresh(state);
    enum { WORK, FAIL, POINT_CELLS = 4 };
    struct pw_functional_counts c = run("FFT:ffts=6:passes=2", 1, t);
    assert_int_equal(c.launches, 6);
    assert_int_equal(c.ctas, 2 * (6 + 6 + 3));
    expect_each(t, PW_OP_LOAD, WORK, 6 * 512 * POINT_CELLS, 2 * 3);
    expect_each(t, PW_OP_STORE, WORK, 6 * 512 * POINT_CELLS, 2 * 2);
    expect_each(t, PW_OP_STORE, FAIL, 0, 0);
    assert_false(t->strays_off_page);
}

static void histo_reads_the_image_as_its_four_kernels_say(void **state)
{
    struct touches *t = fresh(state);
    enum { INPUT, RANGES, MAPPINGS, PARTIAL, COUNTS, OVERFLOW, FINAL };
    enum { WIDTH = 333, HEIGHT = 100, PITCH = 334, ROWS = 112, SHARE = WIDTH * HEIGHT / 64, BINS = 512 * 256 };
    enum { RANGE = 24576, COPIES = 14 };
    run("HISTO:width=333:height=100:rows=512:iterations=1", 1, t);
    for (uint32_t i = 0; i < PITCH * ROWS; i++) /* once in whole, and the prescan's samples twice */
        assert_int_equal(t->cells[PW_OP_LOAD][INPUT][2 * i], 1 + 2 * (i / SHARE < 64 && i % SHARE < SHARE / 8));
    expect_each(t, PW_OP_ATOMIC, RANGES, 2 * 2, 64);
    expect_each(t, PW_OP_STORE, MAPPINGS, 2 * WIDTH * ROWS, 1);
    expect_each(t, PW_OP_LOAD, MAPPINGS, 2 * WIDTH * HEIGHT, t->ranges);
    assert_in_range(t->ranges, 1, 4);
    expect_each(t, PW_OP_STORE, FINAL, BINS / 2, 1);
    assert_int_equal(total(t, PW_OP_STORE, PARTIAL), (uint64_t)t->ranges * COPIES * RANGE / 2);
    assert_memory_equal(t->cells[PW_OP_STORE][PARTIAL], t->cells[PW_OP_LOAD][PARTIAL], sizeof t->cells[0][0]);
    /* A bin is read and cleared in one place: outside the central ranges (2 bytes) or inside (4 bytes). */
    for (uint32_t bin = 0; bin < BINS; bin++)
        for (unsigned kind = PW_OP_LOAD; kind <= PW_OP_STORE; kind++)
            assert_int_equal(t->cells[kind][COUNTS][bin] + t->cells[kind][OVERFLOW][2 * bin], 1);
    assert_int_equal(total(t, PW_OP_LOAD, OVERFLOW), 2 * (uint64_t)t->ranges * RANGE);
}

static void histo_counts_what_lies_outside_by_atomics(void **state)
{
    struct touches *t = fresh(state);
    enum { COUNTS = 4, OVERFLOW = 5, VALUES = 300 * 100 };
    run("HISTO:width=300:height=100:rows=512:iterations=1:outliers=1:spread=0", 1, t);
    uint64_t central = (uint64_t)t->ranges * 24576, bins = 512 * 256;
    /* uniform values: the share outside the central ranges, each an atomic of 4 bytes, deviation at most 87 values */
    uint64_t expected = 2 * VALUES * (bins - central) / bins, atomics = total(t, PW_OP_ATOMIC, COUNTS);
    assert_in_range(atomics, expected - 1000, expected + 1000);
    assert_int_equal(total(t, PW_OP_ATOMIC, OVERFLOW), 0);
    /* all values in one bin: its byte overflows once per 256 values of each of the 14 CTAs and carries into the next */
    t = fresh(state);
    run("HISTO:width=300:height=100:rows=512:iterations=1:spread=0", 1, t);
    uint32_t overflows = 0;
    for (uint32_t cta = 0; cta < 14; cta++) {
        uint32_t values = 0;
        for (uint32_t i = 0; i < VALUES; i++)
            values += i / 512 % 14 == cta;
        overflows += values / 256;
    }
    assert_int_equal(total(t, PW_OP_ATOMIC, OVERFLOW), 2 * 2 * overflows);
}

static int32_t clamped(int32_t i, int32_t size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static void sad_reads_the_search_window_of_each_block(void **state)
{
    struct touches *t = fresh(state);
    enum { CURRENT, BEFORE, SADS, WIDTH = 48, HEIGHT = 32, MACROBLOCKS = 6, PADDED = 1096, ADDED = 1090 };
    struct pw_functional_counts c = run("SAD:width=48:height=32", 1, t);
    assert_int_equal(c.launches, 3);
    assert_int_equal(c.ctas, 16 * MACROBLOCKS + 2 * MACROBLOCKS);
    expect_each(t, PW_OP_LOAD, CURRENT, WIDTH * HEIGHT, 1);

    static uint32_t loads[HEIGHT][WIDTH]; /* three displacements side by side share six columns */
    memset(loads, 0, sizeof loads);
    for (int32_t y = 0; y < HEIGHT; y += 4)
        for (int32_t x = 0; x < WIDTH; x += 4)
            for (int32_t dy = -16; dy <= 16; dy++)
                for (int32_t dx = -16; dx <= 16; dx += 3)
                    for (int32_t i = 0; i < 4 * 6; i++)
                        loads[clamped(y + dy + i / 6, HEIGHT)][clamped(x + dx + i % 6, WIDTH)]++;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        assert_int_equal(t->cells[PW_OP_LOAD][BEFORE][i], (uint16_t)loads[i / WIDTH][i % WIDTH]);

    for (uint32_t vector = 0; vector < 41 * MACROBLOCKS; vector++)
        for (uint32_t i = 0; i < PADDED; i++) {
            bool smallest = vector >= 25 * MACROBLOCKS;
            bool square = vector >= 5 * MACROBLOCKS && vector < 9 * MACROBLOCKS;
            assert_int_equal(t->cells[PW_OP_STORE][SADS][vector * PADDED + i], smallest || i < ADDED);
            assert_int_equal(t->cells[PW_OP_LOAD][SADS][vector * PADDED + i], (smallest || square) && i < ADDED);
        }
}

static void only_the_seed_decides_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool data_dependent;
    } table[] = {{"GUP:table=64KB:ctas=3", true},
                 {"FWT:log2=13", false},
                 {"FFT:ffts=6", false},
                 {"FFT:ffts=6:variant=mgpusim", false},
                 {"HISTO:width=100:height=50:rows=512:outliers=0.1:iterations=4", true},
                 {"SAD:width=32:height=16", false}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pw_functional_counts first = run(table[i].text, 1, NULL), again = run(table[i].text, 1, NULL);
        assert_memory_equal(&first, &again, sizeof first);
        assert_int_equal(first.address_hash != run(table[i].text, 2, NULL).address_hash, table[i].data_dependent);
        if (strstr(table[i].text, "HISTO"))
            continue;
        char off[96];
        snprintf(off, sizeof off, "%s:values=off", table[i].text);
        again = run(off, 1, NULL);
        assert_memory_equal(&first, &again, sizeof first);
    }
}

static void sizes_the_original_cannot_have_are_user_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {"SAD:width=24", "HISTO:scale=5",
                                        "HISTO:spread=500:rows=512:width=600:height=600"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pw_program p;
        struct pw_error err;
        struct pw_functional_counts counts;
        assert_int_equal(pw_program_parse(texts[i], &p, &err), PW_OK);
        assert_int_equal(pw_functional_run(&p, 1, false, NULL, NULL, &counts, &err), PW_USER_ERROR);
        pw_program_release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(gups_stores_where_it_has_loaded, release),
        cmocka_unit_test_teardown(gups_spreads_over_the_whole_table, release),
        cmocka_unit_test_teardown(walsh_transforms_pass_over_the_data_once_per_stage, release),
        cmocka_unit_test_teardown(a_cta_of_the_fft_stays_on_its_page, release),
        cmocka_unit_test_teardown(histo_reads_the_image_as_its_four_kernels_say, release),
        cmocka_unit_test_teardown(histo_counts_what_lies_outside_by_atomics, release),
        cmocka_unit_test_teardown(sad_reads_the_search_window_of_each_block, release),
        cmocka_unit_test(only_the_seed_decides_addresses),
        cmocka_unit_test(sizes_the_original_cannot_have_are_user_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
