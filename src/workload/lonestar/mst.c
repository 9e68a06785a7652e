/* mst: weight of a minimum spanning tree (of a forest, where the graph has several parts) by Boruvka's algorithm, of
 * LonestarGPU 2.0.
 *
 * Kept: the graph with its indirection (degree, number of a node, first edge, all loaded anew for every edge), edges
 * counted from 1; components as a forest in which every search for a root asks by compare-and-swap whether an element
 * is its own boss, and shortens the way; per iteration the kernels that reset, that find every node's least edge to
 * another component and tell the component's root, that elect a node per component which has that edge, that see
 * whether it does, and that join components, repeated until no join has failed; iterations until no components are
 * joined. One thread per node in CTAs of 256, but for the last kernel: one CTA of 384 for each of 16 SMs, whose threads
 * go from node to node. Arrays and element sizes.
 * Changed: searches see the forest as it was when the launch began and, in the last kernel, what earlier rounds have
 * joined, but no ways shortened since. What depends on the order of warps (who tells a root of a smaller weight, who is
 * elected, which joins fail because a component has been joined in the same round) is decided once per launch, in the
 * order of nodes. The last kernel has a barrier of the CTA where the original has one of the whole grid. The graph is
 * undirected, whatever it was; nodes are not renumbered.
 * The default is like coAuthorsDBLP: the paper says that its graph programs run on author networks. */
#include "workload/lonestar/mst.h"

#include <stdlib.h>
#include <string.h>

enum { CTA_THREADS = 256, JOIN_THREADS = 384, JOIN_CTAS = 16, MOST_WEIGHT = 1 << 24 };

struct parameters {
    struct pw_graph_input input;
    uint32_t iterations;
};

static void remember(void *state)
{
    struct pw_mst *m = state;
    memcpy(m->before, m->boss.data, m->nodes * sizeof *m->before);
    memset(m->joined_in, 0xff, m->nodes * sizeof *m->joined_in);
}

/* The least weight of a node's edges to other components. */
static uint32_t least_of(const struct pw_mst *m, uint32_t v)
{
    const uint32_t *first = m->first.data, *out = m->out.data, *weight = m->weight.data, *target = m->target.data;
    uint32_t least = PW_MST_INFINITY, root = pw_mst_root(m, v, 0);
    for (uint32_t e = first[v]; e < first[v] + out[v]; e++)
        if (weight[e] < least && pw_mst_root(m, target[e], 0) != root)
            least = weight[e];
    return least;
}

/* Lanes of a warp look together, before any of them tells. */
static void resolve_least(void *state)
{
    struct pw_mst *m = state;
    uint32_t *of_component = m->component_least.data, least[PW_WARP_LANES];
    remember(m);
    for (uint32_t first = 0; first < m->nodes; first += PW_WARP_LANES) {
        uint32_t count = m->nodes - first < PW_WARP_LANES ? m->nodes - first : PW_WARP_LANES;
        for (uint32_t i = 0; i < count; i++) {
            least[i] = least_of(m, first + i);
            m->informs[first + i] = least[i] < of_component[pw_mst_root(m, first + i, 0)];
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t *there = &of_component[pw_mst_root(m, first + i, 0)];
            *there = least[i] < *there ? least[i] : *there;
        }
    }
}

static void resolve_leaders(void *state)
{
    struct pw_mst *m = state;
    const uint32_t *least = m->least.data, *of_component = m->component_least.data, *partner = m->partner.data;
    uint32_t *leader = m->leader.data;
    remember(m);
    for (uint32_t v = m->nodes; v-- > 0;) {
        uint32_t root = pw_mst_root(m, v, 0);
        if (least[v] == of_component[root] && partner[v] != root && partner[v] != m->nodes)
            leader[root] = v;
    }
}

