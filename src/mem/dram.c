/* One DRAM channel: queues, banks and the issue of commands.
 *
 * Structure. Reads and writes wait on two sides; on each side every bank knows its first request for the open row and
 * its first for another (dram_queue.h), so that a policy looks at no more than two requests per bank and never at the
 * queue. A bit per bank says which of the two exist.
 *
 * Time. After each command the policy is asked what comes next and when, and one event is posted for that clock. The
 * answer is kept: unless an arrival has changed what the policy could see, it is carried out when the event runs. An
 * arrival that could go earlier posts an earlier event; the one it replaces is recognised by its clock and does
 * nothing. Commands whose clocks begin in the same core cycle issue in one event.
 *
 * Banks that wait for a timing stand in one of three agendas, one for each command that comes next. Each of these
 * follows an earlier command at a distance that is nearly always the same, so a bank joins at the end.
 *
 * A line longer than one burst is one column access here: its further bursts follow at the column-to-column distance
 * and take no command slots of their own. Two banks never transfer at once; a read after a write waits for WTR after
 * the last data, a write after a read for the end of its data. The four-activation window (FAW) is left out: in the
 * parts modelled it is no longer than four times RRD.
 *
 * A read does not look whether its line waits among the writes. No values are simulated, so nothing can be stale; a
 * line that has just left the L2 is seldom wanted back within the few hundred cycles it waits, and a search on every
 * read would cost more than the latency it corrects. */
#include "mem/dram.h"

#include "mem/dram_clock.h"
#include "mem/dram_queue.h"
#include "policy/dram/dram_policy.h"

#include <assert.h>
#include <stdlib.h>

enum row_use { ROW_HIT, ROW_MISS, ROW_CONFLICT };

/* What the sectors of a request take on the data bus. */
struct burst {
    uint32_t bytes;
    uint32_t span; /* clocks from its first column command to its last */
    uint32_t data; /* clocks from its first data to the end of its last */
    uint32_t busy; /* clocks of these that carry data */
};

enum { AGENDA_END = PW_DRAM_MAX_BANKS };

/* Banks in the order of a time each of them waits for: a ring of banks that begins and ends at AGENDA_END, whose time
 * is PW_NEVER. */
struct agenda {
    uint64_t time[PW_DRAM_MAX_BANKS + 1];
    uint8_t after[PW_DRAM_MAX_BANKS + 1];
    uint8_t last;
};

struct bank {
    uint64_t activate_at; /* RC after its last activation */
    uint32_t row;         /* the open one, or the last */
    uint32_t first_use;   /* what the next column access counts as */
};

struct pw_dram_channel {
    struct pw_dram_view view;
    struct pw_dram_choice choice;
    bool stale;                            /* the choice must be made again before it is carried out */
    bool issuing;                          /* inside the issue loop, which chooses again by itself */
    uint64_t wake;                         /* clock of the event that counts, or PW_NEVER */
    struct agenda columns;                 /* open banks that are not in the view's columns */
    struct agenda precharges, activations; /* open and closed banks that are not in the view's rows */
    struct bank bank[PW_DRAM_MAX_BANKS];
    uint64_t column_from[2]; /* by side: 0 reads, 1 writes */
    uint32_t count[2], limit[2];
    uint32_t rank_count[PW_DRAM_RANKS], rank_limit[PW_DRAM_RANKS];
    uint32_t group;         /* writes, or reads after them, in one turn while both wait */
    uint32_t drained, owed; /* writes issued in this turn; reads still due before the next turn of writes */
    uint64_t in_flight, arrivals;
    struct pw_dram_clock clock;
    struct burst burst[16];
    uint32_t step; /* clocks between two column commands */
    uint32_t line_bits, bank_bits, bank_mask;
    const struct pw_dram_policy *policy;
    void *policy_state;
    struct pw_dram_config config;
    struct pw_dram_wiring wiring;
    struct pw_dram_queue queue;
};

/* Which side is served: writes from the high mark on, or when there is nothing to read, until there is something to
 * read and the low mark is reached. Where writes arrive as fast as they leave, the low mark never is; so a turn of
 * writing ends after as many writes as lie between the marks, and that many reads have the next turn. */
