/* Machine mgpu4 against GMMU Bypass: Table 1 and what Sections 2.1 and 5.1 add; and the programs that its figures run
 * against Table 2. Every row holds under each of the paper's four designs, which set no sizes. */
#include "config_rows.h"
#include "metric.h"

#include "workload/runtime/functional.h"

static const char *const designs[] = {"centralized", "distributed", "bypass", "route-ideal"};

static const struct row rows[] = {
    {"gmmu-tab1-gpus", "mgpu4", NULL, "gpu.count", "4"},
    {"gmmu-tab1-cu", "mgpu4", NULL, "sm.count", "36"},
    {"gmmu-tab1-clock", "mgpu4", NULL, "gpu.clock_mhz", "1000"},
    {"gmmu-tab1-dram-count", "mgpu4", NULL, "dram.channels", "8"},
    {"gmmu-tab1-l1tlb-ways", "mgpu4", NULL, "l1_tlb.base_entries", "32"},
    {"gmmu-tab1-l1tlb-sets", "mgpu4", NULL, "l1_tlb.base_ways", "0"}, /* fully associative: one set */
    {"gmmu-tab1-l2tlb-ways", "mgpu4", NULL, "l2_tlb.base_ways", "32"},
    {"gmmu-tab1-iommu", "mgpu4", NULL, "iommu.walkers", "8"},
    {"gmmu-tab1-gmmu", "mgpu4", NULL, "walk.walkers", "64"},
    {"gmmu-tab1-pcie", "mgpu4", NULL, "fabric.gb_per_s", "16"},
    {"gmmu-sec51-cpu-pcie", "mgpu4", NULL, "fabric.host_gb_per_s", "0"}, /* as between GPUs */
    {"gmmu-sec51-page", "mgpu4", NULL, "page.size", "4KB"},
};

static void mgpu4_is_the_system_of_table_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t d = 0; d < sizeof designs / sizeof *designs; d++)
            check_row(&rows[i], designs[d]);
}

static void mgpu4_agrees_where_the_paper_counts_differently(void **state)
{
    (void)state;
    static struct pw_config config;
    struct pw_options *o = effective(&config, "mgpu4", "bypass");
    /* gmmu-tab1-dram-size: of a unit, which is a channel. */
    assert_int_equal(number_of(o, "dram.bytes") / number_of(o, "dram.channels"), 512 << 20);
    /* gmmu-tab1-l2tlb-sets */
    assert_int_equal(number_of(o, "l2_tlb.base_entries") / number_of(o, "l2_tlb.base_ways"), 8);
    pw_options_destroy(o);
}

static uint64_t of_gpu(const struct pw_result *r, unsigned gpu, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "gpu%u.%s", gpu, name);
    return (uint64_t)metric(r, full);
}

static struct pw_result *run(const char *workload, const char *const *sets, size_t count)
{
    struct pw_run_spec spec = {
        .machine = "mgpu4", .design = "distributed", .workload = workload, .sets = sets, .set_count = count};
    struct pw_error err = {0};
    struct pw_result *r;
    if (pw_run(&spec, &r, &err) != PW_OK)
        fail_msg("%s: %s", workload, err.message);
    return r;
}

/* One CTA of 64 words for each CU of the system: 36 of them have 2.25 pages of either array, which are parts of 3.
 * gmmu-sec21-unified: every GPU gets CTAs of the one launch. gmmu-sec51-l1v: each CU misses for its own two pages.
 * gmmu-tab1-l2tlb-count: all 36 of a GPU together miss once for each of its 6. */
static void a_gpu_has_a_tlb_for_each_cu_and_one_for_all(void **state)
{
    (void)state;
    struct pw_result *r = run("relu:length=9216", NULL, 0);
    for (unsigned gpu = 0; gpu < 4; gpu++) {
        assert_int_equal(of_gpu(r, gpu, "sm.ctas"), 36);
        assert_int_equal(of_gpu(r, gpu, "l1_tlb.primary_misses"), 36 * 2);
        assert_int_equal(of_gpu(r, gpu, "l2_tlb.primary_misses"), 3 + 3);
    }
    pw_result_free(r);
}

