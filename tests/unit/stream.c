/* Streams as their callers see them: memory, address spaces, queues, metrics, and every mistake that has a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "streams.h"

static const struct pw_stream_place first = {0};
static const uint64_t mib = 1 << 20, gib = 1 << 30;

static struct pw_stream *touching(void)
{
    return stream_open((struct pw_stream_spec){.map_on_touch = true});
}

/* --- Memory. */

static void what_is_not_mapped_cannot_be_accessed(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = stream_open((struct pw_stream_spec){0});
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 0, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "address 0x1000 of application 0 is not mapped: map it first, or open the stream "
                                   "with map_on_touch");
    STREAM_OK(pw_stream_map(s, 0, 0x1234, 16, NULL, err));
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    stream_do(s, first, PW_STREAM_LOAD, 0x1ffc);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0xffc, 4, 0, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x2000, 4, 0, &e), PW_USER_ERROR);
    STREAM_OK(pw_stream_unmap(s, 0, 0x1800, err));
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 0, &e), PW_USER_ERROR);
    stream_end(s);
}

static void mappings_do_not_overlap(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = stream_open((struct pw_stream_spec){0});
    STREAM_OK(pw_stream_map(s, 0, 0x10000, 0x3000, NULL, err));
    assert_int_equal(pw_stream_map(s, 0, 0x12fff, 2, NULL, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "the pages around 0x12fff to 0x13001 overlap those of 0x10000 to 0x13000, which "
                                   "are mapped already");
    assert_int_equal(pw_stream_map(s, 0, 0xf000, 0x10000, NULL, &e), PW_USER_ERROR);
    STREAM_OK(pw_stream_map(s, 0, 0x13000, 1, NULL, err));
    STREAM_OK(pw_stream_map(s, 0, 0xffff, 1, NULL, err));
    stream_end(s);
}

/* Addresses anywhere, mapped in any order, and ranges over several GiB that are moved apart. */
static void addresses_may_lie_anywhere_in_48_bits(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.machine = "volta"});
    const uint64_t at[] = {(1ULL << 48) - 4096, 0, 7 * gib - 4096, 5 * gib, 4 * gib, 3 * gib - 2 * mib};
    const uint64_t bytes[] = {4096, 4096, 8192, 4 * mib, 2 * mib, 1 * gib + mib};
    for (size_t i = 0; i < 6; i++)
        STREAM_OK(pw_stream_map(s, 0, at[i], bytes[i], "anywhere", err));
    uint64_t seen[12];
    for (size_t i = 0; i < 12; i++) {
        struct pw_stream_completion done =
            stream_do(s, first, PW_STREAM_LOAD, i % 2 ? at[i / 2] + bytes[i / 2] - 4 : at[i / 2]);
        assert_int_equal(done.physical % 4096, done.address % 4096);
        seen[i] = done.physical >> 12;
        for (size_t k = 0; k < i; k++)
            assert_true(seen[k] != seen[i] || (k == i - 1 && bytes[i / 2] == 4096));
    }
    assert_int_equal(pw_stream_map(s, 0, 1ULL << 48, 1, NULL, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_map(s, 0, 4096, 1ULL << 48, NULL, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_map(s, 0, 4096, 0, NULL, &e), PW_USER_ERROR);
    STREAM_OK(pw_stream_unmap(s, 0, 3 * gib, err));
    STREAM_OK(pw_stream_map(s, 0, 3 * gib, 4096, NULL, err));
    /* from one GiB, which is new, into another one, which was moved before */
    STREAM_OK(pw_stream_map(s, 0, 20 * gib + mib, 4096, NULL, err));
    STREAM_OK(pw_stream_map(s, 0, 20 * gib - 4096, 8192, NULL, err));
    stream_do(s, first, PW_STREAM_LOAD, 20 * gib - 4);
    stream_do(s, first, PW_STREAM_LOAD, 20 * gib);
    STREAM_OK(pw_stream_unmap(s, 0, 20 * gib, err));
    stream_end(s);
}

static void an_application_has_768_different_gib_of_addresses(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = stream_open((struct pw_stream_spec){0});
    for (uint64_t i = 0; i < 768; i++)
        STREAM_OK(pw_stream_map(s, 0, 3 * i * gib, 4096, NULL, err));
    assert_int_equal(pw_stream_map(s, 0, gib, 4096, NULL, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "0x40000000 to 0x40001000: an application may use at most 768 different GiB of "
                                   "addresses");
    STREAM_OK(pw_stream_map(s, 0, 3 * gib + 4096, 4096, NULL, err));
    stream_end(s);
}

static void allocations_get_the_lowest_addresses_with_room(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){0});
    const uint64_t base = 0x7f4000000000;
    uint64_t at;
    STREAM_OK(pw_stream_map(s, 0, base + 3 * mib, 4096, NULL, err));
    STREAM_OK(pw_stream_allocate(s, 0, 3 * mib, "a", &at, err));
    assert_int_equal(at, base);
    STREAM_OK(pw_stream_allocate(s, 0, 1, "b", &at, err));
    assert_int_equal(at, base + 4 * mib);
    STREAM_OK(pw_stream_unmap(s, 0, base, err));
    STREAM_OK(pw_stream_allocate(s, 0, 3 * mib + 1, "c", &at, err));
    assert_int_equal(at, base + 6 * mib);
    STREAM_OK(pw_stream_allocate(s, 0, 2 * mib, "d", &at, err));
    assert_int_equal(at, base);
    stream_end(s);
}

