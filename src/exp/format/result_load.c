/* Reads results back from JSON files, which are not trusted: they are read up to a limit, parsed by jansson (which
 * bounds depth), and every member that is looked at later is checked for its type. */
#include "exp/format/result_load.h"

#include "exp/format/kernel_name.h"
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
    if (json_integer_value(schema) != PW_RESULT_SCHEMA && json_integer_value(schema) != PW_RESULT_SCHEMA_ARRAYS)
        return pw_fail(err, PW_USER_ERROR, "%s: has schema %lld; this version reads schemas %d and %d", path,
                       (long long)json_integer_value(schema), PW_RESULT_SCHEMA_ARRAYS, PW_RESULT_SCHEMA);
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

/* A row of a launch as schema 1 had it, in the form of schema 2; NULL without memory. */
static json_t *named_row(const json_t *row, const json_t *names)
{
    json_int_t first = json_integer_value(json_object_get(row, "first_cycle"));
    json_int_t outer = json_integer_value(json_object_get(row, "outer_cycle"));
    const json_t *name = json_object_get(row, "name"), *values = json_object_get(row, "values");
    char brief[PW_KERNEL_NAME_SHORT];
    pw_kernel_name_short(json_is_string(name) ? json_string_value(name) : "", brief, sizeof brief);
    json_t *metrics = json_object();
    for (size_t i = 0; metrics && i < json_array_size(values); i++) {
        const json_t *metric = json_array_get(names, i);
        if (json_is_string(metric))
            json_object_set(metrics, json_string_value(metric), json_array_get(values, i));
    }
    uint64_t cycles = (uint64_t)outer - (uint64_t)first; /* as the file has them: perhaps nonsense */
    return json_pack("{s:O?, s:s, s:O?, s:O?, s:O?, s:O?, s:I, s:o}", "kernel", name, "short", brief, "launch",
                     json_object_get(row, "index"), "app", json_object_get(row, "app"), "first_cycle",
                     json_object_get(row, "first_cycle"), "outer_cycle", json_object_get(row, "outer_cycle"), "cycles",
                     (json_int_t)cycles, "metrics", metrics);
}

/* Gives an older result the form of the present schema. */
static enum pw_status upgrade(json_t *root, struct pw_error *err)
{
    json_t *kernels = json_object_get(root, "kernels");
    if (json_integer_value(json_object_get(root, "schema")) == PW_RESULT_SCHEMA)
        return PW_OK;
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        json_t *row = named_row(json_array_get(kernels, i), json_object_get(root, "window_metrics"));
        if (!row)
            return pw_fail_memory(err, "an older result");
        json_array_set_new(kernels, i, row);
    }
    return PW_OK;
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
    status = status == PW_OK ? upgrade(*out, err) : status;
out:
    pw_text_free(&text);
    return status;
}
