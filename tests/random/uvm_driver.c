/* Random accesses, prefetch calls and frees over random configurations of demand paging, against what must hold
 * whatever the policy: a page is mapped once, memory is never exceeded, a page in use is never unmapped, every fault is
 * replayed exactly once and finds its page, accounts add up, and the same seed gives the same events. */
#include "uvm_fixture.h"

#include "sim/random.h"

enum { ALLOCATIONS = 4, RANGE_PAGES = 1024, STEPS = 400 };

struct world {
    struct uvm_fixture *f;
    struct pw_random random;
    uint64_t capacity;
    unsigned waiting[UVM_APPS][UVM_PAGES]; /* accesses that wait for the page */
    uint64_t pages[ALLOCATIONS];           /* 0: not allocated */
    unsigned steps;
    uint64_t prefetch_calls;
};

static uint64_t draw(struct world *w, uint64_t bound)
{
    return pw_random_below(&w->random, bound);
}

static pw_asid app_of(unsigned allocation)
{
    return (pw_asid)(allocation % UVM_APPS);
}

static uint64_t first_of(unsigned allocation)
{
    return (uint64_t)allocation / UVM_APPS * RANGE_PAGES;
}

static uint64_t unit_of(const struct world *w, uint64_t vpn)
{
    return vpn >> w->f->order << w->f->order;
}

/* An access to a mapped page, in flight for a while. */
static void use(struct world *w, pw_asid asid, uint64_t vpn)
{
    struct uvm_fixture *f = w->f;
    uint64_t unit = unit_of(w, vpn);
    assert_true(f->mapped[asid][vpn]);
    if (draw(w, 2) && f->busy[asid][unit] < UINT8_MAX) {
        f->busy[asid][unit]++;
        pw_events_post(f->events, f->events->now + draw(w, 30000), uvm_access_done, f, (uint64_t)asid << 32 | unit);
    }
    pw_uvm_touch(f->uvm, asid, (pw_vpn){vpn}, draw(w, 3) == 0, f->events->now);
}

static void replayed(struct uvm_fixture *f, pw_asid asid, pw_vpn vpn)
{
    struct world *w = f->test;
    assert_true(w->waiting[asid][vpn.v] > 0);
    assert_true(f->mapped_count <= w->capacity);
    w->waiting[asid][vpn.v] = 0;
    use(w, asid, vpn.v);
}

static void access_page(struct world *w, unsigned allocation)
{
    pw_asid asid = app_of(allocation);
    uint64_t vpn = first_of(allocation) + draw(w, w->pages[allocation]);
    if (w->f->mapped[asid][vpn]) {
        use(w, asid, vpn);
        return;
    }
    assert_true(pw_uvm_fault(w->f->uvm, asid, (pw_vpn){vpn}, w->f->events->now));
    w->waiting[asid][unit_of(w, vpn)]++;
}

static void prefetch_done(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument, (void)now;
    struct world *w = object;
    w->prefetch_calls--;
}

static void free_allocation(struct world *w, unsigned allocation)
{
    struct uvm_fixture *f = w->f;
    pw_asid asid = app_of(allocation);
    uint64_t first = first_of(allocation);
    for (uint64_t vpn = first; vpn < first + RANGE_PAGES; vpn++)
        if (f->busy[asid][vpn])
            return;
    assert_int_equal(pw_uvm_free(f->uvm, asid, (pw_vpn){first}, &f->err), PW_OK);
    w->pages[allocation] = 0;
    for (uint64_t vpn = first; vpn < first + RANGE_PAGES; vpn++) {
        assert_false(f->mapped[asid][vpn]);
        w->waiting[asid][vpn] = 0;
    }
}

static void allocate(struct world *w, unsigned allocation)
{
    struct uvm_fixture *f = w->f;
    uint64_t pages = 1 + draw(w, RANGE_PAGES);
    assert_int_equal(pw_uvm_allocate(f->uvm, app_of(allocation), "x", (pw_vpn){first_of(allocation)},
                                     pages * PW_PAGE_BYTES, &f->err),
                     PW_OK);
    w->pages[allocation] = pages;
}

