/* Exact cycles of data through the whole machine: L1 cache, crossbar, L2 slices and DRAM, on idle machines, and what
 * queues where. */
#include "closed_form.h"
#include "gpu/gpu_internal.h"
#include "mem/memory_internal.h"
#include "timed.h"

/* Translation costs one lookup, so that only the data path remains. */
static struct timed ideal(void)
{
    return (struct timed){.design = "ideal-tlb"};
}

static struct pw_gpu_config config_of(struct timed t)
{
    timed_configure(&t);
    struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    return c;
}

/* Loads one after the other of the bytes n[1], n[2], ...; n[0] of them. */
static void chain(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, t->n[1 + i]);
}

/* Another line in the row of the array's first line becomes n[2]. */
static void choose_row_mate(struct timed *t)
{
    struct pw_memory_map map = timed_map(t);
    uint32_t first = timed_line(t, 0), lines = (uint32_t)(t->config.gpu.dram.row_bytes / PW_LINE_BYTES);
    for (uint64_t byte = PW_LINE_BYTES; !t->n[2]; byte += PW_LINE_BYTES) {
        uint32_t line = timed_line(t, byte);
        if (pw_place_of(&map, line).channel == pw_place_of(&map, first).channel &&
            pw_channel_line(&map, line) / lines == pw_channel_line(&map, first) / lines)
            t->n[2] = byte;
    }
}

static const char *const machines[] = {"mosaic", "volta", "kepler", "h200"};

/* mosaic-tab1-l1-latency */
static void unloaded_latency_of_a_load_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 4; m++) {
        struct timed t = ideal();
        t.machine = machines[m];
        t.sets[0] = "l2.halves=off";
        t.sets[1] = "l2.copies=off";
        t.kernel = chain;
        t.prepare = choose_row_mate;
        struct pw_gpu_config c = config_of(t);
        t.n[0] = 1;
        pw_cycle closed = form_dram_load(&c, c.launch_latency + c.launch_work + c.l1_tlb.tlb.latency, ROW_CLOSED);
        assert_int_equal(timed_cycles(t), closed);
        t.n[0] = 2;
        pw_cycle open = form_dram_load(&c, closed + c.l1_tlb.tlb.latency, ROW_OPEN);
        assert_int_equal(timed_cycles(t), open);
        t.n[0] = 3; /* n[3] is byte 0 again */
        assert_int_equal(timed_cycles(t), open + form_l1_hit(&c));
    }
}

/* mosaic-tab1-l1-latency, mosaic-tab1-l2-latency: the same in numbers, as a reader would add them up from the machine
 * files. */
static void mosaic_and_volta_hit_their_caches_in_these_cycles(void **state)
{
    (void)state;
    struct timed mosaic = ideal(), volta = ideal();
    mosaic.machine = "mosaic";
    volta.machine = "volta";
    struct pw_gpu_config c = config_of(mosaic);
    assert_int_equal(form_l1_hit(&c), 1 + 1);
    assert_int_equal(form_l2_hit(&c), 1 + 1 + 10 + 120 + 10 + 3 + 10); /* four flits of 32 bytes */
    assert_int_equal(c.l2.latency, 10);
    c = config_of(volta);
    assert_int_equal(form_l1_hit(&c), 1 + 20);
    assert_int_equal(form_l2_hit(&c), 1 + 20 + 10 + 160 + 0 + 10); /* one sector, one flit */
}

/* mosaic-tab1-l2-latency: A and B do not fit into a cache of one line together. */
static void a_load_that_hits_the_l2_crosses_twice(void **state)
{
    (void)state;
    for (unsigned m = 0; m < 4; m++) {
        struct timed t = ideal();
        t.machine = machines[m];
        t.kernel = chain;
        t.sets[0] = "l1d.bytes=128";
        t.sets[1] = "l1d.ways=1";
        t.sets[2] = "l1d.carved=off";
        t.n[2] = PW_PAGE_BYTES;
        struct pw_gpu_config c = config_of(t);
        t.n[0] = 2;
        pw_cycle before = timed_cycles(t);
        t.n[0] = 3;
        assert_int_equal(timed_cycles(t) - before, form_l2_hit(&c));
    }
}

