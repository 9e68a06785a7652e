/* Builds a GPU from its configuration, registers its statistics, and answers questions about all of it. */
#include "gpu/gpu_internal.h"

#include "sim/host_memory.h"

#include <stdio.h>
#include <stdlib.h>

const struct pw_option pw_sm_options[] = {
    {"count", PW_OPTION_COUNT, offsetof(struct pw_sm_config, count), 1, 1024, "30", "SMs", NULL, "Number of SMs.",
     false},
    {"schedulers", PW_OPTION_COUNT, offsetof(struct pw_sm_config, schedulers), 1, PW_MAX_SCHEDULERS, "1", "schedulers",
     NULL, "Warp schedulers per SM, each with its own warps and one instruction per cycle.", false},
    {"schedule", PW_OPTION_POLICY, offsetof(struct pw_sm_config, schedule), 0, 0, "gto", "", &pw_warp_family,
     "Which ready warp issues next.", false},
    {"warps", PW_OPTION_COUNT, offsetof(struct pw_sm_config, warps), 1, PW_MAX_WARPS, "64", "warps", NULL,
     "Warps that can be resident on an SM.", false},
    {"ctas", PW_OPTION_COUNT, offsetof(struct pw_sm_config, ctas), 1, PW_MAX_WARPS, "16", "CTAs", NULL,
     "CTAs that can be resident on an SM.", false},
    {"threads", PW_OPTION_COUNT, offsetof(struct pw_sm_config, threads), 32, 2048, "2048", "threads", NULL,
     "Threads that can be resident on an SM.", false},
    {"shared_bytes", PW_OPTION_BYTES, offsetof(struct pw_sm_config, shared_bytes), 0, 1 << 20, "48KB", "bytes", NULL,
     "Shared memory of an SM.", false},
    {"shared_reserved", PW_OPTION_BYTES, offsetof(struct pw_sm_config, shared_reserved), 0, 1 << 20, "0", "bytes", NULL,
     "Shared memory that the system reserves of each CTA.", false},
    {"registers", PW_OPTION_COUNT, offsetof(struct pw_sm_config, registers), 1024, 1 << 20, "65536", "registers", NULL,
     "32-bit registers of an SM.", false},
    {"register_unit", PW_OPTION_COUNT, offsetof(struct pw_sm_config, register_unit), 1, 256, "1", "registers", NULL,
     "Registers per thread that are allocated together; a kernel's are rounded up.", true},
    {"dependency_latency", PW_OPTION_CYCLES, offsetof(struct pw_sm_config, dependency_latency), 1, 1000, "9", "cycles",
     NULL, "Cycles from the issue of an arithmetic instruction to that of one that uses its result.", false},
    {"issue_interval", PW_OPTION_NUMBER, offsetof(struct pw_sm_config, issue_interval), 1, 1000, "1", "cycles", NULL,
     "Mean cycles between two instructions of one warp in a run of arithmetic; other warps may issue in between.",
     false},
    {"recorded_pace", PW_OPTION_BOOL, offsetof(struct pw_sm_config, recorded_pace), 0, 0, "off", "", NULL,
     "A launch whose machine code is known, from a trace or as its kernel says, issues runs of arithmetic at the pace "
     "of that code instead of one instruction in sm.issue_interval.",
     false},
    {"barrier_latency", PW_OPTION_CYCLES, offsetof(struct pw_sm_config, barrier_latency), 0, 10000, "0", "cycles", NULL,
     "Cycles from the last arrival at a barrier until its warps go on, the shared memory they exchange included.",
     false},
    {"loads_per_warp", PW_OPTION_COUNT, offsetof(struct pw_sm_config, loads_per_warp), 1, 64, "32", "loads", NULL,
     "Loads a warp can have in flight.", true},
    {"lsu_queue", PW_OPTION_COUNT, offsetof(struct pw_sm_config, lsu_queue), 1, 256, "8", "instructions", NULL,
     "Memory instructions that can wait in the load-store unit of an SM.", false},
    {"stores", PW_OPTION_COUNT, offsetof(struct pw_sm_config, stores), 1, 65536, "64", "lines", NULL,
     "Stored lines of an SM that can be on their way to the L2.", false},
    {"serial", PW_OPTION_BOOL, offsetof(struct pw_sm_config, serial), 0, 0, "off", "", NULL,
     "One memory instruction at a time in the whole GPU, and one page at a time within it: for closed-form checks.",
     false},
    {0}};

