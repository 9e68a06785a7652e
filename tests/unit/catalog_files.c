/* The embedded machines and designs: every file is in its list, described, and every name leads to one file only. */
#include "system/catalog.h"
#include "system/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What comes of a template names the template as its file. */
static void check_path(const struct pw_catalog_file *file, const char *folder)
{
    char path[256];
    if (strchr(file->path, '@'))
        return;
    snprintf(path, sizeof(path), "configs/%s/%s.yaml", folder, file->name);
    assert_string_equal(file->path, path);
}

static void check_list(const struct pw_catalog_file *files, const char *folder)
{
    char names[256][64];
    size_t count = 0;
    for (const struct pw_catalog_file *file = files; file->name; file++) {
        struct pw_catalog_description d;
        char *rest;
        struct pw_error err = {0};
        check_path(file, folder);
        assert_int_equal(strlen(file->text), file->length);
        assert_null(strchr(file->text, '@'));
        if (file > files)
            assert_true(strcmp(file[-1].name, file->name) < 0);
        if (pw_catalog_describe(file, &d, &err) != PW_OK)
            fail_msg("%s", err.message);
        if (!*d.summary)
            fail_msg("%s has no summary", file->path);
        snprintf(names[count++], sizeof(names[0]), "%s", file->name);
        for (char *alias = strtok_r(d.aliases, " ", &rest); alias; alias = strtok_r(NULL, " ", &rest))
            snprintf(names[count++], sizeof(names[0]), "%s", alias);
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(names[a], names[b]);
}

static const struct pw_catalog_file *find(const struct pw_catalog_file *files, const char *name)
{
    for (; files->name; files++)
        if (!strcmp(files->name, name))
            return files;
    fail_msg("%s is not embedded", name);
    return NULL;
}

static void machines_are_sorted_described_and_unambiguous(void **state)
{
    (void)state;
    check_list(pw_machine_files, "machines");
    static const char *const names[] = {"h200", "kepler", "mosaic", "pascal", "volta"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        find(pw_machine_files, names[i]);
}

static void designs_are_sorted_described_and_unambiguous(void **state)
{
    (void)state;
    check_list(pw_design_files, "designs");
    static const char *const names[] = {"gpu-mmu", "gpu-mmu-2m", "gpu-mmu-64k", "ideal-tlb", "pwcache", "uvm-nvidia"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        find(pw_design_files, names[i]);
}

static void assert_option(const struct pw_options *o, const char *name, const char *value)
{
    struct pw_option_view view;
    int index = pw_options_find(o, name);
    assert_true(index >= 0);
    pw_options_view(o, (size_t)index, &view);
    assert_string_equal(view.value, value);
}

static void assert_pages_on_demand(const char *design, const char *prefetch, const char *evict)
{
    static struct pw_config config;
    struct pw_options *o = NULL;
    struct pw_error err = {0};
    char names[256];
    if (pw_config_create(&config, &o, &err) != PW_OK ||
        pw_catalog_apply_designs(o, design, names, sizeof(names), &err) != PW_OK)
        fail_msg("%s: %s", design, err.message);
    assert_option(o, "paging.mode", "demand");
    assert_option(o, "uvm.prefetch", prefetch);
    assert_option(o, "uvm.prefetch_full", "same");
    assert_option(o, "uvm.evict", evict);
    pw_options_destroy(o);
}

/* One design for each pair of policies that the simulator has, under the name of the pair; no two are described
 * alike. */
static void each_pair_of_prefetcher_and_eviction_is_a_design(void **state)
{
    (void)state;
    enum { MOST_PAIRS = 64 };
    static struct pw_catalog_description described[MOST_PAIRS];
    size_t pairs = 0, designs = 0;
    for (size_t p = 0; pw_prefetch_family.policies[p]; p++)
        for (size_t e = 0; pw_evict_family.policies[e]; e++) {
            char name[64];
            struct pw_error err = {0};
            assert_true(pairs < MOST_PAIRS);
            snprintf(name, sizeof(name), "uvm-%s-%s", pw_prefetch_family.policies[p]->name,
                     pw_evict_family.policies[e]->name);
            const struct pw_catalog_file *file = find(pw_design_files, name);
            assert_pages_on_demand(name, pw_prefetch_family.policies[p]->name, pw_evict_family.policies[e]->name);
            assert_int_equal(pw_catalog_describe(file, &described[pairs], &err), PW_OK);
            for (size_t i = 0; i < pairs; i++)
                assert_string_not_equal(described[i].summary, described[pairs].summary);
            pairs++;
        }
    for (const struct pw_catalog_file *file = pw_design_files; file->name; file++)
        designs += !strncmp(file->name, "uvm-", 4) && strchr(file->name + 4, '-');
    assert_int_equal(pairs, designs);
    assert_pages_on_demand("uvm-nvidia", "nvidia", "nvidia");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_sorted_described_and_unambiguous),
        cmocka_unit_test(designs_are_sorted_described_and_unambiguous),
        cmocka_unit_test(each_pair_of_prefetcher_and_eviction_is_a_design),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
