/* The family "L2 use by page walks": which page-table reads look into the L2 cache, and which leave their line there.
 *
 * A page-table read that misses the L2 anyway waits for nothing there but for the lookup, and the line it brings pushes
 * out one of data (MASK, Section 5.3, lets a level of the table bypass the L2 while it hits less often than data does).
 *
 * Decision. The L2 asks `use` when it looks up a read of level 1 (root) to PW_TABLE_LEVELS of an application, and again
 * if that read had to wait for a miss register in between:
 * PW_L2_PROBE_AND_FILL  as data: it is looked up, and a miss brings its line into the L2.
 * PW_L2_PROBE           it is looked up; what it misses is not kept.
 * PW_L2_BYPASS          neither: it goes on to DRAM without a port and without the latency of a lookup.
 *
 * Observation. `happened` is called for each page-table read and, with level 0, for each other lookup, once its outcome
 * is certain.
 *
 * There is one instance for all slices; it has no environment. */
#ifndef PW_POLICY_L2_WALKS_H
#define PW_POLICY_L2_WALKS_H

#include "sim/policy.h"

enum pw_l2_use { PW_L2_PROBE_AND_FILL, PW_L2_PROBE, PW_L2_BYPASS };
enum pw_l2_outcome { PW_L2_MISS, PW_L2_HIT, PW_L2_BYPASSED };

struct pw_l2_walks_policy {
    struct pw_policy head;
    enum pw_l2_use (*use)(void *state, unsigned app, unsigned level); /* NULL: PW_L2_PROBE_AND_FILL */
    void (*happened)(void *state, unsigned app, unsigned level, enum pw_l2_outcome outcome); /* may be NULL */
};

extern const struct pw_policy_family pw_l2_walks_family;

static inline const struct pw_l2_walks_policy *pw_l2_walks_policy_of(const struct pw_policy *head)
{
    return (const struct pw_l2_walks_policy *)head;
}

#endif
