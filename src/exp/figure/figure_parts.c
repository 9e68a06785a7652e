/* A figure's variants and expressions, from the keys of its file. */
#include "exp/figure/figure_internal.h"
#include "pagewalk/pagewalk.h"
#include "sim/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pw_status check_name(const struct figure_reader *r, const struct figure_entry *e, const char *name)
{
    if (pw_expression_is_name(name))
        return PW_OK;
    return pw_figure_refuse(r, e->line, "the name '%.80s' may have letters, digits, '_' and single '-' inside", name);
}

/* Adds the words of an entry, "key=value" each, to a variant's options. */
static enum pw_status add_sets(const struct figure_reader *r, const struct figure_entry *e, struct pw_figure_variant *v)
{
    char *copy = e ? strdup(e->value) : NULL, *rest = NULL;
    if (!e || !copy)
        return e ? pw_figure_no_memory(r) : PW_OK;
    enum pw_status status = PW_OK;
    for (char *word = strtok_r(copy, " ", &rest); word && status == PW_OK; word = strtok_r(NULL, " ", &rest)) {
        const char *equals = strchr(word, '=');
        char **grown = NULL;
        if (!equals || equals == word || !equals[1])
            status = pw_figure_refuse(r, e->line, "'%.80s' is not an option, key=value", word);
        else if (v->set_count == PW_FIGURE_MAX_NAMES)
            status = pw_figure_refuse(r, e->line, "a variant sets more than %d options", PW_FIGURE_MAX_NAMES);
        else if (!(grown = pw_figure_grow(v->sets, v->set_count, sizeof *grown)))
            status = pw_figure_no_memory(r);
        if (status != PW_OK || !grown)
            break;
        v->sets = grown;
        v->sets[v->set_count] = strdup(word);
        status = v->sets[v->set_count++] ? PW_OK : pw_figure_no_memory(r);
    }
    free(copy);
    return status;
}

static int find_variant(const struct pw_figure *f, const char *name)
{
    for (size_t i = 0; i < f->variant_count; i++)
        if (!strcmp(f->variants[i].name, name))
            return (int)i;
    return -1;
}

