/* Batch service, as the open part of NVIDIA's driver does it.
 *
 * An interrupt wakes the driver. It reads up to batch_faults faults from the fault buffer, sorts them by address and
 * serves them 2 MiB block by 2 MiB block: what to prefetch is decided with all faults of the batch in the block, room
 * is made, and the copy is waited for before the next block is looked at. When the last block is done all accesses are
 * replayed whose pages have come, also those whose faults were still in the buffer: the driver flushes it before it
 * replays, and who finds its page missing faults again. Then the next batch is read.
 *
 * The driver is busy for batch_latency before it has the faults of a batch, for block_latency in each block and for
 * batch_fault_latency with each fault; the copies take what the link takes. A page of the batch for which there is no
 * room waits; so that others can end and make room, what has come is replayed then, before the batch is done. */
#include "uvm/driver_internal.h"

#include <stdlib.h>

static void wake_driver(struct pw_uvm *u, pw_cycle now);

void pw_batch_enqueue(struct pw_uvm *u, struct fault *f, pw_cycle now)
{
    pw_ticket_add(u, &u->queue, f);
    if (!u->batch.active)
        wake_driver(u, now);
}

/* Replays what the batch has brought. What has been evicted again since is asked for again. */
static void replay_ready(struct pw_uvm *u, pw_cycle now)
{
    struct ticket_list *ready = &u->batch.ready;
    while (ready->first < ready->count) {
        struct fault *f = pw_faults_find_ticket(u, ready->items[ready->first++]);
        if (!f)
            continue;
        if (pw_residency_state(u->residency, f->page) == PW_PAGE_RESIDENT ||
            pw_residency_is_remote(u->residency, f->page)) {
            pw_faults_replay(u, f->page, now);
        } else {
            f->reported = false;
            pw_ticket_add(u, &u->queue, f);
        }
    }
    ready->first = ready->count = 0;
}

static void end_batch(struct pw_uvm *u, pw_cycle now)
{
    struct batch *b = &u->batch;
    pw_uvm_log(u, &(struct pw_fault_batch){b->taken, now, b->faults, b->blocks, b->pages_in, b->pages_out});
    if (u->wiring.timeline) {
        pw_lanes_give(&u->lanes, b->track, now);
        pw_uvm_record(u, b->track, "batch", b->items[0].asid, b->items[0].vpn, b->begun, now);
    }
    b->holds_replays = false;
    replay_ready(u, now);
    b->active = false;
    if (u->queue.first < u->queue.count)
        wake_driver(u, now);
}

static void serve_block(void *object, uint64_t unused, pw_cycle now);

/* Turns to the next block of the batch. */
static void next_block(struct pw_uvm *u, pw_cycle now)
{
    struct batch *b = &u->batch;
    if (b->next == b->count) {
        end_batch(u, now);
        return;
    }
    pw_page_id block = b->items[b->next].ticket.page / PW_BLOCK_PAGES;
    for (b->group_outer = b->next; b->group_outer < b->count; b->group_outer++)
        if (b->items[b->group_outer].ticket.page / PW_BLOCK_PAGES != block)
            break;
    b->blocks++;
    uint64_t faults = b->group_outer - b->next;
    pw_events_post(u->wiring.events, now + u->config.block_latency + faults * u->config.batch_fault_latency,
                   serve_block, u, 0);
}

static void serve_block(void *object, uint64_t unused, pw_cycle now)
{
    (void)unused;
    struct pw_uvm *u = object;
    struct batch *b = &u->batch;
    const struct batch_item *items = &b->items[b->next];
    size_t count = b->group_outer - b->next;
    uint32_t block = items[0].ticket.page / PW_BLOCK_PAGES;
    struct pw_page_mask asked = {0};
    struct pw_fetch decided;
    for (size_t i = 0; i < count; i++) {
        struct fault *fault = pw_faults_find_ticket(u, items[i].ticket);
        if (fault && pw_advice_brings_no_page(u, fault) && pw_advice_serve_in_place(u, fault))
            pw_ticket_add(u, &b->ready, fault);
        else if (fault)
            pw_mask_add(&asked, items[i].ticket.page % PW_BLOCK_PAGES);
    }
    if (pw_mask_any(&asked)) /* the block is still there */
        pw_residency_decide(u->residency, block, &asked, &decided);
    b->next = b->group_outer;
    if (!pw_mask_any(&asked) || !pw_mask_any(&decided.faulted)) {
        next_block(u, now);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (pw_mask_has(&decided.faulted, items[i].ticket.page % PW_BLOCK_PAGES))
            pw_faults_find(u, items[i].ticket.page)->reported = true;
    struct fetch *f = pw_fetch_begin(u, &decided, OWNER_BATCH, now);
    if (f && pw_fetch_serve(f, now))
        pw_batch_stall(u, now);
}

void pw_batch_fetched(struct pw_uvm *u, struct fetch *f, pw_cycle now)
{
    u->batch.pages_in += f->pages_in;
    u->batch.pages_out += f->pages_out;
    next_block(u, now);
}

void pw_batch_stall(struct pw_uvm *u, pw_cycle now)
{
    replay_ready(u, now);
}

static int compare_items(const void *a, const void *b)
{
    const struct batch_item *x = a, *y = b;
    if (x->asid != y->asid)
        return x->asid < y->asid ? -1 : 1;
    return (x->vpn.v > y->vpn.v) - (x->vpn.v < y->vpn.v);
}

/* The driver reads the fault buffer. */
static void take_batch(void *object, uint64_t unused, pw_cycle now)
{
    (void)unused;
    struct pw_uvm *u = object;
    struct batch *b = &u->batch;
    b->count = b->next = 0;
    while (b->count < u->config.batch_faults && u->queue.first < u->queue.count) {
        struct ticket ticket = u->queue.items[u->queue.first++];
        if (pw_faults_find_ticket(u, ticket))
            b->items[b->count++] = (struct batch_item){pw_residency_asid(u->residency, ticket.page),
                                                       pw_residency_vpn(u->residency, ticket.page), ticket};
    }
    if (!b->count) {
        b->active = false;
        return;
    }
    qsort(b->items, b->count, sizeof *b->items, compare_items);
    b->holds_replays = true;
    b->taken = now;
    b->faults = (uint32_t)b->count;
    b->blocks = b->pages_in = b->pages_out = 0;
    u->batches++;
    u->batch_faults += b->count;
    if (u->wiring.timeline)
        b->track = pw_lanes_take(&u->lanes, b->begun);
    next_block(u, now);
}

static void wake_driver(struct pw_uvm *u, pw_cycle now)
{
    struct batch *b = &u->batch;
    if (!b->items)
        b->items = calloc(u->config.batch_faults, sizeof *b->items);
    if (!b->items) {
        pw_uvm_fail(u, PW_FAILED, "out of memory for a batch of faults");
        return;
    }
    b->active = true;
    b->begun = now;
    pw_events_post(u->wiring.events, now + u->config.batch_latency, take_batch, u, 0);
}
