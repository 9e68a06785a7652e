/* What the head of every policy must hold to, whatever it decides: names that can be typed and are told apart, option
 * rows that accept their own defaults and stay within their struct, metrics within the counters, and instances that
 * can be made. */
#include "policies.h"
#include "policy/dram/dram_policy.h"
#include "policy/evict/evict_policy.h"
#include "policy/families.h"
#include "policy/frame/frame_policy.h"
#include "policy/prefetch/prefetch_policy.h"
#include "policy/route/route_policy.h"
#include "policy/warp/warp_policy.h"
#include "sim/cost.h"
#include "system/config.h"

#include <stdio.h>
#include <string.h>

static bool is_word(const char *text, const char *more)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t length = 0;
    while (text[length] && (strchr(letters, text[length]) || strchr(more, text[length])))
        length++;
    return length && !text[length];
}

#define EACH_POLICY(family, policy)                                                                                    \
    for (const struct pw_policy_family *const *family = pw_families; *family; family++)                                \
        for (const struct pw_policy *const *policy = (*family)->policies; *policy; policy++)

static void every_policy_has_a_name_of_its_own_and_a_line(void **state)
{
    (void)state;
    EACH_POLICY(family, policy)
    {
        assert_true(is_word((*policy)->name, "-"));
        assert_true(strcmp((*policy)->name, "same") != 0);
        const char *summary = (*policy)->summary;
        if (!*summary || strchr(summary, '\n') || (*summary >= 'A' && *summary <= 'Z') ||
            summary[strlen(summary) - 1] == '.')
            fail_msg("%s: '%s' is not a line as the others are, without a capital and a full stop", (*policy)->name,
                     summary);
        for (const struct pw_policy *const *other = policy + 1; *other; other++)
            assert_string_not_equal((*other)->name, (*policy)->name);
    }
}

static void every_family_is_chosen_from_and_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (const struct pw_policy_family *const *family = pw_families; *family; family++) {
        bool chosen = false;
        assert_true(is_word((*family)->name, "_") && *(*family)->decides && (*family)->policies[0]);
        for (const struct pw_policy_family *const *other = family + 1; *other; other++)
            assert_string_not_equal((*other)->name, (*family)->name);
        for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
            for (const struct pw_option *row = g->rows; row->name; row++)
                chosen = chosen || pw_option_family(row) == *family;
        if (!chosen)
            fail_msg("no option chooses among the policies of %s", (*family)->name);
    }
}

static size_t size_of(const struct pw_option *row)
{
    switch (row->type) {
    case PW_OPTION_BOOL:
        return sizeof(bool);
    case PW_OPTION_COUNT:
    case PW_OPTION_CYCLES:
    case PW_OPTION_CHOICE:
        return sizeof(uint32_t);
    case PW_OPTION_BYTES:
        return sizeof(uint64_t);
    case PW_OPTION_NUMBER:
        return sizeof(double);
    case PW_OPTION_TEXT:
        return PW_OPTION_TEXT_CAPACITY;
    default: /* a policy of a policy's */
        return SIZE_MAX;
    }
}

static void every_option_accepts_its_default_and_stays_within_its_struct(void **state)
{
    (void)state;
    EACH_POLICY(family, policy)
    {
        struct pw_policy_choice choice;
        struct pw_error err;
        const struct pw_policy *p = *policy;
        assert_true(p->options_bytes <= PW_POLICY_OPTIONS_CAPACITY);
        assert_true(!p->options == !p->options_bytes);
        for (const struct pw_option *row = p->options; row && row->name; row++) {
            assert_true(is_word(row->name, "_") && row->unit && row->help && *row->help);
            if (size_of(row) > p->options_bytes || row->offset > p->options_bytes - size_of(row))
                fail_msg("option %s of %s is not within its struct", row->name, p->name);
        }
        if (pw_policy_choose(*family, p->name, POLICIES_CLOCK_MHZ, &choice, &err) != PW_OK)
            fail_msg("%s: %s", p->name, err.message);
    }
}

static bool counts(const struct pw_policy *policy, const char *name)
{
    const struct pw_policy_metric *m = policy->metrics;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    return m->name;
}

static void every_metric_is_one_of_the_counters(void **state)
{
    (void)state;
    EACH_POLICY(family, policy)
    {
        const struct pw_policy *p = *policy;
        assert_true(!p->metrics == !p->counters_bytes);
        for (const struct pw_policy_metric *m = p->metrics; m && m->name; m++) {
            assert_true(is_word(m->name, "_") && *m->unit && (!m->help || *m->help));
            assert_true(m->offset % sizeof(uint64_t) == 0 && m->offset + sizeof(uint64_t) <= p->counters_bytes);
        }
        for (const struct pw_policy_ratio *r = p->ratios; r && r->name; r++) {
            assert_true(is_word(r->name, "_") && *r->unit && *r->help && r->scale > 0);
            assert_true(counts(p, r->of) && counts(p, r->per));
        }
    }
}

