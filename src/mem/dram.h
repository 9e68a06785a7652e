/* One DRAM channel: banks, rows, data-sheet timings and a queue whose order a policy decides.
 *
 * The channel works at the level of commands (precharge, activate, column access): each may issue no earlier than the
 * timings allow, one command per DRAM clock, and the data bus carries one burst at a time. Nothing is polled: after
 * each command the channel posts one event for the next moment at which some command may issue. Rows stay open until
 * another row is wanted. Writes are collected and drained in groups (from the high mark on, or when there is nothing
 * to read, down to the low mark; dram.c says what happens when writes never end). Refresh is left out.
 *
 * Times inside the channel are DRAM clocks; a DRAM clock d begins at core cycle ceil(d * core_mhz / clock_mhz). */
#ifndef PW_MEM_DRAM_H
#define PW_MEM_DRAM_H

#include "mem/request.h"
#include "sim/event.h"
#include "sim/option.h"
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
    uint32_t schedule;   /* index of the policy */
    uint32_t interleave; /* enum pw_interleave (memory_map.h): which lines reach which channel */
};

extern const struct pw_option pw_dram_options[];

/* Per application. */
struct pw_dram_counters {
    uint64_t reads, writes, row_hits, row_misses, row_conflicts, bytes;
    uint64_t data_bytes, translation_bytes;
    uint64_t data_reads, translation_reads;
    uint64_t translation_row_hits;
    uint64_t data_latency,
        translation_latency; /* sums over reads, core cycles from entering the queue to the last data */
    uint64_t busy_clocks;    /* of the data bus */
};

struct pw_dram_channel;
struct pw_dram_policy;

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
    uint32_t core_mhz;
    void *client; /* the L2 slices of this channel; a callback may submit */
    /* Optional: a read's column access has issued, so that its data will soon be here: a hint, for the host's caches. */
    void (*read_scheduled)(void *client, const struct pw_request *r);
    /* A read has brought its last data (the client owns the request again), at core cycle now. */
    void (*read_done)(void *client, struct pw_request *r, pw_cycle now);
    /* A write has been sent to its bank (the client owns the request again). */
    void (*write_done)(void *client, struct pw_request *r, pw_cycle now);
    /* A place in the read or write queue has become free. */
    void (*space)(void *client, bool write, pw_cycle now);
    /* The rest may be NULL. */
    void (*trace)(void *client, const struct pw_dram_command *command); /* every command, as it issues */
    const struct pw_dram_policy *policy;                                /* instead of the one the schedule names */
};

/* Whether the numbers fit together: a user error that says which do not. */
enum pw_status pw_dram_config_check(const struct pw_dram_config *config, struct pw_error *err);

enum pw_status pw_dram_channel_create(const struct pw_dram_config *config, const struct pw_dram_wiring *wiring,
                                      struct pw_dram_channel **out, struct pw_error *err);
void pw_dram_channel_destroy(struct pw_dram_channel *c);

/* Whether a request of this kind would be taken. Under a schedule that gives ranks of requests their own places:
 * whether it would be taken whatever its rank. */
bool pw_dram_has_space(const struct pw_dram_channel *c, bool write);

/* Puts a request into the queue at core cycle `now` (call from an event at that time). `local_line` is the number of
 * its line within the channel: consecutive lines lie in one row until it ends, rows go round the banks, and the bank
 * is hashed with the row number. Kind PW_REQUEST_WRITEBACK writes, every other kind reads. The burst length follows
 * from the number of sectors, rounded up to burst_bytes. Requires space. */
void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle now);

/* Requests inside (queues and in flight), for the forward-progress report and the end-of-run identities. */
size_t pw_dram_pending(const struct pw_dram_channel *c);

/* Registers dram.* under the names of the design document. */
void pw_dram_register(struct pw_stats *stats, struct pw_dram_counters *counters);

#endif
