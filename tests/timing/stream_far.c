/* A stream that has nothing to do for long: time leaps, and comes out where single steps would have brought it.
 *
 * What happens in an idle machine are looks and calls of policies at epochs. They are made all at once; in steps of
 * less than 8,192 cycles they are made one by one, which is what the metrics of a leap are held against. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "streams.h"

#include <stdlib.h>
#include <time.h>

enum { STEP = 4000, PAUSE = 3000000, SETS = 4 };

static const struct machine {
    const char *name, *design;
    unsigned apps;
    const char *sets[SETS];
} machines[] = {
    {"mosaic", "gpu-mmu", 1, {NULL}},
    {"mosaic", "gpu-mmu", 1, {"sm.dependency_latency=1"}}, /* nothing happens when arithmetic ends */
    {"mosaic", "mosaic", 2, {NULL}},
    {"mosaic", "conventional-coalescing", 1, {"coalesce.interval=70000"}},
    {"mask", "mask", 3, {"fill.epoch=10000", "dram.epoch=9999", "l2.walks.epoch=7000"}},
    {"mask", "mask", 2, {"dram.silver_max=1", "dram.epoch=2999999"}},
    {"mask", "mask-dram", 3, {"dram.epoch=10000"}},
    {"mask", "mask-dram", 3, {"dram.epoch=10000", "dram.silver_max=30"}},
    {"mask", "mask-cache", 1, {"l2.walks.epoch=20000"}},
    {"mgpu4", "bypass", 2, {"gpu.count=2", "route.epoch=5000"}},
    {"mgpu4", "mosaic+bypass", 1, {"gpu.count=2"}},
    {"pascal", "uvm-tbn-tbn", 1, {NULL}},
    {"volta", "gpu-mmu", 1, {"sim.snapshots=1000"}},
};

enum { MACHINES = sizeof machines / sizeof *machines };

static struct pw_stream *open_machine(const struct machine *m)
{
    unsigned sets = 0;
    while (sets < SETS && m->sets[sets])
        sets++;
    return stream_open((struct pw_stream_spec){.machine = m->name,
                                               .design = m->design,
                                               .apps = m->apps,
                                               .sets = m->sets,
                                               .set_count = sets,
                                               .map_on_touch = true});
}

/* Loads and stores of every application from two SMs, of which the second finds data in the L2 cache, and arithmetic
 * that goes on when they have ended. */
static void work(struct pw_stream *s, unsigned apps, uint64_t from)
{
    enum { ACCESSES = 12 };
    for (unsigned app = 0; app < apps; app++)
        for (unsigned sm = 0; sm < 2; sm++) {
            struct pw_stream_place place = {.app = app, .sm = sm};
            for (uint64_t i = 0; i < ACCESSES; i++) {
                enum pw_stream_kind kind = i % 4 ? PW_STREAM_LOAD : PW_STREAM_STORE;
                STREAM_OK(pw_stream_access(s, place, kind, from + i * 0x11000, 4, i, err));
            }
            STREAM_OK(pw_stream_drain(s, err));
        }
    struct pw_stream_operation arithmetic = {.kind = PW_STREAM_COMPUTE, .instructions = 1 << 20};
    STREAM_OK(pw_stream_push(s, (struct pw_stream_place){0}, &arithmetic, err));
    STREAM_OK(pw_stream_drain(s, err));
}

struct values {
    double of[4000];
    size_t count;
};

static void keep(void *context, const struct pw_metric *metric)
{
    struct values *v = context;
    assert_true(v->count < sizeof v->of / sizeof *v->of);
    v->of[v->count++] = metric->real;
}

static void compare(void *context, const struct pw_metric *metric)
{
    struct values *v = context;
    double value = metric->real, stepped = v->of[v->count++];
    if (memcmp(&value, &stepped, sizeof value) != 0)
        fail_msg("%s is %.17g after a leap, %.17g after steps", metric->name, value, stepped);
}

