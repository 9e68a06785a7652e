/* The version of a run changes with the policies that its options choose and the programs that it runs, and with
 * nothing else. */
#include "system/version.h"

#include "policy/families.h"
#include "system/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *effective_options(void)
{
    char *options;
    assert_int_equal(pw_run_options(&(struct pw_run_spec){0}, &options, NULL), PW_OK);
    return options;
}

/* The options with another value of one of them, which they have. */
static char *with(const char *options, const char *name, const char *value)
{
    char key[112], *out;
    snprintf(key, sizeof key, "%s=", name);
    const char *at = options;
    while (*at && strncmp(at, key, strlen(key)) != 0)
        at += strcspn(at, "\n") + 1;
    if (!*at)
        fail_msg("there is no option %s", name);
    const char *rest = at + strcspn(at, "\n");
    assert_true(asprintf(&out, "%.*s%s%s%s", (int)(at - options), options, key, value, rest) > 0);
    return out;
}

static void version_of(const char *options, const char *workload, char out[PW_RUN_VERSION_CAPACITY])
{
    struct pw_error err = {0};
    if (pw_run_version(options, workload, out, &err) != PW_OK)
        fail_msg("%s: %s", workload, err.message);
}

static void an_option_changes_it_if_it_chooses_a_policy(void **state)
{
    (void)state;
    static const struct {
        const char *option, *one, *other;
        bool differs;
    } cases[] = {
        {"sm.schedule", "gto", "rr", true},
        {"l1_tlb.organisation", "plain", "ideal", true},
        {"l2_tlb.organisation", "plain", "ideal", true},
        {"l2_tlb.large_organisation", "same", "ideal", true},
        {"page.frames", "first-free", "contiguity", true},
        {"coalesce.policy", "none", "in-place", true},
        {"compact.policy", "none", "contiguity-aware", true},
        {"uvm.prefetch", "none", "tbn", true},
        {"uvm.prefetch_full", "none", "tbn", true},
        {"uvm.prefetch_full", "same", "tbn", true},
        {"uvm.evict", "lru4k", "nvidia", true},
        {"dram.schedule", "fcfs", "fr-fcfs", true},
        {"sm.count", "30", "15", false},
        {"walk.model", "memory", "fixed", false},
        {"apps.sms", "even", "20+10", false},
    };
    char *options = effective_options();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char one[PW_RUN_VERSION_CAPACITY], other[PW_RUN_VERSION_CAPACITY];
        char *first = with(options, cases[i].option, cases[i].one);
        char *second = with(options, cases[i].option, cases[i].other);
        version_of(first, "HS", one);
        version_of(second, "HS", other);
        if ((strcmp(one, other) != 0) != cases[i].differs)
            fail_msg("%s: %s is %s, %s is %s", cases[i].option, cases[i].one, one, cases[i].other, other);
        free(first);
        free(second);
    }
    free(options);
}

/* Whether an option of this name chooses from the family: then each of its policies makes another version, and what is
 * none of them makes none. */
static bool chooses(const char *options, const char *name, const struct pw_policy_family *family)
{
    size_t count = 0;
    char versions[64][PW_RUN_VERSION_CAPACITY];
    for (; family->policies[count] && count < 64; count++) {
        char *chosen = with(options, name, family->policies[count]->name);
        bool known = pw_run_version(chosen, "HS", versions[count], NULL) == PW_OK;
        free(chosen);
        for (size_t i = 0; known && i < count; i++)
            known = strcmp(versions[i], versions[count]) != 0;
        if (!known)
            return false;
    }
    char *wrong = with(options, name, "absent"), version[PW_RUN_VERSION_CAPACITY];
    bool refused = pw_run_version(wrong, "HS", version, NULL) != PW_OK;
    free(wrong);
    return refused;
}

static bool is_chosen(const char *options, const struct pw_policy_family *family)
{
    for (const char *at = options; *at; at += strcspn(at, "\n") + 1) {
        char name[96];
        if (sscanf(at, "%95[^=]=", name) == 1 && chooses(options, name, family))
            return true;
    }
    return false;
}

static void every_family_has_an_option_that_changes_it(void **state)
{
    (void)state;
    char *options = effective_options();
    for (const struct pw_policy_family *const *f = pw_families; *f; f++)
        if (!is_chosen(options, *f))
            fail_msg("no option that the version of a run looks at chooses from %s", (*f)->name);
    free(options);
}

static void programs_change_it_and_their_parameters_do_not(void **state)
{
    (void)state;
    char *options = effective_options();
    char hs[PW_RUN_VERSION_CAPACITY], other[PW_RUN_VERSION_CAPACITY];
    version_of(options, "HS", hs);
    static const char *const same[] = {"HS:side=64", "HS:side=64 #0123456789abcdef"};
    static const char *const different[] = {"hotspot", "vecadd", "HS,HS", "HS,vecadd", "vecadd:n=1k,HS"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        version_of(options, same[i], other);
        assert_string_equal(other, hs);
    }
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        version_of(options, different[i], other);
        assert_string_not_equal(other, hs);
    }
    for (size_t i = 0; pw_workloads[i]; i++)
        version_of(options, pw_workloads[i]->name, other);
    assert_memory_equal(hs, pw_mechanisms_version(), 12);
    assert_int_equal(strlen(hs), 12 + 1 + 16);
    free(options);
}

static void what_has_no_version_is_an_error(void **state)
{
    (void)state;
    struct pw_error err = {0};
    char version[PW_RUN_VERSION_CAPACITY], *options = effective_options();
    char *wrong = with(options, "sm.schedule", "absent");
    assert_int_equal(pw_run_version(wrong, "HS", version, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "'absent'"));
    assert_int_equal(pw_run_version(options, "HS,absent:n=1", version, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "'absent'"));
    free(wrong);
    free(options);
}

static void programs_that_read_files_say_how_those_are_digested(void **state)
{
    (void)state;
    size_t readers = 0;
    for (size_t i = 0; pw_workloads[i]; i++) {
        bool reads = false;
        for (const struct pw_option *row = pw_workloads[i]->parameters; row->name; row++)
            reads |= strcmp(row->unit, "file") == 0;
        assert_int_equal(reads, pw_workloads[i]->digest_file != NULL);
        readers += reads;
    }
    assert_true(readers > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_changes_it_if_it_chooses_a_policy),
        cmocka_unit_test(every_family_has_an_option_that_changes_it),
        cmocka_unit_test(programs_change_it_and_their_parameters_do_not),
        cmocka_unit_test(what_has_no_version_is_an_error),
        cmocka_unit_test(programs_that_read_files_say_how_those_are_digested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
