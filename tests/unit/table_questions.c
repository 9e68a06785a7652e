/* How often the page table is asked for one translation: once. The sources on its way, from the load-store unit to the
 * walker and back, are built with a count of their questions (count_lookups.h). */
#include "timed.h"

unsigned long lookups_counted;

/* Questions of a run that ends well. */
static unsigned long questions(struct timed t)
{
    lookups_counted = 0;
    if (timed_try(&t) != PW_OK)
        fail_msg("%s", t.err.message);
    unsigned long asked = lookups_counted;
    timed_end(&t);
    return asked;
}

#define FIXED_WALKS "walk.model=fixed", "walk.latency=500"

static void load_once(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void a_walk_asks_and_nobody_else(void **state)
{
    (void)state;
    assert_int_equal(questions((struct timed){.kernel = load_once}), 1);
    assert_int_equal(questions((struct timed){.kernel = load_once, .design = "pwcache"}), 1);
    assert_int_equal(questions((struct timed){.kernel = load_once, .design = "gpu-mmu-2m"}), 1);
    assert_int_equal(questions((struct timed){.kernel = load_once, .sets = {FIXED_WALKS}}), 1);
}

static void those_that_share_a_walk_share_its_question(void **state)
{
    (void)state;
    assert_int_equal(questions((struct timed){.kernel = load_once, .ctas = 16, .sets = {"sm.count=16"}}), 1);
    assert_int_equal(questions((struct timed){.kernel = load_once, .ctas = 4, .threads = 1024, .sets = {"sm.count=4"}}),
                     1);
}

static void load_in_turn(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, 5000 * w->cta_index + 1);
    timed_fetch(w, t, 0);
}

/* The walk of the first SM, and for each of the others the judge of what the L2 TLB has. */
static void a_hit_in_the_l2_tlb_is_judged_once(void **state)
{
    (void)state;
    struct timed t = {.kernel = load_in_turn, .ctas = 5, .sets = {"sm.count=5"}};
    assert_int_equal(questions(t), 1 + 4);
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 4);
    timed_end(&t);
}

static void load_lines(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, i * PW_LINE_BYTES);
}

static void a_hit_in_an_l1_tlb_is_judged_once(void **state)
{
    (void)state;
    assert_int_equal(questions((struct timed){.kernel = load_lines, .n = {10}}), 1 + 9);
}

static void what_the_table_itself_answers_is_not_judged(void **state)
{
    (void)state;
    assert_int_equal(questions((struct timed){.kernel = load_lines, .n = {10}, .design = "ideal-tlb"}), 0);
    /* The large array is ideal, the base array is not and has the page. */
    struct timed t = {.kernel = load_lines, .n = {10}, .design = "mosaic", .sets = {"l1_tlb.large_organisation=ideal"}};
    assert_int_equal(questions(t), 1 + 9);
}

/* The walk that finds no page, and the arrival of the page. */
static void a_far_fault_asks_twice(void **state)
{
    (void)state;
    assert_int_equal(questions((struct timed){.kernel = load_once, .machine = "pascal", .design = "uvm-tbn-tbn"}), 2);
}

/* Moves the page to where it is. */
static void change_table(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    (void)now;
    struct timed *t = object;
    struct pw_page_table *table = t->system->spaces[0].table;
    pw_vpn page = pw_vpn_of(t->a.base);
    pw_pfn frame;
    assert_true(pw_page_table_has_base(table, page, &frame));
    pw_page_table_move(table, page, frame);
}

static void change_table_then(struct timed *t)
{
    pw_events_post(t->system->events, t->n[0], change_table, t, 0);
}

/* The walk ends after L1 TLB (1 cycle), the way (10), L2 TLB (10) and 500 cycles; its answer takes 10 more. */
static void only_an_answer_under_way_while_the_table_changes_asks_again(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = load_once,
        .prepare = change_table_then,
        .sets = {FIXED_WALKS, "gpu.launch_latency=0", "l1_tlb.latency=1", "l2_tlb.latency=10", "l2_tlb.distance=10"}};
    const pw_cycle ends = 1 + 10 + 10 + 500, arrives = ends + 10;
    const pw_cycle when[] = {ends, ends + 1, arrives, arrives + 1}; /* the change comes first in its cycle */
    const unsigned long asked[] = {1, 2, 2, 1};
    for (unsigned i = 0; i < 4; i++) {
        t.n[0] = when[i];
        assert_int_equal(questions(t), asked[i]);
    }
}

/* The walk begins 21 cycles after the load and reads four entries, one after the other. */
static void a_walk_during_which_the_table_changes_asks_again(void **state)
{
    (void)state;
    struct timed t = {.kernel = load_once,
                      .prepare = change_table_then,
                      .sets = {"gpu.launch_latency=0", "l1_tlb.latency=1", "l2_tlb.latency=10", "l2_tlb.distance=10"}};
    const pw_cycle when[] = {21, 22, 60};
    const unsigned long asked[] = {1, 2, 2};
    for (unsigned i = 0; i < 3; i++) {
        t.n[0] = when[i];
        assert_int_equal(questions(t), asked[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_asks_and_nobody_else),
        cmocka_unit_test(those_that_share_a_walk_share_its_question),
        cmocka_unit_test(a_hit_in_the_l2_tlb_is_judged_once),
        cmocka_unit_test(a_hit_in_an_l1_tlb_is_judged_once),
        cmocka_unit_test(what_the_table_itself_answers_is_not_judged),
        cmocka_unit_test(a_far_fault_asks_twice),
        cmocka_unit_test(only_an_answer_under_way_while_the_table_changes_asks_again),
        cmocka_unit_test(a_walk_during_which_the_table_changes_asks_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
