/* The score: which figure decides a claim, what the outcomes of tests say about the rows that they name, the reader of
 * their log, and what is shown. */
#include "exp/claim/claim_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct pw_claim_score *scores;

static int allocate(void **state)
{
    (void)state;
    scores = calloc(pw_claim_count, sizeof *scores);
    return scores ? 0 : -1;
}

static int release(void **state)
{
    (void)state;
    free(scores);
    return 0;
}

static const struct pw_claim_score *score_of(const char *id)
{
    const struct pw_claim *claim = pw_claim_find(id);
    assert_non_null(claim);
    return &scores[claim - pw_claims];
}

static struct pw_claim_evidence evidence(const char *figure, enum pw_scope scope, const char *id, double value)
{
    struct pw_claim_evidence e = {
        .figure = figure, .scope = scope, .outcome = {.claim = pw_claim_find(id), .count = 1, .values = {value}}};
    e.outcome.verdict = pw_claim_judge_values(e.outcome.claim, e.outcome.values, 1, NULL);
    return e;
}

static const char gain[] = "mosaic-fig08-avg"; /* 55.5% */

static void decide_gain(size_t count, const struct pw_claim_evidence *e, enum pw_verdict verdict, const char *figure)
{
    pw_claim_decide(e, count, NULL, scores);
    assert_int_equal(score_of(gain)->verdict, verdict);
    if (figure)
        assert_string_equal(score_of(gain)->evidence->figure, figure);
    else
        assert_null(score_of(gain)->evidence);
}

static void full_figures_decide_before_quick_ones_and_differing_ones_before_agreeing_ones(void **state)
{
    (void)state;
    const struct pw_claim_evidence quick_good = evidence("a", PW_QUICK, gain, 50),
                                   quick_bad = evidence("b", PW_QUICK, gain, 0),
                                   full_good = evidence("c", PW_FULL, gain, 60),
                                   full_bad = evidence("d", PW_FULL, gain, -55.5),
                                   missing = evidence("e", PW_FULL, gain, NAN);
    decide_gain(0, NULL, PW_NOT_RUN, NULL);
    decide_gain(1, &missing, PW_NOT_RUN, NULL);
    decide_gain(1, &quick_good, PW_HOLDS, "a");
    decide_gain(2, (struct pw_claim_evidence[]){quick_good, quick_bad}, PW_DIFFERS, "b");
    assert_int_equal(score_of(gain)->figures, 2);
    decide_gain(2, (struct pw_claim_evidence[]){quick_bad, quick_good}, PW_DIFFERS, "b");
    decide_gain(2, (struct pw_claim_evidence[]){quick_bad, missing}, PW_DIFFERS, "b");
    decide_gain(4, (struct pw_claim_evidence[]){quick_bad, quick_good, full_good, quick_good}, PW_HOLDS, "c");
    assert_int_equal(score_of(gain)->figures, 1);
    decide_gain(3, (struct pw_claim_evidence[]){full_bad, full_good, quick_good}, PW_DIFFERS, "d");
    decide_gain(3, (struct pw_claim_evidence[]){quick_good, full_good, full_bad}, PW_DIFFERS, "d");
    assert_int_equal(score_of(gain)->figures, 2);
}

static void a_weak_figure_counts_before_one_that_holds_and_after_one_that_differs(void **state)
{
    (void)state;
    struct pw_claim_evidence holds = evidence("a", PW_QUICK, gain, 50), differs = evidence("b", PW_QUICK, gain, 0),
                             weak = evidence("c", PW_QUICK, gain, 60), waits = evidence("d", PW_FULL, gain, 55);
    weak.outcome.verdict = PW_WEAK;
    snprintf(weak.outcome.null_design, sizeof weak.outcome.null_design, "gpu-mmu");
    weak.outcome.null_values[0] = 58.25;
    weak.outcome.null_verdict = PW_HOLDS;
    waits.outcome.verdict = PW_NOT_RUN;
    waits.outcome.awaits_null = true;
    snprintf(waits.outcome.null_design, sizeof waits.outcome.null_design, "gpu-mmu");
    decide_gain(2, (struct pw_claim_evidence[]){differs, weak}, PW_DIFFERS, "b");
    decide_gain(2, (struct pw_claim_evidence[]){waits, holds}, PW_HOLDS, "a");
    decide_gain(2, (struct pw_claim_evidence[]){holds, weak}, PW_WEAK, "c");
    struct pw_claim_filter filter = {NULL, PW_CLAIM_KIND_COUNT, PW_WEAK};
    struct pw_text text = {0};
    pw_claim_show_list(scores, &filter, &text);
    assert_non_null(strstr(text.bytes, " weak     c quick: holds with gpu-mmu in its place too: 58.25\n"));
    pw_text_free(&text);
    /* One whose null design was not run decides nothing, and says so. */
    decide_gain(1, &waits, PW_NOT_RUN, "d");
    assert_int_equal(score_of(gain)->figures, 0);
    filter.verdict = PW_NOT_RUN;
    pw_claim_show_list(scores, &filter, &text);
    assert_non_null(strstr(text.bytes, " not run  d full: runs with gpu-mmu in its place are missing\n"));
    pw_text_free(&text);
}

