/* A TLB organisation whose entries cover four pages with one base and a difference of one signed byte each, to show
 * that the family admits such entries (policy/tlb/tlb_policy.h). Fully associative, LRU; of the shape only the number
 * of entries and the page size count. A page whose frame is too far from the base takes the entry for itself and a base
 * of its own. Lines of the page table fill the rest of an entry. It counts for each application how often that
 * happened, and the pages. */
#ifndef PW_TESTS_TOY_TLB_H
#define PW_TESTS_TOY_TLB_H

#include "policies.h"
#include "vm/tlb.h"

enum { TOY_PAGES = 4 };

struct toy_counters {
    uint64_t lines, neighbours;
};

struct toy_entry {
    uint64_t block, used; /* used: the time of the last use, 0: empty */
    pw_pfn base;
    int8_t delta[TOY_PAGES]; /* in pages */
    uint8_t valid;
    pw_asid asid;
};

struct toy {
    struct toy_counters *counters; /* or NULL */
    uint64_t now;
    uint32_t entries;
    uint8_t order;
    struct toy_entry entry[];
};

static inline size_t toy_more_bytes(const struct pw_policy_setup *setup)
{
    const struct pw_tlb_shape *shape = setup->environment;
    return shape->entries * sizeof(struct toy_entry);
}

static inline enum pw_status toy_init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct toy *t = state;
    const struct pw_tlb_shape *shape = setup->environment;
    (void)err;
    t->counters = setup->counters;
    t->entries = shape->entries;
    t->order = shape->order;
    return PW_OK;
}

static inline struct toy_entry *toy_find(struct toy *t, uint64_t block, pw_asid asid)
{
    for (uint32_t i = 0; i < t->entries; i++)
        if (t->entry[i].used && t->entry[i].block == block && t->entry[i].asid == asid)
            return &t->entry[i];
    return NULL;
}

static inline pw_pfn toy_frame(const struct toy *t, const struct toy_entry *e, uint32_t page)
{
    return (pw_pfn){(uint32_t)((int64_t)e->base.v + e->delta[page] * (1LL << t->order))};
}

static inline bool toy_lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    struct toy *t = state;
    uint32_t page = key.page % TOY_PAGES;
    struct toy_entry *e = toy_find(t, key.page / TOY_PAGES, key.asid);
    if (!e || !(e->valid >> page & 1))
        return false;
    e->used = ++t->now;
    *out_frame = toy_frame(t, e, page);
    return true;
}

static inline bool toy_add(const struct toy *t, struct toy_entry *e, uint32_t page, pw_pfn frame)
{
    int64_t delta = ((int64_t)frame.v - e->base.v) / (1LL << t->order);
    if (delta < INT8_MIN || delta > INT8_MAX)
        return false;
    e->delta[page] = (int8_t)delta;
    e->valid |= (uint8_t)(1U << page);
    return true;
}

static inline void toy_add_line(struct toy *t, struct toy_entry *e, const struct pw_tlb_line *line)
{
    uint32_t had = (uint32_t)__builtin_popcount(e->valid);
    for (uint32_t i = 0; i < line->count; i++)
        if (line->present >> i & 1 && (line->first + i) / TOY_PAGES == e->block)
            toy_add(t, e, (line->first + i) % TOY_PAGES, line->frames[i]);
    if (t->counters) {
        t->counters[e->asid].lines++;
        t->counters[e->asid].neighbours += (uint32_t)__builtin_popcount(e->valid) - had;
    }
}

static inline struct toy_entry *toy_oldest(struct toy *t)
{
    struct toy_entry *oldest = &t->entry[0];
    for (uint32_t i = 1; i < t->entries; i++)
        if (t->entry[i].used < oldest->used)
            oldest = &t->entry[i];
    return oldest;
}

static inline void toy_insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    struct toy *t = state;
    uint64_t block = key.page / TOY_PAGES;
    struct toy_entry *e = toy_find(t, block, key.asid);
    if (!t->entries)
        return;
    if (!e || !toy_add(t, e, key.page % TOY_PAGES, frame)) {
        e = e ? e : toy_oldest(t);
        *e = (struct toy_entry){.block = block, .base = frame, .asid = key.asid};
        toy_add(t, e, key.page % TOY_PAGES, frame);
    }
    e->used = ++t->now;
    if (line)
        toy_add_line(t, e, line);
}

static inline unsigned toy_invalidate(void *state, pw_asid asid, uint64_t first, uint64_t outer)
{
    struct toy *t = state;
    unsigned dropped = 0;
    for (uint32_t i = 0; i < t->entries; i++) {
        struct toy_entry *e = &t->entry[i];
        for (uint32_t k = 0; k < TOY_PAGES && e->used && e->asid == asid; k++) {
            uint64_t page = e->block * TOY_PAGES + k;
            if (e->valid >> k & 1 && page >= first && page < outer) {
                e->valid &= (uint8_t) ~(1U << k);
                dropped++;
            }
        }
        if (!e->valid)
            e->used = 0;
    }
    return dropped;
}

static inline void toy_each(const void *state, pw_tlb_visit *visit, void *context)
{
    const struct toy *t = state;
    for (uint32_t i = 0; i < t->entries; i++)
        for (uint32_t k = 0; k < TOY_PAGES; k++)
            if (t->entry[i].valid >> k & 1)
                visit(context, (struct pw_tlb_key){t->entry[i].block * TOY_PAGES + k, t->entry[i].asid},
                      toy_frame(t, &t->entry[i], k));
}

static const struct pw_tlb_policy toy_tlb_policy = {
    .head = {.name = "toy",
             .summary = "four pages of one base",
             .counters_bytes = sizeof(struct toy_counters),
             .state_bytes = sizeof(struct toy),
             .more_bytes = toy_more_bytes,
             .init = toy_init},
    .reads_lines = true,
    .lookup = toy_lookup,
    .insert = toy_insert,
    .invalidate = toy_invalidate,
    .each = toy_each,
};

/* So many of its entries in the place of what an array has; returns what it counts. It is released with the use. */
static inline struct toy_counters *toy_take_over(struct pw_policy_use *use, struct pw_tlb_array *a, uint32_t entries,
                                                 unsigned apps)
{
    struct pw_tlb_shape shape = {.entries = entries, .subpages = 1, .order = a->order};
    struct pw_policy_choice choice = {0};
    struct pw_error err;
    a->policy = &toy_tlb_policy;
    assert_int_equal(pw_policy_use_init(use, NULL, "toy", &toy_tlb_policy.head, &choice, apps, &err), PW_OK);
    assert_int_equal(pw_policy_use_add(use, &shape, &a->state, &err), PW_OK);
    return use->counters;
}

#endif
