/* The latency of a pointer chase steps exactly where each TLB and each cache ends.
 *
 * A chase in order of address goes round n places. Under LRU, with full associativity, a structure of n entries keeps
 * all of them and one of n - 1 entries none, so the time of a round is n times one latency on one side of the step and
 * n times the next on the other. Each latency is a sum of configured numbers. Sets of the presets fill one after the
 * other, which gives exact counts too. */
#include "closed_form.h"
#include "timed.h"

#include <stdio.h>

/* The cycles of a round over `places` places when everything that stays has come: the third. */
static pw_cycle round_time(struct timed t, uint64_t places, uint64_t stride)
{
    pw_cycle cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "pointer_chase:order=stride:bytes=%llu:stride=%llu:hops=%llu:values=off",
                 (unsigned long long)(places * stride), (unsigned long long)stride,
                 (unsigned long long)((2 + i) * places));
        t.program = text;
        cycles[i] = timed_cycles(t);
    }
    return cycles[1] - cycles[0];
}

static struct pw_gpu_config config_of(struct timed t)
{
    timed_configure(&t);
    struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    return c;
}

/* mosaic-tab1-l1-repl */
static void the_l1_cache_ends_after_its_last_line(void **state)
{
    (void)state;
    struct timed t = {.design = "ideal-tlb", .sets = {"l1d.bytes=3072", "l1d.ways=24"}};
    struct pw_gpu_config c = config_of(t);
    for (uint64_t n = 20; n <= 24; n++)
        assert_int_equal(round_time(t, n, PW_LINE_BYTES), n * form_l1_hit(&c));
    for (uint64_t n = 25; n <= 30; n++)
        assert_int_equal(round_time(t, n, PW_LINE_BYTES), n * form_l2_hit(&c));
}

/* mosaic-tab1-l2-repl, with one clock, one channel and one bank with rows of one line: every DRAM access closes the row
 * of the one before. */
static void the_l2_cache_ends_after_its_last_line(void **state)
{
    (void)state;
    struct timed t = {.design = "ideal-tlb",
                      .sets = {"l1d.bytes=128", "l1d.ways=1", "dram.channels=1", "l2.slices=1", "l2.bytes=8KB",
                               "l2.ways=64", "dram.banks=1", "dram.row_bytes=128", "dram.clock_mhz=1020"}};
    struct pw_gpu_config c = config_of(t);
    const struct pw_dram_config *d = &c.dram;
    uint64_t dram = d->path + d->rp + d->rcd + d->cl + PW_LINE_BYTES / d->bytes_per_clock;
    for (uint64_t n = 60; n <= 64; n++)
        assert_int_equal(round_time(t, n, PW_LINE_BYTES), n * form_l2_hit(&c));
    for (uint64_t n = 65; n <= 70; n++)
        assert_int_equal(round_time(t, n, PW_LINE_BYTES), n * (form_l2_hit(&c) + dram));
}

/* The L1 cache holds a line of every page, the L2 cache every page-table entry. DRAM has the clock of the core, so that
 * the walk of the store at the end takes as long after two rounds as after three. */
#define BIG_L1 "l1d.bytes=1MB", "l1d.ways=4096", "dram.clock_mhz=1020"

static struct timed small_tlbs(const char *page_size)
{
    return (struct timed){.sets = {BIG_L1, page_size, "l1_tlb.base_entries=12", "l2_tlb.base_entries=40",
                                   "l2_tlb.base_ways=0", "l1_tlb.large_entries=12", "l2_tlb.large_entries=40"}};
}

static void each_tlb_ends_after_its_last_entry(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        uint64_t bytes, reads;
    } sizes[] = {{"page.size=4KB", 4 << 10, 4}, {"page.size=64KB", 64 << 10, 4}, {"page.size=2MB", 2 << 20, 3}};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = small_tlbs(sizes[i].size);
        uint64_t stride = sizes[i].bytes;
        struct pw_gpu_config c = config_of(t);
        uint64_t hit = form_l1_hit(&c), l2 = form_l2_tlb(&c, 1) + c.l1d.latency,
                 walk = sizes[i].reads * form_walk_read(&c);
        for (uint64_t n = 11; n <= 12; n++)
            assert_int_equal(round_time(t, n, stride), n * hit);
        for (uint64_t n = 13; n <= 40; n += 9)
            assert_int_equal(round_time(t, n, stride), n * l2);
        for (uint64_t n = 41; n <= 43; n++)
            assert_int_equal(round_time(t, n, stride), n * (l2 + walk));
    }
}

