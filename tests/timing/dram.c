/* Exact clocks of a DRAM channel against closed forms from its timings: each constraint blocks at t - 1 and lets go at
 * t, a saturated channel reaches the rate that the binding constraint allows. */
#include "dram_fixture.h"

#include "mem/dram_clock.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

/* Core cycle and DRAM clock are the same. */
static struct dram_fixture *in_clocks(struct pw_dram_config c)
{
    return dram_fixture_create(c, c.clock_mhz, NULL);
}

static uint32_t max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* mosaic-tab1-dram-size, mosaic-tab1-dram-clock, mosaic-tab1-dram-channels, mosaic-tab1-dram-banks,
 * mosaic-tab1-dram-burst, mosaic-tab1-dram-sched */
static void the_defaults_are_mosaic_table_1(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    assert_int_equal(c.bytes, 3ULL << 30);
    assert_int_equal(c.channels, 6);
    assert_int_equal(c.banks, 8);
    assert_int_equal(c.clock_mhz, 1674);
    assert_int_equal(c.burst_bytes / (c.bytes_per_clock / 4), 8); /* beats */
    assert_string_equal(pw_policy_chosen(&pw_dram_family, &c.schedule)->name, "fr-fcfs");
    struct pw_error err;
    assert_int_equal(pw_dram_config_check(&c, &err), PW_OK);
}

static void an_idle_bank_costs_activation_and_column(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    struct dram_fixture *f = in_clocks(c);
    struct dram_item *miss = dram_add(f, READ, dram_line_at(&c, 3, 7, 0), 5);
    struct dram_item *hit = dram_add(f, READ, dram_line_at(&c, 3, 7, 9), 1000);
    struct dram_item *conflict = dram_add(f, READ, dram_line_at(&c, 3, 8, 9), 2000);
    dram_run(f);
    assert_int_equal(miss->done, 5 + c.rcd + c.cl + dram_line_clocks(&c));
    assert_int_equal(hit->done, 1000 + c.cl + dram_line_clocks(&c));
    assert_int_equal(conflict->done, 2000 + c.rp + c.rcd + c.cl + dram_line_clocks(&c));
    assert_int_equal(f->counters[0].row_misses, 1);
    assert_int_equal(f->counters[0].row_hits, 1);
    assert_int_equal(f->counters[0].row_conflicts, 1);
    assert_int_equal(f->counters[0].translation_row_hits, 0);
    assert_int_equal(f->counters[0].data_latency, (miss->done - 5) + (hit->done - 1000) + (conflict->done - 2000));
    assert_int_equal(f->counters[0].busy_clocks, 3 * dram_line_clocks(&c));
    dram_fixture_destroy(f);
}

/* The clock of command number `index` of a run in which the second request arrives at `arrival`. */
static uint64_t clock_of(struct pw_dram_config c, enum pw_request_kind first, enum pw_request_kind second,
                         uint32_t bank, uint32_t row, pw_cycle arrival, size_t index, enum pw_dram_command_kind kind)
{
    struct dram_fixture *f = in_clocks(c);
    dram_add(f, first, dram_line_at(&c, 0, 0, 0), 0);
    dram_add(f, second, dram_line_at(&c, bank, row, 1), arrival);
    dram_run(f);
    assert_true(index < f->command_count);
    assert_int_equal(f->commands[index].kind, kind);
    uint64_t clock = f->commands[index].clock;
    dram_fixture_destroy(f);
    return clock;
}

/* A second request that comes after clock `from` and before `t` gets its command at t; one that comes at t + 1 gets it
 * then. */
#define BLOCKED_UNTIL(t, from, c, first, second, bank, row, index, kind)                                               \
    do {                                                                                                               \
        assert_int_equal(clock_of(c, first, second, bank, row, (from) + 1, index, kind), t);                           \
        assert_int_equal(clock_of(c, first, second, bank, row, (t)-1, index, kind), t);                                \
        assert_int_equal(clock_of(c, first, second, bank, row, t, index, kind), t);                                    \
        assert_int_equal(clock_of(c, first, second, bank, row, (t) + 1, index, kind), (t) + 1);                        \
    } while (0)

