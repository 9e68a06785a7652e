/* Page touches on a real GPU (data/hw/h200-touches.csv): the driver's prefetch rule says of each whether it faulted.
 *
 * Also counted is what the paper's tree says of the same touches. It is not expected to agree everywhere; if it did,
 * these touches could not tell the two rules apart. */
#include "managed.h"

#include <stdio.h>
#include <stdlib.h>

struct tally {
    unsigned touches, matches, cases;
};

static struct tally replay(const char *prefetch)
{
    struct pw_residency_config config = managed_config(prefetch, "nvidia", 1 << 24);
    struct pw_residency *r = NULL;
    struct tally tally = {0};
    char line[256], name[64], current[64] = "";
    FILE *file = fopen(PW_HARDWARE "/h200-touches.csv", "r");
    if (!file)
        fail_msg("cannot open %s", PW_HARDWARE "/h200-touches.csv");
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        unsigned long long bytes, page, cycles;
        unsigned write, step, fault;
        assert_int_equal(
            sscanf(line, "%63[^,],%llu,%u,%u,%llu,%llu,%u", name, &bytes, &write, &step, &page, &cycles, &fault), 7);
        assert_int_equal(fault, cycles > 8000);
        if (strcmp(name, current) != 0) {
            if (r)
                managed_destroy(r);
            r = managed_create(&config);
            managed_add(r, name, 7, bytes);
            strcpy(current, name);
            tally.cases++;
        }
        struct managed_touch t = managed_access(r, managed_page(r, (7 << 9) + page), write);
        tally.touches++;
        tally.matches += t.fault == fault;
        if (t.fault != fault && strcmp(prefetch, "nvidia") == 0)
            print_message("%s: touch %u of page %llu: the GPU %s\n", name, step, page,
                          fault ? "faulted" : "did not fault");
    }
    managed_destroy(r);
    fclose(file);
    return tally;
}

static void every_touch_of_the_gpu_is_explained_by_the_drivers_rule(void **state)
{
    (void)state;
    struct tally tally = replay("nvidia");
    assert_int_equal(tally.cases, 18);
    assert_int_equal(tally.touches, 1440);
    assert_int_equal(tally.matches, tally.touches);
}

static void the_papers_tree_explains_most_touches_but_not_all(void **state)
{
    (void)state;
    struct tally tally = replay("tbn");
    assert_in_range(tally.matches, tally.touches * 96 / 100, tally.touches - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_touch_of_the_gpu_is_explained_by_the_drivers_rule),
        cmocka_unit_test(the_papers_tree_explains_most_touches_but_not_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
