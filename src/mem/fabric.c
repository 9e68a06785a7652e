/* The fabric between GPUs and host: routes, and the time at which each direction of a link is free. The model is
 * described in fabric.h.
 *
 * A queue is no list: since a direction serves messages as their heads come, it is enough to know when it is free
 * again. That time is kept exactly, as cycles and parts of a cycle, so that messages one after the other take bytes /
 * bandwidth however that divides, on ways of several links too; only between links of different speeds does a head wait
 * for the next whole cycle. Bandwidths are turned into parts of a cycle
 * once, when the fabric is made; from there on everything is integers. An event takes each head to its next link, so
 * that heads from different links come there in order of time.
 *
 * The default bandwidth is that of gmmu-bypass (Table 1, Sec. 5.1), which says no more of its fabric; two GPUs on a
 * switch, a root above and 140 cycles per switch are what MGPUSim has, which it was measured with. The latency of a
 * link and the bytes of requests and headers are assumed. */
#include "mem/fabric.h"

#include "sim/record_pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_RATE 0.001

static const char *const topology_names[] = {"tree", "all-to-all", NULL};

static const char *const queue_names[] = {"shared", "by-class", NULL};

const struct pw_option pw_fabric_options[] = {
    {"topology", PW_OPTION_CHOICE, offsetof(struct pw_fabric_config, topology), 0, 0, "tree", "", topology_names,
     "How GPUs are connected: through switches below one root, or each with each; the host is at the root.", false},
    {"gb_per_s", PW_OPTION_NUMBER, offsetof(struct pw_fabric_config, gbytes_per_second), LEAST_RATE, 10000, "16",
     "GB/s", NULL, "Bandwidth of a link between GPUs, each way, in 10^9 bytes per second.", false},
    {"gpus_per_switch", PW_OPTION_COUNT, offsetof(struct pw_fabric_config, gpus_per_switch), 1, PW_FABRIC_MOST_GPUS,
     "2", "GPUs", NULL, "GPUs that hang on one switch.", false},
    {"switch_latency", PW_OPTION_CYCLES, offsetof(struct pw_fabric_config, switch_latency), 0, 4e9, "140", "cycles",
     NULL, "Time to pass a switch, or the root.", false},
    {"link_latency", PW_OPTION_CYCLES, offsetof(struct pw_fabric_config, link_latency), 0, 4e9, "0", "cycles", NULL,
     "Time of the first byte on a link.", false},
    {"host_gb_per_s", PW_OPTION_NUMBER, offsetof(struct pw_fabric_config, host_gbytes_per_second), 0, 10000, "0",
     "GB/s", NULL,
     "Bandwidth of the host's link, each way; all-to-all: of all links on the way to the host. 0: that between GPUs.",
     false},
    {"queues", PW_OPTION_CHOICE, offsetof(struct pw_fabric_config, queues), 0, 0, "by-class", "", queue_names,
     "Whether messages without data wait at a link with all others, or pass between those with data.", false},
    {"request_bytes", PW_OPTION_COUNT, offsetof(struct pw_fabric_config, request_bytes), 1, 1 << 20, "16", "bytes",
     NULL, "Bytes of a message without data.", false},
    {"header_bytes", PW_OPTION_COUNT, offsetof(struct pw_fabric_config, header_bytes), 0, 1 << 20, "16", "bytes", NULL,
     "Bytes that a message with data has besides it.", false},
    {0}};

enum { MOST_LINKS = 4, CHUNK_BYTES = 16 << 10 };

/* A time to the fraction of a cycle; how many parts a cycle has is a matter of the speed it belongs to. */
struct exact_time {
    pw_cycle cycles;
    uint64_t parts;
};

struct speed {
    uint64_t parts_per_byte, parts_per_cycle; /* without a common divisor */
};

/* One direction of a link. */
struct channel {
    const struct speed *speed;
    struct exact_time free;  /* after all messages whose heads have come so far */
    struct exact_time small; /* queues by class: after those of them that have no data */
    struct exact_time busy;  /* in sum */
};

struct route {
    uint16_t channels[MOST_LINKS];
    uint8_t count;
    const struct speed *slowest;
    pw_cycle latency; /* of its links and switches */
};

struct message {
    const struct route *route;
    uint32_t hop, bytes;
    const struct speed *speed; /* of the last link; it takes `duration` there */
    struct exact_time duration;
    struct exact_time head; /* when it comes to the next */
    pw_cycle sent, unloaded;
    pw_cycle tail; /* when its last byte is through what it has entered so far */
    pw_event_fn *arrive;
    void *object;
    uint64_t argument;
};

