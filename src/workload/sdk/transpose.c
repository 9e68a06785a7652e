/* transpose: the matrix transpose of AMD's APP SDK, as MGPUSim has it.
 *
 * Kept: a square matrix of words, input and output in two arrays, both of which MGPUSim's version for several GPUs
 * divides among them (driver.Distribute); CTAs of 16x16 threads, each thread four words of each of four rows; a tile of
 * 64x64 words that goes through 16 KB of shared memory, with one barrier; the row of tiles is the CTA's x, their column
 * x + y round the grid, so that consecutive CTAs read along a diagonal and write along the mirrored one; element i of
 * the input is i. A warp has two rows of a tile's threads here, a wavefront of 64 threads four in the original.
 * Instruction counts (without waits), loads in flight and registers are those of MGPUSim's binary for GCN3: a thread
 * waits for each of its four loads before it issues the next, as all of them pass through the same registers on their
 * way to shared memory. With code=sm_90 they are those of capture/programs/transpose.cu as nvcc 13 compiles it for
 * sm_90, which has the four loads in flight together. */
#include "workload/runtime/code.h"
#include "workload/runtime/tile.h"

enum { BLOCK = PW_TILE_WIDTH, SIDE = 4, TILE = BLOCK * SIDE, TILE_ROWS_OF_WARP = PW_WARP_LANES / BLOCK };

/* Loads, numbered by row, and what passes them on to shared memory; and what stands before each store. */
struct code {
    struct pw_step load[2 * SIDE + 2];
    uint8_t store[SIDE];
    uint32_t registers, pace;
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.load = {PW_ACCESS(59, 0), PW_ARITHMETIC(22), PW_WAIT_ACCESS(0, 1, 1), PW_WAIT_ACCESS(0, 1, 2),
                                  PW_WAIT_ACCESS(0, 1, 3), PW_ARITHMETIC(2), PW_WAIT(0, 1), PW_STEPS_END},
                         .store = {13, 12, 6, 7},
                         .registers = 23},
    [PW_CODE_SM_90] = {.load = {PW_ACCESS(36, 0), PW_ACCESS(3, 1), PW_ACCESS(0, 2), PW_ACCESS(0, 3), PW_ARITHMETIC(13),
                                PW_WAIT(3, 1), PW_WAIT(2, 1), PW_WAIT(1, 1), PW_WAIT(0, 2), PW_STEPS_END},
                       .store = {28, 2, 1, 0},
                       .registers = 40,
                       .pace = 3068},
};

struct parameters {
    uint32_t width, code;
};

/* Four words, which a thread loads and stores at once. */
struct quad {
    uint32_t word[SIDE];
};

struct arguments {
    struct pw_array input, output;
    uint32_t quads; /* of a row */
    const struct code *code;
};

/* Row k of a thread's four: thread (lix, liy) takes quad lix of row liy * 4 + k of its tile. */
static void load_row(const struct quad *from, struct quad *block, uint32_t liy, uint32_t k)
{
    __builtin_memcpy(&block[(liy * SIDE + k) * BLOCK], from, BLOCK * sizeof *from);
}

/* Row k of the transposed four: word k of the thread's column of quads in shared memory. */
static void store_row(struct quad *to, const struct quad *block, uint32_t liy, uint32_t k)
{
    for (uint32_t lix = 0; lix < BLOCK; lix++)
        for (uint32_t i = 0; i < SIDE; i++)
            to[lix].word[i] = block[(lix * SIDE + i) * BLOCK + liy].word[k];
}

static void transpose_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct quad *input = g->input.data;
    struct quad *output = g->output.data, *block = w->shared;
    uint32_t liy = w->index * TILE_ROWS_OF_WARP;
    uint64_t giy = w->cta.x, gix = (w->cta.x + w->cta.y) % w->launch->grid.x, pitch = (uint64_t)SIDE * g->quads;
    uint64_t in = gix * BLOCK + (giy * BLOCK + liy) * pitch, out = giy * BLOCK + (gix * BLOCK + liy) * pitch;

    PW_FOR_STEPS(step, g->code->load)
    {
        uint32_t k = step->access;
        if (!pw_take_step(w, step))
            continue;
        pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->input, (int64_t)(in + k * g->quads), (int64_t)pitch);
        for (uint32_t row = 0; input && row < TILE_ROWS_OF_WARP; row++)
            load_row(&input[in + k * g->quads + row * pitch], block, liy + row, k);
    }
    pw_barrier(w);
    for (uint32_t k = 0; k < SIDE; k++) {
        pw_compute(w, g->code->store[k]);
        pw_access_tile(w, PW_OP_STORE, w->lanes, &g->output, (int64_t)(out + k * g->quads), (int64_t)pitch);
        for (uint32_t row = 0; output && row < TILE_ROWS_OF_WARP; row++)
            store_row(&output[out + k * g->quads + row * pitch], block, liy + row, k);
    }
}

static void verify(struct pw_host *h, const struct arguments *g, uint64_t width)
{
    const uint32_t *output = g->output.data;
    uint64_t wrong = width * width;
    for (uint64_t row = 0; output && row < width; row++)
        for (uint64_t column = 0; column < width; column++)
            if (output[row * width + column] != (uint32_t)(column * width + row))
                wrong = row * width + column;
    pw_host_expect(h, wrong == width * width, "element %llu of the output is not that of the transposed matrix",
                   (unsigned long long)wrong);
}

static void transpose_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t width = pw_host_scaled_side(h, p->width, TILE), quads = width * width / SIDE;
    struct arguments g = {.quads = (uint32_t)(width / SIDE), .code = &codes[p->code]};
    if (width % TILE)
        pw_host_fail(h, "the width must be a multiple of %d", TILE);
    if (quads > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: the matrix has less than 8G words");
    g.input = pw_alloc(h, "dInputData", quads, sizeof(struct quad));
    g.output = pw_alloc(h, "dOutputData", quads, sizeof(struct quad));
    for (uint64_t i = 0; g.input.data && i < width * width; i++)
        ((uint32_t *)g.input.data)[i] = (uint32_t)i;

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "matrixTranspose",
                                     .grid = {(uint32_t)(width / TILE), (uint32_t)(width / TILE), 1},
                                     .block = {BLOCK, BLOCK, 1},
                                     .shared_bytes = TILE * TILE * sizeof(uint32_t),
                                     .registers = g.code->registers,
                                     .pace = g.code->pace,
                                     .kernel = transpose_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g, width);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), TILE, 1 << 24, "2880", "words", NULL,
     "rows and columns of the matrix, a multiple of 64", false},
    PW_CODE_ROW(struct parameters, "gcn3", "those of MGPUSim's binary"),
    {0},
};

/* 63.3 MB in two arrays; the next width would have 66.1 MB. */
static const struct pw_preset presets[] = {{"gmmu-bypass", "width=2880"}, {0}};

const struct pw_workload pw_workload_transpose = {
    .name = "transpose",
    .suite = "AMD APP SDK",
    .papers = "gmmu-bypass",
    .summary = "matrix transpose through tiles in shared memory",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = transpose_main,
};
