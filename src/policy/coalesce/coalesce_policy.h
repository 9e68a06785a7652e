/* The family "page size selection": which base pages become a large page, and when.
 *
 * Asked about one aligned 2 MiB region of an address space at a time; it decides, the page manager acts. A policy that
 * coalesces in place is asked when data has come; one that migrates is asked at intervals, and its choice is gathered in
 * a free large frame. One file per policy, one line in coalesce.def. */
#ifndef PW_POLICY_COALESCE_H
#define PW_POLICY_COALESCE_H

#include "sim/types.h"

struct pw_coalesce_view {
    unsigned allocated;   /* base pages of the region that are mapped, of 512 */
    bool contiguous;      /* in physical memory as in virtual */
    bool aligned;         /* the first of them begins a large frame */
    bool one_space;       /* all frames of that large frame belong to this address space */
    uint64_t utilisation; /* walks of its base pages since the last interval; only with `tallies` */
};

struct pw_coalesce_policy {
    const char *name, *summary;
    bool in_place; /* asked as data comes; else at intervals, and what it chooses is moved */
    bool tallies;  /* needs utilisation */
    /* NULL: never coalesces. In place: whether to coalesce now. At intervals: whether the region is a candidate; among the
     * candidates the most used one is taken. */
    bool (*wants)(const struct pw_coalesce_view *view);
};

extern const struct pw_coalesce_policy *const pw_coalesce_policies[];
extern const char *const pw_coalesce_policy_names[];

#endif