static void context_is_out_of_scope_and_figures_do_not_decide_mechanisms(void **state)
{
    (void)state;
    struct pw_claim_evidence e = {.figure = "a", .scope = PW_FULL, .outcome = {.verdict = PW_HOLDS}};
    for (size_t i = 0; i < pw_claim_count; i++) {
        e.outcome.claim = &pw_claims[i];
        if (pw_claims[i].judge != PW_JUDGE_TEST && pw_claims[i].judge != PW_JUDGE_NONE)
            continue;
        pw_claim_decide(&e, 1, NULL, scores);
        assert_int_equal(scores[i].verdict, pw_claims[i].kind == PW_CLAIM_CONTEXT ? PW_OUT_OF_SCOPE : PW_NOT_RUN);
        i += 40;
    }
}

/* Writes a log, reads it; the status. */
static enum pw_status read_log(const char *text, size_t length, struct pw_test_log *out, struct pw_error *err)
{
    char path[] = "/tmp/pagewalk-log-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    close(fd);
    enum pw_status status = pw_test_log_read(path, out, err);
    unlink(path);
    return status;
}

/* A row that one case of one program decides. */
static const struct pw_claim_test *test_of_one_case(void)
{
    for (const struct pw_claim_test *t = pw_claim_tests; t->id; t++) {
        bool alone = (t == pw_claim_tests || strcmp(t[-1].id, t->id) != 0) && (!t[1].id || strcmp(t[1].id, t->id) != 0);
        if (alone && pw_claim_find(t->id)->judge == PW_JUDGE_TEST)
            return t;
    }
    fail_msg("no such row");
    return NULL;
}

