/* No option is dead: for each there is a run in which changing it changes a result, or the table of effects says why
 * there can be none. And what that table (system/effect.h) says of an option is true both ways: where the option can
 * have an effect the user is told nothing, and where it cannot, changing it changes nothing and the user is told. A new
 * option without a row here fails. */
#include "system/effect.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_SETS = 12 };

/* Tiny runs, in which as much as possible happens. */
struct setting {
    const char *machine, *design, *workload;
    const char *sets[MAX_SETS];
};

#define GATHER "gather:table=4MB:ctas=8:iterations=2"

/* A machine of two SMs with small TLBs. */
static const struct setting plain = {"mosaic", "gpu-mmu", GATHER, {"sm.count=2", "l1_tlb.base_entries=8"}};
static const struct setting narrow = {
    "mosaic", "gpu-mmu", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "dram.channels=1", "l2.bytes=64KB"}};
static const struct setting stores = {
    "mosaic", "gpu-mmu", "vecadd:ctas=16:iterations=8", {"sm.count=2", "dram.channels=1", "l2.bytes=16KB"}};
static const struct setting tiles = {"mosaic", "gpu-mmu", "MM:scale=0.02", {"sm.count=1"}};
static const struct setting two_apps = {
    "mosaic", "gpu-mmu", GATHER "," GATHER, {"sm.count=4", "l1_tlb.base_entries=8", "dram.channels=2"}};
static const struct setting two_ranked = {
    "mosaic",
    "mask-dram",
    GATHER "," GATHER,
    {"sm.count=4", "l1_tlb.base_entries=8", "l2_tlb.base_entries=16", "l2.bytes=64KB", "dram.channels=1"}};
static const struct setting one_longer = {
    "mosaic", "gpu-mmu", "vecadd:n=3000:ctas=2," GATHER, {"sm.count=4", "l1_tlb.base_entries=8"}};
static const struct setting two_mb = {"mosaic",
                                      "gpu-mmu-2m",
                                      "gather:table=64MB:ctas=8:iterations=2",
                                      {"sm.count=2", "l1_tlb.large_as_base=off", "l2_tlb.large_as_base=off",
                                       "l1_tlb.large_entries=4", "l2_tlb.large_entries=8"}};
static const struct setting two_mb_alone = {"mosaic",
                                            "gpu-mmu-2m",
                                            "gather:table=64MB:ctas=8:iterations=2",
                                            {"sm.count=2", "l1_tlb.large_as_base=off", "l2_tlb.large_as_base=off",
                                             "l1_tlb.large_entries=4", "l2_tlb.large_entries=8",
                                             "l1_tlb.large_organisation=plain", "l2_tlb.large_organisation=plain"}};
static const struct setting small_l2_tlb = {
    "mosaic", "gpu-mmu", GATHER, {"sm.count=2", "l1_tlb.base_entries=4", "l2_tlb.base_entries=64"}};
/* Some translations are compressible, as frames are random, and others are not. */
static const struct setting compressed = {
    "kepler",
    "compress-l1",
    GATHER,
    {"sm.count=2", "l1_tlb.base_entries=8", "l2_tlb.base_entries=64", "page.frames=random", "dram.bytes=16MB"}};
static const struct setting compressible = {
    "kepler", "compress-l1", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "l2_tlb.base_entries=64"}};
static const struct setting compressed_launches = {
    "kepler",
    "compress-l1",
    "nw:length=512",
    {"sm.count=2", "l1_tlb.base_entries=8", "l2_tlb.base_entries=64", "page.frames=random", "dram.bytes=16MB"}};
static const struct setting compressed_large = {"kepler",
                                                "gpu-mmu-2m",
                                                "gather:table=128MB:ctas=8:iterations=2",
                                                {"sm.count=2", "l1_tlb.large_as_base=off", "l2_tlb.large_as_base=off",
                                                 "l1_tlb.large_entries=8", "l2_tlb.large_entries=32",
                                                 "l1_tlb.large_organisation=compressed",
                                                 "l2_tlb.large_organisation=compressed", "page.frames=random"}};
