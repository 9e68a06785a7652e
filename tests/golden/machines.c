/* The machines and designs against the configuration tables of the papers: what an option is in effect, once machine
 * and design are laid over the defaults, must be what the paper says. Every row names the claim that it decides. */
#include "config_rows.h"

/* Checked under every design of the paper that the claim is from. */
#define ALL_OF_MOSAIC NULL
#define ALL_OF_UVM NULL

/* Mosaic, Table 1, and what Sections 3 to 5 add. */
static const struct row mosaic_rows[] = {
    {"mosaic-tab1-cores", "mosaic", ALL_OF_MOSAIC, "sm.count", "30"},
    {"mosaic-tab1-core-clock", "mosaic", ALL_OF_MOSAIC, "gpu.clock_mhz", "1020"},
    {"mosaic-tab1-scheduler", "mosaic", ALL_OF_MOSAIC, "sm.schedule", "gto"},
    {"mosaic-tab1-l1-size", "mosaic", ALL_OF_MOSAIC, "l1d.bytes", "16KB"},
    {"mosaic-tab1-l1-ways", "mosaic", ALL_OF_MOSAIC, "l1d.ways", "4"},
    {"mosaic-tab1-l1-latency", "mosaic", ALL_OF_MOSAIC, "l1d.latency", "1"},
    {"mosaic-tab1-l1tlb-base", "mosaic", ALL_OF_MOSAIC, "l1_tlb.base_entries", "128"},
    {"mosaic-tab1-l1tlb-large", "mosaic", ALL_OF_MOSAIC, "l1_tlb.large_entries", "16"},
    {"mosaic-tab1-l1tlb-assoc", "mosaic", ALL_OF_MOSAIC, "l1_tlb.base_ways", "0"},
    {"mosaic-tab1-l1tlb-assoc", "mosaic", ALL_OF_MOSAIC, "l1_tlb.large_ways", "0"},
    {"mosaic-tab1-l1tlb-latency", "mosaic", ALL_OF_MOSAIC, "l1_tlb.latency", "1"},
    {"mosaic-tab1-partitions", "mosaic", ALL_OF_MOSAIC, "dram.channels", "6"},
    {"mosaic-tab1-l2-size", "mosaic", ALL_OF_MOSAIC, "l2.bytes", "2MB"},
    {"mosaic-tab1-l2-ways", "mosaic", ALL_OF_MOSAIC, "l2.ways", "16"},
    {"mosaic-tab1-l2-banks", "mosaic", ALL_OF_MOSAIC, "l2.slices", "2"},
    {"mosaic-tab1-l2-latency", "mosaic", ALL_OF_MOSAIC, "l2.latency", "10"},
    {"mosaic-tab1-l2tlb-base", "mosaic", ALL_OF_MOSAIC, "l2_tlb.base_entries", "512"},
    {"mosaic-tab1-l2tlb-large", "mosaic", ALL_OF_MOSAIC, "l2_tlb.large_entries", "256"},
    {"mosaic-tab1-l2tlb-base-assoc", "mosaic", ALL_OF_MOSAIC, "l2_tlb.base_ways", "16"},
    {"mosaic-tab1-l2tlb-large-assoc", "mosaic", ALL_OF_MOSAIC, "l2_tlb.large_ways", "0"},
    {"mosaic-tab1-l2tlb-ports", "mosaic", ALL_OF_MOSAIC, "l2_tlb.ports", "2"},
    {"mosaic-tab1-l2tlb-latency", "mosaic", ALL_OF_MOSAIC, "l2_tlb.latency", "10"},
    {"mosaic-tab1-dram-size", "mosaic", ALL_OF_MOSAIC, "dram.bytes", "3GB"},
    {"mosaic-tab1-dram-clock", "mosaic", ALL_OF_MOSAIC, "dram.clock_mhz", "1674"},
    {"mosaic-tab1-dram-channels", "mosaic", ALL_OF_MOSAIC, "dram.channels", "6"},
    {"mosaic-tab1-dram-banks", "mosaic", ALL_OF_MOSAIC, "dram.banks", "8"},
    {"mosaic-tab1-dram-type", "mosaic", ALL_OF_MOSAIC, "dram.bytes_per_clock", "32"}, /* GDDR5: 4 beats of 64 bits */
    {"mosaic-tab1-dram-type", "mosaic", ALL_OF_MOSAIC, "dram.burst_bytes", "64"},     /* 8 of them in a burst */
    {"mosaic-tab1-dram-sched", "mosaic", ALL_OF_MOSAIC, "dram.schedule", "fr-fcfs"},
    {"mosaic-sec5-walker-concurrency", "mosaic", ALL_OF_MOSAIC, "walk.walkers", "64"},
    {"mosaic-sec4-base-page", "mosaic", "gpu-mmu", "page.size", "4KB"},
    {"mosaic-sec4-base-page", "mosaic", "mosaic", "page.size", "4KB"},
    {"mosaic-sec4-large-page", "mosaic", "gpu-mmu-2m", "page.size", "2MB"},
    {"mosaic-sec31-l2tlb-entries", "mosaic", "gpu-mmu", "pwc.enabled", "off"},
    {"mosaic-sec31-l2tlb-entries", "mosaic", "gpu-mmu", "l2_tlb.enabled", "on"},
    {"mosaic-sec31-l2tlb-entries", "mosaic", "gpu-mmu", "l2_tlb.base_entries", "512"},
    {"mosaic-sec31-power-l1", "mosaic", "gpu-mmu-pwcache", "l1_tlb.base_entries", "128"},
    {"mosaic-sec31-power-l1", "mosaic", "gpu-mmu-pwcache", "pwc.enabled", "on"},
    {"mosaic-sec31-power-l1", "mosaic", "gpu-mmu-pwcache", "walk.walkers", "64"},
};