static enum pw_verdict verdict_by(const struct pw_claim_test *t, const char *lines)
{
    char text[2048];
    struct pw_test_log log;
    struct pw_error err = {0};
    int length = snprintf(text, sizeof text, "test,case,outcome\n%s", lines);
    assert_true(length < (int)sizeof text);
    if (read_log(text, (size_t)length, &log, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_claim_decide(NULL, 0, &log, scores);
    pw_test_log_release(&log);
    return score_of(t->id)->verdict;
}

static void a_mechanism_goes_by_the_case_that_names_it(void **state)
{
    (void)state;
    const struct pw_claim_test *t = test_of_one_case();
    char lines[1024];
    assert_int_equal(verdict_by(t, ""), PW_NOT_RUN);
    static const struct {
        const char *own, *other, *program;
        enum pw_verdict verdict;
    } cases[] = {
        {"pass", "pass", NULL, PW_HOLDS},   {"fail", "pass", NULL, PW_DIFFERS}, {"skip", "pass", NULL, PW_NOT_RUN},
        {"pass", "fail", NULL, PW_HOLDS},   {NULL, "pass", NULL, PW_NOT_RUN},   {NULL, "pass", "fail", PW_DIFFERS},
        {"pass", "pass", "fail", PW_HOLDS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int used = snprintf(lines, sizeof lines, "%s,\"another, with a comma\",%s\n", t->test, cases[i].other);
        if (cases[i].own)
            used +=
                snprintf(lines + used, sizeof lines - (size_t)used, "%s,\"%s\",%s\n", t->test, t->name, cases[i].own);
        if (cases[i].program)
            snprintf(lines + used, sizeof lines - (size_t)used, "%s,*,%s\r\n", t->test, cases[i].program);
        if (verdict_by(t, lines) != cases[i].verdict)
            fail_msg("case %zu", i);
    }
    snprintf(lines, sizeof lines, "other/program,%s,pass\n", t->name);
    assert_int_equal(verdict_by(t, lines), PW_NOT_RUN);
}

/* Whatever passes, and whatever a figure says. */
static void a_row_that_is_not_modelled_never_holds_and_says_why(void **state)
{
    (void)state;
    static const struct pw_claim_filter filter = {NULL, PW_CLAIM_KIND_COUNT, PW_NOT_MODELLED};
    size_t count = 0;
    struct pw_text list = {0}, json = {0};
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim *c = &pw_claims[i];
        assert_int_equal(c->judge == PW_JUDGE_NOT_MODELLED, c->reason[0] != 0);
        if (c->judge != PW_JUDGE_NOT_MODELLED)
            continue;
        struct pw_claim_evidence e = {.figure = "a", .scope = PW_FULL, .outcome = {.claim = c, .verdict = PW_HOLDS}};
        pw_claim_decide(&e, 1, NULL, scores);
        assert_int_equal(scores[i].verdict, PW_NOT_MODELLED);
        assert_null(pw_claim_first_test(c->id)->id);
        count++;
    }
    assert_true(count > 0);
    pw_claim_show_list(scores, &filter, &list);
    pw_claim_show_json(scores, &filter, &json);
    for (size_t i = 0; i < pw_claim_count; i++) {
        assert_int_equal(strstr(list.bytes, pw_claims[i].id) != NULL, pw_claims[i].reason[0] != 0);
        if (!pw_claims[i].reason[0])
            continue;
        assert_non_null(strstr(list.bytes, pw_claims[i].reason));
        assert_non_null(strstr(json.bytes, pw_claims[i].reason));
    }
    assert_non_null(strstr(json.bytes, "\"verdict\": \"not modelled\", \"reason\": \""));
    pw_text_free(&list);
    pw_text_free(&json);
}

static void a_row_that_several_tests_name_needs_all_of_them(void **state)
{
    (void)state;
    const struct pw_claim_test *t = pw_claim_tests;
    while (t[1].id &&
           (strcmp(t->id, t[1].id) != 0 || (t[2].id && strcmp(t->id, t[2].id) == 0) ||
            (t > pw_claim_tests && strcmp(t[-1].id, t->id) == 0) || pw_claim_find(t->id)->judge != PW_JUDGE_TEST))
        t++;
    assert_non_null(t[1].id);
    char lines[1024];
    int used = snprintf(lines, sizeof lines, "%s,\"%s\",pass\n", t[0].test, t[0].name);
    assert_int_equal(verdict_by(t, lines), PW_NOT_RUN);
    snprintf(lines + used, sizeof lines - (size_t)used, "%s,\"%s\",pass\n", t[1].test, t[1].name);
    assert_int_equal(verdict_by(t, lines), PW_HOLDS);
    snprintf(lines + used, sizeof lines - (size_t)used, "%s,\"%s\",fail\n", t[1].test, t[1].name);
    assert_int_equal(verdict_by(t, lines), PW_DIFFERS);
}

static void a_log_that_is_none_is_an_error_with_its_line(void **state)
{
    (void)state;
#define TEXT(text) text, sizeof(text) - 1
    static const struct {
        const char *text;
        size_t length;
        const char *message;
    } cases[] = {
        {TEXT("id,x\n"), ":1: is no test,case,outcome"},
        {TEXT("a,b,c\n"), ":1: does not begin with test,case,outcome"},
        {TEXT("test,case,outcome\nunit/x,y,maybe\n"), ":2: the outcome is none of pass, fail and skip"},
        {TEXT("test,case,outcome\nunit/x,y,pass\nunit/x,y,pass,more\n"), ":3: is no test,case,outcome"},
        {TEXT("test,case,outcome\nunit/x,\"y,pass\n"), ":2: is no test,case,outcome"},
        {TEXT("test,case,outcome\nunit/x,\"y\"z,pass\n"), ":2: is no test,case,outcome"},
        {TEXT("test,case,outcome\nunit/x,\0,pass\n"), "zero bytes"},
        {TEXT("test,case,outcome\nunit/x"), ":2: is no test,case,outcome"},
        {TEXT("test,case,outcome\n\""), ":2: is no test,case,outcome"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_test_log log;
        struct pw_error err = {0};
        assert_int_equal(read_log(cases[i].text, cases[i].length, &log, &err), PW_USER_ERROR);
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].message, err.message);
    }
    struct pw_test_log log;
    struct pw_error err = {0};
    assert_int_equal(pw_test_log_read("no/such/file", &log, &err), PW_USER_ERROR);
    assert_int_equal(read_log("", 0, &log, &err), PW_OK);
    assert_int_equal(log.count, 0);
    pw_test_log_release(&log);
    static const char quoted[] = "test,case,outcome\nunit/x,\"a \"\"b\"\", c\",pass\n";
    assert_int_equal(read_log(quoted, sizeof quoted - 1, &log, &err), PW_OK);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.outcomes[0].name, "a \"b\", c");
    pw_test_log_release(&log);
}

