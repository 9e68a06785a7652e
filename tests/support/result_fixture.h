/* A small result with a bit of everything: integers beyond 32 bits, means, bytes, a unit in which nothing happened,
 * kernels, intervals, strings that need escaping. */
#ifndef PW_TEST_RESULT_FIXTURE_H
#define PW_TEST_RESULT_FIXTURE_H

#include "exp/format/result.h"

#define COUNTER(name, unit, value)                                                                                     \
    {                                                                                                                  \
        name, unit, true, value, (double)(value)                                                                       \
    }
#define MEAN(name, unit, value)                                                                                        \
    {                                                                                                                  \
        name, unit, false, 0, value                                                                                    \
    }

struct result_fixture {
    struct pw_result result;
    struct pw_app_result apps[2];
    struct pw_allocation_result allocations[2];
    struct pw_option_value options[3];
    struct pw_metric metrics[16];
    struct pw_identity_result identities[1];
    const char *window_metrics[2];
    double values[4];
    struct pw_window kernels[1], intervals[1];
};

static inline void result_fixture_init(struct result_fixture *f)
{
    *f = (struct result_fixture){
        .apps = {{"HS:side=64", 5000000000, 10000000000, 0.5, .sms = 20, .checks = 2},
                 {"vecadd", 7, 20, 0.35, .sms = 10}},
        .options = {{"l1_tlb.entries", "128", "default"},
                    {"l1_tlb.ways", "0", "configs/machines/mosaic.yaml:12"},
                    {"walk.model", "memory", "--set"}},
        .metrics = {COUNTER("gpu0.sm.issued", "instructions", 5000000000), COUNTER("gpu0.l1_tlb.lookups", "lookups", 8),
                    COUNTER("gpu0.l1_tlb.hits", "lookups", 6), COUNTER("gpu0.walk.count", "walks", 0),
                    COUNTER("gpu0.dram.reads", "requests", 30), COUNTER("gpu0.dram.writes", "requests", 10),
                    COUNTER("gpu0.dram.row_hits", "requests", 10), COUNTER("gpu0.dram.bytes", "bytes", 3 << 20),
                    MEAN("gpu0.dram.data.latency_mean", "cycles", 0.1), COUNTER("gpu0.zeta.odd", "", 1),
                    COUNTER("app0.l1_tlb.lookups", "lookups", 5), COUNTER("app0.l1_tlb.hits", "lookups", 5)},
        .identities = {{"l1_tlb.lookups = l1_tlb.hits + l1_tlb.misses", true}},
        .window_metrics = {"l1_tlb.hits", "dram.data.latency_mean"},
        .values = {6, 0.1, 3, 0.25},
    };
    f->kernels[0] = (struct pw_window){"_Z4spotIiEvv", 0, 1, 0, 100, f->values};
    f->intervals[0] = (struct pw_window){NULL, 0, 3, 200, 300, f->values + 2};
    f->result = (struct pw_result){
        .seed = 9223372036854775807,
        .cycles = 10000000000,
        .nanoseconds = 9803921568.627451,
        .machine = "mosaic",
        .design = "gpu-mmu",
        .ipc_throughput = 0.5,
        .app_count = 1,
        .apps = f->apps,
        .option_count = 3,
        .options = f->options,
        .metric_count = 12,
        .metrics = f->metrics,
        .identity_count = 1,
        .identities = f->identities,
        .window_metric_count = 2,
        .window_metrics = f->window_metrics,
        .kernel_count = 1,
        .interval_count = 1,
        .kernels = f->kernels,
        .intervals = f->intervals,
        .wall_seconds = 1.5,
        .peak_rss_bytes = 1 << 24,
        .events = 77,
        .memory_operations = 55,
    };
}

/* Managed memory: every number another one, and a name that needs quotes. */
static inline void result_fixture_manage(struct result_fixture *f)
{
    f->allocations[0] = (struct pw_allocation_result){.name = "temp",
                                                      .count = 1,
                                                      .bytes = 5000000000,
                                                      .pages = 1220704,
                                                      .far_faults = 11,
                                                      .pages_in = 120,
                                                      .pages_prefetched = 109,
                                                      .prefetched_used = 60,
                                                      .prefetched_evicted = 40,
                                                      .prefetched_resident = 9,
                                                      .pages_evicted = 80,
                                                      .pages_written = 70,
                                                      .pages_thrashed = 30};
    f->allocations[1] = (struct pw_allocation_result){
        .name = "a, \"b\"", .app = 1, .count = 3, .bytes = 1, .pages = 1, .far_faults = 2, .pages_in = 2};
    f->result.allocation_count = 2;
    f->result.allocations = f->allocations;
}

/* Both applications, run alone too: slowdowns of 2 and 1.25. */
static inline void result_fixture_pair(struct result_fixture *f)
{
    result_fixture_init(f);
    result_fixture_manage(f);
    f->result.app_count = 2;
    f->apps[0].ipc_alone = 1;
    f->apps[1].ipc_alone = 0.4375;
    f->result.ipc_throughput = 0.85;
    f->result.weighted_speedup = 1.3;
    f->result.unfairness = 2;
}

#undef COUNTER
#undef MEAN

#endif