static enum pw_status create_sm(struct pw_gpu *g, uint32_t id, struct pw_error *err)
{
    const struct pw_gpu_config *c = &g->config;
    struct pw_sm *sm = &g->sms[id];
    sm->gpu = g;
    sm->events = g->wiring.events;
    sm->id = id;
    sm->watched = g->breakdown;
    sm->observed = g->breakdown || g->wiring.listener.listener;
    sm->free_slots = pw_sm_slots(sm);
    sm->lsu.queue = &g->lsu_entries[(size_t)id * c->sm.lsu_queue];
    sm->tlb_waiting = &g->tlb_waiting[(size_t)id * c->l1_tlb.tlb.mshrs];
    for (uint32_t i = 0; i < c->sm.warps; i++)
        sm->warps[i].load = &g->loads[((size_t)id * c->sm.warps + i) * c->sm.loads_per_warp];
    for (uint32_t i = 0; i < c->sm.schedulers; i++)
        sm->schedulers[i].last = PW_NO_WARP;
    enum pw_status status = pw_tlb_init(&sm->tlb, &g->tlb_level, id, err);
    if (status == PW_OK)
        status = pw_mshr_init(&sm->tlb_mshr, "l1_tlb.mshrs", c->l1_tlb.tlb.mshrs, err);
    if (status == PW_OK)
        status = pw_cache_init(&sm->l1, "l1d", c->l1d.bytes / PW_LINE_BYTES, c->l1d.ways, err);
    if (status == PW_OK)
        status = pw_mshr_init(&sm->l1_mshr, "l1d.mshrs", c->l1d.mshrs, err);
    if (status == PW_OK)
        status = pw_policy_use_add(&g->schedule_use, &(struct pw_warp_environment){id, sm->app}, &sm->schedule, err);
    if (status == PW_OK && g->wiring.uvm)
        status = pw_key_map_init(&sm->fault_waits, "far faults", err);
    return status == PW_OK ? pw_sm_timeline_init(sm, err) : status;
}

static bool unmapped(void *gpu, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    struct pw_error err;
    if (g->wiring.uvm && pw_uvm_fault(g->wiring.uvm, asid, vpn, now)) {
        if (pw_uvm_is_read_mostly(g->wiring.uvm, asid, vpn) && pw_gpu_write_waits(g, asid, vpn))
            pw_uvm_write_waits(g->wiring.uvm, asid, vpn, now);
        return true;
    }
    pw_fail(&err, PW_FAILED, "app%u accessed address 0x%llx, which it has not allocated", asid,
            (unsigned long long)(vpn.v << PW_PAGE_SHIFT));
    g->wiring.failed(g->wiring.node, &err);
    return false;
}

static void translation_failed(void *gpu, const struct pw_error *err)
{
    const struct pw_gpu *g = gpu;
    g->wiring.failed(g->wiring.node, err);
}

/* A line that the page manager writes may be one of page table. */
static void managed(void *gpu, struct pw_request *r, pw_cycle now)
{
    const struct pw_gpu *g = gpu;
    if (r->kind == PW_REQUEST_MANAGER_WRITE)
        pw_walker_line_written(pw_mmu_walker(g->mmu), r->line);
    g->manager.answered(g->manager.manager, r, now);
}

