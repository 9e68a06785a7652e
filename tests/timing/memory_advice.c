/* Memory advice on the whole machine: what faults, what moves, what is written back, and what a fault without a page
 * costs. Fault latencies are separated from everything else by running twice with two of them. */
#include "timed.h"

enum { LATENCY = 10000, PAGE = PW_PAGE_BYTES };

static struct timed demand(const char *advice)
{
    return (struct timed){.design = "gpu-mmu",
                          .sets = {"paging.mode=demand", advice, "uvm.prefetch=none", "uvm.fault_latency=10000"}};
}

enum { LATENCY_SET = 3, FREE_SET = 4 };

/* How many fault latencies the run takes one after the other; everything else stays. */
static uint64_t latencies(struct timed t)
{
    pw_cycle once = timed_cycles(t);
    t.sets[LATENCY_SET] = "uvm.fault_latency=20000";
    pw_cycle twice = timed_cycles(t);
    assert_int_equal((twice - once) % LATENCY, 0);
    return (twice - once) / LATENCY;
}

/* Reads of the first n[0] pages, one after the other, and then writes to the first n[1], the second to each in another
 * line. */
static void reads_then_writes(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, i * PAGE);
    for (uint64_t i = 0; i < t->n[1]; i++)
        pw_access_affine(w, PW_OP_ATOMIC_RETURN, 1, t->a.base.v + i * PAGE, 0, 4), pw_use(w);
    for (uint64_t i = 0; i < t->n[1]; i++)
        pw_access_affine(w, PW_OP_ATOMIC_RETURN, 1, t->a.base.v + i * PAGE + 512, 0, 4), pw_use(w);
}

static void a_preferred_place_on_the_host_maps_pages_where_they_are(void **state)
{
    (void)state;
    struct timed t = demand("uvm.advice=a:host");
    t.kernel = reads_then_writes;
    t.n[0] = 3;
    t.n[1] = 1;
    assert_int_equal(latencies(t), 3);
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 0);
    assert_int_equal(timed_count(&t, "uvm.pages_in"), 0);
    assert_int_equal(timed_count(&t, "uvm.pages_remote"), 3);
    assert_int_equal(timed_count(&t, "uvm.faults_registered"), 3);
    assert_int_equal(timed_count(&t, "uvm.remote_reads"), 3 + 2);
    assert_int_equal(timed_count(&t, "uvm.remote_writes"), 2);
    assert_int_equal(timed_count(&t, "link.h2d.transfers"), 0);
    timed_end(&t);
}

static void accessed_by_is_mapped_from_the_start_and_never_faults(void **state)
{
    (void)state;
    static const char *const texts[] = {"uvm.advice=a:accessed-by", "uvm.advice=a:accessed-by+a:host"};
    for (size_t i = 0; i < 2; i++) {
        struct timed t = demand(texts[i]);
        t.kernel = reads_then_writes;
        t.n[0] = 4;
        t.n[1] = 2;
        assert_int_equal(latencies(t), 0);
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.faults_registered"), 0);
        assert_int_equal(timed_count(&t, "uvm.pages_in"), 0);
        assert_int_equal(timed_count(&t, "uvm.pages_remote"), (1 << 20) / PAGE);
        assert_int_equal(timed_count(&t, "uvm.remote_reads"), 4 + 4);
        timed_end(&t);
    }
}

static void a_preferred_place_on_the_gpu_maps_nothing_remotely(void **state)
{
    (void)state;
    static const char *const texts[] = {"uvm.advice=a:device", "uvm.advice=a:device+a:accessed-by"};
    for (size_t i = 0; i < 2; i++) {
        struct timed t = demand(texts[i]), plain = demand("uvm.prefetch=none");
        t.kernel = plain.kernel = reads_then_writes;
        t.n[0] = plain.n[0] = 3;
        assert_int_equal(timed_run(&t), timed_cycles(plain));
        assert_int_equal(timed_count(&t, "uvm.far_faults"), 3);
        assert_int_equal(timed_count(&t, "uvm.pages_remote"), 0);
        timed_end(&t);
    }
}

/* Pages 0 to 2 come, and the writes to two of them are one more fault each; the second writes are free. */
static void the_first_write_to_a_copy_is_a_fault_without_a_transfer(void **state)
{
    (void)state;
    static const char *const ways[] = {"l1_tlb.on_miss=nonblocking", "l1_tlb.on_miss=stall_lsu",
                                       "uvm.service=parallel"};
    for (size_t i = 0; i < 3; i++) {
        struct timed t = demand("uvm.advice=a:read-mostly");
        t.kernel = reads_then_writes;
        t.sets[FREE_SET] = ways[i];
        t.n[0] = 3;
        t.n[1] = 2;
        assert_int_equal(latencies(t), 3 + 2);
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.far_faults"), 3);
        assert_int_equal(timed_count(&t, "uvm.pages_in"), 3);
        assert_int_equal(timed_count(&t, "uvm.pages_collapsed"), 2);
        assert_int_equal(timed_count(&t, "uvm.faults_registered"), 5);
        timed_end(&t);
    }
}