static bool turn_is_over(const struct pw_dram_channel *c)
{
    uint32_t reads = c->count[0], writes = c->count[1];
    if (!c->view.write)
        return writes && (!reads || (writes >= c->config.write_high && !c->owed));
    return reads ? writes <= c->config.write_low || c->drained >= c->group : !writes;
}

/* A side whose turn has come makes up for what happened to rows in the meantime. */
static void learn_rows(struct pw_dram_channel *c, struct pw_dram_lists *side)
{
    for (uint64_t banks = side->outdated; banks; banks &= banks - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(banks);
        if (c->view.open >> bank & 1)
            pw_dram_queue_open(&c->queue, side, bank, c->bank[bank].row);
        else
            pw_dram_queue_close(&c->queue, side, bank);
    }
    side->outdated = 0;
}

/* Changes sides where it is time to; whether it was. */
static bool update_side(struct pw_dram_channel *c)
{
    if (__builtin_expect(!turn_is_over(c), 1))
        return false;
    bool write = !c->view.write;
    c->owed = c->drained >= c->group ? c->group : 0;
    c->drained = 0;
    c->view.write = write;
    learn_rows(c, &c->queue.side[write]);
    c->view.side = &c->queue.side[write].seen;
    c->view.column_from = c->column_from[write];
    return true;
}

/* Whoever traces the commands also has them checked against what dram_policy.h asks of a policy. */
__attribute__((noinline, cold)) static void trace(struct pw_dram_channel *c, enum pw_dram_command_kind kind,
                                                  uint32_t bank, uint64_t at, const struct pw_request *r)
{
    const struct pw_dram_view *v = &c->view;
    bool row_command = kind == PW_DRAM_PRECHARGE || kind == PW_DRAM_ACTIVATE;
    assert(row_command || (v->column_at[bank] <= at && v->column_from <= at));
    assert(!row_command || (v->side->others >> bank & 1 && v->row_at[bank] <= at));
    assert(kind != PW_DRAM_ACTIVATE || v->activate_from <= at);
    struct pw_dram_command command = {kind, bank, c->bank[bank].row, at, r};
    c->wiring.trace(c->wiring.client, &command);
}

static void agenda_init(struct agenda *a)
{
    a->time[AGENDA_END] = PW_NEVER;
    a->after[AGENDA_END] = a->last = AGENDA_END;
}

static uint64_t agenda_next(const struct agenda *a)
{
    return a->time[a->after[AGENDA_END]];
}

static void agenda_add(struct agenda *a, uint64_t at, uint32_t bank)
{
    uint32_t before = a->last;
    if (a->time[before] > at)
        for (before = AGENDA_END; a->time[a->after[before]] <= at;)
            before = a->after[before];
    a->time[bank] = at;
    a->after[bank] = a->after[before];
    a->after[before] = (uint8_t)bank;
    if (a->after[bank] == AGENDA_END)
        a->last = (uint8_t)bank;
}

static uint32_t agenda_take(struct agenda *a)
{
    uint32_t bank = a->after[AGENDA_END];
    assert(bank < AGENDA_END);
    a->after[AGENDA_END] = a->after[bank];
    if (bank == a->last)
        a->last = AGENDA_END;
    return bank;
}

/* Moves the banks whose times have come from the agendas to the view's sets. */
static void catch_up(struct pw_dram_channel *c)
{
    struct pw_dram_view *v = &c->view;
    while (v->now >= agenda_next(&c->columns))
        v->columns |= 1ULL << agenda_take(&c->columns);
    while (v->now >= agenda_next(&c->activations))
        v->rows |= 1ULL << agenda_take(&c->activations);
    while (v->now >= agenda_next(&c->precharges)) {
        uint32_t bank = agenda_take(&c->precharges);
        if (v->row_at[bank] > v->now)
            agenda_add(&c->precharges, v->row_at[bank], bank);
        else
            v->rows |= 1ULL << bank;
    }
    v->columns_next = agenda_next(&c->columns);
    v->rows_next = pw_dram_earlier(agenda_next(&c->precharges), agenda_next(&c->activations));
}

