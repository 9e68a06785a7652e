/* L2 slices: acceptance, lookup, miss and fill. The model is described in l2.h; wiring and options are in memory.c. */
#include "mem/memory_internal.h"

/* Answers a request that sends nothing back to an SM: a store, an atomic without a result, the page manager's. */
static bool answer_here(struct pw_memory *m, struct pw_request *r, pw_cycle now)
{
    if (r->kind == PW_REQUEST_MANAGER_READ) {
        m->pending--;
        m->clients.managed(m->clients.manager, r, now);
        return true;
    }
    if (r->owner != PW_NO_OWNER)
        return false;
    m->pending--;
    m->clients.stored(m->clients.sms, r, now);
    return true;
}

/* Answers a request whose data is at hand. */
void pw_slice_answer(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_slice *s = object;
    struct pw_request *r = (struct pw_request *)(uintptr_t)argument;
    struct pw_memory *m = s->memory;
    if (__builtin_expect(r->foreign, 0)) {
        pw_peer_answer(s, r, now);
    } else if (__builtin_expect(r->kind == PW_REQUEST_COPY, 0)) {
        pw_copy_send(s, r, now);
    } else if (r->kind == PW_REQUEST_WALK) {
        m->pending--;
        m->clients.walk_read(m->clients.walker, r, now);
    } else if (r->kind == PW_REQUEST_READ || !answer_here(m, r, now)) {
        uint32_t flits = m->flits[__builtin_popcount(r->sectors)];
        pw_cycle arrival = pw_port_send(&s->down, now, flits, m->config.crossbar.latency);
        pw_events_post(m->events, arrival, pw_memory_arrive_at_sm, m, argument);
        m->clients.expect_reply(m->clients.sms, r);
    }
}

static struct pw_l2_queue *queue_of(const struct pw_slice *s, const struct pw_request *r)
{
    return &s->memory->counters[r->app].queues[r->level != 0];
}

__attribute__((noinline)) static void count_wait(const struct pw_slice *s, const struct pw_request *r, uint64_t cycles)
{
    queue_of(s, r)->cycles += cycles;
}

/* Takes the port that is free first; returns when the lookup starts. */
static pw_cycle take_port(struct pw_slice *s, const struct pw_request *r, pw_cycle now)
{
    struct pw_port *best = pw_port_free_first(s->ports, s->memory->config.l2.ports);
    pw_cycle start = now > best->free ? now : best->free;
    best->free = start + s->memory->lookup[r->sectors];
    if (__builtin_expect(start != now, 0))
        count_wait(s, r, start - now);
    return start;
}

/* So many more requests wait for a miss register, or fewer. */
static void count_blocked(const struct pw_slice *s, const struct pw_request *r, int change, pw_cycle now)
{
    struct pw_l2_queue *q = queue_of(s, r);
    q->cycles += q->blocked * (now - q->since);
    q->since = now;
    q->blocked += (uint64_t)(int64_t)change;
}

__attribute__((noinline)) void pw_slice_write_back(struct pw_slice *s, const struct pw_victim *victim, pw_asid app,
                                                   pw_cycle now)
{
    struct pw_memory *m = s->memory;
    struct pw_request *r = pw_request_take(m->pool);
    *r = (struct pw_request){.line = victim->line,
                             .kind = PW_REQUEST_WRITEBACK,
                             .slice = s->index,
                             .sectors = m->config.l2.sectored ? victim->dirty : PW_ALL_SECTORS,
                             .app = app};
    m->counters[app].writebacks++;
    m->pending++;
    pw_memory_to_dram(s, r, now);
}

/* The way of a line, allocated (and its victim written back) when it has none; most recently used then. */
static inline __attribute__((always_inline)) struct pw_way way_for(struct pw_slice *s, const struct pw_request *r,
                                                                   struct pw_way w, pw_cycle now)
{
    if (w.at >= 0)
        return pw_way_use(w);
    struct pw_victim victim;
    w = pw_cache_replace(&s->cache, w, r->line, &victim);
    if (victim.dirty)
        pw_slice_write_back(s, &victim, r->app, now);
    return w;
}

static inline __attribute__((always_inline)) void count_access(struct pw_slice *s, const struct pw_request *r, bool hit)
{
    struct pw_l2_counters *c = &s->memory->counters[r->app];
    c->accesses[r->level]++;
    c->hits[r->level] += hit;
    c->misses += !hit;
}

/* Sectors that loads ask for, and those that are valid or that the miss register of the line has under way. */
static inline __attribute__((always_inline)) void count_sectors(struct pw_slice *s, const struct pw_request *r,
                                                                uint8_t present)
{
    if (r->kind != PW_REQUEST_READ && r->kind != PW_REQUEST_COPY)
        return;
    struct pw_l2_counters *c = &s->memory->counters[r->app];
    c->read_sectors += pw_sector_count(r->sectors);
    c->read_sector_hits += pw_sector_count(r->sectors & present);
}

