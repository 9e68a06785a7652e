/* Regions under random map, unmap, coalesce, splinter, move and disable, against an array of pages per region. */
#include "sim/random.h"
#include "vm/page_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REGIONS = 6, PAGES = 512, STEPS = 60000 };

/* frames: + 1, of 4 KiB pages; large: the first frame of the large page. */
struct region {
    uint32_t frames[PAGES];
    bool disabled[PAGES];
    bool is_large, is_native; /* native: mapped as a page of 2 MiB */
    uint32_t large;
};

struct model {
    struct pw_frames *frames;
    struct pw_page_table *table;
    struct pw_random random;
    struct region regions[REGIONS];
    uint64_t coalesced, visited;
};

static pw_vpn vpn_of(unsigned region, unsigned page)
{
    static const uint64_t places[REGIONS] = {0, 1, 511, 512, 1 << 20, (1 << 27) - 1};
    return (pw_vpn){places[region] << 9 | page};
}

static unsigned count_present(const struct region *r)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PAGES; i++)
        n += r->frames[i] != 0;
    return n;
}

static bool naive_can_coalesce(const struct region *r)
{
    if (r->is_native || r->is_large || count_present(r) < PAGES || (r->frames[0] - 1) % PAGES)
        return false;
    for (unsigned i = 0; i < PAGES; i++)
        if (r->frames[i] != r->frames[0] + i)
            return false;
    return true;
}

static void try_map(struct model *m, unsigned region, unsigned page, uint32_t frame)
{
    struct region *r = &m->regions[region];
    bool possible = !r->is_native && !r->frames[page] && (!r->is_large || frame == r->large + page);
    struct pw_error err;
    assert_int_equal(pw_page_table_map(m->table, vpn_of(region, page), (pw_pfn){frame}, PW_PAGE_4K, &err),
                     possible ? PW_OK : PW_FAILED);
    if (possible)
        r->frames[page] = frame + 1;
}

static void try_map_large(struct model *m, unsigned region, uint32_t frame)
{
    struct region *r = &m->regions[region];
    bool possible = !r->is_native && !count_present(r);
    struct pw_error err;
    assert_int_equal(pw_page_table_map(m->table, vpn_of(region, 0), (pw_pfn){frame}, PW_PAGE_2M, &err),
                     possible ? PW_OK : PW_FAILED);
    if (!possible)
        return;
    r->is_native = true;
    r->large = frame;
}

static void unmap(struct model *m, unsigned region, unsigned page)
{
    struct region *r = &m->regions[region];
    struct pw_translation was = pw_page_table_unmap(m->table, vpn_of(region, page));
    if (r->is_native) {
        assert_true(was.present && was.order == PW_PAGE_2M && was.frame.v == r->large + page);
        r->is_native = false;
        return;
    }
    assert_int_equal(was.present, r->frames[page] != 0);
    if (!was.present)
        return;
    assert_int_equal(was.order, PW_PAGE_4K);
    assert_int_equal(was.frame.v, r->frames[page] - 1);
    r->frames[page] = 0;
    if (!count_present(r)) {
        r->is_large = false;
        memset(r->disabled, 0, sizeof r->disabled);
    }
}

static void set_disabled(struct model *m, unsigned region, unsigned page)
{
    struct region *r = &m->regions[region];
    unsigned count = (unsigned)pw_random_below(&m->random, PAGES - page + 1);
    bool on = pw_random_below(&m->random, 2);
    pw_page_table_set_disabled(m->table, vpn_of(region, page), count, on);
    if (count_present(r))
        memset(r->disabled + page, on, count);
}

static void toggle_large(struct model *m, unsigned region)
{
    struct region *r = &m->regions[region];
    pw_vpn vpn = vpn_of(region, (unsigned)pw_random_below(&m->random, PAGES));
    bool possible = naive_can_coalesce(r);
    assert_int_equal(pw_page_table_can_coalesce(m->table, vpn), possible);
    if (!possible && !r->is_large)
        return;
    pw_page_table_set_large(m->table, vpn, possible);
    r->is_large = possible;
    if (possible)
        r->large = r->frames[0] - 1;
    m->coalesced += possible;
}

/* Empties a region, or fills it from end to end with consecutive frames, so that many can be coalesced. */
static void fill_or_empty(struct model *m, unsigned region)
{
    const struct region *r = &m->regions[region];
    uint32_t first = r->is_large ? r->large : (uint32_t)pw_random_below(&m->random, 2000) * (PAGES / 2);
    bool fill = pw_random_below(&m->random, 3);
    if (fill && !r->is_large)
        for (unsigned i = 0; i < PAGES; i++)
            unmap(m, region, i);
    for (unsigned i = 0; i < PAGES; i++)
        if (!fill)
            unmap(m, region, i);
        else if (!r->frames[i])
            try_map(m, region, i, first + i);
    if (pw_random_below(&m->random, 2))
        toggle_large(m, region);
}

static void move(struct model *m, unsigned region, unsigned page)
{
    struct region *r = &m->regions[region];
    if (r->is_native || r->is_large || !r->frames[page])
        return;
    uint32_t frame = (uint32_t)pw_random_below(&m->random, 1 << 20);
    assert_int_equal(pw_page_table_move(m->table, vpn_of(region, page), (pw_pfn){frame}).v, r->frames[page] - 1);
    r->frames[page] = frame + 1;
}

