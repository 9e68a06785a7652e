/* Bodies of a Plummer model, as the original draws them (Aarseth, Henon and Wielen, 1974): distance from the inverse of
 * the mass within a radius, speed by rejection, directions from points in a ball.
 *
 * Powers are taken by square and cube roots of their own, so that the same seed gives the same bits everywhere. */
#include "workload/lonestar/bh.h"

#include <math.h>

/* Of 0 <= x <= 1, by Newton's method from above until it no longer falls. */
static double cube_root(double x)
{
    double root = 1, next = x > 0 ? (2 + x) / 3 : 0;
    while (next < root) {
        root = next;
        next = root > 0 ? (2 * root + x / (root * root)) / 3 : 0;
    }
    return root;
}

/* A random direction of that length. */
static void draw_vector(struct pw_random *random, double length, double out[PW_BH_AXES])
{
    double square;
    do {
        square = 0;
        for (int axis = 0; axis < PW_BH_AXES; axis++) {
            out[axis] = 2 * pw_random_unit(random) - 1;
            square += out[axis] * out[axis];
        }
    } while (square > 1 || square == 0);
    for (int axis = 0; axis < PW_BH_AXES; axis++)
        out[axis] *= length / sqrt(square);
}

/* Of the escape velocity, from x^2 (1 - x^2)^(7/2). */
static double draw_speed(struct pw_random *random)
{
    double x, y, rest;
    do {
        x = pw_random_unit(random);
        y = 0.1 * pw_random_unit(random);
        rest = 1 - x * x;
    } while (y > x * x * rest * rest * rest * sqrt(rest));
    return x;
}

void pw_bh_make_bodies(struct pw_bh *g)
{
    const double radius_scale = 3 * 3.14159265358979323846 / 16, speed_scale = sqrt(1 / radius_scale);
    struct pw_random *random = pw_host_random(g->host);
    for (int32_t i = 0; i < g->bodies; i++) {
        double mass_within = 0.999 * pw_random_unit(random), power = cube_root(mass_within * mass_within);
        double r = power > 0 ? 1 / sqrt(1 / power - 1) : 0, place[PW_BH_AXES], velocity[PW_BH_AXES];
        draw_vector(random, radius_scale * r, place);
        draw_vector(random, speed_scale * draw_speed(random) * sqrt(2 / sqrt(1 + r * r)), velocity);
        pw_bh_floats(g, PW_BH_MASS)[i] = 1.0F / (float)g->bodies;
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            pw_bh_floats(g, PW_BH_POS + axis)[i] = (float)place[axis];
            pw_bh_floats(g, PW_BH_VEL + axis)[i] = (float)velocity[axis];
        }
    }
}
