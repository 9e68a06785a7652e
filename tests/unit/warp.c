/* Warps: their place in the grid, the stream of operations across buffer boundaries, barriers, and the pool. */
#include "exhaust.h"
#include "workload/runtime/coroutine.h"
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <stdlib.h>
#include <string.h>

static struct pw_op op_at(const struct pw_warp *w)
{
    struct pw_op op;
    memcpy(&op, &w->words[w->read], sizeof op);
    return op;
}

static struct pw_warp_pool *new_pool(void)
{
    struct pw_warp_pool *p = pw_warp_pool_create(NULL);
    assert_non_null(p);
    return p;
}

static void nothing(struct pw_warp *w, const void *arguments)
{
    (void)w, (void)arguments;
}

static void a_warp_knows_its_place_and_its_threads(void **state)
{
    (void)state;
    struct pw_warp_pool *p = new_pool();
    struct pw_launch launch = {.grid = {3, 4, 5}, .block = {7, 5, 2}, .kernel = nothing}; /* 70 threads */
    assert_int_equal(pw_launch_warps(&launch), 3);
    assert_int_equal(pw_launch_ctas(&launch), 60);
    for (uint32_t z = 0, linear = 0; z < 5; z++)
        for (uint32_t y = 0; y < 4; y++)
            for (uint32_t x = 0; x < 3; x++, linear++)
                for (uint32_t i = 0; i < 3; i++) {
                    int shared;
                    struct pw_warp *w = pw_warp_start(p, &launch, linear, i, &shared);
                    assert_int_equal(w->cta.x, x);
                    assert_int_equal(w->cta.y, y);
                    assert_int_equal(w->cta.z, z);
                    assert_int_equal(w->cta_index, linear);
                    assert_int_equal(w->index, i);
                    assert_int_equal(w->lanes, i < 2 ? PW_ALL_LANES : 0x3f);
                    assert_ptr_equal(w->shared, &shared);
                    assert_int_equal(pw_lanes_below(w, 10, 13), w->lanes & 7);
                    assert_int_equal(pw_lanes_below(w, 10, 10), 0);
                    assert_int_equal(pw_lanes_below(w, 10, 1000), w->lanes);
                    pw_warp_finish(p, w);
                }
    pw_warp_pool_destroy(p);
}

/* Operation number i of the stream below, decided by a hash: kind, form, mask. */
struct expected {
    unsigned kind;
    bool lanes;
    uint32_t mask_or_count;
    uint8_t in_flight;
    uint64_t base;
    int64_t stride;
};

static struct expected expected_op(uint64_t seed, uint64_t i)
{
    uint64_t h = pw_hash(seed, i);
    struct expected e = {.kind = (unsigned)(h % 5), .lanes = h >> 8 & 1, .in_flight = PW_ANY_IN_FLIGHT};
    e.mask_or_count = (uint32_t)(h >> 32);
    if (h >> 9 & 1)
        e.mask_or_count = PW_ALL_LANES;
    if (h >> 10 & 1)
        e.mask_or_count &= 0x11;
    e.base = (h >> 11 & 0xffff) * 4;
    e.stride = (int64_t)(h >> 12 & 0xff) - 128;
    if (h >> 16 & 1)
        e.in_flight = (uint8_t)(h >> 17 & 7);
    return e;
}

enum { STREAM = 3000 };
static const struct pw_array test_array = {.base = {0x1000}, .count = 1 << 20, .element_bytes = 4};

static void emit_stream(struct pw_warp *w, const void *arguments)
{
    uint64_t seed = *(const uint64_t *)arguments;
    for (uint64_t i = 0; i < STREAM; i++) {
        struct expected e = expected_op(seed, i);
        if (e.in_flight != PW_ANY_IN_FLIGHT) {
            pw_use_all_but(w, 200);
            pw_use_all_but(w, e.in_flight);
            pw_use_all_but(w, 100);
        }
        if (!e.mask_or_count)
            w->next_in_flight = PW_ANY_IN_FLIGHT;
        if (e.kind == PW_OP_COMPUTE) {
            pw_compute(w, e.mask_or_count);
        } else if (e.lanes) {
            uint64_t index[PW_WARP_LANES];
            for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
                index[lane] = e.base + lane * lane;
            pw_access_lanes(w, e.kind, e.mask_or_count, &test_array, index);
        } else {
            pw_access_strided(w, e.kind, e.mask_or_count, &test_array, (int64_t)e.base, e.stride);
        }
    }
}

