/* BFS2: breadth-first search of Parboil, frontier queues, one launch per level.
 *
 * Kept: arrays and their element sizes (nodes and edges are pairs of ints; colour, cost, two queues, the tail), CTAs of
 * up to 512 threads, one thread per frontier node, the order of accesses (mark black, own cost, node, then per edge:
 * the edge, an atomic minimum on the target's cost and, where that won, its colour and an exchange on it), the CTA's
 * queue in shared memory, one atomic on the tail per CTA and the copy into the next frontier. Edges cost 1, as in the
 * original's inputs.
 * Simplified: the original handles small frontiers by one long-running CTA and middle ones by a grid-wide barrier; here
 * every level is a launch of the general kernel. Textures are ordinary loads. The CTA's queue is not bounded to 3,200
 * entries (beyond which the original writes out of bounds). Who wins an atomic is decided in canonical order, CTA by
 * CTA, warp by warp, edge by edge, lane by lane. Instruction counts are estimates for compiled code. */
#include "workload/graph/graph.h"

enum { CTA_THREADS = 512, MIN_THREADS = 8, QUEUE_ENTRIES = 3200, NEVER_REACHED = INT32_MAX };
enum { WHITE = 16677217, GRAY0 = 16677219, GRAY1 = 16677220, BLACK = 16677221 };

struct parameters {
    uint32_t nodes, degree, kind;
};

struct pair {
    int32_t x, y; /* of a node: first edge and number of edges; of an edge: target and cost */
};

struct search {
    struct pw_array nodes, edges, color, cost, from, to, tail;
    uint32_t frontier; /* its size */
    uint32_t threads;  /* of a CTA */
    int32_t level;
    uint32_t *winner; /* by node: 1 + the edge that reached it */
    uint32_t *first;  /* by warp: where in the next frontier its nodes begin */
};

static inline uint32_t warps_per_cta(const struct search *s)
{
    return (s->threads + PW_WARP_LANES - 1) / PW_WARP_LANES;
}

static uint32_t ctas_of(const struct search *s)
{
    return (s->frontier + s->threads - 1) / s->threads;
}

/* The frontier nodes of a warp: the first one, and a lane mask. */
static uint32_t lanes_of(const struct search *s, uint32_t cta, uint32_t warp, uint32_t *first)
{
    uint32_t rank = warp * PW_WARP_LANES, threads = s->threads - rank;
    *first = cta * s->threads + rank;
    if (*first >= s->frontier)
        return 0;
    uint32_t count = s->frontier - *first;
    count = count < threads ? count : threads;
    return count >= PW_WARP_LANES ? PW_ALL_LANES : (1U << count) - 1;
}

static void resolve_level(void *state)
{
    struct search *s = state;
    const struct pair *nodes = s->nodes.data, *edges = s->edges.data;
    const int32_t *queue = s->from.data;
    uint32_t ctas = ctas_of(s), warps = warps_per_cta(s), found = 0;
    for (uint32_t warp = 0; warp < ctas * warps; warp++) {
        uint32_t first, mask = lanes_of(s, warp / warps, warp % warps, &first);
        s->first[warp] = found;
        for (int32_t i = 0; mask; i++)
            PW_FOR_LANES(lane, mask)
            {
                struct pair node = nodes[queue[first + lane]];
                if (i >= node.y) {
                    mask &= ~(1U << lane);
                    continue;
                }
                uint32_t edge = (uint32_t)(node.x + i), *winner = &s->winner[edges[edge].x];
                if (!*winner) {
                    *winner = edge + 1;
                    found++;
                }
            }
    }
    s->first[ctas * warps] = found;
}

