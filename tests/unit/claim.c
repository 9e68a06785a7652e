/* The judge by tables of cases, and by all rows of the five papers: whatever row of whatever paper claims a change, a
 * design that changes nothing fails it. */
#include "exp/claim/claim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct pw_claim row(enum pw_claim_judge judge, const char *value, const char *unit)
{
    return (struct pw_claim){
        .id = "x", .paper = "mosaic", .value = value, .unit = unit, .kind = PW_CLAIM_NUMBER, .judge = judge};
}

struct one_case {
    const char *value, *unit;
    double ours;
    enum pw_verdict verdict;
};

static void check_cases(enum pw_claim_judge judge, const struct one_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_claim claim = row(judge, cases[i].value, cases[i].unit);
        enum pw_verdict verdict = pw_claim_judge_values(&claim, &cases[i].ours, 1, NULL);
        if (verdict != cases[i].verdict)
            fail_msg("%s %s %s, ours %.17g: %s", pw_claim_judge_names[judge], cases[i].value, cases[i].unit,
                     cases[i].ours, pw_verdict_names[verdict]);
    }
}

#define CHECK_CASES(judge, cases) check_cases(judge, cases, sizeof(cases) / sizeof *(cases))

static void a_gain_has_the_papers_sign_and_half_to_one_and_a_half_times_its_size(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"12", "%", 12, PW_HOLDS},        {"12", "%", 6, PW_HOLDS},          {"12", "%", 18, PW_HOLDS},
        {"12", "%", 5.9999, PW_DIFFERS},  {"12", "%", 18.0001, PW_DIFFERS},  {"12", "%", -12, PW_DIFFERS},
        {"12", "%", 0, PW_DIFFERS},       {"-6.1", "%", -6.1, PW_HOLDS},     {"-6.1", "%", -3.05, PW_HOLDS},
        {"-6.1", "%", -9.15, PW_HOLDS},   {"-6.1", "%", 6.1, PW_DIFFERS},    {"-6.1", "%", -3.04, PW_DIFFERS},
        {"-6.1", "%", -9.16, PW_DIFFERS}, {"6.3", "%", 6.3 * 1.5, PW_HOLDS}, {"29.7", "%", 29.7 * 0.5, PW_HOLDS},
        {"12", "%", NAN, PW_NOT_RUN},     {"12", "%", INFINITY, PW_NOT_RUN},
    };
    CHECK_CASES(PW_JUDGE_GAIN, cases);
}

static void a_factor_is_judged_by_what_it_changes(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"3", "x", 3, PW_HOLDS},         {"3", "x", 2, PW_HOLDS},        {"3", "x", 4, PW_HOLDS},
        {"3", "x", 1.99, PW_DIFFERS},    {"3", "x", 4.01, PW_DIFFERS},   {"3", "x", 1, PW_DIFFERS},
        {"3", "x", 0.5, PW_DIFFERS},     {"~10", "x", 5.5, PW_HOLDS},    {"~10", "x", 14.5, PW_HOLDS},
        {"~10", "x", 5.4, PW_DIFFERS},   {"0.5", "x", 0.75, PW_HOLDS},   {"0.5", "x", 0.76, PW_DIFFERS},
        {"133", "%", 116.5, PW_HOLDS},   {"133", "%", 149.5, PW_HOLDS},  {"133", "%", 100, PW_DIFFERS},
        {"133", "%", 116.4, PW_DIFFERS}, {"66.3", "%", 49.45, PW_HOLDS}, {"66.3", "%", 83.15, PW_HOLDS},
        {"66.3", "%", 83.2, PW_DIFFERS}, {"96", "%", 90.57, PW_DIFFERS}, {"96", "%", 94, PW_HOLDS},
        {"3", "x", NAN, PW_NOT_RUN},
    };
    CHECK_CASES(PW_JUDGE_RATIO, cases);
}

