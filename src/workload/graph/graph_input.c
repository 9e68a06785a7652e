/* A program's graph, by its parameters. */
#include "workload/graph/graph_input.h"

static void check_size(struct pw_host *h, const struct pw_graph *g)
{
    if (g->nodes > INT32_MAX || g->edges > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: nodes and edges must be below 2G");
}

struct pw_graph pw_graph_of(struct pw_host *h, const struct pw_graph_input *input)
{
    struct pw_graph g;
    if (input->graph[0])
        g = pw_graph_load(h, input->graph, input->format);
    else {
        uint64_t nodes = pw_host_scaled(h, input->nodes, 1);
        if (nodes > INT32_MAX || nodes * 2 * input->degree > INT32_MAX)
            pw_host_fail(h, "the original's indices are ints: nodes * degree is at most 1G");
        g = pw_graph_make(h, input->kind, (uint32_t)nodes, input->degree, pw_random_next(pw_host_random(h)));
    }
    check_size(h, &g);
    return g;
}

struct pw_graph pw_graph_undirected_of(struct pw_host *h, const struct pw_graph_input *input)
{
    struct pw_graph g = pw_graph_of(h, input), both = pw_graph_undirected(h, &g);
    check_size(h, &both);
    return both;
}
