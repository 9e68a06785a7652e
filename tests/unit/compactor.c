/* Contiguity-Aware Compaction (Mosaic, Section 4.4): when a large page is splintered, where its base pages go, what
 * becomes of its frame, and how long all SMs stand still. */
#include "mosaic.h"

enum { HALF = MOSAIC_PAGES / 2 };

static struct mosaic *world(struct mosaic *w)
{
    w->blocks = w->blocks ? w->blocks : 16;
    mosaic_open(w);
    return w;
}

static uint64_t free_blocks(const struct mosaic *w)
{
    return pw_frames_free_blocks(w->physical.frames);
}

/* Takes every free large frame for an application that does nothing with them. */
static void take_free_blocks(struct mosaic *w, pw_asid asid)
{
    while (free_blocks(w))
        mosaic_allocate(w, asid, MOSAIC_PAGES);
}

/* Takes everything that is handed out to this application. */
static void take_free_frames(struct mosaic *w, pw_asid asid)
{
    while (mosaic_map(w, asid, mosaic_reserve(w, asid, MOSAIC_PAGES), MOSAIC_PAGES))
        ;
}

/* mosaic-sec44-threshold-below, mosaic-sec44-threshold-ge, mosaic-sec44-threshold-config, mosaic-sec41-frag-test,
 * mosaic-sec44-emergency-add: at the threshold, whatever it is set to, and above the page stays large and its frame is
 * kept for an emergency; with one base page less it is splintered. */
