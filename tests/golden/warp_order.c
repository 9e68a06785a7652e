/* What a warp does follows from its program and seed alone, not from the order in which warps are resumed: a kernel
 * reads only what was written before its launch or before its CTA's last barrier (runtime/kernel.h). On this rest equal
 * addresses under every machine and design, and it would let kernels run ahead of the timing model.
 *
 * Every workload runs three times: CTA by CTA in order, CTA by CTA backwards, and with many CTAs in flight of which a
 * random warp gets to fill its buffer. Each warp must emit the same operations, and the result must be right. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

enum order { FORWARDS, BACKWARDS, AT_RANDOM, ORDER_COUNT };
enum { IN_FLIGHT = 24, MAX_WARPS = 64, ALIGNMENT = 2 << 20 };

struct warp {
    struct pw_warp *warp; /* NULL: exited */
    uint64_t hash;
    bool at_barrier;
};

struct cta {
    struct warp warps[MAX_WARPS];
    uint32_t left, arrived;
    void *shared;
};

struct executor {
    enum order order;
    struct pw_warp_pool *pool;
    struct pw_random random;
    uint64_t next_address;
    const struct pw_launch *launch;
    uint64_t instructions, launches, ctas, streams; /* streams: of all warps, whatever their order */
    struct cta ctas_in_flight[IN_FLIGHT];
};

static enum pw_status allocate(void *backend, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                               struct pw_error *err)
{
    (void)id, (void)name, (void)err;
    struct executor *e = backend;
    out->v = e->next_address;
    e->next_address += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return PW_OK;
}

static enum pw_status release(void *backend, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    (void)backend, (void)id, (void)base, (void)bytes, (void)err;
    return PW_OK;
}

static uint64_t fold(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static void start_cta(struct executor *e, struct cta *c, uint32_t index)
{
    c->left = pw_launch_warps(e->launch);
    c->arrived = 0;
    c->shared = calloc(1, e->launch->shared_bytes + 1);
    assert_true(c->left && c->left <= MAX_WARPS);
    for (uint32_t i = 0; i < c->left; i++) {
        struct pw_warp *w = pw_warp_start(e->pool, e->launch, index, i, c->shared);
        assert_non_null(w);
        c->warps[i] = (struct warp){.warp = w, .hash = fold(fold(e->launches, index), i)};
    }
    e->ctas++;
}

static uint64_t issued(void *backend)
{
    return ((const struct executor *)backend)->instructions;
}

/* Counts what is in the warp's buffer; returns whether a barrier is the last of it. */
static bool ends_at_barrier(struct executor *e, const struct pw_warp *w)
{
    struct pw_op op = {0};
    for (uint32_t at = 0, words; at < w->write; at += words) {
        memcpy(&op, &w->words[at], sizeof op);
        bool memory = op.kind >= PW_OP_LOAD && op.kind <= PW_OP_ATOMIC_RETURN;
        words = !memory ? 1 : op.form == PW_FORM_AFFINE ? 3 : 1 + pw_lane_count(op.count_or_mask);
        e->instructions += op.kind == PW_OP_COMPUTE ? op.count_or_mask : 1;
    }
    return op.kind == PW_OP_BARRIER;
}

/* Runs the warp until its buffer is full, and takes what is in it. */
static void resume(struct executor *e, struct cta *c, struct warp *w)
{
    pw_warp_refill(w->warp);
    for (uint32_t i = 0; i < w->warp->write; i++)
        w->hash = fold(w->hash, w->warp->words[i]);
    bool at_barrier = ends_at_barrier(e, w->warp);
    if (w->warp->exited) {
        e->streams += w->hash;
        pw_warp_finish(e->pool, w->warp);
        w->warp = NULL;
        c->left--;
    } else if (at_barrier) {
        w->at_barrier = true;
        c->arrived++;
    }
    if (c->arrived < c->left)
        return;
    for (uint32_t i = 0; i < pw_launch_warps(e->launch); i++)
        c->warps[i].at_barrier = false;
    c->arrived = 0;
    if (!c->left)
        free(c->shared);
}

/* The next warp of the CTA that may run. */
static struct warp *choose(struct executor *e, struct cta *c)
{
    uint32_t count = pw_launch_warps(e->launch);
    uint32_t at = e->order == AT_RANDOM ? (uint32_t)pw_random_below(&e->random, count) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = (at + i) % count;
        struct warp *w = &c->warps[e->order == BACKWARDS ? count - 1 - place : place];
        if (w->warp && !w->at_barrier)
            return w;
    }
    fail_msg("kernel %s: no warp of a CTA can go on", e->launch->name);
    return NULL;
}

