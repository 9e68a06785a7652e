/* Contiguity-Aware Compaction (Mosaic, Section 4.4): ends large pages that have become sparse, and empties their
 * frames.
 *
 * Splintering reverses coalescing: disabled bits, then the large bit, then the large entry leaves every TLB. Base
 * entries of the region leave with it; they would have to when the pages move, and few are left of a page that was
 * large. The effects take place at once, the writes are memory traffic (page_manager.h says why).
 *
 * Emptying a frame asks the frame policy for a place for each page that is left, as for any other base page of the
 * application: in a frame that it has and that is not coalesced, else in one from the free list. So the pages of
 * several splintered frames end up in one (Section 4.1). A page that finds no place stays, and what is free around it
 * is handed out again. The old frames are released one by one, and with the last the large frame is free.
 *
 * Time: each page is copied 64 bits at a time over one channel, or by one copy inside DRAM (RowClone, LISA), or for
 * nothing (Section 6.4's ideal). Section 4.4 copies only between large frames of the same channel. In this memory a
 * large frame lies across all channels, whether lines or pages interleave; what is taken from the restriction is its
 * price, that a copy has one channel, and one module, to itself and pages are copied one after the other. The traffic
 * of the copies is not put into DRAM's queues: nothing else runs meanwhile, since all SMs stand still (Section 5). What
 * was in flight in them is not issued again.
 *
 * Without a free large frame, data that lies scattered in frames of its own (Section 6.4) is moved together in the same
 * way. When there is nothing to be gained by that either, and it is a base page that needs a place, a coalesced page
 * that was left for such an emergency is splintered, so that what is free in it can be handed out; no data moves then
 * and nobody waits. */
#include "vm/page_manager_internal.h"

static const struct pw_frame_blocks *blocks_of(const struct pw_page_manager *m)
{
    return m->wiring.physical->policy->blocks;
}

void pw_pause_sms(struct pw_page_manager *m, pw_asid asid, uint64_t cycles)
{
    if (!cycles)
        return;
    pw_cycle now = m->wiring.events->now, paused = m->wiring.paused_until(m->wiring.machine);
    m->counters[asid].pauses++;
    m->counters[asid].pause_cycles += cycles;
    m->wiring.pause(m->wiring.machine, (paused > now ? paused : now) + cycles);
}

static unsigned drop_from_tlbs(struct pw_page_manager *m, pw_asid asid, pw_vpn first, unsigned count)
{
    return m->wiring.shootdown(m->wiring.machine, asid, first, (pw_vpn){first.v + count});
}

/* The large frame of a region that is large, as the frame policy knows it. */
static pw_pfn block_of_region(const struct pw_page_manager *m, const struct pw_page_table *table, pw_vpn region)
{
    pw_pfn frame = {m->wiring.physical->first_frame};
    for (unsigned i = 0; i < PW_REGION_PAGES; i++)
        if (pw_page_table_has_base(table, (pw_vpn){region.v + i}, &frame))
            break;
    return pw_block_of(pw_frame_within(m->wiring.physical, frame));
}

void pw_splinter(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    struct pw_page_table *table = pw_table_of(m, asid);
    pw_vpn region = pw_region_of(vpn);
    if (!pw_page_table_is_large(table, region))
        return;
    pw_page_table_set_disabled(table, region, PW_REGION_PAGES, false);
    pw_write_entries(m, asid, region, PW_REGION_PAGES, 4, NULL);
    pw_page_table_set_large(table, region, false);
    pw_write_entries(m, asid, region, 1, 3, NULL);
    drop_from_tlbs(m, asid, region, PW_REGION_PAGES);
    m->counters[asid].flushes++;
    m->counters[asid].splintered++;
    if (blocks_of(m))
        blocks_of(m)->coalesced(m->wiring.physical->policy_state, m->wiring.physical->frames,
                                block_of_region(m, table, region), false);
}

static uint64_t copy_cycles(const struct pw_page_manager *m)
{
    switch ((enum pw_copy)m->compact.copy) {
    case PW_COPY_CHANNEL:
        return m->wiring.page_copy_cycles;
    case PW_COPY_BULK:
        return m->compact.bulk_latency;
    default:
        return 0;
    }
}

/* All SMs stand still while so many pages are copied. */
static void charge_copies(struct pw_page_manager *m, pw_asid asid, unsigned pages)
{
    m->counters[asid].migrated += pages;
    pw_pause_sms(m, asid, pages * copy_cycles(m));
}

/* Moves one base page to where the frame policy would put it now. */
static bool move_page(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    struct pw_physical_memory *p = m->wiring.physical;
    struct pw_frame_request request = {.owner = (pw_owner)(PW_OWNER_APP + asid), .vpn = vpn, .order = PW_PAGE_4K};
    pw_pfn to;
    if (!pw_physical_allocate(p, &request, &to))
        return false;
    pw_pfn from = pw_page_table_move(pw_table_of(m, asid), vpn, to);
    pw_write_entries(m, asid, vpn, 1, 4, NULL);
    drop_from_tlbs(m, asid, vpn, 1);
    pw_physical_give_back(p, &request, from);
    return true;
}

