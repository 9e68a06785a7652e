/* Random traffic through a DRAM channel, under every schedule, against two naive models.
 *
 * The first ticks clock by clock, scans the whole queue for the policy's choice, lets requests wait before a full one,
 * and knows the timings only as distances
 * between recorded commands; the channel must issue the same commands at the same clocks. The second replays what a
 * saturated channel issued and checks every pair of commands against the data sheet's rules. */
#include "dram_fixture.h"
#include "policies.h"

#include "sim/random.h"

#include <limits.h>

enum { TICK_REQUESTS = 400, REPLAY_REQUESTS = 3000, NAIVE_HISTORY = 128, APPS = 3 };

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

static uint64_t pick(struct pw_random *random, uint64_t first, uint64_t last)
{
    return first + pw_random_below(random, last - first + 1);
}

static struct pw_dram_config random_config(struct pw_random *random)
{
    struct pw_dram_config c = pw_random_below(random, 2) ? dram_default_config() : dram_hbm2_config();
    c.banks = 1U << pick(random, 0, 4);
    c.row_bytes = 128ULL << pick(random, 1, 5);
    c.burst_bytes = c.bytes_per_clock << pick(random, 0, 2);
    c.rcd = (uint32_t)pick(random, 1, 20);
    c.ras = c.rcd + (uint32_t)pick(random, 0, 30);
    c.rp = (uint32_t)pick(random, 1, 20);
    c.rc = c.ras + (uint32_t)pick(random, 0, 30);
    c.rrd = (uint32_t)pick(random, 1, 12);
    c.ccd = (uint32_t)pick(random, 1, 6);
    c.cl = (uint32_t)pick(random, 1, 20);
    c.wl = (uint32_t)pick(random, 1, 10);
    c.wr = (uint32_t)pick(random, 1, 20);
    c.wtr = (uint32_t)pick(random, 1, 10);
    c.rtp = (uint32_t)pick(random, 1, 10);
    c.write_high = (uint32_t)pick(random, 2, 20);
    c.write_low = (uint32_t)pick(random, 0, c.write_high - 1);
    unsigned schedule = (unsigned)pw_random_below(random, policy_count(&pw_dram_family));
    c.schedule = policy_choice(&pw_dram_family, pw_dram_family.policies[schedule]->name);
    c.rows = (uint32_t)pw_random_below(random, 2);
    return c;
}

struct naive_pressure {
    struct pw_walk_pressure of[APPS];
};

static void set_pressure(void *object, uint64_t argument, pw_cycle now)
{
    (void)now;
    struct dram_fixture *f = object;
    memcpy(f->pressure, (const void *)(uintptr_t)argument, sizeof(struct naive_pressure));
}

/* `pressure`: NULL, or how it is from when each request is sent. */
static void random_traffic(struct dram_fixture *f, struct pw_random *random, unsigned count, uint64_t gap,
                           struct naive_pressure *pressure)
{
    uint32_t lines = (uint32_t)pick(random, 1, 4000);
    uint64_t writes = pick(random, 0, 60), near = pick(random, 0, 100), walks = pick(random, 0, 40);
    uint32_t line = 0;
    pw_cycle time = 0;
    for (unsigned i = 0; i < count; i++) {
        bool write = pw_random_below(random, 100) < writes;
        line = pw_random_below(random, 100) < near ? line + 1 : (uint32_t)pw_random_below(random, lines);
        if (pressure)
            pw_events_post(f->events, time, set_pressure, f, (uintptr_t)&pressure[i]);
        bool walk = !write && pw_random_below(random, 100) < walks;
        struct dram_item *item = dram_add(f, write ? WRITE : walk ? PW_REQUEST_WALK : READ, line, time);
        item->r.sectors = (uint8_t)pick(random, 1, 15);
        item->r.level = walk ? (unsigned)pick(random, 1, 4) & 7U : 0;
        item->r.app = (pw_asid)pw_random_below(random, APPS);
        time += pw_random_below(random, gap + 1) * (pw_random_below(random, 50) ? 1 : 40);
    }
}

static uint32_t bursts_of(const struct pw_dram_config *c, const struct pw_request *r)
{
    uint32_t bytes = (uint32_t)__builtin_popcount(r->sectors) * 32;
    return (bytes + c->burst_bytes - 1) / c->burst_bytes;
}

