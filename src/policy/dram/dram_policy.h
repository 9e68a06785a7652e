/* The family "DRAM schedule": which command a channel issues next.
 *
 * The channel (src/mem/dram.c) keeps the queues and the timings; a policy looks at a view of them and names one
 * command. It moves nothing itself. Reads and writes wait apart and the channel decides which of the two it serves
 * (write drain); the view shows only the side that is being served.
 *
 * Order. `rank` is called exactly once for each read, when it is sent to the channel (dram.path before it arrives),
 * with its application and the level of the page table that it reads, 0 for data. Each rank has a queue of its own, and
 * a read waits before it only while that one is full; writes have no ranks. A request's `age` has its rank in the
 * highest bits, then the number of requests that have entered before it, and its application in the lowest, so one
 * comparison orders two requests by rank and then by arrival. A policy without ranks leaves it NULL.
 *
 * Turns. Ranks in `ends_write_turn` do not wait for writes: such a read ends a turn of writing when it enters its
 * queue, after the command under way, and there is no other turn until none of them is left. A policy that puts reads
 * without end there starves the writes.
 *
 * Choice. `choose` names the next command and the clock at which it issues, `now` or later. Where it cannot tell yet
 * what comes next it says PW_DRAM_WAIT and at which later clock it is to be asked again; that may be earlier than a
 * command can go, never later than the policy wants one. It is asked again before its choice is carried out when a
 * request arrives at the head of a bank's list. Two commands exist per bank:
 * PW_DRAM_COLUMN   transfers the bank's first request for the open row; the bank must be in `hits` and
 *                  pw_dram_column_at must not lie after the clock.
 * PW_DRAM_ROW      works for the bank's first request for another row: precharges the bank when a row is open and
 *                  activates the request's row when none is. The bank must be in `others` and pw_dram_row_at must not
 *                  lie after the clock. Requests for the row that is closed go back among the others.
 * A policy must not wait for ever while a request is there. `choose` may be asked often before a command goes; what a
 * policy has to know of those that went, it hears through `issued`. What an epoch changes shows in the commands that
 * issue from then on. The channel checks the timings of a command only where its commands are traced, as they are in
 * the tests.
 *
 * Time. A channel simulates its commands a little after they issue (src/mem/dram.c), each with what could be known
 * then. So `choose` must go by the view, by its own state and by what the latest epoch left there, and must not ask
 * other units how they stand; `rank` may.
 *
 * Speed. Sets of banks are masks, and those whose own timings have passed are found all at once (pw_dram_reached), so
 * that a policy need look only at the ages of those that can really go. */
#ifndef PW_POLICY_DRAM_H
#define PW_POLICY_DRAM_H

#include "sim/policy.h"

enum { PW_DRAM_MAX_BANKS = 64, PW_DRAM_RANKS = 4, PW_DRAM_RANK_SHIFT = 60, PW_DRAM_APP_BITS = 8 };

static inline unsigned pw_dram_rank_of(uint64_t age)
{
    return (unsigned)(age >> PW_DRAM_RANK_SHIFT);
}

/* Of a write-back: the application that displaced the line. */
static inline pw_asid pw_dram_app_of(uint64_t age)
{
    return (pw_asid)age;
}
_Static_assert(sizeof(pw_asid) * 8 == PW_DRAM_APP_BITS, "an application is the lowest bits of an age");

/* The requests of one side: each bank has two lists in order of age, of which a policy sees the first's. */
struct pw_dram_side {
    uint64_t hits, others;               /* banks with a request for their open row, for another row, one bit each */
    uint64_t hit_age[PW_DRAM_MAX_BANKS]; /* of the first in the list; undefined where there is none */
    uint64_t other_age[PW_DRAM_MAX_BANKS];
};

/* All times are DRAM clocks; those of banks are counted from `base`, which moves along with time. */
struct pw_dram_view {
    uint64_t now;           /* the clock of the command that is to be chosen */
    uint64_t column_from;   /* the first at which the data bus allows a column access of this side */
    uint64_t activate_from; /* RRD after the last activation in the channel */
    uint64_t open;          /* banks with an open row */
    uint64_t base;
    const struct pw_dram_side *side;
    uint32_t banks;
    bool write;
    _Alignas(16) int32_t column_at[PW_DRAM_MAX_BANKS]; /* of an open bank: RCD after the activation */
    /* The earliest precharge of an open bank, activation of a closed one. */
    _Alignas(16) int32_t row_at[PW_DRAM_MAX_BANKS];
};

