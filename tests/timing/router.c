/* Where a GPU's translation requests go, in exact cycles: to its own walkers, to the IOMMU, to both; which answer
 * counts, and what stays occupied until when. */
#include "routed.h"

/* There and back, and a lookup between; the way between GPU and host; a walk here or there. */
enum {
    DISTANCE = 10,
    LOOKUP = 10,
    TLB = DISTANCE + LOOKUP,
    WAY = 2 * 140 + 1,
    WALK = 100,
    HOST = WAY + WALK + WAY,
    T = 40, /* a request leaves its SM */
    LOCAL = 0,
    REMOTE = 1 /* to GPU 0: pages */
};

static const char *const both[] = {"route.mode=both", NULL};

static void check_walks(const struct routed *r, unsigned gpu, uint64_t local, uint64_t remote, uint64_t gmmu,
                        uint64_t iommu)
{
    assert_int_equal(routed_count(r, gpu, "route.local"), local);
    assert_int_equal(routed_count(r, gpu, "route.remote"), remote);
    assert_int_equal(routed_count(r, gpu, "route.gmmu_walks"), gmmu);
    assert_int_equal(routed_count(r, gpu, "route.iommu_walks"), iommu);
    assert_int_equal(routed_count(r, gpu, "route.duplicate_walks"), gmmu + iommu - local - remote);
}

static void check_mean(const struct routed *r, const char *metric, uint64_t sum, uint64_t requests)
{
    double mean = routed_value(r, 0, metric);
    if (mean * (double)requests != (double)sum)
        fail_msg("%s is %g", metric, mean);
}

/* gmmu-fig1-iommu, gmmu-fig1-return, gmmu-fig1-nogmmu: whether the page is local or remote, its miss goes to the IOMMU
 * and nowhere else. */
static void centralized_asks_the_iommu_for_every_page(void **state)
{
    (void)state;
    for (uint64_t page = 0; page < ROUTED_GPUS; page++) {
        struct routed *r = routed_create("centralized", NULL);
        routed_ask(r, 0, 3, page, T);
        routed_expect(r, 0, 3, T + TLB + HOST + DISTANCE);
        check_walks(r, 0, page == LOCAL, page != LOCAL, 0, 1);
        assert_int_equal(routed_count(r, 0, "walk.count"), 0);
        routed_destroy(r);
    }
}

/* gmmu-fig2-gmmu, gmmu-fig2-hit: a local page is the GMMU's alone. */
static void distributed_walks_local_pages_itself(void **state)
{
    (void)state;
    struct routed *r = routed_create("distributed", NULL);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    check_walks(r, 0, 1, 0, 1, 0);
    assert_int_equal(routed_count(r, 0, "walk.count"), 1);
    routed_destroy(r);
}

/* gmmu-fig2-miss, gmmu-fig2-return, gmmu-sec3-pte: the GPU's own walk takes its time and finds nothing, whichever other
 * GPU has the page; only then is the IOMMU asked. */
static void distributed_asks_the_iommu_when_its_own_walk_has_failed(void **state)
{
    (void)state;
    for (uint64_t page = 1; page < ROUTED_GPUS; page++) {
        struct routed *r = routed_create("distributed", NULL);
        routed_ask(r, 0, 3, page, T);
        routed_expect(r, 0, 3, T + TLB + WALK + HOST + DISTANCE);
        check_walks(r, 0, 0, 1, 1, 1);
        routed_destroy(r);
    }
}

/* gmmu-sec3-local-remote: the same page is local to the GPU that has it and remote to every other. */
static void a_page_is_local_to_one_gpu(void **state)
{
    (void)state;
    struct routed *r = routed_create("distributed", NULL);
    for (unsigned gpu = 0; gpu < ROUTED_GPUS; gpu++)
        routed_ask(r, gpu, gpu, 6, T);
    routed_run(r);
    for (unsigned gpu = 0; gpu < ROUTED_GPUS; gpu++)
        check_walks(r, gpu, gpu == 2, gpu != 2, 1, gpu != 2);
    routed_destroy(r);
}

