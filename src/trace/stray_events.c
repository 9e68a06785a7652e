/* Which allocations were not recorded.
 *
 * There are two kinds. What is touched and belongs to no recorded allocation, at any time, is memory that the program
 * got in a way that nobody saw; it becomes allocations that live from the first event on. What is touched where a
 * recorded allocation is not yet or no longer alive is a program's mistake, or a free or an allocation recorded at the
 * wrong moment; it becomes an allocation that lives just until allocations change, so that it never overlaps another.
 *
 * Ranges are from the first to the last byte that is touched in 2 MiB blocks that lie side by side, so that they hold
 * addresses that nobody touches, too. Where the very first byte of a block is touched and nothing in the 64 KiB before
 * it, another one begins: drivers put large allocations at multiples of 2 MiB, and programs touch their first
 * element. */
#include "sim/grow.h"
#include "sim/types.h"
#include "trace/strays.h"

enum { LEAST_GAP = 64 << 10 };

struct span {
    uint64_t first, end;
    uint32_t change;
};

struct spans {
    struct span *items;
    size_t count, capacity;
};

struct merging {
    const struct pw_strays *strays;
    struct spans recorded; /* all ever, in order, none touching another */
    struct spans runs;     /* touched between two changes, by change and address */
    struct pw_trace_event *events;
    size_t count, capacity;
    struct pw_ranges live;
    uint32_t *numbers; /* of the recorded allocations */
    uint32_t allocations, recorded_so_far;
    size_t next_run;
    size_t passing; /* the first event of the inferred allocations that live until the next change */
    size_t passing_count;
    bool failed;
};

static void add_span(struct merging *m, struct spans *s, struct span span)
{
    struct span *grown = pw_grow(s->items, s->count, &s->capacity, sizeof *s->items);
    if (!grown) {
        m->failed = true;
        return;
    }
    s->items = grown;
    s->items[s->count++] = span;
}

static int in_order(const void *a, const void *b)
{
    const struct span *p = a, *q = b;
    if (p->change != q->change)
        return p->change < q->change ? -1 : 1;
    return (p->first > q->first) - (p->first < q->first);
}

/* Whether a span goes on with the next one: they are in the same piece of 2^shift bytes or in two side by side, and the
 * next one does not look like an allocation of its own. */
static bool goes_on(const struct span *s, const struct span *next, unsigned shift)
{
    uint64_t last = (s->end - 1) >> shift, first = next->first >> shift;
    if (s->change != next->change || first > last + 1)
        return false;
    bool begins = first == last + 1 && next->first == first << shift;
    return !begins || next->first - s->end < LEAST_GAP;
}

/* Sorts spans, and joins those that go on. */
static void join(struct spans *s, unsigned shift)
{
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, in_order);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct span *last = kept ? &s->items[kept - 1] : NULL, next = s->items[i];
        if (last && goes_on(last, &next, shift))
            last->end = next.end > last->end ? next.end : last->end;
        else
            s->items[kept++] = next;
    }
    s->count = kept;
}

static void add_event(struct merging *m, struct pw_trace_event event)
{
    struct pw_trace_event *grown = pw_grow(m->events, m->count, &m->capacity, sizeof *m->events);
    if (!grown) {
        m->failed = true;
        return;
    }
    m->events = grown;
    m->events[m->count++] = event;
}

static void add_inferred(struct merging *m, uint64_t first, uint64_t end)
{
    add_event(m, (struct pw_trace_event){.kind = PW_TRACE_ALLOC,
                                         .memory = PW_TRACE_INFERRED,
                                         .allocation = m->allocations++,
                                         .address = first,
                                         .bytes = end - first,
                                         .name = ""});
}

