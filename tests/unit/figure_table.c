/* A figure's table: lines that stand for a sweep, labels that tell rows apart, variants that nothing uses, values that
 * fit no old limit; and how a claim's numbers are shown. */
#include "exp/claim/claim_format.h"
#include "exp/figure/figure.h"
#include "exp/figure/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "title: T\nmachine: mosaic\nmeasures: {speed: ipc}\n"
#define SWEPT                                                                                                          \
    "variants:\n  ideal: {design: ideal-tlb}\n"                                                                        \
    "  l1: {design: gpu-mmu, sweep: l1_tlb.base_entries 32 64}\n"                                                      \
    "  l2: {design: gpu-mmu, sweep: l2_tlb.base_entries 32 64}\n"                                                      \
    "  odd: {design: gpu-mmu, sweep: l1_tlb.base_entries 32 128}\n"
#define VECADD "workloads: {one: {list: vecadd}}\n"

static enum pw_status read_text(const char *text, struct pw_figure **out, struct pw_error *err)
{
    return pw_figure_read(text, strlen(text), "f", "test/figure", PW_QUICK, out, err);
}

static struct pw_figure *figure(const char *text)
{
    struct pw_figure *f;
    struct pw_error err = {0};
    if (read_text(text, &f, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f;
}

static void note_variant(void *context, size_t measure, size_t variant, bool alone, int group)
{
    (void)measure;
    (void)alone;
    (void)group;
    sprintf((char *)context + strlen(context), "%zu ", variant);
}

static void one_line_of_a_table_covers_a_sweep(void **state)
{
    (void)state;
    struct pw_figure *f = figure(HEAD SWEPT VECADD "table:\n"
                                                   "  \"* entries\": speed@l1-* / speed@ideal\n"
                                                   "  Both: speed@l1-*/speed@ l2-* * 2\n"
                                                   "  Plain: speed@odd-128\n");
    static const struct {
        const char *heading, *variants;
    } expected[] = {
        {"32 entries", "1 0 "}, {"64 entries", "2 0 "}, {"Both 32", "1 3 "}, {"Both 64", "2 4 "}, {"Plain", "6 "}};
    assert_int_equal(f->column_count, 5);
    for (size_t i = 0; i < 5; i++) {
        char variants[64] = "";
        assert_string_equal(f->columns[i].heading, expected[i].heading);
        pw_expression_references(f->columns[i].expression, note_variant, variants);
        assert_string_equal(variants, expected[i].variants);
    }
    assert_true(pw_figure_uses_variant(f, 3) && !pw_figure_uses_variant(f, 5) && pw_figure_uses_variant(f, 6));
    pw_figure_free(f);
}

static void mistakes_in_lines_of_sweeps_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"speed@ideal-*", "variant 'ideal' has none"},
        {"speed@nothing-*", "variant 'nothing' has none"},
        {"speed@l1-* / speed@odd-*", "'odd-*' has other values than the sweep before it"},
        {"nonsense@l1-*", "no such measure"},
        {"speed@l1- * 2", "no such variant"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct pw_figure *f;
        struct pw_error err = {0};
        snprintf(text, sizeof text, HEAD SWEPT VECADD "table: {Speed: \"%s\"}\n", cases[i].line);
        assert_int_equal(read_text(text, &f, &err), PW_USER_ERROR);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s", cases[i].line, err.message);
    }
}

static void labels_keep_the_parameters_that_tell_workloads_apart(void **state)
{
    (void)state;
    struct pw_figure *f =
        figure(HEAD SWEPT "workloads:\n"
                          "  one: {list: \"gather:table=64MB:ctas=64 vecadd:n=10k gather:table=32MB:ctas=64\"}\n"
                          "  two: {list: \"vecadd,gather:table=32MB vecadd,gather:table=64MB vecadd:n=10k\"}\n"
                          "  three: {list: \"alu,vecadd:n=1k,vecadd:n=2k alu,vecadd:n=1k,alu\"}\n"
                          "table: {Speed: speed@ideal}\n");
    static const char *const labels[] = {
        "gather:table=64MB:ctas=64", "vecadd", "gather:table=32MB:ctas=64",   "vecadd,gather:table=32MB",
        "vecadd,gather:table=64MB",  "vecadd", "alu,vecadd:n=1k,vecadd:n=2k", "alu,vecadd,alu"};
    assert_int_equal(f->workload_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(f->workloads[i].label, labels[i]);
    pw_figure_free(f);
}

/* A label always says which SMs are given. A group's own take the place of the list's, and a sample of a group is one
 * of workloads, each with all of the group's SMs. */
static void workloads_run_on_the_sms_that_are_given(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"vecadd,vecadd@20+10", "vecadd:n=1k,vecadd:n=1k@20+10"},
        {"alu,vecadd:n=2k@1+2", "alu:scale=0.1,vecadd:n=2k@1+2"},
        {"alu,vecadd:n=3k@1+2", "alu:scale=0.1,vecadd:n=3k@1+2"},
        {"gather@30", "gather:table=32MB@30"},
        {"alu,alu@3+27", "alu:scale=0.1,alu:scale=0.1@3+27"},
        {"alu,alu", "alu:scale=0.1,alu:scale=0.1"},
        {"HS,LPS@3+27", "HS:side=64,LPS:scale=0.1@3+27"},
        {"HS,LPS", "HS:side=64,LPS:scale=0.1"},
        {"HS,LPS@27+3", "HS:side=64,LPS:scale=0.1@27+3"},
    };
    struct pw_figure *f =
        figure(HEAD SWEPT "workloads:\n"
                          "  one: {list: \"vecadd:n=1k,vecadd:n=1k@20+10 alu,vecadd:n=2k@1+2 alu,vecadd:n=3k@1+2"
                          " gather:table=32MB@030\"}\n"
                          "  two: {list: \"HS,MM@20+10 alu,alu NN,NN\", sms: 3+27 even, quick: 1}\n"
                          "  three: {list: \"HS:side=64,LPS@20+10\", sms: 3+27 even 27+3}\n"
                          "table: {Speed: speed@ideal}\n");
    assert_int_equal(f->workload_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < f->workload_count; i++) {
        assert_string_equal(f->workloads[i].label, expected[i][0]);
        assert_string_equal(f->workloads[i].text, expected[i][1]);
        assert_null(strchr(f->workloads[i].programs, '@'));
    }
    pw_figure_free(f);
}

