/* Random traffic through a DRAM channel against two naive models.
 *
 * The first ticks clock by clock, scans the whole queue for the policy's choice, lets requests wait before a full one,
 * and knows the timings only as distances
 * between recorded commands; the channel must issue the same commands at the same clocks. The second replays what a
 * saturated channel issued and checks every pair of commands against the data sheet's rules. */
#include "dram_fixture.h"

#include "sim/random.h"

enum { TICK_REQUESTS = 400, REPLAY_REQUESTS = 3000, NAIVE_HISTORY = 128 };

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
    c.schedule.index = (uint32_t)pw_random_below(random, 2);
    c.rows = (uint32_t)pw_random_below(random, 2);
    return c;
}

static void random_traffic(struct dram_fixture *f, struct pw_random *random, unsigned count, uint64_t gap)
{
    uint32_t lines = (uint32_t)pick(random, 1, 4000);
    uint64_t writes = pick(random, 0, 60), near = pick(random, 0, 100);
    uint32_t line = 0;
    pw_cycle time = 0;
    for (unsigned i = 0; i < count; i++) {
        bool write = pw_random_below(random, 100) < writes;
        line = pw_random_below(random, 100) < near ? line + 1 : (uint32_t)pw_random_below(random, lines);
        struct dram_item *item = dram_add(f, write ? PW_REQUEST_WRITEBACK : PW_REQUEST_READ, line, time);
        item->r.sectors = (uint8_t)pick(random, 1, 15);
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

struct naive {
    struct pw_dram_config config;
    struct dram_item **waiting; /* in the queues, in the order in which they entered */
    size_t waiting_count;
    struct dram_item **before; /* those that have found their queue full, in order of arrival */
    size_t before_count;
    uint32_t inside[2]; /* by side: 0 reads, 1 writes */
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

static void naive_turn(struct naive *n)
{
    uint32_t count[2] = {0, 0}, group = n->config.write_high - n->config.write_low;
    for (size_t i = 0; i < n->waiting_count; i++)
        count[is_write(n->waiting[i])]++;
    bool write = n->write;
    if (n->write && (!count[1] || (count[0] && (count[1] <= n->config.write_low || n->drained >= group))))
        write = false;
    else if (!n->write && count[1] && (!count[0] || (count[1] >= n->config.write_high && !n->owed)))
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

static bool naive_choose(const struct naive *n, uint64_t clock, struct pw_dram_command *out)
{
    bool first_come = n->config.schedule.index == 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n->waiting_count; i++) {
            if (is_write(n->waiting[i]) != n->write)
                continue;
            *out = naive_need(n, n->waiting[i], clock);
            if (first_come)
                return naive_may_issue(n, out);
            if (pass == 0 && !out->r)
                continue;
            if (pass == 1 && (out->r || (out->kind == PW_DRAM_PRECHARGE && naive_has_hit(n, out->bank, false))))
                continue;
            if (naive_may_issue(n, out))
                return true;
        }
    }
    return false;
}

static void naive_enter(struct naive *n, struct dram_item *i)
{
    n->waiting[n->waiting_count++] = i;
    n->inside[is_write(i)]++;
    naive_turn(n);
}

static void naive_arrive(struct naive *n, struct dram_item *i)
{
    uint32_t places = is_write(i) ? n->config.write_queue : n->config.read_queue;
    if (n->inside[is_write(i)] == places)
        n->before[n->before_count++] = i;
    else
        naive_enter(n, i);
}

static void naive_admit(struct naive *n, bool write)
{
    for (size_t i = 0; i < n->before_count; i++) {
        struct dram_item *first = n->before[i];
        if (is_write(first) != write)
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
    memmove(&n->waiting[at], &n->waiting[at + 1], (n->waiting_count - at - 1) * sizeof(n->waiting[0]));
    n->waiting_count--;
    bool write = n->write;
    n->inside[write]--;
    if (write)
        n->drained++;
    else
        n->owed -= n->owed > 0;
    naive_turn(n);
    naive_admit(n, write);
}

/* What arrives by core cycle `now`: reads before writes. */
static void naive_arrivals(struct naive *n, struct dram_fixture *f, size_t *next, pw_cycle now)
{
    size_t first = *next;
    while (*next < f->item_count && f->items[*next].arrival <= now)
        ++*next;
    for (int write = 0; write < 2; write++)
        for (size_t i = first; i < *next; i++)
            if (is_write(&f->items[i]) == write)
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

static void compare_with_ticking(struct dram_fixture *f, uint32_t core_mhz)
{
    struct naive n = {.config = f->config};
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

static void commands_are_those_of_a_model_that_ticks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct pw_random random;
        pw_random_init(&random, seed, "dram");
        struct pw_dram_config c = random_config(&random);
        c.read_queue = seed % 2 ? TICK_REQUESTS : (uint32_t)pick(&random, 1, 30);
        c.write_queue = seed % 3 ? TICK_REQUESTS : (uint32_t)pick(&random, c.write_high, 30);
        /* Of a very slow core a read begins and ends within a cycle. */
        uint32_t core_mhz = (uint32_t)(seed % 5 ? pick(&random, 500, 2000) : pick(&random, 10, 100));
        struct dram_fixture *f = dram_fixture_create(c, core_mhz, NULL);
        random_traffic(f, &random, TICK_REQUESTS, pick(&random, 0, seed % 5 ? 25 : 3));
        dram_run(f);
        compare_with_ticking(f, core_mhz);
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
        struct dram_fixture *f = dram_fixture_create(c, core_mhz, NULL);
        random_traffic(f, &random, REPLAY_REQUESTS, pick(&random, 0, 3));
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
