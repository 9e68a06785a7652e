/* A set of pages of one 2 MiB block: bit i is the block's i-th 4 KiB page. */
#ifndef PW_PAGE_PAGE_MASK_H
#define PW_PAGE_PAGE_MASK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PW_BLOCK_PAGES = 512, /* of a 2 MiB block */
    PW_LEAF_PAGES = 16,   /* of a 64 KiB basic block, a leaf of the block's tree */
    PW_LEAF_ORDER = 4,    /* as a power of two */
    PW_BLOCK_LEAVES = PW_BLOCK_PAGES / PW_LEAF_PAGES,
    PW_MASK_WORDS = PW_BLOCK_PAGES / 64
};

struct pw_page_mask {
    uint64_t words[PW_MASK_WORDS];
};

static inline bool pw_mask_has(const struct pw_page_mask *m, unsigned page)
{
    return m->words[page / 64] >> (page % 64) & 1;
}

static inline void pw_mask_add(struct pw_page_mask *m, unsigned page)
{
    m->words[page / 64] |= 1ULL << (page % 64);
}

static inline void pw_mask_remove(struct pw_page_mask *m, unsigned page)
{
    m->words[page / 64] &= ~(1ULL << (page % 64));
}

static inline bool pw_mask_any(const struct pw_page_mask *m)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        all |= m->words[i];
    return all != 0;
}

static inline unsigned pw_mask_count(const struct pw_page_mask *m)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        count += (unsigned)__builtin_popcountll(m->words[i]);
    return count;
}

static inline struct pw_page_mask pw_mask_or(struct pw_page_mask a, const struct pw_page_mask *b)
{
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        a.words[i] |= b->words[i];
    return a;
}

static inline struct pw_page_mask pw_mask_and(struct pw_page_mask a, const struct pw_page_mask *b)
{
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        a.words[i] &= b->words[i];
    return a;
}

static inline struct pw_page_mask pw_mask_without(struct pw_page_mask a, const struct pw_page_mask *b)
{
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        a.words[i] &= ~b->words[i];
    return a;
}

/* Pages [first, outer). */
struct pw_page_mask pw_mask_range(unsigned first, unsigned outer);
unsigned pw_mask_count_range(const struct pw_page_mask *m, unsigned first, unsigned outer);

/* The first run of consecutive pages at or after `from`: [*out_first, *out_outer). False when there is none. */
bool pw_mask_next_run(const struct pw_page_mask *m, unsigned from, unsigned *out_first, unsigned *out_outer);

/* Every aligned group of 2^order pages that has a page in the set. */
struct pw_page_mask pw_mask_widen(const struct pw_page_mask *m, unsigned order);

#endif