static void a_page_that_was_unmapped_is_walked_for_again(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = touching();
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    assert_int_equal(stream_do(s, first, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_L1_TLB);
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.kind = PW_STREAM_STORE, .base = 0x1000}, err));
    assert_int_equal(pw_stream_unmap(s, 0, 0x1000, &e), PW_USER_ERROR);
    assert_string_equal(e.message,
                        "application 0 has operations under way: drain the stream before memory is taken away");
    STREAM_OK(pw_stream_drain(s, err));
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = 0x2000}, err));
    STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + 20, err)); /* issued, and nothing is left to issue */
    assert_int_equal(pw_stream_outstanding(s), 1);
    assert_int_equal(pw_stream_unmap(s, 0, 0x1000, &e), PW_USER_ERROR);
    STREAM_OK(pw_stream_drain(s, err));
    STREAM_OK(pw_stream_unmap(s, 0, 0x1000, err));
    assert_int_equal(pw_stream_unmap(s, 0, 0x1000, &e), PW_USER_ERROR);
    assert_int_equal(stream_do(s, first, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_WALK);
    stream_end(s);
}

static void a_touch_maps_the_2_mib_around_it_as_far_as_they_are_free(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    STREAM_OK(pw_stream_map(s, 0, 0x240000, 0x1000, NULL, err));
    stream_do(s, first, PW_STREAM_LOAD, 0x200000);
    assert_int_equal(stream_count(s, "app0.mem.mapped_bytes"), 0x41000);
    stream_do(s, first, PW_STREAM_LOAD, 0x3ffffc);
    assert_int_equal(stream_count(s, "app0.mem.mapped_bytes"), 0x200000);
    assert_int_equal(stream_count(s, "app0.mem.touched_bytes"), 2 * 4096);
    stream_end(s);
}

static void memory_that_does_not_fit_ends_the_stream(void **state)
{
    (void)state;
    struct pw_error e;
    static const char *const sets[] = {"dram.bytes=64MB"};
    struct pw_stream *s = stream_open((struct pw_stream_spec){.sets = sets, .set_count = 1});
    assert_int_equal(pw_stream_map(s, 0, 0, 100 * mib, "large", &e), PW_USER_ERROR); /* and is not mapped */
    STREAM_OK(pw_stream_map(s, 0, 0, 40 * mib, "a", err));
    STREAM_OK(pw_stream_map(s, 0, 40 * mib, 40 * mib, "b", err));
    assert_int_equal(pw_stream_advance(s, 1, &e), PW_USER_ERROR);
    assert_non_null(strstr(e.message, "allocation 'b' of 40MB does not fit"));
    assert_int_equal(pw_stream_map(s, 0, 100 * mib, 1, NULL, &e), PW_USER_ERROR);
    assert_non_null(strstr(e.message, "allocation 'b' of 40MB does not fit"));
    pw_stream_close(s);
}

