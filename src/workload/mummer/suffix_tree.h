/* Suffix trees of DNA, in the arrays that MUMmerGPU gives the GPU.
 *
 * The text is 's', the bases, '$': positions of bases start at 1. A node is the edge that leads to it, with the place
 * in the text where that edge's letters stand; the letters before it there are those of the path to its parent. Nodes
 * are numbered breadth first from the root, 1; number 0 is no node. */
#ifndef PW_WORKLOAD_SUFFIX_TREE_H
#define PW_WORKLOAD_SUFFIX_TREE_H

#include "workload/runtime/host.h"

enum { PW_SUFFIX_ROOT = 1, PW_SUFFIX_BASES = 4 };

struct pw_suffix_node {
    uint32_t parent, suffix; /* a leaf has no suffix link */
    uint32_t start, end;     /* of the edge, inclusive */
};

struct pw_suffix_children {
    uint32_t child[PW_SUFFIX_BASES]; /* for A, C, G, T; the leaf after a '$' is in nobody's list */
};

struct pw_suffix_tree;

/* 0 to 3, or 4 for every other letter. */
static inline unsigned pw_suffix_base(char letter)
{
    return letter == 'A' ? 0 : letter == 'C' ? 1 : letter == 'G' ? 2 : letter == 'T' ? 3 : 4;
}

/* The tree of 's', `bases` letters, '$' by Ukkonen's algorithm. The text is not copied. */
struct pw_suffix_tree *pw_suffix_tree_make(struct pw_host *h, const char *text, uint32_t bases);

/* Entries of both arrays, the unused number 0 included. */
uint32_t pw_suffix_tree_nodes(const struct pw_suffix_tree *t);

/* Fills both arrays, which must be zero. */
void pw_suffix_tree_lay_out(struct pw_host *h, const struct pw_suffix_tree *t, struct pw_suffix_node *nodes,
                            struct pw_suffix_children *children);

#endif