static void each_constraint_blocks_until_its_clock_and_no_longer(void **state)
{
    (void)state;
    struct pw_dram_config both[] = {dram_default_config(), dram_hbm2_config()};
    for (size_t i = 0; i < 2; i++) {
        struct pw_dram_config c = both[i];
        uint32_t line = dram_line_clocks(&c), burst = c.burst_bytes / c.bytes_per_clock, last = line - burst;
        /* Two activations of different banks: RRD. */
        BLOCKED_UNTIL(c.rrd, 0, c, READ, READ, 1, 0, 1, PW_DRAM_ACTIVATE);
        /* Two reads of one row: the data bus. */
        BLOCKED_UNTIL(c.rcd + line, 0, c, READ, READ, 0, 0, 2, PW_DRAM_READ);
        /* Precharge after the activation: RAS. */
        assert_true(c.ras > c.rcd + last + c.rtp);
        BLOCKED_UNTIL(c.ras, 0, c, READ, READ, 0, 1, 2, PW_DRAM_PRECHARGE);
        /* Precharge after a read: RTP from its last burst. */
        struct pw_dram_config slow = c;
        slow.rtp = c.ras;
        BLOCKED_UNTIL(c.rcd + last + slow.rtp, 0, slow, READ, READ, 0, 1, 2, PW_DRAM_PRECHARGE);
        /* Precharge after a write: WR from its last data. */
        slow = c;
        slow.wr = c.ras;
        BLOCKED_UNTIL(c.rcd + c.wl + line + slow.wr, c.rcd, slow, WRITE, READ, 0, 1, 2, PW_DRAM_PRECHARGE);
        /* Activation after the precharge: RP; after the activation: RC. */
        assert_int_equal(clock_of(c, READ, READ, 0, 1, 0, 3, PW_DRAM_ACTIVATE), max(c.ras + c.rp, c.rc));
        slow = c;
        slow.rc = c.ras + c.rp + 9;
        assert_int_equal(clock_of(slow, READ, READ, 0, 1, 0, 3, PW_DRAM_ACTIVATE), slow.rc);
        /* Write to read: WTR from the last data; read to write: the end of the read's data. */
        BLOCKED_UNTIL(c.rcd + c.wl + line + c.wtr, c.rcd, c, WRITE, READ, 0, 0, 2, PW_DRAM_READ);
        BLOCKED_UNTIL(c.rcd + c.cl + line - c.wl, 0, c, READ, WRITE, 0, 0, 2, PW_DRAM_WRITE);
        /* A column distance longer than the burst stretches a line. */
        slow = c;
        slow.ccd = burst + 3;
        BLOCKED_UNTIL(c.rcd + line / burst * slow.ccd, 0, slow, READ, READ, 0, 0, 2, PW_DRAM_READ);
    }
}

static void a_sector_takes_one_burst(void **state)
{
    (void)state;
    struct pw_dram_config c = dram_default_config();
    struct dram_fixture *f = in_clocks(c);
    struct dram_item *one = dram_add(f, READ, 0, 0);
    struct dram_item *three = dram_add(f, PW_REQUEST_WALK, 0, 1000);
    one->r.sectors = 0x4;
    three->r.sectors = 0xb;
    three->r.level = 4;
    dram_run(f);
    assert_int_equal(one->done, c.rcd + c.cl + 2);
    assert_int_equal(three->done, 1000 + c.cl + 4);
    assert_int_equal(f->counters[0].data_bytes, 64);
    assert_int_equal(f->counters[0].translation_bytes, 128);
    assert_int_equal(f->counters[0].read_bytes, 192);
    assert_int_equal(f->counters[0].translation_latency, c.cl + 4);
    assert_int_equal(f->counters[0].translation_row_hits, 1); /* the row that the data read opened */
    assert_int_equal(f->counters[0].row_hits, 1);
    dram_fixture_destroy(f);
}

