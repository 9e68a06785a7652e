/* Range: beside the entries of single pages, fully associative entries each of which maps a run of consecutive pages of
 * one address space to consecutive frames, with the same permissions, however long (TLB compression, Section 5.3; the
 * hardware is that of redundant memory mappings, Karakostas et al., ISCA 2015).
 *
 * Page entries and ranges are looked up at once, and a hit in either is a hit. A page walk fills a page entry, as in
 * the plain organisation. Then, if the page has a neighbour that continues it, a second walk fetches its range; who
 * waits for the page does not wait for that, and only after `walk` cycles the range is there. It is the longest run
 * around the page that the page table has at that moment: the operating system's table of ranges holds those and is
 * always up to date. Ranges replace each other by LRU. One that is part of a longer one, since pages beside it have
 * been mapped, makes way for it.
 *
 * A shootdown cuts its pages out of a range. What is left before and behind them stays: the longer part in its entry,
 * the other one in an empty entry, or not at all where there is none. `invalidate` counts a page that stands both in
 * an entry of its own and in a range twice.
 *
 * Translations that come from elsewhere than a walk fill page entries only, so in an L1 TLB there are never ranges.
 *
 * Not modelled: what it costs the operating system to make ranges. Frames lie as page.frames puts them, and nobody
 * moves pages to make runs longer. The paper's reference (Translation Ranger, ISCA 2019) reports under 2% of run time
 * for that on a CPU; the paper says it is far more on a GPU and gives no number. Nor does a range walk take a page
 * walker or read memory: `walk` is all that it costs. Its default is the paper's page walk of 500 cycles (Table 3), as
 * the table of ranges is a tree in memory too. */
#include "policy/tlb/tlb_policy.h"
#include "sim/cost.h"
#include "vm/page_table.h"

extern const struct pw_tlb_policy pw_tlb_policy_plain;

enum { CACHE_LINE = 64, FRAME_BITS = 27, PERMISSION_BITS = 2, ASID_BITS = 9 };

struct range_options {
    uint32_t ranges, walk;
};

static const struct pw_option options[] = {
    {"ranges", PW_OPTION_COUNT, offsetof(struct range_options, ranges), 0, 1024, "32", "ranges", NULL,
     "Fully associative entries for ranges, beside those for pages; 0: as plain.", false},
    {"walk", PW_OPTION_CYCLES, offsetof(struct range_options, walk), 0, 1000000, "500", "cycles", NULL,
     "Cycles after the end of a page walk until the range around the page is there.", false},
    {0}};

struct range_counters {
    uint64_t hits, fills, pages;
};

static const struct pw_policy_metric metrics[] = {
    {"range_hits", "lookups", "Lookups that hit a range and no page entry.", offsetof(struct range_counters, hits),
     false},
    {"range_fills", "ranges", "Ranges put in.", offsetof(struct range_counters, fills), false},
    {"range_pages", "pages", "Pages of these ranges, all together.", offsetof(struct range_counters, pages), false},
    {0}};

static uint64_t range_bits(const void *chosen, const struct pw_cost_machine *machine)
{
    (void)machine;
    /* The first and the last page, the first frame, permissions, the address space, a valid bit. */
    return ((const struct range_options *)chosen)->ranges *
           (2ULL * PW_TABLE_VPN_BITS + FRAME_BITS + PERMISSION_BITS + ASID_BITS + 1);
}

static const struct pw_policy_cost cost[] = {
    {"ranges", "Ranges: the first and the last page, the first frame, permissions, the address space.", PW_COST_TLB, 0,
     range_bits},
    {0}};

struct range {
    uint64_t first, outer; /* pages; alike: empty */
    uint64_t used;         /* when it was used last */
    pw_pfn word;           /* of the first page */
    pw_asid asid;
};

struct state {
    const struct range_options *options;
    struct range_counters *counters;
    const struct pw_page_table *const *tables;
    uint64_t now; /* uses so far */
    struct range *ranges;
    uint32_t count;
    uint8_t order;
    _Alignas(CACHE_LINE) unsigned char pages[]; /* a plain organisation, then the ranges */
};

