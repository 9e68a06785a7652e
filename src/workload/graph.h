/* Directed graphs in compressed sparse rows, made from a seed.
 *
 * uniform: degrees uniform over 1 to 2 * degree - 1, targets uniform over all nodes. rmat: nodes * degree edges placed
 * by recursive quadrants (0.57, 0.19, 0.19, 0.05), a power-law graph with hubs. grid: a square of 4-neighbour cells,
 * where `degree` has no meaning. */
#ifndef PW_WORKLOAD_GRAPH_H
#define PW_WORKLOAD_GRAPH_H

#include "workload/host.h"

enum pw_graph_kind { PW_GRAPH_UNIFORM, PW_GRAPH_RMAT, PW_GRAPH_GRID };
extern const char *const pw_graph_kinds[]; /* names, for an option row */

struct pw_graph {
    uint32_t nodes;
    uint64_t edges;
    uint64_t *first;  /* edges of node v: first[v] to first[v + 1] */
    uint32_t *target; /* by edge */
};

/* Makes a graph that lives as long as the program. `nodes` is rounded down to a square for a grid. */
struct pw_graph pw_graph_make(struct pw_host *h, enum pw_graph_kind kind, uint32_t nodes, uint32_t degree,
                              uint64_t seed);

#endif
