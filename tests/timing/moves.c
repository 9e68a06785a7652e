/* One page that moves to another GPU, in exact cycles and by part; pages that move once, or cannot move.
 *
 * All pages are on GPU 0, whose SM has CTA 0; CTA i is GPU i's. What a case does not access is idle. */
#include "timed.h"

enum { GPUS = 4, SWITCH = 140, REQUEST = 16, HEADER = 16, BYTES_A_CYCLE = 16, WAY = 2 * SWITCH + 1 };
enum { CTA, BYTE, OWNER_TOO, DELAY }; /* of n: who loads, what, whether GPU 0 does too, how late */

static void load_once(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index == t->n[CTA] || (w->cta_index == 0 && t->n[OWNER_TOO]))
        timed_fetch(w, t, t->n[BYTE]);
}

static struct timed program(const char *remote)
{
    return (struct timed){
        .machine = "mgpu4",
        .design = "centralized",
        .sets = {remote, "place.policy=single", "sm.count=1", "dram.bytes=64MB", "dram.clock_mhz=1000"},
        .ctas = GPUS,
        .kernel = load_once,
        .n = {[CTA] = 1}};
}

static unsigned gpu_of(const struct timed *t, uint64_t byte)
{
    enum { BYTES_SHIFT = 26 }; /* 64 MB */
    return (unsigned)(timed_physical(t, byte) >> BYTES_SHIFT);
}

static void check_mean(const struct timed *t, const char *metric, double expected)
{
    if (timed_value(t, metric) != expected)
        fail_msg("%s is %g, not %g", metric, timed_value(t, metric), expected);
}

/* The host's link takes a message of 16 bytes in a cycle: the message reaches the last GPU GPUS - 1 cycles after the
 * first, and its acknowledgement is the last. Then the page crosses one switch to the neighbour, three to the others,
 * behind a header. */
static pw_cycle invalidation(void)
{
    return 2 * WAY + (GPUS - 1);
}

static pw_cycle transfer(unsigned switches, uint64_t bytes)
{
    return switches * SWITCH + (HEADER + bytes) / BYTES_A_CYCLE;
}

/* gmmu-sec22-migration: the page goes to the GPU that asks, which waits for all of it. */
static void an_idle_page_moves_in_known_time(void **state)
{
    (void)state;
    for (unsigned gpu = 1; gpu < GPUS; gpu++) {
        struct timed t = program("place.remote=migrate");
        t.n[CTA] = gpu;
        timed_run(&t);
        pw_cycle crossing = transfer(gpu == 1 ? 1 : 3, PW_PAGE_BYTES);
        assert_int_equal(timed_count(&t, "move.pages"), 1);
        assert_int_equal(timed_count(&t, "move.bytes"), PW_PAGE_BYTES);
        assert_int_equal(timed_count(&t, "move.refused"), 0);
        check_mean(&t, "move.invalidate_mean", (double)invalidation());
        check_mean(&t, "move.drain_mean", 0);
        check_mean(&t, "move.transfer_mean", (double)crossing);
        check_mean(&t, "route.move_mean", (double)(invalidation() + crossing));
        assert_int_equal(gpu_of(&t, 0), gpu);
        assert_int_equal(gpu_of(&t, PW_PAGE_BYTES), 0);
        assert_int_equal(timed_count(&t, "peer.reads"), 0); /* it is local by now */
        assert_int_equal(timed_count(&t, "route.local"), 1);
        timed_end(&t);
    }
}

/* It is then an access like that of the owner's, after the move. */
static void a_move_delays_its_access_by_its_time(void **state)
{
    (void)state;
    struct timed local = program("place.remote=direct"), moved = program("place.remote=migrate");
    local.n[CTA] = 0;
    assert_int_equal(timed_cycles(moved), timed_cycles(local) + invalidation() + transfer(1, PW_PAGE_BYTES));
}

static void a_page_of_2_mb_takes_as_much_longer(void **state)
{
    (void)state;
    struct timed t = program("place.remote=migrate");
    t.sets[5] = "page.size=2MB";
    t.bytes = 4 << 20;
    timed_run(&t);
    check_mean(&t, "move.transfer_mean", (double)transfer(1, 2 << 20));
    assert_int_equal(timed_count(&t, "move.bytes"), 2 << 20);
    assert_int_equal(gpu_of(&t, (2 << 20) - 1), 1);
    assert_int_equal(gpu_of(&t, 2 << 20), 0);
    timed_end(&t);
}

