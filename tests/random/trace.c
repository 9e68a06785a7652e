/* Random traces against a model that keeps everything in plain arrays: events, and operations of warps in any order,
 * written with so little memory that CTAs leave piece by piece, and read back warp by warp and side by side. Every byte
 * that is accessed lies in an allocation that is alive. */
#include "trace_fixture.h"

#include "sim/grow.h"

enum { LAUNCHES = 6, CTAS = 40, WARPS = 32, ARENA_BITS = 26, SITES = 6, MOST_LIVE = 64 };
#define ARENA UINT64_C(0x7f0000000000)

struct stream {
    struct traced_op *ops;
    size_t count, capacity, read;
    bool ended;
};

struct model {
    struct pw_random r;
    struct pw_trace_event *events; /* that the trace should have, but for inferred allocations */
    size_t event_count, event_capacity;
    struct pw_trace_event live[MOST_LIVE];
    size_t live_count;
    struct stream streams[LAUNCHES][CTAS][WARPS];
    uint32_t launches;
};

static void add_op(struct stream *s, const struct traced_op *t)
{
    s->ops = pw_grow(s->ops, s->count, &s->capacity, sizeof *s->ops);
    assert_non_null(s->ops);
    s->ops[s->count++] = *t;
}

/* A loop as kernels have them: a few sites, each with its own stride, now and then something else. */
static struct traced_op next_op(struct model *m, struct stream *s)
{
    struct pw_random *r = &m->r;
    if (s->count >= SITES && pw_random_below(r, 4)) {
        struct traced_op t = s->ops[s->count - SITES];
        if (pw_op_is_access(t.op) && t.op.form == PW_FORM_AFFINE && t.words[0] + 4096 < ARENA + (1 << ARENA_BITS) &&
            t.words[0] + 31 * t.words[1] + 4096 < ARENA + (1 << ARENA_BITS))
            t.words[0] += 128;
        return t;
    }
    return pw_random_below(r, 3) ? random_access(r, ARENA, 1 << ARENA_BITS) : random_other(r);
}

static void push(struct model *m, struct pw_trace_writer *w, struct stream *s, uint32_t cta, uint32_t warp,
                 const struct traced_op *t)
{
    struct pw_trace_event *launch = &m->events[m->event_count - 1];
    assert_true(pw_trace_write_op(w, cta, warp, &t->op, t->words));
    launch->warp_instructions += t->op.kind == PW_OP_COMPUTE ? t->op.count_or_mask : 1;
    launch->memory_instructions += t->op.kind >= PW_OP_LOAD && t->op.kind <= PW_OP_ATOMIC_RETURN;
    add_op(s, t);
    s->ended = t->op.kind == PW_OP_EXIT;
}

static void add_event(struct model *m, struct pw_trace_event e)
{
    m->events = pw_grow(m->events, m->event_count, &m->event_capacity, sizeof *m->events);
    assert_non_null(m->events);
    m->events[m->event_count++] = e;
}

static void write_launch(struct model *m, struct pw_trace_writer *w)
{
    struct pw_random *r = &m->r;
    uint32_t warps = (uint32_t)random_between(r, 1, WARPS);
    struct pw_trace_event launch = {.kind = PW_TRACE_LAUNCH,
                                    .name = "kernel",
                                    .grid = {CTAS, 1, 1},
                                    .block = {warps * 32, 1, 1},
                                    .shared_bytes = (uint32_t)pw_random_next(r),
                                    .registers = (uint32_t)pw_random_below(r, 256),
                                    .sampled_of = pw_random_below(r, 2) ? pw_random_next(r) : 0};
    pw_trace_write_launch(w, &launch);
    add_event(m, launch);
    struct stream(*streams)[WARPS] = m->streams[m->launches++];
    static const struct traced_op leave = {.op = {.kind = PW_OP_EXIT, .loads_in_flight = PW_ANY_IN_FLIGHT}};
    uint64_t pushes = pw_random_below(r, 20000);
    uint32_t ctas = (uint32_t)random_between(r, 1, CTAS);
    for (uint64_t i = 0; i < pushes; i++) {
        uint32_t cta = (uint32_t)pw_random_below(r, ctas), warp = (uint32_t)pw_random_below(r, warps);
        struct stream *s = &streams[cta][warp];
        if (s->ended)
            continue;
        struct traced_op t = pw_random_below(r, 2000) ? next_op(m, s) : leave;
        push(m, w, s, cta, warp, &t);
        if (!pw_random_below(r, 1000)) {
            for (uint32_t k = 0; k < warps; k++)
                streams[cta][k].ended = true;
            pw_trace_write_cta_end(w, cta);
        }
    }
}

