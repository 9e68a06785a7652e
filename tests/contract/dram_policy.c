/* What every DRAM schedule must keep, what tells the two apart, and that ranks carry a schedule with several queues. */
#include "dram_fixture.h"
#include "policies.h"

#include "sim/random.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

static struct pw_dram_config config_with(const char *schedule)
{
    struct pw_dram_config c = dram_default_config();
    c.schedule = policy_choice(&pw_dram_family, schedule);
    return c;
}

/* dram_run checks that each request comes back exactly once; here also that none waits beyond all measure. */
static void every_request_is_served_once_and_in_time(void **state)
{
    (void)state;
    enum { REQUESTS = 4000, MEAN_GAP = 60 };
    for (uint32_t schedule = 0; pw_dram_family.policies[schedule]; schedule++) {
        struct pw_dram_config c = dram_default_config();
        c.schedule.index = schedule;
        struct dram_fixture *f = dram_fixture_create(c, c.clock_mhz, NULL);
        struct pw_random random;
        pw_random_init(&random, schedule, "dram policy");
        pw_cycle time = 0;
        for (unsigned i = 0; i < REQUESTS; i++) {
            enum pw_request_kind kind = pw_random_below(&random, 4) ? READ : WRITE;
            dram_add(f, kind, (uint32_t)pw_random_below(&random, 3000), time);
            time += pw_random_below(&random, 2 * MEAN_GAP);
        }
        dram_run(f);
        /* No more than a full queue can be ahead of a read, each with its own row and turnaround. */
        uint64_t bound = (uint64_t)(c.read_queue + c.write_queue) * (c.rc + c.rp + c.wr + c.wl + c.wtr + c.cl);
        for (size_t i = 0; i < f->item_count; i++)
            if (f->items[i].r.kind == READ)
                assert_true(f->items[i].done - f->items[i].arrival < bound);
        dram_fixture_destroy(f);
    }
}

static void reads_are_served_while_writes_never_end(void **state)
{
    (void)state;
    for (uint32_t schedule = 0; pw_dram_family.policies[schedule]; schedule++) {
        struct pw_dram_config c = dram_default_config();
        c.schedule.index = schedule;
        struct dram_fixture *f = dram_fixture_create(c, c.clock_mhz, NULL);
        for (uint32_t i = 0; i < 5000; i++)
            dram_add(f, WRITE, i, 0);
        struct dram_item *read = dram_add(f, READ, 70000, 500);
        dram_run(f);
        assert_true(read->done < 5000);
        dram_fixture_destroy(f);
    }
}

/* Three reads of one bank, the first and third of one row. */
static void order_of_three(const char *schedule, size_t out_order[3])
{
    struct pw_dram_config c = config_with(schedule);
    struct dram_fixture *f = dram_fixture_create(c, c.clock_mhz, NULL);
    static const uint32_t rows[] = {4, 5, 4};
    for (uint32_t i = 0; i < 3; i++)
        dram_add(f, READ, dram_line_at(&c, 2, rows[i], i), i);
    dram_run(f);
    size_t count = 0;
    for (size_t i = 0; i < f->command_count; i++)
        if (f->commands[i].kind == PW_DRAM_READ)
            out_order[count++] = (size_t)((const struct dram_item *)(const void *)f->commands[i].r - f->items);
    assert_int_equal(count, 3);
    dram_fixture_destroy(f);
}

/* mosaic-tab1-dram-sched, mask-tab1-dram-sched */
static void fr_fcfs_lets_a_row_hit_pass_and_fcfs_does_not(void **state)
{
    (void)state;
    size_t order[3];
    order_of_three("fr-fcfs", order);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 1);
    order_of_three("fcfs", order);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(order[i], i);
}