static void a_large_page_is_splintered_below_the_threshold_and_not_at_it(void **state)
{
    (void)state;
    static const struct {
        uint32_t percent;
        unsigned fewest; /* base pages that stay a large page */
    } cases[] = {{50, 256}, {1, 6}, {25, 128}, {33, 169}, {99, 507}, {100, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned fewest = cases[i].fewest;
        for (int below = fewest == MOSAIC_PAGES; below < 2; below++) {
            struct mosaic w = {.threshold = cases[i].percent};
            world(&w);
            pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
            assert_true(mosaic_is_large(&w, 0, a));
            pw_pfn block = mosaic_frame(&w, 0, a.v), kept;
            unsigned left = fewest - (unsigned)below;
            mosaic_free(&w, 0, (pw_vpn){a.v + left}, MOSAIC_PAGES - left);
            assert_int_equal(mosaic_is_large(&w, 0, a), !below);
            assert_int_equal(mosaic_counters(&w, 0)->splintered, below);
            assert_int_equal(mosaic_counters(&w, 0)->migrated, below ? left : 0);
            assert_int_equal(w.physical.policy->blocks->emergency(w.physical.policy_state, PW_OWNER_APP, &kept),
                             !below);
            if (!below)
                assert_int_equal(kept.v, block.v);
            mosaic_close(&w);
        }
    }
}

/* mosaic-sec44-check-each-dealloc, mosaic-sec41-dealloc-invoke: one look for each deallocation in a coalesced page,
 * none for those elsewhere. */
static void compaction_looks_at_every_deallocation_in_a_coalesced_page_and_at_no_other(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn large = mosaic_allocate(&w, 0, MOSAIC_PAGES), small = mosaic_allocate(&w, 0, MOSAIC_PAGES - 1);
    assert_false(mosaic_is_large(&w, 0, small));
    for (unsigned i = 0; i < HALF; i++) {
        mosaic_free(&w, 0, (pw_vpn){large.v + 2 * i}, 1);
        mosaic_free(&w, 0, (pw_vpn){small.v + i}, 1);
        assert_int_equal(mosaic_counters(&w, 0)->compact_checks, i + 1);
        assert_true(mosaic_is_large(&w, 0, large));
    }
    mosaic_free(&w, 0, (pw_vpn){large.v + 1}, 1);
    assert_false(mosaic_is_large(&w, 0, large));
    mosaic_free(&w, 0, (pw_vpn){large.v + 3}, 1);
    assert_int_equal(mosaic_counters(&w, 0)->compact_checks, HALF + 1);
    mosaic_close(&w);
}

/* A large page that is freed altogether leaves nothing to splinter, to move or to wait for. */
static void a_large_page_that_is_freed_altogether_just_goes(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    uint64_t before = free_blocks(&w);
    pw_vpn a = mosaic_allocate(&w, 0, 3 * MOSAIC_PAGES);
    for (unsigned i = 0; i < 3; i++)
        mosaic_translate(&w, 0, 0, (pw_vpn){a.v + i * MOSAIC_PAGES});
    mosaic_free(&w, 0, a, 3 * MOSAIC_PAGES);
    assert_int_equal(mosaic_counters(&w, 0)->splintered, 0);
    assert_int_equal(w.pauses, 0);
    assert_in_range(free_blocks(&w), before - 1, before); /* page tables */
    mosaic_allocate(&w, 1, 3 * MOSAIC_PAGES);
    assert_int_equal(mosaic_counters(&w, 1)->coalesced, 3);
    mosaic_close(&w);
}

static void mapping_at_first_shootdown(struct mosaic *w, const struct mosaic_shootdown *s)
{
    uint32_t *block = w->test;
    if (w->shootdown_count == 1)
        for (uint64_t vpn = s->first; vpn < s->first + 10; vpn++)
            assert_int_equal(mosaic_frame(w, s->asid, vpn).v, *block * PW_REGION_PAGES + vpn % PW_REGION_PAGES);
}

/* mosaic-sec44-compact-after-splinter, mosaic-sec41-order-dealloc, mosaic-sec44-splinter-flush: bits, then the flush of
 * the large page, then the first page moves, each leaving the TLBs by itself, and the frame is free at the end. */
static void pages_move_when_their_large_page_has_been_splintered_and_flushed(void **state)
{
    (void)state;
    struct mosaic w = {.on_shootdown = mapping_at_first_shootdown};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    uint32_t block = mosaic_block(&w, 0, a.v);
    w.test = &block;
    assert_int_equal(pw_page_table_disabled(w.tables[0], a), MOSAIC_PAGES);
    assert_int_equal(w.shootdown_count, 0);
    mosaic_free(&w, 0, (pw_vpn){a.v + 10}, MOSAIC_PAGES - 10);
    assert_int_equal(w.shootdown_count, 1 + 10);
    for (size_t i = 0; i < w.shootdown_count; i++) {
        const struct mosaic_shootdown *s = &w.shootdowns[i];
        assert_int_equal(s->first, i ? a.v + i - 1 : a.v);
        assert_int_equal(s->outer - s->first, i ? 1 : MOSAIC_PAGES);
        assert_false(s->large);
        assert_int_equal(s->disabled, 0);
    }
    assert_int_equal(mosaic_counters(&w, 0)->flushes, 1);
    assert_int_equal(mosaic_counters(&w, 0)->migrated, 10);
    assert_int_equal(mosaic_owned(&w, block, PW_OWNER_FREE), MOSAIC_PAGES);
    mosaic_close(&w);
}

/* mosaic-sec44-large-entry-invariant, mosaic-sec44-splinter-walks: large entries in several TLBs, and base entries from
 * before the page was coalesced. */
static void no_tlb_keeps_anything_of_a_splintered_page(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn a = mosaic_reserve(&w, 0, MOSAIC_PAGES);
    assert_true(mosaic_map(&w, 0, a, MOSAIC_PAGES - 1));
    for (unsigned i = 0; i < 8; i++)
        mosaic_translate(&w, 0, 0, (pw_vpn){a.v + i});
    assert_true(mosaic_map(&w, 0, (pw_vpn){a.v + MOSAIC_PAGES - 1}, 1));
    for (unsigned tlb = 0; tlb < MOSAIC_TLBS; tlb++) {
        mosaic_translate(&w, tlb, 0, (pw_vpn){a.v + 100});
        assert_true(mosaic_has_large(&w, tlb, 0, a));
    }
    mosaic_free(&w, 0, (pw_vpn){a.v + 20}, MOSAIC_PAGES - 20);
    pw_pfn frame;
    for (unsigned tlb = 0; tlb < MOSAIC_TLBS; tlb++)
        for (unsigned i = 0; i < MOSAIC_PAGES; i++)
            assert_false(pw_tlb_lookup(&w.tlbs[tlb], 0, (pw_vpn){a.v + i}, &frame));
    for (unsigned i = 0; i < 20; i++) {
        struct pw_translation t = pw_page_table_lookup(w.tables[0], (pw_vpn){a.v + i});
        assert_true(t.present);
        assert_int_equal(t.order, PW_PAGE_4K);
        assert_int_equal(mosaic_translate(&w, 0, 0, (pw_vpn){a.v + i}).v, mosaic_frame(&w, 0, a.v + i).v);
        assert_false(mosaic_has_large(&w, 0, 0, a));
    }
    mosaic_close(&w);
}

/* mosaic-sec44-dest-frame, mosaic-sec44-frame-to-free-list: a frame of the same application that is not coalesced takes
 * the pages, though the other application's has more room and there are free frames; the old frame can be had as a
 * whole. */
static void pages_move_to_an_uncoalesced_frame_of_their_own_application(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn other = mosaic_allocate(&w, 1, 7), own = mosaic_allocate(&w, 0, 300),
           large = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    uint32_t emptied = mosaic_block(&w, 0, large.v), into = mosaic_block(&w, 0, own.v);
    assert_int_not_equal(into, mosaic_block(&w, 1, other.v));
    uint64_t before = free_blocks(&w);
    mosaic_free(&w, 0, large, MOSAIC_PAGES - 200);
    for (unsigned i = MOSAIC_PAGES - 200; i < MOSAIC_PAGES; i++)
        assert_int_equal(mosaic_block(&w, 0, large.v + i), into);
    assert_int_equal(mosaic_owned(&w, into, PW_OWNER_APP), 500);
    assert_int_equal(mosaic_owned(&w, emptied, PW_OWNER_FREE), MOSAIC_PAGES);
    assert_int_equal(free_blocks(&w), before + 1);
    assert_int_equal(mosaic_counters(&w, 0)->compactions, 1);
    take_free_blocks(&w, 2);
    assert_int_equal(mosaic_owned(&w, emptied, PW_OWNER_APP + 2), MOSAIC_PAGES);
    mosaic_close(&w);
}

/* mosaic-sec41-merge-many-to-one: four large pages with a quarter of their pages each fill one frame, taken from the
 * free list, exactly. */
static void what_is_left_of_several_large_pages_fits_into_one_frame(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    enum { LARGE = 4, LEFT = MOSAIC_PAGES / LARGE };
    pw_vpn a = mosaic_allocate(&w, 0, LARGE * MOSAIC_PAGES);
    uint64_t before = free_blocks(&w);
    for (unsigned i = 0; i < LARGE; i++)
        mosaic_free(&w, 0, (pw_vpn){a.v + i * MOSAIC_PAGES + LEFT}, MOSAIC_PAGES - LEFT);
    uint32_t into = mosaic_block(&w, 0, a.v);
    for (unsigned i = 0; i < LARGE * LEFT; i++)
        assert_int_equal(mosaic_block(&w, 0, a.v + i / LEFT * MOSAIC_PAGES + i % LEFT), into);
    assert_int_equal(mosaic_owned(&w, into, PW_OWNER_APP), MOSAIC_PAGES);
    assert_int_equal(free_blocks(&w), before + LARGE - 1);
    assert_int_equal(mosaic_counters(&w, 0)->compactions, LARGE);
    mosaic_close(&w);
}

/* Room for 5 of 100 pages: 5 move, 95 stay where they are, and what is free around them is handed out again. */
static void pages_without_a_place_to_go_stay(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn own = mosaic_allocate(&w, 0, MOSAIC_PAGES - 5), large = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    take_free_blocks(&w, 1);
    uint32_t old = mosaic_block(&w, 0, large.v), into = mosaic_block(&w, 0, own.v);
    mosaic_free(&w, 0, large, MOSAIC_PAGES - 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(mosaic_block(&w, 0, large.v + MOSAIC_PAGES - 100 + i), i < 5 ? into : old);
    assert_int_equal(mosaic_counters(&w, 0)->migrated, 5);
    assert_int_equal(mosaic_counters(&w, 0)->compactions, 0);
    assert_int_equal(mosaic_counters(&w, 0)->pause_cycles, 5 * MOSAIC_COPY);
    pw_vpn more = mosaic_allocate(&w, 0, 412 + 5);
    for (unsigned i = 0; i < 412 + 5; i++)
        assert_int_equal(mosaic_block(&w, 0, more.v + i), old);
    mosaic_close(&w);
}

/* mosaic-sec5-cac-worst-case, mosaic-sec64-ideal-cac, mosaic-sec44-bulk-one-op, mosaic-sec44-bulk-optional: pages are
 * copied one after the other while all SMs stand still; a bulk copy is one operation for each; without any time nobody
 * waits. The mappings are the same. */
static void sms_stand_still_for_every_page_that_is_copied(void **state)
{
    (void)state;
    static const uint64_t cycles[] = {
        [PW_COPY_CHANNEL] = MOSAIC_COPY, [PW_COPY_BULK] = MOSAIC_BULK, [PW_COPY_FREE] = 0};
    enum { LEFT = 123 };
    uint32_t frames[LEFT];
    for (uint32_t copy = PW_COPY_CHANNEL; copy <= PW_COPY_FREE; copy++) {
        struct mosaic w = {.copy = copy};
        world(&w);
        pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
        mosaic_free(&w, 0, (pw_vpn){a.v + LEFT}, MOSAIC_PAGES - LEFT);
        assert_int_equal(w.pauses, cycles[copy] ? 1 : 0);
        assert_int_equal(w.paused_until, LEFT * cycles[copy]);
        assert_int_equal(mosaic_counters(&w, 0)->pauses, w.pauses);
        assert_int_equal(mosaic_counters(&w, 0)->pause_cycles, LEFT * cycles[copy]);
        assert_int_equal(mosaic_counters(&w, 0)->migrated, LEFT);
        for (unsigned i = 0; i < LEFT; i++) {
            if (copy == PW_COPY_CHANNEL)
                frames[i] = mosaic_frame(&w, 0, a.v + i).v;
            assert_int_equal(mosaic_frame(&w, 0, a.v + i).v, frames[i]);
        }
        mosaic_close(&w);
    }
}

/* A second compaction begins when the first has ended; one that comes later begins then. */
static void compactions_do_not_overlap(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, 3 * MOSAIC_PAGES);
    mosaic_free(&w, 0, (pw_vpn){a.v + 7}, MOSAIC_PAGES - 7);
    mosaic_free(&w, 0, (pw_vpn){a.v + MOSAIC_PAGES + 9}, MOSAIC_PAGES - 9);
    assert_int_equal(w.paused_until, (7 + 9) * MOSAIC_COPY);
    w.events->now = 1000000;
    mosaic_free(&w, 0, (pw_vpn){a.v + 2 * MOSAIC_PAGES + 11}, MOSAIC_PAGES - 11);
    assert_int_equal(w.paused_until, 1000000 + 11 * MOSAIC_COPY);
    assert_int_equal(mosaic_counters(&w, 0)->pause_cycles, (7 + 9 + 11) * MOSAIC_COPY);
    mosaic_close(&w);
}

/* Splintering writes a line of sixteen entries at a time and then the large bit; each page that moves, its entry. */
static void page_table_writes_are_counted(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    uint64_t before = mosaic_counters(&w, 0)->table_writes;
    mosaic_free(&w, 0, (pw_vpn){a.v + 10}, MOSAIC_PAGES - 10);
    assert_int_equal(mosaic_counters(&w, 0)->table_writes - before, MOSAIC_PAGES / 16 + 1 + 10);
    mosaic_close(&w);
}

/* mosaic-sec44-dealloc-frag: half of a large page is free, and memory is full otherwise; neither its own application
 * nor another gets a frame of it. */
static void what_is_free_in_a_coalesced_frame_is_handed_out_to_nobody(void **state)
{
    (void)state;
    struct mosaic w = {.compact = "none"};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    uint32_t block = mosaic_block(&w, 0, a.v);
    take_free_blocks(&w, 2);
    mosaic_free(&w, 0, a, HALF);
    take_free_frames(&w, 0);
    take_free_frames(&w, 1);
    assert_int_equal(pw_frames_free(w.physical.frames), HALF);
    assert_int_equal(mosaic_owned(&w, block, PW_OWNER_FREE), HALF);
    assert_int_equal(mosaic_owned(&w, block, PW_OWNER_APP), HALF);
    mosaic_close(&w);
}

/* mosaic-sec64-no-cac. */
static void without_compaction_nothing_is_splintered_or_moved(void **state)
{
    (void)state;
    struct mosaic w = {.compact = "none"};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    mosaic_free(&w, 0, (pw_vpn){a.v + 1}, MOSAIC_PAGES - 1);
    assert_true(mosaic_is_large(&w, 0, a));
    assert_false(pw_page_manager_make_room(w.manager, 0, true));
    assert_int_equal(mosaic_counters(&w, 0)->compactions, 0);
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 0);
    assert_int_equal(mosaic_counters(&w, 0)->migrated, 0);
    assert_int_equal(w.pauses, 0);
    mosaic_close(&w);
}

