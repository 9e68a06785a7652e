/* Any two designs combine, or are refused with a line that names the two choices that exclude each other; and the order
 * in which they are named never matters. Runs check every identity themselves. */
#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_DESIGNS = 64, NAME_CAPACITY = 64, SETS = 6 };

struct names {
    char text[MAX_DESIGNS][NAME_CAPACITY];
    size_t count;
};

static void add_name(void *context, const struct pw_listing *entry)
{
    struct names *n = context;
    assert_true(n->count < MAX_DESIGNS);
    snprintf(n->text[n->count++], NAME_CAPACITY, "%s", entry->name);
}

static struct names all_designs(void)
{
    struct names n = {.count = 0};
    struct pw_error err;
    assert_int_equal(pw_list(PW_LIST_DESIGNS, add_name, &n, &err), PW_OK);
    return n;
}

/* Whether a design says where translations go, which asks for an IOMMU and several GPUs. */
static bool routes(const char *design)
{
    static const char *const names[] = {"bypass", "centralized", "distributed", "route-ideal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(design, names[i]))
            return true;
    return false;
}

/* Cycles, or 0 and the reason why not. */
static uint64_t run(const char *first, const char *second, struct pw_error *err)
{
    static const char *const sets[SETS] = {"sm.count=2",     "l2.bytes=256KB",  "uvm.fault_latency=1us",
                                           "uvm.memory=8MB", "iommu.walkers=8", "gpu.count=2"};
    char design[2 * NAME_CAPACITY + 2];
    snprintf(design, sizeof design, "%s+%s", first, second);
    const struct pw_run_spec spec = {.machine = "mosaic",
                                     .design = design,
                                     .workload = "vecadd:n=4k:ctas=2,gather:n=500:ctas=1:table=64KB",
                                     .sets = sets,
                                     .set_count = routes(first) || routes(second) ? SETS : SETS - 2};
    struct pw_result *result;
    *err = (struct pw_error){0};
    enum pw_status status = pw_run(&spec, &result, err);
    if (status != PW_OK) {
        if (status != PW_USER_ERROR)
            fail_msg("%s: %s", design, err->message);
        return 0;
    }
    uint64_t cycles = result->cycles;
    pw_result_free(result);
    return cycles;
}

/* A line that names an option and the values that exclude each other, or two options that do. */
static void check_reason(const char *first, const char *second, const char *message)
{
    bool named = strstr(message, "contradict each other: ") && strstr(message, first) && strstr(message, second);
    bool known = strstr(message, "coalesce.policy makes large pages of 4KB pages; set page.size=4KB");
    bool paged = strstr(message, "(paging.mode) are for one GPU without an IOMMU") && (routes(first) || routes(second));
    if (!named && !known && !paged)
        fail_msg("%s+%s: \"%s\" does not name what excludes what", first, second, message);
}

static void every_pair_runs_or_is_refused_with_the_two_choices(void **state)
{
    (void)state;
    struct names n = all_designs();
    assert_true(n.count > 30);
    for (size_t i = 0; i < n.count; i++)
        for (size_t k = i + 1; k < n.count; k++) {
            struct pw_error one, other;
            uint64_t cycles = run(n.text[i], n.text[k], &one);
            if (cycles != run(n.text[k], n.text[i], &other))
                fail_msg("%s+%s: the order matters", n.text[i], n.text[k]);
            if (!cycles)
                check_reason(n.text[i], n.text[k], one.message);
        }
}

static void designs_that_change_different_things_combine(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"mosaic", "uvm-tbn-tbn"}, {"mosaic", "static"},  {"gpu-mmu-2m", "static"},   {"gpu-mmu", "uvm-nvidia"},
        {"mosaic", "ideal-tlb"},   {"mosaic", "pwcache"}, {"gpu-mmu-64k", "pwcache"}, {"static", "uvm-sl-sl"},
        {"gpu-mmu", "mosaic"},     {"static", "pwcache"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct pw_error err;
        if (!run(pairs[i][0], pairs[i][1], &err))
            fail_msg("%s", err.message);
    }
}

static void designs_that_change_the_same_thing_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *option;
    } pairs[] = {
        {"gpu-mmu-2m", "gpu-mmu-64k", "page.size"},      {"mosaic", "conventional-coalescing", "coalesce.policy"},
        {"mosaic-no-cac", "uvm-tbn-tbn", NULL},          {"uvm-tbn-tbn", "uvm-sl-sl", "uvm.prefetch"},
        {"gpu-mmu", "ideal-tlb", "l1_tlb.organisation"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct pw_error err;
        uint64_t cycles = run(pairs[i].first, pairs[i].second, &err);
        assert_int_equal(cycles == 0, pairs[i].option != NULL);
        if (pairs[i].option)
            assert_non_null(strstr(err.message, pairs[i].option));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_runs_or_is_refused_with_the_two_choices),
        cmocka_unit_test(designs_that_change_different_things_combine),
        cmocka_unit_test(designs_that_change_the_same_thing_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
