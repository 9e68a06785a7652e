/* transpose, stencil2d, FFT and Hetero-Mark's page_rank and kmeans, as the paper on GMMU bypass runs them in MGPUSim:
 * how large they are, in which CTAs they run, and which element of which array a CTA touches. */
#include "touches.h"

#include <stdio.h>

/* What a program allocates before its first launch, and how that is divided. */
struct beginning {
    uint64_t bytes;
    struct pw_dim3 grid, block;
};

static enum pw_status add_bytes(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    (void)id, (void)name, (void)base, (void)err;
    ((struct beginning *)context)->bytes += bytes;
    return PW_OK;
}

static enum pw_status end_at_launch(void *context, const struct pw_launch *launch, struct pw_error *err)
{
    struct beginning *b = context;
    b->grid = launch->grid;
    b->block = launch->block;
    return pw_fail(err, PW_FAILED, "seen");
}

static struct beginning beginning_of(const char *text)
{
    struct pw_program p;
    struct pw_error err = {0};
    struct pw_functional_counts counts;
    struct beginning b = {0};
    const struct pw_functional_observer observer = {.context = &b, .allocated = add_bytes, .launched = end_at_launch};
    assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
    assert_int_equal(pw_functional_observe(&p, 1, false, &observer, &counts, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "seen"));
    pw_program_release(&p);
    return b;
}

struct program {
    const char *id, *text, *suite;
    struct pw_dim3 grid, block;
};

/* Table 2, and MGPUSim's division into CTAs: a tile of 64x64 words, 64 columns of 16 rows, a transform, 64 points, a
 * node. Sides are whole tiles, so that transpose comes no nearer than 1.2%. */
static const struct program papers[] = {
    {"gmmu-tab2-mt", "transpose:size=gmmu-bypass", "AMD APP SDK", {2880 / 64, 2880 / 64, 1}, {16, 16, 1}},
    {"gmmu-tab2-st", "stencil2d:size=gmmu-bypass", "SHOC", {2896 / 16, 2880 / 64, 1}, {1, 64, 1}},
    {"gmmu-tab2-fft", "FFT:size=gmmu-bypass", "SHOC", {64 << 8, 1, 1}, {64, 1, 1}},
    {"gmmu-tab2-fft", "FFT:size=gmmu-bypass:variant=mgpusim", "SHOC", {64 << 8, 1, 1}, {64, 1, 1}},
    {"gmmu-tab2-km", "kmeans:size=gmmu-bypass", "Rodinia, Hetero-Mark", {258048 / 64, 1, 1}, {64, 1, 1}},
    {"gmmu-tab2-pr", "page_rank:size=gmmu-bypass", "Pannotia, Hetero-Mark", {90687, 1, 1}, {64, 1, 1}},
};

static void programs_have_64_mb_and_the_ctas_of_mgpusim(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        struct beginning b = beginning_of(papers[i].text);
        char name[16];
        assert_int_equal(sscanf(papers[i].text, "%15[^:]", name), 1);
        const struct pw_workload *w = pw_workload_find(name);
        if (b.bytes < 64 * 98 * (UINT64_C(1) << 20) / 100 || b.bytes > 64 * 102 * (UINT64_C(1) << 20) / 100)
            fail_msg("%s: %s has %llu bytes", papers[i].id, papers[i].text, (unsigned long long)b.bytes);
        assert_memory_equal(&b.grid, &papers[i].grid, sizeof b.grid);
        assert_memory_equal(&b.block, &papers[i].block, sizeof b.block);
        assert_string_equal(w->suite, papers[i].suite);
        assert_non_null(strstr(w->papers, "gmmu-bypass"));
    }
}

static uint32_t once(uint64_t word)
{
    (void)word;
    return 1;
}

static uint32_t once_per_quad(uint64_t word)
{
    return word % 4 == 0;
}

enum { TRANSPOSE_TILES = 3, TRANSPOSE_WIDTH = 64 * TRANSPOSE_TILES };

