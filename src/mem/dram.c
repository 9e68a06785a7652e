/* One DRAM channel: queues, banks and the issue of commands.
 *
 * Structure. Reads and writes wait on two sides; on each side every bank knows its first request for the open row and
 * its first for another (dram_queue.h), so that a policy looks at no more than two requests per bank and never at the
 * queue. A bit per bank says which of the two exist.
 *
 * Time. Nobody can tell what a channel does before the data of a read is there, the column latency and a burst after
 * its command at the earliest. So the channel does its work late: requests on their way are written down with the clock
 * of their arrival, and one event, at the earliest time at which data could be there, simulates all arrivals and
 * commands up to then, one after the other, each at its own clock. Whoever looks into the channel brings it up to date
 * before, and changes nothing by it (dram_look.h). A request that arrives in the cycle in which a clock begins is seen
 * by the choice for that clock; of those that arrive for the same clock, reads come before writes and each kind in the
 * order in which it was sent.
 *
 * After each command the policy is asked what comes next and when. The answer is carried out unless an arrival that
 * the policy can see comes before it; then it is asked again, at the first clock at which the new request could go.
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
    struct pw_dram_lists *rested = c->resting;
    c->resting = c->served;
    c->served = rested;
    learn_rows(c, rested);
    c->view.side = &rested->seen;
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

/* A time as banks keep it. */
static inline int32_t since_base(const struct pw_dram_view *v, uint64_t clock)
{
    return (int32_t)(clock - v->base);
}

struct pw_dram_choice pw_dram_choose_or_close(void *channel, const struct pw_dram_view *v)
{
    struct pw_dram_channel *c = channel;
    struct pw_dram_choice choice = c->policy->choose(c->policy_state, v);
    if (choice.action != PW_DRAM_WAIT && choice.at == v->now)
        return choice;
    learn_rows(c, c->resting);
    uint64_t unused = v->open & ~v->side->hits & ~c->resting->seen.hits;
    uint64_t ready = unused & pw_dram_reached(v, v->row_at, v->now);
    if (ready)
        return (struct pw_dram_choice){PW_DRAM_ROW, (uint32_t)__builtin_ctzll(ready), v->now};
    for (; unused; unused &= unused - 1) {
        uint64_t at = pw_dram_row_at(v, (uint32_t)__builtin_ctzll(unused));
        if (at < choice.at)
            choice = (struct pw_dram_choice){PW_DRAM_WAIT, 0, at};
    }
    return choice;
}

enum { LONG_AGO = -(1 << 30) };

/* Counts the times of banks from now on, so that they go on fitting into 32 bits. What is long over stays so. */
__attribute__((noinline, cold)) static void move_base(struct pw_dram_view *v)
{
    int64_t by = (int64_t)(v->now - v->base);
    for (uint32_t i = 0; i < PW_DRAM_MAX_BANKS; i++) {
        int64_t column = v->column_at[i] - by, row = v->row_at[i] - by;
        v->column_at[i] = column < LONG_AGO ? LONG_AGO : (int32_t)column;
        v->row_at[i] = row < LONG_AGO ? LONG_AGO : (int32_t)row;
    }
    v->base = v->now;
}

static void choose(struct pw_dram_channel *c)
{
    if (__builtin_expect(c->view.now - c->view.base > -LONG_AGO, 0))
        move_base(&c->view);
    c->choice = c->choose(c->chooser, &c->view);
}

static void precharge(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    if (__builtin_expect(c->watched, 0))
        pw_dram_watch(c, PW_DRAM_PRECHARGE, bank, at, NULL);
    v->open &= ~(1ULL << bank);
    v->row_at[bank] = since_base(v, pw_dram_later(at + c->config.rp, c->bank[bank].activate_at));
    c->bank[bank].first_use = v->side->others >> bank & 1 ? PW_ROW_CONFLICT : PW_ROW_MISS;
    pw_dram_queue_close(&c->queue, c->served, bank);
    c->resting->outdated |= 1ULL << bank;
}

