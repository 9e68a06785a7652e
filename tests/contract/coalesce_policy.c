/* What every coalescing policy must do, over all that it can be shown of a region, and what each one is defined to
 * do. */
#include "policy/coalesce/coalesce_policy.h"

#include "policies.h"

#include <string.h>

enum { REGION_PAGES = 1 << PW_PAGE_2M, FLAGS = 8 };

/* An instance of a policy. */
struct subject {
    const struct pw_coalesce_policy *policy;
    const char *name;
    struct pw_policy_use use;
    void *state;
};

/* False behind the last policy. */
static bool open_subject(size_t index, struct subject *out)
{
    const struct pw_policy *head = pw_coalesce_family.policies[index];
    if (!head)
        return false;
    out->policy = pw_coalesce_policy_of(head);
    out->name = head->name;
    out->state = policy_instance(&out->use, &pw_coalesce_family, head, NULL);
    return true;
}

static void close_subject(struct subject *s)
{
    pw_policy_use_release(&s->use);
}

static bool remembers(const struct subject *s)
{
    return s->policy->head.state_bytes || s->policy->head.more_bytes;
}

static bool wants(const struct subject *s, const struct pw_coalesce_view *view)
{
    struct pw_coalesce_view before = *view;
    bool answer = s->policy->wants(s->state, view);
    assert_memory_equal(view, &before, sizeof before);
    return answer;
}

static const uint64_t utilisations[] = {0, 1, 2, 63, 64, 100000, UINT64_MAX};
enum { UTILISATIONS = sizeof utilisations / sizeof utilisations[0] };

static struct pw_coalesce_view view_of(unsigned allocated, unsigned flags, uint64_t utilisation)
{
    struct pw_coalesce_view view;
    memset(&view, 0, sizeof view);
    view.allocated = allocated;
    view.contiguous = flags & 1;
    view.aligned = flags & 2;
    view.one_space = flags & 4;
    view.utilisation = utilisation;
    return view;
}

typedef void visit(const struct subject *s, unsigned allocated, unsigned flags, size_t used);

/* Everything that a policy can be asked, by a policy that coalesces at all. */
static void for_each_view(visit *check)
{
    struct subject s;
    for (size_t i = 0; open_subject(i, &s); i++) {
        for (unsigned allocated = 0; s.policy->wants && allocated <= REGION_PAGES; allocated++)
            for (unsigned flags = 0; flags < FLAGS; flags++)
                for (size_t used = 0; used < UTILISATIONS; used++)
                    check(&s, allocated, flags, used);
        close_subject(&s);
    }
}

/* Nobody asks it, so there is nothing to tally for it, and no occasion on which to ask. */
static void a_policy_that_never_coalesces_asks_for_nothing(void **state)
{
    (void)state;
    struct subject s;
    for (size_t i = 0; open_subject(i, &s); i++) {
        if (!s.policy->wants)
            assert_false(s.policy->in_place || s.policy->tallies);
        close_subject(&s);
    }
}

static void check_whole(const struct subject *s, unsigned allocated, unsigned flags, size_t used)
{
    struct pw_coalesce_view view = view_of(allocated, flags, utilisations[used]);
    if (!wants(s, &view))
        return;
    if (allocated != REGION_PAGES)
        fail_msg("%s wants a region with %u pages", s->name, allocated);
    if (s->policy->in_place && flags != FLAGS - 1)
        fail_msg("%s wants a region in place that does not lie in a large frame of its own", s->name);
}

static void only_whole_regions_are_wanted_and_in_place_only_what_lies_right(void **state)
{
    (void)state;
    for_each_view(check_whole);
}

/* Two instances that are asked the same, view after view, answer the same. */
static void every_policy_repeats_itself(void **state)
{
    (void)state;
    struct subject s, other;
    for (size_t i = 0; open_subject(i, &s); i++) {
        assert_true(open_subject(i, &other));
        for (unsigned n = 0; s.policy->wants && n < (REGION_PAGES + 1) * FLAGS * UTILISATIONS; n++) {
            struct pw_coalesce_view view =
                view_of(n / UTILISATIONS / FLAGS, n / UTILISATIONS % FLAGS, utilisations[n % UTILISATIONS]);
            assert_int_equal(wants(&s, &view), wants(&other, &view));
        }
        close_subject(&other);
        close_subject(&s);
    }
}

static void check_use(const struct subject *s, unsigned allocated, unsigned flags, size_t used)
{
    struct pw_coalesce_view less = view_of(allocated, flags, utilisations[used ? used - 1 : 0]);
    struct pw_coalesce_view more = view_of(allocated, flags, utilisations[used]);
    bool wants_less = wants(s, &less), wants_more = wants(s, &more);
    if (remembers(s))
        return;
    if (wants_less && !wants_more)
        fail_msg("%s wants a region used %llu times and not one used more", s->name,
                 (unsigned long long)less.utilisation);
    if (!s->policy->tallies && wants_less != wants_more)
        fail_msg("%s looks at a utilisation that is not tallied", s->name);
}

/* Of a policy that remembers nothing. */
static void a_region_that_is_used_more_is_not_wanted_less_and_use_matters_only_where_it_is_tallied(void **state)
{
    (void)state;
    for_each_view(check_use);
}

/* What the paper says of each (Mosaic, Section 4.3); a policy that is not here has to pass the tests above. */
static void check_definition(const struct subject *s, unsigned allocated, unsigned flags, size_t used)
{
    struct pw_coalesce_view view = view_of(allocated, flags, utilisations[used]);
    if (!strcmp(s->name, "in-place"))
        assert_int_equal(wants(s, &view), allocated == REGION_PAGES && flags == FLAGS - 1);
    if (!strcmp(s->name, "migrating"))
        assert_int_equal(wants(s, &view), allocated == REGION_PAGES && used > 0);
}

static void each_policy_wants_what_it_is_defined_to_want(void **state)
{
    (void)state;
    struct subject s;
    unsigned found = 0;
    for (size_t i = 0; open_subject(i, &s); i++) {
        bool never = !strcmp(s.name, "none"), in_place = !strcmp(s.name, "in-place");
        bool migrating = !strcmp(s.name, "migrating");
        found += never || in_place || migrating;
        if (never || in_place || migrating)
            assert_true(!s.policy->wants == never && s.policy->in_place == in_place && s.policy->tallies == migrating);
        close_subject(&s);
    }
    assert_int_equal(found, 3);
    for_each_view(check_definition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_never_coalesces_asks_for_nothing),
        cmocka_unit_test(only_whole_regions_are_wanted_and_in_place_only_what_lies_right),
        cmocka_unit_test(every_policy_repeats_itself),
        cmocka_unit_test(a_region_that_is_used_more_is_not_wanted_less_and_use_matters_only_where_it_is_tallied),
        cmocka_unit_test(each_policy_wants_what_it_is_defined_to_want),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