/* What the machine of Mosaic carries of MASK. */
static const struct row mask_rows[] = {
    {"mask-tab1-pwc-size", "mosaic", "pwcache", "pwc.bytes", "8KB"},
    {"mask-sec3-pwc-size", "mosaic", "pwcache", "pwc.bytes", "8KB"},
    {"mask-tab1-pwc-ways", "mosaic", "pwcache", "pwc.ways", "16"},
    {"mask-tab1-pwc-latency", "mosaic", "pwcache", "pwc.latency", "10"},
    {"mask-sec6-threshmax", "mask", "mask-dram", "dram.silver_max", "500"},
    {"mask-sec54-reset", "mask", "mask-dram", "dram.epoch", "100000"},
    {"mask-sec54-frfcfs", "mask", "mask-dram", "dram.within", "fr-fcfs"},
    {"mask-sec74-queue-total", "mask", "gpu-mmu", "dram.read_queue", "192"}, /* with the writes 256 */
    {"mask-sec74-queue-total", "mask", "gpu-mmu", "dram.write_queue", "64"},
    {"mask-sec3-two-baselines", "mosaic", "pwcache", "pwc.enabled", "on"},
    {"mask-sec3-two-baselines", "mosaic", "pwcache", "l2_tlb.enabled", "off"},
    {"mask-sec3-two-baselines", "mosaic", "sharedtlb", "pwc.enabled", "off"},
    {"mask-sec3-two-baselines", "mosaic", "sharedtlb", "l2_tlb.enabled", "on"},
};

