/* Bases: a file that names another takes over what it does not set itself, over several levels; machines joined by '+';
 * which values of designs can contradict each other; and files that are based on nothing or on themselves.
 *
 * The lists of embedded files are this test's own; a program that defines them does not get the library's. */
#include "system/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define EMBEDDED(folder, name, text)                                                                                   \
    {                                                                                                                  \
        name, "configs/" folder "/" name ".yaml", text, sizeof(text) - 1                                               \
    }

const struct pw_catalog_file pw_machine_files[] = {
    EMBEDDED("machines", "narrow", "summary: Narrow.\nbase: volta\nwidth: 1\n"),
    EMBEDDED("machines", "volta", "summary: A machine.\naliases: v100\nassumed: Its depth.\nwidth: 8\ndepth: 9\n"),
    {0}};

const struct pw_catalog_file pw_design_files[] = {
    EMBEDDED("designs", "deep", "summary: Deep.\nbase: gpu-mmu\ndepth: 30\n"),
    EMBEDDED("designs", "deeper", "summary: Deeper.\nbase: deep\nheight: 31\n"),
    EMBEDDED("designs", "gpu-mmu", "summary: Baseline.\naliases: baseline\nwidth: 20\ndepth: 21\nheight: 22\n"),
    EMBEDDED("designs", "lone", "summary: On its own.\nwidth: 40\n"),
    EMBEDDED("designs", "lower", "summary: Based on another.\nbase: lone\nheight: 22\n"),
    EMBEDDED("designs", "wide", "summary: Wide.\nbase: gpu-mmu\nwidth: 50\n"),
    {0}};

struct config {
    uint32_t width, depth, height;
};

#define ROW(member)                                                                                                    \
    {                                                                                                                  \
        .name = #member, .type = PW_OPTION_COUNT, .offset = offsetof(struct config, member), .max = 1000,              \
        .fallback = "0"                                                                                                \
    }
static const struct pw_option rows[] = {ROW(width), ROW(depth), ROW(height), {0}};
static const struct pw_option_group groups[] = {{"", rows, 0}, {0}};

struct fixture {
    struct config config;
    struct pw_options *options;
    struct pw_error err;
    char folder[64], names[256], note[PW_DESCRIPTION_CAPACITY];
};

static int setup(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    strcpy(f.folder, "catalog_bases.XXXXXX");
    *state = &f;
    return mkdtemp(f.folder) && chdir(f.folder) == 0 &&
                   pw_options_create(groups, &f.config, NULL, &f.options, NULL) == PW_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[128];
    pw_options_destroy(f->options);
    snprintf(command, sizeof(command), "cd .. && rm -r %s", f->folder);
    return system(command) || chdir(".."); /* NOLINT(concurrency-mt-unsafe,cert-env33-c) */
}

/* Writes a file in the test's folder and returns its name. */
static const char *put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return name;
}

static void reset(struct fixture *f)
{
    pw_options_destroy(f->options);
    assert_int_equal(pw_options_create(groups, &f->config, NULL, &f->options, NULL), PW_OK);
}

/* "a+b" of paths. */
static const char *joined(const char *a, const char *b)
{
    static char text[512];
    snprintf(text, sizeof(text), "%s+%s", a, b);
    return text;
}

static void expect_machine(struct fixture *f, const char *names, uint32_t width, uint32_t depth, uint32_t height)
{
    reset(f);
    if (pw_catalog_apply_machine_noted(f->options, names, f->note, &f->err) != PW_OK)
        fail_msg("%s: %s", names, f->err.message);
    assert_int_equal(f->config.width, width);
    assert_int_equal(f->config.depth, depth);
    assert_int_equal(f->config.height, height);
}

static void expect_design(struct fixture *f, const char *names, uint32_t width, uint32_t depth, uint32_t height)
{
    reset(f);
    if (pw_catalog_apply_designs(f->options, names, f->names, sizeof(f->names), &f->err) != PW_OK)
        fail_msg("%s: %s", names, f->err.message);
    assert_int_equal(f->config.width, width);
    assert_int_equal(f->config.depth, depth);
    assert_int_equal(f->config.height, height);
}

