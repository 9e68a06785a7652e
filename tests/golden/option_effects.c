/* No option is dead: for each there is a run in which changing it changes a result, or the table of effects says why
 * there can be none. And what that table (system/effect.h) says of an option is true both ways: where the option can
 * have an effect the user is told nothing, and where it cannot, changing it changes nothing and the user is told. A new
 * option without a row here fails. */
#include "option_effect_rows.h"
#include "system/effect.h"
#include "system/inputs.h"
#include "trace/trace_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Of an option that only decides when to give up, b makes the run fail. */
static const char gives_up[] = "sim.progress_limit";

/* The table of effects says of these that they never matter. */
static const char *const never_matter[] = {"compact.threshold", "l1_tlb.organisation.ranges",
                                           "l1_tlb.organisation.walk", "l1_tlb.large_organisation.ranges",
                                           "l1_tlb.large_organisation.walk"};

static bool never_matters(const char *option)
{
    for (size_t i = 0; i < sizeof never_matter / sizeof *never_matter; i++)
        if (!strcmp(never_matter[i], option))
            return true;
    return false;
}

static const struct row *row_of(const char *option)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].option, option))
            return &rows[i];
    fail_msg("%s has no row here; add a run in which it changes something", option);
    return NULL;
}

/* A run of a row: its setting, what else is set, and one value of the option. */
struct run {
    struct pw_run_spec spec;
    const char *sets[2 * MAX_SETS];
    char own[128];
};

static void set(struct run *r, const char *pair)
{
    assert_true(r->spec.set_count < sizeof r->sets / sizeof *r->sets);
    r->sets[r->spec.set_count++] = pair;
    r->spec.sets = r->sets;
}

static void prepare(struct run *r, const struct row *row, const char *value)
{
    const struct setting *s = row->setting;
    *r = (struct run){.spec = {.machine = s->machine, .design = s->design, .workload = s->workload, .seed = 1}};
    for (size_t i = 0; i < MAX_SETS && s->sets[i]; i++)
        set(r, s->sets[i]);
    snprintf(r->own, sizeof r->own, "%s=%s", row->option, value);
    set(r, r->own);
}

static struct pw_result *result_of(const struct run *r)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    if (pw_run(&r->spec, &result, &err) != PW_OK)
        fail_msg("%s: %s", r->own, err.message);
    return result;
}

/* Metrics that a unit has only when it is there are 0 without it. */
static double metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return r->metrics[i].real;
    return 0;
}

/* What hardware costs says nothing on what it does: an option that changes only that has no effect. */
static bool is_cost(const char *name)
{
    return strstr(name, ".cost.") != NULL;
}

static bool has_all_of(const struct pw_result *a, const struct pw_result *b)
{
    for (size_t i = 0; i < b->metric_count; i++)
        if (!is_cost(b->metrics[i].name) && metric(a, b->metrics[i].name) != b->metrics[i].real)
            return false;
    return true;
}

/* Whether two runs agree in every cycle and metric. */
static bool same(const struct run *a, const struct run *b)
{
    struct pw_result *ra = result_of(a), *rb = result_of(b);
    bool alike = ra->cycles == rb->cycles && has_all_of(ra, rb) && has_all_of(rb, ra);
    pw_result_free(ra);
    pw_result_free(rb);
    return alike;
}

static bool fails(const struct run *r)
{
    struct pw_result *result = NULL;
    struct pw_error err = {0};
    enum pw_status status = pw_run(&r->spec, &result, &err);
    pw_result_free(result);
    return status == PW_FAILED;
}

struct heard {
    const char *own;
    bool said;
};

static void hear(void *context, const char *message)
{
    struct heard *h = context;
    char wanted[192];
    snprintf(wanted, sizeof wanted, "--set %s has no effect because ", h->own);
    h->said |= !strncmp(message, wanted, strlen(wanted));
}

static bool is_said_to_be_idle(const struct run *r)
{
    struct heard h = {.own = r->own};
    struct pw_error err = {0};
    if (pw_run_notices(&r->spec, hear, &h, &err) != PW_OK)
        fail_msg("%s: %s", r->own, err.message);
    return h.said;
}

static struct pw_options *all_options(void)
{
    static struct pw_config config;
    struct pw_options *o;
    struct pw_error err = {0};
    assert_int_equal(pw_config_create(&config, &o, &err), PW_OK);
    return o;
}

/* Whether an option does what its row says, and the user is told where that is nothing. */
static bool is_as_stated(const struct row *row)
{
    struct run a, b;
    prepare(&a, row, row->a);
    prepare(&b, row, row->b);
    bool idle = never_matters(row->option);
    if (is_said_to_be_idle(&a) != idle || is_said_to_be_idle(&b) != idle) {
        print_error("%s %s\n", row->option, idle ? "never matters, and nobody says so" : "is said to have no effect");
        return false;
    }
    bool changes = !strcmp(row->option, gives_up) ? !fails(&a) && fails(&b) : !same(&a, &b);
    if (changes == idle)
        print_error("%s: %s and %s give %s\n", row->option, row->a, row->b, changes ? "different results" : "the same");
    return changes != idle;
}

