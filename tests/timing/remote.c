/* Exact cycles of accesses to host memory over the link, alone and queued, and how they share it with pages. */
#include "closed_form.h"
#include "timed.h"

/* The clock is 1 GHz; 128 bytes take 10 cycles to the GPU and 20 to the host, a sector 2.5 and 5. Translation costs one
 * lookup, and the array is mapped remotely from the start. */
static struct timed remote(void)
{
    return (struct timed){.design = "ideal-tlb",
                          .sets = {"paging.mode=demand", "uvm.advice=a:accessed-by", "gpu.clock_mhz=1000",
                                   "link.model=linear", "link.h2d_rate=12.8", "link.d2h_rate=6.4",
                                   "link.remote_latency=1000"}};
}

enum { LATENCY = 1000, FREE_SET = 7 };

/* From the start of the run to the arrival of the first access at the host interface; and back from there to the SM. */
static uint64_t to_link(struct timed t)
{
    timed_configure(&t);
    const struct pw_gpu_config *c = &t.config.gpu;
    uint64_t cycles = c->launch_latency + c->l1_tlb.tlb.latency + c->l1d.latency + c->crossbar.latency;
    timed_end(&t);
    return cycles;
}

static uint64_t from_link(struct timed t)
{
    timed_configure(&t);
    uint64_t cycles = t.config.gpu.crossbar.latency;
    timed_end(&t);
    return cycles;
}

/* n[0] loads one after the other of n[1], n[2], … */
static void chain(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, t->n[1 + i]);
}

/* n[0] loads of different lines at once. */
static void burst(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_load(w, t, i * PW_LINE_BYTES);
    pw_use(w);
}

static void operation(struct pw_warp *w, struct timed *t)
{
    pw_access_affine(w, (enum pw_op_kind)t->n[0], 1, t->a.base.v, 0, 4);
    if (t->n[0] == PW_OP_ATOMIC_RETURN)
        pw_use(w);
}

static void a_remote_read_takes_the_round_trip_and_its_time_on_the_link(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = chain;
    t.n[0] = 1;
    uint64_t there = to_link(t), back = from_link(t), one = there + LATENCY + 10 + back;
    assert_int_equal(timed_run(&t), one);
    assert_int_equal(timed_count(&t, "uvm.remote_reads"), 1);
    assert_int_equal(timed_count(&t, "uvm.remote_writes"), 0);
    assert_int_equal(timed_count(&t, "uvm.remote_bytes"), 128);
    assert_int_equal(timed_count(&t, "link.h2d.small_bytes"), 128);
    assert_int_equal(timed_count(&t, "l2.accesses"), 0);
    assert_int_equal(timed_count(&t, "uvm.faults_registered"), 0);
    timed_end(&t);
    t.n[0] = 2;
    t.n[2] = 5 * PW_PAGE_BYTES;
    assert_int_equal(timed_cycles(t), 2 * one);
    t.n[2] = 4; /* the same line, which is in the L1 */
    assert_true(timed_cycles(t) < one + LATENCY);
}

static void a_sectored_cache_reads_sectors_in_units_of_remote_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t bytes, cycles;
    } units[] = {{"link.remote_bytes=32", 32, 3}, {"link.remote_bytes=64", 64, 5}, {"link.remote_bytes=128", 128, 10}};
    for (size_t i = 0; i < 3; i++) {
        struct timed t = remote();
        t.kernel = chain;
        t.sets[FREE_SET] = "l1d.sectored=on";
        t.sets[FREE_SET + 1] = units[i].set;
        t.n[0] = 1;
        assert_int_equal(timed_run(&t), to_link(remote()) + LATENCY + units[i].cycles + from_link(remote()));
        assert_int_equal(timed_count(&t, "uvm.remote_bytes"), units[i].bytes);
        timed_end(&t);
    }
}

