/* FCFS, first come first served: only the oldest request of the side being served gets commands.
 *
 * Its precharge, activation and column access follow each other as the timings allow; nobody else's bank is made
 * ready meanwhile and no row hit overtakes. It is the lower end against which a schedule that uses rows and banks is
 * compared. */
#include "policy/dram/dram_policy.h"

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    (void)state;
    const struct pw_dram_side *side = v->side;
    struct pw_dram_choice oldest = {PW_DRAM_WAIT, 0, PW_NEVER};
    uint64_t age = PW_NEVER;
    if (side->hits) {
        oldest.action = PW_DRAM_COLUMN;
        oldest.bank = pw_dram_oldest(side->hits, side->hit_age);
        oldest.at = pw_dram_column_at(v, oldest.bank);
        age = side->hit_age[oldest.bank];
    }
    if (side->others) {
        uint32_t bank = pw_dram_oldest(side->others, side->other_age);
        if (side->other_age[bank] < age)
            oldest = (struct pw_dram_choice){PW_DRAM_ROW, bank, pw_dram_row_at(v, bank)};
    }
    return oldest;
}

extern const struct pw_dram_policy pw_dram_policy_fcfs;
const struct pw_dram_policy pw_dram_policy_fcfs = {
    .head = {.name = "fcfs", .summary = "strictly the oldest request"},
    .choose = choose,
};
