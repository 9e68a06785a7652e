/* LUD: LU decomposition of Rodinia, in place and without pivoting, by 16x16 blocks.
 *
 * Kept: the three kernels and their sequence per step of 16 rows: diagonal (one CTA of 16 threads), perimeter (one CTA
 * of 32 threads per block of the row and column beside it, the two halves of the warp on different sides of a branch)
 * and internal (16x16 threads for each block of the rest); blocks staged in shared memory; the first row of a block not
 * written back where it does not change; one row-major matrix whose side is a multiple of 16.
 * Simplified: the input is random with a heavy diagonal instead of read from a file or made of exponentials.
 * Instruction counts and loads in flight are those of the kernels as nvcc 13 compiles them for sm_90: a step of an
 * inner product takes 4 instructions, a division 18, the loops around them 14; a half warp's 24 loads are in flight
 * together. The half warp of the row, first in the source, runs before that of the column.
 * With code=sm_90 they are those of capture/programs/lud.cu with everything that nvcc makes of unrolled loops: to solve
 * the perimeter takes half as many again, the last two of a half warp's loads wait for the others, and the half warp
 * of the column runs first. Where the lanes go different ways, all ways are counted. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

#include <math.h>

enum { BLOCK = PW_TILE_WIDTH, MAX_SIDE = 46336 }; /* the original's indices are ints */
enum { STEP = 4, DIVISION = 18, LOOP = 14 };      /* instructions */
#define LOW_HALF 0x0000ffffU
#define HIGH_HALF 0xffff0000U

struct parameters {
    uint32_t side, code;
};

struct arguments {
    struct pw_array m;
    int64_t side, offset; /* offset: first row and column of the step */
    uint32_t code;
};

typedef float block[BLOCK][BLOCK];

struct perimeter_tile {
    block diagonal, row, column;
};

struct internal_tile {
    block row, column;
};

static inline int64_t at(const struct arguments *g, int64_t y, int64_t x)
{
    return y * g->side + x;
}

/* Rows [first_row, end_row) of the block at (y, x), one instruction each, by the 16 lanes of `mask`. */
static void access_rows(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, const struct arguments *g, int64_t y,
                        int64_t x, int64_t first_row, int64_t end_row, uint32_t instructions)
{
    int64_t first_lane = mask == HIGH_HALF ? BLOCK : 0;
    for (int64_t i = first_row; i < end_row; i++) {
        pw_access_strided(w, kind, mask, &g->m, at(g, y + i, x) - first_lane, 1);
        pw_compute(w, instructions);
    }
}

static void get_block(const struct arguments *g, int64_t y, int64_t x, block b)
{
    const float *m = g->m.data;
    for (int64_t i = 0; i < BLOCK; i++)
        __builtin_memcpy(b[i], &m[at(g, y + i, x)], sizeof b[i]);
}

static void put_block(const struct arguments *g, int64_t y, int64_t x, block b)
{
    float *m = g->m.data;
    for (int64_t i = 0; i < BLOCK; i++)
        __builtin_memcpy(&m[at(g, y + i, x)], b[i], sizeof b[i]);
}

/* Column i below the diagonal, then row i + 1 from the diagonal on. */
static void eliminate_column(block b, uint32_t i)
{
    for (uint32_t tx = i + 1; tx < BLOCK; tx++) {
        for (uint32_t j = 0; j < i; j++)
            b[tx][i] -= b[tx][j] * b[j][i];
        b[tx][i] /= b[i][i];
    }
}

static void eliminate_row(block b, uint32_t i)
{
    for (uint32_t tx = i + 1; tx < BLOCK; tx++)
        for (uint32_t j = 0; j <= i; j++)
            b[i + 1][tx] -= b[i + 1][j] * b[j][tx];
}

static void diagonal_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    float(*shadow)[BLOCK] = w->shared;
    pw_compute(w, 11);
    access_rows(w, PW_OP_LOAD, w->lanes, g, g->offset, g->offset, 0, BLOCK, 2);
    if (g->m.data)
        get_block(g, g->offset, g->offset, shadow);
    pw_use(w);
    pw_compute(w, BLOCK + 1);
    pw_barrier(w);
    for (uint32_t i = 0; i < BLOCK - 1; i++) {
        pw_compute(w, LOOP + STEP * i + DIVISION);
        if (g->m.data)
            eliminate_column(shadow, i);
        pw_barrier(w);
        pw_compute(w, LOOP + STEP * (i + 1));
        if (g->m.data)
            eliminate_row(shadow, i);
        pw_barrier(w);
    }
    pw_compute(w, 19);
    access_rows(w, PW_OP_STORE, w->lanes, g, g->offset, g->offset, 1, BLOCK, 2);
    if (g->m.data)
        put_block(g, g->offset, g->offset, shadow);
}

