/* The kernel of MUMmerGPU: one query per thread, walked down the suffix tree from the root and on along suffix
 * links. */
#ifndef PW_WORKLOAD_MUM_KERNEL_H
#define PW_WORKLOAD_MUM_KERNEL_H

#include "workload/mummer/suffix_tree.h"

struct pw_mum_match {
    uint32_t node, edge_length; /* no match: node 0 */
};

struct pw_mum {
    struct pw_array text, nodes, children, queries, addresses, lengths, matches;
    uint32_t count, minimum;
};

pw_kernel_fn pw_mum_kernel; /* on a struct pw_mum */

#endif
