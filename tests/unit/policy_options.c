/* Options of a policy's own: they exist where it is chosen, whoever sets what first, and belong to one choice each.
 *
 * The lists of embedded files are this test's own; a program that defines them does not get the library's. */
#include "sim/policy.h"
#include "system/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EMBEDDED(folder, name, text)                                                                                   \
    {                                                                                                                  \
        name, "configs/" folder "/" name ".yaml", text, sizeof(text) - 1                                               \
    }

const struct pw_catalog_file pw_machine_files[] = {EMBEDDED("machines", "mosaic", "summary: A machine.\n"), {0}};

const struct pw_catalog_file pw_design_files[] = {
    EMBEDDED("designs", "also", "summary: As far.\npager:\n  prefetch.depth: 4\n"),
    EMBEDDED("designs", "far", "summary: Far.\npager: {prefetch.depth: 4, prefetch: stride}\n"),
    EMBEDDED("designs", "farther", "summary: Farther.\nbase: far\npager: {prefetch.depth: 9}\n"),
    EMBEDDED("designs", "gone", "summary: Not far.\nbase: far\npager: {prefetch: none}\n"),
    EMBEDDED("designs", "mistaken", "summary: Both.\npager: {prefetch: none, prefetch.depth: 4}\n"),
    EMBEDDED("designs", "near", "summary: Near.\npager: {prefetch: stride, prefetch.depth: 1}\n"),
    {0}};

struct stride_options {
    uint32_t depth, delay;
};

static const struct pw_option stride_rows[] = {{.name = "depth",
                                                .type = PW_OPTION_COUNT,
                                                .offset = offsetof(struct stride_options, depth),
                                                .min = 1,
                                                .max = 64,
                                                .fallback = "2",
                                                .unit = "pages",
                                                .help = "How far."},
                                               {.name = "delay",
                                                .type = PW_OPTION_CYCLES,
                                                .offset = offsetof(struct stride_options, delay),
                                                .max = 1e6,
                                                .fallback = "1us",
                                                .unit = "cycles",
                                                .help = "How late."},
                                               {0}};

struct history_options {
    uint64_t depth;
    bool global;
};

/* The same name as the other's, and another type. */
static const struct pw_option history_rows[] = {{.name = "global",
                                                 .type = PW_OPTION_BOOL,
                                                 .offset = offsetof(struct history_options, global),
                                                 .fallback = "on",
                                                 .unit = "",
                                                 .help = "For all."},
                                                {.name = "depth",
                                                 .type = PW_OPTION_BYTES,
                                                 .offset = offsetof(struct history_options, depth),
                                                 .fallback = "1KB",
                                                 .unit = "bytes",
                                                 .help = "How much."},
                                                {0}};

static const struct pw_policy none = {.name = "none", .summary = "nothing"};
static const struct pw_policy stride = {
    .name = "stride", .summary = "next ones", .options = stride_rows, .options_bytes = sizeof(struct stride_options)};
static const struct pw_policy history = {
    .name = "history", .summary = "old ones", .options = history_rows, .options_bytes = sizeof(struct history_options)};
static const struct pw_policy *const policies[] = {&none, &stride, &history, NULL};
static const struct pw_policy_family family = {"toy", "toy choice", policies};

struct config {
    struct pw_policy_choice prefetch, full, policy;
    uint32_t clock_mhz, last;
};

#define CHOOSER(row_name, row_type, member, value)                                                                     \
    {                                                                                                                  \
        .name = (row_name), .type = (row_type), .offset = offsetof(struct config, member), .fallback = (value),        \
        .unit = "", .choices = &family, .help = "A choice."                                                            \
    }
#define NUMBER(row_name, member)                                                                                       \
    {                                                                                                                  \
        .name = (row_name), .type = PW_OPTION_COUNT, .offset = offsetof(struct config, member), .fallback = "1000",    \
        .unit = "", .help = "A number."                                                                                \
    }

