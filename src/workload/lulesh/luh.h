/* LULESH: the arrays its kernels share, the kernels, and what they do to one element or node. */
#ifndef PW_WORKLOAD_LUH_H
#define PW_WORKLOAD_LUH_H

#include "workload/lulesh/hydro.h"
#include "workload/runtime/host.h"

#include <stdbool.h>

enum { PW_LUH_BLOCK = 128 };

#define PW_LUH_DT 1e-7

/* Sides of an element that lie on a symmetry plane, or on the free surface: one bit per side, see pw_luh_side. */
static inline uint32_t pw_luh_side(int axis, int ahead)
{
    return 1U << (2 * axis + ahead);
}

/* What CalcKinematicsAndMonotonicQGradient works out for an element: relative volume and its change, characteristic
 * length, relative rate of change, three deviatoric strain rates, six gradients. */
enum {
    PW_LUH_VNEW,
    PW_LUH_DELV,
    PW_LUH_LENGTH,
    PW_LUH_VDOV,
    PW_LUH_STRAIN,
    PW_LUH_GRADIENT = PW_LUH_STRAIN + 3,
    PW_LUH_KINEMATICS = PW_LUH_GRADIENT + 6
};

/* Where among them the gradient of position along xi, eta or zeta is; that of velocity comes next. */
static inline int pw_luh_gradient(int axis)
{
    return PW_LUH_GRADIENT + 2 * ((axis + 1) % 3);
}

/* Arrays of three: by axis. */
struct pw_luh {
    struct pw_array x[3], xd[3], xdd[3], force[3], node_mass; /* by node: position, its derivatives, force */
    struct pw_array nodelist;                                 /* by corner and element, `padded` apart */
    struct pw_array e, p, q, v, volo, ss, element_mass;       /* by element */
    struct pw_array material, boundary, neighbour[3][2];      /* list of elements; which sides; through them */
    struct pw_array ql, qq;                                   /* terms of the viscosity */
    struct pw_array corner_force[3];                          /* by corner and element */
    struct pw_array kinematics[PW_LUH_KINEMATICS];            /* by element */
    struct pw_array symmetry[3];                              /* nodes of a plane */
    struct pw_array corner_count, corner_start, corners;      /* by node; corners: places in corner_force */
    uint32_t edge, elements, padded, nodes;
    uint64_t seed;
    int axis; /* of the boundary condition */
};

pw_kernel_fn pw_luh_volume_force_kernel;
pw_kernel_fn pw_luh_node_force_kernel;
pw_kernel_fn pw_luh_acceleration_kernel;
pw_kernel_fn pw_luh_boundary_kernel;
pw_kernel_fn pw_luh_position_kernel;
pw_kernel_fn pw_luh_kinematics_kernel;
pw_kernel_fn pw_luh_viscosity_kernel;
pw_kernel_fn pw_luh_material_kernel;

/* The element or node of the warp's lane 0. */
static inline int64_t pw_luh_first(const struct pw_warp *w)
{
    return (int64_t)w->cta_index * PW_LUH_BLOCK + pw_first_thread(w);
}

static inline double pw_luh_get(const struct pw_array *a, uint64_t index)
{
    return ((const double *)a->data)[index];
}

static inline void pw_luh_set(const struct pw_array *a, uint64_t index, double to)
{
    ((double *)a->data)[index] = to;
}

/* The forces of an element of the given volume on its corners. */
static inline void pw_luh_forces(pw_hex_vectors position, pw_hex_vectors velocity, double volume, double pressure,
                                 double ss_times_mass, pw_hex_vectors force)
{
    const double hourglass = 3.0;
    for (int k = 0; k < 3; k++)
        for (int corner = 0; corner < PW_HEX_CORNERS; corner++)
            force[k][corner] = 0;
    pw_hydro_add_stress(position, -pressure, force);
    pw_hydro_add_hourglass(position, velocity, volume, -hourglass * 0.01 * ss_times_mass / cbrt(volume), force);
}

static inline double pw_luh_velocity(double old, double acceleration, double dt)
{
    const double cutoff = 1e-7;
    double velocity = old + acceleration * dt;
    return fabs(velocity) < cutoff ? 0 : velocity;
}

