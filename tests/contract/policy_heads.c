/* What the head of every policy must have, whatever its family: a name of its own and one line of summary. */
#include "policy/families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_policy_has_a_name_of_its_own_and_one_line_of_summary(void **state)
{
    (void)state;
    assert_non_null(pw_families[0]);
    for (size_t f = 0; pw_families[f]; f++) {
        const struct pw_policy *const *policies = pw_families[f]->policies;
        assert_non_null(policies[0]);
        for (size_t i = 0; policies[i]; i++) {
            if (!policies[i]->name || !*policies[i]->name || strpbrk(policies[i]->name, " \n="))
                fail_msg("%s: a policy has no name that can be given on the command line", pw_families[f]->name);
            if (!policies[i]->summary || !*policies[i]->summary || strchr(policies[i]->summary, '\n'))
                fail_msg("%s: %s has no summary of one line", pw_families[f]->name, policies[i]->name);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(policies[k]->name, policies[i]->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_has_a_name_of_its_own_and_one_line_of_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
