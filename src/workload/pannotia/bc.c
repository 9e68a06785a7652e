/* bc: betweenness centrality of Pannotia (Brandes's algorithm), source by source.
 *
 * Kept: one thread per node in CTAs of 128; per source a kernel that resets distances, path counts and dependencies,
 * one that clears a matrix of nodes x nodes ints (once meant for predecessors, and most of the traffic), a search level
 * by level in which nodes of the frontier reach their neighbours and add their path count to them, with a flag for the
 * host, and a way back over the turned graph that adds dependencies; the arrays and their order of allocation.
 * Changed: the original, in OpenCL, adds by loops of compare-and-swap; CUDA has an atomic addition. Who reaches a node
 * first, and in which order counts and dependencies add up, is decided once per launch, in canonical order: warp by
 * warp, edge by edge, where the lanes of a warp see what its earlier edges have written.
 * The default is like the original's larger input, 2k_1M.gr (the matrix leaves no room for an author graph), and
 * `size=small` like the other, 1k_128k.gr. Instruction counts, loads in flight and registers are those of the same
 * kernels in CUDA as nvcc 13 compiles them for sm_90, the loop not unrolled. */
#include "workload/pannotia/csr.h"

#include <math.h>
#include <string.h>

enum { CTA_THREADS = 128, MOST_NODES = 46340 };

struct parameters {
    struct pw_graph_input input;
    uint32_t sources;
};

struct centrality {
    struct pw_array bc, dist, sigma, rho, p, stop;
    struct pw_csr graph, turned;
    int32_t source, level;
    uint32_t *found;      /* by node: the step at which the search has reached it; 0: not yet */
    uint32_t *first_step; /* by warp, of this level */
    uint32_t steps;       /* so far */
};

static void clear_bc_kernel(struct pw_warp *w, const void *arguments)
{
    const struct centrality *c = arguments;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, c->graph.nodes, &first);
    if (!mask)
        return;
    pw_compute(w, 4);
    pw_store_run(w, mask, &c->bc, first);
}

static void clear_kernel(struct pw_warp *w, const void *arguments)
{
    const struct centrality *c = arguments;
    int32_t *dist = c->dist.data;
    float *sigma = c->sigma.data, *rho = c->rho.data;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, c->graph.nodes, &first), other = mask;
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        bool is_source = first + lane == c->source;
        sigma[first + lane] = 0;
        rho[first + lane] = is_source ? 1 : 0;
        dist[first + lane] = is_source ? 0 : -1;
        other &= ~((uint32_t)is_source << lane);
    }
    pw_compute(w, 10);
    pw_store_run(w, mask, &c->sigma, first);
    pw_compute(w, 1);
    pw_store_run(w, other, &c->rho, first);
    pw_compute(w, 2);
    pw_store_run(w, other, &c->dist, first);
    if (mask == other)
        return;
    pw_compute(w, 3);
    pw_store_run(w, mask & ~other, &c->rho, first);
    pw_compute(w, 1);
    pw_store_run(w, mask & ~other, &c->dist, first);
}

static void clear_matrix_kernel(struct pw_warp *w, const void *arguments)
{
    const struct centrality *c = arguments;
    uint64_t thread = (uint64_t)w->cta.x * CTA_THREADS + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, thread, c->p.count);
    pw_compute(w, 8);
    if (!mask)
        return;
    pw_compute(w, 4);
    pw_store_run(w, mask, &c->p, (int64_t)thread);
}

/* Nodes of the 32 from `first` on that are at a level. */
static uint32_t lanes_at(const struct centrality *c, uint32_t first, int32_t level)
{
    uint32_t left = c->graph.nodes - first, mask = left >= PW_WARP_LANES ? PW_ALL_LANES : (1U << left) - 1;
    return pw_csr_lanes_with(&c->dist, mask, first, level);
}

static uint64_t row_end(const struct pw_csr *g, uint32_t v)
{
    const int32_t *row = g->row.data;
    return v + 1 < g->nodes ? (uint64_t)row[v + 1] : g->edges;
}

