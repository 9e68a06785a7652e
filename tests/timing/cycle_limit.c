/* A run with limit_cycles: it has the same result as without when it takes no more, and none when it takes one more. */
#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static enum pw_status run(const char *design, uint64_t limit, struct pw_result **out, struct pw_error *err)
{
    const struct pw_run_spec spec = {
        .machine = "mosaic", .design = design, .workload = "vecadd:ctas=8:iterations=3", .limit_cycles = limit};
    *out = NULL;
    return pw_run(&spec, out, err);
}

static void a_run_ends_at_the_limit_and_not_before(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "uvm-nvidia"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct pw_result *whole, *r;
        struct pw_error err = {0};
        assert_int_equal(run(designs[i], 0, &whole, &err), PW_OK);
        assert_int_equal(run(designs[i], whole->cycles, &r, &err), PW_OK);
        assert_int_equal(r->cycles, whole->cycles);
        assert_int_equal(r->metric_count, whole->metric_count);
        for (size_t m = 0; m < r->metric_count; m++)
            if (r->metrics[m].real != whole->metrics[m].real)
                fail_msg("%s is not the same", r->metrics[m].name);
        pw_result_free(r);
        for (unsigned part = 1; part <= 3; part++) {
            assert_int_equal(run(designs[i], part < 3 ? whole->cycles * part / 3 : whole->cycles - 1, &r, &err),
                             PW_STOPPED);
            assert_null(r);
            assert_non_null(strstr(err.message, "stopped after"));
        }
        pw_result_free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_ends_at_the_limit_and_not_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