/* mosaic-sec44-emergency-use, mosaic-sec44-emergency-splinter, mosaic-sec42-frames-exhausted: with a free frame left
 * kept pages stay large; without one the oldest is splintered, and its free base pages are used before the next is. */
static void kept_pages_are_splintered_one_by_one_when_no_frame_is_left(void **state)
{
    (void)state;
    struct mosaic w = {0};
    world(&w);
    pw_vpn a = mosaic_allocate(&w, 0, 2 * MOSAIC_PAGES), second = {a.v + MOSAIC_PAGES};
    mosaic_free(&w, 0, second, 100); /* kept first */
    mosaic_free(&w, 0, a, 60);
    uint32_t first_block = mosaic_block(&w, 0, second.v + 200), next_block = mosaic_block(&w, 0, a.v + 200);
    while (free_blocks(&w))
        mosaic_allocate(&w, 0, MOSAIC_PAGES - 1);
    pw_vpn fill = mosaic_reserve(&w, 0, MOSAIC_PAGES);
    unsigned filled = 0;
    while (!mosaic_counters(&w, 0)->emergencies)
        assert_true(mosaic_map(&w, 0, (pw_vpn){fill.v + filled++}, 1));
    assert_false(mosaic_is_large(&w, 0, second));
    assert_true(mosaic_is_large(&w, 0, a));
    assert_int_equal(mosaic_block(&w, 0, fill.v + filled - 1), first_block);
    pw_vpn more = mosaic_reserve(&w, 0, MOSAIC_PAGES - 1); /* the last frames are those beside page tables */
    assert_true(mosaic_map(&w, 0, more, 99));
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 1);
    for (unsigned i = 0; i < 99; i++)
        assert_int_equal(mosaic_block(&w, 0, more.v + i), first_block);
    assert_true(mosaic_map(&w, 0, (pw_vpn){more.v + 99}, 60));
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 2);
    assert_int_equal(mosaic_block(&w, 0, more.v + 99), next_block);
    take_free_frames(&w, 0);
    assert_int_equal(pw_frames_free(w.physical.frames), 0);
    assert_int_equal(mosaic_counters(&w, 0)->migrated, 0);
    assert_int_equal(w.pauses, 0);
    mosaic_close(&w);
}