static void a_later_machine_changes_the_earlier(void **state)
{
    struct fixture *f = *state;
    const char *mine = put("mine.yaml", "depth: 3\n");
    expect_machine(f, "volta", 8, 9, 0);
    expect_machine(f, joined("volta", mine), 8, 3, 0);
    assert_string_equal(pw_options_origin(f->options, "width"), "configs/machines/volta.yaml:4");
    expect_machine(f, joined(mine, "v100"), 8, 9, 0);
}

static void a_machine_is_its_base_with_changes_over_several_levels(void **state)
{
    struct fixture *f = *state;
    put("mine.yaml", "base: narrow\ndepth: 3\n");
    assert_int_equal(mkdir("sub", 0700), 0);
    const char *lower = put("sub/lower.yaml", "height: 4\nbase: ../mine.yaml # wherever it stands\n");
    expect_machine(f, lower, 1, 3, 4);
    assert_string_equal(pw_options_origin(f->options, "width"), "configs/machines/narrow.yaml:3");
    expect_machine(f, "narrow", 1, 9, 0);
}

/* Otherwise the base of the second would undo the first. */
static void a_base_that_is_there_already_is_not_laid_again(void **state)
{
    struct fixture *f = *state;
    const char *first = put("first.yaml", "base: volta\nwidth: 5\n");
    const char *second = put("second.yaml", "base: volta\nheight: 6\n");
    expect_machine(f, joined(first, second), 5, 9, 6);
    expect_machine(f, joined(first, "volta"), 5, 9, 0);
    expect_machine(f, joined("volta", first), 5, 9, 0);
}

static void the_note_says_what_is_assumed_or_that_nothing_is_known(void **state)
{
    struct fixture *f = *state;
    const char *based = put("based.yaml", "base: narrow\n");
    const char *lone = put("lone.yaml", "width: 7\n");
    const char *sure = put("sure.yaml", "base: volta\nassumed: ''\n");
    expect_machine(f, "volta", 8, 9, 0);
    assert_string_equal(f->note, "Its depth.");
    expect_machine(f, based, 1, 9, 0);
    assert_string_equal(f->note, "Its depth.");
    expect_machine(f, joined("volta", lone), 7, 9, 0);
    assert_string_equal(f->note, "Its depth.");
    expect_machine(f, sure, 8, 9, 0);
    assert_string_equal(f->note, "");
    expect_machine(f, lone, 7, 0, 0);
    assert_non_null(strstr(f->note, "lone.yaml has no base: what it does not set has pagewalk's defaults"));
}

static void what_a_design_inherits_gives_way_to_what_another_sets(void **state)
{
    struct fixture *f = *state;
    expect_design(f, "wide", 50, 21, 22);
    expect_design(f, "wide+deep", 50, 30, 22);
    expect_design(f, "deep+wide", 50, 30, 22);
    expect_design(f, "deeper+wide", 50, 30, 31);
    expect_design(f, "wide+deeper", 50, 30, 31);
    assert_string_equal(f->names, "wide+deeper");
    assert_string_equal(pw_options_origin(f->options, "depth"), "configs/designs/deep.yaml:3");
    expect_design(f, "lone+deep", 40, 30, 22);
    expect_design(f, "deep+lone", 40, 30, 22);
}

static void naming_a_base_as_well_changes_nothing(void **state)
{
    struct fixture *f = *state;
    const char *mine = put("my.yaml", "base: gpu-mmu\nwidth: 64\n");
    expect_design(f, mine, 64, 21, 22);
    expect_design(f, joined("gpu-mmu", mine), 64, 21, 22);
    expect_design(f, joined(mine, "baseline"), 64, 21, 22);
    expect_design(f, "gpu-mmu+deeper+deep", 20, 30, 31);
    expect_design(f, "gpu-mmu+deep+lone", 40, 30, 22);
}

