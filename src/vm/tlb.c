/* The two arrays of a TLB, built for the page sizes in use, and the checks over them. */
#include "vm/tlb.h"

#include <stdio.h>

const struct pw_option pw_tlb_options[] = {
    {"organisation", PW_OPTION_POLICY, offsetof(struct pw_tlb_config, organisation), 0, 0, "plain", "", &pw_tlb_family,
     "How translations are stored and replaced.", false},
    {"large_organisation", PW_OPTION_POLICY_OR_SAME, offsetof(struct pw_tlb_config, large_organisation), 0, 0, "same",
     "", &pw_tlb_family, "How those of large pages are; same: as organisation says.", false},
    {"base_entries", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_entries), 1, 1 << 20, "128", "entries", NULL,
     "Entries for base pages (4 KiB or 64 KiB).", false},
    {"base_ways", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_ways), 0, 1 << 20, "0", "ways", NULL,
     "Associativity of the base entries; 0 means fully associative.", false},
    {"base_subpages", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_subpages), 1, 64, "1", "pages", NULL,
     "Consecutive base pages that share one tag, each with its own valid bit.", true},
    {"large_entries", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_entries), 1, 1 << 20, "16", "entries", NULL,
     "Entries for large pages (2 MiB).", false},
    {"large_ways", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_ways), 0, 1 << 20, "0", "ways", NULL,
     "Associativity of the large entries; 0 means fully associative.", false},
    {"large_subpages", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_subpages), 1, 64, "1", "pages", NULL,
     "Consecutive large pages that share one tag, each with its own valid bit.", true},
    {"large_as_base", PW_OPTION_BOOL, offsetof(struct pw_tlb_config, large_as_base), 0, 0, "off", "", NULL,
     "Give the large entries the number and associativity of the base entries (Mosaic, Figure 3).", false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_tlb_config, latency), 0, 100000, "1", "cycles", NULL,
     "Cycles of a lookup.", false},
    {"mshrs", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, mshrs), 1, 65536, "32", "entries", NULL,
     "Pages whose translation can be outstanding at once.", false},
    {0}};

/* What differs between the levels; the identity is that of misses. */
struct names {
    const char *lookups, *hits, *misses, *merges, *primary_lookups, *primary, *rate, *fault_waits, *unanswered,
        *identity, *hit_rate, *merged_hits, *merged_hit_rate;
    const char *help_lookups, *help_merges, *help_fault_waits;
};

#define NAMES(level)                                                                                                   \
    level ".lookups", level ".hits", level ".misses", level ".mshr_merges", level ".primary_lookups",                  \
        level ".primary_misses", level ".primary_hit_rate", level ".far_fault_waits", level ".unanswered",             \
        level ".primary_misses + " level ".mshr_merges + " level ".far_fault_waits + " level ".unanswered",            \
        level ".hit_rate", level ".merged_hits", level ".merged_hit_rate"

static const struct names names_of[] = {
    [PW_L1_TLB] = {NAMES("l1_tlb"), "Lookups in the L1 TLBs, one per page of a memory instruction.",
                   "Misses that found their page already asked for.",
                   "Misses whose walk found no page, or whose SM waited for their page already."},
    [PW_L2_TLB] = {NAMES("l2_tlb"), "Lookups in the shared L2 TLB.",
                   "Misses that found a walk for their page under way.", "Misses whose walk found no page."},
};

