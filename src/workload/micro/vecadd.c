/* vecadd: c[i] = a[i] + b[i] in a grid-stride loop, the streaming kernel.
 *
 * Kept: launch geometry, layout and order of accesses, both loads in flight before the first use, and the instruction
 * counts of the compiled loop (5 before it, 10 per iteration of which 3 are memory, 1 exit), or with code=sm_90 those
 * of capture/programs/vecadd.cu as nvcc 13 compiles it for sm_90, with what it does around the loop. Left out: nothing.
 * Beside the original: `protect` takes from the kernel the right to write what it only reads, or what it writes;
 * `launches` repeats it, as measurements do. */
#include "workload/runtime/code.h"
#include "workload/runtime/grid_stride.h"
#include "workload/runtime/inputs.h"

enum { PROTECT_NONE, PROTECT_INPUTS, PROTECT_ALL };

static const struct pw_grid_stride_code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.none = PW_GRID_STRIDE_BEFORE,
                         .first = PW_GRID_STRIDE_BEFORE + 2, /* addresses of a[i] and b[i] */
                         .again = PW_GRID_STRIDE_STEP + 2,
                         .flight = 1, /* address of c[i] */
                         .use = 1,
                         .end = PW_GRID_STRIDE_STEP,
                         .registers = 16},
    [PW_CODE_SM_90] =
        {.none = 9, .first = 17, .again = 2, .flight = 4, .use = 1, .end = 2, .registers = 14, .pace = 3714},
};

struct parameters {
    struct pw_grid_stride loop;
    uint32_t protect, launches, code;
};

struct arguments {
    struct pw_array a, b, c;
    uint64_t n;
    const struct pw_grid_stride_code *code;
};

static void vecadd_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *a = g->a.data, *b = g->b.data;
    float *c = g->c.data;
    const struct pw_grid_stride_code *code = g->code;
    uint64_t first = pw_grid_stride_first(w), step = pw_grid_stride_step(w);
    for (uint64_t i = first; i < g->n; i += step) {
        uint32_t mask = pw_lanes_below(w, i, g->n);
        pw_compute(w, i == first ? code->first : code->again);
        pw_load_run(w, mask, &g->a, (int64_t)i);
        pw_load_run(w, mask, &g->b, (int64_t)i);
        pw_compute(w, code->flight);
        pw_use(w);
        pw_compute(w, code->use);
        pw_store_run(w, mask, &g->c, (int64_t)i);
        if (c && mask == PW_ALL_LANES)
            for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
                c[i + lane] = a[i + lane] + b[i + lane];
        else if (c)
            PW_FOR_LANES(lane, mask)
        c[i + lane] = a[i + lane] + b[i + lane];
    }
    pw_compute(w, first < g->n ? code->end : code->none);
}

static void protect(struct pw_host *h, const struct arguments *g, uint32_t what)
{
    if (what != PROTECT_NONE) {
        pw_protect(h, &g->a, PW_MAY_READ);
        pw_protect(h, &g->b, PW_MAY_READ);
    }
    if (what == PROTECT_ALL)
        pw_protect(h, &g->c, PW_MAY_READ);
}

static void vecadd_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *chosen = parameters;
    const struct pw_grid_stride *p = &chosen->loop;
    struct arguments g = {.n = pw_grid_stride_elements(h, p), .code = &codes[chosen->code]};
    g.a = pw_alloc(h, "a", g.n, sizeof(float));
    g.b = pw_alloc(h, "b", g.n, sizeof(float));
    g.c = pw_alloc(h, "c", g.n, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    float *a = g.a.data, *b = g.b.data;
    for (uint64_t i = 0; a && i < g.n; i++) {
        uint64_t hash = pw_hash(seed, i);
        a[i] = pw_hash_unit(hash);
        b[i] = pw_hash_unit(hash << 24);
    }
    protect(h, &g, chosen->protect);
    pw_host_plan(h, chosen->launches);
    for (uint32_t i = 0; i < chosen->launches; i++)
        pw_grid_stride_launch(h, p, "vecadd", g.code, vecadd_kernel, &g);

    const float *c = g.c.data;
    if (pw_host_verifying(h) && a && b && c) {
        uint64_t wrong = g.n;
        for (uint64_t i = g.n; i-- > 0;)
            if (c[i] != a[i] + b[i])
                wrong = i;
        pw_host_expect(h, wrong == g.n, "c[%llu] is not a + b", (unsigned long long)wrong);
    }
}

static const struct pw_option rows[] = {PW_GRID_STRIDE_ROWS("30"),
                                        {"protect", PW_OPTION_CHOICE, offsetof(struct parameters, protect), 0, 0,
                                         "none", "", (const char *const[]){"none", "inputs", "all", NULL},
                                         "arrays that the kernel may only read; all: its first store stops the run",
                                         false},
                                        {"launches", PW_OPTION_COUNT, offsetof(struct parameters, launches), 1, 1e6,
                                         "1", "launches", NULL, "times the same is done", false},
                                        PW_CODE_ROW(struct parameters, "loop", "those of the loop alone"),
                                        {0}};

const struct pw_workload pw_workload_vecadd = {
    .name = "vecadd",
    .suite = "pagewalk",
    .summary = "adds two vectors: the streaming kernel",
    .parameters = rows,
    .parameters_bytes = sizeof(struct parameters),
    .main = vecadd_main,
};