static enum pw_status create_shared_units(struct pw_gpu *g, struct pw_error *err)
{
    const struct pw_gpu_config *c = &g->config;
    struct pw_memory_config memory = {.l2 = c->l2,
                                      .crossbar = c->crossbar,
                                      .dram = c->dram,
                                      .core_mhz = c->clock_mhz,
                                      .sms = c->sm.count,
                                      .apps = g->wiring.apps,
                                      .policies = g->wiring.policies,
                                      .pressure = g->pressure,
                                      .remote = c->remote,
                                      .link = g->wiring.link,
                                      .peers = g->wiring.peers,
                                      .gpu = g->wiring.gpu};
    enum pw_status status = pw_memory_create(&memory, g->wiring.events, &g->pool, &g->memory, err);
    if (status != PW_OK)
        return status;
    struct pw_mmu_config mmu = {.l2_tlb = c->l2_tlb,
                                .walk = c->walk,
                                .walk_cache = c->walk_cache,
                                .orders = c->orders,
                                .apps = g->wiring.apps,
                                .far_faults = g->wiring.uvm != NULL,
                                .seed = g->wiring.seed,
                                .route = c->route,
                                .gpu = g->wiring.gpu};
    mmu.bypass.enabled = pw_fill_asks_for_bypass(&c->fill, &mmu.bypass.entries);
    struct pw_mmu_wiring to = {.events = g->wiring.events,
                               .policies = g->wiring.policies,
                               .pool = &g->pool,
                               .memory = g->memory,
                               .tables = g->wiring.tables,
                               .timeline = g->wiring.timeline,
                               .pressure = g->pressure,
                               .iommu = g->wiring.iommu,
                               .physical = g->wiring.physical,
                               .host = g->wiring.node,
                               .touch = g->wiring.touch,
                               .moving = g->wiring.moving,
                               .sms = g,
                               .translated = pw_lsu_translated,
                               .faulted = pw_lsu_faulted,
                               .stage = pw_watch_stages(g),
                               .unmapped = unmapped,
                               .failed = translation_failed};
    status = pw_mmu_create(&mmu, &to, &g->mmu, err);
    if (status != PW_OK)
        return status;
    pw_memory_connect(g->memory, &(struct pw_memory_clients){.sms = g,
                                                             .expect_reply = pw_l1_expect_reply,
                                                             .reply = pw_l1_reply,
                                                             .stored = pw_l1_stored,
                                                             .walker = pw_mmu_walker(g->mmu),
                                                             .walk_read = pw_walker_read_done,
                                                             .manager = g,
                                                             .managed = managed});
    return PW_OK;
}

_Static_assert(sizeof(struct pw_sm) % _Alignof(struct pw_lsu_entry) == 0 &&
                   sizeof(struct pw_lsu_entry) % _Alignof(struct pw_load) == 0,
               "they lie behind each other in one piece of memory");

static enum pw_status allocate(struct pw_gpu *g, struct pw_error *err)
{
    const struct pw_sm_config *c = &g->config.sm;
    unsigned apps = g->wiring.apps;
    /* One piece of memory: a huge page is cleared as a whole, however little of it is used. */
    size_t loads = (size_t)c->warps * c->loads_per_warp * sizeof *g->loads;
    size_t entries = c->lsu_queue * sizeof *g->lsu_entries;
    unsigned char *memory = pw_host_memory(c->count, sizeof *g->sms + entries + loads);
    if (!memory)
        return pw_fail_memory(err, "GPU");
    g->sms = (struct pw_sm *)(void *)memory;
    g->lsu_entries = (struct pw_lsu_entry *)(void *)(g->sms + c->count);
    g->loads = (struct pw_load *)(void *)((unsigned char *)g->lsu_entries + c->count * entries);
    g->tlb_waiting = calloc((size_t)c->count * g->config.l1_tlb.tlb.mshrs, sizeof *g->tlb_waiting);
    g->launches = calloc(apps, sizeof *g->launches);
    g->pressure = calloc(apps, sizeof *g->pressure);
    g->counters = calloc(apps, sizeof *g->counters);
    g->open = calloc(apps, sizeof *g->open);
    g->tlb_counters = calloc(apps, sizeof *g->tlb_counters);
    g->l1d_counters = calloc(apps, sizeof *g->l1d_counters);
    g->warp_pool = pw_warp_pool_create(err);
    if ((g->wiring.uvm || g->wiring.pages_move) && !pw_gpu_extend_frames(g, g->wiring.frames))
        return pw_fail_memory(err, "frames");
    if (!g->tlb_waiting || !g->launches || !g->pressure || !g->counters || !g->open || !g->tlb_counters ||
        !g->l1d_counters || !g->warp_pool)
        return pw_fail_memory(err, "GPU");
    return PW_OK;
}

static enum pw_status create_deltas(struct pw_gpu *g, struct pw_error *err)
{
    const struct pw_tlb_deltas_setup setup = {.tlb = pw_mmu_tlb(g->mmu),
                                              .config = &g->config.l2_tlb.tlb,
                                              .events = g->wiring.events,
                                              .interval = g->wiring.snapshots,
                                              .apps = g->wiring.apps,
                                              .seed = g->wiring.seed};
    return pw_tlb_deltas_create(&setup, &g->deltas, err);
}

