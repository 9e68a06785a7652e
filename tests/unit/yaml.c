/* What of YAML is read, in which order and from which line; and everything that is refused. */
#include "sim/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Writes what is visited as "key=value@line;". */
struct record {
    char text[4096];
    const char *stop_at; /* key at which the visitor fails */
};

static enum pw_status visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    struct record *r = context;
    size_t used = strlen(r->text);
    snprintf(r->text + used, sizeof(r->text) - used, "%s=%s@%d;", key, value, line);
    if (r->stop_at && !strcmp(key, r->stop_at))
        return pw_fail(err, PW_USER_ERROR, "unknown option '%s'", key);
    return PW_OK;
}

static void accepted_files_are_flattened_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } table[] = {
        {"a: 1", "a=1@1;"},
        {"# comment\n\na: 1 # more\nb: two words\n", "a=1@3;b=two words@4;"},
        {"a:\n  b: 1\n  c:\n    d: 2\n  e: 3\nf: 4\n", "a.b=1@2;a.c.d=2@4;a.e=3@5;f=4@6;"},
        {"a.b: 1\na.c: 2\n", "a.b=1@1;a.c=2@2;"},
        {"a: {b: 1, c: {d: 2}, e: 3}", "a.b=1@1;a.c.d=2@1;a.e=3@1;"},
        {"a: \"\"\nb: ''\n", "a=@1;b=@2;"},
        {"a: \"x\\ty\"\n", "a=x\ty@1;"},
        {"a:\n  later\n", "a=later@1;"},
        {"a: {}\nb: 1\n", "b=1@2;"},
        {"{}", ""},
        {"---\na: 1\n...\n", "a=1@2;"},
        {"%YAML 1.1\n---\na: 1\n", "a=1@3;"},
        {"\xef\xbb\xbf"
         "a: 1\n",
         "a=1@1;"},
        {"a: 1\r\nb: 2\r\n", "a=1@1;b=2@2;"},
        {"a: >\n  folded\n  text\nb: |\n  lines\n", "a=folded text\n@1;b=lines\n@4;"},
        {"a: ~\nb: null\n", "a=~@1;b=null@2;"},
        {"a: {b: {c: {d: {e: {f: {g: {h: 1}}}}}}}\n", "a.b.c.d.e.f.g.h=1@1;"},
        {"x.a: {b: 1}\nx: {a.c: 2}\n", "x.a.b=1@1;x.a.c=2@2;"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct record r = {0};
        struct pw_error err = {0};
        if (pw_yaml_read_text(table[i].text, strlen(table[i].text), "f", visit, &r, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_string_equal(r.text, table[i].expected);
    }
}

#define LONG_KEY "k23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

static void refused_files_say_where_and_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } table[] = {
        {"", "f:1: the file is empty; it must be a map of options (key: value)"},
        {"# only\n# comments\n", "f:3: the file is empty; it must be a map of options (key: value)"},
        {"just words", "f:1: the file must be a map of options (key: value)"},
        {"---\n", "f:2: the file must be a map of options (key: value)"},
        {"- a\n- b\n", "f:1: lists are not accepted"},
        {"a: 1\nb: [1, 2]\n", "f:2: lists are not accepted"},
        {"a: 1\nb:\n  - 1\n", "f:3: lists are not accepted"},
        {"[a]: 1\n", "f:1: lists are not accepted"},
        {"{a: 1}: 2\n", "f:1: a map cannot be a key"},
        {"? {a: 1}\n: 2\n", "f:1: a map cannot be a key"},
        {"a: &x 1\n", "f:1: anchors are not accepted"},
        {"a: &x {b: 1}\n", "f:1: anchors are not accepted"},
        {"a: 1\nb: *x\n", "f:2: aliases are not accepted"},
        {"a: !!str 1\n", "f:1: tags are not accepted"},
        {"a: !x 1\n", "f:1: tags are not accepted"},
        {"a: !!map {b: 1}\n", "f:1: tags are not accepted"},
        {"a: 1\nb: 2\na: 3\n", "f:3: 'a' is given twice, first on line 1"},
        {"a:\n  b: 1\na.b: 2\n", "f:3: 'a.b' is given twice, first on line 2"},
        {"a: {b: 1}\nc: 1\na: {d: 1}\n", "f:3: 'a' is given twice, first on line 1"},
        {"a: 1\n---\nb: 2\n", "f:2: a second document is not accepted"},
        {"a:\nb: 1\n", "f:1: 'a' has no value"},
        {"a:\n  b:\n", "f:2: 'a.b' has no value"},
        {"a: 1\n\"\": 1\n", "f:2: a key must not be empty or hold a NUL"},
        {"\"a\\0b\": 1\n", "f:1: a key must not be empty or hold a NUL"},
        {"a:\n\n  \"x\\0y\"\n", "f:1: the value of 'a' holds a NUL"},
        {"a: \"x\\0y\"\n", "f:1: the value of 'a' holds a NUL"},
        {"a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}\n", "f:1: maps are nested more than 8 deep"},
        {LONG_KEY ":\n  " LONG_KEY ":\n    " LONG_KEY ": 1\n",
         "f:3: the key 'k23456789012345678901234567890123456789012345678901234567890…' is longer than 255 bytes"},
        {"a: 1\nb: \"open\n", "f:3: not valid YAML: found unexpected end of stream"},
        {"a: 1\n b: 2\n", "f:2: not valid YAML: mapping values are not allowed in this context"},
        {"a: {b: 1\n", "f:2: not valid YAML: did not find expected ',' or '}'"},
        {"a: 1\n\tb: 2\n", "f:2: not valid YAML: found a tab character that violates indentation"},
        {"a: 1\nb: \xff\n", "f:2: not valid YAML: invalid leading UTF-8 octet"},
        {"a: 1\nb: \x01\n", "f:2: not valid YAML: control characters are not allowed"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct record r = {0};
        struct pw_error err = {0};
        if (pw_yaml_read_text(table[i].text, strlen(table[i].text), "f", visit, &r, &err) != PW_USER_ERROR)
            fail_msg("accepted: %s", table[i].text);
        assert_string_equal(err.message, table[i].message);
    }
}

static void visitor_that_fails_stops_the_reading_and_gets_the_line(void **state)
{
    (void)state;
    struct record r = {.stop_at = "b.c"};
    struct pw_error err;
    static const char text[] = "a: 1\nb:\n  c: 2\nd: 3\n";
    assert_int_equal(pw_yaml_read_text(text, strlen(text), "dir/x.yaml", visit, &r, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "dir/x.yaml:3: unknown option 'b.c'");
    assert_string_equal(r.text, "a=1@1;b.c=2@3;");
    assert_int_equal(pw_yaml_read_text(text, strlen(text), "x", visit, &r, NULL), PW_USER_ERROR);
}

static enum pw_status count(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    (void)key;
    (void)value;
    (void)line;
    (void)err;
    ++*(size_t *)context;
    return PW_OK;
}

/* Sorted keys up to the size limit: the worst order for an unbalanced tree, and far too many for a linear search. */
static void files_at_the_size_limit_are_read_and_beyond_it_refused(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 20, LINE = 16, LINES = LIMIT / LINE };
    char *text = malloc(LIMIT + 2);
    for (int i = 0; i < LINES; i++)
        snprintf(text + i * LINE, LINE + 1, "k%08d: %4d\n", i, i % 10000);
    size_t visited = 0;
    struct pw_error err = {0};
    assert_int_equal(pw_yaml_read_text(text, LIMIT, "big", count, &visited, &err), PW_OK);
    assert_int_equal(visited, LINES);
    text[LIMIT] = '\n';
    visited = 0;
    assert_int_equal(pw_yaml_read_text(text, LIMIT + 1, "big", count, &visited, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "big: larger than 1 MiB");
    assert_int_equal(visited, 0);
    free(text);
}

static void files_are_read_and_missing_ones_named(void **state)
{
    (void)state;
    char path[] = "pagewalk-yaml-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: 1\nb: []\n", 11), 11);
    close(fd);
    struct record r = {0};
    struct pw_error err;
    char expected[128];
    assert_int_equal(pw_yaml_read_file(path, visit, &r, &err), PW_USER_ERROR);
    snprintf(expected, sizeof(expected), "%s:2: lists are not accepted", path);
    assert_string_equal(err.message, expected);
    assert_string_equal(r.text, "a=1@1;");
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(pw_yaml_read_file(path, visit, &r, &err), PW_OK);
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_int_equal(pw_yaml_read_file(path, visit, &r, &err), PW_USER_ERROR);
    snprintf(expected, sizeof(expected), "%s: larger than 1 MiB", path);
    assert_string_equal(err.message, expected);
    unlink(path);
    assert_int_equal(pw_yaml_read_file("no/such.yaml", visit, &r, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "no/such.yaml: cannot be opened: No such file or directory");
    assert_int_equal(pw_yaml_read_file(".", visit, &r, &err), PW_USER_ERROR);
    assert_string_equal(err.message, ".: is a folder; name a YAML file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_files_are_flattened_in_order),
        cmocka_unit_test(refused_files_say_where_and_why),
        cmocka_unit_test(visitor_that_fails_stops_the_reading_and_gets_the_line),
        cmocka_unit_test(files_at_the_size_limit_are_read_and_beyond_it_refused),
        cmocka_unit_test(files_are_read_and_missing_ones_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
