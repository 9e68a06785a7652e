/* How machines and designs are laid over the options.
 *
 * Machines come first. Of machines joined by '+' the later wins, so that `volta+mine.yaml` is volta with changes.
 * Designs are laid over the machine. Between the designs of one run nobody wins: `mosaic+mask` may share a choice but
 * not contradict each other, or the order of the names would decide what was simulated.
 *
 * A file may name its base. What it sets itself replaces what the base sets, and each file is laid once, after its
 * base, however many of the run are based on it. Only what designs set themselves can contradict: an inherited value
 * gives way to any design's own. A design that another of the run is based on counts as its base, so naming it as well
 * changes nothing. Two designs that inherit different values from bases that know nothing of each other are refused,
 * unless one of the run sets the option itself.
 *
 * Values are compared in canonical form, so 2MB and 2048KB agree; times as they are written, because the clock may
 * still change: 1us and 1000ns contradict each other. */
#include "system/catalog_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pw_status set(struct pw_options *o, const struct pw_layer *row, const struct pw_layer_setting *s,
                          struct pw_error *err)
{
    char *origin;
    if (asprintf(&origin, "%s:%d", row->path, s->line) < 0)
        return pw_fail_memory(err, "an option's origin");
    enum pw_status status = pw_options_set(o, s->key, s->value, origin, err);
    if (status != PW_OK)
        pw_error_prefix(err, "%s", origin);
    free(origin);
    return status;
}

/* Sets what a layer and, before it, its bases set, but for those that are laid already. */
static enum pw_status lay(struct pw_layers *l, unsigned index, struct pw_options *o, struct pw_error *err)
{
    unsigned chain[PW_LAYERS_LIMIT], length = 0;
    for (unsigned i = index; i != PW_NO_BASE && !l->rows[i].laid; i = l->rows[i].base)
        chain[length++] = i;
    enum pw_status status = PW_OK;
    while (length--) {
        struct pw_layer *row = &l->rows[chain[length]];
        row->laid = true;
        for (size_t i = 0; status == PW_OK && i < row->count; i++)
            status = set(o, row, &row->settings[i], err);
    }
    return status;
}

/* What the last of the layers that says so assumes. Files that stand on no known machine are worth a word, too. */
static void note_machine(const struct pw_layers *l, char *out)
{
    const char *assumed = NULL;
    bool known = false;
    for (unsigned i = 0; i < l->named_count; i++) {
        const struct pw_layer *row = &l->rows[l->named[i]];
        while (!row->assumed && row->base != PW_NO_BASE)
            row = &l->rows[row->base];
        assumed = row->assumed ? row->assumed : assumed;
    }
    for (unsigned i = 0; i < l->count; i++)
        known = known || l->rows[i].embedded;
    *out = '\0';
    if (assumed)
        snprintf(out, PW_DESCRIPTION_CAPACITY, "%s", assumed);
    else if (!known)
        snprintf(out, PW_DESCRIPTION_CAPACITY,
                 "%.200s has no base: what it does not set has pagewalk's defaults, which are no real machine's",
                 l->rows[l->named[0]].name);
}

enum pw_status pw_catalog_apply_machine_noted(struct pw_options *o, const char *names, char *out_note,
                                              struct pw_error *err)
{
    struct pw_layers *l;
    enum pw_status status = pw_layers_open(PW_CATALOG_MACHINES, names, &l, err);
    for (unsigned i = 0; status == PW_OK && i < l->named_count; i++)
        status = lay(l, l->named[i], o, err);
    if (status == PW_OK)
        note_machine(l, out_note);
    pw_layers_release(l);
    return status;
}

enum pw_status pw_catalog_apply_machine(struct pw_options *o, const char *names, struct pw_error *err)
{
    char note[PW_DESCRIPTION_CAPACITY];
    return pw_catalog_apply_machine_noted(o, names, note, err);
}

/* What a layer sets an option to, in canonical form. */
struct choice {
    const struct pw_layer *layer;
    const struct pw_layer_setting *setting; /* by whose key options are told apart: their indices may move */
    char value[PW_OPTION_TEXT_CAPACITY];
};

struct choices {
    const struct pw_layers *layers;
    struct choice *rows;
    size_t count;
};

