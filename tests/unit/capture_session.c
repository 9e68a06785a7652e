/* A recording from end to end: threads of this test are the GPU. They write records into a ring that is far too small
 * for them, as the patches do, and the trace that comes out has every operation of every warp in order; events,
 * filters, sampling and limits besides. */
#include "capture/layout.h"
#include "capture/session.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RING = 1 << 16, SMS = 6, OPS = 40, THREADS = 96, WARPS = 3, EXIT_AT = 5000, BUFFER = 1 << 28 };
#define HEAP 0x7f4200000000ULL

struct gpu {
    struct pw_capture_gpu *data; /* what patches would be called with */
    pthread_t threads[SMS];
    uint32_t ctas, next_cta;
    uint64_t waited; /* times that a warp found the ring full */
    bool refuses_memory, never_ends;
    struct pw_error err;
};

/* A GPU's memory is there until its process ends. */
static void *blocks[64];
static size_t block_count;

static bool allocate(void *context, void *launch, size_t bytes, void **out)
{
    (void)launch;
    const struct gpu *gpu = context;
    *out = gpu->refuses_memory ? NULL : malloc(bytes);
    if (*out) {
        assert_true(block_count < sizeof blocks / sizeof *blocks);
        blocks[block_count++] = *out;
    }
    return *out;
}

static int free_blocks(void **state)
{
    (void)state;
    while (block_count)
        free(blocks[--block_count]);
    return 0;
}

static bool copy(void *context, void *launch, void *to, const void *from, size_t bytes)
{
    (void)context;
    (void)launch;
    memcpy(to, from, bytes);
    return true;
}

/* capture/patch.cu in C. */
static void put(struct gpu *gpu, struct pw_capture_cell head, const uint64_t *addresses)
{
    struct pw_capture_gpu *g = gpu->data;
    if (head.cta % g->sample)
        return;
    head.cta /= g->sample;
    uint32_t lanes = head.form == PW_CAPTURE_LANES ? (uint32_t)__builtin_popcount(head.mask) : 0;
    uint64_t cells = 1 + (lanes + 3) / 4, at = __atomic_fetch_add(&g->taken, cells, __ATOMIC_RELAXED);
    while (at + cells > __atomic_load_n((uint64_t *)(uintptr_t)g->given, __ATOMIC_ACQUIRE) + g->count) {
        __atomic_fetch_add(&gpu->waited, 1, __ATOMIC_RELAXED);
        sched_yield();
    }
    uint64_t *words = (uint64_t *)(uintptr_t)g->cells;
    for (uint32_t i = 0; i < lanes; i++)
        words[(4 * (at + 1) + i) & (4 * g->count - 1)] = addresses[i];
    uint64_t image[4];
    head.valid = 1;
    memcpy(image, &head, sizeof image);
    uint64_t *cell = words + 4 * (at & (g->count - 1));
    memcpy(cell + 1, image + 1, 24);
    __atomic_store_n(cell, image[0], __ATOMIC_RELEASE);
}

/* Operation k of a warp: every third with an address per lane. */
static struct pw_capture_cell operation(uint32_t cta, uint32_t warp, uint32_t k, uint64_t addresses[32])
{
    struct pw_capture_cell head = {.kind = (uint8_t)(k % 5 == 4 ? PW_CAPTURE_BARRIER : PW_CAPTURE_LOAD + k % 2),
                                   .bytes = 4,
                                   .mask = 0xffffffffU >> (k % 4),
                                   .cta = cta,
                                   .place = (16ULL * (k + 1)) | (uint64_t)warp << PW_CAPTURE_WARP_SHIFT};
    uint64_t hash = (cta * 31ULL + warp) * 1000003 + k;
    head.base = HEAP + hash * 128 % (BUFFER - 8192);
    head.stride = 4;
    for (uint32_t lane = 0; lane < 32; lane++)
        addresses[lane] = HEAP + (hash * 977 + lane * lane * 4099ULL) * 4 % BUFFER;
    if (k % 3 == 2 && head.kind != PW_CAPTURE_BARRIER)
        head.form = PW_CAPTURE_LANES;
    return head;
}

