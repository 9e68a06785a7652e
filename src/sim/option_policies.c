/* The options of policies: each exists only while its policy is chosen.
 *
 * Files are laid over each other, so that such an option may be set before its policy is chosen, and by somebody else.
 * It then gets a slot behind the option that chooses, with its text; what the text means, and whether the option exists
 * at all, is known in pw_options_finish. There every chosen policy gets a slot for each of its rows, in their order.
 * What a file has set for a policy that somebody else has replaced is dropped; otherwise nobody could choose another
 * one in a design that has options. */
#include "sim/option_private.h"

#include <stdlib.h>
#include <string.h>

/* The policy that is chosen; NULL for "same". */
static const struct pw_policy *chosen(const struct slot *chooser)
{
    const struct pw_policy_family *family = pw_option_family(chooser->row);
    if (chooser->row->type == PW_OPTION_POLICY_OR_SAME)
        return pw_policy_chosen_or_same(family, chooser->field);
    return pw_policy_chosen(family, chooser->field);
}

static bool is_named(const char *chooser, const char *own, const char *name)
{
    char full[sizeof(((struct pw_option_view *)0)->name)];
    return pw_policy_own_name(chooser, own, full, sizeof full) && !strcmp(full, name);
}

/* The policy's option of this full name, or NULL. */
static const struct pw_option *row_of(const struct pw_policy *policy, const char *chooser, const char *name)
{
    for (const struct pw_option *row = policy ? policy->options : NULL; row && row->name; row++)
        if (is_named(chooser, row->name, name))
            return row;
    return NULL;
}

/* Some policy of the family that has an option of this name: the one that is chosen, if it has. */
static const struct pw_policy *owner_of(const struct pw_options *o, size_t chooser, const char *name)
{
    const struct slot *slot = &o->slots[chooser];
    const struct pw_policy_family *family = pw_option_family(slot->row);
    if (!family)
        return NULL;
    const struct pw_policy *policy = chosen(slot);
    if (row_of(policy, o->names[chooser], name))
        return policy;
    for (const struct pw_policy *const *p = family->policies; *p; p++)
        if (row_of(*p, o->names[chooser], name))
            return *p;
    return NULL;
}

/* How many options all policies have that could be chosen; their full names unless `out` is NULL. */
static size_t all_own_names(const struct pw_options *o, char (*out)[sizeof(((struct pw_option_view *)0)->name)])
{
    size_t count = 0;
    for (size_t i = 0; i < o->count; i++) {
        const struct pw_policy_family *family = pw_option_family(o->slots[i].row);
        for (const struct pw_policy *const *p = family ? family->policies : NULL; p && *p; p++)
            for (const struct pw_option *row = (*p)->options; row && row->name; row++, count++)
                if (out)
                    pw_policy_own_name(o->names[i], row->name, out[count], sizeof out[count]);
    }
    return count;
}

static enum pw_status fail_unknown(const struct pw_options *o, const char *name, struct pw_error *err)
{
    size_t own = all_own_names(o, NULL);
    char(*texts)[sizeof(((struct pw_option_view *)0)->name)] = calloc(own + 1, sizeof *texts);
    const char **names = calloc(o->count + own + 1, sizeof *names);
    const char *nearest = NULL;
    if (texts && names) {
        all_own_names(o, texts);
        memcpy(names, o->names, o->count * sizeof *names);
        for (size_t i = 0; i < own; i++)
            names[o->count + i] = texts[i];
        nearest = pw_suggest(name, names);
    }
    if (nearest)
        pw_error_set(err, PW_USER_ERROR, "unknown option '%.200s'; did you mean '%s'?", name, nearest);
    else
        pw_error_set(err, PW_USER_ERROR, "unknown option '%.200s'; see pagewalk list options", name);
    free(texts);
    free(names);
    return PW_USER_ERROR;
}

/* The slot behind a chooser's and those of its policy's options. */
static size_t behind(const struct pw_options *o, size_t chooser)
{
    size_t at = chooser + 1;
    while (at < o->count && o->slots[at].choice == o->slots[chooser].field)
        at++;
    return at;
}

enum pw_status pw_options_keep_own(struct pw_options *o, const char *name, const char *value, size_t *out_index,
                                   struct pw_error *err)
{
    const struct pw_policy *owner = NULL;
    size_t chooser = 0;
    for (; chooser < o->count && !owner; chooser++)
        owner = owner_of(o, chooser, name);
    if (!owner)
        return fail_unknown(o, name, err);
    chooser--;
    char *text = strdup(value);
    if (!text)
        return pw_fail_memory(err, name);
    int known = pw_options_find(o, name);
    *out_index = known < 0 ? behind(o, chooser) : (size_t)known;
    struct slot slot = {.row = row_of(owner, o->names[chooser], name), .choice = o->slots[chooser].field};
    enum pw_status status = known < 0 ? pw_options_insert(o, *out_index, name, slot, err) : PW_OK;
    if (status != PW_OK) {
        free(text);
        return status;
    }
    struct slot *kept = &o->slots[*out_index];
    free(kept->text);
    kept->text = text;
    kept->field = NULL;
    return PW_OK;
}

