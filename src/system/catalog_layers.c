/* Reads the files of machines and designs, each with the base that it names, and that one's, up to the last.
 *
 * A file is known by what it is, not by how it is spelled, so that one that several are based on is read once, and one
 * that is based on itself is found out. Nothing is set here: catalog_apply.c lays what was read over the options. */
#include "system/catalog_layers.h"

#include "sim/grow.h"
#include "sim/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_name(const struct pw_layers *l)
{
    return l->kind == PW_CATALOG_MACHINES ? "machine" : "design";
}

static enum pw_status keep_text(char **target, const char *text, struct pw_error *err)
{
    *target = strdup(text);
    return *target ? PW_OK : pw_fail_memory(err, "a machine or design");
}

static enum pw_status read_visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    struct pw_layer *l = context;
    if (!strcmp(key, "summary") || !strcmp(key, "aliases") || !strcmp(key, "devices") || !strcmp(key, "nearest_to"))
        return PW_OK;
    if (!strcmp(key, "assumed")) {
        if (strlen(value) >= PW_DESCRIPTION_CAPACITY)
            return pw_fail(err, PW_USER_ERROR, "assumed is longer than %d bytes", PW_DESCRIPTION_CAPACITY - 1);
        return keep_text(&l->assumed, value, err);
    }
    if (!strcmp(key, "base")) {
        l->base_line = line;
        return keep_text(&l->base_name, value, err);
    }
    struct pw_layer_setting *settings = pw_grow(l->settings, l->count, &l->capacity, sizeof(*settings));
    if (!settings)
        return pw_fail_memory(err, "a machine or design");
    l->settings = settings;
    struct pw_layer_setting *s = &settings[l->count++];
    *s = (struct pw_layer_setting){.key = strdup(key), .value = strdup(value), .line = line};
    return s->key && s->value ? PW_OK : pw_fail_memory(err, "a machine or design");
}

static enum pw_status read_layer(struct pw_layer *l, struct pw_error *err)
{
    if (l->embedded)
        return pw_yaml_read_text(l->embedded->text, l->embedded->length, l->path, read_visit, l, err);
    return pw_yaml_read_file(l->path, read_visit, l, err);
}

void pw_layers_release(struct pw_layers *l)
{
    for (unsigned i = 0; l && i < l->count; i++) {
        struct pw_layer *row = &l->rows[i];
        for (size_t k = 0; k < row->count; k++) {
            free(row->settings[k].key);
            free(row->settings[k].value);
        }
        free(row->settings);
        free(row->name);
        free(row->path);
        free(row->base_name);
        free(row->assumed);
    }
    free(l);
}

/* The layer of a file that has been read before, or PW_LAYERS_LIMIT. */
static unsigned find_layer(const struct pw_layers *l, const struct pw_catalog_file *embedded,
                           const struct stat *identity)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct pw_layer *row = &l->rows[i];
        if (embedded ? row->embedded == embedded
                     : !row->embedded && row->identity.st_ino == identity->st_ino &&
                           row->identity.st_dev == identity->st_dev && identity->st_ino)
            return i;
    }
    return PW_LAYERS_LIMIT;
}

/* Reads the file of this name, given as it is to be opened, unless that has been done before. */
static enum pw_status open_layer(struct pw_layers *l, const char *name, unsigned *out, bool *out_fresh,
                                 struct pw_error *err)
{
    const struct pw_catalog_file *embedded;
    struct stat identity = {0};
    *out_fresh = false;
    enum pw_status status = pw_catalog_resolve(l->kind, name, &embedded, err);
    if (status != PW_OK)
        return status;
    if (!embedded && stat(name, &identity) != 0)
        identity.st_ino = 0; /* reading will say why */
    *out = find_layer(l, embedded, &identity);
    if (*out != PW_LAYERS_LIMIT)
        return PW_OK;
    if (l->count == PW_LAYERS_LIMIT)
        return pw_fail(err, PW_USER_ERROR, "more than %d %ss and bases", PW_LAYERS_LIMIT, kind_name(l));
    *out_fresh = true;
    *out = l->count++;
    struct pw_layer *row = &l->rows[*out];
    *row = (struct pw_layer){.embedded = embedded, .identity = identity, .base = PW_NO_BASE};
    row->name = strdup(embedded ? embedded->name : name);
    row->path = strdup(embedded ? embedded->path : name);
    if (!row->name || !row->path)
        return pw_fail_memory(err, "a machine or design");
    return read_layer(row, err);
}

