/* Exact clocks of the address-space-aware schedule: when Golden, Silver and Normal reads get their commands beside each
 * other, beside full queues and amid a turn of writes; and of the schedule that gives applications turns. */
#include "memory_fixture.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

enum { NORMAL_APP, SILVER_APP, APPS };
enum { GOLDEN, SILVER, NORMAL };

static struct pw_dram_config config_with(const char *schedule)
{
    struct pw_dram_config c = dram_default_config();
    c.schedule = policy_choice(&pw_dram_family, schedule);
    return c;
}

/* Core cycle and DRAM clock are the same. Only SILVER_APP has walks, so every turn in Silver is its own. */
static struct dram_fixture *in_clocks(struct pw_dram_config c)
{
    struct dram_fixture *f = dram_fixture_for(c, c.clock_mhz, NULL, 0, APPS);
    f->pressure[SILVER_APP] = (struct pw_walk_pressure){1, 1};
    return f;
}

/* A read of rank `rank` under the fixture's pressure. */
static struct dram_item *add(struct dram_fixture *f, unsigned rank, uint32_t bank, uint32_t row, uint32_t column,
                             pw_cycle at)
{
    struct dram_item *item =
        dram_add(f, rank == GOLDEN ? PW_REQUEST_WALK : READ, dram_line_at(&f->config, bank, row, column), at);
    item->r.level = rank == GOLDEN ? 4 : 0;
    item->r.app = rank == SILVER ? SILVER_APP : NORMAL_APP;
    return item;
}

/* The clock of the `number`th command of a kind, counted from 0. */
static uint64_t command_clock(const struct dram_fixture *f, enum pw_dram_command_kind kind, unsigned number)
{
    for (size_t i = 0; i < f->command_count; i++)
        if (f->commands[i].kind == kind && !number--)
            return f->commands[i].clock;
    fail_msg("there are not so many commands of kind %u", kind);
    return 0;
}

/* That of a read's column access. */
static uint64_t column_clock(const struct dram_item *i, const struct pw_dram_config *c)
{
    return i->done - c->cl - dram_line_clocks(c);
}

static void run_until(struct dram_fixture *f, pw_cycle time)
{
    bool stop = false;
    pw_events_run(f->events, time, &stop);
    pw_dram_bring_up_to_date(f->channel, time);
}

enum { HITS = 16 };

/* The clock at which bank 0 is closed, in whose row HITS reads of rank `waiting` wait from clock 0 on, for a read of
 * rank `comes` that wants another row and arrives at `arrival`; checks what follows. */
static uint64_t closing_clock(const char *schedule, unsigned waiting, unsigned comes, pw_cycle arrival)
{
    struct pw_dram_config c = config_with(schedule);
    struct dram_fixture *f = in_clocks(c);
    for (uint32_t i = 0; i < HITS; i++)
        add(f, waiting, 0, 1, i, 0);
    struct dram_item *read = add(f, comes, 0, 2, 0, arrival);
    dram_run(f);
    uint64_t clock = command_clock(f, PW_DRAM_PRECHARGE, 0);
    assert_int_equal(column_clock(read, &c), clock + c.rp + c.rcd);
    dram_fixture_destroy(f);
    return clock;
}

/* A higher rank closes the row as soon as the timings allow, in a clock in which a hit could have gone; an equal or
 * lower one when no hit is left. mask-sec54-priority, mask-sec54-golden, mask-sec54-frfcfs */
static void a_higher_rank_closes_a_row_that_others_wait_for(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    uint32_t line = dram_line_clocks(&c), burst = c.burst_bytes / c.bytes_per_clock;
    assert_int_equal(line - burst + c.rtp, line); /* it could be closed when the next hit could go */
    uint64_t t = c.rcd + (c.ras - c.rcd + line - 1) / line * line, last = c.rcd + HITS * line;
    static const unsigned pairs[][2] = {{NORMAL, GOLDEN}, {SILVER, GOLDEN}, {NORMAL, SILVER}};
    for (unsigned i = 0; i < 3; i++) {
        unsigned waiting = pairs[i][0], comes = pairs[i][1];
        assert_int_equal(closing_clock("address-space", waiting, comes, 1), t);
        assert_int_equal(closing_clock("address-space", waiting, comes, t - 1), t);
        assert_int_equal(closing_clock("address-space", waiting, comes, t), t);
        assert_int_equal(closing_clock("address-space", waiting, comes, t + 1), t + line);
        assert_int_equal(closing_clock("fr-fcfs", waiting, comes, 1), last);
        if (comes == SILVER) /* and the other way round */
            assert_int_equal(closing_clock("address-space", comes, waiting, 1), last);
    }
    assert_int_equal(closing_clock("address-space", SILVER, SILVER, 1), last);
    assert_int_equal(closing_clock("address-space", NORMAL, NORMAL, 1), last);
}

