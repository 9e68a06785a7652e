/* Coalescing by migration, the conventional way (Mosaic, Section 4.3, Figure 6a), in four steps:
 *
 * 1. Find candidates. Walks are tallied by region in the background, as a memory management unit beside the GPU does.
 *    At the end of an interval in which there were any, the most walked region that the policy wants is taken. Tallies
 *    start over then.
 * 2. Migrate. The frame policy gives a free large frame; without one nothing happens until the next interval. The pages
 *    are read and written a line at a time, with COPY_LINES under way at once, beside the page walker: through the L2
 *    slices and over the channels of DRAM, where they compete with all other requests.
 * 3. Update the page table: the level-4 entries of all pages, with their new frames and disabled bits, then the level-3
 *    entry with the large bit.
 * 4. Flush. The mapping changes, TLBs drop all entries of the region, and all SMs stand still as long as the entries
 *    took to write: invalidations are sent for each entry, and go out no faster than the entries did.
 *
 * One region is moved at a time. When one of its pages leaves, or memory is needed, the job is given up and the large
 * frame given back; what is under way is dropped when it comes back. Left out: stores to a page that has been copied
 * already. There is no data in this memory; a machine would copy those lines again. COPY_LINES is assumed, as much as a
 * page walker has walks. */
#include "vm/page_manager_internal.h"

#include "mem/cache.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_LINES = PW_PAGE_BYTES / PW_LINE_BYTES,
    REGION_LINES = PW_REGION_PAGES * PAGE_LINES,
    COPY_LINES = 64,
    FIRST_TALLIES = 256
};

/* Walks of a region; key: its number and address space, + 1, or 0. */
struct tally {
    uint64_t key, walks;
};

enum stage { IDLE, COPYING, WRITING };

struct pw_migrator {
    struct tally *tallies;
    uint32_t tally_count, tally_capacity; /* a power of two */
    struct pw_epochs intervals;
    bool interval_runs;
    bool entries_pending; /* a batch of entries has not been answered, of this job or one that was given up */
    uint8_t stage;
    uint32_t job; /* counts them: lines of one that was given up are recognised by it */
    pw_asid asid;
    pw_vpn region;
    pw_pfn block;
    pw_pfn sources[PW_REGION_PAGES];
    uint32_t next_line, lines_written, in_flight;
    pw_cycle begun, copied;
    uint32_t track; /* on the timeline */
};

static struct pw_frame_request request_for(const struct pw_migrator *g, pw_vpn vpn, enum pw_page_order order)
{
    return (struct pw_frame_request){.owner = (pw_owner)(PW_OWNER_APP + g->asid), .vpn = vpn, .order = order};
}

static void record(struct pw_page_manager *m, const char *name, pw_cycle from, pw_cycle to)
{
    const struct pw_migrator *g = m->migrator;
    if (m->wiring.timeline)
        pw_timeline_record(m->wiring.timeline, &(struct pw_interval){.track = g->track,
                                                                     .name = name,
                                                                     .from = from,
                                                                     .to = to,
                                                                     .app = g->asid,
                                                                     .has_page = true,
                                                                     .page = g->region});
}

/* Ends the job without its effect. */
static void give_up(struct pw_page_manager *m)
{
    struct pw_migrator *g = m->migrator;
    struct pw_physical_memory *p = m->wiring.physical;
    struct pw_frame_request request = request_for(g, g->region, PW_PAGE_2M);
    pw_physical_give_back(p, &request, g->block);
    record(m, "given up", g->begun, m->wiring.events->now);
    g->stage = IDLE;
    g->job++;
}

/* Whether every page lies where it was copied from. */
static bool nothing_has_moved(const struct pw_page_manager *m)
{
    const struct pw_migrator *g = m->migrator;
    bool same = !pw_page_table_is_large(pw_table_of(m, g->asid), g->region);
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++) {
        pw_pfn frame;
        same = same && pw_page_table_has_base(pw_table_of(m, g->asid), (pw_vpn){g->region.v + i}, &frame) &&
               frame.v == g->sources[i].v;
    }
    return same;
}

/* Step 4. */
static void flush(struct pw_page_manager *m, pw_cycle now)
{
    struct pw_migrator *g = m->migrator;
    struct pw_physical_memory *p = m->wiring.physical;
    struct pw_page_table *table = pw_table_of(m, g->asid);
    struct pw_page_manager_counters *c = &m->counters[g->asid];
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++)
        pw_page_table_move(table, (pw_vpn){g->region.v + i}, (pw_pfn){g->block.v + i});
    pw_page_table_set_disabled(table, g->region, PW_REGION_PAGES, true);
    pw_page_table_set_large(table, g->region, true);
    m->wiring.shootdown(m->wiring.machine, g->asid, g->region, (pw_vpn){g->region.v + PW_REGION_PAGES});
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++) {
        struct pw_frame_request request = request_for(g, (pw_vpn){g->region.v + i}, PW_PAGE_4K);
        pw_physical_give_back(p, &request, g->sources[i]);
    }
    if (p->policy->blocks)
        p->policy->blocks->coalesced(p->policy_state, p->frames, pw_frame_within(p, g->block), true);
    c->migrated += PW_REGION_PAGES;
    c->coalesced++;
    c->flushes++;
    pw_cycle took = now > g->copied ? now - g->copied : 1;
    pw_pause_sms(m, g->asid, took);
    record(m, "migrate", g->begun, g->copied);
    record(m, "update page table", g->copied, now);
    record(m, "flush", now, now + took);
    g->stage = IDLE;
    g->job++;
}

