/* The host's end of the ring of records (capture/layout.h). One thread at a time reads. */
#ifndef PW_CAPTURE_RING_H
#define PW_CAPTURE_RING_H

#include "layout.h"

#include <stdbool.h>

struct pw_capture_ring {
    struct pw_capture_cell *cells; /* zeros at first */
    uint64_t *given;               /* cells given back, ever; the GPU reads it */
    uint64_t count;                /* a power of two */
    uint64_t at;                   /* the next cell to be read */
};

/* Copies out the next record, if it is complete, with the addresses of its lanes if it has some, and clears its cells.
 * They are given back whenever a sixteenth of the ring has been read. */
bool pw_capture_ring_next(struct pw_capture_ring *r, struct pw_capture_cell *out_head, uint64_t out_addresses[32]);

#endif
