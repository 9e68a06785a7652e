/* The rule of l2.walks = by-level: which levels of the page table bypass the L2, from the outcomes it is told of. */
#include "policies.h"

#include "mem/request.h"
#include "policy/l2_walks/l2_walks_policy.h"

enum { EPOCH = 100000, SAMPLED = 64 };

struct bench {
    const struct pw_l2_walks_policy *policy;
    struct pw_policy_use use;
    void *state;
    pw_cycle next;
};

/* As at the beginning of a run. */
static void start(struct bench *b)
{
    b->policy = pw_l2_walks_policy_of(policy_named(&pw_l2_walks_family, "by-level"));
    b->state = policy_instance(&b->use, &pw_l2_walks_family, &b->policy->head, NULL);
    b->next = b->policy->head.epoch(b->state, 0);
}

static void end_epoch(struct bench *b)
{
    b->next = b->policy->head.epoch(b->state, b->next);
}

static void look_up(struct bench *b, unsigned level, unsigned hits, unsigned accesses)
{
    for (unsigned i = 0; i < accesses; i++)
        b->policy->happened(b->state, i % 2, level, i < hits ? PW_L2_HIT : PW_L2_MISS);
}

static bool bypasses(struct bench *b, unsigned level)
{
    return b->policy->use(b->state, 0, level) == PW_L2_BYPASS;
}

/* mask-sec53-bypass-rule, mask-sec53-hitrate-def: hits over accesses of the level against those of data, whatever
 * their numbers; only a level that is below bypasses. */
