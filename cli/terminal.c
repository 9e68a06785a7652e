/* Standard output: how wide its lines may be, and whether they may have colours.
 *
 * COLUMNS in the environment wins, then a terminal says how wide it is; for a file or a pipe tables have a line per
 * entry, so that grep finds whole ones, except those that are mostly text or long names. Colours are for terminals,
 * unless NO_COLOR is set (no-color.org) or TERM is dumb. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 10000 };

static size_t given_columns(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return 0;
    unsigned long columns = strtoul(text, &end, 10);
    return *end || columns < NARROWEST ? 0 : columns < WIDEST ? columns : WIDEST;
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return PW_PROSE_COLUMNS;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

bool pw_cli_has_colour(int fd)
{
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fd) && !(unwanted && *unwanted) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void pw_cli_wrap(struct pw_text *text)
{
    text->width = text->width ? text->width : PW_PROSE_COLUMNS;
}

struct pw_text pw_cli_text(void)
{
    size_t given = given_columns();
    return (struct pw_text){.width = given ? given : terminal_columns(), .colour = pw_cli_has_colour(STDOUT_FILENO)};
}
