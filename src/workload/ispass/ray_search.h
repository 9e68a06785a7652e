/* Rays of one warp against the scene of the ray tracer: the plane, then the spheres, from a list or down a
 * hierarchy. */
#ifndef PW_WORKLOAD_RAY_SEARCH_H
#define PW_WORKLOAD_RAY_SEARCH_H

#include "workload/ispass/ray_scene.h"

enum { PW_RAY_WORD_BYTES = 16, PW_RAY_NODE_WORDS = sizeof(struct pw_bvh_node) / PW_RAY_WORD_BYTES };

/* The objects and, unless they are a list in constant memory, where they lie. */
struct pw_ray_objects {
    struct pw_scene scene;
    bool is_list;
    struct pw_array nodes, spheres, colours; /* in words of 16 bytes */
};

/* What a ray has hit, if it is not the number of a sphere. */
enum { PW_RAY_NOTHING = -1, PW_RAY_PLANE = -2 };

struct pw_rays {
    struct pw_ray ray[PW_WARP_LANES];
    struct pw_vector inverse[PW_WARP_LANES];
    float depth[PW_WARP_LANES];  /* of the nearest hit so far */
    float light2[PW_WARP_LANES]; /* of shadow rays: distance of the light, squared */
    int32_t hit[PW_WARP_LANES];
    int32_t at[PW_WARP_LANES]; /* node or complement of a sphere */
    int32_t stack[PW_WARP_LANES][PW_BVH_STACK];
    uint8_t height[PW_WARP_LANES];
};

/* One word of every lane's element, which is `words` long; lanes that are all at the same one make an affine access. */
void pw_ray_load(struct pw_warp *w, uint32_t mask, const struct pw_array *a, const uint32_t element[], uint32_t words,
                 uint32_t word);

/* Sends the rays of `mask` against all objects; hit and depth tell what they met. A shadow ray ends at the first object
 * that takes the light away, and keeps no depth. */
void pw_rays_search(struct pw_warp *w, const struct pw_ray_objects *o, uint32_t mask, struct pw_rays *r, bool shadow);

#endif
