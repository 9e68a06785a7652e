/* A driver of demand paging with a machine of its own that maps pages, logs what happens, and touches what is replayed.
 *
 * Times are round: the clock is 1 GHz, a transfer of n pages takes 1000 + 1000 n cycles to the GPU and 500 + 500 n
 * back. */
#ifndef PW_TEST_UVM_FIXTURE_H
#define PW_TEST_UVM_FIXTURE_H

#include "policies.h"
#include "uvm/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UVM_PAGES = 1 << 13, UVM_APPS = 2 };

enum uvm_event_kind { UVM_MAP, UVM_UNMAP, UVM_REPLAY, UVM_DONE };

struct uvm_event {
    enum uvm_event_kind kind;
    pw_cycle time;
    pw_asid asid;
    uint64_t vpn;
};

struct uvm_fixture {
    struct pw_uvm_config config;
    struct pw_link_config link_config;
    enum pw_page_order order;
    uint64_t frames; /* 0: as many as there are pages */
    uint64_t seed;
    uint32_t clock_mhz;
    bool no_touch;     /* replayed accesses do not touch their page */
    bool writes;       /* replayed accesses write */
    pw_cycle busy_for; /* cycles for which a replayed access is in flight */
    void (*on_replay)(struct uvm_fixture *f, pw_asid asid, pw_vpn vpn); /* or NULL: instead of all this */
    void *test;

    struct pw_events *events;
    struct pw_link *link;
    struct pw_uvm *uvm;
    struct pw_stats *stats;
    struct pw_error failure;
    bool mapped[UVM_APPS][UVM_PAGES];
    uint8_t busy[UVM_APPS][UVM_PAGES];
    uint64_t mapped_count, freed_count; /* pages; the latter unmapped with their allocation */
    struct uvm_event *log;
    size_t count, capacity;
    struct pw_error err;
};

static inline void uvm_note(struct uvm_fixture *f, enum uvm_event_kind kind, pw_asid asid, pw_vpn vpn)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 256;
        f->log = realloc(f->log, f->capacity * sizeof *f->log);
        assert_non_null(f->log);
    }
    f->log[f->count++] = (struct uvm_event){kind, f->events->now, asid, vpn.v};
}

static inline bool uvm_map(void *machine, pw_asid asid, pw_vpn vpn)
{
    struct uvm_fixture *f = machine;
    for (uint64_t i = 0; i < 1ULL << f->order; i++) {
        assert_false(f->mapped[asid][vpn.v + i]);
        f->mapped[asid][vpn.v + i] = true;
        f->mapped_count++;
    }
    uvm_note(f, UVM_MAP, asid, vpn);
    return f->mapped_count <= f->frames;
}

static inline void uvm_unmap(void *machine, pw_asid asid, pw_vpn vpn, bool freed)
{
    struct uvm_fixture *f = machine;
    assert_false(f->busy[asid][vpn.v]);
    for (uint64_t i = 0; i < 1ULL << f->order; i++) {
        assert_true(f->mapped[asid][vpn.v + i]);
        f->mapped[asid][vpn.v + i] = false;
        f->mapped_count--;
    }
    f->freed_count += freed ? 1ULL << f->order : 0;
    uvm_note(f, UVM_UNMAP, asid, vpn);
}

static inline bool uvm_busy(void *machine, pw_asid asid, pw_vpn vpn)
{
    struct uvm_fixture *f = machine;
    assert_true(f->mapped[asid][vpn.v]);
    return f->busy[asid][vpn.v];
}

static inline void uvm_access_done(void *object, uint64_t argument, pw_cycle now)
{
    struct uvm_fixture *f = object;
    f->busy[argument >> 32][(uint32_t)argument]--;
    pw_uvm_access_ended(f->uvm, now);
}

static inline void uvm_replay(void *machine, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    struct uvm_fixture *f = machine;
    assert_int_equal(now, f->events->now);
    assert_true(f->mapped[asid][vpn.v]);
    uvm_note(f, UVM_REPLAY, asid, vpn);
    if (f->on_replay) {
        f->on_replay(f, asid, vpn);
        return;
    }
    if (f->no_touch)
        return;
    if (f->busy_for) {
        f->busy[asid][vpn.v]++;
        pw_events_post(f->events, now + f->busy_for, uvm_access_done, f, (uint64_t)asid << 32 | vpn.v);
    }
    pw_uvm_touch(f->uvm, asid, vpn, f->writes, now);
}

static inline void uvm_failed(void *machine, const struct pw_error *err)
{
    struct uvm_fixture *f = machine;
    f->failure = *err;
}

static inline void uvm_done(void *object, uint64_t argument, pw_cycle now)
{
    (void)now;
    uvm_note(object, UVM_DONE, 0, (pw_vpn){argument});
}

