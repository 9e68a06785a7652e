/* The worked examples of the UVM paper, step by step: Figures 2(a) and 2(b) (tree-based prefetching) and 8 (tree-based
 * eviction), and what Sections 3 and 5 say of the same trees. Rows of the claims are named where they are decided. */
#include "managed.h"

enum { KB = 1024, PAGE_KB = 4, LEAF_KB = 64, BASE = 11 * PW_BLOCK_PAGES };

/* The leaves (64 KiB) that a mask holds whole, as a bit each; a leaf held in part fails. */
static unsigned leaves_of(const struct pw_page_mask *m)
{
    unsigned leaves = 0;
    for (unsigned i = 0; i < PW_BLOCK_LEAVES; i++) {
        unsigned count = pw_mask_count_range(m, i * PW_LEAF_PAGES, (i + 1) * PW_LEAF_PAGES);
        if (count)
            assert_int_equal(count, PW_LEAF_PAGES);
        leaves |= (unsigned)(count != 0) << i;
    }
    return leaves;
}

#define LEAF(i) (1U << (i))

static struct pw_page_mask leaf_mask(unsigned leaves)
{
    struct pw_page_mask m = {0};
    for (unsigned i = 0; i < PW_BLOCK_LEAVES; i++)
        if (leaves >> i & 1) {
            struct pw_page_mask leaf = pw_mask_range(i * PW_LEAF_PAGES, (i + 1) * PW_LEAF_PAGES);
            m = pw_mask_or(m, &leaf);
        }
    return m;
}

/* The valid size of a node, in KB. */
static unsigned node_kb(const struct pw_residency *r, unsigned height, unsigned index)
{
    unsigned pages = PW_LEAF_PAGES << height, valid = 0;
    for (unsigned i = index * pages; i < (index + 1) * pages; i++)
        valid += managed_has(r, BASE + i);
    return valid * PAGE_KB;
}

/* Touches the first byte of a leaf of the block at BASE; returns the leaves that came. */
static unsigned touch_leaf(struct pw_residency *r, unsigned leaf, struct managed_touch *out)
{
    *out = managed_read(r, BASE + leaf * PW_LEAF_PAGES);
    struct pw_page_mask all = pw_mask_or(out->in.faulted, &out->in.prefetched);
    return leaves_of(&all);
}

/* Sizes of the transfers in KB: the pages that faulted, then each run of prefetched ones. */
static unsigned transfers(const struct pw_fetch *fetch, unsigned *out_kb)
{
    unsigned count = 0, first, outer;
    for (unsigned at = 0; pw_mask_next_run(&fetch->faulted, at, &first, &outer); at = outer)
        out_kb[count++] = (outer - first) * PAGE_KB;
    for (unsigned at = 0; pw_mask_next_run(&fetch->prefetched, at, &first, &outer); at = outer)
        out_kb[count++] = (outer - first) * PAGE_KB;
    return count;
}

static void assert_split(const struct pw_fetch *fetch, unsigned fault_kb, unsigned prefetch_kb)
{
    unsigned kb[PW_BLOCK_PAGES];
    assert_int_equal(transfers(fetch, kb), 2);
    assert_int_equal(kb[0], fault_kb);
    assert_int_equal(kb[1], prefetch_kb);
}

/* What tbn adds to faults in `faulted` (the first page of each leaf) of a tree of `leaves` leaves. */
static unsigned tbn_adds(unsigned leaves, unsigned valid, unsigned faulted)
{
    struct pw_prefetch_view view = {.exists = pw_mask_range(0, leaves * PW_LEAF_PAGES),
                                    .resident = leaf_mask(valid),
                                    .tree_pages = leaves * PW_LEAF_PAGES};
    for (unsigned i = 0; i < leaves; i++)
        if (faulted >> i & 1)
            pw_mask_add(&view.faulted, i * PW_LEAF_PAGES);
    struct pw_page_mask out = managed_prefetch("tbn", &view);
    out = pw_mask_or(out, &view.faulted);
    return leaves_of(&out);
}

