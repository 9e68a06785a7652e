/* Protection between address spaces: five applications, whose arrays have equal page numbers, attack every structure
 * that translations and data pass through, by every path there is, and none of them may get another's frame.
 *
 * A line of the table below is a machine whose structures are attacked; each is attacked by every path. TLBs are
 * watched at work: whatever a lookup returns and whatever is filled in must be a frame of the application that asked,
 * at that moment. A translation from an L2 TLB, a cache beside it, a miss register, a walk or a page that has come ends
 * up in an L1 TLB, so this sees them all. Counts show that no application was served by another's walk, table or line,
 * and that what a machine is in the table for was at work. */
#include "timed.h"

#include "gpu/gpu_internal.h"

enum { APPS = 5, PLACES = 32, PLACE_BYTES = 192 << 10, BYTES = PLACES * PLACE_BYTES, MAX_FRAMES = 1 << 17, SPIES = 64 };

/* Whose structures are attacked. */
static const struct machine {
    const char *name, *design, *sets[4];
    bool keeps_place; /* the frames of a page cannot be chosen at random */
    bool brings_more; /* with a page come others, which need no walk */
    const char *used; /* or NULL: what it must have counted when the programs have come one after the other */
} machines[] = {
    /* shared L2 TLB, its miss registers, 64 walks in flight */
    {"mask", "gpu-mmu", .sets = {NULL}},
    {"mask", "gpu-mmu", .sets = {"l1_tlb.on_miss=nonblocking", "l1_tlb.base_entries=2", "l2_tlb.base_entries=16"}},
    {"mask", "gpu-mmu", .sets = {"l1_tlb.on_miss=stall_lsu", "l2_tlb.base_ways=1"}},
    /* tags that several pages share, and narrow and wide sets */
    {"mask", "gpu-mmu", .sets = {"l1_tlb.base_subpages=8", "l2_tlb.base_subpages=8", "l2_tlb.base_ways=0"}},
    /* few miss registers and a single walker: misses wait for one, walks queue */
    {"mask", "gpu-mmu", .sets = {"l2_tlb.mshrs=3", "walk.walkers=1", "l1_tlb.on_miss=nonblocking"}},
    {"mask", "gpu-mmu", .sets = {"walk.model=fixed", "walk.walkers=2"}},
    /* page walk cache: without an L2 TLB, beside one, and with lines of single entries */
    {"mask", "pwcache", .sets = {NULL}},
    {"mask", "pwcache", .sets = {"pwc.line_bytes=8B", "walk.walkers=1"}},
    {"mask", "gpu-mmu", .sets = {"pwc.enabled=on", "pwc.bytes=2KB", "l2_tlb.base_entries=16"}},
    /* larger pages, and base pages that become large */
    {"mask", "gpu-mmu-64k", .sets = {NULL}},
    {"mask", "gpu-mmu-2m", .sets = {NULL}},
    {"mask", "mosaic", .sets = {NULL}, .keeps_place = true},
    {"mask", "conventional-coalescing", .sets = {"coalesce.interval=1000"}},
    /* data caches, DRAM */
    {"mask", "static", .sets = {NULL}},
    {"mask", "gpu-mmu", .sets = {"l2.walks=never"}},
    /* Most warps without a token, so that the bypass cache answers. */
    {"mask", "mask-tlb",
     .sets = {"fill.epoch=500", "fill.initial=10", "l2_tlb.base_entries=16", "l1_tlb.base_entries=2"},
     .used = "bypass_tlb.hits"},
    {"mask", "mask", .sets = {"fill.epoch=500", "fill.initial=10", "page.entry_stride=128", "l1_tlb.base_entries=2"},
     .used = "bypass_tlb.hits"},
    {"mask", "mosaic+mask", .sets = {"fill.epoch=500", "fill.initial=10"}, .keeps_place = true},
    /* entries that are differences from a base, and runs of pages */
    {"mask", "compress", .sets = {"l2_tlb.base_entries=64", "l1_tlb.base_entries=2"},
     .used = "l2_tlb.organisation.compressed_fills"},
    {"mask", "compress", .sets = {"l1_tlb.organisation=compressed"}, .used = "l1_tlb.organisation.compressed_fills"},
    {"mask", "range-tlb", .sets = {"page.frames=contiguity", "l1_tlb.base_entries=2"}, .keeps_place = true,
     .brings_more = true, .used = "l2_tlb.organisation.range_hits"},
    /* several GPUs, the IOMMU of the host, pages that move and pages that stay */
    {"mgpu4", "distributed", .sets = {"gpu.count=2", "place.remote=migrate"}, .used = "move.pages"},
    {"mgpu4", "bypass", .sets = {"gpu.count=2", "place.remote=migrate", "route.epoch=1000"}, .used = "move.pages"},
    {"mgpu4", "bypass", .sets = {"gpu.count=2", "route.mode=both"}, .used = "route.duplicate_walks"},
    {"mgpu4", "centralized", .sets = {"gpu.count=2", "l1_tlb.base_entries=2"}, .used = "route.remote"},
    {"volta", "gpu-mmu", .sets = {NULL}},
    /* TLBs that ask page tables */
    {"mask", "ideal-tlb", .sets = {NULL}},
    {"mask", "ideal-l2-tlb", .sets = {NULL}},
    /* far-fault registers, pages that come and go */
    {"pascal", "uvm-none-lru4k", .sets = {NULL}},
    {"pascal", "uvm-tbn-tbn", .sets = {"uvm.oversubscription=150"}},
    {"mask", "mosaic+uvm-none-lru4k", .sets = {NULL}, .keeps_place = true},
};

