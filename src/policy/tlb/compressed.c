/* Compressed: some ways of each set hold translations as differences from a base, several in one entry (TLB
 * compression, Sections 4.1 to 4.7).
 *
 * A set has uncompressed ways, of one translation each, and compressed ways of `ratio` places. A base pair, for one set
 * or for several, has the upper bits that all its places share: those of the page number above the set's number and
 * the virtual difference, and those of the frame number above the physical difference. Frame numbers are in units of
 * the page size. A place keeps the two differences and what the page may not be used for. So a hit in a place is right
 * only as long as the base is the one it was stored with.
 *
 * A translation is compressible when both bases match and the address space is that of the base, which the paper, with
 * one address space, has no need to say; a frame that is no multiple of the page size never is. It then goes into the
 * compressed ways of its set, any other into the uncompressed ones. Each of the two has its LRU, over places in the one
 * and entries in the other, so that a translation displaces one of its own kind. Both are looked up at once.
 *
 * The base is the first translation that comes in. Each uncompressible one lowers the pair's counter, and once that is
 * zero the next translation, of either kind, becomes the base: the places of the pair's sets are flushed, whatever the
 * new base is, and the counter starts over. The uncompressed entries stay. Compressible translations leave the counter
 * as it is or, if so chosen, restart it. The base may be looked for among the uncompressed entries of the pair's sets
 * instead (search): the one from which the others of its address space need the fewest bits in all; one of another
 * address space counts with all its bits.
 * A translation that is there already is refreshed where it is, and counts as no insertion.
 *
 * Sets share a base if their numbers agree modulo the number of bases (Section 4.6: the lower index bits choose it).
 *
 * Without uncompressed ways every uncompressible translation would miss (Section 4.6), and whoever waits for it would
 * wait for ever. Here one register holds the last of them until the next comes, for all sets together.
 *
 * Both parts are plain arrays: one of all uncompressed entries, and one of the places of each base pair, whose ways are
 * places and whose keys and frames are differences. With several pages under a tag (subpages) the virtual difference is
 * that of the tag, and each page has a physical one. */
#include "policy/tlb/compressed.h"
#include "policy/tlb/base_search.h"

extern const struct pw_tlb_policy pw_tlb_policy_plain;
static const struct pw_tlb_policy *const plain = &pw_tlb_policy_plain;

enum { CACHE_LINE = 64, ASID_SHIFT = 55 };

static const uint64_t VALID = 1ULL << 63;

static const char *const first_bases[] = {"run", "launch", NULL};

#define FIELD(name) offsetof(struct compressed_options, name)
static const struct pw_option options[] = {
    {"virtual_bits", PW_OPTION_COUNT, FIELD(virtual_bits), 0, 36, "13", "bits", NULL,
     "Bits of a page number, above those that choose the set, that a compressed translation keeps for itself.", false},
    {"physical_bits", PW_OPTION_COUNT, FIELD(physical_bits), 0, PW_DENIED_SHIFT, "9", "bits", NULL,
     "Bits of a frame number, in units of the page size, that it keeps for itself.", false},
    {"ratio", PW_OPTION_COUNT, FIELD(ratio), 2, 4, "2", "translations", NULL, "Translations in one compressed entry.",
     false},
    {"share", PW_OPTION_COUNT, FIELD(share), 0, 100, "50", "%", NULL,
     "Ways of a set that are compressed; with 0 it is as plain.", false},
    {"counter", PW_OPTION_COUNT, FIELD(counter), 0, 1 << 20, "16", "translations", NULL,
     "Uncompressible translations after which the next one becomes the base; 0: the base is never replaced.", false},
    {"consecutive", PW_OPTION_BOOL, FIELD(consecutive), 0, 0, "off", "", NULL,
     "Whether only uncompressible translations one after the other count: a compressible one restarts the counter.",
     false},
    {"sets_per_base", PW_OPTION_COUNT, FIELD(sets_per_base), 0, 1 << 20, "1", "sets", NULL,
     "Sets that share a base and its counter; 0, or more than there are: all.", false},
    {"search", PW_OPTION_BOOL, FIELD(search), 0, 0, "off", "", NULL,
     "Whether a new base is the uncompressed entry from which the others need the fewest bits, not the newest.", false},
    {"first_base", PW_OPTION_CHOICE, FIELD(first_base), 0, 0, "run", "", first_bases,
     "Whether the first translation of the run is the first base, or that of each kernel launch is a new one.", false},
    {0}};
