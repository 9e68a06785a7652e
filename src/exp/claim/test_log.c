/* Outcomes of test cases, as scripts/test leaves them: test,case,outcome lines of CSV (RFC 4180). The file is
 * untrusted: anything else in it is an error with its line. */
#include "exp/claim/claim_report.h"

#include "sim/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 16 << 20, FIELDS = 3 };

static enum pw_status read_text(const char *path, char **out, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    FILE *file = fopen(path, "re");
    if (!file)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    char *text = malloc(FILE_LIMIT + 2);
    if (!text) {
        fclose(file);
        return pw_fail_memory(err, "the test log");
    }
    size_t length = fread(text, 1, FILE_LIMIT + 1, file);
    if (ferror(file))
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    else if (length > FILE_LIMIT)
        status = pw_fail(err, PW_USER_ERROR, "%s: is over %d MiB, no log of tests", path, FILE_LIMIT >> 20);
    else if (memchr(text, 0, length))
        status = pw_fail(err, PW_USER_ERROR, "%s: has zero bytes in it, no log of tests", path);
    fclose(file);
    if (status != PW_OK) {
        free(text);
        return status;
    }
    text[length] = 0;
    *out = text;
    return PW_OK;
}

/* Cuts a field out of the text in place. Returns what follows its comma or the end of its line, NULL when a quote is
 * not closed or something follows it. *out_last: it is the last of its line. */
static char *cut_field(char *at, char **out_field, bool *out_last)
{
    char *to = at;
    *out_field = at;
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at += 1 + (*at == '"'))
            *to++ = *at;
        if (*at++ != '"' || (*at && !strchr(",\r\n", *at)))
            return NULL;
    } else {
        to = at += strcspn(at, ",\r\n");
    }
    *out_last = *at != ',';
    char *next = at + (*at == ',');
    if (*out_last)
        next += strspn(at, "\r\n");
    *to = 0;
    return next;
}

static enum pw_status parse_result(const char *word, enum pw_test_result *out)
{
    static const char *const words[] = {
        [PW_TEST_PASSED] = "pass", [PW_TEST_FAILED] = "fail", [PW_TEST_SKIPPED] = "skip"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (enum pw_test_result)i;
            return PW_OK;
        }
    }
    return PW_USER_ERROR;
}

static enum pw_status add(struct pw_test_log *log, size_t *capacity, const struct pw_test_outcome *o,
                          struct pw_error *err)
{
    struct pw_test_outcome *more = pw_grow(log->outcomes, log->count, capacity, sizeof *more);
    if (!more)
        return pw_fail_memory(err, "the test log");
    log->outcomes = more;
    more[log->count++] = *o;
    return PW_OK;
}

static enum pw_status parse(const char *path, struct pw_test_log *log, struct pw_error *err)
{
    size_t capacity = 0;
    char *at = log->text;
    for (size_t line = 1; *at; line++) {
        char *fields[FIELDS];
        size_t count = 0;
        bool last = false;
        while (count < FIELDS && !last && at)
            at = cut_field(at, &fields[count++], &last);
        if (!at || count != FIELDS || !last)
            return pw_fail(err, PW_USER_ERROR, "%s:%zu: is no test,case,outcome", path, line);
        if (line == 1) {
            if (strcmp(fields[0], "test") != 0 || strcmp(fields[1], "case") != 0 || strcmp(fields[2], "outcome") != 0)
                return pw_fail(err, PW_USER_ERROR, "%s:1: does not begin with test,case,outcome", path);
            continue;
        }
        struct pw_test_outcome o = {.test = fields[0], .name = fields[1]};
        if (parse_result(fields[2], &o.result) != PW_OK)
            return pw_fail(err, PW_USER_ERROR, "%s:%zu: the outcome is none of pass, fail and skip", path, line);
        enum pw_status status = add(log, &capacity, &o, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static int compare(const void *a, const void *b)
{
    const struct pw_test_outcome *x = a, *y = b;
    int order = strcmp(x->test, y->test);
    return order ? order : strcmp(x->name, y->name);
}

enum pw_status pw_test_log_read(const char *path, struct pw_test_log *out, struct pw_error *err)
{
    *out = (struct pw_test_log){0};
    enum pw_status status = read_text(path, &out->text, err);
    if (status == PW_OK)
        status = parse(path, out, err);
    if (status != PW_OK)
        pw_test_log_release(out);
    else if (out->count)
        qsort(out->outcomes, out->count, sizeof *out->outcomes, compare);
    return status;
}

void pw_test_log_release(struct pw_test_log *log)
{
    free(log->outcomes);
    free(log->text);
    *log = (struct pw_test_log){0};
}
