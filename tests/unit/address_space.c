/* Allocations of an address space: when they get their frames, and that they give them back. */
#include "vm/address_space.h"
#include "policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MB = 1 << 20 };

struct world {
    struct pw_physical_memory physical;
    struct pw_address_space space;
    struct pw_page_counters counters;
    struct pw_touched touched;
    struct pw_error err;
};

static void set_up_with(struct world *w, uint64_t bytes, const char *frames)
{
    memset(w, 0, sizeof *w);
    struct pw_page_config config = {.entry_stride = 8, .frames = policy_choice(&pw_frame_family, frames)};
    assert_int_equal(pw_physical_memory_init(&w->physical, bytes, &config, 1, NULL, &w->err), PW_OK);
    assert_int_equal(pw_address_space_init(&w->space, 0, &config, &w->physical, &w->counters, &w->touched, &w->err),
                     PW_OK);
}

static void set_up(struct world *w, uint64_t bytes)
{
    set_up_with(w, bytes, "first-free");
}

static void tear_down(struct world *w)
{
    pw_vpn first, outer;
    pw_address_space_reset(&w->space, &first, &outer);
    pw_address_space_release(&w->space);
    assert_int_equal(pw_frames_free(w->physical.frames), pw_frames_total(w->physical.frames));
    pw_physical_memory_release(&w->physical);
}

static pw_vaddr allocate(struct world *w, const char *name, uint64_t bytes)
{
    pw_vaddr base;
    assert_int_equal(pw_address_space_allocate(&w->space, name, bytes, false, &base, &w->err), PW_OK);
    return base;
}

static enum pw_status back_all(struct world *w)
{
    unsigned failed;
    return pw_address_spaces_back(&w->space, 1, &failed, &w->err);
}

static struct pw_translation look_up(const struct world *w, pw_vaddr at)
{
    return pw_page_table_lookup(w->space.table, pw_vpn_of(at));
}

static void pages_get_their_frames_in_order_of_allocation(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 16 * MB);
    pw_vaddr a = allocate(&w, "a", 1 * MB), b = allocate(&w, "b", 1 * MB);
    assert_false(look_up(&w, a).present);
    assert_int_equal(back_all(&w), PW_OK);
    assert_true(look_up(&w, a).present && look_up(&w, b).present);
    assert_true(look_up(&w, a).frame.v < look_up(&w, b).frame.v);
    assert_int_equal(w.counters.mapped, 2 * MB);
    tear_down(&w);
}

static void what_is_prefetched_gets_its_frames_first(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 16 * MB);
    pw_vaddr a = allocate(&w, "a", 1 * MB), b = allocate(&w, "b", 1 * MB);
    assert_int_equal(pw_address_space_back(&w.space, b, &w.err), PW_OK);
    assert_true(look_up(&w, b).present);
    assert_false(look_up(&w, a).present);
    assert_int_equal(back_all(&w), PW_OK);
    assert_true(look_up(&w, b).frame.v < look_up(&w, a).frame.v);
    assert_int_equal(pw_address_space_back(&w.space, (pw_vaddr){4096}, &w.err), PW_FAILED);
    tear_down(&w);
}

static void too_much_is_the_users_mistake_and_names_the_allocation(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB);
    pw_vaddr base;
    assert_int_equal(pw_address_space_allocate(&w.space, "huge", 5 * MB, false, &base, &w.err), PW_USER_ERROR);
    assert_non_null(strstr(w.err.message, "'huge' of 5MB does not fit"));
    allocate(&w, "first", 3 * MB);
    allocate(&w, "second", 3 * MB);
    assert_int_equal(back_all(&w), PW_USER_ERROR);
    assert_non_null(strstr(w.err.message, "'second'"));
    tear_down(&w);
}

static void freed_memory_can_be_had_again(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 8 * MB);
    for (int round = 0; round < 20; round++) {
        pw_vpn first, outer;
        pw_vaddr a = allocate(&w, "a", 3 * MB), b = allocate(&w, "b", 3 * MB);
        assert_int_equal(back_all(&w), PW_OK);
        assert_int_equal(pw_address_space_free(&w.space, a, &first, &outer, &w.err), PW_OK);
        assert_int_equal(outer.v - first.v, 3 * MB / PW_PAGE_BYTES);
        assert_false(look_up(&w, a).present);
        assert_int_equal(pw_address_space_free(&w.space, a, &first, &outer, &w.err), PW_FAILED);
        assert_int_equal(pw_address_space_free(&w.space, b, &first, &outer, &w.err), PW_OK);
    }
    assert_int_equal(w.counters.allocated, 0);
    assert_int_equal(w.counters.allocated_peak, 6 * MB);
    tear_down(&w);
}

