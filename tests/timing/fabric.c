/* Messages over the fabric in exact cycles: every way of trees of several sizes, bandwidth against closed forms in
 * integers, what shares a link and what does not, and links of different speeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exhaust.h"
#include "fabric_fixture.h"

enum {
    MHZ = 1000,
    BYTES_A_CYCLE = 16,
    SWITCH = 140,
    LINK = 3,
    MESSAGE = 144,
    MESSAGE_CYCLES = MESSAGE / BYTES_A_CYCLE
};

static struct pw_fabric_config with_link_latency(void)
{
    struct pw_fabric_config c = fabric_defaults();
    c.link_latency = LINK;
    return c;
}

static struct pw_fabric_config all_to_all(void)
{
    struct pw_fabric_config c = with_link_latency();
    c.topology = PW_FABRIC_ALL_TO_ALL;
    return c;
}

static void note(void *object, uint64_t argument, pw_cycle now)
{
    pw_cycle *arrivals = object;
    arrivals[argument] = now;
}

static void run(struct fabric_fixture f)
{
    fabric_run(f, PW_NEVER);
    assert_int_equal(pw_fabric_pending(f.fabric), 0);
}

/* Lets time stand at `at`. */
static void nothing(void *object, uint64_t argument, pw_cycle now)
{
    (void)object;
    (void)argument;
    (void)now;
}

static void run_to(struct fabric_fixture f, pw_cycle at)
{
    pw_events_post(f.events, at, nothing, NULL, 0);
    fabric_run(f, at + 1);
}

/* A message alone is not there in the cycle before, and is in the cycle that it should be. */
static void takes(struct fabric_fixture f, unsigned from, unsigned to, uint32_t bytes, pw_cycle cycles)
{
    pw_cycle start = f.events->now + 1000, arrival = 0;
    run_to(f, start);
    assert_int_equal(pw_fabric_unloaded(f.fabric, from, to, bytes), cycles);
    pw_fabric_send(f.fabric, from, to, bytes, start, note, &arrival, 0);
    fabric_run(f, start + cycles);
    assert_int_equal(arrival, 0);
    assert_int_equal(pw_fabric_pending(f.fabric), 1);
    fabric_run(f, start + cycles + 1);
    assert_int_equal(arrival, start + cycles);
    assert_int_equal(pw_fabric_pending(f.fabric), 0);
}

static pw_cycle way(unsigned links, unsigned switches)
{
    return links * LINK + switches * SWITCH;
}

static void the_ways_of_a_tree_have_their_links_and_switches(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 4, 5, 16};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned gpus = sizes[s];
        struct fabric_fixture f = fabric_open(with_link_latency(), gpus, MHZ);
        assert_int_equal(pw_fabric_host(f.fabric), gpus);
        for (unsigned from = 0; from < gpus; from++) {
            takes(f, from, gpus, MESSAGE, way(3, 2) + MESSAGE_CYCLES);
            takes(f, gpus, from, MESSAGE, way(3, 2) + MESSAGE_CYCLES);
            for (unsigned to = 0; to < gpus; to++)
                if (to != from)
                    takes(f, from, to, MESSAGE, (from / 2 == to / 2 ? way(2, 1) : way(4, 3)) + MESSAGE_CYCLES);
        }
        assert_true(fabric_metric(f, "fabric.queue_mean") == 0);
        fabric_close(f);
    }
}

static void switches_have_as_many_gpus_as_they_are_given(void **state)
{
    (void)state;
    struct pw_fabric_config c = with_link_latency();
    c.gpus_per_switch = 3;
    struct fabric_fixture f = fabric_open(c, 5, MHZ);
    takes(f, 0, 2, MESSAGE, way(2, 1) + MESSAGE_CYCLES);
    takes(f, 2, 3, MESSAGE, way(4, 3) + MESSAGE_CYCLES);
    takes(f, 4, 3, MESSAGE, way(2, 1) + MESSAGE_CYCLES);
    fabric_close(f);
    c.gpus_per_switch = 1;
    f = fabric_open(c, 2, MHZ);
    takes(f, 0, 1, MESSAGE, way(4, 3) + MESSAGE_CYCLES);
    fabric_close(f);
}

