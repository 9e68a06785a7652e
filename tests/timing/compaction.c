/* Compaction on a whole machine: how long all SMs stand still, what that costs a program, and that accesses under way
 * find their pages wherever these have gone. */
#include "gpu/gpu_internal.h"
#include "timed.h"
#include "vm/page_manager_internal.h"

enum { REGION = 2 << 20, RUN = 1000, AT = 500, LEFT = 100, SMS = 30 };

/* Frees a region of the array but for its last t->n[1] pages. */
static void free_most(void *object, uint64_t region, pw_cycle now)
{
    (void)now;
    struct timed *t = object;
    pw_vpn first = {pw_vpn_of(t->a.base).v + region * PW_REGION_PAGES};
    pw_vpn outer = {first.v + PW_REGION_PAGES - t->n[1]};
    assert_int_equal(pw_address_space_free_part(&t->system->spaces[t->app], first, outer, &t->err), PW_OK);
    pw_gpu_shootdown(t->system->nodes[0].gpu, (pw_asid)t->app, first, outer);
}

/* Does so at cycle t->n[0]. */
static void allocate_and_free(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", t->bytes ? t->bytes : REGION, 1);
    pw_events_post(t->system->events, t->n[0], free_most, t, 0);
    timed_launch(h, t);
}

/* Does so at cycle t->n[0] for the first region and t->n[2] later for the second. */
static void allocate_and_free_two(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 2 * REGION, 1);
    pw_events_post(t->system->events, t->n[0], free_most, t, 0);
    pw_events_post(t->system->events, t->n[0] + t->n[2], free_most, t, 1);
    timed_launch(h, t);
}

/* When the last instruction of each CTA could issue is noted in t->data: an SM has one CTA, a warp. */
static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, RUN);
    pw_barrier(w);
    ((pw_cycle *)t->data)[w->cta_index] = t->system->events->now;
}

/* Core cycles, rounded up, for clocks of DRAM. */
static uint64_t core_cycles(const struct timed *t, uint64_t clocks)
{
    uint64_t core = t->config.gpu.clock_mhz, dram = t->config.gpu.dram.clock_mhz;
    return (clocks * core + dram - 1) / dram;
}

/* mosaic-sec5-cac-worst-case, mosaic-sec64-ideal-cac, mosaic-sec44-bulk-one-op, mosaic-sec44-bulk-latency,
 * mosaic-sec44-copy-width: each of the 30 SMs is late by the time of all copies, one after the other: a page is read
 * and written 64 bits at a time, four times a clock, over one channel, however many there are and whatever interleaves
 * over them; or it takes 80 ns; or nothing. That the pipeline is flushed too is not modelled: what has been issued goes
 * on. */
static void all_sms_stand_still_while_pages_are_copied(void **state)
{
    (void)state;
    static const struct {
        const char *design, *channels, *interleave;
    } cases[] = {{"mosaic", "dram.channels=6", "dram.interleave=line"},
                 {"mosaic", "dram.channels=1", "dram.interleave=line"},
                 {"mosaic", "dram.channels=6", "dram.interleave=page"},
                 {"mosaic-cac-bc", "dram.channels=6", "dram.interleave=line"},
                 {"mosaic-cac-bc", "dram.channels=2", "dram.interleave=page"},
                 {"mosaic-ideal-cac", "dram.channels=6", "dram.interleave=line"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pw_cycle ends[SMS] = {0};
        struct timed t = {.design = cases[i].design,
                          .sets = {cases[i].channels, cases[i].interleave},
                          .kernel = compute,
                          .body = allocate_and_free,
                          .ctas = SMS,
                          .data = ends,
                          .n = {AT, LEFT}};
        pw_cycle cycles = timed_run(&t);
        uint64_t copy = core_cycles(&t, 2 * (PW_PAGE_BYTES / 8) / 4);
        if (t.config.compact.copy == PW_COPY_BULK)
            copy = (80 * t.config.gpu.clock_mhz + 999) / 1000;
        if (t.config.compact.copy == PW_COPY_FREE)
            copy = 0;
        uint64_t alone = RUN - 1 + t.config.gpu.sm.dependency_latency;
        /* The instruction that issues in the cycle of the free is through; the result of the last is there with it. */
        for (unsigned sm = 0; sm < SMS; sm++)
            assert_int_equal(ends[sm], copy ? RUN - 1 + LEFT * copy : alone);
        assert_int_equal(t.config.gpu.sm.count, SMS);
        assert_int_equal(cycles, ends[0] + 1); /* its exit */
        assert_int_equal(timed_count(&t, "page.pause_cycles"), LEFT * copy);
        assert_int_equal(timed_count(&t, "page.pauses"), copy != 0);
        assert_int_equal(timed_count(&t, "page.migrated"), LEFT);
        assert_int_equal(timed_count(&t, "page.compactions"), 1);
        timed_end(&t);
    }
}

/* Frees at AT and `later` cycles later; every SM is late by the cycles of all pauses, which are returned. */
static uint64_t cycles_paused(void (*body)(struct pw_host *h, struct timed *t), uint64_t later)
{
    pw_cycle ends[SMS] = {0};
    struct timed t = {
        .design = "mosaic", .kernel = compute, .body = body, .ctas = SMS, .data = ends, .n = {AT, LEFT, later}};
    timed_run(&t);
    uint64_t cycles = timed_count(&t, "page.pause_cycles");
    for (unsigned sm = 0; sm < SMS; sm++)
        assert_int_equal(ends[sm], RUN - 1 + cycles);
    timed_end(&t);
    return cycles;
}

/* Whether it is asked for at once, in between or in the last cycle in which SMs stand still for the first. */
static void a_second_compaction_waits_for_the_first(void **state)
{
    (void)state;
    uint64_t one = cycles_paused(allocate_and_free, 0);
    assert_true(one > LEFT);
    assert_int_equal(cycles_paused(allocate_and_free_two, 0), 2 * one);
    assert_int_equal(cycles_paused(allocate_and_free_two, LEFT), 2 * one);
    assert_int_equal(cycles_paused(allocate_and_free_two, one - 1), 2 * one);
}

/* Waits until the region is large, then loads every line of its last page. */
static void load_page(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, RUN);
    timed_load_lanes(w, t, REGION - PW_PAGE_BYTES, 32, PW_LINE_BYTES);
    pw_use(w);
}

