/* Contiguity-conserving allocation under random requests, against a model that has no lists: it looks at every frame of
 * a block to say what kind of block it is, and at every block to find the one that has been of a kind for longest. Each
 * frame that is handed out is the one that the rules of Section 4.2 name. */
#include "policies.h"
#include "policy/frame/frame_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 12, PAGES = 512, FRAMES = BLOCKS * PAGES, APPS = 3, REGIONS = 5, MAX_RUNS = FRAMES, NOWHERE = FRAMES };

enum kind { NOTHING_TO_GIVE, OPEN, RESERVED, EMERGENCY, SHARED, FRAGMENTED };

struct model_block {
    pw_owner owner;
    bool backs_region, reserved, coalesced, kept, evacuating;
    uint64_t region;
    bool several; /* guests at once, since there was none */
    enum kind kind;
    unsigned detail; /* OPEN, RESERVED, EMERGENCY: owner; SHARED: the guest + 1 or 0; FRAGMENTED: pages */
    uint64_t since;
};

struct run {
    struct pw_frame_request request;
    uint32_t at;
};

struct model {
    const struct pw_frame_policy *policy;
    struct pw_frames *frames;
    void *state;
    struct pw_policy_use use;
    struct pw_random random;
    pw_owner owners[FRAMES];
    struct model_block blocks[BLOCKS];
    uint64_t clock, violations;
    struct run runs[MAX_RUNS];
    unsigned run_count, refused;
};

static int app_of(pw_owner owner)
{
    return owner == PW_OWNER_FRAGMENT ? -1 : owner >= PW_OWNER_TABLE ? owner - PW_OWNER_TABLE : owner - PW_OWNER_APP;
}

static unsigned pages_of(const struct model *m, uint32_t block, pw_owner owner)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        n += m->owners[block * PAGES + i] == owner;
    return n;
}

static unsigned free_in(const struct model *m, uint32_t block)
{
    return pages_of(m, block, PW_OWNER_FREE);
}

/* Applications with pages in the block, but for one. */
static unsigned other_apps(const struct model *m, uint32_t block, int but, int *out_one)
{
    bool seen[APPS] = {0};
    unsigned n = 0;
    for (uint32_t i = 0; i < PAGES; i++) {
        pw_owner owner = m->owners[block * PAGES + i];
        if (owner == PW_OWNER_FREE || app_of(owner) < 0 || app_of(owner) == but || seen[app_of(owner)])
            continue;
        seen[ *out_one = app_of(owner)] = true;
        n++;
    }
    return n;
}

static void settle(struct model *m, uint32_t block)
{
    struct model_block *b = &m->blocks[block];
    unsigned room = free_in(m, block), detail = 0;
    enum kind kind = NOTHING_TO_GIVE;
    int guest = 0;
    if (room == PAGES)
        *b = (struct model_block){0};
    unsigned guests = other_apps(m, block, -1, &guest);
    b->several = guests && (b->several || guests > 1);
    if (room == PAGES || b->evacuating) {
        kind = NOTHING_TO_GIVE;
    } else if (b->coalesced) {
        kind = b->kept ? EMERGENCY : NOTHING_TO_GIVE;
        detail = b->owner;
    } else if (room) {
        bool fragment = b->owner == PW_OWNER_FRAGMENT;
        kind = !fragment ? (b->reserved ? RESERVED : OPEN) : guests ? SHARED : FRAGMENTED;
        detail = !fragment ? b->owner : guests ? (b->several ? 0 : (unsigned)guest + 1) : PAGES - room;
    }
    if (kind != b->kind || detail != b->detail)
        b->since = ++m->clock;
    b->kind = kind;
    b->detail = detail;
}

static uint32_t run_in(const struct model *m, uint32_t block, enum pw_page_order order)
{
    for (uint32_t at = block * PAGES; at < (block + 1) * PAGES; at += 1U << order) {
        bool is_free = true;
        for (uint32_t i = 0; i < 1U << order; i++)
            is_free &= m->owners[at + i] == PW_OWNER_FREE;
        if (is_free)
            return at;
    }
    return NOWHERE;
}

/* In the block of this kind (and detail) that has been so for longest. */
static uint32_t search(const struct model *m, enum kind kind, unsigned detail, enum pw_page_order order)
{
    uint64_t since = UINT64_MAX;
    uint32_t found = NOWHERE;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const struct model_block *block = &m->blocks[b];
        if (block->kind != kind || block->detail != detail || block->since > since || run_in(m, b, order) == NOWHERE)
            continue;
        since = block->since;
        found = run_in(m, b, order);
    }
    return found;
}