/* Work, a pause, work and another pause; visits the metrics then. */
static void visit_after_pauses(const struct machine *m, pw_stream_visit *visit, struct values *v, uint64_t step)
{
    struct pw_stream *s = open_machine(m);
    v->count = 0;
    for (unsigned i = 0; i < 2; i++) {
        work(s, m->apps, i << 20);
        for (uint64_t until = pw_stream_now(s) + PAUSE; pw_stream_now(s) < until;) {
            uint64_t next = pw_stream_now(s) + step < until ? pw_stream_now(s) + step : until;
            STREAM_OK(pw_stream_advance(s, next, err));
        }
    }
    STREAM_OK(pw_stream_metrics(s, visit, v, err));
    stream_end(s);
}

static void a_leap_ends_where_steps_do(void **state)
{
    (void)state;
    static struct values v;
    for (size_t i = 0; i < MACHINES; i++) {
        visit_after_pauses(&machines[i], keep, &v, STEP);
        visit_after_pauses(&machines[i], compare, &v, PAUSE);
    }
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* A page walk, and what it finds in DRAM. */
static uint64_t cold_load(struct pw_stream *s, uint64_t address)
{
    struct pw_stream_completion done = stream_do(s, (struct pw_stream_place){0}, PW_STREAM_LOAD, address);
    return done.completed - done.issued;
}

/* The cycles of a load, after a pause of so many million periods of the clocks. */
static uint64_t load_after(const struct machine *m, uint64_t millions)
{
    struct pw_stream *s = open_machine(m);
    struct pw_stream_shape shape;
    STREAM_OK(pw_stream_shape(s, 0, &shape, err));
    cold_load(s, 0);
    STREAM_OK(pw_stream_advance(s, millions * 1000000 * (uint64_t)shape.clock_mhz, err));
    uint64_t cycles = cold_load(s, 1 << 30);
    stream_end(s);
    return cycles;
}

/* 3 * 10^12 cycles take as long as 10^9, and a load takes as many cycles then. Snapshots would be taken one by one. */
static void far_ahead_is_as_near_as_any_other_time(void **state)
{
    (void)state;
    double begun = seconds();
    for (size_t i = 0; i + 1 < MACHINES; i++)
        assert_int_equal(load_after(&machines[i], 2000), load_after(&machines[i], 1));
    assert_true(seconds() - begun < 10);
}

static void time_ends_where_the_clocks_are_no_longer_exact(void **state)
{
    (void)state;
    static const struct {
        const char *core, *dram;
        uint64_t last;
    } clocks[] = {{"gpu.clock_mhz=1000", "dram.clock_mhz=1000", 1ULL << 55},
                  {"gpu.clock_mhz=1020", "dram.clock_mhz=1674", UINT64_MAX / (170 * 279) / 2},
                  {"gpu.clock_mhz=10000", "dram.clock_mhz=9999", UINT64_MAX / (10000 * 9999) / 2}};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct pw_error e;
        const char *const sets[] = {clocks[i].core, clocks[i].dram};
        struct pw_stream *s = stream_open((struct pw_stream_spec){.sets = sets, .set_count = 2, .map_on_touch = true});
        uint64_t last = clocks[i].last - (i == 0);
        static const uint64_t too_far[] = {1, 1ULL << 62, (1ULL << 63) - 1, UINT64_MAX - 1};
        uint64_t took = cold_load(s, 0x1000);
        for (size_t k = 0; k < sizeof too_far / sizeof *too_far; k++) {
            uint64_t until = k ? too_far[k] : last + 1;
            assert_int_equal(pw_stream_advance(s, until, &e), PW_USER_ERROR);
            assert_non_null(strstr(e.message, "lies too far ahead"));
            assert_int_equal(pw_stream_wait(s, until, &e), k < 3 || until != UINT64_MAX ? PW_USER_ERROR : PW_OK);
        }
        STREAM_OK(pw_stream_advance(s, last, err));
        assert_int_equal(pw_stream_now(s), last);
        assert_in_range(cold_load(s, 0x200001000), took / 2, 2 * took);
        stream_end(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leap_ends_where_steps_do),
        cmocka_unit_test(far_ahead_is_as_near_as_any_other_time),
        cmocka_unit_test(time_ends_where_the_clocks_are_no_longer_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
