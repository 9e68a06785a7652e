/* Spans of a run over which counters are reported: kernel launches and intervals. */
#include "system/system.h"

#include "sim/grow.h"

#include <stdlib.h>
#include <string.h>

void pw_system_bring_up_to_date(struct pw_system *s, pw_cycle now, enum pw_border border)
{
    for (unsigned i = 0; i < s->node_count; i++)
        pw_gpu_bring_up_to_date(s->nodes[i].gpu, now, border);
    if (s->uvm)
        pw_uvm_bring_up_to_date(s->uvm);
}

uint64_t *pw_system_snapshot(struct pw_system *s, pw_cycle now, enum pw_border border)
{
    uint64_t *counters = malloc(pw_stats_raw_count(s->stats) * sizeof *counters);
    if (!counters)
        return NULL;
    pw_system_bring_up_to_date(s, now, border);
    pw_stats_snapshot(s->stats, counters);
    return counters;
}

bool pw_spans_begin(struct pw_system *s, struct pw_spans *spans, const char *name, unsigned app, unsigned index,
                    pw_cycle now)
{
    struct pw_span *rows = pw_grow(spans->rows, spans->count, &spans->capacity, sizeof *rows);
    if (!rows)
        return false;
    spans->rows = rows;
    struct pw_span *span = &rows[spans->count];
    *span = (struct pw_span){.app = app, .index = index, .first = now};
    span->from = pw_system_snapshot(s, now, name ? PW_AFTER_EXIT : PW_BEFORE_CYCLE);
    span->name = name ? strdup(name) : NULL;
    if (!span->from || (name && !span->name)) {
        free(span->from);
        free(span->name);
        return false;
    }
    spans->count++;
    return true;
}

bool pw_spans_end(struct pw_system *s, struct pw_span *span, pw_cycle now, enum pw_border border)
{
    span->outer = now;
    free(span->to);
    span->to = pw_system_snapshot(s, now, border);
    return span->to;
}

bool pw_spans_end_last(struct pw_system *s, struct pw_spans *spans, pw_cycle now)
{
    struct pw_span *last = &spans->rows[spans->count - 1];
    if (last->first == now && spans->count > 1) { /* the run has ended on a border */
        free(last->from);
        spans->count--;
        last--;
    }
    return pw_spans_end(s, last, now, PW_AFTER_EXIT);
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
