/* Spans of a run over which counters are reported: kernel launches and intervals. */
#include "system/system.h"

#include <stdlib.h>
#include <string.h>

uint64_t *pw_system_snapshot(struct pw_system *s, pw_cycle now)
{
    uint64_t *counters = malloc(pw_stats_raw_count(s->stats) * sizeof *counters);
    if (!counters)
        return NULL;
    pw_gpu_set_cycles(s->gpu, now);
    pw_stats_snapshot(s->stats, counters);
    return counters;
}

static bool grow(struct pw_spans *spans)
{
    if (spans->count < spans->capacity)
        return true;
    size_t capacity = spans->capacity ? 2 * spans->capacity : 16;
    struct pw_span *rows = realloc(spans->rows, capacity * sizeof *rows);
    if (!rows)
        return false;
    spans->rows = rows;
    spans->capacity = capacity;
    return true;
}

bool pw_spans_begin(struct pw_system *s, struct pw_spans *spans, const char *name, unsigned app, unsigned index,
                    pw_cycle now)
{
    if (!grow(spans))
        return false;
    struct pw_span *span = &spans->rows[spans->count];
    *span = (struct pw_span){.app = app, .index = index, .first = now};
    span->from = pw_system_snapshot(s, now);
    span->name = name ? strdup(name) : NULL;
    if (!span->from || (name && !span->name)) {
        free(span->from);
        free(span->name);
        return false;
    }
    spans->count++;
    return true;
}

void pw_spans_end(struct pw_system *s, struct pw_span *span, pw_cycle now)
{
    span->outer = now;
    span->to = pw_system_snapshot(s, now);
}

void pw_spans_release(struct pw_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++) {
        free(spans->rows[i].name);
        free(spans->rows[i].from);
        free(spans->rows[i].to);
    }
    free(spans->rows);
    *spans = (struct pw_spans){0};
}