/* What tbn sends away with a candidate in a leaf of a tree of `leaves` leaves. */
static unsigned tbn_removes(unsigned leaves, unsigned valid, unsigned candidate)
{
    struct pw_evict_view view = {
        .resident = leaf_mask(valid), .candidate = candidate * PW_LEAF_PAGES, .tree_pages = leaves * PW_LEAF_PAGES};
    struct pw_page_mask out = managed_evict("tbn", &view);
    return leaves_of(&out);
}

static struct pw_residency *example(const char *prefetch, const char *evict)
{
    struct pw_residency_config config = managed_config(prefetch, evict, 128);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 512 * KB);
    return r;
}

static void figure_2a(void **state)
{
    (void)state;
    struct managed_touch t;
    struct pw_residency *r = example("tbn", "tbn");
    /* uvm-fig2a-00-setup */
    assert_int_equal(pw_residency_range(r, 0)->pages, 8 * PW_LEAF_PAGES);
    assert_int_equal(node_kb(r, 3, 0), 0);
    const struct {
        const char *row;
        unsigned leaf;
    } steps[] = {{"uvm-fig2a-01-fault-1", 1},
                 {"uvm-fig2a-02-fault-3", 3},
                 {"uvm-fig2a-03-fault-5", 5},
                 {"uvm-fig2a-04-fault-7", 7}};
    for (unsigned i = 0; i < 4; i++) {
        if (touch_leaf(r, steps[i].leaf, &t) != LEAF(steps[i].leaf) || !t.fault)
            fail_msg("%s", steps[i].row);
        assert_split(&t.in, 4, 60); /* uvm-fig2a-05-split */
        if (steps[i].leaf == 1)
            assert_int_equal(node_kb(r, 1, 0), 64);
        if (steps[i].leaf == 3)
            assert_int_equal(node_kb(r, 2, 0), 128);
    }
    assert_int_equal(node_kb(r, 3, 0), 256);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(node_kb(r, 1, i), 64); /* uvm-fig2a-06-state */
    /* uvm-fig2a-07-fault-0, uvm-fig2a-08-prefetch-2: blocks 0, 1 and 3 are 192 of the left half's 256 KB, the first
     * node of height 1 being full; seen alone, the half takes block 2. */
    assert_int_equal(tbn_adds(2, LEAF(1), LEAF(0)), LEAF(0));
    assert_int_equal(tbn_adds(4, LEAF(1) | LEAF(3), LEAF(0)), LEAF(0) | LEAF(2));
    /* uvm-fig2a-09-root, uvm-fig2a-10-prefetch-46: six blocks are 384 of 512 KB. Without blocks 5 and 7 the root would
     * hold no more than half after block 2, and the right half would stay. */
    assert_int_equal(tbn_adds(8, LEAF(1) | LEAF(3), LEAF(0)), LEAF(0) | LEAF(2));
    assert_int_equal(touch_leaf(r, 0, &t), LEAF(0) | LEAF(2) | LEAF(4) | LEAF(6));
    assert_true(t.fault);
    /* uvm-fig2a-11-end */
    assert_int_equal(node_kb(r, 3, 0), 512);
    for (unsigned i = 0; i < 8 * PW_LEAF_PAGES; i++)
        assert_false(managed_read(r, BASE + i).fault);
    assert_int_equal(pw_residency_counters(r)[0].far_faults, 5);
    managed_destroy(r);
}

