/* From records to operations: see the header.
 *
 * CTAs under way are found by a hash table with linear probing; their slots are used again when they have ended. */
#include "warps.h"

#include "pace.h"
#include "ways.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_GROUPS = 8,    /* of copies that are remembered for a wait; older ones are waited for */
    FIRST_SLOTS = 256, /* powers of two */
    BULK_BYTES = PW_WARP_LANES * 16,
    MAX_WARPS = 32,
};

struct warp {
    uint64_t last; /* program counter; 0: it is at its entry */
    uint32_t away; /* lanes that were not there, as far as is known */
    uint32_t here; /* lanes whose part of it has been recorded */
    bool accessed; /* one of these parts was an access */
    uint32_t ended;
    uint32_t computed;                               /* instructions that are not yet emitted */
    uint8_t computed_flight;                         /* loads in flight before the first of them */
    uint32_t issued;                                 /* loads */
    uint32_t arrived;                                /* of them, known to have */
    uint32_t youngest[PW_CODE_SCOREBOARDS];          /* load that sets the scoreboard: how many were issued with it */
    uint32_t group[MAX_GROUPS], groups, uncommitted; /* copies: the youngest load of a group */
    struct pw_pace_warp pace;
};

struct cta {
    uint32_t number;
    uint32_t warps_left; /* 0: the slot is free */
};

struct pw_capture_warps {
    struct pw_capture_kernel kernel;
    pw_capture_emit *emit;
    void *context;
    uint32_t warps_per_cta;
    struct cta *ctas;     /* slots */
    struct warp *warps;   /* of the slots */
    uint32_t *table;      /* slot + 1 by hash, 0: none; twice as many as slots */
    uint32_t slots, used; /* used: slots with a CTA */
    uint32_t *free_slots;
    struct pw_capture_ways *ways;
    struct pw_capture_warps_counts counts;
    struct pw_pace pace;
};

static uint32_t hash_cta(uint32_t number, uint32_t slots)
{
    return (number * 2654435769U >> 7) & (2 * slots - 1);
}

static uint32_t lanes_of_warp(const struct pw_capture_warps *w, uint32_t warp)
{
    uint32_t left = w->kernel.threads - warp * PW_WARP_LANES;
    return left >= PW_WARP_LANES ? PW_ALL_LANES : (1U << left) - 1;
}

/* Room for twice as many CTAs under way. */
static bool grow(struct pw_capture_warps *w)
{
    uint32_t slots = w->slots ? 2 * w->slots : FIRST_SLOTS;
    struct cta *ctas = realloc(w->ctas, slots * sizeof *ctas);
    w->ctas = ctas ? ctas : w->ctas;
    struct warp *warps = realloc(w->warps, (size_t)slots * w->warps_per_cta * sizeof *warps);
    w->warps = warps ? warps : w->warps;
    uint32_t *free_slots = realloc(w->free_slots, slots * sizeof *free_slots);
    w->free_slots = free_slots ? free_slots : w->free_slots;
    uint32_t *table = calloc(2 * (size_t)slots, sizeof *table);
    if (!ctas || !warps || !free_slots || !table) {
        free(table);
        return false;
    }
    free(w->table);
    w->table = table;
    for (uint32_t i = 0; i < w->slots; i++) { /* all are in use */
        uint32_t at = hash_cta(ctas[i].number, slots);
        while (table[at])
            at = (at + 1) & (2 * slots - 1);
        table[at] = i + 1;
    }
    for (uint32_t i = w->slots; i < slots; i++)
        free_slots[slots - 1 - i] = i;
    w->slots = slots;
    return true;
}

struct pw_capture_warps *pw_capture_warps_new(const struct pw_capture_kernel *kernel, pw_capture_emit *emit,
                                              void *context)
{
    struct pw_capture_warps *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->kernel = *kernel;
    w->emit = emit;
    w->context = context;
    w->warps_per_cta = (kernel->threads + PW_WARP_LANES - 1) / PW_WARP_LANES;
    w->ways = pw_capture_ways_new(kernel->code, kernel->address);
    if (!w->ways || !w->warps_per_cta || w->warps_per_cta > MAX_WARPS || !grow(w)) {
        pw_capture_warps_free(w);
        return NULL;
    }
    return w;
}

void pw_capture_warps_free(struct pw_capture_warps *w)
{
    if (!w)
        return;
    free(w->ctas);
    free(w->warps);
    free(w->table);
    free(w->free_slots);
    pw_capture_ways_free(w->ways);
    free(w);
}

