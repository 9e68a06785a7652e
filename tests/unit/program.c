/* "NAME:key=value:key=value": what is accepted, and what is said about the rest. */
#include "workload/runtime/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t number_of(const struct pw_program *p, const char *key)
{
    for (const struct pw_option *row = p->workload->parameters; row->name; row++)
        if (!strcmp(row->name, key)) {
            const char *at = (const char *)p->parameters + row->offset;
            uint32_t small;
            uint64_t large;
            memcpy(&small, at, sizeof small);
            if (row->type != PW_OPTION_BYTES)
                return small;
            memcpy(&large, at, sizeof large);
            return large;
        }
    fail_msg("no parameter %s", key);
    return 0;
}

static void keys_override_defaults_and_the_last_counts(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    assert_int_equal(pw_program_parse("gather", &p, &err), PW_OK);
    assert_string_equal(p.workload->name, "gather");
    assert_int_equal(number_of(&p, "ctas"), 256);
    assert_int_equal(number_of(&p, "iterations"), 4);
    assert_int_equal(number_of(&p, "table"), 256 << 20);
    assert_true(p.values);
    assert_true(p.scale == 1);
    assert_string_equal(p.text, "gather");
    pw_program_release(&p);
    pw_program_release(&p);

    const char *text = "gather:table=1GB:ctas=3:values=off:scale=0.5:ctas=7";
    assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
    assert_int_equal(number_of(&p, "ctas"), 7);
    assert_int_equal(number_of(&p, "table"), 1 << 30);
    assert_int_equal(number_of(&p, "warps"), 8);
    assert_false(p.values);
    assert_true(p.scale == 0.5);
    assert_string_equal(p.text, text);
    pw_program_release(&p);

    assert_int_equal(pw_program_parse("pointer_chase:order=stride", &p, &err), PW_OK);
    assert_int_equal(number_of(&p, "order"), 1);
    pw_program_release(&p);
}

static void every_workload_parses_with_its_defaults_and_is_found_by_name(void **state)
{
    (void)state;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        struct pw_program p;
        struct pw_error err;
        assert_int_equal(pw_program_parse((*w)->name, &p, &err), PW_OK);
        assert_ptr_equal(p.workload, *w);
        assert_true(strlen((*w)->summary) > 10 && strlen((*w)->suite) >= 3);
        pw_program_release(&p);
    }
    assert_null(pw_workload_find("hs "));
    assert_null(pw_workload_find(""));
}

static void mistakes_are_user_errors_that_say_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } table[] = {
        {"vecad", "unknown workload 'vecad'; did you mean vecadd?"},
        {"hs", "unknown workload 'hs'; did you mean HS?"},
        {"srad_v1", "unknown workload 'srad_v1'; it is called SRAD here"},
        {"srad_v2", "unknown workload 'srad_v2'; it is called srad here"},
        {"srad_v3", "unknown workload 'srad_v3'; `pagewalk list workloads` names them"},
        {"", "unknown workload ''; `pagewalk list workloads` names them"},
        {"nothing_like_it", "unknown workload 'nothing_like_it'; `pagewalk list workloads` names them"},
        {"HS:sise=5", "workload HS has no parameter 'sise'; did you mean side? (it has side iterations pyramid values "
                      "scale instructions)"},
        {"HS:valeus=off", "workload HS has no parameter 'valeus'; did you mean values? (it has side iterations pyramid "
                          "values scale instructions)"},
        {"HS:q=1", "workload HS has no parameter 'q' (it has side iterations pyramid values scale instructions)"},
        {"hotspot:instructions=1",
         "workload hotspot has no parameter 'instructions' (it has side iterations pyramid code "
         "values scale)"},
        {"HS:side", "workload HS: 'side' is not key=value"},
        {"HS:", "workload HS: a parameter is missing beside a ':'; give key=value there, or leave the ':' out"},
        {"HS::", "workload HS: a parameter is missing beside a ':'; give key=value there, or leave the ':' out"},
        {"HS::side=64", "workload HS: a parameter is missing beside a ':'; give key=value there, or leave the ':' out"},
        {"HS:side=64:", "workload HS: a parameter is missing beside a ':'; give key=value there, or leave the ':' out"},
        {"HS:size=none::side=64",
         "workload HS: a parameter is missing beside a ':'; give key=value there, or leave the ':' out"},
        {"bfs:graph=", "workload bfs: graph has no value; give one, or leave graph= out"},
        {"HS:=3", "workload HS: '=3' is not key=value"},
        {"bfs:graph=a:b.gr",
         "workload bfs: 'b.gr' is not key=value; a ':' separates parameters, so no value can hold one"},
        {"b.gr", "unknown workload 'b.gr'; a ',' separates workloads, so no value can hold one"},
        {"BFS2:values=off", "workload BFS2: its addresses depend on its data, so it needs values=on"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pw_program p;
        struct pw_error err;
        assert_int_equal(pw_program_parse(table[i].text, &p, &err), PW_USER_ERROR);
        assert_string_equal(err.message, table[i].message);
        assert_null(p.parameters);
    }
}

