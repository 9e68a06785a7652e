/* One TLB with entries of both sizes over a page table whose regions are coalesced and splintered. */
#include "policies.h"
#include "vm/tlb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGES = 512, REGIONS = 6, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

struct fixture {
    struct pw_frames *frames;
    struct pw_page_table *table;
    const struct pw_page_table *tables[1];
    struct pw_tlb_level level;
    struct pw_tlb tlb;
    struct pw_error err;
};

/* Region r is mapped to large frame r + 1, page by page. */
static struct fixture *create(uint32_t base_entries, uint32_t large_entries)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(pw_frames_create(32 << 20, &f->frames, &f->err), PW_OK);
    struct pw_page_table_config config = {
        .asid = 0, .entry_stride = 8, .frames = f->frames, .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
    assert_int_equal(pw_page_table_create(&config, &f->table, &f->err), PW_OK);
    for (uint32_t i = 0; i < REGIONS * PAGES; i++)
        assert_int_equal(pw_page_table_map(f->table, (pw_vpn){i}, (pw_pfn){PAGES + i}, PW_PAGE_4K, &f->err), PW_OK);
    f->tables[0] = f->table;
    struct pw_tlb_config tlb = {
        .base_entries = base_entries, .large_entries = large_entries, .base_subpages = 1, .large_subpages = 1};
    f->level = (struct pw_tlb_level){.name = "tlb", .config = &tlb, .orders = BOTH, .tables = f->tables};
    assert_int_equal(pw_tlb_level_init(&f->level, &f->err), PW_OK);
    assert_int_equal(pw_tlb_init(&f->tlb, &f->level, 0, &f->err), PW_OK);
    return f;
}

static void destroy(struct fixture *f)
{
    pw_tlb_level_release(&f->level);
    pw_page_table_destroy(f->table);
    pw_frames_destroy(f->frames);
    free(f);
}

static void set_large(struct fixture *f, uint64_t region, bool on)
{
    pw_page_table_set_large(f->table, (pw_vpn){region * PAGES}, on);
}

static bool hits(struct fixture *f, uint64_t vpn)
{
    pw_pfn frame;
    bool hit = pw_tlb_lookup(&f->tlb, 0, (pw_vpn){vpn}, &frame);
    if (hit)
        assert_int_equal(frame.v, PAGES + vpn);
    return hit;
}

/* As whoever misses does. */
static void fill(struct fixture *f, uint64_t vpn)
{
    pw_tlb_insert(&f->tlb, 0, (pw_vpn){vpn}, pw_page_table_lookup(f->table, (pw_vpn){vpn}));
}

static bool in_array(const struct pw_tlb_array *a, uint64_t vpn)
{
    pw_pfn frame;
    return pw_tlb_array_lookup(a, 0, (pw_vpn){vpn}, &frame);
}

static void check(struct fixture *f, enum pw_status expected)
{
    assert_int_equal(pw_tlb_check(&f->tlb, f->tables, "TLB", &f->err), expected);
}

/* mosaic-sec43-no-base-fill */
static void a_page_of_a_large_region_fills_a_large_entry_and_no_base_entry(void **state)
{
    (void)state;
    struct fixture *f = create(4, 2);
    set_large(f, 0, true);
    for (uint64_t vpn = 0; vpn < PAGES; vpn += 100) {
        fill(f, vpn);
        assert_true(in_array(&f->tlb.large, vpn));
        assert_false(in_array(&f->tlb.base, vpn));
    }
    for (uint64_t vpn = 0; vpn < PAGES; vpn++)
        assert_true(hits(f, vpn));
    assert_false(hits(f, PAGES));
    fill(f, PAGES);
    assert_true(in_array(&f->tlb.base, PAGES));
    assert_false(in_array(&f->tlb.large, PAGES));
    check(f, PW_OK);
    destroy(f);
}

/* mosaic-sec22-split-entries: as many of the one size as fit, and more, replace none of the other. */
static void entries_of_one_size_never_replace_those_of_the_other(void **state)
{
    (void)state;
    struct fixture *f = create(3, 2);
    set_large(f, 0, true);
    set_large(f, 1, true);
    fill(f, 5);
    fill(f, PAGES + 5);
    for (uint64_t vpn = 2 * PAGES; vpn < 2 * PAGES + 10; vpn++)
        fill(f, vpn);
    assert_true(hits(f, 5));
    assert_true(hits(f, PAGES + 5));
    set_large(f, 4, true);
    set_large(f, 5, true);
    fill(f, 4 * PAGES);
    fill(f, 5 * PAGES);
    assert_false(hits(f, 5));
    for (uint64_t vpn = 2 * PAGES + 7; vpn < 2 * PAGES + 10; vpn++)
        assert_true(hits(f, vpn));
    destroy(f);
}

