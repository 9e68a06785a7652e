/* Looks at page accesses and at what the L2 TLB holds, in runs of whole machines: they change nothing else, on any kind
 * of machine and design; they agree with what TLBs count; and they find what there is to find in programs whose
 * accesses are known. */
#include "pagewalk/pagewalk.h"
#include "workload/runtime/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metric.h"

enum { MAX_SETS = 8 };

struct setting {
    const char *machine, *design, *workload, *sets[MAX_SETS];
};

#define GATHER "gather:table=4MB:ctas=8:iterations=2"

static struct pw_result *run(const struct setting *s, const char *more, const char *still_more)
{
    const char *sets[MAX_SETS + 2];
    struct pw_run_spec spec = {
        .machine = s->machine, .design = s->design, .workload = s->workload, .sets = sets, .seed = 1};
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    while (spec.set_count < MAX_SETS && s->sets[spec.set_count]) {
        sets[spec.set_count] = s->sets[spec.set_count];
        spec.set_count++;
    }
    if (more)
        sets[spec.set_count++] = more;
    if (still_more)
        sets[spec.set_count++] = still_more;
    if (pw_run(&spec, &result, &err) != PW_OK)
        fail_msg("%s on %s, %s: %s", spec.workload, spec.machine, spec.design, err.message);
    return result;
}

static bool is_a_look(const char *name)
{
    const char *own = strchr(name, '.');
    return !strncmp(own, ".reuse.", 7) || !strncmp(own, ".pages.", 7) || !strncmp(own, ".deltas.", 8);
}

/* Those of `with` that are not looks are those of `without`, in the same order. */
static void same_otherwise(const struct pw_result *with, const struct pw_result *without)
{
    size_t k = 0;
    assert_int_equal(with->cycles, without->cycles);
    for (size_t i = 0; i < with->metric_count; i++) {
        if (is_a_look(with->metrics[i].name))
            continue;
        assert_string_equal(with->metrics[i].name, without->metrics[k].name);
        assert_true(with->metrics[i].real == without->metrics[k].real);
        k++;
    }
    assert_int_equal(k, without->metric_count);
}

/* Every kind of page and TLB, with and without an L2 TLB, several programs, of which one starts over. */
static const struct setting settings[] = {
    {"kepler", "gpu-mmu", "nw:length=80", {NULL}},
    {"mosaic", "mosaic", GATHER, {"sm.count=2", "dram.bytes=64MB", "page.fragmentation=100"}},
    {"mosaic", "gpu-mmu-2m", "gather:table=64MB:ctas=8:iterations=2", {"sm.count=2", "l2_tlb.large_entries=8"}},
    {"mosaic", "gpu-mmu", GATHER, {"sm.count=2", "page.size=64KB"}},
    {"mask", "pwcache", GATHER, {"sm.count=2"}},
    {"mosaic", "mask", "vecadd:n=3000:ctas=2," GATHER, {"sm.count=4", "l1_tlb.base_entries=8"}},
    {"mosaic", "gpu-mmu", "vecadd:n=3000:ctas=2," GATHER, {"sm.count=4", "apps.restart=fresh"}},
    {"fermi", "ideal-tlb", "bfs:nodes=300", {NULL}},
    {"kepler", "ideal-l2-tlb", "bfs:nodes=300", {NULL}},
    {"pascal", "uvm-tbn-tbn", "nw:length=256", {"sm.count=2", "uvm.oversubscription=150"}},
    {"volta", "gpu-mmu", GATHER, {"sm.count=2", "l2_tlb.base_subpages=4", "sm.serial=on"}},
};

static void looking_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct pw_result *without = run(&settings[i], NULL, NULL);
        struct pw_result *with = run(&settings[i], "sim.reuse=on", "sim.snapshots=100");
        struct pw_result *again = run(&settings[i], "sim.reuse=on", "sim.snapshots=100");
        same_otherwise(with, without);
        for (size_t k = 0; k < with->metric_count; k++)
            assert_true(with->metrics[k].real == again->metrics[k].real);
        pw_result_free(without);
        pw_result_free(with);
        pw_result_free(again);
    }
}

/* Accesses are lookups of the L1 TLBs where no line is on its way any more, and a distance needs a last time. */
static void accesses_are_lookups(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strchr(settings[i].workload, ',')) /* what starts over is cut off at the end */
            continue;
        struct pw_result *r = run(&settings[i], "sim.reuse=on", NULL);
        assert_true(metric(r, "gpu0.reuse.accesses") > 0);
        assert_true(metric(r, "gpu0.reuse.accesses") == metric(r, "gpu0.l1_tlb.lookups"));
        assert_true(metric(r, "gpu0.reuse.first") <= metric(r, "gpu0.reuse.sm_first"));
        if (!strcmp(settings[i].machine, "kepler")) /* pages of 4 KiB */
            assert_true(metric(r, "gpu0.reuse.first") * PW_PAGE_BYTES == metric(r, "gpu0.mem.touched_bytes"));
        pw_result_free(r);
    }
}

