/* Which pages are accessed when, as a CSV file (docs/pages.md): what UVM, Figure 12 is drawn from.
 *
 * Every memory instruction accesses its 4 KiB pages when it enters a load-store unit, whether their data is on the GPU
 * or not. An access is written down once per page, operation, kernel launch and interval of time, so that the file
 * grows with the pages in use and not with the accesses. Records go to a buffered file as they come; for a page only
 * the last window of launch and time in which it was seen is kept in memory. Of a program that starts over only the
 * first run is logged.
 *
 * The log has a list of allocations of its own, because it has to have every allocation of the first run: an address
 * space (vm/address_space.h) forgets what is freed, and perhaps everything when its program starts over; demand paging
 * (uvm/residency.h) has only managed memory, and every run of a program.
 *
 * The log has no influence on the simulation. Failures to write are remembered and reported by pw_page_log_finish. */
#ifndef PW_LOG_PAGE_LOG_H
#define PW_LOG_PAGE_LOG_H

#include "sim/types.h"
#include "uvm/driver.h"

enum { PW_PAGE_LOG_DEFAULT_INTERVAL = 10000, PW_PAGE_LOG_DEFAULT_LIMIT = 1000000 };

struct pw_page_log;

/* interval: cycles; limit: accesses, and batches, that are kept; 0: the default of each. */
enum pw_status pw_page_log_create(const char *path, uint64_t interval, uint64_t limit, struct pw_page_log **out,
                                  struct pw_error *err);
/* Completes the file and gives it its name. */
enum pw_status pw_page_log_finish(struct pw_page_log *l, struct pw_error *err);
/* Leaves no file, unless it was finished. */
void pw_page_log_destroy(struct pw_page_log *l);

/* An allocation of the application, behind all that it has so far. Allocations are numbered from 0. */
void pw_page_log_allocated(struct pw_page_log *l, pw_asid app, const char *name, pw_vpn first, uint64_t bytes);
/* Accesses of the application belong to this launch from now on. */
void pw_page_log_launched(struct pw_page_log *l, pw_asid app, uint32_t launch);
/* No access of the application is logged any more. */
void pw_page_log_stop(struct pw_page_log *l, pw_asid app);
/* kind: enum pw_request_kind. Times never go back. */
void pw_page_log_access(struct pw_page_log *l, pw_asid app, pw_vpn vpn, uint8_t kind, pw_cycle now);

/* Records of the end of a run. `launch` is numbered from 1. */
void pw_page_log_launch(struct pw_page_log *l, pw_asid app, uint32_t launch, const char *kernel, pw_cycle first,
                        pw_cycle outer);
void pw_page_log_batch(struct pw_page_log *l, const struct pw_fault_batch *batch);
/* What became of an allocation, by its number; NULL where memory is not managed. What is said first stays. */
void pw_page_log_counters(struct pw_page_log *l, pw_asid app, size_t number, const struct pw_uvm_counters *counters);
void pw_page_log_allocations(struct pw_page_log *l, pw_asid app); /* all of an application */
size_t pw_page_log_allocation_count(const struct pw_page_log *l, pw_asid app);
pw_vpn pw_page_log_allocation_first(const struct pw_page_log *l, pw_asid app, size_t number);

#endif