static void fr_fcfs_opens_other_banks_meanwhile_and_fcfs_does_not(void **state)
{
    (void)state;
    pw_cycle end[2];
    static const char *const names[] = {"fr-fcfs", "fcfs"};
    struct pw_dram_config c = dram_default_config();
    for (size_t i = 0; i < 2; i++) {
        c = config_with(names[i]);
        struct dram_fixture *f = dram_fixture_create(c, c.clock_mhz, NULL);
        for (uint32_t bank = 0; bank < c.banks; bank++)
            dram_add(f, READ, dram_line_at(&c, bank, 0, 0), 0);
        dram_run(f);
        end[i] = f->events->now;
        dram_fixture_destroy(f);
    }
    uint32_t last = c.rcd + c.cl + dram_line_clocks(&c);
    assert_int_equal(end[0], (c.banks - 1) * c.rrd + last);
    /* The next activation follows the column access of the one before. */
    assert_int_equal(end[1], (c.banks - 1) * (c.rcd + 1) + last);
}

static void fcfs_never_reorders_column_accesses(void **state)
{
    (void)state;
    struct pw_dram_config c = config_with("fcfs");
    struct dram_fixture *f = dram_fixture_create(c, 1020, NULL);
    struct pw_random random;
    pw_random_init(&random, 1, "fcfs");
    for (unsigned i = 0; i < 3000; i++)
        dram_add(f, pw_random_below(&random, 3) ? READ : WRITE, (uint32_t)pw_random_below(&random, 500), i * 5);
    dram_run(f);
    const struct dram_item *last[2] = {f->items, f->items};
    for (size_t i = 0; i < f->command_count; i++) {
        if (!f->commands[i].r)
            continue;
        bool write = f->commands[i].kind == PW_DRAM_WRITE;
        const struct dram_item *item = dram_item_of(f->commands[i].r);
        assert_true(item >= last[write]);
        last[write] = item;
    }
    dram_fixture_destroy(f);
}

/* A schedule with two queues in a few lines: page-table reads before data, in two places of their own. It counts what
 * it ranks. */
enum { WALK_PLACES = 2 };

struct walks_first_counters {
    uint64_t ranked;
};

struct walks_first {
    struct walks_first_counters *counters;
};

static enum pw_status walks_first_init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct walks_first *w = state;
    const struct pw_dram_environment *environment = setup->environment;
    assert_null(w->counters);
    assert_int_equal(setup->apps, PW_MAX_APPS);
    assert_int_equal(environment->channel, 5);
    assert_int_equal(environment->read_queue, 4);
    w->counters = setup->counters;
    return PW_OK;
}

static unsigned walks_first_rank(void *state, pw_asid app, unsigned level)
{
    ((struct walks_first *)state)->counters[app].ranked++;
    return level ? 0 : 1;
}

static struct pw_dram_choice walks_first_choose(void *state, const struct pw_dram_view *v)
{
    return pw_dram_policy_of(policy_named(&pw_dram_family, "fcfs"))->choose(state, v);
}

#define WALKS_FIRST_HEAD                                                                                               \
    {                                                                                                                  \
        .name = "walks-first", .summary = "page-table reads before data", .state_bytes = sizeof(struct walks_first),   \
        .counters_bytes = sizeof(struct walks_first_counters), .init = walks_first_init                                \
    }

static const struct pw_dram_policy walks_first = {
    .head = WALKS_FIRST_HEAD, .entries = {WALK_PLACES, 0}, .rank = walks_first_rank, .choose = walks_first_choose};

static struct dram_fixture *create_ranked(struct pw_dram_config c, const struct pw_dram_policy *policy)
{
    return dram_fixture_with(c, c.clock_mhz, policy, 5);
}

static uint64_t ranked(const struct dram_fixture *f, unsigned app)
{
    return ((const struct walks_first_counters *)f->schedule.counters)[app].ranked;
}

static struct pw_dram_config four_reads(void)
{
    struct pw_dram_config c = dram_default_config();
    c.read_queue = 4;
    return c;
}

static struct dram_item *add_walk(struct dram_fixture *f, uint32_t bank, uint32_t row, uint32_t column, pw_cycle at)
{
    struct dram_item *walk = dram_add(f, PW_REQUEST_WALK, dram_line_at(&f->config, bank, row, column), at);
    walk->r.level = 4;
    return walk;
}