/* A world in which so many percent of the base pages of every large frame are taken. */
static struct mosaic *fragmented_world(struct mosaic *w, double occupancy)
{
    w->page.fragmentation = 100;
    w->page.occupancy = occupancy;
    return world(w);
}

static uint64_t fragments(const struct mosaic *w)
{
    uint64_t n = 0;
    for (uint32_t block = 0; block < w->blocks; block++)
        n += mosaic_owned(w, block, PW_OWNER_FRAGMENT);
    return n;
}

/* mosaic-sec44-oom-avoid: no large frame is free, but half of memory is. Each whole region has one frame emptied for
 * it, as long as the others have room for its data; that is copied at its price, and none of it is lost. */
static void fragmented_frames_are_emptied_for_whole_regions(void **state)
{
    (void)state;
    struct mosaic w = {0};
    fragmented_world(&w, 50);
    assert_int_equal(free_blocks(&w), 0);
    for (unsigned i = 1; i <= 6; i++) { /* page tables take some of the room of the eighth, and lie in the seventh */
        pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
        assert_true(mosaic_is_large(&w, 0, a));
        assert_int_equal(mosaic_counters(&w, 0)->compactions, i);
        assert_int_equal(mosaic_counters(&w, 0)->migrated, i * HALF);
        assert_int_equal(mosaic_counters(&w, 0)->pause_cycles, i * HALF * MOSAIC_COPY);
        assert_int_equal(fragments(&w), 16 * HALF);
    }
    take_free_frames(&w, 0);
    assert_int_equal(pw_frames_free(w.physical.frames), 0);
    assert_int_equal(mosaic_counters(&w, 0)->compactions, 7);
    assert_int_equal(mosaic_counters(&w, 0)->coalesced, 6);
    assert_int_equal(fragments(&w), 16 * HALF);
    mosaic_close(&w);
}

