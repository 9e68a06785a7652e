/* What mst's kernels (mst_kernels.c) and its host program (mst.c) share. */
#ifndef PW_WORKLOAD_MST_H
#define PW_WORKLOAD_MST_H

#include "workload/graph/graph_input.h"

enum { PW_MST_INFINITY = 1000000000 };

/* What becomes of a node whose edge may join two components: it has none, both ends are in the same component by now,
 * one of the components was joined to another in this launch, or the edge joins them. */
enum pw_mst_outcome {
    PW_MST_NOT_CHOSEN,
    PW_MST_SAME,
    PW_MST_FIRST_IS_NO_ROOT,
    PW_MST_SECOND_IS_NO_ROOT,
    PW_MST_JOINED
};

struct pw_mst {
    /* The graph: node v has out[v] edges, from first[number[v]] on (the original can renumber nodes); edges count from
     * 1 on. */
    struct pw_array target, weight, first, out, in, number;
    /* Components: a forest in which `boss` leads upwards, and roots are their own. */
    struct pw_array components, size, boss;
    /* Per node: the least weight of an edge that leaves its component, and which component that leads to; of a node
     * that is the root, its component's least weight and the node that has it. */
    struct pw_array total, least, component_least, partner, locks, chosen, leader, repeat, joined;
    uint32_t nodes;

    uint32_t *before; /* the forest when the launch began */
    /* Of a root that is joined to another in this launch: to which, and in which round of the last kernel, counted from
     * 1; UINT32_MAX: in none. */
    uint32_t *joined_to, *joined_in;
    bool *informs;    /* by node: the root's least weight was larger when the node looked */
    uint8_t *outcome; /* by node, enum pw_mst_outcome */
};

/* Who stands above a node in the forest as round `round` of a launch sees it, the joins of earlier rounds included; a
 * root is above itself. */
static inline uint32_t pw_mst_above(const struct pw_mst *m, uint32_t v, uint32_t round)
{
    return m->before[v] == v && m->joined_in[v] < round ? m->joined_to[v] : m->before[v];
}

static inline uint32_t pw_mst_root(const struct pw_mst *m, uint32_t v, uint32_t round)
{
    for (uint32_t above; (above = pw_mst_above(m, v, round)) != v;)
        v = above;
    return v;
}

pw_kernel_fn pw_mst_init_forest_kernel;     /* dinitcs */
pw_kernel_fn pw_mst_init_kernel;            /* dinit */
pw_kernel_fn pw_mst_find_least_kernel;      /* dfindelemin */
pw_kernel_fn pw_mst_find_leader_kernel;     /* dfindelemin2 */
pw_kernel_fn pw_mst_verify_leader_kernel;   /* verify_min_elem */
pw_kernel_fn pw_mst_join_components_kernel; /* dfindcompmintwo */

#endif
