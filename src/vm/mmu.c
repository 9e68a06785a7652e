/* Requests to the shared L2 TLB, and its miss registers. The model is described in mmu.h. */
#include "vm/mmu.h"

#include "mem/crossbar.h"
#include "mem/mshr.h"
#include "vm/far_faults.h"

#include <stdio.h>
#include <stdlib.h>

struct pw_mmu {
    struct pw_mmu_config config;
    struct pw_mmu_wiring wiring;
    struct pw_l2_tlb tlb;
    struct pw_walker *walker;
    struct pw_port ports[16];
    uint8_t merge_order; /* misses merge at the smallest page size in use */
    struct pw_mshr mshr;
    struct pw_tlb_requests *misses; /* by miss register, whose place is also the id of the walk */
    struct pw_far_faults far_faults;
    struct pw_record_pool requests; /* struct pw_tlb_request */
    struct pw_tlb_request *reserve;
    struct pw_tlb_request *first_waiting, *last_waiting; /* that found no free miss register */
    uint32_t waiting;
    const struct pw_tlb_request *absent; /* the first of them, once its page is known not to be in the TLB */
    uint32_t shootdowns;                 /* wraps around, long after whatever was under way */
    pw_walked_fn *walked;                /* or NULL */
    void *walk_listener;
    struct pw_tlb_counters *counters;
    uint64_t answers_under_way, requests_under_way;
    struct pw_lanes wait_lanes; /* with a timeline: for those that wait for a miss register */
};

static struct pw_tlb_request *take_request(struct pw_mmu *m, struct pw_tlb_miss miss)
{
    struct pw_tlb_request *r = pw_record_take(&m->requests);
    r->next = NULL;
    r->miss = miss;
    return r;
}

/* Fails the run, since this answer is not the translation of its page. */
static void fail_wrong(struct pw_mmu *m, const struct pw_tlb_request *r)
{
    static const char *const sources[] = {[PW_FROM_L2_TLB] = "the L2 TLB",
                                          [PW_FROM_BYPASS_TLB] = "the bypass cache",
                                          [PW_FROM_WALK] = "a page walk",
                                          [PW_FROM_ARRIVAL] = "the arrival of a page"};
    struct pw_error err;
    pw_frame_is_wrong(m->wiring.tables[r->miss.asid], sources[r->source], r->miss.asid, r->miss.vpn,
                      pw_frame_word(r->answer.frame, r->answer.denied), &err);
    m->wiring.failed(m->wiring.sms, &err);
}

/* The translation that an answer brings. A page that was coalesced meanwhile is where it was, and large by now. */
static struct pw_translation judge_answer(struct pw_mmu *m, const struct pw_tlb_request *r)
{
    const struct pw_page_table *table = m->wiring.tables[r->miss.asid];
    if (r->source >= PW_FROM_WALK && r->changes == (uint32_t)table->changes)
        return r->answer;
    struct pw_translation t = pw_page_table_lookup(table, r->miss.vpn);
    bool same =
        t.present && t.frame.v == r->answer.frame.v && t.denied == r->answer.denied && t.order >= r->answer.order;
    if (__builtin_expect(!same && m->shootdowns == r->shootdowns, false))
        fail_wrong(m, r);
    return t;
}

static void answer_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    struct pw_tlb_request *r = (struct pw_tlb_request *)(uintptr_t)argument;
    struct pw_translation t = judge_answer(m, r);
    struct pw_tlb_miss miss = r->miss;
    bool walked = r->source == PW_FROM_WALK;
    m->answers_under_way--;
    pw_record_give(&m->requests, r); /* the SM may ask again at once */
    unsigned warps = m->wiring.translated(m->wiring.sms, miss, t, now);
    if (walked)
        pw_walker_count_stalled(m->walker, miss.asid, warps);
}

static void send_answer(struct pw_mmu *m, struct pw_tlb_request *r, struct pw_translation translation,
                        enum pw_translation_source source, pw_cycle at)
{
    m->answers_under_way++;
    r->answer = translation;
    r->source = (uint8_t)source;
    r->changes = (uint32_t)m->wiring.tables[r->miss.asid]->changes;
    r->shootdowns = m->shootdowns;
    pw_events_post(m->wiring.events, at + m->config.l2_tlb.distance, answer_arrives, m, (uintptr_t)r);
}