static const struct setting compressed_large_launches = {
    "kepler",
    "gpu-mmu-2m",
    "nw:length=1024",
    {"sm.count=2", "l1_tlb.large_as_base=off", "l2_tlb.large_as_base=off", "l1_tlb.large_entries=2",
     "l1_tlb.large_ways=2", "l2_tlb.large_entries=2", "l2_tlb.large_ways=2", "l1_tlb.large_organisation=compressed",
     "l2_tlb.large_organisation=compressed", "page.frames=random"}};
static const struct setting ranges = {
    "kepler", "range-tlb", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "l2_tlb.base_entries=64"}};
static const struct setting large_ranges = {"mosaic",
                                            "gpu-mmu-2m",
                                            "gather:table=64MB:ctas=8:iterations=2",
                                            {"sm.count=2", "l1_tlb.large_as_base=off", "l2_tlb.large_as_base=off",
                                             "l1_tlb.large_entries=4", "l2_tlb.large_entries=8",
                                             "l2_tlb.large_organisation=range"}};
static const struct setting l1_ranges = {
    "kepler", "gpu-mmu", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "l1_tlb.organisation=range"}};
static const struct setting large_l1_ranges = {
    "mosaic", "gpu-mmu-2m", GATHER, {"sm.count=2", "l1_tlb.large_organisation=range"}};
static const struct setting sparse_tables = {
    "mosaic", "mask-cache", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "l2.bytes=64KB", "page.entry_stride=128"}};
static const struct setting fixed_walks = {"kepler", "gpu-mmu", GATHER, {"sm.count=2"}};
static const struct setting walk_cache = {"mosaic", "pwcache", GATHER, {"sm.count=2", "l1_tlb.base_entries=8"}};
static const struct setting small_walk_cache = {
    "mosaic", "pwcache", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "pwc.bytes=256", "pwc.ways=2"}};
static const struct setting fragmented = {
    "mosaic", "mosaic", GATHER, {"sm.count=2", "dram.bytes=64MB", "page.fragmentation=100", "page.occupancy=10"}};
static const struct setting bulk_copies = {
    "mosaic",
    "mosaic-cac-bc",
    GATHER,
    {"sm.count=2", "dram.bytes=64MB", "page.fragmentation=100", "page.occupancy=10"}};
static const struct setting scattered = {"mosaic", "gpu-mmu", GATHER, {"sm.count=2", "page.frames=random"}};
static const struct setting pieces = {"mosaic", "gpu-mmu", GATHER, {"sm.count=2", "page.frames=chunks"}};
static const struct setting reused = {"mosaic", "gpu-mmu", "LUD:scale=0.02", {"sm.count=2"}};
static const struct setting slow_walks = {"kepler", "gpu-mmu", GATHER, {"sm.count=2", "walk.latency=100000"}};
static const struct setting migrating = {
    "mosaic", "conventional-coalescing", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "coalesce.interval=1000"}};
static const struct setting paging = {"pascal", "uvm-tbn-tbn", GATHER, {"sm.count=2"}};
static const struct setting batches = {"h200", "uvm-nvidia", GATHER, {"sm.count=2"}};
static const struct setting little_memory = {
    "pascal", "uvm-tbn-tbn", "nw:length=256", {"sm.count=2", "uvm.oversubscription=150"}};
static const struct setting reserved = {
    "pascal", "uvm-tbn-tbn", "nw:length=256", {"sm.count=2", "uvm.oversubscription=150", "uvm.reserve=50"}};
static const struct setting single_evictions = {
    "pascal", "uvm-tbn-lru4k", "nw:length=256", {"sm.count=2", "uvm.oversubscription=150"}};
