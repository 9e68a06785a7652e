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
#include "mem/dram_internal.h"

#include <assert.h>

/* Whether a read waits that lets no turn of writing begin or go on. */
__attribute__((noinline)) static bool urgent_waits(const struct pw_dram_channel *c)
{
    for (unsigned ranks = c->policy->ends_write_turn; ranks; ranks &= ranks - 1)
        if (c->count[__builtin_ctz(ranks)])
            return true;
    return false;
}

/* Which side is served: writes from the high mark on, or when there is nothing to read, until there is something to
 * read and the low mark is reached. Where writes arrive as fast as they leave, the low mark never is; so a turn of
 * writing ends after as many writes as lie between the marks, and that many reads have the next turn. While an urgent
 * read waits there is no turn of writing. */
static bool turn_is_over(const struct pw_dram_channel *c)
{
    uint32_t reads = c->inside[0], writes = c->inside[1];
    if (!c->view.write)
        return writes && (!reads || (writes >= c->config.write_high && !c->owed && !urgent_waits(c)));
    return reads ? writes <= c->config.write_low || c->drained >= c->group || urgent_waits(c) : !writes;
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

__attribute__((noinline)) static void change_sides(struct pw_dram_channel *c)
{
    bool write = !c->view.write;
    c->owed = c->drained >= c->group ? c->group : 0;
    c->drained = 0;
    c->view.write = write;
    learn_rows(c, &c->queue.side[write]);
    c->view.side = &c->queue.side[write].seen;
    c->view.column_from = c->column_from[write];
}

/* Changes sides where it is time to; whether it was. */
static inline bool update_side(struct pw_dram_channel *c)
{
    bool over = turn_is_over(c);
    if (__builtin_expect(over, 0))
        change_sides(c);
    return over;
}

/* Whoever traces the commands also has them checked against what dram_policy.h asks of a policy. */
__attribute__((noinline, cold)) static void trace(struct pw_dram_channel *c, enum pw_dram_command_kind kind,
                                                  uint32_t bank, uint64_t at, const struct pw_request *r)
{
    const struct pw_dram_view *v = &c->view;
    bool row_command = kind == PW_DRAM_PRECHARGE || kind == PW_DRAM_ACTIVATE;
    assert(row_command || (v->column_at[bank] <= at && v->column_from <= at));
    assert(!row_command || v->row_at[bank] <= at);
    assert(!row_command || v->side->others >> bank & 1 || (c->closes_rows && kind == PW_DRAM_PRECHARGE));
    assert(kind != PW_DRAM_ACTIVATE || v->activate_from <= at);
    struct pw_dram_command command = {kind, bank, c->bank[bank].row, at, r};
    c->wiring.trace(c->wiring.client, &command);
}

/* Moves the banks whose times have come from the agendas to the view's sets. */
static void catch_up(struct pw_dram_channel *c)
{
    struct pw_dram_view *v = &c->view;
    while (v->now >= pw_agenda_next(&c->columns))
        v->columns |= 1ULL << pw_agenda_take(&c->columns);
    while (v->now >= pw_agenda_next(&c->activations))
        v->rows |= 1ULL << pw_agenda_take(&c->activations);
    while (v->now >= pw_agenda_next(&c->precharges)) {
        uint32_t bank = pw_agenda_take(&c->precharges);
        if (v->row_at[bank] > v->now)
            pw_agenda_add(&c->precharges, v->row_at[bank], bank);
        else
            v->rows |= 1ULL << bank;
    }
    v->columns_next = pw_agenda_next(&c->columns);
    v->rows_next = pw_dram_earlier(pw_agenda_next(&c->precharges), pw_agenda_next(&c->activations));
}

struct pw_dram_choice pw_dram_choose_or_close(void *channel, const struct pw_dram_view *v)
{
    struct pw_dram_channel *c = channel;
    struct pw_dram_choice choice = c->policy->choose(c->policy_state, v);
    if (choice.action != PW_DRAM_WAIT)
        return choice;
    struct pw_dram_lists *other = &c->queue.side[!v->write];
    learn_rows(c, other);
    uint64_t unused = v->open & ~v->side->hits & ~other->seen.hits, ready = unused & v->rows;
    if (ready)
        return (struct pw_dram_choice){PW_DRAM_ROW, (uint32_t)__builtin_ctzll(ready), v->now};
    if (unused)
        choice.at = pw_dram_earlier(choice.at, v->rows_next);
    return choice;
}

static void choose(struct pw_dram_channel *c)
{
    if (c->view.now >= c->view.columns_next || c->view.now >= c->view.rows_next)
        catch_up(c);
    c->choice = c->choose(c->chooser, &c->view);
}

/* A bank that is ready, or was until now, must wait for its next row command until row_at. */
static void await_row(struct pw_dram_channel *c, struct pw_agenda *agenda, uint32_t bank)
{
    struct pw_dram_view *v = &c->view;
    v->rows &= ~(1ULL << bank);
    v->rows_next = pw_dram_earlier(v->rows_next, v->row_at[bank]);
    pw_agenda_add(agenda, v->row_at[bank], bank);
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
    c->bank[bank].first_use = v->side->others >> bank & 1 ? PW_ROW_CONFLICT : PW_ROW_MISS;
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
    pw_agenda_add(&c->columns, v->column_at[bank], bank);
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

static void count_column(struct pw_dram_counters *n, bool walk, const struct pw_dram_burst *b, uint32_t use)
{
    n->bytes += b->bytes;
    n->busy_clocks += b->busy;
    *(walk ? &n->translation_bytes : &n->data_bytes) += b->bytes;
    if (use == PW_ROW_HIT) {
        n->row_hits++;
        n->translation_row_hits += walk;
    } else {
        *(use == PW_ROW_MISS ? &n->row_misses : &n->row_conflicts) += 1;
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
    c->in_flight++;
    pw_events_post(c->wiring.events, done, read_done, c, (uintptr_t)r);
    if (c->wiring.read_scheduled)
        c->wiring.read_scheduled(c->wiring.client, r);
}

static void enter(struct pw_dram_channel *c, struct pw_request *r, unsigned queue, uint32_t local_line, pw_cycle now);

/* A request leaves its queue, whose free place the first that waits for one will take. */
static unsigned leave(struct pw_dram_channel *c, bool write, uint64_t age)
{
    unsigned queue = write ? PW_DRAM_WRITES : (unsigned)(age >> PW_DRAM_RANK_SHIFT);
    c->count[queue]--;
    c->inside[write]--;
    return queue;
}

static void admit(struct pw_dram_channel *c, unsigned queue, pw_cycle now)
{
    struct pw_request *r = pw_request_list_pop(&c->waiting[queue]);
    if (r)
        enter(c, r, queue, c->wiring.local_line(c->wiring.client, r), now);
}

static void issue_column(struct pw_dram_channel *c, uint32_t bank, uint64_t at, pw_cycle now)
{
    const struct pw_dram_config *cfg = &c->config;
    bool write = c->view.write;
    const struct pw_dram_entry *e = pw_dram_take_hit(&c->queue, &c->queue.side[write], bank);
    struct pw_request *r = e->r;
    assert(r);
    const struct pw_dram_burst *b = &c->burst[r->sectors & 15];
    if (__builtin_expect(c->wiring.trace != NULL, 0))
        trace(c, write ? PW_DRAM_WRITE : PW_DRAM_READ, bank, at, r);
    struct pw_dram_counters *n = &c->wiring.counters[r->app];
    count_column(n, r->kind == PW_REQUEST_WALK, b, c->bank[bank].first_use);
    c->bank[bank].first_use = PW_ROW_HIT;
    unsigned queue = leave(c, write, e->age);
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
    admit(c, queue, now);
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

/* Puts a request into a queue that has a place for it. */
static void enter(struct pw_dram_channel *c, struct pw_request *r, unsigned queue, uint32_t local_line, pw_cycle now)
{
    bool write = queue == PW_DRAM_WRITES;
    uint32_t stripe = local_line >> c->line_bits;
    uint32_t row = stripe >> c->bank_bits;
    uint32_t hash = row ^ row >> c->bank_bits ^ row >> 2 * c->bank_bits;
    uint32_t bank = (stripe ^ hash) & c->bank_mask;
    assert(c->count[queue] < c->limit[queue] && r->sectors & 15);
    c->count[queue]++;
    c->inside[write]++;
    bool hit = (c->view.open >> bank & 1) && c->bank[bank].row == row;
    uint64_t rank = write ? 0 : queue;
    struct pw_dram_entry entry = {.age = rank << PW_DRAM_RANK_SHIFT | c->arrivals++, .queued = now, .r = r};
    bool first = pw_dram_queue_add(&c->queue, &c->queue.side[write], bank, row, hit, entry);
    bool turned = update_side(c), seen = write == c->view.write || c->closes_rows;
    if ((turned || (first && seen)) && !c->issuing)
        choose_again(c, bank, hit, turned, now);
}

void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle now)
{
    unsigned queue = PW_DRAM_WRITES;
    if (r->kind != PW_REQUEST_WRITEBACK)
        queue = c->policy->rank ? c->policy->rank(c->policy_state, r) : 0;
    if (c->waiting[queue].first || c->count[queue] == c->limit[queue])
        pw_request_list_push(&c->waiting[queue], r);
    else
        enter(c, r, queue, local_line, now);
}
