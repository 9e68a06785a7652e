/* The conventional coalescer between a real memory system and nobody else: what it copies, what it counts, what ends a
 * job.
 *
 * A client in the place of the GPU sees every answer before the page manager does. */
#include "timed.h"
#include "vm/page_manager_internal.h"

enum { PAGES = PW_REGION_PAGES, LINES = 32, REGIONS = 3, INTERVAL = 1000, BLOCKS = 12, MOST = 64 };

struct fixture {
    struct timed t; /* for its configuration */
    struct pw_events *events;
    struct pw_request_pool pool;
    struct pw_memory *memory;
    struct pw_physical_memory physical;
    struct pw_page_counters page_counters;
    struct pw_touched touched;
    struct pw_address_space space;
    struct pw_page_manager *manager;
    pw_vpn first; /* of the regions */
    unsigned shootdowns;
    pw_cycle paused_until;
    /* Of the job that is looked at: its frames before, and what has happened to its lines. */
    pw_pfn before[PAGES], block;
    uint8_t reads[PAGES * LINES], writes[PAGES * LINES];
};

/* Notes a line of the region that is watched; writes are looked at when it is known where they went. */
static void note(struct fixture *f, const struct pw_request *r)
{
    pw_pfn frame = {r->line / LINES};
    for (uint32_t i = 0; r->kind == PW_REQUEST_MANAGER_READ && i < PAGES; i++)
        if (f->before[i].v == frame.v)
            f->reads[i * LINES + r->line % LINES]++;
    uint32_t place = frame.v - f->block.v;
    if (r->kind == PW_REQUEST_MANAGER_WRITE && f->block.v && place < PAGES) {
        uint32_t line = place * LINES + r->line % LINES;
        f->writes[line]++;
        assert_int_equal(f->reads[line], 1); /* it has been read before */
    }
}

static void managed(void *object, struct pw_request *r, pw_cycle now)
{
    struct fixture *f = object;
    note(f, r);
    pw_page_manager_written(f->manager, r, now);
    assert_true(pw_page_manager_pending(f->manager) <= MOST);
}

static unsigned shootdown(void *object, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    struct fixture *f = object;
    assert_int_equal(asid, 0);
    assert_int_equal(outer.v - first.v, PAGES);
    f->shootdowns++;
    return 0;
}

static void pause(void *object, pw_cycle until)
{
    struct fixture *f = object;
    assert_true(until > f->events->now);
    f->paused_until = until;
}

static pw_cycle paused_until(const void *object)
{
    return ((const struct fixture *)object)->paused_until;
}

static pw_vpn page(const struct fixture *f, uint64_t region, uint64_t number)
{
    return (pw_vpn){f->first.v + region * PAGES + number};
}

/* REGIONS regions with all their pages, in frames that are not aligned. */
static struct fixture *create(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    struct pw_error *err = &f->t.err;
    f->t.design = "conventional-coalescing";
    f->t.sets[0] = "coalesce.interval=1000";
    timed_configure(&f->t);
    const struct pw_config *c = &f->t.config;
    assert_non_null(f->events = pw_events_create(err));
    pw_request_pool_init(&f->pool, f->events);
    struct pw_memory_config memory = {.l2 = c->gpu.l2,
                                      .crossbar = c->gpu.crossbar,
                                      .dram = c->gpu.dram,
                                      .core_mhz = c->gpu.clock_mhz,
                                      .sms = 1,
                                      .apps = 1,
                                      .remote = c->gpu.remote};
    assert_int_equal(pw_memory_create(&memory, f->events, &f->pool, &f->memory, err), PW_OK);
    pw_memory_connect(f->memory, &(struct pw_memory_clients){.manager = f, .managed = managed});
    assert_int_equal(pw_physical_memory_init(&f->physical, (uint64_t)BLOCKS << 21, &c->page, 1, NULL, err), PW_OK);
    assert_int_equal(pw_address_space_init(&f->space, 0, &c->page, &f->physical, &f->page_counters, &f->touched, err),
                     PW_OK);
    struct pw_page_manager_wiring wiring = {.events = f->events,
                                            .pool = &f->pool,
                                            .memory = f->memory,
                                            .physical = &f->physical,
                                            .spaces = &f->space,
                                            .apps = 1,
                                            .machine = f,
                                            .shootdown = shootdown,
                                            .pause = pause,
                                            .paused_until = paused_until};
    assert_int_equal(pw_page_manager_create(&c->coalesce, &c->compact, &wiring, &f->manager, err), PW_OK);
    f->physical.manager = f->manager;
    pw_vaddr base;
    assert_int_equal(pw_address_space_allocate(&f->space, "a", (uint64_t)REGIONS << 21, true, &base, err), PW_OK);
    f->first = pw_vpn_of(base);
    for (uint64_t i = 0; i < REGIONS * PAGES; i++)
        assert_true(pw_address_space_map(&f->space, page(f, 0, i)));
    return f;
}

