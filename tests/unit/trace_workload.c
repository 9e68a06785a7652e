/* A trace as a workload: what results say of a sample, what a stored run of it depends on, where its memory lies, and
 * a kernel that cannot go on. */
#include "exp/tools/trace_record.h"
#include "system/inputs.h"
#include "trace_file.h"
#include "trace_fixture.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "metric.h"

#define MIB (UINT64_C(1) << 20)

static void allocate_named(struct pw_trace_writer *w, enum pw_trace_memory memory, uint64_t address, uint64_t bytes,
                           const char *name)
{
    pw_trace_write_event(
        w, &(struct pw_trace_event){
               .kind = PW_TRACE_ALLOC, .memory = (uint8_t)memory, .address = address, .bytes = bytes, .name = name});
}

static void allocate(struct pw_trace_writer *w, enum pw_trace_memory memory, uint64_t address, uint64_t bytes)
{
    allocate_named(w, memory, address, bytes, "array");
}

/* One warp that reads a word at each address, one after the other. */
static void write_trace(enum pw_trace_memory memory, const uint64_t *allocations, const uint64_t *addresses,
                        size_t count, uint32_t sample)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", "", sample, 1});
    for (size_t i = 0; i < count; i++)
        if (allocations[i])
            allocate(w, memory, allocations[i], MIB / 2);
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}});
    for (size_t i = 0; i < count; i++) {
        const struct pw_op op = {
            .kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .loads_in_flight = 0, .count_or_mask = 1};
        assert_true(pw_trace_write_op(w, 0, 0, &op, &addresses[i]));
    }
    assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
}

static struct pw_result *run(const char *machine, const char *design)
{
    struct pw_result *r = NULL;
    struct pw_error err = {0};
    const struct pw_run_spec spec = {.machine = machine, .design = design, .workload = text};
    assert_ok(pw_run(&spec, &r, &err), &err);
    return r;
}

static void a_sample_is_said_in_every_result(void **state)
{
    (void)state;
    const uint64_t at = 10 * MIB;
    write_trace(PW_TRACE_DEVICE, &at, &at, 1, 16);
    struct pw_result *r = run("mosaic", "gpu-mmu");
    assert_non_null(r->made.note);
    assert_non_null(strstr(r->made.note, "one CTA in 16"));
    pw_result_free(r);
    write_trace(PW_TRACE_DEVICE, &at, &at, 1, 1);
    r = run("mosaic", "gpu-mmu");
    assert_true(!r->made.note || !strstr(r->made.note, "CTA"));
    pw_result_free(r);
}

static void small_allocations_of_one_page_share_a_page(void **state)
{
    (void)state;
    /* Two in one piece of 2 MiB, one in another. */
    const uint64_t allocations[] = {10 * MIB, 11 * MIB, 32 * MIB};
    write_trace(PW_TRACE_DEVICE, allocations, allocations, 3, 1);
    struct pw_result *r = run("h200", "gpu-mmu-2m");
    assert_int_equal(metric(r, "gpu0.walk.count"), 2);
    pw_result_free(r);
}

/* The second half of each word lies in another allocation, which need not be moved to behind the first. */
static void an_access_across_the_end_of_an_allocation_stays_in_its_page(void **state)
{
    (void)state;
    const uint64_t allocations[] = {10 * MIB + MIB * 3 / 2, 30 * MIB + MIB * 3 / 2};
    const uint64_t addresses[] = {12 * MIB - 2, 32 * MIB - 1};
    write_trace(PW_TRACE_DEVICE, allocations, addresses, 2, 1);
    struct pw_result *r = run("mosaic", "gpu-mmu");
    assert_int_equal(metric(r, "gpu0.l1_tlb.lookups"), 2);
    pw_result_free(r);
}

/* Of two arrays the first is copied, then a part of the second is set on the device. Words of both are read, in a part
 * that was filled and in one that was not. Without any copy in the trace, all of both has been. */