static void choose(struct pw_dram_channel *c)
{
    if (c->view.now >= c->view.columns_next || c->view.now >= c->view.rows_next)
        catch_up(c);
    c->choice = c->policy->choose(c->policy_state, &c->view);
}

/* A bank that is ready, or was until now, must wait for its next row command until row_at. */
static void await_row(struct pw_dram_channel *c, struct agenda *agenda, uint32_t bank)
{
    struct pw_dram_view *v = &c->view;
    v->rows &= ~(1ULL << bank);
    v->rows_next = pw_dram_earlier(v->rows_next, v->row_at[bank]);
    agenda_add(agenda, v->row_at[bank], bank);
}

static void precharge(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    if (__builtin_expect(c->wiring.trace != NULL, 0))
        trace(c, PW_DRAM_PRECHARGE, bank, at, NULL);
    v->open &= ~(1ULL << bank);
    v->columns &= ~(1ULL << bank);
    v->row_at[bank] = pw_dram_later(at + c->config.rp, c->bank[bank].activate_at);
    await_row(c, &c->activations, bank);
    c->bank[bank].first_use = ROW_CONFLICT;
    pw_dram_queue_close(&c->queue, &c->queue.side[v->write], bank);
    c->queue.side[!v->write].outdated |= 1ULL << bank;
}

static void activate(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    const struct pw_dram_config *cfg = &c->config;
    uint32_t row = c->queue.links[c->queue.side[v->write].list[bank].other].row;
    c->bank[bank].row = row;
    if (__builtin_expect(c->wiring.trace != NULL, 0))
        trace(c, PW_DRAM_ACTIVATE, bank, at, NULL);
    v->open |= 1ULL << bank;
    v->column_at[bank] = at + cfg->rcd;
    v->columns_next = pw_dram_earlier(v->columns_next, v->column_at[bank]);
    agenda_add(&c->columns, v->column_at[bank], bank);
    v->row_at[bank] = at + cfg->ras;
    await_row(c, &c->precharges, bank);
    c->bank[bank].activate_at = at + cfg->rc;
    v->activate_from = at + cfg->rrd;
    pw_dram_queue_open(&c->queue, &c->queue.side[v->write], bank, row);
    c->queue.side[!v->write].outdated |= 1ULL << bank;
}

/* After a column access the bank's row must stay open until `at`. */
static void hold_row(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    if (v->row_at[bank] >= at)
        return;
    v->row_at[bank] = at;
    if (v->rows >> bank & 1)
        await_row(c, &c->precharges, bank);
}

static void read_done(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_dram_channel *c = object;
    c->in_flight--;
    c->wiring.read_done(c->wiring.client, (struct pw_request *)(uintptr_t)argument, now);
}

static void count_column(struct pw_dram_counters *n, bool walk, const struct burst *b, uint32_t use)
{
    n->bytes += b->bytes;
    n->busy_clocks += b->busy;
    *(walk ? &n->translation_bytes : &n->data_bytes) += b->bytes;
    if (use == ROW_HIT) {
        n->row_hits++;
        n->translation_row_hits += walk;
    } else {
        *(use == ROW_MISS ? &n->row_misses : &n->row_conflicts) += 1;
    }
}

static void finish_read(struct pw_dram_channel *c, const struct pw_dram_entry *e, struct pw_dram_counters *n,
                        uint64_t end)
{
    struct pw_request *r = e->r;
    pw_cycle done = pw_dram_clock_begin(&c->clock, end);
    n->reads++;
    if (r->kind == PW_REQUEST_WALK) {
        n->translation_reads++;
        n->translation_latency += done - e->queued;
    } else {
        n->data_reads++;
        n->data_latency += done - e->queued;
    }
    c->rank_count[e->age >> PW_DRAM_RANK_SHIFT]--;
    c->in_flight++;
    pw_events_post(c->wiring.events, done, read_done, c, (uintptr_t)r);
    if (c->wiring.read_scheduled)
        c->wiring.read_scheduled(c->wiring.client, r);
}

