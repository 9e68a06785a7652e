/* "Did you mean": the known name nearest to what was written.
 *
 * Nearness is the optimal string alignment distance: insert, delete, replace or swap two neighbours, one point each;
 * upper and lower case are the same letter. Beyond a third of the length a suggestion is more often noise than help.
 * What is longer than any name of ours is not compared. */
#include "sim/option.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_NAME = 128 };

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

const char *pw_suggest(const char *wrong, const char *const *names)
{
    size_t length = strlen(wrong);
    if (length == 0 || length > LONGEST_NAME)
        return NULL;
    unsigned limit = length < 6 ? 1 : (unsigned)length / 3;
    const char *nearest = NULL;
    for (; *names; names++) {
        size_t name_length = strlen(*names);
        if (name_length > LONGEST_NAME || name_length > length + limit || length > name_length + limit)
            continue;
        unsigned d = distance(wrong, length, *names, name_length);
        if (d < limit || (d == limit && !nearest)) {
            nearest = *names;
            if (d == 0)
                break;
            limit = d;
        }
    }
    return nearest;
}
