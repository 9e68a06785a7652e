/* Scopes of the registry: two GPUs that register the same names, each by itself, their sum, and what of each a
 * result shows. */
#include "sim/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { APPS = 2, GPUS = 2 };

struct counts {
    uint64_t lookups, hits, misses, latency, under_way;
};

/* Of each GPU, and of the system. */
struct fixture {
    struct pw_stats *stats;
    struct counts gpus[GPUS][APPS];
    uint64_t cycles[GPUS], most[GPUS], bytes[GPUS], allocated[APPS];
    bool drained[GPUS];
    uint64_t *now;
    struct pw_error err;
};

static enum pw_status check_drained(void *object, struct pw_error *err)
{
    return *(bool *)object ? PW_OK : pw_fail(err, PW_FAILED, "7 requests have not come back");
}

static void register_gpu(struct fixture *f, int gpu)
{
#define COUNTER(name, unit, help, field)                                                                               \
    pw_stats_counter(f->stats, name, unit, help, f->gpus[gpu], sizeof(struct counts), offsetof(struct counts, field))
    COUNTER("t.lookups", "lookups", "Lookups.", lookups);
    COUNTER("t.hits", "lookups", "Hits.", hits);
    COUNTER("t.misses", "lookups", NULL, misses);
    COUNTER("t.latency", "cycles", NULL, latency);
    COUNTER("t.under_way", "walks", "Under way.", under_way);
#undef COUNTER
    pw_stats_level(f->stats, "t.under_way");
    pw_stats_counter(f->stats, "sm.cycles", "cycles", "Cycles.", &f->cycles[gpu], 0, 0);
    pw_stats_common(f->stats, "sm.cycles");
    pw_stats_counter(f->stats, "t.most", "walks", "Most at once.", &f->most[gpu], 0, 0);
    pw_stats_maximum(f->stats, "t.most");
    pw_stats_ratio(f->stats, "t.latency_mean", "cycles", "Mean latency.", "t.latency", "t.lookups", 1);
    pw_stats_ratio(f->stats, "t.at_once", "walks", "At once.", "t.latency", "sm.cycles", 1);
    pw_stats_identity(f->stats, "t.lookups", "t.hits + t.misses");
    pw_stats_identity_check(f->stats, "every request has come back", check_drained, &f->drained[gpu]);
}

/* GPU by GPU, what is the system's in between, and then each GPU's link. */
static int setup(void **state)
{
    static const char *const names[] = {"gpu0", "gpu1"};
    static struct fixture f;
    memset(&f, 0, sizeof f);
    f.stats = pw_stats_create(APPS, NULL);
    for (int gpu = 0; gpu < GPUS; gpu++) {
        f.drained[gpu] = true;
        pw_stats_scope(f.stats, names[gpu]);
        register_gpu(&f, gpu);
    }
    pw_stats_scope(f.stats, NULL);
    pw_stats_counter(f.stats, "mem.allocated", "bytes", "Allocated.", f.allocated, sizeof f.allocated[0], 0);
    for (int gpu = 0; gpu < GPUS; gpu++) {
        pw_stats_scope(f.stats, names[gpu]);
        pw_stats_counter(f.stats, "link.bytes", "bytes", "Moved.", &f.bytes[gpu], 0, 0);
    }
    if (pw_stats_seal(f.stats, &f.err) != PW_OK)
        return -1;
    f.now = calloc(pw_stats_raw_count(f.stats), sizeof *f.now);
    *state = &f;
    return f.now ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    free(f->now);
    pw_stats_destroy(f->stats);
    return 0;
}

static double value(struct fixture *f, const char *name, int scope, int app)
{
    int index = pw_stats_find(f->stats, name);
    assert_true(index >= 0);
    pw_stats_snapshot(f->stats, f->now);
    return pw_stats_value_in(f->stats, (size_t)index, scope, app, NULL, f->now);
}