/* Adds one variant; `swept` is "OPTION=VALUE" of a sweep, or NULL. */
static enum pw_status add_variant(const struct figure_reader *r, const struct figure_entry *first, const char *name,
                                  const char *swept)
{
    struct pw_figure *f = r->figure;
    const struct figure_entry *machine = pw_figure_find(r, SECTION_VARIANTS, first->name, "machine");
    const struct figure_entry *design = pw_figure_find(r, SECTION_VARIANTS, first->name, "design");
    machine = machine ? machine : pw_figure_find(r, SECTION_TOP, "machine", NULL);
    if (!design)
        return pw_figure_refuse(r, first->line, "variant '%s' has no design", first->name);
    if (!machine)
        return pw_figure_refuse(r, first->line, "variant '%s' has no machine, and the figure has none", first->name);
    if (f->variant_count == PW_FIGURE_MAX_VARIANTS)
        return pw_figure_refuse(r, first->line, "a figure has at most %d variants", PW_FIGURE_MAX_VARIANTS);
    enum pw_status status = check_name(r, first, name);
    if (status != PW_OK)
        return status;
    if (find_variant(f, name) >= 0)
        return pw_figure_refuse(r, first->line, "there are two variants '%s'", name);
    struct pw_figure_variant *grown = pw_figure_grow(f->variants, f->variant_count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    f->variants = grown;
    struct pw_figure_variant *v = &grown[f->variant_count++];
    *v = (struct pw_figure_variant){
        .name = strdup(name), .machine = strdup(machine->value), .design = strdup(design->value), .null = -1};
    if (!v->name || !v->machine || !v->design)
        return pw_figure_no_memory(r);
    status = add_sets(r, pw_figure_find(r, SECTION_TOP, "set", NULL), v);
    v->common_sets = v->set_count;
    if (status == PW_OK)
        status = add_sets(r, pw_figure_find(r, SECTION_VARIANTS, first->name, "set"), v);
    if (status == PW_OK && swept) {
        struct figure_entry set = {.value = strdup(swept), .line = first->line};
        status = set.value ? add_sets(r, &set, v) : pw_figure_no_memory(r);
        free(set.value);
    }
    return status;
}

/* "OPTION v1 v2 …": a variant NAME-v1, NAME-v2, … each. */
static enum pw_status sweep_variant(const struct figure_reader *r, const struct figure_entry *first,
                                    const struct figure_entry *sweep)
{
    char *copy = strdup(sweep->value), *rest = NULL;
    if (!copy)
        return pw_figure_no_memory(r);
    enum pw_status status = PW_OK;
    const char *option = strtok_r(copy, " ", &rest);
    const char *value = strtok_r(NULL, " ", &rest);
    if (!value)
        status = pw_figure_refuse(r, sweep->line, "a sweep is an option and its values: OPTION v1 v2 …");
    for (; value && status == PW_OK; value = strtok_r(NULL, " ", &rest)) {
        char name[256], set[512];
        if (strlen(option) + strlen(value) > 200) {
            status = pw_figure_refuse(r, sweep->line, "the sweep's value '%.40s…' is too long", value);
            break;
        }
        snprintf(name, sizeof name, "%s-%s", first->name, value);
        snprintf(set, sizeof set, "%s=%s", option, value);
        status = add_variant(r, first, name, set);
    }
    free(copy);
    return status;
}

/* The variant NAME SUFFIX (of a sweep "-110") has OTHER SUFFIX as its null design, or OTHER where there is none. */
static enum pw_status set_null(const struct figure_reader *r, const struct figure_entry *null, const char *suffix)
{
    char name[256], other[256];
    snprintf(name, sizeof name, "%s%s", null->name, suffix);
    snprintf(other, sizeof other, "%.200s%s", null->value, suffix);
    int found = find_variant(r->figure, other), variant = find_variant(r->figure, name);
    if (found < 0)
        found = find_variant(r->figure, null->value);
    if (found < 0)
        return pw_figure_refuse(r, null->line, "there is no variant '%.80s' to stand for '%s'", null->value, name);
    if (found == variant)
        return pw_figure_refuse(r, null->line, "'%s' cannot stand for itself", name);
    r->figure->variants[variant].null = found;
    return PW_OK;
}

static enum pw_status read_null(const struct figure_reader *r, const struct figure_entry *null)
{
    const struct figure_entry *sweep = pw_figure_find(r, SECTION_VARIANTS, null->name, "sweep");
    if (!sweep)
        return set_null(r, null, "");
    char *copy = strdup(sweep->value), *rest = NULL;
    enum pw_status status = copy ? PW_OK : pw_figure_no_memory(r);
    if (copy)
        strtok_r(copy, " ", &rest);
    for (const char *value; status == PW_OK && (value = strtok_r(NULL, " ", &rest));) {
        char suffix[256];
        snprintf(suffix, sizeof suffix, "-%s", value);
        status = set_null(r, null, suffix);
    }
    free(copy);
    return status;
}

enum pw_status pw_figure_read_variants(const struct figure_reader *r)
{
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < r->count && status == PW_OK; i++) {
        const struct figure_entry *e = &r->entries[i];
        if (e->section != SECTION_VARIANTS || !pw_figure_is_first(r, e))
            continue;
        const struct figure_entry *sweep = pw_figure_find(r, SECTION_VARIANTS, e->name, "sweep");
        status = check_name(r, e, e->name);
        if (status == PW_OK)
            status = sweep ? sweep_variant(r, e, sweep) : add_variant(r, e, e->name, NULL);
    }
    if (status == PW_OK && r->figure->variant_count == 0)
        return pw_figure_refuse(r, 1, "a figure needs variants, for example {4k: {design: gpu-mmu}}");
    for (size_t i = 0; i < r->count && status == PW_OK; i++) {
        const struct figure_entry *e = &r->entries[i];
        if (e->section == SECTION_VARIANTS && e->field && !strcmp(e->field, "null"))
            status = read_null(r, e);
    }
    return status;
}

/* What a measure may name. */
struct names {
    size_t count;
    char **items; /* ends with NULL; owned */
    const char *prefix;
    bool failed;
};

static void add_name(struct names *n, const char *prefix, const char *name)
{
    char **grown = pw_figure_grow(n->items, n->count + 1, sizeof *grown);
    if (!grown) {
        n->failed = true;
        return;
    }
    n->items = grown;
    if (asprintf(&grown[n->count], "%s%s", prefix, name) < 0)
        n->failed = true;
    else
        n->count++;
    grown[n->count] = NULL;
}

