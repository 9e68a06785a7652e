/* A bounding volume hierarchy over spheres, laid out for a GPU.
 *
 * A node holds the boxes of both its children, 64 bytes to be fetched in four loads of 16. Spheres are sorted along a
 * Morton curve over the ground; a node's children halve its run of spheres. Nodes lie in preorder, so that a left child
 * follows its parent and a subtree of k spheres is k - 1 nodes in a row; the tree is never deeper than the logarithm of
 * the number of spheres. Boxes have a margin for rounding, so that a ray which meets a sphere is not turned away above
 * it. */
#ifndef PW_WORKLOAD_BVH_H
#define PW_WORKLOAD_BVH_H

#include "workload/runtime/host.h"

struct pw_bvh_sphere {
    float x, y, z, radius;
};

struct pw_bvh_box {
    float low[3], high[3];
};

struct pw_bvh_node {
    struct pw_bvh_box box[2];
    int32_t child[2]; /* a node, or the complement of a sphere's number */
    int32_t unused[2];
};
_Static_assert(sizeof(struct pw_bvh_node) == 64, "four loads of 16 bytes");

enum { PW_BVH_MAX_SPHERES = 1 << 22, PW_BVH_STACK = 24 };
#define PW_BVH_WORLD 32.0F

/* The root: a node, or the only sphere. */
static inline int32_t pw_bvh_root(uint32_t spheres)
{
    return spheres > 1 ? 0 : ~0;
}

/* Sorts the spheres, whose centres must lie within PW_BVH_WORLD of 0 in x and z, and fills count - 1 nodes. */
void pw_bvh_build(struct pw_host *h, struct pw_bvh_sphere *spheres, uint32_t count, struct pw_bvh_node *nodes);

#endif