static enum pw_status choose_schedule(struct pw_gpu *g, struct pw_error *err)
{
    const struct pw_policy_choice *choice = &g->config.sm.schedule;
    const struct pw_policy *policy = pw_policy_chosen(&pw_warp_family, choice);
    g->schedule = pw_warp_policy_of(policy);
    return pw_policy_use_init(&g->schedule_use, g->wiring.policies, "sm.schedule", policy, choice, g->wiring.apps, err);
}

static enum pw_status init_tlb_level(struct pw_gpu *g, struct pw_error *err)
{
    g->tlb_level = (struct pw_tlb_level){.name = "l1_tlb",
                                         .config = &g->config.l1_tlb.tlb,
                                         .orders = g->config.orders,
                                         .tables = g->wiring.tables,
                                         .policies = g->wiring.policies,
                                         .apps = g->wiring.apps,
                                         .seed = g->wiring.seed};
    return pw_tlb_level_init(&g->tlb_level, err);
}

static void give_sm(struct pw_gpu *g, struct pw_sm *sm, pw_asid app)
{
    sm->app = app;
    sm->counters = &g->counters[app];
}

/* SMs that are given to nobody stay idle. */
static void give_sms(struct pw_gpu *g)
{
    uint32_t sm = 0;
    for (unsigned app = 0; app < g->wiring.apps; app++)
        for (uint32_t i = 0; i < g->config.app_sms[app]; i++)
            give_sm(g, &g->sms[sm++], (pw_asid)app);
    while (sm < g->config.sm.count)
        g->sms[sm++].app = PW_NO_APP;
}

enum pw_status pw_gpu_create(const struct pw_gpu_config *config, const struct pw_gpu_wiring *wiring,
                             struct pw_gpu **out, struct pw_error *err)
{
    *out = NULL;
    if (config->dram.bytes >> PW_LINE_SHIFT >= PW_OTHER_LINE)
        return pw_fail(err, PW_USER_ERROR, "dram.bytes: less than 512GB can be simulated");
    struct pw_gpu *g = calloc(1, sizeof *g);
    if (!g)
        return pw_fail_memory(err, "GPU");
    g->config = *config;
    g->wiring = *wiring;
    g->cta_interval = (uint64_t)(config->cta_interval * 256);
    g->pages_watched = wiring->page_log || wiring->looks || wiring->listener.listener;
    g->page_order = (uint8_t)__builtin_ctz(config->orders);
    g->page_lines_shift = (uint8_t)(PW_PAGE_SHIFT - PW_LINE_SHIFT + g->page_order);
    pw_request_pool_init(&g->pool, wiring->events);
    pw_parked_pool_init(&g->parked, wiring->events);
    pw_fault_wait_pool_init(&g->fault_waits, wiring->events);
    enum pw_status status = allocate(g, err);
    if (status == PW_OK && wiring->breakdown)
        status = pw_breakdown_create(config, wiring->apps, &g->breakdown, err);
    if (status == PW_OK)
        status = create_shared_units(g, err);
    if (status == PW_OK && wiring->snapshots && config->l2_tlb.enabled)
        status = create_deltas(g, err);
    if (status == PW_OK)
        status = choose_schedule(g, err);
    if (status == PW_OK)
        status = init_tlb_level(g, err);
    if (status == PW_OK)
        status = pw_fill_create(g, pw_policy_chosen(&pw_fill_family, &config->fill.policy), err);
    if (status == PW_OK)
        give_sms(g);
    for (uint32_t i = 0; status == PW_OK && i < config->sm.count; i++)
        status = create_sm(g, i, err);
    if (status != PW_OK) {
        pw_gpu_destroy(g);
        return status;
    }
    *out = g;
    return PW_OK;
}

static void destroy_sm(struct pw_gpu *g, struct pw_sm *sm)
{
    for (uint32_t i = 0; i < PW_MAX_WARPS; i++) {
        free(sm->cta[i].shared);
        if (sm->warps[i].warp)
            pw_warp_finish(g->warp_pool, sm->warps[i].warp);
    }
    pw_mshr_release(&sm->tlb_mshr);
    for (struct pw_key_link *l = pw_key_map_next(&sm->fault_waits, NULL); l; l = pw_key_map_next(&sm->fault_waits, l))
        pw_miss_history_free(&((struct pw_fault_wait *)l)->history);
    pw_key_map_release(&sm->fault_waits);
    pw_cache_release(&sm->l1);
    pw_mshr_release(&sm->l1_mshr);
    free(sm->miss_since);
}

