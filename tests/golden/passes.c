/* Passes over the data: how many each program makes, where they are cut, that results are right after several, and that
 * neither machine nor design nor company changes their number. */
#include "workload.h"

#include "pagewalk/pagewalk.h"

#include <stdio.h>

static const struct {
    const char *text, *passes; /* a small program, and which parameter counts its passes */
    const char *last;          /* the kernel that follows the last pass, or NULL */
} programs[] = {
    {"HS:side=64:pyramid=1", "iterations", NULL},
    {"TRD:bytes=16KB:sizes=3", "passes", NULL},
    {"RED:bytes=64KB", "iterations", NULL},
    {"CFD:cells=300:bin=2", "iterations", NULL},
    {"LPS:nx=33:ny=9:nz=5", "iterations", NULL},
    {"SCAN:bytes=32KB", "iterations", NULL},
    {"FFT:ffts=6", "passes", NULL},
    {"BLK:options=2345", "iterations", NULL},
    {"3DS:nx=32:ny=16:nz=20", "iterations", NULL},
    {"CONS:width=64:height=32", "iterations", NULL},
    {"HISTO:width=37:height=29:rows=600", "iterations", NULL},
    {"SC:points=600:dimensions=3:centers=5", "gains", NULL},
    {"SRAD:rows=31:columns=33", "iterations", "compress"},
    {"QTC:points=200:ctas=5", "rounds", NULL},
    {"LUH:edge=5", "cycles", NULL},
    {"page_rank:nodes=500", "iterations", NULL},
    {"color:nodes=500", "iterations", NULL},
    {"mis:nodes=500", "iterations", NULL},
    {"fw:nodes=50", "iterations", NULL},
    {"bc:nodes=60", "sources", NULL},
    {"mst:nodes=500", "iterations", NULL},
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

static struct pw_functional_counts count(const char *text)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts;
    if (pw_program_parse(text, &p, &err) || pw_functional_run(&p, 1, true, NULL, NULL, &counts, &err))
        fail_msg("%s: %s", text, err.message);
    pw_program_release(&p);
    return counts;
}

/* The text with so many passes, and none cut, or with this limit. */
static const char *with_passes(size_t program, unsigned passes, uint64_t limit)
{
    static char text[256];
    snprintf(text, sizeof text, "%s:%s=%u:instructions=%llu", programs[program].text, programs[program].passes, passes,
             (unsigned long long)limit);
    return text;
}

static void every_program_with_passes_is_here(void **state)
{
    (void)state;
    unsigned with = 0;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++)
        with += (*w)->passes != NULL;
    assert_int_equal(with, PROGRAMS);
}

static void results_are_right_after_several_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct pw_functional_counts before = {0};
        for (unsigned passes = 1; passes <= 3; passes++) {
            struct pw_functional_counts c = count(with_passes(i, passes, 0)); /* verified */
            assert_int_equal(c.passes, passes);
            assert_true(c.warp_instructions > before.warp_instructions);
            before = c;
        }
    }
}

/* Warp instructions of the launch that follows the last pass. */
static uint64_t behind_the_passes(size_t program)
{
    struct pw_profile *p = NULL;
    struct pw_error err;
    const struct pw_profile_spec spec = {.workload = with_passes(program, 1, 0)};
    if (!programs[program].last)
        return 0;
    assert_int_equal(pw_workload_profile(&spec, &p, &err), PW_OK);
    const struct pw_profile_launch *last = &p->launches[p->launch_count - 1];
    assert_string_equal(last->name, programs[program].last);
    uint64_t instructions = last->warp_instructions;
    pw_profile_free(p);
    return instructions;
}

static void passes_are_cut_where_the_limit_is_reached(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++) {
        uint64_t issued[5] = {0}, behind = behind_the_passes(i); /* issued up to the end of each pass */
        for (unsigned passes = 1; passes <= 4; passes++)
            issued[passes] = count(with_passes(i, passes, 0)).warp_instructions - behind;
        for (unsigned passes = 1; passes < 4; passes++) {
            struct pw_functional_counts exact = count(with_passes(i, 4, issued[passes]));
            struct pw_functional_counts more = count(with_passes(i, 4, issued[passes] + 1));
            assert_int_equal(exact.passes, passes);
            assert_int_equal(exact.warp_instructions, issued[passes] + behind);
            assert_int_equal(more.passes, passes + 1);
            assert_int_equal(more.warp_instructions, issued[passes + 1] + behind);
        }
        assert_int_equal(count(with_passes(i, 4, 1)).passes, 1);
        assert_int_equal(count(with_passes(i, 4, issued[4])).passes, 4);
    }
}

/* In time, on this machine and with this design; with the time that a run takes the instructions must not change. */
static uint64_t issued_in_time(const char *workload, const char *machine, const char *design, const char *set,
                               uint64_t *out_cycles)
{
    struct pw_result *r = NULL;
    struct pw_error err;
    const struct pw_run_spec spec = {.workload = workload,
                                     .machine = machine,
                                     .design = design,
                                     .sets = &set,
                                     .set_count = set != NULL,
                                     .verify = true};
    if (pw_run(&spec, &r, &err))
        fail_msg("%s on %s: %s", workload, machine, err.message);
    uint64_t instructions = r->apps[0].warp_instructions;
    *out_cycles = r->apps[0].cycles;
    pw_result_free(r);
    return instructions;
}

static void neither_machine_nor_design_nor_company_changes_passes(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *design, *set, *company;
    } table[] = {{"mosaic", "gpu-mmu", NULL, ""},
                 {"mosaic", "mosaic", "paging.mode=demand", ""},
                 {"kepler", "ideal-tlb", NULL, ""},
                 {"mask", "static", NULL, ",GUP:table=64KB:ctas=16"}};
    for (size_t i = 0; i < PROGRAMS; i++) {
        /* One more than two passes issue, so that a third is made, of four. */
        uint64_t limit = count(with_passes(i, 2, 0)).warp_instructions - behind_the_passes(i) + 1, cycles[4];
        struct pw_functional_counts expected = count(with_passes(i, 4, limit));
        assert_int_equal(expected.passes, 3);
        for (size_t k = 0; k < 4; k++) {
            char workload[320];
            snprintf(workload, sizeof workload, "%s%s", with_passes(i, 4, limit), table[k].company);
            uint64_t issued = issued_in_time(workload, table[k].machine, table[k].design, table[k].set, &cycles[k]);
            assert_int_equal(issued, expected.warp_instructions);
        }
        assert_int_not_equal(cycles[0], cycles[1]);
        assert_int_not_equal(cycles[0], cycles[2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_with_passes_is_here),
        cmocka_unit_test(results_are_right_after_several_passes),
        cmocka_unit_test(passes_are_cut_where_the_limit_is_reached),
        cmocka_unit_test(neither_machine_nor_design_nor_company_changes_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