/* One command a clock: the walk's activation goes before the third row hit, or behind it if it comes too late. */
static void the_row_command_of_a_walk_goes_before_a_row_hit(void **state)
{
    (void)state;
    struct pw_dram_config c = config_with("address-space");
    uint32_t line = dram_line_clocks(&c);
    uint64_t third = c.rcd + 2 * line;
    for (uint64_t arrival = third - 1; arrival <= third + 1; arrival++) {
        struct dram_fixture *f = in_clocks(c);
        for (uint32_t i = 0; i < 4; i++)
            add(f, NORMAL, 0, 1, i, 0);
        struct dram_item *walk = add(f, GOLDEN, 1, 1, 0, arrival);
        dram_run(f);
        assert_int_equal(command_clock(f, PW_DRAM_ACTIVATE, 1), arrival);
        assert_int_equal(command_clock(f, PW_DRAM_READ, 2), third + (arrival == third));
        assert_int_equal(column_clock(walk, &c), arrival + c.rcd);
        dram_fixture_destroy(f);
    }
}

/* Two walks, the second to an open row: it waits for the first, and data of a third row does not. With fr-fcfs it goes
 * at once. mask-sec54-golden-fifo */
static void a_walk_does_not_pass_another_because_its_row_is_open(void **state)
{
    (void)state;
    static const char *const schedules[] = {"address-space", "fr-fcfs"};
    for (unsigned i = 0; i < 2; i++) {
        struct pw_dram_config c = config_with(schedules[i]);
        struct dram_fixture *f = in_clocks(c);
        add(f, NORMAL, 1, 0, 0, 0);
        add(f, NORMAL, 2, 0, 0, 0);
        pw_cycle at = 200;
        struct dram_item *first = add(f, GOLDEN, 0, 5, 0, at), *second = add(f, GOLDEN, 1, 0, 1, at + 1);
        struct dram_item *data = add(f, NORMAL, 2, 0, 1, at + 2);
        dram_run(f);
        assert_int_equal(column_clock(first, &c), at + c.rcd);
        assert_int_equal(column_clock(second, &c), i ? at + 1 : at + c.rcd + dram_line_clocks(&c));
        assert_int_equal(column_clock(data, &c), i ? at + 1 + dram_line_clocks(&c) : at + 2);
        dram_fixture_destroy(f);
    }
}

static void a_walk_has_its_row_opened_while_another_waits(void **state)
{
    (void)state;
    struct pw_dram_config c = config_with("address-space");
    struct dram_fixture *f = in_clocks(c);
    struct dram_item *first = add(f, GOLDEN, 0, 5, 0, 0), *second = add(f, GOLDEN, 1, 5, 0, 1);
    dram_run(f);
    assert_int_equal(column_clock(first, &c), c.rcd);
    assert_int_equal(column_clock(second, &c), c.rrd + c.rcd);
    const struct pw_policy_metric *m = f->schedule.policy->metrics;
    while (strcmp(m->name, "golden_cycles") != 0)
        m++;
    uint64_t cycles = *(const uint64_t *)((const char *)f->schedule.counters + m->offset);
    assert_int_equal(cycles, c.rcd + (c.rrd + c.rcd - 1)); /* from entering the queue until the column access */
    dram_fixture_destroy(f);
}

/* mask-sec54-three-queues, mask-sec54-silver, mask-sec54-normal, mask-sec74-golden-size, mask-sec74-silver-size,
 * mask-sec74-normal-size */
static void each_queue_has_its_own_places(void **state)
{
    (void)state;
    static const uint32_t places[] = {16, 64, 192};
    struct pw_dram_config c = config_with("address-space");
    policy_set(&pw_dram_family, &c.schedule, "silver_max", "1000000");
    for (unsigned full = GOLDEN; full <= NORMAL; full++) { /* this one, before one read of each of the others comes */
        struct dram_fixture *f = in_clocks(c);
        for (uint32_t i = 0; i < places[full]; i++)
            add(f, full, i % c.banks, 1 + i / 16, i % 16, 0);
        run_until(f, 1);
        assert_int_equal(pw_dram_pending(f->channel), places[full]);
        assert_int_equal(pw_dram_waiting(f->channel), 0);
        for (unsigned rank = GOLDEN; rank <= NORMAL; rank++)
            add(f, rank, 0, 50 + rank, 0, 2);
        run_until(f, 3);
        assert_int_equal(pw_dram_pending(f->channel), places[full] + 2);
        assert_int_equal(pw_dram_waiting(f->channel), 1);
        dram_run(f);
        dram_fixture_destroy(f);
    }
}

