/* Conclusions of advice from the numbers of runs: the fastest policy, the memory that is needed, the size in question,
 * and the sentences; and how it says which calls help. */
#include "exp/tools/advise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { DESIGNS = 2, SIZES = 3 };

/* Two policies, `used` and `other`, at 100, 80 and 50 pages of a footprint of 100. */
struct fixture {
    struct pw_advice advice;
    struct pw_advice_memory memories[SIZES];
    struct pw_advice_point references[DESIGNS], points[SIZES * DESIGNS];
    struct pw_stored_run run, with_all;
    struct pw_allocation_result allocations[3];
    struct pw_profile_allocation made[3];
    struct pw_profile profile, *profiles[1];
};

static const char *const designs[] = {"used", "other"};

static void init(struct fixture *f, const uint64_t cycles[SIZES][DESIGNS])
{
    static const unsigned pages[SIZES] = {100, 80, 50};
    *f = (struct fixture){
        .allocations = {{.name = "calm", .pages = 10, .pages_in = 10},
                        {.name = "wild", .pages = 40, .pages_in = 120, .pages_thrashed = 80},
                        {.name = "mild", .pages = 40, .pages_in = 60, .pages_thrashed = 20}},
    };
    static const struct pw_profile_use uses[] = {{"solve", 3, 900}, {"_Z4gemmPf", 2, 10}, {"a", 1, 3}, {"b", 1, 2}};
    const struct pw_profile_allocation made[] = {
        {.name = "calm", .memory = "managed", .recorded_bytes = 40960, .order = 1, .members = 1, .has_name = true},
        {"wild", .memory = "managed", .recorded_bytes = 163840, .order = 2, .members = 1, .has_name = true,
         .written = true, .launches = 5, .first_launch = 1, .last_launch = 5, .kernels = uses, .kernel_count = 4},
        {"mild", .memory = "managed", .recorded_bytes = 160000, .order = 3, .members = 1, .has_name = true,
         .launches = 3, .first_launch = 2, .last_launch = 9, .kernels = uses, .kernel_count = 1}};
    memcpy(f->made, made, sizeof made);
    f->profile = (struct pw_profile){.allocation_count = 3, .allocations = f->made};
    f->profiles[0] = &f->profile;
    f->run = (struct pw_stored_run){.allocation_count = 3, .allocations = f->allocations};
    for (size_t d = 0; d < DESIGNS; d++)
        f->references[d] = (struct pw_advice_point){
            .run = &f->with_all, .cycles = 1000, .slowdown = 1, .pages_in = 100, .prefetched = 80, .never_used = 8};
    for (size_t m = 0; m < SIZES; m++) {
        f->memories[m] = (struct pw_advice_memory){4096ULL * pages[m], pages[m] / 100.0};
        for (size_t d = 0; d < DESIGNS; d++) {
            struct pw_advice_point *p = &f->points[m * DESIGNS + d];
            if (!cycles[m][d])
                *p = (struct pw_advice_point){.failure = "it is stuck\nwho waits for whom", .slowdown = NAN};
            else
                *p = (struct pw_advice_point){.run = &f->run,
                                              .cycles = cycles[m][d],
                                              .slowdown = (double)cycles[m][d] / 1000,
                                              .pages_in = 190,
                                              .prefetched = 100,
                                              .never_used = 25,
                                              .evicted = 110,
                                              .thrashed = 100};
        }
    }
    f->advice = (struct pw_advice){.spec = {.workload = "HS", .machine = "pascal", .designs = designs, .seed = 1},
                                   .allocated = 409000,
                                   .footprint = 409600,
                                   .touched = 204800,
                                   .memory_count = SIZES,
                                   .memories = f->memories,
                                   .references = f->references,
                                   .points = f->points,
                                   .profiles = f->profiles,
                                   .profile_count = 1};
    f->advice.spec.design_count = DESIGNS;
}

