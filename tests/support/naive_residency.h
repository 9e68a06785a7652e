/* Demand paging, naively: an array of pages with flags and times, searched and sorted from end to end at every step.
 * Policies are asked with views built from the flags; what they answer is tested elsewhere. Where a policy draws random
 * numbers its answer cannot be foretold: the model says what is allowed and takes over what came. */
#ifndef PW_TESTS_NAIVE_RESIDENCY_H
#define PW_TESTS_NAIVE_RESIDENCY_H

#include "managed.h"

#include <stdlib.h>

enum { NAIVE_BLOCKS = 8, NAIVE_PAGES = NAIVE_BLOCKS * PW_BLOCK_PAGES, NAIVE_APPS = 2 };

struct naive_page {
    bool exists, resident, coming, granted, awaited, accessed, dirty, prefetched, evicted, busy;
    bool listed_accessed; /* in which list of lru4k */
    uint64_t time;        /* of the last access, or of arrival */
};

struct naive {
    struct pw_residency_config config;
    const struct pw_prefetch_policy *prefetch, *prefetch_full;
    const struct pw_evict_policy *evict;
    void *prefetch_state, *prefetch_full_state, *evict_state;
    struct pw_policy_use uses[3];
    struct pw_random random;
    unsigned unit;
    struct naive_page pages[NAIVE_PAGES];
    unsigned tree[NAIVE_BLOCKS], app[NAIVE_BLOCKS];
    pw_vpn first[NAIVE_BLOCKS]; /* page of each block */
    uint64_t leaf_time[NAIVE_PAGES / PW_LEAF_PAGES], block_time[NAIVE_BLOCKS], now;
    bool full;
    struct pw_uvm_counters counters[NAIVE_APPS];
};

#define NAIVE_MASK(n, block, flag)                                                                                     \
    ({                                                                                                                 \
        struct pw_page_mask mask_ = {0};                                                                               \
        for (unsigned i_ = 0; i_ < PW_BLOCK_PAGES; i_++)                                                               \
            if ((n)->pages[(block)*PW_BLOCK_PAGES + i_].flag)                                                          \
                pw_mask_add(&mask_, i_);                                                                               \
        mask_;                                                                                                         \
    })

#define NAIVE_COUNT(n, flag)                                                                                           \
    ({                                                                                                                 \
        uint64_t count_ = 0;                                                                                           \
        for (unsigned i_ = 0; i_ < NAIVE_PAGES; i_++)                                                                  \
            count_ += (n)->pages[i_].flag;                                                                             \
        count_;                                                                                                        \
    })

static inline struct pw_page_mask naive_widen(const struct naive *n, const struct pw_page_mask *m)
{
    struct pw_page_mask wide = {0};
    if (n->unit == 1)
        return *m;
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        for (unsigned k = i / n->unit * n->unit; pw_mask_has(m, i) && k < i / n->unit * n->unit + n->unit; k++)
            pw_mask_add(&wide, k);
    return wide;
}

static inline bool naive_absent(const struct naive_page *p)
{
    return p->exists && !p->resident && !p->coming;
}

static inline struct pw_page_mask naive_absent_of(const struct naive *n, unsigned block, const struct pw_page_mask *m)
{
    struct pw_page_mask wide = naive_widen(n, m);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        if (!naive_absent(&n->pages[block * PW_BLOCK_PAGES + i]))
            pw_mask_remove(&wide, i);
    return wide;
}

/* The policies of a configuration in which none is "same". */
static inline void naive_open(struct naive *n, const struct pw_residency_config *config)
{
    const struct pw_policy *prefetch = pw_policy_chosen(&pw_prefetch_family, &config->prefetch);
    const struct pw_policy *full = pw_policy_chosen_or_same(&pw_prefetch_family, &config->prefetch_full);
    const struct pw_policy *evict = pw_policy_chosen(&pw_evict_family, &config->evict);
    struct pw_prefetch_environment prefetch_from = {&n->random};
    struct pw_evict_environment evict_from = {&n->random};
    n->config = *config;
    n->unit = 1U << config->order;
    n->prefetch = pw_prefetch_policy_of(prefetch);
    n->prefetch_full = pw_prefetch_policy_of(full);
    n->evict = pw_evict_policy_of(evict);
    n->prefetch_state = policy_instance(&n->uses[0], &pw_prefetch_family, prefetch, &prefetch_from);
    n->prefetch_full_state = policy_instance(&n->uses[1], &pw_prefetch_family, full, &prefetch_from);
    n->evict_state = policy_instance(&n->uses[2], &pw_evict_family, evict, &evict_from);
}

static inline void naive_close(struct naive *n)
{
    for (unsigned i = 0; i < 3; i++)
        pw_policy_use_release(&n->uses[i]);
}

