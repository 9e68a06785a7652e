/* Several applications inside one GPU: which SMs, frames, TLB entries and channels are whose.
 *
 * Decides mosaic-fig01a-mixed-frame, mosaic-sec31-asid and mask-sec3-multi-asid. */
#include "timed.h"

#include "gpu/gpu_internal.h"
#include "mem/memory_internal.h"

enum { APPS = 4, BLOCK_PAGES = 512 };

/* Every warp loads from one page: each SM that has one of its CTAs asks the L2 TLB once. */
static void touch_one_page(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void an_application_runs_on_its_own_sms_and_on_no_other(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        unsigned sms[APPS];
    } cases[] = {
        {"apps.sms=even", {8, 8, 7, 7}}, {"apps.sms=20+5+3+2", {20, 5, 3, 2}}, {"apps.sms=1+2+3+4", {1, 2, 3, 4}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed apps[APPS];
        for (unsigned k = 0; k < APPS; k++)
            apps[k] = (struct timed){.kernel = touch_one_page, .ctas = 64};
        for (unsigned k = 1; k < APPS; k++)
            apps[0].neighbours[k - 1] = &apps[k];
        apps[0].sets[0] = cases[i].set;
        timed_run(&apps[0]);
        for (unsigned k = 0; k < APPS; k++) {
            uint64_t asked = timed_launch_count(&apps[0], k, 1, "l1_tlb.misses") -
                             timed_launch_count(&apps[0], k, 1, "l1_tlb.mshr_merges");
            assert_int_equal(asked, cases[i].sms[k]);
        }
        timed_end(&apps[0]);
    }
}

struct owners {
    pw_owner *of; /* by frame */
    pw_owner owner;
};

static void note_owner(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    (void)vpn;
    (void)order;
    struct owners *o = context;
    o->of[frame.v] = o->owner;
}

/* Who has each frame with data, from the page tables. */
static pw_owner *data_owners(const struct pw_system *s)
{
    struct owners o = {calloc(pw_frames_total(s->nodes[0].physical.frames), sizeof *o.of), 0};
    assert_non_null(o.of);
    for (unsigned app = 0; app < s->app_count; app++) {
        o.owner = (pw_owner)(1 + app);
        pw_page_table_each(s->spaces[app].table, note_owner, &o);
    }
    return o.of;
}

/* Large frames that have data of one application only, and of several. */
static void count_blocks(const struct pw_system *s, unsigned *out_pure, unsigned *out_mixed)
{
    pw_owner *of = data_owners(s);
    *out_pure = *out_mixed = 0;
    for (uint64_t block = 0; block < pw_frames_total(s->nodes[0].physical.frames); block += BLOCK_PAGES) {
        uint64_t seen = 0;
        for (uint64_t i = block; i < block + BLOCK_PAGES; i++)
            if (of[i])
                seen |= 1ULL << of[i];
        *out_pure += __builtin_popcountll(seen) == 1;
        *out_mixed += __builtin_popcountll(seen) > 1;
    }
    free(of);
}

static void idle(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 1);
}

/* mosaic-fig01a-mixed-frame: no large frame holds pages of one application alone, so none could be coalesced. */
static void applications_that_start_together_share_every_large_frame(void **state)
{
    (void)state;
    unsigned pure, mixed;
    for (unsigned count = 1; count <= 3; count++) {
        struct timed apps[3];
        for (unsigned k = 0; k < 3; k++)
            apps[k] = (struct timed){.kernel = idle, .bytes = 12 << 20};
        for (unsigned k = 1; k < count; k++)
            apps[0].neighbours[k - 1] = &apps[k];
        timed_run(&apps[0]);
        count_blocks(apps[0].system, &pure, &mixed);
        assert_int_equal(count == 1 ? mixed : pure, 0);
        assert_in_range(pure + mixed, 6 * count, 6 * count + 1);
        timed_end(&apps[0]);
    }
}

/* Requests come page by page in turn until the shorter program has all of its pages; the rest are the other's. */
static void frames_of_two_applications_alternate(void **state)
{
    (void)state;
    struct timed other = {.kernel = idle, .bytes = 1 << 20};
    struct timed t = {.kernel = idle, .bytes = 3 << 20, .neighbours = {&other}};
    timed_run(&t);
    pw_owner *of = data_owners(t.system);
    uint64_t total = pw_frames_total(t.system->nodes[0].physical.frames), pages = 0;
    for (uint64_t frame = 0; frame < total; frame++) {
        if (!of[frame])
            continue;
        assert_int_equal(of[frame], pages < 512 ? 1 + pages % 2 : 1);
        pages++;
    }
    assert_int_equal(pages, (4 << 20) / PW_PAGE_BYTES);
    free(of);
    timed_end(&t);
}