static void what_a_trace_copies_is_in_the_l2_and_nothing_else(void **state)
{
    (void)state;
    const uint64_t arrays[] = {10 * MIB, 20 * MIB}, words[] = {arrays[0], arrays[1] + 4096, arrays[1] + MIB / 4};
    double reads[2];
    for (unsigned tells = 0; tells < 2; tells++) {
        struct pw_trace_writer *w;
        struct pw_error err;
        assert_ok(pw_trace_writer_open(path, &w, &err), &err);
        pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", "", 1, 1});
        for (unsigned i = 0; i < 2; i++)
            allocate(w, PW_TRACE_DEVICE, arrays[i], MIB / 2);
        const struct pw_trace_event fills[] = {
            {.kind = PW_TRACE_COPY, .flags = PW_TRACE_TO_DEVICE, .address = arrays[0], .bytes = MIB / 2, .name = ""},
            {.kind = PW_TRACE_COPY, .flags = PW_TRACE_FROM_DEVICE, .address = arrays[1], .bytes = MIB / 2, .name = ""},
            {.kind = PW_TRACE_COPY, .flags = PW_TRACE_ON_DEVICE, .address = words[1], .bytes = 4, .name = ""},
        };
        for (unsigned i = 0; i < 3 * tells; i++)
            pw_trace_write_event(w, &fills[i]);
        pw_trace_write_launch(
            w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}});
        const struct pw_op op = {.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 1};
        for (unsigned i = 0; i < 3; i++)
            assert_true(pw_trace_write_op(w, 0, 0, &op, &words[i]));
        assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
        struct pw_result *r = run("h200", "gpu-mmu-2m");
        reads[tells] = metric(r, "gpu0.dram.reads"); /* with those of page walks */
        pw_result_free(r);
    }
    assert_true(reads[1] == reads[0] + 1);
}

/* A trace of version 2 with a checksum for every byte, but of a load that no writer makes: lane 1 is 2^63 behind lane
 * 0, where no GPU has memory, and lane 2 is back where lane 0 is. */
static void lanes_that_come_back_round_the_address_space_are_refused(void **state)
{
    (void)state;
    static const uint8_t file[] = {
        0x89, 0x50, 0x57, 0x54, 0x0d, 0x0a, 0x1a, 0x0a, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x95, 0x84,
        0x03, 0x35, 0x24, 0x70, 0x08, 0x4d, 0xf1, 0x84, 0x5f, 0x80, 0x39, 0x4d, 0x54, 0x7e, 0x01, 0x00, 0x00, 0x23,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x3f, 0xa9, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x86, 0x1b, 0x2a, 0xe4, 0xd4, 0x96, 0x70, 0xd1, 0x01, 0x1b, 0x00, 0x01,
        0x00, 0x00, 0x00, 0xaa, 0x63, 0x6b, 0xce, 0xe6, 0x5d, 0xef, 0x1a, 0x04, 0x01, 0x74, 0x00, 0x00, 0x00, 0x01,
        0x61, 0x00, 0x01, 0x6b, 0x00, 0x00, 0x00, 0x01, 0x01, 0x01, 0x02, 0x00, 0x00, 0x80, 0x80, 0x80, 0x80, 0x80,
        0xc0, 0x1f, 0x80, 0x80, 0x40, 0x02, 0x06, 0x03, 0x01, 0x01, 0x01, 0x20, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00,
        0x01, 0x01, 0x24, 0x07, 0x07, 0xf4, 0xd5, 0x4d, 0xe5, 0xa8, 0x35, 0xe8, 0x87, 0x4b, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x80, 0x7e, 0x29, 0xe9, 0x78, 0x7f, 0x98, 0x03, 0x50, 0x57, 0x54, 0x20, 0x65, 0x6e, 0x64, 0x0a};
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file, 1, sizeof file, f), sizeof file);
    assert_int_equal(fclose(f), 0);
    struct pw_result *r = NULL;
    struct pw_error err = {0};
    const struct pw_run_spec spec = {.machine = "mosaic", .design = "gpu-mmu", .workload = text};
    assert_int_equal(pw_run(&spec, &r, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "accesses address 0x80007e0000000000, which is not in any allocation"));
}

/* Of two that share a piece of 2 MiB, one is freed before the other is read. */
static void a_group_is_freed_with_its_last_allocation(void **state)
{
    (void)state;
    const uint64_t first = 10 * MIB, second = 11 * MIB;
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", "", 1, 1});
    allocate(w, PW_TRACE_DEVICE, first, MIB / 2);
    allocate(w, PW_TRACE_DEVICE, second, MIB / 2);
    pw_trace_write_event(w, &(struct pw_trace_event){.kind = PW_TRACE_FREE, .address = first, .name = ""});
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}});
    const struct pw_op op = {.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 1};
    assert_true(pw_trace_write_op(w, 0, 0, &op, &second));
    pw_trace_write_event(w, &(struct pw_trace_event){.kind = PW_TRACE_FREE, .address = second, .name = ""});
    assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
    struct pw_result *r = run("mosaic", "gpu-mmu");
    assert_int_equal(metric(r, "gpu0.l1_tlb.lookups"), 1);
    pw_result_free(r);
}