/* Page entries have the plain organisation's own defaults: LRU. */
static struct pw_policy_setup setup_of_pages(const struct pw_policy_setup *setup)
{
    static const _Alignas(8) unsigned char defaults[PW_POLICY_OPTIONS_CAPACITY];
    return (struct pw_policy_setup){.options = defaults, .environment = setup->environment, .apps = setup->apps};
}

static size_t bytes_of_pages(const struct pw_policy_setup *setup)
{
    struct pw_policy_setup pages = setup_of_pages(setup);
    size_t bytes = pw_tlb_policy_plain.head.state_bytes + pw_tlb_policy_plain.head.more_bytes(&pages);
    return (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

static uint32_t count_ranges(const struct pw_policy_setup *setup)
{
    const struct pw_tlb_shape *shape = setup->environment;
    return shape->entries ? ((const struct range_options *)setup->options)->ranges : 0;
}

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    return bytes_of_pages(setup) + count_ranges(setup) * sizeof(struct range);
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct state *s = state;
    const struct pw_tlb_shape *shape = setup->environment;
    struct pw_policy_setup pages = setup_of_pages(setup);
    if (!shape->tables)
        return pw_fail(err, PW_FAILED, "a range TLB needs the page tables");
    s->options = setup->options;
    s->counters = setup->counters;
    s->tables = shape->tables;
    s->order = shape->order;
    s->count = count_ranges(setup);
    s->ranges = (struct range *)(void *)(s->pages + bytes_of_pages(setup));
    return pw_tlb_policy_plain.head.init(s->pages, &pages, err);
}

static struct range *find_range(const struct state *s, struct pw_tlb_key key)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct range *r = &s->ranges[i];
        if (key.page >= r->first && key.page < r->outer && r->asid == key.asid)
            return r;
    }
    return NULL;
}

/* Of a page in the range, or just before or behind it. */
static pw_pfn word_at(const struct state *s, const struct range *r, uint64_t page)
{
    return (pw_pfn){r->word.v + ((uint32_t)(page - r->first) << s->order)};
}

static bool lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    struct state *s = state;
    bool has_page = pw_tlb_policy_plain.lookup(s->pages, key, out_frame);
    struct range *r = find_range(s, key);
    if (!r)
        return has_page;
    r->used = ++s->now;
    if (!has_page) {
        s->counters[key.asid].hits++;
        *out_frame = word_at(s, r, key.page);
    }
    return true;
}

static void insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    struct state *s = state;
    pw_tlb_policy_plain.insert(s->pages, key, frame, line);
}

/* Whether the page table has a page of this size, with this word. */
static bool is_mapped(const struct state *s, struct pw_tlb_key key, pw_pfn word)
{
    struct pw_translation t = pw_page_table_lookup(s->tables[key.asid], (pw_vpn){key.page << s->order});
    return t.present && t.order == s->order && pw_frame_word(t.frame, t.denied).v == word.v;
}

/* The run of a page alone; empty where the page is not mapped. */
static struct range run_of(const struct state *s, struct pw_tlb_key key)
{
    struct pw_translation t = pw_page_table_lookup(s->tables[key.asid], (pw_vpn){key.page << s->order});
    bool is_there = t.present && t.order == s->order;
    return (struct range){
        .first = key.page, .outer = key.page + is_there, .word = pw_frame_word(t.frame, t.denied), .asid = key.asid};
}

/* Whether the page before it, or the one behind it, continues the run. */
static bool goes_on(const struct state *s, const struct range *run, bool up)
{
    uint64_t page = up ? run->outer : run->first - 1;
    return (up || run->first) && is_mapped(s, (struct pw_tlb_key){page, run->asid}, word_at(s, run, page));
}

static pw_cycle late(const void *state, struct pw_tlb_key key)
{
    const struct state *s = state;
    if (!s->count || find_range(s, key))
        return PW_NEVER;
    struct range run = run_of(s, key);
    return run.outer > run.first && (goes_on(s, &run, true) || goes_on(s, &run, false)) ? s->options->walk : PW_NEVER;
}

/* The nearest range of the address space before or behind a run, or NULL. They never overlap. */
static const struct range *next_range(const struct state *s, const struct range *run, bool up)
{
    const struct range *best = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct range *r = &s->ranges[i];
        if (r->first == r->outer || r->asid != run->asid || (up ? r->first < run->outer : r->outer > run->first))
            continue;
        if (!best || (up ? r->first < best->first : r->outer > best->outer))
            best = r;
    }
    return best;
}

