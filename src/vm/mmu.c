/* The shared L2 TLB and its miss registers. The model is described in mmu.h. */
#include "vm/mmu.h"

#include "mem/crossbar.h"
#include "mem/mshr.h"
#include "vm/far_faults.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct pw_option pw_l2_tlb_options[] = {
    {"enabled", PW_OPTION_BOOL, offsetof(struct pw_l2_tlb_config, enabled), 0, 0, "on", "", NULL,
     "Whether there is a shared L2 TLB; without it, L1 misses go to the walker.", false},
    {"distance", PW_OPTION_CYCLES, offsetof(struct pw_l2_tlb_config, distance), 0, 10000, "10", "cycles", NULL,
     "Cycles between an SM and the L2 TLB, each way.", false},
    {"ports", PW_OPTION_COUNT, offsetof(struct pw_l2_tlb_config, ports), 1, 16, "1", "ports", NULL,
     "Lookups that can start in one cycle.", false},
    {0}};

enum { SM_WORDS = 16, MAX_SMS = SM_WORDS * 64 };

/* A page whose translation is under way, beside its miss register; their common place is the id of the walk. */
struct miss {
    pw_vpn vpn;
    pw_asid asid;
    uint64_t sms[SM_WORDS]; /* who asked: an SM asks only once */
};

/* Between an SM and the MMU: a request on its way there or without a miss register, or an answer on its way back. There
 * are as many as pages that SMs can wait for, so they never run out. */
struct message {
    struct message *next; /* while it waits for a miss register, or is free */
    pw_vpn vpn;
    pw_cycle since;      /* it has waited for a miss register */
    pw_pfn frame;        /* of an answer */
    uint32_t shootdowns; /* that there had been when it was sent */
    uint16_t sm;
    pw_asid asid;
    uint8_t order;
    bool walked; /* the answer is that of a walk */
};

struct pw_mmu {
    struct pw_mmu_config config;
    struct pw_mmu_wiring wiring;
    struct pw_tlb_level level;
    struct pw_tlb tlb;
    struct pw_walker *walker;
    struct pw_port ports[16];
    uint32_t sm_words;
    uint8_t merge_order; /* misses merge at the smallest page size in use */
    struct pw_mshr mshr;
    struct miss *misses;
    struct pw_far_faults far_faults;
    struct message *messages, *free;
    struct message *first_waiting, *last_waiting; /* requests that found no free miss register */
    uint32_t waiting;
    uint32_t shootdowns; /* wraps around, long after whatever was under way */
    struct pw_tlb_counters *counters;
    uint64_t answers_under_way, requests_under_way;
    struct pw_lanes wait_lanes; /* with a timeline: for those that wait for a miss register */
};

static struct message *take_message(struct pw_mmu *m, uint32_t sm, pw_asid asid, pw_vpn vpn)
{
    struct message *message = m->free;
    assert(message);
    m->free = message->next;
    message->vpn = vpn;
    message->sm = (uint16_t)sm;
    message->asid = asid;
    message->walked = false;
    return message;
}

static void give_message(struct pw_mmu *m, struct message *message)
{
    message->next = m->free;
    m->free = message;
}

/* Fails the run, since this is not the translation of the page; returns the one that is. */
static struct pw_translation fail_wrong(struct pw_mmu *m, const char *who, pw_asid asid, pw_vpn vpn, pw_pfn frame)
{
    struct pw_error err;
    pw_frame_is_wrong(m->wiring.tables[asid], who, asid, vpn, frame, &err);
    m->wiring.failed(m->wiring.sms, &err);
    return pw_page_table_lookup(m->wiring.tables[asid], vpn);
}