static void a_counter_is_apart_in_each_scope_and_summed_without_one(void **state)
{
    struct fixture *f = *state;
    f->gpus[0][0].lookups = 1;
    f->gpus[0][1].lookups = 20;
    f->gpus[1][0].lookups = 300;
    f->gpus[1][1].lookups = 4000;
    f->bytes[0] = 5;
    f->bytes[1] = 60;
    assert_true(value(f, "t.lookups", 0, 0) == 1);
    assert_true(value(f, "t.lookups", 0, -1) == 21);
    assert_true(value(f, "t.lookups", 1, 0) == 300);
    assert_true(value(f, "t.lookups", 1, -1) == 4300);
    assert_true(value(f, "t.lookups", PW_ALL_SCOPES, 1) == 4020);
    assert_true(value(f, "t.lookups", PW_ALL_SCOPES, -1) == 4321);
    size_t index = (size_t)pw_stats_find(f->stats, "t.lookups");
    assert_int_equal(pw_stats_exact(f->stats, index, -1, NULL, f->now), 4321);
    assert_int_equal(pw_stats_exact_in(f->stats, index, 1, -1, NULL, f->now), 4300);
    /* Common to applications, but not to GPUs. */
    assert_true(value(f, "link.bytes", 1, 0) == 60);
    assert_true(value(f, "link.bytes", PW_ALL_SCOPES, -1) == 65);
}

static void a_ratio_without_a_scope_is_the_ratio_of_the_sums(void **state)
{
    struct fixture *f = *state;
    f->gpus[0][0] = (struct counts){.lookups = 1, .latency = 100};
    f->gpus[1][0] = (struct counts){.lookups = 9, .latency = 300};
    assert_true(value(f, "t.latency_mean", 0, -1) == 100);
    assert_true(value(f, "t.latency_mean", 1, -1) == 300.0 / 9);
    assert_true(value(f, "t.latency_mean", PW_ALL_SCOPES, -1) == 40); /* 400 / 10, not the mean of the means */
}

static void a_common_counter_counts_once_and_a_maximum_is_the_largest(void **state)
{
    struct fixture *f = *state;
    f->cycles[0] = f->cycles[1] = 1000;
    f->gpus[0][0].latency = 500;
    f->gpus[1][1].latency = 2500;
    f->most[0] = 7;
    f->most[1] = 4;
    f->gpus[0][0].under_way = 2;
    f->gpus[1][0].under_way = 3;
    assert_true(value(f, "sm.cycles", 1, -1) == 1000);
    assert_true(value(f, "sm.cycles", PW_ALL_SCOPES, -1) == 1000);
    assert_true(value(f, "t.at_once", 0, -1) == 0.5);
    assert_true(value(f, "t.at_once", PW_ALL_SCOPES, -1) == 3);
    assert_true(value(f, "t.most", 1, -1) == 4);
    assert_true(value(f, "t.most", PW_ALL_SCOPES, -1) == 7);
    assert_true(value(f, "t.under_way", PW_ALL_SCOPES, 0) == 5); /* a level is summed */
}

static void windows_are_those_of_the_scope(void **state)
{
    struct fixture *f = *state;
    uint64_t *from = calloc(pw_stats_raw_count(f->stats), sizeof *from);
    f->gpus[0][0] = (struct counts){.lookups = 10, .under_way = 6};
    f->gpus[1][0] = (struct counts){.lookups = 100, .under_way = 60};
    pw_stats_snapshot(f->stats, from);
    f->gpus[0][0] = (struct counts){.lookups = 13, .under_way = 1};
    f->gpus[1][0] = (struct counts){.lookups = 105, .under_way = 2};
    pw_stats_snapshot(f->stats, f->now);
    size_t lookups = (size_t)pw_stats_find(f->stats, "t.lookups");
    size_t under_way = (size_t)pw_stats_find(f->stats, "t.under_way");
    assert_int_equal(pw_stats_exact_in(f->stats, lookups, 1, 0, from, f->now), 5);
    assert_int_equal(pw_stats_exact(f->stats, lookups, -1, from, f->now), 8);
    assert_int_equal(pw_stats_exact_in(f->stats, under_way, 0, 0, from, f->now), 1);
    assert_int_equal(pw_stats_exact(f->stats, under_way, -1, from, f->now), 3);
    free(from);
}

static void an_identity_broken_in_one_scope_is_found_even_where_the_sum_holds(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(pw_stats_identity_name(f->stats, 0), "t.lookups = t.hits + t.misses");
    f->gpus[0][1] = (struct counts){.lookups = 10, .hits = 4, .misses = 6};
    f->gpus[1][1] = (struct counts){.lookups = 5, .hits = 5};
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &f->err), PW_OK);
    f->gpus[0][1].hits--;
    f->gpus[1][1].hits++; /* the sum still holds */
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &f->err), PW_FAILED);
    assert_string_equal(f->err.message,
                        "identity 't.lookups = t.hits + t.misses' is broken: app1 on gpu0 has 10 on the "
                        "left and 9 on the right");
    f->gpus[0][1].hits++;
    assert_int_equal(pw_stats_identity_run(f->stats, 0, &f->err), PW_FAILED);
    assert_string_equal(f->err.message, "identity 't.lookups = t.hits + t.misses' is broken: app1 on gpu1 has 5 on the "
                                        "left and 6 on the right");
    f->gpus[1][1].hits--;
    pw_stats_snapshot(f->stats, f->now);
    assert_int_equal(pw_stats_identity_between(f->stats, 0, 1, NULL, f->now, &f->err), PW_OK);
}