/* Makes a run as long as it can be at one end. What is in a range already needs no look at the page table. */
static void extend(const struct state *s, struct range *run, bool up)
{
    for (;;) {
        const struct range *next = next_range(s, run, up);
        while (!(next && (up ? run->outer == next->first : run->first == next->outer))) {
            if (!goes_on(s, run, up))
                return;
            if (up) {
                run->outer++;
            } else {
                run->word = word_at(s, run, run->first - 1);
                run->first--;
            }
        }
        if (word_at(s, run, next->first).v != next->word.v)
            return;
        if (up) {
            run->outer = next->outer;
        } else {
            run->first = next->first;
            run->word = next->word;
        }
    }
}

/* An empty entry, else the least recently used. */
static struct range *victim(const struct state *s)
{
    struct range *oldest = &s->ranges[0];
    for (uint32_t i = 0; i < s->count; i++) {
        struct range *r = &s->ranges[i];
        if (r->first == r->outer)
            return r;
        if (r->used < oldest->used)
            oldest = r;
    }
    return oldest;
}

static void insert_late(void *state, struct pw_tlb_key key)
{
    struct state *s = state;
    if (!s->count || find_range(s, key))
        return;
    struct range run = run_of(s, key);
    if (run.first == run.outer)
        return;
    extend(s, &run, false);
    extend(s, &run, true);
    if (run.outer - run.first < 2)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->ranges[i].asid == run.asid && s->ranges[i].first >= run.first && s->ranges[i].outer <= run.outer)
            s->ranges[i] = (struct range){0};
    run.used = ++s->now;
    *victim(s) = run;
    s->counters[key.asid].fills++;
    s->counters[key.asid].pages += run.outer - run.first;
}

/* Cuts pages that it has out of a range. */
static void cut(struct state *s, struct range *r, uint64_t first, uint64_t outer)
{
    struct range before = *r, behind = *r;
    before.outer = first;
    behind.first = outer;
    behind.word = word_at(s, r, outer);
    bool is_before_longer = before.outer - before.first >= behind.outer - behind.first;
    *r = is_before_longer ? before : behind;
    const struct range *rest = is_before_longer ? &behind : &before;
    if (r->first == r->outer)
        *r = (struct range){0};
    struct range *other = victim(s);
    if (rest->first < rest->outer && other->first == other->outer)
        *other = *rest;
}

static unsigned invalidate(void *state, pw_asid asid, uint64_t first, uint64_t outer)
{
    struct state *s = state;
    unsigned dropped = pw_tlb_policy_plain.invalidate(s->pages, asid, first, outer);
    for (uint32_t i = 0; i < s->count; i++) {
        struct range *r = &s->ranges[i];
        uint64_t from = first > r->first ? first : r->first, to = outer < r->outer ? outer : r->outer;
        if (r->asid != asid || from >= to)
            continue;
        dropped += (unsigned)(to - from);
        cut(s, r, from, to);
    }
    return dropped;
}

static void each(const void *state, pw_tlb_visit *visit, void *context)
{
    const struct state *s = state;
    pw_tlb_policy_plain.each(s->pages, visit, context);
    for (uint32_t i = 0; i < s->count; i++)
        for (uint64_t page = s->ranges[i].first; page < s->ranges[i].outer; page++)
            visit(context, (struct pw_tlb_key){page, s->ranges[i].asid}, word_at(s, &s->ranges[i], page));
}

extern const struct pw_tlb_policy pw_tlb_policy_range;
const struct pw_tlb_policy pw_tlb_policy_range = {
    .head = {.name = "range",
             .summary = "entries of pages, and beside them ranges: runs of consecutive pages on consecutive frames",
             .options = options,
             .options_bytes = sizeof(struct range_options),
             .metrics = metrics,
             .counters_bytes = sizeof(struct range_counters),
             .state_bytes = sizeof(struct state),
             .more_bytes = more_bytes,
             .init = init,
             .cost = cost},
    .lookup = lookup,
    .insert = insert,
    .late = late,
    .insert_late = insert_late,
    .invalidate = invalidate,
    .each = each,
};
