/* Exact cycles of demand paging: when a faulted page can be used, what it waits for, in which transfers its neighbours
 * come, and how the three ways of serving faults differ. Times follow from the fixture's round link (1000 + 1000 n
 * cycles for n pages in, 500 + 500 n out) and a fault latency of 45 us at 1 GHz. */
#include "uvm_fixture.h"

enum { LATENCY = 45000 };

static pw_cycle in(uint64_t pages)
{
    return 1000 + 1000 * pages;
}

#define REPLAYED(f, vpn) uvm_time(f, UVM_REPLAY, vpn, 0)
#define MAPPED(f, vpn) uvm_time(f, UVM_MAP, vpn, 0)

/* uvm-sec22-two-costs, uvm-fig1-s4, uvm-fig1-s5, uvm-fig1-s6, uvm-sec22-lazy-alloc: nothing is there before the first
 * access; it costs the handling and the transfer of one page, not a cycle less. */
static void a_fault_costs_its_handling_and_its_transfer(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("none", "lru4k"), 16);
    assert_int_equal(f->config.fault_latency, LATENCY);
    assert_int_equal(pw_residency_resident(pw_uvm_residency(f->uvm)), 0);
    uvm_fault_at(f, 3, 100);
    uvm_run(f, 100 + LATENCY + in(1));
    assert_int_equal(f->count, 0);
    uvm_run(f, 100 + LATENCY + in(1) + 1);
    assert_int_equal(f->count, 2);
    assert_int_equal(MAPPED(f, 3), 100 + LATENCY + in(1));
    assert_int_equal(REPLAYED(f, 3), 100 + LATENCY + in(1));
    assert_int_equal(pw_residency_resident(pw_uvm_residency(f->uvm)), 1);
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers_4k, 1);
    assert_int_equal(uvm_counters(f)->pages_in, 1);
    uvm_close(f);
}

static void a_fault_outside_all_allocations_is_refused(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("none", "lru4k"), 16);
    assert_false(pw_uvm_fault(f->uvm, 0, (pw_vpn){16}, 0));
    assert_false(pw_uvm_fault(f->uvm, 1, (pw_vpn){0}, 0));
    uvm_close(f);
}

/* uvm-sec33-serial with uvm-tab2-fault: under serial service the k-th fault is handled after k latencies; the transfer
 * of one overlaps with the handling of the next. */
static void serial_service_handles_one_fault_at_a_time(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("none", "lru4k"), 64);
    for (uint64_t i = 0; i < 5; i++)
        uvm_fault_at(f, 10 * i, i);
    uvm_fault_at(f, 60, 10 * LATENCY);
    uvm_run(f, PW_NEVER);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(REPLAYED(f, 10 * i), (i + 1) * LATENCY + in(1));
    assert_int_equal(REPLAYED(f, 60), 11 * LATENCY + in(1));
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 6);
    assert_int_equal(rows[1].taken, LATENCY);
    assert_int_equal(rows[1].done, 2 * LATENCY + in(1));
    assert_int_equal(rows[1].faults, 1);
    assert_int_equal(rows[1].pages_in, 1);
    uvm_close(f);
}

/* Under parallel service latencies overlap and only the link is waited for. */
static void parallel_service_waits_for_the_link_only(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_new("none", "lru4k");
    f->config.service = PW_SERVICE_PARALLEL;
    uvm_open(f, 64);
    for (uint64_t i = 0; i < 5; i++)
        uvm_fault_at(f, 10 * i, i);
    uvm_run(f, PW_NEVER);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(REPLAYED(f, 10 * i), LATENCY + (i + 1) * in(1));
    uvm_close(f);
}

/* mosaic-sec32-lat-4k, mosaic-sec32-lat-2m, mosaic-sec32-frame-stall: 54.5 us and 7.95 GB/s give 55 us for a 4 KiB page
 * and 318 us for a 2 MiB page, whose every access waits for the whole page. */
