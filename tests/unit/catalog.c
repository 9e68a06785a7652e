/* Layers: names and aliases, machines under designs, designs that agree or contradict each other, files of the user's.
 *
 * The lists of files are this test's own; a program that defines them does not get the library's. */
#include "system/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EMBEDDED(folder, name, text)                                                                                   \
    {                                                                                                                  \
        name, "configs/" folder "/" name ".yaml", text, sizeof(text) - 1                                               \
    }

const struct pw_catalog_file pw_machine_files[] = {
    EMBEDDED("machines", "broken", "summary: Broken.\nsize: 1MB\nl1_tlb.entires: 3\n"),
    EMBEDDED("machines", "mosaic",
             "summary: The machine.\naliases: tiles\nassumed: All of it.\nsize: 1MB\nschedule: fcfs\n"),
    EMBEDDED("machines", "wide", "summary: Out of range.\nl1_tlb:\n  entries: 0\n"),
    {0}};

const struct pw_catalog_file pw_design_files[] = {
    EMBEDDED("designs", "agrees", "summary: Same as sized, written differently.\nsize: 2048KB\nl1_tlb.entries: 7\n"),
    EMBEDDED("designs", "gpu-mmu", "summary: Baseline.\naliases: sharedtlb baseline\nschedule: fr-fcfs\n"),
    EMBEDDED("designs", "other", "summary: Other.\nsize: 4MB\n"),
    EMBEDDED("designs", "sharedtl", "summary: A name near an alias.\nschedule: fcfs\n"),
    EMBEDDED("designs", "sized", "summary: Sized.\nsize: 2MB\n"),
    {0}};

static const char *const schedules[] = {"fr-fcfs", "fcfs", NULL};

struct config {
    uint64_t size;
    uint32_t schedule, entries;
};

static const struct pw_option rows[] = {
    {.name = "size", .type = PW_OPTION_BYTES, .offset = offsetof(struct config, size), .fallback = "64KB"},
    {.name = "schedule",
     .type = PW_OPTION_CHOICE,
     .offset = offsetof(struct config, schedule),
     .choices = schedules,
     .fallback = "fr-fcfs"},
    {.name = "l1_tlb.entries",
     .type = PW_OPTION_COUNT,
     .offset = offsetof(struct config, entries),
     .min = 1,
     .max = 65536,
     .fallback = "128"},
    {0}};
static const struct pw_option_group groups[] = {{"", rows, 0}, {0}};

struct fixture {
    struct config config;
    struct pw_options *options;
    struct pw_error err;
    char names[256];
};

static int setup(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    *state = &f;
    return pw_options_create(groups, &f.config, NULL, &f.options, NULL) == PW_OK ? 0 : -1;
}

static int teardown(void **state)
{
    pw_options_destroy(((struct fixture *)*state)->options);
    return 0;
}

static enum pw_status designs(struct fixture *f, const char *names)
{
    return pw_catalog_apply_designs(f->options, names, f->names, sizeof(f->names), &f->err);
}

static void machine_is_laid_over_the_defaults_and_leaves_its_origin(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_catalog_apply_machine(f->options, "mosaic", &f->err), PW_OK);
    assert_int_equal(f->config.size, 1 << 20);
    assert_int_equal(f->config.schedule, 1);
    assert_int_equal(f->config.entries, 128);
    assert_string_equal(pw_options_origin(f->options, "size"), "configs/machines/mosaic.yaml:4");
    assert_string_equal(pw_options_origin(f->options, "l1_tlb.entries"), "default");
}

static void aliases_stand_for_the_file(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_catalog_apply_machine(f->options, "tiles", &f->err), PW_OK);
    assert_string_equal(pw_options_origin(f->options, "size"), "configs/machines/mosaic.yaml:4");
    assert_int_equal(designs(f, "baseline"), PW_OK);
    assert_string_equal(f->names, "gpu-mmu");
    assert_string_equal(pw_options_origin(f->options, "schedule"), "configs/designs/gpu-mmu.yaml:3");
    assert_int_equal(designs(f, "sharedtlb"), PW_OK);
    assert_string_equal(f->names, "gpu-mmu");
    assert_int_equal(designs(f, "sharedtl"), PW_OK);
    assert_string_equal(f->names, "sharedtl");
}

