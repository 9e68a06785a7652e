/* For every option a tiny run, and two values of the option between which that run differs. */
#ifndef PW_TESTS_OPTION_EFFECT_ROWS_H
#define PW_TESTS_OPTION_EFFECT_ROWS_H

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
static const struct setting sectors = {
    "mosaic", "gpu-mmu", GATHER, {"sm.count=2", "l1_tlb.base_entries=8", "l1d.sectored=on", "l2.sectored=on"}};
static const struct setting halves = {
    "mosaic", "gpu-mmu", GATHER, {"sm.count=4", "l1_tlb.base_entries=8", "l2.halves=on"}};
static const struct setting stores = {
    "mosaic", "gpu-mmu", "vecadd:ctas=16:iterations=8", {"sm.count=2", "dram.channels=1", "l2.bytes=16KB"}};
static const struct setting tiles = {"mosaic", "gpu-mmu", "MM:scale=0.02", {"sm.count=1"}};
static const struct setting carved = {
    "mosaic", "gpu-mmu", "MM:scale=0.02", {"sm.count=1", "l1d.bytes=100KB", "l1d.carved=off"}};
/* What option_effects.c writes: a launch with arithmetic and a pace. */
#define PACED_TRACE "option_effects.pwt"
static const struct setting paced = {"mosaic", "gpu-mmu", "trace:" PACED_TRACE, {"sm.count=1"}};
static const struct setting copied = {"mosaic", "gpu-mmu", GATHER, {"sm.count=2", "l2.copies=on"}};
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
static const struct setting little_memory_of_pool = {
    "pascal", "uvm-tbn-tbn", "BFS2:nodes=3000", {"sm.count=2", "uvm.oversubscription=150"}};
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

/* Four GPUs of two SMs; pages of all of them are accessed by all. */
#define FOUR_GPUS "sm.count=2", "l1_tlb.base_entries=8", "dram.bytes=64MB"
#define SPREAD "gather:table=4MB:ctas=32:iterations=2"
static const struct setting four_gpus = {"mgpu4", "distributed", SPREAD, {FOUR_GPUS}};
static const struct setting four_arrays = {"mgpu4", "distributed", "vecadd:ctas=32:iterations=8", {FOUR_GPUS}};
static const struct setting four_bypassing = {"mgpu4", "bypass", SPREAD, {FOUR_GPUS, "route.epoch=1000"}};
static const struct setting four_free = {"mgpu4", "distributed", SPREAD, {FOUR_GPUS, "route.policy=bypass"}};

struct row {
    const char *option;
    const struct setting *setting;
    const char *a, *b;
};

static const struct row rows[] = {
    {"gpu.count", &four_gpus, "4", "3"},
    {"route.policy", &four_gpus, "distributed", "centralized"},
    {"route.epoch", &four_bypassing, "1000", "2000"},
    {"route.t1", &four_bypassing, "0.85", "0.15"},
    {"route.t2", &four_bypassing, "0.15", "0.85"},
    {"route.mode", &four_free, "off", "both"},
    {"iommu.walkers", &four_gpus, "8", "1"},
    {"iommu.latency", &four_gpus, "100", "200"},
    {"fabric.topology", &four_gpus, "tree", "all-to-all"},
    {"fabric.gb_per_s", &four_gpus, "16", "32"},
    {"fabric.gpus_per_switch", &four_gpus, "2", "4"},
    {"fabric.switch_latency", &four_gpus, "140", "10"},
    {"fabric.link_latency", &four_gpus, "0", "100"},
    {"fabric.host_gb_per_s", &four_gpus, "0", "4"},
    {"fabric.queues", &four_gpus, "by-class", "shared"},
    {"fabric.request_bytes", &four_gpus, "16", "64"},
    {"fabric.header_bytes", &four_gpus, "16", "64"},
    {"place.policy", &four_arrays, "interleaved", "single"},
    {"place.ctas", &four_gpus, "blocks", "interleaved"},
    {"place.remote", &four_gpus, "direct", "migrate"},
    {"gpu.clock_mhz", &plain, "1000", "1100"},
    {"gpu.launch_latency", &plain, "0", "100"},
    {"gpu.launch_work", &plain, "0", "100"},
    {"gpu.cta_interval", &plain, "0", "100"},
    {"sm.count", &plain, "2", "3"},
    {"sm.schedulers", &plain, "1", "2"},
    {"sm.schedule", &plain, "gto", "rr"},
    {"sm.warps", &plain, "64", "8"},
    {"sm.ctas", &plain, "16", "1"},
    {"sm.threads", &plain, "2048", "256"},
    {"sm.shared_bytes", &tiles, "48KB", "2KB"},
    {"sm.shared_reserved", &tiles, "0", "24KB"},
    {"sm.registers", &tiles, "65536", "8192"},
    {"sm.register_unit", &tiles, "1", "256"},
    {"sm.dependency_latency", &plain, "1", "30"},
    {"sm.issue_interval", &plain, "1", "5"},
    {"sm.recorded_pace", &paced, "off", "on"},
    {"sm.barrier_latency", &tiles, "0", "100"},
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
    {"uvm.oversubscription_of", &little_memory_of_pool, "touched", "first-launch"},
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
    {"l1d.launch_empties", &reused, "off", "on"},
    {"l1d.hashed_sets", &plain, "off", "on"},
    {"l1d.carved", &carved, "off", "on"},
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
    {"l2.bytes_per_cycle", &narrow, "0", "32"},
    {"l2.fetch_bytes", &sectors, "32", "64"},
    {"l2.halves", &plain, "off", "on"},
    {"l2.far_latency", &halves, "10", "20"},
    {"l2.copies", &plain, "off", "on"},
    {"l2.occupied", &copied, "0", "90"},
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

#endif