/* One level of the search, by warps. */
static void resolve_search(void *state)
{
    struct centrality *c = state;
    const int32_t *row = c->graph.row.data, *col = c->graph.col.data;
    int32_t *dist = c->dist.data, *stop = c->stop.data;
    float *rho = c->rho.data;
    for (uint32_t first = 0; first < c->graph.nodes; first += PW_WARP_LANES) {
        uint32_t mask = lanes_at(c, first, c->level);
        c->first_step[first / PW_WARP_LANES] = c->steps + 1;
        for (uint64_t i = 0; mask; i++) {
            c->steps++;
            PW_FOR_LANES(lane, mask)
            {
                uint64_t e = (uint64_t)row[first + lane] + i;
                if (e >= row_end(&c->graph, first + lane)) {
                    mask &= ~(1U << lane);
                    continue;
                }
                int32_t reached = col[e];
                if (dist[reached] < 0) {
                    dist[reached] = c->level + 1;
                    c->found[reached] = c->steps;
                    *stop = 1;
                }
                if (dist[reached] == c->level + 1)
                    rho[reached] += rho[first + lane];
            }
        }
    }
}

static void search_kernel(struct pw_warp *w, const void *arguments)
{
    const struct centrality *c = arguments;
    struct pw_csr_edges edges;
    uint64_t target[PW_WARP_LANES];
    int64_t first;
    uint32_t mask = pw_csr_locate(w, c->graph.nodes, &first);
    if (!mask)
        return;
    pw_compute(w, 5);
    pw_load_run(w, mask, &c->dist, first);
    pw_use(w);
    pw_compute(w, 1);
    mask = pw_csr_lanes_with(&c->dist, mask, first, c->level);
    if (!mask)
        return;
    pw_compute(w, 11);
    mask = pw_csr_load_rows(w, &c->graph, mask, first, &edges);
    pw_use(w);
    pw_compute(w, 1);
    if (!mask)
        return;
    pw_compute(w, 12);
    for (uint32_t step = c->first_step[first / PW_WARP_LANES]; mask; step++, mask = pw_csr_next(mask, &edges)) {
        pw_compute(w, 1);
        pw_csr_load_targets(w, &c->graph, mask, &edges, target);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &c->dist, target);
        pw_compute(w, 3);
        pw_use(w);
        uint32_t fresh = pw_csr_targets_with((const int32_t *)c->found, mask, target, (int32_t)step);
        uint32_t further = pw_csr_targets_with(c->dist.data, mask, target, c->level + 1);
        pw_compute(w, fresh ? 6 : 8); /* the skipped stores are issued too */
        pw_store_strided(w, fresh, &c->stop, 0, 0);
        pw_compute(w, 1);
        pw_store_lanes(w, fresh, &c->dist, target);
        pw_compute(w, 2);
        if (further) {
            pw_load_run(w, further, &c->rho, first);
            pw_compute(w, 3);
            pw_use(w);
            pw_atomic_lanes(w, further, &c->rho, target);
        }
        pw_compute(w, 3);
    }
}

/* The nodes of one level add to those above them. */
static void resolve_back(void *state)
{
    struct centrality *c = state;
    const int32_t *row = c->turned.row.data, *col = c->turned.col.data, *dist = c->dist.data;
    const float *rho = c->rho.data;
    float *sigma = c->sigma.data, *bc = c->bc.data;
    for (uint32_t v = 0; v < c->turned.nodes; v++) {
        if (dist[v] != c->level - 1)
            continue;
        for (uint64_t e = (uint64_t)row[v]; e < row_end(&c->turned, v); e++)
            if (dist[col[e]] == c->level - 2)
                sigma[col[e]] += rho[col[e]] / rho[v] * (1 + sigma[v]);
        if (v != (uint32_t)c->source)
            bc[v] += sigma[v];
    }
}

