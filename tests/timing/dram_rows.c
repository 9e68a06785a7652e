/* Exact clocks of open and closed rows: what an access to an idle channel costs, when a row is closed, and that
 * requests which wait for a row keep it open. As far as they must, all schedules agree. */
#include "dram_fixture.h"
#include "policies.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

static struct pw_dram_config config_with(enum pw_dram_rows rows)
{
    struct pw_dram_config c = dram_default_config();
    c.rows = rows;
    return c;
}

#define EACH_SCHEDULE(policy) for (const struct pw_policy *const *policy = pw_dram_family.policies; *policy; policy++)

static struct pw_dram_config scheduled(struct pw_dram_config c, const struct pw_policy *policy)
{
    c.schedule = policy_choice(&pw_dram_family, policy->name);
    return c;
}

/* Core cycle and DRAM clock are the same. */
static struct dram_fixture *in_clocks(struct pw_dram_config c)
{
    return dram_fixture_create(c, c.clock_mhz, NULL);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void check_idle_channel(const struct pw_policy *policy)
{
    for (uint32_t rows = PW_DRAM_ROWS_OPEN; rows <= PW_DRAM_ROWS_CLOSED; rows++) {
        struct pw_dram_config c = scheduled(config_with(rows), policy);
        bool closed = rows == PW_DRAM_ROWS_CLOSED;
        struct dram_fixture *f = in_clocks(c);
        struct dram_item *first = dram_add(f, READ, dram_line_at(&c, 3, 7, 0), 5);
        struct dram_item *same = dram_add(f, READ, dram_line_at(&c, 3, 7, 9), 1000);
        struct dram_item *other = dram_add(f, READ, dram_line_at(&c, 3, 8, 9), 2000);
        dram_run(f);
        pw_cycle column = c.cl + dram_line_clocks(&c);
        assert_int_equal(first->done, 5 + c.rcd + column);
        assert_int_equal(same->done, 1000 + (closed ? c.rcd : 0) + column);
        assert_int_equal(other->done, 2000 + (closed ? 0 : c.rp) + c.rcd + column);
        assert_int_equal(f->counters[0].row_misses, closed ? 3 : 1);
        assert_int_equal(f->counters[0].row_hits, closed ? 0 : 1);
        assert_int_equal(f->counters[0].row_conflicts, closed ? 0 : 1);
        dram_fixture_destroy(f);
    }
}

static void an_idle_channel_answers_in_these_clocks(void **state)
{
    (void)state;
    EACH_SCHEDULE(policy)
    check_idle_channel(*policy);
}

/* The clock at which the row of a request that comes at 0 is closed. */
static uint64_t closing_clock(struct pw_dram_config c, enum pw_request_kind kind)
{
    struct dram_fixture *f = in_clocks(c);
    dram_add(f, kind, dram_line_at(&c, 2, 4, 0), 0)->r.level = kind == PW_REQUEST_WALK;
    dram_run(f);
    assert_int_equal(f->command_count, 3);
    assert_int_equal(f->commands[2].kind, PW_DRAM_PRECHARGE);
    assert_int_equal(f->commands[2].row, 4);
    uint64_t clock = f->commands[2].clock;
    dram_fixture_destroy(f);
    return clock;
}

static void a_row_is_closed_as_soon_as_the_timings_allow(void **state)
{
    (void)state;
    EACH_SCHEDULE(policy)
    {
        struct pw_dram_config c = scheduled(config_with(PW_DRAM_ROWS_CLOSED), *policy), slow = c;
        uint32_t line = dram_line_clocks(&c), burst = c.burst_bytes / c.bytes_per_clock;
        assert_int_equal(closing_clock(c, READ), c.ras);
        assert_int_equal(closing_clock(c, PW_REQUEST_WALK), c.ras);
        slow.rtp = c.ras;
        assert_int_equal(closing_clock(slow, READ), c.rcd + line - burst + slow.rtp);
        assert_int_equal(closing_clock(c, WRITE), c.rcd + c.wl + line + c.wr);
        slow = c;
        slow.wr = 1;
        assert_int_equal(closing_clock(slow, WRITE), c.ras);
    }
}

/* When a read is done that comes at `arrival`, after another one of the same row at 0. */
static pw_cycle second_read(struct pw_dram_config c, pw_cycle arrival)
{
    struct dram_fixture *f = in_clocks(c);
    dram_add(f, READ, dram_line_at(&c, 0, 1, 0), 0);
    struct dram_item *second = dram_add(f, READ, dram_line_at(&c, 0, 1, 1), arrival);
    dram_run(f);
    pw_cycle done = second->done;
    dram_fixture_destroy(f);
    return done;
}

static void a_read_keeps_a_row_open_until_the_clock_at_which_it_closes(void **state)
{
    (void)state;
    EACH_SCHEDULE(policy)
    {
        struct pw_dram_config c = scheduled(config_with(PW_DRAM_ROWS_CLOSED), *policy);
        pw_cycle column = c.cl + dram_line_clocks(&c), closing = c.ras;
        assert_int_equal(second_read(c, closing - 1), closing - 1 + column);
        assert_int_equal(second_read(c, closing), closing + column);
        assert_int_equal(second_read(c, closing + 1), later(closing + c.rp, c.rc) + c.rcd + column);
    }
}

/* Activations of a run in which bank 0 is read once and bank 1 for long enough that there is no turn of writes when
 * bank 0 could be closed; a write for bank 0's row comes at `arrival`. */
static unsigned activations_with_write(struct pw_dram_config c, pw_cycle arrival)
{
    struct dram_fixture *f = in_clocks(c);
    for (uint32_t i = 0; i < 9; i++)
        dram_add(f, READ, dram_line_at(&c, i != 0, 1, i), 0);
    dram_add(f, WRITE, dram_line_at(&c, 0, 1, 9), arrival);
    dram_run(f);
    assert_true(f->items[8].done - c.cl - dram_line_clocks(&c) > c.ras + 2); /* the last column access */
    unsigned activations = 0;
    for (size_t i = 0; i < f->command_count; i++)
        activations += f->commands[i].kind == PW_DRAM_ACTIVATE;
    dram_fixture_destroy(f);
    return activations;
}

static void a_waiting_write_keeps_a_row_open_while_reads_are_served(void **state)
{
    (void)state;
    struct pw_dram_config c = config_with(PW_DRAM_ROWS_CLOSED);
    for (unsigned taken = 0; taken < 2; taken++) { /* whether a read of bank 1 has the clock at which bank 0 is ready */
        c.ras = c.rrd + c.rcd + 4 * dram_line_clocks(&c) - !taken;
        pw_cycle closing = c.ras + taken;
        assert_int_equal(activations_with_write(c, 1), 2);
        assert_int_equal(activations_with_write(c, closing - 1), 2);
        assert_int_equal(activations_with_write(c, closing), 2);
        assert_int_equal(activations_with_write(c, closing + 1), 3);
    }
}

/* Reads of one row of each of two banks, which all wait from the beginning. */
static void a_stream_of_hits_never_pays_for_closing(void **state)
{
    (void)state;
    enum { LINES = 32 };
    pw_cycle done[2][LINES];
    for (uint32_t rows = PW_DRAM_ROWS_OPEN; rows <= PW_DRAM_ROWS_CLOSED; rows++) {
        struct pw_dram_config c = config_with(rows);
        struct dram_fixture *f = in_clocks(c);
        for (uint32_t i = 0; i < LINES; i++)
            dram_add(f, READ, dram_line_at(&c, i % 2, 1, i / 2), 0);
        dram_run(f);
        for (uint32_t i = 0; i < LINES; i++)
            done[rows][i] = f->items[i].done;
        assert_int_equal(f->counters[0].row_hits, LINES - 2);
        assert_int_equal(f->items[LINES - 1].done, c.rcd + LINES * dram_line_clocks(&c) + c.cl);
        assert_int_equal(f->command_count, LINES + 2 + (rows == PW_DRAM_ROWS_CLOSED ? 2 : 0));
        dram_fixture_destroy(f);
    }
    assert_memory_equal(done[0], done[1], sizeof done[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_channel_answers_in_these_clocks),
        cmocka_unit_test(a_row_is_closed_as_soon_as_the_timings_allow),
        cmocka_unit_test(a_read_keeps_a_row_open_until_the_clock_at_which_it_closes),
        cmocka_unit_test(a_waiting_write_keeps_a_row_open_while_reads_are_served),
        cmocka_unit_test(a_stream_of_hits_never_pays_for_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
