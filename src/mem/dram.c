/* One DRAM channel: queues, banks and the issue of commands.
 *
 * Structure. Reads and writes wait on two sides; on each side every bank has a list of requests for its open row and a
 * list of the others, so that a policy looks at no more than two requests per bank and never at the queue. An
 * activation moves what it makes a hit, a precharge takes left-over hits back. A bit per bank says which lists hold
 * something.
 *
 * Time. After each command the policy is asked what comes next and when, and one event is posted for that clock. The
 * answer is kept: unless an arrival has changed what the policy could see, it is carried out when the event runs. An
 * arrival that could go earlier posts an earlier event; the one it replaces is recognised by its clock and does
 * nothing. Commands whose clocks begin in the same core cycle issue in one event.
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

enum { BANK_BITS = 6 };

/* Banks in the order of a time each of them waits for, at most one entry per bank: a ring of (time, bank). */
struct agenda {
    uint64_t entry[PW_DRAM_MAX_BANKS];
    uint32_t head, count;
};

struct pw_dram_channel {
    struct pw_dram_view view;
    struct pw_dram_choice choice;
    bool stale;                              /* the choice must be made again before it is carried out */
    bool issuing;                            /* inside the issue loop, which chooses again by itself */
    uint64_t wake;                           /* clock of the event that counts, or PW_NEVER */
    struct agenda columns, rows;             /* the banks that are not in the view's sets */
    uint64_t activate_at[PW_DRAM_MAX_BANKS]; /* RC after the bank's last activation */
    uint32_t row[PW_DRAM_MAX_BANKS];         /* the open one, or the last */
    uint8_t first_use[PW_DRAM_MAX_BANKS];    /* what the next column access counts as */
    uint64_t column_from[2];                 /* by side: 0 reads, 1 writes */
    uint32_t count[2], limit[2];
    uint32_t rank_count[PW_DRAM_RANKS], rank_limit[PW_DRAM_RANKS];
    uint32_t group;         /* writes, or reads after them, in one turn while both wait */
    uint32_t drained, owed; /* writes issued in this turn; reads still due before the next turn of writes */
    uint64_t in_flight, arrivals;
    struct pw_dram_clock clock;
    struct burst burst[16];
    uint32_t step; /* clocks between two column commands */
    uint32_t line_bits, bank_bits;
    const struct pw_dram_policy *policy;
    void *policy_state;
    struct pw_dram_config config;
    struct pw_dram_wiring wiring;
    struct pw_dram_side side[2];
};

static bool is_write(const struct pw_request *r)
{
    return r->kind == PW_REQUEST_WRITEBACK;
}

/* Which side is served: writes from the high mark on, or when there is nothing to read, until there is something to
 * read and the low mark is reached. Where writes arrive as fast as they leave, the low mark never is; so a turn of
 * writing ends after as many writes as lie between the marks, and that many reads have the next turn. */
static bool update_side(struct pw_dram_channel *c)
{
    bool write = c->view.write;
    if (!write)
        write = c->count[1] && (!c->count[0] || (c->count[1] >= c->config.write_high && !c->owed));
    else if (c->count[0])
        write = c->count[1] > c->config.write_low && c->drained < c->group;
    else
        write = c->count[1];
    bool changed = write != c->view.write;
    if (changed) {
        c->owed = c->drained >= c->group ? c->group : 0;
        c->drained = 0;
    }
    c->view.write = write;
    c->view.side = &c->side[write];
    c->view.column_from = c->column_from[write];
    return changed;
}

static void trace(struct pw_dram_channel *c, enum pw_dram_command_kind kind, uint32_t bank, uint64_t at,
                  const struct pw_request *r)
{
    if (__builtin_expect(c->wiring.trace != NULL, 0)) {
        struct pw_dram_command command = {kind, bank, c->row[bank], at, r};
        c->wiring.trace(c->wiring.client, &command);
    }
}

static void agenda_add(struct agenda *a, uint64_t at, uint32_t bank)
{
    uint64_t entry = at << BANK_BITS | bank;
    uint32_t place = a->head + a->count++;
    for (; place != a->head && a->entry[(place - 1) % PW_DRAM_MAX_BANKS] > entry; place--)
        a->entry[place % PW_DRAM_MAX_BANKS] = a->entry[(place - 1) % PW_DRAM_MAX_BANKS];
    a->entry[place % PW_DRAM_MAX_BANKS] = entry;
}

static uint64_t agenda_next(const struct agenda *a)
{
    return a->count ? a->entry[a->head % PW_DRAM_MAX_BANKS] >> BANK_BITS : PW_NEVER;
}

static uint32_t agenda_take(struct agenda *a)
{
    a->count--;
    return a->entry[a->head++ % PW_DRAM_MAX_BANKS] % PW_DRAM_MAX_BANKS;
}

/* The bank's next row command may not issue before `at`, which lies ahead and not before what was said last. */
static void hold_row(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    v->row_at[bank] = at;
    if (v->rows >> bank & 1) {
        v->rows &= ~(1ULL << bank);
        agenda_add(&c->rows, at, bank);
        v->rows_next = agenda_next(&c->rows);
    }
}