static void a_remote_write_is_done_half_a_round_trip_after_it_has_left(void **state)
{
    (void)state;
    static const enum pw_op_kind kinds[] = {PW_OP_STORE, PW_OP_ATOMIC};
    for (size_t i = 0; i < 2; i++) {
        struct timed t = remote();
        t.kernel = operation;
        t.n[0] = kinds[i];
        assert_int_equal(timed_run(&t), to_link(remote()) + 5 + LATENCY / 2);
        assert_int_equal(timed_count(&t, "uvm.remote_writes"), 1);
        assert_int_equal(timed_count(&t, "uvm.remote_reads"), 0);
        assert_int_equal(timed_count(&t, "link.d2h.small_bytes"), 32);
        assert_int_equal(timed_count(&t, "link.h2d.small_bytes"), 0);
        timed_end(&t);
    }
}

static void a_remote_atomic_with_a_result_goes_both_ways(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = operation;
    t.n[0] = PW_OP_ATOMIC_RETURN;
    assert_int_equal(timed_run(&t), to_link(remote()) + 5 + LATENCY + 3 + from_link(remote()));
    assert_int_equal(timed_count(&t, "uvm.remote_writes"), 1);
    assert_int_equal(timed_count(&t, "uvm.remote_reads"), 1);
    assert_int_equal(timed_count(&t, "uvm.remote_bytes"), 64);
    timed_end(&t);
}

/* The unit takes a line per cycle, the link one per 10: it is busy from the first one's data on. */
static void reads_overlap_but_for_their_time_on_the_link(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = burst;
    t.n[0] = 6;
    uint64_t there = to_link(t), back = from_link(t);
    assert_int_equal(timed_cycles(t), there + LATENCY + 60 + back);
    t.sets[FREE_SET] = "l1d.sectored=on"; /* 6 * 2.5 cycles, and fractions are not lost */
    assert_int_equal(timed_cycles(t), there + LATENCY + 15 + back);
}

/* Single sectors at a rate of their own: half the link's, 5 cycles each. */
static void remote_accesses_may_have_less_bandwidth_than_long_transfers(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = burst;
    t.n[0] = 6;
    uint64_t there = to_link(t), back = from_link(t);
    t.sets[FREE_SET] = "l1d.sectored=on";
    t.sets[FREE_SET + 1] = "link.remote_rate=6.4";
    assert_int_equal(timed_cycles(t), there + LATENCY + 30 + back);
}

/* 150 million a second are 20 / 3 cycles each: more than a sector's 2.5 cycles, less than the 10 of a line. */
static void remote_accesses_in_a_second_are_limited_however_short(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = burst;
    t.n[0] = 6;
    uint64_t there = to_link(t), back = from_link(t);
    t.sets[FREE_SET] = "link.remote_transfers=150";
    assert_int_equal(timed_cycles(t), there + LATENCY + 60 + back);
    t.sets[FREE_SET + 1] = "l1d.sectored=on";
    assert_int_equal(timed_cycles(t), there + LATENCY + 40 + back);
    t.n[0] = 1;
    assert_int_equal(timed_cycles(t), there + LATENCY + 7 + back);
}

static void reads_without_a_tag_wait_for_one(void **state)
{
    (void)state;
    struct timed t = remote();
    t.kernel = burst;
    t.n[0] = 6;
    uint64_t there = to_link(t), back = from_link(t);
    t.sets[FREE_SET] = "link.remote_reads=1";
    assert_int_equal(timed_cycles(t), there + 6 * (LATENCY + 10) + back);
    t.sets[FREE_SET] =
        "link.remote_reads=2"; /* 2 by 2; the second of a pair a cycle later, then on the link behind it */
    assert_int_equal(timed_cycles(t), there + 3 * LATENCY + 40 + back);
}

