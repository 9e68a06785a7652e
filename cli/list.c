/* pagewalk list: what there is to choose from, as a table or as JSON. */
#include "command.h"

#include "exp/figure/figure_list.h"
#include "exp/format/table.h"
#include "exp/tools/cost_table.h"
#include "exp/tools/profile.h"

#include <stdio.h>
#include <string.h>

struct arguments {
    bool cost, full;
    const char *json, *machine;
};

static const struct pw_cli_flag flags[] = {
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write it as one JSON array"},
    {0, "long", PW_CLI_SWITCH, offsetof(struct arguments, full), NULL,
     "machines: in a pipe a line for each, of any length"},
    {0, "cost", PW_CLI_SWITCH, offsetof(struct arguments, cost), NULL, "designs: what they add in storage"},
    {'m', "machine", PW_CLI_TEXT, offsetof(struct arguments, machine), "NAME|FILE.yaml[+…]",
     "--cost: on this machine (default mosaic)"},
    {.name = NULL},
};

/* What a listing's fields are called, as columns of the table and members of the JSON; NULL where a kind has none.
 * Details that are lists of words are arrays in the JSON. */
static const struct kind {
    const char *name, *detail, *value, *range;
    enum pw_list_kind kind;
    bool detail_is_list;
} kinds[] = {
    {"machines", "aliases", "assumed", NULL, PW_LIST_MACHINES, true},
    {"designs", "aliases", NULL, NULL, PW_LIST_DESIGNS, true},
    {"workloads", "suite", NULL, NULL, PW_LIST_WORKLOADS, false},
    {"policies", "family", "option", NULL, PW_LIST_POLICIES, false},
    {"options", "unit", "default", "range", PW_LIST_OPTIONS, false},
    {"metrics", "unit", NULL, NULL, PW_LIST_METRICS, false},
    {"figures", "where", NULL, NULL, PW_LIST_KIND_COUNT, false}, /* of the layer above, so with a function of its own */
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

struct listing {
    const struct kind *kind;
    struct pw_text text;
    struct pw_table table;
    size_t count;
};

static const char *or_empty(const char *string)
{
    return string ? string : "";
}

static void add_sizes(struct pw_table *table, const struct pw_listing *entry)
{
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < entry->size_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "", entry->sizes[i].name);
    pw_table_cell(table, names);
}

static void add_row(void *context, const struct pw_listing *entry)
{
    struct listing *l = context;
    pw_table_cell(&l->table, entry->name);
    pw_table_cell(&l->table, or_empty(entry->detail));
    if (l->kind->value)
        pw_table_cell(&l->table, or_empty(entry->value));
    if (l->kind->range)
        pw_table_cell(&l->table, or_empty(entry->range));
    if (l->kind->kind == PW_LIST_WORKLOADS) {
        pw_table_cell(&l->table, or_empty(entry->papers));
        add_sizes(&l->table, entry);
    }
    pw_table_cell(&l->table, or_empty(entry->summary));
    l->count++;
}

static void add_member(struct pw_text *text, const char *name, const char *value)
{
    pw_text_print(text, ", \"%s\": ", name);
    pw_text_json_string(text, or_empty(value));
}

/* What only workloads have. */
static void add_workload(struct pw_text *text, const struct pw_listing *entry)
{
    pw_text_add(text, ", \"papers\": ");
    pw_profile_json_words(or_empty(entry->papers), text);
    pw_text_add(text, ", \"sizes\": {");
    for (size_t i = 0; i < entry->size_count; i++) {
        pw_text_add(text, i ? ", " : "");
        pw_text_json_string(text, entry->sizes[i].name);
        pw_text_add(text, ": ");
        pw_text_json_string(text, entry->sizes[i].parameters);
    }
    pw_text_add(text, "}, \"parameters\": [");
    for (size_t i = 0; i < entry->parameter_count; i++) {
        pw_text_add(text, i ? ",\n    " : "\n    ");
        pw_profile_json_parameter(&entry->parameters[i], text);
    }
    pw_text_add(text, "\n  ]");
}

