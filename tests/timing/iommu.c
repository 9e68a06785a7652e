/* The IOMMU in exact cycles: the way there, a walker, the way back; walkers that are all taken; pages that move first.
 *
 * GPUs and the mover are played by the test. Nothing else is on the fabric but what a case sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exhaust.h"
#include "fabric_fixture.h"
#include "vm/iommu.h"

/* Two switches and 16 bytes at 16 bytes a cycle lie between a GPU and the host. */
enum { GPUS = 4, MHZ = 1000, MESSAGE = 16, WALKERS = 8, WALK = 100, SWITCH = 140, WAY = 2 * SWITCH + 1, MOST = 64 };

struct host {
    struct fabric_fixture f;
    struct pw_iommu *iommu;
    struct pw_iommu_request answers[MOST];
    pw_cycle at[MOST];
    unsigned count;
    struct pw_iommu_request *held; /* by the mover */
    bool hold;
};

static void answered(void *object, const struct pw_iommu_request *r, pw_cycle now)
{
    struct host *h = object;
    assert_true(h->count < MOST);
    h->answers[h->count] = *r;
    h->at[h->count++] = now;
}

static bool moves(void *object, struct pw_iommu_request *r, pw_cycle now)
{
    struct host *h = object;
    (void)now;
    if (h->hold)
        h->held = r;
    return h->hold;
}

static enum pw_status create_iommu(struct host *h, uint32_t walkers, struct pw_error *err)
{
    struct pw_iommu_config config = {.walkers = walkers, .latency = WALK};
    struct pw_iommu_wiring wiring = {.events = h->f.events,
                                     .fabric = h->f.fabric,
                                     .message_bytes = MESSAGE,
                                     .gpus = GPUS,
                                     .apps = 2,
                                     .mover = h,
                                     .moves = moves};
    return pw_iommu_create(&config, &wiring, &h->iommu, err);
}

static struct host *open_host(uint32_t walkers)
{
    struct host *h = calloc(1, sizeof *h);
    struct pw_error err;
    assert_non_null(h);
    h->f = fabric_open(fabric_defaults(), GPUS, MHZ);
    assert_int_equal(create_iommu(h, walkers, &err), PW_OK);
    for (unsigned gpu = 0; gpu < GPUS; gpu++)
        pw_iommu_connect(h->iommu, gpu, (struct pw_iommu_client){h, answered});
    return h;
}

static void close_host(struct host *h)
{
    fabric_run(h->f, PW_NEVER);
    assert_int_equal(pw_iommu_pending(h->iommu), 0);
    pw_iommu_destroy(h->iommu);
    fabric_close(h->f);
    free(h);
}

static void ask(struct host *h, unsigned gpu, uint32_t id)
{
    pw_iommu_ask(h->iommu, gpu, id, 0, (pw_vpn){100 + id}, h->f.events->now);
}

/* So many answers have come before `at` and one more in that cycle. */
static void one_comes_at(struct host *h, unsigned before, pw_cycle at)
{
    fabric_run(h->f, at);
    assert_int_equal(h->count, before);
    fabric_run(h->f, at + 1);
    assert_int_equal(h->count, before + 1);
    assert_int_equal(h->at[before], at);
}

/* gmmu-fig1-return, gmmu-fig2-return: a translation is a message there, a walk, and a message back. */
static void a_translation_takes_the_way_a_walk_and_the_way_back(void **state)
{
    (void)state;
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        struct host *h = open_host(WALKERS);
        assert_int_equal(pw_fabric_unloaded(h->f.fabric, gpu, GPUS, MESSAGE), WAY);
        assert_int_equal(pw_fabric_unloaded(h->f.fabric, GPUS, gpu, MESSAGE), WAY);
        pw_iommu_ask(h->iommu, gpu, 7, 1, (pw_vpn){0x123456789}, 0);
        one_comes_at(h, 0, WAY + WALK + WAY);
        const struct pw_iommu_request *r = &h->answers[0];
        assert_int_equal(r->id, 7);
        assert_int_equal(r->gpu, gpu);
        assert_int_equal(r->asid, 1);
        assert_int_equal(r->vpn.v, 0x123456789);
        assert_int_equal(r->sent, 0);
        assert_int_equal(r->arrived, WAY);
        assert_int_equal(r->begun, WAY);
        assert_int_equal(r->walked, WAY + WALK);
        assert_int_equal(r->left, WAY + WALK);
        close_host(h);
    }
}

/* A message leaves a GPU every cycle, so requests arrive one after the other, and the ninth waits until the first walk
 * has ended. */
