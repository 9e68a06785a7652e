/* Machines that nobody would build: seeded random values for the options that decide who waits for whom, on small programs
 * that compute and check their results. Whatever the combination, a run ends with every identity intact, or is refused
 * as the user's mistake; it never gets stuck and never breaks an identity. */
#include "pagewalk/pagewalk.h"
#include "policy/coalesce/coalesce_policy.h"
#include "policy/evict/evict_policy.h"
#include "policy/prefetch/prefetch_policy.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 240, MAX_SETS = 90, TEXT = 64 };

struct machine {
    char text[MAX_SETS][TEXT];
    const char *sets[MAX_SETS];
    size_t count;
};

static void set(struct machine *m, const char *name, uint64_t value)
{
    snprintf(m->text[m->count], TEXT, "%s=%llu", name, (unsigned long long)value);
    m->sets[m->count] = m->text[m->count];
    m->count++;
}

static void set_text(struct machine *m, const char *name, const char *value)
{
    snprintf(m->text[m->count], TEXT, "%s=%s", name, value);
    m->sets[m->count] = m->text[m->count];
    m->count++;
}

static uint64_t between(struct pw_random *r, uint64_t first, uint64_t last)
{
    return first + pw_random_below(r, last - first + 1);
}

static const char *any_of(struct pw_random *r, const char *const *names)
{
    uint32_t count = 0;
    while (names[count])
        count++;
    return names[pw_random_below(r, count)];
}

static const char *one_of(struct pw_random *r, const char *a, const char *b)
{
    return pw_random_below(r, 2) ? a : b;
}

static void choose_translation(struct machine *m, struct pw_random *r)
{
    static const char *const sizes[] = {"4KB", "64KB", "2MB"};
    uint64_t size = pw_random_below(r, 3);
    set_text(m, "page.size", sizes[size]);
    static const char *const frames[] = {"first-free", "random", "contiguity"};
    set_text(m, "page.frames", frames[pw_random_below(r, 3)]);
    set_text(m, "coalesce.policy", pw_coalesce_policy_names[size ? 0 : pw_random_below(r, 3)]);
    set(m, "coalesce.interval", between(r, 1000, 20000));
    set_text(m, "compact.policy", one_of(r, "none", "contiguity-aware"));
    set(m, "compact.threshold", between(r, 0, 100));
    if (pw_random_below(r, 3) == 0) {
        set(m, "page.fragmentation", between(r, 0, 90));
        set(m, "page.occupancy", between(r, 0, 60));
        set(m, "dram.bytes", between(r, 64, 256) << 20);
    }
    set_text(m, "apps.backing", one_of(r, "in-turn", "one-by-one"));
    set(m, "page.entry_stride", 8U << pw_random_below(r, 5));
    uint64_t ways = between(r, 1, 4);
    set(m, "l1_tlb.base_ways", ways);
    set(m, "l1_tlb.base_entries", ways * between(r, 1, 6));
    set(m, "l1_tlb.base_subpages", 1U << pw_random_below(r, 3));
    set(m, "l1_tlb.large_ways", 0);
    set(m, "l1_tlb.large_entries", between(r, 1, 20));
    set(m, "l1_tlb.mshrs", between(r, 1, 8));
    set(m, "l1_tlb.latency", between(r, 1, 4));
    set_text(m, "l1_tlb.on_miss", one_of(r, "nonblocking", "stall_lsu"));
    set(m, "l2_tlb.base_ways", 0);
    set(m, "l2_tlb.base_entries", between(r, 1, 40));
    set(m, "l2_tlb.ports", between(r, 1, 3));
    set(m, "l2_tlb.mshrs", between(r, 1, 6));
    set(m, "l2_tlb.distance", between(r, 0, 12));
    set(m, "walk.walkers", between(r, 1, 5));
    set_text(m, "walk.model", one_of(r, "memory", "fixed"));
    set(m, "walk.distance", pw_random_below(r, 2) * between(r, 1, 40));
    set_text(m, "pwc.enabled", one_of(r, "on", "off"));
}

/* Every other time what it takes to make large pages and to take large frames apart again, in little memory. */
static void choose_large_pages(struct machine *m, struct pw_random *r)
{
    static const char *const copies[] = {"channel", "bulk", "free"};
    if (pw_random_below(r, 2))
        return;
    set_text(m, "page.size", "4KB");
    set(m, "page.entry_stride", 8); /* a sparse table needs runs of frames, which such a memory may not have */
    set_text(m, "page.frames", one_of(r, "contiguity", "first-free"));
    set_text(m, "coalesce.policy", one_of(r, "in-place", "migrating"));
    set_text(m, "compact.copy", copies[pw_random_below(r, 3)]);
    set(m, "compact.bulk_latency", between(r, 1, 500));
    set_text(m, "dram.bytes", one_of(r, "14MB", "30MB"));
}