static void mistakes_in_sms_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *group, *message;
    } cases[] = {
        {"list: \"alu,alu@20\"", "f:9: workload 'alu,alu@20': there must be one number of SMs for each of 2"},
        {"list: \"alu@20,alu@10\"", "f:9: workload 'alu@20,alu@10': there must be one number of SMs for each of 2"},
        {"list: \"alu,alu@20+x\"", "f:9: unknown workload 'alu@20+x'; the SMs of all applications are given once"},
        {"list: \"alu,alu\", sms: 0+10", "f:9: workload 'alu,alu@0+10': every application needs at least one SM"},
        {"list: \"alu,alu\", sms: 10+10 ten", "f:9: 'ten' are no SMs; give even, or numbers such as 20+10"},
        {"list: \"alu,alu\", sms: \" \"", "f:9: 'workloads.one.sms' is empty"},
        {"list: \"alu@10\", copies: 2", "f:9: copies of 'alu@10': give the copies their SMs with 'sms'"},
        {"list: \"alu\", copies: 2, sms: 10", "f:9: workload 'alu,alu@10': there must be one number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct pw_figure *f;
        struct pw_error err = {0};
        snprintf(text, sizeof text, HEAD SWEPT "workloads: {one: {%s}}\ntable: {Speed: speed@ideal}\n", cases[i].group);
        assert_int_equal(read_text(text, &f, &err), PW_USER_ERROR);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: %s", cases[i].group, err.message);
    }
}

static void a_variant_that_nothing_uses_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *message;
    } cases[] = {{"{design: no-such-design}", "no-such-design"},
                 {"{design: gpu-mmu, set: no.option=1}", "no.option"},
                 {"{design: gpu-mmu, machine: no-machine}", "no-machine"},
                 {"{design: gpu-mmu, sweep: sm.count 1 0}", "sm.count"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct pw_error err = {0};
        struct pw_plan plan = {0};
        snprintf(text, sizeof text,
                 HEAD VECADD "variants:\n  4k: {design: gpu-mmu}\n  more: %s\ntable: {Speed: speed@4k}\n",
                 cases[i].variant);
        struct pw_figure *f = figure(text);
        assert_int_equal(pw_plan_add(&plan, f, 1, &err), PW_USER_ERROR);
        if (!strstr(err.message, "variant 'more") || !strstr(err.message, cases[i].message))
            fail_msg("%s", err.message);
        pw_plan_release(&plan);
        pw_figure_free(f);
    }
}

static void a_list_may_have_as_many_workloads_as_a_figure(void **state)
{
    (void)state;
    char *text = calloc(1, 1 << 17);
    strcpy(text, HEAD SWEPT "table: {Speed: speed@ideal}\nworkloads: {one: {list: \"");
    for (unsigned i = 0; i < PW_FIGURE_MAX_WORKLOADS; i++)
        sprintf(text + strlen(text), "vecadd:ctas=%u:iterations=100 ", i + 1);
    strcat(text, "\"}}\n");
    struct pw_figure *f = figure(text);
    assert_int_equal(f->workload_count, PW_FIGURE_MAX_WORKLOADS);
    pw_figure_free(f);
    free(text);
}

/* mosaic-fig15a-mosaic says "<1", which holds up to 0.99; mosaic-fig03-4k-loss has a number. */
static void shown_values_get_the_same_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double value;
        const char *shown;
    } cases[] = {{"mosaic-fig15a-mosaic", 0.99002, "0.99002"},
                 {"mosaic-fig15a-mosaic", 0.98998, "0.990"},
                 {"mosaic-fig15a-mosaic", 0.99998, "1.000"},
                 {"mosaic-fig15a-mosaic", 0.9, "0.900"},
                 {"mosaic-fig03-4k-loss", 48, "48.00"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_claim_outcome o = {.claim = pw_claim_find(cases[i].id), .count = 1, .values = {cases[i].value}};
        struct pw_text text = {0};
        assert_non_null(o.claim);
        o.verdict = pw_claim_judge_values(o.claim, o.values, 1, NULL);
        pw_claim_format_values(&o, &text);
        assert_string_equal(text.bytes, cases[i].shown);
        pw_text_free(&text);
    }
    assert_string_equal(pw_verdict_shown(PW_HOLDS, false), "holds");
    assert_string_equal(pw_verdict_shown(PW_DIFFERS, true), "\033[31mdiffers\033[0m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_of_a_table_covers_a_sweep),
        cmocka_unit_test(mistakes_in_lines_of_sweeps_are_told),
        cmocka_unit_test(labels_keep_the_parameters_that_tell_workloads_apart),
        cmocka_unit_test(workloads_run_on_the_sms_that_are_given),
        cmocka_unit_test(mistakes_in_sms_are_told),
        cmocka_unit_test(a_variant_that_nothing_uses_is_checked),
        cmocka_unit_test(a_list_may_have_as_many_workloads_as_a_figure),
        cmocka_unit_test(shown_values_get_the_same_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