/* A load of n[0] lines, n[1] bytes apart, one of another line far away, and the first again where n[2] is set. */
static void lines_twice(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, (uint32_t)t->n[0], (int64_t)t->n[1]);
    pw_use(w);
    timed_fetch(w, t, 64 * PW_PAGE_BYTES);
    if (t->n[2])
        timed_load_lanes(w, t, 0, (uint32_t)t->n[0], (int64_t)t->n[1]);
}

static pw_cycle second_load(struct timed t)
{
    t.kernel = lines_twice;
    t.n[2] = 0;
    pw_cycle before = timed_cycles(t);
    t.n[2] = 1;
    return timed_cycles(t) - before;
}

static void the_lsu_takes_one_line_per_cycle(void **state)
{
    (void)state;
    for (uint64_t lines = 1; lines <= 31; lines += 10) {
        struct timed t = ideal();
        t.n[0] = lines;
        t.n[1] = PW_LINE_BYTES;
        assert_int_equal(second_load(t), lines - 1 + 1 + 1);
    }
}

/* Four lanes to a line are one access (comp-sec22-coalesce): 31 lanes, 8 lines. */
static void lanes_in_one_line_are_one_access(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.n[0] = 31;
    t.n[1] = 32;
    assert_int_equal(second_load(t), 8 - 1 + 1 + 1);
}

/* Replies of 128 bytes come through the SM's port bytes_per_cycle at a time; requests go out one per cycle. */
static void replies_of_128_bytes_keep_the_port_for_four_cycles(void **state)
{
    (void)state;
    static const char *const widths[] = {"xbar.bytes_per_cycle=128", "xbar.bytes_per_cycle=64",
                                         "xbar.bytes_per_cycle=32", "xbar.bytes_per_cycle=16"};
    for (unsigned i = 0; i < 4; i++)
        for (uint64_t lines = 1; lines <= 31; lines += 6) {
            struct timed t = ideal();
            t.n[0] = lines;
            t.n[1] = PW_LINE_BYTES;
            t.sets[0] = "l1d.bytes=128"; /* holds the line far away when the second load comes */
            t.sets[1] = "l1d.ways=1";
            t.sets[2] = widths[i];
            struct pw_gpu_config c = config_of(t);
            assert_int_equal(form_flits(&c, 4), 1U << i);
            assert_int_equal(second_load(t), form_l2_hit(&c) + (lines - 1) * form_flits(&c, 4));
        }
}

/* Warps of two SMs load lines of one slice: the slice's port sends one reply after the other. */
static void one_line_each(struct pw_warp *w, struct timed *t)
{
    uint64_t byte = timed_byte_in_slice(t, w->cta_index, t->n[0] ? w->cta_index : 0);
    if (t->launch == 0 && w->cta_index == 0)
        for (uint64_t page = 0; page < 4; page++)
            timed_load(w, t, timed_byte_in_slice(t, page, t->n[0] ? (uint32_t)page : 0));
    if (t->launch == 1 && w->cta_index > 0)
        timed_load(w, t, byte);
}

/* mask-sec3-fn3-queueing: the last of three waits for two replies, beyond what it takes alone. */
static void a_slice_sends_one_reply_after_the_other(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = one_line_each;
    t.ctas = 4;
    t.sets[0] = "dram.channels=8";
    t.sets[1] = "l2.slices=1";
    struct pw_gpu_config c = config_of(t);
    for (unsigned apart = 0; apart < 2; apart++) {
        t.n[0] = apart;
        t.launches = 1;
        pw_cycle before = timed_cycles(t);
        t.launches = 2;
        /* SMs 1 to 3, at once. In one slice: one lookup per cycle, but a reply every four. */
        assert_int_equal(timed_cycles(t) - before, form_l2_hit(&c) + (apart ? 0 : 2 * form_flits(&c, 4)));
    }
}

/* CTAs n[0] and n[1], each on an SM of its own, load a line of slice n[2] and one of slice n[3]. */
static void two_ctas_of_many(struct pw_warp *w, struct timed *t)
{
    for (uint32_t i = 0; i < 2; i++)
        if (w->cta_index == t->n[i])
            timed_load(w, t, timed_byte_in_slice(t, i, (uint32_t)t->n[2 + i]));
}