/* gmmu-fig03-ideal-def: each request goes to the one that knows, so that there is one walk for each. */
static void ideal_asks_only_who_knows(void **state)
{
    (void)state;
    struct routed *r = routed_create("route-ideal", NULL);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_ask(r, 0, 4, REMOTE, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    routed_expect(r, 0, 4, T + TLB + HOST + DISTANCE);
    check_walks(r, 0, 1, 1, 1, 1);
    routed_destroy(r);
}

/* gmmu-sec4-discard-iommu: the GMMU has found the page; what the IOMMU says later is dropped. */
static void both_at_once_takes_a_local_page_from_the_gmmu(void **state)
{
    (void)state;
    struct routed *r = routed_create("bypass", both);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers"), 0);
    routed_run_until(r, T + TLB + HOST);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers"), 0);
    routed_run_until(r, T + TLB + HOST + 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers"), 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_walks"), 0);
    routed_run(r);
    assert_int_equal(r->count, 1);
    routed_destroy(r);
}

/* gmmu-sec4-discard-gmmu: the walk that finds nothing is dropped, not sent on: the IOMMU is asked once, from the
 * start. */
static void both_at_once_takes_a_remote_page_from_the_iommu(void **state)
{
    (void)state;
    struct routed *r = routed_create("bypass", both);
    routed_ask(r, 0, 3, REMOTE, T);
    routed_run_until(r, T + TLB + WALK);
    assert_int_equal(routed_count(r, 0, "route.discarded_walks"), 0);
    routed_run_until(r, T + TLB + WALK + 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_walks"), 1);
    routed_expect(r, 0, 3, T + TLB + HOST + DISTANCE);
    assert_int_equal(routed_count(r, 0, "route.iommu_walks"), 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers"), 0);
    routed_destroy(r);
}

/* gmmu-sec62-one-effective: two walks for each request, one of them for nothing. */
static void both_at_once_walks_twice_for_each_request(void **state)
{
    (void)state;
    enum { REQUESTS = 24 };
    struct routed *r = routed_create("bypass", both);
    for (uint32_t i = 0; i < REQUESTS; i++)
        routed_ask(r, 0, i, i, T + i);
    routed_run(r);
    check_walks(r, 0, REQUESTS / ROUTED_GPUS, REQUESTS - REQUESTS / ROUTED_GPUS, REQUESTS, REQUESTS);
    assert_int_equal(routed_count(r, 0, "route.duplicate_walks"), REQUESTS);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers") + routed_count(r, 0, "route.discarded_walks"),
                     REQUESTS);
    routed_destroy(r);
}

/* A slow GMMU may still find a local page that the IOMMU has already told of; then its walk is the one for nothing. */
static void a_walk_that_ends_after_the_answer_is_discarded(void **state)
{
    (void)state;
    static const char *const slow[] = {"route.mode=both", "walk.latency=5000", NULL};
    struct routed *r = routed_create("bypass", slow);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_expect(r, 0, 3, T + TLB + HOST + DISTANCE);
    routed_run_until(r, T + TLB + 5000);
    assert_int_equal(routed_count(r, 0, "route.discarded_walks"), 0);
    routed_run(r);
    check_walks(r, 0, 1, 0, 1, 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_walks"), 1);
    assert_int_equal(routed_count(r, 0, "route.discarded_answers"), 0);
    assert_int_equal(r->count, 1);
    routed_destroy(r);
}

/* With one register, the next miss waits until the answer for nothing has come, though the first has long been
 * answered; without the IOMMU's walk it would have waited for the GMMU's. */
static void a_register_stays_until_both_walks_have_ended(void **state)
{
    (void)state;
    static const char *const one[] = {"route.mode=both", "l2_tlb.mshrs=1", NULL};
    static const char *const off[] = {"route.mode=off", "l2_tlb.mshrs=1", NULL};
    struct routed *r = routed_create("bypass", one);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_ask(r, 0, 4, LOCAL + ROUTED_GPUS, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    routed_expect(r, 0, 4, T + TLB + HOST + WALK + DISTANCE);
    routed_destroy(r);
    r = routed_create("bypass", off);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_ask(r, 0, 4, LOCAL + ROUTED_GPUS, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    routed_expect(r, 0, 4, T + TLB + WALK + WALK + DISTANCE);
    routed_destroy(r);
}

/* The same the other way round: a slow walk of the GPU's own keeps the register of a page that the IOMMU has told
 * of. */
static void a_register_stays_for_a_slow_walk_too(void **state)
{
    (void)state;
    static const char *const slow[] = {"route.mode=both", "l2_tlb.mshrs=1", "walk.latency=5000", NULL};
    struct routed *r = routed_create("bypass", slow);
    routed_ask(r, 0, 3, REMOTE, T);
    routed_ask(r, 0, 4, REMOTE + ROUTED_GPUS, T);
    routed_expect(r, 0, 3, T + TLB + HOST + DISTANCE);
    routed_expect(r, 0, 4, T + TLB + 5000 + HOST + DISTANCE);
    routed_destroy(r);
}

/* A walk for nothing keeps its walker: here the GPU's only one, for a remote page of another request. */
static void a_walk_for_nothing_occupies_the_gpus_walker(void **state)
{
    (void)state;
    static const char *const one[] = {"route.mode=both", "walk.walkers=1", "l2_tlb.ports=2", NULL};
    struct routed *r = routed_create("bypass", one);
    routed_ask(r, 0, 3, REMOTE, T);
    routed_ask(r, 0, 4, LOCAL, T);
    routed_expect(r, 0, 4, T + TLB + WALK + WALK + DISTANCE);
    routed_expect(r, 0, 3, T + TLB + HOST + DISTANCE);
    routed_destroy(r);
}

/* And so does one at the host, for a local page that has been answered: another GPU's request waits for it. GPU 2 hangs
 * on another switch; both messages meet on the host's link, the second a cycle behind. */
static void a_walk_for_nothing_occupies_the_iommus_walker(void **state)
{
    (void)state;
    static const char *const one[] = {"route.mode=both", "iommu.walkers=1", NULL};
    struct routed *r = routed_create("bypass", one);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_ask(r, 2, 5, REMOTE, T);
    routed_expect(r, 0, 3, T + TLB + WALK + DISTANCE);
    routed_expect(r, 2, 5, T + TLB + WAY + WALK + WALK + WAY + DISTANCE);
    routed_destroy(r);
}

/* The page has no L2 TLB entry to be found in: a request that finds the register of an answered miss needs no walk. */
static void a_request_that_merges_into_an_answered_register_is_answered_at_once(void **state)
{
    (void)state;
    static const char *const bare[] = {"route.mode=both", "l2_tlb.enabled=off", NULL};
    struct routed *r = routed_create("bypass", bare);
    routed_ask(r, 0, 3, LOCAL, T);
    pw_cycle found = T + DISTANCE + WALK;
    routed_ask(r, 0, 4, LOCAL, T + WALK - 1);            /* arrives a cycle before: waits for the walk */
    routed_ask(r, 0, 5, LOCAL, T + WALK + 50);           /* the register is there, the answer too */
    routed_ask(r, 0, 6, LOCAL, found + HOST - WALK + 1); /* it is free: a new miss */
    routed_run_until(r, found + DISTANCE + 1);
    assert_int_equal(r->count, 2);
    assert_int_equal(r->answers[0].at, found + DISTANCE);
    assert_int_equal(r->answers[1].at, found + DISTANCE);
    routed_expect(r, 0, 5, T + WALK + 50 + DISTANCE + DISTANCE);
    assert_int_equal(routed_count(r, 0, "route.gmmu_walks"), 1);
    routed_expect(r, 0, 6, found + HOST - WALK + 1 + DISTANCE + WALK + DISTANCE);
    routed_run(r);
    check_walks(r, 0, 2, 0, 2, 2);
    routed_destroy(r);
}

/* The register has been another page's. What merges into the new miss while that is still being looked up, and has not
 * been sent, waits for its walk as any other. */
static void a_register_that_is_used_again_has_not_been_answered(void **state)
{
    (void)state;
    static const char *const modes[] = {"route.mode=off", "route.mode=on", "route.mode=both"};
    static const pw_cycle walks[] = {WALK, HOST, WALK};
    for (unsigned i = 0; i < 3; i++) {
        struct routed *r = routed_create("bypass", (const char *const[]){modes[i], "l2_tlb.mshrs=1", NULL});
        routed_ask(r, 0, 3, LOCAL, T);
        routed_run(r);
        pw_cycle again = r->events->now + 1;
        routed_ask(r, 0, 4, LOCAL + ROUTED_GPUS, again);
        routed_ask(r, 0, 5, LOCAL + ROUTED_GPUS, again + LOOKUP / 2);
        r->count = 0;
        routed_run_until(r, again + TLB + walks[i] + DISTANCE);
        assert_int_equal(r->count, 0);
        routed_run(r);
        assert_int_equal(r->count, 2);
        assert_int_equal(r->answers[0].at, again + TLB + walks[i] + DISTANCE);
        assert_int_equal(r->answers[1].at, again + TLB + walks[i] + DISTANCE);
        routed_destroy(r);
    }
}

/* The time of a request is divided into waiting, walking and the fabric; with both, that of the answer which counts. */
static void the_time_of_a_request_is_divided(void **state)
{
    (void)state;
    struct routed *r = routed_create("distributed", (const char *const[]){"iommu.walkers=1", NULL});
    routed_ask(r, 0, 3, REMOTE, T);
    routed_ask(r, 0, 4, REMOTE + ROUTED_GPUS, T);
    routed_run(r);
    /* The second message is a cycle behind the first, and waits for the rest of its walk at the host. */
    check_mean(r, "route.queue_mean", WALK - 1, 2);
    check_mean(r, "route.walk_mean", 4 * WALK, 2);
    check_mean(r, "route.link_mean", 4 * WAY + 1, 2);
    check_mean(r, "route.latency_mean", 2 * (WALK + HOST) + WALK, 2);
    routed_destroy(r);
    r = routed_create("bypass", both);
    routed_ask(r, 0, 3, LOCAL, T);
    routed_run(r);
    check_mean(r, "route.link_mean", 0, 1);
    check_mean(r, "route.walk_mean", WALK, 1);
    check_mean(r, "route.local_latency_mean", WALK, 1);
    routed_destroy(r);
}

/* SM 0 of GPU 0 loads from a page twice; in a second launch SM 1 does once. */
static void load_by_level(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index != t->launch)
        return;
    for (unsigned i = 0; i < 2U - t->launch; i++)
        timed_fetch(w, t, (t->n[0] * PW_PAGE_BYTES) + i * PW_LINE_BYTES);
}

/* gmmu-fig1-l1, gmmu-fig2-l1: what the L1 TLB has is not asked of the L2 TLB, and what that has is walked nowhere. */
static void a_request_is_looked_up_in_both_tlbs_first(void **state)
{
    (void)state;
    static const char *const designs[] = {"centralized", "distributed", "bypass"};
    for (unsigned i = 0; i < 6; i++) {
        struct timed t = {.machine = "mgpu4",
                          .design = designs[i / 2],
                          .sets = {"sm.count=2", "dram.bytes=64MB", "place.policy=interleaved"},
                          .ctas = 2 * ROUTED_GPUS,
                          .launches = 2,
                          .kernel = load_by_level,
                          .n = {i % 2 ? REMOTE : LOCAL}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 3);
        assert_int_equal(timed_count(&t, "l1_tlb.hits"), 1);
        assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 2);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
        assert_int_equal(timed_count(&t, "route.local"), i % 2 == 0);
        assert_int_equal(timed_count(&t, "route.remote"), i % 2);
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_looked_up_in_both_tlbs_first),
        cmocka_unit_test(centralized_asks_the_iommu_for_every_page),
        cmocka_unit_test(distributed_walks_local_pages_itself),
        cmocka_unit_test(distributed_asks_the_iommu_when_its_own_walk_has_failed),
        cmocka_unit_test(a_page_is_local_to_one_gpu),
        cmocka_unit_test(ideal_asks_only_who_knows),
        cmocka_unit_test(both_at_once_takes_a_local_page_from_the_gmmu),
        cmocka_unit_test(both_at_once_takes_a_remote_page_from_the_iommu),
        cmocka_unit_test(both_at_once_walks_twice_for_each_request),
        cmocka_unit_test(a_walk_that_ends_after_the_answer_is_discarded),
        cmocka_unit_test(a_register_stays_until_both_walks_have_ended),
        cmocka_unit_test(a_register_stays_for_a_slow_walk_too),
        cmocka_unit_test(a_walk_for_nothing_occupies_the_gpus_walker),
        cmocka_unit_test(a_walk_for_nothing_occupies_the_iommus_walker),
        cmocka_unit_test(a_request_that_merges_into_an_answered_register_is_answered_at_once),
        cmocka_unit_test(a_register_that_is_used_again_has_not_been_answered),
        cmocka_unit_test(the_time_of_a_request_is_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
