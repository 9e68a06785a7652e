/* The states of managed pages, beyond what the papers say: what is awaited or busy stays, what was given up is absent
 * again, large pages move as a whole, counters add up, allocations come and go. */
#include "managed.h"

enum { KB = 1024, BLOCK_BYTES = 2048 * KB, BLOCK = PW_BLOCK_PAGES };

static struct pw_residency *create(const char *prefetch, const char *evict, uint64_t capacity, uint64_t blocks)
{
    struct pw_residency_config config = managed_config(prefetch, evict, capacity);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "data", 0, blocks * BLOCK_BYTES);
    return r;
}

static struct pw_page_mask one(unsigned page)
{
    return pw_mask_range(page, page + 1);
}

static void a_page_that_was_asked_for_stays_until_it_is_touched(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "lru4k", 2, 1);
    struct pw_page_mask asked = pw_mask_range(4, 6);
    struct pw_fetch fetch;
    struct pw_eviction e;
    pw_residency_decide(r, 0, &asked, &fetch);
    assert_int_equal(pw_residency_state(r, 4), PW_PAGE_COMING);
    assert_int_equal(pw_residency_room(r), 2);
    pw_residency_grant(r, 0, &fetch.faulted);
    assert_int_equal(pw_residency_room(r), 0);
    assert_false(pw_residency_evict(r, &e)); /* on their way */
    pw_residency_arrive(r, 0, &fetch.faulted);
    assert_int_equal(pw_residency_state(r, 4), PW_PAGE_RESIDENT);
    assert_false(pw_residency_evict(r, &e)); /* awaited */
    pw_residency_touch(r, 5, false);
    assert_true(pw_residency_evict(r, &e));
    asked = one(5);
    assert_memory_equal(&e.pages, &asked, sizeof asked);
    assert_false(pw_residency_evict(r, &e));
    managed_destroy(r);
}

static void an_access_that_merges_makes_a_prefetched_page_awaited(void **state)
{
    (void)state;
    struct pw_residency *r = create("sl", "sl", BLOCK, 1);
    struct pw_page_mask asked = one(0), all = pw_mask_range(0, 16);
    struct pw_fetch fetch;
    struct pw_eviction e;
    pw_residency_decide(r, 0, &asked, &fetch);
    pw_residency_merge(r, 9);
    /* The merged page is not given up with the others. */
    struct pw_page_mask some = pw_mask_range(0, 15), gone = pw_residency_give_up(r, 0, &some);
    assert_int_equal(pw_mask_count(&gone), 13);
    assert_int_equal(pw_residency_state(r, 1), PW_PAGE_ABSENT);
    assert_int_equal(pw_residency_state(r, 9), PW_PAGE_COMING);
    pw_residency_grant(r, 0, &all);
    assert_int_equal(pw_residency_room(r), BLOCK - 3);
    gone = pw_residency_give_up(r, 0, &all); /* what has room is not given up either */
    assert_false(pw_mask_any(&gone));
    pw_residency_arrive(r, 0, &all);
    assert_int_equal(pw_residency_resident(r), 3);
    pw_residency_touch(r, 0, false);
    assert_true(pw_residency_evict(r, &e));
    pw_mask_add(&asked, 15);
    assert_memory_equal(&e.pages, &asked, sizeof asked); /* page 9 of the same leaf waits */
    pw_residency_touch(r, 9, false);
    const struct pw_uvm_counters *c = pw_residency_counters(r);
    assert_int_equal(c->far_faults, 1);
    assert_int_equal(c->merged_faults, 1);
    assert_int_equal(c->pages_in, 3);
    assert_int_equal(c->pages_prefetched, 2);
    assert_int_equal(c->prefetched_used, 1);
    assert_int_equal(c->prefetched_evicted, 1);
    managed_destroy(r);
}

struct busy {
    uint64_t first, outer, asked;
};

static bool is_busy(void *context, pw_asid asid, pw_vpn vpn)
{
    struct busy *b = context;
    b->asked++;
    assert_int_equal(asid, 0);
    return vpn.v >= b->first && vpn.v < b->outer;
}