struct counters {
    uint64_t messages, bytes, arrived, under_way;
    uint64_t link_bytes;       /* counted by the links */
    uint64_t route_link_bytes; /* counted at the end of the way */
    uint64_t latency, queued;
    uint64_t busiest;
};

struct pw_fabric {
    struct pw_events *events;
    unsigned gpus, switches;
    struct pw_fabric_config config;
    struct speed gpu_speed, host_speed;
    struct channel *channels;
    struct route *routes; /* [from][to] */
    struct counters counters;
    struct pw_record_pool messages;
    struct message reserve;
};

static struct speed speed_of(uint32_t clock_mhz, double gbytes_per_second)
{
    /* Thousands of bytes per second: with them the parts of 2^32 bytes fit into 64 bits at any clock. */
    uint64_t rate = (uint64_t)llround(gbytes_per_second * 1e6), clock = (uint64_t)clock_mhz * 1000;
    uint64_t divisor = rate, rest = clock;
    while (rest) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return (struct speed){clock / divisor, rate / divisor};
}

static bool is_slower(const struct speed *a, const struct speed *b)
{
    return a->parts_per_byte * b->parts_per_cycle > b->parts_per_byte * a->parts_per_cycle;
}

static struct exact_time duration_of(const struct speed *s, uint32_t bytes)
{
    uint64_t parts = bytes * s->parts_per_byte;
    return (struct exact_time){parts / s->parts_per_cycle, parts % s->parts_per_cycle};
}

static pw_cycle rounded_up(struct exact_time t)
{
    return t.cycles + (t.parts != 0);
}

static bool is_before(struct exact_time a, struct exact_time b)
{
    return a.cycles < b.cycles || (a.cycles == b.cycles && a.parts < b.parts);
}

static void add(struct exact_time *t, struct exact_time more, const struct speed *s)
{
    t->cycles += more.cycles;
    t->parts += more.parts;
    if (t->parts >= s->parts_per_cycle) {
        t->parts -= s->parts_per_cycle;
        t->cycles++;
    }
}

/* Channels: those of a tree, by two (up, down), from the GPUs, the switches and the host; and between GPUs, [from][to].
 * Up is towards the root. */
static unsigned channel_of_switch(const struct pw_fabric *f, unsigned gpu)
{
    return 2 * (f->gpus + gpu / f->config.gpus_per_switch);
}

static unsigned channel_of_host(const struct pw_fabric *f)
{
    return 2 * (f->gpus + f->switches);
}

static unsigned direct_channel(const struct pw_fabric *f, unsigned from, unsigned to)
{
    return channel_of_host(f) + 2 + from * f->gpus + to;
}

static unsigned channel_count(const struct pw_fabric *f)
{
    return f->config.topology == PW_FABRIC_ALL_TO_ALL ? direct_channel(f, f->gpus, 0) : channel_of_host(f) + 2;
}

static void add_channel(const struct pw_fabric *f, struct route *r, unsigned channel)
{
    const struct speed *speed = f->channels[channel].speed;
    if (!r->count || is_slower(speed, r->slowest))
        r->slowest = speed;
    r->channels[r->count++] = (uint16_t)channel;
}

static struct route make_route(const struct pw_fabric *f, unsigned from, unsigned to)
{
    struct route r = {0};
    bool between_gpus = from < f->gpus && to < f->gpus;
    if (between_gpus && f->config.topology == PW_FABRIC_ALL_TO_ALL) {
        add_channel(f, &r, direct_channel(f, from, to));
    } else {
        bool over_root = !between_gpus || channel_of_switch(f, from) != channel_of_switch(f, to);
        add_channel(f, &r, from < f->gpus ? 2 * from : channel_of_host(f) + 1);
        if (from < f->gpus && over_root)
            add_channel(f, &r, channel_of_switch(f, from));
        if (to < f->gpus && over_root)
            add_channel(f, &r, channel_of_switch(f, to) + 1);
        add_channel(f, &r, to < f->gpus ? 2 * to + 1 : channel_of_host(f));
    }
    r.latency = (pw_cycle)r.count * f->config.link_latency + (r.count - 1ULL) * f->config.switch_latency;
    return r;
}

