/* What comes and what leaves, as Sections 2.2, 4.2, 5, 5.3 and 7 of the UVM paper say it. Rows of the claims are named
 * where they are decided. */
#include "managed.h"

enum { KB = 1024, BLOCK_BYTES = 2048 * KB, BLOCK = PW_BLOCK_PAGES };

static struct pw_residency *create(const char *prefetch, const char *full, const char *evict, uint64_t capacity,
                                   uint64_t blocks)
{
    struct pw_residency_config config = managed_config(prefetch, evict, capacity);
    config.prefetch_full = policy_choice_or_same(&pw_prefetch_family, full);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "data", 0, blocks * BLOCK_BYTES);
    return r;
}

static const struct pw_uvm_counters *counters(struct pw_residency *r)
{
    return &pw_residency_counters(r)[0];
}

static void read_all(struct pw_residency *r, uint64_t first, uint64_t outer)
{
    for (uint64_t i = first; i < outer; i++)
        managed_read(r, i);
}

/* Evicts once: the only page that left. */
static uint64_t evict_one(struct pw_residency *r)
{
    struct pw_eviction e;
    unsigned first, outer;
    assert_true(pw_residency_evict(r, &e));
    assert_int_equal(pw_mask_count(&e.pages), 1);
    assert_true(pw_mask_next_run(&e.pages, 0, &first, &outer));
    return pw_residency_vpn(r, e.block * BLOCK + first).v;
}

/* Evicts once: the first page and the number of pages that left. */
static uint64_t evict_first(struct pw_residency *r, unsigned *out_count)
{
    struct pw_eviction e;
    unsigned first, outer;
    assert_true(pw_residency_evict(r, &e));
    *out_count = pw_mask_count(&e.pages);
    assert_true(pw_mask_next_run(&e.pages, 0, &first, &outer));
    return pw_residency_vpn(r, e.block * BLOCK + first).v;
}

/* uvm-sec22-lazy-alloc, uvm-fig1-s5 */
static void an_allocation_takes_no_memory_until_a_page_is_touched(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "none", "lru4k", 100, 3);
    assert_int_equal(pw_residency_resident(r), 0);
    assert_int_equal(pw_residency_room(r), 100);
    for (uint64_t i = 0; i < 3 * BLOCK; i++)
        assert_int_equal(pw_residency_state(r, managed_page(r, i)), PW_PAGE_ABSENT);
    assert_true(managed_read(r, 700).fault);
    assert_int_equal(pw_residency_resident(r), 1);
    assert_false(managed_read(r, 700).fault);
    assert_int_equal(counters(r)->far_faults, 1);
    assert_int_equal(counters(r)->pages_in, 1);
    managed_destroy(r);
}

/* uvm-sec42-lru4k */
static void lru_evicts_the_page_accessed_longest_ago(void **state)
{
    (void)state;
    struct pw_residency *r = create("none", "none", "lru4k", 4, 3);
    const uint64_t pages[] = {900, 3, 17, 600};
    for (unsigned i = 0; i < 4; i++)
        managed_read(r, pages[i]);
    managed_read(r, 900);
    managed_access(r, managed_page(r, 17), true);
    struct managed_touch t = managed_read(r, 1000);
    assert_true(t.fault);
    assert_int_equal(t.pages_out, 1);
    assert_false(managed_has(r, 3));
    assert_int_equal(evict_one(r), 600);
    assert_int_equal(evict_one(r), 900);
    assert_int_equal(evict_one(r), 17);
    assert_int_equal(evict_one(r), 1000);
    assert_int_equal(counters(r)->pages_written, 1); /* only page 17 was dirty */
    managed_destroy(r);
}

/* uvm-sec53-lru-touch: by blocks, a read or a write of a page that is there makes its 64 KB the youngest of their 2 MB,
 * and these the youngest of all. The first page that leaves of each block, as the blocks follow. */
