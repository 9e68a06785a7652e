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
#include "policy/dram/first_ready.h"

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    (void)state;
    return pw_dram_first_ready(v, NULL);
}

extern const struct pw_dram_policy pw_dram_policy_fr_fcfs;
const struct pw_dram_policy pw_dram_policy_fr_fcfs = {
    .head = {.name = "fr-fcfs", .summary = "row hits first, then the oldest request"},
    .choose = choose,
};
