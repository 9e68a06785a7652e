/* What page accesses look like, of streams so short that every number is counted by hand. */
#include "log/page_looks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SMS = 2, APPS = 2, FIRST = 5 * 512, REGION = 512 };

struct fixture {
    struct pw_page_looks *looks;
    struct pw_stats *stats;
    struct pw_error err;
};

/* Both applications have one allocation of 3 regions, which begins in the middle of the first. */
static struct fixture create(uint8_t order)
{
    struct fixture f = {0};
    assert_int_equal(pw_page_looks_create(APPS, SMS, order, &f.looks, &f.err), PW_OK);
    for (pw_asid app = 0; app < APPS; app++)
        assert_int_equal(
            pw_page_looks_allocated(f.looks, app, (pw_vpn){FIRST + 256}, 3ULL * REGION * PW_PAGE_BYTES, &f.err), PW_OK);
    f.stats = pw_stats_create(APPS, &f.err);
    assert_non_null(f.stats);
    pw_page_looks_register(f.looks, f.stats);
    assert_int_equal(pw_stats_seal(f.stats, &f.err), PW_OK);
    return f;
}

static uint64_t count_of(const struct fixture *f, int app, const char *name)
{
    int index = pw_stats_find(f->stats, name);
    uint64_t *now = calloc(pw_stats_raw_count(f->stats), sizeof *now);
    assert_non_null(now);
    if (index < 0)
        fail_msg("there is no metric %s", name);
    pw_stats_snapshot(f->stats, now);
    uint64_t value = pw_stats_exact(f->stats, (size_t)index, app, NULL, now);
    free(now);
    return value;
}

static void expect(const struct fixture *f, int app, const char *name, uint64_t value)
{
    uint64_t found = count_of(f, app, name);
    if (found != value)
        fail_msg("%s of app%d is %llu, not %llu", name, app, (unsigned long long)found, (unsigned long long)value);
}

static void destroy(struct fixture *f)
{
    for (size_t i = 0; i < pw_stats_identity_count(f->stats); i++)
        assert_int_equal(pw_stats_identity_run(f->stats, i, &f->err), PW_OK);
    pw_stats_destroy(f->stats);
    pw_page_looks_destroy(f->looks);
}

static void access_page(struct fixture *f, pw_asid app, uint32_t sm, uint64_t page, pw_cycle now)
{
    assert_true(pw_page_looks_access(f->looks, app, sm, (pw_vpn){FIRST + 256 + page}, now));
}

/* How many distances lie below 1, 2, 4, 8 and 65536. */
static void expect_below(const struct fixture *f, int app, const char *prefix, const uint64_t below[5])
{
    static const unsigned points[] = {1, 2, 4, 8, 65536};
    char name[64];
    for (size_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%s%u", prefix, points[i]);
        expect(f, app, name, below[i]);
    }
}

/* comp-fig4-def: pages 0 1 2 0 0 1 have, from the fourth on, the distances 2, 0 and 2; page 3 is new, and page 2 then
 * has 3 others behind it. */
static void distances_count_the_pages_between(void **state)
{
    (void)state;
    static const uint64_t pages[] = {0, 1, 2, 0, 0, 1, 3, 2};
    struct fixture f = create(PW_PAGE_4K);
    pw_page_looks_launched(f.looks, 0);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        access_page(&f, 0, 0, pages[i], i);
    expect(&f, 0, "reuse.accesses", 8);
    expect(&f, 0, "reuse.first", 4);
    expect(&f, 0, "reuse.again", 4);
    expect_below(&f, 0, "reuse.below_", (uint64_t[]){1, 1, 4, 4, 4});
    expect_below(&f, 0, "reuse.sm_below_", (uint64_t[]){1, 1, 4, 4, 4});
    destroy(&f);
}