static void a_touch_makes_its_64_kb_and_its_2_mb_the_youngest(void **state)
{
    (void)state;
    static const struct {
        const char *evict;
        uint64_t first[3];
    } orders[] = {
        {"sl", {2 * BLOCK, BLOCK + 16, 16}}, {"tbn", {2 * BLOCK, BLOCK + 16, 16}}, {"lru2m", {2 * BLOCK, BLOCK, 0}}};
    for (unsigned k = 0; k < 3; k++) {
        struct pw_residency *r = create("sl", "sl", orders[k].evict, 3 * BLOCK, 3);
        read_all(r, 0, 3 * BLOCK);
        managed_read(r, BLOCK + 3);
        managed_access(r, managed_page(r, 5), true);
        uint64_t last = UINT64_MAX;
        unsigned count, blocks = 0, leaf_0 = 0, evictions = 0;
        for (; pw_residency_resident(r); evictions++) {
            uint64_t page = evict_first(r, &count);
            if (page / BLOCK != last / BLOCK)
                assert_int_equal(page, orders[k].first[blocks++]);
            leaf_0 = page % BLOCK == 0 ? evictions : leaf_0;
            last = page;
        }
        assert_int_equal(blocks, 3);
        if (strcmp(orders[k].evict, "tbn") != 0) /* which takes more along with a candidate than the 64 KB around it */
            assert_int_equal(leaf_0, evictions - 1);
        managed_destroy(r);
    }
}

/* uvm-sec42-random: with the oldest page touched again and again, or never, each of ten pages leaves first alike
 * often. */
static void random_evicts_any_page_whenever_it_was_accessed(void **state)
{
    (void)state;
    unsigned left[10] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct pw_residency_config config = managed_config("none", "random", 10);
        config.seed = seed;
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 0, 20 * BLOCK_BYTES);
        for (unsigned i = 0; i < 10; i++)
            managed_read(r, i * BLOCK + i);
        managed_read(r, 0);
        left[evict_one(r) / BLOCK]++;
        managed_destroy(r);
    }
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(left[i], 60, 140);
}

/* uvm-sec42-lru4k-breaks: pages of a full block leave one by one, here every second one; then a fault finds no 64 KB
 * that is absent as a whole, and its prefetch falls apart into single pages. After eviction by basic blocks it comes in
 * one run. */
static void single_evictions_leave_the_prefetcher_no_whole_block(void **state)
{
    (void)state;
    for (unsigned whole = 0; whole < 2; whole++) {
        struct pw_residency *r = create("tbn", "sl", whole ? "sl" : "lru4k", BLOCK, 2);
        for (unsigned i = 0; i < BLOCK; i += 2)
            managed_read(r, i);
        for (unsigned i = 1; i < BLOCK; i += 2)
            managed_read(r, i);
        for (unsigned i = 0; i < 64; i++) /* in lru4k's list the even pages are the oldest */
            managed_read(r, BLOCK + i);
        struct managed_touch t = managed_read(r, 4);
        unsigned first, outer, longest = 0;
        for (unsigned at = 0; pw_mask_next_run(&t.in.prefetched, at, &first, &outer); at = outer)
            longest = outer - first > longest ? outer - first : longest;
        assert_int_equal(longest, whole ? 11 : 1);
        managed_destroy(r);
    }
}

/* uvm-sec42-lru4k-breaks: filling a node brings 64 KB blocks that are absent as a whole, and of those that are there in
 * part only the one that faulted. Of a tree of four, the fault is in leaf 0, of which three pages are there; leaf 1 is
 * there, half of leaf 2, and nothing of leaf 3. */