static uint32_t search_details(const struct model *m, enum kind kind, unsigned first, unsigned outer,
                               enum pw_page_order order)
{
    uint32_t at = NOWHERE;
    for (unsigned detail = first; at == NOWHERE && detail < outer; detail++)
        at = search(m, kind, detail, order);
    return at;
}

static uint32_t search_fullest(const struct model *m, enum pw_page_order order)
{
    uint32_t at = NOWHERE;
    for (unsigned pages = PAGES; at == NOWHERE && pages-- > 0;)
        at = search(m, FRAGMENTED, pages, order);
    return at;
}

/* Owners of a kind: applications before page tables, each by number. */
static uint32_t search_owners(const struct model *m, enum kind kind, enum pw_page_order order)
{
    uint32_t at = search_details(m, kind, PW_OWNER_APP, PW_OWNER_APP + APPS, order);
    return at != NOWHERE ? at : search_details(m, kind, PW_OWNER_TABLE, PW_OWNER_TABLE + APPS, order);
}

static uint32_t free_block(const struct model *m)
{
    uint32_t b = 0;
    while (b < BLOCKS && free_in(m, b) < PAGES)
        b++;
    return b * PAGES;
}

#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        uint32_t place = expression;                                                                                   \
        if (place != NOWHERE)                                                                                          \
            return place;                                                                                              \
    } while (0)

static uint32_t last_resort(const struct model *m, const struct pw_frame_request *r)
{
    unsigned app = (unsigned)app_of(r->owner);
    bool is_app = r->owner != PW_OWNER_FRAGMENT;
    if (is_app) {
        TRY(search(m, OPEN, PW_OWNER_APP + app, r->order));
        TRY(search(m, OPEN, PW_OWNER_TABLE + app, r->order));
        TRY(search(m, SHARED, app + 1, r->order));
    }
    TRY(search_fullest(m, r->order));
    if (is_app)
        TRY(search(m, RESERVED, PW_OWNER_APP + app, r->order));
    TRY(search_details(m, SHARED, 0, APPS + 1, r->order));
    TRY(search_owners(m, OPEN, r->order));
    return search_owners(m, RESERVED, r->order);
}

/* Where the request goes; *out_at_place: to its own place in the block of its region. */
static uint32_t choose(const struct model *m, const struct pw_frame_request *r, bool *out_at_place)
{
    bool fragment = r->owner == PW_OWNER_FRAGMENT, backed = false;
    *out_at_place = false;
    if (r->order == PW_PAGE_2M)
        return free_block(m);
    if (r->whole_region) {
        for (uint32_t b = 0; b < BLOCKS; b++) {
            const struct model_block *k = &m->blocks[b];
            if (!k->backs_region || k->owner != r->owner || k->region != r->vpn.v / PAGES)
                continue;
            uint32_t at = b * PAGES + (uint32_t)(r->vpn.v % PAGES);
            backed = *out_at_place = true;
            for (uint32_t i = 0; i < 1U << r->order; i++)
                *out_at_place &= m->owners[at + i] == PW_OWNER_FREE && !k->coalesced && !k->evacuating;
            if (*out_at_place)
                return at;
        }
        if (!backed && free_block(m) != NOWHERE) {
            *out_at_place = true;
            return free_block(m) + (uint32_t)(r->vpn.v % PAGES);
        }
        if (!backed && !r->last_resort)
            return NOWHERE;
    }
    TRY(search(m, OPEN, r->owner, r->order));
    if (fragment) {
        TRY(search_details(m, SHARED, 0, APPS + 1, r->order));
        TRY(search_fullest(m, r->order));
        if (!r->last_resort)
            return NOWHERE;
    }
    TRY(free_block(m));
    return r->last_resort || r->owner >= PW_OWNER_TABLE ? last_resort(m, r) : NOWHERE;
}

static void allocate(struct model *m, const struct pw_frame_request *r)
{
    bool at_place;
    int other;
    pw_pfn got = {NOWHERE};
    uint32_t at = choose(m, r, &at_place);
    bool given = m->policy->allocate(m->state, m->frames, r, &got);
    assert_int_equal(given, at != NOWHERE);
    m->refused += !given;
    if (!given)
        return;
    assert_int_equal(got.v, at);
    uint32_t block = at / PAGES;
    struct model_block *b = &m->blocks[block];
    if (app_of(r->owner) >= 0 && other_apps(m, block, app_of(r->owner), &other))
        m->violations += 1U << r->order;
    if (free_in(m, block) == PAGES) {
        b->owner = r->owner;
        b->backs_region = b->reserved = at_place;
        b->region = r->vpn.v / PAGES;
    }
    b->reserved &= at_place;
    for (uint32_t i = 0; i < 1U << r->order; i++)
        m->owners[at + i] = r->owner;
    m->runs[m->run_count++] = (struct run){*r, at};
    settle(m, block);
}