static void figure_2b(void **state)
{
    (void)state;
    struct managed_touch t;
    struct pw_residency *r = example("tbn", "tbn");
    assert_int_equal(node_kb(r, 3, 0), 0);           /* uvm-fig2b-00-setup */
    assert_int_equal(touch_leaf(r, 1, &t), LEAF(1)); /* uvm-fig2b-01-fault-1 */
    assert_int_equal(touch_leaf(r, 3, &t), LEAF(3)); /* uvm-fig2b-02-fault-3 */
    assert_int_equal(node_kb(r, 1, 0), 64);
    assert_int_equal(node_kb(r, 1, 1), 64);
    /* uvm-fig2b-03-fault-0, uvm-fig2b-04-prefetch-2: 192 of 256 KB */
    assert_int_equal(touch_leaf(r, 0, &t), LEAF(0) | LEAF(2));
    assert_int_equal(node_kb(r, 1, 0), 128);
    assert_int_equal(node_kb(r, 2, 0), 256); /* uvm-fig2b-05-balanced */
    assert_int_equal(node_kb(r, 3, 0), 256);
    /* uvm-fig2b-06-fault-4, uvm-fig2b-07-prefetch-567: the fault lifts the root to 320 KB */
    assert_int_equal(touch_leaf(r, 4, &t), LEAF(4) | LEAF(5) | LEAF(6) | LEAF(7));
    /* uvm-fig2b-08-group, uvm-fig2b-09-split, uvm-sec33-group */
    struct pw_page_mask all = pw_mask_or(t.in.faulted, &t.in.prefetched);
    unsigned first, outer;
    assert_true(pw_mask_next_run(&all, 0, &first, &outer));
    assert_int_equal((outer - first) * PAGE_KB, 256);
    assert_false(pw_mask_next_run(&all, outer, &first, &outer));
    assert_split(&t.in, 4, 252);
    /* uvm-fig2b-10-end */
    assert_int_equal(node_kb(r, 3, 0), 512);
    assert_int_equal(pw_residency_counters(r)[0].far_faults, 4);
    managed_destroy(r);
}

/* Evicts once; the leaves that left. */
static unsigned evict(struct pw_residency *r, struct pw_eviction *out)
{
    assert_true(pw_residency_evict(r, out));
    return leaves_of(&out->pages);
}

static void figure_8(void **state)
{
    (void)state;
    struct pw_eviction e;
    struct pw_residency *r = example("none", "tbn");
    const unsigned oldest_first[] = {1, 3, 4, 0, 2, 5, 6, 7};
    for (unsigned i = 0; i < 8; i++)
        for (unsigned page = 0; page < PW_LEAF_PAGES; page++)
            managed_read(r, BASE + oldest_first[i] * PW_LEAF_PAGES + page);
    assert_int_equal(node_kb(r, 3, 0), 512); /* uvm-fig8-00-setup */
    assert_int_equal(evict(r, &e), LEAF(1)); /* uvm-fig8-01-evict-1, uvm-sec52-tbne-first */
    assert_int_equal(node_kb(r, 1, 0), 64);  /* uvm-sec52-tbne-equal */
    assert_int_equal(evict(r, &e), LEAF(3)); /* uvm-fig8-02-evict-3 */
    assert_int_equal(node_kb(r, 2, 0), 128);
    assert_int_equal(evict(r, &e), LEAF(4)); /* uvm-fig8-03-evict-4 */
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(node_kb(r, 1, i), 64); /* uvm-fig8-04-state-h1, uvm-sec52-tbne-update */
    assert_int_equal(node_kb(r, 2, 0), 128);    /* uvm-fig8-05-state-h2 */
    assert_int_equal(node_kb(r, 2, 1), 192);
    assert_int_equal(node_kb(r, 3, 0), 320);
    /* uvm-fig8-06-evict-0, uvm-fig8-07-cascade-2: without block 0 the left half has 64 of 256 KB; seen alone, it loses
     * block 2 too, and its own first node nothing more. */
    assert_int_equal(tbn_removes(2, LEAF(0), 0), LEAF(0));
    assert_int_equal(tbn_removes(4, LEAF(0) | LEAF(2), 0), LEAF(0) | LEAF(2));
    /* uvm-fig8-08-root, uvm-fig8-09-cascade-567: 192 of 512 KB are left; with block 4 it would be half, and stay. */
    assert_int_equal(tbn_removes(8, LEAF(0) | LEAF(2) | LEAF(4) | LEAF(5) | LEAF(6) | LEAF(7), 0), LEAF(0) | LEAF(2));
    assert_int_equal(evict(r, &e), LEAF(0) | LEAF(2) | LEAF(5) | LEAF(6) | LEAF(7));
    /* uvm-fig8-10-group: of the runs that are written the last is 192 KB. */
    unsigned first = 0, outer = 0, last_kb = 0;
    for (unsigned at = 0; pw_mask_next_run(&e.written, at, &first, &outer); at = outer)
        last_kb = (outer - first) * PAGE_KB;
    assert_int_equal(last_kb, 192);
    /* uvm-fig8-11-end */
    assert_int_equal(node_kb(r, 3, 0), 0);
    assert_int_equal(pw_residency_counters(r)[0].pages_evicted, 8 * PW_LEAF_PAGES);
    assert_false(pw_residency_evict(r, &e));
    managed_destroy(r);
}