static void design_wins_over_the_machine(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_catalog_apply_machine(f->options, "mosaic", &f->err), PW_OK);
    assert_int_equal(designs(f, "gpu-mmu+sized"), PW_OK);
    assert_string_equal(f->names, "gpu-mmu+sized");
    assert_int_equal(f->config.schedule, 0);
    assert_int_equal(f->config.size, 2 << 20);
}

static void designs_may_agree_whatever_the_spelling(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(designs(f, "sized+agrees"), PW_OK);
    assert_string_equal(f->names, "sized+agrees");
    assert_int_equal(f->config.entries, 7);
    assert_int_equal(designs(f, "agrees+sized"), PW_OK);
}

static void mistakes_are_user_errors_that_say_what_to_do(void **state)
{
    struct fixture *f = *state;
    static const struct {
        bool machine;
        const char *name, *message;
    } table[] = {
        {true, "mosaci", "unknown machine 'mosaci'; did you mean 'mosaic'?"},
        {true, "tile", "unknown machine 'tile'; did you mean 'tiles'?"},
        {true, "nothing-like-it", "unknown machine 'nothing-like-it'; there are: broken, mosaic, wide"},
        {true, "", "a machine's name is missing; give NAME or NAME+NAME"},
        {true, "mosaic+", "a machine's name is missing; give NAME or NAME+NAME"},
        {true, "mosaic+tiles", "machine 'mosaic' is named twice"},
        {true, "mosaic+missing.yaml", "missing.yaml: cannot be opened: No such file or directory"},
        {true, "broken",
         "configs/machines/broken.yaml:3: unknown option 'l1_tlb.entires'; did you mean 'l1_tlb.entries'?"},
        {true, "wide", "configs/machines/wide.yaml:3: l1_tlb.entries = 0 is out of range (1 to 65536)"},
        {true, "missing.yaml", "missing.yaml: cannot be opened: No such file or directory"},
        {true, "no/such", "no/such: cannot be opened: No such file or directory"},
        {true, ".yaml", "unknown machine '.yaml'; there are: broken, mosaic, wide"},
        {false, "gpu-mmo", "unknown design 'gpu-mmo'; did you mean 'gpu-mmu'?"},
        {false, "bassline", "unknown design 'bassline'; did you mean 'baseline'?"},
        {false, "xyz", "unknown design 'xyz'; there are: agrees, gpu-mmu, other, sharedtl, sized"},
        {false, "sized+xyz", "unknown design 'xyz'; there are: agrees, gpu-mmu, other, sharedtl, sized"},
        {false, "", "a design's name is missing; give NAME or NAME+NAME"},
        {false, "sized+", "a design's name is missing; give NAME or NAME+NAME"},
        {false, "sized++gpu-mmu", "a design's name is missing; give NAME or NAME+NAME"},
        {false, "sized+other",
         "configs/designs/other.yaml:2: designs 'sized' and 'other' contradict each other: size = 2MB and 4MB"},
        {false, "agrees+gpu-mmu+other",
         "configs/designs/other.yaml:2: designs 'agrees' and 'other' contradict each other: size = 2MB and 4MB"},
        {false, "baseline+sharedtl",
         "configs/designs/sharedtl.yaml:2: designs 'gpu-mmu' and 'sharedtl' contradict each other: schedule = fr-fcfs "
         "and fcfs"},
        {false, "gpu-mmu+baseline", "design 'gpu-mmu' is named twice"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        enum pw_status status =
            table[i].machine ? pw_catalog_apply_machine(f->options, table[i].name, &f->err) : designs(f, table[i].name);
        assert_int_equal(status, PW_USER_ERROR);
        assert_string_equal(f->err.message, table[i].message);
    }
}

static void names_that_do_not_fit_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_catalog_apply_designs(f->options, "sized+agrees", f->names, 13, &f->err), PW_OK);
    assert_int_equal(pw_catalog_apply_designs(f->options, "sized+agrees", f->names, 12, &f->err), PW_USER_ERROR);
    assert_string_equal(f->err.message, "the designs' names are longer than 11 bytes together");
}

