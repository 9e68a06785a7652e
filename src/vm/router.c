/* Requests on their way to walkers here and at the host. The model is described in router.h. */
#include "vm/router.h"

#include <stdlib.h>

const struct pw_option pw_route_options[] = {
    {"policy", PW_OPTION_POLICY, offsetof(struct pw_route_config, policy), 0, 0, "distributed", "", &pw_route_family,
     "Where translation requests go that miss the L2 TLB: to the GPU's own walkers or to the host's.", false},
    {0}};

/* Where the time of a request has gone. */
struct times {
    uint64_t queue, walk, link, move;
};

struct request {
    pw_vpn vpn;
    pw_cycle asked, begun;
    struct times times; /* on the way through this GPU's own walkers, where that came first */
    pw_asid asid;
    uint8_t under_way; /* PW_ROUTE_GMMU, PW_ROUTE_IOMMU */
    uint8_t walks;     /* asked for so far */
    bool answered;
};

/* Per application. */
struct counters {
    uint64_t local, remote;
    uint64_t gmmu_walks, iommu_walks, duplicates;
    uint64_t discarded_answers, discarded_walks;
    uint64_t latency, local_latency, remote_latency;
    struct times times;
};

struct pw_router {
    struct pw_router_wiring wiring;
    struct pw_walker *walker;
    const struct pw_route_policy *policy;
    struct pw_route_environment environment; /* of the policy */
    void *state;
    struct pw_policy_use use;
    struct request *requests;
    struct counters *counters;
};

/* Whether this GPU's own page table has the page. */
static bool is_local(const struct pw_router *r, pw_asid asid, pw_vpn vpn, struct pw_translation t)
{
    return t.present && pw_physical_memory_has(r->wiring.physical, t.frame) &&
           !(r->wiring.moving && r->wiring.moving(r->wiring.host, asid, vpn));
}

static bool page_is_local(const void *router, pw_asid asid, pw_vpn vpn)
{
    const struct pw_router *r = router;
    return is_local(r, asid, vpn, pw_page_table_lookup(r->wiring.tables[asid], vpn));
}

static void ask_walker(struct pw_router *r, uint32_t id, pw_cycle now)
{
    struct request *q = &r->requests[id];
    r->counters[q->asid].gmmu_walks++;
    q->under_way |= PW_ROUTE_GMMU;
    q->walks++;
    pw_walker_start(r->walker, id, q->asid, q->vpn, now);
}

static void ask_iommu(struct pw_router *r, uint32_t id, pw_cycle now)
{
    struct request *q = &r->requests[id];
    r->counters[q->asid].iommu_walks++;
    q->under_way |= PW_ROUTE_IOMMU;
    q->walks++;
    pw_iommu_ask(r->wiring.iommu, r->wiring.gpu, id, q->asid, q->vpn, now);
}

void pw_router_start(struct pw_router *r, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    r->requests[id] = (struct request){.vpn = vpn, .asid = asid, .asked = now, .begun = now};
    if (r->wiring.touch)
        r->wiring.touch(r->wiring.host, r->wiring.gpu, asid, vpn);
    unsigned route = r->policy->choose ? r->policy->choose(r->state, asid, vpn) : (unsigned)PW_ROUTE_GMMU;
    if (route & PW_ROUTE_GMMU)
        ask_walker(r, id, now);
    if (route & PW_ROUTE_IOMMU)
        ask_iommu(r, id, now);
}

static void count_answer(struct pw_router *r, const struct request *q, const struct times *t, bool local, pw_cycle now)
{
    struct counters *c = &r->counters[q->asid];
    c->local += local;
    c->remote += !local;
    c->latency += now - q->asked;
    *(local ? &c->local_latency : &c->remote_latency) += now - q->asked;
    c->times.queue += t->queue;
    c->times.walk += t->walk;
    c->times.link += t->link;
    c->times.move += t->move;
    if (r->policy->answered)
        r->policy->answered(r->state, q->asid, local);
}

