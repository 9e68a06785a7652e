/* Room for one more in an array that doubles: what it keeps, how it grows, and what it does when memory is out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool out_of_memory;
static unsigned calls;
static size_t asked;

/* The memory that the array is made of: none while out_of_memory. */
static void *counted_realloc(void *memory, size_t bytes)
{
    calls++;
    asked = bytes;
    return out_of_memory ? NULL : realloc(memory, bytes);
}

#define realloc counted_realloc
#include "sim/grow.h"
#undef realloc

enum { MANY = 1000 };

struct item {
    uint64_t value;
    char name[5];
};

static int begin(void **state)
{
    (void)state;
    out_of_memory = false;
    calls = 0;
    asked = 0;
    return 0;
}

static void every_item_is_kept(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < MANY; count++) {
        items = pw_grow(items, count, &capacity, sizeof *items);
        assert_non_null(items);
        assert_true(capacity > count);
        items[count] = (struct item){.value = ~(uint64_t)count, .name = "item"};
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(items[i].value, ~(uint64_t)i);
        assert_string_equal(items[i].name, "item");
    }
    free(items);
}

static void memory_is_asked_for_only_when_full_and_doubles(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0, expected = 0;
    unsigned growths = 0;
    for (size_t count = 0; count < MANY; count++) {
        struct item *before = items;
        bool full = count == expected;
        if (full) {
            expected = expected ? 2 * expected : PW_FIRST_CAPACITY;
            growths++;
        }
        items = pw_grow(items, count, &capacity, sizeof *items);
        assert_non_null(items);
        assert_true(full || items == before);
        assert_int_equal(calls, growths);
        assert_int_equal(capacity, expected);
        assert_int_equal(asked, expected * sizeof *items);
    }
    free(items);
}

static void without_memory_the_array_is_as_it_was(void **state)
{
    (void)state;
    size_t capacity = 0;
    out_of_memory = true;
    assert_null(pw_grow(NULL, 0, &capacity, sizeof(struct item)));
    assert_int_equal(capacity, 0);
    out_of_memory = false;
    struct item *items = pw_grow(NULL, 0, &capacity, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < PW_FIRST_CAPACITY; i++)
        items[i].value = i;
    out_of_memory = true;
    assert_ptr_equal(pw_grow(items, PW_FIRST_CAPACITY - 1, &capacity, sizeof *items), items); /* there is room */
    assert_null(pw_grow(items, PW_FIRST_CAPACITY, &capacity, sizeof *items));
    assert_int_equal(capacity, PW_FIRST_CAPACITY);
    for (size_t i = 0; i < PW_FIRST_CAPACITY; i++)
        assert_int_equal(items[i].value, i);
    out_of_memory = false;
    items = pw_grow(items, PW_FIRST_CAPACITY, &capacity, sizeof *items);
    assert_non_null(items);
    assert_int_equal(capacity, 2 * PW_FIRST_CAPACITY);
    for (size_t i = 0; i < PW_FIRST_CAPACITY; i++)
        assert_int_equal(items[i].value, i);
    free(items);
}

/* The largest capacity whose double still has a size, and the next: memory is asked for in the first case alone. */
static void check_border(size_t last, size_t size)
{
    void *memory = malloc(1);
    size_t capacity = last;
    out_of_memory = true; /* nobody has that much */
    calls = 0;
    assert_null(pw_grow(memory, capacity, &capacity, size));
    assert_int_equal(capacity, last);
    assert_int_equal(calls, 1);
    assert_int_equal(asked, 2 * last * size);
    capacity = last + 1;
    assert_null(pw_grow(memory, capacity, &capacity, size));
    assert_int_equal(capacity, last + 1);
    assert_int_equal(calls, 1);
    free(memory);
}

static void a_size_that_overflows_is_out_of_memory(void **state)
{
    (void)state;
    check_border(SIZE_MAX / 2, 1);
    check_border(SIZE_MAX / 2 / 24, 24);
    check_border(SIZE_MAX / 2 / 4096, 4096);
    size_t capacity = 0;
    calls = 0;
    assert_null(pw_grow(NULL, 0, &capacity, SIZE_MAX / PW_FIRST_CAPACITY + 1));
    assert_int_equal(capacity, 0);
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_item_is_kept, begin),
        cmocka_unit_test_setup(memory_is_asked_for_only_when_full_and_doubles, begin),
        cmocka_unit_test_setup(without_memory_the_array_is_as_it_was, begin),
        cmocka_unit_test_setup(a_size_that_overflows_is_out_of_memory, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