static void the_ninth_request_waits_for_a_walker(void **state)
{
    (void)state;
    struct host *h = open_host(WALKERS);
    for (uint32_t id = 0; id < WALKERS + 1; id++)
        ask(h, 0, id);
    for (uint32_t id = 0; id < WALKERS; id++)
        one_comes_at(h, id, WAY + id + WALK + WAY);
    one_comes_at(h, WALKERS, WAY + WALK + WALK + WAY);
    const struct pw_iommu_request *ninth = &h->answers[WALKERS];
    assert_int_equal(ninth->arrived, WAY + WALKERS);
    assert_int_equal(ninth->begun, WAY + WALK);
    close_host(h);
}

static void a_ninth_walker_serves_it_at_once(void **state)
{
    (void)state;
    struct host *h = open_host(WALKERS + 1);
    for (uint32_t id = 0; id < WALKERS + 1; id++)
        ask(h, 0, id);
    fabric_run(h->f, WAY + WALKERS + WALK + WAY);
    one_comes_at(h, WALKERS, WAY + WALKERS + WALK + WAY);
    close_host(h);
}

/* Requests of different GPUs queue together, in the order in which they arrive; those of two GPUs behind one switch
 * share the link above it. */
static void requests_are_served_as_they_come(void **state)
{
    (void)state;
    struct host *h = open_host(1);
    ask(h, 2, 20);
    ask(h, 0, 0);
    ask(h, 3, 30);
    fabric_run(h->f, PW_NEVER);
    assert_int_equal(h->count, 3);
    static const uint32_t order[] = {20, 0, 30};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(h->answers[i].id, order[i]);
        assert_int_equal(h->answers[i].begun, WAY + i * WALK);
        assert_int_equal(h->at[i], WAY + (i + 1) * WALK + WAY);
    }
    close_host(h);
}

/* Different GPUs' requests for one page are different walks: there is no IOTLB. */
static void one_page_is_walked_for_each_gpu(void **state)
{
    (void)state;
    struct host *h = open_host(WALKERS);
    ask(h, 0, 5);
    ask(h, 2, 5);
    fabric_run(h->f, WAY + WALK + WAY + 2);
    assert_int_equal(h->count, 2);
    ask(h, 0, 5);
    pw_cycle asked = h->f.events->now;
    one_comes_at(h, 2, asked + WAY + WALK + WAY);
    close_host(h);
}

/* A page that moves holds its request, not the walker; the answer leaves when it is told to. */
static void a_request_that_waits_for_its_page_frees_its_walker(void **state)
{
    (void)state;
    enum { LONG = 5000 };
    struct host *h = open_host(1);
    h->hold = true;
    ask(h, 0, 1);
    fabric_run(h->f, WAY + WALK + 1);
    assert_non_null(h->held);
    h->hold = false;
    ask(h, 1, 2);
    pw_cycle asked = h->f.events->now;
    one_comes_at(h, 0, asked + WAY + WALK + WAY);
    assert_int_equal(h->answers[0].id, 2);
    fabric_run(h->f, LONG);
    pw_iommu_answer(h->iommu, h->held, LONG);
    one_comes_at(h, 1, LONG + WAY);
    assert_int_equal(h->answers[1].walked, WAY + WALK);
    assert_int_equal(h->answers[1].left, LONG);
    close_host(h);
}

/* Requests until there is no memory for another: the queue stops, and none is lost. */
static enum exhaust ask_until_memory_is_out(void)
{
    struct pw_error err;
    struct pw_fabric_config c = fabric_defaults();
    struct host h = {.f.events = pw_events_create(&err)};
    if (!h.f.events || pw_fabric_create(&c, GPUS, MHZ, h.f.events, &h.f.fabric, &err) != PW_OK ||
        create_iommu(&h, WALKERS, &err) != PW_OK)
        return EXHAUST_TOO_LITTLE;
    uint64_t asked = 0;
    for (; !h.f.events->out_of_memory && asked < 100000000; asked++)
        ask(&h, 0, 0);
    bool right = h.f.events->out_of_memory && pw_iommu_pending(h.iommu) == asked;
    pw_iommu_destroy(h.iommu);
    pw_fabric_destroy(h.f.fabric);
    pw_events_destroy(h.f.events);
    return right ? EXHAUST_OK : EXHAUST_WRONG;
}

static void running_out_of_memory_stops_the_queue(void **state)
{
    (void)state;
    exhaust_memory(128 << 20, ask_until_memory_is_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_translation_takes_the_way_a_walk_and_the_way_back),
        cmocka_unit_test(the_ninth_request_waits_for_a_walker),
        cmocka_unit_test(a_ninth_walker_serves_it_at_once),
        cmocka_unit_test(requests_are_served_as_they_come),
        cmocka_unit_test(one_page_is_walked_for_each_gpu),
        cmocka_unit_test(a_request_that_waits_for_its_page_frees_its_walker),
        cmocka_unit_test(running_out_of_memory_stops_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
