/* Traces written as Accel-Sim reads them and read again: the same memory accesses lane by lane, the same instructions,
 * the same waits for loads, and what the host did. */
#include "import_fixture.h"
#include "trace_fixture.h"

#include "trace/export.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define BASE (UINT64_C(1) << 33)
enum { BYTES = 1 << 26, CTAS = 6, WARPS = 3, MOST_OPS = 400 };

static void export(struct pw_trace *t, const char *folder, uint32_t launch, bool xz)
{
    struct pw_error err = {0};
    const struct pw_export_spec spec = {.folder = folder, .launch = launch, .xz = xz};
    if (pw_trace_export(t, &spec, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static void refuse(struct pw_trace *t, const char *folder, const char *message)
{
    struct pw_error err = {0};
    const struct pw_export_spec spec = {.folder = folder};
    assert_int_equal(pw_trace_export(t, &spec, &err), PW_USER_ERROR);
    assert_string_equal(err.message, message);
}

static void remove_folder(const char *folder)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* What an operation does, without what means nothing: the loads that it waits for are those not waited for
 * before, and what has no instructions hands its wait on. */
struct reading {
    struct pw_trace_cursor cursor;
    uint64_t issued, completed, wanted;
};

struct meaning {
    struct pw_op op; /* loads in flight are 0 */
    uint64_t waits;  /* for so many loads */
    uint64_t addresses[PW_WARP_LANES];
};

static bool next_meaning(struct reading *r, struct meaning *out)
{
    struct pw_op op = {0};
    uint64_t words[PW_WARP_LANES];
    struct pw_error err = {0};
    memset(out, 0, sizeof *out);
    do {
        enum pw_trace_step step = pw_trace_cursor_next(&r->cursor, &op, words, &err);
        assert_int_not_equal(step, PW_TRACE_STEP_FAILED);
        if (step == PW_TRACE_STEP_END)
            return false;
        uint64_t wanted = op.loads_in_flight == PW_ANY_IN_FLIGHT || op.loads_in_flight > r->issued
                              ? 0
                              : r->issued - op.loads_in_flight;
        r->wanted = wanted > r->wanted ? wanted : r->wanted;
    } while (op.kind == PW_OP_COMPUTE && !op.count_or_mask);
    out->waits = r->wanted > r->completed ? r->wanted : 0;
    r->completed = out->waits ? out->waits : r->completed;
    r->issued += op.kind == PW_OP_LOAD || op.kind == PW_OP_ATOMIC_RETURN;
    out->op = op;
    out->op.loads_in_flight = 0;
    out->op.form = PW_FORM_LANES;
    uint32_t at = 0;
    for (uint32_t m = pw_op_is_access(op) ? op.count_or_mask : 0; m; m &= m - 1, at++)
        out->addresses[at] = op.form == PW_FORM_AFFINE ? words[0] + (uint32_t)__builtin_ctz(m) * words[1] : words[at];
    return true;
}

static void expect_same_warp(struct pw_trace_launch *a, struct pw_trace_launch *b, uint32_t cta, uint32_t warp)
{
    struct reading ra = {.issued = 0}, rb = {.issued = 0};
    struct meaning ma, mb;
    pw_trace_cursor_start(&ra.cursor, a, cta, warp);
    pw_trace_cursor_start(&rb.cursor, b, cta, warp);
    bool any = false;
    while (next_meaning(&ra, &ma)) {
        assert_true(next_meaning(&rb, &mb));
        assert_memory_equal(&ma, &mb, sizeof ma);
        any = ma.op.kind == PW_OP_EXIT;
    }
    if (!any) { /* each warp has an exit afterwards */
        assert_true(next_meaning(&rb, &mb));
        assert_int_equal(mb.op.kind, PW_OP_EXIT);
    }
    assert_false(next_meaning(&rb, &mb));
}

static void expect_same_launch(struct pw_trace *a, struct pw_trace *b, uint32_t launch, uint32_t in_b)
{
    struct pw_trace_launch *la, *lb;
    struct pw_error err;
    assert_ok(pw_trace_launch_open(a, launch, &la, &err), &err);
    assert_ok(pw_trace_launch_open(b, in_b, &lb, &err), &err);
    assert_int_equal(la->ctas, lb->ctas);
    for (uint32_t cta = 0; cta < la->ctas; cta++)
        for (uint32_t warp = 0; warp < la->warps; warp++)
            expect_same_warp(la, lb, cta, warp);
    pw_trace_launch_close(la);
    pw_trace_launch_close(lb);
}

static struct traced_op random_op(struct pw_random *r)
{
    struct traced_op t = pw_random_below(r, 3) ? random_access(r, BASE, BYTES) : random_other(r);
    if (t.op.kind == PW_OP_COMPUTE)
        t.op.count_or_mask %= 50;
    return t;
}

static void write_random_launch(struct pw_trace_writer *w, struct pw_random *r, const char *name)
{
    static const struct pw_op leave = {.kind = PW_OP_EXIT, .loads_in_flight = 1};
    pw_trace_write_launch(w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                      .name = name,
                                                      .grid = {3, 1, 2},
                                                      .block = {8, 4, WARPS},
                                                      .shared_bytes = 4096,
                                                      .registers = 40,
                                                      .sampled_of = pw_random_next(r),
                                                      .pace = (uint32_t)pw_random_below(r, 5000)});
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            uint64_t count = pw_random_below(r, MOST_OPS);
            for (uint64_t i = 0; i < count; i++) {
                struct traced_op t = random_op(r);
                assert_true(pw_trace_write_op(w, cta, warp, &t.op, t.words));
            }
            if (pw_random_below(r, 2))
                assert_true(pw_trace_write_op(w, cta, warp, &leave, NULL));
        }
}

static void event(struct pw_trace_writer *w, uint8_t kind, uint8_t flags, uint64_t address, uint64_t bytes,
                  const char *name)
{
    pw_trace_write_event(w, &(struct pw_trace_event){.kind = kind,
                                                     .memory = kind == PW_TRACE_ALLOC ? flags : 0,
                                                     .flags = kind == PW_TRACE_ALLOC ? 0 : flags,
                                                     .address = address,
                                                     .bytes = bytes,
                                                     .name = name});
}

static struct pw_trace *make_trace(uint64_t seed)
{
    struct pw_random r;
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    pw_random_init(&r, seed, "export");
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    pw_trace_writer_set_origin(
        w, &(struct pw_trace_origin){.recorder = "test", .program = "p", .device = "d", .cta_sample = 7});
    event(w, PW_TRACE_ALLOC, PW_TRACE_MANAGED, BASE, BYTES / 2, "kernel / first, \"array\"");
    event(w, PW_TRACE_ALLOC, PW_TRACE_HOST, BASE + BYTES / 2, 1000, "");
    event(w, PW_TRACE_COPY, PW_TRACE_TO_DEVICE, BASE + 64, 4096, "");
    event(w, PW_TRACE_COPY, PW_TRACE_ON_DEVICE, BASE, 128, "");
    event(w, PW_TRACE_PREFETCH, 0, BASE + 4096, 8192, "");
    event(w, PW_TRACE_ADVISE, 5, BASE, 4096, "");
    event(w, PW_TRACE_PROTECT, 1, BASE, 4096, "");
    write_random_launch(w, &r, "first(int, float*)");
    event(w, PW_TRACE_FREE, 0, BASE + BYTES / 2, 0, "");
    event(w, PW_TRACE_COPY, PW_TRACE_FROM_DEVICE, BASE, 4096, "");
    write_random_launch(w, &r, "");
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    return t;
}

static void expect_same_events(struct pw_trace *a, struct pw_trace *b)
{
    size_t count, other;
    const struct pw_trace_event *x = pw_trace_events(a, &count), *y = pw_trace_events(b, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(x[i].kind, y[i].kind);
        assert_int_equal(x[i].memory, y[i].memory);
        assert_int_equal(x[i].flags, y[i].flags);
        assert_int_equal(x[i].allocation, y[i].allocation);
        assert_int_equal(x[i].address, y[i].address);
        assert_int_equal(x[i].bytes, y[i].bytes);
        assert_string_equal(x[i].name, y[i].name);
        assert_memory_equal(&x[i].grid, &y[i].grid, sizeof x[i].grid);
        assert_memory_equal(&x[i].block, &y[i].block, sizeof x[i].block);
        assert_int_equal(x[i].shared_bytes, y[i].shared_bytes);
        assert_int_equal(x[i].registers, y[i].registers);
        assert_int_equal(x[i].sampled_of, y[i].sampled_of);
        assert_int_equal(x[i].pace, y[i].pace);
        assert_int_equal(x[i].memory_instructions, y[i].memory_instructions);
    }
}

static void what_is_exported_comes_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct pw_trace *t = make_trace(seed);
        export(t, "out", 0, seed % 2);
        struct pw_trace *back = open_trace("out/kernelslist.g");
        expect_same_events(t, back);
        assert_int_equal(pw_trace_get_origin(back)->cta_sample, 7);
        for (uint32_t launch = 0; launch < 2; launch++)
            expect_same_launch(t, back, launch, launch);
        pw_trace_close(back);
        pw_trace_close(t);
        remove_folder("out");
    }
}

