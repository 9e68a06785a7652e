/* The timeline as a file: what a JSON parser reads back, what the limit does, what is left of a run that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pagewalk/pagewalk.h"
#include "sim/timeline.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "run.trace"

/* Each test has a folder of its own to work in. */
static int enter(void **state)
{
    char *folder = strdup("timeline.XXXXXX");
    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave(void **state)
{
    unlink(FILE_NAME);
    int status = chdir("..") || rmdir(*state);
    free(*state);
    return status;
}

static unsigned files(void)
{
    unsigned count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static json_t *load(void)
{
    json_error_t problem;
    json_t *root = json_load_file(FILE_NAME, JSON_REJECT_DUPLICATES, &problem);
    if (!root)
        fail_msg("line %d: %s", problem.line, problem.text);
    return root;
}

static const char *text_of(const json_t *event, const char *member)
{
    const char *text = json_string_value(json_object_get(event, member));
    return text ? text : "";
}

static double number_of(const json_t *event, const char *member)
{
    const json_t *number = json_object_get(event, member);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

static struct pw_timeline *begin(uint64_t limit, uint32_t clock_mhz)
{
    struct pw_timeline *t;
    struct pw_error err;
    if (pw_timeline_create(FILE_NAME, limit, clock_mhz, &t, &err) != PW_OK)
        fail_msg("%s", err.message);
    return t;
}

static void end(struct pw_timeline *t)
{
    struct pw_error err;
    assert_false(access(FILE_NAME, F_OK) == 0);
    if (pw_timeline_finish(t, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_timeline_destroy(t);
    assert_int_equal(files(), 1);
}

static void an_interval_has_its_names_and_its_time_in_microseconds(void **state)
{
    (void)state;
    struct pw_timeline *t = begin(0, 2000);
    uint32_t empty = pw_timeline_group(t, "nobody");
    pw_timeline_tracks(t, empty, "unused", 3);
    uint32_t group = pw_timeline_group(t, "SM %u", 7U);
    uint32_t first = pw_timeline_tracks(t, group, "a \"quoted\"\n\\ name \xff", 2);
    pw_timeline_record(t, &(struct pw_interval){.track = first + 1,
                                                .name = "walk",
                                                .from = 3000,
                                                .to = 5001,
                                                .app = 2,
                                                .has_page = true,
                                                .page = {0x7f4000000}});
    end(t);
    json_t *root = load();
    const json_t *events = json_object_get(root, "traceEvents"), *event;
    assert_int_equal(json_array_size(events), 5); /* two names, two places, one interval */
    event = json_array_get(events, 0);
    assert_string_equal(text_of(event, "name"), "process_name");
    assert_string_equal(text_of(json_object_get(event, "args"), "name"), "SM 7");
    event = json_array_get(events, 2);
    assert_string_equal(text_of(event, "name"), "thread_name");
    assert_string_equal(text_of(json_object_get(event, "args"), "name"), "a \"quoted\"?\\ name ? 2");
    event = json_array_get(events, 4);
    assert_string_equal(text_of(event, "ph"), "X");
    assert_true(number_of(event, "ts") == 1.5 && number_of(event, "dur") == 1.001);
    assert_true(number_of(event, "pid") == number_of(json_array_get(events, 0), "pid"));
    assert_true(number_of(event, "tid") == number_of(json_array_get(events, 2), "tid"));
    assert_string_equal(text_of(json_object_get(event, "args"), "page"), "0x7f4000000000");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "args"), "app")), 2);
    json_decref(root);
}

/* Two GPUs have an SM of the same number each, and what belongs to neither has its own name. */
static void groups_name_the_part_they_belong_to(void **state)
{
    (void)state;
    static const char *const parts[] = {"gpu0", "gpu1", NULL}, *const names[] = {"gpu0 SM 7", "gpu1 SM 7", "SM 7"};
    struct pw_timeline *t = begin(0, 1000);
    for (unsigned i = 0; i < 3; i++) {
        pw_timeline_part(t, parts[i]);
        uint32_t track = pw_timeline_tracks(t, pw_timeline_group(t, "SM %u", 7U), "t", 1);
        pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "x", .from = 0, .to = 1});
    }
    end(t);
    json_t *root = load();
    const json_t *events = json_object_get(root, "traceEvents");
    unsigned found = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (!strcmp(text_of(event, "name"), "process_name"))
            assert_string_equal(text_of(json_object_get(event, "args"), "name"), names[found++]);
    }
    assert_int_equal(found, 3);
    json_decref(root);
}