/* One warp writes a copy, another reads it meanwhile. */
static void read_beside_a_write(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
    pw_barrier(w);
    if (w->index) {
        pw_compute(w, 500);
        timed_fetch(w, t, 1024);
    } else {
        timed_store(w, t, 0);
    }
}

/* The reader finds the page in the TLB: it does not wait with the writer. */
static void a_copy_is_read_while_a_write_waits_for_it(void **state)
{
    (void)state;
    struct timed t = demand("uvm.advice=a:read-mostly");
    t.kernel = read_beside_a_write;
    t.threads = 2 * PW_WARP_LANES;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.pages_collapsed"), 1);
    assert_int_equal(timed_count(&t, "l1_tlb.misses"), 2); /* both of the first page, one merged */
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 2);
    timed_end(&t);
}

static void a_page_that_a_write_brings_comes_as_the_only_copy(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct timed t = demand("uvm.advice=a:read-mostly");
        t.kernel = reads_then_writes;
        t.sets[FREE_SET] = i ? "l1_tlb.on_miss=stall_lsu" : NULL;
        t.n[1] = 2;
        assert_int_equal(latencies(t), 2);
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.faults_registered"), 2);
        assert_int_equal(timed_count(&t, "uvm.pages_collapsed"), 0);
        timed_end(&t);
    }
}

/* In a batch, such a fault costs what any fault in a batch does, but for the transfer. */
static void batches_serve_faults_without_pages(void **state)
{
    (void)state;
    static const struct {
        const char *advice;
        uint64_t batches, in, remote, collapsed;
    } cases[] = {{"uvm.advice=a:read-mostly", 5, 3, 0, 2}, {"uvm.advice=a:host", 3, 0, 3, 0}};
    for (size_t i = 0; i < 2; i++) {
        struct timed t = demand(cases[i].advice);
        t.kernel = reads_then_writes;
        t.sets[FREE_SET] = "uvm.service=batch";
        t.sets[FREE_SET + 1] = "uvm.block_latency=300";
        t.sets[FREE_SET + 2] = "uvm.batch_latency=10000";
        t.n[0] = 3;
        t.n[1] = 2;
        pw_cycle once = timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.batches"), cases[i].batches);
        assert_int_equal(timed_count(&t, "uvm.pages_in"), cases[i].in);
        assert_int_equal(timed_count(&t, "uvm.pages_remote"), cases[i].remote);
        assert_int_equal(timed_count(&t, "uvm.pages_collapsed"), cases[i].collapsed);
        timed_end(&t);
        t.sets[FREE_SET + 2] = "uvm.batch_latency=20000";
        assert_int_equal(timed_cycles(t) - once, cases[i].batches * 10000);
    }
}

/* Reads (n[1]: and writes) 16 pages of a, reads them again, then 16 of b, and a once more, in memory for 16. */
static void one_array_after_the_other(struct pw_host *h, struct timed *t)
{
    struct pw_array a = pw_alloc(h, "a", 16 * PAGE, 1), b = pw_alloc(h, "b", 16 * PAGE, 1);
    if (t->n[2])
        pw_prefetch(h, &a);
    struct pw_array order[] = {a, a, b, a};
    t->n[0] = 16;
    uint64_t writes = t->n[1];
    for (t->launch = 0; t->launch < 4; t->launch++) {
        t->a = order[t->launch];
        t->n[1] = t->launch == 0 ? writes : 0;
        timed_launch(h, t);
    }
}

static struct timed pressed(const char *advice, const char *evict)
{
    struct timed t = demand(advice);
    t.body = one_array_after_the_other;
    t.kernel = reads_then_writes;
    t.sets[FREE_SET] = "uvm.memory=64KB";
    t.sets[FREE_SET + 1] = evict;
    return t;
}

/* The policy sl writes whole blocks back, clean or not. */
static void copies_leave_without_being_written_back(void **state)
{
    (void)state;
    static const struct {
        const char *advice;
        uint64_t writes, written;
    } cases[] = {{"uvm.prefetch=none", 0, 32},
                 {"uvm.advice=a:read-mostly", 0, 16},
                 {"uvm.advice=a:read-mostly+b:read-mostly", 0, 0},
                 {"uvm.advice=a:read-mostly+b:read-mostly", 5, 5}};
    for (size_t i = 0; i < 4; i++) {
        struct timed t = pressed(cases[i].advice, "uvm.evict=sl");
        t.n[1] = cases[i].writes;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.pages_evicted"), 32);
        assert_int_equal(timed_count(&t, "uvm.pages_written"), cases[i].written);
        assert_int_equal(timed_count(&t, "link.d2h.bytes"), cases[i].written * PAGE);
        assert_int_equal(timed_count(&t, "uvm.pages_collapsed"), cases[i].writes);
        timed_end(&t);
    }
}

