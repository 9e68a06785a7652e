/* The breakdown of warp time, cycle by cycle, for kernels small enough to say in advance what every cycle is spent on.
 *
 * A load that issues at t waits from t + 1, so the cycle of its issue is missing in the first thing that happens to
 * it. */
#include "gpu/breakdown.h"
#include "closed_form.h"
#include "timed.h"

enum { WALK = 500, PART_COUNT = PW_WARP_TIME_COUNT };

static const char *const part_names[] = {
#define NAME(constant, name, help) "warp." name,
    PW_WARP_TIMES(NAME)
#undef NAME
};

struct parts {
    uint64_t of[PART_COUNT];
};

static struct parts parts_of(struct timed t)
{
    struct parts p;
    uint64_t sum = 0;
    t.spec.breakdown = true;
    timed_run(&t);
    for (size_t i = 0; i < PART_COUNT; i++)
        sum += p.of[i] = timed_count(&t, part_names[i]);
    assert_int_equal(sum, timed_count(&t, "warp.resident"));
    timed_end(&t);
    return p;
}

static void expect(struct parts p, struct parts wanted)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        if (p.of[i] != wanted.of[i])
            fail_msg("%s: %llu cycles, not %llu", part_names[i], (unsigned long long)p.of[i],
                     (unsigned long long)wanted.of[i]);
}

static struct parts minus(struct parts a, struct parts b)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        a.of[i] -= b.of[i];
    return a;
}

#define PARTS(...) ((struct parts){.of = {__VA_ARGS__}})

/* Loads of t->n[0] lanes t->n[2] bytes apart, one after the other; t->n[1] of them, from the list in t->data. */
static void chain(struct pw_warp *w, struct timed *t)
{
    const uint64_t *bytes = t->data;
    for (uint64_t i = 0; i < t->n[1]; i++) {
        timed_load_lanes(w, t, bytes[i], (uint32_t)t->n[0], (int64_t)t->n[2]);
        pw_use(w);
    }
}

/* What load number `last` of a chain adds. */
static struct parts of_last(struct timed t, uint64_t last)
{
    t.kernel = chain;
    t.n[0] = t.n[0] ? t.n[0] : 1;
    t.n[1] = last;
    struct parts before = parts_of(t);
    t.n[1] = last + 1;
    return minus(parts_of(t), before);
}

static uint64_t a_a[] = {0, 0}, a_b_a[] = {0, 2 << 20, 0};

static void compute(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 50);
}

static void arithmetic_issues_and_then_waits_for_its_result(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .sets = {"sm.dependency_latency=9", "sm.schedule=gto"}};
    expect(parts_of(t), PARTS([PW_TIME_ISSUE] = 50 + 1, [PW_TIME_DEPENDENCY] = 8));
    t.sets[1] = "sm.schedule=rr";
    expect(parts_of(t), PARTS([PW_TIME_ISSUE] = 50 + 1, [PW_TIME_DEPENDENCY] = 8));
    t.sets[0] = "sm.dependency_latency=1";
    expect(parts_of(t), PARTS([PW_TIME_ISSUE] = 50 + 1));
}

/* The older warp goes first and keeps its scheduler; the younger waits for it, then at the barrier, then for its
 * exit. */
static void meet(struct pw_warp *w, struct timed *t)
{
    (void)t;
    if (w->index == 0)
        pw_compute(w, 50);
    pw_barrier(w);
}

static void a_warp_waits_for_its_turn_and_at_the_barrier(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = meet, .threads = 64, .sets = {"sm.schedulers=1", "sm.schedule=gto", "sm.dependency_latency=30"}};
    expect(parts_of(t), PARTS([PW_TIME_ISSUE] = 50 + 2 + 2, [PW_TIME_DEPENDENCY] = 29, [PW_TIME_NOT_CHOSEN] = 50 + 2,
                              [PW_TIME_BARRIER] = 29 - 1));
}

