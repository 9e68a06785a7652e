/* DIMACS files: shortest paths (9th challenge, .gr) and colouring or cliques (2nd challenge, .col, .clq).
 *
 *     c COMMENT
 *     p sp NODES ARCS          a FROM TO WEIGHT     directed, weighted, exactly ARCS of them
 *     p edge NODES EDGES       e ONE OTHER          undirected; also `p col` and `p clq`
 *
 * Nodes count from 1. EDGES of the second kind is not checked: files in circulation count an edge once, twice or
 * otherwise. Their lines n, d, v and x describe nodes and how the graph was made, and are passed over. */
#include "workload/graph/graph_read.h"

#include <string.h>

struct problem {
    bool known, arcs;
    uint64_t edges; /* announced */
};

static enum pw_status read_problem(struct pw_graph_reader *r, struct problem *p)
{
    char kind[16];
    if (p->known)
        return pw_graph_fail(r, "a second line p");
    pw_graph_word(r, kind, sizeof kind);
    p->known = true;
    p->arcs = r->weighted = !strcmp(kind, "sp");
    if (!p->arcs && strcmp(kind, "edge") != 0 && strcmp(kind, "col") != 0 && strcmp(kind, "clq") != 0)
        return pw_graph_fail(r, "problem '%s' is not sp, edge, col or clq", kind);
    enum pw_status status = pw_graph_nodes(r);
    if (status == PW_OK)
        status = pw_graph_number(r, "the number of edges", &p->edges);
    return status == PW_OK ? pw_graph_next_line(r) : status;
}

static enum pw_status read_edge(struct pw_graph_reader *r, bool arc)
{
    uint32_t from, to;
    double weight = 0;
    enum pw_status status = pw_graph_node(r, 1, &from);
    if (status == PW_OK)
        status = pw_graph_node(r, 1, &to);
    if (status == PW_OK && arc)
        status = pw_graph_weight(r, "an arc's weight", &weight);
    if (status == PW_OK)
        status = arc ? pw_graph_append(r, from, to, weight) : pw_graph_append_both(r, from, to, weight);
    return status == PW_OK ? pw_graph_next_line(r) : status;
}

static enum pw_status read_line(struct pw_graph_reader *r, struct problem *p)
{
    char kind[16];
    pw_graph_word(r, kind, sizeof kind);
    if (!strcmp(kind, "p"))
        return read_problem(r, p);
    if (!strcmp(kind, "a") || !strcmp(kind, "e")) {
        if (!p->known)
            return pw_graph_fail(r, "an edge before the line p");
        if (p->arcs != (*kind == 'a'))
            return pw_graph_fail(r, "this problem has lines %s, not %s", p->arcs ? "a" : "e", kind);
        return read_edge(r, p->arcs);
    }
    if (kind[0] && !kind[1] && strchr("ndvx", kind[0])) {
        pw_graph_skip_line(r);
        return PW_OK;
    }
    return pw_graph_fail(r, "a line begins with '%s' instead of c, p, a or e", kind);
}

enum pw_status pw_graph_read_dimacs(struct pw_graph_reader *r)
{
    struct problem p = {0};
    enum pw_status status = PW_OK;
    while (status == PW_OK && pw_graph_find_line(r, 'c'))
        status = read_line(r, &p);
    if (status)
        return status;
    if (!p.known)
        return pw_graph_fail(r, "there is no line p");
    if (p.arcs && p.edges != r->edges)
        return pw_graph_fail(r, "%llu arcs are announced, but there are %llu", (unsigned long long)p.edges,
                             (unsigned long long)r->edges);
    return PW_OK;
}