/* An identity of the system holds for the sum only: here what comes to one GPU left the other. */
static void an_identity_of_the_system_is_checked_over_the_sum(void **state)
{
    (void)state;
    uint64_t in[GPUS] = {9, 1}, out[GPUS] = {3, 7};
    struct pw_error err;
    struct pw_stats *s = pw_stats_create(1, &err);
    static const char *const names[] = {"gpu0", "gpu1"};
    for (int gpu = 0; gpu < GPUS; gpu++) {
        pw_stats_scope(s, names[gpu]);
        pw_stats_counter(s, "in", "pages", NULL, &in[gpu], 0, 0);
        pw_stats_counter(s, "out", "pages", NULL, &out[gpu], 0, 0);
    }
    pw_stats_scope(s, NULL);
    pw_stats_identity(s, "in", "out");
    assert_int_equal(pw_stats_seal(s, &err), PW_OK);
    assert_int_equal(pw_stats_identity_run(s, 0, &err), PW_OK);
    in[1]++;
    assert_int_equal(pw_stats_identity_run(s, 0, &err), PW_FAILED);
    assert_string_equal(err.message, "identity 'in = out' is broken: app0 has 11 on the left and 10 on the right");
    pw_stats_destroy(s);
}

static void each_scope_has_its_own_coded_identity(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_stats_identity_count(f->stats), 3);
    assert_string_equal(pw_stats_identity_name(f->stats, 1), "gpu0: every request has come back");
    assert_string_equal(pw_stats_identity_name(f->stats, 2), "gpu1: every request has come back");
    f->drained[1] = false;
    assert_int_equal(pw_stats_identity_run(f->stats, 1, &f->err), PW_OK);
    assert_int_equal(pw_stats_identity_run(f->stats, 2, &f->err), PW_FAILED);
    assert_string_equal(f->err.message,
                        "identity 'gpu1: every request has come back' is broken: 7 requests have not come back");
}

/* The names and values that a result has, in its order. */
static void write_result(struct fixture *f, char *out, size_t capacity)
{
    size_t used = 0;
    pw_stats_snapshot(f->stats, f->now);
    for (size_t k = 0; k < pw_stats_view_count(f->stats); k++) {
        struct pw_stats_view v = pw_stats_view(f->stats, k);
        for (size_t i = 0; i < pw_stats_count(f->stats); i++)
            if (pw_stats_has(f->stats, i, v.scope))
                used += (size_t)snprintf(out + used, capacity - used, "%s.%s=%g\n", v.prefix,
                                         pw_stats_info(f->stats, i).name,
                                         pw_stats_value_in(f->stats, i, v.scope, v.app, NULL, f->now));
    }
    assert_true(used < capacity);
}

static void a_result_of_two_gpus_shows_each_and_the_sum(void **state)
{
    struct fixture *f = *state;
    char text[2048];
    f->gpus[0][0] = (struct counts){.lookups = 1, .hits = 1, .latency = 10};
    f->gpus[1][1] = (struct counts){.lookups = 3, .hits = 2, .latency = 50, .under_way = 1};
    f->cycles[0] = f->cycles[1] = 100;
    f->most[0] = 1;
    f->most[1] = 2;
    f->bytes[0] = 7;
    f->allocated[0] = 64;
    f->allocated[1] = 32;
    write_result(f, text, sizeof text);
    assert_string_equal(text,
                        "gpu0.t.lookups=1\ngpu0.t.hits=1\ngpu0.t.under_way=0\ngpu0.sm.cycles=100\ngpu0.t.most=1\n"
                        "gpu0.t.latency_mean=10\ngpu0.t.at_once=0.1\ngpu0.link.bytes=7\n"
                        "gpu1.t.lookups=3\ngpu1.t.hits=2\ngpu1.t.under_way=1\ngpu1.sm.cycles=100\ngpu1.t.most=2\n"
                        "gpu1.t.latency_mean=16.6667\ngpu1.t.at_once=0.5\ngpu1.link.bytes=0\n"
                        "gpus.t.lookups=4\ngpus.t.hits=3\ngpus.t.under_way=1\ngpus.sm.cycles=100\ngpus.t.most=2\n"
                        "gpus.t.latency_mean=15\ngpus.t.at_once=0.6\ngpus.mem.allocated=96\ngpus.link.bytes=7\n"
                        "app0.t.lookups=1\napp0.t.hits=1\napp0.t.under_way=0\napp0.sm.cycles=100\napp0.t.most=2\n"
                        "app0.t.latency_mean=10\napp0.t.at_once=0.1\napp0.mem.allocated=64\napp0.link.bytes=7\n"
                        "app1.t.lookups=3\napp1.t.hits=2\napp1.t.under_way=1\napp1.sm.cycles=100\napp1.t.most=2\n"
                        "app1.t.latency_mean=16.6667\napp1.t.at_once=0.5\napp1.mem.allocated=32\napp1.link.bytes=7\n");
}