/* Mosaic makes large pages of the regions that an allocation fills, which it has to be asked for. */
static void large_pages_do_not_depend_on_the_order_of_mappings(void **state)
{
    (void)state;
    static const uint64_t orders[][3] = {{0, 4, 8}, {8, 4, 0}, {4, 8, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct pw_stream *s = stream_open((struct pw_stream_spec){.design = "mosaic"});
        for (size_t k = 0; k < 3; k++)
            STREAM_OK(pw_stream_map(s, 0, orders[i][k] * mib, 4 * mib, NULL, err));
        for (uint64_t at = 0; at < 12 * mib; at += 2 * mib) {
            assert_int_equal(stream_do(s, first, PW_STREAM_TRANSLATE, at).level, PW_STREAM_WALK);
            assert_int_equal(stream_do(s, first, PW_STREAM_TRANSLATE, at + mib).level, PW_STREAM_L1_TLB);
        }
        stream_end(s);
    }
}

/* --- Managed memory. */

static struct pw_stream *managed(bool map_on_touch)
{
    static const char *const sets[] = {"paging.mode=demand", "uvm.memory=4MB", "uvm.prefetch=none"};
    return stream_open((struct pw_stream_spec){.sets = sets, .set_count = 3, .map_on_touch = map_on_touch});
}

static void only_a_translation_for_a_write_makes_a_page_dirty(void **state)
{
    (void)state;
    for (unsigned write = 0; write < 2; write++) {
        struct pw_stream *s = managed(true);
        for (uint64_t page = 0; page < 2048; page++)
            stream_do(s, first, write ? PW_STREAM_TRANSLATE_WRITE : PW_STREAM_TRANSLATE, page << 12);
        assert_true(stream_count(s, "app0.uvm.pages_evicted") >= 1024);
        assert_true(write ? stream_count(s, "app0.uvm.pages_written") == stream_count(s, "app0.uvm.pages_evicted")
                          : stream_count(s, "app0.uvm.pages_written") == 0);
        stream_end(s);
    }
}

static void managed_memory_is_mapped_in_blocks_of_2_mib(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = managed(true);
    STREAM_OK(pw_stream_map(s, 0, 0x210000, 0x1000, "small", err));
    assert_int_equal(pw_stream_map(s, 0, 0x3ff000, 1, NULL, &e), PW_USER_ERROR);
    stream_do(s, first, PW_STREAM_LOAD, 0x200000);
    stream_do(s, first, PW_STREAM_LOAD, 0x210000);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x211000, 4, 0, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "address 0x211000 of application 0 lies behind what was mapped at 0x200000, in "
                                   "the same 2 MiB of managed memory: map more there");
    const uint64_t lanes[] = {0x800000, 0x211000};
    assert_int_equal(pw_stream_push(s, first, &(struct pw_stream_operation){.mask = 3, .addresses = lanes}, &e),
                     PW_USER_ERROR);
    STREAM_OK(pw_stream_unmap(s, 0, 0x200000, err));
    assert_int_equal(pw_stream_unmap(s, 0, 0x800000, &e), PW_USER_ERROR);
    stream_do(s, first, PW_STREAM_LOAD, 0x211000);
    stream_end(s);
}

