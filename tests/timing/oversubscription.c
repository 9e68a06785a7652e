/* The data that uvm.oversubscription is a share of: pages that kernels touch, the most that is allocated at one time,
 * or what is allocated at the first launch. Programs are traces of one warp per launch that reads a word of each page
 * in turn, so that with LRU, and nothing prefetched, all counts are exact. */
#include "pagewalk/stream.h"
#include "trace_file.h"
#include "trace_fixture.h"

#include <stdio.h>

#include "metric.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static struct pw_trace_writer *begin(void)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", "", 1, 1});
    return w;
}

static void allocate_in(struct pw_trace_writer *w, enum pw_trace_memory memory, uint64_t address, uint64_t bytes)
{
    const struct pw_trace_event event = {
        .kind = PW_TRACE_ALLOC, .memory = (uint8_t)memory, .address = address, .bytes = bytes, .name = "pool"};
    pw_trace_write_event(w, &event);
}

static void allocate(struct pw_trace_writer *w, uint64_t address, uint64_t bytes)
{
    allocate_in(w, PW_TRACE_DEVICE, address, bytes);
}

static void release(struct pw_trace_writer *w, uint64_t address)
{
    pw_trace_write_event(w, &(struct pw_trace_event){.kind = PW_TRACE_FREE, .address = address, .name = ""});
}

/* A launch whose warp reads a word at every `step` bytes of [first, first + bytes), `times` times. */
static void read_each(struct pw_trace_writer *w, uint64_t first, uint64_t bytes, uint64_t step, unsigned times)
{
    const struct pw_op op = {.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 1};
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}});
    for (unsigned i = 0; i < times; i++)
        for (uint64_t at = first; at < first + bytes; at += step)
            assert_true(pw_trace_write_op(w, 0, 0, &op, &at));
}

static void finish(struct pw_trace_writer *w)
{
    struct pw_error err;
    assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
}

/* A run of the trace, or of `workload`. */
static struct pw_result *run_of(const char *workload, const char *of, const char *percent, const char *page_size)
{
    char sets[3][64];
    struct pw_result *r = NULL;
    struct pw_error err = {0};
    snprintf(sets[0], sizeof sets[0], "uvm.oversubscription=%s", percent);
    snprintf(sets[1], sizeof sets[1], "uvm.oversubscription_of=%s", of);
    snprintf(sets[2], sizeof sets[2], "page.size=%s", page_size);
    const char *const pointers[] = {sets[0], sets[1], sets[2]};
    const struct pw_run_spec spec = {
        .machine = "pascal", .design = "uvm-none-lru4k", .workload = workload, .sets = pointers, .set_count = 3};
    assert_ok(pw_run(&spec, &r, &err), &err);
    return r;
}

struct expected {
    const char *of, *percent;
    uint64_t data, memory, evicted;
};

static void expect(const char *workload, const char *page_size, const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_result *r = run_of(workload, rows[i].of, rows[i].percent, page_size);
        assert_int_equal(metric(r, "gpu0.uvm.data_bytes"), rows[i].data);
        assert_int_equal(metric(r, "gpu0.uvm.memory_bytes"), rows[i].memory);
        assert_int_equal(metric(r, "gpu0.uvm.pages_evicted"), rows[i].evicted);
        pw_result_free(r);
    }
}

/* 1,024 pages, read twice in turn with LRU and half of them fitting: every read is a fault, and all but the first 512
 * have a page evicted. */
static void a_pool_ten_times_what_is_touched(void **state)
{
    (void)state;
    static const struct expected rows[] = {{"touched", "200", 4 * MIB, 2 * MIB, 2048 - 512},
                                           {"touched", "100", 4 * MIB, 4 * MIB, 0},
                                           {"touched", "400", 4 * MIB, 1 * MIB, 2048 - 256},
                                           {"allocated", "200", 40 * MIB, 20 * MIB, 0},
                                           {"first-launch", "200", 40 * MIB, 20 * MIB, 0}};
    struct pw_trace_writer *w = begin();
    allocate(w, 64 * MIB, 40 * MIB);
    read_each(w, 65 * MIB, 4 * MIB, 4 * KIB, 2);
    finish(w);
    expect(text, "4KB", rows, sizeof rows / sizeof *rows);
}

