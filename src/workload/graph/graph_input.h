/* The parameters by which a program gets its graph: made from the seed, or read from a file. */
#ifndef PW_WORKLOAD_GRAPH_INPUT_H
#define PW_WORKLOAD_GRAPH_INPUT_H

#include "workload/graph/graph.h"

/* First member of the parameters of such a workload. */
struct pw_graph_input {
    uint32_t nodes, degree, kind, format;
    char graph[PW_OPTION_TEXT_CAPACITY];
};

#define PW_GRAPH_INPUT_ROWS(default_nodes, default_degree, default_kind)                                               \
    {"nodes",                                                                                                          \
     PW_OPTION_COUNT,                                                                                                  \
     offsetof(struct pw_graph_input, nodes),                                                                           \
     1,                                                                                                                \
     INT32_MAX,                                                                                                        \
     default_nodes,                                                                                                    \
     "nodes",                                                                                                          \
     NULL,                                                                                                             \
     "nodes of a graph made from the seed",                                                                            \
     false},                                                                                                           \
        {"degree",                                                                                                     \
         PW_OPTION_COUNT,                                                                                              \
         offsetof(struct pw_graph_input, degree),                                                                      \
         1,                                                                                                            \
         4096,                                                                                                         \
         default_degree,                                                                                               \
         "edges",                                                                                                      \
         NULL,                                                                                                         \
         "mean number of edges of a node of such a graph (a grid has 4, a mesh 6)",                                    \
         false},                                                                                                       \
        {"kind",                                                                                                       \
         PW_OPTION_CHOICE,                                                                                             \
         offsetof(struct pw_graph_input, kind),                                                                        \
         0,                                                                                                            \
         0,                                                                                                            \
         default_kind,                                                                                                 \
         "",                                                                                                           \
         pw_graph_kinds,                                                                                               \
         "uniform, rmat (power law), grid, graphgen (as Rodinia's), mesh3d, cliques (co-authors) or random (pairs)",   \
         false},                                                                                                       \
        {"graph", PW_OPTION_TEXT, offsetof(struct pw_graph_input, graph), 0,    0, "",                                 \
         "file",  NULL,           "file with a graph to use instead",     false},                                      \
    {                                                                                                                  \
        "format", PW_OPTION_CHOICE, offsetof(struct pw_graph_input, format), 0, 0, "auto", "", pw_graph_formats,       \
            "of the file", false                                                                                       \
    }

/* The graph, made (with the seed that the program's stream gives next) or read. Its nodes and edges are numbered by
 * ints, as in the originals; a graph that does not allow that ends the program. */
struct pw_graph pw_graph_of(struct pw_host *h, const struct pw_graph_input *input);

/* The same with so many nodes when it is made, for programs that scale them in their own way. */
struct pw_graph pw_graph_with(struct pw_host *h, const struct pw_graph_input *input, uint64_t nodes);

/* The same as an undirected graph (pw_graph_undirected), whatever it was. */
struct pw_graph pw_graph_undirected_of(struct pw_host *h, const struct pw_graph_input *input);

/* Sees to it that the graph has weights that are whole numbers from 0 to `most`: those of the file, or else some
 * between 1 and 100 (with the seed that the program's stream gives next). Others end the program. */
void pw_graph_need_weights(struct pw_host *h, struct pw_graph *g, uint32_t most);

#endif