/* What was moved out of a large frame has been copied; one that could not be emptied is used as before. */
static void end_emptying(struct pw_page_manager *m, pw_asid asid, pw_pfn block, bool emptied, unsigned moved)
{
    struct pw_physical_memory *p = m->wiring.physical;
    if (emptied)
        m->counters[asid].compactions++;
    else
        blocks_of(m)->restore(p->policy_state, p->frames, block);
    charge_copies(m, asid, moved);
}

/* Moves the base pages that are left in a splintered region out of their large frame. */
static void empty_region(struct pw_page_manager *m, pw_asid asid, pw_vpn region)
{
    struct pw_physical_memory *p = m->wiring.physical;
    const struct pw_page_table *table = pw_table_of(m, asid);
    pw_pfn block = block_of_region(m, table, region);
    unsigned moved = 0;
    bool emptied = true;
    blocks_of(m)->evacuate(p->policy_state, p->frames, block);
    for (unsigned i = 0; emptied && i < PW_REGION_PAGES; i++) {
        pw_vpn vpn = {region.v + i};
        if (!pw_page_table_has_base(table, vpn, NULL))
            continue;
        emptied = move_page(m, asid, vpn);
        moved += emptied;
    }
    end_emptying(m, asid, block, emptied, moved);
}

/* The fewest base pages with which a coalesced page is left alone. */
static unsigned threshold_pages(const struct pw_page_manager *m)
{
    return (m->compact.threshold * PW_REGION_PAGES + 99) / 100;
}

void pw_compact_region(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    const struct pw_page_table *table = pw_table_of(m, asid);
    pw_vpn region = pw_region_of(vpn);
    if (!m->compaction->splinter || !blocks_of(m) || !pw_is_large_here(m, table, region))
        return;
    m->counters[asid].compact_checks++;
    struct pw_compact_view view = {asid, region, pw_page_table_present(table, region), threshold_pages(m)};
    if (m->compaction->splinter(m->compaction_state, &view)) {
        pw_splinter(m, asid, region);
        empty_region(m, asid, region);
    } else {
        blocks_of(m)->keep_for_emergency(m->wiring.physical->policy_state, block_of_region(m, table, region));
    }
}

/* Moves pre-fragmented data together until a large frame is free. It has no page table, so that frames are those that
 * the policy knows. */
static bool empty_fragmented(struct pw_page_manager *m, pw_asid asid)
{
    struct pw_physical_memory *p = m->wiring.physical;
    const struct pw_frame_request request = {.owner = PW_OWNER_FRAGMENT, .order = PW_PAGE_4K};
    pw_pfn block, to;
    if (!blocks_of(m)->fragmented(p->policy_state, p->frames, &block))
        return false;
    unsigned moved = 0;
    bool emptied = true;
    blocks_of(m)->evacuate(p->policy_state, p->frames, block);
    for (uint32_t i = 0; emptied && i < PW_REGION_PAGES; i++) {
        pw_pfn from = {block.v + i};
        if (pw_frames_owner(p->frames, from) != PW_OWNER_FRAGMENT)
            continue;
        emptied = p->policy->allocate(p->policy_state, p->frames, &request, &to);
        if (emptied)
            p->policy->release(p->policy_state, p->frames, &request, from);
        moved += emptied;
    }
    end_emptying(m, asid, block, emptied, moved);
    return emptied;
}

struct search {
    pw_pfn block;
    pw_vpn vpn;
    bool found;
};

static void look_for_block(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    (void)order;
    struct search *s = context;
    if (pw_block_of(frame).v != s->block.v)
        return;
    s->vpn = vpn;
    s->found = true;
}

/* Splinters the oldest page that was kept for an emergency, of the application that asks if it has one. Nobody notes
 * which page lies in a large frame; page tables are searched for it, which happens seldom. */
static bool splinter_kept(struct pw_page_manager *m, pw_asid asker)
{
    struct search s = {.found = false};
    if (!blocks_of(m)->emergency(m->wiring.physical->policy_state, (pw_owner)(PW_OWNER_APP + asker), &s.block))
        return false;
    s.block.v += m->wiring.physical->first_frame;
    for (unsigned asid = 0; asid < m->wiring.apps; asid++) {
        pw_page_table_each(pw_table_of(m, (pw_asid)asid), look_for_block, &s);
        if (!s.found)
            continue;
        pw_splinter(m, (pw_asid)asid, s.vpn);
        m->counters[asid].emergencies++;
        return true;
    }
    return false;
}

bool pw_compact_make_room(struct pw_page_manager *m, pw_asid asid, bool whole_region)
{
    if (!m->compaction->makes_room || !blocks_of(m))
        return false;
    return empty_fragmented(m, asid) || (!whole_region && splinter_kept(m, asid));
}