/* mosaic-sec21-partition: the slices of a partition have one memory controller, whose only bank here serves one row
 * after the other, and no two partitions have the same. Each is as far from one SM as from any other. */
static void a_slice_belongs_to_one_memory_controller_and_every_sm_reaches_it(void **state)
{
    (void)state;
    enum { SMS = 30, CHANNELS = 4, SLICES = 2 };
    struct timed t = ideal();
    t.kernel = two_ctas_of_many;
    t.ctas = SMS;
    t.sets[0] = "dram.channels=4";
    t.sets[1] = "l2.slices=2";
    t.sets[2] = "dram.banks=1";
    t.sets[3] = "dram.row_bytes=128";
    struct pw_gpu_config c = config_of(t);
    pw_cycle alone = form_dram_load(&c, c.l1_tlb.tlb.latency, ROW_CLOSED);
    for (uint32_t other = 0; other < CHANNELS * SLICES; other++) {
        t.n[0] = other % SMS;
        t.n[1] = SMS - 1;
        t.n[2] = 0;
        t.n[3] = other;
        pw_cycle cycles = timed_cycles(t);
        if (other / SLICES == 0)
            assert_true(cycles > alone + form_flits(&c, 4)); /* more than one port's reply behind the other's */
        else
            assert_int_equal(cycles, alone);
    }
}

/* Two loads of one line without a use between: one request. */
static void same_line_twice(struct pw_warp *w, struct timed *t)
{
    timed_load(w, t, 0);
    timed_load(w, t, 64);
}

/* mosaic-tab1-l1-coalesce, mask-tab1-l1-coalesce */
static void misses_to_one_line_merge(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = same_line_twice;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1d.misses"), 2);
    assert_int_equal(timed_count(&t, "l1d.mshr_merges"), 1);
    assert_int_equal(timed_count(&t, "l2.accesses"), 1);
    assert_int_equal(t.cycles, form_dram_load(&t.config.gpu, 1, ROW_CLOSED));
    timed_end(&t);
}

/* A warp waits for its slowest lane: 30 hits and one miss take as long as the miss. */
static void thirty_hits_and_a_miss(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, 30, PW_LINE_BYTES);
    pw_use(w);
    if (t->n[0])
        timed_load_lanes(w, t, 0, 31, PW_LINE_BYTES);
}

/* mosaic-sec21-lockstep, mask-sec43-warp-hit-rule: the 30 hits make it no shorter. */
static void a_warp_waits_for_its_slowest_lane(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = thirty_hits_and_a_miss;
    struct pw_gpu_config c = config_of(t);
    pw_cycle before = timed_cycles(t);
    t.n[0] = 1;
    pw_cycle cost = timed_cycles(t) - before;
    /* Its line is the 31st, and what its bank holds depends on the lines before: between an open row and another. */
    pw_cycle at = before + 30 + c.l1_tlb.tlb.latency;
    assert_true(before + cost >= form_dram_load(&c, at, ROW_OPEN) &&
                before + cost <= form_dram_load(&c, at, ROW_OTHER));
}

static void two_lines_in_two_slices(struct pw_warp *w, struct timed *t)
{
    uint64_t *at =
        pw_emit(w, 3, (struct pw_op){.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 3});
    at[0] = t->a.base.v + timed_byte_in_slice(t, 0, 0);
    at[1] = t->a.base.v + timed_byte_in_slice(t, 1, (uint32_t)t->n[0]);
    pw_use(w);
}

static void a_miss_without_a_register_of_the_l1_waits_for_the_one_before(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = two_lines_in_two_slices;
    t.n[0] = 1;
    t.sets[0] = "dram.channels=8";
    t.sets[1] = "l2.slices=1";
    t.sets[2] = "l1d.mshrs=1";
    struct pw_gpu_config c = config_of(t);
    pw_cycle first = form_dram_load(&c, 1, ROW_CLOSED);
    assert_int_equal(timed_cycles(t), form_dram_load(&c, first + 1, ROW_CLOSED));
    t.sets[2] = "l1d.mshrs=2";
    assert_int_equal(timed_cycles(t), first + form_flits(&c, 4));
}

