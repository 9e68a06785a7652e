/* The registry: sums over places and applications, windows between snapshots, ratios, identities, and every way in
 * which registration can go wrong. */
#include "sim/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { APPS = 3, UNITS = 2 };

struct counts {
    uint64_t lookups, hits, misses, cycles;
};

struct fixture {
    struct pw_stats *stats;
    struct counts units[UNITS][APPS];
};

static void register_unit(struct fixture *f, int unit)
{
    const struct counts *base = f->units[unit];
    pw_stats_counter(f->stats, "t.lookups", "lookups", "Lookups.", base, sizeof(*base),
                     offsetof(struct counts, lookups));
    pw_stats_counter(f->stats, "t.hits", "lookups", "Hits.", base, sizeof(*base), offsetof(struct counts, hits));
    pw_stats_counter(f->stats, "t.misses", "lookups", NULL, base, sizeof(*base), offsetof(struct counts, misses));
    pw_stats_counter(f->stats, "t.cycles", "cycles", NULL, base, sizeof(*base), offsetof(struct counts, cycles));
    pw_stats_ratio(f->stats, "t.latency_mean", "cycles", "Mean latency.", "t.cycles", "t.lookups", 1);
    pw_stats_identity(f->stats, "t.lookups", "t.hits + t.misses");
}

static void register_all(struct fixture *f)
{
    register_unit(f, 0);
    for (int u = 1; u < UNITS; u++) {
        const struct counts *base = f->units[u];
        pw_stats_further_place(f->stats, "t.lookups", base, sizeof(*base), offsetof(struct counts, lookups));
        pw_stats_further_place(f->stats, "t.hits", base, sizeof(*base), offsetof(struct counts, hits));
        pw_stats_further_place(f->stats, "t.misses", base, sizeof(*base), offsetof(struct counts, misses));
        pw_stats_further_place(f->stats, "t.cycles", base, sizeof(*base), offsetof(struct counts, cycles));
    }
    pw_stats_identity(f->stats, "t.lookups", "t.hits + t.misses"); /* said twice, it is still one */
    pw_stats_ratio(f->stats, "t.hit_rate", "%", "Share of hits.", "t.hits", "t.lookups", 100);
}

static int setup(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    f.stats = pw_stats_create(APPS, NULL);
    register_all(&f);
    *state = &f;
    return pw_stats_seal(f.stats, NULL) == PW_OK ? 0 : -1;
}

static int teardown(void **state)
{
    pw_stats_destroy(((struct fixture *)*state)->stats);
    return 0;
}

static double value(struct fixture *f, const char *name, int app, const uint64_t *from, const uint64_t *to)
{
    int index = pw_stats_find(f->stats, name);
    assert_true(index >= 0);
    return pw_stats_value(f->stats, (size_t)index, app, from, to);
}

static void only_counters_with_help_and_ratios_are_shown_in_order(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"t.lookups", "t.hits", "t.latency_mean", "t.hit_rate"};
    assert_int_equal(pw_stats_count(f->stats), 4);
    for (size_t i = 0; i < 4; i++) {
        struct pw_metric_info info = pw_stats_info(f->stats, i);
        assert_string_equal(info.name, names[i]);
        assert_int_equal(info.is_ratio, i >= 2);
        assert_int_equal(pw_stats_find(f->stats, names[i]), i);
    }
    assert_string_equal(pw_stats_info(f->stats, 1).unit, "lookups");
    assert_string_equal(pw_stats_info(f->stats, 3).help, "Share of hits.");
    assert_int_equal(pw_stats_find(f->stats, "t.cycles"), -1);
    assert_int_equal(pw_stats_raw_count(f->stats), 4 * APPS);
}

