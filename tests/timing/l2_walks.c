/* Exact cycles of page-table reads that use the L2 and of those that bypass it, and what the two leave behind there. */
#include "memory_fixture.h"

enum { LINE = 64 };

/* Sends a request and waits for its answer: how long it took. */
static pw_cycle time_of(struct memory_fixture *b, unsigned level, uint32_t line)
{
    unsigned i = b->count;
    memory_fixture_send(b, level, line, 1);
    memory_fixture_run(b);
    return b->took[i];
}

/* From the DRAM queue to the last data of a line whose row is closed, or open. */
static pw_cycle dram_time(const struct memory_fixture *b, bool open)
{
    const struct pw_dram_config *d = &b->config.dram;
    return (open ? 0 : d->rcd) + d->cl + dram_line_clocks(d);
}

static void a_bypassing_read_pays_for_the_path_and_dram_only(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("never", NULL, 8, false);
    assert_int_equal(time_of(b, 4, LINE), L2_PATH + DRAM_PATH + dram_time(b, false));
    assert_int_equal(time_of(b, 4, LINE), L2_PATH + DRAM_PATH + dram_time(b, true)); /* it was not filled */
    assert_int_equal(memory_fixture_sum(b->memory->counters->accesses), 0);
    assert_int_equal(b->memory->dram_counters->translation_reads, 2);
    assert_int_equal(memory_fixture_sum(b->memory->counters->bypassed), 2);
    memory_fixture_destroy(b);
    b = memory_fixture_create("always", NULL, 8, false);
    assert_int_equal(time_of(b, 4, LINE), L2_PATH + L2_LATENCY + DRAM_PATH + dram_time(b, false));
    assert_int_equal(time_of(b, 4, LINE), L2_PATH + L2_LATENCY);
    assert_int_equal(b->memory->counters->hits[4], 1);
    memory_fixture_destroy(b);
}

/* A walk and, in the same cycle behind it, a lookup of data that hits: one port. */
static void a_bypassing_read_takes_no_port(void **state)
{
    (void)state;
    static const char *const names[] = {"never", "always"};
    for (unsigned i = 0; i < 2; i++) {
        struct memory_fixture *b = memory_fixture_create(names[i], NULL, 8, false);
        time_of(b, 0, LINE);
        memory_fixture_send(b, 4, 3 * LINE, 1);
        assert_int_equal(time_of(b, 0, LINE), L2_PATH + L2_LATENCY + i);
        memory_fixture_destroy(b);
    }
}

static void bypassing_reads_of_a_line_merge(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("never", NULL, 8, false);
    memory_fixture_send(b, 4, LINE, 1);
    memory_fixture_send(b, 3, LINE, 2);
    memory_fixture_run(b);
    pw_cycle both = L2_PATH + DRAM_PATH + dram_time(b, false);
    assert_int_equal(b->took[0], both);
    assert_int_equal(b->took[1], both);
    assert_int_equal(b->memory->dram_counters->reads, 1);
    assert_int_equal(b->memory->counters->merges, 0); /* they are no misses */
    assert_int_equal(memory_fixture_sum(b->memory->counters->bypassed), 2);
    memory_fixture_destroy(b);
}

/* One register: the second line goes on to DRAM when the first has come. */
static void a_bypassing_read_needs_a_miss_register(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("never", NULL, 1, false);
    memory_fixture_send(b, 4, LINE, 1);
    memory_fixture_send(b, 4, LINE + 1, 1);
    memory_fixture_run(b);
    pw_cycle first = L2_PATH + DRAM_PATH + dram_time(b, false);
    assert_int_equal(b->took[0], first);
    assert_int_equal(b->took[1], first + DRAM_PATH + dram_time(b, true));
    assert_int_equal(memory_fixture_sum(b->memory->counters->bypassed), 2); /* counted once each */
    memory_fixture_destroy(b);
}