/* TLB compression, Table 3. */
static const struct row compression_rows[] = {
    {"comp-tab3-sms", "kepler", "baseline", "sm.count", "16"},
    {"comp-tab3-clock", "kepler", "baseline", "gpu.clock_mhz", "1400"},
    {"comp-tab3-pipeline", "kepler", "baseline", "sm.dependency_latency", "5"},
    {"comp-tab3-shmem", "kepler", "baseline", "sm.shared_bytes", "48KB"},
    {"comp-tab3-threads", "kepler", "baseline", "sm.threads", "2048"},
    {"comp-tab3-warps", "kepler", "baseline", "sm.warps", "64"},
    {"comp-tab3-l1d-size", "kepler", "baseline", "l1d.bytes", "16KB"},
    {"comp-tab3-l1d-ways", "kepler", "baseline", "l1d.ways", "4"},
    {"comp-tab3-l2-total", "kepler", "baseline", "l2.bytes", "1536KB"},
    {"comp-tab3-l2-total", "kepler", "baseline", "dram.channels", "12"},
    {"comp-fig2-pfn", "kepler", "baseline", "dram.bytes", "2GB"}, /* 2^19 frames of 4 KB */
    {"comp-tab3-l2-ways", "kepler", "baseline", "l2.ways", "8"},
    {"comp-tab3-warp-sched", "kepler", "baseline", "sm.schedulers", "2"},
    {"comp-tab3-warp-sched", "kepler", "baseline", "sm.schedule", "gto"},
    {"comp-tab3-l1tlb-entries", "kepler", "baseline", "l1_tlb.base_entries", "32"},
    {"comp-tab3-l1tlb-ways", "kepler", "baseline", "l1_tlb.base_ways", "4"},
    {"comp-tab3-l1tlb-lat", "kepler", "baseline", "l1_tlb.latency", "1"},
    {"comp-tab3-l2tlb-entries", "kepler", "baseline", "l2_tlb.base_entries", "512"},
    {"comp-tab3-l2tlb-ways", "kepler", "baseline", "l2_tlb.base_ways", "16"},
    {"comp-tab3-l2tlb-lat", "kepler", "baseline", "l2_tlb.latency", "10"},
    {"comp-tab3-walkers", "kepler", "baseline", "walk.walkers", "8"},
    {"comp-tab3-walk-lat", "kepler", "baseline", "walk.model", "fixed"},
    {"comp-tab3-walk-lat", "kepler", "baseline", "walk.latency", "500"},
    {"comp-fig2-page", "kepler", "baseline", "page.size", "4KB"},
    {"comp-sec54-2m-config", "kepler", "gpu-mmu-2m", "page.size", "2MB"},
    {"comp-fig9-vd", "kepler", "compress", "l2_tlb.organisation.virtual_bits", "13"},
    {"comp-fig9-pd", "kepler", "compress", "l2_tlb.organisation.physical_bits", "9"},
    {"comp-fig9-two", "kepler", "compress", "l2_tlb.organisation.ratio", "2"},
    {"comp-sec46-half", "kepler", "compress", "l2_tlb.organisation.share", "50"},
    {"comp-sec45-16", "kepler", "compress", "l2_tlb.organisation.counter", "16"},
    {"comp-sec43-perset", "kepler", "compress", "l2_tlb.organisation.sets_per_base", "1"},
    {"comp-sec46-newest", "kepler", "compress", "l2_tlb.organisation.search", "off"},
    {"comp-sec45-naive", "kepler", "compress-naive", "l2_tlb.organisation.counter", "0"},
    {"comp-sec47-l1-one-base", "kepler", "compress-l1", "l1_tlb.organisation.sets_per_base", "0"},
};

/* UVM, Table 2, and what Section 6.1 adds; of Mosaic, what Section 3.2 says of its far faults. */
static const struct row uvm_rows[] = {
    {"uvm-tab2-arch", "pascal", ALL_OF_UVM, "gpu.clock_mhz", "1481"},
    {"uvm-tab2-arch", "pascal", ALL_OF_UVM, "dram.channels", "11"},
    {"uvm-tab2-sms", "pascal", ALL_OF_UVM, "sm.count", "28"},
    {"uvm-tab2-clock", "pascal", ALL_OF_UVM, "gpu.clock_mhz", "1481"},
    {"uvm-tab2-page", "pascal", ALL_OF_UVM, "page.size", "4KB"},
    {"uvm-tab2-fault", "pascal", ALL_OF_UVM, "uvm.fault_latency", "66645"},
    {"uvm-tab2-fault", "pascal", ALL_OF_UVM, "uvm.service", "serial"},
    {"uvm-tab2-walk", "pascal", ALL_OF_UVM, "walk.model", "fixed"},
    {"uvm-tab2-walk", "pascal", ALL_OF_UVM, "walk.latency", "100"},
    {"uvm-tab2-walk", "pascal", ALL_OF_UVM, "l2_tlb.enabled", "off"},
    {"uvm-sec61-tlb-lat", "pascal", ALL_OF_UVM, "l1_tlb.latency", "1"},
    {"uvm-sec61-tlb-lat", "pascal", ALL_OF_UVM, "l1_tlb.base_ways", "0"},
    {"mosaic-sec32-lat-4k", "mosaic", "gpu-mmu", "uvm.fault_latency", "55590"},
    {"mosaic-sec32-lat-4k", "mosaic", "gpu-mmu", "uvm.service", "parallel"},
    {"mosaic-sec5-paging-model", "mosaic", ALL_OF_MOSAIC, "uvm.prefetch", "none"},
    {"mosaic-sec5-paging-model", "mosaic", ALL_OF_MOSAIC, "link.h2d_rate", "7.95"},
};

/* The list is not written down above, so what must be in it is: without them the rows below would hold of too
 * little. */
