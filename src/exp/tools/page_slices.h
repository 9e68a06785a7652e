/* Pages over time: how many distinct pages each slice of a program touches, and how many of them for the first time.
 *
 * Slices are equally many warp instructions, a power of two, and there are at most PW_PAGE_SLICES of them. How long the
 * program is nobody knows before its end, so a slice begins as one instruction, and when all are used up neighbours are
 * merged two by two. */
#ifndef PW_EXP_PAGE_SLICES_H
#define PW_EXP_PAGE_SLICES_H

#include "sim/status.h"

#include <stdint.h>

enum { PW_PAGE_SLICES = 64 };

struct pw_page_slices {
    uint64_t pages; /* there are; a touch names one of [0, pages) */
    unsigned shift; /* a slice has 2^shift instructions */
    uint8_t *last;  /* of each page: the slice of its last touch, or none */
    uint64_t first_touches[PW_PAGE_SLICES];
    /* [j][i]: pages that slice j touches and whose touch before was in slice i. Only with this known can the distinct
     * pages of a merged slice be counted without touching them again. */
    uint64_t again[PW_PAGE_SLICES][PW_PAGE_SLICES];
};

/* Makes room for pages up to `pages`. Starts from a zeroed struct. */
enum pw_status pw_page_slices_extend(struct pw_page_slices *s, uint64_t pages, struct pw_error *err);
void pw_page_slices_release(struct pw_page_slices *s);

/* A touch at this warp instruction, which must not be before that of the touch before. */
void pw_page_slices_touch(struct pw_page_slices *s, uint64_t page, uint64_t instruction);

/* Merges until `instructions` fit; how many slices they fill. */
unsigned pw_page_slices_finish(struct pw_page_slices *s, uint64_t instructions);

/* Distinct pages that slice i touches. */
uint64_t pw_page_slices_distinct(const struct pw_page_slices *s, unsigned i);

#endif
