/* A page manager with physical memory, address spaces and TLBs of its own, and no machine around it.
 *
 * Memory operations take no time; shootdowns reach the TLBs at once, and they and pauses are logged. */
#ifndef PW_TESTS_MOSAIC_H
#define PW_TESTS_MOSAIC_H

#include "policies.h"
#include "vm/page_manager_internal.h"
#include "vm/tlb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOSAIC_APPS = 3, MOSAIC_TLBS = 3, MOSAIC_COPY = 1000, MOSAIC_BULK = 80, MOSAIC_PAGES = PW_REGION_PAGES };

struct mosaic_shootdown {
    pw_asid asid;
    uint64_t first, outer;
    bool large;        /* its region is large then */
    unsigned disabled; /* bits of its region set then */
    uint64_t migrated; /* pages counted as moved before */
};

struct mosaic {
    uint64_t blocks; /* of memory */
    const char *coalesce, *compact;
    uint32_t copy, threshold; /* 0: 50 */
    struct pw_page_config page;

    struct pw_events *events;
    struct pw_physical_memory physical;
    struct pw_address_space spaces[MOSAIC_APPS];
    const struct pw_page_table *tables[MOSAIC_APPS];
    struct pw_page_counters page_counters[MOSAIC_APPS];
    struct pw_touched touched[MOSAIC_APPS];
    struct pw_page_manager *manager;
    struct pw_tlb_level level;
    struct pw_tlb tlbs[MOSAIC_TLBS];
    void (*on_shootdown)(struct mosaic *w, const struct mosaic_shootdown *s); /* or NULL */
    void *test;
    struct mosaic_shootdown *shootdowns;
    size_t shootdown_count, shootdown_capacity;
    unsigned pauses;
    pw_cycle paused_until;
    struct pw_error err;
};

static inline unsigned mosaic_shoot(void *machine, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    struct mosaic *w = machine;
    unsigned dropped = 0;
    if (w->shootdown_count == w->shootdown_capacity) {
        w->shootdown_capacity = w->shootdown_capacity ? 2 * w->shootdown_capacity : 256;
        w->shootdowns = realloc(w->shootdowns, w->shootdown_capacity * sizeof *w->shootdowns);
        assert_non_null(w->shootdowns);
    }
    struct mosaic_shootdown *s = &w->shootdowns[w->shootdown_count++];
    *s = (struct mosaic_shootdown){.asid = asid,
                                   .first = first.v,
                                   .outer = outer.v,
                                   .large = pw_page_table_is_large(w->tables[asid], first),
                                   .disabled = pw_page_table_disabled(w->tables[asid], first),
                                   .migrated = w->manager->counters[asid].migrated};
    for (int i = 0; i < MOSAIC_TLBS; i++)
        dropped += pw_tlb_invalidate(&w->tlbs[i], asid, first, outer);
    if (w->on_shootdown)
        w->on_shootdown(w, s);
    return dropped;
}

static inline void mosaic_pause(void *machine, pw_cycle until)
{
    struct mosaic *w = machine;
    w->pauses++;
    w->paused_until = until;
}

static inline pw_cycle mosaic_paused_until(const void *machine)
{
    return ((const struct mosaic *)machine)->paused_until;
}