/* Tile (row, column) of the array that a CTA's operation touches, by an address in it. */
static void expect_tile(const uint64_t *address, const struct pw_op *op, const struct pw_warp *w)
{
    bool stores = op->kind == PW_OP_STORE;
    uint64_t word = (*address - TOUCHED_FIRST_ADDRESS) % (1 << TOUCHED_SLOT_SHIFT) / 4;
    uint64_t row = word / TRANSPOSE_WIDTH / 64, column = word % TRANSPOSE_WIDTH / 64;
    assert_int_equal((*address - TOUCHED_FIRST_ADDRESS) >> TOUCHED_SLOT_SHIFT, stores);
    assert_int_equal(op->bytes, 16);
    assert_int_equal(stores ? column : row, w->cta.x);
    assert_int_equal(stores ? row : column, (w->cta.x + w->cta.y) % TRANSPOSE_TILES);
}

static void visit_tiles(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)context;
    if (op->kind == PW_OP_LOAD || op->kind == PW_OP_STORE)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            expect_tile(&words[lane], op, w);
}

static void transpose_reads_along_a_diagonal_of_tiles(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts c;
    run_and_count("transpose:width=128", 1);
    expect_touches(PW_OP_LOAD, 0, 128 * 128, once_per_quad);
    expect_touches(PW_OP_STORE, 1, 128 * 128, once_per_quad);
    expect_touches(PW_OP_STORE, 0, 0, once);
    expect_touches(PW_OP_LOAD, 1, 0, once);
    assert_int_equal(pw_program_parse("transpose:width=192", &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, 1, true, visit_tiles, NULL, &c, &err), PW_OK);
    assert_int_equal(c.ctas, TRANSPOSE_TILES * TRANSPOSE_TILES);
    pw_program_release(&p);
}

enum { CELL_ROWS = 48, CELL_COLUMNS = 128, CELL_PITCH = CELL_COLUMNS + 16 };

/* How many tiles, `step` apart and two larger than that, have this row or column. */
static uint32_t tiles_with(uint64_t at, uint64_t step, uint64_t side)
{
    uint32_t tiles = 0;
    for (uint64_t first = 0; first < side; first += step)
        tiles += at >= first && at < first + step + 2;
    return tiles;
}

static uint32_t cell_loads(uint64_t word)
{
    return tiles_with(word / CELL_PITCH, 16, CELL_ROWS) * tiles_with(word % CELL_PITCH, 64, CELL_COLUMNS);
}

static uint32_t cell_stores(uint64_t word)
{
    uint64_t row = word / CELL_PITCH, column = word % CELL_PITCH;
    return row >= 1 && row <= CELL_ROWS && column >= 1 && column <= CELL_COLUMNS;
}

static void visit_strips(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)context;
    if (op->kind != PW_OP_STORE)
        return;
    uint64_t word = (words[0] - TOUCHED_FIRST_ADDRESS) % (1 << TOUCHED_SLOT_SHIFT) / 4;
    assert_int_equal((word / CELL_PITCH - 1) / 16, w->cta_index % (CELL_ROWS / 16));
    assert_int_equal((word % CELL_PITCH - 1) / 64, w->cta_index / (CELL_ROWS / 16));
}

static void stencil2d_goes_down_strips_and_loads_rims_twice(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts c = run_and_count("stencil2d:rows=48:columns=128", 1);
    assert_int_equal(c.ctas, 3 * 2);
    expect_touches(PW_OP_LOAD, 0, (CELL_ROWS + 2) * CELL_PITCH, cell_loads);
    expect_touches(PW_OP_STORE, 1, (CELL_ROWS + 2) * CELL_PITCH, cell_stores);
    expect_touches(PW_OP_STORE, 0, 0, once);
    expect_touches(PW_OP_LOAD, 1, 0, once);
    run_and_count("stencil2d:rows=48:columns=128:iterations=2", 1); /* and back again */
    expect_touches(PW_OP_LOAD, 1, (CELL_ROWS + 2) * CELL_PITCH, cell_loads);
    expect_touches(PW_OP_STORE, 0, (CELL_ROWS + 2) * CELL_PITCH, cell_stores);
    assert_int_equal(pw_program_parse("stencil2d:rows=48:columns=128", &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, 1, true, visit_strips, NULL, &c, &err), PW_OK);
    pw_program_release(&p);
}

enum { POINTS = 300, FEATURES = 5, CENTRES = 3, ITERATIONS = 2 };