struct pw_capture_warps_counts pw_capture_warps_get_counts(const struct pw_capture_warps *w)
{
    return w->counts;
}

uint32_t pw_capture_warps_get_pace(const struct pw_capture_warps *w)
{
    return pw_pace_mean(&w->pace);
}

static uint32_t find_cta(const struct pw_capture_warps *w, uint32_t number, uint32_t *out_at)
{
    uint32_t at = hash_cta(number, w->slots);
    while (w->table[at] && w->ctas[w->table[at] - 1].number != number)
        at = (at + 1) & (2 * w->slots - 1);
    *out_at = at;
    return w->table[at];
}

/* Those behind an entry that goes may have been put there because it was taken. */
static void remove_cta(struct pw_capture_warps *w, uint32_t at)
{
    uint32_t mask = 2 * w->slots - 1;
    w->free_slots[w->slots - w->used] = w->table[at] - 1;
    w->used--;
    w->table[at] = 0;
    for (uint32_t next = (at + 1) & mask; w->table[next]; next = (next + 1) & mask) {
        uint32_t home = hash_cta(w->ctas[w->table[next] - 1].number, w->slots);
        if (((next - home) & mask) >= ((next - at) & mask)) {
            w->table[at] = w->table[next];
            w->table[next] = 0;
            at = next;
        }
    }
}

/* The slot of a CTA, which begins if it is not known; UINT32_MAX: out of memory. */
static uint32_t slot_of(struct pw_capture_warps *w, uint32_t number)
{
    uint32_t at, found = find_cta(w, number, &at);
    if (found)
        return found - 1;
    if (w->used == w->slots) {
        if (!grow(w))
            return UINT32_MAX;
        find_cta(w, number, &at);
    }
    uint32_t slot = w->free_slots[w->slots - 1 - w->used++];
    w->table[at] = slot + 1;
    w->ctas[slot] = (struct cta){number, w->warps_per_cta};
    memset(&w->warps[(size_t)slot * w->warps_per_cta], 0, w->warps_per_cta * sizeof *w->warps);
    w->counts.ctas++;
    return slot;
}

/* How many loads may be outstanding for one that waits for scoreboards, all older ones having arrived. */
static uint8_t in_flight(struct warp *s, uint8_t waits_for)
{
    uint32_t arrived = s->arrived;
    for (uint32_t i = 0; i < PW_CODE_SCOREBOARDS; i++)
        if (waits_for >> i & 1 && s->youngest[i] > arrived)
            arrived = s->youngest[i];
    if (arrived == s->arrived)
        return PW_ANY_IN_FLIGHT;
    s->arrived = arrived;
    uint32_t left = s->issued - arrived;
    return left < PW_ANY_IN_FLIGHT ? (uint8_t)left : PW_ANY_IN_FLIGHT;
}

struct target {
    struct pw_capture_warps *w;
    uint32_t cta, warp;
};

static bool flush(const struct target *t, struct warp *s)
{
    uint32_t count = s->computed;
    s->computed = 0;
    return !count || t->w->emit(t->w->context, t->cta, t->warp,
                                &(struct pw_op){PW_OP_COMPUTE, 0, 0, s->computed_flight, count}, NULL);
}

/* Instructions without a wait go on with those before them. */
static bool compute(const struct target *t, struct warp *s, uint32_t count, uint8_t loads_in_flight)
{
    if (loads_in_flight != PW_ANY_IN_FLIGHT && !flush(t, s))
        return false;
    if (!s->computed)
        s->computed_flight = loads_in_flight;
    s->computed += count;
    return true;
}

static bool emit(const struct target *t, struct warp *s, struct pw_op op, const uint64_t *words)
{
    return flush(t, s) && t->w->emit(t->w->context, t->cta, t->warp, &op, words);
}

/* The instructions on the way to the record's own. Where lanes join it that had gone another way, these have executed
 * the instruction that joins them as well. */
static bool emit_way(const struct target *t, struct warp *s, uint64_t pc, uint32_t lanes)
{
    const struct pw_capture_way *way = pw_capture_ways_find(t->w->ways, s->last, pc);
    if (!way->known && !t->w->counts.guessed++)
        t->w->counts.guessed_at = pc;
    pw_pace_go(&t->w->pace, &s->pace, way->known ? &way->pace : NULL);
    s->last = pc;
    for (uint32_t i = 0; i < way->count; i++) {
        const struct pw_code_run *run = &way->runs[i];
        uint32_t joined = run->joins && lanes & s->away;
        if (!compute(t, s, run->instructions + joined, in_flight(s, run->waits_for)))
            return false;
        s->away &= joined ? ~lanes : UINT32_MAX;
    }
    return true;
}