/* How many clocks after `a` command `b` may issue, by the rules for these two alone. */
static uint64_t distance(const struct pw_dram_config *c, const struct pw_dram_command *a,
                         const struct pw_dram_command *b)
{
    bool same = a->bank == b->bank, column = b->kind == PW_DRAM_READ || b->kind == PW_DRAM_WRITE;
    uint64_t burst = c->burst_bytes / c->bytes_per_clock, step = burst > c->ccd ? burst : c->ccd;
    uint64_t bursts = a->r ? bursts_of(c, a->r) : 0, last = a->r ? (bursts - 1) * step : 0;
    switch (a->kind) {
    case PW_DRAM_PRECHARGE:
        return same && b->kind == PW_DRAM_ACTIVATE ? c->rp : 1;
    case PW_DRAM_ACTIVATE:
        if (b->kind == PW_DRAM_ACTIVATE)
            return same && c->rc > c->rrd ? c->rc : c->rrd;
        return !same ? 1 : b->kind == PW_DRAM_PRECHARGE ? c->ras : c->rcd;
    case PW_DRAM_READ:
        if (b->kind == PW_DRAM_WRITE) {
            int64_t turn = (int64_t)(c->cl + last + burst) - (int64_t)c->wl;
            return turn > (int64_t)(last + step) ? (uint64_t)turn : last + step;
        }
        return column ? last + step : same && b->kind == PW_DRAM_PRECHARGE ? last + c->rtp : 1;
    case PW_DRAM_WRITE:
        if (b->kind == PW_DRAM_READ) {
            uint64_t turn = c->wl + last + burst + c->wtr;
            return turn > last + step ? turn : last + step;
        }
        return column ? last + step : same && b->kind == PW_DRAM_PRECHARGE ? c->wl + last + burst + c->wr : 1;
    }
    return 1;
}

/* What the naive model knows of the schedule. Ranks: of the address-space-aware one, Golden, Silver and Normal; of all
 * others everything is Normal, and so are writes. */
enum { GOLDEN, SILVER, NORMAL, WRITES = PW_DRAM_RANKS, QUEUES };

struct naive_schedule {
    bool first_come, in_turn, ranked;
    uint64_t silver_max;
};

struct naive {
    struct pw_dram_config config;
    struct dram_item **waiting; /* in the queues, in the order in which they entered */
    size_t waiting_count;
    struct dram_item **before; /* those that have found their queue full, in order of arrival */
    size_t before_count;
    const struct dram_fixture *fixture;
    struct naive_schedule schedule;
    unsigned rank[TICK_REQUESTS];            /* of all items */
    uint32_t inside[QUEUES], places[QUEUES]; /* of the queues: of each rank, and of writes */
    pw_asid last[PW_DRAM_RANKS];             /* application a row was last opened for, by rank */
    bool open[PW_DRAM_MAX_BANKS];
    uint32_t row[PW_DRAM_MAX_BANKS];
    struct pw_dram_command history[NAIVE_HISTORY]; /* the last commands, a ring */
    uint64_t issued;
    bool write;
    uint32_t drained, owed;
};

static bool is_write(const struct dram_item *i)
{
    return i->r.kind == PW_REQUEST_WRITEBACK;
}

static unsigned rank_of(const struct naive *n, const struct dram_item *i)
{
    return n->rank[i - n->fixture->items];
}

static unsigned queue_of(const struct naive *n, const struct dram_item *i)
{
    return is_write(i) ? WRITES : rank_of(n, i);
}

static void naive_turn(struct naive *n)
{
    uint32_t count[2] = {0, 0}, group = n->config.write_high - n->config.write_low;
    bool urgent = false;
    for (size_t i = 0; i < n->waiting_count; i++) {
        count[is_write(n->waiting[i])]++;
        urgent |= !is_write(n->waiting[i]) && rank_of(n, n->waiting[i]) == GOLDEN;
    }
    bool write = n->write;
    if (n->write && (!count[1] || (count[0] && (count[1] <= n->config.write_low || n->drained >= group || urgent))))
        write = false;
    else if (!n->write && count[1] && (!count[0] || (count[1] >= n->config.write_high && !n->owed && !urgent)))
        write = true;
    if (write != n->write) {
        n->owed = n->drained >= group ? group : 0;
        n->drained = 0;
    }
    n->write = write;
}

static bool naive_may_issue(const struct naive *n, struct pw_dram_command *command)
{
    for (uint64_t back = 1; back <= NAIVE_HISTORY && back <= n->issued; back++) {
        const struct pw_dram_command *earlier = &n->history[(n->issued - back) % NAIVE_HISTORY];
        if (command->clock < earlier->clock + distance(&n->config, earlier, command))
            return false;
    }
    return true;
}