static uint64_t miss_key(const struct pw_mmu *m, pw_asid asid, pw_vpn vpn)
{
    return (vpn.v >> m->merge_order) << 8 | asid;
}

static void start_walk(void *object, uint64_t id, pw_cycle now)
{
    struct pw_mmu *m = object;
    const struct pw_tlb_miss *miss = &m->misses[id].first->miss;
    pw_walker_start(m->walker, (uint32_t)id, miss->asid, miss->vpn, now);
}

/* Says in which stage a miss is, to all SMs that have it. */
static void note_stage(struct pw_mmu *m, const struct pw_tlb_request *first, enum pw_miss_stage stage, pw_cycle from)
{
    for (const struct pw_tlb_request *r = first; r; r = r->next)
        m->wiring.stage(m->wiring.sms, r->miss.sm, r->miss.vpn, stage, from);
}

/* Counts what has become of a miss that did not merge, if it was one of the L2 TLB. */
static void count_answered(struct pw_mmu *m, pw_asid asid, bool present)
{
    struct pw_tlb_counters *c = &m->counters[asid];
    if (m->config.l2_tlb.enabled)
        pw_tlb_count_answered(c, present ? &c->primary : &c->fault_waits);
}

static void count_merge(struct pw_mmu *m, pw_asid asid)
{
    m->counters[asid].merges++;
    m->counters[asid].unanswered -= m->config.l2_tlb.enabled;
}

/* Merges into the page's miss or registers a new one whose walk starts at `at`. False when no register is free. */
static bool register_miss(struct pw_mmu *m, struct pw_tlb_request *r, pw_cycle at)
{
    uint64_t key = miss_key(m, r->miss.asid, r->miss.vpn);
    const struct pw_mshr_entry *outstanding = r == m->absent ? NULL : pw_mshr_find(&m->mshr, key);
    uint32_t id;
    if (outstanding) {
        id = pw_mshr_place(&m->mshr, outstanding);
        count_merge(m, r->miss.asid);
    } else if (pw_mshr_full(&m->mshr)) {
        return false;
    } else {
        id = pw_mshr_place(&m->mshr, pw_mshr_add(&m->mshr, key));
        pw_events_post(m->wiring.events, at, start_walk, m, id);
    }
    pw_tlb_requests_add(&m->misses[id], r);
    if (m->wiring.stage)
        m->wiring.stage(m->wiring.sms, r->miss.sm, r->miss.vpn, PW_MISS_WALK_QUEUE, at);
    return true;
}

static void wait_for_register(struct pw_mmu *m, struct pw_tlb_request *r, pw_cycle now)
{
    r->since = now;
    r->next = NULL;
    if (m->first_waiting)
        m->last_waiting->next = r;
    else
        m->first_waiting = r;
    m->last_waiting = r;
    m->waiting++;
}

static void record_wait(struct pw_mmu *m, const struct pw_tlb_request *r, pw_cycle now)
{
    uint32_t track = pw_lanes_take(&m->wait_lanes, r->since);
    pw_lanes_give(&m->wait_lanes, track, now);
    pw_timeline_record(m->wiring.timeline, &(struct pw_interval){.track = track,
                                                                 .name = "wait for a miss register",
                                                                 .from = r->since,
                                                                 .to = now,
                                                                 .app = r->miss.asid,
                                                                 .has_page = true,
                                                                 .page = r->miss.vpn});
}