/* mosaic-sec64-no-cac: pages lie between the data that was there, none of which moves, and nothing can be coalesced. */
static void without_compaction_fragmented_frames_stay_fragmented(void **state)
{
    (void)state;
    struct mosaic w = {.compact = "none"};
    fragmented_world(&w, 50);
    pw_vpn a = mosaic_allocate(&w, 0, 4 * MOSAIC_PAGES);
    for (unsigned i = 0; i < 4; i++)
        assert_false(mosaic_is_large(&w, 0, (pw_vpn){a.v + i * MOSAIC_PAGES}));
    assert_int_equal(mosaic_counters(&w, 0)->compactions, 0);
    assert_int_equal(mosaic_counters(&w, 0)->migrated, 0);
    for (uint32_t block = 0; block < w.blocks; block++)
        assert_int_equal(mosaic_owned(&w, block, PW_OWNER_FRAGMENT), HALF);
    mosaic_close(&w);
}

/* Three quarters are taken everywhere: a frame that is emptied fills three others; then nothing can be gained. */
static void nothing_is_moved_when_no_frame_can_be_emptied(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 6};
    fragmented_world(&w, 75);
    mosaic_allocate(&w, 0, MOSAIC_PAGES);
    uint64_t moved = mosaic_counters(&w, 0)->migrated;
    assert_int_equal(moved, MOSAIC_PAGES * 3 / 4);
    assert_false(pw_page_manager_make_room(w.manager, 0, true));
    assert_int_equal(mosaic_counters(&w, 0)->migrated, moved);
    assert_int_equal(fragments(&w), 6 * MOSAIC_PAGES * 3 / 4);
    mosaic_close(&w);
}

