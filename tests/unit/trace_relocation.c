/* The places of a trace's allocations in a replay: groups of those that share a piece of 2 MiB while both are alive,
 * and the search for the allocation of an address, against a naive model. */
#include "sim/random.h"
#include "workload/trace/relocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MB UINT64_C(0x100000)

static struct pw_trace_event alloc(uint32_t number, uint64_t address, uint64_t bytes)
{
    return (struct pw_trace_event){
        .kind = PW_TRACE_ALLOC, .allocation = number, .address = address, .bytes = bytes, .name = ""};
}

static struct pw_trace_event release(uint32_t number, uint64_t address)
{
    return (struct pw_trace_event){.kind = PW_TRACE_FREE, .allocation = number, .address = address, .name = ""};
}

static void allocations_that_share_a_piece_move_together(void **state)
{
    (void)state;
    const struct pw_trace_event events[] = {
        alloc(0, 10 * MB, 4096),   /* pieces begin at even numbers of MiB */
        alloc(1, 12 * MB, 2 * MB), /* a piece of its own */
        alloc(2, 11 * MB, 4096),   /* with 0 */
        alloc(3, 15 * MB, 4 * MB), /* ends in the piece of the next */
        alloc(4, 19 * MB, 4096),   /* with 3 */
        alloc(5, 30 * MB + 5, 1),  /* alone, and not at the beginning of its piece */
    };
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, events, 6, &err), PW_OK);
    assert_int_equal(r.group_count, 4);
    const uint32_t groups[] = {0, 1, 0, 2, 2, 3};
    assert_memory_equal(r.group_of, groups, sizeof groups);
    assert_int_equal(r.groups[0].first, 10 * MB);
    assert_int_equal(r.groups[0].outer, 11 * MB + 4096);
    assert_int_equal(r.groups[0].members, 2);
    assert_int_equal(r.groups[2].first, 14 * MB);
    assert_int_equal(r.groups[3].first, 30 * MB);
    assert_int_equal(r.groups[3].outer, 30 * MB + 6);
    pw_relocation_release(&r);
}

static void an_allocation_joins_what_is_above_it(void **state)
{
    (void)state;
    const struct pw_trace_event events[] = {alloc(0, 13 * MB, 4096), alloc(1, 20 * MB, 4096),
                                            alloc(2, 11 * MB, MB + 1)};
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, events, 3, &err), PW_OK);
    assert_int_equal(r.group_count, 2);
    assert_int_equal(r.group_of[2], 0);
    assert_int_equal(r.groups[0].first, 10 * MB);
    pw_relocation_release(&r);
}

static void one_address_used_twice_is_two_groups(void **state)
{
    (void)state;
    const struct pw_trace_event events[] = {alloc(0, 10 * MB, MB), release(0, 10 * MB), alloc(1, 10 * MB, MB),
                                            alloc(2, 11 * MB, 1)};
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, events, 4, &err), PW_OK);
    assert_int_equal(r.group_count, 2);
    assert_int_equal(r.group_of[1], 1);
    assert_int_equal(r.group_of[2], 1);
    pw_relocation_release(&r);
}

static void what_kind_of_memory_a_group_is(void **state)
{
    (void)state;
    struct pw_trace_event events[] = {alloc(0, 10 * MB, 1), alloc(1, 11 * MB, 1), alloc(2, 20 * MB, 1),
                                      alloc(3, 30 * MB, 1)};
    events[0].memory = events[2].memory = PW_TRACE_HOST;
    events[3].memory = PW_TRACE_MANAGED;
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, events, 4, &err), PW_OK);
    assert_int_equal(r.groups[0].memory, PW_TRACE_MEMORY_COUNT); /* one of them is device memory */
    assert_int_equal(r.groups[1].memory, PW_TRACE_HOST);
    assert_int_equal(r.groups[2].memory, PW_TRACE_MANAGED);
    assert_int_equal(r.groups[0].order, 1);
    assert_int_equal(r.groups[1].order, 2); /* the second of the host's */
    assert_int_equal(r.groups[2].order, 1);
    assert_int_equal(r.groups[0].bytes, 2); /* without what lies between them */
    pw_relocation_release(&r);
}

static void lives_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const struct pw_trace_event overlap[] = {alloc(0, 10 * MB, MB), alloc(1, 11 * MB - 1, MB)};
    const struct pw_trace_event twice[] = {alloc(0, 10 * MB, MB), release(0, 10 * MB), release(0, 10 * MB)};
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, overlap, 2, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "overlaps"));
    pw_relocation_release(&r);
    assert_int_equal(pw_relocation_create(&r, twice, 3, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "freed twice"));
    pw_relocation_release(&r);
}

/* Allocations come and go at random over a few pieces; at each step every address is found in the allocation that the
 * model has there, moved as its group is. */
static void addresses_are_found_as_a_naive_model_finds_them(void **state)
{
    (void)state;
    enum { STEPS = 400, PLACES = 64 };
    struct pw_random random;
    pw_random_init(&random, 7, "relocation");
    struct pw_trace_event events[STEPS];
    uint32_t owner[PLACES], count = 0; /* 1 + allocation */
    memset(owner, 0, sizeof owner);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t at = (uint32_t)pw_random_below(&random, PLACES);
        if (owner[at]) {
            uint32_t a = owner[at] - 1;
            uint64_t address = 0;
            for (uint32_t k = PLACES; k-- > 0;)
                if (owner[k] == a + 1) {
                    owner[k] = 0;
                    address = (k + 1) * MB / 2;
                }
            events[i] = release(a, address);
            continue;
        }
        uint32_t outer = at;
        while (outer < PLACES && !owner[outer] && outer - at < 1 + i % 5)
            owner[outer++] = count + 1;
        events[i] = alloc(count++, (at + 1) * MB / 2, (outer - at) * MB / 2);
    }
    struct pw_relocation r;
    struct pw_error err;
    assert_int_equal(pw_relocation_create(&r, events, STEPS, &err), PW_OK);
    for (uint32_t g = 0; g < r.group_count; g++)
        r.groups[g].array.base.v = (g + 1) * 1024 * MB;
    memset(owner, 0, sizeof owner);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t a = events[i].allocation;
        if (events[i].kind == PW_TRACE_ALLOC) {
            pw_relocation_add(&r, &events[i]);
            for (uint64_t at = events[i].address; at < events[i].address + events[i].bytes; at += MB / 2)
                owner[at / (MB / 2) - 1] = a + 1;
        } else {
            pw_relocation_remove(&r, events[i].address);
            for (uint32_t k = 0; k < PLACES; k++)
                owner[k] = owner[k] == a + 1 ? 0 : owner[k];
        }
        for (uint32_t k = 0; k < PLACES; k++) {
            uint64_t address = (k + 1) * MB / 2 + 77;
            const struct pw_moved_range *range = pw_relocation_find(&r, address);
            assert_int_equal(range != NULL, owner[k] != 0);
            if (!range)
                continue;
            uint32_t g = r.group_of[owner[k] - 1];
            assert_int_equal(address + range->shift, (g + 1) * 1024 * MB + address - r.groups[g].first);
            assert_int_equal((address + range->shift) % (2 * MB), address % (2 * MB));
        }
    }
    pw_relocation_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_that_share_a_piece_move_together),
        cmocka_unit_test(an_allocation_joins_what_is_above_it),
        cmocka_unit_test(one_address_used_twice_is_two_groups),
        cmocka_unit_test(what_kind_of_memory_a_group_is),
        cmocka_unit_test(lives_that_cannot_be_are_refused),
        cmocka_unit_test(addresses_are_found_as_a_naive_model_finds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