static void values_are_summed_over_units_and_split_by_application(void **state)
{
    struct fixture *f = *state;
    for (int u = 0; u < UNITS; u++)
        for (int a = 0; a < APPS; a++)
            f->units[u][a] = (struct counts){(uint64_t)(100 * u + 10 * a + 1), 1, 0, (uint64_t)(1000 * (a + 1))};
    uint64_t now[4 * APPS];
    pw_stats_snapshot(f->stats, now);
    for (int a = 0; a < APPS; a++) {
        assert_true(value(f, "t.lookups", a, NULL, now) == 102 + 20 * a);
        assert_int_equal(pw_stats_exact(f->stats, 0, a, NULL, now), 102 + 20 * a);
        assert_true(value(f, "t.latency_mean", a, NULL, now) == 2000.0 * (a + 1) / (102 + 20 * a));
    }
    assert_true(value(f, "t.lookups", -1, NULL, now) == 366);
    assert_true(value(f, "t.latency_mean", -1, NULL, now) == 12000.0 / 366); /* the ratio of the sums */
    assert_true(value(f, "t.hit_rate", -1, NULL, now) == 100 * 6.0 / 366);
}

static void windows_count_only_what_happened_between_snapshots(void **state)
{
    struct fixture *f = *state;
    uint64_t from[4 * APPS], to[4 * APPS];
    f->units[0][1] = (struct counts){10, 4, 6, 500};
    pw_stats_snapshot(f->stats, from);
    assert_true(value(f, "t.latency_mean", 1, from, from) == 0); /* nothing happened: not a division by zero */
    f->units[1][1] = (struct counts){5, 5, 0, 35};
    f->units[0][1].hits++;
    pw_stats_snapshot(f->stats, to);
    assert_true(value(f, "t.lookups", 1, from, to) == 5);
    assert_true(value(f, "t.hits", -1, from, to) == 6);
    assert_true(value(f, "t.latency_mean", 1, from, to) == 7);
    assert_true(value(f, "t.lookups", 0, from, to) == 0);
}

static void large_counters_are_exact(void **state)
{
    struct fixture *f = *state;
    uint64_t now[4 * APPS];
    f->units[0][0].lookups = (1ULL << 60) + 1;
    pw_stats_snapshot(f->stats, now);
    assert_int_equal(pw_stats_exact(f->stats, 0, -1, NULL, now), (1ULL << 60) + 1);
}

static void identity_is_checked_for_every_application_over_all_units(void **state)
{
    struct fixture *f = *state;
    struct pw_error err;
    assert_int_equal(pw_stats_identity_count(f->stats), 1); /* registered twice */
    assert_string_equal(pw_stats_identity_name(f->stats, 0), "t.lookups = t.hits + t.misses");
    f->units[0][2] = (struct counts){10, 1, 2, 0};
    f->units[1][2] = (struct counts){5, 5, 7, 0};
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &err), PW_OK);
    f->units[1][2].misses++;
    f->units[1][1].lookups++; /* the sum over applications still holds */
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &err), PW_FAILED);
    assert_string_equal(err.message, "identity 't.lookups = t.hits + t.misses' is broken: app1 has 1 on the left and 0 "
                                     "on the right");
    f->units[1][1].lookups--;
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &err), PW_FAILED);
    assert_string_equal(err.message, "identity 't.lookups = t.hits + t.misses' is broken: app2 has 15 on the left and "
                                     "16 on the right");
}

