/* Configuration files: nested maps of scalars, read event by event with libyaml and flattened to dotted keys.
 *
 * The input is untrusted, and the options need little of YAML, so whatever could surprise is refused: sequences,
 * anchors and aliases (which can grow without bound), tags, second documents, keys given twice under any spelling
 * ("a: {b: 1}" and "a.b: 1"), values that are missing or hold a NUL. Keys already seen are kept in a tree, so that a
 * file at the limit of 1 MiB is still read in a fraction of a second. */
#include "sim/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

enum { FILE_LIMIT = 1 << 20, DEPTH_LIMIT = 8, KEY_LIMIT = 255 };

struct seen_key {
    int line;
    char name[];
};

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t length;
    pw_yaml_visit *visit;
    void *context;
    struct pw_error *err;
    int line; /* of what is being read, for messages */
    int documents;
    bool value_next;                 /* a key has been read and waits for its value */
    unsigned depth;                  /* open maps */
    size_t lengths[DEPTH_LIMIT + 1]; /* of the key's part that belongs to the open maps */
    int key_line;
    char key[KEY_LIMIT + 1];
    void *seen; /* tree of struct seen_key */
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct seen_key *)a)->name, ((const struct seen_key *)b)->name);
}

static enum pw_status refuse(struct reader *r, const char *what)
{
    return pw_fail(r->err, PW_USER_ERROR, "%s", what);
}

/* The line of a byte that is not even text: libyaml gives only its offset. */
static int line_of(const struct reader *r, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset && i < r->length; i++)
        line += r->text[i] == '\n';
    return line;
}

static enum pw_status fail_parse(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return pw_fail_memory(r->err, "a YAML file");
    r->line = p->error == YAML_READER_ERROR ? line_of(r, p->problem_offset) : (int)p->problem_mark.line + 1;
    return pw_fail(r->err, PW_USER_ERROR, "not valid YAML: %s", p->problem ? p->problem : "unknown error");
}

static enum pw_status remember_key(struct reader *r)
{
    size_t length = strlen(r->key);
    struct seen_key *fresh = malloc(sizeof(*fresh) + length + 1);
    if (!fresh)
        return pw_fail_memory(r->err, "a YAML key");
    fresh->line = r->key_line;
    memcpy(fresh->name, r->key, length + 1);
    void *node = tsearch(fresh, &r->seen, compare_keys);
    if (!node) {
        free(fresh);
        return pw_fail_memory(r->err, "a YAML key");
    }
    const struct seen_key *known = *(struct seen_key **)node;
    if (known == fresh)
        return PW_OK;
    free(fresh);
    return pw_fail(r->err, PW_USER_ERROR, "'%s' is given twice, first on line %d", r->key, known->line);
}

static enum pw_status read_key(struct reader *r, const char *text, size_t length)
{
    size_t prefix = r->lengths[r->depth];
    bool dotted = prefix > 0;
    if (length == 0 || memchr(text, '\0', length))
        return refuse(r, "a key must not be empty or hold a NUL");
    if (prefix + dotted + length > KEY_LIMIT)
        return pw_fail(r->err, PW_USER_ERROR, "the key '%.60s…' is longer than %d bytes", text, KEY_LIMIT);
    if (dotted)
        r->key[prefix] = '.';
    memcpy(r->key + prefix + dotted, text, length);
    r->key[prefix + dotted + length] = '\0';
    r->key_line = r->line;
    r->value_next = true;
    return remember_key(r);
}