static void a_run_without_events_is_still_a_timeline(void **state)
{
    (void)state;
    end(begin(0, 1000));
    json_t *root = load();
    assert_int_equal(json_array_size(json_object_get(root, "traceEvents")), 0);
    json_decref(root);
}

static void events_beyond_the_limit_are_counted_and_a_note_says_so(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit <= 11; limit += 5) {
        struct pw_timeline *t = begin(limit, 1000);
        uint32_t track = pw_timeline_tracks(t, pw_timeline_group(t, "g"), "t", 1);
        for (uint64_t i = 0; i < 10; i++)
            pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "x", .from = 10 * i, .to = 10 * i + 5});
        end(t);
        json_t *root = load();
        const json_t *other = json_object_get(root, "otherData"), *event;
        size_t i;
        uint64_t kept = 0, notes = 0;
        json_array_foreach(json_object_get(root, "traceEvents"), i, event)
        {
            kept += !strcmp(text_of(event, "ph"), "X");
            notes += !strcmp(text_of(event, "ph"), "i") && strstr(text_of(event, "name"), "limit");
        }
        assert_int_equal(kept, limit < 10 ? limit : 10);
        assert_int_equal(json_integer_value(json_object_get(other, "events")), kept);
        assert_int_equal(json_integer_value(json_object_get(other, "events_left_out")), 10 - kept);
        assert_int_equal(notes, limit < 10);
        assert_int_equal(json_object_get(other, "note") != NULL, limit < 10);
        json_decref(root);
        unlink(FILE_NAME);
    }
}

/* With 3,333 MHz a cycle is shorter than the nanosecond to which times are rounded. */
static void what_does_not_overlap_in_cycles_does_not_overlap_in_the_file(void **state)
{
    (void)state;
    struct pw_timeline *t = begin(0, 3333);
    uint32_t track = pw_timeline_tracks(t, pw_timeline_group(t, "g"), "t", 1);
    for (pw_cycle at = 0; at < 2000; at += 1 + at % 3)
        pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "x", .from = at, .to = at + 1 + at % 3});
    end(t);
    json_t *root = load();
    const json_t *event;
    size_t i;
    long long outer = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        if (strcmp(text_of(event, "ph"), "X") != 0)
            continue;
        assert_true(number_of(event, "dur") >= 0);
        assert_int_equal(llround(1000 * number_of(event, "ts")), outer);
        outer += llround(1000 * number_of(event, "dur"));
    }
    assert_int_equal(outer, 600);
    json_decref(root);
}

static void what_comes_after_the_end_is_cut_or_left_out(void **state)
{
    (void)state;
    struct pw_timeline *t = begin(0, 1000);
    uint32_t track = pw_timeline_tracks(t, pw_timeline_group(t, "g"), "t", 1);
    pw_timeline_end(t, 100);
    pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "whole", .from = 10, .to = 100});
    pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "cut", .from = 90, .to = 500});
    pw_timeline_record(t, &(struct pw_interval){.track = track, .name = "later", .from = 100, .to = 101});
    end(t);
    json_t *root = load();
    const json_t *events = json_object_get(root, "traceEvents");
    assert_int_equal(json_array_size(events), 4 + 2);
    assert_true(number_of(json_array_get(events, 5), "dur") == 0.01);
    json_decref(root);
}

