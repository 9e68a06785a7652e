/* Exact times of the shared MMU: L2 TLB ports, miss registers, merging and the order of walks.
 *
 * The MMU is driven directly, with walks of a fixed time; a client in the place of the SMs writes down when each answer
 * arrives. */
#include "page/frames.h"
#include "timed.h"

enum { APPS = 2, FIRST_PAGE = 0x7f4000, PAGES = 256, ANSWERS = 512 };

struct answer {
    uint32_t sm;
    uint64_t page;
    pw_cycle at;
};

struct fixture {
    struct timed t; /* for its configuration */
    struct pw_l2_tlb_config tlb;
    struct pw_events *events;
    struct pw_request_pool pool;
    struct pw_physical_memory physical;
    struct pw_page_table *owned[APPS];
    const struct pw_page_table *tables[APPS];
    struct pw_mmu *mmu;
    struct pw_walk_pressure pressure[APPS];
    struct pw_stats *stats;
    struct answer answers[ANSWERS];
    unsigned count;
    uint32_t warps; /* that each answer is said to wake */
    struct pw_translation last;
    struct pw_tlb_miss last_miss;
    struct pw_error failure;
};

static unsigned translated(void *object, struct pw_tlb_miss miss, struct pw_translation translation, pw_cycle now)
{
    struct fixture *f = object;
    f->last = translation;
    f->last_miss = miss;
    assert_true(f->count < ANSWERS);
    f->answers[f->count++] = (struct answer){miss.sm, miss.vpn.v, now};
    return f->warps;
}

static void failed(void *object, const struct pw_error *err)
{
    struct fixture *f = object;
    if (!f->failure.status)
        f->failure = *err;
}

static bool unmapped(void *object, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    (void)object, (void)asid, (void)vpn, (void)now;
    fail();
    return false;
}

/* The same page numbers in every space, each with frames of its own. */
static void map_pages(struct fixture *f, unsigned asid)
{
    struct pw_error err;
    struct pw_page_table_config config = {.asid = (pw_asid)asid,
                                          .entry_stride = f->t.config.page.entry_stride,
                                          .frames = f->physical.frames,
                                          .policy = f->physical.policy,
                                          .policy_state = f->physical.policy_state};
    assert_int_equal(pw_page_table_create(&config, &f->owned[asid], &err), PW_OK);
    for (uint64_t page = 0; page < PAGES; page++) {
        pw_pfn frame;
        pw_owner owner = (pw_owner)(PW_OWNER_APP + asid);
        assert_true(pw_frames_take(f->physical.frames, PW_PAGE_4K, (pw_pfn){0}, owner, &frame));
        assert_int_equal(pw_page_table_map(f->owned[asid], (pw_vpn){FIRST_PAGE + page}, frame, PW_PAGE_4K, &err),
                         PW_OK);
    }
    f->tables[asid] = f->owned[asid];
}

static struct fixture *create(const char *machine, const char *const *sets)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    struct pw_error err;
    f->t.machine = machine;
    for (unsigned i = 0; sets && sets[i]; i++)
        f->t.sets[i] = sets[i];
    timed_configure(&f->t);
    const struct pw_config *c = &f->t.config;
    assert_non_null(f->events = pw_events_create(&err));
    pw_request_pool_init(&f->pool, f->events);
    assert_int_equal(pw_physical_memory_init(&f->physical, 64 << 20, &c->page, 1, NULL, &err), PW_OK);
    for (unsigned i = 0; i < APPS; i++)
        map_pages(f, i);
    f->tlb = c->gpu.l2_tlb;
    struct pw_mmu_config config = {.l2_tlb = c->gpu.l2_tlb,
                                   .walk = c->gpu.walk,
                                   .walk_cache = c->gpu.walk_cache,
                                   .orders = c->gpu.orders,
                                   .apps = APPS,
                                   .seed = 1};
    struct pw_mmu_wiring wiring = {.events = f->events,
                                   .pool = &f->pool,
                                   .tables = f->tables,
                                   .pressure = f->pressure,
                                   .sms = f,
                                   .translated = translated,
                                   .unmapped = unmapped,
                                   .failed = failed};
    assert_int_equal(pw_mmu_create(&config, &wiring, &f->mmu, &err), PW_OK);
    assert_non_null(f->stats = pw_stats_create(APPS, &err));
    static const struct pw_sm_counters cycles[APPS];
    pw_stats_counter(f->stats, "sm.cycles", "cycles", NULL, cycles, sizeof cycles[0], 0);
    pw_mmu_register(f->mmu, f->stats);
    assert_int_equal(pw_stats_seal(f->stats, &err), PW_OK);
    return f;
}

