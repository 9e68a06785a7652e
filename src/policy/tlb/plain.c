/* Plain: set-associative or fully associative with true LRU, as the L1 and L2 TLBs of all five papers (Mosaic, Section
 * 2.2; MASK, Table 1; compression, Section 2.2: low page-number bits choose the set, the rest is compared).
 *
 * A tag is the page number with the address space beside it, so that address spaces never match each other's entries
 * (Mosaic, Section 3.1). Sets of up to 16 ways are compared at once (narrow.h); wider ones, up to fully associative, go
 * through a hash (wide.h). Both keep exact LRU, and the width changes nothing but the speed.
 *
 * With `subpages` above 1 one tag covers that many consecutive pages, each with a frame of its own: a sectored TLB, as
 * the reach measured on an H200 suggests (sixteen 2 MiB pages per entry). A page that is not there under a tag that is
 * there misses, and filling it replaces nothing.
 *
 * The number of sets is any divisor of the number of entries; the set is the page number modulo it.
 *
 * What is replaced is the least recently used entry of the set or, if so chosen, any of them with equal probability; in
 * both cases an empty one where there is one. The order of use is kept either way, so that nothing but the replacement
 * asks. */
#include "policy/tlb/narrow.h"
#include "policy/tlb/shape.h"
#include "policy/tlb/wide.h"
#include "sim/divisor.h"
#include "sim/random.h"

enum { CACHE_LINE = 64, ASID_SHIFT = 55, PAGE_BITS = 36 };

static const uint64_t VALID = 1ULL << 63;

enum { LRU, RANDOM };

static const char *const replacements[] = {"lru", "random", NULL};

struct plain_options {
    uint32_t replacement;
};

static const struct pw_option options[] = {{"replacement", PW_OPTION_CHOICE,
                                            offsetof(struct plain_options, replacement), 0, 0, "lru", "", replacements,
                                            "Which entry of a full set is replaced.", false},
                                           {0}};

/* What a lookup and an insert need of it lies in one host cache line: a GPU has a TLB for each SM, and few of them are
 * in the host's caches when their turn comes. */
struct plain {
    bool is_wide;
    bool is_random;
    bool sets_are_power_of_two;
    uint8_t subpage_shift;
    uint32_t subpage_mask;
    uint32_t entries;
    uint32_t set_mask; /* where sets is a power of two */
    union {
        struct narrow narrow;
        struct wide wide;
    };
    uint32_t only_last; /* wide.last, where there is only one set */
    uint32_t ways, sets;
    struct pw_divisor by_sets;
    struct pw_random random; /* for random replacement */
    _Alignas(CACHE_LINE) unsigned char memory[];
};
_Static_assert(offsetof(struct plain, ways) <= CACHE_LINE, "what every lookup needs is one host cache line");

/* Where a key belongs. */
struct place {
    uint64_t tag;
    uint32_t set, subpage;
};

static inline uint64_t tag_of(uint64_t block, pw_asid asid)
{
    return VALID | (uint64_t)asid << ASID_SHIFT | block;
}

static inline uint64_t block_of(uint64_t tag)
{
    return tag & ((1ULL << ASID_SHIFT) - 1);
}

static inline pw_asid asid_of(uint64_t tag)
{
    return (pw_asid)(tag >> ASID_SHIFT & 0xff);
}

/* n * ceil(2^64 / d) >> 64 is the quotient for every n < 2^36 as long as d <= 2^28. */
static inline uint32_t set_of(const struct plain *t, uint64_t block)
{
    if (t->sets_are_power_of_two)
        return (uint32_t)block & t->set_mask;
    uint64_t n = block & ((1ULL << PAGE_BITS) - 1);
    uint64_t quotient = (uint64_t)((unsigned __int128)n * t->by_sets.reciprocal >> 64);
    return (uint32_t)(n - quotient * t->by_sets.by);
}