static void a_hit_waits_for_lookup_and_data(void **state)
{
    (void)state;
    struct timed t = {.data = a_a, .sets = {"l1_tlb.latency=5", "l1d.latency=7"}};
    expect(of_last(t, 1), PARTS([PW_TIME_ISSUE] = 1, [PW_TIME_L1_TLB] = 5 - 1, [PW_TIME_DATA] = 7));
}

/* One line per cycle: the last of 32 is looked up 31 cycles after the load issued. */
static void lines_queue_up_in_the_load_store_unit(void **state)
{
    (void)state;
    struct timed t = {.data = a_a, .n = {32, 0, 128}, .sets = {"l1_tlb.latency=5", "l1d.latency=7"}};
    expect(of_last(t, 1), PARTS([PW_TIME_ISSUE] = 1, [PW_TIME_LSU] = 31 - 1, [PW_TIME_L1_TLB] = 5, [PW_TIME_DATA] = 7));
}

static void a_hit_in_the_l2_tlb_waits_for_both_ways_and_the_lookup(void **state)
{
    (void)state;
    struct timed t = {.data = a_b_a,
                      .bytes = 4 << 20,
                      .sets = {"l1_tlb.base_entries=1", "l2_tlb.latency=23", "l2_tlb.distance=31", "l1_tlb.latency=3"}};
    expect(of_last(t, 2),
           PARTS([PW_TIME_ISSUE] = 1, [PW_TIME_L1_TLB] = 3 - 1, [PW_TIME_L2_TLB] = 31 + 23 + 31, [PW_TIME_DATA] = 1));
}

static void cold(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void a_cold_load_waits_for_everything_in_turn(void **state)
{
    (void)state;
    const char *machines[] = {"mosaic", "volta", "kepler", "pascal"};
    const char *on_miss[] = {"l1_tlb.on_miss=nonblocking", "l1_tlb.on_miss=stall_lsu"};
    for (unsigned i = 0; i < 8; i++) {
        struct timed t = {.machine = machines[i / 2], .kernel = cold, .spec.breakdown = true, .sets = {on_miss[i % 2]}};
        timed_run(&t);
        const struct pw_gpu_config *c = &t.config.gpu;
        uint64_t lookup = c->l1_tlb.tlb.latency, again = i % 2 ? lookup : 0, walk = timed_walk_cycles(&t);
        pw_cycle known = c->launch_latency + form_l2_tlb(c, 1) + walk;
        struct parts p = {.of = {[PW_TIME_ISSUE] = 2,
                                 [PW_TIME_L1_TLB] = lookup - 1 + again,
                                 [PW_TIME_L2_TLB] = form_l2_tlb(c, 1) - lookup,
                                 [PW_TIME_WALK_MEMORY] = walk,
                                 [PW_TIME_DATA] = t.cycles - known - again}};
        timed_end(&t);
        t.spec.breakdown = false;
        expect(parts_of(t), p);
        assert_in_range(t.cycles - known - again, 1, 2000);
    }
}

/* A fixed walk, and nothing else that would take time by itself. */
static struct timed fixed(void (*kernel)(struct pw_warp *, struct timed *))
{
    return (struct timed){.kernel = kernel,
                          .sets = {"walk.model=fixed", "walk.latency=500", "sm.schedulers=1", "l1_tlb.latency=3",
                                   "l2_tlb.latency=20", "l2_tlb.distance=40"}};
}

static void one_page(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void own_page(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, w->index * PW_PAGE_BYTES);
}

/* The second warp is a cycle behind the first, joins its miss, and has a cycle of it less; it is replayed a cycle
 * later. */
static void a_line_that_joins_a_miss_is_charged_from_then_on(void **state)
{
    (void)state;
    struct timed t = fixed(one_page);
    struct parts one = parts_of(t);
    assert_int_equal(one.of[PW_TIME_L2_TLB], 40 + 20 + 40);
    t.threads = 64;
    struct parts both = parts_of(t);
    uint64_t data = one.of[PW_TIME_DATA];
    expect(both, PARTS([PW_TIME_ISSUE] = 4, [PW_TIME_NOT_CHOSEN] = both.of[PW_TIME_NOT_CHOSEN], [PW_TIME_LSU] = 1,
                       [PW_TIME_L1_TLB] = 2 * (3 - 1), [PW_TIME_L2_TLB] = 2 * 100 - 1, [PW_TIME_WALK_MEMORY] = 2 * WALK,
                       [PW_TIME_DATA] = 2 * data - 1));
    assert_int_equal(both.of[PW_TIME_NOT_CHOSEN], 1 + 1); /* for its load, and for its exit */
}

static void a_walk_that_finds_no_walker_waits_in_the_queue(void **state)
{
    (void)state;
    struct timed t = fixed(own_page);
    t.threads = 64;
    t.sets[6] = "walk.walkers=1";
    t.sets[7] = "l1_tlb.on_miss=nonblocking";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_WALK_QUEUE], WALK - 1);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], 2 * WALK);
    assert_int_equal(p.of[PW_TIME_L2_TLB], 2 * 100);
    assert_int_equal(p.of[PW_TIME_LSU], 0);
}

