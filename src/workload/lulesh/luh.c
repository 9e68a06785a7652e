/* LUH: LULESH, shock hydrodynamics on an unstructured mesh of hexahedra, in double precision (the CUDA version).
 *
 * Kept, per cycle: CalcVolumeForceForElems (stress and hourglass forces: the nodes of an element through nodelist, then
 * their positions and velocities), AddNodeForcesFromElems (a node's forces through the list of element corners),
 * CalcAccelerationForNodes, three ApplyAccelerationBoundaryConditionsForNodes (the symmetry planes),
 * CalcPositionAndVelocityForNodes, CalcKinematicsAndMonotonicQGradient (positions and velocities again),
 * CalcMonotonicQRegionForElems (neighbours through faces) and ApplyMaterialPropertiesAndUpdateVolume, in the original's
 * sequence; CTAs of 128 threads, one element or node per thread; arrays by corner, a padded number of elements apart;
 * connectivity arrays of a cube of elements, mesh and constants of the original. The original goes on until time 0.01,
 * 1,477 cycles of its cube of 45; so does this, until they are cut. Left out: the time constraints and the time step
 * that follows from them (it is fixed), the checks for bad volumes, and the frees of temporaries between kernels, which
 * the original's allocator keeps. Simplified: the energy at the start is random instead of a blast in one corner, so
 * that every element matters; textures are loads; the original's first two element kernels have CTAs of 64 threads.
 * Counts are estimates for the unrolled code, one instruction per operation of hydro.h: 1,046 before and 216 after the
 * velocities are needed for the forces, 320 and 380 for the kinematics, 160 for the material. In flight: all of an
 * element's nodes and scalars; then all 24 coordinates; then all 24 velocities. */
#include "workload/lulesh/luh.h"

#include "workload/runtime/inputs.h"

enum { MAX_EDGE = 400 };

struct parameters {
    uint32_t edge, cycles;
};