/* Visits edge i of every lane's node; returns how many nodes this warp has put into the queue so far. */
static uint32_t visit_edges(struct pw_warp *w, const struct search *s, uint32_t mask, const uint64_t edge[],
                            uint32_t pushed)
{
    const struct pair *edges = s->edges.data;
    int32_t *cost = s->cost.data, *color = s->color.data;
    int32_t *next = (int32_t *)s->to.data + s->first[w->cta_index * warps_per_cta(s) + w->index];
    uint64_t id[PW_WARP_LANES];
    uint32_t won = 0;
    PW_FOR_LANES(lane, mask)
    {
        id[lane] = (uint32_t)edges[edge[lane]].x;
        won |= (uint32_t)(s->winner[id[lane]] == edge[lane] + 1) << lane;
    }
    pw_compute(w, 2);
    pw_load_lanes(w, mask, &s->edges, edge);
    pw_use(w);
    pw_compute(w, 3);
    pw_atomic_return_lanes(w, mask, &s->cost, id);
    pw_use(w);
    pw_compute(w, 2);
    if (won) {
        pw_compute(w, 1);
        pw_load_lanes(w, won, &s->color, id);
        pw_use(w);
        pw_compute(w, 2);
        pw_atomic_return_lanes(w, won, &s->color, id);
        pw_use(w);
        pw_compute(w, 8);
        PW_FOR_LANES(lane, won)
        {
            cost[id[lane]] = s->level + 1;
            color[id[lane]] = s->level % 2 ? GRAY1 : GRAY0;
            next[pushed++] = (int32_t)id[lane];
        }
    }
    pw_compute(w, 3);
    return pushed;
}

static void expand(struct pw_warp *w, const struct search *s)
{
    const struct pair *nodes = s->nodes.data;
    const int32_t *queue = s->from.data;
    int32_t *color = s->color.data;
    uint32_t first, mask = lanes_of(s, w->cta_index, w->index, &first);
    if (!mask)
        return;
    uint64_t node[PW_WARP_LANES], edge[PW_WARP_LANES], end[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        node[lane] = (uint32_t)queue[first + lane];
        edge[lane] = (uint32_t)nodes[node[lane]].x;
        end[lane] = edge[lane] + (uint32_t)nodes[node[lane]].y;
        color[node[lane]] = BLACK;
    }
    pw_compute(w, 2);
    pw_load_run(w, mask, &s->from, first);
    pw_use(w);
    pw_compute(w, 3);
    pw_store_lanes(w, mask, &s->color, node);
    pw_load_lanes(w, mask, &s->cost, node);
    pw_load_lanes(w, mask, &s->nodes, node);
    pw_use(w);
    pw_compute(w, 4);
    for (uint32_t pushed = 0;;) {
        PW_FOR_LANES(lane, mask)
        if (edge[lane] == end[lane])
            mask &= ~(1U << lane);
        if (!mask)
            return;
        pushed = visit_edges(w, s, mask, edge, pushed);
        PW_FOR_LANES(lane, mask)
        edge[lane]++;
    }
}

static void bfs_kernel(struct pw_warp *w, const void *arguments)
{
    const struct search *s = arguments;
    pw_compute(w, 6);
    pw_barrier(w);
    expand(w, s);
    pw_barrier(w);
    if (!w->index) {
        pw_compute(w, 2);
        pw_atomic_return_run(w, 1, &s->tail, 0);
        pw_use(w);
        pw_compute(w, 1);
    }
    pw_barrier(w);

    uint32_t warps = warps_per_cta(s);
    uint32_t shift = s->first[w->cta_index * warps], count = s->first[(w->cta_index + 1) * warps] - shift;
    pw_compute(w, 4);
    for (uint32_t at = pw_first_thread(w); at < count; at += s->threads) {
        pw_compute(w, 3);
        pw_store_run(w, pw_lanes_below(w, at, count), &s->to, shift + (int64_t)at);
        pw_compute(w, 3);
    }
}