static const struct pw_claim_filter everything = {NULL, PW_CLAIM_KIND_COUNT, PW_VERDICT_COUNT};

static void verdicts_of_a_paper_add_up_to_its_rows(void **state)
{
    (void)state;
    const struct pw_claim_evidence e[] = {evidence("mosaic/fig08", PW_QUICK, gain, 50),
                                          evidence("mosaic/fig08", PW_QUICK, "mosaic-fig08-ideal-gap", 50)};
    struct pw_text text = {0};
    pw_claim_decide(e, 2, NULL, scores);
    pw_claim_show_totals(scores, &everything, &text);
    assert_non_null(strstr(
        text.bytes, "\nmosaic       headline       1     0        1        2             0             0      4\n"));
    size_t left_out = 0;
    for (size_t i = 0; i < pw_claim_count; i++)
        left_out += pw_claims[i].judge == PW_JUDGE_NOT_MODELLED;
    char line[128];
    snprintf(line, sizeof line, "\nall          all            1     0        1     %zu  %12zu            48   1247\n",
             1197 - left_out, left_out);
    assert_non_null(strstr(text.bytes, line));
    pw_text_free(&text);
    static const char *const uvm[] = {"uvm", NULL};
    struct pw_claim_filter filter = {uvm, PW_CLAIM_CONTEXT, PW_VERDICT_COUNT};
    pw_claim_show_totals(scores, &filter, &text);
    assert_null(strstr(text.bytes, "mosaic"));
    assert_null(strstr(text.bytes, "headline"));
    assert_non_null(
        strstr(text.bytes, "\nall    all          0     0        0        0             0             9      9\n"));
    pw_text_free(&text);
}

static void a_line_has_the_papers_value_ours_the_verdict_and_what_decided_it(void **state)
{
    (void)state;
    const struct pw_claim_evidence e[] = {evidence("mosaic/fig08", PW_FULL, gain, 12.345)};
    struct pw_claim_filter filter = everything;
    struct pw_text text = {0};
    pw_claim_decide(e, 1, NULL, scores);
    filter.verdict = PW_DIFFERS;
    pw_claim_show_list(scores, &filter, &text);
    assert_string_equal(text.bytes,
                        "id                where                       paper   ours   verdict  decided by\n"
                        "mosaic-fig08-avg  Fig. 8; Sec. 6.1; Abstract  55.5 %  12.35  differs  mosaic/fig08 full\n");
    pw_text_free(&text);
    pw_claim_show_json(scores, &filter, &text);
    assert_non_null(strstr(text.bytes, "\"verdict\": \"differs\", \"ours\": [12.345], \"figure\": \"mosaic/fig08\", "
                                       "\"scope\": \"full\", \"tests\": ["));
    pw_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_figures_decide_before_quick_ones_and_differing_ones_before_agreeing_ones),
        cmocka_unit_test(a_weak_figure_counts_before_one_that_holds_and_after_one_that_differs),
        cmocka_unit_test(context_is_out_of_scope_and_figures_do_not_decide_mechanisms),
        cmocka_unit_test(a_mechanism_goes_by_the_case_that_names_it),
        cmocka_unit_test(a_row_that_is_not_modelled_never_holds_and_says_why),
        cmocka_unit_test(a_row_that_several_tests_name_needs_all_of_them),
        cmocka_unit_test(a_log_that_is_none_is_an_error_with_its_line),
        cmocka_unit_test(verdicts_of_a_paper_add_up_to_its_rows),
        cmocka_unit_test(a_line_has_the_papers_value_ours_the_verdict_and_what_decided_it),
    };
    return cmocka_run_group_tests(tests, allocate, release);
}
