/* TLB-Fill Tokens by themselves: how many an application has after each epoch, and which warps hold them. */
#include "policies.h"

#include "policy/fill/fill_policy.h"
#include <string.h>

enum { SMS = 6, EPOCH = 100000 };

/* What the policy is made from and hears of: lookups and hits so far, and the slots that had a warp in an epoch. */
struct world {
    uint32_t app_sms[PW_MAX_APPS];
    uint64_t lookups[PW_MAX_APPS], hits[PW_MAX_APPS];
    uint64_t active[PW_MAX_APPS]; /* by SM */
    unsigned taken[PW_MAX_APPS];
    struct pw_fill_environment environment;
    struct pw_policy_use use;
    const struct pw_fill_policy *policy;
    void *state;
    pw_cycle now;
};

struct metrics {
    uint64_t tokens, direction;
};

static void l2_tlb_use(const void *l2_tlb, unsigned app, uint64_t *out_lookups, uint64_t *out_hits)
{
    const struct world *w = l2_tlb;
    *out_lookups = w->lookups[app];
    *out_hits = w->hits[app];
}

static uint64_t take_active_warps(void *gpu, uint32_t sm)
{
    struct world *w = gpu;
    w->taken[sm]++;
    return w->active[sm];
}

static void set_option(struct pw_policy_choice *choice, const char *name, const char *value)
{
    struct pw_error err;
    const struct pw_option *row = pw_policy_chosen(&pw_fill_family, choice)->options;
    while (strcmp(row->name, name) != 0)
        row++;
    assert_int_equal(pw_option_parse(row, value, POLICIES_CLOCK_MHZ, choice->options + row->offset, &err), PW_OK);
}

/* Applications with these SMs, every slot of which is active; `sets` is name, value, …, NULL. */
static void make(struct world *w, unsigned apps, const uint32_t *app_sms, const char *const *sets)
{
    struct pw_policy_choice choice = policy_choice(&pw_fill_family, "tokens");
    struct pw_error err;
    *w = (struct world){.policy = pw_fill_policy_of(policy_named(&pw_fill_family, "tokens"))};
    for (; *sets; sets += 2)
        set_option(&choice, sets[0], sets[1]);
    uint32_t sms = 0;
    for (unsigned i = 0; i < apps; i++)
        sms += w->app_sms[i] = app_sms[i];
    for (uint32_t i = 0; i < sms; i++)
        w->active[i] = ~0ULL;
    w->environment = (struct pw_fill_environment){sms, 64, w->app_sms, w, l2_tlb_use, w, take_active_warps};
    assert_int_equal(pw_policy_use_init(&w->use, NULL, "fill.policy", &w->policy->head, &choice, apps, &err), PW_OK);
    assert_int_equal(pw_policy_use_add(&w->use, &w->environment, &w->state, &err), PW_OK);
    assert_int_equal(w->policy->head.epoch(w->state, 0), EPOCH);
}

static void end(struct world *w)
{
    pw_policy_use_release(&w->use);
}

static struct metrics metrics(const struct world *w, unsigned app)
{
    return ((const struct metrics *)w->use.counters)[app];
}

static uint64_t tokens(const struct world *w, unsigned app)
{
    return metrics(w, app).tokens;
}

/* An epoch in which this application had so many lookups and misses. */
static void pass(struct world *w, unsigned app, uint64_t lookups, uint64_t misses)
{
    w->lookups[app] += lookups;
    w->hits[app] += lookups - misses;
}

static void end_epoch(struct world *w)
{
    w->now += EPOCH;
    assert_int_equal(w->policy->head.epoch(w->state, w->now), w->now + EPOCH);
}

static bool holds_token(const struct world *w, unsigned app, uint32_t sm, uint32_t warp)
{
    unsigned set = w->policy->may_fill(w->state, (pw_asid)app, sm, warp);
    assert_true(set & PW_FILL_L1);
    return set & PW_FILL_L2;
}

/* Warps of an SM that hold one, the lowest slots. */
static uint32_t holders(const struct world *w, unsigned app, uint32_t sm)
{
    uint32_t count = 0;
    while (count < 64 && holds_token(w, app, sm, count))
        count++;
    for (uint32_t warp = count; warp < 64; warp++)
        assert_false(holds_token(w, app, sm, warp));
    return count;
}

static const uint32_t one_app[] = {SMS}, two_apps[] = {4, 2};
static const char *const defaults[] = {NULL};

/* One application, after a first epoch in which half of its lookups missed. */
static void make_one(struct world *w, const char *const *sets)
{
    make(w, 1, one_app, sets);
    pass(w, 0, 1000, 500);
    end_epoch(w);
}

/* mask-sec52-first-epoch, mask-sec52-initial-tokens, mask-sec6-initial-tokens, mask-sec52-epoch: everybody fills until
 * the end of the first epoch, after 100,000 cycles; then 80% of 384 warps do. */
