/* Records found by number: against a plain array, over many comings and goings. */
#include "sim/key_map.h"

#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 5000, STEPS = 60000 };

static void what_was_put_in_is_found_until_it_is_taken_out(void **state)
{
    (void)state;
    static struct pw_key_link links[KEYS];
    static bool in[KEYS];
    struct pw_key_map map;
    struct pw_random r;
    uint32_t count = 0;
    assert_int_equal(pw_key_map_init(&map, "test", NULL), PW_OK);
    assert_null(pw_key_map_next(&map, NULL));
    pw_random_init(&r, 1, "keys");
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t k = pw_random_below(&r, KEYS), key = k << 20 | 3;
        assert_ptr_equal(pw_key_map_find(&map, key), in[k] ? &links[k] : NULL);
        if (in[k])
            pw_key_map_remove(&map, &links[k]);
        else
            pw_key_map_add(&map, &links[k], key);
        in[k] = !in[k];
        count = in[k] ? count + 1 : count - 1;
        assert_int_equal(map.count, count);
    }
    assert_true(map.mask + 1 >= count / 2); /* it has grown */
    uint32_t seen = 0;
    for (struct pw_key_link *l = pw_key_map_next(&map, NULL); l; l = pw_key_map_next(&map, l)) {
        assert_true(in[l->key >> 20]);
        seen++;
    }
    assert_int_equal(seen, count);
    pw_key_map_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_put_in_is_found_until_it_is_taken_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
