/* Tables and prose in the columns there are: nothing is lost, nothing sticks out but single words, and one that fits or
 * has no width has a line per row. */
#include "exp/format/table.h"
#include "exp/tools/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const designs[] = {"name",
                                      "aliases",
                                      "summary",
                                      "gpu-mmu",
                                      "shared base one",
                                      "the baseline that has four kilobyte pages and two levels",
                                      "ideal",
                                      "",
                                      "every lookup hits",
                                      NULL};

static struct pw_text laid_out(const char *align, const char *const *cells, size_t columns, size_t width)
{
    struct pw_table t = {.columns = columns, .align = align, .indent = "  "};
    struct pw_text out = {.width = width};
    for (; *cells; cells++)
        if ((*cells)[0] == '#')
            pw_table_heading(&t, *cells + 1);
        else
            pw_table_cell(&t, *cells);
    pw_table_finish(&t, &out);
    assert_false(out.failed);
    return out;
}

static void expect(const char *align, const char *const *cells, size_t columns, size_t width, const char *expected)
{
    struct pw_text out = laid_out(align, cells, columns, width);
    assert_string_equal(out.bytes, expected);
    pw_text_free(&out);
}

static void without_a_width_a_row_is_a_line(void **state)
{
    (void)state;
    static const char expected[] =
        "  name     aliases          summary\n"
        "  gpu-mmu  shared base one  the baseline that has four kilobyte pages and two levels\n"
        "  ideal                     every lookup hits\n";
    expect("l", designs, 3, 0, expected);
    expect("l", designs, 3, 84, expected);
}

static void text_goes_on_below_itself(void **state)
{
    (void)state;
    expect("l", designs, 3, 64,
           "  name     aliases          summary\n"
           "  gpu-mmu  shared base one  the baseline that has four kilobyte\n"
           "                            pages and two levels\n"
           "  ideal                     every lookup hits\n");
}

static void text_without_room_has_lines_of_its_own(void **state)
{
    (void)state;
    expect("l", designs, 3, 44,
           "  name     aliases\n"
           "      summary\n"
           "  gpu-mmu  shared base one\n"
           "      the baseline that has four kilobyte\n"
           "      pages and two levels\n"
           "  ideal\n"
           "      every lookup hits\n");
}

static void headings_of_numbers_are_broken_first(void **state)
{
    (void)state;
    static const char *const cells[] = {"mean", "weighted speedup", "hit rate of the TLB", "HS", "0.963", "12,345.00",
                                        NULL};
    expect("lr", cells, 3, 36,
           "  mean       weighted    hit rate of\n"
           "              speedup        the TLB\n"
           "  HS            0.963      12,345.00\n");
}

static void wide_tables_of_numbers_come_in_blocks_with_their_labels_and_units(void **state)
{
    (void)state;
    static const char *const cells[] = {"",          "gpu0",  "app0",   "app1", "app2",   "",      "#SMs",
                                        "sm.issued", "1,111", "22,222", "333",  "44,444", "warps", "#TLBs",
                                        "tlb.hits",  "5",     "6",      "7",    "8",      "",      NULL};
    expect("lrrrrl", cells, 6, 40,
           "SMs\n"
           "              gpu0    app0\n"
           "  sm.issued  1,111  22,222  warps\n"
           "\n"
           "             app1    app2\n"
           "  sm.issued   333  44,444  warps\n"
           "\n"
           "TLBs\n"
           "              gpu0    app0\n"
           "  tlb.hits       5       6\n"
           "\n"
           "             app1    app2\n"
           "  tlb.hits      7       8\n");
}

static void a_long_word_pushes_what_follows_to_the_next_line(void **state)
{
    (void)state;
    static const char *const cells[] = {"id",     "where",
                                        "why",    "a-very-long-identifier-of-a-claim-that-is-one-word",
                                        "Fig. 3", "since it is so and was always so, as everybody knows",
                                        NULL};
    expect("l", cells, 3, 40,
           "  id                              where\n"
           "      why\n"
           "  a-very-long-identifier-of-a-claim-that-is-one-word\n"
           "                                  Fig. 3\n"
           "      since it is so and was always so,\n"
           "      as everybody knows\n");
}

static void columns_are_those_of_letters_not_bytes_or_colours(void **state)
{
    (void)state;
    assert_int_equal(pw_text_columns("k=v…"), 4);
    assert_int_equal(pw_text_columns("\033[32mholds\033[0m"), 5);
    static const char *const cells[] = {"\033[32mholds\033[0m", "1", "ü…", "2", NULL};
    expect("l", cells, 2, 80,
           "  \033[32mholds\033[0m  1\n"
           "  ü…     2\n");
}

