/* The mathematics of one hexahedral element of LULESH: volume, face normals, hourglass control, kinematics. Corners are
 * numbered as there: 0 to 3 around the bottom, 4 to 7 above them. Vectors over the corners are [axis][corner]. */
#ifndef PW_WORKLOAD_HYDRO_H
#define PW_WORKLOAD_HYDRO_H

#include <math.h>
#include <stdint.h>

enum { PW_HEX_CORNERS = 8, PW_HEX_FACES = 6 };

typedef double pw_hex_vectors[3][PW_HEX_CORNERS];

static inline void pw_hydro_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double pw_hydro_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double pw_hydro_volume(pw_hex_vectors c)
{
    static const uint8_t edges[3][8] = {
        {3, 1, 7, 2, 6, 3, 2, 0}, {4, 3, 5, 7, 6, 4, 7, 0}, {1, 4, 2, 5, 6, 1, 5, 0}}; /* (a-b)+(c-d), e-f, g-h */
    double volume = 0;
    for (int i = 0; i < 3; i++) {
        double u[3], v[3], w[3], normal[3];
        for (int k = 0; k < 3; k++) {
            u[k] = (c[k][edges[i][0]] - c[k][edges[i][1]]) + (c[k][edges[i][2]] - c[k][edges[i][3]]);
            v[k] = c[k][edges[i][4]] - c[k][edges[i][5]];
            w[k] = c[k][edges[i][6]] - c[k][edges[i][7]];
        }
        pw_hydro_cross(v, w, normal);
        volume += pw_hydro_dot(u, normal);
    }
    return volume / 12.0;
}

/* The derivatives of the volume by the corners' coordinates. */
static inline void pw_hydro_volume_derivative(pw_hex_vectors c, pw_hex_vectors out)
{
    static const uint8_t others[PW_HEX_CORNERS][6] = {{1, 2, 3, 4, 5, 7}, {2, 3, 0, 5, 6, 4}, {3, 0, 1, 6, 7, 5},
                                                      {0, 1, 2, 7, 4, 6}, {7, 6, 5, 0, 3, 1}, {4, 7, 6, 1, 0, 2},
                                                      {5, 4, 7, 2, 1, 3}, {6, 5, 4, 3, 2, 0}};
    static const uint8_t axes[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    for (int corner = 0; corner < PW_HEX_CORNERS; corner++)
        for (int k = 0; k < 3; k++) {
            double a[6], b[6];
            for (int i = 0; i < 6; i++) {
                a[i] = c[axes[k][0]][others[corner][i]];
                b[i] = c[axes[k][1]][others[corner][i]];
            }
            out[k][corner] =
                ((a[1] + a[2]) * (b[0] + b[1]) - (a[0] + a[1]) * (b[1] + b[2]) + (a[0] + a[4]) * (b[3] + b[4]) -
                 (a[3] + a[4]) * (b[0] + b[4]) - (a[2] + a[5]) * (b[3] + b[5]) + (a[3] + a[5]) * (b[2] + b[5])) /
                12.0;
        }
}

/* Adds to the corners' forces the stress on the faces, sigma along each normal. */
static inline void pw_hydro_add_stress(pw_hex_vectors c, double sigma, pw_hex_vectors force)
{
    static const uint8_t faces[PW_HEX_FACES][4] = {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2},
                                                   {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}};
    for (int face = 0; face < PW_HEX_FACES; face++) {
        const uint8_t *n = faces[face];
        double u[3], v[3], area[3];
        for (int k = 0; k < 3; k++) {
            u[k] = 0.5 * (c[k][n[3]] + c[k][n[2]] - c[k][n[1]] - c[k][n[0]]);
            v[k] = 0.5 * (c[k][n[2]] + c[k][n[1]] - c[k][n[3]] - c[k][n[0]]);
        }
        pw_hydro_cross(u, v, area);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 4; i++)
                force[k][n[i]] -= sigma * 0.25 * area[k];
    }
}

