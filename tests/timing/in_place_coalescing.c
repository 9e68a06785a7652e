/* The In-Place Coalescer on a whole machine: when a large page can be used, what that costs, and what it takes.
 *
 * With l2.path = P a write to the page table is taken by its L2 slice P cycles after it was sent. Data is there at once
 * when paging is free, so a region that is allocated before a launch at cycle 0 is large at P. */
#include "gpu/gpu_internal.h"
#include "policies.h"
#include "policy/coalesce/coalesce_policy.h"
#include "timed.h"
#include "vm/page_manager_internal.h"

#include <stdio.h>

enum { P = 120, LARGE = 2 << 20, RUN = 1000 };

#define MOSAIC .design = "mosaic", .sets = {"l2.path=120"}

/* What the page table says of the first region of the array, at t->n[i] + 1 in t->data[i]. */
struct seen {
    bool large;
    unsigned disabled, order;
    uint64_t writes;
};

static void look(void *object, uint64_t i, pw_cycle now)
{
    struct timed *t = object;
    const struct pw_page_table *table = t->system->spaces[0].table;
    pw_vpn vpn = pw_vpn_of(t->a.base);
    (void)now;
    ((struct seen *)t->data)[i] = (struct seen){.large = pw_page_table_is_large(table, vpn),
                                                .disabled = pw_page_table_disabled(table, vpn),
                                                .order = pw_page_table_lookup(table, (pw_vpn){vpn.v + 7}).order,
                                                .writes = t->system->nodes[0].manager->counters[0].table_writes};
}

/* Events of one cycle run in the order in which they were posted: this one is posted late, and so runs last. */
static void look_soon(void *object, uint64_t i, pw_cycle now)
{
    struct timed *t = object;
    pw_events_post(t->system->events, now + 1, look, object, i);
}

static void compute(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, RUN);
}

static void allocate_and_look(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", t->bytes, 1);
    for (uint64_t i = 0; i < 8 && t->n[i]; i++)
        pw_events_post(t->system->events, t->n[i] - 1, look_soon, t, i);
    timed_launch(h, t);
}

/* mosaic-sec43-atomic, mosaic-sec43-set-order, mosaic-sec43-disabled-all, mosaic-sec43-usable-at-once,
 * mosaic-fig07-large-bit, mosaic-fig07-disabled-bit. */
static void one_write_makes_a_page_large_and_its_disabled_bits_follow(void **state)
{
    (void)state;
    struct seen seen[5];
    struct timed t = {
        MOSAIC,      .bytes = LARGE, .kernel = compute, .body = allocate_and_look, .n = {1, P - 1, P, 2 * P - 1, 2 * P},
        .data = seen};
    timed_run(&t);
    const struct seen base = {.large = false, .disabled = 0, .order = PW_PAGE_4K, .writes = 1};
    const struct seen large = {.large = true, .disabled = 0, .order = PW_PAGE_2M, .writes = 1 + 512 / 16};
    for (size_t i = 0; i < 5; i++) {
        const struct seen *wanted = i < 2 ? &base : &large;
        assert_int_equal(seen[i].large, wanted->large);
        assert_int_equal(seen[i].order, wanted->order);
        assert_int_equal(seen[i].writes, wanted->writes);
        assert_int_equal(seen[i].disabled, i < 4 ? 0 : 512);
    }
    timed_end(&t);
}

static void count_coalescing(struct timed *t, uint64_t pages)
{
    assert_int_equal(timed_count(t, "page.coalesced"), pages);
    assert_int_equal(timed_count(t, "page.table_writes"), pages * 33);
    assert_int_equal(timed_count(t, "page.migrated"), 0);
    assert_int_equal(timed_count(t, "page.flushes"), 0);
    assert_int_equal(timed_count(t, "page.splintered"), 0);
    assert_int_equal(timed_count(t, "page.pauses"), 0);
    assert_int_equal(timed_count(t, "page.pause_cycles"), 0);
}