static void no_design_of_a_paper_is_left_out(void **state)
{
    (void)state;
    static const char *const mosaic[] = {"mosaic",     "mosaic-no-cac",    "mosaic-cac-bc",
                                         "gpu-mmu",    "mosaic-ideal-cac", "conventional-coalescing",
                                         "gpu-mmu-2m", "ideal-tlb",        "pwcache"};
    static const char *const uvm[] = {"uvm-tbn-tbn", "uvm-sl-sl", "uvm-random-random", "uvm-none-lru4k",
                                      "uvm-tbn-lru2m"};
    static struct designs d;
    find_designs("mosaic", &d);
    for (size_t i = 0; i < sizeof mosaic / sizeof *mosaic; i++)
        if (!has_design(&d, mosaic[i]))
            fail_msg("%s is left out", mosaic[i]);
    find_designs("uvm", &d);
    for (size_t i = 0; i < sizeof uvm / sizeof *uvm; i++)
        if (!has_design(&d, uvm[i]))
            fail_msg("%s is left out", uvm[i]);
}

static void mosaic_is_the_machine_of_its_table_1(void **state)
{
    (void)state;
    check_rows(mosaic_rows, sizeof(mosaic_rows) / sizeof(*mosaic_rows));
}

static void pwcache_and_sharedtlb_are_the_baselines_of_mask(void **state)
{
    (void)state;
    check_rows(mask_rows, sizeof(mask_rows) / sizeof(*mask_rows));
}

static void kepler_is_the_machine_of_tlb_compression(void **state)
{
    (void)state;
    check_rows(compression_rows, sizeof(compression_rows) / sizeof(*compression_rows));
}

static void pascal_is_the_machine_of_uvm(void **state)
{
    (void)state;
    check_rows(uvm_rows, sizeof(uvm_rows) / sizeof(*uvm_rows));
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(value > expected - tolerance && value < expected + tolerance))
        fail_msg("%g is not %g", value, expected);
}

/* GB/s that a machine's link attains with transfers of one size. */
static double attained(const struct pw_config *config, uint64_t bytes)
{
    struct pw_error err = {0};
    struct pw_events *events = pw_events_create(&err);
    struct pw_link *link = NULL;
    assert_int_equal(pw_link_create(&config->link, config->gpu.clock_mhz, events, &link, &err), PW_OK);
    double rate = (double)bytes * config->gpu.clock_mhz / (double)pw_link_cycles(link, PW_LINK_H2D, bytes) / 1e3;
    pw_link_destroy(link);
    pw_events_destroy(events);
    return rate;
}

/* Table 1 on the machine itself: uvm-tab1-4k, uvm-tab1-16k, uvm-tab1-64k, uvm-tab1-256k, uvm-tab1-1024k. */
static void the_link_of_pascal_attains_table_1(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        double rate;
    } points[] = {{4 << 10, 3.2219}, {16 << 10, 6.4437}, {64 << 10, 8.4771}, {256 << 10, 10.508}, {1 << 20, 11.223}};
    static struct pw_config config;
    struct pw_options *o = effective(&config, "pascal", "uvm-tbn-tbn");
    for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++)
        assert_near(attained(&config, points[i].bytes), points[i].rate, 0.001 * points[i].rate);
    pw_options_destroy(o);
}

static void pascal_agrees_where_the_paper_counts_differently(void **state)
{
    (void)state;
    static struct pw_config config;
    struct pw_options *o = effective(&config, "pascal", "uvm-tbn-tbn");
    /* uvm-tab2-cores: 128 cores of an SM are lanes of its schedulers. */
    assert_int_equal(number_of(o, "sm.schedulers") * PW_WARP_LANES, 128);
    /* uvm-sec61-walker: as many walks at once as in Mosaic, whose walker it takes. */
    assert_int_equal(number_of(o, "walk.walkers"), 64);
    /* uvm-tab2-pcie, uvm-tab2-pcie-lanes: 16 lanes of 8 GT/s in code words of 128 of 130 bits carry 15.75 GB/s; large
     * transfers come close to that, and beyond what 8 lanes or 5 GT/s (8 of 10 bits, 8 GB/s) could carry. */
    double lane = 8 * 128.0 / 130 / 8, most = attained(&config, 1 << 20);
    assert_true(most < 16 * lane && most > 8 * lane && most > 16 * 5 * 0.8 / 8);
    pw_options_destroy(o);
}