/* Prefetched to the GPU, a page is read there; b drives it out, and it is read over the link, still without a fault. */
static void accessed_by_follows_the_page_to_the_gpu_and_back(void **state)
{
    (void)state;
    struct timed t = pressed("uvm.advice=a:accessed-by", "uvm.evict=lru4k");
    t.n[2] = 1;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.faults_registered"), 16); /* those of b */
    assert_int_equal(timed_count(&t, "uvm.pages_in"), 32);
    assert_int_equal(timed_count(&t, "uvm.pages_evicted"), 16);
    assert_int_equal(timed_count(&t, "uvm.pages_remote"), 16 + 16);
    static const uint64_t remote[] = {0, 0, 16};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(timed_launch_count(&t, 0, i + 2, "uvm.remote_reads"), remote[i]);
    timed_end(&t);
}

/* One array before the first launch and one between launches; n[2]: the program prefetches both itself. */
static void two_arrays(struct pw_host *h, struct timed *t)
{
    for (t->launch = 0; t->launch < 2; t->launch++) {
        t->a = pw_alloc(h, t->launch ? "b" : "a", 16 * PAGE, 1);
        if (t->n[2])
            pw_prefetch(h, &t->a);
        timed_launch(h, t);
    }
}

static void a_prefetch_by_name_is_the_programs_own_call(void **state)
{
    (void)state;
    pw_cycle cycles[2];
    for (unsigned own = 0; own < 2; own++) {
        struct timed t = demand(own ? "uvm.advice=" : "uvm.advice=a:prefetch+b:prefetch");
        t.body = two_arrays;
        t.kernel = reads_then_writes;
        t.n[0] = 16;
        t.n[2] = own;
        cycles[own] = timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.far_faults"), 0);
        assert_int_equal(timed_count(&t, "uvm.pages_in"), 32);
        timed_end(&t);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

/* One instruction writes to n[0] copies, or reads n[0] pages that stay in host memory. */
static void one_access_to_many_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; t->n[1] && i < t->n[0]; i++)
        timed_fetch(w, t, i * PAGE);
    pw_access_affine(w, t->n[1] ? PW_OP_ATOMIC_RETURN : PW_OP_LOAD, (1U << t->n[0]) - 1, t->a.base.v, PAGE, 4);
    pw_use(w);
}

/* Eight faults of 10,000 cycles one after the other, and neither an instruction nor a page comes meanwhile. */
static void faults_without_a_page_are_progress(void **state)
{
    (void)state;
    for (unsigned copies = 0; copies < 2; copies++) {
        struct timed t = demand(copies ? "uvm.advice=a:read-mostly" : "uvm.advice=a:host");
        t.kernel = one_access_to_many_pages;
        t.sets[FREE_SET] = "sim.progress_limit=40000";
        t.sets[FREE_SET + 1] = "uvm.service=serial";
        t.n[0] = 8;
        t.n[1] = copies;
        timed_run(&t);
        assert_int_equal(timed_count(&t, copies ? "uvm.pages_collapsed" : "uvm.pages_remote"), 8);
        timed_end(&t);
    }
}

/* Advice given by the program: taken back before the second launch, and gone with the array before the third. */
static void program_with_advice(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    pw_mem_advise(h, &t->a, PW_ADVICE_ACCESSED_BY | PW_ADVICE_PREFER_HOST);
    timed_launch(h, t);
    pw_mem_advise(h, &t->a, 0);
    timed_launch(h, t);
    pw_mem_advise(h, &t->a, PW_ADVICE_ACCESSED_BY);
    timed_launch(h, t);
    pw_free(h, &t->a);
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    timed_launch(h, t);
}

static void a_program_can_advise_and_think_again(void **state)
{
    (void)state;
    struct timed t = demand("uvm.prefetch=none");
    t.body = program_with_advice;
    t.kernel = reads_then_writes;
    t.n[0] = 2;
    timed_run(&t);
    static const uint64_t faults[] = {0, 2, 0, 2}, remote[] = {2, 0, 0, 0};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(timed_launch_count(&t, 0, i + 1, "uvm.far_faults"), faults[i]);
        assert_int_equal(timed_launch_count(&t, 0, i + 1, "uvm.remote_reads"), remote[i]);
    }
    assert_int_equal(timed_count(&t, "uvm.pages_remote"), 256 + 254);
    assert_int_equal(timed_count(&t, "mem.mapped_bytes"), 2 * PAGE); /* of device memory */
    timed_end(&t);
}

