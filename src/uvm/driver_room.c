/* Room: what leaves, and when the place of what has left can be used.
 *
 * A page that leaves is unmapped at once. If it is written back, its place can be used when the write-back has ended
 * (UVM, Sec. 4.2: a fault with full memory waits for it too); otherwise at once. Write-backs of one eviction cross the
 * link in runs of contiguous pages (UVM, Sec. 5.2). A fetch that takes room takes what is free now first, then what
 * becomes free soonest. Which place goes to which page does not matter, so that room is a count with dates, not a list
 * of frames.
 *
 * Page tables lie in the same memory and stay while their program runs. Where they have taken more than was set aside
 * for them (wiring.frames), pages leave although managed data is below its capacity. */
#include "uvm/driver_internal.h"

static void keep_for_tables(struct fetch *f, uint32_t frames)
{
    f->uvm->table_frames += frames;
    f->uvm->table_frames -= f->table_frames;
    f->table_frames = frames;
}

uint64_t pw_uvm_room(struct fetch *f)
{
    struct pw_uvm *u = f->uvm;
    uint64_t room = pw_residency_room(u->residency);
    if (!u->wiring.mappable)
        return room;
    keep_for_tables(f, u->wiring.table_growth(u->wiring.machine, f->asid, f->first));
    uint64_t mappable = u->wiring.mappable(u->wiring.machine, u->table_frames);
    uint64_t granted = pw_residency_granted(u->residency), left = mappable > granted ? mappable - granted : 0;
    return room < left ? room : left;
}

void pw_uvm_tables_grown(struct fetch *f)
{
    keep_for_tables(f, 0);
}

/* Write-backs end in the order in which they were queued. */
static void promise(struct pw_uvm *u, uint64_t pages, pw_cycle at)
{
    struct room_queue *q = &u->room;
    struct promise *items = pw_uvm_make_place(u, q->items, &q->first, &q->count, &q->capacity, sizeof *q->items);
    if (!items)
        return;
    q->items = items;
    q->items[q->count++] = (struct promise){at, pages};
    q->pages += pages;
}

/* Promises that have come true are room like any other. */
static void expire_promises(struct room_queue *q, pw_cycle now)
{
    while (q->first < q->count && q->items[q->first].time <= now)
        q->pages -= q->items[q->first++].pages;
}

pw_cycle pw_uvm_claim(struct pw_uvm *u, uint32_t block, const struct pw_page_mask *pages, pw_cycle now)
{
    struct room_queue *q = &u->room;
    expire_promises(q, now);
    uint64_t wanted = pw_mask_count(pages), room = pw_residency_room(u->residency);
    uint64_t free_now = room > q->pages ? room - q->pages : 0;
    pw_residency_grant(u->residency, block, pages);
    wanted -= wanted < free_now ? wanted : free_now;
    pw_cycle ready = now;
    while (wanted && q->first < q->count) {
        struct promise *p = &q->items[q->first];
        uint64_t taken = wanted < p->pages ? wanted : p->pages;
        ready = p->time;
        wanted -= taken;
        q->pages -= taken;
        p->pages -= taken;
        q->first += !p->pages;
    }
    return ready;
}

static void write_back(struct pw_uvm *u, const struct pw_eviction *e, pw_asid asid, pw_vpn base, pw_cycle now)
{
    unsigned first, outer;
    for (unsigned at = 0; pw_mask_next_run(&e->written, at, &first, &outer); at = outer) {
        uint64_t bytes = (uint64_t)(outer - first) * PW_PAGE_BYTES;
        pw_cycle end = pw_link_send(u->wiring.link, PW_LINK_D2H, bytes, now, NULL, NULL, 0);
        u->counters[asid].bytes_d2h += bytes;
        promise(u, outer - first, end);
        pw_uvm_record(u, u->link_tracks[PW_LINK_D2H], "write back", asid, (pw_vpn){base.v + first},
                      end - pw_link_cycles(u->wiring.link, PW_LINK_D2H, bytes), end);
    }
}

bool pw_uvm_evict(struct pw_uvm *u, pw_cycle now, uint32_t *out_pages)
{
    struct pw_eviction e;
    if (!pw_residency_evict(u->residency, &e))
        return false;
    pw_asid asid = pw_residency_asid(u->residency, e.block * PW_BLOCK_PAGES);
    pw_vpn base = pw_residency_vpn(u->residency, e.block * PW_BLOCK_PAGES);
    unsigned first, outer;
    for (unsigned at = 0; pw_mask_next_run(&e.pages, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += u->unit)
            u->wiring.unmap(u->wiring.machine, asid, (pw_vpn){base.v + page}, false);
    pw_advice_evicted(u, &e);
    write_back(u, &e, asid, base, now);
    *out_pages += pw_mask_count(&e.pages);
    return true;
}