static void check_op(struct pw_warp *w, struct expected e)
{
    struct pw_op op = op_at(w);
    const uint64_t *words = &w->words[w->read + 1];
    assert_int_equal(op.kind, e.kind);
    assert_int_equal(op.count_or_mask, e.mask_or_count);
    assert_int_equal(op.loads_in_flight, e.in_flight);
    uint32_t length = 1;
    if (e.kind != PW_OP_COMPUTE) {
        assert_int_equal(op.bytes, 4);
        assert_int_equal(op.form, e.lanes ? PW_FORM_LANES : PW_FORM_AFFINE);
        if (e.lanes) {
            for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
                if (e.mask_or_count >> lane & 1)
                    assert_int_equal(words[length++ - 1], 0x1000 + 4 * (e.base + lane * lane));
        } else {
            assert_int_equal(words[0], 0x1000 + 4 * e.base);
            assert_int_equal(words[1], (uint64_t)(4 * e.stride));
            length = 3;
        }
    }
    w->read = (uint16_t)(w->read + length);
    assert_true(w->read <= w->write);
}

static void the_stream_is_whole_and_in_order_across_buffers(void **state)
{
    (void)state;
    struct pw_warp_pool *p = new_pool();
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pw_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .kernel = emit_stream, .arguments = &seed};
        struct pw_warp *w = pw_warp_start(p, &launch, 0, 0, NULL);
        for (uint64_t i = 0; i < STREAM; i++) {
            struct expected e = expected_op(seed, i);
            if (!e.mask_or_count)
                continue;
            if (w->read == w->write) {
                assert_false(w->exited);
                pw_warp_refill(w);
                assert_true(w->write <= PW_OP_BUFFER_WORDS);
            }
            check_op(w, e);
        }
        if (w->read == w->write)
            pw_warp_refill(w);
        assert_true(w->exited);
        assert_int_equal(op_at(w).kind, PW_OP_EXIT);
        assert_int_equal(w->read + 1, w->write);
        pw_warp_finish(p, w);
    }
    pw_warp_pool_destroy(p);
}

static void read_before_and_after_the_barrier(struct pw_warp *w, const void *arguments)
{
    (void)arguments;
    uint32_t *shared = w->shared;
    for (uint32_t round = 1; round <= 3; round++) {
        pw_compute(w, round);
        shared[w->index] += round;
        pw_barrier(w);
        uint32_t sum = shared[0] + shared[1] + shared[2];
        pw_barrier(w);
        shared[w->index] = sum;
    }
}

static void a_barrier_ends_its_batch_and_separates_the_phases(void **state)
{
    (void)state;
    struct pw_warp_pool *p = new_pool();
    uint32_t shared[3] = {0};
    struct pw_launch launch = {.grid = {1, 1, 1}, .block = {96, 1, 1}, .kernel = read_before_and_after_the_barrier};
    struct pw_warp *w[3];
    for (uint32_t i = 0; i < 3; i++)
        w[i] = pw_warp_start(p, &launch, 0, i, shared);
    for (uint32_t phase = 0; phase < 6; phase++)
        for (uint32_t k = 0; k < 3; k++) {
            struct pw_warp *now = w[(phase + k) % 3]; /* the order within a phase must not matter */
            pw_warp_refill(now);
            if (phase % 2 == 0) {
                assert_int_equal(op_at(now).kind, PW_OP_COMPUTE);
                assert_int_equal(op_at(now).count_or_mask, phase / 2 + 1);
                now->read++;
            }
            assert_int_equal(op_at(now).kind, PW_OP_BARRIER);
            now->read++;
            assert_int_equal(now->read, now->write);
            assert_false(now->exited);
        }
    for (uint32_t i = 0; i < 3; i++) {
        pw_warp_refill(w[i]);
        assert_int_equal(op_at(w[i]).kind, PW_OP_EXIT);
        assert_true(w[i]->exited);
        assert_int_equal(shared[i], ((1 * 3 + 2) * 3 + 3) * 3);
        pw_warp_finish(p, w[i]);
    }
    pw_warp_pool_destroy(p);
}

static void count_up(struct pw_warp *w, const void *arguments)
{
    uint32_t *sums = *(uint32_t *const *)arguments;
    volatile uint32_t locals[256];
    for (uint32_t i = 0; i < 256; i++)
        locals[i] = w->cta_index * i;
    for (uint32_t i = 0; i < 256; i++) {
        sums[w->cta_index] += locals[i];
        pw_compute(w, 1);
    }
}

static void thousands_of_warps_are_in_flight_at_once(void **state)
{
    (void)state;
    enum { WARPS = 5120 };
    struct pw_warp_pool *p = new_pool();
    uint32_t *sums = calloc(WARPS, sizeof *sums);
    struct pw_warp **warps = calloc(WARPS, sizeof(struct pw_warp *));
    struct pw_launch launch = {.grid = {WARPS, 1, 1}, .block = {32, 1, 1}, .kernel = count_up, .arguments = &sums};
    for (uint32_t i = 0; i < WARPS; i++)
        warps[i] = pw_warp_start(p, &launch, i, 0, NULL);
    for (int left = WARPS; left;)
        for (uint32_t i = 0; i < WARPS; i++)
            if (!warps[i]->exited) {
                pw_warp_refill(warps[i]);
                left -= warps[i]->exited;
            }
    for (uint32_t i = 0; i < WARPS; i++) {
        assert_int_equal(sums[i], i * (255 * 128));
        pw_warp_finish(p, warps[i]);
    }
    free(warps);
    free(sums);
    pw_warp_pool_destroy(p);
}

