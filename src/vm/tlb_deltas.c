/* Snapshots of a TLB. An array is gone through twice: to pick a base for each application, every translation with the
 * same probability however many there turn out to be, and to compare the others with it. */
#include "vm/tlb_deltas.h"

#include "sim/random.h"

#include <stdlib.h>

/* Of an application in one array. */
struct base {
    uint64_t count; /* translations gone through so far */
    uint64_t place; /* the base's among them */
    uint64_t vpt, pfn;
};

struct pw_tlb_deltas {
    struct pw_tlb_deltas_setup setup;
    struct pw_epochs epochs;
    struct pw_random random;
    struct base *bases; /* by application */
    struct pw_tlb_deltas_counters *counters;
};

enum pw_status pw_tlb_deltas_create(const struct pw_tlb_deltas_setup *setup, struct pw_tlb_deltas **out,
                                    struct pw_error *err)
{
    *out = NULL;
    struct pw_tlb_deltas *d = calloc(1, sizeof *d);
    if (!d)
        return pw_fail_memory(err, "snapshots of a TLB");
    d->setup = *setup;
    d->bases = calloc(setup->apps, sizeof *d->bases);
    d->counters = calloc(setup->apps, sizeof *d->counters);
    if (!d->bases || !d->counters) {
        pw_tlb_deltas_destroy(d);
        return pw_fail_memory(err, "snapshots of a TLB");
    }
    pw_random_init(&d->random, setup->seed, "bases of snapshots");
    *out = d;
    return PW_OK;
}

void pw_tlb_deltas_destroy(struct pw_tlb_deltas *d)
{
    if (!d)
        return;
    free(d->bases);
    free(d->counters);
    free(d);
}

const struct pw_tlb_deltas_counters *pw_tlb_deltas_counters(const struct pw_tlb_deltas *d)
{
    return d->counters;
}

/* Consecutive pages whose tags are alike: one of each set, and those under a common tag. */
static uint64_t pages_per_tag(uint32_t entries, uint32_t ways, uint32_t subpages)
{
    return (uint64_t)(ways ? entries / ways : 1) * subpages;
}

/* What one pass over an array needs. */
struct pass {
    struct pw_tlb_deltas *deltas;
    uint64_t pages_per_tag;
    uint8_t order;
};

static uint64_t vpt_of(const struct pass *p, struct pw_tlb_key key)
{
    return key.page / p->pages_per_tag;
}

static uint64_t pfn_of(const struct pass *p, pw_pfn word)
{
    return pw_frame_of(word).v >> p->order;
}

static void pick_base(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    const struct pass *p = context;
    struct base *b = &p->deltas->bases[key.asid];
    uint64_t place = b->count++;
    if (pw_random_below(&p->deltas->random, b->count) == 0)
        *b = (struct base){b->count, place, vpt_of(p, key), pfn_of(p, frame)};
}

static unsigned bits_between(uint64_t a, uint64_t b)
{
    uint64_t difference = a > b ? a - b : b - a;
    return difference ? 64 - (unsigned)__builtin_clzll(difference) : 0;
}

static void compare(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    const struct pass *p = context;
    struct base *b = &p->deltas->bases[key.asid];
    if (b->count++ == b->place)
        return;
    struct pw_tlb_deltas_counters *c = &p->deltas->counters[key.asid];
    unsigned vpt = bits_between(vpt_of(p, key), b->vpt), pfn = bits_between(pfn_of(p, frame), b->pfn);
    c->translations++;
    c->vpt_bits += vpt;
    c->pfn_bits += pfn;
    for (unsigned i = vpt; i <= PW_VPT_BITS; i++)
        c->vpt_fit[i]++;
    for (unsigned i = pfn; i <= PW_PFN_BITS; i++)
        c->pfn_fit[i]++;
}

static void take_array(struct pw_tlb_deltas *d, const struct pw_tlb_array *a, uint64_t pages_per_tag)
{
    struct pass pass = {d, pages_per_tag, a->order};
    if (!a->state)
        return;
    for (unsigned i = 0; i < d->setup.apps; i++)
        d->bases[i] = (struct base){0};
    a->policy->each(a->state, pick_base, &pass);
    for (unsigned i = 0; i < d->setup.apps; i++)
        d->bases[i].count = 0;
    a->policy->each(a->state, compare, &pass);
}

