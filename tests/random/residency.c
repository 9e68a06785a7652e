/* Residency under random operations (allocations come and go, faults, merges, explicit prefetching, grants, arrivals,
 * touches, evictions, pages given up), for every pair of policies and three page sizes, against a naive model. */
#include "naive_residency.h"

enum { SLOTS = NAIVE_BLOCKS / 2, PENDING = 8, STEPS = 3400, APART = 5000 };

struct pending {
    unsigned block;
    struct pw_page_mask pages; /* that have not arrived */
    bool granted;
};

/* Slot s has the model's blocks 2s and 2s + 1. */
struct slot {
    bool used;
    pw_asid asid;
    uint64_t first_block; /* of the address space; / APART is the slot */
};

struct run {
    struct naive n;
    struct pw_residency *r;
    struct pw_random random;
    struct slot slots[SLOTS];
    struct pending pending[PENDING];
    unsigned pending_count;
    unsigned last_accessed;
};

static uint64_t below(struct run *x, uint64_t bound)
{
    return pw_random_below(&x->random, bound);
}

static pw_vpn vpn_of(const struct run *x, unsigned page)
{
    const struct slot *slot = &x->slots[page / PW_BLOCK_PAGES / 2];
    return (pw_vpn){(slot->first_block + page / PW_BLOCK_PAGES % 2) * PW_BLOCK_PAGES + page % PW_BLOCK_PAGES};
}

static unsigned page_of(const struct run *x, pw_vpn vpn)
{
    uint64_t block = vpn.v / PW_BLOCK_PAGES, slot = block / APART;
    return (unsigned)((slot * 2 + block - x->slots[slot].first_block) * PW_BLOCK_PAGES + vpn.v % PW_BLOCK_PAGES);
}

static pw_page_id id_of(const struct run *x, unsigned page)
{
    return pw_residency_find(x->r, x->slots[page / PW_BLOCK_PAGES / 2].asid, vpn_of(x, page));
}

static uint32_t block_id(const struct run *x, unsigned block)
{
    return id_of(x, block * PW_BLOCK_PAGES) / PW_BLOCK_PAGES;
}

static bool is_busy(void *context, pw_asid asid, pw_vpn vpn)
{
    const struct run *x = context;
    unsigned page = page_of(x, vpn);
    assert_int_equal(asid, x->slots[page / PW_BLOCK_PAGES / 2].asid);
    return x->n.pages[page].busy;
}

static void assert_same(const struct pw_page_mask *got, const struct pw_page_mask *expected)
{
    assert_memory_equal(got, expected, sizeof *got);
}

static void add(struct run *x, unsigned s)
{
    struct pw_error err = {0};
    struct slot *slot = &x->slots[s];
    uint64_t bytes = 1 + below(x, 2 * 2048 * 1024ULL - 1);
    if (below(x, 4) == 0)
        bytes = (1 + below(x, 64)) * 65536;
    *slot = (struct slot){true, (pw_asid)below(x, NAIVE_APPS), (uint64_t)s * APART + below(x, APART - 2)};
    assert_int_equal(pw_residency_add(x->r, slot->asid, "x", (pw_vpn){slot->first_block * PW_BLOCK_PAGES}, bytes, &err),
                     PW_OK);
    naive_add(&x->n, 2 * s, slot->asid, (pw_vpn){slot->first_block * PW_BLOCK_PAGES}, (bytes + 4095) / 4096);
}

static void expect_visit(void *context, pw_asid asid, pw_vpn vpn)
{
    struct run *x = context;
    unsigned page = page_of(x, vpn);
    assert_int_equal(asid, x->slots[page / PW_BLOCK_PAGES / 2].asid);
    for (unsigned i = page; i < page + x->n.unit; i++) {
        assert_true(x->n.pages[i].resident);
        x->n.pages[i].resident = false;
        x->n.counters[asid].prefetched_evicted += x->n.pages[i].prefetched;
    }
}

static void drop(struct run *x, unsigned at)
{
    x->pending[at] = x->pending[--x->pending_count];
}

static void remove_slot(struct run *x, unsigned s)
{
    struct pw_error err = {0};
    struct slot *slot = &x->slots[s];
    for (unsigned i = x->pending_count; i-- > 0;)
        if (x->pending[i].block / 2 == s)
            drop(x, i);
    assert_int_equal(
        pw_residency_remove(x->r, slot->asid, (pw_vpn){slot->first_block * PW_BLOCK_PAGES}, expect_visit, x, &err),
        PW_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_false(naive_any(&x->n, (2 * s + i) * PW_BLOCK_PAGES, PW_BLOCK_PAGES));
        naive_clear(&x->n, 2 * s + i);
    }
    slot->used = false;
}