void pw_tlb_register(struct pw_stats *stats, enum pw_tlb_number level, const struct pw_tlb_counters *counters,
                     bool looked_up)
{
    const struct names *n = &names_of[level];
#define COUNTER(name, field, help)                                                                                     \
    pw_stats_counter(stats, name, "lookups", help, counters, sizeof *counters, offsetof(struct pw_tlb_counters, field))
    COUNTER(n->lookups, lookups, n->help_lookups);
    COUNTER(n->hits, hits, "Those that hit.");
    COUNTER(n->misses, misses, "Those that missed, merged ones included.");
    COUNTER(n->merges, merges, n->help_merges);
    COUNTER(n->fault_waits, fault_waits, n->help_fault_waits);
    COUNTER(n->unanswered, unanswered, "Misses of which it is not known yet what they are, at the end.");
    COUNTER(n->primary, primary, "The other misses: neither merged, nor waiting for a far fault.");
    COUNTER(n->primary_lookups, hits, "Hits and primary misses.");
    COUNTER(n->merged_hits, hits, NULL);
#undef COUNTER
    pw_stats_level(stats, n->unanswered);
    pw_stats_further_place(stats, n->primary_lookups, counters, sizeof *counters,
                           offsetof(struct pw_tlb_counters, primary));
    pw_stats_further_place(stats, n->merged_hits, counters, sizeof *counters, offsetof(struct pw_tlb_counters, merges));
    pw_stats_ratio(stats, n->hit_rate, "%", "Hits among lookups: one that merged was a miss.", n->hits, n->lookups,
                   100);
    pw_stats_ratio(stats, n->merged_hit_rate, "%", "Hits among lookups where one that merged counts as a hit.",
                   n->merged_hits, n->lookups, 100);
    pw_stats_ratio(stats, n->rate, "%", "Hits among primary lookups, as papers count them.", n->hits,
                   n->primary_lookups, 100);
    pw_stats_identity(stats, n->lookups,
                      level == PW_L1_TLB ? "l1_tlb.hits + l1_tlb.misses" : "l2_tlb.hits + l2_tlb.misses");
    if (looked_up) /* without one, walks merge all the same */
        pw_stats_identity(stats, n->misses, n->identity);
}

static bool has_base(pw_page_orders orders)
{
    return orders & (1U << PW_PAGE_4K | 1U << PW_PAGE_64K);
}

static bool has_large(pw_page_orders orders)
{
    return orders & 1U << PW_PAGE_2M;
}

bool pw_tlb_shape_of(const struct pw_tlb_config *config, pw_page_orders orders, bool large, struct pw_tlb_shape *out)
{
    const struct pw_tlb_config *c = config;
    bool as_base = !large || c->large_as_base;
    *out = (struct pw_tlb_shape){.entries = as_base ? c->base_entries : c->large_entries,
                                 .ways = as_base ? c->base_ways : c->large_ways,
                                 .subpages = large ? c->large_subpages : c->base_subpages,
                                 .order = PW_PAGE_2M};
    if (!large)
        out->order = orders & 1U << PW_PAGE_4K ? PW_PAGE_4K : PW_PAGE_64K;
    return large ? has_large(orders) : has_base(orders);
}

uint64_t pw_tlb_entries(const struct pw_tlb_config *config, pw_page_orders orders)
{
    const struct pw_policy *base = pw_policy_chosen(&pw_tlb_family, &config->organisation);
    const struct pw_policy *large = pw_policy_chosen_or_same(&pw_tlb_family, &config->large_organisation);
    uint64_t entries = 0;
    if (has_base(orders) && !pw_tlb_policy_of(base)->asks_table)
        entries += config->base_entries;
    if (has_large(orders) && !pw_tlb_policy_of(large ? large : base)->asks_table)
        entries += config->large_as_base ? config->base_entries : config->large_entries;
    return entries;
}

