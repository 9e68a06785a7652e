/* What every frame policy must hold to: each frame has one owner, runs are aligned, memory runs out cleanly and comes
 * back whole. */
#include "policy/frame/frame_policy.h"
#include "policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 40, FRAMES = BLOCKS * 512 };

static const enum pw_page_order ORDERS[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

struct fixture {
    const struct pw_frame_policy *policy;
    struct pw_frames *frames;
    void *state;
    struct pw_policy_use use;
    pw_owner seen[FRAMES];
};

static struct fixture *create(const struct pw_policy *policy, uint64_t seed)
{
    struct fixture *x = calloc(1, sizeof *x);
    struct pw_error err;
    struct pw_random random;
    pw_random_init(&random, seed, "frames");
    x->policy = pw_frame_policy_of(policy);
    assert_int_equal(pw_frames_create((uint64_t)FRAMES * PW_PAGE_BYTES, &x->frames, &err), PW_OK);
    struct pw_frame_environment environment = {x->frames, &random};
    x->state = policy_instance(&x->use, &pw_frame_family, policy, &environment);
    return x;
}

static void destroy(struct fixture *x)
{
    struct pw_error err = {0};
    if (pw_frames_check(x->frames, &err))
        fail_msg("%s: %s", x->policy->head.name, err.message);
    pw_frames_destroy(x->frames);
    pw_policy_use_release(&x->use);
    free(x);
}

/* Allocates, if need be as a last resort, and notes every frame as its owner's; false when the policy says no. */
static bool allocate(struct fixture *x, pw_owner owner, enum pw_page_order order, pw_pfn *out)
{
    struct pw_frame_request request = {.owner = owner, .vpn = {(uint64_t)owner << 20}, .order = order};
    if (!x->policy->allocate(x->state, x->frames, &request, out)) {
        request.last_resort = true;
        if (!x->policy->allocate(x->state, x->frames, &request, out))
            return false;
    }
    assert_int_equal(out->v & ((1U << order) - 1), 0);
    assert_true(out->v + (1U << order) <= FRAMES);
    for (uint32_t i = 0; i < 1U << order; i++) {
        assert_int_equal(x->seen[out->v + i], PW_OWNER_FREE);
        x->seen[out->v + i] = owner;
        assert_int_equal(pw_frames_owner(x->frames, (pw_pfn){out->v + i}), owner);
    }
    return true;
}

static void release(struct fixture *x, pw_owner owner, enum pw_page_order order, pw_pfn at)
{
    struct pw_frame_request request = {.owner = owner, .vpn = {(uint64_t)owner << 20}, .order = order};
    x->policy->release(x->state, x->frames, &request, at);
    memset(&x->seen[at.v], 0, sizeof x->seen[0] << order);
    assert_int_equal(pw_frames_owner(x->frames, at), PW_OWNER_FREE);
}

static void every_policy_hands_each_frame_out_once_until_none_is_left(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_frame_family.policies[p]; p++)
        for (unsigned o = 0; o < 3; o++) {
            struct fixture *x = create(pw_frame_family.policies[p], 7);
            enum pw_page_order order = ORDERS[o];
            pw_pfn at;
            for (uint32_t i = 0; i < (uint32_t)FRAMES >> order; i++)
                assert_true(allocate(x, (pw_owner)(PW_OWNER_APP + i % 3), order, &at));
            for (unsigned k = 0; k < 3; k++)
                assert_false(allocate(x, PW_OWNER_APP, ORDERS[k], &at));
            assert_int_equal(pw_frames_free(x->frames), 0);
            destroy(x);
        }
}

static void every_policy_takes_again_what_was_given_back(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_frame_family.policies[p]; p++) {
        struct fixture *x = create(pw_frame_family.policies[p], 8);
        pw_pfn blocks[BLOCKS], at;
        for (unsigned i = 0; i < BLOCKS; i++)
            assert_true(allocate(x, PW_OWNER_APP, PW_PAGE_2M, &blocks[i]));
        release(x, PW_OWNER_APP, PW_PAGE_2M, blocks[5]);
        for (unsigned i = 0; i < 32; i++)
            assert_true(allocate(x, PW_OWNER_TABLE, PW_PAGE_64K, &at));
        assert_int_equal(at.v >> 9, blocks[5].v >> 9);
        assert_false(allocate(x, PW_OWNER_APP, PW_PAGE_4K, &at));
        release(x, PW_OWNER_APP, PW_PAGE_2M, blocks[11]);
        for (unsigned i = 0; i < 512; i++)
            assert_true(allocate(x, PW_OWNER_APP + 1, PW_PAGE_4K, &at));
        assert_false(allocate(x, PW_OWNER_APP, PW_PAGE_4K, &at));
        destroy(x);
    }
}

static void every_policy_repeats_itself_for_the_same_seed(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_frame_family.policies[p]; p++) {
        struct fixture *a = create(pw_frame_family.policies[p], 9), *b = create(pw_frame_family.policies[p], 9);
        for (unsigned i = 0; i < 600; i++) {
            pw_pfn x, y;
            assert_true(allocate(a, PW_OWNER_APP, ORDERS[i % 2], &x));
            assert_true(allocate(b, PW_OWNER_APP, ORDERS[i % 2], &y));
            assert_int_equal(x.v, y.v);
        }
        destroy(a);
        destroy(b);
    }
}

/* Decides mosaic-fig01a-mixed-frame: GPU-MMU's allocator, the first of the family, serves in request order. */
static void the_default_mixes_applications_in_one_large_frame(void **state)
{
    (void)state;
    struct fixture *x = create(pw_frame_family.policies[0], 1);
    pw_pfn at;
    for (uint32_t i = 0; i < 1024; i++) {
        assert_true(allocate(x, (pw_owner)(PW_OWNER_APP + i % 2), PW_PAGE_4K, &at));
        assert_int_equal(at.v, i);
    }
    destroy(x);
}

static void the_random_policy_leaves_no_neighbours(void **state)
{
    (void)state;
    struct fixture *x = create(policy_named(&pw_frame_family, "random"), 1);
    pw_pfn at, before = {0};
    unsigned neighbours = 0, per_quarter[4] = {0};
    for (unsigned i = 0; i < 4000; i++) {
        assert_true(allocate(x, PW_OWNER_APP, PW_PAGE_4K, &at));
        neighbours += at.v == before.v + 1;
        per_quarter[at.v * 4ULL / FRAMES]++;
        before = at;
    }
    assert_true(neighbours < 5);
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(per_quarter[i], 900, 1100);
    destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_hands_each_frame_out_once_until_none_is_left),
        cmocka_unit_test(every_policy_takes_again_what_was_given_back),
        cmocka_unit_test(every_policy_repeats_itself_for_the_same_seed),
        cmocka_unit_test(the_default_mixes_applications_in_one_large_frame),
        cmocka_unit_test(the_random_policy_leaves_no_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
