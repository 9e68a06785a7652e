/* Exact cycles of single operations pushed to a stream, from the options of the machine; and of time itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "closed_form.h"
#include "streams.h"
#include "system/inputs.h"

static const struct pw_stream_place first = {0};

/* The GPU of a machine with these options. */
static struct pw_gpu_config gpu_of(const struct pw_stream_spec *spec)
{
    struct pw_config config;
    struct pw_options *options;
    char design[256];
    STREAM_OK(pw_run_configure(
        &(struct pw_run_spec){
            .machine = spec->machine, .design = spec->design, .sets = spec->sets, .set_count = spec->set_count},
        &config, &options, design, sizeof design, err));
    pw_options_destroy(options);
    return config.gpu;
}

/* The load-store unit has nothing to do any more. */
static void pause(struct pw_stream *s)
{
    STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + 10, err));
}

/* The third access of A, B, A. */
static struct pw_stream_completion third(struct pw_stream_spec spec, enum pw_stream_kind kind, uint64_t b)
{
    const uint64_t a = 0x200000;
    spec.map_on_touch = true;
    struct pw_stream *s = stream_open(spec);
    stream_do(s, first, kind, a);
    stream_do(s, first, kind, b);
    pause(s);
    struct pw_stream_completion done = stream_do(s, first, kind, a);
    stream_end(s);
    return done;
}

static void a_hit_in_the_l1_tlb_takes_its_latency(void **state)
{
    (void)state;
    static const char *const slow[] = {"l1_tlb.latency=5", "l1d.latency=7"};
    struct pw_stream_spec specs[] = {{0}, {.machine = "volta"}, {.sets = slow, .set_count = 2}};
    for (size_t i = 0; i < 3; i++) {
        struct pw_gpu_config c = gpu_of(&specs[i]);
        struct pw_stream_completion load = third(specs[i], PW_STREAM_LOAD, 0x200000);
        assert_int_equal(load.level, PW_STREAM_L1_TLB);
        assert_int_equal(load.issued, load.pushed);
        assert_int_equal(load.translated - load.issued, c.l1_tlb.tlb.latency);
        assert_int_equal(load.completed - load.issued, form_l1_hit(&c));
        struct pw_stream_completion alone = third(specs[i], PW_STREAM_TRANSLATE, 0x200000);
        assert_int_equal(alone.completed - alone.issued, c.l1_tlb.tlb.latency);
    }
}

static void a_hit_in_the_l2_tlb_takes_the_way_there_and_back_too(void **state)
{
    (void)state;
    static const char *const sets[] = {"l1_tlb.base_entries=1", "l2_tlb.latency=23", "l2_tlb.distance=31",
                                       "l1_tlb.latency=3"};
    for (size_t count = 1; count <= 4; count += 3) {
        struct pw_stream_spec spec = {.sets = sets, .set_count = count};
        struct pw_gpu_config c = gpu_of(&spec);
        uint64_t answered = c.l1_tlb.tlb.latency + 2 * c.l2_tlb.distance + c.l2_tlb.tlb.latency;
        for (enum pw_stream_kind kind = PW_STREAM_TRANSLATE; kind <= PW_STREAM_TRANSLATE_WRITE; kind++) {
            struct pw_stream_completion done = third(spec, kind, 0x400000);
            assert_int_equal(done.level, PW_STREAM_L2_TLB);
            assert_int_equal(done.completed - done.issued, answered);
        }
        struct pw_stream_completion load = third(spec, PW_STREAM_LOAD, 0x400000);
        assert_int_equal(load.translated - load.issued, answered);
        assert_int_equal(load.completed - load.issued, answered + c.l1d.latency);
    }
}

/* Reads of a walk by page size, each of which hits in the L2 cache. */
static void a_walk_adds_a_read_of_the_l2_cache_for_each_level(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        unsigned reads;
    } pages[] = {{"page.size=4KB", 4}, {"page.size=2MB", 3}};
    for (size_t i = 0; i < 2; i++) {
        const char *sets[] = {pages[i].size,           "l1_tlb.base_entries=1",  "l1_tlb.large_entries=1",
                              "l2_tlb.base_entries=1", "l2_tlb.large_entries=1", "l2_tlb.base_ways=0"};
        struct pw_stream_spec spec = {.sets = sets, .set_count = 6};
        struct pw_gpu_config c = gpu_of(&spec);
        struct pw_stream_completion done = third(spec, PW_STREAM_TRANSLATE, 0x400000);
        assert_int_equal(done.level, PW_STREAM_WALK);
        assert_int_equal(done.completed - done.issued, c.l1_tlb.tlb.latency + 2 * c.l2_tlb.distance +
                                                           c.l2_tlb.tlb.latency + pages[i].reads * form_walk_read(&c));
    }
}

