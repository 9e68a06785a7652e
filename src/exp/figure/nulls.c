/* Null designs: what a claim about a design has to be held against, so that a design which does nothing earns none.
 *
 * A claim is evaluated a second time with its null design in the place of its design, in the same figure: every variant
 * of the design runs the other one, on the same machine and workloads, with the same options. What holds there too says
 * nothing about the design (PW_WEAK). Which design that is, of the claim's row (docs/claims.md has the reasons):
 *
 * 1. a variant for which the figure names another one (null: lru) is that one, with its options;
 * 2. else the row's baseline, the first of a list that is another design and no ideal: an ideal is what designs aim at,
 *    not what they start from;
 * 3. else where the design starts from: the last one in its chain of bases that has a base itself (mosaic, gpu-mmu, not
 *    what all designs share); of a pair of prefetcher and eviction, the pair that prefetches nothing;
 * 4. where that is the design itself there is none.
 *
 * Of a combination (gpu-mmu-2m+mask) of which the row names a layer, 2 and 3 become the other layers (gpu-mmu-2m).
 *
 * Rows name designs with remarks in brackets, in lists, and with a '*' for any word, which is the same in design and
 * baseline: uvm-*-sl and uvm-*-lru4k. Stand-ins are further variants behind those of the file, one for each pair of a
 * variant and a design, so that plans and evaluations need know nothing of the rule. */
#include "exp/figure/figure_internal.h"
#include "system/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CAPACITY = 64 };

static const char uvm_null[] = "uvm-none-lru4k";

/* The next name of a list, without the remark behind it; NULL at its end. */
static const char *next_name(const char *list, char out[NAME_CAPACITY])
{
    if (!*list)
        return NULL;
    size_t length = strcspn(list, ";"), name = strcspn(list, ";(");
    while (name > 0 && list[name - 1] == ' ')
        name--;
    snprintf(out, NAME_CAPACITY, "%.*s", name < NAME_CAPACITY ? (int)name : 0, list);
    list += length;
    return list + (*list == ';');
}

/* Whether a name has the form of a pattern; `out_word` is what its '*' stands for. */
static bool matches(const char *name, const char *pattern, char out_word[NAME_CAPACITY])
{
    const char *star = strchr(pattern, '*');
    *out_word = '\0';
    if (!star)
        return strcmp(name, pattern) == 0;
    size_t before = (size_t)(star - pattern), after = strlen(star + 1), length = strlen(name);
    if (length <= before + after || strncmp(name, pattern, before) != 0 || strcmp(name + length - after, star + 1) != 0)
        return false;
    snprintf(out_word, NAME_CAPACITY, "%.*s", (int)(length - before - after), name + before);
    return true;
}

/* The design of a name or alias; NULL where it is none, or a file of the user's. */
static const struct pw_catalog_file *find_design(const char *name)
{
    struct pw_error ignored;
    const struct pw_catalog_file *file = NULL;
    if (*name && pw_catalog_resolve(PW_CATALOG_DESIGNS, name, &file, &ignored) != PW_OK)
        return NULL;
    return file;
}

static const char *canonical(const char *design)
{
    const struct pw_catalog_file *file = find_design(design);
    return file ? file->name : design;
}

/* The row's baseline for a design, with its '*' filled in; NULL where there is none. */
static const char *baseline_of(const struct pw_claim *claim, const char *design, const char *word)
{
    char name[NAME_CAPACITY];
    for (const char *at = claim->baseline; (at = next_name(at, name));) {
        char filled[2 * NAME_CAPACITY], *star = strchr(name, '*');
        if (star && !*word)
            continue;
        snprintf(filled, sizeof filled, "%.*s%s%s", star ? (int)(star - name) : (int)strlen(name), name,
                 star ? word : "", star ? star + 1 : "");
        const struct pw_catalog_file *file = find_design(filled);
        if (file && strcmp(file->name, design) != 0 && !strstr(file->name, "ideal"))
            return file->name;
    }
    return NULL;
}

/* Where a design starts from; NULL where that is itself. */
static const char *start_of(const char *design)
{
    struct pw_error ignored;
    if (strncmp(design, "uvm-", 4) == 0 && strchr(design + 4, '-'))
        return strcmp(design, uvm_null) == 0 ? NULL : uvm_null;
    const struct pw_catalog_file *file = find_design(design), *start = NULL;
    struct pw_catalog_description d;
    while (file && pw_catalog_describe(file, &d, &ignored) == PW_OK && *d.base) {
        start = file;
        file = find_design(d.base);
    }
    return start && strcmp(start->name, design) != 0 ? start->name : NULL;
}

/* Whether a design is the claim's; `out_word` is what the '*' of the row stands for. */
static bool is_about(const struct pw_claim *claim, const char *design, char out_word[NAME_CAPACITY])
{
    char pattern[NAME_CAPACITY];
    for (const char *at = claim->design; (at = next_name(at, pattern));)
        if (matches(design, strchr(pattern, '*') ? pattern : canonical(pattern), out_word))
            return true;
    return false;
}

/* The layers of a combination without those that the claim is about, which `out` has room for; false where it is about
 * none of them, or about all. */