static void run_until(struct dram_fixture *f, pw_cycle time)
{
    bool stop = false;
    pw_events_run(f->events, time, &stop);
    pw_dram_bring_up_to_date(f->channel, time);
}

static void ranks_go_before_age(void **state)
{
    (void)state;
    struct pw_dram_config c = four_reads();
    struct dram_fixture *f = create_ranked(c, &walks_first);
    for (uint32_t i = 0; i < 8; i++)
        dram_add(f, READ, dram_line_at(&c, 0, 1 + i % 2, i), 0)->r.app = 1;
    struct dram_item *walk[] = {add_walk(f, 0, 3, 0, 1), add_walk(f, 0, 3, 1, 1)};
    dram_add(f, WRITE, 0, 1);
    run_until(f, 2);
    assert_int_equal(pw_dram_pending(f->channel), 4 + WALK_PLACES + 1);
    assert_int_equal(pw_dram_waiting(f->channel), 4);
    assert_int_equal(ranked(f, 0), 2); /* those that wait have been ranked too */
    assert_int_equal(ranked(f, 1), 8);
    dram_run(f);
    /* The row of the first data read was activated before the walks came; it goes back behind them. */
    for (size_t i = 0; i < 8; i++)
        assert_true(walk[1]->done < f->items[i].done && walk[0]->done < walk[1]->done);
    assert_int_equal(ranked(f, 0) + ranked(f, 1), 10); /* each once */
    dram_fixture_destroy(f);
}

/* When a walk is done that arrives at `arrival` in a channel whose queue of data has been full since clock 0. */
static pw_cycle walk_beside_full_queue(struct pw_dram_config c, pw_cycle arrival)
{
    struct dram_fixture *f = create_ranked(c, &walks_first);
    for (uint32_t i = 0; i < 20; i++)
        dram_add(f, READ, dram_line_at(&c, 0, 1, i), 0);
    struct dram_item *walk = add_walk(f, 1, 0, 0, arrival);
    dram_run(f);
    pw_cycle done = walk->done;
    assert_int_equal(ranked(f, 0), 21);
    assert_int_equal(f->counters[0].translation_latency, done - arrival); /* it was in its queue at once */
    dram_fixture_destroy(f);
    return done;
}

/* Its bank's activation comes RRD after the other's, and its column access is the next of the channel. */
static void a_full_rank_does_not_stop_another(void **state)
{
    (void)state;
    struct pw_dram_config c = four_reads();
    pw_cycle rest = c.rcd + c.cl + dram_line_clocks(&c);
    assert_int_equal(walk_beside_full_queue(c, 1), c.rrd + rest);
    assert_int_equal(walk_beside_full_queue(c, c.rrd - 1), c.rrd + rest);
    assert_int_equal(walk_beside_full_queue(c, c.rrd), c.rrd + rest);
    assert_int_equal(walk_beside_full_queue(c, c.rrd + 1), c.rrd + 1 + rest);
}

/* Three walks to as many banks, two places: the third has its place when the first has been read. */
static void a_rank_that_is_full_makes_its_own_wait(void **state)
{
    (void)state;
    struct pw_dram_config c = four_reads();
    struct dram_fixture *f = create_ranked(c, &walks_first);
    struct dram_item *walk[3];
    for (uint32_t i = 0; i < 3; i++)
        walk[i] = add_walk(f, i, 0, 0, i);
    struct dram_item *data = dram_add(f, READ, dram_line_at(&c, 3, 0, 0), 3);
    pw_cycle read = c.rcd, rest = c.rcd + c.cl + dram_line_clocks(&c);
    run_until(f, read - 1);
    assert_int_equal(pw_dram_waiting(f->channel), 1);
    run_until(f, read + 1);
    assert_int_equal(pw_dram_waiting(f->channel), 0);
    dram_run(f);
    /* fcfs: the next activation follows the column access of the one before. */
    assert_int_equal(walk[0]->done, rest);
    assert_int_equal(walk[1]->done, c.rcd + 1 + rest);
    assert_int_equal(walk[2]->done, 2 * (c.rcd + 1) + rest);
    assert_int_equal(data->done, 3 * (c.rcd + 1) + rest);
    assert_int_equal(f->counters[0].translation_latency,
                     walk[0]->done + (walk[1]->done - 1) + (walk[2]->done - read)); /* in a queue */
    dram_fixture_destroy(f);
}

