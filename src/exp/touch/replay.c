/* Reads a touch file, line by line, and has each line done. The format is in docs/touch.md. */
#include "exp/touch/replay_internal.h"
#include "sim/option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINE = 1024, MAX_WORDS = 4 };

struct reader {
    struct pw_replay replay;
    uint64_t line, step;
    pw_touch_visit *visit;
    void *context;
};

static const char usage[] = "a line is `alloc NAME BYTES`, `read NAME PAGE`, `write NAME PAGE` or `free NAME`";

/* Splits a line at blanks; what follows '#' is left out. Returns how many words there are, MAX_WORDS for more as
 * well. */
static size_t split(char *line, char *words[MAX_WORDS])
{
    size_t count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *rest = line, *word; count < MAX_WORDS && (word = strsep(&rest, " \t\r"));)
        if (*word)
            words[count++] = word;
    return count;
}

static enum pw_status check_name(const char *name, struct pw_error *err)
{
    if (strlen(name) >= PW_TOUCH_NAME_CAPACITY)
        return pw_fail(err, PW_USER_ERROR, "the name \"%.40s%s\" is too long: use at most %d characters", name,
                       strlen(name) > 40 ? "…" : "", PW_TOUCH_NAME_CAPACITY - 1);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return pw_fail(err, PW_USER_ERROR, "a name has a control character in it: use letters and digits");
    return PW_OK;
}

static enum pw_status parse_page(const char *text, uint64_t *out, struct pw_error *err)
{
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            break;
    if (*c)
        return pw_fail(err, PW_USER_ERROR, "\"%.40s\" is no page number: pages of 4 KB count from 0", text);
    *out = value;
    return PW_OK;
}

enum pw_status pw_touch_size(const char *text, uint64_t *out, struct pw_error *err)
{
    static const struct pw_option row = {.name = "size", .type = PW_OPTION_BYTES};
    char whole[MAX_LINE + 2];
    size_t length = strlen(text);
    if (!length || length > MAX_LINE || !strchr("KMGTkmgt", text[length - 1]))
        return pw_option_parse(&row, text, 0, out, err);
    snprintf(whole, sizeof whole, "%sB", text);
    whole[length - 1] = (char)toupper((unsigned char)text[length - 1]);
    return pw_option_parse(&row, whole, 0, out, err);
}

static enum pw_status allocate(struct reader *r, const char *name, const char *size, struct pw_error *err)
{
    const struct pw_touch_allocation *a = pw_replay_find(&r->replay, name);
    uint64_t bytes = 0;
    enum pw_status status = pw_touch_size(size, &bytes, err);
    if (status)
        return status;
    if (!bytes)
        return pw_fail(err, PW_USER_ERROR, "allocation \"%s\" has no bytes: give it a size", name);
    if (a && a->live)
        return pw_fail(err, PW_USER_ERROR,
                       "\"%s\" is allocated already, by line %llu: free it first or use another name", name,
                       (unsigned long long)a->line);
    return pw_replay_allocate(&r->replay, name, bytes, r->line, err);
}

static enum pw_status find_live(struct reader *r, const char *name, struct pw_touch_allocation **out,
                                struct pw_error *err)
{
    *out = pw_replay_find(&r->replay, name);
    if (!*out)
        return pw_fail(err, PW_USER_ERROR, "\"%s\" is not allocated: put `alloc %s BYTES` before this line", name,
                       name);
    if (!(*out)->live)
        return pw_fail(err, PW_USER_ERROR, "\"%s\" was freed by line %llu: allocate it again before this line", name,
                       (unsigned long long)(*out)->line);
    return PW_OK;
}

static enum pw_status release(struct reader *r, const char *name, struct pw_error *err)
{
    struct pw_touch_allocation *a;
    enum pw_status status = find_live(r, name, &a, err);
    if (status)
        return status;
    a->line = r->line;
    return pw_replay_free(&r->replay, a, err);
}

static enum pw_status touch(struct reader *r, bool write, const char *name, const char *text, struct pw_error *err)
{
    struct pw_touch_allocation *a;
    struct pw_touch done = {.step = r->step, .write = write};
    enum pw_status status = find_live(r, name, &a, err);
    if (status || (status = parse_page(text, &done.page, err)))
        return status;
    if (done.page >= a->pages)
        return pw_fail(err, PW_USER_ERROR, "page %llu is outside \"%s\", which has pages 0 to %llu",
                       (unsigned long long)done.page, name, (unsigned long long)a->pages - 1);
    done.name = a->name;
    pw_replay_touch(&r->replay, a, done.page, &done);
    r->step++;
    return r->visit(r->context, &done) ? PW_OK : pw_fail(err, PW_INTERRUPTED, "interrupted");
}

static enum pw_status do_line(struct reader *r, char *line, struct pw_error *err)
{
    char *words[MAX_WORDS];
    size_t count = split(line, words);
    if (!count)
        return PW_OK;
    const char *what = words[0];
    bool is_free = strcmp(what, "free") == 0, is_write = strcmp(what, "write") == 0;
    if (!is_free && !is_write && strcmp(what, "read") != 0 && strcmp(what, "alloc") != 0)
        return pw_fail(err, PW_USER_ERROR, "\"%.40s\" is unknown: %s", what, usage);
    if (count != (is_free ? 2 : 3))
        return pw_fail(err, PW_USER_ERROR, "this line has too %s words: %s", count < (is_free ? 2 : 3) ? "few" : "many",
                       usage);
    enum pw_status status = check_name(words[1], err);
    if (status)
        return status;
    if (is_free)
        return release(r, words[1], err);
    return *what == 'a' ? allocate(r, words[1], words[2], err) : touch(r, is_write, words[1], words[2], err);
}

static enum pw_status do_text(struct reader *r, const char *text, size_t length, struct pw_error *err)
{
    char line[MAX_LINE + 1];
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = (size_t)((newline ? newline : end) - text);
        r->line++;
        if (bytes > MAX_LINE)
            return pw_fail(err, PW_USER_ERROR, "the line is longer than %d bytes: shorten it", MAX_LINE);
        if (memchr(text, '\0', bytes))
            return pw_fail(err, PW_USER_ERROR, "the line has a zero byte in it: this is no text");
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        enum pw_status status = do_line(r, line, err);
        if (status)
            return status;
        text += bytes + (newline != NULL);
    }
    return PW_OK;
}

enum pw_status pw_replay_touches(struct pw_residency *residency, const char *text, size_t length, const char *file_name,
                                 pw_touch_visit *visit, void *context, struct pw_error *err)
{
    struct reader r = {.visit = visit, .context = context};
    enum pw_status status = pw_replay_open(&r.replay, residency, err);
    if (status)
        return status;
    status = do_text(&r, text, length, err);
    if (status && status != PW_INTERRUPTED)
        pw_error_prefix(err, "%s:%llu", file_name, (unsigned long long)r.line);
    pw_replay_close(&r.replay);
    return status;
}
