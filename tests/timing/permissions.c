/* Page permissions in whole runs: whatever way a translation comes, an access that its page denies ends the run with a
 * line that names application, kernel and address, and one that it allows costs nothing. */
#include "timed.h"

#include <stdio.h>

enum { BYTES = 4 << 20, STORE_AT = 288 };

/* Where a translation can come from. */
static const struct {
    const char *machine, *design, *sets[3];
} configurations[] = {
    {"mosaic", "gpu-mmu", {NULL}},
    {"mosaic", "gpu-mmu", {"l1_tlb.on_miss=nonblocking"}},
    {"mosaic", "gpu-mmu", {"l1_tlb.on_miss=stall_lsu"}},
    {"mosaic", "gpu-mmu", {"sm.serial=on"}},
    {"mosaic", "gpu-mmu", {"walk.model=fixed", "l1_tlb.base_subpages=4", "l2_tlb.base_subpages=4"}},
    {"mosaic", "pwcache", {NULL}},
    {"mosaic", "ideal-tlb", {NULL}},
    {"mosaic", "ideal-l2-tlb", {NULL}},
    {"mosaic", "gpu-mmu-64k", {NULL}},
    {"mosaic", "gpu-mmu-2m", {NULL}},
    {"mosaic", "mosaic", {NULL}},
    {"mask", "static", {NULL}},
    {"mask", "mask-tlb", {"fill.epoch=100", "fill.initial=1"}},
    {"mask", "mosaic+mask", {"fill.epoch=100", "fill.initial=1"}},
    {"volta", "gpu-mmu", {NULL}},
    {"pascal", "uvm-none-lru4k", {NULL}},
    {"pascal", "uvm-none-lru4k", {"l1_tlb.on_miss=stall_lsu"}},
    {"pascal", "uvm-tbn-tbn", {"uvm.oversubscription=125", "uvm.oversubscription_of=first-launch"}},
    {"pascal", "uvm-none-lru4k", {"uvm.advice=a:host"}},
};

enum { CONFIGURATIONS = sizeof configurations / sizeof *configurations };

static void configure(struct timed *t, size_t i)
{
    t->machine = configurations[i].machine;
    t->design = configurations[i].design;
    for (size_t k = 0; k < 3; k++)
        t->sets[k] = configurations[i].sets[k];
}

/* What a kernel does first, and what it then does to byte STORE_AT. */
enum way {
    AT_ONCE,      /* nothing: its page misses */
    AFTER_A_LOAD, /* a load of the page, whose translation is there by then: it hits */
    BESIDE_LOADS, /* loads of the page and of others, for which it does not wait: it joins a miss */
    FROM_ANOTHER, /* on another SM: the L2 TLB, where there is one, has the translation */
    WAYS
};

static void access_page(struct pw_warp *w, struct timed *t)
{
    if (t->n[1] == FROM_ANOTHER && !w->cta_index) {
        timed_fetch(w, t, 0);
        return;
    }
    if (t->n[1] == AFTER_A_LOAD)
        timed_fetch(w, t, 0);
    if (t->n[1] == BESIDE_LOADS) {
        timed_load(w, t, 1 << 20);
        timed_load(w, t, 0);
    }
    if (t->n[1] == FROM_ANOTHER || t->n[1] == AFTER_A_LOAD)
        pw_compute(w, 200000); /* by then the other one's page has come, and is large where it will be */
    pw_access_affine(w, (uint8_t)t->n[2], 1, t->a.base.v + STORE_AT, 0, 4);
}

static void allocate_and_protect(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", BYTES, 1);
    pw_protect(h, &t->a, (unsigned)t->n[0]);
    timed_launch(h, t);
}

static struct timed program(size_t configuration, unsigned permissions, enum way way, uint8_t op)
{
    struct timed t = {.body = allocate_and_protect,
                      .kernel = access_page,
                      .ctas = way == FROM_ANOTHER ? 2 : 1,
                      .n = {permissions, way, op}};
    configure(&t, configuration);
    return t;
}

/* `does` is NULL where the run must end well. */
static void expect(struct timed t, const char *does, const char *may)
{
    char expected[200];
    enum pw_status status = timed_try(&t);
    snprintf(expected, sizeof expected, "app0 (test): kernel test %s address 0x%llx of allocation 'a', which it may %s",
             does ? does : "", (unsigned long long)t.a.base.v + STORE_AT, may);
    assert_int_equal(status, does ? PW_USER_ERROR : PW_OK);
    if (does)
        assert_string_equal(t.err.message, expected);
    timed_end(&t);
}

static void a_store_to_what_may_only_be_read_ends_the_run_whatever_way_its_translation_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIGURATIONS; i++)
        for (enum way way = 0; way < WAYS; way++)
            expect(program(i, PW_MAY_READ, way, PW_OP_STORE), "writes", "only read");
}

