/* The embedded machines and designs: every file is in its list, described, and every name leads to one file only. */
#include "system/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_list(const struct pw_catalog_file *files, const char *folder)
{
    char names[256][64];
    size_t count = 0;
    for (const struct pw_catalog_file *file = files; file->name; file++) {
        char summary[1024], aliases[1024], path[256], *rest;
        struct pw_error err = {0};
        snprintf(path, sizeof(path), "configs/%s/%s.yaml", folder, file->name);
        assert_string_equal(file->path, path);
        assert_int_equal(strlen(file->text), file->length);
        if (file > files)
            assert_true(strcmp(file[-1].name, file->name) < 0);
        if (pw_catalog_describe(file, summary, sizeof(summary), aliases, sizeof(aliases), &err) != PW_OK)
            fail_msg("%s", err.message);
        if (!*summary)
            fail_msg("%s has no summary", file->path);
        snprintf(names[count++], sizeof(names[0]), "%s", file->name);
        for (char *alias = strtok_r(aliases, " ", &rest); alias; alias = strtok_r(NULL, " ", &rest))
            snprintf(names[count++], sizeof(names[0]), "%s", alias);
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(names[a], names[b]);
}

static void assert_listed(const struct pw_catalog_file *files, const char *name)
{
    for (; files->name; files++)
        if (!strcmp(files->name, name))
            return;
    fail_msg("%s is not embedded", name);
}

static void machines_are_sorted_described_and_unambiguous(void **state)
{
    (void)state;
    check_list(pw_machine_files, "machines");
    static const char *const names[] = {"h200", "kepler", "mosaic", "volta"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_listed(pw_machine_files, names[i]);
}

static void designs_are_sorted_described_and_unambiguous(void **state)
{
    (void)state;
    check_list(pw_design_files, "designs");
    static const char *const names[] = {"gpu-mmu", "gpu-mmu-2m", "ideal-tlb", "pwcache"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_listed(pw_design_files, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_sorted_described_and_unambiguous),
        cmocka_unit_test(designs_are_sorted_described_and_unambiguous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
