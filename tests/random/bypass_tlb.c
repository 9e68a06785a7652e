/* The bypass cache under random lookups, fills and shootdowns of pages of all sizes, against a dictionary that also
 * knows when each entry was used last. */
#include "vm/bypass_tlb.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ASIDS = 3, MAX_ENTRIES = 128, OPERATIONS = 40000 };

static const uint8_t orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

struct entry {
    pw_vpn first;
    uint8_t order;
    pw_asid asid;
    pw_pfn frame;
    uint64_t used;
};

struct dictionary {
    struct entry entries[MAX_ENTRIES];
    uint32_t count, capacity;
    uint64_t now;
};

static struct entry *find(struct dictionary *d, uint8_t order, pw_asid asid, pw_vpn vpn)
{
    for (uint32_t i = 0; i < d->count; i++) {
        struct entry *e = &d->entries[i];
        if (e->order == order && e->asid == asid && e->first.v >> order == vpn.v >> order)
            return e;
    }
    return NULL;
}

static struct entry *oldest(struct dictionary *d)
{
    struct entry *found = &d->entries[0];
    for (uint32_t i = 1; i < d->count; i++)
        if (d->entries[i].used < found->used)
            found = &d->entries[i];
    return found;
}

static void insert(struct dictionary *d, pw_asid asid, pw_vpn vpn, struct pw_translation t)
{
    struct entry *e = find(d, t.order, asid, vpn);
    uint64_t within = vpn.v & ((1ULL << t.order) - 1);
    if (!e)
        e = d->count < d->capacity ? &d->entries[d->count++] : oldest(d);
    *e = (struct entry){{vpn.v - within}, t.order, asid, {t.frame.v - (uint32_t)within}, ++d->now};
}

static unsigned invalidate(struct dictionary *d, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct entry *e = &d->entries[i];
        if (first.v >= outer.v || e->asid != asid || e->first.v + (1ULL << e->order) <= first.v ||
            e->first.v >= outer.v)
            d->entries[kept++] = *e;
    }
    unsigned dropped = d->count - kept;
    d->count = kept;
    return dropped;
}

static void look_up(struct pw_bypass_tlb *b, struct dictionary *d, uint8_t order, pw_asid asid, pw_vpn vpn)
{
    pw_pfn frame;
    struct entry *e = find(d, order, asid, vpn);
    assert_int_equal(pw_bypass_tlb_lookup(b, order, asid, vpn, &frame), e != NULL);
    if (!e)
        return;
    assert_int_equal(frame.v, e->frame.v + (vpn.v - e->first.v));
    e->used = ++d->now;
}

/* A page number near one of a few places, so that pages of different sizes overlap; some at the end of the space. */
static pw_vpn random_page(struct pw_random *r)
{
    static const uint64_t places[] = {0, 1 << 12, 1ULL << 30, (1ULL << PW_TABLE_VPN_BITS) - 4096};
    return (pw_vpn){places[pw_random_below(r, 4)] + pw_random_below(r, pw_random_below(r, 2) ? 64 : 4096)};
}

static void operate(struct pw_bypass_tlb *b, struct dictionary *d, struct pw_random *r)
{
    uint8_t order = orders[pw_random_below(r, 3)];
    pw_asid asid = (pw_asid)pw_random_below(r, ASIDS);
    pw_vpn vpn = random_page(r);
    uint64_t what = pw_random_below(r, 1000);
    if (what < 500) {
        look_up(b, d, order, asid, vpn);
    } else if (what < 990) {
        uint32_t within = (uint32_t)(vpn.v & ((1U << order) - 1));
        uint32_t frame = ((uint32_t)pw_random_below(r, 1 << 20) >> order << order) + within;
        struct pw_translation t = {{frame}, order, true, 0};
        pw_bypass_tlb_insert(b, asid, vpn, t);
        insert(d, asid, vpn, t);
        look_up(b, d, order, asid, vpn);
    } else {
        static const uint64_t lengths[] = {0, 1, 16, 512, 5000, 1ULL << PW_TABLE_VPN_BITS};
        pw_vpn outer = {vpn.v + lengths[pw_random_below(r, 6)]};
        if (outer.v > 1ULL << PW_TABLE_VPN_BITS)
            outer.v = 1ULL << PW_TABLE_VPN_BITS;
        assert_int_equal(pw_bypass_tlb_invalidate(b, asid, vpn, outer), invalidate(d, asid, vpn, outer));
    }
}

static void count_entry(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    (void)key, (void)frame;
    ++*(unsigned *)context;
}

static void it_agrees_with_a_dictionary(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 7, 16, 17, 32, 100, MAX_ENTRIES};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pw_bypass_tlb b;
        struct dictionary *d = calloc(1, sizeof *d);
        struct pw_random r;
        struct pw_error err;
        d->capacity = sizes[i];
        pw_random_init(&r, sizes[i], "bypass cache");
        assert_int_equal(pw_bypass_tlb_init(&b, sizes[i], ASIDS, &err), PW_OK);
        for (unsigned k = 0; k < OPERATIONS; k++)
            operate(&b, d, &r);
        unsigned stored = 0;
        b.policy->each(b.state, count_entry, &stored);
        assert_int_equal(stored, d->count);
        pw_bypass_tlb_release(&b);
        free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_agrees_with_a_dictionary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
