/* Who hears of a DRAM channel's commands: a trace, and the schedule if it asks to.
 *
 * Most schedules do not, and only tests trace; so the channel looks once per command whether anybody does. */
#include "mem/dram_internal.h"

#include <assert.h>

/* Whoever traces the commands also has them checked against what dram_policy.h asks of a policy. */
static void trace(const struct pw_dram_channel *c, const struct pw_dram_command *command)
{
    const struct pw_dram_view *v = &c->view;
    const uint32_t bank = command->bank;
    const int32_t since_base = (int32_t)(command->clock - v->base);
    bool precharge = command->kind == PW_DRAM_PRECHARGE, activate = command->kind == PW_DRAM_ACTIVATE;
    bool row_command = precharge || activate;
    assert(row_command || (v->column_at[bank] <= since_base && v->column_from <= command->clock));
    assert(!row_command || v->row_at[bank] <= since_base);
    assert(!row_command || v->side->others >> bank & 1 || (c->closes_rows && precharge));
    assert(!activate || v->activate_from <= command->clock);
    c->wiring.trace(c->wiring.client, command);
}

__attribute__((cold)) void pw_dram_watch(struct pw_dram_channel *c, enum pw_dram_command_kind kind, uint32_t bank,
                                         uint64_t at, const struct pw_dram_entry *e)
{
    bool column = kind == PW_DRAM_READ || kind == PW_DRAM_WRITE;
    struct pw_dram_command command = {kind, bank, c->bank[bank].row, at, column ? e->r : NULL};
    if (c->wiring.trace)
        trace(c, &command);
    if (!e || !c->policy->issued)
        return;
    struct pw_dram_issued issued = {column ? PW_DRAM_COLUMN : PW_DRAM_ROW, c->view.write, e->age,
                                    pw_dram_clock_begin(&c->clock, at) - e->queued};
    c->policy->issued(c->policy_state, &issued);
}