static void ask_to_fill(struct fixture *f, uint32_t sm, unsigned asid, uint64_t page, pw_cycle at, unsigned fill)
{
    struct pw_tlb_miss miss = {.vpn = {FIRST_PAGE + page},
                               .sm = (uint16_t)sm,
                               .warp = (uint8_t)(sm % 7),
                               .asid = (pw_asid)asid,
                               .fill = (uint8_t)fill};
    pw_mmu_request(f->mmu, miss, at);
}

/* SM `sm` asks at `at` for a page of an address space. */
static void ask(struct fixture *f, uint32_t sm, unsigned asid, uint64_t page, pw_cycle at)
{
    ask_to_fill(f, sm, asid, page, at, PW_FILL_BOTH);
}

static void run(struct fixture *f)
{
    bool never = false;
    pw_events_run(f->events, PW_NEVER, &never);
    assert_int_equal(pw_mmu_pending(f->mmu), 0);
}

static pw_cycle answered(const struct fixture *f, uint32_t sm)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->answers[i].sm == sm)
            return f->answers[i].at;
    fail_msg("SM %u was not answered", sm);
    return 0;
}

static uint64_t count(const struct fixture *f, const char *metric)
{
    return count_until_now(f->stats, metric);
}

static double value(const struct fixture *f, const char *metric)
{
    uint64_t *now = calloc(pw_stats_raw_count(f->stats), sizeof *now);
    assert_non_null(now);
    pw_stats_snapshot(f->stats, now);
    double v = pw_stats_value(f->stats, (size_t)pw_stats_find(f->stats, metric), -1, NULL, now);
    free(now);
    return v;
}

static void destroy(struct fixture *f)
{
    pw_stats_destroy(f->stats);
    pw_mmu_destroy(f->mmu);
    for (unsigned i = 0; i < APPS; i++)
        pw_page_table_destroy(f->owned[i]);
    pw_physical_memory_release(&f->physical);
    pw_request_pool_destroy(&f->pool);
    pw_events_destroy(f->events);
    timed_end(&f->t);
    free(f);
}

/* There and back, and a lookup between. */
static uint64_t hit_time(const struct fixture *f)
{
    return 2 * f->tlb.distance + f->tlb.tlb.latency;
}

enum { WALK = 500 };
static const char *const fixed[] = {"walk.model=fixed", "walk.latency=500", NULL};

/* Puts the first `pages` pages of space 0 into the L2 TLB; gives the time at which all is quiet. */
static pw_cycle warm(struct fixture *f, unsigned pages)
{
    for (unsigned i = 0; i < pages; i++)
        ask(f, 100, 0, i, i);
    run(f);
    f->count = 0;
    return f->events->now + 1;
}

/* comp-sec22-miss-path, comp-sec22-fill: the walk follows the lookup and fills the L2 TLB. */
static void a_miss_takes_lookup_walk_and_the_way(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    ask(f, 3, 0, 7, 40);
    run(f);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->answers[0].at, 40 + 10 + 10 + WALK + 10);
    assert_int_equal(f->answers[0].page, FIRST_PAGE + 7);
    ask(f, 3, 0, 7, 1000);
    run(f);
    assert_int_equal(f->answers[1].at, 1000 + 10 + 10 + 10);
    assert_int_equal(count(f, "l2_tlb.hits"), 1);
    destroy(f);
}

static void without_an_l2_tlb_a_walk_starts_on_arrival(void **state)
{
    (void)state;
    const char *sets[] = {"walk.model=fixed", "walk.latency=500", "l2_tlb.enabled=off", NULL};
    struct fixture *f = create("mosaic", sets);
    ask(f, 0, 0, 0, 5);
    run(f);
    assert_int_equal(f->answers[0].at, 5 + 10 + WALK + 10);
    assert_int_equal(count(f, "l2_tlb.lookups"), 0);
    destroy(f);
}