static void a_block_that_is_there_in_part_is_not_prefetched(void **state)
{
    (void)state;
    const struct {
        const char *partial;
        unsigned in_leaf[4];
    } rows[] = {{"faulted", {12, 0, 0, 16}}, {"all", {12, 0, 8, 16}}, {"none", {0, 0, 0, 0}}};
    const struct pw_policy *tbn = policy_named(&pw_prefetch_family, "tbn");
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct pw_residency_config config = managed_config("tbn", "lru4k", BLOCK);
        struct pw_error err;
        assert_int_equal(
            pw_option_parse(tbn->options, rows[k].partial, 0, config.prefetch.options + tbn->options->offset, &err),
            PW_OK);
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 0, 4 * 64 * KB);
        struct pw_page_mask there = pw_mask_range(16, 40), start = pw_mask_range(0, 3), asked = pw_mask_range(5, 6);
        struct pw_fetch fetch;
        there = pw_mask_or(there, &start);
        pw_residency_decide_explicit(r, 0, &there, &fetch);
        pw_residency_decide(r, 0, &asked, &fetch);
        for (unsigned leaf = 0; leaf < 4; leaf++)
            assert_int_equal(pw_mask_count_range(&fetch.prefetched, leaf * PW_LEAF_PAGES, (leaf + 1) * PW_LEAF_PAGES),
                             rows[k].in_leaf[leaf]);
        managed_destroy(r);
    }
}

/* uvm-fig6-policy, uvm-fig9-policy: TBN until memory is full, from then on single pages, whatever evicts. */
static void prefetching_stops_for_good_when_memory_is_full(void **state)
{
    (void)state;
    const char *evictions[] = {"lru4k", "random", "sl", "tbn"};
    for (unsigned k = 0; k < 4; k++) {
        struct pw_residency *r = create("tbn", "none", evictions[k], BLOCK, 3);
        unsigned faults = 0;
        for (unsigned i = 0; i < BLOCK; i++)
            faults += managed_read(r, i).fault;
        assert_int_equal(faults, 6); /* leaves 0, 1, 2, then 4, 8, 16: each half brings the other */
        assert_false(pw_residency_is_full(r));
        struct managed_touch t = managed_read(r, BLOCK + 5);
        assert_true(pw_residency_is_full(r));
        assert_false(pw_mask_any(&t.in.prefetched));
        struct pw_eviction e;
        while (pw_residency_evict(r, &e))
            ;
        assert_int_equal(pw_residency_room(r), BLOCK);
        t = managed_read(r, 2 * BLOCK);
        assert_false(pw_mask_any(&t.in.prefetched));
        managed_destroy(r);
    }
}

/* uvm-sec72-prefetch-stays, uvm-fig11-combos: TBN until memory is full, then the prefetcher of the pair goes on. */
static void the_prefetcher_of_a_pair_goes_on_when_memory_is_full(void **state)
{
    (void)state;
    const struct {
        const char *prefetch, *evict;
        unsigned least, most; /* pages prefetched by a fault in an absent block */
    } pairs[] = {{"none", "lru4k", 0, 0}, {"random", "random", 1, 1}, {"sl", "sl", 15, 15}, {"tbn", "tbn", 15, 15}};
    for (unsigned k = 0; k < 4; k++) {
        struct pw_residency *r = create("tbn", pairs[k].prefetch, pairs[k].evict, BLOCK, 3);
        read_all(r, 0, BLOCK);
        assert_int_equal(counters(r)->far_faults, 6);
        struct managed_touch t = managed_read(r, BLOCK + 16);
        assert_true(pw_residency_is_full(r));
        assert_in_range(pw_mask_count(&t.in.prefetched), pairs[k].least, pairs[k].most);
        assert_true(t.pages_out >= 1 + pairs[k].least);
        managed_destroy(r);
    }
    /* With tbn on both sides whole nodes come and go: the third leaf still brings the fourth. */
    struct pw_residency *r = create("tbn", "tbn", "tbn", BLOCK, 3);
    read_all(r, 0, BLOCK);
    managed_read(r, BLOCK);
    managed_read(r, BLOCK + 16);
    struct managed_touch t = managed_read(r, BLOCK + 32);
    assert_int_equal(pw_mask_count(&t.in.prefetched), 31);
    managed_destroy(r);
}

