/* Touch files: what a line does, what is refused and how, and what small memory does to the touches. */
#include "exp/touch/replay.h"
#include "managed.h"

#include <stdio.h>
#include <stdlib.h>

/* The rows that a text gives, as "name page result in out;". */
struct rows {
    char text[4096];
    uint64_t steps;
};

static bool add_row(void *context, const struct pw_touch *t)
{
    struct rows *rows = context;
    size_t length = strlen(rows->text);
    assert_int_equal(t->step, rows->steps++);
    snprintf(rows->text + length, sizeof rows->text - length, "%s %llu%s %s %u %u;", t->name,
             (unsigned long long)t->page, t->write ? "w" : "", t->fault ? "fault" : "hit", t->pages_in, t->pages_out);
    return true;
}

static enum pw_status replay(const char *prefetch, const char *evict, uint64_t pages, const char *text, size_t length,
                             struct rows *rows, struct pw_error *err)
{
    struct pw_residency_config config = managed_config(prefetch, evict, pages);
    struct pw_residency *r = managed_create(&config);
    *rows = (struct rows){0};
    enum pw_status status = pw_replay_touches(r, text, length, "f", add_row, rows, err);
    managed_destroy(r);
    return status;
}

static void gives(const char *prefetch, const char *evict, uint64_t pages, const char *text, const char *expected)
{
    struct rows rows;
    struct pw_error err = {0};
    if (replay(prefetch, evict, pages, text, strlen(text), &rows, &err))
        fail_msg("%s", err.message);
    assert_string_equal(rows.text, expected);
}

static void refused_of(const char *text, size_t length, const char *message)
{
    struct rows rows;
    struct pw_error err = {0};
    assert_int_equal(replay("nvidia", "nvidia", 1024, text, length, &rows, &err), PW_USER_ERROR);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not have \"%s\"", err.message, message);
}

static void refused(const char *text, const char *message)
{
    refused_of(text, strlen(text), message);
}

static void blanks_comments_and_line_ends_do_not_matter(void **state)
{
    (void)state;
    gives("none", "lru4k", 8, "\n# c\n  alloc\ta  8192 # two pages\r\nread a 1\n\t\nwrite a 1#x\nread a 0",
          "a 1 fault 1 0;a 1w hit 0 0;a 0 fault 1 0;");
    gives("none", "lru4k", 8, "", "");
}

static void sizes_have_units_and_are_rounded_up_to_pages(void **state)
{
    (void)state;
    gives("sl", "lru4k", 999,
          "alloc a 64K\nalloc b 1\nalloc c 0.5KB\nalloc d 4097B\nread a 15\nread b 0\nread c 0\nread d 1\n",
          "a 15 fault 16 0;b 0 fault 1 0;c 0 fault 1 0;d 1 fault 2 0;");
    refused("alloc a 1x\n", "f:1: size = 1x is not a size");
    refused("alloc a -1\n", "f:1: size = -1 is not a size");
    refused("alloc a K\n", "f:1: ");
    refused("alloc a 1.0001K\n", "whole number of bytes");
    refused("alloc a 99999999999999999999\n", "out of range");
    refused("alloc a 64TB\n", "f:1: more than");
    refused("alloc a 16000000TB\n", "f:1: allocations take more than 128 TiB");
}

static void mistakes_name_their_line_and_say_what_to_do(void **state)
{
    (void)state;
    refused("read a 0\n", "f:1: \"a\" is not allocated: put `alloc a BYTES` before");
    refused("\n\nfree a\n", "f:3: \"a\" is not allocated");
    refused("alloc a 1\nfree a\nread a 0\n", "f:3: \"a\" was freed by line 2");
    refused("alloc a 1\nfree a\nfree a\n", "f:3: \"a\" was freed by line 2");
    refused("alloc a 1\n#\nalloc a 1\n", "f:3: \"a\" is allocated already, by line 1");
    refused("alloc a 0\n", "f:1: allocation \"a\" has no bytes");
    refused("alloc a 8K\nread a 2\n", "f:2: page 2 is outside \"a\", which has pages 0 to 1");
    refused("alloc a 8K\nwrite a 18446744073709551616\n", "f:2: \"18446744073709551616\" is no page number");
    refused("alloc a 8K\nwrite a -1\n", "\"-1\" is no page number");
    refused("alloc a 8K\nwrite a 1x\n", "\"1x\" is no page number");
    refused("alloc a 8K\nreed a 1\n", "f:2: \"reed\" is unknown: a line is `alloc NAME BYTES`");
    refused("alloc a\n", "too few words");
    refused("free\n", "too few words");
    refused("free a b\n", "too many words");
    refused("alloc a 1 2\n", "too many words");
    refused("alloc 0123456789012345678901234567890x 1\n", "at most 31 characters");
    refused("alloc a\x01 1\n", "control character");
    refused_of("alloc a 1\0\n", 11, "f:1: the line has a zero byte");
}

