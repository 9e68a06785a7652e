/* Fully associative LRU hits exactly those references whose stack distance (distinct pages since the last reference to
 * the same page, itself included) is at most the number of entries. The distances are counted here without any LRU
 * list: from the times of the last references, in a Fenwick tree. One pass over a trace gives every size. */
#include "policies.h"
#include "policy/tlb/tlb_policy.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 20000, PAGES = 1024 };

struct reference {
    uint64_t page;
    pw_asid asid;
};

typedef void make_trace(struct reference *out, struct pw_random *random);

static void make_uniform(struct reference *out, struct pw_random *random)
{
    for (unsigned i = 0; i < LENGTH; i++)
        out[i] = (struct reference){pw_random_below(random, 200), 0};
}

/* A loop over 65 pages: LRU with 64 entries never hits, with 65 it always does but for the first round. */
static void make_loop(struct reference *out, struct pw_random *random)
{
    (void)random;
    for (unsigned i = 0; i < LENGTH; i++)
        out[i] = (struct reference){i % 65, 0};
}

static void make_skewed(struct reference *out, struct pw_random *random)
{
    for (unsigned i = 0; i < LENGTH; i++) {
        uint64_t bound = 1 + pw_random_below(random, 1 + pw_random_below(random, PAGES));
        out[i] = (struct reference){pw_random_below(random, bound), 0};
    }
}

/* Many warps, each streaming through its own pages with reuse: what an L1 TLB sees. */
static void make_streams(struct reference *out, struct pw_random *random)
{
    uint64_t at[48];
    for (unsigned w = 0; w < 48; w++)
        at[w] = pw_random_below(random, PAGES);
    for (unsigned i = 0; i < LENGTH; i++) {
        uint64_t w = pw_random_below(random, 48);
        if (pw_random_below(random, 8) == 0)
            at[w] = (at[w] + 1) % PAGES;
        out[i] = (struct reference){at[w], 0};
    }
}

static void make_two_spaces(struct reference *out, struct pw_random *random)
{
    for (unsigned i = 0; i < LENGTH; i++)
        out[i] = (struct reference){pw_random_below(random, 60), (pw_asid)(i / 7 % 2)};
}

static void add(uint32_t *tree, unsigned at, uint32_t value)
{
    for (at++; at <= LENGTH; at += at & -at)
        tree[at] += value;
}

static uint32_t sum_below(const uint32_t *tree, unsigned at)
{
    uint32_t sum = 0;
    for (; at > 0; at -= at & -at)
        sum += tree[at];
    return sum;
}

/* histogram[d] counts the references of stack distance d; first references are left out. */
static void count_distances(const struct reference *trace, uint32_t *histogram)
{
    static uint32_t tree[LENGTH + 1];
    static int last[2][PAGES];
    memset(tree, 0, sizeof tree);
    memset(last, 0xff, sizeof last);
    for (unsigned i = 0; i < LENGTH; i++) {
        int *before = &last[trace[i].asid][trace[i].page];
        if (*before >= 0) {
            histogram[sum_below(tree, i) - sum_below(tree, (unsigned)*before)]++;
            add(tree, (unsigned)*before, UINT32_MAX);
        }
        add(tree, i, 1);
        *before = (int)i;
    }
}

static uint32_t count_hits(const struct reference *trace, uint32_t entries)
{
    const struct pw_tlb_policy *policy = pw_tlb_policy_of(pw_tlb_family.policies[0]);
    struct pw_tlb_shape shape = {.entries = entries, .subpages = 1};
    struct pw_error err;
    void *t = NULL;
    uint32_t hits = 0;
    assert_int_equal(
        pw_policy_create(&policy->head,
                         &(struct pw_policy_setup){.options = policy_defaults(&policy->head), .environment = &shape},
                         &t, &err),
        PW_OK);
    for (unsigned i = 0; i < LENGTH; i++) {
        struct pw_tlb_key key = {trace[i].page, trace[i].asid};
        pw_pfn frame;
        if (policy->lookup(t, key, &frame))
            hits++;
        else
            policy->insert(t, key, (pw_pfn){(uint32_t)trace[i].page}, NULL);
    }
    pw_policy_destroy(t);
    return hits;
}

static void fully_associative_hits_equal_stack_distances(void **state)
{
    (void)state;
    make_trace *const shapes[] = {make_uniform, make_loop, make_skewed, make_streams, make_two_spaces};
    const uint32_t sizes[] = {1, 2, 5, 8, 15, 16, 17, 31, 48, 64, 65, 100, 128, 256, 512, 1024, 8192};
    struct reference *trace = malloc(LENGTH * sizeof *trace);
    uint32_t *histogram = malloc((2 * PAGES + 1) * sizeof *histogram);
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct pw_random random;
        pw_random_init(&random, s, "trace");
        shapes[s](trace, &random);
        memset(histogram, 0, (2 * PAGES + 1) * sizeof *histogram);
        count_distances(trace, histogram);
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            uint32_t expected = 0;
            for (uint32_t d = 1; d <= sizes[i] && d <= 2 * PAGES; d++)
                expected += histogram[d];
            assert_int_equal(count_hits(trace, sizes[i]), expected);
        }
    }
    make_loop(trace, NULL);
    assert_int_equal(count_hits(trace, 64), 0);
    assert_int_equal(count_hits(trace, 65), LENGTH - 65);
    free(histogram);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fully_associative_hits_equal_stack_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