static void issue_column(struct pw_dram_channel *c, uint32_t bank, uint64_t at, pw_cycle now)
{
    const struct pw_dram_config *cfg = &c->config;
    bool write = c->view.write;
    const struct pw_dram_entry *e = pw_dram_take_hit(&c->queue, &c->queue.side[write], bank);
    struct pw_request *r = e->r;
    assert(r);
    const struct burst *b = &c->burst[r->sectors & 15];
    if (__builtin_expect(c->wiring.trace != NULL, 0))
        trace(c, write ? PW_DRAM_WRITE : PW_DRAM_READ, bank, at, r);
    struct pw_dram_counters *n = &c->wiring.counters[r->app];
    count_column(n, r->kind == PW_REQUEST_WALK, b, c->bank[bank].first_use);
    c->bank[bank].first_use = ROW_HIT;
    c->count[write]--;
    uint64_t next = at + b->span + c->step;
    c->column_from[write] = c->view.column_from = next;
    if (write) {
        uint64_t end = at + cfg->wl + b->data;
        c->column_from[0] = pw_dram_later(next, end + cfg->wtr);
        hold_row(c, bank, end + cfg->wr);
        n->writes++;
        c->drained++;
        update_side(c);
        c->wiring.write_done(c->wiring.client, r, now);
    } else {
        uint64_t end = at + cfg->cl + b->data;
        c->column_from[1] = pw_dram_later(next, end > cfg->wl ? end - cfg->wl : 0);
        hold_row(c, bank, at + b->span + cfg->rtp);
        c->owed -= c->owed > 0;
        update_side(c);
        finish_read(c, e, n, end);
    }
    c->wiring.space(c->wiring.client, write, now);
}

/* Carries out what was chosen and goes on to the next clock to be looked at. */
static void carry_out(struct pw_dram_channel *c, pw_cycle now)
{
    uint64_t at = c->choice.at;
    uint32_t bank = c->choice.bank;
    c->view.now = at + 1;
    if (c->choice.action == PW_DRAM_COLUMN)
        issue_column(c, bank, at, now);
    else if (c->choice.action == PW_DRAM_WAIT)
        c->view.now = at;
    else if (c->view.open >> bank & 1)
        precharge(c, bank, at);
    else
        activate(c, bank, at);
}

static void issue(void *object, uint64_t argument, pw_cycle now);

/* Has the clock `at`, which begins at core cycle `begin`, looked at, and no longer a later one. */
static void wake_at(struct pw_dram_channel *c, uint64_t at, pw_cycle begin)
{
    c->wake = at;
    pw_events_post(c->wiring.events, begin, issue, c, at);
}

static void issue(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_dram_channel *c = object;
    if (argument != c->wake)
        return;
    c->wake = PW_NEVER;
    c->issuing = true;
    if (c->stale)
        c->choice = (struct pw_dram_choice){.action = PW_DRAM_WAIT, .at = pw_dram_later(c->view.now, argument)};
    pw_cycle begin;
    do {
        carry_out(c, now);
        choose(c);
        begin = pw_dram_clock_begin(&c->clock, c->choice.at);
    } while (begin <= now && c->choice.at != PW_NEVER);
    c->stale = false;
    c->issuing = false;
    if (c->choice.at != PW_NEVER)
        wake_at(c, c->choice.at, begin);
}

bool pw_dram_has_space(const struct pw_dram_channel *c, bool write)
{
    bool space = c->count[write] < c->limit[write];
    for (unsigned i = 0; i < PW_DRAM_RANKS && !write; i++)
        space &= c->rank_count[i] < c->rank_limit[i];
    return space;
}

/* An arrival that a policy can see may go before what was chosen. */
static void choose_again(struct pw_dram_channel *c, uint32_t bank, bool hit, bool turned, pw_cycle now)
{
    struct pw_dram_view *v = &c->view;
    c->stale = true;
    v->now = pw_dram_later(v->now, pw_dram_clock_first(&c->clock, now));
    uint64_t at = turned ? v->now : hit ? pw_dram_column_at(v, bank) : pw_dram_row_at(v, bank);
    if (at < c->wake)
        wake_at(c, at, pw_dram_clock_begin(&c->clock, at));
}

