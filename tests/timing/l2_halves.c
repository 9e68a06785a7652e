/* The two halves of the L2 and what they keep of each other (mem/l2_halves.c), and the further ways of an L2 to be like
 * a real one: what was copied is there, a miss fetches more than it wants, a port is as wide as it is. Exact cycles on
 * idle machines, in sums of the parts that tests/timing/caches.c holds against the machine. */
#include "closed_form.h"
#include "gpu/gpu_internal.h"
#include "mem/memory_internal.h"
#include "timed.h"

enum { FAR = 50, SMS = 8, LAUNCH = 10 };

/* One access of a launch: by an SM of which half, of a line whose home is the first half. */
struct step {
    bool far_sm;
    bool store;
    bool atomic;
    uint32_t first, bytes; /* within the line */
};

static struct pw_memory *memory_of(const struct timed *t)
{
    return pw_gpu_memory(t->system->nodes[0].gpu);
}

static const struct pw_slice *home_of(const struct timed *t, uint64_t byte)
{
    struct pw_memory_map map = timed_map(t);
    return &memory_of(t)->slices[pw_place_of(&map, timed_line(t, byte)).slice];
}

/* The first line of the array whose home is the first half. */
static uint64_t near_line(const struct timed *t)
{
    uint64_t byte = 0;
    while (home_of(t, byte)->far)
        byte += PW_LINE_BYTES;
    return byte;
}

/* The CTA on the first SM of the wanted half does what its launch is to do. CTA i is on SM i. */
static void take_step(struct pw_warp *w, struct timed *t)
{
    const struct step *s = (const struct step *)t->data + t->launch;
    const bool *far = memory_of(t)->sm_far;
    uint32_t sm = 0;
    while (far && far[sm] != s->far_sm)
        sm++;
    if (w->cta_index != sm)
        return;
    uint64_t address = t->a.base.v + near_line(t) + s->first;
    enum pw_op_kind kind = s->store ? PW_OP_STORE : s->atomic ? PW_OP_ATOMIC_RETURN : PW_OP_LOAD;
    pw_access_affine(w, kind, s->bytes == 4 ? 1 : PW_ALL_LANES, address, 4, 4);
    pw_use(w);
}

static struct timed steps(struct step *of, uint32_t count)
{
    return (struct timed){.design = "ideal-tlb",
                          .kernel = take_step,
                          .ctas = SMS,
                          .launches = count,
                          .data = of,
                          .sets = {"sm.count=8", "l2.halves=on", "l2.far_latency=50", "l2.copies=on",
                                   "l1d.launch_empties=on", "gpu.launch_latency=10"}};
}

/* What launch `i` takes. */
static pw_cycle cycles_of(const struct timed *t, unsigned i)
{
    const struct pw_span *span = timed_span(t, 0, i + 1);
    return span->outer - span->first - LAUNCH;
}

static pw_cycle l2_hit(const struct timed *t)
{
    return form_l2_hit(&t->config.gpu);
}

static void a_first_read_from_the_other_half_goes_there_and_back_and_a_second_does_not(void **state)
{
    (void)state;
    struct step of[] = {{.far_sm = false, .bytes = 4}, {.far_sm = true, .bytes = 4}, {.far_sm = true, .bytes = 4}};
    struct timed t = steps(of, 3);
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 0), l2_hit(&t));
    assert_int_equal(cycles_of(&t, 1), l2_hit(&t) + 2 * FAR);
    assert_int_equal(cycles_of(&t, 2), l2_hit(&t));
    assert_int_equal(timed_count(&t, "l2.read_sectors"), 4 * (1 + 2 + 1)); /* both lookups count */
    assert_int_equal(timed_count(&t, "l2.read_sector_hits"), 4 * (1 + 1 + 1));
    assert_int_equal(timed_count(&t, "dram.reads"), 0);
    timed_end(&t);
}

static void what_is_written_at_home_ends_the_copy_of_the_other_half(void **state)
{
    (void)state;
    struct step of[] = {{.far_sm = true, .bytes = 4},
                        {.far_sm = false, .store = true, .bytes = 128},
                        {.far_sm = true, .bytes = 4},
                        {.far_sm = true, .atomic = true, .bytes = 4},
                        {.far_sm = true, .bytes = 4}};
    struct timed t = steps(of, 5);
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 0), l2_hit(&t) + 2 * FAR);
    assert_int_equal(cycles_of(&t, 2), l2_hit(&t) + 2 * FAR);
    assert_int_equal(cycles_of(&t, 4), l2_hit(&t) + 2 * FAR); /* after the atomic, which is done at home */
    assert_int_equal(timed_count(&t, "l2.write_sectors"), 4);
    timed_end(&t);
}

