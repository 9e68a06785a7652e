/* Adds up what the structures of the chosen policies take. */
#include "system/cost.h"

#include <stdio.h>
#include <string.h>

enum { TLB_ENTRY_BITS = 128, ASID_BITS = 9, BYTE_BITS = 8 };

static uint64_t l1_tlb_bits(const struct pw_config *c)
{
    return TLB_ENTRY_BITS * pw_tlb_entries(&c->gpu.l1_tlb.tlb, c->gpu.orders);
}

static uint64_t l2_tlb_entries(const struct pw_config *c)
{
    return c->gpu.l2_tlb.enabled ? pw_tlb_entries(&c->gpu.l2_tlb.tlb, c->gpu.orders) : 0;
}

static uint64_t l2_tlb_bits(const struct pw_config *c)
{
    return TLB_ENTRY_BITS * l2_tlb_entries(c);
}

static uint64_t l2_bits(const struct pw_config *c)
{
    return BYTE_BITS * c->gpu.l2.bytes;
}

static uint64_t dram_queue_entries(const struct pw_config *c)
{
    return (uint64_t)c->gpu.dram.read_queue + c->gpu.dram.write_queue;
}

static uint64_t one(const struct pw_config *c)
{
    (void)c;
    return 1;
}

static uint64_t sms(const struct pw_config *c)
{
    return c->gpu.sm.count;
}

static const char bytes[] = "bytes";

/* By enum pw_cost_place. */
static const struct place {
    const char *name, *unit;
    uint32_t unit_size; /* in what rows of the place are counted in */
    const char *added, *base, *overhead;
    uint64_t (*base_of)(const struct pw_config *c);  /* in what rows are; NULL: there is nothing to compare with */
    uint64_t (*count_of)(const struct pw_config *c); /* NULL: it is not part of the sum */
} places[PW_COST_SUMS] = {
    {"l1_tlb", bytes, BYTE_BITS, "Storage that policies add to each L1 TLB.", "Storage of each L1 TLB without it.",
     "What they add, relative to that.", l1_tlb_bits, sms},
    {"l2_tlb", bytes, BYTE_BITS, "Storage that policies add to the L2 TLB.", "Storage of the L2 TLB without it.",
     "What they add, relative to that.", l2_tlb_bits, one},
    {"l2", bytes, BYTE_BITS, "Storage that policies add to the L2 cache.", "Capacity of the L2 cache.",
     "What they add, relative to that.", l2_bits, one},
    {"request", "bits", 1, "Bits that policies add to each memory request.", NULL, NULL, NULL, NULL},
    {"dram_queue", "entries", 1, "Entries that the DRAM schedule adds to the queues of each channel.",
     "Entries of these queues without it.", "What it adds, relative to that.", dram_queue_entries, NULL},
};

const char *pw_cost_unit(enum pw_cost_place place)
{
    return place >= PW_COST_SUMS || places[place].unit == bytes ? "bits" : places[place].unit;
}

static uint64_t in_units(uint64_t size, uint32_t unit)
{
    return (size + unit - 1) / unit;
}

/* The name is filled in by whoever asks for the item. Where there is no room, the last one is given up. */
static struct pw_cost_item *add(struct pw_cost *c, const char *unit, const char *help, uint64_t value)
{
    if (c->count < PW_COST_ITEMS)
        c->count++;
    else
        c->full = true;
    struct pw_cost_item *i = &c->items[c->count - 1];
    *i = (struct pw_cost_item){.unit = unit, .help = help, .value = value};
    return i;
}

/* Returns its number. */
static unsigned add_named(struct pw_cost *c, const char *place, const char *what, const char *unit, const char *help,
                          uint64_t value)
{
    struct pw_cost_item *i = add(c, unit, help, value);
    snprintf(i->name, sizeof i->name, "cost.%s.%s", place, what);
    return c->count - 1;
}

static void add_ratio(struct pw_cost *c, const char *place, const char *what, const char *help, unsigned of,
                      unsigned to)
{
    struct pw_cost_item *i = &c->items[add_named(c, place, what, "%", help, 0)];
    i->is_ratio = true;
    i->of = of;
    i->to = to;
}

/* Those of a policy that an option of this name chooses; `tlb` is the place that PW_COST_TLB means. */
static void add_policy(struct pw_cost *c, const char *option, const struct pw_policy *policy, const void *options,
                       const struct pw_cost_machine *machine, enum pw_cost_place tlb, uint64_t *sums)
{
    for (const struct pw_policy_cost *row = policy ? policy->cost : NULL; row && row->name; row++) {
        uint64_t size = pw_policy_cost_size(row, options, machine);
        struct pw_cost_item *i = add(c, pw_cost_unit(row->place), row->help, size);
        i->is_structure = true;
        c->full |= !pw_cost_name(option, row, i->name, sizeof i->name);
        enum pw_cost_place place = row->place == PW_COST_TLB ? tlb : row->place;
        if (place < PW_COST_SUMS)
            sums[place] += size;
    }
}

static uint32_t bits_above(uint32_t bits, uint32_t order)
{
    return bits > order ? bits - order : 0;
}

