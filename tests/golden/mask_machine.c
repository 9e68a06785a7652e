/* Machine and designs against MASK: Table 1, what Sections 3, 4 and 6 add, and the two GPUs of Table 4. What the
 * machine of Mosaic carries of MASK is in machines.c. */
#include "config_rows.h"

/* Checked under every design of the paper. */
#define ALL_OF_MASK NULL

static const struct row rows[] = {
    {"mask-tab1-cores", "mask", ALL_OF_MASK, "sm.count", "30"},
    {"mask-tab1-clock", "mask", ALL_OF_MASK, "gpu.clock_mhz", "1020"},
    {"mask-fig06-warps-per-core", "mask", ALL_OF_MASK, "sm.warps", "64"},
    {"mask-tab1-l1-size", "mask", ALL_OF_MASK, "l1d.bytes", "16KB"},
    {"mask-tab1-l1-ways", "mask", ALL_OF_MASK, "l1d.ways", "4"},
    {"mask-tab1-l1-latency", "mask", ALL_OF_MASK, "l1d.latency", "1"},
    {"mask-tab1-l1tlb-entries", "mask", ALL_OF_MASK, "l1_tlb.base_entries", "64"},
    {"mask-tab1-l1tlb-assoc", "mask", ALL_OF_MASK, "l1_tlb.base_ways", "0"},
    {"mask-tab1-l1tlb-latency", "mask", ALL_OF_MASK, "l1_tlb.latency", "1"},
    {"mask-tab1-l2-size", "mask", ALL_OF_MASK, "l2.bytes", "2MB"},
    {"mask-tab1-l2-ways", "mask", ALL_OF_MASK, "l2.ways", "16"},
    {"mask-tab1-l2-ports", "mask", ALL_OF_MASK, "l2.ports", "2"}, /* of a slice, which is a bank */
    {"mask-tab1-l2-latency", "mask", ALL_OF_MASK, "l2.latency", "10"},
    {"mask-tab1-l2tlb-entries", "mask", ALL_OF_MASK, "l2_tlb.base_entries", "512"},
    {"mask-tab1-l2tlb-ways", "mask", ALL_OF_MASK, "l2_tlb.base_ways", "16"},
    {"mask-tab1-l2tlb-ports", "mask", ALL_OF_MASK, "l2_tlb.ports", "2"},
    {"mask-tab1-l2tlb-latency", "mask", ALL_OF_MASK, "l2_tlb.latency", "10"},
    {"mask-tab1-dram-clock", "mask", ALL_OF_MASK, "dram.clock_mhz", "1674"},
    {"mask-tab1-dram-channels", "mask", ALL_OF_MASK, "dram.channels", "8"},
    {"mask-tab1-dram-banks", "mask", ALL_OF_MASK, "dram.banks", "8"},
    {"mask-tab1-dram-type", "mask", ALL_OF_MASK, "dram.bytes_per_clock", "32"}, /* GDDR5: 4 beats of 64 bits */
    {"mask-sec55-no-faults", "mask", ALL_OF_MASK, "paging.mode", "free"},
    {"mask-sec73-2mb-fault", "mask", "gpu-mmu-2m", "paging.mode", "free"},
    {"mask-sec6-no-l2-partition", "mask", "pwcache", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask", "gpu-mmu", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask", "ideal-tlb", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask", "static", "l2.partition", "by-app"},
};

static void mask_is_the_machine_of_its_table_1(void **state)
{
    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void no_design_is_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"gpu-mmu", "pwcache", "static", "ideal-tlb", "gpu-mmu-2m"};
    static struct designs all;
    find_designs("mask", &all);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!has_design(&all, names[i]))
            fail_msg("%s is left out", names[i]);
}

static void mask_agrees_where_the_paper_counts_differently(void **state)
{
    (void)state;
    enum { GDDR5_BEATS_PER_CLOCK = 4 };
    static struct pw_config config;
    struct pw_options *o = effective(&config, "mask", "gpu-mmu");
    /* mask-tab1-l2-banks: 16 in all. */
    assert_int_equal(number_of(o, "l2.slices") * number_of(o, "dram.channels"), 16);
    /* mask-tab1-dram-burst: 8 beats. */
    assert_int_equal(number_of(o, "dram.burst_bytes") * GDDR5_BEATS_PER_CLOCK / number_of(o, "dram.bytes_per_clock"),
                     8);
    /* mask-sec74-queue-total: requests that a channel of the baseline can hold. */
    assert_int_equal(number_of(o, "dram.read_queue") + number_of(o, "dram.write_queue"), 256);
    /* mask-sec3-l2tlb-location: a request crosses as far to it as to the L2 cache. */
    assert_int_equal(config.gpu.l2_tlb.distance, config.gpu.crossbar.latency);
    pw_options_destroy(o);
}

/* Cycles of a machine in ns, to the nearest. */
static unsigned nanoseconds(const struct pw_config *config, uint32_t cycles)
{
    return (cycles * 1000 + config->gpu.clock_mhz / 2) / config->gpu.clock_mhz;
}

/* Section 3, footnote 3. */
static void latencies_of_l2_and_l2_tlb_are_those_of_the_footnote(void **state)
{
    (void)state;
    static struct pw_config here, power;
    struct pw_options *a = effective(&here, "mask", "gpu-mmu"), *b = effective(&power, "integrated", "gpu-mmu");
    assert_int_equal(nanoseconds(&here, here.gpu.l2.latency), 10);            /* mask-sec3-fn3-l2 */
    assert_int_equal(nanoseconds(&here, here.gpu.l2_tlb.tlb.latency), 10);    /* mask-sec3-fn3-l2tlb */
    assert_int_equal(nanoseconds(&power, power.gpu.l2.latency), 130);         /* mask-sec3-fn3-power-l2 */
    assert_int_equal(nanoseconds(&power, power.gpu.l2_tlb.tlb.latency), 130); /* mask-sec3-fn3-power-l2tlb */
    pw_options_destroy(a);
    pw_options_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mask_is_the_machine_of_its_table_1),
        cmocka_unit_test(no_design_is_left_out),
        cmocka_unit_test(mask_agrees_where_the_paper_counts_differently),
        cmocka_unit_test(latencies_of_l2_and_l2_tlb_are_those_of_the_footnote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