/* The row's blocks are solved with the diagonal's lower triangle, the column's with its upper one. */
static void solve_perimeter(struct perimeter_tile *t)
{
    for (uint32_t lane = 0; lane < BLOCK; lane++)
        for (uint32_t i = 0; i < BLOCK; i++) {
            for (uint32_t j = 0; j < i; j++) {
                t->row[i][lane] -= t->diagonal[i][j] * t->row[j][lane];
                t->column[lane][i] -= t->column[lane][j] * t->diagonal[j][i];
            }
            t->column[lane][i] /= t->diagonal[i][i];
        }
}

static void perimeter_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct perimeter_tile *t = w->shared;
    int64_t o = g->offset, beside = o + ((int64_t)w->cta.x + 1) * BLOCK;
    pw_compute(w, 17 + 5);
    access_rows(w, PW_OP_LOAD, LOW_HALF, g, o, o, 0, BLOCK / 2, 2);
    access_rows(w, PW_OP_LOAD, LOW_HALF, g, o, beside, 0, BLOCK, 2);
    pw_use(w);
    pw_compute(w, 6 + BLOCK / 2 + BLOCK);
    access_rows(w, PW_OP_LOAD, HIGH_HALF, g, o, o, BLOCK / 2, BLOCK, 1);
    access_rows(w, PW_OP_LOAD, HIGH_HALF, g, beside, o, 0, BLOCK, 1);
    pw_use(w);
    pw_compute(w, 6 + BLOCK / 2 + BLOCK);
    if (g->m.data) {
        get_block(g, o, o, t->diagonal);
        get_block(g, o, beside, t->row);
        get_block(g, beside, o, t->column);
    }
    pw_barrier(w);

    for (uint32_t i = 1; i < BLOCK; i++)
        pw_compute(w, LOOP + STEP * i);
    for (uint32_t i = 0; i < BLOCK; i++)
        pw_compute(w, LOOP + STEP * i + DIVISION);
    if (g->m.data)
        solve_perimeter(t);
    pw_barrier(w);

    pw_compute(w, 26);
    access_rows(w, PW_OP_STORE, LOW_HALF, g, o, beside, 1, BLOCK, 2);
    pw_compute(w, 12);
    access_rows(w, PW_OP_STORE, HIGH_HALF, g, beside, o, 0, BLOCK, 2);
    if (g->m.data) {
        put_block(g, o, beside, t->row);
        put_block(g, beside, o, t->column);
    }
}

/* Rows of the diagonal's block, and from BLOCK on of another. */
static const struct pw_step diagonal_loads[] = {
    PW_ACCESS(11, 0), PW_ACCESS(1, 1),  PW_ACCESS(2, 2),  PW_ACCESS(8, 4),  PW_ACCESS(2, 3),  PW_ACCESS(2, 6),
    PW_ACCESS(1, 5),  PW_ACCESS(3, 7),  PW_ACCESS(2, 8),  PW_ACCESS(1, 9),  PW_ACCESS(1, 10), PW_ACCESS(1, 11),
    PW_ACCESS(1, 12), PW_ACCESS(1, 13), PW_ACCESS(1, 14), PW_ACCESS(0, 15), PW_ARITHMETIC(4), PW_WAIT(15, 1),
    PW_WAIT(14, 1),   PW_WAIT(13, 2),   PW_WAIT(0, 13),   PW_STEPS_END};
static const struct pw_step diagonal_stores[] = {PW_ACCESS(30, 1), PW_ACCESS(3, 2),  PW_ACCESS(3, 3),  PW_ACCESS(1, 4),
                                                 PW_ACCESS(0, 5),  PW_ACCESS(2, 6),  PW_ACCESS(1, 7),  PW_ACCESS(6, 8),
                                                 PW_ACCESS(1, 9),  PW_ACCESS(1, 10), PW_ACCESS(1, 11), PW_ACCESS(1, 12),
                                                 PW_ACCESS(0, 13), PW_ACCESS(0, 14), PW_ACCESS(0, 15), PW_STEPS_END};