/* mosaic-sec32-lat-4k, mosaic-sec32-lat-2m: 55 and 318 us from load to use, the fault and the transfer together. */
static void far_faults_of_mosaic_take_what_a_gtx_1080_needed(void **state)
{
    (void)state;
    static struct pw_config config;
    struct pw_options *o = effective(&config, "mosaic", "gpu-mmu");
    double fault = config.uvm.fault_latency / (double)config.gpu.clock_mhz;
    assert_near(fault + 4096 / attained(&config, 4096) / 1e3, 55, 0.1);
    assert_near(fault + (2 << 20) / attained(&config, 2 << 20) / 1e3, 318, 1);
    pw_options_destroy(o);
}

/* Rows that follow from several options of Mosaic's machine. */
static void mosaic_agrees_where_the_paper_counts_differently(void **state)
{
    (void)state;
    enum { GDDR5_BEATS_PER_CLOCK = 4 };
    static struct pw_config config;
    struct pw_options *o = effective(&config, "mosaic", "gpu-mmu");
    /* mosaic-tab1-l2-ports: 2 ports per partition. */
    assert_int_equal(number_of(o, "l2.slices") * number_of(o, "l2.ports"), 2);
    /* mosaic-tab1-dram-burst: 8 beats. */
    assert_int_equal(number_of(o, "dram.burst_bytes") * GDDR5_BEATS_PER_CLOCK / number_of(o, "dram.bytes_per_clock"),
                     8);
    /* mosaic-sec5-frames-total: 1536 frames of 2 MiB. */
    assert_int_equal(number_of(o, "dram.bytes") / (2 << 20), 1536);
    pw_options_destroy(o);
}

static void kepler_agrees_where_the_paper_counts_differently(void **state)
{
    (void)state;
    static struct pw_config config;
    struct pw_options *o = effective(&config, "kepler", "baseline");
    /* comp-tab3-regfile: 64 KB per SM. */
    assert_int_equal(number_of(o, "sm.registers") * 4, 64 << 10);
    /* comp-tab3-l2-part: 128 KB in each partition. */
    assert_int_equal(number_of(o, "l2.bytes") / number_of(o, "dram.channels"), 128 << 10);
    /* comp-tab3-l2tlb-sets, comp-fig2-index, comp-fig2-vpn, comp-fig2-vpt: 36 bits are 5 of index and 31 of tag. */
    uint64_t sets = number_of(o, "l2_tlb.base_entries") / number_of(o, "l2_tlb.base_ways");
    assert_int_equal(sets, 32);
    assert_int_equal(PW_TABLE_VPN_BITS - __builtin_ctzll(sets), 31);
    /* comp-tab3-warpsize, comp-tab3-line, comp-tab3-l2-line, comp-fig2-page: constants of the simulator. */
    assert_int_equal(PW_WARP_LANES, 32);
    assert_int_equal(PW_LINE_BYTES, 128);
    assert_int_equal(PW_PAGE_SHIFT, 12);
    pw_options_destroy(o);
}

static struct pw_translation page_at(uint64_t index, enum pw_page_order order)
{
    return (struct pw_translation){.frame = {(uint32_t)(index << order)}, .order = (uint8_t)order, .present = true};
}

static void put(struct pw_tlb *t, uint64_t index, enum pw_page_order order)
{
    pw_tlb_insert(t, 0, (pw_vpn){index << order}, page_at(index, order));
}

static bool has(struct pw_tlb *t, uint64_t index, enum pw_page_order order)
{
    pw_pfn frame;
    return pw_tlb_lookup(t, 0, (pw_vpn){index << order}, &frame);
}

static struct pw_tlb build(const struct pw_tlb_config *config, pw_page_orders orders, struct pw_tlb_level *level)
{
    struct pw_error err = {0};
    struct pw_tlb t;
    *level = (struct pw_tlb_level){.name = "tlb", .config = config, .orders = orders};
    if (pw_tlb_level_init(level, &err) != PW_OK || pw_tlb_init(&t, level, 0, &err) != PW_OK)
        fail_msg("%s", err.message);
    return t;
}

/* How many of many consecutive pages a TLB holds in the end. */
static unsigned capacity_of(const struct pw_tlb_config *config, pw_page_orders orders, enum pw_page_order order)
{
    enum { PAGES = 4096 };
    struct pw_tlb_level level;
    struct pw_tlb t = build(config, orders, &level);
    unsigned held = 0;
    for (uint64_t i = 0; i < PAGES; i++)
        put(&t, i, order);
    for (uint64_t i = 0; i < PAGES; i++)
        held += has(&t, i, order);
    pw_tlb_level_release(&level);
    return held;
}