/* Adds the forces that damp the four hourglass modes of the velocities. */
static inline void pw_hydro_add_hourglass(pw_hex_vectors c, pw_hex_vectors velocity, double volume, double coefficient,
                                          pw_hex_vectors force)
{
    static const int8_t modes[4][PW_HEX_CORNERS] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                                    {1, -1, -1, 1, -1, 1, 1, -1},
                                                    {1, -1, 1, -1, 1, -1, 1, -1},
                                                    {-1, 1, -1, 1, 1, -1, 1, -1}};
    pw_hex_vectors derivative;
    pw_hydro_volume_derivative(c, derivative);
    for (int mode = 0; mode < 4; mode++) {
        double along[3] = {0}, shape[PW_HEX_CORNERS], speed[3] = {0};
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < PW_HEX_CORNERS; i++)
                along[k] += modes[mode][i] * c[k][i];
        for (int i = 0; i < PW_HEX_CORNERS; i++)
            shape[i] = modes[mode][i] -
                       1.0 / volume *
                           (derivative[0][i] * along[0] + derivative[1][i] * along[1] + derivative[2][i] * along[2]);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < PW_HEX_CORNERS; i++)
                speed[k] += shape[i] * velocity[k][i];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < PW_HEX_CORNERS; i++)
                force[k][i] += coefficient * shape[i] * speed[k];
    }
}

/* Four times the volume over the root of the largest face. */
static inline double pw_hydro_length(pw_hex_vectors c, double volume)
{
    static const uint8_t faces[PW_HEX_FACES][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                                   {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    double largest = 0;
    for (int face = 0; face < PW_HEX_FACES; face++) {
        const uint8_t *n = faces[face];
        double f[3], g[3];
        for (int k = 0; k < 3; k++) {
            f[k] = (c[k][n[2]] - c[k][n[0]]) - (c[k][n[3]] - c[k][n[1]]);
            g[k] = (c[k][n[2]] - c[k][n[0]]) + (c[k][n[3]] - c[k][n[1]]);
        }
        double fg = pw_hydro_dot(f, g), area = pw_hydro_dot(f, f) * pw_hydro_dot(g, g) - fg * fg;
        largest = area > largest ? area : largest;
    }
    return 4.0 * volume / sqrt(largest);
}

/* The principal strain rates of an element whose corners move with `velocity`. */
static inline void pw_hydro_strain(pw_hex_vectors c, pw_hex_vectors velocity, double out[3])
{
    double f[3][3], cofactor[3][3]; /* [direction][axis] */
    for (int k = 0; k < 3; k++) {
        double a = c[k][6] - c[k][0], b = c[k][5] - c[k][3], d = c[k][7] - c[k][1], e = c[k][4] - c[k][2];
        f[0][k] = 0.125 * (a + b - d - e);
        f[1][k] = 0.125 * (a - b + d - e);
        f[2][k] = 0.125 * (a + b + d + e);
    }
    for (int i = 0; i < 3; i++)
        pw_hydro_cross(f[(i + 1) % 3], f[(i + 2) % 3], cofactor[i]);
    double inverse = 1.0 / (8.0 * pw_hydro_dot(f[1], cofactor[1]));
    for (int k = 0; k < 3; k++) {
        double xi = cofactor[0][k], eta = cofactor[1][k], zeta = cofactor[2][k];
        out[k] = inverse * ((-xi - eta - zeta) * (velocity[k][0] - velocity[k][6]) +
                            (xi - eta - zeta) * (velocity[k][1] - velocity[k][7]) +
                            (xi + eta - zeta) * (velocity[k][2] - velocity[k][4]) +
                            (-xi + eta - zeta) * (velocity[k][3] - velocity[k][5]));
    }
}

/* Gradients of position and velocity along zeta, xi and eta: position, velocity, position, ... */
static inline void pw_hydro_gradients(pw_hex_vectors c, pw_hex_vectors velocity, double volume, double out[6])
{
    static const uint8_t ahead[3][4] = {{1, 2, 6, 5}, {3, 2, 6, 7}, {4, 5, 6, 7}}; /* xi, eta, zeta */
    static const uint8_t behind[3][4] = {{0, 3, 7, 4}, {0, 1, 5, 4}, {0, 1, 2, 3}};
    static const uint8_t along[3] = {2, 0, 1};
    const double tiny = 1e-36;
    double position[3][3] = {{0}}, speed[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < 4; n++) {
                position[i][k] += 0.25 * (c[k][ahead[i][n]] - c[k][behind[i][n]]);
                speed[i][k] += 0.25 * (velocity[k][ahead[i][n]] - velocity[k][behind[i][n]]);
            }
    for (int g = 0; g < 3; g++) {
        double a[3];
        int i = along[g];
        pw_hydro_cross(position[(i + 1) % 3], position[(i + 2) % 3], a);
        out[2 * g] = volume / sqrt(pw_hydro_dot(a, a) + tiny);
        out[2 * g + 1] = pw_hydro_dot(a, speed[i]) / (volume + tiny);
    }
}

#endif