static inline struct place place_of(const struct plain *t, struct pw_tlb_key key)
{
    uint64_t block = key.page >> t->subpage_shift;
    return (struct place){tag_of(block, key.asid), set_of(t, block), (uint32_t)key.page & t->subpage_mask};
}

static bool is_wide(const struct pw_tlb_shape *shape)
{
    return shape->entries && tlb_ways(shape) > NARROW_MAX_WAYS;
}

static struct narrow narrow_of(const struct pw_tlb_shape *shape)
{
    return narrow_shape(shape->entries ? tlb_ways(shape) : 1, shape->subpages);
}

static struct wide wide_shape(const struct pw_tlb_shape *shape)
{
    uint32_t bytes = (uint32_t)(offsetof(struct wide_entry, frames) + shape->subpages * sizeof(uint32_t));
    unsigned bits = 32 - (unsigned)__builtin_clz((shape->entries - 1) / WIDE_BUCKET_LOAD);
    return (struct wide){.hash_shift = 64 - bits, .step = (bytes + 7) / 8, .subpages = shape->subpages};
}

/* Of the entries of a wide array, up to where its buckets begin. */
static size_t entry_bytes(const struct pw_tlb_shape *shape)
{
    size_t bytes = (size_t)shape->entries * wide_shape(shape).step * 8;
    return (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

static enum pw_status check_shape(const struct pw_tlb_shape *shape, struct pw_error *err)
{
    if (shape->subpages == 0 || (shape->subpages & (shape->subpages - 1)) || shape->subpages > 4096)
        return pw_fail(err, PW_USER_ERROR, "a TLB entry of %u pages is not possible; give a power of two up to 4096",
                       shape->subpages);
    if (shape->entries > 1U << 28)
        return pw_fail(err, PW_USER_ERROR, "a TLB of %u entries is too large; give at most %u", shape->entries,
                       1U << 28);
    enum pw_status status = tlb_check_sets(shape, err);
    if (status != PW_OK)
        return status;
    if (is_wide(shape) && (uint64_t)shape->entries * wide_shape(shape).step >= WIDE_NONE)
        return pw_fail(err, PW_USER_ERROR, "a TLB of %u entries of %u pages each is too large; give fewer",
                       shape->entries, shape->subpages);
    return PW_OK;
}

/* Of what lies behind struct plain. */
static size_t more_bytes(const struct pw_policy_setup *setup)
{
    const struct pw_tlb_shape *shape = setup->environment;
    struct pw_error err;
    if (check_shape(shape, &err) != PW_OK)
        return 0; /* init says so */
    if (!is_wide(shape))
        return (size_t)tlb_sets(shape) * narrow_of(shape).stride;
    size_t buckets = (size_t)1 << (64 - wide_shape(shape).hash_shift);
    return entry_bytes(shape) + buckets * sizeof(struct wide_bucket) + tlb_sets(shape) * sizeof(uint32_t);
}

/* Of memory that is zeroed. */
static void init_wide(struct plain *t, const struct pw_tlb_shape *shape)
{
    struct wide *w = &t->wide;
    size_t buckets = (size_t)1 << (64 - w->hash_shift);
    w->entries = t->memory;
    w->buckets = (struct wide_bucket *)(void *)(t->memory + entry_bytes(shape));
    w->last = t->sets == 1 ? &t->only_last : (uint32_t *)(void *)(w->buckets + buckets);
    for (uint32_t set = 0; set < t->sets; set++) {
        uint32_t first = set * t->ways;
        w->last[set] = (first + t->ways - 1) * w->step;
        for (uint32_t i = 0; i < t->ways; i++) {
            struct wide_entry *e = wide_at(w, (first + i) * w->step);
            e->older = (first + (i + 1) % t->ways) * w->step;
            e->newer = (first + (i + t->ways - 1) % t->ways) * w->step;
        }
    }
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct plain *t = state;
    const struct pw_tlb_shape *shape = setup->environment;
    enum pw_status status = check_shape(shape, err);
    if (status != PW_OK)
        return status;
    uint32_t sets = tlb_sets(shape);
    t->is_wide = is_wide(shape);
    t->subpage_shift = (uint8_t)__builtin_ctz(shape->subpages);
    t->subpage_mask = shape->subpages - 1;
    t->entries = shape->entries;
    t->ways = shape->entries ? tlb_ways(shape) : 0;
    t->sets = sets;
    t->set_mask = sets - 1;
    t->sets_are_power_of_two = (sets & (sets - 1)) == 0;
    t->by_sets = pw_divisor_of(sets);
    const struct plain_options *chosen = setup->options;
    t->is_random = chosen->replacement == RANDOM;
    if (t->is_random)
        pw_random_init(&t->random, shape->seed, shape->stream);
    if (t->is_wide) {
        t->wide = wide_shape(shape);
        init_wide(t, shape);
    } else {
        t->narrow = narrow_of(shape);
        narrow_init(&t->narrow, t->memory, sets);
    }
    return PW_OK;
}

static bool lookup_narrow(const struct narrow *n, struct place p, pw_pfn *out_frame)
{
    struct narrow_set *s = narrow_set_at(n, p.set);
    uint32_t way = narrow_find(n, s, p.tag);
    if (way == NARROW_NONE)
        return false;
    uint32_t frame = narrow_frames(n, s, way)[p.subpage];
    if (!frame)
        return false;
    narrow_promote(s, way);
    out_frame->v = frame - 1;
    return true;
}

static bool lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    struct plain *t = state;
    struct place p = place_of(t, key);
    if (!t->is_wide)
        return lookup_narrow(&t->narrow, p, out_frame);
    uint32_t at = wide_find(&t->wide, p.tag);
    if (at == WIDE_NONE)
        return false;
    uint32_t frame = wide_at(&t->wide, at)->frames[p.subpage];
    if (!frame)
        return false;
    wide_promote(&t->wide, p.set, at);
    out_frame->v = frame - 1;
    return true;
}

static uint32_t random_way(struct plain *t, struct narrow_set *s)
{
    uint32_t last = narrow_last(&t->narrow, s);
    return narrow_tags(&t->narrow, s)[last] ? (uint32_t)pw_random_below(&t->random, t->ways) : last;
}

static uint32_t random_entry(struct plain *t, uint32_t set)
{
    const struct wide *w = &t->wide;
    uint32_t last = wide_last(w, set);
    if (!wide_at(w, last)->tag)
        return last;
    return (set * t->ways + (uint32_t)pw_random_below(&t->random, t->ways)) * w->step;
}

static void insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    struct plain *t = state;
    (void)line;
    if (!t->entries)
        return;
    struct place p = place_of(t, key);
    if (t->is_wide) {
        struct wide *w = &t->wide;
        uint32_t at = wide_find(w, p.tag);
        if (at == WIDE_NONE) {
            at = t->is_random ? random_entry(t, p.set) : wide_last(w, p.set);
            wide_replace(w, p.set, at, p.tag);
        } else {
            wide_promote(w, p.set, at);
        }
        wide_at(w, at)->frames[p.subpage] = frame.v + 1;
    } else {
        struct narrow *n = &t->narrow;
        struct narrow_set *s = narrow_set_at(n, p.set);
        uint32_t way = narrow_find(n, s, p.tag);
        if (way == NARROW_NONE) {
            way = t->is_random ? random_way(t, s) : narrow_last(n, s);
            narrow_replace(n, s, way, p.tag);
        } else {
            narrow_promote(s, way);
        }
        narrow_frames(n, s, way)[p.subpage] = frame.v + 1;
    }
}