/* gmmu-tab1-xbar: a single stage is passed once by each load and once by its answer, and by the store at the end on its
 * way there. */
static void a_load_passes_one_crossbar_there_and_back(void **state)
{
    (void)state;
    static const char *const sets[2][2] = {{"place.policy=single", "xbar.latency=10"},
                                           {"place.policy=single", "xbar.latency=20"}};
    struct pw_result *near = run("pointer_chase:bytes=64KB", sets[0], 2);
    struct pw_result *far = run("pointer_chase:bytes=64KB", sets[1], 2);
    uint64_t loads = of_gpu(near, 0, "l1d.misses");
    assert_true(loads > 1000 && of_gpu(near, 0, "l1d.hits") == 0);
    assert_int_equal(of_gpu(near, 0, "l1d.stores"), 1);
    assert_int_equal(far->cycles - near->cycles, (20 - 10) * (2 * loads + 1));
    pw_result_free(near);
    pw_result_free(far);
}

static enum pw_status add_bytes(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    (void)id, (void)name, (void)base, (void)err;
    *(uint64_t *)context += bytes;
    return PW_OK;
}

static enum pw_status end_at_launch(void *context, const struct pw_launch *launch, struct pw_error *err)
{
    (void)context, (void)launch;
    return pw_fail(err, PW_FAILED, "seen");
}

/* What a program allocates before its first launch, and its suite. */
static uint64_t bytes_of(const char *text, const char **out_suite)
{
    struct pw_program p;
    struct pw_error err = {0};
    struct pw_functional_counts counts;
    uint64_t bytes = 0;
    const struct pw_functional_observer observer = {
        .context = &bytes, .allocated = add_bytes, .launched = end_at_launch};
    assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
    assert_int_equal(pw_functional_observe(&p, 1, false, &observer, &counts, &err), PW_FAILED);
    *out_suite = p.workload->suite;
    pw_program_release(&p);
    return bytes;
}

/* gmmu-tab2-count, gmmu-sec52-suites, gmmu-sec52-avg: what Figure 5 runs at full size. kmeans and page_rank are other
 * suites' too. */
static void figures_run_nine_programs_of_four_suites_and_64_mb(void **state)
{
    (void)state;
    static const char *const names[] = {
        "relu:", "fir:", "maxpool:", "aes:", "page_rank:", "transpose:", "FFT:", "kmeans:", "stencil2d:"};
    static const char *const suites[] = {"DNN", "Hetero-Mark", "AMD APP SDK", "SHOC"};
    unsigned of_suite[4] = {0};
    struct pw_figure *figure;
    struct pw_error err = {0};
    uint64_t all = 0;
    if (pw_figure_load("gmmu-bypass/fig05", PW_FULL, &figure, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(figure->workload_count, 9);
    for (size_t i = 0; i < 9; i++) {
        const char *text = figure->workloads[i].text, *suite;
        size_t length = strcspn(text, ":");
        assert_true(strlen(names[i]) == length + 1 && strncmp(text, names[i], length) == 0);
        all += bytes_of(text, &suite);
        for (size_t s = 0; s < 4; s++)
            of_suite[s] += strstr(suite, suites[s]) != NULL;
    }
    assert_true(of_suite[0] == 2 && of_suite[1] == 4 && of_suite[2] == 1 && of_suite[3] == 2); /* Table 2 */
    assert_in_range(all / 9, 64 * 98 * (UINT64_C(1) << 20) / 100, 64 * 102 * (UINT64_C(1) << 20) / 100);
    pw_figure_free(figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mgpu4_is_the_system_of_table_1),
        cmocka_unit_test(mgpu4_agrees_where_the_paper_counts_differently),
        cmocka_unit_test(a_gpu_has_a_tlb_for_each_cu_and_one_for_all),
        cmocka_unit_test(a_load_passes_one_crossbar_there_and_back),
        cmocka_unit_test(figures_run_nine_programs_of_four_suites_and_64_mb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