static void load_to_use_is_mosaics_for_small_and_large_pages(void **state)
{
    (void)state;
    static const struct {
        enum pw_page_order order;
        uint64_t least, most;
    } cases[] = {{PW_PAGE_4K, 54900, 55100}, {PW_PAGE_2M, 317500, 318500}};
    for (int i = 0; i < 2; i++) {
        struct uvm_fixture *f = uvm_new("none", "lru4k");
        f->config.service = PW_SERVICE_PARALLEL;
        f->config.fault_latency = 54500;
        f->link_config.start_us[PW_LINK_H2D] = 0;
        f->link_config.gbytes_per_second[PW_LINK_H2D] = 7.95;
        f->order = cases[i].order;
        uvm_open(f, 1024);
        uvm_fault_at(f, 512, 0);
        uvm_fault_at(f, 512 + (1U << cases[i].order) - 1, 1);
        uvm_run(f, PW_NEVER);
        assert_in_range(REPLAYED(f, 512), cases[i].least, cases[i].most);
        assert_int_equal(uvm_counters(f)->far_faults, 1);
        assert_int_equal(uvm_counters(f)->merged_faults, 1);
        assert_int_equal(uvm_counters(f)->pages_in, 1U << cases[i].order);
        uvm_close(f);
    }
}

/* uvm-fig1-s3, uvm-sec22-mshr-merge: accesses to a page on its way wait for the one fetch; a prefetched page on its way
 * is as good. */
static void faults_on_a_page_that_is_coming_merge(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("sl", "lru4k"), 32);
    uvm_fault_at(f, 0, 0);
    uvm_fault_at(f, 0, 1);
    uvm_fault_at(f, 0, LATENCY + 1);
    uvm_fault_at(f, 7, 2);
    uvm_fault_at(f, 7, LATENCY + in(1) + 5);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 0), LATENCY + in(1));
    assert_int_equal(REPLAYED(f, 7), LATENCY + in(1) + in(15));
    assert_int_equal(uvm_time(f, UVM_REPLAY, 0, 1), PW_NEVER);
    assert_int_equal(uvm_time(f, UVM_REPLAY, 7, 1), PW_NEVER);
    assert_int_equal(uvm_counters(f)->far_faults, 1);
    assert_int_equal(uvm_counters(f)->merged_faults, 4);
    assert_int_equal(uvm_counters(f)->pages_in, 16);
    uvm_close(f);
}

/* uvm-sec32-sl-groups, uvm-sec41-sl-max: the faulted page crosses first and alone, what lies before and behind it
 * follows in one transfer each; a page can be used when its own transfer has ended. */
static void a_faulted_page_splits_its_block_into_groups(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("sl", "lru4k"), 32);
    uvm_fault_at(f, 16 + 5, 0);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 21), LATENCY + in(1));
    assert_int_equal(MAPPED(f, 16), LATENCY + in(1) + in(5));
    assert_int_equal(MAPPED(f, 20), LATENCY + in(1) + in(5));
    assert_int_equal(MAPPED(f, 22), LATENCY + in(1) + in(5) + in(10));
    assert_int_equal(MAPPED(f, 31), LATENCY + in(1) + in(5) + in(10));
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers, 3);
    uvm_fault_at(f, 0, f->events->now);
    uvm_run(f, PW_NEVER);
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers, 5); /* 4 KB + 60 KB */
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->busy_cycles, in(1) + in(5) + in(10) + in(1) + in(15));
    uvm_close(f);
}

/* uvm-sec33-group: the fourth fault of the second example brings four contiguous blocks in 4 KB + 252 KB. */
static void contiguous_blocks_cross_in_one_transfer(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("tbn", "lru4k"), 128);
    static const uint64_t faults[] = {16, 48, 0, 64};
    for (int i = 0; i < 4; i++) {
        uvm_fault_at(f, faults[i], f->events->now);
        uvm_run(f, PW_NEVER);
    }
    pw_cycle last = REPLAYED(f, 64);
    assert_int_equal(MAPPED(f, 127), last + in(63));
    assert_int_equal(MAPPED(f, 65), last + in(63));
    /* Block 2 came with the third fault: 4 KB, then blocks 0 and 2 around block 1, which was there. */
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers, 2 + 2 + 3 + 2);
    assert_int_equal(uvm_counters(f)->pages_in, 128);
    uvm_close(f);
}

/* The explicit prefetch call: no fault, no latency, whole blocks one behind the other without a pause on the link. */
static void an_explicit_prefetch_keeps_the_link_busy(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("tbn", "lru4k"), 3 * 512);
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){100}, 1000, 7, uvm_done, f, 9999);
    uvm_run(f, PW_NEVER);
    assert_int_equal(MAPPED(f, 100), 7 + in(412));
    assert_int_equal(MAPPED(f, 511), 7 + in(412));
    assert_int_equal(MAPPED(f, 512), 7 + in(412) + in(512));
    assert_int_equal(MAPPED(f, 1099), 7 + in(412) + in(512) + in(76));
    assert_int_equal(uvm_time(f, UVM_DONE, 9999, 0), 7 + in(412) + in(512) + in(76));
    assert_int_equal(MAPPED(f, 1100), PW_NEVER);
    assert_int_equal(uvm_counters(f)->far_faults, 0);
    assert_int_equal(uvm_counters(f)->pages_prefetched, 1000);
    uvm_close(f);
}

