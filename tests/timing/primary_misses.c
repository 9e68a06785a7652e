/* What papers count as lookups and misses of a TLB: those that merge into an outstanding miss, and those that turn out
 * to wait for a far fault, are in neither. Two more rates count a merge as a miss and as a hit. Cases counted by hand;
 * that the kinds of misses add up is an identity, which timed_run checks. */
#include "timed.h"

#include <stdio.h>

struct counts {
    uint64_t lookups, hits, misses, merges, fault_waits, primary_misses, primary_lookups;
};

static void expect(const struct timed *t, const char *level, struct counts c)
{
    static const char *const names[] = {"lookups",         "hits",           "misses",         "mshr_merges",
                                        "far_fault_waits", "primary_misses", "primary_lookups"};
    const uint64_t expected[] = {c.lookups,     c.hits,           c.misses,         c.merges,
                                 c.fault_waits, c.primary_misses, c.primary_lookups};
    char name[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s.%s", level, names[i]);
        if (timed_count(t, name) != expected[i])
            fail_msg("%s is %llu, not %llu", name, (unsigned long long)timed_count(t, name),
                     (unsigned long long)expected[i]);
    }
    snprintf(name, sizeof name, "%s.unanswered", level);
    assert_int_equal(timed_count(t, name), 0);
    snprintf(name, sizeof name, "%s.primary_hit_rate", level);
    double rate = c.primary_lookups ? 100.0 * (double)c.hits / (double)c.primary_lookups : 0;
    assert_true(timed_value(t, name) == rate);
    snprintf(name, sizeof name, "%s.hit_rate", level);
    assert_true(timed_value(t, name) == (c.lookups ? 100.0 * (double)c.hits / (double)c.lookups : 0));
    snprintf(name, sizeof name, "%s.merged_hit_rate", level);
    rate = c.lookups ? 100.0 * (double)(c.hits + c.merges) / (double)c.lookups : 0;
    assert_true(timed_value(t, name) == rate);
}

/* Page 0, and then page 0 again. */
static void twice(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, w->index * PW_LINE_BYTES);
    timed_fetch(w, t, w->index * PW_LINE_BYTES);
}

/* Four warps on each of two SMs: on each the first misses and three merge; all hit afterwards. Of the two that ask the
 * L2 TLB the second merges into the walk of the first. */
static void merges_are_no_primary_misses(void **state)
{
    (void)state;
    struct timed t = {.kernel = twice, .ctas = 2, .threads = 128, .sets = {"sm.count=2"}};
    timed_run(&t);
    expect(&t, "l1_tlb", (struct counts){16, 8, 8, 6, 0, 2, 10});
    expect(&t, "l2_tlb", (struct counts){2, 0, 2, 1, 0, 1, 1});
    timed_end(&t);
}

/* The same pages have to come: on each SM one miss faults and three merge into it. Both SMs' walks are one. */
static void waits_for_far_faults_are_no_primary_misses(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = twice, .ctas = 2, .threads = 128, .sets = {"sm.count=2", "paging.mode=demand", "uvm.prefetch=none"}};
    timed_run(&t);
    expect(&t, "l1_tlb", (struct counts){16, 8, 8, 6, 2, 0, 8});
    expect(&t, "l2_tlb", (struct counts){2, 0, 2, 1, 1, 0, 0});
    timed_end(&t);
}

/* Warp 1 comes when the fault is known: it joins what waits. The other SM comes later still; its miss is walked for a
 * second time, and waits for the same fault. */
static void one_after_the_other(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, 1 + 4000 * w->index + 8000 * w->cta_index);
    timed_fetch(w, t, w->index * PW_LINE_BYTES);
}

static void those_who_join_a_far_fault_are_no_primary_misses(void **state)
{
    (void)state;
    struct timed t = {.kernel = one_after_the_other,
                      .ctas = 2,
                      .threads = 64,
                      .sets = {"sm.count=2", "sm.schedulers=2", "paging.mode=demand", "uvm.prefetch=none"}};
    timed_run(&t);
    expect(&t, "l1_tlb", (struct counts){4, 0, 4, 0, 4, 0, 0});
    expect(&t, "l2_tlb", (struct counts){2, 0, 2, 0, 2, 0, 0});
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 1);
    timed_end(&t);
}

static void own_pages(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, (w->index + 4 * w->cta_index) * PW_PAGE_BYTES);
}

/* A miss that has to wait for a register is one all the same, and is counted once. With one register in the L2 TLB the
 * second SM's pages wait there. */
static void a_wait_for_a_register_changes_nothing(void **state)
{
    (void)state;
    static const char *const few[] = {"l1_tlb.mshrs=32", "l1_tlb.mshrs=1", "l2_tlb.mshrs=1"};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = {.kernel = own_pages,
                          .ctas = 2,
                          .threads = 128,
                          .sets = {"sm.count=2", "l1_tlb.on_miss=nonblocking", few[i]}};
        timed_run(&t);
        expect(&t, "l1_tlb", (struct counts){8, 0, 8, 0, 0, 8, 8});
        expect(&t, "l2_tlb", (struct counts){8, 0, 8, 0, 0, 8, 8});
        timed_end(&t);
    }
}

/* Both SMs ask for pages 0 to 3. Whoever finds no register in the L2 TLB waits there, and has merged when his turn
 * comes and the other's walk is under way, or finds the page there; either way each page is walked for once. */
static void same_pages(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, w->index * PW_PAGE_BYTES);
}

static void what_merges_after_a_wait_is_a_merge(void **state)
{
    (void)state;
    struct timed t = {.kernel = same_pages,
                      .ctas = 2,
                      .threads = 128,
                      .sets = {"sm.count=2", "l1_tlb.on_miss=nonblocking", "l2_tlb.mshrs=1"}};
    timed_run(&t);
    expect(&t, "l1_tlb", (struct counts){8, 0, 8, 0, 0, 8, 8});
    assert_int_equal(timed_count(&t, "walk.count"), 4);
    expect(&t, "l2_tlb", (struct counts){8, 0, 8, 4, 0, 4, 4});
    timed_end(&t);
}

/* Without an L2 TLB nothing is looked up there. */
static void what_does_not_exist_counts_nothing(void **state)
{
    (void)state;
    struct timed t = {.design = "pwcache", .kernel = twice, .ctas = 2, .threads = 128, .sets = {"sm.count=2"}};
    timed_run(&t);
    expect(&t, "l1_tlb", (struct counts){16, 8, 8, 6, 0, 2, 10});
    expect(&t, "l2_tlb", (struct counts){0, 0, 0, 1, 0, 0, 0});
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_are_no_primary_misses),
        cmocka_unit_test(waits_for_far_faults_are_no_primary_misses),
        cmocka_unit_test(those_who_join_a_far_fault_are_no_primary_misses),
        cmocka_unit_test(a_wait_for_a_register_changes_nothing),
        cmocka_unit_test(what_merges_after_a_wait_is_a_merge),
        cmocka_unit_test(what_does_not_exist_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
