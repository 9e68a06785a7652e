/* The mathematics of a hexahedral element, against what must hold for any such element. */
#include "workload/lulesh/hydro.h"
#include "workload/runtime/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void make_box(pw_hex_vectors c, double x, double y, double z)
{
    static const uint8_t corners[PW_HEX_CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const double side[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PW_HEX_CORNERS; i++)
            c[k][i] = side[k] * corners[i][k];
}

static void make_crooked(pw_hex_vectors c, uint64_t seed)
{
    make_box(c, 1, 2, 3);
    for (uint64_t k = 0; k < 3; k++)
        for (uint64_t i = 0; i < PW_HEX_CORNERS; i++)
            c[k][i] += 0.3 * (double)pw_hash_unit(pw_hash(seed, 8 * k + i));
}

static void expect_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1.0 + fabs(expected))))
        fail_msg("%g instead of %g", value, expected);
}

static void a_box_has_the_volume_and_length_of_a_box(void **state)
{
    (void)state;
    pw_hex_vectors c;
    make_box(c, 2, 3, 5);
    expect_near(pw_hydro_volume(c), 30);
    expect_near(pw_hydro_length(c, 30), 30.0 / 15.0); /* the largest face is 3 by 5 */
}

static void the_derivative_of_the_volume_is_its_change(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        pw_hex_vectors c, derivative;
        make_crooked(c, seed);
        pw_hydro_volume_derivative(c, derivative);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < PW_HEX_CORNERS; i++) {
                const double step = 0.125; /* the volume is linear in each coordinate */
                double before = pw_hydro_volume(c);
                c[k][i] += step;
                expect_near(derivative[k][i], (pw_hydro_volume(c) - before) / step);
                c[k][i] -= step;
            }
    }
}

static void stress_pushes_the_corners_of_a_box_outwards(void **state)
{
    (void)state;
    pw_hex_vectors c, force = {{0}};
    make_box(c, 2, 3, 5);
    pw_hydro_add_stress(c, -7, force);
    const double share[3] = {3 * 5 / 4.0, 2 * 5 / 4.0, 2 * 3 / 4.0}; /* a quarter of a face for each corner */
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PW_HEX_CORNERS; i++)
            expect_near(force[k][i], (c[k][i] > 0 ? 7 : -7) * share[k]);
}

/* velocity = gradient * position + shift */
static void move_linearly(pw_hex_vectors c, uint64_t seed, double gradient[3][3], pw_hex_vectors velocity)
{
    for (uint64_t k = 0; k < 3; k++)
        for (uint64_t m = 0; m < 3; m++)
            gradient[k][m] = (double)pw_hash_unit(pw_hash(seed, 100 + 3 * k + m)) - 0.5;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < PW_HEX_CORNERS; i++)
            velocity[k][i] = gradient[k][0] * c[0][i] + gradient[k][1] * c[1][i] + gradient[k][2] * c[2][i] + 4 * k;
}

static void a_linear_motion_meets_no_hourglass_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        pw_hex_vectors c, velocity, force = {{0}};
        double gradient[3][3];
        make_crooked(c, seed);
        move_linearly(c, seed, gradient, velocity);
        pw_hydro_add_hourglass(c, velocity, pw_hydro_volume(c), -1, force);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < PW_HEX_CORNERS; i++)
                expect_near(force[k][i], 0);
        for (int i = 0; i < PW_HEX_CORNERS; i++) /* the mode that bends x along y and z */
            velocity[0][i] += (c[1][i] > 1) == (c[2][i] > 1.5) ? 1 : -1;
        pw_hydro_add_hourglass(c, velocity, pw_hydro_volume(c), -1, force);
        double work = 0;
        for (int i = 0; i < PW_HEX_CORNERS; i++)
            work += force[0][i] * velocity[0][i];
        assert_true(work < -0.1);
    }
}

static void strain_and_gradients_are_those_of_a_linear_motion(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        pw_hex_vectors c, velocity;
        double gradient[3][3], strain[3], out[6];
        make_crooked(c, seed);
        move_linearly(c, seed, gradient, velocity);
        pw_hydro_strain(c, velocity, strain);
        for (int k = 0; k < 3; k++)
            expect_near(strain[k], gradient[k][k]);
        make_box(c, 2, 3, 5);
        move_linearly(c, seed, gradient, velocity);
        pw_hydro_gradients(c, velocity, 30, out);
        const double side[3] = {5, 2, 3}; /* zeta, xi, eta */
        static const int axis[3] = {2, 0, 1};
        for (int g = 0; g < 3; g++) {
            expect_near(out[2 * g], side[g]);
            expect_near(out[2 * g + 1], gradient[axis[g]][axis[g]]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_has_the_volume_and_length_of_a_box),
        cmocka_unit_test(the_derivative_of_the_volume_is_its_change),
        cmocka_unit_test(stress_pushes_the_corners_of_a_box_outwards),
        cmocka_unit_test(a_linear_motion_meets_no_hourglass_force),
        cmocka_unit_test(strain_and_gradients_are_those_of_a_linear_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
