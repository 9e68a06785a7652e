/* What the page accesses of a run look like, as metrics (compression, Section 3.3 and 3.4): at what distance pages are
 * reused, how far apart the pages are that are accessed one after the other, how many are in one cycle, and which ones
 * each kernel launch accesses.
 *
 * An access is one page of one memory instruction as it enters a load-store unit: what is looked up in the L1 TLB.
 * Pages have the smallest size in use. Each GPU has its own. Distances are in all of its accesses or in one SM's
 * (page_reuse.h), of whatever application; everything else is within an application. The looks have no influence on the
 * simulation. */
#ifndef PW_LOG_PAGE_LOOKS_H
#define PW_LOG_PAGE_LOOKS_H

#include "sim/stats.h"

struct pw_page_looks;

enum pw_status pw_page_looks_create(unsigned apps, uint32_t sms, uint8_t page_order, struct pw_page_looks **out,
                                    struct pw_error *err);
void pw_page_looks_destroy(struct pw_page_looks *l);
void pw_page_looks_register(const struct pw_page_looks *l, struct pw_stats *stats);

/* An allocation of the application; what lies in none is not looked at. */
enum pw_status pw_page_looks_allocated(struct pw_page_looks *l, pw_asid app, pw_vpn first, uint64_t bytes,
                                       struct pw_error *err);
/* Accesses of the application belong to another launch from now on. */
void pw_page_looks_launched(struct pw_page_looks *l, pw_asid app);
/* Times never go back. False: out of memory. */
bool pw_page_looks_access(struct pw_page_looks *l, pw_asid app, uint32_t sm, pw_vpn vpn, pw_cycle now);

#endif