enum { MACHINES = sizeof machines / sizeof *machines };

/* An array of a TLB that is spied upon. */
struct spy {
    struct pw_tlb_policy policy; /* in the place of: */
    const struct pw_tlb_policy *behind;
    void *state;
};

/* What the spies in the TLBs have seen. */
static struct {
    const struct pw_system *system;
    struct spy spies[SPIES];
    unsigned count;
    uint64_t seen, stolen;
    uint8_t users[MAX_FRAMES]; /* of each frame, the applications that ever had it in a TLB */
} spied;

static pw_owner owner_of(const struct pw_system *s, pw_pfn frame)
{
    unsigned gpu = pw_frame_gpu(&s->nodes[0].physical, frame);
    const struct pw_physical_memory *memory = gpu < s->node_count ? &s->nodes[gpu].physical : NULL;
    return memory && pw_physical_memory_has(memory, frame) ? pw_physical_owner(memory, frame) : PW_OWNER_FREE;
}

static void watch(struct pw_tlb_key key, pw_pfn word)
{
    pw_pfn frame = pw_frame_of(word);
    spied.seen++;
    spied.stolen += owner_of(spied.system, frame) != PW_OWNER_APP + key.asid;
    if (frame.v < MAX_FRAMES)
        spied.users[frame.v] |= (uint8_t)(1U << key.asid);
}

static struct spy *spy_at(const void *state)
{
    for (unsigned i = 0; i < spied.count; i++)
        if (spied.spies[i].state == state)
            return &spied.spies[i];
    return NULL;
}

static bool spy_lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    bool hit = spy_at(state)->behind->lookup(state, key, out_frame);
    if (hit)
        watch(key, *out_frame);
    return hit;
}

static void spy_insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    watch(key, frame);
    spy_at(state)->behind->insert(state, key, frame, line);
}

/* Once; an array that asks page tables stores nothing. */
static void spy_on(const struct pw_tlb_policy **policy, void *state)
{
    if (!state || (*policy)->asks_table || spy_at(state))
        return;
    assert_true(spied.count < SPIES);
    struct spy *spy = &spied.spies[spied.count++];
    *spy = (struct spy){**policy, *policy, state};
    spy->policy.lookup = spy_lookup;
    spy->policy.insert = spy_insert;
    *policy = &spy->policy;
}

static void spy_on_tlb(struct pw_tlb *tlb)
{
    spy_on(&tlb->base.policy, tlb->base.state);
    spy_on(&tlb->large.policy, tlb->large.state);
}

