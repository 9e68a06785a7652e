/* Exact cycles without the penalties of TLB misses, as the variants of compression/fig05 take them away: those of the
 * L1 TLB, those of the L2 TLB, or both (TLB compression, Section 3.3).
 *
 * Designs and options come from the figure itself. The last load of the pages A, B, A, with room for one translation
 * where a level is to miss, finds its data in the L1 cache, so that only its translation can differ from a hit's.
 * Decides comp-fig5-ideal, comp-fig5-l1 and comp-fig5-l2. */
#include "closed_form.h"
#include "timed.h"

#include "exp/figure/figure.h"

enum { WALK = 500, MB = 1 << 20, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

static uint64_t a_b_a[] = {0, 2 * MB, 0};

static struct pw_figure *figure;

static int load_figure(void **state)
{
    (void)state;
    struct pw_error err;
    return pw_figure_load("compression/fig05", PW_QUICK, &figure, &err) == PW_OK ? 0 : -1;
}

static int free_figure(void **state)
{
    (void)state;
    pw_figure_free(figure);
    return 0;
}

static void add_set(struct timed *t, const char *set)
{
    size_t i = 0;
    while (t->sets[i])
        i++;
    assert_true(i + 1 < TIMED_SETS);
    t->sets[i] = set;
}

/* The figure's variant, with three loads of A, B and A. */
static struct timed variant(const char *name)
{
    for (size_t i = 0; i < figure->variant_count; i++) {
        const struct pw_figure_variant *v = &figure->variants[i];
        if (strcmp(v->name, name) != 0)
            continue;
        struct timed t = {.machine = v->machine,
                          .design = v->design,
                          .kernel = timed_chain,
                          .data = a_b_a,
                          .n = {3},
                          .bytes = 4 * MB};
        for (size_t k = 0; k < v->set_count; k++)
            add_set(&t, v->sets[k]);
        return t;
    }
    fail_msg("%s has no variant %s", figure->name, name);
    return (struct timed){0};
}

/* Leaves a level room for one translation of each page size. */
static void shrink(struct timed *t, bool l2)
{
    add_set(t, l2 ? "l2_tlb.base_entries=1" : "l1_tlb.base_entries=1");
    add_set(t, l2 ? "l2_tlb.base_ways=0" : "l1_tlb.base_ways=0");
    add_set(t, l2 ? "l2_tlb.large_entries=1" : "l1_tlb.large_entries=1");
    add_set(t, l2 ? "l2_tlb.large_ways=0" : "l1_tlb.large_ways=0");
}

static pw_cycle cost_of_last(struct timed t)
{
    pw_cycle all = timed_cycles(t);
    t.n[0]--;
    return all - timed_cycles(t);
}

static struct pw_gpu_config configuration(struct timed t)
{
    timed_configure(&t);
    struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    return c;
}

/* What the penalties are: with all of them a miss pays the L2 TLB and the way to it, and a miss there the walk too. */
static void the_baseline_pays_for_misses_in_both_levels(void **state)
{
    (void)state;
    struct timed t = variant("base");
    struct pw_gpu_config c = configuration(t);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c));
    shrink(&t, false);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c) + 10 + 10 + 10);
    shrink(&t, true);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c) + 10 + 10 + WALK + 10);
}

/* comp-fig5-l1: what hits in the L2 TLB is as fast as what hits in the L1 TLB, and what does not still walks. */
static void without_l1_penalties_hits_in_the_l2_tlb_are_free_and_misses_pay_the_walk(void **state)
{
    (void)state;
    struct timed t = variant("l1");
    struct pw_gpu_config c = configuration(t);
    shrink(&t, false);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c));
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 0);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    timed_end(&t);
    shrink(&t, true);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c) + WALK);
}

/* Each CTA loads a page of its own, in an SM of its own. */
static void a_page_each(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, w->cta_index * 2 * MB);
}

/* comp-fig5-l1, comp-fig5-l2: of 16 walks, half wait for the other half to end, where there are walks. In the baseline
 * requests pass the L2 TLB's two ports, so that those have begun 4 cycles before them; without L1 penalties no SM waits
 * for another's lookup, and all come at once. */
