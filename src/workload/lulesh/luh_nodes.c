/* The kernels of LULESH with one thread per node. One gathers from elements through the list of corners, one scatters
 * to the nodes of a plane, two stream. What is kept and what is left out is said in luh.c. */
#include "workload/lulesh/luh.h"

void pw_luh_node_force_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    const int32_t *count = g->corner_count.data, *start = g->corner_start.data, *corners = g->corners.data;
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, g->nodes);
    double force[3][PW_WARP_LANES] = {{0}};
    pw_compute(w, 6);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->corner_count, first);
    pw_load_run(w, mask, &g->corner_start, first);
    pw_use(w);
    pw_compute(w, 4);
    for (int32_t j = 0; j < PW_HEX_CORNERS; j++) {
        uint64_t at[PW_WARP_LANES], corner[PW_WARP_LANES];
        uint32_t active = 0;
        PW_FOR_LANES(lane, mask)
        if (j < count[first + lane]) {
            active |= 1U << lane;
            at[lane] = (uint32_t)(start[first + lane] + j);
            corner[lane] = (uint32_t)corners[at[lane]];
            for (int k = 0; k < 3; k++)
                force[k][lane] += pw_luh_get(&g->corner_force[k], corner[lane]);
        }
        if (!active)
            break;
        pw_load_lanes(w, active, &g->corners, at);
        pw_use(w);
        pw_compute(w, 3);
        for (int k = 0; k < 3; k++)
            pw_load_lanes(w, active, &g->corner_force[k], corner);
        pw_use(w);
        pw_compute(w, 6);
    }
    for (int k = 0; k < 3; k++) {
        pw_store_run(w, mask, &g->force[k], first);
        PW_FOR_LANES(lane, mask)
        pw_luh_set(&g->force[k], (uint64_t)first + lane, force[k][lane]);
    }
}

void pw_luh_acceleration_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, g->nodes);
    pw_compute(w, 6);
    pw_load_run(w, mask, &g->node_mass, first);
    for (int k = 0; k < 3; k++)
        pw_load_run(w, mask, &g->force[k], first);
    pw_use_all_but(w, 3);
    pw_compute(w, 12);
    pw_use(w);
    pw_compute(w, 3);
    for (int k = 0; k < 3; k++) {
        pw_store_run(w, mask, &g->xdd[k], first);
        PW_FOR_LANES(lane, mask)
        {
            uint64_t i = (uint64_t)first + lane;
            pw_luh_set(&g->xdd[k], i, pw_luh_get(&g->force[k], i) * (1.0 / pw_luh_get(&g->node_mass, i)));
        }
    }
}

void pw_luh_boundary_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    const struct pw_array *plane = &g->symmetry[g->axis];
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, plane->count);
    uint64_t node[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        node[lane] = (uint32_t)((const int32_t *)plane->data)[first + lane];
        pw_luh_set(&g->xdd[g->axis], node[lane], 0);
    }
    pw_compute(w, 6);
    pw_load_run(w, mask, plane, first);
    pw_use(w);
    pw_compute(w, 2);
    pw_store_lanes(w, mask, &g->xdd[g->axis], node);
}

void pw_luh_position_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_luh *g = arguments;
    int64_t first = pw_luh_first(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)first, g->nodes);
    pw_compute(w, 12);
    for (int k = 0; k < 3; k++) {
        pw_load_run(w, mask, &g->xd[k], first);
        pw_load_run(w, mask, &g->xdd[k], first);
    }
    for (int k = 0; k < 3; k++)
        pw_load_run(w, mask, &g->x[k], first);
    pw_use(w);
    pw_compute(w, 18);
    for (int k = 0; k < 3; k++)
        pw_store_run(w, mask, &g->x[k], first);
    for (int k = 0; k < 3; k++) {
        pw_store_run(w, mask, &g->xd[k], first);
        PW_FOR_LANES(lane, mask)
        {
            uint64_t i = (uint64_t)first + lane;
            double speed = pw_luh_velocity(pw_luh_get(&g->xd[k], i), pw_luh_get(&g->xdd[k], i), PW_LUH_DT);
            pw_luh_set(&g->x[k], i, pw_luh_get(&g->x[k], i) + speed * PW_LUH_DT);
            pw_luh_set(&g->xd[k], i, speed);
        }
    }
}
