/* What designs cost in storage, from their options. */
#include "system/cost.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct pw_cost cost_of(const char *machine, const char *design, const char *set)
{
    const struct pw_run_spec spec = {.machine = machine, .design = design, .sets = &set, .set_count = set != NULL};
    struct pw_config config;
    struct pw_options *options;
    struct pw_cost cost;
    struct pw_error err;
    char name[256];
    if (pw_run_configure(&spec, &config, &options, name, sizeof name, &err) != PW_OK ||
        pw_cost_of(&config, &cost, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_options_destroy(options);
    return cost;
}

/* The value of a metric; -1 where there is none. */
static double value(const struct pw_cost *c, const char *name)
{
    for (unsigned i = 0; i < c->count; i++)
        if (!strcmp(c->items[i].name, name))
            return pw_cost_value(c, i);
    return -1;
}

static void expect(const struct pw_cost *c, const char *name, double expected)
{
    double is = value(c, name);
    if (is < expected - 1e-9 || is > expected + 1e-9)
        fail_msg("%s is %g, not %g", name, is, expected);
}

/* mask-sec74-asid-bits, mask-sec74-queue-total: 512 entries with 9 bits each, which are 7%; 256 requests in the queues
 * of a channel. */
static void the_baseline_has_address_space_numbers_and_nothing_else(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("mask", "gpu-mmu", NULL);
    expect(&c, "cost.l2_tlb.asid", 512 * 9 / 8.0);
    expect(&c, "cost.l2_tlb.asid_overhead", 100 * 9 / 128.0);
    expect(&c, "cost.l1_tlb.base", 64 * 16);
    expect(&c, "cost.l2_tlb.base", 512 * 16);
    expect(&c, "cost.l2.base", 2 << 20);
    expect(&c, "cost.dram_queue.base", 256);
    static const char *const added[] = {"cost.l1_tlb.added",
                                        "cost.l1_tlb.overhead",
                                        "cost.l2_tlb.added",
                                        "cost.l2_tlb.overhead",
                                        "cost.l2.added",
                                        "cost.l2.overhead",
                                        "cost.request.added",
                                        "cost.dram_queue.added",
                                        "cost.dram_queue.overhead",
                                        "cost.added"};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        expect(&c, added[i], 0);
    for (unsigned i = 0; i < c.count; i++)
        assert_false(c.items[i].is_structure);
}

/* mask-sec74-bypass-counters, mask-sec74-bypass-counter-size, mask-sec74-tag-bits: ten counters of 8 bytes, for hits
 * and accesses of data and of four levels, and three bits in each request. */
static void the_l2_bypass_takes_80_bytes_and_three_bits_in_a_request(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("mask", "mask-cache", NULL);
    expect(&c, "cost.l2.walks.counters", 10 * 8 * 8);
    expect(&c, "cost.l2.walks.depth_tag", 3);
    expect(&c, "cost.l2.added", 80);
    expect(&c, "cost.l2.overhead", 100 * 80.0 / (2 << 20));
    expect(&c, "cost.request.added", 3);
    expect(&c, "cost.added", 80);
    assert_true(value(&c, "cost.l2.overhead") < 0.1);
    struct pw_cost without = cost_of("mask", "mask-cache", "l2.walks=never");
    assert_true(value(&without, "cost.l2.walks.counters") < 0);
    expect(&without, "cost.added", 0);
}

/* mask-sec74-hit-counter, mask-sec74-miss-counter, mask-sec74-incrementer, mask-sec74-token-width,
 * mask-sec74-direction-width, mask-sec74-token-counters, mask-sec74-direction-count, mask-sec74-cam: 13 bytes in each
 * of 30 SMs, with a bit for each of its 64 warps, and 316 at the L2 TLB. */
static void tokens_take_706_bytes(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("mask", "mask-tlb", NULL);
    expect(&c, "cost.fill.hit_counter", 16);
    expect(&c, "cost.fill.miss_counter", 16);
    expect(&c, "cost.fill.active_warps", 64);
    expect(&c, "cost.fill.warp_counter", 8);
    expect(&c, "cost.fill.bypass_cache", 32 * 64);
    expect(&c, "cost.fill.token_counters", 30 * 15);
    expect(&c, "cost.fill.directions", 30);
    expect(&c, "cost.l1_tlb.added", 13);
    expect(&c, "cost.l2_tlb.added", 316);
    expect(&c, "cost.l2_tlb.overhead", 100 * 316 / 8192.0);
    expect(&c, "cost.added", 30 * 13 + 316);
    struct pw_cost larger = cost_of("mask", "mask-tlb", "fill.bypass_entries=128");
    expect(&larger, "cost.added", 30 * 13 + 316 + 96 * 8);
}

/* mask-sec74-golden-size, mask-sec74-silver-size, mask-sec74-normal-size: 16 + 64 + 192 entries in the place of 256. */
static void the_queues_take_16_entries_more(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("mask", "mask-dram", NULL);
    expect(&c, "cost.dram_queue.added", 16);
    expect(&c, "cost.dram_queue.overhead", 6.25);
    expect(&c, "cost.added", 0);
    struct pw_cost long_queue = cost_of("mask", "mask-dram", "dram.read_queue=512");
    expect(&long_queue, "cost.dram_queue.added", 0);
}

/* mask-sec1-components: the three parts of MASK stand alone in a design each, and side by side in mask. */
static void mask_takes_what_its_three_parts_take(void **state)
{
    (void)state;
    static const char *const parts[] = {"mask-tlb", "mask-cache", "mask-dram"};
    static const char *const places[] = {"cost.l1_tlb.added",  "cost.l2_tlb.added",     "cost.l2.added",
                                         "cost.request.added", "cost.dram_queue.added", "cost.added"};
    struct pw_cost mask = cost_of("mask", "mask", NULL);
    for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
        double sum = 0;
        unsigned with = 0;
        for (size_t i = 0; i < 3; i++) {
            struct pw_cost part = cost_of("mask", parts[i], NULL);
            sum += value(&part, places[place]);
            with += value(&part, places[place]) > 0;
        }
        expect(&mask, places[place], sum);
        assert_true(sum > 0 && with == (place == 5 ? 2 : 1)); /* queue entries are not counted in bytes */
    }
}

/* Arrays that the page sizes of the run cannot fill are not there, and ideal ones have no size. */
static void tlbs_count_as_they_are_built(void **state)
{
    (void)state;
    static const struct {
        const char *design, *set;
        unsigned l1, l2; /* entries */
    } rows[] = {{"gpu-mmu", NULL, 64, 512},
                {"gpu-mmu", "l2_tlb.base_entries=1024", 64, 1024},
                {"mosaic", NULL, 64 + 16, 512 + 256},
                {"gpu-mmu-2m", NULL, 64, 512},
                {"gpu-mmu-2m", "l2_tlb.large_as_base=off", 64, 256},
                {"ideal-tlb", NULL, 0, 512},
                {"ideal-l2-tlb", NULL, 64, 0},
                {"pwcache", NULL, 64, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_cost c = cost_of("mask", rows[i].design, rows[i].set);
        expect(&c, "cost.l1_tlb.base", 16.0 * rows[i].l1);
        expect(&c, "cost.l2_tlb.base", 16.0 * rows[i].l2);
        expect(&c, "cost.l2_tlb.asid_overhead", rows[i].l2 ? 7.03125 : 0);
    }
}

/* comp-sec48-vbr, comp-sec48-pbr, comp-sec48-counter, comp-sec48-entry, comp-sec48-total, comp-fig2-vd,
 * comp-fig2-entry, comp-fig9-fit: 4 bytes for each of 32 sets, and two translations in the 52 bits of an entry. The
 * address space number of a base is not among them. */
static void compression_takes_128_bytes(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("kepler", "compress", NULL);
    expect(&c, "cost.l2_tlb.organisation.virtual_base", 18);
    expect(&c, "cost.l2_tlb.organisation.physical_base", 10);
    expect(&c, "cost.l2_tlb.organisation.counter", 4);
    expect(&c, "cost.l2_tlb.organisation.pair", 32);
    expect(&c, "cost.l2_tlb.organisation.address_space", 9);
    expect(&c, "cost.l2_tlb.organisation.entry", 2 + 31 + 19);
    expect(&c, "cost.l2_tlb.organisation.compressed_entry", 2 * (2 + 13 + 9));
    expect(&c, "cost.l2_tlb.organisation.storage", 32 * 32);
    expect(&c, "cost.l1_tlb.added", 0);
    expect(&c, "cost.l2_tlb.added", 128);
    expect(&c, "cost.added", 128);
    struct pw_cost naive = cost_of("kepler", "compress-naive", NULL);
    expect(&naive, "cost.l2_tlb.added", 32 * 28 / 8);
}

/* Ranges are charged to the TLB that has them: 32 of 111 bits. */
static void ranges_take_444_bytes_where_they_are(void **state)
{
    (void)state;
    struct pw_cost c = cost_of("kepler", "range-tlb", NULL);
    expect(&c, "cost.l1_tlb.added", 0);
    expect(&c, "cost.l2_tlb.added", 444);
    struct pw_cost l1 = cost_of("kepler", "gpu-mmu", "l1_tlb.organisation=range");
    expect(&l1, "cost.l1_tlb.added", 444);
    expect(&l1, "cost.l2_tlb.added", 0);
    struct pw_cost half = cost_of("kepler", "range-tlb", "l2_tlb.organisation.ranges=16");
    expect(&half, "cost.l2_tlb.added", 222);
}

/* comp-sec46-regs, comp-sec46-shared-2, comp-sec52-shared-4, comp-sec47-l1-one-base: the number of pairs. */
static void the_cost_of_compression_follows_its_options(void **state)
{
    (void)state;
    static const struct {
        const char *design, *set;
        double l1, l2; /* bits */
    } rows[] = {
        {"compress", "l2_tlb.organisation.sets_per_base=2", 0, 16 * 32},
        {"compress", "l2_tlb.organisation.sets_per_base=4", 0, 8 * 32},
        {"compress", "l2_tlb.organisation.sets_per_base=0", 0, 32},
        {"compress", "l2_tlb.organisation.share=0", 0, 0},
        {"compress", "l2_tlb.organisation.share=100", 0, 32 * 32 + 52},
        {"compress", "l2_tlb.organisation.counter=17", 0, 32 * 33},
        {"compress", "l2_tlb.organisation.counter=1", 0, 32 * 29},
        {"compress", "l2_tlb.organisation.virtual_bits=10", 0, 32 * (21 + 10 + 4)},
        {"compress", "l2_tlb.organisation.virtual_bits=36", 0, 32 * (0 + 10 + 4) + 256 * (2 * (2 + 31 + 9) - 52)},
        {"compress", "l2_tlb.organisation.ratio=3", 0, 32 * 32 + 256 * (72 - 52)},
        {"compress", "dram.bytes=4GB", 0, 32 * 33},
        {"compress", "l2_tlb.base_ways=0", 0, 36 - 13 + 10 + 4},
        {"compress-l1", NULL, 20 + 10 + 4, 32 * 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_cost c = cost_of("kepler", rows[i].design, rows[i].set);
        uint64_t l1 = ((uint64_t)rows[i].l1 + 7) / 8, l2 = ((uint64_t)rows[i].l2 + 7) / 8;
        expect(&c, "cost.l1_tlb.added", (double)l1);
        expect(&c, "cost.l2_tlb.added", (double)l2);
        expect(&c, "cost.added", (double)(16 * l1 + l2));
    }
    struct pw_cost ratio3 = cost_of("kepler", "compress", "l2_tlb.organisation.virtual_bits=6");
    expect(&ratio3, "cost.l2_tlb.organisation.compressed_entry", 2 * 17);
}

/* Each array that there is has a cost: its page and frame numbers are as wide as its pages are many. */
static void compressed_arrays_cost_as_they_are_built(void **state)
{
    (void)state;
    struct pw_cost large = cost_of("kepler", "gpu-mmu-2m+compress", NULL);
    expect(&large, "cost.l2_tlb.large_organisation.virtual_base", 9);
    expect(&large, "cost.l2_tlb.large_organisation.physical_base", 1);
    assert_true(value(&large, "cost.l2_tlb.organisation.storage") < 0);
    struct pw_cost both = cost_of("kepler", "mosaic+compress", NULL);
    expect(&both, "cost.l2_tlb.organisation.pair", 32);
    expect(&both, "cost.l2_tlb.large_organisation.pair", 14);
    struct pw_cost none = cost_of("kepler", "compress", "l2_tlb.enabled=off");
    assert_true(value(&none, "cost.l2_tlb.organisation.storage") < 0);
    expect(&none, "cost.added", 0);
}

static uint64_t by_warps(const void *options, const struct pw_cost_machine *machine)
{
    return *(const uint32_t *)options * machine->warps;
}

static void a_structure_has_a_size_or_a_function_for_it(void **state)
{
    (void)state;
    const struct pw_policy_cost fixed = {.name = "fixed", .each = 5}, computed = {.name = "computed", .size = by_warps};
    const struct pw_cost_machine machine = {.warps = 48};
    const uint32_t options = 3;
    char name[PW_METRIC_NAME_CAPACITY];
    assert_int_equal(pw_policy_cost_size(&fixed, &options, &machine), 5);
    assert_int_equal(pw_policy_cost_size(&computed, &options, &machine), 144);
    assert_true(pw_cost_name("fill.policy", &computed, name, sizeof name));
    assert_string_equal(name, "cost.fill.computed");
    assert_false(pw_cost_name("fill.policy", &computed, name, sizeof "cost.fill.computed" - 1));
    assert_false(pw_cost_name("fill.policy", &computed, name, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_baseline_has_address_space_numbers_and_nothing_else),
        cmocka_unit_test(the_l2_bypass_takes_80_bytes_and_three_bits_in_a_request),
        cmocka_unit_test(tokens_take_706_bytes),
        cmocka_unit_test(the_queues_take_16_entries_more),
        cmocka_unit_test(mask_takes_what_its_three_parts_take),
        cmocka_unit_test(tlbs_count_as_they_are_built),
        cmocka_unit_test(compression_takes_128_bytes),
        cmocka_unit_test(ranges_take_444_bytes_where_they_are),
        cmocka_unit_test(the_cost_of_compression_follows_its_options),
        cmocka_unit_test(compressed_arrays_cost_as_they_are_built),
        cmocka_unit_test(a_structure_has_a_size_or_a_function_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
