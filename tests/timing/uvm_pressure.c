/* Demand paging with little memory, in exact cycles: what a fault waits for when memory is full, what is given up, what
 * a free leaves behind. Times follow from the fixture's round link (1000 + 1000 n cycles for n pages in, 500 + 500 n
 * out) and a fault latency of 45 us at 1 GHz. */
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

/* Of a fetch that needs 16 places two are free, and the others become free one after the other: nothing of it starts
 * before the last. A fetch after it that needs one place gets it when the next write-back ends. */
static void a_fetch_takes_free_room_first_and_then_the_soonest(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "lru4k", 20);
    f->config.service = PW_SERVICE_PARALLEL;
    f->config.fault_latency = 0;
    f->link_config.gbytes_per_second[PW_LINK_D2H] = 0.4096; /* slower than the way in: 500 + 10000 n */
    f->writes = true;
    uvm_open(f, 64);
    for (uint64_t i = 0; i < 18; i++)
        uvm_fault_at(f, i, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle start = f->events->now, write_back = 10500;
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){32}, 16, start, NULL, NULL, 0);
    assert_int_equal(f->mapped_count, 18 - 14);
    uvm_fault_at(f, 60, start);
    uvm_run(f, PW_NEVER);
    assert_int_equal(MAPPED(f, 32), start + 14 * write_back + in(16));
    assert_int_equal(REPLAYED(f, 60),
                     start + 15 * write_back + in(1) + (in(16) > write_back ? in(16) - write_back : 0));
    uvm_close(f);
}

/* What is free is taken before what will be free: a fetch that fits beside pages that are being written waits for
 * nothing. */
static void free_room_is_not_kept_waiting(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "sl", 32);
    f->config.service = PW_SERVICE_PARALLEL;
    f->config.fault_latency = 0;
    uvm_open(f, 32);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){512}, 1 << 20, &f->err), PW_OK);
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){0}, 32, 0, NULL, NULL, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle start = f->events->now;
    uvm_fault_at(f, 512, start); /* 16 pages leave, one comes */
    uvm_fault_at(f, 520, start + out(16) + 1);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 512), start + out(16) + in(1));
    assert_int_equal(REPLAYED(f, 520), start + out(16) + 2 * in(1));
    start = f->events->now;
    uvm_fault_at(f, 530, start);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 530), start + in(1));
    assert_int_equal(uvm_link(f, PW_LINK_D2H)->transfers, 1);
    uvm_close(f);
}

/* uvm-fig8-10-group, uvm-sec51-writeback: Figure 8 step by step; contiguous pages of one eviction leave in one
 * transfer, clean or dirty. */
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

/* uvm-sec42-buffer, uvm-sec42-buffer-disables: with a free-page buffer of a quarter of 8 pages two places are kept
 * free, so that a fault with memory in use up to the threshold waits for no write-back, and the prefetcher counts
 * memory as full before it is. */
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

static void touch_event(void *object, uint64_t vpn, pw_cycle now)
{
    struct uvm_fixture *f = object;
    pw_uvm_touch(f->uvm, 0, (pw_vpn){vpn}, false, now);
}

/* Who waits for room is first: not even a fault that is handled in the very cycle in which room is made comes
 * before. */
static void waiting_faults_are_served_in_order(void **state)
{
    (void)state;
    struct uvm_fixture *f = with_memory("none", "lru4k", 1);
    f->config.service = PW_SERVICE_PARALLEL;
    f->no_touch = true;
    uvm_open(f, 16);
    pw_cycle made = 100000;
    pw_events_post(f->events, made, touch_event, f, 0);
    uvm_fault_at(f, 0, 0);
    uvm_fault_at(f, 1, 1000);
    uvm_fault_at(f, 2, made - LATENCY);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 1), made + in(1));
    assert_int_equal(REPLAYED(f, 2), PW_NEVER);
    uvm_touch(f, 1, false);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 2), made + 2 * in(1));
    assert_int_equal(f->mapped_count, 1);
    assert_int_equal(f->freed_count, 0); /* two pages were evicted */
    uvm_close(f);
}

static void free_event(void *object, uint64_t vpn, pw_cycle now)
{
    (void)now;
    struct uvm_fixture *f = object;
    assert_int_equal(pw_uvm_free(f->uvm, 0, (pw_vpn){vpn}, &f->err), PW_OK);
}

/* The allocation goes while one part of a fetch is on the link and another waits for room: at any time, also in the
 * very cycle in which the last transfer ends, before it does. */
