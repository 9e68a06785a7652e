/* gather: c[i] = 2 * t[idx[i]] in a grid-stride loop, the random-access kernel (the doubling is the FADD of the
 * compiled loop).
 *
 * Kept: launch geometry, order of accesses, the second load waiting for the first, and the instruction counts of the
 * compiled loop (5 before it, 10 per iteration of which 3 are memory, 1 exit), or with code=sm_90 those of
 * capture/programs/gather.cu as nvcc 13 compiles it for sm_90, with what it does around the loop. idx[i] is i modulo
 * the table with probability `locality` and uniform over the table otherwise, a hash of seed and i; with values=off it
 * is computed where it is needed, and the addresses are the same. The table's contents are a hash too and never stored:
 * filling 256 MB to read a few percent of it would cost more than the run. */
#include "workload/runtime/code.h"
#include "workload/runtime/grid_stride.h"
#include "workload/runtime/inputs.h"

static const struct pw_grid_stride_code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.none = PW_GRID_STRIDE_BEFORE,
                         .first = PW_GRID_STRIDE_BEFORE + 1,
                         .again = PW_GRID_STRIDE_STEP + 1,
                         .flight = 1,
                         .use = 1,
                         .end = PW_GRID_STRIDE_STEP,
                         .registers = 16},
    [PW_CODE_SM_90] = {.none = 9,
                       .first = 16,
                       .again = 2,
                       .index_flight = 1,
                       .flight = 2,
                       .use = 1,
                       .end = 2,
                       .registers = 16,
                       .pace = 4114},
};

struct parameters {
    struct pw_grid_stride loop;
    uint64_t table;
    double locality;
    uint32_t code;
};

struct arguments {
    struct pw_array index, table, c;
    uint64_t n, seed;
    uint64_t sequential; /* of 2^32: how many are */
    const struct pw_grid_stride_code *code;
};

static inline uint64_t index_of(const struct arguments *g, uint64_t i)
{
    uint64_t hash = pw_hash(g->seed, i);
    if ((hash & UINT32_MAX) < g->sequential)
        return i % g->table.count;
    return pw_hash_below(pw_hash(hash, i), g->table.count);
}

static inline float table_value(const struct arguments *g, uint64_t index)
{
    return pw_hash_unit(pw_hash(~g->seed, index));
}

static void gather_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const uint32_t *index = g->index.data;
    float *c = g->c.data;
    const struct pw_grid_stride_code *code = g->code;
    uint64_t first = pw_grid_stride_first(w), step = pw_grid_stride_step(w);
    for (uint64_t i = first; i < g->n; i += step) {
        uint32_t mask = pw_lanes_below(w, i, g->n);
        uint64_t at[PW_WARP_LANES];
        PW_FOR_LANES(lane, mask)
        at[lane] = index ? index[i + lane] : index_of(g, i + lane);
        pw_compute(w, i == first ? code->first : code->again);
        pw_load_run(w, mask, &g->index, (int64_t)i);
        pw_compute(w, code->index_flight);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &g->table, at);
        pw_compute(w, code->flight);
        pw_use(w);
        pw_compute(w, code->use);
        pw_store_run(w, mask, &g->c, (int64_t)i);
        if (c)
            PW_FOR_LANES(lane, mask)
        c[i + lane] = 2 * table_value(g, at[lane]);
    }
    pw_compute(w, first < g->n ? code->end : code->none);
}

static void gather_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = {
        .n = pw_grid_stride_elements(h, &p->loop),
        .seed = pw_random_next(pw_host_random(h)),
        .sequential = (uint64_t)(p->locality * 4294967296.0),
        .code = &codes[p->code],
    };
    uint64_t elements = pw_host_scaled(h, p->table, sizeof(float)) / sizeof(float);
    if (elements - 1 > UINT32_MAX)
        pw_host_fail(h, "table has %llu elements, but its indices have 32 bits; at most 16GB",
                     (unsigned long long)elements);
    g.index = pw_alloc(h, "idx", g.n, sizeof(uint32_t));
    g.table = pw_alloc(h, "t", elements, sizeof(float));
    g.c = pw_alloc(h, "c", g.n, sizeof(float));
    uint32_t *index = g.index.data;
    for (uint64_t i = 0; index && i < g.n; i++)
        index[i] = (uint32_t)index_of(&g, i);
    pw_host_plan(h, 1);
    pw_grid_stride_launch(h, &p->loop, "gather", g.code, gather_kernel, &g);

    if (pw_host_verifying(h)) {
        const float *c = g.c.data;
        uint64_t wrong = g.n;
        for (uint64_t i = g.n; i-- > 0;)
            if (c[i] != table_value(&g, index_of(&g, i)) + table_value(&g, index_of(&g, i)))
                wrong = i;
        pw_host_expect(h, wrong == g.n, "c[%llu] is not 2 * t[idx]", (unsigned long long)wrong);
    }
}

static const struct pw_option rows[] = {
    PW_GRID_STRIDE_ROWS("4"),
    {"table", PW_OPTION_BYTES, offsetof(struct parameters, table), 4, 0, "256MB", "bytes", NULL, "size of the table",
     false},
    {"locality", PW_OPTION_NUMBER, offsetof(struct parameters, locality), 0, 1, "0", "", NULL,
     "share of the indices that follow one another, from 0 (uniformly random) to 1 (sequential)", false},
    PW_CODE_ROW(struct parameters, "loop", "those of the loop alone"),
    {0},
};

const struct pw_workload pw_workload_gather = {
    .name = "gather",
    .suite = "pagewalk",
    .summary = "reads a large table at random: the divergent kernel",
    .parameters = rows,
    .parameters_bytes = sizeof(struct parameters),
    .main = gather_main,
};
