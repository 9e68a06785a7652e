/* Page tables: what a walk reads, where nodes lie, what cannot be mapped, what memory they take. */
#include "table_fixture.h"

static void expect_none(struct table_fixture x, uint64_t vpn)
{
    assert_false(pw_page_table_lookup(x.table, (pw_vpn){vpn}).present);
}

static uint64_t vpn_of(uint64_t l1, uint64_t l2, uint64_t l3, uint64_t l4)
{
    return l1 << 27 | l2 << 18 | l3 << 9 | l4;
}

/* Decides mosaic-sec43-walk-depth, mask-sec3-levels, mask-tab1-walker and mosaic-sec22-walk-to-leaf: four levels, 4 KiB
 * pages at level 4 and 2 MiB pages at level 3. With first-free frames the nodes are frames 0, 1, 2, 3 in order. */
static void a_walk_reads_one_entry_per_level_down_to_the_leaf(void **state)
{
    (void)state;
    struct table_fixture x = table_create(8 * MIB, 3, 8);
    uint64_t vpn = vpn_of(5, 6, 7, 8);
    assert_int_equal(table_map(x, vpn, 1000, PW_PAGE_4K), PW_OK);
    pw_paddr reads[PW_TABLE_LEVELS];
    struct pw_translation found;
    assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn}, reads, &found), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(reads[i].v, i * 4096 + (5 + i) * 8);
    assert_true(found.present);
    assert_int_equal(found.frame.v, 1000);

    assert_int_equal(table_map(x, vpn_of(5, 6, 9, 0), 1024, PW_PAGE_2M), PW_OK);
    assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn_of(5, 6, 9, 511)}, reads, &found), 3);
    assert_int_equal(reads[2].v, 2 * 4096 + 9 * 8);
    assert_int_equal(found.frame.v, 1024 + 511);
    assert_int_equal(found.order, PW_PAGE_2M);
    assert_int_equal(pw_frames_owner(x.frames, (pw_pfn){3}), PW_OWNER_TABLE + 3);
    table_destroy(x);
}

static void a_walk_ends_at_the_first_entry_that_is_not_present(void **state)
{
    (void)state;
    struct table_fixture x = table_create(8 * MIB, 0, 8);
    assert_int_equal(table_map(x, vpn_of(1, 1, 1, 1), 77, PW_PAGE_4K), PW_OK);
    pw_paddr reads[PW_TABLE_LEVELS];
    struct pw_translation found;
    const struct {
        uint64_t vpn;
        unsigned reads;
    } cases[] = {{vpn_of(2, 1, 1, 1), 1}, {vpn_of(1, 2, 1, 1), 2}, {vpn_of(1, 1, 2, 1), 3}, {vpn_of(1, 1, 1, 2), 4}};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){cases[i].vpn}, reads, &found), cases[i].reads);
        assert_false(found.present);
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){cases[i].vpn}, reads, NULL), cases[i].reads);
    }
    table_destroy(x);
}

/* Big tables are 256 bytes each: sixteen of them share frame 3, and the seventeenth begins the next frame. */
static void tables_of_64k_pages_have_32_entries_and_share_a_frame(void **state)
{
    (void)state;
    struct table_fixture x = table_create(8 * MIB, 0, 8);
    pw_paddr reads[PW_TABLE_LEVELS];
    for (uint64_t region = 0; region < 17; region++) {
        uint64_t vpn = region << 9 | 3 << 4;
        assert_int_equal(table_map(x, vpn, 512, PW_PAGE_64K), PW_OK);
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn + 15}, reads, NULL), 4);
        assert_int_equal(reads[3].v, 3ULL * 4096 + region * 256 + 3ULL * 8);
        table_expect(x, vpn + 15, 512 + 15, PW_PAGE_64K);
        expect_none(x, vpn + 16);
    }
    assert_int_equal(pw_page_table_node_bytes(x.table), 5 * 4096);
    table_destroy(x);
}

static void the_stride_spreads_entries_and_enlarges_nodes(void **state)
{
    (void)state;
    for (uint32_t stride = 8; stride <= 128; stride *= 2) {
        struct table_fixture x = table_create(8 * MIB, 0, stride);
        assert_int_equal(table_map(x, vpn_of(1, 2, 3, 4), 600, PW_PAGE_4K), PW_OK);
        pw_paddr reads[PW_TABLE_LEVELS];
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn_of(1, 2, 3, 4)}, reads, NULL), 4);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(reads[i].v, i * 512 * stride + (1 + i) * stride);
        uint64_t chunk = stride == 8 ? 4096 : 65536;
        assert_int_equal(pw_page_table_node_bytes(x.table), (4ULL * 512 * stride + chunk - 1) / chunk * chunk);
        assert_int_equal(pw_frames_total(x.frames) - pw_frames_free(x.frames),
                         pw_page_table_node_bytes(x.table) / 4096);
        table_destroy(x);
    }
    struct pw_page_table *t;
    const uint32_t wrong[] = {0, 4, 12, 256};
    for (unsigned i = 0; i < 4; i++) {
        struct pw_page_table_config config = {
            .asid = 0, .entry_stride = wrong[i], .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
        struct pw_error err;
        assert_int_equal(pw_page_table_create(&config, &t, &err), PW_USER_ERROR);
    }
}

