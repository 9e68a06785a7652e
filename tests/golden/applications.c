/* Several applications on one GPU, as a user of the library sees them: what each gets, what counts, what is an
 * error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exp/format/result.h"
#include "pagewalk/pagewalk.h"

#include <stdio.h>
#include <string.h>

#define SHORT "vecadd:ctas=8:iterations=2"
#define LONG "pointer_chase:hops=150:bytes=1MB"

enum { SETS = 6 };

struct run {
    const char *machine, *design, *workload, *sets[SETS], *kernels;
    bool alone, verify;
    uint64_t interval, warmup;
    struct pw_error err;
};

static enum pw_status try(struct run *r, struct pw_result **out)
{
    struct pw_run_spec spec = {.machine = r->machine,
                               .design = r->design,
                               .workload = r->workload,
                               .sets = r->sets,
                               .kernels = r->kernels,
                               .alone = r->alone,
                               .verify = r->verify,
                               .interval = r->interval,
                               .warmup = r->warmup};
    while (spec.set_count < SETS && r->sets[spec.set_count])
        spec.set_count++;
    return pw_run(&spec, out, &r->err);
}

static struct pw_result *simulate(struct run r)
{
    struct pw_result *result = NULL;
    if (try(&r, &result) != PW_OK)
        fail_msg("%s: %s", r.workload, r.err.message);
    return result;
}

static void fails(struct run r, enum pw_status status, const char *message)
{
    struct pw_result *result = NULL;
    assert_int_equal(try(&r, &result), status);
    assert_null(result);
    if (!strstr(r.err.message, message))
        fail_msg("%s: \"%s\" is not in \"%s\"", r.workload, message, r.err.message);
}

static const struct pw_metric *metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return &r->metrics[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static uint64_t count(const struct pw_result *r, const char *name)
{
    return metric(r, name)->integer;
}

/* mosaic-sec5-core-partition. */
static void sms_are_divided_as_evenly_as_they_go(void **state)
{
    (void)state;
    static const struct {
        const char *workload, *set;
        unsigned sms[5];
    } cases[] = {
        {SHORT, "sm.count=30", {30}},
        {SHORT "," SHORT, "sm.count=30", {15, 15}},
        {SHORT "," SHORT "," SHORT "," SHORT, "sm.count=30", {8, 8, 7, 7}},
        {SHORT "," SHORT "," SHORT "," SHORT "," SHORT, "sm.count=30", {6, 6, 6, 6, 6}},
        {SHORT "," SHORT "," SHORT, "sm.count=3", {1, 1, 1}},
        {SHORT "," LONG, "apps.sms=20+10", {20, 10}},
        {SHORT "," LONG, "apps.sms=1+2", {1, 2}},
        {SHORT, "apps.sms=4", {4}},
        {SHORT "," LONG "@20+10", NULL, {20, 10}},
        {SHORT "," LONG "@1+2", "sm.count=3", {1, 2}},
        {SHORT "," SHORT "," SHORT "@3+27+70", "sm.count=100", {3, 27, 70}},
        {SHORT "@4", NULL, {4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_result *r = simulate((struct run){.workload = cases[i].workload, .sets = {cases[i].set}});
        for (size_t app = 0; app < r->app_count; app++)
            assert_int_equal(r->apps[app].sms, cases[i].sms[app]);
        pw_result_free(r);
    }
}

static void sms_that_cannot_be_divided_so_are_the_users_mistake(void **state)
{
    (void)state;
    static const char *const bad[] = {"20",    "20+10+5", "0+10",   "20+11",  "a+b", "20+",  "+10",
                                      "20,10", "-1+5",    "20 +10", "20+ 10", "",    "31+1", "99999999999999999999+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char set[64];
        snprintf(set, sizeof set, "apps.sms=%s", bad[i]);
        fails((struct run){.workload = SHORT "," SHORT, .sets = {set}}, PW_USER_ERROR, "apps.sms");
    }
    fails((struct run){.workload = SHORT "," SHORT "," SHORT, .sets = {"sm.count=2"}}, PW_USER_ERROR, "3 applications");
    fails((struct run){.workload = SHORT ",,"}, PW_USER_ERROR, "a name is missing beside a comma");
    fails((struct run){.workload = SHORT ",vecad"}, PW_USER_ERROR, "vecadd");
}

/* The rows of an application's launches, all of its first run. */
static void first_launches(const struct pw_result *r, unsigned app, size_t *out_count, uint64_t *out_end)
{
    *out_count = 0;
    for (size_t i = 0; i < r->kernel_count; i++)
        if (r->kernels[i].app == app) {
            assert_int_equal(r->kernels[i].index, ++*out_count);
            *out_end = r->kernels[i].outer_cycle;
        }
}

static void the_first_complete_run_counts_and_others_start_over(void **state)
{
    (void)state;
    struct pw_result *single = simulate((struct run){.workload = SHORT, .sets = {"sm.count=15"}});
    struct pw_result *r = simulate((struct run){.workload = SHORT "," LONG});
    uint64_t end[2];
    for (unsigned app = 0; app < 2; app++) {
        size_t launches;
        first_launches(r, app, &launches, &end[app]);
        assert_int_equal(launches, 1);
        assert_int_equal(r->apps[app].cycles, end[app]);
        assert_true(r->apps[app].ipc == (double)r->apps[app].warp_instructions / (double)end[app]);
    }
    assert_true(end[0] < end[1] / 4);
    assert_int_equal(r->cycles, end[1]);
    assert_int_equal(r->apps[0].warp_instructions, single->apps[0].warp_instructions);
    assert_true(r->ipc_throughput == r->apps[0].ipc + r->apps[1].ipc);
    /* It goes on to the end: about as many launches as fit, each with all of its instructions. */
    uint64_t launches = count(r, "app0.sm.launches"), issued = count(r, "app0.sm.issued");
    assert_true(launches > 3);
    assert_in_range(issued, (launches - 1) * r->apps[0].warp_instructions, launches * r->apps[0].warp_instructions);
    assert_int_equal(count(r, "app1.sm.launches"), 1);
    pw_result_free(r);
    pw_result_free(single);
}

static void copies_of_a_program_compute_the_same(void **state)
{
    (void)state;
    static const char *const programs[] = {"HS:side=64", "MM:m=128:n=64:k=32", "BFS2:scale=0.002"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char workload[128];
        snprintf(workload, sizeof workload, "%s,%s", programs[i], programs[i]);
        struct pw_result *single = simulate((struct run){.workload = programs[i], .verify = true});
        struct pw_result *r = simulate((struct run){.workload = workload, .verify = true});
        for (unsigned app = 0; app < 2; app++) {
            assert_true(r->apps[app].checks > 0);
            assert_int_equal(r->apps[app].checks, single->apps[0].checks);
            assert_string_equal(r->apps[app].name, programs[i]);
        }
        /* Its own stream of random numbers belongs to each copy; the first has that of a single run. */
        assert_int_equal(r->apps[0].warp_instructions, single->apps[0].warp_instructions);
        bool random = !strncmp(programs[i], "BFS2", 4);
        assert_int_equal(r->apps[0].warp_instructions != r->apps[1].warp_instructions, random);
        pw_result_free(r);
        pw_result_free(single);
    }
}

static void assert_same_metrics(const struct pw_result *a, const struct pw_result *b)
{
    assert_int_equal(a->metric_count, b->metric_count);
    for (size_t i = 0; i < a->metric_count; i++)
        if (a->metrics[i].real != b->metrics[i].real)
            fail_msg("%s: %g and %g", a->metrics[i].name, a->metrics[i].real, b->metrics[i].real);
}

static void sms_that_nobody_has_change_nothing(void **state)
{
    (void)state;
    struct pw_result *fewer = simulate((struct run){.workload = "HS:side=128", .sets = {"sm.count=7"}});
    struct pw_result *idle = simulate((struct run){.workload = "HS:side=128", .sets = {"apps.sms=7"}});
    assert_int_equal(fewer->cycles, idle->cycles);
    assert_same_metrics(fewer, idle);
    pw_result_free(fewer);
    pw_result_free(idle);
}

/* mask-sec6-alone-def: a run is the same whether its workload or apps.sms gives the SMs, its runs alone included. */
static void sms_of_a_workload_and_of_the_option_are_the_same(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "static"};
    for (size_t i = 0; i < 2; i++) {
        struct pw_result *given =
            simulate((struct run){.design = designs[i], .workload = SHORT "," LONG "@4+26", .alone = true});
        struct pw_result *set = simulate(
            (struct run){.design = designs[i], .workload = SHORT "," LONG, .sets = {"apps.sms=4+26"}, .alone = true});
        struct pw_result *even = simulate((struct run){.design = designs[i], .workload = SHORT "," LONG});
        assert_same_metrics(given, set);
        assert_true(given->cycles == set->cycles && given->weighted_speedup == set->weighted_speedup);
        for (unsigned app = 0; app < 2; app++) {
            assert_string_equal(given->apps[app].name, app ? LONG : SHORT);
            assert_true(given->apps[app].ipc_alone > 0 && given->apps[app].ipc_alone == set->apps[app].ipc_alone);
        }
        assert_true(given->apps[0].ipc != even->apps[0].ipc);
        pw_result_free(given);
        pw_result_free(set);
        pw_result_free(even);
    }
}

/* mosaic-sec5-ws-def, mosaic-sec5-ipc-alone, mask-sec6-ws-def, mask-sec6-alone-def, mask-sec6-unfair-def: weighted
 * speedup is the sum of IPC / IPC alone, unfairness the largest IPC
 * alone / IPC, where alone means as many SMs, the baseline design and no neighbour. These programs draw no random
 * numbers, so a single run is the run alone. */
static void runs_alone_are_single_runs_with_the_baseline(void **state)
{
    (void)state;
    static const char *const programs[] = {"HS:side=128", "MM:m=128:n=64:k=32"}, *const sms[] = {"sm.count=20",
                                                                                                 "sm.count=10"};
    struct pw_result *r = simulate((struct run){.design = "pwcache",
                                                .workload = "HS:side=128,MM:m=128:n=64:k=32",
                                                .sets = {"apps.sms=20+10", "l2_tlb.base_entries=64"},
                                                .alone = true});
    struct pw_result *without = simulate((struct run){.design = "pwcache",
                                                      .workload = "HS:side=128,MM:m=128:n=64:k=32",
                                                      .sets = {"apps.sms=20+10", "l2_tlb.base_entries=64"}});
    assert_same_metrics(r, without);
    assert_true(without->weighted_speedup == 0 && without->unfairness == 0 && without->apps[0].ipc_alone == 0);
    double speedup = 0, slowest = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct pw_result *alone =
            simulate((struct run){.workload = programs[i], .sets = {sms[i], "l2_tlb.base_entries=64"}});
        assert_true(r->apps[i].ipc_alone == alone->apps[0].ipc);
        speedup += r->apps[i].ipc / alone->apps[0].ipc;
        slowest = alone->apps[0].ipc / r->apps[i].ipc > slowest ? alone->apps[0].ipc / r->apps[i].ipc : slowest;
        pw_result_free(alone);
    }
    assert_true(r->weighted_speedup == speedup && r->unfairness == slowest);
    assert_true(r->ipc_throughput == r->apps[0].ipc + r->apps[1].ipc);
    pw_result_free(r);
    pw_result_free(without);
    r = simulate((struct run){.workload = programs[0], .alone = true});
    assert_true(r->weighted_speedup == 1 && r->unfairness == 1);
    pw_result_free(r);
    fails((struct run){.workload = SHORT, .alone = true, .warmup = 10}, PW_USER_ERROR, "--alone");
    fails((struct run){.workload = SHORT, .alone = true, .kernels = "1"}, PW_USER_ERROR, "--alone");
}