static void check(struct world *w)
{
    if (pw_address_spaces_check(&w->space, 1, &w->err) != PW_OK)
        fail_msg("%s", w->err.message);
}

static bool can_coalesce(const struct world *w, pw_vaddr base, uint64_t region)
{
    return pw_page_table_can_coalesce(w->space.table, (pw_vpn){pw_vpn_of(base).v + region * 512});
}

/* Decides mosaic-sec42-split-into-2m: 5 MiB and a byte are two whole regions; the half behind them and the page that
 * rounding adds share a frame with other odd pages. */
static void whole_regions_of_an_allocation_get_large_frames(void **state)
{
    (void)state;
    struct world w;
    set_up_with(&w, 16 * MB, "contiguity");
    pw_vaddr a = allocate(&w, "a", 5 * MB + 1), b = allocate(&w, "b", 2 * MB - PW_PAGE_BYTES),
             c = allocate(&w, "c", 2 * MB - 1);
    assert_int_equal(back_all(&w), PW_OK);
    assert_true(can_coalesce(&w, a, 0) && can_coalesce(&w, a, 1) && can_coalesce(&w, c, 0));
    assert_false(can_coalesce(&w, a, 2) || can_coalesce(&w, b, 0));
    /* 3 regions, 257 + 511 odd pages in 2 frames, and one frame of page tables. */
    assert_int_equal(w.counters.held_peak, 5 * 2 * MB);
    assert_int_equal(pw_frames_free_blocks(w.physical.frames), 2);
    assert_int_equal(w.counters.mapped, 9 * MB);
    assert_int_equal(w.physical.violations, 0);
    check(&w);
    tear_down(&w);
}

/* What rounding to a larger page adds to an allocation is not its own: its pages come as they come, not to their
 * places. */
static void rounding_makes_no_whole_region(void **state)
{
    (void)state;
    struct world w;
    set_up_with(&w, 16 * MB, "contiguity");
    w.space.order = PW_PAGE_64K;
    for (uint64_t missing = 0; missing < 3; missing++) {
        pw_vaddr a;
        uint64_t bytes = 2 * MB - missing * (PW_PAGE_BYTES - 1);
        assert_int_equal(pw_address_space_allocate(&w.space, "a", bytes, true, &a, &w.err), PW_OK);
        pw_vpn second = {pw_vpn_of(a).v + 16};
        assert_true(pw_address_space_map(&w.space, second));
        assert_int_equal(pw_page_table_lookup(w.space.table, second).frame.v % 512, missing < 2 ? 16 : 0);
        pw_address_space_unmap(&w.space, second);
    }
    check(&w);
    tear_down(&w);
}

static void memory_is_used_to_the_last_page_before_it_is_out(void **state)
{
    (void)state;
    struct world w;
    set_up_with(&w, 8 * MB, "contiguity");
    /* 4 frames: page tables want one, the rest of it is the last resort. Root, level 2, level 3 and 4 leaves: 7
     * pages. */
    uint64_t pages = 4 * 512 - 7;
    pw_vaddr a = allocate(&w, "a", pages * PW_PAGE_BYTES), b;
    assert_int_equal(back_all(&w), PW_OK);
    assert_int_equal(pw_frames_free(w.physical.frames), 0);
    assert_true(can_coalesce(&w, a, 0) && can_coalesce(&w, a, 2));
    check(&w);
    b = allocate(&w, "b", 1);
    assert_int_equal(back_all(&w), PW_USER_ERROR);
    assert_non_null(strstr(w.err.message, "'b' of 1B does not fit: 0B of the 8MB"));
    assert_false(look_up(&w, b).present);
    tear_down(&w);
}

