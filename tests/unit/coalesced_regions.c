/* Regions of 4 KiB pages under a large bit: what a lookup and a walk find, what stays, what ends it (Mosaic, Figure
 * 7). */
#include "table_fixture.h"

enum { PAGES = 512, REGION = 0x12345 << 9, NEXT = REGION + PAGES, BLOCK = 3 * PAGES };

static void map(struct table_fixture x, uint64_t vpn, uint32_t frame)
{
    assert_int_equal(table_map(x, vpn, frame, PW_PAGE_4K), PW_OK);
}

static void fill(struct table_fixture x, uint64_t region, uint32_t first_frame)
{
    for (uint32_t i = 0; i < PAGES; i++)
        map(x, region + i, first_frame + i);
}

static void coalesce(struct table_fixture x, uint64_t region)
{
    assert_true(pw_page_table_can_coalesce(x.table, (pw_vpn){region}));
    pw_page_table_set_large(x.table, (pw_vpn){region}, true);
}

static uint64_t last_read(struct table_fixture x, uint64_t vpn)
{
    pw_paddr reads[PW_TABLE_LEVELS];
    assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn}, reads, NULL), 4);
    return reads[3].v;
}

/* Decides mosaic-fig07-large-bit and mosaic-fig07-disabled-bit. */
static void both_bits_are_0_at_first(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    assert_false(pw_page_table_is_large(x.table, (pw_vpn){REGION}));
    fill(x, REGION, BLOCK);
    assert_false(pw_page_table_is_large(x.table, (pw_vpn){REGION + 77}));
    assert_int_equal(pw_page_table_disabled(x.table, (pw_vpn){REGION + 77}), 0);
    assert_int_equal(pw_page_table_present(x.table, (pw_vpn){REGION + 77}), PAGES);
    table_expect(x, REGION + 77, BLOCK + 77, PW_PAGE_4K);
    table_destroy(x);
}

/* Decides mosaic-sec43-walker-l3 and mosaic-sec43-walker-first-pte: the level-3 entry is read as ever, then the first
 * level-4 entry; its upper bits are everybody's. */
static void a_walk_of_a_large_region_reads_its_first_level_4_entry(void **state)
{
    (void)state;
    for (uint32_t stride = 8; stride <= 128; stride *= 4) {
        struct table_fixture x = table_create(64 * MIB, 1, stride);
        fill(x, REGION, BLOCK);
        pw_paddr before[PW_TABLE_LEVELS], reads[PW_TABLE_LEVELS];
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){REGION + 300}, before, NULL), 4);
        coalesce(x, REGION);
        for (uint32_t i = 0; i < PAGES; i++) {
            struct pw_translation found;
            assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){REGION + i}, reads, &found), 4);
            for (unsigned level = 0; level < 3; level++)
                assert_int_equal(reads[level].v, before[level].v);
            assert_int_equal(reads[3].v, before[3].v - 300ULL * stride);
            assert_int_equal(reads[3].v, pw_page_table_entry(x.table, (pw_vpn){REGION}, 4).v);
            assert_int_equal(found.order, PW_PAGE_2M);
            assert_int_equal(found.frame.v, BLOCK + i);
            pw_pfn own;
            assert_true(pw_page_table_has_base(x.table, (pw_vpn){REGION + i}, &own));
            assert_int_equal(own.v >> PW_PAGE_2M, BLOCK >> PW_PAGE_2M);
        }
        assert_int_equal(pw_page_table_entry(x.table, (pw_vpn){REGION + 9}, 3).v, reads[2].v);
        assert_int_equal(pw_page_table_entry(x.table, (pw_vpn){REGION + 300}, 4).v, before[3].v);
        table_destroy(x);
    }
}

/* Decides mosaic-sec43-walker-uncoalesced: address for address as in a table that knows of no large page. */
static void a_walk_beside_a_large_region_is_as_ever(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8), plain = table_create(64 * MIB, 1, 8);
    fill(x, REGION, BLOCK);
    fill(plain, REGION, BLOCK);
    fill(x, NEXT, 1); /* scattered: not aligned */
    fill(plain, NEXT, 1);
    coalesce(x, REGION);
    for (uint64_t vpn = NEXT; vpn < NEXT + PAGES; vpn++) {
        pw_paddr reads[PW_TABLE_LEVELS], expected[PW_TABLE_LEVELS];
        struct pw_translation found;
        assert_int_equal(pw_page_table_walk(x.table, (pw_vpn){vpn}, reads, &found), 4);
        assert_int_equal(pw_page_table_walk(plain.table, (pw_vpn){vpn}, expected, NULL), 4);
        for (unsigned level = 0; level < 4; level++)
            assert_int_equal(reads[level].v, expected[level].v);
        assert_int_equal(found.order, PW_PAGE_4K);
        assert_int_equal(found.frame.v, vpn - NEXT + 1);
    }
    table_destroy(x);
    table_destroy(plain);
}

