/* fw: shortest paths between all pairs of nodes by Floyd and Warshall's algorithm, of Pannotia.
 *
 * Kept: the plain variant, one launch per intermediate node k over the whole matrix, a thread per pair in CTAs of
 * 16 x 16. A thread's x is the row, so that the lanes of a warp lie in 16 rows: every access of dist[i][k] and
 * dist[i][j] goes to 16 lines. Arrays (distances, and the last intermediate node of every pair) and their order.
 * Changed: the original's loop begins at k = 1 and never goes through node 0; this one does. Nothing depends on the
 * order of warps: without negative weights step k changes neither row nor column k.
 * The default is like the original's 512_65536.gr. Between nodes without an edge lie 999,999, and weights are at most
 * that. Instruction counts, loads in flight and registers are those of the same kernel in CUDA as nvcc 13 compiles it
 * for sm_90. */
#include "workload/graph/graph_input.h"

enum { SIDE = 16, BIGNUM = 999999, MOST_NODES = 46340 };

struct parameters {
    struct pw_graph_input input;
    uint32_t iterations;
};

struct distances {
    struct pw_array dist, next;
    uint32_t nodes, k;
};

static void step_kernel(struct pw_warp *w, const void *arguments)
{
    const struct distances *d = arguments;
    int32_t *dist = d->dist.data, *next = d->next.data;
    uint64_t kj[PW_WARP_LANES], ik[PW_WARP_LANES], ij[PW_WARP_LANES];
    uint32_t mask = 0, shorter = 0;
    PW_FOR_LANES(lane, w->lanes)
    {
        uint64_t i = w->cta.x * SIDE + lane % SIDE, j = w->cta.y * SIDE + (pw_first_thread(w) + lane) / SIDE;
        if (i >= d->nodes || j >= d->nodes)
            continue;
        mask |= 1U << lane;
        kj[lane] = (uint64_t)d->k * d->nodes + j;
        ik[lane] = i * d->nodes + d->k;
        ij[lane] = i * d->nodes + j;
        shorter |= (uint32_t)(dist[ik[lane]] + dist[kj[lane]] < dist[ij[lane]]) << lane;
    }
    pw_compute(w, 12);
    if (!mask)
        return;
    pw_compute(w, 9);
    pw_load_lanes(w, mask, &d->dist, kj);
    pw_compute(w, 1);
    pw_load_lanes(w, mask, &d->dist, ik);
    pw_load_lanes(w, mask, &d->dist, ij);
    pw_use(w);
    pw_compute(w, 2);
    if (!shorter)
        return;
    PW_FOR_LANES(lane, shorter)
    {
        dist[ij[lane]] = dist[ik[lane]] + dist[kj[lane]];
        next[ij[lane]] = (int32_t)d->k;
    }
    pw_compute(w, 3);
    pw_store_lanes(w, shorter, &d->dist, ij);
    pw_compute(w, 2);
    pw_store_lanes(w, shorter, &d->next, ij);
}

static void fill(const struct distances *d, const struct pw_graph *g)
{
    int32_t *dist = d->dist.data;
    for (uint64_t i = 0; i < (uint64_t)g->nodes * g->nodes; i++)
        dist[i] = BIGNUM;
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            int32_t *there = &dist[(uint64_t)v * g->nodes + g->target[e]], weight = (int32_t)g->weight[e];
            *there = weight < *there ? weight : *there;
        }
        dist[(uint64_t)v * g->nodes + v] = 0;
    }
}

/* Shortest ways from one node by Dijkstra's algorithm, where only nodes below `through` lie in between. */
static void search(const struct pw_graph *g, uint32_t source, uint32_t through, uint32_t *way, bool *settled)
{
    for (uint32_t v = 0; v < g->nodes; v++) {
        way[v] = v == source ? 0 : BIGNUM;
        settled[v] = false;
    }
    for (;;) {
        uint32_t nearest = g->nodes;
        for (uint32_t v = 0; v < g->nodes; v++)
            if (!settled[v] && (v < through || v == source) && (nearest == g->nodes || way[v] < way[nearest]))
                nearest = v;
        if (nearest == g->nodes)
            return;
        settled[nearest] = true;
        for (uint64_t e = g->first[nearest]; e < g->first[nearest + 1]; e++) {
            uint32_t length = way[nearest] + (uint32_t)g->weight[e];
            if (length < way[g->target[e]])
                way[g->target[e]] = length;
        }
    }
}

static void verify(struct pw_host *h, const struct pw_graph *g, const struct distances *d, uint32_t through)
{
    const int32_t *dist = d->dist.data, *next = d->next.data;
    uint32_t *way = pw_host_keep(h, g->nodes * sizeof *way), wrong = 0, astray = 0;
    bool *settled = pw_host_keep(h, g->nodes * sizeof *settled);
    for (uint64_t i = 0; i < g->nodes; i++) {
        search(g, (uint32_t)i, through, way, settled);
        for (uint64_t j = 0; j < g->nodes; j++) {
            uint64_t via = (uint64_t)next[i * g->nodes + j];
            wrong += dist[i * g->nodes + j] != (int32_t)way[j];
            astray += via && dist[i * g->nodes + j] != dist[i * g->nodes + via] + dist[via * g->nodes + j];
        }
    }
    pw_host_expect(h, !wrong, "%u distances are wrong", wrong);
    pw_host_expect(h, !astray, "%u pairs have a node between them that is not on the way", astray);
}

static void fw_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_with(h, &p->input, pw_host_scaled_side(h, p->input.nodes, 1));
    if (g.nodes > MOST_NODES)
        pw_host_fail(h, "the original's indices are ints: there can be %u nodes at most", MOST_NODES);
    pw_graph_need_weights(h, &g, BIGNUM);
    uint64_t pairs = (uint64_t)g.nodes * g.nodes;
    struct distances d = {.dist = pw_alloc(h, "dist_d", pairs, sizeof(int32_t)),
                          .next = pw_alloc(h, "next_d", pairs, sizeof(int32_t)),
                          .nodes = g.nodes};
    fill(&d, &g);
    uint32_t side = (g.nodes + SIDE - 1) / SIDE;
    pw_host_plan_passes(h, 1, 0);
    uint32_t steps = p->iterations && p->iterations < g.nodes ? p->iterations : g.nodes;
    for (; pw_host_pass(h, d.k, steps); d.k++)
        pw_launch(h, &(struct pw_launch){.name = "floydwarshall",
                                         .grid = {side, side, 1},
                                         .block = {SIDE, SIDE, 1},
                                         .registers = 16,
                                         .kernel = step_kernel,
                                         .arguments = &d});
    if (pw_host_verifying(h))
        verify(h, &g, &d, d.k);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("512", "128", "uniform"),
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 0, 0, "0", "", NULL,
     "intermediate nodes at most; 0: all", false},
    {0},
};

const struct pw_workload pw_workload_fw = {
    .name = "fw",
    .suite = "Pannotia",
    .papers = "compression",
    .summary = "Floyd-Warshall, one launch over the matrix per node, in columns",
    .parameters = rows,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = fw_main,
};
