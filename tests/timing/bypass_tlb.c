/* The bypass cache beside the L2 TLB, in exact cycles: who fills it, who finds what is in it, and what is replaced. A
 * function of the test says which warps hold a token. */
#include "gpu/gpu_internal.h"
#include "timed.h"

enum { WALK = 500, LATER = 5000, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

#define FIXED_WALKS                                                                                                    \
    "sm.count=2", "walk.model=fixed", "walk.latency=500", "gpu.launch_latency=0", "l1_tlb.latency=1",                  \
        "l2_tlb.latency=10", "l2_tlb.distance=10", "fill.policy=tokens"

/* Bit i: SM i's warps hold a token. */
static uint32_t sms_with_tokens;

static unsigned may_fill(void *state, pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)state, (void)app, (void)warp;
    return PW_FILL_L1 | (sms_with_tokens >> sm & 1 ? PW_FILL_L2 : 0);
}

static void give_tokens(struct timed *t)
{
    t->system->nodes[0].gpu->fill.may_fill = may_fill;
}

/* The launch gives the array its pages, so that they can be coalesced. */
static void launch_with_tokens(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", t->bytes ? t->bytes : 1 << 20, 1);
    give_tokens(t);
    for (uint32_t i = 0; i < (t->launches ? t->launches : 1); i++)
        timed_launch(h, t);
}

static pw_cycle run_with(struct timed *t, uint32_t sms)
{
    sms_with_tokens = sms;
    t->body = launch_with_tokens;
    return timed_run(t);
}

static void count_entry(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    (void)key, (void)frame;
    ++*(unsigned *)context;
}

static unsigned entries_in_bypass(const struct timed *t)
{
    const struct pw_bypass_tlb *b = pw_mmu_bypass_tlb(t->system->nodes[0].gpu->mmu);
    unsigned count = 0;
    b->policy->each(b->state, count_entry, &count);
    return count;
}

static unsigned entries_in_l2_tlb(const struct timed *t)
{
    const struct pw_tlb *tlb = pw_mmu_tlb(t->system->nodes[0].gpu->mmu);
    const struct pw_tlb_array *arrays[] = {&tlb->base, &tlb->large};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (arrays[i]->state)
            arrays[i]->policy->each(arrays[i]->state, count_entry, &count);
    return count;
}

/* One SM loads after n[0] cycles, and the other one the same page n[1] cycles after that. */
static void load_after_another_sm(struct pw_warp *w, struct timed *t)
{
    uint64_t cycles = t->n[0] + (w->cta_index ? t->n[1] : 0);
    if (cycles)
        pw_compute(w, (uint32_t)cycles);
    timed_fetch(w, t, 0);
}

static struct timed two_sms(void)
{
    return (struct timed){.kernel = load_after_another_sm, .ctas = 2, .n = {0, LATER}, .sets = {FIXED_WALKS}};
}

/* mask-sec52-no-token-bypass, mask-sec52-parallel-probe: what a warp without a token has brought is in the bypass cache
 * and not in the L2 TLB. The other SM finds it there after as many cycles as in the L2 TLB, for every page size, also
 * where two arrays are probed one after the other; and that counts as a hit. */
static void a_hit_in_the_bypass_cache_takes_as_long_as_one_in_the_l2_tlb(void **state)
{
    (void)state;
    static const struct {
        const char *design;
        pw_page_orders orders;
        uint64_t first, bytes;
        uint8_t order;
    } cases[] = {{"gpu-mmu", 0, 0, 1 << 20, PW_PAGE_4K},        {"gpu-mmu-64k", 0, 0, 1 << 20, PW_PAGE_64K},
                 {"gpu-mmu-2m", 0, 0, 2 << 20, PW_PAGE_2M},     {"gpu-mmu", BOTH, 0, 1 << 20, PW_PAGE_4K},
                 {"mosaic", 0, 2 * LATER, 1 << 20, PW_PAGE_4K}, {"mosaic", 0, 2 * LATER, 2 << 20, PW_PAGE_2M}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t = two_sms();
        t.design = cases[i].design;
        t.orders = cases[i].orders;
        t.bytes = cases[i].bytes;
        t.n[0] = cases[i].first;
        struct timed with = t, base = t;
        base.sets[8] = "fill.policy=always";
        pw_cycle always = run_with(&base, ~0U);
        timed_end(&base);
        assert_int_equal(run_with(&with, ~0U), always);
        assert_int_equal(run_with(&t, 0), always);
        assert_int_equal(entries_in_l2_tlb(&with), 1);
        assert_int_equal(entries_in_bypass(&with), 0);
        assert_int_equal(entries_in_l2_tlb(&t), 0);
        assert_int_equal(entries_in_bypass(&t), 1);
        pw_pfn frame;
        assert_true(pw_bypass_tlb_lookup(pw_mmu_bypass_tlb(t.system->nodes[0].gpu->mmu), cases[i].order, 0,
                                         pw_vpn_of(t.a.base), &frame));
        assert_int_equal(timed_count(&t, "walk.count"), 1);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
        assert_int_equal(timed_count(&t, "bypass_tlb.lookups"), 2);
        assert_int_equal(timed_count(&t, "bypass_tlb.hits"), 1);
        assert_int_equal(timed_count(&t, "bypass_tlb.unneeded"), 0);
        assert_int_equal(timed_count(&t, "fill.bypassed"), 1);
        assert_int_equal(timed_count(&t, "fill.filled"), 0);
        timed_end(&t);
        timed_end(&with);
    }
}