static void an_allocation_after_the_first_launch(void **state)
{
    (void)state;
    static const struct expected rows[] = {{"touched", "200", 2 * MIB + 64 * KIB, MIB + 32 * KIB, 16 + 1024 - 264},
                                           {"allocated", "200", 4 * MIB + 64 * KIB, 2 * MIB + 32 * KIB, 8},
                                           {"first-launch", "200", 64 * KIB, 32 * KIB, 16 + 1024 - 8}};
    struct pw_trace_writer *w = begin();
    allocate(w, 64 * MIB, 64 * KIB);
    read_each(w, 64 * MIB, 64 * KIB, 4 * KIB, 1);
    allocate(w, 128 * MIB, 4 * MIB);
    read_each(w, 128 * MIB, 2 * MIB, 4 * KIB, 2);
    finish(w);
    expect(text, "4KB", rows, sizeof rows / sizeof *rows);
}

/* Three arrays, one after the other: the footprint is that of the largest. */
static void what_is_freed_no_longer_counts(void **state)
{
    (void)state;
    static const struct expected rows[] = {{"touched", "200", 1 * MIB, 512 * KIB, 512 - 128},
                                           {"allocated", "200", 8 * MIB, 4 * MIB, 0}};
    struct pw_trace_writer *w = begin();
    for (unsigned i = 1; i <= 3; i++) {
        allocate(w, 64 * MIB, 8 * MIB);
        read_each(w, 64 * MIB, (i == 2 ? 1024 : 512) * KIB, 4 * KIB, i == 2 ? 2 : 1);
        release(w, 64 * MIB);
    }
    finish(w);
    expect(text, "4KB", rows, sizeof rows / sizeof *rows);
}

static void pinned_host_memory_does_not_count(void **state)
{
    (void)state;
    static const struct expected rows[] = {{"touched", "200", 1 * MIB, 512 * KIB, 2 * 256 - 128},
                                           {"allocated", "200", 2 * MIB, 1 * MIB, 0}};
    struct pw_trace_writer *w = begin();
    allocate_in(w, PW_TRACE_HOST, 32 * MIB, 6 * MIB);
    read_each(w, 32 * MIB, 6 * MIB, 4 * KIB, 1);
    allocate(w, 64 * MIB, 2 * MIB);
    read_each(w, 64 * MIB, 1 * MIB, 4 * KIB, 2);
    release(w, 32 * MIB);
    finish(w);
    expect(text, "4KB", rows, sizeof rows / sizeof *rows);
}

/* Two reads in each of eight pages of 2 MiB: what moves is the machine's page. */
static void pages_are_those_of_the_machine(void **state)
{
    (void)state;
    static const struct expected large[] = {{"touched", "200", 16 * MIB, 8 * MIB, 4 * 512}};
    static const struct expected small[] = {{"touched", "200", 64 * KIB, 32 * KIB, 8}};
    struct pw_trace_writer *w = begin();
    allocate(w, 64 * MIB, 16 * MIB);
    read_each(w, 64 * MIB, 16 * MIB, MIB, 1);
    finish(w);
    expect(text, "2MB", large, 1);
    expect(text, "4KB", small, 1);
}

static void several_applications_count_together(void **state)
{
    (void)state;
    char both[2 * sizeof text];
    struct pw_trace_writer *w = begin();
    allocate(w, 64 * MIB, 40 * MIB);
    read_each(w, 64 * MIB, 4 * MIB, 4 * KIB, 1);
    finish(w);
    snprintf(both, sizeof both, "%s,%s", text, text);
    struct pw_result *r = run_of(both, "touched", "200", "4KB");
    assert_int_equal(metric(r, "gpu0.uvm.data_bytes"), 8 * MIB);
    assert_int_equal(metric(r, "gpu0.uvm.memory_bytes"), 4 * MIB);
    assert_true(metric(r, "gpu0.uvm.pages_evicted") > 0);
    pw_result_free(r);
}