static void release(struct model *m, unsigned index, bool comes_back)
{
    struct run run = m->runs[index];
    m->runs[index] = m->runs[--m->run_count];
    run.request.whole_region &= comes_back;
    for (uint32_t i = 0; i < 1U << run.request.order; i++)
        m->owners[run.at + i] = PW_OWNER_FREE;
    m->blocks[run.at / PAGES].reserved &= run.request.whole_region;
    settle(m, run.at / PAGES);
    m->policy->release(m->state, m->frames, &run.request, (pw_pfn){run.at});
}

static bool is_allocated(const struct model *m, pw_owner owner, pw_vpn vpn, enum pw_page_order order)
{
    for (unsigned i = 0; i < m->run_count; i++) {
        const struct pw_frame_request *r = &m->runs[i].request;
        if (r->owner == owner && r->vpn.v < vpn.v + (1U << order) && vpn.v < r->vpn.v + (1U << r->order))
            return true;
    }
    return false;
}

static void ask(struct model *m)
{
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    uint64_t who = pw_random_below(&m->random, 20), app = pw_random_below(&m->random, APPS);
    struct pw_frame_request r = {.owner = (pw_owner)(PW_OWNER_APP + app),
                                 .last_resort = pw_random_below(&m->random, 3) == 0};
    uint64_t size = pw_random_below(&m->random, 200);
    r.order = orders[size < 190 ? 0 : size < 198 ? 1 : 2];
    if (who < 2) {
        r.owner = (pw_owner)(who ? PW_OWNER_TABLE + app : (uint64_t)PW_OWNER_FRAGMENT);
        r.order = orders[size < 190 ? 0 : 1];
    } else {
        /* The first regions are filled by their allocations, the others are not. */
        uint64_t region = pw_random_below(&m->random, 2 * REGIONS);
        r.whole_region = region < REGIONS && r.order != PW_PAGE_2M;
        r.vpn.v = (0x1000 + region) * PAGES + (pw_random_below(&m->random, PAGES) >> r.order << r.order);
        if (is_allocated(m, r.owner, r.vpn, r.order))
            return;
    }
    allocate(m, &r);
}

/* What coalescing and compaction tell the policy, of a block drawn at random. */
static void tell(struct model *m)
{
    const struct pw_frame_blocks *tell = m->policy->blocks;
    uint32_t block = (uint32_t)pw_random_below(&m->random, BLOCKS);
    struct model_block *b = &m->blocks[block];
    pw_pfn name = {block * PAGES};
    if (!b->coalesced)
        tell->keep_for_emergency(m->state, name); /* means nothing */
    if (free_in(m, block) == PAGES)
        return;
    if (b->evacuating) {
        b->evacuating = false;
        tell->restore(m->state, m->frames, name);
    } else if (b->coalesced && pw_random_below(&m->random, 4)) {
        b->kept = true;
        tell->keep_for_emergency(m->state, name);
    } else if (b->coalesced) {
        b->coalesced = b->kept = false;
        b->reserved &= free_in(m, block) == 0;
        tell->coalesced(m->state, m->frames, name, false);
    } else if (b->owner < PW_OWNER_TABLE && pw_random_below(&m->random, 2)) {
        b->coalesced = true;
        b->reserved &= free_in(m, block) == 0;
        tell->coalesced(m->state, m->frames, name, true);
    } else {
        b->evacuating = true;
        b->reserved = false;
        tell->evacuate(m->state, m->frames, name);
    }
    settle(m, block);
}

/* Of this owner; or of any application, the lowest first, where it has none and nothing is free anywhere. */
static uint32_t kept_for(const struct model *m, pw_owner owner)
{
    uint32_t oldest = BLOCKS;
    bool any_free = false;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const struct model_block *k = &m->blocks[b];
        any_free |= k->kind != NOTHING_TO_GIVE && k->kind != EMERGENCY;
        if (k->kind == EMERGENCY && k->owner == owner && (oldest == BLOCKS || k->since < m->blocks[oldest].since))
            oldest = b;
    }
    for (unsigned app = 0; oldest == BLOCKS && !any_free && app < APPS; app++)
        for (uint32_t b = 0; b < BLOCKS; b++) {
            const struct model_block *k = &m->blocks[b];
            if (k->kind == EMERGENCY && k->owner == PW_OWNER_APP + app &&
                (oldest == BLOCKS || k->since < m->blocks[oldest].since))
                oldest = b;
        }
    return oldest;
}