/* All frames of the first program lie before all of the second's. Six megabytes are three large frames, and page
 * tables, which take frames in the same order, push a few pages into a fourth; only the one with the border mixes. */
static void programs_backed_one_by_one_do_not_mix(void **state)
{
    (void)state;
    struct timed other = {.kernel = idle, .bytes = 3 << 20};
    struct timed t = {.kernel = idle, .bytes = 3 << 20, .neighbours = {&other}, .sets = {"apps.backing=one-by-one"}};
    timed_run(&t);
    pw_owner *of = data_owners(t.system);
    uint64_t total = pw_frames_total(t.system->nodes[0].physical.frames), pages = 0;
    for (uint64_t frame = 0; frame < total; frame++)
        if (of[frame])
            assert_int_equal(of[frame], pages++ < 768 ? 1 : 2);
    assert_int_equal(pages, 2 * 768);
    free(of);
    unsigned pure, mixed;
    count_blocks(t.system, &pure, &mixed);
    assert_int_equal(pure, 3);
    assert_int_equal(mixed, 1);
    timed_end(&t);
}

/* Five and three megabytes and their page tables do not fit in eight: in turn, the larger program finds no frame left;
 * one by one, the later. */
static void a_program_that_finds_no_memory_left_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *set, *name;
    } cases[] = {{"apps.backing=in-turn", "app0 (test): "}, {"apps.backing=one-by-one", "app1 (test): "}};
    for (size_t i = 0; i < 2; i++) {
        struct timed other = {.kernel = idle, .bytes = 3 << 20};
        struct timed t = {
            .kernel = idle, .bytes = 5 << 20, .neighbours = {&other}, .sets = {"dram.bytes=8MB", cases[i].set}};
        assert_int_equal(timed_try(&t), PW_USER_ERROR);
        assert_non_null(strstr(t.err.message, cases[i].name));
        timed_end(&t);
    }
}

static void touch_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < t->n[0]; page++)
        timed_fetch(w, t, page * PW_PAGE_BYTES);
}

/* mosaic-sec31-asid, mask-sec3-multi-asid: two programs with the same virtual pages. If one of them could use the
 * other's translations, or merge into its walks, there would be hits in the L2 TLB or fewer walks than pages. */
static void no_translation_serves_another_address_space(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "pwcache", "static"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed other = {.kernel = touch_pages, .n = {64}, .bytes = 64 * PW_PAGE_BYTES};
        struct timed t = other;
        t.design = designs[i];
        t.neighbours[0] = &other;
        timed_run(&t);
        assert_int_equal(t.a.base.v, other.a.base.v);
        for (unsigned app = 0; app < 2; app++) {
            assert_int_equal(timed_launch_count(&t, app, 1, "l1_tlb.hits"), 0);
            assert_int_equal(timed_launch_count(&t, app, 1, "l2_tlb.lookups"), t.config.gpu.l2_tlb.enabled ? 64 : 0);
            assert_int_equal(timed_launch_count(&t, app, 1, "l2_tlb.hits"), 0);
            assert_int_equal(timed_launch_count(&t, app, 1, "l2_tlb.mshr_merges"), 0);
            assert_int_equal(timed_launch_count(&t, app, 1, "walk.count"), 64);
        }
        timed_end(&t);
    }
}

static void add_line(uint64_t *lines, unsigned *count, uint64_t line)
{
    for (unsigned i = 0; i < *count; i++)
        if (lines[i] == line)
            return;
    lines[(*count)++] = line;
}

/* mosaic-sec31-ptbr: the same page of two programs, first touched by each: the entries that are read, from the root on,
 * are those of its own table. From another root on, walks would share lines. */
static void a_walk_starts_at_the_root_of_the_program_that_missed(void **state)
{
    (void)state;
    struct timed other = {.kernel = touch_pages, .n = {1}};
    struct timed t = other;
    t.neighbours[0] = &other;
    timed_run(&t);
    uint64_t lines[2 * PW_TABLE_LEVELS];
    unsigned count = 0;
    for (unsigned app = 0; app < 2; app++) {
        pw_paddr reads[PW_TABLE_LEVELS];
        unsigned levels = pw_page_table_walk(t.system->spaces[app].table, pw_vpn_of(t.a.base), reads, NULL);
        assert_int_equal(timed_launch_count(&t, app, 1, "walk.reads"), levels);
        for (unsigned i = 0; i < levels; i++)
            add_line(lines, &count, reads[i].v / PW_LINE_BYTES);
    }
    assert_int_equal(count, 2 * PW_TABLE_LEVELS);
    assert_int_equal(timed_count(&t, "dram.translation.bytes"), count * PW_LINE_BYTES);
    timed_end(&t);
}

