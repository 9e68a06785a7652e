/* Machines that nobody would build: seeded random values for the options that decide who waits for whom. */
#ifndef PW_TESTS_RANDOM_MACHINE_H
#define PW_TESTS_RANDOM_MACHINE_H

#include "policy/coalesce/coalesce_policy.h"
#include "policy/compact/compact_policy.h"
#include "policy/evict/evict_policy.h"
#include "policy/frame/frame_policy.h"
#include "policy/prefetch/prefetch_policy.h"
#include "policy/warp/warp_policy.h"
#include "sim/random.h"
#include "system/config.h"

#include <stdio.h>
#include <string.h>

enum { MACHINE_SETS = 160, MACHINE_NAME = 64, MACHINE_TEXT = 128 };

struct random_machine {
    char text[MACHINE_SETS][MACHINE_TEXT];
    const char *sets[MACHINE_SETS];
    size_t count;
};

static inline void machine_set(struct random_machine *m, const char *name, uint64_t value)
{
    snprintf(m->text[m->count], MACHINE_TEXT, "%s=%llu", name, (unsigned long long)value);
    m->sets[m->count] = m->text[m->count];
    m->count++;
}

static inline void machine_set_text(struct random_machine *m, const char *name, const char *value)
{
    snprintf(m->text[m->count], MACHINE_TEXT, "%s=%s", name, value);
    m->sets[m->count] = m->text[m->count];
    m->count++;
}

static inline uint64_t machine_between(struct pw_random *r, uint64_t first, uint64_t last)
{
    return first + pw_random_below(r, last - first + 1);
}

static inline const char *machine_any_policy(struct pw_random *r, const struct pw_policy_family *family)
{
    uint32_t count = 0;
    while (family->policies[count])
        count++;
    return family->policies[pw_random_below(r, count)]->name;
}

static inline const char *machine_one_of(struct pw_random *r, const char *a, const char *b)
{
    return pw_random_below(r, 2) ? a : b;
}

static inline void machine_choose_translation(struct random_machine *m, struct pw_random *r)
{
    static const char *const sizes[] = {"4KB", "64KB", "2MB"};
    static const char *const on_miss[] = {"stall_lsu", "hit_under_miss", "nonblocking"};
    uint64_t size = pw_random_below(r, 3);
    machine_set_text(m, "page.size", sizes[size]);
    machine_set_text(m, "page.frames", machine_any_policy(r, &pw_frame_family));
    machine_set_text(m, "coalesce.policy", size ? "none" : machine_any_policy(r, &pw_coalesce_family));
    machine_set(m, "coalesce.interval", machine_between(r, 1000, 20000));
    machine_set_text(m, "compact.policy", machine_any_policy(r, &pw_compact_family));
    machine_set(m, "compact.threshold", machine_between(r, 0, 100));
    if (pw_random_below(r, 3) == 0) {
        machine_set(m, "page.fragmentation", machine_between(r, 0, 90));
        machine_set(m, "page.occupancy", machine_between(r, 0, 60));
        machine_set(m, "dram.bytes", machine_between(r, 64, 256) << 20);
    }
    machine_set_text(m, "apps.backing", machine_one_of(r, "in-turn", "one-by-one"));
    machine_set_text(m, "apps.restart", machine_one_of(r, "keep", "fresh"));
    machine_set(m, "page.entry_stride", 8U << pw_random_below(r, 5));
    uint64_t ways = machine_between(r, 1, 4);
    machine_set(m, "l1_tlb.base_ways", ways);
    machine_set(m, "l1_tlb.base_entries", ways * machine_between(r, 1, 6));
    machine_set(m, "l1_tlb.base_subpages", 1U << pw_random_below(r, 3));
    machine_set(m, "l1_tlb.large_ways", 0);
    machine_set(m, "l1_tlb.large_entries", machine_between(r, 1, 20));
    machine_set(m, "l1_tlb.mshrs", machine_between(r, 1, 8));
    machine_set(m, "l1_tlb.latency", machine_between(r, 1, 4));
    machine_set_text(m, "l1_tlb.on_miss", on_miss[pw_random_below(r, 3)]);
    machine_set(m, "l2_tlb.base_ways", 0);
    machine_set(m, "l2_tlb.base_entries", machine_between(r, 1, 40));
    machine_set(m, "l2_tlb.ports", machine_between(r, 1, 3));
    machine_set(m, "l2_tlb.mshrs", machine_between(r, 1, 6));
    machine_set(m, "l2_tlb.distance", machine_between(r, 0, 12));
    machine_set(m, "walk.walkers", machine_between(r, 1, 5));
    machine_set_text(m, "walk.model", machine_one_of(r, "memory", "fixed"));
    machine_set(m, "walk.distance", pw_random_below(r, 2) * machine_between(r, 1, 40));
    machine_set_text(m, "pwc.enabled", machine_one_of(r, "on", "off"));
}