static void what_an_sm_has_written_stays_in_its_own_half_too(void **state)
{
    (void)state;
    struct step of[] = {
        {.far_sm = true, .store = true, .bytes = 128}, {.far_sm = true, .bytes = 4}, {.far_sm = false, .bytes = 4}};
    struct timed t = steps(of, 3);
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 1), l2_hit(&t));
    assert_int_equal(cycles_of(&t, 2), l2_hit(&t));
    assert_int_equal(timed_count(&t, "l2.write_sectors"), 2 * 4); /* at both lookups */
    timed_end(&t);
}

static void a_store_of_a_part_leaves_nothing_to_read_in_the_half_it_passes(void **state)
{
    (void)state;
    struct step of[] = {{.far_sm = true, .store = true, .bytes = 4}, {.far_sm = true, .bytes = 4}};
    struct timed t = steps(of, 2);
    t.sets[6] = "l1d.sectored=on";
    t.sets[7] = "l2.sectored=on";
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 1), l2_hit(&t) + 2 * FAR);
    timed_end(&t);
}

/* The n-th line of the array with the same home as the first that is near. */
static uint64_t line_of_home(const struct timed *t, unsigned n)
{
    uint64_t byte = near_line(t);
    const struct pw_slice *home = home_of(t, byte);
    while (n)
        n -= home_of(t, byte += PW_LINE_BYTES) == home;
    return byte;
}

/* The SMs of the other half load in one launch: the first, third, … one line, and with `data` the second another. */
static void far_sms_load(struct pw_warp *w, struct timed *t)
{
    const bool *far = memory_of(t)->sm_far;
    unsigned before = 0;
    for (uint32_t sm = 0; sm < w->cta_index; sm++)
        before += far[sm];
    if (!far[w->cta_index] || before > 2)
        return;
    pw_access_affine(w, PW_OP_LOAD, 1, t->a.base.v + line_of_home(t, t->data && before == 1), 4, 4);
    pw_use(w);
}

static void who_misses_what_is_on_its_way_from_the_other_half_waits_for_it(void **state)
{
    (void)state;
    struct timed t = steps(NULL, 1);
    t.kernel = far_sms_load;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2.read_sectors"), 4 * (3 + 1));
    assert_int_equal(timed_count(&t, "l2.mshr_merges"), 2);
    timed_end(&t);
}

/* With one register, who waits for it is not passed by who could go on. */
static void who_waits_for_a_register_of_copies_is_not_overtaken(void **state)
{
    (void)state;
    bool two_lines = true;
    struct timed t = steps(NULL, 1);
    t.kernel = far_sms_load;
    t.data = &two_lines;
    t.sets[6] = "l2.mshrs=1";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2.mshr_merges"), 0);
    assert_int_equal(timed_count(&t, "l2.read_sectors"), 4 * (3 + 2));
    timed_end(&t);
}

static void without_halves_all_sms_are_equally_near(void **state)
{
    (void)state;
    struct step of[] = {{.bytes = 4}, {.far_sm = true, .bytes = 4}};
    struct timed t = steps(of, 2);
    t.sets[1] = "l2.halves=off";
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 0), l2_hit(&t));
    assert_int_equal(cycles_of(&t, 1), l2_hit(&t));
    timed_end(&t);
}

static void half_of_the_sms_are_near_to_each_half_and_an_odd_number_of_slices_cannot_be_divided(void **state)
{
    (void)state;
    struct step of[] = {{.bytes = 4}};
    struct timed t = steps(of, 1);
    t.sets[0] = "sm.count=132";
    t.ctas = 132;
    timed_run(&t);
    uint32_t far = 0;
    for (uint32_t i = 0; i < 132; i += 2) {
        far += memory_of(&t)->sm_far[i];
        assert_int_equal(memory_of(&t)->sm_far[i], memory_of(&t)->sm_far[i + 1]);
    }
    assert_int_equal(far, 33);
    timed_end(&t);
    t = steps(of, 1);
    t.sets[6] = "dram.channels=5";
    t.sets[7] = "l2.slices=1";
    timed_configure(&t);
    struct pw_program programs[1];
    timed_programs(&t, programs);
    assert_int_equal(pw_system_create(&t.config, &t.spec, programs, 1, &t.system, &t.err), PW_USER_ERROR);
    assert_non_null(strstr(t.err.message, "l2.halves needs an even number of L2 slices"));
    timed_end(&t);
}