static void request_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    struct pw_tlb_request *r = (struct pw_tlb_request *)(uintptr_t)argument;
    m->requests_under_way--;
    pw_cycle looked_up = now;
    if (m->config.l2_tlb.enabled) {
        struct pw_tlb_counters *c = &m->counters[r->miss.asid];
        struct pw_l2_tlb_found found;
        struct pw_port *port = pw_port_free_first(m->ports, m->config.l2_tlb.ports);
        looked_up = pw_port_receive(port, now, 1) + pw_l2_tlb_probe(&m->tlb, &r->miss, &found);
        bool present = found.translation.present;
        c->lookups++;
        c->hits += present;
        c->misses += !present;
        c->unanswered += !present;
        if (m->tlb.bypass.state)
            pw_bypass_tlb_count(&m->tlb.bypass, r->miss.asid, present, found.source == PW_FROM_L2_TLB);
        if (present) {
            send_answer(m, r, found.translation, found.source, looked_up);
            return;
        }
    }
    if (m->first_waiting || !register_miss(m, r, looked_up))
        wait_for_register(m, r, now);
}

void pw_mmu_request(struct pw_mmu *m, struct pw_tlb_miss miss, pw_cycle at)
{
    m->requests_under_way++;
    pw_events_post(m->wiring.events, at + m->config.l2_tlb.distance, request_arrives, m,
                   (uintptr_t)take_request(m, miss));
}

/* Lets those wait no longer that find a free register, a miss to merge into, or by now a translation. The first one for
 * whom there is none of these is remembered: until its page is put into the TLB, a free register is all that it can
 * find, since those behind it must not overtake it. */
static void serve_waiting(struct pw_mmu *m, pw_cycle now)
{
    for (struct pw_tlb_request *r, *next; (r = m->first_waiting) != NULL; m->first_waiting = next) {
        struct pw_l2_tlb_found found = {.translation = {.present = false}};
        bool may_be_there = m->config.l2_tlb.enabled && r != m->absent;
        uint32_t latency = may_be_there ? pw_l2_tlb_probe(&m->tlb, &r->miss, &found) : 0;
        next = r->next;
        if (!found.translation.present && !register_miss(m, r, now)) {
            m->absent = m->tlb.tlb.asks_table ? NULL : r;
            return;
        }
        m->absent = NULL;
        if (m->wiring.timeline)
            record_wait(m, r, now);
        m->waiting--;
        if (!found.translation.present)
            continue;
        count_answered(m, r->miss.asid, true);
        if (m->tlb.bypass.state)
            m->tlb.bypass.counters[r->miss.asid].late++;
        send_answer(m, r, found.translation, found.source, now + latency);
    }
}

/* What goes into the L2 TLB late names its page, the page's size and its address space in one word. */
enum { LATE_ORDER_SHIFT = 8, LATE_VPN_SHIFT = 16 };

static void fill_late(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    (void)now;
    pw_tlb_insert_late(&m->tlb.tlb, (pw_asid)argument, (pw_vpn){argument >> LATE_VPN_SHIFT},
                       (uint8_t)(argument >> LATE_ORDER_SHIFT));
    m->absent = NULL;
}

static void await_late(struct pw_mmu *m, const struct pw_tlb_miss *page, uint8_t order, pw_cycle now)
{
    pw_cycle cycles = pw_tlb_late(&m->tlb.tlb, page->asid, page->vpn, order);
    if (cycles != PW_NEVER)
        pw_events_post(m->wiring.events, now + cycles, fill_late, m,
                       page->vpn.v << LATE_VPN_SHIFT | (uint64_t)order << LATE_ORDER_SHIFT | page->asid);
}

/* Answers all that wait for a page. One of them that may is enough to put the translation into the L2 TLB. */
static void answer(struct pw_mmu *m, struct pw_tlb_request *first, struct pw_translation translation,
                   enum pw_translation_source source, pw_cycle now)
{
    struct pw_tlb_miss page = first->miss;
    unsigned fill = 0;
    for (struct pw_tlb_request *r = first, *next; r; r = next) {
        next = r->next;
        fill |= r->miss.fill;
        send_answer(m, r, translation, source, now);
    }
    if (!m->config.l2_tlb.enabled)
        return;
    bool others = pw_l2_tlb_fill(&m->tlb, &page, translation, source, fill & PW_FILL_L2);
    if (m->absent && (others || (page.vpn.v ^ m->absent->miss.vpn.v) >> translation.order == 0))
        m->absent = NULL;
    if (source == PW_FROM_WALK && fill & PW_FILL_L2)
        await_late(m, &page, translation.order, now);
}