static void activate(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    const struct pw_dram_config *cfg = &c->config;
    uint16_t first = c->served->list[bank].other;
    uint32_t row = c->queue.links[first].row;
    c->bank[bank].row = row;
    if (__builtin_expect(c->watched, 0))
        pw_dram_watch(c, PW_DRAM_ACTIVATE, bank, at, &c->queue.entries[first]);
    v->open |= 1ULL << bank;
    v->column_at[bank] = since_base(v, at + cfg->rcd);
    v->row_at[bank] = since_base(v, at + cfg->ras);
    c->bank[bank].activate_at = at + cfg->rc;
    v->activate_from = at + cfg->rrd;
    pw_dram_queue_open(&c->queue, c->served, bank, row);
    c->resting->outdated |= 1ULL << bank;
}

/* After a column access the bank's row must stay open until `at`. */
static void hold_row(struct pw_dram_view *v, uint32_t bank, uint64_t at)
{
    int32_t until = since_base(v, at);
    v->row_at[bank] = v->row_at[bank] > until ? v->row_at[bank] : until;
}

static void read_done(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_dram_channel *c = object;
    c->in_flight--;
    c->wiring.read_done(c->wiring.client, (struct pw_request *)(uintptr_t)argument, now);
}

static void count_column(struct pw_dram_counters *n, bool walk, bool write, const struct pw_dram_burst *b, uint32_t use)
{
    *(write ? &n->write_bytes : &n->read_bytes) += b->bytes;
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
    if (__builtin_expect(!c->look.open, 1))
        pw_events_post(c->wiring.events, done, read_done, c, (uintptr_t)r);
    else if (!pw_dram_look_keep(&c->look, r, done))
        pw_events_out_of_memory(c->wiring.events);
    if (c->wiring.read_scheduled)
        c->wiring.read_scheduled(c->wiring.client, r);
}

/* What became of a request that has entered a queue. */
struct entrance {
    uint32_t bank;
    bool hit;          /* its row is open */
    bool turned, seen; /* the channel has changed sides; the policy can see a difference */
};

struct location {
    uint32_t bank, row;
    bool open; /* the row */
};

static inline struct location locate(const struct pw_dram_channel *c, uint32_t line)
{
    uint32_t stripe = line >> c->line_bits, row = stripe >> c->bank_bits;
    uint32_t hash = row ^ row >> c->bank_bits ^ row >> 2 * c->bank_bits;
    uint32_t bank = (stripe ^ hash) & c->bank_mask;
    return (struct location){bank, row, (c->view.open >> bank & 1) && c->bank[bank].row == row};
}

/* Puts a request into a queue that has a place for it, at core cycle `now`. */
static inline __attribute__((always_inline)) struct entrance
enter(struct pw_dram_channel *c, const struct pw_dram_arrival *a, unsigned queue, pw_cycle now)
{
    bool write = queue == PW_DRAM_WRITES;
    struct location at = locate(c, a->line);
    assert(c->count[queue] < c->limit[queue]);
    c->count[queue]++;
    c->inside[write]++;
    uint64_t rank = write ? 0 : queue;
    struct pw_dram_entry entry = {rank << PW_DRAM_RANK_SHIFT | c->next_age | a->app, now, a->r};
    c->next_age += 1 << PW_DRAM_APP_BITS;
    bool first = pw_dram_queue_add(&c->queue, &c->queue.side[write], at.bank, at.row, at.open, entry);
    bool turned = update_side(c), visible = write == c->view.write || c->closes_rows;
    return (struct entrance){at.bank, at.open, turned, turned || (first && visible)};
}

/* A place of a queue has been taken or has become free, or the first that comes for one is another. */
static inline void expect(struct pw_dram_channel *c, unsigned queue)
{
    c->due[queue] = c->count[queue] == c->limit[queue] ? PW_NEVER : pw_dram_arrivals_next(&c->arrivals[queue]);
    uint64_t next = c->due[PW_DRAM_WRITES];
    for (unsigned rank = 0; rank < c->ranks; rank++)
        next = pw_dram_earlier(next, c->due[rank]);
    c->next_arrival = next;
}

/* A request has left a full queue at clock `at`; the first that has waited for a place, if any, takes it. */
static void admit(struct pw_dram_channel *c, unsigned queue, uint64_t at)
{
    struct pw_dram_arrivals *sent = &c->arrivals[queue];
    if (pw_dram_arrivals_next(sent) <= at)
        enter(c, pw_dram_arrivals_take(sent), queue, pw_dram_clock_begin(&c->clock, at));
    expect(c, queue);
}