/* Nothing is read or written for a translation, and it is not a line. */
static void a_translation_reaches_no_cache(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    stream_do(s, first, PW_STREAM_TRANSLATE, 0x1000);
    stream_do(s, first, PW_STREAM_TRANSLATE_WRITE, 0x2000);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 2);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.misses"), 2);
    assert_int_equal(stream_count(s, "gpu0.walk.count"), 2);
    assert_int_equal(stream_count(s, "gpu0.sm.lines"), 0);
    assert_int_equal(stream_count(s, "gpu0.l1d.accesses"), 0);
    assert_int_equal(stream_count(s, "gpu0.l1d.stores"), 0);
    stream_end(s);
}

/* Lanes in four pages: one lookup each, whatever the lines; and each cycle one of them. */
static void a_translation_takes_a_cycle_for_each_page_of_its_lanes(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    struct pw_stream_operation op = {.kind = PW_STREAM_TRANSLATE, .base = 0x10000, .stride = 512, .report = true};
    struct pw_stream_completion done;
    for (unsigned i = 0; i < 2; i++) {
        pause(s);
        STREAM_OK(pw_stream_push(s, first, &op, err));
        STREAM_OK(pw_stream_drain(s, err));
        assert_true(pw_stream_next(s, &done));
    }
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 8);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.hits"), 4);
    assert_int_equal(done.completed - done.issued, 3 + 1);
    assert_int_equal(pw_stream_now(s), done.completed);
    stream_end(s);
}

/* Two pages of one operation: one that the L2 TLB has, and one whose walk another SM has begun so many cycles before.
 * The operation is where the walk is unless the L2 TLB has both, whichever answer comes last. */
static void an_operation_is_where_the_last_of_its_pages_is(void **state)
{
    (void)state;
    uint64_t pages[] = {0x200000, 0x400000};
    struct pw_stream_operation both = {.kind = PW_STREAM_TRANSLATE, .mask = 3, .addresses = pages, .report = true};
    const struct pw_stream_place other = {.sm = 1}, third_sm = {.sm = 2};
    unsigned merged = 0, found = 0;
    for (uint64_t before = 440; before < 580; before++) {
        struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
        struct pw_stream_completion done;
        stream_do(s, other, PW_STREAM_TRANSLATE, pages[0] + 0x1000); /* the tables are in the L2 cache */
        stream_do(s, other, PW_STREAM_TRANSLATE, pages[1]);
        STREAM_OK(pw_stream_push(s, other, &(struct pw_stream_operation){.kind = PW_STREAM_TRANSLATE, .base = pages[0]},
                                 err));
        STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + before, err));
        STREAM_OK(pw_stream_push(s, third_sm, &both, err));
        STREAM_OK(pw_stream_drain(s, err));
        assert_true(pw_stream_next(s, &done));
        bool hits = stream_count(s, "gpu0.l2_tlb.hits") == 2;
        assert_int_equal(done.level, hits ? PW_STREAM_L2_TLB : PW_STREAM_WALK);
        merged += !hits;
        found += hits;
        stream_end(s);
    }
    assert_true(merged && found);
}

static void a_far_fault_takes_the_latency_of_the_driver_at_least(void **state)
{
    (void)state;
    static const char *const sets[] = {"paging.mode=demand", "uvm.service=serial", "uvm.fault_latency=50000"};
    for (enum pw_stream_kind kind = PW_STREAM_LOAD; kind <= PW_STREAM_TRANSLATE_WRITE; kind++) {
        if (kind == PW_STREAM_STORE || kind == PW_STREAM_ATOMIC)
            continue;
        struct pw_stream *s = stream_open((struct pw_stream_spec){.sets = sets, .set_count = 3, .map_on_touch = true});
        struct pw_stream_completion fault = stream_do(s, first, kind, 0x5000);
        assert_int_equal(fault.level, PW_STREAM_FAR_FAULT);
        assert_true(fault.translated - fault.issued > 50000);
        assert_true(stream_do(s, first, kind, 0x5000).level == PW_STREAM_L1_TLB);
        assert_int_equal(stream_count(s, "app0.uvm.far_faults"), 1);
        stream_end(s);
    }
}

/* An operation that uses a load issues when it is there, in the same cycle; one that does not, in the next one. */
static void what_uses_a_load_waits_for_it(void **state)
{
    (void)state;
    for (unsigned use = 0; use < 2; use++) {
        struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
        struct pw_stream_completion load, next;
        struct pw_stream_operation op = {.mask = 1, .base = 0x1000, .report = true};
        STREAM_OK(pw_stream_push(s, first, &op, err));
        op.use = use;
        op.base = 0x200000;
        STREAM_OK(pw_stream_push(s, first, &op, err));
        STREAM_OK(pw_stream_drain(s, err));
        assert_true(pw_stream_next(s, &load) && pw_stream_next(s, &next));
        assert_int_equal(next.issued, use ? load.completed : load.issued + 1);
        stream_end(s);
    }
}

