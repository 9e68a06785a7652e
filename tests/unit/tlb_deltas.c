/* Snapshots of TLBs whose translations are known, and so are the bits of their differences. */
#include "vm/tlb_deltas.h"
#include "toy_tlb.h"

#include <stdio.h>
#include <stdlib.h>

enum { APPS = 3, INTERVAL = 10 };

struct fixture {
    struct pw_tlb_config config;
    struct pw_tlb_level level;
    struct pw_tlb tlb;
    struct pw_events *events;
    struct pw_tlb_deltas *deltas;
    struct pw_error err;
};

/* 64 entries in 16 sets for base pages, as many large ones. */
static struct fixture *create(pw_page_orders orders, uint32_t subpages, uint64_t seed)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->config = (struct pw_tlb_config){
        .base_entries = 64, .base_ways = 4, .base_subpages = subpages, .large_entries = 64, .large_subpages = subpages};
    f->level = (struct pw_tlb_level){.name = "tlb", .config = &f->config, .orders = orders};
    assert_int_equal(pw_tlb_level_init(&f->level, &f->err), PW_OK);
    assert_int_equal(pw_tlb_init(&f->tlb, &f->level, 0, &f->err), PW_OK);
    f->events = pw_events_create(&f->err);
    assert_non_null(f->events);
    const struct pw_tlb_deltas_setup setup = {&f->tlb, &f->config, f->events, INTERVAL, APPS, seed};
    assert_int_equal(pw_tlb_deltas_create(&setup, &f->deltas, &f->err), PW_OK);
    return f;
}

static void destroy(struct fixture *f)
{
    pw_tlb_deltas_destroy(f->deltas);
    pw_events_destroy(f->events);
    pw_tlb_level_release(&f->level);
    free(f);
}

static void put(struct fixture *f, pw_asid app, uint64_t vpn, uint32_t frame, uint8_t order, uint8_t denied)
{
    pw_tlb_insert(&f->tlb, app, (pw_vpn){vpn}, (struct pw_translation){{frame}, order, true, denied});
}

static const struct pw_tlb_deltas_counters *of(const struct fixture *f, pw_asid app)
{
    return &pw_tlb_deltas_counters(f->deltas)[app];
}

/* Counts up to the number of bits that a difference takes, and from there on. */
static void expect_fit(const uint64_t *fit, unsigned most, unsigned bits, uint64_t translations)
{
    for (unsigned i = 0; i <= most; i++)
        if (fit[i] != (i < bits ? 0 : translations))
            fail_msg("%llu differences fit %u bits; they take %u", (unsigned long long)fit[i], i, bits);
}

static void expect_pair(const struct fixture *f, pw_asid app, unsigned vpt, unsigned pfn, uint64_t times)
{
    const struct pw_tlb_deltas_counters *c = of(f, app);
    assert_int_equal(c->snapshots, times);
    assert_int_equal(c->translations, times);
    assert_int_equal(c->vpt_bits, vpt * times);
    assert_int_equal(c->pfn_bits, pfn * times);
    expect_fit(c->vpt_fit, PW_VPT_BITS, vpt, times);
    expect_fit(c->pfn_fit, PW_PFN_BITS, pfn, times);
}

/* comp-fig7-method: two translations differ as much whichever is the base. Tags are page numbers without the 4 bits
 * that choose among 16 sets; a difference of 7 takes 3 bits and one of 8 takes 4, without a sign; one of 0 takes
 * none. */
