/* Allocations of a trace: numbered in order, freed where they overlap, and inferred where warps access what nobody
 * allocated, so that every access lies in one that is alive. */
#include "trace_fixture.h"

#include <stdio.h>

#define MIB (UINT64_C(1) << 20)

static struct pw_trace_writer *open_writer(void)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    return w;
}

static struct pw_trace *finish(struct pw_trace_writer *w)
{
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    return t;
}

static void event(struct pw_trace_writer *w, enum pw_trace_event_kind kind, uint64_t address, uint64_t bytes,
                  uint8_t flags)
{
    pw_trace_write_event(w, &(struct pw_trace_event){.kind = (uint8_t)kind,
                                                     .memory = PW_TRACE_DEVICE,
                                                     .flags = flags,
                                                     .address = address,
                                                     .bytes = bytes,
                                                     .name = kind == PW_TRACE_ALLOC ? "array" : ""});
}

static void launch(struct pw_trace_writer *w)
{
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {4, 1, 1}, .block = {32, 1, 1}});
}

/* One lane reads `bytes` bytes. */
static void touch(struct pw_trace_writer *w, uint64_t address, uint8_t bytes)
{
    struct pw_op op = {.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = bytes, .count_or_mask = 8};
    assert_true(pw_trace_write_op(w, 0, 0, &op, &address));
}

/* Events as text, one a line: `+` an allocation (`?` an inferred one), `-` a free, `L` a launch. */
static void assert_events(struct pw_trace *t, const char *expected)
{
    char text[2048] = "", *at = text;
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    for (size_t i = 0; i < count; i++, e++) {
        char kind = "+-CPAXL"[e->kind];
        if (e->kind == PW_TRACE_ALLOC && e->memory == PW_TRACE_INFERRED)
            kind = '?';
        at += sprintf(at, "%c%u", kind, e->allocation);
        if (e->kind != PW_TRACE_LAUNCH && e->kind != PW_TRACE_FREE)
            at += sprintf(at, " 0x%llx %llu", (unsigned long long)e->address, (unsigned long long)e->bytes);
        if (e->flags)
            at += sprintf(at, " %u", e->flags);
        at += sprintf(at, "%s", i + 1 < count ? ", " : "");
    }
    assert_string_equal(text, expected);
    pw_trace_close(t);
}

static void recorded_allocations_are_numbered_and_never_overlap(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    event(w, PW_TRACE_ALLOC, 1 * MIB, 0, 0); /* nothing */
    event(w, PW_TRACE_ALLOC, 1 * MIB, 4096, 0);
    event(w, PW_TRACE_ALLOC, 2 * MIB, 4096, 0);
    event(w, PW_TRACE_ALLOC, 3 * MIB, 4096, 0);
    event(w, PW_TRACE_FREE, 2 * MIB + 5, 0, 0);
    event(w, PW_TRACE_FREE, 2 * MIB, 0, 0);               /* none is there */
    event(w, PW_TRACE_ALLOC, 1 * MIB + 4095, 2 * MIB, 0); /* over two that were not freed */
    event(w, PW_TRACE_COPY, 2 * MIB, 100, PW_TRACE_ON_DEVICE);
    event(w, PW_TRACE_COPY, 7 * MIB, 100, 0);         /* in none */
    event(w, PW_TRACE_PREFETCH, 3 * MIB, 8 * MIB, 0); /* more than there is */
    event(w, PW_TRACE_ADVISE, 2 * MIB, 1, 15);
    event(w, PW_TRACE_ADVISE, 2 * MIB, 0, 15);
    event(w, PW_TRACE_PROTECT, 2 * MIB, 1, 3);
    assert_events(finish(w), "+0 0x100000 4096, +1 0x200000 4096, +2 0x300000 4096, -1, -0, -2, +3 0x100fff 2097152, "
                             "C3 0x200000 100 2, P3 0x300000 4095, A3 0x200000 1 15, X3 0x200000 1 3");
}

static void what_nobody_allocated_is_inferred(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    launch(w);
    touch(w, 4 * MIB + 5000, 4);
    touch(w, 4 * MIB + 100, 4);
    touch(w, 7 * MIB, 8);      /* the next block of 2 MiB */
    touch(w, 12 * MIB - 8, 8); /* one between is not touched */
    event(w, PW_TRACE_ALLOC, 100 * MIB, 4096, 0);
    launch(w);
    touch(w, 100 * MIB, 16);
    touch(w, 14 * MIB - 2, 4); /* across two blocks */
    touch(w, 4 * MIB + 96, 1);
    assert_events(finish(w), "?0 0x400000 3149824, ?1 0xbff000 2105344, L0, +2 0x6400000 4096, L1");
}

static void arrays_that_begin_at_blocks_are_allocations_of_their_own(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    launch(w);
    touch(w, 4 * MIB, 4);
    touch(w, 5 * MIB - 4, 4);
    touch(w, 6 * MIB, 4); /* the first byte of a block, and nothing for a long time before it */
    touch(w, 8 * MIB - (64 << 10), 4);
    touch(w, 8 * MIB, 4); /* less than 64 KiB before it */
    touch(w, 8 * MIB + 100, 4);
    touch(w, 10 * MIB + 4, 4); /* not the first byte */
    touch(w, 12 * MIB, 1);
    assert_events(finish(w), "?0 0x400000 1048576, ?1 0x600000 4198400, ?2 0xc00000 4096, L0");
}