/* uvm-sec33-split, uvm-sec33-full, uvm-sec33-round, uvm-sec33-round-ex, uvm-sec33-round-trees */
static void allocations_are_rounded_to_full_trees(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("tbn", "tbn", 1 << 20);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 4096 * KB + 192 * KB);
    assert_int_equal(pw_residency_range(r, 0)->pages * PAGE_KB, 4352);
    assert_int_equal(pw_residency_range(r, 0)->block_count, 3);
    assert_int_not_equal(pw_residency_find(r, 0, (pw_vpn){13 * PW_BLOCK_PAGES + 63}), PW_NO_PAGE);
    assert_int_equal(pw_residency_find(r, 0, (pw_vpn){13 * PW_BLOCK_PAGES + 64}), PW_NO_PAGE);
    /* The third tree has four leaves: two are half of it, the third brings the fourth. */
    assert_int_equal(managed_read(r, 13 * PW_BLOCK_PAGES).fault, true);
    assert_true(managed_read(r, 13 * PW_BLOCK_PAGES + 32).fault);
    struct managed_touch t = managed_read(r, 13 * PW_BLOCK_PAGES + 16);
    assert_int_equal(pw_mask_count(&t.in.faulted) + pw_mask_count(&t.in.prefetched), 32);
    assert_true(managed_has(r, 13 * PW_BLOCK_PAGES + 63));
    managed_destroy(r);
    const unsigned kb[][2] = {{4, 64},    {64, 64},     {68, 128},    {192, 256},
                              {260, 512}, {1028, 2048}, {2048, 2048}, {2052, 2112}};
    for (unsigned i = 0; i < sizeof kb / sizeof kb[0]; i++) {
        r = managed_create(&config);
        managed_add(r, "example", 11, (uint64_t)kb[i][0] * KB);
        assert_int_equal(pw_residency_range(r, 0)->pages * PAGE_KB, kb[i][1]);
        managed_destroy(r);
    }
}

/* uvm-sec33-capacity, uvm-sec33-threshold, uvm-sec33-equal-half, uvm-sec33-validate16, uvm-sec33-validsize: at each
 * height, a node with exactly half of its leaves stays, and one leaf more, even of which only a page faulted, fills
 * it. */
/* uvm-sec52-tbne-tree: what leaves is decided in the tree that decides what comes, which of what remains of an
 * allocation beyond 2 MB is one of its own: of its four leaves the third to leave takes the last along, and no other
 * does. */
static void eviction_goes_by_the_trees_of_the_prefetcher(void **state)
{
    (void)state;
    enum { REST = BASE + PW_BLOCK_PAGES };
    struct pw_residency_config config = managed_config("tbn", "tbn", 1 << 20);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 2048 * KB + 256 * KB);
    for (unsigned i = 0; i < 64; i++)
        managed_read(r, REST + i);
    static const unsigned left[] = {192, 128, 0}; /* KB */
    for (unsigned i = 0; i < 3; i++) {
        struct pw_eviction e;
        assert_true(pw_residency_evict(r, &e));
        assert_int_equal(pw_residency_resident(r) * PAGE_KB, left[i]);
    }
    managed_destroy(r);
}

