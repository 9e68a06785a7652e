/* The family "page size selection": which base pages become a large page, and when.
 *
 * Asked about one aligned 2 MiB region of an address space at a time; it decides, the page manager acts. A policy that
 * coalesces in place is asked when data has come; one that migrates is asked at intervals, and its choice is gathered
 * in a free large frame. There is an instance for each page manager, made from nothing but its options. One file per
 * policy, one line in coalesce.def. */
#ifndef PW_POLICY_COALESCE_H
#define PW_POLICY_COALESCE_H

#include "sim/policy.h"

struct pw_coalesce_view {
    pw_asid asid;
    pw_vpn region;        /* its first page */
    unsigned allocated;   /* base pages of the region that are mapped, of 512 */
    bool contiguous;      /* in physical memory as in virtual */
    bool aligned;         /* the first of them begins a large frame */
    bool one_space;       /* all frames of that large frame belong to this address space */
    uint64_t utilisation; /* walks of its base pages since the last interval; only with `tallies` */
};

struct pw_coalesce_policy {
    struct pw_policy head;
    bool in_place; /* asked as data comes; else at intervals, and what it chooses is moved */
    bool tallies;  /* needs utilisation */
    /* NULL: never coalesces. In place: whether to coalesce now. At intervals: whether the region is a candidate; among
     * the candidates the most used one is taken. */
    bool (*wants)(void *state, const struct pw_coalesce_view *view);
};

extern const struct pw_policy_family pw_coalesce_family;

static inline const struct pw_coalesce_policy *pw_coalesce_policy_of(const struct pw_policy *head)
{
    return (const struct pw_coalesce_policy *)head;
}

#endif
