/* A fabric with an event queue and statistics of its own, for tests. Include it after <cmocka.h>. */
#ifndef PW_TESTS_FABRIC_FIXTURE_H
#define PW_TESTS_FABRIC_FIXTURE_H

#include "mem/fabric.h"

#include <stdlib.h>
#include <string.h>

struct fabric_fixture {
    struct pw_events *events;
    struct pw_fabric *fabric;
    struct pw_stats *stats;
};

static inline struct pw_fabric_config fabric_defaults(void)
{
    struct pw_fabric_config c = {0};
    static const struct pw_option_group groups[] = {{"fabric", pw_fabric_options, 0}, {0}};
    static const uint32_t clock_mhz = 1000;
    struct pw_options *options;
    struct pw_error err;
    assert_int_equal(pw_options_create(groups, &c, &clock_mhz, &options, &err), PW_OK);
    assert_int_equal(pw_options_finish(options, &err), PW_OK);
    pw_options_destroy(options);
    return c;
}

static inline struct fabric_fixture fabric_open(struct pw_fabric_config config, unsigned gpus, uint32_t mhz)
{
    struct fabric_fixture f;
    struct pw_error err;
    f.events = pw_events_create(&err);
    f.stats = pw_stats_create(1, &err);
    assert_non_null(f.events);
    assert_non_null(f.stats);
    if (pw_fabric_create(&config, gpus, mhz, f.events, &f.fabric, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_fabric_register(f.fabric, f.stats);
    assert_int_equal(pw_stats_seal(f.stats, &err), PW_OK);
    return f;
}

/* Runs what happens before `limit`. */
static inline void fabric_run(struct fabric_fixture f, pw_cycle limit)
{
    volatile bool stop = false;
    pw_events_run(f.events, limit, &stop);
}

static inline double fabric_metric(struct fabric_fixture f, const char *name)
{
    int index = pw_stats_find(f.stats, name);
    if (index < 0)
        fail_msg("there is no metric %s", name);
    uint64_t *now = calloc(pw_stats_raw_count(f.stats), sizeof *now);
    assert_non_null(now);
    pw_stats_snapshot(f.stats, now);
    double value = pw_stats_value(f.stats, (size_t)index, -1, NULL, now);
    free(now);
    return value;
}

static inline void fabric_check(struct fabric_fixture f)
{
    struct pw_error err;
    assert_true(pw_stats_identity_count(f.stats) > 0);
    for (size_t i = 0; i < pw_stats_identity_count(f.stats); i++)
        if (pw_stats_identity_run(f.stats, i, &err) != PW_OK)
            fail_msg("%s", err.message);
}

static inline void fabric_close(struct fabric_fixture f)
{
    fabric_check(f);
    pw_stats_destroy(f.stats);
    pw_fabric_destroy(f.fabric);
    pw_events_destroy(f.events);
}

#endif
