/* Which element of which array 2dconv, stencil, kmeans, spmv, dwt and heartwall touch, and how often, against the
 * definition of the algorithm and the way the original divides it among threads. */
#include "touches.h"

#include <stdio.h>

static uint32_t once(uint64_t word)
{
    (void)word;
    return 1;
}

enum { CONV_ROWS = 37, CONV_COLUMNS = 101 };

/* How many of at - 1, at and at + 1 are inside the rim. */
static uint32_t inner_neighbours(int64_t at, int64_t side)
{
    uint32_t inside = 0;
    for (int64_t i = at - 1; i <= at + 1; i++)
        inside += i > 0 && i < side - 1;
    return inside;
}

static uint32_t conv_loads(uint64_t word)
{
    return inner_neighbours((int64_t)word / CONV_COLUMNS, CONV_ROWS) *
           inner_neighbours((int64_t)word % CONV_COLUMNS, CONV_COLUMNS);
}

static uint32_t conv_stores(uint64_t word)
{
    uint64_t y = word / CONV_COLUMNS, x = word % CONV_COLUMNS;
    return y > 0 && y < CONV_ROWS - 1 && x > 0 && x < CONV_COLUMNS - 1;
}

static void convolution_loads_every_pixel_for_each_inner_neighbour(void **state)
{
    (void)state;
    struct pw_functional_counts c = run_and_count("2dconv:rows=37:columns=101", 1);
    assert_int_equal(c.ctas, 4 * 5);
    expect_touches(PW_OP_LOAD, 0, CONV_ROWS * CONV_COLUMNS, conv_loads);
    expect_touches(PW_OP_STORE, 0, 0, once);
    expect_touches(PW_OP_LOAD, 1, 0, once);
    expect_touches(PW_OP_STORE, 1, CONV_ROWS * CONV_COLUMNS, conv_stores);
}

enum { NX = 139, NY = 13, NZ = 9 };

static bool computed(int64_t x, int64_t y, int64_t z)
{
    return x > 0 && x < NX - 1 && y > 0 && y < NY - 1 && z > 0 && z < NZ - 1;
}

static uint32_t stencil_stores(uint64_t word)
{
    return computed((int64_t)word % NX, (int64_t)word / NX % NY, (int64_t)word / NX / NY);
}

/* Once by its own thread, and once by each neighbour in another tile of 64x4. */
static uint32_t stencil_loads(uint64_t word)
{
    int64_t x = (int64_t)word % NX, y = (int64_t)word / NX % NY, z = (int64_t)word / NX / NY;
    return 1U + (y % 4 == 0 && computed(x, y - 1, z)) + (y % 4 == 3 && computed(x, y + 1, z)) +
           (x % 64 == 0 && computed(x - 1, y, z)) + (x % 64 == 63 && computed(x + 1, y, z));
}

static void stencil_loads_the_sides_of_tiles_twice(void **state)
{
    (void)state;
    struct pw_functional_counts c = run_and_count("stencil:nx=139:ny=13:nz=9:steps=1", 1);
    assert_int_equal(c.ctas, 3 * 4);
    expect_touches(PW_OP_LOAD, 0, NX * NY * NZ, stencil_loads);
    expect_touches(PW_OP_STORE, 0, 0, once);
    expect_touches(PW_OP_LOAD, 1, 0, once);
    expect_touches(PW_OP_STORE, 1, NX * NY * NZ, stencil_stores);
    run_and_count("stencil:nx=139:ny=13:nz=9:steps=2", 1); /* back again */
    expect_touches(PW_OP_LOAD, 1, NX * NY * NZ, stencil_loads);
    expect_touches(PW_OP_STORE, 0, NX * NY * NZ, stencil_stores);
}

enum { KMEANS_CLUSTERS = 3, KMEANS_ITERATIONS = 2 };

static uint32_t per_cluster(uint64_t word)
{
    (void)word;
    return KMEANS_CLUSTERS * KMEANS_ITERATIONS;
}

static uint32_t per_iteration(uint64_t word)
{
    (void)word;
    return KMEANS_ITERATIONS;
}

