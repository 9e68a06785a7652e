/* A DRAM channel simulates its commands late, many in one event: nobody can tell, from data, counters or epochs. */
#include "memory_fixture.h"

#include "mem/dram_internal.h"

#include "sim/random.h"

#define READ PW_REQUEST_READ
#define WRITE PW_REQUEST_WRITEBACK

enum { REQUESTS = 600 };

/* Core cycle and DRAM clock are the same. */
static struct dram_fixture *in_clocks(const struct pw_dram_policy *policy)
{
    struct pw_dram_config c = dram_default_config();
    return dram_fixture_create(c, c.clock_mhz, policy);
}

static void add_traffic(struct dram_fixture *f, uint64_t seed)
{
    struct pw_random random;
    pw_random_init(&random, seed, "windows");
    pw_cycle time = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        dram_add(f, pw_random_below(&random, 3) ? READ : WRITE, (uint32_t)pw_random_below(&random, 4000), time);
        time += pw_random_below(&random, 30);
    }
}

enum { TICKS = 16384, TICK_AHEAD = 17 };

/* How many reads were done when another event of the same cycle came, by cycle. Nobody waits for a write. */
struct ticker {
    struct dram_fixture *fixture;
    unsigned done[TICKS];
};

static void tick(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct ticker *t = object;
    for (size_t i = 0; i < t->fixture->item_count; i++)
        t->done[now] += t->fixture->items[i].r.kind == READ && t->fixture->items[i].done;
    if (now + TICK_AHEAD < TICKS)
        pw_events_post(t->fixture->events, now + TICK_AHEAD, tick, t, 0);
}

static void start_ticking(struct ticker *t, struct dram_fixture *f)
{
    t->fixture = f;
    for (pw_cycle at = 0; at < TICK_AHEAD; at++)
        pw_events_post(f->events, at, tick, t, 0);
}

/* Neither what issues when, nor in which order data and other events of a cycle come. */
static void looking_into_a_channel_changes_nothing(void **state)
{
    (void)state;
    struct dram_fixture *alone = in_clocks(NULL), *watched = in_clocks(NULL);
    static struct ticker beside_alone, beside_watched;
    add_traffic(alone, 1);
    add_traffic(watched, 1);
    start_ticking(&beside_alone, alone);
    start_ticking(&beside_watched, watched);
    dram_run(alone);
    bool stop = false;
    for (pw_cycle now = 0; now < alone->events->now; now += 3) {
        pw_events_run(watched->events, now, &stop);
        pw_dram_bring_up_to_date(watched->channel, now);
        for (size_t i = watched->command_count; i < alone->command_count; i++)
            assert_true(alone->commands[i].clock >= now); /* what issued before has been simulated, */
        if (watched->command_count)
            assert_true(watched->commands[watched->command_count - 1].clock < now); /* and nothing else */
    }
    dram_run(watched);
    assert_int_equal(watched->command_count, alone->command_count);
    for (size_t i = 0; i < alone->command_count; i++)
        assert_int_equal(watched->commands[i].clock, alone->commands[i].clock);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_int_equal(watched->items[i].done, alone->items[i].done);
    assert_memory_equal(beside_watched.done, beside_alone.done, sizeof beside_alone.done);
    assert_true(beside_alone.done[TICKS - 1] > REQUESTS / 2);
    dram_fixture_destroy(alone);
    dram_fixture_destroy(watched);
}

static void a_command_counts_from_the_cycle_after_it_issues(void **state)
{
    (void)state;
    for (int write = 0; write < 2; write++) {
        struct dram_fixture *f = in_clocks(NULL);
        dram_add(f, write ? WRITE : READ, 0, 10);
        pw_cycle column = 10 + f->config.rcd;
        bool stop = false;
        pw_events_run(f->events, 11, &stop);
        pw_dram_bring_up_to_date(f->channel, column);
        assert_int_equal(f->counters[0].read_bytes + f->counters[0].write_bytes, 0);
        pw_dram_bring_up_to_date(f->channel, column + 1);
        assert_int_equal(f->counters[0].read_bytes + f->counters[0].write_bytes, PW_LINE_BYTES);
        dram_run(f);
        dram_fixture_destroy(f);
    }
}