static void all_to_all_has_one_link_between_gpus_and_a_tree_to_the_host(void **state)
{
    (void)state;
    struct pw_fabric_config c = all_to_all();
    c.host_gbytes_per_second = 8;
    struct fabric_fixture f = fabric_open(c, 5, MHZ);
    for (unsigned from = 0; from < 5; from++) {
        takes(f, from, 5, MESSAGE, way(3, 2) + 2 * MESSAGE_CYCLES);
        takes(f, 5, from, MESSAGE, way(3, 2) + 2 * MESSAGE_CYCLES);
        for (unsigned to = 0; to < 5; to++)
            if (to != from)
                takes(f, from, to, MESSAGE, way(1, 0) + MESSAGE_CYCLES);
    }
    fabric_close(f);
}

/* The number of bytes decides, a part of a cycle counting as one, and latencies may all be 0. */
static void sizes_from_nothing_to_the_largest_are_exact(void **state)
{
    (void)state;
    struct pw_fabric_config c = fabric_defaults();
    struct fabric_fixture f = fabric_open(c, 4, MHZ);
    takes(f, 0, 1, 0, SWITCH);
    takes(f, 0, 1, 1, SWITCH + 1);
    takes(f, 0, 1, 16, SWITCH + 1);
    takes(f, 0, 1, 17, SWITCH + 2);
    takes(f, 0, 3, 4096, 3 * SWITCH + 256);
    takes(f, 0, 3, UINT32_MAX, 3 * SWITCH + (1ULL << 28));
    fabric_close(f);
    c.gbytes_per_second = 0.001; /* a million bytes a second, ten thousand million cycles */
    c.switch_latency = 0;
    f = fabric_open(c, 4, 10000);
    takes(f, 0, 3, UINT32_MAX, UINT32_MAX * 10000ULL);
    takes(f, 0, 4, 1, 10000);
    fabric_close(f);
}

static void send_many(struct fabric_fixture f, unsigned from, unsigned to, uint32_t bytes, unsigned count,
                      pw_cycle *arrivals)
{
    for (unsigned i = 0; i < count; i++)
        pw_fabric_send(f.fabric, from, to, bytes, f.events->now, note, arrivals, i);
}

enum { MANY = 1000 };

/* gmmu-tab1-pcie, gmmu-sec51-cpu-pcie: messages one behind the other over the links as they are by default, between two
 * GPUs, over the root, and to and from the host, take 16 bytes in a nanosecond each way, at the same time. */
static void a_link_carries_16_gbytes_per_second_each_way(void **state)
{
    (void)state;
    static const unsigned ways[][2] = {{0, 1}, {0, 2}, {0, 4}};
    for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct fabric_fixture f = fabric_open(fabric_defaults(), 4, MHZ);
        pw_cycle out[MANY], back[MANY], alone = pw_fabric_unloaded(f.fabric, ways[w][0], ways[w][1], 0);
        send_many(f, ways[w][0], ways[w][1], 1600, MANY, out);
        send_many(f, ways[w][1], ways[w][0], 1600, MANY, back);
        run(f);
        for (unsigned i = 0; i < MANY; i++) {
            assert_int_equal(out[i], alone + (i + 1) * 100);
            assert_int_equal(back[i], out[i]);
        }
        assert_true(fabric_metric(f, "fabric.busy_max") == MANY * 100);
        assert_true(fabric_metric(f, "fabric.queue_mean") == (MANY - 1) * 100 / 2.0);
        fabric_close(f);
    }
}