static void what_cannot_be_mapped_changes_nothing(void **state)
{
    (void)state;
    struct table_fixture x = table_create(8 * MIB, 0, 8);
    assert_int_equal(table_map(x, 0, 100, PW_PAGE_4K), PW_OK);
    assert_int_equal(table_map(x, 512, 512, PW_PAGE_2M), PW_OK);
    assert_int_equal(table_map(x, 1024, 1024, PW_PAGE_64K), PW_OK);
    const struct {
        uint64_t vpn;
        uint32_t frame;
        enum pw_page_order order;
    } wrong[] = {
        {0, 101, PW_PAGE_4K},    {16, 512, PW_PAGE_64K},       {0, 512, PW_PAGE_2M},     {512, 1024, PW_PAGE_2M},
        {600, 7, PW_PAGE_4K},    {528, 16, PW_PAGE_64K},       {1024, 512, PW_PAGE_64K}, {1040, 7, PW_PAGE_4K},
        {1024, 512, PW_PAGE_2M}, {1 << 20 | 8, 0, PW_PAGE_2M}, {2048, 8, PW_PAGE_64K},   {1ULL << 36, 7, PW_PAGE_4K},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(table_map(x, wrong[i].vpn, wrong[i].frame, wrong[i].order), PW_FAILED);
    assert_int_equal(pw_page_table_mapped_pages(x.table), 1 + 512 + 16);
    table_expect(x, 0, 100, PW_PAGE_4K);
    table_expect(x, 600, 600, PW_PAGE_2M);
    table_expect(x, 1030, 1030, PW_PAGE_64K);
    expect_none(x, 1ULL << 36);
    expect_none(x, UINT64_MAX);
    table_destroy(x);
}

static void an_emptied_region_takes_another_page_size_and_keeps_its_nodes(void **state)
{
    (void)state;
    struct table_fixture x = table_create(8 * MIB, 0, 8);
    assert_int_equal(table_map(x, 5, 100, PW_PAGE_4K), PW_OK);
    struct pw_translation was = pw_page_table_unmap(x.table, (pw_vpn){5});
    assert_true(was.present);
    assert_int_equal(was.frame.v, 100);
    assert_false(pw_page_table_unmap(x.table, (pw_vpn){5}).present);
    uint64_t bytes = pw_page_table_node_bytes(x.table);
    assert_int_equal(table_map(x, 0, 512, PW_PAGE_2M), PW_OK);
    assert_int_equal(pw_page_table_unmap(x.table, (pw_vpn){9}).frame.v, 521);
    assert_int_equal(table_map(x, 5, 200, PW_PAGE_4K), PW_OK);
    assert_int_equal(pw_page_table_node_bytes(x.table), bytes);
    table_expect(x, 5, 200, PW_PAGE_4K);
    expect_none(x, 6);
    assert_int_equal(pw_page_table_mapped_pages(x.table), 1);
    table_destroy(x);
}

/* Of any page size and stride: what it takes is at most what was said, and nothing once the region has a page. */
static void a_table_grows_by_no_more_than_it_says(void **state)
{
    (void)state;
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    static const uint64_t places[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {3, 0, 0}, {3, 0, 511}, {511, 511, 511}};
    static const unsigned new_nodes[] = {3, 1, 2, 3, 1, 3}; /* with leaves of 4 KiB pages */
    for (uint32_t stride = 8; stride <= 128; stride *= 4)
        for (size_t i = 0; i < 3; i++) {
            struct table_fixture x = table_create(64 * MIB, 0, stride);
            for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
                pw_vpn at = {vpn_of(places[k][0], places[k][1], places[k][2], 0)};
                uint64_t before = pw_frames_free(x.frames);
                unsigned said = pw_page_table_growth(x.table, at, orders[i]);
                if (orders[i] == PW_PAGE_4K)
                    assert_int_equal(said, new_nodes[k] * (stride == 8 ? 1 : 16));
                assert_int_equal(table_map(x, at.v, 512U * (unsigned)k, orders[i]), PW_OK);
                assert_true(before - pw_frames_free(x.frames) <= said);
                assert_int_equal(pw_page_table_growth(x.table, at, orders[i]), 0);
            }
            table_destroy(x);
        }
}

static void running_out_of_memory_for_nodes_fails_cleanly(void **state)
{
    (void)state;
    struct table_fixture x = table_create(2 * MIB, 0, 8);
    pw_pfn frame;
    while (pw_frames_free(x.frames) > 1)
        assert_true(pw_frames_take(x.frames, PW_PAGE_4K, (pw_pfn){0}, PW_OWNER_APP, &frame));
    assert_int_equal(table_map(x, 0, 100, PW_PAGE_4K), PW_FAILED);
    expect_none(x, 0);
    struct pw_page_table_config config = {
        .asid = 1, .entry_stride = 8, .frames = x.frames, .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
    struct pw_page_table *other = NULL;
    struct pw_error err = {0};
    assert_int_equal(pw_page_table_create(&config, &other, &err), PW_USER_ERROR);
    for (uint32_t i = 0; i < 512; i++)
        pw_frames_release(x.frames, PW_PAGE_4K, (pw_pfn){i}, PW_OWNER_APP);
    assert_int_equal(table_map(x, 0, 100, PW_PAGE_4K), PW_OK);
    table_expect(x, 0, 100, PW_PAGE_4K);
    table_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_reads_one_entry_per_level_down_to_the_leaf),
        cmocka_unit_test(a_walk_ends_at_the_first_entry_that_is_not_present),
        cmocka_unit_test(tables_of_64k_pages_have_32_entries_and_share_a_frame),
        cmocka_unit_test(the_stride_spreads_entries_and_enlarges_nodes),
        cmocka_unit_test(what_cannot_be_mapped_changes_nothing),
        cmocka_unit_test(an_emptied_region_takes_another_page_size_and_keeps_its_nodes),
        cmocka_unit_test(a_table_grows_by_no_more_than_it_says),
        cmocka_unit_test(running_out_of_memory_for_nodes_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