/* mosaic-tab1-l2tlb-ports: requests of one cycle take the ports of the L2 TLB two at a time. */
static void the_third_lookup_of_a_cycle_waits_one_cycle(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    pw_cycle now = warm(f, 7);
    for (uint32_t sm = 0; sm < 7; sm++)
        ask(f, sm, 0, sm, now);
    ask(f, 7, 0, 0, now + 4); /* the seventh's partner would have been free at now + 3 */
    run(f);
    for (uint32_t sm = 0; sm < 7; sm++)
        assert_int_equal(answered(f, sm), now + hit_time(f) + sm / 2);
    assert_int_equal(answered(f, 7), now + 4 + hit_time(f));
    assert_int_equal(count(f, "l2_tlb.hits"), 8);
    destroy(f);
}

/* mosaic-tab1-l2tlb-ports */
static void misses_take_ports_too(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    for (uint32_t sm = 0; sm < 3; sm++)
        ask(f, sm, 0, sm, 0);
    run(f);
    for (uint32_t sm = 0; sm < 3; sm++)
        assert_int_equal(answered(f, sm), hit_time(f) + WALK + sm / 2);
    destroy(f);
}

/* 64 walks under way and one more, asked for at `at`; gives when it is answered. */
static pw_cycle answer_of_65th(const char *walkers, pw_cycle at)
{
    const char *sets[] = {"walk.model=fixed", "walk.latency=500", walkers, NULL};
    struct fixture *f = create("mosaic", sets);
    for (uint32_t sm = 0; sm < 64; sm++)
        ask(f, sm, 0, sm, sm);
    ask(f, 64, 0, 64, at);
    run(f);
    for (uint32_t sm = 0; sm < 64; sm++)
        assert_int_equal(answered(f, sm), sm + hit_time(f) + WALK);
    pw_cycle answer = answered(f, 64) - hit_time(f);
    destroy(f);
    return answer;
}

/* mosaic-sec5-walker-concurrency, mask-sec6-walks: the first of 64 walks ends WALK cycles after it began, and the 65th
 * waits until then, and not a cycle longer. */
static void the_65th_walk_waits_for_the_first_to_end(void **state)
{
    (void)state;
    assert_int_equal(answer_of_65th("walk.walkers=64", 64), WALK + WALK);
    assert_int_equal(answer_of_65th("walk.walkers=65", 64), 64 + WALK);
    assert_int_equal(answer_of_65th("walk.walkers=64", WALK - 1), WALK + WALK);
    assert_int_equal(answer_of_65th("walk.walkers=64", WALK), WALK + WALK);
    assert_int_equal(answer_of_65th("walk.walkers=64", WALK + 1), WALK + 1 + WALK);
}

/* mosaic-sec5-walker-concurrency, mask-sec6-walks, mosaic-tab1-l2tlb-ports, comp-tab3-walkers, comp-tab3-walk-lat,
 * comp-tab3-l2tlb-lat */
static void the_presets_walk_as_many_at_a_time_as_their_papers_say(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", NULL);
    assert_int_equal(f->t.config.gpu.walk.walkers, 64);
    assert_int_equal(f->t.config.gpu.walk.model, PW_WALK_MEMORY);
    assert_int_equal(f->tlb.ports, 2);
    destroy(f);
    f = create("kepler", NULL);
    for (uint32_t sm = 0; sm < 17; sm++)
        ask(f, sm, 0, sm, sm);
    run(f);
    for (uint32_t sm = 0; sm < 17; sm++)
        assert_int_equal(answered(f, sm), 2 * 10 + 10 + sm % 8 + (1 + sm / 8) * 500);
    destroy(f);
}

