/* The stages of a page on its way between GPUs. The model is described in moves.h. */
#include "system/moves.h"

#include "sim/key_map.h"
#include "system/system.h"

#include <stdlib.h>

enum stage { INVALIDATING, DRAINING, TRANSFERRING, ARRIVED };

/* A page on its way. */
struct move {
    struct pw_key_link link;
    struct move *next_draining;
    struct pw_moves *moves;
    struct pw_iommu_request *first, *last; /* who waits for it */
    pw_vpn vpn;
    pw_pfn from; /* its frame */
    pw_cycle begun, invalidated, drained;
    pw_asid asid;
    uint8_t to;
    uint8_t stage; /* enum stage */
    uint8_t left;  /* GPUs that have not acknowledged */
};

/* Per application. */
struct counters {
    uint64_t pages, bytes, refused, waited;
    uint64_t invalidating, draining, transferring; /* cycles */
};

struct pw_moves {
    struct pw_system *system;
    bool once;                              /* place.remote = first-touch */
    struct pw_key_map map;                  /* struct move, by page */
    struct move *draining;                  /* those that wait for accesses to end */
    struct pw_touched settled[PW_MAX_APPS]; /* with `once`: pages that stay where they are */
    struct pw_record_pool records;
    struct move reserve[2];
    struct counters *counters;
};

static uint64_t key_of(pw_asid asid, pw_vpn vpn)
{
    return vpn.v << 8 | asid;
}

/* The first 4 KiB page of the page around this one. */
static pw_vpn page_of(const struct pw_moves *m, pw_vpn vpn)
{
    return (pw_vpn){vpn.v >> m->system->spaces[0].order << m->system->spaces[0].order};
}

static struct move *find(const struct pw_moves *m, pw_asid asid, pw_vpn vpn)
{
    return (struct move *)pw_key_map_find(&m->map, key_of(asid, page_of(m, vpn)));
}

bool pw_moves_has(const struct pw_moves *m, pw_asid asid, pw_vpn vpn)
{
    return find(m, asid, vpn) != NULL;
}

static bool is_busy(const struct move *v)
{
    const struct pw_system *s = v->moves->system;
    for (unsigned i = 0; i < s->node_count; i++)
        if (pw_gpu_page_busy(s->nodes[i].gpu, v->from, s->spaces[v->asid].order))
            return true;
    return false;
}

/* Whether the page is still where it was when the move began: its allocation may have been freed since. */
static bool is_there(const struct move *v)
{
    struct pw_translation t = pw_page_table_lookup(v->moves->system->spaces[v->asid].table, v->vpn);
    return t.present && t.frame.v == v->from.v;
}

static void forget_everywhere(const struct move *v)
{
    const struct pw_system *s = v->moves->system;
    enum pw_page_order order = s->spaces[v->asid].order;
    for (unsigned i = 0; i < s->node_count; i++)
        pw_gpu_forget_page(s->nodes[i].gpu, v->asid, v->vpn, v->from, order);
    struct pw_memory *owner = pw_gpu_memory(s->nodes[pw_frame_gpu(&s->nodes[0].physical, v->from)].gpu);
    for (uint32_t i = 0; i < 1U << order; i++)
        pw_memory_forget_frame(owner, v->asid, (pw_pfn){v->from.v + i});
}

/* The page is at its new GPU: everybody hears of it at once. */
static void end(struct move *v, pw_cycle now)
{
    struct pw_moves *m = v->moves;
    struct pw_system *s = m->system;
    struct counters *c = &m->counters[v->asid];
    bool moved = is_there(v) && pw_address_space_move(&s->spaces[v->asid], v->vpn, v->to);
    if (moved)
        forget_everywhere(v);
    c->pages += moved;
    c->bytes += moved ? (uint64_t)PW_PAGE_BYTES << s->spaces[v->asid].order : 0;
    c->refused += !moved;
    c->invalidating += v->invalidated - v->begun;
    c->draining += v->drained - v->invalidated;
    c->transferring += now - v->drained;
    pw_key_map_remove(&m->map, &v->link);
    for (struct pw_iommu_request *r = v->first, *next; r; r = next) {
        next = r->next;
        pw_iommu_answer(s->iommu, r, now);
    }
    pw_record_give(&m->records, v);
}