void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle now)
{
    bool write = r->kind == PW_REQUEST_WRITEBACK;
    uint32_t stripe = local_line >> c->line_bits;
    uint32_t row = stripe >> c->bank_bits;
    uint32_t hash = row ^ row >> c->bank_bits ^ row >> 2 * c->bank_bits;
    uint32_t bank = (stripe ^ hash) & c->bank_mask;
    unsigned rank = c->policy->rank ? c->policy->rank(c->policy_state, r) : 0;
    c->rank_count[rank] += !write;
    assert(c->count[write] < c->limit[write] && r->sectors & 15);
    c->count[write]++;
    bool hit = (c->view.open >> bank & 1) && c->bank[bank].row == row;
    uint64_t age = (uint64_t)rank << PW_DRAM_RANK_SHIFT | c->arrivals++;
    struct pw_dram_entry entry = {.age = age, .queued = now, .r = r};
    bool first = pw_dram_queue_add(&c->queue, &c->queue.side[write], bank, row, hit, entry);
    bool turned = update_side(c);
    if ((turned || (first && write == c->view.write)) && !c->issuing)
        choose_again(c, bank, hit, turned, now);
}

size_t pw_dram_pending(const struct pw_dram_channel *c)
{
    return c->count[0] + c->count[1] + c->in_flight;
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
        c->burst[sectors] = (struct burst){bursts * cfg->burst_bytes, span, span + clocks, bursts * clocks};
    }
}

enum pw_status pw_dram_channel_create(const struct pw_dram_config *config, const struct pw_dram_wiring *wiring,
                                      struct pw_dram_channel **out, struct pw_error *err)
{
    *out = NULL;
    enum pw_status status = pw_dram_config_check(config, err);
    if (status)
        return status;
    const struct pw_dram_policy *policy = wiring->policy ? wiring->policy : pw_dram_policies[config->schedule];
    struct pw_dram_channel *c = calloc(1, sizeof(*c));
    if (!c)
        return pw_fail_memory(err, "a DRAM channel");
    c->policy_state = calloc(1, policy->state_bytes ? policy->state_bytes : 1);
    if (!c->policy_state || !pw_dram_queue_init(&c->queue, config->read_queue + config->write_queue)) {
        pw_dram_channel_destroy(c);
        return pw_fail_memory(err, "the queues of a DRAM channel");
    }
    c->config = *config;
    c->wiring = *wiring;
    c->policy = policy;
    c->clock = pw_dram_clock_of(wiring->core_mhz, config->clock_mhz);
    c->choice.at = PW_NEVER;
    c->wake = PW_NEVER;
    c->limit[0] = config->read_queue;
    c->limit[1] = config->write_queue;
    c->group = config->write_high - config->write_low;
    for (unsigned i = 0; i < PW_DRAM_RANKS; i++)
        c->rank_limit[i] = policy->entries[i] ? policy->entries[i] : config->read_queue;
    c->line_bits = bits_of(config->row_bytes / PW_LINE_BYTES);
    c->bank_bits = bits_of(config->banks);
    c->bank_mask = config->banks - 1;
    for (unsigned i = 0; i < config->banks; i++)
        c->bank[i].first_use = ROW_MISS;
    c->view.rows = UINT64_MAX;
    c->view.columns_next = c->view.rows_next = PW_NEVER;
    agenda_init(&c->columns);
    agenda_init(&c->precharges);
    agenda_init(&c->activations);
    c->view.side = &c->queue.side[0].seen;
    prepare_bursts(c);
    if (policy->init)
        policy->init(c->policy_state);
    *out = c;
    return PW_OK;
}

void pw_dram_channel_destroy(struct pw_dram_channel *c)
{
    if (!c)
        return;
    pw_dram_queue_release(&c->queue);
    free(c->policy_state);
    free(c);
}