static void issue_column(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    const struct pw_dram_config *cfg = &c->config;
    bool write = c->view.write;
    const struct pw_dram_entry *e = pw_dram_take_hit(&c->queue, c->served, bank);
    struct pw_request *r = e->r;
    assert(r);
    const struct pw_dram_burst *b = &c->burst[r->sectors & 15];
    if (__builtin_expect(c->watched, 0))
        pw_dram_watch(c, write ? PW_DRAM_WRITE : PW_DRAM_READ, bank, at, e);
    struct pw_dram_counters *n = &c->wiring.counters[r->app];
    count_column(n, r->kind == PW_REQUEST_WALK, write, b, c->bank[bank].first_use);
    c->bank[bank].first_use = PW_ROW_HIT;
    unsigned queue = write ? PW_DRAM_WRITES : pw_dram_rank_of(e->age);
    c->inside[write]--;
    c->count[queue]--;
    uint64_t next = at + b->span + c->step;
    c->column_from[write] = c->view.column_from = next;
    if (write) {
        uint64_t end = at + cfg->wl + b->data;
        c->column_from[0] = pw_dram_later(next, end + cfg->wtr);
        hold_row(&c->view, bank, end + cfg->wr);
        n->writes++;
        c->drained++;
        update_side(c);
        c->wiring.write_done(c->wiring.client, r, pw_dram_clock_begin(&c->clock, at));
    } else {
        uint64_t end = at + cfg->cl + b->data;
        c->column_from[1] = pw_dram_later(next, end > cfg->wl ? end - cfg->wl : 0);
        hold_row(&c->view, bank, at + b->span + cfg->rtp);
        c->owed -= c->owed > 0;
        update_side(c);
        finish_read(c, e, n, end);
    }
    if (c->count[queue] + 1 == c->limit[queue])
        admit(c, queue, at);
}

/* Carries out what was chosen and chooses for the next clock to be looked at. */
static void carry_out(struct pw_dram_channel *c)
{
    uint64_t at = c->choice.at;
    uint32_t bank = c->choice.bank;
    c->view.now = at + 1;
    if (c->choice.action == PW_DRAM_COLUMN)
        issue_column(c, bank, at);
    else if (c->choice.action == PW_DRAM_WAIT)
        c->view.now = at;
    else if (c->view.open >> bank & 1)
        precharge(c, bank, at);
    else
        activate(c, bank, at);
    choose(c);
}

/* A request that a policy can see has come at clock `now` and may go before what was chosen. */
static void reconsider(struct pw_dram_channel *c, uint64_t now, const struct entrance *e)
{
    struct pw_dram_view *v = &c->view;
    v->now = pw_dram_later(v->now, now);
    uint64_t at = e->turned ? v->now : e->hit ? pw_dram_column_at(v, e->bank) : pw_dram_row_at(v, e->bank);
    c->choice.action = PW_DRAM_WAIT;
    c->choice.at = pw_dram_earlier(at, c->choice.at);
}

/* The next request that is due arrives. */
static void arrive(struct pw_dram_channel *c)
{
    unsigned queue = 0;
    while (queue < c->ranks && c->due[queue] != c->next_arrival)
        queue++;
    if (queue == c->ranks)
        queue = PW_DRAM_WRITES;
    const struct pw_dram_arrival *a = pw_dram_arrivals_take(&c->arrivals[queue]);
    struct entrance e = enter(c, a, queue, a->cycle);
    expect(c, queue);
    if (e.seen)
        reconsider(c, a->clock, &e);
}

/* Simulates all that happens before clock `limit`. */
static void advance(struct pw_dram_channel *c, uint64_t limit)
{
    for (;;) {
        uint64_t arrival = c->next_arrival;
        if (arrival <= c->choice.at) {
            if (arrival >= limit)
                return;
            arrive(c);
        } else {
            if (c->choice.at >= limit)
                return;
            carry_out(c);
        }
    }
}

static void simulate(void *object, uint64_t argument, pw_cycle now);

/* Whether the next arrival finds the channel at rest and must have its row opened, and no other is known. */
static bool comes_alone_to_a_closed_row(const struct pw_dram_channel *c)
{
    const struct pw_dram_arrival *next = NULL;
    for (unsigned queue = 0; queue < PW_DRAM_QUEUES; queue++) {
        const struct pw_dram_arrivals *sent = &c->arrivals[queue];
        if (sent->count + (next != NULL) > 1)
            return false;
        if (sent->count)
            next = &sent->ring[sent->first];
    }
    return c->choice.at == PW_NEVER && next && !locate(c, next->line).open;
}