static void clocks_convert_exactly(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {{1020, 1674}, {1132, 850}, {1000, 1000}, {1, 10000},  {10000, 1},
                                        {1980, 2619}, {3, 7},      {4096, 1024}, {9973, 9967}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct pw_dram_clock k = pw_dram_clock_of(pairs[i][0], pairs[i][1]);
        for (uint64_t n = 0; n < 40000; n++) {
            uint64_t d = n < 20000 ? n : 1000000000ULL * 100 + n * 7919;
            unsigned __int128 product = (unsigned __int128)d * pairs[i][0];
            pw_cycle begin = (pw_cycle)((product + pairs[i][1] - 1) / pairs[i][1]);
            assert_int_equal(pw_dram_clock_begin(&k, d), begin);
            uint64_t first = pw_dram_clock_first(&k, begin);
            assert_true(first <= d && pw_dram_clock_begin(&k, first) == begin);
            assert_true(first == 0 || pw_dram_clock_begin(&k, first - 1) < begin);
            assert_true(pw_dram_clock_begin(&k, pw_dram_clock_first(&k, d)) >= d);
        }
    }
    struct pw_dram_config c = dram_default_config();
    struct dram_fixture *f = dram_fixture_create(c, 1020, NULL);
    struct dram_item *read = dram_add(f, READ, 0, 100);
    dram_run(f);
    uint64_t issue = (99ULL * 1674) / 1020 + 1;
    assert_int_equal(f->commands[0].clock, issue);
    assert_int_equal(read->done, ((issue + c.rcd + c.cl + 4) * 1020 + 1673) / 1674);
    dram_fixture_destroy(f);
}

static void a_stream_reaches_peak_bandwidth(void **state)
{
    (void)state;
    struct pw_dram_config configs[] = {dram_default_config(), dram_hbm2_config()};
    static const uint32_t core_mhz[] = {1020, 1132};
    enum { LINES = 20000 };
    for (size_t i = 0; i < 2; i++) {
        struct dram_fixture *f = dram_fixture_create(configs[i], core_mhz[i], NULL);
        for (uint32_t line = 0; line < LINES; line++)
            dram_add(f, READ, line, line);
        dram_run(f);
        double clocks = (double)f->events->now * configs[i].clock_mhz / core_mhz[i];
        double share =
            (double)(f->counters[0].read_bytes + f->counters[0].write_bytes) / clocks / configs[i].bytes_per_clock;
        assert_true(share > 0.97 && share <= 1);
        dram_fixture_destroy(f);
    }
}

/* Every request opens a row: banks in turn are bound by RRD, RC / banks or the data bus, one bank by its row cycle. */
static void new_rows_come_at_the_rate_of_rrd_and_rc(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    for (unsigned variant = 0; variant < 4; variant++) {
        struct pw_dram_config c = variant & 1 ? dram_hbm2_config() : dram_default_config();
        bool one_bank = variant & 2;
        struct dram_fixture *f = in_clocks(c);
        for (uint32_t i = 0; i < ROWS; i++) {
            uint32_t bank = one_bank ? 5 : i % c.banks, row = one_bank ? i : i / c.banks;
            dram_add(f, READ, dram_line_at(&c, bank, row, 0), 0);
        }
        dram_run(f);
        uint32_t bank_cycle = max(c.rc, c.ras + c.rp);
        uint32_t in_turn = max(max(c.rrd, dram_line_clocks(&c)), (bank_cycle + c.banks - 1) / c.banks);
        double expected = one_bank ? bank_cycle : in_turn;
        double measured = (double)f->events->now / ROWS;
        assert_true(measured >= expected * 0.97 && measured <= expected * 1.03);
        assert_int_equal(f->counters[0].row_hits, 0);
        dram_fixture_destroy(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_mosaic_table_1),
        cmocka_unit_test(an_idle_bank_costs_activation_and_column),
        cmocka_unit_test(each_constraint_blocks_until_its_clock_and_no_longer),
        cmocka_unit_test(a_sector_takes_one_burst),
        cmocka_unit_test(clocks_convert_exactly),
        cmocka_unit_test(a_stream_reaches_peak_bandwidth),
        cmocka_unit_test(new_rows_come_at_the_rate_of_rrd_and_rc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
