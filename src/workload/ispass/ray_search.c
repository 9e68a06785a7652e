/* The walk down the hierarchy: a lane keeps a stack, tests both children's boxes of a node, goes to the nearer and puts
 * off the farther. Lanes at nodes and lanes at spheres of the same warp take turns and meet again after each step.
 * Stacks are local memory, which costs instructions here and no accesses.
 *
 * Instruction counts are estimates for compiled code: 40 for a node, 25 for a sphere, 14 for the plane, 12 for the
 * inverse of a direction, 6 around a step. The four loads of a node are in flight together. */
#include "workload/ispass/ray_search.h"

/* Lets one lane's ray meet an object at `t`. Returns whether that ends a shadow ray. */
static bool meet(struct pw_rays *r, uint32_t lane, bool shadow, float t, int32_t object)
{
    if (shadow) {
        if (!pw_ray_is_shadowed(&r->ray[lane], t, r->light2[lane]))
            return false;
        r->hit[lane] = object;
        return true;
    }
    if (t > 0 && (t < r->depth[lane] || (t == r->depth[lane] && object < r->hit[lane]))) {
        r->depth[lane] = t;
        r->hit[lane] = object;
    }
    return false;
}

void pw_ray_load(struct pw_warp *w, uint32_t mask, const struct pw_array *a, const uint32_t element[], uint32_t words,
                 uint32_t word)
{
    uint64_t index[PW_WARP_LANES];
    uint32_t first = element[__builtin_ctz(mask)], differs = 0;
    PW_FOR_LANES(lane, mask)
    {
        index[lane] = (uint64_t)element[lane] * words + word;
        differs |= element[lane] ^ first;
    }
    if (differs)
        pw_load_lanes(w, mask, a, index);
    else
        pw_load_strided(w, mask, a, (int64_t)first * words + word, 0);
}

/* Lanes at nodes go on to a child or, where the ray misses both, to what they have put off. Returns those with nothing
 * left. */
static uint32_t step_nodes(struct pw_warp *w, const struct pw_ray_objects *o, uint32_t mask, struct pw_rays *r)
{
    const struct pw_bvh_node *nodes = o->nodes.data;
    uint32_t element[PW_WARP_LANES], done = 0;
    PW_FOR_LANES(lane, mask)
    {
        const struct pw_bvh_node *n = &nodes[element[lane] = (uint32_t)r->at[lane]];
        float enter[2];
        for (int i = 0; i < 2; i++)
            enter[i] = pw_ray_enters_box(&r->ray[lane], r->inverse[lane], &n->box[i], r->depth[lane]);
        int nearer = enter[1] < enter[0];
        if (enter[nearer] < PW_RAY_FAR) {
            r->at[lane] = n->child[nearer];
            if (enter[!nearer] < PW_RAY_FAR)
                r->stack[lane][r->height[lane]++] = n->child[!nearer];
        } else if (r->height[lane]) {
            r->at[lane] = r->stack[lane][--r->height[lane]];
        } else {
            done |= 1U << lane;
        }
    }
    pw_compute(w, 2);
    for (uint32_t i = 0; i < PW_RAY_NODE_WORDS; i++)
        pw_ray_load(w, mask, &o->nodes, element, PW_RAY_NODE_WORDS, i);
    pw_use(w);
    pw_compute(w, 40);
    return done;
}

/* Lanes at spheres try them and go on to what they have put off. Returns those with nothing left. */
static uint32_t step_spheres(struct pw_warp *w, const struct pw_ray_objects *o, uint32_t mask, struct pw_rays *r,
                             bool shadow)
{
    uint32_t element[PW_WARP_LANES], done = 0;
    PW_FOR_LANES(lane, mask)
    {
        element[lane] = (uint32_t)~r->at[lane];
        float t = pw_ray_meets_sphere(&r->ray[lane], &o->scene.spheres[element[lane]]);
        if (meet(r, lane, shadow, t, ~r->at[lane]) || !r->height[lane])
            done |= 1U << lane;
        else
            r->at[lane] = r->stack[lane][--r->height[lane]];
    }
    pw_compute(w, 2);
    pw_ray_load(w, mask, &o->spheres, element, 1, 0);
    pw_use(w);
    pw_compute(w, 25);
    return done;
}

void pw_rays_search(struct pw_warp *w, const struct pw_ray_objects *o, uint32_t mask, struct pw_rays *r, bool shadow)
{
    pw_compute(w, 14 + 12);
    PW_FOR_LANES(lane, mask)
    {
        r->hit[lane] = PW_RAY_NOTHING;
        r->depth[lane] = PW_RAY_FAR;
        r->inverse[lane] = pw_ray_inverse(&r->ray[lane]);
        r->at[lane] = pw_bvh_root(o->scene.count);
        r->height[lane] = 0;
        if (meet(r, lane, shadow, pw_ray_meets_plane(&r->ray[lane]), PW_RAY_PLANE))
            mask &= ~(1U << lane);
    }
    for (int32_t i = 0; o->is_list && mask && i < (int32_t)o->scene.count; i++) {
        pw_compute(w, 25 + 5);
        PW_FOR_LANES(lane, mask)
        if (meet(r, lane, shadow, pw_ray_meets_sphere(&r->ray[lane], &o->scene.spheres[i]), i))
            mask &= ~(1U << lane);
    }
    while (!o->is_list && mask) {
        uint32_t spheres = 0;
        PW_FOR_LANES(lane, mask)
        spheres |= (uint32_t)(r->at[lane] < 0) << lane;
        pw_compute(w, 6);
        if (mask & ~spheres)
            mask &= ~step_nodes(w, o, mask & ~spheres, r);
        if (spheres)
            mask &= ~step_spheres(w, o, spheres, r, shadow);
    }
}
