/* FR-FCFS, first ready, first come first served (Rixner et al., ISCA 2000): the baseline of Mosaic and MASK (Table 1
 * of both).
 *
 * At every clock the oldest request whose row is open and whose column access may issue goes first; when there is
 * none, the oldest request that can have its bank precharged or activated. A bank whose open row still has requests
 * waiting is not precharged.
 *
 * There is no guard against starvation. The caches before the channel ask for a line once while it is on its way, so
 * the run of hits that can pass an older request is bounded by the lines of one row; and that page-table reads are
 * pushed back by such runs is the effect MASK, Section 4.3, measures. */
#include "policy/dram/dram_policy.h"

/* The command for `clock`, at which one can go if the data bus, or RRD, lets it. */
static struct pw_dram_choice choose_for(const struct pw_dram_view *v, uint64_t wanted, uint64_t clock)
{
    const struct pw_dram_side *side = v->side;
    if (side->hits && v->column_from <= clock) {
        uint64_t columns = side->hits & pw_dram_reached(v, v->column_at, clock);
        if (columns)
            return (struct pw_dram_choice){PW_DRAM_COLUMN, pw_dram_oldest(columns, side->hit_age), clock};
    }
    uint64_t rows = v->activate_from <= clock ? wanted : wanted & v->open;
    if (rows && (rows &= pw_dram_reached(v, v->row_at, clock)))
        return (struct pw_dram_choice){PW_DRAM_ROW, pw_dram_oldest(rows, side->other_age), clock};
    return (struct pw_dram_choice){PW_DRAM_WAIT, 0, PW_NEVER};
}

/* Where no more than one bank has requests, as in a channel with little to do, there is nothing to compare. */
static struct pw_dram_choice choose_one(const struct pw_dram_view *v, uint64_t banks, bool hit)
{
    if (!banks)
        return (struct pw_dram_choice){PW_DRAM_WAIT, 0, PW_NEVER};
    uint32_t bank = (uint32_t)__builtin_ctzll(banks);
    return hit ? (struct pw_dram_choice){PW_DRAM_COLUMN, bank, pw_dram_column_at(v, bank)}
               : (struct pw_dram_choice){PW_DRAM_ROW, bank, pw_dram_row_at(v, bank)};
}

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    (void)state;
    uint64_t hits = v->side->hits, wanted = v->side->others & ~hits, banks = hits | wanted;
    if (!(banks & (banks - 1)))
        return choose_one(v, banks, hits != 0);
    struct pw_dram_choice choice = choose_for(v, wanted, v->now);
    if (choice.action != PW_DRAM_WAIT)
        return choice;
    uint64_t column = pw_dram_later(v->column_from, pw_dram_earliest(v, v->column_at, hits));
    uint64_t precharge = pw_dram_earliest(v, v->row_at, wanted & v->open);
    uint64_t activate = pw_dram_later(v->activate_from, pw_dram_earliest(v, v->row_at, wanted & ~v->open));
    return choose_for(v, wanted, pw_dram_earlier(column, pw_dram_earlier(precharge, activate)));
}

extern const struct pw_dram_policy pw_dram_policy_fr_fcfs;
const struct pw_dram_policy pw_dram_policy_fr_fcfs = {
    .head = {.name = "fr-fcfs", .summary = "row hits first, then the oldest request"},
    .choose = choose,
};
