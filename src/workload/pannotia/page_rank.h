/* PageRank: Hetero-Mark's program, which page_rank:variant=heteromark runs in place of Pannotia's, and how both are
 * checked. */
#ifndef PW_WORKLOAD_PAGE_RANK_H
#define PW_WORKLOAD_PAGE_RANK_H

#include "workload/graph/graph.h"

/* A row of the matrix is a node of the graph, its columns the node's edges. */
void pw_page_rank_heteromark(struct pw_host *h, const struct pw_graph *g, uint32_t iterations);

/* Holds ranks against those of a plain implementation. */
void pw_page_rank_expect(struct pw_host *h, const float *rank, const double *expected, uint32_t nodes);

#endif