/* mask-sec5-probe-all, mask-sec52-bypass-fill: a warp without a token finds what one with a token has put into the L2
 * TLB, and nothing of that is in the bypass cache. */
static void every_warp_may_look_into_the_l2_tlb(void **state)
{
    (void)state;
    struct timed t = two_sms();
    run_with(&t, 1);
    assert_int_equal(timed_count(&t, "walk.count"), 1);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "bypass_tlb.unneeded"), 1);
    assert_int_equal(timed_count(&t, "bypass_tlb.hits"), 0);
    assert_int_equal(timed_count(&t, "fill.filled"), 1);
    assert_int_equal(timed_count(&t, "fill.bypassed"), 0);
    assert_int_equal(entries_in_bypass(&t), 0);
    timed_end(&t);
}

/* Two misses of one page, of which neither, one or both have a token: one is enough. */
static void of_misses_that_merge_one_with_a_token_is_enough(void **state)
{
    (void)state;
    for (uint32_t sms = 0; sms < 4; sms++) {
        struct timed t = two_sms();
        t.n[1] = 0;
        run_with(&t, sms);
        assert_int_equal(timed_count(&t, "l2_tlb.mshr_merges"), 1);
        assert_int_equal(timed_count(&t, "fill.filled"), sms ? 1 : 0);
        assert_int_equal(timed_count(&t, "fill.bypassed"), sms ? 0 : 1);
        assert_int_equal(entries_in_l2_tlb(&t), sms ? 1 : 0);
        assert_int_equal(entries_in_bypass(&t), sms ? 0 : 1);
        timed_end(&t);
    }
}

/* mask-sec52-bypass-size, mask-sec52-bypass-assoc, mask-sec52-bypass-lru, mask-sec74-cam: 32 pages that any smaller
 * number of sets would not spread evenly; page 0 is used again before the 33rd page comes, so that page 1 leaves. */
static void the_bypass_cache_has_32_entries_and_replaces_the_least_recently_used(void **state)
{
    (void)state;
    enum { ENTRIES = 32, STRIDE = 64 * PW_PAGE_BYTES };
    uint64_t bytes[ENTRIES + 4];
    for (uint64_t i = 0; i < ENTRIES; i++)
        bytes[i] = i * STRIDE;
    bytes[ENTRIES] = 0;
    bytes[ENTRIES + 1] = (uint64_t)ENTRIES * STRIDE;
    bytes[ENTRIES + 2] = 0;
    bytes[ENTRIES + 3] = STRIDE;
    static const unsigned hits[] = {0, 1, 1, 2, 2};
    for (uint64_t loads = ENTRIES; loads <= ENTRIES + 4; loads++) {
        struct timed t = {.kernel = timed_chain,
                          .bytes = (ENTRIES + 1) * (uint64_t)STRIDE,
                          .n = {loads},
                          .data = bytes,
                          .sets = {FIXED_WALKS, "l1_tlb.base_entries=1"}};
        run_with(&t, 0);
        assert_int_equal(timed_count(&t, "bypass_tlb.lookups"), loads);
        assert_int_equal(timed_count(&t, "bypass_tlb.hits"), hits[loads - ENTRIES]);
        assert_int_equal(timed_count(&t, "walk.count"), loads - hits[loads - ENTRIES]);
        assert_int_equal(entries_in_bypass(&t), ENTRIES);
        timed_end(&t);
    }
}

static void touch_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < t->n[0]; page++)
        timed_fetch(w, t, page * PW_PAGE_BYTES);
}

/* The same pages of two programs: the first round of each misses, the second one finds its own entries. */
static void entries_carry_their_address_space(void **state)
{
    (void)state;
    struct timed other = {.kernel = touch_pages, .n = {64}, .bytes = 64 * PW_PAGE_BYTES, .launches = 2};
    struct timed t = other;
    static const char *const sets[] = {"fill.policy=tokens", "fill.bypass_entries=128", "l1_tlb.base_entries=1"};
    memcpy(t.sets, sets, sizeof sets);
    t.neighbours[0] = &other;
    run_with(&t, 0);
    assert_int_equal(t.a.base.v, other.a.base.v);
    size_t hits = timed_index(&t, "bypass_tlb.hits"), bypassed = timed_index(&t, "fill.bypassed");
    for (unsigned app = 0; app < 2; app++) {
        assert_int_equal(timed_launch_count(&t, app, 1, "bypass_tlb.hits"), 0);
        assert_int_equal(timed_launch_count(&t, app, 1, "fill.bypassed"), 64);
        assert_int_equal(timed_launch_count(&t, app, 2, "bypass_tlb.hits"), 64);
        assert_int_equal(timed_launch_count(&t, app, 2, "walk.count"), 0);
        assert_true(pw_stats_exact(t.system->stats, hits, (int)app, NULL, t.system->region_to) >= 64);
        assert_int_equal(pw_stats_exact(t.system->stats, bypassed, (int)app, NULL, t.system->region_to), 64);
    }
    assert_int_equal(entries_in_bypass(&t), 128);
    timed_end(&t);
}

