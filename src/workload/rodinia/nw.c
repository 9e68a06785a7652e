/* NW and nw: Needleman-Wunsch alignment of two sequences of Rodinia, a wavefront of 16x16 blocks over a matrix.
 *
 * Kept: both kernels, one launch per diagonal of blocks (growing diagonals by the first, shrinking ones by the second);
 * CTAs of 16 threads, half a warp; score matrix and reference of (length + 1)^2 ints, row-major, so that rows start at
 * drifting offsets; a block's reference row by row, its west column a row apart per lane, its north row and north-west
 * corner, each behind a barrier, then 31 steps in shared memory and the block back row by row; the length a multiple of
 * 16. Two arrays, freed in their order.
 * Simplified: the substitution scores of the ten residues are random in BLOSUM62's range (a pair of equals 4 to 9,
 * others -4 to 1) instead of its table, which changes values and no address.
 * Instruction counts and loads in flight are those of the kernels as nvcc 13 compiles them for sm_90: the 16 reference
 * loads are in flight together, in the first kernel with the corner among them; a step takes 13 instructions. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { BLOCK = 16, MAX_LENGTH = 1 << 20, RESIDUES = 10 }; /* the original's indices would overflow earlier */

struct parameters {
    uint32_t length, penalty;
};

struct arguments {
    struct pw_array reference, matrix;
    int64_t columns; /* length + 1 */
    int32_t penalty;
    uint32_t blocks;   /* of a side of the matrix */
    uint32_t diagonal; /* its number of blocks, the original's i */
};

struct tile {
    int32_t score[BLOCK + 1][BLOCK + 1], reference[BLOCK][BLOCK];
};

static inline int32_t best(int32_t north_west, int32_t west, int32_t north, int32_t reference, int32_t penalty)
{
    int32_t aligned = north_west + reference, gap = (west > north ? west : north) - penalty;
    return aligned > gap ? aligned : gap;
}

/* Loads of a block whose north-west corner is element `corner`, up to the barrier behind the west column. The first
 * kernel asks for the corner with the reference, the second with the column. */
static void load_reference_and_west(struct pw_warp *w, const struct arguments *g, int64_t corner, bool second)
{
    pw_compute(w, second ? 19 : 25);
    for (int64_t ty = 0; ty < BLOCK; ty++) {
        if (!second && ty == 9)
            pw_load_run(w, 1, &g->matrix, corner);
        pw_load_run(w, w->lanes, &g->reference, corner + (ty + 1) * g->columns + 1);
        pw_compute(w, 1);
    }
    pw_use(w);
    pw_compute(w, second ? 25 : 21);
    pw_barrier(w);
    if (second) {
        pw_compute(w, 1);
        pw_load_run(w, 1, &g->matrix, corner);
    }
    pw_load_strided(w, w->lanes, &g->matrix, corner + g->columns, g->columns);
    pw_compute(w, second ? 4 : 3);
    pw_use(w);
    pw_compute(w, second ? 2 : 1);
    pw_barrier(w);
}

static void fill_tile(struct tile *t, const struct arguments *g, int64_t corner)
{
    const int32_t *matrix = g->matrix.data, *reference = g->reference.data;
    for (int64_t i = 0; i <= BLOCK; i++) {
        t->score[i][0] = matrix[corner + i * g->columns];
        t->score[0][i] = matrix[corner + i];
    }
    for (int64_t y = 0; y < BLOCK; y++)
        for (int64_t x = 0; x < BLOCK; x++)
            t->reference[y][x] = reference[corner + (y + 1) * g->columns + x + 1];
}

/* The cells of one anti-diagonal, one per thread below `threads`: thread 0's is (y, x), the next ones up and right. */
static void advance(struct tile *t, const struct arguments *g, int32_t y, int32_t x, int32_t threads)
{
    for (; threads-- > 0; y--, x++)
        t->score[y][x] = best(t->score[y - 1][x - 1], t->score[y][x - 1], t->score[y - 1][x],
                              t->reference[y - 1][x - 1], g->penalty);
}

static void align_block(struct pw_warp *w, const struct arguments *g, uint32_t block_x, uint32_t block_y, bool second)
{
    struct tile *t = w->shared;
    int32_t *matrix = g->matrix.data;
    int64_t corner = g->columns * BLOCK * block_y + BLOCK * block_x;
    load_reference_and_west(w, g, corner, second);
    pw_load_run(w, w->lanes, &g->matrix, corner + 1);
    pw_compute(w, second ? 15 : 17);
    pw_use(w);
    pw_compute(w, 1);
    if (matrix)
        fill_tile(t, g, corner);
    pw_barrier(w);

    for (int32_t m = 0; m < 2 * BLOCK - 1; m++) {
        pw_compute(w, 13);
        if (matrix && m < BLOCK)
            advance(t, g, m + 1, 1, m + 1);
        else if (matrix)
            advance(t, g, BLOCK, m - BLOCK + 2, 2 * BLOCK - 1 - m);
        pw_barrier(w);
    }

    pw_compute(w, 27);
    for (int64_t ty = 0; ty < BLOCK; ty++) {
        int64_t at = corner + (ty + 1) * g->columns + 1;
        pw_store_run(w, w->lanes, &g->matrix, at);
        if (ty < BLOCK - 1)
            pw_compute(w, 2);
        if (matrix)
            __builtin_memcpy(&matrix[at], &t->score[ty + 1][1], BLOCK * sizeof matrix[0]);
    }
}