/* The translation that an answer brings. A page that was coalesced meanwhile is where it was, and large by now. */
static struct pw_translation judge_answer(struct pw_mmu *m, const struct message *answer)
{
    struct pw_translation t = pw_page_table_lookup(m->wiring.tables[answer->asid], answer->vpn);
    bool same = t.present && t.frame.v == answer->frame.v && t.order >= answer->order;
    if (__builtin_expect(!same && m->shootdowns == answer->shootdowns, false))
        return fail_wrong(m, "the answer to a miss of an L1 TLB", answer->asid, answer->vpn, answer->frame);
    if (same)
        t.frame = answer->frame;
    return t;
}

static void answer_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    struct message *answer = (struct message *)(uintptr_t)argument, a = *answer;
    struct pw_translation t = judge_answer(m, answer);
    m->answers_under_way--;
    give_message(m, answer);
    unsigned warps = m->wiring.translated(m->wiring.sms, a.sm, a.vpn, t, now);
    if (a.walked)
        pw_walker_count_stalled(m->walker, a.asid, warps);
}

static void send_answer(struct pw_mmu *m, struct message *message, struct pw_translation translation, pw_cycle at)
{
    m->answers_under_way++;
    message->frame = translation.frame;
    message->order = translation.order;
    message->shootdowns = m->shootdowns;
    pw_events_post(m->wiring.events, at + m->config.l2_tlb.distance, answer_arrives, m, (uintptr_t)message);
}

static uint64_t miss_key(const struct pw_mmu *m, pw_asid asid, pw_vpn vpn)
{
    return (vpn.v >> m->merge_order) << 8 | asid;
}

static void start_walk(void *object, uint64_t id, pw_cycle now)
{
    struct pw_mmu *m = object;
    const struct miss *e = &m->misses[id];
    pw_walker_start(m->walker, (uint32_t)id, e->asid, e->vpn, now);
}

/* Says in which stage the miss of a page is for all these SMs. */
static void note_stage(struct pw_mmu *m, const uint64_t *sms, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from)
{
    for (uint32_t word = 0; word < m->sm_words; word++)
        for (uint64_t bits = sms[word]; bits; bits &= bits - 1)
            m->wiring.stage(m->wiring.sms, word * 64 + (uint32_t)__builtin_ctzll(bits), vpn, stage, from);
}

static uint32_t add_miss(struct pw_mmu *m, uint64_t key, const struct message *message)
{
    uint32_t id = pw_mshr_place(&m->mshr, pw_mshr_add(&m->mshr, key));
    struct miss *e = &m->misses[id];
    e->asid = message->asid;
    e->vpn = message->vpn;
    memset(e->sms, 0, m->sm_words * sizeof e->sms[0]);
    return id;
}

/* Merges into the page's miss or registers a new one whose walk starts at `at`. False when no register is free. */
static bool register_miss(struct pw_mmu *m, const struct message *message, pw_cycle at, bool count)
{
    uint64_t key = miss_key(m, message->asid, message->vpn);
    uint32_t sm = message->sm;
    const struct pw_mshr_entry *outstanding = pw_mshr_find(&m->mshr, key);
    uint32_t id;
    if (outstanding) {
        id = pw_mshr_place(&m->mshr, outstanding);
        m->counters[message->asid].merges += count;
    } else if (pw_mshr_full(&m->mshr)) {
        return false;
    } else {
        id = add_miss(m, key, message);
        pw_events_post(m->wiring.events, at, start_walk, m, id);
    }
    m->misses[id].sms[sm / 64] |= 1ULL << (sm % 64);
    if (m->wiring.stage)
        m->wiring.stage(m->wiring.sms, sm, message->vpn, PW_MISS_WALK_QUEUE, at);
    return true;
}