static const struct pw_step column_loads[] = {PW_ACCESS(17, 8),
                                              PW_ACCESS(1, 9),
                                              PW_ACCESS(1, 10),
                                              PW_ACCESS(1, 11),
                                              PW_ACCESS(1, 12),
                                              PW_ACCESS(6, BLOCK + 0),
                                              PW_ACCESS(2, BLOCK + 1),
                                              PW_ACCESS(2, BLOCK + 2),
                                              PW_ACCESS(0, BLOCK + 3),
                                              PW_ACCESS(2, BLOCK + 4),
                                              PW_ACCESS(2, 13),
                                              PW_ACCESS(2, 14),
                                              PW_ACCESS(0, BLOCK + 5),
                                              PW_ACCESS(0, 15),
                                              PW_ACCESS(0, BLOCK + 6),
                                              PW_ACCESS(2, BLOCK + 7),
                                              PW_ACCESS(0, BLOCK + 9),
                                              PW_ACCESS(1, BLOCK + 8),
                                              PW_ACCESS(2, BLOCK + 10),
                                              PW_ACCESS(2, BLOCK + 11),
                                              PW_ACCESS(2, BLOCK + 12),
                                              PW_ARITHMETIC(1),
                                              PW_WAIT(20, 1),
                                              PW_WAIT(19, 1),
                                              PW_WAIT(18, 1),
                                              PW_ACCESS(0, BLOCK + 13),
                                              PW_WAIT(1, 4),
                                              PW_ACCESS(0, BLOCK + 14),
                                              PW_ACCESS(0, BLOCK + 15),
                                              PW_ARITHMETIC(19),
                                              PW_WAIT(2, 1),
                                              PW_WAIT(1, 1),
                                              PW_WAIT(0, 7),
                                              PW_STEPS_END};
static const struct pw_step row_loads[] = {PW_ACCESS(0, 0),
                                           PW_ACCESS(1, 1),
                                           PW_ACCESS(1, 2),
                                           PW_ACCESS(1, 3),
                                           PW_ACCESS(1, 4),
                                           PW_ACCESS(9, BLOCK + 0),
                                           PW_ACCESS(2, BLOCK + 1),
                                           PW_ACCESS(1, BLOCK + 3),
                                           PW_ACCESS(1, BLOCK + 2),
                                           PW_ACCESS(1, BLOCK + 4),
                                           PW_ACCESS(2, 5),
                                           PW_ACCESS(2, 6),
                                           PW_ACCESS(0, BLOCK + 5),
                                           PW_ACCESS(0, 7),
                                           PW_ACCESS(0, BLOCK + 6),
                                           PW_ACCESS(2, BLOCK + 7),
                                           PW_ACCESS(0, BLOCK + 9),
                                           PW_ACCESS(1, BLOCK + 8),
                                           PW_ACCESS(2, BLOCK + 10),
                                           PW_ACCESS(2, BLOCK + 11),
                                           PW_ACCESS(2, BLOCK + 12),
                                           PW_ARITHMETIC(1),
                                           PW_WAIT(20, 1),
                                           PW_WAIT(19, 1),
                                           PW_WAIT(18, 1),
                                           PW_ACCESS(0, BLOCK + 13),
                                           PW_WAIT(1, 4),
                                           PW_ACCESS(0, BLOCK + 14),
                                           PW_ACCESS(0, BLOCK + 15),
                                           PW_ARITHMETIC(19),
                                           PW_WAIT(2, 1),
                                           PW_WAIT(1, 1),
                                           PW_WAIT(0, 3),
                                           PW_STEPS_END};
static const struct pw_step column_stores[] = {PW_ACCESS(30, BLOCK),
                                               PW_ACCESS(0, BLOCK + 1),
                                               PW_ACCESS(0, BLOCK + 2),
                                               PW_ACCESS(0, BLOCK + 3),
                                               PW_ACCESS(8, BLOCK + 4),
                                               PW_ACCESS(0, BLOCK + 5),
                                               PW_ACCESS(0, BLOCK + 6),
                                               PW_ACCESS(1, BLOCK + 7),
                                               PW_ACCESS(0, BLOCK + 8),
                                               PW_ACCESS(1, BLOCK + 9),
                                               PW_ACCESS(1, BLOCK + 10),
                                               PW_ACCESS(0, BLOCK + 11),
                                               PW_ACCESS(1, BLOCK + 12),
                                               PW_ACCESS(1, BLOCK + 13),
                                               PW_ACCESS(0, BLOCK + 14),
                                               PW_ACCESS(1, BLOCK + 15),
                                               PW_STEPS_END};
