/* Figures as files: what comes out of one, which workloads a group stands for, and the message for every mistake. The
 * embedded figures name only what exists. */
#include "exp/figure/figure.h"
#include "exp/figure/sizes.h"
#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct pw_figure *read_text(const char *text, enum pw_scope scope)
{
    struct pw_figure *f;
    struct pw_error err = {0};
    if (pw_figure_read(text, strlen(text), "f", "test/figure", scope, &f, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f;
}

#define TITLE "title: T\n"
#define MACHINE "machine: mosaic\n"
#define VARIANTS "variants: {4k: {design: gpu-mmu}}\n"
#define WORKLOADS "workloads: {one: {list: vecadd}}\n"
#define MEASURES "measures: {speed: ipc}\n"
#define TABLE "table: {Speed: speed@4k}\n"

static void files_say_what_is_run_and_computed(void **state)
{
    (void)state;
    static const char text[] = "claims:\n"
                               "  mosaic-fig03-4k-loss: 100 * (1 - mean(speed@4k / speed@ideal))\n"
                               "  mosaic-fig04-worse-with-apps: mean(speed@4k); mean(speed@w-8); mean(hit@4k)\n"
                               "title: A title\n"
                               "where: Figure 3\n"
                               "machine: mosaic\n"
                               "set: dram.channels=4 sm.count=8\n"
                               "seed: 7\n"
                               "mean: geometric\n"
                               "notes: >\n  over two\n  lines\n"
                               "variants:\n"
                               "  4k: {design: gpu-mmu}\n"
                               "  ideal: {design: ideal-tlb, machine: mask, set: page.size=2MB}\n"
                               "  w: {design: gpu-mmu+pwcache, set: a=b, sweep: l1_tlb.base_entries 8 0.5}\n"
                               "workloads:\n"
                               "  pairs: {list: \"vecadd,gather:scale=3 alu\"}\n"
                               "measures:\n"
                               "  speed: ipc\n"
                               "  hit: app.l2_tlb.hits / app.l2_tlb.lookups\n"
                               "  ws: weighted_speedup\n"
                               "  fair: app.speedup * 2\n"
                               "table:\n"
                               "  4 KB pages: speed@4k / speed@ideal\n"
                               "  base_entries=0.5, hits: 100 * hit@w-0.5\n";
    struct pw_figure *f = read_text(text, PW_FULL);
    assert_string_equal(f->name, "test/figure");
    assert_string_equal(f->title, "A title");
    assert_string_equal(f->where, "Figure 3");
    assert_string_equal(f->notes, "over two lines");
    assert_true(f->seed == 7 && f->geometric && f->scope == PW_FULL);
    static const struct {
        const char *name, *machine, *design, *sets;
    } variants[] = {{"4k", "mosaic", "gpu-mmu", "dram.channels=4 sm.count=8 "},
                    {"ideal", "mask", "ideal-tlb", "dram.channels=4 sm.count=8 page.size=2MB "},
                    {"w-8", "mosaic", "gpu-mmu+pwcache", "dram.channels=4 sm.count=8 a=b l1_tlb.base_entries=8 "},
                    {"w-0.5", "mosaic", "gpu-mmu+pwcache", "dram.channels=4 sm.count=8 a=b l1_tlb.base_entries=0.5 "}};
    assert_int_equal(f->variant_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct pw_figure_variant *v = &f->variants[i];
        char sets[256] = "";
        for (size_t s = 0; s < v->set_count; s++)
            sprintf(sets + strlen(sets), "%s ", v->sets[s]);
        assert_string_equal(v->name, variants[i].name);
        assert_string_equal(v->machine, variants[i].machine);
        assert_string_equal(v->design, variants[i].design);
        assert_string_equal(sets, variants[i].sets);
        assert_int_equal(v->common_sets, 2);
    }
    assert_int_equal(f->workload_count, 2);
    assert_string_equal(f->workloads[0].programs, "vecadd,gather");
    assert_true(f->workloads[0].app_count == 2 && f->workloads[1].app_count == 1);
    assert_int_equal(f->measure_count, 4);
    assert_true(!f->measures[0].per_app && f->measures[1].per_app && !f->measures[2].per_app && f->measures[3].per_app);
    assert_true(!f->measures[0].needs_alone && !f->measures[1].needs_alone && f->measures[2].needs_alone &&
                f->measures[3].needs_alone);
    assert_int_equal(f->column_count, 2);
    assert_string_equal(f->columns[0].heading, "4 KB pages");
    assert_string_equal(f->columns[1].heading, "base_entries=0.5, hits");
    assert_int_equal(f->claim_count, 2);
    assert_string_equal(f->claims[0].claim->id, "mosaic-fig03-4k-loss");
    assert_true(f->claims[0].part_count == 1 && f->claims[1].part_count == 3);
    pw_figure_free(f);
}

/* The programs of the workloads of a group, separated by blanks. */
static void check_group(const char *group, enum pw_scope scope, const char *expected)
{
    char text[1024], got[16384] = "";
    snprintf(text, sizeof text, TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {g: {%s}}\n", group);
    struct pw_figure *f = read_text(text, scope);
    for (size_t i = 0; i < f->workload_count; i++)
        sprintf(got + strlen(got), "%s%s", i ? " " : "", f->workloads[i].programs);
    if (strcmp(got, expected) != 0)
        fail_msg("{%s} is '%s', not '%s'", group, got, expected);
    pw_figure_free(f);
}

static void samples_are_evenly_spread(void **state)
{
    (void)state;
    static const char all[] = "list: HS MM GUP TRD RED CFD NN RAY MUM LPS, quick: %s, full: 2";
    static const struct {
        const char *quick, *expected;
    } table[] = {{"1", "CFD"},           /* 10/2 */
                 {"2", "GUP RAY"},       /* 10/4, 30/4 */
                 {"3", "MM CFD MUM"},    /* 10/6, 30/6, 50/6 */
                 {"4", "MM TRD NN MUM"}, /* 10/8, 30/8, 50/8, 70/8 */
                 {"10", "HS MM GUP TRD RED CFD NN RAY MUM LPS"},
                 {"99", "HS MM GUP TRD RED CFD NN RAY MUM LPS"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char group[256];
        snprintf(group, sizeof group, all, table[i].quick);
        check_group(group, PW_QUICK, table[i].expected);
        check_group(group, PW_FULL, "GUP RAY");
    }
    check_group("list: HS MM GUP", PW_QUICK, "HS MM GUP");
    check_group("list: \"HS,MM GUP\", copies: 2", PW_FULL, "HS,MM,HS,MM GUP,GUP");
}

static void papers_have_their_programs_once(void **state)
{
    (void)state;
    static const char *const papers[] = {"mosaic", "mask"};
    for (size_t p = 0; p < 2; p++) {
        char text[512];
        snprintf(text, sizeof text,
                 TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {a: {each: %s}, b: {each: %s, copies: 5}}\n",
                 papers[p], papers[p]);
        struct pw_figure *f = read_text(text, PW_FULL);
        assert_int_equal(f->workload_count, 54);
        for (size_t i = 0; i < 27; i++) {
            char five[512];
            const char *one = f->workloads[i].programs;
            snprintf(five, sizeof five, "%s,%s,%s,%s,%s", one, one, one, one, one);
            assert_string_equal(f->workloads[27 + i].programs, five);
            assert_true(f->workloads[i].app_count == 1 && f->workloads[27 + i].app_count == 5);
            assert_true(f->workloads[i].group == 0 && f->workloads[27 + i].group == 1);
            for (size_t other = 0; other < i; other++)
                assert_string_not_equal(f->workloads[other].programs, one);
        }
        pw_figure_free(f);
    }
    /* NW and nw are one program; in the paper on demand paging it comes once. */
    struct pw_figure *f = read_text(TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {a: {each: uvm}}\n", PW_FULL);
    unsigned needles = 0;
    for (size_t i = 0; i < f->workload_count; i++)
        needles += !strcasecmp(f->workloads[i].programs, "nw");
    assert_int_equal(needles, 1);
    pw_figure_free(f);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The mix's programs in order of their names, for comparing; the caller's to free. */
static char *sorted(const char *programs)
{
    char *copy = strdup(programs), *rest = copy, *words[8], *out = calloc(1, strlen(programs) + 2);
    size_t count = 0;
    while (rest)
        words[count++] = strsep(&rest, ",");
    qsort(words, count, sizeof *words, compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (i)
            assert_string_not_equal(words[i - 1], words[i]);
        strcat(strcat(out, words[i]), ",");
    }
    free(copy);
    return out;
}

static void mixes_are_different_and_follow_the_seed(void **state)
{
    (void)state;
    static const char text[] = TITLE MACHINE VARIANTS MEASURES TABLE
        "workloads:\n"
        "  a: {random: 351, apps: 2, from: mosaic, seed: 3}\n" /* all pairs of 27 */
        "  b: {random: 25, apps: 3, from: mosaic, seed: 3}\n"
        "  c: {random: 25, apps: 3, from: mosaic, seed: 4}\n"
        "  d: {random: 25, apps: 3, from: mosaic, seed: 3, quick: 5}\n";
    struct pw_figure *f = read_text(text, PW_FULL), *quick = read_text(text, PW_QUICK);
    assert_int_equal(f->workload_count, 351 + 25 + 25 + 25);
    for (size_t i = 0; i < 351 + 25; i++) {
        char *mix = sorted(f->workloads[i].programs);
        for (size_t other = 0; other < i; other++) {
            char *before = sorted(f->workloads[other].programs);
            assert_string_not_equal(before, mix);
            free(before);
        }
        free(mix);
    }
    unsigned same = 0;
    for (size_t i = 0; i < 25; i++) {
        same += !strcmp(f->workloads[351 + i].programs, f->workloads[376 + i].programs);
        assert_string_equal(f->workloads[351 + i].programs, f->workloads[401 + i].programs);
    }
    assert_true(same < 3);
    for (size_t i = 0; i < 5; i++) /* of 25: 2, 7, 12, 17, 22 */
        assert_string_equal(quick->workloads[401 + i].programs, f->workloads[401 + 2 + 5 * i].programs);
    pw_figure_free(f);
    pw_figure_free(quick);
}

static void sizes_are_those_of_the_scope_unless_given(void **state)
{
    (void)state;
    static const char text[] = TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {a: {list: \"vecadd,HS:side=64\"}}\n";
    struct pw_sizes sizes;
    struct pw_error err = {0};
    assert_int_equal(pw_sizes_load(&sizes, &err), PW_OK);
    for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
        const char *size = pw_sizes_parameters(&sizes, "vecadd", scope);
        char expected[256];
        snprintf(expected, sizeof expected, "vecadd%s%s,HS:side=64", *size ? ":" : "", size);
        struct pw_figure *f = read_text(text, scope);
        assert_string_equal(f->workloads[0].text, expected);
        pw_figure_free(f);
    }
    pw_sizes_release(&sizes);
}

static void parameters_of_a_list_may_differ_by_scope(void **state)
{
    (void)state;
    static const char text[] =
        TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {a: {list: \"HS:side=512:iterations=2|side=64,vecadd:n=1k "
                                              "vecadd:n=9|n=3,HS:side=64|iterations=1@10+20\"}}\n";
    static const char *const expected[2][2] = {
        [PW_QUICK] = {"HS:side=64,vecadd:n=1k", "vecadd:n=3,HS:iterations=1@10+20"},
        [PW_FULL] = {"HS:side=512:iterations=2,vecadd:n=1k", "vecadd:n=9,HS:side=64@10+20"}};
    for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
        struct pw_figure *f = read_text(text, scope);
        for (size_t i = 0; i < 2; i++)
            assert_string_equal(f->workloads[i].text, expected[scope][i]);
        pw_figure_free(f);
    }
}

static void a_list_may_name_another(void **state)
{
    (void)state;
    static const char *const programs[] = {"vecadd", "FWT,BFS2", "SCAN,CONS", "MUM,HISTO"};
    struct pw_figure *f =
        read_text(TITLE MACHINE VARIANTS MEASURES TABLE "workloads: {a: {list: \"vecadd mask-ten alu\"}}\n", PW_FULL);
    assert_int_equal(f->workload_count, 12);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        assert_string_equal(f->workloads[i].programs, programs[i]);
    assert_string_equal(f->workloads[11].programs, "alu");
    pw_figure_free(f);
}

static void sizes_files_are_read(void **state)
{
    (void)state;
    static const char text[] = "quick: {default: scale=0.1, HS: side=64}\nfull: {default: \"\", HS: side=512}\n"
                               "cost: {HS: 0.5 12}\nlength: {HS: 0.25 9, MM: 1 2}\nagain: {HS: 0.125 3}\n";
    struct pw_sizes s;
    struct pw_error err = {0};
    if (pw_sizes_read(text, strlen(text), "s", &s, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_string_equal(pw_sizes_parameters(&s, "HS", PW_QUICK), "side=64");
    assert_string_equal(pw_sizes_parameters(&s, "HS", PW_FULL), "side=512");
    assert_string_equal(pw_sizes_parameters(&s, "MM", PW_QUICK), "scale=0.1");
    assert_string_equal(pw_sizes_parameters(&s, "MM", PW_FULL), "");
    assert_true(pw_sizes_seconds(&s, "HS", PW_QUICK) == 0.5 && pw_sizes_seconds(&s, "HS", PW_FULL) == 12);
    assert_true(pw_sizes_seconds(&s, "MM", PW_QUICK) == 1);
    assert_true(pw_sizes_milliseconds(&s, "HS", PW_QUICK) == 0.25 && pw_sizes_milliseconds(&s, "HS", PW_FULL) == 9);
    assert_true(pw_sizes_milliseconds(&s, "MM", PW_FULL) == 2 && pw_sizes_milliseconds(&s, "NW", PW_FULL) == 0);
    assert_true(pw_sizes_again_milliseconds(&s, "HS", PW_QUICK) == 0.125);
    assert_true(pw_sizes_again_milliseconds(&s, "HS", PW_FULL) == 3);
    assert_true(pw_sizes_again_milliseconds(&s, "MM", PW_FULL) == 2);
    assert_true(pw_sizes_again_milliseconds(&s, "NW", PW_FULL) == 0);
    pw_sizes_release(&s);
    static const struct {
        const char *text, *message;
    } table[] = {
        {"quik: {HS: side=64}", "s:1: 'quik.HS' is not one of quick.PROGRAM, full.PROGRAM, cost.PROGRAM, "
                                "length.PROGRAM, again.PROGRAM, lists.NAME; did you mean quick"},
        {"quick: 1",
         "s:1: 'quick' is not one of quick.PROGRAM, full.PROGRAM, cost.PROGRAM, length.PROGRAM, again.PROGRAM, "
         "lists.NAME; did you mean quick"},
        {"cost:\n  HS: 1", "s:2: the cost of 'HS' has to be two numbers above 0, quick and full"},
        {"cost: {HS: 1 -2}", "s:1: the cost of 'HS' has to be two numbers above 0, quick and full"},
        {"cost: {HS: 1 2 3}", "s:1: the cost of 'HS' has to be two numbers above 0, quick and full"},
        {"length: {HS: 0 1}", "s:1: the length of 'HS' has to be two numbers above 0, quick and full"},
        {"cost: {HS: 1 inf}", "s:1: the cost of 'HS' has to be two numbers above 0, quick and full"},
        {"full: {vecad: scale=2}", "s:1: unknown workload 'vecad'; did you mean vecadd?"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(pw_sizes_read(table[i].text, strlen(table[i].text), "s", &s, &err), PW_USER_ERROR);
        assert_string_equal(err.message, table[i].message);
    }
}

static void check_mistakes(const char *const (*table)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
            struct pw_figure *f;
            struct pw_error err = {0};
            if (pw_figure_read(table[i][0], strlen(table[i][0]), "f", "n", scope, &f, &err) != PW_USER_ERROR)
                fail_msg("accepted: %s", table[i][0]);
            assert_string_equal(err.message, table[i][1]);
            assert_null(f);
        }
}

#define REST MACHINE VARIANTS WORKLOADS MEASURES TABLE
#define BEFORE_VARIANTS TITLE WORKLOADS MEASURES TABLE
#define BEFORE_WORKLOADS TITLE MACHINE VARIANTS MEASURES TABLE
#define BEFORE_EXPRESSIONS TITLE MACHINE VARIANTS WORKLOADS

static void mistakes_in_keys_and_variants_are_told(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"a: [1]\n", "f:1: lists are not accepted"},
        {"title: T\nvarients: {a: {design: b}}\n", "f:2: unknown key 'varients'; did you mean 'variants'?"},
        {"colour: red\n",
         "f:1: unknown key 'colour' (there are: title where machine set seed mean scope notes variants "
         "workloads measures table claims)"},
        {"title: {a: b}\n", "f:1: 'title' takes a text, not a map"},
        {"title: \"\"\n", "f:1: 'title' is empty"},
        {"title: \"a\\x1b[1m\"\n", "f:1: 'title' holds a control character"},
        {"table: {\"a\\x07\": b}\n", "f:1: 'table.a?' holds a control character"},
        {"variants: 4k\n", "f:1: 'variants' has to be a map (name: …)"},
        {"variants:\n  4k: gpu-mmu\n", "f:2: 'variants.4k' has to be a map, for example {design: …}"},
        {"variants:\n  4k: {desing: gpu-mmu}\n", "f:2: unknown key 'variants.4k.desing'; did you mean 'design'?"},
        {"workloads: {a: {lists: HS}}\n", "f:1: unknown key 'workloads.a.lists'; did you mean 'list'?"},
        {"measures: {4.5 KB: ipc}\n", "f:1: the name '4.5 KB' must have no '.' and no map below it"},
        {REST, "f:1: a figure needs a title"},
        {TITLE REST "seed: x\n", "f:7: 'x' is not a whole number from 1 to 18446744073709551615"},
        {TITLE REST "seed: 0\n", "f:7: '0' is not a whole number from 1 to 18446744073709551615"},
        {TITLE REST "seed: 18446744073709551616\n",
         "f:7: '18446744073709551616' is not a whole number from 1 to 18446744073709551615"},
        {TITLE REST "mean: harmonic\n", "f:7: mean has to be 'arithmetic' or 'geometric', not 'harmonic'"},
        {TITLE REST "scope: quick\n", "f:7: scope has to be 'full' or left out, not 'quick'"},
        {TITLE REST "set: page.size\n", "f:7: 'page.size' is not an option, key=value"},
        {BEFORE_VARIANTS, "f:1: a figure needs variants, for example {4k: {design: gpu-mmu}}"},
        {BEFORE_VARIANTS VARIANTS, "f:5: variant '4k' has no machine, and the figure has none"},
        {BEFORE_VARIANTS "variants: {4k: {machine: mask}}", "f:5: variant '4k' has no design"},
        {BEFORE_VARIANTS MACHINE "variants: {a b: {design: x}}",
         "f:6: the name 'a b' may have letters, digits, '_' and single '-' inside"},
        {BEFORE_VARIANTS MACHINE "variants: {a-: {design: x}}",
         "f:6: the name 'a-' may have letters, digits, '_' and single '-' inside"},
        {BEFORE_VARIANTS MACHINE "variants: {a: {design: x, sweep: o}}",
         "f:6: a sweep is an option and its values: OPTION v1 v2 …"},
        {BEFORE_VARIANTS MACHINE "variants: {a: {design: x, sweep: o 1 1}}", "f:6: there are two variants 'a-1'"},
        {BEFORE_VARIANTS MACHINE "variants: {a-1: {design: x}, a: {design: x, sweep: o 1}}",
         "f:6: there are two variants 'a-1'"},
    };
    check_mistakes(table, sizeof table / sizeof *table);
}

static void mistakes_in_workloads_are_told(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {BEFORE_WORKLOADS, "f:1: a figure needs workloads, for example {1-app: {each: mosaic}}"},
        {BEFORE_WORKLOADS "workloads: {a: {list: vecadd vecad}}",
         "f:6: unknown workload 'vecad'; did you mean vecadd?"},
        {BEFORE_WORKLOADS "workloads: {a: {list: \"vecadd,,HS\"}}",
         "f:6: unknown workload ''; `pagewalk list workloads` names them"},
        {BEFORE_WORKLOADS "workloads: {a: {each: mosiac}}",
         "f:6: no workload belongs to a paper 'mosiac'; did you mean 'mosaic'?"},
        {BEFORE_WORKLOADS "workloads: {a: {list: \"HS|side=64\"}}",
         "f:6: 'HS|side=64': a '|' stands between parameters, as in nw:length=2048|length=1024"},
        {BEFORE_WORKLOADS "workloads: {a: {each: mosaic, list: HS}}",
         "f:6: group 'a' needs one of 'list', 'each' and 'random'"},
        {BEFORE_WORKLOADS "workloads: {a: {quick: 2}}", "f:6: group 'a' needs one of 'list', 'each' and 'random'"},
        {BEFORE_WORKLOADS "workloads: {a: {each: mosaic, copies: 65}}", "f:6: '65' is not a whole number from 1 to 64"},
        {BEFORE_WORKLOADS "workloads: {a: {each: mosaic, apps: 2}}", "f:6: 'apps' goes with 'random' only"},
        {BEFORE_WORKLOADS "workloads: {a: {random: 2, apps: 2, from: mosaic, copies: 2}}",
         "f:6: 'copies' goes with 'each' or 'list' only"},
        {BEFORE_WORKLOADS "workloads: {a: {random: 2, apps: 2}}",
         "f:6: random mixes need 'apps' (how many) and 'from' (a paper)"},
        {BEFORE_WORKLOADS "workloads: {a: {random: 352, apps: 2, from: mosaic}}",
         "f:6: 27 programs make 351 different mixes of 2, not 352"},
        {BEFORE_WORKLOADS "workloads: {a: {random: 1, apps: 28, from: mosaic}}",
         "f:6: 27 programs make 0 different mixes of 28, not 1"},
        {BEFORE_WORKLOADS "workloads: {a: {random: 1025, apps: 3, from: mosaic}}",
         "f:6: '1025' is not a whole number from 1 to 1024"},
        {BEFORE_WORKLOADS "workloads: {a: {list: \"vecadd,HS\", copies: 33}}",
         "f:6: a workload has at most 64 applications"},
        {BEFORE_WORKLOADS "workloads:\n  a: {random: 1024, apps: 3, from: mosaic}\n  b: {list: vecadd}",
         "f:8: a figure has at most 1024 workloads"},
        {BEFORE_WORKLOADS "workloads: {a b: {list: HS}}",
         "f:6: the name 'a b' may have letters, digits, '_' and single '-' inside"},
    };
    check_mistakes(table, sizeof table / sizeof *table);
}

static void mistakes_in_expressions_are_told(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {BEFORE_EXPRESSIONS TABLE, "f:1: a figure needs measures, for example {speed: ipc}"},
        {BEFORE_EXPRESSIONS MEASURES, "f:1: a figure needs a table or claims"},
        {BEFORE_EXPRESSIONS TABLE "measures: {4speed: ipc}",
         "f:6: the measure's name '4speed' has to begin with a letter and go on with letters, digits, '_' and single "
         "'-'"},
        {BEFORE_EXPRESSIONS TABLE "measures:\n  hits: l1_tlb.hist",
         "f:7: in \"l1_tlb.hist\" at 'l1_tlb.hist': no such metric; did you mean 'l1_tlb.hits'?"},
        {BEFORE_EXPRESSIONS TABLE "measures: {x: option.sm.coutn}",
         "f:6: in \"option.sm.coutn\" at 'option.sm.coutn': no such metric; did you mean 'option.sm.count'?"},
        {BEFORE_EXPRESSIONS MEASURES "table: {a: spee@4k}",
         "f:6: in \"spee@4k\" at 'spee': no such measure; did you mean 'speed'?"},
        {BEFORE_EXPRESSIONS MEASURES "table: {a: mean(speed@4k)}",
         "f:6: column 'a' is one number; a column has one per workload"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig03-"
                                     "4k-los: mean(speed@4k)}",
         "f:6: unknown claim 'mosaic-fig03-"
         "4k-los'; did you mean 'mosaic-fig03-4k-loss'?"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig03-"
                                     "same-entries: mean(speed@4k)}",
         "f:6: claim 'mosaic-fig03-"
         "same-entries' is not for figures to decide: its judge is 'test'"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig03-4k-loss: speed@4k}",
         "f:6: claim 'mosaic-fig03-4k-loss' needs one number; mean(), max() and others make one"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig03-4k-loss: 48.1}",
         "f:6: in \"48.1\" at its end: no measure is named: a constant cannot stand in for a run"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig04-worse-with-apps: mean(speed@4k); mean(speed@4k)}",
         "f:6: claim 'mosaic-fig04-worse-with-apps' has 3 parts ('92.5<98.0<99.8'), its expressions (separated by ';') "
         "are 2"},
        {BEFORE_EXPRESSIONS MEASURES "claims: {mosaic-fig03-4k-loss: mean(speed@4k); }",
         "f:6: in \"\" at its end: a number, a name or '(' is missing"},
    };
    check_mistakes(table, sizeof table / sizeof *table);
}

/* Repeats `format` with numbers from 0 on. */
static char *repeat(const char *before, const char *format, unsigned count, const char *after)
{
    size_t capacity = strlen(before) + strlen(after) + count * (strlen(format) + 16) + 1, length;
    char *text = malloc(capacity);
    length = (size_t)sprintf(text, "%s", before);
    for (unsigned i = 0; i < count; i++)
        length +=
            (size_t)sprintf(text + length, "%.*s%u%s", (int)strcspn(format, "#"), format, i, strchr(format, '#') + 1);
    strcpy(text + length, after);
    return text;
}

static void counts_are_limited(void **state)
{
    (void)state;
    static const struct {
        const char *before, *format, *after, *message;
        unsigned limit;
    } table[] = {
        {TITLE MACHINE WORKLOADS MEASURES "table: {a: speed@v0}\nvariants:\n", "  v#: {design: x}\n", "",
         "a figure has at most 64 variants", 64},
        {TITLE MACHINE VARIANTS MEASURES TABLE "workloads:\n", "  g#: {list: vecadd}\n", "",
         "a figure has at most 64 groups of workloads", 64},
        {TITLE MACHINE VARIANTS WORKLOADS "table: {a: m0@4k}\nmeasures:\n", "  m#: ipc\n", "",
         "a figure has at most 64 measures", 64},
        {TITLE MACHINE VARIANTS WORKLOADS MEASURES "table:\n", "  c#: speed@4k\n", "", "a table has at most 64 columns",
         64},
        {TITLE MACHINE VARIANTS WORKLOADS MEASURES TABLE "set: ", "a=# ", "", "a variant sets more than 64 options",
         64},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (unsigned over = 0; over < 2; over++) {
            char *text = repeat(table[i].before, table[i].format, table[i].limit + over, table[i].after);
            struct pw_figure *f;
            struct pw_error err = {0};
            enum pw_status status = pw_figure_read(text, strlen(text), "f", "n", PW_FULL, &f, &err);
            if (status != (over ? PW_USER_ERROR : PW_OK))
                fail_msg("%s %s", table[i].message, err.message);
            if (over)
                assert_non_null(strstr(err.message, table[i].message));
            pw_figure_free(f);
            free(text);
        }
}

static void figures_are_found_by_name_or_file(void **state)
{
    (void)state;
    struct pw_figure *f;
    struct pw_error err = {0};
    assert_int_equal(pw_figure_load("mosaic/fig3", PW_QUICK, &f, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "unknown figure 'mosaic/fig3'; did you mean 'mosaic/fig03'?");
    assert_int_equal(pw_figure_load("./none", PW_QUICK, &f, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "./none: cannot be opened: No such file or directory");
    char path[] = "./pagewalk-figure-test-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    static const char text[] = TITLE MACHINE VARIANTS WORKLOADS MEASURES TABLE;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    for (unsigned skip = 0; skip <= 2; skip += 2) {
        assert_int_equal(pw_figure_load(path + skip, PW_QUICK, &f, &err), PW_OK);
        assert_string_equal(f->name, path + skip);
        assert_string_equal(f->where, "");
        pw_figure_free(f);
    }
    unlink(path);
}

static void note_name(void *context, const struct pw_listing *entry)
{
    char *names = context;
    sprintf(names + strlen(names), " %s %s", entry->name, entry->detail);
    strcat(names, " ");
}

static void assert_known(const char *known, const char *name, const char *file)
{
    char word[256];
    snprintf(word, sizeof word, " %s ", name);
    if (!strstr(known, word))
        fail_msg("%s: there is no '%s'", file, name);
}

/* Programs, metrics and claims are checked by the reading itself; pw_figure_load leaves the metrics to this test. */
static void embedded_figures_name_only_what_exists(void **state)
{
    (void)state;
    char machines[8192] = "", designs[8192] = "";
    struct pw_error err = {0};
    assert_int_equal(pw_list(PW_LIST_MACHINES, note_name, machines, &err), PW_OK);
    assert_int_equal(pw_list(PW_LIST_DESIGNS, note_name, designs, &err), PW_OK);
    size_t count = 0;
    for (const struct pw_figure_file *file = pw_figure_files; file->name; file++, count++)
        for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
            struct pw_figure *f;
            if (pw_figure_read(file->text, file->length, file->path, file->name, scope, &f, &err) != PW_OK)
                fail_msg("%s", err.message);
            for (size_t i = 0; i < f->variant_count; i++) {
                assert_known(machines, f->variants[i].machine, file->path);
                char *copy = strdup(f->variants[i].design), *rest = copy;
                while (rest)
                    assert_known(designs, strsep(&rest, "+"), file->path);
                free(copy);
            }
            if (!*f->where)
                fail_msg("%s does not say where in the paper it stands", file->path);
            pw_figure_free(f);
            if (count > 0)
                assert_true(strcmp(file[-1].name, file->name) < 0);
        }
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_say_what_is_run_and_computed),
        cmocka_unit_test(samples_are_evenly_spread),
        cmocka_unit_test(papers_have_their_programs_once),
        cmocka_unit_test(mixes_are_different_and_follow_the_seed),
        cmocka_unit_test(sizes_are_those_of_the_scope_unless_given),
        cmocka_unit_test(parameters_of_a_list_may_differ_by_scope),
        cmocka_unit_test(a_list_may_name_another),
        cmocka_unit_test(sizes_files_are_read),
        cmocka_unit_test(mistakes_in_keys_and_variants_are_told),
        cmocka_unit_test(mistakes_in_workloads_are_told),
        cmocka_unit_test(mistakes_in_expressions_are_told),
        cmocka_unit_test(counts_are_limited),
        cmocka_unit_test(figures_are_found_by_name_or_file),
        cmocka_unit_test(embedded_figures_name_only_what_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