static void everybody_fills_in_the_first_epoch_and_the_initial_share_then(void **state)
{
    (void)state;
    struct world w;
    make(&w, 1, one_app, defaults);
    for (uint32_t sm = 0; sm < SMS; sm++)
        assert_int_equal(holders(&w, 0, sm), 64);
    assert_int_equal(tokens(&w, 0), 0);
    pass(&w, 0, 1000, 500);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 307); /* of 384, rounded down */
    end(&w);
}

/* mask-sec52-warp-id, mask-sec52-per-core-limit: 307 tokens are 51 for each of six SMs and one more for the first; in
 * each of them the lowest slots have them. */
static void tokens_go_to_the_lowest_slots_of_equal_shares(void **state)
{
    (void)state;
    struct world w;
    make_one(&w, defaults);
    for (uint32_t sm = 0; sm < SMS; sm++)
        assert_int_equal(holders(&w, 0, sm), sm ? 51 : 52);
    end(&w);
}

/* Of one application with six SMs of 64 warps: after the first epoch it has 307 tokens, and one step is 38. */
struct step {
    uint64_t lookups, misses, tokens, direction;
};

static void assert_steps(const char *const *sets, const struct step *steps, unsigned count)
{
    struct world w;
    make(&w, 1, one_app, sets);
    for (unsigned i = 0; i < count; i++) {
        pass(&w, 0, steps[i].lookups, steps[i].misses);
        end_epoch(&w);
        assert_int_equal(tokens(&w, 0), steps[i].tokens);
        assert_int_equal(metrics(&w, 0).direction, steps[i].direction);
    }
    end(&w);
}

/* mask-sec52-decrease, mask-sec52-increase, mask-sec52-unchanged, mask-sec74-direction-rule: the rate has to rise or
 * fall by more than two points of the epoch before; the size of the epochs does not matter. The direction register says
 * what the last change was. */
static void the_miss_rate_lowers_and_raises_tokens(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {1000, 500, 307, 0},   /* 50% */
        {1000, 520, 307, 0},   /* two points more: within the band */
        {1000, 541, 269, 0},   /* 2.1 points more */
        {2000, 1082, 269, 0},  /* the same rate */
        {10000, 5210, 269, 0}, /* exactly two points less */
        {10000, 5009, 307, 1}, /* 2.01 points less */
        {10000, 5009, 307, 1}, /* unchanged, and so is the register */
        {3, 3, 269, 0},        /* 100% */
    };
    assert_steps(defaults, steps, sizeof steps / sizeof *steps);
}

/* Between one and all; all of them is everybody. */
static void tokens_stay_between_one_and_all(void **state)
{
    (void)state;
    static const char *const sets[] = {"step", "60", "band", "0", NULL};
    static const struct step steps[] = {{100, 10, 307, 0}, {100, 11, 77, 0}, {100, 12, 1, 0},  {100, 13, 1, 0},
                                        {100, 12, 231, 1}, {100, 5, 384, 1}, {100, 4, 384, 1}, {100, 5, 154, 0}};
    assert_steps(sets, steps, sizeof steps / sizeof *steps);
}

/* With little to take a share of, it is one token at least; but a step of 0 is none. */
static void a_step_is_one_token_at_least(void **state)
{
    (void)state;
    static const uint32_t one_sm[] = {1};
    for (unsigned still = 0; still < 2; still++) {
        const char *const sets[] = {"step", still ? "0" : "1", "initial", "50", NULL};
        struct world w;
        make(&w, 1, one_sm, sets);
        w.active[0] = 0xf;
        pass(&w, 0, 100, 10);
        end_epoch(&w);
        assert_int_equal(tokens(&w, 0), 2);
        pass(&w, 0, 100, 90);
        end_epoch(&w);
        assert_int_equal(tokens(&w, 0), still ? 2 : 1);
        end(&w);
    }
}

/* An epoch without lookups is none: neither the first one, nor one that another is compared with. */
static void an_epoch_without_lookups_changes_nothing(void **state)
{
    (void)state;
    struct world w;
    make(&w, 1, one_app, defaults);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 0);
    assert_int_equal(holders(&w, 0, 3), 64);
    pass(&w, 0, 1000, 500);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 307);
    end_epoch(&w);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 307);
    pass(&w, 0, 1000, 510);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 307);
    end_epoch(&w);
    pass(&w, 0, 1000, 600);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 269);
    end(&w);
}

/* mask-sec52-per-app, mask-sec52-epoch-tracking: each application by its own miss rate and its own warps, and each
 * core's warps are counted once in an epoch. */