/* A load has been issued that sets the scoreboard. */
static void issue(struct warp *s, const struct pw_code_instruction *i)
{
    s->issued++;
    if (i && i->scoreboard < PW_CODE_SCOREBOARDS)
        s->youngest[i->scoreboard] = s->issued;
}

static bool emit_access(const struct target *t, struct warp *s, const struct pw_capture_cell *head,
                        const uint64_t *addresses, const struct pw_code_instruction *i, uint8_t flight)
{
    struct pw_op op = {.form = head->form == PW_CAPTURE_AFFINE ? PW_FORM_AFFINE : PW_FORM_LANES,
                       .bytes = head->bytes,
                       .loads_in_flight = flight,
                       .count_or_mask = head->mask};
    op.kind = head->kind == PW_CAPTURE_STORE ? PW_OP_STORE : PW_OP_LOAD;
    if (head->kind == PW_CAPTURE_ATOMIC)
        op.kind = !i || i->scoreboard < PW_CODE_SCOREBOARDS ? PW_OP_ATOMIC_RETURN : PW_OP_ATOMIC;
    if (op.kind == PW_OP_LOAD || op.kind == PW_OP_ATOMIC_RETURN)
        issue(s, head->kind == PW_CAPTURE_COPY ? NULL : i);
    if (head->kind == PW_CAPTURE_COPY)
        s->uncommitted = s->issued;
    t->w->counts.operations++;
    t->w->counts.divergent += op.form == PW_FORM_LANES;
    uint64_t affine[] = {head->base, (uint64_t)(int64_t)head->stride};
    return emit(t, s, op, op.form == PW_FORM_LANES ? addresses : affine);
}

static bool emit_bulk(const struct target *t, struct warp *s, const struct pw_capture_cell *head, uint8_t flight)
{
    uint64_t bytes = (uint64_t)(uint32_t)head->stride * 16;
    for (uint64_t at = 0; at < bytes; at += BULK_BYTES) {
        uint32_t lanes = bytes - at < BULK_BYTES ? (uint32_t)((bytes - at) / 16) : PW_WARP_LANES;
        struct pw_op op = {PW_OP_LOAD, PW_FORM_AFFINE, 16, flight, PW_ALL_LANES >> (PW_WARP_LANES - lanes)};
        issue(s, NULL);
        t->w->counts.operations++;
        if (!emit(t, s, op, (const uint64_t[]){head->base + at, 16}))
            return false;
        flight = PW_ANY_IN_FLIGHT;
    }
    return bytes || compute(t, s, 1, flight);
}

static void commit(struct warp *s)
{
    memmove(&s->group[1], &s->group[0], (MAX_GROUPS - 1) * sizeof s->group[0]);
    s->group[0] = s->uncommitted;
    s->groups += s->groups < MAX_GROUPS;
}

/* All groups but the youngest `left` have arrived. */
static uint8_t wait_groups(struct warp *s, uint32_t left)
{
    uint32_t arrived = left < s->groups ? s->group[left] : 0;
    if (arrived <= s->arrived)
        return PW_ANY_IN_FLIGHT;
    s->arrived = arrived;
    return s->issued - arrived < PW_ANY_IN_FLIGHT ? (uint8_t)(s->issued - arrived) : PW_ANY_IN_FLIGHT;
}

static bool end_lanes(const struct target *t, struct warp *s, uint32_t slot, uint32_t mask, uint8_t flight)
{
    struct pw_capture_warps *w = t->w;
    uint32_t all = lanes_of_warp(w, t->warp);
    bool had_ended = s->ended == all;
    s->ended |= mask & all;
    if (had_ended || s->ended != all)
        return had_ended || compute(t, s, 1, flight);
    bool more = emit(t, s, (struct pw_op){PW_OP_EXIT, 0, 0, flight, 0}, NULL);
    if (--w->ctas[slot].warps_left)
        return more;
    uint32_t at;
    find_cta(w, t->cta, &at);
    remove_cta(w, at);
    w->counts.ended++;
    return more && w->emit(w->context, t->cta, 0, NULL, NULL);
}

/* Of an access through generic pointers the lanes that reach shared or local memory and those that reach global memory
 * come as records of their own, a waypoint and an access; the instruction is executed once. */
