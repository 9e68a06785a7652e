/* Configurations that cannot work are refused with the option's name; statistics appear under their fixed names. */
#include "dram_fixture.h"

static void refused(struct pw_dram_config c, const char *name)
{
    struct pw_dram_wiring wiring = {.core_mhz = 1000};
    struct pw_dram_channel *channel;
    struct pw_error err;
    assert_int_equal(pw_dram_channel_create(&c, &wiring, &channel, &err), PW_USER_ERROR);
    assert_null(channel);
    assert_non_null(strstr(err.message, name));
}

static void impossible_configurations_are_user_errors(void **state)
{
    (void)state;
    struct pw_dram_config c;
#define REFUSED(field, value, name)                                                                                    \
    do {                                                                                                               \
        c = dram_default_config();                                                                                     \
        c.field = value;                                                                                               \
        refused(c, name);                                                                                              \
    } while (0)
    REFUSED(write_low, c.write_high, "dram.write_low");
    REFUSED(write_high, c.write_queue + 1, "dram.write_high");
    REFUSED(row_bytes, 64, "dram.row_bytes");
    REFUSED(row_bytes, 3072, "dram.row_bytes");
    REFUSED(banks, 0, "dram.banks");
    REFUSED(banks, 6, "dram.banks");
    REFUSED(banks, 128, "dram.banks");
    REFUSED(channels, 0, "dram.channels");
    REFUSED(clock_mhz, 0, "dram.clock_mhz");
    REFUSED(burst_bytes, 16, "dram.burst_bytes");
    REFUSED(burst_bytes, 256, "dram.burst_bytes");
    REFUSED(bytes_per_clock, 24, "dram.bytes_per_clock");
    REFUSED(ras, c.rcd - 1, "dram.ras");
    REFUSED(rc, c.ras - 1, "dram.rc");
    REFUSED(rrd, 0, "dram.rrd");
    REFUSED(read_queue, 0, "dram.read_queue");
    REFUSED(schedule.index, 1000, "dram.schedule");
    REFUSED(channels, 1000000, "dram.channels");
    c = dram_default_config();
    c.bytes = 1 << 20;
    c.channels = 1024;
    refused(c, "dram.bytes");
}

static void metrics_have_their_names_and_identities_hold(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_stats *stats = pw_stats_create(2, &err);
    struct pw_dram_counters n[2];
    memset(n, 0, sizeof(n));
    pw_dram_register(stats, n);
    assert_int_equal(pw_stats_seal(stats, &err), PW_OK);
    n[1] = (struct pw_dram_counters){.reads = 7,
                                     .writes = 3,
                                     .row_hits = 5,
                                     .row_misses = 1,
                                     .row_conflicts = 4,
                                     .read_bytes = 1024,
                                     .write_bytes = 256,
                                     .data_bytes = 1024,
                                     .translation_bytes = 256,
                                     .data_reads = 5,
                                     .translation_reads = 2,
                                     .translation_row_hits = 1,
                                     .data_latency = 500,
                                     .translation_latency = 300,
                                     .busy_clocks = 40};
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        {"dram.reads", 7},
        {"dram.writes", 3},
        {"dram.row_hits", 5},
        {"dram.row_misses", 1},
        {"dram.row_conflicts", 4},
        {"dram.bytes", 1280},
        {"dram.read_bytes", 1024},
        {"dram.write_bytes", 256},
        {"dram.data.bytes", 1024},
        {"dram.translation.bytes", 256},
        {"dram.translation.reads", 2},
        {"dram.translation.row_hits", 1},
        {"dram.busy_clocks", 40},
        {"dram.data.latency_mean", 100},
        {"dram.translation.latency_mean", 150},
    };
    size_t count = sizeof(expected) / sizeof(expected[0]);
    assert_int_equal(pw_stats_count(stats), count);
    uint64_t *now = calloc(pw_stats_raw_count(stats), sizeof(*now));
    pw_stats_snapshot(stats, now);
    for (size_t i = 0; i < count; i++) {
        int index = pw_stats_find(stats, expected[i].name);
        assert_true(index >= 0);
        double value = pw_stats_value(stats, (size_t)index, 1, NULL, now);
        assert_true(value == expected[i].value);
    }
    free(now);
    for (size_t i = 0; i < pw_stats_identity_count(stats); i++)
        assert_int_equal(pw_stats_identity_run(stats, i, &err), PW_OK);
    n[1].row_hits++;
    assert_int_equal(pw_stats_identity_run(stats, 0, &err), PW_FAILED);
    pw_stats_destroy(stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_configurations_are_user_errors),
        cmocka_unit_test(metrics_have_their_names_and_identities_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
