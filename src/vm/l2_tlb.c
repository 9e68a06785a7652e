/* What the shared L2 TLB holds and loses. The model is described in l2_tlb.h. */
#include "vm/l2_tlb.h"

#include <stdlib.h>

const struct pw_option pw_l2_tlb_options[] = {
    {"enabled", PW_OPTION_BOOL, offsetof(struct pw_l2_tlb_config, enabled), 0, 0, "on", "", NULL,
     "Whether there is a shared L2 TLB; without it, L1 misses go to the walker.", false},
    {"distance", PW_OPTION_CYCLES, offsetof(struct pw_l2_tlb_config, distance), 0, 10000, "10", "cycles", NULL,
     "Cycles between an SM and the L2 TLB, each way.", false},
    {"ports", PW_OPTION_COUNT, offsetof(struct pw_l2_tlb_config, ports), 1, 16, "1", "ports", NULL,
     "Lookups that can start in one cycle.", false},
    {"flush", PW_OPTION_CHOICE, offsetof(struct pw_l2_tlb_config, flush), 0, 0, "entries", "",
     (const char *const[]){"entries", "all", NULL},
     "What leaves the L2 TLB and the bypass cache when a translation changes or goes: its entry, or every one.", false},
    {0}};

/* How often an application's translations have emptied the TLB, and how many it had lost then. */
struct pw_l2_tlb_flushes {
    uint64_t count, losses;
};

enum pw_status pw_l2_tlb_init(struct pw_l2_tlb *t, const struct pw_l2_tlb_setup *setup, struct pw_error *err)
{
    *t = (struct pw_l2_tlb){
        .latency = setup->config->tlb.latency, .config = setup->config, .tables = setup->tables, .apps = setup->apps};
    t->flushes = calloc(setup->apps, sizeof *t->flushes);
    if (!t->flushes)
        return pw_fail_memory(err, "L2 TLB");
    if (!setup->config->enabled)
        return PW_OK;
    t->level = (struct pw_tlb_level){.name = "l2_tlb",
                                     .config = &setup->config->tlb,
                                     .orders = setup->orders,
                                     .tables = setup->tables,
                                     .policies = setup->policies,
                                     .apps = setup->apps,
                                     .seed = setup->seed};
    enum pw_status status = pw_tlb_level_init(&t->level, err);
    if (status == PW_OK)
        status = pw_tlb_init(&t->tlb, &t->level, 0, err);
    if (status == PW_OK && setup->bypass.enabled)
        status = pw_bypass_tlb_init(&t->bypass, setup->bypass.entries, setup->apps, err);
    return status;
}

void pw_l2_tlb_release(struct pw_l2_tlb *t)
{
    pw_tlb_level_release(&t->level);
    pw_bypass_tlb_release(&t->bypass);
    free(t->flushes);
}

void pw_l2_tlb_register(const struct pw_l2_tlb *t, struct pw_stats *stats, const struct pw_tlb_counters *counters)
{
    pw_tlb_register(stats, PW_L2_TLB, counters, t->config->enabled);
    if (t->config->enabled && t->config->flush == PW_FLUSH_ALL)
        pw_stats_counter(stats, "l2_tlb.flushes", "flushes",
                         "Flushes of the L2 TLB and the bypass cache, of one entry or more, because a translation has "
                         "changed or gone. Only with l2_tlb.flush=all.",
                         t->flushes, sizeof *t->flushes, offsetof(struct pw_l2_tlb_flushes, count));
    if (t->bypass.state)
        pw_bypass_tlb_register(&t->bypass, stats, counters);
}

bool pw_l2_tlb_fill(struct pw_l2_tlb *t, const struct pw_tlb_miss *page, struct pw_translation translation,
                    enum pw_translation_source source, bool may_fill)
{
    if (t->bypass.state)
        pw_bypass_tlb_count_fill(&t->bypass, page->asid, may_fill, source == PW_FROM_ARRIVAL);
    if (!may_fill) {
        if (t->bypass.state)
            pw_bypass_tlb_insert(&t->bypass, page->asid, page->vpn, translation);
        return false;
    }
    if (source == PW_FROM_WALK)
        pw_tlb_insert_walked(&t->tlb, t->tables[page->asid], page->vpn, translation);
    else
        pw_tlb_insert(&t->tlb, page->asid, page->vpn, translation);
    return pw_tlb_reads_lines(&t->tlb);
}

static unsigned drop(struct pw_l2_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    return pw_tlb_invalidate(&t->tlb, asid, first, outer) + pw_bypass_tlb_invalidate(&t->bypass, asid, first, outer);
}

unsigned pw_l2_tlb_invalidate(struct pw_l2_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    struct pw_l2_tlb_flushes *f = &t->flushes[asid];
    uint64_t losses = t->tables[asid]->losses;
    unsigned dropped = 0;
    if (t->config->flush == PW_FLUSH_ENTRIES)
        return drop(t, asid, first, outer);
    if (f->losses == losses) /* nothing was mapped there, or all has left already */
        return 0;
    f->losses = losses;
    for (unsigned i = 0; i < t->apps; i++)
        dropped += drop(t, (pw_asid)i, (pw_vpn){0}, (pw_vpn){1ULL << PW_TABLE_VPN_BITS});
    f->count += dropped > 0;
    return dropped;
}

enum pw_status pw_l2_tlb_check(const struct pw_l2_tlb *t, struct pw_error *err)
{
    enum pw_status status = pw_tlb_check(&t->tlb, t->tables, "L2 TLB", err);
    return status == PW_OK ? pw_bypass_tlb_check(&t->bypass, t->tables, err) : status;
}
