/* A page's life: decided, granted, arrived, touched.
 *
 * Pages are counted when they change state and never recounted, so nothing here takes longer with a larger footprint. A
 * touch that repeats the last one returns at once; else it reads one bit (accessed) and, for a write, a second one.
 * Only the first touch of a page after its arrival does more: it settles what the prefetcher earned and lets an awaited
 * page go. */
#include "uvm/residency_internal.h"

#include <assert.h>
#include <stdlib.h>

/* What chooses, and its only instance. */
static enum pw_status create_policy(struct pw_residency *r, struct pw_policy_use *use, const char *option,
                                    const struct pw_policy *policy, const struct pw_policy_choice *choice,
                                    const void *environment, void **out_state, struct pw_error *err)
{
    enum pw_status status = pw_policy_use_init(use, r->config.policies, option, policy, choice, PW_MAX_APPS, err);
    return status == PW_OK ? pw_policy_use_add(use, environment, out_state, err) : status;
}

static enum pw_status create_policies(struct pw_residency *r, struct pw_error *err)
{
    const struct pw_residency_config *c = &r->config;
    const struct pw_policy *prefetch = pw_policy_chosen(&pw_prefetch_family, &c->prefetch);
    const struct pw_policy *full = pw_policy_chosen_or_same(&pw_prefetch_family, &c->prefetch_full);
    const struct pw_policy *evict = pw_policy_chosen(&pw_evict_family, &c->evict);
    struct pw_prefetch_environment prefetch_from = {&r->prefetch_random};
    struct pw_evict_environment evict_from = {&r->evict_random};
    r->prefetch = pw_prefetch_policy_of(prefetch);
    r->prefetch_full = pw_prefetch_policy_of(full ? full : prefetch);
    r->evict = pw_evict_policy_of(evict);
    enum pw_status status = create_policy(r, &r->prefetch_use, "uvm.prefetch", prefetch, &c->prefetch, &prefetch_from,
                                          &r->prefetch_state, err);
    r->prefetch_full_state = r->prefetch_state;
    if (status == PW_OK && full)
        status = create_policy(r, &r->prefetch_full_use, "uvm.prefetch_full", full, &c->prefetch_full, &prefetch_from,
                               &r->prefetch_full_state, err);
    if (status == PW_OK)
        status = create_policy(r, &r->evict_use, "uvm.evict", evict, &c->evict, &evict_from, &r->evict_state, err);
    return status;
}

enum pw_status pw_residency_create(const struct pw_residency_config *config, struct pw_residency **out,
                                   struct pw_error *err)
{
    struct pw_residency *r = calloc(1, sizeof *r);
    if (!r)
        return pw_fail_memory(err, "managed memory");
    r->config = *config;
    r->unit = 1U << config->order;
    r->last_touched = PW_NO_PAGE;
    pw_random_init(&r->prefetch_random, config->seed, "uvm.prefetch");
    pw_random_init(&r->evict_random, config->seed, "uvm.evict");
    enum pw_status status = create_policies(r, err);
    if (status == PW_OK)
        status = pw_order_create(r->evict->order, &r->evict_random, &r->order, err);
    if (status) {
        pw_residency_destroy(r);
        return status;
    }
    *out = r;
    return PW_OK;
}

void pw_residency_destroy(struct pw_residency *r)
{
    if (!r)
        return;
    for (unsigned app = 0; app < PW_MAX_APPS; app++) {
        for (size_t i = 0; r->directories[app] && i < 1U << PW_DIRECTORY_BITS; i++)
            free(r->directories[app][i]);
        free(r->directories[app]);
    }
    pw_order_destroy(r->order);
    pw_policy_use_release(&r->prefetch_use);
    pw_policy_use_release(&r->prefetch_full_use);
    pw_policy_use_release(&r->evict_use);
    free(r->blocks);
    free(r->free_spans);
    free(r->ranges);
    free(r);
}

const struct pw_residency_config *pw_residency_settings(const struct pw_residency *r)
{
    return &r->config;
}

void pw_residency_set_capacity(struct pw_residency *r, uint64_t pages)
{
    r->config.capacity = pages;
}

enum pw_page_state pw_residency_state(const struct pw_residency *r, pw_page_id page)
{
    const struct pw_managed_block *b = &r->blocks[page / PW_BLOCK_PAGES];
    unsigned at = page % PW_BLOCK_PAGES;
    return pw_mask_has(&b->resident, at) ? PW_PAGE_RESIDENT
           : pw_mask_has(&b->coming, at) ? PW_PAGE_COMING
                                         : PW_PAGE_ABSENT;
}

/* The unit that a page of a block lies in. */
static struct pw_page_mask unit_of(const struct pw_residency *r, unsigned page)
{
    unsigned first = page & ~(r->unit - 1);
    return pw_mask_range(first, first + r->unit);
}

