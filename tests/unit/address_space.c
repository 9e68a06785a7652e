/* Allocations of an address space: when they get their frames, and that they give them back. */
#include "vm/address_space.h"

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

static void set_up(struct world *w, uint64_t bytes)
{
    memset(w, 0, sizeof *w);
    struct pw_page_config config = {.entry_stride = 8};
    assert_int_equal(pw_physical_memory_init(&w->physical, bytes, &config, 1, &w->err), PW_OK);
    assert_int_equal(pw_address_space_init(&w->space, 0, &config, &w->physical, &w->counters, &w->touched, &w->err),
                     PW_OK);
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
    struct pw_address_space *space = &w->space;
    unsigned failed;
    return pw_address_spaces_back(&space, 1, &failed, &w->err);
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
    assert_non_null(strstr(w.err.message, "'huge' of 5242880 bytes does not fit"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_get_their_frames_in_order_of_allocation),
        cmocka_unit_test(what_is_prefetched_gets_its_frames_first),
        cmocka_unit_test(too_much_is_the_users_mistake_and_names_the_allocation),
        cmocka_unit_test(freed_memory_can_be_had_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
