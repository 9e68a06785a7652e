/* The shared page walker and its page walk cache. The models are described in walker.h. */
#include "vm/walker.h"

#include "mem/cache.h"
#include "mem/crossbar.h"

#include <stdlib.h>
#include <string.h>

static const char *const model_names[] = {"memory", "fixed", NULL};

const struct pw_option pw_walk_options[] = {
    {"model", PW_OPTION_CHOICE, offsetof(struct pw_walk_config, model), 0, 0, "memory", "", model_names,
     "Whether a walk reads the page table through L2 and DRAM, or takes a fixed time.", false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_walk_config, latency), 1, 1000000, "500", "cycles", NULL,
     "Cycles of a walk in the fixed model.", false},
    {"walkers", PW_OPTION_COUNT, offsetof(struct pw_walk_config, walkers), 1, 65536, "64", "walks", NULL,
     "Walks that can be under way at once; further ones wait, first come, first served.", false},
    {"distance", PW_OPTION_CYCLES, offsetof(struct pw_walk_config, distance), 0, 10000, "0", "cycles", NULL,
     "Cycles between the page walker and an L2 slice, each way, in the memory model.", false},
    {0}};

const struct pw_option pw_walk_cache_options[] = {
    {"enabled", PW_OPTION_BOOL, offsetof(struct pw_walk_cache_config, enabled), 0, 0, "off", "", NULL,
     "Whether the reads of a walk probe a page walk cache before the L2 cache.", false},
    {"bytes", PW_OPTION_BYTES, offsetof(struct pw_walk_cache_config, bytes), 64, 1 << 30, "8KB", "bytes", NULL,
     "Capacity of the page walk cache (MASK, Table 1).", false},
    {"ways", PW_OPTION_COUNT, offsetof(struct pw_walk_cache_config, ways), 1, 1024, "16", "ways", NULL,
     "Associativity of the page walk cache (MASK, Table 1).", false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_walk_cache_config, latency), 1, 10000, "10", "cycles", NULL,
     "Cycles of a lookup in the page walk cache (MASK, Table 1).", false},
    {"ports", PW_OPTION_COUNT, offsetof(struct pw_walk_cache_config, ports), 1, 8, "2", "ports", NULL,
     "Lookups that can start in one cycle.", false},
    {"line_bytes", PW_OPTION_BYTES, offsetof(struct pw_walk_cache_config, line_bytes), 8, 128, "128B", "bytes", NULL,
     "Bytes of page table under one tag.", true},
    {0}};

#define NO_WALK UINT32_MAX

enum walk_state { NOT_WANTED, QUEUED, WALKING };

/* A host cache line. */
struct walk {
    _Alignas(64) pw_vpn vpn;
    pw_cycle asked, begun;
    uint32_t next; /* in the queue; its track on the timeline while it walks */
    uint32_t lines[PW_TABLE_LEVELS];
    uint8_t offsets[PW_TABLE_LEVELS]; /* within those lines, in bytes */
    uint32_t changes;                 /* of the page table, that there had been when the walk began */
    struct pw_translation found;      /* then; nothing, in the fixed model */
    uint8_t count, level;
    uint8_t state; /* enum walk_state */
    pw_asid asid;
};
_Static_assert(sizeof(struct walk) == 64, "a walk is one host cache line");

/* Of an application, of the walks under way when a snapshot is taken. */
struct walks_open {
    uint64_t count, active; /* cycles that they have walked */
};

struct pw_walker {
    struct pw_walker_config config;
    struct pw_walker_wiring wiring;
    struct walk *walks;
    uint32_t queue_first, queue_last, queued, active;
    struct pw_cache cache;
    struct pw_port cache_ports[8];
    uint32_t cache_shift;
    struct pw_walk_counters *counters;
    struct walks_open *open;
    uint64_t most_active, most_warps_stalled; /* the latter by one walk in one SM */
    struct pw_lanes walk_lanes, wait_lanes;   /* with a timeline */
};

static void record(struct pw_walker *w, const struct walk *k, const char *name, uint32_t track, pw_cycle from,
                   pw_cycle to)
{
    pw_timeline_record(
        w->wiring.timeline,
        &(struct pw_interval){
            .track = track, .name = name, .from = from, .to = to, .app = k->asid, .has_page = true, .page = k->vpn});
}

static void record_begin(struct pw_walker *w, struct walk *k)
{
    k->next = pw_lanes_take(&w->walk_lanes, k->begun);
    if (k->begun == k->asked)
        return;
    uint32_t track = pw_lanes_take(&w->wait_lanes, k->asked);
    pw_lanes_give(&w->wait_lanes, track, k->begun);
    record(w, k, "wait for a walker", track, k->asked, k->begun);
}