static void a_free_forgets_a_fetch_that_waits_in_part(void **state)
{
    (void)state;
    for (pw_cycle after = 0; after <= 2 * in(1); after += in(1) / 4) {
        struct uvm_fixture *f = with_memory("none", "lru4k", 2);
        f->config.service = PW_SERVICE_BATCH;
        f->no_touch = true; /* the third page waits to the end */
        uvm_open(f, 16);
        assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){512}, 1 << 20, &f->err), PW_OK);
        pw_cycle served = f->config.batch_latency + f->config.block_latency + 3 * f->config.batch_fault_latency;
        pw_events_post(f->events, served + after, free_event, f, 0);
        for (uint64_t i = 0; i < 3; i++)
            uvm_fault_at(f, 2 * i, 0);
        uvm_run(f, PW_NEVER);
        assert_int_equal(pw_uvm_pending(f->uvm), 0);
        assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers, after ? 2 : 0);
        uvm_fault_at(f, 512, f->events->now);
        uvm_run(f, PW_NEVER);
        assert_int_not_equal(REPLAYED(f, 512), PW_NEVER);
        assert_int_equal(f->mapped_count, 1);
        uvm_close(f);
    }
}

/* No page makes room any more: the message says how much would do. */
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

/* Pages whose allocation is freed on their way arrive nowhere; their room can be used from the end of their transfer
 * on, and an allocation in the same place is a new one. */
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
    assert_int_equal(f->freed_count, 1);
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
        for (pw_cycle when = 10; when < 200000; when += 2999) {
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

/* uvm-sec73-oversub: memory is what is allocated at the start over the percentage, and does not change later. */
static void oversubscription_sets_the_memory(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_new("none", "lru4k");
    f->config.oversubscription = 110;
    f->config.oversubscription_of = PW_DATA_AT_LAUNCH;
    uvm_open(f, 1100);
    assert_int_equal(pw_uvm_start(f->uvm, 0, &f->err), PW_OK);
    assert_int_equal(pw_residency_room(pw_uvm_residency(f->uvm)), 1000);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){4096}, 1 << 20, &f->err), PW_OK);
    assert_int_equal(pw_uvm_start(f->uvm, 0, &f->err), PW_OK);
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
        uvm_drop(f);
    }
}

/* More pages with room than the machine has frames: the run fails and says why. */
static void a_missing_frame_fails_the_run(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(uvm_new("none", "lru4k"), 16);
    f->frames = 1; /* as uvm_map sees it */
    uvm_fault_at(f, 0, 0);
    uvm_fault_at(f, 1, 0);
    pw_events_run(f->events, PW_NEVER, &(bool){false});
    assert_non_null(strstr(f->failure.message, "no frame"));
    uvm_drop(f);
}

/* A run that is stopped anywhere leaves nothing behind (for checkers of memory), and its accounts add up. */
static void a_run_may_end_with_pages_on_their_way(void **state)
{
    (void)state;
    for (pw_cycle when = 1; when < 120000; when += 9999)
        for (uint32_t service = 0; service <= PW_SERVICE_BATCH; service++) {
            struct uvm_fixture *f = with_memory("sl", "sl", 20);
            f->config.service = service;
            uvm_open(f, 512);
            for (uint64_t i = 0; i < 4; i++)
                uvm_fault_at(f, 20 * i, 0);
            pw_uvm_prefetch(f->uvm, 0, (pw_vpn){100}, 300, 0, uvm_done, f, 0);
            uvm_run(f, when);
            for (size_t i = 0; i < pw_stats_identity_count(f->stats); i++)
                if (!strstr(pw_stats_identity_name(f->stats, i), "registered")) /* some still wait */
                    assert_int_equal(pw_stats_identity_run(f->stats, i, &f->err), PW_OK);
            uvm_drop(f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_used_when_the_write_back_has_ended),
        cmocka_unit_test(a_fetch_takes_free_room_first_and_then_the_soonest),
        cmocka_unit_test(free_room_is_not_kept_waiting),
        cmocka_unit_test(contiguous_victims_leave_in_one_transfer),
        cmocka_unit_test(a_free_page_buffer_hides_the_write_back),
        cmocka_unit_test(one_page_of_memory_is_enough),
        cmocka_unit_test(prefetched_pages_are_given_up_without_room),
        cmocka_unit_test(waiting_faults_are_served_in_order),
        cmocka_unit_test(a_free_forgets_a_fetch_that_waits_in_part),
        cmocka_unit_test(waiting_for_ever_is_told),
        cmocka_unit_test(a_free_forgets_what_is_coming),
        cmocka_unit_test(a_free_forgets_who_waits),
        cmocka_unit_test(oversubscription_sets_the_memory),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_missing_frame_fails_the_run),
        cmocka_unit_test(a_run_may_end_with_pages_on_their_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
