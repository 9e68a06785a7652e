/* The plain TLB organisation: shapes, the choice of a set, LRU, sectors, invalidation. */
#include "policies.h"
#include "policy/tlb/tlb_policy.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct pw_tlb_policy pw_tlb_policy_plain;
static const struct pw_tlb_policy *const plain = &pw_tlb_policy_plain;

static void *create(uint32_t entries, uint32_t ways, uint32_t subpages)
{
    struct pw_tlb_shape shape = {.entries = entries, .ways = ways, .subpages = subpages};
    struct pw_error err;
    void *t = NULL;
    assert_int_equal(
        pw_policy_create(&plain->head,
                         &(struct pw_policy_setup){.options = policy_defaults(&plain->head), .environment = &shape}, &t,
                         &err),
        PW_OK);
    return t;
}

static void insert(void *t, uint64_t page)
{
    plain->insert(t, (struct pw_tlb_key){page, 0}, (pw_pfn){(uint32_t)page + 7}, NULL);
}

static bool hits(void *t, uint64_t page)
{
    pw_pfn frame;
    bool hit = plain->lookup(t, (struct pw_tlb_key){page, 0}, &frame);
    if (hit)
        assert_int_equal(frame.v, (uint32_t)page + 7);
    return hit;
}

/* How many other pages of its set it takes to replace a page: as many as the set has ways. */
static unsigned conflicts_until_replaced(void *t, uint64_t page, uint64_t distance)
{
    for (unsigned conflicts = 1; conflicts <= 1000; conflicts++) {
        plain->invalidate(t, 0, 0, UINT64_MAX);
        for (unsigned k = 0; k <= conflicts; k++)
            insert(t, page + k * distance);
        if (!hits(t, page))
            return conflicts;
    }
    return 0;
}

/* Decides comp-tab3-l2tlb-sets, comp-fig2-index and comp-sec22-lookup: 512 entries in 16 ways are 32 sets, chosen by
 * the low 5 bits. */
static void as_many_pages_as_ways_live_in_a_set_chosen_by_the_low_bits(void **state)
{
    (void)state;
    const struct {
        uint32_t entries, ways, sets;
    } shapes[] = {{512, 16, 32}, {32, 4, 8}, {64, 0, 1}, {16, 0, 1},    {17, 0, 1},     {96, 3, 32},
                  {30, 3, 10},   {7, 1, 7},  {1, 1, 1},  {340, 34, 10}, {1536, 12, 128}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        uint32_t ways = shapes[i].ways ? shapes[i].ways : shapes[i].entries;
        void *t = create(shapes[i].entries, shapes[i].ways, 1);
        assert_int_equal(conflicts_until_replaced(t, 0x123456789, shapes[i].sets), ways);
        plain->invalidate(t, 0, 0, UINT64_MAX);
        for (uint32_t page = 0; page < shapes[i].entries; page++)
            insert(t, 0xfffff0000 + page);
        for (uint32_t page = 0; page < shapes[i].entries; page++)
            assert_true(hits(t, 0xfffff0000 + page));
        pw_policy_destroy(t);
    }
}

/* Decides mask-sec3-tlb-lru, mask-tab1-l1tlb-repl and mask-tab1-l2tlb-repl. */
static void the_least_recently_used_goes_first(void **state)
{
    (void)state;
    const uint32_t sizes[] = {2, 3, 16, 17, 64};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t n = sizes[i];
        void *t = create(n, 0, 1);
        for (uint32_t page = 0; page < n; page++)
            insert(t, page);
        assert_true(hits(t, 0));
        insert(t, 1); /* refreshed, not doubled */
        insert(t, 100);
        if (n > 2)
            assert_false(hits(t, 2));
        else
            assert_false(hits(t, 0));
        assert_true(hits(t, 1));
        assert_true(hits(t, 100));
        pw_policy_destroy(t);
    }
}

static void one_tag_covers_its_subpages_each_with_its_own_frame(void **state)
{
    (void)state;
    const uint32_t shapes[][2] = {{2, 0}, {32, 0}, {4, 2}};
    for (unsigned i = 0; i < 3; i++) {
        void *t = create(shapes[i][0], shapes[i][1], 16);
        insert(t, 35);
        assert_true(hits(t, 35));
        assert_false(hits(t, 34));
        for (uint64_t page = 32; page < 48; page++)
            insert(t, page);
        for (uint64_t page = 32; page < 48; page++)
            assert_true(hits(t, page));
        assert_false(hits(t, 31));
        assert_false(hits(t, 48));
        assert_int_equal(plain->invalidate(t, 0, 30, 34), 2);
        assert_false(hits(t, 33));
        assert_true(hits(t, 34));
        for (uint64_t block = 1; block <= shapes[i][0]; block++)
            insert(t, 32 + 4096 * block);
        assert_false(hits(t, 40));
        insert(t, 32);
        assert_true(hits(t, 32));
        assert_false(hits(t, 40));
        pw_policy_destroy(t);
    }
}

static void an_invalidated_way_is_filled_before_anything_is_replaced(void **state)
{
    (void)state;
    const uint32_t sizes[] = {4, 16, 20};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t n = sizes[i];
        for (uint32_t hole = 0; hole < n; hole++) {
            void *t = create(n, 0, 1);
            for (uint32_t page = 0; page < n; page++)
                insert(t, page);
            assert_int_equal(plain->invalidate(t, 0, hole, hole + 1), 1);
            assert_false(hits(t, hole));
            insert(t, 1000);
            for (uint32_t page = 0; page < n; page++)
                assert_true(hits(t, page) == (page != hole));
            assert_true(hits(t, 1000));
            pw_policy_destroy(t);
        }
    }
}

static void shapes_that_cannot_be_built_are_the_users_mistake(void **state)
{
    (void)state;
    const struct pw_tlb_shape wrong[] = {
        {.entries = 100, .ways = 16, .subpages = 1}, {.entries = 8, .ways = 16, .subpages = 1},
        {.entries = 8, .ways = 2, .subpages = 0},    {.entries = 8, .ways = 2, .subpages = 3},
        {.entries = UINT32_MAX, .subpages = 1},      {.entries = 1U << 28, .subpages = 4096},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pw_error err = {0};
        void *t = NULL;
        assert_int_equal(pw_policy_create(&plain->head,
                                          &(struct pw_policy_setup){.options = policy_defaults(&plain->head),
                                                                    .environment = &wrong[i]},
                                          &t, &err),
                         PW_USER_ERROR);
        assert_int_not_equal(err.message[0], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_pages_as_ways_live_in_a_set_chosen_by_the_low_bits),
        cmocka_unit_test(the_least_recently_used_goes_first),
        cmocka_unit_test(one_tag_covers_its_subpages_each_with_its_own_frame),
        cmocka_unit_test(an_invalidated_way_is_filled_before_anything_is_replaced),
        cmocka_unit_test(shapes_that_cannot_be_built_are_the_users_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
