/* Scenes, and a sequential tracer that tries every object for every ray.
 *
 * The original's fourth and further objects, of which it has none by default, are spheres of any size anywhere in a
 * box. A crowd of such spheres would hide all but its skin; balls strewn over the plane, up to the horizon, can all be
 * seen. */
#include "workload/ispass/ray_scene.h"

#include "workload/runtime/inputs.h"

static const struct pw_bvh_sphere original[] = {
    {-1.0F, 0.0F, -1.0F, 0.5F}, {1.0F, 0.0F, -1.0F, 0.5F}, {0.0F, 0.0F, -2.0F, 0.75F}};
enum { ORIGINAL = sizeof original / sizeof original[0] };

void pw_scene_scatter(const struct pw_scene *s, uint64_t seed)
{
    const float side = 32.0F, nearest = 2.0F, largest = 0.25F;
    float spacing = side / sqrtf((float)s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        float x = pw_hash_unit(pw_hash(seed, i)), z = pw_hash_unit(pw_hash(seed + 1, i));
        float radius = spacing * (0.3F + 0.2F * pw_hash_unit(pw_hash(seed + 2, i)));
        radius = radius > largest ? largest : radius;
        s->spheres[i] = (struct pw_bvh_sphere){(x - 0.5F) * side, pw_ray_plane_y + radius, nearest - z * side, radius};
        if (i < ORIGINAL)
            s->spheres[i] = original[i];
    }
}

void pw_scene_paint(const struct pw_scene *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t hash = pw_hash(0, i);
        for (uint32_t c = 0; c < 3; c++)
            s->colours[i][c] = (float)(hash >> (8 * c) & 255) / 255.0F;
        s->colours[i][3] = 1.0F;
    }
}

enum { NOTHING = -1, PLANE = -2 };

static int64_t nearest_object(const struct pw_scene *s, const struct pw_ray *r, float *out_depth)
{
    float t = pw_ray_meets_plane(r), depth = PW_RAY_FAR;
    int64_t hit = NOTHING;
    if (t > 0 && t < depth) {
        hit = PLANE;
        depth = t;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        t = pw_ray_meets_sphere(r, &s->spheres[i]);
        if (t > 0 && t < depth) {
            hit = i;
            depth = t;
        }
    }
    *out_depth = depth;
    return hit;
}

static bool is_lit(const struct pw_scene *s, const struct pw_surface *f)
{
    float light2;
    struct pw_ray r = pw_surface_shadow_ray(f, &light2);
    bool lit = pw_surface_faces_light(f) && !pw_ray_is_shadowed(&r, pw_ray_meets_plane(&r), light2);
    for (uint32_t i = 0; lit && i < s->count; i++)
        lit = !pw_ray_is_shadowed(&r, pw_ray_meets_sphere(&r, &s->spheres[i]), light2);
    return lit;
}

uint32_t pw_scene_pixel(const struct pw_scene *s, int32_t x, int32_t y, int32_t width, int32_t height)
{
    struct pw_ray r = pw_ray_of_pixel(x, y, width, height);
    float seen[PW_RAY_REFLECTIONS][4] = {{0, 0, 0, 1.0F}}, depth;
    uint32_t hits = 0;
    while (hits < PW_RAY_REFLECTIONS) {
        int64_t hit = nearest_object(s, &r, &depth);
        if (hit == NOTHING)
            break;
        struct pw_surface f = hit == PLANE ? pw_ray_surface(&r, depth, NULL, NULL)
                                           : pw_ray_surface(&r, depth, &s->spheres[hit], s->colours[hit]);
        pw_surface_shade(&f, is_lit(s, &f), seen[hits++]);
        r = pw_surface_mirror(&f);
    }
    return pw_ray_pixel(seen, hits);
}
