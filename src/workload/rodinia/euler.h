/* The compressible Euler equations at one cell and through one face: density, momentum and energy, an ideal gas. The
 * order of operations is that of Rodinia's euler3d. */
#ifndef PW_WORKLOAD_EULER_H
#define PW_WORKLOAD_EULER_H

#include <math.h>
#include <stdbool.h>

enum { PW_EULER_DENSITY = 0, PW_EULER_MOMENTUM = 1, PW_EULER_ENERGY = 4, PW_EULER_VARIABLES = 5 };

/* What a face's flux needs of the cell on either side. */
struct pw_euler_cell {
    float variable[PW_EULER_VARIABLES];
    float speed, sound, pressure;
    float contribution[PW_EULER_VARIABLES][3];
};

/* Fills in what follows from the variables. */
static inline void pw_euler_complete(struct pw_euler_cell *c)
{
    const float gamma = 1.4F, *momentum = &c->variable[PW_EULER_MOMENTUM];
    float velocity[3], speed2 = 0;
    for (int k = 0; k < 3; k++) {
        velocity[k] = momentum[k] / c->variable[PW_EULER_DENSITY];
        speed2 += velocity[k] * velocity[k];
    }
    c->speed = sqrtf(speed2);
    c->pressure = (gamma - 1.0F) * (c->variable[PW_EULER_ENERGY] - 0.5F * c->variable[PW_EULER_DENSITY] * speed2);
    c->sound = sqrtf(gamma * c->pressure / c->variable[PW_EULER_DENSITY]);
    for (int k = 0; k < 3; k++) {
        c->contribution[PW_EULER_DENSITY][k] = momentum[k];
        for (int m = 0; m < 3; m++)
            c->contribution[PW_EULER_MOMENTUM + m][k] = velocity[m] * momentum[k] + (m == k ? c->pressure : 0.0F);
        c->contribution[PW_EULER_ENERGY][k] = velocity[k] * (c->variable[PW_EULER_ENERGY] + c->pressure);
    }
}

/* The flux through a face with inward normal `n` between two cells, or between a cell and the far field. */
static inline void pw_euler_add_face(const struct pw_euler_cell *here, const struct pw_euler_cell *there,
                                     const float n[3], bool viscous, float flux[])
{
    if (viscous) {
        const float smoothing = 0.2F;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        float factor = -length * smoothing * 0.5F * (here->speed + there->speed + here->sound + there->sound);
        for (int v = 0; v < PW_EULER_VARIABLES; v++)
            flux[v] += factor * (here->variable[v] - there->variable[v]);
    }
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < PW_EULER_VARIABLES; v++)
            flux[v] += 0.5F * n[k] * (there->contribution[v][k] + here->contribution[v][k]);
}

static inline void pw_euler_add_wall(const struct pw_euler_cell *here, const float n[3], float flux[])
{
    for (int k = 0; k < 3; k++)
        flux[PW_EULER_MOMENTUM + k] += n[k] * here->pressure;
}

/* Mach 1.2 along x, at rest in y and z. */
static inline struct pw_euler_cell pw_euler_far_field(void)
{
    const float density = 1.4F, pressure = 1.0F, gamma = 1.4F;
    float speed = 1.2F * sqrtf(gamma * pressure / density);
    struct pw_euler_cell c = {
        .variable = {density, density * speed, 0, 0, density * (0.5F * (speed * speed)) + pressure / (gamma - 1.0F)}};
    pw_euler_complete(&c);
    return c;
}

#endif