/* A page that exists, or NAIVE_PAGES; rather one near others. */
static unsigned pick(struct run *x)
{
    unsigned page = (unsigned)below(x, NAIVE_PAGES);
    if (below(x, 2))
        page = page / PW_BLOCK_PAGES * PW_BLOCK_PAGES + page % 48;
    return x->n.pages[page].exists ? page : NAIVE_PAGES;
}

static void remember(struct run *x, unsigned block, const struct pw_fetch *fetch)
{
    x->pending[x->pending_count++] =
        (struct pending){.block = block, .pages = pw_mask_or(fetch->faulted, &fetch->prefetched)};
}

static bool draws(const struct pw_prefetch_policy *policy)
{
    return strcmp(policy->head.name, "random") == 0;
}

/* Compares what came along with what the model expects. */
static void compare_prefetch(struct run *x, unsigned block, const struct pw_fetch *got)
{
    struct naive *n = &x->n;
    struct pw_page_mask expected = naive_choose(n, block, n->full, &got->faulted);
    uint64_t faulted = pw_mask_count(&got->faulted);
    /* How many units of more than a page are drawn is not known beforehand. */
    bool unknown = n->unit > 1 && (draws(n->prefetch) || draws(n->prefetch_full));
    if (!n->full) {
        n->full = unknown ? pw_residency_is_full(x->r) : naive_would_fill(n, faulted + pw_mask_count(&expected));
        if (n->full)
            expected = naive_choose(n, block, true, &got->faulted);
    }
    if (!draws(n->full ? n->prefetch_full : n->prefetch)) {
        assert_same(&got->prefetched, &expected);
        return;
    }
    struct pw_page_mask allowed = naive_absent_of(n, block, &got->prefetched);
    allowed = pw_mask_without(allowed, &got->faulted);
    assert_same(&got->prefetched, &allowed);
    if (n->unit == 1)
        assert_int_equal(pw_mask_count(&got->prefetched), pw_mask_count(&expected));
}

static void fault(struct run *x)
{
    unsigned page = pick(x), block = page / PW_BLOCK_PAGES;
    if (page == NAIVE_PAGES || x->pending_count == PENDING)
        return;
    struct pw_page_mask asked = {0};
    struct pw_fetch fetch;
    pw_mask_add(&asked, page % PW_BLOCK_PAGES);
    for (uint64_t more = below(x, 3); more; more--)
        pw_mask_add(&asked, (unsigned)(page + below(x, 40)) % PW_BLOCK_PAGES);
    struct pw_page_mask expected = naive_absent_of(&x->n, block, &asked);
    pw_residency_decide(x->r, block_id(x, block), &asked, &fetch);
    assert_int_equal(fetch.block, block_id(x, block));
    assert_same(&fetch.faulted, &expected);
    if (pw_mask_any(&expected))
        compare_prefetch(x, block, &fetch);
    else
        assert_false(pw_mask_any(&fetch.prefetched));
    naive_come(&x->n, &fetch, block);
    if (pw_mask_any(&expected))
        remember(x, block, &fetch);
}

static void fetch_explicitly(struct run *x)
{
    unsigned page = pick(x), block = page / PW_BLOCK_PAGES, at = page % PW_BLOCK_PAGES;
    if (page == NAIVE_PAGES || x->pending_count == PENDING)
        return;
    struct pw_page_mask wanted = pw_mask_range(at, at + (unsigned)below(x, PW_BLOCK_PAGES - at + 1));
    struct pw_page_mask expected = naive_absent_of(&x->n, block, &wanted);
    struct pw_fetch fetch;
    pw_residency_decide_explicit(x->r, block_id(x, block), &wanted, &fetch);
    assert_same(&fetch.prefetched, &expected);
    assert_false(pw_mask_any(&fetch.faulted));
    x->n.full |= naive_would_fill(&x->n, pw_mask_count(&expected));
    naive_come(&x->n, &fetch, block);
    remember(x, block, &fetch);
}