static void one_gpu_is_all_there_are_and_has_what_is_the_systems(void **state)
{
    (void)state;
    uint64_t lookups = 5, allocated = 4096;
    struct fixture f = {.stats = pw_stats_create(1, NULL)};
    char text[256];
    uint64_t now[2];
    f.now = now;
    pw_stats_counter(f.stats, "mem.allocated", "bytes", "Allocated.", &allocated, 0, 0);
    pw_stats_scope(f.stats, "gpu0");
    pw_stats_counter(f.stats, "t.lookups", "lookups", "Lookups.", &lookups, sizeof lookups, 0);
    pw_stats_identity_check(f.stats, "every request has come back", check_drained, &f.drained[0]);
    assert_int_equal(pw_stats_seal(f.stats, &f.err), PW_OK);
    assert_int_equal(pw_stats_raw_count(f.stats), 2);
    write_result(&f, text, sizeof text);
    assert_string_equal(text, "gpu0.mem.allocated=4096\ngpu0.t.lookups=5\napp0.mem.allocated=4096\napp0.t.lookups=5\n");
    assert_string_equal(pw_stats_identity_name(f.stats, 0), "every request has come back");
    pw_stats_destroy(f.stats);
}

static void more_scopes_than_there_may_be_are_refused(void **state)
{
    (void)state;
    static char names[PW_MAX_SCOPES + 1][PW_SCOPE_CAPACITY];
    struct pw_error err;
    for (unsigned count = PW_MAX_SCOPES; count <= PW_MAX_SCOPES + 1; count++) {
        uint64_t fields[PW_MAX_SCOPES + 1], now[PW_MAX_SCOPES + 1];
        struct pw_stats *s = pw_stats_create(1, &err);
        for (unsigned i = 0; i < count; i++) {
            fields[i] = i < 64 ? 1ULL << i : 0;
            pw_scope_gpu(i, names[i]);
            pw_stats_scope(s, names[i]);
            pw_stats_counter(s, "a", "x", "A.", &fields[i], 0, 0);
        }
        assert_int_equal(pw_stats_seal(s, &err), count > PW_MAX_SCOPES ? PW_FAILED : PW_OK);
        if (count <= PW_MAX_SCOPES) {
            pw_stats_snapshot(s, now);
            assert_int_equal(pw_stats_exact_in(s, 0, PW_MAX_SCOPES - 1, 0, NULL, now), 1ULL << (PW_MAX_SCOPES - 1));
            assert_int_equal(pw_stats_exact(s, 0, 0, NULL, now), UINT64_MAX);
        } else {
            assert_string_equal(err.message, "statistics have more than 64 scopes");
        }
        pw_stats_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_TWO_GPUS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        WITH_TWO_GPUS(a_counter_is_apart_in_each_scope_and_summed_without_one),
        WITH_TWO_GPUS(a_ratio_without_a_scope_is_the_ratio_of_the_sums),
        WITH_TWO_GPUS(a_common_counter_counts_once_and_a_maximum_is_the_largest),
        WITH_TWO_GPUS(windows_are_those_of_the_scope),
        WITH_TWO_GPUS(an_identity_broken_in_one_scope_is_found_even_where_the_sum_holds),
        cmocka_unit_test(an_identity_of_the_system_is_checked_over_the_sum),
        WITH_TWO_GPUS(each_scope_has_its_own_coded_identity),
        WITH_TWO_GPUS(a_result_of_two_gpus_shows_each_and_the_sum),
        cmocka_unit_test(one_gpu_is_all_there_are_and_has_what_is_the_systems),
        cmocka_unit_test(more_scopes_than_there_may_be_are_refused),
#undef WITH_TWO_GPUS
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
