/* The tag store under random operations, against one plain list per set from the most to the least recently used. */
#include "mem/cache.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LINES = 600, STEPS = 40000 };

struct entry {
    uint32_t line;
    uint8_t valid, dirty;
};

struct model {
    uint32_t sets, ways;
    uint32_t first, span;  /* lines [first, first + span) are used */
    bool indexed_by_group; /* the set follows from line / 3, as in a slice that gets every third line */
    uint32_t counts[MAX_LINES];
    struct entry lists[MAX_LINES]; /* ways per set */
};

static uint32_t index_of(const struct model *m, uint32_t line)
{
    return m->indexed_by_group ? line / 3 : line;
}

static uint32_t set_of(const struct model *m, uint32_t line)
{
    return index_of(m, line) % m->sets;
}

static struct entry *find(struct model *m, uint32_t line)
{
    uint32_t set = set_of(m, line);
    for (uint32_t i = 0; i < m->counts[set]; i++)
        if (m->lists[set * m->ways + i].line == line)
            return &m->lists[set * m->ways + i];
    return NULL;
}

static void move_to_front(struct model *m, struct entry *e)
{
    struct entry *list = &m->lists[set_of(m, e->line) * m->ways], moved = *e;
    memmove(list + 1, list, (size_t)(e - list) * sizeof(*e));
    list[0] = moved;
}

static void naive_drop(struct model *m, struct entry *e)
{
    uint32_t set = set_of(m, e->line);
    struct entry *outer = &m->lists[set * m->ways + m->counts[set]--];
    memmove(e, e + 1, (size_t)(outer - e - 1) * sizeof(*e));
}

static struct pw_victim naive_replace(struct model *m, uint32_t line)
{
    uint32_t set = set_of(m, line);
    struct pw_victim victim = {PW_NO_LINE, 0};
    if (m->counts[set] < m->ways)
        m->counts[set]++;
    struct entry *e = &m->lists[set * m->ways + m->counts[set] - 1];
    if (e->line != PW_NO_LINE)
        victim = (struct pw_victim){e->line, e->dirty};
    *e = (struct entry){.line = line};
    move_to_front(m, e);
    return victim;
}

/* Ways behind the last one in use say so, for naive_replace. */
static void mark_unused(struct model *m)
{
    for (uint32_t set = 0; set < m->sets; set++)
        for (uint32_t i = m->counts[set]; i < m->ways; i++)
            m->lists[set * m->ways + i] = (struct entry){.line = PW_NO_LINE};
}

static void check_line(const struct pw_cache *c, struct model *m, uint32_t line)
{
    struct entry *e = find(m, line);
    struct pw_way w = pw_cache_find(c, line, index_of(m, line));
    assert_int_equal(w.at >= 0, e != NULL);
    if (!e)
        return;
    assert_int_equal(pw_way_valid(w), e->valid);
    assert_int_equal(pw_way_dirty(w), e->dirty);
}

static void access_line(struct pw_cache *c, struct model *m, struct pw_random *r, uint32_t line)
{
    struct pw_way w = pw_cache_find(c, line, index_of(m, line));
    uint8_t sectors = (uint8_t)pw_random_below(r, PW_ALL_SECTORS + 1);
    bool writes = pw_random_below(r, 3) == 0;
    struct entry *e = find(m, line);
    if (e) {
        w = pw_way_use(w);
        move_to_front(m, e);
    } else {
        struct pw_victim got, expected = naive_replace(m, line);
        w = pw_cache_replace(c, w, line, &got);
        assert_int_equal(got.line, expected.line);
        assert_int_equal(got.dirty, expected.dirty);
        assert_int_equal(pw_way_valid(w), 0);
        assert_int_equal(pw_way_dirty(w), 0);
    }
    e = find(m, line);
    if (writes) {
        pw_way_set_dirty(w, sectors);
        e->dirty |= sectors;
    } else {
        pw_way_set_valid(w, sectors);
        e->valid |= sectors;
    }
    check_line(c, m, line);
}

