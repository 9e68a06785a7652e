/* CFD: euler3d of Rodinia, the compressible Euler equations over an unstructured mesh, cell-centred finite volumes.
 *
 * Kept: one thread per cell in CTAs of 192; structure-of-arrays data (variables, fluxes and normals lie nelr apart,
 * nelr being the cells rounded up to whole CTAs, the last cell repeated); areas, neighbours, normals, variables, old
 * variables, fluxes and step factors allocated and freed in the original's order; initialisation of three arrays, then
 * per iteration the step factor and three Runge-Kutta stages of flux and update; the gather of a neighbour's five
 * variables, and the three paths (neighbour, wall, far field) that lanes of a warp take one after the other.
 * Simplified: the mesh is made from a seed (tetmesh.h) instead of read from fvcorr.domn; the copy of the variables to
 * the old ones is the copy engine's and leaves no trace here. The original's 2,000 iterations are cut. Counts are
 * estimates for compiled code with IEEE division (9) and square root (8): 72 for a cell's velocity, pressure, speed of
 * sound and contributions, as much for a neighbour's, 15 for the viscosity and 33 for the fluxes of a face. In flight:
 * a cell's five variables; a face's neighbour and normal; the neighbour's five variables. */
#include "workload/rodinia/euler.h"
#include "workload/rodinia/tetmesh.h"
#include "workload/runtime/host.h"

#include <string.h>

enum { BLOCK = 192, FACES = PW_TET_FACES, VARIABLES = PW_EULER_VARIABLES, STAGES = 3, MAX_CELLS = INT32_MAX / 12 };

struct parameters {
    uint32_t cells, iterations, bin;
};

struct arguments {
    struct pw_array areas, neighbours, normals, variables, old, fluxes, step_factors;
    struct pw_array *initialized;
    struct pw_euler_cell far_field;
    int64_t nelr;
    int32_t stage;
};

static int64_t first_cell(const struct pw_warp *w)
{
    return (int64_t)w->cta_index * BLOCK + pw_first_thread(w);
}

static void read_cell(const struct arguments *g, int64_t index, struct pw_euler_cell *out)
{
    for (int v = 0; v < VARIABLES; v++)
        out->variable[v] = ((const float *)g->variables.data)[index + v * g->nelr];
    pw_euler_complete(out);
}

static void initialize_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    int64_t first = first_cell(w);
    pw_compute(w, 4);
    for (int v = 0; v < VARIABLES; v++) {
        pw_compute(w, 2);
        pw_store_run(w, w->lanes, g->initialized, first + v * g->nelr);
        PW_FOR_LANES(lane, w->lanes)
        ((float *)g->initialized->data)[first + v * g->nelr + lane] = g->far_field.variable[v];
    }
}

static void step_factor_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *area = g->areas.data;
    float *step = g->step_factors.data;
    int64_t first = first_cell(w);
    pw_compute(w, 9);
    for (int v = 0; v < VARIABLES; v++)
        pw_load_run(w, w->lanes, &g->variables, first + v * g->nelr);
    pw_load_run(w, w->lanes, &g->areas, first);
    pw_use_all_but(w, 1);
    pw_compute(w, 51);
    pw_use(w);
    pw_compute(w, 27);
    pw_store_run(w, w->lanes, &g->step_factors, first);
    PW_FOR_LANES(lane, w->lanes)
    {
        struct pw_euler_cell c;
        read_cell(g, first + lane, &c);
        step[first + lane] = 0.5F / (sqrtf(area[first + lane]) * (c.speed + c.sound));
    }
}

/* One face of every lane's cell. */
static void face_of_warp(struct pw_warp *w, const struct arguments *g, int64_t first, int face,
                         const struct pw_euler_cell own[], float flux[][VARIABLES])
{
    const int32_t *neighbours = g->neighbours.data;
    const float *normals = g->normals.data;
    uint32_t inner = 0, wall = 0, far = 0;
    uint64_t index[PW_WARP_LANES];
    float normal[PW_WARP_LANES][3];
    PW_FOR_LANES(lane, w->lanes)
    {
        int32_t neighbour = neighbours[first + lane + face * g->nelr];
        *(neighbour >= 0 ? &inner : neighbour == PW_TET_WALL ? &wall : &far) |= 1U << lane;
        index[lane] = neighbour >= 0 ? (uint64_t)neighbour : 0;
        for (int k = 0; k < 3; k++)
            normal[lane][k] = normals[first + lane + (face + k * FACES) * g->nelr];
    }
    pw_compute(w, 4);
    pw_load_run(w, w->lanes, &g->neighbours, first + face * g->nelr);
    for (int k = 0; k < 3; k++)
        pw_load_run(w, w->lanes, &g->normals, first + (face + k * FACES) * g->nelr);
    pw_use(w);
    pw_compute(w, 14);
    if (inner) {
        pw_compute(w, 6);
        for (int64_t v = 0; v < VARIABLES; v++) {
            struct pw_array variable = g->variables;
            variable.base.v += (uint64_t)(v * g->nelr) * sizeof(float);
            pw_load_lanes(w, inner, &variable, index);
        }
        pw_use(w);
        pw_compute(w, 72 + 15 + 33);
    }
    pw_compute(w, 2 + (wall ? 3 : 0) + (far ? 33 : 0));
    PW_FOR_LANES(lane, w->lanes)
    {
        struct pw_euler_cell there;
        if (inner >> lane & 1) {
            read_cell(g, (int64_t)index[lane], &there);
            pw_euler_add_face(&own[lane], &there, normal[lane], true, flux[lane]);
        } else if (wall >> lane & 1) {
            pw_euler_add_wall(&own[lane], normal[lane], flux[lane]);
        } else {
            pw_euler_add_face(&own[lane], &g->far_field, normal[lane], false, flux[lane]);
        }
    }
}

