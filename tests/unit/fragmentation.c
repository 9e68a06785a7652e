/* Memory that starts out fragmented (Mosaic, Section 6.4): how much of it, where, and what is left for applications. */
#include "policies.h"
#include "vm/address_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 512, BLOCKS = 150, MB = 1 << 20 };

static unsigned fragment_pages_of(const struct pw_physical_memory *p, uint32_t block)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        n += pw_frames_owner(p->frames, (pw_pfn){block * PAGES + i}) == PW_OWNER_FRAGMENT;
    return n;
}

static void open_memory(struct pw_physical_memory *p, struct pw_page_config config, uint64_t seed)
{
    struct pw_error err = {0};
    config.entry_stride = 8;
    if (pw_physical_memory_init(p, (uint64_t)BLOCKS * 2 * MB, &config, seed, NULL, &err) != PW_OK)
        fail_msg("%s", err.message);
}

/* Decides mosaic-sec64-frag-index and mosaic-sec64-occupancy: the share of large frames and the share of their pages,
 * to the nearest whole one; a fragmented frame has at least one page. */
static void the_numbers_of_frames_and_pages_are_exact(void **state)
{
    (void)state;
    static const struct {
        double fragmentation, occupancy;
        unsigned frames, pages;
    } cases[] = {{0, 50, 0, 0},       {100, 50, 150, 256},  {90, 1, 135, 5},   {33, 10, 50, 51},
                 {33.4, 35, 50, 179}, {0.3, 25, 0, 0},      {0.4, 25, 1, 128}, {99.5, 99.95, 149, 512},
                 {50, 0, 75, 1},      {100, 99.8, 150, 511}};
    for (unsigned p = 0; pw_frame_family.policies[p]; p++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            struct pw_physical_memory m;
            struct pw_page_config config = {.frames =
                                                policy_choice(&pw_frame_family, pw_frame_family.policies[p]->name),
                                            .fragmentation = cases[c].fragmentation,
                                            .occupancy = cases[c].occupancy};
            open_memory(&m, config, 3);
            unsigned fragmented = 0;
            for (uint32_t b = 0; b < BLOCKS; b++) {
                unsigned pages = fragment_pages_of(&m, b);
                assert_true(pages == 0 || pages == cases[c].pages);
                fragmented += pages > 0;
            }
            assert_int_equal(fragmented, cases[c].frames);
            assert_int_equal(m.fragment_pages, (uint64_t)cases[c].frames * cases[c].pages);
            assert_int_equal(m.foreign_bytes, (uint64_t)cases[c].frames * cases[c].pages * PW_PAGE_BYTES);
            assert_int_equal(m.foreign_frame_bytes, m.policy->blocks ? (uint64_t)cases[c].frames * 2 * MB : 0);
            assert_int_equal(m.usable, BLOCKS * PAGES - m.fragment_pages);
            assert_int_equal(pw_frames_free(m.frames), m.usable);
            pw_physical_memory_release(&m);
        }
}

static void places_follow_from_the_seed_and_nothing_else(void **state)
{
    (void)state;
    struct pw_physical_memory m[3];
    const uint64_t seeds[] = {5, 5, 6};
    for (unsigned i = 0; i < 3; i++) {
        struct pw_page_config config = {.fragmentation = 50, .occupancy = 25};
        config.frames = policy_choice(&pw_frame_family, i % 2 ? "random" : "first-free");
        open_memory(&m[i], config, seeds[i]);
    }
    unsigned same = 0, lower_frames = 0, lower_pages = 0;
    for (uint32_t f = 0; f < BLOCKS * PAGES; f++) {
        bool taken = pw_frames_owner(m[0].frames, (pw_pfn){f}) != 0;
        assert_int_equal(taken, pw_frames_owner(m[1].frames, (pw_pfn){f}) != 0);
        same += taken && pw_frames_owner(m[2].frames, (pw_pfn){f});
        lower_pages += taken && f % PAGES < PAGES / 2;
    }
    for (uint32_t b = 0; b < BLOCKS / 2; b++)
        lower_frames += fragment_pages_of(&m[0], b) > 0;
    /* 9600 pages; half of each lies in the lower half, within 6 standard deviations, and two seeds share an eighth. */
    assert_in_range(lower_pages, 4800 - 260, 4800 + 260);
    assert_in_range(lower_frames, 37 - 18, 37 + 19);
    assert_in_range(same, 1200 - 400, 1200 + 400);
    for (unsigned i = 0; i < 3; i++)
        pw_physical_memory_release(&m[i]);
}

