/* bfs: breadth-first search of Rodinia, two launches per level over all nodes.
 *
 * Kept: one thread per node in CTAs of 512 (or as many threads as there are nodes); the first kernel, in which nodes of
 * the frontier walk their edges and mark whom they reach, the second, which makes the marked ones the next frontier and
 * sets a flag that the host reads to see whether there is another level; the arrays (a node is a pair of ints, masks
 * are of bytes), their order of allocation and of freeing. As the original's pointers may alias, a thread that has
 * written loads its node again before the next edge. Nothing depends on the order of warps: whoever reaches a node in
 * a level writes the same cost.
 * The graph comes from a file or from a seed, by default as Rodinia's own generator makes it. Like the original the
 * search begins at node 0, whatever the file says, unless `source` names another.
 * Instruction counts, loads in flight and registers are those of the kernels as nvcc 13 compiles them for sm_90. */
#include "workload/graph/graph_input.h"

enum { CTA_THREADS = 512, NOT_REACHED = -1 };

struct parameters {
    struct pw_graph_input input;
    uint32_t source;
};

struct node {
    int32_t first, count;
};

struct search {
    struct pw_array nodes, edges, frontier, reached, visited, cost, over;
    struct pw_array words; /* the nodes as single ints */
    uint64_t count;        /* of nodes */
};

/* Threads of a warp that have a node, and the first one's. */
static uint32_t locate(const struct pw_warp *w, const struct search *s, int64_t *first)
{
    uint64_t thread = (uint64_t)w->cta.x * CTA_THREADS + pw_first_thread(w);
    *first = (int64_t)thread;
    return pw_lanes_below(w, thread, s->count);
}

/* Lanes among `mask` whose byte is set. */
static uint32_t lanes_set(const struct pw_array *a, uint32_t mask, int64_t first)
{
    const uint8_t *bytes = a->data;
    uint32_t set = 0;
    PW_FOR_LANES(lane, mask)
    set |= (uint32_t)(bytes[first + lane] != 0) << lane;
    return set;
}

/* How both kernels begin: the lanes whose byte is set, and the first node of the warp. */
static uint32_t load_flags(struct pw_warp *w, const struct search *s, const struct pw_array *flags, int64_t *out_first)
{
    uint32_t mask = locate(w, s, out_first);
    pw_compute(w, 7);
    if (!mask)
        return 0;
    pw_compute(w, 5);
    pw_load_run(w, mask, flags, *out_first);
    pw_use(w);
    pw_compute(w, 2);
    return lanes_set(flags, mask, *out_first);
}

/* Marks the targets that nobody had visited before this level. */
static void reach(struct pw_warp *w, const struct search *s, uint32_t fresh, int64_t first, const uint64_t target[])
{
    int32_t *cost = s->cost.data;
    uint8_t *reached = s->reached.data;
    pw_load_run(w, fresh, &s->cost, first);
    pw_compute(w, fresh ? 8 : 13); /* the skipped accesses are issued too */
    pw_use(w);
    pw_compute(w, 1);
    pw_store_lanes(w, fresh, &s->cost, target);
    pw_store_lanes(w, fresh, &s->reached, target);
    pw_load_strided(w, fresh, &s->words, 2 * first + 1, 2);
    pw_load_strided(w, fresh, &s->words, 2 * first, 2);
    PW_FOR_LANES(lane, fresh)
    {
        cost[target[lane]] = cost[first + lane] + 1;
        reached[target[lane]] = 1;
    }
}

static void walk_edges(struct pw_warp *w, const struct search *s, uint32_t mask, int64_t first)
{
    const struct node *nodes = s->nodes.data;
    const int32_t *edges = s->edges.data;
    const uint8_t *visited = s->visited.data;
    uint64_t edge[PW_WARP_LANES] = {0}, target[PW_WARP_LANES] = {0};
    PW_FOR_LANES(lane, mask)
    edge[lane] = (uint64_t)nodes[first + lane].first;
    while (mask) {
        uint32_t fresh = 0;
        PW_FOR_LANES(lane, mask)
        {
            target[lane] = (uint64_t)edges[edge[lane]];
            fresh |= (uint32_t)!visited[target[lane]] << lane;
        }
        pw_load_lanes(w, mask, &s->edges, edge);
        pw_use(w);
        pw_compute(w, 3);
        pw_load_lanes(w, mask, &s->visited, target);
        pw_use(w);
        pw_compute(w, 1);
        reach(w, s, fresh, first, target);
        pw_compute(w, 3);
        pw_use(w);
        pw_compute(w, 3);
        PW_FOR_LANES(lane, mask)
        if (++edge[lane] == (uint64_t)nodes[first + lane].first + (uint64_t)nodes[first + lane].count)
            mask &= ~(1U << lane);
    }
}