static void data_that_merges_into_a_bypassing_read_fills(void **state)
{
    (void)state;
    for (unsigned data_first = 0; data_first < 2; data_first++) {
        struct memory_fixture *b = memory_fixture_create("never", NULL, 8, false);
        memory_fixture_send(b, data_first ? 0 : 4, LINE, 1);
        memory_fixture_send(b, data_first ? 4 : 0, LINE, 2);
        memory_fixture_run(b);
        pw_cycle both = L2_PATH + DRAM_PATH + dram_time(b, false) + (data_first ? L2_LATENCY : 0);
        assert_int_equal(b->took[0], both);
        assert_int_equal(b->took[1], both);
        assert_int_equal(b->memory->dram_counters->reads, 1);
        assert_int_equal(b->memory->counters->misses, 1);
        assert_int_equal(b->memory->counters->merges, 1 - data_first);
        assert_int_equal(time_of(b, 0, LINE), L2_PATH + L2_LATENCY);
        memory_fixture_destroy(b);
    }
    struct memory_fixture *b = memory_fixture_create("never", NULL, 8, false);
    time_of(b, 4, LINE);
    assert_int_equal(time_of(b, 0, LINE), L2_PATH + L2_LATENCY + DRAM_PATH + dram_time(b, true));
    memory_fixture_destroy(b);
}

/* Whoever asks for a line within the answer that it was not kept for has to fetch it again, and is not forgotten. */
static void a_read_of_the_same_line_within_the_answer_fetches_it_again(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("never", NULL, 8, false);
    b->memory->config.l2.path = 0; /* the second is looked up within the first's answer */
    b->again = LINE;
    memory_fixture_send(b, 4, LINE, 1);
    memory_fixture_run(b);
    assert_int_equal(b->took[0], DRAM_PATH + dram_time(b, false));
    assert_int_equal(b->took[1], DRAM_PATH + dram_time(b, true));
    memory_fixture_destroy(b);
}

static void nothing(void *object, uint64_t argument, pw_cycle now)
{
    (void)object, (void)argument, (void)now;
}

/* mask-sec53-bypass-def: in the first epoch level 4 uses the L2 and misses, while data hits. From then on its reads
 * neither find what is there, nor take a port, nor leave their lines behind, but for one in
 * 64. The root, which hits as often as data, goes on as before. */
static void a_level_below_data_bypasses_from_the_next_epoch_on(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("by-level", NULL, 8, false);
    pw_cycle past = L2_PATH + DRAM_PATH, looked_up = past + L2_LATENCY, hit = L2_PATH + L2_LATENCY;
    assert_int_equal(time_of(b, 0, LINE), looked_up + dram_time(b, false));
    assert_int_equal(time_of(b, 0, LINE), hit);
    assert_int_equal(time_of(b, 1, LINE), hit);
    assert_int_equal(time_of(b, 4, LINE + 1), looked_up + dram_time(b, true));
    pw_events_post(b->events, 100000, nothing, NULL, 0);
    memory_fixture_run(b);
    assert_int_equal(time_of(b, 4, LINE + 1), past + dram_time(b, true)); /* though it is there */
    assert_int_equal(time_of(b, 1, LINE), hit);
    memory_fixture_send(b, 4, LINE + 2, 1);
    assert_int_equal(time_of(b, 0, LINE), hit); /* the port is free */
    for (unsigned i = 2; i < 63; i++)
        assert_int_equal(time_of(b, 4, LINE + 2), past + dram_time(b, true)); /* not kept */
    assert_int_equal(b->memory->counters->accesses[4], 1);
    assert_int_equal(b->memory->counters->bypassed[4], 63);
    assert_int_equal(time_of(b, 4, LINE + 2), looked_up + dram_time(b, true)); /* the sample, */
    assert_int_equal(time_of(b, 4, LINE + 2), past + dram_time(b, true));
    assert_int_equal(time_of(b, 0, LINE + 2), hit); /* which is kept */
    assert_int_equal(b->memory->counters->accesses[4], 2);
    assert_int_equal(b->memory->counters->bypassed[4], 64);
    memory_fixture_destroy(b);
}

/* mask-sec3-fn3-queueing: three lookups of one cycle and one port: one waits a cycle, the next two. */
static void waits_for_a_port_are_counted_apart_for_walks_and_data(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        unsigned data, walks; /* cycles */
    } rows[] = {{"always", 1, 2}, {"never", 1, 0}};
    for (unsigned i = 0; i < 2; i++) {
        struct memory_fixture *b = memory_fixture_create(rows[i].policy, NULL, 8, false);
        memory_fixture_send(b, 0, LINE, 1);
        memory_fixture_send(b, 0, LINE + 1, 1);
        memory_fixture_send(b, 4, LINE + 2, 1);
        memory_fixture_run(b);
        assert_int_equal(b->memory->counters->queues[0].cycles, rows[i].data);
        assert_int_equal(b->memory->counters->queues[1].cycles, rows[i].walks);
        memory_fixture_destroy(b);
    }
}