/* Every other time what it takes to make large pages and to take large frames apart again, in little memory. */
static inline void machine_choose_large_pages(struct random_machine *m, struct pw_random *r)
{
    static const char *const copies[] = {"channel", "bulk", "free"};
    if (pw_random_below(r, 2))
        return;
    machine_set_text(m, "page.size", "4KB");
    machine_set(m, "page.entry_stride", 8); /* a sparse table needs runs of frames, which such a memory may not have */
    machine_set_text(m, "page.frames", machine_one_of(r, "contiguity", "first-free"));
    machine_set_text(m, "coalesce.policy", machine_one_of(r, "in-place", "migrating"));
    machine_set_text(m, "compact.copy", copies[pw_random_below(r, 3)]);
    machine_set(m, "compact.bulk_latency", machine_between(r, 1, 500));
    machine_set_text(m, "dram.bytes", machine_one_of(r, "14MB", "30MB"));
}

static inline void machine_choose_sms(struct random_machine *m, struct pw_random *r)
{
    machine_set(m, "sm.count", machine_between(r, 1, 5));
    machine_set(m, "sm.schedulers", machine_between(r, 1, 4));
    machine_set(m, "sm.warps", machine_between(r, 16, 64));
    machine_set(m, "sm.ctas", machine_between(r, 1, 8));
    machine_set(m, "sm.dependency_latency", machine_between(r, 1, 12));
    machine_set(m, "sm.loads_per_warp", 1U << pw_random_below(r, 7));
    machine_set(m, "sm.lsu_queue", machine_between(r, 1, 4));
    machine_set(m, "sm.stores", machine_between(r, 1, 8));
    machine_set_text(m, "sm.schedule", machine_any_policy(r, &pw_warp_family));
    machine_set_text(m, "sm.serial", pw_random_below(r, 8) ? "off" : "on");
}

static inline void machine_choose_memory(struct random_machine *m, struct pw_random *r)
{
    machine_set(m, "l1d.bytes", machine_between(r, 1, 64) * 512);
    machine_set(m, "l1d.ways", machine_between(r, 1, 4));
    machine_set(m, "l1d.mshrs", machine_between(r, 1, 6));
    machine_set_text(m, "l1d.sectored", machine_one_of(r, "on", "off"));
    machine_set_text(m, "l1d.write", machine_one_of(r, "evict", "update"));
    machine_set(m, "xbar.bytes_per_cycle", machine_between(r, 8, 130));
    machine_set(m, "xbar.latency", machine_between(r, 1, 20));
    machine_set(m, "dram.channels", machine_between(r, 1, 7));
    machine_set(m, "l2.slices", machine_between(r, 1, 3));
    machine_set(m, "l2.bytes", machine_between(r, 256, 2048) * 128);
    machine_set(m, "l2.ways", machine_between(r, 1, 12));
    machine_set(m, "l2.ports", machine_between(r, 1, 3));
    machine_set(m, "l2.mshrs", machine_between(r, 1, 6));
    machine_set_text(m, "l2.sectored", machine_one_of(r, "on", "off"));
    machine_set(m, "dram.banks", 1U << pw_random_below(r, 5));
    machine_set(m, "dram.read_queue", machine_between(r, 1, 12));
    machine_set(m, "dram.path", machine_between(r, 0, 30));
    machine_set_text(m, "dram.schedule", machine_any_policy(r, &pw_dram_family));
    machine_set_text(m, "dram.interleave", machine_one_of(r, "line", "page"));
}

