/* The rows of the log of page accesses as CSV (RFC 4180): one table for all kinds of records, where cells that a kind
 * does not have stay empty. docs/pages.md describes the columns. */
#ifndef PW_LOG_PAGE_ROWS_H
#define PW_LOG_PAGE_ROWS_H

#include "uvm/driver.h"

#include <stdio.h>

void pw_page_rows_head(FILE *out);

/* An allocation is known by its number and its name, a page by its place in the allocation. */
struct pw_page_row {
    pw_cycle cycle;
    uint64_t page;
    size_t allocation;
    const char *name;
    uint32_t launch;
    pw_asid app;
    uint8_t kind; /* enum pw_request_kind */
};
void pw_page_rows_access(FILE *out, const struct pw_page_row *row);

void pw_page_rows_launch(FILE *out, pw_asid app, uint32_t launch, const char *kernel, pw_cycle first, pw_cycle outer);
void pw_page_rows_batch(FILE *out, const struct pw_fault_batch *batch);
/* counters: NULL where memory is not managed. */
void pw_page_rows_allocation(FILE *out, pw_asid app, size_t number, const char *name, uint64_t bytes, uint64_t pages,
                             const struct pw_uvm_counters *counters);
/* Records of this kind are missing from this cycle on. */
void pw_page_rows_truncated(FILE *out, const char *kind, pw_cycle from, uint64_t left_out);

#endif