static void pages_that_leave_and_come_back_get_their_places_again(void **state)
{
    (void)state;
    struct world w;
    set_up_with(&w, 8 * MB, "contiguity");
    pw_vaddr a, b;
    assert_int_equal(pw_address_space_allocate(&w.space, "a", 2 * MB, true, &a, &w.err), PW_OK);
    assert_int_equal(pw_address_space_allocate(&w.space, "b", 1 * MB, true, &b, &w.err), PW_OK);
    pw_vpn first = pw_vpn_of(a), odd = pw_vpn_of(b);
    for (uint64_t i = 0; i < 512; i++)
        assert_true(pw_address_space_map(&w.space, (pw_vpn){first.v + i}));
    for (uint64_t i = 0; i < 300; i++)
        pw_address_space_unmap(&w.space, (pw_vpn){first.v + i});
    for (uint64_t i = 0; i < 256; i++)
        assert_true(pw_address_space_map(&w.space, (pw_vpn){odd.v + i}));
    for (uint64_t i = 300; i-- > 0;)
        assert_true(pw_address_space_map(&w.space, (pw_vpn){first.v + i}));
    assert_true(can_coalesce(&w, a, 0));
    check(&w);
    for (uint64_t i = 0; i < 512; i++)
        pw_address_space_unmap(&w.space, (pw_vpn){first.v + i});
    for (uint64_t i = 0; i < 256; i++)
        pw_address_space_unmap(&w.space, (pw_vpn){odd.v + i});
    tear_down(&w);
}

static void parts_of_an_allocation_can_be_freed_once(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_frame_family.policies[p]; p++) {
        struct world w;
        set_up_with(&w, 16 * MB, pw_frame_family.policies[p]->name);
        pw_vaddr a = allocate(&w, "a", 3 * MB + 1), b = allocate(&w, "b", 1 * MB);
        pw_vpn first = pw_vpn_of(a), from, to;
        assert_int_equal(pw_address_space_free_part(&w.space, first, (pw_vpn){first.v + 1}, &w.err), PW_FAILED);
        assert_int_equal(back_all(&w), PW_OK);
        assert_int_equal(w.counters.allocated, 4 * MB + 1);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(
                pw_address_space_free_part(&w.space, (pw_vpn){first.v + 100}, (pw_vpn){first.v + 200}, &w.err), PW_OK);
            assert_int_equal(w.counters.allocated, 4 * MB + 1 - 100 * PW_PAGE_BYTES);
            assert_int_equal(w.counters.mapped, 4 * MB - 99 * PW_PAGE_BYTES);
        }
        /* The last page has one byte of the allocation. */
        assert_int_equal(pw_address_space_free_part(&w.space, (pw_vpn){first.v + 768}, (pw_vpn){first.v + 769}, &w.err),
                         PW_OK);
        assert_int_equal(w.counters.allocated, 4 * MB - 100 * PW_PAGE_BYTES);
        assert_true(look_up(&w, a).present && look_up(&w, b).present);
        assert_false(look_up(&w, (pw_vaddr){a.v + 150 * PW_PAGE_BYTES}).present);
        check(&w);
        assert_int_equal(pw_address_space_free_part(&w.space, (pw_vpn){first.v + 700}, (pw_vpn){first.v + 770}, &w.err),
                         PW_FAILED);
        assert_int_equal(pw_address_space_free_part(&w.space, (pw_vpn){first.v + 9}, (pw_vpn){first.v + 9}, &w.err),
                         PW_FAILED);
        assert_int_equal(pw_address_space_free(&w.space, a, &from, &to, &w.err), PW_OK);
        assert_int_equal(to.v - from.v, 769);
        assert_int_equal(w.counters.allocated, 1 * MB);
        assert_int_equal(w.counters.mapped, 1 * MB);
        check(&w);
        assert_int_equal(pw_address_space_free_part(&w.space, pw_vpn_of(b), (pw_vpn){pw_vpn_of(b).v + 1}, &w.err),
                         PW_OK);
        tear_down(&w);
        assert_int_equal(w.counters.allocated, 0);
    }
}

/* A second run that makes the same allocations gets them as they are, one after the other; one that was freed in the
 * middle is made anew between them. */
static void a_run_takes_up_what_the_run_before_has_left(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 16 * MB);
    pw_vpn first, outer;
    pw_vaddr a = allocate(&w, "a", 3 * MB), b = allocate(&w, "b", 1 * MB), c = allocate(&w, "c", 2 * MB), again;
    assert_int_equal(back_all(&w), PW_OK);
    pw_pfn frame = look_up(&w, c).frame;
    assert_int_equal(pw_address_space_free(&w.space, b, &first, &outer, &w.err), PW_OK);
    pw_address_space_start_over(&w.space);
    assert_false(pw_address_space_take_up(&w.space, "x", 3 * MB, &again));
    assert_false(pw_address_space_take_up(&w.space, "a", 3 * MB - 1, &again));
    assert_true(pw_address_space_take_up(&w.space, "a", 3 * MB, &again));
    assert_int_equal(again.v, a.v);
    assert_false(pw_address_space_take_up(&w.space, "b", 1 * MB, &again));
    assert_int_equal(allocate(&w, "b", 1 * MB).v, b.v);
    assert_int_equal(back_all(&w), PW_OK);
    assert_true(look_up(&w, b).present);
    assert_true(pw_address_space_take_up(&w.space, "c", 2 * MB, &again));
    assert_int_equal(again.v, c.v);
    assert_int_equal(look_up(&w, c).frame.v, frame.v);
    assert_false(pw_address_space_take_up(&w.space, "c", 2 * MB, &again));
    assert_int_equal(w.space.range_count, 3);
    assert_int_equal(w.counters.allocated, 6 * MB);
    assert_int_equal(w.counters.mapped, 6 * MB);
    check(&w);
    tear_down(&w);
}