/* Memory down to a single page of each size, every policy, fault latencies down to nothing. */
static inline void machine_choose_paging(struct random_machine *m, struct pw_random *r)
{
    static const char *const modes[] = {"free", "preload", "demand", "demand", "demand"};
    static const char *const services[] = {"serial", "parallel", "batch"};
    machine_set_text(m, "paging.mode", modes[pw_random_below(r, 5)]);
    machine_set_text(m, "uvm.service", services[pw_random_below(r, 3)]);
    machine_set_text(m, "uvm.prefetch", machine_any_policy(r, &pw_prefetch_family));
    machine_set_text(m, "uvm.prefetch_full",
                     pw_random_below(r, 2) ? "same" : machine_any_policy(r, &pw_prefetch_family));
    machine_set_text(m, "uvm.evict", machine_any_policy(r, &pw_evict_family));
    machine_set(m, "uvm.fault_latency", pw_random_below(r, 3) * machine_between(r, 0, 500));
    machine_set(m, "uvm.batch_latency", machine_between(r, 0, 500));
    machine_set(m, "uvm.batch_faults", machine_between(r, 1, 300));
    machine_set(m, "uvm.reserve", pw_random_below(r, 2) * machine_between(r, 0, 50));
    machine_set_text(m, "uvm.reserve_from", machine_one_of(r, "eviction", "candidates"));
    machine_set(m, "uvm.free_buffer", pw_random_below(r, 2) * machine_between(r, 0, 30));
    if (pw_random_below(r, 2)) {
        static const char *const data[] = {"touched", "allocated", "first-launch"};
        uint64_t percent = machine_between(r, 100, 400);
        machine_set(m, "uvm.oversubscription", percent);
        machine_set_text(m, "uvm.oversubscription_of", data[percent % 3]);
    } else {
        machine_set(m, "uvm.memory", machine_between(r, 1, 600) * 4096 * pw_random_below(r, 2));
    }
}

/* What the machine sets an option to, or NULL: the last counts. */
static inline const char *machine_value(const struct random_machine *m, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = m->count; i-- > 0;)
        if (!strncmp(m->sets[i], name, length) && m->sets[i][length] == '=')
            return m->sets[i] + length + 1;
    return NULL;
}

/* Any value of a policy's own option; a text stays as it is. */
static inline void machine_choose_value(struct random_machine *m, struct pw_random *r, const char *name,
                                        const struct pw_option *row)
{
    uint64_t most = row->max > 0 ? (uint64_t)row->max : 1000000, least = (uint64_t)row->min;
    uint32_t choices = 0;
    if (row->type == PW_OPTION_BOOL)
        machine_set_text(m, name, machine_one_of(r, "on", "off"));
    else if (row->type == PW_OPTION_CHOICE) {
        while (pw_option_choice(row, choices))
            choices++;
        machine_set_text(m, name, pw_option_choice(row, (uint32_t)pw_random_below(r, choices)));
    } else if (row->type != PW_OPTION_TEXT) {
        uint64_t value = machine_between(r, least, most);
        while (row->power_of_two && value & (value - 1))
            value &= value - 1;
        machine_set(m, name, value >= least ? value : most);
    }
}

/* Families that the rest has not chosen from, now and then; then the options of whatever is chosen. */
static inline void machine_choose_policies(struct random_machine *m, struct pw_random *r)
{
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
        for (const struct pw_option *row = g->rows; row->name; row++) {
            const struct pw_policy_family *family = pw_option_family(row);
            char option[MACHINE_NAME], name[MACHINE_NAME];
            snprintf(option, sizeof option, "%s.%s", g->prefix, row->name);
            if (family && !machine_value(m, option) && !pw_random_below(r, 4))
                machine_set_text(m, option, machine_any_policy(r, family));
            const char *chosen = family ? machine_value(m, option) : NULL;
            for (const struct pw_policy *const *p = chosen ? family->policies : NULL; p && *p; p++)
                for (const struct pw_option *own = (*p)->options; own && own->name; own++)
                    if (!strcmp((*p)->name, chosen) && pw_policy_own_name(option, own->name, name, sizeof name))
                        machine_choose_value(m, r, name, own);
        }
}

static inline void machine_choose(struct random_machine *m, struct pw_random *r)
{
    *m = (struct random_machine){.count = 0};
    machine_choose_sms(m, r);
    machine_choose_memory(m, r);
    machine_choose_translation(m, r);
    machine_choose_paging(m, r);
    machine_choose_large_pages(m, r);
    machine_choose_policies(m, r);
}

#endif