/* For all ways in which a number of features falls into groups of sixteen, eight, four and one. */
static void kmeans_reads_all_features_once_per_cluster(void **state)
{
    (void)state;
    enum { POINTS = 300, FLIPPED = 0, FEATURES, MEMBERSHIP, CLUSTERS };
    for (uint32_t features = 1; features <= 45; features++) {
        char text[80];
        snprintf(text, sizeof text, "kmeans:points=%d:features=%u:clusters=%d:iterations=%d", POINTS, features,
                 KMEANS_CLUSTERS, KMEANS_ITERATIONS);
        struct pw_functional_counts c = run_and_count(text, 1);
        assert_int_equal(c.ctas, 4 * (1 + KMEANS_ITERATIONS)); /* the next square number */
        expect_touches(PW_OP_LOAD, FLIPPED, POINTS * features, once);
        expect_touches(PW_OP_STORE, FEATURES, POINTS * features, once);
        expect_touches(PW_OP_LOAD, FEATURES, POINTS * features, per_cluster);
        expect_touches(PW_OP_STORE, MEMBERSHIP, POINTS, per_iteration);
        expect_touches(PW_OP_LOAD, CLUSTERS, 0, once);
    }
}

/* Three cubic elements a side: 8 inner nodes, of which those at corners of elements meet 6 along a side. Sorted by
 * length, the first warp has 36, the second 12 entries; entries that pad point at column 0. */
enum { SPMV_SIDE = 8, SPMV_ROWS = SPMV_SIDE * SPMV_SIDE, SPMV_ENTRIES = 32 * 32, SPMV_PADDED = 32 * (36 + 12) };

static uint32_t spmv_x_loads(uint64_t word)
{
    static const uint32_t met[SPMV_SIDE] = {3, 3, 6, 4, 4, 6, 3, 3};
    return met[word / SPMV_SIDE] * met[word % SPMV_SIDE] + (word ? 0 : SPMV_PADDED - SPMV_ENTRIES);
}

static void spmv_gathers_x_as_often_as_its_columns_have_entries(void **state)
{
    (void)state;
    enum { DATA, INDICES, STARTS, PERMUTATION, LENGTHS, X, RESULT };
    struct pw_functional_counts c = run_and_count("spmv:elements=3:degree=3", 1);
    assert_int_equal(c.warps, 2);
    expect_touches(PW_OP_LOAD, DATA, SPMV_PADDED, once);
    expect_touches(PW_OP_LOAD, INDICES, SPMV_PADDED, once);
    expect_touches(PW_OP_LOAD, STARTS, 0, once);
    expect_touches(PW_OP_LOAD, PERMUTATION, SPMV_ROWS, once);
    expect_touches(PW_OP_LOAD, LENGTHS, 0, once);
    expect_touches(PW_OP_LOAD, X, SPMV_ROWS, spmv_x_loads);
    expect_touches(PW_OP_STORE, RESULT, SPMV_ROWS, once);
}

static void spmv_has_as_many_entries_as_the_matrix_it_stands_for(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts c = {0};
    assert_int_equal(pw_program_parse("spmv", &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, 1, false, NULL, NULL, &c, &err), PW_OK);
    pw_program_release(&p);
    assert_int_equal(c.ctas, (383 * 383 + 191) / 192);
    /* an index, a value and an element of x each, but for padding; the permutation and the result */
    uint64_t entries = (c.lane_accesses - 2 * 383 * 383) / 3;
    assert_true(entries >= 3636649 && entries < 3636649 * 101 / 100);
}

enum { DWT_WIDTH = 130, DWT_HEIGHT = 37, DWT_WINDOW = 64, DWT_STEP = 8 };