/* 144 bytes take 9.18 cycles of 1020 MHz. No part of a cycle gets lost, on one link or on a way of several. */
static void parts_of_cycles_add_up(void **state)
{
    (void)state;
    enum { PARTS = 918 };
    struct fabric_fixture direct = fabric_open(all_to_all(), 4, 1020);
    struct fabric_fixture tree = fabric_open(with_link_latency(), 4, 1020);
    pw_cycle one[MANY], four[MANY];
    send_many(direct, 0, 2, MESSAGE, MANY, one);
    send_many(tree, 0, 2, MESSAGE, MANY, four);
    run(direct);
    run(tree);
    for (unsigned i = 0; i < MANY; i++) {
        pw_cycle all = ((i + 1ULL) * PARTS + 99) / 100;
        assert_int_equal(one[i], way(1, 0) + all);
        assert_int_equal(four[i], way(4, 3) + all);
    }
    fabric_close(direct);
    fabric_close(tree);
}

/* Who comes in the cycle in which a link has become free begins with that cycle, not within the one before. */
static void a_message_does_not_begin_before_it_comes(void **state)
{
    (void)state;
    struct fabric_fixture f = fabric_open(all_to_all(), 2, 1020);
    pw_cycle arrivals[2];
    pw_fabric_send(f.fabric, 0, 1, MESSAGE, 0, note, arrivals, 0);
    run_to(f, 10);
    pw_fabric_send(f.fabric, 0, 1, MESSAGE, 10, note, arrivals, 1);
    run(f);
    assert_int_equal(arrivals[0], way(1, 0) + 10);
    assert_int_equal(arrivals[1], way(1, 0) + 20);
    fabric_close(f);
}

static void gpus_of_a_switch_share_the_link_to_the_root(void **state)
{
    (void)state;
    struct fabric_fixture f = fabric_open(with_link_latency(), 6, MHZ);
    pw_cycle arrivals[4] = {0}, alone = way(4, 3) + MESSAGE_CYCLES;
    pw_fabric_send(f.fabric, 0, 2, MESSAGE, 0, note, arrivals, 0);
    pw_fabric_send(f.fabric, 1, 4, MESSAGE, 0, note, arrivals, 1); /* waits for the link of the switch of 0 and 1 */
    pw_fabric_send(f.fabric, 5, 3, MESSAGE, 0, note, arrivals, 2); /* waits for that to the switch of 2 and 3 */
    fabric_run(f, alone + MESSAGE_CYCLES);
    assert_int_equal(arrivals[1], 0);
    assert_int_equal(arrivals[2], 0);
    run(f);
    assert_int_equal(arrivals[0], alone);
    assert_int_equal(arrivals[1], alone + MESSAGE_CYCLES);
    assert_int_equal(arrivals[2], alone + MESSAGE_CYCLES);
    assert_true(fabric_metric(f, "fabric.messages") == 3);
    assert_true(fabric_metric(f, "fabric.bytes") == 3 * MESSAGE);
    assert_true(fabric_metric(f, "fabric.link_bytes") == 12 * MESSAGE);
    assert_true(fabric_metric(f, "fabric.busy_max") == 2 * MESSAGE_CYCLES);
    assert_true(fabric_metric(f, "fabric.queue_mean") == 2 * MESSAGE_CYCLES / 3.0);
    assert_true(fabric_metric(f, "fabric.latency_mean") == (double)(3 * alone + 2 * MESSAGE_CYCLES) / 3);
    fabric_close(f);
}

/* Both GPUs of a switch send as much as they can to the other switch: together they have the bandwidth of one link. */
static void two_streams_have_half_the_link_each(void **state)
{
    (void)state;
    struct fabric_fixture f = fabric_open(fabric_defaults(), 4, MHZ);
    pw_cycle first[MANY], second[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        pw_fabric_send(f.fabric, 0, 2, MESSAGE, 0, note, first, i);
        pw_fabric_send(f.fabric, 1, 3, MESSAGE, 0, note, second, i);
    }
    run(f);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(first[i], 3 * SWITCH + (2 * i + 1) * MESSAGE_CYCLES);
        assert_int_equal(second[i], 3 * SWITCH + (2 * i + 2) * MESSAGE_CYCLES);
    }
    fabric_close(f);
}