/* uvm-sec42-buffer, uvm-sec42-buffer-disables */
static void a_free_page_buffer_is_kept_and_fills_memory_earlier(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("sl", "lru4k", 160);
    config.prefetch_full = policy_choice_or_same(&pw_prefetch_family, "none");
    config.free_buffer = 0.1;
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "data", 0, BLOCK_BYTES);
    for (unsigned leaf = 0; leaf < 9; leaf++)
        managed_read(r, leaf * PW_LEAF_PAGES);
    assert_int_equal(pw_residency_resident(r), 144);
    assert_false(pw_residency_is_full(r));
    assert_int_equal(pw_residency_buffer_short(r), 0);
    /* 16 pages are free, but they are the buffer: prefetching stops although they would hold the 64 KB. */
    struct managed_touch t = managed_read(r, 300);
    assert_true(pw_residency_is_full(r));
    assert_false(pw_mask_any(&t.in.prefetched));
    assert_int_equal(t.pages_out, 0);
    assert_int_equal(pw_residency_buffer_short(r), 1);
    struct pw_eviction e;
    assert_true(pw_residency_evict(r, &e));
    assert_int_equal(pw_residency_buffer_short(r), 0);
    managed_destroy(r);
}

/* uvm-sec5-unused, uvm-sec53-lru-classic: prefetched pages that were not accessed leave only when no others are
 * left. */
static void classic_lru_spares_pages_that_nobody_used(void **state)
{
    (void)state;
    struct pw_residency *r = create("sl", "sl", "lru4k", BLOCK, 2);
    managed_read(r, 0);
    managed_read(r, 40);
    managed_read(r, 3);
    const uint64_t expected[] = {0, 40, 3, 1, 2, 4};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(evict_one(r), expected[i]);
    managed_destroy(r);
}

/* uvm-sec51-sle, uvm-sec51-writeback, uvm-sec53-lru-remove, uvm-sec53-lru-all-valid, uvm-sec53-lru-insert */
static void sequential_local_eviction_takes_64_kb_used_or_not_clean_or_dirty(void **state)
{
    (void)state;
    struct pw_residency *r = create("sl", "sl", "sl", BLOCK, 2);
    struct pw_eviction e;
    managed_access(r, managed_page(r, 37), true);
    managed_read(r, 5);
    assert_true(pw_residency_evict(r, &e));
    struct pw_page_mask expected = pw_mask_range(32, 48);
    assert_memory_equal(&e.pages, &expected, sizeof expected);
    assert_memory_equal(&e.written, &expected, sizeof expected);
    assert_int_equal(counters(r)->prefetched_evicted, 15);
    assert_int_equal(pw_residency_resident(r), 16);
    managed_check(r); /* the order lists the 16 pages that are left and no others */
    /* A leaf that only the explicit call brought in, and nobody used, is in the list too: here it is the oldest. */
    struct pw_page_mask wanted = pw_mask_range(64, 80);
    struct pw_fetch fetch;
    pw_residency_decide_explicit(r, 0, &wanted, &fetch);
    pw_residency_grant(r, 0, &fetch.prefetched);
    pw_residency_arrive(r, 0, &fetch.prefetched);
    managed_read(r, 5);
    assert_true(pw_residency_evict(r, &e));
    assert_memory_equal(&e.pages, &wanted, sizeof wanted);
    managed_destroy(r);
}

