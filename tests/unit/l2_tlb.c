/* What a shootdown drops from the L2 TLB and from the bypass cache beside it. */
#include "vm/l2_tlb.h"

#include "policies.h"
#include "table_fixture.h"

enum { APPS = 2, PAGES = 512, SMALL = 0, LARGE = 2 * PAGES, FRESH = 4 * PAGES, REGION = 6 * PAGES };

struct world {
    struct table_fixture tables[APPS];
    const struct pw_page_table *by_asid[APPS];
    struct pw_l2_tlb_config config;
    struct pw_l2_tlb tlb;
    struct pw_tlb_counters counters[APPS];
    struct pw_stats *stats;
    struct pw_error err;
};

static void fill(struct world *w, pw_asid asid, uint64_t vpn, bool may_fill)
{
    struct pw_tlb_miss miss = {.vpn = {vpn}, .asid = asid};
    pw_l2_tlb_fill(&w->tlb, &miss, pw_page_table_lookup(w->by_asid[asid], miss.vpn), PW_FROM_WALK, may_fill);
}

/* Each application has two small pages, a large page and a region that can become one; of each pair of small pages and
 * of applications' large ones, one is in the L2 TLB and one in the bypass cache. */
static void make(struct world *w, enum pw_l2_tlb_flush flush)
{
    *w = (struct world){.config = {.enabled = true, .flush = (uint32_t)flush}};
    w->config.tlb = (struct pw_tlb_config){.organisation = policy_choice(&pw_tlb_family, "plain"),
                                           .base_entries = 64,
                                           .base_subpages = 1,
                                           .large_entries = 16,
                                           .large_subpages = 1,
                                           .latency = 10,
                                           .mshrs = 4};
    for (unsigned a = 0; a < APPS; a++) {
        w->tables[a] = table_create(64 * MIB, (pw_asid)a, 8);
        w->by_asid[a] = w->tables[a].table;
        table_map(w->tables[a], SMALL, 100 + a, PW_PAGE_4K);
        table_map(w->tables[a], SMALL + 1, 200 + a, PW_PAGE_4K);
        table_map(w->tables[a], LARGE, (a + 4) * PAGES, PW_PAGE_2M);
        for (uint32_t i = 0; i < PAGES; i++)
            table_map(w->tables[a], REGION + i, (a + 8) * PAGES + i, PW_PAGE_4K);
    }
    struct pw_l2_tlb_setup setup = {.config = &w->config,
                                    .bypass = {true, 32},
                                    .orders = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M,
                                    .tables = w->by_asid,
                                    .apps = APPS};
    assert_int_equal(pw_l2_tlb_init(&w->tlb, &setup, &w->err), PW_OK);
    w->stats = pw_stats_create(APPS, &w->err);
    pw_l2_tlb_register(&w->tlb, w->stats, w->counters);
    assert_int_equal(pw_stats_seal(w->stats, &w->err), PW_OK);
    for (unsigned a = 0; a < APPS; a++) {
        fill(w, (pw_asid)a, SMALL, true);
        fill(w, (pw_asid)a, SMALL + 1, false);
        fill(w, (pw_asid)a, LARGE, a);
        fill(w, (pw_asid)a, REGION + 7, a);
    }
}

static void end(struct world *w)
{
    pw_stats_destroy(w->stats);
    pw_l2_tlb_release(&w->tlb);
    for (unsigned a = 0; a < APPS; a++)
        table_destroy(w->tables[a]);
}

static bool finds(struct world *w, pw_asid asid, uint64_t vpn)
{
    struct pw_tlb_miss miss = {.vpn = {vpn}, .asid = asid};
    struct pw_l2_tlb_found found;
    pw_l2_tlb_probe(&w->tlb, &miss, &found);
    if (found.translation.present)
        assert_int_equal(found.translation.frame.v, pw_page_table_lookup(w->by_asid[asid], miss.vpn).frame.v);
    return found.translation.present;
}

/* Of the eight pages. */
static unsigned found_of(struct world *w, unsigned app)
{
    return finds(w, (pw_asid)app, SMALL) + finds(w, (pw_asid)app, SMALL + 1) + finds(w, (pw_asid)app, LARGE + 5) +
           finds(w, (pw_asid)app, REGION + 7);
}

static uint64_t flushes(const struct world *w, int app)
{
    int index = pw_stats_find(w->stats, "l2_tlb.flushes");
    if (index < 0)
        return 0;
    uint64_t *snapshot = calloc(pw_stats_raw_count(w->stats), sizeof *snapshot);
    pw_stats_snapshot(w->stats, snapshot);
    uint64_t count = pw_stats_exact(w->stats, (size_t)index, app, NULL, snapshot);
    free(snapshot);
    return count;
}

