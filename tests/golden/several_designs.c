/* Several GPUs under the other designs, alone and shared, in all that can be asked of a run besides its metrics; and
 * what is refused, with one line that says why. Runs check every identity themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char one[] = "gather:n=10240:ctas=40:table=4MB";
static const char two[] = "gather:n=4000:ctas=40:table=4MB,vecadd:n=40000:ctas=40";

enum { SETS = 12 };

static enum pw_status try(struct pw_run_spec spec, const char *const *sets, struct pw_result **out,
                          struct pw_error *err)
{
    spec.sets = sets;
    while (sets && sets[spec.set_count])
        spec.set_count++;
    return pw_run(&spec, out, err);
}

static struct pw_result *run(struct pw_run_spec spec, const char *const *sets)
{
    struct pw_result *result = NULL;
    struct pw_error err;
    if (try(spec, sets, &result, &err) != PW_OK)
        fail_msg("%s, %s: %s", spec.design, spec.workload, err.message);
    return result;
}

static struct pw_run_spec spec_of(const char *design, const char *workload)
{
    return (struct pw_run_spec){.machine = "mgpu4", .design = design, .workload = workload};
}

static const char *const remotes[] = {"place.remote=direct", "place.remote=migrate", "place.remote=first-touch"};

static void other_designs_work_on_several_gpus(void **state)
{
    (void)state;
    static const char *const designs[] = {
        "mosaic+bypass",        "mosaic+centralized",    "mask+bypass",       "mosaic+mask+bypass",  "compress+bypass",
        "compress+route-ideal", "range-tlb+distributed", "gpu-mmu-2m+bypass", "pwcache+distributed", "ideal-tlb",
        "pwcache+bypass",       "4k-pages+bypass"};
    for (unsigned i = 0; i < sizeof designs / sizeof *designs; i++)
        for (unsigned q = 0; q < 3; q++) {
            const char *sets[] = {remotes[q], "sm.count=4", "place.policy=split", NULL};
            pw_result_free(run(spec_of(designs[i], one), sets));
            pw_result_free(run(spec_of(designs[i], two), sets));
        }
}

/* Walks read the GPU's own copy of the page tables: from its own memory, so that tables are no remote data. */
static void walks_read_page_tables_in_memory(void **state)
{
    (void)state;
    for (unsigned q = 0; q < 3; q++) {
        const char *sets[] = {"walk.model=memory", remotes[q], "sm.count=4", NULL};
        struct pw_result *r = run(spec_of("bypass", one), sets);
        for (unsigned gpu = 0; gpu < 4; gpu++) {
            char name[64];
            snprintf(name, sizeof name, "gpu%u.walk.reads", gpu);
            assert_true(metric(r, name) > 0);
        }
        pw_result_free(r);
        pw_result_free(run(spec_of("mosaic+bypass", two), sets));
    }
}

static void frames_that_are_taken_and_compaction_work(void **state)
{
    (void)state;
    for (unsigned q = 0; q < 3; q++) {
        const char *sets[] = {
            "dram.bytes=32MB", "page.fragmentation=90", "page.occupancy=25", remotes[q], "sm.count=4", NULL};
        pw_result_free(run(spec_of("mosaic+bypass", two), sets));
        pw_result_free(run(spec_of("distributed", two), sets));
    }
}

/* The first application ends and starts over until the second has ended. */
static void applications_start_over_while_pages_move(void **state)
{
    (void)state;
    static const char *const ways[] = {"apps.restart=keep", "apps.restart=fresh"};
    static const char *const placements[] = {"place.policy=interleaved", "place.policy=first-touch"};
    for (unsigned i = 0; i < 8; i++) {
        const char *sets[] = {ways[i & 1], placements[i >> 1 & 1], i & 4 ? remotes[2] : remotes[1], "sm.count=4", NULL};
        struct pw_result *r = run(spec_of("bypass", "vecadd:n=4000:ctas=40,gather:n=8000:ctas=40:table=4MB"), sets);
        assert_true(metric(r, "app0.sm.launches") > 4);
        pw_result_free(r);
    }
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    (void)state;
    for (unsigned q = 0; q < 3; q++) {
        const char *sets[] = {remotes[q], "sm.count=4", "page.frames=random", NULL};
        struct pw_result *a = run(spec_of("bypass", two), sets), *b = run(spec_of("bypass", two), sets);
        assert_int_equal(a->cycles, b->cycles);
        assert_int_equal(a->metric_count, b->metric_count);
        for (size_t i = 0; i < a->metric_count; i++)
            if (a->metrics[i].real != b->metrics[i].real)
                fail_msg("%s differs", a->metrics[i].name);
        pw_result_free(a);
        pw_result_free(b);
    }
}