/* Both lines in slice 0, and rows of one line in one bank: the second one's lookup is made when the first is filled. */
static void a_miss_without_a_register_of_the_l2_waits_for_the_one_before(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = two_lines_in_two_slices;
    t.sets[0] = "dram.channels=8";
    t.sets[1] = "l2.slices=1";
    t.sets[2] = "dram.banks=1";
    t.sets[3] = "dram.row_bytes=128";
    t.sets[4] = "l2.mshrs=1";
    struct pw_gpu_config c = config_of(t);
    pw_cycle filled = form_dram_done(&c, 1 + form_to_l2(&c) + c.dram.path, ROW_CLOSED);
    pw_cycle second = form_dram_done(&c, filled + c.l2.latency + c.dram.path, ROW_OTHER);
    assert_int_equal(timed_cycles(t), second + form_reply(&c));
}

/* n[0] stored lines by one warp; a store is done when its slice has taken it. */
static void stores(struct pw_warp *w, struct timed *t)
{
    pw_access_affine(w, PW_OP_STORE, (uint32_t)((1ULL << t->n[0]) - 1), t->a.base.v, PW_LINE_BYTES, 4);
}

/* A whole line per store, 16 bytes a lane. */
static void whole_stores(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        pw_access_affine(w, PW_OP_STORE, 0xff, t->a.base.v + i * PW_LINE_BYTES, 16, 16);
}

static void stored_bytes_leave_through_the_port_of_the_sm(void **state)
{
    (void)state;
    for (uint64_t lines = 1; lines <= 25; lines += 8) {
        struct timed t = ideal();
        t.n[0] = lines;
        t.kernel = stores;
        struct pw_gpu_config c = config_of(t);
        pw_cycle first = c.l1_tlb.tlb.latency + form_store(&c);
        assert_int_equal(timed_cycles(t), first + lines - 1); /* one sector, one flit */
        t.kernel = whole_stores;
        assert_int_equal(timed_cycles(t), first + 3 + (lines - 1) * 4);
    }
}

static void a_store_without_room_in_the_buffer_waits_for_the_one_before(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = stores;
    t.n[0] = 6;
    t.sets[0] = "sm.stores=1";
    struct pw_gpu_config c = config_of(t);
    uint64_t each = c.l1_tlb.tlb.latency + form_store(&c);
    assert_int_equal(timed_cycles(t), 6 * each);
    t.sets[0] = "sm.stores=2"; /* in pairs, one cycle apart */
    assert_int_equal(timed_cycles(t), 3 * each + 1);
    t.sets[0] = "sm.stores=6";
    assert_int_equal(timed_cycles(t), each + 5);
}

/* The exit issues at once, but the store waits for its translation first. */
static void a_launch_ends_when_its_last_store_has_reached_the_l2(void **state)
{
    (void)state;
    struct timed t = {.kernel = stores, .n = {1}, .sets = {"walk.model=fixed", "walk.latency=500"}};
    struct pw_gpu_config c = config_of(t);
    uint64_t once = form_l2_tlb(&c, 1) + 500 + form_store(&c);
    assert_int_equal(timed_cycles(t), once);
    t.launches = 2; /* the second finds the translation */
    assert_int_equal(timed_cycles(t), once + c.l1_tlb.tlb.latency + form_store(&c));
}

/* Each CTA, on an SM of its own, loads a line from a slice of its own. */
static void a_slice_each(struct pw_warp *w, struct timed *t)
{
    timed_load(w, t, timed_byte_in_slice(t, 0, w->cta_index));
}

static void serial_mode_has_one_memory_instruction_at_a_time_in_the_whole_gpu(void **state)
{
    (void)state;
    struct timed t = ideal();
    t.kernel = a_slice_each;
    t.ctas = 4;
    t.sets[0] = "dram.channels=8";
    t.sets[1] = "l2.slices=1";
    t.sets[2] = "sm.serial=off";
    struct pw_gpu_config c = config_of(t);
    pw_cycle end = form_dram_load(&c, c.l1_tlb.tlb.latency, ROW_CLOSED);
    assert_int_equal(timed_cycles(t), end);
    t.sets[2] = "sm.serial=on";
    for (unsigned i = 1; i < 4; i++)
        end = form_dram_load(&c, end + c.l1_tlb.tlb.latency, ROW_CLOSED);
    assert_int_equal(timed_cycles(t), end);
}