/* The first answer to a request, by a walk that began then and took its time so. */
static void answer(struct pw_router *r, uint32_t id, struct pw_translation translation, struct times times,
                   pw_cycle begun, pw_cycle now)
{
    struct request *q = &r->requests[id];
    q->answered = true;
    q->begun = begun;
    if (translation.present)
        count_answer(r, q, &times, pw_physical_memory_has(r->wiring.physical, translation.frame), now);
    r->wiring.found(r->wiring.client, id, translation, now);
}

/* One of a request's walks has ended. */
static void end(struct pw_router *r, uint32_t id, pw_cycle now)
{
    struct request *q = &r->requests[id];
    if (q->under_way)
        return;
    r->counters[q->asid].duplicates += q->walks - 1U;
    q->answered = false; /* of the next one with this id, which may be registered a while before it starts */
    r->wiring.ended(r->wiring.client, id, now);
}

void pw_router_walked(void *router, uint32_t id, struct pw_translation translation, pw_cycle now)
{
    struct pw_router *r = router;
    struct request *q = &r->requests[id];
    pw_cycle begun = pw_walker_begun(r->walker, id);
    q->under_way &= (uint8_t)~PW_ROUTE_GMMU;
    struct times times = {.queue = begun - q->asked, .walk = now - begun};
    if (!q->answered && is_local(r, q->asid, q->vpn, translation)) {
        answer(r, id, translation, times, begun, now);
    } else if (q->answered || q->under_way) {
        r->counters[q->asid].discarded_walks++;
    } else {
        q->times = times;
        ask_iommu(r, id, now);
    }
    end(r, id, now);
}

/* The IOMMU has answered. The page may have moved since: what counts is where it is now. */
static void iommu_answered(void *router, const struct pw_iommu_request *a, pw_cycle now)
{
    struct pw_router *r = router;
    struct request *q = &r->requests[a->id];
    q->under_way &= (uint8_t)~PW_ROUTE_IOMMU;
    struct times times = q->times;
    times.link += (a->arrived - a->sent) + (now - a->left);
    times.queue += a->begun - a->arrived;
    times.walk += a->walked - a->begun;
    times.move += a->left - a->walked;
    if (q->answered)
        r->counters[q->asid].discarded_answers++;
    else
        answer(r, a->id, pw_page_table_lookup(r->wiring.tables[q->asid], q->vpn), times, a->begun, now);
    end(r, a->id, now);
}

bool pw_router_is_answered(const struct pw_router *r, uint32_t id)
{
    return r->requests[id].answered;
}

pw_cycle pw_router_begun(const struct pw_router *r, uint32_t id)
{
    return r->requests[id].begun;
}

enum pw_status pw_router_create(const struct pw_route_config *config, const struct pw_router_wiring *wiring,
                                struct pw_router **out, struct pw_error *err)
{
    struct pw_router *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return pw_fail_memory(err, "translation routing");
    const struct pw_policy *policy = pw_policy_chosen(&pw_route_family, &config->policy);
    r->wiring = *wiring;
    r->policy = pw_route_policy_of(policy);
    r->environment = (struct pw_route_environment){r, page_is_local};
    r->requests = calloc(wiring->requests, sizeof *r->requests);
    r->counters = calloc(wiring->apps, sizeof *r->counters);
    enum pw_status status = r->requests && r->counters ? PW_OK : pw_fail_memory(err, "translation routing");
    if (status == PW_OK)
        status =
            pw_policy_use_init(&r->use, wiring->policies, "route.policy", policy, &config->policy, wiring->apps, err);
    if (status == PW_OK)
        status = pw_policy_use_add(&r->use, &r->environment, &r->state, err);
    if (status != PW_OK) {
        pw_router_destroy(r);
        return status;
    }
    pw_iommu_connect(wiring->iommu, wiring->gpu, (struct pw_iommu_client){.object = r, .answered = iommu_answered});
    *out = r;
    return PW_OK;
}

void pw_router_destroy(struct pw_router *r)
{
    if (!r)
        return;
    pw_policy_use_release(&r->use);
    free(r->requests);
    free(r->counters);
    free(r);
}