/* Probes the arrays one after the other, large first; returns the cycles the probes took. */
static uint32_t probe(struct pw_mmu *m, const struct message *message, struct pw_translation *out)
{
    uint32_t latency = m->config.l2_tlb.tlb.latency;
    const struct pw_tlb_array *array = &m->tlb.large;
    out->present = pw_tlb_array_lookup(array, message->asid, message->vpn, &out->frame);
    if (!out->present && m->tlb.base.state) {
        latency = array->state ? 2 * latency : latency;
        array = &m->tlb.base;
        out->present = pw_tlb_array_lookup(array, message->asid, message->vpn, &out->frame);
    }
    out->order = array->order;
    if (out->present && !pw_frame_is_right(m->wiring.tables[message->asid], message->vpn, out->frame))
        *out = fail_wrong(m, "the L2 TLB", message->asid, message->vpn, out->frame);
    return latency;
}

static void wait_for_register(struct pw_mmu *m, struct message *message, pw_cycle now)
{
    message->since = now;
    message->next = NULL;
    if (m->first_waiting)
        m->last_waiting->next = message;
    else
        m->first_waiting = message;
    m->last_waiting = message;
    m->waiting++;
}

static void record_wait(struct pw_mmu *m, const struct message *message, pw_cycle now)
{
    uint32_t track = pw_lanes_take(&m->wait_lanes, message->since);
    pw_lanes_give(&m->wait_lanes, track, now);
    pw_timeline_record(m->wiring.timeline, &(struct pw_interval){.track = track,
                                                                 .name = "wait for a miss register",
                                                                 .from = message->since,
                                                                 .to = now,
                                                                 .app = message->asid,
                                                                 .has_page = true,
                                                                 .page = message->vpn});
}

static void request_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_mmu *m = object;
    struct message *message = (struct message *)(uintptr_t)argument;
    m->requests_under_way--;
    pw_cycle looked_up = now;
    if (m->config.l2_tlb.enabled) {
        struct pw_tlb_counters *c = &m->counters[message->asid];
        struct pw_translation found;
        struct pw_port *port = pw_port_free_first(m->ports, m->config.l2_tlb.ports);
        looked_up = pw_port_receive(port, now, 1) + probe(m, message, &found);
        c->lookups++;
        c->hits += found.present;
        c->misses += !found.present;
        if (found.present) {
            send_answer(m, message, found, looked_up);
            return;
        }
    }
    if (m->first_waiting || !register_miss(m, message, looked_up, true))
        wait_for_register(m, message, now);
    else
        give_message(m, message);
}

void pw_mmu_request(struct pw_mmu *m, uint32_t sm, pw_asid asid, pw_vpn vpn, pw_cycle at)
{
    m->requests_under_way++;
    pw_events_post(m->wiring.events, at + m->config.l2_tlb.distance, request_arrives, m,
                   (uintptr_t)take_message(m, sm, asid, vpn));
}

/* Lets those wait no longer that find a free register, a miss to merge into, or by now a translation. */
static void serve_waiting(struct pw_mmu *m, pw_cycle now)
{
    for (struct message *message; (message = m->first_waiting) != NULL;) {
        struct pw_translation found = {.present = false};
        uint32_t latency = m->config.l2_tlb.enabled ? probe(m, message, &found) : 0;
        if (!found.present && !register_miss(m, message, now, false))
            return;
        if (m->wiring.timeline)
            record_wait(m, message, now);
        m->first_waiting = message->next;
        m->waiting--;
        if (found.present)
            send_answer(m, message, found, now + latency);
        else
            give_message(m, message);
    }
}

static void answer(struct pw_mmu *m, pw_asid asid, pw_vpn vpn, struct pw_translation translation, const uint64_t *sms,
                   bool walked, pw_cycle now)
{
    if (m->config.l2_tlb.enabled && walked)
        pw_tlb_insert_walked(&m->tlb, m->wiring.tables[asid], vpn, translation);
    else if (m->config.l2_tlb.enabled)
        pw_tlb_insert(&m->tlb, asid, vpn, translation);
    for (uint32_t word = 0; word < m->sm_words; word++)
        for (uint64_t bits = sms[word]; bits; bits &= bits - 1) {
            struct message *message = take_message(m, word * 64 + (uint32_t)__builtin_ctzll(bits), asid, vpn);
            message->walked = walked;
            send_answer(m, message, translation, now);
        }
}