/* The options' defaults, with the clock and the link of the fixture; to be changed before uvm_open. */
static inline struct uvm_fixture *uvm_new(const char *prefetch, const char *evict)
{
    struct uvm_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->clock_mhz = 1000;
    static const struct pw_option_group uvm[] = {{"uvm", pw_uvm_options, 0}, {0}};
    static const struct pw_option_group link[] = {{"link", pw_link_options, 0}, {0}};
    struct pw_options *options;
    assert_int_equal(pw_options_create(uvm, &f->config, &f->clock_mhz, &options, &f->err), PW_OK);
    assert_int_equal(pw_options_finish(options, &f->err), PW_OK);
    pw_options_destroy(options);
    assert_int_equal(pw_options_create(link, &f->link_config, &f->clock_mhz, &options, &f->err), PW_OK);
    assert_int_equal(pw_options_finish(options, &f->err), PW_OK);
    pw_options_destroy(options);
    f->link_config.model = PW_LINK_LINEAR;
    f->link_config.start_us[PW_LINK_H2D] = 1;
    f->link_config.start_us[PW_LINK_D2H] = 0.5;
    f->link_config.gbytes_per_second[PW_LINK_H2D] = 4.096;
    f->link_config.gbytes_per_second[PW_LINK_D2H] = 8.192;
    f->config.prefetch = policy_choice(&pw_prefetch_family, prefetch);
    f->config.evict = policy_choice(&pw_evict_family, evict);
    f->frames = UVM_PAGES * UVM_APPS;
    return f;
}

static inline enum pw_status uvm_try(struct uvm_fixture *f)
{
    f->events = pw_events_create(&f->err);
    assert_non_null(f->events);
    assert_int_equal(pw_link_create(&f->link_config, f->clock_mhz, f->events, &f->link, &f->err), PW_OK);
    struct pw_uvm_wiring wiring = {.events = f->events,
                                   .link = f->link,
                                   .apps = UVM_APPS,
                                   .frames = f->frames,
                                   .order = f->order,
                                   .seed = f->seed,
                                   .machine = f,
                                   .map = uvm_map,
                                   .unmap = uvm_unmap,
                                   .busy = uvm_busy,
                                   .replay = uvm_replay,
                                   .failed = uvm_failed};
    return pw_uvm_create(&f->config, &wiring, &f->uvm, &f->err);
}

/* One allocation of `pages` at page 0 of application 0. */
static inline struct uvm_fixture *uvm_open(struct uvm_fixture *f, uint64_t pages)
{
    if (uvm_try(f) != PW_OK)
        fail_msg("%s", f->err.message);
    pw_uvm_keep_batches(f->uvm);
    f->stats = pw_stats_create(UVM_APPS, &f->err);
    assert_non_null(f->stats);
    pw_link_register(f->link, f->stats);
    pw_uvm_register(f->uvm, f->stats);
    assert_int_equal(pw_stats_seal(f->stats, &f->err), PW_OK);
    if (pages)
        assert_int_equal(pw_uvm_allocate(f->uvm, 0, "a", (pw_vpn){0}, pages * PW_PAGE_BYTES, &f->err), PW_OK);
    return f;
}

static inline void uvm_fault_event(void *object, uint64_t argument, pw_cycle now)
{
    struct uvm_fixture *f = object;
    assert_true(pw_uvm_fault(f->uvm, (pw_asid)(argument >> 32), (pw_vpn){(uint32_t)argument}, now));
}

/* A fault of application 0 at a time. */
static inline void uvm_fault_at(struct uvm_fixture *f, uint64_t vpn, pw_cycle time)
{
    pw_events_post(f->events, time, uvm_fault_event, f, vpn);
}

static inline void uvm_run(struct uvm_fixture *f, pw_cycle limit)
{
    pw_events_run(f->events, limit, &(bool){false});
    if (f->failure.message[0])
        fail_msg("%s", f->failure.message);
}

static inline void uvm_touch(struct uvm_fixture *f, uint64_t vpn, bool write)
{
    pw_uvm_touch(f->uvm, 0, (pw_vpn){vpn}, write, f->events->now);
}

/* The time of the n-th event of a kind for a page, PW_NEVER when there are not so many. */
static inline pw_cycle uvm_time(const struct uvm_fixture *f, enum uvm_event_kind kind, uint64_t vpn, unsigned n)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->log[i].kind == kind && f->log[i].vpn == vpn && n-- == 0)
            return f->log[i].time;
    return PW_NEVER;
}

static inline const struct pw_uvm_counters *uvm_counters(struct uvm_fixture *f)
{
    return pw_residency_counters(pw_uvm_residency(f->uvm));
}

static inline const struct pw_link_counters *uvm_link(struct uvm_fixture *f, enum pw_link_direction direction)
{
    return pw_link_counters(f->link, direction);
}

/* Gives everything back, whatever the state. */
static inline void uvm_drop(struct uvm_fixture *f)
{
    pw_stats_destroy(f->stats);
    pw_uvm_destroy(f->uvm);
    pw_link_destroy(f->link);
    pw_events_destroy(f->events);
    free(f->log);
    free(f);
}

/* Everything has ended, and every identity holds. */
static inline void uvm_close(struct uvm_fixture *f)
{
    uvm_run(f, PW_NEVER);
    assert_int_equal(pw_uvm_pending(f->uvm), 0);
    for (size_t i = 0; i < pw_stats_identity_count(f->stats); i++)
        if (pw_stats_identity_run(f->stats, i, &f->err) != PW_OK)
            fail_msg("%s", f->err.message);
    uvm_drop(f);
}

#endif
