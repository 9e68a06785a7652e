/* The MMUs of several GPUs with the fabric and the IOMMU behind them, driven directly: a client in the place of the SMs
 * writes down when each answer arrives. Walks take a fixed time. Page p is in the memory of GPU p mod `gpus`. */
#ifndef PW_TESTS_ROUTED_H
#define PW_TESTS_ROUTED_H

#include "page/frames.h"
#include "timed.h"

enum { ROUTED_GPUS = 4, ROUTED_FIRST_PAGE = 0x7f4000, ROUTED_PAGES = 256, ROUTED_ANSWERS = 512 };

struct routed_answer {
    unsigned gpu;
    uint32_t sm;
    uint64_t page;
    pw_cycle at;
};

struct routed;

struct routed_gpu {
    struct routed *system;
    unsigned index;
    struct pw_physical_memory physical;
    struct pw_mmu *mmu;
    struct pw_stats *stats;
    struct pw_walk_pressure pressure;
};

struct routed {
    struct timed t; /* for its configuration */
    struct pw_events *events;
    struct pw_request_pool pool;
    struct pw_fabric *fabric;
    struct pw_iommu *iommu;
    struct pw_page_table *table;
    const struct pw_page_table *tables[1];
    struct routed_gpu gpus[ROUTED_GPUS];
    struct pw_physical_memory *memories[ROUTED_GPUS];
    struct routed_answer answers[ROUTED_ANSWERS];
    unsigned count;
};

static inline unsigned routed_translated(void *object, struct pw_tlb_miss miss, struct pw_translation translation,
                                         pw_cycle now)
{
    const struct routed_gpu *g = object;
    struct routed *r = g->system;
    assert_true(r->count < ROUTED_ANSWERS);
    assert_true(translation.present);
    assert_int_equal(translation.frame.v, pw_page_table_lookup(r->table, miss.vpn).frame.v);
    r->answers[r->count++] = (struct routed_answer){g->index, miss.sm, miss.vpn.v - ROUTED_FIRST_PAGE, now};
    return 1;
}

static inline void routed_failed(void *object, const struct pw_error *err)
{
    (void)object;
    fail_msg("%s", err->message);
}

static inline bool routed_unmapped(void *object, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    (void)object, (void)asid, (void)vpn, (void)now;
    fail_msg("a page has no frame");
    return false;
}

static inline void routed_map(struct routed *r)
{
    struct pw_error err;
    struct pw_physical_memory *first = r->memories[0];
    struct pw_page_table_config config = {.asid = 0,
                                          .entry_stride = r->t.config.page.entry_stride,
                                          .frames = first->frames,
                                          .policy = first->policy,
                                          .policy_state = first->policy_state,
                                          .copies = r->memories + 1,
                                          .copy_count = ROUTED_GPUS - 1};
    struct pw_frame_request request = {.owner = PW_OWNER_APP, .order = PW_PAGE_4K};
    assert_int_equal(pw_page_table_create(&config, &r->table, &err), PW_OK);
    for (uint64_t page = 0; page < ROUTED_PAGES; page++) {
        pw_pfn frame;
        assert_true(pw_physical_allocate(r->memories[page % ROUTED_GPUS], &request, &frame));
        assert_int_equal(pw_page_table_map(r->table, (pw_vpn){ROUTED_FIRST_PAGE + page}, frame, PW_PAGE_4K, &err),
                         PW_OK);
    }
    r->tables[0] = r->table;
}

static inline void routed_create_gpu(struct routed *r, unsigned index)
{
    struct routed_gpu *g = &r->gpus[index];
    const struct pw_gpu_config *c = &r->t.config.gpu;
    static const struct pw_sm_counters cycles;
    struct pw_error err;
    struct pw_mmu_config config = {.l2_tlb = c->l2_tlb,
                                   .walk = c->walk,
                                   .walk_cache = c->walk_cache,
                                   .orders = c->orders,
                                   .apps = 1,
                                   .seed = 1,
                                   .route = c->route,
                                   .gpu = index};
    struct pw_mmu_wiring wiring = {.events = r->events,
                                   .pool = &r->pool,
                                   .tables = r->tables,
                                   .pressure = &g->pressure,
                                   .iommu = r->iommu,
                                   .physical = &g->physical,
                                   .sms = g,
                                   .translated = routed_translated,
                                   .unmapped = routed_unmapped,
                                   .failed = routed_failed};
    assert_int_equal(pw_mmu_create(&config, &wiring, &g->mmu, &err), PW_OK);
    assert_non_null(g->stats = pw_stats_create(1, &err));
    pw_stats_counter(g->stats, "sm.cycles", "cycles", NULL, &cycles, sizeof cycles, 0);
    pw_mmu_register(g->mmu, g->stats);
    assert_int_equal(pw_stats_seal(g->stats, &err), PW_OK);
}

