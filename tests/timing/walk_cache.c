/* The page walk cache holds lines of page tables by their whole physical address, until a shootdown.
 *
 * Two address spaces have the same pages, and their tables lie so that what they read for a page differs in one bit of
 * its address. The MMU and the memory are driven directly; without an L2 TLB every request walks. */
#include "page/frames.h"
#include "timed.h"

#include "mem/memory.h"
#include "vm/mmu.h"

enum { APPS = 2, PAGE = 0x7f4200, FIRST_BIT = 8, LAST_BIT = 24, LINES_SHIFT = PW_PAGE_SHIFT - PW_LINE_SHIFT };

static const uint64_t bytes = 8ULL << 30;

struct fixture {
    struct timed t; /* for its configuration */
    struct pw_events *events;
    struct pw_request_pool pool;
    struct pw_frames *frames;
    struct pw_page_table *owned[APPS];
    const struct pw_page_table *tables[APPS];
    struct pw_memory *memory;
    struct pw_mmu *mmu;
    struct pw_walk_pressure pressure[APPS];
    struct pw_stats *stats;
};

static unsigned translated(void *object, struct pw_tlb_miss miss, struct pw_translation translation, pw_cycle now)
{
    (void)object, (void)miss, (void)now;
    assert_true(translation.present);
    return 1;
}

/* Four nodes, and what pages map to, which the walker does not read. */
static void create_table(struct fixture *f, unsigned asid)
{
    struct pw_error err;
    struct pw_page_table_config config = {.asid = (pw_asid)asid,
                                          .entry_stride = 8,
                                          .frames = f->frames,
                                          .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
    assert_int_equal(pw_page_table_create(&config, &f->owned[asid], &err), PW_OK);
    for (uint32_t i = 0; i < PW_TABLE_ENTRIES; i++)
        assert_int_equal(pw_page_table_map(f->owned[asid], (pw_vpn){PAGE + i}, (pw_pfn){i}, PW_PAGE_4K, &err), PW_OK);
    f->tables[asid] = f->owned[asid];
}

/* Of the entries that a walk for the page reads, the lines. */
static void lines_of(const struct fixture *f, unsigned asid, uint64_t page, uint64_t out[PW_TABLE_LEVELS])
{
    pw_paddr reads[PW_TABLE_LEVELS];
    assert_int_equal(pw_page_table_walk(f->owned[asid], (pw_vpn){page}, reads, NULL), PW_TABLE_LEVELS);
    for (unsigned i = 0; i < PW_TABLE_LEVELS; i++)
        out[i] = reads[i].v >> PW_LINE_SHIFT;
}

/* The second table's nodes come 2^bit lines behind the first one's. */
static void create_tables(struct fixture *f, unsigned bit)
{
    struct pw_error err;
    assert_int_equal(pw_frames_create(bytes, &f->frames, &err), PW_OK);
    create_table(f, 0);
    for (uint32_t i = PW_TABLE_LEVELS, outer = 1U << (bit - LINES_SHIFT), order; i < outer; i += 1U << order) {
        order = i % PW_TABLE_ENTRIES || outer - i < PW_TABLE_ENTRIES ? PW_PAGE_4K : PW_PAGE_2M;
        assert_true(pw_frames_take_at(f->frames, (enum pw_page_order)order, (pw_pfn){i}, PW_OWNER_FRAGMENT));
    }
    create_table(f, 1);
    uint64_t lines[APPS][PW_TABLE_LEVELS];
    for (unsigned asid = 0; asid < APPS; asid++)
        lines_of(f, asid, PAGE, lines[asid]);
    for (unsigned i = 0; i < PW_TABLE_LEVELS; i++)
        assert_int_equal(lines[0][i] ^ lines[1][i], 1ULL << bit);
}

static void create_mmu(struct fixture *f)
{
    struct pw_error err;
    const struct pw_gpu_config *c = &f->t.config.gpu;
    struct pw_memory_config memory = {
        .l2 = c->l2, .crossbar = c->crossbar, .dram = c->dram, .core_mhz = c->clock_mhz, .sms = 1, .apps = APPS};
    assert_int_equal(pw_memory_create(&memory, f->events, &f->pool, &f->memory, &err), PW_OK);
    struct pw_mmu_config config = {.l2_tlb = c->l2_tlb,
                                   .walk = c->walk,
                                   .walk_cache = c->walk_cache,
                                   .orders = c->orders,
                                   .apps = APPS,
                                   .seed = 1};
    struct pw_mmu_wiring wiring = {.events = f->events,
                                   .pool = &f->pool,
                                   .memory = f->memory,
                                   .tables = f->tables,
                                   .pressure = f->pressure,
                                   .sms = f,
                                   .translated = translated};
    assert_int_equal(pw_mmu_create(&config, &wiring, &f->mmu, &err), PW_OK);
    pw_memory_connect(f->memory,
                      &(struct pw_memory_clients){.walker = pw_mmu_walker(f->mmu), .walk_read = pw_walker_read_done});
}

static struct fixture *create(const char *set, unsigned bit)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    struct pw_error err;
    f->t.machine = "mask";
    f->t.design = "pwcache";
    f->t.sets[0] = "pwc.ways=64"; /* nothing is replaced */
    f->t.sets[1] = set;
    timed_configure(&f->t);
    assert_non_null(f->events = pw_events_create(&err));
    pw_request_pool_init(&f->pool, f->events);
    create_tables(f, bit);
    create_mmu(f);
    assert_non_null(f->stats = pw_stats_create(APPS, &err));
    static const struct pw_sm_counters cycles[APPS];
    pw_stats_counter(f->stats, "sm.cycles", "cycles", NULL, cycles, sizeof cycles[0], 0);
    pw_mmu_register(f->mmu, f->stats);
    assert_int_equal(pw_stats_seal(f->stats, &err), PW_OK);
    return f;
}