static inline void naive_add(struct naive *n, unsigned first_block, unsigned app, pw_vpn first, uint64_t pages)
{
    for (unsigned block = first_block; pages; block++) {
        unsigned here = pages < PW_BLOCK_PAGES ? (unsigned)pages : PW_BLOCK_PAGES, exists = here, tree = here;
        bool alone = block == first_block && pages < PW_BLOCK_PAGES;
        if (here < PW_BLOCK_PAGES)
            n->prefetch->extent(n->prefetch_state, here, alone, &exists, &tree);
        while (exists % n->unit)
            exists++;
        for (unsigned i = 0; i < exists; i++)
            n->pages[block * PW_BLOCK_PAGES + i] = (struct naive_page){.exists = true};
        n->tree[block] = tree > exists ? tree : exists;
        n->app[block] = app;
        n->first[block] = (pw_vpn){first.v + (uint64_t)(block - first_block) * PW_BLOCK_PAGES};
        pages -= here;
    }
}

/* The block's pages leave with their allocation. */
static inline void naive_clear(struct naive *n, unsigned block)
{
    for (unsigned i = block * PW_BLOCK_PAGES; i < (block + 1) * PW_BLOCK_PAGES; i++) {
        if (n->pages[i].resident && n->pages[i].prefetched)
            n->counters[n->app[block]].prefetched_evicted++;
        n->pages[i] = (struct naive_page){0};
    }
}

static inline bool naive_any(const struct naive *n, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (n->pages[i].resident)
            return true;
    return false;
}

static inline void naive_touch(struct naive *n, unsigned page, bool write)
{
    unsigned head = page / n->unit * n->unit;
    struct pw_uvm_counters *c = &n->counters[n->app[page / PW_BLOCK_PAGES]];
    n->now++;
    for (unsigned i = head; i < head + n->unit; i++) {
        struct naive_page *p = &n->pages[i];
        p->accessed = p->listed_accessed = true;
        p->awaited = false;
        p->dirty |= write;
        c->prefetched_used += p->prefetched;
        p->prefetched = false;
        p->time = n->now;
    }
    if (n->evict->order == PW_ORDER_BLOCKS)
        n->block_time[page / PW_BLOCK_PAGES] = n->leaf_time[head / PW_LEAF_PAGES] = n->now;
}

static inline void naive_arrive(struct naive *n, unsigned block, const struct pw_page_mask *pages)
{
    struct pw_uvm_counters *c = &n->counters[n->app[block]];
    bool by_arrival = n->evict->order == PW_ORDER_ARRIVAL;
    bool had_some = naive_any(n, block * PW_BLOCK_PAGES, PW_BLOCK_PAGES);
    for (unsigned at = 0; at < PW_BLOCK_PAGES; at++) {
        unsigned i = block * PW_BLOCK_PAGES + at;
        struct naive_page *p = &n->pages[i];
        if (!pw_mask_has(pages, at) || !p->granted)
            continue;
        if (at % n->unit == 0) {
            n->now++;
            if (!by_arrival || !had_some)
                n->block_time[block] = n->now;
            had_some = true;
            if (!by_arrival || !naive_any(n, i / PW_LEAF_PAGES * PW_LEAF_PAGES, PW_LEAF_PAGES))
                n->leaf_time[i / PW_LEAF_PAGES] = n->now;
        }
        p->coming = p->granted = false;
        p->resident = true;
        p->listed_accessed = p->awaited;
        p->time = n->now;
        c->pages_in++;
        c->pages_prefetched += p->prefetched;
        c->pages_thrashed += p->evicted;
    }
}

static inline int naive_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Resident units by what orders their eviction: the page is in the low 13 bits. Times stay below 2^24. */
static inline unsigned naive_order(const struct naive *n, uint64_t *out)
{
    unsigned count = 0;
    for (unsigned i = 0; i < NAIVE_PAGES; i += n->unit) {
        const struct naive_page *p = &n->pages[i];
        if (!p->resident)
            continue;
        if (n->evict->order == PW_ORDER_PAGES)
            out[count++] = (uint64_t)!p->listed_accessed << 63 | p->time << 13 | i;
        else
            out[count++] = n->block_time[i / PW_BLOCK_PAGES] << 40 | n->leaf_time[i / PW_LEAF_PAGES] << 13 | i;
    }
    return count;
}

/* What may leave with a candidate. */
static inline struct pw_page_mask naive_leaving(const struct naive *n, unsigned page)
{
    unsigned block = page / PW_BLOCK_PAGES;
    struct pw_evict_view view = {.asid = (pw_asid)n->app[block],
                                 .first = n->first[block],
                                 .resident = NAIVE_MASK(n, block, resident),
                                 .candidate = page % PW_BLOCK_PAGES,
                                 .tree_pages = n->tree[block]};
    struct pw_page_mask pages = {0};
    n->evict->choose(n->evict_state, &view, &pages);
    pages = naive_widen(n, &pages);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++) {
        const struct naive_page *p = &n->pages[block * PW_BLOCK_PAGES + i];
        if (!p->resident || p->awaited || p->busy)
            pw_mask_remove(&pages, i);
    }
    return pages;
}