static void choose_sms(struct machine *m, struct pw_random *r)
{
    set(m, "sm.count", between(r, 1, 5));
    set(m, "sm.schedulers", between(r, 1, 4));
    set(m, "sm.warps", between(r, 16, 64));
    set(m, "sm.ctas", between(r, 1, 8));
    set(m, "sm.dependency_latency", between(r, 1, 12));
    set(m, "sm.loads_per_warp", 1U << pw_random_below(r, 7));
    set(m, "sm.lsu_queue", between(r, 1, 4));
    set(m, "sm.stores", between(r, 1, 8));
    set_text(m, "sm.schedule", one_of(r, "gto", "rr"));
    set_text(m, "sm.serial", pw_random_below(r, 8) ? "off" : "on");
}

static void choose_memory(struct machine *m, struct pw_random *r)
{
    set(m, "l1d.bytes", between(r, 1, 64) * 512);
    set(m, "l1d.ways", between(r, 1, 4));
    set(m, "l1d.mshrs", between(r, 1, 6));
    set_text(m, "l1d.sectored", one_of(r, "on", "off"));
    set_text(m, "l1d.write", one_of(r, "evict", "update"));
    set(m, "xbar.bytes_per_cycle", between(r, 8, 130));
    set(m, "xbar.latency", between(r, 1, 20));
    set(m, "dram.channels", between(r, 1, 7));
    set(m, "l2.slices", between(r, 1, 3));
    set(m, "l2.bytes", between(r, 256, 2048) * 128);
    set(m, "l2.ways", between(r, 1, 12));
    set(m, "l2.ports", between(r, 1, 3));
    set(m, "l2.mshrs", between(r, 1, 6));
    set_text(m, "l2.sectored", one_of(r, "on", "off"));
    set(m, "dram.banks", 1U << pw_random_below(r, 5));
    set(m, "dram.read_queue", between(r, 1, 12));
    set(m, "dram.path", between(r, 0, 30));
    set_text(m, "dram.schedule", one_of(r, "fr-fcfs", "fcfs"));
    set_text(m, "dram.interleave", one_of(r, "line", "page"));
}

/* Memory down to a single page of each size, every policy, fault latencies down to nothing. */
static void choose_paging(struct machine *m, struct pw_random *r)
{
    static const char *const modes[] = {"free", "preload", "demand", "demand", "demand"};
    static const char *const services[] = {"serial", "parallel", "batch"};
    set_text(m, "paging.mode", modes[pw_random_below(r, 5)]);
    set_text(m, "uvm.service", services[pw_random_below(r, 3)]);
    set_text(m, "uvm.prefetch", any_of(r, pw_prefetch_policy_names));
    set_text(m, "uvm.prefetch_full", pw_random_below(r, 2) ? "same" : any_of(r, pw_prefetch_policy_names));
    set_text(m, "uvm.evict", any_of(r, pw_evict_policy_names));
    set(m, "uvm.fault_latency", pw_random_below(r, 3) * between(r, 0, 500));
    set(m, "uvm.batch_latency", between(r, 0, 500));
    set(m, "uvm.batch_faults", between(r, 1, 300));
    set(m, "uvm.reserve", pw_random_below(r, 2) * between(r, 0, 50));
    set(m, "uvm.free_buffer", pw_random_below(r, 2) * between(r, 0, 30));
    if (pw_random_below(r, 2))
        set(m, "uvm.oversubscription", between(r, 100, 400));
    else
        set(m, "uvm.memory", between(r, 1, 600) * 4096 * pw_random_below(r, 2));
}

static void no_combination_gets_stuck_or_breaks_an_identity(void **state)
{
    (void)state;
    static const char *const workloads[] = {"vecadd:ctas=5:warps=3:iterations=3",
                                            "gather:ctas=3:warps=2:iterations=2:table=4MB",
                                            "pointer_chase:bytes=256KB:hops=200",
                                            "HS:side=40:iterations=3",
                                            "BFS2:nodes=600",
                                            "HS:side=20,vecadd:ctas=2",
                                            "gather:ctas=1:warps=2:iterations=2:table=2MB,HS:side=20"};
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "pwcache", "ideal-tlb", "static"};
    struct pw_random random;
    pw_random_init(&random, 7, "configurations");
    unsigned completed = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct machine m = {.count = 0};
        choose_sms(&m, &random);
        choose_memory(&m, &random);
        choose_translation(&m, &random);
        choose_paging(&m, &random);
        choose_large_pages(&m, &random);
        struct pw_run_spec spec = {.machine = one_of(&random, "mosaic", "volta"),
                                   .design = designs[pw_random_below(&random, 5)],
                                   .workload = workloads[pw_random_below(&random, 7)],
                                   .sets = m.sets,
                                   .set_count = m.count,
                                   .seed = run + 1,
                                   .verify = true,
                                   .breakdown = run % 2};
        struct pw_result *result = NULL;
        struct pw_error err = {0};
        enum pw_status status = pw_run(&spec, &result, &err);
        if (status != PW_OK && status != PW_USER_ERROR)
            fail_msg("run %u (%s, %s, %s): %s", run, spec.machine, spec.design, spec.workload, err.message);
        completed += status == PW_OK;
        pw_result_free(result);
    }
    /* Some combinations are refused; most must run, or this test would say nothing. */
    assert_true(completed > RUNS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_combination_gets_stuck_or_breaks_an_identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
