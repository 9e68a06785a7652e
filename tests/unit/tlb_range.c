/* Ranges beside page entries (policy/tlb/range.c): how far they reach, what replaces them, what a shootdown leaves, and
 * that no lookup ever gives what the page table has not. */
#include "policies.h"
#include "policy/tlb/tlb_policy.h"
#include "sim/cost.h"
#include "sim/random.h"
#include "vm/page_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ASIDS = 3, WALK = 77 };

struct counters {
    uint64_t hits, fills, pages;
};

struct fixture {
    struct pw_frames *frames;
    struct pw_page_table *tables[ASIDS];
    const struct pw_page_table *by_asid[PW_MAX_APPS];
    const struct pw_tlb_policy *policy;
    struct pw_policy_use use;
    struct pw_tlb_shape shape;
    void *t;
};

/* A TLB of four page entries and so many ranges, over empty page tables. */
static struct fixture create(const char *ranges, enum pw_page_order order)
{
    struct fixture x = {.policy = pw_tlb_policy_of(policy_named(&pw_tlb_family, "range"))};
    struct pw_policy_choice choice = policy_choice(&pw_tlb_family, "range");
    struct pw_error err = {0};
    assert_int_equal(pw_frames_create(64ULL << 20, &x.frames, &err), PW_OK);
    for (unsigned a = 0; a < ASIDS; a++) {
        struct pw_page_table_config config = {.asid = (pw_asid)a,
                                              .entry_stride = 8,
                                              .frames = x.frames,
                                              .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
        assert_int_equal(pw_page_table_create(&config, &x.tables[a], &err), PW_OK);
        x.by_asid[a] = x.tables[a];
    }
    policy_set(&pw_tlb_family, &choice, "ranges", ranges);
    policy_set(&pw_tlb_family, &choice, "walk", "77");
    assert_int_equal(pw_policy_use_init(&x.use, NULL, "tlb", &x.policy->head, &choice, ASIDS, &err), PW_OK);
    x.shape = (struct pw_tlb_shape){.entries = 4, .subpages = 1, .order = (uint8_t)order};
    return x;
}

static void make(struct fixture *x)
{
    struct pw_error err = {0};
    x->shape.tables = x->by_asid;
    if (pw_policy_use_add(&x->use, &x->shape, &x->t, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static void destroy(struct fixture *x)
{
    pw_policy_use_release(&x->use);
    for (unsigned a = 0; a < ASIDS; a++)
        pw_page_table_destroy(x->tables[a]);
    pw_frames_destroy(x->frames);
}

static const struct counters *counters_of(const struct fixture *x, unsigned asid)
{
    return &((const struct counters *)x->use.counters)[asid];
}

static void map(struct fixture *x, unsigned asid, uint64_t page, uint32_t word)
{
    struct pw_error err = {0};
    if (pw_page_table_map(x->tables[asid], (pw_vpn){page << x->shape.order}, (pw_pfn){word},
                          (enum pw_page_order)x->shape.order, &err) != PW_OK)
        fail_msg("%s", err.message);
}

/* Pages [first, outer) to consecutive frames. */
static void map_run(struct fixture *x, unsigned asid, uint64_t first, uint64_t outer, uint32_t frame)
{
    for (uint64_t page = first; page < outer; page++)
        map(x, asid, page, frame + (uint32_t)((page - first) << x->shape.order));
}

/* What a walk of this page does: returns whether it has brought a range. */
static bool walk(struct fixture *x, unsigned asid, uint64_t page)
{
    struct pw_tlb_key key = {page, (pw_asid)asid};
    struct pw_translation t = pw_page_table_lookup(x->tables[asid], (pw_vpn){page << x->shape.order});
    uint64_t fills = counters_of(x, asid)->fills;
    if (!t.present)
        return false;
    x->policy->insert(x->t, key, pw_frame_word(t.frame, t.denied), NULL);
    pw_cycle cycles = x->policy->late(x->t, key);
    if (cycles != PW_NEVER) {
        assert_int_equal(cycles, WALK);
        x->policy->insert_late(x->t, key);
    }
    return counters_of(x, asid)->fills > fills;
}

static bool hits(struct fixture *x, unsigned asid, uint64_t page)
{
    pw_pfn word = {0};
    if (!x->policy->lookup(x->t, (struct pw_tlb_key){page, (pw_asid)asid}, &word))
        return false;
    assert_true(pw_page_table_has_word(x->tables[asid], (pw_vpn){page << x->shape.order}, word));
    return true;
}

static unsigned count_hits(struct fixture *x, unsigned asid, uint64_t first, uint64_t outer)
{
    unsigned n = 0;
    for (uint64_t page = first; page < outer; page++)
        n += hits(x, asid, page);
    return n;
}

struct visits {
    const struct fixture *x;
    unsigned count;
};

static void visit(void *context, struct pw_tlb_key key, pw_pfn word)
{
    struct visits *v = context;
    assert_true(pw_page_table_has_word(v->x->tables[key.asid], (pw_vpn){key.page << v->x->shape.order}, word));
    v->count++;
}

/* Visits everything, each page as the page table has it. */
static unsigned stored(const struct fixture *x)
{
    struct visits v = {x, 0};
    x->policy->each(x->t, visit, &v);
    return v.count;
}

/* comp-sec53-range-os: a range is a run of consecutive pages on consecutive frames, as long as the operating system has
 * made it, and where there is none a walk brings one page. */
static void a_range_is_the_longest_run_of_the_page_table(void **state)
{
    (void)state;
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    for (unsigned o = 0; o < 3; o++) {
        struct fixture x = create("32", orders[o]);
        uint32_t step = 1U << orders[o];
        make(&x);
        map_run(&x, 0, 1024, 3000, 512);         /* longer than any line of the table, and over several of its nodes */
        map_run(&x, 0, 3000, 3100, 4096 * step); /* goes on elsewhere */
        map(&x, 0, 3101, 4197 * step);           /* after a page that is not mapped */
        map_run(&x, 1, 3100, 3102, 9000 * step); /* of another address space */
        assert_true(walk(&x, 0, 2000));
        assert_int_equal(counters_of(&x, 0)->pages, 1976);
        assert_int_equal(count_hits(&x, 0, 1000, 3110), 1976);
        assert_int_equal(counters_of(&x, 0)->hits, 1975); /* page 2000 has an entry of its own */
        assert_false(walk(&x, 0, 3101));
        assert_true(walk(&x, 0, 3099));
        assert_int_equal(count_hits(&x, 0, 1000, 3110), 1976 + 100 + 1);
        assert_int_equal(count_hits(&x, 1, 0, 4000), 0);
        assert_false(walk(&x, 0, 2001)); /* it is there */
        destroy(&x);
    }
}

static void other_permissions_end_a_range(void **state)
{
    (void)state;
    struct fixture x = create("32", PW_PAGE_4K);
    make(&x);
    map_run(&x, 0, 0, 100, 1000);
    pw_page_table_protect(x.tables[0], (pw_vpn){40}, (pw_vpn){50}, PW_MAY_WRITE);
    assert_true(walk(&x, 0, 45));
    assert_int_equal(count_hits(&x, 0, 0, 100), 10);
    assert_true(walk(&x, 0, 39));
    assert_int_equal(count_hits(&x, 0, 0, 100), 50);
    pw_pfn word;
    assert_true(x.policy->lookup(x.t, (struct pw_tlb_key){49, 0}, &word));
    assert_int_equal(pw_denied_of(word), PW_MAY_WRITE);
    destroy(&x);
}

static void a_base_range_ends_where_pages_are_large(void **state)
{
    (void)state;
    struct fixture x = create("32", PW_PAGE_4K);
    make(&x);
    map_run(&x, 0, 0, 1536, 1024);
    pw_page_table_set_large(x.tables[0], (pw_vpn){512}, true);
    assert_true(walk(&x, 0, 100));
    assert_int_equal(counters_of(&x, 0)->pages, 512);
    assert_true(walk(&x, 0, 1100));
    assert_int_equal(counters_of(&x, 0)->pages, 1024);
    destroy(&x);
}

static void the_least_recently_used_range_is_replaced(void **state)
{
    (void)state;
    struct fixture x = create("3", PW_PAGE_4K);
    make(&x);
    for (unsigned i = 0; i < 5; i++)
        map_run(&x, i % 2, i * 100, i * 100 + 10, 1000 + i * 1000);
    for (unsigned i = 0; i < 3; i++)
        assert_true(walk(&x, i % 2, i * 100));
    assert_true(hits(&x, 0, 5));
    assert_true(walk(&x, 1, 300)); /* in the place of the one at 100 */
    assert_false(hits(&x, 1, 105));
    assert_true(hits(&x, 0, 205) && hits(&x, 0, 6));
    assert_true(walk(&x, 0, 400)); /* in the place of the one at 300 */
    assert_false(hits(&x, 1, 305));
    assert_true(hits(&x, 0, 205) && hits(&x, 0, 6) && hits(&x, 0, 405));
    destroy(&x);
}

static void a_longer_range_takes_the_place_of_its_parts(void **state)
{
    (void)state;
    struct fixture x = create("3", PW_PAGE_4K);
    make(&x);
    map_run(&x, 0, 10, 20, 1010);
    map_run(&x, 0, 30, 40, 1030);
    map_run(&x, 1, 10, 20, 5010);
    assert_true(walk(&x, 0, 15) && walk(&x, 0, 35) && walk(&x, 1, 15));
    map_run(&x, 0, 20, 30, 1020);
    assert_true(walk(&x, 0, 25));
    assert_int_equal(counters_of(&x, 0)->pages, 10 + 10 + 30);
    assert_int_equal(stored(&x), 30 + 10 + 4); /* no part is left beside the whole; four pages have entries */
    assert_int_equal(count_hits(&x, 0, 0, 60), 30);
    assert_int_equal(count_hits(&x, 1, 0, 60), 10); /* two entries were free, so nobody had to go */
    map_run(&x, 0, 50, 60, 2000);
    assert_true(walk(&x, 0, 50));
    assert_int_equal(count_hits(&x, 0, 0, 60) + count_hits(&x, 1, 0, 60), 30 + 10 + 10);
    destroy(&x);
}

static unsigned unmap(struct fixture *x, unsigned asid, uint64_t first, uint64_t outer)
{
    for (uint64_t page = first; page < outer; page++)
        pw_page_table_unmap(x->tables[asid], (pw_vpn){page << x->shape.order});
    return x->policy->invalidate(x->t, (pw_asid)asid, first, outer);
}

static void a_shootdown_cuts_its_pages_out_of_a_range(void **state)
{
    (void)state;
    struct fixture x = create("2", PW_PAGE_4K);
    make(&x);
    map_run(&x, 0, 0, 100, 1000);
    map_run(&x, 1, 0, 100, 2000);
    assert_true(walk(&x, 0, 50));
    assert_int_equal(stored(&x), 101);
    assert_int_equal(unmap(&x, 1, 0, 100), 0); /* of another address space */
    assert_int_equal(unmap(&x, 0, 0, 10), 10);
    assert_int_equal(unmap(&x, 0, 95, 200), 5);
    assert_int_equal(stored(&x), 86);
    assert_int_equal(unmap(&x, 0, 40, 50), 10); /* both parts stay: there is an empty entry */
    assert_int_equal(count_hits(&x, 0, 0, 100), 75);
    assert_int_equal(unmap(&x, 0, 50, 51), 2); /* it had an entry of its own */
    assert_int_equal(stored(&x), 74);
    assert_int_equal(unmap(&x, 0, 60, 70), 10); /* 51 to 95: there is no empty entry, and the longer part stays */
    assert_int_equal(count_hits(&x, 0, 0, 100), 30 + 25);
    assert_false(hits(&x, 0, 55));
    assert_true(walk(&x, 0, 55)); /* it comes back with a walk */
    assert_int_equal(unmap(&x, 0, 0, 200), 1 + 9 + 25);
    assert_int_equal(stored(&x), 0);
    destroy(&x);
}

static void a_page_that_has_gone_or_moved_until_the_walk_ends_brings_no_wrong_range(void **state)
{
    (void)state;
    struct fixture x = create("2", PW_PAGE_4K);
    struct pw_tlb_key key = {5, 0};
    make(&x);
    map_run(&x, 0, 0, 10, 1000);
    assert_int_equal(x.policy->late(x.t, key), WALK);
    unmap(&x, 0, 5, 6);
    x.policy->insert_late(x.t, key);
    assert_int_equal(stored(&x), 0);
    assert_int_equal(x.policy->late(x.t, key), PW_NEVER);
    map(&x, 0, 5, 77);
    assert_int_equal(x.policy->late(x.t, key), PW_NEVER);
    x.policy->insert_late(x.t, key);
    assert_int_equal(stored(&x), 0);
    destroy(&x);
}

static void without_ranges_it_is_plain(void **state)
{
    (void)state;
    struct fixture x = create("0", PW_PAGE_4K);
    make(&x);
    map_run(&x, 0, 0, 10, 1000);
    for (uint64_t page = 0; page < 10; page++)
        assert_false(walk(&x, 0, page));
    assert_int_equal(count_hits(&x, 0, 0, 10), 4);
    assert_int_equal(unmap(&x, 0, 0, 10), 4);
    destroy(&x);
}

static void the_cost_is_that_of_the_ranges(void **state)
{
    (void)state;
    struct pw_policy_choice choice = policy_choice(&pw_tlb_family, "range");
    const struct pw_policy_cost *cost = policy_named(&pw_tlb_family, "range")->cost;
    struct pw_cost_machine machine = {0};
    /* Two page numbers of 36 bits, a frame of 27, 2 permissions, 9 bits of address space, 1 valid bit. */
    assert_int_equal(pw_policy_cost_size(cost, choice.options, &machine), 32 * 111);
    policy_set(&pw_tlb_family, &choice, "ranges", "64");
    assert_int_equal(pw_policy_cost_size(cost, choice.options, &machine), 64 * 111);
}

/* Maps, unmaps, moves or protects a page or some, with the shootdown that follows. */
static void change(struct fixture *x, struct pw_random *random, unsigned asid)
{
    enum { SPAN = 2048 };
    uint64_t first = pw_random_below(random, SPAN), length = 1 + pw_random_below(random, 40);
    uint32_t at = (uint32_t)pw_random_below(random, 4);
    bool scattered = pw_random_below(random, 4) == 0;
    uint64_t kind = pw_random_below(random, 8);
    if (kind < 2) {
        unmap(x, asid, first, first + length);
    } else if (kind == 2) {
        pw_page_table_protect(x->tables[asid], (pw_vpn){first << x->shape.order},
                              (pw_vpn){(first + length) << x->shape.order}, at % 3);
        x->policy->invalidate(x->t, (pw_asid)asid, first, first + length);
    } else {
        for (uint64_t page = first; page < first + length; page++) {
            struct pw_translation t = pw_page_table_lookup(x->tables[asid], (pw_vpn){page << x->shape.order});
            uint32_t frame = scattered ? (uint32_t)pw_random_below(random, 4 * SPAN) : at * 1024 + (uint32_t)page;
            if (!t.present)
                map(x, asid, page, frame << x->shape.order);
        }
    }
}

static void no_lookup_ever_gives_what_the_page_table_has_not(void **state)
{
    (void)state;
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    static const char *const ranges[] = {"1", "4", "32"};
    for (unsigned k = 0; k < 9; k++) {
        struct fixture x = create(ranges[k / 3], orders[k % 3]);
        struct pw_random random;
        uint64_t found = 0, near = 0;
        make(&x);
        pw_random_init(&random, k, "test");
        for (uint32_t step = 0; step < 100000; step++) {
            unsigned asid = (unsigned)pw_random_below(&random, ASIDS);
            uint64_t page =
                pw_random_below(&random, 2) ? near + pw_random_below(&random, 16) : pw_random_below(&random, 2100);
            if (pw_random_below(&random, 10) == 0)
                change(&x, &random, asid);
            else if (hits(&x, asid, page))
                found++;
            else if (walk(&x, asid, page))
                near = page;
            if (step % 1000 == 0)
                stored(&x);
        }
        assert_true(found > 1000);
        stored(&x);
        destroy(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_the_longest_run_of_the_page_table),
        cmocka_unit_test(other_permissions_end_a_range),
        cmocka_unit_test(a_base_range_ends_where_pages_are_large),
        cmocka_unit_test(the_least_recently_used_range_is_replaced),
        cmocka_unit_test(a_longer_range_takes_the_place_of_its_parts),
        cmocka_unit_test(a_shootdown_cuts_its_pages_out_of_a_range),
        cmocka_unit_test(a_page_that_has_gone_or_moved_until_the_walk_ends_brings_no_wrong_range),
        cmocka_unit_test(without_ranges_it_is_plain),
        cmocka_unit_test(the_cost_is_that_of_the_ranges),
        cmocka_unit_test(no_lookup_ever_gives_what_the_page_table_has_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