/* A second round of the same pages finds its own entries, though the other's lie beside them under the same
 * addresses. */
static void entries_of_both_address_spaces_live_side_by_side(void **state)
{
    (void)state;
    struct timed other = {.kernel = touch_pages, .n = {64}, .bytes = 64 * PW_PAGE_BYTES, .launches = 2};
    struct timed t = other;
    t.sets[0] = "l1_tlb.base_entries=1";
    t.neighbours[0] = &other;
    timed_run(&t);
    for (unsigned app = 0; app < 2; app++) {
        assert_int_equal(timed_launch_count(&t, app, 2, "l2_tlb.lookups"), 64);
        assert_int_equal(timed_launch_count(&t, app, 2, "l2_tlb.hits"), 64);
        assert_int_equal(timed_launch_count(&t, app, 2, "walk.count"), 0);
    }
    timed_end(&t);
}

/* Starting over in an empty address space leaves no entry behind: every run misses anew, but not the neighbour. */
static void a_program_that_starts_over_shoots_down_its_own_entries_only(void **state)
{
    (void)state;
    struct timed other = {.kernel = touch_pages, .n = {16}, .bytes = 64 * PW_PAGE_BYTES, .launches = 40};
    struct timed t = {.kernel = touch_pages,
                      .n = {4},
                      .bytes = 4 * PW_PAGE_BYTES,
                      .neighbours = {&other},
                      .sets = {"apps.restart=fresh"}};
    timed_run(&t);
    uint64_t runs = t.system->apps[0].launches;
    assert_true(runs > 5);
    assert_int_equal(t.system->kernels.count, 1 + 40); /* rows of first runs only */
    size_t walks = timed_index(&t, "walk.count");
    assert_in_range(pw_stats_exact(t.system->stats, walks, 0, NULL, t.system->region_to), 4 * (runs - 1), 4 * runs);
    assert_int_equal(pw_stats_exact(t.system->stats, walks, 1, NULL, t.system->region_to), 16);
    timed_end(&t);
}

/* Draws a number in each run. */
static void draw(struct pw_host *h, struct timed *t)
{
    uint64_t *drawn = t->data;
    if (t->n[1] < 8)
        drawn[t->n[1]++] = pw_random_next(pw_host_random(h));
    timed_launch(h, t);
}

static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

/* Copies have numbers of their own; a program that starts over has its own again. */
static void every_run_of_an_application_draws_the_same_random_numbers(void **state)
{
    (void)state;
    uint64_t drawn[2][8] = {{0}};
    struct timed other = {.body = draw, .kernel = compute, .n = {1000}, .data = drawn[1]};
    struct timed t = {.body = draw, .kernel = compute, .n = {100}, .data = drawn[0], .neighbours = {&other}};
    timed_run(&t);
    assert_int_equal(t.n[1], 8);
    for (unsigned i = 1; i < 8; i++)
        assert_int_equal(drawn[0][i], drawn[0][0]);
    assert_int_not_equal(drawn[0][0], drawn[1][0]);
    timed_end(&t);
}

/* What runs when the last program ends comes to rest, but nothing new begins and nothing of it counts. */
static void no_cta_starts_after_the_end(void **state)
{
    (void)state;
    struct timed other = {.kernel = compute, .n = {24000}};
    struct timed t = {.kernel = compute, .n = {50}, .ctas = 300, .threads = 512, .neighbours = {&other}};
    timed_run(&t);
    assert_true(t.system->apps[0].finished && t.system->apps[0].present);
    uint64_t *now = pw_system_snapshot(t.system, t.system->events->now, PW_AFTER_EXIT);
    assert_non_null(now);
    size_t ctas = timed_index(&t, "sm.ctas"), issued = timed_index(&t, "sm.issued");
    assert_int_equal(pw_stats_exact(t.system->stats, ctas, 0, t.system->region_to, now), 0);
    assert_true(pw_stats_exact(t.system->stats, issued, 0, t.system->region_to, now) > 0);
    free(now);
    timed_end(&t);
}