/* From what is filled in above `events`; names that are NULL mean Mosaic's own. */
static inline void mosaic_open(struct mosaic *w)
{
    w->page.frames = policy_choice(&pw_frame_family, "contiguity");
    w->page.entry_stride = 8;
    struct pw_coalesce_config coalesce = {
        .policy = policy_choice(&pw_coalesce_family, w->coalesce ? w->coalesce : "in-place"), .interval = 100000};
    struct pw_compact_config compact = {
        .policy = policy_choice(&pw_compact_family, w->compact ? w->compact : "contiguity-aware"),
        .threshold = w->threshold ? w->threshold : 50,
        .copy = w->copy,
        .bulk_latency = MOSAIC_BULK};
    struct pw_tlb_config tlb = {.base_entries = 24, .large_entries = 4, .base_subpages = 1, .large_subpages = 1};
    w->level = (struct pw_tlb_level){.name = "tlb",
                                     .config = &tlb,
                                     .orders = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M,
                                     .tables = w->tables,
                                     .apps = MOSAIC_APPS};
    assert_int_equal(pw_tlb_level_init(&w->level, &w->err), PW_OK);
    assert_non_null(w->events = pw_events_create(&w->err));
    assert_int_equal(pw_physical_memory_init(&w->physical, w->blocks << 21, &w->page, 1, NULL, &w->err), PW_OK);
    for (unsigned i = 0; i < MOSAIC_APPS; i++) {
        assert_int_equal(pw_address_space_init(&w->spaces[i], (pw_asid)i, &w->page, &w->physical, &w->page_counters[i],
                                               &w->touched[i], &w->err),
                         PW_OK);
        w->tables[i] = w->spaces[i].table;
    }
    for (unsigned i = 0; i < MOSAIC_TLBS; i++)
        assert_int_equal(pw_tlb_init(&w->tlbs[i], &w->level, i, &w->err), PW_OK);
    struct pw_page_manager_wiring wiring = {.events = w->events,
                                            .physical = &w->physical,
                                            .spaces = w->spaces,
                                            .apps = MOSAIC_APPS,
                                            .page_copy_cycles = MOSAIC_COPY,
                                            .machine = w,
                                            .shootdown = mosaic_shoot,
                                            .pause = mosaic_pause,
                                            .paused_until = mosaic_paused_until};
    assert_int_equal(pw_page_manager_create(&coalesce, &compact, &wiring, &w->manager, &w->err), PW_OK);
    w->physical.manager = w->manager;
}

static inline void mosaic_check(struct mosaic *w)
{
    if (pw_address_spaces_check(w->spaces, MOSAIC_APPS, &w->err) != PW_OK)
        fail_msg("%s", w->err.message);
    for (int i = 0; i < MOSAIC_TLBS; i++)
        if (pw_tlb_check(&w->tlbs[i], w->tables, "TLB", &w->err) != PW_OK)
            fail_msg("%s", w->err.message);
}

static inline void mosaic_close(struct mosaic *w)
{
    mosaic_check(w);
    pw_page_manager_destroy(w->manager);
    pw_tlb_level_release(&w->level);
    for (unsigned i = 0; i < MOSAIC_APPS; i++)
        pw_address_space_release(&w->spaces[i]);
    pw_physical_memory_release(&w->physical);
    pw_events_destroy(w->events);
    free(w->shootdowns);
}

/* Addresses for so many managed pages, from a multiple of 2 MiB on. */
static inline pw_vpn mosaic_reserve(struct mosaic *w, pw_asid asid, uint64_t pages)
{
    pw_vaddr base;
    assert_int_equal(pw_address_space_allocate(&w->spaces[asid], "a", pages * PW_PAGE_BYTES, true, &base, &w->err),
                     PW_OK);
    return pw_vpn_of(base);
}

/* Maps managed pages as they come; false at the first that finds no frame. */
static inline bool mosaic_map(struct mosaic *w, pw_asid asid, pw_vpn first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        pw_vpn vpn = {first.v + i};
        if (!pw_address_space_map(&w->spaces[asid], vpn))
            return false;
        pw_page_manager_arrived(w->manager, asid, vpn, (pw_vpn){vpn.v + 1});
    }
    return true;
}

static inline void mosaic_forget(struct mosaic *w, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    for (int i = 0; i < MOSAIC_TLBS; i++)
        pw_tlb_invalidate(&w->tlbs[i], asid, first, outer);
}