/* An SM runs its CTA's warps by turns. */
static void *run_sm(void *context)
{
    struct gpu *gpu = context;
    for (uint32_t cta; (cta = __atomic_fetch_add(&gpu->next_cta, 1, __ATOMIC_RELAXED)) < gpu->ctas;)
        for (uint32_t k = 0; k <= OPS; k++)
            for (uint32_t warp = 0; warp < WARPS; warp++) {
                uint64_t addresses[32];
                struct pw_capture_cell head = operation(cta, warp, k, addresses);
                if (k == OPS)
                    head = (struct pw_capture_cell){.kind = PW_CAPTURE_EXIT,
                                                    .mask = UINT32_MAX,
                                                    .cta = cta,
                                                    .place = (uint64_t)warp << PW_CAPTURE_WARP_SHIFT | 16 * EXIT_AT};
                put(gpu, head, addresses);
            }
    return NULL;
}

static bool set_data(void *context, void *launch, void *device)
{
    (void)launch;
    struct gpu *gpu = context;
    gpu->data = device;
    gpu->next_cta = 0;
    for (uint32_t i = 0; device && i < SMS; i++)
        assert_int_equal(pthread_create(&gpu->threads[i], NULL, run_sm, gpu), 0);
    return true;
}

static bool wait_for_gpu(void *context, void *launch)
{
    (void)launch;
    struct gpu *gpu = context;
    for (uint32_t i = 0; i < SMS; i++)
        pthread_join(gpu->threads[i], NULL);
    return !gpu->never_ends;
}

static const char *why(void *context)
{
    const struct gpu *gpu = context;
    return gpu->refuses_memory ? "out of order (7)" : "";
}

struct fixture {
    struct gpu gpu;
    struct pw_capture_session *s;
    struct pw_capture_summary sum;
    char path[64];
};

static void start(struct fixture *f, struct pw_capture_settings *settings)
{
    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/pagewalk-capture-%d.pwt", (int)getpid());
    settings->output = f->path;
    settings->ring = RING;
    settings->program = "./test";
    struct pw_capture_calls calls = {&f->gpu, allocate, allocate, copy, set_data, wait_for_gpu, why};
    struct pw_error err;
    if (pw_capture_session_open(settings, &calls, "NVIDIA Test", &f->s, &err))
        fail_msg("%s", err.message);
    pw_capture_session_event(
        f->s, &(struct pw_trace_event){
                  .kind = PW_TRACE_ALLOC, .memory = PW_TRACE_MANAGED, .address = HEAP, .bytes = BUFFER, .name = ""});
}

static bool launch_as_before(struct fixture *f, const char *kernel, struct pw_dim3 grid)
{
    struct pw_capture_launch l = {
        .kernel = kernel, .grid = grid, .block = {THREADS, 1, 1}, .dynamic_shared = 512, .launch = f};
    if (!pw_capture_session_begin(f->s, &l))
        return false;
    pw_capture_session_end(f->s, f);
    return true;
}

static bool launch(struct fixture *f, const char *kernel, struct pw_dim3 grid)
{
    f->gpu.ctas = grid.x * grid.y * grid.z;
    return launch_as_before(f, kernel, grid);
}

static struct pw_trace *finish(struct fixture *f)
{
    struct pw_error err;
    struct pw_trace *t = NULL;
    if (pw_capture_session_close(f->s, &f->sum, &err) || pw_trace_open(f->path, &t, &err))
        fail_msg("%s", err.message);
    unlink(f->path);
    return t;
}