/* What leaves next; false when nothing may. Under a random order: whether anything may leave. */
static inline bool naive_next(const struct naive *n, unsigned *out_block, struct pw_page_mask *out_pages)
{
    static uint64_t order[NAIVE_PAGES];
    unsigned count = naive_order(n, order), reserved = (unsigned)(n->config.reserve * (double)count);
    if (n->evict->order == PW_ORDER_RANDOM)
        reserved = 0;
    bool some = false;
    uint64_t oldest = UINT64_MAX;
    for (unsigned k = 0; k < count; k++) {
        const struct naive_page *p = &n->pages[order[k] & (NAIVE_PAGES - 1)];
        some |= !p->awaited && !p->busy;
        oldest = order[k] < oldest ? order[k] : oldest;
    }
    if (some && !reserved) { /* usually it is the first one, and nothing need be sorted */
        *out_block = (unsigned)(oldest & (NAIVE_PAGES - 1)) / PW_BLOCK_PAGES;
        *out_pages = naive_leaving(n, (unsigned)(oldest & (NAIVE_PAGES - 1)));
        if (pw_mask_any(out_pages))
            return true;
    }
    qsort(order, count, sizeof *order, naive_compare);
    for (unsigned k = 0; some && k < count; k++) {
        unsigned page = (unsigned)(order[(reserved + k) % count] & (NAIVE_PAGES - 1));
        *out_block = page / PW_BLOCK_PAGES;
        *out_pages = naive_leaving(n, page);
        bool keeps = n->config.reserve_from == PW_RESERVE_FROM_EVICTION && reserved + k < count;
        for (unsigned i = 0; keeps && i < reserved * n->unit; i++) {
            unsigned kept = (unsigned)(order[i / n->unit] & (NAIVE_PAGES - 1)) + i % n->unit;
            if (kept / PW_BLOCK_PAGES == *out_block)
                pw_mask_remove(out_pages, kept % PW_BLOCK_PAGES);
        }
        if (pw_mask_any(out_pages))
            return true;
    }
    return false;
}

static inline void naive_evict(struct naive *n, unsigned block, const struct pw_page_mask *pages,
                               struct pw_page_mask *out_written)
{
    struct pw_uvm_counters *c = &n->counters[n->app[block]];
    *out_written = (struct pw_page_mask){0};
    for (unsigned at = 0; at < PW_BLOCK_PAGES; at++) {
        struct naive_page *p = &n->pages[block * PW_BLOCK_PAGES + at];
        if (!pw_mask_has(pages, at))
            continue;
        if (p->dirty || n->evict->writes_clean) {
            pw_mask_add(out_written, at);
            c->pages_written++;
        }
        c->pages_evicted++;
        c->prefetched_evicted += p->prefetched;
        *p = (struct naive_page){.exists = true, .evicted = true, .busy = p->busy};
    }
}

static inline struct pw_page_mask naive_choose(struct naive *n, unsigned block, bool full,
                                               const struct pw_page_mask *faulted)
{
    struct pw_page_mask coming = NAIVE_MASK(n, block, coming), chosen = {0};
    struct pw_prefetch_view view = {.asid = (pw_asid)n->app[block],
                                    .first = n->first[block],
                                    .exists = NAIVE_MASK(n, block, exists),
                                    .resident = NAIVE_MASK(n, block, resident),
                                    .faulted = *faulted,
                                    .tree_pages = n->tree[block]};
    pw_random_init(&n->random, 1, "");
    view.resident = pw_mask_or(view.resident, &coming);
    if (full)
        n->prefetch_full->choose(n->prefetch_full_state, &view, &chosen);
    else
        n->prefetch->choose(n->prefetch_state, &view, &chosen);
    chosen = naive_absent_of(n, block, &chosen);
    return pw_mask_without(chosen, faulted);
}

static inline bool naive_would_fill(const struct naive *n, uint64_t pages)
{
    uint64_t capacity = n->config.capacity, buffer = (uint64_t)(n->config.free_buffer * (double)capacity);
    return NAIVE_COUNT(n, resident) + NAIVE_COUNT(n, coming) + pages > capacity - buffer;
}

static inline void naive_come(struct naive *n, const struct pw_fetch *fetch, unsigned block)
{
    for (unsigned at = 0; at < PW_BLOCK_PAGES; at++) {
        struct naive_page *p = &n->pages[block * PW_BLOCK_PAGES + at];
        bool faulted = pw_mask_has(&fetch->faulted, at), prefetched = pw_mask_has(&fetch->prefetched, at);
        p->coming |= faulted || prefetched;
        p->awaited |= faulted;
        p->prefetched |= prefetched;
    }
    n->counters[n->app[block]].far_faults += pw_mask_count(&fetch->faulted) / n->unit;
}

static inline uint64_t naive_room(const struct naive *n)
{
    uint64_t taken = NAIVE_COUNT(n, resident) + NAIVE_COUNT(n, granted);
    return n->config.capacity > taken ? n->config.capacity - taken : 0;
}

#endif