static void touch_first(struct pw_residency *r, struct pw_managed_block *b, unsigned at)
{
    assert(pw_mask_has(&b->resident, at));
    struct pw_page_mask unit = unit_of(r, at);
    b->accessed = pw_mask_or(b->accessed, &unit);
    if (pw_mask_has(&b->awaited, at)) {
        b->awaited = pw_mask_without(b->awaited, &unit);
        r->awaited -= r->unit;
    }
    if (pw_mask_has(&b->prefetched, at)) {
        b->prefetched = pw_mask_without(b->prefetched, &unit);
        pw_residency_count(r, b, prefetched_used, r->unit);
        pw_residency_count(r, b, prefetched_resident, -(uint64_t)r->unit);
    }
}

bool pw_residency_touch(struct pw_residency *r, pw_page_id page, bool write)
{
    if (page == r->last_touched && write <= r->last_write)
        return true;
    struct pw_managed_block *b = &r->blocks[page / PW_BLOCK_PAGES];
    unsigned at = page % PW_BLOCK_PAGES;
    if (pw_mask_has(&b->remote, at))
        return true;
    if (write && !pw_mask_has(&b->dirty, at) && pw_advice_copies(r->ranges[b->range].advice))
        return false;
    r->last_touched = page;
    r->last_write = write;
    if (!pw_mask_has(&b->accessed, at))
        touch_first(r, b, at);
    if (write && !pw_mask_has(&b->dirty, at)) {
        struct pw_page_mask unit = unit_of(r, at);
        b->dirty = pw_mask_or(b->dirty, &unit);
    }
    pw_order_touch(r->order, page & ~(r->unit - 1));
    return true;
}

/* Pages of a set that exist and are neither here nor on their way, as whole units. */
static struct pw_page_mask absent_of(const struct pw_residency *r, const struct pw_managed_block *b,
                                     const struct pw_page_mask *pages)
{
    struct pw_page_mask wide = pw_mask_widen(pages, r->config.order), exists = pw_block_exists(b);
    wide = pw_mask_and(wide, &exists);
    wide = pw_mask_without(wide, &b->resident);
    return pw_mask_without(wide, &b->coming);
}

/* What comes along: by the policy that holds when memory is full, or by the other one. */
static struct pw_page_mask choose(struct pw_residency *r, const struct pw_managed_block *b, bool full,
                                  const struct pw_page_mask *faulted)
{
    struct pw_prefetch_view view = {
        .asid = r->ranges[b->range].asid,
        .first = {b->number * PW_BLOCK_PAGES},
        .now = pw_residency_now(r),
        .exists = pw_block_exists(b),
        .resident = pw_mask_or(b->resident, &b->coming),
        .faulted = *faulted,
        .tree_pages = b->tree_pages,
    };
    struct pw_page_mask chosen = {0};
    if (full)
        r->prefetch_full->choose(r->prefetch_full_state, &view, &chosen);
    else
        r->prefetch->choose(r->prefetch_state, &view, &chosen);
    chosen = absent_of(r, b, &chosen);
    return pw_mask_without(chosen, faulted);
}

static uint64_t buffer_pages(const struct pw_residency *r)
{
    return (uint64_t)(r->config.free_buffer * (double)r->config.capacity);
}

/* Whether so many more pages would exceed what memory holds, the free-page buffer aside. */
static bool would_fill(const struct pw_residency *r, uint64_t pages)
{
    return r->resident + r->coming + pages > r->config.capacity - buffer_pages(r);
}

static void set_coming(struct pw_residency *r, struct pw_managed_block *b, const struct pw_fetch *fetch)
{
    b->coming = pw_mask_or(b->coming, &fetch->faulted);
    b->coming = pw_mask_or(b->coming, &fetch->prefetched);
    b->awaited = pw_mask_or(b->awaited, &fetch->faulted);
    b->prefetched = pw_mask_or(b->prefetched, &fetch->prefetched);
    r->coming += pw_mask_count(&fetch->faulted) + pw_mask_count(&fetch->prefetched);
}

void pw_residency_decide(struct pw_residency *r, uint32_t block, const struct pw_page_mask *asked, struct pw_fetch *out)
{
    struct pw_managed_block *b = &r->blocks[block];
    *out = (struct pw_fetch){.block = block, .faulted = absent_of(r, b, asked)};
    unsigned faulted = pw_mask_count(&out->faulted);
    if (!faulted)
        return;
    if (!r->full) {
        out->prefetched = choose(r, b, false, &out->faulted);
        r->full = would_fill(r, faulted + pw_mask_count(&out->prefetched));
    }
    if (r->full)
        out->prefetched = choose(r, b, true, &out->faulted);
    set_coming(r, b, out);
    pw_residency_count(r, b, far_faults, faulted >> r->config.order);
}