#undef FIELD

struct compressed_counters {
    uint64_t compressed_fills, uncompressible, rebases, rebase_flushed;
};

#define FIELD(name) offsetof(struct compressed_counters, name)
static const struct pw_policy_metric metrics[] = {
    {"compressed_fills", "translations", "Translations that were put in compressed.", FIELD(compressed_fills), false},
    {"uncompressible", "translations", "Translations that were put in uncompressed.", FIELD(uncompressible), false},
    {"rebases", "bases", "Bases that this application's translations replaced.", FIELD(rebases), false},
    {"rebase_flushed", "translations", "Compressed translations that were dropped with these bases.",
     FIELD(rebase_flushed), false},
    {0}};
#undef FIELD

/* A base pair, its counter, and the places of its sets. */
struct pair {
    uint64_t virtual_base; /* a tag, with the address space beside it; 0: there is no base yet */
    uint32_t physical_base;
    uint32_t left;   /* of the counter */
    bool is_awaited; /* a launch has begun: the next translation becomes the base */
    _Alignas(CACHE_LINE) unsigned char places[];
};

struct compressed {
    unsigned char *uncompressed;
    unsigned char *pairs;
    size_t pair_bytes;
    uint32_t pair_count; /* 0: nothing is compressed */
    uint8_t subpage_shift;
    bool sets_are_power_of_two;
    uint8_t pair_shift, span_shift; /* where that is so */
    uint8_t order, virtual_bits, physical_bits;
    uint64_t span; /* tags of a pair that have the same base, times its sets */
    uint32_t counter;
    bool consecutive, search, per_launch;
    struct compressed_counters *counters; /* or NULL */
    uint32_t sets;
    struct base_candidate *candidates; /* uncompressed entries, while a base is searched for */
    uint32_t candidate_count;
    struct pw_policy_choice plain_choice;
    _Alignas(CACHE_LINE) unsigned char memory[];
};
_Static_assert(offsetof(struct compressed, counter) <= CACHE_LINE, "what every lookup needs is one host cache line");

/* Where the places of a page are: of which pair, under which base, and as which page of the pair's array. */
struct spot {
    uint64_t base, page;
    uint32_t pair;
};

static inline struct pair *pair_at(const struct compressed *t, uint32_t i)
{
    return (struct pair *)(void *)(t->pairs + i * t->pair_bytes);
}

static inline uint64_t base_of(pw_asid asid, uint64_t number)
{
    return VALID | (uint64_t)asid << ASID_SHIFT | number;
}

static inline struct spot spot_of(const struct compressed *t, struct pw_tlb_key key)
{
    uint64_t block = key.page >> t->subpage_shift, subpage = key.page & ((1ULL << t->subpage_shift) - 1);
    uint64_t within, base;
    uint32_t pair;
    if (t->sets_are_power_of_two) {
        pair = (uint32_t)block & (t->pair_count - 1);
        within = block >> t->pair_shift;
        base = within >> t->span_shift;
        within &= t->span - 1;
    } else {
        pair = (uint32_t)(block % t->pair_count);
        within = block / t->pair_count;
        base = within / t->span;
        within %= t->span;
    }
    return (struct spot){base_of(key.asid, base), within << t->subpage_shift | subpage, pair};
}

static inline pw_asid asid_of(uint64_t base)
{
    return (pw_asid)(base >> ASID_SHIFT & 0xff);
}

static inline uint64_t number_of(uint64_t base)
{
    return base & ((1ULL << ASID_SHIFT) - 1);
}

static inline uint32_t unit_of(const struct compressed *t, pw_pfn word)
{
    return pw_frame_of(word).v >> t->order;
}

static inline bool is_aligned(const struct compressed *t, pw_pfn word)
{
    return !(word.v & ((1U << t->order) - 1));
}

/* What a place keeps of a frame word, and the word again. */
static inline pw_pfn place_word(const struct compressed *t, pw_pfn word)
{
    return pw_frame_word((pw_pfn){unit_of(t, word) & ((1U << t->physical_bits) - 1)}, pw_denied_of(word));
}