static void check_choices(const struct model *m)
{
    uint32_t least = BLOCKS;
    uint64_t room = 0;
    pw_pfn got;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const struct model_block *k = &m->blocks[b];
        if (k->kind == SHARED || k->kind == FRAGMENTED)
            room += free_in(m, b);
        if (k->kind == FRAGMENTED && (least == BLOCKS || k->detail < m->blocks[least].detail ||
                                      (k->detail == m->blocks[least].detail && k->since < m->blocks[least].since)))
            least = b;
    }
    if (least < BLOCKS && room - free_in(m, least) < m->blocks[least].detail)
        least = BLOCKS;
    for (unsigned app = 0; app < APPS; app++) {
        uint32_t kept = kept_for(m, (pw_owner)(PW_OWNER_APP + app));
        got.v = BLOCKS * PAGES;
        assert_int_equal(m->policy->blocks->emergency(m->state, (pw_owner)(PW_OWNER_APP + app), &got), kept < BLOCKS);
        assert_int_equal(got.v, kept * PAGES);
    }
    got.v = BLOCKS * PAGES;
    assert_int_equal(m->policy->blocks->fragmented(m->state, m->frames, &got), least < BLOCKS);
    assert_int_equal(got.v, least * PAGES);
    assert_int_equal(m->policy->blocks->violations(m->state), m->violations);
}

static void check_held(const struct model *m, pw_owner owner)
{
    uint64_t held = 0;
    for (uint32_t b = 0; b < BLOCKS; b++)
        held += m->blocks[b].owner == owner ? (unsigned)PAGES : pages_of(m, b, owner);
    assert_int_equal(m->policy->blocks->held(m->state, m->frames, owner), held);
}

static struct model *create(uint64_t seed)
{
    struct model *m = calloc(1, sizeof *m);
    struct pw_error err;
    assert_int_equal(pw_frames_create((uint64_t)FRAMES * PW_PAGE_BYTES, &m->frames, &err), PW_OK);
    m->policy = pw_frame_policy_of(policy_named(&pw_frame_family, "contiguity"));
    pw_random_init(&m->random, seed, "contiguity");
    const struct pw_frame_request fragment = {.owner = PW_OWNER_FRAGMENT, .order = PW_PAGE_4K};
    for (uint32_t b = 1; b < BLOCKS; b += 3) {
        for (uint32_t i = 0; i < PAGES; i += 1 + (uint32_t)pw_random_below(&m->random, 4 * b)) {
            uint32_t at = b * PAGES + i;
            assert_true(pw_frames_take_at(m->frames, PW_PAGE_4K, (pw_pfn){at}, PW_OWNER_FRAGMENT));
            m->owners[at] = PW_OWNER_FRAGMENT;
            m->runs[m->run_count++] = (struct run){fragment, at};
        }
        m->blocks[b].owner = PW_OWNER_FRAGMENT;
        settle(m, b);
    }
    struct pw_frame_environment environment = {m->frames, &m->random};
    m->state = policy_instance(&m->use, &pw_frame_family, &m->policy->head, &environment);
    return m;
}

static void destroy(struct model *m)
{
    struct pw_error err;
    for (uint32_t i = 0; i < FRAMES; i++)
        assert_int_equal(pw_frames_owner(m->frames, (pw_pfn){i}), m->owners[i]);
    while (m->run_count)
        release(m, 0, false);
    assert_int_equal(pw_frames_free_blocks(m->frames), BLOCKS);
    check_choices(m);
    check_held(m, PW_OWNER_FRAGMENT);
    assert_int_equal(pw_frames_check(m->frames, &err), PW_OK);
    pw_frames_destroy(m->frames);
    pw_policy_use_release(&m->use);
    free(m);
}

/* mosaic-sec42-base-alloc, mosaic-sec42-other-pages */
static void frames_are_the_ones_that_the_rules_name(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct model *m = create(seed);
        /* Fills memory, empties most of it, and so on. */
        for (unsigned i = 0; i < 48000; i++) {
            uint64_t what = pw_random_below(&m->random, 100), releases = i / 12000 % 2 ? 70 : 15;
            if (what < 2)
                tell(m);
            else if (what < releases && m->run_count)
                release(m, (unsigned)pw_random_below(&m->random, m->run_count), pw_random_below(&m->random, 2));
            else
                ask(m);
            if (i % 8 == 0)
                check_choices(m);
            if (i % 64 == 0)
                check_held(m, PW_OWNER_FRAGMENT);
            if (i % 64 == 0)
                for (unsigned app = 0; app < APPS; app++) {
                    check_held(m, (pw_owner)(PW_OWNER_APP + app));
                    check_held(m, (pw_owner)(PW_OWNER_TABLE + app));
                }
        }
        assert_true(m->violations > 100 && m->refused > 1000);
        destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_the_ones_that_the_rules_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