/* uvm-sec53-hier-2m, uvm-sec53-hier-64k, uvm-sec53-hier-consequence */
static void the_oldest_64_kb_of_the_oldest_2_mb_leaves_first(void **state)
{
    (void)state;
    struct pw_residency *r = create("sl", "sl", "sl", 4 * BLOCK, 3);
    managed_read(r, 2 * BLOCK + 100); /* the oldest 64 KB of all, but its block is touched last */
    managed_read(r, BLOCK + 300);
    managed_read(r, BLOCK + 16);
    managed_read(r, BLOCK + 200);
    managed_read(r, BLOCK + 20);
    managed_read(r, 7);
    managed_read(r, 2 * BLOCK + 50);
    const uint64_t expected[] = {BLOCK + 288, BLOCK + 192, BLOCK + 16, 0, 2 * BLOCK + 96, 2 * BLOCK + 48};
    for (unsigned i = 0; i < 6; i++) {
        unsigned count;
        assert_int_equal(evict_first(r, &count), expected[i]);
        assert_int_equal(count, 16);
    }
    managed_destroy(r);
}

/* uvm-sec53-n-plus-1 */
static void a_loop_over_one_page_too_many_faults_on_every_access(void **state)
{
    (void)state;
    enum { N = 100 };
    for (unsigned extra = 0; extra < 2; extra++) {
        struct pw_residency *r = create("none", "none", "lru4k", N, 1);
        unsigned faults = 0;
        for (unsigned i = 0; i < 10 * (N + extra); i++)
            faults += managed_read(r, i % (N + extra)).fault;
        assert_int_equal(faults, extra ? 10 * (N + 1) : N);
        assert_int_equal(counters(r)->pages_thrashed, extra ? 9 * (N + 1) : 0);
        managed_destroy(r);
    }
}

/* uvm-sec53-reserve: the oldest tenth is no candidate, and the loop over N+1 pages finds it again. */
static void reserved_pages_at_the_old_end_stay(void **state)
{
    (void)state;
    enum { N = 100 };
    struct pw_residency_config config = managed_config("none", "lru4k", N);
    config.reserve = 0.1;
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "data", 0, BLOCK_BYTES);
    read_all(r, 0, N + 1);
    for (unsigned i = 0; i <= N; i++)
        assert_int_equal(managed_has(r, i), i != 10);
    unsigned faults = 0;
    for (unsigned i = 0; i < 9 * (N + 1); i++)
        faults += managed_read(r, i % (N + 1)).fault;
    assert_in_range(faults, 1, 9 * (N + 1) * 95 / 100);
    managed_destroy(r);

    /* By blocks: 10% of 20 leaves are the two oldest ones. */
    config = managed_config("sl", "sl", 4 * BLOCK);
    config.reserve = 0.1;
    r = managed_create(&config);
    managed_add(r, "data", 0, 2 * BLOCK_BYTES);
    read_all(r, 0, 20 * PW_LEAF_PAGES);
    unsigned count;
    assert_int_equal(evict_first(r, &count), 2 * PW_LEAF_PAGES);
    managed_destroy(r);
}

/* uvm-sec53-reserve: reserved pages do not leave with a candidate of the same 2 MB either, unless they are kept from
 * being candidates only. A quarter of 512 pages are the leaves 0 to 7. */
