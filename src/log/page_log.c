/* Decides what the log of page accesses has; log/page_rows.h writes it.
 *
 * Time and launch together make a window, numbered as windows come. A page keeps the number of the last window in which
 * it was accessed and what was done to it then; an access is new when the window or the operation is. */
#include "log/page_log.h"

#include "log/page_rows.h"
#include "sim/grow.h"
#include "sim/new_stream.h"

#include <stdio.h>
#include <stdlib.h>

enum { KIND_BITS = 3 };

struct allocation {
    char name[32];
    uint64_t first, pages, bytes;
    uint64_t *seen; /* by page: the window << KIND_BITS, and a bit for each kind of access in it */
    bool counted, managed;
    struct pw_uvm_counters counters; /* where it is managed */
};

struct application {
    struct allocation *allocations; /* by address */
    size_t count, capacity, last;   /* last: that an access was in */
    uint32_t launch;
    uint64_t window; /* the present one */
    pw_cycle outer;  /* its end */
    bool stopped;
};

struct pw_page_log {
    struct pw_new_stream file;
    uint64_t interval, limit;
    uint64_t accesses, accesses_left_out, batches, batches_left_out;
    pw_cycle first_access_left_out, first_batch_left_out;
    bool out_of_memory;
    struct application apps[PW_MAX_APPS];
};

enum pw_status pw_page_log_create(const char *path, uint64_t interval, uint64_t limit, struct pw_page_log **out,
                                  struct pw_error *err)
{
    *out = NULL;
    struct pw_page_log *l = calloc(1, sizeof *l);
    if (!l)
        return pw_fail_memory(err, "the log of page accesses");
    l->interval = interval ? interval : PW_PAGE_LOG_DEFAULT_INTERVAL;
    l->limit = limit ? limit : PW_PAGE_LOG_DEFAULT_LIMIT;
    enum pw_status status = pw_new_stream_open(&l->file, path, err);
    if (status != PW_OK) {
        pw_page_log_destroy(l);
        return status;
    }
    pw_page_rows_head(l->file.out);
    *out = l;
    return PW_OK;
}

void pw_page_log_destroy(struct pw_page_log *l)
{
    if (!l)
        return;
    pw_new_stream_drop(&l->file);
    for (unsigned app = 0; app < PW_MAX_APPS; app++) {
        for (size_t i = 0; i < l->apps[app].count; i++)
            free(l->apps[app].allocations[i].seen);
        free(l->apps[app].allocations);
    }
    free(l);
}

void pw_page_log_allocated(struct pw_page_log *l, pw_asid app, const char *name, pw_vpn first, uint64_t bytes)
{
    struct application *a = &l->apps[app];
    if (a->stopped || l->out_of_memory)
        return;
    struct allocation *grown = pw_grow(a->allocations, a->count, &a->capacity, sizeof *grown);
    l->out_of_memory = !grown;
    if (!grown)
        return;
    a->allocations = grown;
    struct allocation *added = &grown[a->count];
    *added =
        (struct allocation){.first = first.v, .pages = (bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT, .bytes = bytes};
    snprintf(added->name, sizeof added->name, "%s", name);
    added->seen = calloc(added->pages, sizeof *added->seen);
    l->out_of_memory = !added->seen;
    a->count += added->seen != NULL;
}

void pw_page_log_launched(struct pw_page_log *l, pw_asid app, uint32_t launch)
{
    struct application *a = &l->apps[app];
    a->launch = launch;
    a->outer = 0;
}

void pw_page_log_stop(struct pw_page_log *l, pw_asid app)
{
    l->apps[app].stopped = true;
}

/* The allocation that the page is in, or NULL. */
static struct allocation *find(struct application *a, uint64_t page)
{
    if (!a->count)
        return NULL;
    struct allocation *last = &a->allocations[a->last];
    if (page - last->first < last->pages)
        return last;
    size_t low = 0, high = a->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (a->allocations[middle].first <= page)
            low = middle;
        else
            high = middle;
    }
    a->last = low;
    return page - a->allocations[low].first < a->allocations[low].pages ? &a->allocations[low] : NULL;
}

void pw_page_log_access(struct pw_page_log *l, pw_asid app, pw_vpn vpn, uint8_t kind, pw_cycle now)
{
    struct application *a = &l->apps[app];
    struct allocation *in = a->stopped ? NULL : find(a, vpn.v);
    if (!in)
        return;
    if (now >= a->outer) {
        a->window++;
        a->outer = (now / l->interval + 1) * l->interval;
    }
    uint64_t *seen = &in->seen[vpn.v - in->first], bit = 1ULL << kind;
    if (*seen >> KIND_BITS != a->window)
        *seen = a->window << KIND_BITS;
    if (*seen & bit)
        return;
    *seen |= bit;
    if (l->accesses == l->limit) {
        if (!l->accesses_left_out++)
            l->first_access_left_out = now;
        return;
    }
    l->accesses++;
    pw_page_rows_access(l->file.out, &(struct pw_page_row){.cycle = now,
                                                           .page = vpn.v - in->first,
                                                           .allocation = (size_t)(in - a->allocations),
                                                           .name = in->name,
                                                           .launch = a->launch,
                                                           .app = app,
                                                           .kind = kind});
}

void pw_page_log_launch(struct pw_page_log *l, pw_asid app, uint32_t launch, const char *kernel, pw_cycle first,
                        pw_cycle outer)
{
    pw_page_rows_launch(l->file.out, app, launch, kernel, first, outer);
}

void pw_page_log_batch(struct pw_page_log *l, const struct pw_fault_batch *batch)
{
    if (l->batches == l->limit) {
        if (!l->batches_left_out++)
            l->first_batch_left_out = batch->taken;
        return;
    }
    l->batches++;
    pw_page_rows_batch(l->file.out, batch);
}

size_t pw_page_log_allocation_count(const struct pw_page_log *l, pw_asid app)
{
    return l->apps[app].count;
}

pw_vpn pw_page_log_allocation_first(const struct pw_page_log *l, pw_asid app, size_t number)
{
    return (pw_vpn){l->apps[app].allocations[number].first};
}

void pw_page_log_counters(struct pw_page_log *l, pw_asid app, size_t number, const struct pw_uvm_counters *counters)
{
    struct allocation *a = &l->apps[app].allocations[number];
    if (a->counted)
        return;
    a->counted = true;
    a->managed = counters != NULL;
    if (counters)
        a->counters = *counters;
}

void pw_page_log_allocations(struct pw_page_log *l, pw_asid app)
{
    for (size_t i = 0; i < l->apps[app].count; i++) {
        const struct allocation *a = &l->apps[app].allocations[i];
        pw_page_rows_allocation(l->file.out, app, i, a->name, a->bytes, a->pages, a->managed ? &a->counters : NULL);
    }
}

enum pw_status pw_page_log_finish(struct pw_page_log *l, struct pw_error *err)
{
    if (l->out_of_memory)
        return pw_fail_memory(err, "the log of page accesses");
    if (l->accesses_left_out)
        pw_page_rows_truncated(l->file.out, "access", l->first_access_left_out, l->accesses_left_out);
    if (l->batches_left_out)
        pw_page_rows_truncated(l->file.out, "batch", l->first_batch_left_out, l->batches_left_out);
    return pw_new_stream_finish(&l->file, err);
}