static void a_timeline_that_is_not_finished_leaves_what_was_there(void **state)
{
    (void)state;
    struct pw_timeline *t = begin(0, 1000);
    assert_int_equal(files(), 1); /* under another name */
    pw_timeline_destroy(t);
    assert_int_equal(files(), 0);
    FILE *old = fopen(FILE_NAME, "w");
    assert_non_null(old);
    fputs("[1]", old);
    fclose(old);
    struct pw_error err;
    assert_int_equal(pw_timeline_create(FILE_NAME, 0, 1000, &t, &err), PW_OK);
    pw_timeline_destroy(t);
    assert_int_equal(files(), 1);
    json_t *root = load();
    assert_int_equal(json_array_size(root), 1);
    json_decref(root);
}

static void what_cannot_be_replaced_is_refused(void **state)
{
    (void)state;
    struct pw_timeline *t;
    struct pw_error err;
    assert_int_equal(pw_timeline_create("/dev/null", 0, 1000, &t, &err), PW_USER_ERROR);
    assert_null(t);
    assert_int_equal(pw_timeline_create("none/x", 0, 1000, &t, &err), PW_FAILED);
    assert_non_null(strstr(err.message, "none/x"));
}

static void intervals_that_overlap_get_as_many_lanes_as_they_need(void **state)
{
    (void)state;
    struct pw_timeline *t = begin(0, 1000);
    struct pw_lanes lanes = {.timeline = t, .group = pw_timeline_group(t, "g"), .name = "lane"};
    uint32_t a = pw_lanes_take(&lanes, 0), b = pw_lanes_take(&lanes, 5), c = pw_lanes_take(&lanes, 5);
    assert_true(a != b && b != c && a != c);
    pw_lanes_give(&lanes, b, 10);
    assert_int_equal(pw_lanes_take(&lanes, 10), b);
    pw_lanes_give(&lanes, c, 20);
    pw_lanes_give(&lanes, a, 21);
    assert_int_equal(pw_lanes_take(&lanes, 20), c);
    assert_int_equal(pw_lanes_take(&lanes, 21), a);
    assert_int_equal(lanes.count, 3);
    pw_lanes_release(&lanes);
    pw_timeline_destroy(t);
}

struct totals {
    uint64_t walks, misses, launches, waits, queued, stalls;
};

static int by_track_and_time(const void *left, const void *right)
{
    const long long *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Counts intervals of each kind; none is negative, and none overlaps another on its track. */
static struct totals check_file(const char *kernel)
{
    struct totals n = {0};
    json_t *root = load();
    const json_t *events = json_object_get(root, "traceEvents"), *event;
    size_t i, count = 0;
    long long(*rows)[3] = calloc(json_array_size(events) + 1, sizeof *rows);
    json_array_foreach(events, i, event)
    {
        if (strcmp(text_of(event, "ph"), "X") != 0)
            continue;
        const char *name = text_of(event, "name");
        long long first = llround(1000 * number_of(event, "ts")), length = llround(1000 * number_of(event, "dur"));
        assert_true(first >= 0 && length >= 0);
        long long row[3] = {(long long)number_of(event, "tid"), first, first + length};
        memcpy(rows[count++], row, sizeof row);
        n.walks += !strcmp(name, "walk");
        n.misses += !strcmp(name, "L1 TLB miss");
        n.launches += !strcmp(name, kernel);
        n.waits += !strcmp(name, "wait for a miss register");
        n.queued += !strcmp(name, "wait for a walker");
        n.stalls += !strcmp(name, "stall");
    }
    qsort(rows, count, sizeof *rows, by_track_and_time);
    for (i = 1; i < count; i++)
        assert_true(rows[i][0] != rows[i - 1][0] || rows[i][1] >= rows[i - 1][2]);
    free(rows);
    json_decref(root);
    return n;
}

static uint64_t metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return r->metrics[i].integer;
    fail_msg("there is no %s", name);
    return 0;
}

