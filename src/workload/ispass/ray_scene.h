/* The scene and the optics of the ISPASS-2009 ray tracer for one ray: camera, spheres and a plane, one light, mirrors.
 *
 * Only sums, products, quotients and square roots of floats are used, which IEEE 754 defines to the last bit: where a
 * ray goes is the same with every compiler. */
#ifndef PW_WORKLOAD_RAY_SCENE_H
#define PW_WORKLOAD_RAY_SCENE_H

#include "workload/ispass/bvh.h"

#include <math.h>

enum { PW_RAY_REFLECTIONS = 5 };
#define PW_RAY_FAR 10000.0F

struct pw_vector {
    float x, y, z;
};

struct pw_ray {
    struct pw_vector origin, direction;
};

/* Where a ray has hit: the point, the normal, the same towards the viewer, directions to light and viewer. */
struct pw_surface {
    struct pw_vector point, normal, facing, light, viewer;
    float colour[4];
};

static const struct pw_vector pw_ray_light = {10.0F, 10.0F, 10.0F};
static const float pw_ray_plane_y = -1.5F;

static inline struct pw_vector pw_along(struct pw_vector a, struct pw_vector b, float t)
{
    return (struct pw_vector){a.x + b.x * t, a.y + b.y * t, a.z + b.z * t};
}

static inline struct pw_vector pw_minus(struct pw_vector a, struct pw_vector b)
{
    return pw_along(a, b, -1.0F);
}