/* The operations of one warp, less what stands between them. */
static void check_warp(struct pw_trace_launch *l, uint32_t cta, uint32_t warp, uint32_t original)
{
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES], addresses[32];
    struct pw_error err;
    uint32_t k = 0;
    pw_trace_cursor_start(&c, l, cta, warp);
    enum pw_trace_step step;
    while ((step = pw_trace_cursor_next(&c, &op, words, &err)) == PW_TRACE_STEP_OP) {
        if (op.kind == PW_OP_COMPUTE || op.kind == PW_OP_EXIT)
            continue;
        struct pw_capture_cell head = operation(original, warp, k++, addresses);
        static const uint8_t kinds[] = {
            [PW_CAPTURE_LOAD] = PW_OP_LOAD, [PW_CAPTURE_STORE] = PW_OP_STORE, [PW_CAPTURE_BARRIER] = PW_OP_BARRIER};
        assert_int_equal(op.kind, kinds[head.kind]);
        if (op.kind == PW_OP_BARRIER)
            continue;
        assert_int_equal(op.count_or_mask, head.mask);
        for (uint32_t lane = 0, i = 0; lane < 32; lane++)
            if (head.mask >> lane & 1) {
                uint64_t expected = head.base + (uint64_t)lane * 4;
                if (head.form == PW_CAPTURE_LANES)
                    expected = addresses[i];
                uint64_t got = op.form == PW_FORM_LANES ? words[i] : words[0] + lane * words[1];
                assert_true(got == expected);
                i++;
            }
    }
    assert_int_equal(step, PW_TRACE_STEP_END);
    assert_int_equal(k, OPS);
}

static void check_launch(struct pw_trace *t, uint32_t number, uint32_t ctas, uint32_t sample)
{
    struct pw_trace_launch *l;
    struct pw_error err;
    if (pw_trace_launch_open(t, number, &l, &err))
        fail_msg("%s", err.message);
    for (uint32_t cta = 0; cta < ctas; cta++)
        for (uint32_t warp = 0; warp < WARPS; warp++)
            check_warp(l, cta, warp, cta * sample);
    pw_trace_launch_close(l);
}

static const struct pw_trace_event *find_event(const struct pw_trace *t, uint8_t kind, uint32_t number)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == kind && !number--)
            return &events[i];
    return NULL;
}

static void nothing_is_lost_when_the_ring_is_full(void **state)
{
    (void)state;
    enum { CTAS = 700 };
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    start(&f, &settings);
    assert_true(launch(&f, "first", (struct pw_dim3){CTAS / 7, 7, 1}));
    assert_true(launch(&f, "second", (struct pw_dim3){CTAS, 1, 1}));
    assert_true(f.gpu.waited > 0);
    struct pw_trace *t = finish(&f);
    assert_int_equal(f.sum.recorded, 2);
    assert_int_equal(f.sum.records, 2 * CTAS * WARPS * (OPS + 1));
    assert_int_equal(f.sum.operations, 2 * CTAS * WARPS * OPS * 4 / 5);
    assert_int_equal(f.sum.ctas, 2 * CTAS);
    assert_int_equal(f.sum.unended, 0);
    assert_int_equal(pw_trace_launches(t), 2);
    check_launch(t, 0, CTAS, 1);
    check_launch(t, 1, CTAS, 1);
    const struct pw_trace_event *event = find_event(t, PW_TRACE_LAUNCH, 0);
    assert_string_equal(event->name, "first");
    assert_int_equal(event->grid.y, 7);
    assert_int_equal(event->block.x, THREADS);
    assert_int_equal(event->shared_bytes, 512);
    assert_int_equal(event->sampled_of, 0);
    assert_int_equal(find_event(t, PW_TRACE_ALLOC, 0)->memory, PW_TRACE_MANAGED);
    assert_string_equal(pw_trace_get_origin(t)->device, "NVIDIA Test");
    assert_string_equal(pw_trace_get_origin(t)->program, "./test");
    pw_trace_close(t);
}

/* Straight code whose instructions come three cycles apart: of a warp's, OPS are records, of which a fifth are
 * barriers, and the rest is computation. */
static void a_launch_has_the_pace_of_its_code(void **state)
{
    (void)state;
    static struct pw_code_instruction straight[EXIT_AT + 1];
    for (size_t i = 0; i <= EXIT_AT; i++)
        straight[i] = (struct pw_code_instruction){.scoreboard = PW_CODE_NO_SCOREBOARD,
                                                   .operand_scoreboard = PW_CODE_NO_SCOREBOARD,
                                                   .stall = 3,
                                                   .goes_on = true};
    const struct pw_code_function code = {.instructions = straight, .count = EXIT_AT + 1};
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    start(&f, &settings);
    f.gpu.ctas = 5;
    const struct pw_capture_launch known = {
        .kernel = "known", .grid = {5, 1, 1}, .block = {THREADS, 1, 1}, .code = &code, .launch = &f};
    assert_true(pw_capture_session_begin(f.s, &known));
    pw_capture_session_end(f.s, &f);
    assert_true(launch(&f, "unknown", (struct pw_dim3){5, 1, 1}));
    struct pw_trace *t = finish(&f);
    assert_int_equal(find_event(t, PW_TRACE_LAUNCH, 0)->pace, 3000);
    assert_int_equal(find_event(t, PW_TRACE_LAUNCH, 1)->pace, 0);
    pw_trace_close(t);
}