/* The recorded range that lies behind all those that end at or before an address. */
static size_t recorded_from(const struct merging *m, uint64_t address)
{
    size_t low = 0, high = m->recorded.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->recorded.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What of a run belongs to no recorded allocation, rounded out to pages as far as there is room. */
static void infer_outside(struct merging *m, struct span run)
{
    const struct span *r = m->recorded.items;
    for (uint64_t first = run.first; first < run.end;) {
        size_t next = recorded_from(m, first);
        bool inside = next < m->recorded.count && r[next].first <= first;
        if (inside) {
            first = r[next].end;
            continue;
        }
        uint64_t floor = r && next ? r[next - 1].end : 0,
                 ceiling = next < m->recorded.count ? r[next].first : UINT64_MAX;
        uint64_t end = run.end < ceiling ? run.end : ceiling;
        uint64_t from = first / PW_PAGE_BYTES * PW_PAGE_BYTES;
        uint64_t to = (end + PW_PAGE_BYTES - 1) / PW_PAGE_BYTES * PW_PAGE_BYTES;
        add_inferred(m, from > floor ? from : floor, to < ceiling ? to : ceiling);
        first = end;
    }
}

/* What of [first, end), which was recorded at some time, is not alive now. */
static void infer_dead(struct merging *m, uint64_t first, uint64_t end)
{
    while (first < end) {
        const struct pw_range *live = pw_ranges_from(&m->live, first);
        uint64_t stop = live && live->first < end ? live->first : end;
        if (first < stop)
            add_inferred(m, first, stop);
        first = live && live->first < end ? live->end : end;
    }
}

static void begin_passing(struct merging *m, uint32_t change)
{
    m->passing = m->count;
    for (; m->next_run < m->runs.count && m->runs.items[m->next_run].change == change; m->next_run++) {
        struct span run = m->runs.items[m->next_run];
        for (size_t i = recorded_from(m, run.first); i < m->recorded.count; i++) {
            struct span r = m->recorded.items[i];
            if (r.first >= run.end)
                break;
            infer_dead(m, r.first > run.first ? r.first : run.first, r.end < run.end ? r.end : run.end);
        }
    }
    m->passing_count = m->count - m->passing;
}

static void end_passing(struct merging *m)
{
    for (size_t i = 0; i < m->passing_count; i++) {
        struct pw_trace_event freed = m->events[m->passing + i];
        freed.kind = PW_TRACE_FREE;
        freed.memory = 0;
        add_event(m, freed);
    }
    m->passing_count = 0;
}

/* One recorded event; an allocation or a free is a change, of which `change` counts those before. */
static void add_recorded(struct merging *m, struct pw_trace_event e, uint32_t *change)
{
    if (e.kind == PW_TRACE_LAUNCH) {
        add_event(m, e);
        return;
    }
    uint32_t recorded = e.allocation;
    bool changes = e.kind == PW_TRACE_ALLOC || e.kind == PW_TRACE_FREE;
    if (changes)
        end_passing(m);
    if (e.kind == PW_TRACE_ALLOC) {
        m->numbers[recorded] = m->allocations++;
        struct pw_range range = {.first = e.address, .end = e.address + e.bytes, .number = recorded};
        m->failed |= !pw_ranges_add(&m->live, range);
    } else if (e.kind == PW_TRACE_FREE) {
        pw_ranges_remove(&m->live, e.address);
    }
    e.allocation = m->numbers[recorded];
    add_event(m, e);
    if (changes)
        begin_passing(m, ++*change);
}

static void find_spans(struct merging *m, const struct pw_trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == PW_TRACE_ALLOC) {
            add_span(m, &m->recorded,
                     (struct span){.first = events[i].address, .end = events[i].address + events[i].bytes});
            m->recorded_so_far++;
        }
    join(&m->recorded, 0);
    for (const struct pw_stray_block *b = m->strays->newest; b; b = b->before)
        if (b->first < b->end)
            add_span(m, &m->runs, (struct span){.first = b->first, .end = b->end, .change = b->change});
}

/* All runs, whenever they were touched. */
static void infer_unrecorded(struct merging *m)
{
    struct spans all = {0};
    for (size_t i = 0; i < m->runs.count; i++)
        add_span(m, &all, (struct span){.first = m->runs.items[i].first, .end = m->runs.items[i].end});
    join(&all, PW_STRAY_SHIFT);
    for (size_t i = 0; i < all.count; i++)
        infer_outside(m, all.items[i]);
    free(all.items);
}

struct pw_trace_event *pw_strays_events(const struct pw_strays *t, const struct pw_trace_event *events, size_t count,
                                        size_t *out_count)
{
    struct merging m = {.strays = t};
    uint32_t change = 0;
    find_spans(&m, events, count);
    infer_unrecorded(&m);
    join(&m.runs, PW_STRAY_SHIFT);
    m.numbers = calloc(m.recorded_so_far + UINT64_C(1), sizeof *m.numbers);
    m.failed |= !m.numbers;
    if (!m.failed)
        begin_passing(&m, 0);
    for (size_t i = 0; i < count && !m.failed; i++)
        add_recorded(&m, events[i], &change);
    pw_ranges_release(&m.live);
    free(m.numbers);
    free(m.recorded.items);
    free(m.runs.items);
    if (m.failed) {
        free(m.events);
        return NULL;
    }
    *out_count = m.count;
    return m.events ? m.events : calloc(1, sizeof *m.events);
}