static void pages_with_accesses_in_flight_stay(void **state)
{
    (void)state;
    const char *evictions[] = {"lru2m", "nvidia"};
    for (unsigned k = 0; k < 2; k++) {
        struct busy busy = {3 * BLOCK, 4 * BLOCK, 0};
        struct pw_residency_config config = managed_config("none", evictions[k], 4 * BLOCK);
        config.busy = is_busy;
        config.context = &busy;
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 3, 2 * BLOCK_BYTES);
        for (unsigned i = 0; i < 2 * BLOCK; i++)
            managed_read(r, 3 * BLOCK + i);
        struct pw_eviction e;
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(e.block, 1);
        assert_int_equal(pw_mask_count(&e.pages), BLOCK);
        assert_in_range(busy.asked, 2 * BLOCK, 2 * BLOCK); /* the busy block is asked about once, not once a leaf */
        assert_false(pw_residency_evict(r, &e));
        busy.outer = 3 * BLOCK + 10;
        assert_true(pw_residency_evict(r, &e));
        struct pw_page_mask rest = pw_mask_range(10, BLOCK);
        assert_memory_equal(&e.pages, &rest, sizeof rest);
        managed_destroy(r);
    }
}

static void reserved_pages_leave_when_no_other_may(void **state)
{
    (void)state;
    struct busy busy = {5, 10, 0};
    struct pw_residency_config config = managed_config("none", "lru4k", 10);
    config.busy = is_busy;
    config.context = &busy;
    config.reserve = 0.5;
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "data", 0, BLOCK_BYTES);
    for (unsigned i = 0; i < 10; i++)
        managed_read(r, i);
    struct pw_eviction e;
    struct pw_page_mask expected = one(0);
    assert_true(pw_residency_evict(r, &e));
    assert_memory_equal(&e.pages, &expected, sizeof expected);
    managed_destroy(r);
}

static void the_driver_evicts_blocks_as_they_came_not_as_they_were_used(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "nvidia", 4 * BLOCK, 4);
    const unsigned came[] = {2, 0, 3};
    struct pw_eviction e;
    for (unsigned i = 0; i < 3; i++)
        managed_read(r, came[i] * BLOCK + 7);
    managed_access(r, 2 * BLOCK + 9, true);
    managed_read(r, 2 * BLOCK + 7);
    assert_true(pw_residency_evict(r, &e));
    assert_int_equal(e.block, 2);
    assert_int_equal(pw_mask_count(&e.written), 2); /* clean ones too: the host's copy is gone */
    managed_read(r, 2 * BLOCK + 7);                 /* comes back at the young end */
    const unsigned expected[] = {0, 3, 2};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(e.block, expected[i]);
    }
    managed_destroy(r);
}

static void only_dirty_pages_are_written_where_pages_leave_alone(void **state)
{
    (void)state;
    const char *evictions[] = {"lru4k", "random"};
    for (unsigned k = 0; k < 2; k++) {
        struct pw_residency *r = create("none", evictions[k], 2, 1);
        struct pw_eviction e;
        managed_access(r, 0, true);
        managed_access(r, 1, false);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(pw_residency_evict(r, &e));
            assert_int_equal(pw_mask_count(&e.written), pw_mask_has(&e.pages, 0));
        }
        managed_access(r, 0, false); /* dirt does not outlive the page */
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(pw_mask_count(&e.written), 0);
        managed_destroy(r);
    }
}

static void a_page_touched_again_after_others_came_is_the_youngest(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "lru2m", BLOCK, 2);
    struct pw_page_mask wanted = one(7);
    struct pw_fetch fetch;
    struct pw_eviction e;
    managed_access(r, 5, false);
    pw_residency_decide_explicit(r, 1, &wanted, &fetch);
    pw_residency_grant(r, 1, &wanted);
    pw_residency_arrive(r, 1, &wanted);
    pw_residency_touch(r, 5, false); /* nothing else was touched in between */
    assert_true(pw_residency_evict(r, &e));
    assert_int_equal(e.block, 1);
    managed_destroy(r);
}

static void the_explicit_call_faults_nothing_and_awaits_nothing(void **state)
{
    (void)state;
    struct pw_residency *r = create("tbn", "lru4k", BLOCK, 2);
    struct pw_page_mask wanted = pw_mask_range(0, 300);
    struct pw_fetch fetch;
    struct pw_eviction e;
    managed_read(r, 20);
    pw_residency_decide_explicit(r, 0, &wanted, &fetch);
    assert_int_equal(pw_mask_count(&fetch.prefetched), 300 - 16);
    assert_false(pw_mask_any(&fetch.faulted));
    pw_residency_grant(r, 0, &fetch.prefetched);
    pw_residency_arrive(r, 0, &fetch.prefetched);
    assert_int_equal(pw_residency_counters(r)->far_faults, 1);
    assert_int_equal(pw_residency_counters(r)->pages_prefetched, 15 + 284);
    for (unsigned i = 0; i < 300; i++)
        assert_true(pw_residency_evict(r, &e));
    assert_false(pw_residency_is_full(r));
    wanted = pw_mask_range(0, BLOCK);
    pw_residency_decide_explicit(r, 0, &wanted, &fetch);
    pw_residency_decide_explicit(r, 1, &wanted, &fetch);
    assert_true(pw_residency_is_full(r));
    managed_destroy(r);
}