static void expect_sentence(const struct pw_advice *a, const char *sentence)
{
    struct pw_text text = {.width = 1000}; /* a line per sentence */
    pw_advice_sentences(a, &text);
    if (!strstr(text.bytes, sentence))
        fail_msg("\"%s\" is not in:\n%s", sentence, text.bytes);
    pw_text_free(&text);
}

static void test_the_fastest_policy_is_that_with_the_fewest_cycles_that_runs(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1001}, {3000, 2000}, {0, 0}});
    assert_int_equal(pw_advice_fastest(&f.advice, 0), 0);
    assert_int_equal(pw_advice_fastest(&f.advice, 1), 1);
    assert_int_equal(pw_advice_fastest(&f.advice, 2), DESIGNS);
}

static void test_full_speed_is_within_5_percent_at_this_size_and_all_larger_ones(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1050, 1051}, {1050, 1000}, {1051, 1000}});
    assert_int_equal(pw_advice_full_speed(&f.advice, 0), 1);
    assert_int_equal(pw_advice_full_speed(&f.advice, 1), SIZES); /* the largest size is too slow */
    assert_true(pw_advice_need(&f.advice, 0) == 4096 * 80);
    assert_true(pw_advice_need(&f.advice, 1) == 4096 * 100); /* all that comes */
    f.references[0].evicted = 1;
    assert_true(pw_advice_need(&f.advice, 0) == 0);
    expect_sentence(&f.advice, "Even all the memory of machine pascal is too little for it.\n");
}

static void test_a_size_that_fails_is_not_at_full_speed(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {0, 1000}, {0, 4000}});
    assert_int_equal(pw_advice_full_speed(&f.advice, 0), 0);
    expect_sentence(&f.advice, "With 200.00 KiB (50%) it does not run.\n");
    expect_sentence(&f.advice, "Recommendation: give it 400.00 KiB (100 pages of 4 KiB).\n");
    expect_sentence(&f.advice,
                    "\nIf the driver's policy could be changed: with 200.00 KiB (50%), other would let it run.\n");
    struct pw_text table = {0};
    pw_advice_table(&f.advice, &table);
    assert_non_null(strstr(table.bytes, "used fails with 200.00 KiB (50%): it is stuck\n"));
    assert_null(strstr(table.bytes, "who waits"));
    pw_text_free(&table);
}

static void test_the_size_in_question(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {2000, 2000}, {3000, 3000}});
    assert_int_equal(pw_advice_size_in_question(&f.advice), 2); /* the smallest that was asked for */
    f.advice.default_sizes = true;
    assert_int_equal(pw_advice_size_in_question(&f.advice), 1); /* the largest that is too slow */
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {1000, 1000}, {1000, 1000}});
    f.advice.default_sizes = true;
    assert_int_equal(pw_advice_size_in_question(&f.advice), 2);
}

static void test_sentences_say_the_numbers(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {2500, 2000}, {30000, 15000}});
    expect_sentence(&f.advice, "It allocates 400.00 KiB (100 pages of 4 KiB) and accesses 50 of them.\n");
    expect_sentence(&f.advice,
                    "Under used it needs 400.00 KiB (100 pages of 4 KiB), of which 8 are prefetched and never "
                    "used, to run at full speed; 320.00 KiB (80%) is too little.\n");
    expect_sentence(&f.advice, "With 320.00 KiB (80%) it takes 2.50 times as long.\n");
    expect_sentence(&f.advice,
                    "Prefetch wastes 10% with memory to spare: 8 of 80 prefetched pages were never used; with "
                    "200.00 KiB (50%) 25%, 25 of 100.\n");
    expect_sentence(&f.advice,
                    "With 200.00 KiB (50%) under used wild thrashes: 80% of the pages that came back, each "
                    "page came 3.0 times; mild thrashes: 20% of the pages that came back, each page came 1.5 "
                    "times.\n");
    expect_sentence(&f.advice,
                    "Recommendation: give it 400.00 KiB (100 pages of 4 KiB); or use less of wild at a time, "
                    "most of what thrashes.\n");
    expect_sentence(&f.advice,
                    "\nIf the driver's policy could be changed: with 200.00 KiB (50%), other would make it 2.00 "
                    "times as fast without calls.\n");
}

