/* Row hits first, then the applications in turn: a schedule after Jog et al. (Anatomy of GPU Memory System for
 * Multi-Application Execution, MEMSYS 2015), which they propose against FR-FCFS where applications share a GPU.
 *
 * Written from memory of that paper and not compared with it. At every clock the oldest row hit that can go goes, as
 * under FR-FCFS. When there is none, a row is opened for the application that comes next after the one for which the
 * last row was opened in this channel, of those that can have one; of its requests the oldest. So an application with
 * many requests no longer opens rows in proportion to their number. A bank shows the schedule only its oldest request
 * for another row, so applications take turns over banks, not within one. Lines that are written back count for the
 * application that displaced them. */
#include "policy/dram/first_ready.h"

struct state {
    pw_asid last; /* application that a row was last opened for */
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)setup;
    (void)err;
    ((struct state *)state)->last = (pw_asid)~0U; /* the first is the next */
    return PW_OK;
}

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    return pw_dram_first_ready(v, &((const struct state *)state)->last);
}

static void issued(void *state, const struct pw_dram_issued *command)
{
    if (command->action == PW_DRAM_ROW)
        ((struct state *)state)->last = pw_dram_app_of(command->age);
}

extern const struct pw_dram_policy pw_dram_policy_fr_rr;
const struct pw_dram_policy pw_dram_policy_fr_rr = {
    .head = {.name = "fr-rr",
             .summary = "row hits first, then the applications in turn",
             .state_bytes = sizeof(struct state),
             .init = init},
    .choose = choose,
    .issued = issued,
};
