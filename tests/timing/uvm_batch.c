/* Exact cycles of batch service: when the driver takes faults, in which order it serves blocks, when accesses are
 * replayed. The driver's own work is 10000 cycles per batch, 2000 per block and 300 per fault; n pages cross the link
 * in 1000 + 1000 n cycles. */
#include "uvm_fixture.h"

enum { BATCH = 10000, BLOCK = 2000, FAULT = 300 };

static pw_cycle in(uint64_t pages)
{
    return 1000 + 1000 * pages;
}

#define REPLAYED(f, vpn) uvm_time(f, UVM_REPLAY, vpn, 0)
#define MAPPED(f, vpn) uvm_time(f, UVM_MAP, vpn, 0)

static struct uvm_fixture *new_batches(const char *prefetch)
{
    struct uvm_fixture *f = uvm_new(prefetch, "lru4k");
    f->config.service = PW_SERVICE_BATCH;
    f->config.batch_latency = BATCH;
    f->config.block_latency = BLOCK;
    f->config.batch_fault_latency = FAULT;
    return f;
}

/* Faults that come until the driver reads the buffer are in the batch; blocks follow each other, each with its work and
 * then its copies; accesses are replayed at the end, not when their page comes. */
static void a_batch_is_served_block_by_block_and_replayed_at_its_end(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 2048);
    uvm_fault_at(f, 600, 0);
    uvm_fault_at(f, 5, BATCH - 1);
    uvm_fault_at(f, 0, 1);
    uvm_fault_at(f, 1, BATCH + 1);
    pw_cycle first_copy = BATCH + BLOCK + 2 * FAULT, second_copy = first_copy + 2 * in(1) + BLOCK + FAULT;
    pw_cycle end = second_copy + in(1);
    uvm_run(f, end);
    assert_int_equal(REPLAYED(f, 0), PW_NEVER);
    uvm_run(f, PW_NEVER);
    assert_int_equal(MAPPED(f, 0), first_copy + in(1));
    assert_int_equal(MAPPED(f, 5), first_copy + 2 * in(1));
    assert_int_equal(MAPPED(f, 600), end);
    assert_int_equal(REPLAYED(f, 0), end);
    assert_int_equal(REPLAYED(f, 5), end);
    assert_int_equal(REPLAYED(f, 600), end);
    assert_int_equal(REPLAYED(f, 1), end + BATCH + BLOCK + FAULT + in(1));
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 2);
    assert_int_equal(rows[0].taken, BATCH);
    assert_int_equal(rows[0].done, end);
    assert_int_equal(rows[0].faults, 3);
    assert_int_equal(rows[0].blocks, 2);
    assert_int_equal(rows[0].pages_in, 3);
    assert_int_equal(rows[1].faults, 1);
    uvm_close(f);
}

/* Blocks are served in order of address, whatever the order of the faults. */
static void blocks_are_sorted_by_address(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 2048);
    for (uint64_t i = 4; i-- > 0;)
        uvm_fault_at(f, 512 * i, 0);
    uvm_run(f, PW_NEVER);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(MAPPED(f, 512 * i), BATCH + (i + 1) * (BLOCK + FAULT + in(1)));
    uvm_close(f);
}

/* Pages of the same numbers, whose faults come in turn: a block of each, one after the other. */
static void applications_do_not_break_up_each_others_blocks(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 512);
    assert_int_equal(pw_uvm_allocate(f->uvm, 1, "b", (pw_vpn){0}, 512 * PW_PAGE_BYTES, &f->err), PW_OK);
    for (uint64_t i = 0; i < 8; i++)
        pw_events_post(f->events, 0, uvm_fault_event, f, i % 2 << 32 | 10 * i);
    uvm_run(f, PW_NEVER);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(MAPPED(f, 10 * i),
                         BATCH + (1 + i % 2) * (BLOCK + 4 * FAULT) + (1 + i / 2 + i % 2 * 4) * in(1));
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 1);
    assert_int_equal(rows[0].faults, 8);
    assert_int_equal(rows[0].blocks, 2);
    uvm_close(f);
}