enum pw_status pw_tlb_level_init(struct pw_tlb_level *level, struct pw_error *err)
{
    const struct pw_policy_choice *base = &level->config->organisation, *large = &level->config->large_organisation;
    const struct pw_policy *of_base = pw_policy_chosen(&pw_tlb_family, base);
    const struct pw_policy *of_large = pw_policy_chosen_or_same(&pw_tlb_family, large);
    enum pw_status status = PW_OK;
    snprintf(level->base_option, sizeof level->base_option, "%s.organisation", level->name);
    snprintf(level->large_option, sizeof level->large_option, "%s.large_organisation", level->name);
    level->base = level->large = (struct pw_policy_use){0};
    if (has_base(level->orders))
        status = pw_policy_use_init(&level->base, level->policies, level->base_option, of_base, base, level->apps, err);
    if (status == PW_OK && has_large(level->orders))
        status = pw_policy_use_init(&level->large, level->policies, level->large_option, of_large ? of_large : of_base,
                                    of_large ? large : base, level->apps, err);
    return status;
}

void pw_tlb_level_release(struct pw_tlb_level *level)
{
    pw_policy_use_release(&level->base);
    pw_policy_use_release(&level->large);
}

/* The array of TLB `number`, where there is one. */
static enum pw_status init_array(struct pw_tlb_array *a, const struct pw_tlb_level *level, bool large,
                                 struct pw_policy_use *use, uint32_t number, struct pw_error *err)
{
    struct pw_tlb_shape shape;
    char stream[64];
    if (!pw_tlb_shape_of(level->config, level->orders, large, &shape))
        return PW_OK;
    snprintf(stream, sizeof stream, "%s %u %s", level->name, number, large ? "large" : "base");
    shape.tables = level->tables;
    shape.seed = level->seed;
    shape.stream = stream;
    a->policy = pw_tlb_policy_of(use->policy);
    a->order = shape.order;
    return pw_policy_use_add(use, &shape, &a->state, err);
}

static bool asks_table(const struct pw_tlb_array *a, bool if_not_there)
{
    return a->state ? a->policy->asks_table : if_not_there;
}

enum pw_status pw_tlb_init(struct pw_tlb *t, struct pw_tlb_level *level, uint32_t number, struct pw_error *err)
{
    *t = (struct pw_tlb){0};
    enum pw_status status = init_array(&t->base, level, false, &level->base, number, err);
    if (status == PW_OK)
        status = init_array(&t->large, level, true, &level->large, number, err);
    t->asks_table = asks_table(&t->base, false) || asks_table(&t->large, false);
    t->is_the_table = asks_table(&t->base, true) && asks_table(&t->large, true);
    return status;
}

static struct pw_tlb_array *array_for(struct pw_tlb *t, struct pw_translation translation)
{
    return translation.order == PW_PAGE_2M ? &t->large : &t->base;
}

static pw_pfn first_frame(const struct pw_tlb_array *a, pw_vpn vpn, struct pw_translation translation)
{
    pw_pfn word = pw_frame_word(translation.frame, translation.denied);
    return (pw_pfn){word.v - (uint32_t)(vpn.v & ((1U << a->order) - 1))};
}

void pw_tlb_insert(struct pw_tlb *t, pw_asid asid, pw_vpn vpn, struct pw_translation translation)
{
    struct pw_tlb_array *a = array_for(t, translation);
    if (a->state)
        a->policy->insert(a->state, (struct pw_tlb_key){vpn.v >> a->order, asid}, first_frame(a, vpn, translation),
                          NULL);
}

/* The line that holds the entry of a page of the array's size. */
static struct pw_tlb_line read_line(const struct pw_page_table *table, uint64_t page, uint8_t order)
{
    struct pw_tlb_line line = {.count = PW_LINE_BYTES / table->config.entry_stride};
    line.first = page & ~(uint64_t)(line.count - 1);
    for (uint32_t i = 0; i < line.count; i++) {
        struct pw_translation t = pw_page_table_lookup(table, (pw_vpn){(line.first + i) << order});
        line.present |= (uint32_t)(t.present && t.order == order) << i;
        line.frames[i] = pw_frame_word(t.frame, t.denied);
    }
    return line;
}