static void flux_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    int64_t first = first_cell(w);
    struct pw_euler_cell own[PW_WARP_LANES];
    float flux[PW_WARP_LANES][VARIABLES] = {0};
    pw_compute(w, 9);
    for (int v = 0; v < VARIABLES; v++)
        pw_load_run(w, w->lanes, &g->variables, first + v * g->nelr);
    pw_use(w);
    pw_compute(w, 72);
    PW_FOR_LANES(lane, w->lanes)
    read_cell(g, first + lane, &own[lane]);
    for (int face = 0; face < FACES; face++)
        face_of_warp(w, g, first, face, own, flux);
    pw_compute(w, 5);
    for (int v = 0; v < VARIABLES; v++) {
        pw_store_run(w, w->lanes, &g->fluxes, first + v * g->nelr);
        PW_FOR_LANES(lane, w->lanes)
        ((float *)g->fluxes.data)[first + v * g->nelr + lane] = flux[lane][v];
    }
}

static void time_step_kernel(struct pw_warp *w, const void *arguments)
{
    static const int8_t sequence[VARIABLES] = {0, 4, 1, 2, 3}; /* density, energy, momentum */
    const struct arguments *g = arguments;
    const float *step = g->step_factors.data, *old = g->old.data, *flux = g->fluxes.data;
    float *to = g->variables.data;
    int64_t first = first_cell(w);
    pw_compute(w, 5);
    pw_load_run(w, w->lanes, &g->step_factors, first);
    for (int i = 0; i < VARIABLES; i++) {
        int64_t at = first + sequence[i] * g->nelr;
        pw_compute(w, 3);
        pw_load_run(w, w->lanes, &g->old, at);
        pw_load_run(w, w->lanes, &g->fluxes, at);
        pw_use(w);
        pw_compute(w, i ? 1 : 10);
        pw_store_run(w, w->lanes, &g->variables, at);
        PW_FOR_LANES(lane, w->lanes)
        to[at + lane] = old[at + lane] + step[first + lane] / (float)(STAGES + 1 - g->stage) * flux[at + lane];
    }
}