static void step(struct model *m)
{
    unsigned region = (unsigned)pw_random_below(&m->random, REGIONS);
    unsigned page = (unsigned)pw_random_below(&m->random, PAGES);
    const struct region *r = &m->regions[region];
    uint64_t what = pw_random_below(&m->random, 100);
    if (what < 2)
        fill_or_empty(m, region);
    else if (what < 3)
        try_map_large(m, region, (uint32_t)pw_random_below(&m->random, 2000) * PAGES);
    else if (what < 10)
        toggle_large(m, region);
    else if (what < 13)
        move(m, region, page);
    else if (what < 30)
        set_disabled(m, region, page);
    else if (what < 60)
        unmap(m, region, page);
    else if (what < 90) /* where the large page has it, if there is one */
        try_map(m, region, page, (r->is_large ? r->large : 4 * PAGES) + page);
    else
        try_map(m, region, page, (uint32_t)pw_random_below(&m->random, 1 << 20));
}

static void check_walk(struct model *m, unsigned region, unsigned page)
{
    const struct region *r = &m->regions[region];
    pw_vpn vpn = vpn_of(region, page);
    pw_paddr reads[PW_TABLE_LEVELS];
    unsigned count = pw_page_table_walk(m->table, vpn, reads, NULL);
    if (r->is_native)
        assert_int_equal(count, 3);
    if (!count_present(r))
        return;
    assert_int_equal(count, 4);
    assert_int_equal(reads[2].v, pw_page_table_entry(m->table, vpn, 3).v);
    assert_int_equal(reads[3].v, pw_page_table_entry(m->table, r->is_large ? vpn_of(region, 0) : vpn, 4).v);
}

static void check_page(struct model *m, unsigned region, unsigned page)
{
    const struct region *r = &m->regions[region];
    struct pw_translation found = pw_page_table_lookup(m->table, vpn_of(region, page));
    bool large = r->is_native || r->is_large;
    assert_int_equal(found.present, large || r->frames[page]);
    if (found.present) {
        assert_int_equal(found.order, large ? PW_PAGE_2M : PW_PAGE_4K);
        assert_int_equal(found.frame.v, large ? r->large + page : r->frames[page] - 1);
    }
    pw_pfn frame = {0};
    assert_int_equal(pw_page_table_has_base(m->table, vpn_of(region, page), &frame), r->frames[page] != 0);
    if (r->frames[page])
        assert_int_equal(frame.v, r->frames[page] - 1);
}

static void visit(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    struct model *m = context;
    struct pw_translation found = pw_page_table_lookup(m->table, vpn);
    assert_true(found.present && found.frame.v == frame.v);
    m->visited += 1ULL << order;
}

static void check_all(struct model *m)
{
    uint64_t mapped = 0;
    for (unsigned k = 0; k < REGIONS; k++) {
        const struct region *r = &m->regions[k];
        unsigned disabled = 0;
        for (unsigned page = 0; page < PAGES; page++) {
            check_page(m, k, page);
            disabled += r->disabled[page];
        }
        check_walk(m, k, (unsigned)pw_random_below(&m->random, PAGES));
        assert_int_equal(pw_page_table_is_large(m->table, vpn_of(k, 3)), r->is_large);
        assert_int_equal(pw_page_table_disabled(m->table, vpn_of(k, 4)), disabled);
        assert_int_equal(pw_page_table_present(m->table, vpn_of(k, 5)), count_present(r));
        mapped += r->is_native ? PAGES : count_present(r);
    }
    assert_int_equal(pw_page_table_mapped_pages(m->table), mapped);
    m->visited = 0;
    pw_page_table_each(m->table, visit, m);
    assert_int_equal(m->visited, mapped);
}

/* Decides mosaic-sec43-no-extra-storage too: the table never takes more than a leaf for each region. */
static void regions_agree_with_arrays_of_pages(void **state)
{
    (void)state;
    for (uint32_t stride = 8; stride <= 128; stride *= 4) {
        struct model *m = calloc(1, sizeof *m);
        struct pw_error err = {0};
        pw_random_init(&m->random, stride, "coalesced regions");
        assert_int_equal(pw_frames_create(32ULL << 20, &m->frames, &err), PW_OK);
        struct pw_page_table_config config = {.asid = 5,
                                              .entry_stride = stride,
                                              .frames = m->frames,
                                              .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
        assert_int_equal(pw_page_table_create(&config, &m->table, &err), PW_OK);
        for (unsigned i = 0; i < STEPS; i++) {
            step(m);
            if (i % 200 == 0)
                check_all(m);
        }
        check_all(m);
        assert_true(m->coalesced > 100);
        uint64_t nodes = 1 + 3 + 4 + REGIONS, chunk = stride == 8 ? 4096 : 65536;
        assert_true(pw_page_table_node_bytes(m->table) <= (nodes * PAGES * stride + chunk - 1) / chunk * chunk);
        pw_page_table_destroy(m->table);
        assert_int_equal(pw_frames_free(m->frames), pw_frames_total(m->frames));
        pw_frames_destroy(m->frames);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions_agree_with_arrays_of_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