/* A chosen edge joins the components that it connects, if no edge of the same round has joined one of them before. */
static void resolve_join(struct pw_mst *m, uint32_t v, uint32_t round)
{
    uint32_t *boss = m->boss.data, *size = m->size.data, *least = m->least.data, *partner = m->partner.data;
    uint32_t one = pw_mst_root(m, v, round), two = pw_mst_root(m, partner[v], round);
    uint32_t low = one < two ? one : two, high = one < two ? two : one;
    m->outcome[v] = one == two                        ? PW_MST_SAME
                    : m->joined_in[one] != UINT32_MAX ? PW_MST_FIRST_IS_NO_ROOT
                    : m->joined_in[two] != UINT32_MAX ? PW_MST_SECOND_IS_NO_ROOT
                                                      : PW_MST_JOINED;
    if (m->outcome[v] == PW_MST_SAME)
        return;
    if (m->outcome[v] != PW_MST_JOINED) {
        *(uint8_t *)m->repeat.data = 1;
        return;
    }
    boss[low] = m->joined_to[low] = high;
    m->joined_in[low] = round;
    size[high] += size[low];
    --*(uint32_t *)m->components.data;
    *(uint32_t *)m->total.data += least[v];
    ++*(uint32_t *)m->joined.data;
    ((uint8_t *)m->chosen.data)[v] = 0;
    least[v] = PW_MST_INFINITY;
}

/* By rounds, in each of which all threads look for roots before any joins components. */
static void resolve_joins(void *state)
{
    struct pw_mst *m = state;
    const uint8_t *chosen = m->chosen.data;
    uint32_t *boss = m->boss.data, *partner = m->partner.data, threads = JOIN_CTAS * JOIN_THREADS;
    remember(m);
    memset(m->outcome, PW_MST_NOT_CHOSEN, m->nodes);
    for (uint32_t first = 0, round = 1; first < m->nodes; first += threads, round++) {
        uint32_t end = m->nodes - first < threads ? m->nodes : first + threads;
        for (uint32_t v = first; v < end; v++)
            if (chosen[v]) {
                boss[v] = pw_mst_root(m, v, round);
                boss[partner[v]] = pw_mst_root(m, partner[v], round);
            }
        for (uint32_t v = first; v < end; v++)
            if (chosen[v])
                resolve_join(m, v, round);
    }
}

static struct pw_mst allocate(struct pw_host *h, const struct pw_graph *g)
{
    uint32_t n = g->nodes, word = sizeof(uint32_t);
    return (struct pw_mst){.target = pw_alloc(h, "edgessrcdst", g->edges + 1, word),
                           .weight = pw_alloc(h, "edgessrcwt", g->edges + 1, word),
                           .first = pw_alloc(h, "psrc", (uint64_t)n + 1, word),
                           .out = pw_alloc(h, "noutgoing", n, word),
                           .in = pw_alloc(h, "nincoming", n, word),
                           .number = pw_alloc(h, "srcsrc", n, word),
                           .components = pw_alloc(h, "ncomponents", 1, word),
                           .size = pw_alloc(h, "complen", n, word),
                           .boss = pw_alloc(h, "ele2comp", n, word),
                           .total = pw_alloc(h, "mstwt", 1, word),
                           .least = pw_alloc(h, "eleminwts", n, word),
                           .component_least = pw_alloc(h, "minwtcomponent", n, word),
                           .partner = pw_alloc(h, "partners", n, word),
                           .locks = pw_alloc(h, "phores", n, word),
                           .chosen = pw_alloc(h, "processinnextiteration", n, 1),
                           .leader = pw_alloc(h, "goaheadnodeofcomponent", n, word),
                           .repeat = pw_alloc(h, "grepeat", 1, 1),
                           .joined = pw_alloc(h, "gedgecount", 1, word),
                           .nodes = n,
                           .before = pw_host_keep(h, n * sizeof(uint32_t)),
                           .joined_to = pw_host_keep(h, n * sizeof(uint32_t)),
                           .joined_in = pw_host_keep(h, n * sizeof(uint32_t)),
                           .informs = pw_host_keep(h, n * sizeof(bool)),
                           .outcome = pw_host_keep(h, n)};
}

static void fill(const struct pw_mst *m, const struct pw_graph *g)
{
    uint32_t *target = m->target.data, *weight = m->weight.data, *first = m->first.data, *number = m->number.data;
    uint32_t *out = m->out.data, *in = m->in.data;
    for (uint32_t v = 0; v < g->nodes; v++) {
        first[v] = (uint32_t)g->first[v] + 1;
        out[v] = in[v] = (uint32_t)(g->first[v + 1] - g->first[v]);
        number[v] = v;
    }
    first[g->nodes] = (uint32_t)g->edges + 1;
    for (uint64_t e = 0; e < g->edges; e++) {
        target[e + 1] = g->target[e];
        weight[e + 1] = (uint32_t)g->weight[e];
    }
    *(uint32_t *)m->components.data = g->nodes;
}

