/* The L1 data cache of an SM, write-through: loads, stores and atomics whose translation is known.
 *
 * A load that misses takes a miss register, or merges into the one its line has, and goes through the crossbar; lines
 * are allocated when their data arrives. Stores go on to the L2 without allocating; a line that is present is dropped
 * (evict, as on Fermi and Kepler) or kept up to date (update, as on Volta). Atomics are done at the L2 and drop the
 * line. All of them leave the SM `latency` cycles after they reached the cache. */
#include "gpu/gpu_internal.h"

const struct pw_option pw_l1d_options[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct pw_l1d_config, bytes), 128, 1 << 30, "16KB", "bytes", NULL,
     "Capacity per SM.", false},
    {"ways", PW_OPTION_COUNT, offsetof(struct pw_l1d_config, ways), 1, 4096, "4", "ways", NULL, "Associativity.",
     false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_l1d_config, latency), 1, 10000, "1", "cycles", NULL,
     "Cycles of a hit; a miss leaves the SM after as many.", false},
    {"mshrs", PW_OPTION_COUNT, offsetof(struct pw_l1d_config, mshrs), 1, 65536, "64", "entries", NULL,
     "Lines that can be outstanding at once.", false},
    {"sectored", PW_OPTION_BOOL, offsetof(struct pw_l1d_config, sectored), 0, 0, "off", "", NULL,
     "Fetch 32-byte sectors on demand instead of whole 128-byte lines.", false},
    {"write", PW_OPTION_CHOICE, offsetof(struct pw_l1d_config, write), 0, 0, "evict", "",
     (const char *const[]){"evict", "update", NULL}, "What a store does to a line that is present.", false},
    {"launch_empties", PW_OPTION_BOOL, offsetof(struct pw_l1d_config, launch_empties), 0, 0, "off", "", NULL,
     "Whether the L1 data caches are emptied at the start of every launch, as on NVIDIA's GPUs.", false},
    {"hashed_sets", PW_OPTION_BOOL, offsetof(struct pw_l1d_config, hashed_sets), 0, 0, "off", "", NULL,
     "Choose a line's set by a hash of its number instead of its lowest bits, so that a stride does not fill one set.",
     false},
    {"carved", PW_OPTION_BOOL, offsetof(struct pw_l1d_config, carved), 0, 0, "off", "", NULL,
     "Whether shared memory comes out of the capacity, at each launch in a size that has room for all CTAs that fit.",
     false},
    {0}};

/* A line of this SM has come to its end. Under sm.serial the last line of a memory instruction makes room for the next
 * one, of any SM: they are asked in turn, from the one behind this on, for the first one asked mostly takes it. */
static void line_finished(struct pw_sm *sm, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    if (--g->lines_outstanding || !g->config.sm.serial)
        return;
    if (g->breakdown)
        pw_breakdown_room(sm, now);
    for (uint32_t i = 0, next = sm->id; i < g->config.sm.count; i++) {
        next = next + 1 == g->config.sm.count ? 0 : next + 1;
        if (g->sms[next].lsu.wanted)
            pw_sm_lsu_has_room(&g->sms[next], now);
    }
}

static void load_complete_event(void *object, uint64_t owner, pw_cycle now)
{
    pw_sm_load_complete(object, (uint32_t)owner, now);
}

void pw_l1_line_done(struct pw_sm *sm, uint32_t owner, pw_cycle at, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_load *load = &sm->warps[owner >> 16].load[owner & 0xffff & (g->config.sm.loads_per_warp - 1)];
    if (at > load->done)
        load->done = at;
    load->lines--;
    if (!load->lines) {
        if (load->done > now)
            pw_events_post(g->wiring.events, load->done, load_complete_event, sm, owner);
        else
            pw_sm_load_complete(sm, owner, now);
    }
    line_finished(sm, now);
}

/* Sends a request to the L2; `e` is the miss register that waits for the answer, if one does. */
static void send(struct pw_sm *sm, struct pw_access access, const struct pw_mshr_entry *e, pw_cycle at)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_request *r = pw_request_take(&g->pool);
    *r = (struct pw_request){.line = access.line,
                             .owner = access.owner,
                             .kind = access.kind & 15U,
                             .sectors = access.sectors,
                             .full = access.full,
                             .source = (uint16_t)sm->id,
                             .app = sm->app,
                             .l1_miss = e ? (uint16_t)pw_mshr_place(&sm->l1_mshr, e) : 0};
    pw_gpu_hold_frame(g, access.line);
    pw_memory_send(g->memory, r, at + g->config.l1d.latency);
}

static bool send_store(struct pw_sm *sm, struct pw_access access, pw_cycle at, enum pw_lsu_wait *out_wait)
{
    struct pw_gpu *g = sm->gpu;
    bool answered = access.owner != PW_NO_OWNER;
    if (!answered && sm->stores_in_flight == g->config.sm.stores) {
        *out_wait = PW_LSU_STORES;
        return false;
    }
    struct pw_way way = pw_cache_find_in(&sm->l1, access.line, pw_l1_set(sm, access.line));
    if (way.at >= 0 && (access.kind == PW_REQUEST_ATOMIC || g->config.l1d.write == PW_L1_EVICT))
        pw_cache_drop(&sm->l1, way);
    g->l1d_counters[sm->app].stores++;
    g->l1d_counters[sm->app].store_sectors += pw_sector_count(access.sectors);
    sm->stores_in_flight += !answered;
    send(sm, access, NULL, at);
    return true;
}

/* A load that misses: into the miss register of its line, fetching the sectors that are not under way. `valid`: those
 * that are there. `absent`: none of the line is in the cache. */