static void one_launch_has_what_the_host_did_before_it(void **state)
{
    (void)state;
    struct pw_trace *t = make_trace(9);
    export(t, "second/", 2, false);
    assert_int_equal(access("second/kernel-1.traceg", F_OK), -1);
    struct pw_trace *back = open_trace("second/kernelslist.g");
    assert_int_equal(pw_trace_launches(back), 1);
    expect_same_launch(t, back, 1, 0);
    export(t, "first", 1, true);
    pw_trace_close(back);
    back = open_trace("first/kernelslist.g");
    expect_same_launch(t, back, 0, 0);
    size_t count, all;
    pw_trace_events(t, &all);
    pw_trace_events(back, &count);
    assert_int_equal(count, all - 3);
    pw_trace_close(back);
    back = open_trace("first/kernel-1.traceg.xz");
    expect_same_launch(t, back, 0, 0);
    pw_trace_close(back);
    struct pw_error err = {0};
    assert_int_equal(pw_trace_export(t, &(struct pw_export_spec){.folder = "x", .launch = 3}, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "has 2 launches, no launch 3"));
    pw_trace_close(t);
}

/* A kernel of one warp, in the file or, for NULL, in none. */
static struct pw_trace_writer *begin_warp(const char *file)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(file, &w, &err), &err);
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}});
    return w;
}