static const struct setting linear_link = {
    "mosaic", "uvm-tbn-tbn", "nw:length=256", {"sm.count=2", "uvm.oversubscription=150"}};
static const struct setting tokens = {"mosaic",
                                      "mask-tlb",
                                      GATHER,
                                      {"sm.count=2", "l1_tlb.base_entries=8", "l2_tlb.base_entries=64",
                                       "fill.epoch=500", "fill.initial=50", "fill.band=0", "fill.step=30"}};
static const struct setting tokens_of_two = {
    "mosaic",
    "mask-tlb",
    "HS:scale=0.02," GATHER,
    {"sm.count=4", "l1_tlb.base_entries=8", "apps.restart=fresh", "fill.epoch=1000"}};
static const struct setting remote = {"pascal", "uvm-tbn-tbn", GATHER, {"sm.count=2", "uvm.advice=t:accessed-by"}};

struct row {
    const char *option;
    const struct setting *setting;
    const char *a, *b;
};

static const struct row rows[] = {
    {"gpu.count", &plain, "1", "1"},
    {"gpu.clock_mhz", &plain, "1000", "1100"},
    {"gpu.launch_latency", &plain, "0", "100"},
    {"sm.count", &plain, "2", "3"},
    {"sm.schedulers", &plain, "1", "2"},
    {"sm.schedule", &plain, "gto", "rr"},
    {"sm.warps", &plain, "64", "8"},
    {"sm.ctas", &plain, "16", "1"},
    {"sm.threads", &plain, "2048", "256"},
    {"sm.shared_bytes", &tiles, "48KB", "2KB"},
    {"sm.registers", &tiles, "65536", "8192"},
    {"sm.dependency_latency", &plain, "1", "30"},
    {"sm.loads_per_warp", &stores, "32", "1"},
    {"sm.lsu_queue", &plain, "8", "1"},
    {"sm.stores", &stores, "64", "1"},
    {"sm.serial", &plain, "off", "on"},
    {"l1_tlb.organisation", &plain, "plain", "ideal"},
    {"l1_tlb.organisation.replacement", &plain, "lru", "random"},
    {"l1_tlb.organisation.virtual_bits", &compressed, "13", "2"},
    {"l1_tlb.organisation.physical_bits", &compressed, "9", "2"},
    {"l1_tlb.organisation.ratio", &compressed, "2", "4"},
    {"l1_tlb.organisation.share", &compressed, "50", "0"},
    {"l1_tlb.organisation.counter", &compressed, "16", "0"},
    {"l1_tlb.organisation.consecutive", &compressed, "off", "on"},
    {"l1_tlb.organisation.sets_per_base", &compressed, "1", "0"},
    {"l1_tlb.organisation.search", &compressed, "off", "on"},
    {"l1_tlb.organisation.first_base", &compressed_launches, "run", "launch"},
    {"l1_tlb.organisation.ranges", &l1_ranges, "32", "0"},
    {"l1_tlb.organisation.walk", &l1_ranges, "500", "5000"},
    {"l1_tlb.large_organisation", &two_mb, "same", "ideal"},
    {"l1_tlb.large_organisation.replacement", &two_mb_alone, "lru", "random"},
    {"l1_tlb.large_organisation.virtual_bits", &compressed_large, "13", "2"},
    {"l1_tlb.large_organisation.physical_bits", &compressed_large, "9", "2"},
    {"l1_tlb.large_organisation.ratio", &compressed_large, "2", "4"},
    {"l1_tlb.large_organisation.share", &compressed_large, "50", "0"},
    {"l1_tlb.large_organisation.counter", &compressed_large, "16", "0"},
    {"l1_tlb.large_organisation.consecutive", &compressed_large, "off", "on"},
    {"l1_tlb.large_organisation.sets_per_base", &compressed_large, "1", "0"},
    {"l1_tlb.large_organisation.search", &compressed_large, "off", "on"},
    {"l1_tlb.large_organisation.first_base", &compressed_large_launches, "run", "launch"},
    {"l1_tlb.large_organisation.ranges", &large_l1_ranges, "32", "0"},
    {"l1_tlb.large_organisation.walk", &large_l1_ranges, "500", "5000"},
    {"l1_tlb.base_entries", &plain, "8", "16"},
    {"l1_tlb.base_ways", &plain, "0", "1"},
    {"l1_tlb.base_subpages", &fixed_walks, "1", "4"},
    {"l1_tlb.large_entries", &two_mb, "4", "8"},
    {"l1_tlb.large_ways", &two_mb, "0", "1"},
    {"l1_tlb.large_subpages", &two_mb, "1", "4"},
    {"l1_tlb.large_as_base", &two_mb, "off", "on"},
    {"l1_tlb.latency", &plain, "1", "5"},
    {"l1_tlb.mshrs", &plain, "32", "1"},
    {"l1_tlb.on_miss", &plain, "nonblocking", "stall_lsu"},
    {"l2_tlb.organisation", &plain, "plain", "ideal"},
    {"l2_tlb.organisation.replacement", &small_l2_tlb, "lru", "random"},
    {"l2_tlb.organisation.virtual_bits", &compressed, "13", "2"},
    {"l2_tlb.organisation.physical_bits", &compressed, "9", "2"},
    {"l2_tlb.organisation.ratio", &compressible, "2", "4"},
    {"l2_tlb.organisation.share", &compressed, "50", "0"},
    {"l2_tlb.organisation.counter", &compressed, "16", "0"},
    {"l2_tlb.organisation.consecutive", &compressed, "off", "on"},
    {"l2_tlb.organisation.sets_per_base", &compressed, "1", "0"},
    {"l2_tlb.organisation.search", &compressed, "off", "on"},
    {"l2_tlb.organisation.first_base", &compressed_launches, "run", "launch"},
    {"l2_tlb.organisation.ranges", &ranges, "32", "0"},
    {"l2_tlb.organisation.walk", &ranges, "500", "5000"},
    {"l2_tlb.large_organisation", &two_mb, "same", "ideal"},
    {"l2_tlb.large_organisation.replacement", &two_mb_alone, "lru", "random"},
    {"l2_tlb.large_organisation.virtual_bits", &compressed_large, "13", "2"},
    {"l2_tlb.large_organisation.physical_bits", &compressed_large, "9", "2"},
    {"l2_tlb.large_organisation.ratio", &compressed_large, "2", "4"},
    {"l2_tlb.large_organisation.share", &compressed_large, "50", "0"},
    {"l2_tlb.large_organisation.counter", &compressed_large, "16", "0"},
    {"l2_tlb.large_organisation.consecutive", &compressed_large, "off", "on"},
    {"l2_tlb.large_organisation.sets_per_base", &compressed_large, "1", "0"},
    {"l2_tlb.large_organisation.search", &compressed_large, "off", "on"},
    {"l2_tlb.large_organisation.first_base", &compressed_large_launches, "run", "launch"},
    {"l2_tlb.large_organisation.ranges", &large_ranges, "32", "0"},
    {"l2_tlb.large_organisation.walk", &large_ranges, "500", "5000"},
    {"l2_tlb.base_entries", &plain, "512", "64"},
    {"l2_tlb.base_ways", &small_l2_tlb, "0", "1"},
    {"l2_tlb.base_subpages", &small_l2_tlb, "1", "4"},
    {"l2_tlb.large_entries", &two_mb, "4", "8"},
    {"l2_tlb.large_ways", &two_mb, "0", "1"},
    {"l2_tlb.large_subpages", &two_mb, "1", "4"},
    {"l2_tlb.large_as_base", &two_mb, "off", "on"},
    {"l2_tlb.latency", &plain, "10", "20"},
    {"l2_tlb.mshrs", &plain, "128", "2"},
    {"l2_tlb.enabled", &plain, "on", "off"},
    {"l2_tlb.distance", &plain, "10", "20"},
    {"l2_tlb.ports", &plain, "1", "4"},
    {"l2_tlb.flush", &tokens_of_two, "entries", "all"},
    {"fill.policy", &plain, "always", "tokens"},
    {"fill.initial", &tokens, "50", "80"},
    {"fill.step", &tokens, "30", "0"},
    {"fill.band", &tokens, "0", "100"},
    {"fill.epoch", &tokens, "500", "2000"},
    {"fill.bypass_entries", &tokens, "32", "0"},
    {"walk.model", &plain, "memory", "fixed"},
    {"walk.latency", &fixed_walks, "500", "300"},
    {"walk.walkers", &plain, "64", "1"},
    {"walk.distance", &plain, "0", "10"},
    {"pwc.enabled", &plain, "off", "on"},
    {"pwc.bytes", &walk_cache, "8KB", "2KB"},
    {"pwc.ways", &small_walk_cache, "1", "2"},
    {"pwc.latency", &walk_cache, "10", "20"},
    {"pwc.ports", &walk_cache, "1", "2"},
    {"pwc.line_bytes", &small_walk_cache, "128", "8"},
    {"page.size", &plain, "4KB", "64KB"},
    {"page.entry_stride", &plain, "8", "128"},
    {"page.frames", &plain, "first-free", "random"},
    {"page.frames.large", &pieces, "2MB", "64KB"},
    {"page.frames.small", &pieces, "64KB", "2MB"},
    {"page.fragmentation", &plain, "0", "90"},
    {"page.occupancy", &fragmented, "10", "20"},
    {"coalesce.policy", &fragmented, "in-place", "none"},
    {"coalesce.interval", &migrating, "1000", "2000"},
    {"compact.policy", &fragmented, "contiguity-aware", "none"},
    {"compact.threshold", &fragmented, "0", "100"},
    {"compact.copy", &fragmented, "channel", "free"},
    {"compact.bulk_latency", &bulk_copies, "10", "20"},
    {"paging.mode", &paging, "demand", "preload"},
    {"uvm.service", &paging, "serial", "parallel"},
    {"uvm.fault_latency", &paging, "45us", "20us"},
    {"uvm.batch_faults", &batches, "256", "2"},
    {"uvm.batch_latency", &batches, "80us", "20us"},
    {"uvm.block_latency", &batches, "19us", "5us"},
    {"uvm.batch_fault_latency", &batches, "0.9us", "0.1us"},
    {"uvm.prefetch", &paging, "tbn", "none"},
    {"uvm.prefetch_full", &little_memory, "same", "none"},
    {"uvm.evict", &little_memory, "tbn", "lru4k"},
    {"uvm.reserve", &little_memory, "0", "50"},
    {"uvm.reserve_from", &reserved, "eviction", "candidates"},
    {"uvm.prefetch.partial", &single_evictions, "faulted", "all"},
    {"uvm.prefetch.partial", &single_evictions, "faulted", "none"},
    {"uvm.free_buffer", &little_memory, "0", "20"},
    {"uvm.memory", &paging, "0", "1MB"},
    {"uvm.oversubscription", &paging, "0", "200"},
    {"uvm.advice", &paging, "", "t:accessed-by"},
    {"link.model", &paging, "table", "linear"},
    {"link.points", &paging, "4KB:3+1MB:10", "4KB:2+1MB:11"},
    {"link.h2d_start_us", &linear_link, "0", "1"},
    {"link.d2h_start_us", &linear_link, "0", "1"},
    {"link.h2d_rate", &linear_link, "8", "4"},
    {"link.d2h_rate", &linear_link, "8", "4"},
    {"link.remote_latency", &remote, "1.3us", "1us"},
    {"link.remote_bytes", &remote, "32", "128"},
    {"link.remote_reads", &remote, "256", "1"},
    {"link.remote_rate", &remote, "0", "1"},
    {"link.remote_transfers", &remote, "0", "1"},
    {"l1d.bytes", &plain, "16KB", "64KB"},
    {"l1d.ways", &plain, "4", "1"},
    {"l1d.latency", &plain, "1", "20"},
    {"l1d.mshrs", &plain, "64", "1"},
    {"l1d.sectored", &plain, "off", "on"},
    {"l1d.write", &reused, "evict", "update"},
    {"xbar.latency", &plain, "10", "20"},
    {"xbar.bytes_per_cycle", &plain, "32", "16"},
    {"l2.bytes", &plain, "2MB", "64KB"},
    {"l2.ways", &narrow, "16", "1"},
    {"l2.slices", &narrow, "1", "2"},
    {"l2.ports", &narrow, "1", "4"},
    {"l2.latency", &plain, "10", "20"},
    {"l2.path", &plain, "0", "20"},
    {"l2.mshrs", &narrow, "128", "1"},
    {"l2.sectored", &plain, "off", "on"},
    {"l2.partition", &two_apps, "shared", "by-app"},
    {"l2.walks", &plain, "always", "never"},
    {"l2.walks.epoch", &sparse_tables, "100000", "1000"},
    {"dram.bytes", &scattered, "64MB", "96MB"},
    {"dram.channels", &plain, "6", "2"},
    {"dram.banks", &narrow, "8", "1"},
    {"dram.row_bytes", &narrow, "2KB", "1KB"},
    {"dram.clock_mhz", &narrow, "1674", "1000"},
    {"dram.bytes_per_clock", &narrow, "32", "16"},
    {"dram.burst_bytes", &narrow, "64", "32"},
    {"dram.rcd", &narrow, "21", "30"},
    {"dram.ras", &narrow, "47", "60"},
    {"dram.rp", &narrow, "21", "30"},
    {"dram.rc", &narrow, "67", "90"},
    {"dram.rrd", &narrow, "11", "20"},
    {"dram.ccd", &narrow, "2", "8"},
    {"dram.cl", &narrow, "21", "30"},
    {"dram.wl", &stores, "6", "12"},
    {"dram.wr", &stores, "21", "40"},
    {"dram.wtr", &stores, "9", "20"},
    {"dram.rtp", &narrow, "2", "50"},
    {"dram.read_queue", &narrow, "64", "1"},
    {"dram.write_queue", &stores, "64", "48"},
    {"dram.write_high", &stores, "48", "20"},
    {"dram.write_low", &stores, "16", "0"},
    {"dram.path", &plain, "0", "20"},
    {"dram.schedule", &narrow, "fr-fcfs", "fcfs"},
    {"dram.silver_max", &two_ranked, "500", "0"},
    {"dram.epoch", &two_ranked, "100000", "100"},
    {"dram.within", &two_ranked, "fr-fcfs", "fr-rr"},
    {"dram.rows", &narrow, "open", "closed"},
    {"dram.interleave", &plain, "line", "page"},
    {"apps.sms", &two_apps, "even", "1+3"},
    {"apps.backing", &two_apps, "in-turn", "one-by-one"},
    {"apps.restart", &one_longer, "keep", "fresh"},
    {"sim.progress_limit", &slow_walks, "20M", "1000"},
    {"sim.reuse", &plain, "off", "on"},
    {"sim.snapshots", &plain, "0", "500"},
};