static double drain(const char *path)
{
    struct timed t = program("place.remote=migrate");
    t.sets[5] = path;
    t.design = "distributed"; /* GPU 0's own access begins before the move */
    t.n[OWNER_TOO] = 1;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 1);
    check_mean(&t, "move.transfer_mean", (double)transfer(1, PW_PAGE_BYTES));
    double cycles = timed_value(&t, "move.drain_mean");
    timed_end(&t);
    return cycles;
}

/* The page stays until the access that has begun is over: what is added to that is added to the drain. */
static void a_page_waits_for_accesses_in_flight(void **state)
{
    (void)state;
    double slow = drain("dram.path=5000"), slower = drain("dram.path=6000");
    assert_true(slow > 0);
    assert_true(slower - slow == 1000);
    assert_true(drain("dram.path=0") == 0);
}

/* GPU 0 asks for its own page while that is on its way to GPU 1. */
static void load_late(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index == 0)
        pw_compute(w, (uint32_t)t->n[DELAY]);
    if (w->cta_index <= 1)
        timed_fetch(w, t, 0);
}

/* Its own walk finds nothing, so that it waits at the host too, and then accesses the page where it has gone. */
static void nobody_finds_a_page_that_moves(void **state)
{
    (void)state;
    struct timed t = program("place.remote=migrate");
    t.design = "distributed";
    t.kernel = load_late;
    t.n[DELAY] = 600; /* cycles; the move begins after two walks and a way, 481, and takes 962 */
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 1);
    assert_int_equal(timed_count(&t, "move.waited"), 2);
    assert_int_equal(timed_count(&t, "route.remote"), 1);
    assert_int_equal(timed_count(&t, "route.gmmu_walks"), 2);
    assert_int_equal(timed_count(&t, "route.iommu_walks"), 2);
    assert_int_equal(timed_count(&t, "peer.reads"), 1);
    assert_int_equal(gpu_of(&t, 0), 1);
    timed_end(&t);
}

/* GPU 0 has the translation when the page leaves, and wants the page while it is on its way. */
static void load_before_and_during(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index > 1)
        return;
    if (w->cta_index == 0)
        timed_fetch(w, t, 0);
    pw_compute(w, (uint32_t)t->n[w->cta_index ? CTA : DELAY]);
    timed_fetch(w, t, PW_LINE_BYTES);
}

/* Its TLBs have lost the page, so that it waits as all others do. With an entry left it would access the page, which
 * would stay until then. */
static void no_tlb_keeps_a_page_that_moves(void **state)
{
    (void)state;
    enum { BEFORE = 2000, UNDER_WAY = 600 };
    for (unsigned during = 0; during < 2; during++) {
        struct timed t = program("place.remote=migrate");
        t.design = "distributed";
        t.kernel = load_before_and_during;
        t.n[CTA] = BEFORE;
        t.n[DELAY] = during ? BEFORE + UNDER_WAY : BEFORE - UNDER_WAY;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "move.pages"), 1);
        assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 3);
        assert_int_equal(timed_count(&t, "l1_tlb.hits"), !during);
        assert_int_equal(timed_count(&t, "move.waited"), 1 + during);
        assert_int_equal(timed_count(&t, "peer.reads"), during);
        check_mean(&t, "move.drain_mean", 0);
        check_mean(&t, "move.transfer_mean", (double)transfer(1, PW_PAGE_BYTES));
        timed_end(&t);
    }
}

/* The same page number of two applications, which move at the same time, each to the GPU that asks for it. */
static void pages_of_two_applications_move_each_for_itself(void **state)
{
    (void)state;
    struct timed other = program("place.remote=migrate"), t = other;
    t.sets[2] = "sm.count=2";
    t.neighbours[0] = &other;
    other.n[CTA] = 2;
    timed_run(&t);
    assert_int_equal(t.a.base.v, other.a.base.v);
    for (unsigned app = 0; app < 2; app++) {
        assert_int_equal(timed_launch_count(&t, app, 1, "move.pages"), 1);
        assert_int_equal(timed_launch_count(&t, app, 1, "move.waited"), 1);
    }
    assert_int_equal(gpu_of(&t, 0), 1);
    assert_int_equal(gpu_of(&other, 0), 2);
    assert_int_equal(timed_count(&t, "peer.reads"), 0);
    timed_end(&t);
}