static void a_call_that_fails_maps_nothing(void **state)
{
    (void)state;
    struct pw_error e;
    const uint64_t addresses[] = {0x10000000, 3 * gib, 0x20000003};
    const struct pw_stream_operation lanes = {.mask = 7, .addresses = addresses};
    struct pw_stream *s = touching();
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 0, err));
    for (uint32_t i = 0; i < 768; i++) { /* a failure takes none of the GiB that an application may use either */
        uint64_t at[] = {(8 + i) * gib, 0x3};
        assert_int_equal(
            pw_stream_push(s, first, &(struct pw_stream_operation){.mask = 3, .addresses = at, .tag = i}, &e),
            PW_USER_ERROR);
        assert_int_equal(pw_stream_push(s, first, &lanes, &e), PW_USER_ERROR);
    }
    assert_int_equal(pw_stream_map(s, 0, 100 * gib, 700 * gib, NULL, &e), PW_USER_ERROR);
    assert_non_null(strstr(e.message, "does not fit"));
    STREAM_OK(pw_stream_map(s, 0, 0x10000000, 4096, NULL, err));
    for (uint64_t i = 1; i < 768; i++)
        STREAM_OK(pw_stream_map(s, 0, 1000 * gib + i * gib, 4096, NULL, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(pw_stream_outstanding(s), 0);
    stream_end(s);
}

/* --- Applications and places. */

static void equal_addresses_of_two_applications_have_nothing_to_do_with_each_other(void **state)
{
    (void)state;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.apps = 2, .map_on_touch = true});
    struct pw_stream_place second = {.app = 1};
    struct pw_stream_completion a = stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    struct pw_stream_completion b = stream_do(s, second, PW_STREAM_LOAD, 0x1000);
    assert_int_equal(b.level, PW_STREAM_WALK);
    assert_int_not_equal(a.physical, b.physical);
    assert_int_equal(b.place.app, 1);
    assert_int_equal(stream_do(s, second, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_L1_TLB);
    assert_int_equal(stream_count(s, "app0.l1_tlb.lookups"), 1);
    assert_int_equal(stream_count(s, "app1.l1_tlb.lookups"), 2);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 3);
    STREAM_OK(pw_stream_unmap(s, 0, 0x1000, err));
    assert_int_equal(stream_do(s, second, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_L1_TLB);
    stream_end(s);
}

static void sms_have_l1_tlbs_of_their_own_and_share_the_l2_tlb(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    assert_int_equal(stream_do(s, first, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_WALK);
    assert_int_equal(stream_do(s, (struct pw_stream_place){.warp = 5}, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_L1_TLB);
    assert_int_equal(stream_do(s, (struct pw_stream_place){.sm = 1}, PW_STREAM_LOAD, 0x1000).level, PW_STREAM_L2_TLB);
    stream_end(s);
}

static void every_gpu_has_its_own_tlbs(void **state)
{
    (void)state;
    struct pw_stream *s =
        stream_open((struct pw_stream_spec){.machine = "mgpu4", .design = "distributed", .map_on_touch = true});
    struct pw_stream_shape shape;
    STREAM_OK(pw_stream_shape(s, 0, &shape, err));
    assert_int_equal(shape.gpus, 4);
    uint64_t physical = 0;
    for (unsigned gpu = 0; gpu < 4; gpu++) {
        struct pw_stream_completion done = stream_do(s, (struct pw_stream_place){.gpu = gpu}, PW_STREAM_LOAD, 0x1000);
        assert_int_equal(done.level, PW_STREAM_WALK);
        assert_true(!gpu || done.physical == physical);
        physical = done.physical;
    }
    assert_int_equal(stream_count(s, "gpu3.l1_tlb.lookups"), 1);
    assert_int_equal(stream_count(s, "gpus.l1_tlb.lookups"), 4);
    stream_end(s);
}

static void pages_move_to_who_touches_them_first_wherever_they_are(void **state)
{
    (void)state;
    static const char *const sets[] = {"place.remote=first-touch"};
    struct pw_stream *s =
        stream_open((struct pw_stream_spec){.machine = "mgpu4", .design = "centralized", .sets = sets, .set_count = 1});
    const struct pw_stream_place second = {.gpu = 1};
    for (uint64_t i = 4; i-- > 0;) {
        STREAM_OK(pw_stream_map(s, 0, i * 8 * mib, 4096, NULL, err));
        stream_do(s, second, PW_STREAM_LOAD, i * 8 * mib);
        STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + 100000, err));
        uint64_t moved = stream_do(s, second, PW_STREAM_LOAD, i * 8 * mib).physical;
        assert_int_equal(stream_do(s, first, PW_STREAM_LOAD, i * 8 * mib).physical, moved);
    }
    stream_end(s);
}

