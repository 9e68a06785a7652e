/* stencil2d: the nine-point stencil of SHOC, as MGPUSim has it.
 *
 * Kept: a matrix with a rim of one cell, rows padded to 16 cells, in two arrays that change places after every
 * iteration and start equal (MGPUSim's version for several GPUs divides neither, but leaves both to the driver);
 * CTAs of 1x64 threads, 64 columns of 16 rows; a thread copies its column of 18 cells to shared memory, the first and
 * the last thread also those beside the tile, and after a barrier computes 16 cells. Dimension 0 of the grid are the
 * rows, as in the original: consecutive CTAs go down a strip of 64 columns. A wavefront of the original is a CTA; here
 * it is two warps, of which the first has the left side and the second the right one. 1 iteration by default, as in
 * MGPUSim (SHOC makes 1,000); SHOC's weights and random cells in place of MGPUSim's ones, with which a wrong neighbour
 * would not be seen.
 * Loads in flight, registers and, to 2%, instruction counts (without waits) are those of MGPUSim's binary for GCN3:
 * every load is waited for before the next is issued, as it goes to shared memory. With code=sm_90 they are those of
 * capture/programs/stencil2d.cu as nvcc 13 compiles it for sm_90: the loads of a column are all in flight, in an order
 * of the compiler's, the last one of the tile's own columns once the first four have come. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { ROWS = 16, COLUMNS = 64, PAD = 16, TILE_PITCH = COLUMNS + 2 };

static const float centre_weight = 0.25F, cardinal_weight = 0.15F, diagonal_weight = 0.05F;

/* How a warp copies columns: 18 loads, numbered by row, and their way to shared memory. */
#define WAITED(row, behind) PW_ACCESS(0, row), PW_ARITHMETIC(behind), PW_WAIT(0, (row) == ROWS + 1 ? 1 : 4)
#define ALL_WAITED(b)                                                                                                  \
    {                                                                                                                  \
        WAITED(0, b), WAITED(1, b), WAITED(2, b), WAITED(3, b), WAITED(4, b), WAITED(5, b), WAITED(6, b),              \
            WAITED(7, b), WAITED(8, b), WAITED(9, b), WAITED(10, b), WAITED(11, b), WAITED(12, b), WAITED(13, b),      \
            WAITED(14, b), WAITED(15, b), WAITED(16, b), WAITED(17, b), PW_STEPS_END                                   \
    }

static const struct pw_step gcn3_own[] = ALL_WAITED(7), gcn3_left[] = ALL_WAITED(5), gcn3_right[] = ALL_WAITED(4);

static const struct pw_step sm_90_own[] = {
    PW_ACCESS(0, 4),  PW_ACCESS(2, 5),  PW_ACCESS(0, 6),  PW_ACCESS(3, 7),  PW_ACCESS(1, 2),
    PW_ACCESS(0, 8),  PW_ACCESS(1, 3),  PW_ACCESS(1, 9),  PW_ACCESS(0, 10), PW_ACCESS(2, 11),
    PW_ACCESS(1, 12), PW_ACCESS(1, 13), PW_ACCESS(0, 14), PW_ACCESS(1, 15), PW_ACCESS(3, 16),
    PW_ACCESS(0, 17), PW_ACCESS(1, 0),  PW_WAIT(15, 1),   PW_WAIT(14, 2),   PW_ACCESS(0, 1),
    PW_ARITHMETIC(1), PW_WAIT(12, 1),   PW_WAIT(1, 19),   PW_WAIT(0, 1),    PW_STEPS_END};

static const struct pw_step sm_90_left[] = {
    PW_ACCESS(0, 7),  PW_ACCESS(0, 8),  PW_ACCESS(1, 2),  PW_ACCESS(1, 5),  PW_ACCESS(0, 0),  PW_ACCESS(1, 10),
    PW_ACCESS(1, 1),  PW_ACCESS(0, 3),  PW_ACCESS(1, 4),  PW_ACCESS(1, 6),  PW_ACCESS(0, 9),  PW_ACCESS(1, 11),
    PW_ACCESS(1, 12), PW_ACCESS(0, 13), PW_ACCESS(0, 14), PW_ACCESS(0, 15), PW_ACCESS(0, 16), PW_ACCESS(0, 17),
    PW_WAIT(17, 1),   PW_WAIT(16, 1),   PW_WAIT(15, 1),   PW_WAIT(0, 19),   PW_STEPS_END};

