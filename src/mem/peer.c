/* The way of an access to another GPU's memory, there and back. The model is described in peer.h. */
#include "mem/peer.h"

#include "mem/memory_internal.h"

/* While a request is away from home its source says which GPU it is of, too. */
enum { SM_BITS = 10, SM_MASK = (1 << SM_BITS) - 1 };

static bool returns_data(const struct pw_request *r)
{
    return r->kind == PW_REQUEST_READ || r->owner != PW_NO_OWNER;
}

static uint32_t data_bytes(const struct pw_request *r)
{
    return (uint32_t)__builtin_popcount(r->sectors) * PW_SECTOR_BYTES;
}

/* The request is back, with data for its SM or with the news that a store has been taken. */
static void returned(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    struct pw_request *r = (struct pw_request *)(uintptr_t)request;
    r->source &= SM_MASK;
    r->foreign = false;
    if (returns_data(r)) {
        pw_events_post(m->events, now + m->config.crossbar.latency, pw_memory_arrive_at_sm, m, request);
        m->clients.expect_reply(m->clients.sms, r);
        return;
    }
    m->pending--;
    m->clients.stored(m->clients.sms, r, now);
}

/* The answer is at the owner's end of the fabric. */
static void leave(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    const struct pw_peers *peers = m->config.peers;
    const struct pw_request *r = (const struct pw_request *)(uintptr_t)request;
    unsigned asker = r->source >> SM_BITS;
    uint32_t bytes = returns_data(r) ? peers->header_bytes + data_bytes(r) : peers->request_bytes;
    m->pending--;
    pw_fabric_send(peers->fabric, m->config.gpu, asker, bytes, now, returned, peers->memories[asker], request);
}

void pw_peer_answer(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = s->memory;
    uint32_t flits = returns_data(r) ? m->flits[__builtin_popcount(r->sectors)] : 1;
    pw_cycle arrival = pw_port_send(&s->down, now, flits, m->config.crossbar.latency);
    pw_events_post(m->events, arrival, leave, m, (uint64_t)(uintptr_t)r);
}

/* The request is at the GPU whose line it is for. */
static void enter(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    struct pw_request *r = (struct pw_request *)(uintptr_t)request;
    struct pw_slice *s = pw_memory_find_slice(m, r);
    m->pending++;
    pw_events_post(m->events, now + m->config.crossbar.latency + m->config.l2.path, pw_slice_arrive, s, request);
}

void pw_peer_arrive(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    const struct pw_peers *peers = m->config.peers;
    struct pw_request *r = (struct pw_request *)(uintptr_t)request;
    struct pw_peer_counters *c = &m->peer_counters[r->app];
    unsigned owner = r->line >> peers->line_shift;
    bool writes = r->kind != PW_REQUEST_READ, reads = returns_data(r);
    c->reads += reads;
    c->writes += writes;
    c->bytes += (uint64_t)(reads + writes) * data_bytes(r);
    r->source = (uint16_t)(m->config.gpu << SM_BITS | r->source);
    r->foreign = true;
    pw_fabric_send(peers->fabric, m->config.gpu, owner,
                   writes ? peers->header_bytes + data_bytes(r) : peers->request_bytes, now, enter,
                   peers->memories[owner], request);
}

void pw_peer_register(struct pw_memory *m, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, "peer." name, unit, help, m->peer_counters, sizeof *m->peer_counters,                      \
                     offsetof(struct pw_peer_counters, field))
    COUNTER("reads", "accesses", reads, "Reads of lines in the memory of another GPU, over the fabric.");
    COUNTER("writes", "accesses", writes, "Stores and atomics to lines in the memory of another GPU.");
    COUNTER("bytes", "bytes", bytes, "Data of these accesses, both ways, without headers.");
#undef COUNTER
}