/* mosaic-fig06-no-sm-stall, mosaic-sec43-no-migration, mosaic-sec43-no-flush. */
static void coalescing_stalls_nobody_moves_nothing_and_flushes_nothing(void **state)
{
    (void)state;
    struct timed t = {MOSAIC, .bytes = 8 * LARGE, .kernel = compute, .ctas = 30};
    pw_cycle plain = timed_cycles((struct timed){.bytes = 8 * LARGE, .kernel = compute, .ctas = 30});
    assert_int_equal(timed_run(&t), plain);
    count_coalescing(&t, 8);
    /* Nobody has accessed memory but the manager: 33 lines of page table for each region. */
    assert_int_equal(timed_count(&t, "l2.accesses"), 8 * 33);
    assert_int_equal(timed_count(&t, "dram.reads"), 0);
    assert_int_equal(timed_count(&t, "walk.count"), 0);
    timed_end(&t);
}

/* mosaic-sec43-fully-populated, mosaic-sec41-coalesce-check. */
static void one_missing_page_is_enough_for_a_region_to_stay_as_it_is(void **state)
{
    (void)state;
    const struct {
        uint64_t bytes, pages;
    } sizes[] = {{LARGE - 4096, 0}, {LARGE - 1, 1}, {LARGE, 1}, {LARGE + 4096, 1}, {3ULL * LARGE - 4096, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct timed t = {MOSAIC, .bytes = sizes[i].bytes, .kernel = compute};
        timed_run(&t);
        count_coalescing(&t, sizes[i].pages);
        timed_end(&t);
    }
}

/* mosaic-sec41-coalesce-check: nor are pages coalesced that lie elsewhere in physical memory. */
static void pages_that_are_scattered_are_not_coalesced(void **state)
{
    (void)state;
    struct timed random = {.design = "mosaic", .sets = {"page.frames=random"}, .bytes = 4 * LARGE, .kernel = compute};
    timed_run(&random);
    count_coalescing(&random, 0);
    timed_end(&random);
    /* First-free hands out frames in turn: alone an application gets contiguous ones, though the first large frame has
     * its page table; with another one it does not. */
    struct timed alone = {
        .design = "mosaic", .sets = {"page.frames=first-free"}, .bytes = 4 * LARGE, .kernel = compute};
    timed_run(&alone);
    uint64_t coalesced = timed_count(&alone, "page.coalesced");
    timed_end(&alone);
    struct timed other = {.bytes = 4 * LARGE, .kernel = compute};
    struct timed mixed = alone;
    mixed.neighbours[0] = &other;
    timed_run(&mixed);
    count_coalescing(&mixed, 0);
    timed_end(&mixed);
    assert_int_equal(coalesced, 0); /* shifted by the frames of the table, so never aligned */
    struct timed both = {MOSAIC, .bytes = 4 * LARGE, .kernel = compute, .neighbours = {&other}};
    timed_run(&both); /* the first to end starts over, and has begun to coalesce once more when the other ends */
    assert_int_equal(timed_count(&both, "page.coalesced"), 8);
    timed_end(&both);
}

/* Gathers the first region into a large frame but for its last page, whose place belongs to another program at
 * first. */
static void share_a_frame(struct timed *t)
{
    enum { LAST = 511, OTHER = PW_OWNER_APP + 1 };
    struct pw_page_table *table = t->system->spaces[0].table;
    struct pw_frames *frames = t->system->spaces[0].physical->frames;
    pw_vpn first = pw_vpn_of(t->a.base);
    pw_pfn block;
    assert_true(pw_frames_take(frames, PW_PAGE_2M, (pw_pfn){0}, PW_OWNER_APP, &block));
    for (uint32_t i = 0; i <= LAST; i++) {
        pw_pfn to = {block.v + i};
        if (i == LAST) {
            assert_true(pw_frames_release(frames, PW_PAGE_4K, to, PW_OWNER_APP));
            assert_true(pw_frames_take_at(frames, PW_PAGE_4K, to, OTHER));
            struct pw_coalesce_view view = pw_coalesce_view_of(t->system->nodes[0].manager, 0, first);
            assert_true(view.aligned && !view.contiguous && !view.one_space);
            assert_true(pw_frames_release(frames, PW_PAGE_4K, to, OTHER));
            assert_true(pw_frames_take_at(frames, PW_PAGE_4K, to, PW_OWNER_APP));
        }
        pw_pfn from = pw_page_table_move(table, (pw_vpn){first.v + i}, to);
        assert_true(pw_frames_release(frames, PW_PAGE_4K, from, PW_OWNER_APP));
    }
    struct pw_coalesce_view view = pw_coalesce_view_of(t->system->nodes[0].manager, 0, first);
    assert_true(view.aligned && view.contiguous && view.one_space);
}

/* mosaic-sec1-protection: what the coalescer tells its policy of address spaces. */
static void a_large_frame_that_another_program_has_a_page_in_is_not_of_one_address_space(void **state)
{
    (void)state;
    struct timed t = {.kernel = compute, .bytes = LARGE, .prepare = share_a_frame};
    t.sets[0] = "coalesce.policy=in-place";
    timed_run(&t);
    timed_end(&t);
}

/* mosaic-sec42-coalesce-conditions; mosaic-sec1-protection: one address space is a condition as the others are. */
static void every_condition_is_needed(void **state)
{
    (void)state;
    const struct pw_coalesce_policy *policy = pw_coalesce_policy_of(policy_named(&pw_coalesce_family, "in-place"));
    assert_true(policy->in_place);
    assert_false(policy->tallies); /* mosaic-sec43-no-monitoring */
    for (unsigned i = 0; i < 32; i++) {
        struct pw_coalesce_view view = {.allocated = i & 1 ? 512 : 511,
                                        .contiguous = i >> 1 & 1,
                                        .aligned = i >> 2 & 1,
                                        .one_space = i >> 3 & 1,
                                        .utilisation = i >> 4 & 1};
        assert_int_equal(policy->wants(NULL, &view), (i & 15) == 15);
    }
}

/* Each warp loads the first word of every page of the array, one after the other. */
static void touch_all(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->bytes / PW_PAGE_BYTES; i++)
        timed_fetch(w, t, i * PW_PAGE_BYTES);
}

