/* Requests of the page manager in the memory system: when they are answered, and what they count as. */
#include "timed.h"

#include "mem/cache.h"
#include "vm/page_manager_internal.h"

enum { PATH = 120, LATENCY = 10 };

#define MACHINE .sets = {"l2.path=120"}

struct answers {
    pw_cycle at[8];
    unsigned count;
    struct pw_gpu *gpu;
};

static void answered(void *object, struct pw_request *r, pw_cycle now)
{
    struct answers *a = object;
    a->at[a->count++] = now;
    pw_request_give(pw_gpu_requests(a->gpu), r);
}

static void send(struct timed *t, enum pw_request_kind kind, uint32_t line, uint8_t sectors, uint8_t full)
{
    struct pw_request *r = pw_request_take(pw_gpu_requests(t->system->nodes[0].gpu));
    *r = (struct pw_request){.line = line, .kind = kind & 15U, .sectors = sectors, .full = full};
    pw_memory_send_direct(pw_gpu_memory(t->system->nodes[0].gpu), r, t->system->events->now);
}

struct order {
    enum pw_request_kind kind;
    uint8_t sectors, full;
};

/* Sends the requests in t->data, one launch after the other, all for one line. */
static void send_in_turn(struct pw_host *h, struct timed *t)
{
    struct answers *a = (struct answers *)(uintptr_t)t->n[1];
    const struct order *orders = t->data;
    a->gpu = t->system->nodes[0].gpu;
    pw_gpu_connect_manager(a->gpu, &(struct pw_gpu_manager){.manager = a, .answered = answered});
    for (uint64_t i = 0; i < t->n[0]; i++) {
        pw_cycle sent = t->system->events->now;
        send(t, orders[i].kind, 1000, orders[i].sectors, orders[i].full);
        timed_launch(h, t);
        assert_int_equal(a->count, i + 1);
        a->at[i] -= sent;
    }
}

static void compute(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 5000);
}

static struct timed ordered(struct answers *a, const struct order *orders, uint64_t count)
{
    return (struct timed){MACHINE, .kernel = compute, .body = send_in_turn, .data = (void *)orders,
                          .n = {count, (uintptr_t)a}};
}

static void a_write_is_taken_where_a_read_is_looked_up(void **state)
{
    (void)state;
    static const struct order orders[] = {{PW_REQUEST_MANAGER_READ, 1, 0},
                                          {PW_REQUEST_MANAGER_READ, 2, 0},
                                          {PW_REQUEST_MANAGER_WRITE, 15, 15},
                                          {PW_REQUEST_MANAGER_READ, 15, 0}};
    struct answers a = {0};
    struct timed t = ordered(&a, orders, 4);
    timed_run(&t);
    assert_true(a.at[0] > PATH + LATENCY + t.config.gpu.dram.path); /* from DRAM */
    assert_int_equal(a.at[1], PATH + LATENCY);                      /* its line was fetched whole */
    assert_int_equal(a.at[2], PATH);
    assert_int_equal(a.at[3], PATH + LATENCY);
    assert_int_equal(timed_count(&t, "l2.accesses"), 4);
    assert_int_equal(timed_count(&t, "l2.hits"), 3);
    timed_end(&t);
}

static void a_line_that_was_written_in_part_is_fetched_when_it_is_read(void **state)
{
    (void)state;
    static const struct order whole[] = {{PW_REQUEST_MANAGER_WRITE, 3, 3}, {PW_REQUEST_MANAGER_READ, 1, 0}};
    static const struct order part[] = {{PW_REQUEST_MANAGER_WRITE, 3, 2}, {PW_REQUEST_MANAGER_READ, 1, 0}};
    struct answers a = {0}, b = {0};
    struct timed t = ordered(&a, whole, 2), u = ordered(&b, part, 2);
    timed_run(&t);
    assert_int_equal(a.at[1], PATH + LATENCY);
    assert_int_equal(timed_count(&t, "dram.reads"), 0);
    timed_end(&t);
    timed_run(&u);
    assert_true(b.at[1] > PATH + LATENCY);
    assert_int_equal(timed_count(&u, "dram.reads"), 1);
    /* Nobody has walked a page table. */
    assert_int_equal(timed_count(&u, "dram.translation.reads"), 0);
    assert_int_equal(timed_count(&u, "dram.translation.bytes"), 0);
    assert_int_equal(timed_count(&u, "l2.ptw_level4.accesses"), 0);
    timed_end(&u);
}

static void touch(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, t->launch * PW_PAGE_BYTES);
}

/* Two walks of neighbouring pages; between them the manager writes a line of level n[0] of the table. */
static void write_between_walks(struct pw_host *h, struct timed *t)
{
    struct answers *a = (struct answers *)(uintptr_t)t->n[1];
    a->gpu = t->system->nodes[0].gpu;
    pw_gpu_connect_manager(a->gpu, &(struct pw_gpu_manager){.manager = a, .answered = answered});
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    timed_launch(h, t);
    pw_vpn vpn = {pw_vpn_of(t->a.base).v + 1};
    if (t->n[0])
        send(t, PW_REQUEST_MANAGER_WRITE,
             (uint32_t)(pw_page_table_entry(t->system->spaces[0].table, vpn, (unsigned)t->n[0]).v >> PW_LINE_SHIFT), 1,
             0);
    t->launch = 1;
    timed_launch(h, t);
}

static void the_page_walk_cache_forgets_lines_that_were_written(void **state)
{
    (void)state;
    static const char *const lines[] = {"pwc.line_bytes=128B", "pwc.line_bytes=32B", "pwc.line_bytes=8B"};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t level = 0; level <= 4; level = level ? level + 1 : 3) {
            struct answers a = {0};
            struct timed t = {.design = "pwcache",
                              .sets = {"l2.path=0", lines[i]},
                              .kernel = touch,
                              .body = write_between_walks,
                              .n = {level, (uintptr_t)&a}};
            timed_run(&t);
            assert_int_equal(timed_count(&t, "pwc.lookups"), 8);
            /* Entries of neighbouring pages have no tag in common where it is for one entry. */
            uint64_t hits = i == 2 ? 3 : 4;
            assert_int_equal(timed_count(&t, "pwc.hits"), hits - (level == 3 || (level == 4 && i < 2)));
            timed_end(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_taken_where_a_read_is_looked_up),
        cmocka_unit_test(a_line_that_was_written_in_part_is_fetched_when_it_is_read),
        cmocka_unit_test(the_page_walk_cache_forgets_lines_that_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
