/* The plain TLB organisation under random operations, against one plain LRU list per set. */
#include "policies.h"
#include "policy/tlb/tlb_policy.h"
#include "policy/tlb/wide.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ENTRIES = 512, MAX_SUBPAGES = 16, ASIDS = 2 };

struct entry {
    uint64_t block;
    pw_asid asid;
    uint32_t frames[MAX_SUBPAGES]; /* frame + 1 */
};

/* lists[set * ways …] from the most to the least recently used; counts[set] of them. */
struct model {
    uint32_t ways, sets, subpages;
    uint32_t counts[MAX_ENTRIES];
    struct entry lists[MAX_ENTRIES];
};

static struct entry *list_of(struct model *m, uint64_t block)
{
    return &m->lists[block % m->sets * m->ways];
}

static struct entry *find(struct model *m, struct pw_tlb_key key)
{
    uint64_t block = key.page / m->subpages;
    struct entry *list = list_of(m, block);
    for (uint32_t i = 0; i < m->counts[block % m->sets]; i++)
        if (list[i].block == block && list[i].asid == key.asid)
            return &list[i];
    return NULL;
}

static struct entry *move_to_front(struct entry *list, struct entry *e)
{
    struct entry moved = *e;
    memmove(list + 1, list, (size_t)(e - list) * sizeof *e);
    list[0] = moved;
    return list;
}

static bool naive_lookup(struct model *m, struct pw_tlb_key key, uint32_t *out)
{
    struct entry *e = find(m, key);
    if (!e || !e->frames[key.page % m->subpages])
        return false;
    *out = e->frames[key.page % m->subpages] - 1;
    move_to_front(list_of(m, e->block), e);
    return true;
}

static void naive_insert(struct model *m, struct pw_tlb_key key, uint32_t frame)
{
    uint64_t block = key.page / m->subpages;
    struct entry *e = find(m, key), *list = list_of(m, block);
    uint32_t *count = &m->counts[block % m->sets];
    if (!e) {
        if (*count < m->ways)
            ++*count;
        e = &list[*count - 1];
        *e = (struct entry){.block = block, .asid = key.asid};
    }
    e = move_to_front(list, e);
    e->frames[key.page % m->subpages] = frame + 1;
}

static unsigned naive_invalidate(struct model *m, pw_asid asid, uint64_t first, uint64_t outer)
{
    unsigned dropped = 0;
    for (uint32_t set = 0; set < m->sets; set++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < m->counts[set]; i++) {
            struct entry *e = &m->lists[set * m->ways + i];
            bool is_empty = true;
            for (uint32_t k = 0; k < m->subpages; k++) {
                uint64_t page = e->block * m->subpages + k;
                if (e->asid == asid && page >= first && page < outer && e->frames[k]) {
                    e->frames[k] = 0;
                    dropped++;
                }
                is_empty = is_empty && !e->frames[k];
            }
            if (!is_empty)
                m->lists[set * m->ways + kept++] = *e;
        }
        m->counts[set] = kept;
    }
    return dropped;
}

static void count_visit(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    struct model *m = ((void **)context)[0];
    unsigned *count = ((void **)context)[1];
    struct entry *e = find(m, key);
    assert_non_null(e);
    assert_int_equal(e->frames[key.page % m->subpages], frame.v + 1);
    ++*count;
}

static void check_contents(const struct pw_tlb_policy *policy, void *t, struct model *m)
{
    unsigned stored = 0, expected = 0;
    void *context[] = {m, &stored};
    policy->each(t, count_visit, context);
    for (uint32_t set = 0; set < m->sets; set++)
        for (uint32_t i = 0; i < m->counts[set]; i++)
            for (uint32_t k = 0; k < m->subpages; k++)
                expected += m->lists[set * m->ways + i].frames[k] != 0;
    assert_int_equal(stored, expected);
}

/* The first pages from `from` on that share an eighth of the buckets of a wide array (policy/tlb/wide.h), many more
 * than have room there; of the first address space. */