static inline pw_pfn joined(const struct compressed *t, const struct pair *p, pw_pfn place)
{
    uint32_t unit = p->physical_base << t->physical_bits | pw_frame_of(place).v;
    return pw_frame_word((pw_pfn){unit << t->order}, pw_denied_of(place));
}

static struct base_candidate candidate_of(const struct compressed *t, struct pw_tlb_key key, pw_pfn word)
{
    return (struct base_candidate){(key.page >> t->subpage_shift) / t->sets, unit_of(t, word), key.asid};
}

static size_t in_lines(size_t bytes)
{
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The two kinds of arrays, and how much memory each takes. */
struct parts {
    struct pw_tlb_shape uncompressed, places;
    size_t uncompressed_bytes, pair_bytes;
    uint32_t pairs, candidates;
};

static size_t plain_bytes(const struct pw_tlb_shape *shape)
{
    struct pw_policy_setup setup = {.environment = shape};
    return in_lines(plain->head.state_bytes + plain->head.more_bytes(&setup));
}

/* Of a shape whose ways divide its entries. */
static struct parts parts_of(const struct compressed_options *o, const struct pw_tlb_shape *shape)
{
    struct parts p = {.uncompressed = *shape, .places = *shape};
    uint32_t ways = tlb_ways(shape), sets = tlb_sets(shape), compressed = compressed_ways(o, ways);
    uint32_t sharing = compressed_sets_per_base(o, sets);
    p.uncompressed.ways = ways - compressed;
    p.uncompressed.entries = sets * p.uncompressed.ways;
    if (!p.uncompressed.entries)
        p.uncompressed.entries = p.uncompressed.ways = shape->entries ? 1 : 0;
    p.uncompressed_bytes = plain_bytes(&p.uncompressed);
    p.places.ways = compressed * o->ratio;
    p.places.entries = sharing * p.places.ways;
    p.pairs = compressed ? sets / sharing : 0;
    if (p.pairs)
        p.pair_bytes = sizeof(struct pair) + plain_bytes(&p.places);
    if (o->search && compressed < ways)
        p.candidates = sharing * (ways - compressed) * shape->subpages;
    return p;
}

static enum pw_status check_shape(const struct compressed_options *o, const struct pw_tlb_shape *shape,
                                  struct pw_error *err)
{
    enum pw_status status = tlb_check_sets(shape, err);
    if (status != PW_OK)
        return status;
    uint32_t sets = tlb_sets(shape), sharing = compressed_sets_per_base(o, sets);
    if (sets % sharing)
        return pw_fail(err, PW_USER_ERROR,
                       "%u sets of a TLB cannot share a base where there are %u; give a number that divides them",
                       sharing, sets);
    return PW_OK;
}

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    struct pw_error err;
    if (check_shape(setup->options, setup->environment, &err) != PW_OK)
        return 0; /* init says so */
    struct parts p = parts_of(setup->options, setup->environment);
    return p.uncompressed_bytes + p.pairs * p.pair_bytes + p.candidates * sizeof(struct base_candidate);
}

