/* Machines and designs by name: the embedded files, their aliases and what they say of themselves.
 *
 * A file's own name wins over an alias of another file. What the files set is laid over the options in
 * catalog_apply.c. */
#include "system/catalog.h"

#include "sim/yaml.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_LIMIT = 256, NAME_CAPACITY = 64 };

static enum pw_status describe_visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    (void)line;
    struct pw_catalog_description *d = context;
    char *target = !strcmp(key, "summary")      ? d->summary
                   : !strcmp(key, "aliases")    ? d->aliases
                   : !strcmp(key, "assumed")    ? d->assumed
                   : !strcmp(key, "base")       ? d->base
                   : !strcmp(key, "devices")    ? d->devices
                   : !strcmp(key, "nearest_to") ? d->nearest_to
                                                : NULL;
    if (!target)
        return PW_OK;
    if (strlen(value) >= PW_DESCRIPTION_CAPACITY)
        return pw_fail(err, PW_FAILED, "%s is longer than %d bytes", key, PW_DESCRIPTION_CAPACITY - 1);
    strcpy(target, value);
    return PW_OK;
}

enum pw_status pw_catalog_describe(const struct pw_catalog_file *file, struct pw_catalog_description *out,
                                   struct pw_error *err)
{
    *out = (struct pw_catalog_description){0};
    return pw_yaml_read_text(file->text, file->length, file->path, describe_visit, out, err);
}

/* Names and aliases of a list of files, for lookups by alias and for suggestions. */
struct names {
    const char *names[NAMES_LIMIT + 1]; /* NULL-terminated */
    const struct pw_catalog_file *files[NAMES_LIMIT];
    size_t count;
    char text[NAMES_LIMIT][NAME_CAPACITY];
};

static enum pw_status add_name(struct names *n, const struct pw_catalog_file *file, const char *name,
                               struct pw_error *err)
{
    if (n->count == NAMES_LIMIT || strlen(name) >= NAME_CAPACITY)
        return pw_fail(err, PW_FAILED, "%s: no room for the name '%s'", file->path, name);
    strcpy(n->text[n->count], name);
    n->names[n->count] = n->text[n->count];
    n->files[n->count++] = file;
    return PW_OK;
}

static enum pw_status add_aliases(struct names *n, const struct pw_catalog_file *file, struct pw_error *err)
{
    struct pw_catalog_description d;
    char *rest;
    enum pw_status status = pw_catalog_describe(file, &d, err);
    for (char *alias = strtok_r(d.aliases, " ", &rest); alias && status == PW_OK; alias = strtok_r(NULL, " ", &rest))
        status = add_name(n, file, alias, err);
    return status;
}

static enum pw_status collect_names(const struct pw_catalog_file *files, struct names *out, struct pw_error *err)
{
    memset(out, 0, sizeof(*out));
    enum pw_status status = PW_OK;
    for (const struct pw_catalog_file *file = files; file->name && status == PW_OK; file++)
        status = add_name(out, file, file->name, err);
    for (const struct pw_catalog_file *file = files; file->name && status == PW_OK; file++)
        status = add_aliases(out, file, err);
    return status;
}

static enum pw_status fail_unknown(const char *kind, const char *name, const struct pw_catalog_file *files,
                                   const struct names *names, struct pw_error *err)
{
    const char *nearest = pw_suggest(name, names->names);
    if (nearest)
        return pw_fail(err, PW_USER_ERROR, "unknown %s '%.200s'; did you mean '%s'?", kind, name, nearest);
    char list[1024] = "";
    size_t used = 0;
    for (; files->name && used < sizeof(list); files++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", files->name);
    return pw_fail(err, PW_USER_ERROR, "unknown %s '%.200s'; there are: %s", kind, name, list);
}

static enum pw_status find_file(const char *kind, const struct pw_catalog_file *files, const char *name,
                                const struct pw_catalog_file **out, struct pw_error *err)
{
    for (const struct pw_catalog_file *file = files; file->name; file++)
        if (!strcmp(file->name, name)) {
            *out = file;
            return PW_OK;
        }
    struct names names;
    enum pw_status status = collect_names(files, &names, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < names.count; i++)
        if (!strcmp(names.names[i], name)) {
            *out = names.files[i];
            return PW_OK;
        }
    return fail_unknown(kind, name, files, &names, err);
}

bool pw_catalog_is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"));
}

enum pw_status pw_catalog_resolve(enum pw_catalog_kind kind, const char *name, const struct pw_catalog_file **out,
                                  struct pw_error *err)
{
    *out = NULL;
    if (pw_catalog_is_path(name))
        return PW_OK;
    bool machine = kind == PW_CATALOG_MACHINES;
    return find_file(machine ? "machine" : "design", machine ? pw_machine_files : pw_design_files, name, out, err);
}
