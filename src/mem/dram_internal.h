/* The insides of a DRAM channel, common to dram.c (commands), dram_watch.c (who hears of them) and dram_channel.c (how
 * it is put together). */
#ifndef PW_MEM_DRAM_INTERNAL_H
#define PW_MEM_DRAM_INTERNAL_H

#include "mem/dram.h"
#include "mem/dram_arrivals.h"
#include "mem/dram_clock.h"
#include "mem/dram_look.h"
#include "mem/dram_queue.h"

enum pw_row_use { PW_ROW_HIT, PW_ROW_MISS, PW_ROW_CONFLICT };

/* What the sectors of a request take on the data bus. */
struct pw_dram_burst {
    uint32_t bytes;
    uint32_t span; /* clocks from its first column command to its last */
    uint32_t data; /* clocks from its first data to the end of its last */
    uint32_t busy; /* clocks of these that carry data */
};

struct pw_dram_bank {
    uint64_t activate_at; /* RC after its last activation */
    uint32_t row;         /* the open one, or the last */
    uint32_t first_use;   /* what the next column access counts as */
};

/* A queue for the reads of each rank, and one for writes. */
enum { PW_DRAM_WRITES = PW_DRAM_RANKS, PW_DRAM_QUEUES };

struct pw_dram_channel {
    struct pw_dram_view view;
    struct pw_dram_choice choice;
    pw_cycle wake;                          /* of the event that counts, or PW_NEVER */
    struct pw_dram_lists *served, *resting; /* the side whose turn it is, and the other */
    uint64_t next_arrival;                  /* the earliest of those that are due */
    uint64_t due[PW_DRAM_QUEUES];           /* clock of the next arrival; PW_NEVER: none, or the queue is full */
    struct pw_dram_arrivals arrivals[PW_DRAM_QUEUES];
    uint64_t column_from[2]; /* by side: 0 reads, 1 writes */
    uint32_t inside[2];      /* by side: requests in its queues */
    uint32_t count[PW_DRAM_QUEUES], limit[PW_DRAM_QUEUES];
    unsigned ranks;         /* of reads that there are */
    bool closes_rows;       /* that no request waits for */
    bool watched;           /* somebody hears of its commands */
    bool within_cycle;      /* to_data may be less than a core cycle */
    uint32_t to_data;       /* clocks from a read's column access to its last data, at least */
    uint32_t group;         /* writes, or reads after them, in one turn while both wait */
    uint32_t drained, owed; /* writes issued in this turn; reads still due before the next turn of writes */
    uint32_t step;          /* clocks between two column commands */
    uint32_t line_bits, bank_bits, bank_mask;
    uint64_t in_flight;
    uint64_t next_age; /* of the next request that enters, without its rank and application */
    struct pw_dram_look look;
    struct pw_dram_clock clock;
    const struct pw_dram_policy *policy;
    void *policy_state;
    struct pw_dram_choice (*choose)(void *chooser,
                                    const struct pw_dram_view *view); /* the policy's, or the one below */
    void *chooser;
    struct pw_dram_burst burst[16];
    struct pw_dram_bank bank[PW_DRAM_MAX_BANKS];
    struct pw_dram_config config;
    struct pw_dram_wiring wiring;
    struct pw_dram_queue queue;
};

/* What a channel with closed rows does next: a clock that the schedule leaves free precharges an open bank for whose
 * row neither reads nor writes wait. */
struct pw_dram_choice pw_dram_choose_or_close(void *channel, const struct pw_dram_view *v);

/* Tells whoever watches the channel of a command, which is about to be carried out: the trace, and the policy. `e` is
 * the request that it is for, NULL of a precharge. */
void pw_dram_watch(struct pw_dram_channel *c, enum pw_dram_command_kind kind, uint32_t bank, uint64_t at,
                   const struct pw_dram_entry *e);

#endif
