/* Coalescing of accesses (that of pages is vm/coalescer.c): turns one memory instruction of a warp into the 128-byte
 * lines it touches.
 *
 * Lanes that fall into one line become one access (with the 32-byte sectors they need), and accesses to one page follow
 * one another, so that the page is looked up once in the TLB (Mosaic, Section 3.1). The order is that of the lowest
 * lane that touches a page, then a line. */
#ifndef PW_GPU_ACCESS_COALESCING_H
#define PW_GPU_ACCESS_COALESCING_H

#include "workload/runtime/kernel.h"

/* 32 lanes, each of which may straddle two lines. */
enum { PW_MAX_LINES = 2 * PW_WARP_LANES };

struct pw_line_access {
    uint64_t line;   /* virtual address / 128 */
    uint8_t sectors; /* touched */
    uint8_t full;    /* of a store: written completely */
};

/* `words` are the operation's words after the first; a page has 2^page_shift lines. Returns the number of lines, at
 * least 1. */
unsigned pw_coalesce_accesses(const struct pw_op *op, const uint64_t *words, unsigned page_shift,
                              struct pw_line_access out[PW_MAX_LINES]);

#endif