/* One after the other, on SMs of their own. */
static void later(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index)
        pw_compute(w, 100);
    timed_fetch(w, t, 0);
}

static void a_walk_for_another_sm_is_waited_for_from_the_lookup_on(void **state)
{
    (void)state;
    struct timed t = fixed(later);
    t.ctas = 2;
    t.sets[6] = "sm.dependency_latency=1";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_WALK_QUEUE], 0);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], WALK + WALK - 100);
    assert_int_equal(p.of[PW_TIME_L2_TLB], 2 * 100);
}

static void two_pages(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, 2, PW_PAGE_BYTES);
    pw_use(w);
}

/* With one register the second page is tried a cycle after the first and misses a cycle after its translation came. */
static void a_line_without_a_miss_register_waits_for_the_l1_tlb(void **state)
{
    (void)state;
    struct timed t = fixed(two_pages);
    t.sets[6] = "l1_tlb.mshrs=1";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_L1_TLB], 3 + 100 + WALK + 3);
    assert_int_equal(p.of[PW_TIME_L2_TLB], 100);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], WALK);
    assert_int_equal(p.of[PW_TIME_LSU], 0);
    t.sets[6] = "l2_tlb.mshrs=1"; /* the same at the L2 TLB, which looks the second page up before it waits */
    p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_L1_TLB], 3);
    assert_int_equal(p.of[PW_TIME_L2_TLB], 40 + 20 + WALK - 1 + 40);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], WALK);
}

/* The head of the queue waits for its translation from its first try until that comes, LOOKUP + WALK cycles later. The
 * second warp issues a cycle after it and waits from the cycle after that on; when the head has gone, it is next. */
static void an_instruction_behind_a_miss_waits_for_its_translation(void **state)
{
    (void)state;
    enum { LOOKUP = 3 + 40 + 20 + 40 };
    struct timed t = fixed(own_page);
    t.sets[6] = "l1_tlb.on_miss=stall_lsu";
    struct parts one = parts_of(t);
    assert_int_equal(one.of[PW_TIME_LSU_TLB] + one.of[PW_TIME_LSU_FULL_TLB], 0);
    t.threads = 64;
    struct parts both = parts_of(t);
    assert_int_equal(both.of[PW_TIME_LSU_TLB], LOOKUP + WALK - 2);
    assert_int_equal(both.of[PW_TIME_LSU], 1);
    assert_int_equal(both.of[PW_TIME_WALK_MEMORY], 2 * WALK);
    t.sets[7] = "sm.lsu_queue=1"; /* it is not chosen in the cycle in which the first issues: there is no room */
    both = parts_of(t);
    assert_int_equal(both.of[PW_TIME_LSU_FULL_TLB], LOOKUP + WALK);
    assert_int_equal(both.of[PW_TIME_LSU_FULL] + both.of[PW_TIME_LSU] + both.of[PW_TIME_LSU_TLB], 0);
}

