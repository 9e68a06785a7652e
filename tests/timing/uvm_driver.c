/* Exact cycles of demand paging: when a faulted page can be used, what it waits for, in which transfers its neighbours come,
 * and how the three ways of serving faults differ. Times follow from the fixture's round link (1000 + 1000 n cycles for n
 * pages in, 500 + 500 n out) and a fault latency of 45 us at 1 GHz. */
#include "uvm_fixture.h"

enum { LATENCY = 45000 };

static pw_cycle in(uint64_t pages)
{
    return 1000 + 1000 * pages;
}

static pw_cycle out(uint64_t pages)
{
    return 500 + 500 * pages;
}

#define REPLAYED(f, vpn) uvm_time(f, UVM_REPLAY, vpn, 0)
#define MAPPED(f, vpn) uvm_time(f, UVM_MAP, vpn, 0)

static struct uvm_fixture *with_memory(const char *prefetch, const char *evict, uint64_t pages)
{
    struct uvm_fixture *f = uvm_new(prefetch, evict);
    f->config.memory = pages * PW_PAGE_BYTES;
    return f;
}

/* uvm-sec22-two-costs, uvm-fig1-s4, uvm-fig1-s5, uvm-fig1-s6, uvm-sec22-lazy-alloc: nothing is there before the first access;
 * it costs the handling and the transfer of one page, not a cycle less. */
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

/* uvm-sec33-serial with uvm-tab2-fault: under serial service the k-th fault is handled after k latencies; the transfer of
 * one overlaps with the handling of the next. */
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

/* mosaic-sec32-lat-4k, mosaic-sec32-lat-2m, mosaic-sec32-frame-stall: 54.5 us and 7.95 GB/s give 55 us for a 4 KiB page and
 * 318 us for a 2 MiB page, whose every access waits for the whole page. */
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

/* uvm-fig1-s3, uvm-sec22-mshr-merge: accesses to a page on its way wait for the one fetch; a prefetched page on its way is as
 * good. */
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

/* uvm-sec32-sl-groups, uvm-sec41-sl-max: the faulted page crosses first and alone, what lies before and behind it follows
 * in one transfer each; a page can be used when its own transfer has ended. */
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

/* uvm-sec42-writeback-stall: once memory is full a fault waits for the write-back of a victim too; clean victims cost
 * nothing. */
static void room_is_used_when_the_write_back_has_ended(void **state)
{
    (void)state;
    for (int dirty = 0; dirty < 2; dirty++) {
        struct uvm_fixture *f = with_memory("none", "lru4k", 2);
        f->writes = dirty;
        uvm_open(f, 16);
        uvm_fault_at(f, 0, 0);
        uvm_fault_at(f, 1, 1);
        uvm_run(f, PW_NEVER);
        pw_cycle start = f->events->now;
        uvm_fault_at(f, 2, start);
        uvm_run(f, start + LATENCY);
        assert_true(f->mapped[0][0]);
        uvm_run(f, PW_NEVER);
        assert_int_equal(uvm_time(f, UVM_UNMAP, 0, 0), start + LATENCY);
        assert_int_equal(REPLAYED(f, 2), start + LATENCY + (dirty ? out(1) : 0) + in(1));
        assert_int_equal(uvm_link(f, PW_LINK_D2H)->transfers, dirty);
        assert_true(f->mapped[0][1]);
        uvm_close(f);
    }
}

/* Of a fetch that needs three places, one is free, and two become free one after the other: nothing of it starts before
 * the last. */
static void a_fetch_takes_free_room_first_and_then_the_soonest(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "lru4k", 4);
    f->config.service = PW_SERVICE_PARALLEL;
    f->writes = true;
    uvm_open(f, 32);
    for (uint64_t i = 0; i < 3; i++)
        uvm_fault_at(f, 2 * i, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle start = f->events->now;
    for (uint64_t i = 0; i < 3; i++)
        uvm_fault_at(f, 20 + 2 * i, start);
    uvm_run(f, PW_NEVER);
    pw_cycle served = start + LATENCY;
    assert_int_equal(REPLAYED(f, 20), served + in(1)); /* the fourth place was free */
    /* in(1) = 2 out(1): by then both write-backs have ended. */
    assert_int_equal(REPLAYED(f, 22), served + 2 * in(1));
    assert_int_equal(REPLAYED(f, 24), served + 3 * in(1));
    assert_int_equal(uvm_link(f, PW_LINK_D2H)->transfers, 2);
    uvm_close(f);
}

/* uvm-fig8-10-group, uvm-sec51-writeback: Figure 8 step by step; contiguous pages of one eviction leave in one transfer,
 * clean or dirty. */