static void precharge(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    assert(v->row_at[bank] <= at);
    trace(c, PW_DRAM_PRECHARGE, bank, at, NULL);
    v->open &= ~(1ULL << bank);
    v->columns &= ~(1ULL << bank);
    hold_row(c, bank, pw_dram_later(at + c->config.rp, c->activate_at[bank]));
    c->first_use[bank] = ROW_CONFLICT;
    pw_dram_merge_hits(&c->side[0], bank);
    pw_dram_merge_hits(&c->side[1], bank);
}

static void activate(struct pw_dram_channel *c, uint32_t bank, uint64_t at)
{
    struct pw_dram_view *v = &c->view;
    const struct pw_dram_config *cfg = &c->config;
    assert(v->side->others >> bank & 1 && v->row_at[bank] <= at && v->activate_from <= at);
    uint32_t row = v->side->queue[bank].other->row;
    c->row[bank] = row;
    trace(c, PW_DRAM_ACTIVATE, bank, at, NULL);
    v->open |= 1ULL << bank;
    v->column_at[bank] = at + cfg->rcd;
    agenda_add(&c->columns, at + cfg->rcd, bank);
    v->columns_next = agenda_next(&c->columns);
    hold_row(c, bank, at + cfg->ras);
    c->activate_at[bank] = at + cfg->rc;
    v->activate_from = at + cfg->rrd;
    pw_dram_split_hits(&c->side[0], bank, row);
    pw_dram_split_hits(&c->side[1], bank, row);
}

/* Brings the sets of banks whose times have come up to the present. */
static void catch_up(struct pw_dram_channel *c)
{
    struct pw_dram_view *v = &c->view;
    while (v->now >= v->columns_next) {
        v->columns |= 1ULL << agenda_take(&c->columns);
        v->columns_next = agenda_next(&c->columns);
    }
    while (v->now >= v->rows_next) {
        uint32_t bank = agenda_take(&c->rows);
        if (v->row_at[bank] > v->now)
            agenda_add(&c->rows, v->row_at[bank], bank);
        else
            v->rows |= 1ULL << bank;
        v->rows_next = agenda_next(&c->rows);
    }
}

static struct pw_dram_choice choose(struct pw_dram_channel *c)
{
    catch_up(c);
    struct pw_dram_choice choice = c->policy->choose(c->policy_state, &c->view);
    assert(choice.action != PW_DRAM_WAIT || choice.at > c->view.now);
    return choice;
}

static void read_done(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_dram_channel *c = object;
    c->in_flight--;
    c->wiring.read_done(c->wiring.client, (struct pw_request *)(uintptr_t)argument, now);
}

static void count_column(struct pw_dram_channel *c, const struct pw_request *r, const struct burst *b, uint32_t use)
{
    struct pw_dram_counters *n = &c->wiring.counters[r->app];
    n->bytes += b->bytes;
    n->busy_clocks += b->busy;
    n->row_hits += use == ROW_HIT;
    n->row_misses += use == ROW_MISS;
    n->row_conflicts += use == ROW_CONFLICT;
    if (r->kind == PW_REQUEST_WALK)
        n->translation_bytes += b->bytes;
    else
        n->data_bytes += b->bytes;
}

static void finish_read(struct pw_dram_channel *c, struct pw_request *r, uint64_t end)
{
    struct pw_dram_counters *n = &c->wiring.counters[r->app];
    pw_cycle done = pw_dram_clock_begin(&c->clock, end);
    n->reads++;
    if (r->kind == PW_REQUEST_WALK) {
        n->translation_reads++;
        n->translation_latency += done - r->queued;
    } else {
        n->data_reads++;
        n->data_latency += done - r->queued;
    }
    c->rank_count[r->age >> PW_DRAM_RANK_SHIFT]--;
    c->in_flight++;
    pw_events_post(c->wiring.events, done, read_done, c, (uintptr_t)r);
    if (c->wiring.read_scheduled)
        c->wiring.read_scheduled(c->wiring.client, r);
}

static void issue_column(struct pw_dram_channel *c, uint32_t bank, uint64_t at, pw_cycle now)
{
    struct pw_dram_view *v = &c->view;
    assert(v->side->hits >> bank & 1 && v->column_at[bank] <= at && v->column_from <= at);
    const struct pw_dram_config *cfg = &c->config;
    bool write = v->write;
    struct pw_request *r = pw_dram_take_hit(&c->side[write], bank);
    const struct burst *b = &c->burst[r->sectors & 15];
    trace(c, write ? PW_DRAM_WRITE : PW_DRAM_READ, bank, at, r);
    count_column(c, r, b, c->first_use[bank]);
    c->first_use[bank] = ROW_HIT;
    c->count[write]--;
    uint64_t next = at + b->span + c->step;
    c->column_from[write] = next;
    if (write) {
        uint64_t end = at + cfg->wl + b->data;
        c->column_from[0] = pw_dram_later(next, end + cfg->wtr);
        hold_row(c, bank, pw_dram_later(v->row_at[bank], end + cfg->wr));
        c->wiring.counters[r->app].writes++;
        c->drained++;
        update_side(c);
        c->wiring.write_done(c->wiring.client, r, now);
    } else {
        uint64_t end = at + cfg->cl + b->data;
        c->column_from[1] = pw_dram_later(next, end > cfg->wl ? end - cfg->wl : 0);
        hold_row(c, bank, pw_dram_later(v->row_at[bank], at + b->span + cfg->rtp));
        c->owed -= c->owed > 0;
        update_side(c);
        finish_read(c, r, end);
    }
    c->wiring.space(c->wiring.client, write, now);
}