static void loads_stores_and_atomics_want_what_they_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIGURATIONS; i++) {
        expect(program(i, PW_MAY_WRITE, AT_ONCE, PW_OP_LOAD), "reads", "only write");
        expect(program(i, PW_MAY_WRITE, AT_ONCE, PW_OP_STORE), NULL, "");
        expect(program(i, PW_MAY_READ, AFTER_A_LOAD, PW_OP_LOAD), NULL, "");
        expect(program(i, PW_MAY_READ, BESIDE_LOADS, PW_OP_ATOMIC), "updates", "only read");
        expect(program(i, PW_MAY_WRITE, AT_ONCE, PW_OP_ATOMIC_RETURN), "updates", "only write");
        expect(program(i, 0, AT_ONCE, PW_OP_STORE), "writes", "neither read nor write");
        expect(program(i, PW_MAY_ALL, AFTER_A_LOAD, PW_OP_ATOMIC), NULL, "");
    }
}

static void permissions_that_suffice_change_no_cycle(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIGURATIONS; i++)
        for (enum way way = 0; way < WAYS; way++)
            assert_int_equal(timed_cycles(program(i, PW_MAY_READ, way, PW_OP_LOAD)),
                             timed_cycles(program(i, PW_MAY_ALL, way, PW_OP_LOAD)));
}

/* Launch i of the kernel loads if bit i of n[3] is 0, else it stores; before it, the array gets the permissions of the
 * two bits i of n[4]. */
static void load_or_store(struct pw_warp *w, struct timed *t)
{
    if (t->n[3] >> t->launch & 1)
        timed_store(w, t, STORE_AT);
    else
        timed_fetch(w, t, STORE_AT);
}

static void protect_before_each(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", BYTES, 1);
    for (t->launch = 0; t->launch < 4; t->launch++) {
        pw_protect(h, &t->a, t->n[4] >> 2 * t->launch & PW_MAY_ALL);
        timed_launch(h, t);
    }
}

/* Store, load, store, load. What TLBs and walks under way know is of the launch before. */
static void permissions_change_between_launches(void **state)
{
    (void)state;
    enum { ALL = PW_MAY_ALL, R = PW_MAY_READ, W = PW_MAY_WRITE };
    for (size_t i = 0; i < CONFIGURATIONS; i++) {
        struct timed t = {.body = protect_before_each, .kernel = load_or_store, .n = {0, 0, 0, 5}};
        configure(&t, i);
        t.n[4] = ALL | R << 2 | ALL << 4 | R << 6;
        expect(t, NULL, "");
        t.n[4] = W | R << 2 | W << 4 | R << 6;
        expect(t, NULL, "");
        t.n[4] = ALL | R << 2 | R << 4 | ALL << 6;
        expect(t, "writes", "only read");
        t.n[4] = ALL | ALL << 2 | ALL << 4 | W << 6;
        expect(t, "reads", "only write");
    }
}

static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

static void store_then_protect(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", BYTES, 1);
    t->launch = 0;
    timed_launch(h, t);
    pw_protect(h, &t->a, PW_MAY_READ);
    t->launch = 1;
    timed_launch(h, t);
    t->n[5]++;
}

/* It writes what was left protected, but is the next run's now. */
static void an_array_may_be_written_again_when_its_program_starts_over(void **state)
{
    (void)state;
    static const char *const restarts[] = {"apps.restart=keep", "apps.restart=fresh"};
    for (size_t i = 0; i < 2; i++) {
        struct timed other = {.kernel = compute, .n = {100000}};
        struct timed t = {.body = store_then_protect,
                          .kernel = load_or_store,
                          .n = {0, 0, 0, 1},
                          .neighbours = {&other},
                          .sets = {restarts[i]}};
        timed_run(&t);
        assert_true(t.n[5] > 3);
        timed_end(&t);
    }
}

static void the_application_that_does_it_is_named(void **state)
{
    (void)state;
    struct timed other = program(0, PW_MAY_READ, AT_ONCE, PW_OP_STORE);
    struct timed t = {.kernel = compute, .n = {1000}, .machine = "mask", .neighbours = {&other}};
    assert_int_equal(timed_try(&t), PW_USER_ERROR);
    assert_int_equal(strncmp(t.err.message, "app1 (test): kernel test writes address 0x", 42), 0);
    timed_end(&t);
}

/* mosaic-sec43-walker-perms, in a run: what denies the store is the entry of a large page. */
static void a_coalesced_page_denies_what_its_base_pages_did(void **state)
{
    (void)state;
    struct timed t = program(10, PW_MAY_READ, AFTER_A_LOAD, PW_OP_STORE);
    assert_string_equal(t.design, "mosaic");
    assert_int_equal(timed_try(&t), PW_USER_ERROR);
    struct pw_translation large = pw_page_table_lookup(t.system->spaces[0].table, pw_vpn_of(t.a.base));
    assert_int_equal(large.order, PW_PAGE_2M);
    assert_int_equal(large.denied, PW_MAY_WRITE);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_to_what_may_only_be_read_ends_the_run_whatever_way_its_translation_comes),
        cmocka_unit_test(loads_stores_and_atomics_want_what_they_do),
        cmocka_unit_test(permissions_that_suffice_change_no_cycle),
        cmocka_unit_test(permissions_change_between_launches),
        cmocka_unit_test(an_array_may_be_written_again_when_its_program_starts_over),
        cmocka_unit_test(the_application_that_does_it_is_named),
        cmocka_unit_test(a_coalesced_page_denies_what_its_base_pages_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
