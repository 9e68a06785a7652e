/* Reuse distances of page accesses: how many other pages were accessed since the last access to this one (compression,
 * Section 3.3).
 *
 * Accesses make streams, and every stream has distances of its own: all of a GPU's make one, as its shared L2 TLB would
 * see them if no L1 TLB held any back, and each SM's make one, which its L1 TLB sees. A fully associative TLB with LRU
 * replacement hits the reuses at a distance below the number of its entries (sim/stack_distance.h). What is counted is
 * therefore how many lie below each power of two: the distribution, cumulated, at points that TLBs are as large as. */
#ifndef PW_LOG_PAGE_REUSE_H
#define PW_LOG_PAGE_REUSE_H

#include "sim/stack_distance.h"
#include "sim/stats.h"

enum { PW_REUSE_POINTS = 17 }; /* 1, 2, 4, ..., 65536 pages */

struct pw_reuse_counters {
    uint64_t first, again;           /* accesses to a page that the stream had never had, and to others */
    uint64_t below[PW_REUSE_POINTS]; /* [i]: those of the latter with a distance below 2^i */
};

struct pw_page_reuse {
    struct pw_stack_distance distances; /* of pages by a number that is less than their count */
};

void pw_page_reuse_release(struct pw_page_reuse *r);

/* Counts an access of the stream. False: out of memory, and nothing was counted. */
bool pw_page_reuse_access(struct pw_page_reuse *r, uint32_t page, struct pw_reuse_counters *counters);

/* Registers what is counted by application, `stride` bytes apart: of the streams of SMs, or of the GPU's. */
void pw_page_reuse_register(struct pw_stats *stats, bool of_sms, const struct pw_reuse_counters *counters,
                            size_t stride);

#endif