static void fault_heard(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    const struct pw_tlb_request *r = (struct pw_tlb_request *)(uintptr_t)argument;
    m->wiring.faulted(m->wiring.sms, r->miss, now);
}

/* The page has to come. Those who have missed it hear of that as of an answer, and wait here; no answer can overtake
 * the news, so the record is still theirs when it gets there. */
static void fault(struct pw_mmu *m, struct pw_tlb_request *first, pw_cycle now)
{
    for (struct pw_tlb_request *r = first; r; r = r->next)
        pw_events_post(m->wiring.events, now + m->config.l2_tlb.distance, fault_heard, m, (uintptr_t)r);
    pw_far_faults_add(&m->far_faults, miss_key(m, first->miss.asid, first->miss.vpn), first);
}

static void walk_done(void *client, uint32_t id, struct pw_translation translation, pw_cycle now)
{
    struct pw_mmu *m = client;
    struct pw_tlb_request *first = m->misses[id].first;
    pw_asid asid = first->miss.asid;
    pw_vpn vpn = first->miss.vpn;
    m->misses[id] = (struct pw_tlb_requests){0};
    count_answered(m, asid, translation.present);
    if (m->wiring.stage) {
        note_stage(m, first, PW_MISS_WALK, pw_walker_begun(m->walker, id));
        note_stage(m, first, translation.present ? PW_MISS_L2_TLB : PW_MISS_FAR_FAULT, now);
    }
    if (translation.present && m->walked)
        m->walked(m->walk_listener, asid, vpn);
    if (translation.present)
        answer(m, first, translation, PW_FROM_WALK, now);
    else if (m->config.far_faults)
        fault(m, first, now);
    if (!translation.present && !m->wiring.unmapped(m->wiring.sms, asid, vpn, now))
        return;
    pw_mshr_remove(&m->mshr, &m->mshr.entries[id]);
    serve_waiting(m, now);
}

void pw_mmu_await_page(struct pw_mmu *m, struct pw_tlb_miss miss)
{
    pw_far_faults_add(&m->far_faults, miss_key(m, miss.asid, miss.vpn), take_request(m, miss));
}

void pw_mmu_page_arrived(struct pw_mmu *m, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    struct pw_tlb_request *first = pw_far_faults_take(&m->far_faults, miss_key(m, asid, vpn));
    if (!first)
        return;
    if (m->wiring.stage)
        note_stage(m, first, PW_MISS_L2_TLB, now);
    answer(m, first, pw_page_table_lookup(m->wiring.tables[asid], vpn), PW_FROM_ARRIVAL, now);
}

static enum pw_status init_misses(struct pw_mmu *m, struct pw_error *err)
{
    enum { CHUNK_BYTES = 64 << 10 };
    m->misses = calloc(m->config.l2_tlb.tlb.mshrs, sizeof *m->misses);
    m->reserve = aligned_alloc(_Alignof(struct pw_tlb_request), sizeof *m->reserve); /* an event asks for one page */
    m->counters = calloc(m->config.apps, sizeof *m->counters);
    if (!m->misses || !m->reserve || !m->counters)
        return pw_fail_memory(err, "L2 TLB");
    pw_record_pool_init(&m->requests, m->wiring.events, sizeof *m->reserve, CHUNK_BYTES, m->reserve, 1);
    enum pw_status status = pw_mshr_init(&m->mshr, "l2_tlb.mshrs", m->config.l2_tlb.tlb.mshrs, err);
    if (status == PW_OK && m->config.far_faults)
        status = pw_far_faults_init(&m->far_faults, m->wiring.events, err);
    return status;
}

