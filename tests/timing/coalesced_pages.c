/* Exact cycles and walks of large pages made of base pages, and of bits that change while a walk is under way.
 *
 * The frames of an array are moved into whole large frames before the kernel starts, and the large bits are set by
 * hand; the machine has TLB entries of both sizes. */
#include "timed.h"

enum { PAGES = 512, REGION = 2 << 20, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

static struct pw_address_space *space_of(struct timed *t)
{
    return &t->system->spaces[t->app];
}

static pw_vpn page_of(const struct timed *t, uint64_t byte)
{
    return pw_vpn_of((pw_vaddr){t->a.base.v + byte});
}

/* Moves the pages of a region of the array into a large frame of their own. */
static void gather(struct timed *t, uint64_t region)
{
    struct pw_address_space *space = space_of(t);
    struct pw_physical_memory *p = space->physical;
    pw_owner owner = (pw_owner)(PW_OWNER_APP + t->app);
    pw_pfn block;
    assert_true(pw_frames_take(p->frames, PW_PAGE_2M, (pw_pfn){0}, owner, &block));
    for (uint32_t i = 0; i < PAGES; i++) {
        pw_vpn vpn = {page_of(t, region * REGION).v + i};
        pw_pfn old = pw_page_table_move(space->table, vpn, (pw_pfn){block.v + i});
        assert_true(pw_frames_release(p->frames, PW_PAGE_4K, old, owner));
    }
}

static void coalesce(struct timed *t, uint64_t region)
{
    pw_vpn vpn = page_of(t, region * REGION);
    assert_true(pw_page_table_can_coalesce(space_of(t)->table, vpn));
    pw_page_table_set_large(space_of(t)->table, vpn, true);
}

static void splinter(struct timed *t, uint64_t region)
{
    pw_vpn vpn = page_of(t, region * REGION);
    pw_page_table_set_large(space_of(t)->table, vpn, false);
    pw_gpu_shootdown(t->system->nodes[0].gpu, (pw_asid)t->app, vpn, (pw_vpn){vpn.v + PAGES});
}

static void make_two_large(struct timed *t)
{
    for (uint64_t region = 0; region < 2; region++) {
        gather(t, region);
        coalesce(t, region);
    }
}

/* mosaic-sec43-large-first, mosaic-fig10-dual-probe: the third load misses what has room for one large page. */
static void a_hit_in_the_large_entries_of_the_l2_tlb_is_one_probe(void **state)
{
    (void)state;
    uint64_t pages[] = {5 << 12, REGION + (9 << 12), 5 << 12};
    struct timed t = {.data = pages,
                      .bytes = 3 * REGION,
                      .orders = BOTH,
                      .prepare = make_two_large,
                      .sets = {"l1_tlb.large_entries=1", "l1_tlb.base_entries=1"}};
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + 10 + 1);
    t.prepare = NULL; /* base pages: large entries are probed in vain */
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 2 * 10 + 10 + 1);
    t.orders = 0;
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + 10 + 1);
}

/* mosaic-sec43-walker-l3, mosaic-sec43-walker-uncoalesced, mosaic-fig10-dual-probe: a walk of a base page takes as
 * long. */
