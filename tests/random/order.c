/* Orders of eviction candidates under random arrivals, touches and departures, against a plain list that is sorted out
 * by hand: what is offered, from whichever number of reserved pages on, must be the naive sequence. */
#include "uvm/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 6, PAGES = BLOCKS * PW_BLOCK_PAGES };

/* Times of the last access (arrival or touch), of arrival, and whether a page was ever accessed. */
struct model {
    struct pw_order *order;
    enum pw_evict_order kind;
    bool resident[PAGES], accessed[PAGES];
    uint64_t touched[PAGES], leaf_time[PAGES / PW_LEAF_PAGES], block_time[BLOCKS], now;
    unsigned count;
    pw_page_id sequence[PAGES]; /* naive: all resident pages, oldest first */
};

static bool has_any(const struct model *m, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (m->resident[i])
            return true;
    return false;
}

/* Whether page a is offered before page b. */
static bool is_older(const struct model *m, pw_page_id a, pw_page_id b)
{
    if (m->kind == PW_ORDER_PAGES)
        return m->accessed[a] != m->accessed[b] ? m->accessed[a] : m->touched[a] < m->touched[b];
    if (a / PW_BLOCK_PAGES != b / PW_BLOCK_PAGES)
        return m->block_time[a / PW_BLOCK_PAGES] < m->block_time[b / PW_BLOCK_PAGES];
    if (a / PW_LEAF_PAGES != b / PW_LEAF_PAGES)
        return m->leaf_time[a / PW_LEAF_PAGES] < m->leaf_time[b / PW_LEAF_PAGES];
    return a < b;
}

static int compare(const void *a, const void *b, void *model)
{
    pw_page_id x = *(const pw_page_id *)a, y = *(const pw_page_id *)b;
    return x == y ? 0 : is_older(model, x, y) ? -1 : 1;
}

static void sort(struct model *m)
{
    m->count = 0;
    for (pw_page_id i = 0; i < PAGES; i++)
        if (m->resident[i])
            m->sequence[m->count++] = i;
    qsort_r(m->sequence, m->count, sizeof m->sequence[0], compare, m);
}

static bool holds(void *context, pw_page_id page)
{
    return ((const struct model *)context)->resident[page];
}

static void check(const struct model *m)
{
    struct pw_error err = {0};
    if (pw_order_check(m->order, holds, (void *)(uintptr_t)m, &err))
        fail_msg("%s", err.message);
}

static void arrive(struct model *m, pw_page_id page, bool accessed)
{
    bool by_arrival = m->kind == PW_ORDER_ARRIVAL;
    m->now++;
    if (!by_arrival || !has_any(m, page / PW_BLOCK_PAGES * PW_BLOCK_PAGES, PW_BLOCK_PAGES))
        m->block_time[page / PW_BLOCK_PAGES] = m->now;
    if (!by_arrival || !has_any(m, page / PW_LEAF_PAGES * PW_LEAF_PAGES, PW_LEAF_PAGES))
        m->leaf_time[page / PW_LEAF_PAGES] = m->now;
    m->touched[page] = m->now;
    m->resident[page] = true;
    m->accessed[page] = accessed;
    pw_order_arrive(m->order, page, accessed);
}

static void touch(struct model *m, pw_page_id page)
{
    m->now++;
    if (m->kind != PW_ORDER_ARRIVAL) {
        m->block_time[page / PW_BLOCK_PAGES] = m->leaf_time[page / PW_LEAF_PAGES] = m->now;
        m->touched[page] = m->now;
    }
    m->accessed[page] = true;
    pw_order_touch(m->order, page);
}

static void leave(struct model *m, pw_page_id page)
{
    m->resident[page] = false;
    pw_order_leave(m->order, page);
}

/* Everything that is offered behind so many reserved pages, or only the first few. */
static void compare_search(struct model *m, uint64_t reserved, unsigned at_most)
{
    sort(m);
    assert_int_equal(pw_order_pages(m->order), m->count);
    pw_order_start(m->order, reserved);
    pw_page_id last = PW_NO_PAGE;
    for (uint64_t i = reserved; i < m->count && at_most; i++) {
        pw_page_id expected = m->sequence[i];
        if (m->kind != PW_ORDER_PAGES && last != PW_NO_PAGE && expected / PW_LEAF_PAGES == last / PW_LEAF_PAGES)
            continue; /* one page of each leaf */
        assert_int_equal(pw_order_next(m->order), expected);
        last = expected;
        at_most--;
    }
    if (at_most)
        assert_int_equal(pw_order_next(m->order), PW_NO_PAGE);
}

static void start(struct model *m, enum pw_evict_order kind, struct pw_random *random)
{
    struct pw_error err = {0};
    memset(m, 0, sizeof *m);
    m->kind = kind;
    assert_int_equal(pw_order_create(kind, random, &m->order, &err), PW_OK);
    for (unsigned i = 1; i <= BLOCKS; i++)
        assert_int_equal(pw_order_extend(m->order, i * PW_BLOCK_PAGES, &err), PW_OK);
}

