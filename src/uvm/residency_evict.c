/* What leaves. The order offers candidates, the policy says which pages go with one, and what is awaited, reserved or
 * has accesses in flight stays; the first candidate of which anything may leave is taken.
 *
 * Reserved pages are the oldest ones: the order leaves them out of its candidates. That they do not leave with a
 * candidate of the same 2 MiB either is how "reserved from eviction" is read (UVM, Sec. 1, 7.4 and Fig. 14; Sec. 5.3
 * alone speaks of candidates). */
#include "uvm/residency_internal.h"

void pw_residency_take_away(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages)
{
    struct pw_managed_block *b = &r->blocks[block];
    unsigned first, outer, count = pw_mask_count(pages);
    struct pw_page_mask awaited = pw_mask_and(*pages, &b->awaited), unused = pw_mask_and(*pages, &b->prefetched);
    b->resident = pw_mask_without(b->resident, pages);
    b->awaited = pw_mask_without(b->awaited, pages);
    b->accessed = pw_mask_without(b->accessed, pages);
    b->dirty = pw_mask_without(b->dirty, pages);
    b->prefetched = pw_mask_without(b->prefetched, pages);
    r->resident -= count;
    r->awaited -= pw_mask_count(&awaited);
    pw_residency_count(r, b, prefetched_evicted, pw_mask_count(&unused));
    pw_residency_count(r, b, prefetched_resident, -(uint64_t)pw_mask_count(&unused));
    for (unsigned at = 0; pw_mask_next_run(pages, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += r->unit)
            pw_order_leave(r->order, block * PW_BLOCK_PAGES + page);
}

/* Takes out of the set what has accesses in flight. */
static void remove_busy(const struct pw_residency *r, const struct pw_managed_block *b, struct pw_page_mask *pages)
{
    unsigned first, outer;
    if (!r->config.busy)
        return;
    for (unsigned at = 0; pw_mask_next_run(pages, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += r->unit)
            if (r->config.busy(r->config.context, r->ranges[b->range].asid,
                               (pw_vpn){b->number * PW_BLOCK_PAGES + page})) {
                struct pw_page_mask unit = pw_mask_range(page, page + r->unit);
                *pages = pw_mask_without(*pages, &unit);
            }
}

/* What the policy sends away with a candidate, as whole units. */
static struct pw_page_mask leaving_with(const struct pw_residency *r, pw_page_id candidate)
{
    const struct pw_managed_block *b = &r->blocks[candidate / PW_BLOCK_PAGES];
    struct pw_evict_view view = {.asid = r->ranges[b->range].asid,
                                 .first = {b->number * PW_BLOCK_PAGES},
                                 .now = pw_residency_now(r),
                                 .resident = b->resident,
                                 .candidate = candidate % PW_BLOCK_PAGES,
                                 .tree_pages = b->tree_pages};
    struct pw_page_mask pages = {0};
    r->evict->choose(r->evict_state, &view, &pages);
    pages = pw_mask_widen(&pages, r->config.order);
    return pw_mask_and(pages, &b->resident);
}

/* What of a block may not leave in this search, whichever of its pages is the candidate. */
static struct pw_page_mask staying_of(const struct pw_residency *r, uint32_t block, uint64_t reserved)
{
    struct pw_page_mask staying = r->blocks[block].awaited;
    if (!reserved || r->config.reserve_from == PW_RESERVE_FROM_CANDIDATES)
        return staying;
    struct pw_page_mask left_out = pw_order_left_out(r->order, block);
    left_out = pw_mask_widen(&left_out, r->config.order);
    return pw_mask_or(staying, &left_out);
}

/* Candidates of one block often name the same pages; those that were refused once in this search are not asked about
 * again. */
static bool find_leaving(struct pw_residency *r, uint64_t reserved, struct pw_eviction *out)
{
    struct pw_page_mask refused = {0};
    uint32_t refused_block = UINT32_MAX;
    pw_page_id candidate;
    pw_order_start(r->order, reserved);
    while ((candidate = pw_order_next(r->order)) != PW_NO_PAGE) {
        uint32_t block = candidate / PW_BLOCK_PAGES;
        const struct pw_managed_block *b = &r->blocks[block];
        if (block != refused_block) {
            refused_block = block;
            refused = staying_of(r, block, reserved);
        }
        struct pw_page_mask leaving = leaving_with(r, candidate);
        out->block = block;
        out->pages = pw_mask_without(leaving, &refused);
        remove_busy(r, b, &out->pages);
        if (pw_mask_any(&out->pages))
            return true;
        refused = pw_mask_or(refused, &leaving);
    }
    return false;
}

bool pw_residency_evict(struct pw_residency *r, struct pw_eviction *out)
{
    *out = (struct pw_eviction){0};
    if (r->resident == r->awaited)
        return false;
    uint64_t reserved = (uint64_t)(r->config.reserve * (double)pw_order_pages(r->order));
    if (!find_leaving(r, reserved, out) && (!reserved || !find_leaving(r, 0, out)))
        return false;
    struct pw_managed_block *b = &r->blocks[out->block];
    bool all = r->evict->writes_clean && !pw_advice_copies(r->ranges[b->range].advice);
    out->written = all ? out->pages : pw_mask_and(out->pages, &b->dirty);
    pw_residency_count(r, b, pages_evicted, pw_mask_count(&out->pages));
    pw_residency_count(r, b, pages_written, pw_mask_count(&out->written));
    pw_residency_take_away(r, out->block, &out->pages);
    b->evicted = pw_mask_or(b->evicted, &out->pages);
    return true;
}

void pw_residency_take_back(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages)
{
    struct pw_page_mask leaving = pw_mask_widen(pages, r->config.order);
    leaving = pw_mask_and(leaving, &r->blocks[block].resident);
    pw_residency_take_away(r, block, &leaving);
}