static enum pw_status collect_choices(const struct pw_layers *l, struct pw_options *o, struct choices *out,
                                      struct pw_error *err)
{
    size_t count = 0;
    for (unsigned i = 0; i < l->count; i++)
        count += l->rows[i].count;
    *out = (struct choices){.layers = l, .rows = calloc(count + 1, sizeof(*out->rows))};
    if (!out->rows)
        return pw_fail_memory(err, "designs");
    enum pw_status status = PW_OK;
    for (unsigned i = 0; i < l->count; i++)
        for (size_t k = 0; status == PW_OK && k < l->rows[i].count; k++) {
            struct choice *c = &out->rows[out->count++];
            struct pw_option_view view;
            c->layer = &l->rows[i];
            c->setting = &l->rows[i].settings[k];
            status = set(o, c->layer, c->setting, err);
            if (status != PW_OK)
                break;
            pw_options_view(o, (size_t)pw_options_find(o, c->setting->key), &view);
            strcpy(c->value, view.value);
        }
    return status;
}

static bool is_based_on(const struct pw_layers *l, const struct pw_layer *layer, const struct pw_layer *base)
{
    for (unsigned i = layer->base; i != PW_NO_BASE; i = l->rows[i].base)
        if (&l->rows[i] == base)
            return true;
    return false;
}

/* Whether a design of the run sets it itself. */
static bool is_own(const struct choice *c)
{
    return c->layer->named && !c->layer->is_base;
}

static bool is_overridden(const struct choices *all, const struct choice *c)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct choice *other = &all->rows[i];
        if (!strcmp(other->setting->key, c->setting->key) &&
            (is_based_on(all->layers, other->layer, c->layer) || (is_own(other) && !is_own(c))))
            return true;
    }
    return false;
}

static enum pw_status fail_contradiction(const struct choice *a, const struct choice *b, const char *option,
                                         struct pw_error *err)
{
    if (is_own(a))
        pw_error_set(err, PW_USER_ERROR, "designs '%s' and '%s' contradict each other: %s = %s and %s", a->layer->name,
                     b->layer->name, option, a->value, b->value);
    else
        pw_error_set(err, PW_USER_ERROR,
                     "the bases '%s' and '%s' contradict each other: %s = %s and %s; set it in one of the designs",
                     a->layer->name, b->layer->name, option, a->value, b->value);
    pw_error_prefix(err, "%s:%d", b->layer->path, b->setting->line);
    return PW_USER_ERROR;
}

/* Sets an option to what those that set it agree on, once those that are overridden are left out. */
static enum pw_status decide(const struct choices *all, size_t option, struct pw_options *o, struct pw_error *err)
{
    const struct choice *first = NULL;
    const char *name = pw_options_name(o, option);
    for (size_t i = 0; i < all->count; i++) {
        const struct choice *c = &all->rows[i];
        if (strcmp(c->setting->key, name) != 0 || is_overridden(all, c))
            continue;
        if (first && strcmp(first->value, c->value) != 0)
            return fail_contradiction(first, c, name, err);
        first = first ? first : c;
    }
    return first ? set(o, first->layer, first->setting, err) : PW_OK;
}

static enum pw_status join_names(const struct pw_layers *l, char *out, size_t capacity, struct pw_error *err)
{
    size_t used = 0;
    for (unsigned i = 0; i < l->named_count; i++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? "+" : "", l->rows[l->named[i]].name);
        if (used >= capacity)
            return pw_fail(err, PW_USER_ERROR, "the designs' names are longer than %zu bytes together", capacity - 1);
    }
    return PW_OK;
}

enum pw_status pw_catalog_apply_designs(struct pw_options *o, const char *names, char *out_names, size_t capacity,
                                        struct pw_error *err)
{
    struct pw_layers *l;
    struct choices choices = {0};
    enum pw_status status = pw_layers_open(PW_CATALOG_DESIGNS, names, &l, err);
    if (status == PW_OK)
        status = collect_choices(l, o, &choices, err);
    for (size_t i = 0; status == PW_OK && i < pw_options_count(o); i++)
        status = decide(&choices, i, o, err);
    if (status == PW_OK)
        status = join_names(l, out_names, capacity, err);
    free(choices.rows);
    pw_layers_release(l);
    return status;
}
