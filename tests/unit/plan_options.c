/* The answers that a plan finds again: those of src/system, whatever was asked before. */
#include "exp/figure/plan_options.h"

#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const small_tlb[] = {"l1_tlb.base_entries=8"}, *const wrong[] = {"l1_tlb.entriez=8"};

static const struct pw_run_spec specs[] = {
    {.machine = "mosaic", .design = "gpu-mmu"},
    {.machine = "mask", .design = "gpu-mmu"},
    {.machine = "mosaic", .design = "mosaic"},
    {.machine = "mosaic", .design = "gpu-mmu", .sets = small_tlb, .set_count = 1},
    {.machine = "mosaic", .design = "gpu-mmu", .workload = "HS,CONS@20+10"},
};
enum { SPECS = sizeof specs / sizeof *specs };

static void answers_are_those_of_the_runs_each_time(void **state)
{
    (void)state;
    struct pw_plan_options o = {0};
    struct pw_error err = {0};
    const char *first[SPECS];
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < SPECS; i++) {
            const char *options;
            char *expected;
            assert_int_equal(pw_plan_options(&o, &specs[i], &options, &err), PW_OK);
            assert_int_equal(pw_run_options(&specs[i], &expected, &err), PW_OK);
            assert_string_equal(options, expected);
            free(expected);
            if (round == 0)
                first[i] = options;
            assert_ptr_equal(options, first[i]);
            for (size_t k = 0; k < i; k++)
                assert_ptr_not_equal(first[i], first[k]);
        }
    pw_plan_options_release(&o);
}

static void sms_are_those_of_the_runs_each_time(void **state)
{
    (void)state;
    struct pw_plan_options o = {0};
    struct pw_error err = {0};
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < SPECS; i++)
            for (unsigned apps = 2; apps < 4; apps++) {
                unsigned sms[3] = {0}, expected[3] = {0};
                enum pw_status status = pw_run_sms(&specs[i], apps, expected, &err);
                assert_int_equal(pw_plan_sms(&o, &specs[i], apps, sms, &err), status);
                if (status == PW_OK)
                    assert_memory_equal(sms, expected, sizeof sms);
            }
    pw_plan_options_release(&o);
}

static void what_cannot_run_says_so_each_time(void **state)
{
    (void)state;
    struct pw_plan_options o = {0};
    const struct pw_run_spec spec = {.machine = "mosaic", .design = "gpu-mmu", .sets = wrong, .set_count = 1};
    for (size_t round = 0; round < 2; round++) {
        struct pw_error err = {0};
        const char *options;
        assert_int_equal(pw_plan_options(&o, &spec, &options, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "l1_tlb.entriez"));
    }
    pw_plan_options_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_runs_each_time),
        cmocka_unit_test(sms_are_those_of_the_runs_each_time),
        cmocka_unit_test(what_cannot_run_says_so_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
