/* Reuse distances and pages over time against models that keep a list of pages and a table of touches. */
#include "exp/tools/page_slices.h"
#include "sim/random.h"
#include "sim/stack_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_PAGES = 3000, TOUCHES = 40000 };

/* The LRU stack itself, the page touched last first. */
struct stack {
    uint32_t pages[MAX_PAGES], count;
};

static uint64_t stack_touch(struct stack *s, uint32_t page)
{
    uint32_t depth = 0;
    while (depth < s->count && s->pages[depth] != page)
        depth++;
    uint64_t distance = depth < s->count ? depth : PW_FIRST_TOUCH;
    s->count += depth == s->count;
    memmove(&s->pages[1], &s->pages[0], depth * sizeof *s->pages);
    s->pages[0] = page;
    return distance;
}

/* Near, far, repeated and never seen pages; the number of pages grows while the list is in use. */
static uint32_t next_page(struct pw_random *r, uint32_t last, uint32_t pages)
{
    switch (pw_random_below(r, 4)) {
    case 0:
        return last;
    case 1:
        return (last + 1) % pages;
    case 2:
        return (uint32_t)pw_random_below(r, 16 < pages ? 16 : pages);
    default:
        return (uint32_t)pw_random_below(r, pages);
    }
}

static void distances_are_those_of_an_lru_stack(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {2, 3}, {17, 400}, {60, 60}, {1000, MAX_PAGES}};
    static struct stack model;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pw_random r;
        struct pw_stack_distance s = {0};
        struct pw_error err;
        uint32_t page = 0, pages = sizes[i][0];
        model.count = 0;
        pw_random_init(&r, i + 1, "stack distance");
        assert_int_equal(pw_stack_distance_extend(&s, pages, &err), PW_OK);
        for (uint32_t t = 0; t < TOUCHES; t++) {
            if (t == TOUCHES / 3) {
                pages = sizes[i][1];
                assert_int_equal(pw_stack_distance_extend(&s, pages, &err), PW_OK);
            }
            page = next_page(&r, page, pages);
            uint64_t expected = stack_touch(&model, page), distance = pw_stack_distance_touch(&s, page);
            if (distance != expected)
                fail_msg("size %zu, touch %u of page %u: distance %lld, not %lld", i, t, page, (long long)distance,
                         (long long)expected);
        }
        assert_int_equal(s.distinct, model.count);
        pw_stack_distance_release(&s);
    }
}

static void more_pages_than_stamps_can_number_are_a_user_error(void **state)
{
    (void)state;
    struct pw_stack_distance s = {0};
    struct pw_error err;
    assert_int_equal(pw_stack_distance_extend(&s, UINT64_C(1) << 31, &err), PW_USER_ERROR);
    pw_stack_distance_release(&s);
}

struct touch {
    uint64_t instruction;
    uint32_t page;
};

static void compare_slices(const struct pw_page_slices *s, unsigned count, const struct touch *touches, uint32_t pages)
{
    static bool seen[MAX_PAGES], in_slice[MAX_PAGES];
    memset(seen, 0, sizeof seen);
    uint32_t t = 0;
    for (unsigned slice = 0; slice < count; slice++) {
        uint64_t distinct = 0, first = 0;
        memset(in_slice, 0, pages);
        for (; t < TOUCHES && touches[t].instruction >> s->shift == slice; t++) {
            distinct += !in_slice[touches[t].page];
            first += !seen[touches[t].page];
            in_slice[touches[t].page] = seen[touches[t].page] = true;
        }
        assert_int_equal(pw_page_slices_distinct(s, slice), distinct);
        assert_int_equal(s->first_touches[slice], first);
    }
    assert_int_equal(t, TOUCHES);
}

static void slices_count_distinct_and_new_pages_however_often_they_were_merged(void **state)
{
    (void)state;
    static struct touch touches[TOUCHES];
    static const uint32_t steps[] = {1, 2, 50, 100000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct pw_random r;
        static struct pw_page_slices s;
        struct pw_error err;
        uint64_t now = 0;
        uint32_t page = 0, pages = 700;
        pw_random_init(&r, i + 1, "slices");
        assert_int_equal(pw_page_slices_extend(&s, pages, &err), PW_OK);
        for (uint32_t t = 0; t < TOUCHES; t++) {
            if (t == TOUCHES / 2) {
                pages = MAX_PAGES;
                assert_int_equal(pw_page_slices_extend(&s, pages, &err), PW_OK);
            }
            page = next_page(&r, page, pages);
            now += pw_random_below(&r, steps[i]);
            touches[t] = (struct touch){now, page};
            pw_page_slices_touch(&s, page, now);
        }
        uint64_t instructions = now + 1 + pw_random_below(&r, now + 1);
        unsigned count = pw_page_slices_finish(&s, instructions);
        assert_in_range(count, instructions < PW_PAGE_SLICES ? 1 : PW_PAGE_SLICES / 2 + 1, PW_PAGE_SLICES);
        assert_int_equal(count, (instructions + (UINT64_C(1) << s.shift) - 1) >> s.shift);
        compare_slices(&s, count, touches, pages);
        pw_page_slices_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_an_lru_stack),
        cmocka_unit_test(more_pages_than_stamps_can_number_are_a_user_error),
        cmocka_unit_test(slices_count_distinct_and_new_pages_however_often_they_were_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