static void upper_left_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    align_block(w, g, w->cta.x, g->diagonal - 1 - w->cta.x, false);
}

static void lower_right_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    align_block(w, g, w->cta.x + g->blocks - g->diagonal, g->blocks - w->cta.x - 1, true);
}

/* Scores of the pairs of residues, then the reference; gaps in the matrix's first row and column. */
static void fill(struct pw_host *h, const struct arguments *g)
{
    uint64_t seed = pw_random_next(pw_host_random(h));
    int32_t score[RESIDUES][RESIDUES], *matrix = g->matrix.data, *reference = g->reference.data;
    for (uint32_t a = 0; a < RESIDUES; a++)
        for (uint32_t b = 0; b <= a; b++)
            score[a][b] = score[b][a] = (int32_t)pw_hash_below(pw_hash(seed, a * RESIDUES + b), 6) - (a == b ? -4 : 4);
    uint8_t *across = pw_host_keep(h, (uint64_t)g->columns), *down = pw_host_keep(h, (uint64_t)g->columns);
    for (int64_t i = 1; i < g->columns; i++) {
        across[i] = (uint8_t)pw_hash_below(pw_hash(seed + 1, (uint64_t)i), RESIDUES);
        down[i] = (uint8_t)pw_hash_below(pw_hash(seed + 2, (uint64_t)i), RESIDUES);
        matrix[i] = matrix[i * g->columns] = -(int32_t)i * g->penalty;
    }
    for (int64_t y = 1; y < g->columns; y++)
        for (int64_t x = 1; x < g->columns; x++)
            reference[y * g->columns + x] = score[down[y]][across[x]];
}

static void verify(struct pw_host *h, const struct arguments *g)
{
    const int32_t *matrix = g->matrix.data, *reference = g->reference.data;
    int32_t *row = pw_host_keep(h, (uint64_t)g->columns * sizeof *row);
    int64_t wrong = 0;
    for (int64_t x = 0; x < g->columns; x++)
        row[x] = -(int32_t)x * g->penalty;
    for (int64_t y = 1; y < g->columns; y++) {
        int32_t north_west = row[0];
        row[0] = -(int32_t)y * g->penalty;
        for (int64_t x = 1; x < g->columns; x++) {
            int32_t north = row[x];
            row[x] = best(north_west, row[x - 1], north, reference[y * g->columns + x], g->penalty);
            north_west = north;
        }
        for (int64_t x = 0; x < g->columns && !wrong; x++)
            if (matrix[y * g->columns + x] != row[x])
                wrong = y * g->columns + x;
    }
    pw_host_expect(h, !wrong, "cell %lld differs from the sequential alignment", (long long)wrong);
}

static void nw_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t length = pw_host_scaled_side(h, p->length, BLOCK);
    if (length % BLOCK || length > MAX_LENGTH)
        pw_host_fail(h, "length must be a multiple of %d and at most %d", BLOCK, MAX_LENGTH);
    struct arguments g = {
        .columns = (int64_t)length + 1, .penalty = (int32_t)p->penalty, .blocks = (uint32_t)(length / BLOCK)};
    g.reference = pw_alloc(h, "reference", (length + 1) * (length + 1), sizeof(int32_t));
    g.matrix = pw_alloc(h, "matrix", (length + 1) * (length + 1), sizeof(int32_t));
    if (g.matrix.data)
        fill(h, &g);

    struct pw_launch launch = {.name = "needle_cuda_shared_1",
                               .grid = {1, 1, 1},
                               .block = {BLOCK, 1, 1},
                               .shared_bytes = sizeof(struct tile),
                               .registers = 32,
                               .pace = 4558,
                               .kernel = upper_left_kernel,
                               .arguments = &g};
    pw_host_plan(h, 2 * g.blocks - 1);
    for (g.diagonal = 1; g.diagonal <= g.blocks; g.diagonal++) {
        launch.grid.x = g.diagonal;
        pw_launch(h, &launch);
    }
    launch.name = "needle_cuda_shared_2";
    launch.kernel = lower_right_kernel;
    launch.pace = 4666;
    for (g.diagonal = g.blocks - 1; g.diagonal >= 1; g.diagonal--) {
        launch.grid.x = g.diagonal;
        pw_launch(h, &launch);
    }
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.reference);
    pw_free(h, &g.matrix);
}

static const struct pw_option rows[] = {
    {"length", PW_OPTION_COUNT, offsetof(struct parameters, length), BLOCK, MAX_LENGTH, "3072", "residues", NULL,
     "length of both sequences, a multiple of 16", false},
    {"penalty", PW_OPTION_COUNT, offsetof(struct parameters, penalty), 0, 1000, "10", "", NULL, "cost of a gap", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "length=2048"}, {"uvm", "length=1024"}, {0}};

const struct pw_workload pw_workload_nw = {
    .name = "NW",
    .suite = "Rodinia",
    .papers = "mosaic mask compression uvm",
    .summary = "Needleman-Wunsch: alignment of two sequences, a launch per diagonal of blocks",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = nw_main,
};

const struct pw_workload pw_workload_needle = {
    .name = "nw",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = "NW under the name the papers on compression and on demand paging use",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = nw_main,
};