uint32_t pw_luh_node(uint32_t edge, uint32_t element, uint32_t corner)
{
    static const uint8_t offset[PW_HEX_CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    uint32_t x = element % edge + offset[corner][0], y = element / edge % edge + offset[corner][1];
    uint32_t z = element / edge / edge + offset[corner][2], side = edge + 1;
    return (z * side + y) * side + x;
}

double pw_luh_coordinate(uint32_t edge, uint32_t node, int axis)
{
    uint32_t side = edge + 1, index[3] = {node % side, node / side % side, node / side / side};
    return 1.125 * index[axis] / edge;
}

double pw_luh_energy(const struct pw_luh *g, uint32_t element)
{
    return 1e3 * (double)pw_hash_unit(pw_hash(g->seed, element));
}

static struct pw_array reals(struct pw_host *h, const char *name, uint64_t count)
{
    return pw_alloc(h, name, count, sizeof(double));
}

static struct pw_array integers(struct pw_host *h, const char *name, uint64_t count)
{
    return pw_alloc(h, name, count, sizeof(int32_t));
}

static void allocate_vector(struct pw_host *h, struct pw_array out[3], const char *const names[3], uint64_t count)
{
    for (int k = 0; k < 3; k++)
        out[k] = reals(h, names[k], count);
}

static void allocate(struct pw_host *h, struct pw_luh *g)
{
    static const char *const kinematics[PW_LUH_KINEMATICS] = {
        "vnew",      "delv",      "arealg",  "vdov",    "dxx",      "dyy",     "dzz",
        "delx_zeta", "delv_zeta", "delx_xi", "delv_xi", "delx_eta", "delv_eta"};
    static const char *const sides[] = {"lxim", "lxip", "letam", "letap", "lzetam", "lzetap"};
    uint64_t n = g->elements, corners = (uint64_t)PW_HEX_CORNERS * g->padded, plane = (g->edge + 1) * (g->edge + 1);
    g->material = integers(h, "matElemlist", n);
    g->nodelist = integers(h, "nodelist", corners);
    for (int side = 0; side < 6; side++)
        g->neighbour[side / 2][side % 2] = integers(h, sides[side], n);
    g->boundary = integers(h, "elemBC", n);
    g->e = reals(h, "e", n);
    g->p = reals(h, "p", n);
    g->q = reals(h, "q", n);
    g->ql = reals(h, "ql", n);
    g->qq = reals(h, "qq", n);
    g->v = reals(h, "v", n);
    g->volo = reals(h, "volo", n);
    g->ss = reals(h, "ss", n);
    g->element_mass = reals(h, "elemMass", n);
    allocate_vector(h, g->x, (const char *const[]){"x", "y", "z"}, g->nodes);
    allocate_vector(h, g->xd, (const char *const[]){"xd", "yd", "zd"}, g->nodes);
    allocate_vector(h, g->xdd, (const char *const[]){"xdd", "ydd", "zdd"}, g->nodes);
    allocate_vector(h, g->force, (const char *const[]){"fx", "fy", "fz"}, g->nodes);
    g->node_mass = reals(h, "nodalMass", g->nodes);
    for (int k = 0; k < 3; k++)
        g->symmetry[k] = integers(h, (const char *const[]){"symmX", "symmY", "symmZ"}[k], plane);
    g->corner_count = integers(h, "nodeElemCount", g->nodes);
    g->corner_start = integers(h, "nodeElemStart", g->nodes);
    g->corners = integers(h, "nodeElemCornerList", PW_HEX_CORNERS * n);
    allocate_vector(h, g->corner_force, (const char *const[]){"fx_elem", "fy_elem", "fz_elem"}, corners);
    for (int i = 0; i < PW_LUH_KINEMATICS; i++)
        g->kinematics[i] = reals(h, kinematics[i], n);
}

/* Elements to nodes, nodes to corners of elements, and the nodes of the planes through the origin. */
static void connect(const struct pw_luh *g)
{
    int32_t *nodelist = g->nodelist.data, *count = g->corner_count.data, *start = g->corner_start.data;
    int32_t *corners = g->corners.data, at[3] = {0};
    for (uint32_t i = 0; i < g->elements; i++)
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++) {
            uint32_t node = pw_luh_node(g->edge, i, corner);
            nodelist[i + (uint64_t)corner * g->padded] = (int32_t)node;
            count[node]++;
        }
    for (uint32_t node = 1; node < g->nodes; node++)
        start[node] = start[node - 1] + count[node - 1];
    for (uint32_t node = 0; node < g->nodes; node++)
        count[node] = 0;
    for (uint32_t i = 0; i < g->elements; i++)
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++) {
            uint32_t node = pw_luh_node(g->edge, i, corner);
            corners[start[node] + count[node]++] = (int32_t)(i + corner * g->padded);
        }
    for (uint32_t node = 0; node < g->nodes; node++)
        for (int k = 0; k < 3; k++)
            if (pw_luh_coordinate(g->edge, node, k) <= 0)
                ((int32_t *)g->symmetry[k].data)[at[k]++] = (int32_t)node;
}

/* Elements to elements through their faces; behind a side of the cube an element is its own neighbour. */
static void connect_faces(const struct pw_luh *g)
{
    for (uint32_t i = 0; i < g->elements; i++) {
        uint32_t place[3] = {i % g->edge, i / g->edge % g->edge, i / g->edge / g->edge}, step = 1, sides = 0;
        for (int axis = 0; axis < 3; axis++, step *= g->edge) {
            bool first = !place[axis], last = place[axis] == g->edge - 1;
            ((int32_t *)g->neighbour[axis][0].data)[i] = (int32_t)(first ? i : i - step);
            ((int32_t *)g->neighbour[axis][1].data)[i] = (int32_t)(last ? i : i + step);
            sides |= (first ? pw_luh_side(axis, 0) : 0) | (last ? pw_luh_side(axis, 1) : 0);
        }
        ((int32_t *)g->boundary.data)[i] = (int32_t)sides;
        ((int32_t *)g->material.data)[i] = (int32_t)i;
    }
}

