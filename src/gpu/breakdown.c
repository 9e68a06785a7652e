/* Keeps what the breakdown of waiting needs; the rules are in breakdown.h.
 *
 * The history of a miss is the list of its stages, each with its first cycle; a miss that becomes a wait for its page
 * takes it along. A stage can be announced for a time to come (the end of a lookup); one that begins earlier and is
 * noted later takes its place. */
#include "gpu/breakdown.h"

#include "gpu/blocked.h"
#include "gpu/gpu_internal.h"
#include "sim/host_memory.h"

#include <stdlib.h>
#include <string.h>

struct warp_clock {
    pw_cycle started;
    pw_cycle since;  /* the present state began, or will begin */
    uint64_t full;   /* of a ready warp: cycles since then in which the load-store unit had no room for it, */
    uint64_t behind; /* and those of them in which the unit was blocked by a translation */
    uint64_t paused; /* cycles of pauses up to then, or up to its last issue */
};

/* How the last line of a load that had its translation came so far: `parts` from the start of the wait of its warp up
 * to `known`, then `after` up to `entered`, then data. */
struct load_way {
    pw_cycle known, entered;
    uint8_t after;
    uint64_t parts[PW_WARP_TIME_COUNT];
};

struct lsu_head {
    struct pw_miss_history history; /* of the line at the head of the queue, from its first try */
    pw_cycle waits_since;           /* for its translation */
    bool replay_tried;              /* the line that is to be replayed next has been tried */
};

struct pw_breakdown {
    unsigned apps;
    uint32_t sms, warps, loads, misses;
    struct pw_warp_times *times;
    struct warp_clock *clocks;         /* by SM and slot */
    struct load_way *ways;             /* by SM, slot and place of the load */
    struct pw_miss_history *histories; /* by SM and miss register */
    struct lsu_head *heads;            /* by SM */
    /* By SM (where instructions go one at a time, the first for all), of its load-store unit: */
    struct pw_blocked *blocked; /* while its head waits for a translation */
    pw_cycle *full_since;       /* when it became full; PW_NEVER: there is room */
    uint64_t paused;            /* cycles of all pauses, that of the last counted to its end */
};

static const char *const names[] = {
#define NAME(constant, name, help) "warp." name,
    PW_WARP_TIMES(NAME)
#undef NAME
};

static const char *const helps[] = {
#define HELP(constant, name, help) help,
    PW_WARP_TIMES(HELP)
#undef HELP
};

enum pw_status pw_breakdown_create(const struct pw_gpu_config *config, unsigned apps, struct pw_breakdown **out,
                                   struct pw_error *err)
{
    struct pw_breakdown *b = *out = calloc(1, sizeof *b);
    if (!b)
        return pw_fail_memory(err, "breakdown");
    b->apps = apps;
    b->sms = config->sm.count;
    b->warps = config->sm.warps;
    b->loads = config->sm.loads_per_warp;
    b->misses = config->l1_tlb.tlb.mshrs;
    b->times = calloc(apps, sizeof *b->times);
    b->clocks = calloc((size_t)b->sms * b->warps, sizeof *b->clocks);
    b->ways = pw_host_memory((size_t)b->sms * b->warps * b->loads, sizeof *b->ways);
    b->histories = calloc((size_t)b->sms * b->misses, sizeof *b->histories);
    b->heads = calloc(b->sms, sizeof *b->heads);
    b->blocked = calloc(b->sms, sizeof *b->blocked);
    b->full_since = calloc(b->sms, sizeof *b->full_since);
    if (!b->times || !b->clocks || !b->ways || !b->histories || !b->heads || !b->blocked || !b->full_since)
        return pw_fail_memory(err, "breakdown");
    for (uint32_t i = 0; i < b->sms; i++)
        b->full_since[i] = PW_NEVER;
    return PW_OK;
}

void pw_breakdown_destroy(struct pw_breakdown *b)
{
    if (!b)
        return;
    for (size_t i = 0; b->histories && i < (size_t)b->sms * b->misses; i++)
        pw_miss_history_free(&b->histories[i]);
    for (uint32_t i = 0; b->heads && i < b->sms; i++)
        pw_miss_history_free(&b->heads[i].history);
    for (uint32_t i = 0; b->blocked && i < b->sms; i++)
        pw_blocked_free(&b->blocked[i]);
    free(b->times);
    free(b->clocks);
    pw_host_memory_free(b->ways);
    free(b->histories);
    free(b->heads);
    free(b->blocked);
    free(b->full_since);
    free(b);
}