/* Decides mosaic-sec44-splinter-walks. */
static void a_splintered_region_is_one_of_base_pages_again(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    fill(x, REGION, BLOCK);
    uint64_t own = last_read(x, REGION + 5);
    coalesce(x, REGION);
    assert_int_not_equal(last_read(x, REGION + 5), own);
    pw_page_table_set_large(x.table, (pw_vpn){REGION}, false);
    assert_int_equal(last_read(x, REGION + 5), own);
    table_expect(x, REGION + 5, BLOCK + 5, PW_PAGE_4K);
    assert_int_equal(pw_page_table_move(x.table, (pw_vpn){REGION + 5}, (pw_pfn){7}).v, BLOCK + 5);
    table_expect(x, REGION + 5, 7, PW_PAGE_4K);
    assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){REGION}));
    assert_int_equal(pw_page_table_move(x.table, (pw_vpn){REGION + 5}, (pw_pfn){BLOCK + 5}).v, 7);
    coalesce(x, REGION);
    table_destroy(x);
}

/* Decides mosaic-sec43-no-extra-storage. */
static void coalescing_takes_no_memory(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    fill(x, REGION, BLOCK);
    uint64_t bytes = pw_page_table_node_bytes(x.table), free_frames = pw_frames_free(x.frames);
    coalesce(x, REGION);
    pw_page_table_set_disabled(x.table, (pw_vpn){REGION}, PAGES, true);
    assert_int_equal(pw_page_table_node_bytes(x.table), bytes);
    assert_int_equal(pw_frames_free(x.frames), free_frames);
    assert_int_equal(pw_page_table_mapped_pages(x.table), PAGES);
    table_destroy(x);
}

/* Decides mosaic-sec42-alignment and mosaic-sec43-fully-populated; a region that is large already cannot either. */
static void only_a_full_consecutive_and_aligned_region_can_be_coalesced(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    struct pw_error err;
    pw_vpn region = {REGION};
    assert_false(pw_page_table_can_coalesce(x.table, region));
    assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){1ULL << 40}));
    for (uint32_t i = 0; i < PAGES; i++) {
        assert_false(pw_page_table_can_coalesce(x.table, region));
        map(x, REGION + i, BLOCK + i);
    }
    assert_true(pw_page_table_can_coalesce(x.table, region));
    assert_true(pw_page_table_can_coalesce(x.table, (pw_vpn){REGION + 511}));
    for (uint32_t i = 0; i < PAGES; i += 73) {
        pw_page_table_unmap(x.table, (pw_vpn){REGION + i});
        assert_false(pw_page_table_can_coalesce(x.table, region));
        map(x, REGION + i, i ? BLOCK : BLOCK + 1);
        assert_false(pw_page_table_can_coalesce(x.table, region));
        pw_page_table_move(x.table, (pw_vpn){REGION + i}, (pw_pfn){BLOCK + i});
    }
    coalesce(x, REGION);
    assert_false(pw_page_table_can_coalesce(x.table, region));
    fill(x, NEXT, BLOCK + 16); /* consecutive, but shifted */
    assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){NEXT}));
    assert_int_equal(pw_page_table_map(x.table, (pw_vpn){NEXT + PAGES}, (pw_pfn){512}, PW_PAGE_2M, &err), PW_OK);
    assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){NEXT + PAGES}));
    assert_false(pw_page_table_is_large(x.table, (pw_vpn){NEXT + PAGES}));
    for (uint32_t i = 0; i < PAGES; i += 16)
        assert_int_equal(
            pw_page_table_map(x.table, (pw_vpn){NEXT + 2 * PAGES + i}, (pw_pfn){512 + i}, PW_PAGE_64K, &err), PW_OK);
    assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){NEXT + 2 * PAGES}));
    assert_int_equal(pw_page_table_present(x.table, (pw_vpn){NEXT + 2 * PAGES}), 0);
    table_destroy(x);
}