/* Ranges begin at multiples of 2 MiB: up to there is room beside what is left. */
static void what_is_left_collides_with_larger_allocations(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 16 * MB);
    pw_vpn first, outer;
    pw_vaddr a = allocate(&w, "a", 3 * MB), again;
    allocate(&w, "b", 1 * MB);
    assert_int_equal(back_all(&w), PW_OK);
    pw_address_space_start_over(&w.space);
    assert_true(pw_address_space_collides(&w.space, 1)); /* a itself */
    assert_int_equal(pw_address_space_free(&w.space, a, &first, &outer, &w.err), PW_OK);
    assert_false(pw_address_space_collides(&w.space, 4 * MB));
    assert_true(pw_address_space_collides(&w.space, 4 * MB + 1));
    allocate(&w, "x", 1 * MB);
    assert_false(pw_address_space_collides(&w.space, 2 * MB));
    assert_true(pw_address_space_collides(&w.space, 2 * MB + 1));
    allocate(&w, "y", 2 * MB);
    assert_true(pw_address_space_take_up(&w.space, "b", 1 * MB, &again));
    assert_false(pw_address_space_collides(&w.space, 8 * MB));
    assert_int_equal(back_all(&w), PW_OK);
    assert_int_equal(w.counters.mapped, 4 * MB);
    check(&w);
    tear_down(&w);
}

/* All orders of four places: each page is found in its allocation, backed, touched, and given back. */
static void allocations_may_be_made_at_chosen_addresses_in_any_order(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 256; order++) {
        struct world w;
        unsigned made = 0;
        set_up(&w, 16 * MB);
        for (unsigned i = 0; i < 4; i++) {
            unsigned at = order >> 2 * i & 3;
            pw_vaddr base = {PW_FIRST_ADDRESS + (uint64_t)at * 3 * MB};
            char name[2] = {(char)('a' + at)};
            if (made >> at & 1)
                continue;
            made |= 1U << at;
            assert_int_equal(pw_address_space_allocate_at(&w.space, name, base, 1 * MB, false, &w.err), PW_OK);
            if (i % 2)
                assert_int_equal(back_all(&w), PW_OK);
        }
        assert_int_equal(back_all(&w), PW_OK);
        for (unsigned at = 0; at < 4; at++) {
            pw_vaddr page = {PW_FIRST_ADDRESS + (uint64_t)at * 3 * MB + 5 * PW_PAGE_BYTES};
            const struct pw_range *r = pw_address_space_around(&w.space, page);
            assert_int_equal(made >> at & 1, r != NULL);
            assert_int_equal(made >> at & 1, look_up(&w, page).present);
            assert_true(!r || (r->name[0] == (char)('a' + at) && r->mapped == r->outer));
            uint64_t bytes = w.touched.bytes;
            if (r)
                pw_touch(&w.touched, pw_vpn_of(page));
            assert_int_equal(w.touched.bytes, bytes + (r ? PW_PAGE_BYTES : 0));
        }
        check(&w);
        tear_down(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_get_their_frames_in_order_of_allocation),
        cmocka_unit_test(what_is_prefetched_gets_its_frames_first),
        cmocka_unit_test(too_much_is_the_users_mistake_and_names_the_allocation),
        cmocka_unit_test(freed_memory_can_be_had_again),
        cmocka_unit_test(whole_regions_of_an_allocation_get_large_frames),
        cmocka_unit_test(rounding_makes_no_whole_region),
        cmocka_unit_test(memory_is_used_to_the_last_page_before_it_is_out),
        cmocka_unit_test(pages_that_leave_and_come_back_get_their_places_again),
        cmocka_unit_test(parts_of_an_allocation_can_be_freed_once),
        cmocka_unit_test(a_run_takes_up_what_the_run_before_has_left),
        cmocka_unit_test(what_is_left_collides_with_larger_allocations),
        cmocka_unit_test(allocations_may_be_made_at_chosen_addresses_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