static void more_designs_than_there_is_room_for_are_refused(void **state)
{
    struct fixture *f = *state;
    char names[512] = "", path[32];
    for (int i = 0; i < 17; i++) {
        snprintf(path, sizeof(path), "./pagewalk-catalog-%d.yaml", i);
        FILE *file = fopen(path, "w");
        fputs("summary: Nothing.\n", file);
        fclose(file);
        strcat(names, i ? "+" : "");
        strcat(names, path);
    }
    assert_int_equal(designs(f, names), PW_USER_ERROR);
    assert_string_equal(f->err.message, "more than 16 designs");
    for (int i = 0; i < 17; i++) {
        snprintf(path, sizeof(path), "./pagewalk-catalog-%d.yaml", i);
        unlink(path);
    }
}

static void files_of_the_users_are_layers_too(void **state)
{
    struct fixture *f = *state;
    FILE *file = fopen("pagewalk-catalog-test.yaml", "w");
    assert_non_null(file);
    fputs("summary: Mine.\naliases: ignored\n\nsize: 8MB\n", file);
    fclose(file);
    assert_int_equal(pw_catalog_apply_machine(f->options, "pagewalk-catalog-test.yaml", &f->err), PW_OK);
    assert_string_equal(pw_options_origin(f->options, "size"), "pagewalk-catalog-test.yaml:4");
    assert_int_equal(designs(f, "gpu-mmu+./pagewalk-catalog-test.yaml"), PW_OK);
    assert_string_equal(f->names, "gpu-mmu+./pagewalk-catalog-test.yaml");
    assert_int_equal(f->config.size, 8 << 20);
    assert_int_equal(designs(f, "pagewalk-catalog-test.yaml+sized"), PW_USER_ERROR);
    assert_string_equal(f->err.message,
                        "configs/designs/sized.yaml:2: designs 'pagewalk-catalog-test.yaml' and 'sized' "
                        "contradict each other: size = 8MB and 2MB");
    unlink("pagewalk-catalog-test.yaml");
}

static void descriptions_are_read_and_must_fit(void **state)
{
    (void)state;
    struct pw_catalog_description d;
    struct pw_error err;
    assert_int_equal(pw_catalog_describe(&pw_design_files[1], &d, &err), PW_OK);
    assert_string_equal(d.summary, "Baseline.");
    assert_string_equal(d.aliases, "sharedtlb baseline");
    assert_string_equal(d.assumed, "");
    assert_int_equal(pw_catalog_describe(&pw_machine_files[1], &d, &err), PW_OK);
    assert_string_equal(d.assumed, "All of it.");
    char text[PW_DESCRIPTION_CAPACITY + 16];
    static const char *const keys[] = {"summary", "aliases", "assumed"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        for (int length = PW_DESCRIPTION_CAPACITY - 1; length <= PW_DESCRIPTION_CAPACITY; length++) {
            char message[64];
            struct pw_catalog_file file = {"long", "long.yaml", text, 0};
            file.length = (size_t)snprintf(text, sizeof(text), "%s: %0*d\n", keys[i], length, 7);
            bool fits = length < PW_DESCRIPTION_CAPACITY;
            assert_int_equal(pw_catalog_describe(&file, &d, &err), fits ? PW_OK : PW_FAILED);
            snprintf(message, sizeof(message), "long.yaml:1: %s is longer than %d bytes", keys[i],
                     PW_DESCRIPTION_CAPACITY - 1);
            if (!fits)
                assert_string_equal(err.message, message);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(machine_is_laid_over_the_defaults_and_leaves_its_origin, setup, teardown),
        cmocka_unit_test_setup_teardown(aliases_stand_for_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(design_wins_over_the_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(designs_may_agree_whatever_the_spelling, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_user_errors_that_say_what_to_do, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_do_not_fit_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(more_designs_than_there_is_room_for_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_the_users_are_layers_too, setup, teardown),
        cmocka_unit_test(descriptions_are_read_and_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