void pw_slice_count(struct pw_slice *s, const struct pw_request *r, bool hit, uint8_t present)
{
    count_access(s, r, hit);
    count_sectors(s, r, present);
    if (r->kind == PW_REQUEST_WRITE)
        s->memory->counters[r->app].write_sectors += pw_sector_count(r->sectors);
}

pw_cycle pw_slice_take_port(struct pw_slice *s, const struct pw_request *r, pw_cycle now)
{
    return take_port(s, r, now);
}

struct pw_way pw_slice_way_for(struct pw_slice *s, const struct pw_request *r, struct pw_way w, pw_cycle now)
{
    return way_for(s, r, w, now);
}

static void tell(const struct pw_memory *m, const struct pw_request *r, enum pw_l2_outcome outcome)
{
    if (m->walks->happened)
        m->walks->happened(m->walks_state, r->app, r->level, outcome);
}

static inline void take_store(struct pw_slice *s, struct pw_request *r, struct pw_way w, pw_cycle now)
{
    struct pw_memory *m = s->memory;
    count_access(s, r, w.at >= 0);
    if (r->kind == PW_REQUEST_WRITE)
        s->memory->counters[r->app].write_sectors += pw_sector_count(r->sectors);
    take_port(s, r, now);
    if (w.at < 0) { /* it will be there when what a miss fetches arrives */
        struct pw_mshr_entry *e = pw_mshr_find(&s->mshr, r->line);
        if (e)
            e->absent = false;
    }
    w = way_for(s, r, w, now);
    pw_way_set_dirty(w, r->sectors);
    pw_way_set_valid(w, r->full);
    if (__builtin_expect(m->half_slices != 0, 0) &&
        (r->foreign || r->kind != PW_REQUEST_WRITE || !pw_slice_is_far(s, r)))
        pw_copy_drop(s, r); /* the half of an SM that has written keeps that */
    if (__builtin_expect(r->foreign, 0)) {
        pw_peer_answer(s, r, now);
        return;
    }
    m->pending--;
    if (__builtin_expect(r->kind == PW_REQUEST_WRITE, 1))
        m->clients.stored(m->clients.sms, r, now);
    else
        m->clients.managed(m->clients.manager, r, now);
}

/* Sends a request on to DRAM at time `at` for `sectors`, which its miss register then has under way. */
static inline void fetch(struct pw_slice *s, struct pw_mshr_entry *e, struct pw_request *r, uint8_t sectors,
                         pw_cycle at)
{
    e->mask |= sectors;
    r->l2_miss = (uint16_t)pw_mshr_place(&s->mshr, e);
    r->awaited = r->sectors;
    r->sectors = sectors;
    pw_memory_to_dram(s, r, at);
}

/* Lets a request wait for a miss that is outstanding, and fetches the sectors that are not under way yet. */
static inline void merge(struct pw_slice *s, struct pw_mshr_entry *e, struct pw_request *r, uint8_t wanted, pw_cycle at)
{
    struct pw_memory *m = s->memory;
    uint8_t missing = wanted & (uint8_t)~e->mask;
    if (missing) {
        struct pw_request *further = pw_request_take(m->pool);
        *further = *r;
        further->kind = PW_REQUEST_FETCH;
        m->pending++;
        fetch(s, e, further, missing, at);
    }
    pw_mshr_wait(e, r);
}

/* Gives a request that is not in the cache a miss register, new or the one of its line, `e`. `absent`: none of the
 * line is in the cache. */
static inline __attribute__((always_inline)) void miss(struct pw_slice *s, struct pw_mshr_entry *e,
                                                       struct pw_request *r, bool fill, bool absent, pw_cycle at)
{
    uint8_t wanted = s->memory->fetched[r->sectors];
    if (e) {
        e->fill |= fill;
        merge(s, e, r, wanted, at);
    } else {
        e = pw_mshr_add(&s->mshr, r->line);
        e->fill = fill;
        e->absent = absent;
        fetch(s, e, r, wanted, at);
    }
}

/* Sends a page-table read past the cache. False when it must wait for a miss register. */
__attribute__((noinline, cold)) static bool bypass(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = s->memory;
    struct pw_mshr_entry *e = pw_mshr_find(&s->mshr, r->line);
    if (!e && pw_mshr_full(&s->mshr))
        return false;
    m->counters[r->app].bypassed[r->level]++;
    tell(m, r, PW_L2_BYPASSED);
    miss(s, e, r, false, false, now);
    return true;
}

/* Looks a request up. False when it must wait for a miss register; nothing has changed then. `asks` is constant:
 * whether there is a policy to ask, and to tell of what happened. */
