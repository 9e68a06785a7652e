/* Fetches: pages of one block from the decision to their arrival.
 *
 * When a fetch is served, room is made for all of it. If not enough may leave, prefetched pages are given up and
 * faulted ones wait, in order, until an access has ended or a page has been replayed. What has room crosses the link:
 * under serial and parallel service the faulted pages first and then the prefetched ones, each run of contiguous pages
 * in one transfer, so that a faulted page splits the run that it lies in (UVM, Sec. 3.2 and 3.3); in a batch, whole
 * runs, as the real driver copies them. Pages can be used when their own transfer has ended. */
#include "uvm/driver_internal.h"

#include <assert.h>
#include <stdlib.h>

void pw_fetch_queue_add(struct fetch_queue *q, struct fetch *f)
{
    if (!q->first)
        q->last = &q->first;
    f->behind = NULL;
    *q->last = f;
    q->last = &f->behind;
    q->count++;
}

struct fetch *pw_fetch_queue_take(struct fetch_queue *q)
{
    struct fetch *f = q->first;
    q->first = f->behind;
    q->count--;
    return f;
}

struct fetch *pw_fetch_begin(struct pw_uvm *u, const struct pw_fetch *decided, enum fetch_owner owner, pw_cycle now)
{
    struct fetch *f = calloc(1, sizeof *f);
    if (!f) {
        pw_uvm_fail(u, PW_FAILED, "out of memory for pages on their way");
        return NULL;
    }
    *f = (struct fetch){.uvm = u,
                        .next = u->fetches,
                        .block = decided->block,
                        .asid = pw_residency_asid(u->residency, decided->block * PW_BLOCK_PAGES),
                        .first = pw_residency_vpn(u->residency, decided->block * PW_BLOCK_PAGES),
                        .faulted = decided->faulted,
                        .prefetched = decided->prefetched,
                        .faults = pw_mask_count(&decided->faulted) / u->unit,
                        .taken = now,
                        .owner = owner};
    if (f->next)
        f->next->previous = f;
    u->fetches = f;
    u->fetch_count++;
    return f;
}

static void end_fetch(struct fetch *f)
{
    struct pw_uvm *u = f->uvm;
    pw_uvm_tables_grown(f);
    *(f->previous ? &f->previous->next : &u->fetches) = f->next;
    if (f->next)
        f->next->previous = f->previous;
    u->fetch_count--;
    free(f);
}

void pw_fetch_finish(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    if (f->owner == OWNER_BATCH) {
        pw_batch_fetched(u, f, now);
    } else if (f->owner == OWNER_PREFETCH) {
        struct prefetch_call *call = f->call;
        end_fetch(f);
        pw_prefetch_continue(call, now);
        return;
    } else {
        pw_uvm_log(u, &(struct pw_fault_batch){f->taken, now, f->faults, 1, f->pages_in, f->pages_out});
        if (u->wiring.timeline) {
            pw_lanes_give(&u->lanes, f->track, now);
            pw_uvm_record(u, f->track, "fault", f->asid, f->first, f->taken, now);
        }
    }
    end_fetch(f);
}

static bool is_complete(const struct fetch *f)
{
    return f->served && !f->waits && !f->transfers && !pw_mask_any(&f->faulted);
}

/* Accesses that wait for a page that has just come. They may fault again while they are being replayed. */
static void wake(struct pw_uvm *u, pw_page_id page, pw_cycle now)
{
    struct fault *f = pw_faults_find(u, page);
    if (!f)
        return;
    pw_advice_arrived(u, f);
    if (!u->batch.holds_replays) {
        pw_faults_replay(u, page, now);
        return;
    }
    pw_ticket_add(u, &u->batch.ready, f);
}

static void arrive(struct fetch *f, unsigned first, unsigned outer, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    pw_page_id base = f->block * PW_BLOCK_PAGES;
    struct pw_page_mask pages = pw_mask_range(first, outer);
    for (unsigned page = first; u->faults.count && page < outer; page += u->unit) {
        struct fault *fault = pw_faults_find(u, base + page);
        if (fault)
            pw_faults_report(u, fault);
    }
    pw_advice_arriving(u, base + first, base + outer);
    pw_residency_arrive(u->residency, f->block, &pages);
    for (unsigned page = first; page < outer; page += u->unit)
        if (!u->wiring.map(u->wiring.machine, f->asid, (pw_vpn){f->first.v + page})) {
            pw_uvm_fail(
                u, PW_FAILED,
                "device memory has no frame for a page that has come, or for its page table: what is free lies in "
                "pieces that are too small; give the GPU more memory (dram.bytes)");
            return;
        }
    pw_uvm_tables_grown(f);
    for (unsigned page = first; u->faults.count && page < outer; page += u->unit)
        wake(u, base + page, now);
}

static void transfer_ended(void *object, uint64_t run, pw_cycle now)
{
    struct fetch *f = object;
    struct pw_uvm *u = f->uvm;
    unsigned first = (unsigned)(run >> 16), outer = (unsigned)(run & 0xffff);
    uint64_t bytes = (uint64_t)(outer - first) * PW_PAGE_BYTES;
    u->counters[f->asid].bytes_h2d += bytes;
    pw_uvm_record(u, u->link_tracks[PW_LINK_H2D], "fetch", f->asid, (pw_vpn){f->first.v + first},
                  now - pw_link_cycles(u->wiring.link, PW_LINK_H2D, bytes), now);
    f->transfers--;
    f->under_way -= outer - first;
    f->pages_in += outer - first;
    if (f->freed)
        u->counters[f->asid].pages_lost += outer - first;
    else
        arrive(f, first, outer, now);
    if (is_complete(f))
        pw_fetch_finish(f, now);
    pw_uvm_ask_retry(u, now);
}