void pw_tlb_deltas_take(struct pw_tlb_deltas *d)
{
    const struct pw_tlb_config *c = d->setup.config;
    uint64_t before[PW_MAX_APPS];
    uint32_t entries = c->large_as_base ? c->base_entries : c->large_entries;
    uint32_t ways = c->large_as_base ? c->base_ways : c->large_ways;
    for (unsigned i = 0; i < d->setup.apps; i++)
        before[i] = d->counters[i].translations;
    take_array(d, &d->setup.tlb->base, pages_per_tag(c->base_entries, c->base_ways, c->base_subpages));
    take_array(d, &d->setup.tlb->large, pages_per_tag(entries, ways, c->large_subpages));
    for (unsigned i = 0; i < d->setup.apps; i++)
        d->counters[i].snapshots += d->counters[i].translations != before[i];
}

static pw_cycle snapshot(void *object, pw_cycle now)
{
    struct pw_tlb_deltas *d = object;
    pw_tlb_deltas_take(d);
    return now + d->setup.interval;
}

void pw_tlb_deltas_begin(struct pw_tlb_deltas *d)
{
    d->epochs = (struct pw_epochs){d->setup.events, d, snapshot, NULL}; /* each draws random numbers */
    pw_epochs_begin(&d->epochs, d->setup.events->now + d->setup.interval);
}

void pw_tlb_deltas_end(struct pw_tlb_deltas *d)
{
    pw_epochs_end(&d->epochs);
}

#define UP_TO_27(name)                                                                                                 \
    name "0", name "1", name "2", name "3", name "4", name "5", name "6", name "7", name "8", name "9", name "10",     \
        name "11", name "12", name "13", name "14", name "15", name "16", name "17", name "18", name "19", name "20",  \
        name "21", name "22", name "23", name "24", name "25", name "26", name "27"

static const char *const vpt_names[PW_VPT_BITS + 1] = {
    UP_TO_27("deltas.vpt_fit_"), "deltas.vpt_fit_28", "deltas.vpt_fit_29", "deltas.vpt_fit_30", "deltas.vpt_fit_31",
    "deltas.vpt_fit_32",         "deltas.vpt_fit_33", "deltas.vpt_fit_34", "deltas.vpt_fit_35", "deltas.vpt_fit_36"};
static const char *const pfn_names[PW_PFN_BITS + 1] = {UP_TO_27("deltas.pfn_fit_")};

void pw_tlb_deltas_register(const struct pw_tlb_deltas *d, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, d->counters, sizeof *d->counters,                                        \
                     offsetof(struct pw_tlb_deltas_counters, field))
    COUNTER("deltas.snapshots", "snapshots", snapshots, "Snapshots of the L2 TLB with translations to compare.");
    COUNTER("deltas.translations", "translations", translations,
            "Translations in them that were compared with a base, one of them that was picked at random.");
    for (unsigned i = 0; i <= PW_VPT_BITS; i++)
        COUNTER(vpt_names[i], "translations", vpt_fit[i],
                "Those whose tag differs from the base's by a number of at most so many bits.");
    for (unsigned i = 0; i <= PW_PFN_BITS; i++)
        COUNTER(pfn_names[i], "translations", pfn_fit[i],
                "Those whose frame number differs from the base's by a number of at most so many bits.");
    COUNTER("deltas.vpt_bit_sum", "bits", vpt_bits, NULL);
    COUNTER("deltas.pfn_bit_sum", "bits", pfn_bits, NULL);
#undef COUNTER
    pw_stats_ratio(stats, "deltas.vpt_bits", "bits", "Bits that the difference of tags takes, on average.",
                   "deltas.vpt_bit_sum", "deltas.translations", 1);
    pw_stats_ratio(stats, "deltas.pfn_bits", "bits", "Bits that the difference of frame numbers takes, on average.",
                   "deltas.pfn_bit_sum", "deltas.translations", 1);
    pw_stats_identity(stats, "deltas.translations", "deltas.vpt_fit_36");
    pw_stats_identity(stats, "deltas.translations", "deltas.pfn_fit_27");
}