/* What a level has grown by counts; it may fall. A term may have a factor. */
static void identity_is_checked_between_two_snapshots(void **state)
{
    (void)state;
    struct {
        uint64_t asked, done, waiting, bytes;
    } c[2] = {{0}};
    struct pw_error err;
    struct pw_stats *s = pw_stats_create(2, &err);
#define COUNTER(name, field) pw_stats_counter(s, name, "", NULL, &c[0].field, sizeof c[0], 0)
    COUNTER("asked", asked);
    COUNTER("done", done);
    COUNTER("waiting", waiting);
    COUNTER("bytes", bytes);
#undef COUNTER
    pw_stats_level(s, "waiting");
    pw_stats_identity(s, "asked", "done + waiting");
    pw_stats_identity(s, "bytes", "4096 * done + 8 * asked");
    assert_int_equal(pw_stats_seal(s, &err), PW_OK);
    uint64_t from[8], to[8];
    c[1].asked = 5, c[1].done = 2, c[1].waiting = 3, c[1].bytes = 2 * 4096 + 5 * 8;
    pw_stats_snapshot(s, from);
    c[1].asked = 6, c[1].done = 5, c[1].waiting = 1, c[1].bytes += 3 * 4096 + 8;
    pw_stats_snapshot(s, to);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pw_stats_identity_between(s, i, 1, NULL, from, &err), PW_OK);
        assert_int_equal(pw_stats_identity_between(s, i, 1, from, to, &err), PW_OK);
        assert_int_equal(pw_stats_identity_between(s, i, 0, from, to, &err), PW_OK);
    }
    c[1].asked++;
    pw_stats_snapshot(s, to);
    assert_int_equal(pw_stats_identity_between(s, 0, 1, from, to, &err), PW_FAILED);
    assert_string_equal(err.message,
                        "identity 'asked = done + waiting' is broken: app1 has 2 on the left and 1 on the right");
    assert_int_equal(pw_stats_identity_between(s, 1, 1, from, to, &err), PW_FAILED);
    assert_int_equal(pw_stats_identity_between(s, 0, 0, from, to, &err), PW_OK);
    pw_stats_destroy(s);
}

static enum pw_status check_flag(void *object, struct pw_error *err)
{
    return *(bool *)object ? PW_OK : pw_fail(err, PW_FAILED, "frame 7 has two owners");
}

static void coded_identity_reports_its_reason(void **state)
{
    (void)state;
    bool holds = true;
    struct pw_error err;
    struct pw_stats *s = pw_stats_create(1, &err);
    pw_stats_identity_check(s, "frames owned once", check_flag, &holds);
    assert_int_equal(pw_stats_seal(s, &err), PW_OK);
    assert_int_equal(pw_stats_identity_run(s, 0, &err), PW_OK);
    holds = false;
    assert_int_equal(pw_stats_identity_run(s, 0, &err), PW_FAILED);
    assert_string_equal(err.message, "identity 'frames owned once' is broken: frame 7 has two owners");
    assert_string_equal(pw_stats_identity_name(s, 0), "frames owned once");
    pw_stats_destroy(s);
}

static void register_badly(struct pw_stats *s, int way)
{
    static uint64_t field;
    static const char too_long[] = "t.a_name_of_sixty_four_characters_which_is_one_more_than_there_is";
    pw_stats_counter(s, "a", "x", "A.", &field, 0, 0);
    pw_stats_counter(s, "hidden", "x", NULL, &field, 0, 0);
    switch (way) {
    case 0:
        pw_stats_counter(s, too_long, "x", "X.", &field, 0, 0);
        break;
    case 1:
        pw_stats_ratio(s, "r", "x", "R.", "a", "b", 1);
        break;
    case 2:
        pw_stats_ratio(s, "r", "x", "R.", "b", "a", 1);
        break;
    case 3:
        pw_stats_counter(s, "a", "y", "A.", &field, 0, 0);
        break;
    case 4:
        pw_stats_ratio(s, "a", "x", "R.", "a", "a", 1);
        break;
    case 5:
        pw_stats_ratio(s, "r", "x", "R.", "a", "a", 1);
        pw_stats_ratio(s, "r", "x", "R.", "a", "hidden", 1);
        break;
    case 6:
        pw_stats_ratio(s, "r", "x", "R.", "a", "a", 1);
        pw_stats_counter(s, "r", "x", "R.", &field, 0, 0);
        break;
    case 7:
        pw_stats_identity(s, "b", "a");
        break;
    case 8:
        pw_stats_identity(s, "a", "hidden + b");
        break;
    case 9:
        pw_stats_ratio(s, "hidden", "x", "R.", "a", "a", 1);
        break;
    case 10:
        pw_stats_identity(s, too_long, "a");
        break;
    case 11:
        pw_stats_counter(s, "a", "x", "A.", &field, 0, 0);
        break;
    case 12:
        pw_stats_scope(s, "gpu0");
        pw_stats_counter(s, "a", "x", "A.", &field, 0, 0);
        pw_stats_scope(s, "gpu1");
        pw_stats_counter(s, "a", "x", "A.", &field, 0, 0);
        pw_stats_scope(s, "gpu0");
        pw_stats_counter(s, "a", "x", "A.", &field, 0, 0);
        break;
    case 13:
        pw_stats_further_place(s, "b", &field, 0, 0);
        break;
    case 14:
        pw_stats_scope(s, "gpu0");
        pw_stats_further_place(s, "a", &field, 0, 0);
        break;
    case 15:
        pw_stats_further_place(s, "a", &field, sizeof field, 0);
        break;
    case 16:
        pw_stats_ratio(s, "r", "x", "R.", "a", "a", 1);
        pw_stats_ratio(s, "r", "x", "R.", "a", "a", 1);
        break;
    case 17:
        pw_stats_scope(s, "gpu0");
        pw_stats_counter(s, "b", "x", "B.", &field, 0, 0);
        pw_stats_identity(s, "b", "a");
        break;
    case 18:
        pw_stats_maximum(s, "b");
        break;
    case 19:
        pw_stats_common(s, "b");
        break;
    }
}