static bool miss(struct pw_sm *sm, struct pw_access access, uint8_t valid, bool absent, pw_cycle at)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_mshr_entry *e = pw_mshr_find(&sm->l1_mshr, access.line);
    if (!e && pw_mshr_full(&sm->l1_mshr))
        return false;
    uint64_t *hits = &g->l1d_counters[sm->app].load_sector_hits;
    *hits += pw_sector_count(access.sectors & (uint8_t)(valid | (e ? e->mask : 0)));
    if (!e) {
        e = pw_mshr_add(&sm->l1_mshr, access.line);
        e->mask = access.sectors;
        e->absent = absent;
        send(sm, access, e, at);
        return true;
    }
    g->l1d_counters[sm->app].merges++;
    struct pw_request *r = pw_request_take(&g->pool);
    *r = (struct pw_request){.owner = access.owner, .sectors = access.sectors};
    pw_mshr_wait(e, r);
    access.sectors &= (uint8_t)~e->mask;
    access.owner = PW_NO_OWNER;
    e->mask |= access.sectors;
    if (access.sectors)
        send(sm, access, e, at);
    return true;
}

bool pw_l1_access(struct pw_sm *sm, struct pw_access access, pw_cycle at, enum pw_lsu_wait *out_wait)
{
    struct pw_gpu *g = sm->gpu;
    if (access.kind != PW_REQUEST_READ)
        return send_store(sm, access, at, out_wait);
    struct pw_l1d_counters *c = &g->l1d_counters[sm->app];
    if (!g->config.l1d.sectored)
        access.sectors = PW_ALL_SECTORS;
    struct pw_way way = pw_cache_find_in(&sm->l1, access.line, pw_l1_set(sm, access.line));
    uint8_t valid = way.at >= 0 ? pw_way_valid(way) : 0;
    bool hit = way.at >= 0 && (valid & access.sectors) == access.sectors;
    if (!hit && !miss(sm, access, valid, way.at < 0, at)) {
        *out_wait = PW_LSU_L1_MSHR;
        return false;
    }
    c->accesses++;
    c->hits += hit;
    c->misses += !hit;
    uint32_t sectors = pw_sector_count(access.sectors);
    c->load_sectors += sectors;
    if (hit) {
        c->load_sector_hits += sectors;
        pw_way_use(way);
        pw_l1_line_done(sm, access.owner, at + g->config.l1d.latency, g->wiring.events->now);
    }
    return true;
}

static void fill(struct pw_sm *sm, struct pw_mshr_entry *e, uint32_t line, uint8_t sectors)
{
    uint32_t set = pw_l1_set(sm, line);
    struct pw_way way = e->absent ? pw_cache_absent_in(&sm->l1, set) : pw_cache_find_in(&sm->l1, line, set);
    e->absent = false;
    if (way.at < 0) {
        struct pw_victim victim;
        way = pw_cache_replace(&sm->l1, way, line, &victim);
    }
    pw_way_set_valid(way, sectors);
    pw_gpu_mark_cached(sm->gpu, sm, line);
}

/* Completes those waiting loads whose sectors have all arrived; the others stay. */
static void wake_waiting(struct pw_sm *sm, struct pw_mshr_entry *e, pw_cycle now)
{
    struct pw_request *r = pw_mshr_take_arrived(e);
    for (struct pw_request *next; r; r = next) {
        next = r->next;
        pw_l1_line_done(sm, r->owner, now, now);
        pw_request_give(&sm->gpu->pool, r);
    }
    if (pw_mshr_arrived(e) == pw_mshr_asked(e))
        pw_mshr_remove(&sm->l1_mshr, e);
}

void pw_l1_expect_reply(void *gpu, const struct pw_request *r)
{
    const struct pw_gpu *g = gpu;
    const struct pw_sm *sm = &g->sms[r->source];
    pw_cache_prefetch(&sm->l1, pw_l1_set(sm, r->line));
    __builtin_prefetch(&sm->l1_mshr.entries[r->l1_miss]);
    pw_mshr_prefetch(&sm->l1_mshr, r->line);
    if (r->owner != PW_NO_OWNER)
        __builtin_prefetch(&sm->warps[r->owner >> 16].load[r->owner & (g->config.sm.loads_per_warp - 1)]);
}

void pw_l1_reply(void *gpu, struct pw_request *r, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    struct pw_sm *sm = &g->sms[r->source];
    if (r->kind == PW_REQUEST_READ) {
        struct pw_mshr_entry *e = &sm->l1_mshr.entries[r->l1_miss];
        fill(sm, e, r->line, r->sectors);
        pw_mshr_arrive(e, r->sectors);
        if (r->owner != PW_NO_OWNER)
            pw_l1_line_done(sm, r->owner, now, now);
        wake_waiting(sm, e, now);
        pw_lsu_resume(sm, PW_LSU_L1_MSHR, now);
    } else {
        pw_l1_line_done(sm, r->owner, now, now);
    }
    pw_gpu_drop_frame(g, r->line, now);
    pw_request_give(&g->pool, r);
}

void pw_l1_stored(void *gpu, struct pw_request *r, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    struct pw_sm *sm = &g->sms[r->source];
    sm->stores_in_flight--;
    g->launches[sm->app].stores_left--;
    pw_gpu_drop_frame(g, r->line, now);
    pw_request_give(&g->pool, r);
    pw_lsu_resume(sm, PW_LSU_STORES, now);
    line_finished(sm, now);
    pw_gpu_launch_maybe_done(g, sm->app, now);
}
