/* Wires crossbar ports, L2 slices and DRAM channels together. */
#include "mem/memory_internal.h"

#include <stdio.h>
#include <stdlib.h>

const struct pw_option pw_crossbar_options[] = {
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_crossbar_config, latency), 1, 10000, "10", "cycles", NULL,
     "Cycles a flit needs between an SM and an L2 slice, each way.", false},
    {"bytes_per_cycle", PW_OPTION_COUNT, offsetof(struct pw_crossbar_config, bytes_per_cycle), 1, 1024, "32", "bytes",
     NULL, "Bytes each port of the crossbar moves per cycle and direction.", false},
    {0}};

const struct pw_option pw_l2_options[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct pw_l2_config, bytes), 2048, 1ULL << 36, "2MB", "bytes", NULL,
     "Capacity of all slices together; rounded down to whole sets per slice.", false},
    {"ways", PW_OPTION_COUNT, offsetof(struct pw_l2_config, ways), 1, 1024, "16", "ways", NULL, "Associativity.",
     false},
    {"slices", PW_OPTION_COUNT, offsetof(struct pw_l2_config, slices), 1, 64, "2", "slices", NULL,
     "Slices (banks) per memory channel.", false},
    {"ports", PW_OPTION_COUNT, offsetof(struct pw_l2_config, ports), 1, 8, "1", "ports", NULL,
     "Lookups per cycle and slice.", false},
    {"bytes_per_cycle", PW_OPTION_COUNT, offsetof(struct pw_l2_config, bytes_per_cycle), 0, PW_LINE_BYTES, "0", "bytes",
     NULL, "Data that a port reads or writes per cycle; 0: a lookup keeps its port for one cycle, whatever it carries.",
     false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_l2_config, latency), 1, 100000, "10", "cycles", NULL,
     "Cycles from the start of a lookup to its answer, beyond the crossbar.", false},
    {"path", PW_OPTION_CYCLES, offsetof(struct pw_l2_config, path), 0, 10000, "0", "cycles", NULL,
     "Cycles that every request spends in a memory partition before its lookup, page-table reads too.", false},
    {"mshrs", PW_OPTION_COUNT, offsetof(struct pw_l2_config, mshrs), 1, 65536, "128", "entries", NULL,
     "Outstanding misses per slice.", false},
    {"sectored", PW_OPTION_BOOL, offsetof(struct pw_l2_config, sectored), 0, 0, "off", "", NULL,
     "Fetch 32-byte sectors on demand instead of whole 128-byte lines.", false},
    {"fetch_bytes", PW_OPTION_COUNT, offsetof(struct pw_l2_config, fetch_bytes), PW_SECTOR_BYTES, PW_LINE_BYTES, "32",
     "bytes", NULL, "With sectors, what a miss fetches: the aligned piece in which a sector lies.", true},
    {"halves", PW_OPTION_BOOL, offsetof(struct pw_l2_config, halves), 0, 0, "off", "", NULL,
     "Two halves, each nearer to half of the SMs, that keep copies of each other's lines, as on NVIDIA's A100 and "
     "later.",
     false},
    {"far_latency", PW_OPTION_CYCLES, offsetof(struct pw_l2_config, far_latency), 0, 10000, "0", "cycles", NULL,
     "With halves, cycles from one to the other, each way.", false},
    {"copies", PW_OPTION_BOOL, offsetof(struct pw_l2_config, copies), 0, 0, "off", "", NULL,
     "What lies in an allocation before its first launch has been copied to the GPU through the L2 and is still there.",
     false},
    {"occupied", PW_OPTION_NUMBER, offsetof(struct pw_l2_config, occupied), 0, 100, "0", "%", NULL,
     "Share of the L2 in which something else lies when a program begins.", false},
    {"partition", PW_OPTION_CHOICE, offsetof(struct pw_l2_config, partition), 0, 0, "shared", "",
     (const char *const[]){"shared", "by-app", NULL},
     "Whether applications share all channels and L2 slices, or divide them evenly.", false},
    {"walks", PW_OPTION_POLICY, offsetof(struct pw_l2_config, walks), 0, 0, "always", "", &pw_l2_walks_family,
     "Which page-table reads use the L2 cache.", false},
    {0}};

static void dram_read_done(void *client, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = ((struct pw_channel *)client)->memory;
    pw_slice_fill(&m->slices[r->slice], r, now);
}