static void a_level_bypasses_when_it_hits_less_often_than_data(void **state)
{
    (void)state;
    static const struct {
        unsigned level_hits, level_accesses, data_hits, data_accesses;
        bool bypasses;
    } rows[] = {
        {51, 100, 50, 100, false},   {50, 100, 50, 100, false}, {49, 100, 50, 100, true}, {1, 2, 500, 1000, false},
        {499, 1000, 1, 2, true},     {501, 1000, 1, 2, false},  {0, 10, 0, 10, false},    {0, 10, 1, 1000, true},
        {10, 10, 1000, 1000, false}, {9, 10, 1000, 1000, true}, {0, 0, 10, 10, false},    {0, 10, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start(&b);
        look_up(&b, 4, rows[i].level_hits, rows[i].level_accesses);
        look_up(&b, 0, rows[i].data_hits, rows[i].data_accesses);
        assert_false(bypasses(&b, 4)); /* not before the epoch is over */
        end_epoch(&b);
        if (bypasses(&b, 4) != rows[i].bypasses)
            fail_msg("row %zu", i);
        pw_policy_use_release(&b.use);
    }
}

/* mask-sec53-per-level */
static void each_level_is_compared_by_itself(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    static const unsigned hits[] = {0, 40, 29, 30, 1};
    look_up(&b, 0, 30, 100);
    for (unsigned level = 1; level <= PW_TABLE_LEVELS; level++)
        look_up(&b, level, hits[level], 100);
    end_epoch(&b);
    for (unsigned level = 1; level <= PW_TABLE_LEVELS; level++)
        assert_int_equal(bypasses(&b, level), hits[level] < 30);
    pw_policy_use_release(&b.use);
}

static void it_decides_every_100000_cycles(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    assert_int_equal(b.next, EPOCH);
    end_epoch(&b);
    assert_int_equal(b.next, 2 * EPOCH);
    pw_policy_use_release(&b.use);
}

/* What counted in an epoch counts half in the next: with it 60 of 110 stand against 25 of 50. If nothing were halved,
 * 60 of 160 would be below 50 of 100. */
static void counters_are_halved_when_an_epoch_ends(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    look_up(&b, 4, 0, 100);
    look_up(&b, 0, 50, 100);
    end_epoch(&b);
    assert_true(bypasses(&b, 4));
    end_epoch(&b); /* and they are not forgotten at once */
    assert_true(bypasses(&b, 4));
    pw_policy_use_release(&b.use);
    start(&b);
    look_up(&b, 4, 0, 100);
    look_up(&b, 0, 50, 100);
    end_epoch(&b);
    look_up(&b, 4, 60, 60);
    end_epoch(&b);
    assert_false(bypasses(&b, 4));
    pw_policy_use_release(&b.use);
}

/* mask-sec53-dynamic: a level that was bypassed uses the L2 again when its samples hit, and one that was not no longer
 * does when it misses. */
static void the_decision_follows_the_hit_rates(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    look_up(&b, 0, 50, 100);
    look_up(&b, 3, 90, 100);
    look_up(&b, 4, 10, 100);
    end_epoch(&b);
    assert_false(bypasses(&b, 3));
    assert_true(bypasses(&b, 4));
    look_up(&b, 3, 0, 200);
    look_up(&b, 4, 200, 200);
    end_epoch(&b);
    assert_true(bypasses(&b, 3));
    assert_false(bypasses(&b, 4));
    pw_policy_use_release(&b.use);
}

/* The 64th read of a bypassed level is looked up and may fill. A read that has to ask twice, since no miss register was
 * free, gets the same answer, and other levels and data do not matter. */
static void one_read_in_64_of_a_bypassed_level_uses_the_l2(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    look_up(&b, 0, 50, 100);
    look_up(&b, 4, 0, 100);
    look_up(&b, 3, 0, 100);
    end_epoch(&b);
    for (unsigned read = 1; read <= 3 * SAMPLED; read++) {
        enum pw_l2_use first = b.policy->use(b.state, 0, 4), again = b.policy->use(b.state, 1, 4);
        assert_int_equal(first, read % SAMPLED ? PW_L2_BYPASS : PW_L2_PROBE_AND_FILL);
        assert_int_equal(again, first);
        assert_true(bypasses(&b, 3));
        look_up(&b, 0, 1, 1);
        b.policy->happened(b.state, 0, 4, first == PW_L2_BYPASS ? PW_L2_BYPASSED : PW_L2_MISS);
    }
    pw_policy_use_release(&b.use);
}

/* mask-sec53-counters: there is one set of counters, as if they stood in the shared L2 TLB. */
static void all_applications_count_together_and_are_treated_alike(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.policy->happened(b.state, 0, 0, PW_L2_HIT);
    b.policy->happened(b.state, 1, 4, PW_L2_MISS);
    end_epoch(&b);
    for (unsigned app = 0; app < 3; app++)
        assert_int_equal(b.policy->use(b.state, app, 4), PW_L2_BYPASS);
    pw_policy_use_release(&b.use);
}

/* mask-sec53-tag, mask-sec53-tag-data, mask-sec53-tag-saturate, mask-sec74-tag-bits */
static void a_request_carries_its_depth_in_three_bits(void **state)
{
    (void)state;
    static const struct {
        unsigned depth, tag;
    } rows[] = {{0, 0}, {1, 1}, {4, 4}, {6, 6}, {7, 7}, {8, 7}, {100, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pw_depth_tag(rows[i].depth), rows[i].tag);
    struct pw_request r = {.level = 7};
    assert_int_equal(r.level, 7);
    r.level++;
    assert_int_equal(r.level, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_bypasses_when_it_hits_less_often_than_data),
        cmocka_unit_test(each_level_is_compared_by_itself),
        cmocka_unit_test(it_decides_every_100000_cycles),
        cmocka_unit_test(counters_are_halved_when_an_epoch_ends),
        cmocka_unit_test(the_decision_follows_the_hit_rates),
        cmocka_unit_test(one_read_in_64_of_a_bypassed_level_uses_the_l2),
        cmocka_unit_test(all_applications_count_together_and_are_treated_alike),
        cmocka_unit_test(a_request_carries_its_depth_in_three_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