static void record_finish(struct pw_walker *w, const struct walk *k, pw_cycle now)
{
    pw_lanes_give(&w->walk_lanes, k->next, now);
    record(w, k, "walk", k->next, k->begun, now);
}

/* Starts the read of the present level, with the request of the one before or NULL. */
static void step(struct pw_walker *w, uint32_t id, struct pw_request *r, pw_cycle now);

/* What the walk has come upon. Only a page that was there when it began and has not changed since need not be asked for
 * again. */
static struct pw_translation result(const struct pw_walker *w, const struct walk *k)
{
    const struct pw_page_table *table = w->wiring.tables[k->asid];
    if (k->found.present && k->changes == (uint32_t)table->changes)
        return k->found;
    return pw_page_table_lookup(table, k->vpn);
}

static void finish(struct pw_walker *w, uint32_t id, pw_cycle now)
{
    struct walk *k = &w->walks[id];
    struct pw_walk_counters *c = &w->counters[k->asid];
    c->finished++;
    c->latency += now - k->asked;
    c->queued += k->begun - k->asked;
    c->active += now - k->begun;
    k->state = NOT_WANTED;
    w->active--;
    w->wiring.pressure[k->asid].walks--;
    if (w->wiring.timeline)
        record_finish(w, k, now);
    w->wiring.done(w->wiring.client, id, result(w, k), now);
}

static void finish_event(void *object, uint64_t id, pw_cycle now);

/* Goes down the page table once, for all that the walk is about to read. */
static void plan(const struct pw_walker *w, struct walk *k)
{
    const struct pw_page_table *table = w->wiring.tables[k->asid];
    pw_paddr reads[PW_TABLE_LEVELS];
    k->count = (uint8_t)pw_page_table_walk(table, k->vpn, reads, &k->found);
    k->changes = (uint32_t)table->changes;
    k->level = 0;
    for (unsigned i = 0; w->config.gpu && i < k->count; i++)
        reads[i] = pw_table_copy_place(table, w->config.gpu, reads[i]);
    for (unsigned i = 0; i < k->count; i++) {
        k->lines[i] = (uint32_t)(reads[i].v >> PW_LINE_SHIFT);
        k->offsets[i] = (uint8_t)(reads[i].v % PW_LINE_BYTES);
    }
}

static void begin(struct pw_walker *w, uint32_t id, pw_cycle now)
{
    struct walk *k = &w->walks[id];
    w->active++;
    if (w->active > w->most_active)
        w->most_active = w->active;
    k->begun = now;
    k->state = WALKING;
    if (w->wiring.timeline)
        record_begin(w, k);
    if (w->config.walk.model == PW_WALK_FIXED) {
        pw_events_post(w->wiring.events, now + w->config.walk.latency, finish_event, w, id);
        return;
    }
    plan(w, k);
    step(w, id, NULL, now);
}

static void begin_queued(struct pw_walker *w, pw_cycle now)
{
    while (w->queued && w->active < w->config.walk.walkers) {
        uint32_t id = w->queue_first;
        w->queue_first = w->walks[id].next;
        w->queued--;
        begin(w, id, now);
    }
}

static void finish_event(void *object, uint64_t id, pw_cycle now)
{
    finish(object, (uint32_t)id, now);
    begin_queued(object, now);
}

static void read_memory(struct pw_walker *w, uint32_t id, struct pw_request *r, pw_cycle at)
{
    const struct walk *k = &w->walks[id];
    if (!r) {
        r = pw_request_take(w->wiring.pool);
        *r = (struct pw_request){.owner = id, .kind = PW_REQUEST_WALK, .app = k->asid};
    }
    r->line = k->lines[k->level];
    r->sectors = (uint8_t)(1U << k->offsets[k->level] / PW_SECTOR_BYTES);
    r->level = pw_depth_tag(k->level + 1U) & 7U;
    w->counters[k->asid].reads++;
    pw_memory_send_direct(w->wiring.memory, r, at + w->config.walk.distance);
}

static void next_level(struct pw_walker *w, uint32_t id, struct pw_request *r, pw_cycle now)
{
    if (++w->walks[id].level < w->walks[id].count) {
        step(w, id, r, now);
        return;
    }
    if (r)
        pw_request_give(w->wiring.pool, r);
    finish_event(w, id, now);
}

static void cache_hit(void *object, uint64_t id, pw_cycle now)
{
    next_level(object, (uint32_t)id, NULL, now);
}

static uint32_t cache_line(const struct pw_walker *w, const struct walk *k)
{
    uint64_t address = (uint64_t)k->lines[k->level] << PW_LINE_SHIFT | k->offsets[k->level];
    return (uint32_t)(address >> w->cache_shift);
}

