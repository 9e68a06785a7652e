/* The first touch of a page within a slice is counted under the slice of its touch before. When slices 2k and 2k+1
 * become one, a touch in 2k+1 that came from 2k is no longer the first of its slice and is dropped; all others stay
 * first, and their counts add up. */
#include "exp/tools/page_slices.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = 255 };

enum pw_status pw_page_slices_extend(struct pw_page_slices *s, uint64_t pages, struct pw_error *err)
{
    if (pages <= s->pages)
        return PW_OK;
    uint8_t *last = realloc(s->last, pages);
    if (!last)
        return pw_fail_memory(err, "pages over time");
    memset(last + s->pages, NONE, pages - s->pages);
    s->last = last;
    s->pages = pages;
    return PW_OK;
}

void pw_page_slices_release(struct pw_page_slices *s)
{
    free(s->last);
    *s = (struct pw_page_slices){0};
}

static void merge(struct pw_page_slices *s)
{
    for (unsigned j = 0; j < PW_PAGE_SLICES / 2; j++) {
        s->first_touches[j] = s->first_touches[2 * j] + s->first_touches[2 * j + 1];
        for (unsigned i = 0; i < j; i++)
            s->again[j][i] = s->again[2 * j][2 * i] + s->again[2 * j][2 * i + 1] + s->again[2 * j + 1][2 * i] +
                             s->again[2 * j + 1][2 * i + 1];
        for (unsigned i = j; i < PW_PAGE_SLICES; i++)
            s->again[j][i] = 0;
    }
    for (unsigned j = PW_PAGE_SLICES / 2; j < PW_PAGE_SLICES; j++) {
        s->first_touches[j] = 0;
        memset(s->again[j], 0, sizeof s->again[j]);
    }
    for (uint64_t page = 0; page < s->pages; page++)
        if (s->last[page] != NONE)
            s->last[page] = (uint8_t)(s->last[page] >> 1);
    s->shift++;
}

void pw_page_slices_touch(struct pw_page_slices *s, uint64_t page, uint64_t instruction)
{
    while (instruction >> s->shift >= PW_PAGE_SLICES)
        merge(s);
    uint8_t slice = (uint8_t)(instruction >> s->shift), last = s->last[page];
    if (last == slice)
        return;
    if (last == NONE)
        s->first_touches[slice]++;
    else
        s->again[slice][last]++;
    s->last[page] = slice;
}

unsigned pw_page_slices_finish(struct pw_page_slices *s, uint64_t instructions)
{
    if (!instructions)
        return 0;
    while ((instructions - 1) >> s->shift >= PW_PAGE_SLICES)
        merge(s);
    return (unsigned)((instructions - 1) >> s->shift) + 1;
}

uint64_t pw_page_slices_distinct(const struct pw_page_slices *s, unsigned i)
{
    uint64_t pages = s->first_touches[i];
    for (unsigned before = 0; before < i; before++)
        pages += s->again[i][before];
    return pages;
}