/* comp-sec22-miss-path: misses queue for a walker. */
static void walks_begin_in_the_order_asked_for(void **state)
{
    (void)state;
    const char *sets[] = {"walk.model=fixed", "walk.latency=500", "walk.walkers=1", NULL};
    struct fixture *f = create("mosaic", sets);
    static const uint64_t pages[] = {90, 3, 41, 40, 200, 0, 7, 150};
    for (uint32_t i = 0; i < 8; i++)
        ask(f, 7 - i, i % APPS, pages[i], i);
    run(f);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(f->answers[i].sm, 7 - i);
        assert_int_equal(f->answers[i].page, FIRST_PAGE + pages[i]);
        assert_int_equal(f->answers[i].at, hit_time(f) + (i + 1) * WALK);
    }
    destroy(f);
}

/* mosaic-sec5-mshr: who comes during the walk is answered when it ends; who comes after it finds the translation. */
static void misses_of_several_sms_to_one_page_share_its_walk(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    f->warps = 3;
    ask(f, 0, 0, 9, 0);
    ask(f, 1, 0, 9, 0);
    ask(f, 127, 0, 9, 250);
    ask(f, 3, 0, 9, WALK); /* its lookup ends with the walk */
    ask(f, 4, 0, 9, WALK + 11);
    run(f);
    assert_int_equal(answered(f, 0), hit_time(f) + WALK);
    assert_int_equal(answered(f, 1), hit_time(f) + WALK);
    assert_int_equal(answered(f, 127), hit_time(f) + WALK);
    assert_int_equal(answered(f, 3), hit_time(f) + WALK);
    assert_int_equal(answered(f, 4), WALK + 11 + hit_time(f));
    assert_int_equal(count(f, "walk.count"), 1);
    assert_int_equal(count(f, "l2_tlb.lookups"), 5);
    assert_int_equal(count(f, "l2_tlb.misses"), 4);
    assert_int_equal(count(f, "l2_tlb.mshr_merges"), 3);
    destroy(f);
}

/* mosaic-sec31-asid, mask-sec3-multi-asid: the two spaces use the same page number; frames differ. */
static void address_spaces_neither_merge_nor_hit_each_other(void **state)
{
    (void)state;
    static const char *const levels[] = {"l2_tlb.enabled=on", "l2_tlb.enabled=off"};
    for (unsigned i = 0; i < 2; i++) {
        const char *sets[] = {"walk.model=fixed", "walk.latency=500", levels[i], NULL};
        struct fixture *f = create("mosaic", sets);
        ask(f, 0, 0, 5, 0);
        ask(f, 1, 1, 5, 0);
        run(f);
        assert_int_equal(count(f, "walk.count"), 2);
        assert_int_equal(count(f, "l2_tlb.mshr_merges"), 0);
        ask(f, 0, 0, 6, 2000);
        run(f);
        ask(f, 1, 1, 6, 3000);
        run(f);
        assert_int_equal(count(f, "walk.count"), 4);
        assert_int_equal(count(f, "l2_tlb.hits"), 0);
        struct pw_error err;
        assert_int_equal(pw_mmu_check(f->mmu, &err), PW_OK);
        destroy(f);
    }
}

/* One register: the second page's walk begins when the first one's has ended. Behind it, in its turn, waits a request
 * for the first page, which by then is in the TLB and pays another lookup. */
static void a_miss_without_a_register_waits_its_turn(void **state)
{
    (void)state;
    const char *sets[] = {"walk.model=fixed", "walk.latency=500", "l2_tlb.mshrs=1", NULL};
    struct fixture *f = create("mosaic", sets);
    ask(f, 0, 0, 0, 0);
    ask(f, 1, 0, 1, 1);
    ask(f, 2, 0, 0, 2);
    ask(f, 3, 0, 2, 3);
    run(f);
    pw_cycle first = 10 + 10 + WALK;
    assert_int_equal(answered(f, 0), first + 10);
    assert_int_equal(answered(f, 1), first + WALK + 10);
    assert_int_equal(answered(f, 2), first + 10 + 10);
    assert_int_equal(answered(f, 3), first + 2 * WALK + 10);
    assert_int_equal(count(f, "walk.count"), 3);
    assert_int_equal(count(f, "l2_tlb.lookups"), 4);
    destroy(f);
    const char *enough[] = {"walk.model=fixed", "walk.latency=500", "l2_tlb.mshrs=3", NULL};
    f = create("mosaic", enough);
    for (uint32_t sm = 0; sm < 3; sm++)
        ask(f, sm, 0, sm, sm);
    run(f);
    assert_int_equal(answered(f, 2), 2 + hit_time(f) + WALK);
    destroy(f);
}

