/* RAY: the ray tracer of the ISPASS-2009 benchmarks: one thread per pixel, spheres over a plane, mirrors.
 *
 * Kept: CTAs of 16x8 threads; the seven arrays of the picture's size, of which the kernel uses one; the picture cleared
 * at the start and read and written at the end; the barrier before tracing; up to 5 reflections as long as each ray
 * hits; for each hit the shading, a shadow ray to the light where the surface faces it, highlights of power 50, the
 * mirrored ray; camera, light, plane and first three spheres. Nothing is freed: the original exits. With search=list
 * the scene is the original's (size ispass): four objects in constant memory, each tried for each ray. With search=bvh
 * there are many (ray_scene.c), in global memory under a bounding volume hierarchy (ray_search.c), as tracers have it
 * since; this is the default, since four spheres translate nothing. Simplified: the distance of a sphere from a ray is
 * taken from the perpendicular, not from a difference of squares, which loses all digits for small spheres; what
 * reflections saw is local memory, which costs instructions here and no accesses. Instruction counts are estimates for
 * compiled code: 70 for a surface, 60 for its highlight, 25 for the mirrored ray, 40 for a pixel's first ray. */
#include "workload/ispass/ray_search.h"
#include "workload/runtime/tile.h"

enum { BLOCK_Y = 8, LIST_NODE_BYTES = 40 };
enum { LIST, BVH };

static const char *const searches[] = {"list", "bvh", NULL};

struct parameters {
    uint32_t width, height, objects, search;
};

struct arguments {
    struct pw_array picture;
    struct pw_ray_objects objects;
    int32_t width, height;
};

/* Shades what the rays of `mask` have hit into `seen` and turns them into mirrored rays. */
static void reflect(struct pw_warp *w, const struct arguments *g, uint32_t mask, struct pw_rays *r,
                    float seen[][PW_RAY_REFLECTIONS][4], uint32_t depth)
{
    struct pw_surface surface[PW_WARP_LANES];
    uint32_t element[PW_WARP_LANES], spheres = 0, facing = 0, lit = 0;
    PW_FOR_LANES(lane, mask)
    {
        const struct pw_scene *s = &g->objects.scene;
        bool plane = r->hit[lane] == PW_RAY_PLANE;
        element[lane] = plane ? 0 : (uint32_t)r->hit[lane];
        surface[lane] = pw_ray_surface(&r->ray[lane], r->depth[lane], plane ? NULL : &s->spheres[element[lane]],
                                       plane ? NULL : s->colours[element[lane]]);
        spheres |= (uint32_t)!plane << lane;
        facing |= (uint32_t)pw_surface_faces_light(&surface[lane]) << lane;
        r->ray[lane] = pw_surface_shadow_ray(&surface[lane], &r->light2[lane]);
    }
    if (spheres && !g->objects.is_list) {
        pw_ray_load(w, spheres, &g->objects.spheres, element, 1, 0);
        pw_ray_load(w, spheres, &g->objects.colours, element, 1, 0);
        pw_use(w);
    }
    pw_compute(w, 70);
    if (facing)
        pw_rays_search(w, &g->objects, facing, r, true);
    PW_FOR_LANES(lane, facing)
    lit |= (uint32_t)(r->hit[lane] == PW_RAY_NOTHING) << lane;
    pw_compute(w, (lit ? 60 : 0) + 25);
    PW_FOR_LANES(lane, mask)
    {
        pw_surface_shade(&surface[lane], lit >> lane & 1, seen[lane][depth]);
        r->ray[lane] = pw_surface_mirror(&surface[lane]);
    }
}

static void render_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct pw_rays r;
    float seen[PW_WARP_LANES][PW_RAY_REFLECTIONS][4] = {0};
    uint32_t hits[PW_WARP_LANES] = {0};
    int32_t left = (int32_t)w->cta.x * PW_TILE_WIDTH, row = (int32_t)(w->cta.y * BLOCK_Y + 2 * w->index);
    int32_t columns = g->width - left < PW_TILE_WIDTH ? g->width - left : PW_TILE_WIDTH;
    uint32_t inside = pw_tile_mask(row, 0, columns, 0, g->height), mask = inside;
    int64_t first = (int64_t)row * g->width + left;

    pw_compute(w, 14 + 2 * PW_RAY_REFLECTIONS);
    pw_access_tile(w, PW_OP_STORE, inside, &g->picture, first, g->width);
    pw_compute(w, 40);
    pw_barrier(w);
    PW_FOR_LANES(lane, inside)
    {
        int32_t y = row + (int32_t)(lane / PW_TILE_WIDTH), x = left + (int32_t)(lane % PW_TILE_WIDTH);
        r.ray[lane] = pw_ray_of_pixel(x, y, g->width, g->height);
        seen[lane][0][3] = 1.0F;
    }
    for (uint32_t i = 0; i < PW_RAY_REFLECTIONS && mask; i++) {
        pw_rays_search(w, &g->objects, mask, &r, false);
        PW_FOR_LANES(lane, mask)
        {
            mask &= ~((uint32_t)(r.hit[lane] == PW_RAY_NOTHING) << lane);
            hits[lane] += r.hit[lane] != PW_RAY_NOTHING;
        }
        pw_compute(w, 5);
        if (mask)
            reflect(w, g, mask, &r, seen, i);
    }

    uint32_t *picture = g->picture.data;
    pw_compute(w, 8 * PW_RAY_REFLECTIONS);
    pw_access_tile(w, PW_OP_LOAD, inside, &g->picture, first, g->width);
    pw_use(w);
    pw_compute(w, 16);
    pw_access_tile(w, PW_OP_STORE, inside, &g->picture, first, g->width);
    PW_FOR_LANES(lane, inside)
    picture[first + lane / PW_TILE_WIDTH * g->width + lane % PW_TILE_WIDTH] = pw_ray_pixel(seen[lane], hits[lane]);
}