static void larger_pages_come_go_and_are_written_as_a_whole(void **state)
{
    (void)state;
    const enum pw_page_order orders[] = {PW_PAGE_64K, PW_PAGE_2M};
    for (unsigned k = 0; k < 2; k++) {
        struct pw_residency_config config = managed_config("none", "lru4k", 4U << orders[k]);
        unsigned unit = 1U << orders[k];
        config.order = orders[k];
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 0, 8 * BLOCK_BYTES + 4 * KB);
        assert_int_equal(pw_residency_range(r, 0)->pages, 8 * BLOCK + unit);
        for (unsigned i = 0; i < 4; i++) {
            struct managed_touch t = managed_read(r, i * unit + i);
            assert_int_equal(pw_mask_count(&t.in.faulted), unit);
        }
        managed_access(r, 3, true); /* another page of the first unit: young and dirty now */
        assert_false(managed_read(r, unit).fault);
        managed_check(r);
        struct managed_touch t = managed_read(r, 5 * unit + 1);
        assert_int_equal(t.pages_out, unit);
        assert_false(managed_has(r, 2 * unit + 5));
        assert_true(managed_has(r, 0));
        struct pw_eviction e;
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(pw_mask_count(&e.written), 0);
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(pw_mask_count(&e.written), unit);
        assert_int_equal(pw_residency_counters(r)->far_faults, 5);
        assert_int_equal(pw_residency_counters(r)->pages_in, 5 * unit);
        managed_destroy(r);
    }
}

static void count_visit(void *context, pw_asid asid, pw_vpn vpn)
{
    uint64_t *sum = context;
    assert_int_equal(asid, 0);
    *sum += vpn.v;
}

static void a_freed_allocation_takes_all_its_pages_along(void **state)
{
    (void)state;
    struct pw_residency *r = create("sl", "lru4k", BLOCK, 2);
    struct pw_error err = {0};
    struct pw_page_mask asked = pw_mask_range(100, 101);
    struct pw_fetch fetch;
    uint64_t sum = 0;
    managed_add(r, "other", 9, BLOCK_BYTES);
    managed_read(r, 9 * BLOCK);
    managed_access(r, managed_page(r, 3), true);
    pw_residency_decide(r, 0, &asked, &fetch);
    pw_residency_grant(r, 0, &asked);
    assert_int_equal(pw_residency_remove(r, 0, (pw_vpn){0}, count_visit, &sum, &err), PW_OK);
    assert_int_equal(sum, 15 * 16 / 2);
    assert_int_equal(pw_residency_resident(r), 16);
    assert_int_equal(pw_residency_room(r), BLOCK - 16);
    assert_int_equal(pw_residency_find(r, 0, (pw_vpn){3}), PW_NO_PAGE);
    assert_true(pw_residency_range(r, 0)->freed);
    const struct pw_uvm_counters *c = &pw_residency_range(r, 0)->counters;
    assert_int_equal(c->pages_evicted + c->pages_written, 0);
    assert_int_equal(c->prefetched_used + c->prefetched_evicted, 15);
    managed_check(r);
    /* Its numbers are used again, from a clean start. */
    managed_add(r, "third", 40, BLOCK_BYTES);
    assert_int_equal(managed_page(r, 40 * BLOCK), 0);
    assert_int_equal(pw_residency_asid(r, 0), 0);
    assert_int_equal(pw_residency_vpn(r, 5).v, 40 * BLOCK + 5);
    assert_true(managed_read(r, 40 * BLOCK + 100).fault);
    assert_int_equal(pw_residency_range(r, 2)->counters.pages_thrashed, 0);
    assert_int_equal(pw_residency_remove(r, 0, (pw_vpn){0}, NULL, NULL, &err), PW_USER_ERROR);
    assert_int_equal(pw_residency_remove(r, 0, (pw_vpn){9 * BLOCK + 1}, NULL, NULL, &err), PW_USER_ERROR);
    managed_destroy(r);
}

