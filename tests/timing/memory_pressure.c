/* What must hold when memory is short or goes away under a running program: large frames run out, all frames run out,
 * parts of large pages are freed under accesses, programs end and start over while others' pages move. A run ends with
 * every identity intact, or with one line that says what is wrong; meanwhile no TLB disagrees with its page table. */
#include "gpu/gpu_internal.h"
#include "timed.h"
#include "vm/page_manager_internal.h"

enum { REGION = 2 << 20, KEPT = 128, AUDIT = 700 };

/* Checks TLBs and frames while the machine runs, less and less often. A policy that moves pages has taken frames that
 * are not mapped yet. */
static void audit(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct timed *t = object;
    struct pw_system *s = t->system;
    if (!s->apps_left)
        return;
    t->n[7]++;
    for (size_t i = 0; i < pw_stats_identity_count(s->stats); i++) {
        const char *name = pw_stats_identity_name(s->stats, i);
        bool holds_always =
            strstr(name, "TLB entry") || strstr(name, "large page was") ||
            (strstr(name, "frame is owned") && (!s->nodes[0].manager || !s->nodes[0].manager->migrator));
        if (holds_always && pw_stats_identity_run(s->stats, i, &t->err) != PW_OK)
            fail_msg("cycle %llu: %s", (unsigned long long)now, t->err.message);
    }
    pw_events_post(s->events, now + AUDIT + now / 16, audit, t, 0);
}

static uint64_t scrambled(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ULL;
    return x ^ x >> 29;
}

/* Loads from and stores to pages that stay, in an order of its own. */
static void use_kept_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 120; i++) {
        uint64_t random = scrambled((w->cta_index * 64ULL + w->index) * 1000 + i);
        uint64_t byte = REGION - (1 + random % KEPT) * PW_PAGE_BYTES + random / KEPT % 32 * PW_LINE_BYTES;
        if (i % 4)
            timed_fetch(w, t, byte);
        else
            timed_store(w, t, byte);
    }
}

/* Frees pages from the beginning of the array on, up to `outer`. */
static void free_up_to(void *object, uint64_t outer, pw_cycle now)
{
    (void)now;
    struct timed *t = object;
    pw_vpn first = {pw_vpn_of(t->a.base).v + t->n[0]}, end = {pw_vpn_of(t->a.base).v + outer};
    t->n[0] = outer;
    assert_int_equal(pw_address_space_free_part(&t->system->spaces[t->app], first, end, &t->err), PW_OK);
    pw_gpu_shootdown(t->system->nodes[0].gpu, (pw_asid)t->app, first, end);
}

static const struct {
    pw_cycle at;
    uint64_t outer;
} frees[] = {{2000, 100}, {3000, 256}, {4000, 257}, {9000, 300}, {10000, 512 - KEPT}};

static void run_and_free(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", REGION, 1);
    for (size_t i = 0; t->n[1] && i < sizeof frees / sizeof *frees; i++)
        pw_events_post(t->system->events, frees[i].at, free_up_to, t, frees[i].outer);
    pw_events_post(t->system->events, 1, audit, t, 0);
    timed_launch(h, t);
}

/* Half of a coalesced page is freed in two parts, and it stays; one page more, and what is left of it moves under the
 * warps that use it; the rest is freed where it has gone. */