static void a_rate_is_within_ten_points(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"81", "%", 71, PW_HOLDS},      {"81", "%", 91, PW_HOLDS},     {"81", "%", 70.99, PW_DIFFERS},
        {"81", "%", 91.01, PW_DIFFERS}, {"1.0", "%", 0, PW_HOLDS},     {"1.0", "%", 11.1, PW_DIFFERS},
        {"81", "%", -NAN, PW_NOT_RUN},  {"98.8", "%", 88.8, PW_HOLDS},
    };
    CHECK_CASES(PW_JUDGE_RATE, cases);
}

static void an_amount_is_half_to_one_and_a_half_times_the_papers(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"362", "MB", 181, PW_HOLDS},    {"362", "MB", 543, PW_HOLDS}, {"362", "MB", 180, PW_DIFFERS},
        {"362", "MB", 544, PW_DIFFERS},  {"6.4", "%", 3.2, PW_HOLDS},  {"6.4", "%", 0, PW_DIFFERS},
        {"362", "MB", -362, PW_DIFFERS},
    };
    CHECK_CASES(PW_JUDGE_QUANTITY, cases);
}

static void a_count_has_to_be_met(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"0", "violations", 0, PW_HOLDS},  {"0", "violations", 1, PW_DIFFERS}, {"706", "bytes", 706, PW_HOLDS},
        {"706", "bytes", 707, PW_DIFFERS}, {"1", "x", 1.0000000001, PW_HOLDS}, {"1", "x", 1.001, PW_DIFFERS},
        {"127", "", 126.9, PW_DIFFERS},
    };
    CHECK_CASES(PW_JUDGE_EXACT, cases);
}

static void a_strict_bound_does_not_hold_at_its_limit_and_the_others_do(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"<=5", "walks", 5, PW_HOLDS},     {"<=5", "walks", 5.1, PW_DIFFERS}, {">=20", "%", 20, PW_HOLDS},
        {">=20", "%", 19.9, PW_DIFFERS},   {">=1", "x", 1, PW_HOLDS},         {"<-25", "%", -26, PW_HOLDS},
        {"<-25", "%", -25, PW_DIFFERS},    {"<-25", "%", 0, PW_DIFFERS},      {"~1", "x", 0.95, PW_HOLDS},
        {"~1", "x", 1.05, PW_HOLDS},       {"~1", "x", 0.949, PW_DIFFERS},    {"~1", "x", 1.051, PW_DIFFERS},
        {"~100", "%", 95, PW_HOLDS},       {"~100", "%", 94.9, PW_DIFFERS},   {"~0", "%", 5, PW_HOLDS},
        {"~0", "%", -5.1, PW_DIFFERS},     {"~10", "x", 9.5, PW_HOLDS},       {"~10", "x", 9.4, PW_DIFFERS},
        {">1", "x", NAN, PW_NOT_RUN},      {">=1", "x", 0.9999, PW_DIFFERS},  {"!=5", "walks", 5, PW_DIFFERS},
        {"!=5", "walks", 5.001, PW_HOLDS},
    };
    CHECK_CASES(PW_JUDGE_BOUND, cases);
}

static void a_trend_needs_one_percent_and_a_number_of_the_papers_does_not(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"<1", "x", 0.99, PW_HOLDS},        {"<1", "x", 0.9901, PW_DIFFERS},    {"<1", "x", 1, PW_DIFFERS},
        {"<1", "x", 1 - 1e-12, PW_DIFFERS}, {"<1", "x", 1.5, PW_DIFFERS},       {">1", "x", 1.01, PW_HOLDS},
        {">1", "x", 1.0099, PW_DIFFERS},    {">1", "x", 1 + 1e-12, PW_DIFFERS}, {">1", "x", 0.5, PW_DIFFERS},
        {"!=1", "x", 1, PW_DIFFERS},        {"!=1", "x", 1.009, PW_DIFFERS},    {"!=1", "x", 1.01, PW_HOLDS},
        {"!=1", "x", 0.99, PW_HOLDS},       {">0", "%", 1, PW_HOLDS},           {">0", "%", 0.99, PW_DIFFERS},
        {">0", "%", -2, PW_DIFFERS},        {"<0", "%", -1, PW_HOLDS},          {"<0", "%", -0.5, PW_DIFFERS},
        {">0", "cycles", 1e-3, PW_HOLDS},   {">0", "cycles", 0, PW_DIFFERS},    {">30", "warps", 30.001, PW_HOLDS},
        {">30", "warps", 30, PW_DIFFERS},   {">1", "warps", 1.001, PW_HOLDS},   {"<2", "%", 1.999, PW_HOLDS},
        {"<1", "%", 0.9999, PW_HOLDS},      {"<1", "%", 1, PW_DIFFERS},         {">50", "%", 50.001, PW_HOLDS},
        {">10", "x", 10.001, PW_HOLDS},     {">2", "sum", 2.001, PW_HOLDS},
    };
    CHECK_CASES(PW_JUDGE_BOUND, cases);
}

