/* Hetero-Mark's PageRank, as MGPUSim has it (page_rank:variant=heteromark): a sparse matrix times the vector of ranks.
 *
 * Kept: a CTA of 64 threads per node, which add up the products of the row's entries, 64 at a time, and then their sums
 * in shared memory; no damping; two vectors of ranks that change places after every iteration; entries that are random
 * and add up to 1 in each column; the arrays and their order (MGPUSim's version for several GPUs divides none of them,
 * but leaves all to the driver). A node's sum is set to 0 first, by all threads. Graphs of kind `random` are those of
 * MGPUSim's generator: pairs drawn until there are so many different ones, columns in ascending order.
 * Changed: the 64 threads are one wavefront in the original, which adds up in lockstep; here they are two warps, and a
 * barrier stands between the products and the sums. The row's two ends, one load of two words in the original, are
 * one load in which every other lane has the second.
 * Instruction counts (without waits), loads in flight and registers are those of MGPUSim's binary for GCN3: an entry's
 * column is waited for, then its value and its column's rank are in flight together. */
#include "workload/pannotia/page_rank.h"

#include "workload/runtime/inputs.h"

enum { BLOCK = 64 };

struct matrix {
    struct pw_array rank, next, row, column, value;
};

/* Adds the products of an entry for each lane, `first` on; `sums` has one per lane. */
static void add_products(struct pw_warp *w, const struct matrix *m, uint32_t mask, uint64_t first, float *sums)
{
    const uint32_t *column = m->column.data;
    const float *value = m->value.data, *rank = m->rank.data;
    uint64_t from[PW_WARP_LANES];
    pw_load_run(w, mask, &m->column, (int64_t)first);
    pw_compute(w, 7);
    pw_use(w);
    pw_compute(w, 3);
    PW_FOR_LANES(lane, mask)
    {
        from[lane] = column[first + lane];
        sums[lane] += value[first + lane] * rank[from[lane]];
    }
    pw_load_lanes(w, mask, &m->rank, from);
    pw_load_run(w, mask, &m->value, (int64_t)first);
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 3);
}

/* The first warp's sums of 64 values in shared memory. */
static float add_up(struct pw_warp *w, float *sums)
{
    for (uint32_t distance = BLOCK / 2; distance; distance /= 2) {
        pw_compute(w, distance > 2 ? 11 : distance == 2 ? 10 : 9);
        for (uint32_t lane = 0; lane < distance; lane++)
            sums[lane] += sums[lane + distance];
    }
    return sums[0];
}

static void update_kernel(struct pw_warp *w, const void *arguments)
{
    const struct matrix *m = arguments;
    const uint32_t *row_offset = m->row.data;
    uint32_t row = w->cta_index, thread = pw_first_thread(w);
    uint64_t ends[PW_WARP_LANES];
    float *sums = w->shared;

    pw_compute(w, 14 + 12);
    pw_store_strided(w, w->lanes, &m->next, row, 0);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        ends[lane] = row + lane % 2;
    pw_load_lanes(w, w->lanes, &m->row, ends);
    pw_compute(w, 5);
    pw_use(w);
    pw_compute(w, 4);
    uint64_t first = row_offset[row] + thread, end = row_offset[row + 1];
    pw_compute(w, first < end ? 12 + 3 : 0);
    for (; first < end; first += BLOCK)
        add_products(w, m, pw_lanes_below(w, first, end), first, &sums[thread]);
    pw_compute(w, 4);
    pw_barrier(w);
    if (thread)
        return;
    ((float *)m->next.data)[row] = add_up(w, sums);
    pw_store_run(w, 1, &m->next, row);
}

/* Entries between 0 and 1, of which those of a column add up to 1. */
static void fill(struct pw_host *h, const struct pw_graph *g, const struct matrix *m)
{
    uint32_t *row = m->row.data, *column = m->column.data;
    float *value = m->value.data, *rank = m->rank.data, *sums = pw_host_keep(h, g->nodes * sizeof *sums);
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint32_t v = 0; v <= g->nodes; v++)
        row[v] = (uint32_t)g->first[v];
    for (uint64_t e = 0; e < g->edges; e++) {
        column[e] = g->target[e];
        value[e] = pw_hash_unit(pw_hash(seed, e)) + 0x1p-24F;
        sums[column[e]] += value[e];
    }
    for (uint64_t e = 0; e < g->edges; e++)
        value[e] /= sums[column[e]];
    for (uint32_t v = 0; v < g->nodes; v++)
        rank[v] = 1 / (float)g->nodes;
}

/* Row by row, in double precision. */
static void verify(struct pw_host *h, const struct pw_graph *g, const struct matrix *m, uint32_t iterations)
{
    const float *value = m->value.data;
    double *now = pw_host_keep(h, g->nodes * sizeof *now), *next = pw_host_keep(h, g->nodes * sizeof *next);
    for (uint32_t v = 0; v < g->nodes; v++)
        now[v] = 1.0 / g->nodes;
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint32_t v = 0; v < g->nodes; v++) {
            next[v] = 0;
            for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
                next[v] += value[e] * now[g->target[e]];
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    pw_page_rank_expect(h, m->rank.data, now, g->nodes);
}

void pw_page_rank_heteromark(struct pw_host *h, const struct pw_graph *g, uint32_t iterations)
{
    uint64_t entries = g->edges ? g->edges : 1;
    struct matrix m = {.rank = pw_alloc(h, "pageRank", g->nodes, sizeof(float)),
                       .next = pw_alloc(h, "pageRankTemp", g->nodes, sizeof(float)),
                       .row = pw_alloc(h, "rowOffsets", (uint64_t)g->nodes + 1, sizeof(uint32_t)),
                       .column = pw_alloc(h, "columnNumbers", entries, sizeof(uint32_t)),
                       .value = pw_alloc(h, "values", entries, sizeof(float))};
    fill(h, g, &m);
    pw_host_plan_passes(h, 1, 0);
    uint32_t i = 0;
    for (; pw_host_pass(h, i, iterations); i++) {
        pw_launch(h, &(struct pw_launch){.name = "PageRankUpdateGpu",
                                         .grid = {g->nodes, 1, 1},
                                         .block = {BLOCK, 1, 1},
                                         .shared_bytes = BLOCK * sizeof(float),
                                         .registers = 15,
                                         .kernel = update_kernel,
                                         .arguments = &m});
        pw_swap_arrays(&m.rank, &m.next);
    }
    if (pw_host_verifying(h))
        verify(h, g, &m, i);
}
