/* page_rank: PageRank of Pannotia, in which every node gives its rank to its neighbours.
 *
 * Kept: one thread per node in CTAs of 256; a kernel that initialises the ranks, then, 20 times, one in which a node
 * adds its share to each neighbour's next rank by an atomic addition, and one that applies the damping factor; the
 * arrays (among them one of edge data that nobody reads) and their order of allocation. As the original's pointers may
 * alias, a node's own rank is loaded anew for every edge.
 * Changed: the original, in OpenCL, adds by loops of compare-and-swap; CUDA has an atomic addition. The sums are made
 * once per launch, edge by edge in order, so that rounding does not depend on the order of warps.
 * The default is like coAuthorsDBLP, the original's input. Instruction counts, loads in flight and registers are those
 * of the same kernels in CUDA as nvcc 13 compiles them for sm_90, the loop not unrolled.
 *
 * variant=heteromark is another program, Hetero-Mark's (page_rank_heteromark.c). */
#include "workload/pannotia/page_rank.h"
#include "workload/pannotia/csr.h"

#include <math.h>

enum { CTA_THREADS = 256 };
enum variant { PANNOTIA, HETEROMARK };

struct parameters {
    struct pw_graph_input input;
    uint32_t iterations, variant;
};

struct ranks {
    struct pw_csr graph;
    struct pw_array data, rank, next;
};

static void init_kernel(struct pw_warp *w, const void *arguments)
{
    const struct ranks *r = arguments;
    float *rank = r->rank.data, *next = r->next.data;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, r->graph.nodes, &first);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        rank[first + lane] = 1 / (float)r->graph.nodes;
        next[first + lane] = 0;
    }
    pw_compute(w, 14);
    pw_store_run(w, mask, &r->rank, first);
    pw_compute(w, 1);
    pw_store_run(w, mask, &r->next, first);
}

static void give_shares(void *state)
{
    struct ranks *r = state;
    const int32_t *row = r->graph.row.data, *col = r->graph.col.data;
    const float *rank = r->rank.data;
    float *next = r->next.data;
    for (uint32_t v = 0; v < r->graph.nodes; v++) {
        int32_t end = v + 1 < r->graph.nodes ? row[v + 1] : (int32_t)r->graph.edges;
        for (int32_t e = row[v]; e < end; e++)
            next[col[e]] += rank[v] / (float)(end - row[v]);
    }
}

static void give_kernel(struct pw_warp *w, const void *arguments)
{
    const struct ranks *r = arguments;
    struct pw_csr_edges edges;
    uint64_t target[PW_WARP_LANES];
    int64_t first;
    uint32_t mask = pw_csr_locate(w, r->graph.nodes, &first);
    if (!mask)
        return;
    pw_compute(w, 8);
    mask = pw_csr_load_rows(w, &r->graph, mask, first, &edges);
    pw_use(w);
    pw_compute(w, 1);
    if (!mask)
        return;
    pw_compute(w, 11);
    while (mask) {
        pw_load_run(w, mask, &r->rank, first);
        pw_compute(w, 1);
        pw_csr_load_targets(w, &r->graph, mask, &edges, target);
        pw_compute(w, 5);
        pw_use_all_but(w, 1);
        pw_compute(w, 3);
        pw_use(w);
        pw_compute(w, 5);
        pw_atomic_lanes(w, mask, &r->next, target);
        pw_compute(w, 4);
        mask = pw_csr_next(mask, &edges);
    }
}

static void damp_kernel(struct pw_warp *w, const void *arguments)
{
    const struct ranks *r = arguments;
    float *rank = r->rank.data, *next = r->next.data;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, r->graph.nodes, &first);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        rank[first + lane] = (float)(0.15 / (float)r->graph.nodes + 0.85 * next[first + lane]);
        next[first + lane] = 0;
    }
    pw_compute(w, 22);
    pw_load_run(w, mask, &r->next, first);
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 4);
    pw_store_run(w, mask, &r->rank, first);
    pw_store_run(w, mask, &r->next, first);
}