/* Sent long before, or in the cycle in which it arrives: the same. Those that arrive together are reads before writes,
 * and of one kind in the order in which they were sent. */
static void arrivals_are_in_the_order_of_their_time(void **state)
{
    (void)state;
    static const struct {
        enum pw_request_kind kind;
        pw_cycle at;
    } sent[] = {{WRITE, 300}, {READ, 500}, {READ, 100}, {READ, 300}, {READ, 300}, {READ, 0}, {WRITE, 100}};
    static const unsigned order[] = {5, 2, 6, 3, 4, 0, 1};
    enum { COUNT = sizeof sent / sizeof sent[0] };
    struct dram_fixture *f = in_clocks(NULL);
    for (unsigned i = 0; i < COUNT; i++) {
        struct dram_item *item = &f->items[f->item_count++];
        item->r.kind = sent[i].kind & 15U;
        item->r.sectors = 0xf;
        pw_dram_submit(f->channel, &item->r, i, sent[i].at); /* all of one row */
    }
    assert_int_equal(pw_dram_waiting(f->channel), COUNT);
    dram_run(f);
    unsigned seen = 0;
    for (size_t i = 0; i < f->command_count; i++)
        if (f->commands[i].r)
            assert_int_equal(dram_item_of(f->commands[i].r) - f->items, order[seen++]);
    assert_int_equal(seen, COUNT);
    dram_fixture_destroy(f);
}

/* A request after a pause in which the times of banks, 32 bits, would have come round: to an open row, to another. */
static void banks_remember_what_is_over_for_good(void **state)
{
    (void)state;
    static const uint64_t pauses[] = {1000, 1ULL << 30, 1ULL << 31, (1ULL << 32) + 5, 1ULL << 33, 1ULL << 40};
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        struct dram_fixture *f = in_clocks(NULL);
        const struct pw_dram_config *c = &f->config;
        struct dram_item *other = dram_add(f, READ, dram_line_at(c, 1, 5, 0), 0);
        struct dram_item *first = dram_add(f, READ, dram_line_at(c, 3, 7, 0), 1000);
        struct dram_item *hit = dram_add(f, READ, dram_line_at(c, 3, 7, 1), 1000 + pauses[i]);
        struct dram_item *conflict = dram_add(f, READ, dram_line_at(c, 1, 6, 0), 5000 + pauses[i]);
        dram_run(f);
        pw_cycle column = c->cl + dram_line_clocks(c);
        assert_int_equal(other->done, c->rcd + column);
        assert_int_equal(first->done, 1000 + c->rcd + column);
        assert_int_equal(hit->done, 1000 + pauses[i] + column);
        assert_int_equal(conflict->done, 5000 + pauses[i] + c->rp + c->rcd + column);
        dram_fixture_destroy(f);
    }
}

/* A schedule that counts how many commands had been chosen when its epoch began. */
struct observer {
    uint64_t chosen, before_epoch;
};

static struct pw_dram_choice observe(void *state, const struct pw_dram_view *v)
{
    struct observer *o = state;
    struct pw_dram_choice choice = pw_dram_policy_of(policy_named(&pw_dram_family, "fcfs"))->choose(NULL, v);
    o->chosen++;
    return choice;
}

enum { EPOCH = 777 };

static pw_cycle observe_epoch(void *state, pw_cycle now)
{
    struct observer *o = state;
    if (!now)
        return EPOCH;
    o->before_epoch = o->chosen;
    return PW_NEVER;
}