static void advise_badly(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    pw_mem_advise(h, &t->a, PW_ADVICE_PREFER_DEVICE | PW_ADVICE_PREFER_HOST);
}

static void impossible_advice_ends_the_run_with_a_users_error(void **state)
{
    (void)state;
    struct timed t = demand("uvm.advice=a:host+wall:read-mostly");
    t.kernel = reads_then_writes;
    t.n[0] = 1;
    assert_int_equal(timed_try(&t), PW_USER_ERROR);
    assert_string_equal(t.err.message, "uvm.advice: no allocation is called 'wall'; there are a, and 'all' for each");
    timed_end(&t);
    struct timed bad = demand("uvm.prefetch=none");
    bad.body = advise_badly;
    assert_int_equal(timed_try(&bad), PW_USER_ERROR);
    assert_non_null(strstr(bad.err.message, "two preferred locations"));
    timed_end(&bad);
}

/* Loads, stores and both kinds of atomics at random places of a. */
static void anything_anywhere(struct pw_warp *w, struct timed *t)
{
    static const enum pw_op_kind kinds[] = {PW_OP_LOAD, PW_OP_LOAD, PW_OP_STORE, PW_OP_ATOMIC, PW_OP_ATOMIC_RETURN};
    struct pw_random r;
    pw_random_init(&r, w->cta_index * 64 + w->index + 1, "anything");
    for (unsigned i = 0; i < 40; i++) {
        uint64_t page = pw_random_below(&r, 96), line = pw_random_below(&r, PAGE / PW_LINE_BYTES);
        uint64_t byte = page * PAGE + line * PW_LINE_BYTES;
        pw_access_affine(w, kinds[pw_random_below(&r, 5)], 1, t->a.base.v + byte, 0, 4);
        if (i % 3 == 0)
            pw_use(w);
    }
    pw_use(w);
}

/* Many warps, memory for half of their pages, all kinds of service: all come to an end, and every identity holds. */
static void advice_holds_up_under_pressure(void **state)
{
    (void)state;
    static const char *const services[] = {"uvm.service=serial", "uvm.service=parallel", "uvm.service=batch"};
    static const char *const advice[] = {"uvm.advice=a:read-mostly", "uvm.advice=a:host", "uvm.advice=a:accessed-by"};
    static const char *const misses[] = {"l1_tlb.on_miss=nonblocking", "l1_tlb.on_miss=stall_lsu"};
    for (size_t i = 0; i < 18; i++) {
        struct timed t = demand(advice[i / 6]);
        t.kernel = anything_anywhere;
        t.ctas = 40;
        t.threads = 128;
        t.launches = 2;
        t.sets[LATENCY_SET] = "uvm.fault_latency=500";
        t.sets[FREE_SET] = services[i / 2 % 3];
        t.sets[FREE_SET + 1] = misses[i % 2];
        t.sets[FREE_SET + 2] = "uvm.memory=192KB";
        t.sets[FREE_SET + 3] = "uvm.evict=sl";
        t.sets[FREE_SET + 4] = "uvm.batch_latency=1000";
        t.sets[FREE_SET + 5] = "uvm.block_latency=100";
        timed_run(&t);
        bool copies = i / 6 == 0;
        assert_int_equal(timed_count(&t, "uvm.pages_collapsed") > 0, copies);
        assert_int_equal(timed_count(&t, "uvm.pages_evicted") > 0, copies);
        assert_int_equal(timed_count(&t, "uvm.pages_in") == 0, !copies);
        assert_int_equal(timed_count(&t, "uvm.remote_reads") > 0, !copies);
        assert_true(timed_count(&t, "uvm.pages_written") <= timed_count(&t, "uvm.pages_evicted"));
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preferred_place_on_the_host_maps_pages_where_they_are),
        cmocka_unit_test(accessed_by_is_mapped_from_the_start_and_never_faults),
        cmocka_unit_test(a_preferred_place_on_the_gpu_maps_nothing_remotely),
        cmocka_unit_test(the_first_write_to_a_copy_is_a_fault_without_a_transfer),
        cmocka_unit_test(a_copy_is_read_while_a_write_waits_for_it),
        cmocka_unit_test(a_page_that_a_write_brings_comes_as_the_only_copy),
        cmocka_unit_test(batches_serve_faults_without_pages),
        cmocka_unit_test(copies_leave_without_being_written_back),
        cmocka_unit_test(a_prefetch_by_name_is_the_programs_own_call),
        cmocka_unit_test(faults_without_a_page_are_progress),
        cmocka_unit_test(accessed_by_follows_the_page_to_the_gpu_and_back),
        cmocka_unit_test(a_program_can_advise_and_think_again),
        cmocka_unit_test(impossible_advice_ends_the_run_with_a_users_error),
        cmocka_unit_test(advice_holds_up_under_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