/* The command a request needs next. */
static struct pw_dram_command naive_need(const struct naive *n, const struct dram_item *i, uint64_t clock)
{
    uint32_t b = i->bank;
    if (n->open[b] && n->row[b] == i->row)
        return (struct pw_dram_command){is_write(i) ? PW_DRAM_WRITE : PW_DRAM_READ, b, i->row, clock, &i->r};
    if (n->open[b])
        return (struct pw_dram_command){PW_DRAM_PRECHARGE, b, n->row[b], clock, NULL};
    return (struct pw_dram_command){PW_DRAM_ACTIVATE, b, i->row, clock, NULL};
}

/* Whether a request of the side being served, or of either, waits for the bank's open row. */
static bool naive_has_hit(const struct naive *n, uint32_t bank, bool either)
{
    for (size_t i = 0; i < n->waiting_count; i++) {
        const struct dram_item *w = n->waiting[i];
        if ((either || is_write(w) == n->write) && w->bank == bank && n->open[bank] && n->row[bank] == w->row)
            return true;
    }
    return false;
}

static bool naive_close(const struct naive *n, uint64_t clock, struct pw_dram_command *out)
{
    for (uint32_t b = 0; b < n->config.banks && n->config.rows == PW_DRAM_ROWS_CLOSED; b++) {
        *out = (struct pw_dram_command){PW_DRAM_PRECHARGE, b, n->row[b], clock, NULL};
        if (n->open[b] && !naive_has_hit(n, b, true) && naive_may_issue(n, out))
            return true;
    }
    return false;
}

static bool naive_at_rest(const struct naive *n)
{
    bool open = false;
    for (uint32_t b = 0; b < n->config.banks; b++)
        open |= n->open[b];
    return !n->waiting_count && (!open || n->config.rows == PW_DRAM_ROWS_OPEN);
}

/* Whether a request must leave the open row alone that it wants to be closed: others wait for it that go before it, or
 * are of its rank. Golden reads yield only to older ones. */
static bool naive_must_not_close(const struct naive *n, size_t index)
{
    const struct dram_item *item = n->waiting[index];
    for (size_t i = 0; i < n->waiting_count; i++) {
        const struct dram_item *w = n->waiting[i];
        if (is_write(w) != n->write || w->bank != item->bank || n->row[w->bank] != w->row)
            continue;
        if (rank_of(n, w) < rank_of(n, item) || (rank_of(n, w) == rank_of(n, item) && (rank_of(n, w) || i < index)))
            return true;
    }
    return false;
}

/* Whether a request of the same row and bank stands before it because of its rank. */
static bool naive_is_behind(const struct naive *n, const struct dram_item *item)
{
    for (size_t i = 0; i < n->waiting_count; i++) {
        const struct dram_item *w = n->waiting[i];
        if (is_write(w) == n->write && w->bank == item->bank && w->row == item->row && rank_of(n, w) < rank_of(n, item))
            return true;
    }
    return false;
}

/* The place of a request whose row hit goes next, of one rank; the count of all where none does. */
static size_t naive_column(const struct naive *n, unsigned rank, uint64_t clock, struct pw_dram_command *out)
{
    for (size_t i = 0; i < n->waiting_count; i++) {
        const struct dram_item *item = n->waiting[i];
        if (is_write(item) != n->write || rank_of(n, item) != rank)
            continue;
        *out = naive_need(n, item, clock);
        if (out->r && !naive_is_behind(n, item) && naive_may_issue(n, out))
            return i;
        if (rank == GOLDEN)
            break; /* first in, first out */
    }
    return n->waiting_count;
}

/* The same for a row command. Applications take turns over the banks' oldest requests. */
static size_t naive_row(const struct naive *n, unsigned rank, uint64_t clock, struct pw_dram_command *out)
{
    size_t best = n->waiting_count;
    unsigned fewest = UINT_MAX;
    uint64_t seen = 0; /* banks whose oldest request for another row was looked at */
    for (size_t i = 0; i < n->waiting_count; i++) {
        const struct dram_item *item = n->waiting[i];
        if (is_write(item) != n->write || rank_of(n, item) != rank)
            continue;
        struct pw_dram_command command = naive_need(n, item, clock);
        if (command.r || seen >> item->bank & 1)
            continue;
        seen |= 1ULL << item->bank;
        if ((command.kind == PW_DRAM_PRECHARGE && naive_must_not_close(n, i)) || !naive_may_issue(n, &command))
            continue;
        unsigned steps = 0;
        if (n->schedule.in_turn && rank != GOLDEN)
            for (pw_asid app = (pw_asid)(n->last[rank] + 1); app != item->r.app; app++)
                steps++;
        if (steps >= fewest)
            continue;
        fewest = steps;
        best = i;
        *out = command;
    }
    return best;
}

