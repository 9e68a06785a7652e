/* The L1 TLB has one port: exact cycles of instructions that touch several pages. */
#include "timed.h"

/* Fetches the places listed in t->data, t->n[0] of them, then, if t->n[1], a line of each of so many pages in one
 * instruction; their lines are in different sets of the L1 cache. */
enum { NEXT_PAGE = (4 << 10) + PW_LINE_BYTES };

static void chain_and_pages_at_once(struct pw_warp *w, struct timed *t)
{
    timed_chain(w, t);
    if (!t->n[1])
        return;
    timed_load_lanes(w, t, 0, (uint32_t)t->n[1], NEXT_PAGE);
    pw_use(w);
}

static pw_cycle cost_of_pages_at_once(struct timed t, uint64_t pages)
{
    t.kernel = chain_and_pages_at_once;
    pw_cycle before = timed_cycles(t);
    t.n[1] = pages;
    return timed_cycles(t) - before;
}

/* mosaic-tab1-l1tlb-ports: the pages of an instruction are looked up in consecutive cycles. Hits of n pages are through
 * n - 1 cycles after one; a page that misses behind one that hits leaves for the L2 TLB one cycle later than alone. */
static void the_l1_tlb_has_one_port(void **state)
{
    (void)state;
    uint64_t all[] = {0, NEXT_PAGE, 2 * NEXT_PAGE, 3 * NEXT_PAGE};
    struct timed hits = {.data = all, .n = {4}};
    for (uint64_t pages = 1; pages <= 4; pages++)
        assert_int_equal(cost_of_pages_at_once(hits, pages), 1 + 1 + pages - 1);
    uint64_t first_is_out[] = {0, NEXT_PAGE}, second_is_out[] = {NEXT_PAGE, 0};
    struct timed alone = {.data = first_is_out, .n = {2}, .sets = {"l1_tlb.base_entries=1"}};
    assert_int_equal(cost_of_pages_at_once(alone, 1), 1 + 10 + 10 + 10 + 1);
    struct timed behind = {.data = second_is_out, .n = {2}, .sets = {"l1_tlb.base_entries=1"}};
    assert_int_equal(cost_of_pages_at_once(behind, 2), 1 + 1 + 10 + 10 + 10 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_l1_tlb_has_one_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