static void level3_taken(struct pw_page_manager *m, pw_asid asid, pw_vpn first, unsigned count, bool last, pw_cycle now)
{
    (void)asid, (void)first, (void)count, (void)last;
    struct pw_migrator *g = m->migrator;
    g->entries_pending = false;
    if (g->stage != WRITING)
        return;
    if (nothing_has_moved(m))
        flush(m, now);
    else
        give_up(m);
}

static void level4_taken(struct pw_page_manager *m, pw_asid asid, pw_vpn first, unsigned count, bool last, pw_cycle now)
{
    (void)first, (void)count, (void)now;
    struct pw_migrator *g = m->migrator;
    if (!last)
        return;
    if (g->stage == WRITING)
        pw_write_entries(m, asid, g->region, 1, 3, level3_taken);
    else
        g->entries_pending = false;
}

/* Step 3. */
static void write_entries(struct pw_page_manager *m, pw_cycle now)
{
    struct pw_migrator *g = m->migrator;
    g->stage = WRITING;
    g->copied = now;
    g->entries_pending = true;
    pw_write_entries(m, g->asid, g->region, PW_REGION_PAGES, 4, level4_taken);
}

static uint32_t line_of(pw_pfn frame, uint32_t line)
{
    return frame.v * PAGE_LINES + line % PAGE_LINES;
}

/* Sends a line's read, or the write of what it brought. The line's number in the region is that of its page, in
 * `source`, and its place there, which is also that of the physical line. */
static void send(struct pw_page_manager *m, struct pw_request *r, uint32_t line, bool write)
{
    struct pw_migrator *g = m->migrator;
    pw_pfn page = write ? (pw_pfn){g->block.v + line / PAGE_LINES} : g->sources[line / PAGE_LINES];
    *r = (struct pw_request){.line = line_of(page, line),
                             .owner = PW_COPY_OWNER | (g->job & PW_COPY_JOBS),
                             .source = (uint16_t)(line / PAGE_LINES),
                             .kind = write ? PW_REQUEST_MANAGER_WRITE : PW_REQUEST_MANAGER_READ,
                             .sectors = PW_ALL_SECTORS,
                             .full = write ? PW_ALL_SECTORS : 0,
                             .app = g->asid};
    pw_memory_send_direct(m->wiring.memory, r, m->wiring.events->now);
}

static void send_reads(struct pw_page_manager *m)
{
    struct pw_migrator *g = m->migrator;
    while (g->stage == COPYING && g->in_flight < COPY_LINES && g->next_line < REGION_LINES) {
        g->in_flight++;
        send(m, pw_request_take(m->wiring.pool), g->next_line++, false);
    }
}

void pw_migrator_answered(struct pw_page_manager *m, struct pw_request *r, pw_cycle now)
{
    struct pw_migrator *g = m->migrator;
    bool present = g->stage == COPYING && r->owner == (PW_COPY_OWNER | (g->job & PW_COPY_JOBS));
    if (present && r->kind == PW_REQUEST_MANAGER_READ) {
        send(m, r, r->source * (uint32_t)PAGE_LINES + r->line % PAGE_LINES, true);
        return;
    }
    pw_request_give(m->wiring.pool, r);
    g->in_flight--;
    if (present && ++g->lines_written == REGION_LINES)
        write_entries(m, now);
    else
        send_reads(m);
}

/* Notes where the pages of a region are; false when one is not in this memory. */
static bool note_sources(struct pw_page_manager *m, pw_asid asid, pw_vpn region)
{
    struct pw_migrator *g = m->migrator;
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++)
        if (!pw_page_table_has_base(pw_table_of(m, asid), (pw_vpn){region.v + i}, &g->sources[i]) ||
            !pw_physical_memory_has(m->wiring.physical, g->sources[i]))
            return false;
    return true;
}

/* Step 2. */
static void begin(struct pw_page_manager *m, pw_asid asid, pw_vpn region, pw_cycle now)
{
    struct pw_migrator *g = m->migrator;
    struct pw_physical_memory *p = m->wiring.physical;
    g->asid = asid;
    g->region = region;
    struct pw_frame_request request = request_for(g, region, PW_PAGE_2M);
    if (!note_sources(m, asid, region) || !pw_physical_allocate(p, &request, &g->block))
        return;
    g->stage = COPYING;
    g->begun = now;
    g->next_line = g->lines_written = 0;
    if (m->wiring.memory)
        send_reads(m);
    else
        write_entries(m, now);
}