/* Of an option that only decides when to give up, b makes the run fail. */
static const char gives_up[] = "sim.progress_limit";

/* The table of effects says of these that they never matter. */
static const char *const never_matter[] = {"compact.threshold",
                                           "gpu.count",
                                           "l1_tlb.organisation.ranges",
                                           "l1_tlb.organisation.walk",
                                           "l1_tlb.large_organisation.ranges",
                                           "l1_tlb.large_organisation.walk"};

static bool never_matters(const char *option)
{
    for (size_t i = 0; i < sizeof never_matter / sizeof *never_matter; i++)
        if (!strcmp(never_matter[i], option))
            return true;
    return false;
}

static const struct row *row_of(const char *option)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].option, option))
            return &rows[i];
    fail_msg("%s has no row here; add a run in which it changes something", option);
    return NULL;
}

/* A run of a row: its setting, what else is set, and one value of the option. */
struct run {
    struct pw_run_spec spec;
    const char *sets[2 * MAX_SETS];
    char own[128];
};

static void set(struct run *r, const char *pair)
{
    assert_true(r->spec.set_count < sizeof r->sets / sizeof *r->sets);
    r->sets[r->spec.set_count++] = pair;
    r->spec.sets = r->sets;
}

static void prepare(struct run *r, const struct row *row, const char *value)
{
    const struct setting *s = row->setting;
    *r = (struct run){.spec = {.machine = s->machine, .design = s->design, .workload = s->workload, .seed = 1}};
    for (size_t i = 0; i < MAX_SETS && s->sets[i]; i++)
        set(r, s->sets[i]);
    snprintf(r->own, sizeof r->own, "%s=%s", row->option, value);
    set(r, r->own);
}