static void a_node_is_filled_beyond_half_of_its_capacity(void **state)
{
    (void)state;
    for (unsigned height = 1; height <= 5; height++) {
        unsigned leaves = 1U << height;
        uint32_t every_other = 0x55555555U & (uint32_t)((1ULL << leaves) - 1), all = (uint32_t)((1ULL << leaves) - 1);
        assert_int_equal(tbn_adds(leaves, every_other & ~LEAF(0), LEAF(0)), LEAF(0));
        assert_int_equal(tbn_adds(leaves, every_other, LEAF(1)), all & ~every_other);
    }
}

/* uvm-sec33-scope: a block full but for a leaf brings nothing of its neighbour. */
static void prefetching_stays_in_its_tree(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("tbn", "tbn", 1 << 20);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 4096 * KB);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        managed_read(r, BASE + i);
    assert_int_equal(pw_residency_resident(r), PW_BLOCK_PAGES);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        assert_false(managed_has(r, BASE + PW_BLOCK_PAGES + i));
    managed_destroy(r);
}

/* Leaves that come (or leave) with one fault (or candidate), at least and at most, over random orders from an empty
 * tree to a full one and back. */
static void measure_range(bool filling, unsigned *out_least, unsigned *out_most)
{
    struct pw_random random;
    pw_random_init(&random, 1, "figures");
    *out_least = 32;
    *out_most = 0;
    for (unsigned round = 0; round < 3000; round++)
        for (uint32_t moved = 0; moved != UINT32_MAX;) {
            unsigned leaf = (unsigned)pw_random_below(&random, 32);
            if (moved >> leaf & 1)
                continue;
            uint32_t now = filling ? tbn_adds(32, moved, LEAF(leaf)) : tbn_removes(32, ~moved, leaf);
            unsigned count = (unsigned)__builtin_popcount(now);
            *out_least = count < *out_least ? count : *out_least;
            *out_most = count > *out_most ? count : *out_most;
            moved |= now;
        }
}

/* uvm-sec33-min, uvm-sec33-max, uvm-sec33-1020, uvm-sec52-tbne-range, uvm-sec1-adaptive.
 *
 * The largest is 1 MB where one node is filled or emptied, as in the paper's example. Its rule, repeated until nothing
 * changes, chains further in rare states: with one leaf valid beside each node on the way to the root, a fault fills
 * them one after the other and brings 27 leaves, all but those five. That follows from the rule of Figure 2(a), so it
 * stands. */
static void migrations_and_evictions_lie_between_64_kb_and_1_mb(void **state)
{
    (void)state;
    unsigned least, most;
    struct managed_touch t;
    struct pw_residency_config config = managed_config("tbn", "tbn", 512);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 2048 * KB);
    for (unsigned i = 0; i < 256; i++)
        managed_read(r, BASE + i);
    assert_int_equal(node_kb(r, 5, 0), 1024);
    assert_int_equal(touch_leaf(r, 16, &t), 0xffff0000);
    assert_split(&t.in, 4, 1020);
    managed_destroy(r);
    assert_int_equal(tbn_removes(32, 0x0000ffff, 15), 0x0000ffff); /* the half that is left, 1 MB */

    const uint32_t beside = LEAF(1) | LEAF(3) | LEAF(7) | LEAF(15) | LEAF(31);
    assert_int_equal(tbn_adds(32, beside, LEAF(0)), ~beside);
    assert_int_equal(tbn_removes(32, ~beside, 0), ~beside);
    measure_range(true, &least, &most);
    assert_int_equal(least * LEAF_KB, 64);
    assert_in_range(most * LEAF_KB, 1024, 27 * LEAF_KB);
    measure_range(false, &least, &most);
    assert_int_equal(least * LEAF_KB, 64);
    assert_in_range(most * LEAF_KB, 1024, 27 * LEAF_KB);
}

/* The paper's process, literally: as long as there is a node beyond half that is not full, fill it. */
static uint32_t fill_until_nothing_changes(uint32_t valid, bool filling)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned height = 5; height >= 1; height--)
            for (unsigned first = 0; first < 32; first += 1U << height) {
                unsigned capacity = 1U << height;
                uint32_t node = (uint32_t)((1ULL << capacity) - 1) << first;
                unsigned count = (unsigned)__builtin_popcount(valid & node);
                if (filling && 2 * count > capacity && count < capacity) {
                    valid |= node;
                    changed = true;
                } else if (!filling && 2 * count < capacity && count) {
                    valid &= ~node;
                    changed = true;
                }
            }
    }
    return valid;
}