void pw_residency_merge(struct pw_residency *r, pw_page_id page)
{
    struct pw_managed_block *b = &r->blocks[page / PW_BLOCK_PAGES];
    struct pw_page_mask unit = unit_of(r, page % PW_BLOCK_PAGES);
    assert(pw_mask_has(&b->coming, page % PW_BLOCK_PAGES));
    b->awaited = pw_mask_or(b->awaited, &unit);
    pw_residency_count(r, b, merged_faults, 1);
}

void pw_residency_decide_explicit(struct pw_residency *r, uint32_t block, const struct pw_page_mask *wanted,
                                  struct pw_fetch *out)
{
    struct pw_managed_block *b = &r->blocks[block];
    *out = (struct pw_fetch){.block = block, .prefetched = absent_of(r, b, wanted)};
    r->full |= would_fill(r, pw_mask_count(&out->prefetched));
    set_coming(r, b, out);
}

struct pw_page_mask pw_residency_give_up(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages)
{
    struct pw_managed_block *b = &r->blocks[block];
    struct pw_page_mask given_up = pw_mask_widen(pages, r->config.order);
    given_up = pw_mask_and(given_up, &b->coming);
    given_up = pw_mask_without(given_up, &b->granted);
    given_up = pw_mask_without(given_up, &b->awaited);
    b->coming = pw_mask_without(b->coming, &given_up);
    b->prefetched = pw_mask_without(b->prefetched, &given_up);
    r->coming -= pw_mask_count(&given_up);
    return given_up;
}

uint64_t pw_residency_room(const struct pw_residency *r)
{
    uint64_t taken = r->resident + r->granted;
    return r->config.capacity > taken ? r->config.capacity - taken : 0;
}

uint64_t pw_residency_granted(const struct pw_residency *r)
{
    return r->granted;
}

uint64_t pw_residency_buffer_short(const struct pw_residency *r)
{
    uint64_t room = pw_residency_room(r), buffer = buffer_pages(r);
    return buffer > room ? buffer - room : 0;
}

void pw_residency_grant(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages)
{
    struct pw_managed_block *b = &r->blocks[block];
    struct pw_page_mask granted = pw_mask_widen(pages, r->config.order);
    granted = pw_mask_and(granted, &b->coming);
    granted = pw_mask_without(granted, &b->granted);
    b->granted = pw_mask_or(b->granted, &granted);
    r->granted += pw_mask_count(&granted);
}

void pw_residency_arrive(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages)
{
    struct pw_managed_block *b = &r->blocks[block];
    struct pw_page_mask come = pw_mask_widen(pages, r->config.order);
    come = pw_mask_and(come, &b->granted);
    unsigned count = pw_mask_count(&come), first, outer;
    r->last_touched = PW_NO_PAGE;
    b->granted = pw_mask_without(b->granted, &come);
    b->coming = pw_mask_without(b->coming, &come);
    b->resident = pw_mask_or(b->resident, &come);
    r->granted -= count;
    r->coming -= count;
    r->resident += count;
    struct pw_page_mask awaited = pw_mask_and(come, &b->awaited), prefetched = pw_mask_and(come, &b->prefetched);
    struct pw_page_mask thrashed = pw_mask_and(come, &b->evicted);
    r->awaited += pw_mask_count(&awaited);
    pw_residency_count(r, b, pages_in, count);
    pw_residency_count(r, b, pages_prefetched, pw_mask_count(&prefetched));
    pw_residency_count(r, b, prefetched_resident, pw_mask_count(&prefetched));
    pw_residency_count(r, b, pages_thrashed, pw_mask_count(&thrashed));
    for (unsigned at = 0; pw_mask_next_run(&come, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += r->unit)
            pw_order_arrive(r->order, block * PW_BLOCK_PAGES + page, pw_mask_has(&awaited, page));
}

size_t pw_residency_range_count(const struct pw_residency *r)
{
    return r->range_count;
}

const struct pw_managed_range *pw_residency_range(const struct pw_residency *r, size_t index)
{
    return &r->ranges[index];
}

const struct pw_managed_range *pw_residency_range_of(const struct pw_residency *r, pw_page_id page)
{
    return &r->ranges[r->blocks[page / PW_BLOCK_PAGES].range];
}

struct pw_uvm_counters *pw_residency_counters(struct pw_residency *r)
{
    return r->counters;
}

uint64_t pw_residency_resident(const struct pw_residency *r)
{
    return r->resident;
}

bool pw_residency_is_full(const struct pw_residency *r)
{
    return r->full;
}