/* A distance that is a power of two is not below it: page 0 again after 4, and after 70000 others. */
static void powers_of_two_are_above_themselves(void **state)
{
    (void)state;
    enum { MANY = 70000 };
    struct fixture f = create(PW_PAGE_4K);
    assert_int_equal(pw_page_looks_allocated(f.looks, 0, (pw_vpn){FIRST + 256 + 3 * REGION},
                                             (uint64_t)(MANY + 1) * PW_PAGE_BYTES, &f.err),
                     PW_OK);
    for (uint64_t page = 0; page < 5; page++)
        access_page(&f, 0, 0, page, page);
    access_page(&f, 0, 0, 0, 5);
    expect_below(&f, 0, "reuse.below_", (uint64_t[]){0, 0, 0, 1, 1});
    for (uint64_t page = 1; page <= MANY; page++)
        access_page(&f, 0, 0, page, page + 5);
    uint64_t again = count_of(&f, 0, "reuse.again"), below = count_of(&f, 0, "reuse.below_65536");
    access_page(&f, 0, 0, 0, MANY + 6);
    expect(&f, 0, "reuse.again", again + 1);
    expect(&f, 0, "reuse.below_65536", below);
    destroy(&f);
}

/* SM 0: A B A of application 0; SM 1: C A of application 1, whose A is another page, and A of application 0, which is
 * new to SM 1 only. In the order 0A 0B 1C 0A 1A 1(0A): A comes again after B and C, and then after A of the other. */
static void sms_and_applications_share_the_stream_of_the_gpu(void **state)
{
    (void)state;
    struct fixture f = create(PW_PAGE_4K);
    access_page(&f, 0, 0, 0, 0);
    access_page(&f, 0, 0, 1, 1);
    access_page(&f, 1, 1, 2, 2);
    access_page(&f, 0, 0, 0, 3);
    access_page(&f, 1, 1, 0, 4);
    access_page(&f, 0, 1, 0, 5);
    expect(&f, 0, "reuse.first", 2);
    expect(&f, 1, "reuse.first", 2);
    expect(&f, 0, "reuse.again", 2);
    expect(&f, 1, "reuse.again", 0);
    expect_below(&f, 0, "reuse.below_", (uint64_t[]){0, 1, 2, 2, 2});
    expect(&f, 0, "reuse.sm_first", 3);
    expect(&f, 0, "reuse.sm_again", 1);
    expect_below(&f, 0, "reuse.sm_below_", (uint64_t[]){0, 1, 1, 1, 1});
    expect(&f, 1, "reuse.sm_first", 2);
    expect(&f, -1, "reuse.accesses", 6);
    destroy(&f);
}

/* With pages of 64 KiB, 4 KiB pages 0 and 15 are one, and 16 is the next. */
static void pages_have_the_smallest_size_in_use(void **state)
{
    (void)state;
    struct fixture f = create(PW_PAGE_64K);
    access_page(&f, 0, 0, 0, 0);
    access_page(&f, 0, 0, 15, 1);
    access_page(&f, 0, 0, 16, 2);
    expect(&f, 0, "reuse.first", 2);
    expect(&f, 0, "reuse.below_1", 1);
    expect(&f, 0, "pages.steps", 1);
    expect(&f, 0, "pages.steps_adjacent", 1);
    destroy(&f);
}

/* 0 1 1 2 1 5 9 with another application in between: strides 1, 1 again, -1, 4, 4 again. The other's 100 is a step of
 * neither. */
static void steps_lead_to_another_page_of_the_application(void **state)
{
    (void)state;
    static const uint64_t pages[] = {0, 1, 1, 2, 1, 5, 9};
    struct fixture f = create(PW_PAGE_4K);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        access_page(&f, 0, i % SMS, pages[i], i);
        access_page(&f, 1, 0, 100, i);
    }
    expect(&f, 0, "pages.steps", 5);
    expect(&f, 0, "pages.steps_adjacent", 3);
    expect(&f, 0, "pages.steps_repeated", 2);
    expect(&f, 1, "pages.steps", 0);
    destroy(&f);
}