enum pw_dram_action { PW_DRAM_WAIT, PW_DRAM_COLUMN, PW_DRAM_ROW };

struct pw_dram_choice {
    enum pw_dram_action action;
    uint32_t bank;
    uint64_t at; /* its clock; of PW_DRAM_WAIT: when to ask again, PW_NEVER where no request is there */
};

/* A command that has issued for a request: PW_DRAM_ROW activated its row, PW_DRAM_COLUMN transferred it. */
struct pw_dram_issued {
    enum pw_dram_action action;
    bool write;
    uint64_t age;    /* of the request */
    pw_cycle waited; /* core cycles since it entered its queue */
};

/* How much an application's page walks hold up: the page walker (vm/walker.c) keeps it, one for each application. */
struct pw_walk_pressure {
    uint32_t walks;   /* under way or queued */
    uint32_t stalled; /* most warps of an SM that waited for one walk, of those that ended since somebody set it to 0 */
};

/* A policy has an instance in each channel. */
struct pw_dram_environment {
    uint32_t channel;                  /* its number */
    uint32_t read_queue, write_queue;  /* places */
    struct pw_walk_pressure *pressure; /* by application; of all channels; NULL: there are no page walks */
};

struct pw_dram_policy {
    struct pw_policy head;
    uint32_t entries[PW_DRAM_RANKS]; /* places for reads of each rank; 0: as many as the read queue has */
    uint8_t ends_write_turn;         /* ranks, one bit each */
    unsigned (*rank)(void *state, pw_asid app, unsigned level); /* 0 (first) to PW_DRAM_RANKS - 1; may be NULL */
    struct pw_dram_choice (*choose)(void *state, const struct pw_dram_view *view);
    void (*issued)(void *state, const struct pw_dram_issued *command); /* may be NULL */
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

/* When a bank's first request for its open row could be transferred, if nothing came before it. */
static inline uint64_t pw_dram_column_at(const struct pw_dram_view *v, uint32_t bank)
{
    return pw_dram_later(pw_dram_later(v->now, v->column_from), v->base + (uint64_t)(int64_t)v->column_at[bank]);
}

/* When a bank could be precharged, if a row is open, or activated. */
static inline uint64_t pw_dram_row_at(const struct pw_dram_view *v, uint32_t bank)
{
    uint64_t from = v->open >> bank & 1 ? v->now : pw_dram_later(v->now, v->activate_from);
    return pw_dram_later(from, v->base + (uint64_t)(int64_t)v->row_at[bank]);
}

typedef int32_t pw_four_clocks __attribute__((vector_size(16)));

/* Of sixteen times those that are later than four equal ones. */
static inline uint32_t pw_dram_later_of_16(const int32_t *times, pw_four_clocks than)
{
    const pw_four_clocks *at = (const pw_four_clocks *)(const void *)times;
    pw_four_clocks later = (at[0] > than) & (pw_four_clocks){1, 2, 4, 8};
    later |= (at[1] > than) & (pw_four_clocks){1 << 4, 2 << 4, 4 << 4, 8 << 4};
    later |= (at[2] > than) & (pw_four_clocks){1 << 8, 2 << 8, 4 << 8, 8 << 8};
    later |= (at[3] > than) & (pw_four_clocks){1 << 12, 2 << 12, 4 << 12, 8 << 12};
    return (uint32_t)(later[0] | later[1] | later[2] | later[3]);
}

/* The banks whose entry in column_at or row_at has come by `clock`; bits of banks that do not exist mean nothing. */
static inline uint64_t pw_dram_reached(const struct pw_dram_view *v, const int32_t *at, uint64_t clock)
{
    const int32_t by = (int32_t)(clock - v->base);
    uint64_t later = 0;
    for (uint32_t bank = 0; bank < v->banks; bank += 16)
        later |= (uint64_t)pw_dram_later_of_16(at + bank, (pw_four_clocks){by, by, by, by}) << bank;
    return ~later;
}

/* The earliest of the entries of a set of banks, PW_NEVER of an empty one. */
static inline uint64_t pw_dram_earliest(const struct pw_dram_view *v, const int32_t *at, uint64_t banks)
{
    int32_t first = INT32_MAX;
    if (!banks)
        return PW_NEVER;
    for (; banks; banks &= banks - 1) {
        int32_t its = at[__builtin_ctzll(banks)];
        first = its < first ? its : first;
    }
    return v->base + (uint64_t)(int64_t)first;
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