static void a_place_must_exist(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.apps = 2, .map_on_touch = true});
    struct pw_stream_shape shape;
    STREAM_OK(pw_stream_shape(s, 1, &shape, err));
    assert_true(shape.apps == 2 && shape.gpus == 1 && shape.sms == 15 && shape.warps == 64 && !shape.managed);
    const struct pw_stream_place wrong[] = {{.app = 2}, {.gpu = 1}, {.sm = 15}, {.warp = 64}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pw_stream_access(s, wrong[i], PW_STREAM_LOAD, 0, 4, 0, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "there is no application 0 with warp slot 64 of SM 0 on GPU 0: the stream has 2 "
                                   "with 64 slots on each of 15 SMs of 1 GPUs");
    assert_int_equal(pw_stream_shape(s, 2, &shape, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_map(s, 2, 0, 1, NULL, &e), PW_USER_ERROR);
    stream_end(s);
}

/* --- Operations. */

static void mistakes_in_operations_push_nothing(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = touching();
    const struct pw_stream_operation wrong[] = {{.bytes = 3},
                                                {.bytes = 32},
                                                {.bytes = 4, .base = 2},
                                                {.base = 1ULL << 48},
                                                {.stride = 2},
                                                {.kind = PW_STREAM_KIND_COUNT},
                                                {.stride = -4},
                                                {.kind = PW_STREAM_COMPUTE, .instructions = (1 << 20) + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pw_stream_push(s, first, &wrong[i], &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 0, 0, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1001, 64, 0, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_EXIT, 0x1000, 4, 0, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_outstanding(s), 0);
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 512, 0, err));
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1001, 31, 0, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(stream_count(s, "gpu0.sm.lines"), 4 + 1);
    stream_end(s);
}

/* Strided, spelt out, and over two GiB that do not lie side by side: the same lines. */
static void lanes_access_what_they_say(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    uint64_t lanes[32];
    for (uint64_t i = 0; i < 32; i++)
        lanes[i] = 5 * gib - 16 * 4096 + i * 4096;
    stream_do(s, first, PW_STREAM_LOAD, 5 * gib); /* its place is before that of the GiB below it */
    STREAM_OK(pw_stream_reset_metrics(s, err));
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.addresses = lanes}, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 32);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.hits"), 1);
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = lanes[0], .stride = 4096}, err));
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = lanes[31], .stride = -4096}, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.hits"), 65);
    STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = lanes[0], .mask = 0x80000001}, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 97);
    assert_int_equal(stream_count(s, "gpu0.sm.lines"), 97);
    stream_end(s);
}

static void a_full_queue_says_so_and_takes_more_later(void **state)
{
    (void)state;
    struct pw_error e = {.message = "untouched"};
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true, .queue = 3});
    unsigned taken[2] = {0};
    for (unsigned round = 0; round < 2; round++) {
        enum pw_status status;
        while ((status = pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 0, &e)) == PW_OK)
            taken[round]++;
        assert_int_equal(status, PW_BUSY);
        assert_string_equal(e.message, "untouched");
        STREAM_OK(pw_stream_access(s, (struct pw_stream_place){.warp = 1}, PW_STREAM_LOAD, 0x1000, 4, 0, err));
        STREAM_OK(pw_stream_drain(s, err));
    }
    assert_int_equal(taken[0], 3);
    assert_true(taken[1] >= 3);
    stream_end(s);
}

static void an_exit_ends_the_warp_and_the_next_operation_begins_another(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    for (unsigned i = 0; i < 3; i++) {
        STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.base = 0x1000, .mask = 1}, err));
        STREAM_OK(
            pw_stream_push(s, first, &(struct pw_stream_operation){.kind = PW_STREAM_COMPUTE, .instructions = 7}, err));
        STREAM_OK(pw_stream_push(s, first, &(struct pw_stream_operation){.kind = PW_STREAM_EXIT}, err));
    }
    STREAM_OK(pw_stream_drain(s, err));
    assert_int_equal(stream_count(s, "gpu0.sm.warps"), 3);
    assert_int_equal(stream_count(s, "gpu0.sm.issued"), 3 * (1 + 7 + 1));
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    assert_int_equal(stream_count(s, "gpu0.sm.warps"), 4);
    stream_end(s);
}