static void freeing_part_of_a_large_page_does_not_disturb_those_who_use_the_rest(void **state)
{
    (void)state;
    static const char *const kinds[] = {"mosaic", "mosaic-cac-bc", "mosaic-ideal-cac", "mosaic-no-cac"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int stall = 0; stall < 2; stall++) {
            struct timed t = {.design = kinds[i],
                              .sets = {"dram.bytes=64MB", "l1_tlb.base_entries=16", "l2_tlb.base_entries=64",
                                       "l2_tlb.base_ways=0", stall ? "l1_tlb.on_miss=stall_lsu" : NULL},
                              .kernel = use_kept_pages,
                              .body = run_and_free,
                              .ctas = 60,
                              .threads = 64};
            timed_run(&t);
            uint64_t accesses = timed_count(&t, "l1d.accesses"), stores = timed_count(&t, "l1d.stores");
            timed_end(&t);
            t.n[0] = t.n[7] = 0;
            t.n[1] = true;
            pw_cycle cycles = timed_run(&t);
            bool compacts = strcmp(kinds[i], "mosaic-no-cac") != 0;
            assert_true(cycles > 10000 && t.n[7] > 10);
            assert_int_equal(t.n[0], 512 - KEPT);
            assert_int_equal(timed_count(&t, "l1d.accesses"), accesses);
            assert_int_equal(timed_count(&t, "l1d.stores"), stores);
            assert_int_equal(timed_count(&t, "page.compact_checks"), compacts ? 3 : 0);
            assert_int_equal(timed_count(&t, "page.compactions"), compacts);
            assert_int_equal(timed_count(&t, "page.migrated"), compacts ? 255 : 0);
            timed_end(&t);
        }
}

/* Warps go over the first t->n[2] pages of the array together, 1 + t->n[4] times. */
static void sweep(struct pw_warp *w, struct timed *t)
{
    for (uint64_t round = 0; round <= t->n[4]; round++)
        for (uint64_t page = w->cta_index; page < t->n[2]; page += w->launch->grid.x)
            timed_fetch(w, t, page * PW_PAGE_BYTES);
}

/* Pages come one by one as they are accessed, so TLBs are full of base entries when the last one makes them a large
 * page. Those stay and are right; the first page that has lost its own in the L1 TLB brings the large entry. */
static void base_entries_from_before_a_page_was_coalesced_stay_right(void **state)
{
    (void)state;
    struct timed t = {.design = "mosaic",
                      .sets = {"paging.mode=demand", "dram.bytes=64MB"},
                      .bytes = REGION,
                      .kernel = sweep,
                      .launches = 2,
                      .n = {[2] = 512}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "page.coalesced"), 1);
    assert_int_equal(timed_count(&t, "page.flushes"), 0);
    assert_int_equal(timed_count(&t, "page.migrated"), 0);
    assert_int_equal(timed_launch_count(&t, 0, 1, "l1_tlb.misses"), 512);
    assert_int_equal(timed_launch_count(&t, 0, 2, "l1_tlb.misses"), 1);
    assert_int_equal(timed_launch_count(&t, 0, 2, "walk.count"), 0);
    timed_end(&t);
}

/* A program of arrays that come and go, t->n[3] times, of t->n[2] pages. */
static void arrays_come_and_go(struct pw_host *h, struct timed *t)
{
    if (t->app == 0 && !t->n[7])
        pw_events_post(t->system->events, 1, audit, t, 0);
    for (uint64_t i = 0; i < t->n[3]; i++) {
        t->a = pw_alloc(h, "a", t->n[2] * PW_PAGE_BYTES, 1);
        struct pw_array second = pw_alloc(h, "b", REGION, 1);
        timed_launch(h, t);
        pw_free(h, &t->a);
        t->a = second;
        timed_launch(h, t);
        pw_free(h, &t->a);
    }
}

/* The neighbours end and start over all the time, in memory so fragmented that every large frame has to be emptied
 * first, or is made by moving base pages together. */