static bool naive_choose(struct naive *n, uint64_t clock, struct pw_dram_command *out)
{
    for (size_t i = 0; i < n->waiting_count && n->schedule.first_come; i++)
        if (is_write(n->waiting[i]) == n->write) {
            *out = naive_need(n, n->waiting[i], clock);
            return naive_may_issue(n, out);
        }
    for (unsigned rank = n->write ? NORMAL : GOLDEN; rank <= NORMAL; rank++) {
        size_t which = naive_column(n, rank, clock, out);
        if (which == n->waiting_count)
            which = naive_row(n, rank, clock, out);
        if (which == n->waiting_count)
            continue;
        if (out->kind == PW_DRAM_ACTIVATE)
            n->last[rank] = n->waiting[which]->r.app;
        return true;
    }
    return false;
}

static void naive_enter(struct naive *n, struct dram_item *i)
{
    n->waiting[n->waiting_count++] = i;
    n->inside[queue_of(n, i)]++;
    naive_turn(n);
}

static void naive_arrive(struct naive *n, struct dram_item *i)
{
    if (n->inside[queue_of(n, i)] == n->places[queue_of(n, i)])
        n->before[n->before_count++] = i;
    else
        naive_enter(n, i);
}

static void naive_admit(struct naive *n, unsigned queue)
{
    for (size_t i = 0; i < n->before_count; i++) {
        struct dram_item *first = n->before[i];
        if (queue_of(n, first) != queue)
            continue;
        memmove(&n->before[i], &n->before[i + 1], (n->before_count - i - 1) * sizeof(n->before[0]));
        n->before_count--;
        naive_enter(n, first);
        return;
    }
}

static void naive_issue(struct naive *n, const struct pw_dram_command *command)
{
    n->history[n->issued++ % NAIVE_HISTORY] = *command;
    n->open[command->bank] = command->kind != PW_DRAM_PRECHARGE;
    if (command->kind == PW_DRAM_ACTIVATE)
        n->row[command->bank] = command->row;
    if (!command->r)
        return;
    size_t at = 0;
    while (&n->waiting[at]->r != command->r)
        at++;
    unsigned queue = queue_of(n, n->waiting[at]);
    memmove(&n->waiting[at], &n->waiting[at + 1], (n->waiting_count - at - 1) * sizeof(n->waiting[0]));
    n->waiting_count--;
    n->inside[queue]--;
    if (n->write)
        n->drained++;
    else
        n->owed -= n->owed > 0;
    naive_turn(n);
    naive_admit(n, queue);
}

/* What arrives by core cycle `now`: reads before writes, and of those the first rank first. */
static void naive_arrivals(struct naive *n, struct dram_fixture *f, size_t *next, pw_cycle now)
{
    size_t first = *next;
    while (*next < f->item_count && f->items[*next].arrival <= now)
        ++*next;
    for (unsigned queue = 0; queue < QUEUES; queue++)
        for (size_t i = first; i < *next; i++)
            if (queue_of(n, &f->items[i]) == queue)
                naive_arrive(n, &f->items[i]);
}

/* The core cycle at which a read has its last data, and a write has been sent. */
static pw_cycle naive_done(const struct naive *n, const struct pw_dram_command *command, uint32_t core_mhz)
{
    const struct pw_dram_config *c = &n->config;
    uint64_t burst = c->burst_bytes / c->bytes_per_clock, step = burst > c->ccd ? burst : c->ccd;
    uint64_t data = (bursts_of(c, command->r) - 1) * step + burst;
    uint64_t clock = command->clock + (command->kind == PW_DRAM_READ ? c->cl + data : 0);
    return (clock * core_mhz + c->clock_mhz - 1) / c->clock_mhz;
}