static bool other_layers(const struct pw_claim *claim, const char *design, char *out)
{
    bool found = false;
    *out = '\0';
    for (const char *at = design; *at;) {
        char layer[NAME_CAPACITY], word[NAME_CAPACITY];
        size_t length = strcspn(at, "+");
        snprintf(layer, sizeof layer, "%.*s", length < NAME_CAPACITY ? (int)length : 0, at);
        if (is_about(claim, canonical(layer), word)) {
            found = true;
        } else {
            strcat(out, *out ? "+" : "");
            strncat(out, at, length);
        }
        at += length + (at[length] == '+');
    }
    return found && *out;
}

/* The variants of the file that a claim's expressions name. */
static void mark(void *context, size_t measure, size_t variant, bool alone, int group)
{
    (void)measure;
    (void)alone;
    (void)group;
    bool *named = context;
    named[variant] = true;
}

static bool copy_variant(const struct pw_figure_variant *v, const char *design, struct pw_figure_variant *out)
{
    *out = (struct pw_figure_variant){.machine = strdup(v->machine),
                                      .design = strdup(design),
                                      .sets = calloc(v->set_count + 1, sizeof *out->sets),
                                      .common_sets = v->common_sets,
                                      .null = -1};
    if (asprintf(&out->name, "%s, with %s in its place", v->name, design) < 0)
        out->name = NULL;
    bool copied = out->name && out->machine && out->design && out->sets;
    for (size_t i = 0; copied && i < v->set_count; i++) {
        out->sets[i] = strdup(v->sets[i]);
        copied = out->sets[i];
        out->set_count += copied;
    }
    return copied;
}

/* The variant that runs a design in another's place, which may be there already; false: no memory. */
static bool add_stand_in(struct pw_figure *f, size_t variant, const char *design, size_t *out)
{
    struct pw_figure_variant made;
    bool copied = copy_variant(&f->variants[variant], design, &made);
    for (size_t i = f->variant_count; copied && i < f->variant_count + f->null_count; i++)
        if (strcmp(f->variants[i].name, made.name) == 0) {
            *out = i;
            pw_figure_variant_release(&made);
            return true;
        }
    size_t count = f->variant_count + f->null_count;
    struct pw_figure_variant *grown = copied ? pw_figure_grow(f->variants, count, sizeof *grown) : NULL;
    if (!grown) {
        pw_figure_variant_release(&made);
        return false;
    }
    f->variants = grown;
    f->variants[count] = made;
    f->null_count++;
    *out = count;
    return true;
}

/* Adds a design to a list of names, where it is not in it. */
static bool add_to_list(char **list, const char *design)
{
    size_t length = strlen(design);
    for (const char *at = *list; at && (at = strstr(at, design)); at += length)
        if ((at == *list || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    char *longer;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ", " : "", design) < 0)
        return false;
    free(*list);
    *list = longer;
    return true;
}

/* The null design of a variant that the claim names, by the rule; "": there is none. NULL: the claim is not about it.
 * `rest` has room for the variant's design. */
static const char *null_by_rule(const struct pw_claim *claim, const struct pw_figure_variant *v, char *rest)
{
    char word[NAME_CAPACITY];
    const char *design = canonical(v->design);
    if (!is_about(claim, design, word))
        return other_layers(claim, v->design, rest) ? rest : NULL;
    const char *null = baseline_of(claim, design, word);
    null = null ? null : start_of(design);
    return null ? null : "";
}

/* What stands for a variant that the claim names; false: no memory. */
static bool replace_variant(struct pw_figure *f, struct pw_figure_claim *c, size_t variant)
{
    const struct pw_figure_variant *v = &f->variants[variant];
    char *rest = malloc(strlen(v->design) + 1);
    if (!rest)
        return false;
    const char *null = null_by_rule(c->claim, v, rest);
    bool done = true;
    if (null && v->null >= 0) {
        c->stand_in[variant] = (size_t)v->null;
        null = f->variants[v->null].design;
    } else if (null && *null) {
        done = add_stand_in(f, variant, null, &c->stand_in[variant]);
    }
    done = done && (!null || !*null || add_to_list(&c->null_design, null));
    free(rest);
    return done;
}

static bool add_null(struct pw_figure *f, struct pw_figure_claim *c, const bool *named)
{
    c->stand_in = calloc(f->variant_count + 1, sizeof *c->stand_in);
    for (size_t v = 0; c->stand_in && v < f->variant_count; v++) {
        c->stand_in[v] = v;
        if (named[v] && !replace_variant(f, c, v))
            return false;
    }
    if (!c->stand_in)
        return false;
    if (!c->null_design) {
        free(c->stand_in);
        c->stand_in = NULL;
        c->null_design = strdup("");
    }
    return c->null_design;
}

enum pw_status pw_figure_add_nulls(struct pw_figure *f, struct pw_error *err)
{
    for (size_t i = 0; i < f->claim_count; i++) {
        struct pw_figure_claim *c = &f->claims[i];
        bool named[PW_FIGURE_MAX_VARIANTS] = {false};
        for (size_t part = 0; part < c->part_count; part++)
            pw_expression_references(c->parts[part], mark, named);
        if (!add_null(f, c, named))
            return pw_fail_memory(err, "a figure");
    }
    return PW_OK;
}