static void walk_done(void *client, uint32_t id, struct pw_translation translation, pw_cycle now)
{
    struct pw_mmu *m = client;
    struct miss *e = &m->misses[id];
    pw_asid asid = e->asid;
    pw_vpn vpn = e->vpn;
    if (translation.present && !pw_frame_is_right(m->wiring.tables[asid], vpn, translation.frame))
        translation = fail_wrong(m, "a page walk", asid, vpn, translation.frame);
    if (m->wiring.stage) {
        note_stage(m, e->sms, vpn, PW_MISS_WALK, pw_walker_begun(m->walker, id));
        note_stage(m, e->sms, vpn, translation.present ? PW_MISS_L2_TLB : PW_MISS_FAR_FAULT, now);
    }
    if (translation.present && m->wiring.walked)
        m->wiring.walked(m->wiring.sms, asid, vpn);
    if (translation.present)
        answer(m, asid, vpn, translation, e->sms, true, now);
    else if (m->config.far_faults)
        pw_far_faults_add(&m->far_faults, miss_key(m, asid, vpn), e->sms);
    if (!translation.present && !m->wiring.unmapped(m->wiring.sms, asid, vpn, now))
        return;
    pw_mshr_remove(&m->mshr, &m->mshr.entries[id]);
    serve_waiting(m, now);
}

void pw_mmu_await_page(struct pw_mmu *m, uint32_t sm, pw_asid asid, pw_vpn vpn)
{
    uint64_t sms[SM_WORDS] = {0};
    sms[sm / 64] = 1ULL << (sm % 64);
    pw_far_faults_add(&m->far_faults, miss_key(m, asid, vpn), sms);
}

void pw_mmu_page_arrived(struct pw_mmu *m, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    const uint64_t *sms = pw_far_faults_take(&m->far_faults, miss_key(m, asid, vpn));
    if (!sms)
        return;
    if (m->wiring.stage)
        note_stage(m, sms, vpn, PW_MISS_L2_TLB, now);
    answer(m, asid, vpn, pw_page_table_lookup(m->wiring.tables[asid], vpn), sms, false, now);
}

static enum pw_status init_misses(struct pw_mmu *m, struct pw_error *err)
{
    m->misses = calloc(m->config.l2_tlb.tlb.mshrs, sizeof *m->misses);
    m->messages = calloc(m->config.requests, sizeof *m->messages);
    m->counters = calloc(m->config.apps, sizeof *m->counters);
    if (!m->misses || !m->messages || !m->counters)
        return pw_fail_memory(err, "L2 TLB");
    for (uint32_t i = m->config.requests; i > 0; i--)
        give_message(m, &m->messages[i - 1]);
    enum pw_status status = pw_mshr_init(&m->mshr, "l2_tlb.mshrs", m->config.l2_tlb.tlb.mshrs, err);
    if (status == PW_OK && m->config.far_faults)
        status = pw_far_faults_init(&m->far_faults, m->sm_words, m->config.requests, err);
    return status;
}

static enum pw_status init_tlb(struct pw_mmu *m, struct pw_error *err)
{
    m->level = (struct pw_tlb_level){.name = "l2_tlb",
                                     .config = &m->config.l2_tlb.tlb,
                                     .orders = m->config.orders,
                                     .tables = m->wiring.tables,
                                     .policies = m->wiring.policies,
                                     .apps = m->config.apps,
                                     .seed = m->config.seed};
    enum pw_status status = pw_tlb_level_init(&m->level, err);
    return status == PW_OK ? pw_tlb_init(&m->tlb, &m->level, 0, err) : status;
}

