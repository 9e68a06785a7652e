/* Sets of pages by ranges and runs: whole words where a range covers them. */
#include "page/page_mask.h"

/* The bits of word `word` that lie in [first, outer). */
static uint64_t word_range(unsigned word, unsigned first, unsigned outer)
{
    unsigned base = word * 64, from = first > base ? first - base : 0, to = outer > base ? outer - base : 0;
    if (from >= 64 || to <= from)
        return 0;
    return (~0ULL << from) & (to >= 64 ? ~0ULL : (1ULL << to) - 1);
}

struct pw_page_mask pw_mask_range(unsigned first, unsigned outer)
{
    struct pw_page_mask m;
    for (unsigned i = 0; i < PW_MASK_WORDS; i++)
        m.words[i] = word_range(i, first, outer);
    return m;
}

unsigned pw_mask_count_range(const struct pw_page_mask *m, unsigned first, unsigned outer)
{
    unsigned count = 0;
    for (unsigned i = first / 64; i < PW_MASK_WORDS && i * 64 < outer; i++)
        count += (unsigned)__builtin_popcountll(m->words[i] & word_range(i, first, outer));
    return count;
}

/* The first page at or after `from` that is in the set (or, inverted, is not); PW_BLOCK_PAGES when there is none. */
static unsigned find(const struct pw_page_mask *m, unsigned from, uint64_t inverted)
{
    for (unsigned i = from / 64; i < PW_MASK_WORDS; i++) {
        uint64_t word = (m->words[i] ^ inverted) & word_range(i, from, PW_BLOCK_PAGES);
        if (word)
            return i * 64 + (unsigned)__builtin_ctzll(word);
    }
    return PW_BLOCK_PAGES;
}

bool pw_mask_next_run(const struct pw_page_mask *m, unsigned from, unsigned *out_first, unsigned *out_outer)
{
    unsigned first = find(m, from, 0);
    if (first == PW_BLOCK_PAGES)
        return false;
    *out_first = first;
    *out_outer = find(m, first, ~0ULL);
    return true;
}

struct pw_page_mask pw_mask_widen(const struct pw_page_mask *m, unsigned order)
{
    struct pw_page_mask wide = {0};
    unsigned first, outer, unit = 1U << order;
    for (unsigned at = 0; pw_mask_next_run(m, at, &first, &outer); at = outer) {
        struct pw_page_mask run = pw_mask_range(first / unit * unit, (outer + unit - 1) / unit * unit);
        wide = pw_mask_or(wide, &run);
    }
    return wide;
}
