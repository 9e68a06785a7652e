/* GUP: GUPS (HPC Challenge RandomAccess) on a GPU, exclusive-ors at random places of one table.
 *
 * Kept: 512 CTAs of 128 threads; a table of 64-bit words, filled with its own indices by a first kernel; 4 updates per
 * word, split evenly over the threads; the stream x -> 2x modulo the primitive polynomial of RandomAccess, a thread
 * starting where its share begins; the low bits of x choose the word; an update is a load, an exclusive or and a store
 * to the same place, so that one load of a thread is in flight.
 * Simplified: threads read where they start from an array that the host filled (one word per thread) instead of
 * computing it by repeated squaring, some thousands of instructions that touch no memory. The original may lose updates
 * that meet (up to 1% is allowed); here none is lost, so that the table after the run is one and the same. The seed
 * chooses where in the stream the program begins. A table that is not a power of two takes the remainder instead of the
 * low bits. Instruction counts are estimates for compiled code: 8 for the next x and its address, 2 for the exclusive
 * or, 3 for the loop. */
#include "workload/runtime/grid_stride.h"
#include "workload/runtime/inputs.h"

#include <assert.h>

enum { THREADS = 128, POLYNOMIAL = 7 };

struct parameters {
    uint64_t table; /* bytes */
    uint32_t updates, ctas;
};

struct arguments {
    struct pw_array table, start;
    uint64_t *starts; /* what `start` holds, kept also without values: addresses follow from it */
    uint64_t updates, threads;
};

static inline uint64_t next_of(uint64_t x)
{
    return x << 1 ^ (x >> 63 ? POLYNOMIAL : 0);
}

static inline uint64_t place_of(uint64_t x, uint64_t words)
{
    return words & (words - 1) ? x % words : x & (words - 1);
}

/* The product of two elements of the field: a jump in the stream. */
static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (; b; b >>= 1, a = next_of(a))
        sum ^= b & 1 ? a : 0;
    return sum;
}

static uint64_t power_of_two(uint64_t exponent)
{
    uint64_t result = 1, square = 2;
    for (; exponent; exponent >>= 1, square = product(square, square))
        result = exponent & 1 ? product(result, square) : result;
    return result;
}

/* The first update of a thread. */
static inline uint64_t share_of(const struct arguments *g, uint64_t thread)
{
    return (uint64_t)((unsigned __int128)g->updates * thread / g->threads);
}

static void fill_starts(const struct arguments *g, uint64_t first)
{
    uint64_t least = g->updates / g->threads, jump = power_of_two(least), x = first;
    for (uint64_t thread = 0; thread < g->threads; thread++) {
        g->starts[thread] = x;
        x = product(x, jump);
        if (share_of(g, thread + 1) - share_of(g, thread) > least)
            x = next_of(x);
    }
}

static void init_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t *table = g->table.data, step = pw_grid_stride_step(w);
    pw_compute(w, PW_GRID_STRIDE_BEFORE);
    for (uint64_t i = pw_grid_stride_first(w); i < g->table.count; i += step) {
        uint32_t mask = pw_lanes_below(w, i, g->table.count);
        pw_compute(w, 2);
        pw_store_run(w, mask, &g->table, (int64_t)i);
        pw_compute(w, PW_GRID_STRIDE_STEP);
        if (table)
            PW_FOR_LANES(lane, mask)
        table[i + lane] = i + lane;
    }
}

static void update_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t *table = g->table.data, thread = pw_grid_stride_first(w);
    uint64_t x[PW_WARP_LANES], place[PW_WARP_LANES] = {0}, left[PW_WARP_LANES];
    PW_FOR_LANES(lane, w->lanes)
    {
        x[lane] = g->starts[thread + lane];
        left[lane] = share_of(g, thread + lane + 1) - share_of(g, thread + lane);
    }
    pw_compute(w, PW_GRID_STRIDE_BEFORE + 10);
    pw_load_run(w, w->lanes, &g->start, (int64_t)thread);
    pw_use(w);
    pw_compute(w, 2);
    for (uint32_t mask = w->lanes;;) {
        PW_FOR_LANES(lane, mask)
        {
            if (!left[lane]--) {
                mask &= ~(1U << lane);
                continue;
            }
            x[lane] = next_of(x[lane]);
            place[lane] = place_of(x[lane], g->table.count);
            if (table)
                table[place[lane]] ^= x[lane];
        }
        if (!mask)
            return;
        pw_compute(w, 8);
        pw_load_lanes(w, mask, &g->table, place);
        pw_use(w);
        pw_compute(w, 2);
        pw_store_lanes(w, mask, &g->table, place);
        pw_compute(w, PW_GRID_STRIDE_STEP);
    }
}

static void verify(struct pw_host *h, const struct arguments *g, uint64_t first)
{
    uint64_t words = g->table.count, *expected = pw_host_keep(h, words * sizeof *expected), x = first;
    const uint64_t *table = g->table.data;
    assert(words && table);
    for (uint64_t i = 0; i < words; i++)
        expected[i] = i;
    for (uint64_t i = 0; i < g->updates; i++) {
        x = next_of(x);
        expected[x % words] ^= x;
    }
    uint64_t wrong = words;
    for (uint64_t i = words; i-- > 0;)
        if (table[i] != expected[i])
            wrong = i;
    pw_host_expect(h, wrong == words, "word %llu of the table differs from the sequential updates",
                   (unsigned long long)wrong);
}

static void gup_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t words = pw_host_scaled(h, p->table, sizeof(uint64_t)) / sizeof(uint64_t);
    struct arguments g = {.updates = words * p->updates, .threads = (uint64_t)p->ctas * THREADS};
    g.table = pw_alloc(h, "table", words, sizeof(uint64_t));
    g.start = pw_alloc(h, "start", g.threads, sizeof(uint64_t));
    g.starts = g.start.data ? g.start.data : pw_host_keep(h, g.threads * sizeof *g.starts);
    uint64_t first = pw_random_next(pw_host_random(h)) | 1;
    fill_starts(&g, first);

    struct pw_launch launch = {.name = "init",
                               .grid = {p->ctas, 1, 1},
                               .block = {THREADS, 1, 1},
                               .registers = 16,
                               .kernel = init_kernel,
                               .arguments = &g};
    pw_host_plan(h, 2);
    pw_launch(h, &launch);
    launch.name = "update";
    launch.kernel = update_kernel;
    pw_launch(h, &launch);
    if (pw_host_verifying(h))
        verify(h, &g, first);
    pw_free(h, &g.start);
    pw_free(h, &g.table);
}

static const struct pw_option rows[] = {
    {"table", PW_OPTION_BYTES, offsetof(struct parameters, table), sizeof(uint64_t), 0, "2MB", "bytes", NULL,
     "size of the table", false},
    {"updates", PW_OPTION_COUNT, offsetof(struct parameters, updates), 1, 1 << 20, "4", "updates", NULL,
     "updates per word of the table", false},
    {"ctas", PW_OPTION_COUNT, offsetof(struct parameters, ctas), 1, 1 << 20, "512", "CTAs", NULL, "CTAs of 128 threads",
     false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "table=4MB"}, {0}};

const struct pw_workload pw_workload_gup = {
    .name = "GUP",
    .suite = "GUPS",
    .papers = "mosaic mask",
    .summary = "random updates of a table, one page per lane",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = gup_main,
};