static void allocating_and_freeing_for_ever_does_not_grow(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "lru4k", BLOCK, 2);
    struct pw_error err = {0};
    size_t bytes = 0;
    for (unsigned i = 0; i < 1000; i++) {
        managed_add(r, "again", 100 + i, (1 + i % 7) * BLOCK_BYTES);
        managed_read(r, (100 + i) * BLOCK);
        assert_int_equal(pw_residency_remove(r, 0, (pw_vpn){(100 + i) * BLOCK}, NULL, NULL, &err), PW_OK);
        if (i == 100)
            bytes = pw_residency_bytes(r);
    }
    /* Only the list of allocations grows. */
    assert_true(pw_residency_bytes(r) < bytes + 1100 * 2 * sizeof(struct pw_managed_range) + 4096);
    managed_destroy(r);
}

static void applications_share_memory_and_nothing_else(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "lru4k", 10, 1);
    struct pw_error err = {0};
    assert_int_equal(pw_residency_add(r, PW_MAX_APPS - 1, "same place", (pw_vpn){0}, BLOCK_BYTES, &err), PW_OK);
    pw_page_id a = managed_page(r, 5), b = pw_residency_find(r, PW_MAX_APPS - 1, (pw_vpn){5});
    assert_int_not_equal(a, b);
    assert_int_equal(pw_residency_asid(r, b), PW_MAX_APPS - 1);
    assert_true(managed_access(r, a, false).fault);
    assert_true(managed_access(r, b, false).fault);
    assert_int_equal(pw_residency_counters(r)[0].far_faults, 1);
    assert_int_equal(pw_residency_counters(r)[PW_MAX_APPS - 1].far_faults, 1);
    assert_int_equal(pw_residency_range(r, 1)->counters.far_faults, 1);
    assert_int_equal(pw_residency_find(r, 1, (pw_vpn){5}), PW_NO_PAGE);
    managed_destroy(r);
}

static void mistaken_allocations_are_refused_in_one_line(void **state)
{
    (void)state;
    const struct {
        pw_asid asid;
        uint64_t first, bytes;
        const char *message;
    } cases[] = {
        {0, BLOCK, BLOCK_BYTES, "allocation x overlaps data"},
        {0, 0, 1, "allocation x overlaps data"},
        {0, 5 * BLOCK, 0, "allocation x has no bytes: give it a size"},
        {0, 5 * BLOCK + 1, 10, "allocation x must begin at a multiple of 2 MiB"},
        {0, (uint64_t)BLOCK << 27, 10, "allocation x does not fit into 48 bits of address"},
        {0, UINT64_MAX / BLOCK * BLOCK, 10, "allocation x does not fit into 48 bits of address"},
        {0, 5 * BLOCK, UINT64_MAX, "allocation x does not fit into 48 bits of address"},
        {0, 5 * BLOCK, 1ULL << 45, "more than 16383 GiB of managed memory: allocate less"},
        {PW_MAX_APPS, 5 * BLOCK, 10, "allocation x: at most 64 address spaces"},
    };
    struct pw_residency *r = create("none", "lru4k", 10, 2);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_error err = {0};
        assert_int_equal(pw_residency_add(r, cases[i].asid, "x", (pw_vpn){cases[i].first}, cases[i].bytes, &err),
                         PW_USER_ERROR);
        assert_string_equal(err.message, cases[i].message);
    }
    assert_int_equal(pw_residency_range_count(r), 1);
    assert_int_equal(pw_residency_find(r, PW_MAX_APPS, (pw_vpn){0}), PW_NO_PAGE);
    assert_int_equal(pw_residency_find(r, 0, (pw_vpn){UINT64_MAX}), PW_NO_PAGE);
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_was_asked_for_stays_until_it_is_touched),
        cmocka_unit_test(an_access_that_merges_makes_a_prefetched_page_awaited),
        cmocka_unit_test(pages_with_accesses_in_flight_stay),
        cmocka_unit_test(reserved_pages_leave_when_no_other_may),
        cmocka_unit_test(the_driver_evicts_blocks_as_they_came_not_as_they_were_used),
        cmocka_unit_test(only_dirty_pages_are_written_where_pages_leave_alone),
        cmocka_unit_test(a_page_touched_again_after_others_came_is_the_youngest),
        cmocka_unit_test(the_explicit_call_faults_nothing_and_awaits_nothing),
        cmocka_unit_test(larger_pages_come_go_and_are_written_as_a_whole),
        cmocka_unit_test(a_freed_allocation_takes_all_its_pages_along),
        cmocka_unit_test(allocating_and_freeing_for_ever_does_not_grow),
        cmocka_unit_test(applications_share_memory_and_nothing_else),
        cmocka_unit_test(mistaken_allocations_are_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