enum pw_status pw_mmu_create(const struct pw_mmu_config *config, const struct pw_mmu_wiring *wiring,
                             struct pw_mmu **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_mmu *m = calloc(1, sizeof *m);
    if (!m)
        return pw_fail_memory(err, "L2 TLB");
    m->config = *config;
    m->wiring = *wiring;
    if (wiring->timeline)
        m->wait_lanes = (struct pw_lanes){.timeline = wiring->timeline,
                                          .group = pw_timeline_group(wiring->timeline, "L2 TLB"),
                                          .name = "waiting request"};
    m->merge_order = (uint8_t)__builtin_ctz(config->orders);
    struct pw_walker_config walker = {config->walk, config->walk_cache, config->l2_tlb.tlb.mshrs, config->apps};
    struct pw_walker_wiring to = {.events = wiring->events,
                                  .pool = wiring->pool,
                                  .memory = wiring->memory,
                                  .tables = wiring->tables,
                                  .timeline = wiring->timeline,
                                  .pressure = wiring->pressure,
                                  .client = m,
                                  .done = walk_done};
    struct pw_l2_tlb_setup tlb = {.config = &m->config.l2_tlb,
                                  .bypass = config->bypass,
                                  .orders = config->orders,
                                  .tables = wiring->tables,
                                  .policies = wiring->policies,
                                  .apps = config->apps,
                                  .seed = config->seed};
    enum pw_status status = init_misses(m, err);
    if (status == PW_OK)
        status = pw_l2_tlb_init(&m->tlb, &tlb, err);
    if (status == PW_OK)
        status = pw_walker_create(&walker, &to, &m->walker, err);
    if (status != PW_OK) {
        pw_mmu_destroy(m);
        return status;
    }
    *out = m;
    return PW_OK;
}

void pw_mmu_destroy(struct pw_mmu *m)
{
    if (!m)
        return;
    pw_walker_destroy(m->walker);
    pw_l2_tlb_release(&m->tlb);
    free(m->misses);
    pw_record_pool_destroy(&m->requests);
    free(m->reserve);
    pw_mshr_release(&m->mshr);
    pw_far_faults_release(&m->far_faults);
    pw_lanes_release(&m->wait_lanes);
    free(m->counters);
    free(m);
}

void pw_mmu_register(struct pw_mmu *m, struct pw_stats *stats)
{
    pw_l2_tlb_register(&m->tlb, stats, m->counters);
    pw_walker_register(m->walker, stats);
}

void pw_mmu_on_walk(struct pw_mmu *m, pw_walked_fn *walked, void *listener)
{
    m->walked = walked;
    m->walk_listener = listener;
}

void pw_mmu_l2_tlb_use(const void *mmu, unsigned app, uint64_t *out_lookups, uint64_t *out_hits)
{
    const struct pw_mmu *m = mmu;
    *out_lookups = m->counters[app].lookups;
    *out_hits = m->counters[app].hits;
}

struct pw_tlb *pw_mmu_tlb(struct pw_mmu *m)
{
    return &m->tlb.tlb;
}

struct pw_bypass_tlb *pw_mmu_bypass_tlb(struct pw_mmu *m)
{
    return &m->tlb.bypass;
}

struct pw_walker *pw_mmu_walker(struct pw_mmu *m)
{
    return m->walker;
}

unsigned pw_mmu_invalidate(struct pw_mmu *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    m->shootdowns++;
    pw_walker_flush_cache(m->walker);
    return pw_l2_tlb_invalidate(&m->tlb, asid, first, outer);
}

enum pw_status pw_mmu_check(const struct pw_mmu *m, struct pw_error *err)
{
    return pw_l2_tlb_check(&m->tlb, err);
}

uint64_t pw_mmu_pending(const struct pw_mmu *m)
{
    return m->requests_under_way + m->answers_under_way + m->mshr.in_use + m->waiting + m->far_faults.map.count;
}

size_t pw_mmu_describe(const struct pw_mmu *m, char *out, size_t capacity)
{
    int n = snprintf(out, capacity,
                     "  translation: %u misses in the L2 TLB's registers, %u requests wait for one; %u walks under "
                     "way, %u wait for a walker; %u pages are waited for that are not on the GPU\n",
                     m->mshr.in_use, m->waiting, pw_walker_active(m->walker), pw_walker_queued(m->walker),
                     m->far_faults.map.count);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}
