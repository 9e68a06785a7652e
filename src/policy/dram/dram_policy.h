/* The family "DRAM schedule": which command a channel issues next.
 *
 * The channel (src/mem/dram.c) keeps the queues and the timings; a policy looks at a view of them and names one
 * command. It moves nothing itself. Reads and writes wait apart and the channel decides which of the two it serves
 * (write drain); the view shows only the side that is being served.
 *
 * Order. `rank` is called exactly once for each read, when it arrives at the channel, and sees the whole request
 * (application, kind, level of the page table). Each rank has a queue of its own, and a read waits before it only while
 * that one is full; writes have no ranks. A request's `age` is (rank << PW_DRAM_RANK_SHIFT) + its number of arrival in
 * its queue, so one comparison orders two requests by rank and then by arrival. A policy without ranks leaves it NULL.
 * The golden, silver and normal queues of MASK, Section 5.4, are three ranks: a page-table read is 0, a data request of
 * the application whose turn it is (a quota counted in the policy's state) is 1, everything else 2; `entries` gives
 * their sizes.
 *
 * Turns. Ranks in `ends_write_turn` do not wait for writes: such a read ends a turn of writing when it enters its
 * queue, after the command under way, and there is no other turn until none of them is left. A policy that puts reads
 * without end there starves the writes.
 *
 * Choice. `choose` names the command to issue at clock `now`, or PW_DRAM_WAIT and a later clock at which to be asked
 * again; that may be earlier than a command can go, never later than the policy wants one. It is asked again before
 * that when a request arrives at the head of a bank's list. Two commands exist per bank:
 * PW_DRAM_COLUMN   transfers the bank's first request for the open row; the bank must be in `hits` and
 *                  pw_dram_column_at must not lie after `now`.
 * PW_DRAM_ROW      works for the bank's first request for another row: precharges the bank when a row is open and
 *                  activates the request's row when none is. The bank must be in `others` and pw_dram_row_at must not
 *                  lie after `now`. Requests for the row that is closed go back among the others.
 * A policy must not wait for ever while a request is there. What an epoch changes shows in the choices made after it.
 * The channel checks the timings of a command only where its commands are traced, as they are in the tests.
 *
 * Speed. Sets of banks are masks, and the masks of banks whose own timings have passed are kept by the channel, so that
 * a policy need look only at the ages of those that can really go. */
#ifndef PW_POLICY_DRAM_H
#define PW_POLICY_DRAM_H

#include "sim/policy.h"

struct pw_request;

enum { PW_DRAM_MAX_BANKS = 64, PW_DRAM_RANKS = 4, PW_DRAM_RANK_SHIFT = 60 };

/* The requests of one side: each bank has two lists in order of age, of which a policy sees the first's. */
struct pw_dram_side {
    uint64_t hits, others;               /* banks with a request for their open row, for another row, one bit each */
    uint64_t hit_age[PW_DRAM_MAX_BANKS]; /* of the first in the list; undefined where there is none */
    uint64_t other_age[PW_DRAM_MAX_BANKS];
};

/* All times are DRAM clocks. */
struct pw_dram_view {
    uint64_t now;                     /* the clock of the command that is to be chosen */
    uint64_t column_from;             /* the first at which the data bus allows a column access of this side */
    uint64_t activate_from;           /* RRD after the last activation in the channel */
    uint64_t open;                    /* banks with an open row */
    uint64_t columns, rows;           /* banks whose column_at (of an open row), row_at have come */
    uint64_t columns_next, rows_next; /* when the next bank may join these; not later than it does */
    const struct pw_dram_side *side;
    bool write;
    uint64_t column_at[PW_DRAM_MAX_BANKS]; /* RCD after the activation */
    uint64_t row_at[PW_DRAM_MAX_BANKS];    /* earliest precharge of an open bank, activation of a closed one */
};

enum pw_dram_action { PW_DRAM_WAIT, PW_DRAM_COLUMN, PW_DRAM_ROW };

struct pw_dram_choice {
    enum pw_dram_action action;
    uint32_t bank;
    uint64_t at; /* of PW_DRAM_WAIT: when to ask again, PW_NEVER where no request is there; else `now` */
};

/* A policy has an instance in each channel. */
struct pw_dram_environment {
    uint32_t channel;                 /* its number */
    uint32_t read_queue, write_queue; /* places */
};

struct pw_dram_policy {
    struct pw_policy head;
    uint32_t entries[PW_DRAM_RANKS]; /* places for reads of each rank; 0: as many as the read queue has */
    uint8_t ends_write_turn;         /* ranks, one bit each */
    unsigned (*rank)(void *state, const struct pw_request *r); /* 0 (first) to PW_DRAM_RANKS - 1; may be NULL */
    struct pw_dram_choice (*choose)(void *state, const struct pw_dram_view *view);
};

extern const struct pw_policy_family pw_dram_family;

static inline const struct pw_dram_policy *pw_dram_policy_of(const struct pw_policy *head)
{
    return (const struct pw_dram_policy *)head;
}

static inline uint64_t pw_dram_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t pw_dram_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t pw_dram_column_at(const struct pw_dram_view *v, uint32_t bank)
{
    return pw_dram_later(pw_dram_later(v->now, v->column_from), v->column_at[bank]);
}

static inline uint64_t pw_dram_row_at(const struct pw_dram_view *v, uint32_t bank)
{
    uint64_t from = v->open >> bank & 1 ? v->now : pw_dram_later(v->now, v->activate_from);
    return pw_dram_later(from, v->row_at[bank]);
}

/* The bank of a non-empty set whose entry is the smallest. */
static inline uint32_t pw_dram_oldest(uint64_t banks, const uint64_t *age)
{
    uint32_t best = (uint32_t)__builtin_ctzll(banks);
    uint64_t least = age[best];
    while (banks &= banks - 1) {
        uint32_t b = (uint32_t)__builtin_ctzll(banks);
        uint64_t its = age[b];
        best = its < least ? b : best;
        least = its < least ? its : least;
    }
    return best;
}

#endif
