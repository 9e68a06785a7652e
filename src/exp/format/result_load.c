/* Reads results back from JSON files, which are not trusted: they are read up to a limit, parsed by jansson (which
 * bounds depth), and every member that is looked at later is checked for its type. */
#include "exp/format/result_load.h"

#include "exp/format/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A result of a million intervals does not fit; its parsed form would need some gigabytes. */
enum { FILE_LIMIT = 64 << 20 };

static enum pw_status read_file(const char *path, struct pw_text *out, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    static const size_t step = 1 << 16;
    char *block = malloc(step);
    if (!block)
        out->failed = true;
    while (!out->failed) {
        ssize_t length = read(fd, block, step);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            status = pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
            break;
        }
        if (length == 0)
            break;
        pw_text_append(out, block, (size_t)length);
        if (out->length > FILE_LIMIT) {
            status = pw_fail(err, PW_USER_ERROR, "%s: is over %d MiB, too large to compare", path, FILE_LIMIT >> 20);
            break;
        }
    }
    free(block);
    close(fd);
    return status == PW_OK ? pw_text_finish(out, err) : status;
}

static enum pw_status check_map(const char *path, const json_t *root, const char *member, bool strings,
                                struct pw_error *err)
{
    const char *key;
    json_t *value;
    const json_t *map = json_object_get(root, member);
    if (!json_is_object(map))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no object \"%s\"", path, member);
    json_object_foreach((json_t *)map, key, value)
    {
        if (strings ? !json_is_string(value) : !json_is_number(value) && !json_is_null(value))
            return pw_fail(err, PW_USER_ERROR, "%s: a member of \"%s\" is no %s", path, member,
                           strings ? "string" : "number");
    }
    return PW_OK;
}

static enum pw_status check_array(const char *path, const json_t *root, const char *member, bool required,
                                  struct pw_error *err)
{
    const json_t *array = json_object_get(root, member);
    if (!array && !required)
        return PW_OK;
    if (!json_is_array(array))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no array \"%s\"", path, member);
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_is_object(json_array_get(array, i)))
            return pw_fail(err, PW_USER_ERROR, "%s: a row of \"%s\" is no object", path, member);
    return PW_OK;
}

/* Results of older versions do not say how they were made. */
static enum pw_status check_made(const char *path, const json_t *root, struct pw_error *err)
{
    const char *key;
    json_t *value;
    const json_t *made = json_object_get(root, "made"), *host = json_object_get(root, "host");
    const json_t *command = json_object_get(host, "command");
    if (made && !json_is_object(made))
        return pw_fail(err, PW_USER_ERROR, "%s: \"made\" is no object", path);
    json_object_foreach((json_t *)made, key, value)
    {
        if (!json_is_string(value) && !json_is_integer(value) && !json_is_boolean(value))
            return pw_fail(err, PW_USER_ERROR, "%s: a member of \"made\" is no string, number or boolean", path);
    }
    if (command && !json_is_string(command))
        return pw_fail(err, PW_USER_ERROR, "%s: \"command\" is no string", path);
    return PW_OK;
}

static enum pw_status check_result(const char *path, const json_t *root, struct pw_error *err)
{
    static const char *const strings[] = {"version", "machine", "design"};
    static const char *const numbers[] = {"seed", "cycles", "nanoseconds"};
    const json_t *schema = json_object_get(root, "schema");
    if (!json_is_integer(schema))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no \"schema\"", path);
    if (json_integer_value(schema) != PW_RESULT_SCHEMA)
        return pw_fail(err, PW_USER_ERROR, "%s: has schema %lld; this version reads schema %d", path,
                       (long long)json_integer_value(schema), PW_RESULT_SCHEMA);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!json_is_string(json_object_get(root, strings[i])))
            return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no string \"%s\"", path,
                           strings[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!json_is_number(json_object_get(root, numbers[i])))
            return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no number \"%s\"", path,
                           numbers[i]);
    enum pw_status status = check_map(path, root, "options", true, err);
    status = status == PW_OK ? check_made(path, root, err) : status;
    status = status == PW_OK ? check_map(path, root, "metrics", false, err) : status;
    status = status == PW_OK ? check_array(path, root, "apps", true, err) : status;
    status = status == PW_OK ? check_array(path, root, "allocations", false, err) : status;
    status = status == PW_OK ? check_array(path, root, "identities", true, err) : status;
    status = status == PW_OK ? check_array(path, root, "kernels", false, err) : status;
    return status == PW_OK ? check_array(path, root, "intervals", false, err) : status;
}

enum pw_status pw_result_load(const char *path, json_t **out, struct pw_error *err)
{
    struct pw_text text = {0};
    json_error_t problem;
    enum pw_status status = read_file(path, &text, err);
    if (status != PW_OK)
        goto out;
    *out = json_loadb(text.bytes ? text.bytes : "", text.length, JSON_REJECT_DUPLICATES, &problem);
    if (!*out) {
        struct pw_text reason = {0};
        pw_text_printable(&reason, problem.text);
        status = pw_fail(err, PW_USER_ERROR, "%s:%d: is not JSON: %s", path, problem.line > 0 ? problem.line : 1,
                         reason.bytes ? reason.bytes : "");
        pw_text_free(&reason);
        goto out;
    }
    status = check_result(path, *out, err);
out:
    pw_text_free(&text);
    return status;
}