static const struct pw_step sm_90_right[] = {
    PW_ACCESS(0, 0),  PW_ACCESS(4, 2),  PW_ACCESS(1, 1),  PW_ACCESS(1, 8),  PW_ACCESS(1, 7),  PW_ACCESS(2, 6),
    PW_ACCESS(2, 3),  PW_ACCESS(2, 4),  PW_ACCESS(2, 5),  PW_ACCESS(2, 9),  PW_ACCESS(1, 10), PW_ACCESS(1, 11),
    PW_ACCESS(4, 12), PW_ACCESS(2, 13), PW_ACCESS(2, 14), PW_ACCESS(1, 15), PW_ACCESS(1, 16), PW_ACCESS(1, 17),
    PW_WAIT(17, 1),   PW_WAIT(16, 1),   PW_WAIT(15, 1),   PW_WAIT(0, 18),   PW_STEPS_END};

/* Copies of a warp's own columns and of those beside the tile, and the instructions around them: before the first load,
 * behind the copy of the own columns, before the cells, and before each store. */
struct code {
    const struct pw_step *own, *left, *right;
    uint32_t before, own_end, left_before, right_before, cells, registers, pace;
    uint8_t store[ROWS];
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.own = gcn3_own,
                         .left = gcn3_left,
                         .right = gcn3_right,
                         .before = 4 + 1 + 7 + 77,
                         .own_end = 3 + 1 + 6,
                         .left_before = 5 + 6,
                         .right_before = 7,
                         .cells = 65 - 11,
                         .store = {11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11},
                         .registers = 79},
    [PW_CODE_SM_90] = {.own = sm_90_own,
                       .left = sm_90_left,
                       .right = sm_90_right,
                       .before = 18,
                       .left_before = 5,
                       .right_before = 7,
                       .store = {66, 3, 18, 5, 29, 2, 22, 6, 21, 18, 5, 15, 5, 20, 3, 1},
                       .registers = 40,
                       .pace = 2083},
};

struct parameters {
    uint32_t rows, columns, iterations, code;
};

struct arguments {
    struct pw_array data, new_data;
    uint64_t pitch;
    const struct code *code;
};

/* The stencil around a cell of the tile, of which `above` is the upper left neighbour. */
static float weighted(const float *above)
{
    const float *here = above + TILE_PITCH, *below = here + TILE_PITCH;
    float cardinal = above[1] + below[1] + here[2] + here[0];
    float diagonal = above[2] + below[2] + above[0] + below[0];
    return centre_weight * here[1] + cardinal_weight * cardinal + diagonal_weight * diagonal;
}

/* Copies a column of cells for each lane, from `first` on, to the tile's column `column` on. */
static void copy_columns(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t first, uint32_t column,
                         const struct pw_step *steps)
{
    const float *data = g->data.data;
    float *tile = w->shared;
    PW_FOR_STEPS(step, steps)
    {
        int64_t at = first + (int64_t)(step->access * g->pitch);
        if (!pw_take_step(w, step))
            continue;
        pw_load_run(w, mask, &g->data, at);
        if (data)
            PW_FOR_LANES(lane, mask)
        tile[step->access * TILE_PITCH + column + lane] = data[at + lane];
    }
}

static void stencil_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct code *code = g->code;
    const float *tile = w->shared;
    float *new_data = g->new_data.data;
    uint32_t thread = pw_first_thread(w);
    uint64_t row = (uint64_t)w->cta.x * ROWS, column = (uint64_t)w->cta.y * COLUMNS + thread;
    int64_t above = (int64_t)(row * g->pitch + column + 1);

    pw_compute(w, code->before);
    copy_columns(w, g, w->lanes, above, thread + 1, code->own);
    pw_compute(w, code->own_end);
    if (thread == 0) { /* the first lane's left neighbours */
        pw_compute(w, code->left_before);
        copy_columns(w, g, 1, above - 1, 0, code->left);
    } else { /* the last lane's right ones */
        pw_compute(w, code->right_before);
        copy_columns(w, g, UINT32_C(1) << (PW_WARP_LANES - 1), above + 1, thread + 2, code->right);
    }
    pw_barrier(w);
    pw_compute(w, code->cells);
    for (uint32_t i = 0; i < ROWS; i++) {
        int64_t at = above + (int64_t)((i + 1) * g->pitch);
        pw_compute(w, code->store[i]);
        pw_store_run(w, w->lanes, &g->new_data, at);
        for (uint32_t lane = 0; new_data && lane < PW_WARP_LANES; lane++)
            new_data[at + lane] = weighted(&tile[i * TILE_PITCH + thread + lane]);
    }
}