/* Before anything runs; again is harmless. */
static void place_spies(const struct pw_system *s)
{
    spied.system = s;
    for (unsigned n = 0; n < s->node_count; n++) {
        struct pw_gpu *g = s->nodes[n].gpu;
        for (uint32_t i = 0; i < g->config.sm.count; i++)
            spy_on_tlb(&g->sms[i].tlb);
        spy_on_tlb(pw_mmu_tlb(g->mmu));
        struct pw_bypass_tlb *bypass = pw_mmu_bypass_tlb(g->mmu);
        spy_on(&bypass->policy, bypass->state);
    }
}

/* n: 0: places that are touched; 1: the kernel waits so many cycles first; 2: launches; 3: runs ended so far. */
static void touch(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[1] + 1);
    for (uint64_t place = 0; place < t->n[0]; place += PW_WARP_LANES) {
        uint64_t left = t->n[0] - place;
        timed_load_lanes(w, t, place * PLACE_BYTES, left < PW_WARP_LANES ? (uint32_t)left : PW_WARP_LANES, PLACE_BYTES);
        pw_use(w);
    }
}

static void touch_and_change(struct pw_warp *w, struct timed *t)
{
    touch(w, t);
    for (uint64_t place = w->cta_index; place < t->n[0]; place += 3) {
        timed_store(w, t, place * PLACE_BYTES + 64);
        timed_fetch(w, t, (PLACES - 1 - place) * PLACE_BYTES);
    }
}

static void attack(struct pw_host *h, struct timed *t)
{
    place_spies(t->system);
    t->a = pw_alloc(h, "a", t->n[0] > 1 ? BYTES : PW_PAGE_BYTES, 1);
    for (uint64_t i = 0; i < t->n[2]; i++)
        timed_launch(h, t);
}

/* Frames are freed in the middle, for others to get them, and what is left at the end by starting over. */
static void attack_and_free(struct pw_host *h, struct timed *t)
{
    place_spies(t->system);
    for (uint64_t i = 0; i < t->n[2]; i++) {
        t->a = pw_alloc(h, "scratch", BYTES / 2, 1);
        struct pw_array scratch = t->a;
        t->a = pw_alloc(h, "a", BYTES, 1);
        timed_launch(h, t);
        pw_free(h, &scratch);
        timed_launch(h, t);
        if (i + 1 < t->n[2])
            pw_free(h, &t->a);
    }
    t->n[3]++;
}

static void add_set(struct timed *t, const char *set)
{
    size_t at = 0;
    while (t->sets[at])
        at++;
    t->sets[at] = set;
}

static bool is_several(const struct machine *m)
{
    return strcmp(m->name, "mgpu4") == 0;
}

/* Five programs on one machine, of which the first one stands for the run. */
static void prepare(struct timed apps[APPS], const struct machine *m, struct timed like)
{
    memset(&spied, 0, sizeof spied);
    like.machine = m->name;
    like.design = m->design;
    if (is_several(m))
        like.ctas = 4;
    for (unsigned k = 0; k < APPS; k++)
        apps[k] = like;
    add_set(&apps[0], "sm.count=10"); /* two each: enough, and quickly built */
    add_set(&apps[0], "dram.bytes=192MB");
    for (unsigned i = 0; i < 4 && m->sets[i]; i++)
        add_set(&apps[0], m->sets[i]);
    for (unsigned k = 1; k < APPS; k++)
        apps[0].neighbours[k - 1] = &apps[k];
}

/* Asks each TLB for each page in the name of every application: what is there is the page's own. */
static void probe(const struct timed *t, struct pw_tlb *tlb, const char *who)
{
    const struct pw_system *s = t->system;
    for (unsigned app = 0; app < APPS; app++)
        for (uint64_t place = 0; place < t->n[0]; place++) {
            pw_vpn vpn = pw_vpn_of((pw_vaddr){t->a.base.v + place * PLACE_BYTES});
            pw_pfn word;
            if (pw_tlb_lookup(tlb, (pw_asid)app, vpn, &word) &&
                !pw_page_table_has_word(s->spaces[app].table, vpn, word))
                fail_msg("%s gives app%u another's frame", who, app);
        }
}

static void probe_all(const struct timed *t)
{
    for (unsigned n = 0; n < t->system->node_count; n++) {
        struct pw_gpu *g = t->system->nodes[n].gpu;
        for (uint32_t i = 0; i < g->config.sm.count; i++)
            probe(t, &g->sms[i].tlb, "an L1 TLB");
        if (g->config.l2_tlb.enabled)
            probe(t, pw_mmu_tlb(g->mmu), "the L2 TLB");
    }
}