static void a_page_that_was_shot_down_is_walked_again(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    pw_cycle now = warm(f, 4);
    pw_vpn first = {FIRST_PAGE + 1}, outer = {FIRST_PAGE + 3};
    assert_int_equal(pw_mmu_invalidate(f->mmu, 1, first, outer), 0);
    assert_int_equal(pw_mmu_invalidate(f->mmu, 0, first, outer), 2);
    for (uint32_t sm = 0; sm < 4; sm++)
        ask(f, sm, 0, sm, now + sm);
    run(f);
    for (uint32_t sm = 0; sm < 4; sm++)
        assert_int_equal(answered(f, sm), now + sm + hit_time(f) + (sm == 1 || sm == 2 ? WALK : 0));
    destroy(f);
}

/* Three walks of two applications overlap, then two; SMs 0 and 3 wait for the same one. */
static void peaks_are_walks_at_once_and_warps_of_one_sm(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    f->warps = 5;
    ask(f, 0, 0, 0, 0);
    ask(f, 1, 0, 1, 1);
    ask(f, 2, 1, 0, 2);
    ask(f, 3, 0, 0, 3);
    run(f);
    assert_int_equal(count(f, "walk.concurrent_max"), 3);
    assert_int_equal(count(f, "walk.warps_stalled_max"), 5);
    assert_true(value(f, "walk.sms_stalled_mean") == 4.0 / 3);
    assert_true(value(f, "walk.warps_stalled_mean") == 20.0 / 3);
    f->warps = 2;
    ask(f, 0, 0, 10, 5000);
    ask(f, 0, 0, 11, 5000);
    run(f);
    assert_int_equal(count(f, "walk.concurrent_max"), 3);
    assert_int_equal(count(f, "walk.warps_stalled_max"), 5);
    destroy(f);
    const char *sets[] = {"walk.model=fixed", "walk.latency=500", "walk.walkers=8", NULL};
    f = create("mosaic", sets);
    for (uint32_t sm = 0; sm < 20; sm++)
        ask(f, sm, 0, sm, sm);
    run(f);
    assert_int_equal(count(f, "walk.concurrent_max"), 8);
    destroy(f);
}

/* Runs up to the cycle before the answer to a miss arrives; gives the page that was asked for. */
static pw_vpn answer_under_way(struct fixture *f)
{
    bool never = false;
    ask(f, 3, 0, 7, 0);
    pw_events_run(f->events, hit_time(f) + WALK, &never);
    assert_int_equal(f->count, 0);
    return (pw_vpn){FIRST_PAGE + 7};
}

static void move_page(struct fixture *f, pw_vpn page)
{
    pw_pfn frame;
    assert_true(pw_frames_take(f->physical.frames, PW_PAGE_4K, (pw_pfn){0}, PW_OWNER_APP, &frame));
    pw_page_table_move(f->owned[0], page, frame);
}

static void shoot_down(struct fixture *f, pw_vpn page)
{
    pw_mmu_invalidate(f->mmu, 0, page, (pw_vpn){page.v + 1});
}

static void an_answer_carries_the_translation_of_the_walk_or_of_the_l2_tlb(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    for (unsigned i = 0; i < 2; i++) { /* a miss, a hit */
        ask(f, i, 0, 7, f->events->now);
        run(f);
        struct pw_translation t = pw_page_table_lookup(f->tables[0], (pw_vpn){FIRST_PAGE + 7});
        assert_true(f->last.present);
        assert_int_equal(f->last.frame.v, t.frame.v);
        assert_int_equal(f->last.order, t.order);
        assert_int_equal(f->failure.status, PW_OK);
    }
    assert_int_equal(count(f, "l2_tlb.hits"), 1);
    destroy(f);
}

static void a_shootdown_puts_an_answer_under_way_right(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    pw_vpn page = answer_under_way(f);
    move_page(f, page);
    shoot_down(f, page);
    run(f);
    assert_int_equal(f->failure.status, PW_OK);
    assert_true(f->last.present);
    assert_int_equal(f->last.frame.v, pw_page_table_lookup(f->tables[0], page).frame.v);
    destroy(f);
}

