/* What the table of effects says of TLBs whose arrays are organised differently, for every combination of
 * organisations, page sizes and sizes of arrays, against what follows from which arrays there are. */
#include "system/effect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct combination {
    const char *organisation, *large, *size, *coalesce, *as_base, *paging;
};

static struct pw_options *options_of(const char *tlb, const struct combination *c)
{
    static struct pw_config config;
    struct pw_options *o;
    struct pw_error err;
    assert_int_equal(pw_config_create(&config, &o, &err), PW_OK);
    const char *const pairs[][2] = {{"organisation", c->organisation}, {"large_organisation", c->large},
                                    {"large_as_base", c->as_base},     {"page.size", c->size},
                                    {"coalesce.policy", c->coalesce},  {"paging.mode", c->paging}};
    for (unsigned i = 0; i < 6; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", i < 3 ? tlb : "", i < 3 ? "." : "", pairs[i][0]);
        assert_int_equal(pw_options_set(o, name, pairs[i][1], "test", &err), PW_OK);
    }
    return o;
}

static void assert_effect(const struct pw_options *o, const char *tlb, const char *option, bool expected)
{
    char name[64], values[256];
    snprintf(name, sizeof name, "%s%s%s", tlb, *tlb ? "." : "", option);
    const struct pw_effect_rule *rule = pw_effect_broken_rule(o, 1, name, false);
    if ((rule == NULL) == expected)
        return;
    values[0] = '\0';
    if (rule)
        pw_effect_reason(rule, o, 1, values, sizeof values);
    fail_msg("%s is said to have %s effect: %s", name, rule ? "no" : "an", values);
}

static void check(const char *tlb, const struct combination *c)
{
    struct pw_options *o = options_of(tlb, c);
    bool base = strcmp(c->size, "2MB") != 0, large = !base || strcmp(c->coalesce, "none") != 0;
    bool same = !strcmp(c->large, "same"), as_base = !strcmp(c->as_base, "on");
    bool base_finite = base && strcmp(c->organisation, "ideal") != 0;
    bool large_finite = large && strcmp(same ? c->organisation : c->large, "ideal") != 0;
    bool misses = base_finite || large_finite || !strcmp(c->paging, "demand");
    assert_effect(o, tlb, "organisation", base || (large && same));
    assert_effect(o, tlb, "organisation.replacement", base || (large && same));
    assert_effect(o, tlb, "large_organisation", large);
    assert_effect(o, tlb, "large_organisation.replacement", large);
    assert_effect(o, tlb, "base_entries", base_finite || (large_finite && as_base));
    assert_effect(o, tlb, "base_ways", base_finite || (large_finite && as_base));
    assert_effect(o, tlb, "base_subpages", base_finite);
    assert_effect(o, tlb, "large_entries", large_finite && !as_base);
    assert_effect(o, tlb, "large_ways", large_finite && !as_base);
    assert_effect(o, tlb, "large_subpages", large_finite);
    assert_effect(o, tlb, "large_as_base", large_finite);
    assert_effect(o, "", "walk.walkers", misses);
    if (!strcmp(tlb, "l1_tlb")) {
        assert_effect(o, "", "l1_tlb.mshrs", misses);
        assert_effect(o, "", "l2_tlb.latency", misses);
    }
    pw_options_destroy(o);
}

static void options_matter_where_an_array_that_is_not_ideal_is_there(void **state)
{
    (void)state;
    static const char *const organisations[] = {"plain", "ideal"}, *const larges[] = {"same", "plain", "ideal"};
    static const char *const pages[][2] = {{"4KB", "none"}, {"4KB", "in-place"}, {"64KB", "none"}, {"2MB", "none"}};
    static const char *const switches[] = {"off", "on"}, *const modes[] = {"free", "demand"};
    static const char *const tlbs[] = {"l1_tlb", "l2_tlb"};
    for (unsigned i = 0; i < 2 * 3 * 4 * 2 * 2 * 2; i++) {
        struct combination c = {organisations[i % 2], larges[i / 2 % 3],    pages[i / 6 % 4][0],
                                pages[i / 6 % 4][1],  switches[i / 24 % 2], modes[i / 48 % 2]};
        check(tlbs[i / 96 % 2], &c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_matter_where_an_array_that_is_not_ideal_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
