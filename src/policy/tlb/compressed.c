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
 * as it is or, if so chosen, restart it. The new base may be looked for among the uncompressed entries of the pair's
 * sets instead (base_search.h). If so chosen, the first translation of each kernel launch is a first base too: of the
 * pairs whose base is its application's; it flushes nothing if it is compressible.
 *
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
#include "policy/tlb/compressed_layout.h"

enum { MAX_ENTRIES = 1 << 26 }; /* with at most four places in each, what a plain array can have */

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

static enum pw_status check_shape(const struct compressed_options *o, const struct pw_tlb_shape *shape,
                                  struct pw_error *err)
{
    enum pw_status status = tlb_check_sets(shape, err);
    if (status != PW_OK)
        return status;
    uint32_t sets = tlb_sets(shape), sharing = compressed_sets_per_base(o, sets);
    if (shape->entries > MAX_ENTRIES)
        return pw_fail(err, PW_USER_ERROR, "a compressed TLB of %u entries is too large; give at most %u",
                       shape->entries, (unsigned)MAX_ENTRIES);
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

static void flush(struct compressed *t, struct pair *p, pw_asid asid)
{
    unsigned flushed = plain->invalidate(p->places, 0, 0, UINT64_MAX);
    if (t->counters) {
        t->counters[asid].rebases++;
        t->counters[asid].rebase_flushed += flushed;
    }
}

static void set_base(const struct compressed *t, struct pair *p, struct base_candidate base)
{
    p->virtual_base = base_of(base.asid, base.tag >> t->virtual_bits);
    p->physical_base = base.unit >> t->physical_bits;
    p->left = t->counter;
    p->is_awaited = false;
}

static bool is_compressible(const struct compressed *t, const struct pair *p, struct spot s, pw_pfn word)
{
    return p->virtual_base == s.base && is_aligned(t, word) && unit_of(t, word) >> t->physical_bits == p->physical_base;
}

/* Gives the pair a base, where it has none or is to have another. The first one of a launch may be what there is. */
static void choose_base(struct compressed *t, struct pair *p, struct spot s, struct pw_tlb_key key, pw_pfn word)
{
    struct base_candidate base = candidate_of(t, key, word);
    bool is_used_up = p->virtual_base && t->counter && !p->left;
    bool is_first = !p->virtual_base || (p->is_awaited && asid_of(p->virtual_base) == key.asid);
    if (!is_aligned(t, word) || !(is_first || is_used_up))
        return;
    if (is_used_up || (p->virtual_base && !is_compressible(t, p, s, word)))
        flush(t, p, key.asid);
    if (is_used_up && t->candidates)
        base = search(t, s.pair, base);
    set_base(t, p, base);
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
        choose_base(t, p, s, key, frame);
        if (is_compressible(t, p, s, frame)) {
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
             .init = init,
             .cost = pw_tlb_compressed_cost},
    .lookup = lookup,
    .insert = insert,
    .invalidate = invalidate,
    .each = each,
    .launch = launch,
};