static void add_object(void *context, const struct pw_listing *entry)
{
    struct listing *l = context;
    struct pw_text *text = &l->text;
    pw_text_add(text, l->count++ ? ",\n  {\"name\": " : "\n  {\"name\": ");
    pw_text_json_string(text, entry->name);
    if (l->kind->detail_is_list) {
        pw_text_print(text, ", \"%s\": ", l->kind->detail);
        pw_profile_json_words(or_empty(entry->detail), text);
    } else {
        add_member(text, l->kind->detail, entry->detail);
    }
    if (l->kind->value)
        add_member(text, l->kind->value, entry->value);
    if (l->kind->range)
        add_member(text, l->kind->range, entry->range);
    if (entry->effect)
        add_member(text, "effect", entry->effect);
    add_member(text, "summary", entry->summary);
    if (l->kind->kind == PW_LIST_WORKLOADS)
        add_workload(text, entry);
    pw_text_add(text, "}");
}

static int unknown_kind(const char *given)
{
    const char *names[KIND_COUNT + 1] = {NULL};
    for (size_t i = 0; i < KIND_COUNT; i++)
        names[i] = kinds[i].name;
    return pw_cli_unknown("list", given, names, "pagewalk help list");
}

static enum pw_status fill_costs(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    const struct arguments *a = context;
    return pw_cost_table(a->machine, json, out, err);
}

static void add_titles(struct listing *l)
{
    static const struct pw_workload_size sizes = {.name = "sizes"};
    const struct pw_listing heading = {.name = "name",
                                       .summary = "summary",
                                       .detail = l->kind->detail,
                                       .value = l->kind->value,
                                       .range = l->kind->range,
                                       .papers = "papers",
                                       .size_count = 1,
                                       .sizes = &sizes};
    add_row(l, &heading);
}

struct view {
    const struct kind *kind;
    bool wrapped; /* in a pipe too */
};

static enum pw_status fill(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    const struct view *v = context;
    if (!json && v->wrapped)
        pw_cli_wrap(out);
    struct listing l = {.kind = v->kind, .text = *out};
    bool workloads = l.kind->kind == PW_LIST_WORKLOADS;
    l.table = (struct pw_table){.columns = 3U + !!l.kind->value + !!l.kind->range + 2U * workloads, .align = "l"};
    if (json)
        pw_text_add(&l.text, "[");
    else
        add_titles(&l);
    pw_list_visit *visit = json ? add_object : add_row;
    enum pw_status status =
        l.kind->kind == PW_LIST_KIND_COUNT ? pw_figure_list(visit, &l, err) : pw_list(l.kind->kind, visit, &l, err);
    if (json)
        pw_text_add(&l.text, "\n]\n");
    else
        pw_table_finish(&l.table, &l.text);
    *out = l.text;
    return status;
}

static int list(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    const struct kind *kind = NULL;
    int rest, status;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &status))
        return status;
    if (rest != 1)
        return pw_cli_fail(PW_USER_ERROR, "list takes one of machines, designs, workloads, policies, options, metrics, "
                                          "figures");
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(argv[0], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind)
        return unknown_kind(argv[0]);
    if (a.cost && kind->kind != PW_LIST_DESIGNS)
        return pw_cli_fail(PW_USER_ERROR, "--cost goes with designs, not with %s", kind->name);
    if (a.machine && !a.cost)
        return pw_cli_fail(PW_USER_ERROR, "--machine goes with --cost: only what designs cost depends on it");
    status = pw_cli_check_json(a.json);
    if (status != PW_OK)
        return status;
    struct view v = {kind, kind->kind == PW_LIST_MACHINES && !a.full}; /* they say what is assumed in whole sentences */
    return a.cost ? pw_cli_show(a.json, fill_costs, &a) : pw_cli_show(a.json, fill, &v);
}

const struct pw_cli_command pw_cli_list_command = {
    .name = "list",
    .usage = "machines|designs|workloads|policies|options|metrics|figures [--json FILE|-] [--long] | designs --cost "
             "[-m MACHINE]",
    .summary = "show what there is to choose from, set and read",
    .details = "",
    .flags = flags,
    .run = list,
};