static enum pw_status read_scalar(struct reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (event->data.scalar.anchor)
        return refuse(r, "anchors are not accepted");
    if (event->data.scalar.tag)
        return refuse(r, "tags are not accepted");
    if (r->depth == 0)
        return refuse(r, "the file must be a map of options (key: value)");
    if (!r->value_next)
        return read_key(r, text, length);
    r->value_next = false;
    r->line = r->key_line;
    if (length == 0 && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return pw_fail(r->err, PW_USER_ERROR, "'%s' has no value", r->key);
    if (memchr(text, '\0', length))
        return pw_fail(r->err, PW_USER_ERROR, "the value of '%s' holds a NUL", r->key);
    return r->visit(r->context, r->key, text, r->key_line, r->err);
}

static enum pw_status open_map(struct reader *r, const yaml_event_t *event)
{
    if (event->data.mapping_start.anchor)
        return refuse(r, "anchors are not accepted");
    if (event->data.mapping_start.tag)
        return refuse(r, "tags are not accepted");
    if (r->depth > 0 && !r->value_next)
        return refuse(r, "a map cannot be a key");
    if (r->depth == DEPTH_LIMIT)
        return pw_fail(r->err, PW_USER_ERROR, "maps are nested more than %d deep", DEPTH_LIMIT);
    r->lengths[++r->depth] = r->value_next ? strlen(r->key) : 0;
    r->value_next = false;
    return PW_OK;
}

static enum pw_status handle(struct reader *r, const yaml_event_t *event)
{
    r->line = (int)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->documents++ ? refuse(r, "a second document is not accepted") : PW_OK;
    case YAML_SCALAR_EVENT:
        return read_scalar(r, event);
    case YAML_MAPPING_START_EVENT:
        return open_map(r, event);
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return PW_OK;
    case YAML_SEQUENCE_START_EVENT:
        return refuse(r, "lists are not accepted");
    case YAML_ALIAS_EVENT:
        return refuse(r, "aliases are not accepted");
    case YAML_STREAM_END_EVENT:
        return r->documents ? PW_OK : refuse(r, "the file is empty; it must be a map of options (key: value)");
    default:
        return PW_OK;
    }
}

static enum pw_status read_events(struct reader *r)
{
    enum pw_status status = PW_OK;
    for (bool more = true; more && status == PW_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return fail_parse(r);
        status = handle(r, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return status;
}

enum pw_status pw_yaml_read_text(const char *text, size_t length, const char *file_name, pw_yaml_visit *visit,
                                 void *context, struct pw_error *err)
{
    if (length > FILE_LIMIT)
        return pw_fail(err, PW_USER_ERROR, "%s: larger than 1 MiB", file_name);
    struct reader r = {.text = text, .length = length, .visit = visit, .context = context, .err = err, .line = 1};
    if (!yaml_parser_initialize(&r.parser))
        return pw_fail_memory(err, "the YAML parser");
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    enum pw_status status = read_events(&r);
    yaml_parser_delete(&r.parser);
    tdestroy(r.seen, free);
    if (status != PW_OK)
        pw_error_prefix(err, "%s:%d", file_name, r.line);
    return status;
}

enum pw_status pw_yaml_open(const char *path, FILE **out, struct pw_error *err)
{
    struct stat info;
    *out = NULL;
    /* Opening a pipe would wait for its other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
    enum pw_status status = PW_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = pw_fail(err, PW_USER_ERROR, "%s: %s; name a YAML file", path,
                         S_ISDIR(info.st_mode) ? "is a folder" : "is no regular file");
    else if (!(*out = fdopen(fd, "r")))
        status = pw_fail_memory(err, "a YAML file");
    if (status != PW_OK)
        close(fd);
    return status;
}

enum pw_status pw_yaml_read_file(const char *path, pw_yaml_visit *visit, void *context, struct pw_error *err)
{
    FILE *file;
    enum pw_status status = pw_yaml_open(path, &file, err);
    if (status != PW_OK)
        return status;
    char *text = malloc(FILE_LIMIT + 1);
    if (!text) {
        status = pw_fail_memory(err, "a YAML file");
        goto out;
    }
    size_t length = fread(text, 1, FILE_LIMIT + 1, file);
    if (ferror(file)) {
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
        goto out;
    }
    status = pw_yaml_read_text(text, length, path, visit, context, err);
out:
    free(text);
    fclose(file);
    return status;
}