/* Lines of a frame in the L1 of the first SM. */
static unsigned lines_cached(const struct timed *t, pw_pfn frame)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PW_PAGE_BYTES / PW_LINE_BYTES; i++) {
        uint32_t line = (frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) + i;
        n += pw_cache_find(&t->system->nodes[0].gpu->sms[0].l1, line, line).at >= 0;
    }
    return n;
}

static bool in_tlb(const struct timed *t, bool large, pw_vpn vpn)
{
    const struct pw_tlb *tlb = &t->system->nodes[0].gpu->sms[0].tlb;
    pw_pfn frame;
    return pw_tlb_array_lookup(large ? &tlb->large : &tlb->base, 0, vpn, &frame);
}

static void remember_frame(void *object, uint64_t argument, pw_cycle now)
{
    struct timed *t = object;
    t->n[2] = timed_physical(t, REGION - PW_PAGE_BYTES) >> PW_PAGE_SHIFT;
    free_most(object, argument, now);
}

static void load_while_freed(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", REGION, 1);
    pw_events_post(t->system->events, t->n[0], remember_frame, t, 0);
    timed_launch(h, t);
}

/* The page moves at any time before, during and after the walk to it. An access whose translation was there before
 * finds it where it was; any other, where it is, through an entry for base pages. */
static void a_page_that_moves_during_a_walk_is_found_where_it_has_gone(void **state)
{
    (void)state;
    bool arrived = false;
    pw_cycle first_old = 0;
    for (pw_cycle at = RUN - 10; at < RUN + 1200; at += arrived ? 97 : 13) {
        struct timed t = {.design = "mosaic-ideal-cac", .kernel = load_page, .body = load_while_freed, .n = {at, LEFT}};
        timed_run(&t);
        pw_pfn old = {(uint32_t)t.n[2]},
               now = {(uint32_t)(timed_physical(&t, REGION - PW_PAGE_BYTES) >> PW_PAGE_SHIFT)};
        pw_vpn vpn = pw_vpn_of((pw_vaddr){t.a.base.v + REGION - PW_PAGE_BYTES});
        assert_int_not_equal(old.v, now.v);
        arrived |= lines_cached(&t, now) == 0;
        first_old = arrived && !first_old ? at : first_old;
        assert_int_equal(lines_cached(&t, arrived ? old : now), 32);
        assert_int_equal(lines_cached(&t, arrived ? now : old), 0);
        assert_false(in_tlb(&t, true, vpn));
        assert_int_equal(in_tlb(&t, false, vpn), !arrived);
        timed_end(&t);
    }
    assert_true(first_old > RUN);
}

static void splinter(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    (void)now;
    struct timed *t = object;
    pw_splinter(t->system->nodes[0].manager, 0, pw_vpn_of(t->a.base));
}

static void load_while_splintered(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", REGION, 1);
    pw_events_post(t->system->events, t->n[0], splinter, t, 0);
    timed_launch(h, t);
}

/* mosaic-sec44-large-entry-invariant, mosaic-sec44-splinter-walks: at any time during a walk that began when the page
 * was large; no TLB is left with a large entry, and the access ends at the same frame. */
static void a_walk_to_a_page_that_is_splintered_meanwhile_fills_a_base_entry(void **state)
{
    (void)state;
    unsigned base = 0, none = 0;
    for (pw_cycle at = RUN - 10; at < RUN + 1200; at += 31) {
        struct timed t = {.design = "mosaic", .kernel = load_page, .body = load_while_splintered, .n = {at}};
        timed_run(&t);
        pw_pfn frame = {(uint32_t)(timed_physical(&t, REGION - PW_PAGE_BYTES) >> PW_PAGE_SHIFT)};
        pw_vpn vpn = pw_vpn_of((pw_vaddr){t.a.base.v + REGION - PW_PAGE_BYTES});
        assert_int_equal(timed_count(&t, "page.splintered"), 1);
        assert_int_equal(lines_cached(&t, frame), 32);
        assert_false(in_tlb(&t, true, vpn));
        base += in_tlb(&t, false, vpn);
        none += !in_tlb(&t, false, vpn);
        timed_end(&t);
    }
    assert_true(base > 5 && none > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sms_stand_still_while_pages_are_copied),
        cmocka_unit_test(a_second_compaction_waits_for_the_first),
        cmocka_unit_test(a_page_that_moves_during_a_walk_is_found_where_it_has_gone),
        cmocka_unit_test(a_walk_to_a_page_that_is_splintered_meanwhile_fills_a_base_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