/* Machine mgpu4 with a design and options of the test's choice. */
static inline struct routed *routed_create(const char *design, const char *const *sets)
{
    enum { BYTES = 64 << 20, SHIFT = 14 };
    struct routed *r = calloc(1, sizeof *r);
    struct pw_error err;
    assert_non_null(r);
    r->t.machine = "mgpu4";
    r->t.design = design;
    for (unsigned i = 0; sets && sets[i]; i++)
        r->t.sets[i] = sets[i];
    timed_configure(&r->t);
    const struct pw_config *c = &r->t.config;
    assert_non_null(r->events = pw_events_create(&err));
    pw_request_pool_init(&r->pool, r->events);
    for (unsigned i = 0; i < ROUTED_GPUS; i++) {
        struct routed_gpu *g = &r->gpus[i];
        *g = (struct routed_gpu){.system = r, .index = i};
        assert_int_equal(pw_physical_memory_init(&g->physical, BYTES, &c->page, 1, NULL, &err), PW_OK);
        g->physical.all = r->memories;
        g->physical.count = ROUTED_GPUS;
        g->physical.frame_shift = SHIFT;
        g->physical.first_frame = i << SHIFT;
        r->memories[i] = &g->physical;
    }
    routed_map(r);
    assert_int_equal(pw_fabric_create(&c->fabric, ROUTED_GPUS, c->gpu.clock_mhz, r->events, &r->fabric, &err), PW_OK);
    struct pw_iommu_wiring wiring = {.events = r->events,
                                     .fabric = r->fabric,
                                     .message_bytes = c->fabric.request_bytes,
                                     .gpus = ROUTED_GPUS,
                                     .apps = 1};
    assert_int_equal(pw_iommu_create(&c->iommu, &wiring, &r->iommu, &err), PW_OK);
    for (unsigned i = 0; i < ROUTED_GPUS; i++)
        routed_create_gpu(r, i);
    return r;
}

/* An SM of a GPU asks at `at` for a page. */
static inline void routed_ask(struct routed *r, unsigned gpu, uint32_t sm, uint64_t page, pw_cycle at)
{
    struct pw_tlb_miss miss = {.vpn = {ROUTED_FIRST_PAGE + page}, .sm = (uint16_t)sm, .fill = PW_FILL_BOTH};
    pw_mmu_request(r->gpus[gpu].mmu, miss, at);
}

/* Runs what happens before `limit`. */
static inline void routed_run_until(struct routed *r, pw_cycle limit)
{
    bool never = false;
    pw_events_run(r->events, limit, &never);
}

static inline void routed_run(struct routed *r)
{
    routed_run_until(r, PW_NEVER);
    for (unsigned i = 0; i < ROUTED_GPUS; i++)
        assert_int_equal(pw_mmu_pending(r->gpus[i].mmu), 0);
    assert_int_equal(pw_iommu_pending(r->iommu), 0);
    assert_int_equal(pw_fabric_pending(r->fabric), 0);
}

/* The next answer is to this SM: not a cycle before `at`, and then. */
static inline void routed_expect(struct routed *r, unsigned gpu, uint32_t sm, pw_cycle at)
{
    unsigned before = r->count;
    routed_run_until(r, at);
    if (r->count != before)
        fail_msg("SM %u is answered at %llu, before %llu", r->answers[before].sm,
                 (unsigned long long)r->answers[before].at, (unsigned long long)at);
    routed_run_until(r, at + 1);
    assert_int_equal(r->count, before + 1);
    assert_int_equal(r->answers[before].gpu, gpu);
    assert_int_equal(r->answers[before].sm, sm);
    assert_int_equal(r->answers[before].at, at);
}

static inline double routed_value(const struct routed *r, unsigned gpu, const char *metric)
{
    const struct pw_stats *stats = r->gpus[gpu].stats;
    uint64_t *now = calloc(pw_stats_raw_count(stats), sizeof *now);
    int index = pw_stats_find(stats, metric);
    assert_non_null(now);
    if (index < 0)
        fail_msg("there is no metric %s", metric);
    pw_stats_snapshot(stats, now);
    double value = pw_stats_value(stats, (size_t)index, -1, NULL, now);
    free(now);
    return value;
}

static inline uint64_t routed_count(const struct routed *r, unsigned gpu, const char *metric)
{
    return (uint64_t)routed_value(r, gpu, metric);
}

/* Runs to the end, checks every identity and frees all. */
static inline void routed_destroy(struct routed *r)
{
    struct pw_error err;
    routed_run(r);
    for (unsigned i = 0; i < ROUTED_GPUS; i++) {
        struct routed_gpu *g = &r->gpus[i];
        for (size_t k = 0; k < pw_stats_identity_count(g->stats); k++)
            if (pw_stats_identity_run(g->stats, k, &err) != PW_OK)
                fail_msg("%s", err.message);
        pw_stats_destroy(g->stats);
        pw_mmu_destroy(g->mmu);
    }
    pw_iommu_destroy(r->iommu);
    pw_fabric_destroy(r->fabric);
    pw_page_table_destroy(r->table);
    for (unsigned i = 0; i < ROUTED_GPUS; i++)
        pw_physical_memory_release(&r->gpus[i].physical);
    pw_request_pool_destroy(&r->pool);
    pw_events_destroy(r->events);
    timed_end(&r->t);
    free(r);
}

#endif
