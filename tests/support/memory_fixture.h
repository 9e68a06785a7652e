/* A memory of one channel and one slice, whose DRAM clock is the core's, and a client that sends page-table reads and
 * data.
 *
 * Requests of the page manager stand for data: they count as such and need no crossbar. */
#ifndef PW_TESTS_MEMORY_FIXTURE_H
#define PW_TESTS_MEMORY_FIXTURE_H

#include "dram_fixture.h"
#include "policies.h"

#include "mem/memory_internal.h"

enum { L2_PATH = 7, L2_LATENCY = 10, DRAM_PATH = 5, MEMORY_FIXTURE_REQUESTS = 2000 };

struct memory_fixture {
    struct pw_memory_config config;
    struct pw_policies policies;
    struct pw_events *events;
    struct pw_request_pool pool;
    struct pw_memory *memory;
    pw_cycle sent[MEMORY_FIXTURE_REQUESTS], took[MEMORY_FIXTURE_REQUESTS];
    unsigned answers, count;
    uint32_t again; /* when the first request is memory_fixture_answered, reads this line at once; 0: does not */
};

static inline void memory_fixture_send(struct memory_fixture *b, unsigned level, uint32_t line, uint8_t sectors)
{
    struct pw_request *r = pw_request_take(&b->pool);
    *r = (struct pw_request){.line = line, .kind = PW_REQUEST_WALK, .sectors = sectors, .owner = b->count};
    if (!level)
        r->kind = PW_REQUEST_MANAGER_READ;
    r->level = level & 7U;
    b->sent[b->count++] = b->events->now;
    pw_memory_send_direct(b->memory, r, b->events->now);
}

static inline void memory_fixture_answered(void *fixture, struct pw_request *r, pw_cycle now)
{
    struct memory_fixture *b = fixture;
    uint32_t owner = r->owner;
    b->took[owner] = now - b->sent[owner];
    b->answers++;
    pw_request_give(&b->pool, r);
    if (owner == 0 && b->again)
        memory_fixture_send(b, 4, b->again, 1);
}

static inline struct memory_fixture *memory_fixture_with(const char *policy, const struct pw_l2_walks_policy *instead,
                                                         uint32_t mshrs, bool sectored,
                                                         struct pw_policy_choice schedule)
{
    struct memory_fixture *b = calloc(1, sizeof *b);
    struct pw_error err;
    b->config = (struct pw_memory_config){.dram = dram_default_config(), .sms = 1, .apps = 1, .walks = instead};
    for (const struct pw_option *o = pw_l2_options; o->name; o++)
        assert_int_equal(pw_option_parse(o, o->fallback, 1000, (char *)&b->config.l2 + o->offset, &err), PW_OK);
    for (const struct pw_option *o = pw_crossbar_options; o->name; o++)
        assert_int_equal(pw_option_parse(o, o->fallback, 1000, (char *)&b->config.crossbar + o->offset, &err), PW_OK);
    b->config.l2.walks = policy_choice(&pw_l2_walks_family, policy);
    b->config.core_mhz = b->config.dram.clock_mhz;
    b->config.dram.schedule = schedule;
    b->config.dram.channels = b->config.l2.slices = 1;
    b->config.dram.path = DRAM_PATH;
    b->config.l2.path = L2_PATH;
    b->config.l2.latency = L2_LATENCY;
    b->config.l2.mshrs = mshrs;
    b->config.l2.sectored = sectored;
    b->config.policies = &b->policies;
    b->events = pw_events_create(&err);
    pw_request_pool_init(&b->pool, b->events);
    assert_int_equal(pw_memory_create(&b->config, b->events, &b->pool, &b->memory, &err), PW_OK);
    pw_memory_connect(b->memory, &(struct pw_memory_clients){.walker = b,
                                                             .walk_read = memory_fixture_answered,
                                                             .manager = b,
                                                             .managed = memory_fixture_answered});
    pw_policies_begin(&b->policies, b->events);
    return b;
}

static inline struct memory_fixture *memory_fixture_create(const char *policy, const struct pw_l2_walks_policy *instead,
                                                           uint32_t mshrs, bool sectored)
{
    return memory_fixture_with(policy, instead, mshrs, sectored, dram_default_config().schedule);
}

/* Of a counter of the L2, over data and all levels. */
static inline uint64_t memory_fixture_sum(const uint64_t *by_kind)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < PW_L2_KINDS; kind++)
        sum += by_kind[kind];
    return sum;
}

/* Runs to the end: everything has been memory_fixture_answered, and the L2's counters add up. */
static inline void memory_fixture_run(struct memory_fixture *b)
{
    bool stop = false;
    while (!pw_events_idle(b->events)) /* a policy may have epochs without end */
        pw_events_run(b->events, pw_events_next_time(b->events) + 1, &stop);
    assert_int_equal(b->answers, b->count);
    assert_int_equal(pw_memory_pending(b->memory), 0);
    assert_int_equal(b->pool.records.in_use, 0);
    const struct pw_l2_counters *n = b->memory->counters;
    assert_int_equal(memory_fixture_sum(n->accesses), memory_fixture_sum(n->hits) + n->misses);
    assert_int_equal(b->memory->slices[0].mshr.in_use, 0);
}

static inline void memory_fixture_destroy(struct memory_fixture *b)
{
    pw_memory_destroy(b->memory);
    pw_request_pool_destroy(&b->pool);
    pw_events_destroy(b->events);
    free(b);
}

#endif