static void only_what_asks_for_it_is_reported(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    struct pw_stream_completion done;
    for (uint64_t i = 0; i < 100; i++) {
        struct pw_stream_operation op = {.kind = i % 2 ? PW_STREAM_STORE : PW_STREAM_LOAD,
                                         .base = i << 7,
                                         .mask = 1,
                                         .report = i % 5 == 0,
                                         .tag = i};
        while (pw_stream_push(s, first, &op, NULL) == PW_BUSY)
            STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + 100, err));
    }
    STREAM_OK(pw_stream_drain(s, err));
    uint64_t count = 0, sum = 0, last = 0;
    for (; pw_stream_next(s, &done); count++) {
        sum += done.tag;
        assert_true(done.completed >= last);
        last = done.completed;
        assert_int_equal(done.address, done.tag << 7);
        if (done.kind == PW_STREAM_STORE)
            assert_int_equal(done.completed, done.issued);
    }
    assert_int_equal(count, 20);
    assert_int_equal(sum, 5 * 190);
    stream_end(s);
}

/* --- Metrics and ends. */

static void metrics_count_from_their_reset(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_metric m;
    struct pw_stream *s = touching();
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 0);
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    STREAM_OK(pw_stream_reset_metrics(s, err));
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    assert_int_equal(stream_count(s, "gpu0.l1_tlb.lookups"), 1);
    STREAM_OK(pw_stream_metric(s, "app0.l1_tlb.hit_rate", &m, err));
    assert_false(m.is_integer);
    assert_true(m.real == 100);
    const char *const unknown[] = {"l1_tlb.lookups", "gpu1.l1_tlb.lookups", "gpu0.l1_tlb", "gpu0", "", "app0.nonsense"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pw_stream_metric(s, unknown[i], &m, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "there is no metric 'app0.nonsense' in this stream; one is a scope and a name, such "
                                   "as gpu0.l2_tlb.hits (see 'pagewalk list metrics')");
    uint64_t now = pw_stream_now(s);
    struct pw_result *r;
    STREAM_OK(pw_stream_reset_metrics(s, err));
    STREAM_OK(pw_stream_advance(s, now + 1000, err));
    STREAM_OK(pw_stream_finish(s, &r, err));
    assert_in_range(r->cycles, 1000, 1010); /* and what the exit of the warp takes */
    pw_result_free(r);
    pw_stream_close(s);
}

struct seen {
    struct pw_stream *stream;
    size_t count;
};

/* Pages that are only translated are no lines, wherever they wait: in the queue, for a walk, or for a far fault. */
static void metrics_may_be_reset_while_translations_are_under_way(void **state)
{
    (void)state;
    for (uint64_t after = 0; after < 4000; after += 400) {
        struct pw_stream *s = after % 800 ? managed(true) : touching();
        for (uint64_t i = 0; i < 12; i++) {
            STREAM_OK(pw_stream_access(s, first, PW_STREAM_TRANSLATE, i << 22, 8, i, err));
            STREAM_OK(pw_stream_access(s, (struct pw_stream_place){.warp = 1}, PW_STREAM_LOAD, i << 22, 8, i, err));
        }
        STREAM_OK(pw_stream_advance(s, after, err));
        STREAM_OK(pw_stream_reset_metrics(s, err));
        stream_end(s);
    }
}

static void compare(void *context, const struct pw_metric *metric)
{
    struct seen *seen = context;
    struct pw_metric same;
    STREAM_OK(pw_stream_metric(seen->stream, metric->name, &same, err));
    assert_memory_equal(&same.real, &metric->real, sizeof same.real);
    seen->count++;
}

static void all_metrics_are_those_of_the_result(void **state)
{
    (void)state;
    struct pw_stream *s = touching();
    struct seen seen = {.stream = s};
    struct pw_result *r;
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    STREAM_OK(pw_stream_metrics(s, compare, &seen, err));
    STREAM_OK(pw_stream_finish(s, &r, err));
    assert_int_equal(seen.count, r->metric_count);
    assert_true(r->identity_count > 10);
    assert_string_equal(r->machine, "mosaic");
    assert_string_equal(r->design, "gpu-mmu");
    assert_string_equal(r->apps[0].name, "stream");
    assert_int_equal(r->cycles, r->apps[0].cycles);
    pw_result_free(r);
    pw_stream_close(s);
}

