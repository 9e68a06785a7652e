/* What every TLB organisation must hold to: a hit gives the frame the page table gives, never another address space's;
 * what is invalidated is gone; an array of 0 entries holds nothing. Beside the organisations that there are, one whose
 * entries cover several pages holds to it (toy_tlb.h). */
#include "toy_tlb.h"
#include "vm/page_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ASIDS = 3, PAGES = 2000 };

struct fixture {
    struct pw_frames *frames;
    struct pw_page_table *tables[ASIDS];
    const struct pw_page_table *by_asid[PW_MAX_APPS];
};

static const struct pw_tlb_shape SHAPES[] = {
    {.entries = 1, .ways = 1, .subpages = 1},    {.entries = 16, .ways = 4, .subpages = 1},
    {.entries = 512, .ways = 16, .subpages = 1}, {.entries = 64, .ways = 0, .subpages = 1},
    {.entries = 30, .ways = 3, .subpages = 1},   {.entries = 34, .ways = 17, .subpages = 1},
    {.entries = 8, .ways = 0, .subpages = 16},   {.entries = 64, .ways = 0, .subpages = 4},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

/* Those that there are, then the toy, then NULL. */
static const struct pw_tlb_policy *policy_at(unsigned index)
{
    unsigned count = 0;
    while (pw_tlb_family.policies[count])
        count++;
    if (index < count)
        return pw_tlb_policy_of(pw_tlb_family.policies[index]);
    return index == count ? &toy_tlb_policy : NULL;
}

/* How many pages an entry may hold for each of its subpages. */
static unsigned pages_under_a_tag(const struct pw_tlb_policy *policy)
{
    if (!strcmp(policy->head.name, "compressed"))
        return 2; /* by default */
    return policy->reads_lines ? PW_TLB_LINE_PAGES : 1;
}

static const enum pw_page_order ORDERS[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

/* Page i of address space a at this order lies at frame ((PAGES - i) * ASIDS + a) << order. */
static pw_pfn frame_of(unsigned asid, uint64_t page, enum pw_page_order order)
{
    return (pw_pfn){(uint32_t)((PAGES - page) * ASIDS + asid) << order};
}

static struct fixture create(enum pw_page_order order)
{
    struct fixture x = {0};
    struct pw_error err;
    assert_int_equal(pw_frames_create(64ULL << 20, &x.frames, &err), PW_OK);
    for (unsigned a = 0; a < ASIDS; a++) {
        struct pw_page_table_config config = {.asid = (pw_asid)a,
                                              .entry_stride = 8,
                                              .frames = x.frames,
                                              .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
        assert_int_equal(pw_page_table_create(&config, &x.tables[a], &err), PW_OK);
        x.by_asid[a] = x.tables[a];
        for (uint64_t i = 0; i < PAGES; i++)
            assert_int_equal(pw_page_table_map(x.tables[a], (pw_vpn){i << order}, frame_of(a, i, order), order, &err),
                             PW_OK);
    }
    return x;
}

static void destroy(struct fixture *x)
{
    for (unsigned a = 0; a < ASIDS; a++)
        pw_page_table_destroy(x->tables[a]);
    pw_frames_destroy(x->frames);
}

static void *create_tlb(const struct fixture *x, const struct pw_tlb_policy *policy, struct pw_tlb_shape shape,
                        enum pw_page_order order)
{
    struct pw_error err;
    void *t = NULL;
    shape.order = (uint8_t)order;
    shape.tables = x->by_asid;
    struct pw_policy_setup setup = {.options = policy_defaults(&policy->head), .environment = &shape};
    assert_int_equal(pw_policy_create(&policy->head, &setup, &t, &err), PW_OK);
    return t;
}

struct visited {
    const struct fixture *x;
    enum pw_page_order order;
    unsigned count;
};

static void check_entry(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    struct visited *v = context;
    assert_true(key.asid < ASIDS);
    struct pw_translation truth = pw_page_table_lookup(v->x->tables[key.asid], (pw_vpn){key.page << v->order});
    assert_true(truth.present && truth.order == v->order);
    assert_int_equal(truth.frame.v, frame.v);
    v->count++;
}

static unsigned check_entries(const struct fixture *x, const struct pw_tlb_policy *policy, void *t,
                              enum pw_page_order order)
{
    struct visited v = {x, order, 0};
    policy->each(t, check_entry, &v);
    return v.count;
}

/* One organisation in one shape for pages of one size. */
struct subject {
    const struct fixture *x;
    const struct pw_tlb_policy *policy;
    const struct pw_tlb_shape *shape;
    enum pw_page_order order;
    void *t;
};

static void check_all(void (*check)(const struct subject *subject))
{
    for (unsigned o = 0; o < 3; o++) {
        struct fixture x = create(ORDERS[o]);
        for (unsigned p = 0; policy_at(p); p++)
            for (unsigned s = 0; s < SHAPE_COUNT; s++) {
                struct subject subject = {&x, policy_at(p), &SHAPES[s], ORDERS[o], NULL};
                subject.t = create_tlb(&x, subject.policy, SHAPES[s], ORDERS[o]);
                check(&subject);
                pw_policy_destroy(subject.t);
            }
        destroy(&x);
    }
}

static void check_hits(const struct subject *x)
{
    struct pw_random random;
    unsigned hits = 0;
    pw_random_init(&random, x->shape->entries, "contract");
    for (unsigned i = 0; i < 20000; i++) {
        pw_asid asid = (pw_asid)pw_random_below(&random, ASIDS);
        uint64_t page = pw_random_below(&random, pw_random_below(&random, 2) ? PAGES : 8);
        struct pw_tlb_key key = {page, asid};
        pw_pfn frame = {0};
        bool hit = x->policy->lookup(x->t, key, &frame);
        if (hit)
            assert_int_equal(frame.v, frame_of(asid, page, x->order).v);
        else
            x->policy->insert(x->t, key, frame_of(asid, page, x->order), NULL);
        assert_true(x->policy->lookup(x->t, key, &frame));
        assert_int_equal(frame.v, frame_of(asid, page, x->order).v);
        hits += hit;
    }
    assert_true(hits > 0);
    assert_true(check_entries(x->x, x->policy, x->t, x->order) <=
                x->shape->entries * x->shape->subpages * pages_under_a_tag(x->policy));
}

/* Decides mosaic-sec31-asid and mask-sec3-multi-asid: the same page numbers in three address spaces never meet. */
static void a_hit_gives_the_page_tables_frame_of_its_own_address_space(void **state)
{
    (void)state;
    check_all(check_hits);
}

static void fill(const struct pw_tlb_policy *policy, void *t, enum pw_page_order order)
{
    for (uint64_t page = 0; page < PAGES; page++)
        for (unsigned a = 0; a < ASIDS; a++)
            policy->insert(t, (struct pw_tlb_key){page, (pw_asid)a}, frame_of(a, page, order), NULL);
}

static unsigned resident(const struct pw_tlb_policy *policy, void *t, pw_asid asid, uint64_t first, uint64_t outer)
{
    unsigned count = 0;
    pw_pfn frame;
    for (uint64_t page = first; page < outer; page++)
        count += policy->lookup(t, (struct pw_tlb_key){page, asid}, &frame);
    return count;
}

static void an_invalidated_range_is_gone_and_the_rest_stays(void **state)
{
    (void)state;
    const uint64_t ranges[][2] = {{PAGES - 5, PAGES - 4}, {PAGES - 20, PAGES}, {0, PAGES}, {PAGES - 3, UINT64_MAX}};
    for (unsigned p = 0; policy_at(p); p++)
        for (unsigned s = 0; s < SHAPE_COUNT; s++)
            for (unsigned r = 0; r < 4; r++) {
                const struct pw_tlb_policy *policy = policy_at(p);
                struct fixture x = create(PW_PAGE_4K);
                void *t = create_tlb(&x, policy, SHAPES[s], PW_PAGE_4K);
                fill(policy, t, PW_PAGE_4K);
                uint64_t first = ranges[r][0], outer = ranges[r][1] < PAGES ? ranges[r][1] : PAGES;
                unsigned inside = resident(policy, t, 1, first, outer), before = resident(policy, t, 1, 0, first);
                unsigned others = resident(policy, t, 0, 0, PAGES) + resident(policy, t, 2, 0, PAGES);
                unsigned stored = check_entries(&x, policy, t, PW_PAGE_4K);
                for (uint64_t page = first; page < outer; page++)
                    pw_page_table_unmap(x.tables[1], (pw_vpn){page});
                unsigned dropped = policy->invalidate(t, 1, first, ranges[r][1]);
                assert_int_equal(dropped, stored ? inside : 0);
                assert_int_equal(resident(policy, t, 1, first, outer), 0);
                assert_int_equal(resident(policy, t, 1, 0, first), before);
                assert_int_equal(resident(policy, t, 0, 0, PAGES) + resident(policy, t, 2, 0, PAGES), others);
                assert_int_equal(check_entries(&x, policy, t, PW_PAGE_4K), stored - dropped);
                assert_int_equal(policy->invalidate(t, 1, first, ranges[r][1]), 0);
                assert_int_equal(policy->invalidate(t, 0, 7, 7), 0);
                pw_policy_destroy(t);
                destroy(&x);
            }
}

static void an_array_of_no_entries_never_hits(void **state)
{
    (void)state;
    struct fixture x = create(PW_PAGE_4K);
    for (unsigned p = 0; policy_at(p); p++)
        for (uint32_t ways = 0; ways <= 16; ways += 16) {
            const struct pw_tlb_policy *policy = policy_at(p);
            void *t = create_tlb(&x, policy, (struct pw_tlb_shape){.ways = ways, .subpages = 1}, PW_PAGE_4K);
            fill(policy, t, PW_PAGE_4K);
            assert_int_equal(resident(policy, t, 0, 0, PAGES), 0);
            assert_int_equal(check_entries(&x, policy, t, PW_PAGE_4K), 0);
            assert_int_equal(policy->invalidate(t, 0, 0, UINT64_MAX), 0);
            assert_int_equal(policy->invalidate(t, 0, 5, 6), 0);
            pw_policy_destroy(t);
        }
    destroy(&x);
}

static void the_ideal_array_hits_every_mapped_page_of_its_size(void **state)
{
    (void)state;
    extern const struct pw_tlb_policy pw_tlb_policy_ideal;
    const struct pw_tlb_policy *ideal = &pw_tlb_policy_ideal;
    for (unsigned o = 0; o < 3; o++) {
        struct fixture x = create(ORDERS[o]);
        for (unsigned k = 0; k < 3; k++) {
            void *t = create_tlb(&x, ideal, SHAPES[0], ORDERS[k]);
            assert_int_equal(resident(ideal, t, 2, 0, (uint64_t)PAGES << ORDERS[o] >> ORDERS[k]), k == o ? PAGES : 0);
            pw_pfn frame;
            assert_false(ideal->lookup(t, (struct pw_tlb_key){PAGES, 2}, &frame));
            assert_false(ideal->lookup(t, (struct pw_tlb_key){0, ASIDS}, &frame));
            pw_policy_destroy(t);
        }
        destroy(&x);
    }
}

/* The entries of pages [first, first + 16), but for those whose number ends in 5. */
static struct pw_tlb_line line_of(unsigned asid, uint64_t first, enum pw_page_order order)
{
    struct pw_tlb_line line = {.first = first, .count = PW_TLB_LINE_PAGES};
    for (uint32_t i = 0; i < line.count; i++)
        if ((first + i) % 10 != 5) {
            line.present |= 1U << i;
            line.frames[i] = frame_of(asid, first + i, order);
        }
    return line;
}

static void check_lines(const struct subject *x)
{
    bool holds = false; /* what it is given, and does not ask the page table */
    for (uint64_t page = 0; page < PAGES; page += 7) {
        pw_asid asid = (pw_asid)(page % ASIDS);
        struct pw_tlb_key key = {page, asid};
        struct pw_tlb_line line = line_of(asid, page / 16 * 16, x->order);
        pw_pfn frame = {0};
        if (!(line.present >> page % 16 & 1))
            continue;
        x->policy->insert(x->t, key, frame_of(asid, page, x->order), &line);
        assert_true(x->policy->lookup(x->t, key, &frame));
        assert_int_equal(frame.v, frame_of(asid, page, x->order).v);
        holds = holds || check_entries(x->x, x->policy, x->t, x->order) > 0;
        for (uint64_t missing = 5; holds && missing < PAGES; missing += 10)
            assert_false(x->policy->lookup(x->t, (struct pw_tlb_key){missing, asid}, &frame));
    }
}

/* Whatever else goes in with a page comes from the line; the page itself is always there. */
static void a_line_of_the_page_table_fills_nothing_that_it_does_not_say(void **state)
{
    (void)state;
    check_all(check_lines);
}

static void a_line_of_the_page_table_fills_an_entry_of_several_pages(void **state)
{
    (void)state;
    struct fixture x = create(PW_PAGE_4K);
    void *t = create_tlb(&x, &toy_tlb_policy, SHAPES[0], PW_PAGE_4K);
    struct pw_tlb_line line = line_of(1, 16, PW_PAGE_4K);
    toy_insert(t, (struct pw_tlb_key){21, 1}, frame_of(1, 21, PW_PAGE_4K), NULL);
    assert_int_equal(resident(&toy_tlb_policy, t, 1, 0, PAGES), 1);
    toy_insert(t, (struct pw_tlb_key){26, 1}, frame_of(1, 26, PW_PAGE_4K), &line);
    assert_int_equal(resident(&toy_tlb_policy, t, 1, 0, PAGES), 3); /* 24, 26 and 27 */
    assert_int_equal(check_entries(&x, &toy_tlb_policy, t, PW_PAGE_4K), 3);
    assert_int_equal(toy_invalidate(t, 1, 20, 25), 1);
    assert_int_equal(resident(&toy_tlb_policy, t, 1, 26, 28), 2);
    pw_policy_destroy(t);
    destroy(&x);
}

static void every_organisation_has_a_name_and_a_summary(void **state)
{
    (void)state;
    for (unsigned p = 0; policy_at(p); p++) {
        assert_int_not_equal(policy_at(p)->head.name[0], 0);
        assert_int_not_equal(policy_at(p)->head.summary[0], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_gives_the_page_tables_frame_of_its_own_address_space),
        cmocka_unit_test(an_invalidated_range_is_gone_and_the_rest_stays),
        cmocka_unit_test(an_array_of_no_entries_never_hits),
        cmocka_unit_test(the_ideal_array_hits_every_mapped_page_of_its_size),
        cmocka_unit_test(a_line_of_the_page_table_fills_nothing_that_it_does_not_say),
        cmocka_unit_test(a_line_of_the_page_table_fills_an_entry_of_several_pages),
        cmocka_unit_test(every_organisation_has_a_name_and_a_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
