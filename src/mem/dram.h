/* One DRAM channel: banks, rows, data-sheet timings and a queue whose order a policy decides.
 *
 * The channel works at the level of commands (precharge, activate, column access): each may issue no earlier than the
 * timings allow, one command per DRAM clock, and the data bus carries one burst at a time. Nothing is polled, and no
 * event is spent on a command: a window of them is simulated at once, a little late (dram.c). Writes are collected and
 * drained in groups (from the high mark on, or when there is nothing to read, down to the low mark; dram.c says what
 * happens when writes never end). Refresh is left out.
 *
 * Rows. Open rows stay open until another row is wanted. With closed rows a bank is precharged as soon as the timings
 * allow, once no read and no write for its row waits: by a command of its own, in a clock that the schedule leaves
 * free.
 *
 * Queues. Writes have a queue, and so have the reads of each rank that the schedule knows (policy/dram/dram_policy.h).
 * A request that finds its queue full waits before it, first come first served; other queues do not notice.
 *
 * Times inside the channel are DRAM clocks; a DRAM clock d begins at core cycle ceil(d * core_mhz / clock_mhz). */
#ifndef PW_MEM_DRAM_H
#define PW_MEM_DRAM_H

#include "mem/request.h"
#include "policy/dram/dram_policy.h"
#include "sim/event.h"
#include "sim/policy_use.h"
#include "sim/stats.h"

struct pw_dram_config {
    uint64_t bytes; /* capacity of the whole memory */
    uint32_t channels;
    uint32_t banks; /* per channel */
    uint64_t row_bytes;
    uint32_t clock_mhz;
    uint32_t bytes_per_clock;                                  /* data bus: channel width times beats per clock */
    uint32_t burst_bytes;                                      /* smallest transfer */
    uint32_t rcd, ras, rp, rc, rrd, ccd, cl, wl, wr, wtr, rtp; /* in DRAM clocks */
    uint32_t read_queue, write_queue;                          /* entries per channel */
    uint32_t write_high, write_low;                            /* drain marks, entries */
    uint32_t path;       /* core cycles between the L2 slice and the queue, each request once on its way in; charged by
                          the client, which submits a request when it arrives at the queue */
    uint32_t rows;       /* enum pw_dram_rows */
    uint32_t interleave; /* enum pw_interleave (memory_map.h): which lines reach which channel */
    struct pw_policy_choice schedule; /* of pw_dram_family */
};

/* Whether a row stays open until another one is wanted, or only as long as requests for it wait. */
enum pw_dram_rows { PW_DRAM_ROWS_OPEN, PW_DRAM_ROWS_CLOSED };

extern const struct pw_option pw_dram_options[];

/* Per application. */
struct pw_dram_counters {
    uint64_t reads, writes, row_hits, row_misses, row_conflicts;
    uint64_t read_bytes, write_bytes;
    uint64_t data_bytes, translation_bytes;
    uint64_t data_reads, translation_reads;
    uint64_t translation_row_hits;
    uint64_t data_latency,
        translation_latency; /* sums over reads, core cycles from entering the queue to the last data */
    uint64_t busy_clocks;    /* of the data bus */
};

struct pw_dram_channel;

enum pw_dram_command_kind { PW_DRAM_PRECHARGE, PW_DRAM_ACTIVATE, PW_DRAM_READ, PW_DRAM_WRITE };

struct pw_dram_command {
    enum pw_dram_command_kind kind;
    uint32_t bank, row;         /* of a precharge: the row that is closed */
    uint64_t clock;             /* DRAM clocks */
    const struct pw_request *r; /* of a read or write */
};

struct pw_dram_wiring {
    struct pw_events *events;
    struct pw_dram_counters *counters; /* indexed by application */
    struct pw_policy_use *schedule;    /* of all channels */
    struct pw_walk_pressure *pressure; /* for the schedule, or NULL */
    uint32_t channel;                  /* its number */
    uint32_t core_mhz;
    void *client; /* the L2 slices of this channel; a callback may submit */
    /* Optional: a read's column access has issued, so that its data will soon be here: a hint, for the host's
     * caches. */
    void (*read_scheduled)(void *client, const struct pw_request *r);
    /* A read has brought its last data (the client owns the request again), at core cycle now. */
    void (*read_done)(void *client, struct pw_request *r, pw_cycle now);
    /* A write has been sent to its bank (the client owns the request again). */
    void (*write_done)(void *client, struct pw_request *r, pw_cycle now);
    /* NULL, or gets every command as it issues. */
    void (*trace)(void *client, const struct pw_dram_command *command);
};

/* Whether the numbers fit together: a user error that says which do not. */
enum pw_status pw_dram_config_check(const struct pw_dram_config *config, struct pw_error *err);

enum pw_status pw_dram_channel_create(const struct pw_dram_config *config, const struct pw_dram_wiring *wiring,
                                      struct pw_dram_channel **out, struct pw_error *err);
void pw_dram_channel_destroy(struct pw_dram_channel *c);

/* Takes a request that arrives at core cycle `at`, now or later: into its queue, or to wait before it. `local_line` is
 * the number of its line within the channel: consecutive lines lie in one row until it ends, rows go round the banks,
 * and the bank is hashed with the row number. Kind PW_REQUEST_WRITEBACK writes, every other kind reads. The burst
 * length follows from the number of sectors, rounded up to burst_bytes. */
void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle at);

/* Simulates all commands that issue before core cycle `now`, which must not lie ahead: before counters are read, an
 * epoch of the schedule begins, or somebody looks inside. */
void pw_dram_bring_up_to_date(struct pw_dram_channel *c, pw_cycle now);

/* Has the schedule choose anew what issues from core cycle `now` on, to which the channel has been brought up. */
void pw_dram_choose_again(struct pw_dram_channel *c, pw_cycle now);

/* Requests inside (queues and in flight), for the forward-progress report and the end-of-run identities. */
size_t pw_dram_pending(const struct pw_dram_channel *c);

/* Requests that are on their way or wait for a place in a queue. */
size_t pw_dram_waiting(const struct pw_dram_channel *c);

/* Registers dram.* under the names of the design document. */
void pw_dram_register(struct pw_stats *stats, struct pw_dram_counters *counters);

#endif
