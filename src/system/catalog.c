/* Machines and designs by name.
 *
 * A machine is laid over the defaults, then designs are laid over the machine. Between layers the later one wins;
 * between designs of one run nobody does: `mosaic+mask` may share a choice but not contradict each other, or the
 * order of the names would decide what was simulated. Values are compared in canonical form, so 2MB and 2048KB agree.
 * A file's own name wins over an alias of another file.
 *
 * Times are compared as they are written, because the clock may still change: 1us and 1000ns contradict each other. */
#include "system/catalog.h"

#include "sim/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION_CAPACITY = 1024, NAMES_LIMIT = 256, NAME_CAPACITY = 64, DESIGNS_LIMIT = 16 };

struct description {
    char *summary, *aliases;
    size_t summary_capacity, aliases_capacity;
};

static enum pw_status describe_visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    (void)line;
    struct description *d = context;
    bool summary = !strcmp(key, "summary");
    if (!summary && strcmp(key, "aliases") != 0)
        return PW_OK;
    size_t capacity = summary ? d->summary_capacity : d->aliases_capacity;
    if (strlen(value) >= capacity)
        return pw_fail(err, PW_FAILED, "%s is longer than %zu bytes", key, capacity - 1);
    strcpy(summary ? d->summary : d->aliases, value);
    return PW_OK;
}

enum pw_status pw_catalog_describe(const struct pw_catalog_file *file, char *summary, size_t summary_capacity,
                                   char *aliases, size_t aliases_capacity, struct pw_error *err)
{
    struct description d = {summary, aliases, summary_capacity, aliases_capacity};
    *summary = *aliases = '\0';
    return pw_yaml_read_text(file->text, file->length, file->path, describe_visit, &d, err);
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
    char summary[DESCRIPTION_CAPACITY], aliases[DESCRIPTION_CAPACITY], *rest;
    enum pw_status status = pw_catalog_describe(file, summary, sizeof(summary), aliases, sizeof(aliases), err);
    for (char *alias = strtok_r(aliases, " ", &rest); alias && status == PW_OK; alias = strtok_r(NULL, " ", &rest))
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

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"));
}

/* Where a machine or design comes from. */
struct source {
    const char *name; /* canonical: of the embedded file, or the path as given */
    const char *path;
    const struct pw_catalog_file *embedded; /* NULL: to be read from path */
};

static enum pw_status resolve(const char *kind, const struct pw_catalog_file *files, const char *name,
                              struct source *out, struct pw_error *err)
{
    *out = (struct source){name, name, NULL};
    if (is_path(name))
        return PW_OK;
    enum pw_status status = find_file(kind, files, name, &out->embedded, err);
    if (status == PW_OK && out->embedded) {
        out->name = out->embedded->name;
        out->path = out->embedded->path;
    }
    return status;
}

/* What an option was set to by a design of this run. */
struct choice {
    size_t option;
    unsigned design;
    char value[PW_OPTION_TEXT_CAPACITY];
};

/* The layer being laid and, for designs, those of this run laid before. */
struct layering {
    struct pw_options *options;
    struct source source;
    struct choice *choices; /* room for one per option; NULL for a machine, which nothing contradicts */
    size_t choice_count;
    struct source designs[DESIGNS_LIMIT];
    unsigned design; /* number of the one being laid */
};

static enum pw_status check_choice(struct layering *l, size_t option, struct pw_error *err)
{
    struct pw_option_view view;
    pw_options_view(l->options, option, &view);
    for (size_t i = 0; i < l->choice_count; i++) {
        const struct choice *earlier = &l->choices[i];
        if (earlier->option != option)
            continue;
        if (!strcmp(earlier->value, view.value))
            return PW_OK;
        return pw_fail(err, PW_USER_ERROR, "designs '%s' and '%s' contradict each other: %s = %s and %s",
                       l->designs[earlier->design].name, l->source.name, view.name, earlier->value, view.value);
    }
    struct choice *fresh = &l->choices[l->choice_count++];
    *fresh = (struct choice){.option = option, .design = l->design};
    strcpy(fresh->value, view.value);
    return PW_OK;
}

static enum pw_status layer_visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    struct layering *l = context;
    if (!strcmp(key, "summary") || !strcmp(key, "aliases"))
        return PW_OK;
    char *origin;
    if (asprintf(&origin, "%s:%d", l->source.path, line) < 0)
        return pw_fail_memory(err, "an option's origin");
    enum pw_status status = pw_options_set(l->options, key, value, origin, err);
    free(origin);
    if (status == PW_OK && l->choices)
        status = check_choice(l, (size_t)pw_options_find(l->options, key), err);
    return status;
}

static enum pw_status lay(struct layering *l, struct pw_error *err)
{
    const struct source *source = &l->source;
    if (source->embedded)
        return pw_yaml_read_text(source->embedded->text, source->embedded->length, source->path, layer_visit, l, err);
    return pw_yaml_read_file(source->path, layer_visit, l, err);
}

enum pw_status pw_catalog_apply_machine(struct pw_options *o, const char *name, struct pw_error *err)
{
    struct layering l = {.options = o};
    enum pw_status status = resolve("machine", pw_machine_files, name, &l.source, err);
    return status == PW_OK ? lay(&l, err) : status;
}

static enum pw_status apply_design(struct layering *l, const char *name, struct pw_error *err)
{
    if (!*name)
        return pw_fail(err, PW_USER_ERROR, "a design's name is missing; give NAME or NAME+NAME");
    if (l->design == DESIGNS_LIMIT)
        return pw_fail(err, PW_USER_ERROR, "more than %d designs", DESIGNS_LIMIT);
    enum pw_status status = resolve("design", pw_design_files, name, &l->source, err);
    if (status != PW_OK)
        return status;
    for (unsigned i = 0; i < l->design; i++)
        if (!strcmp(l->designs[i].name, l->source.name))
            return pw_fail(err, PW_USER_ERROR, "design '%s' is named twice", l->source.name);
    l->designs[l->design] = l->source;
    status = lay(l, err);
    l->design++;
    return status;
}

static enum pw_status join_names(const struct layering *l, char *out, size_t capacity, struct pw_error *err)
{
    size_t used = 0;
    for (unsigned i = 0; i < l->design; i++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? "+" : "", l->designs[i].name);
        if (used >= capacity)
            return pw_fail(err, PW_USER_ERROR, "the designs' names are longer than %zu bytes together", capacity - 1);
    }
    return PW_OK;
}

enum pw_status pw_catalog_apply_designs(struct pw_options *o, const char *names, char *out_names, size_t capacity,
                                        struct pw_error *err)
{
    struct layering l = {.options = o};
    enum pw_status status = PW_OK;
    l.choices = calloc(pw_options_count(o) + 1, sizeof(*l.choices));
    char *copy = strdup(names), *rest = copy;
    if (!l.choices || !copy)
        status = pw_fail_memory(err, "designs");
    for (char *name; status == PW_OK && (name = strsep(&rest, "+"));)
        status = apply_design(&l, name, err);
    if (status == PW_OK)
        status = join_names(&l, out_names, capacity, err);
    free(copy);
    free(l.choices);
    return status;
}
