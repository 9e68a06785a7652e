/* Times of the host link against closed forms in integers: the five measured points of the UVM paper, the H200's
 * copies, the load-to-use latencies of Mosaic, and the order of transfers. */
#include "mem/link.h"
#include "sim/option.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PASCAL_MHZ = 1481, H200_MHZ = 1980 };

static struct pw_link_config default_config(void)
{
    struct pw_link_config c = {0};
    static const struct pw_option_group groups[] = {{"link", pw_link_options, 0}, {0}};
    struct pw_options *options;
    struct pw_error err;
    assert_int_equal(pw_options_create(groups, &c, NULL, &options, &err), PW_OK);
    assert_int_equal(pw_options_finish(options, &err), PW_OK);
    pw_options_destroy(options);
    return c;
}

static struct pw_link_config h200_config(void)
{
    struct pw_link_config c = default_config();
    c.model = PW_LINK_LINEAR;
    c.start_us[PW_LINK_H2D] = 2.7;
    c.start_us[PW_LINK_D2H] = 1.7;
    c.gbytes_per_second[PW_LINK_H2D] = c.gbytes_per_second[PW_LINK_D2H] = 55.5;
    return c;
}

struct fixture {
    struct pw_events *events;
    struct pw_link *link;
};

static struct fixture open_link(struct pw_link_config config, uint32_t mhz)
{
    struct fixture f;
    struct pw_error err;
    f.events = pw_events_create(&err);
    assert_non_null(f.events);
    if (pw_link_create(&config, mhz, f.events, &f.link, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f;
}

static void close_link(struct fixture f)
{
    pw_link_destroy(f.link);
    pw_events_destroy(f.events);
}

/* ceil(a / b) */
static uint64_t up(unsigned __int128 a, uint64_t b)
{
    return (uint64_t)((a + b - 1) / b);
}

static const struct {
    const char *claim;
    uint64_t bytes, bytes_per_second;
} table_1[] = {{"uvm-tab1-4k", 4 << 10, 3221900000},
               {"uvm-tab1-16k", 16 << 10, 6443700000},
               {"uvm-tab1-64k", 64 << 10, 8477100000},
               {"uvm-tab1-256k", 256 << 10, 10508000000},
               {"uvm-tab1-1024k", 1024 << 10, 11223000000}};

enum { POINTS = sizeof table_1 / sizeof *table_1 };

/* uvm-tab1-4k, uvm-tab1-16k, uvm-tab1-64k, uvm-tab1-256k, uvm-tab1-1024k, uvm-sec61-pcie-fn: the time is the size over
 * the bandwidth at that size, rounded up to a cycle, in both directions. */
static void the_points_of_table_1_are_met(void **state)
{
    (void)state;
    struct fixture f = open_link(default_config(), PASCAL_MHZ);
    for (int i = 0; i < POINTS; i++)
        for (int d = 0; d < PW_LINK_DIRECTIONS; d++) {
            uint64_t expected =
                up((unsigned __int128)table_1[i].bytes * PASCAL_MHZ * 1000000, table_1[i].bytes_per_second);
            uint64_t cycles = pw_link_cycles(f.link, (enum pw_link_direction)d, table_1[i].bytes);
            if (cycles != expected)
                fail_msg("%s: %llu cycles instead of %llu", table_1[i].claim, (unsigned long long)cycles,
                         (unsigned long long)expected);
        }
    close_link(f);
}

/* uvm-sec61-pcie-fn: between and beyond the points a larger transfer takes longer and has no less bandwidth. At a clock
 * at which a cycle is a tenth of a nanosecond, rounding is no excuse. */
static void time_grows_and_bandwidth_does_not_fall_with_size(void **state)
{
    (void)state;
    struct fixture f = open_link(default_config(), 10000);
    uint64_t last = 0;
    for (uint64_t pages = 1; pages <= 1024; pages++) {
        uint64_t cycles = pw_link_cycles(f.link, PW_LINK_H2D, pages * PW_PAGE_BYTES);
        assert_true(cycles > last);
        if (pages > 1) /* cycles / pages, with one cycle of rounding */
            assert_true((cycles - 1) * (pages - 1) < last * pages);
        last = cycles;
    }
    close_link(f);
}

/* uvm-sec41-pcie-const: a start cost of some 0.85 us is in every transfer, however small, so two transfers take longer
 * than one of both sizes together. */
static void every_transfer_bears_a_start_cost(void **state)
{
    (void)state;
    struct fixture f = open_link(default_config(), 1000);
    uint64_t four = pw_link_cycles(f.link, PW_LINK_H2D, 4096), sixteen = pw_link_cycles(f.link, PW_LINK_H2D, 16384);
    uint64_t start = pw_link_cycles(f.link, PW_LINK_H2D, 1);
    assert_in_range(start, four - (sixteen - four) / 3 - 2, four - (sixteen - four) / 3 + 2);
    assert_in_range(start, 840, 860);
    for (uint64_t a = 1; a <= 512; a += 7)
        for (uint64_t b = 1; b <= 512; b += 13)
            assert_true(pw_link_cycles(f.link, PW_LINK_H2D, a * 4096) + pw_link_cycles(f.link, PW_LINK_H2D, b * 4096) >
                        pw_link_cycles(f.link, PW_LINK_H2D, (a + b) * 4096));
    close_link(f);
}

/* A start cost and a rate, exactly, at sizes that are no whole number of cycles. */
static void a_line_is_its_start_and_its_rate(void **state)
{
    (void)state;
    struct fixture f = open_link(h200_config(), H200_MHZ);
    for (uint64_t bytes = 4096; bytes <= 64 << 20; bytes += bytes / 2)
        for (int d = 0; d < PW_LINK_DIRECTIONS; d++) {
            /* ns * 111 on both sides: 55.5 GB/s is 111 bytes in 2 ns. */
            uint64_t start_ns = d == PW_LINK_H2D ? 2700 : 1700;
            uint64_t expected = up((unsigned __int128)(start_ns * 111 + bytes * 2) * H200_MHZ, 111 * 1000);
            assert_int_equal(pw_link_cycles(f.link, (enum pw_link_direction)d, bytes), expected);
        }
    close_link(f);
}

/* Copies timed on a real H200: each within 10%. */
static void the_h200_line_is_near_what_was_measured(void **state)
{
    (void)state;
    struct fixture f = open_link(h200_config(), H200_MHZ);
    FILE *file = fopen(PW_DATA "/hw/h200-link.csv", "r");
    assert_non_null(file);
    char line[128];
    unsigned rows = 0;
    while (fgets(line, sizeof line, file)) {
        char direction[8];
        unsigned long long bytes;
        double measured;
        if (sscanf(line, "%7[a-z0-9],%llu,%lf", direction, &bytes, &measured) != 3)
            continue;
        enum pw_link_direction d = strcmp(direction, "h2d") ? PW_LINK_D2H : PW_LINK_H2D;
        double us = (double)pw_link_cycles(f.link, d, bytes) / H200_MHZ;
        if (fabs(us - measured) > 0.1 * measured)
            fail_msg("%s %llu: %.3f us, measured %.3f us", direction, bytes, us, measured);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 30);
    close_link(f);
}

struct log {
    uint64_t arguments[8];
    pw_cycle times[8];
    unsigned count;
};

static void note(void *object, uint64_t argument, pw_cycle now)
{
    struct log *log = object;
    log->arguments[log->count] = argument;
    log->times[log->count++] = now;
}

/* uvm-sec33-serial: one transfer at a time in a direction, in the order in which they were queued; none before it is
 * ready; the other direction does not notice. */
static void transfers_of_a_direction_follow_each_other(void **state)
{
    (void)state;
    struct fixture f = open_link(default_config(), PASCAL_MHZ);
    pw_cycle small = pw_link_cycles(f.link, PW_LINK_H2D, 4096), large = pw_link_cycles(f.link, PW_LINK_H2D, 61440);
    struct log log = {0};
    assert_int_equal(pw_link_send(f.link, PW_LINK_H2D, 4096, 100, note, &log, 1), 100 + small);
    assert_int_equal(pw_link_send(f.link, PW_LINK_H2D, 61440, 100, note, &log, 2), 100 + small + large);
    assert_int_equal(pw_link_send(f.link, PW_LINK_D2H, 4096, 50, note, &log, 3), 50 + small);
    pw_cycle idle = 100 + small + large;
    assert_int_equal(pw_link_send(f.link, PW_LINK_H2D, 4096, idle + 10, note, &log, 4), idle + 10 + small);
    assert_int_equal(pw_link_send(f.link, PW_LINK_H2D, 4096, 0, NULL, NULL, 0), idle + 10 + 2 * small);
    pw_events_run(f.events, PW_NEVER, &(bool){false});
    static const uint64_t order[] = {3, 1, 2, 4};
    assert_int_equal(log.count, 4);
    assert_memory_equal(log.arguments, order, sizeof order);
    assert_int_equal(log.times[0], 50 + small);
    assert_int_equal(log.times[1], 100 + small);
    assert_int_equal(log.times[2], idle);
    assert_int_equal(log.times[3], idle + 10 + small);
    const struct pw_link_counters *in = pw_link_counters(f.link, PW_LINK_H2D),
                                  *out = pw_link_counters(f.link, PW_LINK_D2H);
    assert_int_equal(in->transfers, 4);
    assert_int_equal(in->transfers_4k, 3);
    assert_int_equal(in->bytes, 3 * 4096 + 61440);
    assert_int_equal(in->busy_cycles, 3 * small + large);
    assert_int_equal(out->transfers, 1);
    assert_int_equal(out->busy_cycles, small);
    close_link(f);
}

static void points_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "4KB", "4KB:",        "4KB:3+4KB:4", "16KB:6+4KB:3", "4KB:3+16KB:2.9",
                                        "4KB:0", "0:3", "4KB:1+8KB:3", "2TB:3",       "x:3",          "4KB:3,16KB:6"};
    struct pw_link_config c = default_config();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pw_link *l;
        struct pw_error err = {0};
        snprintf(c.points, sizeof c.points, "%s", wrong[i]);
        if (pw_link_create(&c, 1000, NULL, &l, &err) != PW_USER_ERROR)
            fail_msg("'%s' was taken", wrong[i]);
        assert_null(l);
        assert_non_null(strstr(err.message, "link.points"));
    }
    snprintf(c.points, sizeof c.points, "64KB:8");
    struct fixture f = open_link(c, 1000);
    assert_int_equal(pw_link_cycles(f.link, PW_LINK_H2D, 4096), 512);
    assert_int_equal(pw_link_cycles(f.link, PW_LINK_H2D, 1 << 20), 131072);
    close_link(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_points_of_table_1_are_met),
        cmocka_unit_test(time_grows_and_bandwidth_does_not_fall_with_size),
        cmocka_unit_test(every_transfer_bears_a_start_cost),
        cmocka_unit_test(a_line_is_its_start_and_its_rate),
        cmocka_unit_test(the_h200_line_is_near_what_was_measured),
        cmocka_unit_test(transfers_of_a_direction_follow_each_other),
        cmocka_unit_test(points_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
