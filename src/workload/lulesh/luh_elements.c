/* The kernels of LULESH with one thread per element. Two gather from nodes through nodelist, one from other elements
 * through faces, one streams. What is kept and what is left out is said in luh.c. */
#include "workload/lulesh/luh.h"

enum { CORNERS = PW_HEX_CORNERS };

/* The warp's elements: the first of them, and the lanes that have one. `instructions` compute that. */
static uint32_t locate(struct pw_warp *w, const struct pw_luh *g, uint32_t instructions, int64_t *out_first)
{
    *out_first = pw_luh_first(w);
    pw_compute(w, instructions);
    return pw_lanes_below(w, (uint64_t)*out_first, g->elements);
}

/* The nodes of the warp's elements: eight loads, all in flight. */
static void load_nodes(struct pw_warp *w, const struct pw_luh *g, uint32_t mask, int64_t first,
                       uint64_t node[CORNERS][PW_WARP_LANES])
{
    for (int corner = 0; corner < CORNERS; corner++) {
        int64_t at = first + corner * (int64_t)g->padded;
        pw_load_run(w, mask, &g->nodelist, at);
        PW_FOR_LANES(lane, mask)
        node[corner][lane] = (uint32_t)((const int32_t *)g->nodelist.data)[at + lane];
    }
}

/* A vector at each of the nodes: 24 loads, all in flight. */
static void load_corners(struct pw_warp *w, const struct pw_array a[3], uint32_t mask,
                         uint64_t node[CORNERS][PW_WARP_LANES])
{
    for (int corner = 0; corner < CORNERS; corner++)
        for (int k = 0; k < 3; k++)
            pw_load_lanes(w, mask, &a[k], node[corner]);
}

/* The positions of the nodes of the warp's elements. */
static void load_positions(struct pw_warp *w, const struct pw_luh *g, uint32_t mask, int64_t first,
                           uint64_t node[CORNERS][PW_WARP_LANES])
{
    load_nodes(w, g, mask, first, node);
    pw_use(w);
    pw_compute(w, 24);
    load_corners(w, g->x, mask, node);
}

static void corners_of_lane(const struct pw_array a[3], uint64_t node[CORNERS][PW_WARP_LANES], uint32_t lane,
                            pw_hex_vectors out)
{
    for (int corner = 0; corner < CORNERS; corner++)
        for (int k = 0; k < 3; k++)
            out[k][corner] = pw_luh_get(&a[k], node[corner][lane]);
}

void pw_luh_volume_force_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    int64_t first;
    uint32_t mask = locate(w, g, 8, &first);
    uint64_t node[CORNERS][PW_WARP_LANES];
    if (!mask)
        return;
    const struct pw_array *scalars[] = {&g->v, &g->volo, &g->ss, &g->element_mass, &g->p, &g->q};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        pw_load_run(w, mask, scalars[i], first);
    load_positions(w, g, mask, first, node);
    pw_use(w);
    pw_compute(w, 1046);
    load_corners(w, g->xd, mask, node);
    pw_use(w);
    pw_compute(w, 216);
    PW_FOR_LANES(lane, mask)
    {
        uint64_t i = (uint64_t)first + lane;
        pw_hex_vectors position, velocity, force;
        corners_of_lane(g->x, node, lane, position);
        corners_of_lane(g->xd, node, lane, velocity);
        pw_luh_forces(position, velocity, pw_luh_get(&g->volo, i) * pw_luh_get(&g->v, i),
                      pw_luh_get(&g->p, i) + pw_luh_get(&g->q, i),
                      pw_luh_get(&g->ss, i) * pw_luh_get(&g->element_mass, i), force);
        for (int corner = 0; corner < CORNERS; corner++)
            for (int k = 0; k < 3; k++)
                pw_luh_set(&g->corner_force[k], i + (uint64_t)corner * g->padded, force[k][corner]);
    }
    for (int corner = 0; corner < CORNERS; corner++) {
        pw_compute(w, 3);
        for (int k = 0; k < 3; k++)
            pw_store_run(w, mask, &g->corner_force[k], first + corner * (int64_t)g->padded);
    }
}

void pw_luh_kinematics_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    int64_t first;
    uint32_t mask = locate(w, g, 8, &first);
    uint64_t node[CORNERS][PW_WARP_LANES];
    if (!mask)
        return;
    load_positions(w, g, mask, first, node);
    pw_load_run(w, mask, &g->volo, first);
    pw_load_run(w, mask, &g->v, first);
    pw_use(w);
    pw_compute(w, 320);
    for (int i = 0; i < 3; i++)
        pw_store_run(w, mask, &g->kinematics[i], first);
    load_corners(w, g->xd, mask, node);
    pw_use(w);
    pw_compute(w, 380);
    for (int i = 3; i < PW_LUH_KINEMATICS; i++)
        pw_store_run(w, mask, &g->kinematics[i], first);
    PW_FOR_LANES(lane, mask)
    {
        uint64_t element = (uint64_t)first + lane;
        double out[PW_LUH_KINEMATICS];
        pw_hex_vectors position, velocity;
        corners_of_lane(g->x, node, lane, position);
        corners_of_lane(g->xd, node, lane, velocity);
        pw_luh_kinematics(position, velocity, pw_luh_get(&g->volo, element), pw_luh_get(&g->v, element), PW_LUH_DT,
                          out);
        for (int i = 0; i < PW_LUH_KINEMATICS; i++)
            pw_luh_set(&g->kinematics[i], element, out[i]);
    }
}