/* A managed page leaves. */
static inline pw_pfn mosaic_evict(struct mosaic *w, pw_asid asid, pw_vpn vpn)
{
    pw_pfn frame = pw_address_space_unmap(&w->spaces[asid], vpn);
    mosaic_forget(w, asid, vpn, (pw_vpn){vpn.v + 1});
    return frame;
}

/* Allocates pages that are not managed and backs them; false when memory does not suffice. */
static inline bool mosaic_try_allocate(struct mosaic *w, pw_asid asid, uint64_t pages, pw_vpn *out)
{
    pw_vaddr base;
    assert_int_equal(pw_address_space_allocate(&w->spaces[asid], "a", pages * PW_PAGE_BYTES, false, &base, &w->err),
                     PW_OK);
    *out = pw_vpn_of(base);
    bool backed = pw_address_space_back(&w->spaces[asid], base, &w->err) == PW_OK;
    if (backed)
        pw_page_manager_arrived(w->manager, asid, *out, (pw_vpn){out->v + pages});
    return backed;
}

static inline pw_vpn mosaic_allocate(struct mosaic *w, pw_asid asid, uint64_t pages)
{
    pw_vpn first;
    assert_true(mosaic_try_allocate(w, asid, pages, &first));
    return first;
}

/* Frees some of the pages of an allocation, for good. */
static inline void mosaic_free(struct mosaic *w, pw_asid asid, pw_vpn first, uint64_t count)
{
    pw_vpn outer = {first.v + count};
    assert_int_equal(pw_address_space_free_part(&w->spaces[asid], first, outer, &w->err), PW_OK);
    mosaic_forget(w, asid, first, outer);
}

/* Frees an allocation. */
static inline void mosaic_free_all(struct mosaic *w, pw_asid asid, pw_vpn base)
{
    pw_vpn first, outer;
    assert_int_equal(
        pw_address_space_free(&w->spaces[asid], (pw_vaddr){base.v << PW_PAGE_SHIFT}, &first, &outer, &w->err), PW_OK);
    mosaic_forget(w, asid, first, outer);
}

static inline bool mosaic_is_large(const struct mosaic *w, pw_asid asid, pw_vpn vpn)
{
    return pw_page_table_is_large(w->tables[asid], vpn);
}

static inline pw_pfn mosaic_frame(const struct mosaic *w, pw_asid asid, uint64_t vpn)
{
    pw_pfn frame;
    assert_true(pw_page_table_has_base(w->tables[asid], (pw_vpn){vpn}, &frame));
    return frame;
}

static inline uint32_t mosaic_block(const struct mosaic *w, pw_asid asid, uint64_t vpn)
{
    return mosaic_frame(w, asid, vpn).v / PW_REGION_PAGES;
}

static inline const struct pw_page_manager_counters *mosaic_counters(const struct mosaic *w, pw_asid asid)
{
    return &w->manager->counters[asid];
}

/* A translation by this TLB, and by a walk where it misses. */
static inline pw_pfn mosaic_translate(struct mosaic *w, unsigned tlb, pw_asid asid, pw_vpn vpn)
{
    pw_pfn frame;
    if (pw_tlb_lookup(&w->tlbs[tlb], asid, vpn, &frame))
        return frame;
    struct pw_translation t = pw_page_table_lookup(w->tables[asid], vpn);
    assert_true(t.present);
    pw_tlb_insert(&w->tlbs[tlb], asid, vpn, t);
    return t.frame;
}

/* Whether this TLB has a large entry for the page. */
static inline bool mosaic_has_large(const struct mosaic *w, unsigned tlb, pw_asid asid, pw_vpn vpn)
{
    pw_pfn frame;
    return pw_tlb_array_lookup(&w->tlbs[tlb].large, asid, vpn, &frame);
}

static inline unsigned mosaic_owned(const struct mosaic *w, uint32_t block, pw_owner owner)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++)
        n += pw_frames_owner(w->physical.frames, (pw_pfn){block * PW_REGION_PAGES + i}) == owner;
    return n;
}

#endif