static void check(struct fixture *f)
{
    assert_int_equal(pw_page_manager_pending(f->manager), 0);
    assert_int_equal(f->pool.records.in_use, 0);
    if (pw_address_spaces_check(&f->space, 1, &f->t.err) != PW_OK)
        fail_msg("%s", f->t.err.message);
}

static void destroy(struct fixture *f)
{
    check(f);
    pw_page_manager_destroy(f->manager);
    f->physical.manager = NULL;
    pw_address_space_release(&f->space);
    pw_physical_memory_release(&f->physical);
    pw_memory_destroy(f->memory);
    pw_request_pool_destroy(&f->pool);
    pw_events_destroy(f->events);
    timed_end(&f->t);
    free(f);
}

static void walk(struct fixture *f, uint64_t region, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        pw_migrator_walked(f->manager, 0, page(f, region, i * 7 % PAGES));
}

static void run_until(struct fixture *f, pw_cycle outer)
{
    bool never = false;
    pw_events_run(f->events, outer, &never);
}

static bool is_large(const struct fixture *f, uint64_t region)
{
    return pw_page_table_is_large(f->space.table, page(f, region, 0));
}

static const struct pw_page_manager_counters *counters(const struct fixture *f)
{
    return f->manager->counters;
}

static void nothing_watched(struct fixture *f)
{
    memset(f->reads, 0, sizeof f->reads);
    memset(f->writes, 0, sizeof f->writes);
}

/* From now on, lines of this region, whose job takes the lowest free block when it begins. */
static void watch(struct fixture *f, uint64_t region)
{
    nothing_watched(f);
    for (uint32_t i = 0; i < PAGES; i++)
        assert_true(pw_page_table_has_base(f->space.table, page(f, region, i), &f->before[i]));
    assert_true(pw_frames_find(f->physical.frames, PW_PAGE_2M, (pw_pfn){0}, &f->block));
}

static void every_line_was_copied_once(const struct fixture *f)
{
    for (uint32_t i = 0; i < PAGES * LINES; i++) {
        assert_int_equal(f->reads[i], 1);
        assert_int_equal(f->writes[i], 1);
    }
}

/* mosaic-sec43-baseline-migrate */
static void every_line_is_read_and_then_written_to_its_place(void **state)
{
    (void)state;
    struct fixture *f = create();
    watch(f, 1);
    walk(f, 0, 2);
    walk(f, 1, 3);
    run_until(f, PW_NEVER);
    every_line_was_copied_once(f);
    assert_true(is_large(f, 1));
    for (uint32_t i = 0; i < PAGES; i++) {
        pw_pfn frame;
        assert_true(pw_page_table_has_base(f->space.table, page(f, 1, i), &frame));
        assert_int_equal(frame.v, f->block.v + i);
        assert_int_equal(pw_frames_owner(f->physical.frames, f->before[i]), PW_OWNER_FREE);
    }
    assert_int_equal(f->shootdowns, 1);
    assert_int_equal(counters(f)->migrated, PAGES);
    destroy(f);
}

/* mosaic-sec43-baseline-candidates: region 0 is walked most in the first interval, but has a page missing until it is
 * over. */
static void tallies_start_anew_with_every_interval(void **state)
{
    (void)state;
    struct fixture *f = create();
    pw_address_space_unmap(&f->space, page(f, 0, 5));
    walk(f, 0, 10);
    run_until(f, PW_NEVER);
    assert_int_equal(counters(f)->coalesced, 0);
    assert_true(pw_address_space_map(&f->space, page(f, 0, 5)));
    walk(f, 1, 3);
    run_until(f, PW_NEVER);
    assert_true(is_large(f, 1));
    assert_false(is_large(f, 0));
    destroy(f);
}

static void a_large_region_is_not_moved_again(void **state)
{
    (void)state;
    struct fixture *f = create();
    walk(f, 0, 10);
    run_until(f, PW_NEVER);
    assert_true(is_large(f, 0));
    walk(f, 0, 10);
    walk(f, 2, 3);
    run_until(f, PW_NEVER);
    assert_true(is_large(f, 2));
    assert_int_equal(counters(f)->coalesced, 2);
    walk(f, 0, 10);
    run_until(f, PW_NEVER);
    assert_int_equal(counters(f)->coalesced, 2);
    assert_int_equal(counters(f)->migrated, 2 * PAGES);
    destroy(f);
}

/* The interval ends while SMs stand still for something else, or in the first cycle in which they do not. */
static void nothing_is_moved_while_sms_stand_still(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct fixture *f = create();
        f->paused_until = INTERVAL + late;
        walk(f, 0, 10);
        run_until(f, PW_NEVER);
        assert_int_equal(counters(f)->coalesced, !late);
        assert_int_equal(is_large(f, 0), !late);
        destroy(f);
    }
}

/* Begins to move region 0 at the end of an interval and lets `cycles` go by. */
static void begin_job(struct fixture *f, pw_cycle cycles)
{
    walk(f, 0, 10);
    run_until(f, INTERVAL + cycles);
    assert_true(pw_page_manager_pending(f->manager) > 0);
}