static void only_without_l2_penalties_is_there_no_wait_for_a_walker(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        unsigned walks;
        double queue; /* mean over the walks */
    } cases[] = {{"base", 16, (WALK - 4) / 2.0}, {"l1", 16, WALK / 2.0}, {"l2", 0, 0}, {"ideal", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t = variant(cases[i].variant);
        t.kernel = a_page_each;
        t.ctas = 16;
        t.bytes = 32 * MB;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "walk.count"), cases[i].walks);
        if (cases[i].walks)
            assert_true(timed_value(&t, "walk.queue_mean") == cases[i].queue);
        timed_end(&t);
    }
}

static const char *const page_sizes[] = {"page.size=4KB", "page.size=64KB", "page.size=2MB"};

/* comp-fig5-l2: the first load of a page hits the L2 TLB too, and pays for its lookup there as in the baseline. */
static void without_l2_penalties_every_miss_pays_the_lookup_and_never_a_walk(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = variant("l2");
        struct pw_gpu_config c = configuration(t);
        add_set(&t, page_sizes[i]);
        shrink(&t, false);
        shrink(&t, true);
        assert_int_equal(cost_of_last(t), form_l1_hit(&c) + 10 + 10 + 10);
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l1_tlb.misses"), 3);
        assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 3);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), 3);
        assert_int_equal(timed_count(&t, "walk.count"), 0);
        timed_end(&t);
    }
}

/* Where both page sizes can be mapped, an ideal array answers for its own size only: a base page takes two lookups. */
static void an_ideal_l2_tlb_looks_for_each_page_size_in_turn(void **state)
{
    (void)state;
    struct timed base = variant("l2"), large = base;
    struct pw_gpu_config c = configuration(base);
    base.orders = large.orders = BOTH;
    shrink(&base, false);
    shrink(&large, false);
    add_set(&base, "page.size=4KB");
    add_set(&large, "page.size=2MB");
    assert_int_equal(cost_of_last(base), form_l1_hit(&c) + 10 + 2 * 10 + 10);
    assert_int_equal(cost_of_last(large), form_l1_hit(&c) + 10 + 10 + 10);
}

/* Two programs at the same virtual addresses, of which the first has not all that the second has. */
static void an_ideal_l2_tlb_serves_each_application_from_its_own_table(void **state)
{
    (void)state;
    uint64_t near[] = {0, 2 * PW_PAGE_BYTES, 0};
    struct timed t = variant("l2"), other = variant("l2");
    t.data = near;
    t.bytes = MB;
    t.neighbours[0] = &other;
    shrink(&t, false);
    timed_run(&t);
    assert_int_equal(t.a.base.v, other.a.base.v);
    for (unsigned app = 0; app < 2; app++)
        assert_int_equal(timed_launch_count(&t, app, 1, "l2_tlb.hits"), 3);
    assert_int_equal(timed_count(&t, "walk.count"), 0);
    timed_end(&t);
}

/* A page that is not on the GPU has no translation to hit: it is walked for and faults, once. */
static void an_ideal_l2_tlb_does_not_hit_what_is_not_mapped(void **state)
{
    (void)state;
    struct timed t = variant("l2");
    add_set(&t, "paging.mode=demand");
    shrink(&t, false);
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 2);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "l2_tlb.misses"), 2);
    timed_end(&t);
}

/* comp-fig5-ideal: neither penalty is left, however few entries there are. */
static void an_ideal_hierarchy_pays_for_misses_in_neither_level(void **state)
{
    (void)state;
    struct timed t = variant("ideal");
    struct pw_gpu_config c = configuration(t);
    shrink(&t, false);
    shrink(&t, true);
    assert_int_equal(cost_of_last(t), form_l1_hit(&c));
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 3);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 0);
    assert_int_equal(timed_count(&t, "walk.count"), 0);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_baseline_pays_for_misses_in_both_levels),
        cmocka_unit_test(without_l1_penalties_hits_in_the_l2_tlb_are_free_and_misses_pay_the_walk),
        cmocka_unit_test(only_without_l2_penalties_is_there_no_wait_for_a_walker),
        cmocka_unit_test(without_l2_penalties_every_miss_pays_the_lookup_and_never_a_walk),
        cmocka_unit_test(an_ideal_l2_tlb_looks_for_each_page_size_in_turn),
        cmocka_unit_test(an_ideal_l2_tlb_serves_each_application_from_its_own_table),
        cmocka_unit_test(an_ideal_l2_tlb_does_not_hit_what_is_not_mapped),
        cmocka_unit_test(an_ideal_hierarchy_pays_for_misses_in_neither_level),
    };
    return cmocka_run_group_tests(tests, load_figure, free_figure);
}