static struct pw_trace *end_warp(struct pw_trace_writer *w)
{
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    return t;
}

/* Closes the trace. */
static void expect_it_comes_back(struct pw_trace *t)
{
    export(t, "out", 0, false);
    struct pw_trace *back = open_trace("out/kernelslist.g");
    expect_same_launch(t, back, 0, 0);
    pw_trace_close(back);
    pw_trace_close(t);
    remove_folder("out");
}

/* So many loads of 16 bytes, then an instruction that waits for all but so many of them. */
static char *loads_in_flight(unsigned loads, unsigned in_flight)
{
    struct pw_trace_writer *w = begin_warp(NULL);
    struct pw_op load = {.kind = PW_OP_LOAD, .bytes = 16, .loads_in_flight = 255, .count_or_mask = 1};
    for (unsigned i = 0; i < loads; i++)
        assert_true(pw_trace_write_op(w, 0, 0, &load, (uint64_t[]){BASE, 0}));
    struct pw_op add = {.kind = PW_OP_COMPUTE, .loads_in_flight = (uint8_t)in_flight, .count_or_mask = 1};
    assert_true(pw_trace_write_op(w, 0, 0, &add, NULL));
    struct pw_trace *t = end_warp(w);
    export(t, "many", 0, false);
    pw_trace_close(t);
    t = open_trace("many/kernelslist.g");
    char *ops = ops_of(t, 0, 0, 0);
    pw_trace_close(t);
    remove_folder("many");
    return ops;
}

/* 61 loads of 16 bytes have registers. */
static void more_loads_than_registers_are_waited_for_by_their_neighbours(void **state)
{
    (void)state;
    static const struct {
        unsigned loads, in_flight;
        const char *expected;
    } rows[] = {{61, 0, " c1<0 x"}, {61, 60, " c1<60 x"},    {62, 61, " c1<61 x"},   {62, 0, " c1<1 x"},
                {70, 3, " c1<9 x"}, {200, 150, " c1<150 x"}, {200, 100, " c1<139 x"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *ops = loads_in_flight(rows[i].loads, rows[i].in_flight);
        assert_string_equal(ops + strlen(ops) - strlen(rows[i].expected), rows[i].expected);
        free(ops);
    }
}

/* Loads of all widths, some 40 to 90 of them in flight, which take most of the registers. */
static void registers_of_loads_do_not_overlap(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 1, "widths");
    struct pw_trace_writer *w = begin_warp(NULL);
    for (unsigned turn = 0; turn < 500; turn++) {
        for (unsigned i = 0; i < 10; i++) {
            struct pw_op load = {.kind = PW_OP_LOAD, .loads_in_flight = 255, .count_or_mask = 1};
            load.bytes = (uint8_t)(1U << pw_random_below(&r, 5));
            assert_true(pw_trace_write_op(w, 0, 0, &load, (uint64_t[]){BASE, 0}));
        }
        struct pw_op add = {.kind = PW_OP_COMPUTE, .count_or_mask = 2};
        add.loads_in_flight = (uint8_t)random_between(&r, 40, 80);
        assert_true(pw_trace_write_op(w, 0, 0, &add, NULL));
    }
    expect_it_comes_back(end_warp(w));
}

/* All are taken but the first of four: a load of 16 bytes has none then, and does not wait. */
static void a_wide_load_needs_all_of_its_registers(void **state)
{
    (void)state;
    struct pw_trace_writer *w = begin_warp(NULL);
    for (unsigned i = 0; i < 63; i++) {
        struct pw_op load = {.kind = PW_OP_LOAD, .bytes = i < 2 ? 4 : 16, .loads_in_flight = 255, .count_or_mask = 1};
        load.loads_in_flight = i == 2 ? 1 : 255; /* the first one is there */
        assert_true(pw_trace_write_op(w, 0, 0, &load, (uint64_t[]){BASE, 0}));
    }
    expect_it_comes_back(end_warp(w));
}

