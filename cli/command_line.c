/* The command line as text, for results to say how they were made: quoted, so that a shell takes it again. */
#include "command.h"

#include <string.h>

static void add_word(struct pw_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    if (*word && !word[strspn(word, plain)]) {
        pw_text_add(text, word);
        return;
    }
    pw_text_add(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            pw_text_add(text, "'\\''");
        else
            pw_text_append(text, word, 1);
    pw_text_add(text, "'");
}

char *pw_cli_command_line(int argc, char **argv)
{
    struct pw_text text = {0};
    pw_text_add(&text, "pagewalk");
    for (int i = 0; i < argc; i++) {
        pw_text_add(&text, " ");
        add_word(&text, argv[i]);
    }
    if (!text.failed)
        return text.bytes;
    pw_text_free(&text);
    return NULL;
}