static inline __attribute__((always_inline)) bool look_up_as(struct pw_slice *s, struct pw_request *r, pw_cycle now,
                                                             const bool asks)
{
    struct pw_memory *m = s->memory;
    enum pw_l2_use use = PW_L2_PROBE_AND_FILL;
    if (asks && r->level && m->walks->use)
        use = m->walks->use(m->walks_state, r->app, r->level);
    if (use == PW_L2_BYPASS)
        return bypass(s, r, now);
    struct pw_way w = pw_cache_find_in(&s->cache, r->line, r->set);
    if (__builtin_expect(r->kind == PW_REQUEST_ATOMIC && m->half_slices, 0))
        pw_copy_drop(s, r);
    if ((r->kind & ~PW_REQUEST_MANAGER) == PW_REQUEST_WRITE) {
        if (asks)
            tell(m, r, w.at >= 0 ? PW_L2_HIT : PW_L2_MISS);
        take_store(s, r, w, now);
        return true;
    }
    if (w.at >= 0 && (pw_way_valid(w) & r->sectors) == r->sectors) {
        count_access(s, r, true);
        count_sectors(s, r, PW_ALL_SECTORS);
        if (asks)
            tell(m, r, PW_L2_HIT);
        w = pw_way_use(w);
        if (r->kind == PW_REQUEST_ATOMIC)
            pw_way_set_dirty(w, r->sectors);
        pw_events_post(m->events, take_port(s, r, now) + m->config.l2.latency, pw_slice_answer, s,
                       (uint64_t)(uintptr_t)r);
        return true;
    }
    struct pw_mshr_entry *e = pw_mshr_find(&s->mshr, r->line);
    if (!e && pw_mshr_full(&s->mshr))
        return false;
    count_access(s, r, false);
    count_sectors(s, r, (uint8_t)((w.at >= 0 ? pw_way_valid(w) : 0) | (e ? e->mask : 0)));
    if (asks)
        tell(m, r, PW_L2_MISS);
    m->counters[r->app].merges += e != NULL;
    miss(s, e, r, use == PW_L2_PROBE_AND_FILL, w.at < 0, take_port(s, r, now) + m->config.l2.latency);
    return true;
}

__attribute__((noinline, cold)) static bool look_up_asking(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    return look_up_as(s, r, now, true);
}

static inline __attribute__((always_inline)) bool look_up(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    return s->asks ? look_up_asking(s, r, now) : look_up_as(s, r, now, false);
}

__attribute__((noinline)) static void block(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    count_blocked(s, r, 1, now);
    pw_request_list_push(&s->blocked, r);
}

void pw_slice_accept(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_slice *s = object;
    struct pw_request *r = (struct pw_request *)(uintptr_t)argument;
    if (__builtin_expect(r->slice != s->index, 0))
        pw_copy_accept(s, r, now);
    else if (s->blocked.first || !look_up(s, r, now))
        block(s, r, now);
}

void pw_slice_arrive(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_slice *s = object;
    const struct pw_request *r = (const struct pw_request *)(uintptr_t)argument;
    uint32_t flits = r->kind == PW_REQUEST_READ ? 1 : s->memory->flits[__builtin_popcount(r->sectors)];
    pw_cycle done = pw_port_receive(&s->up, now, flits);
    if (done > now)
        pw_events_post(s->memory->events, done, pw_slice_accept, s, argument);
    else
        pw_slice_accept(s, argument, now);
}

static void answer_filled(struct pw_slice *s, struct pw_request *r, struct pw_way w, pw_cycle now)
{
    if (r->kind == PW_REQUEST_ATOMIC)
        pw_way_set_dirty(w, r->sectors);
    pw_slice_answer(s, (uint64_t)(uintptr_t)r, now);
}

__attribute__((noinline)) static void serve_blocked(struct pw_slice *s, pw_cycle now)
{
    while (s->blocked.first && !pw_mshr_full(&s->mshr)) {
        struct pw_request *r = pw_request_list_pop(&s->blocked);
        count_blocked(s, r, -1, now);
        look_up(s, r, now);
    }
}

void pw_slice_fill(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    struct pw_mshr_entry *e = &s->mshr.entries[r->l2_miss];
    struct pw_way w = e->absent ? pw_cache_absent_in(&s->cache, r->set) : pw_cache_find_in(&s->cache, r->line, r->set);
    pw_mshr_arrive(e, r->sectors);
    struct pw_request *waiting = pw_mshr_take_arrived(e);
    if (__builtin_expect(e->fill, 1)) {
        w = way_for(s, r, w, now);
        pw_way_set_valid(w, r->sectors);
        e->absent = false;
    } else { /* these are gone: whoever wants them from now on has to fetch them again */
        e->mask &= ~(r->sectors | (uint64_t)r->sectors << PW_MSHR_ARRIVED_SHIFT);
    }
    r->sectors = r->awaited;
    if (r->kind == PW_REQUEST_FETCH) {
        s->memory->pending--;
        pw_request_give(s->memory->pool, r);
    } else {
        answer_filled(s, r, w, now);
    }
    for (struct pw_request *next; waiting; waiting = next) {
        next = waiting->next;
        answer_filled(s, waiting, w, now);
    }
    if (pw_mshr_arrived(e) == pw_mshr_asked(e))
        pw_mshr_remove(&s->mshr, e);
    if (s->blocked.first)
        serve_blocked(s, now);
}