static void test_memory_to_spare_is_said(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {1000, 1000}, {1000, 1000}});
    for (size_t i = 0; i < SIZES * DESIGNS; i++)
        f.points[i] = f.references[i % DESIGNS];
    f.references[0].never_used = 0;
    expect_sentence(
        &f.advice,
        "Under used it needs 200.00 KiB (50 pages of 4 KiB) to run at full speed at most; no less was tried.\n");
    expect_sentence(&f.advice, "Prefetch wastes nothing with memory to spare: all 80 prefetched pages were used.\n");
    expect_sentence(&f.advice, "no page has to leave, and nothing thrashes.\n");
    expect_sentence(&f.advice, "Recommendation: 200.00 KiB (50%) is enough.\n");
}

/* Calls on wild and mild that were tried at 50 pages: together they are the best, one fails, one costs time. */
static void init_trial(struct fixture *f, struct pw_advice_trial *t, struct pw_try tries[5])
{
    init(f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {2500, 2000}, {30000, 15000}});
    static struct pw_advised names[2];
    const struct pw_advised first[] = {{.name = "wild", .count = 3, .apps = 1},
                                       {.name = "mild", .count = 1, .apps = 1}};
    memcpy(names, first, sizeof names);
    tries[0] = (struct pw_try){.plan = {{PW_ADVICE_ACCESSED_BY}}, .cycles = 10000};
    tries[1] = (struct pw_try){.plan = {{0, PW_ADVICE_PREFETCH}}, .cycles = 30000};
    tries[2] = (struct pw_try){.plan = {{PW_ADVICE_ACCESSED_BY, PW_ADVICE_PREFETCH}}, .cycles = 5000};
    tries[3] = (struct pw_try){.plan = {{PW_ADVICE_READ_MOSTLY}}, .failure = "it is stuck"};
    tries[4] = (struct pw_try){.plan = {{0, PW_ADVICE_READ_MOSTLY}}, .cycles = 36000};
    *t = (struct pw_advice_trial){.memory = 2,
                                  .allocations = names,
                                  .left_out = 1,
                                  .search = {.allocation_count = 2,
                                             .baseline = 30000,
                                             .tries = tries,
                                             .try_count = 5,
                                             .best = tries[2].plan,
                                             .best_cycles = 5000}};
    f->advice.trials = t;
    f->advice.trial_count = 1;
    f->advice.options = "link.remote_reads=256\nlink.remote_latency=1926\nlink.remote_bytes=32B\n";
}

static void test_calls_are_said_with_the_gain_of_each_and_harmful_ones_apart(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_advice_trial trial;
    struct pw_try tries[5];
    init_trial(&f, &trial, tries);
    expect_sentence(&f.advice,
                    "Recommendation: give it 400.00 KiB (100 pages of 4 KiB); with only 200.00 KiB (50%), the "
                    "calls below would make it 6.00 times as fast.\n");
    expect_sentence(
        &f.advice,
        "\nWith 200.00 KiB (50%), these calls help:\n"
        "  wild: managed, 160.00 KiB, written by launches 1 to 5 (solve, gemm, a and 1 more)\n"
        "    cudaMemAdvise(wild, 163840 /* 160.00 KiB */, cudaMemAdviseSetAccessedBy, device);\n"
        "      3.00 times as fast (10,000 instead of 30,000 cycles) alone; 6.00 times beside the others [each of 3 "
        "allocations of this name]\n"
        "  mild: managed, 156.25 KiB, read by 3 launches from 2 to 9 (solve)\n"
        "    cudaMemPrefetchAsync(mild, 160000 /* 156.25 KiB */, device, stream);\n"
        "      1.00 times as fast (30,000 instead of 30,000 cycles) alone; 2.00 times beside the others\n"
        "  Together: 6.00 times as fast (5,000 instead of 30,000 cycles).\n"
        "  Slower: read-mostly on wild (fails), read-mostly on mild (1.20 times as long).\n"
        "  5 combinations tried, on 2 of 3 allocations by name; 1 failed (it is stuck).\n");
    expect_sentence(&f.advice, "link.remote_latency = 1926 cycles");
    trial.search.best = (struct pw_plan){{0}};
    expect_sentence(&f.advice, "\nWith 200.00 KiB (50%), no call makes it 2% faster.\n  Slower: ");
    trial.search.cut = true;
    f.advice.spec.tries = 5;
    expect_sentence(&f.advice, "; --tries 5 ended the search.\n");
}