/* Apart, so that only those pay for the line who read it. */
__attribute__((noinline)) static void insert_line(struct pw_tlb_array *a, const struct pw_page_table *table, pw_vpn vpn,
                                                  pw_pfn frame)
{
    struct pw_tlb_line line = read_line(table, vpn.v >> a->order, a->order);
    a->policy->insert(a->state, (struct pw_tlb_key){vpn.v >> a->order, table->config.asid}, frame, &line);
}

void pw_tlb_insert_walked(struct pw_tlb *t, const struct pw_page_table *table, pw_vpn vpn,
                          struct pw_translation translation)
{
    struct pw_tlb_array *a = array_for(t, translation);
    if (a->state && a->policy->reads_lines)
        insert_line(a, table, vpn, first_frame(a, vpn, translation));
    else
        pw_tlb_insert(t, table->config.asid, vpn, translation);
}

static unsigned invalidate_array(struct pw_tlb_array *a, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    if (!a->state || first.v >= outer.v)
        return 0;
    return a->policy->invalidate(a->state, asid, first.v >> a->order, ((outer.v - 1) >> a->order) + 1);
}

unsigned pw_tlb_invalidate(struct pw_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    return invalidate_array(&t->base, asid, first, outer) + invalidate_array(&t->large, asid, first, outer);
}

static void launch_array(struct pw_tlb_array *a, pw_asid asid)
{
    if (a->state && a->policy->launch)
        a->policy->launch(a->state, asid);
}

void pw_tlb_launch(struct pw_tlb *t, pw_asid asid)
{
    launch_array(&t->base, asid);
    launch_array(&t->large, asid);
}

static const char *permissions_of(unsigned denied)
{
    static const char *const texts[] = {"", " (write only)", " (read only)", " (neither read nor write)"};
    return texts[denied & PW_MAY_ALL];
}

void pw_frame_is_wrong(const struct pw_page_table *table, const char *who, pw_asid asid, pw_vpn vpn, pw_pfn word,
                       struct pw_error *err)
{
    struct pw_translation t = pw_page_table_lookup(table, vpn);
    char right[64] = "no page";
    if (t.present)
        snprintf(right, sizeof right, "frame 0x%x%s", t.frame.v, permissions_of(t.denied));
    pw_fail(err, PW_FAILED, "%s returned frame 0x%x%s for page 0x%llx of app%u, where the page table has %s", who,
            pw_frame_of(word).v, permissions_of(pw_denied_of(word)), (unsigned long long)vpn.v, asid, right);
}

bool pw_tlb_entry_is_right(const struct pw_page_table *table, pw_vpn vpn, uint8_t order, pw_pfn word)
{
    struct pw_translation t = pw_page_table_lookup(table, vpn);
    bool size_fits = t.order == order || (order == PW_PAGE_4K && pw_page_table_is_large(table, vpn));
    return size_fits && pw_page_table_has_word(table, vpn, word);
}

struct check {
    const struct pw_page_table *const *tables;
    uint8_t order;
    bool wrong;
    struct pw_tlb_key key;
};

static void check_entry(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    struct check *c = context;
    if (!c->wrong && !pw_tlb_entry_is_right(c->tables[key.asid], (pw_vpn){key.page << c->order}, c->order, frame)) {
        c->wrong = true;
        c->key = key;
    }
}

enum pw_status pw_tlb_check(const struct pw_tlb *t, const struct pw_page_table *const *tables, const char *name,
                            struct pw_error *err)
{
    const struct pw_tlb_array *arrays[] = {&t->base, &t->large};
    for (int i = 0; i < 2; i++) {
        struct check c = {.tables = tables, .order = arrays[i]->order};
        if (arrays[i]->state)
            arrays[i]->policy->each(arrays[i]->state, check_entry, &c);
        if (c.wrong)
            return pw_fail(err, PW_FAILED,
                           "%s: the entry for page 0x%llx of address space %u differs from the page table", name,
                           (unsigned long long)(c.key.page << arrays[i]->order), c.key.asid);
    }
    return PW_OK;
}
