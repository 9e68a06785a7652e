/* What every compaction policy must do, for every number of pages that are left and every threshold, and what each one
 * is defined to do. */
#include "policy/compact/compact_policy.h"

#include "policies.h"

#include <string.h>

enum { REGION_PAGES = 1 << PW_PAGE_2M };

/* An instance of a policy. */
struct subject {
    const struct pw_compact_policy *policy;
    const char *name;
    struct pw_policy_use use;
    void *state;
};

/* False behind the last policy. */
static bool open_subject(size_t index, struct subject *out)
{
    const struct pw_policy *head = pw_compact_family.policies[index];
    if (!head)
        return false;
    out->policy = pw_compact_policy_of(head);
    out->name = head->name;
    out->state = policy_instance(&out->use, &pw_compact_family, head, NULL);
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

static bool splinters(const struct subject *s, unsigned allocated, unsigned threshold)
{
    struct pw_compact_view view;
    memset(&view, 0, sizeof view);
    view.allocated = allocated;
    view.threshold = threshold;
    struct pw_compact_view before = view;
    bool answer = s->policy->splinter(s->state, &view);
    assert_memory_equal(&view, &before, sizeof before);
    return answer;
}

typedef void visit(const struct subject *s, unsigned allocated, unsigned threshold);

/* Everything that a policy can be asked, by a policy that looks at coalesced pages at all. */
static void for_each_question(visit *check)
{
    struct subject s;
    for (size_t i = 0; open_subject(i, &s); i++) {
        for (unsigned allocated = 0; s.policy->splinter && allocated <= REGION_PAGES; allocated++)
            for (unsigned threshold = 0; threshold <= REGION_PAGES; threshold++)
                check(&s, allocated, threshold);
        close_subject(&s);
    }
}

/* Two instances that are asked the same, question after question, answer the same. */
static void every_policy_repeats_itself(void **state)
{
    (void)state;
    struct subject s, other;
    for (size_t i = 0; open_subject(i, &s); i++) {
        assert_true(open_subject(i, &other));
        for (unsigned allocated = 0; s.policy->splinter && allocated <= REGION_PAGES; allocated++)
            for (unsigned threshold = 0; threshold <= REGION_PAGES; threshold++)
                assert_int_equal(splinters(&s, allocated, threshold), splinters(&other, allocated, threshold));
        close_subject(&other);
        close_subject(&s);
    }
}

/* What the option compact.threshold promises; a full page is therefore never splintered. */
static void check_threshold(const struct subject *s, unsigned allocated, unsigned threshold)
{
    if (allocated >= threshold && splinters(s, allocated, threshold))
        fail_msg("%s splinters a page with %u pages at a threshold of %u", s->name, allocated, threshold);
}

static void a_page_with_as_many_pages_as_the_threshold_stays(void **state)
{
    (void)state;
    for_each_question(check_threshold);
}

static void check_monotone(const struct subject *s, unsigned allocated, unsigned threshold)
{
    if (remembers(s) || !splinters(s, allocated, threshold))
        return;
    if (allocated && !splinters(s, allocated - 1, threshold))
        fail_msg("%s splinters a page with %u pages and not one with fewer", s->name, allocated);
    if (threshold < REGION_PAGES && !splinters(s, allocated, threshold + 1))
        fail_msg("%s splinters a page with %u pages at %u and not at a higher threshold", s->name, allocated,
                 threshold);
}

/* Of a policy that remembers nothing. */
static void a_page_with_fewer_pages_or_a_higher_threshold_does_not_stay_instead(void **state)
{
    (void)state;
    for_each_question(check_monotone);
}

/* What the paper says of each (Mosaic, Section 4.4); a policy that is not here has to pass the tests above. */
static void check_definition(const struct subject *s, unsigned allocated, unsigned threshold)
{
    if (!strcmp(s->name, "contiguity-aware"))
        assert_int_equal(splinters(s, allocated, threshold), allocated < threshold);
}

static void each_policy_splinters_what_it_is_defined_to_splinter(void **state)
{
    (void)state;
    struct subject s;
    unsigned found = 0;
    for (size_t i = 0; open_subject(i, &s); i++) {
        bool none = !strcmp(s.name, "none"), contiguity_aware = !strcmp(s.name, "contiguity-aware");
        found += none || contiguity_aware;
        if (none || contiguity_aware)
            assert_true(!s.policy->splinter == none && s.policy->makes_room == contiguity_aware);
        close_subject(&s);
    }
    assert_int_equal(found, 2);
    for_each_question(check_definition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_repeats_itself),
        cmocka_unit_test(a_page_with_as_many_pages_as_the_threshold_stays),
        cmocka_unit_test(a_page_with_fewer_pages_or_a_higher_threshold_does_not_stay_instead),
        cmocka_unit_test(each_policy_splinters_what_it_is_defined_to_splinter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
