/* Coalescing: a fast path for lanes that all lie side by side, and the general case, run by run of those that do. */
#include "gpu/access_coalescing.h"

#include <string.h>

enum { SECTOR_SHIFT = 5, WHOLE_LINE = (1 << (PW_LINE_BYTES >> SECTOR_SHIFT)) - 1 };

/* Sectors that [first, outer), two offsets within a line, touches. */
static uint8_t sectors_touched(uint32_t first, uint32_t outer)
{
    uint32_t low = first >> SECTOR_SHIFT, high = (outer - 1) >> SECTOR_SHIFT;
    return (uint8_t)((2U << high) - (1U << low));
}

/* Sectors that lie wholly within [first, outer). */
static uint8_t sectors_covered(uint32_t first, uint32_t outer)
{
    uint32_t low = (first + PW_LINE_BYTES / 4 - 1) >> SECTOR_SHIFT, high = outer >> SECTOR_SHIFT;
    return low < high ? (uint8_t)(((1U << high) - 1) & ~((1U << low) - 1)) : 0;
}

static struct pw_line_access part_of_line(uint64_t line, uint32_t first, uint32_t outer)
{
    return (struct pw_line_access){line, sectors_touched(first, outer), sectors_covered(first, outer)};
}

static unsigned coalesce_run(uint64_t first, uint64_t outer, struct pw_line_access *out)
{
    uint64_t line = first >> PW_LINE_SHIFT, last = (outer - 1) >> PW_LINE_SHIFT;
    uint32_t from = first & (PW_LINE_BYTES - 1), to = (uint32_t)((outer - 1) & (PW_LINE_BYTES - 1)) + 1;
    if (line == last) { /* most often all of it */
        out[0] = to - from == PW_LINE_BYTES ? (struct pw_line_access){line, WHOLE_LINE, WHOLE_LINE}
                                            : part_of_line(line, from, to);
        return 1;
    }
    unsigned n = 0;
    out[n++] = part_of_line(line, from, PW_LINE_BYTES);
    while (++line < last)
        out[n++] = (struct pw_line_access){line, WHOLE_LINE, WHOLE_LINE};
    out[n++] = part_of_line(line, 0, to);
    return n;
}

/* A set of numbers that may answer "known" for one it has not been given, and never the other way round. */
struct set {
    uint64_t bits[4];
};

/* Whether the number may be in the set; it is from now on. */
static bool test_and_add(struct set *s, uint64_t number)
{
    uint64_t hash = number * 0x9e3779b97f4a7c15ULL >> 56, bit = 1ULL << (hash & 63);
    uint64_t *word = &s->bits[hash >> 6];
    bool known = *word & bit;
    *word |= bit;
    return known;
}

/* Bytes written in each line, to find the sectors that a store covers completely. */
typedef unsigned __int128 byte_mask;

struct builder {
    unsigned count, page_shift;
    bool store;
    bool apart;                        /* two accesses to one page may have others between them */
    struct set lines_seen, pages_seen; /* what they do not know is new and needs no search */
    uint64_t last_page;
    uint64_t line; /* of the lane before, as the next one's mostly is too */
    unsigned at;   /* its place in lines */
    struct pw_line_access *lines;
    byte_mask written[PW_MAX_LINES];
};

/* The place after that of a line; 0 when it has none. */
static unsigned find_line(const struct builder *b, uint64_t line)
{
    unsigned i = b->count;
    while (i > 0 && b->lines[i - 1].line != line)
        i--;
    return i;
}

static unsigned add_line(struct builder *b, uint64_t line)
{
    uint64_t page = line >> b->page_shift;
    if (!b->apart && test_and_add(&b->pages_seen, page) && page != b->last_page)
        for (unsigned i = 0; i < b->count; i++)
            b->apart |= b->lines[i].line >> b->page_shift == page;
    b->last_page = page;
    b->lines[b->count] = (struct pw_line_access){.line = line};
    b->written[b->count] = 0;
    return ++b->count;
}

/* Bytes [first, outer) of one line. */
static inline byte_mask bytes_of(uint32_t first, uint32_t outer)
{
    return (~(byte_mask)0 >> (PW_LINE_BYTES - (outer - first))) << first;
}

static inline void add_bytes(struct builder *b, uint64_t line, uint32_t first, uint32_t outer)
{
    if (!b->count || line != b->line) {
        unsigned after = test_and_add(&b->lines_seen, line) ? find_line(b, line) : 0;
        b->at = (after ? after : add_line(b, line)) - 1;
        b->line = line;
    }
    b->lines[b->at].sectors |= sectors_touched(first, outer);
    if (b->store)
        b->written[b->at] |= bytes_of(first, outer);
}

/* Adds [first, outer), which some lanes access one after another. It lies in an allocation, so that it does not
 * wrap. */