static void mistakes_are_one_line_with_file_and_line(void **state)
{
    struct fixture *f = *state;
    put("a.yaml", "width: 1\nbase: b.yaml\n");
    put("b.yaml", "base: a.yaml\n");
    put("self.yaml", "base: ./self.yaml\n");
    put("missing.yaml", "base: nowhere.yaml\n");
    put("unknown.yaml", "\nbase: volt\n");
    put("wrong.yaml", "base: b2.yaml\n");
    put("b2.yaml", "base: volta\nwidht: 3\n");
    put("broken.yaml", "base: b3.yaml\n");
    put("b3.yaml", "width: [\n");
    put("list.yaml", "base: [volta]\n");
    for (int i = 0; i < 9; i++) {
        char name[32], text[32];
        snprintf(name, sizeof(name), "deep%d.yaml", i);
        snprintf(text, sizeof(text), "base: deep%d.yaml\n", i + 1);
        put(name, text);
    }
    put("deep9.yaml", "width: 1\n");
    static const struct {
        const char *file, *message;
    } table[] = {
        {"a.yaml", "b.yaml:1: base: 'a.yaml' is based on itself"},
        {"self.yaml", "self.yaml:1: base: 'self.yaml' is based on itself"},
        {"missing.yaml", "missing.yaml:1: base: nowhere.yaml: cannot be opened: No such file or directory"},
        {"unknown.yaml", "unknown.yaml:2: base: unknown machine 'volt'; did you mean 'volta'?"},
        {"wrong.yaml", "b2.yaml:2: unknown option 'widht'; did you mean 'width'?"},
        {"broken.yaml", "broken.yaml:1: base: b3.yaml:1: lists are not accepted"},
        {"list.yaml", "list.yaml:1: lists are not accepted"},
        {"deep0.yaml", "deep7.yaml:1: base: more than 8 files are based on one another"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        assert_int_equal(pw_catalog_apply_machine(f->options, table[i].file, &f->err), PW_USER_ERROR);
        assert_string_equal(f->err.message, table[i].message);
    }
    assert_int_equal(pw_catalog_apply_machine(f->options, "deep2.yaml", &f->err), PW_OK);
}

static void designs_that_set_one_option_differently_contradict_each_other(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *names, *message;
    } table[] = {
        {"wide+lone",
         "configs/designs/lone.yaml:2: designs 'wide' and 'lone' contradict each other: width = 50 and 40"},
        {"lone+wide",
         "configs/designs/wide.yaml:3: designs 'lone' and 'wide' contradict each other: width = 40 and 50"},
        /* Inherited by both, from bases that know nothing of each other. */
        {"deep+lower", "configs/designs/lone.yaml:2: the bases 'gpu-mmu' and 'lone' contradict each other: width = 20 "
                       "and 40; set it in one of the designs"},
        {"wide+wide", "design 'wide' is named twice"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        assert_int_equal(pw_catalog_apply_designs(f->options, table[i].names, f->names, sizeof(f->names), &f->err),
                         PW_USER_ERROR);
        assert_string_equal(f->err.message, table[i].message);
    }
    expect_design(f, "deep+lower+wide", 50, 30, 22);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_later_machine_changes_the_earlier),
        WITH_FILES(a_machine_is_its_base_with_changes_over_several_levels),
        WITH_FILES(a_base_that_is_there_already_is_not_laid_again),
        WITH_FILES(the_note_says_what_is_assumed_or_that_nothing_is_known),
        WITH_FILES(what_a_design_inherits_gives_way_to_what_another_sets),
        WITH_FILES(naming_a_base_as_well_changes_nothing),
        WITH_FILES(mistakes_are_one_line_with_file_and_line),
        WITH_FILES(designs_that_set_one_option_differently_contradict_each_other),
    };
    return cmocka_run_group_tests_name("catalog_bases", tests, NULL, NULL);
}