struct edge {
    uint32_t weight, from, to;
};

static int by_weight(const void *a, const void *b)
{
    const struct edge *one = a, *two = b;
    return (one->weight > two->weight) - (one->weight < two->weight);
}

static uint32_t top(uint32_t *up, uint32_t v)
{
    for (; up[v] != v; v = up[v])
        up[v] = up[up[v]];
    return v;
}

/* Kruskal's algorithm. An unfinished forest has so many edges of the tree, so it weighs no more than it. */
static void verify(struct pw_host *h, const struct pw_graph *g, const struct pw_mst *m, bool whole)
{
    struct edge *edges = pw_host_keep(h, g->edges * sizeof *edges);
    uint32_t *up = pw_host_keep(h, g->nodes * sizeof *up), parts = g->nodes, count = 0;
    uint32_t components = *(uint32_t *)m->components.data, weight = *(uint32_t *)m->total.data;
    uint64_t least = 0, expected = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        up[v] = v;
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (v < g->target[e])
                edges[count++] = (struct edge){(uint32_t)g->weight[e], v, g->target[e]};
    }
    qsort(edges, count, sizeof *edges, by_weight);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = top(up, edges[i].from), b = top(up, edges[i].to);
        if (a == b)
            continue;
        up[a] = b;
        expected += edges[i].weight;
        least += parts-- > components ? edges[i].weight : 0; /* as many edges, the lightest */
    }
    if (whole) {
        pw_host_expect(h, components == parts, "%u components for %u parts of the graph", components, parts);
        pw_host_expect(h, weight == (uint32_t)expected, "the tree weighs %u", weight);
    } else
        pw_host_expect(h, components >= parts && weight >= least && weight <= expected, "the forest weighs %u", weight);
}

static struct pw_launch launch_of(struct pw_mst *m, const char *name, pw_kernel_fn *kernel, uint32_t registers,
                                  void (*resolve)(void *state))
{
    return (struct pw_launch){.name = name,
                              .grid = {(m->nodes + CTA_THREADS - 1) / CTA_THREADS, 1, 1},
                              .block = {CTA_THREADS, 1, 1},
                              .registers = registers,
                              .kernel = kernel,
                              .arguments = m,
                              .resolve = resolve,
                              .resolve_state = m};
}

static void mst_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_undirected_of(h, &p->input);
    pw_graph_need_weights(h, &g, MOST_WEIGHT);
    struct pw_mst m = allocate(h, &g);
    fill(&m, &g);
    struct pw_launch forest = launch_of(&m, "dinitcs", pw_mst_init_forest_kernel, 12, NULL);
    struct pw_launch init = launch_of(&m, "dinit", pw_mst_init_kernel, 22, NULL);
    struct pw_launch least = launch_of(&m, "dfindelemin", pw_mst_find_least_kernel, 28, resolve_least);
    struct pw_launch leader = launch_of(&m, "dfindelemin2", pw_mst_find_leader_kernel, 28, resolve_leaders);
    struct pw_launch check = launch_of(&m, "verify_min_elem", pw_mst_verify_leader_kernel, 24, remember);
    struct pw_launch join = launch_of(&m, "dfindcompmintwo", pw_mst_join_components_kernel, 30, resolve_joins);
    join.grid.x = JOIN_CTAS;
    join.block.x = JOIN_THREADS;
    uint32_t *components = m.components.data, before = 0;
    uint8_t *repeat = m.repeat.data;
    pw_launch(h, &forest);
    for (uint32_t i = 0; *components != before && pw_host_pass(h, i, p->iterations); i++) {
        before = *components;
        *(uint32_t *)m.joined.data = 0;
        pw_launch(h, &init);
        pw_launch(h, &least);
        pw_launch(h, &leader);
        pw_launch(h, &check);
        do {
            *repeat = 0;
            pw_launch(h, &join);
        } while (*repeat);
    }
    if (pw_host_verifying(h))
        verify(h, &g, &m, *components == before);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("299067", "7", "cliques"),
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 0, 0, "0", "", NULL,
     "times that components are joined at most; 0: as often as it takes", false},
    {0},
};

const struct pw_workload pw_workload_mst = {
    .name = "mst",
    .suite = "LonestarGPU",
    .papers = "compression",
    .summary = "minimum spanning tree by joining components along their lightest edges",
    .parameters = rows,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = mst_main,
};
