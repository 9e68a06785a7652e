/* Registration of counters and metrics.
 *
 * It builds six tables; sealing sorts the cells (a counter in a scope) by counter and the places by cell, and
 * nothing is allocated afterwards. What is read from them is in stats_values.c. */
#include "sim/stats_private.h"

#include "sim/grow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pw_stats *pw_stats_create(unsigned apps, struct pw_error *err)
{
    if (apps == 0 || apps > PW_MAX_APPS) {
        pw_fail(err, PW_FAILED, "statistics for %u applications; 1 to %d are possible", apps, PW_MAX_APPS);
        return NULL;
    }
    struct pw_stats *s = calloc(1, sizeof(*s));
    if (!s) {
        pw_fail_memory(err, "statistics");
        return NULL;
    }
    s->apps = apps;
    s->scope = PW_SYSTEM_SCOPE;
    return s;
}

void pw_stats_destroy(struct pw_stats *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->identities.count; i++)
        free(identity_at(s, i)->name);
    free(s->counters.items);
    free(s->cells.items);
    free(s->places.items);
    free(s->metrics.items);
    free(s->identities.items);
    free(s->terms.items);
    free(s);
}

void *pw_stats_append(struct pw_stats *s, struct table *t, size_t size)
{
    assert(!s->sealed);
    void *items = pw_grow(t->items, t->count, &t->capacity, size);
    if (!items) {
        pw_stats_note(s, "out of memory for statistics");
        return NULL;
    }
    t->items = items;
    return (char *)items + size * t->count++;
}

int pw_stats_find_counter(struct pw_stats *s, const char *name)
{
    size_t count = s->counters.count;
    for (size_t i = 0, index = s->next; i < count; i++, index++) {
        if (index >= count)
            index = 0;
        const char *known = counter_at(s, index)->name;
        if (known == name || !strcmp(known, name)) {
            s->next = (uint32_t)index + 1;
            return (int)index;
        }
    }
    return -1;
}

void pw_stats_scope(struct pw_stats *s, const char *name)
{
    s->scope = PW_SYSTEM_SCOPE;
    if (!name)
        return;
    unsigned scope = 0;
    while (scope < s->scope_count && strcmp(s->scopes[scope], name) != 0)
        scope++;
    if (scope == PW_MAX_SCOPES) {
        pw_stats_note(s, "statistics have more than %d scopes", PW_MAX_SCOPES);
        return;
    }
    if (scope == s->scope_count)
        s->scopes[s->scope_count++] = name;
    s->scope = (int)scope;
}

static bool name_is_usable(struct pw_stats *s, const char *name)
{
    if (strlen(name) >= PW_METRIC_NAME_CAPACITY) {
        pw_stats_note(s, "the metric name '%s' is longer than %d characters", name, PW_METRIC_NAME_CAPACITY - 1);
        return false;
    }
    if (pw_stats_find(s, name) >= 0) {
        pw_stats_note(s, "there are two metrics '%s'", name);
        return false;
    }
    return true;
}

static int add_counter(struct pw_stats *s, const char *name, const char *unit, const char *help)
{
    if (!name_is_usable(s, name))
        return -1;
    struct counter *c = pw_stats_append(s, &s->counters, sizeof(*c));
    if (!c)
        return -1;
    *c = (struct counter){.name = name, .unit = unit, .help = help};
    uint32_t index = (uint32_t)(s->counters.count - 1);
    if (help) {
        struct metric *m = pw_stats_append(s, &s->metrics, sizeof(*m));
        if (!m)
            return -1;
        *m = (struct metric){
            .name = name, .unit = unit, .help = help, .numerator = index, .denominator = index, .scale = 1};
    }
    return (int)index;
}

static void add_place(struct pw_stats *s, size_t cell, const void *base, size_t stride, size_t offset)
{
    struct place *p = pw_stats_append(s, &s->places, sizeof(*p));
    if (p)
        *p = (struct place){(const char *)base + offset, stride, (uint32_t)cell};
}

/* " in gpu0", or "" where nothing but the system is meant. */
static const char *in_scope(const struct pw_stats *s, char *out, size_t capacity)
{
    *out = '\0';
    if (s->scope != PW_SYSTEM_SCOPE)
        snprintf(out, capacity, " in %s", s->scopes[s->scope]);
    return out;
}

void pw_stats_counter(struct pw_stats *s, const char *name, const char *unit, const char *help, const void *base,
                      size_t stride, size_t offset)
{
    char where[64];
    int index = pw_stats_find_counter(s, name);
    if (index < 0)
        index = add_counter(s, name, unit, help);
    if (index < 0)
        return;
    struct counter *c = counter_at(s, (size_t)index);
    if (strcmp(c->unit, unit) != 0) {
        pw_stats_note(s, "counter '%s' is in %s and in %s", name, c->unit, unit);
        return;
    }
    if (c->scopes & scope_bit(s->scope)) {
        pw_stats_note(s, "counter '%s' is registered twice%s", name, in_scope(s, where, sizeof where));
        return;
    }
    c->common = stride == 0;
    c->scopes |= scope_bit(s->scope);
    struct cell *cell = pw_stats_append(s, &s->cells, sizeof(*cell));
    if (!cell)
        return;
    *cell = (struct cell){.counter = (uint32_t)index, .scope = s->scope};
    add_place(s, s->cells.count - 1, base, stride, offset);
}