static void probe_cache(struct pw_walker *w, uint32_t id, struct pw_request *r, pw_cycle now)
{
    const struct walk *k = &w->walks[id];
    struct pw_port *port = pw_port_free_first(w->cache_ports, w->config.cache.ports);
    pw_cycle answer = pw_port_receive(port, now, 1) + w->config.cache.latency;
    uint32_t line = cache_line(w, k);
    struct pw_way way = pw_cache_find(&w->cache, line, line);
    w->counters[k->asid].cache_lookups++;
    if (way.at >= 0) {
        w->counters[k->asid].cache_hits++;
        pw_way_use(way);
        if (r)
            pw_request_give(w->wiring.pool, r);
        pw_events_post(w->wiring.events, answer, cache_hit, w, id);
    } else {
        w->counters[k->asid].cache_misses++;
        read_memory(w, id, r, answer);
    }
}

static void step(struct pw_walker *w, uint32_t id, struct pw_request *r, pw_cycle now)
{
    if (w->config.cache.enabled)
        probe_cache(w, id, r, now);
    else
        read_memory(w, id, r, now);
}

/* The entry of the present level is at the walker. */
static void take_entry(void *walker, uint64_t request, pw_cycle now)
{
    struct pw_walker *w = walker;
    struct pw_request *r = (struct pw_request *)(uintptr_t)request;
    if (w->config.cache.enabled) {
        uint32_t line = cache_line(w, &w->walks[r->owner]);
        struct pw_way way = pw_cache_find(&w->cache, line, line);
        struct pw_victim victim;
        if (way.at < 0)
            pw_cache_replace(&w->cache, way, line, &victim);
    }
    next_level(w, r->owner, r, now);
}

void pw_walker_read_done(void *walker, struct pw_request *r, pw_cycle now)
{
    struct pw_walker *w = walker;
    if (w->config.walk.distance)
        pw_events_post(w->wiring.events, now + w->config.walk.distance, take_entry, w, (uintptr_t)r);
    else
        take_entry(w, (uintptr_t)r, now);
}

void pw_walker_start(struct pw_walker *w, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    struct walk *k = &w->walks[id];
    k->vpn = vpn;
    k->asid = asid;
    k->asked = now;
    k->next = NO_WALK;
    k->state = QUEUED;
    w->counters[asid].count++;
    w->wiring.pressure[asid].walks++;
    if (w->queued)
        w->walks[w->queue_last].next = id;
    else
        w->queue_first = id;
    w->queue_last = id;
    w->queued++;
    begin_queued(w, now);
}

enum pw_status pw_walker_create(const struct pw_walker_config *config, const struct pw_walker_wiring *wiring,
                                struct pw_walker **out, struct pw_error *err)
{
    struct pw_walker *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return pw_fail_memory(err, "page walker");
    w->config = *config;
    w->wiring = *wiring;
    w->cache_shift = (uint32_t)__builtin_ctzll(config->cache.line_bytes);
    w->walks = aligned_alloc(_Alignof(struct walk), config->walks * sizeof *w->walks);
    w->counters = calloc(config->apps, sizeof *w->counters);
    w->open = calloc(config->apps, sizeof *w->open);
    enum pw_status status = PW_OK;
    if (!w->walks || !w->counters || !w->open)
        status = pw_fail_memory(err, "page walker");
    if (w->walks)
        memset(w->walks, 0, config->walks * sizeof *w->walks);
    if (wiring->timeline) {
        uint32_t group = pw_timeline_group(wiring->timeline, "Page walker");
        w->walk_lanes = (struct pw_lanes){.timeline = wiring->timeline, .group = group, .name = "walker"};
        group = pw_timeline_group(wiring->timeline, "Walk queue");
        w->wait_lanes = (struct pw_lanes){.timeline = wiring->timeline, .group = group, .name = "place"};
    }
    if (status == PW_OK && config->cache.enabled)
        status = pw_cache_init(&w->cache, "pwc", config->cache.bytes >> w->cache_shift, config->cache.ways, err);
    if (status != PW_OK) {
        pw_walker_destroy(w);
        return status;
    }
    *out = w;
    return PW_OK;
}

void pw_walker_destroy(struct pw_walker *w)
{
    if (!w)
        return;
    pw_cache_release(&w->cache);
    pw_lanes_release(&w->walk_lanes);
    pw_lanes_release(&w->wait_lanes);
    free(w->walks);
    free(w->counters);
    free(w->open);
    free(w);
}