/* The second warp waits for the only miss register, and the third behind it; the first's line is replayed before. */
static void an_instruction_behind_a_wait_for_a_miss_register_waits_for_translation(void **state)
{
    (void)state;
    enum { LOOKUP = 3 + 40 + 20 + 40 };
    struct timed t = fixed(own_page);
    t.threads = 96;
    t.sets[6] = "l1_tlb.mshrs=1";
    t.sets[7] = "l1_tlb.on_miss=nonblocking";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_LSU_TLB], LOOKUP + WALK + 1 - 3);
    assert_int_equal(p.of[PW_TIME_LSU], 1);
    t.sets[6] = "l1_tlb.mshrs=2";
    assert_int_equal(parts_of(t).of[PW_TIME_LSU_TLB], 0);
    t.sets[7] = "l1_tlb.on_miss=hit_under_miss"; /* the first that may start a miss has the second wait for it */
    assert_int_equal(parts_of(t).of[PW_TIME_LSU_TLB], LOOKUP + WALK + 1 - 3);
}

/* Three base pages of one large page, whose translation comes for the first: the second waits for a register until
 * then, and hits. From then on the third waits for the unit, for one cycle or for as long as the second waits for
 * data. */
static void the_wait_behind_a_translation_ends_when_the_head_hits(void **state)
{
    (void)state;
    enum { LOOKUP = 3 + 40 + 2 * 20 + 40 }; /* the L2 TLB is looked up for either page size */
    struct timed t = fixed(own_page);
    t.bytes = 4 << 20;
    t.orders = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M;
    t.threads = 96;
    t.sets[6] = "page.size=2MB";
    t.sets[7] = "l1_tlb.on_miss=hit_under_miss";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], WALK);
    assert_int_equal(p.of[PW_TIME_LSU_TLB], LOOKUP + WALK + 1 - 3);
    assert_int_equal(p.of[PW_TIME_LSU], 1);
    t.sets[8] = "l1d.mshrs=1";
    struct parts full = parts_of(t);
    assert_int_equal(full.of[PW_TIME_LSU_TLB], LOOKUP + WALK + 1 - 3);
    assert_true(full.of[PW_TIME_LSU] > 50);
}

static void own_line(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, w->index * 128);
}

/* With one place in the L1 cache for what is under way, the second warp waits at the head and the third behind it. */
static void an_instruction_behind_one_that_waits_for_data_waits_for_no_translation(void **state)
{
    (void)state;
    struct timed t = fixed(own_line);
    t.design = "ideal-tlb";
    t.threads = 96;
    t.sets[6] = "l1d.mshrs=1";
    struct parts p = parts_of(t);
    assert_true(p.of[PW_TIME_LSU] > 50);
    assert_int_equal(p.of[PW_TIME_LSU_TLB] + p.of[PW_TIME_LSU_FULL_TLB], 0);
    assert_int_equal(p.of[PW_TIME_L2_TLB] + p.of[PW_TIME_WALK_QUEUE] + p.of[PW_TIME_WALK_MEMORY], 0);
}

/* SMs that have one instruction at a time between them wait for each other's translations. */
static void one_at_a_time_waits_for_the_translation_of_another_sm(void **state)
{
    (void)state;
    struct timed t = fixed(own_page);
    t.ctas = 2;
    t.sets[6] = "sm.serial=on";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_LSU_FULL_TLB], 3 + 40 + 20 + 40 + WALK);
    assert_int_equal(p.of[PW_TIME_LSU_TLB], 0);
}

static void stores(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
    for (unsigned i = 0; i < 2; i++)
        pw_access_affine(w, PW_OP_STORE, UINT32_MAX, t->a.base.v, 128, 4);
}

