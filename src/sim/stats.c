/* Counters, metrics and snapshots.
 *
 * Registration builds five tables; sealing sorts the places by counter and nothing is allocated afterwards. A snapshot
 * is then one pass over a flat array of addresses into a flat array of numbers, counter by counter and within a
 * counter application by application, so that an interval of a few thousand cycles can afford one. */
#include "sim/stats_private.h"

#include <assert.h>
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
    return s;
}

void pw_stats_destroy(struct pw_stats *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->identities.count; i++)
        free(identity_at(s, i)->name);
    free(s->counters.items);
    free(s->places.items);
    free(s->metrics.items);
    free(s->identities.items);
    free(s->terms.items);
    free(s);
}

void *pw_stats_append(struct pw_stats *s, struct table *t, size_t size)
{
    assert(!s->sealed);
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        void *items = reallocarray(t->items, capacity, size);
        if (!items) {
            pw_stats_note(s, "out of memory for statistics");
            return NULL;
        }
        t->items = items;
        t->capacity = capacity;
    }
    return (char *)t->items + size * t->count++;
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

static const struct metric *metric_at(const struct pw_stats *s, size_t index)
{
    return (const struct metric *)s->metrics.items + index;
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
        *m = (struct metric){name, unit, help, index, index, 1, false};
    }
    return (int)index;
}

void pw_stats_counter(struct pw_stats *s, const char *name, const char *unit, const char *help, const void *base,
                      size_t stride, size_t offset)
{
    int index = pw_stats_find_counter(s, name);
    if (index < 0)
        index = add_counter(s, name, unit, help);
    else if (strcmp(counter_at(s, (size_t)index)->unit, unit) != 0)
        pw_stats_note(s, "counter '%s' is in %s and in %s", name, counter_at(s, (size_t)index)->unit, unit);
    if (index < 0)
        return;
    counter_at(s, (size_t)index)->common = stride == 0;
    struct place *p = pw_stats_append(s, &s->places, sizeof(*p));
    if (p)
        *p = (struct place){(const char *)base + offset, stride, (uint32_t)index};
}

void pw_stats_level(struct pw_stats *s, const char *name)
{
    int index = pw_stats_find_counter(s, name);
    if (index < 0)
        pw_stats_note(s, "level '%s' is not registered", name);
    else
        counter_at(s, (size_t)index)->level = true;
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
    if (known >= 0) {
        const struct metric *m = metric_at(s, (size_t)known);
        if (m->numerator != (uint32_t)over || m->denominator != (uint32_t)under || m->scale != scale)
            pw_stats_note(s, "there are two metrics '%s'", name);
        return;
    }
    if (!name_is_usable(s, name))
        return;
    struct metric *m = pw_stats_append(s, &s->metrics, sizeof(*m));
    if (m)
        *m = (struct metric){name, unit, help, (uint32_t)over, (uint32_t)under, scale, true};
}

/* Counting sort of the places by counter; the order within a counter does not matter to a sum. */
static void group_places(struct pw_stats *s)
{
    size_t count = s->places.count;
    struct place *places = s->places.items, *grouped = reallocarray(NULL, count + 1, sizeof(*grouped));
    if (!grouped) {
        pw_stats_note(s, "out of memory for statistics");
        return;
    }
    for (size_t i = 0; i < count; i++)
        counter_at(s, places[i].counter)->outer_place++;
    uint32_t first = 0;
    for (size_t i = 0; i < s->counters.count; i++) {
        struct counter *c = counter_at(s, i);
        uint32_t size = c->outer_place;
        c->first_place = c->outer_place = first;
        first += size;
    }
    for (size_t i = 0; i < count; i++)
        grouped[counter_at(s, places[i].counter)->outer_place++] = places[i];
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

size_t pw_stats_raw_count(const struct pw_stats *s)
{
    return s->counters.count * s->apps;
}

uint64_t pw_stats_read(const struct pw_stats *s, uint32_t counter, unsigned app)
{
    const struct counter *c = counter_at(s, counter);
    const struct place *places = s->places.items;
    uint64_t sum = 0;
    for (uint32_t i = c->first_place; i < c->outer_place; i++)
        sum += *(const uint64_t *)(places[i].base + app * places[i].stride);
    return sum;
}

void pw_stats_snapshot(const struct pw_stats *s, uint64_t *out)
{
    for (uint32_t counter = 0; counter < s->counters.count; counter++)
        for (unsigned app = 0; app < s->apps; app++)
            *out++ = pw_stats_read(s, counter, app);
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

static uint64_t between(const struct pw_stats *s, uint32_t counter, int app, const uint64_t *from, const uint64_t *to)
{
    bool all = app < 0 && !counter_at(s, counter)->common;
    unsigned first = app < 0 ? 0 : (unsigned)app, outer = all ? s->apps : first + 1;
    uint64_t sum = 0;
    for (size_t i = (size_t)counter * s->apps + first; i < (size_t)counter * s->apps + outer; i++)
        sum += to[i] - (from && !counter_at(s, counter)->level ? from[i] : 0);
    return sum;
}

double pw_stats_value(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to)
{
    const struct metric *m = metric_at(s, index);
    double over = (double)between(s, m->numerator, app, from, to);
    if (!m->is_ratio)
        return over;
    uint64_t under = between(s, m->denominator, app, from, to);
    return under ? m->scale * over / (double)under : 0;
}

uint64_t pw_stats_exact(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to)
{
    const struct metric *m = metric_at(s, index);
    assert(!m->is_ratio);
    return between(s, m->numerator, app, from, to);
}

int pw_stats_find(const struct pw_stats *s, const char *name)
{
    for (size_t i = 0; i < s->metrics.count; i++)
        if (!strcmp(metric_at(s, i)->name, name))
            return (int)i;
    return -1;
}