static void launch(struct pw_host *h, struct arguments *g, const char *name, pw_kernel_fn *kernel, uint32_t registers)
{
    struct pw_dim3 grid = {(uint32_t)(g->nelr / BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    pw_launch(h, &(struct pw_launch){name, grid, block, .registers = registers, .kernel = kernel, .arguments = g});
}

static void upload(struct arguments *g, const struct pw_tet *mesh, uint32_t cells)
{
    float *areas = g->areas.data, *normals = g->normals.data;
    int32_t *neighbours = g->neighbours.data;
    for (int64_t i = 0; i < g->nelr; i++) {
        const struct pw_tet *cell = &mesh[i < cells ? i : cells - 1];
        areas[i] = cell->volume;
        for (int face = 0; face < FACES; face++) {
            neighbours[i + face * g->nelr] = cell->neighbour[face];
            for (int k = 0; k < 3; k++)
                normals[i + (face + k * FACES) * g->nelr] = -cell->normal[face][k];
        }
    }
}

/* Cell by cell over the mesh itself. */
static void sequential_stage(const struct arguments *g, const struct pw_tet *mesh, uint32_t cells,
                             const struct pw_euler_cell *from, struct pw_euler_cell *to,
                             const struct pw_euler_cell *old, int stage)
{
    for (uint32_t i = 0; i < cells; i++) {
        float flux[VARIABLES] = {0};
        for (int face = 0; face < FACES; face++) {
            int32_t there = mesh[i].neighbour[face];
            const float *n = mesh[i].normal[face], inward[3] = {-n[0], -n[1], -n[2]};
            if (there == PW_TET_WALL)
                pw_euler_add_wall(&from[i], inward, flux);
            else
                pw_euler_add_face(&from[i], there < 0 ? &g->far_field : &from[there], inward, there >= 0, flux);
        }
        float step = 0.5F / (sqrtf(mesh[i].volume) * (old[i].speed + old[i].sound));
        for (int v = 0; v < VARIABLES; v++)
            to[i].variable[v] = old[i].variable[v] + step / (float)(STAGES + 1 - stage) * flux[v];
        pw_euler_complete(&to[i]);
    }
}

static void verify(struct pw_host *h, const struct arguments *g, const struct pw_tet *mesh, uint32_t cells,
                   uint32_t iterations)
{
    size_t bytes = cells * sizeof(struct pw_euler_cell);
    struct pw_euler_cell *from = pw_host_keep(h, bytes), *to = pw_host_keep(h, bytes), *old = pw_host_keep(h, bytes);
    for (uint32_t i = 0; i < cells; i++)
        from[i] = g->far_field;
    for (uint32_t i = 0; i < iterations * STAGES; i++) {
        if (i % STAGES == 0)
            memcpy(old, from, bytes);
        sequential_stage(g, mesh, cells, from, to, old, (int)(i % STAGES));
        memcpy(from, to, bytes);
    }
    uint32_t wrong = cells;
    for (uint32_t i = cells; i-- > 0;)
        for (int v = 0; v < VARIABLES; v++)
            if (!(((const float *)g->variables.data)[i + v * g->nelr] == from[i].variable[v]))
                wrong = i;
    pw_host_expect(h, pw_tetmesh_consistent(mesh, cells), "the mesh's neighbours disagree");
    pw_host_expect(h, wrong == cells, "cell %u differs from the sequential solver", wrong);
}

static void cfd_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t cells = pw_host_scaled(h, p->cells, 1);
    if (cells > MAX_CELLS)
        pw_host_fail(h, "the original's indices are ints: cells is at most %d", MAX_CELLS);
    uint64_t nelr = (cells + BLOCK - 1) / BLOCK * BLOCK, seed = pw_random_next(pw_host_random(h));
    const struct pw_tet *mesh = pw_tetmesh_make(h, (uint32_t)cells, p->bin, 1.0F / 16, seed);
    struct arguments g = {.nelr = (int64_t)nelr, .far_field = pw_euler_far_field()};
    pw_host_plan_passes(h, 1 + 2 * STAGES, 3);
    g.areas = pw_alloc(h, "areas", nelr, sizeof(float));
    g.neighbours = pw_alloc(h, "elements_surrounding_elements", nelr * FACES, sizeof(int32_t));
    g.normals = pw_alloc(h, "normals", nelr * 3 * FACES, sizeof(float));
    upload(&g, mesh, (uint32_t)cells);
    g.variables = pw_alloc(h, "variables", nelr * VARIABLES, sizeof(float));
    g.initialized = &g.variables;
    launch(h, &g, "initialize_variables", initialize_kernel, 8);
    g.old = pw_alloc(h, "old_variables", nelr * VARIABLES, sizeof(float));
    g.fluxes = pw_alloc(h, "fluxes", nelr * VARIABLES, sizeof(float));
    g.step_factors = pw_alloc(h, "step_factors", nelr, sizeof(float));
    g.initialized = &g.old;
    launch(h, &g, "initialize_variables", initialize_kernel, 8);
    g.initialized = &g.fluxes;
    launch(h, &g, "initialize_variables", initialize_kernel, 8);
    uint32_t made = 0;
    for (; pw_host_pass(h, made, p->iterations); made++) {
        memcpy(g.old.data, g.variables.data, nelr * VARIABLES * sizeof(float));
        launch(h, &g, "compute_step_factor", step_factor_kernel, 20);
        for (g.stage = 0; g.stage < STAGES; g.stage++) {
            launch(h, &g, "compute_flux", flux_kernel, 63);
            launch(h, &g, "time_step", time_step_kernel, 24);
        }
    }
    if (pw_host_verifying(h))
        verify(h, &g, mesh, (uint32_t)cells, made);
    struct pw_array *freed[] = {&g.areas, &g.neighbours, &g.normals, &g.variables, &g.old, &g.fluxes, &g.step_factors};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const struct pw_option rows[] = {
    {"cells", PW_OPTION_COUNT, offsetof(struct parameters, cells), 1, MAX_CELLS, "500000", "", NULL, "tetrahedra",
     false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "2000", "", NULL, "time steps",
     false},
    {"bin", PW_OPTION_COUNT, offsetof(struct parameters, bin), 1, 64, "4", "cubes", NULL,
     "side of the bins of cubes within which cells are numbered at random", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "cells=193474:iterations=1"}, {0}};

const struct pw_workload pw_workload_cfd = {
    .name = "CFD",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = "Euler equations over an unstructured mesh: gathers from neighbouring cells",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = cfd_main,
};
