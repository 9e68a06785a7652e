/* Each touch gets a stamp, and a bit is set for the stamp of each page's last touch: the distance is the number of bits
 * after the page's own (Bennett and Kruskal, "LRU stack processing", 1975). The bits are counted by a Fenwick tree over
 * their 64-bit words, which for the footprints of benchmarks stays in the host's L1 cache. When the stamps are used up,
 * pages are numbered anew in the order of their last touches; with four stamps per page that costs less than one step
 * per touch. */
#include "sim/stack_distance.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, MIN_CAPACITY = 1 << 12, STAMPS_PER_PAGE = 4 };

static void add(struct pw_stack_distance *s, uint64_t stamp, uint32_t value)
{
    uint64_t words = s->capacity / WORD_BITS;
    for (uint64_t i = stamp / WORD_BITS + 1; i <= words; i += i & -i)
        s->sums[i - 1] += value;
}

/* Last touches at or before the stamp. */
static uint64_t rank(const struct pw_stack_distance *s, uint64_t stamp)
{
    uint64_t word = stamp / WORD_BITS, upto = UINT64_MAX >> (WORD_BITS - 1 - stamp % WORD_BITS);
    uint64_t count = (uint64_t)__builtin_popcountll(s->bits[word] & upto);
    for (uint64_t i = word; i; i &= i - 1)
        count += s->sums[i - 1];
    return count;
}

/* Gives the pages stamps from 1 without gaps; the bits are to be set afterwards. */
static void number_anew(struct pw_stack_distance *s)
{
    for (uint64_t page = 0; page < s->pages; page++)
        if (s->stamps[page])
            s->stamps[page] = (uint32_t)rank(s, s->stamps[page]);
    s->next = s->distinct + 1;
}

static void set_bits(struct pw_stack_distance *s)
{
    memset(s->bits, 0, s->capacity / 8);
    memset(s->sums, 0, s->capacity / WORD_BITS * sizeof *s->sums);
    for (uint64_t stamp = 1; stamp < s->next; stamp++) {
        s->bits[stamp / WORD_BITS] |= UINT64_C(1) << stamp % WORD_BITS;
        add(s, stamp, 1);
    }
}

enum pw_status pw_stack_distance_extend(struct pw_stack_distance *s, uint64_t pages, struct pw_error *err)
{
    if (pages <= s->pages)
        return PW_OK;
    if (pages > UINT32_MAX / STAMPS_PER_PAGE - WORD_BITS)
        return pw_fail(err, PW_USER_ERROR, "reuse distances of more than 4 TB are not kept; choose a smaller size");
    uint64_t capacity = STAMPS_PER_PAGE * pages > MIN_CAPACITY ? STAMPS_PER_PAGE * pages : MIN_CAPACITY;
    capacity = (capacity + WORD_BITS - 1) / WORD_BITS * WORD_BITS;
    uint64_t *bits = malloc(capacity / 8);
    uint32_t *sums = malloc(capacity / WORD_BITS * sizeof *sums);
    uint32_t *stamps = realloc(s->stamps, pages * sizeof *stamps);
    if (stamps)
        s->stamps = stamps;
    if (!bits || !sums || !stamps) {
        free(bits);
        free(sums);
        return pw_fail_memory(err, "reuse distances");
    }
    number_anew(s);
    memset(s->stamps + s->pages, 0, (pages - s->pages) * sizeof *s->stamps);
    free(s->bits);
    free(s->sums);
    s->pages = pages;
    s->capacity = capacity;
    s->bits = bits;
    s->sums = sums;
    set_bits(s);
    return PW_OK;
}

void pw_stack_distance_release(struct pw_stack_distance *s)
{
    free(s->stamps);
    free(s->bits);
    free(s->sums);
    *s = (struct pw_stack_distance){0};
}

uint64_t pw_stack_distance_touch(struct pw_stack_distance *s, uint64_t page)
{
    uint64_t distance = PW_FIRST_TOUCH;
    if (s->stamps[page] && s->stamps[page] == s->next - 1)
        return 0;
    if (s->next == s->capacity) {
        number_anew(s);
        set_bits(s);
    }
    uint32_t last = s->stamps[page];
    if (last) {
        distance = s->distinct - rank(s, last);
        s->bits[last / WORD_BITS] &= ~(UINT64_C(1) << last % WORD_BITS);
        add(s, last, UINT32_MAX);
    } else {
        s->distinct++;
    }
    s->bits[s->next / WORD_BITS] |= UINT64_C(1) << s->next % WORD_BITS;
    add(s, s->next, 1);
    s->stamps[page] = (uint32_t)s->next++;
    return distance;
}