static bool is_other_part(const struct warp *s, uint64_t pc, const struct pw_code_instruction *i,
                          const struct pw_capture_cell *head)
{
    return i && i->generic && s->last == pc && !(s->here & head->mask) &&
           (head->kind == PW_CAPTURE_WAYPOINT || !s->accessed);
}

/* The access takes the waypoint's place among the operations; the pace keeps it as the instruction that it was. */
static bool take_other_part(const struct target *t, struct warp *s, const struct pw_capture_cell *head,
                            const uint64_t *addresses, const struct pw_code_instruction *i)
{
    s->here |= head->mask;
    s->away &= ~head->mask;
    if (head->kind == PW_CAPTURE_WAYPOINT)
        return true;
    s->accessed = true;
    s->computed--;
    return emit_access(t, s, head, addresses, i, s->computed ? PW_ANY_IN_FLIGHT : s->computed_flight);
}

static bool take(const struct target *t, uint32_t slot, const struct pw_capture_cell *head, const uint64_t *addresses)
{
    struct pw_capture_warps *w = t->w;
    struct warp *s = &w->warps[(size_t)slot * w->warps_per_cta + t->warp];
    uint64_t pc = head->place & PW_CAPTURE_PC_MASK;
    const struct pw_code_instruction *i = pw_capture_ways_instruction(w->ways, pc);
    if (is_other_part(s, pc, i, head))
        return take_other_part(t, s, head, addresses, i);
    if (!emit_way(t, s, pc, head->mask))
        return false;
    s->here = head->mask;
    s->accessed = head->kind != PW_CAPTURE_WAYPOINT;
    s->away = i && !i->guarded ? lanes_of_warp(w, t->warp) & ~s->ended & ~head->mask : 0;
    uint8_t flight = i ? in_flight(s, i->waits_for) : PW_ANY_IN_FLIGHT;
    if (i)
        pw_pace_record(&w->pace, &s->pace, head->kind, i);
    bool waits = head->kind == PW_CAPTURE_STORE || head->kind == PW_CAPTURE_ATOMIC || head->kind == PW_CAPTURE_BARRIER;
    if (!i && waits && s->issued > s->arrived) {
        s->arrived = s->issued;
        flight = 0;
    }
    switch (head->kind) {
    case PW_CAPTURE_WAYPOINT:
        return compute(t, s, 1, flight);
    case PW_CAPTURE_COMMIT:
        commit(s);
        return compute(t, s, 1, flight);
    case PW_CAPTURE_WAIT: {
        uint8_t groups = wait_groups(s, (uint32_t)head->stride);
        return compute(t, s, 1, groups < flight ? groups : flight);
    }
    case PW_CAPTURE_BULK:
        return emit_bulk(t, s, head, flight);
    case PW_CAPTURE_BARRIER:
        return emit(t, s, (struct pw_op){PW_OP_BARRIER, 0, 0, flight, 0}, NULL);
    case PW_CAPTURE_EXIT:
        return end_lanes(t, s, slot, head->mask, flight);
    default:
        return emit_access(t, s, head, addresses, i, flight);
    }
}

/* What a lane can access in a trace. */
static bool is_size(uint8_t bytes)
{
    return bytes && bytes <= 16 && !(bytes & (bytes - 1));
}

enum pw_status pw_capture_warps_take(struct pw_capture_warps *w, const struct pw_capture_cell *head,
                                     const uint64_t *addresses, struct pw_error *err)
{
    struct target t = {w, head->cta, (uint32_t)(head->place >> PW_CAPTURE_WARP_SHIFT)};
    struct pw_capture_cell waypoint = *head;
    if (t.warp >= w->warps_per_cta || !head->mask || !head->kind || head->kind >= PW_CAPTURE_KIND_COUNT ||
        head->form > PW_CAPTURE_LANES)
        return pw_fail(err, PW_FAILED, "the GPU wrote a record that makes no sense (kind %u, warp %u of %u)",
                       head->kind, t.warp, w->warps_per_cta);
    if (head->kind <= PW_CAPTURE_COPY && !is_size(head->bytes)) {
        waypoint.kind = PW_CAPTURE_WAYPOINT;
        head = &waypoint;
        w->counts.odd_sizes++;
    }
    uint32_t slot = slot_of(w, head->cta);
    if (slot == UINT32_MAX)
        return pw_fail_memory(err, "the CTAs under way");
    if (!take(&t, slot, head, addresses))
        return pw_fail(err, PW_FAILED, "the trace takes no more operations");
    return PW_OK;
}