/* Intervals, the breakdown, a timeline and a page log change nothing; intervals add up to the whole. */
static void looking_changes_nothing(void **state)
{
    (void)state;
    char timeline[] = "/tmp/pw-several-XXXXXX", pages[] = "/tmp/pw-several-XXXXXX";
    close(mkstemp(timeline));
    close(mkstemp(pages));
    for (unsigned q = 0; q < 3; q++) {
        const char *sets[] = {remotes[q], "sm.count=4", NULL};
        struct pw_run_spec spec = spec_of("mosaic+bypass", two);
        struct pw_result *plain = run(spec, sets);
        spec.interval = 5000;
        spec.breakdown = true;
        spec.timeline = timeline;
        spec.pages = pages;
        struct pw_result *seen = run(spec, sets);
        assert_int_equal(seen->cycles, plain->cycles);
        assert_int_equal(seen->interval_count, (seen->cycles + 4999) / 5000);
        assert_true(seen->breakdown_count > 0);
        for (size_t i = 0; i < plain->metric_count; i++)
            if (metric(seen, plain->metrics[i].name) != plain->metrics[i].real)
                fail_msg("%s differs", plain->metrics[i].name);
        pw_result_free(plain);
        pw_result_free(seen);
    }
    unlink(timeline);
    unlink(pages);
}

static void check_refused(struct pw_run_spec spec, const char *const *sets, const char *reason)
{
    struct pw_result *result = NULL;
    struct pw_error err;
    assert_int_equal(try(spec, sets, &result, &err), PW_USER_ERROR);
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.message, reason);
    assert_null(strchr(err.message, '\n'));
}

static void what_cannot_be_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const paged[] = {"uvm-nvidia", "uvm-tbn-tbn", "uvm-none-lru4k", "uvm-sl-random"};
    for (unsigned i = 0; i < sizeof paged / sizeof *paged; i++)
        check_refused(spec_of(paged[i], one), NULL, "a driver that moves pages between a host and several GPUs");
    struct pw_run_spec alone = spec_of("gpu-mmu", one);
    alone.machine = "mosaic";
    check_refused(alone, (const char *const[]){"gpu.count=2", NULL}, "gpu.count above 1 needs the host's IOMMU");
    alone.design = "bypass";
    check_refused(alone, NULL, "this route.policy needs the host's IOMMU");
    check_refused(spec_of("bypass", one), (const char *const[]){"gpu.count=65", NULL}, "gpu.count");
    check_refused(spec_of("bypass", one), (const char *const[]){"gpu.count=64", "dram.bytes=16GB", NULL},
                  "memories of up to");
    check_refused(spec_of("bypass", one), (const char *const[]){"route.t1=0.1", "route.t2=0.2", NULL}, "route.t2");
    check_refused(spec_of("bypass", "gather:n=4000:ctas=40:table=64MB"), (const char *const[]){"dram.bytes=8MB", NULL},
                  "does not fit: ");
}

/* With first touch, what does not fit is found when it is asked for. */
static void first_touch_without_room_is_refused_too(void **state)
{
    (void)state;
    check_refused(spec_of("bypass", "vecadd:n=16M:ctas=40"),
                  (const char *const[]){"dram.bytes=8MB", "place.policy=first-touch", NULL}, "does not fit: ");
    check_refused(spec_of("bypass", "vecadd:n=4M:ctas=40"),
                  (const char *const[]){"dram.bytes=8MB", "place.policy=first-touch", NULL},
                  "no GPU has memory left for the pages of application 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_designs_work_on_several_gpus),
        cmocka_unit_test(walks_read_page_tables_in_memory),
        cmocka_unit_test(frames_that_are_taken_and_compaction_work),
        cmocka_unit_test(applications_start_over_while_pages_move),
        cmocka_unit_test(the_same_seed_gives_the_same_bits),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(what_cannot_be_is_refused_with_a_reason),
        cmocka_unit_test(first_touch_without_room_is_refused_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
