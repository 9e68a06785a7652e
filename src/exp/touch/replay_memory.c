/* The memory of a touch file: names, places, and what a touch brings in and sends away.
 *
 * A new allocation is one that the host has written, so nothing of it is on the GPU. Where small allocations share a
 * block (the CUDA runtime does that) this has consequences, all of them seen on an H200 (data/hw/h200-allocations.csv):
 *  - all 512 pages of the block count, whoever has them: a fault may bring in a neighbour's pages, or nobody's;
 *  - what a freed neighbour had on the GPU stays there, and counts, until the whole block is free;
 *  - writing a new allocation on the host takes its pages back, and the driver prefetches in that direction by the same
 *    rule, so that pages of neighbours may go back too.
 * What is left out is the driver's care for pages that thrash between host and GPU: docs/touch.md says what that
 * costs. */
#include "exp/touch/replay_internal.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_replay_open(struct pw_replay *p, struct pw_residency *r, struct pw_error *err)
{
    const struct pw_residency_config *config = pw_residency_settings(r);
    const struct pw_policy *policy = pw_policy_chosen(&pw_prefetch_family, &config->prefetch);
    *p = (struct pw_replay){.residency = r, .rule = pw_prefetch_policy_of(policy)};
    pw_random_init(&p->random, config->seed, "uvm.prefetch to the host");
    struct pw_prefetch_environment environment = {&p->random};
    enum pw_status status =
        pw_policy_use_init(&p->rule_use, NULL, "uvm.prefetch", policy, &config->prefetch, PW_MAX_APPS, err);
    if (status == PW_OK)
        status = pw_policy_use_add(&p->rule_use, &environment, &p->rule_state, err);
    return status == PW_OK ? pw_managed_heap_create(p->rule->shares_blocks, &p->heap, err) : status;
}

void pw_replay_close(struct pw_replay *p)
{
    for (size_t i = 0; i < p->shared_count; i++)
        free(p->shared[i].block);
    free(p->shared);
    free(p->index);
    free(p->allocations);
    pw_managed_heap_destroy(p->heap);
    pw_policy_use_release(&p->rule_use);
}

/* FNV-1a. */
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3;
    return h ^ h >> 32;
}

/* Where a name is in the index, or would be. */
static uint32_t *entry_of(const struct pw_replay *p, const char *name)
{
    size_t at = hash(name) & (p->index_size - 1);
    while (p->index[at] && strcmp(p->allocations[p->index[at] - 1].name, name) != 0)
        at = (at + 1) & (p->index_size - 1);
    return &p->index[at];
}

struct pw_touch_allocation *pw_replay_find(const struct pw_replay *p, const char *name)
{
    uint32_t number = p->index ? *entry_of(p, name) : 0;
    return number ? &p->allocations[number - 1] : NULL;
}

/* Room for one more name: the index is at most half full. */
static enum pw_status grow_names(struct pw_replay *p, struct pw_error *err)
{
    if (p->allocations && p->allocation_count < p->allocation_capacity)
        return PW_OK;
    size_t capacity = p->allocation_capacity ? 2 * p->allocation_capacity : 64;
    struct pw_touch_allocation *allocations = calloc(capacity, sizeof *allocations);
    uint32_t *index = capacity < UINT32_MAX ? calloc(2 * capacity, sizeof *index) : NULL;
    if (!allocations || !index) {
        free(allocations);
        free(index);
        return pw_fail_memory(err, "names of allocations");
    }
    if (p->allocations)
        memcpy(allocations, p->allocations, p->allocation_count * sizeof *allocations);
    free(p->allocations);
    free(p->index);
    p->allocations = allocations;
    p->index = index;
    p->index_size = 2 * capacity;
    p->allocation_capacity = capacity;
    for (size_t i = 0; i < p->allocation_count; i++)
        *entry_of(p, allocations[i].name) = (uint32_t)i + 1;
    return PW_OK;
}

static enum pw_status named(struct pw_replay *p, const char *name, struct pw_touch_allocation **out,
                            struct pw_error *err)
{
    enum pw_status status = PW_OK;
    *out = pw_replay_find(p, name);
    if (*out || (status = grow_names(p, err)))
        return status;
    *out = &p->allocations[p->allocation_count++];
    memcpy((*out)->name, name, strlen(name));
    *entry_of(p, name) = (uint32_t)p->allocation_count;
    return PW_OK;
}