static pw_page_id pick(struct pw_random *random, unsigned spread)
{
    pw_page_id base = (pw_page_id)pw_random_below(random, BLOCKS) * PW_BLOCK_PAGES;
    return base + (pw_page_id)pw_random_below(random, spread);
}

static void run(enum pw_evict_order kind, uint64_t seed, unsigned spread, unsigned steps)
{
    struct model *m = malloc(sizeof *m);
    struct pw_random random;
    pw_random_init(&random, seed, "order");
    start(m, kind, NULL);
    for (unsigned i = 0; i < steps; i++) {
        /* Growing, then shrinking, then growing: blocks become empty and come back. */
        unsigned arrivals = i / 400 % 2 ? 15 : 45;
        pw_page_id page = pick(&random, spread);
        uint64_t what = pw_random_below(&random, 100);
        if (!m->resident[page] && what < arrivals)
            arrive(m, page, pw_random_below(&random, 2));
        else if (m->resident[page] && what < 60)
            touch(m, page);
        else if (m->resident[page])
            leave(m, page);
        if (what >= 95) {
            uint64_t reserved = pw_random_below(&random, pw_order_pages(m->order) + 3);
            compare_search(m, reserved, what == 99 ? PAGES : 5);
            check(m);
        }
    }
    compare_search(m, 0, PAGES);
    while (m->count) {
        compare_search(m, m->count / 3, 3);
        leave(m, m->sequence[m->count / 2]);
        check(m);
        sort(m);
    }
    assert_int_equal(pw_order_next((pw_order_start(m->order, 0), m->order)), PW_NO_PAGE);
    pw_order_destroy(m->order);
    free(m);
}

static void orders_offer_what_a_sorted_list_offers(void **state)
{
    (void)state;
    const enum pw_evict_order kinds[] = {PW_ORDER_PAGES, PW_ORDER_BLOCKS, PW_ORDER_ARRIVAL};
    for (unsigned k = 0; k < 3; k++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            run(kinds[k], seed, (unsigned[]){8, 40, PW_BLOCK_PAGES}[seed - 1], 4000);
}

/* A reserved share of the pages, as residency asks for it, from search to search. */
static void the_border_follows_a_reserved_share(void **state)
{
    (void)state;
    const enum pw_evict_order kinds[] = {PW_ORDER_PAGES, PW_ORDER_BLOCKS, PW_ORDER_ARRIVAL};
    struct model *m = malloc(sizeof *m);
    for (unsigned k = 0; k < 3; k++) {
        struct pw_random random;
        pw_random_init(&random, 9, "order");
        start(m, kinds[k], NULL);
        for (unsigned i = 0; i < 3000; i++) {
            pw_page_id page = pick(&random, 64);
            if (!m->resident[page]) {
                arrive(m, page, i % 4 != 0);
            } else {
                touch(m, page);
            }
            if (pw_order_pages(m->order) < 200)
                continue;
            uint64_t reserved = pw_order_pages(m->order) / 5;
            compare_search(m, reserved, 1);
            pw_order_start(m->order, reserved);
            leave(m, pw_order_next(m->order));
        }
        check(m);
        pw_order_destroy(m->order);
    }
    free(m);
}

static void random_offers_each_page_once_and_all_alike(void **state)
{
    (void)state;
    enum { RESIDENT = 100, ROUNDS = 20000 };
    struct model *m = malloc(sizeof *m);
    struct pw_random random;
    unsigned first[PAGES] = {0};
    pw_random_init(&random, 5, "order");
    start(m, PW_ORDER_RANDOM, &random);
    for (unsigned i = 0; i < 2 * RESIDENT; i++)
        arrive(m, i * 11, false);
    for (unsigned i = 0; i < RESIDENT; i++)
        leave(m, i * 22);
    check(m);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pw_order_start(m->order, 50);
        first[pw_order_next(m->order)]++;
    }
    for (unsigned i = 0; i < PAGES; i++)
        if (m->resident[i])
            assert_in_range(first[i], 140, 260); /* 200 expected, standard deviation 14 */
        else
            assert_int_equal(first[i], 0);
    bool offered[PAGES] = {false};
    pw_order_start(m->order, 0);
    for (unsigned i = 0; i < RESIDENT; i++) {
        pw_page_id page = pw_order_next(m->order);
        assert_true(m->resident[page] && !offered[page]);
        offered[page] = true;
    }
    assert_int_equal(pw_order_next(m->order), PW_NO_PAGE);
    check(m);
    pw_order_destroy(m->order);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_offer_what_a_sorted_list_offers),
        cmocka_unit_test(the_border_follows_a_reserved_share),
        cmocka_unit_test(random_offers_each_page_once_and_all_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