static void expect_nothing_stolen(const struct timed *t)
{
    if (!t->system->nodes[0].gpu->sms[0].tlb.is_the_table)
        assert_true(spied.seen > 0);
    assert_int_equal(spied.stolen, 0);
    probe_all(t);
}

static bool walks(const struct timed *t)
{
    struct pw_gpu *g = t->system->nodes[0].gpu;
    bool l2_asks = g->config.l2_tlb.enabled && pw_mmu_tlb(g->mmu)->is_the_table;
    return t->config.paging.mode != PW_PAGING_FREE || (!g->sms[0].tlb.is_the_table && !l2_asks);
}

/* The pages that the places of an application lie in, while pages have one size. */
static uint64_t pages_of(const struct timed *t)
{
    uint64_t bytes = (uint64_t)PW_PAGE_BYTES << __builtin_ctz(t->config.gpu.orders), pages = 0, last = UINT64_MAX;
    for (uint64_t place = 0; place < t->n[0]; last = place++ * PLACE_BYTES / bytes)
        pages += place * PLACE_BYTES / bytes != last;
    return pages;
}

static uint64_t launch_count(const struct timed *t, unsigned app, const char *metric)
{
    return timed_launch_count(t, app, 1, metric);
}

static uint64_t own_lines(const struct pw_system *s, const struct pw_sm *sm)
{
    const struct pw_cache *c = &sm->l1;
    uint64_t lines = 0;
    for (uint32_t way = 0; way < c->sets.by * c->stride; way++) {
        if (c->lines[way] == PW_NO_LINE)
            continue;
        pw_pfn frame = {c->lines[way] >> (PW_PAGE_SHIFT - PW_LINE_SHIFT)};
        assert_int_equal(owner_of(s, frame), PW_OWNER_APP + sm->app);
        lines++;
    }
    return lines;
}

/* No line of another one's data lies in the L1 caches of an application's SMs. */
static void expect_own_lines(const struct timed *t)
{
    uint64_t lines = 0;
    for (unsigned n = 0; n < t->system->node_count; n++)
        for (uint32_t i = 0; i < t->system->nodes[n].gpu->config.sm.count; i++)
            lines += own_lines(t->system, &t->system->nodes[n].gpu->sms[i]);
    assert_true(lines >= APPS || t->config.paging.mode != PW_PAGING_FREE); /* pages that leave take them along */
}

/* Every entry of a table, from the root on, and every line of data is read from DRAM once for each of them. */
static void expect_nothing_shared(const struct timed apps[APPS])
{
    const struct timed *t = &apps[0];
    uint64_t levels = 0;
    for (unsigned app = 0; app < APPS; app++) {
        pw_paddr reads[PW_TABLE_LEVELS];
        assert_int_equal(apps[app].a.base.v, t->a.base.v);
        assert_int_equal(launch_count(t, app, "walk.count"), walks(t));
        assert_int_equal(launch_count(t, app, "l2_tlb.mshr_merges"), 0);
        assert_int_equal(launch_count(t, app, "l2.hits"), 0);
        if (walks(t) && t->config.gpu.walk.model == PW_WALK_MEMORY)
            levels += pw_page_table_walk(t->system->spaces[app].table, pw_vpn_of(t->a.base), reads, NULL);
    }
    if (t->config.paging.mode == PW_PAGING_FREE) {
        assert_int_equal(timed_count(t, "walk.reads"), levels);
        assert_int_equal(timed_count(t, "dram.translation.reads"), levels);
    }
    assert_int_equal(timed_count(t, "dram.reads") - timed_count(t, "dram.translation.reads"), APPS);
}

/* The first touch of one page by each, at the same time, or of each when the one before it has long had its own. */
static void one_page_of_each_shares_no_walk_no_table_and_no_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES * 2; i++) {
        struct timed apps[APPS], *t = &apps[0];
        prepare(apps, &machines[i / 2], (struct timed){.body = attack, .kernel = touch, .n = {1, 0, 1}});
        for (unsigned app = 0; app < APPS && i % 2; app++)
            apps[app].n[1] = app * 25000;
        timed_run(t);
        if (!is_several(&machines[i / 2]))
            expect_nothing_shared(apps);
        expect_nothing_stolen(t);
        expect_own_lines(t);
        timed_end(t);
    }
}