static struct pw_result *result_of(const struct run *r)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    if (pw_run(&r->spec, &result, &err) != PW_OK)
        fail_msg("%s: %s", r->own, err.message);
    return result;
}

/* Metrics that a unit has only when it is there are 0 without it. */
static double metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return r->metrics[i].real;
    return 0;
}

/* What hardware costs says nothing on what it does: an option that changes only that has no effect. */
static bool is_cost(const char *name)
{
    return strstr(name, ".cost.") != NULL;
}

static bool has_all_of(const struct pw_result *a, const struct pw_result *b)
{
    for (size_t i = 0; i < b->metric_count; i++)
        if (!is_cost(b->metrics[i].name) && metric(a, b->metrics[i].name) != b->metrics[i].real)
            return false;
    return true;
}

/* Whether two runs agree in every cycle and metric. */
static bool same(const struct run *a, const struct run *b)
{
    struct pw_result *ra = result_of(a), *rb = result_of(b);
    bool alike = ra->cycles == rb->cycles && has_all_of(ra, rb) && has_all_of(rb, ra);
    pw_result_free(ra);
    pw_result_free(rb);
    return alike;
}

static bool fails(const struct run *r)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    enum pw_status status = pw_run(&r->spec, &result, &err);
    pw_result_free(result);
    return status == PW_FAILED;
}