static void long_names_and_lines_are_taken_up_to_their_limits(void **state)
{
    (void)state;
    gives("none", "lru4k", 8, "alloc 0123456789012345678901234567890 1\nread 0123456789012345678901234567890 0\n",
          "0123456789012345678901234567890 0 fault 1 0;");
    char line[1100];
    memset(line, ' ', sizeof line);
    line[1024] = '\n';
    struct rows rows;
    struct pw_error err = {0};
    assert_int_equal(replay("none", "lru4k", 8, line, 1025, &rows, &err), PW_OK);
    line[1024] = ' ';
    refused_of(line, 1025, "f:1: the line is longer than 1024 bytes");
}

static void a_freed_name_may_be_used_again(void **state)
{
    (void)state;
    gives("none", "lru4k", 8, "alloc a 8K\nread a 1\nfree a\nalloc a 4K\nread a 0\nread a 0\n",
          "a 1 fault 1 0;a 0 fault 1 0;a 0 hit 0 0;");
}

static void many_names_are_found_again(void **state)
{
    (void)state;
    enum { NAMES = 3000 };
    char *text = malloc(NAMES * 80), *end = text;
    struct rows rows;
    struct pw_error err = {0};
    assert_non_null(text);
    for (unsigned i = 0; i < NAMES; i++)
        end += sprintf(end, "alloc name%u %u\n", i, 4096 * (i + 1));
    for (unsigned i = 0; i < NAMES; i++)
        end += sprintf(end, "read name%u %u\n", i, i);
    assert_int_equal(replay("none", "lru4k", 8, text, (size_t)(end - text), &rows, &err), PW_OK);
    assert_int_equal(rows.steps, NAMES);
    free(text);
}

static void the_driver_sends_away_the_block_that_came_first(void **state)
{
    (void)state;
    /* 2 MB and 64 KB of memory: block 0 whole, then a leaf of block 1; block 0 is used again; block 2 has no room. */
    const char text[] = "alloc a 6MB\nread a 0\nread a 16\nread a 32\nread a 64\nread a 128\nread a 256\n"
                        "read a 512\nwrite a 0\nread a 1024\nread a 512\nread a 1\n";
    gives("nvidia", "nvidia", 528, text,
          "a 0 fault 16 0;a 16 fault 16 0;a 32 fault 32 0;a 64 fault 64 0;a 128 fault 128 0;a 256 fault 256 0;"
          "a 512 fault 16 0;a 0w hit 0 0;a 1024 fault 16 512;a 512 hit 0 0;a 1 fault 16 0;");
    gives("nvidia", "lru2m", 528, text,
          "a 0 fault 16 0;a 16 fault 16 0;a 32 fault 32 0;a 64 fault 64 0;a 128 fault 128 0;a 256 fault 256 0;"
          "a 512 fault 16 0;a 0w hit 0 0;a 1024 fault 16 16;a 512 fault 16 512;a 1 fault 16 0;");
}

static void least_recently_used_pages_leave_one_by_one(void **state)
{
    (void)state;
    gives("none", "lru4k", 2, "alloc a 1MB\nread a 0\nread a 1\nread a 0\nread a 2\nread a 1\nread a 2\n",
          "a 0 fault 1 0;a 1 fault 1 0;a 0 hit 0 0;a 2 fault 1 1;a 1 fault 1 1;a 2 hit 0 0;");
}

static void memory_of_one_page_is_enough(void **state)
{
    (void)state;
    gives("nvidia", "nvidia", 1, "alloc a 4MB\nalloc b 4K\nread a 0\nread a 1\nread b 0\nread a 1\n",
          "a 0 fault 1 0;a 1 fault 1 1;b 0 fault 1 1;a 1 fault 1 1;");
}

static void a_small_allocation_fits_into_memory_of_its_size(void **state)
{
    (void)state;
    /* 25 leaves, the last nine first: they are 9 of 16, so nobody's seven come with them while there is room. */
    char text[1024] = "alloc a 1600K\n";
    struct rows rows;
    struct pw_error err = {0};
    for (unsigned i = 0; i < 25; i++)
        sprintf(text + strlen(text), "read a %u\n", (i + 16) % 25 * 16);
    assert_int_equal(replay("nvidia", "nvidia", 400, text, strlen(text), &rows, &err), PW_OK);
    for (const char *row = rows.text, *end; (end = strchr(row, ';')); row = end + 1)
        assert_true(end[-1] == '0' && end[-2] == ' ');
}

static void pages_of_nobody_count_once_they_have_come(void **state)
{
    (void)state;
    /* Leaves 8 to 12 of 13: five of eight bring all eight, three of them nobody's. Leaf 0 makes 9 of 16: all come. */
    gives("nvidia", "nvidia", 1024,
          "alloc a 832K\nread a 128\nread a 144\nread a 160\nread a 176\nread a 192\nread a 0\nread a 112\n",
          "a 128 fault 16 0;a 144 fault 16 0;a 160 fault 32 0;a 176 hit 0 0;a 192 fault 16 0;a 0 fault 128 0;a 112 hit "
          "0 0;");
}

