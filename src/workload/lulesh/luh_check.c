/* LULESH without connectivity arrays: elements in order, each adding its forces to its nodes. */
#include "workload/lulesh/luh.h"

struct plain {
    double *x[3], *xd[3], *force[3], *mass; /* by node */
    double *volo;                           /* by element, as all that follows */
    struct pw_luh_state *state;
    double (*kinematics)[PW_LUH_KINEMATICS];
};

static void corners(const struct pw_luh *g, double *const a[3], uint32_t element, pw_hex_vectors out)
{
    for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++)
        for (int k = 0; k < 3; k++)
            out[k][corner] = a[k][pw_luh_node(g->edge, element, corner)];
}

static struct plain start(struct pw_host *h, const struct pw_luh *g)
{
    struct plain s = {.mass = pw_host_keep(h, g->nodes * sizeof(double)),
                      .volo = pw_host_keep(h, g->elements * sizeof(double)),
                      .state = pw_host_keep(h, g->elements * sizeof(struct pw_luh_state)),
                      .kinematics = pw_host_keep(h, g->elements * sizeof(double[PW_LUH_KINEMATICS]))};
    for (int k = 0; k < 3; k++) {
        s.x[k] = pw_host_keep(h, g->nodes * sizeof(double));
        s.xd[k] = pw_host_keep(h, g->nodes * sizeof(double));
        s.force[k] = pw_host_keep(h, g->nodes * sizeof(double));
        for (uint32_t node = 0; node < g->nodes; node++)
            s.x[k][node] = pw_luh_coordinate(g->edge, node, k);
    }
    for (uint32_t i = 0; i < g->elements; i++) {
        pw_hex_vectors position;
        corners(g, s.x, i, position);
        s.volo[i] = pw_hydro_volume(position);
        s.state[i] = (struct pw_luh_state){.e = pw_luh_energy(g, i), .v = 1.0};
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++)
            s.mass[pw_luh_node(g->edge, i, corner)] += s.volo[i] / 8.0;
    }
    return s;
}

static void move_nodes(const struct pw_luh *g, struct plain *s)
{
    for (uint32_t i = 0; i < g->elements; i++) {
        pw_hex_vectors position, velocity, force;
        corners(g, s->x, i, position);
        corners(g, s->xd, i, velocity);
        const struct pw_luh_state *state = &s->state[i];
        pw_luh_forces(position, velocity, s->volo[i] * state->v, state->p + state->q, state->ss * s->volo[i], force);
        for (uint32_t corner = 0; corner < PW_HEX_CORNERS; corner++)
            for (int k = 0; k < 3; k++)
                s->force[k][pw_luh_node(g->edge, i, corner)] += force[k][corner];
    }
    for (int k = 0; k < 3; k++)
        for (uint32_t node = 0; node < g->nodes; node++) {
            double acceleration = s->force[k][node] * (1.0 / s->mass[node]);
            if (pw_luh_coordinate(g->edge, node, k) <= 0)
                acceleration = 0;
            s->xd[k][node] = pw_luh_velocity(s->xd[k][node], acceleration, PW_LUH_DT);
            s->x[k][node] += s->xd[k][node] * PW_LUH_DT;
            s->force[k][node] = 0;
        }
}

static void deform(const struct pw_luh *g, struct plain *s)
{
    for (uint32_t i = 0; i < g->elements; i++) {
        pw_hex_vectors position, velocity;
        corners(g, s->x, i, position);
        corners(g, s->xd, i, velocity);
        pw_luh_kinematics(position, velocity, s->volo[i], s->state[i].v, PW_LUH_DT, s->kinematics[i]);
    }
}

static void update_elements(const struct pw_luh *g, struct plain *s)
{
    uint32_t n = g->edge, index[3];
    for (uint32_t i = 0; i < g->elements; i++) {
        const double *own = s->kinematics[i];
        double delv[3], delx[3], phi[3], ql = 0, qq = 0;
        index[0] = i % n;
        index[1] = i / n % n;
        index[2] = i / n / n;
        for (uint32_t axis = 0, step = 1; axis < 3; axis++, step *= n) {
            int at = pw_luh_gradient((int)axis);
            delx[axis] = own[at];
            delv[axis] = own[at + 1];
            phi[axis] = pw_luh_limiter(delv[axis], index[axis] ? s->kinematics[i - step][at + 1] : delv[axis],
                                       index[axis] < n - 1 ? s->kinematics[i + step][at + 1] : 0);
        }
        if (own[PW_LUH_VDOV] <= 0)
            pw_luh_viscosity(delv, delx, phi, s->volo[i] / (s->volo[i] * own[PW_LUH_VNEW]), &ql, &qq);
        pw_luh_material(&s->state[i], own[PW_LUH_VNEW], own[PW_LUH_DELV], ql, qq);
    }
}

static bool same_element(const struct pw_luh *g, const struct plain *s, uint32_t i)
{
    const struct pw_luh_state *state = &s->state[i];
    const struct pw_array *arrays[] = {&g->e, &g->p, &g->q, &g->ss, &g->v};
    const double values[] = {state->e, state->p, state->q, state->ss, state->v};
    bool same = true;
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
        same = same && ((const double *)arrays[k]->data)[i] == values[k];
    for (int k = 0; k < PW_LUH_KINEMATICS; k++)
        same = same && ((const double *)g->kinematics[k].data)[i] == s->kinematics[i][k];
    return same;
}

void pw_luh_verify(struct pw_host *h, const struct pw_luh *g, uint32_t cycles)
{
    struct plain s = start(h, g);
    for (uint32_t cycle = 0; cycle < cycles; cycle++) {
        move_nodes(g, &s);
        deform(g, &s);
        update_elements(g, &s);
    }
    uint32_t wrong_element = g->elements, wrong_node = g->nodes;
    for (uint32_t i = g->elements; i-- > 0;)
        if (!same_element(g, &s, i))
            wrong_element = i;
    for (uint32_t node = g->nodes; node-- > 0;)
        for (int k = 0; k < 3; k++)
            if (!(((const double *)g->x[k].data)[node] == s.x[k][node]) ||
                !(((const double *)g->xd[k].data)[node] == s.xd[k][node]))
                wrong_node = node;
    pw_host_expect(h, wrong_node == g->nodes, "node %u differs from the sequential hydrodynamics", wrong_node);
    pw_host_expect(h, wrong_element == g->elements, "element %u differs from the sequential hydrodynamics",
                   wrong_element);
}