struct heard {
    const char *own;
    bool said;
};

static void hear(void *context, const char *message)
{
    struct heard *h = context;
    char wanted[192];
    snprintf(wanted, sizeof wanted, "--set %s has no effect because ", h->own);
    h->said |= !strncmp(message, wanted, strlen(wanted));
}

static bool is_said_to_be_idle(const struct run *r)
{
    struct heard h = {.own = r->own};
    struct pw_error err = {0};
    if (pw_run_notices(&r->spec, hear, &h, &err) != PW_OK)
        fail_msg("%s: %s", r->own, err.message);
    return h.said;
}

static struct pw_options *all_options(void)
{
    static struct pw_config config;
    struct pw_options *o;
    struct pw_error err = {0};
    assert_int_equal(pw_config_create(&config, &o, &err), PW_OK);
    return o;
}

/* Whether an option does what its row says, and the user is told where that is nothing. */
static bool is_as_stated(const struct row *row)
{
    struct run a, b;
    prepare(&a, row, row->a);
    prepare(&b, row, row->b);
    bool idle = never_matters(row->option);
    if (is_said_to_be_idle(&a) != idle || is_said_to_be_idle(&b) != idle) {
        print_error("%s %s\n", row->option, idle ? "never matters, and nobody says so" : "is said to have no effect");
        return false;
    }
    bool changes = !strcmp(row->option, gives_up) ? !fails(&a) && fails(&b) : !same(&a, &b);
    if (changes == idle)
        print_error("%s: %s and %s give %s\n", row->option, row->a, row->b, changes ? "different results" : "the same");
    return changes != idle;
}

