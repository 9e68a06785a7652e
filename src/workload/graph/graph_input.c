/* A program's graph, by its parameters. */
#include "workload/graph/graph_input.h"

#include <math.h>

enum { MADE_WEIGHTS = 100 };

static void check_size(struct pw_host *h, const struct pw_graph *g)
{
    if (g->nodes > INT32_MAX || g->edges > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: nodes and edges must be below 2G");
}

struct pw_graph pw_graph_with(struct pw_host *h, const struct pw_graph_input *input, uint64_t nodes)
{
    struct pw_graph g;
    if (input->graph[0])
        g = pw_graph_load(h, input->graph, input->format);
    else {
        if (nodes > INT32_MAX || nodes * 2 * input->degree > INT32_MAX)
            pw_host_fail(h, "the original's indices are ints: nodes * degree is at most 1G");
        g = pw_graph_make(h, input->kind, (uint32_t)nodes, input->degree, pw_random_next(pw_host_random(h)));
    }
    check_size(h, &g);
    return g;
}

struct pw_graph pw_graph_of(struct pw_host *h, const struct pw_graph_input *input)
{
    return pw_graph_with(h, input, pw_host_scaled(h, input->nodes, 1));
}

struct pw_graph pw_graph_undirected_of(struct pw_host *h, const struct pw_graph_input *input)
{
    struct pw_graph g = pw_graph_of(h, input), both = pw_graph_undirected(h, &g);
    check_size(h, &both);
    return both;
}

void pw_graph_need_weights(struct pw_host *h, struct pw_graph *g, uint32_t most)
{
    uint64_t seed = pw_random_next(pw_host_random(h));
    if (!g->weight)
        pw_graph_weigh(h, g, MADE_WEIGHTS, seed);
    for (uint64_t e = 0; e < g->edges; e++)
        if (!(g->weight[e] >= 0 && g->weight[e] <= (float)most && g->weight[e] == truncf(g->weight[e])))
            pw_host_fail(h, "weights must be whole numbers from 0 to %u", most);
}