/* The subpages [first, outer) of one block. */
struct span {
    uint64_t block;
    uint32_t first, outer;
};

/* Clears those frames of an entry; says whether the entry is now empty. */
static bool clear_frames(const struct plain *t, uint32_t *frames, struct span span, unsigned *dropped)
{
    bool is_empty = true;
    for (uint32_t i = 0; i <= t->subpage_mask; i++) {
        if (frames[i] && i >= span.first && i < span.outer) {
            frames[i] = 0;
            ++*dropped;
        }
        is_empty = is_empty && !frames[i];
    }
    return is_empty;
}

static void invalidate_block(struct plain *t, pw_asid asid, struct span span, unsigned *dropped)
{
    uint64_t tag = tag_of(span.block, asid);
    uint32_t set = set_of(t, span.block);
    if (t->is_wide) {
        uint32_t at = wide_find(&t->wide, tag);
        if (at != WIDE_NONE && clear_frames(t, wide_at(&t->wide, at)->frames, span, dropped))
            wide_drop(&t->wide, set, at);
    } else {
        struct narrow_set *s = narrow_set_at(&t->narrow, set);
        uint32_t way = narrow_find(&t->narrow, s, tag);
        if (way != NARROW_NONE && clear_frames(t, narrow_frames(&t->narrow, s, way), span, dropped))
            narrow_drop(&t->narrow, s, way);
    }
}

