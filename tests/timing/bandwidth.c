/* Streams that should run at the rate of the narrowest place they pass, within 3%: the port of an SM, the ports of the
 * slices, the data buses of DRAM. Enough warps read enough lines that the first and last latencies do not count. */
#include "timed.h"

/* n[0] lines, read n[1] times over. In each round a warp reads n[2] lines that follow one another, each time those of a
 * warp far away, so that few are found in an L1 or on their way. */
static void stream(struct pw_warp *w, struct timed *t)
{
    uint64_t warp = w->cta_index * (t->threads / PW_WARP_LANES) + w->index;
    for (uint64_t round = 0; round < t->n[1]; round++)
        for (uint64_t i = 0; i < t->n[2]; i++) {
            uint64_t line = (warp * t->n[2] + i + round * (t->n[0] / t->n[1])) % t->n[0];
            pw_access_affine(w, (enum pw_op_kind)t->n[3], PW_ALL_LANES, t->a.base.v + line * PW_LINE_BYTES, 4, 4);
        }
}

/* Runs a stream over `bytes` bytes by as many warps as it takes; bytes that pass the L2 per cycle. */
static double rate(struct timed *t)
{
    t->kernel = stream;
    t->design = "ideal-tlb";
    t->threads = 256;
    t->n[0] = t->bytes / PW_LINE_BYTES;
    t->ctas = (uint32_t)(t->n[0] / t->n[2] / 8);
    timed_run(t);
    uint64_t lines = timed_count(t, "l2.accesses");
    assert_in_range(lines, t->n[0] * t->n[1] * 99 / 100, t->n[0] * t->n[1]);
    return (double)(lines * PW_LINE_BYTES) / (double)(t->cycles - t->config.gpu.launch_latency);
}

static void assert_near(double value, double peak, const char *what)
{
    if (value > peak * 1.000001 || value < 0.97 * peak)
        fail_msg("%s: %.2f bytes per cycle of %.2f, %.1f%%", what, value, peak, 100 * value / peak);
}

static const char *const machines[] = {"mosaic", "volta"};

/* Peak: channels times bus width times the ratio of the clocks. */
static void expect_peak(const char *machine, uint64_t lines, const char *schedule)
{
    struct timed t = {.machine = machine, .bytes = 32 << 20, .sets = {schedule}, .n = {0, 1, lines, PW_OP_LOAD}};
    double value = rate(&t);
    const struct pw_dram_config *d = &t.config.gpu.dram;
    double peak = (double)d->channels * d->bytes_per_clock * d->clock_mhz / t.config.gpu.clock_mhz;
    assert_int_equal(timed_count(&t, "dram.data.bytes"), t.bytes);
    timed_end(&t);
    assert_near(value, peak, machine);
}

static void a_stream_reaches_the_peak_of_dram(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 2; m++)
        for (uint64_t lines = 1; lines <= 4; lines += 3)
            expect_peak(machines[m], lines, "dram.schedule=fr-fcfs");
}

/* Cards of which the data sheet says the bandwidth, in GB/s. What passes the L2 is counted otherwise there (l2.halves),
 * and what begins in it (l2.copies) does not come from DRAM. The first and the last latency count. */
static void a_stream_reaches_the_peak_of_a_card(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        double peak;
    } cards[] = {{"a100", 1555}, {"h100", 3352}, {"rtx4090", 1008}};
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        struct timed t = {.machine = cards[i].machine,
                          .design = "ideal-tlb",
                          .bytes = 64 << 20,
                          .kernel = stream,
                          .threads = 256,
                          .sets = {"l2.copies=off", "gpu.launch_latency=0", "gpu.launch_work=0", "gpu.cta_interval=0"},
                          .n = {(64 << 20) / PW_LINE_BYTES, 1, 4, PW_OP_LOAD}};
        t.ctas = (uint32_t)(t.n[0] / t.n[2] / 8);
        timed_run(&t);
        assert_int_equal(timed_count(&t, "dram.data.bytes"), t.bytes);
        double rate = (double)t.bytes / (double)t.cycles * t.config.gpu.clock_mhz / 1000;
        timed_end(&t);
        if (rate > 1.002 * cards[i].peak || rate < 0.95 * cards[i].peak)
            fail_msg("%s: %.0f GB/s of %.0f", cards[i].machine, rate, cards[i].peak);
    }
}

static void a_schedule_with_ranks_or_turns_reaches_it_too(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 2; m++) {
        expect_peak(machines[m], 4, "dram.schedule=address-space");
        expect_peak(machines[m], 4, "dram.schedule=fr-rr");
    }
}

/* What fits into the L2 comes through the port of the one SM that reads it, or goes out through it. */
static void an_sm_reads_and_writes_the_l2_as_fast_as_its_port(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 2; m++)
        for (unsigned kind = PW_OP_LOAD; kind <= PW_OP_STORE; kind++) {
            struct timed t = {.machine = machines[m],
                              .bytes = 1 << 20,
                              .sets = {"sm.count=1", "l1d.bytes=128", "l1d.ways=1"},
                              .n = {0, 10, 1, kind}};
            double value = rate(&t), peak = t.config.gpu.crossbar.bytes_per_cycle;
            timed_end(&t);
            assert_near(value, peak, machines[m]);
        }
}

/* With many SMs and few slices, the slices' ports are the narrow place. */
static void all_sms_read_the_l2_as_fast_as_its_slices(void **state)
{
    (void)state;
    struct timed t = {.bytes = 1 << 20,
                      .sets = {"dram.channels=4", "l2.slices=1", "l1d.bytes=128", "l1d.ways=1"},
                      .n = {0, 25, 1, PW_OP_LOAD}};
    double value = rate(&t), peak = 4.0 * t.config.gpu.crossbar.bytes_per_cycle;
    timed_end(&t);
    assert_near(value, peak, "four slices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_reaches_the_peak_of_dram),
        cmocka_unit_test(a_stream_reaches_the_peak_of_a_card),
        cmocka_unit_test(a_schedule_with_ranks_or_turns_reaches_it_too),
        cmocka_unit_test(an_sm_reads_and_writes_the_l2_as_fast_as_its_port),
        cmocka_unit_test(all_sms_read_the_l2_as_fast_as_its_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
