/* Page tables under random map, unmap, lookup and walk, against a flat array of what is mapped. */
#include "vm/page_table.h"
#include "policies.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { REGIONS = 24, PAGES = REGIONS * 512 };

static const enum pw_page_order ORDERS[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

struct mapping {
    bool present;
    uint32_t frame;
    enum pw_page_order order;
};

struct model {
    struct pw_frames *frames;
    struct pw_page_table *table;
    struct pw_random random;
    struct mapping pages[PAGES];
    uint64_t visited, last_vpn;
};

/* Regions are scattered over the whole address space, some next to each other, some alone in their nodes. */
static uint64_t vpn_of(uint64_t page)
{
    static const uint64_t regions[REGIONS] = {0,       1,       2,       510,           511,     512,
                                              513,     1 << 10, 1 << 16, 1 << 17,       1 << 18, 1 << 19,
                                              1 << 20, 1 << 21, 1 << 22, 1 << 23,       1 << 24, 1 << 25,
                                              1 << 26, 3 << 25, 7 << 24, (1 << 27) - 1, 77777,   77778};
    return regions[page / 512] << 9 | page % 512;
}

static bool may_map(const struct model *m, uint64_t page, enum pw_page_order order)
{
    uint64_t region = page / 512 * 512;
    for (uint64_t i = region; i < region + 512; i++) {
        bool covered = i >= page && i < page + (1ULL << order);
        if (m->pages[i].present && (covered || m->pages[i].order != order))
            return false;
    }
    return true;
}

static void step(struct model *m)
{
    uint64_t page = pw_random_below(&m->random, PAGES);
    if (pw_random_below(&m->random, 3)) {
        enum pw_page_order order = ORDERS[pw_random_below(&m->random, 20) ? pw_random_below(&m->random, 2) : 2];
        page = page >> order << order;
        uint32_t frame = (uint32_t)(pw_random_below(&m->random, 1 << 20) << order);
        bool possible = may_map(m, page, order);
        struct pw_error err;
        enum pw_status status = pw_page_table_map(m->table, (pw_vpn){vpn_of(page)}, (pw_pfn){frame}, order, &err);
        assert_int_equal(status, possible ? PW_OK : PW_FAILED);
        for (uint32_t i = 0; possible && i < 1U << order; i++)
            m->pages[page + i] = (struct mapping){true, frame + i, order};
    } else {
        struct pw_translation was = pw_page_table_unmap(m->table, (pw_vpn){vpn_of(page)});
        struct mapping expected = m->pages[page];
        assert_int_equal(was.present, expected.present);
        if (!was.present)
            return;
        assert_int_equal(was.frame.v, expected.frame);
        uint64_t first = page >> expected.order << expected.order;
        for (uint64_t i = 0; i < 1ULL << expected.order; i++)
            m->pages[first + i].present = false;
    }
}

static void visit(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    struct model *m = context;
    assert_true(m->visited == 0 || vpn.v > m->last_vpn);
    struct pw_translation found = pw_page_table_lookup(m->table, vpn);
    assert_true(found.present && found.frame.v == frame.v && found.order == order);
    m->last_vpn = vpn.v;
    m->visited += 1ULL << order;
}

/* Every read of a walk lies in a frame of the table, and no two different entries share an address. */
static void check_walk(struct model *m, uint64_t page)
{
    pw_paddr reads[PW_TABLE_LEVELS];
    struct pw_translation found;
    unsigned count = pw_page_table_walk(m->table, (pw_vpn){vpn_of(page)}, reads, &found);
    assert_int_equal(found.present, m->pages[page].present);
    if (found.present)
        assert_int_equal(count, found.order == PW_PAGE_2M ? 3 : 4);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pw_frames_owner(m->frames, (pw_pfn){(uint32_t)(reads[i].v >> PW_PAGE_SHIFT)}),
                         PW_OWNER_TABLE + 5);
        for (unsigned k = 0; k < i; k++)
            assert_int_not_equal(reads[i].v, reads[k].v);
    }
}

static void check_all(struct model *m)
{
    uint64_t mapped = 0;
    for (uint64_t page = 0; page < PAGES; page++) {
        struct pw_translation found = pw_page_table_lookup(m->table, (pw_vpn){vpn_of(page)});
        struct mapping expected = m->pages[page];
        assert_int_equal(found.present, expected.present);
        if (expected.present) {
            assert_int_equal(found.frame.v, expected.frame);
            assert_int_equal(found.order, expected.order);
            mapped++;
        }
        check_walk(m, page);
    }
    assert_int_equal(pw_page_table_mapped_pages(m->table), mapped);
    m->visited = 0;
    pw_page_table_each(m->table, visit, m);
    assert_int_equal(m->visited, mapped);
}

static void page_tables_agree_with_a_flat_array(void **state)
{
    (void)state;
    for (uint32_t stride = 8; stride <= 128; stride *= 4)
        for (unsigned p = 0; pw_frame_family.policies[p]; p++) {
            struct model *m = calloc(1, sizeof *m);
            struct pw_error err = {0};
            pw_random_init(&m->random, stride + p, "page table");
            assert_int_equal(pw_frames_create(32ULL << 20, &m->frames, &err), PW_OK);
            const struct pw_policy *policy = pw_frame_family.policies[p];
            struct pw_frame_environment environment = {m->frames, &m->random};
            struct pw_policy_use use;
            void *policy_state = policy_instance(&use, &pw_frame_family, policy, &environment);
            struct pw_page_table_config config = {.asid = 5,
                                                  .entry_stride = stride,
                                                  .frames = m->frames,
                                                  .policy = pw_frame_policy_of(policy),
                                                  .policy_state = policy_state};
            assert_int_equal(pw_page_table_create(&config, &m->table, &err), PW_OK);
            for (unsigned i = 0; i < 30000; i++) {
                step(m);
                if (i % 10000 == 0)
                    check_all(m);
            }
            check_all(m);
            assert_int_equal(pw_page_table_node_bytes(m->table),
                             (pw_frames_total(m->frames) - pw_frames_free(m->frames)) * PW_PAGE_BYTES);
            pw_page_table_destroy(m->table);
            assert_int_equal(pw_frames_free(m->frames), pw_frames_total(m->frames));
            pw_frames_destroy(m->frames);
            pw_policy_use_release(&use);
            free(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(page_tables_agree_with_a_flat_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