/* Its lines are still on their way when the next job begins; they count for nobody. */
static void lines_of_a_job_that_was_given_up_do_not_count_for_the_next(void **state)
{
    (void)state;
    struct fixture *f = create();
    begin_job(f, INTERVAL - 1);
    pw_page_manager_freed(f->manager, 0, page(f, 0, 0), page(f, 0, 1));
    watch(f, 1);
    walk(f, 1, 3);
    run_until(f, PW_NEVER);
    every_line_was_copied_once(f);
    assert_true(is_large(f, 1));
    assert_false(is_large(f, 0));
    destroy(f);
}

/* The page comes back to the very frame that it had, with other data. */
static void a_page_that_leaves_and_comes_back_ends_the_job(void **state)
{
    (void)state;
    for (pw_cycle cycles = 0; cycles < 200000; cycles += 20011) {
        struct fixture *f = create();
        begin_job(f, 1);
        pw_pfn before, after;
        run_until(f, INTERVAL + 1 + cycles);
        bool was_large = is_large(f, 0);
        assert_true(pw_page_table_has_base(f->space.table, page(f, 0, 9), &before));
        pw_address_space_unmap(&f->space, page(f, 0, 9));
        assert_true(pw_address_space_map(&f->space, page(f, 0, 9)));
        assert_true(pw_page_table_has_base(f->space.table, page(f, 0, 9), &after));
        if (!was_large)
            assert_int_equal(after.v, before.v);
        run_until(f, PW_NEVER);
        assert_false(is_large(f, 0));
        assert_int_equal(counters(f)->coalesced, was_large);
        assert_int_equal(counters(f)->splintered, was_large);
        destroy(f);
    }
}

/* Somebody takes a page away and tells nobody: the job finds out at its end. */
static void a_page_that_is_gone_at_the_end_stays_gone(void **state)
{
    (void)state;
    struct fixture *f = create();
    begin_job(f, 1);
    f->physical.manager = NULL;
    pw_address_space_unmap(&f->space, page(f, 0, 9));
    f->physical.manager = f->manager;
    run_until(f, PW_NEVER);
    assert_false(pw_page_table_lookup(f->space.table, page(f, 0, 9)).present);
    assert_int_equal(counters(f)->coalesced, 0);
    assert_int_equal(counters(f)->table_writes, PAGES / 16 + 1);
    destroy(f);
}

static void memory_that_is_needed_is_given_back(void **state)
{
    (void)state;
    struct fixture *f = create();
    assert_false(pw_page_manager_make_room(f->manager, 0, false));
    uint64_t free_before = pw_frames_free(f->physical.frames);
    begin_job(f, 5000);
    assert_int_equal(pw_frames_free(f->physical.frames), free_before - PAGES);
    assert_true(pw_page_manager_make_room(f->manager, 0, false));
    assert_int_equal(pw_frames_free(f->physical.frames), free_before);
    assert_false(pw_page_manager_make_room(f->manager, 0, false));
    run_until(f, PW_NEVER);
    assert_int_equal(counters(f)->coalesced, 0);
    assert_int_equal(f->shootdowns, 0);
    destroy(f);
}

static void of_regions_walked_alike_the_lowest_is_taken(void **state)
{
    (void)state;
    struct fixture *f = create();
    for (uint64_t region = 0; region < REGIONS; region++) {
        walk(f, 2, 4);
        walk(f, 1, 4);
        walk(f, 0, 4);
        run_until(f, PW_NEVER);
        for (uint64_t i = 0; i < REGIONS; i++)
            assert_int_equal(is_large(f, i), i <= region);
    }
    destroy(f);
}

/* mosaic-sec43-baseline-candidates: more regions than there is room for at first, all alike but one. */
static void utilisation_is_tallied_for_any_number_of_regions(void **state)
{
    (void)state;
    struct fixture *f = create();
    for (uint64_t region = 0; region < 5000; region++)
        pw_migrator_walked(f->manager, 0, (pw_vpn){(region + 1000) * PAGES}); /* nothing is mapped there */
    walk(f, 0, 1);
    walk(f, 2, 2);
    walk(f, 1, 1);
    run_until(f, PW_NEVER);
    assert_true(is_large(f, 2));
    assert_false(is_large(f, 0) || is_large(f, 1));
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_read_and_then_written_to_its_place),
        cmocka_unit_test(tallies_start_anew_with_every_interval),
        cmocka_unit_test(a_large_region_is_not_moved_again),
        cmocka_unit_test(nothing_is_moved_while_sms_stand_still),
        cmocka_unit_test(lines_of_a_job_that_was_given_up_do_not_count_for_the_next),
        cmocka_unit_test(a_page_that_leaves_and_comes_back_ends_the_job),
        cmocka_unit_test(a_page_that_is_gone_at_the_end_stays_gone),
        cmocka_unit_test(memory_that_is_needed_is_given_back),
        cmocka_unit_test(of_regions_walked_alike_the_lowest_is_taken),
        cmocka_unit_test(utilisation_is_tallied_for_any_number_of_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