static void transferred(void *move, uint64_t argument, pw_cycle now);

/* Goes on with a page that nobody accesses. */
static void go_on(struct move *v, pw_cycle now)
{
    const struct pw_system *s = v->moves->system;
    if (v->stage == ARRIVED) {
        end(v, now);
        return;
    }
    v->drained = now;
    v->stage = TRANSFERRING;
    uint32_t bytes = (uint32_t)PW_PAGE_BYTES << s->spaces[v->asid].order;
    pw_fabric_send(s->fabric, pw_frame_gpu(&s->nodes[0].physical, v->from), v->to,
                   s->config.fabric.header_bytes + bytes, now, transferred, v, 0);
}

static void go_on_when_idle(struct move *v, pw_cycle now)
{
    if (!is_busy(v)) {
        go_on(v, now);
        return;
    }
    v->next_draining = v->moves->draining;
    v->moves->draining = v;
}

static void transferred(void *move, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct move *v = move;
    v->stage = ARRIVED;
    go_on_when_idle(v, now);
}

/* An event of its own, since the access that has just ended is still being counted. */
static void drained(void *move, uint64_t argument, pw_cycle now)
{
    (void)argument;
    go_on_when_idle(move, now);
}

void pw_moves_frame_idle(struct pw_moves *m, pw_pfn frame, pw_cycle now)
{
    for (struct move **at = &m->draining; *at;) {
        struct move *v = *at;
        if ((frame.v - v->from.v) >> m->system->spaces[v->asid].order || is_busy(v)) {
            at = &v->next_draining;
            continue;
        }
        *at = v->next_draining;
        pw_events_post(m->system->events, now, drained, v, 0);
    }
}

static void acknowledged(void *move, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct move *v = move;
    if (--v->left)
        return;
    v->invalidated = now;
    v->stage = DRAINING;
    go_on_when_idle(v, now);
}

/* The message is at a GPU. */
static void invalidate(void *move, uint64_t gpu, pw_cycle now)
{
    struct move *v = move;
    const struct pw_system *s = v->moves->system;
    pw_gpu_shootdown(s->nodes[gpu].gpu, v->asid, v->vpn, (pw_vpn){v->vpn.v + (1ULL << s->spaces[v->asid].order)});
    pw_fabric_send(s->fabric, (unsigned)gpu, pw_fabric_host(s->fabric), s->config.fabric.request_bytes, now,
                   acknowledged, v, 0);
}

static void begin(struct pw_moves *m, struct pw_iommu_request *r, pw_pfn from, pw_cycle now)
{
    const struct pw_system *s = m->system;
    struct move *v = pw_record_take(&m->records);
    *v = (struct move){.moves = m,
                       .first = r,
                       .last = r,
                       .vpn = page_of(m, r->vpn),
                       .from = from,
                       .begun = now,
                       .asid = r->asid,
                       .to = r->gpu,
                       .left = (uint8_t)s->node_count};
    pw_key_map_add(&m->map, &v->link, key_of(v->asid, v->vpn));
    for (unsigned i = 0; i < s->node_count; i++)
        pw_fabric_send(s->fabric, pw_fabric_host(s->fabric), i, s->config.fabric.request_bytes, now, invalidate, v, i);
}

/* With `once`, whether the page may move; it never may again. */
static bool settle(struct pw_moves *m, pw_asid asid, pw_vpn vpn)
{
    const struct pw_address_space *space = &m->system->spaces[asid];
    struct pw_touched *t = &m->settled[asid];
    struct pw_error err;
    if (pw_touched_extend(t, space->touched->first, vpn.v + 1, &err) != PW_OK) {
        pw_events_out_of_memory(m->system->events);
        return false;
    }
    uint64_t bytes = t->bytes;
    pw_touch(t, vpn);
    return t->bytes != bytes;
}