static enum pw_status init_plain(struct compressed *t, void *state, struct pw_tlb_shape *shape, struct pw_error *err)
{
    struct pw_policy_setup setup = {.options = t->plain_choice.options, .environment = shape};
    return plain->head.init(state, &setup, err);
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct compressed *t = state;
    const struct compressed_options *o = setup->options;
    const struct pw_tlb_shape *shape = setup->environment;
    enum pw_status status = check_shape(o, shape, err);
    if (status == PW_OK)
        status = pw_policy_choose(&pw_tlb_family, plain->head.name, 1, &t->plain_choice, err);
    if (status != PW_OK)
        return status;
    struct parts p = parts_of(o, shape);
    uint32_t sets = tlb_sets(shape), sharing = compressed_sets_per_base(o, sets);
    t->uncompressed = t->memory;
    t->pairs = t->memory + p.uncompressed_bytes;
    t->pair_bytes = p.pair_bytes;
    t->pair_count = p.pairs;
    t->candidates = p.candidates ? (void *)(t->pairs + p.pairs * p.pair_bytes) : NULL;
    t->sets = sets;
    t->sets_are_power_of_two = (sets & (sets - 1)) == 0;
    t->pair_shift = (uint8_t)__builtin_ctz(sets / sharing);
    t->span_shift = (uint8_t)((uint32_t)__builtin_ctz(sharing) + o->virtual_bits);
    t->span = (uint64_t)sharing << o->virtual_bits;
    t->order = shape->order;
    t->virtual_bits = (uint8_t)o->virtual_bits;
    t->physical_bits = (uint8_t)o->physical_bits;
    t->counter = o->counter;
    t->consecutive = o->consecutive;
    t->search = p.candidates > 0;
    t->per_launch = o->first_base == COMPRESSED_BASE_OF_LAUNCH;
    t->counters = setup->counters;
    status = init_plain(t, t->uncompressed, &p.uncompressed, err);
    if (status == PW_OK)
        t->subpage_shift = (uint8_t)__builtin_ctz(shape->subpages);
    for (uint32_t i = 0; i < p.pairs && status == PW_OK; i++) {
        pair_at(t, i)->left = o->counter;
        status = init_plain(t, pair_at(t, i)->places, &p.places, err);
    }
    return status;
}

static bool lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    struct compressed *t = state;
    if (plain->lookup(t->uncompressed, key, out_frame))
        return true;
    if (!t->pair_count)
        return false;
    struct spot s = spot_of(t, key);
    struct pair *p = pair_at(t, s.pair);
    if (p->virtual_base != s.base || !plain->lookup(p->places, (struct pw_tlb_key){s.page, 0}, out_frame))
        return false;
    *out_frame = joined(t, p, *out_frame);
    return true;
}

/* The first page at or after `page` of the pair's array, counted as if it had one base. */
static uint64_t page_of_pair(const struct compressed *t, uint32_t pair, uint64_t page)
{
    uint64_t block = page >> t->subpage_shift, subpage = page & ((1ULL << t->subpage_shift) - 1);
    uint64_t within = block / t->pair_count, at = block % t->pair_count;
    if (at == pair)
        return within << t->subpage_shift | subpage;
    return (within + (at > pair)) << t->subpage_shift;
}

static unsigned invalidate_places(struct compressed *t, uint32_t pair, uint64_t first, uint64_t outer)
{
    struct pair *p = pair_at(t, pair);
    uint64_t span = t->span << t->subpage_shift, begin = number_of(p->virtual_base) * span;
    uint64_t from = page_of_pair(t, pair, first), to = page_of_pair(t, pair, outer);
    if (from < begin)
        from = begin;
    if (to > begin + span)
        to = begin + span;
    return from < to ? plain->invalidate(p->places, 0, from - begin, to - begin) : 0;
}

static unsigned invalidate(void *state, pw_asid asid, uint64_t first, uint64_t outer)
{
    struct compressed *t = state;
    if (first >= outer)
        return 0;
    unsigned dropped = plain->invalidate(t->uncompressed, asid, first, outer);
    uint64_t first_block = first >> t->subpage_shift, blocks = ((outer - 1) >> t->subpage_shift) - first_block + 1;
    for (uint32_t i = 0; i < t->pair_count && i < blocks; i++) {
        uint32_t pair = (uint32_t)((first_block + i) % t->pair_count);
        uint64_t base = pair_at(t, pair)->virtual_base;
        if (base && asid_of(base) == asid)
            dropped += invalidate_places(t, pair, first, outer);
    }
    return dropped;
}

struct visiting {
    const struct compressed *t;
    uint32_t pair;
    pw_tlb_visit *visit;
    void *context;
};

static void visit_place(void *context, struct pw_tlb_key key, pw_pfn place)
{
    const struct visiting *v = context;
    const struct compressed *t = v->t;
    const struct pair *p = pair_at(t, v->pair);
    uint64_t within = number_of(p->virtual_base) * t->span + (key.page >> t->subpage_shift);
    uint64_t block = within * t->pair_count + v->pair, subpage = key.page & ((1ULL << t->subpage_shift) - 1);
    v->visit(v->context, (struct pw_tlb_key){block << t->subpage_shift | subpage, asid_of(p->virtual_base)},
             joined(t, p, place));
}

