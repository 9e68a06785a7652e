/* The page manager: creation, statistics, and who is told what. What is done is in coalescer.c, compactor.c, migrator.c
 * and table_writer.c; the model is described in page_manager.h. */
#include "vm/page_manager_internal.h"

#include <stdlib.h>

static enum pw_status create_policies(struct pw_page_manager *m, struct pw_error *err)
{
    m->coalescing = pw_coalesce_config_policy(&m->coalesce);
    m->compaction = pw_compact_config_policy(&m->compact);
    enum pw_status status = pw_policy_use_init(&m->coalescing_use, m->wiring.policies, "coalesce.policy",
                                               &m->coalescing->head, &m->coalesce.policy, m->wiring.apps, err);
    if (status == PW_OK)
        status = pw_policy_use_add(&m->coalescing_use, NULL, &m->coalescing_state, err);
    if (status == PW_OK)
        status = pw_policy_use_init(&m->compaction_use, m->wiring.policies, "compact.policy", &m->compaction->head,
                                    &m->compact.policy, m->wiring.apps, err);
    return status == PW_OK ? pw_policy_use_add(&m->compaction_use, NULL, &m->compaction_state, err) : status;
}

enum pw_status pw_page_manager_create(const struct pw_coalesce_config *coalesce,
                                      const struct pw_compact_config *compact,
                                      const struct pw_page_manager_wiring *wiring, struct pw_page_manager **out,
                                      struct pw_error *err)
{
    struct pw_page_manager *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return pw_fail_memory(err, "page manager");
    m->coalesce = *coalesce;
    m->compact = *compact;
    m->wiring = *wiring;
    if (wiring->timeline)
        m->write_lanes = (struct pw_lanes){.timeline = wiring->timeline,
                                           .group = pw_timeline_group(wiring->timeline, "Page manager"),
                                           .name = "table write"};
    m->counters = calloc(wiring->apps, sizeof *m->counters);
    enum pw_status status = m->counters ? create_policies(m, err) : pw_fail_memory(err, "page manager");
    if (status == PW_OK && m->coalescing->wants && !m->coalescing->in_place)
        status = pw_migrator_create(m, err);
    if (status != PW_OK) {
        pw_page_manager_destroy(m);
        return status;
    }
    *out = m;
    return PW_OK;
}

void pw_page_manager_destroy(struct pw_page_manager *m)
{
    if (!m)
        return;
    pw_migrator_destroy(m->migrator);
    pw_policy_use_release(&m->coalescing_use);
    pw_policy_use_release(&m->compaction_use);
    pw_lanes_release(&m->write_lanes);
    free(m->jobs);
    free(m->counters);
    free(m);
}

struct large_pages {
    const struct pw_page_manager *manager;
    const struct pw_page_table *table;
    uint64_t region, count; /* the last region seen */
};

static void count_large(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    (void)frame;
    (void)order;
    struct large_pages *l = context;
    if (pw_region_of(vpn).v == l->region)
        return;
    l->region = pw_region_of(vpn).v;
    l->count += pw_is_large_here(l->manager, l->table, vpn);
}

/* A large page ends when it is splintered, or with the last of its base pages. */
static enum pw_status check_large_pages(void *manager, struct pw_error *err)
{
    const struct pw_page_manager *m = manager;
    for (unsigned app = 0; app < m->wiring.apps; app++) {
        struct large_pages l = {.manager = m, .table = pw_table_of(m, (pw_asid)app), .region = UINT64_MAX};
        pw_page_table_each(l.table, count_large, &l);
        if (m->counters[app].splintered + l.count > m->counters[app].coalesced)
            return pw_fail(err, PW_FAILED, "app%u has %llu large pages and has lost %llu, but only %llu were made", app,
                           (unsigned long long)l.count, (unsigned long long)m->counters[app].splintered,
                           (unsigned long long)m->counters[app].coalesced);
    }
    return PW_OK;
}

static enum pw_status check_writes(void *manager, struct pw_error *err)
{
    uint64_t pending = pw_page_manager_pending(manager);
    if (pending)
        return pw_fail(err, PW_FAILED, "%llu operations of the page manager are under way",
                       (unsigned long long)pending);
    return PW_OK;
}

void pw_page_manager_register(struct pw_page_manager *m, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, "page." name, unit, help, m->counters, sizeof *m->counters,                                \
                     offsetof(struct pw_page_manager_counters, field))
    COUNTER("checks", "checks", checks, "Regions of 2 MiB that the coalescer has looked at.");
    COUNTER("coalesced", "pages", coalesced, "Large pages made of base pages.");
    COUNTER("splintered", "pages", splintered, "Large pages made base pages again.");
    COUNTER("migrated", "pages", migrated, "Base pages moved to another frame.");
    COUNTER("table_writes", "writes", table_writes, "Memory operations that write page tables.");
    COUNTER("flushes", "flushes", flushes, "Flushes of TLBs by coalescing and splintering, of one page or more.");
    COUNTER("compact_checks", "checks", compact_checks, "Deallocations in large pages.");
    COUNTER("compactions", "frames", compactions, "Large frames that were emptied.");
    COUNTER("emergencies", "pages", emergencies, "Large pages splintered because no other memory was left.");
    COUNTER("pauses", "pauses", pauses, "Times that all SMs stood still for the page manager.");
    COUNTER("pause_cycles", "cycles", pause_cycles, "Cycles that all SMs stood still for it.");
#undef COUNTER
    pw_stats_identity_check(stats, "every large page was made of base pages", check_large_pages, m);
    pw_stats_identity_check(stats, "the page manager has nothing under way", check_writes, m);
}

void pw_page_manager_arrived(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    if (m->coalescing->in_place)
        pw_coalesce_arrived(m, asid, first, outer);
}

bool pw_page_manager_make_room(struct pw_page_manager *m, pw_asid asid, bool whole_region)
{
    return pw_compact_make_room(m, asid, whole_region) || (m->migrator && pw_migrator_make_room(m));
}

void pw_page_manager_evicting(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    if (pw_page_table_is_large(pw_table_of(m, asid), vpn))
        pw_splinter(m, asid, vpn);
    if (m->migrator)
        pw_migrator_freed(m, asid, vpn, (pw_vpn){vpn.v + 1});
}

void pw_page_manager_freed(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    for (pw_vpn region = pw_region_of(first); region.v < outer.v; region.v += PW_REGION_PAGES)
        pw_compact_region(m, asid, region);
    if (m->migrator)
        pw_migrator_freed(m, asid, first, outer);
}

uint64_t pw_page_manager_pending(const struct pw_page_manager *m)
{
    return m->writes_pending + (m->migrator ? pw_migrator_pending(m->migrator) : 0);
}
