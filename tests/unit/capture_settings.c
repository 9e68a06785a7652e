/* Options of the recorder: what is understood, what is refused and with which words, and that the library inside the
 * recorded process reads what the command wrote. */
#include "capture/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WORDS = 24 };

/* Words separated by blanks. */
static enum pw_status parse(const char *line, struct pw_capture_settings *s, int *used, struct pw_error *err)
{
    static char buffer[1024];
    char *words[MAX_WORDS];
    int count = 0;
    snprintf(buffer, sizeof buffer, "%s", line);
    for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    pw_capture_settings_init(s);
    return pw_capture_settings_parse(s, count, words, used, err);
}

static void defaults_record_everything(void **state)
{
    (void)state;
    struct pw_capture_settings s;
    struct pw_error err;
    int used;
    assert_int_equal(parse("-o t.pwt -- ./a -o b", &s, &used, &err), PW_OK);
    assert_int_equal(used, 3);
    assert_string_equal(s.output, "t.pwt");
    assert_null(s.kernels);
    assert_int_equal(s.skip, 0);
    assert_true(s.count == UINT64_MAX);
    assert_int_equal(s.sample, 1);
    assert_int_equal(s.limit, 0);
    assert_true(s.shared && !s.compare && !s.help && !s.names);
}

static void the_program_may_follow_without_dashes(void **state)
{
    (void)state;
    struct pw_capture_settings s;
    struct pw_error err;
    int used;
    assert_int_equal(parse("--no-shared -o t ./a --skip 3", &s, &used, &err), PW_OK);
    assert_int_equal(used, 3);
    assert_int_equal(s.skip, 0);
    assert_false(s.shared);
}

static void numbers_and_sizes_have_units(void **state)
{
    (void)state;
    struct pw_capture_settings s;
    struct pw_error err;
    int used;
    assert_int_equal(parse("-o t --skip 7 --count 0 --ctas 1/64 --limit 3G --ring 1M --", &s, &used, &err), PW_OK);
    assert_int_equal(s.skip, 7);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.sample, 64);
    assert_true(s.limit == 3ULL << 30);
    assert_int_equal(s.ring, 1 << 20);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"--", "no file to write"},
        {"-o", "-o needs a value"},
        {"-o t --kernel x", "unknown option --kernel"},
        {"-o t --skip", "--skip needs a value"},
        {"-o t --skip -1", "'-1' is not a whole number"},
        {"-o t --skip 5x", "'5x' is not a whole number"},
        {"-o t --skip 99999999999999999999", "is not a whole number"},
        {"-o t --limit 17179869184G", "is not a size"},
        {"-o t --ctas 64", "'64' is not 1/N"},
        {"-o t --ctas 1/0", "'1/0' is not 1/N"},
        {"-o t --ctas 1/1048577", "is not 1/N"},
        {"-o t --kernels (", "--kernels: '('"},
        {"-o t --ring 65537", "not a power of two"},
        {"-o t --ring 32K", "not a power of two from 64K"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_capture_settings s;
        struct pw_error err;
        int used;
        assert_int_equal(parse(cases[i].line, &s, &used, &err), PW_USER_ERROR);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s: '%s' is not in: %s", cases[i].line, cases[i].says, err.message);
    }
}

static void the_library_reads_what_the_command_wrote(void **state)
{
    (void)state;
    struct pw_capture_settings s, back;
    struct pw_error err;
    char text[512];
    int used;
    assert_int_equal(
        parse("-o t.pwt --kernels ^(add|mul)_ --skip 3 --count 9 --ctas 1/7 --limit 2M --no-shared --paused --names --",
              &s, &used, &err),
        PW_OK);
    s.program = "./a  --ctas 1/9";
    assert_int_equal(pw_capture_settings_write(&s, text, sizeof text, &err), PW_OK);
    assert_int_equal(pw_capture_settings_read(&back, text, &err), PW_OK);
    assert_string_equal(back.output, "t.pwt");
    assert_string_equal(back.kernels, "^(add|mul)_");
    assert_string_equal(back.program, s.program);
    assert_int_equal(back.skip, 3);
    assert_int_equal(back.count, 9);
    assert_int_equal(back.sample, 7);
    assert_int_equal(back.limit, 2 << 20);
    assert_int_equal(back.ring, s.ring);
    assert_false(back.shared);
    assert_true(back.paused && back.names);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct pw_capture_settings s;
    struct pw_error err;
    char text[40];
    int used;
    assert_int_equal(parse("-o t.pwt --", &s, &used, &err), PW_OK);
    assert_int_equal(pw_capture_settings_write(&s, text, sizeof text, &err), PW_USER_ERROR);
    s.output = "a\nb";
    char longer[512];
    assert_int_equal(pw_capture_settings_write(&s, longer, sizeof longer, &err), PW_USER_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_record_everything),
        cmocka_unit_test(the_program_may_follow_without_dashes),
        cmocka_unit_test(numbers_and_sizes_have_units),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_library_reads_what_the_command_wrote),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