static void each(const void *state, pw_tlb_visit *visit, void *context)
{
    const struct compressed *t = state;
    plain->each(t->uncompressed, visit, context);
    for (uint32_t i = 0; i < t->pair_count; i++)
        plain->each(pair_at(t, i)->places, visit_place, &(struct visiting){t, i, visit, context});
}

struct searching {
    struct compressed *t;
    uint32_t pair;
};

static void collect(void *context, struct pw_tlb_key key, pw_pfn word)
{
    const struct searching *s = context;
    struct compressed *t = s->t;
    uint64_t block = key.page >> t->subpage_shift;
    if (block % t->pair_count == s->pair && is_aligned(t, word))
        t->candidates[t->candidate_count++] = candidate_of(t, key, word);
}

static struct base_candidate search(struct compressed *t, uint32_t pair, struct base_candidate newest)
{
    t->candidate_count = 0;
    plain->each(t->uncompressed, collect, &(struct searching){t, pair});
    return base_search(t->candidates, t->candidate_count, newest);
}

/* Gives a pair its base: its first one, or in place of another, and then its places are flushed. */
static void set_base(struct compressed *t, uint32_t pair, struct pw_tlb_key key, pw_pfn word)
{
    struct pair *p = pair_at(t, pair);
    struct base_candidate base = candidate_of(t, key, word);
    if (p->virtual_base) {
        unsigned flushed = plain->invalidate(p->places, 0, 0, UINT64_MAX);
        if (t->counters) {
            t->counters[key.asid].rebases++;
            t->counters[key.asid].rebase_flushed += flushed;
        }
        if (t->search)
            base = search(t, pair, base);
    }
    p->virtual_base = base_of(base.asid, base.tag >> t->virtual_bits);
    p->physical_base = base.unit >> t->physical_bits;
    p->left = t->counter;
    p->is_awaited = false;
}

static bool is_due(const struct compressed *t, const struct pair *p)
{
    return !p->virtual_base || p->is_awaited || (t->counter && !p->left);
}

static void insert_compressed(struct compressed *t, struct pair *p, struct spot s, pw_pfn word)
{
    plain->insert(p->places, (struct pw_tlb_key){s.page, 0}, place_word(t, word), NULL);
    if (t->consecutive)
        p->left = t->counter;
}

static void insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    struct compressed *t = state;
    struct pair *p = NULL;
    pw_pfn there;
    (void)line;
    if (lookup(t, key, &there)) {
        if (there.v == frame.v)
            return;
        invalidate(t, key.asid, key.page, key.page + 1);
    }
    if (t->pair_count) {
        struct spot s = spot_of(t, key);
        p = pair_at(t, s.pair);
        if (is_due(t, p) && is_aligned(t, frame))
            set_base(t, s.pair, key, frame);
        if (p->virtual_base == s.base && is_aligned(t, frame) &&
            unit_of(t, frame) >> t->physical_bits == p->physical_base) {
            insert_compressed(t, p, s, frame);
            if (t->counters)
                t->counters[key.asid].compressed_fills++;
            return;
        }
    }
    plain->insert(t->uncompressed, key, frame, NULL);
    if (p && p->left)
        p->left--;
    if (t->counters)
        t->counters[key.asid].uncompressible++;
}

static void launch(void *state, pw_asid asid)
{
    struct compressed *t = state;
    for (uint32_t i = 0; t->per_launch && i < t->pair_count; i++)
        if (asid_of(pair_at(t, i)->virtual_base) == asid)
            pair_at(t, i)->is_awaited = true;
}

extern const struct pw_tlb_policy pw_tlb_policy_compressed;
const struct pw_tlb_policy pw_tlb_policy_compressed = {
    .head = {.name = "compressed",
             .summary = "some ways hold translations as differences from a base, several in one entry",
             .options = options,
             .options_bytes = sizeof(struct compressed_options),
             .metrics = metrics,
             .counters_bytes = sizeof(struct compressed_counters),
             .state_bytes = sizeof(struct compressed),
             .more_bytes = more_bytes,
             .init = init},
    .lookup = lookup,
    .insert = insert,
    .invalidate = invalidate,
    .each = each,
    .launch = launch,
};