/* Reads (warps of) an array larger than the L2 and writes it. */
static void stream(struct pw_warp *w, struct timed *t)
{
    uint64_t bytes = t->n[0] / 64;
    for (uint64_t byte = 0; byte < bytes; byte += 32 * 128) {
        timed_load_lanes(w, t, w->cta_index * bytes + byte, 31, 128);
        pw_use(w);
        timed_store(w, t, w->cta_index * bytes + byte);
    }
}

static struct timed streaming(uint64_t bytes)
{
    return (struct timed){.kernel = stream, .ctas = 64, .bytes = bytes, .n = {bytes}};
}

/* The lines that lie in a slice at the end belong to application `mine`; where pages interleave, the page of each lies
 * in this slice's channel and no other. */
static uint64_t check_lines(const struct pw_system *s, const struct pw_slice *slice, unsigned mine, uint8_t *channels)
{
    const struct pw_cache *c = &slice->cache;
    uint64_t lines = 0;
    for (uint32_t way = 0; way < c->sets.by * c->stride; way++) {
        if (c->lines[way] == PW_NO_LINE)
            continue;
        uint32_t frame = c->lines[way] / 32;
        pw_owner owner = pw_frames_owner(s->nodes[0].physical.frames, (pw_pfn){frame});
        assert_true(owner == PW_OWNER_APP + mine || owner == PW_OWNER_TABLE + mine);
        channels[frame] |= (uint8_t)(1U << slice->channel);
        lines++;
    }
    return lines;
}

static void check_channels(const struct timed *t, const uint8_t *channels)
{
    unsigned most = 0;
    for (uint64_t frame = 0; frame < pw_frames_total(t->system->nodes[0].physical.frames); frame++)
        if ((unsigned)__builtin_popcount(channels[frame]) > most)
            most = (unsigned)__builtin_popcount(channels[frame]);
    if (t->config.gpu.dram.interleave == PW_INTERLEAVE_PAGE)
        assert_int_equal(most, 1);
    else
        assert_true(most > 1);
}

/* mask-sec7-static-def: what lies in the L2 slices at the end: each line in a slice of the application that owns its
 * frame, and as many slices for each, however many SMs it has. */
static void each_application_has_its_own_slices_and_channels(void **state)
{
    (void)state;
    static const char *const interleaves[] = {"dram.interleave=line", "dram.interleave=page"};
    for (unsigned run = 0; run < 4; run++) {
        unsigned count = 2 + run % 2;
        struct timed apps[] = {streaming(4 << 20), streaming(4 << 20), streaming(4 << 20)};
        apps[0].machine = "mask";
        apps[0].design = "static";
        apps[0].sets[0] = interleaves[run / 2];
        apps[0].sets[1] = count == 2 ? "apps.sms=20+10" : NULL;
        for (unsigned k = 1; k < count; k++)
            apps[0].neighbours[k - 1] = &apps[k];
        timed_run(&apps[0]);
        const struct pw_memory *m = apps[0].system->nodes[0].gpu->memory;
        uint8_t *channels = calloc(pw_frames_total(apps[0].system->nodes[0].physical.frames), 1);
        assert_non_null(channels);
        uint64_t lines[8] = {0};
        for (uint32_t i = 0; i < m->slice_count; i++) {
            unsigned channel = i / m->config.l2.slices;
            assert_int_equal(m->slices[i].channel, channel);
            /* 8 channels over 3: 3, 3, 2. */
            lines[channel] +=
                check_lines(apps[0].system, &m->slices[i], count == 2 ? channel / 4 : channel / 3, channels);
        }
        for (unsigned k = 0; k < 8; k++)
            assert_true(lines[k] > 500);
        check_channels(&apps[0], channels);
        free(channels);
        timed_end(&apps[0]);
    }
}

/* mask-sec6-no-l2-partition: without Static, lines of every application lie in every slice. */
static void without_static_all_slices_are_everybodys(void **state)
{
    (void)state;
    static const char *const designs[] = {"pwcache", "gpu-mmu", "ideal-tlb", "mask"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed other = streaming(512 << 10), t = streaming(512 << 10); /* both fit */
        t.machine = "mask";
        t.design = designs[i];
        t.neighbours[0] = &other;
        timed_run(&t);
        const struct pw_memory *m = t.system->nodes[0].gpu->memory;
        for (uint32_t k = 0; k < m->slice_count; k++) {
            const struct pw_cache *c = &m->slices[k].cache;
            uint64_t lines[2] = {0};
            for (uint32_t way = 0; way < c->sets.by * c->stride; way++)
                for (unsigned app = 0; app < 2 && c->lines[way] != PW_NO_LINE; app++)
                    lines[app] += pw_frames_owner(t.system->nodes[0].physical.frames, (pw_pfn){c->lines[way] / 32}) ==
                                  PW_OWNER_APP + app;
            assert_true(lines[0] > 100 && lines[1] > 100);
        }
        timed_end(&t);
    }
}

