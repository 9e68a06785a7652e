/* Graphs for programs: generators, and what graph_read.c has read. Every edge that is made is a hash of the seed and
 * its number, so that a graph depends on nothing else. */
#include "workload/graph/graph.h"

#include "workload/runtime/inputs.h"

#include <stdlib.h>
#include <string.h>

const char *const pw_graph_kinds[] = {"uniform", "rmat", "grid", "graphgen", "mesh3d", "cliques", "random", NULL};

static void make_uniform(struct pw_host *h, struct pw_graph *g, uint32_t degree, uint64_t seed)
{
    for (uint32_t v = 0; v < g->nodes; v++)
        g->first[v + 1] = g->first[v] + 1 + pw_hash_below(pw_hash(seed, v), 2 * (uint64_t)degree - 1);
    g->edges = g->first[g->nodes];
    g->target = pw_host_keep(h, g->edges * sizeof *g->target);
    for (uint64_t e = 0; e < g->edges; e++)
        g->target[e] = (uint32_t)pw_hash_below(pw_hash(~seed, e), g->nodes);
}

/* Edge number e: in each bit of source and target, a byte of hash picks the quadrant (of 256: 146, 49, 49, 12). Numbers
 * beyond the last node, when that is no power of two, are folded back. */
static void rmat_edge(uint64_t seed, uint64_t e, uint32_t nodes, uint32_t *source, uint32_t *target)
{
    uint64_t hash = 0, s = 0, t = 0;
    for (unsigned bit = 0; (nodes - 1) >> bit; bit++) {
        hash = bit % 8 ? hash >> 8 : pw_hash(seed + bit, e);
        unsigned draw = hash & 255;
        s = s << 1 | (draw >= 195);
        t = t << 1 | ((draw >= 146 && draw < 195) || draw >= 244);
    }
    *source = (uint32_t)(s % nodes);
    *target = (uint32_t)(t % nodes);
}

/* Edge number e of a matrix in which every pair of nodes is as likely, none drawn twice. */
static void random_edge(uint64_t seed, uint64_t e, uint32_t nodes, uint32_t *source, uint32_t *target)
{
    uint64_t position = pw_permuted(seed, e, (uint64_t)nodes * nodes);
    *source = (uint32_t)(position / nodes);
    *target = (uint32_t)(position % nodes);
}

/* Edges that come in no order: a node's are in that of their numbers. */
static void make_scattered(struct pw_host *h, struct pw_graph *g, uint32_t degree, uint64_t seed,
                           void (*edge)(uint64_t, uint64_t, uint32_t, uint32_t *, uint32_t *))
{
    g->edges = (uint64_t)g->nodes * degree;
    g->target = pw_host_keep(h, g->edges * sizeof *g->target);
    uint32_t source, target;
    for (uint64_t e = 0; e < g->edges; e++) {
        edge(seed, e, g->nodes, &source, &target);
        g->first[source + 1]++;
    }
    for (uint32_t v = 0; v < g->nodes; v++)
        g->first[v + 1] += g->first[v];
    uint64_t *next = pw_host_keep(h, g->nodes * sizeof *next);
    for (uint64_t e = 0; e < g->edges; e++) {
        edge(seed, e, g->nodes, &source, &target);
        g->target[g->first[source] + next[source]++] = target;
    }
}

static void make_grid(struct pw_host *h, struct pw_graph *g, uint32_t side)
{
    g->target = pw_host_keep(h, 4 * (size_t)g->nodes * sizeof *g->target);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t x = v % side, y = v / side;
        if (y)
            g->target[g->edges++] = v - side;
        if (x)
            g->target[g->edges++] = v - 1;
        if (x < side - 1)
            g->target[g->edges++] = v + 1;
        if (y < side - 1)
            g->target[g->edges++] = v + side;
        g->first[v + 1] = g->edges;
    }
}

static void make_mesh3d(struct pw_host *h, struct pw_graph *g, uint32_t side)
{
    g->target = pw_host_keep(h, 6 * (size_t)g->nodes * sizeof *g->target);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t x = v % side, y = v / side % side, z = v / side / side;
        const struct {
            bool there;
            uint32_t target;
        } neighbours[] = {{z > 0, v - side * side}, {y > 0, v - side},        {x > 0, v - 1},
                          {x < side - 1, v + 1},    {y < side - 1, v + side}, {z < side - 1, v + side * side}};
        for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++)
            if (neighbours[i].there)
                g->target[g->edges++] = neighbours[i].target;
        g->first[v + 1] = g->edges;
    }
}

/* How many partners a node picks, and which. Each is listed at both ends; so the mean degree is twice that of the
 * picks, which lie between a third and two thirds of `degree`. */
static uint32_t graphgen_picks(uint64_t seed, uint32_t v, uint32_t degree)
{
    uint32_t least = degree > 2 ? (degree + 1) / 3 : 1, most = degree > 1 ? degree - least : 1;
    return least + (uint32_t)pw_hash_below(pw_hash(seed, v), most - least + 1);
}