/* mosaic-sec44-emergency-use: a kept page stays large while there is still a frame to be emptied. */
static void kept_pages_stay_large_while_fragmented_frames_can_be_emptied(void **state)
{
    (void)state;
    struct mosaic w = {0};
    fragmented_world(&w, 25);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    mosaic_free(&w, 0, a, 100);
    uint64_t emptied = mosaic_counters(&w, 0)->compactions;
    for (unsigned i = 0; i < 3; i++) {
        mosaic_allocate(&w, 0, MOSAIC_PAGES - 1); /* base pages, a frame's worth each time */
        assert_in_range(mosaic_counters(&w, 0)->compactions, emptied + 1, emptied + 2);
        emptied = mosaic_counters(&w, 0)->compactions;
        assert_true(mosaic_is_large(&w, 0, a));
    }
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 0);
    take_free_frames(&w, 0);
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 1);
    assert_false(mosaic_is_large(&w, 0, a));
    mosaic_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_page_is_splintered_below_the_threshold_and_not_at_it),
        cmocka_unit_test(compaction_looks_at_every_deallocation_in_a_coalesced_page_and_at_no_other),
        cmocka_unit_test(a_large_page_that_is_freed_altogether_just_goes),
        cmocka_unit_test(pages_move_when_their_large_page_has_been_splintered_and_flushed),
        cmocka_unit_test(no_tlb_keeps_anything_of_a_splintered_page),
        cmocka_unit_test(pages_move_to_an_uncoalesced_frame_of_their_own_application),
        cmocka_unit_test(what_is_left_of_several_large_pages_fits_into_one_frame),
        cmocka_unit_test(pages_without_a_place_to_go_stay),
        cmocka_unit_test(sms_stand_still_for_every_page_that_is_copied),
        cmocka_unit_test(compactions_do_not_overlap),
        cmocka_unit_test(page_table_writes_are_counted),
        cmocka_unit_test(what_is_free_in_a_coalesced_frame_is_handed_out_to_nobody),
        cmocka_unit_test(without_compaction_nothing_is_splintered_or_moved),
        cmocka_unit_test(kept_pages_are_splintered_one_by_one_when_no_frame_is_left),
        cmocka_unit_test(fragmented_frames_are_emptied_for_whole_regions),
        cmocka_unit_test(without_compaction_fragmented_frames_stay_fragmented),
        cmocka_unit_test(nothing_is_moved_when_no_frame_can_be_emptied),
        cmocka_unit_test(kept_pages_stay_large_while_fragmented_frames_can_be_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
