/* A TLB whose base and large entries are organised differently, under random lookups, fills, shootdowns and changes of
 * the page tables, against a dictionary of what is mapped and of what may have been filled. */
#include "sim/random.h"
#include "toy_tlb.h"
#include "vm/tlb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ASIDS = 2, PAGES = 512, REGIONS = 6, OPERATIONS = 100000, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

/* Of one address space. */
struct dictionary {
    uint32_t frames[REGIONS * PAGES]; /* 0: not mapped */
    bool filled[REGIONS * PAGES];     /* there may be a base entry */
    bool whole[REGIONS], large[REGIONS], large_filled[REGIONS];
};

struct world {
    struct pw_frames *frames;
    struct pw_page_table *tables[ASIDS];
    const struct pw_page_table *by_asid[ASIDS];
    struct dictionary spaces[ASIDS];
    struct pw_tlb_config config;
    struct pw_tlb_level level;
    struct pw_policy_use toys[2];
    struct pw_tlb tlb;
    struct pw_random random;
    uint32_t next_block;
    unsigned hits, large_hits;
    struct pw_error err;
};

struct organisations {
    const char *base, *large; /* "random": plain, with random replacement */
};

static struct pw_policy_choice choose(const char *name)
{
    bool random = !strcmp(name, "random");
    struct pw_policy_choice choice = policy_choice(&pw_tlb_family, random || !strcmp(name, "toy") ? "plain" : name);
    const struct pw_option *row = pw_policy_chosen(&pw_tlb_family, &choice)->options;
    struct pw_error err;
    if (random)
        assert_int_equal(pw_option_parse(row, "random", 0, choice.options + row->offset, &err), PW_OK);
    return choice;
}

/* A large frame that nobody has had. */
static uint32_t new_block(struct world *w)
{
    return w->next_block++ * PAGES;
}

static struct world *create(const struct organisations *o)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->next_block = 1;
    pw_random_init(&w->random, 1, o->base);
    assert_int_equal(pw_frames_create(64 << 20, &w->frames, &w->err), PW_OK);
    for (unsigned a = 0; a < ASIDS; a++) {
        struct pw_page_table_config config = {.asid = (pw_asid)a,
                                              .entry_stride = 8,
                                              .frames = w->frames,
                                              .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
        assert_int_equal(pw_page_table_create(&config, &w->tables[a], &w->err), PW_OK);
        w->by_asid[a] = w->tables[a];
    }
    w->config = (struct pw_tlb_config){
        .base_entries = 20, .base_ways = 5, .base_subpages = 1, .large_entries = 3, .large_subpages = 1};
    w->config.organisation = choose(o->base);
    w->config.large_organisation = choose(o->large);
    w->config.large_organisation.index++; /* 0 is "same" */
    w->level = (struct pw_tlb_level){
        .name = "tlb", .config = &w->config, .orders = BOTH, .tables = w->by_asid, .apps = ASIDS, .seed = 1};
    assert_int_equal(pw_tlb_level_init(&w->level, &w->err), PW_OK);
    assert_int_equal(pw_tlb_init(&w->tlb, &w->level, 0, &w->err), PW_OK);
    if (!strcmp(o->base, "toy"))
        toy_take_over(&w->toys[0], &w->tlb.base, 5, ASIDS);
    if (!strcmp(o->large, "toy"))
        toy_take_over(&w->toys[1], &w->tlb.large, 5, ASIDS);
    return w;
}

static void destroy(struct world *w)
{
    pw_policy_use_release(&w->toys[0]);
    pw_policy_use_release(&w->toys[1]);
    pw_tlb_level_release(&w->level);
    for (unsigned a = 0; a < ASIDS; a++)
        pw_page_table_destroy(w->tables[a]);
    pw_frames_destroy(w->frames);
    free(w);
}

static void shoot(struct world *w, unsigned a, uint64_t first, uint64_t outer)
{
    struct dictionary *d = &w->spaces[a];
    pw_tlb_invalidate(&w->tlb, (pw_asid)a, (pw_vpn){first}, (pw_vpn){outer});
    for (uint64_t vpn = first; vpn < outer; vpn++) {
        d->filled[vpn] = false;
        d->large_filled[vpn / PAGES] = false;
    }
}

/* Maps the page, or moves it, or takes it away. */
static void change_page(struct world *w, unsigned a, uint64_t vpn, uint32_t frame)
{
    struct dictionary *d = &w->spaces[a];
    if (!d->frames[vpn] && frame)
        assert_int_equal(pw_page_table_map(w->tables[a], (pw_vpn){vpn}, (pw_pfn){frame}, PW_PAGE_4K, &w->err), PW_OK);
    else if (d->frames[vpn] && frame)
        pw_page_table_move(w->tables[a], (pw_vpn){vpn}, (pw_pfn){frame});
    else if (d->frames[vpn])
        pw_page_table_unmap(w->tables[a], (pw_vpn){vpn});
    d->frames[vpn] = frame;
    d->whole[vpn / PAGES] = false;
}