/* mosaic-sec41-two-times, mosaic-sec43-no-monitoring: however much memory is accessed. */
static void the_coalescer_looks_at_a_region_when_it_is_allocated_and_not_again(void **state)
{
    (void)state;
    for (uint32_t launches = 1; launches <= 3; launches++) {
        struct timed t = {MOSAIC, .bytes = 3 * LARGE + 4096, .kernel = touch_all, .launches = launches, .ctas = 4};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "page.checks"), 4);
        assert_int_equal(timed_count(&t, "page.compact_checks"), 0);
        count_coalescing(&t, 3);
        timed_end(&t);
    }
}

/* mosaic-sec43-stale-base-valid: a page that was walked before goes on with its base entry, and the first translation
 * that is back with the large bit set serves all pages of the region. */
static void the_first_translation_that_comes_with_the_large_bit_set_serves_the_whole_region(void **state)
{
    (void)state;
    pw_cycle switched = 0;
    uint64_t before = 0;
    for (uint32_t latency = 60; latency < 200; latency++) {
        char text[32];
        snprintf(text, sizeof text, "walk.latency=%u", latency);
        struct timed t = {
            .design = "mosaic", .sets = {"l2.path=120", "walk.model=fixed", text}, .bytes = LARGE, .kernel = touch_all};
        timed_run(&t);
        uint64_t walks = timed_count(&t, "walk.count");
        assert_in_range(walks, 1, 2);
        if (walks == 1 && !switched)
            switched = latency;
        assert_true(!switched || walks == 1);
        before += walks == 2;
        timed_end(&t);
    }
    assert_true(before && switched);
    /* The load issues at 0, is looked up in the L1 TLB (1), goes to the L2 TLB (10), is looked up there (10 for large
     * and 10 for base entries), walks, and its translation goes back to the SM (10), which takes the mapping of
     * then. */
    assert_int_equal(1 + 10 + 20 + switched + 10, P);
}

