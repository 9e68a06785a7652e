/* color: graph colouring of Pannotia, the variant by maxima (Jones and Plassmann).
 *
 * Kept: one thread per node in CTAs of 256; per colour a kernel in which every node without a colour finds the largest
 * value among its neighbours without one, setting a flag for the host when it has any, and a kernel that colours those
 * whose own value is larger; as many rounds as it takes, or as `iterations` says; the arrays and their order of
 * allocation. The flag is written, and the neighbour loaded again behind that, for every edge to a neighbour without a
 * colour. Kept too: a node with a single neighbour does not look at it, so that it is coloured at once, sometimes like
 * its neighbour.
 * Changed: the graph is undirected, whatever it was, and values differ from each other (csr.h). Nothing depends on the
 * order of warps: what one kernel reads of other nodes, only the other writes.
 * The default is like coAuthorsDBLP: the paper says that its graph programs run on author networks. Instruction counts,
 * loads in flight and registers are those of the same kernels in CUDA as nvcc 13 compiles them for sm_90, the loop not
 * unrolled. */
#include "workload/pannotia/csr.h"

enum { CTA_THREADS = 256, NO_COLOR = -1 };

struct parameters {
    struct pw_graph_input input;
    uint32_t iterations;
};

struct coloring {
    struct pw_csr graph;
    struct pw_array stop, color, value, max;
    int32_t present; /* colour of this round */
};

/* How both kernels begin: the nodes of the warp that have no colour. */
static uint32_t load_uncolored(struct pw_warp *w, const struct coloring *c, int64_t *out_first)
{
    uint32_t mask = pw_csr_locate(w, c->graph.nodes, out_first);
    if (!mask)
        return 0;
    pw_compute(w, 4);
    pw_load_run(w, mask, &c->color, *out_first);
    pw_use(w);
    pw_compute(w, 1);
    return pw_csr_lanes_with(&c->color, mask, *out_first, NO_COLOR);
}

/* Looks at the neighbours of nodes that have edges. */
static void find_maxima(struct pw_warp *w, const struct coloring *c, uint32_t mask, uint32_t single,
                        struct pw_csr_edges *edges, float most[])
{
    const float *value = c->value.data;
    uint64_t target[PW_WARP_LANES];
    pw_compute(w, 8);
    while (mask) {
        pw_compute(w, 1);
        pw_csr_load_targets(w, &c->graph, mask, edges, target);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &c->color, target);
        pw_compute(w, 4);
        pw_use(w);
        pw_compute(w, 3);
        uint32_t open = pw_csr_targets_with(c->color.data, mask & ~single, target, NO_COLOR);
        if (open) {
            *(int32_t *)c->stop.data = 1;
            PW_FOR_LANES(lane, open)
            most[lane] = value[target[lane]] > most[lane] ? value[target[lane]] : most[lane];
            pw_compute(w, 2);
            pw_store_strided(w, open, &c->stop, 0, 0);
            pw_load_lanes(w, open, &c->graph.col, edges->at);
            pw_use(w);
            pw_compute(w, 1);
            pw_load_lanes(w, open, &c->value, target);
            pw_use(w);
            pw_compute(w, 2);
        }
        pw_compute(w, 3);
        mask = pw_csr_next(mask, edges);
    }
}

static void max_kernel(struct pw_warp *w, const void *arguments)
{
    const struct coloring *c = arguments;
    float *max = c->max.data, most[PW_WARP_LANES];
    struct pw_csr_edges edges;
    int64_t first;
    uint32_t mask = load_uncolored(w, c, &first), single = 0;
    if (!mask)
        return;
    pw_compute(w, 11);
    uint32_t with_edges = pw_csr_load_rows(w, &c->graph, mask, first, &edges);
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, mask)
    {
        most[lane] = -1;
        single |= (uint32_t)(edges.at[lane] + 1 == edges.end[lane]) << lane;
    }
    if (with_edges)
        find_maxima(w, c, with_edges, single, &edges, most);
    PW_FOR_LANES(lane, mask)
    max[first + lane] = most[lane];
    pw_compute(w, 4);
    pw_store_run(w, mask, &c->max, first);
}

static void color_kernel(struct pw_warp *w, const void *arguments)
{
    const struct coloring *c = arguments;
    const float *value = c->value.data, *max = c->max.data;
    int32_t *color = c->color.data;
    int64_t first;
    uint32_t mask = load_uncolored(w, c, &first), largest = 0;
    if (!mask)
        return;
    pw_compute(w, 10);
    pw_load_run(w, mask, &c->max, first);
    pw_load_run(w, mask, &c->value, first);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, mask)
    if (value[first + lane] > max[first + lane]) {
        color[first + lane] = c->present;
        largest |= 1U << lane;
    }
    if (!largest)
        return;
    pw_compute(w, 2);
    pw_store_run(w, largest, &c->color, first);
}

/* Neighbours differ, but where one of them has no other; after a whole run everybody has a colour. */
static void verify(struct pw_host *h, const struct pw_graph *g, const struct coloring *c, bool whole)
{
    const int32_t *color = c->color.data;
    const uint64_t *first = g->first;
    uint32_t same = g->nodes, without = g->nodes;
    for (uint32_t v = g->nodes; v-- > 0;) {
        without = color[v] == NO_COLOR ? v : without;
        for (uint64_t e = first[v]; e < first[v + 1]; e++) {
            uint32_t u = g->target[e];
            if (color[u] == color[v] && color[v] != NO_COLOR && first[v + 1] - first[v] > 1 &&
                first[u + 1] - first[u] > 1)
                same = v;
        }
    }
    pw_host_expect(h, same == g->nodes, "node %u has the colour of a neighbour", same);
    pw_host_expect(h, !whole || without == g->nodes, "node %u has no colour", without);
}

static void color_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_undirected_of(h, &p->input);
    struct coloring c = {.graph = pw_csr_alloc(h, &g, "row_d", "col_d", g.nodes),
                         .stop = pw_alloc(h, "stop_d", 1, sizeof(int32_t)),
                         .color = pw_alloc(h, "color_d", g.nodes, sizeof(int32_t)),
                         .value = pw_alloc(h, "node_value_d", g.nodes, sizeof(float)),
                         .max = pw_alloc(h, "max_d", g.nodes, sizeof(float)),
                         .present = 1};
    int32_t *stop = c.stop.data, *color = c.color.data;
    for (uint32_t v = 0; v < g.nodes; v++)
        color[v] = NO_COLOR;
    pw_csr_fill_values(h, &c.value, g.nodes);
    struct pw_launch find = pw_csr_launch(g.nodes, CTA_THREADS, "color", max_kernel, 24, &c);
    struct pw_launch give = pw_csr_launch(g.nodes, CTA_THREADS, "color2", color_kernel, 10, &c);
    *stop = 1;
    for (uint32_t i = 0; *stop && pw_host_pass(h, i, p->iterations); i++, c.present++) {
        *stop = 0;
        pw_launch(h, &find);
        pw_launch(h, &give);
    }
    if (pw_host_verifying(h))
        verify(h, &g, &c, !*stop);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("299067", "7", "cliques"),
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 0, 0, "0", "", NULL,
     "colours at most; 0: as many as it takes", false},
    {0},
};

const struct pw_workload pw_workload_color = {
    .name = "color",
    .suite = "Pannotia",
    .papers = "compression",
    .summary = "graph colouring, one colour per round for nodes with the largest value around",
    .parameters = rows,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = color_main,
};
