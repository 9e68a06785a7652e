/* What every policy for the placement of pages must do. */
#include "policies.h"

#include "policy/place/place_policy.h"
#include "sim/random.h"

enum { MAX_GPUS = 64, ARRAYS = 70 };

static const uint64_t sizes[] = {1, 2, 3, 63, 64, 65, 511, 1000, 16384, 16411};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Which GPU a page is put into; the policy has a way to choose. */
static unsigned place(const struct pw_place_policy *policy, void *state, struct pw_place_request request)
{
    unsigned gpu = policy->choose(state, &request);
    if (gpu >= request.gpus)
        fail_msg("%s: page %llu of %llu goes to GPU %u of %u", policy->head.name, (unsigned long long)request.page,
                 (unsigned long long)request.pages, gpu, request.gpus);
    return gpu;
}

static const struct pw_place_policy *named(const char *name)
{
    return pw_place_policy_of(policy_named(&pw_place_family, name));
}

/* Two instances answer the same with a GPU that there is, for any number of GPUs and pages. */
static void every_policy_answers_with_a_gpu(void **state)
{
    (void)state;
    for (size_t p = 0; pw_place_family.policies[p]; p++) {
        const struct pw_place_policy *policy = pw_place_policy_of(pw_place_family.policies[p]);
        struct pw_policy_use uses[2];
        struct pw_random r;
        pw_random_init(&r, 1, policy->head.name);
        void *one = policy_instance(&uses[0], &pw_place_family, &policy->head, NULL);
        void *other = policy_instance(&uses[1], &pw_place_family, &policy->head, NULL);
        for (unsigned gpus = 1; policy->choose && gpus <= MAX_GPUS; gpus++)
            for (uint32_t array = 0; array < ARRAYS; array++) {
                uint64_t pages = array < SIZES ? sizes[array] : 1 + (pw_random_next(&r) >> array % 60);
                for (unsigned i = 0; i < 50; i++) {
                    uint64_t page = i == 0 ? 0 : i == 1 ? pages - 1 : pw_random_below(&r, pages);
                    struct pw_place_request request = {(pw_asid)(i % 3), array, page, pages, gpus};
                    assert_int_equal(place(policy, one, request), place(policy, other, request));
                }
            }
        pw_policy_use_release(&uses[0]);
        pw_policy_use_release(&uses[1]);
    }
}

static void the_default_is_interleaved(void **state)
{
    (void)state;
    assert_string_equal(pw_place_family.policies[0]->name, "interleaved");
}

static void pages_and_arrays_go_round(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= MAX_GPUS; gpus++)
        for (unsigned i = 0; i < 300; i++) {
            struct pw_place_request request = {0, i / 100, i, 300, gpus};
            assert_int_equal(place(named("interleaved"), NULL, request), i % gpus);
            assert_int_equal(place(named("by-array"), NULL, request), i / 100 % gpus);
            assert_int_equal(place(named("single"), NULL, request), 0);
        }
    struct pw_place_request last = {0, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX, 64};
    assert_int_equal(place(named("interleaved"), NULL, last), 62);
    assert_int_equal(place(named("by-array"), NULL, last), 63);
}

/* Each GPU has one part of consecutive pages, in order, and no part is larger than another by more than a page. */
static void parts_are_consecutive_and_of_one_size(void **state)
{
    (void)state;
    const struct pw_place_policy *policy = named("split");
    for (unsigned gpus = 1; gpus <= MAX_GPUS; gpus++)
        for (unsigned s = 0; s < SIZES; s++) {
            uint64_t size[MAX_GPUS] = {0};
            unsigned last = 0;
            for (uint64_t page = 0; page < sizes[s]; page++) {
                unsigned gpu = place(policy, NULL, (struct pw_place_request){0, 0, page, sizes[s], gpus});
                assert_true(gpu >= last);
                last = gpu;
                size[gpu]++;
            }
            for (unsigned gpu = 0; gpu < gpus; gpu++)
                assert_in_range(size[gpu], sizes[s] / gpus, (sizes[s] + gpus - 1) / gpus);
        }
}

/* Products that do not fit into 64 bits. */
static void parts_of_huge_allocations_begin_where_they_should(void **state)
{
    (void)state;
    const struct pw_place_policy *policy = named("split");
    const uint64_t part = 1ULL << 57, pages = 64 * part - 1 + part / 2; /* of 64 GPUs */
    for (unsigned gpu = 1; gpu < 64; gpu++) {
        uint64_t first = 0, outer = pages; /* the first page that is not of a GPU before */
        while (first < outer) {
            uint64_t middle = first + (outer - first) / 2;
            if (place(policy, NULL, (struct pw_place_request){0, 0, middle, pages, 64}) >= gpu)
                outer = middle;
            else
                first = middle + 1;
        }
        assert_true(first == (uint64_t)(((unsigned __int128)pages * gpu + 63) / 64));
    }
}

/* Nobody is asked before a GPU accesses the page. */
static void first_touch_waits_for_an_access(void **state)
{
    (void)state;
    for (size_t p = 0; pw_place_family.policies[p]; p++) {
        const struct pw_place_policy *policy = pw_place_policy_of(pw_place_family.policies[p]);
        assert_true(!policy->choose == !strcmp(policy->head.name, "first-touch"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_answers_with_a_gpu),
        cmocka_unit_test(the_default_is_interleaved),
        cmocka_unit_test(pages_and_arrays_go_round),
        cmocka_unit_test(parts_are_consecutive_and_of_one_size),
        cmocka_unit_test(parts_of_huge_allocations_begin_where_they_should),
        cmocka_unit_test(first_touch_waits_for_an_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
