/* Requests to the shared L2 TLB, and its miss registers. The model is described in mmu.h. */
#include "vm/mmu_internal.h"

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
    if (m->router)
        pw_router_start(m->router, (uint32_t)id, miss->asid, miss->vpn, now);
    else
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

/* A request merges into a miss whose register is kept only by a second walk: its page is known. */
static void answer_known(struct pw_mmu *m, struct pw_tlb_request *r, pw_cycle at)
{
    send_answer(m, r, pw_page_table_lookup(m->wiring.tables[r->miss.asid], r->miss.vpn), PW_FROM_WALK, at);
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
        if (m->router && pw_router_is_answered(m->router, id)) {
            answer_known(m, r, at);
            return true;
        }
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
        if (m->router)
            count_merge(m, r->miss.asid);
        else
            count_answered(m, r->miss.asid, true);
        if (m->tlb.bypass.state && !m->router)
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

/* A miss has its answer. False: there is no such page, and the run fails. */
static inline __attribute__((always_inline)) bool
miss_answered(struct pw_mmu *m, uint32_t id, struct pw_translation translation, pw_cycle begun, pw_cycle now)
{
    struct pw_tlb_request *first = m->misses[id].first;
    pw_asid asid = first->miss.asid;
    pw_vpn vpn = first->miss.vpn;
    m->misses[id] = (struct pw_tlb_requests){0};
    count_answered(m, asid, translation.present);
    if (m->wiring.stage) {
        note_stage(m, first, PW_MISS_WALK, begun);
        note_stage(m, first, translation.present ? PW_MISS_L2_TLB : PW_MISS_FAR_FAULT, now);
    }
    if (translation.present && m->walked)
        m->walked(m->walk_listener, asid, vpn);
    if (translation.present)
        answer(m, first, translation, PW_FROM_WALK, now);
    else if (m->config.far_faults)
        fault(m, first, now);
    return translation.present || m->wiring.unmapped(m->wiring.sms, asid, vpn, now);
}

static void free_register(struct pw_mmu *m, uint32_t id, pw_cycle now)
{
    pw_mshr_remove(&m->mshr, &m->mshr.entries[id]);
    serve_waiting(m, now);
}

void pw_mmu_walk_done(void *mmu, uint32_t id, struct pw_translation translation, pw_cycle now)
{
    struct pw_mmu *m = mmu;
    if (miss_answered(m, id, translation, pw_walker_begun(m->walker, id), now))
        free_register(m, id, now);
}

void pw_mmu_route_found(void *mmu, uint32_t id, struct pw_translation translation, pw_cycle now)
{
    struct pw_mmu *m = mmu;
    m->kept++;
    miss_answered(m, id, translation, pw_router_begun(m->router, id), now);
}

void pw_mmu_route_ended(void *mmu, uint32_t id, pw_cycle now)
{
    struct pw_mmu *m = mmu;
    m->kept--;
    free_register(m, id, now);
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
    return m->requests_under_way + m->answers_under_way + (m->mshr.in_use - m->kept) + m->waiting +
           m->far_faults.map.count;
}
