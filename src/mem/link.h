/* The link between host and GPU: two directions that do not disturb each other, one transfer at a time in each.
 *
 * A transfer takes bytes / bandwidth(bytes). `table`: bandwidth by transfer size through measured points (UVM, Table
 * 1), interpolated so that bandwidth and time both grow with the size; outside the points the start cost implied by the
 * first two and the bandwidth implied by the last two go on. `linear`: a start cost and a rate, by direction.
 *
 * Small transfers, of single accesses, have a queue of their own: they go one after the other at the rate that long
 * transfers approach, or at another, without a start cost, and pass between the packets of the transfers above, as PCIe
 * lets them. There may also be a limit to their number in a second: a short one then takes as long as a longer one. The
 * time they take is the others' loss: transfers queued from then on start so much later. The end of a transfer that was
 * announced already stays. */
#ifndef PW_MEM_LINK_H
#define PW_MEM_LINK_H

#include "sim/event.h"
#include "sim/option.h"
#include "sim/stats.h"

enum pw_link_direction { PW_LINK_H2D, PW_LINK_D2H, PW_LINK_DIRECTIONS };

enum pw_link_model { PW_LINK_TABLE, PW_LINK_LINEAR };

struct pw_link_config {
    uint32_t model;                       /* enum pw_link_model */
    char points[PW_OPTION_TEXT_CAPACITY]; /* "4KB:3.2219+16KB:6.4437+…": GB/s of 10^9 bytes */
    double start_us[PW_LINK_DIRECTIONS];
    double gbytes_per_second[PW_LINK_DIRECTIONS];
    double small_gbytes_per_second; /* of small transfers, each way; 0: that of long ones */
    double small_millions_a_second; /* of them, each way; 0: as many as their bytes allow */
};

extern const struct pw_option pw_link_options[];

/* Of one direction. They count when a transfer is queued. */
struct pw_link_counters {
    uint64_t transfers, bytes, busy_cycles;
    uint64_t transfers_4k; /* of exactly one 4 KiB page (UVM, Figure 7) */
    uint64_t small_bytes;  /* in small transfers, which are not counted above */
};

struct pw_link;
enum pw_status pw_link_create(const struct pw_link_config *config, uint32_t clock_mhz, struct pw_events *events,
                              struct pw_link **out, struct pw_error *err);
void pw_link_destroy(struct pw_link *l);
void pw_link_register(struct pw_link *l, struct pw_stats *stats); /* link.h2d.transfers .bytes .busy_cycles …, d2h */

const struct pw_link_counters *pw_link_counters(const struct pw_link *l, enum pw_link_direction direction);

/* Cycles that one transfer takes. */
pw_cycle pw_link_cycles(const struct pw_link *l, enum pw_link_direction direction, uint64_t bytes);

/* Queues a transfer that may start at `ready`, after those queued before it in its direction; returns when it ends.
 * `done` (may be NULL) is called then. */
pw_cycle pw_link_send(struct pw_link *l, enum pw_link_direction direction, uint64_t bytes, pw_cycle ready,
                      pw_event_fn *done, void *object, uint64_t argument);

/* Queues a small transfer that is ready now; returns when it ends. */
pw_cycle pw_link_send_small(struct pw_link *l, enum pw_link_direction direction, uint64_t bytes, pw_cycle now);

#endif