/* Of a family that has one policy so far. */
static bool has_no_alternative(const struct pw_option *row)
{
    return pw_option_family(row) && !pw_option_choice(row, 1);
}

static void every_option_changes_a_result(void **state)
{
    (void)state;
    struct pw_options *o = all_options();
    unsigned wrong = 0;
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view view;
        pw_options_view(o, i, &view);
        wrong += !has_no_alternative(view.row) && !is_as_stated(row_of(view.name));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) /* those of policies */
        wrong += pw_options_find(o, rows[i].option) < 0 && !is_as_stated(&rows[i]);
    pw_options_destroy(o);
    assert_int_equal(wrong, 0);
}

/* A value that does not meet a condition on an option. */
static void spoil(const struct pw_options *o, const struct pw_effect_condition *c, char *out, size_t capacity)
{
    struct pw_option_view view;
    size_t length = strcspn(c->values, "|");
    if (*c->values == '!') {
        snprintf(out, capacity, "%s=%.*s", c->key, (int)length - 1, c->values + 1);
        return;
    }
    pw_options_view(o, (size_t)pw_options_find(o, c->key), &view);
    if (view.row->type == PW_OPTION_BOOL) {
        snprintf(out, capacity, "%s=%s", c->key, strcmp(c->values, "on") ? "on" : "off");
        return;
    }
    uint32_t choice = 0;
    while (pw_option_choice(view.row, choice) && strstr(c->values, pw_option_choice(view.row, choice)))
        choice++;
    assert_non_null(pw_option_choice(view.row, choice));
    snprintf(out, capacity, "%s=%s", c->key, pw_option_choice(view.row, choice));
}