static void drop_live(struct model *m, size_t which)
{
    struct pw_trace_event freed = m->live[which];
    freed.kind = PW_TRACE_FREE;
    freed.memory = 0;
    freed.name = "";
    add_event(m, freed);
    memmove(&m->live[which], &m->live[which + 1], (--m->live_count - which) * sizeof *m->live);
}

/* What the trace should have of an event; live allocations are in order of address. */
static void expect_event(struct model *m, struct pw_trace_event e)
{
    size_t at = 0;
    while (at < m->live_count && m->live[at].address + m->live[at].bytes <= e.address)
        at++;
    if (e.kind == PW_TRACE_ALLOC) {
        if (!e.bytes)
            return;
        while (at < m->live_count && m->live[at].address < e.address + e.bytes)
            drop_live(m, at);
        assert_true(m->live_count < MOST_LIVE);
        memmove(&m->live[at + 1], &m->live[at], (m->live_count++ - at) * sizeof *m->live);
        m->live[at] = e;
        add_event(m, e);
        return;
    }
    if (at == m->live_count || m->live[at].address > e.address)
        return;
    uint64_t left = m->live[at].address + m->live[at].bytes - e.address;
    if (e.kind == PW_TRACE_FREE) {
        drop_live(m, at);
    } else if (e.bytes) {
        e.bytes = e.bytes < left ? e.bytes : left;
        add_event(m, e);
    }
}

static void write_event(struct model *m, struct pw_trace_writer *w)
{
    struct pw_random *r = &m->r;
    struct pw_trace_event e = {.kind = (uint8_t)random_between(r, PW_TRACE_ALLOC, PW_TRACE_PROTECT),
                               .address = ARENA + pw_random_below(r, 1 << ARENA_BITS),
                               .bytes = pw_random_below(r, 3 << 20),
                               .name = ""};
    if (e.kind == PW_TRACE_ALLOC) {
        e.memory = (uint8_t)pw_random_below(r, PW_TRACE_INFERRED);
        e.name = pw_random_below(r, 2) ? "array" : "other";
    } else if (e.kind != PW_TRACE_FREE && e.kind != PW_TRACE_PREFETCH) {
        e.flags = (uint8_t)pw_random_below(r, 3);
    }
    pw_trace_write_event(w, &e);
    expect_event(m, e);
}

static void write_all(struct model *m, struct pw_trace_writer *w)
{
    while (m->launches < LAUNCHES) {
        if (!pw_random_below(&m->r, 4))
            write_launch(m, w);
        else
            write_event(m, w);
    }
}

/* `alive` has a byte for each of the arena's, 1 where it is allocated. */
static void assert_alive(const uint8_t *alive, const struct traced_op *t)
{
    const struct pw_op *op = &t->op;
    if (!pw_op_is_access(*op))
        return;
    unsigned word = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(op->count_or_mask >> lane & 1))
            continue;
        uint64_t a = op->form == PW_FORM_AFFINE ? t->words[0] + lane * t->words[1] : t->words[word++];
        for (unsigned k = 0; k < op->bytes; k++)
            assert_true(alive[a + k - ARENA]);
    }
}

/* Goes over the events: allocations never overlap, and what a launch accesses is alive. */
static void check_allocations(struct model *m, struct pw_trace *t)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    enum { MARGIN = 1 << 21 };
    uint8_t *map = calloc((1 << ARENA_BITS) + 2 * MARGIN, 1), *alive = map + MARGIN;
    assert_non_null(map);
    uint32_t allocations = 0, launches = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pw_trace_event *e = &events[i];
        if (e->kind == PW_TRACE_ALLOC) {
            assert_int_equal(e->allocation, allocations++);
            for (uint64_t k = 0; k < e->bytes; k++)
                assert_false(alive[e->address - ARENA + k]++);
        } else if (e->kind == PW_TRACE_FREE) {
            memset(alive + (e->address - ARENA), 0, e->bytes);
        } else if (e->kind == PW_TRACE_LAUNCH) {
            assert_int_equal(e->allocation, launches);
            for (size_t c = 0; c < CTAS; c++)
                for (size_t k = 0; k < WARPS; k++)
                    for (size_t n = 0; n < m->streams[launches][c][k].count; n++)
                        assert_alive(alive, &m->streams[launches][c][k].ops[n]);
            launches++;
        }
    }
    assert_int_equal(launches, LAUNCHES);
    free(map);
}