/* The prefetcher sees all faults of the batch in a block; faulted and prefetched pages cross together. */
static void a_block_is_decided_with_all_its_faults_and_copied_in_runs(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("nvidia"), 512);
    /* 17 of 32 leaves are more than 51%: the whole block comes. */
    for (uint64_t i = 0; i < 17; i++)
        uvm_fault_at(f, 16 * i + i % 16, 0);
    uvm_run(f, PW_NEVER);
    assert_int_equal(MAPPED(f, 0), BATCH + BLOCK + 17 * FAULT + in(512));
    assert_int_equal(MAPPED(f, 511), BATCH + BLOCK + 17 * FAULT + in(512));
    assert_int_equal(uvm_link(f, PW_LINK_H2D)->transfers, 1);
    assert_int_equal(uvm_counters(f)->far_faults, 17);
    assert_int_equal(uvm_counters(f)->pages_prefetched, 512 - 17);
    uvm_close(f);
}

static void a_batch_has_at_most_batch_faults(void **state)
{
    (void)state;
    struct uvm_fixture *f = new_batches("none");
    f->config.batch_faults = 2;
    uvm_open(f, 64);
    for (uint64_t i = 0; i < 5; i++)
        uvm_fault_at(f, 10 * i, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle two = BATCH + BLOCK + 2 * FAULT + 2 * in(1);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(REPLAYED(f, 10 * i), (i / 2 + 1) * two);
    assert_int_equal(REPLAYED(f, 40), 2 * two + BATCH + BLOCK + FAULT + in(1));
    uvm_close(f);
}

/* A second fault on a page is no entry of its own, before the first is taken and after. */
static void faults_on_one_page_are_one_entry(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 64);
    uvm_fault_at(f, 3, 0);
    uvm_fault_at(f, 3, 1);
    uvm_fault_at(f, 3, BATCH + 1);
    uvm_fault_at(f, 3, BATCH + BLOCK + FAULT + 1);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 3), BATCH + BLOCK + FAULT + in(1));
    assert_int_equal(uvm_time(f, UVM_REPLAY, 3, 1), PW_NEVER);
    assert_int_equal(uvm_counters(f)->far_faults, 1);
    assert_int_equal(uvm_counters(f)->merged_faults, 3);
    uvm_close(f);
}

/* A fault that is still in the buffer when its page comes with another's is replayed with the batch; it costs no batch
 * of its own. */
static void who_finds_its_page_after_the_batch_goes_on(void **state)
{
    (void)state;
    struct uvm_fixture *f = new_batches("sl");
    f->config.batch_faults = 1;
    uvm_open(f, 64);
    uvm_fault_at(f, 0, 0);
    uvm_fault_at(f, 3, 0);                         /* in the buffer */
    uvm_fault_at(f, 7, BATCH + BLOCK + FAULT + 1); /* on its way */
    uvm_run(f, PW_NEVER);
    pw_cycle end = BATCH + BLOCK + FAULT + in(16);
    assert_int_equal(REPLAYED(f, 0), end);
    assert_int_equal(REPLAYED(f, 3), end);
    assert_int_equal(REPLAYED(f, 7), end);
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 1);
    assert_int_equal(uvm_counters(f)->far_faults, 1);
    assert_int_equal(uvm_counters(f)->merged_faults, 2);
    uvm_close(f);
}

/* A page that leaves between its arrival and the end of its batch, because another access had used it, is fetched
 * again. */
static void a_page_evicted_before_its_replay_is_asked_for_again(void **state)
{
    (void)state;
    struct uvm_fixture *f = new_batches("none");
    f->config.memory = 2 * PW_PAGE_BYTES;
    uvm_open(f, 2048);
    for (uint64_t i = 0; i < 3; i++)
        uvm_fault_at(f, 512 * i, 0);
    pw_cycle step = BLOCK + FAULT + in(1);
    uvm_run(f, BATCH + step + 1);
    assert_true(f->mapped[0][0]);
    uvm_touch(f, 0, false);
    uvm_run(f, PW_NEVER);
    pw_cycle end = BATCH + 3 * step;
    assert_int_equal(uvm_time(f, UVM_UNMAP, 0, 0), end - in(1));
    assert_int_equal(REPLAYED(f, 512), end);
    assert_int_equal(REPLAYED(f, 1024), end);
    assert_int_equal(REPLAYED(f, 0), end + BATCH + step);
    assert_int_equal(uvm_time(f, UVM_REPLAY, 0, 1), PW_NEVER);
    uvm_close(f);
}