enum pw_status pw_mmu_create(const struct pw_mmu_config *config, const struct pw_mmu_wiring *wiring,
                             struct pw_mmu **out, struct pw_error *err)
{
    *out = NULL;
    if (config->sms > MAX_SMS)
        return pw_fail(err, PW_USER_ERROR, "sm.count = %u is more than the %d an L2 TLB can serve", config->sms,
                       MAX_SMS);
    struct pw_mmu *m = calloc(1, sizeof *m);
    if (!m)
        return pw_fail_memory(err, "L2 TLB");
    m->config = *config;
    m->wiring = *wiring;
    if (wiring->timeline)
        m->wait_lanes = (struct pw_lanes){.timeline = wiring->timeline,
                                          .group = pw_timeline_group(wiring->timeline, "L2 TLB"),
                                          .name = "waiting request"};
    m->sm_words = (config->sms + 63) / 64;
    m->merge_order = (uint8_t)__builtin_ctz(config->orders);
    struct pw_walker_config walker = {config->walk, config->walk_cache, config->l2_tlb.tlb.mshrs, config->apps};
    struct pw_walker_wiring to = {.events = wiring->events,
                                  .pool = wiring->pool,
                                  .memory = wiring->memory,
                                  .tables = wiring->tables,
                                  .timeline = wiring->timeline,
                                  .client = m,
                                  .done = walk_done};
    enum pw_status status = init_misses(m, err);
    if (status == PW_OK && config->l2_tlb.enabled)
        status = init_tlb(m, err);
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
    pw_tlb_level_release(&m->level);
    free(m->misses);
    free(m->messages);
    pw_mshr_release(&m->mshr);
    pw_far_faults_release(&m->far_faults);
    pw_lanes_release(&m->wait_lanes);
    free(m->counters);
    free(m);
}

void pw_mmu_register(struct pw_mmu *m, struct pw_stats *stats)
{
#define COUNTER(name, field, help)                                                                                     \
    pw_stats_counter(stats, name, "lookups", help, m->counters, sizeof *m->counters,                                   \
                     offsetof(struct pw_tlb_counters, field))
    COUNTER("l2_tlb.lookups", lookups, "Lookups in the shared L2 TLB.");
    COUNTER("l2_tlb.hits", hits, "Those that hit.");
    COUNTER("l2_tlb.misses", misses, "Those that missed, merged ones included.");
    COUNTER("l2_tlb.mshr_merges", merges, "Misses that found a walk for their page under way.");
#undef COUNTER
    pw_stats_identity(stats, "l2_tlb.lookups", "l2_tlb.hits + l2_tlb.misses");
    pw_walker_register(m->walker, stats);
}

struct pw_tlb *pw_mmu_tlb(struct pw_mmu *m)
{
    return &m->tlb;
}

struct pw_walker *pw_mmu_walker(struct pw_mmu *m)
{
    return m->walker;
}

unsigned pw_mmu_invalidate(struct pw_mmu *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    m->shootdowns++;
    pw_walker_flush_cache(m->walker);
    return pw_tlb_invalidate(&m->tlb, asid, first, outer);
}

enum pw_status pw_mmu_check(const struct pw_mmu *m, struct pw_error *err)
{
    return pw_tlb_check(&m->tlb, m->wiring.tables, "L2 TLB", err);
}

uint64_t pw_mmu_pending(const struct pw_mmu *m)
{
    return m->requests_under_way + m->answers_under_way + m->mshr.in_use + m->waiting + m->far_faults.mshr.in_use;
}

size_t pw_mmu_describe(const struct pw_mmu *m, char *out, size_t capacity)
{
    int n = snprintf(out, capacity,
                     "  translation: %u misses in the L2 TLB's registers, %u requests wait for one; %u walks under "
                     "way, %u wait for a walker; %u pages are waited for that are not on the GPU\n",
                     m->mshr.in_use, m->waiting, pw_walker_active(m->walker), pw_walker_queued(m->walker),
                     m->far_faults.mshr.in_use);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}
