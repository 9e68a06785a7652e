/* Scopes of a result as columns. With one application its own column would repeat the machine's and is left out. */
#include "exp/format/scope_table.h"

#include "sim/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_all_gpus(const struct pw_result *r)
{
    size_t length = strlen(PW_SCOPE_GPUS);
    for (size_t i = 0; i < r->metric_count; i++)
        if (strncmp(r->metrics[i].name, PW_SCOPE_GPUS, length) == 0 && r->metrics[i].name[length] == '.')
            return true;
    return false;
}

static void find_scopes(struct pw_scope_table *t, bool each_gpu)
{
    const struct pw_result *r = t->result;
    bool all_gpus = !each_gpu && has_all_gpus(r);
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *name = r->metrics[i].name;
        size_t length = strcspn(name, ".");
        if (!name[length] || length >= PW_SCOPE_NAME || (r->app_count == 1 && pw_scope_is_app(name)))
            continue;
        if (all_gpus && pw_scope_is_gpu(name) && strncmp(name, PW_SCOPE_GPUS, length) != 0)
            continue;
        size_t k = 0;
        while (k < t->count && (strncmp(t->scopes[k], name, length) != 0 || t->scopes[k][length]))
            k++;
        if (k == t->count && k < PW_SCOPE_COLUMNS)
            snprintf(t->scopes[t->count++], PW_SCOPE_NAME, "%.*s", (int)length, name);
    }
}

void pw_scope_table_init(struct pw_scope_table *t, const struct pw_result *r, bool each_gpu)
{
    *t = (struct pw_scope_table){.result = r, .l2_tlb = pw_result_has_l2_tlb(r)};
    find_scopes(t, each_gpu);
    /* The unit stands left, right after its number. */
    memset(t->align, 'r', sizeof t->align);
    t->align[0] = t->align[t->count + 1] = 'l';
    t->align[t->count + 2] = '\0';
    t->table = (struct pw_table){.columns = t->count + 2, .align = t->align, .indent = "  "};
}

const struct pw_metric *pw_scope_table_find(const struct pw_scope_table *t, size_t scope, const char *name)
{
    size_t length = strlen(t->scopes[scope]);
    for (size_t i = 0; i < t->result->metric_count; i++) {
        const struct pw_metric *m = &t->result->metrics[i];
        if (strncmp(m->name, t->scopes[scope], length) == 0 && m->name[length] == '.' &&
            strcmp(m->name + length + 1, name) == 0)
            return m;
    }
    return NULL;
}

bool pw_scope_table_has(const struct pw_scope_table *t, const char *name)
{
    for (size_t scope = 0; scope < t->count; scope++)
        if (pw_scope_table_find(t, scope, name))
            return true;
    return false;
}

static double value(const struct pw_scope_table *t, size_t scope, const char *name)
{
    const struct pw_metric *m = name ? pw_scope_table_find(t, scope, name) : NULL;
    return m ? m->real : 0;
}

double pw_scope_table_quotient(const struct pw_scope_table *t, size_t scope, const struct pw_quotient *q)
{
    double above = value(t, scope, q->numerator) - value(t, scope, q->subtrahend);
    double below = value(t, scope, q->denominator) + value(t, scope, q->addend);
    return below > 0 ? q->scale * above / below : NAN;
}