/* mosaic-sec33-transparent: whatever the memory manager does, the program is the same, instruction for instruction. */
static void programs_do_not_know_the_size_of_their_pages(void **state)
{
    (void)state;
    static const char *const designs[] = {"mosaic", "mosaic-no-cac", "conventional-coalescing", "gpu-mmu-2m"};
    static const char *const counts[] = {"app0.sm.issued",   "app0.sm.memory_instructions", "app0.sm.lines",
                                         "app0.sm.launches", "app0.mem.allocated_bytes",    "app0.mem.touched_bytes"};
    struct pw_result *base = simulate((struct run){.workload = "RED:scale=0.1:iterations=4"});
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        struct pw_result *r = simulate((struct run){.workload = "RED:scale=0.1:iterations=4", .design = designs[d]});
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            assert_int_equal(count(r, counts[i]), count(base, counts[i]));
        pw_result_free(r);
    }
    pw_result_free(base);
}

static void one_to_five_and_eight_applications_run_under_every_design(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "pwcache", "static", "ideal-tlb"};
    static const unsigned counts[] = {1, 2, 3, 4, 5, 8};
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char workload[256] = "MM:m=128:n=32:k=16";
            for (unsigned app = 1; app < counts[i]; app++)
                strcat(workload, app % 2 ? ",HS:side=48" : "," SHORT);
            struct pw_result *r =
                simulate((struct run){.machine = "mask", .design = designs[d], .workload = workload, .verify = true});
            assert_int_equal(r->app_count, counts[i]);
            uint64_t issued = 0, lines = 0;
            for (unsigned app = 0; app < counts[i]; app++) {
                char name[32];
                assert_true(r->apps[app].checks > 0 && r->apps[app].ipc > 0);
                snprintf(name, sizeof name, "app%u.sm.issued", app);
                issued += count(r, name);
                snprintf(name, sizeof name, "app%u.sm.lines", app);
                lines += count(r, name);
            }
            assert_int_equal(count(r, "gpu0.sm.issued"), issued);
            assert_int_equal(count(r, "gpu0.sm.lines"), lines);
            pw_result_free(r);
        }
}