static void reserved_pages_do_not_leave_with_a_candidate(void **state)
{
    (void)state;
    const struct {
        const char *evict;
        enum pw_reserve_from from;
        uint64_t first;
        unsigned count, then;
    } rows[] = {
        /* When leaf 8 has gone, a quarter of 496 pages ends within leaf 7, of which four pages may leave. */
        {"sl", PW_RESERVE_FROM_EVICTION, 8 * PW_LEAF_PAGES, 16, 4},
        {"sl", PW_RESERVE_FROM_CANDIDATES, 8 * PW_LEAF_PAGES, 16, 16},
        {"tbn", PW_RESERVE_FROM_EVICTION, 8 * PW_LEAF_PAGES, 16, 4},
        {"tbn", PW_RESERVE_FROM_CANDIDATES, 8 * PW_LEAF_PAGES, 16, 16},
        {"lru2m", PW_RESERVE_FROM_EVICTION, 8 * PW_LEAF_PAGES, 384, 96},
        {"lru2m", PW_RESERVE_FROM_CANDIDATES, 0, 512, 0},
    };
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct pw_residency_config config = managed_config("none", rows[k].evict, 4 * BLOCK);
        config.reserve = 0.25;
        config.reserve_from = rows[k].from;
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 0, BLOCK_BYTES);
        read_all(r, 0, BLOCK);
        unsigned count;
        assert_int_equal(evict_first(r, &count), rows[k].first);
        assert_int_equal(count, rows[k].count);
        if (rows[k].then)
            evict_first(r, &count);
        assert_int_equal(count, rows[k].then ? rows[k].then : rows[k].count);
        managed_destroy(r);
    }

    /* The tree's cascade: without leaf 4, less than half of 16 leaves are there, and all go but the oldest four. */
    for (unsigned from = PW_RESERVE_FROM_EVICTION; from <= PW_RESERVE_FROM_CANDIDATES; from++) {
        struct pw_residency_config config = managed_config("none", "tbn", 4 * BLOCK);
        config.reserve = 0.5;
        config.reserve_from = from;
        struct pw_residency *r = managed_create(&config);
        managed_add(r, "data", 0, 16 * 64 * KB);
        read_all(r, 0, 7 * PW_LEAF_PAGES);
        read_all(r, 8 * PW_LEAF_PAGES, 9 * PW_LEAF_PAGES);
        unsigned count;
        assert_int_equal(evict_first(r, &count), from == PW_RESERVE_FROM_EVICTION ? 4 * PW_LEAF_PAGES : 0);
        assert_int_equal(count, (from == PW_RESERVE_FROM_EVICTION ? 4 : 8) * PW_LEAF_PAGES);
        managed_destroy(r);
    }
}

/* uvm-sec75-2m */
static void lru_of_2_mb_sends_a_whole_block_away(void **state)
{
    (void)state;
    struct pw_residency *r = create("tbn", "tbn", "lru2m", 3 * BLOCK, 3);
    unsigned count;
    read_all(r, 0, 2 * BLOCK + 40);
    managed_read(r, 9);
    assert_int_equal(evict_first(r, &count), BLOCK);
    assert_int_equal(count, BLOCK);
    assert_int_equal(evict_first(r, &count), 2 * BLOCK);
    assert_int_equal(count, 64); /* three leaves brought the fourth */
    assert_int_equal(counters(r)->pages_written, BLOCK + 64);
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_takes_no_memory_until_a_page_is_touched),
        cmocka_unit_test(lru_evicts_the_page_accessed_longest_ago),
        cmocka_unit_test(a_touch_makes_its_64_kb_and_its_2_mb_the_youngest),
        cmocka_unit_test(random_evicts_any_page_whenever_it_was_accessed),
        cmocka_unit_test(single_evictions_leave_the_prefetcher_no_whole_block),
        cmocka_unit_test(a_block_that_is_there_in_part_is_not_prefetched),
        cmocka_unit_test(prefetching_stops_for_good_when_memory_is_full),
        cmocka_unit_test(the_prefetcher_of_a_pair_goes_on_when_memory_is_full),
        cmocka_unit_test(a_free_page_buffer_is_kept_and_fills_memory_earlier),
        cmocka_unit_test(classic_lru_spares_pages_that_nobody_used),
        cmocka_unit_test(sequential_local_eviction_takes_64_kb_used_or_not_clean_or_dirty),
        cmocka_unit_test(the_oldest_64_kb_of_the_oldest_2_mb_leaves_first),
        cmocka_unit_test(a_loop_over_one_page_too_many_faults_on_every_access),
        cmocka_unit_test(reserved_pages_at_the_old_end_stay),
        cmocka_unit_test(reserved_pages_do_not_leave_with_a_candidate),
        cmocka_unit_test(lru_of_2_mb_sends_a_whole_block_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