static void step(struct pw_cache *c, struct model *m, struct pw_random *r)
{
    uint32_t line = m->first + (uint32_t)pw_random_below(r, m->span);
    uint64_t what = pw_random_below(r, 10000);
    check_line(c, m, line);
    if (what < 8500) {
        access_line(c, m, r, line);
    } else if (what < 9998) {
        struct entry *e = find(m, line);
        if (e) {
            pw_cache_drop(c, pw_cache_find(c, line, index_of(m, line)));
            naive_drop(m, e);
            mark_unused(m);
        }
        check_line(c, m, line);
    } else {
        pw_cache_clear(c);
        memset(m->counts, 0, sizeof(m->counts));
        mark_unused(m);
    }
}

static void run(uint32_t lines, uint32_t ways, uint32_t first, bool indexed_by_group)
{
    struct model *m = calloc(1, sizeof(*m));
    struct pw_cache c;
    struct pw_error err;
    struct pw_random r;
    *m = (struct model){.sets = lines / ways, .ways = ways, .first = first, .indexed_by_group = indexed_by_group};
    m->span = lines * 3 / 2 + 2;
    mark_unused(m);
    pw_random_init(&r, lines * 31 + ways, "cache");
    assert_int_equal(pw_cache_init(&c, "test", lines, ways, &err), PW_OK);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&c, m, &r);
        if (i % 4000 == 0 || i == STEPS - 1)
            for (uint32_t k = 0; k < m->span; k++)
                check_line(&c, m, m->first + k);
    }
    pw_cache_release(&c);
    free(m);
}

/* mosaic-tab1-l1-repl, mosaic-tab1-l2-repl, mask-tab1-l1-repl, mask-tab1-l2-repl: the L1s and the L2 slices both keep
 * their lines in it. */
static void contents_victims_and_states_agree_with_an_lru_list_per_set(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1},   {7, 1},    {2, 2},   {3, 3},   {10, 3},  {4, 4},    {64, 4},
                                         {35, 5},  {21, 7},   {17, 17}, {96, 16}, {31, 16}, {100, 16}, {120, 24},
                                         {33, 33}, {513, 27}, {512, 8}, {600, 4}, {64, 64}, {600, 24}};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        run(shapes[i][0], shapes[i][1], i % 2 ? UINT32_MAX - 1000 : 0, false);
        run(shapes[i][0], shapes[i][1], 1U << 31, true);
    }
    for (uint32_t ways = 1; ways <= 40; ways++)
        run(5 * ways, ways, 0, false);
}

static void capacity_is_rounded_down_to_whole_sets(void **state)
{
    (void)state;
    static const struct {
        uint64_t lines;
        uint32_t ways, held;
    } rows[] = {{1, 1, 1}, {16, 16, 16}, {31, 16, 16}, {32, 16, 32}, {100, 16, 96}, {100, 3, 99}, {1000, 7, 994}};
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pw_cache c;
        struct pw_error err;
        struct pw_victim victim;
        uint32_t held = 0;
        assert_int_equal(pw_cache_init(&c, "test", rows[i].lines, rows[i].ways, &err), PW_OK);
        for (uint32_t line = 0; line < 3000; line++)
            pw_cache_replace(&c, pw_cache_find(&c, line, line), line, &victim);
        for (uint32_t line = 0; line < 3000; line++)
            held += pw_cache_find(&c, line, line).at >= 0;
        assert_int_equal(held, rows[i].held);
        pw_cache_release(&c);
    }
}

static void impossible_sizes_are_user_errors_that_name_the_cache(void **state)
{
    (void)state;
    static const struct {
        uint64_t lines;
        uint32_t ways;
    } rows[] = {{0, 1},          {0, 0},           {16, 0},         {15, 16},
                {1, UINT32_MAX}, {1ULL << 32, 16}, {1ULL << 40, 1}, {(1ULL << 30) + 1, 1}};
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pw_cache c;
        struct pw_error err = {0};
        assert_int_equal(pw_cache_init(&c, "l2", rows[i].lines, rows[i].ways, &err), PW_USER_ERROR);
        assert_ptr_equal(strstr(err.message, "l2"), err.message);
        pw_cache_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_victims_and_states_agree_with_an_lru_list_per_set),
        cmocka_unit_test(capacity_is_rounded_down_to_whole_sets),
        cmocka_unit_test(impossible_sizes_are_user_errors_that_name_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