const struct pw_option *pw_options_row(const struct pw_options *o, const char *name)
{
    int index = pw_options_find(o, name);
    if (index >= 0)
        return o->slots[index].row;
    for (size_t i = 0; i < o->count; i++) {
        const struct pw_policy *owner = owner_of(o, i, name);
        if (owner)
            return row_of(owner, o->names[i], name);
    }
    return NULL;
}

/* Puts the slot of a row at its place, from behind or as a new one. */
static enum pw_status place(struct pw_options *o, size_t chooser, const struct pw_option *row, size_t at,
                            struct pw_error *err)
{
    char name[sizeof(((struct pw_option_view *)0)->name)];
    struct pw_policy_choice *choice = o->slots[chooser].field;
    if (!pw_policy_own_name(o->names[chooser], row->name, name, sizeof name))
        return pw_fail(err, PW_FAILED, "the option name %s.%s is too long", o->names[chooser], row->name);
    int known = pw_options_find(o, name);
    if (known >= 0 && o->slots[known].choice != choice)
        return pw_fail(err, PW_FAILED, "there are two options %s", name);
    if (known < 0) {
        enum pw_status status = pw_options_insert(o, at, name, (struct slot){.choice = choice}, err);
        if (status != PW_OK)
            return status;
        known = (int)at;
    }
    struct slot slot = o->slots[known], *place = &o->slots[at];
    char *slot_name = o->names[known];
    o->slots[known] = *place;
    o->names[known] = o->names[at];
    *place = slot;
    o->names[at] = slot_name;
    place->row = row;
    place->field = choice->options + row->offset;
    return PW_OK;
}

static enum pw_status assign(const struct pw_options *o, size_t index, struct pw_error *err)
{
    const struct slot *slot = &o->slots[index];
    const char *text = slot->text ? slot->text : slot->row->fallback ? slot->row->fallback : "";
    uint32_t clock = o->clock_mhz ? *o->clock_mhz : 0;
    enum pw_status status = pw_option_parse_as(slot->row, o->names[index], text, clock, slot->field, err);
    if (status != PW_OK)
        pw_error_prefix(err, "%s", slot->origin ? slot->origin : "default");
    return status;
}

/* Of an origin "FILE:LINE" the length of the file's name; 0 for any other. */
static size_t file_length(const char *origin)
{
    const char *colon = origin ? strrchr(origin, ':') : NULL;
    return colon && colon[1] >= '0' && colon[1] <= '9' ? (size_t)(colon - origin) : 0;
}

/* Whether an option of another policy than the chosen one is left over, and no mistake: a file chose a policy and set
 * its options, and somebody else has chosen another one since. */
static bool gives_way(const struct slot *chooser, const struct slot *own)
{
    size_t length = file_length(own->origin);
    bool same_file = length && length == file_length(chooser->origin) && !strncmp(own->origin, chooser->origin, length);
    return length && chooser->origin && !same_file;
}

/* What was set is an option of another policy than the one that is chosen. */
static enum pw_status fail_foreign(const struct pw_options *o, size_t chooser, size_t own, struct pw_error *err)
{
    const char *name = o->names[chooser];
    const struct pw_policy *owner = owner_of(o, chooser, o->names[own]);
    char value[PW_OPTION_TEXT_CAPACITY];
    pw_option_format(o->slots[chooser].row, o->slots[chooser].field, value, sizeof value);
    pw_error_set(err, PW_USER_ERROR, "%s is an option of %s=%s; %s is %s", o->names[own], name,
                 owner ? owner->name : "another policy", name, value);
    pw_error_prefix(err, "%s", o->slots[own].origin);
    return PW_USER_ERROR;
}

static enum pw_status finish_chooser(struct pw_options *o, size_t chooser, struct pw_error *err)
{
    const struct pw_policy *policy = chosen(&o->slots[chooser]);
    size_t at = chooser + 1;
    enum pw_status status = PW_OK;
    for (const struct pw_option *row = policy ? policy->options : NULL; row && row->name && status == PW_OK; row++) {
        status = place(o, chooser, row, at, err);
        if (status == PW_OK)
            status = assign(o, at++, err);
    }
    while (status == PW_OK && at < behind(o, chooser))
        if (gives_way(&o->slots[chooser], &o->slots[at]))
            pw_options_remove(o, at);
        else
            status = fail_foreign(o, chooser, at, err);
    return status;
}

enum pw_status pw_options_finish_own(struct pw_options *o, struct pw_error *err)
{
    for (size_t i = o->count; i-- > 0;)
        if (o->slots[i].choice && !o->slots[i].text)
            pw_options_remove(o, i);
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < o->count && status == PW_OK; i++)
        if (pw_option_family(o->slots[i].row) && !o->slots[i].choice)
            status = finish_chooser(o, i, err);
    return status;
}
