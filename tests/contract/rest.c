/* Policies at rest (sim/policy.h): `rest` does what as many calls of `epoch` do while nothing happens.
 *
 * Two instances of a policy see the same random events and the end of the epoch. After that one of them is called and
 * the other one rests. Their states and counters are the same bytes then. */
#include "policies.h"
#include "policy/dram/dram_policy.h"
#include "policy/families.h"
#include "policy/l2_walks/l2_walks_policy.h"
#include "sim/random.h"

#include <stdlib.h>

enum { APPS = 3, EVENTS = 200, ROUNDS = 20 };

struct instance {
    void *state, *counters;
    struct pw_walk_pressure pressure[APPS];
    struct pw_dram_environment environment;
};

static void create(struct instance *i, const struct pw_policy *policy, const void *options)
{
    struct pw_error err;
    *i = (struct instance){.environment = {.read_queue = 128, .write_queue = 64, .pressure = i->pressure}};
    assert_non_null(i->counters = calloc(APPS, policy->counters_bytes + 1));
    struct pw_policy_setup setup = {options, &i->environment, i->counters, APPS};
    assert_int_equal(pw_policy_create(policy, &setup, &i->state, &err), PW_OK);
}

static void destroy(struct instance *i)
{
    pw_policy_destroy(i->state);
    free(i->counters);
}

typedef void event_fn(const struct pw_policy *policy, struct instance *i, struct pw_random *random);

/* Data hit more often than page-table reads. */
static void walk_event(const struct pw_policy *policy, struct instance *i, struct pw_random *random)
{
    unsigned level = (unsigned)pw_random_below(random, PW_TABLE_LEVELS + 1);
    bool hit = pw_random_below(random, 8 + level) < 6;
    if (pw_l2_walks_policy_of(policy)->happened)
        pw_l2_walks_policy_of(policy)->happened(i->state, 0, level, hit ? PW_L2_HIT : PW_L2_MISS);
}

static void dram_event(const struct pw_policy *policy, struct instance *i, struct pw_random *random)
{
    pw_asid app = (pw_asid)pw_random_below(random, APPS);
    if (pw_dram_policy_of(policy)->rank)
        pw_dram_policy_of(policy)->rank(i->state, app, (unsigned)pw_random_below(random, PW_TABLE_LEVELS + 1));
}

/* Nothing within a state points into it, so that equal states differ in what they are made from only. */
static void expect_same(const struct pw_policy *policy, const struct instance *a, const struct instance *b)
{
    const unsigned char *x = a->state, *y = b->state;
    for (size_t i = 0; i + sizeof(void *) <= policy->state_bytes; i += sizeof(void *)) {
        const void *p = NULL, *q = NULL;
        memcpy(&p, x + i, sizeof p);
        memcpy(&q, y + i, sizeof q);
        bool own = (p == a->counters && q == b->counters) || (p == a->pressure && q == b->pressure);
        if (!own && p != q)
            fail_msg("%s: byte %zu of its state differs", policy->name, i);
    }
    assert_memory_equal(a->counters, b->counters, APPS * policy->counters_bytes);
}

static void compare(const struct pw_policy *policy, const void *options, event_fn *event, uint64_t calls)
{
    struct instance called, rested;
    struct pw_random random, same;
    pw_random_init(&random, calls, "rest");
    same = random;
    create(&called, policy, options);
    create(&rested, policy, options);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pw_cycle now = 0;
        for (unsigned i = 0; i < EVENTS; i++) {
            event(policy, &called, &random);
            event(policy, &rested, &same);
        }
        policy->epoch(rested.state, now);
        for (uint64_t i = 0; i <= calls; i++)
            now = policy->epoch(called.state, now);
        policy->rest(rested.state, calls);
        expect_same(policy, &called, &rested);
    }
    destroy(&called);
    destroy(&rested);
}

static void resting_is_being_called_while_nothing_happens(void **state)
{
    (void)state;
    static const struct {
        const struct pw_policy_family *family;
        event_fn *event;
    } families[] = {{&pw_l2_walks_family, walk_event}, {&pw_dram_family, dram_event}};
    unsigned compared = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct pw_policy *const *p = families[i].family->policies; *p; p++)
            for (uint64_t calls = 1; (*p)->rest && calls < 100; calls += 1 + calls / 8, compared++)
                compare(*p, policy_defaults(*p), families[i].event, calls);
    assert_true(compared > 0);
}

static void only_policies_with_epochs_rest(void **state)
{
    (void)state;
    for (const struct pw_policy_family *const *family = pw_families; *family; family++)
        for (const struct pw_policy *const *p = (*family)->policies; *p; p++)
            assert_true((*p)->epoch || !(*p)->rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resting_is_being_called_while_nothing_happens),
        cmocka_unit_test(only_policies_with_epochs_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
