/* What of an SM waits for a page that is not on the GPU, or that it may not write yet.
 *
 * A far fault ends a miss of the L1 TLB: when the SM hears that the driver has been told, the miss register is free
 * and the lines wait here, by page, under every setting of l1_tlb.on_miss. An access that misses the L1 TLB and whose
 * page this SM waits for already joins them; it takes no register and asks nobody. So a page is never in both, a miss
 * register and here. A write to a page of which the host has a copy too waits here from the beginning, since it has
 * missed nothing.
 *
 * Each has one request in the MMU, in its far-fault registers or, when the page has left before the answer was
 * here, on its way once more; that takes no miss register of the L1 TLB again. How many there are is bounded by what
 * warps have issued: loads by what may be in flight, stores by nothing. */
#ifndef PW_GPU_FAULT_WAIT_H
#define PW_GPU_FAULT_WAIT_H

#include "gpu/breakdown.h"
#include "gpu/parked.h"
#include "sim/key_map.h"

/* Lines that wait for the translation of one page. */
struct pw_tlb_waiting {
    struct pw_parked_list parked;
    bool written;  /* one of the lines is to be written */
    uint8_t stage; /* enum pw_miss_stage: the last one so far, for a listener */
};

struct pw_fault_wait {
    struct pw_key_link link; /* key: the page, line >> page_lines_shift */
    struct pw_tlb_waiting waiting;
    struct pw_miss_history history; /* with a breakdown */
};

/* An event makes at most one. */
struct pw_fault_wait_pool {
    struct pw_record_pool records;
    struct pw_fault_wait reserve[1];
};

static inline void pw_fault_wait_pool_init(struct pw_fault_wait_pool *p, struct pw_events *events)
{
    enum { CHUNK_BYTES = 16 << 10 };
    pw_record_pool_init(&p->records, events, sizeof p->reserve[0], CHUNK_BYTES, p->reserve, 1);
}

/* That of a page, or NULL. */
static inline struct pw_fault_wait *pw_fault_wait_find(const struct pw_key_map *waits, uint64_t page)
{
    return (struct pw_fault_wait *)pw_key_map_find(waits, page);
}

/* For a page that has none. */
static inline struct pw_fault_wait *pw_fault_wait_add(struct pw_fault_wait_pool *p, struct pw_key_map *waits,
                                                      uint64_t page)
{
    struct pw_fault_wait *w = pw_record_take(&p->records);
    w->waiting = (struct pw_tlb_waiting){0};
    w->history = (struct pw_miss_history){0};
    pw_key_map_add(waits, &w->link, page);
    return w;
}

static inline void pw_fault_wait_remove(struct pw_fault_wait_pool *p, struct pw_key_map *waits, struct pw_fault_wait *w)
{
    pw_key_map_remove(waits, &w->link);
    pw_miss_history_free(&w->history);
    pw_record_give(&p->records, w);
}

#endif