static const struct pw_step row_stores[] = {
    PW_ACCESS(34, BLOCK + 1), PW_ACCESS(0, BLOCK + 2),  PW_ACCESS(0, BLOCK + 3),  PW_ACCESS(7, BLOCK + 4),
    PW_ACCESS(0, BLOCK + 5),  PW_ACCESS(0, BLOCK + 6),  PW_ACCESS(1, BLOCK + 7),  PW_ACCESS(0, BLOCK + 8),
    PW_ACCESS(1, BLOCK + 9),  PW_ACCESS(1, BLOCK + 10), PW_ACCESS(0, BLOCK + 11), PW_ACCESS(1, BLOCK + 12),
    PW_ACCESS(1, BLOCK + 13), PW_ACCESS(0, BLOCK + 14), PW_ACCESS(1, BLOCK + 15), PW_STEPS_END};

static void take_steps(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, const struct arguments *g, int64_t y,
                       int64_t x, const struct pw_step *steps)
{
    int64_t o = g->offset, first_lane = mask == HIGH_HALF ? BLOCK : 0;
    PW_FOR_STEPS(step, steps)
    {
        if (!pw_take_step(w, step))
            continue;
        int64_t from = step->access < BLOCK ? at(g, o + step->access, o) : at(g, y + step->access - BLOCK, x);
        pw_access_strided(w, kind, mask, &g->m, from - first_lane, 1);
    }
}

static void compiled_diagonal_kernel(struct pw_warp *w, const void *arguments)
{
    static const uint8_t column[BLOCK - 1] = {29, 49, 56, 62, 69, 80, 87, 93, 91, 102, 109, 115, 114, 125, 132};
    static const uint8_t row[BLOCK - 1] = {24, 33, 32, 42, 53, 62, 61, 64, 75, 84, 83, 88, 99, 108, 107};
    const struct arguments *g = arguments;
    float(*shadow)[BLOCK] = w->shared;
    take_steps(w, PW_OP_LOAD, w->lanes, g, 0, 0, diagonal_loads);
    if (g->m.data)
        get_block(g, g->offset, g->offset, shadow);
    pw_barrier(w);
    for (uint32_t i = 0; i < BLOCK - 1; i++) {
        pw_compute(w, column[i]);
        if (g->m.data)
            eliminate_column(shadow, i);
        pw_barrier(w);
        pw_compute(w, row[i]);
        if (g->m.data)
            eliminate_row(shadow, i);
        pw_barrier(w);
    }
    take_steps(w, PW_OP_STORE, w->lanes, g, 0, 0, diagonal_stores);
    if (g->m.data)
        put_block(g, g->offset, g->offset, shadow);
}

static void compiled_perimeter_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct perimeter_tile *t = w->shared;
    int64_t o = g->offset, beside = o + ((int64_t)w->cta.x + 1) * BLOCK;
    take_steps(w, PW_OP_LOAD, HIGH_HALF, g, beside, o, column_loads);
    take_steps(w, PW_OP_LOAD, LOW_HALF, g, o, beside, row_loads);
    if (g->m.data) {
        get_block(g, o, o, t->diagonal);
        get_block(g, o, beside, t->row);
        get_block(g, beside, o, t->column);
    }
    pw_barrier(w);
    pw_compute(w, 2631);
    if (g->m.data)
        solve_perimeter(t);
    pw_barrier(w);
    take_steps(w, PW_OP_STORE, HIGH_HALF, g, beside, o, column_stores);
    take_steps(w, PW_OP_STORE, LOW_HALF, g, o, beside, row_stores);
    if (g->m.data) {
        put_block(g, o, beside, t->row);
        put_block(g, beside, o, t->column);
    }
}

static void internal_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct internal_tile *t = w->shared;
    float *m = g->m.data;
    uint32_t ty = 2 * w->index;
    int64_t row = g->offset + ((int64_t)w->cta.y + 1) * BLOCK, column = g->offset + ((int64_t)w->cta.x + 1) * BLOCK;
    int64_t from_row = at(g, g->offset + ty, column), from_column = at(g, row + ty, g->offset);
    int64_t own = at(g, row + ty, column);
    pw_compute(w, 18);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->m, from_row, g->side);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->m, from_column, g->side);
    for (uint32_t y = 0; m && y < 2; y++) {
        __builtin_memcpy(t->row[ty + y], &m[from_row + y * g->side], sizeof t->row[0]);
        __builtin_memcpy(t->column[ty + y], &m[from_column + y * g->side], sizeof t->column[0]);
    }
    pw_compute(w, 12);
    if (g->code == PW_CODE_SM_90) {
        pw_use_all_but(w, 1);
        pw_compute(w, 1);
    }
    pw_use(w);
    pw_compute(w, g->code == PW_CODE_SM_90 ? 1 : 2);
    pw_barrier(w);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->m, own, g->side);
    pw_compute(w, 36);
    pw_use(w);
    pw_compute(w, 1);
    pw_access_tile(w, PW_OP_STORE, w->lanes, &g->m, own, g->side);
    for (uint32_t y = 0; m && y < 2; y++) {
        float sum[BLOCK] = {0};
        for (uint32_t i = 0; i < BLOCK; i++)
            for (uint32_t x = 0; x < BLOCK; x++)
                sum[x] += t->column[ty + y][i] * t->row[i][x];
        for (uint32_t x = 0; x < BLOCK; x++)
            m[own + y * g->side + x] -= sum[x];
    }
}