static void visit_kernel(struct pw_warp *w, const void *arguments)
{
    const struct search *s = arguments;
    const struct node *nodes = s->nodes.data;
    uint8_t *frontier = s->frontier.data;
    int64_t first;
    uint32_t mask = load_flags(w, s, &s->frontier, &first);
    if (!mask)
        return;
    pw_compute(w, 1);
    pw_store_run(w, mask, &s->frontier, first);
    pw_compute(w, 2);
    pw_load_strided(w, mask, &s->words, 2 * first + 1, 2);
    pw_use(w);
    pw_compute(w, 2);
    uint32_t with_edges = 0;
    PW_FOR_LANES(lane, mask)
    {
        frontier[first + lane] = 0;
        with_edges |= (uint32_t)(nodes[first + lane].count > 0) << lane;
    }
    if (!with_edges)
        return;
    pw_load_strided(w, with_edges, &s->words, 2 * first, 2);
    pw_compute(w, 6);
    pw_use(w);
    pw_compute(w, 2);
    walk_edges(w, s, with_edges, first);
}

static void update_kernel(struct pw_warp *w, const void *arguments)
{
    const struct search *s = arguments;
    uint8_t *frontier = s->frontier.data, *reached = s->reached.data, *visited = s->visited.data;
    int64_t first;
    uint32_t mask = load_flags(w, s, &s->reached, &first);
    if (!mask)
        return;
    pw_compute(w, 8);
    pw_store_run(w, mask, &s->frontier, first);
    pw_store_run(w, mask, &s->visited, first);
    pw_store_strided(w, mask, &s->over, 0, 0);
    pw_store_run(w, mask, &s->reached, first);
    *(uint8_t *)s->over.data = 1;
    PW_FOR_LANES(lane, mask)
    {
        frontier[first + lane] = visited[first + lane] = 1;
        reached[first + lane] = 0;
    }
}

static struct search allocate(struct pw_host *h, const struct pw_graph *g)
{
    struct search s = {.nodes = pw_alloc(h, "g_graph_nodes", g->nodes, sizeof(struct node)),
                       .edges = pw_alloc(h, "g_graph_edges", g->edges ? g->edges : 1, sizeof(int32_t)),
                       .frontier = pw_alloc(h, "g_graph_mask", g->nodes, 1),
                       .reached = pw_alloc(h, "g_updating_graph_mask", g->nodes, 1),
                       .visited = pw_alloc(h, "g_graph_visited", g->nodes, 1),
                       .cost = pw_alloc(h, "g_cost", g->nodes, sizeof(int32_t)),
                       .over = pw_alloc(h, "g_over", 1, 1),
                       .count = g->nodes};
    s.words = s.nodes;
    s.words.count *= 2;
    s.words.element_bytes = sizeof(int32_t);
    return s;
}

static void fill(const struct search *s, const struct pw_graph *g, uint32_t source)
{
    struct node *nodes = s->nodes.data;
    int32_t *edges = s->edges.data, *cost = s->cost.data;
    for (uint32_t v = 0; v < g->nodes; v++) {
        nodes[v] = (struct node){(int32_t)g->first[v], (int32_t)(g->first[v + 1] - g->first[v])};
        cost[v] = NOT_REACHED;
    }
    for (uint64_t e = 0; e < g->edges; e++)
        edges[e] = (int32_t)g->target[e];
    cost[source] = 0;
    ((uint8_t *)s->frontier.data)[source] = ((uint8_t *)s->visited.data)[source] = 1;
}

static void bfs_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_of(h, &p->input);
    if (p->source >= g.nodes)
        pw_host_fail(h, "source must be below the number of nodes, %u", g.nodes);
    struct search s = allocate(h, &g);
    fill(&s, &g, p->source);

    uint32_t threads = g.nodes < CTA_THREADS ? g.nodes : CTA_THREADS;
    struct pw_launch visit = {.name = "Kernel",
                              .grid = {(g.nodes + threads - 1) / threads, 1, 1},
                              .block = {threads, 1, 1},
                              .registers = 22,
                              .pace = 4789,
                              .kernel = visit_kernel,
                              .arguments = &s};
    struct pw_launch update = visit;
    update.name = "Kernel2";
    update.registers = 12;
    update.pace = 4826;
    update.kernel = update_kernel;
    uint8_t *over = s.over.data;
    do {
        *over = 0;
        pw_launch(h, &visit);
        pw_launch(h, &update);
    } while (*over);
    if (pw_host_verifying(h))
        pw_graph_expect_levels(h, &g, p->source, s.cost.data, NOT_REACHED);
    struct pw_array *const in_order[] = {&s.nodes, &s.edges, &s.frontier, &s.reached, &s.visited, &s.cost, &s.over};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("262144", "6", "graphgen"),
    {"source", PW_OPTION_COUNT, offsetof(struct parameters, source), 0, INT32_MAX, "0", "", NULL,
     "node where the search begins", false},
    {0},
};

static const struct pw_preset presets[] = {{"uvm", "nodes=262144:degree=6:kind=graphgen"}, {0}};

const struct pw_workload pw_workload_bfs = {
    .name = "bfs",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = "bfs: breadth-first search with masks, two sweeps over all nodes per level",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = bfs_main,
};