/* Cycle 7: one page twice; cycle 8: three pages, one of them on both SMs; cycle 10: two. */
static void pages_of_a_cycle_are_distinct(void **state)
{
    (void)state;
    static const struct {
        pw_cycle now;
        uint32_t sm;
        uint64_t page;
    } stream[] = {{7, 0, 4}, {7, 1, 4}, {8, 0, 4}, {8, 1, 5}, {8, 0, 5}, {8, 1, 6}, {10, 0, 6}, {10, 1, 4}};
    struct fixture f = create(PW_PAGE_4K);
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++)
        access_page(&f, 0, stream[i].sm, stream[i].page, stream[i].now);
    expect(&f, 0, "pages.cycles", 3);
    expect(&f, 0, "pages.cycle_pages", 6);
    expect(&f, 0, "pages.cycles_several", 2);
    destroy(&f);
}

/* Launch 1: pages 0, 255 and 256, of which the last begins the next region. Launch 2: 255 and 300, both kept or new;
 * launch 3 nothing; launch 4: 300, which launch 3 had not. */
static void launches_have_pages_and_regions(void **state)
{
    (void)state;
    struct fixture f = create(PW_PAGE_4K);
    pw_page_looks_launched(f.looks, 0);
    access_page(&f, 0, 0, 0, 0);
    access_page(&f, 0, 1, 255, 0);
    access_page(&f, 0, 0, 256, 1);
    access_page(&f, 0, 0, 0, 2);
    pw_page_looks_launched(f.looks, 0);
    access_page(&f, 0, 0, 255, 3);
    access_page(&f, 0, 0, 300, 4);
    access_page(&f, 0, 1, 300, 4);
    pw_page_looks_launched(f.looks, 0);
    pw_page_looks_launched(f.looks, 0);
    access_page(&f, 0, 1, 300, 5);
    expect(&f, 0, "pages.launches", 3);
    expect(&f, 0, "pages.launch_pages", 6);
    expect(&f, 0, "pages.launch_kept", 1);
    expect(&f, 0, "pages.launch_regions", 5);
    destroy(&f);
}

/* Of three allocations the first launch accesses the second and third; what comes later is no part of it. */
static void the_first_launch_accesses_allocations(void **state)
{
    (void)state;
    struct fixture f = create(PW_PAGE_4K);
    for (uint64_t i = 3; i < 5; i++)
        assert_int_equal(
            pw_page_looks_allocated(f.looks, 0, (pw_vpn){FIRST + 256 + i * REGION}, REGION * PW_PAGE_BYTES, &f.err),
            PW_OK);
    pw_page_looks_launched(f.looks, 0);
    access_page(&f, 0, 0, 3 * REGION, 0);
    access_page(&f, 0, 0, 4 * REGION - 1, 0);
    access_page(&f, 0, 0, 5 * REGION - 1, 1);
    expect(&f, 0, "pages.first_launch_allocations", 2);
    pw_page_looks_launched(f.looks, 0);
    access_page(&f, 0, 0, 0, 2);
    expect(&f, 0, "pages.first_launch_allocations", 2);
    destroy(&f);
}

/* What an application has not allocated is no business of the looks. */
static void stray_accesses_are_left_out(void **state)
{
    (void)state;
    struct fixture f = create(PW_PAGE_4K);
    assert_true(pw_page_looks_access(f.looks, 0, 0, (pw_vpn){FIRST - 1}, 0));
    assert_true(pw_page_looks_access(f.looks, 0, 0, (pw_vpn){FIRST + 100 * REGION}, 0));
    expect(&f, 0, "reuse.accesses", 0);
    destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_the_pages_between),
        cmocka_unit_test(powers_of_two_are_above_themselves),
        cmocka_unit_test(sms_and_applications_share_the_stream_of_the_gpu),
        cmocka_unit_test(pages_have_the_smallest_size_in_use),
        cmocka_unit_test(steps_lead_to_another_page_of_the_application),
        cmocka_unit_test(pages_of_a_cycle_are_distinct),
        cmocka_unit_test(launches_have_pages_and_regions),
        cmocka_unit_test(the_first_launch_accesses_allocations),
        cmocka_unit_test(stray_accesses_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
