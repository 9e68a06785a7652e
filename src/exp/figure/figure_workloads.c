/* A figure's workloads: lists, every program of a paper, copies, random mixes; the sample of them that a scope takes;
 * the sizes they run with, and the SMs of their applications.
 *
 * A mix is a set of different programs. Its programs are drawn with the group's seed, no mix comes twice, and a sample
 * is taken from all of them: what --quick runs is part of what --full runs, but for the sizes. */
#include "exp/figure/figure_internal.h"
#include "exp/format/text.h"
#include "sim/option.h"
#include "sim/random.h"
#include "sim/types.h"
#include "system/app_sms.h"
#include "workload/runtime/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_LIMIT = 256, ITEM_LIMIT = 4096 };

/* A group while it is read: its items as "HS:side=512,CONS". */
struct group {
    const struct figure_reader *r;
    const struct pw_sizes *sizes;
    const char *name;
    int line;
    size_t count;
    char **items;
};

static const struct figure_entry *field(const struct group *g, const char *name)
{
    return pw_figure_find(g->r, SECTION_WORKLOADS, g->name, name);
}

/* Of "nw:length=2048|length=1024" what the scope takes: the parameters before the bar, or with --quick those behind it.
 * Refuses a bar without parameters before it. */
static bool take_scope(char *item, enum pw_scope scope)
{
    for (char *bar; (bar = strchr(item, '|'));) {
        char *app = bar;
        while (app > item && app[-1] != ',')
            app--;
        char *from = memchr(app, ':', (size_t)(bar - app)), *end = bar + strcspn(bar, ",@");
        if (!from)
            return false;
        if (scope == PW_QUICK)
            memmove(from + 1, bar + 1, strlen(bar + 1) + 1);
        else
            memmove(bar, end, strlen(end) + 1);
    }
    return true;
}

/* Takes over the item. */
static enum pw_status add_item(struct group *g, char *item)
{
    char **grown = item && g->count < ITEM_LIMIT ? pw_figure_grow(g->items, g->count, sizeof *grown) : NULL;
    if (grown) {
        g->items = grown;
        g->items[g->count++] = item;
        return PW_OK;
    }
    free(item);
    return g->count < ITEM_LIMIT
               ? pw_figure_no_memory(g->r)
               : pw_figure_refuse(g->r, g->line, "group '%s' has more than %d workloads", g->name, ITEM_LIMIT);
}

/* The programs of a paper, without second names: those that run the same program as one before them. */
static size_t programs_of(const char *paper, const struct pw_workload *out[PROGRAM_LIMIT])
{
    size_t count = 0, length = strlen(paper);
    for (const struct pw_workload *const *w = pw_workloads; *w && count < PROGRAM_LIMIT; w++) {
        bool named = false, known = false;
        for (const char *at = (*w)->papers; at && *at && !named; at += strcspn(at, " "), at += strspn(at, " "))
            named = strcspn(at, " ") == length && !strncmp(at, paper, length);
        for (size_t i = 0; i < count; i++)
            known |= out[i]->main == (*w)->main && out[i]->parameters == (*w)->parameters;
        if (named && !known)
            out[count++] = *w;
    }
    return count;
}

