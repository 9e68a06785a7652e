/* One DRAM channel with a client that feeds it and writes down what it does. */
#ifndef PW_TESTS_DRAM_FIXTURE_H
#define PW_TESTS_DRAM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/dram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAM_FIXTURE_REQUESTS = 40000 };

struct dram_item {
    struct pw_request r;
    uint32_t local_line, bank, row;
    pw_cycle arrival, done;
    unsigned served; /* how often the channel has given it back */
};

struct dram_fixture {
    struct pw_dram_config config;
    struct pw_dram_wiring wiring;
    struct pw_policies policies; /* the schedule */
    struct pw_policy_use schedule;
    struct pw_events *events;
    struct pw_dram_channel *channel;
    struct pw_dram_counters counters[PW_MAX_APPS];
    struct pw_walk_pressure pressure[PW_MAX_APPS];
    struct dram_item *items; /* in the order they were added, which is the order of arrival */
    size_t item_count;
    struct pw_dram_command *commands;
    size_t command_count;
};

static inline struct pw_dram_config dram_default_config(void)
{
    struct pw_dram_config config;
    memset(&config, 0, sizeof(config));
    struct pw_error err;
    for (const struct pw_option *o = pw_dram_options; o->name; o++)
        assert_int_equal(pw_option_parse(o, o->fallback, 1000, (char *)&config + o->offset, &err), PW_OK);
    return config;
}

/* HBM2 as the machine `volta` has it (WL, WR, WTR and RTP as in Accel-Sim's QV100). */
static inline struct pw_dram_config dram_hbm2_config(void)
{
    struct pw_dram_config c = dram_default_config();
    c.bytes = 32ULL << 30;
    c.channels = 32;
    c.banks = 16;
    c.clock_mhz = 850;
    c.burst_bytes = 32;
    c.rcd = 12, c.ras = 28, c.rp = 12, c.rc = 40, c.rrd = 3, c.ccd = 1;
    c.cl = 12, c.wl = 2, c.wr = 10, c.wtr = 3, c.rtp = 3;
    return c;
}

/* Clocks of a whole line on the data bus, where bursts follow each other without a gap. */
static inline uint32_t dram_line_clocks(const struct pw_dram_config *c)
{
    return PW_LINE_BYTES / c->bytes_per_clock;
}

/* The line within the channel at this place: the inverse of the channel's mapping. */
static inline uint32_t dram_line_at(const struct pw_dram_config *c, uint32_t bank, uint32_t row, uint32_t column)
{
    uint32_t bits = (uint32_t)__builtin_ctz(c->banks);
    uint32_t hash = (row ^ row >> bits ^ row >> 2 * bits) & (c->banks - 1);
    return (row * c->banks + (bank ^ hash)) * (uint32_t)(c->row_bytes / PW_LINE_BYTES) + column;
}

static inline struct dram_item *dram_item_of(const struct pw_request *r)
{
    return (struct dram_item *)((uintptr_t)r - offsetof(struct dram_item, r));
}

static inline void dram_fixture_given_back(void *client, struct pw_request *r, pw_cycle now)
{
    (void)client;
    dram_item_of(r)->served++;
    dram_item_of(r)->done = now;
}

static inline void dram_fixture_arrive(void *object, uint64_t argument, pw_cycle now)
{
    struct dram_fixture *f = object;
    struct dram_item *i = &f->items[argument];
    pw_dram_submit(f->channel, &i->r, i->local_line, now);
}

static inline void dram_fixture_trace(void *client, const struct pw_dram_command *command)
{
    struct dram_fixture *f = client;
    assert_true(f->command_count < 4 * (size_t)DRAM_FIXTURE_REQUESTS);
    f->commands[f->command_count++] = *command;
}