void pw_stats_further_place(struct pw_stats *s, const char *name, const void *base, size_t stride, size_t offset)
{
    char where[64];
    int index = pw_stats_find_counter(s, name);
    for (size_t i = s->cells.count; index >= 0 && i > 0; i--) {
        const struct cell *cell = cell_at(s, i - 1);
        if (cell->counter != (uint32_t)index || cell->scope != s->scope)
            continue;
        if (counter_at(s, (size_t)index)->common != (stride == 0))
            pw_stats_note(s, "counter '%s' is both common to all applications and not", name);
        add_place(s, i - 1, base, stride, offset);
        return;
    }
    pw_stats_note(s, "counter '%s' has a further place, but is not registered%s", name,
                  in_scope(s, where, sizeof where));
}

static struct counter *find_to_mark(struct pw_stats *s, const char *kind, const char *name)
{
    int index = pw_stats_find_counter(s, name);
    if (index < 0)
        pw_stats_note(s, "%s '%s' is not registered", kind, name);
    return index < 0 ? NULL : counter_at(s, (size_t)index);
}

void pw_stats_level(struct pw_stats *s, const char *name)
{
    struct counter *c = find_to_mark(s, "level", name);
    if (c)
        c->level = true;
}

void pw_stats_maximum(struct pw_stats *s, const char *name)
{
    struct counter *c = find_to_mark(s, "maximum", name);
    if (!c)
        return;
    c->level = true;
    c->across = ACROSS_LARGEST;
}

void pw_stats_common(struct pw_stats *s, const char *name)
{
    struct counter *c = find_to_mark(s, "common counter", name);
    if (c)
        c->across = ACROSS_ONCE;
}

void pw_stats_ratio(struct pw_stats *s, const char *name, const char *unit, const char *help, const char *numerator,
                    const char *denominator, double scale)
{
    int over = pw_stats_find_counter(s, numerator), under = pw_stats_find_counter(s, denominator);
    if (over < 0 || under < 0) {
        pw_stats_note(s, "metric '%s' needs counter '%s', which is not registered", name,
                      over < 0 ? numerator : denominator);
        return;
    }
    if (pw_stats_find_counter(s, name) >= 0) {
        pw_stats_note(s, "there are two metrics '%s'", name);
        return;
    }
    int known = pw_stats_find(s, name);
    struct metric *m = known < 0 ? NULL : metric_at(s, (size_t)known);
    if (m && (m->scopes & scope_bit(s->scope) || m->numerator != (uint32_t)over || m->denominator != (uint32_t)under ||
              m->scale != scale)) {
        pw_stats_note(s, "there are two metrics '%s'", name);
        return;
    }
    if (!m && name_is_usable(s, name) && (m = pw_stats_append(s, &s->metrics, sizeof(*m))))
        *m = (struct metric){.name = name,
                             .unit = unit,
                             .help = help,
                             .numerator = (uint32_t)over,
                             .denominator = (uint32_t)under,
                             .scale = scale,
                             .is_ratio = true};
    if (m)
        m->scopes |= scope_bit(s->scope);
}

/* By counter, and within one in order of scopes, the system's first. */
static int by_counter(const void *x, const void *y)
{
    const struct cell *a = x, *b = y;
    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->scope > b->scope) - (a->scope < b->scope);
}

/* Sorts the cells and says where each has gone, so that places find theirs; NULL: out of memory. */
static uint32_t *sort_cells(struct pw_stats *s)
{
    size_t count = s->cells.count;
    uint32_t *moved = reallocarray(NULL, count + 1, sizeof(*moved));
    if (!moved)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        cell_at(s, i)->first_place = i; /* for now, where it was */
    if (count)
        qsort(s->cells.items, count, sizeof(struct cell), by_counter);
    for (uint32_t i = 0; i < count; i++) {
        moved[cell_at(s, i)->first_place] = i;
        struct counter *c = counter_at(s, cell_at(s, i)->counter);
        c->first_cell = c->outer_cell ? c->first_cell : i;
        c->outer_cell = i + 1;
    }
    return moved;
}

/* Counting sort of the places by cell; the order within a cell does not matter to a sum. */
static void group_places(struct pw_stats *s)
{
    size_t count = s->places.count;
    struct place *places = s->places.items, *grouped = reallocarray(NULL, count + 1, sizeof(*grouped));
    uint32_t *moved = sort_cells(s);
    if (!grouped || !moved) {
        pw_stats_note(s, "out of memory for statistics");
        free(grouped);
        free(moved);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        places[i].cell = moved[places[i].cell];
        cell_at(s, places[i].cell)->outer_place++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < s->cells.count; i++) {
        struct cell *c = cell_at(s, i);
        uint32_t size = c->outer_place;
        c->first_place = c->outer_place = first;
        first += size;
    }
    for (size_t i = 0; i < count; i++)
        grouped[cell_at(s, places[i].cell)->outer_place++] = places[i];
    free(moved);
    free(places);
    s->places.items = grouped;
}

enum pw_status pw_stats_seal(struct pw_stats *s, struct pw_error *err)
{
    pw_stats_resolve_identities(s);
    if (!s->sealed && s->error.status == PW_OK)
        group_places(s);
    s->sealed = true;
    if (s->error.status != PW_OK)
        return pw_fail(err, s->error.status, "%s", s->error.message);
    return PW_OK;
}