static void a_shootdown_takes_back_an_answer_whose_page_has_left(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    pw_vpn page = answer_under_way(f);
    pw_page_table_unmap(f->owned[0], page);
    shoot_down(f, page);
    run(f);
    assert_int_equal(f->failure.status, PW_OK);
    assert_int_equal(f->count, 1);
    assert_false(f->last.present);
    destroy(f);
}

/* As it is when a walk or a message comes to a wrong frame. */
static void an_answer_that_differs_without_a_shootdown_fails_the_run(void **state)
{
    (void)state;
    for (unsigned unmapped_too = 0; unmapped_too < 2; unmapped_too++) {
        struct fixture *f = create("mosaic", fixed);
        pw_vpn page = answer_under_way(f);
        move_page(f, page);
        if (unmapped_too)
            pw_page_table_unmap(f->owned[0], page);
        run(f);
        assert_int_equal(f->failure.status, PW_FAILED);
        assert_non_null(strstr(f->failure.message, "a page walk returned frame 0x"));
        assert_non_null(
            strstr(f->failure.message, unmapped_too ? "the page table has no page" : "the page table has frame 0x"));
        destroy(f);
    }
}

/* Of the request, all comes back with the answer: that of a hit, and that of a walk to those who merged into it. */
static void an_answer_says_for_whom_it_is(void **state)
{
    (void)state;
    struct fixture *f = create("mosaic", fixed);
    for (unsigned i = 0; i < 2; i++) {
        ask_to_fill(f, 50, 1, 7, f->events->now, PW_FILL_L2);
        ask_to_fill(f, 60, 1, 7, f->events->now + 1, PW_FILL_L1);
        run(f);
        assert_int_equal(f->last_miss.vpn.v, FIRST_PAGE + 7);
        assert_int_equal(f->last_miss.sm, 60);
        assert_int_equal(f->last_miss.gpu, 0);
        assert_int_equal(f->last_miss.warp, 60 % 7);
        assert_int_equal(f->last_miss.asid, 1);
        assert_int_equal(f->last_miss.fill, PW_FILL_L1);
    }
    assert_int_equal(count(f, "walk.count"), 1);
    assert_int_equal(count(f, "l2_tlb.hits"), 2);
    destroy(f);
}

/* Whatever the order in which they asked. */
static void those_that_share_a_walk_are_answered_in_the_order_of_sms(void **state)
{
    (void)state;
    static const uint32_t sms[] = {70, 3, 127, 5, 71, 0, 4};
    static const uint32_t sorted[] = {0, 3, 4, 5, 70, 71, 127};
    struct fixture *f = create("mosaic", fixed);
    for (unsigned i = 0; i < 7; i++)
        ask(f, sms[i], 0, 9, i);
    run(f);
    assert_int_equal(f->count, 7);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(f->answers[i].sm, sorted[i]);
    assert_int_equal(count(f, "walk.count"), 1);
    destroy(f);
}

/* Asks for a page twice, at the second time from SM 9; gives how long that takes. The first time, two SMs share
 * the walk. */
static pw_cycle time_after_fills(unsigned first, unsigned second)
{
    struct fixture *f = create("mosaic", fixed);
    ask_to_fill(f, 0, 0, 9, 0, first);
    ask_to_fill(f, 1, 0, 9, 1, second);
    run(f);
    assert_int_equal(f->count, 2);
    assert_int_equal(answered(f, 1), hit_time(f) + WALK);
    ask(f, 9, 0, 9, 1000);
    run(f);
    pw_cycle time = answered(f, 9) - 1000 - hit_time(f);
    assert_int_equal(count(f, "l2_tlb.hits"), time == 0);
    assert_int_equal(count(f, "walk.count"), time == 0 ? 1 : 2);
    destroy(f);
    return time;
}

static void the_l2_tlb_is_filled_if_one_of_those_that_wait_may_fill_it(void **state)
{
    (void)state;
    assert_int_equal(time_after_fills(PW_FILL_BOTH, PW_FILL_BOTH), 0);
    assert_int_equal(time_after_fills(PW_FILL_L2, PW_FILL_L1), 0);
    assert_int_equal(time_after_fills(PW_FILL_L1, PW_FILL_L2), 0);
    assert_int_equal(time_after_fills(PW_FILL_L1, PW_FILL_L1), WALK);
    assert_int_equal(time_after_fills(0, 0), WALK);
}

