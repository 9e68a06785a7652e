/* The way of a remote access between the crossbar and the host. The model is described in remote.h.
 *
 * The defaults are assumed, after what is public: GPUs read host memory over PCIe in requests of 32 to 128 bytes, a
 * round trip takes 1.0 to 1.6 microseconds, and the 8 bits of a PCIe 3.0 tag bound the reads under way to 256, which is
 * what limits 32-byte reads to less than half the bandwidth of 128-byte ones (assumed, docs/decisions.md). */
#include "mem/remote.h"

#include "mem/memory_internal.h"

const struct pw_option pw_remote_options[] = {
    {"remote_latency", PW_OPTION_CYCLES, offsetof(struct pw_remote_config, latency), 0, 4e9, "1.3us", "cycles", NULL,
     "Round trip of an access to host memory, its data's time on the link not included.", false},
    {"remote_bytes", PW_OPTION_BYTES, offsetof(struct pw_remote_config, bytes), PW_SECTOR_BYTES, PW_LINE_BYTES, "32B",
     "bytes", NULL, "An access to host memory moves a multiple of this: 32 for sectors, 128 for whole lines.", true},
    {"remote_reads", PW_OPTION_COUNT, offsetof(struct pw_remote_config, reads), 1, 1 << 20, "256", "reads", NULL,
     "Reads of host memory that can be under way at once.", false},
    {0}};

/* Moves the data of a request; returns when it has crossed the link. */
static pw_cycle move(struct pw_memory *m, const struct pw_request *r, enum pw_link_direction direction, pw_cycle now)
{
    const struct pw_remote *remote = &m->remote;
    uint64_t sectors = (uint64_t)__builtin_popcount(r->sectors) * PW_SECTOR_BYTES, unit = remote->config.bytes;
    uint64_t bytes = (sectors + unit - 1) / unit * unit;
    remote->counters[r->app].bytes += bytes;
    return pw_link_send_small(remote->link, direction, bytes, now);
}

static void written(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    m->pending--;
    m->clients.stored(m->clients.sms, (struct pw_request *)(uintptr_t)request, now);
}

static void start_read(struct pw_memory *m, struct pw_request *r, pw_cycle now);

static void answered(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    const struct pw_request *r = (const struct pw_request *)(uintptr_t)request;
    pw_events_post(m->events, now + m->config.crossbar.latency, pw_memory_arrive_at_sm, m, request);
    m->clients.expect_reply(m->clients.sms, r);
    m->remote.reads--;
    struct pw_request *next = pw_request_list_pop(&m->remote.waiting);
    if (next)
        start_read(m, next, now);
}

static void answer_leaves_host(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    const struct pw_request *r = (const struct pw_request *)(uintptr_t)request;
    pw_events_post(m->events, move(m, r, PW_LINK_H2D, now), answered, m, request);
}

static void start_read(struct pw_memory *m, struct pw_request *r, pw_cycle now)
{
    pw_cycle sent = now;
    m->remote.reads++;
    m->remote.counters[r->app].reads++;
    if (r->kind == PW_REQUEST_ATOMIC) {
        m->remote.counters[r->app].writes++;
        sent = move(m, r, PW_LINK_D2H, now);
    }
    pw_events_post(m->events, sent + m->remote.config.latency, answer_leaves_host, m, (uint64_t)(uintptr_t)r);
}

void pw_remote_arrive(void *memory, uint64_t request, pw_cycle now)
{
    struct pw_memory *m = memory;
    struct pw_request *r = (struct pw_request *)(uintptr_t)request;
    if (r->kind == PW_REQUEST_WRITE || (r->kind == PW_REQUEST_ATOMIC && r->owner == PW_NO_OWNER)) {
        m->remote.counters[r->app].writes++;
        pw_cycle sent = move(m, r, PW_LINK_D2H, now);
        pw_events_post(m->events, sent + m->remote.config.latency / 2, written, m, request);
    } else if (m->remote.reads < m->remote.config.reads) {
        start_read(m, r, now);
    } else {
        pw_request_list_push(&m->remote.waiting, r);
    }
}

/* What crossed the link in small transfers are the accesses of the applications, and none is left over. */
static enum pw_status check_bytes(void *memory, struct pw_error *err)
{
    const struct pw_memory *m = memory;
    uint64_t bytes = 0, moved = 0;
    for (unsigned app = 0; app < m->config.apps; app++)
        bytes += m->remote.counters[app].bytes;
    for (int d = 0; d < PW_LINK_DIRECTIONS; d++)
        moved += pw_link_counters(m->remote.link, (enum pw_link_direction)d)->small_bytes;
    if (bytes != moved || m->remote.reads || m->remote.waiting.count)
        return pw_fail(err, PW_FAILED, "%llu bytes of remote accesses, but %llu over the link; %u reads are under way",
                       (unsigned long long)bytes, (unsigned long long)moved, m->remote.reads + m->remote.waiting.count);
    return PW_OK;
}

void pw_remote_register(struct pw_memory *m, struct pw_stats *stats)
{
    if (!m->remote.link)
        return;
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, m->remote.counters, sizeof *m->remote.counters,                          \
                     offsetof(struct pw_remote_counters, field))
    COUNTER("uvm.remote_reads", "accesses", reads, "Reads of host memory over the link, without moving a page.");
    COUNTER("uvm.remote_writes", "accesses", writes, "Writes to host memory over the link, atomics included.");
    COUNTER("uvm.remote_bytes", "bytes", bytes, "Bytes that remote accesses moved, both ways.");
#undef COUNTER
    pw_stats_identity_check(stats, "uvm.remote_bytes are what crossed the link in small transfers", check_bytes, m);
}