static void crowd(uint64_t *out, uint64_t count, uint64_t from)
{
    for (uint64_t page = from; count; page++)
        if (wide_hash(1ULL << 63 | page) >> 61 == 0) {
            *out++ = page;
            count--;
        }
}

static void run(const struct pw_tlb_policy *policy, uint32_t entries, uint32_t ways, uint32_t subpages, bool is_crowded)
{
    struct model *m = calloc(1, sizeof *m);
    m->ways = ways ? ways : entries;
    m->sets = entries / m->ways;
    m->subpages = subpages;
    struct pw_tlb_shape shape = {.entries = entries, .ways = ways, .subpages = subpages};
    struct pw_error err;
    struct pw_random random;
    void *t = NULL;
    assert_int_equal(
        pw_policy_create(&policy->head,
                         &(struct pw_policy_setup){.options = policy_defaults(&policy->head), .environment = &shape},
                         &t, &err),
        PW_OK);
    pw_random_init(&random, entries * 31 + ways, "tlb");
    uint64_t span = (uint64_t)entries * subpages * 3 / 2 + 2, base = ((1ULL << 36) - span) / 64 * 64;
    uint64_t *crowded = calloc(span, sizeof *crowded);
    if (is_crowded)
        crowd(crowded, span, base - 64 * span);
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t number = pw_random_below(&random, span);
        struct pw_tlb_key key = {is_crowded ? crowded[number] : base + number,
                                 (pw_asid)pw_random_below(&random, is_crowded ? 1 : ASIDS)};
        uint64_t what = pw_random_below(&random, 1000);
        if (what < 600) {
            uint32_t expected = 0;
            pw_pfn got = {0};
            assert_int_equal(policy->lookup(t, key, &got), naive_lookup(m, key, &expected));
            assert_int_equal(got.v, expected);
        } else if (what < 990) {
            uint32_t frame = (uint32_t)pw_random_below(&random, UINT32_MAX - 1);
            policy->insert(t, key, (pw_pfn){frame}, NULL);
            naive_insert(m, key, frame);
        } else {
            uint64_t outer = what < 996 ? key.page + pw_random_below(&random, 20) : UINT64_MAX;
            assert_int_equal(policy->invalidate(t, key.asid, key.page, outer),
                             naive_invalidate(m, key.asid, key.page, outer));
        }
        if (i % 5000 == 0)
            check_contents(policy, t, m);
    }
    check_contents(policy, t, m);
    pw_policy_destroy(t);
    free(crowded);
    free(m);
}

static void plain_arrays_agree_with_an_lru_list_per_set(void **state)
{
    (void)state;
    extern const struct pw_tlb_policy pw_tlb_policy_plain;
    const uint32_t shapes[][3] = {{1, 1, 1},   {2, 2, 1},    {8, 1, 1},  {12, 3, 1},  {32, 4, 1}, {30, 5, 1},
                                  {64, 8, 1},  {45, 9, 1},   {15, 0, 1}, {16, 0, 1},  {17, 0, 1}, {512, 16, 1},
                                  {96, 32, 1}, {102, 17, 1}, {64, 0, 1}, {128, 0, 1}, {4, 0, 16}, {32, 4, 4},
                                  {20, 0, 16}, {64, 32, 2},  {36, 12, 8}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        run(&pw_tlb_policy_plain, shapes[i][0], shapes[i][1], shapes[i][2], false);
}

static void pages_that_find_their_bucket_full_are_found_all_the_same(void **state)
{
    (void)state;
    extern const struct pw_tlb_policy pw_tlb_policy_plain;
    run(&pw_tlb_policy_plain, 128, 0, 1, true);
    run(&pw_tlb_policy_plain, 64, 32, 1, true);
    run(&pw_tlb_policy_plain, 300, 0, 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_arrays_agree_with_an_lru_list_per_set),
        cmocka_unit_test(pages_that_find_their_bucket_full_are_found_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