enum { MOST_VALUES = 8 };

struct scatter_case {
    enum pw_claim_judge judge;
    const char *value, *unit;
    double ours[2], scatter[2];
    enum pw_verdict verdict;
};

static void a_trend_lies_beyond_the_scatter_over_seeds(void **state)
{
    (void)state;
    static const struct scatter_case cases[] = {
        {PW_JUDGE_BOUND, ">1", "x", {1.05}, {0.049}, PW_HOLDS},
        {PW_JUDGE_BOUND, ">1", "x", {1.05}, {0.05}, PW_DIFFERS},
        {PW_JUDGE_BOUND, ">1", "x", {1.005}, {0.001}, PW_DIFFERS},
        {PW_JUDGE_BOUND, "<1", "x", {0.9}, {0.2}, PW_DIFFERS},
        {PW_JUDGE_BOUND, "!=1", "x", {0.9}, {0.2}, PW_DIFFERS},
        {PW_JUDGE_BOUND, ">0", "%", {3}, {4}, PW_DIFFERS},
        {PW_JUDGE_BOUND, ">0", "cycles", {3}, {4}, PW_DIFFERS},
        {PW_JUDGE_BOUND, ">0", "cycles", {3}, {2}, PW_HOLDS},
        {PW_JUDGE_BOUND, ">30", "warps", {31}, {20}, PW_HOLDS},
        {PW_JUDGE_BOUND, "<2", "%", {1.9}, {1}, PW_HOLDS},
        {PW_JUDGE_BOUND, "~1", "x", {1.04}, {0.5}, PW_HOLDS},
        {PW_JUDGE_BOUND, ">=1", "x", {1}, {0.5}, PW_HOLDS},
        {PW_JUDGE_GAIN, "12", "%", {12}, {20}, PW_HOLDS},
        {PW_JUDGE_BOUND, ">1;<1", "x", {1.1, 0.9}, {0, 0.05}, PW_HOLDS},
        {PW_JUDGE_BOUND, ">1;<1", "x", {1.1, 0.9}, {0, 0.15}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "6.8<15.4", "%", {5, 9}, {1.9, 1.9}, PW_HOLDS},
        {PW_JUDGE_ORDER, "6.8<15.4", "%", {5, 9}, {2, 2}, PW_DIFFERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_claim claim = row(cases[i].judge, cases[i].value, cases[i].unit);
        if (pw_claim_judge_values(&claim, cases[i].ours, pw_claim_parts(&claim), cases[i].scatter) != cases[i].verdict)
            fail_msg("case %zu: %s %s", i, cases[i].value, cases[i].unit);
    }
}

static void a_comparison_is_true_only_at_one(void **state)
{
    (void)state;
    static const struct one_case cases[] = {
        {"", "", 1, PW_HOLDS}, {"", "", 0, PW_DIFFERS}, {"", "", 2, PW_DIFFERS}, {"", "", NAN, PW_NOT_RUN}};
    CHECK_CASES(PW_JUDGE_TRUE, cases);
}

struct many_case {
    enum pw_claim_judge judge;
    const char *value, *unit;
    size_t parts, count;
    double ours[MOST_VALUES];
    enum pw_verdict verdict;
};

static void lists_and_chains_take_one_value_per_part(void **state)
{
    (void)state;
    static const struct many_case cases[] = {
        {PW_JUDGE_BOUND, "<75;>75", "%", 2, 2, {50, 80}, PW_HOLDS},
        {PW_JUDGE_BOUND, "<75;>75", "%", 2, 2, {80, 80}, PW_DIFFERS},
        {PW_JUDGE_BOUND, "<75;>75", "%", 2, 2, {50, 50}, PW_DIFFERS},
        {PW_JUDGE_BOUND, "<75;>75", "%", 2, 1, {50}, PW_NOT_RUN},
        {PW_JUDGE_BOUND, "<75;>75", "%", 2, 2, {50, NAN}, PW_NOT_RUN},
        {PW_JUDGE_BOUND, ">1;<1", "x", 2, 2, {1, 1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 2, 1}, PW_HOLDS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 3, 1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 3 - 1e-13, 1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 1, 2}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 2, {3, 1}, PW_NOT_RUN},
        {PW_JUDGE_ORDER, "1<2.5<3", "%", 3, 3, {2, 3, 9}, PW_HOLDS},
        {PW_JUDGE_ORDER, "1<2.5<3", "%", 3, 3, {3, 2, 1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "2>1;9>8", "%", 4, 4, {2, 1, 9, 8}, PW_HOLDS},
        {PW_JUDGE_ORDER, "2>1;9>8", "%", 4, 4, {2, 1, 1, 0.5}, PW_HOLDS},
        {PW_JUDGE_ORDER, "2>1;9>8", "%", 4, 4, {2, 1, 8, 9}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "2>1;9>8", "%", 4, 4, {1, 2, 9, 8}, PW_DIFFERS},
        /* A step of 1 point, or of half the paper's. */
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 2.5, 1.5}, PW_HOLDS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 2.51, 1.5}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "99.8>98.8>1.0", "%", 3, 3, {3, 2.5, 1.51}, PW_DIFFERS},
        /* 1% of the larger value. */
        {PW_JUDGE_ORDER, "3.5>3.2", "x", 2, 2, {100, 99}, PW_HOLDS},
        {PW_JUDGE_ORDER, "3.5>3.2", "x", 2, 2, {100, 99.1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "3.5<3.7", "GB/s", 2, 2, {99.1, 100}, PW_DIFFERS},
        /* A penalty that grows is a penalty. */
        {PW_JUDGE_ORDER, "92.5<98.0<99.8", "%", 3, 3, {-52.6, -43.5, -17.1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "92.5<98.0<99.8", "%", 3, 3, {-2, 43.5, 77.1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "92.5<98.0<99.8", "%", 3, 3, {0, 43.5, 77.1}, PW_DIFFERS},
        {PW_JUDGE_ORDER, "92.5<98.0<99.8", "%", 3, 3, {17.1, 43.5, 52.6}, PW_HOLDS},
        {PW_JUDGE_ORDER, "-3<-1", "%", 2, 2, {-9, -5}, PW_HOLDS},
        {PW_JUDGE_ORDER, "-3<-1", "%", 2, 2, {5, 9}, PW_DIFFERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_claim claim = row(cases[i].judge, cases[i].value, cases[i].unit);
        assert_int_equal(pw_claim_parts(&claim), cases[i].parts);
        if (pw_claim_judge_values(&claim, cases[i].ours, cases[i].count, NULL) != cases[i].verdict)
            fail_msg("case %zu: %s", i, cases[i].value);
    }
}

static void tests_and_context_are_not_judged_by_values(void **state)
{
    (void)state;
    double value = 3;
    struct pw_claim test = row(PW_JUDGE_TEST, "3", ""), context = row(PW_JUDGE_NONE, "3", "");
    assert_int_equal(pw_claim_parts(&test), 0);
    assert_int_equal(pw_claim_parts(&context), 0);
    assert_int_equal(pw_claim_judge_values(&test, &value, 1, NULL), PW_NOT_RUN);
    assert_int_equal(pw_claim_judge_values(&context, &value, 1, NULL), PW_OUT_OF_SCOPE);
}

static bool is_strict(const char *value)
{
    return (value[0] == '<' || value[0] == '>' || value[0] == '!') && (value[0] == '!' || value[1] != '=');
}

/* What comes out when a design equals what it is compared with: 0 in percent of change, 1 (or 100%) as a factor. */
static void a_design_that_does_nothing_fails_every_row_that_claims_a_change(void **state)
{
    (void)state;
    size_t gains = 0, factors = 0, bounds = 0;
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim *c = &pw_claims[i];
        bool percent = strcmp(c->unit, "%") == 0, factor = strcmp(c->unit, "x") == 0;
        /* A strict bound in percent of change that nothing can meet by standing still: "> 10", "< -25". */
        bool change = percent && c->baseline[0] && is_strict(c->value) && (c->value[0] == '>' || c->value[1] == '-');
        double nothing[MOST_VALUES];
        for (size_t k = 0; k < MOST_VALUES; k++)
            nothing[k] = c->judge == PW_JUDGE_GAIN || change ? 0 : percent ? 100 : 1;
        if (c->judge != PW_JUDGE_GAIN && c->judge != PW_JUDGE_RATIO &&
            !(c->judge == PW_JUDGE_BOUND && is_strict(c->value) && (factor || change)))
            continue;
        gains += c->judge == PW_JUDGE_GAIN;
        factors += c->judge == PW_JUDGE_RATIO;
        bounds += c->judge == PW_JUDGE_BOUND;
        if (pw_claim_judge_values(c, nothing, pw_claim_parts(c), NULL) != PW_DIFFERS)
            fail_msg("%s: a design that does nothing passes", c->id);
    }
    assert_int_equal(gains, 84);
    assert_int_equal(factors, 11);
    assert_true(bounds > 100);
}

static double paper_value(const char *id)
{
    const struct pw_claim *c = pw_claim_find(id);
    assert_non_null(c);
    return atof(c->value);
}

/* A share of an ideal is judged by a rule that tells a design from the baseline that it improves on: what the paper
 * measured for the baseline does not pass for the design. */
static void what_the_papers_measured_for_baselines_fails_for_designs(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"mask-tab3-mask-1app", "mask-tab3-sharedtlb-1app"},
        {"mask-tab3-mask-2app", "mask-tab3-sharedtlb-2app"},
        {"mask-tab3-mask-3app", "mask-tab3-sharedtlb-3app"},
        {"mask-tab3-mask-4app", "mask-tab3-sharedtlb-4app"},
        {"mask-tab3-mask-5app", "mask-tab3-sharedtlb-5app"},
        {"mask-tab4-mask-fermi", "mask-tab4-sharedtlb-fermi"},
        {"mask-tab4-mask-fermi", "mask-tab4-pwcache-fermi"},
        {"mask-tab4-mask-integrated", "mask-tab4-sharedtlb-integrated"},
        {"mask-tab4-mask-integrated", "mask-tab4-pwcache-integrated"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double ours = paper_value(pairs[i][1]);
        assert_int_equal(pw_claim_judge_values(pw_claim_find(pairs[i][0]), &ours, 1, NULL), PW_DIFFERS);
    }
    double distributed = paper_value("gmmu-fig05-vs-ideal") / (1 + paper_value("gmmu-fig05-vs-distributed") / 100);
    assert_int_equal(pw_claim_judge_values(pw_claim_find("gmmu-fig05-vs-ideal"), &distributed, 1, NULL), PW_DIFFERS);
    double none_worse = 0;
    assert_int_equal(pw_claim_judge_values(pw_claim_find("mosaic-fig11-worse"), &none_worse, 1, NULL), PW_DIFFERS);
    static const struct {
        const char *gap, *gain;
    } gaps[] = {{"mosaic-fig08-ideal-gap", "mosaic-fig08-avg"},
                {"mosaic-fig09-ideal-gap", "mosaic-fig09-avg"},
                {"mask-fig11-ideal-gap", "mask-fig11-avg"}};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        double baseline = 100 - (100 - paper_value(gaps[i].gap)) / (1 + paper_value(gaps[i].gain) / 100);
        assert_int_equal(pw_claim_judge_values(pw_claim_find(gaps[i].gap), &baseline, 1, NULL), PW_DIFFERS);
    }
}

