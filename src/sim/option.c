/* A set of options over one configuration object: groups of rows flattened into slots with full names.
 *
 * A slot remembers who set it last. A value that is a time also remembers its text: how many cycles it is depends on
 * the clock, which a later file may change, so it becomes a number only in pw_options_finish. Names are looked up
 * linearly: there are a few hundred options, each set a few times before a run, never during one. */
#include "sim/option.h"
#include "sim/option_value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char default_origin[] = "default";

struct slot {
    const struct pw_option *row;
    void *field;
    char *origin; /* NULL: default */
    char *time;   /* text of a time not yet in cycles, or NULL */
};

struct pw_options {
    size_t count;
    struct slot *slots;
    char **names; /* NULL-terminated, as pw_suggest wants them */
    const uint32_t *clock_mhz;
    bool resolved; /* times are in their fields */
};

static size_t count_rows(const struct pw_option_group *groups)
{
    size_t count = 0;
    for (; groups->prefix; groups++)
        for (const struct pw_option *row = groups->rows; row->name; row++)
            count++;
    return count;
}

static enum pw_status assign(struct pw_options *o, size_t index, const char *value, struct pw_error *err)
{
    struct slot *slot = &o->slots[index];
    const char *name = o->names[index];
    if (slot->row->type != PW_OPTION_CYCLES || !o->clock_mhz || !pw_option_is_time(value)) {
        enum pw_status status = pw_option_parse_as(slot->row, name, value, 0, slot->field, err);
        if (status == PW_OK) {
            free(slot->time);
            slot->time = NULL;
        }
        return status;
    }
    char *time = strdup(value);
    if (!time)
        return pw_fail_memory(err, name);
    free(slot->time);
    slot->time = time;
    o->resolved = false;
    return PW_OK;
}

static enum pw_status add_slot(struct pw_options *o, const struct pw_option_group *group, const struct pw_option *row,
                               void *config, struct pw_error *err)
{
    char name[sizeof(((struct pw_option_view *)0)->name)];
    int length = snprintf(name, sizeof(name), "%s%s%s", group->prefix, *group->prefix ? "." : "", row->name);
    if (length < 0 || (size_t)length >= sizeof(name))
        return pw_fail(err, PW_FAILED, "the option name %s.%s is too long", group->prefix, row->name);
    if (pw_options_find(o, name) >= 0)
        return pw_fail(err, PW_FAILED, "there are two options %s", name);
    char *copy = strdup(name);
    if (!copy)
        return pw_fail_memory(err, "options");
    assert(o->names && o->slots);
    o->names[o->count] = copy;
    o->slots[o->count] = (struct slot){row, (char *)config + group->offset + row->offset, NULL, NULL};
    enum pw_status status = assign(o, o->count++, row->fallback ? row->fallback : "", err);
    if (status != PW_OK) {
        pw_error_prefix(err, "default of option %s", name);
        if (err)
            err->status = PW_FAILED;
        return PW_FAILED;
    }
    return PW_OK;
}

enum pw_status pw_options_create(const struct pw_option_group *groups, void *config, const uint32_t *clock_mhz,
                                 struct pw_options **out, struct pw_error *err)
{
    *out = NULL;
    size_t capacity = count_rows(groups);
    struct pw_options *o = calloc(1, sizeof(*o));
    if (!o)
        return pw_fail_memory(err, "options");
    o->clock_mhz = clock_mhz;
    o->slots = calloc(capacity + 1, sizeof(*o->slots));
    o->names = calloc(capacity + 1, sizeof(*o->names));
    enum pw_status status = PW_OK;
    if (!o->slots || !o->names)
        status = pw_fail_memory(err, "options");
    for (const struct pw_option_group *group = groups; group->prefix; group++)
        for (const struct pw_option *row = group->rows; row->name && status == PW_OK; row++)
            status = add_slot(o, group, row, config, err);
    if (status != PW_OK) {
        pw_options_destroy(o);
        return status;
    }
    *out = o;
    return PW_OK;
}

void pw_options_destroy(struct pw_options *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->count; i++) {
        free(o->names[i]);
        free(o->slots[i].origin);
        free(o->slots[i].time);
    }
    free(o->names);
    free(o->slots);
    free(o);
}

int pw_options_find(const struct pw_options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (!strcmp(o->names[i], name))
            return (int)i;
    return -1;
}

enum pw_status pw_options_set(struct pw_options *o, const char *name, const char *value, const char *origin,
                              struct pw_error *err)
{
    int index = pw_options_find(o, name);
    if (index < 0) {
        const char *nearest = pw_suggest(name, (const char *const *)o->names);
        if (nearest)
            return pw_fail(err, PW_USER_ERROR, "unknown option '%.200s'; did you mean '%s'?", name, nearest);
        return pw_fail(err, PW_USER_ERROR, "unknown option '%.200s'; see pagewalk list options", name);
    }
    char *copy = strdup(origin);
    if (!copy)
        return pw_fail_memory(err, name);
    enum pw_status status = assign(o, (size_t)index, value, err);
    if (status != PW_OK) {
        free(copy);
        return status;
    }
    free(o->slots[index].origin);
    o->slots[index].origin = copy;
    return PW_OK;
}

enum pw_status pw_options_set_pair(struct pw_options *o, const char *pair, const char *origin, struct pw_error *err)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return pw_fail(err, PW_USER_ERROR, "'%.200s' is not of the form KEY=VALUE", pair);
    char *name = strndup(pair, (size_t)(equals - pair));
    if (!name)
        return pw_fail_memory(err, "an option's name");
    enum pw_status status = pw_options_set(o, name, equals + 1, origin, err);
    free(name);
    return status;
}

enum pw_status pw_options_finish(struct pw_options *o, struct pw_error *err)
{
    for (size_t i = 0; i < o->count; i++) {
        struct slot *slot = &o->slots[i];
        if (!slot->time)
            continue;
        enum pw_status status = pw_option_parse_as(slot->row, o->names[i], slot->time, *o->clock_mhz, slot->field, err);
        if (status != PW_OK) {
            pw_error_prefix(err, "%s", slot->origin ? slot->origin : default_origin);
            return status;
        }
    }
    o->resolved = true;
    return PW_OK;
}

size_t pw_options_count(const struct pw_options *o)
{
    return o->count;
}

void pw_options_view(const struct pw_options *o, size_t index, struct pw_option_view *out)
{
    const struct slot *slot = &o->slots[index];
    snprintf(out->name, sizeof(out->name), "%s", o->names[index]);
    if (slot->time && !o->resolved)
        snprintf(out->value, sizeof(out->value), "%s", slot->time);
    else
        pw_option_format(slot->row, slot->field, out->value, sizeof(out->value));
    out->origin = slot->origin ? slot->origin : default_origin;
    out->row = slot->row;
}

const char *pw_options_origin(const struct pw_options *o, const char *name)
{
    int index = pw_options_find(o, name);
    if (index < 0)
        return NULL;
    return o->slots[index].origin ? o->slots[index].origin : default_origin;
}