static uint32_t graphgen_partner(const struct pw_graph *g, uint64_t seed, uint32_t v, uint32_t pick)
{
    return (uint32_t)pw_hash_below(pw_hash(pw_hash(~seed, v), pick), g->nodes);
}

/* A node's list is in order of the picking nodes, as in the original, which appends to both lists in one sweep. */
static void make_graphgen(struct pw_host *h, struct pw_graph *g, uint32_t degree, uint64_t seed)
{
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint32_t picks = graphgen_picks(seed, v, degree), i = 0; i < picks; i++) {
            g->first[v + 1]++;
            g->first[graphgen_partner(g, seed, v, i) + 1]++;
        }
    for (uint32_t v = 0; v < g->nodes; v++)
        g->first[v + 1] += g->first[v];
    g->edges = g->first[g->nodes];
    g->target = pw_host_keep(h, g->edges * sizeof *g->target);
    uint64_t *next = pw_host_keep(h, g->nodes * sizeof *next);
    memcpy(next, g->first, g->nodes * sizeof *next);
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint32_t picks = graphgen_picks(seed, v, degree), i = 0; i < picks; i++) {
            uint32_t partner = graphgen_partner(g, seed, v, i);
            g->target[next[v]++] = partner;
            g->target[next[partner]++] = v;
        }
}

/* The largest number whose square, or cube, is at most `nodes`. */
static uint32_t side_of(uint32_t nodes, unsigned dimensions)
{
    for (uint64_t side = 1;; side++)
        if ((dimensions == 3 ? (side + 1) * (side + 1) * (side + 1) : (side + 1) * (side + 1)) > nodes)
            return (uint32_t)side;
}

struct pw_graph pw_graph_make(struct pw_host *h, enum pw_graph_kind kind, uint32_t nodes, uint32_t degree,
                              uint64_t seed)
{
    uint32_t side = side_of(nodes, kind == PW_GRAPH_MESH3D ? 3 : 2);
    struct pw_graph g = {.nodes = kind == PW_GRAPH_GRID     ? side * side
                                  : kind == PW_GRAPH_MESH3D ? side * side * side
                                                            : nodes};
    g.first = pw_host_keep(h, ((size_t)g.nodes + 1) * sizeof *g.first);
    if (kind == PW_GRAPH_UNIFORM)
        make_uniform(h, &g, degree, seed);
    else if (kind == PW_GRAPH_RMAT)
        make_scattered(h, &g, degree, seed, rmat_edge);
    else if (kind == PW_GRAPH_RANDOM) {
        make_scattered(h, &g, degree < nodes ? degree : nodes, seed, random_edge);
        g = pw_graph_transposed(h, &g); /* in ascending order */
    } else if (kind == PW_GRAPH_GRID)
        make_grid(h, &g, side);
    else if (kind == PW_GRAPH_MESH3D)
        make_mesh3d(h, &g, side);
    else if (kind == PW_GRAPH_CLIQUES)
        pw_graph_make_cliques(h, &g, degree, seed);
    else
        make_graphgen(h, &g, degree, seed);
    return g;
}

/* Copies memory into what the program keeps, and frees the original. */
static void *keep(struct pw_host *h, void *original, uint64_t bytes)
{
    void *copy = pw_host_keep(h, bytes);
    if (bytes)
        memcpy(copy, original, bytes);
    free(original);
    return copy;
}

struct pw_graph pw_graph_load(struct pw_host *h, const char *path, enum pw_graph_format format)
{
    struct pw_graph g;
    struct pw_error err;
    if (pw_graph_read(path, format, &g, &err))
        pw_host_fail(h, "%s", err.message);
    g.first = keep(h, g.first, ((uint64_t)g.nodes + 1) * sizeof *g.first);
    g.target = keep(h, g.target, g.edges * sizeof *g.target);
    if (g.weight)
        g.weight = keep(h, g.weight, g.edges * sizeof *g.weight);
    return g;
}

void pw_graph_expect_levels(struct pw_host *h, const struct pw_graph *g, uint32_t source, const int32_t *level,
                            int32_t never)
{
    int32_t *expected = pw_host_keep(h, g->nodes * sizeof *expected);
    uint32_t *queue = pw_host_keep(h, g->nodes * sizeof *queue);
    for (uint32_t v = 0; v < g->nodes; v++)
        expected[v] = never;
    expected[source] = 0;
    queue[0] = source;
    for (uint32_t read = 0, write = 1; read < write; read++)
        for (uint64_t e = g->first[queue[read]]; e < g->first[queue[read] + 1]; e++)
            if (expected[g->target[e]] == never) {
                expected[g->target[e]] = expected[queue[read]] + 1;
                queue[write++] = g->target[e];
            }
    uint32_t wrong = g->nodes;
    for (uint32_t v = g->nodes; v-- > 0;)
        if (level[v] != expected[v])
            wrong = v;
    pw_host_expect(h, wrong == g->nodes, "node %u is not at its level", wrong);
}