/* The tag of entry i of all entries (0 when empty), and its frames. */
static uint64_t entry_at(const struct plain *t, uint32_t i, const uint32_t **out_frames)
{
    if (t->is_wide) {
        const struct wide_entry *e = wide_at(&t->wide, i * t->wide.step);
        *out_frames = e->frames;
        return e->tag;
    }
    struct narrow_set *s = narrow_set_at(&t->narrow, i / t->ways);
    *out_frames = narrow_frames(&t->narrow, s, i % t->ways);
    return narrow_tags(&t->narrow, s)[i % t->ways];
}

/* Looks up the blocks of a short range, goes over the entries for a long one: never more steps than entries. */
static unsigned invalidate(void *state, pw_asid asid, uint64_t first, uint64_t outer)
{
    struct plain *t = state;
    unsigned dropped = 0;
    if (first >= outer)
        return 0;
    uint64_t first_block = first >> t->subpage_shift, last_block = (outer - 1) >> t->subpage_shift;
    uint64_t blocks = last_block - first_block + 1;
    uint64_t steps = blocks < t->entries ? blocks : t->entries;
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t block = first_block + i;
        if (steps != blocks) {
            const uint32_t *frames;
            uint64_t tag = entry_at(t, i, &frames);
            block = block_of(tag);
            if (!tag || asid_of(tag) != asid || block < first_block || block > last_block)
                continue;
        }
        struct span span = {block, 0, t->subpage_mask + 1};
        if (block == first_block)
            span.first = (uint32_t)first & t->subpage_mask;
        if (block == last_block)
            span.outer = ((uint32_t)(outer - 1) & t->subpage_mask) + 1;
        invalidate_block(t, asid, span, &dropped);
    }
    return dropped;
}

static void each(const void *state, pw_tlb_visit *visit, void *context)
{
    const struct plain *t = state;
    for (uint32_t i = 0; i < t->entries; i++) {
        const uint32_t *frames;
        uint64_t tag = entry_at(t, i, &frames);
        for (uint32_t k = 0; tag && k <= t->subpage_mask; k++)
            if (frames[k])
                visit(context, (struct pw_tlb_key){block_of(tag) << t->subpage_shift | k, asid_of(tag)},
                      (pw_pfn){frames[k] - 1});
    }
}

extern const struct pw_tlb_policy pw_tlb_policy_plain;
const struct pw_tlb_policy pw_tlb_policy_plain = {
    .head = {.name = "plain",
             .summary = "set-associative or fully associative, true LRU or random replacement",
             .options = options,
             .options_bytes = sizeof(struct plain_options),
             .state_bytes = sizeof(struct plain),
             .more_bytes = more_bytes,
             .init = init},
    .lookup = lookup,
    .insert = insert,
    .invalidate = invalidate,
    .each = each,
};