static void programs_end_and_start_over_while_pages_of_others_move(void **state)
{
    (void)state;
    static const struct {
        const char *design, *paging, *fragmentation;
        bool moves; /* pages must have been moved */
    } cases[] = {{"mosaic", "paging.mode=free", "page.fragmentation=100", true},
                 {"mosaic-cac-bc", "paging.mode=free", "page.fragmentation=100", true},
                 {"mosaic-no-cac", "paging.mode=free", "page.fragmentation=100", false},
                 {"mosaic", "paging.mode=demand", "page.fragmentation=100", true},
                 {"mosaic", "paging.mode=preload", "page.fragmentation=100", true},
                 {"conventional-coalescing", "paging.mode=free", "page.fragmentation=50", true},
                 {"conventional-coalescing", "paging.mode=demand", "page.fragmentation=50", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed few = {.kernel = sweep, .body = arrays_come_and_go, .ctas = 4, .n = {[2] = 300, [3] = 1}};
        struct timed more = {.kernel = sweep, .body = arrays_come_and_go, .ctas = 4, .n = {[2] = 512, [3] = 2}};
        struct timed t = {.design = cases[i].design,
                          .sets = {cases[i].paging, cases[i].fragmentation, "page.occupancy=30", "dram.bytes=48MB",
                                   "coalesce.interval=1000", "l2_tlb.base_entries=64", "l2_tlb.base_ways=0",
                                   "l1_tlb.base_entries=16"},
                          .kernel = sweep,
                          .body = arrays_come_and_go,
                          .ctas = 4,
                          .n = {[2] = 512, [3] = 6, [4] = 2},
                          .neighbours = {&few, &more}};
        timed_run(&t);
        assert_true(t.n[7] > 5);
        assert_int_equal(timed_count(&t, "page.migrated") > 0, cases[i].moves);
        timed_end(&t);
    }
}

enum { APPS = 5 };

/* Five programs of 5 MB each in 16 MB. */
static struct timed *five_programs(struct timed apps[APPS], const char *design, const char *paging)
{
    for (unsigned i = 0; i < APPS; i++) {
        apps[i] = (struct timed){.kernel = sweep, .bytes = 5 << 20, .ctas = 6, .launches = 2, .n = {[2] = 1280}};
        if (i)
            apps[0].neighbours[i - 1] = &apps[i];
    }
    apps[0].design = design;
    apps[0].sets[0] = paging;
    apps[0].sets[1] = "dram.bytes=16MB";
    return apps;
}

static const char *const designs[] = {"gpu-mmu", "mosaic", "mosaic-no-cac", "conventional-coalescing"};

static void five_programs_that_do_not_fit_are_the_users_mistake(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed apps[APPS], *t = five_programs(apps, designs[i], "paging.mode=free");
        assert_int_equal(timed_try(t), PW_USER_ERROR);
        assert_non_null(strstr(t->err.message, "(test): allocation 'a' of 5MB does not fit"));
        assert_non_null(strstr(t->err.message, "dram.bytes"));
        assert_null(strchr(t->err.message, '\n'));
        timed_end(t);
    }
}

/* mosaic-sec5-protection: pages of all five come and go, and large pages end when one of theirs leaves. */
static void five_programs_that_do_not_fit_take_turns_on_demand(void **state)
{
    (void)state;
    static const char *const evict[] = {"uvm.evict=lru4k", "uvm.evict=lru2m"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++)
        for (size_t k = 0; k < 2; k++) {
            struct timed apps[APPS], *t = five_programs(apps, designs[i], "paging.mode=demand");
            t->sets[2] = evict[k];
            t->sets[3] = "coalesce.interval=5000";
            timed_run(t);
            assert_true(timed_count(t, "uvm.pages_evicted") > 2000);
            if (strncmp(designs[i], "mosaic", 6) == 0)
                assert_true(timed_count(t, "page.coalesced") > 0 && timed_count(t, "page.splintered") > 0);
            timed_end(t);
        }
}

/* Warps touch the first page of each of t->n[2] regions of 2 MiB together, twice. */
static void touch_every_region(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 2 * t->n[2]; i++)
        timed_fetch(w, t, i % t->n[2] * REGION);
}

/* One page of each 2 MiB: a page table takes as much memory as the data, and far more than is set aside for tables.
 * Pages leave for it. Large pages need no such tables, but find memory in pieces. */
static void page_tables_take_memory_from_data(void **state)
{
    (void)state;
    static const char *const kinds[] = {"gpu-mmu", "mosaic", "conventional-coalescing", "gpu-mmu-2m"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct timed other = {.kernel = touch_every_region, .bytes = 200ULL * REGION, .n = {[2] = 200}};
        struct timed t = {.design = kinds[i],
                          .sets = {"paging.mode=demand", "dram.bytes=8MB", "link.points=4KB:30+2MB:30"},
                          .bytes = 1000ULL * REGION,
                          .kernel = touch_every_region,
                          .ctas = 2,
                          .n = {[2] = i < 3 ? 1000 : 20},
                          .neighbours = {&other}};
        other.n[2] = i < 3 ? 200 : 10;
        timed_run(&t);
        assert_true(timed_count(&t, "uvm.pages_evicted") > 0);
        if (i < 3)
            assert_true(timed_count(&t, "mem.table_bytes") > 8 << 20 >> 6);
        timed_end(&t);
    }
}

