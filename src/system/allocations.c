/* What demand paging did to each allocation, at the end of a run.
 *
 * Allocations of one name are one row: a program that allocates its arrays anew in every iteration, or starts over
 * beside a longer one, has as many rows as it has arrays. So rows add up to the application's metrics whatever
 * happened. The log of page accesses has the allocations of the first run only, each for itself. */
#include "system/system.h"

#include "uvm/allocation.h"

#include <stdlib.h>
#include <string.h>

/* The row of an allocation, which may be new; NULL when memory is out. */
static struct pw_allocation_result *find_or_add(struct pw_system *s, const struct pw_managed_range *range)
{
    for (size_t i = 0; i < s->allocation_count; i++)
        if (s->allocations[i].app == range->asid && !strcmp(s->allocations[i].name, range->name))
            return &s->allocations[i];
    struct pw_allocation_result *grown = realloc(s->allocations, (s->allocation_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    s->allocations = grown;
    char *name = strdup(range->name);
    if (!name)
        return NULL;
    grown[s->allocation_count] = (struct pw_allocation_result){.name = name, .app = range->asid};
    return &grown[s->allocation_count++];
}

/* By application, and as they were first made. */
static bool sort(struct pw_system *s)
{
    struct pw_allocation_result *sorted = malloc((s->allocation_count + 1) * sizeof *sorted);
    size_t count = 0;
    for (unsigned app = 0; sorted && app < s->app_count; app++)
        for (size_t i = 0; i < s->allocation_count; i++)
            if (s->allocations[i].app == app)
                sorted[count++] = s->allocations[i];
    if (!sorted)
        return false;
    free(s->allocations);
    s->allocations = sorted;
    return true;
}

enum pw_status pw_system_keep_allocations(struct pw_system *s, struct pw_error *err)
{
    const struct pw_residency *residency = s->uvm ? pw_uvm_residency(s->uvm) : NULL;
    size_t count = residency ? pw_residency_range_count(residency) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct pw_managed_range *range = pw_residency_range(residency, i);
        struct pw_allocation_result *row = find_or_add(s, range);
        if (!row)
            return pw_fail_memory(err, "allocations of a result");
        row->count++;
        if (range->bytes > row->bytes) {
            row->bytes = range->bytes;
            row->pages = range->pages;
        }
#define ADD(member, unit) row->member += range->counters.member;
        PW_ALLOCATION_COUNTERS(ADD)
#undef ADD
    }
    return sort(s) ? PW_OK : pw_fail_memory(err, "allocations of a result");
}

void pw_system_release_allocations(struct pw_system *s)
{
    for (size_t i = 0; i < s->allocation_count; i++)
        free((char *)s->allocations[i].name);
    free(s->allocations);
}

/* What happened to the allocation at this address in the first run of its program; NULL where nothing is counted. */
static const struct pw_uvm_counters *counters_of(const struct pw_system *s, pw_asid app, pw_vpn first)
{
    const struct pw_residency *residency = s->uvm ? pw_uvm_residency(s->uvm) : NULL;
    for (size_t i = 0; residency && i < pw_residency_range_count(residency); i++) {
        const struct pw_managed_range *range = pw_residency_range(residency, i);
        if (range->asid == app && range->first.v == first.v)
            return &range->counters;
    }
    return NULL;
}

void pw_system_log_counters(struct pw_system *s, unsigned app)
{
    pw_asid asid = s->spaces[app].asid;
    for (size_t number = 0; number < pw_page_log_allocation_count(s->page_log, asid); number++)
        pw_page_log_counters(s->page_log, asid, number,
                             counters_of(s, asid, pw_page_log_allocation_first(s->page_log, asid, number)));
}

void pw_system_log_pages(struct pw_system *s)
{
    struct pw_page_log *log = s->page_log;
    for (size_t i = 0; i < s->kernels.count; i++) {
        const struct pw_span *k = &s->kernels.rows[i];
        pw_page_log_launch(log, (pw_asid)k->app, k->index, k->name, k->first, k->outer);
    }
    const struct pw_fault_batch *batches = NULL;
    size_t count = s->uvm ? pw_uvm_batches(s->uvm, &batches) : 0;
    for (size_t i = 0; i < count; i++)
        pw_page_log_batch(log, &batches[i]);
    for (unsigned i = 0; i < s->app_count; i++) {
        pw_system_log_counters(s, i);
        pw_page_log_allocations(log, s->spaces[i].asid);
    }
}