static enum pw_status check_stays(void *breakdown, struct pw_error *err)
{
    const struct pw_breakdown *b = breakdown;
    for (unsigned app = 0; app < b->apps; app++) {
        for (size_t i = 0; i < PW_WARP_TIME_COUNT; i++)
            if (b->times[app].cycles[i] > b->times[app].stays)
                return pw_fail(err, PW_FAILED, "app%u: %s is longer than all stays of its warps", app, names[i]);
        if (b->times[app].resident != b->times[app].stays)
            return pw_fail(err, PW_FAILED, "warps of app%u were resident for %llu cycles, and their states took %llu",
                           app, (unsigned long long)b->times[app].stays, (unsigned long long)b->times[app].resident);
    }
    return PW_OK;
}

void pw_breakdown_register(struct pw_breakdown *b, struct pw_stats *stats)
{
    char sum[512] = "";
    pw_stats_counter(stats, "warp.resident", "cycles",
                     "Cycles of all warps, from start to exit; the parts follow. Only with --breakdown.", b->times,
                     sizeof *b->times, offsetof(struct pw_warp_times, resident));
    for (size_t i = 0; i < PW_WARP_TIME_COUNT; i++) {
        pw_stats_counter(stats, names[i], "cycles", helps[i], b->times, sizeof *b->times,
                         offsetof(struct pw_warp_times, cycles) + i * sizeof b->times->cycles[0]);
        strcat(strcat(sum, i ? " + " : ""), names[i]);
    }
    pw_stats_identity(stats, "warp.resident", sum);
    pw_stats_identity_check(stats, "the states of warps add up to their stay", check_stays, b);
}

static struct warp_clock *clock_of(const struct pw_sm *sm, uint32_t slot)
{
    struct pw_breakdown *b = sm->gpu->breakdown;
    return &b->clocks[(size_t)sm->id * b->warps + slot];
}

static struct load_way *way_of(const struct pw_sm *sm, uint32_t owner)
{
    const struct pw_breakdown *b = sm->gpu->breakdown;
    return &b->ways[((size_t)sm->id * b->warps + (owner >> 16)) * b->loads + (owner & 0xffff & (b->loads - 1))];
}

static struct pw_miss_history *history_of(const struct pw_sm *sm, const struct pw_mshr_entry *miss)
{
    const struct pw_breakdown *b = sm->gpu->breakdown;
    return &b->histories[(size_t)sm->id * b->misses + pw_mshr_place(&sm->tlb_mshr, miss)];
}

static struct pw_miss_history *history_of_page(const struct pw_sm *sm, uint64_t page)
{
    struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, page);
    return wait ? &wait->history : history_of(sm, pw_mshr_find(&sm->tlb_mshr, page));
}

/* Where instructions go one at a time, all SMs wait for the same one. */
static uint32_t unit_of(const struct pw_sm *sm)
{
    return sm->gpu->config.sm.serial ? 0 : sm->id;
}

static struct pw_blocked *blocked_of(const struct pw_sm *sm)
{
    return &sm->gpu->breakdown->blocked[unit_of(sm)];
}

static struct pw_warp_times *times_of(const struct pw_sm *sm)
{
    return &sm->gpu->breakdown->times[sm->app];
}

/* The part of [from, to) that is not before `since`. */
static uint64_t part(pw_cycle since, pw_cycle from, pw_cycle to)
{
    from = from > since ? from : since;
    return to > from ? to - from : 0;
}

static void note(struct pw_sm *sm, struct pw_miss_history *h, enum pw_warp_time time, pw_cycle from)
{
    while (h->count && h->steps[h->count - 1].from >= from)
        h->count--;
    if (h->count && h->steps[h->count - 1].time == time)
        return;
    if (h->count == h->capacity) {
        uint32_t capacity = h->capacity ? 2 * h->capacity : 8;
        struct pw_miss_step *steps = realloc(h->steps, capacity * sizeof *steps);
        if (!steps) {
            pw_events_out_of_memory(sm->gpu->wiring.events);
            return;
        }
        h->steps = steps;
        h->capacity = capacity;
    }
    h->steps[h->count++] = (struct pw_miss_step){from, (uint8_t)time};
}