static void a_walk_of_a_large_page_takes_four_reads_behind_two_probes(void **state)
{
    (void)state;
    uint64_t pages[] = {5 << 12, REGION + (9 << 12), 5 << 12};
    struct timed t = {.data = pages,
                      .bytes = 3 * REGION,
                      .orders = BOTH,
                      .prepare = make_two_large,
                      .sets = {"l1_tlb.large_entries=1", "l1_tlb.base_entries=1", "l2_tlb.large_entries=1",
                               "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}};
    pw_cycle large = timed_cost_of_last(t, 2), walk = large - (1 + 10 + 2 * 10 + 10 + 1);
    struct timed base = t;
    base.prepare = NULL;
    assert_int_equal(timed_cost_of_last(base, 2), large);
    t.sets[5] = "l2_tlb.latency=33";
    assert_int_equal(timed_cost_of_last(t, 2), large + 2 * 23);
    t.sets[6] = "l2.latency=77";
    assert_int_equal(timed_cost_of_last(t, 2), large + 2 * 23 + 4 * 67);
    assert_true(walk >= 4 * 10);
}

/* mosaic-sec43-walker-l3: whichever page asks, the last read is that of the first level-4 entry, which is in the L2
 * cache from the first walk on. */
static void walks_of_all_pages_of_a_large_page_end_in_one_line(void **state)
{
    (void)state;
    uint64_t pages[16];
    for (uint64_t i = 0; i < 16; i++)
        pages[i] = (i % 2) * REGION + (i * 31 << 12);
    struct timed t = {.data = pages,
                      .bytes = 3 * REGION,
                      .orders = BOTH,
                      .prepare = make_two_large,
                      .kernel = timed_chain,
                      .n = {16},
                      .sets = {"l1_tlb.large_entries=1", "l2_tlb.large_entries=1"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 16);
    assert_int_equal(timed_count(&t, "walk.reads"), 64);
    assert_int_equal(timed_count(&t, "l2.ptw_level3.accesses"), 16);
    assert_int_equal(timed_count(&t, "l2.ptw_level4.accesses"), 16);
    assert_int_equal(timed_count(&t, "l2.ptw_level4.hits"), 14);
    timed_end(&t);
    t.prepare = NULL;
    t.sets[2] = "l1_tlb.base_entries=1";
    t.sets[3] = "l2_tlb.base_entries=1";
    t.sets[4] = "l2_tlb.base_ways=0";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2.ptw_level4.accesses"), 16);
    assert_int_equal(timed_count(&t, "l2.ptw_level4.hits"), 0); /* 62 pages apart, 16 entries in a line */
    timed_end(&t);
}

static void make_first_large(struct timed *t)
{
    gather(t, 0);
    coalesce(t, 0);
}

/* mosaic-sec43-no-base-fill, with one base entry in each TLB: were any page of the large region put there, the base
 * page would be gone. */
static void pages_of_a_large_page_take_no_base_entry(void **state)
{
    (void)state;
    uint64_t pages[] = {REGION, 0x1080, 0x2100, 0x12c180, 0x1ff200, REGION}; /* in different sets of the L1 cache */
    struct timed t = {.data = pages,
                      .bytes = 3 * REGION,
                      .orders = BOTH,
                      .prepare = make_first_large,
                      .kernel = timed_chain,
                      .n = {6},
                      .sets = {"l1_tlb.base_entries=1", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 2);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 4);
    timed_end(&t);
    assert_int_equal(timed_cost_of_last(t, 5), 1 + 1);
}

/* Launch 0 touches page 7 as a base page. Then its region is coalesced, without a flush. */
static void coalesce_between_launches(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", REGION, 1);
    timed_back(t);
    gather(t, 0);
    t->launch = 0;
    timed_launch(h, t);
    coalesce(t, 0);
    t->launch = 1;
    timed_launch(h, t);
}

static void before_and_after(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 7 << 12);
    for (uint64_t i = 0; t->launch && i < t->n[0]; i++)
        timed_fetch(w, t, (8 + i) << 12);
    if (t->launch)
        timed_fetch(w, t, 7 << 12);
}

/* mosaic-sec43-stale-base-valid */
static void a_base_entry_of_before_is_used_until_it_is_replaced(void **state)
{
    (void)state;
    struct timed t = {.orders = BOTH, .body = coalesce_between_launches, .kernel = before_and_after};
    timed_run(&t); /* and every entry is as the page table says */
    assert_int_equal(timed_count(&t, "walk.count"), 1);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 2);
    timed_end(&t);
    t.n[0] = 3; /* the first further page brings the large entry, which then serves all */
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 6);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 4);
    timed_end(&t);
}

static void load_two_pages(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, 2, 5 << 12);
}

/* The second page waits for the only miss register, and is there when that is free. */
static void a_page_that_waits_for_a_register_of_the_l1_tlb_finds_what_came_in_meanwhile(void **state)
{
    (void)state;
    struct timed t = {.bytes = 3 * REGION, .orders = BOTH, .kernel = load_two_pages, .sets = {"l1_tlb.mshrs=1"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 2);
    timed_end(&t);
    t.prepare = make_first_large;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 2);
    assert_int_equal(timed_count(&t, "l1_tlb.misses"), 2);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 1);
    timed_end(&t);
}

/* CTA 0 in the second region, the others in different pages of the first. */
static void load_a_page_each(struct pw_warp *w, struct timed *t)
{
    timed_load(w, t, w->cta_index ? (uint64_t)w->cta_index << 12 : REGION);
}

/* The last of three has found no register twice, and what it wants has come in when one is free. */
static void a_page_that_waits_for_a_register_of_the_l2_tlb_finds_what_came_in_meanwhile(void **state)
{
    (void)state;
    struct timed t = {.bytes = 3 * REGION,
                      .orders = BOTH,
                      .kernel = load_a_page_each,
                      .ctas = 3,
                      .sets = {"l2_tlb.mshrs=1", "sm.count=3"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 3);
    timed_end(&t);
    t.prepare = make_first_large;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 3);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    timed_end(&t);
}

static void change_now(void *object, uint64_t argument, pw_cycle now)
{
    (void)now;
    struct timed *t = object;
    if (argument)
        splinter(t, 0);
    else
        coalesce(t, 0);
}

/* The bit changes at cycle n[0]: it is set, or, for n[1] = 1, cleared. */
static void change_while_running(struct timed *t)
{
    gather(t, 0);
    if (t->n[1])
        coalesce(t, 0);
    pw_events_post(t->system->events, t->n[0], change_now, t, t->n[1]);
}

/* A page, and much later a line of page n[2]. */
static void page_then_another(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 5 << 12);
    pw_compute(w, 3000);
    timed_fetch(w, t, t->n[2] << 12);
}

