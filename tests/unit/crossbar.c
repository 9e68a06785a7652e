/* Ports of the crossbar: closed forms, and a port that is booked cycle by cycle. */
#include "mem/crossbar.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void packets_have_as_many_flits_as_their_data_needs(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes, per_cycle, flits;
    } rows[] = {{0, 32, 1},   {1, 32, 1},   {32, 32, 1}, {33, 32, 2},   {64, 32, 2},   {96, 32, 3},
                {128, 32, 4}, {128, 40, 4}, {0, 1, 1},   {128, 1, 128}, {128, 127, 2}, {128, 1024, 1}};
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(pw_flits(rows[i].bytes, rows[i].per_cycle), rows[i].flits);
}

static void a_packet_alone_takes_its_flits_and_the_latency(void **state)
{
    (void)state;
    for (uint32_t flits = 1; flits <= 5; flits++)
        for (uint32_t latency = 1; latency <= 50; latency += 7) {
            struct pw_port up = {0}, down = {0};
            pw_cycle arrived = pw_port_send(&up, 1000, flits, latency);
            assert_int_equal(arrived, 1000 + flits - 1 + latency);
            assert_int_equal(pw_port_receive(&down, arrived, flits), arrived);
        }
}

static void a_source_port_sends_one_flit_per_cycle(void **state)
{
    (void)state;
    struct pw_port p = {0};
    const uint32_t flits = 4, latency = 10;
    for (uint32_t k = 0; k < 100; k++)
        assert_int_equal(pw_port_send(&p, 500, flits, latency), 500 + (k + 1) * flits - 1 + latency);
    /* Busy up to 900, exclusive: a packet that is ready the cycle before waits one cycle, the next one none. */
    assert_int_equal(pw_port_send(&p, 899, 1, latency), 900 + latency);
    assert_int_equal(pw_port_send(&p, 901, 1, latency), 901 + latency);
    assert_int_equal(pw_port_send(&p, 2000, 1, latency), 2000 + latency);
}

static void packets_that_arrive_together_pass_one_after_the_other(void **state)
{
    (void)state;
    struct pw_port p = {0};
    const uint32_t flits = 4;
    for (uint32_t k = 0; k < 100; k++)
        assert_int_equal(pw_port_receive(&p, 500, flits), 500 + k * flits);
    /* A stream with exactly the port's bandwidth is not held up. */
    for (uint32_t k = 0; k < 100; k++)
        assert_int_equal(pw_port_receive(&p, 2000 + k * flits, flits), 2000 + k * flits);
    /* A short packet right behind a long one, and a long one too soon behind a short one. */
    p = (struct pw_port){0};
    assert_int_equal(pw_port_receive(&p, 100, 4), 100);
    assert_int_equal(pw_port_receive(&p, 101, 1), 101);
    assert_int_equal(pw_port_receive(&p, 103, 4), 105);
    assert_int_equal(pw_port_receive(&p, 110, 4), 110);
}

/* Each cycle of the port is free or booked; a packet books its cycles in a row, the first ones after all others'. */
static void ports_agree_with_one_that_is_booked_cycle_by_cycle(void **state)
{
    (void)state;
    enum { CYCLES = 60000 };
    static bool sent[CYCLES], received[CYCLES];
    struct pw_random random;
    struct pw_port up = {0}, down = {0};
    pw_cycle ready = 100, arrived = 100, last_sent = 0, last_received = 0;
    pw_random_init(&random, 1, "ports");
    memset(sent, 0, sizeof(sent));
    memset(received, 0, sizeof(received));
    for (unsigned i = 0; i < 8000; i++) {
        uint32_t flits = 1 + (uint32_t)pw_random_below(&random, 6), latency = (uint32_t)pw_random_below(&random, 9);
        ready += pw_random_below(&random, 9);
        pw_cycle start = ready;
        while (start <= last_sent)
            start++;
        for (uint32_t k = 0; k < flits; k++) {
            assert_false(sent[start + k]);
            sent[start + k] = true;
        }
        last_sent = start + flits - 1;
        assert_int_equal(pw_port_send(&up, ready, flits, latency), last_sent + latency);

        arrived += pw_random_below(&random, 9);
        pw_cycle done = arrived;
        while (done < last_received + flits)
            done++;
        for (uint32_t k = 0; k < flits; k++) {
            assert_false(received[done - k]);
            received[done - k] = true;
        }
        last_received = done;
        assert_int_equal(pw_port_receive(&down, arrived, flits), done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_have_as_many_flits_as_their_data_needs),
        cmocka_unit_test(a_packet_alone_takes_its_flits_and_the_latency),
        cmocka_unit_test(a_source_port_sends_one_flit_per_cycle),
        cmocka_unit_test(packets_that_arrive_together_pass_one_after_the_other),
        cmocka_unit_test(ports_agree_with_one_that_is_booked_cycle_by_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
