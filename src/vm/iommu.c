/* Queue and walkers of the IOMMU. The model is described in iommu.h. */
#include "vm/iommu.h"

#include <stdio.h>
#include <stdlib.h>

const struct pw_option pw_iommu_options[] = {
    {"walkers", PW_OPTION_COUNT, offsetof(struct pw_iommu_config, walkers), 0, 65536, "0", "walks", NULL,
     "Walks that the host's IOMMU can have under way at once; 0: there is none. Several GPUs need one.", false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_iommu_config, latency), 1, 1000000, "100", "cycles", NULL,
     "Cycles of a walk in the IOMMU.", false},
    {0}};

/* Per application, of all GPUs. */
struct counters {
    uint64_t walks, answers, queued, walking;
};

struct pw_iommu {
    struct pw_iommu_config config;
    struct pw_iommu_wiring wiring;
    struct pw_iommu_client *clients;
    struct pw_iommu_request *first, *last; /* that wait for a walker */
    uint32_t queued, active;
    uint64_t most_active, most_queued;
    struct counters *counters;
    struct pw_record_pool requests;
    struct pw_iommu_request reserve[2]; /* an event sends one, and the pool links the next */
};

static void answer_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_iommu *i = object;
    struct pw_iommu_request *r = (struct pw_iommu_request *)(uintptr_t)argument, request = *r;
    pw_record_give(&i->requests, r);
    i->counters[request.asid].answers++;
    i->clients[request.gpu].answered(i->clients[request.gpu].object, &request, now);
}

void pw_iommu_answer(struct pw_iommu *i, struct pw_iommu_request *r, pw_cycle now)
{
    r->left = now;
    pw_fabric_send(i->wiring.fabric, pw_fabric_host(i->wiring.fabric), r->gpu, i->wiring.message_bytes, now,
                   answer_arrives, i, (uintptr_t)r);
}

static void walk_ends(void *object, uint64_t argument, pw_cycle now);

static void begin_queued(struct pw_iommu *i, pw_cycle now)
{
    while (i->first && i->active < i->config.walkers) {
        struct pw_iommu_request *r = i->first;
        i->first = r->next;
        i->queued--;
        i->active++;
        i->most_active = i->active > i->most_active ? i->active : i->most_active;
        r->begun = now;
        i->counters[r->asid].queued += now - r->arrived;
        pw_events_post(i->wiring.events, now + i->config.latency, walk_ends, i, (uintptr_t)r);
    }
}

static void walk_ends(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_iommu *i = object;
    struct pw_iommu_request *r = (struct pw_iommu_request *)(uintptr_t)argument;
    i->active--;
    i->counters[r->asid].walking += now - r->begun;
    r->walked = now;
    if (!i->wiring.moves || !i->wiring.moves(i->wiring.mover, r, now))
        pw_iommu_answer(i, r, now);
    begin_queued(i, now);
}

static void request_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_iommu *i = object;
    struct pw_iommu_request *r = (struct pw_iommu_request *)(uintptr_t)argument;
    r->arrived = now;
    r->next = NULL;
    i->counters[r->asid].walks++;
    if (i->first)
        i->last->next = r;
    else
        i->first = r;
    i->last = r;
    i->queued++;
    i->most_queued = i->queued > i->most_queued ? i->queued : i->most_queued;
    begin_queued(i, now);
}

void pw_iommu_ask(struct pw_iommu *i, unsigned gpu, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    struct pw_iommu_request *r = pw_record_take(&i->requests);
    *r = (struct pw_iommu_request){.vpn = vpn, .id = id, .gpu = (uint8_t)gpu, .asid = asid, .sent = now};
    pw_fabric_send(i->wiring.fabric, gpu, pw_fabric_host(i->wiring.fabric), i->wiring.message_bytes, now,
                   request_arrives, i, (uintptr_t)r);
}

enum pw_status pw_iommu_create(const struct pw_iommu_config *config, const struct pw_iommu_wiring *wiring,
                               struct pw_iommu **out, struct pw_error *err)
{
    enum { CHUNK_BYTES = 64 << 10 };
    struct pw_iommu *i = calloc(1, sizeof *i);
    *out = NULL;
    if (!i)
        return pw_fail_memory(err, "IOMMU");
    i->config = *config;
    i->wiring = *wiring;
    i->clients = calloc(wiring->gpus, sizeof *i->clients);
    i->counters = calloc(wiring->apps, sizeof *i->counters);
    pw_record_pool_init(&i->requests, wiring->events, sizeof(struct pw_iommu_request), CHUNK_BYTES, i->reserve,
                        sizeof i->reserve / sizeof i->reserve[0]);
    if (!i->clients || !i->counters) {
        pw_iommu_destroy(i);
        return pw_fail_memory(err, "IOMMU");
    }
    *out = i;
    return PW_OK;
}

void pw_iommu_destroy(struct pw_iommu *i)
{
    if (!i)
        return;
    pw_record_pool_destroy(&i->requests);
    free(i->clients);
    free(i->counters);
    free(i);
}

void pw_iommu_connect(struct pw_iommu *i, unsigned gpu, struct pw_iommu_client client)
{
    i->clients[gpu] = client;
}

static enum pw_status check_drained(void *iommu, struct pw_error *err)
{
    uint64_t pending = pw_iommu_pending(iommu);
    if (pending)
        return pw_fail(err, PW_FAILED, "%llu requests to the IOMMU are under way", (unsigned long long)pending);
    return PW_OK;
}

void pw_iommu_register(struct pw_iommu *i, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, "iommu." name, unit, help, i->counters, sizeof *i->counters,                               \
                     offsetof(struct counters, field))
    COUNTER("walks", "walks", walks, "Page walks asked of the host's IOMMU, by all GPUs.");
    COUNTER("answers", "answers", answers, "Its answers that have come to their GPU.");
    COUNTER("queue_sum", "cycles", queued, NULL);
    COUNTER("walk_sum", "cycles", walking, NULL);
#undef COUNTER
    pw_stats_ratio(stats, "iommu.queue_mean", "cycles", "Mean time that a request waits there for a walker.",
                   "iommu.queue_sum", "iommu.walks", 1);
    pw_stats_counter(stats, "iommu.concurrent_max", "walks", "Most of its walks under way at once.", &i->most_active, 0,
                     0);
    pw_stats_counter(stats, "iommu.queue_max", "requests", "Most requests that waited there at once.", &i->most_queued,
                     0, 0);
    pw_stats_maximum(stats, "iommu.concurrent_max");
    pw_stats_maximum(stats, "iommu.queue_max");
    pw_stats_identity_check(stats, "every request to the IOMMU has been answered", check_drained, i);
}

uint64_t pw_iommu_pending(const struct pw_iommu *i)
{
    return i->requests.in_use;
}

size_t pw_iommu_describe(const struct pw_iommu *i, char *out, size_t capacity)
{
    int n = snprintf(out, capacity, "  IOMMU: %u walks under way, %u requests wait; %llu in all between GPU and GPU\n",
                     i->active, i->queued, (unsigned long long)pw_iommu_pending(i));
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}