static void set_speeds(struct pw_fabric *f, uint32_t clock_mhz)
{
    const struct pw_fabric_config *c = &f->config;
    f->gpu_speed = speed_of(clock_mhz, c->gbytes_per_second);
    f->host_speed = c->host_gbytes_per_second > 0 ? speed_of(clock_mhz, c->host_gbytes_per_second) : f->gpu_speed;
    bool differ = is_slower(&f->gpu_speed, &f->host_speed) || is_slower(&f->host_speed, &f->gpu_speed);
    unsigned host = channel_of_host(f), count = channel_count(f);
    for (unsigned i = 0; i < count; i++) {
        bool to_host = i == host || i == host + 1 || (c->topology == PW_FABRIC_ALL_TO_ALL && i < host);
        f->channels[i].speed = to_host && differ ? &f->host_speed : &f->gpu_speed;
    }
}

static void set_routes(struct pw_fabric *f)
{
    for (unsigned from = 0; from <= f->gpus; from++)
        for (unsigned to = 0; to <= f->gpus; to++)
            if (from != to)
                f->routes[from * (f->gpus + 1) + to] = make_route(f, from, to);
}

enum pw_status pw_fabric_create(const struct pw_fabric_config *config, unsigned gpus, uint32_t clock_mhz,
                                struct pw_events *events, struct pw_fabric **out, struct pw_error *err)
{
    *out = NULL;
    if (!gpus || gpus > PW_FABRIC_MOST_GPUS)
        return pw_fail(err, PW_USER_ERROR, "a fabric connects 1 to %d GPUs, not %u", PW_FABRIC_MOST_GPUS, gpus);
    if (config->host_gbytes_per_second > 0 && config->host_gbytes_per_second < LEAST_RATE)
        return pw_fail(err, PW_USER_ERROR, "fabric.host_gb_per_s: give at least 0.001, or 0 for fabric.gb_per_s");
    struct pw_fabric *f = calloc(1, sizeof *f);
    if (!f)
        return pw_fail_memory(err, "the fabric");
    f->events = events;
    f->gpus = gpus;
    f->config = *config;
    f->switches = (gpus + config->gpus_per_switch - 1) / config->gpus_per_switch;
    f->channels = calloc(channel_count(f), sizeof *f->channels);
    f->routes = calloc((gpus + 1) * (gpus + 1), sizeof *f->routes);
    pw_record_pool_init(&f->messages, events, sizeof f->reserve, CHUNK_BYTES, &f->reserve, 1);
    if (!f->channels || !f->routes) {
        pw_fabric_destroy(f);
        return pw_fail_memory(err, "the fabric");
    }
    set_speeds(f, clock_mhz);
    set_routes(f);
    *out = f;
    return PW_OK;
}

void pw_fabric_destroy(struct pw_fabric *f)
{
    if (!f)
        return;
    pw_record_pool_destroy(&f->messages);
    free(f->channels);
    free(f->routes);
    free(f);
}

unsigned pw_fabric_host(const struct pw_fabric *f)
{
    return f->gpus;
}

uint64_t pw_fabric_pending(const struct pw_fabric *f)
{
    return f->messages.in_use;
}

static const struct route *route_of(const struct pw_fabric *f, unsigned from, unsigned to)
{
    return &f->routes[from * (f->gpus + 1) + to];
}

pw_cycle pw_fabric_unloaded(const struct pw_fabric *f, unsigned from, unsigned to, uint32_t bytes)
{
    const struct route *r = route_of(f, from, to);
    return r->latency + rounded_up(duration_of(r->slowest, bytes));
}

static void arrived(void *fabric, uint64_t message, pw_cycle now)
{
    struct pw_fabric *f = fabric;
    struct message *m = (struct message *)(uintptr_t)message;
    struct counters *c = &f->counters;
    pw_event_fn *arrive = m->arrive;
    void *object = m->object;
    uint64_t argument = m->argument;
    c->arrived++;
    c->under_way--;
    c->route_link_bytes += (uint64_t)m->bytes * m->route->count;
    c->latency += now - m->sent;
    c->queued += now - m->sent - m->unloaded;
    pw_record_give(&f->messages, m);
    arrive(object, argument, now);
}

/* Takes its turn on a link; returns when it ends there. */
static struct exact_time cross(struct channel *c, struct message *m, bool passes)
{
    struct exact_time *queue = passes ? &c->small : &c->free;
    if (is_before(*queue, m->head))
        *queue = m->head;
    m->head = *queue;
    add(queue, m->duration, c->speed);
    if (!passes)
        return c->free;
    if (is_before(c->free, m->head))
        c->free = m->head;
    add(&c->free, m->duration, c->speed);
    return c->small;
}