/* Tables that do not even fit alone. Wide ones need runs of 64 KiB, which pages that come and go break up before
 * that. */
static void page_tables_that_take_all_memory_end_the_run_with_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *stride, *says;
        uint64_t regions;
    } cases[] = {{"page.entry_stride=8", "page tables, and pages that may not leave, fill the device memory", 2100},
                 {"page.entry_stride=128", "or for its page table", 400}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t = {.sets = {"paging.mode=demand", "dram.bytes=8MB", cases[i].stride},
                          .bytes = cases[i].regions * REGION,
                          .kernel = touch_every_region,
                          .n = {[2] = cases[i].regions}};
        assert_int_equal(timed_try(&t), PW_FAILED);
        assert_non_null(strstr(t.err.message, cases[i].says));
        assert_non_null(strstr(t.err.message, "dram.bytes"));
        assert_null(strchr(t.err.message, '\n'));
        timed_end(&t);
    }
}

/* mosaic-sec64-no-cac, mosaic-sec44-oom-avoid: no large frame is free when the run begins. Without compaction
 * everything fits between what was there, in base pages; with it large frames are made free first, and no SM issues
 * before. */
static void without_free_large_frames_programs_run_in_base_pages_or_wait_for_compaction(void **state)
{
    (void)state;
    static const char *const names[] = {"mosaic", "mosaic-cac-bc", "mosaic-ideal-cac", "mosaic-no-cac"};
    uint64_t copies[4];
    for (size_t i = 0; i < 4; i++) {
        struct timed t = {.design = names[i],
                          .sets = {"dram.bytes=32MB", "page.fragmentation=100", "page.occupancy=50"},
                          .bytes = 4 * REGION,
                          .kernel = sweep,
                          .n = {[2] = 2048}};
        timed_run(&t);
        copies[i] = timed_count(&t, "page.pause_cycles");
        assert_int_equal(timed_count(&t, "page.coalesced"), i < 3 ? 4 : 0);
        assert_int_equal(timed_count(&t, "page.compactions"), i < 3 ? 4 : 0);
        assert_int_equal(timed_count(&t, "page.migrated"), i < 3 ? 4 * 256 : 0);
        timed_end(&t);
    }
    assert_true(copies[0] > copies[1] && copies[1] > 0 && copies[2] == 0 && copies[3] == 0);
}

static void out_of_all_frames_is_the_users_mistake(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed t = {.design = designs[i],
                          .sets = {"dram.bytes=32MB", "page.fragmentation=100", "page.occupancy=50"},
                          .bytes = 17 << 20,
                          .kernel = sweep};
        assert_int_equal(timed_try(&t), PW_USER_ERROR);
        assert_non_null(strstr(t.err.message, "does not fit"));
        assert_null(strchr(t.err.message, '\n'));
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freeing_part_of_a_large_page_does_not_disturb_those_who_use_the_rest),
        cmocka_unit_test(base_entries_from_before_a_page_was_coalesced_stay_right),
        cmocka_unit_test(programs_end_and_start_over_while_pages_of_others_move),
        cmocka_unit_test(five_programs_that_do_not_fit_are_the_users_mistake),
        cmocka_unit_test(five_programs_that_do_not_fit_take_turns_on_demand),
        cmocka_unit_test(page_tables_take_memory_from_data),
        cmocka_unit_test(page_tables_that_take_all_memory_end_the_run_with_a_line),
        cmocka_unit_test(without_free_large_frames_programs_run_in_base_pages_or_wait_for_compaction),
        cmocka_unit_test(out_of_all_frames_is_the_users_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