/* One instruction at a time, and TLBs that are fully associative with LRU replacement: what each SM's TLB of 8 entries
 * hits is what its stream has below 8. With one SM both streams are one. */
static void serial_tlbs_hit_what_is_near(void **state)
{
    (void)state;
    static const struct setting serial[] = {
        {"mosaic", "gpu-mmu", "nw:length=80", {"sm.serial=on", "l1_tlb.base_entries=8", "sm.count=3"}},
        {"mosaic", "gpu-mmu", "nw:length=80", {"sm.serial=on", "l1_tlb.base_entries=8", "sm.count=1"}},
        {"mosaic", "gpu-mmu", GATHER, {"sm.serial=on", "l1_tlb.base_entries=8", "sm.count=2", "page.size=64KB"}}};
    for (size_t i = 0; i < sizeof serial / sizeof *serial; i++) {
        struct pw_result *r = run(&serial[i], "sim.reuse=on", NULL);
        double hits = metric(r, "gpu0.l1_tlb.hits");
        assert_true(hits > 0 && hits < metric(r, "gpu0.reuse.sm_again"));
        assert_true(hits == metric(r, "gpu0.reuse.sm_below_8"));
        assert_true((hits == metric(r, "gpu0.reuse.below_8")) == (i == 1));
        pw_result_free(r);
    }
}

/* A chase through 96 pages, one after the other and round again ten times, and then a page for the result: every reuse
 * has the 95 others behind it, and every step but those back leads to the next page. */
static void a_chase_has_one_distance(void **state)
{
    (void)state;
    static const struct setting chase = {
        "kepler", "gpu-mmu", "pointer_chase:bytes=384KB:stride=4KB:hops=960:order=stride", {"sm.count=1"}};
    struct pw_result *r = run(&chase, "sim.reuse=on", "sim.snapshots=1000");
    double translations = metric(r, "gpu0.deltas.translations");
    assert_true(metric(r, "gpu0.reuse.first") == 97 && metric(r, "gpu0.reuse.again") == 960 - 96);
    assert_true(metric(r, "gpu0.reuse.below_64") == 0);
    assert_true(metric(r, "gpu0.reuse.below_128") == 960 - 96);
    assert_true(metric(r, "gpu0.pages.steps") == 960);
    assert_in_range((uint64_t)metric(r, "gpu0.pages.steps_adjacent"), 950, 951); /* the last one leads anywhere */
    assert_true(metric(r, "gpu0.pages.steps_repeated") >= 10 * 94);
    assert_true(metric(r, "gpu0.pages.cycle_pages") == 961 && metric(r, "gpu0.pages.cycles") == 961);
    assert_true(metric(r, "gpu0.pages.cycles_several") == 0);
    assert_true(metric(r, "gpu0.pages.launches") == 1 && metric(r, "gpu0.pages.launch_pages") == 97);
    assert_true(metric(r, "gpu0.pages.first_launch_allocations") == 2);
    /* Until the end the L2 TLB has the 96 pages, which have at most 4 tags in 32 sets. */
    assert_true(metric(r, "gpu0.deltas.snapshots") > 10);
    assert_true(metric(r, "gpu0.deltas.vpt_fit_2") == translations);
    assert_true(metric(r, "gpu0.deltas.pfn_fit_7") == translations);
    assert_true(metric(r, "gpu0.deltas.pfn_fit_4") < translations);
    pw_result_free(r);
}

/* comp-fig7-method: as many snapshots as intervals in the run, once there is something to compare; nothing at all
 * without an L2 TLB, and nothing to compare in an ideal one. */
static void snapshots_are_of_the_l2_tlb(void **state)
{
    (void)state;
    struct pw_result *r = run(&settings[0], "sim.snapshots=1000", NULL);
    double snapshots = metric(r, "gpu0.deltas.snapshots"), whole = (double)(r->cycles / 1000);
    assert_true(snapshots <= whole && snapshots >= whole - 3);
    pw_result_free(r);
    r = run(&settings[8], "sim.snapshots=100", NULL);
    assert_true(metric(r, "gpu0.deltas.snapshots") == 0);
    pw_result_free(r);
    r = run(&settings[4], "sim.snapshots=100", NULL);
    for (size_t i = 0; i < r->metric_count; i++)
        assert_false(is_a_look(r->metrics[i].name));
    pw_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_changes_nothing),      cmocka_unit_test(accesses_are_lookups),
        cmocka_unit_test(serial_tlbs_hit_what_is_near), cmocka_unit_test(a_chase_has_one_distance),
        cmocka_unit_test(snapshots_are_of_the_l2_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