/* Pages of a batch that find no room let those before them be replayed, and come when these have made room; from then
 * on replays wait for the end of the batch again. */
static void a_batch_that_waits_for_room_replays_what_it_has(void **state)
{
    (void)state;
    struct uvm_fixture *f = new_batches("none");
    f->config.memory = 2 * PW_PAGE_BYTES;
    f->busy_for = 7000;
    uvm_open(f, 2048);
    for (uint64_t i = 0; i < 4; i++)
        uvm_fault_at(f, 512 * i, 0);
    uvm_run(f, PW_NEVER);
    pw_cycle step = BLOCK + FAULT + in(1), stalled = BATCH + 2 * step + BLOCK + FAULT;
    assert_int_equal(REPLAYED(f, 0), stalled);
    assert_int_equal(REPLAYED(f, 512), stalled);
    assert_int_equal(MAPPED(f, 1024), stalled + 7000 + in(1));
    assert_int_equal(REPLAYED(f, 1024), stalled + 7000 + in(1) + step);
    assert_int_equal(REPLAYED(f, 1536), stalled + 7000 + in(1) + step);
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 1);
    assert_int_equal(rows[0].pages_out, 2);
    uvm_close(f);
}

/* A page that an explicit prefetch brings while the driver is about to read the buffer is replayed as it comes; the
 * driver finds nothing to do. */
static void a_page_that_comes_before_its_fault_is_taken_is_replayed(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 64);
    uvm_fault_at(f, 3, 0);
    uvm_run(f, 1);
    pw_uvm_prefetch(f->uvm, 0, (pw_vpn){3}, 1, 100, NULL, NULL, 0);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 3), 100 + in(1));
    const struct pw_fault_batch *rows;
    assert_int_equal(pw_uvm_batches(f->uvm, &rows), 0);
    pw_cycle now = f->events->now;
    uvm_fault_at(f, 4, now);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 4), now + BATCH + BLOCK + FAULT + in(1));
    uvm_close(f);
}

/* A fault on a page of a freed allocation is not taken for one on the page that has its place now. */
static void an_allocation_in_the_same_place_is_another_one(void **state)
{
    (void)state;
    struct uvm_fixture *f = uvm_open(new_batches("none"), 64);
    uvm_fault_at(f, 3, 0);
    uvm_run(f, 10);
    assert_int_equal(pw_uvm_free(f->uvm, 0, (pw_vpn){0}, &f->err), PW_OK);
    assert_int_equal(pw_uvm_allocate(f->uvm, 0, "b", (pw_vpn){0}, 64 * PW_PAGE_BYTES, &f->err), PW_OK);
    uvm_fault_at(f, 3, 20);
    uvm_run(f, PW_NEVER);
    assert_int_equal(REPLAYED(f, 3), BATCH + BLOCK + FAULT + in(1));
    assert_int_equal(uvm_time(f, UVM_REPLAY, 3, 1), PW_NEVER);
    uvm_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_served_block_by_block_and_replayed_at_its_end),
        cmocka_unit_test(blocks_are_sorted_by_address),
        cmocka_unit_test(applications_do_not_break_up_each_others_blocks),
        cmocka_unit_test(a_block_is_decided_with_all_its_faults_and_copied_in_runs),
        cmocka_unit_test(a_batch_has_at_most_batch_faults),
        cmocka_unit_test(faults_on_one_page_are_one_entry),
        cmocka_unit_test(who_finds_its_page_after_the_batch_goes_on),
        cmocka_unit_test(a_page_evicted_before_its_replay_is_asked_for_again),
        cmocka_unit_test(a_batch_that_waits_for_room_replays_what_it_has),
        cmocka_unit_test(a_page_that_comes_before_its_fault_is_taken_is_replayed),
        cmocka_unit_test(an_allocation_in_the_same_place_is_another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