static void step(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct world *w = object;
    struct uvm_fixture *f = w->f;
    unsigned allocation = (unsigned)draw(w, ALLOCATIONS);
    assert_true(f->mapped_count <= w->capacity);
    if (!w->pages[allocation]) {
        allocate(w, allocation);
    } else if (draw(w, 50) == 0) {
        free_allocation(w, allocation);
    } else if (draw(w, 25) == 0) {
        w->prefetch_calls++;
        pw_uvm_prefetch(f->uvm, app_of(allocation), (pw_vpn){first_of(allocation) + draw(w, RANGE_PAGES)},
                        draw(w, RANGE_PAGES), now, prefetch_done, w, 0);
    } else {
        for (uint64_t i = draw(w, 6) == 0 ? draw(w, 40) : 1; i-- > 0;)
            access_page(w, allocation);
    }
    if (w->steps % 16 == 0 && pw_residency_check(pw_uvm_residency(f->uvm), &f->err) != PW_OK)
        fail_msg("%s", f->err.message);
    if (++w->steps < STEPS)
        pw_events_post(f->events, now + draw(w, 20000), step, w, 0);
}

static struct pw_policy_choice draw_policy(struct world *w, const struct pw_policy_family *family)
{
    return policy_choice(family, family->policies[draw(w, policy_count(family))]->name);
}

static struct uvm_fixture *random_fixture(struct world *w, uint64_t seed)
{
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    struct uvm_fixture *f = uvm_new("none", "lru4k");
    pw_random_init(&w->random, seed, "test");
    f->order = orders[draw(w, 4)];
    f->seed = seed;
    f->config.service = (uint32_t)draw(w, 3);
    f->config.fault_latency = (uint32_t)draw(w, 50000);
    f->config.batch_faults = 1 + (uint32_t)draw(w, 20);
    f->config.batch_latency = (uint32_t)draw(w, 50000);
    f->config.block_latency = (uint32_t)draw(w, 5000);
    f->config.batch_fault_latency = (uint32_t)draw(w, 500);
    f->config.prefetch = draw_policy(w, &pw_prefetch_family);
    if (draw(w, policy_count(&pw_prefetch_family) + 1)) {
        f->config.prefetch_full = draw_policy(w, &pw_prefetch_family);
        f->config.prefetch_full.index++;
    }
    f->config.evict = draw_policy(w, &pw_evict_family);
    f->config.free_buffer = draw(w, 2) ? 0 : (double)draw(w, 50);
    f->config.reserve = draw(w, 2) ? 0 : (double)draw(w, 90);
    f->config.reserve_from = (uint32_t)draw(w, 2);
    w->capacity = (1 + draw(w, draw(w, 2) ? 40 : 2000)) << f->order;
    if (w->capacity > f->frames)
        w->capacity = f->frames;
    f->config.memory = w->capacity * PW_PAGE_BYTES;
    f->frames = w->capacity; /* the last one may be needed, one more is a failure */
    f->on_replay = replayed;
    f->test = w;
    w->f = f;
    return f;
}

/* Returns a digest of all that happened. */
static uint64_t run_world(uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct uvm_fixture *f = uvm_open(random_fixture(w, seed), 0);
    pw_events_post(f->events, 0, step, w, 0);
    uvm_run(f, PW_NEVER);
    if (pw_uvm_stuck(f->uvm, &f->err) != PW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, f->err.message);
    for (unsigned asid = 0; asid < UVM_APPS; asid++)
        for (unsigned vpn = 0; vpn < UVM_PAGES; vpn++)
            if (w->waiting[asid][vpn])
                fail_msg("seed %llu: page %u of app%u was never replayed", (unsigned long long)seed, vpn, asid);
    assert_int_equal(w->prefetch_calls, 0);
    uint64_t digest = 0;
    for (size_t i = 0; i < f->count; i++)
        digest = (digest ^ f->log[i].time ^ f->log[i].vpn << 40 ^ (uint64_t)f->log[i].kind << 60) * 0x100000001b3;
    uvm_close(f);
    free(w);
    return digest;
}

static void invariants_hold_under_random_use(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++)
        run_world(seed);
}

static void the_same_seed_gives_the_same_events(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        assert_int_equal(run_world(seed), run_world(seed));
    assert_int_not_equal(run_world(1), run_world(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_under_random_use),
        cmocka_unit_test(the_same_seed_gives_the_same_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