/* Weights by how far a neighbour is, in double precision. */
static double sequential(const double *cell, int64_t pitch)
{
    static const double weights[] = {0.25, 0.15, 0.05};
    double sum = 0;
    for (int64_t y = -1; y <= 1; y++)
        for (int64_t x = -1; x <= 1; x++)
            sum += weights[x * x + y * y] * cell[y * pitch + x];
    return sum;
}

static void verify(struct pw_host *h, const struct arguments *g, double *now, uint64_t rows, uint64_t columns,
                   uint32_t iterations)
{
    const float *result = g->data.data;
    uint64_t wrong = g->data.count;
    double *next = pw_host_keep(h, g->data.count * sizeof *next);
    __builtin_memcpy(next, now, g->data.count * sizeof *next);
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint64_t row = 1; row <= rows; row++)
            for (uint64_t at = row * g->pitch + 1; at <= row * g->pitch + columns; at++)
                next[at] = sequential(&now[at], (int64_t)g->pitch);
        double *swap = now;
        now = next;
        next = swap;
    }
    for (uint64_t i = g->data.count; i-- > 0;)
        if (!(fabs(result[i] - now[i]) <= 1e-5))
            wrong = i;
    pw_host_expect(h, wrong == g->data.count, "cell %llu differs from the sequential stencil",
                   (unsigned long long)wrong);
}

static void stencil2d_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t rows = pw_host_scaled_side(h, p->rows, ROWS), columns = pw_host_scaled_side(h, p->columns, COLUMNS);
    struct arguments g = {.pitch = (columns + 2 + PAD - 1) / PAD * PAD, .code = &codes[p->code]};
    if (rows % ROWS || columns % COLUMNS)
        pw_host_fail(h, "rows must be a multiple of %d, columns of %d", ROWS, COLUMNS);
    if ((rows + 2) * g.pitch > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: the matrix has less than 2G cells");
    g.data = pw_alloc(h, "data1", (rows + 2) * g.pitch, sizeof(float));
    g.new_data = pw_alloc(h, "data2", (rows + 2) * g.pitch, sizeof(float));
    float *data = g.data.data;
    double *source = NULL;
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; data && i < g.data.count; i++)
        data[i] = pw_hash_unit(pw_hash(seed, i));
    if (data)
        __builtin_memcpy(g.new_data.data, data, g.data.count * sizeof *data);
    if (data && pw_host_verifying(h)) {
        source = pw_host_keep(h, g.data.count * sizeof *source);
        for (uint64_t i = 0; i < g.data.count; i++)
            source[i] = data[i];
    }

    pw_host_plan(h, p->iterations);
    for (uint32_t i = 0; i < p->iterations; i++) {
        pw_launch(h, &(struct pw_launch){.name = "StencilKernel",
                                         .grid = {(uint32_t)(rows / ROWS), (uint32_t)(columns / COLUMNS), 1},
                                         .block = {1, COLUMNS, 1},
                                         .shared_bytes = (ROWS + 2) * TILE_PITCH * sizeof(float),
                                         .registers = g.code->registers,
                                         .pace = g.code->pace,
                                         .kernel = stencil_kernel,
                                         .arguments = &g});
        pw_swap_arrays(&g.data, &g.new_data);
    }
    if (source)
        verify(h, &g, source, rows, columns, p->iterations);
}

static const struct pw_option rows[] = {
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), ROWS, 1 << 24, "2896", "rows", NULL,
     "rows inside the rim, a multiple of 16", false},
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), COLUMNS, 1 << 24, "2880", "columns", NULL,
     "columns inside the rim, a multiple of 64", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 10000, "1", "", NULL,
     "launches (1,000 in SHOC)", false},
    PW_CODE_ROW(struct parameters, "gcn3", "those of MGPUSim's binary"),
    {0},
};

/* 64.0 MB in two arrays. */
static const struct pw_preset presets[] = {{"gmmu-bypass", "rows=2896:columns=2880:iterations=1"}, {0}};

const struct pw_workload pw_workload_stencil2d = {
    .name = "stencil2d",
    .suite = "SHOC",
    .papers = "gmmu-bypass",
    .summary = "nine-point stencil in strips of 64 columns",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = stencil2d_main,
};