static void pinned_host_memory_is_read_where_it_is(void **state)
{
    (void)state;
    const uint64_t at = 10 * MIB;
    write_trace(PW_TRACE_HOST, &at, &at, 1, 1);
    struct pw_result *r = run("h200", "uvm-nvidia");
    assert_int_equal(metric(r, "gpu0.uvm.pages_in"), 0);
    assert_int_equal(metric(r, "gpu0.uvm.remote_reads"), 1);
    pw_result_free(r);
    write_trace(PW_TRACE_DEVICE, &at, &at, 1, 1);
    r = run("h200", "uvm-nvidia");
    assert_true(metric(r, "gpu0.uvm.pages_in") > 0);
    pw_result_free(r);
}

static void load(struct pw_trace_writer *w, uint8_t kind, uint64_t address)
{
    const struct pw_op op = {.kind = kind, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 1};
    assert_true(pw_trace_write_op(w, 0, 0, &op, &address));
}

/* Four kinds of memory, the managed one with a name; two of device memory in one piece of 2 MiB. */
static void a_profile_says_what_memory_is_and_which_launches_access_it(void **state)
{
    (void)state;
    static const struct pw_profile_allocation expected[] = {
        {.memory = "device",
         .order = 1,
         .members = 2,
         .recorded_bytes = MIB,
         .launches = 2,
         .first_launch = 1,
         .last_launch = 3,
         .kernel_count = 2,
         .written = true},
        {.memory = "managed",
         .order = 1,
         .members = 1,
         .recorded_bytes = MIB,
         .has_name = true,
         .launches = 1,
         .first_launch = 3,
         .last_launch = 3,
         .kernel_count = 1},
        {.memory = "host", .order = 1, .members = 1, .recorded_bytes = 4096},
        {.memory = "device",
         .order = 3,
         .members = 1,
         .recorded_bytes = 4096,
         .launches = 3,
         .first_launch = 1,
         .last_launch = 3,
         .kernel_count = 2},
    };
    struct pw_trace_writer *w;
    struct pw_error err = {0};
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    pw_trace_writer_set_origin(w, &(struct pw_trace_origin){"test", "test", "", 1, 1});
    allocate_named(w, PW_TRACE_DEVICE, 10 * MIB, MIB / 2, "");
    allocate_named(w, PW_TRACE_DEVICE, 11 * MIB, MIB / 2, "0xb00000");
    allocate_named(w, PW_TRACE_MANAGED, 20 * MIB, MIB, "weights");
    allocate_named(w, PW_TRACE_HOST, 30 * MIB, 4096, "0x1e00000");
    allocate_named(w, PW_TRACE_DEVICE, 40 * MIB, 4096, "0x2800000");
    for (unsigned launch = 1; launch <= 3; launch++) {
        pw_trace_write_launch(w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                          .name = launch == 3 ? "late" : "early",
                                                          .grid = {1, 1, 1},
                                                          .block = {32, 1, 1}});
        load(w, PW_OP_LOAD, 40 * MIB);
        if (launch != 2)
            load(w, PW_OP_LOAD, 10 * MIB);
        if (launch == 3) {
            load(w, PW_OP_ATOMIC, 11 * MIB);
            load(w, PW_OP_LOAD, 20 * MIB);
        }
    }
    assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
    struct pw_profile *p;
    assert_ok(pw_workload_profile(&(struct pw_profile_spec){.workload = text}, &p, &err), &err);
    assert_int_equal(p->allocation_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct pw_profile_allocation *a = &p->allocations[i], *e = &expected[i];
        assert_string_equal(a->memory, e->memory);
        assert_int_equal(a->order, e->order);
        assert_int_equal(a->members, e->members);
        assert_int_equal(a->recorded_bytes, e->recorded_bytes);
        assert_int_equal(a->has_name, e->has_name);
        assert_int_equal(a->written, e->written);
        assert_int_equal(a->launches, e->launches);
        assert_int_equal(a->first_launch, e->first_launch);
        assert_int_equal(a->last_launch, e->last_launch);
        assert_int_equal(a->kernel_count, e->kernel_count);
    }
    assert_string_equal(p->allocations[0].kernels[0].kernel, "late"); /* two accesses of one launch */
    assert_int_equal(p->allocations[0].kernels[0].accesses, 2);
    assert_int_equal(p->allocations[0].kernels[0].launches, 1);
    assert_string_equal(p->allocations[3].kernels[0].kernel, "early");
    assert_int_equal(p->allocations[3].kernels[0].launches, 2);
    pw_profile_free(p);
}