/* Cuts [from, to) out of a history, as far as it is not before `since`. */
static void cut(const struct pw_miss_history *h, pw_cycle since, pw_cycle from, pw_cycle to, uint64_t *parts)
{
    for (uint32_t i = 0; i < h->count; i++) {
        pw_cycle begin = h->steps[i].from > from ? h->steps[i].from : from;
        pw_cycle end = i + 1 < h->count && h->steps[i + 1].from < to ? h->steps[i + 1].from : to;
        parts[h->steps[i].time] += part(since, begin, end);
    }
}

void pw_breakdown_pause(struct pw_breakdown *b, uint64_t cycles)
{
    b->paused += cycles;
}

static uint64_t paused_before(const struct pw_gpu *g, pw_cycle now)
{
    return g->breakdown->paused - (g->paused_until > now ? g->paused_until - now : 0);
}

/* The warp is ready, or waits for something else, from now on. */
static void begin_state(struct pw_sm *sm, struct warp_clock *c, pw_cycle now)
{
    c->since = now;
    c->paused = paused_before(sm->gpu, now);
}

void pw_breakdown_start(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct warp_clock *c = clock_of(sm, slot);
    *c = (struct warp_clock){.started = now};
    begin_state(sm, c, now);
}

void pw_breakdown_issue(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    const struct pw_gpu *g = sm->gpu;
    const struct pw_op *op = pw_next_op(&sm->warps[slot]);
    struct warp_clock *c = clock_of(sm, slot);
    struct pw_warp_times *t = times_of(sm);
    bool compute = op->kind == PW_OP_COMPUTE;
    uint32_t count = compute && g->schedule->greedy ? op->count_or_mask : 1;
    bool last = compute && op->count_or_mask == count;
    uint64_t result =
        compute ? pw_sm_result_wait(sm, count, last) : 0; /* after the cycle in which the last one issues */
    uint64_t rest = now - c->since - c->full, paused = g->breakdown->paused - c->paused;
    paused = paused < rest ? paused : rest;
    t->cycles[PW_TIME_LSU_FULL] += c->full - c->behind;
    t->cycles[PW_TIME_LSU_FULL_TLB] += c->behind;
    t->cycles[PW_TIME_PAUSED] += paused;
    t->cycles[PW_TIME_NOT_CHOSEN] += rest - paused;
    t->cycles[PW_TIME_ISSUE] += count;
    t->cycles[PW_TIME_DEPENDENCY] += result;
    t->resident += now - c->since + count + result;
    c->full = c->behind = 0;
    c->paused = g->breakdown->paused;
    c->since = now + count + result;
    if (op->kind == PW_OP_EXIT)
        t->stays += now + 1 - c->started;
}

void pw_breakdown_released(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct warp_clock *c = clock_of(sm, slot);
    if (c->since >= now) /* it arrived in this cycle */
        return;
    times_of(sm)->cycles[PW_TIME_BARRIER] += now - c->since;
    times_of(sm)->resident += now - c->since;
    begin_state(sm, c, now);
}

void pw_breakdown_loaded(struct pw_sm *sm, uint32_t owner, pw_cycle now)
{
    struct warp_clock *c = clock_of(sm, owner >> 16);
    const struct load_way *way = way_of(sm, owner);
    struct pw_warp_times *t = times_of(sm);
    /* A line that merges into a miss of the L1 cache can have its data before its own lookup has ended. */
    pw_cycle entered = way->entered < now ? way->entered : now;
    if (c->since >= now) /* its arithmetic takes longer than the load */
        return;
    for (size_t i = 0; way->known > c->since && i < PW_WARP_TIME_COUNT; i++)
        t->cycles[i] += way->parts[i];
    t->cycles[way->after] += part(c->since, way->known, entered);
    t->cycles[PW_TIME_DATA] += part(c->since, entered, now);
    t->resident += now - c->since;
    begin_state(sm, c, now);
}

/* The load-store unit had no room from `from` to `to`: so long ready warps with a memory instruction could not
 * issue. */
static void charge_full(struct pw_sm *sm, pw_cycle from, pw_cycle to)
{
    uint64_t ready = 0;
    for (uint32_t i = 0; i < sm->gpu->config.sm.schedulers; i++)
        ready |= sm->schedulers[i].ready;
    for (uint64_t slots = ready & sm->memory_next; slots; slots &= slots - 1) {
        struct warp_clock *c = clock_of(sm, (uint32_t)__builtin_ctzll(slots));
        c->full += part(c->since, from, to);
        c->behind += pw_blocked_within(blocked_of(sm), c->since > from ? c->since : from, to);
    }
}

