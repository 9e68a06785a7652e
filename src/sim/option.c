/* A set of options over one configuration object: groups of rows flattened into slots with full names.
 *
 * A slot remembers who set it last. A value that is a time also remembers its text: how many cycles it is depends on
 * the clock, which a later file may change, so it becomes a number only in pw_options_finish. Names are looked up
 * linearly, by their hashes: there are a few hundred options, each set a few times before a run, never during one. */
#include "sim/fnv.h"
#include "sim/option_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char default_origin[] = "default";

static bool grow(struct pw_options *o)
{
    if (o->count < o->capacity)
        return true;
    size_t capacity = o->capacity ? 2 * o->capacity : 256;
    struct slot *slots = realloc(o->slots, capacity * sizeof(*slots));
    o->slots = slots ? slots : o->slots;
    char **names = realloc(o->names, (capacity + 1) * sizeof(*names));
    o->names = names ? names : o->names;
    if (!slots || !names)
        return false;
    o->capacity = capacity;
    return true;
}

enum pw_status pw_options_insert(struct pw_options *o, size_t at, const char *name, struct slot slot,
                                 struct pw_error *err)
{
    char *copy = strdup(name);
    if (!copy || !grow(o)) {
        free(copy);
        return pw_fail_memory(err, "options");
    }
    memmove(&o->slots[at + 1], &o->slots[at], (o->count - at) * sizeof(*o->slots));
    memmove(&o->names[at + 1], &o->names[at], (o->count - at) * sizeof(*o->names));
    slot.hash = pw_fnv_text(PW_FNV_START, name);
    o->slots[at] = slot;
    o->names[at] = copy;
    o->names[++o->count] = NULL;
    return PW_OK;
}

static void release(struct pw_options *o, size_t at)
{
    free(o->names[at]);
    free(o->slots[at].origin);
    free(o->slots[at].text);
}

void pw_options_remove(struct pw_options *o, size_t at)
{
    release(o, at);
    memmove(&o->slots[at], &o->slots[at + 1], (o->count - at - 1) * sizeof(*o->slots));
    memmove(&o->names[at], &o->names[at + 1], (o->count - at) * sizeof(*o->names));
    o->count--;
}

static enum pw_status assign(struct pw_options *o, size_t index, const char *value, struct pw_error *err)
{
    struct slot *slot = &o->slots[index];
    const char *name = o->names[index];
    if (slot->row->type != PW_OPTION_CYCLES || !o->clock_mhz || !pw_option_is_time(value)) {
        enum pw_status status = pw_option_parse_as(slot->row, name, value, 0, slot->field, err);
        if (status == PW_OK) {
            free(slot->text);
            slot->text = NULL;
        }
        return status;
    }
    char *text = strdup(value);
    if (!text)
        return pw_fail_memory(err, name);
    free(slot->text);
    slot->text = text;
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
    struct slot slot = {.row = row, .field = (char *)config + group->offset + row->offset};
    enum pw_status status = pw_options_insert(o, o->count, name, slot, err);
    if (status != PW_OK)
        return status;
    status = assign(o, o->count - 1, row->fallback ? row->fallback : "", err);
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
    struct pw_options *o = calloc(1, sizeof(*o));
    if (!o)
        return pw_fail_memory(err, "options");
    o->clock_mhz = clock_mhz;
    enum pw_status status = PW_OK;
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
    for (size_t i = 0; i < o->count; i++)
        release(o, i);
    free(o->names);
    free(o->slots);
    free(o);
}

int pw_options_find(const struct pw_options *o, const char *name)
{
    uint64_t hash = pw_fnv_text(PW_FNV_START, name);
    for (size_t i = 0; i < o->count; i++)
        if (o->slots[i].hash == hash && !strcmp(o->names[i], name))
            return (int)i;
    return -1;
}

enum pw_status pw_options_set(struct pw_options *o, const char *name, const char *value, const char *origin,
                              struct pw_error *err)
{
    char *copy = strdup(origin);
    if (!copy)
        return pw_fail_memory(err, name);
    int known = pw_options_find(o, name);
    size_t index = (size_t)known;
    enum pw_status status = known < 0 || o->slots[known].choice ? pw_options_keep_own(o, name, value, &index, err)
                                                                : assign(o, index, value, err);
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
        if (!slot->text || slot->choice)
            continue;
        enum pw_status status = pw_option_parse_as(slot->row, o->names[i], slot->text, *o->clock_mhz, slot->field, err);
        if (status != PW_OK) {
            pw_error_prefix(err, "%s", slot->origin ? slot->origin : default_origin);
            return status;
        }
    }
    enum pw_status status = pw_options_finish_own(o, err);
    o->resolved = status == PW_OK;
    return status;
}

/* What a policy's option was set to, in canonical form where it has one: times stay as they are. */
static void format_text(const struct slot *slot, char *out, size_t capacity)
{
    _Alignas(8) unsigned char value[PW_OPTION_TEXT_CAPACITY];
    bool is_time = slot->row->type == PW_OPTION_CYCLES && pw_option_is_time(slot->text);
    if (is_time || pw_option_parse(slot->row, slot->text, 0, value, NULL) != PW_OK)
        snprintf(out, capacity, "%s", slot->text);
    else
        pw_option_format(slot->row, value, out, capacity);
}

size_t pw_options_count(const struct pw_options *o)
{
    return o->count;
}

const char *pw_options_name(const struct pw_options *o, size_t index)
{
    return o->names[index];
}

void pw_options_view(const struct pw_options *o, size_t index, struct pw_option_view *out)
{
    const struct slot *slot = &o->slots[index];
    snprintf(out->name, sizeof(out->name), "%s", o->names[index]);
    if (slot->choice && !slot->field)
        format_text(slot, out->value, sizeof(out->value));
    else if (slot->text && !slot->choice && !o->resolved)
        snprintf(out->value, sizeof(out->value), "%s", slot->text);
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