/* All pixels, or as many, evenly spread, as can be traced without a hierarchy in good time. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const uint64_t tests = UINT64_C(1) << 22;
    const uint32_t *picture = g->picture.data;
    uint64_t width = (uint64_t)g->width, pixels = g->picture.count, wrong = pixels;
    for (uint64_t i = 0, every = 1 + pixels * g->objects.scene.count / tests; i < pixels; i += every)
        if (picture[i] !=
            pw_scene_pixel(&g->objects.scene, (int32_t)(i % width), (int32_t)(i / width), g->width, g->height))
            wrong = i;
    pw_host_expect(h, wrong == pixels, "pixel %llu differs from the sequential tracer", (unsigned long long)wrong);
}

static void allocate(struct pw_host *h, struct arguments *g)
{
    struct pw_ray_objects *o = &g->objects;
    uint64_t pixels = (uint64_t)g->width * (uint64_t)g->height, count = o->scene.count;
    g->picture = pw_alloc(h, "output", pixels, sizeof(uint32_t));
    if (o->is_list) {
        pw_alloc(h, "node", count + 1, LIST_NODE_BYTES);
        o->scene.spheres = pw_host_keep(h, count * sizeof *o->scene.spheres);
        o->scene.colours = pw_host_keep(h, count * sizeof *o->scene.colours);
    } else {
        o->nodes = pw_alloc(h, "node", count * PW_RAY_NODE_WORDS, PW_RAY_WORD_BYTES);
        o->spheres = pw_alloc(h, "sphere", count, PW_RAY_WORD_BYTES);
        o->colours = pw_alloc(h, "colour", count, PW_RAY_WORD_BYTES);
        o->scene.spheres = o->spheres.data;
        o->scene.colours = o->colours.data;
    }
    pw_alloc(h, "temp", pixels, sizeof(uint32_t));
    pw_alloc(h, "nObj", pixels, sizeof(uint32_t));
    pw_alloc(h, "prof", pixels, sizeof(float));
    pw_alloc(h, "ray", 6 * pixels, sizeof(float));
    pw_alloc(h, "A", 3 * pixels, sizeof(float));
    pw_alloc(h, "u", 3 * pixels, sizeof(float));
}

static void ray_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t objects = pw_host_scaled(h, p->objects, 1);
    if (objects < 2 || objects > PW_BVH_MAX_SPHERES)
        pw_host_fail(h, "objects, scaled, must be from 2 (a plane and a sphere) to %d", PW_BVH_MAX_SPHERES);
    struct arguments g = {.objects.scene.count = (uint32_t)objects - 1,
                          .objects.is_list = p->search == LIST,
                          .width = (int32_t)pw_host_scaled_side(h, p->width, 1),
                          .height = (int32_t)pw_host_scaled_side(h, p->height, 1)};
    allocate(h, &g);
    const struct pw_scene *scene = &g.objects.scene;
    pw_scene_scatter(scene, pw_random_next(pw_host_random(h)));
    if (!g.objects.is_list)
        pw_bvh_build(h, scene->spheres, scene->count, g.objects.nodes.data);
    pw_scene_paint(scene);
    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "render",
                                     .grid = {((uint32_t)g.width + PW_TILE_WIDTH - 1) / PW_TILE_WIDTH,
                                              ((uint32_t)g.height + BLOCK_Y - 1) / BLOCK_Y, 1},
                                     .block = {PW_TILE_WIDTH, BLOCK_Y, 1},
                                     .registers = 40,
                                     .kernel = render_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), 1, 1 << 15, "192", "pixels", NULL,
     "width of the picture", false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), 1, 1 << 15, "192", "pixels", NULL,
     "height of the picture", false},
    {"objects", PW_OPTION_COUNT, offsetof(struct parameters, objects), 2, PW_BVH_MAX_SPHERES, "800k", "objects", NULL,
     "a plane and spheres", false},
    {"search", PW_OPTION_CHOICE, offsetof(struct parameters, search), 0, 0, "bvh", "", searches,
     "bvh (a hierarchy in global memory) or list (all objects, in constant memory)", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "width=256:height=256:objects=800k:search=bvh"},
                                           {"ispass", "width=256:height=256:objects=4:search=list"},
                                           {0}};

const struct pw_workload pw_workload_ray = {
    .name = "RAY",
    .suite = "ISPASS-2009",
    .papers = "mosaic mask",
    .summary = "ray tracing with shadows and reflections, spheres under a bounding volume hierarchy",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = ray_main,
};
