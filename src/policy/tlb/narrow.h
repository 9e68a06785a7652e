/* Narrow sets: up to 16 ways, compared all at once, with true LRU in one word.
 *
 * A set is contiguous: the order of its ways, a signature byte of each, their tags, their frames. The order is a list
 * of 4-bit way numbers in one 64-bit word, most recently used lowest; ways that are empty are always last, so the
 * victim is the last of the list and no search for an empty way is needed. A search compares eight signatures with a
 * few operations on one word and then only tags whose signature matches: which way hits is as good as random, so a loop
 * over the tags would cost a mispredicted branch each time. A set of 4 ways fits in one host cache line.
 *
 * An entry has one tag and `subpages` frames, each stored as frame + 1 with 0 for "not here". A tag is never 0. */
#ifndef PW_POLICY_TLB_NARROW_H
#define PW_POLICY_TLB_NARROW_H

#include <stdint.h>
#include <string.h>

enum { NARROW_MAX_WAYS = 16, NARROW_NONE = 16 };

struct narrow_set {
    uint64_t order;
    uint64_t words[]; /* signatures, eight in each, 0 where no way is; then the tags */
};

struct narrow {
    unsigned char *sets;
    uint32_t stride, frames_at; /* bytes */
    uint32_t ways, subpages;
    uint32_t signature_words;
};

static inline struct narrow narrow_shape(uint32_t ways, uint32_t subpages)
{
    uint32_t signature_words = ways > 8 ? 2 : 1;
    uint32_t frames_at = (uint32_t)(sizeof(struct narrow_set) + (signature_words + ways) * sizeof(uint64_t));
    uint32_t bytes = (frames_at + ways * subpages * (uint32_t)sizeof(uint32_t) + 7) & ~7U;
    /* Keep a set that fits in a cache line within one. */
    return (struct narrow){NULL, bytes <= 64 && bytes > 32 ? 64 : bytes, frames_at, ways, subpages, signature_words};
}

static inline struct narrow_set *narrow_set_at(const struct narrow *n, uint32_t set)
{
    return (struct narrow_set *)(void *)(n->sets + (size_t)set * n->stride);
}

static inline uint32_t *narrow_frames(const struct narrow *n, struct narrow_set *s, uint32_t way)
{
    return (uint32_t *)(void *)((unsigned char *)s + n->frames_at) + (size_t)way * n->subpages;
}

/* Starts the order as 0, 1, 2, …; `memory` is zeroed and holds the sets. */
static inline void narrow_init(struct narrow *n, unsigned char *memory, uint32_t sets)
{
    n->sets = memory;
    for (uint32_t i = 0; i < sets; i++)
        narrow_set_at(n, i)->order = 0xfedcba9876543210;
}

static inline uint64_t *narrow_tags(const struct narrow *n, struct narrow_set *s)
{
    return s->words + n->signature_words;
}

/* Never 0. */
static inline uint8_t narrow_signature(uint64_t tag)
{
    uint8_t byte = (uint8_t)(tag * 0x9e3779b97f4a7c15 >> 56);
    return (uint8_t)(byte + !byte);
}

static inline void narrow_sign(struct narrow_set *s, uint32_t way, uint8_t signature)
{
    unsigned shift = way % 8 * 8;
    uint64_t *word = &s->words[way / 8];
    *word = (*word & ~(0xffULL << shift)) | (uint64_t)signature << shift;
}

/* One bit for each byte of the word that equals the signature. */
static inline uint32_t narrow_matches(uint64_t word, uint8_t signature)
{
    const uint64_t low7 = 0x7f7f7f7f7f7f7f7f;
    uint64_t difference = word ^ signature * 0x0101010101010101ULL;
    uint64_t equal = ~(((difference & low7) + low7) | difference | low7);
    return (uint32_t)((equal >> 7) * 0x0102040810204080 >> 56);
}

/* The way that holds the tag, or NARROW_NONE. */
static inline uint32_t narrow_find(const struct narrow *n, struct narrow_set *s, uint64_t tag)
{
    uint8_t signature = narrow_signature(tag);
    uint32_t matches = narrow_matches(s->words[0], signature);
    if (n->signature_words > 1)
        matches |= narrow_matches(s->words[1], signature) << 8;
    const uint64_t *tags = narrow_tags(n, s);
    for (; matches; matches &= matches - 1) {
        uint32_t way = (uint32_t)__builtin_ctz(matches);
        if (tags[way] == tag)
            return way;
    }
    return NARROW_NONE;
}

/* 4 times the place of the way in the order: the lowest nibble that is zero after the way is taken off each of them. */
static inline unsigned narrow_place(uint64_t order, uint32_t way)
{
    uint64_t difference = order ^ way * 0x1111111111111111ULL;
    uint64_t zero = (difference - 0x1111111111111111ULL) & ~difference & 0x8888888888888888ULL;
    return (unsigned)__builtin_ctzll(zero) & ~3U;
}

static inline void narrow_promote(struct narrow_set *s, uint32_t way)
{
    unsigned place = narrow_place(s->order, way);
    uint64_t above = s->order >> place >> 4 << 4 << place;
    uint64_t below = s->order & ((1ULL << place) - 1);
    s->order = above | below << 4 | way;
}

/* The least recently used way; an empty one, where there is one. */
static inline uint32_t narrow_last(const struct narrow *n, const struct narrow_set *s)
{
    return (uint32_t)(s->order >> (4 * (n->ways - 1))) & 15;
}

/* Gives a way to a new tag and makes it the most recently used. The frames are cleared, but for a single one, which the
 * caller is about to set. */
static inline void narrow_replace(const struct narrow *n, struct narrow_set *s, uint32_t way, uint64_t tag)
{
    narrow_tags(n, s)[way] = tag;
    narrow_sign(s, way, narrow_signature(tag));
    if (n->subpages > 1)
        memset(narrow_frames(n, s, way), 0, n->subpages * sizeof(uint32_t));
    narrow_promote(s, way);
}

/* Empties an entry and moves it to the end of the order. */
static inline void narrow_drop(const struct narrow *n, struct narrow_set *s, uint32_t way)
{
    unsigned place = narrow_place(s->order, way), last = 4 * (n->ways - 1);
    narrow_tags(n, s)[way] = 0;
    uint64_t below = s->order & ((1ULL << place) - 1);
    uint64_t between = (s->order >> 4 & ((1ULL << last) - 1)) >> place << place;
    uint64_t beyond = s->order >> last >> 4 << 4 << last;
    s->order = beyond | (uint64_t)way << last | between | below;
}

#endif
