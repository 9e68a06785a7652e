/* Lines about what was set in vain. The library finds them (src/system/notices.c). */
#include "notices.h"

#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pw_cli_notices_add(struct pw_cli_notices *n, const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pw_text_print(&n->lines, "%s\n", line);
    n->count++;
}

void pw_cli_notices_visit(void *notices, const char *message)
{
    pw_cli_notices_add(notices, "%s", message);
}

/* The notices of one run of several: those that another has too. */
struct common {
    struct pw_cli_notices *kept;
    const char *others; /* NULL: all are kept */
};

static bool has_line(const char *lines, const char *line)
{
    size_t length = strlen(line);
    for (; *lines; lines += strcspn(lines, "\n") + 1)
        if (!strncmp(lines, line, length) && lines[length] == '\n')
            return true;
    return false;
}

static void keep_common(void *context, const char *message)
{
    const struct common *c = context;
    if (!c->others || has_line(c->others, message))
        pw_cli_notices_visit(c->kept, message);
}

static enum pw_status find_common(const struct pw_run_spec *specs, size_t count, struct pw_cli_notices *out,
                                  struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < count && (!i || out->count); i++) {
        struct pw_cli_notices before = *out;
        *out = (struct pw_cli_notices){0};
        struct common c = {out, i ? before.lines.bytes : NULL};
        status = pw_run_notices(&specs[i], keep_common, &c, err);
        pw_text_free(&before.lines);
    }
    return status;
}

int pw_cli_notices_finish(struct pw_cli_notices *n, const struct pw_run_spec *specs, size_t count, bool strict)
{
    struct pw_cli_notices common = {0};
    struct pw_error err = {0};
    int code = (int)find_common(specs, count, &common, &err);
    if (code != PW_OK) {
        err.status = (enum pw_status)code;
        pw_cli_report(&err);
    } else {
        const char *lists[] = {n->lines.bytes, common.lines.bytes};
        for (size_t i = 0; i < 2; i++)
            for (const char *at = lists[i] ? lists[i] : ""; *at; at += strcspn(at, "\n") + 1)
                pw_cli_fail(PW_OK, "%.*s", (int)strcspn(at, "\n"), at);
        if (strict && n->count + common.count)
            code = pw_cli_fail(PW_USER_ERROR, "nothing was run because of --strict; leave out what has no effect");
    }
    pw_text_free(&n->lines);
    pw_text_free(&common.lines);
    return code;
}