/* The two arrays of a TLB, each with the organisation that it has. */
static void add_tlb(const struct pw_config *config, struct pw_cost *c, enum pw_cost_place place,
                    struct pw_cost_machine machine, uint64_t *sums)
{
    const struct pw_tlb_config *t = place == PW_COST_L1_TLB ? &config->gpu.l1_tlb.tlb : &config->gpu.l2_tlb.tlb;
    const struct pw_policy *base = pw_policy_chosen(&pw_tlb_family, &t->organisation);
    const struct pw_policy *large = pw_policy_chosen_or_same(&pw_tlb_family, &t->large_organisation);
    uint64_t frames = config->gpu.dram.bytes >> PW_PAGE_SHIFT;
    uint32_t frame_bits = frames > 1 ? 64 - (uint32_t)__builtin_clzll(frames - 1) : 0;
    for (unsigned i = 0; i < 2; i++) {
        struct pw_tlb_shape shape;
        char option[PW_METRIC_NAME_CAPACITY];
        if (!pw_tlb_shape_of(t, config->gpu.orders, i == 1, &shape))
            continue;
        machine.array =
            (struct pw_cost_array){shape.entries, shape.ways, shape.subpages,
                                   bits_above(PW_TABLE_VPN_BITS, shape.order), bits_above(frame_bits, shape.order)};
        snprintf(option, sizeof option, "%s.%s", places[place].name, i ? "large_organisation" : "organisation");
        bool is_own = i == 1 && large;
        add_policy(c, option, is_own ? large : base, is_own ? t->large_organisation.options : t->organisation.options,
                   &machine, place, sums);
    }
}

static void add_policies(const struct pw_config *config, struct pw_cost *c, uint64_t *sums)
{
    const struct pw_cost_machine machine = {.sms = config->gpu.sm.count,
                                            .warps = config->gpu.sm.warps,
                                            .dram_queue = (uint32_t)dram_queue_entries(config),
                                            .asid_bits = ASID_BITS};
    add_tlb(config, c, PW_COST_L1_TLB, machine, sums);
    if (config->gpu.l2_tlb.enabled)
        add_tlb(config, c, PW_COST_L2_TLB, machine, sums);
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
        for (const struct pw_option *row = g->rows; row->name; row++) {
            const struct pw_policy_family *family = pw_option_family(row);
            if (!family || family == &pw_tlb_family)
                continue;
            const void *field = (const char *)config + g->offset + row->offset;
            const struct pw_policy_choice *choice = field;
            const struct pw_policy *policy = row->type == PW_OPTION_POLICY_OR_SAME
                                                 ? pw_policy_chosen_or_same(family, choice)
                                                 : pw_policy_chosen(family, choice);
            char option[PW_METRIC_NAME_CAPACITY];
            snprintf(option, sizeof option, "%s.%s", g->prefix, row->name);
            add_policy(c, option, policy, choice->options, &machine, PW_COST_PART, sums);
        }
}

/* What is added in a place, what is there without it, and the relation of the two. Returns the number of the second. */
static unsigned add_place(const struct pw_config *config, struct pw_cost *c, const struct place *p, uint64_t added)
{
    unsigned of = add_named(c, p->name, "added", p->unit, p->added, added);
    if (!p->base_of)
        return of;
    unsigned to = add_named(c, p->name, "base", p->unit, p->base, p->base_of(config) / p->unit_size);
    add_ratio(c, p->name, "overhead", p->overhead, of, to);
    return to;
}

static void add_asid(const struct pw_config *config, struct pw_cost *c, unsigned base)
{
    uint64_t bits = ASID_BITS * l2_tlb_entries(config);
    unsigned of = add_named(c, "l2_tlb", "asid", bytes, "Address space numbers of 9 bits in the entries of the L2 TLB.",
                            in_units(bits, BYTE_BITS));
    add_ratio(c, "l2_tlb", "asid_overhead", "These, relative to the L2 TLB without them.", of, base);
}

enum pw_status pw_cost_of(const struct pw_config *config, struct pw_cost *out, struct pw_error *err)
{
    uint64_t sums[PW_COST_SUMS] = {0}, all = 0;
    *out = (struct pw_cost){0};
    add_policies(config, out, sums);
    for (unsigned i = 0; i < PW_COST_SUMS; i++) {
        const struct place *p = &places[i];
        uint64_t added = in_units(sums[i], p->unit_size);
        unsigned base = add_place(config, out, p, added);
        if (i == PW_COST_L2_TLB)
            add_asid(config, out, base);
        all += p->count_of ? added * p->count_of(config) : 0;
    }
    struct pw_cost_item *sum = add(out, bytes, "Storage that policies add to TLBs and caches, all SMs together.", all);
    snprintf(sum->name, sizeof sum->name, "cost.added");
    return out->full ? pw_fail(err, PW_FAILED, "policies state more costs, or longer names, than there is room for")
                     : PW_OK;
}

double pw_cost_value(const struct pw_cost *c, unsigned item)
{
    const struct pw_cost_item *i = &c->items[item];
    if (!i->is_ratio)
        return (double)i->value;
    uint64_t to = c->items[i->to].value;
    return to ? 100 * (double)c->items[i->of].value / (double)to : 0;
}

void pw_cost_register(const struct pw_cost *c, struct pw_stats *stats)
{
    for (unsigned k = 0; k < c->count; k++) {
        const struct pw_cost_item *i = &c->items[k];
        if (i->is_ratio) {
            pw_stats_ratio(stats, i->name, i->unit, i->help, c->items[i->of].name, c->items[i->to].name, 100);
        } else {
            pw_stats_counter(stats, i->name, i->unit, i->help, &i->value, 0, 0);
            pw_stats_level(stats, i->name);
            pw_stats_common(stats, i->name); /* what one GPU takes is not more for each of several */
        }
    }
}

bool pw_cost_name(const char *option, const struct pw_policy_cost *structure, char *out, size_t capacity)
{
    static const char prefix[] = "cost.";
    size_t length = sizeof prefix - 1;
    if (capacity <= length)
        return false;
    memcpy(out, prefix, length);
    return pw_policy_own_name(option, structure->name, out + length, capacity - length);
}