static const struct pw_dram_policy observing = {
    .head = {.name = "observing", .summary = "counts", .state_bytes = sizeof(struct observer), .epoch = observe_epoch},
    .choose = observe};

static void fixture_catch_up(void *owner, pw_cycle now)
{
    struct dram_fixture *f = owner;
    pw_dram_bring_up_to_date(f->channel, now);
    pw_dram_choose_again(f->channel, now);
}

/* A stream of hits, in which every command but the last is chosen as the one before it is carried out. */
static void an_epoch_finds_all_that_issued_before_it(void **state)
{
    (void)state;
    struct dram_fixture *f = in_clocks(&observing);
    f->schedule.catch_up = fixture_catch_up;
    f->schedule.owner = f;
    for (uint32_t i = 0; i < 16; i++)
        dram_add(f, READ, i, EPOCH - 40);
    pw_policies_begin(&f->policies, f->events);
    dram_run(f);
    const struct observer *o = f->channel->policy_state;
    struct dram_fixture *until = in_clocks(&observing);
    for (uint32_t i = 0; i < 16; i++)
        dram_add(until, READ, i, EPOCH - 40);
    bool stop = false;
    pw_events_run(until->events, EPOCH, &stop);
    pw_dram_bring_up_to_date(until->channel, EPOCH);
    const struct observer *expected = until->channel->policy_state;
    assert_true(expected->chosen > 2 && o->chosen > expected->chosen);
    assert_int_equal(o->before_epoch, expected->chosen);
    dram_run(until);
    assert_int_equal(o->chosen, expected->chosen + 1); /* what had been chosen for later was chosen again */
    dram_fixture_destroy(f);
    dram_fixture_destroy(until);
}

/* What the memory does for all channels: before an epoch, and for whoever reads counters. */
static void the_memory_brings_its_channels_up_to_date(void **state)
{
    (void)state;
    struct memory_fixture *b = memory_fixture_create("always", NULL, 8, true);
    const struct pw_policy_use *use = &b->memory->schedule_use;
    memory_fixture_send(b, 4, 0, 0xf);
    memory_fixture_send(b, 4, 64, 0xf);
    bool stop = false;
    pw_cycle column = L2_PATH + L2_LATENCY + DRAM_PATH + b->config.dram.rcd;
    pw_events_run(b->events, L2_PATH + 1, &stop);
    pw_memory_bring_up_to_date(b->memory, column);
    assert_int_equal(b->memory->dram_counters->reads, 0);
    use->catch_up(use->owner, column + 1);
    assert_int_equal(b->memory->dram_counters->reads, 1);
    assert_int_equal(b->memory->channels[0].dram->choice.action, PW_DRAM_WAIT); /* the second read is chosen again */
    memory_fixture_run(b);
    memory_fixture_destroy(b);
}

/* One event for a window of CL and a burst, and one for the data of each read. */
static void a_busy_channel_takes_one_event_per_window(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    struct dram_fixture *f = in_clocks(NULL);
    for (uint32_t i = 0; i < LINES; i++)
        pw_dram_submit(f->channel, &f->items[i].r, (f->items[i].r.sectors = 0xf, i), 0);
    f->item_count = LINES;
    dram_run(f);
    uint64_t windows = f->events->now / (f->config.cl + f->config.burst_bytes / f->config.bytes_per_clock);
    assert_true(f->events->executed >= LINES && f->events->executed <= LINES + 2 * windows);
    dram_fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_into_a_channel_changes_nothing),
        cmocka_unit_test(a_command_counts_from_the_cycle_after_it_issues),
        cmocka_unit_test(arrivals_are_in_the_order_of_their_time),
        cmocka_unit_test(banks_remember_what_is_over_for_good),
        cmocka_unit_test(an_epoch_finds_all_that_issued_before_it),
        cmocka_unit_test(the_memory_brings_its_channels_up_to_date),
        cmocka_unit_test(a_busy_channel_takes_one_event_per_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