static void dram_read_scheduled(void *client, const struct pw_request *r)
{
    struct pw_memory *m = ((struct pw_channel *)client)->memory;
    const struct pw_slice *s = &m->slices[r->slice];
    pw_cache_prefetch(&s->cache, r->set);
    __builtin_prefetch(&s->mshr.entries[r->l2_miss]);
    pw_mshr_prefetch(&s->mshr, r->line);
}

static void dram_write_done(void *client, struct pw_request *r, pw_cycle now)
{
    (void)now;
    struct pw_memory *m = ((struct pw_channel *)client)->memory;
    m->pending--;
    pw_request_give(m->pool, r);
}

void pw_memory_to_dram(struct pw_slice *s, struct pw_request *r, pw_cycle at)
{
    struct pw_channel *c = &s->memory->channels[s->channel];
    uint32_t line = r->line - s->memory->first_line;
    pw_dram_submit(c->dram, r, pw_channel_line(s->map, line), at + s->memory->config.dram.path);
}

void pw_memory_bring_up_to_date(struct pw_memory *m, pw_cycle now)
{
    for (uint32_t i = 0; i < m->config.dram.channels; i++)
        pw_dram_bring_up_to_date(m->channels[i].dram, now);
}

/* An epoch begins: what has issued was chosen before it, and what was chosen for later is chosen again. */
static void begin_epoch(void *memory, pw_cycle now)
{
    struct pw_memory *m = memory;
    pw_memory_bring_up_to_date(m, now);
    for (uint32_t i = 0; i < m->config.dram.channels; i++)
        pw_dram_choose_again(m->channels[i].dram, now);
}

static void deliver_to_sm(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_memory *m = object;
    m->pending--;
    m->clients.reply(m->clients.sms, (struct pw_request *)(uintptr_t)argument, now);
}

void pw_memory_arrive_at_sm(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_memory *m = object;
    const struct pw_request *r = (const struct pw_request *)(uintptr_t)argument;
    pw_cycle done = pw_port_receive(&m->sm_down[r->source], now, m->flits[__builtin_popcount(r->sectors)]);
    if (done > now)
        pw_events_post(m->events, done, deliver_to_sm, m, argument);
    else
        deliver_to_sm(m, argument, now);
}

void pw_memory_send(struct pw_memory *m, struct pw_request *r, pw_cycle ready)
{
    uint32_t flits = r->kind == PW_REQUEST_READ ? 1 : m->flits[__builtin_popcount(r->sectors)];
    pw_cycle arrival = pw_port_send(&m->sm_up[r->source], ready, flits, m->config.crossbar.latency);
    m->pending++;
    if (__builtin_expect(r->line - m->first_line >= m->line_count, 0)) {
        pw_events_post(m->events, arrival, m->outside, m, (uint64_t)(uintptr_t)r);
        return;
    }
    struct pw_slice *s = pw_memory_find_slice(m, r);
    if (__builtin_expect(m->half_slices != 0, 0) && pw_slice_is_far(s, r)) {
        if (r->kind == PW_REQUEST_ATOMIC)
            arrival += 2 * (pw_cycle)m->config.l2.far_latency; /* there and back */
        else
            s = pw_slice_mirror(s);
    }
    pw_events_post(m->events, arrival + m->config.l2.path, pw_slice_arrive, s, (uint64_t)(uintptr_t)r);
    pw_cache_prefetch(&s->cache, r->set);
    pw_mshr_prefetch(&s->mshr, r->line);
}

void pw_memory_send_direct(struct pw_memory *m, struct pw_request *r, pw_cycle at)
{
    struct pw_slice *s = pw_memory_find_slice(m, r);
    m->pending++;
    at += m->config.l2.path;
    if (at == m->events->now)
        pw_slice_accept(s, (uint64_t)(uintptr_t)r, at);
    else
        pw_events_post(m->events, at, pw_slice_accept, s, (uint64_t)(uintptr_t)r);
}

/* Gives every application its channels. */
static enum pw_status divide_channels(struct pw_memory *m, struct pw_error *err)
{
    uint32_t channels = m->config.dram.channels, slices = m->config.l2.slices, apps = m->config.apps;
    bool divided = m->config.l2.partition == PW_L2_BY_APP;
    if (divided && apps > channels)
        return pw_fail(err, PW_USER_ERROR, "l2.partition = by-app: %u channels cannot be divided among %u applications",
                       channels, apps);
    for (uint32_t app = 0, first = 0; app < apps; app++) {
        uint32_t count = divided ? channels / apps + (app < channels % apps) : channels;
        m->apps[app] =
            (struct pw_app_channels){pw_memory_map_of(count, slices, m->config.dram.interleave), first * slices};
        for (uint32_t i = first * slices; i < (first + count) * slices; i++)
            m->slices[i].map = &m->apps[app].map;
        first += divided ? count : 0;
    }
    return PW_OK;
}