static void prose_is_wrapped_at_80_columns_or_the_width(void **state)
{
    (void)state;
    char words[201] = "";
    for (size_t i = 0; i < 40; i++)
        strcat(words, "word ");
    struct pw_text out = {0};
    pw_text_prose(&out, 2, 4, words);
    assert_int_equal(strcspn(out.bytes, "\n"), 2 + 15 * 5 - 1);
    assert_memory_equal(out.bytes + strcspn(out.bytes, "\n") + 1, "    word", 8);
    pw_text_free(&out);
    out = (struct pw_text){.width = 12};
    pw_text_prose(&out, 0, 2, "one two three\nindivisible-word x\n\nend");
    assert_string_equal(out.bytes, "one two\n  three\nindivisible-word\n  x\n\nend\n");
    pw_text_free(&out);
}

static void numbers_shown_together_have_as_many_decimals(void **state)
{
    (void)state;
    static const struct {
        double values[5];
        const char *shown;
    } cases[] = {
        {{0.963, 0.939, 0.916, 1, 0.96}, "0.963 0.939 0.916 1.000 0.960"},
        {{0.0466, 9.25, 0.457, 0, -1}, "0.0466 9.2500 0.4570 0.0000 -1.0000"},
        {{12.345, 99, 100, 1234.5, 10}, "12.35 99.00 100.00 1,234.50 10.00"},
        {{1000, 2000000, 3, 0, 7}, "1,000 2,000,000 3 0 7"},
        {{0.00012, 0.00034, 0, 0, 0}, "0.000120 0.000340 0.000000 0.000000 0.000000"},
        {{0.99999, 999.9999, 1, 1, 1}, "1.000 1,000.000 1.000 1.000 1.000"},
        {{-0.0001, 1, 1, 1, 1}, "-0.0001 1.0000 1.0000 1.0000 1.0000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char all[256] = "", number[PW_NUMBER_CAPACITY];
        for (size_t k = 0; k < 5; k++) {
            pw_format_fixed(number, cases[i].values[k], pw_decimals(cases[i].values, 5));
            sprintf(all + strlen(all), "%s%s", k ? " " : "", number);
        }
        assert_string_equal(all, cases[i].shown);
    }
    char number[PW_NUMBER_CAPACITY];
    pw_format_real(number, 0.96);
    assert_string_equal(number, "0.960");
}

static void counts_of_one_are_singular(void **state)
{
    (void)state;
    assert_string_equal(pw_plural(1), "");
    assert_string_equal(pw_plural(0), "s");
    assert_string_equal(pw_counted(1, "launch", "launches"), "launch");
    assert_string_equal(pw_counted(2, "launch", "launches"), "launches");
}

/* Names of allocations and kernels come out of files. */
static void a_terminal_obeys_no_name(void **state)
{
    (void)state;
    static const char name[] = "n\x1b]0;x\a,\"\x9b\n";
    struct pw_text out = {0};
    pw_text_csv_field(&out, name);
    assert_string_equal(out.bytes, "\"n?]0;x?,\"\"??\"");
    pw_text_free(&out);
    struct pw_profile_allocation allocation = {.name = name, .memory = "managed", .launches_until_free = UINT64_MAX};
    struct pw_profile_launch launch = {.name = name, .grid = {1, 1, 1}, .block = {1, 1, 1}, .count = 1};
    struct pw_profile profile = {.workload = "w",
                                 .summary = "s",
                                 .suite = "s",
                                 .papers = "",
                                 .passes_parameter = "",
                                 .allocations = &allocation,
                                 .allocation_count = 1,
                                 .launches = &launch,
                                 .launch_count = 1};
    out = (struct pw_text){0};
    pw_profile_table(&profile, false, &out);
    assert_non_null(out.bytes);
    assert_null(out.bytes[strcspn(out.bytes, "\x1b\a\x9b")] ? out.bytes : NULL);
    pw_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_width_a_row_is_a_line),
        cmocka_unit_test(text_goes_on_below_itself),
        cmocka_unit_test(text_without_room_has_lines_of_its_own),
        cmocka_unit_test(headings_of_numbers_are_broken_first),
        cmocka_unit_test(wide_tables_of_numbers_come_in_blocks_with_their_labels_and_units),
        cmocka_unit_test(a_long_word_pushes_what_follows_to_the_next_line),
        cmocka_unit_test(columns_are_those_of_letters_not_bytes_or_colours),
        cmocka_unit_test(prose_is_wrapped_at_80_columns_or_the_width),
        cmocka_unit_test(numbers_shown_together_have_as_many_decimals),
        cmocka_unit_test(counts_of_one_are_singular),
        cmocka_unit_test(a_terminal_obeys_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
