/* Which 4 KiB pages of an address space the program has touched: one bit per page of the range in use.
 *
 * What is touched, against what is mapped, is the bloat of large pages (Mosaic, Section 3.2). */
#ifndef PW_VM_TOUCHED_H
#define PW_VM_TOUCHED_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_touched {
    uint64_t *bits;
    uint64_t first; /* page that the first bit stands for */
    uint64_t pages; /* that there are bits for */
    uint64_t bytes; /* of the pages touched so far */
};

/* Makes room for pages up to `outer`; the first call fixes the first page. */
enum pw_status pw_touched_extend(struct pw_touched *t, uint64_t first, uint64_t outer, struct pw_error *err);
void pw_touched_release(struct pw_touched *t);

static inline void pw_touch(struct pw_touched *t, pw_vpn vpn)
{
    uint64_t page = vpn.v - t->first, bit = 1ULL << (page % 64);
    if (page >= t->pages || t->bits[page / 64] & bit)
        return;
    t->bits[page / 64] |= bit;
    t->bytes += PW_PAGE_BYTES;
}

#endif
