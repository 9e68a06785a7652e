/* Recounts what residency keeps, for tests and for runs that check themselves; and how much memory it holds. */
#include "uvm/residency_internal.h"

size_t pw_residency_bytes(const struct pw_residency *r)
{
    return sizeof *r + r->block_capacity * sizeof *r->blocks + r->free_span_capacity * sizeof *r->free_spans +
           r->range_capacity * sizeof *r->ranges + r->directory_bytes + pw_order_bytes(r->order);
}

static bool disjoint(const struct pw_page_mask *a, const struct pw_page_mask *b)
{
    struct pw_page_mask both = pw_mask_and(*a, b);
    return !pw_mask_any(&both);
}

static bool within(const struct pw_page_mask *a, const struct pw_page_mask *b)
{
    struct pw_page_mask outside = pw_mask_without(*a, b);
    return !pw_mask_any(&outside);
}

static bool whole_units(const struct pw_residency *r, const struct pw_page_mask *m)
{
    struct pw_page_mask wide = pw_mask_widen(m, r->config.order);
    return within(&wide, m);
}

static bool block_is_sound(const struct pw_residency *r, const struct pw_managed_block *b)
{
    struct pw_page_mask exists = pw_block_exists(b), known = pw_mask_or(b->resident, &b->coming);
    return within(&known, &exists) && disjoint(&b->resident, &b->coming) && within(&b->granted, &b->coming) &&
           within(&b->awaited, &known) && within(&b->prefetched, &known) && within(&b->accessed, &b->resident) &&
           within(&b->dirty, &b->resident) && within(&b->evicted, &exists) && disjoint(&b->accessed, &b->awaited) &&
           disjoint(&b->accessed, &b->prefetched) && whole_units(r, &b->resident) && whole_units(r, &b->coming) &&
           whole_units(r, &b->granted) && whole_units(r, &b->awaited) && whole_units(r, &b->accessed) &&
           whole_units(r, &b->dirty) && whole_units(r, &b->prefetched) && whole_units(r, &b->evicted) &&
           within(&b->remote, &exists) && disjoint(&b->remote, &b->resident) && whole_units(r, &b->remote);
}

static bool is_resident(void *context, pw_page_id page)
{
    const struct pw_residency *r = context;
    return page / PW_BLOCK_PAGES < r->block_count && page % r->unit == 0 &&
           pw_residency_state(r, page) == PW_PAGE_RESIDENT;
}

static void add_counters(struct pw_uvm_counters *sum, const struct pw_uvm_counters *c)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)c;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static bool same_counters(const struct pw_uvm_counters *a, const struct pw_uvm_counters *b)
{
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    for (size_t i = 0; i < sizeof *a / sizeof *x; i++)
        if (x[i] != y[i])
            return false;
    return true;
}

static enum pw_status check_counters(const struct pw_residency *r, struct pw_error *err)
{
    struct pw_uvm_counters sums[PW_MAX_APPS] = {{0}};
    for (size_t i = 0; i < r->range_count; i++) {
        const struct pw_uvm_counters *c = &r->ranges[i].counters;
        if (c->pages_prefetched != c->prefetched_used + c->prefetched_evicted + c->prefetched_resident)
            return pw_fail(err, PW_FAILED, "residency: prefetched pages of %s do not add up", r->ranges[i].name);
        add_counters(&sums[r->ranges[i].asid], c);
    }
    for (unsigned app = 0; app < PW_MAX_APPS; app++)
        if (!same_counters(&sums[app], &r->counters[app]))
            return pw_fail(err, PW_FAILED, "residency: allocations of application %u do not add up", app);
    return PW_OK;
}

enum pw_status pw_residency_check(const struct pw_residency *r, struct pw_error *err)
{
    uint64_t resident = 0, coming = 0, granted = 0, awaited = 0, unused = 0, counted_unused = 0;
    for (uint32_t i = 0; i < r->block_count; i++) {
        const struct pw_managed_block *b = &r->blocks[i];
        if (!b->exists)
            continue;
        if (!block_is_sound(r, b) || *pw_residency_entry(r, r->ranges[b->range].asid, b->number) != i + 1)
            return pw_fail(err, PW_FAILED, "residency: the masks of block %u contradict each other", i);
        struct pw_page_mask waiting = pw_mask_and(b->awaited, &b->resident);
        struct pw_page_mask idle = pw_mask_and(b->prefetched, &b->resident);
        resident += pw_mask_count(&b->resident);
        coming += pw_mask_count(&b->coming);
        granted += pw_mask_count(&b->granted);
        awaited += pw_mask_count(&waiting);
        unused += pw_mask_count(&idle);
    }
    for (unsigned app = 0; app < PW_MAX_APPS; app++)
        counted_unused += r->counters[app].prefetched_resident;
    if (resident != r->resident || coming != r->coming || granted != r->granted || awaited != r->awaited ||
        unused != counted_unused || pw_order_pages(r->order) * r->unit != resident)
        return pw_fail(err, PW_FAILED, "residency: %llu pages are resident, %llu counted", (unsigned long long)resident,
                       (unsigned long long)r->resident);
    enum pw_status status = pw_order_check(r->order, is_resident, (void *)(uintptr_t)r, err);
    return status ? status : check_counters(r, err);
}