/* Whether an application has its turn, and for how many reads, by the pressure of that moment. */
static uint64_t naive_quota(const struct naive_schedule *schedule, const struct naive_pressure *p, unsigned app)
{
    uint64_t product[APPS], sum = 0;
    for (unsigned i = 0; i < APPS; i++) {
        uint64_t walks = p->of[i].walks > 63 ? 63 : p->of[i].walks, stalled = p->of[i].stalled;
        product[i] = walks * (stalled > 63 ? 63 : stalled);
        sum += product[i];
    }
    uint64_t quota = sum ? schedule->silver_max * product[app] / sum : schedule->silver_max / APPS;
    return quota || (sum && !product[app]) ? quota : 1;
}

/* The ranks of all requests, in the order in which they were sent, and the places of queues. */
static void naive_rank(struct naive *n, const struct naive_pressure *pressure)
{
    const struct dram_fixture *f = n->fixture;
    unsigned turn = 0;
    uint64_t left = 0;
    for (size_t i = 0; i < f->item_count; i++) {
        const struct pw_request *r = &f->items[i].r;
        n->rank[i] = NORMAL;
        if (is_write(&f->items[i]) || !n->schedule.ranked)
            continue;
        if (r->level) {
            n->rank[i] = GOLDEN;
            continue;
        }
        if (n->schedule.silver_max && !left) /* the very first */
            while (!(left = naive_quota(&n->schedule, &pressure[i], turn)))
                turn++;
        if (!left || r->app != turn)
            continue;
        n->rank[i] = SILVER;
        if (--left == 0)
            do
                turn = (turn + 1) % APPS;
            while (!(left = naive_quota(&n->schedule, &pressure[i], turn)));
    }
    const uint32_t ranked[] = {16, 64,
                               192}; /* mask-sec74-golden-size, mask-sec74-silver-size, mask-sec74-normal-size */
    for (unsigned rank = GOLDEN; rank <= NORMAL; rank++)
        n->places[rank] = n->schedule.ranked ? ranked[rank] : n->config.read_queue;
    n->places[WRITES] = n->config.write_queue;
}

static void compare_with_ticking(struct dram_fixture *f, uint32_t core_mhz, struct naive_schedule schedule,
                                 const struct naive_pressure *pressure)
{
    struct naive n = {.config = f->config, .fixture = f, .schedule = schedule};
    memset(n.last, 0xff, sizeof n.last);
    naive_rank(&n, pressure);
    n.waiting = calloc(f->item_count, sizeof(n.waiting[0]));
    n.before = calloc(f->item_count, sizeof(n.before[0]));
    size_t next = 0, seen = 0;
    for (uint64_t clock = 0; next < f->item_count || !naive_at_rest(&n); clock++) {
        pw_cycle begin = (clock * core_mhz + f->config.clock_mhz - 1) / f->config.clock_mhz;
        naive_arrivals(&n, f, &next, begin);
        struct pw_dram_command expected;
        if (!naive_choose(&n, clock, &expected) && !naive_close(&n, clock, &expected))
            continue;
        assert_true(seen < f->command_count);
        const struct pw_dram_command *got = &f->commands[seen++];
        assert_int_equal(got->clock, expected.clock);
        assert_int_equal(got->kind, expected.kind);
        assert_int_equal(got->bank, expected.bank);
        assert_int_equal(got->row, expected.row);
        assert_ptr_equal(got->r, expected.r);
        if (got->r)
            assert_int_equal(dram_item_of(got->r)->done, naive_done(&n, &expected, core_mhz));
        naive_issue(&n, &expected);
    }
    assert_int_equal(seen, f->command_count);
    free(n.waiting);
    free(n.before);
}

/* Pressure that changes now and then, just before a request is sent. */
static void random_pressure(struct pw_random *random, struct naive_pressure *out)
{
    static const uint32_t most[] = {0, 2, 64, 200};
    for (size_t i = 0; i < TICK_REQUESTS; i++) {
        bool changes = i == 0 || pw_random_below(random, 30) == 0;
        for (unsigned app = 0; app < APPS; app++)
            out[i].of[app] =
                changes ? (struct pw_walk_pressure){(uint32_t)pick(random, 0, most[pw_random_below(random, 4)]),
                                                    (uint32_t)pick(random, 0, most[pw_random_below(random, 4)])}
                        : out[i - 1].of[app];
    }
}