void pw_breakdown_room(struct pw_sm *sm, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    pw_cycle *since = &g->breakdown->full_since[unit_of(sm)];
    if (!pw_lsu_has_room(sm)) {
        *since = *since == PW_NEVER ? now : *since;
        return;
    }
    if (*since < now && g->config.sm.serial)
        for (uint32_t i = 0; i < g->config.sm.count; i++)
            charge_full(&g->sms[i], *since, now);
    else if (*since < now)
        charge_full(sm, *since, now);
    *since = PW_NEVER;
}

/* The first cycle of an SM's warps that can still be charged for a wait in the load-store unit. */
static pw_cycle oldest_wait(const struct pw_sm *sm, pw_cycle now)
{
    pw_cycle oldest = now, full = sm->gpu->breakdown->full_since[unit_of(sm)];
    for (uint32_t slot = 0; slot < sm->gpu->config.sm.warps; slot++)
        if (sm->warps[slot].state == PW_WARP_LOADS && clock_of(sm, slot)->since < oldest)
            oldest = clock_of(sm, slot)->since;
    return full < oldest ? full : oldest;
}

/* The head of the queue waits for a translation from now on. */
static void block(struct pw_sm *sm, pw_cycle now)
{
    const struct pw_gpu *g = sm->gpu;
    struct pw_blocked *b = blocked_of(sm);
    if (!pw_blocked_has_room(b)) {
        pw_cycle oldest = now;
        for (uint32_t i = 0; i < g->config.sm.count; i++)
            if (unit_of(&g->sms[i]) == unit_of(sm)) {
                pw_cycle one = oldest_wait(&g->sms[i], now);
                oldest = one < oldest ? one : oldest;
            }
        if (!pw_blocked_make_room(b, oldest)) {
            pw_events_out_of_memory(g->wiring.events);
            return;
        }
    }
    pw_blocked_begin(b, now);
}

void pw_breakdown_lsu_waits(struct pw_sm *sm, bool replay, pw_cycle now)
{
    struct lsu_head *head = &sm->gpu->breakdown->heads[sm->id];
    if (replay) {
        pw_breakdown_replayed(sm, sm->lsu.replay.first->owner, now);
        head->replay_tried = true;
        return;
    }
    bool translated = sm->lsu.wait == PW_LSU_L1_MSHR || sm->lsu.wait == PW_LSU_STORES;
    note(sm, &head->history, translated ? PW_TIME_DATA : PW_TIME_L1_TLB, now);
    head->waits_since = now;
    if (translated)
        pw_blocked_end(blocked_of(sm), now);
    else
        block(sm, now);
}

/* A line of a load has its translation; returns its way, to be filled in, or NULL: its warp does not wait. */
static struct load_way *begin_way(struct pw_sm *sm, uint32_t owner, enum pw_warp_time after, pw_cycle known,
                                  pw_cycle entered)
{
    struct load_way *way = way_of(sm, owner);
    way->known = known;
    way->entered = entered;
    way->after = (uint8_t)after;
    if (sm->warps[owner >> 16].state != PW_WARP_LOADS)
        return NULL;
    memset(way->parts, 0, sizeof way->parts);
    return way;
}

/* A line waited in the queue from `since` until it was tried, behind others that waited for translations or did not. */
static void queued(const struct pw_sm *sm, pw_cycle since, pw_cycle tried, uint64_t *parts)
{
    parts[PW_TIME_LSU_TLB] = pw_blocked_within(blocked_of(sm), since, tried);
    parts[PW_TIME_LSU] = part(since, 0, tried) - parts[PW_TIME_LSU_TLB];
}

void pw_breakdown_entered(struct pw_sm *sm, uint32_t owner, pw_cycle now)
{
    struct pw_miss_history *h = &sm->gpu->breakdown->heads[sm->id].history;
    if (owner != PW_NO_OWNER) {
        pw_cycle entered = now + sm->gpu->config.l1_tlb.tlb.latency, tried = h->count ? h->steps[0].from : now;
        struct load_way *way = begin_way(sm, owner, PW_TIME_L1_TLB, now, entered);
        pw_cycle since = clock_of(sm, owner >> 16)->since;
        if (way) {
            queued(sm, since, tried, way->parts);
            cut(h, since, tried, now, way->parts);
        }
    }
    if (h->count)
        pw_blocked_end(blocked_of(sm), now);
    h->count = 0;
}