/* mosaic-fig03-same-entries: with 2 MB pages, as many entries as with 4 KB pages. */
static void large_pages_of_figure_3_get_as_many_entries_as_base_pages(void **state)
{
    (void)state;
    static struct pw_config small, large;
    struct pw_options *a = effective(&small, "mosaic", "gpu-mmu"), *b = effective(&large, "mosaic", "gpu-mmu-2m");
    pw_page_orders base = 1U << PW_PAGE_4K, big = 1U << PW_PAGE_2M;
    assert_int_equal(capacity_of(&small.gpu.l1_tlb.tlb, base, PW_PAGE_4K), 128);
    assert_int_equal(capacity_of(&large.gpu.l1_tlb.tlb, big, PW_PAGE_2M), 128);
    assert_int_equal(capacity_of(&small.gpu.l2_tlb.tlb, base, PW_PAGE_4K), 512);
    assert_int_equal(capacity_of(&large.gpu.l2_tlb.tlb, big, PW_PAGE_2M), 512);
    pw_options_destroy(a);
    pw_options_destroy(b);
}

/* gpu-mmu-64k: 64 KB pages use the base entries, so they have as many as well; page.size=2MB alone does not. */
static void the_page_sizes_of_the_baseline_have_the_entries_that_its_designs_say(void **state)
{
    (void)state;
    static struct pw_config medium, alone;
    struct pw_options *a = effective(&medium, "mosaic", "gpu-mmu-64k"), *b = effective(&alone, "mosaic", "gpu-mmu");
    assert_int_equal(medium.gpu.orders, 1U << PW_PAGE_64K);
    assert_int_equal(capacity_of(&medium.gpu.l1_tlb.tlb, medium.gpu.orders, PW_PAGE_64K), 128);
    assert_int_equal(capacity_of(&medium.gpu.l2_tlb.tlb, medium.gpu.orders, PW_PAGE_64K), 512);
    assert_int_equal(capacity_of(&alone.gpu.l1_tlb.tlb, 1U << PW_PAGE_2M, PW_PAGE_2M), 16);
    assert_int_equal(capacity_of(&alone.gpu.l2_tlb.tlb, 1U << PW_PAGE_2M, PW_PAGE_2M), 256);
    pw_options_destroy(a);
    pw_options_destroy(b);
}

/* Fills one set, uses its first page again and adds one: the second page must go. */
static void assert_lru(const struct pw_tlb_config *config, uint32_t ways, uint32_t sets)
{
    struct pw_tlb_level level;
    struct pw_tlb t = build(config, 1U << PW_PAGE_4K, &level);
    for (uint64_t i = 0; i < ways; i++)
        put(&t, i * sets, PW_PAGE_4K);
    assert_true(has(&t, 0, PW_PAGE_4K));
    put(&t, (uint64_t)ways * sets, PW_PAGE_4K);
    for (uint64_t i = 0; i <= ways; i++)
        assert_int_equal(has(&t, i * sets, PW_PAGE_4K), i != 1);
    pw_tlb_level_release(&level);
}

/* mosaic-tab1-l1tlb-repl, mosaic-tab1-l2tlb-repl. */
static void tlbs_of_mosaic_replace_the_least_recently_used(void **state)
{
    (void)state;
    static struct pw_config config;
    struct pw_options *o = effective(&config, "mosaic", "gpu-mmu");
    assert_lru(&config.gpu.l1_tlb.tlb, 128, 1);
    assert_lru(&config.gpu.l2_tlb.tlb, 16, 32);
    pw_options_destroy(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_design_of_a_paper_is_left_out),
        cmocka_unit_test(mosaic_is_the_machine_of_its_table_1),
        cmocka_unit_test(pwcache_and_sharedtlb_are_the_baselines_of_mask),
        cmocka_unit_test(kepler_is_the_machine_of_tlb_compression),
        cmocka_unit_test(pascal_is_the_machine_of_uvm),
        cmocka_unit_test(the_link_of_pascal_attains_table_1),
        cmocka_unit_test(pascal_agrees_where_the_paper_counts_differently),
        cmocka_unit_test(far_faults_of_mosaic_take_what_a_gtx_1080_needed),
        cmocka_unit_test(mosaic_agrees_where_the_paper_counts_differently),
        cmocka_unit_test(kepler_agrees_where_the_paper_counts_differently),
        cmocka_unit_test(large_pages_of_figure_3_get_as_many_entries_as_base_pages),
        cmocka_unit_test(the_page_sizes_of_the_baseline_have_the_entries_that_its_designs_say),
        cmocka_unit_test(tlbs_of_mosaic_replace_the_least_recently_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