/* The first clock at which a request that has arrived could have its column access. */
static uint64_t chosen_column(const struct pw_dram_channel *c)
{
    return c->choice.at + (c->choice.action == PW_DRAM_ROW && !c->served->seen.hits ? c->config.rcd : 0);
}

/* The same for any read, by what is known, or was before a look: a request that comes after it is not alone. */
static uint64_t next_column(const struct pw_dram_channel *c)
{
    const struct pw_dram_look *l = &c->look;
    uint64_t next = l->open ? pw_dram_earlier(l->column, l->arrival) : chosen_column(c);
    if (!l->open && c->next_arrival < next)
        next = c->next_arrival + (comes_alone_to_a_closed_row(c) ? c->config.rcd : 0);
    return next == PW_NEVER ? next : pw_dram_later(next, l->open ? l->column_from : c->column_from[0]);
}

/* Has the channel simulated again by the time at which the next read could have its data. */
static void await_data(struct pw_dram_channel *c)
{
    uint64_t next = next_column(c);
    if (next == PW_NEVER)
        return;
    pw_cycle at = pw_dram_clock_begin(&c->clock, next + c->to_data), now = c->wiring.events->now;
    if (at >= c->wake)
        return;
    c->wake = at > now ? at : now; /* over, if the one that came alone has since been followed by another */
    pw_events_post(c->wiring.events, c->wake, simulate, c, 0);
}

__attribute__((noinline, cold)) static void end_look(struct pw_dram_channel *c)
{
    struct pw_dram_look *l = &c->look;
    for (size_t i = 0; i < l->count; i++)
        pw_events_post(c->wiring.events, l->kept[i].done, read_done, c, (uintptr_t)l->kept[i].request);
    l->count = 0;
    l->open = false;
}

static void simulate(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_dram_channel *c = object;
    if (now != c->wake) /* an earlier one has taken its place */
        return;
    c->wake = PW_NEVER;
    if (__builtin_expect(c->look.open, 0))
        end_look(c);
    advance(c, pw_dram_clock_first(&c->clock, now + c->within_cycle));
    await_data(c);
}

static void begin_look(struct pw_dram_channel *c)
{
    struct pw_dram_look *l = &c->look;
    l->open = true;
    l->column = chosen_column(c);
    l->column_from = c->column_from[0];
    l->arrival = c->next_arrival;
    l->full = 0;
    for (unsigned queue = 0; queue < PW_DRAM_QUEUES; queue++)
        l->full |= (unsigned)(c->count[queue] == c->limit[queue]) << queue;
}

void pw_dram_bring_up_to_date(struct pw_dram_channel *c, pw_cycle now)
{
    uint64_t limit = pw_dram_clock_first(&c->clock, now);
    if (pw_dram_earlier(c->next_arrival, c->choice.at) >= limit)
        return;
    if (!c->look.open)
        begin_look(c);
    advance(c, limit);
}

void pw_dram_choose_again(struct pw_dram_channel *c, pw_cycle now)
{
    if (c->choice.at == PW_NEVER)
        return;
    uint64_t clock = pw_dram_later(c->view.now, pw_dram_clock_first(&c->clock, now));
    c->choice = (struct pw_dram_choice){PW_DRAM_WAIT, 0, pw_dram_earlier(c->choice.at, clock)};
    c->look.column = pw_dram_earlier(c->look.column, c->choice.at);
    await_data(c);
}

void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle at)
{
    unsigned queue = PW_DRAM_WRITES;
    if (r->kind != PW_REQUEST_WRITEBACK)
        queue = c->policy->rank ? c->policy->rank(c->policy_state, r->app, r->level) : 0;
    assert(r->sectors & 15 && queue < PW_DRAM_QUEUES);
    struct pw_dram_arrival a = {pw_dram_clock_first(&c->clock, at), at, r, local_line, r->app};
    if (!pw_dram_arrivals_add(&c->arrivals[queue], &a))
        pw_events_out_of_memory(c->wiring.events);
    else if (a.clock < c->due[queue] && c->count[queue] < c->limit[queue])
        expect(c, queue);
    if (__builtin_expect(c->look.open, 0) && !(c->look.full >> queue & 1))
        c->look.arrival = pw_dram_earlier(c->look.arrival, a.clock);
    if (at < c->wake)
        await_data(c);
}