/* uvm-sec33-recursion, uvm-sec33-fixpoint, uvm-sec52-tbne-threshold, uvm-sec52-tbne-recursion */
static void trees_end_where_repetition_ends(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 2, "figures");
    for (unsigned round = 0; round < 5000; round++) {
        uint32_t valid = (uint32_t)pw_random_next(&random);
        if (round % 3)
            valid =
                round % 3 == 1 ? valid & (uint32_t)pw_random_next(&random) : valid | (uint32_t)pw_random_next(&random);
        unsigned leaf = (unsigned)pw_random_below(&random, 32);
        uint32_t before = valid & ~LEAF(leaf);
        assert_int_equal(before | tbn_adds(32, before, LEAF(leaf)),
                         fill_until_nothing_changes(before | LEAF(leaf), true));
        assert_int_equal((valid | LEAF(leaf)) & ~tbn_removes(32, valid | LEAF(leaf), leaf),
                         fill_until_nothing_changes(before, false));
    }
}

/* uvm-sec32-sl-block, uvm-sec32-sl-pages, uvm-sec32-sl-rule, uvm-sec32-sl-anywhere, uvm-sec32-sl-groups,
 * uvm-sec41-sl-max */
static void sequential_local_brings_the_aligned_64_kb(void **state)
{
    (void)state;
    for (unsigned page = 0; page < 3 * PW_LEAF_PAGES; page++) {
        struct pw_residency *r = example("sl", "sl");
        struct managed_touch t = managed_read(r, BASE + page);
        unsigned kb[PW_BLOCK_PAGES], in_leaf = page % PW_LEAF_PAGES;
        struct pw_page_mask all = pw_mask_or(t.in.faulted, &t.in.prefetched);
        assert_int_equal(leaves_of(&all), LEAF(page / PW_LEAF_PAGES));
        unsigned count = transfers(&t.in, kb);
        assert_int_equal(count, in_leaf == 0 || in_leaf == 15 ? 2 : 3);
        assert_int_equal(kb[0], 4);
        assert_int_equal(kb[1], in_leaf == 0 ? 60 : in_leaf * PAGE_KB);
        managed_destroy(r);
    }
}

/* uvm-sec32-sl-merge */
static void faults_in_one_basic_block_are_one_candidate(void **state)
{
    (void)state;
    struct pw_residency *r = example("sl", "sl");
    struct pw_page_mask asked = {0};
    struct pw_fetch fetch;
    pw_mask_add(&asked, 17);
    pw_mask_add(&asked, 20);
    pw_mask_add(&asked, 21);
    pw_residency_decide(r, 0, &asked, &fetch);
    assert_int_equal(pw_mask_count(&fetch.faulted), 3);
    assert_int_equal(pw_mask_count(&fetch.prefetched), 13);
    struct pw_page_mask all = pw_mask_or(fetch.faulted, &fetch.prefetched);
    assert_int_equal(leaves_of(&all), LEAF(1));
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2a),
        cmocka_unit_test(figure_2b),
        cmocka_unit_test(figure_8),
        cmocka_unit_test(allocations_are_rounded_to_full_trees),
        cmocka_unit_test(eviction_goes_by_the_trees_of_the_prefetcher),
        cmocka_unit_test(a_node_is_filled_beyond_half_of_its_capacity),
        cmocka_unit_test(prefetching_stays_in_its_tree),
        cmocka_unit_test(migrations_and_evictions_lie_between_64_kb_and_1_mb),
        cmocka_unit_test(trees_end_where_repetition_ends),
        cmocka_unit_test(sequential_local_brings_the_aligned_64_kb),
        cmocka_unit_test(faults_in_one_basic_block_are_one_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