static void wake_at(struct pw_dram_channel *c, uint64_t at);

static void issue(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_dram_channel *c = object;
    if (argument != c->wake)
        return;
    c->wake = PW_NEVER;
    c->issuing = true;
    struct pw_dram_view *v = &c->view;
    v->now = pw_dram_later(v->now, argument);
    uint64_t last = pw_dram_clock_first(&c->clock, now + 1) - 1;
    struct pw_dram_choice next = c->choice;
    for (bool ask = c->stale;; ask = true) {
        if (ask)
            next = choose(c);
        if (next.at > last)
            break;
        v->now = next.at + (next.action != PW_DRAM_WAIT);
        if (next.action == PW_DRAM_COLUMN)
            issue_column(c, next.bank, next.at, now);
        else if (next.action == PW_DRAM_ROW && v->open >> next.bank & 1)
            precharge(c, next.bank, next.at);
        else if (next.action == PW_DRAM_ROW)
            activate(c, next.bank, next.at);
    }
    c->choice = next;
    c->stale = false;
    c->issuing = false;
    wake_at(c, next.at);
}

/* Sees to it that an event runs at this clock or before; PW_NEVER needs none. */
static void wake_at(struct pw_dram_channel *c, uint64_t at)
{
    if (at < c->wake) {
        c->wake = at;
        pw_events_post(c->wiring.events, pw_dram_clock_begin(&c->clock, at), issue, c, at);
    }
}

bool pw_dram_has_space(const struct pw_dram_channel *c, bool write)
{
    bool space = c->count[write] < c->limit[write];
    for (unsigned i = 0; i < PW_DRAM_RANKS && !write; i++)
        space &= c->rank_count[i] < c->rank_limit[i];
    return space;
}

static void locate(const struct pw_dram_channel *c, uint32_t local_line, struct pw_request *r)
{
    uint32_t stripe = local_line >> c->line_bits;
    uint32_t row = stripe >> c->bank_bits;
    uint32_t hash = row ^ row >> c->bank_bits ^ row >> 2 * c->bank_bits;
    r->row = row;
    r->bank = (uint8_t)((stripe ^ hash) & (c->config.banks - 1));
}

void pw_dram_submit(struct pw_dram_channel *c, struct pw_request *r, uint32_t local_line, pw_cycle now)
{
    assert(r->sectors & 15);
    bool write = is_write(r);
    struct pw_dram_view *v = &c->view;
    struct pw_dram_side *side = &c->side[write];
    unsigned rank = c->policy->rank ? c->policy->rank(c->policy_state, r) : 0;
    locate(c, local_line, r);
    uint32_t bank = r->bank;
    struct pw_dram_bank_queue *q = &side->queue[bank];
    r->queued = now;
    r->age = (uint64_t)rank << PW_DRAM_RANK_SHIFT | c->arrivals++;
    c->rank_count[rank] += !write;
    assert(c->count[write] < c->limit[write]);
    c->count[write]++;
    v->now = pw_dram_later(v->now, pw_dram_clock_first(&c->clock, now));

    bool hit = (v->open >> bank & 1) && c->row[bank] == r->row;
    bool first;
    if (hit) {
        first = pw_dram_insert_ordered(&q->hit, &q->hit_last, r);
        side->hits |= 1ULL << bank;
        side->hit_age[bank] = q->hit->age;
    } else {
        first = pw_dram_insert_ordered(&q->other, &q->other_last, r);
        side->others |= 1ULL << bank;
        side->other_age[bank] = q->other->age;
    }
    bool turned = update_side(c);
    if (turned || (first && write == v->write)) {
        c->stale = true;
        if (!c->issuing)
            wake_at(c, turned ? v->now : hit ? pw_dram_column_at(v, bank) : pw_dram_row_at(v, bank));
    }
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
    if (!c->policy_state) {
        free(c);
        return pw_fail_memory(err, "the state of a DRAM schedule");
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
    for (unsigned i = 0; i < config->banks; i++)
        c->first_use[i] = ROW_MISS;
    c->view.rows = UINT64_MAX;
    c->view.columns_next = c->view.rows_next = PW_NEVER;
    c->view.side = &c->side[0];
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
    free(c->policy_state);
    free(c);
}