/* An access whose walk found nothing and whose page came in the same cycle goes on at once, without a fault of its
 * own. */
static void a_fault_on_a_page_that_has_just_come_is_replayed(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("none", "lru4k"), 16);
    uvm_fault_at(f, 3, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle now = f->events->now;
    assert_true(pw_uvm_fault(f->uvm, 0, (pw_vpn){3}, now));
    assert_int_equal(uvm_time(f, UVM_REPLAY, 3, 1), PW_NEVER);
    uvm_run(f, PW_NEVER);
    assert_int_equal(uvm_time(f, UVM_REPLAY, 3, 1), now);
    assert_int_equal(uvm_counters(f)->far_faults, 1);
    uvm_close(f);
}

static double metric(struct uvm_fixture *f, const char *name, int app)
{
    uint64_t *now = calloc(pw_stats_raw_count(f->stats), sizeof *now);
    int index = pw_stats_find(f->stats, name);
    assert_non_null(now);
    assert_true(index >= 0);
    pw_stats_snapshot(f->stats, now);
    double value = pw_stats_value(f->stats, (size_t)index, app, NULL, now);
    free(now);
    return value;
}

static void metrics_are_per_application_and_means_are_right(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("sl", "lru4k"), 32);
    assert_int_equal(pw_uvm_allocate(f->uvm, 1, "b", (pw_vpn){0}, 32 * PW_PAGE_BYTES, &f->err), PW_OK);
    uvm_fault_at(f, 0, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle now = f->events->now;
    pw_events_post(f->events, now, uvm_fault_event, f, 1ULL << 32 | 2);
    pw_events_post(f->events, now, uvm_fault_event, f, 1ULL << 32 | 20);
    uvm_run(f, PW_NEVER);
    assert_int_equal((uint64_t)metric(f, "uvm.fault_latency_mean", 0), LATENCY + in(1));
    assert_int_equal((uint64_t)metric(f, "uvm.fault_latency_mean", 1), (LATENCY + 2 * LATENCY) / 2 + in(1));
    assert_int_equal((uint64_t)metric(f, "uvm.far_faults", 0), 1);
    assert_int_equal((uint64_t)metric(f, "uvm.far_faults", 1), 2);
    assert_int_equal((uint64_t)metric(f, "uvm.bytes_h2d", 1), 32 * PW_PAGE_BYTES);
    assert_int_equal((uint64_t)metric(f, "uvm.bytes_h2d", -1), 48 * PW_PAGE_BYTES);
    assert_int_equal((uint64_t)metric(f, "link.h2d.bytes", -1), 48 * PW_PAGE_BYTES);
    assert_int_equal((uint64_t)metric(f, "link.h2d.transfers_4k", -1), 3);
    assert_int_equal((uint64_t)metric(f, "link.h2d.transfers", -1), 2 + 3 + 3);
    assert_int_equal((uint64_t)metric(f, "uvm.batches", -1), 3);
    assert_int_equal((uint64_t)metric(f, "uvm.batch_faults_mean", -1), 1);
    assert_int_equal((uint64_t)metric(f, "uvm.prefetched_resident", 1), 30);
    uvm_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_costs_its_handling_and_its_transfer),
        cmocka_unit_test(a_fault_outside_all_allocations_is_refused),
        cmocka_unit_test(serial_service_handles_one_fault_at_a_time),
        cmocka_unit_test(parallel_service_waits_for_the_link_only),
        cmocka_unit_test(load_to_use_is_mosaics_for_small_and_large_pages),
        cmocka_unit_test(faults_on_a_page_that_is_coming_merge),
        cmocka_unit_test(a_faulted_page_splits_its_block_into_groups),
        cmocka_unit_test(contiguous_blocks_cross_in_one_transfer),
        cmocka_unit_test(an_explicit_prefetch_keeps_the_link_busy),
        cmocka_unit_test(a_fault_on_a_page_that_has_just_come_is_replayed),
        cmocka_unit_test(metrics_are_per_application_and_means_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
