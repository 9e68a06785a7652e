/* First ready: what the schedules that prefer row hits have in common.
 *
 * Of a set of banks, at every clock the oldest request whose row is open and whose column access may issue goes first;
 * when there is none, a bank of the set is precharged or activated, for the oldest of the requests that can have this,
 * or in turn: for the oldest of the next application that has one. */
#ifndef PW_POLICY_DRAM_FIRST_READY_H
#define PW_POLICY_DRAM_FIRST_READY_H

#include "policy/dram/dram_policy.h"

#define PW_DRAM_INLINE static inline __attribute__((always_inline))

/* Banks whose first hit may be transferred, and banks in which a row command may work for the first other request. */
struct pw_dram_set {
    uint64_t hits, rows;
};

/* The bank of a non-empty set whose request is of the first application after `last`, the oldest of several. */
static inline uint32_t pw_dram_next_in_turn(uint64_t banks, const uint64_t *age, pw_asid last)
{
    uint32_t best = 0;
    uint64_t least_age = PW_NEVER;
    pw_asid least_steps = (pw_asid)~0U;
    for (; banks; banks &= banks - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(banks);
        pw_asid steps = (pw_asid)(pw_dram_app_of(age[bank]) - last - 1); /* around the end */
        if (steps > least_steps || (steps == least_steps && age[bank] > least_age))
            continue;
        best = bank;
        least_steps = steps;
        least_age = age[bank];
    }
    return best;
}

/* The command for `clock`, or PW_DRAM_WAIT. `last`: NULL, or the application that a row was last opened for. */
PW_DRAM_INLINE struct pw_dram_choice pw_dram_first_ready_at(const struct pw_dram_view *v, struct pw_dram_set set,
                                                            const pw_asid *last, uint64_t clock)
{
    const struct pw_dram_side *side = v->side;
    if (set.hits && v->column_from <= clock) {
        uint64_t columns = set.hits & pw_dram_reached(v, v->column_at, clock);
        if (columns)
            return (struct pw_dram_choice){PW_DRAM_COLUMN, pw_dram_oldest(columns, side->hit_age), clock};
    }
    uint64_t rows = v->activate_from <= clock ? set.rows : set.rows & v->open;
    if (rows && (rows &= pw_dram_reached(v, v->row_at, clock))) {
        uint32_t bank =
            last ? pw_dram_next_in_turn(rows, side->other_age, *last) : pw_dram_oldest(rows, side->other_age);
        return (struct pw_dram_choice){PW_DRAM_ROW, bank, clock};
    }
    return (struct pw_dram_choice){PW_DRAM_WAIT, 0, PW_NEVER};
}

/* The first clock at which a command can go, where none can at v->now; PW_NEVER of an empty set. */
PW_DRAM_INLINE uint64_t pw_dram_first_clock(const struct pw_dram_view *v, struct pw_dram_set set)
{
    uint64_t column = pw_dram_later(v->column_from, pw_dram_earliest(v, v->column_at, set.hits));
    uint64_t precharge = pw_dram_earliest(v, v->row_at, set.rows & v->open);
    uint64_t activate = pw_dram_later(v->activate_from, pw_dram_earliest(v, v->row_at, set.rows & ~v->open));
    return pw_dram_earlier(column, pw_dram_earlier(precharge, activate));
}

/* Where no more than one bank has requests, as in a channel with little to do, there is nothing to compare. */
static inline struct pw_dram_choice pw_dram_only_one(const struct pw_dram_view *v, uint64_t banks, bool hit)
{
    if (!banks)
        return (struct pw_dram_choice){PW_DRAM_WAIT, 0, PW_NEVER};
    uint32_t bank = (uint32_t)__builtin_ctzll(banks);
    return hit ? (struct pw_dram_choice){PW_DRAM_COLUMN, bank, pw_dram_column_at(v, bank)}
               : (struct pw_dram_choice){PW_DRAM_ROW, bank, pw_dram_row_at(v, bank)};
}

/* What comes next of all requests of the side being served. A bank whose open row still has requests waiting is not
 * precharged. */
PW_DRAM_INLINE struct pw_dram_choice pw_dram_first_ready(const struct pw_dram_view *v, const pw_asid *last)
{
    const struct pw_dram_set set = {v->side->hits, v->side->others & ~v->side->hits};
    uint64_t banks = set.hits | set.rows;
    if (!(banks & (banks - 1)))
        return pw_dram_only_one(v, banks, set.hits != 0);
    struct pw_dram_choice choice = pw_dram_first_ready_at(v, set, last, v->now);
    if (choice.action != PW_DRAM_WAIT)
        return choice;
    return pw_dram_first_ready_at(v, set, last, pw_dram_first_clock(v, set));
}

#endif
