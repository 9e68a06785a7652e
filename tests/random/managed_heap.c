/* Places of managed allocations against a naive model: a list of free pieces, searched from one end to the other. */
#include "exp/touch/managed_heap.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { OPERATIONS = 20000, MAX_LIVE = 64, MAX_FREE = 4096, GRAIN = 512 };

struct span {
    uint64_t address, bytes;
};

struct naive {
    struct span free[MAX_FREE]; /* in the order in which they became free */
    size_t count;
};

static void naive_remove(struct naive *n, size_t i)
{
    memmove(&n->free[i], &n->free[i + 1], (--n->count - i) * sizeof *n->free);
}

static void naive_add(struct naive *n, uint64_t address, uint64_t bytes)
{
    assert_true(n->count < MAX_FREE);
    n->free[n->count++] = (struct span){address, bytes};
}

/* Takes the smallest piece that fits, the oldest of them; false when there is none. */
static bool naive_take(struct naive *n, uint64_t bytes, uint64_t *out)
{
    size_t best = n->count;
    for (size_t i = 0; i < n->count; i++)
        if (n->free[i].bytes >= bytes && (best == n->count || n->free[i].bytes < n->free[best].bytes))
            best = i;
    if (best == n->count)
        return false;
    struct span s = n->free[best];
    naive_remove(n, best);
    if (s.bytes > bytes)
        naive_add(n, s.address + bytes, s.bytes - bytes);
    *out = s.address;
    return true;
}

/* Returns whether all of the block is free. */
static bool naive_free(struct naive *n, uint64_t first, uint64_t outer)
{
    uint64_t block = first / PW_SHARED_BYTES;
    for (size_t i = 0; i < n->count;) {
        struct span s = n->free[i];
        bool before = s.address + s.bytes == first && s.address / PW_SHARED_BYTES == block;
        bool after = s.address == outer && outer % PW_SHARED_BYTES;
        if (!before && !after) {
            i++;
            continue;
        }
        first = before ? s.address : first;
        outer = after ? outer + s.bytes : outer;
        naive_remove(n, i);
        i = 0;
    }
    if (outer - first == PW_SHARED_BYTES)
        return true;
    naive_add(n, first, outer - first);
    return false;
}

static uint64_t random_bytes(struct pw_random *random)
{
    uint64_t bytes = 1ULL << pw_random_below(random, 23);
    return bytes + pw_random_below(random, bytes);
}

static uint64_t in_grains(uint64_t bytes)
{
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static void small_allocations_lie_where_the_naive_model_puts_them(void **state)
{
    (void)state;
    static struct naive naive;
    struct pw_managed_place live[MAX_LIVE];
    size_t count = 0;
    unsigned shared = 0, reused = 0;
    struct pw_error err = {0};
    struct pw_random random;
    struct pw_managed_heap *h;
    pw_random_init(&random, 1, "managed_heap");
    assert_int_equal(pw_managed_heap_create(true, &h, &err), PW_OK);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (count == MAX_LIVE || (count && pw_random_below(&random, 100) < 45)) {
            size_t victim = pw_random_below(&random, count);
            struct pw_managed_place p = live[victim];
            live[victim] = live[--count];
            bool empty = !p.shared || naive_free(&naive, p.address, p.address + in_grains(p.bytes));
            assert_int_equal(pw_managed_heap_free(h, &p), empty);
            continue;
        }
        struct pw_managed_place *p = &live[count++];
        uint64_t bytes = random_bytes(&random), expected = 0;
        assert_int_equal(pw_managed_heap_allocate(h, bytes, p, &err), PW_OK);
        assert_int_equal(p->shared, bytes <= PW_SHARED_BYTES - GRAIN);
        bool found = p->shared && naive_take(&naive, in_grains(bytes), &expected);
        assert_int_equal(p->new_block, !found);
        if (found)
            assert_int_equal(p->address, expected);
        else
            assert_int_equal(p->address % PW_SHARED_BYTES, 0);
        if (p->shared && !found)
            naive_add(&naive, p->address + in_grains(bytes), PW_SHARED_BYTES - in_grains(bytes));
        shared += p->shared;
        reused += found;
        for (size_t k = 0; k + 1 < count; k++)
            assert_true(p->address + in_grains(bytes) <= live[k].address ||
                        live[k].address + in_grains(live[k].bytes) <= p->address);
    }
    assert_true(shared > OPERATIONS / 4 && reused > OPERATIONS / 8);
    pw_managed_heap_destroy(h);
}

static void nothing_shares_a_block_where_the_policy_does_not_say_so(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_managed_heap *h;
    struct pw_managed_place a, b;
    assert_int_equal(pw_managed_heap_create(false, &h, &err), PW_OK);
    assert_int_equal(pw_managed_heap_allocate(h, 1, &a, &err), PW_OK);
    assert_int_equal(pw_managed_heap_allocate(h, 1, &b, &err), PW_OK);
    assert_false(a.shared || b.shared);
    assert_int_equal(b.address - a.address, PW_SHARED_BYTES);
    assert_true(pw_managed_heap_free(h, &a));
    assert_true(pw_managed_heap_free(h, &b));
    pw_managed_heap_destroy(h);
}

static void addresses_run_out_with_a_message_and_come_back_when_freed(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_managed_heap *h;
    struct pw_managed_place a, b;
    assert_int_equal(pw_managed_heap_create(true, &h, &err), PW_OK);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(pw_managed_heap_allocate(h, 100ULL << 40, &a, &err), PW_OK);
        assert_int_equal(pw_managed_heap_allocate(h, 100ULL << 40, &b, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "128 TiB"));
        assert_int_equal(pw_managed_heap_allocate(h, UINT64_MAX, &b, &err), PW_USER_ERROR);
        assert_int_equal(pw_managed_heap_allocate(h, 10ULL << 40, &b, &err), PW_OK);
        assert_true(pw_managed_heap_free(h, i % 2 ? &a : &b));
        assert_true(pw_managed_heap_free(h, i % 2 ? &b : &a));
    }
    assert_int_equal(pw_managed_heap_allocate(h, PW_SHARED_BYTES, &a, &err), PW_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pw_managed_heap_allocate(h, 100ULL << 40, &b, &err), PW_OK);
        assert_true(pw_managed_heap_free(h, &b));
    }
    pw_managed_heap_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_allocations_lie_where_the_naive_model_puts_them),
        cmocka_unit_test(nothing_shares_a_block_where_the_policy_does_not_say_so),
        cmocka_unit_test(addresses_run_out_with_a_message_and_come_back_when_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