static void opposite_directions_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct pw_fabric_config configs[] = {with_link_latency(), all_to_all()};
    static const unsigned pairs[][2] = {{0, 1}, {0, 3}, {2, 4}};
    for (unsigned c = 0; c < 2; c++) {
        for (unsigned p = 0; p < sizeof pairs / sizeof *pairs; p++) {
            struct fabric_fixture f = fabric_open(configs[c], 4, MHZ);
            pw_cycle arrivals[2], alone = pw_fabric_unloaded(f.fabric, pairs[p][0], pairs[p][1], 4096);
            pw_fabric_send(f.fabric, pairs[p][0], pairs[p][1], 4096, 0, note, arrivals, 0);
            pw_fabric_send(f.fabric, pairs[p][1], pairs[p][0], 4096, 0, note, arrivals, 1);
            run(f);
            assert_int_equal(arrivals[0], alone);
            assert_int_equal(arrivals[1], alone);
            fabric_close(f);
        }
    }
}

/* All GPUs send to all others at once. With links of their own nobody waits; in the tree the last message leaves a GPU
 * after the others, and links to the root carry those of two GPUs. */
static void all_to_all_has_no_queues_where_the_tree_has(void **state)
{
    (void)state;
    struct pw_fabric_config configs[] = {all_to_all(), with_link_latency()};
    double queued[2];
    for (unsigned c = 0; c < 2; c++) {
        struct fabric_fixture f = fabric_open(configs[c], 4, MHZ);
        pw_cycle arrivals[16];
        for (unsigned from = 0; from < 4; from++)
            for (unsigned to = 0; to <= 4; to++)
                if (from != to && (to < 4 || from == 0))
                    pw_fabric_send(f.fabric, from, to, 4096, 0, note, arrivals, 4 * from + to);
        run(f);
        queued[c] = fabric_metric(f, "fabric.queue_mean");
        fabric_close(f);
    }
    assert_true(queued[0] == 0);
    assert_true(queued[1] > 256);
}

/* A message that was sent first, but comes later to a link that both need, waits for the other; not so a cycle
 * earlier. */
static void links_serve_in_the_order_in_which_heads_come(void **state)
{
    (void)state;
    enum { STEP = SWITCH + LINK };
    for (unsigned late = 0; late < 2; late++) {
        struct fabric_fixture f = fabric_open(with_link_latency(), 4, MHZ);
        pw_cycle arrivals[2], far = way(4, 3) + MESSAGE_CYCLES, near = way(2, 1) + MESSAGE_CYCLES;
        pw_cycle sent = 2 * STEP - 1 + 2 * late; /* a cycle before or after the other head passes the root */
        pw_fabric_send(f.fabric, 2, 0, MESSAGE, 0, note, arrivals, 0);
        run_to(f, sent);
        pw_fabric_send(f.fabric, 1, 0, MESSAGE, sent, note, arrivals, 1);
        run(f);
        assert_int_equal(arrivals[0], late ? far : far + MESSAGE_CYCLES - 1);
        assert_int_equal(arrivals[1], late ? sent + near + MESSAGE_CYCLES - 1 : sent + near);
        fabric_close(f);
    }
}

/* The host's link has a quarter of the others' bandwidth. What comes from it is not there before its last byte is, yet
 * holds the links behind it for their own time only. */