static const struct pw_dram_policy walks_end_turns = {.head = WALKS_FIRST_HEAD,
                                                      .entries = {WALK_PLACES, 0},
                                                      .ends_write_turn = 1 << 0,
                                                      .rank = walks_first_rank,
                                                      .choose = walks_first_choose};

enum { TURN_WRITES = 40 };

/* Writes of one row, enough to begin another turn, and a read of `kind` that comes at `arrival`: the clock of its
 * column access; and how many writes went before. */
static uint64_t read_amid_writes(const struct pw_dram_policy *policy, enum pw_request_kind kind, pw_cycle arrival,
                                 unsigned *out_writes)
{
    struct pw_dram_config c = four_reads();
    c.write_high = 8;
    c.write_low = 2;
    struct dram_fixture *f = create_ranked(c, policy);
    for (uint32_t i = 0; i < TURN_WRITES; i++)
        dram_add(f, WRITE, dram_line_at(&c, 0, i / 16, i % 16), 0);
    dram_add(f, kind, dram_line_at(&c, 1, 0, 0), arrival)->r.level = kind == PW_REQUEST_WALK ? 4 : 0;
    dram_add(f, WRITE, dram_line_at(&c, 2, 0, 0), arrival + 1); /* must not begin a turn */
    dram_run(f);
    uint64_t clock = dram_first_read(f, out_writes);
    dram_fixture_destroy(f);
    return clock;
}

/* The k-th write goes at RCD + k lines; a read behind it waits for WTR after its last data, or for its own row. */
static void a_rank_may_end_a_turn_of_writes(void **state)
{
    (void)state;
    struct pw_dram_config c = four_reads();
    uint32_t line = dram_line_clocks(&c), group = 8 - 2;
    unsigned writes;
    for (uint32_t k = 0; k < 3; k++) {
        pw_cycle at = c.rcd + k * line; /* of the k-th write */
        uint64_t after_data = at + c.wl + line + c.wtr, expected[] = {at + 1 + c.rcd, at + line - 1 + c.rcd};
        assert_int_equal(read_amid_writes(&walks_end_turns, PW_REQUEST_WALK, at + 1, &writes),
                         expected[0] > after_data ? expected[0] : after_data);
        assert_int_equal(writes, k + 1);
        assert_int_equal(read_amid_writes(&walks_end_turns, PW_REQUEST_WALK, at + line - 1, &writes),
                         expected[1] > after_data ? expected[1] : after_data);
        assert_int_equal(writes, k + 1);
        /* Of another rank, or under another policy, it waits for the whole group. */
        read_amid_writes(&walks_end_turns, READ, at + 1, &writes);
        assert_int_equal(writes, group);
        read_amid_writes(&walks_first, PW_REQUEST_WALK, at + 1, &writes);
        assert_int_equal(writes, group);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_served_once_and_in_time),
        cmocka_unit_test(reads_are_served_while_writes_never_end),
        cmocka_unit_test(fr_fcfs_lets_a_row_hit_pass_and_fcfs_does_not),
        cmocka_unit_test(fr_fcfs_opens_other_banks_meanwhile_and_fcfs_does_not),
        cmocka_unit_test(fcfs_never_reorders_column_accesses),
        cmocka_unit_test(ranks_go_before_age),
        cmocka_unit_test(a_full_rank_does_not_stop_another),
        cmocka_unit_test(a_rank_that_is_full_makes_its_own_wait),
        cmocka_unit_test(a_rank_may_end_a_turn_of_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