/* mosaic-tab1-l1tlb-base, mosaic-tab1-l1tlb-assoc, mosaic-tab1-l1tlb-repl, mosaic-tab1-l2tlb-base,
 * mosaic-tab1-l2tlb-base-assoc, mosaic-tab1-l2tlb-repl, comp-fig2-index: 128 entries, fully associative; then 512
 * entries in 32 sets of 16 ways, chosen by the low five bits of the page number, so that page 513 and all others of its
 * set miss, and no other. */
static void the_tlbs_of_mosaic_end_where_table_1_says(void **state)
{
    (void)state;
    struct timed t = {.machine = "mosaic", .sets = {BIG_L1}};
    struct pw_gpu_config c = config_of(t);
    uint64_t hit = form_l1_hit(&c), l2 = form_l2_tlb(&c, 1) + c.l1d.latency, walk = 4 * form_walk_read(&c);
    assert_int_equal(round_time(t, 128, PW_PAGE_BYTES), 128 * hit);
    assert_int_equal(round_time(t, 129, PW_PAGE_BYTES), 129 * l2);
    assert_int_equal(round_time(t, 512, PW_PAGE_BYTES), 512 * l2);
    for (uint64_t more = 1; more <= 3; more++)
        assert_int_equal(round_time(t, 512 + more, PW_PAGE_BYTES), (512 + more) * l2 + more * 17 * walk);
}

/* mosaic-tab1-l1tlb-large, mosaic-tab1-l2tlb-large, mosaic-tab1-l1tlb-assoc, mosaic-tab1-l2tlb-large-assoc: 16 and
 * 256 large entries, both fully associative. */
static void the_large_entries_of_mosaic_end_where_table_1_says(void **state)
{
    (void)state;
    struct timed t = {.machine = "mosaic", .sets = {BIG_L1, "page.size=2MB"}};
    struct pw_gpu_config c = config_of(t);
    uint64_t hit = form_l1_hit(&c), l2 = form_l2_tlb(&c, 1) + c.l1d.latency, walk = 3 * form_walk_read(&c);
    assert_int_equal(round_time(t, 16, 2 << 20), 16 * hit);
    assert_int_equal(round_time(t, 17, 2 << 20), 17 * l2);
    assert_int_equal(round_time(t, 256, 2 << 20), 256 * l2);
    assert_int_equal(round_time(t, 257, 2 << 20), 257 * (l2 + walk));
}

/* TLB compression, Table 3: 32 entries in 8 sets of 4 ways (comp-tab3-l1tlb-entries, comp-tab3-l1tlb-ways). */
static void the_l1_tlb_of_kepler_overflows_set_by_set(void **state)
{
    (void)state;
    struct timed t = {.machine = "kepler", .sets = {BIG_L1}};
    struct pw_gpu_config c = config_of(t);
    uint64_t hit = form_l1_hit(&c), l2 = form_l2_tlb(&c, 1) + c.l1d.latency;
    assert_int_equal(round_time(t, 32, PW_PAGE_BYTES), 32 * hit);
    for (uint64_t more = 1; more <= 8; more++)
        assert_int_equal(round_time(t, 32 + more, PW_PAGE_BYTES), (32 - 4 * more) * hit + 5 * more * l2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_l1_cache_ends_after_its_last_line),
        cmocka_unit_test(the_l2_cache_ends_after_its_last_line),
        cmocka_unit_test(each_tlb_ends_after_its_last_entry),
        cmocka_unit_test(the_tlbs_of_mosaic_end_where_table_1_says),
        cmocka_unit_test(the_large_entries_of_mosaic_end_where_table_1_says),
        cmocka_unit_test(the_l1_tlb_of_kepler_overflows_set_by_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
