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

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    (void)state;
    const struct pw_dram_side *side = v->side;
    uint64_t columns = side->hits & v->columns;
    if (columns && v->column_from <= v->now)
        return (struct pw_dram_choice){PW_DRAM_COLUMN, pw_dram_oldest(columns, side->hit_age), v->now};

    uint64_t wanted = side->others & ~side->hits, ready = wanted & v->rows;
    uint64_t rows = v->activate_from <= v->now ? ready : ready & v->open;
    if (rows)
        return (struct pw_dram_choice){PW_DRAM_ROW, pw_dram_oldest(rows, side->other_age), v->now};

    uint64_t at = ready ? v->activate_from : PW_NEVER;
    if (wanted & ~ready && v->rows_next < at)
        at = v->rows_next;
    if (side->hits) {
        uint64_t column_at = columns ? v->column_from : pw_dram_later(v->column_from, v->columns_next);
        at = column_at < at ? column_at : at;
    }
    return (struct pw_dram_choice){PW_DRAM_WAIT, 0, at};
}

extern const struct pw_dram_policy pw_dram_policy_fr_fcfs;
const struct pw_dram_policy pw_dram_policy_fr_fcfs = {
    .head = {.name = "fr-fcfs", .summary = "row hits first, then the oldest request"},
    .choose = choose,
};