static const struct pw_option pager_rows[] = {NUMBER("clock", clock_mhz),
                                              CHOOSER("prefetch", PW_OPTION_POLICY, prefetch, "none"),
                                              CHOOSER("prefetch_full", PW_OPTION_POLICY_OR_SAME, full, "same"),
                                              NUMBER("last", last),
                                              {0}};
static const struct pw_option fill_rows[] = {CHOOSER("policy", PW_OPTION_POLICY, policy, "none"), {0}};
static const struct pw_option_group groups[] = {{"pager", pager_rows, 0}, {"fill", fill_rows, 0}, {0}};

struct fixture {
    struct config config;
    struct pw_options *options;
    struct pw_error err;
};

static int setup(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    *state = &f;
    return pw_options_create(groups, &f.config, &f.config.clock_mhz, &f.options, &f.err) == PW_OK ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    pw_options_destroy(f->options);
    return 0;
}

static void set(struct fixture *f, const char *pair)
{
    if (pw_options_set_pair(f->options, pair, "--set", &f->err) != PW_OK)
        fail_msg("%s", f->err.message);
}

static void finish(struct fixture *f)
{
    if (pw_options_finish(f->options, &f->err) != PW_OK)
        fail_msg("%s", f->err.message);
}

static void refuse(struct fixture *f, const char *message)
{
    assert_int_equal(pw_options_finish(f->options, &f->err), PW_USER_ERROR);
    assert_string_equal(f->err.message, message);
}

/* All options, as "name=value" separated by spaces. */
static void expect(const struct fixture *f, const char *listing)
{
    char text[1024] = "";
    for (size_t i = 0; i < pw_options_count(f->options); i++) {
        struct pw_option_view view;
        pw_options_view(f->options, i, &view);
        assert_int_equal(pw_options_find(f->options, view.name), i);
        assert_ptr_equal(pw_options_row(f->options, view.name), view.row);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i ? " " : "", view.name, view.value);
    }
    assert_string_equal(text, listing);
}

static const struct stride_options *stride_of(const struct pw_policy_choice *choice)
{
    return (const struct stride_options *)(const void *)choice->options;
}

static void options_exist_where_their_policy_is_chosen(void **state)
{
    struct fixture *f = *state;
    finish(f);
    expect(f, "pager.clock=1000 pager.prefetch=none pager.prefetch_full=same pager.last=1000 fill.policy=none");
    set(f, "pager.prefetch=stride");
    set(f, "fill.policy=history");
    finish(f);
    expect(f, "pager.clock=1000 pager.prefetch=stride pager.prefetch.depth=2 pager.prefetch.delay=1000 "
              "pager.prefetch_full=same pager.last=1000 fill.policy=history fill.global=on fill.depth=1KB");
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 2);
    assert_int_equal(stride_of(&f->config.prefetch)->delay, 1000);
    assert_string_equal(pw_options_origin(f->options, "fill.depth"), "default");
    /* Another choice, and its options go. */
    set(f, "pager.prefetch=none");
    set(f, "fill.policy=stride");
    finish(f);
    expect(f, "pager.clock=1000 pager.prefetch=none pager.prefetch_full=same pager.last=1000 fill.policy=stride "
              "fill.depth=2 fill.delay=1000");
}

static void an_option_may_be_set_before_its_policy_is_chosen(void **state)
{
    struct fixture *f = *state;
    set(f, "pager.prefetch.delay=3us");
    set(f, "pager.prefetch.depth=4");
    expect(f, "pager.clock=1000 pager.prefetch=none pager.prefetch.delay=3us pager.prefetch.depth=4 "
              "pager.prefetch_full=same pager.last=1000 fill.policy=none");
    set(f, "pager.prefetch=stride");
    set(f, "pager.clock=500");
    set(f, "pager.prefetch.depth=0x");
    set(f, "pager.prefetch.depth=7");
    finish(f);
    expect(f, "pager.clock=500 pager.prefetch=stride pager.prefetch.depth=7 pager.prefetch.delay=1500 "
              "pager.prefetch_full=same pager.last=1000 fill.policy=none");
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 7);
    assert_int_equal(stride_of(&f->config.prefetch)->delay, 1500);
    assert_string_equal(pw_options_origin(f->options, "pager.prefetch.delay"), "--set");
}