static enum pw_status find_programs(const struct group *g, const struct figure_entry *e,
                                    const struct pw_workload *out[PROGRAM_LIMIT], size_t *out_count)
{
    *out_count = programs_of(e->value, out);
    if (*out_count > 0)
        return PW_OK;
    static const char *const papers[] = {"mosaic", "mask", "compression", "uvm", "gmmu-bypass", NULL};
    const char *near = pw_suggest(e->value, papers);
    return pw_figure_refuse(g->r, e->line, "no workload belongs to a paper '%.60s'%s%s%s", e->value,
                            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* `item` so many times, joined by commas. */
static char *repeated(const char *item, uint64_t copies)
{
    struct pw_text text = {0};
    for (uint64_t i = 0; i < copies; i++) {
        pw_text_add(&text, i ? "," : "");
        pw_text_add(&text, item);
    }
    if (text.failed)
        pw_text_free(&text);
    return text.bytes;
}

/* `depth`: how many lists name this one. */
static enum pw_status read_list(struct group *g, const char *list, uint64_t copies, unsigned depth)
{
    enum { MAX_DEPTH = 4 };
    char *copy = strdup(list), *rest = NULL;
    if (!copy)
        return pw_figure_no_memory(g->r);
    enum pw_status status = PW_OK;
    for (char *word = strtok_r(copy, " ", &rest); word && status == PW_OK; word = strtok_r(NULL, " ", &rest)) {
        const char *named = pw_sizes_list(g->sizes, word);
        if (named && depth == MAX_DEPTH)
            status = pw_figure_refuse(g->r, g->line, "list '%.80s' is named by too many lists in a row", word);
        else if (named)
            status = read_list(g, named, copies, depth + 1);
        else if (!take_scope(word, g->r->figure->scope))
            status = pw_figure_refuse(
                g->r, g->line, "'%.80s': a '|' stands between parameters, as in nw:length=2048|length=1024", word);
        else if (copies > 1 && pw_workload_cut(word).sms)
            status = pw_figure_refuse(g->r, g->line, "copies of '%.80s': give the copies their SMs with 'sms'", word);
        else
            status = add_item(g, repeated(word, copies));
    }
    free(copy);
    return status;
}

static enum pw_status read_each(struct group *g, const struct figure_entry *each, uint64_t copies)
{
    const char *list = pw_sizes_list(g->sizes, each->value);
    if (list)
        return read_list(g, list, copies, 0);
    const struct pw_workload *programs[PROGRAM_LIMIT];
    size_t count;
    enum pw_status status = find_programs(g, each, programs, &count);
    for (size_t i = 0; i < count && status == PW_OK; i++)
        status = add_item(g, repeated(programs[i]->name, copies));
    return status;
}

/* How many different mixes there are, up to a limit above any that can be asked for. */
static uint64_t mixes(size_t programs, uint64_t apps)
{
    enum { MANY = 1 << 20 };
    uint64_t n = 1;
    for (uint64_t i = 0; i < apps && n < MANY; i++)
        n = n * (programs - i) / (i + 1);
    return n < MANY ? n : MANY;
}

/* Draws `apps` different programs to the front of `order`. */
static void draw(struct pw_random *random, size_t *order, size_t count, uint64_t apps)
{
    for (size_t i = 0; i < apps; i++) {
        size_t other = i + (size_t)pw_random_below(random, count - i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

struct drawn {
    size_t count;
    struct {
        uint64_t bits[PROGRAM_LIMIT / 64];
    } * sets;
};

/* Whether the programs at the front of `order` are a mix that was not drawn before; remembers it. */
static bool is_new(struct drawn *d, const size_t *order, uint64_t apps)
{
    typeof(*d->sets) set = {0};
    for (size_t i = 0; i < apps; i++)
        set.bits[order[i] / 64] |= UINT64_C(1) << (order[i] % 64);
    for (size_t i = 0; i < d->count; i++)
        if (!memcmp(&d->sets[i], &set, sizeof set))
            return false;
    d->sets[d->count++] = set;
    return true;
}

static enum pw_status draw_mixes(struct group *g, const struct pw_workload *const *programs, size_t program_count,
                                 uint64_t wanted, uint64_t apps, uint64_t seed)
{
    struct drawn drawn = {.sets = calloc(wanted + 1, sizeof *drawn.sets)};
    struct pw_random random;
    size_t order[PROGRAM_LIMIT];
    pw_random_init(&random, seed, "mixes");
    for (size_t i = 0; i < program_count; i++)
        order[i] = i;
    enum pw_status status = drawn.sets ? PW_OK : pw_figure_no_memory(g->r);
    while (status == PW_OK && drawn.count < wanted) {
        draw(&random, order, program_count, apps);
        if (!is_new(&drawn, order, apps))
            continue;
        struct pw_text text = {0};
        for (size_t i = 0; i < apps; i++) {
            pw_text_add(&text, i ? "," : "");
            pw_text_add(&text, programs[order[i]]->name);
        }
        if (text.failed)
            pw_text_free(&text);
        status = add_item(g, text.bytes);
    }
    free(drawn.sets);
    return status;
}

static enum pw_status read_random(struct group *g, const struct figure_entry *random)
{
    const struct figure_entry *from = field(g, "from"), *apps_entry = field(g, "apps");
    if (!from || !apps_entry)
        return pw_figure_refuse(g->r, random->line, "random mixes need 'apps' (how many) and 'from' (a paper)");
    const struct pw_workload *programs[PROGRAM_LIMIT];
    size_t program_count;
    uint64_t count, apps, seed;
    enum pw_status status = pw_figure_number(g->r, random, 1, PW_FIGURE_MAX_WORKLOADS, 0, &count);
    if (status == PW_OK)
        status = pw_figure_number(g->r, apps_entry, 1, PW_MAX_APPS, 0, &apps);
    if (status == PW_OK)
        status = pw_figure_number(g->r, field(g, "seed"), 0, UINT64_MAX, g->r->figure->seed, &seed);
    if (status == PW_OK)
        status = find_programs(g, from, programs, &program_count);
    if (status != PW_OK)
        return status;
    uint64_t possible = apps <= program_count ? mixes(program_count, apps) : 0;
    if (count > possible)
        return pw_figure_refuse(g->r, random->line, "%zu programs make %llu different mixes of %llu, not %llu",
                                program_count, (unsigned long long)possible, (unsigned long long)apps,
                                (unsigned long long)count);
    return draw_mixes(g, programs, program_count, count, apps, seed);
}

/* Keys that go with only one kind of group. */
static enum pw_status check_fields(const struct group *g)
{
    static const struct {
        const char *key, *needs, *or_needs;
    } table[] = {
        {"copies", "each", "list"}, {"apps", "random", NULL}, {"from", "random", NULL}, {"seed", "random", NULL}};
    unsigned kinds = !!field(g, "list") + !!field(g, "each") + !!field(g, "random");
    if (kinds != 1)
        return pw_figure_refuse(g->r, g->line, "group '%s' needs one of 'list', 'each' and 'random'", g->name);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct figure_entry *e = field(g, table[i].key);
        if (e && !field(g, table[i].needs) && !(table[i].or_needs && field(g, table[i].or_needs)))
            return pw_figure_refuse(g->r, e->line, "'%s' goes with '%s'%s%s%s only", e->field, table[i].needs,
                                    table[i].or_needs ? " or '" : "", table[i].or_needs ? table[i].or_needs : "",
                                    table[i].or_needs ? "'" : "");
    }
    return PW_OK;
}

static enum pw_status collect(struct group *g)
{
    uint64_t copies;
    enum pw_status status = check_fields(g);
    if (status == PW_OK)
        status = pw_figure_number(g->r, field(g, "copies"), 1, PW_MAX_APPS, 1, &copies);
    if (status != PW_OK)
        return status;
    if (field(g, "each"))
        return read_each(g, field(g, "each"), copies);
    return field(g, "list") ? read_list(g, field(g, "list")->value, copies, 0) : read_random(g, field(g, "random"));
}

/* Appends one application: its program to `programs`, and with its size to `text`. */
static enum pw_status add_app(const struct group *g, const char *app, struct pw_text *programs, struct pw_text *text)
{
    char name[64], whole[512];
    const char *own = strchr(app, ':');
    size_t length = own ? (size_t)(own - app) : strlen(app);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 63, app);
    const char *size = own ? "" : pw_sizes_parameters(g->sizes, name, g->r->figure->scope);
    snprintf(whole, sizeof whole, "%s%s%s", app, *size ? ":" : "", size);
    struct pw_program program;
    enum pw_status status = pw_program_parse(whole, &program, g->r->err);
    if (status != PW_OK)
        return pw_figure_at(g->r, g->line, status);
    pw_program_release(&program);
    pw_text_print(programs, "%s%s", programs->length ? "," : "", name);
    pw_text_print(text, "%s%s", text->length ? "," : "", whole);
    return PW_OK;
}

static enum pw_status add_apps(const struct group *g, char *apps, struct pw_text *programs, struct pw_text *text,
                               unsigned *out_count)
{
    enum pw_status status = PW_OK;
    for (*out_count = 0; status == PW_OK && apps;) {
        if (++*out_count > PW_MAX_APPS)
            status = pw_figure_refuse(g->r, g->line, "a workload has at most %d applications", PW_MAX_APPS);
        else
            status = add_app(g, strsep(&apps, ","), programs, text);
    }
    return status;
}

static enum pw_status add_workload(const struct group *g, const char *item)
{
    struct pw_figure *f = g->r->figure;
    if (f->workload_count == PW_FIGURE_MAX_WORKLOADS)
        return pw_figure_refuse(g->r, g->line, "a figure has at most %d workloads", PW_FIGURE_MAX_WORKLOADS);
    struct pw_figure_workload *grown = pw_figure_grow(f->workloads, f->workload_count, sizeof *grown);
    char *copy = strndup(item, pw_workload_cut(item).programs), *label = strdup(item), sms[PW_APP_SMS_CAPACITY];
    f->workloads = grown ? grown : f->workloads;
    struct pw_text programs = {0}, text = {0};
    unsigned apps;
    enum pw_status status = grown && copy && label ? PW_OK : pw_figure_no_memory(g->r);
    if (status == PW_OK) /* how many SMs the machine has is not known here */
        status = pw_figure_at(g->r, g->line, pw_workload_sms(item, UINT32_MAX, sms, g->r->err));
    if (status == PW_OK)
        status = add_apps(g, copy, &programs, &text, &apps);
    free(copy);
    if (status == PW_OK && *sms) {
        pw_text_print(&text, "@%s", sms);
        strcpy(strrchr(label, '@') + 1, sms);
    }
    if (status == PW_OK && (programs.failed || text.failed))
        status = pw_figure_no_memory(g->r);
    if (status != PW_OK) {
        free(label);
        pw_text_free(&programs);
        pw_text_free(&text);
        return status;
    }
    f->workloads[f->workload_count++] = (struct pw_figure_workload){.programs = programs.bytes,
                                                                    .label = label,
                                                                    .text = text.bytes,
                                                                    .group = (unsigned)f->group_count - 1,
                                                                    .app_count = apps};
    return PW_OK;
}

/* Adds a workload: as it is, or with each of the group's SMs, "10+20 15+15 …" or "even", in the place of its own. */
static enum pw_status add_splits(const struct group *g, const char *item)
{
    const struct figure_entry *sms = field(g, "sms");
    if (!sms)
        return add_workload(g, item);
    char *copy = strdup(sms->value), *rest = NULL;
    if (!copy)
        return pw_figure_no_memory(g->r);
    enum pw_status status = PW_OK;
    for (const char *one = strtok_r(copy, " ", &rest); one && status == PW_OK; one = strtok_r(NULL, " ", &rest)) {
        struct pw_text text = {0};
        bool even = !strcmp(one, "even");
        pw_text_append(&text, item, pw_workload_cut(item).programs);
        pw_text_print(&text, "%s%s", even ? "" : "@", even ? "" : one);
        if (text.failed)
            status = pw_figure_no_memory(g->r);
        else if (!even && one[strspn(one, "0123456789+")])
            status = pw_figure_refuse(g->r, sms->line, "'%.60s' are no SMs; give even, or numbers such as 20+10", one);
        else
            status = add_workload(g, text.bytes);
        pw_text_free(&text);
    }
    free(copy);
    return status;
}

/* `quick` or `full` of the items, evenly spread; all where the key is missing or there are no more. */
static enum pw_status sample(const struct group *g)
{
    uint64_t counts[2]; /* by scope; both are read, so that a mistake in the other one shows */
    enum pw_status status = pw_figure_number(g->r, field(g, "quick"), 1, ITEM_LIMIT, g->count, &counts[PW_QUICK]);
    if (status == PW_OK)
        status = pw_figure_number(g->r, field(g, "full"), 1, ITEM_LIMIT, g->count, &counts[PW_FULL]);
    if (status != PW_OK)
        return status;
    uint64_t wanted = counts[g->r->figure->scope];
    if (wanted > g->count)
        wanted = g->count;
    for (uint64_t i = 0; i < wanted && status == PW_OK; i++)
        status = add_splits(g, g->items[(2 * i + 1) * g->count / (2 * wanted)]);
    return status;
}

static enum pw_status add_group(const struct figure_reader *r, const struct figure_entry *first,
                                const struct pw_sizes *sizes)
{
    struct pw_figure *f = r->figure;
    if (!pw_expression_is_name(first->name))
        return pw_figure_refuse(r, first->line, "the name '%.80s' may have letters, digits, '_' and single '-' inside",
                                first->name);
    if (f->group_count == PW_FIGURE_MAX_NAMES)
        return pw_figure_refuse(r, first->line, "a figure has at most %d groups of workloads", PW_FIGURE_MAX_NAMES);
    char **grown = pw_figure_grow(f->groups, f->group_count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    f->groups = grown;
    grown[f->group_count] = strdup(first->name);
    if (!grown[f->group_count++])
        return pw_figure_no_memory(r);
    struct group g = {.r = r, .sizes = sizes, .name = first->name, .line = first->line};
    enum pw_status status = collect(&g);
    if (status == PW_OK)
        status = sample(&g);
    for (size_t i = 0; i < g.count; i++)
        free(g.items[i]);
    free(g.items);
    return status;
}

/* Bytes of the application at `text`, in a workload that ends before `outer`. */
static size_t app_length(const char *text, const char *outer)
{
    size_t length = strcspn(text, ","), left = (size_t)(outer - text);
    return length < left ? length : left;
}

/* Whether two applications of a workload are the same program with different parameters. */
static bool has_program_twice(const struct pw_figure_workload *w)
{
    const char *text = w->text, *program = w->programs, *outer = text + pw_workload_cut(text).programs;
    for (unsigned i = 0; i < w->app_count; i++) {
        size_t length = app_length(text, outer), name = strcspn(program, ",");
        const char *other_text = text + length, *other = program + name;
        while (*other_text == ',' && *other == ',') {
            size_t other_length = app_length(++other_text, outer), other_name = strcspn(++other, ",");
            bool same_program = name == other_name && !strncmp(program, other, name);
            if (same_program && (length != other_length || strncmp(text, other_text, length) != 0))
                return true;
            other_text += other_length;
            other += other_name;
        }
        text += length + (text[length] == ',');
        program += name + (program[name] == ',');
    }
    return false;
}

/* Whether two workloads differ in their SMs at most. */
static bool same_apps(const char *a, const char *b)
{
    size_t length = pw_workload_cut(a).programs;
    return length == pw_workload_cut(b).programs && !memcmp(a, b, length);
}

/* Parameters stay in a workload's label only where they tell it, or its applications, from another of the same
 * programs. */
static void shorten_labels(struct pw_figure *f)
{
    for (size_t w = 0; w < f->workload_count; w++) {
        struct pw_figure_workload *one = &f->workloads[w];
        bool alike = has_program_twice(one);
        for (size_t i = 0; i < f->workload_count && !alike; i++)
            alike = !strcmp(f->workloads[i].programs, one->programs) && !same_apps(f->workloads[i].text, one->text);
        char *end = one->label + pw_workload_cut(one->label).programs, *shorter = one->label + strlen(one->programs);
        if (!alike && shorter <= end) {
            memcpy(one->label, one->programs, strlen(one->programs));
            memmove(shorter, end, strlen(end) + 1);
        }
    }
}

enum pw_status pw_figure_read_workloads(const struct figure_reader *r)
{
    struct pw_sizes sizes;
    enum pw_status status = pw_sizes_load(&sizes, r->err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < r->count && status == PW_OK; i++)
        if (r->entries[i].section == SECTION_WORKLOADS && pw_figure_is_first(r, &r->entries[i]))
            status = add_group(r, &r->entries[i], &sizes);
    pw_sizes_release(&sizes);
    shorten_labels(r->figure);
    if (status == PW_OK && r->figure->workload_count == 0)
        return pw_figure_refuse(r, 1, "a figure needs workloads, for example {1-app: {each: mosaic}}");
    return status;
}
