/* The host's end of the ring: records of both forms in order, across the ring's end, and cells given back only when
 * they have been read and cleared. */
#include "capture/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 32 };

struct ring {
    struct pw_capture_cell cells[CELLS];
    uint64_t given, taken;
    struct pw_capture_ring r;
};

static void open_ring(struct ring *t)
{
    memset(t, 0, sizeof *t);
    t->r = (struct pw_capture_ring){t->cells, &t->given, CELLS, 0};
}

/* As a warp does: addresses first, the head last. 0 lanes: an affine record. */
static void put(struct ring *t, uint32_t lanes, uint64_t number)
{
    struct pw_capture_cell head = {.valid = 1,
                                   .kind = PW_CAPTURE_LOAD,
                                   .form = lanes ? PW_CAPTURE_LANES : PW_CAPTURE_AFFINE,
                                   .bytes = 4,
                                   .mask = lanes ? (uint32_t)((1ULL << lanes) - 1) : UINT32_MAX,
                                   .base = number};
    for (uint32_t i = 0; i < lanes; i++)
        ((uint64_t *)t->cells)[(4 * (t->taken + 1) + i) % (4 * CELLS)] = number + i;
    t->cells[t->taken % CELLS] = head;
    t->taken += 1 + (lanes + 3) / 4;
}

static void expect(struct ring *t, uint32_t lanes, uint64_t number)
{
    struct pw_capture_cell head;
    uint64_t addresses[32];
    assert_true(pw_capture_ring_next(&t->r, &head, addresses));
    assert_int_equal(head.base, number);
    for (uint32_t i = 0; i < lanes; i++)
        assert_int_equal(addresses[i], number + i);
    assert_int_equal(t->r.at, t->taken);
    assert_true(t->given <= t->r.at && t->r.at - t->given < CELLS / 16);
}

static void an_empty_ring_has_no_record(void **state)
{
    (void)state;
    struct ring t;
    struct pw_capture_cell head;
    open_ring(&t);
    assert_false(pw_capture_ring_next(&t.r, &head, NULL));
}

static void records_come_in_order_and_across_the_end(void **state)
{
    (void)state;
    struct ring t;
    open_ring(&t);
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t lanes = (uint32_t)(i * 7 % 33);
        put(&t, lanes, i << 20);
        expect(&t, lanes, i << 20);
    }
}

/* The addresses of a record that was read are no head of one that is not yet written. */
static void a_cell_is_clear_before_it_is_given_back(void **state)
{
    (void)state;
    struct ring t;
    struct pw_capture_cell head, clear = {0};
    open_ring(&t);
    put(&t, 32, 0xffffffffffULL);
    expect(&t, 32, 0xffffffffffULL);
    assert_int_equal(t.given, 9);
    for (uint32_t i = 0; i < CELLS; i++)
        assert_memory_equal(&t.cells[i], &clear, sizeof clear);
    assert_false(pw_capture_ring_next(&t.r, &head, NULL));
}

static void a_record_without_its_first_word_is_not_read(void **state)
{
    (void)state;
    struct ring t;
    struct pw_capture_cell head;
    open_ring(&t);
    put(&t, 5, 77);
    put(&t, 0, 88);
    t.cells[0].valid = 0; /* the later record is complete, the first not */
    assert_false(pw_capture_ring_next(&t.r, &head, NULL));
    t.cells[0].valid = 1;
    uint64_t addresses[32];
    assert_true(pw_capture_ring_next(&t.r, &head, addresses));
    assert_int_equal(addresses[4], 81);
    assert_true(pw_capture_ring_next(&t.r, &head, addresses));
    assert_int_equal(head.base, 88);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_has_no_record),
        cmocka_unit_test(records_come_in_order_and_across_the_end),
        cmocka_unit_test(a_cell_is_clear_before_it_is_given_back),
        cmocka_unit_test(a_record_without_its_first_word_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