/* Bank 0 is busy with a full queue of data, and more wait before it: when the walk's row is opened in bank 1. Its
 * column access is the first that the data bus allows after that. */
static pw_cycle walk_beside_full_queue(struct pw_dram_config c, pw_cycle arrival)
{
    struct dram_fixture *f = in_clocks(c);
    for (uint32_t i = 0; i < 192 + 20; i++)
        add(f, NORMAL, 0, 1 + i / 16, i % 16, 0);
    struct dram_item *walk = add(f, GOLDEN, 1, 0, 0, arrival);
    run_until(f, arrival + 1);
    assert_true(pw_dram_waiting(f->channel) >= 16);
    dram_run(f);
    uint64_t clock = command_clock(f, PW_DRAM_ACTIVATE, 1), own = clock + c.rcd, line = dram_line_clocks(&c);
    assert_int_equal(column_clock(walk, &c), c.rcd + (own - c.rcd + line - 1) / line * line);
    dram_fixture_destroy(f);
    return clock;
}

static void a_full_normal_queue_does_not_stop_a_walk(void **state)
{
    (void)state;
    struct pw_dram_config c = config_with("address-space");
    assert_int_equal(walk_beside_full_queue(c, 1), c.rrd);
    assert_int_equal(walk_beside_full_queue(c, c.rrd - 1), c.rrd);
    assert_int_equal(walk_beside_full_queue(c, c.rrd), c.rrd);
    assert_int_equal(walk_beside_full_queue(c, c.rrd + 1), c.rrd + 1);
}

/* Data for as many rows of one bank, which takes RAS + RP for each; a walk that comes while the queue is full, and
 * others wait before it, takes as long as in an idle memory. */
static void a_full_normal_queue_does_not_stop_a_walk_on_its_way_from_the_l2(void **state)
{
    (void)state;
    enum { DATA = 240 };
    struct pw_policy_choice schedule = policy_choice(&pw_dram_family, "address-space");
    policy_set(&pw_dram_family, &schedule, "silver_max", "0");
    struct memory_fixture *b = memory_fixture_with("always", NULL, 2 * DATA, false, schedule);
    const struct pw_dram_config *d = &b->config.dram;
    for (uint32_t i = 0; i < DATA; i++)
        memory_fixture_send(b, 0, dram_line_at(d, 0, 1 + i, 0), 1);
    bool stop = false;
    uint32_t period = d->ras + d->rp, to_queue = L2_PATH + L2_LATENCY + DRAM_PATH;
    assert_true(period > d->rc);
    pw_cycle sent =
        6 * period + d->rcd + dram_line_clocks(d) + 1; /* after a column access, before the next activation */
    pw_events_run(b->events, sent, &stop);
    b->events->now = sent;
    memory_fixture_send(b, 4, dram_line_at(d, 1, 0, 0), 1);
    const struct pw_dram_channel *channel = b->memory->channels[0].dram;
    pw_memory_bring_up_to_date(b->memory, sent);
    assert_int_equal(pw_dram_waiting(channel), DATA - 192 - 6); /* six have been served */
    pw_policies_end(&b->policies);                              /* its epochs never end by themselves */
    memory_fixture_run(b);
    assert_int_equal(b->took[DATA], to_queue + d->rcd + d->cl + dram_line_clocks(d));
    memory_fixture_destroy(b);
}

enum { TURN_WRITES = 40 };

/* Writes of one row, enough to begin another turn, and a read of rank `rank` that comes at `arrival`: the clock of its
 * column access; and how many writes went before. */
static uint64_t read_amid_writes(unsigned rank, pw_cycle arrival, unsigned *out_writes)
{
    struct pw_dram_config c = config_with("address-space");
    c.write_high = 8;
    c.write_low = 2;
    struct dram_fixture *f = in_clocks(c);
    for (uint32_t i = 0; i < TURN_WRITES; i++)
        dram_add(f, WRITE, dram_line_at(&c, 0, i / 16, i % 16), 0);
    add(f, rank, 1, 0, 0, arrival);
    dram_run(f);
    uint64_t clock = dram_first_read(f, out_writes);
    dram_fixture_destroy(f);
    return clock;
}

/* The k-th write goes at RCD + k lines. A walk that comes by the clock of the next one stops it; it then waits for WTR
 * after the last data, or for its own row. */
