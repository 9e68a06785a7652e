/* The compressed TLB organisation against a dictionary: a million operations over arrays of every kind, for three
 * address spaces and three page sizes, with options drawn at random. Whatever it holds has the frame and the
 * permissions that were put in last; what was put in is found right after; what was invalidated is gone, and was
 * counted. */
#include "compressed_tlb.h"
#include "sim/random.h"

#include <stdlib.h>

enum { ASIDS = 3, PAGES = 4096, ARRAYS = 400, OPERATIONS = 2500 };

/* frame word + 1 of each page that may be in the array, 0 where it must not be; and where pages are mapped. */
struct model {
    struct compressed_tlb tlb;
    struct pw_random random;
    uint32_t order;
    uint64_t first[4]; /* of the four regions that pages lie in */
    uint32_t words[ASIDS][PAGES];
    uint32_t held[ASIDS][PAGES]; /* by `each` */
    char options[256];
};

static uint32_t draw(struct model *m, uint32_t below)
{
    return (uint32_t)pw_random_below(&m->random, below);
}

static uint64_t page_of(const struct model *m, uint32_t index)
{
    return m->first[index % 4] + index / 4;
}

/* -1: none of them. */
static int index_of(const struct model *m, uint64_t page)
{
    for (unsigned region = 0; region < 4; region++)
        if (page >= m->first[region] && page < m->first[region] + PAGES / 4)
            return (int)((page - m->first[region]) * 4 + region);
    return -1;
}

static void draw_options(struct model *m)
{
    static const char *const ratios[] = {"2", "3", "4"}, *const shares[] = {"0", "25", "50", "75", "100", "33"},
                             *const counters[] = {"0", "1", "3", "16"}, *const sharing[] = {"0", "1", "2", "4"},
                             *const switches[] = {"off", "on"}, *const firsts[] = {"run", "launch"};
    snprintf(m->options, sizeof m->options,
             "virtual_bits=%u physical_bits=%u ratio=%s share=%s counter=%s sets_per_base=%s consecutive=%s search=%s "
             "first_base=%s",
             draw(m, 14), draw(m, 12), ratios[draw(m, 3)], shares[draw(m, 6)], counters[draw(m, 4)],
             sharing[draw(m, 4)], switches[draw(m, 2)], switches[draw(m, 2)], firsts[draw(m, 2)]);
}

static void draw_array(struct model *m)
{
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    static const struct pw_tlb_shape shapes[] = {
        {.entries = 64, .ways = 16, .subpages = 1}, {.entries = 32, .ways = 4, .subpages = 1},
        {.entries = 8, .ways = 1, .subpages = 1},   {.entries = 40, .ways = 0, .subpages = 1},
        {.entries = 60, .ways = 5, .subpages = 1},  {.entries = 16, .ways = 4, .subpages = 4},
        {.entries = 36, .ways = 3, .subpages = 2},  {.entries = 160, .ways = 40, .subpages = 1}};
    struct pw_tlb_shape shape = shapes[draw(m, 8)];
    m->order = shape.order = (uint8_t)orders[draw(m, 3)];
    for (unsigned i = 0; i < 4; i++)
        m->first[i] = ((uint64_t)i << 24) + draw(m, 1 << 20);
    memset(m->words, 0, sizeof m->words);
    draw_options(m);
    compressed_make(&m->tlb, &shape, m->options);
}

/* Mostly near what else is mapped, so that much is compressible; now and then anywhere, or no multiple of the size. */
static uint32_t draw_word(struct model *m, uint32_t index)
{
    uint32_t unit = draw(m, 8) ? (index % 4) << 10 | index / 4 : draw(m, 1 << 14);
    uint32_t frame = (unit << m->order) + (draw(m, 16) ? 0 : draw(m, 1U << m->order));
    return pw_frame_word((pw_pfn){frame}, draw(m, 6) ? 0 : draw(m, 4)).v;
}

static void check_lookup(struct model *m, pw_asid asid, uint32_t index)
{
    uint32_t word = look_as(&m->tlb, asid, page_of(m, index));
    if (word != UINT32_MAX && word + 1 != m->words[asid][index])
        fail_msg("%s: page %u of address space %u has 0x%x, not 0x%x - 1", m->options, index, asid, word,
                 m->words[asid][index]);
}

static void insert(struct model *m, pw_asid asid, uint32_t index)
{
    uint32_t *known = &m->words[asid][index], word = *known && draw(m, 4) ? *known - 1 : draw_word(m, index);
    *known = word + 1;
    put_as(&m->tlb, asid, page_of(m, index), word);
    if (look_as(&m->tlb, asid, page_of(m, index)) != word)
        fail_msg("%s: page %u of address space %u is not found right after it was put in", m->options, index, asid);
}