static void what_was_copied_is_in_the_l2_and_nothing_else_is(void **state)
{
    (void)state;
    struct step of[] = {{.bytes = 4}};
    struct timed t = steps(of, 1);
    t.sets[1] = "l2.halves=off";
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 0), l2_hit(&t));
    timed_end(&t);
    of[0].first = 128; /* the last line, of which the array has four bytes */
    t = steps(of, 1);
    t.sets[1] = "l2.halves=off";
    t.bytes = PW_LINE_BYTES + 4;
    timed_run(&t);
    assert_int_equal(cycles_of(&t, 0), l2_hit(&t));
    timed_end(&t);
    t = steps(of, 1);
    t.sets[1] = "l2.halves=off";
    t.sets[3] = "l2.copies=off";
    timed_run(&t);
    pw_cycle arrives = t.config.gpu.l1_tlb.tlb.latency;
    assert_int_equal(cycles_of(&t, 0), form_dram_load(&t.config.gpu, LAUNCH + arrives, ROW_CLOSED) - LAUNCH);
    timed_end(&t);
}

static void a_miss_fetches_the_aligned_piece_it_lies_in(void **state)
{
    (void)state;
    struct step of[] = {{.first = 32, .bytes = 4}, {.first = 0, .bytes = 4}, {.first = 64, .bytes = 4}};
    static const struct {
        const char *set;
        uint32_t reads;
    } cases[] = {{"l2.fetch_bytes=32", 3}, {"l2.fetch_bytes=64", 2}, {"l2.fetch_bytes=128", 1}};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = steps(of, 3);
        t.sets[1] = "l2.halves=off";
        t.sets[3] = "l2.copies=off";
        t.sets[6] = "l1d.sectored=on";
        t.sets[7] = "l2.sectored=on";
        t.sets[8] = cases[i].set;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "dram.reads"), cases[i].reads);
        assert_int_equal(timed_count(&t, "l2.read_sector_hits"), 3 - cases[i].reads);
        timed_end(&t);
    }
}

/* Two loads of one line by two warps, a cycle apart: the second would hit a cycle later, were the port free. */
static void one_line_twice(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index < 2)
        timed_fetch(w, t, 0);
}

static void a_port_is_taken_for_as_long_as_its_width_says(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint32_t cycles;
    } cases[] = {{"l2.bytes_per_cycle=0", 1}, {"l2.bytes_per_cycle=32", 4}, {"l2.bytes_per_cycle=64", 2}};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = {.design = "ideal-tlb", .kernel = one_line_twice, .ctas = 2};
        t.sets[0] = "sm.count=2";
        t.sets[1] = "l2.copies=on";
        t.sets[2] = "xbar.bytes_per_cycle=128";
        t.sets[3] = cases[i].set;
        pw_cycle cycles = timed_run(&t);
        assert_int_equal(cycles, form_l2_hit(&t.config.gpu) + cases[i].cycles);
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_read_from_the_other_half_goes_there_and_back_and_a_second_does_not),
        cmocka_unit_test(what_is_written_at_home_ends_the_copy_of_the_other_half),
        cmocka_unit_test(what_an_sm_has_written_stays_in_its_own_half_too),
        cmocka_unit_test(a_store_of_a_part_leaves_nothing_to_read_in_the_half_it_passes),
        cmocka_unit_test(who_misses_what_is_on_its_way_from_the_other_half_waits_for_it),
        cmocka_unit_test(who_waits_for_a_register_of_copies_is_not_overtaken),
        cmocka_unit_test(without_halves_all_sms_are_equally_near),
        cmocka_unit_test(half_of_the_sms_are_near_to_each_half_and_an_odd_number_of_slices_cannot_be_divided),
        cmocka_unit_test(what_was_copied_is_in_the_l2_and_nothing_else_is),
        cmocka_unit_test(a_miss_fetches_the_aligned_piece_it_lies_in),
        cmocka_unit_test(a_port_is_taken_for_as_long_as_its_width_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