static void bad_registration_is_reported_by_seal(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "the metric name 't.a_name_of_sixty_four_characters_which_is_one_more_than_there_is' is longer than 63 "
        "characters",
        "metric 'r' needs counter 'b', which is not registered",
        "metric 'r' needs counter 'b', which is not registered",
        "counter 'a' is in x and in y",
        "there are two metrics 'a'",
        "there are two metrics 'r'",
        "there are two metrics 'r'",
        "identity 'b = a' speaks of the unknown counter 'b'",
        "identity 'a = hidden + b' speaks of the unknown counter 'b'",
        "there are two metrics 'hidden'",
        "identity 't.a_name_of_sixty_four_characters_which_is_one_more_than_there_is = a' speaks of the unknown "
        "counter "
        "'t.a_name_of_sixty_four_characters_which_is_one_more_than_there_is'",
        "counter 'a' is registered twice",
        "counter 'a' is registered twice in gpu0",
        "counter 'b' has a further place, but is not registered",
        "counter 'a' has a further place, but is not registered in gpu0",
        "counter 'a' is both common to all applications and not",
        "there are two metrics 'r'",
        "identity 'b = a' speaks of the counter 'a', which gpu0 has not",
        "maximum 'b' is not registered",
        "common counter 'b' is not registered",
    };
    for (int way = 0; way < (int)(sizeof(messages) / sizeof(*messages)); way++) {
        struct pw_error err;
        struct pw_stats *s = pw_stats_create(1, &err);
        register_badly(s, way);
        assert_int_equal(pw_stats_seal(s, &err), PW_FAILED);
        assert_string_equal(err.message, messages[way]);
        pw_stats_destroy(s);
    }
}

static void number_of_applications_is_checked(void **state)
{
    (void)state;
    struct pw_error err;
    assert_null(pw_stats_create(0, &err));
    assert_string_equal(err.message, "statistics for 0 applications; 1 to 64 are possible");
    assert_null(pw_stats_create(65, &err));
    struct pw_stats *s = pw_stats_create(64, &err);
    assert_non_null(s);
    pw_stats_destroy(s);
    pw_stats_destroy(NULL);
}