static void destroy(struct fixture *f)
{
    pw_stats_destroy(f->stats);
    pw_mmu_destroy(f->mmu);
    pw_memory_destroy(f->memory);
    for (unsigned i = 0; i < APPS; i++)
        pw_page_table_destroy(f->owned[i]);
    pw_frames_destroy(f->frames);
    pw_request_pool_destroy(&f->pool);
    pw_events_destroy(f->events);
    timed_end(&f->t);
    free(f);
}

static uint64_t count(const struct fixture *f, const char *metric)
{
    return count_until_now(f->stats, metric);
}

/* Hits of a walk for the page, when nothing else happens. */
static uint64_t hits(struct fixture *f, unsigned asid, uint64_t page)
{
    uint64_t lookups = count(f, "pwc.lookups"), hits = count(f, "pwc.hits");
    struct pw_tlb_miss miss = {.vpn = {page}, .asid = (pw_asid)asid, .fill = PW_FILL_BOTH};
    pw_mmu_request(f->mmu, miss, f->events->now);
    bool never = false;
    while (!pw_events_idle(f->events))
        pw_events_run(f->events, pw_events_next_time(f->events) + 1, &never);
    assert_int_equal(pw_mmu_pending(f->mmu), 0);
    assert_int_equal(count(f, "pwc.lookups") - lookups, PW_TABLE_LEVELS);
    return count(f, "pwc.hits") - hits;
}

/* mask-sec3-multi-asid: however far apart two lines are, one is not taken for the other. */
static void no_bit_of_a_lines_address_is_ignored(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t pages; /* whose entries a line has */
    } lines[] = {{"pwc.line_bytes=128B", 16}, {"pwc.line_bytes=32B", 4}, {"pwc.line_bytes=8B", 1}};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        for (unsigned bit = FIRST_BIT; bit <= LAST_BIT; bit++) {
            struct fixture *f = create(lines[i].set, bit);
            for (unsigned asid = 0; asid < APPS; asid++)
                assert_int_equal(hits(f, asid, PAGE), 0);
            for (unsigned asid = 0; asid < APPS; asid++) {
                assert_int_equal(hits(f, asid, PAGE), PW_TABLE_LEVELS);
                assert_int_equal(hits(f, asid, PAGE + lines[i].pages - 1), PW_TABLE_LEVELS);
            }
            for (unsigned asid = 0; asid < APPS; asid++)
                assert_int_equal(hits(f, asid, PAGE + lines[i].pages), PW_TABLE_LEVELS - 1);
            destroy(f);
        }
}

/* Of all address spaces, whatever the page (docs/decisions.md). */
static void a_shootdown_empties_it(void **state)
{
    (void)state;
    struct fixture *f = create("pwc.line_bytes=128B", FIRST_BIT);
    for (unsigned asid = 0; asid < APPS; asid++)
        hits(f, asid, PAGE);
    pw_mmu_invalidate(f->mmu, 0, (pw_vpn){PAGE + 100}, (pw_vpn){PAGE + 101});
    for (unsigned asid = 0; asid < APPS; asid++) {
        assert_int_equal(hits(f, asid, PAGE), 0);
        assert_int_equal(hits(f, asid, PAGE), PW_TABLE_LEVELS);
    }
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bit_of_a_lines_address_is_ignored),
        cmocka_unit_test(a_shootdown_empties_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