static enum pw_status create_slices(struct pw_memory *m, struct pw_error *err)
{
    const struct pw_l2_config *l2 = &m->config.l2;
    for (uint32_t i = 0; i < m->slice_count; i++) {
        struct pw_slice *s = &m->slices[i];
        s->memory = m;
        s->channel = i / l2->slices;
        s->index = (uint16_t)i;
        enum pw_status status =
            pw_cache_init(&s->cache, "l2", l2->bytes / PW_LINE_BYTES / m->slice_count, l2->ways, err);
        if (status == PW_OK)
            status = pw_mshr_init(&s->mshr, "l2.mshrs", l2->mshrs, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static enum pw_status create_channels(struct pw_memory *m, struct pw_error *err)
{
    for (uint32_t i = 0; i < m->config.dram.channels; i++) {
        struct pw_channel *c = &m->channels[i];
        c->memory = m;
        struct pw_dram_wiring wiring = {.events = m->events,
                                        .counters = m->dram_counters,
                                        .schedule = &m->schedule_use,
                                        .pressure = m->config.pressure,
                                        .channel = i,
                                        .core_mhz = m->config.core_mhz,
                                        .client = c,
                                        .read_scheduled = dram_read_scheduled,
                                        .read_done = dram_read_done,
                                        .write_done = dram_write_done};
        enum pw_status status = pw_dram_channel_create(&m->config.dram, &wiring, &c->dram, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

/* The schedule, of which each channel makes an instance, and the policy for page-table reads, which all slices ask. */
static enum pw_status create_policies(struct pw_memory *m, struct pw_error *err)
{
    const struct pw_memory_config *c = &m->config;
    const struct pw_policy *schedule = pw_policy_chosen(&pw_dram_family, &c->dram.schedule);
    const struct pw_policy *walks = c->walks ? &c->walks->head : pw_policy_chosen(&pw_l2_walks_family, &c->l2.walks);
    m->walks = pw_l2_walks_policy_of(walks);
    for (uint32_t i = 0; i < m->slice_count; i++)
        m->slices[i].asks = m->walks->use || m->walks->happened;
    enum pw_status status =
        pw_policy_use_init(&m->schedule_use, c->policies, "dram.schedule", schedule, &c->dram.schedule, c->apps, err);
    m->schedule_use.catch_up = begin_epoch;
    m->schedule_use.owner = m;
    if (status == PW_OK)
        status = pw_policy_use_init(&m->walks_use, c->policies, "l2.walks", walks, &c->l2.walks, c->apps, err);
    return status == PW_OK ? pw_policy_use_add(&m->walks_use, NULL, &m->walks_state, err) : status;
}

enum pw_status pw_memory_create(const struct pw_memory_config *config, struct pw_events *events,
                                struct pw_request_pool *pool, struct pw_memory **out, struct pw_error *err)
{
    struct pw_memory *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return pw_fail_memory(err, "memory system");
    m->config = *config;
    m->events = events;
    m->pool = pool;
    m->slice_count = config->dram.channels * config->l2.slices;
    uint32_t unit = config->l2.sectored ? config->l2.fetch_bytes / PW_SECTOR_BYTES : PW_SECTORS_PER_LINE;
    for (uint32_t sectors = 0; sectors <= PW_ALL_SECTORS; sectors++) {
        uint32_t bytes = pw_sector_count(sectors) * PW_SECTOR_BYTES, width = config->l2.bytes_per_cycle;
        m->lookup[sectors] = width ? (uint8_t)pw_flits(bytes, width) : 1;
        for (uint32_t i = 0; i < PW_SECTORS_PER_LINE; i++)
            m->fetched[sectors] |= (uint8_t)((sectors >> i & 1U) * (((1U << unit) - 1) << (i & ~(unit - 1))));
    }
    for (uint32_t n = 0; n <= PW_SECTORS_PER_LINE; n++)
        m->flits[n] = pw_flits(n * PW_SECTOR_BYTES, config->crossbar.bytes_per_cycle);
    m->slices = calloc(m->slice_count, sizeof *m->slices);
    m->channels = calloc(config->dram.channels, sizeof *m->channels);
    m->sm_up = calloc(config->sms, sizeof *m->sm_up);
    m->sm_down = calloc(config->sms, sizeof *m->sm_down);
    m->apps = calloc(config->apps, sizeof *m->apps);
    m->counters = calloc(config->apps, sizeof *m->counters);
    m->dram_counters = calloc(config->apps, sizeof *m->dram_counters);
    m->remote = (struct pw_remote){
        .config = config->remote, .link = config->link, .counters = calloc(config->apps, sizeof *m->remote.counters)};
    m->peer_counters = calloc(config->apps, sizeof *m->peer_counters);
    m->line_count = (uint32_t)(config->dram.bytes >> PW_LINE_SHIFT);
    m->outside = config->peers ? pw_peer_arrive : pw_remote_arrive;
    if (config->peers) {
        m->first_line = config->gpu << config->peers->line_shift;
        config->peers->memories[config->gpu] = m;
    }
    enum pw_status status = PW_OK;
    if (!m->slices || !m->channels || !m->apps || !m->sm_up || !m->sm_down || !m->counters || !m->dram_counters ||
        !m->remote.counters || !m->peer_counters)
        status = pw_fail_memory(err, "memory system");
    if (status == PW_OK)
        status = divide_channels(m, err);
    if (status == PW_OK)
        status = create_slices(m, err);
    if (status == PW_OK && config->l2.halves && config->l2.partition == PW_L2_SHARED)
        status = pw_halves_init(m, err);
    if (status == PW_OK && config->l2.occupied > 0)
        pw_memory_occupy(m);
    if (status == PW_OK)
        status = create_policies(m, err);
    if (status == PW_OK)
        status = create_channels(m, err);
    if (status != PW_OK) {
        pw_memory_destroy(m);
        return status;
    }
    *out = m;
    return PW_OK;
}

void pw_memory_connect(struct pw_memory *m, const struct pw_memory_clients *clients)
{
    m->clients = *clients;
}

void pw_memory_destroy(struct pw_memory *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; m->slices && i < m->slice_count; i++) {
        pw_cache_release(&m->slices[i].cache);
        pw_mshr_release(&m->slices[i].mshr);
        pw_mshr_release(&m->slices[i].copies);
    }
    for (uint32_t i = 0; m->channels && i < m->config.dram.channels; i++)
        pw_dram_channel_destroy(m->channels[i].dram);
    free(m->slices);
    free(m->channels);
    free(m->apps);
    free(m->sm_up);
    free(m->sm_far);
    free(m->sm_down);
    free(m->counters);
    free(m->dram_counters);
    pw_policy_use_release(&m->schedule_use);
    pw_policy_use_release(&m->walks_use);
    free(m->remote.counters);
    free(m->peer_counters);
    free(m);
}

/* Adds what is counted of page-table reads to a counter, from level `first` on; `field` is by kind (PW_L2_KINDS). */
static void add_levels(const struct pw_memory *m, struct pw_stats *stats, const char *name, size_t field, size_t first)
{
    for (size_t level = first; level < PW_L2_KINDS; level++)
        pw_stats_further_place(stats, name, m->counters, sizeof *m->counters, field + level * sizeof(uint64_t));
}

static void register_l2(const struct pw_memory *m, struct pw_stats *stats)
{
#define AT(field) offsetof(struct pw_l2_counters, field)
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, m->counters, sizeof *m->counters, AT(field))
#define LEVEL(n, which)                                                                                                \
    COUNTER("l2.ptw_level" #n ".accesses", "accesses", accesses[n], "Page-table reads of level " which " in the L2."); \
    COUNTER("l2.ptw_level" #n ".hits", "accesses", hits[n], "Those that hit.");                                        \
    COUNTER("l2.ptw_level" #n ".bypassed", "reads", bypassed[n], "Page-table reads of that level that went past it.")
    COUNTER("l2.accesses", "accesses", accesses[0], "Lookups in the L2 cache, page-table reads and stores included.");
    COUNTER("l2.hits", "accesses", hits[0], "L2 lookups that found what they asked for.");
    COUNTER("l2.misses", "accesses", misses, "L2 lookups that did not, merged ones included.");
    COUNTER("l2.mshr_merges", "accesses", merges, "L2 misses that found their line already on its way.");
    COUNTER("l2.writebacks", "lines", writebacks, "Dirty lines written back to DRAM.");
    COUNTER("l2.read_sectors", "sectors", read_sectors, "32-byte sectors that loads ask of the L2 cache.");
    COUNTER("l2.read_sector_hits", "sectors", read_sector_hits, "Those that are there, or on their way.");
    COUNTER("l2.write_sectors", "sectors", write_sectors, "Sectors that stores bring to the L2 cache.");
    LEVEL(1, "1 (root)");
    LEVEL(2, "2");
    LEVEL(3, "3");
    LEVEL(4, "4");
    COUNTER("l2.walk_bypassed", "reads", bypassed[0], "Page-table reads of all levels that went past the L2 cache.");
    COUNTER("l2.data_accesses", "accesses", accesses[0], NULL);
    COUNTER("l2.data_hits", "accesses", hits[0], NULL);
    COUNTER("l2.data_queue", "cycles", queues[0].cycles, NULL);
    COUNTER("l2.walk_accesses", "accesses", accesses[1], NULL);
    COUNTER("l2.walk_hits", "accesses", hits[1], NULL);
    COUNTER("l2.walk_reads", "reads", accesses[1], NULL);
    COUNTER("l2.walk_queue", "cycles", queues[1].cycles, NULL);
    add_levels(m, stats, "l2.accesses", AT(accesses), 1);
    add_levels(m, stats, "l2.hits", AT(hits), 1);
    add_levels(m, stats, "l2.walk_bypassed", AT(bypassed), 1);
    add_levels(m, stats, "l2.walk_accesses", AT(accesses), 2);
    add_levels(m, stats, "l2.walk_hits", AT(hits), 2);
    add_levels(m, stats, "l2.walk_reads", AT(accesses), 2);
    add_levels(m, stats, "l2.walk_reads", AT(bypassed), 1);
#undef AT
#undef COUNTER
#undef LEVEL
    pw_stats_ratio(stats, "l2.data_hit_rate", "%", "Share of L2 lookups, page-table reads aside, that hit.",
                   "l2.data_hits", "l2.data_accesses", 100);
    pw_stats_ratio(stats, "l2.sector_hit_rate", "%", "Share of the loads' sectors that are there, or on their way.",
                   "l2.read_sector_hits", "l2.read_sectors", 100);
    pw_stats_ratio(stats, "l2.walk_hit_rate", "%", "Share of page-table reads looked up in the L2 that hit.",
                   "l2.walk_hits", "l2.walk_accesses", 100);
    pw_stats_ratio(stats, "l2.data_queue_mean", "cycles",
                   "Mean wait at the L2 slice, for a port or a miss register, of all but page-table reads.",
                   "l2.data_queue", "l2.data_accesses", 1);
    pw_stats_ratio(stats, "l2.walk_queue_mean", "cycles",
                   "Mean wait at the L2 slice of page-table reads, those that bypass the L2 included.", "l2.walk_queue",
                   "l2.walk_reads", 1);
    pw_stats_identity(stats, "l2.accesses", "l2.hits + l2.misses");
}

void pw_memory_register(struct pw_memory *m, struct pw_stats *stats)
{
    register_l2(m, stats);
    pw_dram_register(stats, m->dram_counters);
    pw_remote_register(m, stats);
    if (m->config.peers)
        pw_peer_register(m, stats);
}

uint64_t pw_memory_pending(const struct pw_memory *m)
{
    return m->pending;
}

size_t pw_memory_describe(const struct pw_memory *m, char *out, size_t capacity)
{
    uint32_t blocked = 0, misses = 0;
    uint64_t in_dram = 0, waiting = 0;
    for (uint32_t i = 0; i < m->slice_count; i++) {
        blocked += m->slices[i].blocked.count;
        misses += m->slices[i].mshr.in_use;
    }
    for (uint32_t i = 0; i < m->config.dram.channels; i++) {
        waiting += pw_dram_waiting(m->channels[i].dram);
        in_dram += pw_dram_pending(m->channels[i].dram);
    }
    int n = snprintf(out, capacity,
                     "  memory: %llu requests; L2: %u misses, %u blocked on miss registers; DRAM: %llu queued, "
                     "%llu waiting for a queue\n",
                     (unsigned long long)m->pending, misses, blocked, (unsigned long long)in_dram,
                     (unsigned long long)waiting);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}