/* What came with all touches of a text under the driver's policies. */
static unsigned pages_in_of(const char *text)
{
    struct rows rows;
    struct pw_error err = {0};
    unsigned sum = 0, in, out;
    unsigned long long page;
    char name[32];
    assert_int_equal(replay("nvidia", "nvidia", 1024, text, strlen(text), &rows, &err), PW_OK);
    for (char *row = rows.text; *row; row = strchr(row, ';') + 1) {
        assert_int_equal(sscanf(row, "%31s %llu %*s %u %u;", name, &page, &in, &out), 4);
        sum += in;
    }
    return sum;
}

static void pages_of_a_freed_neighbour_are_not_counted(void **state)
{
    (void)state;
    /* a has leaves 0 to 3 and b leaves 4 to 15 of the block: nine of them bring all 16. */
    const char all[] = "alloc a 256K\nalloc b 768K\nread b 64\nread b 80\nread b 96\nread b 112\nread b 128\n"
                       "read b 144\nread b 160\nread b 176\nread b 0\nread b 16\n";
    char freed[sizeof all + 16];
    sprintf(freed, "alloc a 256K\nalloc b 768K\nfree a\n%s", strstr(all, "read"));
    assert_int_equal(pages_in_of(all), 256);
    assert_int_equal(pages_in_of(freed), 192);
}

static void what_was_evicted_counts_when_the_host_writes_beside_it(void **state)
{
    (void)state;
    /* a and b, 24 leaves and one, are brought in and sent away by c. A leaf of a and b come again; when b is written on
     * the host anew, that has all of the block but these, so the leaf of a goes back with b. */
    gives("nvidia", "nvidia", 400,
          "alloc a 1536K\nalloc b 64K\nalloc c 2MB\nread a 0\nread a 16\nread a 32\nread a 64\nread a 128\nread a 256\n"
          "read c 0\nread a 0\nread b 0\nread a 0\nfree b\nalloc b 64K\nread a 0\n",
          "a 0 fault 16 0;a 16 fault 16 0;a 32 fault 32 0;a 64 fault 64 0;a 128 fault 128 0;a 256 fault 144 0;"
          "c 0 fault 16 400;a 0 fault 16 0;b 0 fault 16 0;a 0 hit 0 0;a 0 fault 16 0;");
}

static void neighbours_share_a_tree_only_under_the_drivers_rule(void **state)
{
    (void)state;
    const char text[] = "alloc a 512K\nalloc b 512K\nread a 0\nread a 16\nread a 32\nread a 64\nread b 0\nread b 64\n";
    gives("nvidia", "nvidia", 1024, text,
          "a 0 fault 16 0;a 16 fault 16 0;a 32 fault 32 0;a 64 fault 64 0;b 0 fault 128 0;b 64 hit 0 0;");
    gives("tbn", "nvidia", 1024, text,
          "a 0 fault 16 0;a 16 fault 16 0;a 32 fault 32 0;a 64 fault 64 0;b 0 fault 16 0;b 64 fault 16 0;");
}

static void pages_are_counted_from_the_start_of_an_allocation_that_begins_within_a_page(void **state)
{
    (void)state;
    gives("nvidia", "nvidia", 1024, "alloc a 512\nalloc b 64K\nread a 0\nread b 15\nread b 14\n",
          "a 0 fault 16 0;b 15 hit 0 0;b 14 hit 0 0;");
}

static void a_buffer_of_free_pages_is_kept(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("none", "lru4k", 4);
    config.free_buffer = 0.5;
    struct pw_residency *r = managed_create(&config);
    struct rows rows = {0};
    struct pw_error err = {0};
    const char text[] = "alloc a 1MB\nread a 0\nread a 1\nread a 2\nread a 2\n";
    assert_int_equal(pw_replay_touches(r, text, strlen(text), "f", add_row, &rows, &err), PW_OK);
    assert_string_equal(rows.text, "a 0 fault 1 0;a 1 fault 1 0;a 2 fault 1 1;a 2 hit 0 0;");
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_comments_and_line_ends_do_not_matter),
        cmocka_unit_test(sizes_have_units_and_are_rounded_up_to_pages),
        cmocka_unit_test(mistakes_name_their_line_and_say_what_to_do),
        cmocka_unit_test(long_names_and_lines_are_taken_up_to_their_limits),
        cmocka_unit_test(a_freed_name_may_be_used_again),
        cmocka_unit_test(many_names_are_found_again),
        cmocka_unit_test(the_driver_sends_away_the_block_that_came_first),
        cmocka_unit_test(least_recently_used_pages_leave_one_by_one),
        cmocka_unit_test(memory_of_one_page_is_enough),
        cmocka_unit_test(a_small_allocation_fits_into_memory_of_its_size),
        cmocka_unit_test(pages_of_nobody_count_once_they_have_come),
        cmocka_unit_test(pages_of_a_freed_neighbour_are_not_counted),
        cmocka_unit_test(what_was_evicted_counts_when_the_host_writes_beside_it),
        cmocka_unit_test(neighbours_share_a_tree_only_under_the_drivers_rule),
        cmocka_unit_test(pages_are_counted_from_the_start_of_an_allocation_that_begins_within_a_page),
        cmocka_unit_test(a_buffer_of_free_pages_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