/* The first SM a page of one region, the two others pages of another. */
static void load_own_page(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
    timed_fetch(w, t, w->cta_index ? (2 << 20) + w->cta_index * (uint64_t)PW_PAGE_BYTES : 0);
}

/* There is one miss register. The third miss has waited for it twice when the second one's walk brings its translation
 * along, since both are parts of one large page by now: it finds that in the bypass cache, as it would in the L2 TLB,
 * and needs no walk. */
static void what_waits_for_a_miss_register_looks_into_the_bypass_cache(void **state)
{
    (void)state;
    static const char *const sets[] = {FIXED_WALKS, "l2_tlb.mshrs=1", "sm.count=3"};
    pw_cycle cycles[2];
    for (uint32_t tokens = 0; tokens < 2; tokens++) {
        struct timed t = {.kernel = load_own_page, .design = "mosaic", .ctas = 3, .n = {2 * LATER}, .bytes = 4 << 20};
        memcpy(t.sets, sets, sizeof sets);
        cycles[tokens] = run_with(&t, tokens ? 7 : 0);
        assert_int_equal(timed_count(&t, "walk.count"), 2);
        assert_int_equal(timed_count(&t, "l2_tlb.primary_misses"), 3);
        assert_int_equal(timed_count(&t, "fill.bypassed"), tokens ? 0 : 2);
        timed_end(&t);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

/* A cache of no entries keeps nothing: the other SM walks again. */
static void without_entries_nothing_is_kept(void **state)
{
    (void)state;
    struct timed t = two_sms(), none = two_sms();
    static const char *const sets[] = {FIXED_WALKS, "fill.bypass_entries=0"};
    memcpy(none.sets, sets, sizeof sets);
    pw_cycle cycles = run_with(&t, 0);
    assert_int_equal(run_with(&none, 0), cycles + WALK);
    assert_int_equal(timed_count(&none, "fill.bypassed"), 2);
    assert_int_equal(timed_count(&none, "bypass_tlb.hits"), 0);
    timed_end(&none);
    timed_end(&t);
}

static struct pw_tlb_policy broken;

static bool lookup_wrong(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    extern const struct pw_tlb_policy pw_tlb_policy_plain;
    bool hit = pw_tlb_policy_plain.lookup(state, key, out_frame);
    out_frame->v ^= 1;
    return hit;
}

static void break_bypass(struct timed *t)
{
    struct pw_bypass_tlb *b = pw_mmu_bypass_tlb(t->system->nodes[0].gpu->mmu);
    give_tokens(t);
    broken = *b->policy;
    broken.lookup = lookup_wrong;
    b->policy = &broken;
}

static void a_wrong_frame_from_the_bypass_cache_fails_the_run(void **state)
{
    (void)state;
    struct timed t = two_sms();
    sms_with_tokens = 0;
    t.prepare = break_bypass;
    assert_int_equal(timed_try(&t), PW_FAILED);
    if (strncmp(t.err.message, "the bypass cache returned frame 0x", 34) != 0)
        fail_msg("%s", t.err.message);
    timed_end(&t);
}

/* Only where the policy asks for it is there a bypass cache, and only beside an L2 TLB. */
static void without_such_a_policy_there_is_no_bypass_cache(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "pwcache+mask-tlb"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.kernel = load_after_another_sm, .design = designs[i]};
        timed_run(&t);
        assert_null(pw_mmu_bypass_tlb(t.system->nodes[0].gpu->mmu)->state);
        assert_int_equal(pw_stats_find(t.system->stats, "bypass_tlb.lookups"), -1);
        assert_int_equal(pw_stats_find(t.system->stats, "l2_tlb.flushes"), -1);
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_in_the_bypass_cache_takes_as_long_as_one_in_the_l2_tlb),
        cmocka_unit_test(every_warp_may_look_into_the_l2_tlb),
        cmocka_unit_test(of_misses_that_merge_one_with_a_token_is_enough),
        cmocka_unit_test(the_bypass_cache_has_32_entries_and_replaces_the_least_recently_used),
        cmocka_unit_test(entries_carry_their_address_space),
        cmocka_unit_test(what_waits_for_a_miss_register_looks_into_the_bypass_cache),
        cmocka_unit_test(without_entries_nothing_is_kept),
        cmocka_unit_test(a_wrong_frame_from_the_bypass_cache_fails_the_run),
        cmocka_unit_test(without_such_a_policy_there_is_no_bypass_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