static void a_difference_takes_the_bits_of_its_amount(void **state)
{
    (void)state;
    static const struct {
        uint64_t page;
        uint32_t frame;
        unsigned vpt, pfn;
    } others[] = {{1007, 493, 0, 3},
                  {1000 + 16, 507, 1, 3},
                  {1000 + 7 * 16, 508, 3, 4},
                  {1000 - 7 * 16, 0, 3, 9},
                  {1000 + 8 * 16, 500, 4, 0},
                  {992, 500, 0, 0},
                  {(1ULL << 36) - 1, (1U << 27) - 1, 32, 27}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct fixture *f = create(1U << PW_PAGE_4K, 1, seed);
            put(f, 0, 1000, 500, PW_PAGE_4K, 0);
            put(f, 0, others[i].page, others[i].frame, PW_PAGE_4K, 0);
            pw_tlb_deltas_take(f->deltas);
            expect_pair(f, 0, others[i].vpt, others[i].pfn, 1);
            destroy(f);
        }
}

/* comp-fig7-method: tags 0, 1 and 4 lie 1 and 3 bits, 1 and 2, or 3 and 2 bits apart, as the base is the first, second
 * or third; over many snapshots each of them is the base about as often. */
static void every_translation_may_be_the_base(void **state)
{
    (void)state;
    enum { SNAPSHOTS = 3000 };
    struct fixture *f = create(1U << PW_PAGE_4K, 1, 1);
    uint64_t times[3] = {0};
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 0, 16, 1, PW_PAGE_4K, 0);
    put(f, 0, 4 * 16, 2, PW_PAGE_4K, 0);
    for (int i = 0; i < SNAPSHOTS; i++) {
        uint64_t bits = of(f, 0)->vpt_bits;
        pw_tlb_deltas_take(f->deltas);
        bits = of(f, 0)->vpt_bits - bits;
        assert_in_range(bits, 3, 5);
        times[bits == 4 ? 0 : bits == 3 ? 1 : 2]++;
    }
    assert_int_equal(of(f, 0)->snapshots, SNAPSHOTS);
    assert_int_equal(of(f, 0)->translations, 2 * SNAPSHOTS);
    for (int i = 0; i < 3; i++)
        assert_in_range(times[i], SNAPSHOTS / 3 - 150, SNAPSHOTS / 3 + 150);
    destroy(f);
}

/* An application that is alone with one translation, or has none, has nothing to compare. */
static void applications_are_compared_with_themselves(void **state)
{
    (void)state;
    struct fixture *f = create(1U << PW_PAGE_4K, 1, 1);
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 1, 1 << 20, 1 << 10, PW_PAGE_4K, 0);
    put(f, 0, 16, 2, PW_PAGE_4K, 0);
    pw_tlb_deltas_take(f->deltas);
    expect_pair(f, 0, 1, 2, 1);
    expect_pair(f, 1, 0, 0, 0);
    expect_pair(f, 2, 0, 0, 0);
    destroy(f);
}

/* Permissions are kept beside the frame number and are no part of it. */
static void permissions_are_no_difference(void **state)
{
    (void)state;
    struct fixture *f = create(1U << PW_PAGE_4K, 1, 1);
    put(f, 0, 0, 8, PW_PAGE_4K, PW_MAY_WRITE);
    put(f, 0, 16, 9, PW_PAGE_4K, 0);
    pw_tlb_deltas_take(f->deltas);
    expect_pair(f, 0, 1, 1, 1);
    destroy(f);
}

/* Large pages are compared with large ones, in units of their size: pages 0 and 5 there, 0 and 2 of 16 sets here. The
 * large array is fully associative, so all of a page number is its tag. */
static void each_array_has_a_base_of_its_own(void **state)
{
    (void)state;
    struct fixture *f = create(1U << PW_PAGE_4K | 1U << PW_PAGE_2M, 1, 1);
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 0, 32, 1, PW_PAGE_4K, 0);
    put(f, 0, 512 * 10, 512 * 4, PW_PAGE_2M, 0);
    put(f, 0, 512 * 15, 512 * 20, PW_PAGE_2M, 0);
    pw_tlb_deltas_take(f->deltas);
    const struct pw_tlb_deltas_counters *c = of(f, 0);
    assert_int_equal(c->snapshots, 1);
    assert_int_equal(c->translations, 2);
    assert_int_equal(c->vpt_bits, 2 + 3);
    assert_int_equal(c->pfn_bits, 1 + 5);
    assert_int_equal(c->vpt_fit[2], 1);
    assert_int_equal(c->vpt_fit[3], 2);
    destroy(f);
}