void pw_walker_register(struct pw_walker *w, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, w->counters, sizeof *w->counters,                                        \
                     offsetof(struct pw_walk_counters, field))
    COUNTER("walk.count", "walks", count, "Page walks asked for.");
    COUNTER("walk.finished", "walks", finished, "Page walks that have ended.");
    pw_stats_counter(stats, "walk.under_way", "walks", "Page walks that have not ended, at the end.", w->open,
                     sizeof *w->open, offsetof(struct walks_open, count));
    pw_stats_level(stats, "walk.under_way");
    COUNTER("walk.reads", "reads", reads, "Page-table reads sent to the L2 cache.");
    COUNTER("walk.latency_sum", "cycles", latency, NULL);
    COUNTER("walk.queue_sum", "cycles", queued, NULL);
    COUNTER("walk.active_sum", "cycles", active, NULL);
    COUNTER("walk.walker_cycles", "cycles", active, NULL);
    pw_stats_further_place(stats, "walk.walker_cycles", w->open, sizeof *w->open, offsetof(struct walks_open, active));
    COUNTER("walk.warps_stalled_sum", "warps", warps_stalled, NULL);
    COUNTER("walk.sms_stalled_sum", "SMs", sms_stalled, NULL);
    pw_stats_ratio(stats, "walk.latency_mean", "cycles", "Mean time of a walk, from the TLB miss to its end.",
                   "walk.latency_sum", "walk.finished", 1);
    pw_stats_ratio(stats, "walk.queue_mean", "cycles", "The part of it spent waiting for a walker.", "walk.queue_sum",
                   "walk.finished", 1);
    pw_stats_ratio(stats, "walk.concurrent_mean", "walks", "Walks under way at once, averaged over all cycles.",
                   "walk.walker_cycles", "sm.cycles", 1);
    pw_stats_ratio(stats, "walk.warps_stalled_mean", "warps", "Warps that wait for a walk when it ends.",
                   "walk.warps_stalled_sum", "walk.finished", 1);
    pw_stats_ratio(stats, "walk.sms_stalled_mean", "SMs", "SMs in which warps wait for a walk when it ends.",
                   "walk.sms_stalled_sum", "walk.finished", 1);
    pw_stats_counter(stats, "walk.concurrent_max", "walks", "Most walks under way at once, of all applications.",
                     &w->most_active, 0, 0);
    pw_stats_counter(stats, "walk.warps_stalled_max", "warps", "Most warps of one SM that have waited for one walk.",
                     &w->most_warps_stalled, 0, 0);
    pw_stats_maximum(stats, "walk.concurrent_max");
    pw_stats_maximum(stats, "walk.warps_stalled_max");
    COUNTER("pwc.lookups", "lookups", cache_lookups, "Lookups in the page walk cache.");
    COUNTER("pwc.hits", "lookups", cache_hits, "Those that hit.");
    COUNTER("pwc.misses", "lookups", cache_misses, "Those that missed.");
#undef COUNTER
    pw_stats_identity(stats, "walk.count", "walk.finished + walk.under_way");
    pw_stats_identity(stats, "walk.latency_sum", "walk.queue_sum + walk.active_sum");
    pw_stats_identity(stats, "pwc.lookups", "pwc.hits + pwc.misses");
}

void pw_walker_bring_up_to_date(struct pw_walker *w, pw_cycle now)
{
    memset(w->open, 0, w->config.apps * sizeof *w->open);
    for (uint32_t i = 0; w->active + w->queued && i < w->config.walks; i++) {
        const struct walk *k = &w->walks[i];
        if (k->state == NOT_WANTED)
            continue;
        w->open[k->asid].count++;
        w->open[k->asid].active += k->state == WALKING ? now - k->begun : 0;
    }
}

void pw_walker_count_stalled(struct pw_walker *w, pw_asid asid, unsigned warps)
{
    w->counters[asid].warps_stalled += warps;
    w->counters[asid].sms_stalled++;
    if (warps > w->most_warps_stalled)
        w->most_warps_stalled = warps;
    if (warps > w->wiring.pressure[asid].stalled)
        w->wiring.pressure[asid].stalled = warps;
}

void pw_walker_flush_cache(struct pw_walker *w)
{
    if (w->config.cache.enabled)
        pw_cache_clear(&w->cache);
}

void pw_walker_line_written(struct pw_walker *w, uint32_t line)
{
    if (!w->config.cache.enabled)
        return;
    uint32_t parts = PW_LINE_BYTES >> w->cache_shift;
    for (uint32_t i = 0; i < parts; i++) {
        struct pw_way way = pw_cache_find(&w->cache, line * parts + i, line * parts + i);
        if (way.at >= 0)
            pw_cache_drop(&w->cache, way);
    }
}

pw_cycle pw_walker_begun(const struct pw_walker *w, uint32_t id)
{
    return w->walks[id].begun;
}

uint32_t pw_walker_active(const struct pw_walker *w)
{
    return w->active;
}

uint32_t pw_walker_queued(const struct pw_walker *w)
{
    return w->queued;
}