/* One register, which the first has for the whole of its way. The other two wait until it comes back, and the last one
 * until the second does. */
static void waits_for_a_miss_register_are_counted_too(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("never", NULL, 1, false);
    memory_fixture_send(b, 0, LINE, 1);
    memory_fixture_send(b, 4, LINE + 1, 1);
    memory_fixture_send(b, 0, LINE + 2, 1);
    memory_fixture_run(b);
    pw_cycle first = L2_LATENCY + DRAM_PATH + dram_time(b, false), second = DRAM_PATH + dram_time(b, true);
    assert_int_equal(b->memory->counters->queues[1].cycles, first);
    assert_int_equal(b->memory->counters->queues[0].cycles, first + second);
    memory_fixture_destroy(b);
}

/* Level 4 bypasses, level 3 is looked up and not filled, the others are as data. */
struct told {
    unsigned count[PW_TABLE_LEVELS + 1][PW_L2_BYPASSED + 1], epochs;
};

static enum pw_l2_use by_level(void *state, unsigned app, unsigned level)
{
    (void)state;
    assert_int_equal(app, 0);
    assert_true(level >= 1 && level <= PW_TABLE_LEVELS);
    return level == 4 ? PW_L2_BYPASS : level == 3 ? PW_L2_PROBE : PW_L2_PROBE_AND_FILL;
}

static void tell(void *state, unsigned app, unsigned level, enum pw_l2_outcome outcome)
{
    assert_int_equal(app, 0);
    ((struct told *)state)->count[level][outcome]++;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct told *t = state;
    return ++t->epochs < 3 ? pw_epoch_end(now, 100) : PW_NEVER;
}

static const struct pw_l2_walks_policy levels = {
    .head = {.name = "levels", .summary = "a toy", .state_bytes = sizeof(struct told), .epoch = epoch},
    .use = by_level,
    .happened = tell};

static void each_level_is_decided_by_itself_and_the_policy_hears_of_it(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("always", &levels, 8, false);
    const struct told *t = b->memory->walks_state;
    pw_cycle past = L2_PATH + DRAM_PATH, looked_up = past + L2_LATENCY, hit = L2_PATH + L2_LATENCY;
    assert_int_equal(time_of(b, 4, LINE), past + dram_time(b, false));
    assert_int_equal(time_of(b, 3, LINE), looked_up + dram_time(b, true));
    assert_int_equal(time_of(b, 3, LINE), looked_up + dram_time(b, true)); /* not kept the first time */
    assert_int_equal(time_of(b, 2, LINE), looked_up + dram_time(b, true));
    assert_int_equal(time_of(b, 1, LINE), hit);
    assert_int_equal(time_of(b, 3, LINE), hit);
    assert_int_equal(time_of(b, 4, LINE), past + dram_time(b, true)); /* though it is there */
    assert_int_equal(time_of(b, 0, LINE), hit);
    assert_int_equal(time_of(b, 0, LINE + 1), looked_up + dram_time(b, true));
    const struct told expected = {.count = {{1, 1, 0}, {0, 1, 0}, {1, 0, 0}, {2, 1, 0}, {0, 0, 2}}, .epochs = 3};
    assert_memory_equal(t, &expected, sizeof expected);
    assert_int_equal(memory_fixture_sum(b->memory->counters->accesses), 7);
    assert_int_equal(b->memory->counters->bypassed[4], 2);
    memory_fixture_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bypassing_read_pays_for_the_path_and_dram_only),
        cmocka_unit_test(a_bypassing_read_takes_no_port),
        cmocka_unit_test(bypassing_reads_of_a_line_merge),
        cmocka_unit_test(a_bypassing_read_needs_a_miss_register),
        cmocka_unit_test(data_that_merges_into_a_bypassing_read_fills),
        cmocka_unit_test(a_read_of_the_same_line_within_the_answer_fetches_it_again),
        cmocka_unit_test(a_level_below_data_bypasses_from_the_next_epoch_on),
        cmocka_unit_test(waits_for_a_port_are_counted_apart_for_walks_and_data),
        cmocka_unit_test(waits_for_a_miss_register_are_counted_too),
        cmocka_unit_test(each_level_is_decided_by_itself_and_the_policy_hears_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