static void hold(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    struct model *m = context;
    int index = index_of(m, key.page);
    assert_true(index >= 0 && key.asid < ASIDS && !m->held[key.asid][index]);
    m->held[key.asid][index] = frame.v + 1;
}

/* What is held has the right words. */
static void check_held(struct model *m)
{
    memset(m->held, 0, sizeof m->held);
    m->tlb.policy->each(m->tlb.state, hold, m);
    for (unsigned a = 0; a < ASIDS; a++)
        for (unsigned i = 0; i < PAGES; i++)
            assert_true(!m->held[a][i] || m->held[a][i] == m->words[a][i]);
}

static void invalidate(struct model *m, pw_asid asid, uint32_t index)
{
    uint64_t first = page_of(m, index), outer = first + 1 + (draw(m, 4) ? 0 : draw(m, 3) ? draw(m, 300) : 1ULL << 40);
    unsigned inside = 0;
    check_held(m);
    for (uint32_t i = 0; i < PAGES; i++)
        if (page_of(m, i) >= first && page_of(m, i) < outer) {
            inside += m->held[asid][i] != 0;
            m->words[asid][i] = 0;
        }
    unsigned before = held(&m->tlb);
    assert_int_equal(m->tlb.policy->invalidate(m->tlb.state, asid, first, outer), inside);
    assert_int_equal(held(&m->tlb), before - inside);
    check_held(m);
}

static void operate(struct model *m)
{
    pw_asid asid = (pw_asid)draw(m, ASIDS);
    uint32_t index = draw(m, draw(m, 3) ? 300 : PAGES), kind = draw(m, 200);
    if (kind < 90)
        check_lookup(m, asid, index);
    else if (kind < 197)
        insert(m, asid, index);
    else if (kind < 199)
        invalidate(m, asid, index);
    else
        m->tlb.policy->launch(m->tlb.state, asid);
}

static void it_never_gives_a_wrong_frame(void **state)
{
    (void)state;
    struct model *m = calloc(1, sizeof *m);
    uint64_t compressed = 0, uncompressible = 0, rebases = 0, flushed = 0;
    assert_non_null(m);
    pw_random_init(&m->random, 1, "compressed TLB");
    for (unsigned i = 0; i < ARRAYS; i++) {
        draw_array(m);
        for (unsigned k = 0; k < OPERATIONS; k++)
            operate(m);
        for (pw_asid a = 0; a < ASIDS; a++) {
            compressed += compressed_count(&m->tlb, "compressed_fills", a);
            uncompressible += compressed_count(&m->tlb, "uncompressible", a);
            rebases += compressed_count(&m->tlb, "rebases", a);
            flushed += compressed_count(&m->tlb, "rebase_flushed", a);
        }
        compressed_free(&m->tlb);
    }
    free(m);
    print_message("%llu compressed, %llu not; %llu bases replaced, %llu flushed\n", (unsigned long long)compressed,
                  (unsigned long long)uncompressible, (unsigned long long)rebases, (unsigned long long)flushed);
    assert_true(compressed > 50000 && uncompressible > 50000 && rebases > 10000 && flushed > 10000);
}

/* Without compressed ways it is the plain organisation, hit for hit. */
static void without_compressed_ways_it_is_plain(void **state)
{
    (void)state;
    struct compressed_tlb t;
    struct pw_policy_use use;
    const struct pw_tlb_policy *plain = pw_tlb_policy_of(policy_named(&pw_tlb_family, "plain"));
    struct pw_random random;
    void *as_plain = policy_instance(&use, &pw_tlb_family, &plain->head, &L2_SHAPE);
    compressed_make(&t, &L2_SHAPE, "share=0");
    pw_random_init(&random, 2, "plain");
    for (unsigned i = 0; i < 100000; i++) {
        struct pw_tlb_key key = {pw_random_below(&random, 1000), (pw_asid)pw_random_below(&random, ASIDS)};
        pw_pfn word = {0};
        bool hit = plain->lookup(as_plain, key, &word);
        assert_int_equal(look_as(&t, key.asid, key.page), hit ? word.v : UINT32_MAX);
        if (pw_random_below(&random, 2)) {
            plain->insert(as_plain, key, (pw_pfn){(uint32_t)key.page * 3}, NULL);
            put_as(&t, key.asid, key.page, (uint32_t)key.page * 3);
        }
    }
    compressed_free(&t);
    pw_policy_use_release(&use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_never_gives_a_wrong_frame),
        cmocka_unit_test(without_compressed_ways_it_is_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