static bool evict(struct run *x)
{
    struct pw_eviction e;
    struct pw_page_mask pages, written;
    unsigned block = 0;
    bool expected = naive_next(&x->n, &block, &pages), got = pw_residency_evict(x->r, &e);
    assert_int_equal(got, expected);
    if (!got)
        return false;
    if (x->n.evict->order == PW_ORDER_RANDOM) {
        unsigned first, outer;
        assert_true(pw_mask_next_run(&e.pages, 0, &first, &outer));
        unsigned page = page_of(x, pw_residency_vpn(x->r, e.block * PW_BLOCK_PAGES + first));
        block = page / PW_BLOCK_PAGES;
        pages = naive_leaving(&x->n, page);
    }
    assert_int_equal(e.block, block_id(x, block));
    assert_same(&e.pages, &pages);
    naive_evict(&x->n, block, &pages, &written);
    assert_same(&e.written, &written);
    return true;
}

static void give_up(struct run *x, struct pending *p)
{
    struct pw_page_mask gone = pw_residency_give_up(x->r, block_id(x, p->block), &p->pages), expected = {0};
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++) {
        struct naive_page *page = &x->n.pages[p->block * PW_BLOCK_PAGES + i];
        if (!pw_mask_has(&p->pages, i) || page->awaited)
            continue;
        pw_mask_add(&expected, i);
        page->coming = page->prefetched = false;
    }
    assert_same(&gone, &expected);
    p->pages = pw_mask_without(p->pages, &gone);
}

static void grant(struct run *x, unsigned at)
{
    struct pending *p = &x->pending[at];
    bool tired = below(x, 20) == 0;
    while (pw_residency_room(x->r) < pw_mask_count(&p->pages))
        if (tired || !evict(x)) {
            give_up(x, p);
            break;
        }
    assert_int_equal(pw_residency_room(x->r), naive_room(&x->n));
    if (!pw_mask_any(&p->pages)) {
        drop(x, at);
        return;
    }
    if (pw_residency_room(x->r) < pw_mask_count(&p->pages))
        return;
    pw_residency_grant(x->r, block_id(x, p->block), &p->pages);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        if (pw_mask_has(&p->pages, i))
            x->n.pages[p->block * PW_BLOCK_PAGES + i].granted = true;
    p->granted = true;
}

static void arrive(struct run *x, unsigned at)
{
    struct pending *p = &x->pending[at];
    struct pw_page_mask come = p->pages;
    if (below(x, 2)) { /* a first part */
        struct pw_page_mask part = pw_mask_range(0, (unsigned)below(x, PW_BLOCK_PAGES));
        come = pw_mask_and(come, &part);
        come = naive_widen(&x->n, &come);
    }
    pw_residency_arrive(x->r, block_id(x, p->block), &come);
    naive_arrive(&x->n, p->block, &come);
    p->pages = pw_mask_without(p->pages, &come);
    if (!pw_mask_any(&p->pages))
        drop(x, at);
}

static void access_page(struct run *x)
{
    unsigned page = below(x, 4) ? pick(x) : x->last_accessed;
    if (page == NAIVE_PAGES || !x->n.pages[page].exists)
        return;
    x->last_accessed = page;
    struct naive_page *p = &x->n.pages[page];
    if (p->resident) {
        bool write = below(x, 3) == 0;
        pw_residency_touch(x->r, id_of(x, page), write);
        naive_touch(&x->n, page, write);
    } else if (p->coming) {
        pw_residency_merge(x->r, id_of(x, page));
        for (unsigned i = page / x->n.unit * x->n.unit, k = 0; k < x->n.unit; k++)
            x->n.pages[i + k].awaited = true;
        x->n.counters[x->n.app[page / PW_BLOCK_PAGES]].merged_faults++;
    }
}

/* Touches what waits, so that memory does not fill up with awaited pages. */
static void replay(struct run *x)
{
    for (unsigned page = 0; page < NAIVE_PAGES; page += x->n.unit)
        if (x->n.pages[page].resident && x->n.pages[page].awaited) {
            pw_residency_touch(x->r, id_of(x, page), false);
            naive_touch(&x->n, page, false);
        }
}

static void change_busy(struct run *x)
{
    unsigned page = (unsigned)below(x, NAIVE_PAGES) / x->n.unit * x->n.unit;
    bool busy = below(x, 3) == 0;
    for (unsigned i = page; i < page + x->n.unit; i++)
        x->n.pages[i].busy = x->n.pages[i].exists && busy;
}

