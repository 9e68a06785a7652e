/* What figures hold fixed, against what the papers say of their experiments: an option in effect in a
 * variant, once machine, design and the figure's settings are laid over the defaults. Every row names its claim. */
#include "exp/figure/figure.h"
#include "system/catalog.h"
#include "system/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *claim, *figure, *variant, *option, *value; /* variant NULL: all of the figure */
};

static const struct row rows[] = {
    {"uvm-fig3-fit", "uvm/fig03", NULL, "uvm.oversubscription", "0"},
    {"uvm-fig3-fit", "uvm/fig03", NULL, "uvm.memory", "0B"},
    {"uvm-fig3-fit", "uvm/fig04", NULL, "uvm.oversubscription", "0"},
    {"uvm-fig3-fit", "uvm/fig04", NULL, "uvm.memory", "0B"},
    {"uvm-fig3-fit", "uvm/fig05", NULL, "uvm.oversubscription", "0"},
    {"uvm-fig3-fit", "uvm/fig05", NULL, "uvm.memory", "0B"},
    {"uvm-fig6-policy", "uvm/fig06", "over-110", "uvm.prefetch", "tbn"},
    {"uvm-fig6-policy", "uvm/fig06", "over-110", "uvm.prefetch_full", "none"},
    {"uvm-fig6-policy", "uvm/fig06", "over-110", "uvm.evict", "lru4k"},
    {"uvm-sec71-110", "uvm/fig09", NULL, "uvm.oversubscription", "110"},
    {"uvm-sec71-110", "uvm/fig10", NULL, "uvm.oversubscription", "110"},
    {"uvm-sec71-110", "uvm/fig11", NULL, "uvm.oversubscription", "110"},
    {"uvm-sec71-110", "uvm/fig14", NULL, "uvm.oversubscription", "110"},
    {"uvm-sec71-110", "uvm/fig15", NULL, "uvm.oversubscription", "110"},
    {"uvm-fig9-policy", "uvm/fig09", NULL, "uvm.prefetch", "tbn"},
    {"uvm-fig9-policy", "uvm/fig09", NULL, "uvm.prefetch_full", "none"},
    {"uvm-fig9-policy", "uvm/fig09", "random", "uvm.evict", "random"},
    {"uvm-fig11-combos", "uvm/fig11", NULL, "uvm.prefetch", "tbn"},
    {"uvm-fig11-combos", "uvm/fig11", "lru", "uvm.prefetch_full", "none"},
    {"uvm-fig11-combos", "uvm/fig11", "lru", "uvm.evict", "lru4k"},
    {"uvm-fig11-combos", "uvm/fig11", "random", "uvm.prefetch_full", "random"},
    {"uvm-fig11-combos", "uvm/fig11", "random", "uvm.evict", "random"},
    {"uvm-fig11-combos", "uvm/fig11", "sl", "uvm.prefetch_full", "sl"},
    {"uvm-fig11-combos", "uvm/fig11", "sl", "uvm.evict", "sl"},
    {"uvm-fig11-combos", "uvm/fig11", "tbn", "uvm.prefetch_full", "same"},
    {"uvm-fig11-combos", "uvm/fig11", "tbn", "uvm.evict", "tbn"},
    {"uvm-fig14-levels", "uvm/fig14", "all", "uvm.reserve", "0"},
    {"uvm-fig14-levels", "uvm/fig14", "reserve-10", "uvm.reserve", "10"},
    {"uvm-fig14-levels", "uvm/fig14", "reserve-20", "uvm.reserve", "20"},
    {"uvm-fig16-levels", "uvm/fig16", "lru2m-110", "uvm.oversubscription", "110"},
    {"uvm-fig16-levels", "uvm/fig16", "lru2m-125", "uvm.oversubscription", "125"},
    {"uvm-fig16-levels", "uvm/fig16", "tbn-110", "uvm.oversubscription", "110"},
    {"uvm-fig16-levels", "uvm/fig16", "tbn-125", "uvm.oversubscription", "125"},
    {"mosaic-fig04-norm", "mosaic/fig04", "4k", "paging.mode", "free"},
    {"mosaic-fig04-norm", "mosaic/fig04", "4k", "page.size", "4KB"},
    {"mosaic-fig12-default-paging", "mosaic/fig08", NULL, "paging.mode", "demand"},
    {"mosaic-fig12-default-paging", "mosaic/fig09", NULL, "paging.mode", "demand"},
    {"mosaic-fig12-default-paging", "mosaic/fig10", NULL, "paging.mode", "demand"},
    {"mosaic-fig12-default-paging", "mosaic/fig11", NULL, "paging.mode", "demand"},
    {"mosaic-fig14-norm", "mosaic/fig14", "4k", "page.frames", "first-free"},
    {"mosaic-fig14-norm", "mosaic/fig14", "4k", "l1_tlb.base_entries", "128"},
    {"mosaic-fig14-norm", "mosaic/fig14", "4k", "l2_tlb.base_entries", "512"},
    {"mosaic-fig15-norm", "mosaic/fig15", "4k", "page.frames", "first-free"},
    {"mosaic-fig15-norm", "mosaic/fig15", "4k", "l1_tlb.large_entries", "16"},
    {"mosaic-fig15-norm", "mosaic/fig15", "4k", "l2_tlb.large_entries", "256"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "none-50", "compact.policy", "none"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "cac-50", "compact.policy", "contiguity-aware"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "cac-50", "compact.copy", "channel"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "bc-50", "compact.policy", "contiguity-aware"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "bc-50", "compact.copy", "bulk"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "free-50", "compact.policy", "contiguity-aware"},
    {"mosaic-sec64-designs", "mosaic/fig16b", "free-50", "compact.copy", "free"},
    {"mosaic-fig16a-occupancy", "mosaic/fig16a", "none-92", "page.occupancy", "50"},
    {"mosaic-fig16a-occupancy", "mosaic/fig16a", "cac-92", "page.occupancy", "50"},
    {"mosaic-fig16a-occupancy", "mosaic/fig16a", "cac-92", "page.fragmentation", "92"},
    {"mosaic-fig16b-index", "mosaic/fig16b", NULL, "page.fragmentation", "100"},
    {"mosaic-fig16b-index", "mosaic/fig16b", "cac-25", "page.occupancy", "25"},
    {"mosaic-fig16b-index", "mosaic/table2", "mosaic-25", "page.fragmentation", "100"},
    {"mosaic-fig16b-index", "mosaic/table2", "mosaic-25", "page.occupancy", "25"},
    {"mask-fig07-l2tlb", "mask/fig07", NULL, "l2_tlb.base_entries", "512"},
    {"mask-sec6-no-l2-partition", "mask/fig11", "pwcache", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask/fig11", "shared", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask/fig11", "mask", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask/fig11", "ideal", "l2.partition", "shared"},
    {"mask-sec6-no-l2-partition", "mask/fig11", "static", "l2.partition", "by-app"},
    {"mask-sec73-tlbsize-min", "mask/tlb-sizes", "shared-l2-64", "l2_tlb.base_entries", "64"},
    {"mask-sec73-tlbsize-min", "mask/tlb-sizes", "mask-l2-64", "l2_tlb.base_entries", "64"},
    {"mask-sec73-tlbsize-max", "mask/tlb-sizes", "shared-l2-8192", "l2_tlb.base_entries", "8192"},
    {"mask-sec73-tlbsize-max", "mask/tlb-sizes", "mask-l2-8192", "l2_tlb.base_entries", "8192"},
    {"mask-sec73-2mb-fault", "mask/sec73", NULL, "paging.mode", "free"},
    {"mask-sec73-2mb-fault", "mask/sec73", "large", "page.size", "2MB"},
    {"mask-sec73-2mb-fault", "mask/sec73", "mask", "page.size", "2MB"},
};

static void check_variant(const struct row *row, const struct pw_figure_variant *v)
{
    static struct pw_config config;
    struct pw_options *o = NULL;
    struct pw_error err = {0};
    struct pw_option_view view;
    char names[256];
    enum pw_status status = pw_config_create(&config, &o, &err);
    if (status == PW_OK)
        status = pw_catalog_apply_machine(o, v->machine, &err);
    if (status == PW_OK)
        status = pw_catalog_apply_designs(o, v->design, names, sizeof(names), &err);
    for (size_t i = 0; i < v->set_count && status == PW_OK; i++)
        status = pw_options_set_pair(o, v->sets[i], row->figure, &err);
    if (status != PW_OK)
        fail_msg("%s: %s", row->figure, err.message);
    pw_options_view(o, (size_t)pw_options_find(o, row->option), &view);
    if (strcmp(view.value, row->value))
        fail_msg("%s: %s is %s in %s of %s, not %s", row->claim, row->option, view.value, v->name, row->figure,
                 row->value);
    pw_options_destroy(o);
}

static void figures_hold_fixed_what_the_papers_say(void **state)
{
    (void)state;
    for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++) {
        struct pw_figure *f = NULL;
        struct pw_error err = {0};
        size_t checked = 0;
        if (pw_figure_load(row->figure, PW_FULL, &f, &err) != PW_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < f->variant_count; i++)
            if (!row->variant || !strcmp(row->variant, f->variants[i].name)) {
                check_variant(row, &f->variants[i]);
                checked++;
            }
        if (!checked)
            fail_msg("%s has no variant %s", row->figure, row->variant);
        pw_figure_free(f);
    }
}

/* The seven programs, whichever groups a figure has them in: uvm-sec62-count. */
static void figures_of_uvm_run_all_seven_programs(void **state)
{
    (void)state;
    static const char *const figures[] = {"fig03", "fig04", "fig05", "fig06", "fig07", "fig09",
                                          "fig10", "fig11", "fig13", "fig14", "fig15", "fig16"};
    static const char *const programs[] = {"backprop", "bfs", "fdtd", "hotspot", "nw", "pathfinder", "srad"};
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        char name[32];
        struct pw_figure *f = NULL;
        struct pw_error err = {0};
        snprintf(name, sizeof(name), "uvm/%s", figures[i]);
        assert_int_equal(pw_figure_load(name, PW_FULL, &f, &err), PW_OK);
        assert_int_equal(f->workload_count, 7);
        for (size_t p = 0; p < 7; p++) {
            size_t found = 0;
            char text[64];
            snprintf(text, sizeof(text), "%s:size=uvm", programs[p]);
            for (size_t w = 0; w < f->workload_count; w++)
                found += !strcmp(f->workloads[w].text, text);
            assert_int_equal(found, 1);
        }
        pw_figure_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_hold_fixed_what_the_papers_say),
        cmocka_unit_test(figures_of_uvm_run_all_seven_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