void pw_gpu_destroy(struct pw_gpu *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; g->sms && i < g->config.sm.count; i++)
        destroy_sm(g, &g->sms[i]);
    pw_policy_use_release(&g->schedule_use);
    pw_policy_use_release(&g->fill.use);
    pw_tlb_deltas_destroy(g->deltas);
    pw_mmu_destroy(g->mmu);
    pw_memory_destroy(g->memory);
    pw_breakdown_destroy(g->breakdown);
    if (g->warp_pool)
        pw_warp_pool_destroy(g->warp_pool);
    pw_request_pool_destroy(&g->pool);
    pw_record_pool_destroy(&g->parked.records);
    pw_record_pool_destroy(&g->fault_waits.records);
    pw_host_memory_free(g->sms);
    free(g->tlb_waiting);
    free(g->launches);
    free(g->pressure);
    free(g->frame_use);
    free(g->counters);
    free(g->open);
    pw_tlb_level_release(&g->tlb_level);
    free(g->tlb_counters);
    free(g->l1d_counters);
    free(g);
}

static enum pw_status check_tlbs(void *gpu, struct pw_error *err)
{
    const struct pw_gpu *g = gpu;
    for (uint32_t i = 0; i < g->config.sm.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "L1 TLB of SM %u", i);
        enum pw_status status = pw_tlb_check(&g->sms[i].tlb, g->wiring.tables, name, err);
        if (status != PW_OK)
            return status;
    }
    return pw_mmu_check(g->mmu, err);
}

/* Between launches nothing but dirty lines on their way to DRAM may be under way. */
enum pw_status pw_gpu_check_idle(const struct pw_gpu *g, struct pw_error *err)
{
    if (pw_mmu_pending(g->mmu) || g->lines_outstanding)
        return pw_fail(err, PW_FAILED, "all programs have ended, but %llu translations and %llu lines are outstanding",
                       (unsigned long long)pw_mmu_pending(g->mmu), (unsigned long long)g->lines_outstanding);
    return PW_OK;
}

static enum pw_status check_drained(void *gpu, struct pw_error *err)
{
    const struct pw_gpu *g = gpu;
    uint64_t requests = g->pool.records.in_use, parked = g->parked.records.in_use;
    if (requests)
        return pw_fail(err, PW_FAILED, "%llu requests have not come back", (unsigned long long)requests);
    if (parked)
        return pw_fail(err, PW_FAILED, "%llu lines still wait for their translation", (unsigned long long)parked);
    return PW_OK;
}

/* Issue slots are counted ahead as instructions are, and so is the stay of their warps. */
static void register_breakdown(struct pw_gpu *g, struct pw_stats *stats)
{
    static const char *const ahead[] = {"warp.issue", "warp.resident"};
    pw_breakdown_register(g->breakdown, stats);
    for (size_t i = 0; i < 2; i++)
        pw_stats_further_place(stats, ahead[i], g->open, sizeof *g->open, offsetof(struct pw_sm_open, issued));
    pw_stats_identity(stats, "warp.issue", "sm.issued");
}