static inline void add_run(struct builder *b, uint64_t first, uint64_t outer)
{
    uint64_t line = first >> PW_LINE_SHIFT, last = (outer - 1) >> PW_LINE_SHIFT;
    uint32_t from = first & (PW_LINE_BYTES - 1);
    for (; line < last; line++, from = 0)
        add_bytes(b, line, from, PW_LINE_BYTES);
    add_bytes(b, line, from, (uint32_t)((outer - 1) & (PW_LINE_BYTES - 1)) + 1);
}

/* Numbers the pages of an access in the order in which they first occur. */
struct numbering {
    uint8_t at[2 * PW_MAX_LINES]; /* a hash of pages: 1 + the number of one, or 0 */
    uint64_t page[PW_MAX_LINES];
    unsigned count;
};

static unsigned number_of(struct numbering *n, uint64_t page)
{
    unsigned slot = (unsigned)(page * 0x9e3779b97f4a7c15ULL >> 32) % (2 * PW_MAX_LINES);
    while (n->at[slot] && n->page[n->at[slot] - 1] != page)
        slot = (slot + 1) % (2 * PW_MAX_LINES);
    if (!n->at[slot]) {
        n->page[n->count] = page;
        n->at[slot] = (uint8_t)++n->count;
    }
    return n->at[slot] - 1U;
}

/* Moves accesses to one page together, keeping the order otherwise. */
static void group_by_page(struct pw_line_access *lines, unsigned count, unsigned page_shift)
{
    struct numbering pages;
    memset(pages.at, 0, sizeof pages.at);
    pages.count = 0;
    uint8_t number[PW_MAX_LINES], place[PW_MAX_LINES] = {0};
    struct pw_line_access grouped[PW_MAX_LINES];
    for (unsigned i = 0; i < count; i++) {
        number[i] = (uint8_t)number_of(&pages, lines[i].line >> page_shift);
        place[number[i]]++;
    }
    for (unsigned i = 0, begin = 0; i < pages.count; i++) {
        unsigned size = place[i];
        place[i] = (uint8_t)begin;
        begin += size;
    }
    for (unsigned i = 0; i < count; i++)
        grouped[place[number[i]]++] = lines[i];
    memcpy(lines, grouped, count * sizeof *lines);
}

static void find_full_sectors(struct builder *b)
{
    for (unsigned i = 0; i < b->count; i++)
        for (unsigned sector = 0; sector < PW_LINE_BYTES >> SECTOR_SHIFT; sector++)
            if ((uint32_t)(b->written[i] >> (sector << SECTOR_SHIFT)) == UINT32_MAX)
                b->lines[i].full |= (uint8_t)(1U << sector);
}

/* Adds lanes in their order, those that lie side by side as one run. */
static void add_lanes(struct builder *b, const uint64_t *address, unsigned count, uint32_t bytes)
{
    uint64_t first = address[0], outer = first + bytes;
    for (unsigned i = 1; i < count; i++) {
        if (address[i] == outer) {
            outer += bytes;
        } else if (address[i] + bytes != outer) { /* not as the lane before either */
            add_run(b, first, outer);
            first = address[i];
            outer = first + bytes;
        }
    }
    add_run(b, first, outer);
}

/* The addresses of the active lanes; returns how many. */
static unsigned spell_out(uint32_t mask, uint64_t base, uint64_t stride, uint64_t out[PW_WARP_LANES])
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        out[count++] = base + (uint64_t)__builtin_ctz(mask) * stride;
    return count;
}

static unsigned coalesce_lanes(const struct pw_op *op, const uint64_t *words, unsigned page_shift,
                               struct pw_line_access *out)
{
    struct builder b;
    b.count = 0;
    b.page_shift = page_shift;
    b.store = op->kind == PW_OP_STORE;
    b.apart = false;
    b.lines_seen = b.pages_seen = (struct set){0};
    b.last_page = UINT64_MAX;
    b.lines = out;
    uint32_t mask = op->count_or_mask;
    if (op->form == PW_FORM_LANES) {
        add_lanes(&b, words, pw_lane_count(mask), op->bytes);
    } else {
        uint64_t address[PW_WARP_LANES];
        unsigned count = spell_out(mask, words[0], words[1], address);
        add_lanes(&b, address, count, op->bytes);
    }
    if (b.store)
        find_full_sectors(&b);
    if (b.apart)
        group_by_page(out, b.count, page_shift);
    return b.count;
}

unsigned pw_coalesce_accesses(const struct pw_op *op, const uint64_t *words, unsigned page_shift,
                              struct pw_line_access out[PW_MAX_LINES])
{
    uint32_t mask = op->count_or_mask, bytes = op->bytes;
    uint32_t first = (uint32_t)__builtin_ctz(mask), run = mask >> first;
    if (op->form == PW_FORM_AFFINE && words[1] == bytes && (run & (run + 1)) == 0) {
        uint64_t start = words[0] + (uint64_t)first * bytes;
        return coalesce_run(start, start + (uint64_t)__builtin_popcount(mask) * bytes, out);
    }
    if (op->form == PW_FORM_AFFINE && words[1] == 0)
        return coalesce_run(words[0], words[0] + bytes, out);
    return coalesce_lanes(op, words, page_shift, out);
}