/* The way back from nodes that have edges. */
static void walk_back(struct pw_warp *w, const struct centrality *c, uint32_t mask, int64_t first,
                      struct pw_csr_edges *edges)
{
    uint64_t target[PW_WARP_LANES];
    pw_compute(w, 7);
    for (; mask; mask = pw_csr_next(mask, edges)) {
        pw_csr_load_targets(w, &c->turned, mask, edges, target);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &c->dist, target);
        pw_compute(w, 2);
        pw_use(w);
        pw_compute(w, 2);
        uint32_t above = pw_csr_targets_with(c->dist.data, mask, target, c->level - 2);
        if (above) {
            pw_load_run(w, above, &c->rho, first);
            pw_compute(w, 5);
            pw_load_lanes(w, above, &c->rho, target);
            pw_compute(w, 2);
            pw_use_all_but(w, 1);
            pw_compute(w, 1);
            pw_use(w);
            pw_compute(w, 9);
            pw_load_run(w, above, &c->sigma, first);
            pw_use(w);
            pw_compute(w, 2);
            pw_atomic_lanes(w, above, &c->sigma, target);
        }
        pw_compute(w, 6);
    }
}

static void back_kernel(struct pw_warp *w, const void *arguments)
{
    const struct centrality *c = arguments;
    struct pw_csr_edges edges;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, c->turned.nodes, &first), other = 0;
    if (!mask)
        return;
    pw_compute(w, 5);
    pw_load_run(w, mask, &c->dist, first);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 1);
    mask = pw_csr_lanes_with(&c->dist, mask, first, c->level - 1);
    if (!mask)
        return;
    pw_compute(w, 14);
    uint32_t with_edges = pw_csr_load_rows(w, &c->turned, mask, first, &edges);
    pw_compute(w, 3);
    pw_use(w);
    pw_compute(w, 2);
    if (with_edges)
        walk_back(w, c, with_edges, first, &edges);
    pw_compute(w, 3);
    PW_FOR_LANES(lane, mask)
    other |= (uint32_t)(first + lane != c->source) << lane;
    if (!other)
        return;
    pw_compute(w, 2);
    pw_load_run(w, other, &c->sigma, first);
    pw_compute(w, 2);
    pw_load_run(w, other, &c->bc, first);
    pw_use(w);
    pw_compute(w, 1);
    pw_store_run(w, other, &c->bc, first);
}

static void one_source(struct pw_host *h, struct centrality *c)
{
    uint32_t nodes = c->graph.nodes;
    int32_t *stop = c->stop.data;
    struct pw_launch clear = pw_csr_launch(nodes, CTA_THREADS, "clean_1d_array", clear_kernel, 14, c);
    struct pw_launch matrix =
        pw_csr_launch((uint32_t)c->p.count, CTA_THREADS, "clean_2d_array", clear_matrix_kernel, 8, c);
    struct pw_launch search = pw_csr_launch(nodes, CTA_THREADS, "bfs_kernel", search_kernel, 24, c);
    struct pw_launch back = pw_csr_launch(nodes, CTA_THREADS, "backtrack_kernel", back_kernel, 30, c);
    search.resolve = resolve_search;
    back.resolve = resolve_back;
    search.resolve_state = back.resolve_state = c;
    memset(c->found, 0, nodes * sizeof *c->found);
    c->steps = 0;
    pw_launch(h, &clear);
    pw_launch(h, &matrix);
    c->level = 0;
    do {
        *stop = 0;
        pw_launch(h, &search);
        c->level++;
    } while (*stop);
    for (; c->level; c->level--)
        pw_launch(h, &back);
}

/* Brandes, in double precision: adds the dependencies of one source. */
static void add_dependencies(const struct pw_graph *g, uint32_t source, uint32_t *queue, int32_t *level, double *paths,
                             double *dependency, double *bc)
{
    uint32_t found = 1;
    for (uint32_t v = 0; v < g->nodes; v++) {
        level[v] = -1;
        paths[v] = dependency[v] = 0;
    }
    level[source] = 0;
    paths[source] = 1;
    queue[0] = source;
    for (uint32_t at = 0; at < found; at++)
        for (uint64_t e = g->first[queue[at]]; e < g->first[queue[at] + 1]; e++) {
            uint32_t u = g->target[e];
            if (level[u] < 0) {
                level[u] = level[queue[at]] + 1;
                queue[found++] = u;
            }
            if (level[u] == level[queue[at]] + 1)
                paths[u] += paths[queue[at]];
        }
    while (found-- > 0) {
        uint32_t v = queue[found];
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (level[g->target[e]] == level[v] + 1)
                dependency[v] += paths[v] / paths[g->target[e]] * (1 + dependency[g->target[e]]);
        if (v != source)
            bc[v] += dependency[v];
    }
}

