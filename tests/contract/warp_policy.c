/* What every warp schedule must do, and what each one is defined to do. */
#include "policy/warp/warp_policy.h"
#include "policies.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SLOTS = 64 };

extern const struct pw_warp_policy pw_warp_policy_gto, pw_warp_policy_rr;

/* Warps that came in some order. */
struct crowd {
    uint32_t age[SLOTS];   /* 0 for the one that came first */
    uint64_t older[SLOTS]; /* who came before each */
};

static struct crowd random_crowd(struct pw_random *r)
{
    struct crowd c;
    uint32_t came[SLOTS];
    uint64_t before = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t k = (uint32_t)pw_random_below(r, i + 1);
        came[i] = came[k];
        came[k] = i;
    }
    for (uint32_t i = 0; i < SLOTS; before |= 1ULL << came[i++]) {
        c.age[came[i]] = i;
        c.older[came[i]] = before;
    }
    return c;
}

static uint64_t random_ready(struct pw_random *r)
{
    uint64_t ready = pw_random_next(r);
    for (uint64_t thin = pw_random_below(r, 6); thin; thin--)
        ready &= pw_random_next(r);
    return ready ? ready : 1ULL << pw_random_below(r, SLOTS);
}

static uint32_t random_last(struct pw_random *r)
{
    uint64_t slot = pw_random_below(r, SLOTS + 1);
    return slot == SLOTS ? PW_NO_WARP : (uint32_t)slot;
}

static void every_policy_picks_a_ready_warp(void **state)
{
    (void)state;
    for (size_t p = 0; pw_warp_family.policies[p]; p++) {
        const struct pw_warp_policy *policy = pw_warp_policy_of(pw_warp_family.policies[p]);
        struct pw_policy_use use, other;
        void *instance = policy_instance(&use, &pw_warp_family, &policy->head, &(struct pw_warp_environment){0});
        void *again = policy_instance(&other, &pw_warp_family, &policy->head, &(struct pw_warp_environment){0});
        struct pw_random r;
        struct crowd c;
        pw_random_init(&r, 1, policy->head.name);
        for (unsigned i = 0; i < 20000; i++) {
            uint64_t ready = random_ready(&r);
            uint32_t last = random_last(&r);
            c = random_crowd(&r);
            uint32_t slot = policy->pick(instance, ready, last, c.older);
            assert_true(slot < SLOTS && ready >> slot & 1);
            assert_int_equal(policy->pick(again, ready, last, c.older), slot);
            if (policy->greedy && last != PW_NO_WARP && ready >> last & 1)
                assert_int_equal(slot, last);
        }
        /* One warp alone is picked, wherever it is and whoever was last. */
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            for (uint32_t last = 0; last <= SLOTS; last++)
                assert_int_equal(policy->pick(instance, 1ULL << slot, last == SLOTS ? PW_NO_WARP : last, c.older),
                                 slot);
        pw_policy_use_release(&use);
        pw_policy_use_release(&other);
    }
}

/* Warps with some work each, that stall now and then: whatever the policy, all come to their end. */
static void every_policy_lets_every_warp_finish(void **state)
{
    (void)state;
    enum { WORK = 50, STALL = 20 };
    for (size_t p = 0; pw_warp_family.policies[p]; p++) {
        const struct pw_warp_policy *policy = pw_warp_policy_of(pw_warp_family.policies[p]);
        struct pw_policy_use use;
        void *instance = policy_instance(&use, &pw_warp_family, &policy->head, &(struct pw_warp_environment){0});
        struct pw_random r;
        uint32_t left[SLOTS], wakes[SLOTS] = {0}, last = PW_NO_WARP, issued = 0, cycle = 0;
        pw_random_init(&r, 2, policy->head.name);
        struct crowd c = random_crowd(&r);
        for (uint32_t i = 0; i < SLOTS; i++)
            left[i] = WORK;
        for (; issued < SLOTS * WORK; cycle++) {
            uint64_t ready = 0;
            for (uint32_t i = 0; i < SLOTS; i++)
                ready |= (uint64_t)(left[i] && wakes[i] <= cycle) << i;
            if (!ready)
                continue;
            last = policy->pick(instance, ready, last, c.older);
            assert_true(left[last] > 0);
            left[last]--;
            issued++;
            if (pw_random_below(&r, 4) == 0)
                wakes[last] = cycle + 1 + (uint32_t)pw_random_below(&r, STALL);
        }
        /* No cycle is lost but those in which all that are left stall: at worst, the last warp is on its own. */
        assert_true(cycle <= SLOTS * WORK + WORK * STALL);
        pw_policy_use_release(&use);
    }
}