static uint32_t per_centre(uint64_t word)
{
    (void)word;
    return CENTRES * ITERATIONS;
}

static uint32_t per_iteration(uint64_t word)
{
    (void)word;
    return ITERATIONS;
}

static uint32_t per_point(uint64_t word)
{
    (void)word;
    return POINTS * ITERATIONS;
}

static void kmeans_of_heteromark_reads_centres_with_features(void **state)
{
    (void)state;
    enum { POINT, TURNED, MEMBERSHIP, CLUSTERS };
    struct pw_functional_counts c =
        run_and_count("kmeans:variant=heteromark:points=300:features=5:clusters=3:iterations=2", 1);
    assert_int_equal(c.ctas, 5 * (1 + ITERATIONS));
    expect_touches(PW_OP_LOAD, POINT, POINTS * FEATURES, once);
    expect_touches(PW_OP_STORE, TURNED, POINTS * FEATURES, once);
    expect_touches(PW_OP_LOAD, TURNED, POINTS * FEATURES, per_centre);
    expect_touches(PW_OP_STORE, MEMBERSHIP, POINTS, per_iteration);
    expect_touches(PW_OP_LOAD, CLUSTERS, CENTRES * FEATURES, per_point);
}

/* Corners of the cube have 3 neighbours, all others up to 6. */
enum { SIDE = 4, NODES = SIDE * SIDE * SIDE, EDGES = 6 * SIDE * SIDE * (SIDE - 1) };

static uint32_t degree(uint64_t node)
{
    uint64_t at[] = {node % SIDE, node / SIDE % SIDE, node / SIDE / SIDE};
    uint32_t degree = 0;
    for (unsigned i = 0; i < 3; i++)
        degree += (at[i] > 0) + (at[i] < SIDE - 1);
    return degree;
}

static uint32_t zeroed_and_set(uint64_t node)
{
    (void)node;
    return 64 + 1;
}

/* The two ends of a row are loaded by half of the 64 threads each. */
static uint32_t row_loads(uint64_t row)
{
    return row == 0 || row == NODES ? 32 : 64;
}

static void page_rank_of_heteromark_reads_a_row_per_cta(void **state)
{
    (void)state;
    enum { RANK, NEXT, ROW, COLUMN, VALUE };
    struct pw_functional_counts c = run_and_count("page_rank:variant=heteromark:nodes=64:kind=mesh3d:iterations=1", 1);
    assert_int_equal(c.ctas, NODES);
    expect_touches(PW_OP_LOAD, RANK, NODES, degree); /* as many list a node as it lists */
    expect_touches(PW_OP_STORE, NEXT, NODES, zeroed_and_set);
    expect_touches(PW_OP_LOAD, ROW, NODES + 1, row_loads);
    expect_touches(PW_OP_LOAD, COLUMN, EDGES, once);
    expect_touches(PW_OP_LOAD, VALUE, EDGES, once);
    run_and_count("page_rank:variant=heteromark:nodes=64:kind=mesh3d:iterations=2", 1); /* and back again */
    expect_touches(PW_OP_LOAD, NEXT, NODES, degree);
    expect_touches(PW_OP_STORE, RANK, NODES, zeroed_and_set);
}

/* An element of 8 bytes counts at twice its number. */
static uint32_t per_pass(uint64_t word)
{
    return word % 2 ? 0 : 2;
}

static void mgpusims_fft_transforms_forward_only(void **state)
{
    (void)state;
    struct pw_functional_counts c = run_and_count("FFT:ffts=6:passes=2:variant=mgpusim", 1);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.ctas, 2 * 6);
    expect_touches(PW_OP_LOAD, 0, 6 * 512 * 2, per_pass);
    expect_touches(PW_OP_STORE, 0, 6 * 512 * 2, per_pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_have_64_mb_and_the_ctas_of_mgpusim),
        cmocka_unit_test(transpose_reads_along_a_diagonal_of_tiles),
        cmocka_unit_test(stencil2d_goes_down_strips_and_loads_rims_twice),
        cmocka_unit_test(kmeans_of_heteromark_reads_centres_with_features),
        cmocka_unit_test(page_rank_of_heteromark_reads_a_row_per_cta),
        cmocka_unit_test(mgpusims_fft_transforms_forward_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