/* A freed page is still translated, by the large page; nobody else's frame can take its place. */
static void a_page_freed_in_a_large_region_stays_covered_and_reserved(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    struct pw_error err;
    fill(x, REGION, BLOCK);
    coalesce(x, REGION);
    pw_page_table_set_disabled(x.table, (pw_vpn){REGION}, PAGES, true);
    struct pw_translation was = pw_page_table_unmap(x.table, (pw_vpn){REGION + 9});
    assert_true(was.present);
    assert_int_equal(was.frame.v, BLOCK + 9);
    assert_int_equal(was.order, PW_PAGE_4K);
    assert_int_equal(pw_page_table_present(x.table, (pw_vpn){REGION}), PAGES - 1);
    assert_int_equal(pw_page_table_mapped_pages(x.table), PAGES - 1);
    assert_false(pw_page_table_has_base(x.table, (pw_vpn){REGION + 9}, NULL));
    table_expect(x, REGION + 9, BLOCK + 9, PW_PAGE_2M);
    assert_false(pw_page_table_unmap(x.table, (pw_vpn){REGION + 9}).present);
    assert_int_equal(pw_page_table_map(x.table, (pw_vpn){REGION + 9}, (pw_pfn){7}, PW_PAGE_4K, &err), PW_FAILED);
    assert_int_equal(pw_page_table_map(x.table, (pw_vpn){REGION}, (pw_pfn){512}, PW_PAGE_2M, &err), PW_FAILED);
    map(x, REGION + 9, BLOCK + 9);
    assert_int_equal(pw_page_table_present(x.table, (pw_vpn){REGION}), PAGES);
    pw_page_table_unmap(x.table, (pw_vpn){REGION});
    pw_page_table_set_large(x.table, (pw_vpn){REGION}, false);
    assert_false(pw_page_table_lookup(x.table, (pw_vpn){REGION}).present);
    table_expect(x, REGION + 9, BLOCK + 9, PW_PAGE_4K);
    table_destroy(x);
}

static void the_last_page_takes_the_bits_with_it(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    struct pw_error err;
    pw_vpn region = {REGION};
    fill(x, REGION, BLOCK);
    coalesce(x, REGION);
    pw_page_table_set_disabled(x.table, region, PAGES, true);
    for (uint32_t i = 0; i < PAGES; i++) {
        assert_true(pw_page_table_is_large(x.table, region));
        assert_int_equal(pw_page_table_disabled(x.table, region), PAGES);
        assert_true(pw_page_table_unmap(x.table, (pw_vpn){REGION + (i * 7 + 3) % PAGES}).present);
    }
    assert_false(pw_page_table_is_large(x.table, region));
    assert_int_equal(pw_page_table_disabled(x.table, region), 0);
    assert_false(pw_page_table_lookup(x.table, region).present);
    pw_page_table_set_disabled(x.table, region, PAGES, true); /* a write that comes late */
    assert_int_equal(pw_page_table_disabled(x.table, region), 0);
    assert_int_equal(pw_page_table_map(x.table, region, (pw_pfn){512}, PW_PAGE_2M, &err), PW_OK);
    pw_page_table_set_large(x.table, region, false);
    table_expect(x, REGION + 1, 513, PW_PAGE_2M);
    table_destroy(x);
}

static void disabled_bits_are_set_and_cleared_a_few_at_a_time(void **state)
{
    (void)state;
    struct table_fixture x = table_create(64 * MIB, 1, 8);
    pw_vpn region = {REGION};
    fill(x, REGION, BLOCK);
    coalesce(x, REGION);
    for (unsigned i = 0; i < PAGES; i += 16) {
        assert_int_equal(pw_page_table_disabled(x.table, region), i);
        pw_page_table_set_disabled(x.table, (pw_vpn){REGION + i}, 16, true);
    }
    pw_page_table_set_disabled(x.table, (pw_vpn){REGION + 31}, 34, false);
    assert_int_equal(pw_page_table_disabled(x.table, region), PAGES - 34);
    pw_page_table_set_disabled(x.table, (pw_vpn){REGION + 30}, 2, true);
    assert_int_equal(pw_page_table_disabled(x.table, region), PAGES - 33);
    pw_page_table_set_disabled(x.table, region, PAGES, false);
    assert_int_equal(pw_page_table_disabled(x.table, region), 0);
    table_destroy(x);
}