static float initial(uint64_t seed, int64_t side, int64_t i)
{
    return pw_hash_unit(pw_hash(seed, (uint64_t)i)) + (i % (side + 1) ? 0.0F : (float)side);
}

/* Row by row in double. A heavy diagonal makes L's elements about 1 / side and U's about 1. */
static void verify(struct pw_host *h, const struct arguments *g, uint64_t seed)
{
    int64_t n = g->side, wrong = -1;
    const float *m = g->m.data;
    double *a = pw_host_keep(h, (uint64_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n * n; i++)
        a[i] = (double)initial(seed, n, i);
    for (int64_t y = 0; y < n; y++)
        for (int64_t k = 0; k < y; k++) {
            a[y * n + k] /= a[k * n + k];
            for (int64_t x = k + 1; x < n; x++)
                a[y * n + x] -= a[y * n + k] * a[k * n + x];
        }
    for (int64_t i = n * n; i-- > 0;) {
        double unit = i / n > i % n ? 1.0 / (double)n : 1.0;
        if (!(fabs((double)m[i] - a[i]) <= 1e-5 * (fabs(a[i]) + unit)))
            wrong = i;
    }
    pw_host_expect(h, wrong < 0, "element %lld differs from the sequential decomposition", (long long)wrong);
}

static void lud_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t side = pw_host_scaled_side(h, p->side, BLOCK);
    if (side % BLOCK || side > MAX_SIDE)
        pw_host_fail(h, "side must be a multiple of %d and at most %d", BLOCK, MAX_SIDE);
    struct arguments g = {.m = pw_alloc(h, "m", side * side, sizeof(float)), .side = (int64_t)side, .code = p->code};
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.m.data && i < side * side; i++)
        ((float *)g.m.data)[i] = initial(seed, (int64_t)side, (int64_t)i);

    struct pw_launch diagonal = {.name = "lud_diagonal",
                                 .grid = {1, 1, 1},
                                 .block = {BLOCK, 1, 1},
                                 .shared_bytes = sizeof(block),
                                 .registers = 32,
                                 .kernel = diagonal_kernel,
                                 .arguments = &g};
    struct pw_launch perimeter = diagonal, internal = diagonal;
    perimeter.name = "lud_perimeter";
    perimeter.block.x = 2 * BLOCK;
    perimeter.shared_bytes = sizeof(struct perimeter_tile);
    perimeter.kernel = perimeter_kernel;
    internal.name = "lud_internal";
    internal.block.y = BLOCK;
    internal.shared_bytes = sizeof(struct internal_tile);
    internal.kernel = internal_kernel;
    if (p->code == PW_CODE_SM_90) {
        diagonal.kernel = compiled_diagonal_kernel;
        perimeter.kernel = compiled_perimeter_kernel;
        diagonal.pace = 6551;
        perimeter.pace = 6268;
        internal.pace = 3203;
    }
    uint32_t blocks = (uint32_t)(side / BLOCK);
    pw_host_plan(h, 3 * blocks - 2);
    for (uint32_t left = blocks - 1; left; left--) {
        perimeter.grid.x = internal.grid.x = internal.grid.y = left;
        pw_launch(h, &diagonal);
        pw_launch(h, &perimeter);
        pw_launch(h, &internal);
        g.offset += BLOCK;
    }
    pw_launch(h, &diagonal);
    if (pw_host_verifying(h))
        verify(h, &g, seed);
    pw_free(h, &g.m);
}

static const struct pw_option rows[] = {
    {"side", PW_OPTION_COUNT, offsetof(struct parameters, side), BLOCK, MAX_SIDE, "832", "elements", NULL,
     "side of the matrix, a multiple of 16", false},
    PW_CODE_ROW(struct parameters, "estimate", "an estimate of unrolled loops"),
    {0},
};

static const struct pw_preset presets[] = {{"table", "side=256"}, {0}};

const struct pw_workload pw_workload_lud = {
    .name = "LUD",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = "LU decomposition by blocks: three kernels per step over a shrinking matrix",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = lud_main,
};
