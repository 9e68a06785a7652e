/* What every DRAM schedule must keep, what tells the two apart, and that ranks carry a schedule with several queues. */
#include "dram_fixture.h"

#include "sim/random.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

static uint32_t schedule_named(const char *name)
{
    uint32_t i = 0;
    while (pw_dram_policy_names[i] && strcmp(pw_dram_policy_names[i], name))
        i++;
    assert_non_null(pw_dram_policy_names[i]);
    return i;
}

static void every_schedule_is_named_once_and_described(void **state)
{
    (void)state;
    uint32_t i = 0;
    for (; pw_dram_policies[i]; i++) {
        assert_string_equal(pw_dram_policies[i]->name, pw_dram_policy_names[i]);
        assert_true(strlen(pw_dram_policies[i]->summary) > 0);
        assert_int_equal(schedule_named(pw_dram_policy_names[i]), i);
    }
    assert_null(pw_dram_policy_names[i]);
}

/* dram_run checks that each request comes back exactly once; here also that none waits beyond all measure. */
static void every_request_is_served_once_and_in_time(void **state)
{
    (void)state;
    enum { REQUESTS = 4000, MEAN_GAP = 60 };
    for (uint32_t schedule = 0; pw_dram_policies[schedule]; schedule++) {
        struct pw_dram_config c = dram_default_config();
        c.schedule = schedule;
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
    for (uint32_t schedule = 0; pw_dram_policies[schedule]; schedule++) {
        struct pw_dram_config c = dram_default_config();
        c.schedule = schedule;
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
    struct pw_dram_config c = dram_default_config();
    c.schedule = schedule_named(schedule);
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
        c.schedule = schedule_named(names[i]);
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
    struct pw_dram_config c = dram_default_config();
    c.schedule = schedule_named("fcfs");
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

/* A schedule with two queues in a few lines: page-table reads before data, in places of their own. */
struct walks_first {
    uint64_t ranked;
};

static void walks_first_init(void *state)
{
    ((struct walks_first *)state)->ranked = 100;
}

static unsigned walks_first_rank(void *state, const struct pw_request *r)
{
    ((struct walks_first *)state)->ranked++;
    return r->kind == PW_REQUEST_WALK && r->level ? 0 : 1;
}

static struct pw_dram_choice walks_first_choose(void *state, const struct pw_dram_view *v)
{
    assert_true(((struct walks_first *)state)->ranked > 100);
    return pw_dram_policies[schedule_named("fcfs")]->choose(NULL, v);
}

static const struct pw_dram_policy walks_first = {
    .name = "walks-first",
    .summary = "page-table reads before data",
    .state_bytes = sizeof(struct walks_first),
    .entries = {2, 0},
    .init = walks_first_init,
    .rank = walks_first_rank,
    .choose = walks_first_choose,
};

static void ranks_go_before_age_and_have_their_own_places(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    struct dram_fixture *f = dram_fixture_create(c, c.clock_mhz, &walks_first);
    for (uint32_t i = 0; i < 8; i++)
        dram_add(f, READ, dram_line_at(&c, 0, 1 + i % 2, i), 0);
    struct dram_item *walk[2];
    for (uint32_t i = 0; i < 2; i++) {
        walk[i] = dram_add(f, PW_REQUEST_WALK, dram_line_at(&c, 0, 3, i), 1);
        walk[i]->r.level = 4;
    }
    bool stop = false;
    pw_events_run(f->events, 2, &stop);
    assert_false(pw_dram_has_space(f->channel, false));
    assert_true(pw_dram_has_space(f->channel, true));
    dram_run(f);
    assert_true(pw_dram_has_space(f->channel, false));
    /* The row of the first data read was activated before the walks came; it goes back behind them. */
    for (size_t i = 0; i < 8; i++)
        assert_true(walk[1]->done < f->items[i].done && walk[0]->done < walk[1]->done);
    dram_fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_is_named_once_and_described),
        cmocka_unit_test(every_request_is_served_once_and_in_time),
        cmocka_unit_test(reads_are_served_while_writes_never_end),
        cmocka_unit_test(fr_fcfs_lets_a_row_hit_pass_and_fcfs_does_not),
        cmocka_unit_test(fr_fcfs_opens_other_banks_meanwhile_and_fcfs_does_not),
        cmocka_unit_test(fcfs_never_reorders_column_accesses),
        cmocka_unit_test(ranks_go_before_age_and_have_their_own_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