static pw_page_id page_at(const struct pw_replay *p, uint64_t address)
{
    return pw_residency_find(p->residency, 0, (pw_vpn){address >> PW_PAGE_SHIFT});
}

static struct pw_shared_block *shared_block(const struct pw_replay *p, uint32_t block)
{
    return block < p->shared_count ? p->shared[block].block : NULL;
}

/* A block begins to be shared. */
static enum pw_status share(struct pw_replay *p, uint32_t block, struct pw_error *err)
{
    if (block >= p->shared_count) {
        size_t count = block + block / 2 + 16;
        struct pw_shared_entry *shared = realloc(p->shared, count * sizeof *shared);
        if (!shared)
            return pw_fail_memory(err, "shared blocks");
        memset(shared + p->shared_count, 0, (count - p->shared_count) * sizeof *shared);
        p->shared = shared;
        p->shared_count = count;
    }
    p->shared[block].block = calloc(1, sizeof(struct pw_shared_block));
    return p->shared[block].block ? PW_OK : pw_fail_memory(err, "shared blocks");
}

/* The pages of a shared block that a place has a part of. */
static void pages_in_block(const struct pw_managed_place *place, unsigned *out_first, unsigned *out_outer)
{
    uint64_t offset = place->address % PW_SHARED_BYTES;
    *out_first = (unsigned)(offset >> PW_PAGE_SHIFT);
    *out_outer = (unsigned)((offset + place->bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT);
}

/* The host writes a new allocation, page after page; each that it does not have comes with others. */
static void write_on_host(struct pw_replay *p, uint32_t block, unsigned first, unsigned outer)
{
    struct pw_shared_block *s = p->shared[block].block;
    struct pw_page_mask back = {0};
    for (unsigned page = first; page < outer; page++) {
        if (pw_mask_has(&s->on_host, page))
            continue;
        struct pw_prefetch_view view = {.exists = pw_mask_range(0, PW_BLOCK_PAGES),
                                        .resident = s->on_host,
                                        .faulted = pw_mask_range(page, page + 1),
                                        .tree_pages = PW_BLOCK_PAGES};
        struct pw_page_mask come = {0};
        p->rule->choose(p->rule_state, &view, &come);
        come = pw_mask_or(come, &view.faulted);
        s->on_host = pw_mask_or(s->on_host, &come);
        back = pw_mask_or(back, &come);
    }
    pw_residency_take_back(p->residency, block, &back);
}

static enum pw_status place_shared(struct pw_replay *p, const struct pw_managed_place *place, struct pw_error *err)
{
    unsigned first, outer;
    uint64_t start = place->address / PW_SHARED_BYTES * PW_SHARED_BYTES;
    if (place->new_block) {
        enum pw_status status =
            pw_residency_add(p->residency, 0, "shared", (pw_vpn){start >> PW_PAGE_SHIFT}, PW_SHARED_BYTES, err);
        if (status || (status = share(p, page_at(p, start) / PW_BLOCK_PAGES, err)))
            return status;
    }
    uint32_t block = page_at(p, start) / PW_BLOCK_PAGES;
    pages_in_block(place, &first, &outer);
    for (unsigned page = first; page < outer; page++)
        p->shared[block].block->users[page]++;
    write_on_host(p, block, first, outer);
    return PW_OK;
}

enum pw_status pw_replay_allocate(struct pw_replay *p, const char *name, uint64_t bytes, uint64_t line,
                                  struct pw_error *err)
{
    struct pw_touch_allocation *a;
    enum pw_status status = named(p, name, &a, err);
    if (status || (status = pw_managed_heap_allocate(p->heap, bytes, &a->place, err)))
        return status;
    if (a->place.shared)
        status = place_shared(p, &a->place, err);
    else
        status = pw_residency_add(p->residency, 0, name, (pw_vpn){a->place.address >> PW_PAGE_SHIFT}, bytes, err);
    a->pages = bytes / PW_PAGE_BYTES + (bytes % PW_PAGE_BYTES != 0);
    a->line = line;
    a->live = true;
    return status;
}

enum pw_status pw_replay_free(struct pw_replay *p, struct pw_touch_allocation *a, struct pw_error *err)
{
    uint64_t start = a->place.address / PW_SHARED_BYTES * PW_SHARED_BYTES;
    uint32_t block = page_at(p, start) / PW_BLOCK_PAGES;
    struct pw_shared_block *s = shared_block(p, block);
    unsigned first, outer;
    a->live = false;
    if (s) {
        pages_in_block(&a->place, &first, &outer);
        for (unsigned page = first; page < outer; page++)
            s->users[page]--;
    }
    if (!pw_managed_heap_free(p->heap, &a->place))
        return PW_OK;
    if (s) {
        free(s);
        p->shared[block].block = NULL;
    }
    return pw_residency_remove(p->residency, 0, (pw_vpn){start >> PW_PAGE_SHIFT}, NULL, NULL, err);
}

/* How many of a block's pages belong to an allocation. */
static unsigned count_owned(const struct pw_replay *p, uint32_t block, const struct pw_page_mask *pages)
{
    const struct pw_shared_block *s = shared_block(p, block);
    unsigned count = 0, first, outer;
    if (!s)
        return pw_mask_count(pages);
    for (unsigned at = 0; pw_mask_next_run(pages, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page++)
            count += s->users[page] != 0;
    return count;
}

/* The next pages leave; false when none may. */
static bool evict(struct pw_replay *p, struct pw_touch *touch)
{
    struct pw_eviction e;
    if (!pw_residency_evict(p->residency, &e))
        return false;
    struct pw_shared_block *s = shared_block(p, e.block);
    if (s)
        s->on_host = pw_mask_or(s->on_host, &e.pages);
    touch->pages_out += count_owned(p, e.block, &e.pages);
    return true;
}

/* The pages of a block that no allocation has. */
static struct pw_page_mask pages_of_nobody(const struct pw_replay *p, uint32_t block)
{
    const struct pw_shared_block *s = shared_block(p, block);
    struct pw_page_mask pages = {0};
    for (unsigned page = 0; s && page < PW_BLOCK_PAGES; page++)
        if (!s->users[page])
            pw_mask_add(&pages, page);
    return pages;
}

static void give_up(struct pw_replay *p, struct pw_fetch *fetch, const struct pw_page_mask *pages)
{
    struct pw_page_mask gone = pw_mask_and(fetch->prefetched, pages);
    gone = pw_residency_give_up(p->residency, fetch->block, &gone);
    fetch->prefetched = pw_mask_without(fetch->prefetched, &gone);
}

static bool has_room(const struct pw_replay *p, const struct pw_fetch *fetch)
{
    return pw_residency_room(p->residency) >= pw_mask_count(&fetch->faulted) + pw_mask_count(&fetch->prefetched);
}

/* Room for a fetch: pages of its block that nobody has make way for others, and what comes along is given up where
 * nothing can leave. There always is room for the page itself. */
static void make_room(struct pw_replay *p, struct pw_fetch *fetch, struct pw_touch *touch)
{
    if (has_room(p, fetch))
        return;
    struct pw_page_mask nobodys = pages_of_nobody(p, fetch->block), all = fetch->prefetched;
    give_up(p, fetch, &nobodys);
    if (!has_room(p, fetch))
        pw_residency_take_back(p->residency, fetch->block, &nobodys);
    while (!has_room(p, fetch))
        if (!evict(p, touch))
            give_up(p, fetch, &all);
}

/* Brings a page in. */
static void fault(struct pw_replay *p, pw_page_id page, struct pw_touch *touch)
{
    struct pw_residency *r = p->residency;
    struct pw_page_mask asked = {0}, all;
    struct pw_fetch fetch;
    pw_mask_add(&asked, page % PW_BLOCK_PAGES);
    pw_residency_decide(r, page / PW_BLOCK_PAGES, &asked, &fetch);
    make_room(p, &fetch, touch);
    all = pw_mask_or(fetch.faulted, &fetch.prefetched);
    pw_residency_grant(r, fetch.block, &all);
    pw_residency_arrive(r, fetch.block, &all);
    struct pw_shared_block *s = shared_block(p, fetch.block);
    if (s)
        s->on_host = pw_mask_without(s->on_host, &all);
    touch->fault = true;
    touch->pages_in = count_owned(p, fetch.block, &all);
}

void pw_replay_touch(struct pw_replay *p, const struct pw_touch_allocation *a, uint64_t page, struct pw_touch *touch)
{
    pw_page_id id = page_at(p, a->place.address + page * PW_PAGE_BYTES);
    touch->fault = false;
    touch->pages_in = touch->pages_out = 0;
    if (pw_residency_state(p->residency, id) == PW_PAGE_ABSENT)
        fault(p, id, touch);
    pw_residency_touch(p->residency, id, touch->write);
    while (pw_residency_buffer_short(p->residency) && evict(p, touch))
        continue;
}
