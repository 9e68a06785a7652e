/* A footprint of 64 GB: allocating does no work per page, a fault and an eviction cost what they cost in a small one,
 * and all state together stays below 16 bytes a page. */
#include "managed.h"

#include <time.h>

enum { RANGES = 4, BLOCKS_EACH = 8192, FAULTS = 10000 };
#define PAGES ((uint64_t)RANGES * BLOCKS_EACH * PW_BLOCK_PAGES)

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void scale(const char *prefetch, const char *evict, uint64_t capacity, double reserve)
{
    struct pw_residency_config config = managed_config(prefetch, evict, capacity);
    config.reserve = reserve;
    double begin = seconds();
    struct pw_residency *r = managed_create(&config);
    for (unsigned i = 0; i < RANGES; i++)
        managed_add(r, "data", (uint64_t)i * BLOCKS_EACH * 3, (uint64_t)BLOCKS_EACH << 21);
    double added = seconds();
    struct pw_random random;
    unsigned faults = 0;
    pw_random_init(&random, 1, "scale");
    for (unsigned i = 0; i < FAULTS; i++) {
        uint64_t page = pw_random_below(&random, PAGES), range = page / PW_BLOCK_PAGES / BLOCKS_EACH;
        faults += managed_read(r, page + range * BLOCKS_EACH * 2 * PW_BLOCK_PAGES).fault;
    }
    double done = seconds();
    print_message("%s and %s: %.3f s to add, %.2f us a fault, %.1f bytes a page\n", prefetch, evict, added - begin,
                  (done - added) * 1e6 / FAULTS, (double)pw_residency_bytes(r) / (double)PAGES);
    assert_true(faults > FAULTS * 9 / 10);
    assert_true(pw_residency_bytes(r) <= 16 * PAGES);
    assert_true(done - begin < 1.0);
    assert_int_equal(pw_residency_resident(r) <= capacity, true);
    managed_destroy(r);
}

static void state_is_small_and_faults_are_cheap_at_64_gb(void **state)
{
    (void)state;
    for (unsigned e = 0; pw_evict_family.policies[e]; e++)
        scale("none", pw_evict_family.policies[e]->name, PAGES / 4, 0);
}

static void evictions_are_cheap_at_64_gb(void **state)
{
    (void)state;
    for (unsigned e = 0; pw_evict_family.policies[e]; e++)
        scale("tbn", pw_evict_family.policies[e]->name, 50000, 0.2);
}

static void block_state_is_two_bytes_a_page(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("tbn", "tbn", 1 << 20);
    struct pw_residency *r = managed_create(&config);
    size_t empty = pw_residency_bytes(r);
    managed_add(r, "data", 0, (uint64_t)BLOCKS_EACH << 21);
    assert_true(pw_residency_bytes(r) - empty <= 2ULL * BLOCKS_EACH * PW_BLOCK_PAGES);
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_small_and_faults_are_cheap_at_64_gb),
        cmocka_unit_test(evictions_are_cheap_at_64_gb),
        cmocka_unit_test(block_state_is_two_bytes_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
