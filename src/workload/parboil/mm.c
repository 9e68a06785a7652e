/* MM: sgemm of Parboil (the register-tiled "cuda" version), C = alpha * A * B^T + beta * C.
 *
 * Kept: 1024x1056 from 1024x992 and 992x1056 (the medium input); A and C column-major, B row-major (given transposed);
 * CTAs of 16x8 threads, each thread one row and 16 columns of C in registers; tiles of 8x16 of B in shared memory
 * between two barriers; C read before it is written although beta is 0. Sizes must be multiples of the tiles, as in the
 * original. Simplified: inputs are random instead of read from a file. Instruction counts are estimates for the
 * unrolled inner loop: the 8 loads of A of one tile are in flight together, each with one address instruction, and each
 * is followed by 4 wide reads of shared memory and 16 fused multiply-adds. With code=sm_90 counts, loads in flight and
 * registers are those of the kernel as nvcc 13 compiles it for sm_90, which has two loads of A in flight
 * (scripts/machine-code). */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

enum { TILE_N = PW_TILE_WIDTH, TILE_HEIGHT = 8, TILE_M = TILE_N * TILE_HEIGHT };

/* Instructions of the compiled code. Loads of A come in groups that are in flight together. */
struct code {
    uint32_t before;                     /* the first tile */
    uint32_t b, b_flight, b_use;         /* before the load of B, behind it, and from its use to the barrier */
    uint32_t a, a_flight, column, a_end; /* before a group, behind its loads, from a use to the next, behind the last */
    uint32_t tile_end, end;
    uint32_t c, c_flight, c_use; /* before a load of C, behind it, and from its use to the store */
    uint32_t together;           /* loads of a group */
    uint32_t registers, pace;
};

enum { CODE_ESTIMATE, CODE_SM_90, CODE_COUNT };

static const struct code codes[CODE_COUNT] = {
    [CODE_ESTIMATE] = {.before = 30,
                       .b = 3,
                       .b_use = 1,
                       .a = TILE_HEIGHT,
                       .column = 4 + TILE_N,
                       .tile_end = 2,
                       .c = 1,
                       .c_use = 2,
                       .together = TILE_HEIGHT,
                       .registers = 48},
    [CODE_SM_90] = {.before = 31,
                    .b = 9,
                    .b_flight = 8,
                    .b_use = 1,
                    .a_flight = 4,
                    .column = 4 + TILE_N,
                    .a_end = 1,
                    .end = 6,
                    .c_flight = 2,
                    .c_use = 1,
                    .together = 2,
                    .registers = 40,
                    .pace = 3489},
};

struct parameters {
    uint32_t m, n, k;
    uint32_t code;
};

struct arguments {
    struct pw_array a, b, c;
    uint32_t m, n, k;
    float alpha, beta;
    const struct code *code;
};

typedef float accumulators[TILE_N][PW_WARP_LANES];

static void multiply(accumulators c, const float *a, const float *b)
{
    for (uint32_t column = 0; column < TILE_N; column++) {
        float factor = b[column];
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            c[column][lane] += a[lane] * factor;
    }
}

/* The columns of A's tile that are loaded as one group, from `first` on. */
static void multiply_group(struct pw_warp *w, const struct arguments *g, accumulators c, float (*tile)[TILE_N],
                           uint64_t a_at, uint32_t first)
{
    const struct code *code = g->code;
    const float *a = g->a.data;
    pw_compute(w, code->a);
    for (uint32_t j = first; j < first + code->together; j++)
        pw_load_run(w, w->lanes, &g->a, (int64_t)(a_at + (uint64_t)j * g->m));
    pw_compute(w, code->a_flight);
    for (uint32_t j = first; j < first + code->together; j++) {
        pw_use_all_but(w, (uint8_t)(first + code->together - 1 - j));
        pw_compute(w, code->column);
        if (a)
            multiply(c, &a[a_at + (uint64_t)j * g->m], tile[j]);
    }
    pw_compute(w, code->a_end);
}