/* The change of velocity along one axis: here, and behind either side, where a plane of symmetry mirrors it and a free
 * surface has none. */
static void load_gradient(struct pw_warp *w, const struct pw_luh *g, uint32_t mask, int64_t first, int axis,
                          double out[3][PW_WARP_LANES])
{
    const struct pw_array *delv = &g->kinematics[pw_luh_gradient(axis) + 1];
    const int32_t *boundary = g->boundary.data;
    pw_compute(w, 1);
    pw_load_run(w, mask, delv, first);
    pw_use(w);
    pw_compute(w, 9);
    PW_FOR_LANES(lane, mask)
    out[0][lane] = pw_luh_get(delv, (uint64_t)first + lane);
    for (int ahead = 0; ahead < 2; ahead++) {
        const struct pw_array *neighbour = &g->neighbour[axis][ahead];
        uint64_t index[PW_WARP_LANES];
        uint32_t inner = 0;
        PW_FOR_LANES(lane, mask)
        {
            bool inside = !((uint32_t)boundary[first + lane] & pw_luh_side(axis, ahead));
            index[lane] = (uint32_t)((const int32_t *)neighbour->data)[first + lane];
            inner |= (uint32_t)inside << lane;
            out[1 + ahead][lane] = inside ? pw_luh_get(delv, index[lane]) : ahead ? 0 : out[0][lane];
        }
        pw_compute(w, 3);
        pw_load_run(w, inner, neighbour, first);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, inner, delv, index);
    }
    pw_use(w);
    pw_compute(w, 12);
}

void pw_luh_viscosity_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    const struct pw_array *vdov = &g->kinematics[PW_LUH_VDOV], *vnew = &g->kinematics[PW_LUH_VNEW];
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, g->elements), compressed = 0;
    double delv[3][3][PW_WARP_LANES];
    pw_compute(w, 6);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->material, first);
    pw_use(w);
    pw_load_run(w, mask, &g->boundary, first);
    for (int axis = 0; axis < 3; axis++)
        load_gradient(w, g, mask, first, axis, delv[axis]);
    PW_FOR_LANES(lane, mask)
    compressed |= (uint32_t)(pw_luh_get(vdov, (uint64_t)first + lane) <= 0) << lane;
    pw_load_run(w, mask, vdov, first);
    pw_use(w);
    pw_compute(w, 2);
    if (compressed) {
        for (int axis = 0; axis < 3; axis++)
            pw_load_run(w, compressed, &g->kinematics[pw_luh_gradient(axis)], first);
        pw_load_run(w, compressed, &g->element_mass, first);
        pw_load_run(w, compressed, &g->volo, first);
        pw_load_run(w, compressed, vnew, first);
        pw_use(w);
        pw_compute(w, 45);
    }
    pw_store_run(w, mask, &g->qq, first);
    pw_store_run(w, mask, &g->ql, first);
    pw_load_run(w, mask, &g->q, first);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, mask)
    {
        uint64_t i = (uint64_t)first + lane;
        double here[3], delx[3], phi[3], linear = 0, quadratic = 0;
        for (int axis = 0; axis < 3; axis++) {
            here[axis] = delv[axis][0][lane];
            delx[axis] = pw_luh_get(&g->kinematics[pw_luh_gradient(axis)], i);
            phi[axis] = pw_luh_limiter(here[axis], delv[axis][1][lane], delv[axis][2][lane]);
        }
        if (compressed >> lane & 1)
            pw_luh_viscosity(here, delx, phi,
                             pw_luh_get(&g->element_mass, i) / (pw_luh_get(&g->volo, i) * pw_luh_get(vnew, i)), &linear,
                             &quadratic);
        pw_luh_set(&g->ql, i, linear);
        pw_luh_set(&g->qq, i, quadratic);
    }
}

void pw_luh_material_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    const struct pw_array *vnew = &g->kinematics[PW_LUH_VNEW], *delv = &g->kinematics[PW_LUH_DELV];
    const struct pw_array *read[] = {vnew, &g->v, &g->e, delv, &g->p, &g->q, &g->qq, &g->ql};
    const struct pw_array *written[] = {&g->p, &g->e, &g->q, &g->ss, &g->v};
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, g->elements);
    pw_compute(w, 6);
    pw_load_run(w, mask, &g->material, first);
    pw_use(w);
    pw_compute(w, 8);
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        pw_load_run(w, mask, read[i], first);
    pw_use(w);
    pw_compute(w, 160);
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        pw_store_run(w, mask, written[i], first);
    PW_FOR_LANES(lane, mask)
    {
        uint64_t i = (uint64_t)first + lane;
        struct pw_luh_state s = {pw_luh_get(&g->e, i), pw_luh_get(&g->p, i), pw_luh_get(&g->q, i), 0, 0};
        pw_luh_material(&s, pw_luh_get(vnew, i), pw_luh_get(delv, i), pw_luh_get(&g->ql, i), pw_luh_get(&g->qq, i));
        const double after[] = {s.p, s.e, s.q, s.ss, s.v};
        for (size_t k = 0; k < sizeof written / sizeof written[0]; k++)
            pw_luh_set(written[k], i, after[k]);
    }
}
