/* Directed graphs in compressed sparse rows, made from a seed or read from a file.
 *
 * Made from a seed: uniform has degrees uniform over 1 to 2 * degree - 1 and targets uniform over all nodes. rmat
 * places nodes * degree edges by recursive quadrants (0.57, 0.19, 0.19, 0.05), a power-law graph with hubs. grid is a
 * square of 4-neighbour cells, mesh3d a cube of 6-neighbour cells, where `degree` has no meaning. graphgen follows the
 * generator that comes with Rodinia's bfs: every node picks a few partners, and both ends list the edge; at degree 6 it
 * picks 2 to 4, as the original's. cliques is like a network of co-authors (graph_cliques.c). random has nodes * degree
 * edges, each another pair of nodes, all pairs as likely, and a node's in ascending order.
 *
 * Read from a file: docs/graphs.md names the formats. An undirected format gives two directed edges. A node's edges
 * keep the order of the file, duplicates and self loops included. */
#ifndef PW_WORKLOAD_GRAPH_H
#define PW_WORKLOAD_GRAPH_H

#include "workload/runtime/host.h"

enum pw_graph_kind {
    PW_GRAPH_UNIFORM,
    PW_GRAPH_RMAT,
    PW_GRAPH_GRID,
    PW_GRAPH_GRAPHGEN,
    PW_GRAPH_MESH3D,
    PW_GRAPH_CLIQUES,
    PW_GRAPH_RANDOM
};
extern const char *const pw_graph_kinds[]; /* names, for an option row */

enum pw_graph_format {
    PW_GRAPH_AUTO, /* by content, and by the name's end where METIS and an edge list look alike */
    PW_GRAPH_RODINIA,
    PW_GRAPH_METIS,
    PW_GRAPH_DIMACS,
    PW_GRAPH_MATRIX_MARKET,
    PW_GRAPH_SNAP,
    PW_GRAPH_FORMAT_COUNT,
};
extern const char *const pw_graph_formats[]; /* names, for an option row: "auto", "rodinia", … */

struct pw_graph {
    uint32_t nodes;
    uint32_t source; /* where a search starts: as a Rodinia file says, otherwise 0 */
    uint64_t edges;
    uint64_t *first;  /* edges of node v: first[v] to first[v + 1] */
    uint32_t *target; /* by edge */
    float *weight;    /* by edge; NULL where the graph has none, as made ones */
};

/* Makes a graph that lives as long as the program. `nodes` is rounded down to a square for a grid, to a cube for a 3D
 * mesh. */
struct pw_graph pw_graph_make(struct pw_host *h, enum pw_graph_kind kind, uint32_t nodes, uint32_t degree,
                              uint64_t seed);

/* The edges of a graph of co-authors, into one that has its nodes and room for its rows. */
void pw_graph_make_cliques(struct pw_host *h, struct pw_graph *g, uint32_t degree, uint64_t seed);

/* Reads a graph that lives as long as the program; a file that does not parse ends it. There is at least one node. */
struct pw_graph pw_graph_load(struct pw_host *h, const char *path, enum pw_graph_format format);

/* The same without a program. A mistake in the file is a user error that begins with FILE:LINE. */
enum pw_status pw_graph_read(const char *path, enum pw_graph_format format, struct pw_graph *out, struct pw_error *err);
void pw_graph_free(struct pw_graph *g); /* one from pw_graph_read */

/* The graph with every edge turned round; a node's edges are in ascending order. */
struct pw_graph pw_graph_transposed(struct pw_host *h, const struct pw_graph *g);

/* The graph with every edge listed at both ends, once, in ascending order, and no self loops. Of the weights of edges
 * that become one, the least is kept. */
struct pw_graph pw_graph_undirected(struct pw_host *h, const struct pw_graph *g);

/* Gives a graph whole weights between 1 and `most` (at most 2^24), the same in both directions of an edge. */
void pw_graph_weigh(struct pw_host *h, struct pw_graph *g, uint32_t most, uint64_t seed);

/* Holds a search's result against a plain one: `level` has each node's distance from the source, `never` where there is
 * no way. */
void pw_graph_expect_levels(struct pw_host *h, const struct pw_graph *g, uint32_t source, const int32_t *level,
                            int32_t never);

/* A digest of the file's bytes. What a run computes depends on them, so they belong to a run's identity. */
enum pw_status pw_graph_digest(const char *path, uint64_t *out, struct pw_error *err);

#endif