static int64_t mirrored(int64_t at, int64_t size)
{
    return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

/* By the columns of three windows, each with two more before and one behind. */
static uint32_t dwt_column_loads(int64_t x)
{
    uint32_t loads = 0;
    for (int64_t window = 0; window < DWT_WIDTH; window += DWT_WINDOW)
        for (int64_t i = window - 2; i <= window + DWT_WINDOW; i++)
            loads += mirrored(i, DWT_WIDTH) == x;
    return loads;
}

/* By CTAs of eight rows, each with the last of three more before and one behind. */
static uint32_t dwt_row_loads(int64_t y)
{
    uint32_t loads = 0;
    for (int64_t window = 0; window < DWT_HEIGHT; window += DWT_STEP)
        for (int64_t i = window - 2; i <= window + DWT_STEP; i++)
            loads += mirrored(i, DWT_HEIGHT) == y;
    return loads;
}

static uint32_t dwt_loads(uint64_t word)
{
    return dwt_column_loads((int64_t)word % DWT_WIDTH) * dwt_row_loads((int64_t)word / DWT_WIDTH);
}

static void wavelets_load_windows_with_their_sides_mirrored(void **state)
{
    (void)state;
    enum { PIXELS = DWT_WIDTH * DWT_HEIGHT, CTAS = (PIXELS + 255) / 256, BACKUP = 1, FIRST_IN = 4, SOURCE = 7 };
    static const unsigned out[] = {0, 2, 3};
    struct pw_functional_counts c = run_and_count("dwt:width=130:height=37:levels=1", 1);
    assert_int_equal(c.ctas, CTAS + 3 * 3 * 5);
    expect_touches(PW_OP_LOAD, SOURCE, CTAS * 192, once);
    expect_touches(PW_OP_STORE, BACKUP, 0, once);
    for (unsigned colour = 0; colour < 3; colour++) {
        expect_touches(PW_OP_STORE, FIRST_IN + colour, PIXELS, once);
        expect_touches(PW_OP_LOAD, FIRST_IN + colour, PIXELS, dwt_loads);
        expect_touches(PW_OP_STORE, out[colour], PIXELS, once);
        expect_touches(PW_OP_LOAD, out[colour], 0, once);
    }
}

/* Lanes by array, of arrays that may be larger than those of touches.h. */
struct lanes_of_arrays {
    uint64_t loads[TOUCHED_ARRAYS], stores[TOUCHED_ARRAYS];
};

static void count_lanes(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w;
    struct lanes_of_arrays *counts = context;
    if (op->kind != PW_OP_LOAD && op->kind != PW_OP_STORE)
        return;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        if (op->count_or_mask >> lane & 1) {
            uint64_t address = op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1];
            uint64_t array = (address - TOUCHED_FIRST_ADDRESS) >> TOUCHED_SLOT_SHIFT;
            assert_in_range(array, 0, TOUCHED_ARRAYS - 1);
            (op->kind == PW_OP_LOAD ? counts->loads : counts->stores)[array]++;
        }
}

/* A template of n x n, a window of m x m. */
static void heartwall_multiplies_all_of_the_template_with_all_of_the_window(void **state)
{
    (void)state;
    enum { FRAME, TEMPLATES = 5, WINDOW, CONV, PADDED, SUB = 10, MASK = 16, MASK_CONV };
    const uint64_t n = 2 * 6 + 1, m = 2 * 11 + 1, conv = n + m - 1, padded = m + 2 * n;
    static struct lanes_of_arrays counts;
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts c = {0};
    assert_int_equal(pw_program_parse("heartwall:points=1:frames=2:template=6:search=11", &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, 1, true, count_lanes, &counts, &c, &err), PW_OK);
    pw_program_release(&p);
    assert_int_equal(c.warps, 2 * 16);
    assert_int_equal(counts.loads[FRAME], n * n + m * m);
    assert_int_equal(counts.stores[TEMPLATES], n * n);
    assert_int_equal(counts.loads[TEMPLATES], 3 * n * n); /* turned, squared, summed */
    assert_int_equal(counts.loads[WINDOW], n * n * m * m + 2 * m * m);
    assert_int_equal(counts.stores[CONV], 2 * conv * conv);
    assert_int_equal(counts.loads[CONV], 2 * conv * conv);
    /* padded and cumulated, twice; two selections each */
    assert_int_equal(counts.stores[PADDED], 2 * 2 * padded * padded);
    assert_int_equal(counts.loads[PADDED], 2 * (padded * padded + 2 * conv * padded));
    assert_int_equal(counts.stores[SUB], 2 * 3 * conv * padded);
    assert_int_equal(counts.loads[SUB], 2 * (2 * conv * padded + 2 * conv * conv));
    /* a square of 10 x 10 slides over the mask: 4 before and 5 behind a place */
    assert_int_equal(counts.loads[MASK], (10 * conv - 10 - 15) * (10 * conv - 10 - 15));
    assert_int_equal(counts.stores[MASK], conv * conv);
    assert_int_equal(counts.loads[MASK_CONV], conv * conv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_loads_every_pixel_for_each_inner_neighbour),
        cmocka_unit_test(stencil_loads_the_sides_of_tiles_twice),
        cmocka_unit_test(kmeans_reads_all_features_once_per_cluster),
        cmocka_unit_test(spmv_gathers_x_as_often_as_its_columns_have_entries),
        cmocka_unit_test(spmv_has_as_many_entries_as_the_matrix_it_stands_for),
        cmocka_unit_test(wavelets_load_windows_with_their_sides_mirrored),
        cmocka_unit_test(heartwall_multiplies_all_of_the_template_with_all_of_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