static void a_sample_has_a_fixed_rate_and_its_own_numbers(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    settings.sample = 8;
    start(&f, &settings);
    assert_true(launch(&f, "k", (struct pw_dim3){25, 5, 1})); /* 125: CTAs 0, 8, …, 120 */
    struct pw_trace *t = finish(&f);
    const struct pw_trace_event *event = find_event(t, PW_TRACE_LAUNCH, 0);
    assert_int_equal(event->grid.x, 16);
    assert_int_equal(event->grid.y, 1);
    assert_int_equal(event->sampled_of, 125);
    assert_int_equal(pw_trace_get_origin(t)->cta_sample, 8);
    assert_int_equal(f.sum.ctas, 16);
    check_launch(t, 0, 16, 8);
    pw_trace_close(t);
}

static void filters_choose_launches(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    settings.kernels = "^(add|mul)";
    settings.skip = 1;
    settings.count = 2;
    start(&f, &settings);
    static const struct {
        const char *kernel;
        bool recorded;
    } launches[] = {{"add1", false},   {"sub1", false}, {"mul1", true},
                    {"an_add", false}, {"add2", true},  {"mul2", false}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        assert_int_equal(launch(&f, launches[i].kernel, (struct pw_dim3){2, 1, 1}), launches[i].recorded);
        assert_int_equal(f.gpu.data != NULL, launches[i].recorded);
    }
    struct pw_trace *t = finish(&f);
    assert_int_equal(f.sum.launches, 4);
    assert_int_equal(f.sum.recorded, 2);
    assert_string_equal(find_event(t, PW_TRACE_LAUNCH, 0)->name, "mul1");
    assert_string_equal(find_event(t, PW_TRACE_LAUNCH, 1)->name, "add2");
    pw_trace_close(t);
}

static void nothing_is_recorded_while_paused(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    settings.paused = true;
    start(&f, &settings);
    assert_false(launch(&f, "before", (struct pw_dim3){2, 1, 1}));
    pw_capture_session_pause(f.s, false);
    assert_true(launch(&f, "inside", (struct pw_dim3){2, 1, 1}));
    pw_capture_session_pause(f.s, true);
    assert_false(launch(&f, "behind", (struct pw_dim3){2, 1, 1}));
    struct pw_trace *t = finish(&f);
    assert_int_equal(f.sum.launches, 1);
    assert_int_equal(pw_trace_launches(t), 1);
    pw_trace_close(t);
}

static void a_limit_ends_with_a_whole_launch(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    settings.limit = 1000;
    start(&f, &settings);
    assert_true(launch(&f, "a", (struct pw_dim3){10, 1, 1}));
    assert_false(launch(&f, "b", (struct pw_dim3){10, 1, 1}));
    struct pw_trace *t = finish(&f);
    assert_true(f.sum.limited);
    check_launch(t, 0, 10, 1);
    pw_trace_close(t);
}

/* What a second thread of the program does while a kernel runs. */
static void *second_thread(void *context)
{
    struct fixture *f = context;
    char name[] = "during";
    pw_capture_session_event(
        f->s, &(struct pw_trace_event){.kind = PW_TRACE_ALLOC, .address = 4096, .bytes = 64, .name = name});
    *name = 0; /* the session has a copy */
    pw_capture_session_event(
        f->s, &(struct pw_trace_event){
                  .kind = PW_TRACE_COPY, .flags = PW_TRACE_FROM_DEVICE, .address = HEAP, .bytes = 4096, .name = ""});
    return launch_as_before(f, "second", (struct pw_dim3){3, 1, 1}) ? f : NULL;
}