static void remote_pages_of_every_size_are_read_where_they_are(void **state)
{
    (void)state;
    static const char *const sizes[] = {"page.size=4KB", "page.size=64KB", "page.size=2MB"};
    for (size_t i = 0; i < 3; i++) {
        struct timed t = remote();
        t.kernel = chain;
        t.bytes = 6 << 20;
        t.sets[FREE_SET] = sizes[i];
        t.n[0] = 3;
        t.n[1] = 5 << 20;
        t.n[2] = (3 << 20) + 4096;
        assert_int_equal(timed_run(&t), 3 * (to_link(remote()) + LATENCY + 10 + from_link(remote())));
        assert_int_equal(timed_count(&t, "uvm.pages_remote"), (6 << 20) / 4096);
        assert_int_equal(timed_count(&t, "mem.mapped_bytes"), 0);
        timed_end(&t);
    }
}

static struct pw_link *open_link(struct pw_events **out_events)
{
    struct pw_link_config c = {.model = PW_LINK_LINEAR, .start_us = {1, 1}, .gbytes_per_second = {4.096, 8.192}};
    struct pw_link *l;
    struct pw_error err;
    *out_events = pw_events_create(&err);
    assert_non_null(*out_events);
    assert_int_equal(pw_link_create(&c, 1000, *out_events, &l, &err), PW_OK);
    return l;
}

/* A page takes 1000 + 1000 cycles, a small transfer of 4096 bytes 1000. */
static void small_transfers_pass_pages_under_way_and_delay_those_queued_later(void **state)
{
    (void)state;
    struct pw_events *events;
    struct pw_link *l = open_link(&events);
    assert_int_equal(pw_link_send(l, PW_LINK_H2D, 4096, 0, NULL, NULL, 0), 2000);
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 4096, 500), 1500);
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 4096, 500), 2500);
    assert_int_equal(pw_link_send(l, PW_LINK_H2D, 4096, 600, NULL, NULL, 0), 2000 + 2000 + 2000);
    assert_int_equal(pw_link_send_small(l, PW_LINK_D2H, 4096, 500), 1000); /* the other direction is its own */
    assert_int_equal(pw_link_counters(l, PW_LINK_H2D)->bytes, 2 * 4096);
    assert_int_equal(pw_link_counters(l, PW_LINK_H2D)->small_bytes, 2 * 4096);
    pw_link_destroy(l);
    pw_events_destroy(events);
}

static void a_page_waits_for_small_transfers_on_an_idle_link(void **state)
{
    (void)state;
    struct pw_events *events;
    struct pw_link *l = open_link(&events);
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 4096, 100), 1100);
    assert_int_equal(pw_link_send(l, PW_LINK_H2D, 4096, 200, NULL, NULL, 0), 1100 + 2000);
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 1, 5000), 5001); /* a quarter of a cycle */
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 3, 5000), 5001);
    assert_int_equal(pw_link_send_small(l, PW_LINK_H2D, 1, 5000), 5002);
    assert_int_equal(pw_link_send(l, PW_LINK_H2D, 4096, 9000, NULL, NULL, 0), 11000);
    pw_link_destroy(l);
    pw_events_destroy(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remote_read_takes_the_round_trip_and_its_time_on_the_link),
        cmocka_unit_test(a_sectored_cache_reads_sectors_in_units_of_remote_bytes),
        cmocka_unit_test(a_remote_write_is_done_half_a_round_trip_after_it_has_left),
        cmocka_unit_test(a_remote_atomic_with_a_result_goes_both_ways),
        cmocka_unit_test(reads_overlap_but_for_their_time_on_the_link),
        cmocka_unit_test(remote_accesses_may_have_less_bandwidth_than_long_transfers),
        cmocka_unit_test(remote_accesses_in_a_second_are_limited_however_short),
        cmocka_unit_test(reads_without_a_tag_wait_for_one),
        cmocka_unit_test(remote_pages_of_every_size_are_read_where_they_are),
        cmocka_unit_test(small_transfers_pass_pages_under_way_and_delay_those_queued_later),
        cmocka_unit_test(a_page_waits_for_small_transfers_on_an_idle_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