static void contiguous_victims_leave_in_one_transfer(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(with_memory("none", "tbn", 128), 128);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){512}, 2 << 20, &f->err), PW_OK);
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){0}, 128, 0, NULL, NULL, 0);
    uvm_run(f, PW_NEVER);
    static const uint64_t oldest_first[] = {1, 3, 4, 0, 2, 5, 6, 7};
    for (int i = 0; i < 8; i++)
        uvm_touch(f, 16 * oldest_first[i], false);
    const struct pw_link_counters *link = uvm_link(f, PW_LINK_D2H);
    for (uint64_t i = 0; i < 49; i++) { /* every 16th fault finds memory full */
        uvm_fault_at(f, 512 + i, f->events->now);
        uvm_run(f, PW_NEVER);
        assert_int_equal(link->transfers, i < 48 ? i / 16 + 1 : 3 + 3);
    }
    assert_int_equal(link->bytes, 512 << 10);
    assert_int_equal(link->busy_cycles, 5 * out(16) + out(48)); /* 1, 3, 4; 0, 2 and 5 to 7 */
    uvm_close(f);
}

/* uvm-sec42-buffer, uvm-sec42-buffer-disables: with a free-page buffer of a quarter of 8 pages two places are kept free, so
 * that a fault with memory in use up to the threshold waits for no write-back, and the prefetcher counts memory as full
 * before it is. */
static void a_free_page_buffer_hides_the_write_back(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "lru4k", 8);
    f->config.free_buffer = 25;
    f->writes = true;
    uvm_open(f, 64);
    for (uint64_t i = 0; i < 6; i++)
        uvm_fault_at(f, 2 * i, 0);
    uvm_run(f, PW_NEVER);
    assert_int_equal(uvm_link(f, PW_LINK_D2H)->transfers, 0);
    for (uint64_t i = 6; i < 10; i++) {
        pw_cycle start = f->events->now;
        uvm_fault_at(f, 2 * i, start);
        uvm_run(f, PW_NEVER);
        assert_int_equal(REPLAYED(f, 2 * i), start + LATENCY + in(1));
        assert_int_equal(uvm_time(f, UVM_UNMAP, 2 * (i - 6), 0), start + LATENCY);
        assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 2);
    }
    assert_true(pw_residency_is_full(pw_uvm_residency(f->uvm)));
    uvm_close(f);
}

/* With one page of memory two pages take turns, each after the other's access; the second does not push the first out
 * before that has been replayed and has ended. */
static void one_page_of_memory_is_enough(void **state)
{
    (void)state;
    for (uint32_t service = 0; service <= PW_SERVICE_BATCH; service++) {
        struct uvm_fixture *f = with_memory("none", "lru4k", 1);
        f->config.service = service;
        f->writes = true;
        f->busy_for = 5000;
        uvm_open(f, 16);
        for (uint64_t i = 0; i < 4; i++)
            uvm_fault_at(f, i, 0);
        uvm_run(f, PW_NEVER);
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_not_equal(REPLAYED(f, i), PW_NEVER);
            assert_int_equal(uvm_time(f, UVM_REPLAY, i, 1), PW_NEVER);
        }
        if (service == PW_SERVICE_PARALLEL) /* replay, access, write-back, transfer */
            for (uint64_t i = 1; i < 4; i++) {
                assert_int_equal(uvm_time(f, UVM_UNMAP, i - 1, 0), REPLAYED(f, i - 1) + 5000);
                assert_int_equal(REPLAYED(f, i), REPLAYED(f, i - 1) + 5000 + out(1) + in(1));
            }
        uvm_close(f);
    }
}

/* What may not leave makes prefetched pages wait for another time; the faulted one comes. */
static void prefetched_pages_are_given_up_without_room(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("sl", "lru4k", 8);
    f->no_touch = true; /* what has come stays awaited */
    uvm_open(f, 64);
    uvm_fault_at(f, 3, 0);
    uvm_fault_at(f, 15, 1); /* merges into the first, so it may not be given up */
    uvm_run(f, PW_NEVER);
    assert_int_equal(uvm_counters(f)->pages_in, 8);
    assert_int_equal(REPLAYED(f, 3), LATENCY + in(1));
    assert_int_not_equal(REPLAYED(f, 15), PW_NEVER);
    assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 0);
    assert_int_equal(pw_residency_state(pw_uvm_residency(f->uvm), 14), PW_PAGE_ABSENT);
    uvm_close(f);
}

/* Nobody makes room any more: the message says how much would do. */
static void waiting_for_ever_is_told(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "lru4k", 2);
    f->no_touch = true;
    uvm_open(f, 16);
    uvm_fault_at(f, 0, 0);
    uvm_fault_at(f, 1, 0);
    uvm_run(f, PW_NEVER);
    assert_int_equal(pw_uvm_stuck(f->uvm, &f->err), PW_OK);
    uvm_fault_at(f, 2, f->events->now);
    uvm_run(f, PW_NEVER);
    assert_int_equal(pw_uvm_pending(f->uvm), 2); /* the register and its fetch */
    assert_int_equal(pw_uvm_stuck(f->uvm, &f->err), PW_FAILED);
    assert_non_null(strstr(f->err.message, "uvm.memory=12KB would do"));
    char text[256];
    size_t length = pw_uvm_describe(f->uvm, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "1 of them waiting for room (1 pages); 2 of 2 pages resident"));
    uvm_touch(f, 1, false); /* the older one is still awaited */
    uvm_run(f, PW_NEVER);
    assert_int_not_equal(REPLAYED(f, 2), PW_NEVER);
    assert_int_equal(uvm_time(f, UVM_UNMAP, 1, 0), uvm_time(f, UVM_MAP, 2, 0) - in(1));
    uvm_close(f);
}