void pw_gpu_register(struct pw_gpu *g, struct pw_stats *stats)
{
#define COUNTER(name, unit, array, type, field, help)                                                                  \
    pw_stats_counter(stats, name, unit, help, g->array, sizeof *g->array, offsetof(struct type, field))
#define SM(name, unit, field, help) COUNTER("sm." name, unit, counters, pw_sm_counters, field, help)
#define OPEN(name, field)                                                                                              \
    pw_stats_further_place(stats, "sm." name, g->open, sizeof *g->open, offsetof(struct pw_sm_open, field))
#define L1D(name, field, help) COUNTER("l1d." name, "accesses", l1d_counters, pw_l1d_counters, field, help)
#define SECTORS(name, field, help) COUNTER("l1d." name, "sectors", l1d_counters, pw_l1d_counters, field, help)
    pw_stats_counter(stats, "sm.cycles", "cycles", NULL, &g->cycles, 0, 0);
    pw_stats_common(stats, "sm.cycles");
    SM("issued", "instructions", issued, "Warp instructions issued.");
    SM("memory_instructions", "instructions", memory_instructions, "Those that access global memory.");
    SM("lines", "lines", lines, "128-byte lines they touch after coalescing.");
    SM("stall_cycles", "cycles", stall_cycles, "Scheduler cycles with resident warps in which none could issue.");
    SM("resident_cycles", "cycles", resident_cycles, "Scheduler cycles with resident warps.");
    SM("launches", "launches", launches, "Kernel launches.");
    SM("ctas", "CTAs", ctas, "CTAs started.");
    SM("warps", "warps", warps, "Warps started.");
    OPEN("issued", issued);
    OPEN("memory_instructions", memory_instructions);
    OPEN("stall_cycles", stall_cycles);
    OPEN("resident_cycles", resident_cycles);
    pw_ready_register(g, stats);
    COUNTER("sm.lines_waiting", "lines", open, pw_sm_open, lines_waiting,
            "Lines in the load-store units and those without a translation, at the end.");
    pw_stats_level(stats, "sm.lines_waiting");
    pw_tlb_register(stats, PW_L1_TLB, g->tlb_counters, true);
    L1D("accesses", accesses, "Loads of a line in the L1 data caches.");
    L1D("hits", hits, "Those that hit.");
    L1D("misses", misses, "Those that missed, merged ones included.");
    L1D("mshr_merges", merges, "Misses that found their line already on its way.");
    L1D("stores", stores, "Lines stored through to the L2, atomics included.");
    SECTORS("load_sectors", load_sectors, "32-byte sectors that loads ask of the L1 data caches.");
    SECTORS("load_sector_hits", load_sector_hits, "Those that are there, or on their way.");
    SECTORS("store_sectors", store_sectors, "Sectors stored through to the L2, atomics included.");
    pw_stats_ratio(stats, "l1d.sector_hit_rate", "%", "Share of the loads' sectors that are there, or on their way.",
                   "l1d.load_sector_hits", "l1d.load_sectors", 100);
#undef COUNTER
#undef SM
#undef OPEN
#undef L1D
#undef SECTORS
    pw_stats_identity(stats, "sm.resident_cycles", "sm.issued + sm.stall_cycles");
    pw_stats_identity(stats, "sm.lines", "l1d.accesses + l1d.stores + sm.lines_waiting");
    pw_stats_identity(stats, "l1d.accesses", "l1d.hits + l1d.misses");
    if (g->breakdown)
        register_breakdown(g, stats);
    pw_mmu_register(g->mmu, stats);
    if (g->deltas)
        pw_tlb_deltas_register(g->deltas, stats);
    pw_memory_register(g->memory, stats);
    pw_stats_identity_check(stats, "every TLB entry maps to the frame in the page table", check_tlbs, g);
    pw_stats_identity_check(stats, "every request has come back", check_drained, g);
}

unsigned pw_gpu_shootdown(struct pw_gpu *g, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    unsigned dropped = pw_mmu_invalidate(g->mmu, asid, first, outer);
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        dropped += pw_tlb_invalidate(&g->sms[i].tlb, asid, first, outer);
    return dropped;
}

void pw_gpu_connect_manager(struct pw_gpu *g, const struct pw_gpu_manager *manager)
{
    g->manager = *manager;
}

struct pw_mmu *pw_gpu_mmu(struct pw_gpu *g)
{
    return g->mmu;
}

struct pw_memory *pw_gpu_memory(struct pw_gpu *g)
{
    return g->memory;
}

struct pw_request_pool *pw_gpu_requests(struct pw_gpu *g)
{
    return &g->pool;
}

uint64_t pw_gpu_issued(const struct pw_gpu *g)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < g->wiring.apps; i++)
        sum += g->counters[i].issued;
    return sum;
}

uint64_t pw_gpu_app_issued(const struct pw_gpu *g, unsigned app)
{
    return g->counters[app].issued;
}

void pw_gpu_stop(struct pw_gpu *g)
{
    g->stopped = true;
}

uint64_t pw_gpu_memory_instructions(const struct pw_gpu *g)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < g->wiring.apps; i++)
        sum += g->counters[i].memory_instructions;
    return sum;
}

double pw_gpu_launch_fraction(const struct pw_gpu *g, unsigned app)
{
    const struct pw_app_launch *a = &g->launches[app];
    return a->ctas ? (double)a->done_ctas / a->ctas : 0;
}