static void a_walk_ends_a_turn_of_writes_and_data_do_not(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    uint32_t line = dram_line_clocks(&c), group = 8 - 2;
    unsigned writes;
    for (uint32_t k = 0; k < 3; k++) {
        pw_cycle at = c.rcd + k * line, next = at + line;
        uint64_t after_data = at + c.wl + line + c.wtr;
        for (pw_cycle arrival = next - 1; arrival <= next + 1; arrival++) {
            uint64_t own = arrival + c.rcd, data = after_data + (arrival > next ? line : 0);
            assert_int_equal(read_amid_writes(GOLDEN, arrival, &writes), own > data ? own : data);
            assert_int_equal(writes, k + 1 + (arrival > next));
        }
        for (unsigned rank = SILVER; rank <= NORMAL; rank++) {
            read_amid_writes(rank, next, &writes);
            assert_int_equal(writes, group);
        }
    }
}

/* Of three reads of one bank, the first and third of one row: the place of each among the column accesses. */
static void order_of_three(unsigned rank, const char *within, size_t out_order[3])
{
    struct pw_dram_config c = config_with("address-space");
    policy_set(&pw_dram_family, &c.schedule, "within", within);
    struct dram_fixture *f = in_clocks(c);
    static const uint32_t rows[] = {4, 5, 4};
    for (uint32_t i = 0; i < 3; i++)
        add(f, rank, 2, rows[i], i, i);
    dram_run(f);
    size_t count = 0;
    for (size_t i = 0; i < f->command_count; i++)
        if (f->commands[i].r)
            out_order[count++] = (size_t)(dram_item_of(f->commands[i].r) - f->items);
    assert_int_equal(count, 3);
    dram_fixture_destroy(f);
}

/* mask-sec54-frfcfs, mask-sec54-golden-fifo */
static void a_row_hit_passes_in_silver_and_normal_but_not_in_golden(void **state)
{
    (void)state;
    for (unsigned rank = GOLDEN; rank <= NORMAL; rank++)
        for (unsigned i = 0; i < 2; i++) {
            size_t order[3];
            order_of_three(rank, i ? "fr-rr" : "fr-fcfs", order);
            assert_int_equal(order[0], 0);
            assert_int_equal(order[1], rank == GOLDEN ? 1 : 2);
        }
}

/* Reads of as many banks, all at clock 0, of these applications in this order: which bank's row is opened when. */
static void opened(struct pw_dram_config c, const pw_asid *apps, enum pw_request_kind kind, uint32_t out_banks[6])
{
    struct dram_fixture *f = in_clocks(c);
    for (uint32_t i = 0; i < 6; i++)
        dram_add(f, kind, dram_line_at(&c, i, 0, 0), 0)->r.app = apps[i];
    dram_run(f);
    for (unsigned i = 0, at = 0; i < 6; i++, at++) {
        while (f->commands[at].kind != PW_DRAM_ACTIVATE)
            at++;
        assert_int_equal(f->commands[at].clock, i * c.rrd);
        out_banks[i] = f->commands[at].bank;
    }
    dram_fixture_destroy(f);
}

static void rows_are_opened_for_applications_in_turn(void **state)
{
    (void)state;
    static const pw_asid apps[] = {0, 0, 0, 1, 0, 1};
    static const uint32_t by_age[] = {0, 1, 2, 3, 4, 5}, in_turn[] = {0, 3, 1, 5, 2, 4};
    uint32_t banks[6];
    for (unsigned write = 0; write < 2; write++) {
        enum pw_request_kind kind = write ? WRITE : READ;
        opened(config_with("fr-fcfs"), apps, kind, banks);
        assert_memory_equal(banks, by_age, sizeof banks);
        opened(config_with("fr-rr"), apps, kind, banks);
        assert_memory_equal(banks, in_turn, sizeof banks);
        struct pw_dram_config c = config_with("address-space");
        policy_set(&pw_dram_family, &c.schedule, "silver_max", "0");
        opened(c, apps, kind, banks);
        assert_memory_equal(banks, by_age, sizeof banks);
        policy_set(&pw_dram_family, &c.schedule, "within", "fr-rr");
        opened(c, apps, kind, banks);
        assert_memory_equal(banks, in_turn, sizeof banks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_higher_rank_closes_a_row_that_others_wait_for),
        cmocka_unit_test(the_row_command_of_a_walk_goes_before_a_row_hit),
        cmocka_unit_test(a_walk_does_not_pass_another_because_its_row_is_open),
        cmocka_unit_test(a_walk_has_its_row_opened_while_another_waits),
        cmocka_unit_test(each_queue_has_its_own_places),
        cmocka_unit_test(a_full_normal_queue_does_not_stop_a_walk),
        cmocka_unit_test(a_full_normal_queue_does_not_stop_a_walk_on_its_way_from_the_l2),
        cmocka_unit_test(a_walk_ends_a_turn_of_writes_and_data_do_not),
        cmocka_unit_test(a_row_hit_passes_in_silver_and_normal_but_not_in_golden),
        cmocka_unit_test(rows_are_opened_for_applications_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
