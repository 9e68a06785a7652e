/* Building the hierarchy. Only sums, products and comparisons of floats decide where a node lies, which IEEE 754
 * defines to the last bit. */
#include "workload/ispass/bvh.h"

/* Puts a zero before each of 16 bits. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

static uint32_t morton(const struct pw_bvh_sphere *s)
{
    const float cells = 65535.0F / (2.0F * PW_BVH_WORLD); /* per unit of length */
    return spread((uint32_t)((s->z + PW_BVH_WORLD) * cells)) << 1 | spread((uint32_t)((s->x + PW_BVH_WORLD) * cells));
}

/* By Morton code, least significant digit first; equal codes keep their order. */
static void sort(struct pw_host *h, struct pw_bvh_sphere *spheres, uint32_t count)
{
    enum { DIGIT_BITS = 8, RADIX = 1 << DIGIT_BITS };
    struct entry {
        uint32_t code, index;
    } *from = pw_host_keep(h, count * sizeof *from), *to = pw_host_keep(h, count * sizeof *to);
    for (uint32_t i = 0; i < count; i++)
        from[i] = (struct entry){morton(&spheres[i]), i};
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        uint32_t start[RADIX + 1] = {0};
        for (uint32_t i = 0; i < count; i++)
            start[(from[i].code >> shift & (RADIX - 1)) + 1]++;
        for (uint32_t i = 0; i < RADIX; i++)
            start[i + 1] += start[i];
        for (uint32_t i = 0; i < count; i++)
            to[start[from[i].code >> shift & (RADIX - 1)]++] = from[i];
        struct entry *swap = from;
        from = to;
        to = swap;
    }
    struct pw_bvh_sphere *sorted = pw_host_keep(h, count * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = spheres[from[i].index];
    __builtin_memcpy(spheres, sorted, count * sizeof *sorted);
}

static struct pw_bvh_box box_of(const struct pw_bvh_sphere *s)
{
    float reach = s->radius * 1.001F + 1e-4F;
    return (struct pw_bvh_box){{s->x - reach, s->y - reach, s->z - reach}, {s->x + reach, s->y + reach, s->z + reach}};
}

static struct pw_bvh_box enclose(const struct pw_bvh_box *a, const struct pw_bvh_box *b)
{
    struct pw_bvh_box box = *a;
    for (int axis = 0; axis < 3; axis++) {
        if (b->low[axis] < box.low[axis])
            box.low[axis] = b->low[axis];
        if (b->high[axis] > box.high[axis])
            box.high[axis] = b->high[axis];
    }
    return box;
}

/* Fills the subtree of spheres [first, first + count) from node `at` on and returns its box. */
static struct pw_bvh_box build(const struct pw_bvh_sphere *spheres, uint32_t first, uint32_t count,
                               struct pw_bvh_node *nodes, uint32_t at)
{
    if (count == 1)
        return box_of(&spheres[first]);
    uint32_t half = count / 2, rest = count - half;
    struct pw_bvh_node *n = &nodes[at];
    n->child[0] = half > 1 ? (int32_t)(at + 1) : ~(int32_t)first;
    n->child[1] = rest > 1 ? (int32_t)(at + half) : ~(int32_t)(first + half);
    n->box[0] = build(spheres, first, half, nodes, at + 1);
    n->box[1] = build(spheres, first + half, rest, nodes, at + half);
    return enclose(&n->box[0], &n->box[1]);
}

void pw_bvh_build(struct pw_host *h, struct pw_bvh_sphere *spheres, uint32_t count, struct pw_bvh_node *nodes)
{
    sort(h, spheres, count);
    build(spheres, 0, count, nodes, 0);
}
