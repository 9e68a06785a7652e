/* Messages and output: one line on standard error per mistake, results on standard output checked to the last byte. */
#include "command.h"

#include "exp/format/output.h"
#include "sim/option.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pw_cli_fail(enum pw_status status, const char *format, ...)
{
    char text[PW_ERROR_CAPACITY];
    struct pw_error err;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pw_error_set(&err, status, "%s", text); /* without bytes that a terminal would obey */
    const char *prefix = pw_cli_has_colour(STDERR_FILENO) ? "\033[1;31mpagewalk:\033[0m" : "pagewalk:";
    fprintf(stderr, "%s %s\n", prefix, err.message);
    return (int)status;
}

int pw_cli_report(const struct pw_error *err)
{
    if (err->status == PW_NO_READER)
        return PW_NO_READER;
    const char *fallback = err->status == PW_INTERRUPTED ? "interrupted" : "the run failed without saying why";
    return pw_cli_fail(err->status, "%s", err->message[0] ? err->message : fallback);
}

int pw_cli_unknown(const char *kind, const char *wrong, const char *const *names, const char *see)
{
    const char *nearest = pw_suggest(wrong, names);
    if (nearest)
        return pw_cli_fail(PW_USER_ERROR, "unknown %s \"%s\"; did you mean \"%s\"?", kind, wrong, nearest);
    return pw_cli_fail(PW_USER_ERROR, "unknown %s \"%s\"; see `%s`", kind, wrong, see);
}

static int write_to(const char *path, struct pw_text *text)
{
    struct pw_error err = {0};
    enum pw_status status = pw_output_write(path, text, &err);
    pw_text_free(text);
    return status == PW_OK ? PW_OK : pw_cli_report(&err);
}

int pw_cli_print(struct pw_text *text)
{
    return write_to("-", text);
}

int pw_cli_check_json(const char *path)
{
    struct pw_error err = {0};
    return !path || pw_output_check(path, &err) == PW_OK ? PW_OK : pw_cli_report(&err);
}

static int show_as(bool json, const char *path, pw_cli_fill *fill, void *context)
{
    struct pw_text text = pw_cli_text();
    struct pw_error err = {0};
    if (fill(context, json, &text, &err) == PW_OK)
        return write_to(path, &text);
    pw_text_free(&text);
    return pw_cli_report(&err);
}

int pw_cli_show(const char *path, pw_cli_fill *fill, void *context)
{
    int code = path ? show_as(true, path, fill, context) : PW_OK;
    bool table = !path || strcmp(path, "-") != 0;
    return code == PW_OK && table ? show_as(false, "-", fill, context) : code;
}
