/* Demand paging of 64 GB: state is a few bytes per page and no list is ever scanned, so it takes a moment. */
#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].name, name) == 0)
            return r->metrics[i].integer;
    fail_msg("there is no metric %s", name);
    return 0;
}

static void sixty_four_gigabytes_run_in_one_of_memory(void **state)
{
    (void)state;
    static const char *const designs[] = {"uvm-nvidia", "uvm-tbn-tbn", "uvm-sl-lru4k", "uvm-none-random"};
    static const char *const sets[] = {"uvm.memory=1GB"};
    for (unsigned i = 0; i < 4; i++) {
        struct pw_run_spec spec = {.machine = "h200",
                                   .design = designs[i],
                                   .workload = "pointer_chase:bytes=64GB:stride=4KB:hops=20k:values=off",
                                   .sets = sets,
                                   .set_count = 1};
        struct pw_error err = {0};
        struct pw_result *r;
        if (pw_run(&spec, &r, &err) != PW_OK)
            fail_msg("%s: %s", designs[i], err.message);
        assert_true(metric(r, "gpu0.mem.allocated_bytes") >= 64ULL << 30);
        assert_true(metric(r, "gpu0.mem.mapped_bytes") <= 1ULL << 30);
        assert_in_range(metric(r, "gpu0.uvm.far_faults"), 15000, 20001); /* the chain and a result */
        /* Those that bring in 64 KB at a time have filled the memory. */
        assert_int_equal(metric(r, "gpu0.uvm.pages_evicted") > 0, i < 3);
        pw_result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sixty_four_gigabytes_run_in_one_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
