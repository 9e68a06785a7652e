/* Expressions: precedence and names as written, closed forms of every function, what is unknown stays unknown, and
 * every mistake says where it is. */
#include "exp/figure/expression.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two groups: workload 0 in "solo", 1 and 2 in "5-app"; workload 2 has two applications, the others one. Measures:
 * "run" has one value per workload, "app" one per application, "odd" is unknown for workload 1. */
enum { RUN, APP, ODD };
static const char *const measures[] = {"run", "app", "odd-one", NULL};
static const char *const variants[] = {"4k", "small-8", "x-0.5", "ideal", NULL};
static const char *const groups[] = {"solo", "5-app", NULL};
static const struct pw_expression_names names = {.measures = measures, .variants = variants, .groups = groups};
static const unsigned apps[] = {1, 1, 2}, group_of[] = {0, 1, 1};

/* Values: 100 * variant + 10 * workload + app + 1, negative alone. */
static enum pw_status reference(void *context, size_t measure, size_t variant, bool alone, int group,
                                struct pw_vector *out, struct pw_error *err)
{
    (void)context;
    (void)err;
    out->count = 0;
    out->items = calloc(8, sizeof *out->items);
    for (unsigned w = 0; w < 3; w++)
        for (unsigned a = 0; a < (measure == APP || alone ? apps[w] : 1); a++) {
            if (group >= 0 && group_of[w] != (unsigned)group)
                continue;
            out->items[out->count].workload = (int)w;
            out->items[out->count].app = measure == APP || alone ? (int)a : -1;
            double value = 100.0 * (double)variant + 10.0 * w + a + 1;
            out->items[out->count++].value = measure == ODD && w == 1 ? NAN : alone ? -value : value;
        }
    return PW_OK;
}

static double metric(void *context, const char *name)
{
    (void)context;
    return !strcmp(name, "cycles")           ? 200
           : !strcmp(name, "l1_tlb.hits")    ? 30
           : !strcmp(name, "app.a-b.level1") ? 7
                                             : NAN;
}

static const struct pw_expression_source source = {.reference = reference, .metric = metric};