/* `policy` instead of the one that the configuration chooses, where it is not NULL. */
static inline struct dram_fixture *dram_fixture_for(struct pw_dram_config config, uint32_t core_mhz,
                                                    const struct pw_dram_policy *policy, uint32_t channel,
                                                    unsigned apps)
{
    struct dram_fixture *f = calloc(1, sizeof(*f));
    struct pw_error err;
    const struct pw_policy *head = policy ? &policy->head : pw_policy_chosen(&pw_dram_family, &config.schedule);
    f->config = config;
    f->events = pw_events_create(&err);
    f->items = calloc(DRAM_FIXTURE_REQUESTS, sizeof(*f->items));
    f->commands = calloc(4 * (size_t)DRAM_FIXTURE_REQUESTS, sizeof(*f->commands));
    f->wiring = (struct pw_dram_wiring){
        .events = f->events,
        .counters = f->counters,
        .schedule = &f->schedule,
        .pressure = f->pressure,
        .channel = channel,
        .core_mhz = core_mhz,
        .client = f,
        .read_done = dram_fixture_given_back,
        .write_done = dram_fixture_given_back,
        .trace = dram_fixture_trace,
    };
    if (pw_policy_use_init(&f->schedule, &f->policies, "dram.schedule", head, &config.schedule, apps, &err) ||
        pw_dram_channel_create(&config, &f->wiring, &f->channel, &err))
        fail_msg("%s", err.message);
    return f;
}

static inline struct dram_fixture *dram_fixture_with(struct pw_dram_config config, uint32_t core_mhz,
                                                     const struct pw_dram_policy *policy, uint32_t channel)
{
    return dram_fixture_for(config, core_mhz, policy, channel, PW_MAX_APPS);
}

static inline struct dram_fixture *dram_fixture_create(struct pw_dram_config config, uint32_t core_mhz,
                                                       const struct pw_dram_policy *policy)
{
    return dram_fixture_with(config, core_mhz, policy, 0);
}

static inline void dram_fixture_destroy(struct dram_fixture *f)
{
    pw_dram_channel_destroy(f->channel);
    pw_policy_use_release(&f->schedule);
    pw_events_destroy(f->events);
    free(f->items);
    free(f->commands);
    free(f);
}

/* Adds a request for whole line `local_line` that arrives at core cycle `arrival`. */
static inline struct dram_item *dram_add(struct dram_fixture *f, enum pw_request_kind kind, uint32_t local_line,
                                         pw_cycle arrival)
{
    assert_true(f->item_count < DRAM_FIXTURE_REQUESTS);
    struct dram_item *i = &f->items[f->item_count];
    i->r.kind = kind & 15U;
    i->r.sectors = 0xf;
    uint32_t lines = (uint32_t)(f->config.row_bytes / PW_LINE_BYTES);
    i->local_line = local_line;
    i->row = local_line / lines / f->config.banks;
    i->bank = 0;
    while (dram_line_at(&f->config, i->bank, i->row, 0) != local_line - local_line % lines)
        i->bank++;
    i->arrival = arrival;
    pw_events_post(f->events, arrival, dram_fixture_arrive, f, f->item_count++);
    return i;
}

/* Runs to the end and checks that every request came back exactly once. */
static inline void dram_run(struct dram_fixture *f)
{
    bool stop = false;
    pw_events_run(f->events, PW_NEVER, &stop);
    assert_int_equal(pw_dram_pending(f->channel) + pw_dram_waiting(f->channel), 0);
    for (size_t i = 0; i < f->item_count; i++)
        assert_int_equal(f->items[i].served, 1);
    const struct pw_dram_counters *n = f->counters;
    assert_int_equal(n->reads + n->writes, n->row_hits + n->row_misses + n->row_conflicts);
}

/* The clock of the first read, and how many writes went before it. */
static inline uint64_t dram_first_read(const struct dram_fixture *f, unsigned *out_writes)
{
    size_t i = 0;
    *out_writes = 0;
    for (; f->commands[i].kind != PW_DRAM_READ; i++)
        *out_writes += f->commands[i].kind == PW_DRAM_WRITE;
    return f->commands[i].clock;
}

#endif
