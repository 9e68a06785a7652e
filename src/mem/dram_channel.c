/* How a DRAM channel is put together: its queues, and its instance of the schedule. */
#include "mem/dram_internal.h"

#include <stdlib.h>

size_t pw_dram_pending(const struct pw_dram_channel *c)
{
    return c->inside[0] + c->inside[1] + c->in_flight;
}

size_t pw_dram_waiting(const struct pw_dram_channel *c)
{
    size_t sum = 0;
    for (unsigned i = 0; i < PW_DRAM_QUEUES; i++)
        sum += c->arrivals[i].count;
    return sum;
}

static uint32_t bits_of(uint64_t power_of_two)
{
    return (uint32_t)__builtin_ctzll(power_of_two);
}

static void prepare_bursts(struct pw_dram_channel *c)
{
    const struct pw_dram_config *cfg = &c->config;
    uint32_t clocks = cfg->burst_bytes / cfg->bytes_per_clock;
    c->step = cfg->ccd > clocks ? cfg->ccd : clocks;
    for (unsigned sectors = 1; sectors < 16; sectors++) {
        uint32_t bytes = (uint32_t)__builtin_popcount(sectors) * 32;
        uint32_t bursts = (bytes + cfg->burst_bytes - 1) / cfg->burst_bytes;
        uint32_t span = (bursts - 1) * c->step;
        c->burst[sectors] = (struct pw_dram_burst){bursts * cfg->burst_bytes, span, span + clocks, bursts * clocks};
    }
    c->to_data = cfg->cl + c->burst[1].data;
    c->within_cycle = c->to_data * c->clock.core < c->clock.dram;
}

/* How many requests each queue holds; returns the sum. */
static uint32_t divide_places(struct pw_dram_channel *c)
{
    uint32_t sum = c->limit[PW_DRAM_WRITES] = c->config.write_queue;
    for (unsigned rank = 0; rank < c->ranks; rank++) {
        c->limit[rank] = c->policy->entries[rank] ? c->policy->entries[rank] : c->config.read_queue;
        sum += c->limit[rank];
    }
    return sum;
}

static void prepare_banks(struct pw_dram_channel *c)
{
    c->line_bits = bits_of(c->config.row_bytes / PW_LINE_BYTES);
    c->bank_bits = bits_of(c->config.banks);
    c->bank_mask = c->config.banks - 1;
    for (unsigned i = 0; i < c->config.banks; i++)
        c->bank[i].first_use = PW_ROW_MISS;
    c->view.banks = c->config.banks;
    c->served = &c->queue.side[0];
    c->resting = &c->queue.side[1];
    c->view.side = &c->served->seen;
}

static enum pw_status create_policy(struct pw_dram_channel *c, struct pw_error *err)
{
    const struct pw_dram_environment environment = {.channel = c->wiring.channel,
                                                    .read_queue = c->config.read_queue,
                                                    .write_queue = c->config.write_queue,
                                                    .pressure = c->wiring.pressure};
    enum pw_status status = pw_policy_use_add(c->wiring.schedule, &environment, &c->policy_state, err);
    c->choose = c->closes_rows ? pw_dram_choose_or_close : c->policy->choose;
    c->chooser = c->closes_rows ? c : c->policy_state;
    return status;
}

enum pw_status pw_dram_channel_create(const struct pw_dram_config *config, const struct pw_dram_wiring *wiring,
                                      struct pw_dram_channel **out, struct pw_error *err)
{
    *out = NULL;
    enum pw_status status = pw_dram_config_check(config, err);
    if (status)
        return status;
    struct pw_dram_channel *c = calloc(1, sizeof(*c));
    if (!c)
        return pw_fail_memory(err, "a DRAM channel");
    c->config = *config;
    c->wiring = *wiring;
    c->policy = pw_dram_policy_of(wiring->schedule->policy);
    c->clock = pw_dram_clock_of(wiring->core_mhz, config->clock_mhz);
    c->choice.at = PW_NEVER;
    c->wake = PW_NEVER;
    c->next_arrival = PW_NEVER;
    for (unsigned queue = 0; queue < PW_DRAM_QUEUES; queue++)
        c->due[queue] = PW_NEVER;
    c->ranks = c->policy->rank ? PW_DRAM_RANKS : 1;
    c->group = config->write_high - config->write_low;
    c->closes_rows = config->rows == PW_DRAM_ROWS_CLOSED;
    c->watched = wiring->trace || c->policy->issued;
    prepare_banks(c);
    prepare_bursts(c);
    status = pw_dram_queue_init(&c->queue, divide_places(c)) ? create_policy(c, err)
                                                             : pw_fail_memory(err, "the queues of a DRAM channel");
    if (status != PW_OK) {
        pw_dram_channel_destroy(c);
        return status;
    }
    *out = c;
    return PW_OK;
}

void pw_dram_channel_destroy(struct pw_dram_channel *c)
{
    if (!c)
        return;
    pw_dram_queue_release(&c->queue);
    for (unsigned queue = 0; queue < PW_DRAM_QUEUES; queue++)
        pw_dram_arrivals_release(&c->arrivals[queue]);
    free(c->look.kept);
    free(c);
}