/* The numbers that stand in the papers, part by part: what meets them exactly holds, so no row is out of reach. */
static void the_papers_own_numbers_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim *c = &pw_claims[i];
        if (c->judge > PW_JUDGE_EXACT && c->judge != PW_JUDGE_ORDER)
            continue;
        double values[16];
        size_t count = 0;
        for (const char *at = c->value; *at; at += strcspn(at, "<>;~"), at += strspn(at, "<>;~")) {
            if (*at == '~')
                at++;
            values[count++] = atof(at);
        }
        assert_int_equal(count, pw_claim_parts(c));
        if (pw_claim_judge_values(c, values, count, NULL) != PW_HOLDS)
            fail_msg("%s: the paper's own %s differs", c->id, c->value);
    }
}

static void no_row_of_the_papers_got_lost(void **state)
{
    (void)state;
    static const struct {
        const char *paper;
        size_t counts[PW_CLAIM_KIND_COUNT], all;
    } expected[] = {
        {"mosaic", {4, 47, 49, 101, 71, 5}, 277},      {"mask", {4, 123, 47, 62, 104, 10}, 350},
        {"compression", {5, 43, 90, 71, 73, 20}, 302}, {"uvm", {2, 2, 44, 105, 30, 9}, 192},
        {"gmmu-bypass", {3, 8, 45, 28, 38, 4}, 126},
    };
    size_t at = 0;
    for (size_t p = 0; p < sizeof expected / sizeof *expected; p++) {
        size_t counts[PW_CLAIM_KIND_COUNT] = {0}, all = 0;
        for (; at < pw_claim_count && strcmp(pw_claims[at].paper, expected[p].paper) == 0; at++, all++)
            counts[pw_claims[at].kind]++;
        assert_int_equal(all, expected[p].all);
        assert_memory_equal(counts, expected[p].counts, sizeof counts);
    }
    assert_int_equal(at, pw_claim_count);
}