/* mask-sec3-multi-asid, mosaic-sec31-asid: all pages of all of them miss at once: more misses than there are registers,
 * walks or far faults under way. A miss that merged into another one's would leave fewer walks than pages. */
static void misses_that_meet_are_served_each_for_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct timed apps[APPS], *t = &apps[0];
        prepare(apps, &machines[i], (struct timed){.body = attack, .kernel = touch, .n = {PLACES, 0, 2}});
        timed_run(t);
        bool one_size = !(t->config.gpu.orders & (t->config.gpu.orders - 1));
        bool walk_each = one_size && !machines[i].brings_more && !is_several(&machines[i]);
        for (unsigned app = 0; app < APPS && walk_each && t->config.paging.mode == PW_PAGING_FREE; app++) {
            assert_int_equal(launch_count(t, app, "walk.count"), walks(t) ? pages_of(t) : 0);
            if (pages_of(t) == PLACES)
                assert_int_equal(launch_count(t, app, "l2_tlb.mshr_merges"), 0);
        }
        expect_nothing_stolen(t);
        expect_own_lines(t);
        timed_end(t);
    }
}

/* Here and at the host. */
static uint64_t walks_of(const struct timed *t, unsigned app)
{
    return launch_count(t, app, "walk.count") + (t->system->iommu ? launch_count(t, app, "iommu.walks") : 0);
}

/* Each comes when those before it have left their translations everywhere. It misses as the first one did. */
static void what_others_left_behind_serves_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct timed apps[APPS], *t = &apps[0];
        prepare(apps, &machines[i],
                (struct timed){.body = attack, .kernel = touch_and_change, .ctas = 2, .n = {PLACES, 0, 2}});
        for (unsigned app = 0; app < APPS; app++)
            apps[app].n[1] = app * 25000;
        timed_run(t);
        for (unsigned app = 1; app < APPS && t->config.paging.mode == PW_PAGING_FREE && walks(t); app++)
            assert_true(walks_of(t, app) >=
                        (machines[i].brings_more ? 1 : pages_of(t) >> (t->config.gpu.orders & 1 ? 4 : 0)));
        if (machines[i].used)
            assert_true(timed_count(t, machines[i].used) > 0);
        expect_nothing_stolen(t);
        expect_own_lines(t);
        timed_end(t);
    }
}

/* Whether any frame has been in TLBs for two applications, one after the other. */
static bool frames_changed_hands(void)
{
    for (size_t i = 0; i < MAX_FRAMES; i++)
        if (spied.users[i] & (spied.users[i] - 1))
            return true;
    return false;
}

/* Programs of several lengths that free and start over: the number of an address space and its page numbers are used
 * again, after a shootdown, while its frames go to others. */
static void a_number_used_again_opens_no_frame_of_before(void **state)
{
    (void)state;
    static const char *const restarts[] = {"apps.restart=fresh", "apps.restart=keep"};
    for (size_t i = 0; i < MACHINES * 2; i++) {
        const struct machine *m = &machines[i / 2];
        struct timed apps[APPS], *t = &apps[0];
        prepare(apps, m,
                (struct timed){.body = attack_and_free, .kernel = touch_and_change, .ctas = 2, .n = {PLACES, 0, 1}});
        for (unsigned app = 0; app < APPS; app++)
            apps[app].n[2] = 1 + 2 * app;
        add_set(t, restarts[i % 2]);
        if (!m->keeps_place)
            add_set(t, "page.frames=random");
        timed_run(t);
        assert_true(apps[0].n[3] >= 3);
        if (!m->keeps_place && !t->system->nodes[0].gpu->sms[0].tlb.is_the_table)
            assert_true(frames_changed_hands());
        expect_nothing_stolen(t);
        timed_end(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_page_of_each_shares_no_walk_no_table_and_no_line),
        cmocka_unit_test(misses_that_meet_are_served_each_for_its_own),
        cmocka_unit_test(what_others_left_behind_serves_nobody),
        cmocka_unit_test(a_number_used_again_opens_no_frame_of_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