static void add_metric(void *context, const struct pw_listing *entry)
{
    add_name(context, "", entry->name);
    add_name(context, "app.", entry->name);
}

static void add_option(void *context, const struct pw_listing *entry)
{
    add_name(context, "option.", entry->name);
}

static void release_names(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i]);
    free(n->items);
}

static enum pw_status list_metrics(const struct figure_reader *r, struct names *n)
{
    static const char *const more[] = {"cycles", "nanoseconds", "ipc",     "weighted_speedup", "unfairness",
                                       "apps",   "app.cycles",  "app.ipc", "app.sms",          "app.speedup"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        add_name(n, "", more[i]);
    enum pw_status status = pw_list(PW_LIST_METRICS, add_metric, n, r->err);
    if (status == PW_OK)
        status = pw_list(PW_LIST_OPTIONS, add_option, n, r->err);
    return status == PW_OK && n->failed ? pw_figure_no_memory(r) : status;
}

static enum pw_status add_measure(const struct figure_reader *r, const struct figure_entry *e,
                                  const struct pw_expression_names *names)
{
    struct pw_figure *f = r->figure;
    if (!pw_expression_is_name(e->name) || (*e->name >= '0' && *e->name <= '9'))
        return pw_figure_refuse(r, e->line,
                                "the measure's name '%.80s' has to begin with a letter and go on with "
                                "letters, digits, '_' and single '-'",
                                e->name);
    if (f->measure_count == PW_FIGURE_MAX_NAMES)
        return pw_figure_refuse(r, e->line, "a figure has at most %d measures", PW_FIGURE_MAX_NAMES);
    struct pw_figure_measure *grown = pw_figure_grow(f->measures, f->measure_count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    f->measures = grown;
    struct pw_figure_measure *m = &grown[f->measure_count++];
    *m = (struct pw_figure_measure){.name = strdup(e->name)};
    if (!m->name)
        return pw_figure_no_memory(r);
    enum pw_status status = pw_expression_parse(e->value, names, &m->expression, r->err);
    if (status != PW_OK)
        return pw_figure_at(r, e->line, status);
    m->per_app = pw_expression_uses(m->expression, "app.");
    m->needs_alone = pw_expression_uses(m->expression, "weighted_speedup") ||
                     pw_expression_uses(m->expression, "unfairness") ||
                     pw_expression_uses(m->expression, "app.speedup");
    return PW_OK;
}

static enum pw_status read_measures(const struct figure_reader *r)
{
    struct names metrics = {0};
    enum pw_status status = r->metrics_checked ? PW_OK : list_metrics(r, &metrics);
    struct pw_expression_names names = {.metrics = (const char *const *)metrics.items};
    for (size_t i = 0; i < r->count && status == PW_OK; i++)
        if (r->entries[i].section == SECTION_MEASURES)
            status = add_measure(r, &r->entries[i], &names);
    release_names(&metrics);
    if (status == PW_OK && r->figure->measure_count == 0)
        return pw_figure_refuse(r, 1, "a figure needs measures, for example {speed: ipc}");
    return status;
}

enum pw_status pw_figure_add_column(const struct figure_reader *r, const struct figure_entry *e,
                                    const struct pw_expression_names *names)
{
    struct pw_figure *f = r->figure;
    if (f->column_count == PW_FIGURE_MAX_NAMES)
        return pw_figure_refuse(r, e->line, "a table has at most %d columns", PW_FIGURE_MAX_NAMES);
    struct pw_figure_column *grown = pw_figure_grow(f->columns, f->column_count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    f->columns = grown;
    struct pw_figure_column *c = &grown[f->column_count++];
    *c = (struct pw_figure_column){.heading = strdup(e->name)};
    if (!c->heading)
        return pw_figure_no_memory(r);
    enum pw_status status = pw_expression_parse(e->value, names, &c->expression, r->err);
    if (status == PW_OK && pw_expression_is_number(c->expression))
        status = pw_fail(r->err, PW_USER_ERROR, "column '%s' is one number; a column has one per workload", e->name);
    return pw_figure_at(r, e->line, status);
}

static enum pw_status find_claim(const struct figure_reader *r, const struct figure_entry *e,
                                 const struct pw_claim **out)
{
    *out = pw_claim_find(e->name);
    if (*out && !pw_claim_is_for_figures(*out))
        return pw_figure_refuse(r, e->line, "claim '%s' is not for figures to decide: its judge is '%s'", e->name,
                                pw_claim_judge_names[(*out)->judge]);
    if (*out)
        return PW_OK;
    const char **ids = calloc(pw_claim_count + 1, sizeof *ids);
    if (!ids)
        return pw_figure_no_memory(r);
    for (size_t i = 0; i < pw_claim_count; i++)
        ids[i] = pw_claims[i].id;
    const char *near = pw_suggest(e->name, ids);
    free(ids);
    return pw_figure_refuse(r, e->line, "unknown claim '%s'%s%s%s", e->name, near ? "; did you mean '" : "",
                            near ? near : "", near ? "'?" : "");
}

static enum pw_status add_parts(const struct figure_reader *r, const struct figure_entry *e,
                                const struct pw_expression_names *names, struct pw_figure_claim *claim)
{
    char *copy = strdup(e->value), *rest = copy;
    claim->parts = calloc(PW_CLAIM_MAX_PARTS, sizeof(struct pw_expression *));
    enum pw_status status = copy && claim->parts ? PW_OK : pw_figure_no_memory(r);
    while (status == PW_OK && rest) {
        const char *text = strsep(&rest, ";");
        if (claim->part_count == PW_CLAIM_MAX_PARTS) {
            status = pw_figure_refuse(r, e->line, "a claim has at most %d parts", PW_CLAIM_MAX_PARTS);
            break;
        }
        struct pw_expression **part = &claim->parts[claim->part_count];
        status = pw_figure_at(r, e->line, pw_expression_parse(text, names, part, r->err));
        if (status != PW_OK)
            break;
        claim->part_count++;
        if (!pw_expression_is_number(*part))
            status =
                pw_figure_refuse(r, e->line, "claim '%s' needs one number; mean(), max() and others make one", e->name);
    }
    free(copy);
    if (status == PW_OK && claim->part_count != pw_claim_parts(claim->claim))
        status =
            pw_figure_refuse(r, e->line, "claim '%s' has %zu parts ('%s'), its expressions (separated by ';') are %zu",
                             e->name, pw_claim_parts(claim->claim), claim->claim->value, claim->part_count);
    return status;
}

static enum pw_status add_claim(const struct figure_reader *r, const struct figure_entry *e,
                                const struct pw_expression_names *names)
{
    struct pw_figure *f = r->figure;
    if (f->claim_count == PW_FIGURE_MAX_CLAIMS)
        return pw_figure_refuse(r, e->line, "a figure decides at most %d claims", PW_FIGURE_MAX_CLAIMS);
    const struct pw_claim *row;
    enum pw_status status = find_claim(r, e, &row);
    if (status != PW_OK)
        return status;
    struct pw_figure_claim *grown = pw_figure_grow(f->claims, f->claim_count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    f->claims = grown;
    grown[f->claim_count] = (struct pw_figure_claim){.claim = row};
    return add_parts(r, e, names, &grown[f->claim_count++]);
}

enum pw_status pw_figure_read_expressions(const struct figure_reader *r)
{
    struct pw_figure *f = r->figure;
    enum pw_status status = read_measures(r);
    if (status != PW_OK)
        return status;
    const char *measures[PW_FIGURE_MAX_NAMES + 1] = {NULL}, *variants[PW_FIGURE_MAX_VARIANTS + 1] = {NULL};
    for (size_t i = 0; i < f->measure_count; i++)
        measures[i] = f->measures[i].name;
    for (size_t i = 0; i < f->variant_count; i++)
        variants[i] = f->variants[i].name;
    const char *groups[PW_FIGURE_MAX_NAMES + 1] = {NULL};
    for (size_t i = 0; i < f->group_count; i++)
        groups[i] = f->groups[i];
    struct pw_expression_names names = {.measures = measures, .variants = variants, .groups = groups};
    for (size_t i = 0; i < r->count && status == PW_OK; i++)
        if (r->entries[i].section == SECTION_TABLE)
            status = pw_figure_add_columns(r, &r->entries[i], &names);
        else if (r->entries[i].section == SECTION_CLAIMS)
            status = add_claim(r, &r->entries[i], &names);
    if (status == PW_OK && f->column_count + f->claim_count == 0)
        return pw_figure_refuse(r, 1, "a figure needs a table or claims");
    return status;
}