static void initialize(const struct pw_luh *g)
{
    double *volo = g->volo.data, *mass = g->element_mass.data, *node_mass = g->node_mass.data;
    for (uint32_t node = 0; node < g->nodes; node++)
        for (int k = 0; k < 3; k++)
            ((double *)g->x[k].data)[node] = pw_luh_coordinate(g->edge, node, k);
    for (uint32_t i = 0; i < g->elements; i++) {
        pw_hex_vectors position;
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++)
            for (int k = 0; k < 3; k++)
                position[k][corner] = pw_luh_coordinate(g->edge, pw_luh_node(g->edge, i, corner), k);
        volo[i] = mass[i] = pw_hydro_volume(position);
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++)
            node_mass[pw_luh_node(g->edge, i, corner)] += volo[i] / 8.0;
        ((double *)g->e.data)[i] = pw_luh_energy(g, i);
        ((double *)g->v.data)[i] = 1.0;
    }
}

static void launch(struct pw_host *h, struct pw_luh *g, const char *name, uint64_t items, pw_kernel_fn *kernel,
                   uint32_t registers)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = {(uint32_t)((items + PW_LUH_BLOCK - 1) / PW_LUH_BLOCK), 1, 1},
                                     .block = {PW_LUH_BLOCK, 1, 1},
                                     .registers = registers,
                                     .kernel = kernel,
                                     .arguments = g});
}

static void run_cycle(struct pw_host *h, struct pw_luh *g)
{
    launch(h, g, "CalcVolumeForceForElems", g->elements, pw_luh_volume_force_kernel, 63);
    launch(h, g, "AddNodeForcesFromElems", g->nodes, pw_luh_node_force_kernel, 24);
    launch(h, g, "CalcAccelerationForNodes", g->nodes, pw_luh_acceleration_kernel, 20);
    for (g->axis = 0; g->axis < 3; g->axis++)
        launch(h, g, "ApplyAccelerationBoundaryConditionsForNodes", g->symmetry[g->axis].count, pw_luh_boundary_kernel,
               10);
    launch(h, g, "CalcPositionAndVelocityForNodes", g->nodes, pw_luh_position_kernel, 32);
    launch(h, g, "CalcKinematicsAndMonotonicQGradient", g->elements, pw_luh_kinematics_kernel, 63);
    launch(h, g, "CalcMonotonicQRegionForElems", g->elements, pw_luh_viscosity_kernel, 32);
    launch(h, g, "ApplyMaterialPropertiesAndUpdateVolume", g->elements, pw_luh_material_kernel, 40);
}

static void luh_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint32_t edge = 1;
    double elements = (double)p->edge * p->edge * p->edge * pw_host_scale(h);
    while ((edge + 0.5) * (edge + 0.5) * (edge + 0.5) < elements && edge < MAX_EDGE)
        edge++;
    struct pw_luh g = {.edge = edge, .elements = edge * edge * edge, .nodes = (edge + 1) * (edge + 1) * (edge + 1)};
    g.padded = (g.elements + PW_WARP_LANES - 1) / PW_WARP_LANES * PW_WARP_LANES;
    g.seed = pw_random_next(pw_host_random(h));
    allocate(h, &g);
    connect(&g);
    connect_faces(&g);
    initialize(&g);
    pw_host_plan_passes(h, 10, 0);
    uint32_t made = 0;
    for (; pw_host_pass(h, made, p->cycles); made++)
        run_cycle(h, &g);
    if (pw_host_verifying(h))
        pw_luh_verify(h, &g, made);
}

static const struct pw_option rows[] = {
    {"edge", PW_OPTION_COUNT, offsetof(struct parameters, edge), 1, MAX_EDGE, "45", "elements", NULL,
     "elements along the cube's side", false},
    {"cycles", PW_OPTION_COUNT, offsetof(struct parameters, cycles), 1, 0, "1477", "cycles", NULL, "time steps", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "edge=45"}, {0}};

const struct pw_workload pw_workload_luh = {
    .name = "LUH",
    .suite = "LULESH",
    .papers = "mosaic mask",
    .summary = "shock hydrodynamics: gathers between elements and nodes of a hexahedral mesh",
    .parameters = rows,
    .presets = presets,
    .passes = "cycles",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = luh_main,
};