/* GPU 1 in the first launch, GPU 2 in the second, GPU 0 in the third. */
static void load_in_turn(struct pw_warp *w, struct timed *t)
{
    static const uint32_t who[] = {1, 2, 0};
    if (w->cta_index == who[t->launch])
        timed_fetch(w, t, 0);
}

static struct timed in_turn(const char *remote)
{
    struct timed t = program(remote);
    t.kernel = load_in_turn;
    t.launches = 3;
    return t;
}

static void a_page_follows_whoever_asks(void **state)
{
    (void)state;
    struct timed t = in_turn("place.remote=migrate");
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 3);
    assert_int_equal(gpu_of(&t, 0), 0);
    assert_int_equal(timed_count(&t, "peer.reads"), 0);
    timed_end(&t);
}

/* gmmu-sec22-first-touch: the host moves it to the first that asks; later it is accessed there. */
static void with_first_touch_it_moves_once(void **state)
{
    (void)state;
    struct timed t = in_turn("place.remote=first-touch");
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 1);
    assert_int_equal(gpu_of(&t, 0), 1);
    assert_int_equal(timed_count(&t, "peer.reads"), 2);
    timed_end(&t);
}

/* gmmu-sec22-first-touch: as a placement, it has no place before it is asked for, and nothing moves. */
static void placed_by_first_touch_it_is_where_it_was_asked_for(void **state)
{
    (void)state;
    struct timed t = in_turn("place.remote=direct");
    t.sets[1] = "place.policy=first-touch";
    timed_run(&t);
    assert_int_equal(gpu_of(&t, 0), 1);
    assert_int_equal(timed_count(&t, "peer.reads"), 2);
    assert_int_equal(timed_count(&t, "route.local"), 1);
    assert_int_equal(timed_count(&t, "route.remote"), 2);
    timed_end(&t);
}

/* GPU 0, GPU 1 and GPU 0 again. */
static void load_here_and_there(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index == t->launch % 2)
        timed_fetch(w, t, 0);
}

/* A page that has left is in no cache: when it comes back, to the same frame, nothing of it is found there. */
static void caches_forget_a_page_that_leaves(void **state)
{
    (void)state;
    struct timed t = program("place.remote=migrate");
    t.kernel = load_here_and_there;
    t.launches = 3;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 2);
    assert_int_equal(gpu_of(&t, 0), 0);
    assert_int_equal(timed_count(&t, "l1d.hits"), 0);
    assert_int_equal(timed_count(&t, "l2.accesses"), 3);
    assert_int_equal(timed_count(&t, "l2.misses"), 3);
    timed_end(&t);
}

/* Two GPUs of 8 MB: a block for page tables, and pages of 2 MB in all the others. */
static void without_room_a_page_stays_and_is_accessed_there(void **state)
{
    (void)state;
    struct timed t = program("place.remote=migrate");
    t.sets[3] = "dram.bytes=8MB";
    t.sets[5] = "page.size=2MB";
    t.sets[6] = "gpu.count=2";
    t.ctas = 2;
    t.bytes = 12 << 20;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "move.pages"), 0);
    assert_int_equal(timed_count(&t, "move.refused"), 1);
    assert_int_equal(timed_count(&t, "route.remote"), 1);
    assert_int_equal(timed_count(&t, "peer.reads"), 1);
    assert_int_equal(timed_physical(&t, 0) >> 23, 0);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_page_moves_in_known_time),
        cmocka_unit_test(a_move_delays_its_access_by_its_time),
        cmocka_unit_test(a_page_of_2_mb_takes_as_much_longer),
        cmocka_unit_test(a_page_waits_for_accesses_in_flight),
        cmocka_unit_test(nobody_finds_a_page_that_moves),
        cmocka_unit_test(no_tlb_keeps_a_page_that_moves),
        cmocka_unit_test(pages_of_two_applications_move_each_for_itself),
        cmocka_unit_test(a_page_follows_whoever_asks),
        cmocka_unit_test(with_first_touch_it_moves_once),
        cmocka_unit_test(placed_by_first_touch_it_is_where_it_was_asked_for),
        cmocka_unit_test(caches_forget_a_page_that_leaves),
        cmocka_unit_test(without_room_a_page_stays_and_is_accessed_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