/* Pages whose allocation is freed on their way arrive nowhere; their room can be used from the end of their transfer on, and
 * an allocation in the same place is a new one. */
static void a_free_forgets_what_is_coming(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("sl", "lru4k", 16);
    f->config.service = PW_SERVICE_PARALLEL;
    uvm_open(f, 16);
    uvm_fault_at(f, 0, 0);
    uvm_run(f, LATENCY + in(1) + 1); /* page 0 is there, 15 pages are in a transfer */
    assert_int_equal(f->mapped_count, 1);
    assert_int_equal(pw_uvm_free(f->uvm, 0, (pw_vpn){0}, &f->err), PW_OK);
    assert_int_equal(f->mapped_count, 0);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){0}, 16 * PW_PAGE_BYTES, &f->err), PW_OK);
    f->config.fault_latency = 0;
    pw_cycle lost = LATENCY + in(1) + in(15), now = f->events->now;
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){4}, 1, now, uvm_done, f, 99);
    uvm_run(f, PW_NEVER);
    assert_int_equal(f->mapped_count, 1); /* nothing of the old allocation */
    assert_int_equal(MAPPED(f, 4), lost + in(1));
    assert_int_equal(uvm_time(f, UVM_DONE, 99, 0), lost + in(1));
    assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 15);
    uvm_close(f);
}

/* A fault that waits when its allocation goes is forgotten, whichever way it is served and wherever it waits. */
static void a_free_forgets_who_waits(void **state)
{
    (void)state;
    for (uint32_t service = 0; service <= PW_SERVICE_BATCH; service++)
        for (pw_cycle when = 10; when < 200000; when += 997) {
            struct uvm_fixture *f = with_memory("sl", "lru4k", 24);
            f->config.service = service;
            f->writes = true;
            uvm_open(f, 32);
            assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){512}, 16 * PW_PAGE_BYTES, &f->err), PW_OK);
            for (uint64_t i = 0; i < 2; i++) {
                uvm_fault_at(f, 20 * i, i);
                uvm_fault_at(f, 512 + 3 * i, 3 + i);
            }
            uvm_run(f, when);
            assert_int_equal(pw_uvm_free(f->uvm, 0, (pw_vpn){0}, &f->err), PW_OK);
            uvm_run(f, PW_NEVER);
            assert_int_not_equal(REPLAYED(f, 512), PW_NEVER);
            assert_int_not_equal(REPLAYED(f, 515), PW_NEVER);
            assert_in_range(f->mapped_count, 2, 16); /* prefetched pages of b may have been given up */
            assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 24 - f->mapped_count);
            uvm_close(f);
        }
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

/* uvm-sec73-oversub: memory is what is allocated at the start over the percentage, and does not change later. */
static void oversubscription_sets_the_memory(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_new("none", "lru4k");
    f->config.oversubscription = 110;
    uvm_open(f, 1100);
    assert_int_equal(pw_uvm_start(f->uvm, &f->err), PW_OK);
    assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 1000);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){4096}, 1 << 20, &f->err), PW_OK);
    assert_int_equal(pw_uvm_start(f->uvm, &f->err), PW_OK);
    assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 1000);
    uvm_close(f);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t memory;
        double oversubscription;
        enum pw_page_order order;
        const char *word;
    } cases[] = {{1 << 20, 110, PW_PAGE_4K, "exclude each other"},
                 {1ULL << 40, 0, PW_PAGE_4K, "has only"},
                 {1 << 20, 0, PW_PAGE_2M, "at least one page"},
                 {100, 0, PW_PAGE_4K, "at least one page"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct uvm_fixture *f = uvm_new("none", "lru4k");
        f->config.memory = cases[i].memory;
        f->config.oversubscription = cases[i].oversubscription;
        f->order = cases[i].order;
        assert_int_equal(uvm_try(f), PW_USER_ERROR);
        assert_null(f->uvm);
        assert_non_null(strstr(f->err.message, cases[i].word));
        pw_link_destroy(f->link);
        pw_events_destroy(f->events);
        free(f->log);
        free(f);
    }
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
        cmocka_unit_test(room_is_used_when_the_write_back_has_ended),
        cmocka_unit_test(a_fetch_takes_free_room_first_and_then_the_soonest),
        cmocka_unit_test(contiguous_victims_leave_in_one_transfer),
        cmocka_unit_test(a_free_page_buffer_hides_the_write_back),
        cmocka_unit_test(one_page_of_memory_is_enough),
        cmocka_unit_test(prefetched_pages_are_given_up_without_room),
        cmocka_unit_test(waiting_for_ever_is_told),
        cmocka_unit_test(a_free_forgets_what_is_coming),
        cmocka_unit_test(a_free_forgets_who_waits),
        cmocka_unit_test(an_explicit_prefetch_keeps_the_link_busy),
        cmocka_unit_test(oversubscription_sets_the_memory),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