/* A run with a timeline gives the same result, and the file has what the counters counted. */
static void a_run_has_every_walk_and_miss_on_its_timeline_and_the_same_result(void **state)
{
    (void)state;
    const char *sets[] = {"walk.walkers=6", "l2_tlb.mshrs=12"};
    struct pw_run_spec spec = {
        .machine = "volta", .workload = "gather:ctas=12:iterations=2:table=8MB", .sets = sets, .set_count = 2};
    struct pw_result *without, *with;
    struct pw_error err;
    assert_int_equal(pw_run(&spec, &without, &err), PW_OK);
    assert_int_equal(files(), 0);
    spec.timeline = FILE_NAME;
    assert_int_equal(pw_run(&spec, &with, &err), PW_OK);
    assert_int_equal(with->cycles, without->cycles);
    assert_int_equal(with->events, without->events);
    assert_int_equal(with->metric_count, without->metric_count);
    for (size_t i = 0; i < with->metric_count; i++)
        assert_true(with->metrics[i].real == without->metrics[i].real);
    struct totals n = check_file("gather");
    assert_int_equal(n.walks, metric(with, "gpu0.walk.count"));
    assert_int_equal(n.misses, metric(with, "gpu0.l1_tlb.misses") - metric(with, "gpu0.l1_tlb.mshr_merges"));
    assert_int_equal(n.launches, 1);
    assert_true(n.waits > 0 && n.queued > 0 && n.stalls > 0 && n.queued <= n.walks && n.waits <= n.misses);
    pw_result_free(with);
    pw_result_free(without);
}

/* A program that starts over is shown each time; runs alone are not shown. */
static void several_applications_are_on_one_timeline(void **state)
{
    (void)state;
    struct pw_run_spec spec = {
        .workload = "vecadd:ctas=4:iterations=1,pointer_chase:hops=60:bytes=1MB", .timeline = FILE_NAME, .alone = true};
    struct pw_result *r;
    struct pw_error err;
    assert_int_equal(pw_run(&spec, &r, &err), PW_OK);
    struct totals n = check_file("vecadd");
    assert_int_equal(n.launches, metric(r, "app0.sm.launches"));
    assert_true(n.launches > 2);
    assert_int_equal(check_file("pointer_chase").launches, 1);
    assert_in_range(n.walks, metric(r, "gpu0.walk.finished"), metric(r, "gpu0.walk.count"));
    pw_result_free(r);
}

static void a_run_that_fails_leaves_no_timeline(void **state)
{
    (void)state;
    const char *sets[] = {"dram.bytes=4MB"};
    volatile bool interrupted = true;
    struct pw_run_spec spec = {.workload = "gather:table=3MB", .sets = sets, .set_count = 1, .timeline = FILE_NAME};
    struct pw_result *r;
    struct pw_error err;
    assert_int_equal(pw_run(&spec, &r, &err), PW_USER_ERROR);
    assert_int_equal(files(), 0);
    spec.set_count = 0;
    spec.interrupted = &interrupted;
    assert_int_equal(pw_run(&spec, &r, &err), PW_INTERRUPTED);
    assert_int_equal(files(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(an_interval_has_its_names_and_its_time_in_microseconds),
        TEST(groups_name_the_part_they_belong_to),
        TEST(a_run_without_events_is_still_a_timeline),
        TEST(events_beyond_the_limit_are_counted_and_a_note_says_so),
        TEST(what_does_not_overlap_in_cycles_does_not_overlap_in_the_file),
        TEST(what_comes_after_the_end_is_cut_or_left_out),
        TEST(a_timeline_that_is_not_finished_leaves_what_was_there),
        TEST(what_cannot_be_replaced_is_refused),
        TEST(intervals_that_overlap_get_as_many_lanes_as_they_need),
        TEST(a_run_has_every_walk_and_miss_on_its_timeline_and_the_same_result),
        TEST(several_applications_are_on_one_timeline),
        TEST(a_run_that_fails_leaves_no_timeline),
    };
    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
