/* The text format of Rodinia's bfs (GraphFormat.txt there), numbers separated by any white space:
 *
 *     NODES
 *     FIRST_EDGE EDGES     for every node, from 0
 *     SOURCE
 *     EDGES
 *     TARGET COST          for every edge
 *
 * Nodes must own their edges one after the other, as every file that the suite's generator writes has them. Rodinia's
 * programs read the source and then search from 0; whoever uses the graph decides. */
#include "workload/graph/graph_read.h"

#include <stdlib.h>
#include <string.h>

static enum pw_status next_number(struct pw_graph_reader *r, const char *what, uint64_t *out)
{
    pw_graph_skip_space(r);
    return pw_graph_number(r, what, out);
}

/* Where the edges of each node end, into memory that grows with the file. */
static enum pw_status read_nodes(struct pw_graph_reader *r, uint64_t **out_ends)
{
    uint64_t *ends = NULL, capacity = 0, end = 0;
    enum pw_status status = PW_OK;
    for (uint64_t v = 0; status == PW_OK && v < r->nodes; v++) {
        if (v == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            uint64_t *larger = realloc(ends, capacity * sizeof *ends);
            if (!larger) {
                status = pw_fail_memory(r->err, "the nodes of a graph");
                break;
            }
            ends = larger;
            memset(ends + v, 0, (capacity - v) * sizeof *ends);
        }
        uint64_t first, count = 0;
        status = next_number(r, "a node's first edge", &first);
        if (status == PW_OK && first != end)
            status = pw_graph_fail(r, "node %llu begins at edge %llu, but the nodes before it end at %llu",
                                   (unsigned long long)v, (unsigned long long)first, (unsigned long long)end);
        if (status == PW_OK)
            status = next_number(r, "a node's number of edges", &count);
        if (status == PW_OK && __builtin_add_overflow(end, count, &end))
            status = pw_graph_fail(r, "node %llu has too many edges", (unsigned long long)v);
        ends[v] = end;
    }
    *out_ends = ends;
    return status;
}

static enum pw_status read_edges(struct pw_graph_reader *r, const uint64_t *ends, uint64_t edges)
{
    enum pw_status status = PW_OK;
    uint32_t source = 0, target;
    double cost;
    for (uint64_t e = 0; status == PW_OK && e < edges; e++) {
        while (ends[source] <= e)
            source++;
        pw_graph_skip_space(r);
        status = pw_graph_node(r, 0, &target);
        if (status == PW_OK) {
            pw_graph_skip_space(r);
            status = pw_graph_weight(r, "an edge's cost", &cost);
        }
        if (status == PW_OK)
            status = pw_graph_append(r, source, target, cost);
    }
    return status;
}

static enum pw_status read_rest(struct pw_graph_reader *r, const uint64_t *ends)
{
    uint64_t edges;
    pw_graph_skip_space(r);
    enum pw_status status = pw_graph_node(r, 0, &r->first_node);
    if (status == PW_OK)
        status = next_number(r, "the number of edges", &edges);
    if (status == PW_OK && edges != ends[r->nodes - 1])
        status = pw_graph_fail(r, "%llu edges are announced, but the nodes have %llu", (unsigned long long)edges,
                               (unsigned long long)ends[r->nodes - 1]);
    if (status == PW_OK)
        status = read_edges(r, ends, edges);
    pw_graph_skip_space(r);
    if (status == PW_OK && pw_graph_peek(r) >= 0)
        status = pw_graph_fail(r, "something follows after the last edge");
    return status;
}

enum pw_status pw_graph_read_rodinia(struct pw_graph_reader *r)
{
    uint64_t *ends = NULL;
    r->weighted = true;
    pw_graph_skip_space(r);
    enum pw_status status = pw_graph_nodes(r);
    if (status || !r->nodes)
        return status;
    status = read_nodes(r, &ends);
    if (status == PW_OK)
        status = read_rest(r, ends);
    free(ends);
    return status;
}