static void gto_stays_and_otherwise_takes_the_oldest(void **state)
{
    (void)state;
    struct pw_random r;
    struct crowd c;
    pw_random_init(&r, 3, "gto");
    assert_true(pw_warp_policy_gto.greedy);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t ready = random_ready(&r);
        uint32_t last = random_last(&r), oldest = SLOTS;
        c = random_crowd(&r);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            if (ready >> slot & 1 && (oldest == SLOTS || c.age[slot] < c.age[oldest]))
                oldest = slot;
        bool stays = last != PW_NO_WARP && ready >> last & 1;
        assert_int_equal(pw_warp_policy_gto.pick(NULL, ready, last, c.older), stays ? last : oldest);
    }
}

/* Warps that never stall finish one after the other, in the order in which they came. */
static void gto_finishes_warps_in_the_order_of_their_age(void **state)
{
    (void)state;
    struct pw_random r;
    uint32_t last = PW_NO_WARP, came = 0;
    pw_random_init(&r, 4, "gto");
    struct crowd c = random_crowd(&r);
    for (uint64_t ready = UINT64_MAX; ready; ready &= ~(1ULL << last)) {
        for (unsigned i = 0; i < 5; i++) {
            uint32_t slot = pw_warp_policy_gto.pick(NULL, ready, last, c.older);
            assert_true(i == 0 || slot == last);
            last = slot;
        }
        assert_int_equal(c.age[last], came++);
    }
}

static void rr_takes_the_next_ready_slot_in_turn(void **state)
{
    (void)state;
    struct pw_random r;
    struct crowd c;
    pw_random_init(&r, 5, "rr");
    assert_false(pw_warp_policy_rr.greedy);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t ready = random_ready(&r);
        uint32_t last = random_last(&r), expected = last == PW_NO_WARP ? 0 : (last + 1) % SLOTS;
        c = random_crowd(&r);
        while (!(ready >> expected & 1))
            expected = (expected + 1) % SLOTS;
        assert_int_equal(pw_warp_policy_rr.pick(NULL, ready, last, c.older), expected);
    }
}

static void rr_gives_each_ready_warp_one_turn_in_every_round(void **state)
{
    (void)state;
    struct pw_random r;
    struct crowd c;
    pw_random_init(&r, 6, "rr");
    c = random_crowd(&r);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t ready = random_ready(&r);
        uint32_t last = random_last(&r);
        for (unsigned round = 0; round < 3; round++) {
            uint64_t seen = 0;
            for (int k = 0; k < __builtin_popcountll(ready); k++) {
                last = pw_warp_policy_rr.pick(NULL, ready, last, c.older);
                seen |= 1ULL << last;
            }
            assert_true(seen == ready);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_picks_a_ready_warp),
        cmocka_unit_test(every_policy_lets_every_warp_finish),
        cmocka_unit_test(gto_stays_and_otherwise_takes_the_oldest),
        cmocka_unit_test(gto_finishes_warps_in_the_order_of_their_age),
        cmocka_unit_test(rr_takes_the_next_ready_slot_in_turn),
        cmocka_unit_test(rr_gives_each_ready_warp_one_turn_in_every_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
