/* The formats of a result: JSON and CSV for programs, a table for people, and the difference of JSON files. */
#ifndef PW_EXP_RESULT_H
#define PW_EXP_RESULT_H

#include "exp/format/text.h"
#include "pagewalk/pagewalk.h"

/* In schema 1 the rows of kernels had their metrics as an array, as those of intervals still do. */
enum { PW_RESULT_SCHEMA = 2, PW_RESULT_SCHEMA_ARRAYS = 1 };

/* One JSON object. What depends on the host, and the command, is the last member, "host". */
void pw_result_json(const struct pw_result *r, struct pw_text *out);

/* An element of its "allocations". */
void pw_allocation_json(const struct pw_allocation_result *a, struct pw_text *out);

/* Long form with a header: run, app, component, metric, unit, value, kernel. */
void pw_result_csv(const struct pw_result *r, struct pw_text *out);

/* Whether its machine has an L2 TLB; metrics and times have the same names without one. */
bool pw_result_has_l2_tlb(const struct pw_result *r);

/* What of a result people want to see. */
struct pw_result_view {
    bool all;        /* every metric */
    size_t kernels;  /* so many kernels, those that took the longest; 0: none */
    bool full_names; /* of kernels */
};

/* With demand paging: device memory for managed data, how much data that was for, and whether any had to leave. */
void pw_result_memory_line(const struct pw_result *r, struct pw_text *out);

/* Aligned, grouped by unit. */
void pw_result_table(const struct pw_result *r, const struct pw_result_view *view, struct pw_text *out);

/* Allocations as a table of their own under a heading. */
void pw_allocation_table(const struct pw_allocation_result *allocations, size_t count, const char *heading,
                         struct pw_text *out);

/* Kernels by the time they took, as a table of its own: those of one name in a row, at most so many rows and one for
 * the others, then the run; with full names of kernels or short ones. */
void pw_kernel_table(const struct pw_result *r, size_t rows, bool full_names, struct pw_text *out);

/* Where the time of warps went, as a table of its own; a column pair for each application. */
void pw_breakdown_table(const struct pw_result *r, struct pw_text *out);

/* Compares JSON files, two or more, which are not trusted: a file that is no result is a user error that names it.
 * `out` says what differs, in an aligned table with a column for each; *out_differ is whether anything but the
 * version, the command and the host's part does. */
enum pw_status pw_result_diff(const char *const *paths, size_t count, struct pw_text *out, bool *out_differ,
                              struct pw_error *err);

#endif