static void each_application_has_its_own_tokens(void **state)
{
    (void)state;
    struct world w;
    make(&w, 2, two_apps, defaults);
    w.active[5] = 0xff; /* the second application has 64 + 8 warps */
    pass(&w, 0, 1000, 500);
    pass(&w, 1, 1000, 100);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 204);
    assert_int_equal(tokens(&w, 1), 57);
    pass(&w, 0, 1000, 600);
    pass(&w, 1, 1000, 10);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 179);
    assert_int_equal(tokens(&w, 1), 64);
    pass(&w, 1, 1000, 400);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 179);
    assert_int_equal(tokens(&w, 1), 57);
    assert_int_equal(holders(&w, 0, 0), 45);
    assert_int_equal(holders(&w, 0, 3), 44);
    assert_int_equal(holders(&w, 1, 4), 29);
    assert_int_equal(holders(&w, 1, 5), 28);
    for (uint32_t sm = 0; sm < SMS; sm++)
        assert_int_equal(w.taken[sm], 4); /* at the beginning, and at the end of each epoch */
    end(&w);
}

/* mask-sec52-retain: a warp that holds a token keeps it as long as the number does not fall below its rank. */
static void a_warp_keeps_its_token_until_the_number_falls_below_its_rank(void **state)
{
    (void)state;
    static const char *const sets[] = {"band", "0", NULL};
    struct world w;
    uint32_t before[SMS], after;
    make_one(&w, sets);
    for (uint32_t sm = 0; sm < SMS; sm++)
        before[sm] = holders(&w, 0, sm);
    static const uint64_t misses[] = {600, 700, 650, 640, 900, 100};
    for (unsigned i = 0; i < 6; i++) {
        pass(&w, 0, 1000, misses[i]);
        end_epoch(&w);
        bool raised = metrics(&w, 0).direction;
        for (uint32_t sm = 0; sm < SMS; sm++, before[sm - 1] = after) {
            after = holders(&w, 0, sm); /* the lowest slots: so the smaller set is part of the larger one */
            assert_true(raised ? after >= before[sm] : after <= before[sm]);
        }
    }
    end(&w);
}

/* With all tokens and steps of 0 nobody is ever kept out, not even warps in slots that were empty when tokens were
 * given, nor those of an SM that has more warps than others. */
static void with_all_tokens_every_warp_fills(void **state)
{
    (void)state;
    static const char *const sets[] = {"initial", "100", "step", "0", NULL};
    struct world w;
    make(&w, 1, one_app, sets);
    for (uint32_t sm = 0; sm < SMS; sm++)
        w.active[sm] = sm ? 0xf : 0xff;
    for (unsigned i = 0; i < 5; i++) {
        pass(&w, 0, 1000, i % 2 ? 100 : 900);
        end_epoch(&w);
        assert_int_equal(tokens(&w, 0), 28);
        for (uint32_t sm = 0; sm < SMS; sm++)
            assert_int_equal(holders(&w, 0, sm), 64);
        w.active[2] = ~0ULL;
    }
    end(&w);
}

/* Tokens given for more warps than there are in a later epoch stay as they are, and change from what there is. */
static void tokens_follow_the_warps_of_the_epoch_when_they_change(void **state)
{
    (void)state;
    struct world w;
    make_one(&w, defaults);
    for (uint32_t sm = 0; sm < SMS; sm++)
        w.active[sm] = 0xff;
    pass(&w, 0, 1000, 500);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 307);
    pass(&w, 0, 1000, 900);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 48 - 4);
    memset(w.active, 0, sizeof w.active); /* lookups of stores whose warps have gone: no epoch either */
    pass(&w, 0, 1000, 100);
    end_epoch(&w);
    assert_int_equal(tokens(&w, 0), 48 - 4);
    end(&w);
}

/* mask-sec74-max-apps, mask-sec74-token-counters, mask-sec74-direction-count: 30 applications on 30 cores, each with a
 * counter and a register of its own. */
static void tokens_are_distributed_among_thirty_applications(void **state)
{
    (void)state;
    struct world w;
    uint32_t app_sms[30];
    for (unsigned i = 0; i < 30; i++)
        app_sms[i] = 1;
    make(&w, 30, app_sms, defaults);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        for (unsigned i = 0; i < 30; i++)
            pass(&w, i, 1000, epoch ? 500 + (i % 3 - 1) * epoch * 100 : 500);
        end_epoch(&w);
    }
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(tokens(&w, i), 51 + (1 - (int)(i % 3)) * 2 * 6);
        assert_int_equal(metrics(&w, i).direction, i % 3 == 0);
        assert_int_equal(holders(&w, i, i), tokens(&w, i));
    }
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_fills_in_the_first_epoch_and_the_initial_share_then),
        cmocka_unit_test(tokens_go_to_the_lowest_slots_of_equal_shares),
        cmocka_unit_test(the_miss_rate_lowers_and_raises_tokens),
        cmocka_unit_test(tokens_stay_between_one_and_all),
        cmocka_unit_test(a_step_is_one_token_at_least),
        cmocka_unit_test(an_epoch_without_lookups_changes_nothing),
        cmocka_unit_test(each_application_has_its_own_tokens),
        cmocka_unit_test(a_warp_keeps_its_token_until_the_number_falls_below_its_rank),
        cmocka_unit_test(with_all_tokens_every_warp_fills),
        cmocka_unit_test(tokens_follow_the_warps_of_the_epoch_when_they_change),
        cmocka_unit_test(tokens_are_distributed_among_thirty_applications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