static struct naive_schedule random_schedule(struct pw_random *random, struct pw_dram_config *c)
{
    static const char *const silver[] = {"0", "1", "2", "20", "500"};
    const char *name = pw_policy_chosen(&pw_dram_family, &c->schedule)->name;
    struct naive_schedule s = {.first_come = !strcmp(name, "fcfs"),
                               .in_turn = !strcmp(name, "fr-rr"),
                               .ranked = !strcmp(name, "address-space")};
    if (!s.ranked)
        return s;
    const char *most = silver[pw_random_below(random, 5)];
    s.silver_max = (uint64_t)atoi(most);
    s.in_turn = pw_random_below(random, 2);
    policy_set(&pw_dram_family, &c->schedule, "silver_max", most);
    policy_set(&pw_dram_family, &c->schedule, "within", s.in_turn ? "fr-rr" : "fr-fcfs");
    return s;
}

/* mask-sec54-golden, mask-sec54-golden-fifo, mask-sec54-priority, mask-sec54-frfcfs, mask-sec54-turns */
static void commands_are_those_of_a_model_that_ticks(void **state)
{
    (void)state;
    static struct naive_pressure pressure[TICK_REQUESTS];
    for (uint64_t seed = 0; seed < 240; seed++) {
        struct pw_random random;
        pw_random_init(&random, seed, "dram");
        struct pw_dram_config c = random_config(&random);
        c.read_queue = seed % 2 ? TICK_REQUESTS : (uint32_t)pick(&random, 1, 30);
        c.write_queue = seed % 3 ? TICK_REQUESTS : (uint32_t)pick(&random, c.write_high, 30);
        struct naive_schedule schedule = random_schedule(&random, &c);
        /* Of a very slow core a read begins and ends within a cycle. */
        uint32_t core_mhz = (uint32_t)(seed % 5 ? pick(&random, 500, 2000) : pick(&random, 10, 100));
        struct dram_fixture *f = dram_fixture_for(c, core_mhz, NULL, 0, APPS);
        random_pressure(&random, pressure);
        random_traffic(f, &random, TICK_REQUESTS, pick(&random, 0, seed % 5 ? 25 : 3), pressure);
        dram_run(f);
        compare_with_ticking(f, core_mhz, schedule, pressure);
        dram_fixture_destroy(f);
    }
}

static void check_rules(struct dram_fixture *f, uint32_t core_mhz)
{
    bool open[PW_DRAM_MAX_BANKS] = {false};
    uint32_t row[PW_DRAM_MAX_BANKS] = {0};
    uint64_t bus_free = 0, burst = f->config.burst_bytes / f->config.bytes_per_clock;
    uint64_t step = burst > f->config.ccd ? burst : f->config.ccd;
    for (size_t i = 0; i < f->command_count; i++) {
        const struct pw_dram_command *b = &f->commands[i];
        for (size_t j = i < NAIVE_HISTORY ? 0 : i - NAIVE_HISTORY; j < i; j++)
            assert_true(b->clock >= f->commands[j].clock + distance(&f->config, &f->commands[j], b));
        assert_int_equal(open[b->bank], b->kind != PW_DRAM_ACTIVATE);
        assert_true(b->kind == PW_DRAM_ACTIVATE || row[b->bank] == b->row);
        open[b->bank] = b->kind != PW_DRAM_PRECHARGE;
        row[b->bank] = b->row;
        if (!b->r)
            continue;
        const struct dram_item *item = dram_item_of(b->r);
        assert_int_equal(item->bank, b->bank);
        assert_int_equal(item->row, b->row);
        uint64_t data = b->clock + (b->kind == PW_DRAM_READ ? f->config.cl : f->config.wl);
        assert_true(data >= bus_free);
        bus_free = data + (bursts_of(&f->config, b->r) - 1) * step + burst;
        uint64_t end = b->kind == PW_DRAM_READ ? bus_free : b->clock;
        pw_cycle done = (end * core_mhz + f->config.clock_mhz - 1) / f->config.clock_mhz;
        assert_int_equal(item->done, done);
    }
}

static void a_saturated_channel_keeps_every_rule(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct pw_random random;
        pw_random_init(&random, seed, "dram saturated");
        struct pw_dram_config c = random_config(&random);
        c.read_queue = (uint32_t)pick(&random, 1, 80);
        uint32_t core_mhz = (uint32_t)pick(&random, 500, 2000);
        struct dram_fixture *f = dram_fixture_for(c, core_mhz, NULL, 0, APPS);
        random_traffic(f, &random, REPLAY_REQUESTS, pick(&random, 0, 3), NULL);
        dram_run(f);
        check_rules(f, core_mhz);
        dram_fixture_destroy(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_those_of_a_model_that_ticks),
        cmocka_unit_test(a_saturated_channel_keeps_every_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