/* An event too: the head has come to the next link of its way. */
static void enter_link(void *fabric, uint64_t message, pw_cycle now)
{
    struct pw_fabric *f = fabric;
    struct message *m = (struct message *)(uintptr_t)message;
    struct channel *c = &f->channels[m->route->channels[m->hop++]];
    if (m->speed != c->speed) {
        m->speed = c->speed;
        m->duration = duration_of(c->speed, m->bytes);
        m->head = (struct exact_time){now, 0};
    }
    bool passes = f->config.queues == PW_FABRIC_BY_CLASS && m->bytes <= f->config.request_bytes;
    pw_cycle end = rounded_up(cross(c, m, passes));
    add(&c->busy, m->duration, c->speed);
    if (c->busy.cycles > f->counters.busiest)
        f->counters.busiest = c->busy.cycles;
    f->counters.link_bytes += m->bytes;
    bool last = m->hop == m->route->count;
    pw_cycle latency = (pw_cycle)f->config.link_latency + (last ? 0 : f->config.switch_latency);
    m->head.cycles += latency;
    m->tail = (m->tail > end ? m->tail : end) + latency;
    pw_events_post(f->events, last ? m->tail : rounded_up(m->head), last ? arrived : enter_link, f, message);
}

void pw_fabric_send(struct pw_fabric *f, unsigned from, unsigned to, uint32_t bytes, pw_cycle now, pw_event_fn *arrive,
                    void *object, uint64_t argument)
{
    const struct route *r = route_of(f, from, to);
    struct message *m = pw_record_take(&f->messages);
    *m = (struct message){.route = r, .bytes = bytes, .speed = r->slowest, .sent = now, .head = {now, 0}};
    m->duration = duration_of(r->slowest, bytes);
    m->unloaded = r->latency + rounded_up(m->duration);
    m->arrive = arrive;
    m->object = object;
    m->argument = argument;
    f->counters.messages++;
    f->counters.bytes += bytes;
    f->counters.under_way++;
    enter_link(f, (uint64_t)(uintptr_t)m, now);
}

size_t pw_fabric_describe(const struct pw_fabric *f, char *out, size_t capacity)
{
    pw_cycle last = 0, now = f->events->now;
    for (unsigned i = 0; i < channel_count(f); i++)
        if (rounded_up(f->channels[i].free) > last)
            last = rounded_up(f->channels[i].free);
    int n = snprintf(out, capacity, "  fabric: %llu messages under way; links are busy for up to %llu cycles\n",
                     (unsigned long long)f->counters.under_way, (unsigned long long)(last > now ? last - now : 0));
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}

static enum pw_status check_ways(void *fabric, struct pw_error *err)
{
    const struct pw_fabric *f = fabric;
    const struct counters *c = &f->counters;
    if (!c->under_way && c->link_bytes != c->route_link_bytes)
        return pw_fail(err, PW_FAILED, "messages have moved %llu bytes over the links of their ways, the links %llu",
                       (unsigned long long)c->route_link_bytes, (unsigned long long)c->link_bytes);
    return PW_OK;
}

void pw_fabric_register(struct pw_fabric *f, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help) pw_stats_counter(stats, name, unit, help, &f->counters.field, 0, 0)
    COUNTER("fabric.messages", "messages", messages, "Messages sent between GPUs, and between GPUs and host.");
    COUNTER("fabric.arrived", "messages", arrived, "Those that have arrived.");
    COUNTER("fabric.under_way", "messages", under_way, "Those that have not, at the end.");
    pw_stats_level(stats, "fabric.under_way");
    COUNTER("fabric.bytes", "bytes", bytes, "Bytes of the messages sent, headers included.");
    COUNTER("fabric.link_bytes", "bytes", link_bytes,
            "Bytes that links have carried: of a message, on each it passed.");
    COUNTER("fabric.latency_sum", "cycles", latency, NULL);
    COUNTER("fabric.queue_sum", "cycles", queued, NULL);
    COUNTER("fabric.busy_max", "cycles", busiest, "Cycles of all messages over the busiest direction of a link.");
#undef COUNTER
    pw_stats_maximum(stats, "fabric.busy_max");
    pw_stats_ratio(stats, "fabric.latency_mean", "cycles", "Mean time of a message, until its last byte has arrived.",
                   "fabric.latency_sum", "fabric.arrived", 1);
    pw_stats_ratio(stats, "fabric.queue_mean", "cycles",
                   "The part of it spent waiting for links: what it took longer than it would have alone.",
                   "fabric.queue_sum", "fabric.arrived", 1);
    pw_stats_identity(stats, "fabric.messages", "fabric.arrived + fabric.under_way");
    pw_stats_identity_check(stats, "every message has passed the links of its way", check_ways, f);
}