static inline float pw_dot(struct pw_vector a, struct pw_vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct pw_vector pw_unit(struct pw_vector a)
{
    float inverse = 1.0F / sqrtf(pw_dot(a, a));
    return (struct pw_vector){a.x * inverse, a.y * inverse, a.z * inverse};
}

/* Through pixel (x, y): from (0, 0.5, 2) towards the origin, 65 degrees wide. */
static inline struct pw_ray pw_ray_of_pixel(int32_t x, int32_t y, int32_t width, int32_t height)
{
    const struct pw_vector forward = {0.0F, -0.24253563F, -0.9701425F}, up = {0.0F, 0.9701425F, -0.24253563F};
    const float focal = 1.5696856F;
    float pixel = 2.0F / (float)(width < height ? width : height);
    struct pw_vector d = {forward.x * focal, forward.y * focal, forward.z * focal};
    d.x += ((float)x - (float)width * 0.5F) * pixel;
    d = pw_along(d, up, ((float)y - (float)height * 0.5F) * pixel);
    return (struct pw_ray){{0.0F, 0.5F, 2.0F}, pw_unit(d)};
}

/* The point of a ray nearest to a sphere's centre, and both distances squared. */
struct pw_approach {
    float along, centre2, nearest2;
};

static inline struct pw_approach pw_ray_approach(const struct pw_ray *r, const struct pw_bvh_sphere *s)
{
    struct pw_vector to = pw_minus((struct pw_vector){s->x, s->y, s->z}, r->origin);
    float along = pw_dot(to, r->direction);
    struct pw_vector across = pw_along(to, r->direction, -along);
    return (struct pw_approach){along, pw_dot(to, to), pw_dot(across, across)};
}

/* How far along the ray the sphere is hit; 0: it is not. */
static inline float pw_ray_meets_sphere(const struct pw_ray *r, const struct pw_bvh_sphere *s)
{
    struct pw_approach a = pw_ray_approach(r, s);
    float radius2 = s->radius * s->radius;
    if ((a.along < 0 && a.centre2 > radius2) || a.nearest2 > radius2)
        return 0;
    float half = sqrtf(radius2 - a.nearest2);
    return a.centre2 > radius2 ? a.along - half : a.along + half;
}

/* Where the ray enters a box, not before its origin; PW_RAY_FAR where it misses it or enters it beyond `limit`.
 * `inverse` is 1 / direction. */
static inline float pw_ray_enters_box(const struct pw_ray *r, struct pw_vector inverse, const struct pw_bvh_box *b,
                                      float limit)
{
    const float origin[3] = {r->origin.x, r->origin.y, r->origin.z}, factor[3] = {inverse.x, inverse.y, inverse.z};
    float enter = 0, leave = limit;
    for (int axis = 0; axis < 3; axis++) {
        float low = (b->low[axis] - origin[axis]) * factor[axis], high = (b->high[axis] - origin[axis]) * factor[axis];
        float first = low < high ? low : high, last = low < high ? high : low;
        enter = first > enter ? first : enter;
        leave = last < leave ? last : leave;
    }
    return enter <= leave ? enter : PW_RAY_FAR;
}

/* 1 / direction, finite also where that is parallel to an axis. */
static inline struct pw_vector pw_ray_inverse(const struct pw_ray *r)
{
    const float least = 1e-20F;
    const float d[3] = {r->direction.x, r->direction.y, r->direction.z};
    float inverse[3];
    for (int axis = 0; axis < 3; axis++)
        inverse[axis] = 1.0F / (fabsf(d[axis]) > least ? d[axis] : least);
    return (struct pw_vector){inverse[0], inverse[1], inverse[2]};
}

static inline float pw_ray_meets_plane(const struct pw_ray *r)
{
    if (fabsf(r->direction.y) < 0.0001F)
        return 0;
    float t = (pw_ray_plane_y - r->origin.y) / r->direction.y;
    return t > 0 ? t : 0;
}

/* A hit at `t` takes the light away unless, as the original has it, the point is farther from the origin of coordinates
 * than the light is from the surface. */
static inline bool pw_ray_is_shadowed(const struct pw_ray *r, float t, float light2)
{
    struct pw_vector p = pw_along(r->origin, r->direction, t);
    return t > 0 && pw_dot(p, p) <= light2;
}

/* `s` and its colour are NULL for the plane. */
static inline struct pw_surface pw_ray_surface(const struct pw_ray *r, float t, const struct pw_bvh_sphere *s,
                                               const float *colour)
{
    static const float plane_colour[4] = {0.0F, 1.0F, 1.0F, 1.0F};
    struct pw_surface f = {.point = pw_along(r->origin, r->direction, t), .normal = {0.0F, 1.0F, 0.0F}};
    if (s)
        f.normal = pw_unit(pw_minus(f.point, (struct pw_vector){s->x, s->y, s->z}));
    f.light = pw_unit(pw_minus(pw_ray_light, f.point));
    f.viewer = pw_minus((struct pw_vector){0, 0, 0}, r->direction); /* defined also where the point is the origin */
    f.facing = pw_dot(f.viewer, f.normal) < 0 ? pw_minus((struct pw_vector){0, 0, 0}, f.normal) : f.normal;
    __builtin_memcpy(f.colour, s ? colour : plane_colour, sizeof f.colour);
    return f;
}

static inline bool pw_surface_faces_light(const struct pw_surface *f)
{
    return pw_dot(f->facing, f->light) > 0;
}

static inline struct pw_ray pw_surface_shadow_ray(const struct pw_surface *f, float *out_light2)
{
    struct pw_vector to = pw_minus(pw_ray_light, f->point);
    *out_light2 = pw_dot(to, to);
    return (struct pw_ray){pw_along(f->point, f->light, 0.0001F), f->light};
}

static inline struct pw_ray pw_surface_mirror(const struct pw_surface *f)
{
    struct pw_vector d = pw_along((struct pw_vector){0, 0, 0}, f->normal, 2.0F * pw_dot(f->normal, f->viewer));
    d = pw_unit(pw_minus(d, f->viewer));
    return (struct pw_ray){pw_along(f->point, d, 0.0001F), d};
}

static inline float pw_clamped(float x)
{
    return x > 0 ? (x < 1.0F ? x : 1.0F) : 0;
}

static inline void pw_surface_shade(const struct pw_surface *f, bool lit, float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = 0.05F * f->colour[i];
    if (!lit)
        return;
    float diffuse = pw_clamped(pw_dot(f->facing, f->light)), highlight = 0.8F;
    float near = pw_clamped(pw_dot(f->facing, pw_unit(pw_along(f->light, f->viewer, 1.0F))));
    for (int i = 0; i < 50; i++)
        highlight *= near;
    for (int i = 0; i < 4; i++)
        out[i] += 0.3F * f->colour[i] * diffuse + (i < 3 ? highlight : 0);
}

/* Adds up what the reflections saw, the last one first, and packs it into a word. */
static inline uint32_t pw_ray_pixel(float seen[PW_RAY_REFLECTIONS][4], uint32_t hits)
{
    uint32_t word = 0;
    for (uint32_t i = hits; i-- > 1;)
        for (int c = 0; c < 4; c++)
            seen[i - 1][c] += 0.8F * seen[i][c];
    for (int c = 0; c < 4; c++)
        word |= (uint32_t)(pw_clamped(seen[0][c]) * 255.0F) << (8 * c);
    return word;
}

/* The objects: a plane, and spheres with a colour each. */
struct pw_scene {
    struct pw_bvh_sphere *spheres;
    float (*colours)[4];
    uint32_t count;
};

/* The original's three spheres; the rest balls of random size strewn over the plane. */
void pw_scene_scatter(const struct pw_scene *s, uint64_t seed);

/* Colours of the spheres where they lie. */
void pw_scene_paint(const struct pw_scene *s);

/* A pixel by plain search over all objects. */
uint32_t pw_scene_pixel(const struct pw_scene *s, int32_t x, int32_t y, int32_t width, int32_t height);

#endif