static void two_choices_of_one_policy_have_values_of_their_own(void **state)
{
    struct fixture *f = *state;
    set(f, "pager.prefetch=stride");
    set(f, "pager.prefetch_full=stride");
    set(f, "pager.prefetch_full.depth=9");
    finish(f);
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 2);
    assert_int_equal(stride_of(&f->config.full)->depth, 9);
}

static void a_name_means_what_the_chosen_policy_says(void **state)
{
    struct fixture *f = *state;
    set(f, "pager.prefetch.depth=3KB"); /* by the row of stride, the first that has it, no value */
    set(f, "pager.prefetch=history");
    finish(f);
    expect(f, "pager.clock=1000 pager.prefetch=history pager.prefetch.global=on pager.prefetch.depth=3KB "
              "pager.prefetch_full=same pager.last=1000 fill.policy=none");
    const struct history_options *own = (const void *)f->config.prefetch.options;
    assert_int_equal(own->depth, 3072);
    assert_true(own->global);
}

static void mistakes_are_said_with_their_origin(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_options_set(f->options, "pager.prefetch.dept", "4", "--set", &f->err), PW_USER_ERROR);
    assert_string_equal(f->err.message, "unknown option 'pager.prefetch.dept'; did you mean 'pager.prefetch.depth'?");
    assert_int_equal(pw_options_set(f->options, "clock.depth", "4", "--set", &f->err), PW_USER_ERROR);
    assert_null(pw_options_row(f->options, "clock.depth"));
    assert_int_equal(pw_options_row(f->options, "fill.delay")->type, PW_OPTION_CYCLES);
    assert_int_equal(pw_options_set(f->options, "pager.prefetch.depth", "4", "d.yaml:7", &f->err), PW_OK);
    refuse(f, "d.yaml:7: pager.prefetch.depth is an option of pager.prefetch=stride; pager.prefetch is none");
    set(f, "pager.prefetch=stride");
    finish(f);
    set(f, "pager.prefetch.depth=65");
    refuse(f, "--set: pager.prefetch.depth = 65 is out of range (1 to 64)");
    set(f, "pager.prefetch.depth=5");
    set(f, "pager.prefetch_full.delay=5");
    refuse(f,
           "--set: pager.prefetch_full.delay is an option of pager.prefetch_full=stride; pager.prefetch_full is same");
}

static void options_can_be_set_again_as_they_are_shown(void **state)
{
    struct fixture *f = *state;
    set(f, "pager.prefetch=stride");
    set(f, "pager.prefetch.delay=2us");
    finish(f);
    for (size_t i = 0; i < pw_options_count(f->options); i++) {
        struct pw_option_view before, after;
        pw_options_view(f->options, i, &before);
        assert_int_equal(pw_options_set(f->options, before.name, before.value, "again", &f->err), PW_OK);
        pw_options_view(f->options, i, &after);
        assert_string_equal(after.value, before.value);
        assert_string_equal(after.origin, "again");
    }
    finish(f);
    assert_int_equal(stride_of(&f->config.prefetch)->delay, 2000);
}

static enum pw_status apply(struct fixture *f, const char *designs)
{
    char names[128];
    pw_options_destroy(f->options);
    assert_int_equal(pw_options_create(groups, &f->config, &f->config.clock_mhz, &f->options, &f->err), PW_OK);
    enum pw_status status = pw_catalog_apply_designs(f->options, designs, names, sizeof names, &f->err);
    return status == PW_OK ? pw_options_finish(f->options, &f->err) : status;
}