static void send_runs(struct fetch *f, const struct pw_page_mask *pages, pw_cycle ready)
{
    unsigned first, outer;
    for (unsigned at = 0; pw_mask_next_run(pages, at, &first, &outer); at = outer) {
        pw_link_send(f->uvm->wiring.link, PW_LINK_H2D, (uint64_t)(outer - first) * PW_PAGE_BYTES, ready, transfer_ended,
                     f, (uint64_t)first << 16 | outer);
        f->transfers++;
        f->under_way += outer - first;
    }
}

/* The first pages of a set, whole units, at most `count` pages. */
static struct pw_page_mask first_pages(const struct pw_page_mask *pages, uint64_t count, unsigned unit)
{
    struct pw_page_mask some = {0};
    unsigned first, outer;
    for (unsigned at = 0; count >= unit && pw_mask_next_run(pages, at, &first, &outer); at = outer) {
        unsigned taken = outer - first < count ? outer - first : (unsigned)count & ~(unit - 1);
        struct pw_page_mask run = pw_mask_range(first, first + taken);
        some = pw_mask_or(some, &run);
        count -= taken;
    }
    return some;
}

/* Gives up prefetched pages for which there is no room. Those that accesses wait for by now count as faulted. */
static void give_up(struct fetch *f, const struct pw_page_mask *kept)
{
    struct pw_page_mask excess = pw_mask_without(f->prefetched, kept);
    struct pw_page_mask given_up = pw_residency_give_up(f->uvm->residency, f->block, &excess);
    excess = pw_mask_without(excess, &given_up);
    f->faulted = pw_mask_or(f->faulted, &excess);
    f->prefetched = *kept;
}

/* Room for what can have it now; the rest stays in f->faulted. */
static void grant(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    uint64_t asked = pw_mask_count(&f->faulted), wanted = asked + pw_mask_count(&f->prefetched), room;
    while ((room = pw_uvm_room(f)) < wanted && pw_uvm_evict(u, now, &f->pages_out))
        ;
    struct pw_page_mask prefetched = first_pages(&f->prefetched, room > asked ? room - asked : 0, u->unit);
    give_up(f, &prefetched);
    struct pw_page_mask faulted = first_pages(&f->faulted, room, u->unit);
    prefetched = first_pages(&f->prefetched, room - pw_mask_count(&faulted), u->unit);
    give_up(f, &prefetched);
    f->faulted = pw_mask_without(f->faulted, &faulted);
    f->prefetched = (struct pw_page_mask){0};
    struct pw_page_mask all = pw_mask_or(faulted, &prefetched);
    if (!pw_mask_any(&all))
        return;
    pw_cycle ready = pw_uvm_claim(u, f->block, &all, now);
    if (f->owner != OWNER_FAULT) {
        send_runs(f, &all, ready);
        return;
    }
    send_runs(f, &faulted, ready);
    send_runs(f, &prefetched, ready);
}

/* True when faulted pages are left without room. */
static bool serve(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    f->served = true;
    if (!f->freed)
        grant(f, now);
    while (pw_residency_buffer_short(u->residency) && pw_uvm_evict(u, now, &f->pages_out))
        ;
    if (pw_mask_any(&f->faulted))
        return true;
    if (is_complete(f))
        pw_fetch_finish(f, now);
    return false;
}

bool pw_fetch_serve(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    if (!u->waiting.first && !serve(f, now))
        return false;
    f->waits = true;
    pw_fetch_queue_add(&u->waiting, f);
    return true;
}

static void retry(void *object, uint64_t unused, pw_cycle now)
{
    (void)unused;
    struct pw_uvm *u = object;
    u->retry_posted = false;
    while (u->waiting.first) {
        struct fetch *f = pw_fetch_queue_take(&u->waiting);
        f->waits = false;
        if (!serve(f, now))
            continue;
        f->waits = true;
        f->behind = u->waiting.first;
        if (!u->waiting.first)
            u->waiting.last = &f->behind;
        u->waiting.first = f;
        u->waiting.count++;
        if (f->owner == OWNER_BATCH)
            pw_batch_stall(u, now);
        return;
    }
}

void pw_uvm_ask_retry(struct pw_uvm *u, pw_cycle now)
{
    if (!u->waiting.first || u->retry_posted)
        return;
    u->retry_posted = true;
    pw_cycle at = now > u->wiring.events->now ? now : u->wiring.events->now;
    pw_events_post(u->wiring.events, at, retry, u, 0);
}

/* The room of transfers that are under way is free at once: whatever takes it crosses the link behind them. */
void pw_fetch_forget_block_range(struct pw_uvm *u, uint32_t first, uint32_t outer, pw_cycle now)
{
    for (struct fetch *f = u->fetches; f; f = f->next) {
        if (f->freed || f->block < first || f->block >= outer)
            continue;
        f->freed = true;
        f->faulted = f->prefetched = (struct pw_page_mask){0};
    }
    pw_uvm_ask_retry(u, now);
}