static void expect_denied(struct table_fixture x, uint64_t vpn, unsigned denied)
{
    struct pw_translation found;
    pw_paddr reads[PW_TABLE_LEVELS];
    assert_int_equal(pw_page_table_lookup(x.table, (pw_vpn){vpn}).denied, denied);
    pw_page_table_walk(x.table, (pw_vpn){vpn}, reads, &found);
    assert_int_equal(found.denied, denied);
}

static void protect(struct table_fixture x, uint64_t first, uint64_t count, unsigned denied)
{
    pw_page_table_protect(x.table, (pw_vpn){first}, (pw_vpn){first + count}, denied);
}

/* mosaic-sec43-walker-perms: all of them have the permissions of the first, or there is no large page. */
static void only_pages_of_equal_permissions_are_coalesced_and_keep_them(void **state)
{
    (void)state;
    for (unsigned denied = 1; denied <= PW_MAY_ALL; denied++) {
        struct table_fixture x = table_create(64 * MIB, 1, 8);
        fill(x, REGION, BLOCK);
        for (uint64_t page = 0; page < PAGES; page += page ? 211 : 89) {
            protect(x, REGION + page, 1, denied);
            expect_denied(x, REGION + page, denied);
            assert_false(pw_page_table_can_coalesce(x.table, (pw_vpn){REGION}));
            protect(x, REGION + page, 1, 0);
        }
        protect(x, REGION, PAGES, denied);
        coalesce(x, REGION);
        for (uint64_t page = 0; page < PAGES; page++) {
            table_expect(x, REGION + page, (uint32_t)(BLOCK + page), PW_PAGE_2M);
            expect_denied(x, REGION + page, denied);
        }
        pw_page_table_unmap(x.table, (pw_vpn){REGION + 5});
        assert_int_equal(table_map(x, REGION + 5, BLOCK + 5, PW_PAGE_4K), PW_FAILED); /* it may be read and written */
        map(x, REGION + 5, pw_frame_word((pw_pfn){BLOCK + 5}, denied).v);
        pw_page_table_set_large(x.table, (pw_vpn){REGION}, false);
        for (uint64_t page = 0; page < PAGES; page++)
            expect_denied(x, REGION + page, denied);
        assert_int_equal(pw_page_table_move(x.table, (pw_vpn){REGION + 7}, (pw_pfn){9}).v, BLOCK + 7);
        table_expect(x, REGION + 7, 9, PW_PAGE_4K);
        expect_denied(x, REGION + 7, denied);
        table_destroy(x);
    }
}

/* A page of any size has its own, until it is unmapped. */
static void permissions_belong_to_a_mapping(void **state)
{
    (void)state;
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    for (size_t i = 0; i < 3; i++) {
        struct table_fixture x = table_create(64 * MIB, 1, 8);
        uint64_t pages = 1ULL << orders[i];
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(table_map(x, REGION + k * pages, BLOCK + k * (uint32_t)pages, orders[i]), PW_OK);
        protect(x, REGION + pages, pages, PW_MAY_WRITE);
        for (uint32_t k = 0; k < 3; k++) {
            expect_denied(x, REGION + (k + 1) * pages - 1, k == 1 ? PW_MAY_WRITE : 0);
            table_expect(x, REGION + (k + 1) * pages - 1, BLOCK + (k + 1) * (uint32_t)pages - 1, orders[i]);
        }
        pw_page_table_unmap(x.table, (pw_vpn){REGION + pages});
        expect_denied(x, REGION + pages, 0);
        protect(x, REGION + pages, pages, PW_MAY_READ); /* nothing is there */
        assert_int_equal(table_map(x, REGION + pages, BLOCK, orders[i]), PW_OK);
        expect_denied(x, REGION + pages, 0);
        table_destroy(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_bits_are_0_at_first),
        cmocka_unit_test(a_walk_of_a_large_region_reads_its_first_level_4_entry),
        cmocka_unit_test(a_walk_beside_a_large_region_is_as_ever),
        cmocka_unit_test(a_splintered_region_is_one_of_base_pages_again),
        cmocka_unit_test(coalescing_takes_no_memory),
        cmocka_unit_test(only_a_full_consecutive_and_aligned_region_can_be_coalesced),
        cmocka_unit_test(a_page_freed_in_a_large_region_stays_covered_and_reserved),
        cmocka_unit_test(the_last_page_takes_the_bits_with_it),
        cmocka_unit_test(disabled_bits_are_set_and_cleared_a_few_at_a_time),
        cmocka_unit_test(only_pages_of_equal_permissions_are_coalesced_and_keep_them),
        cmocka_unit_test(permissions_belong_to_a_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
