/* Division by a precomputed reciprocal, against the machine's own division. */
#include "sim/divisor.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* assert_true costs a call; in loops of millions the comparison comes first. */
static void check(uint32_t n, struct pw_divisor d)
{
    if (pw_quotient(n, d) != n / d.by || pw_remainder(n, d) != n % d.by)
        fail_msg("%u / %u gave %u, remainder %u", n, d.by, pw_quotient(n, d), pw_remainder(n, d));
}

static void check_edges(uint32_t by)
{
    struct pw_divisor d = pw_divisor_of(by);
    uint32_t last = UINT32_MAX / by * by; /* the largest multiple */
    const uint32_t anchors[] = {0, by, last, last - by, last / 2 / by * by, 1U << 31, UINT32_MAX};
    assert_int_equal(d.by, by);
    for (unsigned i = 0; i < sizeof(anchors) / sizeof(*anchors); i++)
        for (uint32_t offset = 0; offset < 3; offset++)
            check(anchors[i] + offset - 1, d);
}

static void small_numbers_divide_exactly(void **state)
{
    (void)state;
    for (uint32_t by = 1; by <= 1000; by++) {
        struct pw_divisor d = pw_divisor_of(by);
        for (uint32_t n = 0; n < 3000; n++)
            check(n, d);
    }
}

static void multiples_and_their_neighbours_divide_exactly(void **state)
{
    (void)state;
    for (uint32_t by = 1; by <= 1000; by++)
        check_edges(by);
    for (unsigned shift = 10; shift < 32; shift++)
        for (uint32_t offset = 0; offset < 3; offset++)
            check_edges((1U << shift) + offset - 1);
    check_edges(UINT32_MAX);
    check_edges(UINT32_MAX - 1);
}

static void random_numbers_divide_exactly(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 1, "divisor");
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t by = (uint32_t)(pw_random_next(&random) >> (32 + pw_random_below(&random, 32)));
        struct pw_divisor d = pw_divisor_of(by ? by : 1);
        check_edges(d.by);
        for (unsigned k = 0; k < 50; k++)
            check((uint32_t)pw_random_next(&random), d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_divide_exactly),
        cmocka_unit_test(multiples_and_their_neighbours_divide_exactly),
        cmocka_unit_test(random_numbers_divide_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