void pw_page_rank_expect(struct pw_host *h, const float *rank, const double *expected, uint32_t nodes)
{
    uint32_t wrong = nodes;
    for (uint32_t v = nodes; v-- > 0;)
        if (!(fabs(rank[v] - expected[v]) <= 1e-4 * expected[v]))
            wrong = v;
    pw_host_expect(h, wrong == nodes, "node %u has rank %g", wrong, (double)rank[wrong % nodes]);
}

/* Every node collects from those that list it, in double precision. */
static void verify(struct pw_host *h, const struct pw_graph *g, const float *rank, uint32_t iterations)
{
    struct pw_graph in = pw_graph_transposed(h, g);
    double *now = pw_host_keep(h, g->nodes * sizeof *now), *next = pw_host_keep(h, g->nodes * sizeof *next);
    for (uint32_t v = 0; v < g->nodes; v++)
        now[v] = 1.0 / g->nodes;
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint32_t v = 0; v < g->nodes; v++) {
            double sum = 0;
            for (uint64_t e = in.first[v]; e < in.first[v + 1]; e++)
                sum += now[in.target[e]] / (double)(g->first[in.target[e] + 1] - g->first[in.target[e]]);
            next[v] = 0.15 / g->nodes + 0.85 * sum;
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    pw_page_rank_expect(h, rank, now, g->nodes);
}

static void page_rank_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_of(h, &p->input);
    if (p->variant == HETEROMARK) {
        pw_page_rank_heteromark(h, &g, p->iterations);
        return;
    }
    struct ranks r = {.graph = pw_csr_alloc(h, &g, "row_d", "col_d", g.nodes),
                      .data = pw_alloc(h, "data_d", g.edges ? g.edges : 1, sizeof(int32_t)),
                      .rank = pw_alloc(h, "pagerank1_d", g.nodes, sizeof(float)),
                      .next = pw_alloc(h, "pagerank2_d", g.nodes, sizeof(float))};
    struct pw_launch init = pw_csr_launch(g.nodes, CTA_THREADS, "inibuffer", init_kernel, 14, &r);
    struct pw_launch give = pw_csr_launch(g.nodes, CTA_THREADS, "pagerank1", give_kernel, 26, &r);
    struct pw_launch damp = pw_csr_launch(g.nodes, CTA_THREADS, "pagerank2", damp_kernel, 21, &r);
    give.resolve = give_shares;
    give.resolve_state = &r;
    pw_host_plan_passes(h, 2, 1);
    pw_launch(h, &init);
    uint32_t i = 0;
    for (; pw_host_pass(h, i, p->iterations); i++) {
        pw_launch(h, &give);
        pw_launch(h, &damp);
    }
    if (pw_host_verifying(h))
        verify(h, &g, r.rank.data, i);
}

static const char *const variants[] = {"pannotia", "heteromark", NULL};

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("299067", "7", "cliques"),
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "20", "", NULL,
     "times that ranks are passed on", false},
    {"variant", PW_OPTION_CHOICE, offsetof(struct parameters, variant), 0, 0, "pannotia", "", variants,
     "whose program: Pannotia's or Hetero-Mark's", false},
    {0},
};

/* 64.0 MB: a thousandth of the matrix, as MGPUSim has it by default. Of its 16 iterations, which touch the same pages,
 * one: each takes 68 million events. */
static const struct pw_preset presets[] = {
    {"gmmu-bypass", "variant=heteromark:nodes=90687:degree=91:kind=random:iterations=1"},
    {0},
};

const struct pw_workload pw_workload_page_rank = {
    .name = "page_rank",
    .suite = "Pannotia, Hetero-Mark",
    .papers = "compression gmmu-bypass",
    .summary = "PageRank by atomic additions to neighbours",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = page_rank_main,
};
