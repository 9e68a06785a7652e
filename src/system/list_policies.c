/* Listings of policies, from the table of families and the options that choose among them. */
#include "system/list_policies.h"

#include "policy/families.h"
#include "system/config.h"
#include "system/cost.h"

#include <stdio.h>
#include <string.h>

enum { NAME_CAPACITY = sizeof(((struct pw_option_view *)0)->name) };

/* The options that choose among the policies of a family: "uvm.prefetch, uvm.prefetch_full". */
static void name_choosers(const struct pw_policy_family *family, char *out, size_t capacity)
{
    size_t used = 0;
    *out = '\0';
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
        for (const struct pw_option *row = g->rows; row->name; row++)
            if (pw_option_family(row) == family && used < capacity)
                used +=
                    (size_t)snprintf(out + used, capacity - used, "%s%s.%s", used ? ", " : "", g->prefix, row->name);
}

void pw_list_policies(pw_list_visit *visit, void *context)
{
    for (const struct pw_policy_family *const *f = pw_families; *f; f++) {
        char choosers[256];
        name_choosers(*f, choosers, sizeof choosers);
        for (const struct pw_policy *const *p = (*f)->policies; *p; p++)
            visit(context,
                  &(struct pw_listing){
                      .name = (*p)->name, .summary = (*p)->summary, .detail = (*f)->decides, .value = choosers});
    }
}

/* Told of a policy that an option can choose. */
typedef void visit_choice(void *context, const char *option, const struct pw_policy *policy);

static void each_choice(visit_choice *visit, void *context)
{
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++)
        for (const struct pw_option *row = g->rows; row->name; row++) {
            const struct pw_policy_family *family = pw_option_family(row);
            char option[NAME_CAPACITY];
            snprintf(option, sizeof option, "%s.%s", g->prefix, row->name);
            for (const struct pw_policy *const *p = family ? family->policies : NULL; p && *p; p++)
                visit(context, option, *p);
        }
}

struct listing {
    pw_list_visit *visit;
    void *context;
};

static void list_options_of(pw_list_visit *visit, void *context, const char *option, const struct pw_policy *policy)
{
    for (const struct pw_option *row = policy->options; row && row->name; row++) {
        char name[NAME_CAPACITY], range[256], effect[NAME_CAPACITY + 64];
        pw_policy_own_name(option, row->name, name, sizeof name);
        pw_option_describe_range(row, range, sizeof range);
        snprintf(effect, sizeof effect, "%s = %s", option, policy->name);
        visit(context, &(struct pw_listing){.name = name,
                                            .summary = row->help,
                                            .detail = row->unit,
                                            .value = row->fallback,
                                            .range = range,
                                            .effect = effect});
    }
}

void pw_list_own_options(const char *option, const struct pw_option *row, pw_list_visit *visit, void *context)
{
    const struct pw_policy_family *family = pw_option_family(row);
    for (const struct pw_policy *const *p = family ? family->policies : NULL; p && *p; p++)
        list_options_of(visit, context, option, *p);
}

/* A metric of a policy's own. */
static void list_metric(const struct listing *l, const char *option, const struct pw_policy *policy, const char *own,
                        const char *unit, const char *help)
{
    char name[NAME_CAPACITY], summary[512];
    pw_policy_own_name(option, own, name, sizeof name);
    snprintf(summary, sizeof summary, "%s Only with %s=%s.", help, option, policy->name);
    l->visit(l->context, &(struct pw_listing){.name = name, .summary = summary, .detail = unit});
}

static void list_metrics_of(void *context, const char *option, const struct pw_policy *policy)
{
    for (const struct pw_policy_metric *m = policy->metrics; m && m->name; m++)
        if (m->help)
            list_metric(context, option, policy, m->name, m->unit, m->help);
    for (const struct pw_policy_ratio *r = policy->ratios; r && r->name; r++)
        list_metric(context, option, policy, r->name, r->unit, r->help);
}

static void list_cost_of(void *context, const char *option, const struct pw_policy *policy)
{
    const struct listing *l = context;
    for (const struct pw_policy_cost *row = policy->cost; row && row->name; row++) {
        char name[NAME_CAPACITY], summary[512];
        pw_cost_name(option, row, name, sizeof name);
        snprintf(summary, sizeof summary, "%s Only with %s=%s.", row->help, option, policy->name);
        l->visit(l->context,
                 &(struct pw_listing){.name = name, .summary = summary, .detail = pw_cost_unit(row->place)});
    }
}

void pw_list_own_metrics(pw_list_visit *visit, void *context)
{
    each_choice(list_cost_of, &(struct listing){visit, context});
    each_choice(list_metrics_of, &(struct listing){visit, context});
}

struct search {
    const char *name;
    bool found;
};

static void compare_own(struct search *s, const char *option, const char *own)
{
    char name[NAME_CAPACITY];
    pw_policy_own_name(option, own, name, sizeof name);
    s->found = s->found || !strcmp(name, s->name);
}

static void find_metric_of(void *context, const char *option, const struct pw_policy *policy)
{
    struct search *s = context;
    for (const struct pw_policy_metric *m = policy->metrics; m && m->name; m++)
        if (m->help)
            compare_own(s, option, m->name);
    for (const struct pw_policy_ratio *r = policy->ratios; r && r->name; r++)
        compare_own(s, option, r->name);
    for (const struct pw_policy_cost *row = policy->cost; row && row->name; row++) {
        char name[NAME_CAPACITY];
        pw_cost_name(option, row, name, sizeof name);
        s->found = s->found || !strcmp(name, s->name);
    }
}

bool pw_list_is_own_metric(const char *name)
{
    struct search s = {name, false};
    each_choice(find_metric_of, &s);
    return s.found;
}