/* What is pushed in the cycle of a completion issues in it, as it would if the warp had waited. */
static void time_stops_in_the_cycle_of_a_completion(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    struct pw_stream_completion a, b;
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 1, err));
    STREAM_OK(pw_stream_wait(s, UINT64_MAX, err));
    assert_true(pw_stream_next(s, &a));
    assert_int_equal(pw_stream_now(s), a.completed);
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 2, err));
    STREAM_OK(pw_stream_wait(s, pw_stream_now(s) + 1, err));
    assert_int_equal(pw_stream_now(s), a.completed + 1);
    assert_false(pw_stream_next(s, &b));
    STREAM_OK(pw_stream_wait(s, UINT64_MAX, err));
    assert_true(pw_stream_next(s, &b));
    assert_int_equal(b.issued, a.completed);
    STREAM_OK(pw_stream_wait(s, UINT64_MAX, err)); /* nothing to wait for */
    assert_int_equal(pw_stream_now(s), b.completed);
    stream_end(s);
}

/* Who waits for a completion when nothing that is under way reports one goes on when nothing is left to wait for. */
static void waiting_ends_with_what_is_not_reported(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    struct pw_stream_completion done;
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = 0x1000}, err));
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.kind = PW_STREAM_STORE, .base = 0x1000}, err));
    STREAM_OK(pw_stream_wait(s, UINT64_MAX, err));
    assert_int_equal(pw_stream_outstanding(s), 0);
    assert_false(pw_stream_next(s, &done));
    uint64_t end = pw_stream_now(s);
    stream_end(s);
    s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    assert_int_equal(pw_stream_now(s), end);
    stream_end(s);
}

/* Ready at t: a completion in cycle t has happened when time stands at t + 1, and not at t. */
static void everything_before_the_cycle_has_happened(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true});
    struct pw_stream_completion done;
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    uint64_t begin = pw_stream_now(s) + 100;
    STREAM_OK(pw_stream_advance(s, begin, err));
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 1, err));
    STREAM_OK(pw_stream_advance(s, begin + 2, err)); /* l1_tlb.latency + l1d.latency */
    assert_int_equal(pw_stream_outstanding(s), 1);
    assert_false(pw_stream_next(s, &done));
    STREAM_OK(pw_stream_advance(s, begin + 3, err));
    assert_int_equal(pw_stream_outstanding(s), 0);
    assert_true(pw_stream_next(s, &done));
    assert_int_equal(done.issued, begin);
    assert_int_equal(done.completed, begin + 2);
    stream_end(s);
}

/* The same operations, with time going on in steps of so many cycles. */
static void step_by_step(uint64_t step, struct pw_stream_completion out[64], uint64_t *out_cycles)
{
    struct pw_stream *s =
        stream_open((struct pw_stream_spec){.machine = "volta", .design = "mosaic", .map_on_touch = true});
    for (uint64_t i = 0; i < 64; i++)
        STREAM_OK(pw_stream_access(s, (struct pw_stream_place){.sm = (unsigned)i % 5, .warp = (unsigned)i % 3},
                                   PW_STREAM_LOAD, i * 0x9e3779b9 % 0x4000000 * 8, 8, i, err));
    while (step && pw_stream_outstanding(s))
        STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + step, err));
    STREAM_OK(pw_stream_drain(s, err));
    memset(out, 0, 64 * sizeof *out);
    for (uint64_t i = 0; i < 64; i++)
        assert_true(pw_stream_next(s, &out[i]));
    *out_cycles = stream_count(s, "gpu0.walk.count");
    stream_end(s);
}

static void steps_of_time_make_no_difference(void **state)
{
    (void)state;
    struct pw_stream_completion at_once[64], in_steps[64];
    uint64_t walks, walks_in_steps;
    step_by_step(0, at_once, &walks);
    for (uint64_t step = 1; step < 100; step += 13) {
        step_by_step(step, in_steps, &walks_in_steps);
        assert_memory_equal(at_once, in_steps, sizeof at_once);
        assert_int_equal(walks, walks_in_steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_in_the_l1_tlb_takes_its_latency),
        cmocka_unit_test(a_hit_in_the_l2_tlb_takes_the_way_there_and_back_too),
        cmocka_unit_test(a_walk_adds_a_read_of_the_l2_cache_for_each_level),
        cmocka_unit_test(a_translation_reaches_no_cache),
        cmocka_unit_test(a_translation_takes_a_cycle_for_each_page_of_its_lanes),
        cmocka_unit_test(an_operation_is_where_the_last_of_its_pages_is),
        cmocka_unit_test(a_far_fault_takes_the_latency_of_the_driver_at_least),
        cmocka_unit_test(what_uses_a_load_waits_for_it),
        cmocka_unit_test(time_stops_in_the_cycle_of_a_completion),
        cmocka_unit_test(waiting_ends_with_what_is_not_reported),
        cmocka_unit_test(everything_before_the_cycle_has_happened),
        cmocka_unit_test(steps_of_time_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
