/* The SMs at the end of a workload's text: where they begin, what they may be, that they are the option apps.sms. */
#include "system/app_sms.h"

#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sms_are_digits_and_signs_behind_the_last_at_sign(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t programs;
        unsigned apps;
        const char *sms;
    } cases[] = {
        {"HS", 2, 1, NULL},
        {"HS,MM", 5, 2, NULL},
        {"HS,MM@20+10", 5, 2, "20+10"},
        {"HS:side=64,MM:m=1:n=2@20+10", 21, 2, "20+10"},
        {"HS@7", 2, 1, "7"},
        {"HS@", 2, 1, ""},
        {"@1+2", 0, 1, "1+2"},
        {"", 0, 1, NULL},
        /* Names of files. */
        {"bfs:graph=me@home/a.gr", 22, 1, NULL},
        {"bfs:graph=me@home/a.gr,HS@20+10", 25, 2, "20+10"},
        {"bfs:graph=a@20,HS", 17, 2, NULL},
        {"HS,MM@20-10", 11, 2, NULL},
        {"HS@20@10", 5, 1, "10"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_workload_text cut = pw_workload_cut(cases[i].text);
        assert_int_equal(cut.programs, cases[i].programs);
        assert_int_equal(cut.apps, cases[i].apps);
        if (cases[i].sms)
            assert_string_equal(cut.sms, cases[i].sms);
        else
            assert_null(cut.sms);
    }
}

static void numbers_are_checked_and_written_one_way(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sms, *message;
    } cases[] = {
        {"HS,MM", "", NULL},
        {"HS,MM@20+10", "20+10", NULL},
        {"HS,MM@020+1", "20+1", NULL},
        {"HS@30", "30", NULL},
        {"HS,MM@20", NULL, "workload 'HS,MM@20': there must be one number of SMs for each of 2 applications"},
        {"HS,MM@20+5+5", NULL, "for each of 2 applications"},
        {"HS,MM@", NULL, "for each of 2 applications"},
        {"HS,MM@+20+10", NULL, "for each of 2 applications"},
        {"HS,MM@20++10", NULL, "for each of 2 applications"},
        {"HS,MM@20+10+", NULL, "for each of 2 applications"},
        {"HS@20+10", NULL, "for each of 1 application, such as 10"},
        {"HS,MM@0+10", NULL, "workload 'HS,MM@0+10': every application needs at least one SM"},
        {"HS,MM@10+000", NULL, "at least one SM"},
        {"HS,MM@20+11", NULL, "workload 'HS,MM@20+11': more than the 30 SMs of this machine"},
        {"HS,MM@31+1", NULL, "more than the 30 SMs"},
        {"HS,MM@4294967295+4294967295", NULL, "more than the 30 SMs"},
        {"HS,MM@1+99999999999999999999", NULL, "more than the 30 SMs"},
        {"@20+10", NULL, "workload '@20+10': a name is missing before the '@'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sms[PW_APP_SMS_CAPACITY];
        struct pw_error err = {0};
        enum pw_status status = pw_workload_sms(cases[i].text, 30, sms, &err);
        assert_int_equal(status, cases[i].message ? PW_USER_ERROR : PW_OK);
        if (!cases[i].message)
            assert_string_equal(sms, cases[i].sms);
        else if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s", cases[i].text, err.message);
    }
}

static void as_many_applications_as_can_share_a_gpu_get_sms(void **state)
{
    (void)state;
    char text[8192] = "HS", sms[PW_APP_SMS_CAPACITY];
    struct pw_error err = {0};
    for (unsigned i = 1; i < PW_MAX_APPS; i++)
        strcat(text, ",HS");
    size_t programs = strlen(text);
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        strcat(text, i ? "+67108863" : "@67108863");
    assert_int_equal(pw_workload_sms(text, UINT32_MAX, sms, &err), PW_OK);
    assert_string_equal(sms, text + programs + 1);
    memmove(text + 3, text, strlen(text) + 1);
    memcpy(text, "HS,", 3);
    assert_int_equal(pw_workload_sms(text, UINT32_MAX, sms, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "at most 64 applications"));
}

static char *options_of(const char *machine, const char *workload, const char *set)
{
    char *options;
    struct pw_error err = {0};
    struct pw_run_spec spec = {.machine = machine, .workload = workload, .sets = &set, .set_count = set != NULL};
    if (pw_run_options(&spec, &options, &err) != PW_OK)
        fail_msg("%s: %s", workload, err.message);
    return options;
}

/* The same run, wherever they were given: the same options, and the same text. */
static void sms_of_a_workload_are_those_of_the_option(void **state)
{
    (void)state;
    static const char *const texts[] = {"HS,MM@20+10", "HS:side=64,MM@020+10"};
    char *set = options_of("mosaic", "HS,MM", "apps.sms=20+10"), *key;
    struct pw_error err = {0};
    assert_non_null(strstr(set, "\napps.sms=20+10\n"));
    for (size_t i = 0; i < 2; i++) {
        char *given = options_of("mosaic", texts[i], NULL);
        assert_string_equal(given, set);
        free(given);
    }
    free(set);
    assert_int_equal(pw_run_workload("HS:side=64,MM:scale=2@20+10", &key, &err), PW_OK);
    assert_string_equal(key, "HS:side=64,MM:scale=2");
    free(key);
    char *even = options_of("mosaic", "HS,MM", NULL);
    assert_non_null(strstr(even, "\napps.sms=even\n"));
    free(even);
}

static void sms_that_contradict_a_setting_are_refused(void **state)
{
    (void)state;
    static const char *const sets[] = {"apps.sms=10+20", "apps.sms=even", "apps.sms=20+10"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct pw_run_spec spec = {.workload = "HS,MM@20+10", .sets = &sets[i], .set_count = 1};
        struct pw_error err = {0};
        char *options;
        assert_int_equal(pw_run_options(&spec, &options, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "(@20+10), and so does --set apps.sms="));
        assert_null(options);
    }
    /* More than this machine has, whoever said how many these are. */
    struct pw_run_spec spec = {.workload = "HS,MM@20+10", .sets = (const char *[]){"sm.count=29"}, .set_count = 1};
    struct pw_error err = {0};
    char *options;
    assert_int_equal(pw_run_options(&spec, &options, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "more than the 29 SMs"));
}

static void sms_are_given_once_at_the_end(void **state)
{
    (void)state;
    static const char *const texts[] = {"HS@20,MM", "HS@20,MM@1+1", "HS,MM@20,10", "HS:side=64@20,MM", "HS@20@10"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pw_program programs[PW_MAX_APPS];
        struct pw_error err = {0};
        unsigned count;
        assert_int_equal(pw_run_programs(texts[i], programs, &count, &err), PW_USER_ERROR);
        if (!strstr(err.message, "are given once, at the end"))
            fail_msg("%s: %s", texts[i], err.message);
        while (count-- > 0)
            pw_program_release(&programs[count]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_are_digits_and_signs_behind_the_last_at_sign),
        cmocka_unit_test(numbers_are_checked_and_written_one_way),
        cmocka_unit_test(as_many_applications_as_can_share_a_gpu_get_sms),
        cmocka_unit_test(sms_of_a_workload_are_those_of_the_option),
        cmocka_unit_test(sms_that_contradict_a_setting_are_refused),
        cmocka_unit_test(sms_are_given_once_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