void pw_router_connect(struct pw_router *r, struct pw_walker *walker)
{
    r->walker = walker;
}

/* Between launches, when nothing is under way. */
static enum pw_status check_walks(void *router, struct pw_error *err)
{
    const struct pw_router *r = router;
    for (unsigned app = 0; app < r->wiring.apps; app++) {
        const struct counters *c = &r->counters[app];
        if (c->gmmu_walks + c->iommu_walks != c->local + c->remote + c->duplicates)
            return pw_fail(err, PW_FAILED, "app%u: %llu walks here and %llu at the host for %llu requests, %llu twice",
                           app, (unsigned long long)c->gmmu_walks, (unsigned long long)c->iommu_walks,
                           (unsigned long long)(c->local + c->remote), (unsigned long long)c->duplicates);
    }
    return PW_OK;
}

void pw_router_register(struct pw_router *r, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, "route." name, unit, help, r->counters, sizeof *r->counters,                               \
                     offsetof(struct counters, field))
#define MEAN(name, sum, count, help) pw_stats_ratio(stats, "route." name, "cycles", help, "route." sum, count, 1)
    COUNTER("local", "requests", local, "Translation requests (primary L2 TLB misses) for pages in this GPU's memory.");
    COUNTER("remote", "requests", remote, "Translation requests for pages in another GPU's memory.");
    COUNTER("gmmu_walks", "walks", gmmu_walks, "Page walks asked of the GPU's own walkers.");
    COUNTER("iommu_walks", "walks", iommu_walks, "Page walks asked of the host's IOMMU.");
    COUNTER("duplicate_walks", "walks", duplicates, "Walks beyond one for each request.");
    COUNTER("discarded_answers", "answers", discarded_answers,
            "Answers of the IOMMU that came when the GPU's own walk had found the page.");
    COUNTER("discarded_walks", "walks", discarded_walks,
            "Walks of the GPU's own that ended while the IOMMU was asked too, and gave no answer.");
    COUNTER("requests", "requests", local, NULL);
    pw_stats_further_place(stats, "route.requests", r->counters, sizeof *r->counters,
                           offsetof(struct counters, remote));
    COUNTER("latency_sum", "cycles", latency, NULL);
    COUNTER("local_latency_sum", "cycles", local_latency, NULL);
    COUNTER("remote_latency_sum", "cycles", remote_latency, NULL);
    COUNTER("queue_sum", "cycles", times.queue, NULL);
    COUNTER("walk_sum", "cycles", times.walk, NULL);
    COUNTER("link_sum", "cycles", times.link, NULL);
    COUNTER("move_sum", "cycles", times.move, NULL);
    MEAN("latency_mean", "latency_sum", "route.requests", "Mean time of a translation request, until its answer.");
    MEAN("local_latency_mean", "local_latency_sum", "route.local", "The same of those for local pages.");
    MEAN("remote_latency_mean", "remote_latency_sum", "route.remote", "The same of those for remote pages.");
    MEAN("queue_mean", "queue_sum", "route.requests",
         "The part of it spent waiting for a walker, here or at the host.");
    MEAN("walk_mean", "walk_sum", "route.requests", "The part of it spent walking.");
    MEAN("link_mean", "link_sum", "route.requests", "The part of it spent on the fabric.");
    MEAN("move_mean", "move_sum", "route.requests", "The part of it spent waiting for a page that moves.");
#undef MEAN
#undef COUNTER
    pw_stats_ratio(stats, "route.local_share", "%", "Local among all translation requests: the ratio L/T.",
                   "route.local", "route.requests", 100);
    pw_stats_identity(stats, "route.latency_sum", "route.queue_sum + route.walk_sum + route.link_sum + route.move_sum");
    pw_stats_identity(stats, "route.latency_sum", "route.local_latency_sum + route.remote_latency_sum");
    pw_stats_identity_check(stats, "every walk was for a translation request", check_walks, r);
}