static pw_asid tally_asid(const struct tally *t)
{
    return (pw_asid)(t->key - 1);
}

static pw_vpn tally_region(const struct tally *t)
{
    return (pw_vpn){(t->key - 1) >> 8 << PW_PAGE_2M};
}

static bool is_candidate(struct pw_page_manager *m, const struct tally *t)
{
    pw_asid asid = tally_asid(t);
    m->counters[asid].checks++;
    if (pw_page_table_is_large(pw_table_of(m, asid), tally_region(t)))
        return false;
    struct pw_coalesce_view view = pw_coalesce_view_of(m, asid, tally_region(t));
    view.utilisation = t->walks;
    return m->coalescing->wants(m->coalescing_state, &view);
}

/* Step 1. Of regions that were walked alike, the lowest of the first application is taken. */
static pw_cycle interval_over(void *object, pw_cycle now)
{
    struct pw_page_manager *m = object;
    struct pw_migrator *g = m->migrator;
    const struct tally *best = NULL;
    g->interval_runs = false;
    bool free_to_move = g->stage == IDLE && !g->entries_pending && now >= m->wiring.paused_until(m->wiring.machine);
    for (uint32_t i = 0; free_to_move && i < g->tally_capacity; i++) {
        const struct tally *t = &g->tallies[i];
        bool better = t->key && (!best || t->walks > best->walks || (t->walks == best->walks && t->key < best->key));
        if (better && is_candidate(m, t))
            best = t;
    }
    if (best)
        begin(m, tally_asid(best), tally_region(best), now);
    memset(g->tallies, 0, g->tally_capacity * sizeof *g->tallies);
    g->tally_count = 0;
    return PW_NEVER; /* the next walk begins the next one */
}

/* Where the region is, or belongs. */
static struct tally *find_tally(struct tally *tallies, uint32_t capacity, uint64_t key)
{
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15 >> 32) & (capacity - 1);
    while (tallies[at].key && tallies[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &tallies[at];
}

static bool double_tallies(struct pw_migrator *g)
{
    struct tally *more = calloc(2 * (size_t)g->tally_capacity, sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < g->tally_capacity; i++)
        if (g->tallies[i].key)
            *find_tally(more, 2 * g->tally_capacity, g->tallies[i].key) = g->tallies[i];
    free(g->tallies);
    g->tallies = more;
    g->tally_capacity *= 2;
    return true;
}

void pw_migrator_walked(void *manager, pw_asid asid, pw_vpn vpn)
{
    struct pw_page_manager *m = manager;
    struct pw_migrator *g = m->migrator;
    uint64_t key = (vpn.v >> PW_PAGE_2M << 8 | asid) + 1;
    struct tally *t = find_tally(g->tallies, g->tally_capacity, key);
    if (!t->key) {
        if (2 * g->tally_count >= g->tally_capacity) {
            if (!double_tallies(g)) {
                pw_events_out_of_memory(m->wiring.events);
                return;
            }
            t = find_tally(g->tallies, g->tally_capacity, key);
        }
        t->key = key;
        g->tally_count++;
    }
    t->walks++;
    if (g->interval_runs)
        return;
    g->interval_runs = true;
    pw_epochs_begin(&g->intervals, pw_epoch_end(m->wiring.events->now, m->coalesce.interval));
}

void pw_migrator_freed(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    const struct pw_migrator *g = m->migrator;
    if (g->stage != IDLE && asid == g->asid && first.v < g->region.v + PW_REGION_PAGES && outer.v > g->region.v)
        give_up(m);
}

bool pw_migrator_make_room(struct pw_page_manager *m)
{
    if (m->migrator->stage == IDLE)
        return false;
    give_up(m);
    return true;
}

uint64_t pw_migrator_pending(const struct pw_migrator *g)
{
    return g->in_flight;
}

enum pw_status pw_migrator_create(struct pw_page_manager *m, struct pw_error *err)
{
    struct pw_migrator *g = calloc(1, sizeof *g);
    if (!g)
        return pw_fail_memory(err, "page manager");
    m->migrator = g;
    g->intervals = (struct pw_epochs){m->wiring.events, m, interval_over, NULL}; /* may move pages */
    g->tally_capacity = FIRST_TALLIES;
    g->tallies = calloc(g->tally_capacity, sizeof *g->tallies);
    if (!g->tallies)
        return pw_fail_memory(err, "page manager");
    if (m->wiring.mmu && m->coalescing->tallies)
        pw_mmu_on_walk(m->wiring.mmu, pw_migrator_walked, m);
    if (m->wiring.timeline)
        g->track = pw_timeline_tracks(m->wiring.timeline, m->write_lanes.group, "moves", 1);
    return PW_OK;
}

void pw_migrator_destroy(struct pw_migrator *g)
{
    if (!g)
        return;
    free(g->tallies);
    free(g);
}