static enum pw_status launch_kernel(void *backend, const struct pw_launch *launch, struct pw_error *err)
{
    (void)err;
    struct executor *e = backend;
    uint32_t ctas = pw_launch_ctas(launch), next = 0, room = e->order == AT_RANDOM ? IN_FLIGHT : 1, running = 0;
    e->launch = launch;
    e->launches++;
    while (next < ctas || running) {
        while (running < room && next < ctas) {
            start_cta(e, &e->ctas_in_flight[running++], e->order == BACKWARDS ? ctas - 1 - next : next);
            next++;
        }
        struct cta *c = &e->ctas_in_flight[pw_random_below(&e->random, running)];
        resume(e, c, choose(e, c));
        if (!c->left)
            *c = e->ctas_in_flight[--running];
    }
    return PW_OK;
}

/* Runs a program and checks its result; returns what its warps have done. */
static uint64_t run(const struct pw_program *p, enum order order)
{
    static const struct pw_backend backend = {
        .alloc = allocate, .free = release, .launch = launch_kernel, .issued = issued};
    static struct executor e;
    struct pw_error err;
    struct pw_host *host = NULL;
    e = (struct executor){.order = order, .pool = pw_warp_pool_create(&err), .next_address = ALIGNMENT};
    pw_random_init(&e.random, 1, "order");
    if (!e.pool || pw_host_create(p, 1, 0, true, &backend, &e, &host, &err))
        fail_msg("%s: %s", p->text, err.message);
    while (!pw_host_resume(host))
        ;
    if (pw_host_outcome(host, &err))
        fail_msg("%s, order %u: %s", p->text, order, err.message);
    pw_host_destroy(host);
    pw_warp_pool_destroy(e.pool);
    assert_true(e.ctas > 0);
    return e.streams;
}

static bool is_the_same_in_every_order(const struct pw_program *p)
{
    uint64_t streams = run(p, FORWARDS);
    return run(p, BACKWARDS) == streams && run(p, AT_RANDOM) == streams;
}

static void what_a_warp_of_any_workload_does_is_the_same_in_every_order(void **state)
{
    (void)state;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        if ((*w)->required)
            continue;
        char text[96];
        struct pw_program p;
        struct pw_error err;
        snprintf(text, sizeof text, "%s:scale=0.01", (*w)->name);
        if (pw_program_parse(text, &p, &err))
            fail_msg("%s: %s", text, err.message);
        if (!is_the_same_in_every_order(&p))
            fail_msg("%s: what its warps do depends on the order in which they run", text);
        pw_program_release(&p);
    }
}

/* A kernel whose address says what it has found in shared memory. */
struct found {
    struct pw_array array;
    bool before_a_barrier;
};

static void access_what_is_found(struct pw_warp *w, const void *arguments)
{
    const struct found *f = arguments;
    uint32_t *counts = w->shared;
    counts[w->index] = 1;
    if (!f->before_a_barrier)
        pw_barrier(w);
    pw_load_run(w, w->lanes, &f->array, counts[0] + counts[1]);
}

static void launch_found(struct pw_host *h, bool before_a_barrier)
{
    struct found f = {pw_alloc(h, "array", 64, sizeof(uint32_t)), before_a_barrier};
    pw_launch(h, &(struct pw_launch){.name = "found",
                                     .grid = {3, 1, 1},
                                     .block = {64, 1, 1},
                                     .shared_bytes = 2 * sizeof(uint32_t),
                                     .kernel = access_what_is_found,
                                     .arguments = &f});
}

static void read_before_a_barrier(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    launch_found(h, true);
}

static void read_behind_a_barrier(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    launch_found(h, false);
}

static void a_read_that_no_barrier_orders_is_found(void **state)
{
    (void)state;
    TEST_PROGRAM(before, read_before_a_barrier);
    TEST_PROGRAM(behind, read_behind_a_barrier);
    assert_false(is_the_same_in_every_order(&before));
    assert_true(is_the_same_in_every_order(&behind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_warp_of_any_workload_does_is_the_same_in_every_order),
        cmocka_unit_test(a_read_that_no_barrier_orders_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