static void more_applications_than_channels_cannot_divide_them(void **state)
{
    (void)state;
    struct run r = {
        .machine = "mask", .design = "static", .workload = SHORT "," SHORT "," SHORT, .sets = {"dram.channels=2"}};
    fails(r, PW_USER_ERROR, "2 channels cannot be divided among 3 applications");
    r.sets[0] = "dram.channels=3";
    pw_result_free(simulate(r));
}

static void the_same_inputs_give_the_same_bytes(void **state)
{
    (void)state;
    struct run r = {.machine = "mask",
                    .workload = "gather:ctas=4:iterations=2:table=1MB,HS:side=64,gather:ctas=4:iterations=2:table=1MB",
                    .alone = true,
                    .interval = 5000};
    struct pw_text texts[2] = {{0}, {0}};
    for (unsigned i = 0; i < 2; i++) {
        struct pw_result *result = simulate(r);
        pw_result_json(result, &texts[i]);
        *strstr(texts[i].bytes, "\"host\"") = '\0';
        pw_result_free(result);
    }
    assert_string_equal(texts[0].bytes, texts[1].bytes);
    pw_text_free(&texts[0]);
    pw_text_free(&texts[1]);
}

/* Cycles are common to all applications: the machine's mean is the sum of theirs, not their mean. */
static void walks_under_way_in_the_machine_are_the_sum_over_applications(void **state)
{
    (void)state;
    struct pw_result *r = simulate((struct run){.workload = SHORT "," SHORT "," LONG});
    double sum = 0;
    for (unsigned app = 0; app < 3; app++) {
        char name[40];
        snprintf(name, sizeof name, "app%u.walk.concurrent_mean", app);
        assert_true(metric(r, name)->real > 0);
        sum += metric(r, name)->real;
    }
    double all = metric(r, "gpu0.walk.concurrent_mean")->real;
    assert_true(all > 0.999999 * sum && all < 1.000001 * sum);
    pw_result_free(r);
}