static struct pw_vector value_of(const char *text, const struct pw_expression_names *of)
{
    struct pw_expression *e;
    struct pw_error err = {0};
    struct pw_vector v;
    if (pw_expression_parse(text, of, &e, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (pw_expression_evaluate(e, &source, &v, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (pw_expression_is_number(e))
        assert_true(v.count == 1 && v.items[0].workload == -1 && v.items[0].app == -1);
    pw_expression_free(e);
    return v;
}

static void check_number(const char *text, const struct pw_expression_names *of, double expected)
{
    struct pw_vector v = value_of(text, of);
    assert_int_equal(v.count, 1);
    double value = v.items[0].value;
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g", text, value, expected);
    pw_vector_free(&v);
}

static void numbers_are_their_closed_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double expected;
    } table[] = {
        {"mean(run@4k)", 11}, /* 1, 11, 21 */
        {"sum(run@4k)", 33},
        {"count(run@4k)", 3},
        {"min(run@4k)", 1},
        {"max(run@4k)", 21},
        {"median(run@4k)", 11},
        {"median(app@4k)", 16}, /* 1, 11, 21, 22 */
        {"geomean(run@4k) * geomean(run@4k) * geomean(run@4k)", 231},
        {"1 / harmean(run@4k)", (1 + 1.0 / 11 + 1.0 / 21) / 3},
        {"max(run@4k, run@small-8)", 201 - 80},
        {"count(run@4k, app@4k, 7)", 3 + 4 + 1},
        {"mean(mean(run@4k), 1)", 6},
        {"farthest(run@4k / 11)", 21.0 / 11},
        {"farthest(run@4k / 100)", 0.01},
        {"mean(run@4k[5-app])", 16},
        {"mean(run@small-8[solo])", 101},
        {"mean(run@x-0.5)", 211},
        {"mean(run@4k:alone)", (-1 - 11 - 21 - 22) / 4.0},
        {"mean(run@4k:alone[solo])", -1},
        {"mean(run@small-8 - run@4k)", 100},
        {"mean(run@4k - run@small-8)", -100},
        {"mean(5 - run@4k)", -6},
        {"mean(run@4k / run@4k)", 1},
        {"mean(run@4k > 5) > 0.5", 1},
        {"mean(run@4k > 5) > 0.7", 0},
        {"sum(run@4k >= 11)", 2},
        {"sum(run@4k <= 11)", 2},
        {"sum(run@4k < 11)", 1},
        /* A run beside its applications: 1/1, 11/11, 21/21, 21/22. */
        {"sum(run@4k / app@4k)", 3 + 21.0 / 22},
        {"sum(app@4k / run@4k)", 3 + 22.0 / 21},
        {"sum(app@4k[5-app] - run@4k[5-app])", 1},
        {"2 + 3 * sum(run@4k)", 101},
        {"(2 + 3) * sum(run@4k)", 165},
        {"sum(run@4k) - 3 - 10", 20},
        {"660 / sum(run@4k) / 10", 2},
        {"-sum(run@4k) + 1", -32},
        {"- -sum(run@4k)", 33},
        {"1.5e1 + 0 * sum(run@4k)", 15},
        {"sum(run@4k)-3", 30},
        {"  sum (\n run@4k\t)  ", 33},
        {"1 + 1 < 3 * sum(run@4k)", 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_number(table[i].text, &names, table[i].expected);
}

static void what_is_unknown_stays_unknown(void **state)
{
    (void)state;
    static const char *const table[] = {"mean(odd-one@4k)",       "min(odd-one@4k)",         "max(odd-one@4k)",
                                        "median(odd-one@4k)",     "count(odd-one@4k)",       "geomean(odd-one@4k)",
                                        "harmean(odd-one@4k)",    "sum(odd-one@4k)",         "mean(odd-one@4k > 0)",
                                        "mean(odd-one@4k) < 1e9", "0 * mean(odd-one@4k)",    "count(odd-one@4k[5-app])",
                                        "-mean(odd-one@4k)",      "sum(app@4k / odd-one@4k)"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_number(table[i], &names, NAN);
    check_number("mean(odd-one@4k[solo])", &names, 1);
}

static void vectors_keep_their_places(void **state)
{
    (void)state;
    struct pw_vector v = value_of("run@small-8 / app@4k", &names);
    static const int workloads[] = {0, 1, 2, 2}, at_app[] = {0, 0, 0, 1};
    static const double expected[] = {101, 111.0 / 11, 121.0 / 21, 121.0 / 22};
    assert_int_equal(v.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(v.items[i].workload, workloads[i]);
        assert_int_equal(v.items[i].app, at_app[i]);
        assert_true(v.items[i].value == expected[i]);
    }
    pw_vector_free(&v);
}

static void values_of_different_workloads_are_not_combined(void **state)
{
    (void)state;
    static const char *const table[] = {"mean(run@4k[solo] / run@4k[5-app])", "mean(run@4k / run@4k[5-app])",
                                        "mean(run@4k[solo] - run@ideal)",     "mean(app@4k - run@4k[5-app])",
                                        "mean(run@4k[solo] * app@4k)",        "mean(app@4k[5-app] * run@4k)",
                                        "mean(app@4k[solo] < app@4k)"};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pw_expression *e;
        struct pw_error err = {0};
        struct pw_vector v;
        char expected[256];
        snprintf(expected, sizeof expected, "in \"%s\": values of different workloads cannot be combined", table[i]);
        assert_int_equal(pw_expression_parse(table[i], &names, &e, &err), PW_OK);
        assert_int_equal(pw_expression_evaluate(e, &source, &v, &err), PW_USER_ERROR);
        assert_string_equal(err.message, expected);
        assert_null(v.items);
        pw_expression_free(e);
    }
}

static void measures_are_over_metrics(void **state)
{
    (void)state;
    static const struct pw_expression_names any = {0};
    check_number("cycles / l1_tlb.hits", &any, 200.0 / 30);
    check_number("l1_tlb.hits - app.a-b.level1", &any, 23);
    check_number("100 * (1 - l1_tlb.hits / cycles)", &any, 85);
    check_number("no.such.metric + 1", &any, NAN);
    struct pw_expression *e;
    assert_int_equal(pw_expression_parse("cycles * app.l2.hits", &any, &e, NULL), PW_OK);
    assert_true(pw_expression_uses(e, "cycles") && pw_expression_uses(e, "app.") && !pw_expression_uses(e, "app") &&
                !pw_expression_uses(e, "l2.") && pw_expression_is_number(e));
    pw_expression_free(e);
}

static void note(void *context, size_t measure, size_t variant, bool alone, int group)
{
    char *text = context;
    sprintf(text + strlen(text), "%zu@%zu%s%d ", measure, variant, alone ? "a" : "t", group);
}

static void references_are_all_visited(void **state)
{
    (void)state;
    struct pw_expression *e;
    char text[256] = "";
    assert_int_equal(pw_expression_parse("run@4k / mean(app@ideal:alone[5-app]) + odd-one@small-8", &names, &e, NULL),
                     PW_OK);
    pw_expression_references(e, note, text);
    assert_string_equal(text, "0@0t-1 1@3a1 2@1t-1 ");
    assert_false(pw_expression_is_number(e));
    pw_expression_free(e);
}

static void mistakes_say_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } table[] = {
        {"", "in \"\" at its end: a number, a name or '(' is missing"},
        {"ru@4k", "in \"ru@4k\" at 'ru': no such measure; did you mean 'run'?"},
        {"mean(run@4q)", "in \"mean(run@4q)\" at '4q': no such variant; did you mean '4k'?"},
        {"run", "in \"run\" at its end: '@' and a variant have to follow the measure 'run'"},
        {"run@", "in \"run@\" at its end: the name of a variant is missing"},
        {"run@4k-run@ideal", "in \"run@4k-run@ideal\" at '4k-run': no such variant (a minus needs blanks around it)"},
        {"run@4k[6-app]", "in \"run@4k[6-app]\" at '6-app': no such group of workloads; did you mean '5-app'?"},
        {"run@4k[5-app", "in \"run@4k[5-app\" at its end: ']' is missing"},
        {"run@4k:together", "in \"run@4k:together\" at its end: only ':alone' can follow a variant"},
        {"meen(run@4k)", "in \"meen(run@4k)\" at 'meen': no such function; did you mean 'mean'?"},
        {"mean(run@4k", "in \"mean(run@4k\" at its end: ')' is missing"},
        {"mean(5)", "in \"mean(5)\" at 'mean': what is inside is one number already"},
        {"run@4k + ", "in \"run@4k + \" at its end: a number, a name or '(' is missing"},
        {"run@4k run@4k", "in \"run@4k run@4k\" at 'run': an operator or the end has to come here"},
        {"run@4k $", "in \"run@4k $\" at '$': an operator or the end has to come here"},
        {"1 < run@4k < 2", "in \"1 < run@4k < 2\" at '<': comparisons cannot follow one another; use parentheses"},
        {"48.1", "in \"48.1\" at its end: no measure is named: a constant cannot stand in for a run"},
        {"1 - 0.5 * 2", "in \"1 - 0.5 * 2\" at its end: no measure is named: a constant cannot stand in for a run"},
        {"3x * run@4k", "in \"3x * run@4k\" at '3x': not a number; the name of a measure begins with a letter"},
        {"1e999 * run@4k", "in \"1e999 * run@4k\" at '1e999': the number is too large"},
        {"cycles", "in \"cycles\" at 'cycles': no such measure"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pw_expression *e;
        struct pw_error err = {0};
        assert_int_equal(pw_expression_parse(table[i].text, &names, &e, &err), PW_USER_ERROR);
        assert_string_equal(err.message, table[i].message);
        assert_null(e);
        assert_int_equal(pw_expression_parse(table[i].text, &names, &e, NULL), PW_USER_ERROR);
    }
}

static void mistakes_in_measures_say_where_they_are(void **state)
{
    (void)state;
    static const char *const metrics[] = {"cycles", "l1_tlb.hits", "app.l1_tlb.hits", NULL};
    static const struct pw_expression_names of = {.metrics = metrics};
    static const struct {
        const char *text, *message;
    } table[] = {
        {"l1_tlb.hit", "in \"l1_tlb.hit\" at 'l1_tlb.hit': no such metric; did you mean 'l1_tlb.hits'?"},
        {"mean(cycles)",
         "in \"mean(cycles)\" at 'mean': a measure has one value per run; mean() belongs into the table or the claims"},
        {"5", "in \"5\" at its end: no metric is named: a constant cannot stand in for a run"},
        {"cycles@4k", "in \"cycles@4k\" at '@': an operator or the end has to come here"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pw_expression *e;
        struct pw_error err = {0};
        assert_int_equal(pw_expression_parse(table[i].text, &of, &e, &err), PW_USER_ERROR);
        assert_string_equal(err.message, table[i].message);
    }
}

/* `count` times `open`, "run@4k", `count` times `close`. */
static enum pw_status parse_repeated(const char *open, const char *close, size_t count, struct pw_error *err)
{
    char *all = malloc(count * (strlen(open) + strlen(close)) + 8);
    *all = '\0';
    for (size_t i = 0; i < count; i++)
        strcat(all, open);
    strcat(all, "run@4k");
    for (size_t i = 0; i < count; i++)
        strcat(all, close);
    struct pw_expression *e;
    enum pw_status status = pw_expression_parse(all, &names, &e, err);
    if (status == PW_OK) {
        struct pw_vector v;
        assert_int_equal(pw_expression_evaluate(e, &source, &v, err), PW_OK);
        pw_vector_free(&v);
        pw_expression_free(e);
    }
    free(all);
    return status;
}

static void depth_size_and_length_are_limited(void **state)
{
    (void)state;
    struct pw_error err = {0};
    assert_int_equal(parse_repeated("(", ")", 64, &err), PW_OK);
    assert_int_equal(parse_repeated("(", ")", 65, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "nested more than 64 deep"));
    assert_int_equal(parse_repeated("-", "", 64, &err), PW_OK);
    assert_int_equal(parse_repeated("- ", "", 65, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "nested more than 64 deep"));
    assert_int_equal(parse_repeated("1+", "", 255, &err), PW_OK);
    assert_int_equal(parse_repeated("1+", "", 256, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "more than 512 parts"));
    assert_int_equal(parse_repeated(" ", "", 1994, &err), PW_OK);
    assert_int_equal(parse_repeated(" ", "", 1995, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "longer than 2000 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_their_closed_forms),
        cmocka_unit_test(what_is_unknown_stays_unknown),
        cmocka_unit_test(vectors_keep_their_places),
        cmocka_unit_test(values_of_different_workloads_are_not_combined),
        cmocka_unit_test(measures_are_over_metrics),
        cmocka_unit_test(references_are_all_visited),
        cmocka_unit_test(mistakes_say_where_they_are),
        cmocka_unit_test(mistakes_in_measures_say_where_they_are),
        cmocka_unit_test(depth_size_and_length_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