static void test_tries_that_were_stopped_are_told_from_those_that_ran(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_advice_trial trial;
    struct pw_try tries[5];
    init_trial(&f, &trial, tries);
    tries[0] = (struct pw_try){.plan = tries[0].plan, .stopped = 30600};
    tries[1] = (struct pw_try){.plan = tries[1].plan, .stopped = 30600};
    tries[4] = (struct pw_try){.plan = tries[4].plan, .stopped = 30600};
    expect_sentence(&f.advice, "\n      more than 1.02 times as long alone; more than 6.12 times beside the others [");
    expect_sentence(&f.advice,
                    "  Slower: read-mostly on wild (fails), accessed-by on wild, read-mostly on mild, prefetch "
                    "on mild (stopped at 1.02 times as long).\n");
    expect_sentence(&f.advice, "; 3 stopped early; 1 failed (it is stuck).\n");
    struct pw_text json = {0};
    pw_advice_json(&f.advice, &json);
    assert_non_null(strstr(json.bytes, "\"cycles_alone_more_than\": 30600"));
    assert_non_null(strstr(json.bytes, "{\"advice\": \"mild:read-mostly\", \"cycles_more_than\": 30600}"));
    pw_text_free(&json);
}

/* Of a recording: memory that does not page, and without names. */
static void test_device_memory_is_named_by_its_kind_and_said_to_need_a_change_first(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_advice_trial trial;
    struct pw_try tries[5];
    init_trial(&f, &trial, tries);
    f.made[1].memory = "device";
    f.made[1].has_name = false;
    f.made[1].order = 13;
    f.made[2].memory = "inferred";
    f.made[2].has_name = false;
    f.made[2].order = 1;
    f.made[2].members = 3;
    expect_sentence(&f.advice,
                    "First: some of its allocations, 160.00 KiB, are device memory from cudaMalloc, which never "
                    "pages and takes none of these calls.");
    expect_sentence(
        &f.advice,
        "  device_13: the 13th cudaMalloc, 160.00 KiB, written by launches 1 to 5 (solve, gemm, a and 1 "
        "more)\n    cudaMemAdvise(device_13, 163840 /* 160.00 KiB */, cudaMemAdviseSetAccessedBy, device);\n");
    expect_sentence(&f.advice,
                    "  inferred_1: the 1st allocation that was not recorded and 2 more that share its pages, ");
    expect_sentence(&f.advice, "under used device_13 thrashes: ");
    f.made[2].has_name = true; /* a place in its source */
    f.made[2].name = "mild";
    expect_sentence(&f.advice, "  mild: how it was allocated was not recorded and 2 more that share its pages, ");
    f.allocations[2].name = f.made[2].name = trial.allocations[1].name;
    strcpy(trial.allocations[1].name, "step.cu:42 in forward");
    expect_sentence(&f.advice,
                    "  inferred_1: the 1st allocation that was not recorded, \"step.cu:42 in forward\" and 2 more");
    expect_sentence(&f.advice, "cudaMemPrefetchAsync(inferred_1, 160000 /* 156.25 KiB */, device, stream);");
    expect_sentence(&f.advice, "  Slower: read-mostly on device_13 (fails), read-mostly on inferred_1 ");
    uint64_t with_calls[SIZES + 1] = {0, 0, 5000, 0};
    f.advice.with_calls = with_calls;
    struct pw_text text = {0};
    pw_advice_table(&f.advice, &text);
    assert_null(strstr(text.bytes, "wild"));
    assert_non_null(strstr(text.bytes, "\n  calm: managed, 40.00 KiB, no kernel accesses it\n"));
    pw_text_free(&text);
    text = (struct pw_text){0};
    pw_advice_json(&f.advice, &text);
    assert_non_null(strstr(text.bytes, "\"name\": \"wild\", \"called\": \"device_13\", "));
    assert_non_null(strstr(text.bytes, "\"memory\": \"device\", \"order\": 13, "));
    assert_non_null(strstr(text.bytes, "\"kernels\": [{\"name\": \"solve\", \"launches\": 3, \"accesses\": 900}, "));
    pw_text_free(&text);
}