struct arrival {
    pw_cycle full, large;
};

/* Looks at the region in every cycle until it is large. */
static void watch(void *object, uint64_t argument, pw_cycle now)
{
    struct timed *t = object;
    struct arrival *a = t->data;
    (void)argument;
    const struct pw_page_table *table = t->system->spaces[0].table;
    pw_vpn vpn = pw_vpn_of(t->a.base);
    bool large = pw_page_table_is_large(table, vpn), full = pw_page_table_present(table, vpn) == 512;
    assert_true(full || !large); /* mosaic-sec41-list-after-transfer */
    if (full && !a->full)
        a->full = now;
    if (large && !a->large)
        a->large = now;
    if (!large)
        pw_events_post(t->system->events, now + 1, watch, t, 0);
}

static void allocate_and_watch(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", t->bytes, 1);
    pw_events_post(t->system->events, 0, watch, t, 0);
    timed_launch(h, t);
}

/* 16 warps touch all pages of the array, so that far faults overlap. */
static void touch_share(struct pw_warp *w, struct timed *t)
{
    uint64_t pages = t->bytes / PW_PAGE_BYTES / 16, first = w->cta_index * pages;
    for (uint64_t i = 0; i < pages; i += 32)
        timed_load_lanes(w, t, (first + i) * PW_PAGE_BYTES, 32, PW_PAGE_BYTES);
    pw_use(w);
}

/* mosaic-sec43-coalesce-immediately, mosaic-sec41-list-after-transfer: the write is sent in the cycle in which the last
 * page has come, and takes as long as any. mosaic-sec41-order-alloc: transfers, their end, checks, the page table;
 * space is set aside before a transfer begins as a count of pages, and the frame itself is taken at its end
 * (docs/decisions.md). */
static void a_region_is_coalesced_as_soon_as_its_last_page_has_come(void **state)
{
    (void)state;
    static const char *const modes[] = {"paging.mode=preload", "paging.mode=demand"};
    for (size_t i = 0; i < 2; i++) {
        struct arrival a = {0};
        struct timed t = {.design = "mosaic",
                          .sets = {"l2.path=120", modes[i]},
                          .bytes = LARGE,
                          .kernel = touch_share,
                          .ctas = 16,
                          .body = allocate_and_watch,
                          .data = &a};
        timed_run(&t);
        assert_int_equal(a.large - a.full, P);
        assert_true(a.full > 100000); /* 2 MiB take 270 us */
        assert_int_equal(timed_count(&t, "page.checks"), 512);
        count_coalescing(&t, 1);
        timed_end(&t);
    }
}

/* mosaic-sec4-base-transfer. */
static void a_far_fault_brings_one_base_page(void **state)
{
    (void)state;
    struct timed t = {.design = "mosaic", .sets = {"paging.mode=demand"}, .bytes = 4096, .kernel = touch_all};
    t.body = NULL;
    struct timed sparse = {
        .design = "mosaic", .sets = {"paging.mode=demand"}, .bytes = 4 * LARGE, .kernel = touch_share, .ctas = 1};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 1);
    assert_int_equal(timed_count(&t, "uvm.bytes_h2d"), 4096);
    timed_end(&t);
    timed_run(&sparse); /* a sixteenth of 2048 pages: a quarter of the first region */
    assert_int_equal(timed_count(&sparse, "uvm.far_faults"), 128);
    assert_int_equal(timed_count(&sparse, "uvm.bytes_h2d"), 128 * 4096);
    count_coalescing(&sparse, 0);
    timed_end(&sparse);
}

static unsigned asked;

static bool changes_its_mind(void *instance, const struct pw_coalesce_view *view)
{
    (void)instance;
    assert_true(view->allocated == 512 && view->contiguous && view->aligned && view->one_space);
    return asked++ < 5;
}

static const struct pw_coalesce_policy other = {.head = {.name = "other"}, .in_place = true, .wants = changes_its_mind};