static void rows_are_found_by_their_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < pw_claim_count; i++)
        assert_ptr_equal(pw_claim_find(pw_claims[i].id), &pw_claims[i]);
    assert_null(pw_claim_find("mosaic-fig08-no-such"));
    assert_null(pw_claim_find(""));
}

static void tests_are_sorted_and_name_rows(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct pw_claim_test *t = pw_claim_tests; t->id; t++, count++) {
        assert_non_null(pw_claim_find(t->id));
        assert_true(strchr(t->test, '/') && t->name[0]);
        if (t[1].id)
            assert_true(strcmp(t->id, t[1].id) <= 0);
    }
    assert_true(count > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gain_has_the_papers_sign_and_half_to_one_and_a_half_times_its_size),
        cmocka_unit_test(a_factor_is_judged_by_what_it_changes),
        cmocka_unit_test(a_rate_is_within_ten_points),
        cmocka_unit_test(an_amount_is_half_to_one_and_a_half_times_the_papers),
        cmocka_unit_test(a_count_has_to_be_met),
        cmocka_unit_test(a_strict_bound_does_not_hold_at_its_limit_and_the_others_do),
        cmocka_unit_test(a_trend_needs_one_percent_and_a_number_of_the_papers_does_not),
        cmocka_unit_test(a_trend_lies_beyond_the_scatter_over_seeds),
        cmocka_unit_test(a_comparison_is_true_only_at_one),
        cmocka_unit_test(lists_and_chains_take_one_value_per_part),
        cmocka_unit_test(tests_and_context_are_not_judged_by_values),
        cmocka_unit_test(a_design_that_does_nothing_fails_every_row_that_claims_a_change),
        cmocka_unit_test(what_the_papers_measured_for_baselines_fails_for_designs),
        cmocka_unit_test(the_papers_own_numbers_hold),
        cmocka_unit_test(no_row_of_the_papers_got_lost),
        cmocka_unit_test(rows_are_found_by_their_ids),
        cmocka_unit_test(tests_are_sorted_and_name_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
