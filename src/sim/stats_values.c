/* Snapshots, and what metrics are between two of them.
 *
 * A snapshot is one pass over a flat array of addresses into a flat array of numbers, cell by cell (a counter in a
 * scope) and within a cell application by application, so that an interval of a few thousand cycles can afford one. */
#include "sim/stats_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

size_t pw_stats_raw_count(const struct pw_stats *s)
{
    return s->cells.count * s->apps;
}

static uint64_t read_cell(const struct pw_stats *s, const struct cell *c, unsigned app)
{
    const struct place *places = s->places.items;
    uint64_t sum = 0;
    for (uint32_t i = c->first_place; i < c->outer_place; i++)
        sum += *(const uint64_t *)(places[i].base + app * places[i].stride);
    return sum;
}

void pw_stats_snapshot(const struct pw_stats *s, uint64_t *out)
{
    for (size_t cell = 0; cell < s->cells.count; cell++)
        for (unsigned app = 0; app < s->apps; app++)
            *out++ = read_cell(s, cell_at(s, cell), app);
}

size_t pw_stats_count(const struct pw_stats *s)
{
    return s->metrics.count;
}

struct pw_metric_info pw_stats_info(const struct pw_stats *s, size_t index)
{
    const struct metric *m = metric_at(s, index);
    return (struct pw_metric_info){m->name, m->unit, m->help, m->is_ratio};
}

int pw_stats_find(const struct pw_stats *s, const char *name)
{
    for (size_t i = 0; i < s->metrics.count; i++)
        if (!strcmp(metric_at(s, i)->name, name))
            return (int)i;
    return -1;
}

uint64_t pw_stats_amount(const struct pw_stats *s, uint32_t counter, int scope, const struct window *w)
{
    const struct counter *c = counter_at(s, counter);
    const uint64_t *from = c->level && !w->growth ? NULL : w->from;
    uint64_t total = 0;
    for (size_t cell = c->first_cell; cell < c->outer_cell; cell++) {
        if (scope != PW_ALL_SCOPES && cell_at(s, cell)->scope != scope)
            continue;
        uint64_t amount = 0;
        for (size_t i = cell * s->apps + w->first_app; i < cell * s->apps + w->outer_app; i++)
            amount += w->to[i] - (from ? from[i] : 0);
        if (c->across == ACROSS_ONCE)
            return amount;
        if (c->across == ACROSS_SUM)
            total += amount;
        else if (amount > total)
            total = amount;
    }
    return total;
}

static uint64_t amount_of(const struct pw_stats *s, uint32_t counter, int scope, int app, const uint64_t *from,
                          const uint64_t *to)
{
    unsigned first = app < 0 ? 0 : (unsigned)app;
    bool all = app < 0 && !counter_at(s, counter)->common;
    return pw_stats_amount(
        s, counter, scope,
        &(struct window){.first_app = first, .outer_app = all ? s->apps : first + 1, .from = from, .to = to});
}

double pw_stats_value_in(const struct pw_stats *s, size_t index, int scope, int app, const uint64_t *from,
                         const uint64_t *to)
{
    const struct metric *m = metric_at(s, index);
    double over = (double)amount_of(s, m->numerator, scope, app, from, to);
    if (!m->is_ratio)
        return over;
    uint64_t under = amount_of(s, m->denominator, scope, app, from, to);
    return under ? m->scale * over / (double)under : 0;
}

uint64_t pw_stats_exact_in(const struct pw_stats *s, size_t index, int scope, int app, const uint64_t *from,
                           const uint64_t *to)
{
    const struct metric *m = metric_at(s, index);
    assert(!m->is_ratio);
    return amount_of(s, m->numerator, scope, app, from, to);
}

double pw_stats_value(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to)
{
    return pw_stats_value_in(s, index, PW_ALL_SCOPES, app, from, to);
}

uint64_t pw_stats_exact(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to)
{
    return pw_stats_exact_in(s, index, PW_ALL_SCOPES, app, from, to);
}

bool pw_stats_has(const struct pw_stats *s, size_t index, int scope)
{
    const struct metric *m = metric_at(s, index);
    scope_set scopes = m->is_ratio ? m->scopes : counter_at(s, m->numerator)->scopes;
    return scope == PW_ALL_SCOPES || scopes & scope_bit(scope);
}

/* With one scope, that is all there is to tell apart; it and the whole are the same. */
static size_t scopes_apart(const struct pw_stats *s)
{
    return s->scope_count > 1 ? s->scope_count : 0;
}

size_t pw_stats_view_count(const struct pw_stats *s)
{
    return scopes_apart(s) + 1 + s->apps;
}

struct pw_stats_view pw_stats_view(const struct pw_stats *s, size_t index)
{
    struct pw_stats_view v = {.scope = PW_ALL_SCOPES, .app = -1};
    size_t whole = scopes_apart(s);
    if (index < whole) {
        v.scope = (int)index;
        snprintf(v.prefix, sizeof v.prefix, "%s", s->scopes[index]);
    } else if (index == whole) {
        snprintf(v.prefix, sizeof v.prefix, "%s", pw_scope_all_gpus(s->scope_count));
    } else {
        v.app = (int)(index - whole) - 1;
        pw_scope_app((unsigned)v.app, v.prefix);
    }
    return v;
}