/* Walks of two applications, of which one walker serves one after the other: each counts from when it is asked for
 * until it ends. mask-sec54-conptw-counter */
static void walks_under_way_and_queued_are_known_by_application(void **state)
{
    (void)state;
    struct fixture *f = create("kepler", (const char *const[]){"l2_tlb.enabled=on", "walk.walkers=1", NULL});
    pw_cycle asked = f->tlb.distance + f->tlb.tlb.latency, walk = f->t.config.gpu.walk.latency;
    for (uint32_t i = 0; i < 3; i++)
        ask(f, i, i % 2, i, 0); /* two of the first, one of the second */
    struct {
        pw_cycle at;
        uint32_t walks[APPS];
    } steps[] = {{asked - 1, {0, 0}},        {asked + 3, {2, 1}}, /* one port */
                 {asked + walk - 1, {2, 1}}, {asked + walk, {1, 1}},
                 {asked + 2 * walk, {1, 0}}, {asked + 3 * walk - 1, {1, 0}},
                 {asked + 3 * walk, {0, 0}}};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        bool never = false;
        pw_events_run(f->events, steps[i].at + 1, &never);
        for (unsigned app = 0; app < APPS; app++)
            if (f->pressure[app].walks != steps[i].walks[app])
                fail_msg("step %u: app%u has %u walks", i, app, f->pressure[app].walks);
    }
    run(f);
    destroy(f);
}

/* mask-sec54-counter-max, mask-sec54-warps-counter */
static void the_most_warps_stalled_by_a_walk_never_decrease_until_counted_anew(void **state)
{
    (void)state;
    struct fixture *f = create("kepler", NULL);
    static const uint32_t warps[] = {3, 5, 2, 4, 7}, most[] = {3, 5, 5, 4, 7};
    for (unsigned i = 0; i < 5; i++) {
        if (i == 3)
            f->pressure[1].stalled = 0;
        f->warps = warps[i];
        ask(f, 0, 1, i, f->events->now);
        run(f);
        assert_int_equal(f->pressure[1].stalled, most[i]);
        assert_int_equal(f->pressure[0].stalled, 0);
    }
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_under_way_and_queued_are_known_by_application),
        cmocka_unit_test(the_most_warps_stalled_by_a_walk_never_decrease_until_counted_anew),
        cmocka_unit_test(a_miss_takes_lookup_walk_and_the_way),
        cmocka_unit_test(without_an_l2_tlb_a_walk_starts_on_arrival),
        cmocka_unit_test(the_third_lookup_of_a_cycle_waits_one_cycle),
        cmocka_unit_test(misses_take_ports_too),
        cmocka_unit_test(the_65th_walk_waits_for_the_first_to_end),
        cmocka_unit_test(the_presets_walk_as_many_at_a_time_as_their_papers_say),
        cmocka_unit_test(walks_begin_in_the_order_asked_for),
        cmocka_unit_test(misses_of_several_sms_to_one_page_share_its_walk),
        cmocka_unit_test(address_spaces_neither_merge_nor_hit_each_other),
        cmocka_unit_test(a_miss_without_a_register_waits_its_turn),
        cmocka_unit_test(a_page_that_was_shot_down_is_walked_again),
        cmocka_unit_test(peaks_are_walks_at_once_and_warps_of_one_sm),
        cmocka_unit_test(an_answer_carries_the_translation_of_the_walk_or_of_the_l2_tlb),
        cmocka_unit_test(a_shootdown_puts_an_answer_under_way_right),
        cmocka_unit_test(a_shootdown_takes_back_an_answer_whose_page_has_left),
        cmocka_unit_test(an_answer_says_for_whom_it_is),
        cmocka_unit_test(those_that_share_a_walk_are_answered_in_the_order_of_sms),
        cmocka_unit_test(the_l2_tlb_is_filled_if_one_of_those_that_wait_may_fill_it),
        cmocka_unit_test(an_answer_that_differs_without_a_shootdown_fails_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