static void memory_that_is_not_there_names_who_wanted_it(void **state)
{
    (void)state;
    fails((struct run){.workload = SHORT ",gather:table=64MB", .sets = {"dram.bytes=32MB"}}, PW_USER_ERROR,
          "app1 (gather:table=64MB): allocation 't'");
    fails((struct run){.workload = "gather:table=64MB", .sets = {"dram.bytes=32MB"}}, PW_USER_ERROR,
          "allocation 't' of 64MB does not fit");
    /* Each fits, but not both; the pages are handed out in turn. */
    fails((struct run){.workload = "gather:table=24MB,gather:table=23MB", .sets = {"dram.bytes=32MB"}}, PW_USER_ERROR,
          "(gather:table=2");
}

static void a_region_of_launches_needs_one_application(void **state)
{
    (void)state;
    fails((struct run){.workload = SHORT "," LONG, .kernels = "1"}, PW_USER_ERROR, "--kernels needs a run of one");
    pw_result_free(simulate((struct run){.workload = SHORT, .kernels = "1"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_are_divided_as_evenly_as_they_go),
        cmocka_unit_test(sms_that_cannot_be_divided_so_are_the_users_mistake),
        cmocka_unit_test(the_first_complete_run_counts_and_others_start_over),
        cmocka_unit_test(copies_of_a_program_compute_the_same),
        cmocka_unit_test(sms_that_nobody_has_change_nothing),
        cmocka_unit_test(sms_of_a_workload_and_of_the_option_are_the_same),
        cmocka_unit_test(runs_alone_are_single_runs_with_the_baseline),
        cmocka_unit_test(programs_do_not_know_the_size_of_their_pages),
        cmocka_unit_test(one_to_five_and_eight_applications_run_under_every_design),
        cmocka_unit_test(more_applications_than_channels_cannot_divide_them),
        cmocka_unit_test(the_same_inputs_give_the_same_bytes),
        cmocka_unit_test(walks_under_way_in_the_machine_are_the_sum_over_applications),
        cmocka_unit_test(memory_that_is_not_there_names_who_wanted_it),
        cmocka_unit_test(a_region_of_launches_needs_one_application),
    };
    return cmocka_run_group_tests_name("applications", tests, NULL, NULL);
}