static void warps_are_reused_last_in_first_out_even_unfinished(void **state)
{
    (void)state;
    struct pw_warp_pool *p = new_pool();
    uint32_t sums[2] = {0}, *at = sums;
    struct pw_launch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .kernel = count_up, .arguments = &at};
    struct pw_warp *a = pw_warp_start(p, &launch, 0, 0, NULL), *b = pw_warp_start(p, &launch, 1, 0, NULL);
    pw_warp_refill(b);
    assert_false(b->exited);
    pw_warp_finish(p, b);
    pw_warp_finish(p, a);
    assert_ptr_equal(pw_warp_start(p, &launch, 0, 0, NULL), a);
    struct pw_warp *again = pw_warp_start(p, &launch, 1, 0, NULL);
    assert_ptr_equal(again, b);
    sums[1] = 0;
    while (!again->exited)
        pw_warp_refill(again);
    assert_int_equal(sums[1], 255 * 128);
    pw_warp_pool_destroy(p); /* with one warp not begun */
}

/* What it writes lies in its neighbour's stack. */
static __attribute__((no_sanitize_address)) void overrun_in_cta_70(struct pw_warp *w, const void *arguments)
{
    (void)arguments;
    const struct pw_coroutine *c = w->coroutine;
    char here;
    pw_compute(w, 1);
    if (w->cta_index == 70)
        descend((uintptr_t)&here, (size_t)(&here - (char *)c->stack.low) + 512);
    pw_barrier(w);
    pw_compute(w, 2);
}

/* Of 200 warps, whose stacks are in four chunks. */
static void a_kernel_that_overruns_its_stack_ends_every_warp(void **state)
{
    (void)state;
    enum { WARPS = 200 };
    struct pw_warp *warps[WARPS];
    struct pw_warp_pool *p = new_pool();
    struct pw_launch launch = {.grid = {WARPS, 1, 1}, .block = {32, 1, 1}, .kernel = overrun_in_cta_70};
    for (uint32_t i = 0; i < WARPS; i++)
        warps[i] = pw_warp_start(p, &launch, i, 0, NULL);
    for (uint32_t i = 0; i <= 70; i++) {
        assert_int_equal(pw_warp_refill(warps[i]), i < 70);
        assert_int_equal(op_at(warps[i]).kind, PW_OP_COMPUTE);
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        assert_true(pw_warp_refill(warps[i]));
        assert_int_equal(op_at(warps[i]).kind, PW_OP_EXIT);
        assert_true(warps[i]->exited);
    }
    pw_warp_pool_destroy(p);
}

/* A slab of warps, or their stacks, cannot be had: no warp, and those there are go on. */
static enum exhaust start_until_memory_is_out(void)
{
    enum { ENOUGH = 1 << 20 };
    uint32_t *sums = calloc(ENOUGH, sizeof *sums), started = 0;
    struct pw_warp_pool *p = pw_warp_pool_create(NULL);
    struct pw_launch launch = {.grid = {ENOUGH, 1, 1}, .block = {32, 1, 1}, .kernel = count_up, .arguments = &sums};
    struct pw_warp *w, *ends[2] = {NULL};
    for (; p && started < ENOUGH && (w = pw_warp_start(p, &launch, started, 0, NULL)); started++)
        ends[started > 0] = w;
    if (!started)
        return EXHAUST_WRONG;
    while (!ends[0]->exited || !ends[1]->exited)
        for (unsigned i = 0; i < 2; i++)
            if (!ends[i]->exited)
                pw_warp_refill(ends[i]);
    bool right = started % 64 == 0 && started < ENOUGH && sums[started - 1] == (started - 1) * (255 * 128);
    pw_warp_finish(p, ends[1]);
    right = right && pw_warp_start(p, &launch, 0, 0, NULL) == ends[1];
    pw_warp_pool_destroy(p);
    free(sums);
    return right ? EXHAUST_OK : EXHAUST_WRONG;
}

static void memory_that_runs_out_leaves_the_warps_there_are(void **state)
{
    (void)state;
    exhaust_memory(256 << 20, start_until_memory_is_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_knows_its_place_and_its_threads),
        cmocka_unit_test(the_stream_is_whole_and_in_order_across_buffers),
        cmocka_unit_test(a_barrier_ends_its_batch_and_separates_the_phases),
        cmocka_unit_test(thousands_of_warps_are_in_flight_at_once),
        cmocka_unit_test(warps_are_reused_last_in_first_out_even_unfinished),
        cmocka_unit_test(a_kernel_that_overruns_its_stack_ends_every_warp),
        cmocka_unit_test(memory_that_runs_out_leaves_the_warps_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