void pw_breakdown_replayed(struct pw_sm *sm, uint32_t owner, pw_cycle now)
{
    struct lsu_head *head = &sm->gpu->breakdown->heads[sm->id];
    if (owner != PW_NO_OWNER && !head->replay_tried)
        way_of(sm, owner)->entered = now;
    head->replay_tried = false;
}

uint32_t pw_breakdown_parked(struct pw_sm *sm, pw_cycle *joined)
{
    struct lsu_head *head = &sm->gpu->breakdown->heads[sm->id];
    struct pw_miss_history *h = &head->history;
    pw_blocked_end(blocked_of(sm), *joined);
    *joined = sm->lsu.stalled ? head->waits_since : *joined;
    pw_cycle tried = h->count ? h->steps[0].from : *joined;
    h->count = 0;
    return (uint32_t)(*joined - tried);
}

void pw_breakdown_miss(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now)
{
    struct pw_miss_history *h = history_of(sm, miss);
    h->count = 0;
    note(sm, h, PW_TIME_L2_TLB, now + sm->gpu->config.l1_tlb.tlb.latency);
}

void pw_breakdown_faulted(struct pw_sm *sm, const struct pw_mshr_entry *miss, struct pw_fault_wait *wait)
{
    struct pw_miss_history *h = history_of(sm, miss);
    wait->history = *h;
    *h = (struct pw_miss_history){0};
}

void pw_breakdown_write_waits(struct pw_sm *sm, struct pw_fault_wait *wait, pw_cycle now)
{
    note(sm, &wait->history, PW_TIME_FAR_FAULT, now + sm->gpu->config.l1_tlb.tlb.latency);
}

void pw_breakdown_stage(void *gpu, uint32_t sm_id, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from)
{
    static const uint8_t times[] = {[PW_MISS_L2_TLB] = PW_TIME_L2_TLB,
                                    [PW_MISS_WALK_QUEUE] = PW_TIME_WALK_QUEUE,
                                    [PW_MISS_WALK] = PW_TIME_WALK_MEMORY,
                                    [PW_MISS_FAR_FAULT] = PW_TIME_FAR_FAULT};
    struct pw_gpu *g = gpu;
    struct pw_sm *sm = &g->sms[sm_id];
    struct pw_miss_history *h = history_of_page(sm, vpn.v >> g->page_order);
    if (stage == PW_MISS_WALK && h->count && h->steps[h->count - 1].from > from)
        from = h->steps[h->count - 1].from; /* it has joined a walk that had begun */
    note(sm, h, times[stage], from);
}

/* The way of a line that was parked until now. */
static void parked_way(struct pw_sm *sm, const struct pw_miss_history *h, const struct pw_parked_line *r, pw_cycle now)
{
    struct load_way *way = r->owner == PW_NO_OWNER ? NULL : begin_way(sm, r->owner, PW_TIME_LSU, now, now);
    if (!way)
        return;
    pw_cycle since = clock_of(sm, r->owner >> 16)->since;
    pw_cycle joined = now - (uint32_t)((uint32_t)now - r->since);
    pw_cycle tried = joined - r->waited;
    pw_cycle looked_up = joined + sm->gpu->config.l1_tlb.tlb.latency;
    queued(sm, since, tried, way->parts);
    way->parts[PW_TIME_L1_TLB] = part(since, tried, looked_up < now ? looked_up : now);
    cut(h, since, looked_up, now, way->parts);
}

void pw_breakdown_translated(struct pw_sm *sm, uint64_t page, const struct pw_tlb_waiting *waiting, bool head,
                             pw_cycle now)
{
    const struct pw_miss_history *h = history_of_page(sm, page);
    struct lsu_head *lsu = &sm->gpu->breakdown->heads[sm->id];
    for (const struct pw_parked_line *r = waiting->parked.first; r; r = r->next)
        parked_way(sm, h, r, now);
    if (!head)
        return;
    pw_cycle looked_up = lsu->waits_since + sm->gpu->config.l1_tlb.tlb.latency;
    for (uint32_t i = 0; i < h->count; i++)
        note(sm, &lsu->history, h->steps[i].time, h->steps[i].from > looked_up ? h->steps[i].from : looked_up);
    note(sm, &lsu->history, PW_TIME_LSU, now);
    pw_blocked_end(blocked_of(sm), now);
}