/* The limit on passes: its value, and whether it is listed. */
static uint32_t limit_of(const char *text, bool *out_listed)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_option_view view;
    if (pw_program_parse(text, &p, &err))
        fail_msg("%s: %s", text, err.message);
    uint32_t limit = p.instructions;
    *out_listed = false;
    for (size_t i = 0; pw_program_parameter(&p, i, &view); i++)
        *out_listed |= !strcmp(view.name, "instructions");
    pw_program_release(&p);
    return limit;
}

static void a_given_number_of_passes_is_not_cut(void **state)
{
    (void)state;
    bool listed;
    uint32_t usual = limit_of("RED", &listed);
    assert_true(usual > 1000000 && listed);
    assert_int_equal(limit_of("RED:bytes=1MB:scale=0.5", &listed), usual);
    assert_int_equal(limit_of("TRD", &listed), usual);
    assert_int_equal(limit_of("RED:iterations=3", &listed), 0);
    assert_true(listed);
    assert_int_equal(limit_of("TRD:passes=2", &listed), 0);
    assert_int_equal(limit_of("CFD:size=table", &listed), 0); /* the size says how many */
    assert_int_equal(limit_of("TRD:size=table", &listed), usual);
    assert_int_equal(limit_of("RED:iterations=3:instructions=5k", &listed), 5000);
    assert_int_equal(limit_of("RED:instructions=7:iterations=3", &listed), 7);
    assert_int_equal(limit_of("RED:instructions=0", &listed), 0);
    /* Without passes, or with passes that are never cut, there is no such parameter. */
    assert_int_equal(limit_of("NN", &listed), 0);
    assert_false(listed);
    assert_int_equal(limit_of("hotspot:iterations=9", &listed), 0);
    assert_false(listed);
}

/* `passes` names a parameter, which counts. */
static void passes_are_counted_by_a_parameter(void **state)
{
    (void)state;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        const struct pw_option *row = (*w)->parameters;
        while ((*w)->passes && row->name && strcmp(row->name, (*w)->passes) != 0)
            row++;
        if ((*w)->passes && (!row->name || row->type != PW_OPTION_COUNT))
            fail_msg("%s: %s counts no passes", (*w)->name, (*w)->passes);
    }
}

static void a_text_may_be_a_path(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    struct pw_option_view view = {0};
    assert_int_equal(pw_program_parse("bfs:graph=../some-where/a graph=1.v2_x.gr:degree=3", &p, &err), PW_OK);
    for (size_t i = 0; strcmp(view.name, "graph") != 0; i++)
        assert_true(pw_program_parameter(&p, i, &view));
    assert_string_equal(view.value, "../some-where/a graph=1.v2_x.gr");
    pw_program_release(&p);
}

static void wrong_values_name_the_workload_and_the_key(void **state)
{
    (void)state;
    static const char *const texts[] = {"HS:side=abc",
                                        "HS:side=0",
                                        "HS:side=-1",
                                        "HS:pyramid=8",
                                        "gather:locality=1.5",
                                        "gather:table=3",
                                        "pointer_chase:order=backwards",
                                        "vecadd:scale=0",
                                        "vecadd:warps=33",
                                        "vecadd:values=maybe"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pw_program p;
        struct pw_error err;
        assert_int_equal(pw_program_parse(texts[i], &p, &err), PW_USER_ERROR);
        char name[64], key[64];
        assert_int_equal(sscanf(texts[i], "%63[^:]:%63[^=]", name, key), 2);
        assert_non_null(strstr(err.message, name));
        assert_non_null(strstr(err.message, key));
    }
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    struct pw_program p;
    struct pw_error err;
    assert_int_equal(pw_program_parse(longest, &p, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "longer than 255"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_override_defaults_and_the_last_counts),
        cmocka_unit_test(every_workload_parses_with_its_defaults_and_is_found_by_name),
        cmocka_unit_test(mistakes_are_user_errors_that_say_what_to_do),
        cmocka_unit_test(a_given_number_of_passes_is_not_cut),
        cmocka_unit_test(passes_are_counted_by_a_parameter),
        cmocka_unit_test(a_text_may_be_a_path),
        cmocka_unit_test(wrong_values_name_the_workload_and_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