static void sgemm_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct code *code = g->code;
    const float *b = g->b.data;
    float(*tile)[TILE_N] = w->shared;
    accumulators c = {0};
    uint64_t first_row = (uint64_t)w->cta.x * TILE_M + pw_first_thread(w);
    uint64_t first_column = (uint64_t)w->cta.y * TILE_N;
    uint32_t tile_row = 2 * w->index;

    pw_compute(w, code->before);
    for (uint32_t i = 0; i < g->k; i += TILE_HEIGHT) {
        uint64_t from = first_column + (uint64_t)(i + tile_row) * g->n;
        pw_compute(w, code->b);
        pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->b, (int64_t)from, g->n);
        if (b) {
            __builtin_memcpy(tile[tile_row], &b[from], sizeof tile[0]);
            __builtin_memcpy(tile[tile_row + 1], &b[from + g->n], sizeof tile[0]);
        }
        pw_compute(w, code->b_flight);
        pw_use(w);
        pw_compute(w, code->b_use);
        pw_barrier(w);
        for (uint32_t j = 0; j < TILE_HEIGHT; j += code->together)
            multiply_group(w, g, c, tile, first_row + (uint64_t)i * g->m, j);
        pw_compute(w, code->tile_end);
        pw_barrier(w);
    }

    float *result = g->c.data;
    pw_compute(w, code->end);
    for (uint32_t column = 0; column < TILE_N; column++) {
        uint64_t at = (first_column + column) * g->m + first_row;
        pw_compute(w, code->c);
        pw_load_run(w, w->lanes, &g->c, (int64_t)at);
        pw_compute(w, code->c_flight);
        pw_use(w);
        pw_compute(w, code->c_use);
        pw_store_run(w, w->lanes, &g->c, (int64_t)at);
        for (uint32_t lane = 0; result && lane < PW_WARP_LANES; lane++)
            result[at + lane] = result[at + lane] * g->beta + g->alpha * c[column][lane];
    }
}

/* Column by column, each a sum of A's columns in order: the same operations in the same order as a thread's. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *a = g->a.data, *b = g->b.data, *c = g->c.data;
    float *sum = pw_host_keep(h, g->m * sizeof *sum);
    uint64_t wrong = g->c.count;
    for (uint64_t column = 0; column < g->n; column++) {
        for (uint64_t row = 0; row < g->m; row++)
            sum[row] = 0;
        for (uint64_t k = 0; k < g->k; k++)
            for (uint64_t row = 0; row < g->m; row++)
                sum[row] += a[k * g->m + row] * b[k * g->n + column];
        for (uint64_t row = 0; row < g->m; row++)
            if (c[column * g->m + row] != g->alpha * sum[row] && wrong == g->c.count)
                wrong = column * g->m + row;
    }
    pw_host_expect(h, wrong == g->c.count, "element %llu of C differs from the sequential product",
                   (unsigned long long)wrong);
}

static void sgemm_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = {.m = (uint32_t)pw_host_scaled_side(h, p->m, TILE_M),
                          .n = (uint32_t)pw_host_scaled_side(h, p->n, TILE_N),
                          .k = (uint32_t)pw_host_scaled_side(h, p->k, TILE_HEIGHT),
                          .alpha = 1.0F,
                          .beta = 0.0F,
                          .code = &codes[p->code]};
    if (g.m % TILE_M || g.n % TILE_N || g.k % TILE_HEIGHT)
        pw_host_fail(h, "m must be a multiple of %d, n of %d, k of %d", TILE_M, TILE_N, TILE_HEIGHT);
    g.a = pw_alloc(h, "A", (uint64_t)g.m * g.k, sizeof(float));
    g.b = pw_alloc(h, "B", (uint64_t)g.n * g.k, sizeof(float));
    g.c = pw_alloc(h, "C", (uint64_t)g.m * g.n, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.a.data && i < g.a.count; i++)
        ((float *)g.a.data)[i] = pw_hash_unit(pw_hash(seed, i));
    for (uint64_t i = 0; g.b.data && i < g.b.count; i++)
        ((float *)g.b.data)[i] = pw_hash_unit(pw_hash(~seed, i));

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "mysgemmNT",
                                     .grid = {g.m / TILE_M, g.n / TILE_N, 1},
                                     .block = {TILE_N, TILE_HEIGHT, 1},
                                     .shared_bytes = TILE_HEIGHT * TILE_N * sizeof(float),
                                     .registers = g.code->registers,
                                     .pace = g.code->pace,
                                     .kernel = sgemm_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
}

static const struct pw_option rows[] = {
    {"m", PW_OPTION_COUNT, offsetof(struct parameters, m), TILE_M, 1 << 24, "1024", "rows", NULL,
     "rows of A and C, a multiple of 128", false},
    {"n", PW_OPTION_COUNT, offsetof(struct parameters, n), TILE_N, 1 << 24, "1056", "columns", NULL,
     "columns of B and C, a multiple of 16", false},
    {"k", PW_OPTION_COUNT, offsetof(struct parameters, k), TILE_HEIGHT, 1 << 24, "992", "columns", NULL,
     "columns of A and rows of B, a multiple of 8", false},
    {"code", PW_OPTION_CHOICE, offsetof(struct parameters, code), 0, 0, "estimate", "",
     (const char *const[]){"estimate", "sm_90", NULL}, "whose instruction counts: an estimate, or those of an H200",
     false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "m=1024:n=1056:k=992"}, {0}};

const struct pw_workload pw_workload_mm = {
    .name = "MM",
    .suite = "Parboil",
    .papers = "mosaic mask",
    .summary = "sgemm: dense matrix multiplication with register tiles",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = sgemm_main,
};
