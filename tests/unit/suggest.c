/* Suggestions: what is near, what is too far, and which of several wins. */
#include "sim/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"mosaic",         "volta",          "kepler", "h200",
                                    "l1_tlb.entries", "l2_tlb.entries", "HS",     NULL};

static void near_names_are_suggested_and_far_ones_are_not(void **state)
{
    (void)state;
    static const struct {
        const char *wrong, *expected;
    } table[] = {
        {"mosaci", "mosaic"}, /* swapped neighbours: one edit */
        {"mosiac", "mosaic"},
        {"mosaicc", "mosaic"}, /* one too many */
        {"msaic", "mosaic"},   /* one missing, 5 letters allow one edit */
        {"mosuic", "mosaic"},  /* one wrong */
        {"mo", NULL},
        {"mossaicc", "mosaic"}, /* two edits of eight letters */
        {"xxsaic", "mosaic"},   /* two edits of six letters */
        {"xxxaic", NULL},       /* three of six are too many */
        {"vlota", "volta"},
        {"voltaaa", "volta"},
        {"vxlxa", NULL}, /* two of five are too many */
        {"l1_tlb.entires", "l1_tlb.entries"},
        {"l1_tlb.entrys", "l1_tlb.entries"},
        {"l2_tlb.entrie", "l2_tlb.entries"},
        {"l3_tlb.entries", "l1_tlb.entries"}, /* as near to both: the first wins */
        {"hs", "HS"},                         /* case costs nothing */
        {"MOSAIC", "mosaic"},
        {"h20", "h200"},
        {"H", "HS"},
        {"", NULL},
        {"completely else", NULL},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        const char *got = pw_suggest(table[i].wrong, names);
        if (!table[i].expected && got)
            fail_msg("'%s' suggests '%s'", table[i].wrong, got);
        if (table[i].expected && (!got || strcmp(got, table[i].expected) != 0))
            fail_msg("'%s' suggests '%s', not '%s'", table[i].wrong, got ? got : "nothing", table[i].expected);
    }
}

static void nearest_of_several_wins_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const choices[] = {"entriesxx", "entrixs", "entries", "entriexx", NULL};
    assert_string_equal(pw_suggest("entriess", choices), "entries");
    static const char *const none[] = {NULL};
    assert_null(pw_suggest("entries", none));
}

static void a_name_of_the_group_that_has_the_word_wins(void **state)
{
    (void)state;
    static const char *const options[] = {"l1_tlb.base_entries",
                                          "l2_tlb.enabled",
                                          "l2_tlb.latency",
                                          "l2_tlb.base_entries",
                                          "l2_tlb.base_ways",
                                          "uvm-nvidia",
                                          NULL};
    assert_string_equal(pw_suggest("l2_tlb.entries", options), "l2_tlb.base_entries");
    assert_string_equal(pw_suggest("l2_tlb.ways", options), "l2_tlb.base_ways");
    assert_string_equal(pw_suggest("l2_tlb.enable", options), "l2_tlb.enabled");
    assert_string_equal(pw_suggest("nvidia", options), "uvm-nvidia");
    assert_null(pw_suggest("l2_tlb.ways2", options)); /* far from all, but for the group */
    assert_null(pw_suggest("l2_tlb.tries", options)); /* a part of a word is none */
    assert_null(pw_suggest("l2_tlb.", options));
    assert_null(pw_suggest("l2_tlb", options));
}

static void very_long_names_are_not_compared(void **state)
{
    (void)state;
    static char word[5000], near_word[129];
    memset(word, 'a', sizeof(word) - 1);
    memset(near_word, 'a', sizeof(near_word) - 1);
    const char *const choices[] = {word, near_word, NULL};
    assert_null(pw_suggest(word, choices));
    assert_ptr_equal(pw_suggest(near_word, choices), near_word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_names_are_suggested_and_far_ones_are_not),
        cmocka_unit_test(nearest_of_several_wins_wherever_it_stands),
        cmocka_unit_test(a_name_of_the_group_that_has_the_word_wins),
        cmocka_unit_test(very_long_names_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
