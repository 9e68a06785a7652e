/* "Did you mean": the known name nearest to what was written.
 *
 * Nearness is the optimal string alignment distance: insert, delete, replace or swap two neighbours, one point each;
 * upper and lower case are the same letter. Beyond a third of the length a suggestion is more often noise than help; a
 * group that is right ("l2_tlb.") does not count for that. Where nothing is but one letter away, a name of the same
 * group that has the wrong one as a word in it (l2_tlb.base_entries for l2_tlb.entries) is preferred. What is longer
 * than any name of ours is not compared. */
#include "sim/option.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST_NAME = 128, SHORTEST_WORD = 3 };

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][LONGEST_NAME + 1];
    unsigned *before_last = rows[0], *last = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b_length; j++)
        last[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before_last[j - 2] + 1);
        }
        unsigned *spare = before_last;
        before_last = last;
        last = row;
        row = spare;
    }
    return last[b_length];
}

/* Length of the group that both names begin with, its '.' included: 7 of l2_tlb.base_entries and l2_tlb.entries. */
static size_t common_group(const char *a, const char *b)
{
    const char *point = strrchr(a, '.');
    size_t length = point ? (size_t)(point - a) + 1 : 0;
    return strncmp(a, b, length) == 0 ? length : 0;
}

static bool ends_word(char c)
{
    return !c || strchr("._-", c);
}

/* Whether `word` stands in the last part of `name`, between points, dashes, underscores or the ends: a group alone is
 * no name. */
static bool has_word(const char *name, const char *word, size_t length)
{
    for (const char *at = name; (at = strcasestr(at, word)); at++)
        if ((at == name || ends_word(at[-1])) && ends_word(at[length]) && !strchr(at + length, '.'))
            return true;
    return false;
}

static const char *suggest_by_word(const char *wrong, const char *const *names)
{
    for (; *names; names++) {
        size_t group = common_group(wrong, *names), length = strlen(wrong + group);
        if (length >= SHORTEST_WORD && has_word(*names + group, wrong + group, length))
            return *names;
    }
    return NULL;
}

/* How far two names may be apart: a third of what is not their common group. */
static unsigned limit_of(const char *wrong, size_t length, const char *name)
{
    size_t compared = length - common_group(wrong, name);
    return compared < 6 ? 1 : (unsigned)compared / 3;
}

const char *pw_suggest(const char *wrong, const char *const *names)
{
    size_t length = strlen(wrong);
    if (length == 0 || length > LONGEST_NAME)
        return NULL;
    const char *nearest = NULL;
    unsigned best = UINT_MAX;
    for (const char *const *n = names; *n && best; n++) {
        size_t name_length = strlen(*n);
        unsigned limit = limit_of(wrong, length, *n);
        if (name_length > LONGEST_NAME || name_length > length + limit || length > name_length + limit)
            continue;
        unsigned d = distance(wrong, length, *n, name_length);
        if (d <= limit && d < best) {
            nearest = *n;
            best = d;
        }
    }
    const char *holder = best > 1 ? suggest_by_word(wrong, names) : NULL;
    return holder ? holder : nearest;
}