/* Runs with a change at each of many cycles, up to 40 after the translation came to the SM. */
static void sweep(struct timed t, void (*check)(const struct timed *t, pw_cycle translated))
{
    struct timed alone = t;
    alone.n[0] = 1000000;
    alone.n[2] = 5;
    timed_run(&alone);
    assert_int_equal(timed_count(&alone, "walk.count"), 1);
    const struct pw_gpu_config c = alone.config.gpu;
    uint64_t walk = timed_walk_cycles(&alone);
    timed_end(&alone);
    pw_cycle translated = c.l1_tlb.tlb.latency + 2 * c.l2_tlb.distance + 2 * c.l2_tlb.tlb.latency + walk;
    for (t.n[0] = 0; t.n[0] < translated + 40; t.n[0] += t.n[0] + 60 < translated ? 29 : 1) {
        if (t.n[0] == translated)
            continue;
        struct timed one = t;
        timed_run(&one);
        check(&one, translated);
        timed_end(&one);
    }
}

/* The answer is looked up when it has come: set before, the bit makes it a large entry, which serves the other page. */
static void check_coalesced(const struct timed *t, pw_cycle translated)
{
    assert_int_equal(timed_count(t, "walk.count"), t->n[0] < translated ? 1 : 2);
    assert_int_equal(timed_count(t, "l1_tlb.misses"), t->n[0] < translated ? 1 : 2);
}

static void a_region_coalesced_during_a_walk_is_large_when_the_answer_comes(void **state)
{
    (void)state;
    sweep((struct timed){.orders = BOTH,
                         .bytes = REGION,
                         .prepare = change_while_running,
                         .kernel = page_then_another,
                         .n = {0, 0, 6},
                         .sets = {"sm.count=1", "dram.bytes=64MB"}},
          check_coalesced);
}

/* Cleared before the answer comes, there is a base entry; after it, the large entry is dropped, and the page is walked
 * once more, as a base page. Either way it is the same line as before, which the L1 cache still has. */
static void check_splintered(const struct timed *t, pw_cycle translated)
{
    assert_int_equal(timed_count(t, "walk.count"), t->n[0] < translated ? 1 : 2);
    assert_int_equal(timed_count(t, "l1d.hits"), 1);
}

/* mosaic-sec44-splinter-walks */
static void a_region_splintered_during_a_walk_gives_a_base_page(void **state)
{
    (void)state;
    sweep((struct timed){.orders = BOTH,
                         .bytes = REGION,
                         .prepare = change_while_running,
                         .kernel = page_then_another,
                         .n = {0, 1, 5},
                         .sets = {"sm.count=1", "dram.bytes=64MB"}},
          check_splintered);
}

/* Four warps on each of two SMs miss eight pages of one large page at once; the ninth warp's page is one of theirs. */
static void all_at_once(struct pw_warp *w, struct timed *t)
{
    uint64_t page = (w->cta_index * 4 + w->index) * 61 % 427, line = (w->index * 5 + w->cta_index) * PW_LINE_BYTES;
    timed_fetch(w, t, (page << 12) + line);
    pw_compute(w, 4000);
    timed_fetch(w, t, (page << 12) + line);
}

/* Misses merge at the size of a base page: nobody knows that a page is large before it is walked. That everyone got the
 * right frame shows when the region is splintered: each line is found again in the L1 cache through its base entry. */
static void everyone_who_misses_a_large_page_gets_the_right_frame(void **state)
{
    (void)state;
    struct timed t = {.orders = BOTH,
                      .bytes = REGION,
                      .prepare = change_while_running,
                      .kernel = all_at_once,
                      .ctas = 2,
                      .threads = 128,
                      .n = {3000, 1},
                      .spec = {.breakdown = true},
                      .sets = {"sm.count=2", "l1_tlb.on_miss=nonblocking"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.misses"), 16);
    assert_int_equal(timed_count(&t, "walk.count"), 7 + 7); /* warps 0 and 7 share a page */
    assert_int_equal(timed_count(&t, "l1d.misses"), 8);
    assert_int_equal(timed_count(&t, "l1d.hits"), 8);
    timed_end(&t);
    t.n[0] = 1000000; /* without the splinter the large entry serves the second half */
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 8);
    assert_int_equal(timed_count(&t, "walk.count"), 7);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_in_the_large_entries_of_the_l2_tlb_is_one_probe),
        cmocka_unit_test(a_walk_of_a_large_page_takes_four_reads_behind_two_probes),
        cmocka_unit_test(walks_of_all_pages_of_a_large_page_end_in_one_line),
        cmocka_unit_test(pages_of_a_large_page_take_no_base_entry),
        cmocka_unit_test(a_base_entry_of_before_is_used_until_it_is_replaced),
        cmocka_unit_test(a_page_that_waits_for_a_register_of_the_l1_tlb_finds_what_came_in_meanwhile),
        cmocka_unit_test(a_page_that_waits_for_a_register_of_the_l2_tlb_finds_what_came_in_meanwhile),
        cmocka_unit_test(a_region_coalesced_during_a_walk_is_large_when_the_answer_comes),
        cmocka_unit_test(a_region_splintered_during_a_walk_gives_a_base_page),
        cmocka_unit_test(everyone_who_misses_a_large_page_gets_the_right_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