/* Pages under one tag have the same tag. */
static void pages_of_an_entry_share_their_tag(void **state)
{
    (void)state;
    struct fixture *f = create(1U << PW_PAGE_4K, 4, 1);
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 0, 3, 7, PW_PAGE_4K, 0);
    pw_tlb_deltas_take(f->deltas);
    expect_pair(f, 0, 0, 3, 1);
    destroy(f);
    f = create(1U << PW_PAGE_4K, 4, 1);
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 0, 64, 7, PW_PAGE_4K, 0);
    pw_tlb_deltas_take(f->deltas);
    expect_pair(f, 0, 1, 3, 1);
    destroy(f);
}

static void nothing(void *object, uint64_t argument, pw_cycle now)
{
    (void)object;
    (void)argument;
    (void)now;
}

/* comp-fig7-method: snapshots come every so many cycles, keep nobody waiting, and end. */
static void snapshots_come_at_intervals_and_end(void **state)
{
    (void)state;
    volatile bool stop = false;
    struct fixture *f = create(1U << PW_PAGE_4K, 1, 1);
    put(f, 0, 0, 0, PW_PAGE_4K, 0);
    put(f, 0, 16, 1, PW_PAGE_4K, 0);
    pw_tlb_deltas_begin(f->deltas);
    assert_true(pw_events_idle(f->events));
    pw_events_post(f->events, 1, nothing, NULL, 0);
    assert_false(pw_events_idle(f->events));
    pw_events_run(f->events, INTERVAL, &stop);
    expect_pair(f, 0, 1, 1, 0);
    pw_events_run(f->events, 5 * INTERVAL + 1, &stop);
    expect_pair(f, 0, 1, 1, 5);
    assert_true(pw_events_idle(f->events));
    pw_tlb_deltas_end(f->deltas);
    pw_events_run(f->events, PW_NEVER, &stop);
    expect_pair(f, 0, 1, 1, 5);
    destroy(f);
}

/* An organisation that is not plain is gone through as it says itself: each of the four pages of an entry. */
static void any_organisation_can_be_compared(void **state)
{
    (void)state;
    struct fixture *f = create(1U << PW_PAGE_4K, 1, 1);
    struct pw_policy_use use;
    toy_take_over(&use, &f->tlb.base, 8, APPS);
    put(f, 0, 15, 100, PW_PAGE_4K, 0);
    put(f, 0, 12, 90, PW_PAGE_4K, 0);
    put(f, 0, 16, 105, PW_PAGE_4K, 0);
    pw_tlb_deltas_take(f->deltas);
    assert_int_equal(of(f, 0)->translations, 2);
    pw_tlb_invalidate(&f->tlb, 0, (pw_vpn){15}, (pw_vpn){16});
    struct pw_tlb_deltas_counters before = *of(f, 0);
    pw_tlb_deltas_take(f->deltas);
    assert_int_equal(of(f, 0)->translations - before.translations, 1);
    assert_int_equal(of(f, 0)->vpt_bits - before.vpt_bits, 1);
    assert_int_equal(of(f, 0)->pfn_bits - before.pfn_bits, 4);
    pw_policy_use_release(&use);
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_takes_the_bits_of_its_amount),
        cmocka_unit_test(every_translation_may_be_the_base),
        cmocka_unit_test(applications_are_compared_with_themselves),
        cmocka_unit_test(permissions_are_no_difference),
        cmocka_unit_test(each_array_has_a_base_of_its_own),
        cmocka_unit_test(pages_of_an_entry_share_their_tag),
        cmocka_unit_test(snapshots_come_at_intervals_and_end),
        cmocka_unit_test(any_organisation_can_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