static void what_happens_during_a_launch_stands_behind_it(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    start(&f, &settings);
    f.gpu.ctas = 3;
    struct pw_capture_launch l = {.kernel = "first", .grid = {3, 1, 1}, .block = {THREADS, 1, 1}, .launch = &f};
    assert_true(pw_capture_session_begin(f.s, &l));
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, second_thread, &f), 0);
    usleep(50000); /* its launch waits for its turn */
    pw_capture_session_end(f.s, &f);
    void *recorded;
    pthread_join(other, &recorded);
    assert_non_null(recorded);
    struct pw_trace *t = finish(&f);
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    assert_int_equal(count, 5);
    assert_int_equal(events[0].kind, PW_TRACE_ALLOC);
    assert_string_equal(events[1].name, "first");
    assert_string_equal(events[2].name, "during");
    assert_int_equal(events[3].kind, PW_TRACE_COPY);
    assert_string_equal(events[4].name, "second");
    check_launch(t, 0, 3, 1);
    check_launch(t, 1, 3, 1);
    pw_trace_close(t);
}

static void launches_that_cannot_be_numbered_are_left_out(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    settings.sample = 8;
    start(&f, &settings);
    assert_false(launch_as_before(&f, "k", (struct pw_dim3){1U << 30, 4, 1}));
    assert_false(launch_as_before(&f, "k", (struct pw_dim3){UINT32_MAX, UINT32_MAX, 4}));
    assert_true(launch(&f, "k", (struct pw_dim3){8, 1, 1}));
    pw_trace_close(finish(&f));
    assert_int_equal(f.sum.too_large, 2);
    assert_int_equal(f.sum.recorded, 1);
}

/* A launch that fails before its first record, and a context that goes: the ring is allocated again. */
static void ends_that_are_not_seen_are_counted(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    pw_capture_settings_init(&settings);
    start(&f, &settings);
    f.gpu.ctas = 0;
    assert_true(launch_as_before(&f, "nothing", (struct pw_dim3){5, 1, 1}));
    size_t before = block_count;
    pw_capture_session_leave(f.s);
    assert_true(launch(&f, "k", (struct pw_dim3){2, 1, 1}));
    assert_int_equal(block_count, before + 3);
    pw_capture_session_settle(f.s);
    struct pw_trace *t = finish(&f);
    assert_int_equal(f.sum.unended, 5);
    assert_int_equal(f.sum.ctas, 2);
    check_launch(t, 1, 2, 1);
    pw_trace_close(t);
}

static void failures_leave_no_file(void **state)
{
    (void)state;
    struct pw_capture_settings settings;
    struct fixture f;
    struct pw_error err;
    pw_capture_settings_init(&settings);
    start(&f, &settings);
    f.gpu.refuses_memory = true;
    assert_false(launch(&f, "k", (struct pw_dim3){1, 1, 1}));
    assert_int_equal(pw_capture_session_close(f.s, &f.sum, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "--ring: out of order (7)"));
    assert_int_not_equal(access(f.path, F_OK), 0);

    start(&f, &settings);
    f.gpu.never_ends = true;
    assert_true(launch(&f, "k", (struct pw_dim3){1, 1, 1}));
    assert_int_equal(pw_capture_session_close(f.s, &f.sum, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "did not run to its end"));
    assert_int_not_equal(access(f.path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_the_ring_is_full),
        cmocka_unit_test(a_launch_has_the_pace_of_its_code),
        cmocka_unit_test(a_sample_has_a_fixed_rate_and_its_own_numbers),
        cmocka_unit_test(filters_choose_launches),
        cmocka_unit_test(nothing_is_recorded_while_paused),
        cmocka_unit_test(a_limit_ends_with_a_whole_launch),
        cmocka_unit_test(what_happens_during_a_launch_stands_behind_it),
        cmocka_unit_test(launches_that_cannot_be_numbered_are_left_out),
        cmocka_unit_test(ends_that_are_not_seen_are_counted),
        cmocka_unit_test(failures_leave_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, free_blocks);
}