static void a_slower_link_delays_the_last_byte_and_nobody_else(void **state)
{
    (void)state;
    struct pw_fabric_config c = fabric_defaults();
    c.host_gbytes_per_second = 4;
    c.queues = PW_FABRIC_SHARED;
    struct fabric_fixture f = fabric_open(c, 4, MHZ);
    takes(f, 0, 4, 640, 2 * SWITCH + 160);
    takes(f, 4, 0, 640, 2 * SWITCH + 160);
    takes(f, 1, 0, 640, SWITCH + 40);
    pw_cycle arrivals[3], start = f.events->now + 1000;
    run_to(f, start);
    pw_fabric_send(f.fabric, 4, 0, 640, start, note, arrivals, 0);
    pw_fabric_send(f.fabric, 4, 2, 640, start, note, arrivals, 1);
    run_to(f, start + SWITCH + 1);
    pw_fabric_send(f.fabric, 1, 0, 16, start + SWITCH + 1, note, arrivals, 2); /* a cycle behind the host's */
    run(f);
    assert_int_equal(arrivals[0], start + 2 * SWITCH + 160);
    assert_int_equal(arrivals[1], start + 2 * SWITCH + 320);
    assert_int_equal(arrivals[2], start + 2 * SWITCH + 40 + 1);
    fabric_close(f);
}

/* Ten messages with data, 40 cycles each, are before a request; then one more comes. With queues by class the request
 * is through at once, and what it passes on the second link loses its cycle there; in one queue it is the last but one.
 * Two requests wait for each other in either. */
static void requests_pass_between_data_where_they_have_a_queue_of_their_own(void **state)
{
    (void)state;
    static const struct {
        uint32_t queues;
        pw_cycle request, second, last;
    } cases[] = {{PW_FABRIC_BY_CLASS, 1, 2, 400 + 2 + 40}, {PW_FABRIC_SHARED, 401, 402, 400 + 2 + 40}};
    for (unsigned i = 0; i < 2; i++) {
        struct pw_fabric_config c = fabric_defaults();
        c.queues = cases[i].queues;
        struct fabric_fixture f = fabric_open(c, 4, MHZ);
        pw_cycle arrivals[13];
        for (unsigned k = 0; k < 13; k++)
            pw_fabric_send(f.fabric, 0, 1, k == 10 || k == 11 ? 16 : 640, 0, note, arrivals, k);
        run(f);
        for (unsigned k = 0; k < 10; k++)
            assert_int_equal(arrivals[k], SWITCH + 40 * (k + 1) + (k && !i ? 2 : 0));
        assert_int_equal(arrivals[10], SWITCH + cases[i].request);
        assert_int_equal(arrivals[11], SWITCH + cases[i].second);
        assert_int_equal(arrivals[12], SWITCH + cases[i].last);
        fabric_check(f);
        fabric_close(f);
    }
}

/* 32 bytes are more than a request has: such a message waits for the data before it. */
static void data_waits_for_a_request_that_came_first(void **state)
{
    (void)state;
    struct fabric_fixture f = fabric_open(fabric_defaults(), 4, MHZ);
    pw_cycle arrivals[3];
    pw_fabric_send(f.fabric, 0, 1, 16, 0, note, arrivals, 0);
    pw_fabric_send(f.fabric, 0, 1, 640, 0, note, arrivals, 1);
    pw_fabric_send(f.fabric, 0, 1, 32, 0, note, arrivals, 2);
    run(f);
    assert_int_equal(arrivals[0], SWITCH + 1);
    assert_int_equal(arrivals[1], SWITCH + 1 + 40);
    assert_int_equal(arrivals[2], SWITCH + 1 + 40 + 2);
    fabric_close(f);
}

static void what_is_under_way_is_told(void **state)
{
    (void)state;
    struct fabric_fixture f = fabric_open(fabric_defaults(), 4, MHZ);
    pw_cycle arrivals[2];
    send_many(f, 0, 1, 1600, 2, arrivals);
    assert_int_equal(pw_fabric_pending(f.fabric), 2);
    assert_true(fabric_metric(f, "fabric.under_way") == 2);
    fabric_check(f);
    char text[128];
    size_t length = pw_fabric_describe(f.fabric, text, sizeof text);
    assert_string_equal(text, "  fabric: 2 messages under way; links are busy for up to 200 cycles\n");
    assert_int_equal(length, strlen(text));
    assert_int_equal(pw_fabric_describe(f.fabric, text, 10), 10);
    run(f);
    assert_true(fabric_metric(f, "fabric.under_way") == 0);
    assert_true(fabric_metric(f, "fabric.arrived") == 2);
    fabric_close(f);
}

