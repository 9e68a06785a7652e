/* Graphs made from graphs: turned round, listed at both ends, weighed. */
#include "workload/graph/graph.h"

#include "workload/runtime/inputs.h"

#include <string.h>

struct pw_graph pw_graph_transposed(struct pw_host *h, const struct pw_graph *g)
{
    struct pw_graph t = {.nodes = g->nodes, .source = g->source, .edges = g->edges};
    t.first = pw_host_keep(h, ((size_t)g->nodes + 1) * sizeof *t.first);
    t.target = pw_host_keep(h, g->edges * sizeof *t.target);
    t.weight = g->weight ? pw_host_keep(h, g->edges * sizeof *t.weight) : NULL;
    for (uint64_t e = 0; e < g->edges; e++)
        t.first[g->target[e] + 1]++;
    for (uint32_t v = 0; v < g->nodes; v++)
        t.first[v + 1] += t.first[v];
    uint64_t *next = pw_host_keep(h, g->nodes * sizeof *next);
    memcpy(next, t.first, g->nodes * sizeof *next);
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            uint64_t at = next[g->target[e]]++;
            t.target[at] = v;
            if (t.weight)
                t.weight[at] = g->weight[e];
        }
    return t;
}

/* Lists an edge of the row that begins at `first`, in which targets ascend. */
static void list_edge(struct pw_graph *g, uint64_t first, uint32_t source, uint32_t target, float weight)
{
    if (target == source)
        return;
    if (g->edges > first && g->target[g->edges - 1] == target) {
        if (g->weight && weight < g->weight[g->edges - 1])
            g->weight[g->edges - 1] = weight;
        return;
    }
    g->target[g->edges] = target;
    if (g->weight)
        g->weight[g->edges] = weight;
    g->edges++;
}

struct pw_graph pw_graph_undirected(struct pw_host *h, const struct pw_graph *g)
{
    struct pw_graph in = pw_graph_transposed(h, g), out = pw_graph_transposed(h, &in);
    struct pw_graph both = {.nodes = g->nodes, .source = g->source};
    both.first = pw_host_keep(h, ((size_t)g->nodes + 1) * sizeof *both.first);
    both.target = pw_host_keep(h, 2 * g->edges * sizeof *both.target);
    both.weight = g->weight ? pw_host_keep(h, 2 * g->edges * sizeof *both.weight) : NULL;
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint64_t a = in.first[v], a_end = in.first[v + 1], b = out.first[v], b_end = out.first[v + 1];
        while (a < a_end || b < b_end) {
            bool from_in = b == b_end || (a < a_end && in.target[a] < out.target[b]);
            const struct pw_graph *from = from_in ? &in : &out;
            uint64_t e = from_in ? a++ : b++;
            list_edge(&both, both.first[v], v, from->target[e], from->weight ? from->weight[e] : 0);
        }
        both.first[v + 1] = both.edges;
    }
    return both;
}

void pw_graph_weigh(struct pw_host *h, struct pw_graph *g, uint32_t most, uint64_t seed)
{
    g->weight = pw_host_keep(h, g->edges * sizeof *g->weight);
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            uint64_t low = v < g->target[e] ? v : g->target[e], high = v < g->target[e] ? g->target[e] : v;
            g->weight[e] = (float)(1 + pw_hash_below(pw_hash(pw_hash(seed, low), high), most));
        }
}