/* Loads, or loads and stores, of sectors here and there in 32 lines, none of which waits for those before. */
static void load_and_store_the_same_lines(struct pw_warp *w, struct timed *t)
{
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t hash = pw_scatter((w->cta_index * 100 + i) * 2654435761U), byte = hash % 128 * PW_SECTOR_BYTES;
        if (t->n[0] && hash >> 8 & 1)
            timed_store(w, t, byte);
        else
            timed_load(w, t, byte);
    }
}

static void check_that_no_line_is_twice_in(const struct pw_cache *c, const char *name)
{
    for (uint32_t set = 0; set < c->sets.by * c->stride; set += c->stride)
        for (uint32_t i = 1; i < c->ways; i++)
            for (uint32_t k = 0; k < i; k++)
                if (c->lines[set + i] == c->lines[set + k] && c->lines[set + i] != PW_NO_LINE)
                    fail_msg("%s: line %u is in two ways of a set", name, c->lines[set + i]);
}

/* What arrives is put where a store or other sectors of its line have made room for it meanwhile, and only there. */
static void a_line_that_arrives_twice_or_after_a_store_has_one_way(void **state)
{
    (void)state;
    static const char *const sectored[][2] = {{"l1d.sectored=on", "l2.sectored=on"},
                                              {"l1d.sectored=on", "l2.sectored=off"},
                                              {"l1d.sectored=off", "l2.sectored=off"}};
    for (unsigned i = 0; i < 2 * sizeof(sectored) / sizeof(*sectored); i++) {
        struct timed t = ideal();
        t.n[0] = i % 2;
        t.kernel = load_and_store_the_same_lines;
        t.ctas = 30;
        t.sets[0] = sectored[i / 2][0];
        t.sets[1] = sectored[i / 2][1];
        t.sets[2] = "l1d.write=update";
        timed_run(&t);
        const struct pw_gpu *g = t.system->nodes[0].gpu;
        for (uint32_t sm = 0; sm < t.config.gpu.sm.count; sm++)
            check_that_no_line_is_twice_in(&g->sms[sm].l1, "an L1");
        for (uint32_t slice = 0; slice < g->memory->slice_count; slice++)
            check_that_no_line_is_twice_in(&g->memory->slices[slice].cache, "a slice of the L2");
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unloaded_latency_of_a_load_is_the_sum_of_its_parts),
        cmocka_unit_test(mosaic_and_volta_hit_their_caches_in_these_cycles),
        cmocka_unit_test(a_load_that_hits_the_l2_crosses_twice),
        cmocka_unit_test(the_lsu_takes_one_line_per_cycle),
        cmocka_unit_test(lanes_in_one_line_are_one_access),
        cmocka_unit_test(replies_of_128_bytes_keep_the_port_for_four_cycles),
        cmocka_unit_test(a_slice_sends_one_reply_after_the_other),
        cmocka_unit_test(a_slice_belongs_to_one_memory_controller_and_every_sm_reaches_it),
        cmocka_unit_test(misses_to_one_line_merge),
        cmocka_unit_test(a_warp_waits_for_its_slowest_lane),
        cmocka_unit_test(a_miss_without_a_register_of_the_l1_waits_for_the_one_before),
        cmocka_unit_test(a_miss_without_a_register_of_the_l2_waits_for_the_one_before),
        cmocka_unit_test(a_line_that_arrives_twice_or_after_a_store_has_one_way),
        cmocka_unit_test(stored_bytes_leave_through_the_port_of_the_sm),
        cmocka_unit_test(a_store_without_room_in_the_buffer_waits_for_the_one_before),
        cmocka_unit_test(serial_mode_has_one_memory_instruction_at_a_time_in_the_whole_gpu),
        cmocka_unit_test(a_launch_ends_when_its_last_store_has_reached_the_l2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