/* Of a family that has one policy so far. */
static bool has_no_alternative(const struct pw_option *row)
{
    return pw_option_family(row) && !pw_option_choice(row, 1);
}

static void every_option_changes_a_result(void **state)
{
    (void)state;
    struct pw_options *o = all_options();
    unsigned wrong = 0;
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view view;
        pw_options_view(o, i, &view);
        wrong += !has_no_alternative(view.row) && !is_as_stated(row_of(view.name));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) /* those of policies */
        wrong += pw_options_find(o, rows[i].option) < 0 && !is_as_stated(&rows[i]);
    pw_options_destroy(o);
    assert_int_equal(wrong, 0);
}

/* A value that does not meet a condition on an option. */
static void spoil(const struct pw_options *o, const struct pw_effect_condition *c, char *out, size_t capacity)
{
    struct pw_option_view view;
    size_t length = strcspn(c->values, "|");
    if (*c->values == '!') {
        snprintf(out, capacity, "%s=%.*s", c->key, (int)length - 1, c->values + 1);
        return;
    }
    pw_options_view(o, (size_t)pw_options_find(o, c->key), &view);
    if (view.row->type == PW_OPTION_BOOL) {
        snprintf(out, capacity, "%s=%s", c->key, strcmp(c->values, "on") ? "on" : "off");
        return;
    }
    uint32_t choice = 0;
    while (pw_option_choice(view.row, choice) && strstr(c->values, pw_option_choice(view.row, choice)))
        choice++;
    assert_non_null(pw_option_choice(view.row, choice));
    snprintf(out, capacity, "%s=%s", c->key, pw_option_choice(view.row, choice));
}

/* The row's run in which a rule does not hold. */
static void prepare_idle(struct run *r, const struct row *row, const char *value, const struct pw_effect_rule *rule,
                         const struct pw_options *o, char (*pairs)[128])
{
    prepare(r, row, value);
    for (const struct pw_effect_condition *c = rule->any; c->key; c++, pairs++)
        if (!strchr(c->key, '.')) { /* several applications: take the first alone */
            snprintf(*pairs, sizeof *pairs, "%.*s", (int)strcspn(row->setting->workload, ","), row->setting->workload);
            r->spec.workload = *pairs;
        } else {
            spoil(o, c, *pairs, sizeof *pairs);
            set(r, *pairs);
        }
}

static void an_option_that_is_said_to_have_no_effect_has_none(void **state)
{
    (void)state;
    struct pw_options *o = all_options();
    unsigned wrong = 0;
    for (const struct pw_effect_rule *rule = pw_effect_rules; rule->options; rule++) {
        unsigned about = 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char pairs[2][PW_EFFECT_ALTERNATIVES][128];
            struct run a, b;
            if (!pw_effect_rule_is_about(rule, rows[i].option))
                continue;
            about++;
            prepare_idle(&a, &rows[i], rows[i].a, rule, o, pairs[0]);
            prepare_idle(&b, &rows[i], rows[i].b, rule, o, pairs[1]);
            bool said = is_said_to_be_idle(&a) && is_said_to_be_idle(&b), alike = same(&a, &b);
            wrong += !said || !alike;
            if (!said || !alike)
                print_error("%s with %s %s\n", rows[i].option, pairs[0][0],
                            alike ? "has no effect, and nobody says so" : "has an effect");
        }
        assert_true(about > 0);
    }
    pw_options_destroy(o);
    assert_int_equal(wrong, 0);
}

static int write_paced_trace(void **state)
{
    (void)state;
    struct pw_trace_writer *w;
    struct pw_error err;
    if (pw_trace_writer_open(PACED_TRACE, &w, &err) != PW_OK)
        return -1;
    pw_trace_write_launch(
        w, &(struct pw_trace_event){
               .kind = PW_TRACE_LAUNCH, .name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .pace = 4000});
    const struct pw_op op = {.kind = PW_OP_COMPUTE, .loads_in_flight = PW_ANY_IN_FLIGHT, .count_or_mask = 100};
    pw_trace_write_op(w, 0, 0, &op, NULL);
    return pw_trace_writer_finish(w, NULL, &err) == PW_OK ? 0 : -1;
}

static int remove_paced_trace(void **state)
{
    (void)state;
    return unlink(PACED_TRACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_changes_a_result),
        cmocka_unit_test(an_option_that_is_said_to_have_no_effect_has_none),
    };
    return cmocka_run_group_tests(tests, write_paced_trace, remove_paced_trace);
}
