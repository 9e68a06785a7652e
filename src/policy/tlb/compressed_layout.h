/* Where the compressed organisation (compressed.c) keeps what: the uncompressed entries in one plain array, then for
 * each base pair its registers and a plain array of its places, then room for a search. */
#ifndef PW_POLICY_TLB_COMPRESSED_LAYOUT_H
#define PW_POLICY_TLB_COMPRESSED_LAYOUT_H

#include "policy/tlb/base_search.h"
#include "policy/tlb/compressed.h"

extern const struct pw_tlb_policy pw_tlb_policy_plain;
static const struct pw_tlb_policy *const plain = &pw_tlb_policy_plain;

enum { CACHE_LINE = 64, ASID_SHIFT = 55 };

static const uint64_t VALID = 1ULL << 63;

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
    bool consecutive, per_launch;
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

static inline struct base_candidate candidate_of(const struct compressed *t, struct pw_tlb_key key, pw_pfn word)
{
    return (struct base_candidate){(key.page >> t->subpage_shift) / t->sets, unit_of(t, word), key.asid};
}

static inline size_t in_lines(size_t bytes)
{
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The two kinds of arrays, and how much memory each takes. */
struct parts {
    struct pw_tlb_shape uncompressed, places;
    size_t uncompressed_bytes, pair_bytes;
    uint32_t pairs, candidates;
};

static inline size_t plain_bytes(const struct pw_tlb_shape *shape)
{
    struct pw_policy_setup setup = {.environment = shape};
    return in_lines(plain->head.state_bytes + plain->head.more_bytes(&setup));
}

/* Of a shape whose ways divide its entries. */
static inline struct parts parts_of(const struct compressed_options *o, const struct pw_tlb_shape *shape)
{
    struct parts p = {.uncompressed = *shape, .places = *shape};
    uint32_t ways = shape->entries ? tlb_ways(shape) : 0, sets = tlb_sets(shape), compressed = compressed_ways(o, ways);
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

#endif