static inline void pw_luh_kinematics(pw_hex_vectors position, pw_hex_vectors velocity, double volo, double v, double dt,
                                     double out[PW_LUH_KINEMATICS])
{
    double volume = pw_hydro_volume(position);
    pw_hex_vectors halfway;
    out[PW_LUH_VNEW] = volume / volo;
    out[PW_LUH_DELV] = out[PW_LUH_VNEW] - v;
    out[PW_LUH_LENGTH] = pw_hydro_length(position, volume);
    for (int k = 0; k < 3; k++)
        for (int corner = 0; corner < PW_HEX_CORNERS; corner++)
            halfway[k][corner] = position[k][corner] - 0.5 * dt * velocity[k][corner];
    double *strain = &out[PW_LUH_STRAIN];
    pw_hydro_strain(halfway, velocity, strain);
    out[PW_LUH_VDOV] = strain[0] + strain[1] + strain[2];
    for (int k = 0; k < 3; k++)
        strain[k] -= out[PW_LUH_VDOV] / 3.0;
    pw_hydro_gradients(position, velocity, volo * out[PW_LUH_VNEW], &out[PW_LUH_GRADIENT]);
}

/* How much of the gradient between neighbours counts as shock: 0 (all of it) to 1 (none). */
static inline double pw_luh_limiter(double here, double before, double after)
{
    const double tiny = 1e-36, multiplier = 2.0, max_slope = 1.0;
    double norm = 1.0 / (here + tiny);
    before *= norm;
    after *= norm;
    double phi = 0.5 * (before + after);
    phi = before * multiplier < phi ? before * multiplier : phi;
    phi = after * multiplier < phi ? after * multiplier : phi;
    return phi < 0 ? 0 : phi > max_slope ? max_slope : phi;
}

/* The linear and the quadratic term of the viscosity of an element that is compressed; order of axes: xi, eta, zeta. */
static inline void pw_luh_viscosity(const double delv[3], const double delx[3], const double phi[3], double density,
                                    double *out_linear, double *out_quadratic)
{
    *out_linear = *out_quadratic = 0;
    for (int axis = 0; axis < 3; axis++) {
        double product = delv[axis] * delx[axis];
        product = product > 0 ? 0 : product;
        *out_linear -= 0.5 * density * product * (1.0 - phi[axis]);
        *out_quadratic += 2.0 / 3.0 * density * product * product * (1.0 - phi[axis] * phi[axis]);
    }
}

struct pw_luh_state {
    double e, p, q, ss, v;
};

static inline double pw_luh_pressure(double e, double v)
{
    const double cutoff = 1e-7;
    double p = 2.0 / 3.0 / v * e;
    return p < cutoff ? 0 : p;
}

static inline double pw_luh_sound(double e, double p, double v)
{
    double square = 2.0 / 3.0 * e + v * v * (2.0 / 3.0 / v) * p;
    return square <= 0 ? 1e-36 : sqrt(square);
}

/* An ideal gas after its relative volume has become `v`, by `delv` more; `ql` and `qq` are the terms of its
 * viscosity. */
static inline void pw_luh_material(struct pw_luh_state *s, double v, double delv, double ql, double qq)
{
    const double cutoff = 1e-7, volume_cutoff = 1e-10;
    bool compressed = delv <= 0;
    double old = s->p + s->q, half = v - 0.5 * delv, e = s->e - 0.5 * delv * old;
    double p_half = pw_luh_pressure(e, half), q = compressed ? pw_luh_sound(e, p_half, half) * ql + qq : 0;
    e += 0.5 * delv * (3.0 * old - 4.0 * (p_half + q));
    double p = pw_luh_pressure(e, v), q_then = compressed ? pw_luh_sound(e, p, v) * ql + qq : 0;
    e -= (7.0 * old - 8.0 * (p_half + q) + (p + q_then)) * delv / 6.0;
    s->e = fabs(e) < cutoff ? 0 : e;
    s->p = pw_luh_pressure(s->e, v);
    s->ss = pw_luh_sound(s->e, s->p, v);
    q = compressed ? s->ss * ql + qq : q;
    s->q = fabs(q) < cutoff ? 0 : q;
    s->v = fabs(v - 1.0) < volume_cutoff ? 1.0 : v;
}

/* Checks the state after so many cycles against a sequential implementation. */
void pw_luh_verify(struct pw_host *h, const struct pw_luh *g, uint32_t cycles);

/* The node at a corner of an element of the cube; where a node lies, and an element's energy, at the start. */
uint32_t pw_luh_node(uint32_t edge, uint32_t element, uint32_t corner);
double pw_luh_coordinate(uint32_t edge, uint32_t node, int axis);
double pw_luh_energy(const struct pw_luh *g, uint32_t element);

#endif