static void fill(struct pw_host *h, struct search *s, const struct pw_graph *g, uint32_t source)
{
    struct pair *nodes = s->nodes.data, *edges = s->edges.data;
    int32_t *color = s->color.data, *cost = s->cost.data;
    for (uint32_t v = 0; v < g->nodes; v++) {
        nodes[v] = (struct pair){(int32_t)g->first[v], (int32_t)(g->first[v + 1] - g->first[v])};
        color[v] = WHITE;
        cost[v] = NEVER_REACHED;
    }
    for (uint64_t e = 0; e < g->edges; e++)
        edges[e] = (struct pair){(int32_t)g->target[e], 1};
    s->winner = pw_host_keep(h, g->nodes * sizeof *s->winner);
    s->first = pw_host_keep(h, (g->nodes / PW_WARP_LANES + 64) * sizeof *s->first);
    s->winner[source] = UINT32_MAX;
    cost[source] = 0;
    *(int32_t *)s->from.data = (int32_t)source;
    s->frontier = 1;
}

static void bfs_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t nodes = pw_host_scaled(h, p->nodes, 1);
    if (nodes > INT32_MAX || nodes * 2 * p->degree > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: nodes * degree is at most 1G");
    uint64_t seed = pw_random_next(pw_host_random(h));
    struct pw_graph g = pw_graph_make(h, p->kind, (uint32_t)nodes, p->degree, seed);
    uint32_t source = 0;
    while (source + 1 < g.nodes && g.first[source] == g.first[source + 1])
        source++;

    struct search s = {.nodes = pw_alloc(h, "nodes", g.nodes, sizeof(struct pair)),
                       .edges = pw_alloc(h, "edges", g.edges, sizeof(struct pair)),
                       .color = pw_alloc(h, "color", g.nodes, sizeof(int32_t)),
                       .cost = pw_alloc(h, "cost", g.nodes, sizeof(int32_t)),
                       .from = pw_alloc(h, "q1", g.nodes, sizeof(int32_t)),
                       .to = pw_alloc(h, "q2", g.nodes, sizeof(int32_t)),
                       .tail = pw_alloc(h, "tail", 1, sizeof(int32_t))};
    fill(h, &s, &g, source);
    for (s.level = 0; s.frontier; s.level++) {
        s.threads = s.frontier < MIN_THREADS ? MIN_THREADS : s.frontier > CTA_THREADS ? CTA_THREADS : s.frontier;
        uint32_t ctas = ctas_of(&s);
        pw_launch(h, &(struct pw_launch){.name = "BFS_kernel",
                                         .grid = {ctas, 1, 1},
                                         .block = {s.threads, 1, 1},
                                         .shared_bytes = (QUEUE_ENTRIES + 2) * sizeof(int32_t),
                                         .registers = 20,
                                         .kernel = bfs_kernel,
                                         .arguments = &s,
                                         .resolve = resolve_level,
                                         .resolve_state = &s});
        s.frontier = s.first[ctas * warps_per_cta(&s)];
        pw_swap_arrays(&s.from, &s.to);
    }
    if (pw_host_verifying(h))
        pw_graph_expect_levels(h, &g, source, s.cost.data, NEVER_REACHED);
}

static const struct pw_option rows[] = {
    {"nodes", PW_OPTION_COUNT, offsetof(struct parameters, nodes), 1, INT32_MAX, "1M", "nodes", NULL,
     "nodes of the graph", false},
    {"degree", PW_OPTION_COUNT, offsetof(struct parameters, degree), 1, 4096, "6", "edges", NULL,
     "mean number of edges of a node (a grid has 4)", false},
    {"kind", PW_OPTION_CHOICE, offsetof(struct parameters, kind), 0, 0, "uniform", "", pw_graph_kinds,
     "uniform, rmat (power law) or grid", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "nodes=1000000"}, {0}};

const struct pw_workload pw_workload_bfs2 = {
    .name = "BFS2",
    .suite = "Parboil",
    .papers = "mosaic mask",
    .summary = "breadth-first search with frontier queues and atomics",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = bfs_main,
};
