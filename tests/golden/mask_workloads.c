/* The workloads of MASK's figures at full size, against Sections 6 and 7.3 and Table 2: 27 programs, 35 pairs of them
 * in three categories, and mixes of up to five. */
#include "exp/figure/figure.h"
#include "workload/runtime/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "full_figure.h"

/* Table 2: whether a program often misses in the L1 TLBs and in the L2 TLB. */
struct class
{
    char program[16], l1[8], l2[8];
};

enum { PROGRAMS = 27 };

static struct class classes[PROGRAMS];

static bool is_high(const char *text)
{
    assert_true(!strcmp(text, "high") || !strcmp(text, "low"));
    return !strcmp(text, "high");
}

static int read_table_2(void **state)
{
    (void)state;
    FILE *file = fopen(PW_DATA "/mask-table2.csv", "r");
    assert_non_null(file);
    char line[512];
    size_t count = 0;
    while (fgets(line, sizeof line, file)) {
        struct class c;
        if (sscanf(line, "%15[^,#],%7[^,],%7[^,]", c.program, c.l1, c.l2) != 3 || !strcmp(c.l1, "l1"))
            continue;
        assert_true(count < PROGRAMS);
        classes[count++] = c;
    }
    fclose(file);
    assert_int_equal(count, PROGRAMS);
    return 0;
}

static const struct class *class_of(const char *program)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        if (!strcmp(classes[i].program, program))
            return &classes[i];
    fail_msg("%s is not in Table 2", program);
    return NULL;
}

/* Of a pair: how many of its programs are high in both, and how many low in both. */
static void count_classes(const char *pair, unsigned *out_high, unsigned *out_low)
{
    char text[64], *rest = NULL;
    assert_true(strlen(pair) < sizeof text);
    strcpy(text, pair);
    *out_high = *out_low = 0;
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        const struct class *c = class_of(at);
        *out_high += is_high(c->l1) && is_high(c->l2);
        *out_low += !is_high(c->l1) && !is_high(c->l2);
    }
}

/* mask-sec6-apps. */
static void there_are_27_programs(void **state)
{
    (void)state;
    unsigned count = 0;
    for (size_t i = 0; pw_workloads[i]; i++)
        if (pw_workloads[i]->papers && strstr(pw_workloads[i]->papers, "mask")) {
            class_of(pw_workloads[i]->name);
            count++;
        }
    assert_int_equal(count, PROGRAMS);
    struct pw_figure *f = load_full("mask/fig05");
    assert_int_equal(f->workload_count, PROGRAMS);
    pw_figure_free(f);
}

/* mask-sec6-pairs, mask-sec6-pair-exclusion, mask-sec6-hmr-def: n-HMR has the pairs of which n programs are high in
 * both, and there is no pair of two that are low in both. */
static void pairs_are_35_in_the_categories_that_table_2_gives_them(void **state)
{
    (void)state;
    static const char *const categories[] = {"0-HMR", "1-HMR", "2-HMR"};
    struct pw_figure *f = load_full("mask/fig11");
    assert_int_equal(f->workload_count, 35);
    assert_int_equal(f->group_count, 3);
    for (size_t i = 0; i < f->workload_count; i++) {
        const struct pw_figure_workload *w = &f->workloads[i];
        unsigned high, low;
        count_classes(w->programs, &high, &low);
        assert_int_equal(w->app_count, 2);
        assert_string_equal(f->groups[w->group], categories[high]);
        assert_true(low < 2);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(w->programs, f->workloads[k].programs);
    }
    pw_figure_free(f);
}

/* The pairs that the text names. */
static void named_pairs_are_in_their_categories(void **state)
{
    (void)state;
    static const struct {
        const char *claim, *programs;
        unsigned category;
    } pairs[] = {
        {"mask-pair-3ds-histo", "3DS,HISTO", 1},   {"mask-pair-mm-cons", "MM,CONS", 2},
        {"mask-pair-red-ray", "RED,RAY", 1},       {"mask-pair-red-bp", "RED,BP", 1},
        {"mask-pair-sc-fwt", "SC,FWT", 2},         {"mask-pair-scan-sad", "SCAN,SAD", 1},
        {"mask-pair-scan-histo", "SCAN,HISTO", 1}, {"mask-pair-scan-srad", "SCAN,SRAD", 2},
        {"mask-pair-scan-cons", "SCAN,CONS", 2},
    };
    struct pw_figure *f = load_full("mask/fig11");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t at = 0;
        while (at < f->workload_count && strcmp(f->workloads[at].programs, pairs[i].programs) != 0)
            at++;
        if (at == f->workload_count || (unsigned)(f->groups[f->workloads[at].group][0] - '0') != pairs[i].category)
            fail_msg("%s: %s is not in %u-HMR", pairs[i].claim, pairs[i].programs, pairs[i].category);
    }
    pw_figure_free(f);
}

/* mask-fig07-pairs, of which one is named. */
static void figure_7_has_four_pairs(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mask/fig07");
    bool named = false;
    assert_int_equal(f->workload_count, 4);
    for (size_t i = 0; i < f->workload_count; i++) {
        assert_int_equal(f->workloads[i].app_count, 2);
        named |= !strcmp(f->workloads[i].programs, "3DS,HISTO");
    }
    assert_true(named);
    pw_figure_free(f);
}

/* mask-sec73-range. */
static void table_3_has_one_to_five_applications(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mask/table3");
    unsigned seen = 0;
    for (size_t i = 0; i < f->workload_count; i++)
        seen |= 1U << f->workloads[i].app_count;
    assert_int_equal(seen, 0x3e);
    pw_figure_free(f);
}

/* mask-sec73-archs. */
static void table_4_has_two_other_gpus(void **state)
{
    (void)state;
    struct pw_figure *f = load_full("mask/table4");
    for (size_t i = 0; i < f->variant_count; i++) {
        const char *machine = f->variants[i].machine;
        assert_true(!strcmp(machine, "fermi") || !strcmp(machine, "integrated"));
        assert_int_equal(strncmp(f->variants[i].name, machine, strlen(machine)), 0);
    }
    pw_figure_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_27_programs),
        cmocka_unit_test(pairs_are_35_in_the_categories_that_table_2_gives_them),
        cmocka_unit_test(named_pairs_are_in_their_categories),
        cmocka_unit_test(figure_7_has_four_pairs),
        cmocka_unit_test(table_3_has_one_to_five_applications),
        cmocka_unit_test(table_4_has_two_other_gpus),
    };
    return cmocka_run_group_tests(tests, read_table_2, NULL);
}