static void assert_same_event(const struct pw_trace_event *a, const struct pw_trace_event *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->memory, b->memory);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(&a->grid, &b->grid, sizeof a->grid);
    assert_memory_equal(&a->block, &b->block, sizeof a->block);
    assert_int_equal(a->shared_bytes, b->shared_bytes);
    assert_int_equal(a->registers, b->registers);
    assert_int_equal(a->sampled_of, b->sampled_of);
    assert_int_equal(a->warp_instructions, b->warp_instructions);
    assert_int_equal(a->memory_instructions, b->memory_instructions);
}

/* But for inferred allocations and their frees, the events are those that are expected. */
static void check_events(struct model *m, struct pw_trace *t)
{
    size_t count, at = 0;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    bool *inferred = calloc(count + 1, sizeof *inferred);
    for (size_t i = 0; i < count; i++) {
        struct pw_trace_event e = events[i];
        if (e.kind == PW_TRACE_ALLOC)
            inferred[e.allocation] = e.memory == PW_TRACE_INFERRED;
        if (e.kind != PW_TRACE_LAUNCH && inferred[e.allocation])
            continue;
        assert_true(at < m->event_count);
        assert_same_event(&e, &m->events[at++]);
    }
    assert_int_equal(at, m->event_count);
    free(inferred);
}

static void check_side_by_side(struct model *m, struct pw_trace *t)
{
    struct pw_trace_launch *open[LAUNCHES];
    struct pw_error err;
    size_t cursors = (size_t)LAUNCHES * CTAS * WARPS, left = cursors;
    struct pw_trace_cursor *c = calloc(cursors, sizeof *c);
    for (uint32_t l = 0; l < LAUNCHES; l++)
        assert_ok(pw_trace_launch_open(t, l, &open[l], &err), &err);
    for (size_t i = 0; i < cursors; i++)
        pw_trace_cursor_start(&c[i], open[i / (CTAS * WARPS)], (uint32_t)(i / WARPS % CTAS), (uint32_t)(i % WARPS));
    while (left)
        for (size_t i = 0; i < cursors; i++) {
            struct stream *s = &m->streams[i / (CTAS * WARPS)][i / WARPS % CTAS][i % WARPS];
            for (uint64_t n = pw_random_below(&m->r, 30); n && s->read <= s->count; n--) {
                struct pw_op op;
                uint64_t words[PW_WARP_LANES];
                enum pw_trace_step step = pw_trace_cursor_next(&c[i], &op, words, &err);
                assert_int_equal(step, s->read == s->count ? PW_TRACE_STEP_END : PW_TRACE_STEP_OP);
                if (s->read < s->count)
                    assert_same_op(&s->ops[s->read], &op, words);
                if (s->read++ == s->count)
                    left--;
            }
        }
    for (uint32_t l = 0; l < LAUNCHES; l++)
        pw_trace_launch_close(open[l]);
    free(c);
}

static void check(struct model *m, struct pw_trace *t)
{
    struct pw_error err;
    assert_ok(pw_trace_verify(t, &err), &err);
    assert_int_equal(pw_trace_launches(t), LAUNCHES);
    for (uint32_t l = 0; l < LAUNCHES; l++) {
        struct pw_trace_launch *launch;
        assert_ok(pw_trace_launch_open(t, l, &launch, &err), &err);
        for (uint32_t c = 0; c < CTAS; c++)
            for (uint32_t k = 0; k < WARPS; k++)
                assert_warp(launch, c, k, m->streams[l][c][k].ops, m->streams[l][c][k].count);
        pw_trace_launch_close(launch);
    }
    check_side_by_side(m, t);
    check_events(m, t);
    check_allocations(m, t);
}

static void round_trip(uint64_t seed)
{
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    pw_random_init(&m->r, seed, "trace");
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    if (seed % 4)
        pw_trace_writer_bound(w, pw_random_below(&m->r, 1 << 20), pw_random_below(&m->r, 1 << 13),
                              pw_random_below(&m->r, 1 << 16));
    write_all(m, w);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    if (seed % 3)
        t->cache.most = pw_random_below(&m->r, 1 << 18);
    check(m, t);
    pw_trace_close(t);
    for (size_t l = 0; l < LAUNCHES; l++)
        for (size_t c = 0; c < CTAS; c++)
            for (size_t k = 0; k < WARPS; k++)
                free(m->streams[l][c][k].ops);
    free(m->events);
    free(m);
}

static void what_is_read_is_what_was_written(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        round_trip(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_read_is_what_was_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