static void verify(struct pw_host *h, const struct pw_graph *g, const float *bc, uint32_t sources)
{
    uint32_t *queue = pw_host_keep(h, g->nodes * sizeof *queue), wrong = g->nodes;
    int32_t *level = pw_host_keep(h, g->nodes * sizeof *level);
    double *reals = pw_host_keep(h, 3 * (size_t)g->nodes * sizeof *reals), *expected = reals + 2 * (size_t)g->nodes;
    for (uint32_t source = 0; source < sources; source++)
        add_dependencies(g, source, queue, level, reals, reals + g->nodes, expected);
    for (uint32_t v = g->nodes; v-- > 0;)
        if (!(fabs(bc[v] - expected[v]) <= 1e-3 * expected[v] + 1e-4))
            wrong = v;
    pw_host_expect(h, wrong == g->nodes, "node %u has centrality %g", wrong, (double)bc[wrong % g->nodes]);
}

static void bc_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_with(h, &p->input, pw_host_scaled_side(h, p->input.nodes, 1));
    if (g.nodes > MOST_NODES)
        pw_host_fail(h, "the original clears nodes x nodes ints, numbered by an int: at most %u nodes", MOST_NODES);
    struct pw_graph turned = pw_graph_transposed(h, &g);
    struct centrality c = {.bc = pw_alloc(h, "bc_d", g.nodes, sizeof(float)),
                           .dist = pw_alloc(h, "dist_d", g.nodes, sizeof(int32_t)),
                           .sigma = pw_alloc(h, "sigma_d", g.nodes, sizeof(float)),
                           .rho = pw_alloc(h, "rho_d", g.nodes, sizeof(float)),
                           .p = pw_alloc(h, "p_d", (uint64_t)g.nodes * g.nodes, sizeof(int32_t)),
                           .stop = pw_alloc(h, "stop_d", 1, sizeof(int32_t)),
                           .graph = pw_csr_alloc(h, &g, "row_d", "col_d", (uint64_t)g.nodes + 1),
                           .turned = pw_csr_alloc(h, &turned, "row_trans_d", "col_trans_d", (uint64_t)g.nodes + 1),
                           .found = pw_host_keep(h, g.nodes * sizeof(uint32_t)),
                           .first_step = pw_host_keep(h, (g.nodes / PW_WARP_LANES + 1) * sizeof(uint32_t))};
    struct pw_launch clear = pw_csr_launch(g.nodes, CTA_THREADS, "clean_bc", clear_bc_kernel, 8, &c);
    pw_launch(h, &clear);
    uint32_t done = 0, sources = p->sources && p->sources < g.nodes ? p->sources : g.nodes;
    for (; pw_host_pass(h, done, sources); done++) {
        c.source = (int32_t)done;
        one_source(h, &c);
    }
    if (pw_host_verifying(h))
        verify(h, &g, c.bc.data, done);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("2048", "512", "uniform"),
    {"sources", PW_OPTION_COUNT, offsetof(struct parameters, sources), 0, 0, "0", "nodes", NULL,
     "nodes to search from, from node 0 on; 0: all", false},
    {0},
};

static const struct pw_preset presets[] = {{"small", "nodes=1024:degree=128"}, {0}};

const struct pw_workload pw_workload_bc = {
    .name = "bc",
    .suite = "Pannotia",
    .papers = "compression",
    .summary = "betweenness centrality, a search and a way back per source",
    .parameters = rows,
    .presets = presets,
    .passes = "sources",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = bc_main,
};