static void every_cost_is_of_a_place_that_there_is(void **state)
{
    (void)state;
    const struct pw_cost_machine machine = {
        .sms = 30, .warps = 64, .dram_queue = 128, .asid_bits = 9, .array = {512, 16, 1, 36, 19}};
    EACH_POLICY(family, policy)
    {
        struct pw_policy_choice choice = policy_choice(*family, (*policy)->name);
        for (const struct pw_policy_cost *c = (*policy)->cost; c && c->name; c++) {
            assert_true(is_word(c->name, "_") && *c->help && c->place < PW_COST_PLACE_COUNT);
            assert_true(pw_policy_cost_size(c, choice.options, &machine) > 0);
            for (const struct pw_policy_cost *other = c + 1; other->name; other++)
                assert_string_not_equal(other->name, c->name);
        }
    }
}

/* With every policy chosen in turn, its options are there beside all the others. */
static void no_option_of_a_policy_takes_the_name_of_another(void **state)
{
    (void)state;
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
        for (const struct pw_option *row = g->rows; row->name; row++)
            for (uint32_t i = 0; pw_option_family(row) && pw_option_choice(row, i); i++) {
                struct pw_config config;
                struct pw_options *options;
                struct pw_error err;
                char name[96];
                snprintf(name, sizeof name, "%s.%s", g->prefix, row->name);
                assert_int_equal(pw_config_create(&config, &options, &err), PW_OK);
                if (pw_options_set(options, name, pw_option_choice(row, i), "test", &err) != PW_OK ||
                    pw_options_finish(options, &err) != PW_OK)
                    fail_msg("%s", err.message);
                pw_options_destroy(options);
            }
}

struct world {
    struct pw_frames *frames;
    struct pw_random random;
    struct pw_frame_environment frame;
    struct pw_prefetch_environment prefetch;
    struct pw_evict_environment evict;
    struct pw_warp_environment warp;
    struct pw_dram_environment dram;
    struct pw_route_environment route;
};

/* What the instances of a family are made from; NULL where that needs more than there is here, or nothing. */
static const void *environment_of(const struct world *w, const struct pw_policy_family *family)
{
    return family == &pw_frame_family      ? (const void *)&w->frame
           : family == &pw_prefetch_family ? (const void *)&w->prefetch
           : family == &pw_evict_family    ? (const void *)&w->evict
           : family == &pw_warp_family     ? (const void *)&w->warp
           : family == &pw_dram_family     ? (const void *)&w->dram
           : family == &pw_route_family    ? (const void *)&w->route
                                           : NULL;
}

static void instances_can_be_made_and_called_at_epochs(void **state)
{
    (void)state;
    struct world w = {0};
    struct pw_error err;
    pw_random_init(&w.random, 1, "heads");
    assert_int_equal(pw_frames_create(16 << 20, &w.frames, &err), PW_OK);
    w.frame = (struct pw_frame_environment){w.frames, &w.random};
    w.prefetch.random = w.evict.random = &w.random;
    EACH_POLICY(family, policy)
    {
        struct pw_policy_use uses[2];
        const void *environment = environment_of(&w, *family);
        if (!environment && (*policy)->init)
            continue;
        for (unsigned i = 0; i < 2; i++) {
            void *instance = policy_instance(&uses[i], *family, *policy, environment);
            assert_int_equal((uintptr_t)instance % 64, 0);
            for (pw_cycle now = 0, calls = 0; (*policy)->epoch && now != PW_NEVER && calls < 100; calls++) {
                pw_cycle next = (*policy)->epoch(instance, now);
                assert_true(next > now);
                now = next;
            }
        }
        pw_policy_use_release(&uses[0]);
        pw_policy_use_release(&uses[1]);
    }
    pw_frames_destroy(w.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_has_a_name_of_its_own_and_a_line),
        cmocka_unit_test(every_family_is_chosen_from_and_has_a_name_of_its_own),
        cmocka_unit_test(every_option_accepts_its_default_and_stays_within_its_struct),
        cmocka_unit_test(every_metric_is_one_of_the_counters),
        cmocka_unit_test(every_cost_is_of_a_place_that_there_is),
        cmocka_unit_test(no_option_of_a_policy_takes_the_name_of_another),
        cmocka_unit_test(instances_can_be_made_and_called_at_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