/* With translation out of the way and memory divided, nothing that a neighbour does changes an application's time. */
static void divided_memory_keeps_neighbours_apart(void **state)
{
    (void)state;
    static const char *const interleaves[] = {"dram.interleave=line", "dram.interleave=page"};
    for (unsigned run = 0; run < 4; run++) {
        bool divided = run % 2;
        pw_cycle end[2];
        for (unsigned busy = 0; busy < 2; busy++) {
            struct timed other = streaming(8 << 20);
            struct timed t = streaming(8 << 20);
            other.kernel = busy ? stream : idle;
            t.design = "ideal-tlb";
            t.sets[0] = divided ? "l2.partition=by-app" : "l2.partition=shared";
            t.sets[1] = interleaves[run / 2];
            t.neighbours[0] = &other;
            timed_run(&t);
            end[busy] = t.system->apps[0].end;
            timed_end(&t);
        }
        if (divided)
            assert_int_equal(end[0], end[1]);
        else
            assert_true(end[1] > end[0] + end[0] / 10);
    }
}

static void launch_nothing(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    pw_free(h, &t->a);
}

/* A program without launches ends at once and does not start over; the other's time is that of a single run. */
static void a_program_without_launches_takes_no_time(void **state)
{
    (void)state;
    struct timed single = {.kernel = compute, .n = {500}, .ctas = 40, .threads = 256, .sets = {"sm.count=15"}};
    struct timed other = {.body = launch_nothing};
    struct timed t = single;
    t.sets[0] = NULL;
    t.neighbours[0] = &other;
    assert_int_equal(timed_run(&t), timed_cycles(single));
    assert_true(t.system->apps[1].finished);
    assert_int_equal(t.system->apps[1].end, 0);
    timed_end(&t);
    struct timed neither = {.body = launch_nothing, .neighbours = {&other}};
    assert_int_equal(timed_cycles(neither), 0);
}

static void wrong(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    timed_launch(h, t);
    pw_host_expect(h, false, "the sum is wrong");
}

static void a_check_that_fails_ends_the_run_and_names_the_application(void **state)
{
    (void)state;
    struct timed other = {.body = wrong, .kernel = idle};
    struct timed t = {.kernel = compute, .n = {5000}, .spec = {.verify = true}, .neighbours = {&other}};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_non_null(strstr(t.err.message, "app1 (test): "));
    assert_non_null(strstr(t.err.message, "the sum is wrong"));
    timed_end(&t);
}

/* One byte behind the array's last page is nobody's, though the neighbour has that virtual page. */
static void touch_behind(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, t->bytes);
}

static void a_neighbours_pages_cannot_be_read(void **state)
{
    (void)state;
    struct timed other = {.kernel = idle, .bytes = 2 << 20};
    struct timed t = {.kernel = touch_behind, .bytes = 1 << 20, .neighbours = {&other}};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_non_null(strstr(t.err.message, "app0 accessed address"));
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_application_runs_on_its_own_sms_and_on_no_other),
        cmocka_unit_test(applications_that_start_together_share_every_large_frame),
        cmocka_unit_test(frames_of_two_applications_alternate),
        cmocka_unit_test(programs_backed_one_by_one_do_not_mix),
        cmocka_unit_test(a_program_that_finds_no_memory_left_is_named),
        cmocka_unit_test(no_translation_serves_another_address_space),
        cmocka_unit_test(a_walk_starts_at_the_root_of_the_program_that_missed),
        cmocka_unit_test(entries_of_both_address_spaces_live_side_by_side),
        cmocka_unit_test(a_program_that_starts_over_shoots_down_its_own_entries_only),
        cmocka_unit_test(every_run_of_an_application_draws_the_same_random_numbers),
        cmocka_unit_test(no_cta_starts_after_the_end),
        cmocka_unit_test(each_application_has_its_own_slices_and_channels),
        cmocka_unit_test(without_static_all_slices_are_everybodys),
        cmocka_unit_test(divided_memory_keeps_neighbours_apart),
        cmocka_unit_test(a_program_without_launches_takes_no_time),
        cmocka_unit_test(a_check_that_fails_ends_the_run_and_names_the_application),
        cmocka_unit_test(a_neighbours_pages_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