static void a_run_is_identified_by_what_is_in_the_file(void **state)
{
    (void)state;
    const uint64_t one = 10 * MIB, other = 10 * MIB + 4;
    char *first, *second, *third;
    struct pw_error err = {0};
    write_trace(PW_TRACE_DEVICE, &one, &one, 1, 1);
    assert_ok(pw_run_workload(text, &first, &err), &err);
    write_trace(PW_TRACE_DEVICE, &one, &other, 1, 1);
    assert_ok(pw_run_workload(text, &second, &err), &err);
    write_trace(PW_TRACE_DEVICE, &one, &one, 1, 1);
    assert_ok(pw_run_workload(text, &third, &err), &err);
    assert_string_not_equal(first, second);
    assert_string_equal(first, third);
    free(first);
    free(second);
    free(third);
}

/* One warp with a run of arithmetic. */
static void write_paced(uint32_t pace)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    pw_trace_write_launch(
        w, &(struct pw_trace_event){
               .kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .pace = pace});
    const struct pw_op op = {.kind = PW_OP_COMPUTE, .loads_in_flight = PW_ANY_IN_FLIGHT, .count_or_mask = 1001};
    assert_true(pw_trace_write_op(w, 0, 0, &op, NULL));
    assert_ok(pw_trace_writer_finish(w, NULL, &err), &err);
}

static uint64_t cycles_of_paced(uint32_t pace)
{
    struct pw_result *r = NULL;
    struct pw_error err = {0};
    write_paced(pace);
    const struct pw_run_spec spec = {.machine = "mosaic",
                                     .design = "gpu-mmu",
                                     .workload = text,
                                     .sets = (const char *const[]){"sm.recorded_pace=on"},
                                     .set_count = 1};
    assert_ok(pw_run(&spec, &r, &err), &err);
    uint64_t cycles = r->cycles;
    pw_result_free(r);
    return cycles;
}

static void the_pace_of_a_launch_is_replayed_and_recorded_again(void **state)
{
    (void)state;
    uint64_t once_a_cycle = cycles_of_paced(1000);
    assert_int_equal(cycles_of_paced(3500), once_a_cycle + 2500);
    assert_int_equal(cycles_of_paced(0), once_a_cycle); /* not known: as on this machine */
    write_paced(3500);
    char copy[64];
    struct pw_error err = {0};
    struct pw_trace *t;
    snprintf(copy, sizeof copy, "%s.copy", path);
    const struct pw_trace_record_spec spec = {.workload = text, .file = copy};
    assert_ok(pw_trace_record(&spec, &err), &err);
    assert_ok(pw_trace_open(copy, &t, &err), &err);
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].pace, 3500);
    pw_trace_close(t);
    unlink(copy);
}

static void cannot_go_on(struct pw_warp *w, const void *arguments)
{
    (void)arguments;
    struct pw_error err;
    pw_compute(w, 1);
    if (w->index == 1) {
        pw_error_set(&err, PW_USER_ERROR, "warp 1 has had enough");
        pw_warp_fail(w, &err);
        return;
    }
    pw_barrier(w);
}

static void failing_main(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    pw_launch(h, &(struct pw_launch){.name = "k", .grid = {2, 1, 1}, .block = {96, 1, 1}, .kernel = cannot_go_on});
}

static void a_kernel_that_fails_ends_its_program(void **state)
{
    (void)state;
    TEST_PROGRAM(program, failing_main);
    struct pw_functional_counts counts;
    struct pw_error err;
    assert_int_equal(pw_functional_run(&program, 1, false, NULL, NULL, &counts, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "warp 1 has had enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_said_in_every_result),
        cmocka_unit_test(small_allocations_of_one_page_share_a_page),
        cmocka_unit_test(an_access_across_the_end_of_an_allocation_stays_in_its_page),
        cmocka_unit_test(what_a_trace_copies_is_in_the_l2_and_nothing_else),
        cmocka_unit_test(lanes_that_come_back_round_the_address_space_are_refused),
        cmocka_unit_test(a_group_is_freed_with_its_last_allocation),
        cmocka_unit_test(pinned_host_memory_is_read_where_it_is),
        cmocka_unit_test(a_profile_says_what_memory_is_and_which_launches_access_it),
        cmocka_unit_test(a_run_is_identified_by_what_is_in_the_file),
        cmocka_unit_test(the_pace_of_a_launch_is_replayed_and_recorded_again),
        cmocka_unit_test(a_kernel_that_fails_ends_its_program),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
