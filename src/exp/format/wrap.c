/* Lines broken at words. What cannot be broken, such as a path, sticks out. */
#include "exp/format/text.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the escape sequence that sets a colour, "ESC [ … m"; 0 where there is none. */
static size_t colour_length(const char *at, size_t left)
{
    if (left < 2 || at[0] != '\033' || at[1] != '[')
        return 0;
    const char *end = memchr(at, 'm', left);
    return end ? (size_t)(end - at) + 1 : 0;
}

size_t pw_text_columns_of(const char *bytes, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length;) {
        size_t colour = colour_length(bytes + i, length - i);
        columns += !colour && ((unsigned char)bytes[i] & 0xc0) != 0x80;
        i += colour ? colour : 1;
    }
    return columns;
}

size_t pw_text_columns(const char *string)
{
    return pw_text_columns_of(string, strlen(string));
}

size_t pw_text_line(const char *text, size_t width)
{
    size_t taken = 0;
    for (;;) {
        size_t end = taken + strspn(text + taken, " ");
        end += strcspn(text + end, " ");
        if (end == taken || (taken > 0 && pw_text_columns_of(text, end) > width))
            return taken;
        taken = end;
    }
}

static void wrap(struct pw_text *t, size_t indent, size_t hang, const char *line)
{
    size_t limit = t->width ? t->width : PW_PROSE_COLUMNS;
    hang += strspn(line, " ");
    do {
        size_t length = pw_text_line(line, limit > indent ? limit - indent : 1);
        size_t shown = length;
        while (shown > 0 && line[shown - 1] == ' ')
            shown--;
        pw_text_fill(t, ' ', shown ? indent : 0);
        pw_text_append(t, line, shown);
        pw_text_add(t, "\n");
        line += length;
        line += strspn(line, " ");
        indent = hang;
    } while (*line);
}

void pw_text_prose(struct pw_text *t, size_t indent, size_t hang, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        char *line = strndup(lines, length);
        if (!line) {
            t->failed = true;
            return;
        }
        wrap(t, indent, hang, line);
        free(line);
        lines += length + (lines[length] == '\n');
    }
}