/* The base's name as it is to be opened: a path is relative to the file that names it. The caller's to free. */
static char *base_path(const struct pw_layer *row)
{
    const char *name = row->base_name, *slash = strrchr(row->path, '/');
    bool relative = !row->embedded && name[0] != '/' && slash;
    char *joined;
    if (!relative || !pw_catalog_is_path(name))
        return strdup(name);
    return asprintf(&joined, "%.*s/%s", (int)(slash - row->path), row->path, name) < 0 ? NULL : joined;
}

static enum pw_status open_base(struct pw_layers *l, unsigned index, unsigned *out, bool *out_fresh,
                                struct pw_error *err)
{
    struct pw_layer *row = &l->rows[index];
    char *name = base_path(row);
    if (!name)
        return pw_fail_memory(err, "a base");
    enum pw_status status = open_layer(l, name, out, out_fresh, err);
    free(name);
    if (status == PW_OK && l->rows[*out].opening)
        status = pw_fail(err, PW_USER_ERROR, "'%s' is based on itself", l->rows[*out].name);
    if (status != PW_OK)
        pw_error_prefix(err, "%s:%d: base", row->path, row->base_line);
    return status;
}

/* Reads the bases of a layer that has just been read, up to one that is known already. */
static enum pw_status open_bases(struct pw_layers *l, unsigned index, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    unsigned first = index, depth = 1;
    for (bool fresh = true; status == PW_OK && fresh && l->rows[index].base_name; depth++) {
        struct pw_layer *row = &l->rows[index];
        unsigned base = PW_NO_BASE;
        row->opening = true;
        if (depth == PW_LAYERS_DEPTH)
            return pw_fail(err, PW_USER_ERROR, "%s:%d: base: more than %d files are based on one another", row->path,
                           row->base_line, PW_LAYERS_DEPTH);
        status = open_base(l, index, &base, &fresh, err);
        if (status != PW_OK)
            return status;
        row->base = base;
        l->rows[base].is_base = true;
        index = base;
    }
    for (unsigned i = first; i != PW_NO_BASE; i = l->rows[i].base)
        l->rows[i].opening = false;
    return status;
}

static enum pw_status add_named(struct pw_layers *l, const char *name, struct pw_error *err)
{
    bool fresh;
    unsigned index;
    if (!*name)
        return pw_fail(err, PW_USER_ERROR, "a %s's name is missing; give NAME or NAME+NAME", kind_name(l));
    if (l->named_count == PW_LAYERS_NAMED)
        return pw_fail(err, PW_USER_ERROR, "more than %d %ss", PW_LAYERS_NAMED, kind_name(l));
    enum pw_status status = open_layer(l, name, &index, &fresh, err);
    if (status == PW_OK && fresh)
        status = open_bases(l, index, err);
    if (status != PW_OK)
        return status;
    if (l->rows[index].named)
        return pw_fail(err, PW_USER_ERROR, "%s '%s' is named twice", kind_name(l), l->rows[index].name);
    l->rows[index].named = true;
    l->named[l->named_count++] = index;
    return PW_OK;
}

enum pw_status pw_layers_open(enum pw_catalog_kind kind, const char *names, struct pw_layers **out,
                              struct pw_error *err)
{
    enum pw_status status = PW_OK;
    struct pw_layers *l = calloc(1, sizeof(*l));
    char *copy = strdup(names), *rest = copy;
    if (!l || !copy)
        status = pw_fail_memory(err, "machines and designs");
    else
        l->kind = kind;
    for (char *name; status == PW_OK && (name = strsep(&rest, "+"));)
        status = add_named(l, name, err);
    free(copy);
    if (status != PW_OK) {
        pw_layers_release(l);
        l = NULL;
    }
    *out = l;
    return status;
}