static void room_is_counted_in_pages_of_the_size_configured(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 3; size++) {
        static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
        struct pw_physical_memory m;
        open_memory(&m, (struct pw_page_config){.size = size, .fragmentation = 60, .occupancy = 2}, 1);
        uint64_t room = 0;
        for (uint32_t at = 0; at < BLOCKS * PAGES; at += 1U << orders[size]) {
            bool is_free = true;
            for (uint32_t i = 0; i < 1U << orders[size]; i++)
                is_free &= pw_frames_owner(m.frames, (pw_pfn){at + i}) == PW_OWNER_FREE;
            room += is_free ? 1U << orders[size] : 0;
        }
        assert_int_equal(m.usable, room);
        pw_physical_memory_release(&m);
    }
}

static void memory_without_a_free_frame_is_the_users_mistake(void **state)
{
    (void)state;
    struct pw_physical_memory m;
    struct pw_error err;
    struct pw_page_config config = {.entry_stride = 8, .fragmentation = 100, .occupancy = 100};
    assert_int_equal(pw_physical_memory_init(&m, 4 * MB, &config, 1, NULL, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "leave no free frame for a page of 4KB"));
    config = (struct pw_page_config){.entry_stride = 8, .size = 2, .fragmentation = 100, .occupancy = 1};
    assert_int_equal(pw_physical_memory_init(&m, 4 * MB, &config, 1, NULL, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "leave no free frame for a page of 2MB"));
}

/* Decides mosaic-sec64-prefrag: with data in every large frame, no frame has pages of one application alone, and none
 * can be coalesced; with data in some, none of those can. */
static void fragmented_frames_never_coalesce(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        struct pw_physical_memory m;
        struct pw_address_space space;
        struct pw_page_counters counters = {0};
        struct pw_touched touched = {0};
        struct pw_error err = {0};
        struct pw_page_config config = {.entry_stride = 8,
                                        .frames = policy_choice(&pw_frame_family, "contiguity"),
                                        .fragmentation = all ? 100 : 40,
                                        .occupancy = 1};
        open_memory(&m, config, 2);
        assert_int_equal(pw_address_space_init(&space, 0, &config, &m, &counters, &touched, &err), PW_OK);
        pw_vaddr base;
        unsigned failed, coalescible = 0;
        assert_int_equal(pw_address_space_allocate(&space, "a", 200 * MB, false, &base, &err), PW_OK);
        assert_int_equal(pw_address_spaces_back(&space, 1, &failed, &err), PW_OK);
        for (uint64_t i = 0; i < 100; i++)
            coalescible += pw_page_table_can_coalesce(space.table, (pw_vpn){pw_vpn_of(base).v + i * PAGES});
        /* Page tables have one of the 90 frames that are whole. */
        assert_int_equal(coalescible, all ? 0 : 89);
        if (pw_address_spaces_check(&space, 1, &err) != PW_OK)
            fail_msg("%s", err.message);
        m.fragment_pages--;
        assert_int_equal(pw_address_spaces_check(&space, 1, &err), PW_FAILED);
        m.fragment_pages++;
        assert_int_equal(m.violations, 0);
        pw_vaddr more;
        assert_int_equal(pw_address_space_allocate(&space, "more", 299 * MB, false, &more, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "or less page.fragmentation"));
        pw_vpn first, outer;
        pw_address_space_reset(&space, &first, &outer);
        pw_address_space_release(&space);
        assert_int_equal(pw_frames_free(m.frames), m.usable);
        pw_physical_memory_release(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_of_frames_and_pages_are_exact),
        cmocka_unit_test(places_follow_from_the_seed_and_nothing_else),
        cmocka_unit_test(room_is_counted_in_pages_of_the_size_configured),
        cmocka_unit_test(memory_without_a_free_frame_is_the_users_mistake),
        cmocka_unit_test(fragmented_frames_never_coalesce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
