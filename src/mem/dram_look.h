/* What lets somebody look into a DRAM channel without changing anything.
 *
 * A channel works late (dram.c), and whoever looks in has it simulated up to the present. That must not be noticed: not
 * when its own event comes, and not in which order, among all events of a cycle, data are delivered, which is the order
 * in which their events were posted. So from a look on until the channel's own event, it reckons with what it knew
 * before the look, and keeps the reads that the look has carried out. */
#ifndef PW_MEM_DRAM_LOOK_H
#define PW_MEM_DRAM_LOOK_H

#include "mem/request.h"
#include "sim/grow.h"

struct pw_dram_kept_read {
    struct pw_request *request;
    pw_cycle done;
};

struct pw_dram_look {
    bool open;
    /* As before the look: */
    uint64_t column;      /* the first clock at which a request that had arrived could have its column access */
    uint64_t column_from; /* the first clock for that of a read */
    uint64_t arrival;     /* of the first request that had not arrived; later ones are added */
    unsigned full;        /* a bit for each queue that was */
    struct pw_dram_kept_read *kept;
    size_t count, capacity;
};

/* Keeps a read, to be delivered in its turn. False: memory is out. */
__attribute__((cold)) static inline bool pw_dram_look_keep(struct pw_dram_look *l, struct pw_request *r, pw_cycle done)
{
    struct pw_dram_kept_read *kept = pw_grow(l->kept, l->count, &l->capacity, sizeof *kept);
    if (!kept)
        return false;
    l->kept = kept;
    kept[l->count++] = (struct pw_dram_kept_read){r, done};
    return true;
}

#endif