static void after_the_end_there_are_only_completions(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream_completion done;
    struct pw_stream *s = touching();
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 3, err));
    STREAM_OK(pw_stream_finish(s, NULL, err));
    assert_int_equal(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 3, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "the stream is finished: it can only be closed");
    assert_int_equal(pw_stream_advance(s, pw_stream_now(s) + 1, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_drain(s, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_finish(s, NULL, &e), PW_USER_ERROR);
    assert_true(pw_stream_next(s, &done) && done.tag == 3);
    assert_false(pw_stream_next(s, &done));
    pw_stream_close(s);
    pw_stream_close(NULL);
}

static void a_stream_may_end_at_any_time(void **state)
{
    (void)state;
    stream_end(stream_open((struct pw_stream_spec){0})); /* without an operation */
    stream_end(stream_open((struct pw_stream_spec){.apps = 3, .design = "mask"}));
    static const char *const preload[] = {"paging.mode=preload"};
    stream_end(stream_open((struct pw_stream_spec){.sets = preload, .set_count = 1}));
    for (uint64_t until = 0; until < 600; until += 50) { /* closed in the middle of things */
        struct pw_stream *s = touching();
        STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 3, err));
        STREAM_OK(pw_stream_access(s, first, PW_STREAM_STORE, 0x2000, 4, 3, err));
        STREAM_OK(pw_stream_advance(s, until, err));
        pw_stream_close(s);
    }
}

static void preloaded_memory_is_waited_for(void **state)
{
    (void)state;
    static const char *const preload[] = {"paging.mode=preload"};
    struct pw_stream *s = stream_open((struct pw_stream_spec){.sets = preload, .set_count = 1});
    STREAM_OK(pw_stream_map(s, 0, 0, 4 * mib, "a", err));
    struct pw_stream_completion done = stream_do(s, first, PW_STREAM_LOAD, 0);
    assert_int_equal(done.pushed, 0);
    assert_true(done.issued > 1000);
    assert_int_equal(done.level, PW_STREAM_WALK);
    STREAM_OK(pw_stream_map(s, 0, 4 * mib, 4 * mib, "b", err));
    STREAM_OK(pw_stream_advance(s, pw_stream_now(s) + 10000000, err));
    assert_int_equal(stream_do(s, first, PW_STREAM_LOAD, 4 * mib).level, PW_STREAM_WALK);
    assert_int_equal(stream_count(s, "app0.uvm.far_faults"), 0);
    stream_end(s);
}

static void time_does_not_go_back(void **state)
{
    (void)state;
    struct pw_error e;
    struct pw_stream *s = touching();
    STREAM_OK(pw_stream_advance(s, 100, err));
    assert_int_equal(pw_stream_now(s), 100);
    STREAM_OK(pw_stream_advance(s, 100, err));
    assert_int_equal(pw_stream_advance(s, 99, &e), PW_USER_ERROR);
    assert_string_equal(e.message, "cycle 99 has passed: the stream is at cycle 100");
    assert_int_equal(pw_stream_wait(s, 99, &e), PW_USER_ERROR);
    assert_int_equal(pw_stream_advance(s, UINT64_MAX, &e), PW_USER_ERROR);
    STREAM_OK(pw_stream_advance(s, 1ULL << 30, err)); /* with nothing to do */
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    stream_end(s);
}

static void an_interrupt_ends_the_stream(void **state)
{
    (void)state;
    struct pw_error e;
    volatile bool interrupted = false;
    struct pw_stream *s = stream_open((struct pw_stream_spec){.map_on_touch = true, .interrupted = &interrupted});
    stream_do(s, first, PW_STREAM_LOAD, 0x1000);
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x2000, 4, 0, err));
    interrupted = true;
    assert_int_equal(pw_stream_drain(s, &e), PW_INTERRUPTED);
    interrupted = false;
    assert_int_equal(pw_stream_drain(s, &e), PW_INTERRUPTED);
    assert_int_equal(pw_stream_finish(s, NULL, &e), PW_INTERRUPTED);
    pw_stream_close(s);
}