/* Moves a region into a large frame; makes a large page of one that is, and the other way round. */
static void change_region(struct world *w, unsigned a, uint64_t region)
{
    struct dictionary *d = &w->spaces[a];
    uint64_t first = region * PAGES;
    if (!d->whole[region]) {
        uint32_t block = new_block(w);
        for (uint32_t i = 0; i < PAGES; i++)
            change_page(w, a, first + i, block + i);
        d->whole[region] = true;
        shoot(w, a, first, first + PAGES);
        if (pw_random_below(&w->random, 2))
            return;
    }
    d->large[region] = !d->large[region];
    pw_page_table_set_large(w->tables[a], (pw_vpn){first}, d->large[region]);
    if (!d->large[region])
        shoot(w, a, first, first + PAGES);
}

static bool is_ideal(const struct pw_tlb_array *array)
{
    return !strcmp(array->policy->head.name, "ideal");
}

/* What each of the arrays says of a page, beside what it may say. */
static bool look_up(struct world *w, unsigned a, uint64_t vpn)
{
    const struct dictionary *d = &w->spaces[a];
    bool large = d->large[vpn / PAGES], mapped = d->frames[vpn];
    pw_pfn frame = {0};
    bool in_large = pw_tlb_array_lookup(&w->tlb.large, (pw_asid)a, (pw_vpn){vpn}, &frame);
    if (in_large)
        assert_int_equal(frame.v, d->frames[vpn]);
    assert_true(is_ideal(&w->tlb.large) ? in_large == large : !in_large || (large && d->large_filled[vpn / PAGES]));
    bool in_base = pw_tlb_array_lookup(&w->tlb.base, (pw_asid)a, (pw_vpn){vpn}, &frame);
    if (in_base)
        assert_int_equal(frame.v, d->frames[vpn]);
    assert_true(is_ideal(&w->tlb.base) ? in_base == (mapped && !large) : !in_base || d->filled[vpn]);
    bool hit = pw_tlb_lookup(&w->tlb, (pw_asid)a, (pw_vpn){vpn}, &frame);
    assert_int_equal(hit, in_large || in_base);
    w->large_hits += in_large;
    return hit;
}

/* Fills a page that is mapped; after a walk, its neighbours may come along. */
static void fill(struct world *w, unsigned a, uint64_t vpn)
{
    struct dictionary *d = &w->spaces[a];
    struct pw_translation t = pw_page_table_lookup(w->tables[a], (pw_vpn){vpn});
    bool walked = pw_random_below(&w->random, 2);
    if (walked)
        pw_tlb_insert_walked(&w->tlb, w->tables[a], (pw_vpn){vpn}, t);
    else
        pw_tlb_insert(&w->tlb, (pw_asid)a, (pw_vpn){vpn}, t);
    bool large = d->large[vpn / PAGES];
    assert_int_equal(large, t.order == PW_PAGE_2M);
    for (uint64_t i = 0; i < REGIONS; i++)
        d->large_filled[i] |= large && d->large[i] && (i == vpn / PAGES || walked);
    for (uint64_t i = vpn / 16 * 16; i < vpn / 16 * 16 + 16; i++)
        d->filled[i] |= !large && d->frames[i] && (i == vpn || walked);
    assert_true(look_up(w, a, vpn));
}

static void operate(struct world *w)
{
    unsigned a = (unsigned)pw_random_below(&w->random, ASIDS);
    uint64_t region = pw_random_below(&w->random, REGIONS);
    uint64_t vpn = region * PAGES + pw_random_below(&w->random, pw_random_below(&w->random, 4) ? 8 : PAGES);
    uint64_t what = pw_random_below(&w->random, 1000);
    struct dictionary *d = &w->spaces[a];
    if (what < 940) {
        bool hit = look_up(w, a, vpn);
        w->hits += hit;
        if (!hit && d->frames[vpn])
            fill(w, a, vpn);
    } else if (what < 960 && !d->large[region]) {
        change_page(w, a, vpn, pw_random_below(&w->random, 4) ? new_block(w) + (uint32_t)vpn % PAGES : 0);
        shoot(w, a, vpn, vpn + 1);
    } else if (what < 990) {
        change_region(w, a, region);
    } else {
        shoot(w, a, vpn, region * PAGES + PAGES);
    }
}

static void run(const struct organisations *o)
{
    struct world *w = create(o);
    unsigned regions = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        operate(w);
        for (unsigned r = 0; r < REGIONS && i % 500 == 0; r++)
            regions += w->spaces[0].large[r];
        if (i % 500 == 0 && pw_tlb_check(&w->tlb, w->by_asid, "TLB", &w->err) != PW_OK)
            fail_msg("%s and %s: %s", o->base, o->large, w->err.message);
    }
    /* Pages of both sizes hit, or this would say nothing. */
    assert_true(w->hits > OPERATIONS / 5 && w->large_hits > OPERATIONS / 5 && regions > OPERATIONS / 500);
    destroy(w);
}

static void arrays_of_different_organisations_agree_with_a_dictionary(void **state)
{
    (void)state;
    static const struct organisations all[] = {{"plain", "ideal"},  {"ideal", "plain"}, {"random", "plain"},
                                               {"plain", "random"}, {"toy", "plain"},   {"plain", "toy"},
                                               {"toy", "ideal"},    {"ideal", "toy"},   {"plain", "plain"}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        run(&all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_of_different_organisations_agree_with_a_dictionary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