static void designs_set_and_contradict_them_as_any_option(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, "far"), PW_OK);
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 4);
    assert_string_equal(pw_options_origin(f->options, "pager.prefetch.depth"), "configs/designs/far.yaml:2");
    assert_int_equal(apply(f, "also+far"), PW_OK);
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 4);
    assert_int_equal(apply(f, "farther+far"), PW_OK);
    assert_int_equal(stride_of(&f->config.prefetch)->depth, 9);
    assert_int_equal(apply(f, "far+near"), PW_USER_ERROR);
    assert_string_equal(f->err.message, "configs/designs/near.yaml:2: designs 'far' and 'near' contradict each other: "
                                        "pager.prefetch.depth = 4 and 1");
    assert_int_equal(apply(f, "also"), PW_USER_ERROR);
    assert_string_equal(f->err.message, "configs/designs/also.yaml:3: pager.prefetch.depth is an option of "
                                        "pager.prefetch=stride; pager.prefetch is none");
}

static void what_a_file_sets_gives_way_with_the_policy_it_chose(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(apply(f, "gone"), PW_OK);
    assert_int_equal(pw_options_find(f->options, "pager.prefetch.depth"), -1);
    assert_int_equal(apply(f, "far"), PW_OK);
    set(f, "pager.prefetch=none");
    finish(f);
    assert_int_equal(pw_options_find(f->options, "pager.prefetch.depth"), -1);
    set(f, "pager.prefetch.depth=3"); /* asked for, and not left over */
    refuse(f, "--set: pager.prefetch.depth is an option of pager.prefetch=stride; pager.prefetch is none");
    assert_int_equal(apply(f, "mistaken"), PW_USER_ERROR);
    assert_string_equal(f->err.message, "configs/designs/mistaken.yaml:2: pager.prefetch.depth is an option of "
                                        "pager.prefetch=stride; pager.prefetch is none");
}

static void a_choice_made_by_hand_has_the_defaults(void **state)
{
    struct fixture *f = *state;
    struct pw_policy_choice choice;
    assert_int_equal(pw_policy_choose(&family, "stride", 2000, &choice, &f->err), PW_OK);
    assert_ptr_equal(pw_policy_chosen(&family, &choice), &stride);
    assert_int_equal(stride_of(&choice)->depth, 2);
    assert_int_equal(stride_of(&choice)->delay, 2000);
    assert_int_equal(pw_policy_choose(&family, "strides", 2000, &choice, &f->err), PW_USER_ERROR);
    assert_string_equal(f->err.message, "there is no toy choice 'strides'");
}

static void names_drop_what_only_says_that_something_is_chosen(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"fill.policy", "fill.x"},        {"dram.schedule", "dram.x"},
                                           {"schedule", "schedule.x"},       {"uvm.prefetch", "uvm.prefetch.x"},
                                           {"a.my_policy", "a.my_policy.x"}, {"policy", "policy.x"}};
    char text[16];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(pw_policy_own_name(names[i][0], "x", text, sizeof text));
        assert_string_equal(text, names[i][1]);
    }
    assert_true(pw_policy_own_name("fill.policy", "x234567890", text, sizeof text));
    assert_false(pw_policy_own_name("fill.policy", "x2345678901", text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_exist_where_their_policy_is_chosen, setup, teardown),
        cmocka_unit_test_setup_teardown(an_option_may_be_set_before_its_policy_is_chosen, setup, teardown),
        cmocka_unit_test_setup_teardown(two_choices_of_one_policy_have_values_of_their_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_means_what_the_chosen_policy_says, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_said_with_their_origin, setup, teardown),
        cmocka_unit_test_setup_teardown(options_can_be_set_again_as_they_are_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(designs_set_and_contradict_them_as_any_option, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_file_sets_gives_way_with_the_policy_it_chose, setup, teardown),
        cmocka_unit_test_setup_teardown(a_choice_made_by_hand_has_the_defaults, setup, teardown),
        cmocka_unit_test(names_drop_what_only_says_that_something_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
