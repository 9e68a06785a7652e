/* What Pannotia's kernels have in common: a graph in compressed rows without a last entry (the kernels take the number
 * of edges in its place), one thread per node, and a loop over the node's edges. */
#ifndef PW_WORKLOAD_PANNOTIA_CSR_H
#define PW_WORKLOAD_PANNOTIA_CSR_H

#include "workload/graph/graph_input.h"
#include "workload/runtime/inputs.h"

struct pw_csr {
    struct pw_array row, col;
    uint32_t nodes, edges;
};

/* `rows` is nodes, or nodes + 1 where the original allocates the last entry too. */
static inline struct pw_csr pw_csr_alloc(struct pw_host *h, const struct pw_graph *g, const char *row_name,
                                         const char *col_name, uint64_t rows)
{
    struct pw_csr c = {.row = pw_alloc(h, row_name, rows, sizeof(int32_t)),
                       .col = pw_alloc(h, col_name, g->edges ? g->edges : 1, sizeof(int32_t)),
                       .nodes = g->nodes,
                       .edges = (uint32_t)g->edges};
    int32_t *row = c.row.data, *col = c.col.data;
    for (uint64_t v = 0; v < rows; v++)
        row[v] = (int32_t)g->first[v];
    for (uint64_t e = 0; e < g->edges; e++)
        col[e] = (int32_t)g->target[e];
    return c;
}

/* A launch of one thread per node. */
static inline struct pw_launch pw_csr_launch(uint32_t nodes, uint32_t threads, const char *name, pw_kernel_fn *kernel,
                                             uint32_t registers, const void *arguments)
{
    return (struct pw_launch){.name = name,
                              .grid = {(nodes + threads - 1) / threads, 1, 1},
                              .block = {threads, 1, 1},
                              .registers = registers,
                              .kernel = kernel,
                              .arguments = arguments};
}

/* How the kernels begin, up to the exit of threads without a node: those that have one, and the first one's. */
static inline uint32_t pw_csr_locate(struct pw_warp *w, uint32_t nodes, int64_t *out_first)
{
    uint64_t thread = (uint64_t)w->cta.x * w->launch->block.x + pw_first_thread(w);
    *out_first = (int64_t)thread;
    pw_compute(w, 7);
    return pw_lanes_below(w, thread, nodes);
}

/* The edges that each lane still has to look at. */
struct pw_csr_edges {
    uint64_t at[PW_WARP_LANES], end[PW_WARP_LANES];
};

/* Loads the ends of the lanes' rows (the second one first, as compiled); returns the lanes that have edges. */
static inline uint32_t pw_csr_load_rows(struct pw_warp *w, const struct pw_csr *c, uint32_t mask, int64_t first,
                                        struct pw_csr_edges *out)
{
    const int32_t *row = c->row.data;
    uint32_t with_edges = 0, not_last = 0;
    PW_FOR_LANES(lane, mask)
    {
        uint64_t v = (uint64_t)first + lane;
        out->at[lane] = (uint64_t)row[v];
        out->end[lane] = v + 1 < c->nodes ? (uint64_t)row[v + 1] : c->edges;
        not_last |= (uint32_t)(v + 1 < c->nodes) << lane;
        with_edges |= (uint32_t)(out->at[lane] < out->end[lane]) << lane;
    }
    pw_load_run(w, not_last, &c->row, first + 1);
    pw_load_run(w, mask, &c->row, first);
    return with_edges;
}

/* Loads the lanes' present edges and says whom they lead to. */
static inline void pw_csr_load_targets(struct pw_warp *w, const struct pw_csr *c, uint32_t mask,
                                       const struct pw_csr_edges *edges, uint64_t out_target[PW_WARP_LANES])
{
    const int32_t *col = c->col.data;
    PW_FOR_LANES(lane, mask)
    out_target[lane] = (uint64_t)col[edges->at[lane]];
    pw_load_lanes(w, mask, &c->col, edges->at);
}

/* Goes on to the next edge; returns the lanes that have one. */
static inline uint32_t pw_csr_next(uint32_t mask, struct pw_csr_edges *edges)
{
    PW_FOR_LANES(lane, mask)
    if (++edges->at[lane] == edges->end[lane])
        mask &= ~(1U << lane);
    return mask;
}

/* Lanes of `mask` whose word, of those from `first` on, is `value`; and those whose target's is. */
static inline uint32_t pw_csr_lanes_with(const struct pw_array *a, uint32_t mask, int64_t first, int32_t value)
{
    const int32_t *words = a->data;
    uint32_t with = 0;
    PW_FOR_LANES(lane, mask)
    with |= (uint32_t)(words[first + lane] == value) << lane;
    return with;
}

static inline uint32_t pw_csr_targets_with(const int32_t *words, uint32_t mask, const uint64_t target[], int32_t value)
{
    uint32_t with = 0;
    PW_FOR_LANES(lane, mask)
    with |= (uint32_t)(words[target[lane]] == value) << lane;
    return with;
}

/* A value of its own for each node, in an order that the seed decides, exact in a float. The original draws them at
 * random, where two neighbours with equal values would wait for each other for ever. */
enum { PW_CSR_MOST_VALUES = 1 << 24 };
static inline void pw_csr_fill_values(struct pw_host *h, const struct pw_array *a, uint32_t nodes)
{
    float *value = a->data;
    uint64_t seed = pw_random_next(pw_host_random(h));
    if (nodes > PW_CSR_MOST_VALUES)
        pw_host_fail(h, "there are 16M values for nodes: the graph may not have more nodes");
    for (uint32_t v = 0; v < nodes; v++)
        value[v] = (float)pw_permuted(seed, v, nodes) / (float)PW_CSR_MOST_VALUES;
}

#endif
