/* The pool of records: what it hands out, and what it does when memory is out. */
#include "sim/record_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct record {
    struct record *next;
    uint64_t value[3];
};

enum { RESERVED = 5, MANY = 1000, TOO_MANY = 1 << 20 };

static void records_are_distinct_and_keep_what_is_written(void **state)
{
    (void)state;
    struct record_pool_test {
        struct pw_record_pool pool;
        struct record reserve[RESERVED];
    } p;
    static struct record *taken[MANY];
    pw_record_pool_init(&p.pool, NULL, sizeof(struct record), 1024, p.reserve, RESERVED);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            taken[i] = pw_record_take(&p.pool);
            *taken[i] = (struct record){.value = {i, round, ~(uint64_t)i}};
        }
        assert_int_equal(p.pool.in_use, MANY);
        for (unsigned i = 0; i < MANY; i++) {
            assert_int_equal(taken[i]->value[0], i);
            assert_int_equal(taken[i]->value[1], round);
            assert_int_equal(taken[i]->value[2], ~(uint64_t)i);
        }
        for (unsigned i = 0; i < MANY; i++)
            pw_record_give(&p.pool, taken[i]);
        assert_int_equal(p.pool.in_use, 0);
    }
    assert_false(p.pool.reserve_taken);
    pw_record_pool_destroy(&p.pool);
}

static void what_is_given_back_is_taken_next(void **state)
{
    (void)state;
    struct record reserve[RESERVED];
    struct pw_record_pool pool;
    pw_record_pool_init(&pool, NULL, sizeof(struct record), 1024, reserve, RESERVED);
    struct record *a = pw_record_take(&pool), *b = pw_record_take(&pool);
    assert_ptr_not_equal(a, b);
    pw_record_give(&pool, a);
    assert_ptr_equal(pw_record_take(&pool), a);
    pw_record_pool_destroy(&pool);
}

/* There is no memory for a chunk as large as this, but for the first, which is smaller. */
static void without_memory_the_present_event_is_the_last_and_gets_the_reserve(void **state)
{
    (void)state;
    struct record reserve[RESERVED];
    struct pw_record_pool pool;
    struct pw_error err;
    struct record *last = NULL;
    struct pw_events *events = pw_events_create(&err);
    assert_non_null(events);
    pw_record_pool_init(&pool, events, sizeof(struct record), SIZE_MAX, reserve, RESERVED);
    while (!events->out_of_memory && pool.in_use < TOO_MANY)
        last = pw_record_take(&pool);
    assert_in_range(pool.in_use, 1000, TOO_MANY - 1);
    assert_ptr_equal(last, &reserve[0]);
    for (unsigned i = 1; i < RESERVED; i++) {
        struct record *r = pw_record_take(&pool);
        assert_ptr_equal(r, &reserve[i]);
        assert_true(events->out_of_memory);
    }
    for (unsigned i = 0; i < 3; i++) /* what is beyond it is the same one */
        assert_ptr_equal(pw_record_take(&pool), &reserve[RESERVED - 1]);
    pw_record_pool_destroy(&pool);
    pw_events_destroy(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_distinct_and_keep_what_is_written),
        cmocka_unit_test(what_is_given_back_is_taken_next),
        cmocka_unit_test(without_memory_the_present_event_is_the_last_and_gets_the_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