static void compare_all(struct run *x)
{
    managed_check(x->r);
    assert_int_equal(pw_residency_resident(x->r), NAIVE_COUNT(&x->n, resident));
    assert_int_equal(pw_residency_is_full(x->r), x->n.full);
    for (unsigned page = 0; page < NAIVE_PAGES; page++) {
        const struct naive_page *p = &x->n.pages[page];
        pw_page_id id = x->slots[page / PW_BLOCK_PAGES / 2].used ? id_of(x, page) : PW_NO_PAGE;
        assert_int_equal(id != PW_NO_PAGE, p->exists);
        if (!p->exists)
            continue;
        assert_int_equal(pw_residency_vpn(x->r, id).v, vpn_of(x, page).v);
        assert_int_equal(pw_residency_state(x->r, id), p->resident ? PW_PAGE_RESIDENT
                                                       : p->coming ? PW_PAGE_COMING
                                                                   : PW_PAGE_ABSENT);
    }
    for (unsigned app = 0; app < NAIVE_APPS; app++) {
        struct pw_uvm_counters *expected = &x->n.counters[app];
        expected->prefetched_resident = 0;
        for (unsigned i = 0; i < NAIVE_PAGES; i++)
            expected->prefetched_resident +=
                x->n.pages[i].resident && x->n.pages[i].prefetched && x->n.app[i / PW_BLOCK_PAGES] == app;
        assert_memory_equal(&pw_residency_counters(x->r)[app], expected, sizeof *expected);
    }
}

static void step(struct run *x)
{
    uint64_t what = below(x, 1000);
    unsigned slot = (unsigned)below(x, SLOTS), at = (unsigned)below(x, PENDING);
    if (!x->slots[slot].used && what < 200)
        add(x, slot);
    else if (what < 3 && x->slots[slot].used)
        remove_slot(x, slot);
    else if (what < 10)
        fetch_explicitly(x);
    else if (what < 200)
        fault(x);
    else if (what < 500 && at < x->pending_count)
        x->pending[at].granted ? arrive(x, at) : grant(x, at);
    else if (what < 550)
        evict(x);
    else if (what < 570)
        change_busy(x);
    else if (what < 640)
        replay(x);
    else
        access_page(x);
}

static void run(const struct pw_residency_config *config, uint64_t seed)
{
    struct run *x = calloc(1, sizeof *x);
    naive_open(&x->n, config);
    x->n.config.busy = is_busy;
    x->n.config.context = x;
    x->r = managed_create(&x->n.config);
    pw_random_init(&x->random, seed, "residency");
    for (unsigned i = 0; i < STEPS; i++) {
        step(x);
        if (i % 500 == 499)
            compare_all(x);
    }
    for (unsigned s = 0; s < SLOTS; s++)
        if (x->slots[s].used)
            remove_slot(x, s);
    compare_all(x);
    assert_int_equal(pw_residency_room(x->r), config->capacity);
    managed_destroy(x->r);
    naive_close(&x->n);
    free(x);
}

static void residency_agrees_with_a_naive_model(void **state)
{
    (void)state;
    const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    uint64_t seed = 0;
    unsigned count = policy_count(&pw_prefetch_family);
    for (unsigned e = 0; pw_evict_family.policies[e]; e++)
        for (unsigned p = 0; p < count; p++)
            for (unsigned o = 0; o < 3; o++) {
                seed++;
                const char *full = pw_prefetch_family.policies[(p + seed % 3) % count]->name;
                struct pw_residency_config config = {
                    .prefetch = policy_choice(&pw_prefetch_family, pw_prefetch_family.policies[p]->name),
                    .prefetch_full = policy_choice_or_same(&pw_prefetch_family, full),
                    .evict = policy_choice(&pw_evict_family, pw_evict_family.policies[e]->name),
                    .reserve = seed % 2 ? 0 : 0.1 * (double)(seed % 7),
                    .reserve_from = seed % 4 ? PW_RESERVE_FROM_EVICTION : PW_RESERVE_FROM_CANDIDATES,
                    .free_buffer = seed % 3 ? 0 : 0.15,
                    .capacity = (uint64_t[]){300, 700, 1600}[seed / 3 % 3],
                    .order = orders[o],
                    .seed = seed,
                };
                if (config.order == PW_PAGE_2M && config.capacity < 512)
                    config.capacity = 1024;
                run(&config, seed);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(residency_agrees_with_a_naive_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