/* The row's run in which a rule does not hold. */
static void prepare_idle(struct run *r, const struct row *row, const char *value, const struct pw_effect_rule *rule,
                         const struct pw_options *o, char (*pairs)[128])
{
    prepare(r, row, value);
    for (const struct pw_effect_condition *c = rule->any; c->key; c++, pairs++)
        if (!strchr(c->key, '.')) { /* several applications: take the first alone */
            snprintf(*pairs, sizeof *pairs, "%.*s", (int)strcspn(row->setting->workload, ","), row->setting->workload);
            r->spec.workload = *pairs;
        } else {
            spoil(o, c, *pairs, sizeof *pairs);
            set(r, *pairs);
        }
}

static void an_option_that_is_said_to_have_no_effect_has_none(void **state)
{
    (void)state;
    struct pw_options *o = all_options();
    unsigned wrong = 0;
    for (const struct pw_effect_rule *rule = pw_effect_rules; rule->options; rule++) {
        unsigned about = 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char pairs[2][PW_EFFECT_ALTERNATIVES][128];
            struct run a, b;
            if (!pw_effect_rule_is_about(rule, rows[i].option))
                continue;
            about++;
            prepare_idle(&a, &rows[i], rows[i].a, rule, o, pairs[0]);
            prepare_idle(&b, &rows[i], rows[i].b, rule, o, pairs[1]);
            bool said = is_said_to_be_idle(&a) && is_said_to_be_idle(&b), alike = same(&a, &b);
            wrong += !said || !alike;
            if (!said || !alike)
                print_error("%s with %s %s\n", rows[i].option, pairs[0][0],
                            alike ? "has no effect, and nobody says so" : "has an effect");
        }
        assert_true(about > 0);
    }
    pw_options_destroy(o);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_changes_a_result),
        cmocka_unit_test(an_option_that_is_said_to_have_no_effect_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
