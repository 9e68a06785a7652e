/* The graph format of METIS (manual of version 5, section 4.1.1) and of the 10th DIMACS challenge:
 *
 *     NODES EDGES [FMT [NCON]]
 *     [SIZE] [WEIGHT × NCON] (NEIGHBOUR [WEIGHT]) …     a line for every node, from 1
 *
 * The digits of FMT say which of node sizes, node weights and edge weights there are. An undirected edge stands in both
 * its nodes' lines and counts once; a self loop, which METIS itself forbids, may stand once. '%' begins a comment line.
 * An empty line is a node without edges. */
#include "workload/graph/graph_read.h"

struct header {
    uint64_t edges;
    uint64_t skipped; /* numbers of a line before its neighbours */
};

static enum pw_status read_header(struct pw_graph_reader *r, struct header *h)
{
    uint64_t format = 0, weights = 1;
    pw_graph_find_line(r, '%');
    enum pw_status status = pw_graph_nodes(r);
    if (status == PW_OK)
        status = pw_graph_number_below(r, "the number of edges", UINT64_C(1) << 62, &h->edges);
    if (status == PW_OK && !pw_graph_line_ends(r))
        status = pw_graph_number(r, "the format", &format);
    if (status == PW_OK && (format > 111 || format % 10 > 1 || format / 10 % 10 > 1))
        status = pw_graph_fail(r, "format %03llu is not made of three digits 0 or 1", (unsigned long long)format);
    if (status == PW_OK && !pw_graph_line_ends(r))
        status = pw_graph_number_below(r, "the number of node weights", 1 << 16, &weights);
    r->weighted = format % 10 == 1;
    h->skipped = format / 100 + (format / 10 % 10 ? weights : 0);
    return status == PW_OK ? pw_graph_next_line(r) : status;
}

/* The line of node v; counts self loops. */
static enum pw_status read_node(struct pw_graph_reader *r, const struct header *h, uint32_t v, uint64_t *loops)
{
    enum pw_status status = PW_OK;
    uint64_t ignored;
    for (uint64_t i = 0; status == PW_OK && i < h->skipped; i++)
        status = pw_graph_number(r, "a node's size or weight", &ignored);
    while (status == PW_OK && !pw_graph_line_ends(r)) {
        uint32_t target;
        double weight = 0;
        status = pw_graph_node(r, 1, &target);
        if (status == PW_OK && r->weighted)
            status = pw_graph_weight(r, "an edge's weight", &weight);
        if (status == PW_OK) {
            status = pw_graph_append(r, v, target, weight);
            *loops += target == v;
        }
    }
    return status;
}

enum pw_status pw_graph_read_metis(struct pw_graph_reader *r)
{
    struct header h = {0};
    uint64_t loops = 0, v = 0;
    enum pw_status status = read_header(r, &h);
    while (status == PW_OK && v < r->nodes) {
        int c = pw_graph_peek(r);
        if (c < 0)
            return pw_graph_fail(r, "the file ends after node %llu of %llu", (unsigned long long)v,
                                 (unsigned long long)r->nodes);
        if (c != '%')
            status = read_node(r, &h, (uint32_t)v++, &loops);
        if (status == PW_OK)
            pw_graph_skip_line(r);
    }
    if (status)
        return status;
    if (pw_graph_find_line(r, '%'))
        return pw_graph_fail(r, "something follows after node %llu, the last one", (unsigned long long)r->nodes);
    r->line = r->nodes_line;
    if (r->edges != 2 * h.edges && r->edges + loops != 2 * h.edges)
        return pw_graph_fail(r, "%llu edges are announced, but the nodes list %llu neighbours instead of twice that",
                             (unsigned long long)h.edges, (unsigned long long)r->edges);
    return PW_OK;
}