/* The first pass finds what the run then touches, also where addresses depend on data. */
static void the_first_pass_touches_what_the_run_touches(void **state)
{
    (void)state;
    static const char *const programs[] = {"BFS2:nodes=3000", "nw:length=128", "GUP:scale=0.01", "hotspot:side=64",
                                           "spmv:scale=0.01"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct pw_result *r = run_of(programs[i], "touched", "100", "4KB");
        assert_true(metric(r, "gpu0.uvm.data_bytes") > 0);
        if (metric(r, "gpu0.uvm.data_bytes") != metric(r, "gpu0.mem.touched_bytes"))
            fail_msg("%s: another footprint than in the run", programs[i]);
        pw_result_free(r);
    }
}

/* As it was before there was a choice. */
static void the_first_launch_gives_what_it_gave(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_result *r = NULL;
    const char *const sets[] = {"uvm.oversubscription=110", "uvm.oversubscription_of=first-launch"};
    const struct pw_run_spec spec = {
        .machine = "pascal", .design = "uvm-tbn-tbn", .workload = "BFS2:nodes=20000", .sets = sets, .set_count = 2};
    assert_ok(pw_run(&spec, &r, &err), &err);
    assert_int_equal(r->cycles, 7670272);
    assert_int_equal(metric(r, "gpu0.uvm.pages_evicted"), 2016);
    pw_result_free(r);
}

static volatile bool stop;

static void stop_in_the_first_pass(void *context, const struct pw_progress *p)
{
    unsigned *reports = context;
    assert_non_null(p->phase);
    assert_string_equal(p->phase, "first pass");
    assert_in_range(p->fraction * 1000, 0, 1000);
    assert_true(p->warp_instructions > 0);
    *reports += 1;
    stop = true;
}

static void a_long_first_pass_is_seen_and_can_be_interrupted(void **state)
{
    (void)state;
    unsigned reports = 0;
    struct pw_error err = {0};
    struct pw_result *r = NULL;
    const char *const sets[] = {"uvm.oversubscription=200"};
    const struct pw_run_spec spec = {.machine = "pascal",
                                     .design = "uvm-none-lru4k",
                                     .workload = "gather:ctas=4096:iterations=256:table=64MB",
                                     .sets = sets,
                                     .set_count = 1,
                                     .progress = stop_in_the_first_pass,
                                     .progress_context = &reports,
                                     .interrupted = &stop};
    stop = false;
    assert_int_equal(pw_run(&spec, &r, &err), PW_INTERRUPTED);
    assert_int_equal(reports, 1);
    assert_non_null(strstr(err.message, "first pass"));
}

static void a_stream_knows_its_first_launch_alone(void **state)
{
    (void)state;
    static const struct {
        const char *of;
        enum pw_status status;
    } cases[] = {{"touched", PW_USER_ERROR}, {"allocated", PW_USER_ERROR}, {"first-launch", PW_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char of[64];
        struct pw_stream *s = NULL;
        struct pw_error err = {0};
        snprintf(of, sizeof of, "uvm.oversubscription_of=%s", cases[i].of);
        const char *const sets[] = {"uvm.oversubscription=200", of};
        const struct pw_stream_spec spec = {
            .machine = "pascal", .design = "uvm-none-lru4k", .sets = sets, .set_count = 2};
        assert_int_equal(pw_stream_open(&spec, &s, &err), cases[i].status);
        if (cases[i].status == PW_OK)
            pw_stream_close(s);
        else
            assert_non_null(strstr(err.message, "uvm.oversubscription_of=first-launch"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_ten_times_what_is_touched),
        cmocka_unit_test(an_allocation_after_the_first_launch),
        cmocka_unit_test(what_is_freed_no_longer_counts),
        cmocka_unit_test(pinned_host_memory_does_not_count),
        cmocka_unit_test(pages_are_those_of_the_machine),
        cmocka_unit_test(several_applications_count_together),
        cmocka_unit_test(the_first_pass_touches_what_the_run_touches),
        cmocka_unit_test(the_first_launch_gives_what_it_gave),
        cmocka_unit_test(a_long_first_pass_is_seen_and_can_be_interrupted),
        cmocka_unit_test(a_stream_knows_its_first_launch_alone),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
