/* LRU stack distance of page touches: how many other pages were touched since the last touch of this one.
 *
 * A fully associative LRU cache of n pages hits exactly the touches of a distance below n (Mattson et al., "Evaluation
 * techniques for storage hierarchies", 1970), so one pass answers for caches of every size. */
#ifndef PW_SIM_STACK_DISTANCE_H
#define PW_SIM_STACK_DISTANCE_H

#include "sim/status.h"

#include <stdint.h>

#define PW_FIRST_TOUCH UINT64_MAX

struct pw_stack_distance {
    uint64_t pages;    /* there are; a touch names one of [0, pages) */
    uint64_t distinct; /* touched so far */
    uint64_t next;     /* stamp of the next touch; the first is 1 */
    uint64_t capacity; /* stamps before they are numbered anew; a multiple of 64 */
    uint32_t *stamps;  /* of each page's last touch; 0: never */
    uint64_t *bits;    /* by stamp: is some page's last touch */
    uint32_t *sums;    /* Fenwick tree over the words of `bits` */
};

/* Makes room for pages up to `pages`. Starts from a zeroed struct. */
enum pw_status pw_stack_distance_extend(struct pw_stack_distance *s, uint64_t pages, struct pw_error *err);
void pw_stack_distance_release(struct pw_stack_distance *s);

/* The distance of this touch, or PW_FIRST_TOUCH. */
uint64_t pw_stack_distance_touch(struct pw_stack_distance *s, uint64_t page);

#endif