/* mosaic-sec43-large-first: with both entries there the large one answers and is used; the base entry ages. */
static void a_large_hit_leaves_the_base_entries_alone(void **state)
{
    (void)state;
    struct fixture *f = create(2, 2);
    fill(f, 7);
    fill(f, PAGES);
    set_large(f, 0, true);
    fill(f, 8);
    set_large(f, 2, true);
    fill(f, 2 * PAGES); /* the newest of the two large entries */
    assert_true(hits(f, 7));
    set_large(f, 3, true);
    fill(f, 3 * PAGES); /* replaces the older large entry, which is not the one that 7 used */
    assert_true(in_array(&f->tlb.large, 8));
    assert_false(in_array(&f->tlb.large, 2 * PAGES));
    fill(f, 4 * PAGES); /* replaces the older base entry, which is that of 7 still */
    assert_true(in_array(&f->tlb.base, PAGES));
    assert_false(in_array(&f->tlb.base, 7));
    destroy(f);
}

/* mosaic-sec43-stale-base-valid: data has not moved, so entries of before are right until they are replaced; a base
 * page that has moved is not. */
static void base_entries_stay_right_when_their_region_is_coalesced(void **state)
{
    (void)state;
    struct fixture *f = create(4, 2);
    fill(f, 7);
    set_large(f, 0, true);
    check(f, PW_OK);
    assert_true(hits(f, 7));
    assert_true(in_array(&f->tlb.base, 7));
    set_large(f, 0, false);
    check(f, PW_OK);
    pw_page_table_move(f->table, (pw_vpn){7}, (pw_pfn){9});
    check(f, PW_FAILED);
    assert_int_equal(pw_tlb_invalidate(&f->tlb, 0, (pw_vpn){7}, (pw_vpn){8}), 1);
    check(f, PW_OK);
    destroy(f);
}

/* mosaic-sec44-large-entry-invariant */
static void a_large_entry_must_go_when_its_page_is_splintered(void **state)
{
    (void)state;
    struct fixture *f = create(4, 2);
    set_large(f, 1, true);
    fill(f, PAGES + 7);
    check(f, PW_OK);
    set_large(f, 1, false);
    check(f, PW_FAILED);
    assert_int_equal(pw_tlb_invalidate(&f->tlb, 0, (pw_vpn){PAGES}, (pw_vpn){2 * PAGES}), 1);
    assert_false(hits(f, PAGES + 7));
    check(f, PW_OK);
    fill(f, PAGES + 7);
    assert_true(in_array(&f->tlb.base, PAGES + 7));
    check(f, PW_OK);
    destroy(f);
}

/* Any part of a large page that is shot down takes its entry along, and base entries only of the part. */
static void a_shootdown_of_a_part_drops_the_large_entry(void **state)
{
    (void)state;
    struct fixture *f = create(4, 2);
    fill(f, 7);
    fill(f, 8);
    set_large(f, 0, true);
    fill(f, 9);
    assert_int_equal(pw_tlb_invalidate(&f->tlb, 0, (pw_vpn){8}, (pw_vpn){9}), 2);
    assert_true(hits(f, 7));
    assert_false(hits(f, 8));
    assert_false(hits(f, 9));
    destroy(f);
}

/* Their own options and metrics have names that begin with those of the options that choose. */
static void each_array_that_is_there_is_a_use_of_what_is_chosen_for_it(void **state)
{
    (void)state;
    struct pw_error err;
    struct pw_policies all = {0};
    struct pw_tlb_config config = {.organisation = policy_choice(&pw_tlb_family, "plain"),
                                   .large_organisation = policy_choice_or_same(&pw_tlb_family, "ideal")};
    struct pw_tlb_level level = {.name = "l1_tlb", .config = &config, .orders = BOTH, .policies = &all, .apps = 2};
    assert_int_equal(pw_tlb_level_init(&level, &err), PW_OK);
    assert_string_equal(all.first->option, "l1_tlb.organisation");
    assert_string_equal(all.first->policy->name, "plain");
    assert_string_equal(all.first->next->option, "l1_tlb.large_organisation");
    assert_string_equal(all.first->next->policy->name, "ideal");
    assert_ptr_equal(all.last, all.first->next);
    pw_tlb_level_release(&level);
    assert_null(all.first);
    config.large_organisation.index = 0;
    config.organisation.options[0] = 77;
    level.orders = 1U << PW_PAGE_2M;
    assert_int_equal(pw_tlb_level_init(&level, &err), PW_OK);
    assert_ptr_equal(all.first, all.last);
    assert_string_equal(all.first->option, "l1_tlb.large_organisation");
    assert_string_equal(all.first->policy->name, "plain");
    assert_int_equal(all.first->choice.options[0], 77);
    pw_tlb_level_release(&level);
    level.orders = 1U << PW_PAGE_64K;
    assert_int_equal(pw_tlb_level_init(&level, &err), PW_OK);
    assert_ptr_equal(all.first, all.last);
    assert_string_equal(all.first->option, "l1_tlb.organisation");
    pw_tlb_level_release(&level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_a_large_region_fills_a_large_entry_and_no_base_entry),
        cmocka_unit_test(entries_of_one_size_never_replace_those_of_the_other),
        cmocka_unit_test(a_large_hit_leaves_the_base_entries_alone),
        cmocka_unit_test(base_entries_stay_right_when_their_region_is_coalesced),
        cmocka_unit_test(a_large_entry_must_go_when_its_page_is_splintered),
        cmocka_unit_test(a_shootdown_of_a_part_drops_the_large_entry),
        cmocka_unit_test(each_array_that_is_there_is_a_use_of_what_is_chosen_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