bool pw_moves_ask(void *moves, struct pw_iommu_request *r, pw_cycle now)
{
    struct pw_moves *m = moves;
    const struct pw_system *s = m->system;
    struct move *v = find(m, r->asid, r->vpn);
    r->next = NULL;
    if (v) {
        m->counters[r->asid].waited++;
        v->last->next = r;
        v->last = r;
        return true;
    }
    pw_vpn vpn = page_of(m, r->vpn);
    struct pw_translation t = pw_page_table_lookup(s->spaces[r->asid].table, vpn);
    if (!t.present || (m->once && !settle(m, r->asid, vpn)) || pw_frame_gpu(&s->nodes[0].physical, t.frame) == r->gpu)
        return false;
    m->counters[r->asid].waited++;
    begin(m, r, t.frame, now);
    return true;
}

enum pw_status pw_moves_create(struct pw_system *s, struct pw_moves **out, struct pw_error *err)
{
    enum { CHUNK_BYTES = 64 << 10 };
    struct pw_moves *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return pw_fail_memory(err, "moves of pages");
    m->system = s;
    m->once = s->config.place.remote == PW_REMOTE_FIRST_TOUCH;
    m->counters = calloc(s->app_count, sizeof *m->counters);
    pw_record_pool_init(&m->records, s->events, sizeof(struct move), CHUNK_BYTES, m->reserve,
                        sizeof m->reserve / sizeof m->reserve[0]);
    enum pw_status status = m->counters ? PW_OK : pw_fail_memory(err, "moves of pages");
    if (status == PW_OK)
        status = pw_key_map_init(&m->map, "moves of pages", err);
    if (status != PW_OK) {
        pw_moves_destroy(m);
        return status;
    }
    *out = m;
    return PW_OK;
}

void pw_moves_destroy(struct pw_moves *m)
{
    if (!m)
        return;
    pw_key_map_release(&m->map);
    pw_record_pool_destroy(&m->records);
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        pw_touched_release(&m->settled[i]);
    free(m->counters);
    free(m);
}

static enum pw_status check_ended(void *moves, struct pw_error *err)
{
    uint64_t pending = pw_moves_pending(moves);
    if (pending)
        return pw_fail(err, PW_FAILED, "%llu pages are on their way between GPUs", (unsigned long long)pending);
    return PW_OK;
}

void pw_moves_register(struct pw_moves *m, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, "move." name, unit, help, m->counters, sizeof *m->counters,                                \
                     offsetof(struct counters, field))
#define MEAN(name, sum, help) pw_stats_ratio(stats, "move." name, "cycles", help, "move." sum, "move.begun", 1)
    COUNTER("pages", "pages", pages, "Pages that have moved to another GPU while kernels ran.");
    COUNTER("bytes", "bytes", bytes, "Their bytes.");
    COUNTER("refused", "pages", refused, "Pages that were to move and stayed: there was no room, or they were freed.");
    COUNTER("waited", "requests", waited, "Requests to the IOMMU that have waited for a page to move.");
    COUNTER("begun", "pages", pages, NULL);
    pw_stats_further_place(stats, "move.begun", m->counters, sizeof *m->counters, offsetof(struct counters, refused));
    COUNTER("invalidate_sum", "cycles", invalidating, NULL);
    COUNTER("drain_sum", "cycles", draining, NULL);
    COUNTER("transfer_sum", "cycles", transferring, NULL);
    MEAN("invalidate_mean", "invalidate_sum", "Mean time of a move until every GPU has emptied its TLBs of the page.");
    MEAN("drain_mean", "drain_sum", "Mean time from then on until no access to it was in flight.");
    MEAN("transfer_mean", "transfer_sum", "Mean time from then on until it was at its new GPU and mapped there.");
#undef MEAN
#undef COUNTER
    pw_stats_identity_check(stats, "no page is on its way between GPUs", check_ended, m);
}

uint64_t pw_moves_pending(const struct pw_moves *m)
{
    return m->map.count;
}