static void test_how_often_pages_came_is_said_only_where_they_came_back(void **state)
{
    (void)state;
    struct fixture f;
    init(&f, (const uint64_t[SIZES][DESIGNS]){{1000, 1000}, {2500, 2000}, {30000, 15000}});
    f.allocations[1].pages_in = 36; /* of 40: most of it never comes */
    expect_sentence(&f.advice, " wild thrashes: 80% of the pages that came back; mild thrashes: 20% of the pages that "
                               "came back, each page came 1.5 times.\n");
}

static void test_what_is_known_after_an_interruption_is_said_to_be_that(void **state)
{
    (void)state;
    struct fixture f;
    struct pw_advice_trial trial;
    struct pw_try tries[5];
    init_trial(&f, &trial, tries);
    tries[4].cycles = 0;
    f.advice.interrupted = true;
    f.references[1] = f.points[1] = f.points[3] = f.points[5] = (struct pw_advice_point){0};
    uint64_t with_calls[SIZES + 1] = {0, 0, 5000, 0};
    f.advice.with_calls = with_calls;
    expect_sentence(&f.advice,
                    "  4 combinations tried, on 2 of 3 allocations by name; 1 failed (it is stuck); interrupted.\n");
    expect_sentence(&f.advice, "\nInterrupted: this rests on the runs that are finished.");
    struct pw_text text = {0};
    pw_advice_table(&f.advice, &text);
    if (!strstr(text.bytes, "  200.00 KiB             50%  30.0        5.00      -     used\n"))
        fail_msg("%s", strstr(text.bytes, "Time"));
    pw_text_free(&text);
    text = (struct pw_text){0};
    pw_advice_json(&f.advice, &text);
    assert_non_null(strstr(text.bytes, "\"interrupted\": true"));
    pw_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fastest_policy_is_that_with_the_fewest_cycles_that_runs),
        cmocka_unit_test(test_full_speed_is_within_5_percent_at_this_size_and_all_larger_ones),
        cmocka_unit_test(test_a_size_that_fails_is_not_at_full_speed),
        cmocka_unit_test(test_the_size_in_question),
        cmocka_unit_test(test_sentences_say_the_numbers),
        cmocka_unit_test(test_memory_to_spare_is_said),
        cmocka_unit_test(test_calls_are_said_with_the_gain_of_each_and_harmful_ones_apart),
        cmocka_unit_test(test_tries_that_were_stopped_are_told_from_those_that_ran),
        cmocka_unit_test(test_device_memory_is_named_by_its_kind_and_said_to_need_a_change_first),
        cmocka_unit_test(test_how_often_pages_came_is_said_only_where_they_came_back),
        cmocka_unit_test(test_what_is_known_after_an_interruption_is_said_to_be_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