static void exchange_policy(struct pw_host *h, struct timed *t)
{
    t->system->nodes[0].manager->coalescing = &other;
    t->a = pw_alloc(h, "a", t->bytes, 1);
    timed_launch(h, t);
}

/* mosaic-sec41-sw-hw-split: another policy decides, the same hardware acts. It is asked again when the large bit is to
 * be set, and four writes are on their way when it changes its mind. */
static void another_policy_can_decide(void **state)
{
    (void)state;
    struct timed t = {MOSAIC, .bytes = 4 * LARGE, .kernel = compute, .body = exchange_policy};
    asked = 0;
    timed_run(&t);
    assert_int_equal(asked, 8);
    assert_int_equal(timed_count(&t, "page.coalesced"), 1);
    assert_int_equal(timed_count(&t, "page.table_writes"), 4 + 32);
    timed_end(&t);
    struct timed never = {MOSAIC, .bytes = 4 * LARGE, .kernel = compute};
    never.sets[1] = "coalesce.policy=none";
    timed_run(&never);
    count_coalescing(&never, 0);
    timed_end(&never);
}

/* mosaic-sec1-components: what sets mosaic apart from the baseline are an allocator, a coalescer and a compactor. */
static void three_choices_make_mosaic_of_the_baseline(void **state)
{
    (void)state;
    struct timed mosaic = {.design = "mosaic"}, baseline = {.design = "gpu-mmu"};
    static const char *const parts[] = {"page.frames", "coalesce.policy", "compact.policy"};
    unsigned different = 0;
    timed_configure(&mosaic);
    timed_configure(&baseline);
    for (size_t i = 0; i < pw_options_count(mosaic.options); i++) {
        struct pw_option_view a, b;
        pw_options_view(mosaic.options, i, &a);
        pw_options_view(baseline.options, i, &b);
        if (!strcmp(a.value, b.value))
            continue;
        assert_true(different < 3);
        assert_string_equal(a.name, parts[different++]);
    }
    assert_int_equal(different, 3);
    timed_end(&mosaic);
    timed_end(&baseline);
}

/* mosaic-fig15-gpummu-unused. */
static void the_baseline_fills_no_large_entry(void **state)
{
    (void)state;
    struct timed t = {.bytes = 4 * LARGE, .kernel = touch_all};
    timed_run(&t);
    for (uint32_t i = 0; i < t.config.gpu.sm.count; i++)
        assert_null(t.system->nodes[0].gpu->sms[i].tlb.large.state);
    timed_end(&t);
    pw_cycle cycles[2];
    static const char *const entries[] = {"l1_tlb.large_entries=1", "l1_tlb.large_entries=64"};
    for (size_t i = 0; i < 2; i++)
        cycles[i] = timed_cycles((struct timed){.bytes = 4 * LARGE, .kernel = touch_all, .sets = {entries[i]}});
    assert_int_equal(cycles[0], cycles[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_write_makes_a_page_large_and_its_disabled_bits_follow),
        cmocka_unit_test(coalescing_stalls_nobody_moves_nothing_and_flushes_nothing),
        cmocka_unit_test(one_missing_page_is_enough_for_a_region_to_stay_as_it_is),
        cmocka_unit_test(pages_that_are_scattered_are_not_coalesced),
        cmocka_unit_test(a_large_frame_that_another_program_has_a_page_in_is_not_of_one_address_space),
        cmocka_unit_test(every_condition_is_needed),
        cmocka_unit_test(the_coalescer_looks_at_a_region_when_it_is_allocated_and_not_again),
        cmocka_unit_test(the_first_translation_that_comes_with_the_large_bit_set_serves_the_whole_region),
        cmocka_unit_test(a_region_is_coalesced_as_soon_as_its_last_page_has_come),
        cmocka_unit_test(a_far_fault_brings_one_base_page),
        cmocka_unit_test(another_policy_can_decide),
        cmocka_unit_test(three_choices_make_mosaic_of_the_baseline),
        cmocka_unit_test(the_baseline_fills_no_large_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
