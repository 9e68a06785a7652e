/* A compressed array for tests, with options of its own, whose contents can be asked for without using them. */
#ifndef PW_TESTS_COMPRESSED_TLB_H
#define PW_TESTS_COMPRESSED_TLB_H

#include "policies.h"
#include "policy/tlb/tlb_policy.h"

#include <stdio.h>

struct compressed_tlb {
    struct pw_policy_use use;
    const struct pw_tlb_policy *policy;
    void *state;
};

/* kepler's L2 and L1 TLB. */
static const struct pw_tlb_shape L2_SHAPE = {.entries = 512, .ways = 16, .subpages = 1};
static const struct pw_tlb_shape L1_SHAPE = {.entries = 32, .ways = 4, .subpages = 1};

/* Options as "name=value name=value"; what making it returns. */
static inline enum pw_status compressed_try(struct compressed_tlb *t, const struct pw_tlb_shape *shape,
                                            const char *options, struct pw_error *err)
{
    struct pw_policy_choice choice = policy_choice(&pw_tlb_family, "compressed");
    char name[32], value[32];
    int length = 0;
    for (; sscanf(options, " %31[^=]=%31s%n", name, value, &length) == 2; options += length)
        policy_set(&pw_tlb_family, &choice, name, value);
    *t = (struct compressed_tlb){.policy = pw_tlb_policy_of(pw_policy_chosen(&pw_tlb_family, &choice))};
    assert_int_equal(
        pw_policy_use_init(&t->use, NULL, "l2_tlb.organisation", &t->policy->head, &choice, PW_MAX_APPS, err), PW_OK);
    return pw_policy_use_add(&t->use, shape, &t->state, err);
}

static inline void compressed_make(struct compressed_tlb *t, const struct pw_tlb_shape *shape, const char *options)
{
    struct pw_error err;
    if (compressed_try(t, shape, options, &err) != PW_OK)
        fail_msg("%s: %s", options, err.message);
}

static inline void compressed_free(struct compressed_tlb *t)
{
    pw_policy_use_release(&t->use);
}

static inline uint64_t compressed_count(const struct compressed_tlb *t, const char *metric, pw_asid asid)
{
    const struct pw_policy_metric *m = t->policy->head.metrics;
    while (m->name && strcmp(m->name, metric) != 0)
        m++;
    assert_non_null(m->name);
    const char *counters = (const char *)t->use.counters + asid * t->policy->head.counters_bytes;
    return *(const uint64_t *)(const void *)(counters + m->offset);
}

static inline void put_as(struct compressed_tlb *t, pw_asid asid, uint64_t page, uint32_t word)
{
    t->policy->insert(t->state, (struct pw_tlb_key){page, asid}, (pw_pfn){word}, NULL);
}

static inline void put(struct compressed_tlb *t, uint64_t page, uint32_t word)
{
    put_as(t, 0, page, word);
}

/* A lookup: the frame word, or UINT32_MAX. */
static inline uint32_t look_as(struct compressed_tlb *t, pw_asid asid, uint64_t page)
{
    pw_pfn word = {0};
    return t->policy->lookup(t->state, (struct pw_tlb_key){page, asid}, &word) ? word.v : UINT32_MAX;
}

static inline uint32_t look(struct compressed_tlb *t, uint64_t page)
{
    return look_as(t, 0, page);
}

struct compressed_contents {
    uint64_t page;
    pw_asid asid;
    uint32_t word; /* of that page, or UINT32_MAX */
    unsigned count;
};

static inline void compressed_visit(void *context, struct pw_tlb_key key, pw_pfn word)
{
    struct compressed_contents *c = context;
    c->count++;
    if (key.page == c->page && key.asid == c->asid) {
        assert_int_equal(c->word, UINT32_MAX); /* nothing is there twice */
        c->word = word.v;
    }
}

/* What is there, without a use of it. */
static inline bool holds_as(const struct compressed_tlb *t, pw_asid asid, uint64_t page)
{
    struct compressed_contents c = {page, asid, UINT32_MAX, 0};
    t->policy->each(t->state, compressed_visit, &c);
    return c.word != UINT32_MAX;
}

static inline bool holds(const struct compressed_tlb *t, uint64_t page)
{
    return holds_as(t, 0, page);
}

static inline unsigned held(const struct compressed_tlb *t)
{
    struct compressed_contents c = {UINT64_MAX, 0, UINT32_MAX, 0};
    t->policy->each(t->state, compressed_visit, &c);
    return c.count;
}

/* Pages of set `set` of 32. */
static inline uint64_t in_set(uint64_t set, uint64_t tag)
{
    return tag << 5 | set;
}

/* A page of the set that no base fits, a new one each time: its frame is far from all others. */
static inline void put_stranger(struct compressed_tlb *t, uint64_t set, uint32_t number)
{
    put(t, in_set(set, (uint64_t)(100 + number) << 13), (1000 + number) << 9);
}

#endif