/* A stride of 0: every application has the value, and so have all of them together. */
static void a_common_counter_is_not_summed_over_applications(void **state)
{
    (void)state;
    uint64_t cycles = 0, busy[3] = {30, 60, 10}, from[6], to[6];
    struct pw_stats *s = pw_stats_create(3, NULL);
    pw_stats_counter(s, "cycles", "cycles", "Cycles.", &cycles, 0, 0);
    pw_stats_counter(s, "busy", "cycles", "Busy.", busy, sizeof busy[0], 0);
    pw_stats_ratio(s, "at_once", "", "At once.", "busy", "cycles", 1);
    assert_int_equal(pw_stats_seal(s, NULL), PW_OK);
    pw_stats_snapshot(s, from);
    cycles = 100;
    for (int i = 0; i < 3; i++)
        busy[i] *= 2;
    pw_stats_snapshot(s, to);
    assert_int_equal(pw_stats_exact(s, 0, -1, NULL, to), 100);
    assert_int_equal(pw_stats_exact(s, 0, 2, from, to), 100);
    assert_true(pw_stats_value(s, 2, 1, from, to) == 0.6);
    assert_true(pw_stats_value(s, 2, -1, from, to) == 1.0);
    pw_stats_destroy(s);
}

/* Places in any order, under names that are equal but not the same string. */
static void order_of_registration_does_not_change_sums(void **state)
{
    (void)state;
    enum { COUNTERS = 100, PLACES = 5 };
    static uint64_t fields[PLACES][COUNTERS];
    static char names[PLACES][COUNTERS][8];
    struct pw_stats *s = pw_stats_create(1, NULL);
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < COUNTERS; i++) {
            int c = p == 0 ? i : (i * (2 * p + 1) + p) % COUNTERS;
            if (p == 2)
                c = i;
            snprintf(names[p][c], sizeof(names[p][c]), "c%d", c);
            fields[p][c] = (uint64_t)(c * 1000 + p);
            if (p == 0)
                pw_stats_counter(s, names[p][c], "x", "C.", &fields[p][c], 0, 0);
            else
                pw_stats_further_place(s, names[p][c], &fields[p][c], 0, 0);
        }
    assert_int_equal(pw_stats_seal(s, NULL), PW_OK);
    assert_int_equal(pw_stats_count(s), COUNTERS);
    uint64_t now[COUNTERS];
    pw_stats_snapshot(s, now);
    for (size_t c = 0; c < COUNTERS; c++) {
        assert_string_equal(pw_stats_info(s, c).name, names[0][c]);
        assert_int_equal(pw_stats_exact(s, c, 0, NULL, now), 5 * 1000 * c + 10);
    }
    pw_stats_destroy(s);
}

static void a_level_of_a_window_is_what_it_is_at_the_end(void **state)
{
    (void)state;
    struct pw_error err;
    uint64_t value = 9, from, to;
    struct pw_stats *s = pw_stats_create(1, &err);
    assert_non_null(s);
    pw_stats_counter(s, "pages", "pages", "Pages there.", &value, sizeof value, 0);
    pw_stats_level(s, "pages");
    assert_int_equal(pw_stats_seal(s, &err), PW_OK);
    pw_stats_snapshot(s, &from);
    value = 4;
    pw_stats_snapshot(s, &to);
    assert_int_equal(pw_stats_exact(s, 0, 0, &from, &to), 4);
    assert_int_equal(pw_stats_exact(s, 0, -1, NULL, &from), 9);
    pw_stats_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_of_a_window_is_what_it_is_at_the_end),
        cmocka_unit_test_setup_teardown(only_counters_with_help_and_ratios_are_shown_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_summed_over_units_and_split_by_application, setup, teardown),
        cmocka_unit_test_setup_teardown(windows_count_only_what_happened_between_snapshots, setup, teardown),
        cmocka_unit_test_setup_teardown(large_counters_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(identity_is_checked_for_every_application_over_all_units, setup, teardown),
        cmocka_unit_test(identity_is_checked_between_two_snapshots),
        cmocka_unit_test(coded_identity_reports_its_reason),
        cmocka_unit_test(bad_registration_is_reported_by_seal),
        cmocka_unit_test(number_of_applications_is_checked),
        cmocka_unit_test(a_common_counter_is_not_summed_over_applications),
        cmocka_unit_test(order_of_registration_does_not_change_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