/* A fault that takes longer than the machine is given to show that it is alive. */
static void a_machine_that_is_stuck_is_an_error(void **state)
{
    (void)state;
    struct pw_error e;
    static const char *const sets[] = {"sim.progress_limit=1000", "paging.mode=demand", "uvm.service=serial",
                                       "uvm.fault_latency=50000"};
    struct pw_stream *s = stream_open((struct pw_stream_spec){.sets = sets, .set_count = 4, .map_on_touch = true});
    STREAM_OK(pw_stream_access(s, first, PW_STREAM_LOAD, 0x1000, 4, 0, err));
    STREAM_OK(pw_stream_advance(s, 20000, err)); /* so long, if that is asked for */
    assert_int_equal(pw_stream_drain(s, &e), PW_FAILED);
    assert_non_null(strstr(e.message, "no instruction was issued and no page came for sim.progress_limit cycles"));
    assert_int_equal(pw_stream_advance(s, pw_stream_now(s) + 1, &e), PW_FAILED);
    pw_stream_close(s);
}

static void mistakes_in_a_specification_have_messages(void **state)
{
    (void)state;
    struct pw_error e;
    static const char *const reuse[] = {"sim.reuse=on"}, *const unknown[] = {"no.option=1"};
    const struct pw_stream_spec wrong[] = {{.machine = "nonsense"},
                                           {.design = "nonsense"},
                                           {.sets = unknown, .set_count = 1},
                                           {.apps = 10000},
                                           {.apps = 31},
                                           {.queue = 5000},
                                           {.sets = reuse, .set_count = 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pw_stream *s;
        assert_int_equal(pw_stream_open(&wrong[i], &s, &e), PW_USER_ERROR);
        assert_null(s);
        assert_true(*e.message);
    }
    assert_string_equal(e.message, "sim.reuse=on looks at the page accesses of programs; leave it out of a stream");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_mapped_cannot_be_accessed),
        cmocka_unit_test(mappings_do_not_overlap),
        cmocka_unit_test(addresses_may_lie_anywhere_in_48_bits),
        cmocka_unit_test(an_application_has_768_different_gib_of_addresses),
        cmocka_unit_test(allocations_get_the_lowest_addresses_with_room),
        cmocka_unit_test(a_page_that_was_unmapped_is_walked_for_again),
        cmocka_unit_test(a_touch_maps_the_2_mib_around_it_as_far_as_they_are_free),
        cmocka_unit_test(memory_that_does_not_fit_ends_the_stream),
        cmocka_unit_test(large_pages_do_not_depend_on_the_order_of_mappings),
        cmocka_unit_test(only_a_translation_for_a_write_makes_a_page_dirty),
        cmocka_unit_test(managed_memory_is_mapped_in_blocks_of_2_mib),
        cmocka_unit_test(a_call_that_fails_maps_nothing),
        cmocka_unit_test(equal_addresses_of_two_applications_have_nothing_to_do_with_each_other),
        cmocka_unit_test(sms_have_l1_tlbs_of_their_own_and_share_the_l2_tlb),
        cmocka_unit_test(every_gpu_has_its_own_tlbs),
        cmocka_unit_test(pages_move_to_who_touches_them_first_wherever_they_are),
        cmocka_unit_test(a_place_must_exist),
        cmocka_unit_test(mistakes_in_operations_push_nothing),
        cmocka_unit_test(lanes_access_what_they_say),
        cmocka_unit_test(a_full_queue_says_so_and_takes_more_later),
        cmocka_unit_test(an_exit_ends_the_warp_and_the_next_operation_begins_another),
        cmocka_unit_test(only_what_asks_for_it_is_reported),
        cmocka_unit_test(metrics_count_from_their_reset),
        cmocka_unit_test(metrics_may_be_reset_while_translations_are_under_way),
        cmocka_unit_test(all_metrics_are_those_of_the_result),
        cmocka_unit_test(after_the_end_there_are_only_completions),
        cmocka_unit_test(a_stream_may_end_at_any_time),
        cmocka_unit_test(preloaded_memory_is_waited_for),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(an_interrupt_ends_the_stream),
        cmocka_unit_test(a_machine_that_is_stuck_is_an_error),
        cmocka_unit_test(mistakes_in_a_specification_have_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