/* A word of two bytes half of which is behind an allocation that was looked up before. */
static void one_byte_beyond_an_allocation_is_noticed(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    event(w, PW_TRACE_ALLOC, 4 * MIB, 4096, 0);
    launch(w);
    touch(w, 4 * MIB, 4);
    touch(w, 4 * MIB + 4095, 2);
    assert_events(finish(w), "?0 0x401000 4096, +1 0x400000 4096, L0");
}

static void inferred_allocations_leave_room_for_recorded_ones(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    event(w, PW_TRACE_ALLOC, 4 * MIB + 256, 512, 0);
    launch(w);
    touch(w, 4 * MIB + 100, 4);
    touch(w, 4 * MIB + 256, 4); /* recorded */
    touch(w, 4 * MIB + 766, 4); /* half of it */
    touch(w, 4 * MIB + 9000, 4);
    event(w, PW_TRACE_ALLOC, 4 * MIB + 12288 - 200, 100, 0); /* later, in the page of the last access */
    launch(w);
    assert_events(finish(w), "?0 0x400000 256, ?1 0x400300 11320, +2 0x400100 512, L0, +3 0x402f38 100, L1");
}

static void what_is_touched_before_or_after_its_life_is_inferred_for_then(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    launch(w);
    touch(w, 4 * MIB + 64, 4); /* too early */
    event(w, PW_TRACE_ALLOC, 4 * MIB, 4096, 0);
    launch(w);
    touch(w, 4 * MIB + 64, 4);
    event(w, PW_TRACE_FREE, 4 * MIB, 0, 0);
    launch(w);
    touch(w, 4 * MIB, 4);        /* too late */
    touch(w, 4 * MIB + 4092, 8); /* and beyond */
    event(w, PW_TRACE_ALLOC, 4 * MIB + 2048, 8, 0);
    launch(w);
    touch(w, 4 * MIB + 2040, 8);
    touch(w, 4 * MIB + 2056, 1);
    assert_events(finish(w),
                  "?0 0x401000 4096, ?1 0x400040 4, L0, -1, +2 0x400000 4096, L1, -2, ?3 0x400000 4096, L2, -3, "
                  "+4 0x400800 8, ?5 0x4007f8 8, ?6 0x400808 1, L3");
}

static void a_name_is_its_address(void **state)
{
    (void)state;
    struct pw_trace_writer *w = open_writer();
    launch(w);
    touch(w, UINT64_C(0x7f0000001234), 4);
    struct pw_trace *t = finish(w);
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    assert_string_equal(events[0].name, "0x7f0000001000");
    assert_int_equal(events[1].memory_instructions, 1);
    assert_int_equal(events[1].warp_instructions, 1);
    pw_trace_close(t);
}

static void assert_fails(struct pw_trace_writer *w, const char *message)
{
    struct pw_error err = {0};
    assert_int_equal(pw_trace_writer_status(w, &err), PW_USER_ERROR);
    if (!strstr(err.message, message))
        fail_msg("%s", err.message);
    assert_int_equal(pw_trace_writer_finish(w, NULL, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, message));
}

static void what_no_gpu_does_is_refused(void **state)
{
    (void)state;
    uint64_t beyond = (UINT64_C(1) << 57) - 3, words[2] = {beyond, 0};
    struct pw_op load = {.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 1};
    struct pw_op leave = {.kind = PW_OP_EXIT}, bad = {.kind = PW_OP_LOAD, .bytes = 3, .count_or_mask = 1};
    struct pw_trace_writer *w = open_writer();
    launch(w);
    assert_false(pw_trace_write_op(w, 3, 0, &load, words));
    assert_fails(w, "CTA 3, warp 0 accesses 0x1fffffffffffffd, which no GPU can address");
    w = open_writer();
    launch(w);
    load.form = PW_FORM_AFFINE;
    load.count_or_mask = 3;
    words[0] = 1 << 20, words[1] = UINT64_C(1) << 63;
    assert_false(pw_trace_write_op(w, 0, 0, &load, words));
    assert_fails(w, "which no GPU can address");
    w = open_writer();
    launch(w);
    assert_false(pw_trace_write_op(w, 4, 0, &leave, words));
    assert_fails(w, "CTA 4, warp 0 is not of the launch");
    w = open_writer();
    launch(w);
    assert_true(pw_trace_write_op(w, 1, 0, &leave, words));
    assert_false(pw_trace_write_op(w, 1, 0, &leave, words));
    assert_fails(w, "CTA 1, warp 0 has an operation behind its exit");
    w = open_writer();
    launch(w);
    assert_false(pw_trace_write_op(w, 1, 0, &bad, words));
    assert_fails(w, "CTA 1, warp 0 has what is no operation");
    w = open_writer();
    event(w, PW_TRACE_ALLOC, beyond, 4, 0);
    assert_fails(w, "an allocation of 4 bytes at 0x1fffffffffffffd");
    w = open_writer();
    assert_false(pw_trace_write_op(w, 0, 0, &leave, words));
    assert_fails(w, "is not of the launch");
    w = open_writer();
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {4, 0, 1}, .block = {32, 1, 1}});
    assert_fails(w, "kernel k has a grid of 4 x 0 x 1 and blocks of 32 x 1 x 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_allocations_are_numbered_and_never_overlap),
        cmocka_unit_test(what_nobody_allocated_is_inferred),
        cmocka_unit_test(arrays_that_begin_at_blocks_are_allocations_of_their_own),
        cmocka_unit_test(one_byte_beyond_an_allocation_is_noticed),
        cmocka_unit_test(inferred_allocations_leave_room_for_recorded_ones),
        cmocka_unit_test(what_is_touched_before_or_after_its_life_is_inferred_for_then),
        cmocka_unit_test(a_name_is_its_address),
        cmocka_unit_test(what_no_gpu_does_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