static unsigned shoot(struct world *w, pw_asid asid, uint64_t first, uint64_t outer)
{
    return pw_l2_tlb_invalidate(&w->tlb, asid, (pw_vpn){first}, (pw_vpn){outer});
}

/* Translations that leave or change, one after the other, of each page size and in each of the places. */
struct loss {
    pw_asid asid;
    uint64_t vpn, pages;
    enum { UNMAP, MOVE, SPLINTER } how;
};

static const struct loss losses[] = {
    {0, SMALL, 1, UNMAP},   {1, SMALL, 1, MOVE},    {0, SMALL + 1, 1, UNMAP},   {1, SMALL + 1, 1, MOVE},
    {0, LARGE, 512, UNMAP}, {1, LARGE, 512, UNMAP}, {0, REGION, 512, SPLINTER}, {1, REGION, 512, SPLINTER},
};

static void lose(struct world *w, const struct loss *l)
{
    struct pw_page_table *table = w->tables[l->asid].table;
    pw_vpn vpn = {l->vpn};
    if (l->how == SPLINTER) {
        pw_page_table_set_large(table, vpn, true);
        fill(w, l->asid, l->vpn + 7, l->asid);
        pw_page_table_set_large(table, vpn, false);
    } else if (l->how == MOVE) {
        pw_page_table_move(table, vpn, (pw_pfn){5000});
    } else {
        pw_page_table_unmap(table, vpn);
    }
}

/* One shootdown drops this page's entry and no other, wherever it is. */
static void a_shootdown_drops_the_entries_of_its_pages(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct world w;
        make(&w, PW_FLUSH_ENTRIES);
        assert_int_equal(found_of(&w, 0) + found_of(&w, 1), 8);
        lose(&w, &losses[i]);
        assert_true(shoot(&w, losses[i].asid, losses[i].vpn, losses[i].vpn + losses[i].pages) >= 1);
        assert_int_equal(found_of(&w, losses[i].asid), 3);
        assert_int_equal(found_of(&w, !losses[i].asid), 4);
        assert_int_equal(pw_l2_tlb_check(&w.tlb, &w.err), PW_OK);
        assert_int_equal(flushes(&w, -1), 0);
        end(&w);
    }
}

/* mask-sec52-flush-on-pte: a translation that changes or goes empties both, of every
 * application; it is counted for the one whose translation it was. */
static void a_lost_translation_flushes_the_l2_tlb_and_the_bypass_cache(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct world w;
        make(&w, PW_FLUSH_ALL);
        lose(&w, &losses[i]);
        assert_true(shoot(&w, losses[i].asid, losses[i].vpn, losses[i].vpn + losses[i].pages) >= 8);
        assert_int_equal(found_of(&w, 0) + found_of(&w, 1), 0);
        assert_int_equal(flushes(&w, losses[i].asid), 1);
        assert_int_equal(flushes(&w, !losses[i].asid), 0);
        end(&w);
    }
}

/* Mapping a page and coalescing in place take no translation away; nor does a second shootdown for the same loss, or
 * one of pages that were never mapped. */
static void nothing_is_flushed_where_no_translation_was_lost(void **state)
{
    (void)state;
    struct world w;
    make(&w, PW_FLUSH_ALL);
    table_map(w.tables[0], FRESH, 300, PW_PAGE_4K);
    assert_int_equal(shoot(&w, 0, FRESH, FRESH + 1), 0);
    pw_page_table_set_large(w.tables[0].table, (pw_vpn){REGION}, true);
    assert_int_equal(shoot(&w, 0, REGION, REGION + PAGES), 0);
    assert_int_equal(shoot(&w, 1, 0, REGION), 0);
    assert_int_equal(found_of(&w, 0) + found_of(&w, 1), 8);
    assert_int_equal(flushes(&w, -1), 0);
    pw_page_table_unmap(w.tables[0].table, (pw_vpn){FRESH});
    assert_int_equal(shoot(&w, 0, FRESH, FRESH + 1), 8);
    fill(&w, 1, SMALL, true);
    fill(&w, 1, SMALL + 1, false);
    assert_int_equal(shoot(&w, 0, 0, REGION), 0);
    assert_int_equal(found_of(&w, 1), 2);
    assert_int_equal(flushes(&w, 0), 1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shootdown_drops_the_entries_of_its_pages),
        cmocka_unit_test(a_lost_translation_flushes_the_l2_tlb_and_the_bypass_cache),
        cmocka_unit_test(nothing_is_flushed_where_no_translation_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
