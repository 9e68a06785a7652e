/* The example of docs/experiments.md is a figure that can be read and planned, and says what the page says. */
#include "exp/figure/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The first block of YAML on a page; the caller's to free. */
static char *example_of(const char *path)
{
    static const char begin[] = "```yaml\n", end[] = "\n```";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *page = calloc(1, 1 << 16);
    assert_true(fread(page, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    char *first = strstr(page, begin);
    assert_non_null(first);
    first += strlen(begin);
    char *last = strstr(first, end);
    assert_non_null(last);
    char *text = strndup(first, (size_t)(last + 1 - first));
    free(page);
    return text;
}

static void example_of_the_page_is_a_figure(void **state)
{
    (void)state;
    char *text = example_of(PW_DOCS "/experiments.md");
    for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
        struct pw_figure *f;
        struct pw_plan plan = {0};
        struct pw_error err = {0};
        if (pw_figure_read(text, strlen(text), "docs/experiments.md", "example", scope, &f, &err) != PW_OK ||
            pw_plan_add(&plan, f, 1, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_int_equal(f->variant_count, 6);
        assert_string_equal(f->variants[5].name, "l1-256");
        assert_int_equal(f->workload_count, scope == PW_QUICK ? 6 + 2 + 2 + 2 : 27 + 27 + 2 + 10);
        assert_true(f->column_count == 6 && f->claim_count == 1 && f->geometric);
        pw_plan_release(&plan);
        pw_figure_free(f);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_of_the_page_is_a_figure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