/* The second store finds the only place taken until the 32nd line of the first has gone. */
static void an_instruction_waits_for_room_in_the_load_store_unit(void **state)
{
    (void)state;
    struct timed t = {.kernel = stores, .sets = {"sm.lsu_queue=1", "sm.stores=64"}};
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_LSU_FULL], 31 - 1);
    assert_int_equal(p.of[PW_TIME_NOT_CHOSEN], 0);
    t.sets[0] = "sm.lsu_queue=2";
    assert_int_equal(parts_of(t).of[PW_TIME_LSU_FULL], 0);
}

static void work_meanwhile(struct pw_warp *w, struct timed *t)
{
    timed_load(w, t, 0);
    pw_compute(w, 5000);
    pw_use(w);
}

static void a_load_that_is_back_in_time_costs_nothing(void **state)
{
    (void)state;
    struct timed t = {.kernel = work_meanwhile, .sets = {"sm.dependency_latency=9"}};
    expect(parts_of(t), PARTS([PW_TIME_ISSUE] = 5000 + 2, [PW_TIME_DEPENDENCY] = 8));
}

/* The warp begins to wait in the middle of the walk: only the rest of it counts. */
static void work_for_a_while(struct pw_warp *w, struct timed *t)
{
    timed_load(w, t, 0);
    pw_compute(w, 200);
    pw_use(w);
}

static void only_the_rest_of_a_walk_is_waited_for(void **state)
{
    (void)state;
    struct timed t = fixed(work_for_a_while);
    t.sets[6] = "sm.dependency_latency=1";
    struct parts p = parts_of(t);
    assert_int_equal(p.of[PW_TIME_L1_TLB], 0);
    assert_int_equal(p.of[PW_TIME_WALK_MEMORY], 3 + 40 + 20 + WALK - 201);
    assert_int_equal(p.of[PW_TIME_L2_TLB], 40);
}

static void a_page_that_is_not_there_is_a_far_fault(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal", .design = "uvm-none-lru4k", .kernel = cold, .spec.breakdown = true};
    timed_run(&t);
    const struct pw_gpu_config *c = &t.config.gpu;
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 1);
    assert_int_equal(timed_count(&t, "warp.far_fault"), (uint64_t)timed_value(&t, "uvm.fault_latency_mean"));
    assert_int_equal(timed_count(&t, "warp.walk_memory"), timed_walk_cycles(&t));
    assert_int_equal(timed_count(&t, "warp.l2_tlb"), form_l2_tlb(c, 1) - c->l1_tlb.tlb.latency);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_issues_and_then_waits_for_its_result),
        cmocka_unit_test(a_warp_waits_for_its_turn_and_at_the_barrier),
        cmocka_unit_test(a_hit_waits_for_lookup_and_data),
        cmocka_unit_test(lines_queue_up_in_the_load_store_unit),
        cmocka_unit_test(a_hit_in_the_l2_tlb_waits_for_both_ways_and_the_lookup),
        cmocka_unit_test(a_cold_load_waits_for_everything_in_turn),
        cmocka_unit_test(a_line_that_joins_a_miss_is_charged_from_then_on),
        cmocka_unit_test(a_walk_that_finds_no_walker_waits_in_the_queue),
        cmocka_unit_test(a_walk_for_another_sm_is_waited_for_from_the_lookup_on),
        cmocka_unit_test(a_line_without_a_miss_register_waits_for_the_l1_tlb),
        cmocka_unit_test(an_instruction_behind_a_miss_waits_for_its_translation),
        cmocka_unit_test(an_instruction_behind_a_wait_for_a_miss_register_waits_for_translation),
        cmocka_unit_test(the_wait_behind_a_translation_ends_when_the_head_hits),
        cmocka_unit_test(an_instruction_behind_one_that_waits_for_data_waits_for_no_translation),
        cmocka_unit_test(one_at_a_time_waits_for_the_translation_of_another_sm),
        cmocka_unit_test(an_instruction_waits_for_room_in_the_load_store_unit),
        cmocka_unit_test(a_load_that_is_back_in_time_costs_nothing),
        cmocka_unit_test(only_the_rest_of_a_walk_is_waited_for),
        cmocka_unit_test(a_page_that_is_not_there_is_a_far_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
