/* The progress of a run, and the report of one that makes none. The rules are in watchdog.h. */
#include "system/watchdog.h"

#include "system/system.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 4 }; /* in which all managed pages may come without being used */

static uint64_t work_done(const struct pw_system *s)
{
    uint64_t done = pw_system_issued(s);
    for (unsigned i = 0; i < s->node_count; i++)
        done += pw_gpu_lines_ended(s->nodes[i].gpu);
    return done;
}

/* That have come, or were dealt with where they are. */
static uint64_t pages_done(const struct pw_system *s)
{
    uint64_t pages = 0;
    for (unsigned i = 0; s->uvm && i < s->app_count; i++) {
        const struct pw_uvm_counters *c = &pw_residency_counters(pw_uvm_residency(s->uvm))[i];
        pages += c->pages_in + c->pages_remote + c->pages_collapsed;
    }
    return pages;
}

static uint64_t managed_pages(const struct pw_system *s)
{
    uint64_t pages = 0;
    const struct pw_residency *r = pw_uvm_residency(s->uvm);
    for (size_t i = 0; i < pw_residency_range_count(r); i++)
        pages += pw_residency_range(r, i)->freed ? 0 : pw_residency_range(r, i)->pages;
    return pages;
}

struct pw_watchdog pw_watchdog_of(const struct pw_system *s)
{
    uint64_t pages = pages_done(s);
    return (struct pw_watchdog){work_done(s), pages, pages, s->events->now};
}

bool pw_watchdog_look(struct pw_watchdog *w, const struct pw_system *s)
{
    uint64_t done = work_done(s), pages = pages_done(s);
    bool progress = done != w->done;
    if (progress) {
        w->done = done;
        w->pages = pages;
    } else if (pages != w->last_pages) {
        progress = pages - w->pages <= ROUNDS * managed_pages(s);
    }
    w->last_pages = pages;
    if (progress)
        w->progressed = s->events->now;
    return s->events->now - w->progressed <= s->config.sim.progress_limit;
}

enum pw_status pw_watchdog_fail(const struct pw_watchdog *w, const struct pw_system *s, struct pw_error *err)
{
    char why[160];
    if (w->last_pages == w->pages)
        return pw_no_progress(s, "no instruction was issued and no page came for sim.progress_limit cycles", err);
    snprintf(
        why, sizeof why,
        "%llu pages came, some again and again, but for sim.progress_limit cycles no instruction was issued and no "
        "access ended",
        (unsigned long long)(w->last_pages - w->pages));
    return pw_no_progress(s, why, err);
}

enum pw_status pw_no_progress(const struct pw_system *s, const char *why, struct pw_error *err)
{
    char who[PW_ERROR_CAPACITY - 512];
    who[0] = 0;
    for (unsigned i = 0; i < s->node_count; i++)
        pw_gpu_describe(s->nodes[i].gpu, who + strlen(who), sizeof who - strlen(who));
    if (s->uvm)
        pw_uvm_describe(s->uvm, who + strlen(who), sizeof who - strlen(who));
    if (s->iommu)
        pw_iommu_describe(s->iommu, who + strlen(who), sizeof who - strlen(who));
    if (s->fabric)
        pw_fabric_describe(s->fabric, who + strlen(who), sizeof who - strlen(who));
    return pw_fail(err, PW_FAILED, "no progress at cycle %llu: %s\n%s", (unsigned long long)s->events->now, why, who);
}