static void fabrics_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_events *events = pw_events_create(&err);
    assert_non_null(events);
    struct pw_fabric_config c = all_to_all();
    struct pw_fabric *f;
    assert_int_equal(pw_fabric_create(&c, 0, MHZ, events, &f, &err), PW_USER_ERROR);
    assert_int_equal(pw_fabric_create(&c, 65, MHZ, events, &f, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "a fabric connects 1 to 64 GPUs, not 65");
    c.host_gbytes_per_second = 1e-9;
    assert_int_equal(pw_fabric_create(&c, 4, MHZ, events, &f, &err), PW_USER_ERROR);
    assert_null(f);
    pw_events_destroy(events);
    struct fabric_fixture most = fabric_open(all_to_all(), 64, MHZ);
    takes(most, 63, 62, MESSAGE, way(1, 0) + MESSAGE_CYCLES);
    takes(most, 63, 64, MESSAGE, way(3, 2) + MESSAGE_CYCLES);
    fabric_close(most);
}

/* Messages until there is no memory for another: the queue stops, and nothing is lost on the way there. */
static enum exhaust send_until_memory_is_out(void)
{
    struct pw_error err;
    struct pw_fabric_config c = fabric_defaults();
    struct pw_events *events = pw_events_create(&err);
    struct pw_fabric *f;
    if (!events || pw_fabric_create(&c, 4, MHZ, events, &f, &err) != PW_OK)
        return EXHAUST_TOO_LITTLE;
    uint64_t sent = 0;
    while (!events->out_of_memory && sent < 100000000) {
        pw_fabric_send(f, 0, 1, 0, 0, nothing, NULL, 0);
        sent++;
    }
    bool right = events->out_of_memory && pw_fabric_pending(f) == sent;
    pw_fabric_destroy(f);
    pw_events_destroy(events);
    return right ? EXHAUST_OK : EXHAUST_WRONG;
}

static void running_out_of_memory_stops_the_queue(void **state)
{
    (void)state;
    exhaust_memory(128 << 20, send_until_memory_is_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ways_of_a_tree_have_their_links_and_switches),
        cmocka_unit_test(switches_have_as_many_gpus_as_they_are_given),
        cmocka_unit_test(all_to_all_has_one_link_between_gpus_and_a_tree_to_the_host),
        cmocka_unit_test(sizes_from_nothing_to_the_largest_are_exact),
        cmocka_unit_test(a_link_carries_16_gbytes_per_second_each_way),
        cmocka_unit_test(parts_of_cycles_add_up),
        cmocka_unit_test(a_message_does_not_begin_before_it_comes),
        cmocka_unit_test(gpus_of_a_switch_share_the_link_to_the_root),
        cmocka_unit_test(two_streams_have_half_the_link_each),
        cmocka_unit_test(opposite_directions_do_not_disturb_each_other),
        cmocka_unit_test(all_to_all_has_no_queues_where_the_tree_has),
        cmocka_unit_test(links_serve_in_the_order_in_which_heads_come),
        cmocka_unit_test(a_slower_link_delays_the_last_byte_and_nobody_else),
        cmocka_unit_test(requests_pass_between_data_where_they_have_a_queue_of_their_own),
        cmocka_unit_test(data_waits_for_a_request_that_came_first),
        cmocka_unit_test(what_is_under_way_is_told),
        cmocka_unit_test(fabrics_that_make_no_sense_are_refused),
        cmocka_unit_test(running_out_of_memory_stops_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