/* Accel-Sim's strides have 32 bits; its differences have 64. */
static void a_long_stride_is_written_as_differences(void **state)
{
    (void)state;
    struct pw_trace_writer *w = begin_warp(NULL);
    struct pw_op load = {.kind = PW_OP_LOAD, .bytes = 8, .loads_in_flight = 255, .count_or_mask = 7};
    static const uint64_t strides[] = {INT32_MAX, INT32_MAX + UINT64_C(1)};
    for (unsigned i = 0; i < 2; i++)
        assert_true(pw_trace_write_op(w, 0, 0, &load, (uint64_t[]){BASE, strides[i]}));
    struct pw_trace *t = end_warp(w);
    export(t, "out", 0, false);
    pw_trace_close(t);
    assert_int_equal(system("grep -qx '0000 00000007 1 R8 LDG.E.64 1 R2 8 1 0x200000000 2147483647 0' "
                            "out/kernel-1.traceg"),
                     0);
    assert_int_equal(system("grep -qx '0010 00000007 1 R10 LDG.E.64 1 R2 8 2 0x200000000 2147483648 2147483648 0' "
                            "out/kernel-1.traceg"),
                     0);
    remove_folder("out");
}

static void a_folder_appears_when_it_is_complete(void **state)
{
    (void)state;
    struct pw_trace *t = make_trace(3);
    assert_int_equal(mkdir("empty", 0700), 0);
    export(t, "empty", 0, false);
    refuse(t, "empty", "empty: is there already; name a new folder");
    write_text("file", "text");
    refuse(t, "file", "file: cannot be written: Not a directory");
    refuse(t, "no/such", "no/such: cannot be created: No such file or directory");
    struct rlimit limit, before;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){100000, before.rlim_max};
    struct pw_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    enum pw_status status = pw_trace_export(t, &(struct pw_export_spec){.folder = "full"}, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, PW_FAILED);
    assert_string_equal(err.message, "full/kernel-1.traceg: cannot be written: File too large");
    assert_int_equal(system("ls -d full* no* 2>/dev/null | grep ."), 1 << 8);
    pw_trace_close(t);
}

static bool stop(void *context, uint64_t done, uint64_t all)
{
    unsigned *left = context;
    assert_true(done <= all + CTAS * WARPS * 2); /* with exits that are added */
    return --*left == 0;
}

static void an_interrupted_export_leaves_nothing(void **state)
{
    (void)state;
    struct pw_trace_writer *w = begin_warp(NULL);
    struct pw_op add = {.kind = PW_OP_COMPUTE, .loads_in_flight = 255, .count_or_mask = 2000000000};
    assert_true(pw_trace_write_op(w, 0, 0, &add, NULL));
    struct pw_trace *t = end_warp(w);
    unsigned left = 10;
    struct pw_error err = {0};
    const struct pw_import_watch watch = {stop, &left};
    assert_int_equal(pw_trace_export(t, &(struct pw_export_spec){.folder = "out", .watch = &watch}, &err),
                     PW_INTERRUPTED);
    assert_int_equal(system("ls -d out* 2>/dev/null | grep ."), 1 << 8);
    pw_trace_close(t);
}

/* Accel-Sim reads their number as an int. */
static void a_warp_of_too_many_instructions_is_refused(void **state)
{
    (void)state;
    struct pw_trace_writer *w = begin_warp("long.pwt");
    struct pw_op add = {.kind = PW_OP_COMPUTE, .loads_in_flight = 255, .count_or_mask = INT32_MAX};
    assert_true(pw_trace_write_op(w, 0, 0, &add, NULL));
    struct pw_trace *t = end_warp(w);
    refuse(t, "out", "long.pwt: CTA 0, warp 0 has 2147483648 instructions, more than Accel-Sim can count");
    pw_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_exported_comes_back),
        cmocka_unit_test(one_launch_has_what_the_host_did_before_it),
        cmocka_unit_test(more_loads_than_registers_are_waited_for_by_their_neighbours),
        cmocka_unit_test(registers_of_loads_do_not_overlap),
        cmocka_unit_test(a_wide_load_needs_all_of_its_registers),
        cmocka_unit_test(a_long_stride_is_written_as_differences),
        cmocka_unit_test(a_folder_appears_when_it_is_complete),
        cmocka_unit_test(an_interrupted_export_leaves_nothing),
        cmocka_unit_test(a_warp_of_too_many_instructions_is_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
